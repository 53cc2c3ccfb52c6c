"""Tuples with an item replaced, under the name that it has in Numba."""

__all__ = ["tuple_setitem"]


def tuple_setitem(tup, idx, val):
    """The tuple with `val` in the place `idx`, which counts from the front.

    It calls itself for the rest, since slices by a variable have no length that is known when code is compiled, and
    the result is a shape or an index."""
    if len(tup) == 0:
        return ()
    return (val if idx == 0 else tup[0],) + tuple_setitem(tup[1:], idx - 1, val)
