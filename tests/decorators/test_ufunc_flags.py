"""Floating-point flags of ufuncs, as np.errstate shows them: those that the elements set one by one, of NumPy's numbers
in the interpreter, and no others, however the elements lie in memory and whether vectors compute them."""

import math

import numpy as np
import pytest

from krait import vectorize

KINDS = ("divide", "over", "under", "invalid")
LENGTHS = (1, 3, 8, 9, 40, 300, 1500)
FAR = {
    "float64": [0.0, 1e-300, 1e-160, 1e300, 1e160, 1e-310, 800.0, -745.0, -720.0, 0.5, -1.0, 3.0],
    "float32": [0.0, 1e-30, 1e-20, 1e30, 1e20, 1e-40, 90.0, -100.0, -80.0, 0.5, -1.0, 3.0],
}


def product(x, y):
    return x * y


def quotient(x, y):
    return x / y


def whole_quotient(x, y):
    return x // y


def chosen_exponential(x, y):
    return np.exp(x) if y > 0.8 else y


def chosen_cube(x, y):
    return x * x * x if y > 0.8 else 1.0 - y


def chosen_quotient(x, y):
    return x / y if y != 0 else x


def chosen_root(x, y):
    return np.sqrt(x) if x >= 0 else y


def chosen_logarithm(x, y):
    return np.log(x) * y if x > 0 else y


def chosen_quotients(x, y):
    """The rounds become one after the other, which vectors compute on both sides."""
    total = x
    for _ in range(3):
        if y > 0:
            total = total / y + x
    return total


def chosen_quotients_of_any_number(x, y):
    """Rounds that are not known; the condition is the strip's own."""
    total = x
    for _ in range(2 if y > 0.8 else 3):
        total = total / y if y > 0 else total * 0.5
    return total


def exponential_less_one(x, y):
    return np.expm1(x)


def sine(x, y):
    return np.sin(x)


def hypotenuse(x, y):
    return np.hypot(x, y)


def angle(x, y):
    return np.arctan2(x, y)


ARITHMETIC = (product, quotient, chosen_cube, chosen_quotient, chosen_root, chosen_quotients,
              chosen_quotients_of_any_number)  # fmt: skip
# what is too small to be told is told by every library of functions in its own way
FUNCTIONS = [(f, KINDS) for f in ARITHMETIC] + [
    (f, ("divide", "over", "invalid"))
    for f in (whole_quotient, chosen_exponential, chosen_logarithm, exponential_less_one, sine, hypotenuse, angle)
]


def told(kinds, call):
    found = []
    for kind in kinds:
        try:
            with np.errstate(**{**dict.fromkeys(KINDS, "ignore"), kind: "raise"}):
                call()
        except FloatingPointError:
            found.append(kind)
    return found


def laid_out(rng, values):
    kind = rng.integers(4)
    if kind == 1:
        wide = np.zeros(3 * values.size, values.dtype)[::3]
        wide[:] = values
        return wide
    return values[::-1] if kind == 2 else values[:1] if kind == 3 else values


@pytest.mark.parametrize("dtype", FAR)
@pytest.mark.parametrize("function, kinds", FUNCTIONS, ids=lambda p: getattr(p, "__name__", ""))
def test_flags_are_those_of_the_elements(function, kinds, dtype):
    ufunc = vectorize([f"{dtype}({dtype}, {dtype})"])(function)
    rng = np.random.default_rng(len(function.__name__))
    for trial in range(42):
        n = LENGTHS[trial % len(LENGTHS)]
        x, y = rng.choice([0.5, 1.0, 2.0], n).astype(dtype), rng.choice([0.75, 1.0, 2.0], n).astype(dtype)
        for _ in range(trial % 3):
            x[rng.integers(n)] = rng.choice(FAR[dtype])
            y[rng.integers(n)] = rng.choice(FAR[dtype])
        y = laid_out(rng, y)

        def one_by_one():
            for a, b in np.broadcast(x, y):
                function(a, b)

        assert told(kinds, lambda: ufunc(x, y)) == told(kinds, one_by_one), (n, x[:9], y[:9], y.strides)


