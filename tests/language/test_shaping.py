"""Other shapes, orders of axes and elements of arrays: what NumPy gives, and whether it is a view."""

import numpy as np
import pytest
from oracle import STRONG, agree, agree_all, expression

from krait import errors, njit

BASE = np.arange(120)
ARRAYS = {
    "C1": BASE[:6].astype(np.float32),
    "C2": BASE[:12].reshape(3, 4).copy(),
    "C3": BASE[:24].reshape(2, 3, 4).astype(np.complex64),
    "F2": np.asfortranarray(BASE[:12].reshape(3, 4)),
    "F3": np.asfortranarray(BASE[:24].reshape(2, 3, 4).astype(np.int16)),
    "strided1": BASE[:24].copy()[::3],
    "negative1": BASE[:6].astype(np.uint8)[::-1],
    "strided2": BASE[:60].reshape(6, 10).copy()[1::2, ::-3],
    "zero-dimensional": np.array(7.5),
    "empty": np.zeros((2, 0, 3)),
    "one": np.array([[5]], np.int8),
}
each = pytest.mark.parametrize("name", ARRAYS)


def agree_but_for_strides(text, array):
    """A copy of an array of any strides has C order, where NumPy may keep the order of the axes."""
    agree(expression(f"np.ascontiguousarray({text})", "a"), array)


def calls(*texts):
    return pytest.mark.parametrize("text", texts)


@each
@calls("np.ravel(a)", "a.ravel()", "a.flatten()", "np.reshape(a, -1)", "a.reshape(-1, 1)", "a.reshape((1, -1))",
       "a.reshape(a.size)", "a.reshape(a.shape)")  # fmt: skip
def test_reshape(name, text):
    agree(expression(text, "a"), ARRAYS[name])


@each
@calls("a.ravel('F')", "np.ravel(a, order='F')", "np.reshape(a, -1, 'F')", "a.reshape(1, -1, order='F')")
def test_fortran_order(name, text):
    agree_but_for_strides(text, ARRAYS[name])


def test_reshape_refuses_what_numpy_refuses():
    for shape in ((5,), (-1, 5), (-1, -1), (0, -1), (2, 4), (-1, 0)):
        with pytest.raises(ValueError) as theirs:
            ARRAYS["C1"].reshape(shape)
        with pytest.raises(ValueError) as ours:
            njit(lambda a, shape: a.reshape(shape))(ARRAYS["C1"], shape)
        assert str(ours.value)[:30] == str(theirs.value)[:30]
    agree_all(expression("a.reshape(n, -1)", "a", "n"), [(ARRAYS["C2"], n) for n in (1, 2, 3, 12)])


def test_a_reshaped_array_is_a_view_where_it_can_be():
    def f(a):
        a.reshape(-1)[0] = 9
        a.ravel()[1] = 8
        a.flatten()[2] = 7
        return a

    for name in ("C1", "C2", "F2", "strided1"):
        agree(f, ARRAYS[name])


@each
@calls("a.T", "a.transpose()", "np.transpose(a)", "np.transpose(a, None)")
def test_transpose(name, text):
    agree(expression(text, "a"), ARRAYS[name])


@calls("a.transpose(1, 0, 2)", "a.transpose((2, 0, 1))", "np.transpose(a, (0, -1, 1))",
       "np.transpose(a, axes=(2, 1, 0))",
       "np.swapaxes(a, 0, 2)", "a.swapaxes(-1, 1)", "np.moveaxis(a, 0, -1)", "np.moveaxis(a, 2, 0)",
       "np.expand_dims(a, 0)", "np.expand_dims(a, -1)", "np.expand_dims(a, axis=2)",
       "a.transpose([1, 0, 2])", "np.moveaxis(a, [0, 1], [2, 0])", "np.expand_dims(a, [0, 2])")  # fmt: skip
def test_orders_of_axes(text):
    for name in ("C3", "F3", "empty"):
        agree(expression(text, "a"), ARRAYS[name])


