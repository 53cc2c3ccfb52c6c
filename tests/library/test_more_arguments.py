"""Arguments that NumPy's functions have and few programs give: ends that are arrays, axes that are tuples, rules by
name, ndmin=, out= and dtype= where arrays are joined."""

import numpy as np
import pytest

from numpy_cases import BYTES, CUBE, FORTRAN, INTEGERS, MATRIX, NOT_NUMBERS, SINGLE, STRIDED, VECTOR, check, same_error

ENDS = (np.array([1.0, 2.0, -4.0]), np.array([3.0, 5.0, -0.5]))


def test_spaces_between_arrays():
    check("np.linspace(a, b, 5), np.linspace(a, b, 4, axis=-1), np.linspace(a, 3, 4, False), np.linspace(0, b, 1)",
          ENDS, (ENDS[0].astype("f"), ENDS[1].astype("f")), (np.arange(3), np.arange(3, 6)))
    check("np.linspace(a, b, 5, retstep=True), np.linspace(a, b, 0), np.linspace(a, b, 3, dtype=np.int64)", ENDS)
    check("np.linspace(a, b[:, None], 4), np.linspace(a, a, 3)", ENDS)
    check("np.linspace(a, 1.0, 5, axis=0), np.linspace(a, 1.0, 5, axis=-1)", (0.25,))
    check("np.logspace(a, b, 5), np.logspace(a, b, 4, axis=-1, base=2.0), np.logspace(1, b, 3, False)", ENDS)
    check("np.logspace(1, 2, 5, base=a), np.logspace(a, 2, 5, base=b, axis=-1)", (ENDS[1][:2], ENDS[1][:2]))
    check("np.geomspace(a, b, 5), np.geomspace(a, b, 4, axis=1), np.geomspace(a, b, 3, False)", ENDS)
    check("np.geomspace(a, b, 5)", (1j, -8), (-1, -8), (1 + 2j, 3 - 1j), (1, 1000))
    same_error("np.geomspace(a, b)", (ENDS[0], ENDS[1] * 0))


def test_axes_that_are_tuples():
    check("np.roll(a, (1, 2), (0, 1)), np.roll(a, 1, axis=(0, 1)), np.roll(a, (1, 2), axis=0), np.roll(a, (1, -3))",
          MATRIX, FORTRAN, STRIDED, BYTES.reshape(1, 13))
    check("np.roll(a, [1, 2], [0, -1]), np.roll(a, (3, 1), (1, 1))", MATRIX)
    same_error("np.roll(a, 1, (0, 2))", MATRIX)
    check("np.flip(a, (0, 2)), np.flip(a, (1,)), np.flip(a, (-1, 0)), np.flip(a, (0, 1, 2))", CUBE, CUBE.T)
    same_error("np.flip(a, (0, 0))", CUBE)
    same_error("np.flip(a, (0, 3))", CUBE)
    check("np.expand_dims(a, (0, 2)), np.expand_dims(a, (-1, 0)), np.expand_dims(a, (1,))", MATRIX, FORTRAN, STRIDED)
    check("np.squeeze(a[None, :, None], axis=(0, 2)), np.squeeze(a[None, :, None], (-2, 0))", MATRIX, FORTRAN)
    same_error("np.squeeze(a[None], (0, 1))", MATRIX)
    check("np.moveaxis(a, (0, 1), (1, 0)), np.moveaxis(a, (0, 2), (-1, 0)), np.moveaxis(a, (2,), (0,))", CUBE, CUBE.T)
    check("np.tensordot(a, a, axes=([0, 1], [0, 1])), np.tensordot(a, a, [[0], [0]]), np.tensordot(a, a, (1, 1))",
          MATRIX, INTEGERS, STRIDED)


@pytest.mark.parametrize("rule", "auto fd doane scott stone rice sturges sqrt".split())
def test_bins_by_rule(rule):
    check(f"np.histogram(a, bins='{rule}'), np.histogram_bin_edges(a, '{rule}')", VECTOR, MATRIX, BYTES, SINGLE,
          INTEGERS, VECTOR[:1], VECTOR[:0], np.full(7, 2.0))
    check(f"np.histogram(a, '{rule}', range=(-0.2, 0.3)), np.histogram(a, '{rule}', density=True)", VECTOR)
    same_error(f"np.histogram(a, '{rule}', weights=a)", VECTOR)


def test_distinct_slices():
    some = np.array([[1, 2, 1], [3, 4, 3], [1, 2, 1], [0, 9, 0]])
    check("np.unique(a, axis=0), np.unique(a, axis=1), np.unique(a, True, True, True, axis=0)", some, some.astype("d"),
          some.astype("B"), some[::-1], some.T, some[:0])
    check("np.unique(a, return_counts=True, axis=1), np.unique(a, return_inverse=True, axis=-1)", some, some > 1)
    check("np.unique(a, axis=0), np.unique(a, axis=2, return_index=True)", np.stack((some, some, some * 2)))
    check("np.unique(a, axis=0)", NOT_NUMBERS)
    same_error("np.unique(a, axis=1)", NOT_NUMBERS)


def test_arrays_of_at_least_some_axes():
    check("np.array(a, ndmin=3), np.array(a, np.float32, ndmin=4), np.array(a, ndmin=1)", MATRIX, FORTRAN, INTEGERS)
    check("np.array([1, 2], ndmin=2), np.array(3.5, ndmin=1), np.array(((1, 2), (3, 4)), ndmin=3), a", VECTOR)


def test_joining_into_arrays_and_types():
    check("np.concatenate((a, a), axis=1, out=np.empty((4, 10))), np.stack((a, a), -1, np.empty((4, 5, 2)))", MATRIX,
          INTEGERS)
    check("np.concatenate((a, a), dtype=np.float32), np.stack((a, a), dtype=np.float32), "
          "np.hstack((a, a), dtype='f'), np.vstack([a, a], dtype=np.float32, casting='unsafe')", MATRIX, FORTRAN)
    check("np.concatenate((a, a), axis=None, dtype=np.int8, casting='unsafe')", MATRIX)
    same_error("np.concatenate((a, a), out=np.empty((4, 10)))", MATRIX)


def test_covariances_of_a_type():
    check("np.cov(a, dtype=np.float64), np.corrcoef(a, dtype=np.float64)", MATRIX, INTEGERS, SINGLE)
    function = "np.cov(a, dtype=np.float32).dtype.itemsize, np.corrcoef(a, dtype=np.float32).dtype.itemsize"
    check(function, MATRIX, INTEGERS)
