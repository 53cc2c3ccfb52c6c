"""cuda.fp16: every function against NumPy's float16, on the GPU if there is one, else on the host device."""

import numpy as np
import pytest

from krait import cuda
from krait.cuda import fp16

X = np.array([0.5, -1.25, 3.75, 100.0, -0.001, 6e4, 2.5, -2.5, 0.0, np.inf, np.nan], np.float16)
WIDE = np.float64
ONE = {"hneg": np.negative, "habs": np.abs, "hsin": np.sin, "hcos": np.cos, "htanh": np.tanh, "hlog": np.log,
       "htanh_approx": np.tanh,
       "hlog2": np.log2, "hlog10": np.log10, "hexp": np.exp, "hexp2": np.exp2, "hexp10": lambda x: 10.0**x,
       "hsqrt": np.sqrt, "hrsqrt": lambda x: 1 / np.sqrt(x), "hrcp": lambda x: 1 / x, "hfloor": np.floor,
       "hceil": np.ceil, "hrint": np.rint, "htrunc": np.trunc}
TWO = {"hadd": np.add, "hsub": np.subtract, "hmul": np.multiply, "hdiv": np.divide, "hmax": np.fmax, "hmin": np.fmin,
       "heq": np.equal, "hne": lambda x, y: (x < y) | (x > y), "hlt": np.less, "hle": np.less_equal, "hgt": np.greater,
       "hge": np.greater_equal}
ROUNDED = {"hsin", "hcos", "htanh", "htanh_approx", "hlog", "hlog2", "hlog10", "hexp", "hexp2", "hexp10", "hrsqrt"}


def run(name, *columns):
    call = f"fp16.{name}({', '.join(f'x{k}[i]' for k in range(len(columns)))})"
    parameters = ", ".join(f"x{k}" for k in range(len(columns)))
    scope = {"cuda": cuda, "fp16": fp16}
    exec(f"def kernel({parameters}, out):\n    i = cuda.grid(1)\n    if i < out.size:\n        out[i] = {call}", scope)
    out = np.zeros(len(columns[0]), np.float16)
    cuda.jit(scope["kernel"])[(len(out) + 31) // 32, 32](*columns, out)
    return out


def assert_halves(name, got, wanted):
    with np.errstate(all="ignore"):
        wanted = wanted.astype(np.float16)
    if name in ROUNDED:  # computed in float32 and rounded: the last place of a float16 may differ
        np.testing.assert_allclose(got.astype(WIDE), wanted.astype(WIDE), rtol=2e-3, atol=1e-7)
    else:
        np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("name", sorted(ONE))
def test_of_one_number(name):
    with np.errstate(all="ignore"):
        assert_halves(name, run(name, X), ONE[name](X.astype(WIDE)))


@pytest.mark.parametrize("name", sorted(TWO))
def test_of_two_numbers(name):
    x, y = (v.ravel() for v in np.meshgrid(X, X))
    with np.errstate(all="ignore"):
        assert_halves(name, run(name, x, y), TWO[name](x.astype(WIDE), y.astype(WIDE)))


def test_fused():
    x, y = (v.ravel() for v in np.meshgrid(X, X))
    z = np.resize(X, x.size)
    with np.errstate(all="ignore"):
        assert_halves("hfma", run("hfma", x, y, z), x.astype(WIDE) * y.astype(WIDE) + z.astype(WIDE))


def test_results_are_float16():
    @cuda.jit
    def kernel(out):
        out[0] = fp16.hadd(2048.0, 1.0)  # not a float16: half way, to even

    out = np.zeros(1)
    kernel[1, 1](out)
    assert out[0] == 2048


def test_integers_of_few_digits_that_no_float16_holds():
    @cuda.jit
    def kernel(out):
        i = cuda.grid(1)
        out[i, 0] = np.float64(np.float16(cuda.brev(np.uint32(i))))
        out[i, 1] = np.float32(np.float16((i & 7) << 40))

    out = np.ones((64, 2))
    kernel[1, 64](out)
    assert np.array_equal(out[:, 0], np.where(np.arange(64) > 0, np.inf, 0.0))
    assert np.array_equal(out[:, 1], np.where(np.arange(64) % 8 > 0, np.inf, 0.0))
