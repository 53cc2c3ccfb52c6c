"""What cuda.fp16 and cuda.bf16 have in common: the functions that CUDA has for a float of 16 bits, of either type.

Arithmetic is that of float32 rounded once more, which for + - * / and sqrt is the nearest value; what CUDA rounds
otherwise is the nearest value or its neighbour."""

import math as _math

import numpy as _np

from .. import _krait
from . import fma as _fma, on_gpu as _on_gpu

_device = _krait.cuda_jit(device=True)
_native_fma = _krait.cuda_names()["_native"].fma

# Names of integers in conversions: how many bits, whether there is a sign, what CUDA makes of NaN.
INTEGERS = {
    "char": (_np.int8, 0), "uchar": (_np.uint8, 0), "short": (_np.int16, 0), "ushort": (_np.uint16, 0),
    "int": (_np.int32, 0), "uint": (_np.uint32, 0), "ll": (_np.int64, -(2**63)), "ull": (_np.uint64, 2**63),
}
MODES = ("rn", "rz", "rd", "ru")


def _fused_by_two_sums(x, y, z):
    """x * y + z of three bfloat16 as a float64 that any rounding to bfloat16 sees as the exact one: its last bit is odd
    where something was lost."""
    product, other = _np.float64(x) * _np.float64(y), _np.float64(z)
    total = product + other
    back = total - product
    lost = (product - (total - back)) + (other - back)
    bits = total.view(_np.int64)
    if lost == 0 or lost != lost or bits & 1:
        return total
    return _np.int64(bits + (1 if (lost > 0) == (total > 0) else -1)).view(_np.float64)


_fused_by_two_sums = _device(_fused_by_two_sums)


@_device
def _sticky_signed(x):
    """An int64 as a float64 that any rounding to 16 bits sees as the exact one."""
    if -(2**52) < x < 2**52:
        return _np.float64(x)
    return _np.float64(x & ~0x7FF | (0x800 if x & 0x7FF else 0))


@_device
def _sticky_unsigned(x):
    low, high = x & _np.uint64(0x7FF), x & ~_np.uint64(0x7FF)
    if x < _np.uint64(2**52):
        return _np.float64(x)
    return _np.float64(high | _np.uint64(0x800) if low != _np.uint64(0) else high)


_WHOLE = {"rn": _np.rint, "rz": _np.trunc, "rd": _np.floor, "ru": _np.ceil}


def arithmetic(T):
    """Functions of numbers of one type, by name: (description, Python function)."""
    zero, one = _np.float32(0), _np.float32(1)
    negative_zero = _np.float32(-0.0)
    bfloat = T is not _np.float16

    def wide(x):
        return _np.float32(T(x))

    wide = _device(wide)

    def fused(a, b, c):
        x, y, z = T(a), T(b), T(c)
        if _on_gpu():
            return _native_fma(x, y, z)
        if bfloat:
            return T(_fused_by_two_sums(x, y, z))
        return T(_np.float64(x) * _np.float64(y) + _np.float64(z))

    fused = _device(fused)

    def saturated(x):
        return T(1) if x > T(1) else x if x > T(0) else T(0)

    saturated = _device(saturated)

    def larger(a, b):
        x, y = T(a), T(b)
        if x == y:
            return y if _math.copysign(1.0, x) < 0 else x
        return x if x > y or y != y else y

    def smaller(a, b):
        x, y = T(a), T(b)
        if x == y:
            return x if _math.copysign(1.0, x) < 0 else y
        return x if x < y or y != y else y

    larger, smaller = _device(larger), _device(smaller)

    def larger_or_nan(a, b):
        x, y = T(a), T(b)
        return x if x != x else y if y != y else larger(x, y)

    def smaller_or_nan(a, b):
        x, y = T(a), T(b)
        return x if x != x else y if y != y else smaller(x, y)

    # An addition or a product that no other operation is fused with is itself a fused one.
    def added(a, b):
        return T(_fma(wide(a), one, wide(b)))

    def subtracted(a, b):
        return T(_fma(wide(b), -one, wide(a)))

    def multiplied(a, b):
        return T(_fma(wide(a), wide(b), negative_zero))

    added, subtracted, multiplied = _device(added), _device(subtracted), _device(multiplied)
    return {
        "hadd": ("a + b", lambda a, b: T(a) + T(b)),
        "hsub": ("a - b", lambda a, b: T(a) - T(b)),
        "hmul": ("a * b", lambda a, b: T(a) * T(b)),
        "hdiv": ("a / b", lambda a, b: T(a) / T(b)),
        "hadd_rn": ("a + b, fused with no product", added),
        "hsub_rn": ("a - b, fused with no product", subtracted),
        "hmul_rn": ("a * b, fused with no sum", multiplied),
        "hadd_sat": ("a + b, within 0 and 1; 0 for NaN", lambda a, b: saturated(added(a, b))),
        "hsub_sat": ("a - b, within 0 and 1; 0 for NaN", lambda a, b: saturated(subtracted(a, b))),
        "hmul_sat": ("a * b, within 0 and 1; 0 for NaN", lambda a, b: saturated(multiplied(a, b))),
        "hfma": ("a * b + c rounded once", fused),
        "hfma_sat": ("a * b + c rounded once, within 0 and 1; 0 for NaN", lambda a, b, c: saturated(fused(a, b, c))),
        "hfma_relu": ("a * b + c rounded once, or 0 where that is negative",
                      lambda a, b, c: larger_or_nan(fused(a, b, c), T(0))),
        "hneg": ("-a", lambda a: -T(a)),
        "habs": ("absolute value", lambda a: abs(T(a))),
        "hmax": ("the larger, or what is a number", larger),
        "hmin": ("the smaller, or what is a number", smaller),
        "hmax_nan": ("the larger, or NaN if one of them is", larger_or_nan),
        "hmin_nan": ("the smaller, or NaN if one of them is", smaller_or_nan),
    }


