"""The passes `safepoints` and `recursion`: which loops and functions look for signals, and how."""

import re

import numpy as np
import pytest
from pass_text import A1

from krait import _testing, jit


# ---- safepoints ------------------------------------------------------------------------------------------------------


def stage(function, *types):
    """Without checks of indices, for which a loop may exist twice."""
    return _testing.stage(function, list(types), "safepoints", boundscheck=False)


def test_loops_of_unknown_length_look():
    def strips(n):
        s = 0
        for i in range(n):
            s += i
        return s

    def at_header(x):
        i = 0
        while i < x:
            i += 2
        return i

    def at_latch(x):
        while True:
            if x[0] > 5:
                return
            x[0] += 1

    for function, argument in ((strips, "int"), (at_header, "int"), (at_latch, A1)):
        text = stage(function, argument)
        assert text.count("safepoint\n") == 1, text
        assert text.count("= spend[") == 1, text
        assert ("strip_stop" in text) == (function is strips), text


def test_short_rounds_of_loops_that_run_once_stay_apart():
    def once(n):
        s = 0
        for i in range(n):
            s += i
        return s

    def again(n):
        s = 0
        for i in range(n):
            for j in range(i):
                s += j
        return s

    def long(x, n):
        s = 0
        for i in range(n):
            x[:2] = x[2:4]
            s += i
        return s

    assert stage(once, "int").count(" unroll never:") == 1
    assert "unroll" not in stage(again, "int") and "unroll" not in stage(long, A1, "int")


def test_loops_that_are_short_do_not_look():
    def short(x):
        for i in range(9):
            for j in range(9):
                x[i, j] = 0
        for t in (1.0, 2.0):
            x[0, 0] += t

    assert "safepoint" not in stage(short, "array(float64, 2, C)")


def test_the_outer_loop_looks_for_short_ones_inside():
    def nested(x, n):
        for i in range(n):
            for j in range(3):
                x[i, j] = 0

    text = stage(nested, "array(float64, 2, C)", "int")
    assert text.count("safepoint\n") == 1, text


def test_a_condition_that_changes_something_is_asked_once():
    """A zip takes its items when it is asked; a call may do anything: these loops look on the way back."""

    def zipped(x, y):
        s = 0.0
        for a, b in zip(x, y):
            s += a * b
        return s

    text = stage(zipped, A1, A1)
    assert text.count("iter_more") == 1, text
    assert "and" not in re.findall(r"= (\w+)", text), text
    for n in (0, 1, 7, 300_000):
        x = np.arange(n) % 7.0
        assert jit(zipped)(x, x[::-1].copy()) == zipped(x, x[::-1].copy())


@pytest.mark.parametrize("step", [1, -1, 2, -3, 65535, -65535])
def test_strips_run_through_the_same_numbers(step):
    """Beyond a strip, at its edges, up to the ends of the numbers there are."""
    namespace = {}
    loop = f"for i in range(a, b, {step}):\n        s ^= i * n\n        n += 1\n"
    exec(f"def f(a, b):\n    s = n = 0\n    {loop}    return s, n\n", namespace)
    f = namespace["f"]
    compiled = jit(f)
    most = 2**63 - 1

    def expected(a, b):
        i, s, n = np.array(range(a, b, step), dtype=np.int64), 0, 0
        n = np.arange(len(i), dtype=np.int64)
        with np.errstate(over="ignore"):
            return int(np.bitwise_xor.reduce(i * n)) if len(i) else 0, len(i)

    spans = [0, 1, 2, 1000, 2**17 - 1, 2**17, 2**17 + 1, 131071 * 3, 400_000]
    for span in spans:
        length = span * step
        assert compiled(5, 5 + length) == expected(5, 5 + length)
        assert compiled(5, 5 + length + (1 if step > 0 else -1)) == expected(5, 5 + length + (1 if step > 0 else -1))
        assert compiled(5, 5 - length) == expected(5, 5 - length)
        edge = most if step > 0 else -most - 1
        assert compiled(edge - length, edge) == expected(edge - length, edge)


@pytest.mark.parametrize("iterable", [lambda n: range(n), lambda n: np.arange(n), lambda n: np.arange(n)[::-1]])
def test_rounds_that_take_two_items(iterable):
    """A loop that is left in its first round, inside a loop over the same iterator, beyond a strip."""

    def f(x):
        it = iter(x)
        s = 0
        for a in it:
            for b in it:
                s ^= a * b
                break
        return s

    compiled = jit(f)
    for n in (0, 1, 2, 3, 500_000, 500_001):
        assert compiled(iterable(n)) == int(f(np.asarray(iterable(n)).tolist()))


@pytest.mark.parametrize("most", [1, 3, 200_000])
def test_an_iterator_goes_on_where_the_round_before_has_left_it(most):
    """In a loop that walks a part of it in each round of another, beyond a strip, too."""

    def f(length, most):
        it = iter(range(length))
        s = last = 0
        for _ in range(4):
            n = 0
            for last in it:
                s ^= last * n
                n += 1
                if n >= most:
                    break
        return s, last

    compiled = jit(f)
    for n in (0, 1, 5, 500_000):
        assert compiled(n, most) == f(n, most)


