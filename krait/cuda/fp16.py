"""Arithmetic and conversions of float16 in kernels, under the names that CUDA has for it."""

import numpy as _np

from .._krait import cuda_names as _cuda_names
from . import _halves, float16x2 as half2

half = _np.float16
_PAIRED = "hadd hsub hmul hdiv hfma hneg habs hmax hmin"
_PAIRED_MATH = "hsin hcos hlog hlog2 hlog10 hexp hexp2 hexp10 hsqrt hrsqrt hrcp hfloor hceil hrint htrunc htanh"
_PAIRED_TESTS = "heq hne hlt hle hgt hge"
_WAYS = {"rn": "to nearest even", "rz": "towards zero", "rd": "down", "ru": "up"}


def _conversions():
    """Names as in CUDA: __half2int_rz."""
    yield "__half2float", "the same number", lambda x: _np.float32(half(x))
    yield "__float2half", "the nearest float16", lambda x: half(_np.float32(x))
    yield "__double2half", "the nearest float16", lambda x: half(_np.float64(x))
    for mode, rounded in _halves.roundings(half).items():
        yield f"__float2half_{mode}", f"a float16, rounded {_WAYS[mode]}", rounded
    for name in _halves.INTEGERS:
        for mode in _halves.MODES:
            if "char" not in name:
                yield (f"__{name}2half_{mode}", f"a float16, rounded {_WAYS[mode]}",
                       _halves.of_integer(half, name, mode))
            if "char" not in name or mode == "rz":
                yield (f"__half2{name}_{mode}", f"an integer, rounded {_WAYS[mode]}",
                       _halves.to_integer(half, name, mode))
    for name, integer in (("short", _np.int16), ("ushort", _np.uint16)):
        yield f"__half_as_{name}", "its bits", _halves.bits_of(half, integer)
        yield f"__{name}_as_half", "the float16 of these bits", _halves.of_bits(half, integer)


def _pairwise(function, count):
    """The same of each half of half2; a number among the operands is a half2 of it twice."""
    if count == 1:
        return lambda a: half2(function(a.x), function(a.y))
    if count == 2:
        return lambda a, b: half2(function(a.x, b.x), function(a.y, b.y))
    return lambda a, b, c: half2(function(a.x, b.x, c.x), function(a.y, b.y, c.y))


def _both(test):
    return lambda a, b: test(a.x, b.x) and test(a.y, b.y)


def _pairs():
    of_numbers = globals()
    for name in f"{_PAIRED} {_PAIRED_MATH} {_PAIRED_TESTS}".split():
        function = of_numbers[name]
        math = name in _PAIRED_MATH.split()
        doc = f"{name} of each half"
        yield f"h2{name[1:]}" if math else f"{name}2", doc, _pairwise(function, function.py_func.__code__.co_argcount)
    for name in _PAIRED_TESTS.split():
        test = of_numbers[name]
        yield f"hb{name[1:]}2", f"whether {name} of both halves", _both(test)


def _parts():
    yield "__halves2half2", "the half2 of two float16", lambda a, b: half2(half(a), half(b))
    yield "__half2half2", "a float16 twice", lambda a: half2(half(a), half(a))
    yield "__low2half", "the first half", lambda a: a.x
    yield "__high2half", "the second half", lambda a: a.y
    yield "__low2float", "the first half as a float32", lambda a: _np.float32(a.x)
    yield "__high2float", "the second half as a float32", lambda a: _np.float32(a.y)
    yield "__lowhigh2highlow", "the halves exchanged", lambda a: half2(a.y, a.x)
    yield "__float2half2_rn", "a number twice", lambda a: half2(half(a), half(a))
    yield "__floats2half2_rn", "the half2 of two numbers", lambda a, b: half2(half(a), half(b))


atomicAdd = _cuda_names()["atomic"].add

for _part in (_halves.arithmetic, _halves.comparisons, _halves.elementary):
    _halves.add_to(globals(), _part(half))
for _part in (_conversions, _parts, _pairs):
    _halves.add_to(globals(), {name: (doc, function) for name, doc, function in _part()})
del _part
