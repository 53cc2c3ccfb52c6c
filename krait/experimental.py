"""Numba's module of this name."""


def jitclass(cls_or_spec=None, spec=None):
    """The class itself: compiled functions take, make and change instances of plain classes and of dataclasses.

    What is declared, `@jitclass([("x", float64)])`, is not needed: attributes have the types of what they are assigned.
    """
    if isinstance(cls_or_spec, type):
        return cls_or_spec
    return lambda cls: cls
