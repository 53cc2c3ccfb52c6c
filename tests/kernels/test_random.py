"""cuda.random against the generator written out in Python's integers: on the GPU if there is one, else on the host."""

import math

import numpy as np
import pytest

from krait import cuda
from krait.cuda import random

MASK = 2**64 - 1
JUMP = (0xBEAC0467EBA5FACB, 0xD86B048B86AA9922)


def rotate(x, count):
    return (x << count | x >> (64 - count)) & MASK


class Xoroshiro:
    """xoroshiro128+ with the constants of 2016, seeded with one number of SplitMix64 in both words."""

    def __init__(self, seed, jumps=0):
        z = (seed + 0x9E3779B97F4A7C15) & MASK
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & MASK
        z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
        self.s0 = self.s1 = z ^ z >> 31
        for _ in range(jumps):
            self.jump()

    def next(self):
        result = (self.s0 + self.s1) & MASK
        s1 = self.s0 ^ self.s1
        self.s0 = rotate(self.s0, 55) ^ s1 ^ (s1 << 14 & MASK)
        self.s1 = rotate(s1, 36)
        return result

    def jump(self):
        j0 = j1 = 0
        for word in JUMP:
            for bit in range(64):
                if word >> bit & 1:
                    j0, j1 = j0 ^ self.s0, j1 ^ self.s1
                self.next()
        self.s0, self.s1 = j0, j1

    def uniform(self):
        return (self.next() >> 11) / 2**53


@cuda.jit
def draw(states, words, doubles, singles):
    i = cuda.grid(1)
    if i < states.size:
        for k in range(words.shape[1]):
            words[i, k] = random.xoroshiro128p_next(states, i)
            doubles[i, k] = random.xoroshiro128p_uniform_float64(states, i)
            singles[i, k] = random.xoroshiro128p_uniform_float32(states, i)


@pytest.mark.parametrize("seed, start", [(1, 0), (2**63 + 5, 3), (0, 1)])
def test_streams(seed, start):
    n, count = 40, 5
    states = random.create_xoroshiro128p_states(n, seed, subsequence_start=start)
    words, doubles, singles = np.zeros((n, count), np.uint64), np.zeros((n, count)), np.zeros((n, count), np.float32)
    draw[2, 32](states, words, doubles, singles)
    for i in range(n):
        expected = Xoroshiro(seed, start + i)
        for k in range(count):
            assert words[i, k] == expected.next()
            assert doubles[i, k] == expected.uniform()
            assert singles[i, k] == np.float32(expected.uniform())
        assert states.copy_to_host()[i].tolist() == (expected.s0, expected.s1)


@cuda.jit
def draw_normal(states, doubles, singles):
    i = cuda.grid(1)
    doubles[i] = random.xoroshiro128p_normal_float64(states, i)
    singles[i] = random.xoroshiro128p_normal_float32(states, i)


def test_normal_numbers():
    states = random.create_xoroshiro128p_states(64, 9)
    doubles, singles = np.zeros(64), np.zeros(64, np.float32)
    draw_normal[2, 32](states, doubles, singles)
    for i in range(64):
        generator = Xoroshiro(9, i)
        for got, accuracy in ((doubles[i], 1e-13), (singles[i], 2e-5)):
            u1, u2 = generator.uniform(), generator.uniform()
            assert got == pytest.approx(math.sqrt(-2 * math.log(u1)) * math.cos(2 * math.pi * u2), rel=accuracy,
                                        abs=accuracy)


@cuda.jit
def seed_and_jump(states):
    random.init_xoroshiro128p_state(states, 0, 77)
    random.xoroshiro128p_jump(states, 0)


def test_a_kernel_seeds_and_jumps():
    states = cuda.device_array(2, random.xoroshiro128p_dtype)
    random.init_xoroshiro128p_states(states, 5)
    second = Xoroshiro(5, 1)
    assert states.copy_to_host()[1].tolist() == (second.s0, second.s1)
    seed_and_jump[1, 1](states)
    expected = Xoroshiro(77, 1)
    assert states.copy_to_host()[0].tolist() == (expected.s0, expected.s1)
