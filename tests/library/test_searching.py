"""What NumPy's functions take or put by place or condition, against NumPy: values, dtypes, shapes, exceptions."""

import numpy as np
import pytest
from oracle import agree, agree_all, expression, make

from krait import cuda, njit
from krait.errors import TypingError

V = np.array([3.0, 0.0, -1.5, 0.0, 7.0])
M = (np.arange(24) % 5).reshape(4, 6)
ARRAYS = [V, M, np.asfortranarray(M), M[::2, ::-2].astype("f"), M > 2, np.zeros((0, 3)), M * 1j]
ARRAYS.append(np.zeros((2, 3, 4), "B"))
I = np.array([2, 0, -1])


def each(text, arrays, *more):
    """The same function of each array; NumPy's own order of the elements in memory is not promised."""
    agree_all(expression(text, *"abcd"[: 1 + len(more)]), [(a, *more) for a in arrays])


def test_places():
    for a in ARRAYS:
        count = a.ndim
        places = ", ".join(f"np.ascontiguousarray(p[{k}])" for k in range(count))
        agree(make(f"def f(a):\n    p = np.nonzero(a)\n    return {places},"), a)
    each("a.nonzero()[0]", [V, M[0]])
    each("np.where(a)[0]", [V, V > 1])
    each("np.flatnonzero(a)", ARRAYS)
    each("np.argwhere(a)", [*ARRAYS, np.array(3), np.array(0)])
    each("np.nonzero(a)", [np.array(3)])
    rng = np.random.default_rng(1)
    each("np.flatnonzero(a)", [rng.random(1001) < share for share in (0, 0.01, 0.5, 0.99, 1)])
    each("np.nonzero(a)", [rng.random(n) < 0.3 for n in range(20)])


@pytest.mark.parametrize("text", ["np.where(b, a, 0)", "np.where(a, a, -1.5)", "np.where(a > 1, a, a.T.T)",
                                  "np.where(b, 1, 2)", "np.where(b[:1], a, np.float32(1))", "np.where(True, a, 2)",
                                  "np.where(b, b, a)", "np.where(a > 1, a[0], 1j)"])  # fmt: skip
def test_where(text):
    f = njit(expression(f"np.ascontiguousarray({text})", "a", "b"))
    for a in ARRAYS:
        if a.dtype.kind != "c" and a.size:
            agree(f, a, np.asarray(a > 0))


def test_where_of_numbers():
    cases = [(True, 1, 2.5), (0, np.int8(1), 3), (np.array(1.0), 2, 3j)]
    agree_all(expression("np.where(c, x, y)", "c", "x", "y"), cases)
    agree(expression("np.where([True, False], [1, 2], 3)"))
    agree(expression("np.where(a, b, c)", "a", "b", "c"), V, V, np.arange(4))

    @cuda.jit
    def kernel(a):
        i = cuda.grid(1)
        if i < a.size:
            a[i] = np.where(a[i] > 0, a[i], 9)

    a = V.copy()
    kernel[1, 32](a)
    np.testing.assert_array_equal(a, np.where(V > 0, V, 9))


@pytest.mark.parametrize("text", [
    "np.take(a, b)", "np.take(a, b, axis=0)", "a.take(b, -1)", "np.take(a, [[0, 1], [1, 0]], 0)",
    "np.take(a, b * 9, mode='wrap')", "np.take(a, b * 9, axis=0, mode='clip')", "np.take(a, b + 5, 0)",
    "np.compress(b > -1, a)", "np.compress(b > -1, a, axis=0)", "a.compress([True, False, True], axis=-1)",
    "np.extract(a, a)", "np.extract(a > 1, a)", "np.compress(a > 1, a)", "np.take(a, b[:0], -1)",
])  # fmt: skip
def test_take(text):
    f = njit(expression(f"np.ascontiguousarray({text})", "a", "b"))
    for a in ARRAYS:
        if a.dtype.kind != "c":
            agree(f, a, I)


