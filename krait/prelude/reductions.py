"""NumPy's reductions: of all elements, or along an axis: sums, products, extremes, means, variances, truth."""

from types import GeneratorType

import numpy as np

from krait.prelude import times
from krait.prelude.axes import (
    check_axes,
    check_out,
    kept_shape,
    lines_of,
    masked,
    number_over,
    over_axes,
    put_over,
    with_out,
)
from krait.prelude.elementwise import in_dtype
from krait.prelude.intrinsics import folded, layout_of, packed, with_item
from krait.prelude.sums import (
    by_memory,
    fill_rows,
    is_rounded,
    laid_out_as,
    line_of,
    sum_along,
    sum_of_all,
    sum_of_axes,
    sum_type,
    without,
)


# ---- of all elements ----


def prod_of_line(x, dtype):
    if is_real(np.dtype(dtype)) and (x.dtype.kind != "c"):
        return folded("prod", x, dtype)
    if np.dtype(dtype) == np.float16 and x.dtype.kind != "c":
        return np.float16(folded("prod", x, np.float32))
    total = np.dtype(dtype).type(1)
    for item in x:
        total = total * np.dtype(dtype).type(item)
    return total


def is_real(dtype):
    # What folded() takes, in its own precision.
    return dtype.kind == "b" or dtype.kind == "i" or dtype.kind == "u" or (dtype.kind == "f" and dtype.itemsize > 2)


def shaped(x, a):
    # The number as the array of as many axes of length one that keepdims asks for.
    shape = a.shape
    for i in range(a.ndim):
        shape = with_item(shape, i, 1)
    kept = np.empty(shape, np.result_type(x))
    kept[...] = x
    return kept


def is_whole(a, axis):
    # Whether all elements are meant.
    if axis is None:
        return True
    if isinstance(axis, tuple):
        if len(axis) != a.ndim:
            return False
        check_axes(axis, a.ndim)
        return True
    if a.ndim == 1:
        np.moveaxis(a, axis, 0)  # there is such an axis
        return True
    return False


def given(x, a, out, keepdims):
    # The number as a call asks for it.
    if out is not None:
        out[...] = x
        return out
    if keepdims:
        return shaped(x, a)
    return x


def any_of_all(a):
    if a.ndim == 0:
        return np.bool(a[()])
    return folded("any", a, np.bool)


def all_of_all(a):
    if a.ndim == 0:
        return np.bool(a[()])
    return folded("all", a, np.bool)


def count_of_all(a):
    if a.ndim == 0:
        return int(bool(a[()]))
    return int(folded("sum", a != 0, np.int64))


def prod_of_all(a, dtype):
    if a.ndim == 0:
        return dtype.type(a[()])
    if layout_of(a) == "A" and a.ndim > 1 and (dtype.kind == "f" or dtype.kind == "c"):
        return prod_of_line(line_of(by_memory(a)), dtype)
    return prod_of_line(line_of(a), dtype)


def extreme_of_all(f, name, a, initial):
    if initial is not None:
        if a.size == 0:
            return as_first(a.dtype, initial)
        return f(extreme_of_all(f, name, a, None), as_first(a.dtype, initial))
    if name == "minimum" and a.ndim > 0 and is_real(a.dtype):
        return folded("min", a, a.dtype)
    if name == "maximum" and a.ndim > 0 and is_real(a.dtype):
        return folded("max", a, a.dtype)
    if a.size == 0:
        raise ValueError(f"zero-size array to reduction operation {name} which has no identity")
    x = line_of(a)
    extreme = x[0]
    for item in x:
        extreme = f(extreme, item)
    return extreme


def as_first(dtype, initial):
    # NumPy takes what comes first for a number of Python: what is signed must hold it.
    if isinstance(initial, (np.integer, np.floating)) and dtype.kind == "i":
        if isinstance(initial, np.uint64) and initial > np.uint64(np.iinfo(np.int64).max):
            raise OverflowError("Python int too large to convert to C long")
        return dtype.type(int(initial))
    if isinstance(initial, np.floating) and dtype.kind == "u":
        return dtype.type(int(initial))
    return dtype.type(initial)


