"""Stencils that are made in compiled code: when the function is compiled."""

import numpy as np
import pytest

import krait
from krait import njit, stencil
from krait.errors import UnsupportedError

WEIGHT = 3.0


def called(a):
    return stencil(lambda b: 0.5 * (b[-1] + b[1]))(a)


def kept_in_a_variable(a):
    kernel = stencil(lambda b: b[0] - b[2], cval=1.5)
    return kernel(kernel(a))


def decorated(a):
    @stencil
    def kernel(b):
        return b[-1] + WEIGHT * b[1]

    return kernel(a)


def decorated_with_options(a):
    @krait.stencil(cval=-1.0, neighborhood=((-2, 1),))
    def kernel(b):
        s = 0.0
        for i in range(-2, 2):
            s += b[i]
        return s

    return kernel(a)


def weighted(b, w):
    return b[0] * w[0] + b[1] * w[1]


def of_a_global_function(a):
    return stencil(weighted, standard_indexing=("w",))(a, a[:2])


def in_a_mode(a):
    for _ in range(3):
        a = stencil("wrap")(lambda b: b[-1] + b[1])(a)
    return a


@pytest.mark.parametrize("parallel", [False, True])
@pytest.mark.parametrize(
    "function",
    [called, kept_in_a_variable, decorated, decorated_with_options, of_a_global_function, in_a_mode],
    ids=lambda function: function.__name__,
)
def test_they_are_what_the_interpreter_makes(function, parallel):
    x = np.arange(7.0) ** 2
    np.testing.assert_allclose(njit(parallel=parallel)(function)(x), function(x))


def test_a_global_of_the_kernel_that_changes_is_seen(monkeypatch):
    compiled, x = njit(decorated), np.arange(5.0)
    assert compiled(x)[1] == 6
    monkeypatch.setitem(globals(), "WEIGHT", 10.0)
    assert compiled(x)[1] == 20


def of_a_variable(a, c):
    return stencil(lambda b: b[-1] * c)(a)


def in_a_mode_of_a_variable(a, mode):
    return stencil(mode)(lambda b: b[-1])(a)


def in_a_neighborhood_of_a_variable(a, neighborhood):
    return stencil(lambda b: b[-1], neighborhood=neighborhood)(a)


@pytest.mark.parametrize(
    "function, option, error, message",
    [
        (
            of_a_variable,
            2.0,
            UnsupportedError,
            "takes variables of the function around it\n(.|\n)*hint: pass them to the stencil as arguments",
        ),
        (
            in_a_mode_of_a_variable,
            "wrap",
            UnsupportedError,
            "known only when the function runs\n(.|\n)*hint: write constants and functions",
        ),
        (in_a_neighborhood_of_a_variable, ((-1, 1),), RuntimeError, r"is written as tuples, \(\(-w, w\),\)"),
    ],
)
def test_what_is_not_known_when_the_function_is_compiled_is_refused(function, option, error, message):
    with pytest.raises(error, match=message):
        njit(function)(np.arange(5.0), option)


# ---- options whose values are known only when the function runs ------------------------------------------------------


def of_a_value(a, c):
    return stencil(lambda b: b[-1], cval=c)(a)


def into_an_array(a, c):
    out = np.ones_like(a)
    stencil(lambda b: b[-1], cval=c)(a, out=out)
    return out


def in_a_loop(a, c):
    total = np.zeros_like(a)
    for i in range(3):
        total += stencil(lambda b: b[-1] + b[1], cval=c + i)(a)
    return total


def of_a_decorator_with_options(a, c):
    @stencil(cval=c, neighborhood=((-1, int(c)),))
    def kernel(b):
        return b[-1]

    return kernel(kernel(a))


def moving_sum(a, c):
    def kernel(b, w):
        s = 0.0
        for i in range(-w, w + 1):
            s += b[i]
        return s

    width = int(c)
    return stencil(kernel, neighborhood=((-width, width),), cval=c)(a, width)


