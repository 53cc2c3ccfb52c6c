"""Instances as keys of dicts and items of sets: by what their class says, or by which object they are."""

from dataclasses import dataclass

import pytest

from krait import errors, njit


class Place:
    def __init__(self, x, y):
        self.x = x
        self.y = y

    def __eq__(self, other):
        return self.x == other.x and self.y == other.y

    def __hash__(self):
        return hash((self.x, self.y))


class Plain:
    def __init__(self, n):
        self.n = n


@dataclass(frozen=True)
class Frozen:
    x: int
    y: int


@dataclass
class Unhashable:
    x: int


def by_value(n):
    d = {}
    for i in range(n):
        d[Place(i, i)] = i
    d[Place(1, 1)] = 10
    s = {Place(i % 2, 0) for i in range(n)}
    return len(d), d[Place(1, 1)], Place(2, 2) in d, d.get(Place(9, 9), -1), len(s), Place(1, 0) in s


def by_identity(n):
    a, b = Plain(n), Plain(n)
    d, s = {a: 1, b: 2}, {a, b, a}
    return d[a], d[b], len(s), a in s, Plain(n) in s


def frozen(n):
    d = {Frozen(i, 0): i for i in range(n)}
    return d[Frozen(1, 0)], len({Frozen(1, 2), Frozen(1, 2)}), Frozen(1, 5) in d


@pytest.mark.parametrize("f", [by_value, by_identity, frozen])
def test_keys(f):
    assert njit(f)(3) == f(3)


def test_arguments():
    assert njit(lambda d: d[Place(1, 2)])({Place(1, 2): 5}) == 5
    assert njit(lambda s: (Frozen(1, 2) in s, len(s)))({Frozen(1, 2)}) == (True, 1)


def test_without_a_hash():
    with pytest.raises(errors.KraitError, match="its class has no __hash__"):
        njit(lambda n: len({Unhashable(n)}))(1)