# ---- along an axis ----


def along(x, axis, out, keepdims):
    if out is not None:
        return put_over(out, x, axis, keepdims)
    if keepdims:
        return np.expand_dims(x, axis)
    return x


def prod_along(a, axis, dtype):
    total = without(a, axis, dtype)
    total[...] = 1
    slices = np.moveaxis(a, axis, 0)
    for i in range(slices.shape[0]):
        if a.dtype == np.dtype(dtype):
            total *= slices[i]
        else:
            total *= slices[i].astype(dtype)
    return total


def extreme_along(f, name, a, axis, initial):
    slices = np.moveaxis(a, axis, 0)
    extreme = without(a, axis, a.dtype)
    if initial is None:
        if a.shape[axis] == 0:
            raise ValueError(f"zero-size array to reduction operation {name} which has no identity")
        extreme[...] = slices[0]
    else:
        extreme[...] = as_first(a.dtype, initial)
    for i in range(slices.shape[0]):
        f(extreme, slices[i], extreme)
    return extreme


def logical_along(f, a, axis, start):
    found = without(a, axis, np.bool_)
    found[...] = start
    slices = np.moveaxis(a, axis, 0)
    for i in range(slices.shape[0]):
        f(found, slices[i], found)
    return found


def any_along(a, axis):
    return logical_along(np.logical_or, a, axis, False)


def all_along(a, axis):
    return logical_along(np.logical_and, a, axis, True)


def count_along(a, axis):
    count = without(a, axis, np.int64)
    count[...] = 0
    slices = np.moveaxis(a, axis, 0)
    for i in range(slices.shape[0]):
        count += slices[i] != 0
    return count


# ---- the functions ----


def sum_(a, axis=None, dtype=None, out=None, keepdims=False, initial=0, where=None):
    if isinstance(a, GeneratorType):
        raise TypeError(
            "Calling np.sum(generator) is deprecated."
            "Use np.sum(np.fromiter(generator)) or the python sum builtin instead."
        )
    a = np.asarray(a)
    if out is not None:
        check_out(out, a, axis, keepdims, "add")
    if a.dtype.kind == "m" and where is None:
        return given(times.sum_of(a, axis, dtype, keepdims, initial), a, out, False)
    if out is not None and dtype is None:
        return sum_(a, axis, with_out(a, out), out, keepdims, initial, where)
    if where is not None:
        return sum_(masked(a, where, 0), axis, dtype, out, keepdims, initial)
    if is_whole(a, axis):
        return given(sum_from(sum_of_all(a, sum_type(a, dtype)), initial), a, out, keepdims)
    if isinstance(axis, tuple):
        if is_rounded(a, sum_type(a, dtype)) and initial is not None:
            return over_axes(sum_of_axes(a, axis, sum_type(a, dtype), initial), a, axis, out, keepdims)
        return over_axes(sum_(lines_of(a, axis), -1, dtype, None, False, initial), a, axis, out, keepdims)
    if initial is None:
        return along(sum_along(a, axis, sum_type(a, dtype)), axis, out, keepdims)
    total = sum_along(a, axis, sum_type(a, dtype))
    total += total.dtype.type(initial)
    return along(total, axis, out, keepdims)


def sum_from(total, initial):
    if initial is None:
        return total
    return total + total.dtype.type(initial)  # NumPy adds up from it, in the type of the sum


def prod(a, axis=None, dtype=None, out=None, keepdims=False, initial=1, where=None):
    a = np.asarray(a)
    if out is not None and dtype is None:
        return prod(a, axis, with_out(a, out), out, keepdims, initial, where)
    if out is not None:
        check_out(out, a, axis, keepdims, "multiply")
    if where is not None:
        return prod(masked(a, where, 1), axis, dtype, out, keepdims, initial)
    if is_whole(a, axis):
        product = prod_of_all(a, sum_type(a, dtype))
        return given(product * product.dtype.type(initial), a, out, keepdims)
    if isinstance(axis, tuple):
        return over_axes(prod(lines_of(a, axis), -1, dtype, None, False, initial), a, axis, out, keepdims)
    total = prod_along(a, axis, sum_type(a, dtype))
    total *= total.dtype.type(initial)
    return along(total, axis, out, keepdims)


