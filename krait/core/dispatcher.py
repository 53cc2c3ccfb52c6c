"""What jit makes, under the name that numba.core.dispatcher has for it."""

from .._krait import Dispatcher

__all__ = ["Dispatcher"]
