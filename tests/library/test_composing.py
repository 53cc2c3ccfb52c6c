"""np.mgrid, ogrid, r_, c_, s_, block, piecewise and fromfunction against NumPy."""

import numpy as np
import pytest

from krait import njit
from krait.errors import TypingError
from numpy_cases import CUBE, FORTRAN, INTEGERS, MATRIX, NOT_NUMBERS, SINGLE, STRIDED, VECTOR, check, same_error
from oracle import make


@pytest.mark.parametrize(
    "index", ["0:3, 0:4", "0:1:5j", "-1:1:3j, 0:2", "2:9:3", ":3, :2:0.5", ":a", "a:0:-2, 1:a", "0:0, :2", ":2, :3, :4"]
)
def test_grids(index):
    check(f"np.mgrid[{index}], np.ogrid[{index}]", 5)


def test_grid_of_a_shape():
    check("np.mgrid[: a.shape[0], : a.shape[1]], np.ogrid[: a.shape[0], : a.shape[1]]", MATRIX, FORTRAN)


def test_rows_and_columns():
    check("np.r_[a, 1, 2:5], np.r_[1:4, 0, 4], np.r_[0:1:3j], np.r_[a, a], np.r_[a]", VECTOR, SINGLE, STRIDED)
    check("np.c_[a, a], np.c_[a], np.c_[1:4, 4:7]", VECTOR, INTEGERS)
    check("np.c_[a, a[:, 0]], np.r_[a, a]", MATRIX, FORTRAN)
    small = INTEGERS.astype(np.int8)[0]
    check("np.r_[a, b], np.c_[a, b][:, 0]", (small[:1], 5), (SINGLE[0, :1], 300))
    same_error("np.r_[a, b]", (small, 300), (small.astype("B"), -1))
    same_error("np.c_[a, b]", (small[:1], 300))
    check("a[np.s_[1:3]], a[np.index_exp[1:3, 0]], a[np.s_[..., 0]]", MATRIX)


def test_called_makers():
    with pytest.raises(TypingError, match="is not called"):
        njit(make("def f():\n    return np.mgrid(3)"))()


def test_blocks():
    check("np.block([[a, a], [a, a]]), np.block([a, 2 * a]), np.block(a)", MATRIX, FORTRAN, SINGLE, CUBE)
    check("np.block([[a, np.ones((a.shape[0], 1))], [np.zeros((1, a.shape[1] + 1))]])", MATRIX)
    check("np.block([1, a, [2, 3][0]]), np.block([[a, 1.5], [2, a]])", VECTOR)
    same_error("np.block([[a], a])", VECTOR)
    same_error("np.block([[a, a], [a]])", VECTOR)


def test_piecewise():
    check("np.piecewise(a, [a < 2, a >= 2], [lambda x: -x, lambda x: x * 2])", VECTOR, MATRIX, INTEGERS, SINGLE)
    check("np.piecewise(a, [a < 0, a >= 4], [-1, 1, 0]), np.piecewise(a, [a < 0], [7])", VECTOR, INTEGERS, NOT_NUMBERS)
    check("np.piecewise(a, [a < 2, a >= 4], [-1, lambda x: x**2, 7])", VECTOR, MATRIX)
    check("np.piecewise(a, a < 2, [-1, lambda x, k: x + k], 3)", VECTOR, INTEGERS)
    same_error("np.piecewise(a, [a < 2, a >= 4], [-1])", VECTOR)
    check("np.piecewise(a, [b > 1], [3, 4]), np.piecewise(a, [b > 1], [3])", (VECTOR, VECTOR[:0]))


def test_fromfunction():
    check("np.fromfunction(lambda i, j: i + a * j, (3, 4)), np.fromfunction(lambda i: i == a, (3,), dtype=int)", 2)
