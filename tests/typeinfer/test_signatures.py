"""Explicit signatures: as types, text and lists; conversion of arguments and results; the best match; calls from
compiled code."""

import numpy as np
import pytest

from krait import cfunc, cuda, float32, float64, int32, int64, jit, types, vectorize, void
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


SCALARS = {name: getattr(np, name) for name in """bool_ int8 int16 int32 int64 uint8 uint16 uint32 uint64
                                                   float16 float32 float64 complex64 complex128""".split()}


def converted(value, to):
    """What the constructor of `to` makes of it: int() and its errors, then what the type can hold."""
    if not issubclass(to, np.complexfloating) and isinstance(value, (complex, np.complexfloating)):
        raise TypeError  # NumPy drops the imaginary part with a warning; compiled code never does
    if issubclass(to, np.integer):
        number = int(value)  # ValueError: NaN; OverflowError: infinity
        if not np.iinfo(to).min <= number <= np.iinfo(to).max:
            raise OverflowError
        return to(number)
    with np.errstate(over="ignore"):
        return to(value)


def outcome(call):
    try:
        result = call()
    except (OverflowError, ValueError, TypeError) as error:
        return type(error)
    return type(result), result.tobytes()


def interesting(scalar):
    """The ends of the type, their neighbours among other types, and what is no number."""
    if scalar is np.bool_:
        return [np.False_, np.True_]
    if issubclass(scalar, np.integer):
        ends = {int(np.iinfo(t).min) for t in SCALARS.values() if issubclass(t, np.integer)}
        ends |= {int(np.iinfo(t).max) for t in SCALARS.values() if issubclass(t, np.integer)}
        numbers = {e + d for e in ends | {0} for d in (-1, 0, 1)}
        return [scalar(n) for n in numbers if np.iinfo(scalar).min <= n <= np.iinfo(scalar).max]
    with np.errstate(all="ignore"):
        reals = [0.0, -0.0, 0.5, -0.99, -1.0, 3.99, -3.99, 127.9, -128.9, -129.0, 255.5, 256.0, 65503.0, 65520.0,
                 65536.5, 2.0**31, -(2.0**31), 2.0**32, 2.0**53 + 2, 2.0**63, -(2.0**63), -(2.0**63) * 1.0001, 2.0**64,
                 1e38, 1e300, np.inf, -np.inf, np.nan]
        return [scalar(r) for r in reals]


@pytest.mark.parametrize("to", SCALARS, ids=str)
def test_scalars_convert_as_constructors_do(to):
    """Every pair of scalar types, as an argument and as a result."""
    declared, to = getattr(types, to), SCALARS[to]
    same = jit((declared,))(lambda x: x)
    for name, scalar in SCALARS.items():
        complex_to_real = issubclass(scalar, np.complexfloating) and not issubclass(to, np.complexfloating)
        result = None if complex_to_real else jit(declared(getattr(types, name)))(lambda x: x)
        for value in interesting(scalar):
            expected = outcome(lambda: converted(value, to))
            assert outcome(lambda: same(value)) == expected, (value, to)
            if result:
                assert outcome(lambda: result(value)) == expected, (value, to)


@pytest.mark.parametrize("to", SCALARS, ids=str)
def test_python_numbers_convert_as_constructors_do(to):
    declared, to = getattr(types, to), SCALARS[to]
    same = jit((declared,))(lambda x: x)
    ints = [b * s + d for k in (0, 7, 8, 15, 16, 31, 32, 63, 64, 100, 2000) for b in (2**k,) for s in (1, -1)
            for d in (-1, 0, 1)]
    for value in [*ints, True, False, *map(float, interesting(np.float64)), 1j]:
        if isinstance(value, int) and abs(value) > 2**64 and issubclass(to, (np.float16, np.float32)):
            continue  # NumPy's own errors differ between versions
        assert outcome(lambda: same(value)) == outcome(lambda: converted(value, to)), (value, to)


def test_a_type_stays_what_the_signature_says():
    for name, scalar in SCALARS.items():
        assert type(jit((getattr(types, name),))(lambda x: x)(1)) is scalar


@pytest.mark.parametrize(
    "signature, value, error, text",
    [
        ("int64(int64)", 2**63, OverflowError, "Python integer 9223372036854775808 out of bounds for int64"),
        ("int64(int64)", 1e300, OverflowError, r"float 1e\+300 out of bounds for int64"),
        ("int64(int64)", float("nan"), ValueError, "cannot convert float NaN to integer"),
        ("int64(int64)", float("inf"), OverflowError, "cannot convert float infinity to integer"),
        ("uint8(uint8)", -1, OverflowError, "Python integer -1 out of bounds for uint8"),
        ("uint64(uint64)", -(2**70), OverflowError, "Python integer -1180591620717411303424 out of bounds for uint64"),
        ("int8(float64)", 200.5, OverflowError, "float 200.5 out of bounds for int8"),
    ],
)
def test_what_does_not_fit_is_told(signature, value, error, text):
    with pytest.raises(error, match=r"<lambda>\(\), argument 'x': " + text if signature != "int8(float64)" else text):
        jit(signature)(lambda x: x)(value)


def test_what_does_not_fit_a_kernel_is_told():
    @cuda.jit("void(uint8, int32[::1])")
    def k(a, out):
        out[0] = a

    out = np.zeros(1, np.int32)
    with pytest.raises(OverflowError, match=r"k\(\), argument 'a': Python integer -1 out of bounds for uint8"):
        k[1, 1](-1, out)
    k[1, 1](255, out)
    assert out[0] == 255


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
    assert jit("void(int64)")(lambda x: None)(3) is None
    assert jit("float64(float64)")(lambda x: x)(2) == 2.0
    with pytest.raises(TypingError, match="declares"):
        jit("float64(complex128)")(lambda x: x)


