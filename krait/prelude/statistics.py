"""NumPy's statistics of order and of several variables: medians, quantiles, weighted means, covariances; variances,
medians and quantiles of what is a number."""

import math

import numpy as np

from krait.prelude.axes import fill_lines, finished, kept_shape, lines_of
from krait.prelude.intrinsics import with_item


def float_type(a):
    if a.dtype.kind == "f" or a.dtype.kind == "c":
        return a.dtype
    return np.dtype(np.float64)


# ---- selection ----


def select(x, k):
    # The element that would stand at place k were x sorted; x is changed: no lower one is behind it, no higher one
    # before it (Hoare's FIND, of a median of three).
    low = 0
    high = len(x) - 1
    while low < high:
        middle = (low + high) // 2
        if x[middle] < x[low]:
            x[middle], x[low] = x[low], x[middle]
        if x[high] < x[low]:
            x[high], x[low] = x[low], x[high]
        if x[high] < x[middle]:
            x[high], x[middle] = x[middle], x[high]
        pivot = x[middle]
        i = low
        j = high
        while i <= j:
            while x[i] < pivot:
                i += 1
            while pivot < x[j]:
                j -= 1
            if i <= j:
                x[i], x[j] = x[j], x[i]
                i += 1
                j -= 1
        if k <= j:
            high = j
        elif k >= i:
            low = i
        else:
            return x[k]
    return x[k]


def _least(x):
    least = x[0]
    for item in x:
        if item < least:
            least = item
    return least


def _has_nan(x):
    if x.dtype.kind == "f" or x.dtype.kind == "c":
        for item in x:
            if item != item:
                return True
    return False


def numbers_of(x):
    # A copy of what is a number.
    new = np.empty(len(x), x.dtype)
    count = 0
    for item in x:
        if item == item:
            new[count] = item
            count += 1
    return new[:count]


