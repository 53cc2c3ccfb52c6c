"""Signatures, under the names that they have in Numba."""

from . import Signature, signature

__all__ = ["Signature", "signature"]
