"""Blocks of objmode: what the interpreter runs in the middle of compiled code."""

import functools
import json
import linecache
import weakref

import numpy as np
import pytest
from krait import errors, njit, objmode, types

from oracle import agree

SCALE = 7


def texts(a):
    return np.asarray([float(json.dumps(v)) for v in a.tolist()])


def test_numbers():
    def f(x):
        y = x + 1
        with objmode(z="float64", w="int64"):
            z = sum(json.loads("[1.5, 2]"), y)
            w = len(json.dumps([y] * SCALE))
        return z + w, z, w

    agree(f, 10)
    agree(f, 2.5)


def test_arrays_share_their_memory():
    def f(a):
        with objmode(b="float64[:]", part="int64[:]"):
            b = texts(a)
            part = a[1:]
            a[0] = 9
        part[0] = 5
        return b.sum(), b, a.copy()

    ours, theirs = np.arange(4), np.arange(4)
    got, expected = njit(f)(ours), f(theirs)
    assert got[0] == expected[0] and got[1].tolist() == expected[1].tolist() and got[2].tolist() == expected[2].tolist()
    assert ours.tolist() == theirs.tolist() == [9, 5, 2, 3]


def test_an_array_outlives_the_call():
    @njit
    def f(n):
        kept = [np.zeros(1)]
        for i in range(n):
            with objmode(x="float64[::1]"):
                x = np.full(1000, float(i))
            kept.append(x)
        return kept

    kept = f(50)
    assert [x[-1] for x in kept[1:]] == list(range(50))


def test_arrays_are_given_up_when_nobody_uses_them_any_more():
    """Not when the call ends."""
    alive = []

    def fresh(i):
        alive.append(len(alive))
        array = np.full(3, float(i))
        weakref.finalize(array, alive.pop)
        return array

    def f(n):
        total, most, kept = 0.0, 0, []
        for i in range(n):
            with objmode(y="float64[:]", now="int64"):
                y = fresh(i)
                now = len(alive)
            total += y[0]
            most = max(most, now)
            if i % 4 == 0:
                kept.append(y)
        return total, most, kept

    total, most, kept = njit(f)(8)
    assert (total, most, [array[0] for array in kept], len(alive)) == (28.0, 3, [0.0, 4.0], 2)
    del kept
    assert not alive


def test_what_came_in_and_is_given_back_is_the_functions_own():
    def own(n):
        a, b = [1, n], {1: 2.5}
        with objmode(c=types.List(types.int64), d=types.DictType(types.int64, types.float64), e="int64"):
            c, d, e = a, b, len(a)
        c.append(e)
        d[7] = 0.5
        return a, b, c is a, d is b

    def copied(a):
        with objmode(c=types.List(types.int64)):
            c = list(a)
        c.append(9)
        return a, c, c is a

    def argument(a):
        with objmode(c=types.List(types.int64)):
            c = a
        c.append(9)
        return c is a

    agree(own, 3)
    agree(copied, [1, 2])
    agree(argument, [1, 2])


def test_texts_containers_and_free_variables():
    def make(word):
        def f(x):
            items, name = [1, 2], "a"
            with objmode(r=types.unicode_type, b=types.boolean, n="ListType(int64)"):
                r = f"{word} {x} {items} {name}"
                b = len(r) > 3
                n = [len(word), *items]
            return r, b, n, word

        return f

    for word in ("one", "two"):
        agree(make(word), 1.5)


def test_nothing_declared_and_loops(capsys):
    def f(n):
        total = 0
        for i in range(n):
            if i % 2:
                with objmode():
                    print("at", i, total)
            with objmode:
                print("in", n)
            total += i
        return total

    expected = f(4)
    told = capsys.readouterr().out
    assert njit(f)(4) == expected and capsys.readouterr().out == told


def test_a_function_that_is_called():
    def helper(x):
        with objmode(y="float64"):
            y = float(json.loads(str(x)))
        return y

    def f(x):
        return helper(x) + helper(2 * x)

    agree(f, 3)


def test_what_is_raised():
    def f(x):
        try:
            with objmode(y="int64"):
                y = 1 // x
        except ZeroDivisionError:
            y = -1
        return y

    agree(f, 0)
    agree(f, 1)

    @njit
    def g():
        with objmode(y="int64"):
            y = "text"
        return y

    with pytest.raises(TypeError, match="type str"):
        g()


def test_it_sees_changes():
    held = {"scale": 2}

    @njit
    def f(x):
        with objmode(y="int64"):
            y = x * held["scale"]
        return y

    assert f(3) == 6
    held["scale"] = 5
    assert f(3) == 15


