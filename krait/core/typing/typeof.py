"""The type of a value, under the name that it has in Numba."""

from ... import typeof

__all__ = ["typeof"]
