"""Names that NumPy 2 added, dtypes in common, histograms of points, texts and records, Generators that are made in
compiled code: value, dtype, shape, exception as NumPy's."""

import numpy as np
import pytest

from krait import njit
from krait.errors import NumbaError
from numpy_cases import CUBE, INTEGERS, VECTOR, check, compare, same_error
from oracle import expression, outcome

RNG = np.random.default_rng(31)
WORDS = np.array([["pear", "fig"], ["apple", "fig"]])
ROWS = np.array([(3, 1.5), (1, 2.5), (3, 0.5), (1, 2.5)], [("key", "i4"), ("x", "f8")])


# ---- names of the array API standard ----


def test_unstack():
    check("np.unstack(a)", CUBE, VECTOR, INTEGERS, CUBE[:0])
    check("np.unstack(a, axis=-1)", CUBE, INTEGERS[:, ::2])
    check("len(np.unstack(a, axis=1))", CUBE)
    same_error("np.unstack(a)", np.array(1.0))


@pytest.mark.parametrize("name", ["unique_all", "unique_counts", "unique_inverse"])
def test_unique_by_the_standards_names(name):
    numbers = [np.array([3, 1, 1, 2]), np.array([2.0, np.nan, np.nan, 1.0]), np.array([[1, 2], [2, 3]]), VECTOR[:0]]
    check(f"np.{name}(a)", *numbers)
    check(f"np.{name}(a).values", *numbers)


def test_unique_values():
    # NumPy leaves their order open.
    check("np.sort(np.unique_values(a))", np.array([3, 1, 1, 2]), np.array([2.0, np.nan, np.nan, 1.0]))


# ---- dtypes ----


def test_dtypes_in_common():
    arrays = [np.zeros(2, c) for c in "?bBhHiIlLefdFD"]
    for a in arrays:
        check("np.zeros(1, np.promote_types(a.dtype, b.dtype))", *((a, b) for b in arrays))
        for text in ("a.dtype, b.dtype", "a, b.dtype, 'same_kind'", "a.dtype, b.dtype, 'no'"):
            check(f"np.can_cast({text})", *((a, b) for b in arrays))
    check("np.can_cast('i4', np.float32, casting='unsafe')", VECTOR)


@pytest.mark.parametrize("kind", ["generic", "number", "integer", "signedinteger", "unsignedinteger", "inexact",
                                  "floating", "complexfloating", "bool_", "float32", "int64"])  # fmt: skip
def test_kinds_of_dtypes(kind):
    check(f"np.issubdtype(a.dtype, np.{kind})", *(np.zeros(2, c) for c in "?bBhHiIlLefdFD"))


# ---- histograms ----


@pytest.mark.parametrize("more", ["", ", density=True", ", range=((0.1, 0.7), (0.0, 1.0))"])
def test_histograms_of_points(more):
    points = RNG.random((40, 2))
    check(f"np.histogramdd((a, b), 4{more})", (points[:, 0].copy(), points[:, 1].copy()))
    check(f"np.histogramdd((a, b), (3, c){more})", (points[:, 0], points[:, 1], np.array([0.0, 0.3, 1.0])))
    check(f"np.histogramdd(a, (3, 5){more})", points, points.astype("f"), points[:0] if not more else points)


def test_weighted_histograms_of_points():
    check("np.histogramdd(a, (3, 2, 4), weights=b)", (RNG.random((20, 3)), RNG.random(20)))
    same_error("np.histogramdd(a, (3, 2))", RNG.random((20, 3)))


# ---- texts and records ----


@pytest.mark.parametrize("text", ["np.concatenate((a, a[:1]))", "np.concatenate((a, a), axis=None)", "np.append(a, a)",
    "np.stack((a, a), axis=-1)", "np.vstack((a, a))", "np.hstack((a, a))", "np.sort(a)", "np.sort(a, axis=0)",
    "np.argsort(a, kind='stable')", "np.sort(a, axis=None)"])  # fmt: skip
def test_texts_and_records(text):
    check(text, WORDS, WORDS.astype("S"), ROWS.reshape(2, 2))


@pytest.mark.parametrize("text", ["np.unique(a)", "np.unique(a, return_counts=True)", "np.where(a == 'fig', a, a.T)",
    "np.union1d(a, a)", "np.intersect1d(a[0], a[1])", "np.setdiff1d(a[0], a[1])",
    "np.isin(a, a[1])", "np.searchsorted(np.sort(a.ravel()), a)", "np.partition(a, 1)"])  # fmt: skip
def test_texts(text):
    check(text, WORDS, *([] if "'fig'" in text else [WORDS.astype("S")]))


def test_texts_whose_length_decides_the_dtype():
    for text in ("np.full(3, a[0, 0])", "np.where(a == a, a, a[0, 0])"):
        with pytest.raises(NumbaError):
            njit(expression(text, "a"))(WORDS)


def test_orders_of_records():
    check("np.sort(a, order='x')", ROWS)
    check("np.argsort(a, order=('key', 'x'))", ROWS)
    check("np.sort(a, order=['x', 'key'])", ROWS)
    same_error("np.sort(a, order='x')", VECTOR)


# ---- Generators made in compiled code ----


def draws(seed):
    rng = np.random.default_rng(seed)
    other = np.random.default_rng(seed)
    again = np.random.default_rng(rng)
    return rng.normal(size=3), rng.integers(100), other.random(), rng.permutation(4), again.random()


def of_helper(n):
    def one(k):
        return np.random.default_rng(k).random()

    total = 0.0
    for k in range(n):
        total += one(k)
    return total


def test_generators_are_made():
    compiled = njit(draws)
    for seed in (0, 7, 2**40):
        compare(compiled(seed), draws(seed), f"seed {seed}")
    compare(njit(of_helper)(50), of_helper(50), "of a helper")
    assert 0 <= njit(lambda: np.random.default_rng().random())() < 1
    raised = outcome(njit(draws), (-1,), {})
    assert str(raised.error) == str(outcome(draws, (-1,), {}).error)


def test_generators_are_not_made_where_nothing_keeps_them():
    @njit
    def walk(n):
        rng = np.random.default_rng(n)
        while True:
            yield rng.random()

    with pytest.raises(NumbaError, match="make it outside"):
        next(walk(3))

    @njit
    def make(n):
        return np.random.default_rng(n)

    with pytest.raises(NumbaError):
        make(3)


def test_generators_are_given_up():
    import gc

    compiled = njit(of_helper)
    compiled(3)
    gc.collect()
    before = sum(isinstance(x, np.random.Generator) for x in gc.get_objects())
    compiled(100)
    gc.collect()
    assert sum(isinstance(x, np.random.Generator) for x in gc.get_objects()) == before


def test_squeeze_without_an_axis_of_no_axes():
    check("np.squeeze(np.asarray(a)), np.squeeze(np.asarray(a), axis=None)", 2.5)
