"""cuda.fp8: every code, and rounding against a search among all numbers of the format, on the GPU if there is one."""

import math

import numpy as np
import pytest

from krait import cuda, types
from krait.cuda import fp8

RNG = np.random.default_rng(3)
CODES = np.arange(256, dtype=np.uint8)
FORMATS = {"E4M3": (4, 3, 448.0), "E5M2": (5, 2, 57344.0)}


def number(code, name):
    """The value of a code, by the definition of the format."""
    exponent_bits, kept, largest = FORMATS[name]
    sign, rest = -1 if code & 0x80 else 1, code & 0x7F
    exponent, mantissa = rest >> kept, rest & ((1 << kept) - 1)
    bias = (1 << exponent_bits - 1) - 1
    if name == "E5M2" and exponent == 31:
        return math.nan if mantissa else sign * math.inf
    if name == "E4M3" and rest == 0x7F:
        return math.nan
    if exponent == 0:
        return sign * math.ldexp(mantissa, 1 - bias - kept)
    return sign * math.ldexp((1 << kept) + mantissa, exponent - bias - kept)


def nearest(x, name, saturate):
    largest = FORMATS[name][2]
    if x != x:
        return 0x7F
    finite = [c for c in range(0x7F) if abs(number(c, name)) <= largest]
    code = min(finite, key=lambda c: (abs(number(c, name) - abs(x)), c & 1))
    step = number(finite[-1], name) - number(finite[-2], name)
    # half way to what would be the next number is even there, for the largest code is odd in E5M2
    beyond = largest + step / 2
    if abs(x) > beyond or (abs(x) == beyond and finite[-1] & 1):
        code = finite[-1] if saturate else {"E4M3": 0x7F, "E5M2": 0x7C}[name]
    return code | (0x80 if math.copysign(1, x) < 0 else 0)


