"""Texts beside elements of U and S arrays, which end at a fixed width and in NULs that are none of them."""

import numpy as np


def compared(shape, text, dtype):
    """numpy.full of a text that elements of one character less are compared with: what is cut off still makes it the
    greater one, as it does for NumPy, which widens the elements."""
    nul, one, size = ("\0", "\1", 4) if isinstance(text, str) else (b"\0", b"\1", 1)
    last = np.dtype(dtype).itemsize // size - 1
    if text[last : last + 1] == nul and text[last:].strip(nul):
        text = text[:last] + one
    return np.full(shape, text, dtype)
