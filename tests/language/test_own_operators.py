"""Classes of the user's that derive from numbers, texts, containers and enumerations: where they answer for themselves,
compiled code refuses; where it takes their values, it gives what the interpreter gives."""

import enum

import numpy as np
import pytest
from oracle import agree, agree_all, make

from krait import errors, njit

class Sum(int):
    def __add__(self, other):
        return 100


class Real(float):
    def __bool__(self):
        return False


class Wide(complex):
    def __abs__(self):
        return 7.0


class Text(str):
    def __len__(self):
        return 100

    __hash__ = str.__hash__


class Upper(str):
    def upper(self):
        return "no"


class Long(list):
    def __getitem__(self, i):
        return 42


class Grown(list):
    def append(self, value):
        super().extend([value, value])


class Pair(tuple):
    def __add__(self, other):
        return 5


class Default(dict):
    def __missing__(self, key):
        return 7


class All(set):
    def __contains__(self, value):
        return True


class Later:
    """Python asks it for what str lacks, though str comes first."""

    def __bool__(self):
        return False


class Mixed(str, Later):
    pass


VALUES = [
    ("v + 1", Sum(1)), ("1 if v else 0", Real(1)), ("abs(v)", Wide(1)), ("len(v)", Text("b")),
    ("v.upper()", Upper("b")),
    ("v[0]", Long([1])), ("v.append(1)", Grown([1])), ("v + (1,)", Pair((1,))), ("v[5]", Default({1: 2})),
    ("5 in v", All([1])), ("1 if v else 0", Mixed("a")),
]


@pytest.mark.parametrize("expression, value", VALUES, ids=lambda v: v if isinstance(v, str) else type(v).__name__)
def test_values_of_classes_with_operators_of_their_own(expression, value):
    f = njit(make(f"def f(v):\n    return {expression}", "f"))
    plain = type(value).__mro__[1]
    if plain is not dict:
        f(plain(value))  # a specialisation that would fit
    with pytest.raises(TypeError, match=f"a plain {plain.__name__}: its class has its own "):
        f(value)
    with pytest.raises(TypeError, match="its own"):
        njit(make(f"def f(t):\n    v = t[0]\n    return {expression}", "f"))((value,))
    with pytest.raises(errors.KraitError, match="its own|cannot be used in compiled code"):
        njit(make("def f():\n    return V", "f", V=value))()


class Plain(int):
    """Has nothing but an attribute and a method of its own."""

    unit = "m"

    def __init__(self, *args):
        self.note = "x"

    def double(self):
        return self + self


def test_a_subclass_that_changes_nothing_is_taken():
    assert njit(lambda v: v + 1)(Plain(3)) == 4
    assert njit(lambda v: v + 1)(True) == 2
    with pytest.raises(errors.KraitError, match="class of .* is not known"):
        njit(lambda v: isinstance(v, Plain))(Plain(3))
    assert njit(lambda v: isinstance(v, int))(Plain(3)) is True
    assert njit(lambda v: isinstance(v, bool))(3) is False


class Strange(enum.IntEnum):
    A = 1
    B = 2

    def __add__(self, other):
        return 100

    def __radd__(self, other):
        return 200

    def __bool__(self):
        return False

    def __eq__(self, other):
        return True

    def __gt__(self, other):
        return True

    def __abs__(self):
        return 9

    def __index__(self):
        return 0

    __hash__ = int.__hash__


class Odd(enum.Enum):
    A = 0
    B = 2

    def __eq__(self, other):
        return True

    __hash__ = enum.Enum.__hash__


@pytest.mark.parametrize("expression", [
    "x + 1", "1 + x", "x == y", "3 == x", "1 if x else 0", "not x", "3 < x", "x in (1, 2)", "abs(x)", "bool(x)",
    "x is y", "x is x",
])
def test_operators_of_enumerations(expression):
    agree(make(f"def f(x, y):\n    return {expression}", "f"), Strange.A, Strange.B)


@pytest.mark.parametrize("expression", ["(5, 6, 7)[x]", "max(x, y)"])
def test_operators_of_enumerations_that_are_refused(expression):
    f = make(f"def f(x, y):\n    return {expression}", "f")
    with pytest.raises(errors.KraitError, match="itself, which compiled code does not call"):
        njit(f)(Strange.A, Strange.B)


def test_comparison_of_members_that_compare_themselves():
    agree(lambda x, y: (x == y, x != y, x == 3), Odd.A, Odd.B)
    assert njit(lambda x, y: x is y)(Odd.A, Odd.B) is False


class Mode(str, enum.Enum):
    FAST = "fast"
    SLOW = "slow"


class Name(enum.StrEnum):
    FAST = "fast"


class Factor(float, enum.Enum):
    HALF = 0.5
    ONE = 1.0


