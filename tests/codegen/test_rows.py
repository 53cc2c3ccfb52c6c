"""Neighbours in rows that one access takes: which, and what is asked of the arrays for it.

PYTEST_DONT_REWRITE: kernels are taken as they are written.
"""

import re

import pytest
from assembler import assemble

from krait import _testing, cuda


def array(dtype, ndim):
    return f"array({dtype}, {ndim}, C)"


F1, F2, F3 = (array("float32", ndim) for ndim in (1, 2, 3))
D2, I2 = array("float64", 2), array("int32", 2)


def accesses(kernel, types, **options):
    """(loads and stores of several elements, what is asked of the arrays): four bytes are one number of 32 bits"""
    text = _testing.compile(kernel, types, capability=90, **options)
    assemble(text, 90)
    asked = re.search(r"// aligned rows:(.*)", text)
    found = re.findall(r"(ld|st)\.global\S*?\.(v[24])\.\w(\d+)", text)
    if re.match(r"array\((u?int8|bool)", types):
        found += re.findall(r"(ld|st)\.global(?:\.nc)?\.(b)(32).*, \[", text)
    return sorted("".join(parts) for parts in found), asked and [int(word) for word in asked[1].split()]


def quads(x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i, 0] * x[i, 1] + x[i, 2] * x[i, 3]


def loops(x, out):
    i = cuda.grid(1)
    if i < out.shape[0]:
        for k in range(8):
            out[i, k] = x[i, k] * 2


def depths(x, out):
    i, j = cuda.grid(2)
    if i < x.shape[0] and j < x.shape[1]:
        out[i] = x[i, j, 4] * x[i, j, 5] + x[i, j, 6] * x[i, j, 7]


def packed(x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[4 * i] * x[4 * i + 1] + x[4 * i + 2] * x[4 * i + 3]


def steps(x, out):
    i = cuda.grid(1)
    if i < out.size:
        s = out[i]
        for k in range(0, x.shape[1] - 3, 4):
            s += x[i, k] * x[i, k + 1] + x[i, k + 2] * x[i, k + 3]
        out[i] = s


def sixes(x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i, 0] * x[i, 1] + x[i, 2] * x[i, 3] + x[i, 4] * x[i, 5]


def pairs(x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = float(x[i, 0]) * float(x[i, 1])


def fields(x, out):
    i = cuda.grid(1)
    if i < out.size:
        a, b, c, d = float(x[i, 0]), float(x[i, 1]), float(x[i, 2]), float(x[i, 3])
        out[i] = a * b + c * d


def negatives(x, out):
    """LLVM computes with vectors of two and of four here."""
    i = cuda.grid(1)
    if i < out.shape[0]:
        for k in range(8):
            out[i, k] = 100 - x[i, k]


@pytest.mark.parametrize("kernel, types, found, asked", [
    (fields, f"{array('uint8', 2)}; {F1}", ["ldb32"], [4, 0]),
    (fields, f"{array('bool', 2)}; {F1}", ["ldb32"], [4, 0]),
    (fields, f"{array('int16', 2)}; {F1}", ["ldv416"], [8, 0]),
    (fields, f"{array('float16', 2)}; {F1}", ["ldv416"], [8, 0]),
    (pairs, f"{array('uint8', 2)}; {F1}", ["ldv28"], [2, 0]),
    (pairs, f"{array('uint16', 2)}; {F1}", ["ldv216"], [4, 0]),
    (negatives, f"{array('uint8', 2)}; {array('uint8', 2)}", ["ldv232", "stv232"], [8, 8]),
    (negatives, f"{array('int16', 2)}; {array('int16', 2)}", ["ldv432", "stv432"], [16, 16]),
    (negatives, f"{F2}; {F2}", ["ldv432"] * 2 + ["stv432"] * 2, [16, 16]),
    (quads, f"{array('complex64', 2)}; {array('complex64', 1)}", ["ldv432"] * 2 + ["stv232"], [16, 8]),
    (quads, f"{F2}; {F1}", ["ldv432"], [16, 0]),
    (quads, f"{D2}; {array('float64', 1)}", ["ldv264"] * 2, [16, 0]),
    (quads, f"{I2}; {F1}", ["ldv432"], [16, 0]),
    (loops, f"{F2}; {F2}", ["ldv432"] * 2 + ["stv432"] * 2, [16, 16]),
    (depths, f"{F3}; {F1}", ["ldv432"], [16, 0]),
    (packed, f"{F1}; {F1}", ["ldv432"], [16, 0]),
    (steps, f"{F2}; {F1}", ["ldv432"], [16, 0]),
    (sixes, f"{F2}; {F1}", ["ldv232"] * 3, [8, 0]),
])
def test_neighbours_in_rows_are_one_access(kernel, types, found, asked, optimised):
    if kernel is steps:  # a few rounds have become one
        wide, asks = accesses(kernel, types)
        assert set(wide) == set(found) and asks == asked
    else:
        assert accesses(kernel, types) == (found, asked)


def test_what_takes_nothing_for_granted_asks_for_nothing(optimised):
    assert accesses(quads, f"{F2}; {F1}", small=False) == ([], None)


def threes(x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i, 0] * x[i, 1] + x[i, 2]


def late(x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i, 1] * x[i, 2] + x[i, 3] * x[i, 4]


def anywhere(x, out):
    i = cuda.grid(1)
    if i < out.size - 4:
        out[i] = x[i] * x[i + 1] + x[i + 2] * x[i + 3]


def columns(x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[0, i] * x[1, i] + x[2, i] * x[3, i]


@pytest.mark.parametrize("kernel, types", [
    (threes, f"{F2}; {F1}"),
    (late, f"{F2}; {F1}"),
    (anywhere, f"{F1}; {F1}"),
    (columns, f"{F2}; {F1}"),
    (threes, f"{array('uint8', 2)}; {F1}"),
    (late, f"{array('int16', 2)}; {F1}"),
    (anywhere, f"{array('uint8', 1)}; {F1}"),
    (quads, f"array(float32, 2, A); {F1}"),
    (quads, f"array(float32, 2, F); {F1}"),
])
def test_other_neighbours_ask_for_nothing(kernel, types, optimised):
    assert accesses(kernel, types) == ([], None)
