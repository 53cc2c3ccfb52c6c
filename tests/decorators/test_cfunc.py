"""cfunc: functions that C code calls by their address, here through ctypes and the C library."""

import ctypes
import gc
import math
import sys

import numpy as np
import pytest

from krait import carray, cfunc, jit, types
from krait.errors import TypingError

NUMBERS = {
    "bool": ctypes.c_bool,
    "int8": ctypes.c_int8,
    "int16": ctypes.c_int16,
    "int32": ctypes.c_int32,
    "int64": ctypes.c_int64,
    "uint8": ctypes.c_uint8,
    "uint16": ctypes.c_uint16,
    "uint32": ctypes.c_uint32,
    "uint64": ctypes.c_uint64,
    "float32": ctypes.c_float,
    "float64": ctypes.c_double,
}


@pytest.mark.parametrize("name", NUMBERS)
def test_every_number_goes_in_and_comes_out(name):
    @cfunc(f"{name}({name}, int8, {name})")
    def choose(a, which, b):
        return a if which > 0 else b

    kind = NUMBERS[name]
    call = ctypes.CFUNCTYPE(kind, kind, ctypes.c_int8, kind)(choose.address)
    values = [False, True] if name == "bool" else [0, 1, 100, kind(-1).value, kind(2**31 - 5).value]
    for a in values:
        for b in values:
            assert call(a, 1, b) == kind(a).value and call(a, -1, b) == kind(b).value
            assert choose.ctypes(a, -100, b) == kind(b).value


def test_the_declared_result_is_what_c_sees():
    assert cfunc("float64(int32)")(lambda x: x + 1).ctypes(2) == 3.0
    assert cfunc("float32(float64)")(lambda x: x / 3).ctypes(1.0) == float(np.float32(1 / 3))
    assert cfunc("void(int64)")(lambda x: None).ctypes(1) is None


def test_pointers():
    @cfunc("float64(int32, CPointer(float64))")
    def norm(n, x):
        total = 0.0
        for i in range(n):
            total += x[i] * x[i]
        return math.sqrt(total)

    @cfunc(types.void(types.CPointer(types.int32), types.intp))
    def double(x, n):
        for i in range(n):
            x[i] *= 2

    numbers = (ctypes.c_double * 3)(2, 3, 6)
    assert norm.ctypes(3, numbers) == 7 and norm.ctypes(0, None) == 0
    array = np.arange(5, dtype=np.int32)
    double.ctypes(array.ctypes.data_as(ctypes.POINTER(ctypes.c_int32)), 5)
    assert array.tolist() == [0, 2, 4, 6, 8]


def test_the_c_library_sorts_with_it():
    @cfunc("int32(CPointer(float64), CPointer(float64))")
    def compare(a, b):
        return -1 if a[0] < b[0] else 1 if a[0] > b[0] else 0

    x = np.random.default_rng(1).uniform(size=1000)
    ordered = np.sort(x)
    size = ctypes.c_size_t
    ctypes.CDLL(None).qsort(x.ctypes.data_as(ctypes.c_void_p), size(1000), size(8), compare.ctypes)
    np.testing.assert_array_equal(x, ordered)


def test_what_it_raises_is_reported_and_the_result_is_zero(monkeypatch):
    seen = []
    monkeypatch.setattr(sys, "unraisablehook", lambda what: seen.append((what.exc_value, what.object)))

    @cfunc("int64(int64)")
    def picky(x):
        if x < 0:
            raise ValueError("negative", x)
        if x == 0:
            raise ZeroDivisionError
        return 10 // x

    call = picky.ctypes
    assert (call(5), call(-3), call(0)) == (2, 0, 0)
    (first, function), (second, _) = seen
    assert first.args == ("negative", -3) and function is picky.py_func and type(second) is ZeroDivisionError


def test_what_the_interpreter_raises_is_reported_unless_the_error_model_is_that_of_numpy(monkeypatch):
    seen = []
    monkeypatch.setattr(sys, "unraisablehook", lambda what: seen.append(str(what.exc_value)))

    def root(x):
        return math.sqrt(x)

    assert math.isnan(cfunc("float64(float64)", error_model="numpy")(root).ctypes(-1)) and not seen
    assert cfunc("float64(float64)")(root).ctypes(-1) == 0 and seen == ["math domain error"]


