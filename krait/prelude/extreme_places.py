"""Places of extremes: np.argmin and np.argmax."""

import numpy as np

from krait.prelude.axes import fits_out
from krait.prelude.reductions import along, given, is_whole
from krait.prelude.shaping import ravel
from krait.prelude.sums import fill_rows, without


def place_of_least(x):
    if len(x) == 0:
        raise ValueError("attempt to get argmin of an empty sequence")
    place = 0
    least = x[0]
    if least != least:
        return 0
    for i in range(1, len(x)):
        if not x[i] >= least:
            place = i
            least = x[i]
            if least != least:
                return place
    return place


def place_of_greatest(x):
    if len(x) == 0:
        raise ValueError("attempt to get argmax of an empty sequence")
    place = 0
    greatest = x[0]
    if greatest != greatest:
        return 0
    for i in range(1, len(x)):
        if not x[i] <= greatest:
            place = i
            greatest = x[i]
            if greatest != greatest:
                return place
    return place


def in_c_order(a):
    return a if a.ndim == 1 else ravel(a)


def check_places(a, axis, out, keepdims, name):
    # They are places along one axis, of which there is one; NumPy makes them as int64 and casts them to what `out` has.
    if isinstance(axis, tuple):
        raise TypeError("'tuple' object cannot be interpreted as an integer")
    elif out is not None:
        if (a.size if axis is None else np.moveaxis(a, axis, 0).shape[0]) == 0:
            raise ValueError(f"attempt to get {name} of an empty sequence")
        if not fits_out(out, a, axis, keepdims):
            raise ValueError(f"output array does not match result of np.{name}.")
        if not np.can_cast(out.dtype, np.int64):
            raise TypeError(
                f"Cannot cast {'array data' if out.ndim > 0 else 'scalar'} from dtype('{np.dtype(out.dtype).name}') to "
                "dtype('int64') according to the rule 'safe'"
            )


def whole_place(place, a, out, keepdims):
    if out is not None:
        out[...] = np.int64(place).astype(out.dtype)
        return out
    return given(np.int64(place), a, None, keepdims)


def places(place_of, name, a, axis, out, keepdims):
    check_places(a, axis, out, keepdims, name)
    if is_whole(a, axis):
        return whole_place(place_of(in_c_order(a)), a, out, keepdims)
    if np.moveaxis(a, axis, 0).shape[0] == 0:
        raise ValueError(f"attempt to get {name} of an empty sequence")
    found = without(a, axis, np.int64)
    fill_rows(place_of, np.moveaxis(a, axis, -1), found)
    return along(found, axis, out, keepdims)


def argmin(a, axis=None, out=None, keepdims=False):
    return places(place_of_least, "argmin", np.asarray(a), axis, out, keepdims)


def argmax(a, axis=None, out=None, keepdims=False):
    return places(place_of_greatest, "argmax", np.asarray(a), axis, out, keepdims)
