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


class UnicodeType:
    """The type of a str, as functions decorated with krait.extending.overload see it."""

    def __repr__(self):
        return "unicode_type"


class StringLiteral(Literal, UnicodeType):
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


unicode_type = UnicodeType()

__all__ = ["CPointer", *_krait.types, "Signature", "BaseTuple", "BaseAnonymousTuple", "ArrayCompatible", "Function",
           "FunctionType", "Dispatcher", "Literal", "IntegerLiteral", "Omitted", "StringLiteral", "UnicodeType",
           "unicode_type"]
