"""Types and dtypes, by the names that numba.np.numpy_support has."""

import numpy as _np

from .. import from_dtype, types

__all__ = ["as_dtype", "from_dtype", "numpy_version"]

numpy_version = tuple(map(int, _np.__version__.split(".")[:2]))


def as_dtype(nbtype):
    """NumPy's dtype of a type: of a number or a record its own, of an array that of its elements."""
    element = nbtype.dtype if isinstance(nbtype, types.Array) else nbtype
    return getattr(element, "dtype", element)
