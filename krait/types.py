"""The types of compiled code: scalars, and the classes that make array and tuple types."""

from . import _krait

globals().update(_krait.types)
Signature = _krait.Signature


def CPointer(dtype):
    """In a signature of cfunc: a pointer, in compiled code an array whose length is not known."""
    return dtype[::1]


# Classes of Numba's that programs ask about with isinstance, and those that no type is an instance of.
BaseTuple = BaseAnonymousTuple = _krait.types["Tuple"]
ArrayCompatible = _krait.types["Array"]
Function = FunctionType = Dispatcher = _krait.types["Callable"]


class Literal:
    """A type that knows the value."""


class IntegerLiteral(Literal):
    """No type is one: ints that are known have the types of other ints."""


class Omitted:
    """No type is one: a parameter that is not given has its default."""


class _Texts(type):
    def __instancecheck__(cls, type_):
        return isinstance(type_, (_krait.types["Unicode"], StringLiteral))


class UnicodeType(metaclass=_Texts):
    """The type of a str: types.unicode_type, and each StringLiteral, is an instance."""


class StringLiteral(Literal):
    """The type of a str that is known when a function is compiled; literal_value is the str."""

    literal_value = ""

    def __init__(self, literal_value):
        self.literal_value = literal_value

    def __repr__(self):
        return f"StringLiteral({self.literal_value!r})"

    def __eq__(self, other):
        return isinstance(other, StringLiteral) and other.literal_value == self.literal_value

    def __hash__(self):
        return hash(self.literal_value)


DeferredType = _krait.types["Deferred"]


def deferred_type():
    """A type that is told later, by define(), and need not be: what attributes and containers hold is found from what
    is put in."""
    return _krait.types["_deferred"]


def optional(type_):
    """A value of the type, or None."""
    return _krait.types["Optional"](type_)


def unliteral(type_):
    """The type of the values, of which one may be known: the type itself."""
    return unicode_type if isinstance(type_, StringLiteral) else type_


List = _krait.types["ListType"]
string = unicode_type = _krait.types["unicode_type"]

__all__ = ["CPointer", *(name for name in _krait.types if name[0] != "_"), "DeferredType", "List", "deferred_type",
           "optional", "string", "unliteral", "Signature", "BaseTuple", "BaseAnonymousTuple", "ArrayCompatible",
           "Function", "FunctionType", "Dispatcher", "Literal", "IntegerLiteral", "Omitted", "StringLiteral",
           "UnicodeType"]


def __getattr__(name):
    from ._missing import missing

    raise missing(__name__, name, __all__)