def test_it_lives_as_long_as_its_ctypes_function():
    call = cfunc("int64(int64)")(lambda x: x + 1).ctypes
    gc.collect()
    assert call(41) == 42


def test_python_and_compiled_functions_call_it_as_the_function_it_is():
    @cfunc("float64(float64)")
    def half(x):
        return x / 2

    assert half(3) == 1.5 and half.__name__ == "half" and half.native_name == "krait_half"
    assert jit(lambda x: half(x) + 1)(4.0) == 3.0


@pytest.mark.parametrize(
    "signature, error, message",
    [
        ("Tuple((f8, f8))(float64)", TypingError, "gives a number or nothing, not .float64, float64."),
        ("float64(float64[:])", TypingError, "is a number or a CPointer"),
        ("complex64(float64[:])", TypingError, "is a number or a CPointer"),
        (["float64(float64)"], TypeError, "one signature"),
        (5, TypeError, "one signature"),
        ("float64(float64, float64)", TypeError, "2 argument types"),
    ],
)
def test_what_c_cannot_call_is_refused(signature, error, message):
    with pytest.raises(error, match=message):
        cfunc(signature)(lambda x: 1.0)


def test_an_option_that_there_is_not_is_one_of_cfunc():
    with pytest.raises(TypeError, match="^cfunc has no option 'nopyhton'.*did you mean 'nopython'"):
        cfunc("float64(float64)", nopyhton=True)(lambda x: x)


def test_the_result_of_a_complex_function():
    with pytest.raises(TypingError, match="the result is complex128, and the signature says float64"):
        cfunc("float64(float64)")(lambda x: x + 1j)


Z = {"complex64": np.complex64(2 - 3j), "complex128": np.complex128(1e300 + 3j)}


@pytest.mark.parametrize("name", Z)
def test_complex_numbers_go_in_and_come_out(name):
    same = cfunc(f"{name}({name})")(lambda z: z).ctypes
    assert same(Z[name]) == Z[name] and type(same(1j)) is complex
    assert (same(2), same(np.float32(2.5)), same(True)) == (2, 2.5, 1)
    assert cfunc(f"{name}(float64)")(lambda x: x).ctypes(0.5) == 0.5
    assert cfunc(f"float32({name})")(lambda z: z.imag).ctypes(3 - 4j) == -4
    with pytest.raises(ctypes.ArgumentError):
        same("1j")


@pytest.mark.parametrize("before", range(10))
def test_complex_numbers_where_registers_run_out(before):
    """Each is passed as C passes it: in registers, or on the stack where too few are left."""
    names = ["float64", "complex128", "complex64", "float32", "complex128", "int64", "complex64", "float64"]
    types_ = ["float64"] * before + names
    made = {}
    body = " + ".join(f"{i + 1} * x{i}" for i in range(len(types_)))
    exec(f"def total({', '.join(f'x{i}' for i in range(len(types_)))}):\n    return {body}", made)
    values = [i - 5 if "complex" not in name else complex(i, 2 - i) for i, name in enumerate(types_)]
    total = cfunc(f"complex128({', '.join(types_)})")(made["total"])
    assert total.ctypes(*values) == made["total"](*values)


def test_a_complex_function_that_raises(monkeypatch):
    seen = []
    monkeypatch.setattr(sys, "unraisablehook", lambda what: seen.append(what.exc_value))

    @cfunc("complex64(complex64)")
    def picky(z):
        if z.real < 0:
            raise ValueError("negative", z.real)
        return z * 2

    assert (picky.ctypes(1 + 1j), picky.ctypes(-1)) == (2 + 2j, 0)
    assert [error.args for error in seen] == [("negative", -1)]


def test_pointers_to_complex_numbers():
    @cfunc("complex128(CPointer(complex128), intp)")
    def ends(z, n):
        return z[0] + z[n - 1]

    z = np.arange(4) + 2j
    assert ends.ctypes(z.ctypes.data_as(ctypes.c_void_p), 4) == ends.ctypes(z.ctypes.data, 4) == 3 + 4j


