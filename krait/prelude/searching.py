"""NumPy's functions that look for elements and take or put them by place or condition: nonzero, where, take, put,
choose, select, compress, extract and their like."""

import numpy as np

from krait.prelude import times
from krait.prelude.axes import axis_at
from krait.prelude.indexing import check_places, count_true, get, places_of_mask, true_places
from krait.prelude.intrinsics import copied, data_address, is_constant, layout_of, packed, select, shape_text, with_item
from krait.prelude.shaping import as_elements, lies_together, may_share_memory, together

_INTS_WRAP = np.lib.NumpyVersion(np.__version__) < "2.5.0"  # of np.where; later they must fit


def truth(a):
    # A mask of what is true.
    a = np.asarray(a)
    if a.dtype.kind == "b":
        return a
    if times.is_time(a.dtype):
        return times.ticks(a) != 0
    return a != 0


def line(a):
    # The elements in C order in one axis: a view if they lie together, else a copy.
    return packed(together(a, "C"), -1, a.size, "C")


# ---- places ----


def nonzero(a):
    a = np.asarray(a)
    if a.ndim == 0:
        raise ValueError(
            "Calling nonzero on 0d arrays is not allowed. Use np.atleast_1d(scalar).nonzero() instead."
        )
    return places_of_mask(truth(a))


def flatnonzero(a):
    return places_of_mask(truth(np.ravel(np.asarray(a))))[0]


def argwhere(a):
    a = np.asarray(a)
    if a.ndim == 0:
        return np.empty((int(a[()] != 0), 0), np.int64)
    mask = truth(a)
    places = places_of_mask(mask)
    table = np.empty((len(places[0]), mask.ndim), np.int64, "F")
    fill_columns(table, places, 0)
    return table


def fill_columns(table, places, column):
    if len(places) > 0:
        table[:, column] = places[0]
        fill_columns(table, places[1:], column + 1)


def ix_(*args):
    return mesh_from(args, ones_of(args), 0)


def ones_of(items):
    if len(items) == 0:
        return ()
    return (1,) + ones_of(items[1:])


def mesh_from(sequences, shape, axis):
    if len(sequences) == 0:
        return ()
    return (mesh_axis(np.asarray(sequences[0]), shape, axis),) + mesh_from(sequences[1:], shape, axis + 1)


def mesh_axis(x, shape, axis):
    if x.ndim != 1:
        raise ValueError("Cross index must be 1 dimensional")
    if x.dtype.kind == "b":
        return mesh_axis(true_places(x), shape, axis)
    return np.reshape(x, with_item(shape, axis, len(x)))


# ---- where ----


def where_of_numbers(condition, x, y):
    new = np.empty((), np.result_type(x, y))
    new[...] = select(np.asarray(condition)[()], np.asarray(of_common_type(x, y))[()],
                      np.asarray(of_common_type(y, x))[()])  # fmt: skip
    return new


def where_of_ints(condition, x, y):
    return select(condition, of_common_type(x, y), of_common_type(y, x))


def of_common_type(x, other):
    # A Python int beside an integer of NumPy as one of its type; anything else as it is.
    if type(x) is int:
        dtype = np.result_type(x, other)
        if dtype.kind == "i" or dtype.kind == "u":
            return np.int64(x).astype(dtype) if _INTS_WRAP else dtype.type(x)
    return x


def where_of_sequences(condition, x, y):
    return np.where(array_or_number(condition), array_or_number(x), array_or_number(y))


def array_or_number(x):
    if isinstance(x, list) or isinstance(x, tuple):
        return np.asarray(x)
    return x


# ---- copies under a mask ----


def check_mask_shape(shape, mask):
    fits = mask.ndim <= len(shape)
    for i in range(mask.ndim):
        axis = len(shape) - mask.ndim + i
        if fits and mask.shape[i] != 1 and mask.shape[i] != shape[axis]:
            fits = False
    if not fits:
        raise ValueError(
            f"could not broadcast where mask from shape {shape_text(mask.shape)} into shape {shape_text(shape)}"
        )


def copyto(dst, src, casting="same_kind", where=None):
    values = array_or_number(src)
    if isinstance(values, np.ndarray) and are_one_view(dst, values):
        return
    if where is None:
        copied(dst, values, casting, None)
    else:
        copy_where(dst, values, casting, np.asarray(where))


