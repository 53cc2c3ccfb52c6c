"""Generator expressions as arguments, map and filter, against Python's: any() and all() stop where they know."""

import itertools
import textwrap

import numpy as np
import pytest
from oracle import agree, make

from krait import njit
from krait.errors import KraitError


def of(expression, *args):
    agree(make(f"def f({', '.join('abc'[:len(args)])}):\n    return {expression}", "f"), *args)


@pytest.mark.parametrize("expression", [
    "sum(v * v for v in a)", "min(v for v in a), max(v * 2 for v in a)", "sorted(v % 3 for v in a)",
    "list(v + 1 for v in a if v > 1)", "set(v for v in a)", "dict((v, k) for k, v in enumerate(a))",
    "','.join(str(v) for v in a)", "sum(v * w for v in a for w in range(v))",
    "sum(sum(w for w in range(v)) for v in a)",
    "any(v > 2 for v in a), all(v > 2 for v in a)", "any(1 // (v - 6) for v in a)", "all(1 // (v - 6) for v in a)",
    "any(v == 5 or 1 // (v - 6) > 0 for v in a)", "all(v < 6 and 1 // (v - 6) for v in a)",
    "not any(v < 0 for v in a) and all(v < 9 for v in a)", "any(any(w == v for w in a) for v in range(9))",
    "sum([any(v > i for v in a) for i in range(7)])", "any(v for v in a if False), all(v for v in a if False)",
    "next((v for v in a if v > 4), -1), next((v for v in a if v > 9), -1)", "max((v, -v) for v in a)",
    "[x + y for x, y in zip((v for v in a), (v * 2 for v in a))]", "sum(1 for _ in a)", "len(list(v for v in a))",
    "list(map(abs, a)), list(map(str, a)), sum(map(float, a))", "list(map(lambda x, y: x * y, a, a))",
    "list(filter(None, a)), list(filter(lambda x: x > 4, a))", "sum(map(lambda x: x + 1, filter(lambda x: x > 4, a)))",
])  # fmt: skip
def test_taken_whole(expression):
    of(expression, [4, 5, 6])
    of(expression, (5, 4, 6))
    of(expression, [6])


def test_over_other_things():
    of("any(c in 'aeiou' for c in a), sum(c == 'a' for c in a), ''.join(c for c in a if c > 'b')", "banana")
    of("sum(v for v in a), sum(v * 2 for v in a[::-1])", np.arange(4.0))
    of("sum(v * len(k) for k, v in a.items())", {"x": 1, "yy": 2})
    of("sum(v + b for v in a)", [1, 2], 7)


def test_in_a_loop():
    body = "n = 0\n    for v in (x * x for x in a):\n        n = n * 10 + v\n    return n"
    agree(make(f"def f(a):\n    {body}"), [1, 2, 3])
    agree(make("def f(a):\n    g = (x for x in a if x > 1)\n    return sum(g)"), [1, 2, 3])


def test_an_answer_is_taken_once():
    """The call of any() is part of the answer; what is called with the answer later is a call of its own."""

    def f(text):
        found = any(x == "a" for x in text)
        every = all(x == "a" for x in text)
        return int(found), float(every), str(found), [int(found), int(every)], {text: int(found)}

    for text in ("a", "ab", "b"):
        agree(f, text)


def test_next_ends_with_the_first():
    of("next((1 // v for v in a), None), next(v for v in a if v < 4)", [1, 0, 2])
    of("next(i for i in range(10**12) if i * i > a)", 50)
    of("[next((i for i, v in enumerate(a) if v == t), -1) for t in (2, 3, 9)]", [1, 2, 3])
    of("next((v, w) for v in a for w in a if v < w), next(([v] for v in a), [0])", [3, 1, 2])
    of("next(v for v in a if v > 9)", [1])
    of("next((str(v) for v in a if v > 9), 'none'), next(str(v) for v in a)", [1])


# ---- kept ones are generators ----

KEPT = ["list(g), list(g)", "sum(g), len(list(g))", "next(g), next(g), list(g)", "2 in g, list(g)", "max(g), sorted(g)",
        "any(g), list(g)", "[x + y for x, y in zip(g, g)], list(g)", "set(g), len(list(g))", "dict(enumerate(g))",
        "','.join([str(x) for x in g]), sum(1 for _ in g)"]


