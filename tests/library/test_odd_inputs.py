"""Inputs that are seldom given: NumPy is the oracle."""

import numpy as np
import pytest
from oracle import agree, agree_all, expression, make

from krait import cuda, errors, njit


def in_kernel(function, *args):
    """What a kernel of one thread computes, beside NumPy."""
    expected = np.asarray(function(*args))
    kernel = make("def k(out, *args):\n    out[0] = function(*args)", "k", function=njit(function))
    out = np.zeros(1, expected.dtype)
    cuda.jit(kernel)[1, 1](out, *args)
    return out[0], expected


SPREADS = {
    "var": lambda a, ddof: np.var(a, ddof=ddof), "std": lambda a, ddof: np.std(a, ddof=ddof),
    "nanvar": lambda a, ddof: np.nanvar(a, ddof=ddof), "nanstd": lambda a, ddof: np.nanstd(a, ddof=ddof),
    "nanmean": lambda a, ddof: np.nanmean(a),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", SPREADS)
def test_spread_of_halves_in_kernels(name):
    """NumPy squares float16s as float16s: what is beyond 65504 is infinite."""
    random = np.random.default_rng(1)
    for scale in (1, 100, 3000):
        for n in (1, 2, 40):
            a = (random.random(n) * scale).astype(np.float16)
            if name.startswith("nan"):
                a[1::3] = np.nan
            for ddof in (0, 1, 3):
                result, expected = in_kernel(SPREADS[name], a, ddof)
                np.testing.assert_allclose(result, expected, rtol=2e-3)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", SPREADS)
@pytest.mark.parametrize("dtype", [np.int8, np.bool_, np.float64, np.float32, np.complex128])
def test_more_degrees_of_freedom_than_numbers(name, dtype):
    a = np.array([1, 0, 1], dtype)
    for ddof in (0, 2, 3, 5):
        result, expected = in_kernel(SPREADS[name], a, ddof)
        np.testing.assert_allclose(result, expected, rtol=1e-6)
        result, expected = njit(SPREADS[name])(a, ddof), SPREADS[name](a, ddof)
        assert result.dtype == expected.dtype
        np.testing.assert_allclose(result, expected, rtol=1e-6)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.int32, np.uint64, np.float16, np.float32])
@pytest.mark.parametrize("text", ["np.mgrid[a:b]", "np.mgrid[a:b, 0:2]", "np.mgrid[a:b, 0:c]", "np.ogrid[a:b:2, 0:3]",
                                  "np.mgrid[a:b:3j]", "np.ogrid[a:b, a:c]"])
def test_grids_have_the_type_of_their_bounds(text, dtype):
    f = make(f"def f(a, b, c):\n    return {text}", "f")
    arguments = dtype(0), dtype(5), np.int16(3)
    result, expected = njit(f)(*arguments), f(*arguments)
    for one, other in zip(result, expected) if isinstance(expected, tuple) else [(result, expected)]:
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("a", [np.arange(3.0), np.zeros((2, 0)), np.zeros((2, 2), np.int8)[:, ::-1], np.array(1.0),
                               np.array(["NaT", "2020"], "M8[D]")], ids=str)
def test_arrays_and_none(a):
    for text in ("a == None", "None == a", "a != None", "None != a"):
        agree(make(f"def f(a):\n    return {text}", "f"), a)
    assert njit(lambda a: a is None)(a) is False


def test_sequences_deeper_than_what_they_are_stored_into():
    for shape, text in ((3, "a[:] = [[b, 1, 2]]"), (3, "a[:] = [[[b], [1], [2]]]"), ((2, 2), "a[0] = [[b, b]]"),
                        (3, "a[:] = ((b, 1, 2),)")):
        f = make(f"def f(a, b):\n    {text}", "f")
        with pytest.raises(ValueError):
            f(np.zeros(shape), 4.0)
        with pytest.raises(errors.KraitError, match="more dimensions than what it is stored into"):
            njit(f)(np.zeros(shape), 4.0)

    def stored(a, b):
        a[:] = np.array([[b, 1, 2]])
        return a

    agree(stored, np.zeros(3), 4.0)


def test_complex_numbers_that_are_none_are_searched_last():
    numbers = [1 + 2j, 3 - 1j, complex(np.nan, 0), complex(0, np.nan), complex(np.nan, np.nan), -0j, 1]
    for dtype in (np.complex64, np.complex128):
        a = np.array(numbers, dtype)
        for side in ("left", "right"):
            agree(make(f"def f(a, b):\n    return np.searchsorted(a, b, side='{side}')", "f"), np.sort(a), a)


