"""Values of classes: namedtuples stay what they are, members of enumerations come back as members."""

import collections
import enum
import typing

import numpy as np
import pytest
from oracle import agree, make

from krait import cuda, errors, njit

P = collections.namedtuple("P", "x y", defaults=[7])
Q = collections.namedtuple("Q", "p name_ z")
E = collections.namedtuple("E", "")


class T(typing.NamedTuple):
    a: int
    b: float = 2.5


class Sub(P):
    __slots__ = ()

    @property
    def y(self):
        return -1


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 20


class Other(enum.IntEnum):
    LOW = 1


class Perm(enum.IntFlag):
    R = 4
    W = 2
    X = 1


class Color(enum.Enum):
    RED = "r"
    BLUE = 3


POINT = P(1, 2.5)
LEVEL = Level.HIGH
COLOR = Color.BLUE


def same(function, *args):
    """The compiled function gives what the interpreter gives, down to the classes inside."""
    ours, theirs = njit(function)(*args), function(*args)
    assert_same_classes(ours, theirs)
    return ours


def assert_same_classes(ours, theirs):
    assert type(ours) is type(theirs), (ours, theirs)
    if isinstance(theirs, tuple):
        assert len(ours) == len(theirs)
        for pair in zip(ours, theirs):
            assert_same_classes(*pair)
    elif isinstance(theirs, np.ndarray):
        assert ours is theirs
    elif isinstance(theirs, enum.Enum):
        assert ours is theirs
    else:
        assert ours == theirs


VALUES = [P(1, 2), P(1.5, np.float32(2)), P(np.arange(3), None), Q(P(1, 2), 3, (P(3, 4),)), T(1), E(),
          P(Level.LOW, (1, 2))]  # fmt: skip


@pytest.mark.parametrize("value", VALUES, ids=str)
def test_a_namedtuple_comes_back_as_one(value):
    same(lambda p: p, value)
    same(lambda p: (p, (1, p)), value)
    same(lambda p: tuple(p), value)
    same(lambda: value)
    inner = njit(lambda p: p)
    same(lambda p: inner(p), value)


def fields_of_either(p, there):
    q = None
    for _ in range(2):
        if there:
            q = p
    return q._fields == ("x", "y")


def test_fields_and_items():
    same(lambda p: (p.x, p.y, p[0], p[-1], p[:1], len(p), p.x + p.y), P(3, 4.5))
    same(lambda q: (q.p.x, q.p, q.name_, q.z[0].y, q[0][1]), VALUES[3])
    same(lambda: (POINT.x, POINT, POINT.y * 2))
    same(lambda p: p._fields == ("x", "y"), P(1, 2))
    same(fields_of_either, P(1, 2), True)
    same(lambda p: (p._fields == ("y", "x"), p._fields != ("x", "y")), P(1, 2))

    def unpacked(p):
        x, y = p
        total = 0
        for item in p:
            total += item
        return x, y, total

    same(unpacked, P(1, 2))
    same(lambda p, i: p[i], P(1, 2), 1)
    with pytest.raises(errors.KraitError, match="has no attribute `z`"):
        njit(lambda p: p.z)(P(1, 2))


def test_a_namedtuple_is_made():
    same(lambda x: P(x, 2), 1)
    same(lambda x: P(y=x, x=2.5), 1)
    same(lambda x: (P(x), P(x, y=3), T(x), T(x, 4.5), E()), 1)
    same(lambda x: Q(P(x, 1), x, (T(2),)), 1)
    same(lambda: P(1, 2))
    same(lambda a: P(*a), (1, 2))
    same(lambda p: P(p.y, p.x), P(1, 2.5))

    def swap(p, n):
        for _ in range(n):
            p = P(p.y, p.x)
        return p

    same(swap, P(1, 2), 3)
    same(lambda c: P(1, 2) if c else P(3.5, 4), False)
    for call in (lambda: P(), lambda: P(1, 2, 3), lambda: P(1, z=3), lambda: P(1, x=3)):
        with pytest.raises(errors.KraitError):
            njit(call)()


def test_what_tuples_do_namedtuples_do():
    for other in (P(1, 2), P(1, 3), (1, 2), (0, 5), (1, 2, 3)):
        same(lambda p, q: (p == q, p != q, p < q, p >= q), P(1, 2), other)
    same(lambda p: (p + (3,), p * 2, 1 in p, 5 in p), P(1, 2))
    same(lambda p: isinstance(p, tuple), P(1, 2))
    same(lambda p: bool(p), E())
    same(lambda p: max(p), P(1, 2))