def extreme(f, name, a, axis, out, keepdims, initial):
    if out is not None:
        check_out(out, a, axis, keepdims, name)
    if is_whole(a, axis):
        return given(extreme_of_all(f, name, a, initial), a, out, keepdims)
    if isinstance(axis, tuple):
        return over_axes(extreme(f, name, lines_of(a, axis), -1, None, False, initial), a, axis, out, keepdims)
    return along(extreme_along(f, name, a, axis, initial), axis, out, keepdims)


def masked_extreme(name, a, initial, where):
    if where is None:
        return a
    if initial is None:
        raise ValueError(
            f"reduction operation '{name}' does not have an identity, so to use a where mask one has to specify "
            "'initial'"
        )
    return masked(a, where, initial)


def min_(a, axis=None, out=None, keepdims=False, initial=None, where=None):
    a = np.asarray(a)
    if out is None and initial is None and where is None and not isinstance(axis, tuple):  # short: it is fused
        if is_whole(a, axis):
            return given(extreme_of_all(np.minimum, "minimum", a, None), a, None, keepdims)
        return along(extreme_along(np.minimum, "minimum", a, axis, None), axis, None, keepdims)
    return extreme(np.minimum, "minimum", masked_extreme("minimum", a, initial, where), axis, out, keepdims, initial)


def max_(a, axis=None, out=None, keepdims=False, initial=None, where=None):
    a = np.asarray(a)
    if out is None and initial is None and where is None and not isinstance(axis, tuple):  # short: it is fused
        if is_whole(a, axis):
            return given(extreme_of_all(np.maximum, "maximum", a, None), a, None, keepdims)
        return along(extreme_along(np.maximum, "maximum", a, axis, None), axis, None, keepdims)
    return extreme(np.maximum, "maximum", masked_extreme("maximum", a, initial, where), axis, out, keepdims, initial)


def numbers_of(a):
    # Dates and durations as the ints that they are: what is zero, and what is not, NaT too.
    return times.ticks(a) if times.is_time(a.dtype) else a


def any_(a, axis=None, out=None, keepdims=False, where=None):
    a = numbers_of(np.asarray(a))
    if out is not None:
        check_out(out, a, axis, keepdims, "logical_or")
    if where is not None:
        return any_(masked(a, where, False), axis, out, keepdims)
    if is_whole(a, axis):
        return given(any_of_all(a), a, out, keepdims)
    if isinstance(axis, tuple):
        return over_axes(any_(lines_of(a, axis), -1), a, axis, out, keepdims)
    return along(any_along(a, axis), axis, out, keepdims)


def all_(a, axis=None, out=None, keepdims=False, where=None):
    a = numbers_of(np.asarray(a))
    if out is not None:
        check_out(out, a, axis, keepdims, "logical_and")
    if where is not None:
        return all_(masked(a, where, True), axis, out, keepdims)
    if is_whole(a, axis):
        return given(all_of_all(a), a, out, keepdims)
    if isinstance(axis, tuple):
        return over_axes(all_(lines_of(a, axis), -1), a, axis, out, keepdims)
    return along(all_along(a, axis), axis, out, keepdims)


def count_nonzero(a, axis=None, keepdims=False):
    a = numbers_of(np.asarray(a))
    if is_whole(a, axis):
        if keepdims:
            return shaped(np.int64(count_of_all(a)), a)
        return np.int64(count_of_all(a))
    if isinstance(axis, tuple):
        return over_axes(count_nonzero(lines_of(a, axis), -1), a, axis, None, keepdims)
    return along(count_along(a, axis), axis, None, keepdims)


def ptp(a, axis=None, out=None, keepdims=False):
    a = np.asarray(a)
    if out is not None:  # NumPy subtracts where it has put the greatest
        max_(a, axis, out, keepdims)
        return np.subtract(out, min_(a, axis, None, keepdims), out)
    if is_whole(a, axis):
        most = extreme_of_all(np.maximum, "maximum", a, None)
        return given(np.subtract(most, extreme_of_all(np.minimum, "minimum", a, None)), a, None, keepdims)
    if isinstance(axis, tuple):
        return over_axes(ptp(lines_of(a, axis), -1), a, axis, None, keepdims)
    most = extreme_along(np.maximum, "maximum", a, axis, None)
    return along(most - extreme_along(np.minimum, "minimum", a, axis, None), axis, None, keepdims)


