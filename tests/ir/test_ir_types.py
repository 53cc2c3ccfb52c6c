"""Types and constants of the intermediate representation: their text, what they have in common, their layout; memory
that runs out."""

import ctypes
import re

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from ir_cases import CANONICAL, FAULTY_FORM, run
from krait import _testing
from portions import examples

# ---- types and constants ---------------------------------------------------------------------------------------------

STRONG = ["bool_", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32",
          "float64", "complex64", "complex128"]
WEAK = ["int", "float", "complex", "bool"]

scalars = st.sampled_from(STRONG + WEAK)


@st.composite
def arrays(draw):
    ndim = draw(st.integers(0, 32))
    layouts = "C" if ndim == 0 else "CA" if ndim == 1 else "CFA"
    readonly = draw(st.sampled_from(["", ", readonly"]))
    return f"array({draw(st.sampled_from(STRONG))}, {ndim}, {draw(st.sampled_from(layouts))}{readonly})"


def tuple_text(items):
    return f"({', '.join(items)}{',' if len(items) == 1 else ''})"


objects = st.integers(0, 2**32 - 1)
leaves = st.one_of(
    scalars,
    arrays(),
    arrays().map("flat({})".format),
    scalars.map("dtype({})".format),
    st.tuples(st.sampled_from(["class", "class#7"]), scalars).map("{0[0]}({0[1]})".format),
    st.sampled_from(["S1", "U256", "enum app.E#4", "frozen a.<locals>.P#3(x: int)",
                     "datetime64", "timedelta64[25s]", "array(datetime64[ns], 1, C)",
                     "float32x4", "int8x3", "uint16x1", "float64x2", "array(float32x4, 2, C)", "class(float32x2)",
                     'record(x: float32 @ 0, y: int64 @ 8; 16, 8)', 'recordclass(x: int8 @ 0, y: float32 @ 1; 5, 1)',
                     'record("a b": int8 @ 0, "\\"\\\\": nested(int16, 2, 3) @ 2, '
                     'n: record(u: bool_ @ 0; 1, 1) @ 15; 16, 2)',
                     'ref(record(x: int8 @ 0; 1, 1))', 'ref(record(x: int8 @ 0; 1, 1), readonly)',
                     'array(record(x: int8 @ 0; 1, 1), 1, A, readonly)']),
    st.sampled_from(["enum#3", "flag#3", "None", "bottom", "range", "Ellipsis", "str", "func(math.sin)"]),
    st.builds("{}#{}".format, st.sampled_from(["pyfunc", "exc_class", "object"]), objects),
)


def compose(inner):
    items = st.lists(inner, max_size=4)
    optional = inner.filter(lambda text: text != "None" and not text.endswith("?"))
    return st.one_of(
        items.map(tuple_text),
        optional.map("{}?".format),
        inner.map("cell({})".format),
        inner.map("set({})".format),
        st.builds("dict({}, {})".format, inner, inner),
        st.builds(lambda what, parts: f"{what}#7({', '.join(f'f{i}: {part}' for i, part in enumerate(parts))})",
                  st.sampled_from(["named", "instance", "frozen"]), items),
        st.builds("slice({}, {}, {})".format, inner, inner, inner),
        st.builds(lambda kind, ref, parts: f"{kind}#{ref}({', '.join(parts)})", st.sampled_from(["closure", "exc"]),
                  objects, items),
        st.builds(lambda kind, parts: f"iter.{kind}({', '.join(parts)})",
                  st.sampled_from("range tuple array flat enumerate zip reversed".split()), items),
    )


types = st.recursive(leaves, compose, max_leaves=12)


@given(types)
@settings(max_examples=examples(500))
def test_type_text_comes_back(text):
    assert run("type_roundtrip", text) == text  # run() also checks that both texts are one interned type