def comparisons(T):
    return {
        "heq": ("a == b", lambda a, b: T(a) == T(b)),
        "hne": ("a < b or a > b", lambda a, b: T(a) < T(b) or T(a) > T(b)),
        "hlt": ("a < b", lambda a, b: T(a) < T(b)),
        "hle": ("a <= b", lambda a, b: T(a) <= T(b)),
        "hgt": ("a > b", lambda a, b: T(a) > T(b)),
        "hge": ("a >= b", lambda a, b: T(a) >= T(b)),
        "hequ": ("a == b, or one of them is NaN", lambda a, b: not (T(a) < T(b) or T(a) > T(b))),
        "hneu": ("a != b, or one of them is NaN", lambda a, b: T(a) != T(b)),
        "hltu": ("a < b, or one of them is NaN", lambda a, b: not T(a) >= T(b)),
        "hleu": ("a <= b, or one of them is NaN", lambda a, b: not T(a) > T(b)),
        "hgtu": ("a > b, or one of them is NaN", lambda a, b: not T(a) <= T(b)),
        "hgeu": ("a >= b, or one of them is NaN", lambda a, b: not T(a) < T(b)),
        "hisnan": ("whether it is NaN", lambda a: T(a) != T(a)),
        "hisinf": ("1 for infinity, -1 for minus infinity, else 0",
                   lambda a: 1 if T(a) == T(_math.inf) else -1 if T(a) == T(-_math.inf) else 0),
    }


def elementary(T):
    wide = _device(lambda x: _np.float32(T(x)))
    return {
        "hsin": ("sine", lambda a: _math.sin(T(a))),
        "hcos": ("cosine", lambda a: _math.cos(T(a))),
        "htanh": ("hyperbolic tangent", lambda a: _math.tanh(T(a))),
        "htanh_approx": ("hyperbolic tangent, approximately", lambda a: _math.tanh(T(a))),
        "hlog": ("natural logarithm", lambda a: _math.log(T(a))),
        "hlog2": ("logarithm to base 2", lambda a: _math.log2(T(a))),
        "hlog10": ("logarithm to base 10", lambda a: _math.log10(T(a))),
        "hexp": ("e raised to a", lambda a: _math.exp(T(a))),
        "hexp2": ("2 raised to a", lambda a: _np.exp2(T(a))),
        "hexp10": ("10 raised to a", lambda a: T(_math.pow(_np.float32(10), wide(a)))),
        "hsqrt": ("square root", lambda a: _math.sqrt(T(a))),
        "hrsqrt": ("1 / square root", lambda a: T(1 / _math.sqrt(wide(a)))),
        "hrcp": ("1 / a", lambda a: T(1) / T(a)),
        "hfloor": ("largest integer not above a", lambda a: _np.floor(T(a))),
        "hceil": ("smallest integer not below a", lambda a: _np.ceil(T(a))),
        "hrint": ("nearest integer, half to even", lambda a: _np.rint(T(a))),
        "htrunc": ("a without its fraction", lambda a: _np.trunc(T(a))),
    }


def _neighbour(T):
    """The functions that give the number after or before a number."""

    def above(x):
        bits = x.view(_np.int16)
        return _np.int16(1 if x == 0 else bits + (1 if bits >= 0 else -1)).view(T)

    def below(x):
        bits = x.view(_np.int16)
        return _np.int16(-0x7FFF if x == 0 else bits + (-1 if bits >= 0 else 1)).view(T)

    return _device(above), _device(below)


def roundings(T):
    """Functions from a float32 or float64 to the type, by rounding mode."""
    above, below = _neighbour(T)

    def rz(x):
        nearest = T(x)
        wide = _np.float64(nearest)
        if abs(wide) <= abs(_np.float64(x)) or wide != wide:
            return nearest
        return below(nearest) if wide > 0 else above(nearest)

    def rd(x):
        nearest = T(x)
        return below(nearest) if _np.float64(nearest) > _np.float64(x) else nearest

    def ru(x):
        nearest = T(x)
        return above(nearest) if _np.float64(nearest) < _np.float64(x) else nearest

    return {"rn": _device(lambda x: T(x)), "rz": _device(rz), "rd": _device(rd), "ru": _device(ru)}


def of_integer(T, name, mode):
    integer, _ = INTEGERS[name]
    rounded = roundings(T)[mode]
    if name == "ull":
        return lambda x: rounded(_sticky_unsigned(integer(x)))
    return lambda x: rounded(_sticky_signed(int(integer(x))))


def to_integer(T, name, mode):
    """What the integer cannot hold becomes its nearest value."""
    integer, nan = INTEGERS[name]
    whole, limits = _WHOLE[mode], _np.iinfo(integer)
    least, most = int(limits.min), int(limits.max)
    low, high = _np.float64(least), _np.float64(2.0 ** (limits.bits - (least < 0)))
    of_nan, smallest, largest = integer(nan), integer(least), integer(most)

    def convert(x):
        number = whole(_np.float64(T(x)))
        if number != number:
            return of_nan
        if number >= high:
            return largest
        return smallest if number <= low else integer(number)

    return convert


def bits_of(T, integer):
    return lambda x: T(x).view(integer)


def of_bits(T, integer):
    return lambda x: integer(x).view(T)


def add_to(namespace, functions):
    """Puts functions, by name with a description each, into a module."""
    for name, (doc, function) in functions.items():
        function = getattr(function, "py_func", function)
        function = type(function)(function.__code__, function.__globals__, name, function.__defaults__,
                                  function.__closure__)
        function.__qualname__, function.__doc__ = name, doc
        namespace[name] = _device(function)
