"""NumPy's functions of numbers between two ends, which may be arrays: linspace, logspace, geomspace."""

import math

import numpy as np

from krait.prelude.joining import axis_of


def linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0):
    if num < 0:
        raise ValueError(f"Number of samples, {num}, must be non-negative.")
    if np.ndim(start) > 0 or np.ndim(stop) > 0:
        return between_arrays(start, stop, num, endpoint, retstep, dtype, axis)
    axis_of(axis, 1)
    exact = np.empty(num, np.result_type(start, stop, 1.0))
    gaps = num - 1 if endpoint else num
    first = exact.dtype.type(start)
    reach = exact.dtype.type(stop) - first
    if gaps > 0:
        step = reach / gaps
        if step == 0:
            for i in range(num):
                exact[i] = i / gaps * reach + first
        else:
            for i in range(num):
                exact[i] = i * step + first
    else:
        step = reach * math.nan
        for i in range(num):
            exact[i] = i * reach + first
    if endpoint and num > 1:
        exact[-1] = stop
    if retstep:
        return as_samples(exact, dtype), step
    return as_samples(exact, dtype)


def between_arrays(start, stop, num, endpoint, retstep, dtype, axis):
    # A step for each pair of ends, which are broadcast.
    exact = np.result_type(start, stop, 1.0)
    first, last = np.asarray(start), np.asarray(stop)
    reach = np.subtract(last.astype(exact), first.astype(exact))
    samples = np.empty((num,) + reach.shape, exact)
    gaps = num - 1 if endpoint else num
    steps = np.divide(reach, gaps) if gaps > 0 else reach * math.nan
    by_steps = gaps > 0 and not np.any(steps == 0)
    for i in range(num):
        if by_steps:
            samples[i, ...] = i * steps + first
        elif gaps > 0:
            samples[i, ...] = i / gaps * reach + first
        else:
            samples[i, ...] = i * reach + first
    if endpoint and num > 1:
        samples[-1, ...] = last
    if retstep:
        return placed(as_samples(samples, dtype), axis), steps
    return placed(as_samples(samples, dtype), axis)


def placed(samples, axis):
    if axis == 0:
        return samples
    return np.moveaxis(samples, 0, axis)


def as_samples(exact, dtype):
    # Integers are rounded down.
    if dtype is None:
        return exact
    samples = np.empty_like(exact, dtype)
    if samples.dtype.kind == "i" or samples.dtype.kind == "u":
        samples[...] = np.floor(exact)
    else:
        samples[...] = exact
    return samples


def logspace(start, stop, num=50, endpoint=True, base=10.0, dtype=None, axis=0):
    if np.ndim(base) > 0:
        # All have as many axes then, of which the new one is one.
        first, last, bases = np.broadcast_arrays(np.asarray(start), np.asarray(stop), np.asarray(base))
        exact = np.power(np.expand_dims(bases, axis), linspace(first, last, num, endpoint, False, None, axis))
    else:
        exact = np.power(base, linspace(start, stop, num, endpoint, False, None, axis))
    if dtype is None:
        return exact
    return exact.astype(dtype)


def geomspace(start, stop, num=50, endpoint=True, dtype=None, axis=0):
    if np.any(np.equal(start, 0)) or np.any(np.equal(stop, 0)):
        raise ValueError("Geometric sequence cannot include zero")
    if dtype is None:
        return geometric(start, stop, num, endpoint, np.result_type(start, stop, np.float64), axis)
    return geometric(start, stop, num, endpoint, np.result_type(start, stop, dtype, 1.0), axis).astype(dtype)


def geometric(start, stop, num, endpoint, dtype, axis):
    # From where the first number is positive: turned back at the end.
    first, last = np.asarray(start).astype(dtype), np.asarray(stop).astype(dtype)
    turn = np.sign(first)
    first, last = np.divide(first, turn), np.divide(last, turn)
    exact = logspace(np.log10(first), np.log10(last), num, endpoint, 10.0, dtype)
    if num > 0:
        exact[0, ...] = first
    if num > 1 and endpoint:
        exact[-1, ...] = last
    exact *= turn
    return placed(exact, axis)
