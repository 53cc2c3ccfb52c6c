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
    shape_text,
    strided,
    with_item,
)
from krait.prelude.shaping import check_order, fits_shape, lies_together, merged_shape, together


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


# ---- nditer: arrays beside each other, in the order of memory ----


def is_one(op):
    # Not so of a tuple of several, whose items come as tuples.
    return len(op) == 1 if isinstance(op, tuple) else True


def operands_of(op):
    if isinstance(op, tuple):
        return as_arrays(op)
    return (np.asarray(op),)


def as_arrays(items):
    if len(items) == 0:
        return ()
    return (np.asarray(items[0]),) + as_arrays(items[1:])


def merged_shapes(arrays):
    if len(arrays) == 1:
        return arrays[0].shape
    return merged_shape(arrays[0].shape, merged_shapes(arrays[1:]))


def one_is_empty(arrays):
    if len(arrays) == 0:
        return False
    return arrays[0].size == 0 or one_is_empty(arrays[1:])


def all_fit(arrays, shape):
    if len(arrays) == 0:
        return True
    return fits_shape(arrays[0].shape, shape) and all_fit(arrays[1:], shape)


def shapes_text(arrays):
    if len(arrays) == 0:
        return ""
    return shape_text(arrays[0].shape) + " " + shapes_text(arrays[1:])


def joint_shape_of(arrays):
    if len(arrays) == 0:
        raise ValueError("Must provide at least one operand")
    if one_is_empty(arrays):
        raise ValueError("Iteration of zero-sized operands is not enabled")
    shape = merged_shapes(arrays)
    if not all_fit(arrays, shape):
        raise ValueError("operands could not be broadcast together with shapes " + shapes_text(arrays))
    return shape


def steps_of(arrays, shape):
    # The strides of each array as one of this shape; 0 along what is one item long.
    if len(arrays) == 0:
        return ()
    array, steps = arrays[0], shape
    for axis in range(len(shape)):
        steps = with_item(steps, axis, 0)
    for axis in range(array.ndim):
        if array.shape[axis] != 1:
            steps = with_item(steps, len(shape) - array.ndim + axis, array.strides[axis])
    return (steps,) + steps_of(arrays[1:], shape)


def goes_inside(steps, outer, inner):
    # Whether the axis `outer` has to be walked inside `inner`: 1; 0: it stays outside; -1: nothing says so.
    wanted = -1
    for one in steps:
        if one[outer] != 0 and one[inner] != 0:
            if abs(one[inner]) <= abs(one[outer]):
                wanted = 0  # where the arrays disagree, the order of C wins
            elif wanted < 0:
                wanted = 1
    return wanted


def memory_axes(steps, shape):
    # The axes from the outermost to the innermost as they are walked: an insertion sort, as NumPy's.
    axes = shape
    for axis in range(len(shape)):
        axes = with_item(axes, axis, axis)
    for first in range(len(shape) - 2, -1, -1):
        axis, place = axes[first], first
        for k in range(first + 1, len(shape)):
            wanted = goes_inside(steps, axis, axes[k])
            if wanted == 0:
                break
            if wanted == 1:
                place = k
        for k in range(first, place):
            axes = with_item(axes, k, axes[k + 1])
        axes = with_item(axes, place, axis)
    return axes


def goes_backwards(steps, axis):
    least, most = 0, 0
    for one in steps:
        least, most = min(least, one[axis]), max(most, one[axis])
    return least < 0 and most == 0


def in_memory_order(arrays):
    # Views of one shape, in whose C order the elements are walked over.
    shape = joint_shape_of(arrays)
    steps = steps_of(arrays, shape)
    axes = memory_axes(steps, shape)
    turned = axes
    for axis in range(len(shape)):
        turned = with_item(turned, axis, 1 if goes_backwards(steps, axis) else 0)
    return views_along(arrays, steps, shape, axes, turned)


def views_along(arrays, steps, shape, axes, turned):
    if len(arrays) == 0:
        return ()
    offset, extents, strides = 0, shape, shape
    for k in range(len(shape)):
        step, extent = steps[0][axes[k]], shape[axes[k]]
        if turned[axes[k]]:
            offset += (extent - 1) * step
            step = -step
        extents = with_item(extents, k, extent)
        strides = with_item(strides, k, step)
    return (frozen(strided(arrays[0], offset, extents, strides)),) + views_along(
        arrays[1:], steps[1:], shape, axes, turned)


def items_at(views, place):
    if len(views) == 0:
        return ()
    return (views[0][place + (...,)],) + items_at(views[1:], place)


def nditer(op):
    views = in_memory_order(operands_of(op))
    items = []
    place = first_place(views[0].shape)
    for _ in range(size_of(views[0].shape)):
        at = items_at(views, place)
        items.append(at[0] if is_one(op) else at)
        place = next_place(place, views[0].shape)
    return items


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
