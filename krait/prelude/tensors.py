"""Products of arrays of any number of axes: einsum, tensordot, cross, kron, traces, sums of products."""

import numpy as np

from krait.prelude.intrinsics import axes_of, counted, einsum_plan, other_axes, shape_text, strided, with_item
from krait.prelude.shaping import check_order

_TAKES_PAIRS = np.lib.NumpyVersion(np.__version__) < "2.5.0"  # whether np.cross takes vectors of two numbers


# ---- einsum ----


def einsum(subscripts, *operands, out=None, dtype=None, order="K", casting="safe", optimize=False):
    arrays = _arrays(operands)
    check_order(order)
    if out is not None:
        return _into(out, arrays, einsum_plan(subscripts, arrays), dtype, casting)
    if len(arrays) == 1 and len(einsum_plan(subscripts, arrays)[2]) == 0:
        return _remapped(arrays, einsum_plan(subscripts, arrays))
    if dtype is None:
        x = _summed(arrays, einsum_plan(subscripts, arrays), np.result_type(*arrays))
    else:
        _check_casts(arrays, dtype, casting)
        x = _summed(arrays, einsum_plan(subscripts, arrays), np.dtype(dtype))
    if order == "F" and np.ndim(x) > 1:
        return np.asfortranarray(x)
    return x


def _remapped(arrays, plan):
    # Nothing is summed: the array itself, its axes in another order, whatever dtype and order are asked for.
    _check_diagonals(arrays, plan[0], plan[3], 0, True)
    view = _views(arrays, plan[0], _extents(arrays, plan[0], plan[1]))[0]
    if view.ndim == 0:
        return view[()]
    return view


def _check_casts(arrays, dtype, casting):
    for i in range(len(arrays)):
        if not np.can_cast(arrays[i].dtype, dtype, casting):
            raise TypeError(
                f"Iterator operand {i} dtype could not be cast from dtype('{arrays[i].dtype.name}') to "
                f"dtype('{np.dtype(dtype).name}') according to the rule '{casting}'"
            )


def _into(out, arrays, plan, dtype, casting):
    # It is computed in the type that the operands and the output have in common.
    if len(plan[1]) != out.ndim:
        raise ValueError(
            f"out parameter does not have the correct number of dimensions, has {out.ndim} but should have "
            f"{len(plan[1])}"
        )
    if dtype is None:
        return _into(out, arrays, plan, np.result_type(out, *arrays), casting)
    _check_casts(arrays, dtype, casting)
    x = _summed(arrays, plan, np.dtype(dtype))
    if np.shape(x) != out.shape:
        raise ValueError(
            "operands could not be broadcast together with remapped shapes [original->remapped]: "
            f"{shape_text(np.shape(x))} and {shape_text(out.shape)}"
        )
    if not np.can_cast(dtype, out.dtype, casting):
        raise TypeError(
            f"Iterator requested dtype could not be cast from dtype('{np.dtype(dtype).name}') to "
            f"dtype('{out.dtype.name}'), the operand {len(arrays)} dtype, according to the rule '{casting}'"
        )
    np.copyto(out, x, "unsafe")
    return out


def _summed(arrays, plan, dtype):
    out_labels, summed = plan[1], plan[2]
    _check_diagonals(arrays, plan[0], plan[3], 0, False)
    extents = _extents(arrays, plan[0], out_labels + summed)
    views = _views(arrays, plan[0], extents)
    out = np.zeros(extents[: len(out_labels)], dtype)
    if len(arrays) == 2 and len(summed) > 0 and np.dtype(dtype).kind != "b":
        _contract_two(views[0], views[1], out, len(out_labels))
    else:
        _contract(views, out)
    if out.ndim == 0:
        return out[()]
    return out


def _arrays(operands):
    if len(operands) == 0:
        return ()
    return (np.asarray(operands[0]),) + _arrays(operands[1:])


def _check_diagonals(arrays, labels, names, i, alone):
    # What an operand has twice is as long both times.
    if len(arrays) == 0:
        return
    shape, numbers = arrays[0].shape, labels[0]
    for axis in range(1, len(shape)):
        for before in range(axis):
            if numbers[before] == numbers[axis] and shape[before] != shape[axis]:
                operand = "single operand" if alone else f"operand {i}"
                raise ValueError(
                    f"dimensions in {operand} for collapsing index '{names[numbers[axis]]}' don't match "
                    f"({shape[before]} != {shape[axis]})"
                )
    _check_diagonals(arrays[1:], labels[1:], names, i + 1, alone)


