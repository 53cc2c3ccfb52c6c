"""Attributes of instances from outside that are given NumPy's numbers, or arrays of another layout."""

import numpy as np
import pytest

from krait import njit


class Thing:
    def __init__(self, v, other=1.5):
        self.v = v
        self.other = other


class Outer:
    def __init__(self, v):
        self.v = v


def add(p, x):
    p.v += x[0]


def put(p, x):
    p.v = np.sin(x[0])


def total(p, x):
    p.v = x.sum()


def pair(p, x):
    p.v = (x[0], x[1])


def maybe(p, x):
    if x[0] > 0:
        p.v = x[0]


def same(ours, theirs):
    assert type(ours) is type(theirs)
    if isinstance(theirs, tuple):
        for a, b in zip(ours, theirs, strict=True):
            same(a, b)
    else:
        assert ours == theirs


FLOATS, INTS = np.array([0.25, 2.0]), np.array([3, 4])


@pytest.mark.parametrize(
    "f, value, x",
    [
        (add, 1.0, FLOATS),
        (add, 5, FLOATS),
        (add, 5, INTS),
        (add, 1j, FLOATS),
        (put, 1.0, FLOATS),
        (total, 0, INTS),
        (total, 0.0, FLOATS),
        (pair, (0.0, 0.0), FLOATS),
        (maybe, 1.0, FLOATS),
        (maybe, 1.0, -FLOATS),
        (maybe, 7, -FLOATS),
        (maybe, 7, -INTS),
    ],
)
def test_numbers(f, value, x):
    """The attribute has the type that was assigned; one that was not has the type that it had."""
    compiled = njit(f)
    for _ in range(2):
        ours, theirs = Thing(value), Thing(value)
        for _ in range(2):
            compiled(ours, x)
            f(theirs, x)
            same(ours.v, theirs.v)
            same(ours.other, theirs.other)
    assert compiled.stats.cache_misses <= 2


def test_reached_through_others():
    """In lists, tuples, dicts and attributes."""

    def f(things, x):
        for p in things:
            p.v += x[0]

    def g(table, x):
        table["a"].v += x[0]

    def h(outer, x):
        outer.v.v += x[0]

    for make, function in (
        (lambda p: [p], f),
        (lambda p: (p,), f),
        (lambda p: {"a": p}, g),
        (Outer, h),
    ):
        ours, theirs = Thing(1.0), Thing(1.0)
        njit(function)(make(ours), FLOATS)
        function(make(theirs), FLOATS)
        same(ours.v, theirs.v)


HELD = [Thing(1.0)]


def test_held_by_a_global_variable():
    @njit
    def f(x):
        for p in HELD:
            p.v += x[0]

    for round in (1, 2):
        f(FLOATS)
        same(HELD[0].v, np.float64(1.0 + round * 0.25))


def test_a_number_beside():
    """np.int32 is put into an int: the number is what the interpreter leaves."""

    @njit
    def f(p, x):
        p.v += x

    for x in (1, 1.5, np.float64(1.5), np.int64(1)):
        ours = Thing(5)
        f(ours, x)
        same(ours.v, 5 + x)
    ours = Thing(5)
    f(ours, np.int32(1))
    assert ours.v == 6


def test_arrays():
    """Another layout."""

    def f(p):
        p.v = p.v.reshape(3, 1)[:, 0]
        p.v = np.append(p.v, 1.0)

    ours, theirs = Thing(np.zeros(3)), Thing(np.zeros(3))
    njit(f)(ours)
    f(theirs)
    np.testing.assert_array_equal(ours.v, theirs.v)


def test_numbers_that_do_not_fit():
    """They are named, and nothing has changed."""
    p = Thing(2**53 + 1)
    with pytest.raises(TypeError, match=r"add\(\) puts a value of type float64 into the attribute 'v'"):
        njit(add)(p, FLOATS)
    assert p.v == 2**53 + 1
