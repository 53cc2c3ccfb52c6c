"""Members of enumerations in compiled functions: chosen at run time, kept, passed, returned; what they have; their
classes; flags; kernels."""

import enum
from dataclasses import dataclass
from enum import Enum, Flag, IntEnum, IntFlag, StrEnum, auto
from typing import NamedTuple, Optional

import numpy as np
import pytest
from oracle import agree

from krait import cuda, errors, njit


class Color(Enum):
    RED = 1
    GREEN = 2
    BLUE = 3
    CRIMSON = 1


class State(Enum):
    IDLE = auto()
    RUN = auto()
    DONE = auto()


class Direction(Enum):
    N = (0, 1)
    E = (1, 0)
    S = (0, -1)
    W = (-1, 0)

    @property
    def dx(self):
        return self.value[0]

    def turned(self):
        around = [Direction.N, Direction.E, Direction.S, Direction.W]
        return around[(around.index(self) + 1) % 4]


class Planet(Enum):
    EARTH = (5.97e24, 6.37e6)
    MARS = (6.4e23, 3.39e6)

    def __init__(self, mass, radius):
        self.mass = mass
        self.radius = radius

    @property
    def gravity(self):
        return 6.67e-11 * self.mass / (self.radius * self.radius)


class Suit(Enum):
    CLUBS = "c"
    DIAMONDS = "d"

    def __str__(self):
        return self.value + "!"

    def __lt__(self, other):
        return self.value < other.value

    @classmethod
    def first(cls):
        return cls.CLUBS

    @staticmethod
    def two():
        return 2


class Op(Enum):
    ADD = "+"
    SUB = "-"
    MUL = "*"

    def apply(self, a, b):
        if self is Op.ADD:
            return a + b
        if self is Op.SUB:
            return a - b
        return a * b


class Mixed(Enum):
    NUMBER = 1
    TEXT = "x"


class Access(Flag):
    READ = auto()
    WRITE = auto()
    RUN = auto()
    BOTH = READ | WRITE


class Strict(Flag, boundary=enum.STRICT):
    A = 1
    B = 2


class Bits(IntFlag):
    A = 1
    B = 2
    C = 4


class Level(IntEnum):
    LOW = 1
    MID = 5
    HIGH = 10

    def doubled(self):
        return self * 2

    @property
    def label(self):
        return self.name.lower()


class Mode(str, Enum):
    FAST = "fast"
    SLOW = "slow"


class Word(StrEnum):
    YES = "yes"
    NO = "no"


class Factor(float, Enum):
    HALF = 0.5
    MORE = 2.5


class Same(Enum):
    A = 1
    B = 2

    def __eq__(self, other):
        return True

    def __hash__(self):
        return 1


class Pixel(NamedTuple):
    x: int
    color: Color


@dataclass(frozen=True)
class Card:
    suit: Suit
    rank: int


@dataclass
class Piece:
    kind: Color
    place: tuple
    side: Optional[Color] = None


class Machine:
    def __init__(self):
        self.state = State.IDLE

    def step(self, x):
        if self.state is State.IDLE and x > 0:
            self.state = State.RUN
        elif self.state is State.RUN and x < 0:
            self.state = State.DONE


START = Color.BLUE


# ---- chosen when the code runs ----


def choose(k):
    c = Color.RED if k else Color.BLUE
    return c, c.name, c.value + 1, c is Color.RED, c == Color.BLUE, c != Color.RED, c in (Color.RED, Color.GREEN)


def compare_with_others(c):
    return c == 1, c != "x", c is None, c == "RED", c is State.IDLE, c == State.IDLE, c in [Color.RED]


def maybe(k):
    c = Color.RED if k else None
    return c, c is None, c is Color.RED, c == Color.RED, c is Color.BLUE, c != Color.RED, "-" if c is None else c.name


def machine(n):
    state, rounds = State.IDLE, 0
    while state is not State.DONE:
        if state is State.IDLE:
            state = State.RUN
        elif state is State.RUN:
            rounds += 1
            if rounds >= n:
                state = State.DONE
    return state, rounds


def transitions(n):
    table = {(Color.RED, 0): Color.GREEN, (Color.GREEN, 0): Color.BLUE, (Color.BLUE, 0): Color.RED,
             (Color.RED, 1): Color.RED, (Color.GREEN, 1): Color.RED, (Color.BLUE, 1): Color.BLUE}  # fmt: skip
    c = Color.RED
    for i in range(n):
        c = table[(c, i % 2)]
    return c


def attribute(xs):
    m = Machine()
    for x in xs:
        m.step(x)
    return m.state


def matched(k):
    found = []
    for c in Color:
        match c:
            case Color.RED:
                found.append("r")
            case Color.GREEN | Color.BLUE:
                found.append("gb")
    match (k, Color(1)):
        case (2, Color.RED):
            found.append("two")
    return found


def flipped(c, n):
    return c if n == 0 else flipped(Color.BLUE if c is Color.RED else Color.RED, n - 1)


