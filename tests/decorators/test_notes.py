"""KRAIT_NOTES=1: sums that accumulate in narrow integers are named with file, line and types; nothing else is."""

import os
import subprocess
import sys

import pytest

PROGRAM = """
import numpy as np
from krait import cuda, njit

@njit{option}
def total(a):
    s = 0
    for x in a:
        s += x                      # line 9
    return s

@njit{option}
def dot(a, b):
    s = a[0] * b[0]
    for i in range(1, a.size):
        if a[i] > 0:
            s = s + a[i] * b[i]     # line 17
    return s

@njit{option}
def fine(a):
    wide = 0
    product = 1.0
    n = np.int32(0)
    for x in a:
        wide += int(x)
        product *= x
        n += 1
        y = x + x
    return wide, product, n, y

@cuda.jit{option}
def kernel(a, out):
    s = np.uint16(0)
    for i in range(a.size):
        s += a[i]                   # line 36
    out[0] = s

small, medium, large = np.ones(4, np.uint8), np.ones(4, np.int32), np.ones(4, np.int64)
total(small)
total(large)
total(np.ones(4, np.float32))
dot(medium, medium)
fine(medium)
kernel[1, 1](small, large)
"""

NOTES = [
    "{file}:9: in total: `s` (uint8 + uint8) wraps at 8 bits",
    "{file}:17: in dot: `s` (int32 + int32) wraps at 32 bits",
    "{file}:36: in kernel: `s` (uint16 + uint16) wraps at 16 bits",
]


def notes(tmp_path, option="", wanted="1"):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM.format(option=option))
    env = {**os.environ, "KRAIT_NOTES": wanted, "KRAIT_CUDA_DEVICE": "cpu"}
    run = subprocess.run([sys.executable, program], capture_output=True, text=True, env=env, timeout=120)
    assert run.returncode == 0, run.stderr
    return [line for line in run.stderr.splitlines() if "krait: note:" in line], program


def test_narrow_sums_are_named(tmp_path):
    lines, program = notes(tmp_path)
    hint = ": convert with int(), or take promotion='numba'"
    assert lines == ["krait: note: " + note.format(file=program) + hint for note in NOTES]


@pytest.mark.parametrize(("option", "wanted"), [("", "0"), ("", ""), ('(promotion="numba")', "1")])
def test_nothing_is_said(tmp_path, option, wanted):
    assert notes(tmp_path, option, wanted)[0] == []
