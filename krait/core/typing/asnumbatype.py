"""The type that an annotation means, under the name of the module that Numba has it in."""

from ..._own_types import as_numba_type

__all__ = ["as_numba_type"]
