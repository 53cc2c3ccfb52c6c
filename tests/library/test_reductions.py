"""NumPy's reductions against NumPy: value, dtype, shape, exception; sums of what lies together to the last bit."""

import numpy as np
import pytest

from krait import njit
from oracle import agree, assert_same, expression
from portions import some

RNG = np.random.default_rng(7)
ARRAYS = {
    "vector": RNG.random(1000) - 0.5,
    "matrix": RNG.random((20, 30)) - 0.5,
    "float32": (RNG.random((20, 130)) - 0.5).astype("f"),
    "three axes": RNG.integers(-5, 9, (4, 5, 6)),
    "uint8": RNG.integers(0, 9, (4, 5)).astype("B"),
    "bools": RNG.random((7, 3)) < 0.5,
    "Fortran": np.asfortranarray(RNG.random((9, 11))),
    "any strides": RNG.random((12, 14))[::2, 1::3],
    "backwards": RNG.random((12, 14))[::-1],
    "complex": RNG.random((5, 40)) + 1j * RNG.random((5, 40)),
    "not a number": np.array([[1.0, np.nan, 3.0], [4.0, 5.0, -0.0]]),
}
SUMS = ["sum", "prod", "mean", "var", "std"]
CHOICES = ["min", "max", "any", "all", "argmin", "argmax"]
OTHERS = ["np.ptp", "np.count_nonzero", "np.nansum", "np.nanprod", "np.nanmin", "np.nanmax", "np.nanmean"]


def same(ours, theirs, exact):
    assert type(ours) is type(theirs)
    assert ours.dtype == theirs.dtype and ours.shape == theirs.shape
    if exact or ours.dtype.kind not in "fc":
        np.testing.assert_array_equal(ours, theirs)
    else:
        np.testing.assert_allclose(ours, theirs, rtol=1e-6 if ours.dtype.char in "fF" else 1e-12, atol=1e-14)


@pytest.mark.parametrize("keywords", ["", "axis=0", "axis=-1", "axis=1, keepdims=True", "keepdims=True"])
@pytest.mark.parametrize("name", SUMS + CHOICES + OTHERS)
def test_reductions(name, keywords):
    text = f"{name}(a, {keywords})" if name.startswith("np.") else f"a.{name}({keywords})"
    function = expression(text, "a")
    compiled = njit(function)
    for what, a in some(ARRAYS.items()):
        ordered = "min" in name or "max" in name or "ptp" in name
        if "axis=1" in keywords and a.ndim < 2 or a.dtype.kind == "c" and ordered:
            continue
        if a.dtype.kind == "b" and "ptp" in name:
            continue
        try:
            expected = function(a)
        except TypeError:
            continue
        together = what not in ("Fortran", "any strides", "backwards", "complex")
        same(compiled(a), expected, exact=together and "axis" not in keywords)


@pytest.mark.parametrize("n", [0, 1, 7, 8, 9, 127, 128, 129, 1000, 8191, 20001])
def test_sums_are_added_in_numpys_order(n):
    function = njit(expression("a.sum()", "a"))
    for dtype in "fd":
        a = (RNG.random(n) - 0.5).astype(dtype)
        assert function(a) == a.sum()
        assert function(np.repeat(a, 2)[::2]) == np.repeat(a, 2)[::2].sum()
    a = RNG.random(n) + 1j * RNG.random(n)
    assert function(a) == a.sum()


def test_dtype_out_and_initial():
    a = RNG.integers(-9, 9, (6, 7)).astype("h")
    for text in ["a.sum(dtype=np.float32)", "np.sum(a, dtype=np.int16)", "np.mean(a, dtype=np.float32)",
                 "np.sum(a, initial=5)", "np.sum(a, axis=0, initial=5)", "np.prod(a, initial=2)",
                 "np.var(a, ddof=1)", "np.std(a, axis=0, ddof=1)"]:  # fmt: skip
        same(njit(expression(text, "a"))(a), expression(text, "a")(a), exact=False)

    def f(a, out):
        return np.sum(a, axis=0, out=out), np.max(a, 0, out)

    agree(f, a, np.zeros(7, "l"))


