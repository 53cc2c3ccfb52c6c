"""Names that Numba's programs import, declare types with and set: what they mean here."""

import os
import subprocess
import sys
from collections import namedtuple
from enum import IntEnum
from typing import Optional

import numpy as np
import pytest

import krait
from krait import errors, njit, typed, typeof, types
from krait.extending import overload


def test_exceptions_and_warnings_have_numbas_names():
    for name in ("TypingError", "UnsupportedError", "LoweringError", "NumbaTypeError", "ForceLiteralArg"):
        assert issubclass(getattr(errors, name), errors.NumbaError)
    for name in ("NumbaDeprecationWarning", "NumbaPendingDeprecationWarning", "NumbaPerformanceWarning"):
        assert issubclass(getattr(errors, name), errors.NumbaWarning) and issubclass(getattr(errors, name), Warning)
    assert errors.NumbaPerformanceWarning is errors.PerformanceWarning
    with pytest.raises(errors.NumbaError):
        njit(lambda x: x + "a")(1)


def test_modules_below_core():
    import krait.core.types
    from krait.core import config, types as others
    from krait.core.errors import TypingError
    from krait.core.registry import CPUDispatcher

    assert others is types and krait.core.types is types and config is krait.config
    assert TypingError is errors.TypingError
    assert isinstance(njit(lambda x: x), CPUDispatcher)
    program = "import krait; assert krait.np.numpy_support.as_dtype(krait.int8) == 'i1' and krait.core.typing"
    subprocess.run([sys.executable, "-c", program], check=True, timeout=100)


def test_modules_that_programs_import_names_from():
    from krait.core.ccallback import CFunc
    from krait.core.decorators import jit, njit as other_njit
    from krait.core.runtime.nrt import rtsys
    from krait.core.sigutils import is_signature, normalize_signature
    from krait.core.typing.asnumbatype import as_numba_type
    from krait.core.typing.templates import Signature, signature
    from krait.core.typing.typeof import typeof as other_typeof
    from krait.core.utils import PYVERSION, pysignature
    from krait.experimental import jitclass, structref
    from krait.experimental.jitclass import jitclass as other_jitclass
    from krait.misc.literal import literally
    from krait.misc.special import literal_unroll, prange
    from krait.np.numpy_support import numpy_version
    from krait.np.ufunc.decorators import guvectorize, vectorize
    from krait.stencils.stencil import StencilFunc
    from krait.typed.typeddict import Dict
    from krait.typed.typedlist import List

    assert (jit, other_njit, literally, prange) == (krait.jit, njit, krait.literally, krait.prange)
    assert (vectorize, guvectorize, other_typeof) == (krait.vectorize, krait.guvectorize, typeof)
    assert jitclass is other_jitclass is krait.experimental.jitclass and structref.register
    assert as_numba_type(list[float]) == types.ListType(types.float64)
    assert literal_unroll is krait.literal_unroll and List is typed.List and Dict is typed.Dict
    assert isinstance(krait.cfunc("f8(f8)")(lambda x: x), CFunc)
    assert isinstance(krait.stencil(lambda a: a[0]), StencilFunc)
    assert PYVERSION == sys.version_info[:2] and list(pysignature(lambda a, b: a).parameters) == ["a", "b"]
    assert numpy_version == tuple(int(part) for part in np.__version__.split(".")[:2])
    assert rtsys.get_allocation_stats().alloc >= 0
    two = signature(types.float64, types.int32)
    assert isinstance(two, Signature) and is_signature(two) and is_signature("f8(i4)") and not is_signature(3)
    assert normalize_signature(two) == normalize_signature("f8(i4)") == ((types.int32,), types.float64)
    assert normalize_signature((types.int32,)) == normalize_signature("(i4,)") == ((types.int32,), None)
    for wrong in (3, types.int32):
        with pytest.raises(TypeError, match="a signature is"):
            normalize_signature(wrong)


def test_threads_by_the_names_of_numbas_module():
    from krait.np.ufunc import parallel

    assert parallel.get_thread_count() == krait.config.NUMBA_NUM_THREADS >= parallel.get_num_threads() >= 1
    assert parallel.get_thread_id() == 0 and parallel.set_num_threads is krait.set_num_threads


