"""Golden text of every pass: what it makes of a function of one typical use, as the difference of the typed IR before
and after it in the pipeline.  tests/golden/passes has a file for each row of passes.def."""

import difflib
import re
from dataclasses import dataclass, field

import numpy as np
import pytest

from krait import cuda, prange
from krait import _testing
from krait.prelude.intrinsics import core_spreads

F1, F2 = "array(float64, 1, C)", "array(float64, 2, C)"


@dataclass
class Case:
    function: object  # or typed IR, of what the pipeline makes in few programs
    types: list = ()
    how: dict = field(default_factory=dict)  # keywords of _testing.stage


def total(x):
    s = 0.0
    for i in prange(x.size):
        s += x[i]
    return s


def chosen_sum(x):
    s = 0.0
    for i in prange(x.size):
        if x[i] > 1.0:
            s -= x[i]
    return s


WEIGHTS = [1.0, 2.0]


def weight(i):
    return WEIGHTS[i]


def weighted(n):
    return len(WEIGHTS) * weight(n)


CHOSEN_TEXT = """\
func f(c: bool) -> None {
b0:
  %1 = const "a"
  %2 = const "b"
  branch %0, b1, b2
b1:
  jump b2
b2:
  %3: str = phi b0 %1, b1 %2
  %4: exc#1(str) = tuple %3
  raise %4
}
"""
LARGE_BLOCK = """\
func k() -> None {
b0:
  %0 = const 8192
  %1 = const dtype(float64)
  %2: array(float64, 1, C) = call_func[krait.cuda.shared.array] %0, %1
  %3 = const None
  return %3
}
"""
TWO_WAYS_BACK = """\
func f(n: int) -> int {
b0:
  %1 = const 0
  jump b1
b1:
  %2 i: int = phi b0 %1, b3 %5, b4 %6
  %3: bool = lt %2, %0
  branch %3, b2, b5
b2:
  %4: bool = gt %2, %1
  branch %4, b3, b4
b3:
  %5: int = add %2, %2
  jump b1
b4:
  %6: int = sub %2, %0
  jump b1
b5:
  return %2
}
"""
TWO_TESTS = """\
func f(i: int, j: int) -> int {
b0:
  %2 = const 10
  %3: bool = lt %0, %2
  branch %3, b1, b2
b1:
  %4: bool = lt %1, %2
  branch %4, b3, b2
b2:
  return %0
b3:
  return %1
}
"""


def size(x):
    return np.size(x)


def first_two(n):
    numbers = iter(range(n))
    a = next(numbers)
    for b in numbers:
        return a + b
    return a


def expression(x, y):
    return x * y + 1.0


def length(a, b, c):
    v = np.array((a, b, c))
    return np.sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2])


def doubled(x, y):
    for i in range(x.size):
        y[i] = x[i] * 2.0


def inside(x, y):
    i, j = cuda.grid(2)
    if i < x.shape[0] and j < x.shape[1]:
        y[i, j] = x[i, j]


def row_sum(x, out):
    i = cuda.grid(1)
    s = 0.0
    for k in range(x.shape[1]):
        s += x[i, k]
    out[i] = s


def weights(x, out):
    i = cuda.grid(1)
    part = cuda.local.array(4, np.float64)
    for k in range(4):
        part[k] = x[i + k]
    out[i] = part[0] * part[3]


@cuda.jit(device=True)
def pair(v):
    made = cuda.local.array(2, np.float64)
    made[0] = v
    return made


def paired(out):
    out[0] = pair(2.0)[0]


def store(x, i):
    x[i] = 1.0


def stored(x, n):
    store(x, n)
    return n // 2


def fill(x, value):
    x[:] = value
    return x


def countdown(n):
    while n > 0:
        n -= 1
    return n


def fibonacci(n):
    if n < 2:
        return n
    return fibonacci(n - 1) + fibonacci(n - 2)


def squares(n):
    x = np.empty(n)
    x[0] = 1.0
    return x[0]


