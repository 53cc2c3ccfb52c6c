"""Recursion: deep enough and it works, without end and it is RecursionError, as in the interpreter, also where a
compiler could make a loop of it."""

import numpy as np
import pytest

from krait import cuda, njit


@njit
def down(n):
    if n == 0:
        return 0
    return down(n - 1)


@njit
def adds(n, total):
    if n == 0:
        return total
    return adds(n - 1, total + n)


@njit
def depth(n):
    if n == 0:
        return 0
    return 1 + depth(n - 1)


@njit
def times(n):
    if n < 2:
        return 1.0
    return n * times(n - 1)


@njit
def is_even(n):
    if n == 0:
        return True
    return is_odd(n - 1)


@njit
def is_odd(n):
    if n == 0:
        return False
    return is_even(n - 1)


@njit
def writes(x, n):
    x[0] += 1
    if n != 0:
        writes(x, n - 1)


@pytest.mark.parametrize(
    "call", [lambda n: down(n), lambda n: adds(n, 0), lambda n: depth(n), lambda n: times(n), lambda n: is_even(n)]
)
def test_without_end(call):
    """-1 never comes down to 0: for numbers of 64 bits it would take centuries."""
    with pytest.raises(RecursionError, match="maximum recursion depth exceeded"):
        call(-1 if call(3) != 6.0 else 10**15)


def test_without_end_and_without_a_result():
    x = np.zeros(1)
    with pytest.raises(RecursionError):
        writes(x, -1)
    assert x[0] > 1000  # it has got that far


def test_finite():
    assert down(5000) == 0
    assert adds(5000, 0) == 5000 * 5001 // 2
    assert depth(5000) == 5000
    assert times(10) == 3628800.0
    assert (is_even(5000), is_even(5001), is_odd(5001)) == (True, False, True)
    x = np.zeros(1)
    writes(x, 5000)
    assert x[0] == 5001


@cuda.jit(device=True)
def falls(n):
    if n == 0:
        return 0
    return falls(n - 1)


@cuda.jit
def kernel(x, n):
    i = cuda.grid(1)
    x[i] = 1 + falls(n)


@cuda.jit
def kernel_with_barrier(x, n):
    i = cuda.grid(1)
    cuda.syncthreads()
    x[i] = 1 + falls(n)


@pytest.mark.skipif(cuda.is_available(), reason="a GPU's stack has its own end")
@pytest.mark.parametrize("launched", [kernel, kernel_with_barrier])
def test_kernels_on_the_host(launched):
    x = np.zeros(64)
    launched[2, 32](x, 100)
    assert (x == 1).all()
    with pytest.raises(RecursionError):
        launched[2, 32](x, -1)
    launched[2, 32](x, 100)