NOTHING = [np.zeros(0), np.zeros((0, 3), np.int8), np.zeros((3, 0), np.float32)]


@pytest.mark.parametrize("text", ["np.partition(a, k)", "np.argpartition(a, k)", "np.partition(a, [0, k], axis=0)",
                                  "np.argpartition(a, k, axis=None)"])
def test_nothing_has_no_places_to_part_at(text):
    agree_all(expression(text, "a", "k"), [(a, k) for a in NOTHING for k in (0, 3, -1)])


def test_weights_of_nothing():
    f = njit(expression("np.bincount(a, weights=w, minlength=n)", "a", "w", "n"))
    for n in (0, 4):
        for weights in (np.ones(3), np.zeros(0)):
            result = f(np.zeros(0, np.int64), weights, n)
            assert result.tolist() == np.bincount(np.zeros(0, np.int64), weights, n).tolist()
    agree(f, np.array([1, -1]), np.ones(3), 0)
    agree(f, np.array([1, 1]), np.ones(3), 0)


@pytest.mark.parametrize("shape", [(), (0,), (1,), (2,), (3,), (3, 2), (2, 3), (2, 2), (4, 2), (4, 3, 2), (1, 3, 2)])
def test_products_into_arrays(shape):
    """np.matmul puts a product into each place of further axes; np.dot takes what it would have made."""
    line, matrix, other = np.arange(2.0), np.arange(6.0).reshape(3, 2), np.arange(4.0).reshape(2, 2)
    for a, b in ((line, line), (matrix, line), (line, other), (matrix, other)):
        for name in ("matmul", "dot"):
            if name == "dot" or shape or a.ndim + b.ndim < 4:
                agree(make(f"def f(a, b, out):\n    np.{name}(a, b, out=out)\n    return out"), a, b, np.zeros(shape))
    if len(shape) > 1:
        agree(make("def f(a, b, out):\n    np.outer(a, b, out)\n    return out"), np.arange(3.0), line, np.zeros(shape))


@pytest.mark.parametrize("out", [np.zeros((3, 2), np.float32), np.zeros((3, 2), order="F"), np.zeros((3, 4))[:, ::2]])
def test_dot_takes_what_it_would_have_made(out):
    agree(make("def f(a, b, out):\n    np.dot(a, b, out=out)\n    return out"), np.ones((3, 2)), np.ones((2, 2)), out)


@pytest.mark.parametrize("dtype", [np.int64, np.float16, np.float64, np.bool_])
def test_dot_by_a_number_into_an_array(dtype):
    """What BLAS does not multiply takes any array of the shape."""
    f = njit(make("def f(a, b, out):\n    np.dot(a, b, out=out)\n    return out"))
    a = np.ones((2, 4), dtype)
    for out in (np.zeros((2, 4), dtype), np.zeros((2, 4), dtype, order="F"), np.zeros((4, 4), dtype)[::2],
                np.zeros((2, 4), np.float64), np.zeros((3, 4), dtype)):
        for b in (np.array(3, np.int8), np.array(2, dtype)):
            if b.dtype.kind != "i" or dtype is not np.bool_:
                agree(f, a, b, out)


@pytest.mark.parametrize("name", ["sum", "prod", "any", "all", "max", "mean", "var", "std"])
def test_masks_that_do_not_fit(name):
    initial = ", initial=1" if name == "max" else ""
    for axis in ("", ", axis=0", ", axis=-1"):
        f = njit(expression(f"np.{name}(a{axis}, where=mask{initial})", "a", "mask"))
        for shape, of_mask in (((3, 2), (3,)), ((3,), (2, 3)), ((1,), (3,)), ((1, 3), (2, 3)), ((3, 2), (2, 2)),
                               ((3, 2), (3, 1)), ((3, 2), (1,)), ((2, 2, 1), (2, 3)), ((0, 2), (3, 2))):
            agree(f, np.ones(shape), np.ones(of_mask, bool))


@pytest.mark.parametrize("shape", ["3, 2, -1", "3, -1, 2", "-1, 3, 2", "-1, 3", "3, -1", "2, -1, 0, 2", "2, -5, 3",
                                   "-1, 7, 3, 2", "7", "2, 2, 2", "-1, 2, -2", "-1, 0"])
def test_shapes_that_do_not_fit(shape):
    agree(expression(f"a.reshape({shape})", "a"), np.zeros(5))


