"""NumPy's functions of neighbouring elements: differences, gradients, integrals, interpolation, convolution."""

import math

import numpy as np
from numpy.exceptions import AxisError

from krait.prelude import times
from krait.prelude.axes import check_repeated
from krait.prelude.intrinsics import with_item
from krait.prelude.joining import axis_of, part


def _difference(a, axis):
    n = max(a.shape[axis] - 1, 0)
    start = min(1, a.shape[axis])
    if a.dtype.kind == "b":
        return np.not_equal(part(a, axis, start, n), part(a, axis, 0, n))
    return np.subtract(part(a, axis, start, n), part(a, axis, 0, n))


def diff(a, n=1, axis=-1, prepend=None, append=None):
    if n == 0:
        if np.result_type(a).kind == "M":
            raise NotImplementedError("compiled code has no difference of order 0 of dates: it would be dates")
        else:
            return np.asarray(a)
    if n < 0:
        raise ValueError(f"order must be non-negative but got {n}")
    a = np.asarray(a)
    if a.ndim == 0:
        raise ValueError("diff requires input that is at least one dimensional")
    along = axis_of(axis, a.ndim)
    if prepend is None and append is None:
        return _differences(a, n, along)
    if append is None:
        return _differences(np.concatenate((_border(a, prepend, along), a), along), n, along)
    if prepend is None:
        return _differences(np.concatenate((a, _border(a, append, along)), along), n, along)
    return _differences(
        np.concatenate((_border(a, prepend, along), a, _border(a, append, along)), along), n, along
    )


def _differences(a, n, axis):
    result = _difference(a, axis)
    for _ in range(1, n):
        result = _difference(result, axis)
    return result


def _border(a, values, axis):
    values = np.asarray(values)
    if values.ndim == 0:
        return np.broadcast_to(values, with_item(a.shape, axis, 1))
    return values


def ediff1d(ary, to_end=None, to_begin=None):
    ary = np.ravel(np.asarray(ary))
    if to_begin is None and to_end is None:
        return ary[1:] - ary[:-1]
    if to_begin is None:
        return np.concatenate((ary[1:] - ary[:-1], np.ravel(np.asarray(to_end)).astype(ary.dtype)))
    if to_end is None:
        return np.concatenate((np.ravel(np.asarray(to_begin)).astype(ary.dtype), ary[1:] - ary[:-1]))
    return np.concatenate(
        (
            np.ravel(np.asarray(to_begin)).astype(ary.dtype),
            ary[1:] - ary[:-1],
            np.ravel(np.asarray(to_end)).astype(ary.dtype),
        )
    )


# ---- gradients ----


def gradient(f, *varargs, axis=None, edge_order=1):
    f = np.asarray(f)
    if edge_order > 2:
        raise ValueError("'edge_order' greater than 2 not supported")
    if isinstance(axis, tuple):
        check_repeated(axis, f.ndim)
        if len(varargs) > 1 and len(varargs) != len(axis):
            raise TypeError("invalid number of arguments")
        if len(axis) == 1:
            return _gradient_along(f, _spacings(axis, varargs)[0], axis_of(axis[0], f.ndim), edge_order)
        return _gradients_over(f, _spacings(axis, varargs), axis, edge_order)
    if axis is not None:
        if len(varargs) > 1:
            raise TypeError("invalid number of arguments")
        return _gradient_along(f, varargs[0] if len(varargs) == 1 else 1.0, axis_of(axis, f.ndim), edge_order)
    if len(varargs) > 1 and len(varargs) != f.ndim:
        raise TypeError("invalid number of arguments")
    if f.ndim == 1:
        return _gradient_along(f, varargs[0] if len(varargs) == 1 else 1.0, 0, edge_order)
    return _gradients(f, _spacings(f.shape, varargs), f.shape, edge_order)


def _gradients(f, spacings, extents, edge_order):
    # A tuple of one for each of the last axes.
    if len(extents) == 0:
        return ()
    here = _gradient_along(f, spacings[0], f.ndim - len(extents), edge_order)
    return (here,) + _gradients(f, spacings[1:], extents[1:], edge_order)


def _gradients_over(f, spacings, axes, edge_order):
    # A tuple of one for each of these axes.
    if len(axes) == 0:
        return ()
    here = _gradient_along(f, spacings[0], axis_of(axes[0], f.ndim), edge_order)
    return (here,) + _gradients_over(f, spacings[1:], axes[1:], edge_order)


def _spacings(shape, spacings):
    # One for each axis.
    if len(shape) == 0:
        return ()
    if len(spacings) == 0:
        return (1.0,) + _spacings(shape[1:], spacings)
    if len(spacings) == 1:
        return (spacings[0],) + _spacings(shape[1:], spacings)
    return spacings


