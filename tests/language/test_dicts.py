"""Dicts and sets: every method and operator, made here and passed in, against Python's; the order of dicts too."""

import collections
import gc
import math

import numpy as np
import pytest
from oracle import agree, agree_all, make

from krait import _testing, cuda, errors, njit, typed, types
from portions import some


def function(body, count):
    lines = "".join(f"    {line}\n" for line in body.split("\n"))
    return make(f"def f({', '.join('abc'[:count])}):\n{lines}", "f")


def of(body, *args):
    agree(function(body, len(args)), *args)


@pytest.mark.parametrize("body", [
    "return {1: 2.5, a: 3.5}", "return {}", "d = {}\nfor i in range(a):\n    d[i * i] = i\nreturn d",
    "return {i: i * i for i in range(a)}", "return {(i, j): i for i in range(a) for j in range(i)}",
    "return {i: {j: i for j in range(i)} for i in range(a)}", "return {str(i): [i] for i in range(a) if i != 2}",
    "d = dict()\nd['x'] = a\nreturn d", "return dict([(1, 2), (3, a)])", "return dict({1: a})",
    "return {**{1: 2}, 3: a, **{1: 4}}", "d = {1.5: True, 2.5: False}\nreturn d[1.5], a in d, d",
    "d = {}\nif a > 1:\n    d = {1: 2}\nreturn d", "d = {True: a}\nreturn d",
    "d = {}\nd[1] = a\nd[2] = 2.5\nreturn d[2]", "return len({}), not {}, {1: 2} == {1: 2}",
    "d = {}\nfor i in range(1000):\n    d[i] = i\nfor i in range(0, 1000, 2):\n    del d[i]\n"
    "for i in range(500):\n    d[i * 7] = -i\nreturn d",
    "d = {}\nfor i in range(300):\n    d[i] = 1\n    if i % 3:\n        d.popitem()\nreturn d",
    "d = {}\nfor i in range(100):\n    d[i % 10] = i\n    if i % 4 == 0:\n        d.clear()\nreturn d",
    "return a in {}, {1: 2}.get(a), {1: 2}.get(a, 7), {}.get(a, 7), {}.get(a)", "d = {}\nreturn d[a]",
    "d = {}\nd.pop(a)", "return {-0.0: 1}[0.0], {2.0**60: a}, {float('inf'): 1}",
])  # fmt: skip
def test_dicts_made_here(body):
    agree_all(function(body, 1), [(3,), (0,)])


WORDS = {"x": 1, "yy": 2, "zzz": 3}


@pytest.mark.parametrize("body", [
    "return a['x'], len(a), 'y' in a, 'x' not in a", "a['z'] = 5\ndel a['x']", "return a['q']", "del a['q']",
    "return sum([a[k] for k in a])", "s = 0\nfor k, v in a.items():\n    s += v * len(k)\nreturn s",
    "return sum(a.values()), max(a.keys()), sorted(a), list(a), [k for k in reversed(list(a))]",
    "return a.get('x'), a.get('q')", "return a.get('q', 7), a.pop('x'), a.pop('q', -1), a", "a.pop('q')",
    "return a.setdefault('x', 9), a.setdefault('q', 8), a", "return a.popitem(), a.popitem(), a",
    "a.update({'x': 9, 'w': 8})", "a.update([('x', 9), ('w', 8)])", "b = a.copy()\nb['n'] = 1\nreturn b, a",
    "a.clear()\na['n'] = 1", "return a | {'x': 7, 'n': 1}, a", "a |= {'x': 7, 'n': 1}", "return a == {'x': 1}, a != a",
    "b = a\nb['n'] = 1\nreturn b", "for i, (k, v) in enumerate(a.items()):\n    a[k] = v + i",
    "return bool(a), isinstance(a, dict), isinstance(a, list)", "return str(a), f'{a}'", "return [a, {'k': 0}], (a, 1)",
    "try:\n    return a['zz']\nexcept KeyError:\n    return -1", "return sorted(a.items())",
    "return {v: k for k, v in a.items()}", "return min(a, key=lambda k: -a[k]) if len(a) else 'none'",
])  # fmt: skip
def test_dicts_passed_in(body):
    of(body, dict(WORDS))


