"""Local arrays that device functions make and return: they are their caller's, on either device."""

import struct
from collections import namedtuple

import numpy as np
import pytest

from krait import _testing, cuda, errors, float64

Pair = namedtuple("Pair", "whole tail")
record = np.dtype([("x", np.float64), ("n", np.int32)])


@cuda.jit(device=True)
def steps(first):
    made = cuda.local.array(3, float64)
    for i in range(3):
        made[i] = first + i
    return made


@cuda.jit(device=True)
def steps_and_tail(first):
    made = steps(first)
    return Pair(made, made[1:])


@cuda.jit(device=True)
def one_of_two(first):
    a, b = cuda.local.array(2, float64), cuda.local.array(2, float64)
    a[0], b[0] = first, -first
    return a if first > 1 else b


@cuda.jit(device=True)
def field(first):
    made = cuda.local.array(2, record)
    made[1].x, made[1].n = first, 7
    return made[1]


@cuda.jit(device=True)
def maybe(first):
    made = cuda.local.array((2, 2), float64)
    made[1, 0] = first
    return None if first < 0 else made.reshape(4)


@cuda.jit(device=True)
def through(array):
    return array[::-1]


def returned(out):
    made = steps(2.0)
    out[0] = made[0] + made[2]


def in_tuples(out):
    pair = steps_and_tail(2.0)
    pair.tail[0] = 10
    out[0] = pair.whole[0] + pair.whole[1]


def chosen(out):
    out[0] = one_of_two(3.0)[0] - one_of_two(1.0)[0]


def records(out):
    one, other = field(1.5), field(2.5)
    out[0] = one.x + 10 * other.x + one.n


def optional(out):
    found = maybe(4.0)
    if found is not None:
        out[0] = found[2]


def passed_on(out):
    out[0] = through(steps(5.0))[0]


def across_barriers(out):
    one = steps(1.0)
    cuda.syncthreads()
    other = steps(2.0)
    cuda.syncthreads()
    out[cuda.threadIdx.x] = 100 * one[0] + other[2] + cuda.threadIdx.x


def in_rounds(out):
    for i in range(3):
        made = steps(float(i))
        out[0] += made[2] * 10**i


CASES = [(returned, 6), (in_tuples, 12), (chosen, 4), (records, 33.5), (optional, 4), (passed_on, 7),
         (across_barriers, 104), (in_rounds, 432)]


@pytest.mark.parametrize("kernel, expected", CASES, ids=[kernel.__name__ for kernel, _ in CASES])
def test_values(kernel, expected, checked):
    out = np.zeros(32)
    threads = 32 if kernel is across_barriers else 1
    cuda.jit(kernel)[1, threads](out)
    assert out[:threads].tolist() == [expected + i for i in range(threads)]


@pytest.mark.parametrize("kernel, expected", [case for case in CASES if case[0] in (returned, passed_on)])
def test_the_result_is_in_the_ptx(kernel, expected):
    """What a GPU stores: computed while it is compiled, not read from a frame that has ended."""
    bits, = struct.unpack("<Q", struct.pack("<d", expected))
    ptx = _testing.compile(kernel, "array(float64, 1, C)", capability=90)
    assert f"{bits}" in ptx or f"0d{bits:016X}" in ptx


@cuda.jit(device=True)
def down(n):
    made = cuda.local.array(2, float64)
    made[0] = n
    if n > 0:
        return down(n - 1)
    return made


def calls_itself(out):
    out[0] = down(3)[0]


def keeps_the_older(out):
    last = steps(0.0)
    for i in range(1, 4):
        made = steps(float(i))
        out[0] += last[0] + made[0]
        last = made


def keeps_the_older_itself(out):
    last = cuda.local.array(1, float64)
    for i in range(4):
        made = cuda.local.array(1, float64)
        made[0] = i
        out[0] += last[0]
        last = made


@pytest.mark.parametrize("kernel, words", [
    (calls_itself, "a cuda.local.array ends with the function that makes it, and one that calls itself cannot take"),
    (keeps_the_older, "while the one that was made here before may still be in use"),
    (keeps_the_older_itself, "while the one that was made here before may still be in use"),
])
def test_what_cannot_be_is_refused(kernel, words):
    with pytest.raises(errors.KraitError, match=words):
        cuda.jit(kernel)[1, 1](np.zeros(1))


def test_a_device_function_alone():
    with pytest.raises(errors.KraitError, match="and this one cannot take it from its caller"):
        cuda.compile_ptx(steps.py_func, float64(float64), device=True)
