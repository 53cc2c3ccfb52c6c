"""Functions of C among the globals, of ctypes and of cffi: each call against the same one by the interpreter."""

import ctypes
import gc
import math
import os
import subprocess
import sys
from types import ModuleType

import numpy as np
import pytest

from krait import cfunc, cuda, errors, njit, prange, vectorize
from krait.extending import get_cython_function_address

libc, libm = ctypes.CDLL(None), ctypes.CDLL("libm.so.6")


def foreign(library, name, result, *args):
    function = library[name]
    function.argtypes, function.restype = args, result
    return function


D, I = ctypes.c_double, ctypes.c_int
cos, power = foreign(libm, "cos", D, D), foreign(libm, "pow", D, D, D)
cosf, ldexp = foreign(libm, "cosf", ctypes.c_float, ctypes.c_float), foreign(libm, "ldexp", D, D, I)
absolute, long_absolute = foreign(libc, "abs", I, I), foreign(libc, "labs", ctypes.c_long, ctypes.c_long)
pid = foreign(libc, "getpid", I)
libm.sin.argtypes, libm.sin.restype = [D], D
zero = foreign(libc, "memset", None, ctypes.c_void_p, I, ctypes.c_size_t)


def of_cfunc(signature, function):
    return cfunc(signature)(function).ctypes


def test_numbers():
    @njit
    def f(x, n):
        return cos(x), power(x, n), libm.sin(x), cosf(x), ldexp(x, n), absolute(-n), long_absolute(-n), pid(), cos(True)

    for x, n in (0.5, 3), (2.0, 40), (np.float64(1.25), 7):
        assert f(x, n) == f.py_func(x, n)
        assert [type(each) for each in f(x, n)] == [type(each) for each in f.py_func(x, n)]


