"""Arrays joined, repeated and taken apart, against NumPy: values, dtypes, shapes, views, exceptions."""

import numpy as np
import pytest
from oracle import agree, agree_all, expression

from krait import njit

A = np.arange(6.0).reshape(2, 3)
B = np.asfortranarray(np.arange(6, dtype=np.int16).reshape(2, 3))
C = np.arange(24, dtype=np.float32).reshape(4, 6)[::2, ::-2]
V = np.arange(3)
EMPTY = np.zeros((2, 0))


def same(text, *args):
    agree(expression(f"np.ascontiguousarray({text})", *"abc"[: len(args)]), *args)


@pytest.mark.parametrize("text", [
    "np.concatenate((a, b))", "np.concatenate((a, b, a), axis=1)", "np.concatenate((a, b), -1)", "np.concatenate((a,))",
    "np.concatenate((a, b), None)", "np.concatenate([a, a, a])", "np.concatenate([a, a], axis=1)",
    "np.concatenate((a, b), dtype=np.float32)", "np.stack((a, b))", "np.stack((a, b), axis=1)", "np.stack([a, a], -1)",
    "np.hstack((a, b))", "np.vstack((a, b))", "np.dstack((a, b))", "np.column_stack((a, b))", "np.vstack([a[0], a[1]])",
    "np.hstack((a[0], b[1]))", "np.column_stack((a[0], b[1]))", "np.dstack((a[0], b[0]))", "np.append(a, b)",
    "np.append(a, b, axis=0)", "np.append(a, 7)", "np.append(a[0], (1, 2))",
])  # fmt: skip
def test_join(text):
    for a, b in ((A, B), (C, A), (A, C)):
        same(text, a, b)


def test_joins_that_do_not_fit():
    agree_all(expression("np.concatenate((a, b), 1)", "a", "b"), [(A, EMPTY), (A, A[:1]), (V[None], V[None])])
    agree(expression("np.concatenate((a, b))", "a", "b"), A, V)
    agree(expression("np.concatenate((a, a), 2)", "a"), A)
    agree(expression("np.concatenate([a, a, a[:, :1]])", "a"), C)


@pytest.mark.parametrize("text", [
    "np.repeat(a, 2)", "np.repeat(a, 2, axis=0)", "a.repeat(3, 1)", "np.repeat(a, 0)", "np.repeat(a, -1)",
    "np.tile(a, 2)",
    "np.repeat(a, np.array((1, 2)), axis=0)", "np.repeat(a, np.array((1, 2, 3, 4)), axis=0)", "np.tile(a, (2, 2))",
    "np.tile(a, (2, 1, 3))", "np.tile(a, (0,))", "np.roll(a, 1)", "np.roll(a, -2, axis=1)", "np.roll(a, 7, 0)",
    "np.delete(a, 1)", "np.delete(a, 0, axis=0)", "np.delete(a, -1, 1)", "np.delete(a, 9)", "np.roll(a, 1, 5)",
])  # fmt: skip
def test_repeat_and_move(text):
    for a in (A, B, C):
        same(text, a)


@pytest.mark.parametrize("text", ["np.split(a, 3, axis=1)", "np.split(a, 2)", "np.array_split(a, 2, 1)",
                                  "np.hsplit(a, 3)", "np.vsplit(a, 2)", "np.array_split(a, (1, 2), 1)",
                                  "np.array_split(a, (2, 1, -1, 9), 1)"])  # fmt: skip
def test_split(text):
    """The parts, as a list, are views."""
    for a in (A, B, C):
        ours, theirs = (expression(text, "a") for _ in range(2))
        parts, wanted = njit(ours)(a), theirs(a)
        assert len(parts) == len(wanted)
        for part, want in zip(parts, wanted):
            np.testing.assert_array_equal(part, want, strict=True)
            assert np.shares_memory(part, a) == np.shares_memory(want, a)
    agree(expression("np.split(a, 2, 1)[0]", "a"), A)