@pytest.mark.parametrize("text, canonical", [
    ("bool", "bool"),
    ("int??", "int?"),
    ("None?", "None"),
    ("array(float32, 1, F)", "array(float32, 1, C)"),
    ("array(float32, 0, A)", "array(float32, 0, C)"),
    ("array( bool , 2 , A , readonly )", "array(bool_, 2, A, readonly)"),
    ("( int,float , )", "(int, float)"),
    ("func(MATH_SIN)", "func(math.sin)"),
])
def test_types_have_one_form(text, canonical):
    assert run("type_roundtrip", text) == canonical


@pytest.mark.parametrize("text", [
    "", "integer", "int32x", "(int)", "(,)", "(int float)", "(int", "array(float32, 33, C)", "array(float32, 1, X)",
    "array((int,), 1, C)", "array(None, 1, C)",
    "S0", "U257", "datetime64[]", "datetime64[x]", "timedelta64[0s]", "datetime64[s",
    "float32x5", "float32x0", "boolx2", "intx2", "complex64x2", "x2",
    "record(; 1, 1)", "record(x: int8 @ 1; 1, 1)", "record(x: int64 @ 0; 8, 3)", "record(x: int64 @ 0; 10, 4)",
    "record(x: (int,) @ 0; 8, 8)", "record(x int8 @ 0; 1, 1)", 'record("x: int8 @ 0; 1, 1)', "ref(int8)",
    "ref(float32x4)", "nested(int8)", "nested(int8, 2147483647, 2147483647)",
    "array(float32, 1)", "slice(int, int)", "flat(int)", "dtype(None)", "cell()", "pyfunc",
    "dict(int)", "dict(int, int, int)", "set()", "set(int, int)",
    "enum", "enum#0", "flag", "named#0(x: int)", "named#1(int)", "named#1(x: int, )", "named#1",
    "pyfunc#", "pyfunc#4294967296", "pyfunc#-1", "func(none.such)", "func()", "iter.nothing(int)", "int)", "range(int)",
])
def test_what_is_not_a_type(text):
    with pytest.raises(ValueError):
        run("type_roundtrip", text)


@given(st.floats())
@settings(max_examples=examples(300))
def test_float_constants_are_exact(value):
    text = run("const_roundtrip", repr(value))
    assert repr(float(text)) == repr(value) or (value != value and text == "nan")
    assert re.search(r"[.en]", text)


@given(st.integers(-(2**63), 2**63 - 1))
def test_int_constants(value):
    assert run("const_roundtrip", str(value)) == str(value)


@pytest.mark.parametrize("text", [
    "enum#3(-5)", "flag#3(0)", "named#7(x: int, y: float)(1, 2.5)", "named#7(x: enum#3)(enum#3(1),)", "named#7()()",
    "(named#7(x: (int,))((1,),), 2)",
])
def test_constants_of_classes(text):
    assert run("const_roundtrip", text) == text


@pytest.mark.parametrize("text", [
    "named#7(x: int)(1.5,)", "named#7(x: int)(1, 2)", "named#7(x: int)", "enum#3", "enum#3(1.5)",
    "9223372036854775808", "uint64(18446744073709551616)", "int8(1.5)", "bool_(1)", "float32(x)", "complex(1.0)",
    '"open', '"\\q"', "(1", "slice(1, 2)", "int", "str", "1.2.3", "1e", "",
])
def test_what_is_not_a_constant(text):
    with pytest.raises(ValueError):
        run("const_roundtrip", text)


def test_scalar_table_against_numpy():
    for name, char, kind, size, _ in _testing.table("scalars"):
        if name == "bfloat16":  # that of another package
            assert (char, kind, size) == ("E", "f", 2)
            continue
        dtype = np.dtype(name)
        assert (dtype.char, dtype.kind, dtype.itemsize) == (char, kind, size)


def test_tables_are_consistent():
    ops = _testing.table("ops")
    assert len({row[0] for row in ops}) == len(ops)
    for text, operands, _, effects, doc in ops:
        assert operands >= -1 and doc and effects and set(effects) <= set("PRWXCSNT"), text
        assert not {"X", "T"} <= set(effects), text


# ---- layout ----------------------------------------------------------------------------------------------------------

