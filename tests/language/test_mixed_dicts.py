"""Displays of dicts whose values have several types, each its own: against the interpreter."""

import numpy as np
import pytest
from oracle import agree, make

from krait import errors, njit


def of(body, *args):
    agree(make("def f(n):\n" + "".join(f"    {line}\n" for line in body.split("\n")), "f"), *args)


@pytest.mark.parametrize("body", [
    "d = {'a': n, 'b': 2.5, 'c': 'x'}\nreturn d['a'], d['b'], d['c'], d",
    "d = {'a': n, 'values': np.ones(3)}\nreturn d['a'] + d['values'].sum(), len(d), 'a' in d, 'q' in d",
    "d = dict(a=n, b='x')\nreturn d['a'], d['b'], d.get('a'), d.get('q', 3)",
    "d = {}\nd['a'] = n\nd['b'] = str(n)\nd['a'] = 7\nreturn d",
    "d = {'a': 1, 'a': 'x', 'b': n}\nreturn d, len(d)",
    "return {'a': n, 'b': {'c': 2.5, 'd': 'q'}}['b']['d']",
    "d = {'a': n, 'b': 'x'}\nreturn d['q']",
    "d = {'a': n, 'b': 'x'}\nreturn list(d), tuple(d), [*d], sorted(d), list(d.keys()), list(reversed(d))",
    "d = {'a': n, 'b': 'x'}\nreturn list(zip(d, d)), list(enumerate(d)), max(d)",
    "d = {'a': n, 'b': 'x'}\np, q = d\nr, s = d.values()\n(t, u), v = d.items()\nreturn p, q, r, s, t, u, v",
    "d = {'a': n, 'b': 'x'}\np, *q = d\nreturn p, q",
    "r = ''\nfor k, v in {'a': n, 'b': 2.5, 'c': 'x'}.items():\n    r += k + str(v)\nreturn r",
    "d = {'a': n, 'b': 'x'}\nr = ''\nfor k in d:\n    r += str(d[k])\nreturn r, str(d), f'{d}', bool(d), not d",
    "d = {'a': n, 'b': 'x'}\nreturn d == {'b': 'x', 'a': n}, d == {'a': n, 'c': 'x'}, d != d, d == {'a': 0, 'b': 'x'}",
    "d = {'a': n, 'b': 'x'}\nr = ''\nfor i, k in enumerate(d):\n"
    "    if k != 'a':\n        r += str(d[k]) + str(i)\nreturn r",
    "d = {'a': 1, 'b': 'x', 'c': 2.5}\nr = ''\nfor k, v in d.items():\n    r += k + str(v)\n"
    "for v in d.values():\n    r += str(v)\nreturn r, len(d.values()), list(d)",
    "d = {'a': n, 'b': 'x'}\nreturn d == (n, 'x'), d is d, d.copy()",
    "d = {'a': n, 'b': 'x'}\nreturn isinstance(d, dict), isinstance(d, tuple), type(d) is dict",
    "match {'a': n, 'b': 'x'}:\n    case {'a': 5, 'b': y}:\n        return y\n"
    "    case {'a': int(), 'b': str(z)}:\n        return z + 'z'",
    "if n > 3:\n    d = {'a': n, 'b': 'x'}\nelse:\n    d = {'a': 2 * n, 'b': 'yy'}\nreturn d['a'], d",
    "d = {'xs': [], 'm': {}, 'n': 'a'}\nfor i in range(n):\n    d['xs'].append(i * 0.5)\n"
    "    d['m'][i] = str(i)\nreturn d",
    "rows = []\nfor i in range(n):\n    rows.append({'id': i, 'name': str(i)})\n"
    "return rows, [r['name'] for r in rows if r['id'] > 2]",
    "rows = [{'id': i, 'at': (i, 0.5)} for i in range(n)]\nreturn sorted(rows, key=lambda r: -r['id'])",
    "d = {}\nd[n] = {'a': n, 'b': 'x'}\nreturn d, d[n]['b']",
    "best = {'score': -1.0, 'name': ''}\nfor i in range(n):\n    if i * 1.5 > best['score']:\n"
    "        best = {'score': i * 1.5, 'name': str(i)}\nreturn best",
    "def g(k):\n    if k == 0:\n        return {'v': 0, 's': ''}\n    r = g(k - 1)\n"
    "    return {'v': r['v'] + k, 's': r['s'] + str(k)}\nreturn g(n)",
    "d = {'a': n, 'b': 'x'} if n > 2 else None\nreturn 'q' if d is None else d['b']",
    "d = {'inc': lambda x: x + 1, 'half': lambda x: x * 0.5, 'n': n}\nreturn d['inc'](n), d['half'](n), d['n']",
    "d = {'none': None, 'n': n, 's': 's'}\nreturn d['none'] is None, d",
    "e = d = {'w': np.zeros(2), 'name': 'x'}\nd['w'][0] = n\nreturn e['w'], d['name']",
    "try:\n    d = {}\n    d['a'] = 1\n    d['b'] = 10 // (n - 5)\n    return d\n"
    "except ZeroDivisionError:\n    return {'a': 2}",
])  # fmt: skip
def test_values_of_several_types(body):
    of(body, 5)
    of(body, 2)


