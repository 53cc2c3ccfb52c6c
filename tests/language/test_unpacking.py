"""a, b = x and a, *b = x of tuples, lists, texts, ranges and arrays."""

import numpy as np
import pytest

from krait import njit
from krait.errors import KraitError
from oracle import agree, make

SEQUENCES = [[1], [1, 2], [1, 2, 3], [1.5, 2.5], [True, False], range(0), range(2), range(5, 1, -2), np.arange(0),
             np.arange(2), np.arange(3.0), np.arange(6)[::-3], np.arange(4).reshape(2, 2)]


@pytest.mark.parametrize("value", SEQUENCES, ids=repr)
@pytest.mark.parametrize("target", ["a, b", "a,", "a, b, c"])
def test_as_many_names_as_items(target, value):
    agree(make(f"def f(x):\n    {target} = x\n    return {target}"), value)


STARRED = ["*a,", "a, *b", "*a, b", "a, *b, c", "a, b, *c"]


@pytest.mark.parametrize("value", SEQUENCES, ids=repr)
@pytest.mark.parametrize("target", STARRED)
def test_a_starred_name_gets_a_list(target, value):
    if isinstance(value, np.ndarray) and value.ndim == 2:
        names = target.replace("*", "").strip(",").split(", ")
        result = ", ".join(f"{name}[0]" if "*" + name in target else name for name in names)
        if not len(value) > len(names) - 1:
            pytest.skip("the list would be empty")
    else:
        result = target.replace("*", "")
    agree(make(f"def f(x):\n    {target} = x\n    return {result}"), value)


@pytest.mark.parametrize("value", [(1,), (1, 2), (1, 2, 3, 4), (1, 2.5, True), ((1, 2), (3, 4), (5, 6))], ids=repr)
@pytest.mark.parametrize("target", ["a, *b", "*a, b", "a, *b, c"])
def test_of_a_tuple(target, value):
    if len(value) < target.count(",") + ("*b, c" in target) - ("*b, c" in target):
        return
    kinds = {type(item) for item in value}
    if len(kinds) > 1:  # the items of a list have one type in compiled code
        return
    agree(make(f"def f(x):\n    {target} = x\n    return {target.replace('*', '')}") if len(value) > 1 else
          make("def f(x):\n    a, *b = x\n    return a, len(b)"), value)


def test_a_starred_name_that_nobody_reads():
    agree(make("def f(t):\n    a, *_, c = t\n    return a, c"), (1, 2.5, 3))
    agree(make("def f(t):\n    a, *_ = t\n    return a"), (1, None, 2.5))


def test_the_list_is_one_of_its_own():
    agree(make("def f(x):\n    a, *b = x\n    x[1] = 9\n    b.append(7)\n    return a, b, x"), [1, 2, 3])
    agree(make("def f(x):\n    a, *b = x\n    b[0] = 5\n    return b"), (1, 2, 3))


TEXTS = ["", "x", "xy", "xyz", "h\u00e9\U0001f40d"]


@pytest.mark.parametrize("target", ["a, b", "a,", "a, b, c"] + STARRED)
def test_of_texts(target):
    for text in TEXTS:
        agree(make(f"def f(s):\n    {target} = s\n    return {target.replace('*', '')}"), text)
        agree(make(f"def f(s):\n    {target} = s + '!'\n    return {target.replace('*', '')}"), text)
        agree(make(f"def f():\n    {target} = {text!r}\n    return {target.replace('*', '')}"))
    agree(make("def f(pairs):\n    return [b + a for a, b in pairs]"), ["ab", "cd"])
    agree(make("def f(pairs):\n    return [b + a for a, b in pairs]"), ["ab", "c"])


def test_in_a_loop():
    pairs = make("def f(x):\n    total = 0\n    for a, b in x:\n        total += a * b\n    return total")
    agree(pairs, [[1, 2], [3, 4]])
    agree(make("def f(x):\n    total = 0\n    for a, *b in x:\n        total += a * len(b)\n    return total"),
          [[1, 2], [3, 4, 5]])


def test_too_few_and_too_many():
    for value in [[1], [1, 2, 3], range(3), np.arange(1)]:
        agree(make("def f(x):\n    a, b = x\n    return a"), value)
    for value in [[1], [1, 2, 3], [1, 2]]:
        caught = "def f(x):\n    try:\n        a, b = x\n    except ValueError:\n        return -1\n    return a"
        agree(make(caught), value)
    agree(make("def f(x):\n    a, b, *c = x\n    return a"), [1])


class Raises:
    def __iter__(self):
        raise ValueError(3)


class Endless:
    def __iter__(self):
        return self

    def __next__(self):
        raise ValueError(3)


class Mixed:
    def __iter__(self):
        return iter((1, "a"))


def test_an_instance_that_only_raises():
    def f():
        try:
            a, b = Raises()
        except ValueError as e:
            return str(e)
        return str(a)

    def rest():
        a, *b = Raises()
        return a, b

    agree(f)
    agree(rest)


def test_what_an_instance_cannot_give_is_told():
    with pytest.raises(KraitError, match="instance of Endless cannot be unpacked: it gives no item"):
        njit(make("def f():\n    a, b = Endless()\n    return a", Endless=Endless))()
    with pytest.raises(KraitError, match="items of .int, str. have no common type"):
        njit(make("def f():\n    a, b = Mixed()\n    return a", Mixed=Mixed))()
