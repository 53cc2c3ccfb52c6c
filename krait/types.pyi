from collections.abc import Iterable, Iterator
from typing import Any, Literal as _Literal, SupportsIndex, overload

import numpy as np

_TypeLike = Type | type | np.dtype[Any] | None

class Signature:
    """Argument types and, perhaps, a result type: float32(float32, int64)."""

    @property
    def args(self) -> tuple[Type, ...]: ...
    @property
    def return_type(self) -> Type | None: ...

class Type:
    """A type of compiled code.  Call it with types to make a signature, with a value to convert it."""

    @property
    def name(self) -> str: ...
    @property
    def weak(self) -> bool: ...
    @property
    def bitwidth(self) -> int: ...
    @property
    def signed(self) -> bool: ...
    @property
    def dtype(self) -> Any: ...
    @property
    def ndim(self) -> int: ...
    @property
    def layout(self) -> _Literal["C", "F", "A"]: ...
    @property
    def mutable(self) -> bool: ...
    @property
    def minval(self) -> int: ...
    @property
    def maxval(self) -> int: ...
    @property
    def count(self) -> int: ...
    @property
    def types(self) -> tuple[Type, ...]: ...
    @property
    def type(self) -> Type: ...
    @property
    def python_class(self) -> type: ...
    @property
    def key_type(self) -> Type: ...
    @property
    def value_type(self) -> Type: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def size(self) -> int: ...
    @property
    def aligned(self) -> bool: ...
    @property
    def members(self) -> tuple[tuple[str, Type], ...]: ...
    def define(self, type: Any, /) -> None: ...
    def typeof(self, name: str, /) -> Type: ...
    def offset(self, name: str, /) -> int: ...
    @overload
    def __call__(self, *types: _TypeLike) -> Signature: ...
    @overload
    def __call__(self, value: Any, /) -> Any: ...
    def __getitem__(self, key: slice | tuple[slice, ...], /) -> Array: ...

class Number(Type):
    def cast_python_value(self, value: Any, /) -> Any: ...

class Boolean(Number): ...
class Integer(Number): ...
class Float(Number): ...
class Complex(Number):
    @property
    def underlying_float(self) -> Float: ...

class Array(Type):
    def __new__(
        cls, dtype: _TypeLike, ndim: int, layout: _Literal["C", "F", "A"] = "C", readonly: bool = False
    ) -> Array: ...
    def copy(
        self,
        dtype: _TypeLike = None,
        ndim: int | None = None,
        layout: _Literal["C", "F", "A"] | None = None,
        readonly: bool | None = None,
    ) -> Array: ...
    @property
    def is_contig(self) -> bool: ...
    @property
    def is_c_contig(self) -> bool: ...
    @property
    def is_f_contig(self) -> bool: ...

class Tuple(Type):
    def __new__(cls, types: Iterable[_TypeLike]) -> Tuple: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[Type]: ...
    def __getitem__(self, at: SupportsIndex, /) -> Type: ...  # type: ignore[override]

class UniTuple(Tuple):
    def __new__(cls, dtype: _TypeLike, count: int) -> UniTuple: ...

class Vector(Type):
    """A small vector of kernels, as CUDA has them: its items are x, y, z and w."""
    def __new__(cls, dtype: _TypeLike, count: int) -> Vector: ...

class Record(Type):
    """An item of a structured dtype; fields are (name, type) or (name, {"type": ..., "offset": ...})."""
    def __new__(cls, fields: Iterable[tuple[str, Any]], size: int | None = None, aligned: bool = True) -> Record: ...
    @classmethod
    def make_c_struct(cls, fields: Iterable[tuple[str, Any]], /) -> Record: ...

class NestedArray(Type):
    """An array inside a record."""
    def __new__(cls, dtype: _TypeLike, shape: int | tuple[int, ...]) -> NestedArray: ...

class NPDatetime(Type):
    """numpy.datetime64 of a unit: "D", "25s", or none."""
    def __new__(cls, unit: str = "") -> NPDatetime: ...

class NPTimedelta(Type):
    """numpy.timedelta64 of a unit."""
    def __new__(cls, unit: str = "") -> NPTimedelta: ...

class CharSeq(Type):
    """An element of dtype S."""
    def __new__(cls, count: int) -> CharSeq: ...

class UnicodeCharSeq(Type):
    """An element of dtype U."""
    def __new__(cls, count: int) -> UnicodeCharSeq: ...

class Optional(Type):
    def __new__(cls, type: _TypeLike) -> Optional: ...

class NoneType(Type): ...
class Opaque(Type): ...

class SliceType(Opaque):
    """The type of a slice."""

class RangeType(Opaque):
    """The type of a range."""

class DType(Opaque):
    """The type of a numpy.dtype; dtype is the type of items of it."""

class NumberClass(Opaque):
    """The type of a class of numbers, numpy.float32 or float; instance_type is what it makes."""

    @property
    def instance_type(self) -> Type: ...

TypeRef = NumberClass

class Instance(Type):
    """An instance of a class, or a named tuple of one: python_class is the class."""

