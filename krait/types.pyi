from collections.abc import Iterable
from typing import Any, Literal, overload

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
    def layout(self) -> Literal["C", "F", "A"]: ...
    @property
    def mutable(self) -> bool: ...
    @property
    def count(self) -> int: ...
    @property
    def types(self) -> tuple[Type, ...]: ...
    @property
    def type(self) -> Type: ...
    @overload
    def __call__(self, *types: _TypeLike) -> Signature: ...
    @overload
    def __call__(self, value: Any, /) -> Any: ...
    def __getitem__(self, key: slice | tuple[slice, ...], /) -> Array: ...

class Number(Type): ...
class Boolean(Number): ...
class Integer(Number): ...
class Float(Number): ...
class Complex(Number): ...

class Array(Type):
    def __new__(
        cls, dtype: _TypeLike, ndim: int, layout: Literal["C", "F", "A"] = "C", readonly: bool = False
    ) -> Array: ...

class Tuple(Type):
    def __new__(cls, types: Iterable[_TypeLike]) -> Tuple: ...

class UniTuple(Tuple):
    def __new__(cls, dtype: _TypeLike, count: int) -> UniTuple: ...

class Optional(Type):
    def __new__(cls, type: _TypeLike) -> Optional: ...

class NoneType(Type): ...
class Opaque(Type): ...

int8: Integer
int16: Integer
int32: Integer
int64: Integer
uint8: Integer
uint16: Integer
uint32: Integer
uint64: Integer
float16: Float
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
none: NoneType
void: NoneType