def median_of(x, dtype):
    # x is changed.
    n = len(x)
    if n == 0:
        return np.dtype(dtype).type(math.nan) * np.dtype(dtype).type(1)  # both parts of a complex number
    if _has_nan(x):
        return np.dtype(dtype).type(math.nan)
    if n % 2 == 1:
        return np.dtype(dtype).type(select(x, n // 2)) + 0  # the mean of one number, which is not -0.0
    upper = np.dtype(dtype).type(select(x, n // 2))
    lower = x[0]
    for i in range(1, n // 2):
        if lower < x[i]:
            lower = x[i]
    return np.mean(np.array((np.dtype(dtype).type(lower), upper)))


def median(a, axis=None, out=None, overwrite_input=False, keepdims=False):
    a = np.asarray(a)
    lines = lines_of(a, axis)
    values = np.empty(lines.shape[:-1], float_type(a))
    fill_lines(lambda x: median_of(np.array(x), values.dtype), lines, values)
    return finished(values, a, axis, out, keepdims)


def nanmedian(a, axis=None, out=None, overwrite_input=False, keepdims=False):
    a = np.asarray(a)
    lines = lines_of(a, axis)
    values = np.empty(lines.shape[:-1], float_type(a))
    fill_lines(lambda x: median_of(numbers_of(x), values.dtype), lines, values)
    return finished(values, a, axis, out, keepdims)


# ---- quantiles (Hyndman and Fan, Sample quantiles in statistical packages, 1996) ----


_WITHOUT_STEPS = ("inverted_cdf", "closest_observation", "lower", "higher", "nearest")


def _place(n, q, method):
    # Between which places of the sorted elements it lies: a number from 0 to n - 1 once it is limited.
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
        place = n * q - 1
        return place + 0.5 if place == np.floor(place) else np.ceil(place)
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


def quantile_of(x, q, method, dtype):
    # x is changed.
    n = len(x)
    if n == 0 or _has_nan(x):
        return np.dtype(dtype).type(math.nan)
    place = min(max(float(_place(n, q, method)), 0.0), n - 1.0)
    below = int(math.floor(place))
    t = _of_type(q, place - below) if method != "linear" else (n - 1) * q - below
    lower = np.dtype(dtype).type(select(x, below))
    if below == n - 1 or place == below:
        return lower
    upper = np.dtype(dtype).type(_least(x[below + 1 :]))
    step = upper - lower
    if t >= 0.5:
        return np.dtype(dtype).type(upper - step * (1 - t))
    return np.dtype(dtype).type(lower + step * t)


def _quantiles(a, q, axis, out, method, keepdims, nan):
    # For each q, which are exact: a Python float or an array, the array of the quantiles.
    _check_shares(q, "Quantiles must be in the range [0, 1]")
    lines = lines_of(a, axis)
    if not nan and lines.shape[-1] == 0:
        place = -1 if a.dtype.kind == "f" else 0
        raise IndexError(f"index {place} is out of bounds for axis 0 with size 0")
    if a.dtype.kind == "b" and a.size > 0 and method not in _WITHOUT_STEPS:
        raise TypeError("numpy boolean subtract, the `-` operator, is not supported, use the bitwise_xor, the `^` "
                        "operator, or the logical_xor function instead.")
    if isinstance(q, float):
        values = np.empty(lines.shape[:-1], float_type(a))
        _fill_quantiles(lines, q, method, nan, values)
        return finished(values, a, axis, out, keepdims)
    return _many_quantiles(a, lines, q, axis, out, method, keepdims, nan)


def _many_quantiles(a, lines, q, axis, out, method, keepdims, nan):
    dtype = np.result_type(float_type(a), q)
    values = np.empty(lines.shape[:-1], dtype)
    if q.ndim == 0:
        _fill_quantiles(lines, q[()], method, nan, values)
        return finished(values, a, axis, out, keepdims)
    if keepdims:
        many = np.empty(q.shape + kept_shape(a.shape, axis), dtype)
    else:
        many = np.empty(q.shape + values.shape, dtype)
    each = many.reshape((q.size,) + values.shape)
    for i in range(q.size):
        _fill_quantiles(lines, q.flat[i], method, nan, values)
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


def _is_weak(q):
    return isinstance(q, (int, float)) and not isinstance(q, np.generic)


def _exact(q):
    # q as NumPy computes with it.
    if _is_weak(q):
        return float(q)
    if np.ndim(q) == 0 and isinstance(q, np.floating):
        return np.asarray(q)
    return np.asarray(q).astype(np.float64, copy=False)


def _of_hundred(q):
    # As a share of one.
    if _is_weak(q):
        share = q / 100
    else:
        share = np.asarray(np.true_divide(np.asarray(q), 100))
    _check_shares(share, "Percentiles must be in the range [0, 100]")
    return share


def quantile(a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False):
    a = np.asarray(a)
    return _quantiles(a, _exact(q), axis, out, method, keepdims, False)


def percentile(a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False):
    a = np.asarray(a)
    return _quantiles(a, _of_hundred(q), axis, out, method, keepdims, False)


def nanquantile(a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False):
    a = np.asarray(a)
    return _quantiles(a, _exact(q), axis, out, method, keepdims, True)


def nanpercentile(a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False):
    a = np.asarray(a)
    return _quantiles(a, _of_hundred(q), axis, out, method, keepdims, True)


# ---- what is no number is left out ----


def nanvar_of(x, ddof):
    numbers = numbers_of(x)
    if len(numbers) - ddof <= 0:
        return np.result_type(numbers.real).type(math.nan)
    return np.var(numbers, ddof=ddof)


def nanvar(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False):
    a = np.asarray(a)
    if a.dtype.kind != "f" and a.dtype.kind != "c":
        return np.var(a, axis, dtype, out, ddof, keepdims)
    exact = a.astype(float_type(a) if dtype is None else dtype, copy=False)
    lines = lines_of(exact, axis)
    values = np.empty(lines.shape[:-1], exact.real.dtype)
    fill_lines(lambda x: nanvar_of(x, ddof), lines, values)
    return finished(values, a, axis, out, keepdims)


def nanstd(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False):
    a = np.asarray(a)
    if a.dtype.kind != "f" and a.dtype.kind != "c":
        return np.std(a, axis, dtype, out, ddof, keepdims)
    exact = a.astype(float_type(a) if dtype is None else dtype, copy=False)
    lines = lines_of(exact, axis)
    values = np.empty(lines.shape[:-1], exact.real.dtype)
    fill_lines(lambda x: np.sqrt(nanvar_of(x, ddof)), lines, values)
    return finished(values, a, axis, out, keepdims)


def _numbers_or(a, value):
    new = np.array(a)
    if a.dtype.kind == "f" or a.dtype.kind == "c":
        for i in range(new.size):
            if new.flat[i] != new.flat[i]:
                new.flat[i] = value
    return new


def nancumsum(a, axis=None, dtype=None, out=None):
    return np.cumsum(_numbers_or(np.asarray(a), 0), axis, dtype, out)


def nancumprod(a, axis=None, dtype=None, out=None):
    return np.cumprod(_numbers_or(np.asarray(a), 1), axis, dtype, out)


def _place_of(x, least):
    place = -1
    for i in range(len(x)):
        if x[i] == x[i] and (place < 0 or (x[i] < x[place] if least else x[i] > x[place])):
            place = i
    if place < 0:
        if len(x) == 0:
            raise ValueError(f"attempt to get {'argmin' if least else 'argmax'} of an empty sequence")
        raise ValueError("All-NaN slice encountered")
    return place


def nanargmin(a, axis=None, out=None, keepdims=False):
    a = np.asarray(a)
    lines = lines_of(a, axis)
    places = np.empty(lines.shape[:-1], np.int64)
    fill_lines(lambda x: _place_of(x, True), lines, places)
    return finished(places, a, axis, out, keepdims)


def nanargmax(a, axis=None, out=None, keepdims=False):
    a = np.asarray(a)
    lines = lines_of(a, axis)
    places = np.empty(lines.shape[:-1], np.int64)
    fill_lines(lambda x: _place_of(x, False), lines, places)
    return finished(places, a, axis, out, keepdims)


# ---- weighted means, covariances ----


def average(a, axis=None, weights=None, returned=False, keepdims=False):
    a = np.asarray(a)
    if weights is None:
        mean = np.mean(a, axis, None, None, keepdims)
        if returned:
            return mean, np.multiply(np.ones_like(mean), np.result_type(mean).type(a.size / np.size(mean)))
        return mean
    weights = np.asarray(weights)
    dtype = np.result_type(a, weights)
    if a.dtype.kind != "f" and a.dtype.kind != "c":
        return _average(a, _aligned(a, weights, axis), axis, np.result_type(dtype, np.float64), returned, keepdims)
    return _average(a, _aligned(a, weights, axis), axis, dtype, returned, keepdims)


def _aligned(a, weights, axis):
    # The weights along the axis, which they are for.
    if weights.ndim == a.ndim:
        if weights.shape != a.shape:
            raise TypeError("Axis must be specified when shapes of a and weights differ.")
        return weights
    if axis is None:
        raise TypeError("Axis must be specified when shapes of a and weights differ.")
    if weights.shape[0] != a.shape[axis]:
        raise ValueError("Shape of weights must be consistent with shape of a along specified axis.")
    shape = a.shape
    for i in range(a.ndim):
        shape = with_item(shape, i, 1)
    return np.broadcast_to(weights.reshape(with_item(shape, axis % a.ndim, len(weights))), a.shape)


def _average(a, weights, axis, dtype, returned, keepdims):
    scale = np.sum(weights, axis, dtype, None, keepdims)
    if np.any(np.equal(scale, 0)):
        raise ZeroDivisionError("Weights sum to zero, can't be normalized")
    products = np.multiply(a.astype(dtype, copy=False), weights.astype(dtype, copy=False))
    mean = np.true_divide(np.sum(products, axis, None, None, keepdims), scale)
    if returned:
        return mean, scale
    return mean


def _variables(m, rowvar, dtype):
    # A row for each variable.
    if m.ndim == 1:
        return m.astype(dtype)[None, :]
    if m.ndim != 2:
        raise ValueError("m has more than 2 dimensions")
    return m.astype(dtype) if rowvar else np.copy(m.T, "C").astype(dtype)


def cov(m, y=None, rowvar=True, bias=False, ddof=None, fweights=None, aweights=None):
    m = np.asarray(m)
    if y is not None:
        y = np.asarray(y)
        dtype = np.result_type(m, y, np.float64)
        x = np.concatenate((_variables(m, rowvar, dtype), _variables(y, rowvar, dtype)), 0)
        return _covariance(x, bias, ddof, fweights, aweights)
    c = _covariance(_variables(m, rowvar, np.result_type(m, np.float64)), bias, ddof, fweights, aweights)
    if m.ndim == 1:
        return c.reshape(())
    return c


def _weights(n, fweights, aweights):
    w = np.ones(n)
    if fweights is not None:
        w *= _checked(fweights, n, "fweights")
    if aweights is not None:
        w *= _checked(aweights, n, "aweights")
    return w


def _checked(weights, n, name):
    weights = np.asarray(weights).astype(np.float64)
    if weights.ndim > 1:
        raise RuntimeError(f"cannot handle multidimensional {name}")
    if len(weights) != n:
        raise RuntimeError(f"incompatible numbers of samples and {name}")
    for item in weights:
        if item < 0:
            raise ValueError(f"{name} cannot be negative")
    return weights


def _covariance(x, bias, ddof, fweights, aweights):
    less = (0 if bias else 1) if ddof is None else ddof
    n = x.shape[1]
    if fweights is None and aweights is None:
        return _products(x, np.ones(0), float(n), float(n - less))
    w = _weights(n, fweights, aweights)
    total = w.sum()
    if less == 0:
        return _products(x, w, total, total)
    if aweights is None:
        return _products(x, w, total, total - less)
    return _products(x, w, total, total - less * np.sum(w * np.asarray(aweights)) / total)


def _products(x, w, total, divisor):
    weighted = len(w) > 0
    for i in range(x.shape[0]):
        mean = x.dtype.type(np.sum(x[i] * w) / total) if weighted else np.mean(x[i])
        x[i] -= mean
    y = np.conjugate(x * w) if weighted else np.conjugate(x)
    c = np.dot(x, y.T)
    c *= np.true_divide(1, max(divisor, 0.0))
    return c


def corrcoef(x, y=None, rowvar=True):
    c = cov(x, y, rowvar)
    if c.ndim == 0:
        return c / c
    deviations = np.sqrt(np.diag(c).real)
    c /= deviations[:, None]
    c /= deviations[None, :]
    _limit(c.real)
    if c.dtype.kind == "c":
        _limit(c.imag)
    return c


def _limit(c):
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            c[i, j] = min(max(c[i, j], -1), 1) if c[i, j] == c[i, j] else c[i, j]
