"""The types of compiled code: scalars, and the classes that make array and tuple types."""

from . import _krait

globals().update(_krait.types)
Signature = _krait.Signature


def CPointer(dtype):
    """In a signature of cfunc: a pointer, in compiled code an array whose length is not known."""
    return dtype[::1]


# Classes of Numba's that programs ask about with isinstance, and those that no type is an instance of.
ArrayCompatible = _krait.types["Array"]
Function = FunctionType = Dispatcher = _krait.types["Callable"]
TypeRef = _krait.types["NumberClass"]


class _Asked(type):
    """The class of those that have no instances of their own: they say which types isinstance finds to be theirs."""

    def __instancecheck__(cls, type_):
        return cls.holds(type_)


class BaseTuple(metaclass=_Asked):
    """The type of a tuple or of a named tuple."""

    @staticmethod
    def holds(type_):
        return isinstance(type_, _krait.types["Tuple"])


class BaseAnonymousTuple(BaseTuple):
    """The type of a tuple that is no named tuple."""

    @staticmethod
    def holds(type_):
        return isinstance(type_, BaseTuple) and not hasattr(type_, "python_class")


class BaseNamedTuple(BaseTuple):
    """The type of a named tuple: python_class is its class."""

    @staticmethod
    def holds(type_):
        return isinstance(type_, BaseTuple) and hasattr(type_, "python_class")


NamedTuple = BaseNamedTuple


class Buffer(metaclass=_Asked):
    """The type of an array or of a bytes."""

    @staticmethod
    def holds(type_):
        return isinstance(type_, (_krait.types["Array"], _krait.types["Bytes"]))


class Sequence(metaclass=_Asked):
    """The type of a tuple, a list, a str or a range."""

    @staticmethod
    def holds(type_):
        return isinstance(type_, (BaseTuple, UnicodeType, _krait.types["ListType"], _krait.types["RangeType"]))


class StructRef(_krait.types["Type"]):
    """The base of a program's own types for krait.experimental.structref; fields: pairs of a name and a type."""

    def __init__(self, fields=()):
        self._fields = tuple(self.preprocess_fields(tuple((str(name), type_) for name, type_ in fields)))
        super().__init__(name=f"{type(self).__name__}{self._fields}")

    def preprocess_fields(self, fields):
        """The fields as they are kept: for programs to say otherwise."""
        return fields

    @property
    def field_dict(self):
        """Types by the names of the fields."""
        return dict(self._fields)


class Literal:
    """A type that knows the value: literal_value."""

    literal_value = None

    def __init__(self, literal_value):
        self.literal_value = literal_value

    def __repr__(self):
        return f"{type(self).__name__}({self.literal_value!r})"

    def __eq__(self, other):
        return type(self) is type(other) and other.literal_value == self.literal_value

    def __hash__(self):
        return hash(self.literal_value)


class _NumberLiteral(Literal):
    """One that has, beside its value, what the type of such numbers has."""

    def __getattr__(self, name):
        if name.startswith("_"):  # which other modules look for, not people
            raise AttributeError(name)
        return getattr(_krait.typeof(self.literal_value), name)


class IntegerLiteral(_NumberLiteral):
    """An int that is known: what functions for overload are told of it.  In compiled code it has the type of others."""

    literal_value = 0
    __class__ = property(lambda self: _krait.types["Integer"])  # isinstance finds that it is one, too


class BooleanLiteral(_NumberLiteral):
    """A bool that is known, likewise."""

    literal_value = False
    __class__ = property(lambda self: _krait.types["Boolean"])


class Omitted:
    """No type is one: a parameter that is not given has its default."""


class UnicodeType(metaclass=_Asked):
    """The type of a str: types.unicode_type, and each StringLiteral, is an instance."""

    @staticmethod
    def holds(type_):
        return isinstance(type_, (_krait.types["Unicode"], StringLiteral))


class StringLiteral(Literal):
    """The type of a str that is known when a function is compiled; literal_value is the str."""

    literal_value = ""


def literal(value):
    """The type that knows the value, an int, a bool or a str."""
    made = {int: IntegerLiteral, bool: BooleanLiteral, str: StringLiteral}.get(type(value))
    if not made:
        raise _krait.errors["TypingError"](f"{value!r} is no literal: int, bool and str are")
    return made(value)


def maybe_literal(value):
    """literal(value), or None for what is none."""
    return literal(value) if type(value) in (int, bool, str) else None


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
    return _krait.typeof(type_.literal_value) if isinstance(type_, Literal) else type_


List = _krait.types["ListType"]
string = unicode_type = _krait.types["unicode_type"]


signed_domain = frozenset(_krait.types[f"int{bits}"] for bits in (8, 16, 32, 64))
unsigned_domain = frozenset(_krait.types[f"uint{bits}"] for bits in (8, 16, 32, 64))
integer_domain = signed_domain | unsigned_domain
real_domain = frozenset(_krait.types[name] for name in ("float32", "float64"))
complex_domain = frozenset(_krait.types[name] for name in ("complex64", "complex128"))
number_domain = integer_domain | real_domain | complex_domain

__all__ = [name for name in globals() if name[0] != "_"]


# Modules that Numba has below its types; these all are this one.
_BELOW = ("abstract", "common", "containers", "function_type", "functions", "iterators", "misc", "npytypes", "scalars")


def __getattr__(name):
    if name in _BELOW:
        import sys

        return sys.modules[__name__]
    from ._missing import missing

    raise missing(__name__, name, __all__)
