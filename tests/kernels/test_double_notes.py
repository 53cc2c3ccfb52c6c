"""fp64='warn': a kernel's operations in float64 are named, each with its line."""

import math
import warnings

import numpy as np
import pytest

from krait import cuda, errors


def told(kernel, *args):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        kernel[1, 1](*args)
    first = kernel.py_func.__code__.co_firstlineno
    assert all(w.category is errors.KraitWarning and w.filename == __file__ for w in caught)
    return [(w.lineno - first, str(w.message)) for w in caught]


def helper(x):
    return x / 3.0


def test_each_double_operation_is_named_with_its_line():
    @cuda.jit(fp64="warn")
    def kernel(out, x, scale):
        i = cuda.grid(1)
        single = x[i] * 2.0 + np.float32(1)
        out[i] = single * scale
        if scale > 1.0:
            out[i] += math.sin(scale) - i

    assert told(kernel, np.ones(1, np.float32), np.ones(1, np.float32), np.float64(2)) == [
        (4, "kernel computes in float64: `x * y` of `single` (float32) and `scale` (float64)"),
        (4, "kernel computes in float64: the conversion to float32 of float64"),
        (5, "kernel computes in float64: `x > y` of `scale` (float64) and 1.0"),
        (6, "kernel computes in float64: `math.sin` of `scale` (float64)"),
        # math.sin gives a Python float, which adapts to the float32 that it is added to
        (6, "kernel computes in float64: `x - y` of float and `i` (int)"),
        (6, "kernel computes in float64: the conversion to float32 of float"),
    ]


def test_functions_that_it_calls_are_named_too():
    @cuda.jit(fp64="warn")
    def kernel(out):
        out[0] = helper(out[0]) + np.floor(out[0])

    lines = told(kernel, np.ones(1))
    texts = [text for _, text in lines]
    assert "helper computes in float64: `x / y` of `x` (float64) and 3.0" in texts
    assert [line for line, text in lines if text.startswith("kernel")] == [2, 2]


def test_float32_is_silent_and_so_are_loads_and_stores_of_doubles():
    @cuda.jit(fp64="warn")
    def kernel(out, x, wide):
        i = cuda.grid(1)
        out[i] = math.sqrt(x[i]) * 0.5 + i % 3
        wide[0] = wide[1]

    assert told(kernel, np.ones(1, np.float32), np.ones(1, np.float32), np.ones(2)) == []


def test_it_is_silent_unless_asked_and_takes_warn_alone():
    @cuda.jit
    def kernel(out):
        out[0] *= 3.0

    assert told(kernel, np.ones(1)) == []
    with pytest.raises(TypeError, match="option fp64 is 'warn' or None, not True"):
        cuda.jit(fp64=True)(kernel.py_func)