@pytest.mark.parametrize("kind", [Mode, Name, Factor])
@pytest.mark.parametrize("expression", [
    "x", "str(x)", "f'{x}'", "repr(x)", "x is M", "x == M", "x == 'fast'", "x == 0.5", "x != M", "isinstance(x, K)",
    "type(x) is K", "(x, M)", "'%s' % x", "'{}'.format(x)", "1 if x else 0", "x + x", "x in (M, 3)", "not x", "x <= M",
    "x == 'slow'", "x if x == M else None",
])
def test_members_that_are_texts_or_floats(kind, expression):
    member = next(iter(kind))
    f = make(f"def f(x):\n    return {expression}", "f", K=kind, M=member)
    try:
        result = njit(f)(member)
    except errors.KraitError:
        assert expression in ("x + x", "x <= M", "x == 'fast'", "x == 'slow'", "x == 0.5", "x in (M, 3)"), "refused"
        return
    expected = f(member)
    assert type(result) is type(expected) and result == expected


def test_a_member_selects_as_its_text_does():
    @njit
    def f(a, mode):
        if mode == "fast":
            return a.sum()
        return a.max()

    a = np.arange(4.0)
    assert f(a, Mode.FAST) == f(a, "fast") == 6.0
    assert f(a, Mode.SLOW) == f(a, "slow") == 3.0
    assert njit(lambda x: np.sqrt(x) + np.zeros(2))(Factor.ONE).tolist() == [1.0, 1.0]


# ---- tuples are compared from the first item on, and nothing is asked of what stands behind the first that differ ----

TOLD = """
from dataclasses import dataclass, field
import heapq

class Told:
    def __init__(self, v, log): self.v = v; self.log = log
    def __eq__(self, other): self.log.append(self.v); return self.v == other.v
    def __lt__(self, other): self.log.append(-self.v); return self.v < other.v
    def __ge__(self, other): self.log.append(100 + self.v); return self.v >= other.v

class Plain:
    def __init__(self, v): self.v = v

@dataclass
class Person:
    id: int
    known: list = field(default_factory=list)

def pair(n):
    p, q = Person(1), Person(n)
    p.known.append(q)
    q.known.append(p)
    return p, q

def given(n, c):
    x = n
    if c:
        x = None
    return x
"""


@pytest.mark.parametrize(
    "body, calls",
    [
        (
            "log = [0]\n    a = Told(1, log), Told(2, log), Told(3, log)\n"
            "    b = Told(1, log), Told(n, log), Told(3, log)\n"
            "    return a == b, a != b, a < b, a >= b, a[:2] < b, log",
            [(2,), (5,), (1,)],
        ),
        ("p, q = pair(n)\n    return p == q, p != q, p in [q], q in [q], p not in [q]", [(2,), (0,)]),
        (
            "a, b = given(1, n), given(2, n)\n"
            "    return (1, a) < (2, b), (1, a) == (1, b), (n, a) <= (1, a), (a,) == (b,), (3, a) > (2, b), "
            "(1, a) < (1, a)",
            [(0,), (1,)],
        ),
        ("return (1, given(1, n)) < (1, given(2, n))", [(0,), (1,)]),
        ("return (1, None) < (n, None), (n, None) == (2, None)", [(2,), (0,)]),
        ("return (1, None) < (n, 3)", [(2,), (1,)]),
        (
            "heap = []\n    for i in range(n):\n        heapq.heappush(heap, (i % 3, i, Plain(i)))\n"
            "    return [heapq.heappop(heap)[2].v for _ in range(n)]",
            [(7,)],
        ),
        (
            "heap = []\n    for i in range(n):\n        heapq.heappush(heap, (i % 3, Plain(i)))\n    return len(heap)",
            [(3,), (7,)],
        ),
        (
            "items = [(i % 3, i, given(i, i % 2)) for i in range(n)]\n    items.sort(reverse=True)\n"
            "    return items, min(items), sorted(items)",
            [(6,)],
        ),
    ],
)
def test_tuples_are_compared_in_turn(body, calls):
    agree_all(make(TOLD + f"\ndef f(n):\n    {body}"), calls)


class Denies:
    """Not even equal to itself."""

    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        return False

    def __lt__(self, other):
        return False


def test_what_is_one_object_is_equal_in_tuples():
    def missing(v):
        record = (v, None)
        other = record
        return (v, None) == (v, None), (v, None) != (v, None), (0, record) == (0, other)

    def denied(v):
        d, e = Denies(v), Denies(v)
        return (1, d) == (1, d), (1, d) == (1, e), (d, 1) < (d, 2), (1, d, 3) < (1, d, 4), (1, d) != (1, d)

    for function in (missing, denied):
        for v in (float("nan"), 1.5):
            assert njit(function)(v) == function(v)


