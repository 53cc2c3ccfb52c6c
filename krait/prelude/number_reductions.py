"""NumPy's reductions that leave out what is no number: sums, products, extremes, means."""

import math

import numpy as np

from krait.prelude.axes import lines_of, masked, over_axes
from krait.prelude.intrinsics import layout_of
from krait.prelude.reductions import (
    along,
    count_along,
    count_of_all,
    extreme,
    given,
    is_whole,
    masked_extreme,
    mean,
    mean_type,
    prod,
    sum_,
    sum_from,
)
from krait.prelude.sums import laid_out_as, sum_along, sum_of_all


def nansum(a, axis=None, dtype=None, out=None, keepdims=False, initial=0, where=None):
    return sum_(numbers_or(a, 0), axis, dtype, out, keepdims, initial, where)


def nanprod(a, axis=None, dtype=None, out=None, keepdims=False, initial=1, where=None):
    return prod(numbers_or(a, 1), axis, dtype, out, keepdims, initial, where)


def numbers_or(a, x):
    a = np.asarray(a)
    if a.dtype.kind == "f" or a.dtype.kind == "c":
        numbers = np.copy(a) if layout_of(a) == "C" else laid_out_as(a, a)
        numbers_in(numbers, x)
        return numbers
    return a


def numbers_in(a, x):
    for i in range(a.size):
        if np.isnan(a.flat[i]):
            a.flat[i] = x


def nanmin(a, axis=None, out=None, keepdims=False, initial=None, where=None):
    a = masked_extreme("fmin", np.asarray(a), initial, where)
    return extreme(np.fmin, "fmin", a, axis, out, keepdims, initial)


def nanmax(a, axis=None, out=None, keepdims=False, initial=None, where=None):
    a = masked_extreme("fmax", np.asarray(a), initial, where)
    return extreme(np.fmax, "fmax", a, axis, out, keepdims, initial)


def numbers_where(a, where):
    # What the mask leaves out is no number.
    return masked(a, where, math.nan)


def nanmean(a, axis=None, dtype=None, out=None, keepdims=False, where=None):
    a = np.asarray(a)
    if where is not None:
        if a.dtype.kind != "f" and a.dtype.kind != "c":
            return mean(a, axis, dtype, out, keepdims, where)
        return nanmean(numbers_where(a, where), axis, dtype, out, keepdims)
    numbers = numbers_or(a, 0)
    if is_whole(a, axis):
        total = sum_from(sum_of_all(numbers, mean_type(a, dtype)), 0)
        return given(total.dtype.type(np.divide(total, count_of_all(a == a))), a, out, keepdims)
    if isinstance(axis, tuple):
        return over_axes(nanmean(lines_of(a, axis), -1, dtype), a, axis, out, keepdims)
    sums = sum_along(numbers, axis, mean_type(a, dtype))
    sums += 0
    np.divide(sums, count_along(a == a, axis), sums, casting="unsafe")
    return along(sums, axis, out, keepdims)
