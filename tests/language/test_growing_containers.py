"""Lists, dicts and sets that hold nothing where they are made, in others or in functions.

What is put into them later says what they hold.
"""

import pytest
from oracle import agree_all, make

from krait import errors, njit


def of(body, helpers=""):
    lines = "".join(f"    {line}\n" for line in body.strip().split("\n"))
    agree_all(make(f"{helpers}\ndef f(n):\n{lines}", "f"), [(3,), (5,)])


@pytest.mark.parametrize("body", [
    "a = [[] for _ in range(n)]\na[1].append(n)\nreturn a", "a = [[]] * n\na[1].append(n)\nreturn a",
    "a = [[] for _ in range(n)]\nfor x in a:\n    x.append(1.5)\nreturn a",
    "a = []\nfor i in range(n):\n    a.append([])\nfor i in range(n):\n    for j in range(i):\n        a[i].append(j)\n"
    "return a",
    "a = [[[] for i in range(n)] for j in range(n)]\na[0][1].append(2)\nreturn a",
    "a = [[], [], []]\nfor i, row in enumerate(a):\n    row.append(i)\n    if i == 1:\n        row.append(7)\n"
    "return a, [len(r) for r in a]",
    "a = [[] for _ in range(n)]\nb = [[] for _ in range(n)]\nfor x, y in zip(a, b):\n    x.append(1)\n"
    "    y.append(2.5)\n"
    "return a, b",
    "a = [[] for _ in range(n)]\nfor i in range(10):\n    a[i % n] += [i]\nout = []\nfor b in a:\n    out += b\n"
    "while a[-1]:\n    a[-1].pop()\nreturn a, out",
    "a = [[] for _ in range(n)]\nb = list(a)\nc = a.copy()\nb[0].append(1)\nc[1].append(2)\nreturn a, b, c",
    "a = [[] for _ in range(n)]\nreturn a, len(a[0])",
    "a = [[] for _ in range(n)]\na[0] = [1, 2]\na.insert(0, [])\na[0].append(5)\nreturn a",
    "a = [[] for _ in range(3)]\nfor i in range(n):\n    g = a[i % 3]\n    g.append((i, i * 0.5))\n"
    "return a, max(a, key=len)",
    "a = [(0, []), (1, [])]\na[0][1].append(n)\nreturn a",
])  # fmt: skip
def test_lists_in_lists(body):
    of(body)


@pytest.mark.parametrize("body", [
    "a = [[0] * 2, []]\na[1].append(1)\na[1].extend([3, 4])\nb = a[1:] + [[]]\nb[1].append(9)\nreturn a, b",
    "a = [[1]]\na.append([])\na[1].append(n)\nreturn a", "a = [[1]]\na[0] = []\na[0].append(n)\nreturn a",
    "d = {1: [2]}\nd[2] = []\nd[2].append(n)\nreturn d", "a = [[1]]\na.extend([[], []])\na[2].append(n)\nreturn a",
    "a = [[1]]\na.insert(0, [])\na[0].append(n)\nreturn a", "d = {1: [2]}\nd.update({3: []})\nd[3].append(n)\nreturn d",
    "if n > 3:\n    x = []\nelse:\n    x = [1]\nx.append(n)\nreturn x", "a = [[1], []]\na[:] = [[], [2]]\n"
    "a[0].append(n)\nreturn a",
])  # fmt: skip
def test_empty_ones_beside_full_ones(body):
    of(body)