@pytest.mark.parametrize("elements", [3, 50, 2000])
def test_what_is_done_about_flags_is_NumPys(elements):
    ufunc = vectorize(["float64(float64, float64)"])(chosen_cube)
    x, y = np.full(elements, 1e-120), np.zeros(elements)
    far = x.copy()
    far[-1] = 1e200

    def calls(x, y, **modes):
        noted = []
        with np.errstate(all="ignore", call=lambda kind, flag: noted.append(kind)), np.errstate(**modes):
            ufunc(x, y)
        return noted

    everything = dict.fromkeys(KINDS, "call")
    assert calls(far, y, **everything) == []  # no element takes that side
    y[-1] = 1.0
    assert calls(x, y, **everything) == ["underflow"]
    assert calls(far, y, **everything) == ["overflow"]
    assert calls(far, y + 1, **everything) == (["overflow", "underflow"])
    assert calls(x, y, over="call", invalid="call", divide="call") == []
    with np.errstate(all="ignore", under="warn"), pytest.warns(RuntimeWarning, match="underflow encountered"):
        ufunc(x, y)
    with np.errstate(all="ignore", over="raise"):
        ufunc(x, y)
        with pytest.raises(FloatingPointError, match="overflow encountered"):
            ufunc(far, y)


@pytest.mark.parametrize("dtype", [np.int8, np.float32, np.float64, np.complex128])
@pytest.mark.parametrize("start", [0, 1, 5])
def test_long_arrays_that_begin_anywhere_between_cache_lines(dtype, start):
    made = vectorize(lambda x, y: x * y if x != y else x)
    x, y = np.random.default_rng(start).integers(-5, 6, (2, 20_011)).astype(dtype)
    out = np.zeros_like(x)
    made(x[start:-1], y[start + 1 :], out=out[start:-1])
    want = np.where(x[start:-1] != y[start + 1 :], x[start:-1] * y[start + 1 :], x[start:-1])
    np.testing.assert_array_equal(out[start:-1], want)
    assert not out[:start].any() and out[-1] == 0


def test_elements_far_apart_that_set_a_flag_of_the_side_not_taken():
    made = vectorize(["float64(float64, float64)"])(chosen_quotient)
    x, y = np.ones(60_000), np.full(60_000, 2.0)
    y[[100, 3000, 20_000, 20_001, 59_999]] = 0
    with np.errstate(all="raise"):
        np.testing.assert_array_equal(made(x, y), np.where(y != 0, 0.5, 1.0))
    x[40_000], y[40_000] = 1e-300, 1e300
    with np.errstate(all="raise"), pytest.raises(FloatingPointError, match="underflow"):
        made(x, y)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("step", [1, 3])
def test_a_nan_that_is_only_compared_is_no_invalid_value(dtype, step):
    functions = [
        lambda x, y: x if x > y else y,
        lambda x, y: x + y if not x <= y else x - y,
        lambda x, y: min(max(x, y), 2),
        lambda x, y: x >= y,
        lambda x, y: (x < y) + (y < x < 2),
    ]
    x, y = np.random.default_rng(2).random((2, 3000)).astype(dtype)
    x[::7], y[::5] = np.nan, np.nan
    for function in functions:
        made = vectorize(function)
        for length in (1, 7, 3000):
            a, b = x[:length:step], y[:length:step]
            with np.errstate(all="raise"):
                got = made(a, b)
            np.testing.assert_array_equal(got, [function(*pair) for pair in zip(a, b)])


