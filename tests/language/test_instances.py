"""Instances of dataclasses and plain classes: their attributes in functions and kernels; dataclasses made."""

import dataclasses
import enum
import re
from collections import namedtuple
from typing import ClassVar

import numpy as np
import oracle
import pytest
from oracle import make

from krait import cuda, njit, typeof
from krait.errors import TypingError, UnsupportedError


@dataclasses.dataclass(frozen=True)
class Point:
    x: float
    y: float = 2.0
    names: ClassVar[int] = 3


@dataclasses.dataclass
class Grid:
    data: np.ndarray
    origin: Point
    step: int
    scale: tuple = (1, 2.5)


@dataclasses.dataclass(frozen=True, slots=True)
class Slotted:
    a: np.float32
    b: object


class Plain:
    def __init__(self, n, weights):
        self.n = n
        self.weights = weights


def agree(function, *args):
    ours, theirs = njit(function)(*args), function(*args)
    assert type(ours) is type(theirs) and ours == theirs
    return ours


def test_attributes():
    grid = Grid(np.arange(6.0).reshape(2, 3), Point(1.5), 4)
    agree(lambda g: (g.data[1, 2] + g.origin.x * g.origin.y + g.step, g.scale, g.scale[1]), grid)
    agree(lambda s: (s.a, s.b is None), Slotted(np.float32(2), None))
    agree(lambda p, q: p.n + q.n + p.weights[0], Plain(3, (1, 2)), Plain(4, (5, 6)))
    agree(lambda pair: pair[0].x + pair[1].y, (Point(1.0), Point(2.0, 3.0)))


class Colour(enum.Enum):
    RED = 1
    BLUE = "b"


@dataclasses.dataclass(frozen=True, order=True)
class Titled:
    title: str
    n: int = 3


@dataclasses.dataclass(frozen=True, slots=True)
class Holder:
    a: object
    b: object = None


def test_attributes_of_frozen_ones_that_are_texts():
    for function in (lambda x: (x.title, x.n, len(x.title)), lambda x: f"{x}", lambda x: {x: 1}, lambda x: x):
        compiled = njit(function)
        for x in (Titled("a"), Titled("é" * 300, 7), Titled("a\0b"), Titled("")):
            oracle.agree(function, x, compiled=compiled)
    oracle.agree(lambda x, y: (x < y, x >= y, x == y, max(x, y)), Titled("a", 5), Titled("a", 4))
    for held in ("x", b"x", None, Titled("n"), (Titled("n"), ("t", None)), Colour.BLUE, True, 2.5):
        oracle.agree(lambda x: (x.a, x.b, x), Holder(held, "other"))
        oracle.agree(lambda x: (x.a.a, x.a.b, x), Holder(Holder(held)))
    with pytest.raises(TypeError, match="because of its attribute 'a'"):
        njit(lambda x: x.b)(Holder(("t", [1])))


def test_arrays_are_written_where_they_are():
    def scale(p):
        for i in range(p.n):
            p.weights[i] *= 2
        return p.weights

    plain = Plain(3, np.ones(3))
    assert njit(scale)(plain) is plain.weights and list(plain.weights) == [2, 2, 2]


def test_types_of_attributes_make_specialisations():
    function = njit(lambda p: p.x)
    assert type(function(Point(1.0))) is float and type(function(Point(1))) is int
    assert type(function(Point(np.float32(1)))) is np.float32
    assert function(Point(7)) == 7 and function(Plain(1, 2).__class__ and Point(8)) == 8
    assert typeof(Point(1.0)) is typeof(Point(2.0)) and typeof(Point(1.0)) is not typeof(Point(1))
    by_number = njit(lambda p: p.n)
    assert by_number(Plain(1, 2.0)) == 1 and by_number(Plain(2.5, None)) == 2.5


def test_frozen_dataclasses_are_made_and_returned():
    def moved(p, d):
        q = Point(p.x + d, y=p.y)
        r = Point(d)
        return q, r, (q.x + r.y if d > 0 else p.x), p

    result = agree(moved, Point(1.0, 5.0), 2.5)
    assert type(result[0]) is Point
    agree(lambda n: Slotted(np.float32(n), None), 3)


def test_other_dataclasses_are_made_and_read():
    def inner(n):
        g = Grid(None, Point(n), n)
        for i in range(3):
            g = Grid(None, Point(g.origin.x + i), g.step)
        return g.origin.x + g.step + g.scale[1]

    agree(inner, 3)


