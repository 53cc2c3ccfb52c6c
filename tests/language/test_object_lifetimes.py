"""Arrays made in compiled code live as long as they are used, and no longer: agree counts the objects of the heap."""

import gc

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from oracle import agree, agree_all, make

from krait import _testing, njit
from portions import examples


def alive(call):
    """Objects that a call leaves on the heap as long as its result lives."""
    gc.collect()
    before = _testing.heap_objects()
    result = call()
    return _testing.heap_objects() - before, result


def test_what_a_call_leaves():
    """Only what the result refers to, once for each buffer."""
    cases = {
        "x[0] + y[0]": 0,
        "x": 1,
        "x[1:]": 1,
        "(x, x)": 1,
        "(x[1:], x.T, y)": 2,
        "y if n > 3 else x": 1,
        "(x, (y, x[2]))": 2,
        "None": 0,
    }
    for text, count in cases.items():
        f = njit(make(f"def f(n):\n    x = np.zeros(n)\n    y = np.ones(n)\n    return {text}"))
        for _ in range(3):
            left, result = alive(lambda: f(4))
            assert left == count, text
            del result
            assert alive(lambda: None)[0] == 0
        agree(f, 4)


def test_loops_and_branches():
    def replaced(n):
        x = np.zeros(n)
        for i in range(5):
            y = np.ones(n)
            y[0] = x[0] + i
            if i == 3:
                continue
            x = y
        return x

    def chosen(n):
        if n > 2:
            x = np.zeros(n)
        elif n > 1:
            x = np.ones(n)
        else:
            return np.full(3, 7.0)
        return x[1:]

    def early(n):
        x = np.zeros(n)
        for i in range(n):
            y = np.ones(n)
            if i == 2:
                return y
        return x

    def swapped(n):
        x, y = np.zeros(n), np.ones(n)
        for i in range(n):
            x, y = y, x
        return x[0]

    def nested(n):
        s = np.float64(0)
        for i in range(n):
            x = np.full(i, 1.0)
            for j in range(i):
                y = x[j:]
                for v in y:
                    s += v
            while s < 0:
                x = y
        return s

    for f in (replaced, chosen, early, swapped, nested):
        agree_all(f, [(1,), (2,), (4,), (5,)])


def test_parameters_are_borrowed():
    def mixed(a, n):
        b = a
        for i in range(3):
            if i == n:
                b = np.zeros(3)
            else:
                b = b[::-1]
        return b

    a = np.arange(3.0)
    agree_all(mixed, [(a, n) for n in (-1, 0, 1, 2)])
    assert njit(mixed)(a, -1).base is a


def test_calls():
    @njit
    def same(x):
        return x

    @njit
    def part(x, i):
        return x[i:]

    @njit
    def pair(n):
        x = np.zeros(n)
        return x, np.ones(n)

    @njit
    def deep(x, n):
        return x if n == 0 else deep(part(x, 1), n - 1)

    def f(n):
        x, y = pair(n)
        z = same(x)
        z[1] = 5.0
        return part(same(part(x, 1)), 0), deep(y, 2), same(n)

    agree_all(f, [(3,), (4,)])


def test_raising():
    """Whatever is held where something is raised, here or in a callee, is given up."""

    @njit
    def get(x, i):
        y = np.ones(3)
        return x[i] + y[0]

    def outside(n, i):
        x = np.zeros(n)
        y = np.ones(n)
        s = y[0]
        for k in range(3):
            z = np.zeros(k)
            s += x[i + k]
            s += z.size
        return s

    def callee(n, i):
        x = np.zeros(n)
        return get(x, i) + get(x[1:], i)

    def by_hand(n, i):
        x = np.zeros(n)
        if i > 1:
            raise ValueError("no", i)
        return x

    def domain(n, i):
        x = np.zeros(n)
        y = (x, np.ones(2))
        return n // i, y

    def negative(n, i):
        x = np.zeros(n)
        return x, np.zeros(-i)

    for f in (outside, callee, by_hand, domain, negative):
        agree_all(f, [(4, 0), (4, 1), (4, 2), (4, 3), (4, 7)])


