"""stencil and what it makes, under the names that they have in Numba."""

from .._stencils import Stencil as StencilFunc
from .._stencils import stencil

__all__ = ["StencilFunc", "stencil"]