def test_quad_of_scipy():
    scipy = pytest.importorskip("scipy")
    integrate = pytest.importorskip("scipy.integrate")

    @cfunc("float64(float64)")
    def f(t):
        return math.exp(-t) / t**2

    expected = integrate.quad(f.py_func, 1, np.inf)
    assert integrate.quad(f.ctypes, 1, np.inf) == pytest.approx(expected)
    assert integrate.quad(scipy.LowLevelCallable(f.ctypes), 1, np.inf) == pytest.approx(expected)


def test_carray_and_farray_give_a_pointer_a_shape():
    from krait import carray, farray

    @cfunc("float64(CPointer(float64), int64, int64)")
    def corner(p, n, m):
        a, b = carray(p, (n, m)), farray(p, (n, m))
        return a[n - 1, 0] * 100 + b[n - 1, 0] + a.size

    data = (ctypes.c_double * 12)(*range(12))
    assert corner.ctypes(data, 3, 4) == 800 + 2 + 12

    @cfunc("float64(CPointer(uint8), int64)")
    def second(p, n):
        return carray(p, n, np.float64)[1]

    assert second.ctypes(ctypes.cast(data, ctypes.POINTER(ctypes.c_uint8)), 12) == 1
    pointer = ctypes.cast(data, ctypes.POINTER(ctypes.c_double))
    assert (carray(pointer, (3, 4)) == np.arange(12).reshape(3, 4)).all()
    assert (farray(pointer, (3, 4)) == np.arange(12).reshape(3, 4, order="F")).all()
    assert carray(ctypes.cast(data, ctypes.c_void_p), 6, "f8").tolist() == [0, 1, 2, 3, 4, 5]


def test_pointers_to_anything():
    from krait import carray

    @cfunc("float64(float64, voidptr)")
    def scaled(x, data):
        return x * carray(data, (2,), types.float64)[1]

    numbers = np.array([3.0, 4.0])
    assert scaled.ctypes.argtypes == (ctypes.c_double, ctypes.c_void_p)
    assert scaled.ctypes(2.0, numbers.ctypes.data) == 8
    declared = cfunc(types.void(types.voidptr, types.intp))
    assert declared(lambda data, n: None).ctypes.argtypes == (ctypes.c_void_p, ctypes.c_int64)
    integrate, scipy = pytest.importorskip("scipy.integrate"), pytest.importorskip("scipy")
    callback = scipy.LowLevelCallable(scaled.ctypes, numbers.ctypes.data_as(ctypes.c_void_p))
    assert integrate.quad(callback, 0, 1)[0] == pytest.approx(2)


def test_filters_of_scipy():
    from krait import carray

    ndimage, scipy = pytest.importorskip("scipy.ndimage"), pytest.importorskip("scipy")

    @cfunc("intc(CPointer(float64), intp, CPointer(float64), voidptr)")
    def mean(values, count, result, data):
        result[0] = carray(values, (count,)).mean()
        return 1

    image = np.random.default_rng(1).random((9, 7))
    ours = ndimage.generic_filter(image, scipy.LowLevelCallable(mean.ctypes), size=3)
    np.testing.assert_allclose(ours, ndimage.generic_filter(image, np.mean, size=3))


def test_a_function_pointer_of_cffi():
    cffi = pytest.importorskip("cffi")
    ffi = cffi.FFI()
    total = cfunc("float64(int32, CPointer(float32), voidptr)")(lambda n, x, y: float(n) + x[0])
    pointer = total.cffi
    assert ffi.typeof(pointer) is ffi.typeof("double(*)(int, float *, void *)")
    del total
    gc.collect()
    assert pointer(3, ffi.new("float[]", [0.5]), ffi.NULL) == 3.5
    assert ffi.typeof(cfunc("void()")(lambda: None).cffi) is ffi.typeof("void(*)()")
    swapped = cfunc("complex64(complex128, CPointer(complex64))")(lambda z, p: p[0]).cffi
    assert ffi.typeof(swapped) is ffi.typeof("float _Complex(*)(double _Complex, float _Complex *)")


