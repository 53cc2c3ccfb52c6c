"""Random numbers in kernels: a generator xoroshiro128+ for each thread (Blackman and Vigna, version of 2016).

The states are an array of records, one for each thread, 2**64 numbers apart, seeded by SplitMix64: the streams are
Numba's.
"""

import math as _math

import numpy as _np

from .. import _krait
from .._krait import cuda_jit as _cuda_jit, jit as _jit, to_device as _to_device

xoroshiro128p_dtype = _np.dtype([("s0", _np.uint64), ("s1", _np.uint64)], align=True)
xoroshiro128p_type = _krait.from_dtype(xoroshiro128p_dtype)

_device = _cuda_jit(device=True)
_JUMP = (_np.uint64(0xBEAC0467EBA5FACB), _np.uint64(0xD86B048B86AA9922))
_TWO_PI = _np.float64(2 * _math.pi)
_TWO_PI_32 = _np.float32(2 * _math.pi)


def _seeded(seed):
    z = _np.uint64(seed) + _np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> _np.uint64(30))) * _np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> _np.uint64(27))) * _np.uint64(0x94D049BB133111EB)
    return z ^ (z >> _np.uint64(31))


def _rotate(x, count):
    return (x << _np.uint64(count)) | (x >> _np.uint64(64 - count))


def _advance(s0, s1):
    s1 = s1 ^ s0
    return _rotate(s0, 55) ^ s1 ^ (s1 << _np.uint64(14)), _rotate(s1, 36)


def _jumped(s0, s1):
    j0 = _np.uint64(0)
    j1 = _np.uint64(0)
    for word in _JUMP:
        for bit in range(64):
            if word & (_np.uint64(1) << _np.uint64(bit)):
                j0 ^= s0
                j1 ^= s1
            s0, s1 = _advance(s0, s1)
    return j0, j1


@_device
def init_xoroshiro128p_state(states, index, seed):
    """Seeds one state by SplitMix64."""
    z = _seeded(seed)
    states[index]["s0"] = z
    states[index]["s1"] = z


@_device
def xoroshiro128p_next(states, index):
    """The next 64 random bits of a state, as uint64."""
    s0 = states[index]["s0"]
    s1 = states[index]["s1"]
    states[index]["s0"], states[index]["s1"] = _advance(s0, s1)
    return s0 + s1


@_device
def xoroshiro128p_jump(states, index):
    """Advances a state by 2**64 numbers."""
    states[index]["s0"], states[index]["s1"] = _jumped(states[index]["s0"], states[index]["s1"])


@_device
def uint64_to_unit_float64(x):
    """A float64 from 0 up to 1 made of 64 random bits."""
    return _np.float64(x >> _np.uint64(11)) * (1.0 / (1 << 53))


@_device
def uint64_to_unit_float32(x):
    """A float32 from 0 to 1 made of 64 random bits."""
    return _np.float32(uint64_to_unit_float64(x))


@_device
def xoroshiro128p_uniform_float64(states, index):
    """A float64 from 0 up to 1."""
    return uint64_to_unit_float64(xoroshiro128p_next(states, index))


@_device
def xoroshiro128p_uniform_float32(states, index):
    """A float32 from 0 to 1."""
    return uint64_to_unit_float32(xoroshiro128p_next(states, index))


@_device
def xoroshiro128p_normal_float64(states, index):
    """A normally distributed float64, by the method of Box and Muller; takes two numbers of the state."""
    u1 = xoroshiro128p_uniform_float64(states, index)
    u2 = xoroshiro128p_uniform_float64(states, index)
    return _math.sqrt(_np.float64(-2.0) * _math.log(u1)) * _math.cos(_TWO_PI * u2)


@_device
def xoroshiro128p_normal_float32(states, index):
    """A normally distributed float32, by the method of Box and Muller; takes two numbers of the state."""
    u1 = xoroshiro128p_uniform_float32(states, index)
    u2 = xoroshiro128p_uniform_float32(states, index)
    return _math.sqrt(_np.float32(-2.0) * _math.log(u1)) * _math.cos(_TWO_PI_32 * u2)


@_jit
def _fill(words, seed, subsequence_start):
    s0 = s1 = _seeded(seed)
    for _ in range(subsequence_start):
        s0, s1 = _jumped(s0, s1)
    for i in range(words.shape[0]):
        words[i, 0] = s0
        words[i, 1] = s1
        s0, s1 = _jumped(s0, s1)


def _initial_states(n, seed, subsequence_start):
    words = _np.empty((n, 2), _np.uint64)
    _fill(words, _np.uint64(int(seed) & 0xFFFFFFFFFFFFFFFF), int(subsequence_start))
    return words.reshape(-1).view(xoroshiro128p_dtype)


def init_xoroshiro128p_states(states, seed, subsequence_start=0, stream=0):
    """Seeds the states in a device array: each 2**64 numbers after the one before it."""
    states.copy_to_device(_initial_states(states.shape[0], seed, subsequence_start), stream=stream)


def create_xoroshiro128p_states(n, seed, subsequence_start=0, stream=0):
    """A device array of n states, each 2**64 numbers after the one before it."""
    return _to_device(_initial_states(n, seed, subsequence_start), stream=stream)
