"""The bytes of numbers in another order, and bits as arrays: ndarray.byteswap, np.packbits, np.unpackbits."""

import numpy as np

from krait.prelude.intrinsics import reinterpreted, with_item
from krait.prelude.joining import axis_of, part


def byteswap(a, inplace=False):
    new = a if inplace else np.copy(a)
    size = a.itemsize // 2 if a.dtype.kind == "c" else a.itemsize
    numbers = a.size * (a.itemsize // size)
    if new.size > 0:
        _swap_bytes(new, size, numbers)
    return new


def _swap_bytes(a, size, numbers):
    if a.ndim > 1:
        for i in range(a.shape[0]):
            _swap_bytes(a[i], size, numbers // a.shape[0])
    elif a.ndim == 0:
        _swap_in_line(a.reshape(1), size)
    else:
        for i in range(len(a)):
            _swap_in_line(a[i : i + 1], size)


def _swap_in_line(item, size):
    data = reinterpreted(item, np.uint8, item.itemsize)
    for start in range(0, len(data), size):
        for i in range(size // 2):
            data[start + i], data[start + size - 1 - i] = data[start + size - 1 - i], data[start + i]


def packbits(a, axis=None, bitorder="big"):
    a = np.asarray(a)
    if axis is None:
        return _pack(np.ravel(a), 0, bitorder)
    if a.ndim == 0:  # a line of one
        return packbits(np.ravel(a), axis, bitorder)
    return _pack(a, axis_of(axis, a.ndim), bitorder)


def _bit(i, bitorder):
    if bitorder == "big":
        return 7 - i % 8
    if bitorder == "little":
        return i % 8
    raise ValueError("'order' must be either 'little' or 'big'")


def _packed_bits(a, bitorder):
    """Of one row: eight items become a byte, the last perhaps fewer."""
    n, first, step = a.size, 7, -1
    if _bit(0, bitorder) == 0:
        first, step = 0, 1
    new = np.zeros((n + 7) // 8, np.uint8)
    for j in range(n // 8):
        byte = 0
        for k in range(8):
            byte |= int(a[8 * j + k] != 0) << (first + step * k)
        new[j] = byte
    for i in range(n // 8 * 8, n):
        new[i // 8] |= np.uint8(int(a[i] != 0) << _bit(i, bitorder))
    return new


def _pack(a, axis, bitorder):
    if a.dtype.kind != "b" and a.dtype.kind != "i" and a.dtype.kind != "u":
        raise TypeError("Expected an input array of integer or boolean data type")
    if a.ndim == 1:
        return _packed_bits(a, bitorder)
    n = a.shape[axis]
    new = np.zeros(with_item(a.shape, axis, (n + 7) // 8), np.uint8)
    for i in range(n):
        byte = part(new, axis, i // 8, 1)
        bits = (part(a, axis, i, 1) != 0).astype(np.uint8)
        np.bitwise_or(byte, np.left_shift(bits, np.uint8(_bit(i, bitorder))), byte)
    return new


def unpackbits(a, axis=None, count=None, bitorder="big"):
    a = np.asarray(a)
    if a.dtype != np.uint8:
        raise TypeError("Expected an input array of unsigned byte data type")
    if axis is None:
        return _unpack(np.ravel(a), 0, count, bitorder)
    return _unpack(a, axis_of(axis, a.ndim), count, bitorder)


def _unpack(a, axis, count, bitorder):
    n = a.shape[axis] * 8
    length = n
    if count is not None:
        length = count if count >= 0 else max(n + count, 0)
        if count < 0 and -count > n:
            raise ValueError(f"-count {-count} larger than number of elements {n}")
    new = np.zeros(with_item(a.shape, axis, length), np.uint8)
    for i in range(min(length, n)):
        shifted = np.right_shift(part(a, axis, i // 8, 1), np.uint8(_bit(i, bitorder)))
        part(new, axis, i, 1)[...] = np.bitwise_and(shifted, np.uint8(1))
    return new