def test_texts_name_the_class():
    assert re.fullmatch(rf"frozen {__name__}.Point#\d+\(x: float, y: int\)", str(typeof(Point(1.0, 2))))
    assert re.fullmatch(rf"shared {__name__}.Plain#\d+\(int, n: int, weights: None\)", str(typeof(Plain(1, None))))
    assert re.fullmatch(rf"named {__name__}.Pair#\d+\(colour: enum {__name__}.Colour#\d+, at: int\)",
                        str(typeof(Pair(Colour.RED, 3))))
    assert "`p` (an instance of Point) and 1 (int)" in refused(lambda p: p + 1, Point(1.0))


def test_across_calls_and_branches():
    @njit
    def larger(p, q):
        return p if p.x > q.x else q

    agree_with = njit(lambda p, q: larger(p, q).y)
    assert agree_with(Point(1.0, 10.0), Point(2.0, 20.0)) == 20.0
    best = larger(Point(1.0, 10.0), Point(2.0, 20.0))
    assert best == Point(2.0, 20.0) and type(best) is Point


def test_kernels():
    @cuda.jit
    def kernel(grid, point, out):
        i = cuda.grid(1)
        if i < out.size:
            p = Point(point.x, grid.step)
            out[i] = grid.data[i] * grid.scale[1] + p.x + p.y + grid.origin.y
            grid.data[i] = i

    grid, out = Grid(np.ones(4), Point(1.0), 3), np.zeros(4)
    kernel[1, 4](grid, Point(0.5), out)
    assert list(out) == [2.5 + 0.5 + 3 + 2.0] * 4 and list(grid.data) == [0, 1, 2, 3]


class Colour(enum.IntEnum):
    RED = 1
    BLUE = 2


Pair = namedtuple("Pair", "colour at")


def test_named_tuples_and_enumerations_inside():
    pair = Pair(Colour.BLUE, Point(1.0))
    result = agree(lambda p, q: (p, p.colour == Colour.BLUE, q.x.colour, Pair(Colour.RED, q)), pair, Point(pair))
    assert type(result[0]) is Pair and result[2] is Colour.BLUE

    @cuda.jit
    def kernel(p, out):
        out[0] = p.colour + p.at.x if p.colour == Colour.BLUE else -1

    out = np.zeros(1)
    kernel[1, 1](pair, out)
    assert out[0] == 3


@dataclasses.dataclass
class Busy:
    x: int
    made: list = dataclasses.field(default_factory=list)

    def __post_init__(self):
        self.x += 1


@dataclasses.dataclass(frozen=True)
class Odd:
    x: int

    def __init__(self, y):
        object.__setattr__(self, "x", y * 2)


def refused(function, *args, error=TypingError):
    with pytest.raises(error) as caught:
        njit(function)(*args)
    return str(caught.value)


def test_refusals():
    def assigned(p):
        p.x = 3
        return p.x

    assert "attributes of" in refused(assigned, Point(1.0))
    assert "has no attribute `z`" in refused(lambda p: p.z, Point(1.0))
    assert "not compiled" in refused(lambda n: Odd(n).x, 1)
    assert njit(lambda n: Busy(n).x)(1) == 2 and njit(lambda b: b.x)(Busy(1, [1])) == 2
    assert [njit(lambda b: b.x)(Busy(1, made)) for made in ([], {})] == [Busy(1, []).x] * 2
    assert "because of its attribute 'made'" in refused(lambda b: b.x, Busy(1, [1, "x"]), error=TypeError)


# ---- methods ---------------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Line:
    slope: float
    offset: float

    def at(self, x, scale=1.0):
        return self.value(x) * scale

    def value(self, x):
        return self.slope * x + self.offset

    def moved(self, by):
        return Line(self.slope, self.offset + by)


class Steep(Line):
    def value(self, x):
        return 2 * self.slope * x + self.offset


class Both(namedtuple("Both", "a b")):
    def total(self, *more):
        return self.a + self.b + len(more)


def test_methods_of_instances():
    def use(line, x):
        return line.at(x), line.at(x, scale=3.0), line.moved(1.5).value(x)

    for line in (Line(2.0, 0.5), Steep(2.0, 0.5)):
        assert njit(use)(line, 4.0) == use(line, 4.0)


def test_methods_of_namedtuples():
    def use(pair):
        return pair.total() + pair.total(1, 2)

    assert njit(use)(Both(1, 2)) == use(Both(1, 2))


def test_methods_in_kernels():
    @cuda.jit
    def kernel(line, out):
        i = cuda.grid(1)
        out[i] = line.at(float(i))

    out = np.zeros(4)
    kernel[1, 4](Line(2.0, 1.0), out)
    np.testing.assert_array_equal(out, [1, 3, 5, 7])