CTYPES = {
    "bool": ctypes.c_bool, "int8": ctypes.c_int8, "int16": ctypes.c_int16, "int32": ctypes.c_int32,
    "int64": ctypes.c_int64, "uint8": ctypes.c_uint8, "uint16": ctypes.c_uint16, "uint32": ctypes.c_uint32,
    "uint64": ctypes.c_uint64, "float16": ctypes.c_uint16, "float32": ctypes.c_float, "float64": ctypes.c_double,
}


def struct_of(fields):
    return type("Struct", (ctypes.Structure,), {"_fields_": [(f"f{i}", field) for i, field in enumerate(fields)]})


CTYPES["complex64"] = struct_of([ctypes.c_float] * 2)
CTYPES["complex128"] = struct_of([ctypes.c_double] * 2)
for same, name in {"bool_": "bool", "int": "int64", "float": "float64", "complex": "complex128"}.items():
    CTYPES[same] = CTYPES[name]


def layout(text):
    size, align, *offsets = map(int, run("layout", text).split())
    return size, align, offsets


def array_struct(ndim):
    return struct_of([ctypes.c_void_p] * 2 + [ctypes.c_int64] * 2 * ndim)


# (type text, the same as a C type)
c_leaves = st.one_of(
    scalars.map(lambda name: (name, CTYPES[name])),
    st.integers(0, 5).map(lambda ndim: (f"array(int8, {ndim}, C)", array_struct(ndim))),
    st.just(("range", struct_of([ctypes.c_int64] * 3))),
    st.sampled_from(["None", "str", "pyfunc#1", "dtype(int)"]).map(lambda text: (text, struct_of([]))),
    st.just(("cell(int)", ctypes.c_void_p)),
    st.just(("flat(array(int8, 2, A))", array_struct(2))),
)


def c_compose(inner):
    optional = inner.filter(lambda pair: pair[0] != "None" and not pair[0].endswith("?"))
    return st.one_of(
        st.lists(inner, max_size=5).map(
            lambda items: (tuple_text([text for text, _ in items]), struct_of([c for _, c in items]))),
        optional.map(lambda pair: (pair[0] + "?", struct_of([pair[1], ctypes.c_bool]))),
    )


@given(st.recursive(c_leaves, c_compose, max_leaves=12))
@settings(max_examples=examples(500))
def test_layout_is_that_of_c(pair):
    text, c_type = pair
    size, align, offsets = layout(text)
    assert size == ctypes.sizeof(c_type)
    assert align == ctypes.alignment(c_type)
    for index, offset in enumerate(offsets):
        assert offset == getattr(c_type, f"f{index}").offset


@given(st.lists(st.sampled_from([name for name in STRONG if name != "bool_"]), min_size=1, max_size=8))
def test_layout_is_that_of_numpy(names):
    dtype = np.dtype([(f"f{i}", name) for i, name in enumerate(names)], align=True)
    size, align, offsets = layout(tuple_text(names))
    assert (size, align) == (dtype.itemsize, dtype.alignment)
    assert offsets == [dtype.fields[f"f{i}"][1] for i in range(len(names))]


@st.composite
def strided_arrays(draw):
    """Arrays as slices and transposes make them."""
    ndim = draw(st.integers(0, 4))
    shape = draw(st.lists(st.integers(0, 4), min_size=ndim, max_size=ndim))
    array = np.empty(shape, draw(st.sampled_from(["i1", "c8"])), draw(st.sampled_from("CF")))
    steps = draw(st.lists(st.sampled_from([1, 1, -1, 2, -3]), min_size=ndim, max_size=ndim))
    return array[(*(slice(None, None, step) for step in steps),)].transpose(draw(st.permutations(range(ndim))))


