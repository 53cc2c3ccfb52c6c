"""key= of a method of something, dict.fromkeys, dict(zip(...)): as programs that count and look up have them."""

import pytest
from oracle import agree, make

COUNTS = {"b": 2, "a": 3, "c": 1, "d": 3}


@pytest.mark.parametrize("expression, argument", [
    ("max(a, key=a.get), min(a, key=a.get)", COUNTS),
    ("sorted(a, key=a.get), sorted(a, key=a.get, reverse=True)", COUNTS),
    ("max(a.keys(), key=a.get), max(a, key=lambda k: a[k])", COUNTS),
    ("sorted(a.items(), key=lambda kv: kv[1]), sorted(a.items(), key=lambda kv: (-kv[1], kv[0]))[:2]", COUNTS),
    ("max(['x', 'yyy', 'zz'], key=len), sorted(['b', 'A'], key=str.lower), max('abcab', key=a.count)", "abcab"),
    ("min([3, 1, 2], key=a.index)", [2, 3, 1]),
    ("dict.fromkeys(a, 0), dict.fromkeys('abc', 1.5)", [1, 2, 3]),
    ("list(dict.fromkeys(a)), len(dict.fromkeys(a))", [3, 1, 3, 2]),
    ("dict.fromkeys(a, 'x')['b']", "abc"),
    ("dict(zip(a, range(9))), dict(enumerate(a)), dict(zip(a, a[::-1]))", "abc"),
])  # fmt: skip
def test_keys(expression, argument):
    agree(make(f"def f(a):\n    return {expression}\n", "f"), argument)


def test_many_calls():
    """A class's method that is a new object whenever it is read does not make calls compile anew."""
    from krait import njit

    f = njit(make("def f(a):\n    return dict.fromkeys(a, 1)\n", "f"))
    assert f([1, 2]) == {1: 1, 2: 1}
    for _ in range(20):
        f([1, 2])
    assert len(f.signatures) == 1
