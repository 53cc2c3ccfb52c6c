"""Sorting, looking up, sets and counts against NumPy: values, dtypes, shapes, exceptions."""

import numpy as np
import pytest
from oracle import agree, agree_all, expression, make

from krait import njit

RNG = np.random.default_rng(3)
F = RNG.random((5, 7))
F[1, 2] = F[3, 3] = np.nan
F[0, 0] = -0.0
I = RNG.integers(-5, 5, (5, 7)).astype(np.int16)
ARRAYS = [F, I, np.asfortranarray(I), RNG.integers(0, 9, (8, 12)).astype("B")[::2, ::-2], F.astype("f"), F > 0.5,
          F + 1j * I, F.astype("e"), RNG.random(100), np.zeros((0, 3)), np.array([2**63 - 1, -1, 2**62]),
          np.arange(2, dtype="Q") - 1]  # fmt: skip
LINES = [a.ravel() for a in ARRAYS]


def laid_out(text, arrays, *more):
    """NumPy's own order of the elements of a result in memory is not promised."""
    agree_all(expression(f"np.ascontiguousarray({text})", *"abcd"[: 1 + len(more)]), [(a, *more) for a in arrays])


@pytest.mark.parametrize("kind", ["", ", kind='stable'", ", kind='heapsort'", ", stable=True"])
def test_sort(kind):
    laid_out(f"np.sort(a{kind})", ARRAYS[: 2 if kind else 8])
    laid_out(f"np.argsort(a{kind})", ARRAYS[: 2 if kind else 8])
    laid_out(f"np.sort(a, axis=0{kind})", ARRAYS[:2])
    laid_out(f"a.argsort(axis=0{kind})", ARRAYS[1:3])
    laid_out(f"np.sort(a, axis=None{kind})", ARRAYS[2:4])
    laid_out(f"np.argsort(a, axis=None{kind})", ARRAYS[2:3])


def test_sort_as_complex_numbers():
    laid_out("np.sort_complex(a)", [*ARRAYS[:9], I.astype("b"), I.astype("i"), I.astype("H")])


@pytest.mark.parametrize("text", ["a.sort()", "a.sort(0)", "a.sort(axis=-1, kind='stable')", "a[::2].sort()",
                                  "a.T.sort()", "a[0].sort()"])  # fmt: skip
def test_sort_in_place(text):
    agree_all(make(f"def f(a):\n    {text}\n    return a"), [(a,) for a in ARRAYS[1:4]])


def test_many():
    for n in (0, 1, 2, 100, 5000):
        for dtype in "?bHlLefdD":
            agree(expression("np.sort(a)", "a"), (RNG.random(n) * 100).astype(dtype))
    a = RNG.integers(0, 50, 3000)
    agree(expression("np.argsort(a, kind='stable')", "a"), a)
    agree(expression("np.argsort(a)", "a"), a)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_partition(axis):
    """What NumPy leaves open is the order on both sides."""
    for name in ("partition", "argpartition"):
        compiled = njit(expression(f"np.{name}(a, k, {axis})", "a", "k"))
        for a in (F, I):
            for k in (0, 3, -1):
                parted = compiled(a, k)
                if name == "argpartition":
                    parted = np.take_along_axis(a, parted, axis)
                ordered = np.sort(a, axis)
                np.testing.assert_array_equal(np.take(parted, k, axis), np.take(ordered, k, axis))
                np.testing.assert_array_equal(np.sort(parted, axis), ordered)
                below, above = np.split(parted, [k % a.shape[axis]], axis)
                if a is I and below.size:
                    assert (below.max(axis) <= above.min(axis)).all()
        agree(compiled, I, 99)
    f = make("def f(a):\n    a = a.copy()\n    a.partition(2)\n    return a[:, 2]")
    agree(f, I)


def test_lexsort():
    a, b = RNG.integers(0, 3, 40), RNG.integers(0, 3, 40).astype("b")
    agree(expression("np.lexsort((a, b))", "a", "b"), a, b)
    agree(expression("np.lexsort([a, b * 1, a])", "a", "b"), a, b.astype(int))
    agree(expression("np.lexsort((a,))", "a"), a)
    agree(expression("np.lexsort((a, b), axis=0)", "a", "b"), a.reshape(8, 5), b.reshape(8, 5))
    agree(expression("np.lexsort((a, b))", "a", "b"), a, b[1:])


def test_searchsorted():
    line = np.array([1.0, 2.0, 2.0, 5.0, np.nan])
    values = np.array([[0.0, 1.0, 2.0], [3.0, np.nan, 9.0]])
    for side in ("left", "right"):
        f = njit(expression(f"np.searchsorted(a, v, side='{side}')", "a", "v"))
        for a in (line, np.array([1, 2, 2, 5]), line[::-1][1:][::-1], line[:0]):
            for v in (values, 2, 2.5, np.float32(5), values.astype("f"), np.array(3), np.array([2**40])):
                if not (a.dtype.kind == "i" and np.asarray(v).dtype.kind == "f"):
                    agree(f, a, v)
    agree(expression("a.searchsorted(v)", "a", "v"), np.arange(5), values)
    order = np.array([3, 1, 0, 2])
    agree(expression("np.searchsorted(a, v, sorter=o)", "a", "v", "o"), np.array([3, 2, 7, 1]), values, order)
    agree(expression("np.searchsorted(a, v)", "a", "v"), I, 1)
    for right in (False, True):
        f = njit(expression(f"np.digitize(x, b, right={right})", "x", "b"))
        for b in (np.array([0.0, 1.0, 2.5]), np.array([2.5, 1.0, 1.0]), np.array([0.0, 2.0, 1.0])):
            agree(f, values, b)
            agree(f, 1.0, b)


