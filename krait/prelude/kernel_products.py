"""Products in kernels: each thread computes a number, or what goes into the array that it is given.  What would make an
array is the function of products.py, which is refused there with its reason."""

import numpy as np

from krait.prelude import norms, products
from krait.prelude.intrinsics import data_address


def wide(dtype):
    # What is added up in: a float16 adds as float32.
    return np.dtype(np.float32) if np.dtype(dtype) == np.float16 else np.dtype(dtype)


def line_product(a, b, dtype):
    # Of two vectors of one length.
    total = wide(dtype).type(0)
    for i in range(a.size):
        total += wide(dtype).type(a[i]) * wide(dtype).type(b[i])
    return dtype.type(total)


def are_lines(a, b):
    return np.ndim(a) == 1 and np.ndim(b) == 1


def check_lengths(a, b):
    if a.size != b.size:
        raise ValueError("the vectors of a product have different lengths")


def first_and_last(a):
    # Addresses of the first byte and of the one behind the last.
    low = high = data_address(a)
    for axis in range(a.ndim):
        reach = (a.shape[axis] - 1) * a.strides[axis]
        if reach < 0:
            low += reach
        else:
            high += reach
    return low, high + a.itemsize


def check_apart(a, out):
    # NumPy computes into other memory where these overlap.
    a_low, a_high = first_and_last(a)
    low, high = first_and_last(out)
    if a.size > 0 and out.size > 0 and a_low < high and low < a_high:
        raise ValueError("out of a product overlaps what is multiplied: in kernels it must be other memory")


def rank_of(dtype):
    kind = np.dtype(dtype).kind
    if kind == "c":
        return 3
    if kind == "f":
        return 2
    return 0 if kind == "b" else 1


def check_kind(dtype, out):
    # Where NumPy would refuse to convert.
    if rank_of(dtype) > rank_of(out.dtype):
        raise TypeError("the type of out is not one that the type of the product converts to")


def matrix_into(a, b, out, dtype):
    if a.shape[1] != b.shape[0] or out.shape[0] != a.shape[0] or out.shape[1] != b.shape[1]:
        raise ValueError("the shapes of a product do not fit: (n, k) times (k, m) goes into (n, m)")
    check_kind(dtype, out)
    check_apart(a, out)
    check_apart(b, out)
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = line_product(a[i], b[:, j], dtype)


def into(a, b, out):
    dtype = np.result_type(a, b)
    if a.ndim == 2 and b.ndim == 2:
        matrix_into(a, b, out, dtype)
    elif a.ndim == 2:
        matrix_into(a, b[:, None], out[:, None], dtype)
    else:
        matrix_into(a[None, :], b, out[None, :], dtype)
    return out


def goes_into(a, b, out):
    return out is not None and 0 < np.ndim(a) < 3 and 0 < np.ndim(b) < 3 and np.ndim(a) + np.ndim(b) > 2


def matmul(a, b, out=None):
    if out is None and are_lines(a, b):
        check_lengths(a, b)
        return line_product(a, b, np.result_type(a, b))
    if goes_into(a, b, out):
        return into(a, b, out)
    return products.matmul(a, b, out)


def dot(a, b, out=None):
    if out is None and are_lines(a, b):
        check_lengths(a, b)
        return line_product(a, b, np.result_type(a, b))
    if out is None and np.ndim(a) == 0 and np.ndim(b) == 0:
        return np.multiply(a, b)
    if goes_into(a, b, out):
        return into(a, b, out)
    return products.dot(a, b, out)


def inner(a, b):
    if are_lines(a, b):
        return dot(a, b)
    return products.inner(a, b)


def conjugated_product(a, b):
    dtype = np.result_type(a, b)
    if a.size != b.size:
        raise ValueError("the vectors of a product have different lengths")
    total = wide(dtype).type(0)
    for i in range(a.size):
        total += np.conjugate(wide(dtype).type(a.flat[i])) * wide(dtype).type(b.flat[i])
    return dtype.type(total)


def vdot(a, b):
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return products.vdot(a, b)
    return conjugated_product(a, b)


def vecdot(a, b):
    if are_lines(a, b):
        return conjugated_product(a, b)
    return products.vecdot(a, b)


def outer(a, b, out=None):
    if out is None or np.ndim(a) == 0 or np.ndim(b) == 0:
        return products.outer(a, b, out)
    if out.ndim != 2 or out.shape[0] != a.size or out.shape[1] != b.size:
        raise ValueError("out of an outer product has another shape")
    check_kind(np.result_type(a, b), out)
    check_apart(a, out)
    check_apart(b, out)
    for i in range(a.size):
        for j in range(b.size):
            out[i, j] = a.flat[i] * b.flat[j]
    return out


def float_type(dtype):
    # Of complex numbers that of their parts; integers are float64.
    if dtype.kind == "f" or dtype.kind == "c":
        return np.dtype(np.result_type(np.abs(dtype.type(0))))
    return np.dtype(np.float64)


def norm(x, ord=None, axis=None, keepdims=False):
    if ord is not None or axis is not None or keepdims or np.ndim(x) == 0:
        return norms.norm(x, ord, axis, keepdims)
    dtype = float_type(x.dtype)
    total = wide(dtype).type(0)
    for i in range(x.size):
        item = x.flat[i]
        total += wide(dtype).type(item.real) * wide(dtype).type(item.real)
        if x.dtype.kind == "c":
            total += wide(dtype).type(item.imag) * wide(dtype).type(item.imag)
    return dtype.type(np.sqrt(total))