def are_one_view(x, y):
    # NumPy copies no array to itself, and looks no further.
    if x.ndim != y.ndim or x.dtype != y.dtype:
        return False
    return x.shape == y.shape and x.strides == y.strides and data_address(x) == data_address(y)


def copy_where(dst, values, casting, mask):
    if mask.ndim > 0:
        check_mask_shape(dst.shape, mask)
        copied(dst, values, casting, mask)
    elif mask[()]:
        copied(dst, values, casting, None)


def putmask(a, mask, values):
    mask = truth(mask)
    if mask.size != a.size:
        raise ValueError("putmask: mask and data must be the same size")
    values = np.ravel(as_elements(values, a.dtype)).astype(a.dtype)
    if len(values) > 0:
        put_repeated(a, np.reshape(mask, a.shape), values, 0, True)


def put_repeated(a, mask, values, k, every):
    # Where the mask is true, values from number k on, repeated; each element takes one, or each place alone.
    if a.ndim == 0:
        if mask[()]:
            a[()] = values[k]
        return 0
    if a.ndim == 1:
        for i in range(len(mask)):
            if mask[i]:
                a[i] = values[k]
            if every or mask[i]:
                k += 1
                if k == len(values):
                    k = 0
        return k
    for i in range(a.shape[0]):
        k = put_repeated(a[i], mask[i], values, k, every)
    return k


def place(arr, mask, vals):
    mask = truth(mask)
    if mask.size != arr.size:
        raise ValueError("place: mask and data must be the same size")
    values = values_to_place(as_elements(vals, arr.dtype), arr)
    if len(values) == 0:
        if count_true(mask) > 0:
            raise ValueError("Cannot insert from an empty array!")
        return
    put_repeated(arr, np.reshape(mask, arr.shape), values, 0, False)


def values_to_place(values, arr):
    # NumPy reads them where they lie, between its writes, unless it has to copy them or the array.
    if values.dtype == arr.dtype and lies_together(values, "C") and lies_together(arr, "C"):
        return packed(values, -1, values.size, "C")
    return np.ravel(values).astype(arr.dtype)


# ---- what a condition chooses ----


def extract(condition, arr):
    return compress(np.ravel(np.asarray(condition)), np.ravel(np.asarray(arr)))


def compress(condition, a, axis=None, out=None):
    mask = truth(condition)
    if mask.ndim != 1:
        raise ValueError("condition must be a 1-d array")
    return take(a, true_places(mask), axis, out)


def method_compress(a, condition, axis=None, out=None):
    return compress(condition, a, axis, out)


def choose(a, choices, out=None, mode="raise"):
    index = np.asarray(a, np.int64)
    if out is None:
        shape = joined_shape(shape_with((), choices, 0), index.shape, len(choices))
        new = np.empty(shape, dtype_of_choices(choices))
        choose_into(new, np.broadcast_to(index, shape), choices, len(choices), mode)
        return number_or_array(new)
    choose_into(out, np.broadcast_to(index, out.shape), choices, len(choices), mode)
    return out


def dtype_of_choices(choices):
    if isinstance(choices, tuple):
        return np.result_type(*choices)
    return np.result_type(choices[0])


def shape_with(shape, arrays, number):
    # The shape that a shape and those of the arrays, the first of which has that number in messages, have together.
    if isinstance(arrays, tuple):
        if len(arrays) == 0:
            return shape
        return shape_with(joined_shape(shape, np.asarray(arrays[0]).shape, number), arrays[1:], number + 1)
    whole = joined_shape(shape, np.asarray(arrays[0]).shape, number)
    for i in range(1, len(arrays)):
        whole = joined_shape(whole, np.asarray(arrays[i]).shape, number + i)
    return whole


def joined_shape(shape, more, number):
    whole = shape if len(shape) >= len(more) else more
    other = more if len(shape) >= len(more) else shape
    if len(other) == 0:
        return whole
    for i in range(len(other)):
        axis = len(whole) - len(other) + i
        if whole[axis] == 1:
            whole = with_item(whole, axis, other[i])
        elif other[i] != 1 and other[i] != whole[axis]:
            raise ValueError(
                "shape mismatch: objects cannot be broadcast to a single shape.  Mismatch is between arg 0 with shape "
                f"{shape} and arg {number} with shape {more}."
            )
    return whole