@pytest.mark.parametrize("values", [
    {1: 2.5, 3: 4.5}, {2.5: 1}, {(1, "x"): 2}, {1: [1, 2], 2: [3]}, {"k": {"n": 1}}, {1: {2, 3}},
    {True: 0, False: 1}, {"é": "ü", "\U0001f600": "z"}, {1: (2, "x")},
])  # fmt: skip
def test_keys_and_values_of_many_types(values):
    of("return a", values)
    of("return a.copy()", values)
    of("return [k in a for k in a], list(a.items())[0][0] in a, len(a)", values)


def test_numbers_are_converted_to_what_a_dict_holds():
    def f(d, s, n):
        d[n] = n
        s.add(n)
        d.setdefault(9, n)
        d.update({8: n})
        return d[n] / 2, n in s

    ours, theirs = ({1: 2.5}, {0.5}), ({1: 2.5}, {0.5})
    assert njit(f)(*ours, 3) == f(*theirs, 3) and ours == theirs


def test_values_that_change_are_written_back():
    of("for k in a:\n    a[k].append(7)", {"x": [1], "y": [2, 3]})
    of("a['x']['n'] = 3\nreturn a['x']", {"x": {"m": 1}})
    arrays = {"x": np.arange(3), "y": np.arange(2)}
    njit(function("for k in a:\n    a[k][0] = 7\na['z'] = a['x'][:2]", 1))(arrays)
    assert {k: v.tolist() for k, v in arrays.items()} == {"x": [7, 1, 2], "y": [7, 1], "z": [7, 1]}


@pytest.mark.parametrize("body", [
    "return {1, 2, 3, a}", "return {1, 2, 2, 1}", "return {i % 3 for i in range(a)}", "return set()",
    "return set([1, a, 2])", "return set('hello')", "return set(range(a)), set((1.5, 2.5)), set({1: 2})",
    "s = set()\nfor i in range(100):\n    s.add(i % 7)\nreturn s", "s = set()\ns.add((1, 'x'))\nreturn s",
    "return len({1, 2, 2}), a in {1, 3}, a not in {1, 3}, not set()", "return a in {'x': 1, 'y': 2}.values()",
    "s = {i for i in range(50)}\nn = 0\nwhile s:\n    n += s.pop()\nreturn n, s", "set().pop()", "set().remove(a)",
    "set().discard(a)", "return {1, 2} == {2, 1}, {1} != {2}, {'a', 'b'} == set('ab')", "return {*range(a), 9}",
])  # fmt: skip
def test_sets_made_here(body):
    agree_all(function(body, 1), [(3,), (0,)])


OF_TWO_SETS = [
    "return a | b", "return a & b", "return a - b", "return a ^ b", "a |= b", "a &= b", "a -= b", "a -= a",
    "return a <= b, a < b, a == b, a != b, a >= b, a > b, a & b <= a, a <= a, a < a", "return a.union(b, [7, 8])",
    "return a.intersection(b, (2, 3))", "return a.difference(b), a.difference([1])", "return a.union(), a.copy()",
    "return a.symmetric_difference([1, 9])", "a.update([4, 5], (6,))", "a.intersection_update([1, 2], b)",
    "a.difference_update([1])", "return a.issubset(range(9)), a.issuperset([1]), a.isdisjoint([8]), a.isdisjoint(b)",
    "a.add(9)\na.discard(1)\na.discard(77)\na.remove(2)", "a.remove(99)", "a.clear()",
    "return sorted(a), sum(a), max(a)",
    "return isinstance(a, set), len(a), bool(b)", "return {x + 1 for x in a if x not in b}",
]  # fmt: skip


@pytest.mark.parametrize("body", OF_TWO_SETS)
def test_sets_passed_in(body):
    of(body + "\nreturn b" if "return" not in body else body, {1, 2, 3}, {2, 3, 4})


@pytest.mark.parametrize("body", some([*OF_TWO_SETS, "return a", "return [x for x in a], {x: 1 for x in b}, not a"]))
def test_empty_sets_passed_in(body):
    f = function(body + "\nreturn b" if "return" not in body else body, 2)
    agree_all(f, [(set(), {2, 3}), ({2, 3}, set()), (set(), set())])


def test_a_set_is_walked_in_the_order_of_insertion():
    @njit
    def walk():
        s = set()
        for x in (30, 10, 20, 10):
            s.add(x)
        s.remove(10)
        s.add(10)
        return [x for x in s]

    assert walk() == [30, 20, 10]