@given(strided_arrays())
@settings(max_examples=examples(300))
def test_geometry_is_that_of_numpy(array):
    numbers = [", ".join(map(str, axes)) for axes in (array.shape, array.strides)]
    text = f"array({array.dtype.name}, {array.ndim}, A)[{'; '.join(numbers)}]@7"
    layout, low, high, *packed = run("strided", text).split()
    flags = array.flags
    assert layout == ("C" if flags.c_contiguous else "F" if flags.f_contiguous else "A")
    first, end = np.lib.array_utils.byte_bounds(array)
    address = array.__array_interface__["data"][0]
    assert (int(low), int(high)) == ((first - address, end - address) if array.size else (0, 0))
    if array.size:
        wanted = [np.empty(array.shape, array.dtype, order).strides for order in "CF"]
        assert [*map(int, packed)] == [*wanted[0], *wanted[1]]


def test_leaves():
    assert run("leaves", "(bool_, complex64, array(int8, 2, A), int?)") == """\
scalar bool axis=0 bytes=1 align=1 offset=0
scalar float32 axis=0 bytes=4 align=4 offset=4
scalar float32 axis=0 bytes=4 align=4 offset=8
data - axis=0 bytes=8 align=8 offset=16
owner - axis=0 bytes=8 align=8 offset=24
shape int64 axis=0 bytes=8 align=8 offset=32
shape int64 axis=1 bytes=8 align=8 offset=40
stride int64 axis=0 bytes=8 align=8 offset=48
stride int64 axis=1 bytes=8 align=8 offset=56
scalar int64 axis=0 bytes=8 align=8 offset=64
present bool axis=0 bytes=1 align=1 offset=72
"""
    # strides that the layout implies are not leaves
    assert run("leaves", "flat(array(int8, 1, C))") == """\
data - axis=0 bytes=8 align=8 offset=0
owner - axis=0 bytes=8 align=8 offset=8
shape int64 axis=0 bytes=8 align=8 offset=16
"""
    assert run("leaves", "(cell(int), iter.range(int))") == """\
state - axis=0 bytes=8 align=8 offset=0
state - axis=0 bytes=8 align=8 offset=8
"""
    assert run("leaves", "(None, (), pyfunc#1, dtype(int))") == ""


def test_kernel_params():
    arrays = "array(float32, 2, C), array(float64, 1, A, readonly)"
    assert run("kernel_params", f"(int8, {arrays}, complex64, (int, bool_?), None, range, pyfunc#1)") == """\
scalar int8 axis=0 bytes=1 align=1 offset=0 argument=0 to=0
data - axis=0 bytes=8 align=8 offset=0 argument=1 to=8
shape int64 axis=0 bytes=8 align=8 offset=16 argument=1 to=16
shape int64 axis=1 bytes=8 align=8 offset=24 argument=1 to=24
data - axis=0 bytes=8 align=8 offset=0 argument=2 to=32
shape int64 axis=0 bytes=8 align=8 offset=16 argument=2 to=40
stride int64 axis=0 bytes=8 align=8 offset=24 argument=2 to=48
scalar float32 axis=0 bytes=4 align=4 offset=0 argument=3 to=56
scalar float32 axis=0 bytes=4 align=4 offset=4 argument=3 to=60
scalar int64 axis=0 bytes=8 align=8 offset=0 argument=4 to=64
scalar bool axis=0 bytes=1 align=1 offset=8 argument=4 to=72
present bool axis=0 bytes=1 align=1 offset=9 argument=4 to=73
scalar int64 axis=0 bytes=8 align=8 offset=0 argument=6 to=80
scalar int64 axis=0 bytes=8 align=8 offset=8 argument=6 to=88
scalar int64 axis=0 bytes=8 align=8 offset=16 argument=6 to=96
104
"""
    assert run("kernel_params", "(float32, array(int8, 0, C))") == """\
scalar float32 axis=0 bytes=4 align=4 offset=0 argument=0 to=0
data - axis=0 bytes=8 align=8 offset=0 argument=1 to=8
16
"""
    assert run("kernel_params", "()") == "0\n"


