"""The keywords axes, axis and keepdims of guvectorize: on the device as NumPy itself does it on the host, errors
included."""

import itertools

import numpy as np
import pytest
from krait import cuda, guvectorize


def both(*given):
    def decorate(function):
        return guvectorize(*given)(function), guvectorize(*given, target="cuda")(function)

    return decorate


@both(["void(float64[:], float64[:])"], "(n)->()")
def total(x, out):
    out[0] = 0
    for i in range(x.size):
        out[0] += x[i] * (i + 1)


@both(["void(float64[:], float64[:], float64[:], float64[:])"], "(n),(n)->(),()")
def dot_and_sum(x, y, dot, both_sums):
    dot[0] = both_sums[0] = 0
    for i in range(x.size):
        dot[0] += x[i] * y[i]
        both_sums[0] += x[i] + y[i]


@both(["void(float64[:], float64, float64[:])"], "(n),()->(n)")
def running(x, step, out):
    sum_ = step
    for i in range(x.size):
        sum_ += x[i]
        out[i] = sum_


@both(["void(float64[:, :], float64[:, :], float64[:, :])"], "(m,n),(n,p)->(m,p)")
def product(a, b, out):
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            out[i, j] = 0
            for k in range(a.shape[1]):
                out[i, j] += a[i, k] * b[k, j]


FUNCTIONS = {"total": total, "dot_and_sum": dot_and_sum, "running": running, "product": product}
X = np.arange(60.0).reshape(3, 4, 5) - 30
SQUARE = np.arange(54.0).reshape(3, 3, 6) % 7
OPERANDS = {
    "total": [(X,), (np.arange(3.0),), (X[::-1, ::2],)],
    "dot_and_sum": [(X, X * 2), (X, X[:1] + 1), (X[0], X)],
    "running": [(X, 2.0), (X, np.ones((4, 5))), (X[0], 1)],
    "product": [(SQUARE, SQUARE.transpose(0, 2, 1)), (SQUARE, SQUARE)],
}
KEYWORDS = {
    "total": [dict(axis=axis, keepdims=kept) for axis in (0, 1, 2, -1, -3, 5) for kept in (False, True)]
    + [dict(axes=[axis], keepdims=kept) for axis in (0, (1,), -2, ()) for kept in (False, True)]
    + [dict(axes=[0, ()]), dict(axes=[0, 0]), dict(axes=[0, 1], keepdims=True), dict(axes=[1, (-1,)], keepdims=True)]
    + [dict(axes=3), dict(axes=((0,),)), dict(axes=[0], axis=0), dict(axes=None), dict(axis=None), dict(axis=(0,))]
    + [dict(axes=["a"]), dict(axes=[(0, 1)]), dict(axes=[]), dict(keepdims=True), dict(keepdims=2), dict(axes=[0] * 3)],
    "dot_and_sum": [dict(axis=axis, keepdims=kept) for axis in (0, 1, -1) for kept in (False, True)]
    + [dict(axes=[0, 1]), dict(axes=[0, 0], keepdims=True), dict(axes=[0, 0, 0, 2], keepdims=True)],
    "running": [dict(axis=axis) for axis in (0, 1, 2, -2)]
    + [dict(axes=[0, (), 0]), dict(axes=[0, (), 2]), dict(axes=[1, (), (0,)]), dict(axes=[0, ()])]
    + [dict(axes=[0, 0, 0]), dict(keepdims=True)],
    "product": [dict(axes=[one, two, three]) for one, two, three in itertools.product(((0, 1), (-1, -2)), repeat=3)]
    + [dict(axes=[(0, 2), (2, 0), (0, 1)]), dict(axes=[(2, 0), (0, 2), (2, 1)]), dict(axes=[(0, 1), (1, 0)])]
    + [dict(axis=0), dict(keepdims=True), dict(axes=[(0, 0), (1, 0), (0, 1)]), dict(axes=[0, (1, 0), (0, 1)])],
}


def outcome(function, operands, keywords):
    try:
        given = function(*operands, **keywords)
    except (TypeError, ValueError) as error:  # AxisError is a ValueError
        return type(error)
    return [np.asarray(value) for value in (given if isinstance(given, tuple) else (given,))]


def compare(ours, theirs):
    if isinstance(theirs, type):
        assert ours is theirs
        return
    for one, other in zip(ours, theirs, strict=True):
        assert one.dtype == other.dtype and one.shape == other.shape
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("on_device", [False, True])
def test_as_on_the_host(name, on_device):
    host, device = FUNCTIONS[name]
    agreed = refused = 0
    for operands, keywords in itertools.product(OPERANDS[name], KEYWORDS[name]):
        expected = outcome(host, operands, keywords)
        if on_device:
            operands = [cuda.to_device(value) if isinstance(value, np.ndarray) else value for value in operands]
        got = outcome(device, operands, keywords)
        compare(got, expected)
        refused += isinstance(expected, type)
        agreed += not isinstance(expected, type)
    assert agreed > 5 and refused > 2


@pytest.mark.parametrize("on_device", [False, True])
def test_results_that_are_given(on_device):
    def array(shape):
        return cuda.device_array(shape) if on_device else np.empty(shape)

    (host, device), expected = running, running[0](X, 0.5, axes=[1, (), 2])
    out = array(expected.shape)
    assert device(X, 0.5, axes=[1, (), 2], out=out) is out
    np.testing.assert_array_equal(np.asarray(out), expected)
    (host, device), out = total, array((3, 1, 5))
    assert device(X, axis=1, keepdims=True, out=out) is out
    np.testing.assert_array_equal(np.asarray(out), host(X, axis=1, keepdims=True))
    with pytest.raises(ValueError):
        device(X, axis=1, keepdims=True, out=array((3, 2, 5)))
    with pytest.raises(ValueError):
        device(X, axis=1, keepdims=True, out=array((3, 5, 1)))


def test_dimensions_that_may_be_missing():
    host, device = both(["void(float64[:, :], float64[:, :], float64[:, :])"], "(m?,n),(n,p?)->(m?,p?)")(
        FUNCTIONS["product"][0].py_func
    )
    for operands, axes in (((SQUARE[0], SQUARE[0, 0]), [(1, 0), 0, 0]), ((SQUARE[0, 0], SQUARE), [0, (2, 0), 1])):
        compare(outcome(device, operands, dict(axes=axes)), outcome(host, operands, dict(axes=axes)))
