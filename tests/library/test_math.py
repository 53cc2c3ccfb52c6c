"""The math module, compiled: every function gives the interpreter's value, type and exception, bit for bit."""

import ctypes
import math
import operator
import random
import sys

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st
from krait import njit, vectorize
from krait.errors import TypingError
from math_cases import FLOATS, INF, INT_TYPES, INTS, NAN, agree_on, as_compiled, caller, names_of_rows, pairs, ulps
from oracle import agree, compare_outcomes, expression, make, outcome

ONE_FLOAT = (
    "acos acosh asin asinh atan atanh cbrt ceil cos cosh degrees erf erfc exp exp2 expm1 fabs floor frexp gamma "
    "isfinite isinf isnan lgamma log log10 log1p log2 modf radians sin sinh sqrt tan tanh trunc ulp"
).split()
TWO_FLOATS = "atan2 copysign fmod hypot isclose log nextafter pow remainder".split()
ONE_INT = "factorial isqrt perm".split()
TWO_INTS = "comb gcd lcm perm".split()
OTHERS = "dist fma fsum hypot ldexp prod sumprod".split()
HUGE = {"factorial": 100, "perm": 100, "comb": 1000}  # larger arguments keep the interpreter busy for long
# Of a float32: measured over the samples below, against the float64 result rounded.
FLOAT32_ULPS = 2


def test_every_name_has_a_row():
    functions = {name for name in dir(math) if callable(getattr(math, name)) and name[0] != "_"}
    tested = {*ONE_FLOAT, *TWO_FLOATS, *ONE_INT, *TWO_INTS, *OTHERS}
    assert {f"math.{name}" for name in functions} <= names_of_rows()
    assert functions <= tested
    assert {"e", "inf", "nan", "pi", "tau"} >= {name for name in dir(math) if name[0] != "_"} - functions


def test_constants():
    assert njit(lambda: (math.e, math.pi, math.tau, math.inf))() == (math.e, math.pi, math.tau, math.inf)
    assert math.isnan(njit(lambda: math.nan)())


# ---- floats ----------------------------------------------------------------------------------------------------------


def draws(count):
    numbers = random.Random(1)
    spread = [numbers.uniform(-1, 1) * 10.0 ** numbers.randint(-300, 300) for _ in range(count)]
    return spread + [numbers.uniform(-5, 5) for _ in range(count)] + [numbers.uniform(0, 200) for _ in range(count)]


@pytest.mark.parametrize("name", ONE_FLOAT)
def test_one_float(name):
    agree_on(getattr(math, name), 1, [(x,) for x in FLOATS + draws(100)])


@pytest.mark.parametrize("name", ONE_FLOAT)
def test_one_float_given_integers(name):
    agree_on(getattr(math, name), 1, [(n,) for n in INTS + [True, False]])
    if name != "trunc":  # NumPy's integers have no __trunc__; compiled code takes them as floor does
        agree_on(getattr(math, name), 1, [(kind(n),) for kind in INT_TYPES for n in (0, 1, 5, 100)] + [(np.True_,)])


@pytest.mark.parametrize("name", ONE_FLOAT)
@hypothesis.given(x=st.floats())
def test_one_drawn_float(name, x):
    agree_wrapping(name, x)


_compiled = {}


def compiled(name, arguments):
    key = name, arguments
    if key not in _compiled:
        _compiled[key] = njit(caller(getattr(math, name), arguments))
    return _compiled[key]


def agree_wrapping(name, *args):
    plain = caller(getattr(math, name), len(args))
    theirs = outcome(plain, args, {})
    compare_outcomes(outcome(compiled(name, len(args)), args, {}), as_compiled(theirs, args))


@pytest.mark.parametrize("name", TWO_FLOATS)
def test_two_floats(name):
    function = getattr(math, name)
    # Before 3.12 the interpreter's hypot adds subnormal squares in another way.
    cases = [
        case
        for case in pairs(FLOATS[::2] + draws(5))
        if name != "hypot" or sys.version_info >= (3, 12) or max(map(abs, case)) > 1e-300
    ]
    agree_on(function, 2, cases)
    agree_on(function, 2, [(1, 2), (2, 3.5), (True, 4), (0, -1), (2, 1), (-1, 2), (np.int8(3), 2)])


