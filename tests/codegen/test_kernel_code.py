"""The PTX of the kernels of benchmarks/kernels does not grow, and puts nothing more into local memory.

tests/golden/kernels.txt has of each kernel its instructions, the bytes of its local memory and the types it is called
with.  What is shorter, or faster on a GPU though it is longer, is written with --update-golden.
"""

import re
import sys

import numpy as np
import pytest
from conftest import ROOT, TESTS

sys.path.insert(0, str(ROOT / "benchmarks"))
from kernels import FAMILIES, families  # noqa: E402
from krait import _testing, typeof  # noqa: E402

GOLDEN = TESTS / "golden" / "kernels.txt"
SLACK = 1.03, 2  # what other versions of Python's bytecode may bring


def compiled(kernel, types):
    """(instructions, bytes of local memory) of a kernel as a launch on sm_90 compiles it."""
    fast = 127 if kernel.targetoptions.get("fastmath") else 16
    text = _testing.compile(kernel.py_func, types, capability=90, fastmath=fast)
    declared = re.compile(r"^\s*\.(reg|pragma|param|local|shared|global|extern|const)\b")
    instructions = sum(line.count(";") for line in text.splitlines() if not declared.match(line))
    return instructions, sum(map(int, re.findall(r"__local_depot\d+\[(\d+)\]", text.split(".entry", 1)[1])) or [0])


def written():
    return [line.split(None, 4) for line in GOLDEN.read_text().splitlines()]


def update():
    rng, lines = np.random.default_rng(1), []
    for family, module in families():
        for case in module.cases(rng):
            types = "; ".join(str(typeof(argument)) for argument in case.args)
            counts = compiled(case.kernel, types)
            lines.append(f"{family:<20}{case.kernel.py_func.__name__:<20}{counts[0]:>5}{counts[1]:>5}  {types}\n")
    GOLDEN.write_text("".join(lines))


def test_every_kernel_is_written_down(pytestconfig, optimised):
    if pytestconfig.getoption("--update-golden"):
        update()
    names = {(row[0], row[1]) for row in written()}
    assert {row[0] for row in written()} == set(FAMILIES)
    for family, module in families():
        found = {value.py_func.__name__ for value in vars(module).values()
                 if hasattr(value, "targetoptions") and not value.targetoptions.get("device")}
        assert found <= {name for where, name in names if where == family}


def test_no_kernel_grows(optimised):
    modules, grown = dict(families()), []
    for family, name, instructions, local, types in written():
        counts = compiled(getattr(modules[family], name), types)
        assert counts[0] > int(instructions) // 2  # or nothing was counted
        if counts[0] > int(instructions) * SLACK[0] + SLACK[1] or counts[1] > int(local):
            grown.append(f"{name}: {counts[0]} instructions, {counts[1]} bytes; there were {instructions}, {local}")
    assert not grown