def _gradient_along(f, spacing, axis, edge_order):
    n = f.shape[axis]
    if n < edge_order + 1:
        raise ValueError(
            "Shape of array too small to calculate a numerical gradient, at least (edge_order + 1) elements are "
            "required."
        )
    if f.dtype.kind == "M":  # of dates as of durations
        return _gradient_along(times.of_ticks(times.ticks(f), np.subtract(f, f).dtype), spacing, axis, edge_order)
    if f.dtype.kind != "f" and f.dtype.kind != "c" and f.dtype.kind != "m":
        return _gradient_along(f.astype(np.float64), spacing, axis, edge_order)
    out = np.empty_like(f)
    if np.ndim(spacing) == 0:
        _gradient_even(f, spacing, axis, edge_order, out)
    else:
        if spacing.shape[0] != n:
            raise ValueError("when 1d, distances must match the length of the corresponding dimension")
        steps = np.diff(spacing)
        even = True
        for step in steps:
            even = even and step == steps[0]
        if even:
            _gradient_even(f, steps[0], axis, edge_order, out)
        else:
            _gradient_uneven(f, steps, axis, edge_order, out)
    return out


def _at(a, axis, i):
    return part(a, axis, i, 1)


def _gradient_even(f, h, axis, edge_order, out):
    n = f.shape[axis]
    part(out, axis, 1, n - 2)[...] = (part(f, axis, 2, n - 2) - part(f, axis, 0, n - 2)) / (2.0 * h)
    if edge_order == 1:
        _at(out, axis, 0)[...] = (_at(f, axis, 1) - _at(f, axis, 0)) / h
        _at(out, axis, n - 1)[...] = (_at(f, axis, n - 1) - _at(f, axis, n - 2)) / h
    else:
        a, b, c = -1.5 / h, 2.0 / h, -0.5 / h
        _at(out, axis, 0)[...] = a * _at(f, axis, 0) + b * _at(f, axis, 1) + c * _at(f, axis, 2)
        a, b, c = 0.5 / h, -2.0 / h, 1.5 / h
        _at(out, axis, n - 1)[...] = (
            a * _at(f, axis, n - 3) + b * _at(f, axis, n - 2) + c * _at(f, axis, n - 1)
        )


def _gradient_uneven(f, steps, axis, edge_order, out):
    n = f.shape[axis]
    for i in range(1, n - 1):
        before = steps[i - 1]
        after = steps[i]
        a = -after / (before * (before + after))
        b = (after - before) / (before * after)
        c = before / (after * (before + after))
        _at(out, axis, i)[...] = a * _at(f, axis, i - 1) + b * _at(f, axis, i) + c * _at(f, axis, i + 1)
    if edge_order == 1:
        _at(out, axis, 0)[...] = (_at(f, axis, 1) - _at(f, axis, 0)) / steps[0]
        _at(out, axis, n - 1)[...] = (_at(f, axis, n - 1) - _at(f, axis, n - 2)) / steps[n - 2]
    else:
        first, second = steps[0], steps[1]
        a = -(2.0 * first + second) / (first * (first + second))
        b = (first + second) / (first * second)
        c = -first / (second * (first + second))
        _at(out, axis, 0)[...] = a * _at(f, axis, 0) + b * _at(f, axis, 1) + c * _at(f, axis, 2)
        first, second = steps[n - 3], steps[n - 2]
        a = second / (first * (first + second))
        b = -(second + first) / (first * second)
        c = (2.0 * second + first) / (second * (first + second))
        _at(out, axis, n - 1)[...] = (
            a * _at(f, axis, n - 3) + b * _at(f, axis, n - 2) + c * _at(f, axis, n - 1)
        )


# ---- integrals, interpolation, angles ----


def trapezoid(y, x=None, dx=1.0, axis=-1):
    y = np.asarray(y)
    along = axis_of(axis, y.ndim)
    n = max(y.shape[along] - 1, 0)
    means = part(y, along, min(1, y.shape[along]), n) + part(y, along, 0, n)
    if x is None:
        return np.sum(dx * means / 2.0, axis)
    x = np.asarray(x)
    if x.ndim == 1:
        shape = y.shape
        for i in range(y.ndim):
            shape = with_item(shape, i, 1)
        steps = np.diff(x)
        return np.sum(np.reshape(steps, with_item(shape, along, len(steps))) * means / 2.0, axis)
    return np.sum(np.diff(x, axis=axis) * means / 2.0, axis)


def interp(x, xp, fp, left=None, right=None, period=None):
    xp = np.asarray(xp).astype(np.float64, copy=False)
    points = np.asarray(fp)
    fp = points.astype(np.complex128 if points.dtype.kind == "c" else np.float64, copy=False)
    if xp.ndim != 1 or fp.ndim != 1:
        raise ValueError("Data points must be 1-D sequences")
    if period is not None:
        return _interp_periodic(np.asarray(x).astype(np.float64), xp, fp, period)
    if len(xp) == 0:
        raise ValueError("array of sample points is empty")
    if len(xp) != len(fp):
        raise ValueError("fp and xp are not of the same length.")
    low = fp[0] if left is None else fp.dtype.type(left)
    high = fp[-1] if right is None else fp.dtype.type(right)
    if np.ndim(x) == 0:
        return _interp_at(float(x), xp, fp, low, high)
    x = np.asarray(x)
    values = np.empty(x.shape, fp.dtype)
    flat = np.ravel(x)
    out = np.ravel(values)
    for i in range(len(flat)):
        out[i] = _interp_at(float(flat[i]), xp, fp, low, high)
    return values


