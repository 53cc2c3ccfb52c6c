"""Import time, and the time from a function to code: each in fresh processes."""

import statistics

from common import Row, child, have

IMPORT = """
import json, time
import numpy
start = time.perf_counter()
import {module}
{more}
print(json.dumps((time.perf_counter() - start) * 1e3))
"""

TO_PTX = """
import os
os.environ["KRAIT_CUDA_DEVICE"] = "cpu"  # the driver's own start is not what is measured

import json, time
import numpy
from krait import cuda
import saxpy
figures = []
for round in range(6):
    kernel = cuda.jit(saxpy.saxpy.py_func)
    start = time.perf_counter()
    ptx = kernel.inspect_ptx("void(float32, float32[::1], float32[::1])", (9, 0))
    figures.append((time.perf_counter() - start) * 1e3)
    assert ".entry" in ptx
print(json.dumps([figures[0], sorted(figures[1:])[2]]))
"""

FIRST_CALL = """
import json, time
import numpy as np
from {module} import njit

@njit
def small(x, n):
    total = 0.0
    for i in range(n):
        total += x * i
    return total

@njit
def other(a, b):
    return a * b - b

start = time.perf_counter()
small(1.5, 10)
first = (time.perf_counter() - start) * 1e3
start = time.perf_counter()
other(1.5, 2.5)
print(json.dumps([first, (time.perf_counter() - start) * 1e3]))
"""


def _median(codes, turns):
    figures = {name: [] for name in codes}
    for _ in range(turns):
        for name, code in codes.items():
            figures[name].append(child(code))
    return {
        name: [statistics.median(v) for v in zip(*values)] if isinstance(values[0], list) else statistics.median(values)
        for name, values in figures.items()
    }


def rows(quick=False):
    turns = 3 if quick else 9
    out = []
    codes = {
        "krait": IMPORT.format(module="krait", more=""),
        "krait.cuda": IMPORT.format(module="krait", more="import krait.cuda"),
    }
    if have("numba"):
        codes["Numba"] = IMPORT.format(module="numba", more="")
    if have("numba") and have("numba_cuda"):
        codes["numba-cuda"] = IMPORT.format(module="numba", more="import numba.cuda")
    got = _median(codes, turns)
    out.append(
        Row(
            "start",
            "import, beyond NumPy",
            "ms",
            got["krait"],
            {n: got[n] for n in ("Numba",) if n in got},
            limit="at most 15",
        )
    )
    out.append(
        Row(
            "start",
            "import with cuda, beyond NumPy",
            "ms",
            got["krait.cuda"],
            {n: got[n] for n in ("numba-cuda",) if n in got},
        )
    )

    first, later = _median({"krait": _with_examples(TO_PTX)}, turns)["krait"]
    out.append(Row("start", "saxpy, bytecode to PTX, first in a process", "ms", first, {}, limit="at most 10"))
    out.append(Row("start", "saxpy, bytecode to PTX, later", "ms", later, {}, limit="at most 5"))

    codes = {"krait": FIRST_CALL.format(module="krait")}
    if have("numba"):
        codes["Numba"] = FIRST_CALL.format(module="numba")
    got = _median(codes, 3 if quick else 5)
    for i, name in enumerate(
        ("first call of a small loop, first in a process", "first call of a small function, later")
    ):
        out.append(Row("start", name, "ms", got["krait"][i], {n: got[n][i] for n in got if n != "krait"}))
    return out


def _with_examples(code):
    from common import HERE

    return f"import sys; sys.path.insert(0, {str(HERE.parent / 'examples')!r})\n" + code