# Loops in loops of every kind, the inner ones short and long, with and without values that go on.
NESTED = [
    """
def f(x, n, m):
    s = 0.0
    last = -1
    for i in range(n):
        for j in range(m):
            s = s * 0.5 + x[(i + j) % x.size]
            last = j
    return s, last
""",
    """
def f(x, n, m):
    s = 0.0
    for i in range(n):
        for j in range(i % 5, m, 2):
            s += x[j % x.size]
        for j in range(m, i % 3, -1):
            s -= x[j % x.size] * j
    return s
""",
    """
def f(x, n, m):
    s = 0.0
    for i in range(n):
        for j in range(0, m, n % 3 + 1):
            s = s * 0.25 + j
        s += i
    return s
""",
    """
def f(x, n, m):
    s = 0.0
    for i in range(n):
        for j, (a, b) in enumerate(zip(x[:m], x[1:]), i):
            s = s * 0.5 + a * j - b
        for a in reversed(x[:m]):
            s += a
    return s
""",
    """
def f(x, n, m):
    s = t = 0.0
    for i in range(n):
        s, t = t, s
        for j in range(m):
            s, t = t + x[j % x.size], s * 0.5
            if s > 40.0:
                s = -s
    return s, t
""",
]


@pytest.mark.parametrize("number", range(len(NESTED)))
@pytest.mark.parametrize("sizes", [(0, 3), (3, 0), (2, 1), (5, 4), (40, 9), (3, 300_000), (1, 300_001), (4, 131_072)])
def test_short_loops_in_loops(number, sizes):
    namespace = {}
    exec(NESTED[number], namespace)
    f = namespace["f"]
    x = np.random.default_rng(number).random(max(sizes[1] % 1000, 7))
    n, m = sizes
    assert jit(f)(x, n, m) == f(x, n, m)


def test_a_short_loop_in_a_loop_has_a_twin():
    def nested(x, n, m):
        s = 0.0
        for i in range(n):
            for j in range(m):
                s += x[i, j]
        return s

    text = stage(nested, "array(float64, 2, C)", "int", "int")
    assert text.count("iter_left") >= 1 and text.count(" getitem ") == 2, text
    spends = re.findall(r"= spend\[(\d+)\] %\d+, (%\d+)", text)
    assert len(spends) == 1, text
    assert re.search(rf"{spends[0][1]} = const ([1-9]\d*)\n", text), text  # the outer loop's round is paid with it
    assert len(re.findall(r"= spend\[\d+\]\n", text)) == 0, text


def test_what_a_loop_leaves_behind():
    """Variables after the loop, with break, continue and else, with and without a round."""

    def f(x, n, stop):
        last, count, found = -1, 0, False
        for i in range(n):
            last = i
            if i == stop:
                found = True
                break
            if i & 1:
                continue
            count += 1
        else:
            count = -count
        return last, count, found, x[0]

    compiled = jit(f)
    for n in (0, 1, 2, 300_001):
        for stop in (-1, 0, 1, 262_144, 300_000):
            assert compiled(np.ones(1), n, stop) == f(np.ones(1), n, stop)


@pytest.mark.parametrize("loops, strips", [(40, 40), (520, 0)])
def test_many_loops_are_not_nested(loops, strips):
    namespace = {}
    exec("def f(n):\n    s = 0\n" + "    for i in range(n):\n        s += i\n" * loops + "    return s\n", namespace)
    text = stage(namespace["f"], "int")
    assert (text.count("safepoint\n"), text.count("strip_stop")) == (loops, strips)
    assert jit(namespace["f"])(1000) == namespace["f"](1000)


# ---- recursion -------------------------------------------------------------------------------------------------------


@jit
def tree(n):
    return n if n < 2 else tree(n - 1) + tree(n - 2)


@jit
def long_tree(n):
    s = 0
    s += n * 1 + n // 2 + n * 3 + n // 4 + n * 5 + n // 6 + n * 7 + n // 8
    s += n * 1 + n // 2 + n * 3 + n // 4 + n * 5 + n // 6 + n * 7 + n // 8
    return s if n < 2 else long_tree(n - 1) + long_tree(n - 2)


def calls_by_depth(text):
    """Per function of the program: its depth, and the numbers of the functions that it calls."""
    parts = text.split("; recursive, depth ")[1:]
    return [(int(part.split()[0]), sorted(set(re.findall(r"call_inst\[\w+#(\d+)\]", part)))) for part in parts]


def test_short_recursive_functions_look_at_every_fourth_depth():
    text = _testing.stage(tree.py_func, ["int"], "recursion")
    assert calls_by_depth(text) == [(0, ["1"]), (1, ["2"]), (2, ["3"]), (3, ["0"])]
    assert [tree(n) for n in range(20)] == [tree.py_func(n) for n in range(20)]


def test_long_recursive_functions_look_at_every_depth():
    assert calls_by_depth(_testing.stage(long_tree.py_func, ["int"], "recursion")) == [(0, ["0"])]
    assert long_tree(12) == long_tree.py_func(12)


@jit
def short_even(n):
    return True if n == 0 else long_odd(n - 1)


@jit
def long_odd(n):
    s = n * 1 + n // 2 + n * 3 + n // 4 + n * 5 + n // 6 + n * 7 + n // 8
    s += n * 1 + n // 2 + n * 3 + n // 4 + n * 5 + n // 6 + n * 7 + n // 8
    s += n * 1 + n // 2 + n * 3 + n // 4 + n * 5 + n // 6 + n * 7 + n // 8
    return s == 0 and n < 0 if n == 0 else short_even(n - 1)


def test_every_way_round_leads_through_functions_that_look():
    """A short function and a long one that call each other: the copies of the short one come back to the long one."""
    text = _testing.stage(short_even.py_func, ["int"], "recursion")
    depths = calls_by_depth(text)
    looks = {str(number) for number, (depth, _) in enumerate(depths) if depth == 0}
    assert len(looks) == 2
    for depth, called in depths:
        assert depth == 0 or set(called) <= looks, text
    assert [short_even(n) for n in range(9)] == [n % 2 == 0 for n in range(9)]