def _extents(arrays, labels, extents):
    # How far each label goes; it starts as a tuple of as many numbers.
    for i in range(len(extents)):
        extents = with_item(extents, i, 1)
    return _extents_of(arrays, labels, extents)


def _extents_of(arrays, labels, extents):
    if len(arrays) == 0:
        return extents
    for axis in range(arrays[0].ndim):
        n = arrays[0].shape[axis]
        known = extents[labels[0][axis]]
        if n != 1:
            if known != 1 and known != n:
                raise ValueError(
                    f"operands could not be broadcast together with remapped shapes: dimension {labels[0][axis]} is "
                    f"{known} and {n}"
                )
            extents = with_item(extents, labels[0][axis], n)
    return _extents_of(arrays[1:], labels[1:], extents)


def _views(arrays, labels, extents):
    # Views whose axes are all labels; what an operand has not, it repeats; what it has twice is its diagonal.
    if len(arrays) == 0:
        return ()
    return (_view(arrays[0], labels[0], extents),) + _views(arrays[1:], labels[1:], extents)


def _view(a, labels, extents):
    strides = extents
    for i in range(len(extents)):
        strides = with_item(strides, i, 0)
    for axis in range(a.ndim):
        if a.shape[axis] != 1:
            strides = with_item(strides, labels[axis], strides[labels[axis]] + a.strides[axis])
    return strided(a, 0, extents, strides)


def _contract(views, out):
    if out.ndim > 0:
        for i in range(out.shape[0]):
            _contract(_items(views, i), out[i, ...])
    else:
        out[()] = _sum(views, out)


def _items(views, i):
    if len(views) == 0:
        return ()
    return (views[0][i, ...],) + _items(views[1:], i)


def _sum(views, out):
    if views[0].ndim == 0:
        return _product(views, out)
    total = out.dtype.type(0)
    for i in range(views[0].shape[0]):
        total = total + _sum(_items(views, i), out)
    return total


def _product(views, out):
    if len(views) == 1:
        return out.dtype.type(views[0][()])
    return out.dtype.type(views[0][()]) * _product(views[1:], out)


def _contract_two(a, b, out, nout):
    # As a product of stacks of matrices: axes that both have, those of one alone, those that are summed over.
    count, rows, columns, inner = 1, 1, 1, 1
    for i in range(a.ndim):
        n = a.shape[i]
        if i >= nout:
            inner *= n
        elif a.strides[i] != 0 and b.strides[i] != 0:
            count *= n
        elif b.strides[i] == 0:
            rows *= n
        else:
            columns *= n
    x = np.empty((count, rows, inner), out.dtype)
    y = np.empty((count, inner, columns), out.dtype)
    z = np.empty((count, rows, columns), out.dtype)
    _fill(a, x, _steps(a, b, nout, x.strides[0], x.strides[1], 0, x.strides[2]))
    _fill(b, y, _steps(a, b, nout, y.strides[0], 0, y.strides[2], y.strides[1]))
    np.matmul(x, y, z)
    _take(out, z, _steps(a, b, nout, z.strides[0], z.strides[1], z.strides[2], 0))


def _steps(a, b, nout, count, rows, columns, inner):
    # Where in an array with three axes each label's step leads; 0: nowhere.  The steps of that array come for labels of
    # both operands, of the first, of the second, and of both that are summed over.
    steps = a.strides
    for i in range(a.ndim - 1, -1, -1):
        n = a.shape[i]
        if i >= nout:
            steps = with_item(steps, i, inner)
            inner *= n
        elif a.strides[i] != 0 and b.strides[i] != 0:
            steps = with_item(steps, i, count)
            count *= n
        elif b.strides[i] == 0:
            steps = with_item(steps, i, rows)
            rows *= n
        else:
            steps = with_item(steps, i, columns)
            columns *= n
    return steps


def _fill(a, x, steps):
    # Axes that lead nowhere are the other operand's.
    shape = a.shape
    for i in range(a.ndim):
        if steps[i] == 0:
            shape = with_item(shape, i, min(shape[i], 1))
    strided(x, 0, shape, steps)[...] = strided(a, 0, shape, a.strides)


