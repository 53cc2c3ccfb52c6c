"""Keywords that NumPy's functions have and few programs give: copy= of reshape, out= of transforms and products, order=
and subok= of ufuncs, device= and like=, axes of polynomials and of what is trimmed."""

import numpy as np
import pytest

from krait import errors, njit
from numpy_cases import COMPLEX, CUBE, FORTRAN, INTEGERS, MATRIX, SINGLE, STRIDED, VECTOR, check, same_error
from oracle import expression

SQUARE = MATRIX[:, :4]


def test_whether_a_reshaped_array_is_a_copy():
    check("a.reshape((10, 2), copy=True), np.reshape(a, 20, copy=None), a.reshape(-1, copy=True, order='F')", MATRIX,
          FORTRAN, STRIDED, INTEGERS)
    check("a.reshape((2, -1), copy=False), np.reshape(a, (4, 5, 1), copy=False, order='C')", MATRIX)
    check("np.reshape(a, (4, 5, 1), copy=False), a.reshape((5, 4), order='A', copy=True)", STRIDED, FORTRAN)
    same_error("a.reshape(20, copy=False)", FORTRAN, STRIDED)
    same_error("np.reshape(a, 20, order='F', copy=False)", MATRIX)

    @njit
    def written(a, copy):
        a.reshape(20, copy=copy)[3] = 9
        return a[0, 3]

    assert written(MATRIX.copy(), True) == MATRIX[0, 3]
    assert written(MATRIX.copy(), False) == 9


def test_order_and_subok_of_ufuncs():
    text = "np.add(a, 1, order='C').flags.{0}, np.add(a, a, order='F').flags.{0}, np.sin(a, order='K').flags.{0}"
    for flag in ("c_contiguous", "f_contiguous"):
        check(text.format(flag), MATRIX, FORTRAN)
    check("np.multiply(a, 2, order='F', subok=True), np.sqrt(np.abs(a), order='A', subok=False)", MATRIX, FORTRAN)
    check("np.add(a, 1, order='F'), np.sin(2.5, order='C')", VECTOR)
    with pytest.raises(errors.TypingError, match="order must be one of 'C', 'F', 'A', or 'K'"):
        njit(expression("np.add(a, 1, order='Q')", "a"))(MATRIX)


def test_where_arrays_lie():
    check("np.ones(3, device='cpu'), np.zeros((2, 2), device=None), np.full(2, 7, like=a), np.arange(5, device='cpu')",
          MATRIX)
    check("np.zeros_like(a, device='cpu'), np.asarray(a, device='cpu', like=None), np.array(a, like=a)", MATRIX, SINGLE)
    check("np.eye(2, like=None), np.identity(2, like=a), np.tri(3, like=a), np.linspace(0, 1, 5, device='cpu')", MATRIX)
    check("np.fft.fftfreq(5, 0.5, device='cpu'), np.ascontiguousarray(a, like=None)", FORTRAN)
    check("np.asarray(a, copy=True), np.asarray(a, np.float32, copy=None)", MATRIX)
    for text in ("np.ones(3, device='gpu')", "np.ones(3, like=4)", "np.ones(3, float, 'C', None)"):
        with pytest.raises(errors.TypingError):
            njit(expression(text, "a"))(MATRIX)


def test_transforms_into_an_array():
    for name in ("fft", "ifft", "rfft", "ihfft"):
        n = 13 if name in ("fft", "ifft") else 7
        check(f"np.fft.{name}(a, out=np.empty({n}, 'D')), np.fft.{name}(a, out=np.empty({n}, 'F'))", VECTOR,
              VECTOR.astype("f"))
        same_error(f"np.fft.{name}(a, out=np.empty(4, 'D'))", VECTOR)
    check("np.fft.irfft(a, out=np.empty(24)), np.fft.irfft(a, 5, out=np.empty(5, 'f'))", COMPLEX)
    check("np.fft.hfft(a, out=np.full(24, 7.0))", COMPLEX)
    check("np.fft.fft(a, axis=0, out=np.empty((4, 5), 'D')), np.fft.fft(a, 3, norm='ortho', out=np.empty((4, 3), 'D'))",
          MATRIX, FORTRAN)
    check("np.fft.fft2(a, out=np.empty((4, 5), 'D')), np.fft.ifftn(a, out=np.empty((4, 5), 'D')), "
          "np.fft.rfft2(a, out=np.empty((4, 3), 'D')), np.fft.irfft2(a, out=np.zeros((4, 8)))", MATRIX)
    check("np.fft.irfftn(a, out=np.zeros((4, 8)))", MATRIX)
    check("np.fft.fft(a, out=a), a", COMPLEX.copy())
    with pytest.raises(errors.TypingError, match="same_kind"):
        njit(expression("np.fft.fft(a, out=np.empty(13))", "a"))(VECTOR)


def test_einsum_into_an_array():
    check("np.einsum('ij->i', a, out=np.empty(4)), np.einsum('ij,kj->ik', a, a, out=np.empty((4, 4), 'D'))", MATRIX,
          FORTRAN, INTEGERS)
    check("np.einsum('ij->', a, out=np.empty(())), np.einsum('ij->ji', a, order='F').flags.f_contiguous", MATRIX)
    check("np.einsum('ij->i', a, dtype=np.float32, casting='same_kind')", MATRIX, SINGLE)
    check("np.einsum('ij->i', a, dtype=np.float64)", INTEGERS)
    same_error("np.einsum('ij->i', a, out=np.empty((4, 4)))", MATRIX)
    same_error("np.einsum('ij->i', a, dtype=np.float32)", MATRIX)
    same_error("np.einsum('ij->i', a, out=np.empty(4, 'f'))", MATRIX)


