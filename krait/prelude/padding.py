"""numpy.pad: an array within a larger one, what is around it by a mode."""

import numpy as np

from krait.prelude.intrinsics import with_item
from krait.prelude.joining import part


def pad(array, pad_width, mode="constant", constant_values=0, end_values=0, stat_length=None, reflect_type="even"):
    array = np.asarray(array)
    before = _side(array.shape, pad_width, 0)
    after = _side(array.shape, pad_width, 1)
    shape = array.shape
    for axis in range(array.ndim):
        if before[axis] < 0 or after[axis] < 0:
            raise ValueError("index can't contain negative values")
        shape = with_item(shape, axis, before[axis] + array.shape[axis] + after[axis])
    new = np.zeros(shape, array.dtype)
    inner = new
    for axis in range(array.ndim):
        inner = part(inner, axis, before[axis], array.shape[axis])
    inner[...] = array
    if mode != "empty":
        _around(new, array.shape, before, after, mode, constant_values, end_values, stat_length, reflect_type)
    return new


def _side(shape, widths, which):
    # One number for each axis, of an int, (before, after) or a pair for each axis.
    numbers = shape
    if isinstance(widths, dict):
        for axis in range(len(shape)):
            numbers = with_item(numbers, axis, 0)
        for axis, width in widths.items():
            of_axis = _side((0,), width, which)[0]
            numbers = with_item(numbers, axis + len(shape) if axis < 0 else axis, of_axis)
        return numbers
    if not isinstance(widths, tuple):
        for axis in range(len(shape)):
            numbers = with_item(numbers, axis, widths)
        return numbers
    if isinstance(widths[0], tuple):
        for axis in range(len(shape)):
            pair = widths[axis if len(widths) > 1 else 0]
            numbers = with_item(numbers, axis, pair[which if len(pair) > 1 else 0])
        return numbers
    for axis in range(len(shape)):
        numbers = with_item(numbers, axis, widths[which if len(widths) > 1 else 0])
    return numbers


def _value(values, axis, which):
    # Of one or two Python numbers NumPy makes an array, whose elements lose bits where they do not fit.
    if not isinstance(values, tuple):
        return np.asarray(values)[()]
    if isinstance(values[0], tuple):
        if len(values) == 1:
            return _value(values[0], axis, which)
        pair = values[axis]
        return pair[which if len(pair) > 1 else 0]
    return np.asarray(values)[which if len(values) > 1 else 0]


def _around(new, shape, before, after, mode, constant_values, end_values, stat_length, reflect_type):
    # Axis after axis, over the whole of the others as they are by then.
    for axis in range(new.ndim):
        n = shape[axis]
        left, right = before[axis], after[axis]
        if n == 0 and left + right > 0 and mode != "constant":
            raise ValueError(f"can't extend empty axis {axis} using modes other than 'constant' or 'empty'")
        if mode == "constant":
            part(new, axis, 0, left)[...] = _value(constant_values, axis, 0)
            part(new, axis, left + n, right)[...] = _value(constant_values, axis, 1)
        elif mode == "edge":
            part(new, axis, 0, left)[...] = part(new, axis, left, 1)
            part(new, axis, left + n, right)[...] = part(new, axis, left + n - 1, 1)
        elif mode == "linear_ramp":
            _ramps(new, axis, left, right, _value(end_values, axis, 0), _value(end_values, axis, 1))
        elif mode == "wrap" or mode == "reflect" or mode == "symmetric":
            _repeat(new, axis, n, left, right, mode, reflect_type)
        else:
            _statistic(new, axis, n, left, right, mode, stat_length)


def _ramps(new, axis, left, right, first, last):
    n = new.shape[axis]
    edge = part(new, axis, left, 1)
    for i in range(left):
        _ramp(part(new, axis, i, 1), edge, first, i, left)
    edge = part(new, axis, n - right - 1, 1)
    for i in range(right):
        _ramp(part(new, axis, n - 1 - i, 1), edge, last, i, right)


def _ramp(to, edge, end, i, steps):
    # As linspace from the end: exact where the steps are, integers rounded down.
    if to.ndim == 0:
        value = i * ((_wide(edge[()]) - end) / steps) + end
        to[()] = to.dtype.type(np.floor(value)) if to.dtype.kind == "i" or to.dtype.kind == "u" else value
    else:
        for k in range(to.shape[0]):
            _ramp(to[k, ...], edge[k, ...], end, i, steps)


def _wide(x):
    return np.complex128(x) if x.dtype.kind == "c" else np.float64(x)


def _source(i, n, mode):
    # Which of n elements stands at place i, which may lie outside, and in which direction it was reflected.
    if mode == "wrap":
        return i % n, 0
    period = 2 * n if mode == "symmetric" else max(2 * (n - 1), 1)
    at = i % period
    turns = i // period
    if at < n:
        return at, 2 * turns
    return (period - 1 - at if mode == "symmetric" else period - at), 2 * turns + 1


def _repeat(new, axis, n, left, right, mode, reflect_type):
    for i in range(left + n + right):
        if left <= i < left + n:
            continue
        at, turns = _source(i - left, n, mode)
        to = part(new, axis, i, 1)
        item = part(new, axis, left + at, 1)
        if mode != "wrap" and reflect_type == "odd":
            _reflect_odd(to, item, part(new, axis, left, 1), part(new, axis, left + n - 1, 1), turns)
        else:
            to[...] = item


def _reflect_odd(to, item, first, last, turns):
    # Each reflection goes on from the edge in the same direction.
    half = turns // 2
    if turns % 2 == 0:
        to[...] = item + 2 * half * (last - first)
    else:
        to[...] = 2 * last - item + 2 * half * (last - first)


def _statistic(new, axis, n, left, right, mode, stat_length):
    first = n if stat_length is None else min(n, _value(stat_length, axis, 0))
    last = n if stat_length is None else min(n, _value(stat_length, axis, 1))
    part(new, axis, 0, left)[...] = _of_lines(part(new, axis, left, first), axis, mode)
    part(new, axis, left + n, right)[...] = _of_lines(part(new, axis, left + n - last, last), axis, mode)


def _medians(result, a, axis):
    if a.ndim == 1:
        result[0] = _as_stored(np.median(a), a)
    elif axis == 0:
        for k in range(a.shape[1]):
            _medians(result[:, k], a[:, k], 0)
    else:
        for k in range(a.shape[0]):
            _medians(result[k], a[k], axis - 1)


def _as_stored(x, a):
    # Integers are the nearest ones.
    return np.rint(x) if a.dtype.kind == "i" or a.dtype.kind == "u" else x


def _of_lines(a, axis, mode):
    result = np.empty(with_item(a.shape, axis, 1), a.dtype)
    if mode == "maximum":
        result[...] = part(a, axis, 0, 1)
        for i in range(1, a.shape[axis]):
            np.maximum(result, part(a, axis, i, 1), result)
    elif mode == "minimum":
        result[...] = part(a, axis, 0, 1)
        for i in range(1, a.shape[axis]):
            np.minimum(result, part(a, axis, i, 1), result)
    elif mode == "mean":
        total = np.zeros(result.shape, np.result_type(a, 1.0))
        for i in range(a.shape[axis]):
            total += part(a, axis, i, 1)
        total /= a.shape[axis]
        result[...] = _as_stored(total, a)
    elif mode == "median":
        _medians(result, a, axis)
    else:
        raise ValueError(f"mode '{mode}' is not supported")
    return result
