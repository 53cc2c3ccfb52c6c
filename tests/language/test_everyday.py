"""Small things that programs do everywhere: imports inside functions, walrus in generators, max of instances."""

from collections import deque, namedtuple

import numpy as np
import pytest
from oracle import agree

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