@pytest.mark.parametrize("name", TWO_FLOATS)
@hypothesis.given(x=st.floats(), y=st.floats())
def test_two_drawn_floats(name, x, y):
    hypothesis.assume(name != "hypot" or sys.version_info >= (3, 12) or max(abs(x), abs(y)) > 1e-300)
    agree(caller(getattr(math, name), 2), x, y, compiled=compiled(name, 2))


@pytest.mark.parametrize(
    "name",
    [
        name
        for name in ONE_FLOAT
        if name not in ("ceil", "floor", "trunc", "frexp", "isfinite", "isinf", "isnan", "ulp")
    ],
)
def test_a_float32_stays_one(name):
    function = compiled(name, 1)
    for x in np.linspace(0.01, 9, 400, dtype=np.float32):
        theirs = outcome(getattr(math, name), (float(x),), {})
        ours = outcome(function, (x,), {})
        if hasattr(theirs, "kind"):
            assert ours.kind is theirs.kind
            continue
        if isinstance(theirs, tuple):
            theirs = tuple(map(np.float32, theirs))
            assert all(type(item) is np.float32 for item in ours)
        else:
            theirs = np.float32(theirs)
            assert type(ours) is np.float32
        assert ulps(ours, theirs) <= FLOAT32_ULPS, (name, x, ours, theirs)


def test_float16_and_mixtures():
    sine, power = compiled("sin", 1), compiled("pow", 2)
    assert type(sine(np.float16(1))) is np.float16
    assert sine(np.float16(1)) == np.float16(math.sin(1.0))
    assert type(power(np.float32(2), 0.5)) is np.float32
    assert type(power(np.float32(2), 3)) is np.float32
    assert type(power(np.float32(2), np.float64(3))) is float
    assert type(power(np.float32(2), np.int64(3))) is float
    assert type(compiled("floor", 1)(np.float32(2.5))) is int
    assert type(compiled("ulp", 1)(np.float32(1))) is np.float32
    assert compiled("ulp", 1)(np.float32(1)) == np.spacing(np.float32(1))
    assert compiled("ulp", 1)(np.float16(1)) == np.spacing(np.float16(1))
    mantissa, exponent = compiled("frexp", 1)(np.float32(12))
    assert (type(mantissa), mantissa, type(exponent), exponent) == (np.float32, 0.75, int, 4)


@pytest.mark.parametrize(
    "name, argument", [("sqrt", -1.0), ("exp", 1000.0), ("log", 0.0), ("gamma", -2.0), ("cosh", -800.0)]
)
def test_no_float_raises_under_the_numpy_model(name, argument):
    function = njit(caller(getattr(math, name), 1), error_model="numpy")
    assert type(function(argument)) is float


# ---- integers --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ONE_INT)
def test_one_integer(name):
    function, limit = getattr(math, name), HUGE.get(name, INF)
    agree_on(function, 1, [(n,) for n in INTS + [True, 66, 70, 15, 16, 17, 10**18] if n < limit])
    agree_on(function, 1, [(kind(5),) for kind in INT_TYPES])


@pytest.mark.parametrize("name", TWO_INTS)
def test_two_integers(name):
    limit = HUGE.get(name, INF)
    agree_on(
        getattr(math, name), 2, [case for case in pairs(INTS + [True, 100, 52, 26, 33]) if max(map(abs, case)) < limit]
    )


@pytest.mark.parametrize("name", ["gcd", "lcm"])
@hypothesis.given(a=st.integers(-(2**63), 2**63 - 1), b=st.integers(-(2**63), 2**63 - 1))
def test_two_drawn_integers(name, a, b):
    agree_wrapping(name, a, b)


@hypothesis.given(n=st.integers(0, 2**63 - 1))
def test_isqrt_of_a_drawn_integer(n):
    agree_wrapping("isqrt", n)


@pytest.mark.parametrize(
    "text, message",
    [
        ("math.factorial(2.5)", "float"),
        ("math.gcd(1.0, 2)", "float"),
        ("math.sin(1j)", "complex"),
        ("math.isqrt(2.0)", "float"),
        ("math.ldexp(1.0, 2.0)", "float"),
    ],
)
def test_wrong_types_are_refused(text, message):
    from krait import errors

    with pytest.raises(errors.TypingError, match=message):
        njit(make(f"def f():\n    return {text}"))()


