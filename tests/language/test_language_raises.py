"""Exceptions and texts as values: chosen by a branch, kept over loops, raised elsewhere."""

import pytest

from oracle import agree_all


def chosen_exception(c, x):
    error = ValueError("a", x) if c else ValueError("bb", 2 * x)
    raise error


def chosen_text(c, x):
    text = "low" if c else "high"
    if x > 2:
        raise KeyError(text)
    return x


def two_choices(c, x):
    first = "a" if c else "b"
    second = "c" if x > 2 else "d"
    raise ValueError(first, x, (second, x + 1), "e")


def in_a_loop(c, x):
    where = "before"
    for i in range(x):
        if i == 1:
            where = "second"
        elif i == 3:
            where = "fourth"
        if c and i == 4:
            raise RuntimeError(where, i)
    raise ValueError(where)


def formatted(c, x):
    if c:
        error = ValueError(f"{x} is odd")
    else:
        error = ValueError(f"{x:>4} is even")
    raise error


def chosen_tuple(c, x):
    pair = ("a", x)
    if c:
        pair = ("b", -x)
    raise LookupError(pair, x)


def three(c, x):
    text = "small"
    if x > 1:
        text = "middle"
        if x > 3:
            text = "large" if c else "great"
    if x >= 0:
        raise AssertionError(text)


def the_same(c, x):
    text = "same"
    if c:
        text = "same"
    raise ValueError(text, x)


@pytest.mark.parametrize(
    "function", [chosen_exception, chosen_text, two_choices, in_a_loop, formatted, chosen_tuple, three, the_same]
)
def test_against_the_interpreter(function):
    agree_all(function, [(c, x) for c in (True, False) for x in range(6)])


def with_a_constant_text(mode):
    raise ValueError(f"mode {mode} ({mode!r})")


def test_a_text_of_constant_texts_alone():
    agree_all(with_a_constant_text, [("full",), ("",), ("it's",)])
