"""What a call costs: jitted functions against plain Python functions and Numba's, in the same loop."""

import numpy as np
from common import Row, have, median_of_turns, per_call

from krait import njit


def add(a, b):
    return a + b


def first(x):
    return x[0]


def scale(x, y, factor=2.0):
    return x[0] + factor * y[0]


def pair(t):
    return t[0] + t[1]


def rows(quick=False):
    number = 100_000 if quick else 500_000
    a = np.arange(4.0)
    makers = {"krait": njit, "Python": lambda f: f}
    if have("numba"):
        import numba

        makers["Numba"] = numba.njit
    out = []
    for name, function, args, limit in [
        ("add(1, 2)", add, (1, 2), "at most 1.2 of Python"),
        ("add(1.5, 2.5)", add, (1.5, 2.5), ""),
        ("one array", first, (a,), ""),
        ("two arrays and an omitted default", scale, (a, a), ""),
        ("a tuple of two", pair, ((1, 2.5),), ""),
    ]:
        contestants = {}
        for who, make in makers.items():
            compiled = make(function)
            compiled(*args)
            contestants[who] = _measure(
                compiled, args, number if who != "Numba" or "default" not in name else number // 20
            )
        got = median_of_turns(contestants, 5 if quick else 15)
        out.append(Row("call", name, "ns", got["krait"], {n: got[n] for n in got if n != "krait"}, limit=limit))
    return out


def _measure(function, args, number):
    if len(args) == 1:
        (x,) = args
        return lambda: per_call(lambda: function(x), number)
    x, y = args
    return lambda: per_call(lambda: function(x, y), number)
