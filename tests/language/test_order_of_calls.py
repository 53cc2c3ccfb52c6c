"""What a call gives does not depend on the calls before it: what has not its type by itself, an empty list or an
attribute that is None, is taken by code alone that was made for such."""

import copy
import itertools

import numpy as np
import pytest

from krait import njit
from krait.typed import List
from krait import types


class Node:
    def __init__(self, v, next=None):
        self.v = v
        self.next = next


class Tree:
    def __init__(self, v):
        self.v = v
        self.kids = []


class Pair:
    def __init__(self, first, second):
        self.first = first
        self.second = second


def described(value, depth=0):
    """What it holds, and of which types: instances have no equality."""
    if hasattr(value, "__dict__"):
        return type(value).__name__, {k: described(v, depth + 1) for k, v in vars(value).items()} if depth < 8 else 0
    if isinstance(value, (list, tuple, set)):
        return type(value).__name__, [described(v, depth) for v in value]
    if isinstance(value, dict):
        return [(described(k, depth), described(v, depth)) for k, v in value.items()]
    return type(value).__name__, value


def put(l, v):
    l.append(v)
    return 7 // l[0]


def count(d, k, v):
    d[k] = d.get(k, 0) + v
    return d[k] // 2


def add(s, v):
    s.add(v)
    return sorted(s)[0] // 2


def total(l):
    n = 0
    for x in l:
        n += x
    return n


def put_inside(l, v):
    l[0].append(v)
    return l[0][0] // 2


def put_under(d, v):
    d.setdefault("a", []).append(v)
    return d["a"][0] // 2


def after(node, v):
    return Node(v, node)


def grow(tree, v):
    tree.kids.append(Tree(v))
    return tree


def put_instance(l, v):
    l.append(Node(v))
    return l


def put_second(pair, v):
    pair.second.append(v)
    return pair.second[0] // 2


def put_both(t, v):
    a, b = t
    a.append(v)
    b.append(v)
    return a[0] // 2, b[0] // 2


def set_next(nodes, v):
    nodes[0].v = v
    return nodes[0].v // 2


def apply_all(fs):
    return [f(1) for f in fs]


def half(x):
    return x / 2


def twice(x):
    return 2 * x


CALLS = {
    "list": (put, [([0.5], 2), ([], 2), ([1], 2), ([], 0.5), ([], np.int8(3)), ([], 3)]),
    "dict": (count, [({"a": 0.5}, "a", 2), ({}, "a", 2), ({"b": 3}, "a", 2), ({}, "a", 0.5)]),
    "set": (add, [({1.5}, 2), (set(), 2), ({7}, 2), (set(), 2.5)]),
    "read": (total, [([0.5],), ([],), ([1],)]),
    "list in a list": (put_inside, [([[1.5]], 2), ([[]], 2), ([[], [1.5]], 2.5), ([[], [3]], 3)]),
    "list in a dict": (put_under, [({"a": [1.5]}, 2), ({}, 2), ({"a": []}, 2), ({"a": [1]}, 2)]),
    "linked": (after, [(Node(1.5), 2), (Node(2), 2), (Node(1, Node(2)), 2), (Node(1, Node(2.5)), 2.5), (None, 3)]),
    "tree": (grow, [(Tree(1.5), 2), (Tree(1), 2), (Tree(1), 2)]),
    "instances": (put_instance, [([Node(1.5)], 3), ([], 3), ([Node(1)], 3), ([Node(1), Node(2.5)], 3.5)]),
    "attribute": (put_second, [(Pair(1, [1.5]), 2), (Pair(1, []), 2), (Pair(1.5, [2]), 2), (Pair(2, []), 3)]),
    "tuple": (put_both, [(([1.5], [1.5]), 2.5), (([], []), 2), (([1], []), 2), (([], [0.5]), 2.5), (([], [3]), 2)]),
    "None": (set_next, [([Node(None), Node(1.5)], 2), ([Node(None)], 2), ([Node(3)], 2), ([Node(None), Node(3)], 2)]),
    "functions": (apply_all, [([half, twice],), ([twice],), ([half],), ([twice, half],)]),
}