def mean_type(a, dtype):
    if dtype is not None:
        return np.dtype(dtype)
    if a.dtype.kind == "f" or a.dtype.kind == "c":
        return a.dtype
    return np.dtype(np.float64)


def mean(a, axis=None, dtype=None, out=None, keepdims=False, where=None):
    a = np.asarray(a)
    if out is not None:
        check_out(out, a, axis, keepdims, "add")
    if a.dtype.kind == "m" and where is None:
        return given(times.mean_of(a, axis, dtype, keepdims), a, out, False)
    if a.dtype.kind == "M":
        return sum_(a, axis)  # there is none of dates, neither sum nor mean
    if out is not None and where is None:
        return mean_into(a, axis, dtype, out, keepdims)
    if a.dtype == np.float16 and dtype is None:
        # The sum is a float32.
        return over_axes(in_dtype(mean(a, axis, np.float32, None, keepdims, where), np.float16), a, axis, out, False)
    if where is not None:
        count = count_nonzero(np.broadcast_to(where, a.shape), axis, keepdims)
        total = sum_(masked(a, where, 0), axis, mean_type(a, dtype), None, keepdims)
        return over_axes(in_dtype(np.divide(total, count), np.result_type(total)), a, axis, out, False)
    if is_whole(a, axis):
        total = sum_from(sum_of_all(a, mean_type(a, dtype)), 0)
        return given(total.dtype.type(np.divide(total, a.size)), a, out, keepdims)
    if isinstance(axis, tuple):
        if is_rounded(a, mean_type(a, dtype)):
            total = sum_of_axes(a, axis, mean_type(a, dtype), 0)
            np.divide(total, number_over(a, axis), total)
            return over_axes(total, a, axis, out, keepdims)
        return over_axes(mean(lines_of(a, axis), -1, dtype), a, axis, out, keepdims)
    total = sum_along(a, axis, mean_type(a, dtype))
    total += 0  # no sum of NumPy's is -0.0
    np.divide(total, a.shape[axis], total)
    return along(total, axis, out, keepdims)


def mean_into(a, axis, dtype, out, keepdims):
    # NumPy divides the sum where it has put it.
    if dtype is None and a.dtype == np.float16:
        sum_(a, axis, np.float32, out, keepdims)
    elif dtype is None and (a.dtype.kind == "f" or a.dtype.kind == "c"):
        sum_(a, axis, None, out, keepdims)
    else:
        sum_(a, axis, mean_type(a, dtype), out, keepdims)
    n = a.size if axis is None else number_over(a, axis if isinstance(axis, tuple) else (axis,))
    np.divide(out, n, out, casting="unsafe")
    return out


def squared(x):
    # Of the distance from the mean.
    if x.dtype.kind == "c":
        return x.real * x.real + x.imag * x.imag
    return x * x


def squares_type(squares, dtype):
    # What squares are added up in, and what their mean is given in.
    if dtype is None:
        return np.dtype(squares.dtype)
    return np.dtype(dtype)


def var_of_all(a, dtype, ddof, wanted=None):
    if a.ndim == 0:
        return var_of_all(a.reshape(1), dtype, ddof, wanted)
    middle = sum_of_all(a, dtype) / a.size
    if a.ndim > 1 and (layout_of(a) == "A" or layout_of(a) == "F" and a.dtype.kind == "c"):
        squares = squared(np.subtract(by_memory(a), np.dtype(dtype).type(middle)))
    else:
        squares = squared(np.subtract(a, np.dtype(dtype).type(middle)))
    total = sum_of_all(squares, squares_type(squares, wanted))
    return total.dtype.type(np.divide(total, max(a.size - ddof, 0)))


