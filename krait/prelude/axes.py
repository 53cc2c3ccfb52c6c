"""Several axes as one: the elements of the reduced axes along a new last one, and results as calls ask for them."""

import numpy as np
from numpy.exceptions import AxisError

from krait.prelude.intrinsics import axes_of, other_axes, with_item


def check_axes(axis, ndim):
    if not isinstance(axis, tuple):
        check_axes((axis,), ndim)
    else:
        for i in range(len(axis)):
            if axis[i] < -ndim or axis[i] >= ndim:
                raise AxisError(axis[i], ndim, None)
            for j in range(i):
                if axis[j] % ndim == axis[i] % ndim:
                    raise ValueError("duplicate value in 'axis'")


def check_repeated(axes, ndim):
    # As functions check them that NumPy has in Python: each first, then whether two are one.
    for i in range(len(axes)):
        if axes[i] < -ndim or axes[i] >= ndim:
            raise AxisError(axes[i], ndim, None)
    for i in range(len(axes)):
        for j in range(i):
            if axes[j] % ndim == axes[i] % ndim:
                raise ValueError("repeated axis")


def lines_of(a, axis):
    if axis is None:
        return np.ravel(a)
    check_axes(axis, a.ndim)
    axes = axes_of(axis, a.ndim)
    moved = np.transpose(a, other_axes(axes, a.ndim) + axes)
    n = 1
    for i in range(len(axes)):
        n *= a.shape[axes[i]]
    return moved.reshape(moved.shape[: a.ndim - len(axes)] + (n,))


def number_over(a, axis):
    # How many elements there are along the axes of a tuple together.
    n = 1
    for i in range(len(axis)):
        n *= a.shape[axis[i]]
    return n


def kept_shape(shape, axis):
    if axis is None:
        for i in range(len(shape)):
            shape = with_item(shape, i, 1)
        return shape
    if not isinstance(axis, tuple):
        return kept_shape(shape, (axis,))
    for i in range(len(axis)):
        shape = with_item(shape, axis[i] % len(shape), 1)
    return shape


def fill_lines(f, lines, out):
    # out[...] = f(lines[..., :])
    if lines.ndim == 1:
        out[()] = f(lines)
    else:
        for i in range(lines.shape[0]):
            fill_lines(f, lines[i], out[i, ...])


def finished(values, a, axis, out, keepdims):
    if out is not None:
        out[...] = values
        return out
    if keepdims:
        return values.reshape(kept_shape(a.shape, axis))
    return values[()]


def over_axes(values, a, axis, out, keepdims):
    # What was found for each line, a number if there is one line.
    if out is not None:
        out[...] = values
        return out
    if keepdims:
        kept = np.empty(kept_shape(a.shape, axis), np.result_type(values))
        kept[...] = values if np.ndim(values) == 0 else values.reshape(kept.shape)
        return kept
    return values


def masked(a, where, identity):
    # A copy with the identity where the mask is false.
    new = np.full(a.shape, identity, a.dtype)
    np.copyto(new, a, where=where)
    return new
