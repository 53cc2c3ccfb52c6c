"""Arithmetic of float16 in kernels, under the names that CUDA has for it."""

import math as _math

import numpy as _np

from .._krait import cuda_jit as _cuda_jit

_device = _cuda_jit(device=True)


def _named(name, doc, function):
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    globals()[name] = _device(function)


_named("hadd", "a + b", lambda a, b: _np.float16(a) + _np.float16(b))
_named("hsub", "a - b", lambda a, b: _np.float16(a) - _np.float16(b))
_named("hmul", "a * b", lambda a, b: _np.float16(a) * _np.float16(b))
_named("hdiv", "a / b", lambda a, b: _np.float16(a) / _np.float16(b))
_named("hneg", "-a", lambda a: -_np.float16(a))
_named("habs", "absolute value", lambda a: abs(_np.float16(a)))
_named("heq", "a == b", lambda a, b: _np.float16(a) == _np.float16(b))
_named("hne", "a != b", lambda a, b: _np.float16(a) != _np.float16(b))
_named("hlt", "a < b", lambda a, b: _np.float16(a) < _np.float16(b))
_named("hle", "a <= b", lambda a, b: _np.float16(a) <= _np.float16(b))
_named("hgt", "a > b", lambda a, b: _np.float16(a) > _np.float16(b))
_named("hge", "a >= b", lambda a, b: _np.float16(a) >= _np.float16(b))
_named("hsin", "sine", lambda a: _math.sin(_np.float16(a)))
_named("hcos", "cosine", lambda a: _math.cos(_np.float16(a)))
_named("htanh", "hyperbolic tangent", lambda a: _math.tanh(_np.float16(a)))
_named("htanh_approx", "hyperbolic tangent, approximately", lambda a: _math.tanh(_np.float16(a)))
_named("hlog", "natural logarithm", lambda a: _math.log(_np.float16(a)))
_named("hlog2", "logarithm to base 2", lambda a: _math.log2(_np.float16(a)))
_named("hlog10", "logarithm to base 10", lambda a: _math.log10(_np.float16(a)))
_named("hexp", "e raised to a", lambda a: _math.exp(_np.float16(a)))
_named("hexp2", "2 raised to a", lambda a: _np.exp2(_np.float16(a)))
_named("hexp10", "10 raised to a", lambda a: _np.float16(_math.pow(_np.float32(10), _np.float32(_np.float16(a)))))
_named("hsqrt", "square root", lambda a: _math.sqrt(_np.float16(a)))
_named("hrsqrt", "1 / square root", lambda a: _np.float16(1 / _math.sqrt(_np.float32(_np.float16(a)))))
_named("hrcp", "1 / a", lambda a: _np.float16(1) / _np.float16(a))
_named("hfloor", "largest integer not above a", lambda a: _np.floor(_np.float16(a)))
_named("hceil", "smallest integer not below a", lambda a: _np.ceil(_np.float16(a)))
_named("hrint", "nearest integer, half to even", lambda a: _np.rint(_np.float16(a)))
_named("htrunc", "a without its fraction", lambda a: _np.trunc(_np.float16(a)))


@_device
def hfma(a, b, c):
    """a * b + c rounded once"""
    return _np.float16(_np.float64(_np.float16(a)) * _np.float64(_np.float16(b)) + _np.float64(_np.float16(c)))


@_device
def hmax(a, b):
    """the larger, or what is a number"""
    x, y = _np.float16(a), _np.float16(b)
    return x if x > y or y != y else y


@_device
def hmin(a, b):
    """the smaller, or what is a number"""
    x, y = _np.float16(a), _np.float16(b)
    return x if x < y or y != y else y