@pytest.mark.parametrize("body", [
    "d = {}\nfor i in range(n):\n    d.setdefault(i % 2, []).append(i)\nreturn d",
    "d = {}\nfor i in range(n):\n    if i % 2 not in d:\n        d[i % 2] = []\n    d[i % 2].append(i)\nreturn d",
    "d = {i: [] for i in range(n)}\nfor i in range(n):\n    d[i].append(i)\nreturn d",
    "d = {i: {} for i in range(n)}\nfor i in range(n):\n    d[i]['a'] = i\nreturn d",
    "d = {i: set() for i in range(n)}\nfor i in range(n):\n    d[i].add(i)\nreturn d",
    "g = {}\nfor u, v in [(1, 2), (2, 3), (1, 3)]:\n    if u not in g:\n        g[u] = set()\n    g[u].add(v)\n"
    "return g",
    "d = {}\nfor w in 'a b a cc b'.split():\n    d.setdefault(len(w), {}).setdefault(w, []).append(n)\nreturn d",
    "d = {}\nd[1] = []\nd[2] = [n]\nd[1].append(4)\nreturn d",
    "d = {}\nd[n] = {}\nd[n]['x'] = set()\nd[n]['x'].add(2.5)\nreturn d",
    "d = {1: [], 2: []}\nfor k, v in d.items():\n    v.append(k)\nfor v in d.values():\n    v.append(n)\nreturn d",
    "d = {1: []}\nd.get(1, []).append(n)\nd.pop(1).append(2)\nreturn d",
    "s = {1, 2, n}\ns ^= {7, 1}\nt = {1}\nt ^= t\nreturn s, t, s ^ {8}", "s = set()\ns ^= {1, n}\nreturn s",
])  # fmt: skip
def test_in_dicts_and_sets(body):
    of(body)


@pytest.mark.parametrize("helpers, body", [
    ("def new():\n    return []", "a = new()\nb = new()\na.append(1)\nb.append(2.5)\nreturn a, b"),
    ("def new(n):\n    return [[] for _ in range(n)]", "a = new(n)\na[0].append(n)\nreturn a"),
    ("def push(stack, x):\n    stack.append(x)", "s = []\npush(s, n)\npush(s, 2)\nreturn s"),
    ("def inner(rows, i):\n    rows[i].append(i)\ndef outer(rows):\n    inner(rows, 1)",
     "a = [[] for _ in range(n)]\nouter(a)\nreturn a"),
    ("", "a = [[] for _ in range(n)]\ndef go(i):\n    a[i].append(i)\nfor i in range(n):\n    go(i)\nreturn a"),
    ("", "x = []\ny = []\nt = (x, y)\nt[0].append(1)\nt[1].append(2.5)\nreturn x, y"),
    ("", "x = None\nif n > 2:\n    x = []\nif x is not None:\n    x.append(n)\nreturn x"),
    ("def some(n):\n    if n > 4:\n        return []\n    return [n]", "x = some(n)\nx.append(1)\nreturn x"),
    ("def some(n):\n    if n < 4:\n        return [n]\n    return []", "x = some(n)\nx.append(1)\nreturn x"),
])  # fmt: skip
def test_through_functions_tuples_and_variables(helpers, body):
    of(body, helpers=helpers)


@pytest.mark.parametrize("grow", ["w += [d.get('b')]", "w = w + [d.get('b')]", "w.append(d.get('b'))",
                                  "w += [last(d)]", "w += [(d.get('b'), n)]", "w[:] = [d.get('b')]"])  # fmt: skip
def test_of_what_a_call_gives_or_not(grow):
    """Each function is typed with all that its callees give, not with their None alone."""
    helpers = "def last(d):\n    if len(d) > 5:\n        return None\n    return d.get('a')"
    body = f"w = []\nfor d in [{{'a': True}}, {{'b': n > 3}}]:\n    if n != 4:\n        {grow}\nreturn w"
    of(body, helpers=helpers)


@pytest.mark.parametrize("body", [
    "m = [[1.0, 2.0 * n], [3.0, 4.0]]\nreturn [sum(c) for c in zip(*m)]",
    "x = [None] * n\nx[0] = 5\nreturn x", "x = [None] * n\nx[0] = 'abc'\nreturn x[0], x[1] is None",
    "t = [None for _ in range(n)]\nt[1] = (1, 2.5)\nreturn t",
    "x = [0]\ny = [sum(r) for r in [[0.5] * n, [1.5]]]\nif n > 4:\n    return y\nreturn [2.5]",
])  # fmt: skip
def test_what_is_returned_grows_after_it_was_seen(body):
    of(body)


def test_what_stays_unknown_is_refused():
    def f(rows):
        rows[0].append("a")

    with pytest.raises(errors.TypingError, match="str is put into a list of int"):
        njit(f)([[1]])
