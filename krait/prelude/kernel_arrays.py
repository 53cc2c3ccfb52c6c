"""What functions of arrays are in kernels, where each thread computes one number and no array is made: rows of
src/library whose rule is prelude_twin.  Whatever would give an array is the function of reductions.py, which is refused
there with its reason."""

import numpy as np

from krait.prelude import number_reductions, reductions, statistics
from krait.prelude.intrinsics import folded
from krait.prelude.kernel_products import dot, inner, matmul, norm, outer, vdot, vecdot  # noqa: F401
from krait.prelude.reductions import is_whole, mean_type


def sum_type(a, dtype):
    if dtype is not None:
        return np.dtype(dtype)
    return np.result_type(np.sum(a))


def wide(dtype):
    # What is added up in: a float16 adds as float32, as NumPy's sums do.
    return np.dtype(np.float32) if np.dtype(dtype) == np.float16 else np.dtype(dtype)


def stored(x, out):
    if out is not None:
        out[...] = x
        return out
    return x


def real_of(dtype):
    return np.dtype(np.result_type(np.abs(np.dtype(dtype).type(0))))


def sum_of(a, dtype):
    if np.dtype(dtype).kind != "c":
        return folded("sum", a, dtype)
    total = dtype.type(0)
    for i in range(a.size):
        total += dtype.type(a.flat[i])
    return total


def shared(x, count, dtype):
    # Of a float16 NumPy divides the double; its squares and their sum are float16s, which may be infinite.
    if np.dtype(dtype) == np.float16:
        return dtype.type(np.float64(x) / np.float64(count))
    return dtype.type(np.divide(x, count))


def squared(x, middle, dtype):
    distance = dtype.type(dtype.type(x) - middle)
    return real_of(dtype).type(distance.real * distance.real + distance.imag * distance.imag)


def squares_from(a, middle, dtype):
    total = wide(real_of(dtype)).type(0)
    for i in range(a.size):
        total += squared(a.flat[i], middle, dtype)
    return real_of(dtype).type(total)


def spread(a, dtype, ddof):
    middle = shared(dtype.type(sum_of(a, wide(dtype))), a.size, dtype)
    return shared(squares_from(a, middle, dtype), max(a.size - ddof, 0), real_of(dtype))


def stored_spread(of, finish, a, dtype, out, ddof):
    computed = mean_type(a, dtype)
    return stored(real_of(computed).type(finish(of(a, computed, ddof))), out)


def var(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False):
    if not is_whole(a, axis) or keepdims:
        return reductions.var(a, axis, dtype, out, ddof, keepdims)
    return stored_spread(spread, np.positive, a, dtype, out, ddof)


def std(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False):
    if not is_whole(a, axis) or keepdims:
        return reductions.std(a, axis, dtype, out, ddof, keepdims)
    return stored_spread(spread, np.sqrt, a, dtype, out, ddof)


def count_nonzero(a, axis=None, keepdims=False):
    if not is_whole(a, axis) or keepdims:
        return reductions.count_nonzero(a, axis, keepdims)
    count = 0
    for i in range(a.size):
        count += 1 if a.flat[i] != 0 else 0
    return np.int64(count)


def numbers_of(a):
    count = 0
    for i in range(a.size):
        count += 0 if np.isnan(a.flat[i]) else 1
    return count


def sum_of_numbers(a, dtype):
    total = wide(dtype).type(0)
    for i in range(a.size):
        x = a.flat[i]
        if not np.isnan(x):
            total += wide(dtype).type(x)
    return total


def nansum(a, axis=None, dtype=None, out=None, keepdims=False):
    if not is_whole(a, axis) or keepdims:
        return number_reductions.nansum(a, axis, dtype, out, keepdims)
    computed = sum_type(a, dtype)
    return stored(computed.type(sum_of_numbers(a, computed)), out)


def nanprod(a, axis=None, dtype=None, out=None, keepdims=False):
    if not is_whole(a, axis) or keepdims:
        return number_reductions.nanprod(a, axis, dtype, out, keepdims)
    computed = sum_type(a, dtype)
    total = wide(computed).type(1)
    for i in range(a.size):
        x = a.flat[i]
        if not np.isnan(x):
            total *= wide(computed).type(x)
    return stored(computed.type(total), out)


def mean_of_numbers(a, dtype):
    return shared(dtype.type(sum_of_numbers(a, dtype)), numbers_of(a), dtype)


def nanmean(a, axis=None, dtype=None, out=None, keepdims=False):
    if not is_whole(a, axis) or keepdims:
        return number_reductions.nanmean(a, axis, dtype, out, keepdims)
    computed = mean_type(a, dtype)
    return stored(mean_of_numbers(a, computed), out)


def spread_of_numbers(a, dtype, ddof):
    middle = mean_of_numbers(a, dtype)
    total = wide(real_of(dtype)).type(0)
    count = 0
    for i in range(a.size):
        x = a.flat[i]
        if not np.isnan(x):
            total += squared(x, middle, dtype)
            count += 1
    if count <= ddof:
        return real_of(dtype).type(np.nan)
    return shared(real_of(dtype).type(total), count - ddof, real_of(dtype))


def nanvar(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False):
    if not is_whole(a, axis) or keepdims:
        return statistics.nanvar(a, axis, dtype, out, ddof, keepdims)
    if a.dtype.kind != "f" and a.dtype.kind != "c":
        return var(a, axis, dtype, out, ddof)
    return stored_spread(spread_of_numbers, np.positive, a, dtype, out, ddof)


def nanstd(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False):
    if not is_whole(a, axis) or keepdims:
        return statistics.nanstd(a, axis, dtype, out, ddof, keepdims)
    if a.dtype.kind != "f" and a.dtype.kind != "c":
        return std(a, axis, dtype, out, ddof)
    return stored_spread(spread_of_numbers, np.sqrt, a, dtype, out, ddof)
