"""krait.extending: what users say about calls, methods and attributes, in functions and in kernels."""

import math
from dataclasses import dataclass

import numpy as np
import pytest
from oracle import agree

from krait import cuda, errors, extending, njit, types
from krait.extending import overload, overload_attribute, overload_method, register_jitable


def scaled(x, by=3):
    """What it means is said below, type by type."""
    raise RuntimeError("compiled code alone has it")


asked = []


@overload(scaled)
def overload_scaled(x, by=3):
    asked.append(x)
    if isinstance(x, types.Integer):
        return lambda x, by=3: x * by
    if isinstance(x, types.Array) and x.ndim == 1 and isinstance(x.dtype, types.Float):

        def of_array(x, by=3):
            total = 0.0
            for value in x:
                total += value
            return total * by

        return of_array


def test_an_overload_answers_by_type():
    @njit
    def f(x):
        return scaled(x), scaled(x, 5), scaled(x, by=7)

    assert f(2) == (6, 10, 14) and type(f(2)[0]) is int
    assert f(np.array([1.0, 2.0])) == (9, 15, 21)
    for wrong, text in ((1.5, "float"),
                        (np.ones((2, 2)), "array(float64, 2, C)"), (np.ones(2, int), "array(int64, 1, C)")):
        with pytest.raises(errors.TypingError, match="no overload of `scaled` takes") as caught:
            f(wrong)
        assert text in str(caught.value) and "scaled(x)" in str(caught.value)


def test_equal_calls_ask_once_and_share_their_code():
    def f(x):
        return scaled(x) + scaled(x) + scaled(x)

    asked.clear()
    assert njit(f)(np.float32(1) * np.ones(3, np.float32)) == 27
    assert len(asked) == 1 and asked[0] == types.float32[::1]


def test_the_latest_overload_that_answers_counts():
    def about(x):
        raise RuntimeError

    @overload(about)
    def anything(x):
        return lambda x: 0

    @overload(about)
    def floats(x):
        if isinstance(x, types.Float):
            return lambda x: 1

    @overload(about)
    def other_parameters(x, y):
        return lambda x, y: 2

    f = njit(lambda x: (about(x), about(x, x)))
    assert f(1.5) == (1, 2) and f(1) == (0, 2)


def test_texts_are_known():
    def unit(name):
        raise RuntimeError

    @overload(unit)
    def overload_unit(name):
        assert isinstance(name, types.UnicodeType)
        if isinstance(name, types.StringLiteral):
            factor = {"m": 1.0, "km": 1000.0}[name.literal_value]
            return lambda name: factor

    f = njit(lambda x: x * unit("km") + unit("m"))
    assert f(2.0) == 2001
    with pytest.raises(errors.TypingError, match="an overload of `.*unit` raised KeyError: 'mile'"):
        njit(lambda: unit("mile"))()


def test_overloads_call_overloads_and_recur():
    def depth(x):
        raise RuntimeError

    @overload(depth)
    def overload_depth(x):
        if isinstance(x, types.Tuple):
            return lambda x: 1 + depth(x[0])
        return lambda x: 0

    assert njit(lambda x: depth(x))((((1.5,), 2), 3)) == 3


@dataclass
class Point:
    x: float
    y: float


@overload_method(Point, "norm")
def point_norm(p, scale=1.0):
    return lambda p, scale=1.0: math.sqrt(p.x * p.x + p.y * p.y) * scale


@overload_attribute(Point, "area")
def point_area(p):
    return lambda p: p.x * p.y


@overload(len)
def point_len(p):
    if isinstance(p, types.Instance) and p.python_class is Point:
        return lambda p: 2


@overload_method(types.Array, "spread")
def array_spread(a):
    return lambda a: a.max() - a.min()


@overload_attribute(types.Array, "last")
def array_last(a):
    return lambda a: a[-1]


def test_methods_and_attributes():
    @njit
    def f(p, a):
        return p.norm(), p.norm(2.0), p.norm(scale=3.0), p.area, len(p), a.spread(), a.last, len(a)

    assert f(Point(3.0, 4.0), np.array([5.0, 1.0])) == (5, 10, 15, 12, 2, 4, 1, 2)
    with pytest.raises(errors.TypingError, match="no overload of `norm` takes"):
        njit(lambda a: a.norm())(np.ones(2))
    with pytest.raises(errors.TypingError, match="has no attribute `area`"):
        njit(lambda a: a.area)(np.ones(2))
    agree(lambda a: (len(a), a.max()), np.array([5.0, 1.0]))  # what was there stays


def test_kernels_have_them_too():
    @register_jitable
    def helper(x):
        return scaled(x) + 1

    @cuda.jit
    def k(a, out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = helper(i) + a.last + Point(3.0, 4.0).norm()

    out = np.zeros(3)
    k[1, 32](np.array([1.0, 10.0]), out)
    assert out.tolist() == [16, 19, 22]
    assert cuda.extending is extending


def test_what_an_overload_returns_must_be_a_function():
    def odd(x):
        raise RuntimeError

    overload(odd)(lambda x: 42)
    with pytest.raises(errors.TypingError, match="returned 42: a Python function is needed"):
        njit(lambda x: odd(x))(1)
    overload(odd)(lambda x: njit(lambda x: x + 1))
    assert njit(lambda x: odd(x) * 2)(1) == 4


def test_an_interrupt_is_not_swallowed():
    def slow(x):
        raise RuntimeError

    @overload(slow)
    def overload_slow(x):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        njit(lambda x: slow(x))(1)


def test_other_names():
    assert extending.is_jitted(njit(lambda: 1)) and not extending.is_jitted(len)
    assert register_jitable(cache=True)(len) is len
    for name, instead in (("register_model", "instances of dataclasses"), ("lower_builtin", "use overload")):
        with pytest.raises(errors.UnsupportedError, match=instead):  # where it is used: an import has words of its own
            getattr(extending, name)(int)
    with pytest.raises(AttributeError, match="did you mean 'overload'"):
        extending.overlod
