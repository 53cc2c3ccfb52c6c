"""NumPy's functions of each element that are no ufuncs: rounding, limits, parts of complex numbers, tests, sinc, i0."""

import math

import numpy as np

from krait.prelude.intrinsics import frozen, select


def each(f, a, out):
    # out[...] = f(a[...]), element by element
    if a.ndim == 0:
        out[()] = f(a[()])
    elif a.ndim == 1:
        for i in range(len(a)):
            out[i] = f(a[i])
    else:
        for i in range(a.shape[0]):
            each(f, a[i], out[i, ...])


def stored(x, out):
    if out is None:
        return x
    out[...] = x
    return out


def in_dtype(x, dtype):
    # Of an array or a number.
    return np.dtype(dtype).type(x) if np.ndim(x) == 0 else x.astype(dtype)


# ---- rounding, limits ----


def round_(a, decimals=0, out=None):
    if np.ndim(a) == 0 and out is None:
        return rounded(as_numpy(a), decimals, None)
    return rounded(np.asarray(a), decimals, out)


def rounded(a, decimals, out):
    if a.dtype.kind == "i" or a.dtype.kind == "u":
        if decimals >= 0:
            return stored(np.positive(a), out)
        power = 10.0**-decimals
        return stored(in_dtype(np.multiply(np.rint(np.true_divide(a, power)), power), a.dtype), out)
    if decimals == 0:
        return stored(np.rint(a), out)
    return stored(rounded_to(a, decimals), out)


def rounded_to(a, decimals):
    if a.dtype.kind == "b":
        raise TypeError(
            "Cannot cast ufunc 'multiply' output from dtype('float64') to dtype('bool') with casting rule 'same_kind'"
        )
    power = 10.0 ** abs(decimals)
    if decimals > 0:
        return np.true_divide(np.rint(np.multiply(a, power)), power)
    return np.multiply(np.rint(np.true_divide(a, power)), power)


def fix(x, out=None):
    return stored(np.trunc(x), out)


def clip(a, a_min=None, a_max=None, out=None, min=None, max=None):
    if a_min is None and a_max is None:
        return limited(as_numpy(a), min, max, out)
    return limited(as_numpy(a), a_min, a_max, out)


def as_numpy(a):
    # A Python number is an array's element.
    if np.ndim(a) == 0:
        return np.result_type(a).type(a)
    return a


def limited(a, low, high, out):
    if low is None and high is None:
        return stored(np.positive(a), out)
    if high is None:
        return stored(np.maximum(a, least_of(low, np.result_type(a))), out)
    if low is None:
        return stored(np.minimum(a, most_of(high, np.result_type(a))), out)
    return stored(between(a, least_of(low, np.result_type(a)), most_of(high, np.result_type(a))), out)


def least_of(low, dtype):
    # A Python int below all of an integer type limits nothing.
    if isinstance(low, int) and not isinstance(low, bool):
        if dtype.kind == "i":
            return max(low, int(np.iinfo(dtype).min))
        if dtype.kind == "u":
            return max(low, 0)
    return low


def most_of(high, dtype):
    if isinstance(high, int) and not isinstance(high, bool):
        if dtype.kind == "i" or (dtype.kind == "u" and dtype.itemsize < 8):
            return min(high, int(np.iinfo(dtype).max))
    return high


def typed(a, dtype):
    if np.ndim(a) == 0:
        return dtype.type(a)
    return np.positive(a, dtype=dtype)


def between(a, low, high):
    # As the ufunc clip: in one type, and which of two zeros it gives depends on what the limits are.
    dtype = np.result_type(a, low, high)
    if dtype.kind == "f":
        if np.ndim(low) == 0 and np.ndim(high) == 0:
            return between_numbers(typed(a, dtype), dtype.type(low), dtype.type(high))
        return between_arrays(typed(a, dtype), low, high)
    if dtype.kind == "c":
        return between_arrays(typed(a, dtype), low, high)
    if np.result_type(a, low) == dtype:
        return np.minimum(np.maximum(a, low), high)
    return np.minimum(np.maximum(a, low, dtype=dtype), high)


def between_numbers(x, low, high):
    # Comparisons keep what is no number of x; of a limit, it is added: -0.0 changes nothing.
    x = select(np.less(x, low), low, x)
    x = select(np.greater(x, high), high, x)
    return np.add(x, select(low != low or high != high, low.dtype.type(math.nan), low.dtype.type(-0.0)))


def between_arrays(x, low, high):
    x = select(np.logical_or(np.greater(x, low), np.not_equal(x, x)), x, low)
    return select(np.logical_or(np.less(x, high), np.not_equal(x, x)), x, high)


