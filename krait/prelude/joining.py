"""NumPy's functions that join arrays, repeat them and take them apart."""

import numpy as np
from numpy.exceptions import AxisError

from krait.prelude.intrinsics import strided, tuple_of, with_item
from krait.prelude.shaping import as_elements


def part(array, axis, start, length):
    # array[..., start : start + length, ...] on an axis that is known when it runs
    return strided(array, start * array.strides[axis], with_item(array.shape, axis, length), array.strides)


def axis_of(axis, ndim):
    if axis < -ndim or axis >= ndim:
        raise AxisError(axis, ndim, None)
    return axis + ndim if axis < 0 else axis


# ---- joining; the arrays are a tuple, taken apart one by one, or a list ----


def parts_of(arrays):
    # The arrays along the first axis of one are what is joined, too.
    if isinstance(arrays, np.ndarray):
        return [array for array in arrays]
    return arrays


def concatenate(arrays, axis=0, out=None, dtype=None, casting="same_kind"):
    if len(arrays) == 0:
        raise ValueError("need at least one array to concatenate")
    if out is not None and dtype is not None:
        raise TypeError("concatenate() only takes `out` or `dtype` as an argument, but both were provided.")
    if isinstance(arrays, np.ndarray):
        return concatenate(parts_of(arrays), axis, out, dtype, casting)
    if axis is None:
        return join(flattened(arrays), 0, out, dtype, casting)
    if isinstance(axis, np.ndarray) and axis.ndim > 0:
        raise TypeError(
            "only integer scalar arrays can be converted to a scalar index: the arrays are one argument, a tuple"
        )
    return join(arrays, axis, out, dtype, casting)


def join(arrays, axis, out, dtype, casting):
    first = np.asarray(arrays[0])
    if first.ndim == 0:
        raise ValueError("zero-dimensional arrays cannot be concatenated")
    along = axis_of(axis, first.ndim)
    shape = with_item(first.shape, along, length_along(arrays, first.shape, along, 0))
    if out is not None:
        if out.ndim != len(shape):
            raise ValueError("Output array has wrong dimensionality")
        if out.shape != shape:
            raise ValueError("Output array is the wrong shape")
        place_cast(out, arrays, along, 0, casting)
        return out
    if dtype is not None:
        cast = np.empty(shape, dtype)
        place_cast(cast, arrays, along, 0, casting)
        return cast
    new = np.empty(shape, dtype_of(arrays))
    place(new, arrays, along, 0)
    return new


def place_cast(new, arrays, axis, start, casting):
    if isinstance(arrays, list):
        for array in arrays:
            np.copyto(part(new, axis, start, array.shape[axis]), array, casting)
            start += array.shape[axis]
    elif len(arrays) > 0:
        array = np.asarray(arrays[0])
        np.copyto(part(new, axis, start, array.shape[axis]), array, casting)
        place_cast(new, arrays[1:], axis, start + array.shape[axis], casting)


def dtype_of(arrays):
    if isinstance(arrays, list):
        return np.result_type(arrays[0])
    return np.result_type(*arrays)


def length_along(arrays, shape, axis, number):
    if isinstance(arrays, list):
        length = 0
        for i in range(len(arrays)):
            length += checked_length(arrays[i], shape, axis, i)
        return length
    if len(arrays) == 0:
        return 0
    here = checked_length(np.asarray(arrays[0]), shape, axis, number)
    return here + length_along(arrays[1:], shape, axis, number + 1)


def checked_length(array, shape, axis, number):
    if array.ndim != len(shape):
        raise ValueError(
            "all the input arrays must have same number of dimensions, but the array at index 0 has "
            f"{len(shape)} dimension(s) and the array at index {number} has {array.ndim} dimension(s)"
        )
    for i in range(len(shape)):
        if i != axis and array.shape[i] != shape[i]:
            raise ValueError(
                "all the input array dimensions except for the concatenation axis must match exactly, but along "
                f"dimension {i}, the array at index 0 has size {shape[i]} and the array at index {number} has size "
                f"{array.shape[i]}"
            )
    return array.shape[axis]


