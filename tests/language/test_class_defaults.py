"""What a class has under the name of an attribute: an instance has it only once something assigns it, as in Python."""

import dataclasses

import pytest
from oracle import agree

from krait import njit
from krait.errors import KraitError


class Counter:
    n = 0

    def __init__(self, b):
        self.b = b

    def bump(self):
        self.n += 1

    def mark(self, other):
        other.tag = "x"
        Counter.total = 3  # of the class


class Lazy:
    items = None

    def add(self, x):
        if self.items is None:
            self.items = [x]
        else:
            self.items.append(x)


@dataclasses.dataclass
class Rate:
    lr: float = 0.1
    name: str = "sgd"


class Base:
    kind = "base"
    w = 1.5
    tag = None

    def __init__(self, w):
        self.w = w
        self.reset()

    def reset(self):
        self.total = 0


class Derived(Base):
    kind = "derived"

    def __init__(self, w, tag):
        super().__init__(w)
        self.tag = tag

    def rename(self, kind):
        self.kind = kind


class Sometimes:
    n = 0.5

    def __init__(self, v):
        if v > 1:
            self.n = v


class Early:
    n = 0.5

    def __init__(self, v):
        self.seen = self.n
        self.n = v


def alike(function, *args):
    """Results and the attributes of the instances among them."""
    wanted, given = function(*args), njit(function)(*args)
    for a, b in zip(wanted, given, strict=True):
        if hasattr(a, "__dict__"):
            assert vars(a) == vars(b) and type(a) is type(b)
            assert {k: type(v) for k, v in vars(a).items()} == {k: type(v) for k, v in vars(b).items()}
        else:
            assert (type(a), a) == (type(b), b)


def test_an_instance_has_what_was_assigned():
    def made(times):
        first, second = Counter(1.0), Counter(2)
        for _ in range(times):
            first.bump()
        return first, second, first.n, second.n, hasattr(second, "n")

    for times in range(3):
        alike(made, times)


def test_an_instance_that_is_passed_keeps_what_it_has():
    def passed(c, bumps):
        c.b += 1.0
        if bumps:
            c.bump()
        return c.n

    for bumps in (False, True):
        one, other = Counter(2.0), Counter(2.0)
        assert passed(one, bumps) == njit(passed)(other, bumps)
        assert vars(one) == vars(other)


def test_the_same_value_assigned_is_its_own():
    @njit
    def zero(c):
        c.n = 0

    c = Counter(2.0)
    zero(c)
    assert vars(c) == {"b": 2.0, "n": 0}


def test_lazily():
    def lists(k):
        a, b = Lazy(), Lazy()
        if k:
            a.add(k)
            a.add(2)
        return a, b, a.items is None, b.items is None

    alike(lists, 0)
    alike(lists, 5)


def test_a_later_change_of_the_class_is_seen():
    make, read = njit(lambda: Counter(1.0)), njit(lambda c: c.n)
    c = make()
    try:
        Counter.n = 50
        assert c.n == 50 and read(c) == 50 and read(make()) == 50 and vars(c) == {"b": 1.0}
    finally:
        Counter.n = 0
    assert read(c) == 0


def test_a_default_that_is_never_seen_has_no_say_in_the_type():
    agree(lambda: (f"{Rate(2).lr} {Rate(2).lr // 2} {Rate().lr} {Rate(name='adam').name}", Rate(3).lr))

    def derived(a):
        x, y = Base(a), Derived(a, 2)
        y.rename("new")
        return f"{x.w} {y.w} {y.tag} {x.tag} {x.kind} {y.kind}", x, y

    alike(derived, 3)
    alike(derived, 0.25)


@pytest.mark.parametrize("value", [0.25, 2.5])
def test_where_it_may_be_unset(value):
    def read(v):
        s = Sometimes(v)
        return s.n, hasattr(s, "n"), getattr(s, "n", 7.5), s

    alike(read, value)
    alike(lambda v: (Early(v).seen, Early(v).n), value)


def test_instances_that_differ_in_it():
    def texts(xs):
        return "".join([f"{x.n} " for x in xs])

    xs = [Sometimes(0.0), Sometimes(2.5)]
    assert njit(texts)(xs) == texts(xs)
    assert [vars(x) for x in xs] == [{}, {"n": 2.5}]


def test_containers_of_the_class_are_shared():
    class Log:
        lines = ["begin"]

        def clear(self):
            self.lines = []

    def write(log, clears):
        if clears:
            log.clear()
        log.lines.append("x")
        return log

    for clears in (False, True):
        a, b = Log(), Log()
        write(a, clears)
        shared, Log.lines = Log.lines, ["begin"]
        njit(write)(b, clears)
        assert vars(a) == vars(b) and Log.lines == shared
        Log.lines = ["begin"]


def test_an_int_where_another_call_had_a_float():
    class Point:
        def __init__(self, x):
            self.x = x

    read = njit(lambda p: f"{p.x}")
    assert [read(Point(x)) for x in (0.5, 3, 0.25, 4)] == ["0.5", "3", "0.25", "4"]


def test_types_that_do_not_join():
    class Bad:
        n = 0

        def set(self):
            self.n = "a"

    @njit
    def bad():
        b = Bad()
        b.set()
        return b.n

    with pytest.raises(KraitError, match="is assigned str, and what its class has there is int"):
        bad()
