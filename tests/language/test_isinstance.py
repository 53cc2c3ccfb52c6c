"""isinstance(x, C) and type(x): classes of Python, NumPy and the user, abstract ones, unions, tuples of them."""

import collections
import collections.abc
import dataclasses
import enum
import numbers

import numpy as np
import pytest

from krait import errors, njit
from oracle import agree, agree_all, make

Point = collections.namedtuple("Point", "x y")


@dataclasses.dataclass
class Particle:
    mass: float


class Level(enum.IntEnum):
    LOW = 1


VALUES = [
    3, True, 2.5, 1j, None, np.int8(1), np.uint64(1), np.float32(1), np.float64(1), np.complex64(1), np.bool_(True),
    (1, 2), (), Point(1, 2), Particle(1.0), Level.LOW, [1], range(3), np.arange(3), np.zeros((2, 2)), np.array(1),
    np.float32, np.dtype("f4"), Ellipsis,
]
Number = int | float
CLASSES = [
    "int", "float", "complex", "bool", "str", "tuple", "list", "dict", "range", "type(None)", "object", "type",
    "np.ndarray", "np.generic", "np.number", "np.integer", "np.signedinteger", "np.floating", "np.complexfloating",
    "np.bool_", "np.int8", "np.float64", "np.datetime64", "np.dtype", "Point", "Particle", "Level", "enum.Enum",
    "numbers.Number", "numbers.Real", "numbers.Integral", "collections.abc.Sequence", "Number", "int | None",
    "(int, float)", "(str, (tuple, np.ndarray))", "()",
]


def function_of(expression):
    namespace = dict(globals())
    exec(f"Union = int | None\ndef f(x): return {expression.replace('int | None', 'Union')}", namespace)
    return namespace["f"]


@pytest.mark.parametrize("text", CLASSES)
def test_every_class_of_every_value(text):
    function = function_of(f"isinstance(x, {text})")
    agree_all(function, [(value,) for value in VALUES])


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_type_of(value):
    for name in ["int", "bool", "float", "tuple", "np.ndarray", "np.float32", "Point", "Particle", "Level", "list"]:
        agree(function_of(f"(type(x) is {name}, type(x) == {name}, type(x) is not {name})"), value)


def test_dates_and_durations():
    compiled = njit(lambda x: (isinstance(x, np.datetime64), isinstance(x, np.timedelta64), isinstance(x, np.generic)))
    assert compiled(np.datetime64("2020-01-01")) == (True, False, True)
    assert compiled(np.timedelta64(1, "s")) == (False, True, True)


def test_the_type_is_a_class_to_call():
    agree_all(function_of("type(x)(2.75)"), [(3,), (2.5,), (np.float32(1),), (np.int8(1),), (True,)])


def test_code_for_other_types_is_not_compiled():
    def scaled(x):
        if isinstance(x, np.ndarray):
            return x.sum()
        if isinstance(x, tuple):
            return x[0] + x[1]
        return x * 2

    agree_all(scaled, [(np.arange(4),), ((1, 2.5),), (7,)])


def test_of_a_value_that_may_be_none():
    def f(n):
        x = None
        if n > 3:
            x = n
        return isinstance(x, int), isinstance(x, float), isinstance(x, (float, type(None))), isinstance(x, object)

    agree_all(f, [(1,), (5,)])


def test_what_is_no_class_is_refused():
    with pytest.raises(errors.TypingError, match=r"arg 2 must be a class, a tuple of classes or a union, not int"):
        njit(lambda x: isinstance(x, 3))(1)


class Asked(type):
    def __subclasscheck__(cls, other):
        raise cls.reason


class Interrupted(metaclass=Asked):
    reason = KeyboardInterrupt("stop")


class Broken(metaclass=Asked):
    reason = RuntimeError("boom")


def test_what_a_class_raises_when_it_is_asked_is_not_lost():
    with pytest.raises(KeyboardInterrupt, match="stop"):
        njit(lambda x: isinstance(x, Interrupted))(1)
    with pytest.raises(RuntimeError, match="RuntimeError: boom") as info:
        njit(lambda x: isinstance(x, (str, Broken)))(1)
    assert "arg 2 must be" not in str(info.value) and "numpy.ndarray" not in str(info.value)


class Electron(Particle):
    pass


@pytest.mark.parametrize("text", [
    "issubclass(Electron, Particle), issubclass(Particle, Electron), issubclass(Particle, object)",
    "issubclass(KeyError, LookupError), issubclass(LookupError, (KeyError, (ValueError, int)))",
    "issubclass(bool, int), issubclass(int, float), issubclass(Level, int), issubclass(list, Either)",
    "issubclass(np.float64, float), issubclass(np.int32, np.integer), issubclass(type(x), (int, np.floating))",
])  # fmt: skip
def test_classes_of_classes(text):
    f = make(f"def f(x):\n    return {text}", Electron=Electron, Particle=Particle, Level=Level, Either=dict | list)
    agree_all(f, [(1,), (2.5,), (np.float32(1),)])


def test_no_class_of_a_class():
    with pytest.raises(errors.TypingError, match=r"issubclass\(\) arg 1 must be a class that is known, not .*int"):
        njit(lambda x: issubclass(x, int))(3)
    with pytest.raises(errors.TypingError, match=r"issubclass\(\) arg 2 must be a class, a tuple of classes"):
        njit(lambda x: issubclass(int, x))(3)


def test_iterators_are_no_containers():
    agree(lambda a: (isinstance(reversed(a), list), isinstance(iter(a), (tuple, str, dict)), isinstance(iter(a), int)),
          [1, 2])  # fmt: skip