def area(shape):
    return shape["w"] * shape["h"] if shape["kind"] == "box" else shape["r"] ** 2


def test_they_go_into_functions_and_come_out():
    def statistics(values):
        return {"mean": np.mean(values), "n": len(values), "label": "z"}

    def f(x):
        s = statistics(x)
        return s["mean"] + s["n"], s["label"], s, area({"kind": "box", "w": x[0], "h": 2})

    agree(f, np.arange(4.0) + 1)


STATISTICS = """
def statistics(x):
    s = 0.0
    for i in range(x.size):
        s += x[i]
    return {"n": x.size, "mean": s / x.size}
class Holder:
    def __init__(self, d):
        self.d = d
def put(d):
    d["n"] = 3
"""


@pytest.mark.parametrize("body", [
    "return {'n': 3, 'mean': 0.5}, {'ok': True, 'n': n}, {'a': 1, 'z': 1 + 2j}, {'a': None, 'b': 2, 'c': 0.5}",
    "d = {'n': n, 'm': 2.5}\nreturn d['n'] // 2, d['m'], d.get('n'), 'q' in d, len(d), f'{d}', d",
    "if n < 3:\n    return {'n': 0, 'mean': 0}\nreturn {'n': n, 'mean': n / 2}",
    "best = {'i': 0, 'v': 0}\nfor i in range(n):\n    if i * 1.5 > best['v']:\n"
    "        best = {'i': i, 'v': i * 1.5}\nreturn best['i'], best['v'] + 0.5",
    "rows = []\nfor i in range(n):\n    rows.append({'i': i, 'h': i * 0.5})\nreturn rows, rows[0]['i']",
    "d = {'a': n, 'b': 'x'}\nreturn d | {'q': 3}, {'q': 3} | d, {'a': n, 'b': 2.5} | {'q': 'x', 'r': 1}",
])  # fmt: skip
def test_numbers_keep_their_types_where_nothing_changes_them(body):
    of(body, 5)
    of(body, 2)


@pytest.mark.parametrize("body", [
    "return statistics(x)",
    "return [statistics(x[i:]) for i in range(3)]",
    "return {'s': statistics(x), 't': statistics(x[1:])}",
    "return statistics(x)['n'] // 2, statistics(x)",
])  # fmt: skip
def test_numbers_keep_their_types_out_of_functions(body):
    agree(make(STATISTICS + "def f(x):\n    " + body + "\n", "f"), np.arange(4.0))


@pytest.mark.parametrize("body", [
    "r = statistics(x)\nr['n'] += 1\nr['k'] = 2\nreturn r",
    "r = statistics(x)\nfor k in r:\n    r[k] = r[k] * 2\nreturn r",
    "r = statistics(x)\nr.update({'q': 3})\nreturn r, r | {'w': 1}, {**r, 'v': 2}, r.pop('n')",
    "rows = [statistics(x[i:]) for i in range(3)]\nfor r in rows:\n    r['n'] += 1\nrows[0]['mean'] = 7\nreturn rows",
    "r = statistics(x)\nput(r)\nreturn r",
    "o = Holder(statistics(x))\no.d['n'] = 3\nreturn o.d",
    "r = statistics(x).copy()\nr['n'] = 2\nreturn r",
    "r = {'a': 1, 'mean': 2.5} if x.size > 9 else statistics(x)\nreturn r",
    "r = {}\nif x.size > 2:\n    r = statistics(x)\nreturn r",
    "k = 'n' if x.size > 3 else 'mean'\nreturn statistics(x)[k]",
    "d = {'n': len(x), 'm': 0.5}\ne = d | {'z': 1}\ne['n'] = 3\nreturn d, e",
    "e = {'n': len(x), 'm': 0.5} | {'z': 1}\nrows = [e]\nrows[0]['n'] = 3\nreturn e, rows",
    "return ({'n': 1, 'm': 0.5} | {'n': 2.5}) == {'n': 2.5, 'm': 0.5}",
])  # fmt: skip
def test_numbers_join_where_a_dict_is_needed(body):
    text = STATISTICS + "def f(x):\n" + "".join(f"    {line}\n" for line in body.split("\n"))
    f = make(text, "f")
    assert njit(f)(np.arange(4.0)) == f(np.arange(4.0))


def test_dicts_of_other_names_do_not_join():
    def f(n):
        return {"a": "x", "b": 2.5} if n > 1 else {"n": "y", "b": 1.5}

    with pytest.raises(errors.KraitError, match=r"what is returned is dict \{a: str, b: float\} .* dict \{n: str, b"):
        njit(f)(1)