@pytest.mark.parametrize("text, message", [
    ("a.transpose(0, 1)", "axes don't match array"),
    ("a.transpose(0, 1, 3)", "axis 3 is out of bounds for array of dimension 3"),
    ("a.transpose(0, 1, 1)", "repeated axis in transpose"),
    ("a.transpose((0, 1, len(a)))", "must be known when the function is compiled"),
    ("np.expand_dims(a, 5)", "axis 5 is out of bounds for array of dimension 4"),
])  # fmt: skip
def test_orders_that_are_refused(text, message):
    with pytest.raises(errors.TypingError, match=message):
        njit(expression(text, "a"))(ARRAYS["C3"])


def test_squeeze():
    a = np.arange(6).reshape(1, 3, 1, 2)
    for text in ("np.squeeze(a, 0)", "np.squeeze(a, axis=2)", "a.squeeze(-2)", "np.squeeze(a, 1)"):
        agree(expression(text, "a"), a)
    for text in ("np.squeeze(a)", "a.squeeze()"):
        with pytest.raises(errors.UnsupportedError, match=r"without an axis is not compiled(?s:.*)np.squeeze\(a, 0\)"):
            njit(expression(text, "a"))(a)


@each
@calls("np.flip(a)", "np.flipud(a)", "np.fliplr(a)", "np.flip(a, 0)", "np.flip(a, axis=-1)")
def test_flip(name, text):
    if ARRAYS[name].ndim >= (2 if "lr" in text else 1):
        agree(expression(text, "a"), ARRAYS[name])


@each
@calls("np.atleast_1d(a)", "np.atleast_2d(a)", "np.atleast_3d(a)")
def test_atleast(name, text):
    if ARRAYS[name].ndim < 4:
        agree(expression(text, "a"), ARRAYS[name])


def test_broadcast_to():
    for shape in ((3, 4), (2, 3, 4), (1, 3, 4)):
        agree(expression("np.broadcast_to(a, shape)", "a", "shape"), ARRAYS["C2"], shape)
    for a, shape in ((np.arange(3.0), (2, 3)), (np.array(5), (2, 2)), (np.arange(3)[:, None], (3, 2)),
                     (np.arange(1), 4)):  # fmt: skip
        agree(expression("np.broadcast_to(a, shape)", "a", "shape"), a, shape)
    for shape in ((4, 3), (3,), (3, -4)):
        with pytest.raises(ValueError):
            np.broadcast_to(ARRAYS["C2"], shape)
        with pytest.raises(ValueError):
            njit(lambda a, shape: np.broadcast_to(a, shape))(ARRAYS["C2"], shape)


@each
@calls("a.copy()", "np.copy(a)", "np.array(a)", "np.array(a, dtype=np.float64)", "a.astype(np.float32)",
       "a.astype(a.dtype)",
       "np.asarray(a, np.complex128)")  # fmt: skip
def test_copies(name, text):
    agree_but_for_strides(text, ARRAYS[name])


@each
@calls("np.asarray(a)", "np.ascontiguousarray(a)", "np.asfortranarray(a)", "a.astype(a.dtype, copy=False)",
       "np.asarray(a, a.dtype)")  # fmt: skip
def test_the_array_itself(name, text):
    if ARRAYS[name].ndim:
        agree(expression(text, "a"), ARRAYS[name])


@pytest.mark.parametrize("to", [np.dtype(kind) for kind in STRONG], ids=str)
def test_casts(to):
    values = np.array([0, 1, 2, 100, 127])
    for kind in STRONG:
        agree(expression("a.astype(b.dtype)", "a", "b"), values.astype(kind), np.zeros(1, to))
    agree(expression("a.astype(b.dtype)", "a", "b"), np.array([-1.5, 2.5, 255.9, -128.0]), np.zeros(1, to))