def captured(k, c=Color.GREEN):
    return START if k else c, c.name, isinstance(c, Color), isinstance(c, Enum), type(c) is Color


def texts(k):
    c = Color(k)
    return f"{c!r:>20}|{c.name:<8}|{c}", str(c), repr(c), hash(c) == hash(Color.GREEN)


@pytest.mark.parametrize("f, args", [
    (choose, (1,)), (choose, (0,)), (compare_with_others, (Color.RED,)), (maybe, (1,)), (maybe, (0,)), (machine, (4,)),
    (transitions, (5,)), (attribute, ([1, 0, -1],)), (matched, (2,)), (flipped, (Color.RED, 3)), (captured, (1,)),
    (texts, (2,)),
])  # fmt: skip
def test_members_chosen_at_run_time(f, args):
    agree(f, *args)


# ---- in containers, passed and returned ----


def in_lists(cs):
    cs.append(Color.GREEN)
    return len(cs), cs[1], cs.index(Color.BLUE), cs.count(Color.RED), Color.GREEN in cs, sorted(cs,
        key=lambda c: c.value)


def in_dicts(d):
    d[Color.GREEN] = [3]
    d[Color.BLUE].append(4)
    return sorted([k.value for k in d]), Color.GREEN in d, d.pop(Color.RED), {c: 0 for c in Color}, d


def in_sets(s):
    s.add(Color.GREEN)
    s.discard(Color.RED)
    return len(s), Color.RED in s, Color.BLUE in s


def in_tuples(t):
    a, b = t
    return b, a, t == (Color.RED, Color.BLUE), t[0] is Color.RED, (a, 1) if len(t) > 1 else (b, 2), (a, b, a)[len(t)]


def counted(a):
    n = {c: 0 for c in Color}
    for v in a:
        n[Color(v)] += 1
    return n


def in_instances(pieces):
    n = 0
    for p in pieces:
        if p.kind is Color.RED:
            n += 1
            p.kind = Color.GREEN
        if p.side is None:
            p.side = Color.BLUE
        elif p.side is Color.RED:
            p.side = None
        elif p.side == Color.BLUE:
            n += 10
    return n, [p.kind for p in pieces]


def in_classes_of_data(pixels, card):
    p = pixels[0]
    return p.color.name, p, card.suit, card == Card(Suit.CLUBS, 3), Card(Suit.DIAMONDS, 4)


@pytest.mark.parametrize("f, args", [
    (in_lists, ([Color.RED, Color.BLUE],)), (in_dicts, ({Color.RED: [1, 2], Color.BLUE: []},)),
    (in_sets, ({Color.RED, Color.BLUE},)), (in_tuples, ((Color.RED, Color.BLUE),)), (counted, (np.array([1, 2, 3,
        1]),)),
    (in_instances, ([Piece(Color.RED, (0, 1)), Piece(Color.BLUE, (1, 1), Color.RED)],)),
    (in_classes_of_data, ([Pixel(1, Color.RED)], Card(Suit.CLUBS, 3))),
])  # fmt: skip
def test_members_in_containers(f, args):
    agree(f, *args)


def test_one_specialisation_for_all_members():
    f = njit(lambda c: c.value)
    assert [f(c) for c in Color] == [1, 2, 3]
    assert len(f.signatures) == 1
    assert f(Color.RED) == 1 and njit(lambda c: c)(Color.CRIMSON) is Color.RED


# ---- what members have ----


def own_methods(s):
    return (str(s), f"{s}", Suit.first(), s.first(), Suit.two(), s.two(), Suit.CLUBS < s, s < Suit.CLUBS,
            sorted([Suit.DIAMONDS, Suit.CLUBS]))  # fmt: skip


def walked(n):
    d, x, y = Direction.N, 0, 0
    for _ in range(n):
        dx, dy = d.value
        x, y, d = x + dx, y + dy, d.turned()
    return x, y, d, d.dx, [d.dx for d in Direction], Direction((0, -1))


def planets(p):
    return [q.gravity for q in Planet], p.mass, p.gravity, Planet.EARTH.mass


def applied(text):
    return [op.apply(6, 3) for op in Op], Op(text).apply(1, 2)


def int_members(p, k):
    return (p.doubled(), p.label, p.name, p.value, p.real, p > Level.LOW, p + 1, Level(k).name, Level["LOW"],
            [x.name for x in Level], {Level.LOW: 1}[Level.LOW], min([Level.HIGH, p]))  # fmt: skip


def text_members(s, k):
    m = Mode.FAST if k else Mode.SLOW
    return (s.upper(), s + "x", s == "slow", s.value, len(s), s is Mode.SLOW, s in ("a", "slow"), s.startswith("s"), m,
            m == "fast", {"fast": 1}.get(m, 0), [c for c in m], m[0], m.title(), m < s, Word("no"),
            Word.YES + "!")  # fmt: skip


def float_members(f):
    return f + 1, f * 2, f > Factor.HALF, f.value, float(f), f == 2.5, f.name


