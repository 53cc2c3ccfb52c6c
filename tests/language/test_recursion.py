"""Recursion: deep enough and it works, without end and it is RecursionError, as in the interpreter, also where a
compiler could make a loop of it."""

import time

import numpy as np
import pytest

from krait import cuda, errors, njit


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


GROWING = {
    "nested": "return 0 if n == 0 else f((t, n), n - 1)",
    "doubled": "return 0 if n == 0 else f((t, t), n - 1)",
    "in lists": "return 0 if n == 0 else f([t], n - 1)",
    "in dicts": "return 0 if n == 0 else f({n: t}, n - 1)",
    "wide": "return 0 if n == 0 else f((t, 1.5, 'a', np.zeros(3), n), n - 1)",
    "two ways": "return 0 if n == 0 else f((t, n), n - 1) + f((n, t), n - 1)",
    "returned": "return t if n == 0 else f((t, n), n - 1)",
}


@pytest.mark.parametrize("body", [
    "r = None\n    for i in range(n):\n        r = (i, r)\n    return r",
    "return [f(t, n - 1)] if n else []", "return (f(t, n - 1), n) if n else None",
    "r = []\n    while n:\n        r, n = [r], n - 1\n    return r",
])  # fmt: skip
def test_what_is_given_grows_without_end(body):
    space = {}
    exec(f"def f(t, n):\n    {body}\n", space)
    space["f"] = njit(space["f"])
    start = time.process_time()
    with pytest.raises(errors.UnsupportedError, match="grows without end: it holds what it was before") as caught:
        space["f"](1, 5)
    assert time.process_time() - start < 2 and len(str(caught.value)) < 1000


@pytest.mark.parametrize("body", GROWING.values(), ids=GROWING)
def test_types_that_grow_without_end_are_refused_at_once(body):
    space = {"np": np}
    exec(f"def f(t, n):\n    {body}\n", space)
    space["f"] = njit(space["f"])
    start = time.process_time()
    with pytest.raises(errors.UnsupportedError, match="f is called with ever new types") as caught:
        space["f"](1, 5)
    assert time.process_time() - start < 2  # milliseconds, but for a loaded machine
    assert len(str(caught.value)) < 1000


def test_an_argument_that_is_nested_too_deep_is_named():
    deep = ()
    for _ in range(300):
        deep = (deep,)
    with pytest.raises(errors.UnsupportedError, match="a value that holds others more than 200 deep, its argument .t."):
        njit(lambda n, t: n)(1, deep)