@pytest.mark.parametrize("casting", ["no", "safe", "same_kind", "unsafe"])
def test_casts_obey_their_rule(casting):
    a = np.arange(6).reshape(2, 3).T
    for dtype in ("int64", "int32", "float64", "float32", "complex64", "uint8"):
        function = expression(f"a.astype(np.{dtype}, casting={casting!r})", "a")
        if np.can_cast(a.dtype, dtype, casting):
            agree(function, a)
        else:
            with pytest.raises(TypeError, match=f"according to the rule '{casting}'"):
                function(a)
            with pytest.raises(errors.TypingError, match=f"according to the rule '{casting}'"):
                njit(function)(a)


@pytest.mark.parametrize("dtype", ["i4", "u4", "f4", "i8", "c8", "u1", "f2", "c16"])
def test_view(dtype):
    for a in (np.arange(8, dtype=np.float32), np.arange(8, dtype=np.float32).reshape(2, 4), np.arange(4.0)):
        agree(expression("a.view(b.dtype)", "a", "b"), a, np.zeros(1, dtype))
    agree(expression("a.view(np.int32)", "a"), ARRAYS["F2"].astype(np.float32))
    agree(expression("a.view(np.uint8)", "a"), ARRAYS["negative1"])
    for bad in (np.arange(6, dtype=np.float32)[::2], np.arange(3, dtype=np.float32), np.float32(1)[...]):
        agree(expression("a.view(np.complex128)", "a"), bad)


def test_fill_and_item():
    def f(a):
        a.fill(3)
        return a

    for name in ARRAYS:
        agree(f, ARRAYS[name])
        agree(expression("a.item()", "a"), ARRAYS[name])
    agree_all(expression("a.item(i)", "a", "i"), [(ARRAYS["C2"], 3), (ARRAYS["C2"], (1, -1)), (ARRAYS["strided2"], -1)])
    agree(expression("a.item(1, 2)", "a"), ARRAYS["F2"])


def test_tuples_of_arrays_and_of_lists_as_arrays():
    a, b = np.arange(3.0), np.ones(3)
    for text in ("np.array((a, b))", "np.asarray((a, b, a))", "np.array((a, b), np.float32)",
                 "np.array((a[::2], b[:2]))", "np.sum((a, b), axis=0)", "np.mean((a, b), axis=1)",
                 "np.max((a, b))", "np.array(([1, 2], [3, 4]))",
                 "np.array(tuple([v * 2 for v in a]))", "np.array((a, b[:2]))"):  # fmt: skip
        agree(expression(text, "a", "b"), a, b)
    agree(expression("np.array((a, b))", "a", "b"), ARRAYS["C2"], ARRAYS["C2"])


def test_numbers_and_tuples_as_arrays():
    for text in ("3", "2.5", "True", "(1, 2, 3)", "(1, 2.5)", "((1, 2), (3, 4), (5, 6))", "()", "((),)", "(x, 2)",
                 "(x, y)", "((x, y),)"):  # fmt: skip
        agree(expression(f"np.array({text})", "x", "y"), np.float32(1.5), 7)
        agree(expression(f"np.asarray({text}, np.complex64)", "x", "y"), np.float32(1.5), 7)
    agree(expression("np.array(t, order='F')", "t"), ((1, 2), (3, 4)))
    agree(expression("np.array(x, np.int8)", "x"), 300)
    said = r"array does not make an array of `t`(?s:.*)rows have several lengths, 2 in row 0 and 1 in row 1"
    with pytest.raises(errors.TypingError, match=said):
        njit(lambda t: np.array(t))(((1, 2), (3,)))


@pytest.mark.parametrize("shape", ["3, -1", "-1, 3", "0, -1", "3, 4", "(3, -1), order='F'"])
def test_shapes_that_do_not_fit_as_they_are_told(shape):
    agree(expression(f"a.reshape({shape})", "a"), np.arange(20.0).reshape(4, 5))
