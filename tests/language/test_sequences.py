"""Lists and tuples in place of arrays: operands of ufuncs and operators, what is stored, arguments of functions."""

import numpy as np
import pytest

from krait import njit
from numpy_cases import FORTRAN, INTEGERS, MATRIX, SINGLE, VECTOR, check, same_error
from oracle import make


def test_operands_of_ufuncs():
    check("np.maximum([1, 2, 3], a), np.exp([1.0, 2]), np.sqrt((1.0, 4)), np.add([[1], [2]], (3, 4))", 2)
    check("np.power([1, 2, 3], [2, 2, 2]), np.hypot([3.0, 4], 4.0), np.logical_and([True, False], [a, a])", 1)
    check("np.add.outer([1, 2], [3, 4]), np.minimum.reduce([a, a * 2, a - 1])", VECTOR)


@pytest.mark.parametrize("operator", ["+", "-", "*", "/", "//", "%", "**", "<", "==", "!=", ">="])
def test_operators(operator):
    text = f"a {operator} [1, 2, 3, 4], (4.0, 3.0, 2.0, 1.0) {operator} a, a[0] {operator} [1, 2.5, 3, 1]"
    check(text, np.arange(1.0, 13).reshape(3, 4), np.arange(12, dtype=np.int32).reshape(3, 4) + 1)


def test_in_place():
    for text in ["a += [1, 2, 3, 4]", "a[0] -= (1, 2, 3, 4)", "a *= a[1].tolist()",
                 "x = [1, 2, 3, 4]\n    x += a[0]\n    return x"]:
        function = make(f"def f(a):\n    {text}\n    return a")
        ours, theirs = np.arange(12.0).reshape(3, 4), np.arange(12.0).reshape(3, 4)
        np.testing.assert_array_equal(njit(function)(ours), function(theirs))
        np.testing.assert_array_equal(ours, theirs)


def test_what_is_stored():
    for text in ["a[0] = [1, 2, 3, 4]", "a[1:] = [[1, 2, 3, 4], [5, 6, 7, 8]]", "a[0, 1:3] = [7, 8.5]",
                 "a[...] = [1.5]",
                 "a[[0, 2]] = [1, 2, 3, 4]", "a[a > 5] = [1, 2, 3, 4, 5, 6]", "a[:, 0] = [x * 2 for x in range(3)]"]:
        function = make(f"def f(a):\n    {text}\n    return a")
        for dtype in (np.float64, np.int16, np.complex64):
            ours, theirs = (np.arange(12).reshape(3, 4).astype(dtype) for _ in "ab")
            if "8.5" in text and dtype == np.complex64:
                continue
            np.testing.assert_array_equal(njit(function)(ours), function(theirs))
    same_error("np.add(a, [1, 2])", MATRIX)


def test_arguments():
    check("np.dot(a, [1, 2, 3, 4][: a.shape[1]]), a @ [1.0, 2, 3, 4][: a.shape[1]]", MATRIX, FORTRAN)
    check("np.linalg.solve([[2.0, 1], [1, 3]], [a, 2]), np.linalg.norm([3.0, 4]), np.inner([1, 2], [3, 4])", 1.0)
    check("np.clip(a, 1, [5] * a.shape[-1])", MATRIX, INTEGERS)
    check("np.full((2, 2), [1, a])", 5)


def test_joined():
    check("np.concatenate([a, [1.0, 2]]), np.concatenate((a, [1.0, 2])), np.hstack([a, 1]), np.hstack((a, 1, [2]))",
          VECTOR, SINGLE)
    check("np.vstack([a, a[0]]), np.vstack((a[0], a)), np.column_stack([a, a[:, 0]]), np.stack([a, a.T.copy().T])",
          MATRIX, FORTRAN)


def test_sums_of_arrays():
    check("sum([a, a]), sum((a, a * 2)), sum([x for x in a]), sum([a], a), sum([a, a], 1.5)", VECTOR, MATRIX, SINGLE)
    check("sum(a), sum([a > 3, a > 4]), sum(x * 2 for x in a)", MATRIX, FORTRAN,
          np.arange(6, dtype=np.uint8).reshape(2, 3))


def test_rows_that_are_enumerated_twice():
    check("[r.sum() for r in a], {i: r.max() for i, r in enumerate(a)}, [i + r[0] for i, r in enumerate(a)]",
          MATRIX, FORTRAN)


def test_ranges():
    check("a[range(3), [0, 1, 2]], a[range(2)], a[:, range(0, 4, 2)], a[range(0)], np.maximum(range(3), 1)",
          MATRIX, FORTRAN)
    check("np.array(range(a)), np.asarray(range(5, 0, -2)), np.array(range(3), dtype=np.float32), np.sum(range(a))", 4)
    function = make("def f(a, b):\n    a[range(len(a)), b] -= 1\n    return a")
    places = np.array([1, 2, 0])
    np.testing.assert_array_equal(njit(function)(np.ones((3, 4)), places), function(np.ones((3, 4)), places))


def test_views_and_copies_of_lists():
    check("np.transpose([[1, 2], [3, a]]), np.swapaxes([[1, 2], [3, a]], 0, 1), np.expand_dims([1, a], 0)", 4)
    check("np.zeros_like([1, a]), np.full_like([1, a], 7), np.tril([[1, 2], [3, a]]), np.triu([[1, 2], [3, a]])", 4)
    check("np.reshape([1, 2, 3, a], (2, 2)), np.broadcast_to([1, a], (3, 2)), np.ravel([[1, 2], [3, a]])", 4)
