"""out= of reductions and running sums: which shapes it may have, in NumPy's words, and what dtype is added up in."""

import itertools

import numpy as np
import pytest

from krait import cuda, errors, njit
from oracle import agree, agree_all, expression

EXTENTS = (0, 1, 2, 3, 5)


def shapes(ndim):
    return list(itertools.product(EXTENTS, repeat=ndim))


@pytest.mark.parametrize("axis, keepdims, ndim", [
    ("0", False, 1), ("1", False, 1), ("-1", False, 1), ("None", False, 0), ("(0, 1)", False, 0), ("0", True, 2),
    ("1", True, 2), ("None", True, 2), ("0", False, 2), ("1", True, 1), ("None", False, 1),
])  # fmt: skip
def test_shapes_of_reductions(axis, keepdims, ndim):
    sums = expression(f"np.sum(a, axis={axis}, keepdims={keepdims}, out=b)", "a", "b")
    agree_all(sums, [(np.ones(shape), np.zeros(out))
                     for shape in [(2, 3), (2, 1), (1, 3), (0, 3), (2, 0)] for out in shapes(ndim)])  # fmt: skip


@pytest.mark.parametrize("name", ["prod", "min", "max", "mean", "any", "all", "ptp", "std", "nansum"])
def test_each_reduction_tells_what_does_not_fit(name):
    function = expression(f"np.{name}(a, axis=1, out=b)", "a", "b")
    agree_all(function, [(np.ones((2, 3)), np.zeros(out)) for out in (2, 3, 1)])
    agree(function, np.ones((2, 3)), np.zeros((3, 2)))  # which the results could be stretched to
    agree(function, np.ones((2, 3)), np.zeros(()))


def test_places():
    for keepdims, ndim in ((False, 1), (True, 2), (False, 2)):
        function = expression(f"np.argmax(a, axis=1, keepdims={keepdims}, out=b)", "a", "b")
        agree_all(function, [(np.ones((2, 3)), np.zeros(out, int)) for out in shapes(ndim)])
    agree(expression("np.argmin(a, axis=0, out=b)", "a", "b"), np.ones((2, 3)), np.zeros(2))
    for dtype in ("?", "i1", "u4", "f8", "u8"):  # what int64 holds is written back
        agree(expression("np.argmax(a, axis=1, out=b)", "a", "b"), np.eye(2, 3), np.zeros(2, dtype))
        agree(expression("np.argmax(a, out=b)", "a", "b"), np.arange(300.0), np.zeros((), dtype))
    for axis, shape, out in ((0, 0, ()), (1, (2, 0), 3), (0, (2, 0), 2), (0, (2, 0), 0), (None, (2, 0), 2)):
        agree(expression(f"np.argmin(a, axis={axis}, out=b)", "a", "b"), np.ones(shape), np.zeros(out))


def test_of_a_line_the_text_has_its_comma():
    agree_all(expression("np.nansum(a, axis=0, keepdims=True, out=b)", "a", "b"), [(np.ones(5), np.zeros(3))])


@pytest.mark.parametrize("name", ["ptp", "std"])
def test_what_takes_the_result_further_casts_as_ufuncs_do(name):
    """NumPy subtracts, and takes the root, where the result lies already."""
    function = expression(f"np.{name}(a, axis=1, out=b)", "a", "b")
    with pytest.raises(TypeError, match="same_kind"):
        function(np.eye(2, 3), np.zeros(2, int))
    with pytest.raises(errors.TypingError, match="cannot be stored back as int64"):
        njit(function)(np.eye(2, 3), np.zeros(2, int))
    agree(expression(f"np.{name}(a, axis=1, out=a[:, 0]), a", "a"), np.array([[1.5, 7, 3], [2, 0, 1]]))
    agree(function, np.array([[1, 5, 2], [0, 1, 9]], "f4"), np.zeros(2, "e"))


@pytest.mark.parametrize("name", ["sum", "max", "any"])
def test_in_kernels_they_make_an_array(name):
    kernel = cuda.jit(expression(f"np.{name}(a, axis=0, out=b)", "a", "b"))
    with pytest.raises(errors.UnsupportedError, match=f"{name}.* makes an array, which kernels cannot"):
        kernel[1, 1](np.ones((3, 3)), np.ones(3))


