"""What cfunc makes, under the name that numba.core.ccallback has for it."""

from .._krait import CFunc

__all__ = ["CFunc"]
