"""Lists, dicts and sets that are reached in several ways are one object in compiled code, as in the interpreter.

What is written by one way is read by the other, `is` says so, and what was one object before the call is one after it.
"""

import gc
import weakref

import pytest
from oracle import make

from krait.errors import KraitError
from krait import _testing, njit


def shape(value, seen):
    """A value as text in which each container has a number: equal texts, equal values and equal sharing."""
    if not isinstance(value, (list, dict, set, tuple)):
        return repr(value)
    if not isinstance(value, tuple):
        if id(value) in seen:
            return f"#{seen[id(value)]}"
        seen[id(value)] = len(seen)
    if isinstance(value, dict):
        items = [f"{shape(key, seen)}: {shape(item, seen)}" for key, item in value.items()]
    else:
        items = [shape(item, seen) for item in value]
    number = "" if isinstance(value, tuple) else f"#{seen[id(value)]}"
    return f"{type(value).__name__}{number}({', '.join(items)})"


def both(body, arguments, parameters="a, b"):
    """arguments: a function that makes them anew, with what they share."""
    lines = "".join(f"    {line}\n" for line in body.strip().split("\n"))
    function = make(f"def f({parameters}):\n{lines}", "f")
    texts = []
    for call in (njit(function), function):
        given = arguments()
        try:
            result = call(*given)
        except Exception as error:
            result = repr(error)
        texts.append(shape((result, given), {}))
    assert texts[0] == texts[1]


def twice(container):
    return lambda: (lambda c: (c, c))(container())


LISTS = twice(lambda: [3, 1, 2])


@pytest.mark.parametrize("body", [
    "a.append(5)\nreturn len(b), a is b, a is not b", "a.sort()\nreturn b[0]", "b.append(a[0])\na.pop(0)\nreturn a, b",
    "a[:] = [7]\nb += [8]\nreturn b", "return (a, b, a)", "return [a, b]", "return {1: a, 2: b}",
    "a.clear()\na.append(9)\nb.append(a[0])", "b = b + [1]\nb.append(2)\nreturn a is b, b",
    "for x in a:\n    if len(b) < 9:\n        b.append(x)", "a.append(4)\nraise ValueError(len(b))",
])  # fmt: skip
def test_one_list_passed_twice(body):
    both(body, LISTS)


@pytest.mark.parametrize("body", [
    "a[9] = 5\nreturn b[9], a is b", "del b[1]\nreturn len(a)", "a.clear()\nb[3] = 4\nreturn a",
    "return b", "return [a, b]", "b.update(a)\na[1] += 1\nreturn b[1]",
])  # fmt: skip
def test_one_dict_passed_twice(body):
    both(body, twice(lambda: {1: 10, 2: 20}))


@pytest.mark.parametrize("body", ["a.add(9)\nreturn 9 in b, a is b", "b.discard(1)\nreturn len(a)", "return [a, b]"])
def test_one_set_passed_twice(body):
    both(body, twice(lambda: {1, 2}))


@pytest.mark.parametrize("body", [
    "a.append(5)\nreturn b[0][-1], b[1][-1], b[0] is a, b[1] is b[0]", "b[0].append(1)\nb[1].append(2)\nreturn a",
    "b.append(a)\nb[-1].append(3)", "b.pop()\nreturn a", "return b.pop(0)",
    "x = b.pop()\nb.clear()\nx.append(4)\nreturn x",
    "b[0] = [6]\na.append(7)\nreturn b[0] is a, b[1] is a", "b.reverse()\nreturn b + b",
    "c = [1]\nb.append(c)\nb.append(c)\nc.append(2)\nreturn c",
])  # fmt: skip
def test_lists_in_lists(body):
    def arguments():
        inner = [1, 2]
        return inner, [inner, inner]

    both(body, arguments)


@pytest.mark.parametrize("body", [
    "a[1].append(5)\nreturn a[2][-1], a[1] is a[2], a[1] is b", "return a.pop(1)", "b.append(1)\na[3] = b",
    "a[1] = [0]\na[2].append(6)", "a.clear()\nreturn b", "a[7] = [8]\na[8] = a[7]\na[8].append(9)",
])  # fmt: skip
def test_lists_in_dicts(body):
    def arguments():
        inner = [1, 2]
        return {1: inner, 2: inner}, inner

    both(body, arguments)


def test_what_is_taken_out_lives_on():
    """It is the result itself, also where the argument was the only one that held it."""
    taken = njit(lambda a: a.pop())
    for make_argument in (lambda: [[1], [2, 3]], lambda: [{1: 2}], lambda: [{4, 5}]):
        ours, theirs = make_argument(), make_argument()
        assert taken(ours) == theirs.pop() and ours == theirs
        argument = make_argument()
        inner = argument[-1]
        assert taken(argument) is inner


def test_many_containers():
    """More than lie in the table itself: found by address."""

    def f(rows, more):
        for row in rows:
            row.append(len(more))
        return sum([len(row) for row in more]), rows[0] is more[-1]

    def arguments():
        rows = [[i] for i in range(1000)]
        return rows, [rows[i * 7 % 1000] for i in range(3000)] + [rows[0]]

    ours, theirs = arguments(), arguments()
    assert njit(f)(*ours) == f(*theirs)
    assert shape(ours, {}) == shape(theirs, {})


def test_types_that_differ():
    """An empty list goes for a list of any items, but not of two kinds in one call."""

    @njit
    def f(a, b):
        a.append(1)
        b.append(1.5)
        return len(a), len(b)

    assert f([1], [2.5]) == (2, 2)
    assert f([], [2.5]) == (1, 2)
    empty = []
    with pytest.raises(TypeError, match="an object is reached in two ways among the arguments"):
        f(empty, empty)
    assert empty == []

    @njit
    def same(a, b):
        return a is b

    shared = [1]
    assert not same([1], [1]) and not same([1], [1.0]) and same(shared, shared)


def test_nothing_is_left_behind():
    class Kept(list):
        pass

    @njit
    def f(a, b):
        b.append(a[0])
        return a, [b[-1]]

    def call():
        inner = Kept([1, 2])
        outer = Kept([inner, inner])
        alive = [weakref.ref(inner), weakref.ref(outer)]
        for _ in range(20):
            f(outer, outer)
        return alive

    call()
    objects = _testing.heap_objects()
    alive = call()
    gc.collect()
    assert [ref() for ref in alive] == [None, None]
    assert _testing.heap_objects() == objects


@pytest.mark.parametrize("body", [
    "x = y = []\nx.append(n)\nreturn x, y, x is y",
    "x = y = [1, 2, 3]\nx[0] = n\nreturn x, y",
    "x = y = [*range(n)]\ny.append(7)\nreturn x",
    "x = y = {}\nx[1] = n\nreturn x, y",
    "x = y = {1: 2}\ny[n] = 3\nreturn x",
    "x = y = {1, 2}\ny.add(n)\nreturn x",
    "x = (y := [0, 0])\ny[1] = n\nreturn x, x is y",
    "x = y = []\nx.append([n])\ny[0].append(2)\nreturn x",
    "z = {}\nfor i in range(n):\n    z[i] = x = []\n    x.append(i)\nreturn z",
    "z = []\nfor i in range(n):\n    z.append(x := [])\n    x.append(i)\nreturn z",
    "x = (a, b) = [n, 2]\nreturn x, a, b",
])
def test_one_display_under_several_names(body):
    both(body, lambda: (3,), "n")
