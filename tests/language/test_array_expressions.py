"""Whole arrays: ufuncs, operators and assignments element by element, against NumPy: value, dtype, shape, exception;
what else the arguments hold afterwards."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from krait import njit
from krait.errors import TypingError
from oracle import agree, expression, make
from portions import examples

DTYPES = ["?", "b", "B", "h", "i", "I", "l", "L", "f", "d", "F", "D"]


def filled(shape, dtype, seed=0):
    """Values of both signs, zeros, ties, and for floats what is no number."""
    rng = np.random.default_rng(seed)
    kind = np.dtype(dtype).kind
    x = rng.integers(-6, 7, shape) if kind in "if" else rng.integers(0, 9, shape)
    if kind in "fc":
        x = x * 0.75
        if x.size > 3:
            x.flat[1:4] = np.nan, np.inf, -0.0
    if kind == "c":
        x = x + 1j * rng.integers(-3, 4, shape)
    return np.asarray(x).astype(dtype)


LAYOUTS = {
    "C": lambda x: np.ascontiguousarray(x) if x.ndim else x,
    "F": np.asfortranarray,
    "strided": lambda x: np.repeat(np.repeat(x, 2, 0), 2, -1)[::2, ..., ::2] if x.ndim > 1 else np.repeat(x, 2)[::2],
    "negative": lambda x: x[::-1].copy()[::-1],
    "readonly": lambda x: readonly(x.copy()),
    "transposed": lambda x: x.T.copy().T,
}


def readonly(x):
    x.flags.writeable = False
    return x


SHAPES = [(5,), (3, 5), (1, 5), (3, 1), (5, 1), (0,), (1,), (2, 3, 5), (9,), (2, 1, 1), (3, 0)]


@st.composite
def arrays(draw, dtypes="".join(DTYPES)):
    x = filled(draw(st.sampled_from(SHAPES)), draw(st.sampled_from(dtypes)), draw(st.integers(0, 5)))
    return LAYOUTS[draw(st.sampled_from(sorted(LAYOUTS)))](x)


def outcome(function, *args):
    with np.errstate(all="ignore"):
        try:
            return function(*args)
        except Exception as error:
            return error


def check(text, names, args, exact=True):
    """The expression compiled and interpreted: equal results but for the order in memory; or both refuse."""
    function = expression(text, *names)
    theirs, ours = outcome(function, *args), outcome(njit(function), *args)
    if isinstance(theirs, Exception):
        assert isinstance(ours, Exception), f"{text}: compiled code gave {ours!r}, expected {theirs!r}"
        if type(theirs) is type(ours):
            assert str(ours) == str(theirs) or not isinstance(theirs, ValueError)
        return
    assert not isinstance(ours, Exception), f"{text} of {args}: {ours!r}, expected {theirs!r}"
    for our, their in zip(ours, theirs) if isinstance(theirs, tuple) else [(ours, theirs)]:
        assert type(our) is type(their)
        if exact:
            np.testing.assert_array_equal(our, their, strict=isinstance(their, np.ndarray))
        else:
            assert our.dtype == their.dtype and our.shape == their.shape
            np.testing.assert_array_max_ulp(our, their, 4)


BINARY = ["a + b", "a - b", "a * b", "a // b", "a % b", "a < b", "a <= b", "a == b", "a != b", "a >= b", "a > b",
          "a & b", "a | b", "a ^ b", "a << (b & 7)", "a >> (b & 7)",
          "np.maximum(a, b)", "np.minimum(a, b)", "np.fmax(a, b)",
          "np.logical_and(a, b)", "np.logical_xor(a, b)", "np.divmod(a, b)", "np.fmod(a, b)", "np.gcd(a, b)",
          "np.copysign(a, b)", "np.heaviside(a, b)", "np.nextafter(a, b)"]  # fmt: skip


@settings(max_examples=examples(120), deadline=None)
@given(st.sampled_from(BINARY), arrays(), arrays())
def test_two_arrays(text, a, b):
    check(text, ("a", "b"), (a, b))


UNARY = ["-a", "+a", "~a", "abs(a)", "np.sign(a)", "np.square(a)", "np.isnan(a)", "np.isfinite(a)", "np.floor(a)",
         "np.rint(a)", "np.conj(a)", "np.logical_not(a)", "np.reciprocal(a)", "np.modf(a)", "np.signbit(a)",
         "np.bitwise_count(a)", "np.spacing(a)", "np.trunc(a)", "np.positive(a)", "np.frexp(a)"]  # fmt: skip


@settings(max_examples=examples(80), deadline=None)
@given(st.sampled_from(UNARY), arrays())
def test_one_array(text, a):
    check(text, ("a",), (a,), exact=not (text == "abs(a)" and a.dtype.kind == "c"))


SCALARS = [True, 1, 2, -3, 7, 0.5, -2.0, 0.0, 1 + 2j, np.int8(3), np.uint8(4), np.float32(0.5),
           np.int64(-2), np.bool(1)]


@settings(max_examples=examples(100), deadline=None)
@given(st.sampled_from([t for t in BINARY if "divmod" not in t]), arrays(), st.sampled_from(SCALARS), st.booleans())
def test_an_array_and_a_number(text, a, b, swapped):
    if not isinstance(b, np.generic) and abs(b) > 0 and b != abs(b) and np.asarray(a).dtype.kind == "u":
        b = abs(b)  # what does not fit is told when it is compiled
    args = (b, a) if swapped else (a, b)
    check(text, ("a", "b"), args)


@pytest.mark.parametrize("name", ["sin", "cos", "exp", "log", "sqrt", "tanh", "arctan", "cbrt", "log1p", "expm1"])
@pytest.mark.parametrize("dtype", ["b", "l", "f", "d"])
def test_functions_of_math(name, dtype):
    a = np.abs(filled((37,), dtype, 3))
    check(f"np.{name}(a)", ("a",), (a,), exact=False)


def test_division_is_numpys():
    a, b = np.array([1, -1, 0, 7]), np.array([0, 0, 0, 2])
    for text in ["a / b", "a // b", "a % b", "a / 0", "a // 0", "a % 0", "1 / a", "1.0 / a"]:
        check(text, ("a", "b"), (a, b))
        check(text, ("a", "b"), (a.astype("f"), b.astype("f")))


@pytest.mark.parametrize("text", ["a ** 2", "a ** -1", "a ** 0.5", "a ** 3", "a ** 1", "a ** True"])
def test_powers(text):
    for dtype in "fd":
        check(text, ("a",), (np.abs(filled((3, 5), dtype, 2)),), exact="3" not in text)


@pytest.mark.parametrize("text", ["a ** 2", "a ** 3", "a ** 0", "a[:1] ** 2", "np.power(a, 2)"])
def test_powers_of_bools(text):
    agree(expression(text, "a"), np.array([[True, False], [False, True]]))


def test_shapes_that_do_not_fit():
    for a, b in [((3,), (4,)), ((3, 4), (3,)), ((2, 3), (3, 2)), ((0,), (2,)), ((2, 1, 4), (3, 3))]:
        agree(expression("a + b", "a", "b"), np.zeros(a), np.zeros(b))

    def in_place(a, b):
        a += b
        return a

    for a, b in [((3,), (4,)), ((3, 4), (3,)), ((1, 3), (2, 3)), ((1,), (3,))]:
        agree(in_place, np.ones(a), np.ones(b))

    def written_before(a, b, c):
        c[0] = 1.0
        a += b
        c[0] = 2.0

    agree(written_before, np.ones(3), np.ones(4), np.zeros(1))


def test_arrays_without_axes_are_their_elements():
    for text in ["a + b", "a / b", "np.sqrt(a)", "-a", "a < b", "a + 1", "np.divmod(a, b)"]:
        check(text, ("a", "b"), (np.array(3.0), np.array(2.0)))
        check(text, ("a", "b"), (np.array(3), np.array(0)))
    check("a + b", ("a", "b"), (np.array(3.0), np.ones(3)))


# ---- destinations ----------------------------------------------------------------------------------------------------

IN_PLACE = ["+=", "-=", "*=", "//=", "%=", "&=", "|=", "^=", "<<=", ">>=", "/="]


@settings(max_examples=examples(80), deadline=None)
@given(st.sampled_from(IN_PLACE), arrays(), arrays("?bBhlfd"))
def test_in_place(operator, a, b):
    if operator in ("<<=", ">>="):
        b = np.abs(b.astype("b") & 7)
    function = make(f"def f(a, b):\n    a {operator} b\n    return a")
    ours, theirs = a.copy("K"), a.copy("K")
    ours.flags.writeable = theirs.flags.writeable = a.flags.writeable
    expected, result = outcome(function, theirs, b), outcome(njit(function), ours, b)
    assert isinstance(expected, Exception) == isinstance(result, Exception), (expected, result)
    if not isinstance(expected, Exception):
        assert result is ours
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("text", ["np.add(a, b, out)", "np.multiply(a, b, out=out)", "np.add(a, 1, out=(out,))",
                                  "np.sqrt(a, out=out)", "np.add(a, b, out=out, where=m)",
                                  "np.negative(a, out, where=m)",
                                  "np.less(a, b, out=out)", "np.add(a, b, out=out, casting='unsafe')",
                                  "np.add(a, b, out=out, dtype=np.float32)", "np.add(a, b, out=None)",
                                  "np.add(a, b, dtype=np.float64)", "np.multiply(a, 2, dtype='f4')"])  # fmt: skip
@pytest.mark.parametrize("dtype", ["d", "f", "l"])
def test_out_where_dtype(text, dtype):
    function = make(f"def f(a, b, out, m):\n    return {text}")
    a, b, m = np.abs(filled((4, 6), "d", 1)), filled((6,), "h", 2), filled((4, 6), "?", 3)
    a[~np.isfinite(a)] = 2
    ours, theirs = np.full((4, 6), 7, dtype), np.full((4, 6), 7, dtype)
    expected, result = outcome(function, a, b, theirs, m), outcome(njit(function), a, b, ours, m)
    assert isinstance(expected, Exception) == isinstance(result, Exception), (expected, result)
    np.testing.assert_array_equal(ours, theirs)
    if not isinstance(expected, Exception):
        assert (result is ours) == (expected is theirs)
        np.testing.assert_array_equal(result, expected, strict=True)


def test_dtype_of_numbers_and_arrays_without_axes():
    """What NumPy gives for them is a number."""
    for text in ("np.add(a, b, dtype=np.float64)", "np.divide(a, b, casting='unsafe', dtype=np.float32)",
                 "np.multiply(a, 2, dtype='f8')", "np.sqrt(a, dtype=np.float64)", "np.divmod(a, b, dtype=np.float64)"):
        f = njit(expression(text, "a", "b"))
        for a, b in [(1.5, 2.5), (3, 2), (np.float32(1.5), 2), (np.int8(3), np.int16(2)), (np.array(1.5), np.array(2))]:
            agree(f, a, b)
    agree(expression("np.add(a, 300, dtype=np.int8)", "a"), np.int8(1))
    with pytest.raises(TypingError, match="cannot cast input 0 of `numpy.add` from float64 to int64"):
        njit(expression("np.add(a, 1, dtype=np.int64)", "a"))(np.float64(1))


def test_two_destinations():
    def f(a, b, q, r):
        x, y = np.divmod(a, b, q, r)
        z, w = np.divmod(a, b, out=(None, r))
        return x, y, z, w

    agree(f, np.arange(7), np.array([2]), np.zeros(7, "l"), np.zeros(7, "d"))


BASE = np.arange(24.0)
OVERLAPS = [
    (BASE[1:], BASE[:-1]), (BASE[:-1], BASE[1:]), (BASE[::2], BASE[:12]), (BASE[:12], BASE[::2]), (BASE, BASE),
    (BASE[::-1], BASE), (BASE[:12], BASE[12:]), (BASE[::2], BASE[1::2]),
    (BASE.reshape(4, 6).T[:4], BASE.reshape(4, 6)[:, :4]), (BASE.reshape(4, 6)[1:], BASE.reshape(4, 6)[:-1]),
    (BASE.reshape(4, 6)[:, 1:], BASE.reshape(4, 6)[:, :-1]),
]  # fmt: skip


@pytest.mark.parametrize("text", ["a[...] = b", "a += b", "np.add(a, b, out=a)", "np.multiply(b, b, out=a)",
                                  "np.add(b, 1, out=a, where=b > 5)", "a[:] = a + b",
                                  "a[...] = b * 2 - a"])  # fmt: skip
def test_what_overlaps(text):
    function = make(f"def f(a, b):\n    {text}")
    compiled = njit(function)
    for a, b in OVERLAPS:
        if text == "a[...] = b" and a.strides == (16,) and b.strides == (8,):
            continue  # NumPy reads what it has just written
        agree(function, a, b, compiled=compiled)


def test_views_of_any_strides_that_overlap():
    def f(a, b):
        a[:] = a + 2.0 * b

    def views(buffer):
        return [np.lib.stride_tricks.as_strided(buffer[s:], shape, t) for s, t in zip(starts, strides, strict=True)]

    rng, compiled = np.random.default_rng(1), njit(f)
    for ndim in (1, 2, 3, 4) * 75:
        shape, starts = rng.integers(0, 4, ndim), rng.integers(77, 84, 2)
        strides = 8 * rng.choice([-7, -3, -2, -1, 1, 2, 3, 5, 9], (2, ndim))
        ours, numpys, places = np.arange(200.0), np.arange(200.0), views(np.arange(200))[0]
        if len(np.unique(places)) < places.size:
            continue  # a destination that overlaps itself has no one answer
        compiled(*views(ours))
        f(*views(numpys))
        np.testing.assert_array_equal(ours, numpys, f"{shape} {starts} {strides}")


def test_a_view_of_what_is_written():
    def f(u, n):
        for _ in range(n):
            u[1:-1] = 0.5 * (u[2:] + u[:-2])
            u[1:-1] += u[:-2]
        return u[::2] * u[::-2]

    agree(f, np.linspace(0, 1, 18), 3)


def test_stencil_of_two_dimensions():
    def f(u, w):
        w[1:-1, 1:-1] = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4.0 * u[1:-1, 1:-1]
        u[1:-1, 1:-1] += 0.1 * w[1:-1, 1:-1]

    rng = np.random.default_rng(0)
    agree(f, rng.random((9, 12)), np.zeros((9, 12)))
    agree(f, np.asfortranarray(rng.random((9, 12))), np.zeros((9, 12)))


def test_a_python_int_that_does_not_fit():
    def f(a, n):
        return a + n

    for n in (127, 128, -128, -129, 1000):
        agree(f, np.zeros(3, np.int8), n)


def test_an_array_made_in_a_loop():
    def f(x, n):
        for i in range(n):
            x = x * 0.5 + i
        return x

    agree(f, np.arange(5.0), 6)


def test_what_kernels_may_do():
    from krait import cuda

    @cuda.jit
    def k(x, y, out):
        i = cuda.grid(1)
        if i < x.shape[0]:
            np.add(x[i], y, out=out[i])
            out[i] *= 2.0
            out[i, 1:3] = x[i, :2]

    x, y = np.arange(20.0).reshape(4, 5), np.arange(5.0)
    out = np.zeros((4, 5))
    k[1, 32](x, y, out)
    expected = (x + y) * 2
    expected[:, 1:3] = x[:, :2]
    np.testing.assert_array_equal(out, expected)


# ---- powers of floats: computed as exp and its like, several elements at a time ----


POWERS = [lambda x, y: x**y, lambda x, y: np.power(x, y), lambda x, y: np.float_power(x, y)]


@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize("power", POWERS, ids=["operator", "power", "float_power"])
def test_powers_are_off_by_four_units_at_most(power, kind):
    special = [0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 0.5, 3.0, -3.0, 1e-300, 1e300, np.inf, -np.inf, np.nan]
    with np.errstate(over="ignore"):
        x, y = (grid.ravel().astype(kind) for grid in np.meshgrid(special, special))
    r = np.random.default_rng(3)
    pairs = [(x, y), (r.random(1001).astype(kind) + kind(0.1), (r.random(1001) * 40 - 20).astype(kind))]
    ours = njit(power)
    with np.errstate(all="ignore"):
        for base, exponent in pairs:
            got, want = ours(base, exponent), power(base.copy(), exponent.copy())
            assert got.dtype == want.dtype
            np.testing.assert_array_equal(np.isfinite(got), np.isfinite(want))
            np.testing.assert_allclose(got, want, rtol=8 * float(np.finfo(want.dtype).eps), atol=0)


@pytest.mark.parametrize("power", POWERS[:2], ids=["operator", "power"])
def test_powers_of_arrays_are_made_vectors_of_where_exponentials_are(power):
    def exponential(x, y):
        return np.exp(x) + y

    x = np.ones(9)
    functions = [njit(function) for function in (exponential, power)]
    texts = []
    for function in functions:
        function(x, x)
        texts.append(function.inspect_llvm(function.signatures[0]))
    assert ("_ZGV" in texts[0]) == ("_ZGV" in texts[1])


def test_small_whole_powers_of_arrays_are_products(optimised):
    x = np.random.default_rng(4).random(1001) + 0.5
    assert np.array_equal(njit(lambda x: x**3)(x), x * x * x)
    assert np.array_equal(njit(lambda x: np.power(x, 4))(x), (x * x) * (x * x))
