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


def of_a_value(a, c):
    return stencil(lambda b: b[-1], cval=c)(a)


@pytest.mark.parametrize(
    "function, message",
    [
        (
            of_a_variable,
            "takes variables of the function around it\n(.|\n)*hint: pass them to the stencil as arguments",
        ),
        (of_a_value, "known only when the function runs\n(.|\n)*hint: write constants and functions"),
    ],
)
def test_what_is_not_known_when_the_function_is_compiled_is_refused(function, message):
    with pytest.raises(UnsupportedError, match=message):
        njit(function)(np.arange(5.0), 2.0)


def test_what_the_stencil_refuses_is_told_with_the_line():
    def wrong(a):
        return stencil("sideways")(lambda b: b[0])(a)

    with pytest.raises(RuntimeError, match="ValueError: the mode of a stencil is .*, not 'sideways'\n(.|\n)*sideways"):
        njit(wrong)(np.arange(5.0))
