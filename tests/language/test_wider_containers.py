"""Numbers of another type put into containers that lie in others: the numbers join as those of a flat list do, wherever
the container was made; what the interpreter made is not changed, and refuses them."""

from collections import defaultdict, deque

import numpy as np
import pytest

from krait import errors, njit
from krait import types
from krait.typed import List

NUMBERS = [np.int8(100), 1.5, np.float32(2.5), np.uint16(60000), 2j]


def put(l, v):
    l[0] = v


def row(t, i):
    return t[i]


def table(n):
    return [[0] * n for _ in range(n)]


class Bag:
    def __init__(self):
        self.xs = [0]
        self.others = [1]

    def add(self, v):
        self.xs.append(v)


def in_rows(v):
    t = [[0] * 3 for _ in range(3)]
    t[1][2] = v
    return t[1][2] * t[1][2], t


def in_rows_with_operator(v):
    t = [[0] * 3 for _ in range(3)]
    t[1][2] += v
    return t[1][2] * t[1][2], t


def in_literals(v):
    t = [[0, 0], [0, 0]]
    t[1][0] = v
    return t[1][0] * t[1][0], t


def in_appended_rows(v):
    t = []
    for i in range(3):
        r = [0] * 3
        t.append(r)
    t[1][2] = v
    return t[1][2] * t[1][2], t


def in_a_row_that_is_named(v):
    t = [[0], [1]]
    r = t[1]
    r.append(v)
    return t[1][1] * r[1], t


def in_tuples(v):
    t = [(0, [0]), (1, [1])]
    t[0][1][0] = v
    return t[0][1][0] * 2, t


def in_a_helpers_row(v):
    t = [[0], [1]]
    row(t, 1)[0] = v
    return t[1][0] * t[1][0], t


def in_walked_rows(v):
    t = [[0], [1]]
    for r in t:
        r[0] = v
    for i, r in enumerate(t):
        r.append(v)
    return t[1][0] * t[0][1], t


def three_deep(v):
    t = [[[0] * 2 for _ in range(2)] for _ in range(2)]
    t[1][0][1] = v
    return t[1][0][1] * t[1][0][1], t


def beside_another(v):
    t, s = [[0], [1]], [[5], [6]]
    t[0][0] = v
    return t[0][0] * t[0][0], s[0][0] * 100, s


def made_by_a_function(v):
    g, h = table(2), table(2)
    g[0][0] = v
    return g[0][0] * g[0][0], g, h


def in_a_slice(v):
    g = [[0, 1], [2, 3]]
    h = g[1:]
    h[0][0] = v
    return g[1][0] * h[0][0], g, h


def appended(v):
    g = [[0]]
    g.append([v])
    return g[1][0] * g[1][0], g


def by_a_helper(v):
    l = [0]
    put(l, v)
    return l[0] * l[0]


def in_a_dict(v):
    d = {"a": [0, 0]}
    d["a"][0] += v
    return d["a"][0] * d["a"][0], d["a"]


def set_in_a_dict(v):
    d = {"a": [0]}
    d["b"] = [v]
    return d["b"][0] * d["b"][0], d["a"]


def made_in_a_dict(v):
    d = {i: [0] * 2 for i in range(3)}
    d[1][1] = v
    return d[1][1] * d[1][1], d[0]


def by_setdefault(v):
    d = {}
    d.setdefault("a", [0]).append(v)
    return d["a"][1] * d["a"][1]


def by_a_default(v):
    d = defaultdict(int)
    d["k"] += v
    return d["k"] * d["k"]


def in_a_deque(v):
    d = deque([0])
    d.append(v)
    return d[1] * d[1]


def by_a_method(v):
    bag = Bag()
    bag.add(v)
    return bag.xs[1] * bag.xs[1], bag.others[0] * 100


def in_an_attribute(v):
    bag = Bag()
    bag.xs.append(v)
    return bag.xs[1] * bag.xs[1], bag.others[0] * 100


def by_a_closure(v):
    l = [0]

    def add():
        l.append(v)

    add()
    return l[1] * l[1]


