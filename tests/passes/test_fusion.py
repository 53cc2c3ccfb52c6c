"""Pass fusion: what is one map afterwards, what is not, as typed IR."""

import re

import numpy as np
import pytest

from krait import _testing

A1 = "array(float64, 1, C)"
A2 = "array(float64, 2, C)"
F1 = "array(float32, 1, C)"


def fused(function, *types):
    return _testing.stage(function, list(types), "fusion")


def maps(function, *types):
    return len(re.findall(r"^ +map", fused(function, *types).split("\n\n")[0], re.M))


def test_text():
    def f(x, y):
        return x * y + x

    assert fused(f, A1, A1).splitlines() == [
        "func f(x: array(float64, 1, C), y: array(float64, 1, C)) -> array(float64, 1, C) {",
        "b0:",
        "  %2: (int,) = getattr[shape] %0",
        "  %3: (int,) = getattr[shape] %1",
        "  %4: (int,) = broadcast[0] %2, %3",
        "  %5: int = extract[0] %4",
        "  %7: (int,) = tuple %5",
        "  %8: (int,) = getattr[shape] %0",
        "  %9: (int,) = broadcast[0] %7, %8",
        "  %10: int = extract[0] %9",
        "  %11: array(float64, 1, C) = new_array[0] %10",
        "  map[1, elements#1] %11, %0, %1",
        "  return %11",
        "}",
        "",
        "func elements(posonly x1: float64, posonly x2: float64) -> float64 {",
        "b0:",
        "  %2: float64 = mul %0, %1",
        "  %3: float64 = add %2, %0",
        "  return %3",
        "}",
    ]


def test_intermediate_values_keep_their_types():
    def f(x, y):
        return x * 0.1 * y

    body = fused(f, F1, A1).split("\n\n")[1]
    assert re.search(r"%(\d+): float32 = mul .*\n.*: float64 = cast %\1", body)


@pytest.mark.parametrize(
    "types, function",
    [
        ((A1, A1), lambda x, y: np.sqrt(x * x + y * y) + 2.0 * x - y / 3.0),
        ((A1, A1), lambda x, y: np.maximum(x * 2, y - 1) > 3),
        ((A2, A1), lambda x, y: (x - y) * (y + 1)),
        ((A1, A1), lambda x, y: np.add(x * y, y, x)),
        ((A1, A1), lambda x, y: ((x - y) * (x - y)).astype(np.float32)),
    ],
)
def test_one_map(types, function):
    assert maps(function, *types) == 1


def stored(x, y):
    x[1:-1] = 0.5 * (y[2:] + y[:-2])


def in_place(x, y):
    x += y * 2.0


def named(x, y):
    d = x - y
    return d * d


def shape_asked(x, y):
    d = x - y
    return (d + 1.0), d.shape


@pytest.mark.parametrize("function", [stored, in_place, named, shape_asked])
def test_statements_are_one_map(function):
    assert maps(function, A1, A1) == 1


def used_twice(x, y):
    d = x - y
    return np.sqrt(d), np.exp(d)


def returned(x, y):
    d = x - y
    return d * 2, d


def written_between(x, y):
    d = x - 1.0
    x[0] = 5.0
    return d * y


def given_to_a_view(x, y):
    d = x - y
    return d[1:] * 2


def under_a_condition(x, y):
    d = x - y
    if y[0] > 0:
        d = d * 2
    return d


def expensive_and_stretched(x, y):
    return np.sin(x) * y


@pytest.mark.parametrize(
    "count, types, function",
    [
        (3, (A1, A1), used_twice),
        (2, (A1, A1), returned),
        (2, (A1, A1), written_between),
        (2, (A1, A1), given_to_a_view),
        (2, (A1, A1), under_a_condition),
        (2, (A1, A2), expensive_and_stretched),
        (2, (A1, A1), lambda x, y: np.sin(x[:, None]) * y),
        (2, (A1, A1), lambda x, y: np.sqrt(x, where=y > 0)),
    ],
)
def test_not_fused(count, types, function):
    assert maps(function, *types) == count
