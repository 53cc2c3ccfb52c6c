"""Indices with arrays: x[i] and x[i] = v where arrays of integers, masks or lists are in i; places of what is true.

The compiler hands over a view `source` of x whose axes are: `lead`, those before the indexed ones; the indexed ones;
the rest (src/typeinfer/rules_advanced.c).  Masks become the places of what is true, arrays are broadcast and laid out
in a line, and element number i of each says where number i of the result is taken from, or put.
"""

import numpy as np

from krait.prelude.intrinsics import copied, layout_of, packed, reinterpreted, shape_text, with_item
from krait.prelude.shaping import as_elements

_LAST = 2**63 - 1

INTEGERS = (np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64)


# ---- slices whose bounds may be None ----


def start_of(start, step):
    if start is not None:
        return start
    return _LAST if step is not None and step < 0 else 0


def stop_of(stop, step):
    if stop is not None:
        return stop
    return -_LAST - 1 if step is not None and step < 0 else _LAST


def step_of(step):
    return 1 if step is None else step


# ---- places of what is true ----


def count_true(mask):
    if mask.ndim == 1:
        n = 0
        for item in mask:
            n += int(item)
        return n
    if layout_of(mask) == "C":
        return count_true(packed(mask, mask.size, 0, "C"))
    n = 0
    for i in range(mask.shape[0]):
        n += count_true(mask[i])
    return n