def weighted_sum(a, c):
    def kernel(b, w):
        s = 0.0
        for i in range(-(w.size // 2), w.size // 2 + 1):
            s += b[i] * w[i + w.size // 2]
        return s

    w = np.ones(2 * int(c) + 1, a.dtype)
    reach = ((-(w.size // 2), w.size // 2),)
    return stencil(kernel, neighborhood=reach, standard_indexing=("w",), cval=-c)(a, w)


@pytest.mark.parametrize("parallel", [False, True])
@pytest.mark.parametrize(
    "function",
    [of_a_value, into_an_array, in_a_loop, of_a_decorator_with_options, moving_sum, weighted_sum],
    ids=lambda function: function.__name__,
)
def test_options_of_variables(function, parallel):
    compiled = njit(parallel=parallel)(function)
    for x, c in [(np.arange(9.0) ** 2, 1.5), (np.arange(9.0), 3.5), (np.arange(9, dtype="f4"), 1.5),
                 (np.arange(2.0), 1.5), (np.zeros(0), 1.5)]:  # fmt: skip
        ours, theirs = compiled(x, c), function(x, c)
        np.testing.assert_allclose(ours, theirs)
        assert ours.dtype == theirs.dtype


def test_ends_of_a_neighborhood_are_checked_when_the_function_runs():
    def around(a, w):
        return stencil(lambda b: b[-2] + b[2], neighborhood=((-w, w),))(a)

    compiled, x = njit(around), np.arange(9.0)
    np.testing.assert_array_equal(compiled(x, 3), around(x, 3))
    with pytest.raises(ValueError, match="the index -2 is outside the neighborhood of axis 0"):
        compiled(x, 1)
    with pytest.raises(TypeError, match="neighborhood is a pair of ints"):
        compiled(x, 2.0)


@pytest.mark.parametrize("mode", ["constant", "wrap"])
def test_an_index_that_varies_lies_inside_a_neighborhood_of_variables(mode):
    def sums(b, r):
        s = 0.0
        for i in range(-r, r + 1):
            s += b[i]
        return s

    def around(a, w, r):
        return stencil(mode, neighborhood=((-w, w),))(sums)(a, r)

    def beside(a, w, r):
        return stencil(mode, neighborhood=((-2, w),))(sums)(a, r)

    x = np.arange(9.0)
    for function in (around, beside):
        for parallel in (False, True):
            compiled = njit(parallel=parallel)(function)
            np.testing.assert_array_equal(compiled(x, 2, 2), function(x, 2, 2))
            for call in (compiled, function):
                with pytest.raises(IndexError, match="an index is outside the neighborhood"):
                    call(x, 1, 2)


@pytest.mark.parametrize("c", [2.5, np.nan, np.inf, 1e30])
def test_a_border_that_the_result_does_not_hold(c):
    with pytest.raises(TypeError, match="cval is a number that the result does not hold"):
        njit(of_a_value)(np.arange(5), c)
    assert njit(of_a_value)(np.arange(5), 2.0)[0] == 2


def test_what_the_stencil_refuses_is_told_with_the_line():
    def wrong(a):
        return stencil("sideways")(lambda b: b[0])(a)

    with pytest.raises(RuntimeError, match="ValueError: the mode of a stencil is .*, not 'sideways'\n(.|\n)*sideways"):
        njit(wrong)(np.arange(5.0))


@stencil
def blurred(a):
    return a[-1] + a[0] * 2 + a[1]


@pytest.mark.parametrize("options", [{}, {"parallel": True}])
@pytest.mark.parametrize("source, target", [
    (np.s_[:], np.s_[:]), (np.s_[1:], np.s_[:-1]), (np.s_[:-1], np.s_[1:]), (np.s_[:], np.s_[::-1]),
    (np.s_[:10], np.s_[::2]),
])  # fmt: skip
def test_results_over_what_is_read_are_those_of_what_was_there(source, target, options):
    def called_in_place(a, out):
        return blurred(a, out=out)

    for function in called_in_place, njit(**options)(called_in_place):
        ours, theirs = np.arange(20.0) ** 2, np.arange(20.0) ** 2
        read = theirs[source].copy()
        theirs[target][1:-1] = read[:-2] + 2 * read[1:-1] + read[2:]
        result = function(ours[source], ours[target])
        assert ours.tolist() == theirs.tolist() and np.shares_memory(result, ours)
