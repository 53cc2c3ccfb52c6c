"""Differences, gradients, integrals, interpolation, angles, convolution and windows against NumPy."""

import numpy as np

from numpy_cases import (
    BACKWARDS,
    BOOLS,
    BYTES,
    COMPLEX,
    CUBE,
    FORTRAN,
    INTEGERS,
    MATRIX,
    NOT_NUMBERS,
    RNG,
    SINGLE,
    STRIDED,
    VECTOR,
    check,
    same_error,
)

from krait import njit


def test_differences():
    check("np.diff(a)", VECTOR, BACKWARDS, MATRIX, FORTRAN, STRIDED, INTEGERS, BYTES, BOOLS, COMPLEX, CUBE, VECTOR[:0])
    check("np.diff(a, 3), np.diff(a, 0)", VECTOR, INTEGERS, BYTES, VECTOR[:2])
    check("np.diff(a, axis=0), np.diff(a, 2, 0)", MATRIX, FORTRAN, SINGLE, CUBE)
    check("np.diff(a, prepend=0.0), np.diff(a, append=b), np.diff(a, 1, -1, 2.0, b)", (VECTOR, VECTOR[:3]))
    check("np.diff(a, axis=0, prepend=1.0)", MATRIX)
    check("np.ediff1d(a)", VECTOR, MATRIX, INTEGERS)
    check("np.ediff1d(a, 5.0), np.ediff1d(a, to_begin=b), np.ediff1d(a, b, 3.0)", (VECTOR, VECTOR[:2]))
    same_error("np.diff(a, -1)", VECTOR)
    same_error("np.diff(a, axis=2)", MATRIX)


def test_gradients_along_one_axis_twice():
    for axis in "(0, 0)", "(1, -1)", "(0, 1, 0)", "(0, 0, 5)":
        same_error(f"np.gradient(a, axis={axis})", MATRIX)


def test_gradients():
    check("np.gradient(a)", VECTOR, BACKWARDS, MATRIX, FORTRAN, INTEGERS, SINGLE, COMPLEX, CUBE)
    check("np.gradient(a, 0.5), np.gradient(a, axis=0), np.gradient(a, edge_order=2)", VECTOR, MATRIX[:3])
    x = np.cumsum(RNG.random(13))
    check("np.gradient(a, b), np.gradient(a, b, edge_order=2)", (VECTOR, x), (VECTOR, np.arange(13.0)))
    check("np.gradient(a, b, c)", (MATRIX, 0.5, 2.0), (MATRIX, x[:4], x[:5]))
    check("np.gradient(a, 2.0, axis=-1)", MATRIX, CUBE)
    same_error("np.gradient(a)", VECTOR[:1])


def test_integrals():
    check("np.trapezoid(a)", VECTOR, MATRIX, FORTRAN, INTEGERS, SINGLE, COMPLEX, CUBE)
    check("np.trapezoid(a, dx=0.25), np.trapezoid(a, axis=0)", VECTOR, MATRIX, CUBE)
    x = np.cumsum(RNG.random(5))
    check("np.trapezoid(a, b)", (VECTOR[:5], x), (MATRIX, x), (MATRIX, np.abs(MATRIX)))


def test_interpolation():
    xp = np.cumsum(RNG.random(9))
    fp = RNG.random(9)
    x = np.concatenate((RNG.random(30) * 7 - 1, xp, np.array([np.nan, np.inf])))
    check("np.interp(a, b, c)", (x, xp, fp), (0.7, xp, fp), (x.reshape(1, -1), xp, fp), (3, xp, fp),
          (x, xp[:1], fp[:1]), (x, np.arange(9), np.arange(9)), (x, xp, fp + 1j), (x[::2], xp, fp))
    check("np.interp(a, b, c, -1.0, 9), np.interp(a, b, c, right=0.0)", (x, xp, fp))
    check("np.interp(a, b, c)", (np.array([1.5, 2.5]), np.arange(4.0), np.array([0.0, np.inf, np.inf, 3.0])))
    same_error("np.interp(a, b, c)", (x, xp, fp[:3]), (x, xp[:0], fp[:0]))


def test_angles():
    turns = np.cumsum(RNG.random(30) * 9 - 4)
    check("np.unwrap(a)", turns % 6.28, turns.reshape(5, 6) % 6.28, (turns % 6.28).astype("f"), INTEGERS)
    check("np.unwrap(a, axis=0), np.unwrap(a, 4.0)", turns.reshape(5, 6) % 6.28)
    check("np.unwrap(a, period=4.0)", turns % 4)


def test_convolution():
    pairs = [(VECTOR, VECTOR[:4]), (VECTOR[:4], VECTOR), (VECTOR, BACKWARDS), (INTEGERS[0], INTEGERS[1]),
             (COMPLEX, COMPLEX[:3]), (VECTOR, COMPLEX[:5]), (BYTES, BYTES[:2]), (SINGLE[0], SINGLE[1, ::2])]
    check("np.convolve(a, b), np.convolve(a, b, 'same'), np.convolve(a, b, 'valid')", *pairs)
    check("np.correlate(a, b), np.correlate(a, b, 'same'), np.correlate(a, b, 'full')", *pairs)
    check("np.convolve(a, 2.0)", VECTOR)
    for dtype in (np.float32, np.float64, np.complex64, np.complex128, np.int16):
        for m in (1, 3, 4, 11, 40):
            a, v = (RNG.normal(size=n) * 9 + 9j * RNG.normal(size=n) for n in (90, m))
            a, v = (x.astype(dtype) if dtype in (np.complex64, np.complex128) else x.real.astype(dtype) for x in (a, v))
            eps = 0 if dtype is np.int16 else np.finfo(dtype).eps
            for function in (np.correlate, np.convolve):
                got = njit(lambda a, v: function(a, v, "full"))(a, v)
                most = m * eps * function(abs(a), abs(v), "full") * (2 if a.dtype.kind == "c" else 1)
                assert got.dtype == dtype and (abs(got - function(a, v, "full")) <= most).all()
    same_error("np.convolve(a, b)", (VECTOR, VECTOR[:0]), (VECTOR[:0], VECTOR))
    same_error("np.correlate(a, b)", (VECTOR, VECTOR[:0]), (VECTOR[:0], VECTOR))


def test_windows():
    for name in ("hanning", "hamming", "blackman", "bartlett"):
        check(f"np.{name}(a)", 0, 1, 2, 7, 12, -3, 2.5)
    check("np.kaiser(a, b)", (12, 14.0), (1, 2.0), (7, 0), (0, 3.0), (33, 8.6))


def test_not_a_number():
    check("np.diff(a), np.gradient(a), np.trapezoid(a)", NOT_NUMBERS)
