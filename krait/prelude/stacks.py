"""Names of the array API standard in numpy.linalg, and norms of stacks of matrices: what is another name, or another
default, of what linear.py, products.py and tensors.py do."""

import numpy as np

from krait.prelude.linear import svd
from krait.prelude.norms import norm, of_its_kind
from krait.prelude.products import outer, vecdot


def matrix_transpose(x):
    x = np.asarray(x)
    if x.ndim < 2:
        raise ValueError(f"Input array must be at least 2-dimensional, but it is {x.ndim}")
    return np.swapaxes(x, -1, -2)


def method_matrix_transpose(a):
    if a.ndim < 2:
        raise ValueError("matrix transpose with ndim < 2 is undefined")
    return np.swapaxes(a, -1, -2)


def diagonal(x, offset=0):
    return np.diagonal(x, offset, -2, -1)


def trace(x, offset=0, dtype=None):
    return np.sum(np.diagonal(x, offset, -2, -1), -1, dtype)


def linalg_outer(x1, x2):
    x1 = np.asarray(x1)
    x2 = np.asarray(x2)
    if x1.ndim != 1 or x2.ndim != 1:
        raise ValueError(
            f"Input arrays must be one-dimensional, but they are x1.ndim={x1.ndim} and x2.ndim={x2.ndim}."
        )
    return outer(x1, x2)


def linalg_vecdot(x1, x2, axis=-1):
    return vecdot(np.moveaxis(np.asarray(x1), axis, -1), np.moveaxis(np.asarray(x2), axis, -1))


def svdvals(x):
    return svd(x, True, False)


def vector_norm(x, axis=None, keepdims=False, ord=2):
    x = of_its_kind(x)
    if axis is None:
        whole = norm(np.ravel(x), ord, 0)
        if not keepdims:
            return whole
        kept = np.empty((1,) * x.ndim, np.result_type(whole))
        kept[...] = whole
        return kept
    if isinstance(axis, tuple):
        return _norm_over(x, axis, keepdims, ord)
    return norm(x, ord, axis, keepdims)


def _norm_over(x, axis, keepdims, ord):
    # Lines of the elements along several axes.
    others = 1
    for i in range(len(axis)):
        others *= x.shape[axis[i]]
    last = np.moveaxis(x, axis, _last(axis))
    lines = last.reshape(last.shape[: x.ndim - len(axis)] + (others,))
    found = norm(lines, ord, -1)
    if keepdims:
        return np.expand_dims(found, axis)
    return found


def _last(axis):
    # (-n, ..., -1)
    if len(axis) == 0:
        return ()
    return (-len(axis),) + _last(axis[1:])


def matrix_norm(x, keepdims=False, ord="fro"):
    return norm(np.asarray(x), ord, (-2, -1), keepdims)