def _interp_periodic(x, xp, fp, period):
    if period == 0:
        raise ValueError("period must be a non-zero value")
    if len(xp) != len(fp):
        raise ValueError("fp and xp are not of the same length")
    period = abs(period)
    n = len(xp)
    places = xp % period
    order = np.argsort(places)
    wide = np.empty(n + 2, np.float64)
    values = np.empty(n + 2, fp.dtype)
    for i in range(n):
        wide[i + 1] = places[order[i]]
        values[i + 1] = fp[order[i]]
    wide[0] = wide[n] - period
    wide[n + 1] = wide[1] + period
    values[0] = values[n]
    values[n + 1] = values[1]
    return interp(x % period, wide, values)


def _interp_at(x, xp, fp, low, high):
    n = len(xp)
    if x > xp[n - 1]:
        return high
    if x < xp[0]:
        return low
    if n == 1:
        return fp[0]
    if x != x:
        return fp.dtype.type(x)
    first = 0
    last = n
    while last - first > 1:
        middle = (first + last) // 2
        if x >= xp[middle]:
            first = middle
        else:
            last = middle
    if first == n - 1 or x == xp[first]:
        return fp[first]
    return _between(x, xp[first], xp[first + 1], fp[first], fp[first + 1])


def _between(x, x0, x1, y0, y1):
    if np.result_type(y0).kind == "c":
        return np.complex128(complex(_between(x, x0, x1, y0.real, y1.real), _between(x, x0, x1, y0.imag, y1.imag)))
    slope = (y1 - y0) / (x1 - x0)
    value = slope * (x - x0) + y0
    if value != value:
        value = slope * (x - x1) + y1
        if value != value and y0 == y1:
            value = y0
    return value


def unwrap(p, discont=None, axis=-1, period=2 * math.pi):
    p = np.asarray(p)
    along = axis_of(axis, p.ndim)
    new = p.astype(np.result_type(p, period))
    n = new.shape[along]
    half = period / 2
    limit = half if discont is None else discont
    shift = np.zeros_like(part(new, along, 0, min(n, 1)))
    for i in range(1, n):
        step = part(p, along, i, 1) - part(p, along, i - 1, 1)
        _add_turns(step, shift, half, limit, period)
        part(new, along, i, 1)[...] = part(p, along, i, 1) + shift
    return new


def _add_turns(step, shift, half, limit, period):
    if step.ndim == 0:
        if abs(step[()]) >= limit:
            turned = (step[()] + half) % period - half
            if turned == -half and step[()] > 0:
                turned = turned + period
            shift[()] += turned - step[()]
    else:
        for i in range(step.shape[0]):
            _add_turns(step[i, ...], shift[i, ...], half, limit, period)


# ---- convolution ----


def _correlated(a, v, start, length, dtype):
    # Sums over k of a[start + i + k] * v[k] for i < length; outside a there is nothing.
    out = np.zeros(length, dtype)
    for k in range(len(v)):
        low = max(0, -(start + k))
        high = min(length, len(a) - start - k)
        factor = out.dtype.type(v[k])
        for i in range(low, high):
            out[i] += out.dtype.type(a[start + i + k]) * factor
    return out


def _moded(a, v, mode, dtype):
    # The longer one first.
    n = len(a)
    m = len(v)
    if mode == "valid":
        return _correlated(a, v, 0, n - m + 1, dtype)
    if mode == "same":
        return _correlated(a, v, -(m // 2), n, dtype)
    if mode == "full":
        return _correlated(a, v, 1 - m, n + m - 1, dtype)
    raise ValueError(f"mode must be one of 'valid', 'same', or 'full' (got '{mode}')")


def correlate(a, v, mode="valid"):
    a = np.asarray(a)
    v = np.asarray(v)
    if a.ndim != 1 or v.ndim != 1:
        raise ValueError("object too deep for desired array")
    if len(a) == 0:
        raise ValueError("first array argument cannot be empty")
    if len(v) == 0:
        raise ValueError("second array argument cannot be empty")
    dtype = np.result_type(a, v)
    v = np.conjugate(v) if v.dtype.kind == "c" else v
    if len(v) > len(a):
        return np.flip(_moded(v, a, mode, dtype))
    return _moded(a, v, mode, dtype)


def convolve(a, v, mode="full"):
    a = np.atleast_1d(a)
    v = np.atleast_1d(v)
    if len(a) == 0:
        raise ValueError("a cannot be empty")
    if len(v) == 0:
        raise ValueError("v cannot be empty")
    if len(v) > len(a):
        return _moded(v, a[::-1], mode, np.result_type(a, v))
    return _moded(a, v[::-1], mode, np.result_type(a, v))
