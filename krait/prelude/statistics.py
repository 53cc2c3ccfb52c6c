"""NumPy's statistics of order and of several variables: medians, weighted means, covariances; variances
and medians of what is a number."""

import math

import numpy as np

from krait.prelude.axes import fill_lines, finished, lines_of, over_axes
from krait.prelude.intrinsics import with_item
from krait.prelude.number_reductions import numbers_where
from krait.prelude.extreme_places import check_places
from krait.prelude.reductions import freedom, squared


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


def has_nan(x):
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
    if has_nan(x):
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


# ---- what is no number is left out ----


def nanvar_of(x, ddof):
    numbers = numbers_of(x)
    if len(numbers) - ddof <= 0:
        return np.result_type(numbers.real).type(math.nan)
    return np.var(numbers, ddof=ddof)


def nanvar(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, where=None, mean=None, correction=None):
    a = np.asarray(a)
    if a.dtype.kind != "f" and a.dtype.kind != "c":
        return np.var(a, axis, dtype, out, ddof, keepdims, where=where, mean=mean, correction=correction)
    if correction is not None:
        return nanvar(a, axis, dtype, out, freedom(ddof, correction), keepdims, where, mean)
    if where is not None:
        return nanvar(numbers_where(a, where), axis, dtype, out, ddof, keepdims, None, mean)
    if mean is not None:
        return finished(_nanvar_from(a, mean, axis, dtype, ddof), a, axis, out, keepdims)
    exact = a.astype(float_type(a) if dtype is None else dtype, copy=False)
    lines = lines_of(exact, axis)
    values = np.empty(lines.shape[:-1], exact.real.dtype)
    fill_lines(lambda x: nanvar_of(x, ddof), lines, values)
    return finished(values, a, axis, out, keepdims)


def _nanvar_from(a, mean, axis, dtype, ddof):
    squares = np.asarray(squared(np.subtract(a, mean)))
    exact = squares.astype(squares.dtype if dtype is None else dtype, copy=False)
    lines = lines_of(exact, axis)
    values = np.empty(lines.shape[:-1], exact.dtype)
    fill_lines(lambda x: _mean_less(numbers_of(x), ddof), lines, values)
    return values


def _mean_less(x, ddof):
    if len(x) - ddof <= 0:
        return np.result_type(x).type(math.nan)
    return np.result_type(x).type(np.sum(x) / (len(x) - ddof))


def nanstd(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, where=None, mean=None, correction=None):
    a = np.asarray(a)
    variance = nanvar(a, axis, dtype, None, ddof, keepdims, where, mean, correction)
    return over_axes(np.sqrt(variance), a, axis, out, False)


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
    check_places(a, axis, out, keepdims, "argmin")
    lines = lines_of(a, axis)
    places = np.empty(lines.shape[:-1], np.int64)
    fill_lines(lambda x: _place_of(x, True), lines, places)
    return finished(places, a, axis, out, keepdims)


def nanargmax(a, axis=None, out=None, keepdims=False):
    a = np.asarray(a)
    check_places(a, axis, out, keepdims, "argmax")
    lines = lines_of(a, axis)
    places = np.empty(lines.shape[:-1], np.int64)
    fill_lines(lambda x: _place_of(x, False), lines, places)
    return finished(places, a, axis, out, keepdims)


# ---- weighted means, covariances ----


def average(a, axis=None, weights=None, returned=False, keepdims=False):
    a = np.asarray(a)
    if weights is None:
        mean = np.mean(a, axis, None, None, keepdims)
        if np.size(mean) == 0:
            raise ZeroDivisionError("division by zero")
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


def _joint_type(m, y, dtype):
    if dtype is not None:
        return np.dtype(dtype)
    if y is None:
        return np.result_type(m, np.float64)
    return np.result_type(m, y, np.float64)


def cov(m, y=None, rowvar=True, bias=False, ddof=None, fweights=None, aweights=None, dtype=None):
    m = np.asarray(m)
    if y is not None:
        y = np.asarray(y)
        exact = _joint_type(m, y, dtype)
        x = np.concatenate((_variables(m, rowvar, exact), _variables(y, rowvar, exact)), 0)
        return _covariance(x, bias, ddof, fweights, aweights)
    c = _covariance(_variables(m, rowvar, _joint_type(m, None, dtype)), bias, ddof, fweights, aweights)
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
        return _products(x, None, float(n), float(n - less))
    w = _weights(n, fweights, aweights)
    total = w.sum()
    if less == 0:
        return _products(x, w, total, total)
    if aweights is None:
        return _products(x, w, total, total - less)
    return _products(x, w, total, total - less * np.sum(w * np.asarray(aweights)) / total)


def _products(x, w, total, divisor):
    for i in range(x.shape[0]):
        x[i] -= np.mean(x[i]) if w is None else x.dtype.type(np.sum(x[i] * w) / total)
    if w is None:
        c = np.dot(x, np.conjugate(x).T)
    else:
        c = np.dot(x, np.conjugate(x * w).T)
    c *= np.true_divide(1, max(divisor, 0.0))
    return c


def corrcoef(x, y=None, rowvar=True, dtype=None):
    c = cov(x, y, rowvar, False, None, None, None, dtype)
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
