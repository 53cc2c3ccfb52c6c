"""What jit makes, under the name that numba.core.registry has for it."""

from .._krait import Dispatcher as CPUDispatcher

__all__ = ["CPUDispatcher"]
