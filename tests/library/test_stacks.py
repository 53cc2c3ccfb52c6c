"""numpy.linalg of stacks of matrices, names of the array API standard, and keywords that are asked for less often."""

import numpy as np
import pytest

from numpy_cases import CUBE, INTEGERS, MATRIX, VECTOR, check, same_error
from oracle import agree

from krait import jit
from krait.errors import TypingError

SQUARE = np.random.default_rng(3).random((5, 5)) + 5 * np.eye(5)
STACK = np.stack((SQUARE, SQUARE + 1, SQUARE.T))
EVEN = np.stack((SQUARE + SQUARE.T, SQUARE @ SQUARE.T))


@pytest.mark.parametrize("name", ["inv", "det", "slogdet"])
def test_of_a_stack(name):
    text = f"np.linalg.{name}(a)"
    check(text, STACK, STACK.astype("f"), STACK + 1j, np.stack((STACK, STACK)), STACK[:0])
    same_error(text, STACK[:, :3])


def test_solutions_of_stacks():
    check("np.linalg.solve(a, b)", (STACK, SQUARE[0]), (STACK, SQUARE[:, :2]), (SQUARE, STACK), (STACK, EVEN[0][:, 1:]))


@pytest.mark.parametrize(
    "text",
    [
        "cholesky(a @ a.mT)", "cholesky(a[0] @ a[0].T, upper=True)", "eigh(a)", "eigh(a, UPLO='U')", "eigvalsh(a)",
        "svd(a, compute_uv=False)", "svdvals(a)", "qr(a[0], mode='r')",
        "matrix_norm(a)", "matrix_norm(a, ord=2)", "matrix_norm(a, ord='nuc', keepdims=True)",
        "norm(a, 'fro', axis=(1, 2))", "norm(a, 1, axis=(0, 2), keepdims=True)", "norm(a, 2, axis=(0, 1))",
        "vector_norm(a)", "vector_norm(a, axis=1, ord=1)", "vector_norm(a, axis=(0, 2))",
        "vector_norm(a, axis=(0, 2), keepdims=True, ord=3)", "vector_norm(a, keepdims=True)", "diagonal(a)",
        "cond(a)", "cond(a, 2)", "cond(a, -2)", "cond(a[0])", "cond(a, 1)", "cond(a[None], 'fro')",
        "diagonal(a, offset=1)", "trace(a)", "matrix_transpose(a)", "pinv(a[0], hermitian=True)",
    ],
)  # fmt: skip
def test_of_symmetric_stacks(text):
    check(f"np.linalg.{text}", EVEN)


def test_decompositions_give_back_what_they_took_apart():
    check("np.linalg.qr(a, mode='complete')", MATRIX, MATRIX.T.copy())
    check("np.linalg.qr(a)", CUBE)
    check("np.linalg.svd(a)", CUBE)
    check("np.linalg.svd(a, full_matrices=False)", CUBE)


def test_other_names():
    check("np.linalg.outer(a, b)", (VECTOR, VECTOR[:3]))
    check("np.linalg.vecdot(a, b)", (MATRIX, MATRIX))
    check("np.linalg.vecdot(a, b, axis=0)", (MATRIX, INTEGERS))
    check("np.linalg.matmul(a, b)", (MATRIX, MATRIX.T))
    check("np.matrix_transpose(a)", CUBE)
    check("a.mT", CUBE, MATRIX)
    same_error("a.mT", VECTOR)
    same_error("np.linalg.inv(a)", VECTOR)


def test_arrays_made_with_every_keyword():
    check("np.array(a, copy=True, order='F', subok=True, ndmin=3)", MATRIX, INTEGERS)
    check("np.array(a, dtype=np.float32, order='C', ndmin=3)", MATRIX)
    check("np.array(2.5, order='C', ndmin=2) + a", MATRIX)
    check("np.copy(a, 'C', subok=True)", MATRIX.T)
    check("np.asanyarray(a, dtype=np.float32, order='F')", MATRIX)

    def changed(a):
        x = np.asarray(a, copy=True)
        x[0] = 9.0
        return x

    agree(changed, VECTOR)


def test_more_axes_are_those_of_a_copy():
    def written(a):
        x = np.array(a, ndmin=2)
        x[0, 0] = 99.0
        return x

    agree(written, VECTOR)


def test_covariances_of_polynomials():
    x = np.linspace(-1.0, 1.0, 13)
    for cov in ("True", "'unscaled'"):
        check(f"np.polyfit(a, b, 2, cov={cov})", (x, x**3 + np.arange(13)), (x, np.stack((x, np.sin(9 * x)), axis=1)))


def test_slopes_along_several_axes():
    check("np.gradient(a, axis=(0, 1))", MATRIX)
    check("np.gradient(a, 2.0, axis=(0,))", MATRIX)
    check("np.gradient(a, 2.0, 0.5, axis=(1, 0))", MATRIX)
    check("np.gradient(a, axis=(0, 2))", np.arange(60.0).reshape(3, 4, 5) ** 2)


def test_arrays_without_a_copy():
    def written(a):
        x, y, z = np.asarray(a, copy=False), np.array(a, copy=False), np.array(a, copy=None)
        x[0], y[1], z[2] = 7.0, 8.0, 9.0
        return np.array(a, dtype=np.int64, copy=None)

    agree(written, VECTOR)
    for make in (lambda a: np.asarray(a, np.int8, copy=False), lambda a: np.array([1, 2], copy=False),
                 lambda a: np.array(a, np.float32, copy=False)):
        with pytest.raises(ValueError, match="copy"):
            make(VECTOR)
        with pytest.raises(TypingError, match="without a copy"):
            jit(make)(VECTOR)


def test_conditions_of_singular_matrices():
    stack = np.zeros((3, 2, 2))
    stack[1] = np.eye(2)
    for text in ("np.linalg.cond(a)", "np.linalg.cond(a, -2)", "np.linalg.cond(a[0])"):
        check(text, stack, stack.astype("f"))
    check("np.linalg.cond(a)", stack[:0])
    same_error("np.linalg.cond(a)", stack[:, :0])
    same_error("np.linalg.cond(a)", VECTOR)