def test_classes_do_not_mix():
    with pytest.raises(errors.TypingError):
        njit(lambda c: P(1, 2) if c else T(1, 2))(True)
    identity = njit(lambda p: p)
    for value in (P(1, 2), (1, 2), T(1, 2.5), (1, 2.5), P(1, 2), (1, 2)):
        assert_same_classes(identity(value), value)
    assert len(identity.signatures) == 4


def test_what_a_subclass_means_by_a_name_is_asked_of_it():
    same(lambda p: (p, p.x, p[1], p.y), Sub(1, 2))


def test_a_namedtuple_in_an_exception():
    def f(p):
        raise ValueError(p, Level.HIGH)

    with pytest.raises(ValueError) as raised:
        njit(f)(P(1, 2))
    assert_same_classes(raised.value.args, (P(1, 2), Level.HIGH))


def test_a_namedtuple_in_a_kernel():
    def body(p, out):
        q = P(p.x, p.y.shape[0])
        i = cuda.grid(1)
        if i < q.y:
            out[i] = p.y[i] * q.x

    def flat(x, y, out):
        body(P(x, y), out)

    out = np.zeros(3)
    cuda.jit(body)[1, 4](P(2.0, np.arange(3.0)), out)
    assert out.tolist() == [0, 2, 4]
    assert "st.global" in cuda.jit(flat).inspect_ptx("void(f8, f8[:], f8[:])", compute_capability=(7, 5))


# ---- enumerations ----


@pytest.mark.parametrize("value", [Level.LOW, Level.HIGH, Other.LOW, Perm.R, Perm.R | Perm.X, Perm(0), Color.RED])
def test_a_member_comes_back_as_itself(value):
    same(lambda m: m, value)
    same(lambda m: (m, (m, 1)), value)
    same(lambda: value)
    inner = njit(lambda m: m)
    same(lambda m: inner(m), value)
    same(lambda m, n: m if n else m, value, 1)


def test_globals_are_members():
    same(lambda: (LEVEL, COLOR, Level.LOW, Color.RED))
    same(lambda c: Level.LOW if c else Level.HIGH, True)
    same(lambda: (LEVEL.value, LEVEL.name == "HIGH", Level.LOW.value, COLOR.value))


