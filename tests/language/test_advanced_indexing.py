"""Indices with arrays, masks and lists against NumPy: values, dtypes, shapes, what is stored, exceptions."""

import numpy as np
import pytest
from oracle import agree, agree_all, expression, make

from krait import njit
from krait.errors import KraitError

V = np.arange(7) * 1.5
M = np.arange(24).reshape(4, 6).astype(np.int16)
T = np.arange(60.0).reshape(3, 4, 5)
LAYOUTS = [M, np.asfortranarray(M), np.arange(96).reshape(8, 12)[::2, ::-2].astype("f")]
I = np.array([2, 0, -1, 2])
J = np.array([[1], [-2]], np.int8)
U = np.array([3, 1], np.uint16)
NONE = np.zeros(0, np.intp)


def same(text, *args):
    """NumPy promises no order of the elements of the result in memory."""
    agree(expression(f"np.ascontiguousarray({text})", *"abcd"[: len(args)]), *args)


@pytest.mark.parametrize("index", [I, U, J, NONE, np.array(1), [1, -2], [[0, 1], [2, 3]]], ids=str)
def test_one_array_of_integers(index):
    agree(expression("a[i]", "a", "i"), V, index)
    f = njit(expression("a[i]", "a", "i"))
    for a in LAYOUTS:
        agree(f, a, index)
    agree(f, np.zeros((4, 0)), index)
    agree(f, V > 3, index)
    agree(f, V + 1j, index)


@pytest.mark.parametrize("text", [
    "a[:, i]", "a[1:, i]", "a[..., i]", "a[i, ...]", "a[i, ::2]", "a[None, i]", "a[i, None]", "a[1, i]", "a[i, 1]",
    "a[-1, i[:2]]", "a[i, i]", "a[i[:, None], i]", "a[::-1, [0, 2]]", "a[(0, 1), i[:2]]", "a[np.ix_([0, 2], i)]",
    "a[np.ix_([True, False, True, False], i)]", "a[i, :, None]", "a[i.astype(np.uint64)]", "a[[0, -1]][:, [1]]",
])  # fmt: skip
def test_among_others(text):
    f = njit(expression(f"np.ascontiguousarray({text})", "a", "i"))
    for a in LAYOUTS:
        if "(0, 1)" not in text:
            agree(f, a, I)


@pytest.mark.parametrize("text", [
    "a[0, :, i]", "a[:, i, i]", "a[i, :, i]", "a[i, 0, :]", "a[:, 0, i]", "a[i, ..., 1]", "a[:, :, j]", "a[j, i]",
    "a[1:, j, i]", "a[i, None, i]", "a[:, [0, 1], 1:3]", "a[..., i, 0]", "a[0, ..., i, None]", "a[j, :, i]",
])  # fmt: skip
def test_where_the_axes_come(text):
    same(text.replace("b", "j").replace("i", "b").replace("j", "c"), T, np.array([1, 0, -1]), np.array([[1], [2]]))


@pytest.mark.parametrize("a", [*LAYOUTS, T > 30, np.zeros((0, 3)), np.arange(1000.0)], ids=lambda a: str(a.shape))
def test_masks_of_every_rank(a):
    rng = np.random.default_rng(a.size)
    f, g, h = (njit(expression(text, "a", "m")) for text in ("a[m]", "a[m, ...]", "a[m].sum()"))
    for rank in range(1, a.ndim + 1):
        for share in (0.0, 0.02, 0.5, 1.0):
            mask = rng.random(a.shape[:rank]) < share
            agree(f, a, mask)
            agree(f, a, np.asfortranarray(mask))
        agree(g, a, mask)
    agree(h, a, np.ones(a.shape, bool))


def test_masks_among_others():
    m, n = np.array([True, False, True, True]), np.array([False, True, True, False, False, True])
    for text in ("a[1, b]", "a[:, b]", "a[::2, b]", "a[[0, 2, 1], b]", "a[[1], b]", "a[None, :, b]"):
        same(text, M, n)
    same("a[b, 1]", M, m)
    same("a[b, c]", M, m, n)
    same("a[b, :, [1]]", T, np.array([True, False, True]))
    same("a[:, b]", T, T[0] > 7)
    same("a[[True, False, True, False]]", M)


