"""Several elements of array.flat at once: read, which makes a copy, and written, what is too short repeatedly."""

import numpy as np

from krait.prelude.intrinsics import slice_range


def items(flat, key):
    base = flat.base
    if key is Ellipsis:
        return copy(flat)
    if isinstance(key, slice):
        start, step, count = slice_range(key, base.size)
        new = np.empty(count, base.dtype)
        for i in range(count):
            new[i] = flat[start + i * step]
        return new
    places = _places(key, base.size)
    new = np.empty(places.shape, base.dtype)
    for i in range(places.size):
        new.flat[i] = flat[places.flat[i]]
    return new


def set_items(flat, key, value):
    values = np.asarray(value, flat.base.dtype)
    if key is Ellipsis:
        _set_in_turn(flat, 0, 1, flat.base.size, values)
    elif isinstance(key, slice):
        start, step, count = slice_range(key, flat.base.size)
        _set_in_turn(flat, start, step, count, values)
    elif values.size > 0:
        places = _places(key, flat.base.size)
        j = 0
        for i in range(places.size):
            flat[places.flat[i]] = values.flat[j]
            j = j + 1 if j + 1 < values.size else 0


def _set_in_turn(flat, start, step, count, values):
    if values.size == 1:
        item = values.flat[0]
        for i in range(count):
            flat[start + i * step] = item
    elif values.size > 0:
        j = 0
        for i in range(count):
            flat[start + i * step] = values.flat[j]
            j = j + 1 if j + 1 < values.size else 0


def copy(flat):
    return items(flat, slice(None))


def _places(key, size):
    places = np.asarray(key)
    if places.dtype.kind == "b":
        if places.ndim != 1:
            raise IndexError(
                "too many indices for flat iterator: flat iterator is 1-dimensional, but "
                f"{places.ndim} were indexed"
            )
        if places.size and places.size != size:  # an empty one counts as an empty list
            raise IndexError(
                f"boolean index did not match indexed flat iterator along axis 0; size of axis is {size} but size of "
                f"corresponding boolean axis is {places.size}"
            )
        return np.flatnonzero(places)
    if places.dtype.kind != "i" and places.dtype.kind != "u":
        raise IndexError("arrays used as indices must be of integer (or boolean) type")
    return places