def test_functions_of_numbas_unsafe_modules():
    from krait.cpython.unsafe.tuple import tuple_setitem
    from krait.np.extensions import cross2d
    from krait.np.unsafe.ndarray import to_fixed_tuple

    with pytest.raises(errors.NumbaError, match=r"to_fixed_tuple is not there yet\n.*write the items, as"):
        to_fixed_tuple(np.arange(3), 3)

    def changed(t):
        for i in range(len(t)):
            t = tuple_setitem(t, i, t[i] * 10)
        return np.empty(t).shape

    assert njit(changed)((1, 2, 3)) == changed((1, 2, 3)) == (10, 20, 30)
    grid = np.arange(20).reshape(4, 5)
    assert njit(lambda a, at: a[tuple_setitem(at, 1, 3)])(grid, (2, 0)) == grid[2, 3]
    product = njit(lambda a, b: cross2d(a, b))
    assert product(np.array([1.0, 2.0]), np.array([3.0, 5.0])) == 1 * 5 - 2 * 3
    rows = np.array([[1.0, 0.0], [0.0, 2.0]])
    np.testing.assert_array_equal(product(rows, rows[::-1]), [2.0, -2.0])


def test_modules_of_numbas_are_attributes():
    program = ("import krait; krait.misc.special.prange; krait.np.ufunc.parallel.get_num_threads; krait.core.sigutils; "
               "krait.stencils.stencil.stencil; krait.cpython.unsafe.tuple; krait.np.unsafe.ndarray")
    subprocess.run([sys.executable, "-c", program], check=True, timeout=100)


def refuses(name):
    def g(x):
        pass

    @overload(g)
    def typed_g(x):
        raise getattr(errors, name)("not this one")

    with pytest.raises(errors.TypingError, match="not this one"):
        njit(lambda x: g(x))(1)


@pytest.mark.parametrize("name", ["NumbaTypeError", "NumbaValueError", "RequireLiteralValue"])
def test_overloads_refuse_by_any_of_them(name):
    refuses(name)


def test_types_of_containers_and_texts():
    numbers, table = types.ListType(types.int64), types.DictType(types.unicode_type, types.float64[:])
    assert numbers is typeof([1]) is types.List(types.int64) and numbers.dtype is typeof(1)
    assert table.key_type is types.unicode_type is typeof("a") and table.value_type == types.float64[:]
    assert types.DictType(types.int64, types.float64) is typeof({1: 2.0})
    assert types.Set(types.unicode_type) is typeof({"a"})
    assert isinstance(types.unicode_type, types.UnicodeType) and isinstance(typeof({1: 2}), types.DictType)
    assert not isinstance(types.int64, types.UnicodeType)
    with pytest.raises(AttributeError, match="key_type"):
        numbers.key_type  # noqa: B018


def more(values, table, name, first):
    values.append(len(name))
    table[name] = first if first is not None else -1
    return table


@pytest.mark.parametrize("signature", [
    "DictType(unicode_type, int64)(ListType(int64), DictType(unicode_type, int64), unicode_type, optional(int64))",
    types.DictType(types.unicode_type, types.int64)(
        types.ListType(types.int64), types.DictType(types.unicode_type, types.int64), types.unicode_type,
        types.optional(types.int64)),
])  # fmt: skip
def test_signatures_name_them(signature):
    f, values = njit(signature)(more), typed.List([5])
    assert f(values, {"a": 1}, "bcd", 4) == {"a": 1, "bcd": 4} and values == [5, 3]
    assert f([], {}, "", None) == {"": -1}
    with pytest.raises(TypeError):
        f([], {}, 3, None)


PAIRS, NUMBERS = types.UniTuple(types.int64, 2), types.ListType(types.float64)
TEXTS = types.DictType(types.int64, types.unicode_type)


@njit
def nested(n):
    a = typed.Dict.empty(PAIRS, NUMBERS)
    b = typed.List.empty_list(TEXTS)
    if n:
        a[n, n] = [0.5]
        b.append({n: "x"})
    return a, b, len(a) + len(b)


def test_containers_of_containers_are_declared():
    assert nested(0) == ({}, [], 0) and nested(2) == ({(2, 2): [0.5]}, [{2: "x"}], 2)
    empty = typed.List.empty_list(types.int32)
    assert njit(lambda x, v: x.append(v))(empty, np.int32(3)) is None and type(empty[0]) is np.int32


def test_recursive_classes_are_declared_as_numba_wants_it():
    node_type = krait.deferred_type()

    @krait.jitclass([("data", types.int32), ("next", krait.optional(node_type))])
    class Node:
        def __init__(self, data, next):
            self.data, self.next = data, next

    node_type.define(Node.class_type.instance_type)
    of_nodes = Node.class_type.instance_type

    @njit
    def made(n):
        rest = typed.List.empty_list(of_nodes)
        for i in range(n):
            rest.append(Node(i, None))
        named = typed.Dict.empty(types.unicode_type, of_nodes)
        named["last"] = rest[-1]
        return named["last"]

    assert made(3).data == 2 and made(3).next is None