def place(new, arrays, axis, start):
    if isinstance(arrays, list):
        for array in arrays:
            part(new, axis, start, array.shape[axis])[...] = array
            start += array.shape[axis]
    elif len(arrays) > 0:
        array = np.asarray(arrays[0])
        part(new, axis, start, array.shape[axis])[...] = array
        place(new, arrays[1:], axis, start + array.shape[axis])


def flattened(arrays):
    if isinstance(arrays, list):
        return [np.ravel(array) for array in arrays]
    if len(arrays) == 0:
        return ()
    return (np.ravel(arrays[0]),) + flattened(arrays[1:])


def stack(arrays, axis=0, out=None, dtype=None, casting="same_kind"):
    if len(arrays) == 0:
        raise ValueError("need at least one array to stack")
    if isinstance(arrays, np.ndarray):
        return stack(parts_of(arrays), axis, out, dtype, casting)
    return concatenate(expanded(arrays, axis, np.asarray(arrays[0]).shape), axis, out, dtype, casting)


def expanded(arrays, axis, shape):
    if isinstance(arrays, list):
        new = []
        for array in arrays:
            new.append(expanded_one(array, axis, shape))
        return new
    if len(arrays) == 0:
        return ()
    return (expanded_one(np.asarray(arrays[0]), axis, shape),) + expanded(arrays[1:], axis, shape)


def expanded_one(array, axis, shape):
    if array.shape != shape:
        raise ValueError("all input arrays must have the same shape")
    return np.expand_dims(array, axis)


def at_least_1d(arrays):
    if isinstance(arrays, list):
        return [np.atleast_1d(array) for array in arrays]
    if len(arrays) == 0:
        return ()
    return (np.atleast_1d(arrays[0]),) + at_least_1d(arrays[1:])


def at_least_2d(arrays):
    if isinstance(arrays, list):
        return [np.atleast_2d(array) for array in arrays]
    if len(arrays) == 0:
        return ()
    return (np.atleast_2d(arrays[0]),) + at_least_2d(arrays[1:])


def at_least_3d(arrays):
    if isinstance(arrays, list):
        return [np.atleast_3d(array) for array in arrays]
    if len(arrays) == 0:
        return ()
    return (np.atleast_3d(arrays[0]),) + at_least_3d(arrays[1:])


def columns(arrays):
    if isinstance(arrays, list):
        return [column(array) for array in arrays]
    if len(arrays) == 0:
        return ()
    return (column(arrays[0]),) + columns(arrays[1:])


def column(array):
    array = np.asarray(array)
    if array.ndim == 0:
        return np.reshape(array, (1, 1))
    if array.ndim == 1:
        return array[:, None]
    return array


def hstack(tup, dtype=None, casting="same_kind"):
    if np.asarray(tup[0]).ndim < 2:
        return concatenate(at_least_1d(parts_of(tup)), 0, None, dtype, casting)
    return concatenate(parts_of(tup), 1, None, dtype, casting)


def vstack(tup, dtype=None, casting="same_kind"):
    return concatenate(at_least_2d(parts_of(tup)), 0, None, dtype, casting)


def dstack(tup):
    return concatenate(at_least_3d(parts_of(tup)), 2)


def column_stack(tup):
    return concatenate(columns(parts_of(tup)), 1)


def append(arr, values, axis=None):
    if axis is None:
        return concatenate((np.ravel(arr), np.ravel(values)), 0)
    return concatenate((np.asarray(arr), np.asarray(values)), axis)


# ---- repeating ----


def repeat(a, repeats, axis=None):
    a = np.asarray(a)
    if axis is None:
        return repeat_along(np.ravel(a), np.asarray(repeats), 0)
    if a.ndim == 0:  # NumPy makes a line of it first
        return repeat_along(np.ravel(a), np.asarray(repeats), axis_of(axis, 1))
    return repeat_along(a, np.asarray(repeats), axis_of(axis, a.ndim))


