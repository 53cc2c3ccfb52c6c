"""What classes bring along: operators, properties, static and class methods, constants, base classes, super()."""

import collections
import dataclasses

import pytest
from oracle import agree

from krait import njit
from krait.errors import KraitError


@dataclasses.dataclass(frozen=True)
class Vec:
    x: float
    y: float = 0.0

    def __add__(self, o):
        return Vec(self.x + o.x, self.y + o.y)

    def __iadd__(self, o):
        return Vec(self.x + 100 * o.x, self.y)

    def __mul__(self, o):
        if isinstance(o, Vec):
            return self.x * o.x + self.y * o.y
        if not isinstance(o, (int, float)):
            return NotImplemented
        return Vec(self.x * o, self.y * o)

    def __rmul__(self, s):
        return Vec(self.x * s, self.y * s)

    def __matmul__(self, o):
        return self.x * o.y - self.y * o.x

    def __neg__(self):
        return Vec(-self.x, -self.y)

    def __abs__(self):
        return (self.x**2 + self.y**2) ** 0.5

    def __lt__(self, o):
        return abs(self) < abs(o)

    def __float__(self):
        return abs(self)

    def __round__(self, n):
        return Vec(round(self.x, n), round(self.y, n))

    def __str__(self):
        return f"<{self.x:.1f} {self.y:.1f}>"

    @property
    def norm2(self):
        return self * self

    @classmethod
    def unit(cls, i):
        return cls(1.0 if i == 0 else 0.0, 1.0 if i == 1 else 0.0)

    @staticmethod
    def dot(a, b):
        return a.x * b.x + a.y * b.y


class Matrix:
    """Multiplies from the right what does not know it."""

    def __rmul__(self, other):
        return self.k * other.x

    def __init__(self, k):
        self.k = k


class Base:
    factor, name = 3, "base"

    def scale(self, x):
        return self.factor * x + self.own()

    def own(self):
        return 1

    @classmethod
    def plus(cls, x):
        return cls.factor + x

    @staticmethod
    def twice(x):
        return 2 * x


class Derived(Base):
    factor = 5

    def __init__(self, k):
        self.k = k

    def own(self):
        return self.k

    def scale(self, x):
        return super().scale(x) + super(Derived, self).own()

    def __call__(self, x, y=1):
        return self.scale(x) + y

    def __len__(self):
        return self.k

    def __getitem__(self, i):
        return i * self.k

    def __contains__(self, i):
        return i == self.k

    def __iter__(self):
        for i in range(self.k):
            yield i

    def __eq__(self, other):
        return self.k == other.k

    def __hash__(self):
        return 7

    @classmethod
    def plus(cls, x):
        return super().plus(x) * 2


class Empty:
    def three(self):
        return 3


NAN = float("nan")
V, W = Vec(3.0, 4.0), Vec(1.0, 2.0)


@pytest.mark.parametrize("f", [
    lambda a, b: a + b, lambda a, b: a * 2, lambda a, b: 2 * a, lambda a, b: 2.5 * (a * b), lambda a, b: a @ b,
    lambda a, b: (-a, abs(a), a < b, a > b),
    lambda a, b: (float(a), round(a, 1), f"{a} and {b!s:>12}", str(a) + "!"),
    lambda a, b: (a.norm2, Vec.dot(a, b), a.dot(a, b), Vec.unit(1), a.unit(0)),
    lambda a, b: (a.__class__ is Vec, [a, b][1].norm2, a == 3, a != 3),
])  # fmt: skip
def test_operators(f):
    agree(f, V, W)


def test_equality_that_a_dataclass_made():
    agree(lambda a, b: (a == b, a != b, a == Vec(3.0, 4.0), a == 3.0), V, W)
    agree(lambda a, b: (a == b, a != b), V, Vec(V.x, V.y))
    assert njit(lambda a, b: (a == b, a != b))(Vec(NAN), Vec(1.0)) == (False, True)


@dataclasses.dataclass(order=True)
class Heights:
    low: float
    high: float


class Pair(collections.namedtuple("Pair", "a b")):
    __slots__ = ()


