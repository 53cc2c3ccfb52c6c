"""What it costs that compiled code looks for signals: the same loops and recursions with and without it
(KRAIT_INTERRUPTS), in processes that take turns."""

import math
import os

from common import Row, child

MOST = "at most 1.01 of without"

MEASURE = """
import json, time
import numpy as np
from krait import njit

@njit
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)

@njit
def ackermann(m, n):
    if m == 0:
        return n + 1
    return ackermann(m - 1, 1) if n == 0 else ackermann(m - 1, ackermann(m, n - 1))

@njit
def total(x):
    s = 0.0
    for i in range(x.size):
        s += x[i]
    return s

@njit
def items(x):
    s = 0.0
    for i, v in enumerate(x):
        s += v * i
    return s

@njit
def constant():
    s = 0
    for i in range(100_000):
        s += i ^ (s >> 1)
    return s

@njit
def rounds(x, y, n, m):
    for i in range(n):
        for j in range(m):
            y[i + j] += x[i + j]

@njit
def sums(x, n, m):
    s = 0.0
    for i in range(n):
        for j in range(m):
            s += x[i + j]
    return s

@njit
def triangle(x, n):
    s = 0.0
    for i in range(n):
        for j in range(i % 8):
            s += x[i + j]
    return s

@njit
def product(a, b, c):
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            s = 0.0
            for k in range(a.shape[1]):
                s += a[i, k] * b[k, j]
            c[i, j] = s

@njit
def sieve(marks):
    for i in range(marks.size):
        marks[i] = 1
    i = 2
    while i * i < marks.size:
        if marks[i]:
            for j in range(i * i, marks.size, i):
                marks[j] = 0
        i += 1

@njit
def collatz(n):
    longest = 0
    for start in range(1, n):
        k, steps = start, 0
        while k != 1:
            k = k // 2 if k % 2 == 0 else 3 * k + 1
            steps += 1
        longest = max(longest, steps)
    return longest

@njit
def newton(x, y):
    for i in range(x.size):
        guess = x[i] + 1.0
        while abs(guess * guess - x[i]) > 1e-9:
            guess = 0.5 * (guess + x[i] / guess)
        y[i] = guess

x = np.random.default_rng(0).random(100_000)
y = np.zeros(100_100)
a = x[:64 * 64].reshape(64, 64)
CASES = {
    "recursion: fib(25)": (fib, 25),
    "recursion: ackermann(2, 200)": (ackermann, 2, 200),
    "sum, 100,000 rounds": (total, x),
    "enumerate, 100,000 rounds": (items, x),
    "a range of constants": (constant,),
    "inner loops of 3 rounds": (sums, x, 90_000, 3),
    "inner loops of 3 rounds that store": (rounds, x, y, 90_000, 3),
    "inner loops of 20 rounds that store": (rounds, x, y, 9_000, 20),
    "inner loops of 0 to 7 rounds": (triangle, x, 90_000),
    "matrix product, 64 x 64": (product, a, a, a.copy()),
    "inner ranges of unknown step: sieve": (sieve, np.zeros(100_000, np.int8)),
    "inner while loops of integers: Collatz": (collatz, 5_000),
    "inner while loops of floats: Newton": (newton, x[:2_000], y),
}
figures = {}
for name, (call, *args) in CASES.items():
    call(*args)
    best = 1e9
    for _ in range(TURNS):
        start = time.perf_counter()
        call(*args)
        best = min(best, time.perf_counter() - start)
    figures[name] = best * 1e6
print(json.dumps(figures))
"""


def _figures(interrupts, turns):
    before = os.environ.get("KRAIT_INTERRUPTS")
    os.environ["KRAIT_INTERRUPTS"] = interrupts
    try:
        return child(f"TURNS = {turns}\n" + MEASURE)
    finally:
        del os.environ["KRAIT_INTERRUPTS"]
        if before is not None:
            os.environ["KRAIT_INTERRUPTS"] = before


def rows(quick=False):
    best = {"0": {}, "1": {}}
    for _ in range(3 if quick else 9):
        for interrupts, figures in best.items():
            for name, figure in _figures(interrupts, 50 if quick else 200).items():
                figures[name] = min(figure, figures.get(name, math.inf))
    return [
        Row("interrupts", name, "us", figure, {"without": best["0"][name]}, limit=MOST)
        for name, figure in best["1"].items()
    ]
