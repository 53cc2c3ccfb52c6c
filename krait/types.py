"""The types of compiled code: scalars, and the classes that make array and tuple types."""

from . import _krait

globals().update(_krait.types)
Signature = _krait.Signature
__all__ = [*_krait.types, "Signature"]
