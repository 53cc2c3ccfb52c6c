"""What the distributions of numpy.random and of a Generator have in common: what their parameters may be, and arrays
that are filled in NumPy's order.  Parameters are numbers, or arrays that are broadcast."""

import numpy as np


def _given(value):
    if np.ndim(value) == 0:
        return value
    return np.asarray(value)


def _refuse(wrong, one, many):
    # `one` is said of a number, `many` of an array.
    if np.ndim(wrong) == 0:
        if wrong:
            raise ValueError(one)
    elif np.any(wrong):
        raise ValueError(many)


# ---- parameters ----


def not_negative(value, text):
    # -0.0 is negative for NumPy, NaN is not.
    if np.ndim(value) == 0:
        if value == value and np.signbit(float(value)):
            raise ValueError(text)
    else:
        for item in np.asarray(value).flat:
            if item == item and np.signbit(float(item)):
                raise ValueError(text)


def positive(value, text):
    if np.ndim(value) == 0:
        if not value > 0:
            raise ValueError(text)
    elif not np.all(np.asarray(value) > 0):
        raise ValueError(text)


def probability(p):
    value = _given(p)
    _refuse(np.logical_not((value >= 0) & (value <= 1)), "p < 0, p > 1 or p is NaN", "p < 0, p > 1 or p contains NaNs")


def chance(p):
    value = _given(p)
    _refuse(np.logical_not((value > 0) & (value <= 1)), "p <= 0, p > 1 or p contains NaNs",
            "p <= 0, p > 1 or p contains NaNs")  # fmt: skip


def share_below_one(p):
    value = _given(p)
    _refuse(np.logical_not((value >= 0) & (value < 1)), "p < 0, p >= 1 or p is NaN", "p < 0, p >= 1 or p contains NaNs")


def above_one(a):
    _refuse(np.logical_not(_given(a) > 1), "a <= 1 or a is NaN", "a <= 1 or a contains NaNs")


# The most that NumPy takes for a mean of a count: ten standard deviations below what int64 holds.
_MOST_MEAN = np.iinfo(np.int64).max - np.sqrt(np.iinfo(np.int64).max) * 10


def mean_of_counts(lam):
    value = _given(lam)
    _refuse(np.logical_not(value >= 0), "lam < 0 or lam is NaN", "lam < 0 or lam contains NaNs")
    _refuse(np.logical_not(value <= _MOST_MEAN), "lam value too large", "lam value too large")


def corners(left, mode, right):
    # Of a triangle.
    low, top, high = _given(left), _given(mode), _given(right)
    _refuse(low > top, "left > mode", "left > mode")
    _refuse(top > high, "mode > right", "mode > right")
    _refuse(low == high, "left == right", "left == right")


def enough(ngood, nbad, nsample):
    _refuse(_given(ngood) + _given(nbad) < _given(nsample), "ngood + nbad < nsample", "ngood + nbad < nsample")


def urn(ngood, nbad, nsample):
    """Of good and bad things, and of how many of them are drawn."""
    whole(ngood)
    whole(nbad)
    whole(nsample)
    enough(ngood, nbad, nsample)
    not_negative(ngood, "ngood < 0")
    not_negative(nbad, "nbad < 0")


def at_least_one(nsample):
    _refuse(np.logical_not(_given(nsample) >= 1), "nsample < 1", "nsample < 1 or nsample contains NaNs")


def whole(value):
    """Of an array int64 must hold the numbers of any; one number is cut off."""
    if np.ndim(value) > 0:
        dtype = np.asarray(value).dtype
        if dtype.kind == "f" or (dtype.kind == "u" and dtype.itemsize == 8):
            raise TypeError(
                f"Cannot cast array data from dtype('{dtype.name}') to dtype('int64') according to the rule 'safe'"
            )


def width(low, high):
    """How far apart they are, in float64."""
    if np.ndim(low) == 0 and np.ndim(high) == 0:
        return float(high) - float(low)
    return np.subtract(_given(high), _given(low), dtype=np.float64)


# ---- numbers ----


def _are_numbers(parameters):
    if len(parameters) == 0:
        return True
    return np.ndim(parameters[0]) == 0 and _are_numbers(parameters[1:])


def floats(draw, size, *parameters):
    """One number, or an array of them: draw(*parameters) gives one."""
    if size is None and _are_numbers(parameters):
        return draw(*parameters)
    return _array(draw, size, np.float64, *parameters)


def counts(draw, size, *parameters):
    if size is None and _are_numbers(parameters):
        return draw(*parameters)
    return _array(draw, size, np.int64, *parameters)


def _array(draw, size, dtype, *parameters):
    if _are_numbers(parameters):
        return filled(draw, size, dtype, *parameters)
    if size is None:
        out = np.empty(np.broadcast_shapes(*_shapes(parameters)), dtype)
    else:
        out = np.empty(size, dtype)
        fitting(out.shape, np.broadcast_shapes(out.shape, *_shapes(parameters)))
    _fill(out, draw, parameters)
    return out


def filled(draw, size, dtype, *parameters):
    """An array of that size, each of its numbers of the same parameters."""
    out = np.empty(size, dtype)
    for i in range(out.size):
        out.flat[i] = draw(*parameters)
    return out


def fitting(shape, all_together):
    if all_together != shape:
        raise ValueError(
            f"Output size {shape} is not compatible with broadcast dimensions of inputs {all_together}."
        )


def _shapes(parameters):
    if len(parameters) == 0:
        return ()
    return (np.shape(parameters[0]), *_shapes(parameters[1:]))


def _fill(out, draw, parameters):
    first = np.broadcast_to(np.asarray(parameters[0]), out.shape)
    if len(parameters) == 1:
        for i in range(out.size):
            out.flat[i] = draw(first.flat[i])
        return
    second = np.broadcast_to(np.asarray(parameters[1]), out.shape)
    if len(parameters) == 2:
        for i in range(out.size):
            out.flat[i] = draw(first.flat[i], second.flat[i])
        return
    third = np.broadcast_to(np.asarray(parameters[2]), out.shape)
    for i in range(out.size):
        out.flat[i] = draw(first.flat[i], second.flat[i], third.flat[i])