def test_those_of_one_type_are_dicts_as_ever():
    of("d = {'a': 1, 'b': 2.5}\nd['c'] = n\nd['a'] += 1\nreturn d['a'] + d['b'] + d['c']", 5)
    of("d = {'a': [], 'b': [n]}\nd['a'].append(1.5)\nreturn len(d), d['a']", 5)
    of("d = {'a': (1, n), 'b': (2.5, 1)}\nd['c'] = (0, 0)\nreturn len(d), d['b']", 5)


@pytest.mark.parametrize("body, match", [
    ("d = {'a': n, 'b': 'x'}\nchange(d)", "does not change in compiled code"),
    ("e = [{'a': n, 'b': 'x'}]\ne[0]['a'] = 3", "does not change in compiled code"),
    ("d = {'a': n, 'b': 'x'}\nprint(d['a'])\nd['a'] += 1", "the values of a dict have one type"),
    ("return {'a': n, 'b': 'x'}[str(n)]", "which value of this dict is meant"),
    ("d = {}\nfor i in range(n):\n    d[str(i)] = i\nreturn {'a': n, 'b': 'x'} | d", "all names must be known"),
    ("return {'a': n, 'b': 'x'} + (1,)", r"unsupported operand types for \+"),
    ("return {'a': n, 'b': 'x'} < {'a': n, 'b': 'y'}", "unsupported operand types for <"),
    ("return {{'a': n, 'b': 'x'}: 1}", "cannot be a key of a dict"),
])  # fmt: skip
def test_what_they_are_not(body, match):
    def change(d):
        d["a"] = 1

    text = "def f(n):\n" + "".join(f"    {line}\n" for line in body.split("\n"))
    f = make(text, "f")
    f.__globals__["change"] = change
    with pytest.raises(errors.KraitError, match=match):
        njit(f)(5)


def test_keyword_arguments_are_walked_and_compared_as_dicts():
    def names(**keywords):
        p, q = keywords
        return p, q, list(zip(keywords, keywords)), keywords == {"b": "x", "a": 1}, isinstance(keywords, dict)

    def f(x):
        return names(a=x, b="x")

    agree(f, 1)


CONFIG = {"rate": 0.5, "steps": 2, "name": "sgd", "axes": (1, 0)}


def test_arguments():
    def f(c):
        c["xs"].append(2.5)
        return c["rate"] * c["n"], c["sub"]["name"], c["axes"][1], c["none"] is None, len(c), "n" in c, sorted(c)

    def argument(rate, name):
        return {"rate": rate, "n": 2, "xs": [1.5], "sub": {"name": name, "k": 1}, "axes": (1, "u"),
                "none": None, "\u00e4": 1}  # fmt: skip

    agree(f, argument(0.5, "x"))
    agree(f, argument(3, "y"))
    agree(f, dict(reversed(argument(0.5, "x").items())))


def test_arrays_of_arguments_are_themselves():
    @njit
    def f(c):
        c["a"][0] = 7
        return c["a"], c["xs"]

    a, xs = np.zeros(2), [1, 2]
    assert f({"a": a, "xs": xs, "s": "x"})[0] is a and f({"a": a, "xs": xs, "s": "x"})[1] is xs and a[0] == 7


def test_arguments_of_one_function():
    @njit
    def f(c):
        text = ""
        for name in c:
            text += name + str(c[name])
        return text, c

    for c in [{"a": 1, "b": "x"}, {"a": 1.5, "b": "x"}, {"a": "x", "b": 1}, {"a": 1, "b": "y"}, {"b": "x", "a": 1},
              {"a": 1, "b": "x", "c": None}, {"a": 1, "b": 2}]:  # fmt: skip
        assert f(c) == ("".join(name + str(value) for name, value in c.items()), c)
    assert [r["n"] for r in njit(lambda rows: rows)([{"n": 1, "s": "x"}, {"n": 2, "s": "y"}])] == [1, 2]
    with pytest.raises(TypeError, match="a dict with values"):
        f({f"k{i}": i if i % 2 else "x" for i in range(100)})
    with pytest.raises(TypeError, match="a dict with keys str and int"):
        f({"a": 1, 2: "x"})
    with pytest.raises(errors.KraitError, match="does not change in compiled code"):
        njit(change)({"a": 1, "b": "x"})


def change(c):
    c["a"] = 2


def test_global_variables():
    @njit
    def f():
        product = CONFIG["rate"] * CONFIG["steps"]
        return product, CONFIG["name"], "rate" in CONFIG, len(CONFIG), np.zeros(CONFIG["axes"]).shape

    @njit
    def values():
        return [str(value) for value in CONFIG.keys()], CONFIG

    try:
        for steps in [2, 3]:
            CONFIG["steps"] = steps
            assert f() == f.py_func()
            assert values() == values.py_func()
        CONFIG["name"], CONFIG["more"] = 5, "x"
        assert f() == f.py_func()
        assert values() == values.py_func()
    finally:
        CONFIG.pop("more", None)
        CONFIG.update(steps=2, name="sgd")