@pytest.mark.parametrize("taken", KEPT)
def test_a_kept_one_is_taken_once(taken):
    function = make(f"def f(a):\n    g = (v * v for v in a if v > 0)\n    return {taken}")
    agree(function, [3, 1, 2, -4, 5])
    agree(function, np.array([3, 1, 2, -4, 5]))
    agree(function, {1: 2, 7: 3})


def test_a_kept_one_runs_when_it_is_asked():
    def grows(a):
        g = (v + 1 for v in a)
        found = []
        for v in g:
            found.append(v)
            if len(a) < 6:
                a.append(v)
        return found, a

    def raises(a):
        g = (1 // v for v in a)
        found = 0
        try:
            found = sum(g)
        except ZeroDivisionError:
            found = -1
        return found, list(g)

    def nested(a):
        g = (v for v in a)
        h = (w + v for w in g for v in a)
        return next(g), list(h), list(g)

    agree(grows, [1, 2, 3])
    agree(raises, [1, 0, 2])
    agree(nested, [1, 2, 3])
    agree(make("def f(d):\n    g = (k + v for k, v in d.items())\n    return list(g), list(g)"), {1: 2, 3: 4})


def test_a_returned_one():
    made = njit(lambda a, k: (v + k for v in a))([1, 2], 3)
    assert next(made) == 4 and list(made) == [5] and list(made) == []


@pytest.mark.parametrize("body, words", [
    ("g = (v for v in a)\n    return g[0]", "cannot be indexed"),
    ("g = (v for v in a)\n    return len(g)", "`len` does not"),
    ("k = 1\n    g = (v + k for v in a)\n    h = g if a else (v for v in a)\n    k = 2\n    return sum(h)",
     "changing variable"),
    ("k = 1\n    g = (v + k for v in a)\n    k = 2\n    return g", "changing variable"),
])
def test_what_a_kept_one_is_not(body, words):
    with pytest.raises(KraitError, match=words):
        njit(make(f"def f(a):\n    {body}"))([1, 2])


STORED = {
    "appended": "l = []; g = (v * k for v in a); l.append(g); k = n; return list(l[0])",
    "an attribute": "o = Box(); o.g = (v * k for v in a); k = n; return list(o.g)",
    "a dict": "d = {'a': (v * k for v in a)}; k = n; return list(d['a'])",
    "an item": "t = [None]; t[0] = (v * k for v in a); k = n; return list(t[0])",
    "by a function": "l = []; take(l, (v * k for v in a)); k = n; return list(l[0])",
    "by a method": "o = Box(); o.take((v * k for v in a)); k = n; return list(o.g)",
    "wrapped": "l = []; l.append(wrap((v * k for v in a))); k = n; return list(l[0][0])",
    "by an inner function": """
        def made():
            return (v * k for v in a)
        g = made()
        k = n
        return list(g)""",
    "all of a loop": """
        l = []
        for k in range(n):
            g = (v * k for v in a)
            l.append(g)
        return [list(g) for g in l]""",
    "in a comprehension": "return [list(g) for g in [wrap((v * k for v in a))[0] for k in range(n)]]",
    "the one before": """
        g = before = (v for v in a)
        for k in range(n):
            before = g
            g = (v * k for v in a)
        return list(before)""",
}


class Box:
    def __init__(self):
        self.g = None

    def take(self, g):
        self.g = g

    def sums(self, g):
        return sum(g), sum(g)


def take(items, item):
    items.append(item)


def wrap(item):
    return item, 1


@pytest.mark.parametrize("body", STORED.values(), ids=STORED)
def test_one_that_is_stored_while_its_variable_changes_is_refused(body):
    """It would give what the variable was."""
    body = textwrap.indent(textwrap.dedent(body).strip().replace("; ", "\n"), "    ")
    function = make(f"def f(a, n):\n    k = 1\n{body}", "f", Box=Box, take=take, wrap=wrap)
    with pytest.raises(KraitError, match="changing variable"):
        njit(function)([1, 2], 3)


@pytest.mark.parametrize("body", [
    "l = []; g = (v * k for v in a); l.append(g); return list(l[0])",
    "o = Box(); k = n; o.g = (v * k for v in a); return list(o.g)",
    "l = []; k += n; take(l, (v * k for v in a)); return list(l[0]), k",
    "l = []; g = wrap((v * k for v in a)); l.append(sum(g[0])); k += n; return l, k",
])
def test_one_that_is_stored_when_its_variable_stays(body):
    body = textwrap.indent(body.replace("; ", "\n"), "    ")
    agree(make(f"def f(a, n):\n    k = 1\n{body}", "f", Box=Box, take=take, wrap=wrap), [1, 2], 3)


@pytest.mark.parametrize("body", [
    "t = (v * n for v in a), 1; return list(t[0]), list(t[0])",
    "l = []; l.append(v * n for v in a); return list(l[0]), list(l[0])",
    "d = {'a': (v * n for v in a), 'b': (v for v in a)}; return list(d['a']), list(d['a']), list(d['b'])",
    "o = Box(); o.g = (v * n for v in a); return list(o.g), list(o.g)",
    "return Box().sums(v * n for v in a) + Box().sums((v + n for v in a))",
    "b, *c = (v * n for v in a); return b, c, [*(v for v in a)], n + sum(v for v in a)",
])
def test_one_that_is_put_somewhere_is_taken_once(body):
    body = textwrap.indent(body.replace("; ", "\n"), "    ")
    agree(make(f"def f(a, n):\n{body}", "f", Box=Box), [1, 2], 3)


# ---- arguments of what is lazy ----

LAZY = ["list(itertools.takewhile(lambda v: v < 50, (n for n in count() if n % 2)))",
        "list(itertools.islice((n * n for n in count()), 5))", "list(zip('abc', (n * n for n in count())))",
        "[x for x in zip(range(4), (n * n for n in count()))]", "first((n * n for n in count()), 50)",
        "list(map(lambda x, y: x + y, [1, 2], (n for n in count())))",
        "list(itertools.islice(filter(lambda v: v % 3 == 0, (n for n in count())), 4))",
        "list(itertools.islice(enumerate(n * n for n in count()), 4))", "9 in (n * n for n in count())",
        "list(itertools.islice(itertools.chain([7], (n * n for n in count())), 4))",
        "list(itertools.islice((n * v for n, v in zip(count(), (w + 1 for w in count()))), 3))",
        "min(itertools.takewhile(lambda v: v < 50, (n - 3 for n in count())))",
        "[*itertools.islice((n for n in count()), a)]",
        "list(itertools.islice((n * a for n in count()), 4))", "next(iter(n + a for n in count()))"]  # fmt: skip


def count():
    n = 0
    while True:
        yield n
        n += 1


def first(items, least):
    for item in items:
        if item > least:
            return item
    return -1


@pytest.mark.parametrize("expression", LAZY)
def test_no_more_is_taken_than_is_asked_for(expression):
    function = make(f"def f(a):\n    return {expression}", itertools=itertools, count=count, first=first)
    agree(function, 3)


def test_what_runs_between_the_items():
    """Items are made while the loop runs: it has done its part of the work when one raises."""

    def loop(a, out):
        try:
            for v in (12 // x for x in a):
                out.append(v)
        except ZeroDivisionError:
            out.append(-1)
        return 6 in (12 // x for x in a)

    one, other = [], []
    assert njit(loop)([3, 2, 0], one) == loop([3, 2, 0], other)
    assert one == other == [4, 6, -1]


# ---- variables that change while it is walked ----

CHANGING = {
    "numbers": """
        k = 3
        for x in (j * k for j in range(n)):
            k = k + 1
            out.append(x)""",
    "numbers of two types": """
        k = 1
        for x in (j * k for j in range(n)):
            k = k / 2
            out.append(x)""",
    "texts": """
        k = "a"
        for x in (k + str(j) for j in range(n)):
            k = k + x
            out.append(x)
        out.append(k)""",
    "lists": """
        k = [0]
        for x in (j * k[-1] for j in range(n)):
            k = k + [x + 1]
            out.append(x)""",
    "without end": """
        for x in range(1, n):
            for y in (x * j for j in itertools.count()):
                if y > 5:
                    break
                out.append(y)""",
    "left early": """
        for i in range(9):
            k = str(i)
            for x in (k + str(j) for j in range(n)):
                if len(out) > 5:
                    return out
                out.append(x)""",
    "left by an exception": """
        k = "3"
        try:
            for x in (k + str(10 // (2 - j)) for j in range(n)):
                k += "1"
                out.append(x)
        except ZeroDivisionError:
            out.append(k)""",
    "zip": """
        k = 1
        for x, y in zip(range(9), (j * k for j in range(n))):
            k += y + 1
            out.append((x, y))""",
    "islice": """
        k = "x"
        for y in itertools.islice((k * j for j in itertools.count()), n):
            k += "y"
            out.append(y)""",
    "two that are chained": """
        k = 1
        for i, x in enumerate(itertools.chain((k * j for j in range(n)), (k + j for j in range(n)))):
            k += 2
            out.append(x)""",
    "one in the other": """
        k = 1
        for x in (a * b + k for a in range(n) for b in (a * c * k for c in range(3))):
            k += 1
            out.append(x)""",
    "an inner function's": """
        k = 1
        def go():
            nonlocal k
            for x in (k * j for j in range(n)):
                k += 1
                out.append(x)
        go()
        out.append(k)""",
    "by a function": """
        k = 1
        look = lambda: k
        for x in (look() * j for j in range(n)):
            k += 1
            out.append(x)""",
    "by a function that changes it": """
        k = "1"
        def grow():
            nonlocal k
            k += "2"
            return k
        for x in (k + grow() for _ in range(n)):
            out.append(x)
        out.append(k)""",
    "in a comprehension": """
        k = 1
        def grow():
            nonlocal k
            k += 2
            return k
        out += [x * k for x in (k + grow() for _ in range(n))]
        out += list(y * k for y in (k + grow() for _ in range(n)))
        for y in (x * k for x in (k + grow() for _ in range(n))):
            k += 1
            out.append(y)""",
    "kept and summed": """
        for k in range(n):
            g = (v + k for v in range(4))
            out.append(sum(g))""",
    "kept while it changes": """
        k = 1
        k += n
        g = (v + k for v in range(n))
        out.append(next(g))
        k = 7
        out.append(next(g))
        out.extend(list(g))""",
    "looked through": """
        for k in range(n):
            out.append(6 in (k * j for j in range(9)))""",
    "given to a function": """
        for k in range(1, n):
            out.append(first((k * j for j in itertools.count()), 7))""",
}


@pytest.mark.parametrize("body", CHANGING.values(), ids=CHANGING)
def test_it_reads_a_variable_that_changes_when_it_is_asked(body):
    text = f"def f(n):\n    out = []\n{textwrap.indent(textwrap.dedent(body).strip(), '    ')}\n    return out"
    function = make(text, "f", itertools=itertools, first=first)
    for n in (0, 1, 4):
        agree(function, n)


def test_it_asks_for_no_more_than_the_loop():
    """Its side effects come between those of the loop."""

    def f(n, seen):
        k = 1
        for x in (seen.append(k * j) or k for j in range(n)):
            k += 1
            seen.append(-x)
            if k > 3:
                break
        return k

    agree(f, 9, [0])


def test_a_variable_of_a_loop_around_it():
    def sums(a):
        out = []
        for k in range(3):
            out.append(sum([v * w for v, w in zip(a, (x * k for x in a))]))
            for v in (x * k for x in a):
                out.append(v)
        return out

    agree(sums, [1, 2])


@pytest.mark.parametrize("call", ["np.array(x for x in a)", "np.asarray(x for x in a)", "np.max(x for x in a)",
                                  "np.mean(x for x in a)", "np.sqrt(x for x in a)"])
def test_numpy_takes_no_items_of_a_generator(call):
    """To NumPy it is an object, of which it makes an array without axes."""
    with pytest.raises(KraitError, match="generator"):
        njit(make(f"def f(a):\n    return {call}"))(np.arange(3))