def nan_to_num(x, copy=True, nan=0.0, posinf=None, neginf=None):
    new = np.array(x, copy=copy)
    if new.dtype.kind == "c":
        replace(new.real, nan, posinf, neginf)
        replace(new.imag, nan, posinf, neginf)
    elif new.dtype.kind == "f":
        replace(new, nan, posinf, neginf)
    if np.ndim(x) == 0:
        return new[()]
    return new


def replace(x, nan, posinf, neginf):
    most = np.finfo(x.dtype).max if posinf is None else x.dtype.type(posinf)
    least = np.finfo(x.dtype).min if neginf is None else x.dtype.type(neginf)

    def number(item):
        if item != item:
            return x.dtype.type(nan)
        if item == math.inf:
            return most
        if item == -math.inf:
            return least
        return item

    each(number, x, x)


# ---- parts of complex numbers ----


def real(val):
    return val.real


def imag(val):
    if np.ndim(val) == 0 or np.result_type(val).kind == "c":
        return val.imag
    return frozen(np.zeros_like(val))


def angle(z, deg=False):
    if np.result_type(z).kind == "c":
        turn = np.arctan2(z.imag, z.real)
    else:
        turn = np.arctan2(0, z)
    if deg:
        return turn * (180 / math.pi)
    return turn


def iscomplex(x):
    x = np.asarray(x)
    if x.dtype.kind == "c":
        return np.not_equal(x.imag, 0)
    return np.logical_and(x, False)


def isreal(x):
    return imag(x) == 0


def iscomplexobj(x):
    return np.result_type(x).kind == "c"


def isrealobj(x):
    return np.result_type(x).kind != "c"


def isposinf(x, out=None):
    return stored(np.logical_and(np.isinf(x), np.logical_not(np.signbit(x))), out)


def isneginf(x, out=None):
    return stored(np.logical_and(np.isinf(x), np.signbit(x)), out)


# ---- comparing arrays ----


def _inexact(y):
    if isinstance(y, int):
        return float(y)
    if isinstance(y, (float, complex)):
        return y
    y = np.asarray(y)
    return y.astype(np.result_type(y, 1.0), copy=False)


def isclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    x = a if np.ndim(a) == 0 else np.asarray(a)
    y = _inexact(b)
    close = np.logical_or(
        np.logical_and(np.less_equal(np.abs(x - y), atol + rtol * np.abs(y)), np.isfinite(y)), np.equal(x, y)
    )
    if equal_nan:
        return np.logical_or(close, np.logical_and(np.isnan(x), np.isnan(y)))
    return close


def allclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    return bool(np.all(isclose(a, b, rtol, atol, equal_nan)))


def array_equal(a1, a2, equal_nan=False):
    x = np.asarray(a1)
    y = np.asarray(a2)
    if x.ndim != y.ndim:
        return False
    if x.shape != y.shape:
        return False
    if equal_nan:
        return bool(np.all(np.logical_or(np.equal(x, y), np.logical_and(np.isnan(x), np.isnan(y)))))
    return bool(np.all(np.equal(x, y)))


def array_equiv(a1, a2):
    x = np.asarray(a1)
    y = np.asarray(a2)
    for i in range(1, min(x.ndim, y.ndim) + 1):
        if x.shape[x.ndim - i] != y.shape[y.ndim - i] and x.shape[x.ndim - i] != 1 and y.shape[y.ndim - i] != 1:
            return False
    return bool(np.all(np.equal(x, y)))


# ---- what an array is ----


def shape(a):
    return np.asarray(a).shape


def size(a, axis=None):
    if axis is None:
        return np.asarray(a).size
    return np.asarray(a).shape[axis]


# ---- functions of numbers ----


def sinc(x):
    x = np.asarray(x)
    y = math.pi * x
    values = np.empty_like(y)

    def value(item):
        if item == 0:
            return y.dtype.type(1)
        return np.sin(item) / item

    each(value, np.asarray(y), values)
    return values[()] if x.ndim == 0 else values


def i0_of(x):
    # The power series: its terms are positive, so nothing cancels.
    if x == math.inf or x == -math.inf:
        return np.result_type(x).type(math.nan)
    quarter = x * x / 4
    term = 1.0
    total = 1.0
    k = 1
    while term > total * 1e-17:
        term *= quarter / (k * k)
        total += term
        k += 1
    return total


def i0(x):
    x = np.asarray(x)
    if x.dtype.kind == "c":
        raise TypeError("i0 not supported for complex values")
    if x.dtype.kind != "f":
        return i0(x.astype(np.float64))
    values = np.empty_like(x)
    each(i0_of, x, values)
    return values
