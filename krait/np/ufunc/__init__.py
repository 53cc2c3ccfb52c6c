"""Names that Numba's programs import from numba.np.ufunc."""

from ... import guvectorize, vectorize

__all__ = ["guvectorize", "vectorize"]


def __getattr__(name):
    if name in ("decorators", "dufunc", "gufunc", "parallel"):
        from importlib import import_module

        return import_module("." + name, __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
