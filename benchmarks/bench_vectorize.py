"""Ufuncs and parallel loops against Numba and NumPy: @vectorize on elements in the second cache and on a million,
building one, calling one; prange: sum, matrix product, heat, Monte Carlo pi.

    python benchmarks/bench_vectorize.py [--quick]

prints the table of what is asked and measured, and ends with 1 where something falls short: a ratio counts with two
decimals, since code that waits for memory, or for the processor's divider, takes what that takes, whoever made it.

Contestants take turns, every other turn the other way round, over the same arrays: inputs and the result lie in memory
that was written to before, so no call meets a new page.  The least of all turns counts: what else runs on the machine
only adds.  Of building, the processor's time is shown, too, which other programs hardly change: that of all threads.
Each turn of a parallel loop begins with a pause and calls that do not count: threads of the one before may still look
out for work on the same cores.
"""

import argparse
import math
import sys
import time

import numpy as np
from common import Row, have, milliseconds, per_call

IN_CACHE, ELEMENTS = 8192, 1_000_000
PAUSE = 0.02  # seconds after which threads that have nothing to do sleep
TWICE = ("sine", "cosine", "exponential", "logarithm", "power", "logistic", "Gaussian", "damped wave")


def _asked(times, rival="Numba's"):
    return f"at least {times:g} times {rival} speed"


def _functions():
    """name, Python function, number of arguments; those with many calls of math are asked for twice Numba's speed"""
    return [
        ("sum of squares", lambda a, b: a * a + b * b, 2),
        ("sine", lambda a: math.sin(a), 1),
        ("cosine", lambda a: math.cos(a), 1),
        ("exponential", lambda a: math.exp(a), 1),
        ("logarithm", lambda a: math.log(a + 1.0), 1),
        ("power", lambda a, b: a**b, 2),
        ("logistic", lambda a: 1.0 / (1.0 + math.exp(-a)), 1),
        ("hypotenuse", lambda a, b: math.sqrt(a * a + b * b), 2),
        ("polynomial", lambda a: 1.0 + a * (0.5 + a * (0.25 + a * (0.125 + a * 0.0625))), 1),
        ("rational", lambda a, b: (a + b) / (1.0 + a * b), 2),
        ("larger", lambda a, b: a if a > b else b, 2),
        ("clipped", lambda a: min(max(a, 0.25), 0.75), 1),
        ("relu", lambda a: a if a > 0.5 else 0.0, 1),
        ("distance", lambda a, b: abs(a - b), 2),
        ("square root", lambda a: math.sqrt(a), 1),
        ("reciprocal", lambda a: 1.0 / (a + 1.0), 1),
        ("linear", lambda a, b: 2.0 * a - 3.0 * b + 1.0, 2),
        ("Gaussian", lambda a, b: math.exp(-(a * a + b * b)), 2),
        ("damped wave", lambda a, b: math.sin(10.0 * a) * math.exp(-b), 2),
        ("whole part", lambda a: math.floor(a * 100.0), 1),
    ]


def _makers():
    """name -> (vectorize, njit, prange) of each contestant"""
    import krait

    makers = {"krait": (krait.vectorize, krait.njit, krait.prange)}
    if have("numba"):
        import numba

        makers["Numba"] = (numba.vectorize, numba.njit, numba.prange)
    return makers


def _least_of_turns(contestants, turns):
    """The least of each contestant's figures, by turns."""
    order, least = list(contestants), dict.fromkeys(contestants, math.inf)
    for _ in range(turns):
        for who in order:
            least[who] = min(least[who], contestants[who]())
        order.reverse()
    return least


def _several(call, settle=0):
    """The least of several figures in a row, after `settle` of them that do not count."""
    if settle:
        time.sleep(PAUSE)
    for _ in range(settle):
        call()
    return min(call() for _ in range(5))