class ListType(Type):
    """ListType(dtype): a list of items of this type; int64 and float64 mean Python's int and float."""

    def __new__(cls, dtype: _TypeLike, reflected: bool = False) -> ListType: ...
    @property
    def item_type(self) -> Type: ...

List = ListType

class DictType(Type):
    """DictType(key_type, value_type): a dict; int64 and float64 mean Python's int and float."""

    def __new__(cls, key_type: _TypeLike, value_type: _TypeLike) -> DictType: ...

class Set(Type):
    """Set(dtype): a set of items of this type."""

    def __new__(cls, dtype: _TypeLike) -> Set: ...

class Unicode(Type):
    """The type of a str: unicode_type."""

class Bytes(Type):
    """The type of a bytes: bytes_type."""

class Deferred(Type):
    """A type that is found from what is put in, as an item of a container: deferred_type()."""

DeferredType = Deferred

class Callable(Type):
    """A function."""

ArrayCompatible = Array
Function = Callable
FunctionType = Callable
Dispatcher = Callable

class BaseTuple:
    """The type of a tuple or of a named tuple."""

class BaseAnonymousTuple(BaseTuple):
    """The type of a tuple that is no named tuple."""

class BaseNamedTuple(BaseTuple):
    """The type of a named tuple: python_class is its class."""

NamedTuple = BaseNamedTuple

class Buffer:
    """The type of an array or of a bytes."""

class Sequence:
    """The type of a tuple, a list, a str or a range."""

class StructRef(Type):
    """The base of a program's own types for krait.experimental.structref; fields: pairs of a name and a type."""

    def __init__(self, fields: Any = ()) -> None: ...
    def preprocess_fields(self, fields: Any) -> Any: ...
    @property
    def field_dict(self) -> dict[str, Any]: ...

class Literal:
    """A type that knows the value: literal_value."""

    literal_value: Any
    def __init__(self, literal_value: Any) -> None: ...

class IntegerLiteral(Literal):
    """An int that is known: what functions for overload are told of it.  In compiled code it has the type of others."""

    literal_value: int

class BooleanLiteral(Literal):
    """A bool that is known, likewise."""

    literal_value: bool

class Omitted:
    """No type is one: a parameter that is not given has its default."""

class UnicodeType:
    """The type of a str: types.unicode_type, and each StringLiteral, is an instance."""

class StringLiteral(Literal):
    """The type of a str that is known when a function is compiled; literal_value is the str."""

    literal_value: str
    def __init__(self, literal_value: str) -> None: ...

unicode_type: Unicode
string: Unicode
bytes_type: Bytes

def deferred_type() -> Deferred: ...
def optional(type_: Any) -> Type: ...
def unliteral(type_: Any) -> Any: ...
def literal(value: int | bool | str) -> Literal: ...
def maybe_literal(value: Any) -> Literal | None: ...

signed_domain: frozenset[Type]
unsigned_domain: frozenset[Type]
integer_domain: frozenset[Type]
real_domain: frozenset[Type]
complex_domain: frozenset[Type]
number_domain: frozenset[Type]

int8: Integer
int16: Integer
int32: Integer
int64: Integer
uint8: Integer
uint16: Integer
uint32: Integer
uint64: Integer
float16: Float
bfloat16: Float
float32: Float
float64: Float
complex64: Complex
complex128: Complex
boolean: Boolean
bool_: Boolean
intp: Integer
uintp: Integer
intc: Integer
uintc: Integer
ssize_t: Integer
size_t: Integer
byte: Integer
char: Integer
uchar: Integer
short: Integer
ushort: Integer
int_: Integer
uint: Integer
long_: Integer
ulong: Integer
longlong: Integer
ulonglong: Integer
float_: Float
double: Float
b1: Boolean
i1: Integer
i2: Integer
i4: Integer
i8: Integer
u1: Integer
u2: Integer
u4: Integer
u8: Integer
f2: Float
f4: Float
f8: Float
c8: Complex
c16: Complex
int8x1: Vector
int8x2: Vector
int8x3: Vector
int8x4: Vector
int16x1: Vector
int16x2: Vector
int16x3: Vector
int16x4: Vector
int32x1: Vector
int32x2: Vector
int32x3: Vector
int32x4: Vector
int64x1: Vector
int64x2: Vector
int64x3: Vector
int64x4: Vector
uint8x1: Vector
uint8x2: Vector
uint8x3: Vector
uint8x4: Vector
uint16x1: Vector
uint16x2: Vector
uint16x3: Vector
uint16x4: Vector
uint32x1: Vector
uint32x2: Vector
uint32x3: Vector
uint32x4: Vector
uint64x1: Vector
uint64x2: Vector
uint64x3: Vector
uint64x4: Vector
float16x1: Vector
float16x2: Vector
float16x3: Vector
float16x4: Vector
bfloat16x1: Vector
bfloat16x2: Vector
bfloat16x3: Vector
bfloat16x4: Vector
float32x1: Vector
float32x2: Vector
float32x3: Vector
float32x4: Vector
float64x1: Vector
float64x2: Vector
float64x3: Vector
float64x4: Vector
none: NoneType
void: NoneType
voidptr: Array

def CPointer(dtype: Type) -> Type: ...
