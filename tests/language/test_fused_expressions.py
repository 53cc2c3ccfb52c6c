"""Expressions of several operators on whole arrays: what NumPy gives by way of arrays in between."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from krait import njit
from oracle import agree, agree_all, expression
from portions import examples

LEAVES = ["x", "y", "z", "x", "y", "2", "0.5", "n", "row", "column", "x[::-1]", "y.T.T"]
UNARY = ["-({0})", "np.sqrt({0})", "np.abs({0})", "({0}).astype(np.float32)", "({0}) ** 2", "np.floor({0})"]
BINARY = ["({0}) + ({1})", "({0}) * ({1})", "({0}) - ({1})", "({0}) / ({1})", "np.maximum({0}, {1})", "({0}) > ({1})"]


@st.composite
def expressions(draw, depth=3):
    if depth == 0 or draw(st.integers(0, 5)) == 0:
        return draw(st.sampled_from(LEAVES))
    if draw(st.integers(0, 2)) == 0:
        return draw(st.sampled_from(UNARY)).format(draw(expressions(depth - 1)))
    return draw(st.sampled_from(BINARY)).format(draw(expressions(depth - 1)), draw(expressions(depth - 1)))


@settings(max_examples=examples(25), deadline=None)
@given(expressions(), st.sampled_from("fdi"), st.sampled_from("fd"), st.integers(0, 99))
def test_as_numpy(text, first, second, seed):
    rng = np.random.default_rng(seed)
    x, y, z = (rng.integers(-9, 9, (4, 5)) * 0.37 for _ in range(3))
    function = njit(expression(f"{text} + x * 0", "x", "y", "z", "n", "row", "column"))
    args = x.astype(first), y.astype(second), np.asfortranarray(z), np.float32(1.1), y[0], z[:, :1]
    with np.errstate(all="ignore"):
        theirs = function.py_func(*args)
    ours = function(*args)
    assert ours.dtype == theirs.dtype
    np.testing.assert_array_equal(ours, theirs)


def test_intermediate_rounding_and_wrapping():
    x = np.array([100, -100, 127, 3], np.int8)
    f = np.array([0.1, 1e-3, 16777217, 3], np.float32)
    agree_all(lambda x, y: (x * y) // np.int8(3), [(x, x), (x, x[::-1].copy())])
    agree(lambda x, y: (x + y) * 1.5 - x, x, x)
    agree(lambda f: (f * np.float32(1.1)).astype(np.float64) * f + 1e-9, f)
    agree(lambda f: (f * 3.7).astype(np.int8) * 2, f)


def test_a_destination_over_its_operands():
    def smooth(x):
        x[1:] = x[:-1] * 2 + x[1:]
        return x

    def reverse(x):
        x[:] = x[::-1] + 1
        return x

    def stencil(u):
        u[1:-1, 1:-1] = 0.25 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2])
        return u

    def out(x, y):
        np.add(x * 2, y[::-1], out=y)
        return y

    def add_in_place(x, y):
        x[1:] += y[:-1] * 2
        return x

    def own(n):
        a = np.empty(n)
        for i in range(n):
            a[i] = i
        a[::-1] = a
        return a

    def masked(x):
        np.multiply(x[:-1], 2.0, out=x[1:], where=x[1:] > 2)
        return x

    for n in (1, 2, 3, 40):
        line = np.arange(float(n))
        for function in (smooth, reverse, masked):
            agree(function, line.copy())
        agree(out, line.copy(), line.copy())
        agree(add_in_place, line.copy(), line.copy())
        agree(own, n)
        agree(stencil, np.arange(float(n * n)).reshape(n, n) ** 2)
        agree(stencil, np.asfortranarray(np.arange(float(n * n)).reshape(n, n) ** 2))
        agree(stencil, (np.arange(4.0 * n * n).reshape(2 * n, 2 * n) ** 2)[::2, ::2])
    shared = np.arange(9.0)
    expected = shared.copy()
    expected[1:] += shared[:-1] * 2
    np.testing.assert_array_equal(njit(add_in_place)(shared, shared), expected)


def test_shapes_are_checked_in_order():
    def f(x, y, z):
        return (x + y) * (y + z)

    a, b, c = np.ones(3), np.ones(4), np.ones((2, 3))
    for args in [(a, b, c), (a, a, b), (b, a, b), (a, c, b)]:
        with pytest.raises(ValueError) as theirs:
            f(*args)
        with pytest.raises(ValueError) as ours:
            njit(f)(*args)
        assert str(ours.value) == str(theirs.value)


def test_nothing_is_stored_where_shapes_do_not_fit():
    def f(x, y):
        x[:] = (y + 1) * 2

    x = np.zeros(3)
    with pytest.raises(ValueError, match="could not broadcast input array"):
        njit(f)(x, np.ones(2))
    assert not x.any()


def test_what_is_stretched():
    x = np.arange(1.0, 5.0)
    agree(lambda x: np.sqrt(x[:, None]) / np.floor(x[None, :] + 0.5) + x, x)
    agree(lambda x: (x[:, None] - x[None, :]) ** 2, x)
    agree(lambda x: (x + 1) * np.ones((3, 4)), x)
    agree(lambda x: (x[:0] + 1) * (x[:1] + 2), x)
    agree(lambda x: (x[:, None] + 1) * (x[:1] + 2), x)


def test_many_operands():
    text = " + ".join(f"x[{i}] * y[{i}]" for i in range(24))
    x = np.arange(48.0).reshape(24, 2)
    agree(expression(text, "x", "y"), x, x + 1)
