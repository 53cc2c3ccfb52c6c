"""numba_names.txt read: which names of numba.cuda there are, and a kernel, an object or an option for each.

Given: the text's sections.  Gives: the kernels of test_numba_names.py, and the rows of docs/reference/numba-cuda.md.
"""

import functools
import math
import cmath
import operator
from operator import attrgetter
from pathlib import Path

import numpy as np

import krait
from krait import cuda, float32, int32, literal_unroll


TEXT = Path(__file__).with_name("numba_names.txt")
TABLE = np.arange(4, dtype=np.float32)
FIRST_DAY, DAY = np.datetime64("2020-01-01"), np.datetime64("2020-01-02")


@cuda.jit(device=True)
def sum_of(values):
    total = 0
    for value in literal_unroll(values):
        total += value
    return total


@cuda.jit(device=True)
def refuse(m):
    if m < 0:
        raise ValueError("negative")
    return m


def sections():
    """[(heading, kind, [(name, code, there)])]: kind "code" (lines of a kernel), "|" (attributes) or "=" (options)."""
    found = []
    for line in TEXT.read_text().splitlines():
        if line.startswith("# "):
            kind = line[-1] if line[-1] in "|=" else "code"
            found.append((line[2:].rstrip(" |="), kind, []))
        elif found and line:
            name, _, code = line.removeprefix("- ").partition(": ")
            names = [(f"{name}.{word}", word) for word in code.split()] if found[-1][1] == "|" else [(name, code)]
            found[-1][2].extend((name, code, not line.startswith("- ")) for name, code in names)
    return found


def kernel(lines):
    """The Python function of a kernel of these lines."""
    space = {"cuda": cuda, "np": np, "math": math, "cmath": cmath, "operator": operator, "float32": float32,
             "int32": int32, "TABLE": TABLE, "DAY": DAY, "FIRST_DAY": FIRST_DAY, "sum_of": sum_of, "refuse": refuse}
    body = "".join(f"    {line}\n" for line in lines)
    exec(f"def tried(x, y, d, n, u, w, h, c, z, m, state):\n{body}", space)
    return space["tried"]


def arguments():
    """What the parameters stand for: 32 elements each."""
    kinds = (np.float32, np.float32, np.float64, np.int32, np.uint32, np.uint64, np.float16, np.complex64, np.bool_)
    return (*(np.ones(32, kind) for kind in kinds), np.int32(1), np.zeros(32, cuda.random.xoroshiro128p_dtype))


def ptx(lines, cc=(9, 0)):
    """What a kernel of these lines is on a GPU; none is needed."""
    return cuda.compile_ptx(kernel(lines), tuple(krait.typeof(value) for value in arguments()), cc=cc)[0]


def with_option(code):
    """A kernel, or a device function, decorated with an option."""
    def tried(x):
        x[0] = 1

    return eval(f"cuda.jit({code})(tried)", {"cuda": cuda, "tried": tried})


@functools.cache
def overload():
    """What `kernel.overloads` has of a signature; its class has no name."""
    return next(iter(cuda.jit("void(float32[:])")(lambda x: None).overloads.values()))


def is_there(name):
    """Whether krait, or with `overload.` before it a compiled kernel, has the attribute `name`, dotted."""
    owner, name = (overload(), name.removeprefix("overload.")) if name.startswith("overload.") else (krait, name)
    try:
        attrgetter(name)(owner)
    except AttributeError:
        return False
    return True
