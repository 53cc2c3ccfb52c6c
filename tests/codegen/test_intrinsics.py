"""What LLVM makes of library functions: every one, in every float type, with and without fast math, for every target,
becomes code; and what a back end could not select is refused before it is asked."""

import math

import numpy as np
import pytest
from assembler import assemble

from krait import _testing, cuda

ROWS = [row for row in _testing.functions() if row["library"] in ("math", "NumPy", "Built-in functions")]
CUDA_ROWS = [row for row in _testing.functions() if row["key"] in ("CUDA_FMA", "CUDA_CBRT")]
DTYPES = ["float16", "float32", "float64"]
CAPABILITIES = [50, 75, 90]
ALL_FLAGS = 127
NUMBERS = {"bool", "int", "float", "complex", *map(str, map(np.dtype, "?bhilBHILefdFD"))}  # types of results
SKIPPED = {"numpy.ldexp", "numpy.gcd", "numpy.lcm", "numpy.invert", "numpy.bitwise_count"}


def module_of(name):
    return {"math": math, "numpy": np}.get(name.split(".")[0])


def calls(dtype):
    """Calls of each function that takes that many floats, by name."""
    found = {}
    for row in ROWS + CUDA_ROWS:
        name = (row["names"].split() or [""])[0]
        count = row["least"]
        bare = name.removeprefix("builtins.").removeprefix("krait.")
        if not name or count > 3 or name in SKIPPED or count == 0:
            continue
        call = f"{bare}({', '.join('xyz'[:count])})"
        source = f"def f(x, y, z):\n    return {call}\n"
        namespace = {"math": math, "numpy": np, "cuda": cuda}
        exec(source, namespace)
        try:
            result = _testing.stage(namespace["f"], [dtype] * 3, "typed", kernel=True).split("{")[0].rsplit("->", 1)[1]
        except Exception:  # it takes no floats, or not these, or this interpreter does not have it
            continue
        if result.strip() in NUMBERS:
            found[name] = call
    return found


CALLS = {dtype: calls(dtype) for dtype in DTYPES}


def kernel_of(dtype):
    lines = [f"        out[{i}] = {call}" for i, call in enumerate(CALLS[dtype].values())]
    head = "def kernel(a, out):\n    i = cuda.grid(1)\n    if i < a.size - 2:\n"
    source = head + "        x, y, z = a[i], a[i + 1], a[i + 2]\n"
    namespace = {"math": math, "numpy": np, "cuda": cuda}
    exec(source + "\n".join(lines) + "\n", namespace)
    return namespace["kernel"], [f"array({dtype}, 1, C)", "array(float64, 1, C)"]


def test_the_calls_are_many():
    assert all(len(CALLS[dtype]) > 70 for dtype in DTYPES), {dtype: len(CALLS[dtype]) for dtype in DTYPES}


@pytest.mark.parametrize("flags", [0, ALL_FLAGS])
@pytest.mark.parametrize("capability", CAPABILITIES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_a_gpu_has_every_function(dtype, capability, flags):
    kernel, types = kernel_of(dtype)
    ptx = _testing.stage(kernel, types, "ptx", target="nvptx", capability=capability, fastmath=flags)
    if not assemble(ptx, capability):
        pytest.skip("ptxas is not here")


@pytest.mark.parametrize("flags", [0, ALL_FLAGS])
@pytest.mark.parametrize("dtype", DTYPES)
def test_the_host_has_every_function(dtype, flags):
    kernel, types = kernel_of(dtype)
    assert _testing.stage(kernel, types, "asm", kernel=True, fastmath=flags)


@pytest.mark.parametrize("capability", [50, 75, 90])
def test_tanh_is_approximated_where_the_gpu_can(capability):
    def kernel(a):
        a[0] = math.tanh(a[0])

    for flags in (0, ALL_FLAGS):
        options = {"target": "nvptx", "capability": capability, "fastmath": flags}
        ptx = _testing.stage(kernel, ["array(float32, 1, C)"], "ptx", **options)
        assert ("tanh.approx.f32" in ptx) == (flags == ALL_FLAGS and capability >= 75)