def _ufuncs(quick, elements):
    a, b, out = np.random.default_rng(1).random(elements), np.random.default_rng(2).random(elements), np.empty(elements)
    rows, number = [], max(1, 50 * IN_CACHE // elements)
    for name, function, nin in _functions():
        args = (a, b)[:nin]
        contestants = {}
        for who, (vectorize, _, _) in _makers().items():
            made = vectorize([f"float64({', '.join(['float64'] * nin)})"])(function)
            made(*args, out)
            contestants[who] = lambda made=made: per_call(lambda: made(*args, out), number) / 1e3
        got = _least_of_turns(contestants, 31 if quick or name in TWICE else 301)
        asked = _asked(2 if name in TWICE else 1)
        rows.append(Row(f"ufuncs, {elements} float64", name, "us", got.pop("krait"), got, limit=asked))
    return rows


def _small(quick):
    a, number = np.ones(10), 1_000
    out = np.empty(10)
    contestants = {"NumPy's add": lambda: per_call(lambda: np.add(a, a, out), number)}
    for who, (vectorize, _, _) in _makers().items():
        made = vectorize(["float64(float64, float64)"])(lambda x, y: x + y)
        contestants[who] = lambda made=made: per_call(lambda: made(a, a, out), number)
    got = _least_of_turns(contestants, 31 if quick else 151)
    rows = [Row("ufuncs, small", "a call on 10 elements", "ns", got.pop("krait"), got, limit=_asked(1, "NumPy's"))]
    return rows


def _builds():
    """name, what one of the contestants does"""
    one, two = np.ones(10), ["float64(float64, float64)", "float32(float32, float32)"]
    return [
        ("two signatures", lambda v: v(["float64(float64)", "float32(float32)"])(lambda x: x * 2.0 + 1.0)),
        ("two signatures of two operands", lambda v: v(two)(lambda x, y: x * 2.0 + y * y)),
        ("the sum of squares, and calling it", lambda v: v(two[:1])(lambda x, y: x * x + y * y)(one, one)),
    ]


def _processor_milliseconds(call):
    start = time.process_time()
    call()
    return (time.process_time() - start) * 1e3


def _building(quick):
    makers, rows = _makers(), []
    for vectorize, _, _ in makers.values():
        vectorize(["float64(float64)"])(lambda x: x - 1.0)
    for name, build in _builds():
        for clock, measure in (("", milliseconds), (", processor's time", _processor_milliseconds)):
            contestants = {
                who: lambda vectorize=vectorize, build=build, measure=measure: measure(lambda: build(vectorize))
                for who, (vectorize, _, _) in makers.items()
            }
            got = _least_of_turns(contestants, 3 if quick else 9)
            rows.append(Row("ufuncs, building", name + clock, "ms", got.pop("krait"), got, limit=_asked(10)))
    return rows


def _loops(njit, prange):
    """The parallel functions, with this contestant's prange."""
    each = prange

    def total(x):
        s = 0.0
        for i in each(x.size):
            s += x[i]
        return s

    def product(a, b, c):
        for i in each(a.shape[0]):
            for j in range(b.shape[1]):
                s = 0.0
                for k in range(a.shape[1]):
                    s += a[i, k] * b[k, j]
                c[i, j] = s

    def heat(u, new):
        for i in each(1, u.shape[0] - 1):
            for j in range(1, u.shape[1] - 1):
                new[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])

    def pi(n):
        inside = 0
        for _ in each(n):
            x, y = np.random.random(), np.random.random()
            if x * x + y * y < 1.0:
                inside += 1
        return 4.0 * inside / n

    return [njit(parallel=True)(function) for function in (total, product, heat, pi)]


def _parallel(quick):
    rng = np.random.default_rng(3)
    big, side, image = rng.random(20_000_000), 400, 2000
    a, b, c = rng.random((side, side)), rng.random((side, side)), np.empty((side, side))
    u, new = rng.random((image, image)), np.zeros((image, image))
    arguments = [
        ("prange sum of 20 million", (big,)),
        ("prange matrix product, 400", (a, b, c)),
        ("prange heat step, 2000 x 2000", (u, new)),
        ("Monte Carlo pi, 10 million", (10_000_000,)),
    ]
    made = {who: _loops(njit, prange) for who, (_, njit, prange) in _makers().items()}
    rows = []
    for number, (name, args) in enumerate(arguments):
        for functions in made.values():
            functions[number](*args)
        contestants = {
            who: lambda function=functions[number], args=args: _several(
                lambda: milliseconds(lambda: function(*args)), settle=3
            )
            for who, functions in made.items()
        }
        got = _least_of_turns(contestants, 3 if quick else 9)
        asked = _asked(2 if name.startswith("Monte") else 1)
        rows.append(Row("parallel loops", name, "ms", got.pop("krait"), got, limit=asked))
    return rows


def rows(quick=False):
    return _ufuncs(quick, IN_CACHE) + _ufuncs(quick, ELEMENTS) + _small(quick) + _building(quick) + _parallel(quick)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer turns")
    short, group = 0, None
    for row in rows(parser.parse_args().quick):
        if row.group != group:
            group = row.group
            print(f"\n{group + ', ' + row.unit:<46}{'krait':>9}{'rival':>9}{'times':>8}{'asked':>7}")
        rival = "NumPy's add" if "NumPy" in row.limit else "Numba"
        if rival not in row.others:
            print(f"  {row.name:<44}{row.krait:>9.4g}  no {rival}")
            continue
        asked, times = float(row.limit.split()[2]), round(row.others[rival] / row.krait, 2)
        short += times < asked
        verdict = "" if times >= asked else "   falls short"
        print(f"  {row.name:<44}{row.krait:>9.4g}{row.others[rival]:>9.4g}{times:>8.2f}{asked:>7g}{verdict}")
    print(f"\n{short} short of what is asked" if short else "\nall as asked")
    return 1 if short else 0


if __name__ == "__main__":
    sys.exit(main())
