"""Functions as values that are chosen when the code runs: by a condition, an index, a loop; passed on and returned."""

import math

import numpy as np
import pytest
from oracle import agree, make

from krait import _testing, cuda, errors, njit

HEAD = """
import math
import numpy as np
from krait import njit
def inc(x):
    return x + 1
def double(x):
    return x * 2
@njit
def half(x):
    return x / 2
def pair(a, b=10):
    return a * b
def plus(a, b):
    return a + b
def apply(g, x):
    return g(x)
"""

CASES = {  # the body of f(n), arguments
    "by a condition": ("g = inc if n > 2 else double\nreturn g(n)", [(1,), (5,)]),
    "assigned in branches": (
        "if n > 2:\n    g = inc\nelif n > 1:\n    g = double\nelse:\n    g = half\n"
            "return g(n) + 0.0", [(1,), (2,), (3,)]),
    "by an index": ("gs = (inc, double, inc)\nreturn gs[n](7), gs[-n](7)", [(0,), (1,), (2,)]),
    "in a list": (
        "gs = [inc, double]\ngs.append(inc)\nr = [0]\nfor g in gs:\n    r.append(g(n))\n"
        "return r, gs[1](n)", [(3,)]),
    "in a dict": ("d = {'a': inc, 'b': double}\nreturn d['a'](n), d['b'](n), [d[k](n) for k in d]", [(3,)]),
    "swapped in a loop": (
        "g, h = inc, double\nx = 1\nfor i in range(n):\n    x = g(x)\n    g, h = h, g\nreturn x", [(0,), (1,), (6,)]),
    "of lambdas": ("g = (lambda x: x + 1) if n > 2 else (lambda x: x * 3)\nreturn g(n)", [(1,), (5,)]),
    "of the library": ("g = math.sin if n > 2 else math.cos\nreturn g(0.5)", [(1,), (5,)]),
    "passed on": ("g = inc if n > 2 else double\nreturn apply(g, n) + apply(double, n)", [(1,), (5,)]),
    "returned": ("def choose(k):\n    return inc if k > 2 else double\nreturn choose(n)(n)", [(1,), (5,)]),
    "two arguments": ("g = pair if n > 2 else plus\nreturn g(n, 5)", [(1,), (5,)]),
    "on arrays": ("g = np.abs if n > 2 else np.sqrt\nreturn g(np.arange(4.0))", [(1,), (5,)]),
    "results that join": (
        "g = half if n > 2 else half\nh = math.sqrt if n > 2 else half\nreturn g(n), h(float(n))", [(1,), (5,)]),
    "more of them later": (
        "g = inc if n > 2 else double\nh = g if n > 1 else half\nreturn h(n) + 0.5", [(1,), (2,), (3,)]),
    "none or one": (
        "g = None\nif n > 2:\n    g = inc\nelif n > 1:\n    g = double\n"
            "return -1 if g is None else g(n)", [(1,), (2,), (3,)]),
    "what raises": ("g = (lambda x: 1 // x) if n > 2 else (lambda x: x)\nreturn g(n - 3)", [(1,), (3,)]),
    "truth": ("g = inc if n > 2 else double\nreturn 1 if g else 2", [(1,)]),
    "over tables of them": ("s = 0\nfor g, k in ((inc, 1), (double, 2)):\n    s += g(k) * n\nreturn s", [(4,)]),
    "state machine": ("def even(k):\n    return 1 if k else 0\ndef odd(k):\n    return 0 if k else 1\n"
        "g = even\ns = 0\nfor i in range(n):\n    s += g(i % 3)\n"
                      "    g = odd if g is None or i % 2 else even\nreturn s", [(7,)]),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_chosen(name):
    body, calls = CASES[name]
    for args in calls:
        lines = body.replace("\n", "\n    ")
        agree(make(f"{HEAD}def f(n):\n    {lines}\n", "f"), *args)


def test_in_a_kernel():
    def inc(x):
        return x + 1.0

    def double(x):
        return x * 2.0

    @cuda.jit
    def kernel(x):
        i = cuda.grid(1)
        if i < x.size:
            g = inc if i % 2 else double
            x[i] = g(x[i])

    x = np.arange(6.0)
    kernel[1, 8](x)
    assert x.tolist() == [0.0, 2.0, 4.0, 4.0, 8.0, 6.0]


@pytest.mark.parametrize("body, words", [
    ("g = plus if n > 2 else pair\nreturn g(a=n, b=2)", "parameters' names"),
    ("g = inc if n > 2 else plus\nreturn g(n)", "argument"),
])  # fmt: skip
def test_refused(body, words):
    lines = body.replace("\n", "\n    ")
    with pytest.raises(errors.KraitError, match=words):
        njit(make(f"{HEAD}def f(n):\n    {lines}\n", "f"))(5)


def test_gpu_code():
    def inc(x):
        return x + 1.0

    def k(x, n):
        g = inc if n > 2 else math.sqrt
        x[0] = g(x[0])

    text = _testing.stage(k, ["array(float64, 1, C)", "int"], target="nvptx", stage="ptx")
    assert "sqrt" in text