def test_tuples_optionals_cells_iterators():
    def optional(n):
        x = None
        for i in range(n):
            if i == 2:
                x = np.zeros(n)
        return np.float64(0.0) if x is None else x[0] + x.size

    def tuples(n):
        t = np.zeros(n), np.ones(n)
        for i in range(3):
            t = t[1], np.full(n, 1.0 + i)
        return t[0]

    def cells(n):
        x = np.zeros(n)

        def get():
            return x[0]

        first = get()
        x = np.ones(n)
        second = get()
        x = np.zeros(3)
        return first, second, x

    def cells_in_loops(n):
        s = np.float64(0)
        for i in range(n):
            x = np.zeros(3)
            if i > 1:
                x = np.ones(2)

            def get(k):
                return x[k]

            s += get(i - 1)
        return s

    def iterated(n):
        x = np.ones((n, n))
        s = np.float64(0)
        for row in x:
            x = np.zeros((2, 2))
            for i, (a, b) in enumerate(zip(row, np.full(n, 2.0))):
                s += a * b + i + x[0, 0]
        return s

    agree_all(optional, [(1,), (4,)])
    agree_all(tuples, [(1,), (4,)])
    agree_all(cells, [(1,), (4,)])
    agree_all(cells_in_loops, [(1,), (2,), (3,), (5,)])
    agree_all(iterated, [(1,), (3,)])


# Programs of arrays: statements over three names, with branches and loops around some and things that raise between.
SIMPLE = [
    "x = np.zeros(n)",
    "y = np.full(n + 1, 2.0)",
    "x = y",
    "z = x[1:]",
    "x, y = y, x",
    "y = same(x)",
    "z = same(y[::-1])",
    "s += x[i]",
    "s += z[i]",
    "s += 1 // (k - i)",
    "t = (x, y)",
    "z = t[0]",
    "for v in z: s += v",
    "if s > 5: return x, t, s",
    "if s > k: raise ValueError(s)",
]


@st.composite
def programs(draw, depth=0):
    lines = []
    for _ in range(draw(st.integers(1, 4))):
        kind = draw(st.integers(0, 5 if depth < 2 else 3))
        if kind < 4:
            lines.append(draw(st.sampled_from(SIMPLE)))
            continue
        inner = draw(programs(depth=depth + 1))
        head = f"if s % 2 == {draw(st.integers(0, 1))}:" if kind == 4 else f"for i in range({draw(st.integers(0, 3))}):"
        lines += [head, *("    " + line for line in inner)]
        if kind == 4 and draw(st.booleans()):
            lines += ["else:", *("    " + line for line in draw(programs(depth=depth + 1)))]
    return lines


@njit
def same(a):
    return a


@given(programs(), st.integers(0, 3), st.integers(0, 3))
@settings(max_examples=examples(60), deadline=None)
def test_programs(lines, n, k):
    first = ["s = np.float64(0)", "i = 0", "x = np.ones(n + 1)", "y = np.ones(2)", "z = y", "t = (x, y)"]
    body = [*first, *lines, "return z, t, s"]
    text = "def f(n, k):\n" + "".join(f"    {line}\n" for line in body)
    f = njit(make(text, same=same))
    agree_all(f, [(n, k), (n, k)])


def test_what_runs_for_long_does_not_grow():
    @njit
    def f(n):
        s = np.float64(0)
        for i in range(n):
            x = np.full((10, 10), 1.0)
            y = same(x[2:])
            s += y[0, 0]
        return s

    left, result = alive(lambda: f(100_000))
    assert left == 0 and result == 100_000.0


def test_an_iterator_that_may_outlive_its_array_is_refused():
    from krait import errors

    def f(n, a):
        if n > 2:
            it = iter(np.zeros(n))
        else:
            it = iter(a)
        s = np.float64(0)
        for v in it:
            s += v
        return s

    with pytest.raises(errors.UnsupportedError, match="may be in use longer than the array"):
        njit(f)(3, np.zeros(2))


def test_what_a_function_without_objects_of_its_own_puts_into_a_variable_around_it():
    def f(text):
        parts = text.partition(",")
        kept = parts[1]

        def give():
            nonlocal kept
            kept = parts[0]

        give()
        give()
        return parts, kept

    for text in ("a,b", "ΑΣ,ς" * 50, "none"):
        agree(f, text)
        agree(f, text)