def test_what_is_read_and_set():
    def added(x):
        with objmode(x="int64"):
            x += 1
        return x

    def old(x):
        y = 5
        with objmode(y="int64"):
            if x > 3:
                y = 7
        return y

    def both(x):
        with objmode(y="int64"):
            if x > 3:
                y = 7
            else:
                y = 8
            y = y + 1
        return y

    def walrus(x):
        with objmode(y="int64"):
            if (y := x + 1) > 3:
                y = y * 2
        return y

    def loop(x):
        t = 0
        with objmode(t="int64"):
            for i in range(x):
                if i == 3:
                    break
                t += i
        return t

    def tried(x):
        with objmode(y="int64"):
            try:
                y = 6 // (x - 1)
            except ZeroDivisionError as e:
                y = len(str(e))
            while True:
                k = y
                if k:
                    break
                y = 1
        return y

    def scopes(x):
        i = 3
        with objmode(y="ListType(int64)"):
            import math as m

            def q(a):
                return a + x

            y = [int(m.sqrt(q(i) ** 2)) for i in range(x)]
        return y, i

    for f in (added, old, both, walrus, loop, tried, scopes):
        for x in (1, 5):
            agree(f, x)


class Private:
    def __init__(self, value):
        self.__value = value

    def value(self, n):
        __more = 1
        with objmode(y="int64"):
            y = self.__value + __more + n
        return y


def recursive(n):
    if n == 0:
        return 0
    with objmode(y="int64"):
        y = recursive(n - 1)
    return y + n


def test_names():
    def private(n):
        return Private(n).value(2)

    def texts(n):
        word, other = "krait objmode 0 body", "objmode 0 body"
        with objmode(y="int64"):
            y = n
        return word, other, y

    agree(private, 4)
    agree(texts, 4)
    agree(recursive, 3)


def test_lines_and_names_are_those_of_the_source():
    @njit
    @njit
    def raising(n):
        with objmode(y="int64"):
            y = n
        raise ValueError(y)

    with pytest.raises(ValueError) as caught:
        raising(1)
    assert [entry.lineno + 1 for entry in caught.traceback][-1] == raising.py_func.__code__.co_firstlineno + 5

    def inner(n):
        def g(v):
            return v.nope
        with objmode(y="int64"):
            y = n
        return g(y)

    with pytest.raises(errors.TypingError, match=r"in test_lines\S*.inner.<locals>.g\n"):
        njit(inner)(1)


class Own(Exception):
    pass


class Part(Own):
    pass


def test_own_classes_are_caught():
    def f(n):
        try:
            with objmode():
                if n == 1:
                    raise Part(n)
                if n == 2:
                    raise KeyError(n)
                if n == 3:
                    raise SystemExit(n)
        except (OverflowError, Own):
            return 5
        except Exception:
            return 6
        except SystemExit:
            return 7
        return 0

    for n in range(4):
        agree(f, n)


@pytest.mark.parametrize("type, value", [
    ("int64", 2.7), ("int64", True), ("int8", 300), ("float64", 2), ("float32", np.float64(1.1)), ("boolean", 1),
    ("ListType(int64)", [1, 2.5]), ("float64[:]", np.arange(3)), ("UniTuple(int64, 2)", (1, 2.0)),
])  # fmt: skip
def test_another_type(type, value):
    @njit
    def f():
        with objmode(y=type):
            y = value
        return y

    with pytest.raises(TypeError, match="is not expected here"):
        f()


def test_numbers_of_numpy():
    @njit
    def f():
        with objmode(x="float64", n="int64", b="boolean", nan="float64"):
            x, n, b, nan = np.float64(1.1), np.int8(3), np.bool_(True), np.float64("nan")
        return x, n, b, str(nan)

    assert repr(f()) == repr((1.1, 3, True, "nan"))


class Held:
    def __init__(self):
        self.n, self.items = 1, [1]


def test_copies_that_change():
    def list_(n):
        items = [n]
        with objmode():
            items.append(4)
        return items

    def dict_(n):
        held = {n: 1.5}
        with objmode():
            held[n] = 2.5
        return held

    def instance(n):
        held = Held()
        with objmode(m="int64"):
            held.n = m = n
        return held.n, m

    def inside(n):
        held = Held()
        with objmode():
            held.items.append(n)
        return held.items

    def read(n):
        held, items = Held(), [-0.0, float("nan"), float(n)]
        with objmode(m="int64", same="ListType(float64)"):
            m, same = len(str(items)) + held.n, items
        return m, str(items), str(same)

    for f in (list_, dict_, instance, inside):
        with pytest.raises(RuntimeError, match="has changed"):
            njit(f)(3)
    agree(read, 3)


