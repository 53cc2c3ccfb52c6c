"""Small arrays of constant extents: in the frame where nobody else sees them, on the heap where somebody may."""

import numpy as np
import pytest

from krait import _testing, jit
from oracle import agree_all

F1 = "array(float64, 1, C)"
CONST = 4


def keep(x):
    return x


def elements(a, b):
    v = np.zeros(3)
    v[0] = a
    v[1] = b
    v[-1] += 1.0
    return v[0] * v[1] + v[2]


def matrix(a, b):
    m = np.empty((2, 2))
    m[0, 0], m[0, 1], m[1, 0], m[1, 1] = a, b, -b, a
    return m[0, 0] * m[1, 1] - m[0, 1] * m[1, 0]


def expressions(a, b):
    v = np.array((a, b, 1.0))
    w = v * 2.0 + v
    v += w
    return v.sum() + w[0] - w.max() + w[::-1][0] + v.mean()


def in_a_loop(a, b):
    total = 0.0
    for i in range(5):
        v = np.zeros(CONST, np.float32)
        for j in range(i):
            v[j] = v[j] + a + j
        for item in v:
            total += item * b
    return total


def views(a, b):
    m = np.zeros((2, 3))
    row = m[1]
    row[2] = a
    row[1:] = m[0, :-1]
    m.T[0, 0] = b
    flat = m.reshape(6)
    return m[1, 2] + m[0, 0] + flat[5] + len(m) + m.shape[1]


def counted(a, b):
    counts = np.zeros(4, np.int64)
    for i in range(20):
        counts[(i * 7) % 4] += 1
    return counts[0] * a + counts[3] * b


def wraps(a, b):
    v = np.full(3, 200, np.uint8)
    v += np.uint8(100)
    return v[0] + a - b


IN_FRAME = [elements, matrix, expressions, in_a_loop, counted]


def returned(a, b):
    v = np.zeros(2)
    v[0] = a
    return v


def chosen(a, b):
    v = np.zeros(2)
    w = np.ones(2)
    if a > b:
        v = w
    return v[0] + v[1]


def carried(a, b):
    last = np.zeros(2)
    for i in range(3):
        new = np.zeros(2)
        new[0] = last[0] + a
        last = new
    return last[0]


def passed_on(a, b):
    v = np.zeros(2)
    v[1] = b
    return keep(v)[1] + a


def in_a_tuple(a, b):
    v = np.zeros(2)
    pair = (v, a)
    pair[0][0] = b
    return pair


def long(a, b):
    v = np.zeros(1000)
    v[999] = a
    return v[999] + b


def extents(a, b):
    v = np.zeros(int(a) + 1)
    v[0] = b
    return v[0]


def caught(a, b):
    try:
        v = np.zeros(2)
        v[int(a)] = b
        return v[0]
    except IndexError:
        return np.float64(-1.0)


ON_HEAP = [returned, carried, in_a_tuple, long, extents]
ARGUMENTS = [(1.5, 2.0), (3.0, -1.0), (0.0, 0.5)]


@pytest.mark.parametrize("function", [*IN_FRAME, *ON_HEAP, views, wraps, chosen, passed_on, caught])
def test_results(function):
    agree_all(function, ARGUMENTS)


@pytest.mark.parametrize("function", IN_FRAME)
def test_nothing_is_allocated(function):
    text = _testing.stage(function, ["float", "float"], "opt")
    assert "heap" not in text and "release" not in text


@pytest.mark.parametrize("function", ON_HEAP)
def test_what_somebody_may_see_is_on_the_heap(function):
    assert "krait_heap_buffer" in _testing.stage(function, ["float", "float"], "opt")


@pytest.mark.parametrize("function", [elements, matrix])
def test_elements_live_in_registers(function):
    text = _testing.stage(function, ["float", "float"], "opt")
    assert "alloca" not in text


def test_an_index_outside_raises():
    def f(i):
        v = np.zeros(3)
        v[1] = 1.0
        return v[i]

    agree_all(f, [(i,) for i in range(-4, 5)])


def test_zeros_in_each_round():
    def f(n):
        total = np.float64(0.0)
        for i in range(n):
            v = np.zeros(3)
            total += v[0] + v[1] + v[2]
            v[0] = v[1] = v[2] = i
        return total

    agree_all(f, [(0,), (1,), (10,)])


def test_recursion():
    def f(n):
        v = np.zeros(8)
        v[0] = n
        return v[0] if n == 0 else f(n - 1) + v[0]

    compiled = jit(f)
    assert compiled(100) == sum(range(101))
    with pytest.raises(RecursionError):
        compiled(10**7)
