"""NumPy's functions that make an array and fill it: ones, full, arange, eye, diag, tri and their like."""

import math
import operator

import numpy as np

from krait.prelude import times
from krait.prelude.intrinsics import frozen, strided


def ones(shape, dtype=None, order="C"):
    array = np.empty(shape, dtype, order)
    array[...] = 1
    return array


def filling(value):
    # A list is cast as the array that it is.
    if isinstance(value, list):
        return np.asarray(value)
    return value


def full(shape, fill_value, dtype=None, order="C"):
    if dtype is None:
        array = np.empty(shape, np.result_type(fill_value), order)
        array[...] = filling(fill_value)
        return array
    array = np.empty(shape, dtype, order)
    array[...] = filling(fill_value)
    return array


def ones_like(a, dtype=None, order="K", subok=True, shape=None):
    array = np.empty_like(a, dtype, order, subok, shape)
    array[...] = 1
    return array


def full_like(a, fill_value, dtype=None, order="K", subok=True, shape=None):
    array = np.empty_like(a, dtype, order, subok, shape)
    array[...] = filling(fill_value)
    return array


def equals_none(a, b):
    # a == None: element by element; as an object a date that is not there is None.
    array = b if a is None else a
    if array.dtype.kind == "M" or array.dtype.kind == "m":
        return np.isnat(array)
    return np.zeros(array.shape, np.bool_)[()]


def differs_from_none(a, b):
    return ~equals_none(a, b)


def arange(start=None, stop=None, step=None, dtype=None):
    if start is None:
        if stop is None:
            raise TypeError("arange() requires stop to be specified.")
        return arange(0, stop, step, dtype)
    if isinstance(stop, (np.datetime64, np.timedelta64)):
        return times.arange(start, stop, 1 if step is None else step, dtype)
    if stop is None:
        return arange_between(0, start, step, dtype)
    return arange_between(start, stop, step, dtype)


def arange_between(start, stop, step, dtype):
    if step is None:
        return arange_by(start, stop, 1, dtype)
    return arange_by(start, stop, step, dtype)


def arange_by(start, stop, step, dtype):
    if dtype is None:
        return arange_of(start, stop, step, np.result_type(np.int64, start, stop, step))
    return arange_of(start, stop, step, dtype)


def arange_of(start, stop, step, dtype):
    # As NumPy: the first two elements are computed exactly, the others from them in the dtype.
    length = (stop - start) / step
    if np.result_type(length).kind == "c":
        n = min(steps(length.real), steps(length.imag))
    elif length == 0 and stop != start:  # so long a step that the quotient vanishes
        n = 0 if math.copysign(1, length) < 0 else 1
    else:
        n = steps(length)
    array = np.empty(n, dtype)
    if n > 0:
        array[0] = start
    if n > 1:
        array[1] = start + step
    if n > 2:
        if array.dtype.kind == "b":
            raise TypeError("arange() is only supported for booleans when the result has at most length 2.")
        fill_range(array)
    return array


def steps(length):
    length = float(length)
    if math.isnan(length):
        raise ValueError("arange: cannot compute length")
    if not -(2.0**63) <= length < 9.2e18:
        raise ValueError("Maximum allowed size exceeded")
    return max(math.ceil(max(length, -1.0)), 0)


def fill_range(array):
    first = array[0]
    step = array[1] - first
    if array.dtype.kind == "i" or array.dtype.kind == "u":
        value = first + step
        for i in range(2, len(array)):
            value = value + step
            array[i] = value
    elif array.dtype == np.float16:
        wide = np.float32(first)
        for i in range(2, len(array)):
            array[i] = wide + np.float32(i) * np.float32(step)
    else:
        for i in range(2, len(array)):
            array[i] = first + i * step


def eye(N, M=None, k=0, dtype=float, order="C"):
    if M is None:
        return eye_of(N, N, k, dtype, order)
    return eye_of(N, M, k, dtype, order)


def eye_of(rows, columns, k, dtype, order):
    array = np.zeros((rows, columns), dtype, order)
    k = near_diagonal(k, rows, columns)
    for i in range(max(0, -k), min(rows, columns - k)):
        array[i, i + k] = 1
    return array


def identity(n, dtype=None):
    if dtype is None:
        return eye_of(n, n, 0, np.float64, "C")
    return eye_of(n, n, 0, dtype, "C")


def diag(v, k=0):
    v = np.asarray(v)
    if v.ndim == 1:
        k = operator.index(k)
        if not -(2**62) <= k <= 2**62:
            raise ValueError("Maximum allowed dimension exceeded")
        n = len(v) + abs(k)
        matrix = np.zeros((n, n), v.dtype)
        for i in range(len(v)):
            matrix[i + max(0, -k), i + max(0, k)] = v[i]
        return matrix
    if v.ndim == 2:
        return diagonal(v, k)
    raise ValueError("Input must be 1- or 2-d.")


def diagonal(a, offset=0):
    offset = near_diagonal(offset, a.shape[0], a.shape[1])
    rows = max(0, -offset)
    columns = max(0, offset)
    n = max(0, min(a.shape[0] - rows, a.shape[1] - columns))
    start = rows * a.strides[0] + columns * a.strides[1] if n > 0 else 0
    return frozen(strided(a, start, n, a.strides[0] + a.strides[1]))


def diagflat(v, k=0):
    return diag(np.ravel(v), k)


def tri(N, M=None, k=0, dtype=float):
    if M is None:
        return tri_of(N, N, k, dtype)
    return tri_of(N, M, k, dtype)


def near_diagonal(k, rows, columns):
    # The number of a diagonal; of one that lies outside, of the first outside, so that numbers of places do not wrap.
    return min(max(operator.index(k), -rows), columns)


def tri_of(rows, columns, k, dtype):
    array = np.zeros((rows, columns), dtype)
    k = near_diagonal(k, rows, columns)
    for i in range(rows):
        for j in range(min(columns, max(0, i + k + 1))):
            array[i, j] = 1
    return array


def tril(m, k=0):
    m = np.asarray(m)
    if m.ndim == 1:  # the rows of a square
        return tril(np.broadcast_to(m, m.shape + m.shape), k)
    new = np.zeros(m.shape, m.dtype)
    k = near_diagonal(k, m.shape[-2], m.shape[-1])
    for i in range(m.shape[-2]):
        new[..., i, : max(0, i + k + 1)] = m[..., i, : max(0, i + k + 1)]
    return new


def triu(m, k=0):
    m = np.asarray(m)
    if m.ndim == 1:  # the rows of a square
        return triu(np.broadcast_to(m, m.shape + m.shape), k)
    new = np.zeros(m.shape, m.dtype)
    k = near_diagonal(k, m.shape[-2], m.shape[-1])
    for i in range(m.shape[-2]):
        new[..., i, max(0, i + k) :] = m[..., i, max(0, i + k) :]
    return new


def vander(x, N=None, increasing=False):
    x = np.asarray(x)
    columns = len(x) if N is None else N
    if columns < 0:
        raise ValueError("Negative dimensions are not allowed")
    new = np.empty((len(x), columns), np.result_type(x, int))
    for i in range(len(x)):
        for j in range(columns):
            to = j if increasing else columns - 1 - j
            if j == 0:
                new[i, to] = 1
            else:
                new[i, to] = new[i, to - 1 if increasing else to + 1] * x[i]
    return new


def of_range(numbers, dtype, order):
    new = np.empty(len(numbers), dtype)
    for i, number in enumerate(numbers):
        new[i] = number
    return new
