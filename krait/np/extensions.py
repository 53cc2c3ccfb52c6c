"""Functions of arrays that NumPy has no one type for, under the name that they have in Numba."""

__all__ = ["cross2d"]


def cross2d(a, b):
    """The third coordinate of the product of vectors with two coordinates each, which stand in the last axis."""
    return a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]
