"""Polynomials as arrays of coefficients: NumPy's poly functions, the highest power first, and those of
numpy.polynomial.polynomial (series_...), the lowest first."""

import numpy as np


def _floats(a):
    # As a + 0.0.
    return np.atleast_1d(a) + 0.0


def _trimmed(p):
    # As poly1d keeps them: without leading zeros, but not without any.
    first = 0
    while first < len(p) - 1 and p[first] == 0:
        first += 1
    return p[first:]


def polyval(p, x):
    p = np.asarray(p)
    x = np.asarray(x)  # a Python number has a type of its own
    dtype = np.result_type(p, x)
    if x.ndim == 0:
        value = dtype.type(0)
        for coefficient in p:
            value = value * x[()] + coefficient
        return value
    values = np.zeros(x.shape, dtype)
    for coefficient in p:
        values *= x
        values += coefficient
    return values


def _sum(a, b, sign):
    # Aligned at the last coefficient.
    n = max(len(a), len(b))
    new = np.zeros(n, np.result_type(a, b))
    new[n - len(a) :] = a
    if sign > 0:
        new[n - len(b) :] += b
    else:
        new[n - len(b) :] -= b
    return new


def polyadd(a1, a2):
    return _sum(np.atleast_1d(a1), np.atleast_1d(a2), 1)


def polysub(a1, a2):
    return _sum(np.atleast_1d(a1), np.atleast_1d(a2), -1)


def polymul(a1, a2):
    return np.convolve(_trimmed(np.atleast_1d(a1)), _trimmed(np.atleast_1d(a2)))


def polydiv(u, v):
    u = _floats(u)
    v = _floats(v)
    m = len(u) - 1
    n = len(v) - 1
    quotient = np.zeros(max(m - n + 1, 1), np.result_type(u, v))
    left = u.astype(quotient.dtype)
    scale = 1.0 / v[0]
    for k in range(m - n + 1):
        factor = scale * left[k]
        quotient[k] = factor
        left[k : k + n + 1] -= factor * v
    first = 0
    while first < len(left) - 1 and np.abs(left[first]) <= 1e-8:
        first += 1
    return quotient, left[first:]


def polyder(p, m=1):
    if m < 0:
        raise ValueError("Order of derivative must be positive (see polyint)")
    p = np.asarray(p)
    if p.ndim == 0:
        raise TypeError("len() of unsized object")
    new = p.astype(np.result_type(p, np.int64))
    for _ in range(m):
        n = len(new) - 1
        for i in range(n):
            new[i] = new[i] * (n - i)
        new = new[: max(n, 0)]
    return new


def polyint(p, m=1, k=None):
    if m < 0:
        raise ValueError("Order of integral must be positive (see polyder)")
    p = np.asarray(p)
    if p.ndim == 0:
        raise TypeError("len() of unsized object")
    new = np.zeros(len(p) + m, np.result_type(p, np.float64))
    new[: len(p)] = p
    n = len(p)
    for turn in range(m):
        for i in range(n):
            new[i] = new[i] / (n - i)
        if k is not None:
            constants = np.atleast_1d(k)
            if len(constants) != 1 and len(constants) < m:
                raise ValueError("k must be a scalar or a rank-1 array of length 1 or >m.")
            new[n] = constants[0 if len(constants) == 1 else turn]
        n += 1
    return new


def poly(seq_of_zeros):
    zeros = np.atleast_1d(seq_of_zeros)
    if zeros.ndim == 2:
        if zeros.shape[0] != zeros.shape[1] or zeros.shape[0] == 0:
            raise ValueError("input must be 1d or non-empty square 2d array.")
        new = _with_zeros(np.linalg.eigvals(zeros))
        return new if zeros.dtype.kind == "c" else new.real.copy()  # those of real numbers come in conjugate pairs
    if zeros.ndim != 1:
        raise ValueError("input must be 1d or non-empty square 2d array.")
    return _with_zeros(zeros)


def _with_zeros(zeros):
    if zeros.dtype.kind != "f" and zeros.dtype.kind != "c":
        return _with_zeros(zeros.astype(np.float64))
    new = np.ones(1, zeros.dtype)
    factor = np.ones(2, new.dtype)
    for zero in zeros:
        factor[1] = -zero
        new = np.convolve(new, factor)
    return new


