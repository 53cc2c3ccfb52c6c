"""Methods of numbers."""

import math

import numpy as np

from krait.prelude.intrinsics import python_number


def is_integer(x):
    return bool(x - x == 0) and bool(x % 1 == 0)  # what is not finite has a difference that is none


def converted_or(x, other):
    return other if x is None else type(other)(x)


def bit_length(x):
    left = -(x + 1) if x < 0 else x
    n = 1 if x < 0 and left & (left + 1) == 0 else 0  # -8 has a bit more than 7
    while left > 0:
        left >>= 1
        n += 1
    return n


# ---- what NumPy's scalars have as arrays do ----


def astype_of_time(x, dtype):
    return np.asarray(x).astype(dtype)[()]


def item(x, index=0):
    if index != 0 and index != -1:
        raise IndexError(f"index {index} is out of bounds for size 1")
    return python_number(x)


def tolist(x):
    return python_number(x)


def copy(x):
    return x


def round(x, decimals=0):
    return np.round(x, decimals)


def clip(x, min=None, max=None):
    return np.clip(x, min, max)


def sum(x):
    return np.sum(x)


def prod(x):
    return np.prod(x)


def max(x):
    return np.max(x)


def min(x):
    return np.min(x)


def mean(x):
    return np.mean(x)


def std(x):
    return np.std(np.ravel(x))


def var(x):
    return np.var(np.ravel(x))


def any(x):
    return np.any(x)


def all(x):
    return np.all(x)


def argmax(x):
    return np.argmax(x)


def argmin(x):
    return np.argmin(x)


def ravel(x, order="C"):
    return np.ravel(x)


def flatten(x, order="C"):
    return np.ravel(x)


def reshape(x, *shape):
    return np.asarray(x).reshape(*shape)


def squeeze(x, axis=None):
    if axis is None:
        return x
    return np.squeeze(np.asarray(x), axis)[()]


def tobytes(x, order="C"):
    return np.asarray(x).tobytes()


# ---- floats as fractions, ints as bytes ----


def as_integer_ratio(x):
    if math.isinf(x):
        raise OverflowError("cannot convert Infinity to integer ratio")
    if math.isnan(x):
        raise ValueError("cannot convert NaN to integer ratio")
    part, exponent = math.frexp(x)
    while part != math.floor(part):
        part *= 2.0
        exponent -= 1
    if exponent < -62 or exponent + math.frexp(part)[1] > 63:
        raise OverflowError("Python int too large for compiled code, whose int has 64 bits")
    return (int(part) << exponent, 1) if exponent > 0 else (int(part), 1 << -exponent)


def from_bytes(bytes, byteorder="big", *, signed=False):
    if byteorder != "big" and byteorder != "little":
        raise ValueError("byteorder must be either 'little' or 'big'")
    n = len(bytes)
    total = 0
    negative = signed and n > 0 and (bytes[0] if byteorder == "big" else bytes[n - 1]) >= 128
    for i in range(n):
        item = bytes[i] if byteorder == "big" else bytes[n - 1 - i]
        item = item ^ 255 if negative else item
        if total >= 1 << 55:
            raise OverflowError("Python int too large for compiled code, whose int has 64 bits")
        total = total << 8 | item
    return -total - 1 if negative else total
