"""match statements: patterns of literals, sequences, dicts, classes; guards, alternatives, captures."""

import collections
import dataclasses
import enum
import itertools

import numpy as np
import pytest

from krait import errors, njit
from oracle import agree, agree_all, make

Point = collections.namedtuple("Point", "x y")


@dataclasses.dataclass
class Particle:
    mass: float
    charge: int


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


def tuples(x, y):
    match (x, y):
        case (0, 0):
            return 0
        case (0, n):
            return n
        case (n, 0):
            return -n
        case (a, b) if a == b:
            return 100
        case _:
            return 1000


def test_tuples():
    agree_all(tuples, itertools.product([0, 1, -3, 7], repeat=2))


def lengths(p):
    match p:
        case []:
            return -1
        case [a]:
            return a
        case [a, b]:
            return a + b
        case [1, b, *rest]:
            return b * 10 + len(rest)
        case [*_, last]:
            return last
    return 5


@pytest.mark.parametrize("value", [[4], [4, 5], [1, 2, 3, 4], [9, 2, 3], (), (4,), (4, 5), (1, 2, 3), (7, 2, 3)])
def test_sequences(value):
    agree(lengths, value)


def test_a_range_is_a_sequence_and_an_array_where_numpy_says_so():
    agree_all(lengths, [(range(n),) for n in range(5)])
    agree(make("def f(x):\n    match x:\n        case [a, b]: return 1\n        case [a]: return 2\n    return 3"),
          np.arange(2))


def test_sequences_in_sequences():
    def nested(p):
        match p:
            case (a, (b, [c, *rest])):
                return a, b, c, rest
            case (a, b):
                return a, 0, 0, [b]

    agree(nested, (1, (2, (3, 4, 5))))
    agree(nested, (1, 2))


def points(p):
    match p:
        case Point(x=0, y=b):
            return b
        case Point(a, 2):
            return a * 100
        case Point(x=a) if a > 10:
            return a
        case (a, b):
            return a - b
        case _:
            return -1


def test_namedtuples():
    agree_all(points, [(Point(0, 5),), (Point(7, 2),), (Point(11, 3),), (Point(4, 1),), ((4, 1),), (3,)])


def particles(p):
    match p:
        case Particle(charge=0):
            return 0.0
        case Particle(m, q) if q > 1:
            return m * q
        case Particle():
            return -1.0
        case _:
            return -2.0


def test_dataclasses():
    agree_all(particles, [(Particle(2.0, 0),), (Particle(2.0, 3),), (Particle(2.0, 1),), (2.0,)])


VALUES = [True, 3, 9, 2.5, np.float32(1), np.float64(4.5), np.int8(3), (1, 2), 1j, np.arange(3), None]


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_classes(value):
    function = make(
        "def f(x):\n    match x:\n        case bool(): return 1\n        case int(k) if k > 7: return k\n"
        "        case float(v): return int(v)\n        case np.floating(): return 3\n"
        "        case int() | np.integer(): return 4\n        case tuple(): return 5\n        case _: return 6"
    )
    agree(function, value)


def test_members_of_an_enumeration():
    def number(x):
        match x:
            case Level.LOW:
                return 10
            case Level.HIGH:
                return 20

    agree_all(number, [(Level.LOW,), (Level.HIGH,), (1,), (2,)])


def test_in_a_kernel():
    from krait import cuda

    @cuda.jit
    def kernel(out, pairs):
        i = cuda.grid(1)
        if i < out.size:
            match (pairs[i, 0], pairs[i, 1]):
                case (0, b):
                    out[i] = b
                case (a, b) if a > b:
                    out[i] = a - b
                case _:
                    out[i] = -1

    pairs = np.array([(0, 5), (4, 1), (1, 4)])
    out = np.zeros(3, np.int64)
    kernel[1, 4](out, pairs)
    assert out.tolist() == [5, 3, -1]


def test_what_is_not_known_is_refused():
    def too_many(p):
        match p:
            case Point(1, 2, 3):
                return 1

    def no_class(p, c):
        match p:
            case c():
                return 1

    with pytest.raises(errors.TypingError, match=r"Point\(\) accepts 2 positional sub-patterns \(3 given\)"):
        njit(too_many)(Point(1, 2))
    with pytest.raises(errors.UnsupportedError, match="the class of this pattern is not known"):
        njit(no_class)(3, int)


# ---- dicts ----


def by_keys(d):
    match d:
        case {"x": x, "y": y}:
            return x * 10 + y
        case {"k": 1 | 2 as k}:
            return -k
        case {"k": k} if k > 5:
            return k
        case {"x": x, **rest}:
            return x + 100 * len(rest)
        case {}:
            return 0


def value_of_k(d):
    match d:
        case {"k": k}:
            return k
    return -1


def test_keys_of_dicts():
    for table in ({"x": 1}, {"x": 1, "y": 2}, {"x": 3, "z": 4, "w": 5}, {"k": 2}, {"k": 7}, {"k": 3}, {"q": 1}):
        agree(by_keys, table)
        agree(value_of_k, collections.OrderedDict(table))
    agree(value_of_k, collections.Counter(["k", "k"]))
    agree(value_of_k, collections.defaultdict(int, {"y": 1}))  # nothing is put in


def kind(x):
    match x:
        case {"k": [a, *_]}:
            return a
        case {"k": _}:
            return -2
        case [a, b]:
            return a + b
        case {}:
            return -3
        case _:
            return -1


def test_patterns_within_dicts_and_beside_them():
    agree_all(kind, [({"k": [4, 5]},), ({"k": []},), ({"j": [4]},), ([1, 2],), ((1, 2),), (7,), ([1],)])


def test_dicts_within_dicts_and_what_is_left():
    def inner(d):
        match d:
            case {"a": {"b": x}}:
                return x
        return 0

    def rest(d):
        match d:
            case {"a": _, **others}:
                return others
        return d

    def commands(steps):
        total = 0
        for step in steps:
            match step:
                case {"add": n}:
                    total += n
                case {"mul": n}:
                    total *= n
                case _:
                    total -= 1
        return total

    agree(inner, {"a": {"b": 5}})
    agree(inner, {"a": {"c": 5}})
    agree(rest, {"a": 1, "b": 5, "c": 6})
    agree(rest, {"b": 5})
    agree(commands, [{"add": 3}, {"mul": 4}, {"no": 4}])
