"""Names that Numba's programs import from numba.core.typing."""

from ...types import Signature
from .typeof import typeof

__all__ = ["Signature", "signature", "typeof"]


def signature(return_type, *args):
    """The signature of a function of such arguments: return_type(*args)."""
    return return_type(*args)
