"""NumPy's quantiles, by the methods of Hyndman and Fan (Sample quantiles in statistical packages, 1996) and others, and
those of weighted elements."""

import math

import numpy as np

from krait.prelude.axes import finished, kept_shape, lines_of
from krait.prelude.intrinsics import axes_of, frozen, strided, with_item
from krait.prelude.statistics import float_type, has_nan, numbers_of, select


def _least(x):
    least = x[0]
    for item in x:
        if item < least:
            least = item
    return least


def _place(n, q, method):
    # Between which places of the sorted elements it lies, or before or behind all of them.
    if method == "linear":
        return (n - 1) * q
    if method == "weibull":
        return _by(n, q, 0.0, 0.0)
    if method == "hazen":
        return _by(n, q, 0.5, 0.5)
    if method == "median_unbiased":
        return _by(n, q, 1 / 3.0, 1 / 3.0)
    if method == "normal_unbiased":
        return _by(n, q, 3 / 8.0, 3 / 8.0)
    if method == "interpolated_inverted_cdf":
        return _by(n, q, 0.0, 1.0)
    if method == "lower":
        return np.floor((n - 1) * q)
    if method == "higher":
        return np.ceil((n - 1) * q)
    if method == "midpoint":
        return 0.5 * (np.floor((n - 1) * q) + np.ceil((n - 1) * q))
    if method == "nearest":
        return np.rint((n - 1) * q)
    if method == "inverted_cdf":
        return np.ceil(n * q) - 1
    if method == "averaged_inverted_cdf":
        return n * q - 1
    if method == "closest_observation":
        place = n * q - 1 - 0.5
        below = np.floor(place)
        return below if place == below and below % 2 == 1 else below + 1
    raise ValueError(
        f"{method!r} is not a valid method. Use one of: dict_keys(['inverted_cdf', 'averaged_inverted_cdf', "
        "'closest_observation', 'interpolated_inverted_cdf', 'hazen', 'weibull', 'linear', 'median_unbiased', "
        "'normal_unbiased', 'lower', 'higher', 'midpoint', 'nearest'])"
    )


def _by(n, q, alpha, beta):
    return n * q + (alpha + q * (1 - alpha - beta)) - 1


def _of_type(q, number):
    # Python's numbers take the type of the elements.
    if isinstance(q, np.generic):
        return np.result_type(q).type(number)
    return number


def _share(place, before, q, n, method):
    # How far it lies from one element to the next.  Before the first and behind the last, whose number is then -1, the
    # step has no length, but it decides about the sign of zero.
    if method == "linear":
        return (n - 1) * q - before
    if method == "averaged_inverted_cdf":
        return _of_type(q, 0.5 if place == before else 1.0)
    if method == "midpoint":
        return _of_type(q, 0.0 if place == np.floor(place) else 0.5)
    return _of_type(q, place - before)


def quantile_of(x, q, method, dtype):
    # x is changed.
    n = len(x)
    if n == 0 or has_nan(x):
        return np.dtype(dtype).type(math.nan)
    place = float(_place(n, q, method))
    below = int(math.floor(min(max(place, 0.0), n - 1.0)))
    first = select(x, below)
    if x.dtype.kind == "b":
        return first
    lower = np.dtype(dtype).type(first)
    if _takes_elements(method, q):
        return lower
    # An element itself is a step, too, of no length: it makes 0.0 of -0.0, and nan of infinities.
    t = _share(place, -1 if place >= n - 1 else below, q, n, method)
    second = _least(x[below + 1 :]) if 0 <= place < n - 1 else first
    upper = np.dtype(dtype).type(second)
    step = np.dtype(dtype).type(second - first) if x.dtype.kind == "f" else upper - lower  # rounded as elements are
    if t >= 0.5:
        return np.dtype(dtype).type(upper - step * (1 - t))
    return np.dtype(dtype).type(lower + step * t)


def _is_weak(q):
    return isinstance(q, (int, float)) and not isinstance(q, np.generic)


def _is_integer(q):
    if _is_weak(q):
        return isinstance(q, int)
    return q.dtype.kind == "i" or q.dtype.kind == "u"


def _takes_elements(method, q):
    # Whether it gives elements as they are, without steps between them.
    if method == "linear":
        return _is_integer(q)
    return (method == "inverted_cdf" or method == "closest_observation" or method == "lower" or method == "higher"
            or method == "nearest")


def _quantile_type(a, q, method):
    if _takes_elements(method, q):
        return a.dtype
    if _is_weak(q):
        return float_type(a)
    if _is_integer(q):
        if method == "averaged_inverted_cdf" or method == "interpolated_inverted_cdf" or method == "weibull":
            return np.result_type(a, q)
        return np.result_type(a, q, np.float64)
    return np.result_type(a, q)


def _quantiles(a, q, axis, out, method, keepdims, weights, nan):
    # For each q: a Python number or an array, the array of the quantiles.
    if a.dtype.kind == "c":
        raise TypeError("a must be an array of real numbers")
    _check_shares(q, "Quantiles must be in the range [0, 1]")
    dtype = _quantile_type(a, q, method)
    lines = lines_of(a, axis)
    if weights is not None:
        return _weighted_quantiles(a, q, axis, out, method, keepdims, weights, nan)
    if not nan and lines.shape[-1] == 0:
        place = -1 if a.dtype.kind == "f" else 0
        raise IndexError(f"index {place} is out of bounds for axis 0 with size 0")
    if a.dtype.kind == "b" and a.size > 0 and not _takes_elements(method, q):
        raise TypeError("numpy boolean subtract, the `-` operator, is not supported, use the bitwise_xor, the `^` "
                        "operator, or the logical_xor function instead.")
    return _of_each(lambda share, values: _fill_quantiles(lines, share, method, nan, values), a, q, lines.shape[:-1],
                    dtype, axis, out, keepdims)


