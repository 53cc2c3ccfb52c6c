"""Places in an array as one number and as one number for each axis."""

import numpy as np


def unravel_index(indices, shape, order="C"):
    if isinstance(shape, int):
        return unravel_index(indices, (shape,), order)
    if np.ndim(indices) == 0:
        return _on_axes(_inside(np.int64(indices), np.prod(shape)), shape, order)
    places = np.asarray(indices)
    if places.dtype.kind != "i" and places.dtype.kind != "u":
        raise TypeError("only int indices permitted")
    size = np.prod(shape)
    for place in places.flat:
        _inside(np.int64(place), size)
    return _on_axes(places.astype(np.int64), shape, order)


def _inside(place, size):
    if place < 0 or place >= size:
        raise ValueError(f"index {int(place)} is out of bounds for array with size {int(size)}")
    return place


def _on_axes(places, shape, order):
    if order == "C":
        return _last_first(places, shape)
    if order == "F":
        return _first_first(places, shape)
    raise ValueError("only 'C' or 'F' order is permitted")


def _last_first(places, shape):
    if len(shape) == 1:
        return (places,)
    return _last_first(places // shape[-1], shape[:-1]) + (places % shape[-1],)


def _first_first(places, shape):
    if len(shape) == 1:
        return (places,)
    return (places % shape[0],) + _first_first(places // shape[0], shape[1:])


def ravel_multi_index(multi_index, dims, mode="raise", order="C"):
    if isinstance(dims, int):
        return _joined((multi_index,) if isinstance(multi_index, int) else multi_index, (dims,), mode, order)
    return _joined(multi_index, dims, mode, order)


def _joined(multi_index, dims, mode, order):
    if len(multi_index) != len(dims):
        raise ValueError(f"parameter multi_index must be a sequence of length {len(dims)}")
    if order == "C":
        return _falling(multi_index, dims, mode)
    if order == "F":
        return _rising(multi_index, dims, mode)
    raise ValueError("only 'C' or 'F' order is permitted")


def _falling(places, dims, mode):
    last = _within(places[-1], dims[-1], mode)
    if len(dims) == 1:
        return last
    return _falling(places[:-1], dims[:-1], mode) * dims[-1] + last


def _rising(places, dims, mode):
    first = _within(places[0], dims[0], mode)
    if len(dims) == 1:
        return first
    return first + dims[0] * _rising(places[1:], dims[1:], mode)


def _within(places, extent, mode):
    if np.ndim(places) == 0:
        return _one_within(np.int64(places), extent, mode)
    new = np.asarray(places).astype(np.int64)
    for i in range(new.size):
        new.flat[i] = _one_within(new.flat[i], extent, mode)
    return new


def _one_within(place, extent, mode):
    if mode == "raise":
        if place < 0 or place >= extent:
            raise ValueError("invalid entry in coordinates array")
        return place
    if mode == "wrap":
        return place % extent
    if mode == "clip":
        return min(max(place, np.int64(0)), np.int64(extent - 1))
    raise ValueError("clipmode not understood")


# ---- numbers as texts of digits ----


def binary_repr(num, width=None):
    needed = max(num.bit_length(), 1) if num >= 0 else (~num).bit_length() + 1
    if width is None:
        return _bits(num, needed) if num >= 0 else "-" + _bits(-num, (-num).bit_length())
    if width < needed and num != 0:
        raise ValueError(f"Insufficient bit width={width} provided for binwidth={needed}")
    return _bits(num, max(width, needed))


def _bits(num, count):
    # The lowest ones of two's complement, the highest first.
    return "".join(["1" if num >> i & 1 else "0" for i in range(count - 1, -1, -1)])


def base_repr(number, base=2, padding=0):
    if base > 36:
        raise ValueError("Bases greater than 36 not handled in base_repr.")
    if base < 2:
        raise ValueError("Bases less than 2 not handled in base_repr.")
    digits = ""
    rest = abs(int(number))
    while rest:
        digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[rest % base] + digits
        rest //= base
    digits = "0" * padding + digits
    return "-" + digits if number < 0 else digits or "0"