@pytest.mark.parametrize("name", CALLS)
def test_calls_give_the_same_in_any_order(name):
    function, calls = CALLS[name]

    def outcomes(f, order):
        given = {}
        for i in order:
            args = copy.deepcopy(calls[i])
            try:
                given[i] = described((f(*args), args))
            except Exception as error:
                given[i] = type(error).__name__
        return given

    orders = [range(len(calls)), range(len(calls))[::-1], *list(itertools.permutations(range(len(calls))))[5:700:97]]
    fresh = [outcomes(njit(function), [i])[i] for i in range(len(calls))]
    for i, given in enumerate(fresh):  # what is compared below are results
        assert isinstance(given, str) == isinstance(outcomes(function, [i])[i], str), (calls[i], given)
    for order in orders:
        compiled = njit(function)
        for _ in range(2):
            assert outcomes(compiled, order) == dict(enumerate(fresh)), order


@pytest.mark.parametrize("name", ["list", "dict", "set", "read", "list in a list", "list in a dict", "attribute"])
def test_empty_ones_after_floats_are_as_in_the_interpreter(name):
    function, (floats, empty, *_) = CALLS[name]
    compiled = njit(function)
    compiled(*copy.deepcopy(floats))
    ours, theirs = copy.deepcopy(empty), copy.deepcopy(empty)
    assert described((compiled(*ours), ours)) == described((function(*theirs), theirs))


def test_what_was_made_for_an_empty_list_takes_one_that_holds_something():
    @njit
    def fill(l, v):
        l.append(v)
        return l

    fill([], 1), fill([2], 1), fill([], 3)
    assert len(fill.signatures) == 1
    fill([0.5], 1), fill([], 3), fill([0.5], 1)
    assert len(fill.signatures) == 2


def test_empty_lists_among_others_need_no_code_of_their_own():
    @njit
    def edges(near):
        n = 0
        for row in near:
            n += len(row)
        return n

    assert [edges([[1], [], [2]]), edges([[], [1, 2]]), edges([[3], []])] == [2, 2, 1]
    assert len(edges.signatures) == 1


def test_what_links_have_need_no_code_of_their_own():
    @njit
    def length(node):
        n = 0
        while node is not None:
            n += 1
            node = node.next
        return n

    assert [length(Node(1, Node(2))), length(Node(1, Node(2, Node(3))))] == [2, 3]
    assert len(length.signatures) == 1


def test_among_many_specialisations():
    compiled = njit(put)
    for scalar in (np.int8, np.int16, np.int32, np.int64, np.float32, np.float64, np.uint8):
        compiled([scalar(1)], scalar(2))
    for _ in range(2):
        for v in (2, 0.5, np.int8(2), np.float32(2)):
            l, theirs = [], []
            assert described((compiled(l, v), l)) == described((put(theirs, v), theirs))


def test_declared_lists_say_what_they_hold():
    compiled = njit(put)
    assert [compiled([], 2), compiled([0.5], 2)] == [3, 14.0]
    assert type(compiled(List.empty_list(types.float64), 2)) is float
    assert type(compiled([], 2)) is int


def test_one_list_in_two_ways():
    def both(a, b, v):
        a.append(v)
        b.append(v)
        return 7 // b[0]

    compiled = njit(both)
    compiled([0.5], [0.5], 2)
    l, theirs = [], []
    assert described((compiled(l, l, 2), l)) == described((both(theirs, theirs, 2), theirs))
    node = Node(1)
    follow = njit(lambda a, b, v: Node(v, b).v // 2)
    follow(Node(1, Node(2)), Node(1.5, Node(2.5)), 2)
    assert described(follow(Node(0, node), node, 2)) == ("int", 1)


KEPT = []


def test_global_lists():
    @njit
    def keep(v):
        KEPT.append(v)
        return 7 // KEPT[0]

    KEPT[:] = [0.5]
    assert keep(2) == 14.0
    KEPT.clear()
    assert described(keep(2)) == ("int", 3) and KEPT == [2]
    assert described(keep(2)) == ("int", 3)
