"""Where loads stand in PTX, in how many bits places are computed, and numbers converted.

PYTEST_DONT_REWRITE: kernels are taken as they are written.
"""

import re
import sys

import numpy as np
import pytest
from assembler import assemble
from conftest import ROOT

from krait import _testing, cuda, typeof

sys.path.insert(0, str(ROOT / "benchmarks"))
from kernels import families  # noqa: E402

F1, F2, I1, I2 = (f"array({dtype}, {ndim}, C)" for dtype in ("float32", "int32") for ndim in (1, 2))


def lines_of(kernel, types):
    text = _testing.compile(kernel, types, capability=90)
    assemble(text, 90)
    return [line.strip() for line in text.splitlines()]


def places(lines, *starts):
    return [[at for at, line in enumerate(lines) if line.startswith(start)] for start in starts]


def quotients(a, width, out):
    i = cuda.grid(1)
    if i < a.shape[0]:
        out[i] = a[i, 0] / width + a[i, 1] / width + math_of(a[i, 2] / width)


@cuda.jit(device=True)
def math_of(x):
    return x * x


def written_between(a, width, out):
    i = cuda.grid(1)
    out[i] = a[i] / width
    out[i + 1] = out[a.size - 1 - i] / width


def dividing(columns, values, x, y):
    row = cuda.grid(1)
    if row < y.size:
        total = np.float32(0)
        for k in range(columns.shape[0]):
            column = columns[k, row]
            if column >= 0:
                total += values[k, row] / x[column]
        y[row] = total


def skipping(columns, values, x, y):
    row = cuda.grid(1)
    if row < y.size:
        total = np.float32(0)
        for k in range(columns.shape[0]):
            column = columns[k, row]
            if column >= 0:
                total += values[k, row] * x[column]
        y[row] = total


def test_an_if_around_a_few_operations_is_left_to_predicates():
    lines = lines_of(skipping, f"{I2}; {F2}; {F1}; {F1}")
    labels = [line for line in lines if line.startswith(("$L", "ld.global.nc"))]
    most = max(len(loads.split()) for loads in " ".join(line[:2] for line in labels).split("$L"))
    assert most == 2 + 1  # those of an arm, and the next round's own


def following(first, second, x, out):
    i = cuda.grid(1)
    total = x[i]
    if total > 0:
        total = math_of(x[first[i]]) / total
    out[i] = total + second[first[i + 1]]


def test_loads_stand_before_divisions():
    loads, divisions = places(lines_of(quotients, f"{F2}; float32; {F1}"), "ld.global.nc", "div.rn")
    assert len(loads) == len(divisions) == 3
    assert max(loads) < min(divisions)


def test_a_load_stays_behind_a_store_to_its_array():
    loads, stores = places(lines_of(written_between, f"{F1}; float32; {F1}"), "ld.global.b32", "st.global")
    assert len(loads) == 1 and len(stores) == 2
    assert stores[0] < loads[0] < stores[1]


def test_the_next_rounds_loads_stand_before_an_if():
    lines = lines_of(dividing, f"{I2}; {F2}; {F1}; {F1}")
    tests, loads, labels, branches = places(lines, "setp.lt.s32", "ld.global.nc", "$L", "@")
    first = tests[-4]  # of four rounds that have become one
    start, end = max(at for at in labels if at < first), min(at for at in branches if at > first)
    assert sum(start < at < end for at in loads) == 4
    assert lines.count('.pragma "nounroll";') == 1


def test_a_load_that_another_leads_to_waits_behind_the_if():
    lines = lines_of(following, f"array(uint32, 1, C); {F1}; {F1}; {F1}")
    loads, branches, labels = places(lines, "ld.global.nc", "@", "$L")
    assert len(branches) == len(labels) == 1 and len(loads) == 5
    assert [at < branches[0] for at in loads] == [True, True, False, False, False]  # x[i] and first[i + 1]
    assert sum(at > labels[0] for at in loads) == 1  # second[...]


def asked_twice(values, x, out):
    i = cuda.grid(1)
    total = x[i]
    if total > 0:
        other = math_of(total) / (total + np.float32(1))
        if other < 1:
            total = other / (other + np.float32(3))
    out[i] = total + values[i]


def test_the_load_behind_an_if_in_an_if_stands_before_both():
    loads, branches = places(lines_of(asked_twice, f"{F1}; {F1}; {F1}"), "ld.global.nc", "@")
    assert len(loads) == 2 and len(branches) == 2
    assert max(loads) < min(branches)


def counted(starts, x, out):
    i = cuda.grid(1)
    total = 0.0
    for k in range(starts[i], starts[i + 1], 32):
        total += x[k]
    out[i] = total


def test_rounds_between_numbers_of_32_bits_are_counted_in_32():
    assert not places(lines_of(counted, f"{I1}; {F1}; {F1}"), "setp.lt.s64", "setp.ne.b64", "shr.u64")[0]


def floors(x, out):
    i = cuda.grid(1)
    out[i] = int(x[i]) + int(x[i] / 3)


def test_conversions_have_no_branch():
    branches, = places(lines_of(floors, f"{F1}; {I1}"), "@")
    assert not branches


@pytest.mark.parametrize("family, module", families())
def test_products_of_what_was_extended_are_wide(family, module, optimised):
    for case in module.cases(np.random.default_rng(1)):
        lines = lines_of(case.kernel.py_func, "; ".join(str(typeof(argument)) for argument in case.args))
        made = {}
        for line in lines:
            made.setdefault(re.split(r"[\s,]+", line)[1] if " " in line else "", []).append(line)
        for line in lines:
            found = re.match(r"(shl\.b64|mul\.lo\.s64|mad\.lo\.s64)\s+%rd\d+, (%rd\d+), (\d+)[;,]", line)
            half = found and found[1] == "shl.b64" and int(found[3]) > 30  # the upper half of 64 bits
            ways = made.get(found[2], []) if found and not half else []
            source = re.match(r"cvt\.(u64\.u32|s64\.s32)\s+\S+ (%r\d+);", ways[0]) if len(ways) == 1 else None
            assert not source or len(made.get(source[2], [])) != 1, (case.name, line, ways)
