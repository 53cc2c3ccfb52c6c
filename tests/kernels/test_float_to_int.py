"""Numbers that a kernel makes of floats: as the interpreter's, of which 64 bits are kept, on either device."""

import math

import numpy as np
import pytest

from assembler import assemble

from krait import cuda, types

KINDS = {"floor": math.floor, "ceil": math.ceil, "trunc": math.trunc, "round": round}


@cuda.jit
def convert(x, down, up, cut, near):
    i = cuda.grid(1)
    if i < x.size:
        down[i] = math.floor(x[i])
        up[i] = math.ceil(x[i])
        cut[i] = math.trunc(x[i])
        near[i] = round(x[i])


def numbers(dtype, rng):
    small = [0.0, -0.0, 0.5, 1.5, 2.5, -0.5, -1.5, 0.49999997, 2**31 - 1, 2**31, -(2**31), 2**32, 1e-40]
    large = [k * 2.0**e for k in (-3, -2, -1, 1, 2, 3, 5) for e in (51, 61, 62, 63, 64, 65, 90)]
    drawn = rng.uniform(-2, 2, 400) * 2.0 ** rng.integers(-3, 100, 400)
    return np.concatenate([small, large, drawn]).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_as_the_interpreter(dtype, rng):
    x = numbers(dtype, rng)
    results = [np.zeros(x.size, np.int64) for _ in KINDS]
    convert[(x.size + 127) // 128, 128](x, *results)
    for (name, function), got in zip(KINDS.items(), results, strict=True):
        expected = [(function(float(value)) + 2**63) % 2**64 - 2**63 for value in x]
        assert got.tolist() == expected, name


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_what_is_no_number_is_0(dtype):
    x = np.array([np.nan, np.inf, -np.inf], dtype)
    results = [np.ones(x.size, np.int64) for _ in KINDS]
    convert[1, 32](x, *results)
    assert not np.any(results)


@pytest.mark.parametrize("option", ["check", "debug"])
@pytest.mark.parametrize("function", ["int", "round", "math.floor", "math.ceil", "math.trunc"])
def test_checked_kernels_raise_where_no_int_is_right(option, function):
    """Unchecked ones have no exceptions: int(x) gives there what the device converts to."""
    space = {"math": math}
    exec(f"def kernel(x, out):\n    out[0] = {function}(x[0])\n", space)
    kernel, out = cuda.jit(**{option: True})(space["kernel"]), np.zeros(1, np.int64)
    for value, error in ((1e19, OverflowError), (-1e300, OverflowError), (np.inf, OverflowError), (np.nan, ValueError)):
        with pytest.raises(error, match="cannot convert float"):
            kernel[1, 1](np.array([value]), out)
    kernel[1, 1](np.array([-(2.0**63)]), out)
    assert out[0] == -(2**63)
    cuda.jit(space["kernel"])[1, 1](np.array([1e19]), out)


@cuda.jit
def convert_low(x, down, up, cut, near):
    i = cuda.grid(1)
    if i < x.size:
        down[i] = np.int32(math.floor(x[i]))
        up[i] = np.uint32(math.ceil(x[i]))
        cut[i] = np.int16(math.trunc(x[i]))
        near[i] = np.uint8(round(x[i]))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_narrow_integers_keep_the_lower_bits(dtype, rng):
    x = np.concatenate([numbers(dtype, rng), [np.nan, np.inf, -np.inf, np.finfo(dtype).max]]).astype(dtype)
    results = [np.ones(x.size, kind) for kind in (np.int32, np.uint32, np.int16, np.uint8)]
    convert_low[(x.size + 127) // 128, 128](x, *results)
    for function, got in zip(KINDS.values(), results, strict=True):
        whole = [function(float(value)) if np.isfinite(value) else 0 for value in x]
        assert got.tolist() == np.array([value % 2**64 for value in whole], np.uint64).astype(got.dtype).tolist()


def test_a_narrow_integer_is_not_made_of_a_wide_one(optimised):
    def pixel(x, y, out):
        x0, y0 = np.int32(math.floor(x[0])), np.int32(math.floor(y[0]))
        if 0 <= x0 < out.shape[1] and 0 <= y0 < out.shape[0]:
            out[y0, x0] = 1

    signature = types.void(types.float32[::1], types.float32[::1], types.float32[:, ::1])
    ptx, _ = cuda.compile_ptx(pixel, signature, cc=(9, 0))
    assert ptx.count("cvt.rmi.s64.f32") == 2 and "fma.rm" not in ptx and "cvt.rmi.f32.f32" not in ptx
    assert "and.b64" not in ptx
    assemble(ptx, 90)