def roots(p):
    # Complex always: whether real numbers would do is known only once they are there.
    p = np.atleast_1d(p)
    if p.ndim != 1:
        raise ValueError("Input must be a rank-1 array.")
    first = 0
    last = len(p)
    while first < last and p[first] == 0:
        first += 1
    while last > first and p[last - 1] == 0:
        last -= 1
    n = max(last - first, 1)
    zeros = len(p) - last if last > first else 0
    found = np.zeros(n - 1 + zeros, np.result_type(p, np.complex64 if p.dtype == np.float32 else np.complex128))
    if n > 1:
        companion = np.zeros((n - 1, n - 1), np.result_type(p, np.float64) if p.dtype.kind != "f" else p.dtype)
        for i in range(n - 2):
            companion[i + 1, i] = 1
        for i in range(n - 1):
            companion[0, i] = -p[first + 1 + i] / p[first]
        found[: n - 1] = np.linalg.eigvals(companion)
    return found


def _check_points(x, y, deg):
    if deg < 0:
        raise ValueError("expected deg >= 0")
    if x.ndim != 1:
        raise TypeError("expected 1D vector for x")
    if x.size == 0:
        raise TypeError("expected non-empty vector for x")
    if y.ndim != 1 and y.ndim != 2:
        raise TypeError("expected 1D or 2D array for y")
    if x.shape[0] != y.shape[0]:
        raise TypeError("expected x and y to have same length")


def polyfit(x, y, deg, rcond=None, full=False, w=None, cov=False):
    x = np.asarray(x) + 0.0
    y = np.asarray(y) + 0.0
    _check_points(x, y, deg)
    powers = np.vander(x, deg + 1)
    if w is not None:
        weights = np.asarray(w) + 0.0
        if weights.ndim != 1:
            raise TypeError("expected a 1-d array for weights")
        if weights.shape[0] != y.shape[0]:
            raise TypeError("expected w and y to have the same length")
        powers = powers * weights[:, None]
        y = y * weights[:, None] if y.ndim == 2 else y * weights
    scale = np.sqrt((powers * powers).sum(axis=0))
    cutoff = len(x) * np.finfo(x.dtype).eps if rcond is None else rcond
    solution, residuals, rank, s = np.linalg.lstsq(powers / scale, y, cutoff)
    c = solution / scale[:, None] if y.ndim == 2 else solution / scale
    if full:
        return c, residuals, rank, s, cutoff
    if cov is not False:
        base = np.linalg.inv(np.dot((powers / scale).T, powers / scale)) / np.outer(scale, scale)
        return c, _covariance(base, residuals, x.size - deg - 1, cov, y)
    return c


def series_fit(x, y, deg, rcond=None, full=False, w=None):
    x = np.asarray(x) + 0.0
    y = np.asarray(y) + 0.0
    _check_points(x, y, deg)
    powers = np.vander(x, deg + 1, increasing=True)
    if w is not None:
        weights = np.asarray(w) + 0.0
        if weights.ndim != 1:
            raise TypeError("expected 1D vector for w")
        if weights.shape[0] != x.shape[0]:
            raise TypeError("expected x and w to have same length")
        powers = powers * weights[:, None]
        y = y * weights[:, None] if y.ndim == 2 else y * weights
    scale = np.sqrt((powers * np.conjugate(powers)).real.sum(axis=0))
    scale[scale == 0] = 1
    cutoff = len(x) * np.finfo(x.dtype).eps if rcond is None else rcond
    solution, residuals, rank, s = np.linalg.lstsq(powers / scale, y, cutoff)
    c = solution / scale[:, None] if y.ndim == 2 else solution / scale
    if full:
        raise ValueError("numpy.polynomial.polynomial.polyfit with full=True gives a list of several types")
    return c


def _covariance(base, residuals, freedom, cov, y):
    factor = np.ones(1, base.dtype)
    if cov == "unscaled":
        pass
    elif freedom <= 0:
        raise ValueError("the number of data points must exceed order to scale the covariance matrix")
    else:
        factor = residuals / freedom
    if y.ndim == 1:
        return base * factor
    return base[:, :, None] * factor


# ---- numpy.polynomial.polynomial ----


def trimseq(seq):
    last = len(seq)
    while last > 1 and seq[last - 1] == 0:
        last -= 1
    return seq[:last]


def as_series(alist, trim=True):
    dtype = _float_of(alist)
    series = []
    _add_series(series, alist, trim, dtype)
    return series


def _float_of(alist):
    if isinstance(alist, list):
        return np.result_type(np.asarray(alist[0]), np.float64) if _is_whole(alist[0]) else np.asarray(alist[0]).dtype
    first = np.asarray(alist[0])
    dtype = np.result_type(first, np.float64) if _is_whole(alist[0]) else first.dtype
    return dtype if len(alist) == 1 else np.result_type(dtype, _float_of(alist[1:]))