def each(call, x, result):
    scope = {"cuda": cuda, "fp8": fp8, "np": np, "types": types}
    exec(f"def kernel(x, out):\n    i = cuda.grid(1)\n    if i < out.size:\n        out[i] = {call}", scope)
    out = np.zeros(len(x), result)
    cuda.jit(scope["kernel"])[(len(x) + 63) // 64, 64](x, out)
    return out


def samples(name):
    exact = [number(c, name) for c in range(256)]
    finite = sorted(v for v in set(exact) if math.isfinite(v))
    middles = [(a + b) / 2 for a, b in zip(finite, finite[1:])]
    largest = FORMATS[name][2]
    some = [*exact, *middles, largest * 1.03, largest * 1.07, largest * 1.2, -largest * 2, 1e30, 1e-30, -0.0]
    near = [math.nextafter(v, d) for v in middles for d in (-math.inf, math.inf)]
    return np.array([*some, *near, *(RNG.normal(size=200) * 50)])


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("saturate", [True, False])
def test_rounds_to_nearest_even(name, saturate):
    wide = samples(name)
    double = each(f"fp8.__nv_cvt_double_to_fp8(x[i], {saturate:d}, fp8.{name})", wide, np.uint8)
    assert double.tolist() == [nearest(v, name, saturate) for v in wide]
    single = wide.astype(np.float32)
    got = each(f"fp8.__nv_cvt_float_to_fp8(x[i], {saturate:d}, fp8.{name})", single, np.uint8)
    assert got.tolist() == [nearest(float(v), name, saturate) for v in single]
    with np.errstate(over="ignore"):
        half = single.astype(np.float16)
    got = each(f"fp8.__nv_cvt_halfraw_to_fp8(x[i], {saturate:d}, fp8.{name})", half.view(np.uint16), np.uint8)
    assert got.tolist() == [nearest(float(v), name, saturate) for v in half]
    bits = (single.view(np.uint32) >> 16).astype(np.uint16)
    brain = (bits.astype(np.uint32) << 16).view(np.float32)
    got = each(f"fp8.__nv_cvt_bfloat16raw_to_fp8(x[i], {saturate:d}, fp8.{name})", bits, np.uint8)
    assert got.tolist() == [nearest(float(v), name, saturate) for v in brain]


@pytest.mark.parametrize("name", FORMATS)
def test_every_code(name):
    wanted = np.array([number(c, name) for c in range(256)])
    np.testing.assert_array_equal(each(f"fp8.{name.lower()}_to_float(x[i])", CODES, np.float32), wanted)
    raw = each(f"fp8.__nv_cvt_fp8_to_halfraw(x[i], fp8.{name})", CODES, np.uint16)
    np.testing.assert_array_equal(raw.view(np.float16), wanted)
    back = each(f"fp8.float_to_{name.lower()}(fp8.{name.lower()}_to_float(x[i]))", CODES, np.uint8)
    kept = np.isfinite(wanted)
    assert back[kept].tolist() == CODES[kept].tolist()


def test_two_at_a_time():
    x = np.array([1.0, -2.5, 1000.0, 0.3], np.float32)
    one = each("fp8.float_to_e4m3(x[i])", x, np.uint8)
    two = each("fp8.__nv_cvt_float2_to_fp8x2(types.float32x2(x[i], x[3 - i]), fp8.SATFINITE, fp8.E4M3)", x, np.uint16)
    assert two.tolist() == [int(a) | int(b) << 8 for a, b in zip(one, one[::-1])]
    assert each("fp8.__nv_cvt_double2_to_fp8x2(types.float64x2(x[i], x[3 - i]), fp8.SATFINITE, fp8.E4M3)", x,
                np.uint16).tolist() == two.tolist()
    halves = x.astype(np.float16).view(np.uint16)
    pair = halves.astype(np.uint32) | halves[::-1].astype(np.uint32) << 16
    assert each("fp8.__nv_cvt_halfraw2_to_fp8x2(x[i], fp8.SATFINITE, fp8.E4M3)", pair, np.uint16).tolist() == [
        int(a) | int(b) << 8 for a, b in zip(*(lambda c: (c, c[::-1]))(each(
            "fp8.__nv_cvt_halfraw_to_fp8(x[i], fp8.SATFINITE, fp8.E4M3)", halves, np.uint8)))]
    brain = (x.view(np.uint32) >> 16).astype(np.uint32)
    codes = each("fp8.__nv_cvt_bfloat16raw2_to_fp8x2(x[i], fp8.SATFINITE, fp8.E5M2)", brain | brain << 16, np.uint16)
    assert (codes & 0xFF).tolist() == (codes >> 8).tolist()
    raw = each("fp8.__nv_cvt_fp8x2_to_halfraw2(x[i], fp8.E4M3)", two, np.uint32)
    assert (raw & 0xFFFF).astype(np.uint16).view(np.float16).tolist() == [1.0, -2.5, 448.0, 0.3125]


def test_powers_of_two():
    x = np.array([1.0, 1.5, -3.0, 2.0**-127, 2.0**-127 * 1.5, 0.0, 3e38, math.inf, math.nan], np.float32)
    down = each("fp8.__nv_cvt_float_to_e8m0(x[i], fp8.SATFINITE, fp8.ROUND_ZERO)", x, np.uint8)
    assert down.tolist() == [127, 127, 128, 0, 0, 0, 254, 254, 255]
    up = each("fp8.__nv_cvt_float_to_e8m0(x[i], fp8.NOSAT, fp8.ROUND_UP)", x, np.uint8)
    assert up.tolist() == [127, 128, 129, 0, 1, 0, 255, 255, 255]
    bits = each("fp8.__nv_cvt_e8m0_to_bf16raw(x[i])", CODES, np.uint16)
    values = (bits.astype(np.uint32) << 16).view(np.float32)
    assert values[:255].tolist() == [2.0 ** (c - 127) for c in range(255)] and math.isnan(values[255])


@cuda.jit
def nearest_codes(out, x):
    for i in range(len(x)):
        out[i, 0], out[i, 1] = fp8.float_to_e4m3(x[i]), fp8.float_to_e5m2(x[i])


def test_a_float64_is_rounded_once():
    """Just beside the middle of two codes, where a float32 would be in the middle."""
    out = np.zeros((6, 2), np.uint8)
    x = np.array([1.0625, 1.1875, 1.0625, 1.125, 1.375, 1.125]) * (1 + np.array([0, -1, 1, 0, -1, 1]) * 2.0**-30)
    nearest_codes[1, 1](out, x)
    np.testing.assert_array_equal(out[:, 0], [0x38, 0x39, 0x39, 0x39, 0x3B, 0x39])
    np.testing.assert_array_equal(out[:, 1], [0x3C, 0x3D, 0x3C, 0x3C, 0x3D, 0x3D])
