"""Loops over prange whose iterations meet at items of an array: refused with both lines where they surely do, in order
on one core where they may, on several cores where they cannot.  The result is the interpreter's in any case."""

import linecache
import textwrap

import numpy as np
import pytest

from krait import errors, njit, prange

# ---- what becomes of the loop (refused, one core, several) -> its body ----------------------------------------------

LOOPS = {
    "refused": [
        "for i in prange(1, len(x)):\n    x[i] = x[i - 1] + 1",
        "for i in prange(len(x) - 1):\n    x[i] = x[i + 1] + 1",
        "for i in prange(len(x) - 1):\n    x[i + 1] = x[i] + 1",
        "for i in prange(0, len(x) - 2, 2):\n    x[i] = x[i + 2] + 1",
        "for i in prange(10):\n    x[i] = x[i + 9]",
        "n = x.size\nfor i in prange(n - 1):\n    x[n - 1 - i] = x[x.size - 2 - i] * 2",
        "for i in prange(1, m.shape[0]):\n    for j in range(m.shape[1]):\n        m[i, j] += m[i - 1, j]",
        "for i in prange(1, m.shape[0]):\n    for j in range(m.shape[1]):\n        m[i][j] += m[i - 1][j]",
        "for i in prange(1, m.shape[0]):\n    m[i] = m[i - 1] * 2",
        "for i in prange(1, m.shape[0]):\n    m[i, :] = m[i - 1, :] * 2",
        "k = 50\nfor i in prange(1, 300):\n    for j in range(50):\n        x[i * k + j] += x[(i - 1) * k + j]",
        "k = len(z)\nfor i in prange(1, 300):\n    for j in range(k):\n        x[j + k * i] += x[j + k * (i - 1)]",
        "for i in prange(1, m.shape[1]):\n    m[:, i] += m[:, i - 1]",
        # through views and helpers
        "for i in prange(1, len(x)):\n    v = x[i:i + 1]\n    v[0] = x[i - 1] + 1",
        "for i in prange(1, len(x)):\n    v = x[i - 1:]\n    v[1] = v[0] + 1",
        "for i in prange(1, m.shape[0]):\n    v = m[:, 1:]\n    v[i, 2] = m[i - 1, 3] + 1",
        "for i in prange(1, len(x)):\n    shift(x, i)",
        "for i in prange(len(x) - 2):\n    shift(x[1:], i + 1)",
        "for i in prange(1, len(x)):\n    put(x, i, x[i - 1] + 1)",
        "for i in prange(1, len(x)):\n    through(x, i)",
        "for i in prange(1, m.shape[0]):\n    shift(m[:, 3], i)",
        # through views made outside
        "v = x[1:]\nfor i in prange(len(v)):\n    v[i] = x[i] + 1",
        "v = x[3:]\nw = v[2:]\nfor i in prange(len(w)):\n    w[i] = v[i] + x[i + 1]",
        "v = m[1:]\nfor i in prange(v.shape[0]):\n    v[i] = m[i] * 2",
        "v = m[:, 1:]\nfor i in prange(v.shape[1]):\n    for j in range(v.shape[0]):\n        v[j, i] = m[j, i]",
    ],
    "stays on one core": [
        "for i in prange(1, len(x)):\n    if x[i] > 0.5:\n        x[i] = x[i - 1]",
        "for i in prange(1, len(x)):\n    for j in range(i % 2):\n        x[i] = x[i - 1]",
        "for i in prange(len(x) - 1):\n    x[i] = i\n    x[i + 1] = 7",
        "for i in prange(300):\n    for j in range(len(z)):\n        x[i + j] += y[j]",
        "for i in prange(50):\n    for j in range(50):\n        m[j, i] += m[i, j]",
        "for i in prange(len(z)):\n    for j in range(len(z)):\n        z[i] += z[j] * 0.1",
        "for i in prange(0, 300, 4):\n    for j in range(6):\n        x[i + j] += y[j]",
        "for i in prange(len(x)):\n    y[0] = i",
        "for i in prange(len(x)):\n    if x[i] > 0.9:\n        y[0] = i",
        "for i in prange(m.shape[0]):\n    for j in range(m.shape[1]):\n        y[j] = m[i, j]",
        "for i in prange(m.shape[0]):\n    y[:50] = 0\n    z[:] = m[i]",
        "for i in prange(len(x)):\n    put(y, 0, x[i])",
        "for i in prange(len(x)):\n    more(y, x[i])",
        "for i in prange(1, len(x)):\n    if x[i] > 0.5:\n        shift(x, i)",
    ],
    "several cores": [
        "for i in prange(0, len(x) - 1, 2):\n    x[i] = x[i + 1] + 1",
        "v = x[1:]\nfor i in prange(len(v)):\n    v[i] = x[i + 1] + 1",
        "v = m[0]\nw = m[1]\nfor i in prange(len(v)):\n    w[i] = v[i] + 1",
        "for i in prange(len(x) // 2):\n    x[2 * i] = x[2 * i + 1] + 1",
        "for i in prange(10):\n    x[i] = x[i + 10]",
        "for i in prange(0, 320, 8):\n    for j in range(8):\n        x[i + j] += y[j]",
        "for i in prange(300):\n    for j in range(8):\n        x[8 * i + j] += y[j]",
        "for k in range(50):\n    for i in prange(300):\n        for j in range(50):\n"
        "            m[i, j] = min(m[i, j], m[i, k] + m[k, j])",
        "for i in prange(300):\n    for j in range(i % 50):\n        m[i, j] = m[j, i % 50] * 0 + i",
        "h = len(x) // 2\nfor i in prange(h):\n    x[i] = x[i + h]",
        "for i in prange(len(x)):\n    put(y, i, total(z) + x[i])",
        "for i in prange(1, len(x) // 2):\n    shift(x, 2 * i)",
        "for i in prange(m.shape[0]):\n    row = m[i]\n    for j in range(1, len(row)):\n        shift(row, j)",
        "for i in prange(m.shape[0]):\n    m[i, 0] = total(m[i])",
        "for i in prange(0, len(x), 4):\n    v = x[i:i + 4]\n    v[1] = v[0] + v[3]",
        "for i in prange(len(x)):\n    y[i] = x[i - 1] + x[i]",
        "k = len(z)\nfor i in prange(300):\n    for j in range(k - 1):\n        x[i * k + j] += x[i * k + j + 1]",
        "k = len(z)\nfor i in prange(300):\n    for j in range(k):\n        x[i * k + j] += x[i * k + j] * 2",
        "for i in prange(len(x)):\n    if x[i] > 0.9:\n        y[0] = 1",
        "for i in prange(m.shape[0]):\n    for j in range(1, m.shape[1]):\n        m[i, j] += m[i, j - 1]",
        "for i in prange(m.shape[0]):\n    m[i] = m[i] * 2 + m[i, 0]",
        "for c in range(2):\n    for i in prange(1, m.shape[0] - 1):\n        for j in range(1 + (i + c) % 2, 49, 2):\n"
        "            m[i, j] = 0.25 * (m[i - 1, j] + m[i + 1, j] + m[i, j - 1] + m[i, j + 1])",
    ],
}  # fmt: skip


