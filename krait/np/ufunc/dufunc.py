"""What vectorize makes, under the name of the class that Numba has for it."""

from ..._krait import Vectorized as DUFunc

__all__ = ["DUFunc"]
