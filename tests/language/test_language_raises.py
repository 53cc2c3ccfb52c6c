"""Exceptions and texts as values: chosen by a branch, kept over loops, raised elsewhere."""

import numpy as np
import pytest
from oracle import agree_all

from krait import njit
from krait.errors import UnsupportedError


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


@pytest.mark.parametrize("argument", ["a.flat", "zip([1], [2])", "lambda: 1", "iter([1])",
                                      "KeyError(1)", "enumerate([1])"])  # fmt: skip
@pytest.mark.parametrize("text", ["raise ValueError({})", "e = ValueError('a', {})\n    raise e"])
def test_an_argument_that_is_no_object_outside_is_refused(argument, text):
    names = {}
    exec(f"def f(a):\n    {text.format(argument)}", names)
    with pytest.raises(UnsupportedError, match="is no object that an exception could take out of compiled code"):
        njit(names["f"])(np.zeros(2))


def test_arguments_of_many_kinds():
    kinds = ("range(3)", "slice(1, 2)", "int", "np.float32", "None", "[1]", "a.dtype", "...", "KeyError")
    for argument in (*kinds, "(1, 'a', [2])"):
        names = {"np": np}
        exec(f"def f(a):\n    raise ValueError({argument}, 1)", names)
        agree_all(names["f"], [(np.zeros(2),)])
