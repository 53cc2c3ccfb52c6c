"""Running sums and products: of all elements in order, or along an axis."""

import numpy as np

from krait.prelude.axes import check_axes, with_out
from krait.prelude.intrinsics import packed, shape_text, with_item
from krait.prelude.reductions import along
from krait.prelude.shaping import together
from krait.prelude.sums import sum_type


def cumsum(a, axis=None, dtype=None, out=None):
    a = np.asarray(a)
    if out is not None:
        if not may_run(out, a, axis):
            return out
        if dtype is None and a.dtype.kind != "m":
            return cumsum(a, axis, with_out(a, out), out)
    if a.dtype.kind == "m":
        if axis is None:
            return cumsum(np.ravel(a), 0, None, out)
        return along(running(np.add, a, axis, a.dtype), 0, out, False)
    if axis is None:
        x = packed(together(a, "C"), -1, a.size, "C")
        return along(running_sums(x, sum_type(a, dtype)), 0, out, False)
    return along(running(np.add, a, axis, sum_type(a, dtype)), 0, out, False)


def cumprod(a, axis=None, dtype=None, out=None):
    a = np.asarray(a)
    if out is not None:
        if not may_run(out, a, axis):
            return out
        if dtype is None:
            return cumprod(a, axis, with_out(a, out), out)
    if axis is None:
        x = packed(together(a, "C"), -1, a.size, "C")
        return along(running_products(x, sum_type(a, dtype)), 0, out, False)
    return along(running(np.multiply, a, axis, sum_type(a, dtype)), 0, out, False)


def may_run(out, a, axis):
    # Whether there is anything to put there; what does not fit is told in NumPy's words, which are of its iterators.
    if axis is not None:
        check_axes(axis, a.ndim)
    if axis is None or a.ndim < 2:
        if a.size == 0:
            return False
        if out.ndim != 1 or out.size != a.size:
            raise ValueError("provided out is the wrong size for the accumulation.")
    elif out.ndim > a.ndim:
        raise ValueError("provided out is the wrong size for the accumulation.")
    elif out.ndim < a.ndim:
        i = min(out.ndim, a.ndim - 1)
        raise ValueError(
            f"Iterator input op_axes[0][{a.ndim - 1 - i}] (=={i}) is not a valid axis of op[0], which has {out.ndim} "
            "dimensions "
        )
    elif out.shape != a.shape:
        check_stretched(out, a, axis)
    return True


def check_stretched(out, a, axis):
    # Axes of length one are stretched, other than that which is gone along.
    joint = out.shape
    fits = a.shape[axis] != 1 or out.shape[axis] == 1
    for i in range(a.ndim):
        if out.shape[i] == 1:
            joint = with_item(joint, i, a.shape[i])
        elif a.shape[i] != 1 and a.shape[i] != out.shape[i]:
            fits = False
    if not fits:
        raise ValueError(
            "operands could not be broadcast together with remapped shapes [original->remapped]: "
            f"{shape_text(out.shape)}->{shape_text(out.shape)} {shape_text(a.shape)}->{shape_text(a.shape)} "
        )
    if joint != out.shape:
        mapped = out.shape
        for i in range(out.ndim):
            mapped = with_item(mapped, i, out.shape[out.ndim - 1 - i])
        raise ValueError(
            f"non-broadcastable output operand with shape {shape_text(out.shape)} [remapped to {shape_text(mapped)}] "
            f"doesn't match the broadcast shape {shape_text(joint)}"
        )


def running_sums(x, dtype):
    sums = np.empty(len(x), dtype)
    total = np.dtype(dtype).type(-0.0) if np.dtype(dtype).kind == "f" else np.dtype(dtype).type(0)
    for i in range(len(x)):
        total = total + np.dtype(dtype).type(x[i])
        sums[i] = total
    return sums


def running_products(x, dtype):
    products = np.empty(len(x), dtype)
    total = np.dtype(dtype).type(1)
    for i in range(len(x)):
        total = total * np.dtype(dtype).type(x[i])
        products[i] = total
    return products


def running(f, a, axis, dtype):
    sums = a.astype(dtype, "C")
    slices = np.moveaxis(sums, axis, 0)
    for i in range(1, slices.shape[0]):
        f(slices[i - 1, ...], slices[i, ...], slices[i, ...])
    return sums