def test_signatures_that_name_instances_wait_for_calls():
    """What a class's instances hold, calls tell; other signatures of such a list are no reason to refuse them."""
    @krait.jitclass([("value", types.int64)])
    class Bag:
        def __init__(self, value):
            self.value = value

    bag = Bag.class_type.instance_type
    for signatures in (types.int64(bag), [types.int64(bag)], (bag,), types.int64(krait.optional(bag)),
                       [types.float64(types.float64), types.int64(bag)]):
        value = njit(signatures)(lambda x: x.value if isinstance(x, Bag) else x)
        assert value.signatures == [] and value(Bag(3)) == 3
    assert njit(bag(types.int64))(lambda n: Bag(n))(4).value == 4
    with pytest.raises(TypeError, match="has 2 argument types"):
        njit(types.int64(bag, bag))(lambda x: 1)


def test_programs_make_types_of_their_own():
    class IntervalType(types.Type):
        def __init__(self, name="Interval"):
            super().__init__(name=name)

    class OtherType(types.Type):
        pass

    made, other = IntervalType(), IntervalType("Other")
    assert str(made) == made.name == "Interval" and made == IntervalType() and hash(made) == hash(IntervalType())
    assert made != other and made != OtherType() and made != types.int64 and types.int64 != made and made != 3
    assert isinstance(made, types.Type) and not isinstance(made, types.Number)
    f = njit(types.float64(made))(lambda x: x)
    assert f(2.5) == 2.5 and f.signatures == [(typeof(2.5),)]


def test_python_numbers_have_types_that_equal_their_own():
    assert typeof(1) == types.int64 and typeof(1.5) == types.float64 and typeof(1j) == types.complex128
    assert typeof(True) == types.boolean and typeof((1, 2.5)) == types.Tuple((types.int64, types.float64))
    assert types.Optional(typeof(1)) == types.optional(types.int64) and typeof([1]) == types.ListType(types.int64)
    assert typeof(1) != types.int32 and typeof(1) != types.float64 and not typeof(1) == 1
    assert typeof(1) is not types.int64 and hash(typeof((1, 2))) == hash(types.UniTuple(types.int64, 2))
    assert {types.int64: "found"}[typeof(1)] == "found" and typeof(1) in (types.int64, types.uint64)

    class Colour(IntEnum):
        RED = 1

    assert typeof(Colour.RED) != types.int64

    @njit
    def f(x, y):
        return x + y

    f(1, 2.5)
    assert f.signatures == [(types.int64, types.float64)]
    assert f.nopython_signatures == [types.float64(types.int64, types.float64)]
    assert f.overloads[types.int64, types.float64].signature.return_type == types.float64
    assert f.inspect_asm((types.int64, types.float64)) == f.inspect_asm(f.signatures[0]) != ""
    f(np.int64(1), 2.5)
    assert len(f.signatures) == 2 and [s.args[0].weak for s in f.nopython_signatures] == [True, False]
    assert f.get_overload(f.signatures[1]).signature.args[0] is types.int64
    assert f.stats._fields == ("cache_path", "cache_hits", "cache_misses") and f.stats._asdict()["cache_misses"] == 2


def test_exceptions_that_programs_raise_are_told_apart():
    assert errors.NumbaTypeError is not errors.NumbaValueError and not issubclass(errors.NumbaTypeError, ValueError)
    for name, base in (("NumbaTypeError", "TypingError"), ("RequireLiteralValue", "TypingError"),
                       ("VerificationError", "IRError"), ("InternalTargetMismatchError", "InternalError"),
                       ("ForbiddenConstruct", "LoweringError"), ("UnsupportedRewriteError", "UnsupportedError")):
        assert issubclass(getattr(errors, name), getattr(errors, base)) and getattr(errors, name).__name__ == name
        assert issubclass(getattr(errors, name), errors.NumbaError)
    with pytest.raises(errors.NumbaValueError) as caught:
        raise errors.NumbaValueError("odd")
    assert not isinstance(caught.value, errors.NumbaTypeError) and str(caught.value) == "odd"


