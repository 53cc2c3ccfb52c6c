"""Instances that compiled code makes, changes, shares and gives back; those of the caller are changed in place."""

import dataclasses

import numpy as np
import pytest
from oracle import agree

from krait import cuda, njit
from krait.errors import KraitError


class Account:
    fee = 2
    limit = 1000

    def __init__(self, owner, balance=0, *, currency="EUR"):
        self.owner = owner
        self.balance = balance
        self.history = []
        self.last = None
        self.currency = currency

    def deposit(self, amount):
        if amount <= 0:
            raise ValueError(f"{self.owner}: {amount}")
        self.balance += amount
        self.history.append(amount)
        self.last = amount
        self.limit -= amount

    def __len__(self):
        return len(self.history)


@dataclasses.dataclass
class Particle:
    x: float
    v: float = 1.0
    trail: list = dataclasses.field(default_factory=list)
    tag: str = "p"

    def __post_init__(self):
        self.energy = 0.5 * self.v**2

    def step(self, dt):
        self.x += self.v * dt
        self.trail.append(self.x)


class Grid:
    def __init__(self, n):
        self.cells = np.zeros(n)
        self.names = {}
        self.steps = 0

    def mark(self, i, name):
        self.cells[i] += 1
        self.names[name] = i
        self.steps += 1


class Savings(Account):
    def __init__(self, owner, rate):
        super().__init__(owner, 100)
        self.rate = rate

    def year(self):
        self.deposit(self.balance * self.rate)


def used():
    a = Account("ann", 5, currency="USD")
    b = Account("bob")
    a.deposit(3)
    b.deposit(4)
    try:
        b.deposit(-1)
    except ValueError as error:
        text = str(error)
    return a.balance, b.history, a.last, b.currency, text, len(a), a.fee, a.limit, Account.limit


def shared():
    a = Account("ann")
    same, all_of_them = a, [a, Account("bob")]
    all_of_them[0].deposit(7)
    return a.balance, same is a, all_of_them[1] is a, a == same, a != all_of_them[1], a in all_of_them


def numbers_widen():
    s = Savings("eve", 0.5)
    s.year()
    s.year()
    return s.balance, s.history, s.owner


def particles(n):
    ps = [Particle(float(i), v=0.5 * i) for i in range(n)]
    for p in ps:
        for _ in range(3):
            p.step(0.1)
    return sum([p.energy for p in ps]), [p.trail for p in ps], ps[-1].tag


def held_by_tuples_and_dicts():
    table = {i: Grid(3) for i in range(2)}
    pair = (table[0], table[1])
    pair[0].mark(1, "a")
    table[0].mark(2, "b")
    return pair[0].names, pair[0].steps, table[1].steps, pair[0].cells


def maybe(n):
    best = None
    for i in range(n):
        p = Particle(float(i * 7 % 5))
        if best is None or p.x > best.x:
            best = p
    return best.x if best is not None else -1.0


def replaced(n):
    g = Grid(2)
    for i in range(n):
        g.mark(i % 2, "x")
        if i == 2:
            g = Grid(3)
    g.cells = np.ones(4)
    return g.cells, g.steps


@pytest.mark.parametrize("f, args", [
    (used, ()), (shared, ()), (numbers_widen, ()), (particles, (3,)), (held_by_tuples_and_dicts, ()), (maybe, (4,)),
    (maybe, (0,)), (replaced, (5,)),
], ids=lambda value: getattr(value, "__name__", None))  # fmt: skip
def test_made_inside(f, args):
    agree(f, *args)


def test_they_come_back_as_instances():
    def f():
        a = Account("ann")
        a.deposit(3)
        return a, [a, a], Particle(1.0)

    a, (b, c), p = njit(f)()
    assert a is b is c and type(a) is Account and p == Particle(1.0) and p.energy == 0.5
    expected, _, _ = f()
    assert vars(a) == vars(expected)


def test_those_of_the_caller_are_changed():
    def f(a, g, p):
        a.deposit(4)
        g.mark(1, "one")
        p.trail.append(2.5)
        p.x = 7.0
        return a

    made = [(Account("x", 1), Grid(2), Particle(1.0, trail=[1.0])) for _ in range(2)]
    for a, g, _ in made:
        a.deposit(1), g.mark(0, "zero")
    cells = made[0][1].cells
    result = njit(f)(*made[0])
    f(*made[1])
    assert result is made[0][0] and made[0][1].cells is cells
    for ours, theirs in zip(*made):
        ours, theirs = dict(vars(ours)), dict(vars(theirs))
        if "cells" in ours:
            np.testing.assert_array_equal(ours.pop("cells"), theirs.pop("cells"))
        assert ours == theirs


def test_one_object_is_one_inside():
    def f(a, b, many):
        a.deposit(2)
        return b.balance + many[0].balance, a is b, many[0] is a

    a = Account("ann", 1)
    a.deposit(1)
    assert njit(f)(a, a, [a]) == (8, True, True) and a.balance == 4


def test_an_attribute_that_is_not_set():
    class Late:
        def __init__(self, now):
            if now:
                self.value = 3

        def fill(self):
            self.value = 5

    def f(now, fill):
        late = Late(now)
        if fill:
            late.fill()
        return late.value

    agree(f, True, False)
    agree(f, False, True)
    with pytest.raises(AttributeError, match="'.*Late' object has no attribute 'value'"):
        njit(f)(False, False)


def test_refusals():
    def odd(flag):
        a = Account("ann")
        a.last = "text" if flag else "other"
        a.deposit(3)
        return a.balance

    with pytest.raises(KraitError, match="the attribute `last` .* is assigned"):
        njit(odd)(True)

    def narrow(a):
        a.balance = 2.5

    account = Account("ann")
    account.deposit(1)
    njit(narrow)(account)
    assert account.balance == 2.5

    def text(a):
        a.balance = "much"

    with pytest.raises(KraitError, match="an attribute has one type"):
        njit(text)(account)
    with pytest.raises(KraitError, match="has no attribute `other`|cannot be assigned"):
        def unknown():
            a = Account("ann")
            a.other = 3
            return 1

        njit(unknown)()


def test_in_kernels_they_are_their_attributes():
    @cuda.jit
    def kernel(p, out):
        out[cuda.grid(1)] = p.x + p.v

    class Point:
        def __init__(self, x, v):
            self.x = x
            self.v = v

    out = np.zeros(2)
    kernel[1, 2](Point(1.0, 2.0), out)
    assert list(out) == [3, 3]


def test_memory_stays_flat():
    def f(n):
        total = 0.0
        for i in range(n):
            p = Particle(float(i))
            p.step(0.5)
            total += p.trail[0]
        return total

    agree(f, 50)