def test_what_is_empty():
    for text in ["a.min()", "a.max()", "a.argmin()", "a.argmax()", "np.nanmin(a)", "a.sum()", "a.prod()", "a.any()",
                 "a.all()"]:  # fmt: skip
        agree(expression(text, "a"), np.zeros(0))
        agree(expression(text, "a"), np.zeros((0, 3)))
    for text in ["a.sum(axis=0)", "a.sum(axis=1)", "a.min(axis=1)", "a.min(axis=0)", "a.any(axis=0)"]:
        agree(expression(text, "a"), np.zeros((0, 3)))


@pytest.mark.parametrize("name", ["cumsum", "cumprod"])
def test_running_sums(name):
    for what in ("vector", "matrix", "three axes", "uint8", "bools", "float32"):
        a = ARRAYS[what]
        agree(expression(f"a.{name}()", "a"), a)
        if a.ndim > 1:
            agree(expression(f"np.{name}(a, axis=1)", "a"), np.ascontiguousarray(a))


def test_in_expressions():
    def f(x):
        return ((x - x.mean()) ** 2).sum() / x.size, (x > 0).any(), np.abs(x).max() - np.sum(x.min(axis=0))

    for a in (ARRAYS["vector"], ARRAYS["matrix"]):
        for ours, theirs in zip(njit(f)(a), f(a)):
            np.testing.assert_allclose(ours, theirs, rtol=1e-13)
            assert type(ours) is type(theirs)


@pytest.mark.parametrize("name", [*SUMS, "min", "max", "any", "all", *OTHERS])
def test_several_axes(name):
    call = f"{name}(a, " if name.startswith("np.") else f"a.{name}("
    function = expression(f"{call}axis=(0, 2)), {call}axis=(-1, 1), keepdims=True), {call}axis=(0, 1, 2))", "a")
    for a in (ARRAYS["three axes"], ARRAYS["three axes"] * 0.5, np.asfortranarray(ARRAYS["three axes"] * 0.25)):
        for ours, theirs in zip(njit(function)(a), function(a)):
            same(ours, theirs, exact=False)


def test_where_and_initial():
    a = ARRAYS["matrix"]
    for text in ["np.sum(a, where=a > 0)", "np.sum(a, axis=0, where=a > 0)", "np.prod(a, 1, where=a > 0.2)",
                 "np.min(a, where=a > 0, initial=9.0)", "np.max(a, axis=1, initial=0.25)", "np.max(a, initial=9.0)",
                 "np.any(a > 0.4, axis=0, where=a < 0.45)", "np.all(a > 0, where=a > 0)",
                 "np.mean(a, where=a > 0)", "np.mean(a, axis=1, where=a > 0, keepdims=True)",
                 "np.nanmin(a, axis=0, initial=-0.25)", "np.max(a[:0], initial=1.5)"]:  # fmt: skip
        same(njit(expression(text, "a"))(a), expression(text, "a")(a), exact=False)
    agree(expression("np.min(a, where=a > 0)", "a"), a)


STRIDES = [RNG.normal(size=(9, 9))[::2, ::-1], RNG.normal(size=(3, 4)).T[::-1], RNG.normal(size=(40, 301))[:, :300],
           RNG.normal(size=(6, 9001)).T[:9000], RNG.normal(size=(3, 301, 41))[:, :300, :40],
           RNG.normal(size=(5, 6, 7)).transpose(2, 0, 1)[::-1], np.asfortranarray(RNG.normal(size=(9, 70))),
           np.broadcast_to(RNG.normal(size=7), (3000, 7)), np.broadcast_to(RNG.normal(size=(30, 1)), (30, 7))]


@pytest.mark.parametrize("text", [
    "a.sum()", "a.mean()", "a.var()", "a.sum(axis=0)", "a.sum(axis=-1)", "np.var(a, axis=0)", "np.nansum(a)",
    "np.sum(a, tuple(range(a.ndim)))", "a.sum(keepdims=True)", "np.sum(a, dtype=np.float64)", "a.prod()",
])
def test_elements_are_added_in_the_order_of_memory(text):
    text = text.replace("tuple(range(a.ndim))", "(0, 1)")
    function = expression(text, "a")
    compiled = njit(function)
    for a in [*STRIDES, *(a.astype("f") for a in STRIDES)]:
        if "(0, 1)" in text and a.ndim != 2 or "nansum" in text and 0 in a.strides:
            continue
        with np.errstate(all="ignore"):
            same(compiled(a), function(a), exact=True)


