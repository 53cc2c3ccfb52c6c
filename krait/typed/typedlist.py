"""List, under the name of the module that Numba has it in."""

from . import List

__all__ = ["List"]
