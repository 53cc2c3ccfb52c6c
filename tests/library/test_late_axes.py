"""Axes that are known when a call is made, lists that say shapes and axes, and what functions take besides tuples."""

import numpy as np
import pytest
from numpy_cases import CUBE, MATRIX, VECTOR, check, same_error

from krait import njit
from oracle import agree, make

AXES = [
    "np.moveaxis(a, b, 0)", "np.moveaxis(a, 0, b)", "np.moveaxis(a, b, b - 1)", "np.swapaxes(a, b, 1)",
    "a.swapaxes(-1, b)", "np.expand_dims(a, b)", "a.sum(axis=b)", "np.mean(a, axis=b, keepdims=True)",
    "np.max(a, b)", "a.argmin(axis=b)", "np.std(a, axis=b)", "np.cumsum(a, axis=b)", "np.sort(a, axis=b)",
    "np.any(a > 0, axis=b)", "np.median(a, axis=b)", "np.nansum(a, axis=b)", "np.stack((a, a), axis=b)",
    "np.linalg.norm(a, axis=b)", "np.diff(a, axis=b)", "np.flip(a, b)", "np.take(a, 1, axis=b)",
    "np.take(a, [1, 0, -1], axis=b)", "a.take(np.array([[0, 1], [1, 0]]), axis=b)",
    "np.take(a, [5, 1], b, mode='wrap')",
    "np.take(a, 9, axis=b)", "np.take(a, [0, -9], axis=b)",
]  # fmt: skip


@pytest.mark.parametrize("text", AXES)
def test_axes_that_are_known_late(text):
    check(text, *[(a, b) for a in (CUBE, np.asfortranarray(CUBE), CUBE[:, ::-1, ::2]) for b in (0, 2, -1, -2)])
    if "moveaxis" not in text:  # of which NumPy says which of its axes it was
        same_error(text, (CUBE, 9))


def test_axes_of_a_loop():
    def f(a):
        return [a.sum(axis=k).size for k in range(a.ndim)]

    assert njit(f)(CUBE) == f(CUBE)


@pytest.mark.parametrize("text", [
    "np.zeros([2, b])", "np.ones([b, b], np.int32)", "np.full([b, 2], 1.5)", "np.zeros(shape=[b])",
    "a.reshape([b, -1])", "np.reshape(a, [-1, b])", "np.resize(a, [b, 5])", "np.tile(a[0, 0], [b, 2])",
    "np.broadcast_to(a[0, 0, 0], [b, 2])", "np.pad(a[0], [(1, b), (0, 2)])", "np.pad(a[0], [[1, 0], [b, 2]])",
    "np.pad(a[0], [1, b])", "np.indices([2, b])", "np.ones_like(a, shape=[b])", "np.flip(a, [0, 1])",
    "a.transpose([1, 0, 2])", "np.moveaxis(a, [0, 1], [2, 0])", "np.expand_dims(a, [0, 2])",
])  # fmt: skip
def test_lists_for_shapes(text):
    check(text, (CUBE, 3))


def test_sizes_in_lists():
    @njit
    def f(n):
        np.random.seed(5)
        return np.random.normal(0.0, 1.0, [2, n]), np.random.randint(0, 9, size=[n])

    def drawn(n):
        np.random.seed(5)
        return np.random.normal(0.0, 1.0, [2, n]), np.random.randint(0, 9, size=[n])

    for ours, theirs in zip(f(3), drawn(3)):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("text", ["np.hstack(a)", "np.vstack(a)", "np.dstack(a)", "np.concatenate(a)", "np.stack(a)",
                                  "np.concatenate(a, axis=-1)", "np.stack(a, axis=-1)"])
def test_joins_of_the_rows_of_an_array(text):
    check(text, CUBE)
    check(text.replace("-1", "0"), MATRIX)


@pytest.mark.parametrize("text", ["np.atleast_1d(a, b)", "np.atleast_2d(a, b, a)", "np.atleast_3d(a[0], b)",
                                  "np.atleast_2d(b)"])
def test_several_arrays_of_at_least_so_many_axes(text):
    check(text, (MATRIX, VECTOR), (VECTOR, 2.5))


@pytest.mark.parametrize("text", ["np.frombuffer(a, np.uint8)", "np.frombuffer(a, dtype=np.int16)",
                                  "np.frombuffer(a, np.int8, 3, offset=2)"])
def test_bytes_as_arrays(text):
    check(text, (b"abcdefgh",))
    same_error("np.frombuffer(a, np.float64)", (b"abc",))


def test_diagonals_of_more_axes():
    check("np.diag_indices(a, 3)", (2,))
    check("a[np.diag_indices(2)], a[np.diag_indices(2, 2)]", MATRIX[:3, :3])
    check("a[np.diag_indices_from(a)]", MATRIX[:3, :3], CUBE[:, :2, :2])
    check("np.diag_indices_from(a)", MATRIX[:3, :3], CUBE[:, :2, :2])
    same_error("np.diag_indices_from(a)", MATRIX[:2, :3], VECTOR)


@pytest.mark.parametrize("dtype", ["u1", "i4", "f4", "?"])
@pytest.mark.parametrize("values", [np.int16(5), 1.5, np.arange(3.0)])
def test_at_casts_whatever_it_is(dtype, values):
    def f(a, i, values):
        np.add.at(a, i, values)
        np.maximum.at(a, i, values)

    ours, theirs, places = np.ones(4, dtype), np.ones(4, dtype), np.array([0, 2, 0])
    njit(f)(ours, places, values)
    f(theirs, places, values)
    np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("places", ["[0, 9, 1]", "([0, 1], [0, 9])", "([0, -9], [0, 0])"])
def test_at_writes_nothing_where_a_place_is_outside(places):
    f = make(f"def f(a):\n    np.add.at(a, {places}, 2.0)\n    return a")
    agree(f, MATRIX.copy())


def test_quantiles_step_as_the_elements_are_rounded():
    single = np.random.default_rng(3).normal(size=(4, 5)).astype(np.float32)
    for text in ("np.percentile(a, [10, 30.0], axis=0)", "np.nanquantile(a, np.array([0.1, 0.77]))"):
        f = {"np": np}
        exec(f"def f(a):\n    return {text}", f)
        np.testing.assert_array_equal(njit(f["f"])(single), f["f"](single))


@pytest.mark.parametrize("text", ["np.tril(a)", "np.triu(a, 1)", "np.tril(a, k=-1)"])
def test_triangles_of_a_line(text):
    check(text, VECTOR, np.arange(3)[::-1], MATRIX)
