"""The programs of examples/numpy_programs.py give what the interpreter gives, whatever else `make demo` shows."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples"))
import numpy_programs  # noqa: E402


def _small(value):
    """An argument of the demo cut to what the interpreter does in a moment."""
    if isinstance(value, int):
        return min(value, 2000)
    return np.ascontiguousarray(value[tuple(slice(40) if extent > 40 else slice(None) for extent in value.shape)])


@pytest.mark.parametrize("name, function, arguments", numpy_programs.programs(), ids=lambda value: str(value)[:24])
def test_program(name, function, arguments):
    small = [_small(value) for value in arguments]
    if function is numpy_programs.rolling_mean:
        small[1] = 7
    kept = [np.array(value) for value in small]
    results = []
    for called in (function, function.py_func):
        np.random.seed(5)
        results.append(called(*small))
    assert numpy_programs.same(*results)
    assert all(np.array_equal(value, old) for value, old in zip(small, kept))


@pytest.mark.parametrize("program", ["cupy_program.py", "torch_operation.py"])
def test_programs_with_other_libraries_run_or_say_what_is_missing(program):
    path = Path(__file__).resolve().parents[2] / "examples" / program
    result = subprocess.run([sys.executable, path], capture_output=True, text=True, timeout=300)
    assert result.returncode == 0 and result.stdout.count("\n") == 1, result.stderr
