"""Small things that programs do everywhere: imports inside functions, walrus in generators, max of instances."""

import cmath
import math
from collections import deque, namedtuple

import numpy as np
import pytest
from oracle import agree, make

from krait import errors, njit

Pair = namedtuple("Pair", "x y")


class Weight:
    def __init__(self, v, name=""):
        self.v = v
        self.name = name

    def __lt__(self, other):
        return self.v < other.v

    def __gt__(self, other):
        return self.v > other.v


def case_module_imported_here_in_a_comprehension():
    import math

    return [math.sqrt(x) for x in range(4)], sum(math.floor(x * math.pi) for x in range(3))


def case_module_imported_here_in_an_inner_function():
    import math as m

    def area(r):
        return m.pi * r**2

    return area(2.0), [area(r) for r in range(2)]


def case_walrus_in_any_and_all():
    xs = [1, 5, 3]
    first = last = 0
    if any((y := x) > 2 for x in xs):
        first = y
    if not all((z := x) < 4 for x in xs):
        last = z
    return first, last, y


def case_walrus_in_comprehensions():
    r = [y for x in [1, 5, 3] if (y := x * 2) > 3]
    s = {(t := x) for x in "abc"}
    return r, y, sorted(s), t


def case_walrus_that_never_ran():
    if any((y := x) > 2 for x in [1][:0]):
        return 1
    return y


def case_greatest_of_instances():
    a, b, c = Weight(3, "a"), Weight(5, "b"), Weight(5, "c")
    return max(a, b).name, min(a, b).v, max(a, c, b).name, max([a, b]).name, sorted([b, a])[0].name


def case_durations():
    d = np.timedelta64(-3, "D")
    return abs(d), abs(np.timedelta64(2, "ms")), abs(np.timedelta64("NaT", "s"))


def case_deques_backwards():
    d = deque([1, 2, 3], maxlen=3)
    d.append(4)
    return list(reversed(d)), [x for x in reversed(d)], sum(reversed(d))


def case_deque_changed_while_walked_backwards():
    d = deque([1, 2])
    for x in reversed(d):
        d.append(x)


def case_setattr():
    w = Weight(1)
    setattr(w, "v", 5)
    setattr(w, "name", "x")
    return getattr(w, "v"), w.name, getattr(w, "none", 3)


def case_fields_replaced():
    p = Pair(1, 2.5)
    return p._replace(x=5), p._replace(y="a", x=3), p._replace(), p._fields, Pair(1, 2)._asdict(), str(p._replace(x=0))


def case_fields_as_a_dict():
    p = Pair(1, 2.5)
    d = p._asdict()
    return d, d["x"], d["y"], len(d), list(d), "x" in d, Pair(2, "a")._asdict(), Pair(1.5, 2.5)._asdict()


class Branch:
    def __init__(self, value, children=None):
        self.value = value
        self.children = children if children is not None else []


def small_tree():
    return Branch(1, [Branch(2), Branch(3, [Branch(4)])])


def case_recursion_in_generators():
    def total(node):
        return node.value + sum(total(c) for c in node.children)

    def depth(node):
        return 1 + max((depth(c) for c in node.children), default=0)

    def values(node):
        return [node.value] + [v for c in node.children for v in values(c)]

    return total(small_tree()), depth(small_tree()), values(small_tree())


def case_recursion_in_generators_of_a_function_that_closes_over_itself():
    def fib(n):
        return n if n < 2 else sum(fib(n - i) for i in (1, 2))

    return fib(8), [fib(i) for i in range(6)]


WAYS = {
    "or": "x = [1, 2][:n] or []\nx.append(1)\nreturn x",
    "if": "x = [] if n > 1 else [5]\nx.append(1)\nreturn x",
    "dict": "d = {} if n > 1 else {'a': 1}\nd['b'] = 2\nreturn d",
    "loop": "t = 0\nfor x in ([1, 2] if n > 1 else [3]):\n    t += x\nreturn t",
    "inside": "return [[i, *([9] if i > n else [])] for i in range(3)], [*([1] if n else []), 2]",
    "in": "return 3 in ([1, 3] if n else [2])",
    "comprehension": "return [x for x in range(4)] if n > 1 else [7 for x in range(2)]",
    "argument": "return ''.join(['a'] if n > 1 else ['b', 'c'])",
    "nested": "return [1] if n > 1 else [] if n else [2, 3]",
    "lists alone": "y = [n] or [2]\ny.append(1)\nz = [n] and [n, 3]\nz.append(2)\nw = {} or {'a': n}\nreturn y, z, w",
    "shared": "y = [] or [n]\nz = y\nz.append(4)\nreturn y, z",
    "and": "return (n > 1 and [n]) or [3]",
    "default": "def g(k=None):\n    k = k or []\n    k.append(n)\n    return k\nreturn g(), g([4])",
}


@pytest.mark.parametrize("name", WAYS)
def test_a_list_that_one_branch_makes(name):
    lines = WAYS[name].replace("\n", "\n    ")
    f = make(f"def f(n):\n    {lines}\n", "f")
    for n in (0, 1, 2):
        agree(f, n)


@pytest.mark.parametrize("name", [name for name in list(globals()) if name.startswith("case_")])
def test_everyday(name):
    agree(globals()[name])


def test_setattr_takes_known_names():
    def f(names):
        w = Weight(1)
        setattr(w, names[0], 2)
        return w.v

    with pytest.raises(errors.KraitError, match="setattr"):
        njit(f)(["v"])


@pytest.mark.parametrize("module", [math, cmath])
def test_modules_are_arguments(module):
    f = njit(lambda m, x: m.sqrt(x))
    assert repr(f(module, 4.0)) == repr(module.sqrt(4.0))


@pytest.mark.parametrize("call, message", [
    ("p._replace(z=1)", "has no field `z`"), ("p._replace(1)", "by name alone"),
])  # fmt: skip
def test_refused(call, message):
    with pytest.raises(errors.KraitError, match=message):
        njit(make(f"def f(p):\n    return {call}\n", "f"))(Pair(1, 2))
