"""Rounding, limits, parts of complex numbers, comparisons, sinc, i0, finfo and iinfo against NumPy."""

import numpy as np
import pytest

from krait import cuda, njit
from numpy_cases import (
    BACKWARDS,
    BOOLS,
    BYTES,
    COMPLEX,
    FORTRAN,
    HALF,
    INTEGERS,
    MATRIX,
    NOT_NUMBERS,
    SINGLE,
    STRIDED,
    VECTOR,
    check,
)
from oracle import agree, expression

REALS = [VECTOR, BACKWARDS, MATRIX, FORTRAN, STRIDED, INTEGERS, BYTES, SINGLE, NOT_NUMBERS]
NUMBERS = [*REALS, COMPLEX]


def test_rounding():
    check("np.round(a * 100)", *REALS, HALF)
    check("np.round(a * 100, 1)", VECTOR, MATRIX, SINGLE, INTEGERS, BYTES, NOT_NUMBERS)
    check("a.round(-1)", VECTOR * 100, INTEGERS * 7, INTEGERS.astype("h"), BYTES)
    check("np.around(a, 2), np.round(a)", 2.675, 3, np.float32(2.5))
    check("np.round(a)", BOOLS, True)
    check("np.round(a, 1)", np.array([0.25, 0.35, -0.05, 1e300]))
    check("np.round(a, 1, b)", (VECTOR, np.zeros(13)), (VECTOR, np.zeros(13, "f")))
    check("np.fix(a * 3)", *REALS, 2.5, -2.5)


def test_limits():
    check("np.clip(a, -1, 3)", *[x for x in REALS if x.dtype != "B"], 7, -2.5)
    check("a.clip(1, 3)", BYTES, MATRIX, INTEGERS)
    check("np.clip(a, b, c)", (VECTOR, VECTOR * 0, 0.25), (MATRIX, MATRIX[0], MATRIX[1]), (INTEGERS, 0.5, 2.5))
    check("np.clip(a, None, 0.25), np.clip(a, 0, None), np.clip(a, min=0.0), np.clip(a, max=0.1)", VECTOR, SINGLE)
    check("np.clip(a, 0, 1, b)", (VECTOR, np.zeros(13)), (VECTOR, VECTOR))


LIMITED = [ZEROS := np.array([-0.0, 0.0, 1, -3, np.nan, np.inf]), ZEROS.astype("f"), ZEROS[:1], np.array(-0.0), -0.0, 3,
           True, np.int8(3), np.float32(-0.0), np.arange(-3, 3), np.arange(6, dtype=np.uint8), np.array([True, False]),
           np.arange(3, dtype=np.uint64), ZEROS + 1j]
LIMITS = [(0, 1), (-0.0, 0.0), (0.0, -0.0), (np.nan, 1.0), (0, np.nan), (3, 1), (-300, 300), (-300, 5), (300, 500),
          (2, np.uint8(7)), (np.float32(0), 1.0), (None, 0), (0, None), (True, 2), (np.int8(-1), np.int64(4)), (0, 2j),
          (np.zeros(6), 1), (0.0, np.full(6, -0.0))]


@pytest.mark.parametrize("low, high", LIMITS, ids=str)
def test_zeros_types_and_ints_that_do_not_fit_at_limits(low, high):
    function = njit(expression("np.clip(a, b, c)", "a", "b", "c"))
    for a in LIMITED:
        if np.size(a) in (1, 6) or not isinstance(low if np.ndim(low) else high, np.ndarray):
            agree(function, a, low, high)


def test_limits_in_kernels():
    @cuda.jit
    def limit(a, out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = np.clip(a[i], 0.0, 1.0)

    a = np.array([-0.0, -2, 0.5, 7, np.nan])
    out = cuda.to_device(np.zeros(5))
    limit[1, 32](a, out)
    np.testing.assert_array_equal(out.copy_to_host(), np.clip(a, 0.0, 1.0))
    assert np.signbit(out.copy_to_host()[0])


def test_what_is_no_number():
    check("np.nan_to_num(a)", *NUMBERS, 3.0, float("nan"), np.float32("inf"))
    check("np.nan_to_num(a, nan=7.0, posinf=2.0, neginf=-1)", NOT_NUMBERS, NOT_NUMBERS.astype("f"))
    check("np.isposinf(a), np.isneginf(a)", NOT_NUMBERS, VECTOR, MATRIX, -np.inf)


def test_parts():
    check("np.real(a), np.imag(a)", VECTOR, COMPLEX, 2.5, 1 + 2j, np.complex64(3 - 1j), MATRIX)
    check("np.angle(a), np.angle(a, True)", VECTOR, COMPLEX, 1j, -2.0, MATRIX)
    check("np.isreal(a), np.iscomplex(a)", *NUMBERS, 2.0, 1j, 1 + 0j)
    check("np.isrealobj(a), np.iscomplexobj(a)", VECTOR, COMPLEX, 3, 1j)
    check("np.isscalar(a), np.isscalar((1, 2)), np.isscalar('a'), np.isscalar(None)", 3, 2.5, VECTOR, np.array(2))
    check("np.shape(a), np.size(a)", VECTOR, MATRIX, 3, (((1, 2, 3), (4, 5, 6)),))
    check("np.size(a, 1)", MATRIX, FORTRAN)


def test_comparisons():
    near = VECTOR + 1e-9
    check("np.isclose(a, b), np.allclose(a, b)", (VECTOR, near), (VECTOR, 0.1), (MATRIX, MATRIX[0]), (2, 2.0),
          (INTEGERS, INTEGERS + 1), (COMPLEX, COMPLEX + 1e-9), (NOT_NUMBERS, NOT_NUMBERS), (np.float32(1), 1.00001))
    check("np.isclose(a, b, 0.5, 0.1, True)", (NOT_NUMBERS, NOT_NUMBERS), (VECTOR, BACKWARDS))
    check("np.allclose(a, b, atol=1.0, equal_nan=True)", (NOT_NUMBERS, NOT_NUMBERS), (VECTOR, BACKWARDS))
    check("np.array_equal(a, b), np.array_equiv(a, b)", (VECTOR, VECTOR), (VECTOR, near), (VECTOR, VECTOR[:3]),
          (MATRIX, FORTRAN), (MATRIX, MATRIX[0]), (MATRIX[:1], MATRIX[0]), (NOT_NUMBERS, NOT_NUMBERS), (3, 3))
    check("np.array_equal(a, b, equal_nan=True)", (NOT_NUMBERS, NOT_NUMBERS), (VECTOR, near))


def test_functions_of_numbers():
    check("np.sinc(a)", VECTOR, MATRIX, INTEGERS, SINGLE, 0.0, 0.3, COMPLEX)
    check("np.i0(a)", VECTOR * 20, SINGLE, np.array([0.0, 8.0, 50.0, 700.0, np.inf, np.nan]), INTEGERS)


def test_limits_of_types():
    check("np.finfo(a.dtype).max, np.finfo(np.float32).eps, np.finfo(float).tiny, np.finfo(a.dtype).bits",
          VECTOR, SINGLE, HALF, COMPLEX)
    check("np.iinfo(a.dtype).max, np.iinfo(a.dtype).min, np.iinfo(np.uint16).bits, np.iinfo(int_type=int).min",
          INTEGERS, BYTES)