@pytest.mark.parametrize("text", [
    "np.unique(a)", "np.unique(a, return_index=True)", "np.unique(a, return_inverse=True)",
    "np.unique(a, return_counts=True)", "np.unique(a, True, True, True)", "np.unique(a, equal_nan=False)",
])  # fmt: skip
def test_unique(text):
    arrays = ARRAYS if text == "np.unique(a)" else ARRAYS[:2]
    agree_all(expression(text, "a"), [(a,) for a in arrays if a.dtype.kind != "c"])


@pytest.mark.parametrize("text", ["np.isin(a, b)", "np.isin(a, b, invert=True)", "np.union1d(a, b)",
                                  "np.intersect1d(a, b)", "np.setdiff1d(a, b)", "np.setxor1d(a, b)",
                                  "np.intersect1d(a, b, return_indices=True)"])  # fmt: skip
def test_sets(text):
    f = njit(expression(text, "a", "b"))
    agree(f, I, np.array([3, -1, 7]))
    agree(f, RNG.random(30).round(1), RNG.random(20).round(1))
    agree(f, np.arange(3.0), np.zeros(0))
    if "xor" not in text:
        agree(f, F[1], F[0])


def test_isin_of_lists_and_numbers():
    agree(expression("np.isin(a, [1, 2, 3])", "a"), I)
    agree(expression("np.isin(3, a)", "a"), I)
    ends = np.array([2**63 - 1, -(2**63), 0])
    for tests in (ends[:2], ends[:1], np.array([5, 7]), I.ravel()[:9]):
        agree(expression("np.isin(a, b)", "a", "b"), ends, tests)


def test_bincount():
    x = RNG.integers(0, 9, 50)
    cases = [(x,), (x.astype("B"),), (x[:0],), (x - 3,), (x > 4,)]
    agree_all(expression("np.bincount(a)", "a"), cases)
    agree_all(expression("np.bincount(a, minlength=20)", "a"), cases)
    agree_all(expression("np.bincount(a, b)", "a", "b"), [(x, RNG.random(50)), (x, x), (x, x[1:])])
    agree(expression("np.bincount(a, minlength=-1)", "a"), x)


@pytest.mark.parametrize("text", [
    "np.histogram(a)", "np.histogram(a, 5)", "np.histogram(a, bins=4, range=(0.25, 0.75))",
    "np.histogram(a, np.array([0.0, 0.3, 0.9]))", "np.histogram(a, [0, 1, 2, 2])", "np.histogram(a, 3, density=True)",
    "np.histogram(a, 6, weights=a)", "np.histogram(a, 0)", "np.histogram(a, [0, 2, 1])", "np.histogram(a, 3, (2, 1))",
    "np.histogram_bin_edges(a, 7)",
])  # fmt: skip
def test_histogram(text):
    f = njit(expression(text, "a"))
    for a in (RNG.random(200), RNG.random((20, 3)).astype("f"), RNG.integers(0, 9, 77), np.full(3, 2.0), np.zeros(0)):
        if not ("weights" in text and a.dtype.kind != "f" or "density" in text and a.size == 0):
            agree(f, a)
    agree(f, F)


def test_histogram2d():
    x, y = RNG.random(100), RNG.random(100)
    for text in ("np.histogram2d(x, y)", "np.histogram2d(x, y, 4)", "np.histogram2d(x, y, (3, 5))",
                 "np.histogram2d(x, y, 3, range=((0, 0.5), (0.2, 0.9)))", "np.histogram2d(x, y, 3, weights=y)",
                 "np.histogram2d(x, y, (3, np.array([0.0, 0.5, 1.0])))", "np.histogram2d(x, y, [2, 3])",
                 "np.histogram2d(x, y, np.array([4, 1]))", "np.histogram2d(x, y, [0.0, 0.5, 1.0])",
                 "np.histogram2d(x, y, [1.5, 0.5])",
                  "np.histogram2d(x, y, [[0, 0.5, 1.0], [0.25, 0.5, 1.0]])"):  # fmt: skip
        f = make(f"def f(x, y):\n    h, a, b = {text}\n    return np.ascontiguousarray(h), a, b")
        agree(f, x, y)


def test_many_texts_are_sorted():
    """The places that NumPy gives lie in memory of their own until they are used."""
    words = np.random.default_rng(1).integers(0, 10**6, 100_000).astype("U6")
    sort = njit(lambda a: (np.sort(a), np.argsort(a, kind="stable")))
    ours, places = sort(words)
    np.testing.assert_array_equal(ours, np.sort(words))
    np.testing.assert_array_equal(places, np.argsort(words, kind="stable"))


def test_numbers_at_the_edges_of_equal_bins():
    # Edges of a range are computed in double precision, of whatever type they are; the edges decide, not a quotient.
    f = njit(expression("np.histogram(a, 50, (-4.0, 4.0))", "a"))
    for dtype in (np.float64, np.float32, np.float16):
        edges = np.linspace(-4, 4, 51, dtype=dtype)
        near = [edges, np.nextafter(edges, dtype(9)), np.nextafter(edges, dtype(-9)), dtype([0.004, 3.3, 5, np.nan])]
        for a in (np.concatenate(near), np.zeros(0, dtype)):
            agree(f, a)
    f = njit(expression("np.histogram(a, 3)", "a"))
    for a in (1e15 + np.arange(7) / 8, np.repeat(1e17, 3), np.array([5e-324, 1e-323, 1.5e-323])):
        agree(f, a)
