"""Krait compiles Python functions to NVIDIA GPUs and to the host; it is used as Numba is used."""

from . import _krait
from ._krait import Dispatcher, __version__, jit, typeof, vectorize

njit = jit
prange = range  # in compiled loops and outside them

globals().update((name, type_) for name, type_ in _krait.types.items() if isinstance(type_, _krait.types["Type"]))


def __getattr__(name):
    if name in ("cuda", "errors", "types"):
        from importlib import import_module

        return import_module("." + name, __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
