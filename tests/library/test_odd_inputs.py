"""Inputs that are seldom given: NumPy is the oracle."""

import numpy as np
import pytest
from oracle import agree, make

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