def block_sums(x, sums):
    shared = cuda.shared.array(128, np.float64)
    place, i = cuda.threadIdx.x, cuda.grid(1)
    mine = x[i] * 2
    shared[place] = mine
    cuda.syncthreads()
    step = 64
    while step > 0:
        if place < step:
            shared[place] += shared[place + step]
        cuda.syncthreads()
        step //= 2
    sums[i] = shared[0] - mine


def core(x, out):
    for i in range(1, x.size, 2):
        out[i] = x[i] * 2


def rows(x, out):
    lane, place = cuda.grid(2)
    if lane == 0 or core_spreads():
        core(x[place], out[place])


KERNEL, GPU = {"kernel": True}, {"target": "nvptx"}
CASES = {
    "captures": Case(weighted, ["int"]),
    "parallel": Case(total, [F1], {"parallel": 1}),
    "core_loops": Case(rows, [F2, F2], KERNEL),
    "raises": Case(CHOSEN_TEXT),
    "shared": Case(LARGE_BLOCK),
    "local_arrays": Case(paired, [F1], GPU),
    "inlining": Case(size, [F1]),
    "iterators": Case(first_two, ["int"]),
    "fusion": Case(expression, [F1, F1]),
    "spread": Case(expression, [F1, F1], {"parallel": 7}),
    "small_arrays": Case(length, ["float", "float", "float"]),
    "latches": Case(TWO_WAYS_BACK),
    "conditional_sums": Case(chosen_sum, [F1], {"parallel": 1}),
    "intervals": Case(doubled, [F1, F1]),
    "join_tests": Case(TWO_TESTS),
    "versions": Case(doubled, [F1, F1]),
    "barriers": Case(block_sums, [F1, F1], KERNEL),
    "effects": Case(stored, [F1, "int"]),
    "loops": Case(row_sum, [F2, F1], KERNEL),
    "lay_out": Case(weights, [F1, F1], GPU),
    "unroll": Case(row_sum, [F2, F1], GPU),
    "thread_order": Case(inside, [F2, F2], KERNEL),
    "written": Case(stored, [F1, "int"]),
    "looks": Case(fill, [F1, "float"]),
    "safepoints": Case(countdown, ["int"]),
    "recursion": Case(fibonacci, ["int"]),
    "ownership": Case(squares, ["int"]),
}
ROWS = _testing.passes()
TARGETS = {"host": 1, "kernel": 2, "gpu": 4}


def numberless(text):
    return re.sub(r"#\d+", "#N", text).splitlines()  # numbers of objects and functions depend on what ran before


def stage(case, name):
    return numberless(_testing.stage(case.function, case.types, name, **case.how))


def before(case, name):
    """The stage that the pass finds: the last row above it that its target has, or the typed IR."""
    bit = TARGETS["gpu" if case.how.get("target") == "nvptx" else "kernel" if case.how.get("kernel") else "host"]
    names = [row for row, _, targets, _ in ROWS if targets & bit]
    assert name in names, "the case is for a target that the pass leaves out"
    return names[names.index(name) - 1] if names.index(name) else "typed"


def outcome(case, name):
    """The text before the pass, and after it or with what it says where it refuses."""
    if not isinstance(case.function, str):
        return stage(case, before(case, name)), stage(case, name)
    found = numberless(case.function)
    try:
        return found, numberless(_testing.run_pass(name, case.function))
    except ValueError as refusal:
        return found, [*found, str(refusal).splitlines()[0]]


@pytest.mark.parametrize("name", [name for name, *_ in ROWS])
def test_golden(name, golden):
    assert name in CASES, "a pass without golden text: write a case, make it with --update-golden, then read it"
    difference = [line.rstrip() for line in difflib.ndiff(*outcome(CASES[name], name)) if not line.startswith("?")]
    assert any(line.startswith(("+", "-")) for line in difference), "the pass does nothing here"
    golden("\n".join(difference) + "\n", f"passes/{name}.ir")