def test_typed_dict():
    @njit
    def count(words):
        found = typed.Dict.empty(key_type=types.int64, value_type=types.float64)
        for word in words:
            found[len(word)] = found.get(len(word), 0.0) + 1
        return found

    assert count(["a", "bb", "cc"]) == {1: 1.0, 2: 2.0}
    assert count.py_func(["a", "bb", "cc"]) == {1: 1.0, 2: 2.0}


def test_nothing_is_left_behind():
    @njit
    def work(n):
        d = {}
        for i in range(n):
            d[str(i)] = [np.ones(i), np.zeros(2)]
            if i % 3 == 0:
                del d[str(i // 9)]
        return len(d)

    gc.collect()
    before = _testing.heap_objects()
    assert work(1) == 0
    with pytest.raises(KeyError):
        work(50)
    assert _testing.heap_objects() <= before


@pytest.mark.parametrize("body, words", [
    ("return {1: 2, 'x': 3}", "is put into a dict of"), ("return {1: 2, 3: 'x'}", "is put into a dict of int to int"),
    ("return {1, 'x'}", "is put into a set of int"), ("d = {}\nd[[1]] = 2\nreturn d", "cannot be a key of a dict"),
    ("return {1: 2}['x']", "is no key of a dict of int to int"),
    ("return {1: 2} & {1: 2}", "unsupported operand types"),
])  # fmt: skip
def test_refusals(body, words):
    with pytest.raises(errors.KraitError, match=words):
        njit(function(body, 0))()


@pytest.mark.parametrize("body", [
    "return sorted(a.keys() & {'p', 'z'}), sorted({'p', 'z'} & a.keys()), sorted(a.keys() & ['p', 'z'])",
    "return sorted(a.keys() | {'z'}), sorted(a.keys() - {'p'}), sorted(a.keys() ^ {'p', 'z'})",
    "return sorted(['z'] - a.keys())",
    "return sorted(a.keys() & b.keys()), sorted(a.keys() - b)",
    "return sorted(a.items() & b.items()), sorted(a.items() - b.items())",
    "return a.keys() == b.keys(), a.keys() != b.keys(), a.keys() <= b.keys(), a.keys() > b.keys()",
    "return a.keys() == {'p', 'q'}, {'p', 'q'} >= a.keys()",
    "return a.items() == b.items(), a.items() <= b.items(), a.items() != {('p', 1)}, a.keys() == ['p', 'q']",
    "v = a.keys()\na['late'] = 5\nreturn sorted(v & {'late', 'p'}), len(a.keys() - {'late'})",
    "s = {'p', 'z'}\ns &= a.keys()\ns |= b.keys()\nreturn sorted(s)",
    "return a.keys().isdisjoint(b.keys()), a.keys().isdisjoint(['z']), a.items().isdisjoint(b.items())",
    "return 'p' in a.keys(), ('p', 1) in a.items(), len(a.keys() & set()), [k for k in a.keys() if k in b.keys()]",
])  # fmt: skip
def test_views_are_sets_for_operators(body):
    f = function(body, 2)
    agree_all(f, [({"p": 1, "q": 2}, {"q": 2, "p": 1}), ({"p": 1}, {"p": 2, "q": 1, "r": 3}), ({"q": 1}, {"q": 1})])


def kept(d):
    return d.keys()


@pytest.mark.parametrize("body", [
    "return kept(a) == kept(b)", "for _ in range(2):\n    v = a.keys()\nreturn v == b.keys()",
    "t = (a.keys(), 1)\nreturn t[0] == b.keys()", "return (a.keys(), 1) == (b.keys(), 1)",
    "v = [a.keys(), b.keys()]\nreturn v[0] != v[1]", "v = a.keys() if len(a) > 1 else b.keys()\nreturn {'p'} == v",
    "return kept(a) <= kept(b)", "return a.values() == b.values()", "v = a.values()\nreturn v != b.values()",
    "return (lambda v: v == list(b))(a.keys())",
])  # fmt: skip
def test_a_view_that_was_kept_compares_as_no_list(body):
    f = function(body, 2)
    f.__globals__["kept"] = kept
    agree(f, {"p": 1, "q": 2}, {"q": 2, "p": 1})


@pytest.mark.parametrize("view", ["keys", "values", "items"])
@pytest.mark.parametrize("body", [
    "d[9] = 4\nreturn list(v), len(v), bool(v), sorted(reversed(v)), f'{v}', list(zip(v, v))",
    "d.clear()\nreturn len(v), str(v)",
    "d[1] = 8\nreturn v == v, v == d.VIEW(), v != [1], isinstance(v, list), type(v)",
    "t = (v, 1)\nd[9] = 4\nreturn list(t[0])", "e = d\ne[1] = 8\nreturn list(v)", "d |= {5: 6}\nreturn list(v)",
    "def add():\n    d[70] = 1\nadd()\nreturn list(v)", "d = {}\nreturn list(v), d",
    "for k in v:\n    d[77] = 1", "seen = []\nfor k in v:\n    d[2] = 50\n    seen.append(k)\nreturn seen",
    "w = iter(v)\nd[1] = 50\nreturn next(w)", "w = enumerate(d.VIEW())\nd[2] = 50\nreturn list(w)",
    "seen = []\nfor k in d.VIEW():\n    d[2] = 50\n    seen.append(k)\nreturn seen",
    "seen = []\nfor i, k in enumerate(d.VIEW()):\n    d[2] = 50\n    seen.append(k)\nreturn seen",
])  # fmt: skip
def test_a_view_sees_what_is_done_to_its_dict_later(view, body):
    lines = body.replace("VIEW", view).replace("\n", "\n    ")
    agree(make(f"def f(d):\n    v = d.{view}()\n    {lines}"), {1: 3, 2: 5})


class Changes:
    """One whose methods, by whatever syntax they are called, put an item into a dict."""

    def __init__(self, d):
        self.d = d

    @property
    def size(self):
        self.d[77] = 7
        return 1

    def __len__(self):
        return self.size

    def __add__(self, other):
        return self.size

    def __getitem__(self, i):
        return self.size

    def __contains__(self, item):
        return self.size == 1


@pytest.mark.parametrize("made", ["d.keys()", "d.values()", "d.items()", "zip(d.keys(), d.values())"])
@pytest.mark.parametrize("ask", [
    "c.size", "len(c)", "c + 1", "c[1]", "5 in c", "next(puts(d))", "sorted([4, 3], key=d.pop)",
])  # fmt: skip
def test_a_view_sees_what_methods_and_generators_do_to_its_dict(made, ask):
    f = make(f"""
        def puts(d):
            d[77] = 7
            yield 1

        def f(d):
            c = Changes(d)
            v = {made}
            x = {ask}
            return list(v), x
    """)
    f.__globals__["Changes"] = Changes
    agree(f, {3: 3, 4: 5})


@pytest.mark.parametrize("table", ["d", "set(d)"])
@pytest.mark.parametrize("change", ["s.clear()", "change(s)", "s.pop(*first)", "x = len(s)"])
def test_an_iterator_that_is_kept_sees_what_becomes_of_its_table(table, change):
    agree(make(f"""
        def change(s):
            s.clear()

        def f(d):
            s, first = {table}, {"()" if "set" in table else "(1,)"}
            it = iter(s)
            a = next(it)
            {change}
            return a, next(it)
    """), {1: 3, 2: 5})


def test_a_view_that_was_kept_is_given_back_as_one():
    d = {1: 2}
    view = njit(make("def f(d):\n    v = d.values()\n    d[9] = 1\n    return v"))(d)
    assert type(view) is type(d.values()) and list(view) == [2, 1]


def test_a_kept_view_of_keys_is_a_set():
    f = make("""
        def f(d, other):
            v = d.keys()
            d[9] = 1
            return v & other, v | other, v - other, other - v, v < other, v == other, other == v, v.isdisjoint(other)
    """)
    agree(f, {1: 2}, {1, 5})
    agree(f, {1: 2}, {1, 9})


def test_views_that_are_kept_and_not_compared():
    f = function("t = (a.keys(), 1)\nreturn list(kept(b)), len(t[0]), [1] == list(a.values()), 'p' in t[0]", 2)
    f.__globals__["kept"] = kept
    agree(f, {"p": 1}, {"q": 2, "p": 1})
    f = function("v = kept(a)\nfor k in v:\n    b[k] = 1\nreturn b, a.keys() == b.keys(), list(b) == list(a)", 2)
    f.__globals__["kept"] = lambda d: list(d.keys())
    agree(f, {"p": 1}, {"q": 2, "p": 1})


@pytest.mark.parametrize("body", ["return a.keys() + b.keys()", "return a.values() + b.values()",
                                  "return a.items() * 2", "return [1] + a.values()"])  # fmt: skip
def test_views_are_not_added(body):
    f = function(body, 2)
    with pytest.raises(TypeError):
        f({"p": 1}, {"q": 1})
    with pytest.raises(errors.KraitError, match="a view of a dict"):
        njit(f)({"p": 1}, {"q": 1})


def test_arguments_that_have_no_type():
    f = njit(function("return len(a)", 1))
    cases = [({1: 2, "x": 3}, "a dict with keys int and str")]
    cases += [({1: 2, 3: "x"}, "a dict with values int and str"), ({1, "x"}, "a set that holds (int and|str and)")]
    for value, words in cases:
        with pytest.raises(TypeError, match=words):
            f(value)


def test_kernels_have_none():
    @cuda.jit
    def kernel(out):
        d = {1: 2}
        out[0] = d[1]

    with pytest.raises(errors.KraitError, match="kernels have no dicts and sets"):
        kernel[1, 1](np.zeros(1))


# ---- classes of their own, cycles ----


class Doubled(dict):
    def __getitem__(self, key):
        return 2 * super().__getitem__(key)


class Plain(dict):
    pass


def test_a_class_that_finds_keys_in_its_own_way_is_refused():
    f = njit(lambda d: d[1])
    with pytest.raises(TypeError, match="pass a plain dict"):
        f(Doubled({1: 2}))
    assert f(Plain({1: 5})) == f({1: 5}) == 5


def test_what_contains_itself_is_refused():
    d = {}
    d[1] = d
    with pytest.raises(RecursionError):
        njit(lambda d: len(d))(d)


NEAR = [(2**53 + 1, 2.0**53), (2**63 - 1, 2.0**63), (-(2**63), -(2.0**63)), (3, 3.0), (5, math.nan), (0, -0.0),
        (2**62 + 1, math.inf), (True, 1.0), (np.int8(-3), -3.0), (np.uint64(2**63 + 2048), 2.0**63 + 2048),
        (7, np.float32(7.0)), (2**24 + 1, np.float32(2**24))]  # fmt: skip


@pytest.mark.parametrize("body", [
    "return a in {b: 1}, b in {a: 1}, a not in {b: 1}", "return {b: 2}.get(a, 7), {a: 2}.get(b, 7)",
    "return {a} == {b}, a in {b}, {a} <= {b}, len({a} & {b}), {a: 1} == {b: 1}",
    "return (a, 1) in {(b, 1): 1}, (b, 'x') in {(a, 'x')}",
    "s = {b}\ns.discard(a)\nd = {b: 1}\nreturn len(s), d.pop(a, 3), len(d)", "d = {b: 1}\nreturn d[a]",
    "return a in [b], [b].count(a), a in (b,), [a] == [b], (a, 1) == (b, 1)",
])  # fmt: skip
def test_numbers_are_found_by_value(body):
    agree_all(function(body, 2), some(NEAR))


def test_a_display_takes_mappings_alone():
    with pytest.raises(errors.TypingError, match="is not a mapping"):
        njit(function("return {**[('a', a)]}", 1))(1)
    of("return {**{1: 2}, **{a: 3}}", 1)


def test_a_dict_of_pairs_that_an_iterator_gives():
    def f(names, numbers):
        table = dict(zip(names, numbers))
        return table, dict(enumerate(names)), isinstance(zip(names, numbers), (dict, zip))

    agree_all(f, [(["a", "b", "a"], [1, 2, 3]), (["x"], [0, 1])])

    def counted(n):
        table = {5: -1}
        table.update(enumerate(range(n), 4))
        table |= dict(zip(range(n), reversed(range(n))))
        return table

    agree_all(counted, [(0,), (3,)])


def test_a_dict_of_keyword_arguments():
    def f(n):
        counts = dict(a=n, b=2)
        counts["c"] = 3
        return counts, dict(x=1.5), len(dict())

    agree(f, 4)