CHOICES = {
    "gt": lambda x, y: x if x > y else y,
    "ge": lambda x, y: x if x >= y else y,
    "lt": lambda x, y: x if x < y else y,
    "le": lambda x, y: x if x <= y else y,
    "not gt": lambda x, y: x if not x > y else y,
    "not le": lambda x, y: x if not x <= y else y,
    "other values": lambda x, y: y + 1 if x < y else x - 1,
    "two": lambda x, y: (x, y) if x > y else (y, x),
    "also an int": lambda x, y: (x, 1) if x > y else (y, 2),
    "another size": lambda x, y: np.float32(1) if x > y else np.float32(-0.0),
}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", CHOICES)
def test_choices_of_floats_by_their_order(name, dtype):
    ends = np.array([np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, np.finfo(dtype).tiny / 8], dtype)
    a, b = (side.ravel() for side in np.meshgrid(ends, ends))
    made = vectorize(CHOICES[name])
    far_a, far_b = np.repeat(a, 3)[::3], np.repeat(b, 3)[1::3]
    with np.errstate(all="raise", under="ignore"):
        want = [CHOICES[name](*pair) for pair in zip(a, b)]
        for got in (made(a, b), made(far_a, far_b), [made(*pair) for pair in zip(a, b)]):
            whole = np.array(got).T if isinstance(got, tuple) else np.array(got)
            np.testing.assert_array_equal(whole, want)
            np.testing.assert_array_equal(np.signbit(whole), np.signbit(want))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("nan", [False, True])
def test_the_largest_of_many(dtype, nan):
    largest = vectorize(CHOICES["gt"])
    x = np.random.default_rng(5).standard_normal(1 << 20).astype(dtype)
    if nan:
        x[[10, 4000]] = np.nan  # what comes after it is chosen
    with np.errstate(all="raise"):
        for _ in range(2):  # the second time by the loop that was made for it
            assert largest.reduce(x) == (x[4001:] if nan else x).max()
            np.testing.assert_array_equal(largest.accumulate(x[5000:]), np.maximum.accumulate(x[5000:]))
            np.testing.assert_array_equal(largest(x[::2], x[1::2]), np.where(x[::2] > x[1::2], x[::2], x[1::2]))


MATH = (
    "sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh exp expm1 log log2 log10 log1p erf erfc gamma "
    "lgamma"
)


@pytest.mark.parametrize("name", MATH.split())
def test_functions_of_math_set_the_flags_of_their_elements(name):
    made = vectorize(["float64(float64)"])(eval(f"lambda x: math.{name}(x)", {"math": math}))
    rng = np.random.default_rng(8)
    numbers = [rng.standard_normal(64) * size for size in (1e-300, 1e-8, 0.3, 1, 30, 300, 1e10, 1e300)]
    for x in (*numbers, np.array([0.0, -0.0, np.inf, -np.inf, np.nan, -1.0, 1.0, 2.0] * 4)):
        x = x[np.isnan(x) | (x >= 0)] if name.startswith("log") else x

        def one_by_one():
            for number in x:
                made(number)

        assert told(KINDS, lambda: made(x)) == told(KINDS, one_by_one), x[:5]


@pytest.mark.parametrize("size", [1, 9, 1500])
@pytest.mark.parametrize("name, number, wanted", [
    ("gamma", 0.0, {"divide"}), ("gamma", -0.0, {"divide"}), ("gamma", -3.0, {"invalid"}),
    ("gamma", -np.inf, {"invalid"}), ("gamma", np.inf, set()), ("gamma", np.nan, set()), ("gamma", 1e308, {"over"}),
    ("lgamma", 0.0, {"divide"}), ("lgamma", -2.0, {"divide"}), ("lgamma", -np.inf, set()), ("lgamma", np.nan, set()),
    ("lgamma", 1.0, set()), ("lgamma", 1e308, {"over"}),
])  # fmt: skip
def test_poles_and_ends_of_gamma_set_the_flags_of_ieee_754(name, number, wanted, size):
    made = vectorize(["float64(float64)"])(eval(f"lambda x: math.{name}(x)", {"math": math}))
    x = np.full(size, 1.5)
    x[-1] = number
    assert set(told(KINDS, lambda: made(x))) == wanted
