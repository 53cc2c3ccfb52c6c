"""cuda.Reduce, by the place that numba.cuda has for it."""

from .._reduction import Reduce

__all__ = ["Reduce"]