# ---- the others ------------------------------------------------------------------------------------------------------


def test_ldexp():
    agree_on(
        math.ldexp,
        2,
        [(x, n) for x in FLOATS for n in (0, 1, -1, 52, -1021, -1074, 1023, 2000, -3000, 2**40, -(2**40), True)],
    )


@hypothesis.given(x=st.floats(), n=st.integers(-2200, 2200))
def test_ldexp_drawn(x, n):
    agree(caller(math.ldexp, 2), x, n, compiled=compiled("ldexp", 2))


def test_variable_numbers_of_arguments():
    agree(lambda: (math.hypot(), math.hypot(-3.0), math.hypot(1, 2, 3, 4), math.hypot(INF, NAN, 1.0)))
    agree(lambda: (math.gcd(), math.gcd(-12), math.gcd(12, 18, 27), math.lcm(), math.lcm(4, 6, 10), math.lcm(3, 0, 2)))
    agree(lambda n: (math.perm(n), math.perm(n, None), math.perm(n, 2)), 7)
    agree(lambda x: (math.log(x), math.log(x, 2), math.log(x, 10.0)), 1000)
    agree(lambda x: math.log(x, 1), 2.0)
    agree(lambda x: math.log(x, -1), 2.0)


def test_hypot_of_many_pairs():
    """In the vectors of a ufunc and one by one: at the ends of every range, infinities and NaN, and without a flag."""
    ends = [2.0**e for e in (-1022, -1021, -1020, -1019, -600, 0, 600, 1019, 1020, 1021, 1022, 1023)]
    ends += [0.0, -0.0, INF, -INF, NAN, sys.float_info.max, -3.7e307, 1.1, -7e-300, 5e-324, 1e-310]
    x, y = (np.array(ends)[at.ravel()] for at in np.indices((len(ends), len(ends))))
    numbers = np.random.default_rng(5).integers(0, 2**63, (2, 2000)).view(np.float64)
    x, y = np.concatenate([x, numbers[0], numbers[0]]), np.concatenate([y, numbers[1], numbers[0][::-1] * 0.37])
    far = ~(np.maximum(abs(x), abs(y)) <= 1e-300)  # before 3.12 the interpreter adds subnormal squares in another way
    exact = far if sys.version_info < (3, 12) else np.full(x.size, True)
    made = vectorize(["float64(float64, float64)"])(lambda x, y: math.hypot(x, y))
    want = np.array([math.hypot(*pair) for pair in zip(x.tolist(), y.tolist())])
    with np.errstate(all="ignore"):
        got, alone = made(x, y), np.array([made(*pair) for pair in zip(x, y)])
    assert (alone.view(np.int64) == got.view(np.int64)).all()
    bad = np.flatnonzero(exact & ~((got == want) | (np.isnan(got) & np.isnan(want))))
    assert not bad.size, [(x[i], y[i], got[i], want[i]) for i in bad[:5]]
    with np.errstate(all="raise"):
        made(np.array([1.5, INF, NAN, 0.0, 0.0, 5e-324] * 8), np.array([2.5, NAN, 1.5, 0.0, -INF, 0.0] * 8))


@hypothesis.given(st.tuples(*[st.floats(-1e150, 1e150)] * 3))
def test_hypot_of_three(v):
    theirs = math.hypot(*v)
    assert ulps(compiled("hypot", 3)(*v), theirs) <= (0 if sys.version_info >= (3, 12) else 1)


def test_dist():
    cases = [
        ((1.0, 2.0), (3.0, 4.5)),
        ((1, 2, 3), (4.5, 2, 1)),
        ((2.0,), (-1.5,)),
        ((), ()),
        ((1e308, 1e308), (-1e307, 0.0)),
        ((INF, 1.0), (2.0, NAN)),
        ((1.0, NAN), (0.0, 0.0)),
        (np.array([1.0, 2.0]), np.array([4.0, 6.0])),
        (np.array([0.1, 0.2, 0.3]), np.array([0.7, 0.8, 0.4])),
        (np.array([1.0]), np.array([1.0, 2.0])),
    ]
    lists = [([1.5, 2.0], (1, 2)), ([1.5, 2.0], np.array([4, 6])), ([1, 2], [4.0, 6.0]), ([True], [1.5])]
    agree_on(math.dist, 2, cases + lists)


