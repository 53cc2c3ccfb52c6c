"""The decorators of ufuncs, under the names that they have in Numba."""

from ... import guvectorize, vectorize

__all__ = ["guvectorize", "vectorize"]
