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


def check_repeated(axes, ndim, argument=None):
    # As functions check them that NumPy has in Python: each first, then whether two are one.
    for i in range(len(axes)):
        if axes[i] < -ndim or axes[i] >= ndim:
            raise AxisError(axes[i], ndim, argument)
    for i in range(len(axes)):
        for j in range(i):
            if axes[j] % ndim == axes[i] % ndim:
                if argument is not None:
                    raise ValueError(f"repeated axis in `{argument}` argument")
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


# ---- out= of reductions: where their results may go, in NumPy's words ----


def _is_reduced(i, axis, ndim):
    if axis is None:
        return True
    if not isinstance(axis, tuple):
        return i == axis % ndim
    for j in range(len(axis)):
        if axis[j] % ndim == i:
            return True
    return False


def _axes_left(axis, ndim):
    if axis is None:
        return 0
    return max(ndim - (len(axis) if isinstance(axis, tuple) else 1), 0)


def check_out(out, a, axis, keepdims, name):
    # name: of the ufunc that reduces.
    if axis is not None and a.ndim > 0:
        check_axes(axis, a.ndim)
    if keepdims and out.ndim != a.ndim:
        raise ValueError(
            f"output parameter for reduction operation {name} has the wrong number of dimensions: Found {out.ndim} "
            f"but expected {a.ndim} (must match the operand's when keepdims=True)"
        )
    elif not keepdims and out.ndim != _axes_left(axis, a.ndim):
        raise ValueError(
            f"output parameter for reduction operation {name} has the wrong number of dimensions: Found {out.ndim} "
            f"but expected {_axes_left(axis, a.ndim)}"
        )
    elif out.ndim > 0:
        if not fits_out(out, a, axis, keepdims):
            _tell_misfit(out, a, axis, keepdims)


def _tell_misfit(out, a, axis, keepdims):
    # NumPy walks both at once, out having axes of length one where a is reduced.
    reduced = np.full(a.ndim, False)
    have, joint, k, fits = a.shape, a.shape, 0, True
    for i in range(a.ndim):
        reduced[i] = _is_reduced(i, axis, a.ndim)
        extent = 1
        if keepdims or not reduced[i]:
            extent = out.shape[k]
            k += 1
        have = with_item(have, i, extent)
        if extent != 1 and a.shape[i] != 1 and extent != a.shape[i]:
            fits = False
        joint = with_item(joint, i, extent if a.shape[i] == 1 else a.shape[i])
    if not fits:
        raise ValueError(
            "operands could not be broadcast together with remapped shapes [original->remapped]: "
            f"{shape_text(out.shape)}->{_remapped(have, reduced, keepdims)} {shape_text(a.shape)} "
        )
    k = out.ndim
    for i in range(a.ndim - 1, -1, -1):
        k -= 1 if keepdims or not reduced[i] else 0
        if reduced[i] and have[i] != 1:
            raise ValueError(
                f"operand was set up as a reduction along axis {i}, but the length of the axis is {have[i]} "
                "(it has to be 1)"
            )
        if not reduced[i] and have[i] == 1 and joint[i] != 1:
            raise ValueError(
                f"output operand requires a reduction along dimension {k}, but the reduction is not enabled. "
                "The dimension size of 1 does not match the expected output shape."
            )
        if a.shape[i] == 1 and joint[i] != 1:
            raise ValueError(
                f"non-broadcastable operand with shape {shape_text(a.shape)} doesn't match the broadcast shape "
                f"{shape_text(joint)}"
            )


def _remapped(shape, reduced, keepdims):
    text = "("
    for i in range(len(shape)):
        new = not keepdims and reduced[i]
        if not new or len(text) > 1:  # one in front is not told of
            text += ("" if len(text) == 1 else ",") + ("newaxis" if new else f"{shape[i]}")
    return text + (",)" if len(shape) == 1 and len(text) > 1 else ")")


def fits_out(out, a, axis, keepdims):
    # Whether it has the very shape of the results.
    if out.ndim != (a.ndim if keepdims else _axes_left(axis, a.ndim)):
        return False
    elif out.ndim > 0:
        k = 0
        for i in range(a.ndim):
            reduced = _is_reduced(i, axis, a.ndim)
            if keepdims or not reduced:
                if out.shape[k] != (1 if reduced else a.shape[i]):
                    return False
                k += 1
    return True


def with_out(a, out):
    # The dtype that what is not asked for another is added up in, where there is an out=.
    return np.result_type(a, out)


def put_over(out, values, axis, keepdims):
    # What was found for each line.
    if keepdims and np.ndim(values) > 0:
        out[...] = values.reshape(out.shape)
    else:
        out[...] = values
    return out


def finished(values, a, axis, out, keepdims, name="add"):
    if out is not None:
        check_out(out, a, axis, keepdims, name)
        return put_over(out, values, axis, keepdims)
    if keepdims:
        return values.reshape(kept_shape(a.shape, axis))
    return values[()]


def over_axes(values, a, axis, out, keepdims):
    # What was found for each line, a number if there is one line.
    if out is not None:
        return put_over(out, values, axis, keepdims)
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