def test_texts_are_no_reals():
    for function in (lambda x: math.dist(x, [1.0]), lambda x: math.dist((1.0,), x), lambda x: math.fsum(x)):
        agree(function, ["1.5"])


def test_fsum():
    values = np.array([0.1] * 10)
    cases = [
        (0.1,) * 10,
        (1e308, 1e308, -1e308),
        (1.0, 1e100, 1.0, -1e100),
        (INF, -INF),
        (INF, 1.0),
        (NAN, 1.0),
        (1, 2, 3.5),
        (),
        (1e-16, 1.0, 1e16),
        (True, 0.5),
        values,
        values.astype(np.float32),
        values[::-2],
        np.array([], dtype=float),
    ]
    agree_on(math.fsum, 1, [(case,) for case in cases])


@hypothesis.given(st.lists(st.floats(allow_nan=False), max_size=50))
def test_fsum_of_drawn_floats(values):
    agree(caller(math.fsum, 1), np.array(values, dtype=float), compiled=compiled("fsum", 1))


def test_prod():
    agree_on(
        math.prod,
        1,
        [
            ((1, 2, 3),),
            ((1.5, 2, 3),),
            ((),),
            (np.array([1.5, 2]),),
            (np.array([2, 3], dtype=np.int16),),
            (range(1, 21),),
        ],
    )
    agree(lambda v: math.prod(v, start=3), (2, 5))
    agree(lambda v: math.prod(v, start=0.5), (2, 5))


@pytest.mark.skipif(not hasattr(math, "sumprod"), reason="new in 3.12")
def test_sumprod():
    cases = [
        ((1.0, 2.0), (3.0, 4.0)),
        ((1, 2), (3, 4)),
        ((1e100, 1.0, -1e100), (1.0, 1.0, 1.0)),
        ((0.1,) * 10, (0.3,) * 10),
        ((1, 2.5), (2, 3)),
        ((1e200, 1.0), (1e200, 2.0)),
        ((), ()),
        ((1.0,), (1.0, 2.0)),
        (np.array([0.1, 0.2]), np.array([0.3, 0.4])),
        (np.array([1, 2]), (3, 4)),
    ]
    agree_on(math.sumprod, 2, cases)


@pytest.mark.skipif(not hasattr(math, "sumprod"), reason="new in 3.12")
@hypothesis.given(st.tuples(*[st.floats()] * 4), st.tuples(*[st.floats()] * 4))
def test_sumprod_of_drawn_floats(p, q):
    agree(caller(math.sumprod, 2), p, q, compiled=compiled("sumprod", 2))


@pytest.mark.skipif(not hasattr(math, "fma"), reason="new in 3.13")
def test_fma():
    values = [0.0, -0.0, 1.0, 0.1, 10.0, -1.0, 1e308, 1e-308, INF, -INF, NAN]
    agree_on(math.fma, 3, [(x, y, z) for x in values for y in values for z in values])


def test_isclose():
    agree(
        lambda x, y: (math.isclose(x, y), math.isclose(x, y, rel_tol=0.1), math.isclose(x, y, abs_tol=0.5)), 1.0, 1.05
    )
    agree(lambda x, y: math.isclose(x, y, rel_tol=-1.0), 1.0, 1.05)
    agree(lambda x, y: math.isclose(x, y, abs_tol=y, rel_tol=0), 1, 2)


@pytest.mark.skipif(sys.version_info < (3, 12), reason="steps are new in 3.12")
@hypothesis.given(x=st.floats(), y=st.floats(), steps=st.one_of(st.integers(-1, 10), st.integers(0, 2**63 - 1)))
def test_nextafter_in_steps(x, y, steps):
    agree(nextafter_in_steps, x, y, steps)


@njit
def nextafter_in_steps(x, y, steps):
    return math.nextafter(x, y, steps=steps)


