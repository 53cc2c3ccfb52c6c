"""einsum, tensordot, stacks of matrices, traces, norms, least squares against NumPy."""

import numpy as np
import pytest

from krait import njit
from numpy_cases import BYTES, COMPLEX, CUBE, FORTRAN, INTEGERS, MATRIX, RNG, SINGLE, STRIDED, VECTOR, check, same_error
from oracle import agree, expression, make

STACK = RNG.random((2, 3, 4, 5)) - 0.5
SQUARE = RNG.random((5, 5)) - 0.5


def test_einsum():
    check("np.einsum('ij,jk->ik', a, b)", (MATRIX, MATRIX.T), (FORTRAN, SQUARE), (INTEGERS, INTEGERS.T),
          (SINGLE, SINGLE.T), (MATRIX, MATRIX.T + 1j))
    check("np.einsum('ii', a), np.einsum('ii->i', a), np.einsum('ij->ji', a), np.einsum('ij->', a)", SQUARE,
          np.arange(9).reshape(3, 3))
    check("np.einsum('i,i', a, b), np.einsum('i,j', a, b), np.einsum('i,i->i', a, b)", (VECTOR, VECTOR[::-1]),
          (COMPLEX, VECTOR), (BYTES, BYTES))
    check("np.einsum('bij,bjk->bik', a, b)", (CUBE, CUBE.transpose(0, 2, 1)))
    check("np.einsum('...ij,...jk', a, b), np.einsum('...,...->...', a, 2.0 * a)", (CUBE, CUBE.transpose(0, 2, 1)))
    check("np.einsum('ij,j', a, b), np.einsum('ij,j->ij', a, b)", (MATRIX, VECTOR[:5]), (STRIDED, VECTOR[:5]))
    check("np.einsum('ij,jk,kl->il', a, b, a)", (SQUARE, SQUARE.T))
    check("np.einsum('abcd,dcef->abef', a, b), np.einsum('abcd,cd->ab', a, a[0, 0])",
          (STACK, RNG.random((5, 4, 2, 3))))
    check("np.einsum('ba', a), np.einsum('ijk->kj', a[None])", MATRIX)
    check("np.einsum('i...->...', a)", CUBE, MATRIX)
    same_error("np.einsum('ii', a), np.einsum('ii->i', a)", np.ones((1, 2)), np.ones((2, 1)), np.ones((3, 2)))
    same_error("np.einsum('ii->i', a)", np.ones((1, 2)), np.ones((3, 2)))
    same_error("np.einsum('iij->j', a)", np.ones((1, 2, 3)), np.ones((2, 1, 3)))
    same_error("np.einsum('i,jj', a, b)", (VECTOR, np.ones((1, 3))))
    with pytest.raises(ValueError, match="operands could not be broadcast together"):
        njit(expression("np.einsum('ij,jk', a, b)", "a", "b"))(MATRIX, MATRIX)


@pytest.mark.parametrize("subscripts", ["ii->i", "ij->ji", "ji", "i...->...i", "ij", "...", "ij->ij"])
@pytest.mark.parametrize("more", ["", ", dtype=np.float32", ", order='F'"])
def test_einsum_that_sums_nothing_is_a_view(subscripts, more):
    f = make(f"""
        def f(a):
            view = np.einsum({subscripts!r}, a{more})
            a[1] += 5
            view[0] = 77
            return view
    """)
    agree(f, np.arange(9.0).reshape(3, 3))
    agree(f, np.arange(18.0).reshape(3, 6)[:, ::-2])
    agree(lambda a: np.einsum("ii->i", a).flags.writeable, np.broadcast_to(np.arange(3.0), (3, 3)))


def test_tensordot():
    check("np.tensordot(a, b), np.tensordot(a, b, 2)", (MATRIX, MATRIX), (STACK, RNG.random((4, 5, 2))))
    check("np.tensordot(a, b, 1), np.tensordot(a, b, axes=((1,), (0,)))", (MATRIX, SQUARE), (FORTRAN, SQUARE))
    check("np.tensordot(a, b, axes=((1, 0), (0, 1)))", (MATRIX, MATRIX.T), (CUBE, CUBE.transpose(1, 0, 2)))
    check("np.tensordot(a, b, 0)", (VECTOR, INTEGERS))
    same_error("np.tensordot(a, b, 1)", (MATRIX, MATRIX))