def _is_whole(a):
    kind = np.asarray(a).dtype.kind
    return kind == "b" or kind == "i" or kind == "u"


def _add_series(series, alist, trim, dtype):
    if isinstance(alist, list):
        for a in alist:
            series.append(_one_series(a, trim, dtype))
    elif len(alist) > 0:
        series.append(_one_series(alist[0], trim, dtype))
        _add_series(series, alist[1:], trim, dtype)


def _one_series(a, trim, dtype):
    a = np.atleast_1d(np.asarray(a))
    if a.size == 0:
        raise ValueError("Coefficient array is empty")
    if a.ndim != 1:
        raise ValueError("Coefficient array is not 1-d")
    copy = a.astype(dtype)
    return trimseq(copy) if trim else copy


def _series(c):
    c = np.atleast_1d(c)
    if c.size == 0:
        raise ValueError("Coefficient array is empty")
    return c + 0.0


def series_val(x, c, tensor=True):
    c = _series(c)
    if np.ndim(x) == 0:
        value = c[len(c) - 1] + x * 0
        for i in range(len(c) - 2, -1, -1):
            value = c[i] + value * x
        return value
    x = np.asarray(x)
    values = np.zeros(x.shape, np.result_type(c, x))
    values += c[len(c) - 1]
    for i in range(len(c) - 2, -1, -1):
        values *= x
        values += c[i]
    return values


def _series_sum(a, b, sign):
    n = max(len(a), len(b))
    new = np.zeros(n, np.result_type(a, b))
    new[: len(a)] = a
    if sign > 0:
        new[: len(b)] += b
    else:
        new[: len(b)] -= b
    return trimseq(new)


def series_add(c1, c2):
    return _series_sum(trimseq(_series(c1)), trimseq(_series(c2)), 1)


def series_sub(c1, c2):
    return _series_sum(trimseq(_series(c1)), trimseq(_series(c2)), -1)


def series_mul(c1, c2):
    return trimseq(np.convolve(trimseq(_series(c1)), trimseq(_series(c2))))


def series_div(c1, c2):
    a = trimseq(_series(c1))
    b = trimseq(_series(c2))
    if b[len(b) - 1] == 0:
        raise ZeroDivisionError()
    dtype = np.result_type(a, b)
    n = len(b)
    if len(a) < n:
        return np.zeros(1, dtype), a.astype(dtype)
    if n == 1:
        return a / b[0], np.zeros(1, dtype)
    left = a.astype(dtype)
    scale = b[n - 1]
    divisor = b[: n - 1] / scale
    steps = len(a) - n
    for i in range(steps, -1, -1):
        left[i : i + n - 1] -= divisor * left[i + n - 1]
    return left[n - 1 :] / scale, trimseq(left[: n - 1])


def _in_front(c, axis):
    # Floats, of which each along the axis is a coefficient; a copy.
    return np.array(np.moveaxis(np.atleast_1d(c), axis, 0) + 0.0, order="C")


def series_der(c, m=1, scl=1, axis=0):
    if m < 0:
        raise ValueError("The order of derivation must be non-negative")
    new = _in_front(c, axis)
    if m > 0 and m >= len(new):
        new = new[:1] * 0
        m = 0
    for _ in range(m):
        n = len(new) - 1
        for i in range(n):
            new[i, ...] = (i + 1) * (new[i + 1, ...] * scl)
        new = new[:n]
    return np.moveaxis(new, 0, axis)


def series_int(c, m=1, k=None, lbnd=0, scl=1, axis=0):
    if m < 0:
        raise ValueError("The order of integration must be non-negative")
    if np.ndim(lbnd) != 0:
        raise ValueError("lbnd must be a scalar.")
    if np.ndim(scl) != 0:
        raise ValueError("scl must be a scalar.")
    constants = np.zeros(m)
    if k is not None:
        given = np.atleast_1d(k)
        if len(given) > m:
            raise ValueError("Too many integration constants")
        constants[: len(given)] = given
    new = _in_front(c, axis)
    for turn in range(m):
        n = len(new)
        new *= scl
        if n == 1 and np.all(new[0, ...] == 0):
            new[0, ...] += constants[turn]
        else:
            higher = np.zeros((n + 1,) + new.shape[1:], new.dtype)
            for i in range(n):
                higher[i + 1, ...] = new[i, ...] / (i + 1)
            value = higher[n, ...] + lbnd * 0
            for i in range(n - 1, -1, -1):
                value = higher[i, ...] + value * lbnd
            higher[0, ...] += constants[turn] - value
            new = higher
    return np.moveaxis(new, 0, axis)
