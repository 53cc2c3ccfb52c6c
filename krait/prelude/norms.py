"""Norms of vectors and matrices, and of stacks of them, and condition numbers."""

import math

import numpy as np
from numpy.linalg import LinAlgError

from krait.prelude.linear import inv_or_nan, kind_of, real_kind, svd
from krait.prelude.products import of_dtype, product


def of_its_kind(x):
    # An array of floats or complex numbers.
    return of_dtype(np.asarray(x), kind_of(np.asarray(x)))


def norm(x, ord=None, axis=None, keepdims=False):
    x = of_its_kind(x)
    if axis is None:
        if ord is None:
            return _kept(_root_of_squares(x), x, keepdims)
        if x.ndim == 1:
            return _vector_norm(x, ord, -1, keepdims)
        if x.ndim == 2:
            return _kept(_matrix_norm(x, ord), x, keepdims)
        raise ValueError("Improper number of dimensions to norm.")
    if not isinstance(axis, tuple):
        return _vector_norm(x, ord, axis, keepdims)
    if len(axis) == 1:
        return _vector_norm(x, ord, axis[0], keepdims)
    if len(axis) != 2:
        raise ValueError("Improper number of dimensions to norm.")
    np.moveaxis(x, axis[0], 0)  # there are such axes
    np.moveaxis(x, axis[1], 0)
    if axis[0] % x.ndim == axis[1] % x.ndim:
        raise ValueError("Duplicate axes given.")
    if x.ndim == 2:
        return _kept(_matrix_norm(x, ord), x, keepdims)
    matrices = np.moveaxis(x, axis, (-2, -1))
    norms = np.empty(matrices.shape[:-2], real_kind(x))
    _of_each(_matrix_norm_of_stack, matrices, ord, norms)
    if keepdims:
        return np.expand_dims(norms, axis)
    return norms


def _of_each(matrix_function, x, argument, out):
    for i in range(len(x)):
        if x.ndim == 3:
            out[i] = matrix_function(x[i], argument)
        else:
            _of_each(matrix_function, x[i], argument, out[i])


def _matrix_norm_of_stack(x, ord):
    if ord is None or ord == "fro" or ord == "f":
        return np.sqrt(np.sum(_squares(x)))
    return _matrix_norm(x, ord)


def _root_of_squares(x):
    flat = x.ravel("K")
    if flat.dtype.kind == "c":
        return np.sqrt(product(flat.real, flat.real) + product(flat.imag, flat.imag))
    return np.sqrt(product(flat, flat))


def _kept(value, x, keepdims):
    if not keepdims:
        return value
    whole = np.empty((1,) * x.ndim, np.result_type(value))
    whole[...] = value
    return whole


def _squares(x):
    if x.dtype.kind == "c":
        return x.real * x.real + x.imag * x.imag
    return x * x


def _vector_norm(x, ord, axis, keepdims):
    if ord is None:
        return np.sqrt(np.sum(_squares(x), axis, None, None, keepdims))
    if ord == "fro" or ord == "f" or ord == "nuc":
        raise ValueError(f"Invalid norm order '{ord}' for vectors")
    if ord == math.inf:
        return np.max(np.abs(x), axis, None, keepdims)
    if ord == -math.inf:
        return np.min(np.abs(x), axis, None, keepdims)
    if ord == 0:
        return np.sum((x != 0).astype(real_kind(x)), axis, None, None, keepdims)
    if ord == 1:
        return np.sum(np.abs(x), axis, None, None, keepdims)
    if ord == 2:
        return np.sqrt(np.sum(_squares(x), axis, None, None, keepdims))
    total = np.sum(np.power(np.abs(x), real_kind(x).type(ord)), axis, None, None, keepdims)
    return np.power(total, real_kind(x).type(1 / ord))


def _matrix_norm(x, ord):
    if ord is None:
        return _root_of_squares(x)
    if ord == "fro" or ord == "f":
        return _root_of_squares(x)
    if ord == "nuc":
        return np.sum(svd(x, True, False))
    if ord == 2:
        return svd(x, True, False)[0]
    if ord == -2:
        return np.min(svd(x, True, False))
    if ord == 1:
        return np.max(np.sum(np.abs(x), 0))
    if ord == -1:
        return np.min(np.sum(np.abs(x), 0))
    if ord == math.inf:
        return np.max(np.sum(np.abs(x), 1))
    if ord == -math.inf:
        return np.min(np.sum(np.abs(x), 1))
    raise ValueError("Invalid norm order for matrices.")


def cond(x, p=None):
    x = np.asarray(x)
    if x.ndim < 2:
        raise LinAlgError(f"{x.ndim}-dimensional array given. Array must be at least two-dimensional")
    if x.shape[-1] == 0 or x.shape[-2] == 0:
        raise LinAlgError("cond is not defined on empty arrays")
    if x.ndim == 2:
        return _condition(x, p)
    conditions = np.empty(x.shape[:-2], real_kind(x))
    _of_each(_condition, x, p, conditions)
    return conditions


def _condition(x, p):
    condition = _condition_of_values(x, p)
    if np.isnan(condition) and not np.isnan(x).any():
        return real_kind(x).type(math.inf)
    return condition


def _condition_of_values(x, p):
    if p is None:
        s = svd(x, True, False)
        return s[0] / s[len(s) - 1]
    if p == 2:
        s = svd(x, True, False)
        return s[0] / s[len(s) - 1]
    if p == -2:
        s = svd(x, True, False)
        return s[len(s) - 1] / s[0]
    return norm(x, p) * norm(inv_or_nan(x), p)
