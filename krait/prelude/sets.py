"""NumPy's functions on arrays as sets: unique, isin, unions, intersections, differences."""

import numpy as np
from numpy.lib import _arraysetops_impl

from krait.prelude.axes import check_axes
from krait.prelude.intrinsics import packed
from krait.prelude.shaping import together
from krait.prelude.sorting import argsort, first_not_before, sort

UniqueAllResult, UniqueCountsResult = _arraysetops_impl.UniqueAllResult, _arraysetops_impl.UniqueCountsResult
UniqueInverseResult = _arraysetops_impl.UniqueInverseResult


def line(a):
    a = np.asarray(a)
    return packed(together(a, "C"), a.size, 0, "C")


def differs(x, y, equal_nan):
    # Of neighbours in what is sorted.
    if equal_nan:
        return x != y and (x == x or y == y)
    return x != y


def is_first(ordered, equal_nan):
    # Which of what is sorted is no repetition of the one before it.
    first = np.empty(len(ordered), np.bool_)
    for i in range(len(ordered)):
        first[i] = i == 0 or differs(ordered[i], ordered[i - 1], equal_nan)
    return first


def distinct(a, equal_nan=True):
    ordered = sort(line(a))
    return ordered[is_first(ordered, equal_nan)]


def unique(
    ar, return_index=False, return_inverse=False, return_counts=False, axis=None, equal_nan=True, sorted=True
):
    a = np.asarray(ar)
    if axis is not None:
        if a.ndim != 1:
            return unique_along(a, return_index, return_inverse, return_counts, axis)
        check_axes(axis, a.ndim)
    if not return_index and not return_inverse and not return_counts:
        return distinct(a, equal_nan)
    flat = line(a)
    if return_index or return_inverse:
        places = argsort(flat, -1, "stable" if return_index else "quicksort")
        ordered = flat[places]
        first = is_first(ordered, equal_nan)
        return (
            (ordered[first],)
            + places_of_first(places, first, return_index)
            + numbers_of(places, first, a.shape, return_inverse)
            + counts_of(first, return_counts)
        )
    ordered = sort(flat)
    first = is_first(ordered, equal_nan)
    return (ordered[first],) + counts_of(first, return_counts)


# ---- by the names of the array API standard: no NaN equals another ----


def unique_all(x):
    return UniqueAllResult(*unique(x, True, True, True, None, False))


def unique_counts(x):
    return UniqueCountsResult(*unique(x, False, False, True, None, False))


def unique_inverse(x):
    return UniqueInverseResult(*unique(x, False, True, False, None, False))


def unique_values(x):
    return distinct(x, False)


# ---- along an axis: rows in the order of their first elements, then of the second ones ----


def unique_along(a, return_index, return_inverse, return_counts, axis):
    slices = np.moveaxis(a, axis, 0)
    n = slices.shape[0]
    rows = np.ascontiguousarray(slices.reshape((n, slices[:1].size)))
    places = counted_up(n)
    for k in range(rows.shape[1]):
        column = rows[:, rows.shape[1] - 1 - k]
        places = places[argsort(column[places], -1, "stable")]
    first = np.empty(n, np.bool_)
    for i in range(n):
        first[i] = i == 0 or np.any(rows[places[i]] != rows[places[i - 1]])
    values = np.moveaxis(slices[places[first]], 0, axis)
    if not return_index and not return_inverse and not return_counts:
        return values
    return (
        (values,)
        + places_of_first(places, first, return_index)
        + numbers_of(places, first, (n,), return_inverse)
        + counts_of(first, return_counts)
    )


def counted_up(n):
    places = np.empty(n, np.int64)
    for i in range(n):
        places[i] = i
    return places


def places_of_first(places, first, wanted):
    if wanted:
        return (places[first],)
    return ()


def numbers_of(places, first, shape, wanted):
    # For each element the number of its value.
    if wanted:
        inverse = np.empty(shape, np.int64)
        flat = packed(inverse, inverse.size, 0, "C")
        number = -1
        for i in range(len(places)):
            if first[i]:
                number += 1
            flat[places[i]] = number
        return (inverse,)
    return ()


def counts_of(first, wanted):
    if wanted:
        starts = np.flatnonzero(first)
        counts = np.empty(len(starts), np.int64)
        for i in range(len(starts)):
            end = starts[i + 1] if i + 1 < len(starts) else len(first)
            counts[i] = end - starts[i]
        return (counts,)
    return ()


def isin(element, test_elements, assume_unique=False, invert=False, kind=None):
    elements = np.asarray(element)
    tests = np.asarray(test_elements)
    dtype = np.result_type(elements, tests)
    found = np.empty(elements.shape, np.bool_)
    ordered = sort(np.asarray(line(tests), dtype))
    wanted = np.asarray(line(elements), dtype)
    flat = packed(found, found.size, 0, "C")
    if np.dtype(dtype).kind == "i" and len(ordered) > 0:
        spread = int(ordered[-1]) - int(ordered[0])
        if 0 <= spread < 6 * (len(ordered) + len(wanted)):
            find_in_table(flat, wanted, ordered, spread, invert)
            return found
    for i in range(len(wanted)):
        at = first_not_before(ordered, wanted[i])
        flat[i] = (at < len(ordered) and ordered[at] == wanted[i]) != invert
    return found


def find_in_table(found, wanted, ordered, spread, invert):
    # Of integers that lie close together: a table says which of them are there.
    table = np.zeros(spread + 1, np.bool_)
    least = int(ordered[0])
    for item in ordered:
        table[int(item) - least] = True
    for i in range(len(wanted)):
        at = int(wanted[i]) - least
        found[i] = (0 <= at <= spread and wanted[i] <= ordered[-1] and table[at]) != invert


def joined(ar1, ar2):
    return np.concatenate((line(ar1), line(ar2)))


def union1d(ar1, ar2):
    return distinct(joined(ar1, ar2))


def intersect1d(ar1, ar2, assume_unique=False, return_indices=False):
    if return_indices:
        x, places_x = unique(ar1, True)
        y, places_y = unique(ar2, True)
        both_x = isin(x, y)
        both_y = isin(y, x)
        return joined(x[both_x], y[:0]), places_x[both_x], places_y[both_y]
    x = distinct(ar1)
    y = distinct(ar2)
    return joined(x[isin(x, y)], y[:0])


def setdiff1d(ar1, ar2, assume_unique=False):
    if assume_unique:
        x = line(ar1)
        return x[isin(x, ar2, False, True)]
    x = distinct(ar1)
    return x[isin(x, ar2, False, True)]


def setxor1d(ar1, ar2, assume_unique=False):
    x = distinct(ar1)
    y = distinct(ar2)
    return sort(joined(x[isin(x, y, False, True)], y[isin(y, x, False, True)]))
