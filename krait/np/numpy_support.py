"""Types and dtypes, by the names that numba.np.numpy_support has."""

import numpy as _np

from .. import carray, farray, from_dtype, types

__all__ = [
    "as_dtype",
    "as_struct_dtype",
    "carray",
    "farray",
    "from_dtype",
    "is_nonelike",
    "map_layout",
    "numpy_version",
    "type_can_asarray",
]

numpy_version = tuple(map(int, _np.__version__.split(".")[:2]))


def as_dtype(nbtype):
    """NumPy's dtype of a type: of a number or a record its own, of an array that of its elements."""
    element = nbtype.dtype if isinstance(nbtype, types.Array) else nbtype
    return getattr(element, "dtype", element)


def as_struct_dtype(rec):
    """NumPy's dtype of the type of a record."""
    if not isinstance(rec, types.Record):
        raise TypeError(f"{rec!r} is no type of a record: krait.from_dtype makes one of a dtype")
    return rec.dtype


def map_layout(val):
    """The letter that the type of this array has for its layout: 'C', 'F' or 'A'."""
    return "C" if val.flags["C_CONTIGUOUS"] else "F" if val.flags["F_CONTIGUOUS"] else "A"


def is_nonelike(ty):
    """Whether it is the type of None, or None: a parameter that is not given."""
    return ty is None or isinstance(ty, types.NoneType)


def type_can_asarray(arr):
    """Whether compiled code makes an array of values of this type by np.asarray."""
    return isinstance(arr, (types.Array, types.BaseTuple, types.ListType, types.Number))
