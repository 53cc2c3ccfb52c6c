"""Numba's mutable structs: classes that a program declares by fields, as plain classes.

An instance is made and changed by compiled code and by the interpreter alike, and passed by reference.  Instances are
of a class that is made of the one that a program writes: with its methods and properties, but fields are attributes,
and there is no __new__, which compiled code does not call.
"""

from .. import _own_types
from .._missing import NotYet
from ..extending import overload as _overload
from ..types import StructRef as _StructRef

_CONSTRUCTOR = """
def __init__(self, {parameters}):
    {assignments}

def typed({parameters}):
    return make
def make({parameters}):
    return Struct({parameters})
"""
_structs = {}  # the program's class -> that of the instances

new = NotYet(__name__, "new", "call the class with its fields")


class _Proxy(type):
    def __instancecheck__(cls, value):
        return any(issubclass(py_class, cls) and type(value) is struct for py_class, struct in _structs.items())


class StructRefProxy(metaclass=_Proxy):
    """The base of the classes that programs write."""

    __slots__ = ()

    def __new__(cls, *fields):
        if cls not in _structs:
            raise TypeError(f"{cls.__name__} has no fields yet: structref.define_proxy({cls.__name__}, ..., names)")
        return _structs[cls](*fields)


def register(struct_type):
    """Declares a class of types that is derived from types.StructRef: a decorator."""
    if not (isinstance(struct_type, type) and issubclass(struct_type, _StructRef)):
        raise TypeError(f"{struct_type!r} is not derived from types.StructRef")
    return struct_type


def _define(py_class, struct_type, fields):
    if py_class in _structs:
        return
    fields = list(fields)
    names = {}
    text = _CONSTRUCTOR.format(parameters=", ".join(fields),
                               assignments="; ".join(f"self.{name} = {name}" for name in fields) or "pass")
    exec(compile(text, f"<structref {py_class.__qualname__}>", "exec"), names)
    own = {"__init__": names["__init__"], "__qualname__": py_class.__qualname__}
    for cls in py_class.__mro__[:py_class.__mro__.index(StructRefProxy)]:
        for name, value in vars(cls).items():
            if name not in ("__new__", "__dict__", "__weakref__", *fields):
                own.setdefault(name, value)
    struct = _structs[py_class] = names["Struct"] = type(py_class.__name__, (), own)
    _own_types.tell(struct, lambda value, c: struct_type(()))
    _overload(py_class)(names["typed"])


def define_proxy(py_class, struct_typeclass, fields):
    """Says which fields the instances of a class derived from StructRefProxy have, by their names."""
    _define(py_class, struct_typeclass, fields)


def define_constructor(py_class, struct_typeclass, fields):
    """The same as define_proxy, for programs that say one part after another."""
    _define(py_class, struct_typeclass, fields)


def define_boxing(struct_type, obj_class):
    """Nothing: instances come and go as they are."""


def define_attributes(struct_typeclass):
    """Nothing: fields are attributes."""