@given(st.lists(st.recursive(c_leaves, c_compose, max_leaves=6), max_size=5))
def test_kernel_params_fit(pairs):
    *rows, total = run("kernel_params", tuple_text([text for text, _ in pairs])).splitlines()
    end = argument = 0
    for row in rows:
        field = dict(re.findall(r"(\w+)=(\d+)", row))
        number = {key: int(value) for key, value in field.items()}
        assert number["argument"] >= argument
        argument = number["argument"]
        # as near to the parameter before as its natural alignment, its size, lets it
        assert number["to"] == -(-end // number["bytes"]) * number["bytes"]
        end = number["to"] + number["bytes"]
        assert number["offset"] + number["bytes"] <= ctypes.sizeof(pairs[argument][1])
    assert int(total) == end


# ---- running out of memory -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("trial, text", [
    *((trial, CANONICAL["loop"])
      for trial in ("parse_print", "verify", "clone", "order", "dominators", "trivial_phis", "dead", "renumber")),
    ("parse_print", CANONICAL["constants"]),
    ("verify", FAULTY_FORM["dominance"]),
    ("type_roundtrip", "((int, float?), array(int8, 2, C), closure#3((int,), cell(float)))"),
    ("const_roundtrip", '(1, (2.0, "text"), slice(0, None, None))'),
    ("kernel_params", "(int, (float, array(int8, 3, A)))"),
    ("leaves", "(int, (float, array(int8, 3, A)))"),
])
def test_every_allocation_may_fail(trial, text):
    expected = run(trial, text)
    for n in range(1, 10000):
        try:
            result = run(trial, text, fail_after=n)
        except MemoryError:
            continue
        assert result == expected
        assert n > 3
        return
    pytest.fail("it never had enough memory")


def test_a_text_that_is_made_at_run_time():
    text = """\
func f(x: int) {
b0:
  %1 = const "{} of {}"
  %2: text(str, int, int) = format %1, %0, %0
  %3: exc#1(text(str, int, int)) = tuple %2
  raise %3
}
"""
    assert run("parse_print", text) == text
    assert run("verify", text, typed=True) == ""
    assert "the type is not a text of as many items" in run("verify", text.replace("%0, %0", "%0"), typed=True)
    other = text.replace("format %1", "format %0").replace("text(str, int, int)", "text(int, int, int)")
    assert "the template is not a constant" in run("verify", other, typed=True)


RECORDS = """\
func store(a: array(record(x: int8 @ 0, y: float64 @ 8; 16, 1), 1, C, unaligned), b: {other}) -> None {{
b0:
  %2 = const 0
  %3: ref({record}{readonly}) = getitem %1, %2
  setitem %0, %2, %3
  %4 = const None
  return %4
}}
"""


@pytest.mark.parametrize("record, readonly, faults", [
    ("record(x: int8 @ 0, y: float64 @ 8; 16, 8)", "", 0),
    ("record(x: int8 @ 0, y: float64 @ 8; 16, 8)", ", readonly", 0),
    ("record(x: int8 @ 0, y: int64 @ 8; 16, 8)", "", 1),
    ("record(x: int8 @ 8, y: float64 @ 0; 16, 8)", "", 1),
])
def test_records_of_the_same_bytes_are_stored(record, readonly, faults):
    shown = run("verify", RECORDS.format(record=record, readonly=readonly, other=f"array({record}, 1, C{readonly})"),
                typed=True)
    assert shown.count("; fault:") == faults, shown


@pytest.mark.parametrize("element, value_type, value", [
    ("timedelta64[s]", "timedelta64[s]", "timedelta64[s](1)"), ("int64", "int", "3"), ("U1", "U1", 'U1("b")')])
def test_one_value_stands_for_an_element_at_every_place(element, value_type, value):
    """Of a loop over arrays: what the arrays hold may be numbers, dates, durations or texts."""
    text = f"""\
func f(a: array({element}, 1, C)) -> None {{
b0:
  %1: {value_type} = const {value}
  map[1, numpy.add#1] %0, %0, %1
  %2: None = const None
  return %2
}}
"""
    assert "neither an array" not in run("verify", text, typed=True)
    other = text.replace(f"{value_type} = const {value}", "None = const None")
    assert "neither an array nor an element" in run("verify", other, typed=True)