REFUSED = {
    "return": ("with objmode(y='int64'): return 1", "do not stand in a block"),
    "break": ("for i in range(x):\n        with objmode(): break", "break and continue"),
    "undeclared": ("y = 1\n    with objmode(): y = x\n    return y", "which does not declare it"),
    "deleted": ("y = 1\n    with objmode(): del y\n    return y", "which does not declare it"),
    "carried": ("for i in range(x):\n        with objmode():\n            if i: k += 1\n            else: k = 0",
                "which does not declare it"),
    "captured": ("y = 1\n    g = lambda: y\n    with objmode(): y = x\n    return g()", "by a function inside"),
    "broken": ("y = 1\n    try:\n        with objmode(y='int64'):\n            y = 5\n            y = 1 // x\n"
               "    except ZeroDivisionError: pass\n    return y", "before it raised"),
    "unbound": ("if x: z = 1\n    with objmode(y='int64'): y = z\n    return y", "may have no value"),
    "global": ("global G\n    with objmode(): G = x\n    return G", "is no variable of f alone"),
    "locals": ("with objmode(y='int64'): y = len(locals())\n    return y", "the variables of the block"),
    "type": ("with objmode(y='int644'): y = 1\n    return y", "is no type"),
    "positional": ("with objmode('int64'): y = 1", "by name"),
    "closure": ("def g(a):\n        with objmode(y='int64'): y = a + x\n        return y\n    return g(1)",
                "takes variables of it"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case, tmp_path):
    body, words = REFUSED[case]
    path = tmp_path / "blocks.py"
    path.write_text(f"from krait import njit, objmode\n@njit\ndef f(x):\n    {body}\n")
    scope = {}
    exec(compile(path.read_text(), path, "exec"), scope)
    with pytest.raises(errors.KraitError, match=words) as refused:
        scope["f"](1)
    assert "blocks.py\", line " in str(refused.value) and "hint: " in str(refused.value)


def test_a_file_that_has_changed(tmp_path):
    path = tmp_path / "changed.py"
    text = "from krait import njit, objmode\n@njit\ndef f(x):\n    k = 1\n    with objmode(y='int64'): y = x + 1\n"
    scope = {}
    for now in ("1000", "1.0"):
        path.write_text(text + "    return y + k\n")
        exec(compile(path.read_text(), path, "exec"), scope)
        path.write_text(text.replace("k = 1", f"k = {now}") + "    return y + k\n")
        linecache.checkcache()
        with pytest.raises(errors.KraitError, match="is not what the function was compiled from"):
            scope["f"](1)


def test_no_source():
    scope = {}
    text = "def f(x):\n    with objmode(y='int64'):\n        y = 1\n    return y\n"
    exec(f"from krait import njit, objmode\n@njit\n{text}", scope)
    with pytest.raises(errors.KraitError, match="source"):
        scope["f"](1)


def test_jit_module(tmp_path, monkeypatch):
    (tmp_path / "decorated.py").write_text("import krait\nfrom math import hypot\ndef f(x):\n    return g(x) + 1\n"
                                           "def g(x):\n    return 2 * x\nK = 3\nkrait.jit_module(fastmath=True)\n")
    monkeypatch.syspath_prepend(tmp_path)
    import decorated

    assert decorated.f(3) == 7 and isinstance(decorated.f, type(njit(texts)))
    assert not hasattr(decorated.hypot, "py_func")


KEPT_LIST, KEPT_DICT, KEPT_SET, KEPT = [1, 2], {1: 2}, {3}, Held()


def test_arguments_that_change_by_another_way():
    """A block reaches them as globals; compiled code has copies of them until the call is over."""

    def of_list(x):
        x.append(3)
        with objmode():
            KEPT_LIST.append(5)
        x.append(4)

    def of_dict(x):
        with objmode():
            KEPT_DICT[5] = 6
        return len(x)

    def of_set(x):
        with objmode():
            KEPT_SET.add(4)
        return 4 in x

    def of_instance(x):
        with objmode():
            KEPT.n = 5
        return x.n

    for function, kept in ((of_list, KEPT_LIST), (of_dict, KEPT_DICT), (of_set, KEPT_SET), (of_instance, KEPT)):
        with pytest.raises(RuntimeError, match="has changed a list, dict, set or instance that is an argument"):
            njit(function)(kept)


def test_arguments_that_a_block_leaves_alone():
    def f(x, y):
        with objmode(n="int64"):
            n = len(KEPT_LIST) + len(KEPT_DICT)
        x.append(n)
        y[0] += 1
        with objmode(m="int64"):
            m = len([1])
        return n + m

    kept, array = [1], np.zeros(1)
    assert njit(f)(kept, array) == len(KEPT_LIST) + len(KEPT_DICT) + 1
    assert kept == [1, len(KEPT_LIST) + len(KEPT_DICT)] and array[0] == 1


class Lazy:
    __slots__ = ("__n", "__dict__")

    def __init__(self):
        self.__n, self.items = 3, np.zeros(1)

    def count(self):
        return self.__n

    def reset(self):
        self.__n = 0

    @functools.cached_property
    def slow(self):
        return self.__n + 1


LAZY = Lazy()


def test_attributes_that_a_block_adds_are_none_of_compiled_code():
    def f(x):
        with objmode(n="int64"):
            n = LAZY.slow
            LAZY.items[0] = 7
        return n + x.items[0]

    def g(x):
        with objmode():
            LAZY.reset()
        return x.count()

    assert njit(f)(LAZY) == 11 and LAZY.slow == 4
    with pytest.raises(RuntimeError, match="has changed a list, dict, set or instance that is an argument"):
        njit(g)(LAZY)