def choose_into(to, index, choices, n, mode):
    if mode == "raise":
        for i in index.flat:
            if i < 0 or i >= n:
                raise ValueError("invalid entry in choice array")
        chosen = index
    elif mode == "wrap":
        chosen = index % n
    else:
        chosen = np.minimum(np.maximum(index, 0), n - 1)
    choose_from(to, chosen, choices, 0)


def choose_from(to, chosen, choices, k):
    if isinstance(choices, tuple):
        if len(choices) > 0:
            copied(to, choices[0], "unsafe", chosen == k)
            choose_from(to, chosen, choices[1:], k + 1)
    else:
        for i in range(len(choices)):
            copied(to, choices[i], "unsafe", chosen == i)


def select_(condlist, choicelist, default=0):
    if len(condlist) != len(choicelist):
        raise ValueError("list of cases must be same length as list of conditions")
    if len(condlist) == 0:
        raise ValueError("select with an empty condition list is not possible")
    shape = joined_shape(shape_with((), condlist, 0), shape_with(np.asarray(default).shape, choicelist, 0), 1)
    new = np.empty(shape, np.result_type(dtype_of_choices(choicelist), default))
    copied(new, np.asarray(default), "unsafe", None)
    select_from(new, condlist, choicelist)
    return new


def select_from(to, conditions, choices):
    # The first condition counts: it is the last to be written.
    if isinstance(conditions, tuple) and isinstance(choices, tuple):
        if len(conditions) > 0:
            select_from(to, conditions[1:], choices[1:])
            copied(to, choices[0], "unsafe", conditions[0])
    else:
        for i in range(len(conditions) - 1, -1, -1):
            copied(to, choices[i], "unsafe", conditions[i])


# ---- take and put ----


def number_or_array(new):
    if new.ndim == 0:
        return new[()]
    return new


def take(a, indices, axis=None, out=None, mode="raise"):
    a = np.asarray(a)
    places = np.asarray(indices, np.int64)
    if axis is None:
        return take_along(line(a), places, (), 0, out, mode)
    if not is_constant(axis):
        if mode == "raise":
            check_places(np.ravel(places), a.shape[axis_at(axis, a.ndim)], axis % a.ndim)
        return taken(_moved_back(take(np.moveaxis(a, axis, 0), places, 0, None, mode), places.ndim, axis % a.ndim), out)
    np.moveaxis(a, axis, 0)  # there is such an axis
    return take_along(a, places, a.shape[:axis], axis % a.ndim, out, mode)


def _moved_back(new, count, axis):
    # The axes of the places, which are the first ones, to where the axis was.
    if np.ndim(new) == count:
        return new
    for _ in range(count):
        new = np.copy(np.moveaxis(new, 0, axis + count - 1), "C")
    return new


def take_along(a, places, lead, axis, out, mode):
    n = a.shape[len(lead)]
    lines = 1
    for extent in lead:
        lines *= extent
    if out is not None:
        check_taken(out, lead + places.shape + a.shape[len(lead) + 1 :])
    if lines == 0 or n == 0 and places.size > 0:  # then NumPy looks at no place, or says so in other words
        new = np.empty_like(a, order="C", shape=lead + places.shape + a.shape[len(lead) + 1 :])
        if new.size > 0:
            raise IndexError("cannot do a non-empty take from an empty axes.")
        if lines == 0 or mode != "raise":
            return taken(new, out)
    return taken(get(a, (inside(places, n, mode),), lead, (axis,)), out)


def taken(new, out):
    if out is None:
        return new
    check_taken(out, np.shape(new))
    out[...] = new
    return out


def check_taken(out, shape):
    if out.shape != shape:
        raise ValueError("output array does not match result of ndarray.take")


def inside(places, n, mode):
    if mode == "wrap":
        return np.asarray(places % n)
    if mode == "clip":
        return np.asarray(np.minimum(np.maximum(places, 0), n - 1))
    return places