@pytest.mark.parametrize("signature", [
    "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "boolean"])
def test_integers_of_each_width(signature):
    same = of_cfunc(f"{signature}({signature})", lambda x: x)
    widened = of_cfunc(f"int64({signature})", lambda x: np.int64(x) if signature != "uint64" else np.int64(x >> 1))

    @njit
    def f(x):
        return same(x), widened(x)

    for x in 0, 1, 127, 128, -1, -128, 255, 300, 65535, 2**31, 2**32 - 1, 2**63 - 1, -2**63, True:
        assert f(x) == f.py_func(x), x
        assert type(f(x)[0]) is type(f.py_func(x)[0]) or signature == "uint64"


def test_what_is_made_of_an_address():
    made = ctypes.CFUNCTYPE(D, D, D)(ctypes.cast(libm.hypot, ctypes.c_void_p).value)

    @njit
    def f(x, y):
        return made(x, y) + made(y, 1)

    assert f(3.0, 4.0) == f.py_func(3.0, 4.0) == 5 + math.hypot(4, 1)


def test_arrays_are_their_addresses():
    total = of_cfunc("float64(int32, CPointer(float64))", lambda n, x: x[0] + x[n - 1])

    @njit
    def f(x):
        first = total(len(x), x.ctypes)
        zero(x.ctypes, 0, 8)
        return first, x[0], total(3, x.ctypes)

    x = np.array([1.5, 2, 3, 4])
    assert f(x) == (5.5, 0, 3) and x.tolist() == [0, 2, 3, 4]
    with pytest.raises(errors.TypingError, match=r"takes a pointer to float64 as argument 2, not array\(int64"):
        njit(lambda x: total(len(x), x.ctypes))(np.arange(3))


def test_effects_are_kept():
    count = np.zeros(1)
    bump = of_cfunc("void(CPointer(float64))", lambda x: step(x))

    @njit
    def f(x, n):
        for _ in range(n):
            bump(x.ctypes)
        return x[0], bump(x.ctypes)

    assert f(count, 5) == (5, None) and count[0] == 6


@njit
def step(x):
    x[0] += 1


def test_loops_ufuncs_and_threads():
    @njit(parallel=True)
    def f(x, out):
        for i in prange(len(x)):
            out[i] = cos(x[i])

    x = np.linspace(0, 3, 100)
    out = np.zeros_like(x)
    f(x, out)
    expected = [cos(each) for each in x]
    assert out.tolist() == expected
    assert vectorize(["float64(float64)"])(lambda x: cos(x))(x).tolist() == expected


def test_the_code_keeps_the_function():
    def make():
        plus = of_cfunc("float64(float64)", lambda x: x + 1)
        f = njit(lambda x: plus(x))
        assert f(1.0) == 2
        return f

    f = make()
    gc.collect()
    assert f(2.0) == 3


def test_another_function_under_the_name():
    scope = {"njit": njit, "g": cos}
    exec("@njit\ndef f(x):\n    return g(x)", scope)
    assert scope["f"](0.5) == cos(0.5)
    scope["g"] = libm.sin
    assert scope["f"](0.5) == libm.sin(0.5)


CACHED = """
import ctypes, sys
from krait import njit
libm = ctypes.CDLL("libm.so.6")
g = libm[sys.argv[1]]
g.argtypes, g.restype = [ctypes.c_double], ctypes.c_double
@njit(cache=True)
def f(x):
    return g(x)
assert f(0.5) == g(0.5)
"""


def test_the_disk_cache_has_no_address(tmp_path):
    program = tmp_path / "cached.py"
    program.write_text(CACHED)
    stored = []
    for name in "cos", "sin", "cos", "sin":  # each process has the library elsewhere
        subprocess.run([sys.executable, program, name], check=True,
                       env={**os.environ, "KRAIT_CACHE": "1", "KRAIT_CACHE_DIR": str(tmp_path / "cache")})
        stored.append(sorted(path.name for path in (tmp_path / "cache").iterdir()))
    assert stored[0] and stored[1] == stored[3]


def without(**changes):
    function = ctypes.CDLL("libm.so.6").cos
    function.argtypes, function.restype = [D], D
    for name, value in changes.items():
        setattr(function, name, value)
    return function


class Pair(ctypes.Structure):
    _fields_ = [("x", D)]


@pytest.mark.parametrize("function, why", [
    (without(argtypes=None), "it has no argtypes"),
    (without(argtypes=[ctypes.py_object]), "its argument 1 is py_object"),
    (without(argtypes=[Pair]), "its argument 1 is Pair"),
    (without(argtypes=[ctypes.c_longdouble]), "its argument 1 is c_longdouble"),
    (without(restype=lambda x: x), "its restype is <lambda>"),
    (without(restype=ctypes.c_void_p), "it gives a pointer"),
    (without(errcheck=lambda *a: a[0]), "it has an errcheck"),
    (ctypes.CFUNCTYPE(D, D)(lambda x: x), "it calls a Python function"),
    (ctypes.pythonapi.Py_IsInitialized, "it has no argtypes"),
])
def test_what_is_refused(function, why):
    with pytest.raises(errors.KraitError, match=why) as told:
        njit(lambda x: function(x))(1.0)
    assert "hint: " in str(told.value)


def test_arguments_that_do_not_fit():
    with pytest.raises(errors.TypingError, match="`abs` takes int32 as argument 1, not float"):
        njit(lambda x: absolute(x))(1.5)
    with pytest.raises(errors.TypingError, match="`cos` takes float64 as argument 1, not"):
        njit(lambda x: cos(x))(np.zeros(3))
    for call in lambda x: cos(x, x), lambda x: power(x):
        with pytest.raises(errors.KraitError, match="argument"):
            njit(call)(1.0)


def test_kernels_have_none():
    @cuda.jit
    def kernel(x):
        x[0] = cos(x[0])

    with pytest.raises(errors.KraitError, match="run on the host alone") as told:
        kernel[1, 1](np.zeros(1))
    assert "hint: " in str(told.value)


def test_functions_of_cffi():
    cffi = pytest.importorskip("cffi")
    ffi = cffi.FFI()
    ffi.cdef("double cos(double); double ldexp(double, int); int abs(int); int printf(const char *, ...); "
             "char *getenv(char *);")
    lib = ffi.dlopen("libm.so.6")
    c = ffi.dlopen(None)
    g = c.abs

    @njit
    def f(x, n):
        return lib.cos(x), lib.ldexp(x, n), g(-n)

    assert f(0.5, 3) == f.py_func(0.5, 3) and type(f(0.5, 3)[2]) is int
    for call in f, f.py_func:
        with pytest.raises(OverflowError):
            call(0.5, 2**40)
    refused = (lambda x: c.printf(x), "any number of arguments"), (lambda x: c.getenv(x), r"argument 1 is char \*")
    for call, why in refused:
        with pytest.raises(errors.KraitError, match=why):
            njit(call)(1)


def test_a_module_that_cffi_has_made(tmp_path, monkeypatch):
    cffi = pytest.importorskip("cffi")
    ffi = cffi.FFI()
    ffi.cdef("double twice(double); int8_t narrow(int8_t);")
    ffi.set_source("krait_test_twice", "#include <stdint.h>\nstatic double twice(double x) { return 2 * x; }\n"
                                       "static int8_t narrow(int8_t x) { return (int8_t)(x + 1); }")
    try:
        ffi.compile(tmpdir=str(tmp_path))
    except Exception as error:  # no compiler, or none of its headers
        pytest.skip(f"no module can be made: {error}")
    monkeypatch.syspath_prepend(str(tmp_path))
    lib = __import__("krait_test_twice").lib

    @njit
    def f(x, n):
        return lib.twice(x), lib.narrow(n)

    assert f(1.5, 4) == f.py_func(1.5, 4) == (3, 5)


def test_what_cython_exports(monkeypatch):
    """A module of Cython's has its functions for C in capsules, whose names are their types in C."""
    api = ctypes.pythonapi
    new = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)(("PyCapsule_New", api))
    name = b"double (double)"  # a capsule refers to its name
    address = ctypes.cast(ctypes.CDLL("libm.so.6").erf, ctypes.c_void_p).value
    module = ModuleType("made_by_cython")
    module.__pyx_capi__ = {"erf": new(address, name, None)}
    monkeypatch.setitem(sys.modules, "made_by_cython", module)
    assert get_cython_function_address("made_by_cython", "erf") == address
    erf = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(address)
    assert njit(lambda x: erf(x))(0.5) == math.erf(0.5)
    with pytest.raises(ImportError, match="made_by_cython exports no function 'erfc'"):
        get_cython_function_address("made_by_cython", "erfc")