def _of_each(fill, a, q, shape, dtype, axis, out, keepdims):
    values = np.empty(shape, dtype)
    if _is_weak(q):
        fill(q, values)
        return finished(values, a, axis, out, keepdims)
    if q.ndim == 0:
        fill(q[()], values)
        return finished(values, a, axis, out, keepdims)
    if keepdims:
        many = np.empty(q.shape + kept_shape(a.shape, axis), dtype)
    else:
        many = np.empty(q.shape + shape, dtype)
    each = many.reshape((q.size,) + shape)
    for i in range(q.size):
        fill(q.flat[i], values)
        each[i, ...] = values
    if out is not None:
        out[...] = many
        return out
    return many


def _fill_quantiles(lines, q, method, nan, values):
    if lines.ndim == 1:
        values[()] = quantile_of(numbers_of(lines) if nan else np.array(lines), q, method, values.dtype)
    else:
        for i in range(lines.shape[0]):
            _fill_quantiles(lines[i], q, method, nan, values[i, ...])


def _check_shares(q, words):
    for item in np.asarray(q).flat:
        if not (item >= 0 and item <= 1):
            raise ValueError(words)


# ---- of weighted elements: the least one up to which the weights make up a share of all weights ----


def _weights_along(a, weights, axis):
    # A view of the shape of a.
    if weights.ndim == a.ndim:
        if weights.shape == a.shape:
            return np.broadcast_to(weights, a.shape)
    if axis is None:
        raise TypeError("Axis must be specified when shapes of a and weights differ.")
    axes = axes_of(axis, a.ndim)
    strides = a.shape
    for i in range(a.ndim):
        strides = with_item(strides, i, 0)
    if weights.ndim != len(axes):
        raise ValueError("Shape of weights must be consistent with shape of a along specified axis.")
    for i in range(weights.ndim):
        if weights.shape[i] != a.shape[axes[i]]:
            raise ValueError("Shape of weights must be consistent with shape of a along specified axis.")
        strides = with_item(strides, axes[i], weights.strides[i])
    return frozen(strided(weights, 0, a.shape, strides))


def _weighted_quantiles(a, q, axis, out, method, keepdims, weights, nan):
    if method != "inverted_cdf":
        raise ValueError(f"Only method 'inverted_cdf' supports weights. Got: {method}.")
    wide = _weights_along(a, np.asarray(weights), axis)
    for weight in np.asarray(weights).flat:
        if weight < 0:
            raise ValueError("Weights must be non-negative.")
    lines, shares = lines_of(a, axis), lines_of(wide, axis)
    if _is_weak(q) or np.ndim(q) == 0:
        values = np.empty(lines.shape[:-1], a.dtype)
        _fill_weighted(lines, shares, q if _is_weak(q) else q[()], nan, values)
        return values if out is None and not keepdims else finished(values, a, axis, out, keepdims)
    return _of_each(lambda share, values: _fill_weighted(lines, shares, share, nan, values), a, q, lines.shape[:-1],
                    a.dtype, axis, out, keepdims)


def _fill_weighted(lines, weights, q, nan, values):
    if lines.ndim == 1:
        if nan:
            number = lines == lines
            values[()] = weighted_quantile_of(lines[number], weights[number], q)
        else:
            values[()] = weighted_quantile_of(lines, weights, q)
    else:
        for i in range(lines.shape[0]):
            _fill_weighted(lines[i], weights[i], q, nan, values[i, ...])


def weighted_quantile_of(x, weights, q):
    order = np.argsort(x)
    n = len(order)
    if n == 0:
        return x.dtype.type(math.nan)
    if x[order[n - 1]] != x[order[n - 1]]:
        return x[order[n - 1]]
    shares = np.cumsum(weights[order], dtype=np.float64)
    total = shares[n - 1]
    if not (0 < total < math.inf):
        raise ValueError("Weights included NaN, inf or were all zero.")
    for i in range(n):
        # Of the type of the share that is asked for, which is reached by no elements without weight.
        share = _of_type(q, shares[i] / total) if isinstance(q, np.floating) else shares[i] / total
        if share >= q and shares[i] > 0:
            return x[order[i]]
    return x[order[n - 1]]


def _exact(q):
    # q as NumPy computes with it.
    return q if _is_weak(q) else np.asarray(q)


def _of_hundred(q):
    # As a share of one.
    if _is_weak(q):
        share = q / 100
    else:
        share = np.asarray(np.true_divide(np.asarray(q), 100))
    _check_shares(share, "Percentiles must be in the range [0, 100]")
    return share


def quantile(a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False, weights=None):
    a = np.asarray(a)
    return _quantiles(a, _exact(q), axis, out, method, keepdims, weights, False)


def percentile(a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False, weights=None):
    a = np.asarray(a)
    return _quantiles(a, _of_hundred(q), axis, out, method, keepdims, weights, False)


def nanquantile(a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False, weights=None):
    a = np.asarray(a)
    return _quantiles(a, _exact(q), axis, out, method, keepdims, weights, True)


def nanpercentile(a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False, weights=None):
    a = np.asarray(a)
    return _quantiles(a, _of_hundred(q), axis, out, method, keepdims, weights, True)
