"""numpy.fft against NumPy, to the last bit: the loops are NumPy's."""

import numpy as np
import pytest

from numpy_cases import COMPLEX, CUBE, FORTRAN, INTEGERS, MATRIX, SINGLE, STRIDED, VECTOR, check, same_error
from oracle import agree, expression

REALS = [VECTOR, VECTOR[::-1], VECTOR[:8], MATRIX, FORTRAN, STRIDED, INTEGERS, SINGLE, CUBE]


@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"])
def test_along_an_axis(name):
    check(f"np.fft.{name}(a)", *REALS)
    if name not in ("rfft", "ihfft"):
        check(f"np.fft.{name}(a)", COMPLEX, COMPLEX.astype("F"), COMPLEX[:12:3])
    check(f"np.fft.{name}(a, 6), np.fft.{name}(a, 21, norm='ortho')", VECTOR, VECTOR[:9])
    check(f"np.fft.{name}(a, axis=0, norm='forward'), np.fft.{name}(a, 3, 0, 'backward')", MATRIX, CUBE)
    same_error(f"np.fft.{name}(a, 0)", VECTOR)
    same_error(f"np.fft.{name}(a, norm='wrong')", VECTOR)


def test_bits():
    for a in (VECTOR, COMPLEX, MATRIX, np.arange(1000.0) % 7, SINGLE):
        agree(expression("np.fft.fft(a)", "a"), a)
        agree(expression("np.fft.ifft(a)", "a"), a)
    agree(expression("np.fft.irfft(np.fft.rfft(a))", "a"), VECTOR[:12])


@pytest.mark.parametrize("name", ["fftn", "ifftn", "rfftn", "irfftn", "fft2", "ifft2", "rfft2", "irfft2"])
def test_along_several_axes(name):
    check(f"np.fft.{name}(a)", MATRIX, FORTRAN, CUBE, SINGLE)
    check(f"np.fft.{name}(a, (3, 4)), np.fft.{name}(a, axes=(1, 0), norm='ortho')", MATRIX)
    if name.startswith("i"):
        check(f"np.fft.{name}(a)", MATRIX + 1j)


def test_frequencies():
    check("np.fft.fftfreq(a), np.fft.rfftfreq(a), np.fft.fftfreq(a, 0.25), np.fft.rfftfreq(a, 2)", 7, 8, 1)
    check("np.fft.fftshift(a), np.fft.ifftshift(a)", VECTOR, MATRIX, CUBE)
    check("np.fft.fftshift(a, 1), np.fft.ifftshift(a, axes=(0,))", MATRIX)
