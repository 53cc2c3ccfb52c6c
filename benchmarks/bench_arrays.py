"""Programs on whole arrays (array_programs.py): against NumPy, which runs the same function interpreted, and Numba; and
first calls, against Numba's.

Sizes lie beyond the cache.  A program that changes its arguments changes them in every turn."""

import math

import numpy as np
from array_programs import PROGRAMS
from common import Row, have, median_of_turns, milliseconds


def _first(maker, function, args):
    compiled = maker(function)
    with np.errstate(all="ignore"):
        return compiled, milliseconds(lambda: compiled(*args))


def _firsts(makers, function, make, n):
    """What each has compiled, and the milliseconds of its first call; a rival that refuses the program is left out."""
    compiled, first = {}, {}
    for name, maker in makers.items():
        try:
            compiled[name], first[name] = _first(maker, function, make(n))
        except Exception as error:
            if name == "krait":
                raise
            print(f"{name} does not take {function.__name__}: {type(error).__name__}")
    return compiled, first


def _mean(figures):
    return math.exp(sum(map(math.log, figures)) / len(figures))


def rows(quick=False):
    from krait import njit

    makers = {"krait": njit}
    if have("numba"):
        import numba

        makers["Numba"] = numba.njit
    n = 400_000 if quick else 4_000_000
    speeds, firsts = [], []
    for maker in makers.values():  # what only the first call of a process takes
        maker(lambda x: x + 1)(np.ones(3))
    for function, make, by_loops in PROGRAMS:
        args = make(n)
        compiled, first = _firsts(makers, function, make, n)
        if not by_loops:
            compiled["NumPy"] = function
        turns = {name: lambda call=call: milliseconds(lambda: call(*args)) for name, call in compiled.items()}
        times = median_of_turns(turns, 3 if quick else 9)
        speeds.append(Row("Array programs", function.__name__, "ms", times.pop("krait"), times))
        firsts.append(Row("First calls of array programs", function.__name__, "ms", first.pop("krait"), first))
    for name in {name for row in speeds for name in row.others}:
        ratio = _mean([row.ratio(name) for row in speeds if name in row.others])
        speeds.append(Row("Array programs", f"geometric mean against {name}", "times", ratio, {name: 1.0}))
    largest = max(row.krait for row in firsts)
    firsts.append(Row("First calls of array programs", "the longest", "ms", largest, {}, limit="at most 60"))
    return speeds + firsts