def test_take_one():
    for text in ("np.take(a, 1)", "np.take(a, -1, 0)", "a.take(99)"):
        each(text, [V, M, M[::2, ::-2].astype("f")])


def test_take_of_empty_axes():
    for text in ("np.take(a, b, axis=0).shape", "np.take(a, b, axis=1).shape", "np.take(a, b, 0, mode='clip').shape"):
        f = njit(expression(text, "a", "b"))
        for shape in [(0, 0), (0, 2), (2, 0), (3, 0), (0, 3)]:
            for places in (I, I[:0], np.array([[0, 1], [1, 0]])):
                agree(f, np.zeros(shape), places)


def test_take_into():
    f = make("def f(a, i, out):\n    np.take(a, i, 0, out)\n    return out")
    agree_all(f, [(V, I, np.zeros(3)), (M, I, np.zeros((3, 6), int))])


@pytest.mark.parametrize("text", [
    "np.put(a, b, 9)", "a.put(b, [1, 2])", "np.put(a, b + 40, 1)", "np.put(a, b * 9, (5, 6, 7), mode='wrap')",
    "np.put(a, b * 9, 3, 'clip')", "np.put(a, 1, 4)", "np.putmask(a, a > 1, 9)", "np.putmask(a, a == 0, [1, 2, 3])",
    "np.place(a, a > 1, [7, 8])", "np.place(a, a < 0, [1])", "np.copyto(a, 3)", "np.copyto(a, 3, where=a > 1)",
    "np.copyto(a, a[::-1])", "np.copyto(a, b)", "np.copyto(a, 2, 'unsafe', [True])", "np.copyto(a, 5, where=b > 0)",
    "np.copyto(a, 5, where=False)", "np.place(a, a > 1, np.zeros(0, a.dtype))", "np.copyto(a, [4])",
    "np.put(a, [0, 99, 1], [7, 8, 9])",
    "np.place(a, a > 0, a)", "np.place(a, a < 2, a[::-1])", "np.put(a, [1, 99], a)", "np.put(a, [1, 0], a[:2])",
    "np.putmask(a, a > 0, a[::-1])", "np.copyto(a, a, where=np.ones(17, np.bool_))", "np.copyto(a[1:], a[:-1])",
])  # fmt: skip
def test_put(text):
    f = njit(make(f"def f(a, b):\n    {text}\n    return a"))
    for a in (V, M, np.asfortranarray(M), M[::2, ::-2].astype("f"), np.arange(3)):
        agree(f, a, I)


def test_places_whose_values_lie_in_the_array_itself():
    """NumPy reads them between its writes where it copies neither."""
    x = np.array([5, 0, 2, 0, 1, 9, 3, 2, 8])
    for place, values in (("a[:-1]", "a[1:]"), ("a[1:]", "a[:-1]"), ("a[::2]", "a"), ("a", "a[::2]")):
        agree(njit(make(f"def f(a):\n    np.place({place}, {place} > 1, {values})\n    return a")), x)


def test_whether_arrays_may_share_memory():
    views = ("a", "a[::-1]", "a[2:]", "a[:2]", "a[::2]", "a[1::2]", "a[:0]", "a[-1:]", "a[3::-1]")
    pairs = ", ".join(f"np.may_share_memory({one}, {other})" for one in views for other in views)
    agree(njit(make(f"def f(a):\n    return {pairs}, np.may_share_memory(a, a.copy())")), V)
    agree(njit(make("def f(a):\n    return np.may_share_memory(a[0], a[1]), np.may_share_memory(a.T, a[:, 2])")), M)


def test_place_in_an_array_without_axes():
    f = njit(make("def f(a, v):\n    np.place(a, a > 0, v)\n    return a"))
    for value in (1.5, -1.5):
        agree(f, np.array(value), V[4:])


def test_copyto_knows_the_rules_of_casting():
    f = njit(make("def f(a, b):\n    np.copyto(a, b, casting='any')"))
    with pytest.raises(TypingError, match="casting must be one of 'no', 'equiv', .* .got 'any'."):
        f(V, V)