def test_what_does_not_fit():
    f = njit(expression("a[b]", "a", "b"))
    for b in (np.array([0, 7, 9]), np.array([-8]), np.array([True] * 6), np.array([False] * 8), np.array([[7]])):
        agree(f, V, b)
    for b in (np.array([4]), np.array([-5, 9]), np.ones((4, 5), bool), np.ones((5, 6), bool), np.ones(5, bool)):
        agree(f, M, b)
    agree(expression("a[b, c]", "a", "b", "c"), M, np.arange(3), np.arange(2))
    agree(expression("a[b, c]", "a", "b", "c"), M, np.arange(3), np.array([6]))
    agree(expression("a[b, c]", "a", "b", "c"), M, np.array([True, False, True, True]), np.array([1, 2]))
    agree(expression("a[9, b]", "a", "b"), M, np.arange(2))
    agree(expression("a[:, b]", "a", "b"), M, np.array([6]))
    for text in ("a[b, c, b]", "a[b * 1.5]", "a[..., b, ...]"):
        with pytest.raises(KraitError):
            njit(expression(text, "a", "b", "c"))(M, I, I)


# ---- assignment ----

STORE = "def f(a, i, v):\n    a[i] = v\n    return a"


@pytest.mark.parametrize("index", [I, J, NONE, [1, -2]], ids=str)
def test_store_by_integers(index):
    f = njit(make(STORE))
    shape = V[index].shape
    for value in (5, 2.5, np.float32(3), np.arange(np.prod(shape, dtype=int)).reshape(shape), np.array([9])):
        agree(f, V, index, value)
        agree(f, V[::-1], index, value)
    for a in LAYOUTS:
        agree(f, a, index, 7)
        agree(f, a, index, np.arange(6))
        agree(f, a, index, np.arange(a[index].size, dtype=np.int16).reshape(a[index].shape))
    agree(f, V, index, V[:3])
    agree(f, M, index, np.arange(5))


@pytest.mark.parametrize("text", ["a[:, i] = v", "a[1, i] = v", "a[i, 1] = v", "a[i, i] = v", "a[i[:, None], i] = v",
                                  "a[..., i] = v", "a[::2, i] = v", "a[i] += v", "a[i] -= v", "a[:, i] *= v",
                                  "a[np.ix_([0, 1], i)] = v", "a[i, :2] = v", "a[i] = [v, v, v, v, v, v]",
                                  "a[i, 0] = (v, v + 1, v, v)", "a[i] = a[::-1][i]", "a[i[:2]] = a"])  # fmt: skip
def test_store_among_others(text):
    f = njit(make(f"def f(a, i, v):\n    {text}\n    return a"))
    for a in LAYOUTS:
        agree(f, a, I, 3)


def test_store_by_masks():
    f = njit(make(STORE))
    for a in [*LAYOUTS, V, T]:
        for mask in (a > 3, a < 0, np.ones(a.shape, bool)):
            n = int(mask.sum())
            for value in (1, np.arange(n), np.array([8]), np.arange(n + 1), np.arange(4).reshape(2, 2)):
                agree(f, a, mask, value)
    m = np.array([True, False, True, True])
    for value in (1, np.arange(6), np.arange(18).reshape(3, 6), np.arange(3), np.arange(3).reshape(3, 1)):
        agree(f, M, m, value)
    agree(f, M, np.ones((4, 5), bool), 0)
    for text in ("a[1, m] = v", "a[:, m] = v", "a[m[:4], 1] = v", "a[a > 4] += v", "a[:, m] -= v", "a[~m[:4]] = v"):
        g = njit(make(f"def f(a, m, v):\n    {text}\n    return a"))
        for a in LAYOUTS:
            agree(g, a, np.array([False, True, True, False, False, True]), 3)


def test_values_are_converted():
    f = njit(make(STORE))
    for value in (300, -129, 3.9, True, np.int64(300), np.arange(4) * 100):
        agree(f, np.zeros(5, np.int8), I, value)
    for value in (1, 1j, np.arange(4) * 1j):
        agree(f, np.zeros(5, complex), I, value)
    with pytest.raises(KraitError):
        f(np.zeros(5), I, 1j)
    frozen = np.zeros(5)
    frozen.flags.writeable = False
    with pytest.raises(KraitError, match="read-only"):
        f(frozen, I, 1)


def test_repeated_places_keep_the_last_value():
    f = njit(make(STORE))
    agree(f, np.zeros(5), np.array([1, 1, 2, 1]), np.array([1.0, 2.0, 3.0, 4.0]))
    agree(njit(make("def f(a, i):\n    a[i] += 1\n    return a")), np.zeros(5), np.array([1, 1, 2, 1]))


