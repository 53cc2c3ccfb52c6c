"""The device math library that the build embeds (libdevice, or libclc): every elementary function of the tables.

Each is compiled to PTX for both widths: nothing may be left for the driver to find.  On a GPU the values are compared
with the interpreter's.  `make test` runs this file against both libraries.
"""

import importlib
import math

import numpy as np
import pytest
from assembler import assemble

from krait import cuda
from krait import _testing

pytestmark = pytest.mark.device_math

LIMIT_ULP = 16  # what OpenCL asks for of the least accurate functions, and what a float needs to be good for anything
CAPABILITY = 90


def functions():
    """(dotted name, number of arguments) of every name that an elementary function of the tables answers to here."""
    found = {}
    for row in _testing.functions():
        if row["how"] != "EXTERN":
            continue
        for name in row["names"].split():
            module, _, attribute = name.rpartition(".")
            if module in ("math", "numpy") and hasattr(importlib.import_module(module), attribute):
                found[name] = row["least"]
    return sorted(found.items())


FUNCTIONS = functions()
TYPES = ["float32", "float64"]


def make_kernel(names):
    """A kernel that writes f(x) or f(x, y), element by element, for each function into a row of `out`."""
    rows = []
    for row, (name, arguments) in enumerate(names):
        rows.append(f"        out[{row}, i] = {name}({'x[i], y[i]' if arguments == 2 else 'x[i]'})")
    source = "def kernel(x, y, out):\n    i = cuda.grid(1)\n    if i < x.size:\n" + "\n".join(rows) + "\n"
    namespace = {"math": math, "numpy": np, "cuda": cuda}
    exec(compile(source, "kernel of all functions", "exec"), namespace)
    return namespace["kernel"]


def compile_to_ptx(names, dtype):
    types = f"array({dtype}, 1, C); array({dtype}, 1, C); array({dtype}, 2, C)"
    return _testing.compile(make_kernel(names), types, capability=CAPABILITY)


def test_the_tables_have_elementary_functions():
    assert {"math.sin", "math.exp", "math.pow", "numpy.arctan2"} <= {name for name, _ in FUNCTIONS}


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("function", FUNCTIONS, ids=[name for name, _ in FUNCTIONS])
def test_nothing_is_left_to_be_found(function, dtype):
    text = compile_to_ptx([function], dtype)
    assert ".extern" not in text
    assert "nvvm_reflect" not in text
    if dtype == "float32" and function[0].startswith("numpy."):
        assert "st.global.b64" not in text and "st.global.f64" not in text  # it stays in the elements' type


@pytest.mark.parametrize("dtype", TYPES)
def test_ptxas_accepts_all_of_them(dtype):
    if not assemble(compile_to_ptx(FUNCTIONS, dtype), CAPABILITY, "-O1"):
        pytest.skip(f"no ptxas that knows sm_{CAPABILITY}")


# ---- values, on a GPU ------------------------------------------------------------------------------------------------


def samples(dtype):
    """Ordinary numbers of every size, both zeros, infinities, NaN, subnormals, and the ends of the range."""
    info = np.finfo(dtype)
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 0.5, 2.0, info.smallest_subnormal, info.tiny / 4,
               info.tiny, info.max, -info.max, info.eps, 1 + info.eps]
    rng = np.random.default_rng(22)
    spread = rng.uniform(-1, 1, 400) * 10.0 ** rng.integers(-30, 5, 400)
    near = rng.uniform(-20, 20, 600)
    unit = rng.uniform(-1, 1, 600)
    return np.concatenate([special, spread, near, unit]).astype(dtype)


def expected(name, arguments, x, y):
    """f in double precision; NaN where `math` refuses, an infinity where it overflows."""
    module, _, attribute = name.rpartition(".")
    function = getattr(importlib.import_module(module), attribute)
    if module == "numpy":
        with np.errstate(all="ignore"):
            return function(*[a.astype(np.float64) for a in (x, y)[:arguments]])
    values = []
    for pair in zip(x.tolist(), y.tolist()):
        try:
            values.append(function(*pair[:arguments]))
        except ValueError:
            values.append(np.nan)
        except OverflowError:  # which infinity, NumPy knows
            with np.errstate(all="ignore"):
                values.append(getattr(np, attribute, lambda *pair: np.inf)(*pair[:arguments]))
    return np.array(values)


def ulps(got, want):
    """The distance in units of the last place of `got`; zero where both are the same, or special alike."""
    with np.errstate(all="ignore"):
        rounded = want.astype(got.dtype)
        # the spacing of the type at `want`; the smallest subnormal at zero
        unit = np.abs(np.spacing(np.where(np.isfinite(rounded), rounded, got.dtype.type(1)))).astype(np.float64)
        distance = np.abs(got.astype(np.float64) - want) / unit
    same = (got == rounded) | (np.isnan(got) & np.isnan(rounded))
    largest = np.finfo(got.dtype).max  # infinity is the next number: one step, where the sign is the same
    both_huge = (np.isinf(rounded) & (np.abs(got) == largest)) | (np.isinf(got) & (np.abs(rounded) == largest))
    both_huge &= np.signbit(got) == np.signbit(rounded)
    return np.where(same | both_huge, 0.0, np.where(np.isfinite(distance), distance, np.inf))


def is_pole(name, x):
    """Where `math` refuses or NumPy gives another infinity than C does: the library's answer is as good."""
    if name in ("math.gamma", "math.lgamma"):
        # near the negative integers and the zeros of lgamma the relative error of every library is unbounded
        return (x <= 0) | ((x > 0.9) & (x < 1.1)) | ((x > 1.9) & (x < 2.1)) | ~np.isfinite(x)
    if name in ("math.log", "math.log2", "math.log10", "math.log1p", "math.atanh"):
        return (x == 0) | (np.abs(x) == 1)
    if name in ("math.sin", "math.cos", "math.tan"):
        return ~np.isfinite(x)
    return np.zeros(x.shape, bool)


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("function", FUNCTIONS, ids=[name for name, _ in FUNCTIONS])
def test_values(function, dtype):
    name, arguments = function
    x = samples(dtype)
    y = np.roll(x, 7) if arguments == 2 else x
    out = np.zeros((1, x.size), dtype)
    cuda.jit(make_kernel([function]))[(x.size + 127) // 128, 128](x, y, out)
    want = expected(name, arguments, x, y)
    error = ulps(out[0], want)
    if arguments == 2:
        # math refuses what C gives an infinity or NaN for: values are compared where it answers
        error = np.where(np.isfinite(want), error, 0.0)
    error[is_pole(name, x)] = 0.0
    worst = int(np.argmax(error))
    assert error[worst] <= LIMIT_ULP, (
        f"{name}({x[worst]!r}, {y[worst]!r}) = {out[0, worst]!r}, not {want[worst]!r}: {error[worst]:.1f} ULP")


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", TYPES)
def test_a_sine_and_a_cosine_of_one_angle_have_the_bits_of_each_alone(dtype):
    sine, cosine = ("numpy.sin", 1), ("numpy.cos", 1)
    x = samples(dtype)
    found = []
    for names in ([sine, cosine], [cosine, sine], [sine], [cosine]):
        out = np.zeros((len(names), x.size), dtype)
        cuda.jit(make_kernel(names))[(x.size + 127) // 128, 128](x, x, out)
        found.append([row.tobytes() for row in out])
    assert found[0] == found[2] + found[3] and found[1] == found[3] + found[2]
