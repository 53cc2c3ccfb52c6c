"""A Python bool that meets other numbers is the equal number, and refused where more than that is seen of it."""

import collections

import pytest
from oracle import agree, make

from krait import njit
from krait.errors import KraitError

Fields = collections.namedtuple("Fields", "root iters ok")

SEEN = ["return str(not a or b)", "return f'{a == 0 or b}'", "return repr(a > 1 and b)", "print(a == 0 or b)",
        "return type(a == 0 or b) is bool", "return isinstance(a or b > 2, bool)"]  # fmt: skip

EQUAL = ["return a == 0 or b", "return (a == 0 or b, 5)", "return [a == 0 or b]", "return max(a == 0, b)",
         "if a:\n        return True\n    return 3", "return [True, 2, 0.5]", "return {'a': a, 'b': a == 0}",
         "return dict(loss=0.5, ok=True, n=3)", "return {0.5, True}", "return [*Fields(0.5, 3, True)]",
         "s = [0] * 3\n    s[1] = True\n    return s", "s = [b]\n    s.append(a > 1)\n    return s",
         "r = False\n    for i in range(3):\n        if i == b:\n            r = i\n    return r"]  # fmt: skip

NUMBERS = ["return 1 if a == 0 or b else 2", "return (a == 0) + b, sum([a == 0, b == 2]), abs(a == 0)",
           "return list(filter(lambda v: v and v > 2, [a, b, 5, 0]))", "return [f'{v}' for v in (True, False)]",
           "out = []\n    for v in (True, 2, 0.5):\n        out.append(f'{v}')\n    return out",
           "n, ok = 0, 1\n    while ok:\n        n += ok\n        ok = n < b\n    return n",
           "return (a == 0 or b) * 2 + (b and a > 0)", "return int(a == 0) or b, [int(a == 0), b], max(int(a == 0), b)",
           "return int(a == 0 or b), float(a == 0 or b), not (a == 0 or b)"]  # fmt: skip


@pytest.mark.parametrize("body", SEEN)
def test_refused_where_it_is_seen(body):
    function = make(f"def f(a, b):\n    {body}", "f", Fields=Fields)
    with pytest.raises(KraitError, match="bool"):
        njit(function)(0, 2)


@pytest.mark.parametrize("body", EQUAL)
def test_an_equal_number(body):
    function = make(f"def f(a, b):\n    {body}", "f", Fields=Fields)
    for a, b in ((0, 2), (1, 0), (3, 5)):
        assert njit(function)(a, b) == function(a, b)


@pytest.mark.parametrize("body", NUMBERS)
def test_as_numbers(body):
    function = make(f"def f(a, b):\n    {body}", "f")
    for a, b in ((0, 2), (1, 0), (3, 5)):
        agree(function, a, b)


def test_an_attribute():
    class Job:
        done = False

        def go(self, value):
            self.done = value

    def run(value):
        job = Job()
        job.go(value)
        return f"{job.done}"

    agree(run, True)
