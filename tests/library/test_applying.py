"""Functions of lines, places as numbers, arrays of what is iterated over, running sums with their first, systems and
products of arrays, draws that belong together: against NumPy."""

import numpy as np
import pytest

from krait import njit
from numpy_cases import BYTES, COMPLEX, CUBE, FORTRAN, INTEGERS, MATRIX, RNG, SINGLE, VECTOR, check, compare, same_error
from oracle import agree, expression, outcome


def test_unravel_index():
    for order in ("'C'", "'F'"):
        check(f"np.unravel_index(a, b, {order})", (22, (7, 6)), (5, (9,)), (np.uint8(3), (2, 2)))
        places = np.array([[1, 2], [3, 4]])
        check(f"np.unravel_index(a, b, {order})", (np.array([3, 41, 5]), (7, 6)), (places, (2, 3, 4)))
    check("np.unravel_index(a, b)", (5, 9), ([1, 2], (3, 3)))
    same_error("np.unravel_index(a, b)", (99, (7, 6)), (-1, (7, 6)), (np.array([1, 99]), (7, 6)))
    same_error("np.unravel_index(a, (3, 3))", np.ones(2))


def test_ravel_multi_index():
    for more in ("", ", 'wrap'", ", 'clip', order='F'"):
        check(f"np.ravel_multi_index(a, b{more})", ((3, 4), (7, 6)), ((1, 2, 3), (2, 3, 4)), ((np.int8(1), 2), (4, 4)),
              ((np.array([3, 6]), np.array([4, 5])), (7, 6)), ((3, 9), (7, 6)), ((-1, 2), (7, 6)))
    same_error("np.ravel_multi_index(a, b)", ((3, 9), (7, 6)), ((np.array([3, -1]), np.array([4, 5])), (7, 6)))


@pytest.mark.parametrize("axis", (0, 1, 2, -1))
def test_apply_along_axis(axis):
    agree(lambda x: np.apply_along_axis(lambda line: line.max(), axis, x), CUBE)
    agree(lambda x: np.apply_along_axis(lambda line: np.sort(line)[:2], axis, x), CUBE)
    agree(lambda x: np.apply_along_axis(lambda line, k: line * k, axis, x, 3), CUBE)


def test_apply_along_the_only_axis_and_none():
    agree(lambda x: np.apply_along_axis(lambda line: line * 2, 0, x), VECTOR)
    same_error("np.apply_along_axis(lambda line: line, 0, a)", np.ones((3, 0)))


def test_fromiter():
    check("np.fromiter(range(a), np.float64), np.fromiter(range(a), np.int32, 3)", 5, 4)
    check("np.fromiter(a, dtype=np.float32), np.fromiter(a, np.int64, count=2)", [1, 2, 3], VECTOR)
    check("np.fromiter(range(0), np.int8)", 1)
    same_error("np.fromiter(range(a), np.int32, 7)", 5)


def test_cumulative():
    for name in ("sum", "prod"):
        check(f"np.cumulative_{name}(a), np.cumulative_{name}(a, include_initial=True)", VECTOR, BYTES, COMPLEX)
        check(f"np.cumulative_{name}(a, axis=1)", MATRIX, INTEGERS)
        check(f"np.cumulative_{name}(a, axis=0, include_initial=True)", MATRIX, INTEGERS)
        check(f"np.cumulative_{name}(a, axis=-1, dtype=np.float32, include_initial=True)", CUBE)
        check(f"np.cumulative_{name}(a)", 3.0)
        check(f"np.cumulative_{name}(a, out=b, include_initial=True)", (VECTOR, np.zeros(14)))
        same_error(f"np.cumulative_{name}(a)", MATRIX)


def test_conj():
    agree(lambda x: (x.conj(), x.conjugate()), COMPLEX)
    agree(lambda x: (x.conj(), x.conjugate()), VECTOR)
    check("a.conj(), a.conjugate()", SINGLE, INTEGERS, FORTRAN + 1j)


