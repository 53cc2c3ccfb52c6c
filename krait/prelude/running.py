"""Running sums and products: of all elements in order, or along an axis."""

import numpy as np

from krait.prelude.intrinsics import packed
from krait.prelude.reductions import along
from krait.prelude.shaping import together
from krait.prelude.sums import sum_type


def cumsum(a, axis=None, dtype=None, out=None):
    a = np.asarray(a)
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
    if axis is None:
        x = packed(together(a, "C"), -1, a.size, "C")
        return along(running_products(x, sum_type(a, dtype)), 0, out, False)
    return along(running(np.multiply, a, axis, sum_type(a, dtype)), 0, out, False)


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
