"""Explicit signatures: as types, text and lists; conversion of arguments as in C; the best match; result types."""

import numpy as np
import pytest

from krait import float32, float64, int32, int64, jit, types, void
from krait.errors import TypingError


def plus(a, b):
    return a + b


@pytest.mark.parametrize(
    "signature",
    [
        "float32(float32, float32)",
        "f4(f4,f4)",
        " float32 ( float32 , float32 ) ",
        "types.float32(types.float32, float_)",
        float32(float32, float32),
        (float32, float32),
        "(float32, float32)",
        ["float32(float32, float32)"],
        [(float32, float32)],
        (np.float32, np.dtype("f4")),
    ],
    ids=str,
)
def test_forms(signature):
    f = jit(signature)(plus)
    assert f.signatures == [(float32, float32)]
    assert type(f(1, 2)) is np.float32
    assert f(1, 2.5) == 3.5
    assert f.signatures == [(float32, float32)]


def test_arrays_in_text():
    f = jit("void(f4[:], f4[::1], f8[:, :], f8[:, ::1], f8[::1, :])")(lambda a, b, c, d, e: None)
    assert f.signatures == [(float32[:], float32[::1], float64[:, :], float64[:, ::1], float64[::1, :])]


def test_constructors_in_text():
    f = jit("Tuple((i8, f4))(UniTuple(f8, 2), Optional(int64), none)")(lambda a, b, c: (1, a[0]))
    (types_,) = f.signatures
    assert types_ == (types.UniTuple(float64, 2), types.Optional(int64), types.void)
    assert f((1, 2), None, None) == (1, np.float32(1))
    assert type(f((1, 2), 3, None)[1]) is np.float32


@pytest.mark.parametrize(
    "text",
    [
        "",
        "float32",
        "float33(int8)",
        "float32(int8",
        "float32(int8))",
        "f4[:](f4[:,::1,:])",
        "f4[::2](f4)",
        "f4(f4 f4)",
        "(f4",
        "List(f4)(f4)",
        "f4[1](f4)",
        "UniTuple(f4)(f4)",
    ],
)
def test_bad_text_says_where(text):
    with pytest.raises(TypeError, match="signature|expected"):
        jit(text)(plus)


def test_wrong_number_of_types():
    with pytest.raises(TypeError, match="2 parameters"):
        jit("f4(f4)")(plus)


def test_errors_come_at_decoration():
    with pytest.raises(TypingError):

        @jit("float64(float64)")
        def f(x):
            return x.nothing


def test_arguments_convert_as_in_c():
    same = {
        t: jit((t,))(lambda x: x)
        for t in (types.int8, types.uint8, int32, int64, types.uint64, float32, float64, types.bool_, types.float16)
    }
    assert same[types.int8](300) == np.int8(44)
    assert same[types.uint8](-1) == 255
    assert same[int32](3.99) == 3 and same[int32](-3.99) == -3
    assert same[types.uint64](-1) == 2**64 - 1
    assert same[types.uint64](2**64 - 1) == 2**64 - 1
    assert same[float32](0.1) == np.float32(0.1)
    assert same[float32](2**24 + 1) == np.float32(2**24)
    assert same[types.bool_](0.5) and not same[types.bool_](0)
    assert same[types.float16](1e6) == np.inf and same[types.float16](0.1) == np.float16(0.1)
    assert same[int64](np.float32(7.5)) == 7 and same[float64](np.uint8(200)) == 200.0
    assert same[float64](True) == 1.0
    for t, f in same.items():
        assert type(f(1)) is type(t(1))


def test_what_does_not_convert():
    f = jit("f8(f8)")(lambda x: x)
    for bad in (1j, None, "x", np.zeros(3), (1.0,)):
        with pytest.raises(TypeError):
            f(bad)
    g = jit("f8(f8[::1])")(lambda a: a[0])
    for bad in (np.zeros(4)[::2], np.zeros(3, np.float32), np.zeros((2, 2)), 1.0, [1.0]):
        with pytest.raises(TypeError):
            g(bad)


def test_any_layout_takes_every_layout():
    f = jit("f8(f8[:, :])")(lambda a: a[1, 0])
    a = np.arange(12.0).reshape(3, 4)
    for array in (a, a.T, a[:, ::2]):
        assert f(array) == array[1, 0]
    readonly = a.copy()
    readonly.flags.writeable = False
    with pytest.raises(TypeError):
        f(readonly)
    assert len(f.signatures) == 1


def test_the_best_match_is_taken():
    @jit(["int32(int32)", "int64(int64)", "float32(float32)", "float64(float64)"])
    def f(x):
        return x

    for value, expected in [
        (np.int32(1), np.int32),
        (np.int64(1), np.int64),
        (np.float32(1), np.float32),
        (np.float64(1), np.float64),
        (np.int8(1), np.int32),
        (np.float16(1), np.float32),
        (1.5, np.float64),
        (1, np.int64),
    ]:
        assert type(f(value)) is expected, value
    with pytest.raises(TypeError, match="fits the arguments"):
        f(1j)


def test_the_result_converts_to_the_declared_type():
    assert type(jit("float32(int64)")(lambda x: x * 2)(3)) is np.float32
    assert type(jit("int8(float64)")(lambda x: x)(3.7)) is np.int8
    assert jit("void(int64)")(lambda x: x)(3) is None
    assert jit("float64(float64)")(lambda x: x)(2) == 2.0
    with pytest.raises(TypingError, match="declares"):
        jit("float64(complex128)")(lambda x: x)


def test_python_types_in_signatures():
    f = jit((int, float))(plus)
    assert type(f(1, 2.5)) is float
    assert type(jit("int(int, int)")(plus)(np.int8(1), 2)) is int


def test_recursion_with_a_signature():
    @jit("int64(int64)")
    def fib(n):
        return n if n < 2 else fib(n - 1) + fib(n - 2)

    assert fib(15) == 610
    assert fib.signatures == [(int64,)]


def test_no_arguments():
    assert jit("int64()")(lambda: 3)() == 3
    assert jit(void())(lambda: None)() is None
