"""The types of compiled code: scalars, and the classes that make array and tuple types."""

from . import _krait

globals().update(_krait.types)
Signature = _krait.Signature


def CPointer(dtype):
    """In a signature of cfunc: a pointer, in compiled code an array whose length is not known."""
    return dtype[::1]


__all__ = ["CPointer", *_krait.types, "Signature"]
