"""Grids of coordinates, triangles, windows on arrays, insertion, padding and bits against NumPy."""

import numpy as np
import pytest

from krait import njit
from numpy_cases import (
    BOOLS,
    BYTES,
    COMPLEX,
    CUBE,
    FORTRAN,
    INTEGERS,
    MATRIX,
    NOT_NUMBERS,
    SINGLE,
    STRIDED,
    VECTOR,
    check,
    same_error,
)
from oracle import copy_argument, make


def test_shapes():
    check("np.broadcast_shapes((2, 1), (3,), (1, 1, a))", 3)
    check("np.broadcast_arrays(a, b)", (MATRIX, MATRIX[0]))
    check("np.meshgrid(a, b), np.meshgrid(a, b, sparse=True), np.meshgrid(a, b, indexing='ij'), np.meshgrid(a)",
          (VECTOR, VECTOR[:3]), (VECTOR, INTEGERS[0]))
    check("np.meshgrid(a, b, a[:2])", (VECTOR, VECTOR[:3]))
    check("np.indices((2, 3, a)), np.indices((2, a), sparse=True), np.indices((a, 3), np.float32)", 4)
    check("np.rollaxis(a, 2), np.rollaxis(a, 0, 3), np.rollaxis(a, 1, -1)", CUBE)
    check("np.rot90(a), np.rot90(a, 2), np.rot90(a, 3), np.rot90(a, -1), np.rot90(a, 0)", MATRIX, FORTRAN, CUBE)
    check("np.rot90(a, 1, (1, 2)), np.dsplit(a, 2)", CUBE)
    check("np.resize(a, (3, 7)), np.resize(a, 5)", VECTOR, INTEGERS)
    same_error("np.rollaxis(a, 7)", CUBE)


def test_triangles():
    check("np.tril_indices(a), np.triu_indices(a, 1), np.tril_indices(a, -1, 5), np.triu_indices(a, -2, 3)", 4)
    check("np.tril_indices_from(a), np.triu_indices_from(a, 1)", MATRIX)
    for a, value, wrap in [(MATRIX, 3.0, False), (np.zeros((7, 3)), 4, False), (np.zeros((7, 3)), 4, True),
                           (np.zeros((9, 3)), np.array([1.0, 2, 3, 4]), True), (np.zeros((3, 3, 3)), 2, False)]:
        fills("np.fill_diagonal(a, b, c)", a, value, wrap)


def fills(text, *args):
    """Both change their first argument alike."""
    function = make(f"def f({', '.join('abc'[: len(args)])}):\n    {text}\n    return a")
    ours, theirs = copy_argument(args), copy_argument(args)
    np.testing.assert_array_equal(njit(function)(*ours), function(*theirs))


def test_cutting():
    check("np.trim_zeros(a), np.trim_zeros(a, 'f'), np.trim_zeros(a, 'b')", np.array([0, 0, 1.0, 0, 2, 0]), np.zeros(3))
    check("np.insert(a, 2, 7.0), np.insert(a, -1, b), np.insert(a, 13, 1.0)", (VECTOR, VECTOR[:3]))
    check("np.insert(a, 1, 7, axis=1), np.insert(a, 0, b, axis=0)", (INTEGERS, INTEGERS[0]))
    check("np.insert(a, b, c)", (VECTOR, np.array([1, 3, -1]), VECTOR[:3]), (VECTOR, np.array([1, 3, 3]), 7.0))
    same_error("np.insert(a, 40, 7.0)", VECTOR)


def test_views():
    view = "np.lib.stride_tricks.sliding_window_view"
    check(f"{view}(a, 3)", VECTOR)
    check(f"{view}(a, (2, 3)), {view}(a, 2, 0), {view}(a, 2, axis=-1)", MATRIX, FORTRAN)
    same_error(f"{view}(a, 30)", VECTOR)
    same_error(f"{view}(a, 14)", VECTOR)
    check(f"{view}(a, 13)", VECTOR)
    check("np.lib.stride_tricks.as_strided(a, (3, 4), (8, 16))", VECTOR)
    check("np.frombuffer(a, np.uint8), np.frombuffer(a, np.int32, 3, 8)", VECTOR, INTEGERS.ravel())
    same_error("np.frombuffer(a, np.int64, 99)", VECTOR)
    check("np.asarray_chkfinite(a)", VECTOR, NOT_NUMBERS, INTEGERS)
    check("np.asarray_chkfinite(a, order='F'), np.asarray_chkfinite(a, np.float32, 'C')", MATRIX, INTEGERS)
    check("a.byteswap()", VECTOR, INTEGERS, COMPLEX, STRIDED)


def test_bits():
    check("np.packbits(a), np.packbits(a, bitorder='little')", BOOLS, BYTES, INTEGERS)
    check("np.packbits(a, axis=0), np.packbits(a, 1)", INTEGERS)
    check("np.packbits(a, axis=-1), np.packbits(a)", np.array(3))
    check("np.unpackbits(a), np.unpackbits(a, bitorder='little'), np.unpackbits(a, count=5)", BYTES)
    check("np.unpackbits(a, axis=1), np.unpackbits(a, count=-3)", INTEGERS.astype("B"))


@pytest.mark.parametrize("mode", ["edge", "wrap", "reflect", "symmetric", "maximum", "minimum", "mean", "linear_ramp"])
def test_padding_by_mode(mode):
    check(f"np.pad(a, (3, 2), mode='{mode}'), np.pad(a, 0, '{mode}')", VECTOR, MATRIX, INTEGERS, SINGLE)
    if mode in ("wrap", "reflect", "symmetric"):
        check(f"np.pad(a, (20, 31), '{mode}')", VECTOR)


def test_padding():
    check("np.pad(a, 2)", VECTOR, INTEGERS, FORTRAN)
    check("np.pad(a, (1, 2), 'constant', constant_values=(3, 4))", VECTOR, MATRIX)
    check("np.pad(a, ((1, 2), (0, 3)), mode='constant', constant_values=((1, 2), (3, 4)))", MATRIX)
    check("np.pad(a, (5, 4), mode='reflect', reflect_type='odd')", VECTOR[:5], INTEGERS)
    check("np.pad(a, (3, 4), mode='linear_ramp', end_values=(5, -4))", VECTOR, INTEGERS)
    check("np.pad(a, (3, 4), mode='mean', stat_length=2), np.pad(a, (3, 4), 'maximum', stat_length=(2, 3))", VECTOR)
    same_error("np.pad(a, -1)", VECTOR)
    same_error("np.pad(a, 3, 'reflect')", VECTOR[:0])
