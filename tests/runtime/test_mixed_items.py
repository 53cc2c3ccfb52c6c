"""Lists, dicts and sets among the arguments whose items have several types: what is said, and that its advice works."""

import math
import re

import numpy as np
import pytest

from krait import njit


class Square:
    def __init__(self, side):
        self.side = side


class Circle:
    def __init__(self, radius):
        self.radius = radius


def refused(values):
    with pytest.raises(TypeError) as caught:
        njit(lambda xs: len(xs))(values)
    return str(caught.value).split("argument 'xs': ", 1)[1]


MIXED = [
    [1, 2.5],
    [1, "a"],
    [1, None, 3],
    [None, "a"],
    [1.0, 2j],
    [(1, 3.5), (2, 2)],
    [(1, "a", 2), ("b", "c", 2.5)],
    [(1,), (1.5,)],
    [(1, 2), (1, 2, 3)],
    [np.zeros(3), np.zeros(3, int)],
    [np.zeros(3), np.zeros((3, 2))],
    [np.zeros((3, 2)), np.zeros((2, 3)).T],
    [1, np.float64(2)],
    {1, "a"},
    {(1, 2.0), (3, 4)},
    {"a": 1, 2: 3},
    {1: 1, 2: 2.5},
    {1: 1, 2: None},
    {1: (1, 2), 2: (1, 2.5)},
    {(1, 2): 3, (1.5, 2): 4},
]


@pytest.mark.parametrize("values", MIXED)
def test_what_is_advised_works(values):
    text = refused(values)
    advice = re.search(r"; (?:convert them|leave None out), (.*?)(?:, or (?:make|use|let).*)?$", text)[1]
    made = eval(advice, {"np": np, "xs": values})
    assert type(made) is type(values) and njit(lambda xs: len(xs))(made) == len(made)
    for other in re.findall(r"or (?:make an array|use a tuple), ([\w.]+\(xs\))", text):
        assert njit(lambda xs: len(xs))(eval(other, {"np": np, "xs": values})) == len(values)


LIST = " cannot be an argument of compiled code: the items of a list have one type; "
DICT = " cannot be an argument of compiled code: the values of a dict have one type; "
TUPLE = ", or use a tuple, tuple(xs), of which constant indices and loops take the items"
TEXTS = [
    ([1, 2.5],
     f"a list that holds int and float{LIST}convert them, [float(v) for v in xs], or make an array, np.array(xs)"),
    ([(1, 3.5), (2, 2)],
     f"a list that holds (int, float) and (int, int){LIST}convert them, [(v[0], float(v[1])) for v in xs]{TUPLE}"),
    ([Square(1.0), Circle(1.0)],
     f"a list that holds Square and Circle{LIST}make them instances of one class, in which an attribute tells them "
     f"apart{TUPLE}"),
    ({1: 1, 2: None},
     f"a dict with values int and NoneType{DICT}leave None out, {{k: v for k, v in xs.items() if v is not None}}, or "
     "let a number stand for it, as math.nan, or use a variable for each, or a namedtuple"),
    ({1: 3, 2: "a"}, f"a dict with values int and str{DICT}use a variable for each, or a namedtuple"),
    ({1: len, 2: 3},
     f"a dict with values builtin_function_or_method and int{DICT}use a variable for each that is called"),
]


@pytest.mark.parametrize("values, text", TEXTS, ids=lambda p: "" if isinstance(p, str) else str(type(p)))
def test_the_text(values, text):
    assert refused(values) == text


def test_a_loop_over_the_tuple_takes_instances_of_several_classes():
    def sizes(shapes):
        total = 0.0
        for shape in shapes:
            total += shape.side if isinstance(shape, Square) else shape.radius * math.pi
        return total

    shapes = (Square(2.0), Circle(1.0), Square(0.5))
    assert njit(sizes)(shapes) == sizes(shapes)
