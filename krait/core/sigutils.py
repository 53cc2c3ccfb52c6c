"""Signatures read, by the names that numba.core.sigutils has."""

from .. import types
from .._krait import _read_signature

__all__ = ["is_signature", "normalize_signature"]


def is_signature(sig):
    """Whether a decorator takes this for a signature: a text, types of arguments, or a Signature."""
    return isinstance(sig, (str, tuple, types.Signature))


def normalize_signature(sig):
    """(types of the arguments, type of the result or None) of a signature.

    Raises TypeError for what is none."""
    if isinstance(sig, types.Type) or not is_signature(sig):
        raise TypeError(f"a signature is a text, a tuple of types or result(arguments), not {type(sig).__name__}")
    parsed = sig if isinstance(sig, types.Signature) else _read_signature(sig)
    return tuple(parsed.args), parsed.return_type
