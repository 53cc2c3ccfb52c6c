"""jitclass, in the module that Numba has it in."""

from ..types import deferred_type as _deferred_type


class _ClassType:
    """What Numba's programs ask a class for: the type of its instances, to declare what holds them."""

    def __init__(self, cls):
        self.class_name = cls.__name__
        self.instance_type = _deferred_type()


def _marked(cls):
    cls.class_type = _ClassType(cls)
    return cls


def jitclass(cls_or_spec=None, spec=None):
    """The class itself: compiled functions take, make and change instances of plain classes and of dataclasses.

    What is declared, `@jitclass([("x", float64)])`, is not needed: attributes have the types of what they are assigned.
    """
    return _marked(cls_or_spec) if isinstance(cls_or_spec, type) else _marked
