"""Systems of linear equations between arrays of any number of axes, products of several matrices."""

import numpy as np
from numpy.linalg import LinAlgError

from krait.prelude.intrinsics import counted, strided, with_item
from krait.prelude.linear import inv, solve
from krait.prelude.products import dotted


def tensorinv(a, ind=2):
    if ind <= 0:
        raise ValueError("Invalid ind argument.")
    shape = a.shape
    rows = 1
    for i in range(a.ndim):
        shape = with_item(shape, i, a.shape[(i + ind) % a.ndim])
        if i >= ind:
            rows *= a.shape[i]
    return inv(np.ascontiguousarray(a).reshape(rows, -1)).reshape(shape)


def tensorsolve(a, b, axes=None):
    a = np.asarray(a)
    b = np.asarray(b)
    if axes is None:
        return _tensorsolved(a, b)
    order = _moved_behind(counted(0, a.ndim), axes)
    shape, strides = a.shape, a.strides
    for i in range(a.ndim):
        shape = with_item(shape, i, a.shape[order[i]])
        strides = with_item(strides, i, a.strides[order[i]])
    return _tensorsolved(strided(a, 0, shape, strides), b)


def _moved_behind(order, axes):
    # Each of the axes behind the others, one after the other.
    for axis in axes:
        at = -1
        for i in range(len(order)):
            if order[i] == axis:
                at = i
        if at < 0:
            raise ValueError("list.remove(x): x not in list")
        for i in range(at, len(order) - 1):
            order = with_item(order, i, order[i + 1])
        order = with_item(order, len(order) - 1, axis)
    return order


def _tensorsolved(a, b):
    shape = a.shape[b.ndim :]
    size = 1
    for extent in shape:
        size *= extent
    if a.size != size**2:
        raise LinAlgError(
            "Input arrays must satisfy the requirement             prod(a.shape[b.ndim:]) == prod(a.shape[:b.ndim])"
        )
    return solve(np.ascontiguousarray(a).reshape(size, size), np.ravel(b)).reshape(shape)


# ---- products of several matrices ----


def multi_dot(arrays, *, out=None):
    if len(arrays) < 2:
        raise ValueError("Expecting at least two arrays.")
    if len(arrays) == 2:
        return np.dot(arrays[0], arrays[1], out)
    if out is None:
        return _multiplied(arrays)
    # Where the last product is taken NumPy has vectors at the ends as matrices.
    first, last = arrays[0], arrays[-1]
    dotted(np.reshape(_multiplied(arrays), (_rows(first), _columns(last))), out)
    if first.ndim == 1 and last.ndim == 1:
        return out[0, 0]
    if first.ndim == 1 or last.ndim == 1:
        return np.ravel(out)
    return out


def _multiplied(arrays):
    if len(arrays) == 3:
        return _product_of_three(arrays[0], arrays[1], arrays[2])
    return _product(arrays, _order(arrays), 0, len(arrays) - 1)


def _rows(a):
    return 1 if a.ndim == 1 else a.shape[0]


def _columns(a):
    return 1 if a.ndim == 1 else a.shape[-1]


def _product_of_three(a, b, c):
    left = _rows(a) * b.shape[0] * (b.shape[1] + _columns(c))
    right = b.shape[1] * _columns(c) * (_rows(a) + b.shape[0])
    if left < right:
        return np.dot(np.dot(a, b), c)
    return np.dot(a, np.dot(b, c))


def _order(arrays):
    # Where to part arrays i .. j, by the numbers of products that it takes.
    n = len(arrays)
    p = np.empty(n + 1, np.int64)
    for i in range(n):
        p[i] = arrays[i].shape[0]
    p[n] = arrays[n - 1].shape[1]
    costs = np.zeros((n, n))
    parts = np.empty((n, n), np.int64)
    for length in range(1, n):
        for i in range(n - length):
            j = i + length
            costs[i, j] = np.inf
            for k in range(i, j):
                cost = costs[i, k] + costs[k + 1, j] + p[i] * p[k + 1] * p[j + 1]
                if cost < costs[i, j]:
                    costs[i, j] = cost
                    parts[i, j] = k
    return parts


def _product(arrays, parts, i, j):
    if i == j:
        return np.ascontiguousarray(arrays[i])
    return np.dot(_product(arrays, parts, i, parts[i, j]), _product(arrays, parts, parts[i, j] + 1, j))