def test_overlapping_operands():
    agree(make("def f(a, i):\n    a[i] = a\n    return a"), V, np.array([6, 5, 4, 3, 2, 1, 0]))
    agree(make("def f(a, i):\n    a[1:][i] = a[:-1]\n    return a"), V, np.array([5, 4, 3, 2, 1, 0]))
    agree(make("def f(i):\n    i[i] = 0\n    return i"), np.array([3, 2, 1, 0]))
    agree_all(make("def f(a, m):\n    a[m] = a[::-1][m]\n    return a"), [(V, V > 3), (V, V < 99)])


def test_records_and_other_elements():
    dtype = np.dtype([("x", "f8"), ("n", "i4")])
    a = np.zeros(5, dtype)
    a["n"] = range(5)
    f, g = (expression(text, "a", "i") for text in ("a[i]", "a[a['n'] > i[0]]"))
    for function in (f, g):
        np.testing.assert_array_equal(njit(function)(a, I), function(a, I), strict=True)
    h = make("def f(a, i, m, b):\n    a[i] = b[1]\n    a[m] = b[2]\n    a['n'][i] += 1")
    ours, theirs = np.zeros(5, dtype), np.zeros(5, dtype)
    for function, b in ((njit(h), ours), (h, theirs)):
        function(b, I, a["n"] == 3, a)
    np.testing.assert_array_equal(ours, theirs, strict=True)
    times = np.arange(5).astype("M8[D]")
    np.testing.assert_array_equal(njit(expression("a[i]", "a", "i"))(times, I), times[I], strict=True)


def test_kernels_have_no_such_indices():
    from krait import cuda

    @cuda.jit
    def kernel(a, i):
        a[i] = 0

    with pytest.raises(KraitError, match="indexed by an array"):
        kernel[1, 1](np.zeros(3), np.zeros(2, np.int64))


def test_axes_of_masks_without_items_fit_any():
    gets = [expression(text, "a", "m") for text in ("a[m]", "a[..., m]")]
    puts = make("def f(a, m):\n    a[m] = 7\n    return a")
    for a in (np.ones(2), np.ones((2, 2)), np.ones((0, 2)), np.ones((2, 2, 2))):
        for shape in ((0,), (0, 2), (2, 0), (0, 0), (0, 3), (3, 0)):
            if len(shape) <= a.ndim:
                for function in (*gets, puts):
                    agree(function, a, np.zeros(shape, bool))


def test_the_order_of_errors_and_places_that_nobody_takes():
    """NumPy looks at ints, shapes and values before it looks at places, and at none if there is nothing to take."""
    get, put = expression("a[i].shape", "a", "i"), make("def f(a, i, v):\n    a[i] = v\n    return 0")
    get_two = expression("a[i, j].shape", "a", "i", "j")
    put_two = make("def f(a, i, j, v):\n    a[i, j] = v\n    return 0")
    get, put, get_two, put_two = map(njit, (get, put, get_two, put_two))
    i, column, none = np.array([0, 2, 1]), np.zeros((0, 1), int), np.zeros(0, int)
    for shape in [(2, 2), (0, 2), (2, 0), (0, 0), (3, 0), (3, 3)]:
        a = np.zeros(shape)
        for index in (i, column, none):
            agree(get, a, index)
            for value in (1.0, np.ones(2), np.ones((3, 2)), np.ones((3, 0)), np.ones((2, 0))):
                agree(put, a, index, value)
            for other in (i, column, 5, np.arange(2)):
                agree(get_two, a, index, other)
                for value in (1.0, np.ones(2), np.ones(3)):
                    agree(put_two, a, index, other, value)
    agree(put, np.zeros(3, np.int8), np.array([5]), 300)


@pytest.mark.parametrize("text", ["a[m, i]", "a[i, m]", "a[m, i, :]", "a[i, ..., m]", "a[:, m, i]", "a[m.tolist(), i]",
                                  "a[np.newaxis, m, i]", "a[n, m, i]"])
def test_masks_are_looked_at_before_numbers(text):
    get = njit(expression(f"{text}.shape", "a", "i", "m", "n"))
    put = njit(make(f"def f(a, i, m, n):\n    {text} = 1\n    return a"))
    for mask in (2, 3, 4):
        for i in (0, 7, -8):
            for function in (get, put):
                agree(function, np.zeros((3, 3, 3)), i, np.ones(mask, bool), np.array([1, 0]))
