"""Blocks of objmode: what the interpreter runs in the middle of compiled code."""

import json

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


def test_texts_containers_and_free_variables():
    def make(word):
        def f(x):
            items, name = [1, 2], "a"
            with objmode(r=types.unicode_type, b=types.boolean, n="ListType(int64)"):
                r = f"{word} {x} {items} {name}"
                b = len(r) > 3
                n = [len(word), *items]
                items.append(4)
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


@pytest.mark.parametrize("line, words", [
    ("return 1", "do not stand in a block"),
    ("y = object()", None),
])  # fmt: skip
def test_refused(line, words, tmp_path):
    path = tmp_path / "blocks.py"
    path.write_text("from krait import njit, objmode\n@njit\ndef f(x):\n    with objmode(y='int64'):\n"
                    f"        {line}\n    return y\n")
    scope = {}
    exec(compile(path.read_text(), path, "exec"), scope)
    with pytest.raises(errors.KraitError if words else TypeError, match=words):
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