def test_arithmetic_with_a_member_gives_ints():
    same(lambda m: (m + 1, m * 2, m - m, -m, +m, abs(m), m // 3, m / 2, m**2, int(m), m.value, m.real), Level.HIGH)
    same(lambda m: (~m, m << 1, m & 3, m | 1, m ^ m), Level.HIGH)
    same(lambda m: (m + 1.5, float(m), bool(m), round(m), divmod(m, 3)), Level.HIGH)
    same(lambda m: (m == 20, m == Level.HIGH, m != Level.LOW, m < 30, m == Other.LOW), Level.HIGH)
    same(lambda m: isinstance(m, int), Level.LOW)
    same(lambda a, m: a[m], np.arange(5), Level.LOW)
    same(lambda m: max(m, Level.LOW), Level.HIGH)
    same(lambda m: sum((m, m)), Level.HIGH)


@pytest.mark.parametrize("scalar", [np.int8, np.uint64, np.float32, np.float64, np.bool_, np.complex64])
def test_a_member_beside_numpy_scalars_is_an_int64(scalar):
    same(lambda m, x: (m + x, x + m, x * m, np.maximum(x, m), x == m, m != x), Level.HIGH, scalar(1))


def test_identity_of_members():
    same(lambda m: (m is Level.HIGH, m is Level.LOW, m is not Level.HIGH, m is Other.LOW), Level.HIGH)
    same(lambda m, n: (m is n, m is not n), Level.LOW, Level.LOW)
    same(lambda m: (m is Color.RED, m == Color.RED, m is not Color.BLUE, m == 3, m == Color.BLUE), Color.BLUE)
    with pytest.raises(errors.KraitError):
        njit(lambda m: m + 1)(Color.BLUE)


def test_flags_stay_flags():
    same(lambda m: (m | Perm.W, m & Perm.R, m ^ Perm.X, m | 1, 2 | m, m & 0, m + 1), Perm.R)
    same(lambda m: ~m, Perm.R)
    same(lambda: (Perm.R | Perm.W, Perm.R & Perm.X))

    def has(m, bit):
        m |= bit
        return m, bool(m & Perm.X)

    same(has, Perm.R, Perm.X)


def test_ints_and_members_are_told_apart():
    identity = njit(lambda m: m)
    for value in (1, Level.LOW, Other.LOW, Perm.X, True, 1, Level.HIGH, 20, Color.RED, Color.BLUE):
        assert_same_classes(identity(value), value)


def test_a_member_in_a_kernel():
    @cuda.jit
    def kernel(level, out):
        if level == Level.HIGH:
            out[0] = level + 1

    out = np.zeros(1, np.int64)
    kernel[1, 1](Level.HIGH, out)
    assert out[0] == 21
    agree(lambda a, m: a[int(m)], np.arange(30), 3)


def test_members_by_name():
    class Shade(enum.Enum):
        DARK = 1
        LIGHT = "l"

    def f(n):
        return Shade["LIGHT"], Shade["DARK"] is Shade.DARK, Level["LOW"], Level["LOW"] + n, Shade["DARK"].name

    agree(f, 3)

    def missing():
        return Shade["GREY"]

    agree(missing)


class Counted:
    made = 0

    def __init__(self):
        Counted.made += 1


class CountedInAList:
    made = [0]

    def __init__(self):
        CountedInAList.made[0] += 1


def test_a_count_of_the_class():
    said = r"attributes of `Counted` cannot(?s:.*)in a list of the class, made = \[0\]"
    with pytest.raises(errors.TypingError, match=said):
        njit(lambda: Counted() is None)()

    def twice():
        CountedInAList()
        CountedInAList()
        return CountedInAList.made[0]

    before = CountedInAList.made[0]
    assert njit(twice)() == before + 2 == CountedInAList.made[0]


def test_what_a_module_may_lack():
    def f(x):
        if hasattr(np, "no_such_root"):
            return np.no_such_root(x)
        return np.sqrt(x) if hasattr(np, "sqrt") else np.linalg.no_such_root.of(x)

    same(f, 4.0)
    with pytest.raises(errors.TypingError, match="module numpy has no attribute 'sqrtt'(?s:.*)did you mean 'sqrt'"):
        njit(lambda x: np.sqrtt(x))(1.0)


def test_attributes_by_name():
    def f(p, z):
        return getattr(p, "x"), getattr(z, "imag"), getattr(p, "w", 7), hasattr(p, "y"), hasattr(p, "w")

    same(f, P(1, 2.5), 1 + 2j)

    def by_type(x):
        return x.shape[0] if hasattr(x, "shape") else -1

    agree(by_type, np.zeros(3))
    agree(by_type, 5)

    def sized(x):
        return getattr(x, "size", 1)

    agree(sized, np.zeros((3, 2)))
    agree(sized, 5)

    def called(x):
        return getattr(x, "sum")()

    with pytest.raises(errors.UnsupportedError, match=r"x\.sum\(\.\.\.\)"):
        njit(called)(np.zeros(3))


class Vector(typing.NamedTuple):
    """Its operators are not those of a tuple."""

    x: float
    y: float

    def __add__(self, other):
        return Vector(self.x + other.x, self.y + other.y)

    def __eq__(self, other):
        return abs(self.x - other.x) < 1

    def __bool__(self):
        return self.x > 0

    def __len__(self):
        return 7

    def __contains__(self, value):
        return True

    def __getitem__(self, i):
        return 42

    def plus(self, other):
        return Vector(self.x + other.x, self.y + other.y)


@pytest.mark.parametrize("expression", ["(a + b).x", "a == b", "a != b", "1 if a else 0", "not a", "len(a)", "3.0 in a",
                                        "a[0]", "a in [b]"])  # fmt: skip
def test_operators_of_a_named_tuple_are_not_those_of_tuples(expression):
    f = make(f"def f(a, b):\n    return {expression}", "f")
    a, b = Vector(1.0, 2.0), Vector(3.0, 4.0)
    assert njit(f)(a, b) == f(a, b)


def test_fields_and_methods_of_such_a_named_tuple():
    a, b = Vector(1.0, 2.0), Vector(3.0, 4.0)
    result = njit(lambda a, b: a.plus(b))(a, b)
    assert type(result) is Vector and (result.x, result.y) == (4.0, 6.0)
    assert njit(lambda a, b: a.x * b.y)(a, b) == 4.0


@pytest.mark.parametrize("text", [
    "[Level.LOW, x]", "[c for c in (x, Level.LOW)]", "{x: Level.LOW}", "{x, Level.LOW}", "sorted((Level.HIGH, x))",
    "max([x, Level.LOW])", "{x: 1}[20]", "{20: 1}[x]", "20 in {x}", "x in [20]", "sum([x, Level.LOW])",
    "[x, Level.LOW].index(1)", "np.array([x, Level.LOW]) + 1", "np.sum([x, Level.LOW])", "[x] + [Level.LOW]",
    "[y + 1 for y in [x]]", "'%d' % [x][0]", "[0, 7][[Level.LOW][0]]"])  # fmt: skip
def test_members_of_an_enumeration_stay_members_in_containers(text):
    f = make(f"def f(x):\n    return {text}", "f", Level=Level, np=np)
    ours, theirs = njit(f)(LEVEL), f(LEVEL)
    assert repr(ours) == repr(theirs)
