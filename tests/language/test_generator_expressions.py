"""Generator expressions as arguments, map and filter, against Python's: any() and all() stop where they know."""

import numpy as np
import pytest
from oracle import agree, make


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