def put(a, ind, v, mode="raise"):
    places = np.ravel(np.asarray(ind, np.int64))
    values = np.ravel(as_elements(v, a.dtype)).astype(a.dtype)
    if len(places) == 0:
        return
    if a.size == 0:
        raise IndexError("cannot replace elements of an empty array")
    if len(values) == 0:
        return
    if mode == "raise":
        if not a.flags.c_contiguous or may_share_memory(a, as_elements(v, a.dtype)):
            # NumPy writes to a copy, which an error drops.
            check_places(places, a.size, 0)
        put_line(a, places[: _places_inside(places, a.size)], values)
        check_places(places, a.size, 0)
    else:
        put_line(a, inside(places, a.size, mode), values)


def _places_inside(places, extent):
    for i in range(len(places)):
        if places[i] < -extent or places[i] >= extent:
            return i
    return len(places)


def put_line(a, places, values):
    k = 0
    for i in range(len(places)):
        if layout_of(a) == "C":
            packed(a, a.size, 0, "C")[places[i]] = values[k]
        else:
            a.flat[places[i]] = values[k]
        k += 1
        if k == len(values):
            k = 0


def check_along(arr, indices, axis):
    if indices.dtype.kind != "i" and indices.dtype.kind != "u":
        raise IndexError("`indices` must be an integer array")
    if arr.ndim != indices.ndim:
        raise ValueError("`indices` and `arr` must have the same number of dimensions")
    for i in range(arr.ndim):
        if i != axis and arr.shape[i] != indices.shape[i] and arr.shape[i] != 1 and indices.shape[i] != 1:
            raise IndexError(
                "shape mismatch: indexing arrays could not be broadcast together with shapes "
                f"{_shapes_along(arr.shape, indices.shape, axis)}"
            )
    check_places(np.ravel(indices), arr.shape[axis], axis)


def _shapes_along(extents, shape, axis):
    # Of what NumPy indexes with: along the axis the indices, along each other one its places.
    text = ""
    for i in range(len(extents)):
        places = extents
        for k in range(len(extents)):
            if k != i:
                places = with_item(places, k, 1)
        text += f"{shape_text(shape)} " if i == axis else f"{shape_text(places)} "
    return text


def shape_along(arr, indices, axis):
    shape = indices.shape
    for i in range(arr.ndim):
        if i != axis and shape[i] == 1:
            shape = with_item(shape, i, arr.shape[i])
    return shape


def take_along_axis(arr, indices, axis=-1):
    arr = np.asarray(arr)
    indices = np.asarray(indices)
    if axis is None:
        return take_along_axis(line(arr), indices, 0)
    np.moveaxis(arr, axis, 0)  # there is such an axis
    check_along(arr, indices, axis % arr.ndim)
    new = np.empty_like(arr, order="C", shape=shape_along(arr, indices, axis % arr.ndim))
    take_rows(np.moveaxis(arr, axis, -1), np.moveaxis(indices, axis, -1), np.moveaxis(new, axis, -1))
    return new


def take_rows(arr, indices, to):
    if to.ndim == 1:
        for i in range(len(to)):
            to[i] = arr[indices[i]]
    else:
        for i in range(to.shape[0]):
            take_rows(arr[i if arr.shape[0] > 1 else 0], indices[i if indices.shape[0] > 1 else 0], to[i])


def put_along_axis(arr, indices, values, axis):
    indices = np.asarray(indices)
    if axis is None:
        if layout_of(arr) != "C":
            raise NotImplementedError("put_along_axis without an axis needs an array in C order")
        put_along_axis(packed(arr, arr.size, 0, "C"), indices, values, 0)
        return
    np.moveaxis(arr, axis, 0)  # there is such an axis
    check_along(arr, indices, axis % arr.ndim)
    shape = shape_along(arr, indices, axis % arr.ndim)
    new = np.empty(shape, arr.dtype)
    new[...] = as_elements(values, arr.dtype)
    put_rows(np.moveaxis(arr, axis, -1), np.moveaxis(indices, axis, -1), np.moveaxis(new, axis, -1))


def put_rows(arr, indices, values):
    if values.ndim == 1:
        for i in range(len(values)):
            arr[indices[i]] = values[i]
    else:
        for i in range(values.shape[0]):
            put_rows(arr[i if arr.shape[0] > 1 else 0], indices[i if indices.shape[0] > 1 else 0], values[i])