def test_along_an_axis():
    order = np.argsort(M, axis=1)
    for axis in (0, 1, -1):
        f = njit(expression(f"np.take_along_axis(a, b, {axis})", "a", "b"))
        g = njit(make(f"def f(a, b, v):\n    np.put_along_axis(a, b, v, {axis})\n    return a"))
        for b in (order % 4, order[:1] % 4, order[:, :1] % 4, order + 9, order[:2] % 4):
            if "mismatch" not in repr(agree(f, M, b) if b.shape != (2, 6) or axis == 0 else "mismatch"):
                agree(g, M, b, 7)
    agree(expression("np.take_along_axis(a, b, None)", "a", "b"), M, np.array([3, 23, 0]))
    agree(expression("np.take_along_axis(a, b, 0)", "a", "b"), M, np.array([3]))


def test_choose_and_select():
    n = np.array([0, 2, 1, 1])
    for text in ("np.choose(a, (b, b * 2, 7))", "a.choose([b, b + 1, b + 2])", "np.choose(a + 5, (b, b), mode='clip')",
                 "np.choose(a - 7, (b, b * 0.5), mode='wrap')", "np.choose(a, (b, b))", "np.choose(1, (b, b + 1))",
                 "np.choose(a, (b[:3], 1, 2))",
                 "np.select([b > 2, b > 1], [b, b * 10])", "np.select((b > 2, b < 1), (b, 1.5), -1)",
                 "np.select([b > 2, b > 1], [b, b * 10], 0.5)"):  # fmt: skip
        agree(expression(text, "a", "b"), n, np.arange(4))
    agree(expression("np.choose(a, (b, 5))", "a", "b"), np.array([[0], [1]]), np.arange(3))


def test_open_meshes():
    for text in ("np.ix_([0, 1], a)", "np.ix_(a)", "np.ix_(a, a > 0, a)"):
        agree(expression(text, "a"), I)
    agree(expression("np.ix_(a)", "a"), M)


@pytest.mark.parametrize("text", [
    "np.where(a > 1, a, -2)", "np.where(a > 1, 300, a)", "np.where(a[0] > 1, a[0], -2)", "np.where(a > 1, a, 2.5)",
    "np.select([a > 1], [a], -2)", "np.searchsorted(a, -2)", "np.searchsorted(a, [300, 1])",
    "np.searchsorted(b, 0.1, side='right')", "np.pad(a, 1, constant_values=-2)",
    "np.pad(a, 1, constant_values=((300, -1),))", "np.pad(a, 1, constant_values=(300, 2.5))",
    "np.arange(3, dtype=np.bool_)", "np.broadcast_to(a, (2, 2))"])  # fmt: skip
def test_python_numbers_beside_narrow_elements(text):
    agree(expression(text, "a", "b"), np.arange(3, dtype=np.uint8), np.array([0.1, 0.2], np.float32))


@pytest.mark.parametrize("text", ["np.where(a > 1, a, n)", "np.where(a > 9, n, a)", "np.where(a[:0] > 1, a[:0], n)",
                                  "np.where(a[0] > 1, a[0], n)", "np.where([True, False], [a[0], a[1]], n)"])
@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.uint64, np.float32])
def test_where_takes_ints_as_this_numpy_does(text, dtype):
    """Up to 2.4 an int that does not fit loses bits, later it raises."""
    for n in (-2, 3, 300):
        agree(expression(text, "a", "n"), np.arange(3, dtype=dtype), n)


@pytest.mark.parametrize("text", ["[1.0] == x", "(1.0, 2.0) != x", "x == [1, 2]", "x < [1, 2]", "x >= (1, 0)",
                                  "[1, 2] == np.int64(1)", "x in {1.0, 2.0}", "x in (1, 'a')"])  # fmt: skip
def test_numbers_of_numpy_compare_with_sequences_as_arrays(text):
    agree(expression(text, "x"), np.float32(1))


def test_a_number_of_numpy_is_not_sought_among_lists():
    with pytest.raises(TypingError, match="truth value of an array"):
        njit(expression("[[x]].index(x)", "x"))(np.float32(1))