def test_types_of_cffi():
    cffi = pytest.importorskip("cffi")
    from krait.core.typing.cffi_utils import map_type

    ffi = cffi.FFI()
    ffi.cdef("""enum e { A, B };
        typedef struct point { char c; int i; double d; float af[2][3]; struct { short s; } inner; } point;
        typedef struct { unsigned a : 3; } bits;
        typedef double (*callback)(point *, size_t, void *, unsigned char, enum e);""")
    ffi.cdef("typedef struct { char c; double d; } packed;", packed=True)
    sizes = {"short": 2, "unsigned int": 4, "long": 8, "size_t": 8, "int8_t": 1, "float": 4, "double": 8, "_Bool": 1}
    for name, size in sizes.items():
        mapped = map_type(ffi.typeof(name))
        values = ("0.5",) if name in ("float", "double") else ("True", "False") if name == "_Bool" else ("-1", "3")
        assert np.dtype(str(mapped).replace("boolean", "bool")).itemsize == size
        for value in values:  # what C makes of the number is what the type does
            c = ffi.cast(name, eval(value))
            expected = float(c) if name in ("float", "double") else int(c)
            assert cfunc(mapped(mapped))(lambda x: x).ctypes(expected) == expected
    signature = map_type(ffi.typeof("callback"), use_record_dtype=True)

    @cfunc(signature)
    def total(points, n, factor, add, which):
        sum_ = 0.0
        for point in carray(points, n):
            sum_ += point.i + point.d + point.af[1, 2] + point.inner.s
        return sum_ * carray(factor, (1,), types.float64)[0] + add + which

    points = ffi.new("point[]", 2)
    points[0].i, points[1].d, points[1].af[1][2], points[0].inner.s = 3, 4.5, 8, -2
    assert total.cffi(ffi.cast("void *", points), 2, ffi.new("double *", 2.0), 100, 1) == (3 + 4.5 + 8 - 2) * 2 + 101
    packed = map_type(ffi.typeof("packed"), use_record_dtype=True)
    assert (packed.size, packed.offset("d")) == (ffi.sizeof("packed"), ffi.offsetof("packed", "d"))
    assert map_type(ffi.typeof("void *")) is types.voidptr and map_type(ffi.typeof("void")) is types.void
    assert map_type(ffi.typeof("char")) is types.char
    assert map_type(ffi.typeof("float _Complex(*)(double _Complex)")) == types.complex64(types.complex128)
    for text, error in (("bits", ValueError), ("long double", TypeError), ("point[3]", TypeError)):
        with pytest.raises(error):
            map_type(ffi.typeof(text), use_record_dtype=True)
    with pytest.raises(TypeError, match="use_record_dtype=True"):
        map_type(ffi.typeof("point"))


def test_structures_laid_out_as_in_c():
    class Point(ctypes.Structure):
        _fields_ = [("c", ctypes.c_int8), ("d", ctypes.c_double), ("n", ctypes.c_int16), ("f", ctypes.c_float * 3)]

    fields = [("c", types.int8), ("d", types.float64), ("n", types.int16)]
    fields.append(("f", types.NestedArray(dtype=types.float32, shape=(3,))))
    point = types.Record.make_c_struct(fields)
    assert point is types.Record(fields) and point.size == ctypes.sizeof(Point)
    assert [point.offset(name) for name in "cdnf"] == [getattr(Point, name).offset for name in "cdnf"]

    @cfunc(types.float64(types.CPointer(point), types.intc))
    def total(points, n):
        return carray(points, n)["d"].sum() + points[0].f[2] + points[1].n

    points = (Point * 2)((1, 2.5, 3, (4, 5, 6)), (7, 8.5, 9))
    assert total.ctypes(ctypes.cast(points, ctypes.c_void_p), 2) == 2.5 + 8.5 + 6 + 9


def test_it_shows_its_code():
    assert "define" in cfunc("float64(float64)")(lambda x: x * 2).inspect_llvm()