def repeat_along(a, repeats, axis):
    counts = np.atleast_1d(repeats)
    n = a.shape[axis]
    same = len(counts) == 1
    if not same and len(counts) != n:
        raise ValueError(f"operands could not be broadcast together with shape ({n},) ({len(counts)},)")
    length = 0
    for i in range(n):
        count = counts[0 if same else i]
        if count < 0 and same:
            raise ValueError("negative dimensions are not allowed")
        if count < 0:
            raise ValueError("repeats may not contain negative values.")
        length += count
    new = np.empty(with_item(a.shape, axis, length), a.dtype)
    at = 0
    for i in range(n):
        count = counts[0 if same else i]
        part(new, axis, at, count)[...] = part(a, axis, i, 1)
        at += count
    return new


def tile(A, reps):
    if isinstance(reps, tuple):
        return tile_axes(np.asarray(A), reps)
    return tile_axes(np.asarray(A), (reps,))


def tile_axes(a, reps):
    if a.ndim < len(reps):
        return tile_axes(a[None, ...], reps)
    return tile_from(a, reps, a.ndim - len(reps))


def tile_from(a, reps, first):
    new = a
    for i in range(len(reps)):
        new = tile_along(new, first + i, reps[i])
    return np.copy(new, "C")


def tile_along(a, axis, times):
    n = a.shape[axis]
    new = np.empty(with_item(a.shape, axis, n * times), a.dtype)
    for i in range(times if new.size else 0):
        part(new, axis, i * n, n)[...] = a
    return new


def roll(a, shift, axis=None):
    a = np.asarray(a)
    if axis is None:
        return np.reshape(roll(np.ravel(a), shift, 0), a.shape)
    if isinstance(shift, (tuple, list)) or isinstance(axis, (tuple, list)):
        return roll_axes(a, several(shift), several(axis))
    return roll_along(a, shift, axis_of(axis, a.ndim))


def several(numbers):
    return numbers if isinstance(numbers, (tuple, list)) else (numbers,)


def roll_axes(a, shifts, axes):
    n = max(len(shifts), len(axes))
    if min(len(shifts), len(axes)) != n and min(len(shifts), len(axes)) != 1:
        raise ValueError(
            "shape mismatch: objects cannot be broadcast to a single shape.  Mismatch is between arg 0 with shape "
            f"({len(shifts)},) and arg 1 with shape ({len(axes)},)."
        )
    for axis in axes:
        axis_of(axis, a.ndim)
    new = np.copy(a)
    for i in range(n):
        new[...] = roll_along(new, shifts[i % len(shifts)], axis_of(axes[i % len(axes)], a.ndim))
    return new


def roll_along(a, shift, axis):
    new = np.empty_like(a)
    n = a.shape[axis]
    if n > 0:
        shift = shift % n
        part(new, axis, shift, n - shift)[...] = part(a, axis, 0, n - shift)
        part(new, axis, 0, shift)[...] = part(a, axis, n - shift, shift)
    return new


# ---- taking apart ----


def split(ary, indices_or_sections, axis=0):
    along = axis_of(axis, ary.ndim)
    if isinstance(indices_or_sections, int):
        if ary.shape[along] % indices_or_sections != 0:
            raise ValueError("array split does not result in an equal division")
    return array_split(ary, indices_or_sections, axis)


def array_split(ary, indices_or_sections, axis=0):
    along = axis_of(axis, ary.ndim)
    if isinstance(indices_or_sections, int):
        return split_evenly(ary, indices_or_sections, along)
    n = ary.shape[along]
    parts = []
    start = 0
    for index in indices_or_sections:
        end = max(index + n, 0) if index < 0 else min(index, n)
        parts.append(part(ary, along, min(start, n), max(end - start, 0)))
        start = end
    parts.append(part(ary, along, start, n - start))
    return parts