@pytest.mark.parametrize("name", ["cumsum", "cumprod", "maximum.accumulate"])
def test_shapes_of_what_runs_along_an_axis(name):
    for axis in (0, 1):
        function = expression(f"np.{name}(a, axis={axis}, out=b)", "a", "b")
        outs = [(2, 3), (1, 3), (2, 1), (2, 5), (5, 3), (3, 2), (2, 2), (1, 1)]
        agree_all(function, [(np.ones((2, 3)), np.zeros(out)) for out in outs])
        agree_all(function, [(np.ones((2, 3)), np.zeros(out)) for out in (3, 2, 6)])
        agree(function, np.ones((2, 3)), np.zeros(()))
    function = expression(f"np.{name}(a, out=b)", "a", "b")
    # before NumPy 2.5 nothing was put into an array without items, and nothing said
    outs = [out for out in EXTENTS if out or tuple(map(int, np.__version__.split(".")[:2])) >= (2, 5)]
    agree_all(function, [(np.arange(3.0) + 2, np.zeros(out)) for out in outs])
    agree(function, np.ones(3), np.zeros((1, 3)))


def test_of_all_elements_in_a_line():
    agree_all(expression("np.cumsum(a, out=b)", "a", "b"), [(np.ones((2, 3)), np.zeros(out)) for out in (6, 5, 1)])


@pytest.mark.parametrize("name", ["sum", "prod", "cumsum", "cumprod", "mean", "nansum"])
def test_the_dtype_of_the_result_takes_part(name):
    """Of float32 sums in float64 are exact, of int32 those in float32 are not; a mean divides the sum that is there."""
    wide, narrow = np.array([[2**24, 7], [1, 9]]), np.array([[100, 120], [120, 127]])
    for items, dtype, out in ((wide, "f4", "f8"), (wide, "f8", "f4"), (narrow, "i1", "f4"), (narrow, "i1", "u1"),
                              (narrow, "i2", "i1"), (wide, "i4", "f4")):  # fmt: skip
        function = expression(f"np.{name}(a, axis=0, out=b)", "a", "b")
        agree(function, items.astype(dtype), np.zeros((2, 2) if name[0] == "c" else 2, out))


def test_a_line_is_made_of_a_number_to_repeat():
    for axis in (0, -1, 1, -2):
        agree(expression(f"np.repeat(a, 2, axis={axis})", "a"), np.array(3.0))


def test_products_with_a_number_have_no_negative_zero():
    for a in (np.array([-0.0, 1]), np.array([[-0.0, 2], [1, 1]], "f4"), np.array([-0.0, 1], "D"), np.array([-0.0]),
              np.array([-0.0, 1], "e"), np.zeros((2, 1, 1)) * -1):  # fmt: skip
        agree(expression("np.dot(a, 1), np.dot(1, a), np.inner(a, 1)", "a"), a)


def test_nothing_is_put_into_nothing():
    put = expression("np.put(a, b, c)", "a", "b", "c")
    places, values = np.array([0, 1]), np.array([1.0, 2])
    agree_all(put, [(np.zeros(n), places[:k], values[:m]) for n in (0, 2) for k in (0, 2) for m in (0, 2)])


def test_places_along_an_axis_that_do_not_fit():
    for axis, shape in ((1, (3, 1)), (0, (1, 3)), (1, (3, 2))):
        agree(expression(f"np.take_along_axis(a, b, {axis})", "a", "b"), np.ones((2, 2)), np.zeros(shape, int))
    agree(expression("np.take_along_axis(a, b, 1)", "a", "b"), np.ones((2, 2, 2)), np.zeros((3, 1, 3), int))


def test_where_is_named_last_of_what_does_not_fit():
    function = expression("np.multiply(a, b, out=c, where=d)", "a", "b", "c", "d")
    agree(function, np.zeros(0), np.zeros(0), np.zeros(0), np.zeros(2, bool))
    agree(function, np.zeros(2), np.zeros(1), np.zeros(2), np.zeros(3, bool))
    agree(function, np.zeros(2), np.zeros(3), np.zeros(3), np.zeros(3, bool))


def test_more_axes_than_the_result_has():
    masked = expression("np.add(a, b, out=c, where=d)", "a", "b", "c", "d")
    for out, mask in (((), 2), (2, (1, 2)), (2, (2, 2)), ((2, 2), (3, 2, 2)), ((), ())):
        agree(masked, np.ones(2), np.ones(2), np.zeros(out), np.ones(mask, bool))
    agree(expression("np.sqrt(a, out=b)", "a", "b"), np.ones((2, 3)), np.zeros(3))
    agree(expression("np.modf(a, b, c)", "a", "b", "c"), np.ones((2, 3)), np.zeros((2, 3)), np.zeros(3))

    def add(a, b):
        a += b

    agree(add, np.zeros(3), np.ones((1, 3)))
