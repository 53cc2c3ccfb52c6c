"""Numba's module of this name: what it has is refused, and what does instead is said."""

from .errors import UnsupportedError as _UnsupportedError


def jitclass(cls_or_spec=None, spec=None):
    """Refused: compiled functions take instances of plain classes and of dataclasses as they are."""
    raise _UnsupportedError(
        "jitclass is not there, and not needed: compiled functions take instances of plain classes and of dataclasses, "
        "read their attributes and call their methods\n"
        "  hint: leave the decorator out; what compiled code is to change lies in an array or a list that is passed "
        "beside the instance, or is returned as a new instance of a frozen dataclass")