def test_what_is_one_object_decides_nothing():
    def beside_lists(x):
        held = [1]
        kept = (x, held)
        whole = (x, held) == (x, held), (x, held) != (x, held), (x, held) < (x, held), (x, None) >= (x, None)
        parts = ((x, held), 1) == ((x, held), 1), ((x, held), 1) >= ((x, [1]), 1), ((x, [0]), x) < ((x, held), 1)
        return whole, parts, kept == (x, held), (x, held) <= kept, x in (1.0, x), x not in (x, 2.0)

    def of_other_lengths(x):
        return (1, [2], x) < (1, [2], x, 5), (1, [2], x) >= (1, [3]), (x, [2]) > (x,), (x, None) == (x, None, 1)

    for function in (beside_lists, of_other_lengths):
        for x in (float("nan"), 1.5):
            assert njit(function)(x) == function(x)

    def arrays(a):
        return (1, a) == (1, a), (a, 1) < (a, 2), (a, 1) != (a, 1), ((a, a), 1.5) >= ((a, a), 1.5)

    assert njit(arrays)(np.arange(3.0)) == arrays(np.arange(3.0))


def test_None_among_others_has_no_order():
    def order(x, y):
        return (x, None) < (y, 1)

    assert njit(order)(1, 2) is order(1, 2)
    told = []
    for function in (order, njit(order)):
        with pytest.raises(TypeError) as caught:
            function(1, 1)
        told.append(str(caught.value))
    assert told[0] == told[1]


RUNS = [
    ((1, 2.5, "a", [1], 3, 4.5), (1, 2.5, "a", [1], 3, 5.5)),
    ((1, 2.5, "a", [1], 3, 4.5), (1, 3.5, "a", [1], 3, 4.5)),
    ((1, 2.5, "b", [1], 3, 4.5), (1, 2.5, "a", [2], 3, 4.5)),
    ((1, 2.5, "a", [3], 3, 4.5), (1, 2.5, "a", [2], 3, 4.5)),
    ((1, 2.5, "a", [1], 3, 4.5), (1, 2.5, "a", [1], 3, 4.5)),
    ((1, float("nan"), "a", [1], 3, 4.5), (1, 2.5, "a", [1], 3, 4.5)),
    ((1, 2.5, "a", [1], 3, float("nan")), (1, 2.5, "a", [1], 3, 4.5)),
    ((np.float32(1), 2, [1], np.int8(3), 4), (np.float32(2), 2, [1], np.int8(3), 4)),
    ((np.float32(1), 2, [1], np.int8(3), 4), (np.float32(1), 2, [1], np.int8(4), 4)),
]


@pytest.mark.parametrize("a, b", RUNS, ids=str)
def test_runs_of_numbers_between_others(a, b):
    def compared(a, b):
        return a < b, a <= b, a == b, a != b, a > b, a >= b

    agree_all(compared, [(a, b), (b, a)])


def test_long_tuples_with_one_item_of_another_kind_stay_short():
    def compared(a, b):
        return a == b, a < b

    def length(n):
        function = njit(compared)
        numbers = tuple(range(n))
        assert function((*numbers, [1], *numbers), (*numbers, [2], *numbers)) == (False, True)
        (text,) = function.inspect_llvm().values()
        return len(text)

    assert length(60) < 2.5 * length(30)


class Countdown:
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        return self

    def __next__(self):
        if self.n == 0:
            raise StopIteration
        self.n -= 1
        return self.n


class Bag:
    def __init__(self, items):
        self.items = items

    def __iter__(self):
        return iter(self.items)


class Letters:
    def __getitem__(self, i):
        if i > 2:
            raise IndexError(i)
        return "abc"[i]


def test_next_and_unpacking_of_instances():
    def taken(n):
        c = Countdown(n)
        return next(c), next(c, -1), next(c, -2), c.n

    def unpacked(n):
        a, b, c = Countdown(n)
        x, *rest = Bag([n, 2, 3])
        first, second, third = Letters()
        *most, last = Countdown(n + 2)
        return a, b, c, x, rest, first + second + third, most, last

    agree_all(taken, [(1,), (2,), (5,)])
    agree_all(unpacked, [(2,), (3,), (4,)])
    agree_all(taken, [(0,)])


def test_what_next_is_told_of_an_instance_without_it():
    def taken(n):
        return next(Bag([n]))

    def of_none(n):
        return next(Denies(n))

    for function, hint in (taken, "iter(x) gives one"), (of_none, "its class has no method __next__, which gives the"):
        with pytest.raises(errors.TypingError, match="is not an iterator") as caught:
            njit(function)(1)
        assert hint in str(caught.value)