@pytest.mark.parametrize("order", ["contiguous", "fortran"])
def test_numbers_get_an_axis(order):
    for more in ("", ", np.float32", ", dtype=np.int8"):
        f = expression(f"np.as{order}array(a{more})", "a")
        for a in (5, 2.5, True, np.float32(5), np.array(3), np.array(2.5), np.datetime64(3, "s"), np.ones((2, 2))):
            if not (more and isinstance(a, np.datetime64)):
                agree(f, a)


@pytest.mark.parametrize("text", [
    "np.astype(a, np.int32)", "np.astype(a, a.dtype, copy=False)", "np.arange(stop=4)", "np.arange(stop=4, step=2)",
    "np.arange(start=1, stop=4)", "a.view()", "np.isfortran(a), np.isfortran(a.T), np.isfortran(a[0])",
    "a in a, a[0] in a, a[:, :1] in a, a + 1.5 not in a, a[0, :2] in a",
    "np.iterable(a), np.iterable(3.5), np.iterable((1,)), np.iterable(range(3))",
    "np.iterable(a[0, 0]), np.iterable('a'), np.iterable([1])", "np.mask_indices(3, np.triu)[1].copy()",
    "np.mask_indices(4, np.tril, -1)[0].copy()", "np.apply_over_axes(np.sum, a, [0, 1])",
    "np.apply_over_axes(np.mean, a, -1)",
    "np.ascontiguousarray(np.apply_over_axes(np.cumsum, a, (0, -1)))",
])
def test_seldom_called(text):
    for a in (np.arange(6.0).reshape(2, 3), np.asfortranarray(np.arange(9).reshape(3, 3))):
        agree(expression(text, "a"), a)


@pytest.mark.parametrize("name", ["C_CONTIGUOUS", "C", "CONTIGUOUS", "F_CONTIGUOUS", "F", "FORTRAN", "WRITEABLE", "W",
                                  "FORC", "FNC", "nothing"])
def test_flags_by_their_names(name):
    f = njit(expression(f"a.flags['{name}']", "a"))
    for a in (np.ones((2, 3)), np.ones((2, 3), order="F"), np.ones((4, 3))[::2], np.broadcast_to(np.ones(3), (2, 3))):
        agree(f, a)


def test_digits():
    cases = [(n, w) for n in (0, 1, 5, -1, -4, -5, 2**62, -(2**63)) for w in (None, 1, 3, 4, 64, 70)]
    agree_all(expression("np.binary_repr(n, w)", "n", "w"), cases)
    cases = [(n, b, p) for n in (0, 1, 35, -10, 2**62) for b in (2, 3, 36, 1, 37) for p in (0, 2)]
    agree_all(expression("np.base_repr(n, b, p)", "n", "b", "p"), cases)


@pytest.mark.parametrize("more", ["", ", w=[1, 2, 1, 3, 1]", ", rcond=0.1"])
def test_series_that_fit(more):
    x, y = np.array([0.0, 1, 2, 3, 5]), np.array([[1.0, 2], [3, 1], [0, 5], [2, 2], [7, 1]])
    f = make(f"def f(x, y, n):\n    return np.polynomial.polynomial.polyfit(x, y, n{more})")
    for values in (y, y[:, 0]):
        for n in (0, 1, 3):
            np.testing.assert_allclose(njit(f)(x, values, n), f(x, values, n), rtol=1e-10, atol=1e-12)
    agree(f, x, y, -1)
    agree(f, x[:3], y, 1)
    agree(f, y, y, 1)


@pytest.mark.parametrize("more", ["", ", 2", ", 2.5, edge_order=2", ", np.array([0.0, 1, 3, 4, 8, 9])", ", axis=0"])
def test_gradients_of_dates_are_durations(more):
    durations = np.array([34, 21, 28, None, 7, 90], "m8[ms]")
    agree_all(expression(f"np.gradient(a{more})", "a"), [(durations,), (durations[::-1].astype("M8[s]"),)])


@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.4.0", reason="a deprecated sum before")
def test_generators_are_no_arrays_to_add_up():
    for body in ("return np.sum(i for i in range(n))", "g = (i for i in range(n))\n    return np.sum(g)"):
        with pytest.raises(TypeError, match=r"use np\.sum\(np\.fromiter|Use np\.sum\(np\.fromiter"):
            njit(make(f"def f(n):\n    {body}"))(3)
    agree(expression("np.sum([i for i in range(n)])", "n"), 3)
