"""Methods of numbers: what the interpreter gives, value and type, and the same in kernels."""

import math

import numpy as np
import pytest
from oracle import agree, make

from krait import cuda, errors, njit

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
                                   np.int16(-3), complex(0.0, -0.0), True, np.bool_(False)], ids=repr)
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


def hexadecimal(x):
    return x.hex()


def test_of_floats_of_numpy_float64_alone_is_a_float():
    agree(hexadecimal, 2.5), agree(hexadecimal, np.float64(-0.1))
    for kind in (np.float32, np.float16):
        assert not hasattr(kind, "hex")
        said = f"`x` .{kind.__name__}. has no attribute `hex`(.|\\n)*float.x.*hex"
        with pytest.raises(errors.TypingError, match=said):
            njit(hexadecimal)(kind(2.5))


def test_bits_needed():
    for value in [0, 1, 2, 3, 4, 7, 8, 255, 256, -1, -2, -7, -8, -9, 2**62, 2**63 - 1, -(2**62), -(2**63), 1 - 2**63,
                  True, False]:
        agree(length, value)
    for value in (True, False, 255, -255):
        agree(lambda x: x.bit_count(), value)


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


SCALARS = [np.float64(2.675), np.float32(-1.5), np.int32(-7), np.uint8(200), np.bool_(True), np.complex64(1 + 2j),
           np.int64(300), np.float16(2.5)]


@pytest.mark.parametrize("x", SCALARS, ids=repr)
def test_methods_of_arrays(x):
    for text in ["item()", "tolist()", "copy()", "sum()", "prod()", "mean()", "any()", "all()", "squeeze()", "std()",
                 "var()", "ravel().size", "flatten().dtype", "reshape(1, 1).shape", "tobytes()", "item(0)"]:
        agree(make(f"def f(x):\n    return x.{text}"), x)
    for dtype in ("np.float32", "np.complex128", "bool", "float", "'f4'"):
        if x.dtype.kind != "c":
            agree(make(f"def f(x):\n    return x.astype({dtype})"), x)
    if x.dtype.kind != "c":
        for text in ["astype(np.int8)", "astype(np.uint8)", "astype(int)", "max()", "min()", "argmax()"]:
            if x.dtype.kind != "f" or x >= 0 or "uint" not in text:
                agree(make(f"def f(x):\n    return x.{text}"), x)
    if x.dtype.kind in "fi":
        agree(make("def f(x):\n    return x.round(), x.round(1), x.clip(-1, 1)"), x)


@pytest.mark.parametrize("text", ["x.astype('M8[M]')", "x.astype('M8[s]')", "x.astype('M8[Y]')", "x.astype(np.int64)",
                                  "(x - x.astype('M8[Y]').astype('M8[D]')).astype(np.int64)"])
def test_dates_as_other_units(text):
    day, function = np.datetime64("2020-02-29", "D"), make(f"def f(x):\n    return {text}")
    assert repr(njit(function)(day)) == repr(function(day))