def test_products_into_an_array():
    check("np.matmul(a, a.T, dtype=np.float32), np.matmul(a, a.T, order='F').flags.f_contiguous", MATRIX, SINGLE)
    check("np.matmul(a, a.T, dtype=np.int64, casting='unsafe')", MATRIX * 9)
    check("np.vecdot(a, a, out=np.empty(4)), np.vecdot(a, a, axis=0), np.vecdot(a, a, axis=0, keepdims=True), "
          "np.vecdot(a, a, keepdims=True), np.vecdot(a, a, out=np.empty((3, 4)))", MATRIX, FORTRAN, SINGLE)
    check("np.vecdot(a, a), np.vecdot(a, a, keepdims=True), np.vecdot(a, a, axis=0)", VECTOR, COMPLEX)
    same_error("np.vecdot(a, a, out=np.empty(()))", MATRIX)
    if hasattr(np, "matvec"):  # since NumPy 2.2
        check("np.matvec(a, a[0], out=np.empty(4)), np.vecmat(a[:, 0], a, out=np.empty((2, 5))), "
              "np.matvec(a, a[0], dtype=np.complex128)", MATRIX)
        same_error("np.matvec(a, a[0], out=np.empty(3))", MATRIX)
        same_error("np.vecmat(a[:, 0], a, out=np.empty(()))", MATRIX)
    check("np.linalg.multi_dot((a, a.T, a), out=np.empty((4, 5))), np.linalg.multi_dot((a, a.T), out=np.empty((4, 4)))",
          MATRIX)
    check("np.linalg.multi_dot((a[0], a.T, a), out=np.empty((1, 5))), "
          "np.linalg.multi_dot((a[0], a.T, a[:, 0]), out=np.empty((1, 1)))", MATRIX)
    same_error("np.linalg.multi_dot((a[0], a.T, a), out=np.empty(5))", MATRIX)
    with pytest.raises(TypeError, match="input 0 from dtype.'float64'. to dtype.'int64'"):
        njit(expression("np.matmul(a, a.T, dtype=np.int64)", "a"))(MATRIX)


def test_axes_that_are_solved_for():
    tensor = np.random.default_rng(3).random((2, 3, 3, 2))
    check("np.linalg.tensorsolve(a, b, axes=(1, 0)), np.linalg.tensorsolve(a, b.T, axes=[0])",
          (tensor.transpose(0, 1, 3, 2), np.ones((3, 2))))
    same_error("np.linalg.tensorsolve(a, b, axes=(4,))", (tensor, np.ones((2, 3))))


def test_what_is_trimmed():
    some = np.pad(MATRIX, ((2, 1), (0, 3)))
    zeros = np.zeros((3, 2))
    if np.lib.NumpyVersion(np.__version__) >= "2.2.0":  # of one axis alone before
        check("np.trim_zeros(a), np.trim_zeros(a, 'f'), np.trim_zeros(a, 'B'), np.trim_zeros(a, axis=0), "
              "np.trim_zeros(a, 'fb', axis=(1,)), np.trim_zeros(a, axis=-1)", some, some.T, zeros, some[::-1])
        same_error("np.trim_zeros(a, axis=2)", some)
        same_error("np.trim_zeros(a, axis=(0, -2))", some)
        same_error("np.trim_zeros(a, 'x')", some)
    check("np.trim_zeros(a), np.trim_zeros(a, trim='b')", some[:, 1], zeros[0], some[3])


def test_windows_to_write_to():
    check("np.lib.stride_tricks.sliding_window_view(a, 2, writeable=False, subok=False)", VECTOR)
    check("np.lib.stride_tricks.sliding_window_view(a, (2, 2), writeable=True)", MATRIX.copy())
    check("np.broadcast_arrays(a, a[0], subok=False)[1] + 0", MATRIX)

    @njit
    def written(a):
        np.lib.stride_tricks.sliding_window_view(a, 2, writeable=True)[2, 1] = 5
        return a

    assert list(written(np.zeros(4))) == [0, 0, 0, 5]


def test_series_along_an_axis():
    check("np.polynomial.polynomial.polyder(a, axis=1), np.polynomial.polynomial.polyder(a, 2, 3.0, axis=-1), "
          "np.polynomial.polynomial.polyint(a, axis=1), np.polynomial.polynomial.polyint(a, 2, [1, 2], 0.5, 2, 0)",
          MATRIX, INTEGERS, FORTRAN)
    check("np.polynomial.polynomial.polyder(a), np.polynomial.polynomial.polyint(a), "
          "np.polynomial.polynomial.polyint(a, 2, 3), np.polynomial.polynomial.polyder(a, 0)", 3.0, 0.0, 2, VECTOR,
          COMPLEX)
    check("np.polynomial.polynomial.polyint(a, 3, [0, 2])", np.zeros(1), np.zeros(2))
    same_error("np.polynomial.polynomial.polyint(a, 1, [1, 2])", VECTOR)


def test_numbers_methods():
    check("np.float64(a).squeeze(axis=None), np.float64(a).squeeze(()), np.float32(a).ravel('F'), "
          "np.float64(a).flatten(order='C')", 2.5)