def different_values(m):
    if m is Mixed.NUMBER:
        return str(Mixed.NUMBER.value + 1)
    return Mixed.TEXT.value + m.name


@pytest.mark.parametrize("f, args", [
    (own_methods, (Suit.DIAMONDS,)), (walked, (2,)), (planets, (Planet.MARS,)), (applied, ("-",)), (applied, ("?",)),
    (int_members, (Level.MID, 10)), (int_members, (Level.MID, 7)), (text_members, (Mode.SLOW, 1)),
    (float_members, (Factor.MORE,)), (different_values, (Mixed.NUMBER,)), (different_values, (Mixed.TEXT,)),
    (lambda a: (a == Same.B, a != Same.B, a is Same.B), (Same.A,)),
])  # fmt: skip
def test_what_members_have(f, args):
    agree(f, *args)


def test_values_without_a_common_type():
    with pytest.raises(errors.TypingError, match="`value` of the members of .*Mixed has no common type"):
        njit(lambda m: m.value)(Mixed.TEXT)


# ---- classes ----


def by_value(k):
    return Color(k), Color(k) is Color.CRIMSON, Color(Color.RED)


def by_name(name):
    return Color[name]


def caught(k, name):
    try:
        Color(k)
    except ValueError as e:
        first = str(e)
    try:
        Color[name]
    except KeyError as e:
        return first, str(e)
    return first, ""


def whole():
    every = [*Color]
    a, b, c = Color
    return (len(Color), [m for m in Color], [(i, m) for i, m in enumerate(Color)], list(Color), tuple(Color), (*Color,),
            every, dict(zip(Color, "abc")), list(reversed(Color)), sum(m.value for m in Color),
            {m.name: m for m in Color},
            any(m is Color.BLUE for m in Color), next(m for m in Color if m.value > 1), c,
            list(map(lambda m: m.value, Color)),
            Color.RED in Color, max(every, key=lambda m: m.value))  # fmt: skip


@pytest.mark.parametrize("f, args", [
    (by_value, (1,)), (by_value, (9,)), (by_name, ("GREEN",)), (by_name, ("CRIMSON",)), (by_name, ("PINK",)),
    (caught, (7, "X")), (whole, ()),
])  # fmt: skip
def test_classes(f, args):
    agree(f, *args)


# ---- flags ----


def flags(a):
    return (a.name, a.value, Access.READ in a, Access.WRITE not in a, bool(a), 1 if a & Access.WRITE else 0,
        a | Access.WRITE,
            a & Access.WRITE, (a & Access.WRITE).name, a ^ Access.READ, ~a, Access.BOTH.name,
            (Access.READ | Access.RUN).name,
            [m for m in Access], a == Access.READ | Access.RUN, Access(0), Access(6), Access(9), {a: 1})  # fmt: skip


def collected(n):
    a = Access.READ
    for i in range(n):
        if i % 2:
            a |= Access.WRITE
        else:
            a ^= Access.RUN
    return a, "w" if a & Access.WRITE else "-"


def bits(b, k):
    return b.name, b.value, b | Bits.B, ~b, b & 1, b ^ Bits.A, bool(b), Bits.A in b, Bits.B in b, Bits(k), b & ~Bits.A


@pytest.mark.parametrize("f, args", [
    (flags, (Access.READ | Access.RUN,)), (flags, (Access.BOTH,)), (collected, (0,)), (collected, (3,)),
    (bits, (Bits.A | Bits.C, 5)), (lambda k: (Strict(k), Strict.A | Strict(k)), (3,)),
    (lambda k: Strict(k), (8,)), (lambda k: (Strict(k), ~Strict(k)), (-2,)),
])  # fmt: skip
def test_flags(f, args):
    agree(f, *args)


# ---- kernels ----


@pytest.mark.parametrize("member, expected", [(Color.RED, 10), (Color.BLUE, 30)])
def test_kernels(member, expected):
    @cuda.jit
    def kernel(c, out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = 10 if c is Color.RED else c.value * 10
            if c == START:
                out[i] += Level.LOW

    out = np.zeros(4, np.int64)
    kernel[1, 4](member, out)
    assert out.tolist() == [expected + (member is START)] * 4


class OneFloor(enum.IntEnum):
    LOW = 1


class OneAccess(enum.IntFlag):
    READ = 1


@pytest.mark.parametrize("member", [OneFloor.LOW, OneAccess.READ])
def test_names_that_are_almost_those_of_a_member(member):
    for name in ("_value", "_valueX", "value_", "_nameX", "_name", "_value__"):
        names = {}
        exec(f"def has(m): return hasattr(m, {name!r})\ndef get(m): return m.{name}", names)
        assert njit(names["has"])(member) is names["has"](member) is False
        with pytest.raises(Exception, match="has no attribute"):
            njit(names["get"])(member)
    assert njit(lambda m: (m._value_, m._name_, m.value, m.name))(member) == (1, member.name, 1, member.name)
