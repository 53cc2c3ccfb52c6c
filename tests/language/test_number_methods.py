"""Methods of numbers: what the interpreter gives, value and type, and the same in kernels."""

import math

import numpy as np
import pytest
from oracle import agree

from krait import cuda

INTEGERS = [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64]


def bits(x):
    return x.bit_count()


def conjugate(x):
    return x.conjugate()


@pytest.mark.parametrize("kind", [int, *INTEGERS])
def test_bits_set(kind):
    values = [0, 1, 5, 100, 127] + ([] if kind is not int and np.dtype(kind).kind == "u" else [-1, -5, -128])
    for value in values:
        agree(bits, kind(value))


@pytest.mark.parametrize("value", [1 - 2j, np.complex64(1 + 2j), np.complex128(3 - 1j), 5, 2.5, np.float32(2.5),
                                   np.int16(-3), complex(0.0, -0.0)], ids=repr)
def test_conjugates(value):
    agree(conjugate, value)


def whole(x):
    return x.is_integer()


def length(x):
    return x.bit_length()


@pytest.mark.parametrize("kind", [float, np.float32, np.float64])
def test_whole_numbers(kind):
    for value in [0.0, -0.0, 2.0, -3.0, 2.5, -0.5, 1e300, math.inf, -math.inf, math.nan]:
        with np.errstate(over="ignore"):
            agree(whole, kind(value))


@pytest.mark.parametrize("kind", INTEGERS)
def test_integers_are_whole(kind):
    agree(whole, kind(5))


def test_bits_needed():
    for value in [0, 1, 2, 3, 4, 7, 8, 255, 256, -1, -2, -7, -8, -9, 2**62, 2**63 - 1, -(2**62), -(2**63), 1 - 2**63]:
        agree(length, value)


def test_in_a_kernel():
    @cuda.jit
    def kernel(x, z, out, conj):
        i = cuda.grid(1)
        out[i] = x[i].bit_count() + (i * 7).bit_count()
        conj[i] = z[i].conjugate() * (1 + 1j).conjugate()

    x, z = np.arange(64, dtype=np.uint8) * 3, np.arange(64) * (1 + 2j)
    out, conj = np.zeros(64, np.int32), np.zeros(64, np.complex128)
    kernel[2, 32](x, z, out, conj)
    assert out.tolist() == [int(v).bit_count() + (7 * i).bit_count() for i, v in enumerate(x)]
    np.testing.assert_array_equal(conj, z.conj() * (1 - 1j))
