"""Ways through an array: tolist, ndindex, ndenumerate, nditer, membership.  What is iterated over is a list."""

import operator
from types import GeneratorType
from typing import NamedTuple

import numpy as np

from krait.prelude.intrinsics import (
    bytes_of,
    frozen,
    is_writeable,
    packed,
    python_number,
    reinterpreted,
    strided,
    with_item,
)
from krait.prelude.shaping import check_order, lies_together, together


def tolist(a):
    if a.ndim == 0:
        return python_number(a[()])
    if a.ndim == 1:
        return [python_number(item) for item in a]
    rows = []
    for i in range(a.shape[0]):
        rows.append(tolist(a[i]))
    return rows


def first_place(shape):
    for axis in range(len(shape)):
        if shape[axis] < 0:
            raise ValueError("negative dimensions are not allowed")
        shape = with_item(shape, axis, 0)
    return shape


def next_place(place, shape):
    for axis in range(len(shape) - 1, -1, -1):
        if place[axis] + 1 < shape[axis]:
            return with_item(place, axis, place[axis] + 1)
        place = with_item(place, axis, 0)
    return place


def size_of(shape):
    n = 1
    for extent in shape:
        n *= extent
    return n


def shape_of(extents):
    # What ndindex is given: a shape, or its extents, of any types of integers.
    if len(extents) == 1:
        if isinstance(extents[0], tuple):
            return as_ints(extents[0])
    return as_ints(extents)


def as_ints(extents):
    if len(extents) == 0:
        return ()
    return (operator.index(extents[0]),) + as_ints(extents[1:])


def ndindex(*shape):
    return places_in(shape_of(shape))


def places_in(shape):
    places = []
    place = first_place(shape)
    for _ in range(size_of(shape)):
        places.append(place)
        place = next_place(place, shape)
    return places


def ndenumerate(arr):
    a = np.asarray(arr)
    pairs = []
    place = first_place(a.shape)
    for _ in range(a.size):
        pairs.append((place, a[place]))
        place = next_place(place, a.shape)
    return pairs


def in_memory_order(a):
    # A view whose elements, in C order, lie one behind the other, as far as strides go.
    shape, strides, offset = a.shape, a.strides, 0
    for axis in range(a.ndim):
        if strides[axis] < 0:
            offset += (shape[axis] - 1) * strides[axis]
            strides = with_item(strides, axis, -strides[axis])
    for axis in range(1, a.ndim):
        k = axis
        while k > 0 and strides[k - 1] < strides[k]:
            extent, step = shape[k], strides[k]
            shape = with_item(with_item(shape, k, shape[k - 1]), k - 1, extent)
            strides = with_item(with_item(strides, k, strides[k - 1]), k - 1, step)
            k -= 1
    return strided(a, offset, shape, strides)


def nditer(op):
    if np.asarray(op).size == 0:
        raise ValueError("Iteration of zero-sized operands is not enabled")
    a = frozen(in_memory_order(np.asarray(op)))
    views = []
    place = first_place(a.shape)
    for _ in range(a.size):
        views.append(a[place + (...,)])
        place = next_place(place, a.shape)
    return views


def contains(value, a):
    for item in a.flat:
        if item == value:
            return True
    return False


def contains_not(value, a):
    return not contains(value, a)


def contains_array(value, a):
    # NumPy compares all elements: an element that is equal is enough.
    return bool((a == value).any())


def contains_no_array(value, a):
    return not contains_array(value, a)


def iterable(y):
    if isinstance(y, np.ndarray):
        return y.ndim > 0
    if isinstance(y, (list, tuple, str, bytes, dict, set, range, zip, enumerate, GeneratorType)):
        return True
    return hasattr(y, "__iter__")


# ---- how the elements lie ----


class Flags(NamedTuple):
    c_contiguous: bool
    f_contiguous: bool
    contiguous: bool
    forc: bool
    fnc: bool
    writeable: bool

    def __getitem__(self, key):
        if key in ("C_CONTIGUOUS", "CONTIGUOUS", "C"):
            return self.c_contiguous
        if key in ("F_CONTIGUOUS", "FORTRAN", "F"):
            return self.f_contiguous
        if key in ("WRITEABLE", "W"):
            return self.writeable
        if key == "FORC":
            return self.forc
        if key == "FNC":
            return self.fnc
        raise KeyError("Unknown flag")


def flags(a):
    c, f = lies_together(a, "C"), lies_together(a, "F")
    return Flags(c, f, c, c or f, f and not c, is_writeable(a))


def isfortran(a):
    return flags(a).fnc


def tobytes(a, order="C"):
    check_order(order)
    in_fortran_order = order == "F" or (order == "A" and lies_together(a, "F") and not lies_together(a, "C"))
    whole = together(a, "C") if not in_fortran_order else together(a.T, "C")
    line = packed(whole, a.size, 0, "C")
    return bytes_of([byte for byte in reinterpreted(line, np.uint8, a.size * a.itemsize)])
