"""krait.types: names, array types, classes, conversion, typeof, and the type of every kind of argument."""

import pickle

import numpy as np
import pytest

import krait
from krait import float32, float64, int64, jit, typeof, types

NAMES = {
    "int8": "i1",
    "int16": "i2",
    "int32": "i4",
    "int64": "i8",
    "uint8": "u1",
    "uint16": "u2",
    "uint32": "u4",
    "uint64": "u8",
    "float16": "f2",
    "float32": "f4",
    "float64": "f8",
    "complex64": "c8",
    "complex128": "c16",
}


@pytest.mark.parametrize("name", NAMES)
def test_names_and_short_names(name):
    type_ = getattr(krait, name)
    assert type_ is getattr(types, name) is getattr(krait, NAMES[name])
    assert str(type_) == name
    assert type_.dtype == np.dtype(name)
    assert type_.bitwidth == 8 * np.dtype(name).itemsize
    limits = np.iinfo(name) if np.dtype(name).kind in "iu" else None
    assert getattr(type_, "minval", None) == (limits and limits.min)
    assert getattr(type_, "maxval", None) == (limits and limits.max)
    assert typeof(np.zeros(1, name)[0]) is type_
    assert isinstance(type_, types.Number)


def test_aliases():
    assert types.boolean is types.bool_ is krait.b1
    assert types.intp is types.int_ is types.long_ is types.ssize_t is types.int64
    assert types.uintp is types.size_t is types.uint is types.uint64
    assert types.intc is types.int32 and types.uintc is types.uint32
    assert types.byte is types.uchar is types.uint8 and types.char is types.int8
    assert types.short is types.int16 and types.ushort is types.uint16
    assert types.double is types.float64 and types.float_ is types.float32
    assert types.void is types.none


def test_classes():
    assert isinstance(types.int8, types.Integer) and types.int8.signed and not types.uint8.signed
    assert (
        isinstance(float32, types.Float)
        and isinstance(types.complex64, types.Complex)
        and isinstance(types.bool_, types.Boolean)
    )
    assert isinstance(float32[:], types.Array) and not isinstance(float32, types.Array)
    assert isinstance(typeof((1, 1)), types.UniTuple) and isinstance(typeof((1, 1)), types.Tuple)
    assert not isinstance(typeof((1, 1.5)), types.UniTuple)
    assert isinstance(typeof(None), types.NoneType)
    with pytest.raises(AttributeError):
        float32.ndim
    with pytest.raises(TypeError):
        types.Integer("int8")


def test_array_types():
    assert float32[:] is types.Array(float32, 1, "A")
    assert float32[::1] is types.Array(float32, 1, "C") is types.Array(float32, 1, "F")
    assert float32[:, :] is types.Array(float32, 2, "A")
    assert float32[:, ::1] is types.Array(float32, 2, "C")
    assert float32[::1, :] is types.Array(float32, 2, "F")
    assert float32[:, :, ::1].ndim == 3
    array = float64[:, ::1]
    assert (array.dtype, array.ndim, array.layout, array.mutable) == (float64, 2, "C", True)
    assert not types.Array(float64, 2, "C", readonly=True).mutable
    for key in (0, slice(1, None), (slice(None, None, 2),), (slice(None, None, 1), slice(None, None, 1)), "x"):
        with pytest.raises(TypeError):
            float32[key]
    with pytest.raises(TypeError):
        float32[:][:]


def test_tuple_types():
    pair = types.Tuple((types.int8, float32))
    assert pair.types == (types.int8, float32) and pair.count == 2
    assert types.UniTuple(float32, 3) is types.Tuple([float32] * 3)
    assert types.UniTuple(float32, 3).dtype is float32
    assert types.Optional(float32).type is float32
    assert types.Optional(types.Optional(float32)) is types.Optional(float32)


def test_typeof():
    assert [str(typeof(v)) for v in (1, 1.0, True, 1j, None)] == ["int", "float", "bool", "complex", "None"]
    assert typeof(1).weak and not typeof(np.int64(1)).weak
    a = np.zeros((3, 4), np.float32)
    assert typeof(a) is float32[:, ::1]
    assert typeof(a.T) is float32[::1, :]
    assert typeof(a[:, ::2]) is float32[:, :]
    assert typeof(np.zeros(())).ndim == 0
    assert typeof((1, (2.0,))) is types.Tuple((typeof(1), types.Tuple((typeof(2.0),))))
    assert typeof([1]) is types.ListType(types.int64) and isinstance(typeof({}), types.DictType)
    tables = ({1: 2.0}, {"a"}, {"a": {(1, 2.5): [3]}})
    assert [str(typeof(table)) for table in tables] == [
        "dict(int, float)", "set(string)", "dict(string, dict((int, float), list(int)))"
    ]
    for bad in (object(), np.zeros(1, "V3"), np.longdouble(1)):
        with pytest.raises(TypeError):
            typeof(bad)


def test_a_type_converts_a_value():
    assert type(float32(1)) is np.float32
    assert types.int8(3.7) == 3 and type(types.int8(3.7)) is np.int8
    assert type(types.bool_(2)) is np.bool_
    assert types.complex64(1).dtype == np.complex64
    assert typeof(1)(2.5) == 2
    with pytest.raises(TypeError):
        float32[:](3)


@pytest.mark.parametrize("type_", [types.int8, types.uint16, types.float32, types.complex64])
def test_a_type_converts_in_compiled_code(type_):
    convert = jit(lambda x: type_(x))
    assert type(convert(3)) is type(type_(3))
    assert convert(3) == type_(3)


def test_a_type_makes_a_signature():
    signature = float32(float32, int64)
    assert signature.args == (float32, int64)
    assert signature.return_type is float32
    assert str(signature) == "(float32, int64) -> float32"
    assert types.void().args == ()
    assert float32(np.float32, int) == float32(float32, typeof(1))
    assert signature == float32(float32, int64) and hash(signature) == hash(float32(float32, int64))
    assert signature != float64(float32, int64)


@pytest.mark.parametrize(
    "type_",
    [float32, typeof(1), float32[:, ::1], types.Tuple((types.int8, float32[:])), types.Optional(float64), types.void],
    ids=str,
)
def test_types_are_pickled_to_themselves(type_):
    assert pickle.loads(pickle.dumps(type_)) is type_


def test_signatures_are_pickled():
    signature = float32(float32, int64)
    assert pickle.loads(pickle.dumps(signature)) == signature