def test_stacks():
    check("a @ b, np.matmul(a, b)", (CUBE, CUBE.transpose(0, 2, 1)), (CUBE, MATRIX[:, :3]), (STACK, SQUARE[:, :2]),
          (VECTOR[:3], CUBE), (CUBE, VECTOR[:4]), (STACK, STACK.transpose(0, 1, 3, 2)))
    check("np.dot(a, b)", (CUBE, MATRIX), (CUBE, VECTOR[:4]), (MATRIX, STACK.transpose(0, 1, 3, 2)), (VECTOR[:3], CUBE))
    check("np.inner(a, b)", (CUBE, MATRIX[:3, :4]), (MATRIX, STACK), (VECTOR, VECTOR))
    check("np.outer(a, b)", (VECTOR, MATRIX), (3.0, VECTOR))
    check("a.dot(b), np.vdot(a, b)", (VECTOR, VECTOR), (MATRIX.ravel(), FORTRAN.ravel()))
    same_error("a @ b", (CUBE, CUBE))


def test_others():
    check("np.trace(a), np.trace(a, 1), a.trace(-1)", MATRIX, INTEGERS, FORTRAN, COMPLEX[:12].reshape(3, 4))
    check("np.trace(a), np.trace(a, 1, 1, 2)", CUBE, STACK)
    check("np.diagonal(a, 0, 1, 2), a.diagonal(1)", CUBE)
    check("np.kron(a, b)", (MATRIX, INTEGERS), (VECTOR, MATRIX), (CUBE, VECTOR), (VECTOR, 2.0))
    check("np.cross(a, b)", (VECTOR[:3], VECTOR[3:6]), (RNG.random((4, 3)), VECTOR[:3]), (INTEGERS[:, :3], VECTOR[:3]))
    check("np.cross(a, b, axis=0)", (RNG.random((3, 4)), RNG.random((3, 4))))


def test_norms():
    check("np.linalg.norm(a)", VECTOR, MATRIX, FORTRAN, CUBE, INTEGERS, SINGLE, COMPLEX)
    check("np.linalg.norm(a, b)", *[(VECTOR, p) for p in (1, 2, 3, 0, 0.5, -1, np.inf, -np.inf)], (COMPLEX, 1))
    check("np.linalg.norm(a, b)", *[(SQUARE, p) for p in (1, -1, 2, -2, np.inf, -np.inf)])
    check("np.linalg.norm(a, 'fro'), np.linalg.norm(a, 'nuc'), np.linalg.norm(a, keepdims=True)", MATRIX)
    check("np.linalg.norm(a, axis=0), np.linalg.norm(a, None, -1, True), np.linalg.norm(a, 1, 1)", MATRIX, CUBE, SINGLE)
    check("np.linalg.cond(a), np.linalg.cond(a, 1), np.linalg.cond(a, -2)", SQUARE)


def test_least_squares():
    x = RNG.random((9, 3))
    check("np.linalg.lstsq(a, b)[:3], np.linalg.lstsq(a, b)[3]", (x, VECTOR[:9]), (x, RNG.random((9, 2))),
          (x.astype("f"), VECTOR[:9].astype("f")), (x[:2], VECTOR[:2]), (np.ones((4, 2)), VECTOR[:4]))
    same_error("np.linalg.lstsq(a, b)", (x, VECTOR))


@pytest.mark.parametrize(
    "call", ["np.diff(a, 0)", "np.linalg.matrix_power(a, 1)", "np.meshgrid(a[0], a[1], copy=False)[0]"]
)
def test_what_has_nothing_to_compute_is_no_copy(call):
    f = make(f"def f(a):\n    view = {call}\n    a += 1\n    return view")
    agree(f, np.arange(9.0).reshape(3, 3))
    agree(f, np.arange(9.0).reshape(3, 3).T)
