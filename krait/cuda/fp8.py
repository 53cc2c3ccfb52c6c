"""Conversions of floats of 8 bits in kernels, under CUDA's names; the numbers themselves are uint8.

E4M3 has 4 bits of exponent and 3 of mantissa, no infinity, 448 as its largest number; E5M2 is the upper half of a
float16; E8M0 is a power of two alone.  Everything rounds to nearest even, once, from any type."""

import math as _math

import numpy as _np

from .. import types as _types
from .._krait import cuda_jit as _cuda_jit
from ._halves import add_to as _add_to

_device = _cuda_jit(device=True)
_bfloat16 = _types.bfloat16

NOSAT, SATFINITE = 0, 1  # what is too large becomes infinity (E4M3: NaN), or the largest number
E4M3, E5M2 = 0, 1
ROUND_ZERO, ROUND_UP = 1, 2  # for E8M0, as cudaRoundZero and cudaRoundPosInf are used there

_NAN = 0x7F
# mantissa bits, exponent of the least normal number, code of the largest number, code of what is larger
_FORMATS = ((3, -6, 0x7E, _NAN), (2, -14, 0x7B, 0x7C))


def _encoder(T, bits, mantissa, bias):
    def encode(number, format, saturate):
        kept, least, largest, beyond = format
        x = T(number)
        if x != x:
            return _np.uint8(_NAN)
        magnitude = abs(x)
        exponent = max((int(magnitude.view(bits)) >> mantissa) - bias, least)
        if exponent > 64:
            code = beyond
        else:
            whole = _np.rint(magnitude * T(_math.ldexp(1.0, kept - exponent)))
            code = ((exponent - least) << kept) + int(whole)
        if code > largest:
            code = largest if saturate else beyond
        return _np.uint8(code | (0x80 if _math.copysign(1.0, x) < 0 else 0))

    return _device(encode)


_of_single, _of_double = _encoder(_np.float32, _np.int32, 23, 127), _encoder(_np.float64, _np.int64, 52, 1023)
_of_e4m3, _of_e5m2 = _FORMATS


@_device
def _single(x, saturate, interpretation):
    return _of_single(x, _of_e5m2, saturate) if interpretation == E5M2 else _of_single(x, _of_e4m3, saturate)


@_device
def _double(x, saturate, interpretation):
    return _of_double(x, _of_e5m2, saturate) if interpretation == E5M2 else _of_double(x, _of_e4m3, saturate)


@_device
def _nearest(x, saturate, interpretation):
    if isinstance(x, (float, int, _np.integer)):  # a float32 of it would round before
        return _double(x, saturate, interpretation)
    return _single(x, saturate, interpretation)


@_device
def _to_half(code, interpretation):
    byte = int(_np.uint8(code))
    if interpretation == E5M2:
        return _np.int16(byte << 8 if byte < 0x80 else (byte << 8) - 0x10000).view(_np.float16)
    magnitude = byte & 0x7F
    if magnitude == _NAN:
        return _np.float16(_math.nan)
    number = _np.int16(magnitude << 7).view(_np.float16) * _np.float16(256)
    return -number if byte & 0x80 else number


@_device
def _half_of(bits):
    return _np.uint16(bits).view(_np.float16)


@_device
def _bfloat16_of(bits):
    return _np.uint16(bits).view(_bfloat16)


@_device
def _two(low, high):
    return _np.uint16(int(low) | int(high) << 8)


def _e8m0(x, saturate, rounding):
    bits = int(abs(_np.float32(x)).view(_np.int32))
    if bits > 0x7F800000:
        return _np.uint8(0xFF)
    if bits == 0x7F800000:
        return _np.uint8(0xFE if saturate else 0xFF)
    code, rest = bits >> 23, bits & 0x7FFFFF
    if rounding == ROUND_UP and rest > (0x400000 if code == 0 else 0):
        code += 1
    if code == 0xFF and saturate:
        code = 0xFE
    return _np.uint8(code)


def _e8m0_to_bfloat16(code):
    byte = int(_np.uint8(code))
    return _np.uint16(0x7FFF if byte == 0xFF else 0x40 if byte == 0 else byte << 7)


_add_to(globals(), {
    "float_to_e4m3": ("the nearest E4M3, at most the largest", lambda x: _nearest(x, SATFINITE, E4M3)),
    "float_to_e5m2": ("the nearest E5M2, at most the largest", lambda x: _nearest(x, SATFINITE, E5M2)),
    "e4m3_to_float": ("the number of an E4M3 as a float32", lambda code: _np.float32(_to_half(code, E4M3))),
    "e5m2_to_float": ("the number of an E5M2 as a float32", lambda code: _np.float32(_to_half(code, E5M2))),
    "__nv_cvt_float_to_fp8": ("(x, saturate, interpretation): of a float32", _single),
    "__nv_cvt_double_to_fp8": ("(x, saturate, interpretation): of a float64", _double),
    "__nv_cvt_halfraw_to_fp8": ("(bits, saturate, interpretation): of a float16",
                                lambda bits, saturate, interpretation: _single(_half_of(bits), saturate,
                                                                               interpretation)),
    "__nv_cvt_bfloat16raw_to_fp8": ("(bits, saturate, interpretation): of a bfloat16",
                                    lambda bits, saturate, interpretation: _single(_bfloat16_of(bits), saturate,
                                                                                   interpretation)),
    "__nv_cvt_float2_to_fp8x2": ("(x, saturate, interpretation): of a float32x2, as a uint16",
                                 lambda x, saturate, interpretation: _two(_single(x.x, saturate, interpretation),
                                                                          _single(x.y, saturate, interpretation))),
    "__nv_cvt_double2_to_fp8x2": ("(x, saturate, interpretation): of a float64x2, as a uint16",
                                  lambda x, saturate, interpretation: _two(_double(x.x, saturate, interpretation),
                                                                           _double(x.y, saturate, interpretation))),
    "__nv_cvt_halfraw2_to_fp8x2": ("(bits, saturate, interpretation): of two float16 in a uint32, as a uint16",
                                   lambda bits, saturate, interpretation: _two(
                                       _single(_half_of(bits & 0xFFFF), saturate, interpretation),
                                       _single(_half_of(bits >> 16), saturate, interpretation))),
    "__nv_cvt_bfloat16raw2_to_fp8x2": ("(bits, saturate, interpretation): of two bfloat16 in a uint32, as a uint16",
                                       lambda bits, saturate, interpretation: _two(
                                           _single(_bfloat16_of(bits & 0xFFFF), saturate, interpretation),
                                           _single(_bfloat16_of(bits >> 16), saturate, interpretation))),
    "__nv_cvt_fp8_to_halfraw": ("(code, interpretation): the bits of a float16",
                                lambda code, interpretation: _to_half(code, interpretation).view(_np.uint16)),
    "__nv_cvt_fp8x2_to_halfraw2": ("(codes, interpretation): the bits of two float16 in a uint32",
                                   lambda codes, interpretation: _np.uint32(
                                       int(_to_half(codes & 0xFF, interpretation).view(_np.uint16))
                                       | int(_to_half(codes >> 8, interpretation).view(_np.uint16)) << 16)),
    "__nv_cvt_float_to_e8m0": ("(x, saturate, rounding): a power of two, ROUND_ZERO or ROUND_UP", _e8m0),
    "__nv_cvt_e8m0_to_bf16raw": ("(code): the bits of a bfloat16", _e8m0_to_bfloat16),
})