def test_signatures_that_name_functions_wait_for_calls():
    of_float = types.FunctionType(types.float64(types.float64))

    @njit("float64(float64)")
    def half(x):
        return x / 2

    @njit(types.float64(of_float, types.float64))
    def twice(f, x):
        return f(f(x))

    assert twice(half, 8.0) == 2.0
    named = typed.Dict.empty(types.unicode_type, of_float)
    named["half"] = half
    assert njit(lambda d: d["half"](5.0))(named) == 2.5


def test_annotations_have_types():
    from krait.extending import as_numba_type

    assert as_numba_type(int) == types.int64 and as_numba_type(str) == types.unicode_type
    assert as_numba_type(list[float]) == types.ListType(types.float64)
    assert as_numba_type(dict[str, int]) == types.DictType(types.unicode_type, types.int64)
    assert as_numba_type(tuple[int, bool]) == types.Tuple((types.int64, types.boolean))
    assert as_numba_type(int | None) == as_numba_type(Optional[int]) == types.optional(types.int64)
    with pytest.raises(errors.TypingError, match="has no type in compiled code"):
        as_numba_type(object)


def test_a_signature_is_no_type_of_an_argument():
    with pytest.raises(TypeError, match="a function is an argument as it is"):
        types.int64(types.int64(types.int64), types.int64)
    assert krait.core.typing.signature(types.int64, types.float64) == types.int64(types.float64)


def test_nothing_is_compiled_where_that_is_asked_for():
    text = """
import krait
@krait.njit("int64(int64)", parallel=True)
def f(x):
    return type(x)
assert f(1) is int and krait.config.DISABLE_JIT == 1
krait.config.DISABLE_JIT = 0
assert type(krait.njit(f)) is krait.Dispatcher
"""
    subprocess.run([sys.executable, "-c", text], check=True, env={**os.environ, "KRAIT_DISABLE_JIT": "1"}, timeout=100)


def test_everything_is_imported_by_a_star():
    names = {}
    exec("from krait import *", names)
    wanted = """cfunc from_dtype guvectorize jit jitclass njit stencil typeof prange vectorize literal_unroll pndindex
        get_num_threads set_num_threads parallel_chunksize float64 int32 void errors""".split()
    assert [name for name in wanted if name not in names] == []


def test_types_tell_their_parts():
    table = types.float64[:, ::1]
    assert table.copy(ndim=1) == types.float64[::1] and table.copy(dtype=types.int32) == types.int32[:, ::1]
    assert table.copy(layout="A") == types.float64[:, :] and table.copy() == table
    assert table.copy(readonly=True).mutable is False and table.copy(readonly=True).copy(ndim=3).mutable is False
    with pytest.raises(TypeError, match="layout is"):
        table.copy(layout="X")
    raw = np.zeros(9, np.uint8)[1:].view(np.float64)
    assert types.Array(types.float64, 1, "C", aligned=False) == typeof(raw) != types.float64[::1]
    assert types.Array(types.float64, 1, "C", aligned=True) is types.float64[::1]
    assert njit((types.Array(types.float64, 1, "C", aligned=False),))(lambda x: x[0] + 1)(raw) == 1
    assert (table.is_contig, table.is_c_contig, table.is_f_contig, table.aligned) == (True, True, False, True)
    assert types.float64[::1].is_f_contig and not types.float64[:].is_contig

    pair = types.Tuple((types.int64, types.float32))
    assert len(pair) == 2 and pair[1] == pair[-1] == types.float32 and list(pair) == list(pair.types)
    assert len(types.UniTuple(types.int8, 3)) == 3 and len(types.Tuple(())) == 0
    with pytest.raises(IndexError):
        pair[2]
    assert types.complex64.underlying_float == types.float32 and types.int8.cast_python_value("3") == np.int8(3)
    assert types.ListType(types.unicode_type).item_type == types.unicode_type
    assert types.signed_domain < types.integer_domain < types.number_domain and types.float32 in types.real_domain
    for value in (3, True, "a"):
        known = types.literal(value)
        assert known.literal_value is value and isinstance(known, types.Literal) and known == types.literal(value)
        assert types.unliteral(known) == krait.typeof(value)
    assert isinstance(types.literal(3), types.IntegerLiteral) and types.maybe_literal(2.5) is None
    assert types.literal(1) != types.literal(True)
    with pytest.raises(errors.TypingError, match="no literal"):
        types.literal(2.5)


Pair = namedtuple("Pair", "x y")


