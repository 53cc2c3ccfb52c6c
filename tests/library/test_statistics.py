"""Medians, quantiles, weighted means, covariances, and what leaves out NaN, against NumPy."""

import numpy as np
import pytest

from numpy_cases import (
    BYTES,
    COMPLEX,
    CUBE,
    FORTRAN,
    HALF,
    INTEGERS,
    MATRIX,
    NOT_NUMBERS,
    SINGLE,
    STRIDED,
    VECTOR,
    check,
    same_error,
)

ARRAYS = [VECTOR, VECTOR[:8], MATRIX, FORTRAN, STRIDED, INTEGERS, SINGLE, NOT_NUMBERS, CUBE, HALF]
GAPS = MATRIX.copy()
GAPS[1, 2] = GAPS[3] = np.nan
METHODS = (
    "inverted_cdf averaged_inverted_cdf closest_observation interpolated_inverted_cdf hazen weibull linear "
    "median_unbiased normal_unbiased lower higher midpoint nearest"
).split()


def test_medians():
    check("np.median(a), np.nanmedian(a)", *ARRAYS, BYTES, VECTOR[:0], VECTOR[:1])
    check("np.median(a, axis=0), np.median(a, -1, keepdims=True), np.nanmedian(a, 0)", MATRIX, INTEGERS, CUBE, FORTRAN)
    check("np.median(a, axis=(0, 2)), np.median(a, keepdims=True), np.median(a, (1, 2), keepdims=True)", CUBE)
    check("np.median(a, 0, b)", (MATRIX, np.zeros(5)))
    same_error("np.median(a, axis=3)", MATRIX)


def test_quantiles():
    check("np.percentile(a, 30), np.quantile(a, 0.3), np.nanpercentile(a, 70), np.nanquantile(a, 0.9)", *ARRAYS)
    check("np.percentile(a, b), np.quantile(a, b / 100)", (VECTOR, np.array([0.0, 25, 50, 100])),
          (MATRIX, np.array([[10.0, 20]])), (SINGLE, np.array([10.0, 20])))
    check("np.percentile(a, b, axis=0), np.quantile(a, 0.25, 1, keepdims=True), np.percentile(a, b, 1, keepdims=True)",
          (MATRIX, np.array([0.0, 25, 50, 100])), (CUBE, np.array([5.0, 6])))
    check("np.percentile(a, [2.5, 97.5]), np.quantile(a, (0.1, 0.5, 0.9)), np.nanquantile(a, [[0.1], [0.2]], axis=0)",
          VECTOR, MATRIX)
    check("np.ndim(a), np.ndim([1, 2]), np.ndim((1, 2.5)), np.ndim([[1.0], [2.0]]), np.ndim([a, a]), np.ndim(3)", CUBE)
    same_error("np.quantile(a, 1.5)", VECTOR)
    same_error("np.percentile(a, -1)", VECTOR)


ENDS = [np.array([-1.0, -0.0, 3.0]), np.array([-3.0, -2.0, -0.0]), np.array([-0.0] * 3), np.array([-0.0, 1, 2], "f"),
        np.array([-0.0]), np.array([np.inf]), np.array([-1.7e308, 1e308, 1.7e308]), np.array([1.0, 2.0, np.inf]),
        np.array([-np.inf, -np.inf, 1.0])]  # fmt: skip


@pytest.mark.parametrize("method", ["linear", "averaged_inverted_cdf", "interpolated_inverted_cdf", "weibull",
                                    "midpoint", "median_unbiased"])
def test_quantiles_at_zeros_and_infinities(method):
    """An element itself is a step of no length, which decides about the sign of zero."""
    with np.errstate(all="ignore"):
        check(f"np.quantile(a, b, method='{method}'), np.nanquantile(a, b[0], method='{method}')",
              *[(a, np.array([0.5, 0.25, 0.0, 1.0])) for a in ENDS])


def test_quantiles_of_narrow_floats_and_of_nothing():
    """A share that is a Python number is computed with in float64."""
    four = np.array([3, 1, 2, 0])
    check("np.percentile(a, 30), np.quantile(a, 0.3), np.quantile(a, b)", (four.astype("e"), np.float64(0.3)),
          (four.astype("f"), np.float32(0.3)))
    same_error("np.percentile(a, 30)", VECTOR[:0], np.zeros(0, np.int8), np.zeros(3, bool))
    check("np.median(a)", COMPLEX[:0])


@pytest.mark.parametrize("method", METHODS)
def test_methods_of_quantiles(method):
    check(f"np.quantile(a, b, method='{method}')", (VECTOR, 0.3), (VECTOR, np.array([0, 0.1, 0.25, 0.5, 0.77, 1])),
          (VECTOR[:8], np.array([0, 0.125, 0.25, 0.5, 0.75, 1])), (VECTOR[:2], np.array([0.1, 0.5, 0.9])))


def test_what_is_no_number_is_left_out():
    check("np.nanvar(a), np.nanstd(a), np.nanstd(a, ddof=1), np.nanvar(a, axis=0)", MATRIX, GAPS, INTEGERS, SINGLE)
    check("np.nanstd(a, axis=1), np.nanvar(a, 0, keepdims=True), np.nanmedian(a, 1)", GAPS)
    check("np.nanvar(a)", COMPLEX, VECTOR[:0])
    check("np.nancumsum(a), np.nancumprod(a), np.nancumsum(a, axis=0)", GAPS, INTEGERS)
    check("np.nanargmin(a), np.nanargmax(a), np.nanargmin(a, 0)", MATRIX, INTEGERS)
    check("np.nanargmin(a), np.nanargmax(a)", NOT_NUMBERS, GAPS)
    same_error("np.nanargmax(a, 1)", GAPS)


