"""Dict, under the name of the module that Numba has it in."""

from . import Dict

__all__ = ["Dict"]
