"""Small vectors, float32x4 and the others: how they are made, items, arrays of them in kernels, 128-bit accesses."""

import re

import numpy as np
import pytest

import krait
from krait import _testing, cuda, njit, types
from krait.errors import TypingError

float32x2, float32x3, float32x4 = types.float32x2, types.float32x3, types.float32x4
int8x4, float64x4 = types.int8x4, types.float64x4


def test_names():
    assert types.Vector(krait.float32, 4) is float32x4 and isinstance(float32x4, types.Vector)
    assert str(float32x4) == "float32x4" and float32x4.dtype is krait.float32 and float32x4.count == 4
    assert str(float32x4[:, ::1]) == "array(float32x4, 2, C)"
    assert njit("float32(float32, float32)")(lambda x, y: float32x2(x, y).y)(1, 2) == 2
    assert cuda.float32x4 is float32x4 and not hasattr(krait, "float32x4")


@pytest.mark.parametrize("arguments", [(krait.float32, 5), (krait.float32, 0), (krait.complex64, 2), (krait.bool_, 2)])
def test_what_is_no_vector(arguments):
    with pytest.raises(TypeError, match="count 1 to 4"):
        types.Vector(*arguments)


@njit
def made_of(x, y, narrow):
    whole = float32x4(x, float32x2(y, 3), narrow)
    pair = (whole, float32x4(whole))
    return pair[1].x, whole.y, whole.z, pair[0].w


def test_items_are_converted_to_the_type_of_the_vector():
    results = made_of(1.1, np.int64(2), np.float32(4))
    assert results == (np.float32(1.1), 2, 3, 4) and {type(item) for item in results} == {np.float32}


@njit
def chosen(n):
    value = int8x4(n, n, n, n)
    for i in range(n):
        if i > 2:
            value = int8x4(value.y, value.x, i, value.w)
    return value.x, value.z


def test_vectors_cross_branches_and_loops():
    assert chosen(2) == (2, 2) and chosen(7) == (7, 6)


def exchange(x, out):
    shared = cuda.shared.array(32, float32x4)
    local = cuda.local.array((2, 2), dtype=float32x3)
    i = cuda.threadIdx.x
    shared[i] = float32x4(x[i], i, 1, 2)
    for row in range(2):
        for column in range(2):
            local[row, column] = float32x3(row, column, i)
    cuda.syncthreads()
    other = shared[31 - i]
    total = np.float32(0)
    for row in local:
        for item in row:
            total += item.x * 10 + item.y + item.z
    out[i] = other.x + 1000 * other.y + total


def test_shared_and_local_arrays():
    x, out = np.arange(32, dtype=np.float32) / 2, np.zeros(32)
    cuda.jit(exchange)[1, 32](x, out)
    i = np.arange(32)
    np.testing.assert_array_equal(out, x[31 - i] + 1000 * (31 - i) + 22 + 4 * i)


def turned(a, b):
    i = cuda.grid(1)
    v = a[i]
    b[i] = float32x4(v.w, v.z, v.y, v.x)


def test_one_access_of_16_bytes():
    ptx = _testing.compile(turned, "array(float32x4, 1, C); array(float32x4, 1, C)")
    assert len(re.findall(r"ld\.global\S*\.v4\.b32", ptx)) == 1 and len(re.findall(r"st\.global\.v4\.b32", ptx)) == 1
    assert len(re.findall(r"(?:ld|st)\.global", ptx)) == 2


def refused(function, *args):
    with pytest.raises(TypingError) as caught:
        njit(function)(*args)
    return str(caught.value)


def test_refusals():
    def short(x):
        return float32x4(x, 1, 2).x

    def named(x):
        return float32x2(x=x, y=1).x

    def complex_item(x):
        return float32x2(x, 1j).x

    def assigned(x):
        v = float32x2(x, 1)
        v.x = 2
        return v.x

    def added(x):
        return (float32x2(x, 1) + 1).x

    def fifth(x):
        return float32x2(x, 1).z

    assert "float32x4 is made of 4 numbers, 3 given" in refused(short, 1.0)
    assert "float32x2 takes no keyword arguments" in refused(named, 1.0)
    assert "unsupported" in refused(complex_item, 1.0)
    assert "attributes of `v` (float32x2) cannot be assigned" in refused(assigned, 1.0)
    assert "unsupported operand types for +: float32x2 and 1 (int)" in refused(added, 1.0)
    assert "float32x2 has no attribute `z`" in refused(fifth, 1.0)