def split_evenly(ary, sections, axis):
    if sections <= 0:
        raise ValueError("number sections must be larger than 0.")
    n = ary.shape[axis]
    parts = []
    start = 0
    for i in range(sections):
        length = n // sections + (1 if i < n % sections else 0)
        parts.append(part(ary, axis, start, length))
        start += length
    return parts


def unstack(x, axis=0):
    x = np.asarray(x)
    if x.ndim == 0:
        raise ValueError("Input array must be at least 1-d.")
    slices = np.moveaxis(x, axis, 0)
    return tuple_of([slices[i] for i in range(len(slices))])


def hsplit(ary, indices_or_sections):
    return split(ary, indices_or_sections, 1 if ary.ndim > 1 else 0)


def vsplit(ary, indices_or_sections):
    return split(ary, indices_or_sections, 0)


def delete(arr, obj, axis=None):
    arr = np.asarray(arr)
    if axis is None:
        return delete_along(np.ravel(arr), obj, 0)
    return delete_along(arr, obj, axis_of(axis, arr.ndim))


def delete_along(a, which, axis):
    n = a.shape[axis]
    if isinstance(which, int):
        if which < -n or which >= n:
            raise IndexError(f"index {which} is out of bounds for axis {axis} with size {n}")
    keep = np.ones(n, np.bool_)
    keep[which] = False
    left = 0
    for kept in keep:
        left += int(kept)
    new = np.empty(with_item(a.shape, axis, left), a.dtype)
    at = 0
    start = 0
    for i in range(n + 1):  # runs that stay
        if i == n or not keep[i]:
            part(new, axis, at, i - start)[...] = part(a, axis, start, i - start)
            at += i - start
            start = i + 1
    return new


def insert(arr, obj, values, axis=None):
    a = np.asarray(arr)
    if axis is None:
        return insert_along(np.ravel(a), obj, as_elements(values, a.dtype), 0)
    np.moveaxis(a, axis, 0)  # there is such an axis
    return insert_along(a, obj, as_elements(values, a.dtype), axis)


def insert_along(a, obj, values, axis):
    n = a.shape[axis]
    if isinstance(obj, int):
        if obj < -n or obj > n:
            raise IndexError(f"index {obj} is out of bounds for axis {axis} with size {n}")
        return insert_block(a, obj + n if obj < 0 else obj, values, axis)
    places = np.asarray(obj, np.int64)
    for place in places:
        if place < -n or place > n:
            raise IndexError(f"index {int(place)} is out of bounds for axis {axis} with size {n}")
    if len(places) == 1 and a.ndim == 1:
        return insert_block(a, int(places[0] + n if places[0] < 0 else places[0]), values, axis)
    return insert_each(a, np.where(places < 0, places + n, places), values, axis)


def insert_block(a, at, values, axis):
    count = values.shape[0] if values.ndim == a.ndim else 1
    new = np.empty(with_item(a.shape, axis % a.ndim, a.shape[axis] + count), a.dtype)
    to = np.moveaxis(new, axis, 0)
    rest = np.moveaxis(a, axis, 0)
    to[:at] = rest[:at]
    to[at : at + count] = values
    to[at + count :] = rest[at:]
    return new


def insert_each(a, places, values, axis):
    # In the order of the places, each moves those behind it.
    count = len(places)
    order = np.argsort(places, kind="stable")
    for i in range(count):
        places[order[i]] += i
    new = np.empty(with_item(a.shape, axis % a.ndim, a.shape[axis] + count), a.dtype)
    old = np.ones(a.shape[axis] + count, np.bool_)
    old[places] = False
    to = np.moveaxis(new, axis, 0)
    to[old] = np.moveaxis(a, axis, 0)
    to[places] = np.moveaxis(np.broadcast_to(values, with_item(a.shape, axis % a.ndim, count)), axis, 0)
    return new
