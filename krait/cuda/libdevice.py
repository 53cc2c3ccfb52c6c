"""The functions of NVIDIA's device library by their names, for compiled code."""

from .. import _krait

_names = _krait.cuda_names()["libdevice"]
globals().update((name, getattr(_names, name)) for name in dir(_names))