def test_medians_of_negative_zeros():
    check("np.median(a), np.median(a, axis=0), np.median(a, 1)", np.full((1, 1), -0.0), np.full((2, 3), -0.0),
          np.full((3, 2), -0.0))


def test_sums_whose_length_needs_wide_arithmetic():
    text = "np.square(np.vstack((np.copysign(np.ascontiguousarray(a), 0.5), np.meshgrid(a, a)[0]))).sum(axis=1).nbytes"
    check(text, np.array([2, 6, 4]))


def test_weighted_means():
    check("np.average(a), np.average(a, axis=0), np.average(a, 0, returned=True), np.average(a, returned=True)", MATRIX,
          INTEGERS, SINGLE)
    check("np.average(a, weights=b), np.average(a, weights=b, returned=True)", (VECTOR, np.abs(VECTOR)),
          (MATRIX, np.abs(MATRIX)), (INTEGERS, np.abs(INTEGERS)))
    check("np.average(a, axis=1, weights=b), np.average(a, 1, b, keepdims=True)", (MATRIX, np.arange(5)))
    same_error("np.average(a, weights=b)", (VECTOR, VECTOR * 0), (MATRIX, VECTOR[:5]))


def test_covariances():
    check("np.cov(a), np.corrcoef(a)", MATRIX, FORTRAN, INTEGERS, VECTOR, SINGLE, COMPLEX[:12].reshape(3, 4))
    check("np.cov(a, b), np.corrcoef(a, b)", (VECTOR, VECTOR[::-1]), (MATRIX, VECTOR[:5]))
    check("np.cov(a, rowvar=False), np.cov(a, bias=True), np.cov(a, ddof=0), np.corrcoef(a, rowvar=False)", MATRIX)
    check("np.cov(a, fweights=b), np.cov(a, aweights=c), np.cov(a, fweights=b, aweights=c)",
          (MATRIX, np.arange(1, 6), np.arange(1.0, 6)))


def test_variances_of_a_part_from_a_given_mean():
    some = MATRIX > -0.2
    check("np.std(a, where=b), np.var(a, 0, where=b), np.std(a, 1, keepdims=True, where=b), a.var(where=b[0])",
          (MATRIX, some), (INTEGERS, some), (SINGLE, some), (FORTRAN, some), (GAPS, some))
    check("np.var(a, 0, mean=b), np.std(a, axis=0, mean=b, ddof=1), np.var(a, mean=b)",
          (MATRIX, MATRIX.mean(0, keepdims=True)), (INTEGERS, np.zeros((1, 5))))
    check("np.var(a, correction=1), np.std(a, 0, correction=1), np.nanstd(a, correction=1)", MATRIX, INTEGERS, SINGLE)
    check("np.std(a, (0, 2), where=b), np.var(a, (0, 1), keepdims=True, where=b)", (CUBE, CUBE > 0))
    check("np.var(a, where=b)", (COMPLEX, np.abs(COMPLEX) > 0.4))
    same_error("np.var(a, ddof=1, correction=1)", MATRIX)


def test_sums_and_variances_of_numbers_in_a_part():
    some = MATRIX > -0.2
    check("np.nansum(a, where=b), np.nanprod(a, 0, where=b), np.nanmean(a, where=b), np.nanmean(a, 1, where=b)",
          (GAPS, some), (INTEGERS, some))
    check("np.nanvar(a, where=b), np.nanstd(a, 0, where=b), np.nanvar(a, 1, keepdims=True, where=b, ddof=1)",
          (GAPS, some), (INTEGERS, some))
    check("np.nansum(a, initial=3), np.nanprod(a, 0, initial=2), np.nanvar(a, 0, mean=b)", (GAPS, np.ones((1, 5))))


@pytest.mark.parametrize("method", METHODS)
def test_types_of_quantiles(method):
    """What takes elements as they are keeps their type."""
    nine = np.arange(9)
    for q in ("0", "0.3", "[0, 1]", "[0.1, 0.5]", "np.float32(0.25)"):
        check(f"np.quantile(a, {q}, method='{method}')", nine, nine.astype("f"), nine.astype("B"), nine > 3)


def test_quantiles_of_weighted_elements():
    w = np.abs(VECTOR)
    text = "np.quantile(a, b, weights=c, method='inverted_cdf'), np.percentile(a, 100 * b, weights=c, " \
           "method='inverted_cdf'), np.nanquantile(a, b, weights=c, method='inverted_cdf')"
    check(text, (VECTOR, 0.3, w), (VECTOR, np.array([0, 0.2, 0.5, 1.0]), w), (BYTES, 0.5, w),
          (VECTOR, np.float32(0.4), w))
    check("np.quantile(a, b, 1, weights=c, method='inverted_cdf')", (MATRIX, 0.3, np.arange(5)))
    check("np.quantile(a, b, 1, weights=c, method='inverted_cdf'), "
          "np.nanquantile(a, b, axis=1, weights=c, method='inverted_cdf', keepdims=True)",
          (MATRIX, np.array([0.2, 0.5]), np.abs(MATRIX)), (NOT_NUMBERS[None, :], np.array([0.5]), np.ones((1, 6))))
    check("np.quantile(a, b, (0, 2), weights=c, method='inverted_cdf')", (CUBE, 0.4, np.arange(8.0).reshape(2, 4)))
    same_error("np.quantile(a, 0.3, weights=b)", (VECTOR, w))
    same_error("np.quantile(a, 0.3, weights=b, method='inverted_cdf')", (VECTOR, -w), (VECTOR, w * 0), (MATRIX, w))
    same_error("np.quantile(a, 0.3, weights=b, method='inverted_cdf', axis=1)", (MATRIX, w))
    same_error("np.quantile(a, 0.5)", COMPLEX)
