"""Keywords of reductions and of numpy.pad: initial, dtype, out, by median, by axes; dates that are no zero."""

import numpy as np
import pytest

from krait import njit
from krait.errors import NumbaError
from numpy_cases import CUBE, INTEGERS, MATRIX, check, same_error


@pytest.mark.parametrize("width", ["1", "(1, 2)", "((1, 2), (0, 3))"])
def test_padding_by_the_median(width):
    check(f"np.pad(a, {width}, mode='median')", MATRIX, INTEGERS, MATRIX.astype("f"), INTEGERS.astype("B"))
    check(f"np.pad(a, {width}, mode='median', stat_length=2)", MATRIX, INTEGERS)


def test_padding_by_axes():
    check("np.pad(a, {0: 1, -1: 2})", MATRIX)
    check("np.pad(a, {-1: (1, 2)})", MATRIX, CUBE)
    check("np.pad(a, 2, mode='linear_ramp')", MATRIX + 1j)


@pytest.mark.parametrize("name", ["sum", "prod"])
def test_floats_to_begin_from_lose_their_fraction_among_integers(name):
    check(f"np.{name}(a, initial=2.5)", INTEGERS, MATRIX, INTEGERS[:0], INTEGERS > 0)
    check(f"np.{name}(a, axis=0, initial=2.5)", INTEGERS, MATRIX)


@pytest.mark.parametrize("name", ["min", "max"])
def test_what_extremes_begin_from_fits_the_elements(name):
    """NumPy makes a number of Python of it."""
    small = INTEGERS.astype(np.int8)
    for text in (f"np.{name}(a, initial=b)", f"np.{name}(a, axis=0, initial=b)"):
        check(text, (small, np.int64(3)), (small, 2.7), (small, np.float32(-3.5)), (MATRIX, np.int64(2)))
        check(text, (small.astype(np.uint8), np.int64(300)), (small.astype(np.uint8), np.int32(-1)))
        same_error(text, (small, np.int64(300)), (small, np.nan), (small, np.float64("nan")), (INTEGERS, np.inf))
        same_error(text, (INTEGERS, np.uint64(2**63)), (small, np.uint64(2**64 - 1)))
    f = njit(lambda a, b: (np.min(a, axis=0, initial=b), 1)[1])
    with pytest.raises(ValueError, match="cannot convert float NaN to integer"):
        f(INTEGERS[0], np.float64("nan"))


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "c16", "i2", "u1"])
def test_spreads_in_a_dtype(dtype):
    positive = np.abs(INTEGERS)
    check(f"np.var(a, dtype='{dtype}')", INTEGERS, positive + 0.25)
    check(f"np.var(a, dtype='{dtype}', axis=1)", positive, MATRIX.astype("f"))
    check(f"np.std(a, dtype='{dtype}')", INTEGERS, MATRIX)
    check("np.var(a)", np.float64(3), np.array(2.5), 3, True)
    check("np.std(a, ddof=1)", np.float64(3), np.array(2.5))


def test_what_is_no_zero_among_dates():
    dates, spans = np.abs(INTEGERS).astype("M8[D]"), INTEGERS.astype("m8[s]")
    for name in ("any", "all", "count_nonzero"):
        check(f"np.{name}(a)", dates, spans)
        check(f"np.{name}(a, axis=0)", dates, spans)
    check("np.nonzero(a), np.flatnonzero(a), np.argwhere(a)", dates, spans)


def test_dates_have_no_mean():
    with pytest.raises((TypeError, NumbaError)):
        njit(lambda a: np.mean(a))(np.zeros(3, "M8[D]"))


def test_places_only_into_integers():
    same_error("np.argmin(a, axis=0, out=b)", (MATRIX, np.zeros(5)))
    check("np.argmax(a, axis=0, out=b)", (MATRIX, np.zeros(5, "l")))
