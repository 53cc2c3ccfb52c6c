"""What guvectorize makes, under the name of the class that Numba has for it."""

from ..._krait import Gufunc as GUFunc

__all__ = ["GUFunc"]