PROGRAMS = [
    in_rows, in_rows_with_operator, in_literals, in_appended_rows, in_a_row_that_is_named, in_tuples, in_a_helpers_row,
    in_walked_rows, three_deep, beside_another, made_by_a_function, in_a_slice, appended, by_a_helper, in_a_dict,
    set_in_a_dict, made_in_a_dict, by_setdefault, by_a_default, in_a_deque, by_a_method, in_an_attribute, by_a_closure,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_numbers_join(program):
    for v in NUMBERS:
        with np.errstate(over="ignore"):
            ours, theirs = njit(program)(v), program(v)
        assert ours == theirs, v  # what lies beside it is an equal number of the wider type
        if isinstance(theirs, tuple):
            ours, theirs = ours[0], theirs[0]
        assert type(ours) is type(theirs), v


def test_others_keep_their_types():
    bag, beside, made = (njit(f)(1.5) for f in (in_an_attribute, beside_another, made_by_a_function))
    assert [type(bag[1]), type(beside[1]), type(beside[2][0][0]), type(made[2][0][0])] == [int] * 4


def test_tables_of_dynamic_programming():
    def most(values, weights, room):
        best = [[0] * (room + 1) for _ in range(len(values) + 1)]
        for i in range(1, len(values) + 1):
            for w in range(room + 1):
                best[i][w] = best[i - 1][w]
                if weights[i - 1] <= w:
                    best[i][w] = max(best[i][w], best[i - 1][w - weights[i - 1]] + values[i - 1])
        return best[-1][room]

    for values in ([1.5, 2.25, 4.0], [1, 2, 4]):
        ours, theirs = njit(most)(values, [1, 2, 3], 5), most(values, [1, 2, 3], 5)
        assert ours == theirs and type(ours) is type(theirs)


def test_sums_of_narrow_integers_wrap_as_numpys_do():
    def total(x):
        g = [[0] * 2 for _ in range(2)]
        for i in range(2):
            for j in range(2):
                g[i][j] += x[i, j]
        return g[0][0] + g[1][1]

    x = np.full((2, 2), 100, np.int8)
    with np.errstate(over="ignore"):
        assert njit(total)(x) == total(x) == -56


@pytest.mark.parametrize("given, v, words", [
    ([1], np.int8(100), "int8 is put into a list of int(.|\n)*int.x"),
    ([1.5], np.float32(1), "float32 is put into a list of float(.|\n)*float.x"),
    ([1], 1.5, "float is put into a list of int(.|\n)*convert what is put in, int"),
])  # fmt: skip
def test_what_the_interpreter_made_keeps_its_type(given, v, words):
    def append(l, v):
        l.append(v)
        return l[-1]

    def nested(l, v):
        l[0].append(v)
        return l[0][-1]

    def helped(l, v):
        put(l, v)
        return l[0]

    for function, arg in ((append, given), (nested, [given]), (helped, given)):
        before = repr(arg)
        with pytest.raises(errors.TypingError, match=words):
            njit(function)(arg, v)
        assert repr(arg) == before
    convert = type(given[0])
    assert njit(lambda l, v: append(l, convert(v)))(list(given), v) == convert(v)


def test_numbers_of_the_same_bits_are_cast():
    def append(l, v):
        l.append(v)
        return l

    assert njit(append)([1], np.int64(3)) == [1, 3] and njit(append)([1.5], np.float64(3)) == [1.5, 3.0]
    assert type(njit(in_rows)(np.int64(3))[0]) is int


def test_declared_lists_cast_what_is_put_in():
    @njit
    def declared(v):
        l = List.empty_list(types.float64)
        l.append(v)
        return l

    assert [type(declared(v)[0]) for v in (1, np.int8(3), np.float32(2.5))] == [float] * 3


KEPT = [1]


def test_global_lists_keep_their_type():
    def keep(v):
        KEPT.append(v)

    with pytest.raises(errors.TypingError, match="int8 is put into a list of int"):
        njit(keep)(np.int8(3))
    assert KEPT == [1]
