"""NumPy's functions that sort, and those that look things up in what is sorted.

Lines are sorted by NumPy's own functions for the dtype, so that the order is NumPy's, ties and NaN included."""

import numpy as np

from krait import _krait
from krait.prelude import times
from krait.prelude.intrinsics import argsort_line, layout_of, numpy_order, packed, reinterpreted, sort_line
from krait.prelude.searching import take_along_axis
from krait.prelude.shaping import together

_krait.bind_numpy_sorts()

# Newer versions of NumPy take another way where heapsort is asked for: the order of ties tells.
_TIES = np.array([1, 1, -3, -3, -1, 2, -3], np.int16)
_HEAPSORT = "heap" if (np.argsort(_TIES, kind="heapsort") != np.argsort(_TIES)).any() else "quick"


def how(kind, stable):
    if stable is not None:
        if kind is not None:
            raise ValueError("`kind` and keyword parameters can't be provided at the same time. Use only one of them.")
        if stable:
            return "stable"
        return "quick"
    if kind is None or kind == "quicksort" or kind == "quick" or kind == "q":
        return "quick"
    if kind == "heapsort" or kind == "heap" or kind == "h":
        return _HEAPSORT
    return "stable"


def in_line(a):
    return packed(together(a, "C"), a.size, 0, "C")


# ---- lines; dates and durations as numbers in their order; texts and records by the interpreter ----


def by_interpreter(dtype):
    return dtype.kind == "U" or dtype.kind == "S" or dtype.kind == "V"


def kind_of(way):
    return "stable" if way == "stable" else "heapsort" if way == "heap" else "quicksort"


def order_line(way, line, order):
    if by_interpreter(line.dtype):
        line[...] = line[numpy_order(line, kind_of(way), order)]
    elif times.is_time(line.dtype):
        numbers = times.in_order(line)
        sort_line(way, numbers)
        reinterpreted(line, np.uint64, len(line))[...] = numbers + times.FIRST
    else:
        sort_line(way, line)


def order_places(way, line, places, order):
    if by_interpreter(line.dtype):
        places[...] = numpy_order(line, kind_of(way), order)
    elif times.is_time(line.dtype):
        argsort_line(way, times.in_order(line), places)
    else:
        argsort_line(way, line, places)


# ---- values ----


def sort_rows(a, way, order=None):
    # Each line along the last axis, in place.
    if order is not None and a.dtype.kind != "V":
        raise ValueError("Cannot specify order when the array has no fields.")
    if a.ndim == 1:
        if layout_of(a) == "C":
            order_line(way, a, order)
        else:
            line = np.copy(a, "C")
            order_line(way, line, order)
            a[...] = line
    else:
        for i in range(a.shape[0]):
            sort_rows(a[i], way, order)


def sort(a, axis=-1, kind=None, order=None, stable=None):
    a = np.asarray(a)
    if axis is None:
        line = np.copy(in_line(a), "C")
        sort_rows(line, how(kind, stable), order)
        return line
    new = np.copy(a)
    sort_rows(np.moveaxis(new, axis, -1), how(kind, stable), order)
    return new


def sort_complex(a):
    new = sort(a)
    if new.dtype.kind == "c":
        return new
    if (new.dtype.kind == "i" or new.dtype.kind == "u") and new.dtype.itemsize <= 2:
        return new.astype(np.complex64)
    return new.astype(np.complex128)


def sort_in_place(a, axis=-1, kind=None, order=None, stable=None):
    sort_rows(np.moveaxis(a, axis, -1), how(kind, stable), order)


def check_kth(kth, a, axis):
    # NumPy does not look at places in an array without elements.
    if axis is not None:
        np.moveaxis(a, axis, -1)  # there is such an axis
    n = a.size if axis is None else a.shape[axis]
    if a.size == 0:
        return
    if isinstance(kth, int):
        if kth < -n or kth >= n:
            raise ValueError(f"kth(={kth + n if kth < 0 else kth}) out of bounds ({n})")
    else:
        for k in np.ravel(np.asarray(kth)):
            if k < -n or k >= n:
                raise ValueError(f"kth(={int(k + n if k < 0 else k)}) out of bounds ({n})")


def partition(a, kth, axis=-1, kind="introselect", order=None):
    # What is sorted is parted at every place.
    a = np.asarray(a)
    check_kth(kth, a, axis)
    return sort(a, axis)


def partition_in_place(a, kth, axis=-1, kind="introselect", order=None):
    check_kth(kth, a, axis)
    sort_in_place(a, axis)


# ---- places ----


def argsort_rows(a, places, way, order):
    if order is not None and a.dtype.kind != "V":
        raise ValueError("Cannot specify order when the array has no fields.")
    if a.ndim == 1:
        if layout_of(places) == "C":
            places_of_line(in_line(a), places, way, order)
        else:
            line = np.empty(len(a), np.int64)
            places_of_line(in_line(a), line, way, order)
            places[...] = line
    else:
        for i in range(a.shape[0]):
            argsort_rows(a[i], places[i], way, order)


