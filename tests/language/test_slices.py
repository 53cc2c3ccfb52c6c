"""slice objects as values, and functools.reduce."""

import functools

import numpy as np
import pytest

from oracle import agree, agree_all, make

BOUNDS = [None, -12, -3, -1, 0, 2, 5, 12]


def test_slices_are_values():
    def f(a, k):
        s = slice(k, k + 3)
        both = (s, slice(None, None, 2))
        return a[s], a[slice(2)], a[both], s.start, s.stop, s.step, slice(k).start

    agree(f, np.arange(40.0).reshape(8, 5), 2)
    agree(f, np.arange(40.0).reshape(8, 5), -4)


@pytest.mark.parametrize("step", [None, 1, 2, -1, -3])
def test_indices(step):
    for start in BOUNDS:
        for stop in BOUNDS:
            function = make(f"def f(n): return slice({start}, {stop}, {step}).indices(n)")
            agree_all(function, [(0,), (5,)])


def test_of_a_list():
    agree(make("def f(x, k): return x[slice(k)], x[slice(k, None, -1)]"), [1, 2, 3, 4], 2)


def test_what_is_wrong():
    agree(make("def f(n, k): return slice(1, 2, k).indices(n)"), 5, 0)
    agree(make("def f(n): return slice(1, 2).indices(n)"), -5)


def test_reduce():
    agree(lambda n: functools.reduce(lambda a, b: a * 2 + b, range(n), 0), 5)
    agree(lambda x: functools.reduce(lambda a, b: max(a, b), x), [1.5, 4.5, 2.5])
    agree(lambda x: functools.reduce(lambda a, b: a - b, x), np.arange(5))
    agree(lambda x: functools.reduce(lambda a, b: a - b, x), np.arange(0))
