"""Several axes as one: the elements of the reduced axes along a new last one, and results as calls ask for them."""

import numpy as np
from numpy.exceptions import AxisError

from krait.prelude.intrinsics import axes_of, other_axes, shape_text, strided, with_item


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


# ---- views by axes that are known when the call is made: np.moveaxis, np.swapaxes and np.expand_dims ----


def axis_at(axis, ndim, prefix=None):
    if axis < -ndim or axis >= ndim:
        raise AxisError(axis, ndim, prefix)
    return axis % ndim


def moved(a, source, destination):
    start, stop = axis_at(source, a.ndim), axis_at(destination, a.ndim)
    shape, strides = a.shape, a.strides
    for i in range(a.ndim):
        other = i - (i > stop)  # which of the other axes it is
        place = start if i == stop else other + (other >= start)
        shape = with_item(shape, i, a.shape[place])
        strides = with_item(strides, i, a.strides[place])
    return strided(a, 0, shape, strides)


def swapped(a, axis1, axis2):
    first, second = axis_at(axis1, a.ndim, "axis1"), axis_at(axis2, a.ndim, "axis2")
    shape = with_item(with_item(a.shape, first, a.shape[second]), second, a.shape[first])
    strides = with_item(with_item(a.strides, first, a.strides[second]), second, a.strides[first])
    return strided(a, 0, shape, strides)


def expanded(a, axis):
    return moved(a[..., None], -1, axis)


# ---- the elements of some axes along one ----


def lines_of(a, axis):
    if axis is None:
        return np.ravel(a)
    check_axes(axis, a.ndim)
    if isinstance(axis, int) and a.ndim > 0:
        return np.moveaxis(a, axis % a.ndim, -1)
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


def check_mask(a, mask):
    # In the words that NumPy's reductions have of their own.
    new = a.ndim - mask.ndim
    if new < 0:
        raise ValueError("input operand has more dimensions than allowed by the axis remapping")
    joint = a.shape
    for i in range(mask.ndim):
        if a.shape[new + i] == 1:
            joint = with_item(joint, new + i, mask.shape[i])
        elif mask.shape[i] != 1 and mask.shape[i] != a.shape[new + i]:
            raise ValueError(
                "operands could not be broadcast together with remapped shapes [original->remapped]: "
                f"{shape_text(a.shape)} {shape_text(mask.shape)} "
            )
    if joint != a.shape:
        raise ValueError(
            f"non-broadcastable operand with shape {shape_text(a.shape)} doesn't match the broadcast shape "
            f"{shape_text(joint)}"
        )


def masked(a, where, identity):
    # A copy with the identity where the mask is false.
    check_mask(a, np.asarray(where))
    new = np.full(a.shape, identity, a.dtype)
    np.copyto(new, a, where=where)
    return new