def test_items_of_a_declared_tuple_convert_each_for_itself():
    text, day = types.unicode_type, np.datetime64("2020-02-01", "D")
    f = jit(types.Tuple((types.float32, text, types.optional(text), types.none))(types.int64, text))(
        lambda n, s: (n + 1, s + "!", s, None))
    for got in (f(2, "a"), jit(lambda n, s: f(n, s))(2, "a")):
        assert got == (3.0, "a!", "a", None) and type(got[0]) is np.float32
    inner = jit(types.Tuple((types.float64, types.Tuple((text, types.int64))))(types.int64))(lambda n: (n, ("x", n)))
    assert inner(2) == (2.0, ("x", 2))
    dated = types.Tuple((types.float64, types.NPDatetime("D")))(types.int64, types.NPDatetime("D"))
    assert jit(dated)(lambda n, d: (n, d))(2, day) == (2.0, day)


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


# ---- calls from compiled code ---------------------------------------------------------------------------------------


def both(f, *args):
    """What a function gives when it is called, and when compiled code calls it."""
    count = len(args)
    caller = jit({1: lambda a: f(a), 2: lambda a, b: f(a, b)}[count])
    results = []
    for call in (f, caller):
        try:
            value = call(*args)
        except (TypeError, TypingError) as error:
            results.append((TypeError, "fits" in str(error) or "declared type" in str(error)))
        except (ValueError, OverflowError) as error:
            results.append((type(error), True))
        else:
            results.append((type(value), value))
    return results


def test_a_signature_holds_wherever_the_function_is_called_from():
    @jit("int32(float64, float64)")
    def add(a, b):
        return a + b

    for args in ((1.6, 2.5), (1, 2), (np.float32(0.5), True), (1e9, 1e9), (1e300, 0.0), (np.nan, 1.0), (np.inf, 1.0)):
        direct, compiled = both(add, *args)
        assert direct == compiled, args
    assert both(add, 1.6, 2.5)[1] == (np.int32, 4)
    assert both(add, 1e9, 2e9)[1] == (OverflowError, True)


@pytest.mark.parametrize("value", [1, 2.5, np.int8(3), np.float32(2), np.float16(2), 2**40, True, np.uint8(200), 1j],
                         ids=repr)
def test_the_same_signature_of_several_is_taken(value):
    @jit(["int32(int32)", "float32(float32)", "float64(float64)", "uint16(uint8)"])
    def f(x):
        return x + x

    direct, compiled = both(f, value)
    assert direct == compiled


@pytest.mark.parametrize("value", [300, -1, 100, 127.9, 128.0, np.int64(-129), np.float32(99.9), np.nan], ids=repr)
def test_arguments_that_do_not_fit_raise_in_compiled_calls_too(value):
    f = jit("int8(int8)")(lambda x: x)
    direct, compiled = both(f, value)
    assert direct == compiled


def test_two_signatures_of_one_function_are_two_functions():
    def half(x):
        return x / 2

    as_int, as_float = jit("int64(float64)")(half), jit("float32(float64)")(half)
    both_of = jit(lambda x: (as_int(x), as_float(x), half(x)))
    result = both_of(5.0)
    assert [type(r) for r in result] == [np.int64, np.float32, float]
    assert result == (2, 2.5, 2.5)


def test_a_result_where_the_signature_declares_none_is_refused():
    def itself(x):
        return x

    def positive(x):
        return x if x > 0 else None

    declared = "void(float64)"
    for decorate, function in [(jit(declared), itself), (jit(declared), positive), (cfunc(declared), itself)]:
        with pytest.raises(TypingError, match=r"declares the result void, .*float64(.|\n)*hint: void\(...\) is for"):
            decorate(function)


def test_functions_without_a_result_in_the_signature():
    f = jit("(int8,)")(lambda x: x + 1)
    g = jit("void(int8)")(lambda x: None)
    assert jit(lambda x: (f(x), g(x)))(5) == (6, None)


def test_arrays_and_tuples_in_compiled_calls():
    @jit("float64(float64[:], Tuple((float32, int64)))")
    def f(a, pair):
        return a[1] + pair[0] + pair[1]

    g = jit(lambda a, x, y: f(a, (x, y)))
    assert g(np.arange(3.0), 0.1, 2) == f(np.arange(3.0), (0.1, 2)) == float(np.float32(0.1)) + 3.0
    with pytest.raises(TypingError, match="no signature of f fits the arguments"):
        g(np.arange(3), 0.1, 2)


def test_recursion_keeps_the_signature():
    @jit("float32(int64)")
    def f(n):
        return 0.1 if n == 0 else f(n - 1) * 3.0  # each level rounds to float32

    expected = np.float32(0.1)
    for _ in range(5):
        expected = np.float32(float(expected) * 3.0)
    assert f(5) == expected
    assert jit(lambda n: f(n))(5) == expected


def test_device_functions_keep_their_signature():
    @cuda.jit("int32(float64)", device=True)
    def twice(x):
        return x * 2

    @cuda.jit("float64(float64)", device=True)
    def down(x):
        return x if x < 1 else down(x - 1)

    @cuda.jit
    def k(out, x):
        out[0] = twice(x)
        out[1] = down(x)

    out = np.zeros(2)
    k[1, 1](out, 2.75)
    assert out.tolist() == [5.0, 0.75]


def test_a_ufunc_may_call_itself():
    @vectorize(["float64(float64)"])
    def down(x):
        return x if x < 1 else down(x - 1)

    np.testing.assert_array_equal(down(np.array([0.5, 1.25, 7.75])), [0.5, 0.25, 0.75])