def var_along(a, axis, dtype, ddof, wanted=None):
    middle = np.expand_dims(sum_along(a, axis, dtype), axis)
    np.divide(middle, a.shape[axis], middle, casting="unsafe")
    if layout_of(a) == "C":
        squares = squared(a - middle)
    else:
        squares = laid_out_as(a, squared(a - middle))
    total = sum_along(squares, axis, squares_type(squares, wanted))
    np.divide(total, max(a.shape[axis] - ddof, 0), total, casting="unsafe")
    return total


def var_over(a, axis, dtype, ddof, wanted=None):
    middle = sum_of_axes(a, axis, dtype, 0).reshape(kept_shape(a.shape, axis))
    middle /= number_over(a, axis)
    squares = laid_out_as(a, squared(a - middle))
    total = sum_of_axes(squares, axis, squares_type(squares, wanted), 0)
    np.divide(total, max(number_over(a, axis) - ddof, 0), total)
    return total


def freedom(ddof, correction):
    # correction is its other name.
    if correction is None:
        return ddof
    if ddof != 0:
        raise ValueError("ddof and correction can't be provided simultaneously.")
    return correction


def var_where(a, axis, dtype, ddof, keepdims, where, mean):
    # Of the elements where the mask is true, from a mean that is given or theirs.
    mask = np.broadcast_to(True if where is None else where, a.shape)
    count = count_nonzero(mask, axis, keepdims)
    if mean is None:
        total = sum_(masked(a, mask, 0), axis, mean_type(a, dtype), None, True)
        squares = squared(np.subtract(a, np.divide(total, count_nonzero(mask, axis, True)).astype(total.dtype)))
    else:
        squares = squared(np.subtract(a, mean))
    total = sum_(masked(squares, mask, 0), axis, squares.dtype if dtype is None else dtype, None, keepdims)
    return in_dtype(np.divide(total, np.maximum(np.subtract(count, ddof), 0)), np.result_type(total))


def var(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, where=None, mean=None, correction=None):
    a = np.asarray(a)
    if correction is not None:
        return var(a, axis, dtype, out, freedom(ddof, correction), keepdims, where, mean)
    if out is not None:
        check_out(out, a, axis, keepdims, "add")
    if where is not None or mean is not None:
        return over_axes(var_where(a, axis, dtype, ddof, keepdims, where, mean), a, axis, out, False)
    if is_whole(a, axis):
        return given(var_of_all(a, mean_type(a, dtype), ddof, dtype), a, out, keepdims)
    if isinstance(axis, tuple):
        if is_rounded(a, mean_type(a, dtype)):
            return over_axes(var_over(a, axis, mean_type(a, dtype), ddof, dtype), a, axis, out, keepdims)
        return over_axes(var(lines_of(a, axis), -1, dtype, None, ddof), a, axis, out, keepdims)
    return along(var_along(a, axis, mean_type(a, dtype), ddof, dtype), axis, out, keepdims)


def std(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, where=None, mean=None, correction=None):
    a = np.asarray(a)
    if correction is not None:
        return std(a, axis, dtype, out, freedom(ddof, correction), keepdims, where, mean)
    if out is not None:  # NumPy takes the root where it has put the variance
        return np.sqrt(var(a, axis, dtype, out, ddof, keepdims, where, mean), out)
    if where is not None or mean is not None:
        return over_axes(np.sqrt(var_where(a, axis, dtype, ddof, keepdims, where, mean)), a, axis, None, False)
    if is_whole(a, axis):
        spread = var_of_all(a, mean_type(a, dtype), ddof, dtype)
        return given(spread.dtype.type(np.sqrt(spread)), a, None, keepdims)
    if isinstance(axis, tuple):
        if is_rounded(a, mean_type(a, dtype)):
            return over_axes(np.sqrt(var_over(a, axis, mean_type(a, dtype), ddof, dtype)), a, axis, None, keepdims)
        return over_axes(std(lines_of(a, axis), -1, dtype, None, ddof), a, axis, None, keepdims)
    spreads = var_along(a, axis, mean_type(a, dtype), ddof, dtype)
    np.sqrt(spreads, spreads)
    return along(spreads, axis, None, keepdims)