def true_places(mask):
    # Of one axis.  Without a branch on the mask, which could not be foreseen; eight at a time are skipped.
    places = np.empty(count_true(mask), np.int64)
    k = 0
    start = 0
    if layout_of(mask) == "C":
        words = reinterpreted(mask, np.uint64, len(mask) // 8)
        for w in range(len(words)):
            if words[w] != 0:
                for i in range(8 * w, 8 * w + 8):
                    if k == len(places):
                        return places
                    places[k] = i
                    k += int(mask[i])
        start = 8 * len(words)
    for i in range(start, len(mask)):
        if k == len(places):
            return places
        places[k] = i
        k += int(mask[i])
    return places


def by_axis(places, shape):
    # The places in C order, which rise, as a tuple of places on each axis.
    if len(shape) == 1:
        return (places,)
    extent = shape[-1]
    rows = np.empty_like(places)
    columns = np.empty_like(places)
    row = 0
    start = 0
    for i in range(len(places)):
        while places[i] >= start + extent:
            start += extent
            row += 1
        rows[i] = row
        columns[i] = places[i] - start
    return by_axis(rows, shape[:-1]) + (columns,)


def places_of_mask(mask):
    if mask.ndim == 1:
        return (true_places(mask),)
    return by_axis(true_places(np.ravel(mask)), mask.shape)


# ---- what the indices mean ----


def check_mask(mask, extents, first, start):
    # Its axes are those of the extents from the first on, which are the array's from start on.
    for i in range(mask.ndim):
        extent = extents[first + i]
        if mask.shape[i] != 0 and mask.shape[i] != extent:  # NumPy lets an axis without items fit any
            raise IndexError(
                f"boolean index did not match indexed array along axis {start + i}; size of axis is {extent} but "
                f"size of corresponding boolean axis is {mask.shape[i]}"
            )


def check_masks(array, indices, starts):
    # NumPy looks at the masks before it looks at any number beside them.
    if len(indices) > 0:
        mask = np.asarray(indices[0])
        if mask.dtype.kind == "b":
            check_mask(mask, array.shape, starts[0], starts[0])
        check_masks(array, indices[1:], starts[1:])


def check_places(places, extent, axis):
    # Of one axis.  In two steps: the first is a loop that may be made of vectors.
    outside = 0
    for place in places:
        outside |= int(place < -extent) | int(place >= extent)
    if outside:
        for place in places:
            if place < -extent or place >= extent:
                raise IndexError(f"index {int(place)} is out of bounds for axis {axis} with size {extent}")


def places_of(indices, extents, starts):
    # For each axis that is indexed: the places; its extent, -1 where they are known to lie in it; its number.
    if len(indices) == 0:
        return (), (), ()
    index = np.asarray(indices[0])
    if index.dtype.kind == "b":
        check_mask(index, extents, 0, starts[0])
        places, limits, axes = places_of(indices[1:], extents[index.ndim :], starts[1:])
        return places_of_mask(index) + places, unlimited(index.shape) + limits, index.shape + axes
    places, limits, axes = places_of(indices[1:], extents[1:], starts[1:])
    return (np.asarray(index, np.int64),) + places, (extents[0],) + limits, (starts[0],) + axes


def unlimited(shape):
    for i in range(len(shape)):
        shape = with_item(shape, i, -1)
    return shape


def check_all(places, limits, axes, shape):
    # NumPy looks at no place where there is no element to take or to put.
    for extent in shape:
        if extent == 0:
            return
    check_each(places, limits, axes)


def check_each(places, limits, axes):
    if len(places) > 0:
        if limits[0] >= 0:
            check_places(np.ravel(places[0]), limits[0], axes[0])
        check_each(places[1:], limits[1:], axes[1:])


def widest(places):
    # The shape of the one with most axes.
    if len(places) == 1:
        return places[0].shape
    shape = widest(places[1:])
    if places[0].ndim > len(shape):
        return places[0].shape
    return shape


def common_shape(places):
    if len(places) == 1:
        return places[0].shape
    shape, fits = stretch_all(widest(places), places)
    if not fits:
        raise_mismatch(places)
    return shape


def stretch_all(shape, places):
    if len(places) == 0 or len(shape) == 0:
        return shape, True
    array = places[0]
    fits = True
    for i in range(array.ndim):
        axis = len(shape) - array.ndim + i
        if shape[axis] == 1:
            shape = with_item(shape, axis, array.shape[i])
        elif array.shape[i] != shape[axis] and array.shape[i] != 1:
            fits = False
    shape, others_fit = stretch_all(shape, places[1:])
    return shape, fits and others_fit


def raise_mismatch(places):
    first, second = shape_text(places[0].shape), shape_text(places[1].shape)
    if len(places) == 2:
        raise IndexError(
            f"shape mismatch: indexing arrays could not be broadcast together with shapes {first} {second} "
        )
    third = shape_text(places[2].shape)
    if len(places) == 3:
        raise IndexError(
            f"shape mismatch: indexing arrays could not be broadcast together with shapes {first} {second} {third} "
        )
    raise IndexError(
        "shape mismatch: indexing arrays could not be broadcast together with shapes "
        f"{first} {second} {third} {shape_text(places[3].shape)} "
    )


def in_line(array, shape, alone):
    # Its elements, broadcast to the shape, in one axis.
    if alone or array.ndim == 1 and len(shape) == 1 and array.shape == shape:
        return packed(np.ascontiguousarray(array), -1, array.size, "C")
    new = np.empty(shape, array.dtype)
    new[...] = array
    return packed(new, -1, new.size, "C")


def lines_of(places, shape, alone):
    if len(places) == 0:
        return ()
    return (in_line(places[0], shape, alone),) + lines_of(places[1:], shape, alone)


# ---- x[i] ----


def get(source, indices, lead, starts):
    extents = source.shape[len(lead) :]
    if len(indices) == 1 and len(lead) == 0:
        index = np.asarray(indices[0])
        if index.dtype.kind == "b":
            check_mask(index, extents, 0, starts[0])
            if index.ndim == source.ndim and index.shape == source.shape:
                return get_true(source, index)
    places, limits, axes = places_of(indices, extents, starts)
    shape = common_shape(places)
    check_all(places, limits, axes, shape)
    lines = lines_of(places, shape, len(places) == 1)
    before = source.shape[: len(lead)]
    rest = extents[len(lines) :]
    new = np.empty_like(source, order="C", shape=before + shape + rest)
    gather(source, lines, lead, packed(new, before + (len(lines[0]),) + rest, 0, "C"))
    if new.ndim == 0:
        return new[()]
    return new


def gather(source, lines, lead, to):
    if len(lead) > 0:
        for i in range(len(to)):
            gather(source[i], lines, lead[1:], to[i])
    elif len(lines) == 1 and source.ndim == 1:
        line = lines[0]
        for i in range(len(line)):
            to[i] = source[line[i]]
    else:
        for i in range(len(to)):
            to[i] = part_at(source, lines, i)


def part_at(source, lines, i):
    if len(lines) == 1:
        return source[lines[0][i]]
    return part_at(source[lines[0][i]], lines[1:], i)


def get_true(source, mask):
    # All axes are indexed by one mask.
    new = np.empty_like(source, order="C", shape=count_true(mask))
    if layout_of(source) == "C" and layout_of(mask) == "C":
        take_true(packed(source, source.size, 0, "C"), packed(mask, mask.size, 0, "C"), new)
    else:
        take_true_rows(source, mask, new, 0)
    return new


def take_true(source, mask, to):
    # As true_places.
    k = 0
    words = reinterpreted(mask, np.uint64, len(mask) // 8)
    for w in range(len(words)):
        if words[w] != 0:
            for i in range(8 * w, 8 * w + 8):
                if k == len(to):
                    return
                to[k] = source[i]
                k += int(mask[i])
    for i in range(8 * len(words), len(mask)):
        if k == len(to):
            return
        to[k] = source[i]
        k += int(mask[i])


def take_true_rows(source, mask, to, k):
    if source.ndim == 1:
        for i in range(len(mask)):
            if k == len(to):
                return k
            to[k] = source[i]
            k += int(mask[i])
        return k
    for i in range(source.shape[0]):
        k = take_true_rows(source[i], mask[i], to, k)
    return k


# ---- x[i] = v ----


def put(source, indices, lead, starts, value):
    extents = source.shape[len(lead) :]
    if len(indices) == 1 and len(lead) == 0:
        index = np.asarray(indices[0])
        if index.dtype.kind == "b":
            check_mask(index, extents, 0, starts[0])
            if index.ndim == source.ndim and index.shape == source.shape:
                put_true(source, index, value)
                return
    places, limits, axes = places_of(indices, extents, starts)
    shape = common_shape(places)
    lines = apart(source, lines_of(places, shape, len(places) == 1))
    before = source.shape[: len(lead)]
    rest = extents[len(lines) :]
    values = fitted(value, source, before + shape + rest)  # whose errors come before those of the places
    check_all(places, limits, axes, shape)
    scatter(source, lines, lead, merged(values, before, len(lines[0]), rest))


def apart(source, lines):
    # Places that do not change when source does.
    if len(lines) == 0 or source.dtype != np.int64:
        return lines
    return (lines[0].copy(),) + apart(source, lines[1:])


def is_sequence(value):
    if isinstance(value, list) or isinstance(value, tuple):
        return True
    return np.ndim(value) > 0


def one_value(value, source):
    # As an element of source; NumPy's own integers may lose bits, Python's not.
    one = np.empty_like(source, order="C", shape=())
    if isinstance(value, int):
        one[...] = value
    else:
        one[...] = element_or_array(value)
    return one


def fitted(value, source, shape):
    # The values as elements of source: one, or as many as the shape has, which nothing overlaps.
    if is_sequence(value):
        return stretched(as_elements(value, source.dtype), source, shape)
    return one_value(value, source)


def stretched(value, source, shape):
    fits = True
    extra = value.ndim - len(shape)
    for i in range(value.ndim):
        if value.shape[i] != 1:
            if i < extra:
                fits = False
            elif len(shape) > 0:
                fits = fits and value.shape[i] == shape[i - extra]
    if not fits:
        raise ValueError(
            f"shape mismatch: value array of shape {shape_text(value.shape)} could not be broadcast to indexing "
            f"result of shape {shape_text(shape)}"
        )
    new = np.empty_like(source, order="C", shape=shape)
    new[...] = value
    return new


def merged(values, before, n, rest):
    if values.ndim == 0:
        return np.broadcast_to(values, before + (n,) + rest)
    return packed(values, before + (n,) + rest, 0, "C")


def scatter(source, lines, lead, values):
    if len(lead) > 0:
        for i in range(len(source)):
            scatter(source[i], lines, lead[1:], values[i])
    elif len(lines) == 1:
        line = lines[0]
        for i in range(len(line)):
            source[line[i]] = values[i]
    else:
        for i in range(len(values)):
            put_at(source, lines, i, values[i])


def put_at(source, lines, i, value):
    if len(lines) == 1:
        source[lines[0][i]] = value
    else:
        put_at(source[lines[0][i]], lines[1:], i, value)


def put_true(source, mask, value):
    # All axes are indexed by one mask.
    if is_sequence(value):
        put_several(source, mask, as_elements(value, source.dtype))
    else:
        put_one(source, mask, one_value(value, source))


def element_or_array(value):
    if isinstance(value, INTEGERS):
        return np.asarray(value)
    return value


def is_number(kind):
    return kind == "b" or kind == "i" or kind == "u" or kind == "f" or kind == "c"


def put_one(source, mask, one):
    if is_number(source.dtype.kind):
        copied(source, one, "unsafe", mask)
    else:
        put_true_rows(source, mask, np.reshape(one, 1), 0)


def put_several(source, mask, value):
    if value.ndim > 1:
        raise TypeError(
            "NumPy boolean array indexing assignment requires a 0 or 1-dimensional input, input has "
            f"{value.ndim} dimensions"
        )
    n = count_true(mask)
    if len(value) != n and len(value) != 1:
        raise ValueError(
            f"NumPy boolean array indexing assignment cannot assign {len(value)} input values to the {n} output "
            "values where the mask is true"
        )
    values = np.empty_like(source, order="C", shape=len(value))
    values[...] = value
    put_true_rows(source, mask.copy() if source.dtype.kind == "b" else mask, values, 0)


def put_true_rows(source, mask, values, k):
    if source.ndim == 1:
        for i in range(len(mask)):
            if mask[i]:
                source[i] = values[k if len(values) > 1 else 0]
                k += 1
        return k
    for i in range(source.shape[0]):
        k = put_true_rows(source[i], mask[i], values, k)
    return k
