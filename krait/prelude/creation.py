"""NumPy's functions that fill what they make: ones, full and their _like forms."""

import numpy as np


def ones(shape, dtype=None, order="C"):
    array = np.empty(shape, dtype, order)
    array[...] = 1
    return array


def full(shape, fill_value, dtype=None, order="C"):
    if dtype is None:
        array = np.empty(shape, np.result_type(fill_value), order)
        array[...] = fill_value
        return array
    array = np.empty(shape, dtype, order)
    array[...] = fill_value
    return array


def ones_like(a, dtype=None, order="K", subok=True, shape=None):
    array = np.empty_like(a, dtype, order, subok, shape)
    array[...] = 1
    return array


def full_like(a, fill_value, dtype=None, order="K", subok=True, shape=None):
    array = np.empty_like(a, dtype, order, subok, shape)
    array[...] = fill_value
    return array