def test_complex_numbers_are_added_in_the_order_of_memory():
    for text in ("a.sum()", "a.mean()", "a.var()", "a.sum(axis=0)", "np.sum(a, (0, 1))"):
        function = expression(text, "a")
        for a in (STRIDES[0] * 1j, STRIDES[6] * (1 + 2j), (STRIDES[2].T * 1j)[:, ::-1]):
            same(njit(function)(a), function(a), exact=True)


def test_halves_are_added_as_singles():
    a = (RNG.random((30, 40)) * 9).astype(np.float16)
    for text in ("a.mean()", "a.mean(axis=0)", "a.mean(-1)", "a.prod()", "a.sum()"):
        function = expression(text, "a")
        for x in (a, a[::2, :35]):
            with np.errstate(all="ignore"):
                same(njit(function)(x), function(x), exact=True)


@pytest.mark.parametrize("shape", [(0, 2), (2, 0), (0, 0), (3, 0)], ids=str)
def test_reductions_of_no_elements(shape):
    for text in ("np.ptp(a)", "np.ptp(a, axis=0)", "a.argmax(axis=0)", "a.argmin(axis=1)", "a.max(axis=1)"):
        agree(expression(text, "a"), np.zeros(shape))


@pytest.mark.parametrize("shape", [(1,), (3, 1), (2, 9), (9, 2)])
def test_means_of_negative_zeros_are_zeros(shape):
    x = np.full(shape, -0.0)
    agree(lambda x: (x.mean(), x.mean(axis=0), x.mean(axis=-1), x.sum(), x.sum(axis=-1)), x)
    agree(lambda x: (np.nanmean(x), (x * 2).mean(), (0.0 / (x - 1)).mean(axis=-1)), x)


def sums(a):
    return a.sum((0, 1)), a.sum((2, 1)), a.sum((0, -1), keepdims=True)


def spreads(a):
    return a.mean((0, 1)), a.std((0, 2), keepdims=True)


@pytest.mark.parametrize("function, dtype", [(sums, np.float64), (sums, np.float16), (spreads, np.float32)])
def test_sums_over_several_axes_are_rounded_as_numpy_rounds_them(function, dtype):
    base = (np.random.default_rng(1).normal(size=(3, 40, 5)) * 3).astype(dtype)
    compiled = njit(function)
    for view in (base, base.transpose(1, 0, 2), base[::-1], base[:, ::2], base[..., ::-1]):
        for our, their in zip(compiled(view), function(view)):
            assert_same(our, np.array(their, order="C"))


@pytest.mark.parametrize("shape", [(1, 1), (300, 1), (1, 300), (0, 1), (5, 0), (3, 200, 1), (4, 1, 1), (2, 3, 4)])
@pytest.mark.parametrize("dtype", ["f", "d", "F", "l"])
def test_sums_along_axes_of_length_one(shape, dtype):
    a = (np.random.default_rng(4).random(shape) * 100 - 50).astype(dtype)
    for axis in range(len(shape)):
        function = expression(f"a.sum(axis={axis})", "a")
        compiled = njit(function)
        for order in "CF":
            given = np.asarray(a, order=order)
            same(compiled(given), function(given), exact=dtype != "F")


def test_sums_of_many_lengths_have_numpys_bits():
    def sums(a, b):
        return a.sum(), (a * b).sum(), a.mean(), np.sum(a - b)

    compiled, rng = njit(sums), np.random.default_rng(5)
    for dtype in "fd":
        for n in [*range(1, 20), 127, 128, 129, 136, 255, 257, 1000, 4097, 70001]:
            a = (rng.standard_normal(n) * 10.0 ** rng.integers(-3, 5, n)).astype(dtype)
            assert_same(compiled(a, a[::-1].copy()), sums(a, a[::-1].copy()))