def test_overloads_ask_for_classes_of_types():
    asked = ("NamedTuple", "BaseTuple", "BaseAnonymousTuple", "SliceType", "NumberClass", "DType", "RangeType",
             "Buffer", "Sequence")  # fmt: skip
    found = []

    def tell(x):
        raise NotImplementedError

    @overload(tell)
    def told(x):
        found.append({name for name in asked if isinstance(x, getattr(types, name))})
        if isinstance(x, types.DType):
            found.append(x.dtype)
        if isinstance(x, types.NumberClass):
            found.append(x.instance_type)
        return lambda x: 0

    @njit
    def f(n):
        tell(Pair(n, 2))
        tell((n, 2))
        tell(slice(1, n))
        tell(range(n))
        tell(np.zeros(n))
        tell(str(n))
        tell(np.float32)
        tell(np.dtype("int8"))

    f(1)
    assert found == [
        {"NamedTuple", "BaseTuple", "Sequence"},
        {"BaseAnonymousTuple", "BaseTuple", "Sequence"},
        {"SliceType"},
        {"RangeType", "Sequence"},
        {"Buffer"},
        {"Sequence"},
        {"NumberClass"},
        types.float32,
        {"DType"},
        types.int8,
    ]


def test_dispatchers_tell_what_numbas_do():
    @njit
    def f(x, y=2, *, z=3):
        return x + y + z

    assert f.__code__ is f.py_func.__code__ and f.__defaults__ == (2,) and f.__kwdefaults__ == {"z": 3}
    f.py_func.__defaults__ = (5,)
    assert f.__defaults__ == (5,)

    @njit
    def g(x):
        return x * 2

    with pytest.raises(KeyError, match="nothing was compiled"):
        g.get_overload((types.float32,))
    result = g.get_compile_result((types.float32,))
    assert result.signature.return_type == types.float32 and result.objectmode is False
    assert g.get_overload((types.float32,)).signature.args == result.signature.args == (types.float32,)
    assert g.signatures == [(types.float32,)]
    assert g.typeof_pyval(np.float32(1)) == types.float32


def test_caching_is_switched_on_later(tmp_path):
    text = """
import krait
f = krait.njit(lambda x: x * 3)
f(1)
assert f.stats.cache_path is None
f.enable_caching()
assert f(2.5) == 7.5 and f.stats.cache_path
print([m["from_cache"] for m in f.get_metadata().values()])
"""
    program = tmp_path / "program.py"
    program.write_text(text)
    environment = {**os.environ, "KRAIT_CACHE_DIR": str(tmp_path / "cache")}
    told = [subprocess.run([sys.executable, program], env=environment, check=True, timeout=100, capture_output=True,
                           text=True).stdout for _ in range(2)]  # fmt: skip
    assert told == ["[False, False]\n", "[False, True]\n"]


def test_settings_say_what_the_machine_is():
    config = krait.config
    assert config.PYVERSION == sys.version_info[:2] and config.MACHINE_BITS == sys.maxsize.bit_length() + 1
    assert (config.IS_WIN32, config.IS_OSX) == (sys.platform == "win32", sys.platform == "darwin")
    for name in ("DEBUG_NRT", "LLVM_PASS_TIMINGS", "JIT_COVERAGE", "USING_SVML", "TRACE"):  # there is no such part
        assert not getattr(config, name)


def test_modules_below_types_and_ufunc():
    import krait.core.types.npytypes as npytypes
    from krait.core.types.abstract import Number
    from krait.core.types.containers import ListType, UniTuple
    from krait.core.types.misc import Omitted, unliteral
    from krait.core.types.scalars import Integer
    from krait.np.ufunc.dufunc import DUFunc
    from krait.np.ufunc.gufunc import GUFunc

    assert npytypes.Array is types.Array and (ListType, UniTuple) == (types.ListType, types.UniTuple)
    assert (Omitted, unliteral, Number, Integer) == (types.Omitted, types.unliteral, types.Number, types.Integer)
    assert isinstance(krait.vectorize(lambda x: x), DUFunc) and not isinstance(np.add, DUFunc)
    assert isinstance(krait.guvectorize(["f8[:],f8[:]"], "(n)->(n)")(lambda a, b: None), GUFunc)
    assert krait.np.ufunc.dufunc.DUFunc is DUFunc


def test_the_version_in_parts():
    info = krait.version_info
    assert ".".join(map(str, info.full)) == krait.__version__.split("+")[0] and info.string == krait.__version__
    assert info.short == (info.major, info.minor) and info.tuple == info.full and info[:2] == info.short


def test_what_builds_llvm_says_what_to_use():
    from krait.core import cgutils

    with pytest.raises(errors.UnsupportedError, match="takes the text of LLVM IR"):
        cgutils.create_struct_proxy(types.int64)
