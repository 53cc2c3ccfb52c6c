"""The exceptions and warnings of Krait."""

from . import _krait

globals().update(_krait.errors)
__all__ = [*_krait.errors]