def _take(out, z, steps):
    out[...] = strided(z, 0, out.shape, steps[: out.ndim])


# ---- tensordot ----


def tensordot(a, b, axes=2):
    a = np.asarray(a)
    b = np.asarray(b)
    if isinstance(axes, (tuple, list)):
        return _tensordot(a, b, axes_of(axes[0], a.ndim), axes_of(axes[1], b.ndim))
    return _tensordot(a, b, counted(a.ndim - axes, a.ndim), counted(0, axes))


def _tensordot(a, b, axes_a, axes_b):
    if len(axes_a) != len(axes_b):
        raise ValueError("shape-mismatch for sum")
    inner = 1
    for i in range(len(axes_a)):
        if a.shape[axes_a[i]] != b.shape[axes_b[i]]:
            raise ValueError("shape-mismatch for sum")
        inner *= a.shape[axes_a[i]]
    x = np.transpose(a, other_axes(axes_a, a.ndim) + axes_a)
    y = np.transpose(b, axes_b + other_axes(axes_b, b.ndim))
    shape = x.shape[: a.ndim - len(axes_a)] + y.shape[len(axes_b) :]
    rows = _size(x.shape[: a.ndim - len(axes_a)])
    columns = _size(y.shape[len(axes_b) :])
    return np.dot(np.reshape(x, (rows, inner)), np.reshape(y, (inner, columns))).reshape(shape)


def _size(shape):
    size = 1
    for n in shape:
        size *= n
    return size


# ---- others ----


def trace(a, offset=0, axis1=0, axis2=1, dtype=None, out=None):
    return np.sum(np.diagonal(a, offset, axis1, axis2), -1, dtype, out)


def kron(a, b):
    a = np.asarray(a)
    b = np.asarray(b)
    if a.ndim < b.ndim:
        return kron(a[None, ...], b)
    if b.ndim < a.ndim:
        return kron(a, b[None, ...])
    if a.ndim == 0:
        return np.multiply(a, b)
    products = np.multiply(_spread(a, a.shape, 0), _spread(b, b.shape, 1))
    shape = a.shape
    for i in range(a.ndim):
        shape = with_item(shape, i, a.shape[i] * b.shape[i])
    return products.reshape(shape)


def _spread(a, left, before):
    # Each axis with one of length one before or behind it.
    shape = a.shape + a.shape
    strides = a.strides + a.strides
    for i in range(a.ndim):
        shape = with_item(with_item(shape, 2 * i + before, a.shape[i]), 2 * i + 1 - before, 1)
        strides = with_item(with_item(strides, 2 * i + before, a.strides[i]), 2 * i + 1 - before, 0)
    return strided(a, 0, shape, strides)


def cross(a, b, axisa=-1, axisb=-1, axisc=-1, axis=None):
    if axis is not None:
        return _cross(np.moveaxis(np.asarray(a), axis, -1), np.moveaxis(np.asarray(b), axis, -1), axis)
    return _cross(np.moveaxis(np.asarray(a), axisa, -1), np.moveaxis(np.asarray(b), axisb, -1), axisc)


def _cross(a, b, axis):
    m = a.shape[a.ndim - 1]
    n = b.shape[b.ndim - 1]
    if m != 3 or n != 3:
        if _TAKES_PAIRS and (m == 2 or m == 3) and (n == 2 or n == 3):
            raise ValueError("products of vectors of two numbers are not compiled: write a[0] * b[1] - a[1] * b[0]")
        if _TAKES_PAIRS:
            raise ValueError("incompatible dimensions for cross product\n(dimension must be 2 or 3)")
        raise ValueError(
            f"Both input arrays must be (arrays of) 3-dimensional vectors, but they are {m} and {n} dimensional "
            "instead."
        )
    x = np.asarray(a[..., 1] * b[..., 2] - a[..., 2] * b[..., 1])
    out = np.empty(x.shape + (3,), x.dtype)
    out[..., 0] = x
    out[..., 1] = a[..., 2] * b[..., 0] - a[..., 0] * b[..., 2]
    out[..., 2] = a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]
    return np.moveaxis(out, -1, axis)
