"""numpy.linalg of stacks of matrices, and all its keywords: powers, eigenvalues, decompositions, ranks, conditions."""

import numpy as np
import pytest

from numpy_cases import MATRIX, VECTOR, check, same_error

RNG = np.random.default_rng(31)
SQUARES = RNG.random((2, 3, 3)), RNG.random((2, 2, 3, 3)), RNG.random((3, 3))
TALL = RNG.random((3, 2)), RNG.random((2, 3, 2)), RNG.random((2, 2, 2, 3))


def hermitian(a):
    return a @ np.swapaxes(a, -1, -2).conj() + np.eye(a.shape[-1])


@pytest.mark.parametrize("n", [0, 1, 2, 3, 7, -1, -2])
def test_powers_of_stacks(n):
    check("np.linalg.matrix_power(a, b)", *((a, n) for a in SQUARES))
    check("np.linalg.matrix_power(a, b)", ((SQUARES[0] * 9).astype("i4"), abs(n)))
    same_error("np.linalg.matrix_power(a, b)", (TALL[0], n))


def test_eigenvalues_of_stacks():
    stacks = [a.astype("D") for a in SQUARES] + [np.zeros((0, 3, 3), "D"), np.zeros((2, 0, 0), "D")]
    check("np.linalg.eigvals(a)", *stacks)
    check("np.linalg.eig(a)", *stacks)
    same_error("np.linalg.eig(a)", np.full((2, 2, 2), np.nan))


def test_solve_with_one_vector_for_a_stack():
    check("np.linalg.solve(a, b)", *((a, SQUARES[2][0]) for a in SQUARES))
    check("np.linalg.solve(a, b)", (SQUARES[1], SQUARES[2][:, :2]), (SQUARES[1], SQUARES[1]))


@pytest.mark.parametrize("mode", ["reduced", "complete", "r", "raw"])
def test_qr_of_stacks(mode):
    check(f"np.linalg.qr(a, mode='{mode}')", *TALL, TALL[0].astype("F"), np.zeros((0, 3)), np.zeros((3, 0)))
    same_error(f"np.linalg.qr(a, mode='{mode}')", VECTOR)


def test_pseudo_inverses():
    check("np.linalg.pinv(a)", *TALL, *SQUARES, TALL[1].astype("F"), (TALL[0] * 9).astype("i4"), np.ones((3, 3)))
    check("np.linalg.pinv(a)", np.zeros((0, 3)), np.zeros((2, 0, 3)))
    check("np.linalg.pinv(a, rcond=b)", (TALL[1], 0.5), (TALL[1], np.array([0.1, 0.9])))
    check("np.linalg.pinv(a, rtol=0.5)", *TALL)
    check("np.linalg.pinv(a, rtol=None)", *TALL)
    check("np.linalg.pinv(a, hermitian=True)", *(hermitian(a) for a in SQUARES))
    same_error("np.linalg.pinv(a, 0.5, rtol=0.5)", TALL[0])


def test_ranks():
    ones = np.ones((2, 3, 3))
    check("np.linalg.matrix_rank(a)", *TALL, *SQUARES, ones, ones[0], VECTOR, np.zeros(3), np.zeros((0, 3)))
    check("np.linalg.matrix_rank(a, tol=b)", (TALL[1], 0.5), (TALL[1], np.array([0.1, 0.9])))
    check("np.linalg.matrix_rank(a, rtol=0.5)", *TALL)
    check("np.linalg.matrix_rank(a, hermitian=True)", *(hermitian(a) for a in SQUARES), ones)
    same_error("np.linalg.matrix_rank(a, 0.5, rtol=0.5)", TALL[0])


def test_singular_values_of_hermitian_matrices():
    check("np.linalg.svd(a, hermitian=True)", *(hermitian(a) for a in SQUARES), hermitian(SQUARES[2] + 1j))
    check("np.linalg.svd(a, compute_uv=False, hermitian=True)", *(hermitian(a) - 2 * np.eye(3) for a in SQUARES))


def test_conditions_of_singular_matrices():
    for p in ("1", "-1", "np.inf", "-np.inf", "'fro'"):
        check(f"np.linalg.cond(a, {p})", np.zeros((2, 2)), np.zeros((2, 2, 2)), *SQUARES)
    same_error("np.linalg.norm(a, axis=(0, 0))", MATRIX)