def test_a_method_that_is_replaced():
    class Counted:
        def __init__(self, n):
            self.n = n

        def value(self):
            return self.n

    compiled = njit(lambda c: c.value())
    assert compiled(Counted(3)) == 3
    Counted.value = lambda self: self.n + 100
    assert compiled(Counted(3)) == 103


def test_a_method_that_is_not_there():
    with pytest.raises(TypingError, match="has no attribute `missing` in compiled code"):
        njit(lambda line: line.missing())(Line(1.0, 2.0))


def test_a_jitclass_is_the_class():
    from krait.experimental import jitclass

    @jitclass([("x", "int64")])
    class Counted:
        def __init__(self, x):
            self.x = x

        def more(self):
            self.x += 1

    @jitclass
    class Held:
        def __init__(self):
            self.counted = Counted(3)

    def use():
        held = Held()
        held.counted.more()
        return held.counted.x

    assert njit(use)() == 4 and Counted(5).x == 5


class Shown:
    def __init__(self, value):
        self.value = value

    def __repr__(self):
        return f"Shown({self.value})"


class Told(Shown):
    def __str__(self):
        return f"<{self.value}>"


class Formatted(Shown):
    def __format__(self, how):
        return f"{self.value}:{how}"


def test_instances_in_texts():
    def texts(n):
        r, s = Shown(n), Told(n)
        percent = "%r and %s" % (r, s), "%r" % (r,)
        return f"{r} {r!r} {s} {s!r} {s!s} {n:>4} {{x}} {n!r}", percent, f"{s!r}{r}", f"{s!r:>12}|{r!s:<9}|{s:}"

    def formats(n):
        y = Formatted(n)
        return format(y, ".2f"), f"{format(y, '>5')}", "{:q}".format(y), f"{n}{y}{y:.2f}|{y!r:>9}{y:>5}{n:>3}{y!s}"

    def raising(n):
        raise ValueError(f"{Shown(n)!r}")

    oracle.agree(texts, 3)
    oracle.agree(formats, 3)
    oracle.agree(raising, 3)


@pytest.mark.parametrize("field", ["{x:>5}", "{x!a}"])
def test_formats_that_a_class_may_answer_itself_are_refused(field):
    text = f"def f(n):\n    x, y = Shown(n), Formatted(n)\n    return f'{field}'\n"
    f = make(text, "f", Shown=Shown, Formatted=Formatted)
    with pytest.raises(UnsupportedError, match="which its class may answer itself(.|\n)*make the text first"):
        njit(f)(3)


@pytest.mark.parametrize("count", [3, 9])
def test_classes_that_all_hold_each_other(count):
    """Nine would be written in each other in a million orders: refused."""
    text = "".join(f"class C{i}:\n    def __init__(self):\n        self.n = {i}\n"
                   + "".join(f"        self.a{k} = None\n" for k in range(count)) for i in range(count))
    text += "def f():\n" + "".join(f"    x{i} = C{i}()\n" for i in range(count))
    text += "".join(f"    x{i}.a{k} = x{k}\n" for i in range(count) for k in range(count))
    f = make(text + f"    return x0.a1.a2.a{count - 1}.n\n", "f")
    if count == 3:
        assert njit(f)() == f()
    else:
        with pytest.raises(TypingError):
            njit(f)()


# ---- the texts of dataclasses ----


@dataclasses.dataclass
class Named:
    name: str
    values: list
    inner: object = None
    place: tuple = (1, "x")


@dataclasses.dataclass(frozen=True)
class Inner:
    k: float
    hidden: int = dataclasses.field(default=3, repr=False)


def test_texts_of_dataclasses():
    def f(k):
        p = Named("it's", [k, 2], Inner(k / 2))
        print_me = f"{p} {p.inner!r} {Inner(0.5)!s:>20}"
        return str(p), repr([p, p]), print_me, repr({1: Inner(1e20)}), repr(Point(1.0))

    oracle.agree(f, 3)


class Noted:
    def __init__(self, number, notes):
        self.number = number
        self.notes = notes

    def __eq__(self, other):
        self.notes.append(10 * self.number + other.number)
        if self.number == 3:
            raise ValueError("three")
        return self.number == other.number


@pytest.mark.parametrize("number", [1, 2, 7])
def test_items_of_a_tuple_are_asked_up_to_the_first_that_is_equal(number):
    def f(n):
        notes = [0]
        x = Noted(n, notes)
        first = x in (Noted(1, notes), Noted(2, notes), Noted(4, notes))
        second = x not in (Noted(7, notes), Noted(1, notes), Noted(2, notes), Noted(3, notes))
        return first, second, notes

    assert njit(f)(number) == f(number)