def test_systems_of_arrays():
    a = np.eye(24).reshape(6, 4, 2, 3, 4) + RNG.random((6, 4, 2, 3, 4))
    check("np.linalg.tensorsolve(a, b)", (a, RNG.random((6, 4))))
    same_error("np.linalg.tensorsolve(a, b)", (a[:3], RNG.random((3, 4))))
    square = np.eye(24) + RNG.random((24, 24))
    check("np.linalg.tensorinv(a), np.linalg.tensorinv(a, 3)", square.reshape(4, 6, 24).reshape(4, 6, 8, 3))
    check("np.linalg.tensorinv(a, ind=1)", square.reshape(24, 8, 3))
    same_error("np.linalg.tensorinv(a, 0)", square)


def test_products_of_several():
    a, b, c, d = (RNG.random(shape) for shape in ((3, 40), (40, 5), (5, 60), (60, 2)))
    cases = [
        (lambda a, b, c, d: np.linalg.multi_dot([a, b, c, d]), (a, b, c, d)),
        (lambda a, b, c: np.linalg.multi_dot([a, b, c]), (a, b, c)),
        (lambda a, b: np.linalg.multi_dot((a, b)), (a, b)),
        (lambda a, b, c: np.linalg.multi_dot((a, b, c)), (a[0], b, c[:, 0].copy())),
    ]
    for function, args in cases:  # dot, which NumPy uses there, and matmul may call their BLAS in different ways
        ours, theirs = njit(function)(*args), function(*args)
        np.testing.assert_allclose(ours, theirs, rtol=1e-13, strict=True)


# ---- draws that belong together --------------------------------------------------------------------------------------

P = np.array([0.1, 0.2, 0.3, 0.4])
NUMPY = [
    "choice(4, p=p)", "choice(4, 5, p=p)", "choice(4, (2, 3), True, p)", "choice(4, 3, False, p)", "choice(p, 3, p=p)",
    "choice(4, 3, False)", "choice(p)", "choice(p, (2, 1))", "choice(5)", "choice(5, 4)", "choice(4, 1, False, p=p)",
    "choice(3, p=p)", "choice(4, 9, False, p)", "choice(4, p=p * 2)", "choice(4, p=-p)", "choice(p[:0])", "choice(0)",
    "choice(4, 2, p=p * np.nan)",
    "dirichlet(p)", "dirichlet(p, 4)", "dirichlet(p, (2, 3))", "dirichlet((1.0, 2.0, 3.0))", "dirichlet(p - 0.1)",
    "multinomial(20, p)", "multinomial(20, p, 3)", "multinomial(0, p, (2, 2))", "multinomial(3, (p > 0.2) / 2)",
    "multinomial(5, p * 3)", "multinomial(-5, p)", "multinomial(5, p + 0.1)",
]  # fmt: skip
GENERATOR = [
    "choice(5)", "choice(5, 3)", "choice(5, (2, 3))", "choice(5, 3, replace=False)", "choice(p)", "choice(p, 3)",
    "choice(5, 3, False, shuffle=False)", "choice(p, p=p)", "choice(4, 6, p=p)", "choice(4, 3, False, p)",
    "choice(p, 4, replace=False, p=p)", "choice(20000, 500, False)", "choice(20000, 300, replace=False)",
    "choice(20000, 900, replace=False, shuffle=False)", "choice(10**12, 9, replace=False)", "choice(5, replace=False)",
    "choice(4, p=p, replace=False)", "choice(3, 5, False)", "choice(0)", "choice(4, p=p * 2)",
    "choice(p.reshape(2, 2), 3)", "choice(p.reshape(2, 2), 3, axis=1)", "choice(p.reshape(2, 2))",
]  # fmt: skip


@pytest.mark.parametrize("draw", NUMPY)
def test_draws_of_numpy(draw):
    function, drawn = expression("np.random." + draw, "p"), []
    for candidate in (njit(function), function):
        np.random.seed(3)
        drawn.append(tuple(outcome(candidate, (P.copy(),), {}) for _ in range(3)) + (np.random.rand(),))
    for ours, theirs in zip(*drawn):
        compare(ours, theirs, draw)


@pytest.mark.parametrize("draw", GENERATOR)
def test_draws_of_generators(draw):
    function, drawn = expression("rng." + draw, "rng", "p"), []
    for candidate in (njit(function), function):
        rng = np.random.default_rng(5)
        drawn.append(tuple(outcome(candidate, (rng, P.copy()), {}) for _ in range(3)) + (rng.random(),))
    for ours, theirs in zip(*drawn):
        compare(ours, theirs, draw)