def shift(a, i):
    a[i] = a[i - 1] + 1


def through(a, i):
    shift(a, i)


def put(a, i, value):
    a[i] = value


def more(a, value):
    a[0] = a[0] + value


def total(a):
    s = 0.0
    for v in a:
        s += v
    return s


HELPERS = {"shift": shift, "through": through, "put": put, "more": more, "total": total}


@pytest.mark.parametrize("outcome, body", [(outcome, body) for outcome, bodies in LOOPS.items() for body in bodies])
def test_iterations_that_meet(outcome, body, capsys):
    source = "def f(x, y, z, m):\n" + textwrap.indent(body, "    ") + "\n"
    space = {"np": np, "prange": prange, **HELPERS}
    name = f"<loop {abs(hash(body))}>"
    linecache.cache[name] = len(source), None, source.splitlines(True), name
    exec(compile(source, name, "exec"), space)
    compiled, rng = njit(parallel=True)(space["f"]), np.random.default_rng(1)
    ours = [rng.random(20_000), rng.random(20_000), rng.random(50), rng.random((300, 50))]
    theirs = [array.copy() for array in ours]
    if outcome == "refused":
        with pytest.raises(errors.UnsupportedError, match="carries a value from one iteration of prange") as caught:
            compiled(*ours)
        text = str(caught.value)
        assert "written here" in text and "prange(" in text and "hint: " in text
        return
    compiled(*ours)
    space["f"](*theirs)
    for one, other in zip(ours, theirs):
        np.testing.assert_array_equal(one, other)
    compiled.parallel_diagnostics(level=1)
    assert "the loop over prange " + ("runs on " if outcome[0] == "s" and "several" in outcome else "") + outcome in (
        capsys.readouterr().out
    )