def places_of_line(line, places, way, order):
    for i in range(len(places)):
        places[i] = i
    order_places(way, line, places, order)


def argsort(a, axis=-1, kind=None, order=None, stable=None):
    a = np.asarray(a)
    if axis is None:
        return argsort(in_line(a), 0, kind, order, stable)
    places = np.empty(a.shape, np.int64)
    argsort_rows(np.moveaxis(a, axis, -1), np.moveaxis(places, axis, -1), how(kind, stable), order)
    return places


def argpartition(a, kth, axis=-1, kind="introselect", order=None):
    a = np.asarray(a)
    check_kth(kth, a, axis)
    return argsort(a, axis)


def lexsort(keys, axis=-1):
    # By the last key, then the one before it: each stable sort keeps what the sorts before it did.
    if len(keys) == 0:
        raise TypeError("need sequence of keys with len > 0 in lexsort")
    return sort_by_others(argsort(keys[0], axis, "stable"), keys, axis)


def sort_by_others(places, keys, axis):
    if isinstance(keys, tuple):
        if len(keys) == 1:
            return places
        return sort_by_others(sorted_by(places, keys[1], axis), keys[1:], axis)
    for i in range(1, len(keys)):
        places = sorted_by(places, keys[i], axis)
    return places


def sorted_by(places, key, axis):
    key = np.asarray(key)
    if key.shape != places.shape:
        raise ValueError("all keys need to be the same shape")
    return take_along_axis(places, argsort(take_along_axis(key, places, axis), axis, "stable"), axis)


# ---- looking things up ----


def comes_before(x, y):
    # NaN and NaT come last.
    if isinstance(x, np.character):
        return x < y
    if x.dtype.kind == "m" or x.dtype.kind == "M":
        return np.logical_not(np.isnat(x)) and (np.isnat(y) or x < y)
    if x.dtype.kind == "f":
        return x < y or (y != y and x == x)
    if x.dtype.kind == "c":
        if x.real < y.real:
            return x.imag == x.imag or y.imag != y.imag
        if x.real > y.real:
            return y.imag != y.imag and x.imag == x.imag
        if x.real == y.real or (x.real != x.real and y.real != y.real):
            return comes_before(x.imag, y.imag)
        return y.real != y.real
    return x < y


def first_not_before(line, x):
    low = 0
    count = len(line)
    while count > 0:
        half = count // 2
        if comes_before(line[low + half], x):
            low += half + 1
            count -= half + 1
        else:
            count = half
    return low


def first_behind(line, x):
    low = 0
    count = len(line)
    while count > 0:
        half = count // 2
        if not comes_before(x, line[low + half]):
            low += half + 1
            count -= half + 1
        else:
            count = half
    return low


def searchsorted(a, v, side="left", sorter=None):
    a = np.asarray(a)
    if a.ndim != 1:
        raise ValueError("object too deep for desired array")
    if side != "left" and side != "right":
        raise ValueError("search side must be 'left' or 'right'")
    dtype = np.result_type(a, np.asarray(v))  # of a Python number that of its array
    if sorter is None:
        return look_up(np.ascontiguousarray(np.asarray(a, dtype)), v, side, dtype)
    order = np.asarray(sorter)
    if len(order) != len(a):
        raise ValueError("sorter.size must equal len(a)")
    return look_up(np.asarray(a, dtype)[order], v, side, dtype)


def look_up(line, v, side, dtype):
    values = np.asarray(v, dtype)
    places = np.empty(values.shape, np.int64)
    wanted = in_line(values)
    found = packed(places, places.size, 0, "C")
    for i in range(len(wanted)):
        if side == "left":
            found[i] = first_not_before(line, wanted[i])
        else:
            found[i] = first_behind(line, wanted[i])
    if places.ndim == 0:
        return places[()]
    return places


def digitize(x, bins, right=False):
    bins = np.asarray(bins)
    rises, falls = True, True
    for i in range(1, len(bins)):
        rises = rises and bins[i] >= bins[i - 1]
        falls = falls and bins[i] <= bins[i - 1]
    if not rises and not falls:
        raise ValueError("bins must be monotonically increasing or decreasing")
    line = bins if rises else bins[::-1]
    if right:
        places = np.asarray(searchsorted(line, x, "left"))
    else:
        places = np.asarray(searchsorted(line, x, "right"))
    return places_in(places, len(bins), rises)


def places_in(places, n, rises):
    new = np.empty(places.shape, np.int64)
    if rises:
        new[...] = places
    else:
        new[...] = n - places
    if new.ndim == 0:
        return new[()]
    return new