UNSIGNED = ["int(x)", "round(x)", "math.floor(x)", "math.ceil(x)", "operator.index(x)", "math.gcd(x, 6)",
            "math.lcm(x, 1)", "math.comb(x, 1)", "len(range(x))"]


@pytest.mark.parametrize("text", UNSIGNED)
def test_python_ints_of_uint64(text):
    """What 64 bits with a sign cannot hold raises; it has no other answer in compiled code."""
    f = njit(expression(text, "x", "y", operator=operator))
    fits, beyond = np.uint64(2**62), np.uint64(2**64 - 1)
    for value in (np.uint64(3), fits):
        agree(f, value, value)
    with pytest.raises(OverflowError, match="Python int too large to convert to C long"):
        f(beyond, np.uint64(0))


def test_a_constant_uint64_that_does_not_fit_is_refused():
    with pytest.raises(TypingError, match="the Python int 9223372036854775809 is out of bounds for 64 bits"):
        njit(expression("int(np.uint64(2**63 + 1))"))()


@pytest.mark.parametrize("other", ["nextafter(x, 1.0)", "frexp(x)", "ldexp(x, 2)", "ulp(x)", "copysign(x, -1.0)",
                                   "modf(x)", "gamma(x)", "remainder(x, 0.3)"])  # fmt: skip
@pytest.mark.parametrize("first", ["hypot(x, 2.5)", "fmod(x, 0.3)", "cbrt(x)", "dist((x, x), (1.0, 2.0))"])
def test_what_one_function_brings_does_not_hide_what_another_one_needs(first, other):
    """Functions of the run time's library that others of it call, whichever of its parts was opened first."""
    names = {"math": math}
    exec(f"def f(x): return math.{first}, math.{other}", names)
    if hasattr(math, first.split("(")[0]):
        agree(names["f"], 0.625)


def test_a_literal_beyond_64_bits_is_no_index():
    with pytest.raises(TypingError, match="out of bounds for 64 bits"):
        njit(lambda: operator.index(2**63))()


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("name", ["gamma", "lgamma"])
def test_gamma_functions_of_many_at_once(name, dtype):
    function, (least, most) = getattr(math, name), (-30, 100) if dtype == np.float64 else (-4, 8)
    made = vectorize([f"{np.dtype(dtype)}({np.dtype(dtype)})"])(eval(f"lambda x: math.{name}(x)", {"math": math}))
    rng = np.random.default_rng(6)
    x = np.concatenate([rng.uniform(least, most, 1001), rng.uniform(0, 4, 3000), 2.0 ** rng.uniform(-9, 3, 999)])
    x = x.astype(dtype)
    x = x[(x > 0) | (np.abs(x - np.round(x)) > 0.01)]  # of poles far enough for float16
    longer = getattr(ctypes.CDLL("libm.so.6"), {"lgamma": "lgammal", "gamma": "tgammal"}[name])  # has 64 bits
    longer.restype, longer.argtypes = ctypes.c_longdouble, [ctypes.c_longdouble]
    want = np.array([longer(float(number)) for number in x])
    # of lgamma near its zeros the terms count; 10 units of the last place, and one of rounding to the dtype
    allowed = 10 * np.spacing(np.abs(want if name == "gamma" else np.maximum(np.abs(want), 1)))
    got = made(x)
    assert got.dtype == dtype
    assert (np.abs(got - want) <= allowed + np.abs(np.spacing(want.astype(dtype)))).all()
    # exact where the interpreter's are, and whatever their neighbours are
    exact = np.array([1, 2, 3, 1, 0.0, np.inf, np.nan, 1, 2, 4, -0.0, 5, 2, 1, 1, 2, 8], dtype)
    with np.errstate(all="ignore"):
        values = made(exact)
    for number, value in zip(exact, values):
        pole = math.inf if name == "lgamma" else math.copysign(math.inf, number)
        wants = pole if number == 0 else function(number)
        assert np.isclose(value, wants, rtol=np.finfo(dtype).eps, atol=0, equal_nan=True), number
    raising = vectorize([f"{np.dtype(dtype)}({np.dtype(dtype)})"], error_model="python")(made.py_func)
    with pytest.raises(ValueError, match="math domain error|expected a noninteger or positive integer"):
        raising(np.array([1.5] * 40 + [-1.0], dtype))