@pytest.mark.parametrize("value", [Vec(NAN), Vec(1.0), Heights(1.0, NAN), Heights(1.0, 2.0), Pair(NAN, 1), Pair(2, 3.0),
                                   (NAN, (NAN, 2)), (1, NAN), [NAN], {NAN}, {1: NAN}, {NAN: 1}], ids=repr)
def test_what_is_compared_with_itself(value):
    """It is equal, whatever it holds."""
    def equal(a):
        b = a
        return a == a, a != a, a == b, b is a, a is not b

    def ordered(a):
        return a <= a, a >= a, a < a, a > a

    assert njit(equal)(value) == equal(value)
    if not isinstance(value, (Vec, dict)):
        assert njit(ordered)(value) == ordered(value)


def test_items_that_are_one_object():
    agree(lambda x: ((x, 1) == (x, 1), (x, 1) < (x, 2), (x, 1) != (x, 1), (x, 1) == (x, 2)), NAN)


def test_identity_of_values_is_not_known():
    with pytest.raises(KraitError, match="one object"):
        njit(lambda a, b: a is b)(V, W)


def test_an_operator_in_place():
    def f(a, b):
        a += b
        return a

    agree(f, V, W)


def test_the_right_operand_is_asked_where_the_left_one_does_not_know():
    assert njit(lambda a, m: a * m)(V, Matrix(3)) == 9.0
    with pytest.raises(KraitError, match="unsupported operand types for [*]"):
        njit(lambda a: a * "x")(V)
    with pytest.raises(KraitError, match=r"define it there, def __sub__\(self, other\)"):
        njit(lambda a: a - a)(V)


@pytest.mark.parametrize("f", [
    lambda d: (d.scale(2), d(3), d(3, y=4), len(d), d[4], 7 in d, 3 in d, 3 not in d),
    lambda d: (d.plus(1), Derived.plus(1), Base.plus(2), d.twice(4), Derived.twice(1), d.factor, d.name + "!"),
    lambda d: (sum(d), [i for i in d], d == d, d != d, 1 if d else 0, not d),
    lambda d: (isinstance(d, Base), Base.scale(d, 2)),
], ids=range(4))  # fmt: skip
def test_inherited_members(f):
    assert njit(f)(Derived(7)) == f(Derived(7))


def test_an_instance_without_attributes():
    assert njit(lambda e: e.three() if e else 0)(Empty()) == 3


def test_a_changed_member_is_seen():
    class Own:
        limit = 3

        def __init__(self, k):
            self.k = k

        @classmethod
        def half(cls):
            return cls.limit / 2

    f = njit(lambda o: (o.limit + o.k, o.half()))
    assert f(Own(1)) == (4, 1.5)
    Own.limit = 10
    assert f(Own(1)) == (11, 5.0)
    Own.half = classmethod(lambda cls: -1)
    assert f(Own(1)) == (11, -1)
    Own.limit = property(lambda self: self.k * 2)
    assert f(Own(4)) == (12, -1)


def test_an_operator_that_raises_is_caught():
    class Fussy:
        def __init__(self, k):
            self.k = k

        def __bool__(self):
            raise ValueError("neither")

        @property
        def half(self):
            if self.k % 2:
                raise KeyError(self.k)
            return self.k // 2

    def f(x):
        n = 0
        try:
            n = 1
            if x:
                n = 2
        except ValueError:
            n += 10
        try:
            n += x.half
        except KeyError:
            n += 100
        return n

    assert njit(f)(Fussy(3)) == f(Fussy(3)) == 111
    assert njit(f)(Fussy(4)) == f(Fussy(4)) == 13


def test_names_of_classes_and_functions():
    def g():
        return 1

    def f(x):
        p = Vec(1.0, 2.0)
        names = type(x).__name__, type(1.5).__name__, type("a").__name__, type([x]).__name__, type(p).__name__
        return names, p.__class__.__name__, Vec.__name__, Vec.__qualname__, g.__name__, type({}).__name__

    agree(f, 3)
    agree(f, 2.5)
