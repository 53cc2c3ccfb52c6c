"""What programs take from the standard library: caches of results, dataclasses' functions, ints as bytes; iterators
that classes define; defaults of dict.get that hold nothing."""

import functools
from dataclasses import InitVar, dataclass, field, replace, asdict, astuple
from typing import ClassVar

import pytest
from krait import cuda, errors, njit

from oracle import agree


# ---- functools.cmp_to_key ----


def test_an_order_that_a_function_of_two_gives():
    def largest(numbers):
        def compare(a, b):
            return -1 if a + b > b + a else int(a + b < b + a)

        return "".join(sorted([str(n) for n in numbers], key=functools.cmp_to_key(compare)))

    def by_two(pairs, sign):
        pairs.sort(key=functools.cmp_to_key(lambda a, b: sign * (a[1] - b[1]) or a[0] - b[0]))
        return pairs

    def ends(numbers):
        key = functools.cmp_to_key(lambda a, b: (a % 10) - (b % 10))
        return min(numbers, key=key), max(numbers, key=key), sorted(numbers, key=key, reverse=True)

    agree(largest, [3, 30, 34, 5, 9])
    agree(by_two, [(3, 30), (34, 5), (9, 5), (1, 30)], 1)
    agree(by_two, [(3, 30), (34, 5), (9, 5), (1, 30)], -1)
    agree(ends, [15, 23, 91, 5, 33])


def test_what_such_keys_say():
    def compared(a, b):
        key = functools.cmp_to_key(lambda x, y: x - y)
        p, q = key(a), key(b)
        return p < q, p > q, p <= q, p >= q, p == q, p != q

    for pair in ((1, 2), (2, 1), (2, 2)):
        agree(compared, *pair)


# ---- functools.cache, lru_cache ----


@functools.lru_cache(maxsize=None)
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


@functools.cache
def edits(a, b):
    if not a or not b:
        return len(a) + len(b)
    return min(edits(a[1:], b) + 1, edits(a, b[1:]) + 1, edits(a[1:], b[1:]) + (a[0] != b[0]))


@functools.lru_cache
def weighted(a, b=2, *, c=3):
    return a + b * c


class Grid:
    def __init__(self, n):
        self.n = n

    @functools.lru_cache(maxsize=64)
    def ways(self, i, j):
        return 1 if i == 0 or j == 0 else (self.ways(i - 1, j) + self.ways(i, j - 1)) % 1000007


def test_results_are_kept():
    def f(n):  # without the cache 2**80 calls
        return fib(n), fib(n + 1), edits("kitten", "sitting"), weighted(n), weighted(n, 5), weighted(n, b=7, c=1)

    agree(f, 80)


def test_methods_keep_results():
    def f(n):
        return Grid(n).ways(n, n)

    agree(f, 20)


def test_a_call_computes_once():
    calls = []

    @functools.cache
    def slow(x):
        calls.append(x)
        return 2 * x

    @njit
    def f(x):
        return slow(x) + slow(x) + slow(x + 1)

    assert f(3) == 20 and calls == [3, 4]


def test_what_it_read_may_change():
    scale = [1]

    @functools.cache
    def scaled(x):
        return x * scale[0]

    @njit
    def f(x):
        return scaled(x) + scaled(x)

    assert f(3) == 6
    scale[0] = 2
    assert f(3) == 12 and f.py_func(3) == 12


@functools.cache
def square(x):
    return x * x


@functools.lru_cache(maxsize=1)
def row(n):
    return [n]


@functools.lru_cache(maxsize=2)
def cube(n):
    return n**3


@functools.lru_cache(maxsize=0)
def fresh(n):
    return [n]


def mixed_numbers(a, b):
    return square(a), square(b)


@pytest.mark.parametrize("f, name, a, b", [(mixed_numbers, "square", 2.5, 2), (mixed_numbers, "square", 2, 2.0),
                                           (mixed_numbers, "square", True, 2)])
def test_one_type_of_arguments_has_its_results_kept(f, name, a, b):
    with pytest.raises(errors.KraitError, match=f"`{name}` keeps its results") as info:
        njit(f)(a, b)
    assert not any(word in str(info.value) for word in ("_krait", "<string>", " dict"))


def test_programs_with_other_types_keep_their_results():
    def f(x):
        return square(x), square(x)

    agree(f, 2)
    agree(f, 2.5)


def test_which_results_are_made_anew():
    def f(n):
        first = row(n)
        row(n + 1)
        first.append(5)
        return row(n)

    with pytest.raises(errors.KraitError, match="`row` keeps 1 results .* gives list of int"):
        njit(f)(1)

    def g(n):
        first = fresh(n)
        first.append(5)
        return fresh(n), cube(n), cube(n + 1), cube(n + 2), cube(n)

    agree(g, 1)


def test_not_in_kernels():
    @cuda.jit
    def kernel(x):
        x[0] = fib(3)

    with pytest.raises(errors.KraitError, match="not compiled in kernels"):
        import numpy as np

        kernel[1, 1](np.zeros(1, np.int64))


# ---- dataclasses ----


@dataclass(frozen=True)
class Config:
    rate: float
    steps: int = 10
    name: str = "adam"


@dataclass
class Run:
    config_rate: float
    losses: list = field(default_factory=list)
    best: float = 1e9
    label: str = field(default="x", kw_only=True)


def test_replace():
    def f(n):
        config = Config(0.5, n)
        other = replace(config, rate=0.25, name="sgd")
        run = Run(0.5, label="first")
        run.losses.append(n)
        again = replace(run, best=2.0)
        again.losses.append(5)
        return other.rate, other.steps, other.name, config.name, again, run, again.losses is run.losses, again.label

    agree(f, 7)


def test_asdict_and_astuple():
    def f(n):
        config = Config(0.5, n)
        return asdict(config)["steps"], astuple(config), astuple(replace(config, steps=n + 1))[1], len(asdict(config))

    agree(f, 7)


def test_replace_refuses():
    def f(n):
        return replace(Config(0.5), other=n)

    with pytest.raises(errors.KraitError, match="other"):
        njit(f)(1)

    def g(n):
        return asdict(Run(0.5))

    with pytest.raises(errors.KraitError, match="`losses` is"):
        njit(g)(1)


@dataclass
class Room:
    a: float
    area: float = field(init=False)
    scale: InitVar[int] = 2
    kind: ClassVar[str] = "room"

    def __post_init__(self, scale):
        self.area = self.a * scale


@dataclass
class Hall(Room):
    name: str = "h"

    def __init__(self, name):
        self.a, self.area, self.name = 1.0, 2.0, name


class Plain:
    def __init__(self, a):
        self.a = a


def test_fields_are_those_of_the_dataclass():
    def f(x):
        room, hall = Room(x), Hall("main")
        return astuple(room), asdict(room)["area"], len(asdict(room)), astuple(hall), astuple(replace(room, a=x + 1))

    agree(f, 1.5)


@pytest.mark.parametrize("function", [asdict, astuple, replace])
def test_instances_of_other_classes_have_no_fields(function):
    def f(x):
        return function(Plain(x))

    with pytest.raises(TypeError) as theirs:
        f(1)
    with pytest.raises(errors.KraitError, match=r"\(\) should be called on dataclass instances") as ours:
        njit(f)(1)
    assert str(theirs.value) in str(ours.value)


# ---- numbers ----


@pytest.mark.parametrize("x", [0.1, -2.5, 3.0, 0.0, 1e15, 2.0**-60, 123456.789])
def test_fractions_and_hexadecimal(x):
    def f(x):
        return x.as_integer_ratio(), x.hex()

    agree(f, x)


@pytest.mark.parametrize("x", [float("inf"), float("nan")])
def test_no_fraction(x):
    agree(lambda x: x.as_integer_ratio(), x)


def test_ints_and_bytes():
    def f(n):
        b = n.to_bytes(4, "little")
        return (b, n.to_bytes(3, byteorder="big"), int.from_bytes(b, "little"), int.from_bytes(b"", "big"),
                int.from_bytes(b"\xff\xfe", "big", signed=True), int.from_bytes(b"\x80", signed=True),
                int.from_bytes(b"\xfe\xff\xff\xff\xff\xff\xff\xff", "little", signed=True),
                (-2).to_bytes(2, "big", signed=True))

    agree(f, 66000)
    agree(lambda n: n.to_bytes(1, "little"), 66000)
    agree(lambda b: int.from_bytes(b, "middle"), b"ab")


def test_callable():
    class Called:
        def __call__(self):
            return 1

    class Plain:
        def __init__(self):
            self.x = 1

    def f(n):
        return callable(f), callable(Called()), callable(Plain()), callable(n), callable(len), callable(Plain)

    agree(f, 1)


# ---- iterators ----


class Countdown:
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        return self

    def __next__(self):
        if self.n <= 0:
            raise StopIteration
        self.n -= 1
        return self.n


class Walked:
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        for i in range(self.n):
            yield i * i


def test_next_of_instances():
    def f(n):
        c = Countdown(n)
        return next(c), next(c, -1), next(c, -1), list(c)

    for n in range(1, 5):
        agree(f, n)

    def g(n):
        return next(Countdown(n))

    agree(g, 0)


def test_instances_are_unpacked():
    def f(n):
        a, b = Countdown(2)
        c, d, e = Walked(3)
        g, *h = Walked(n)
        return a, b, c, d, e, g, h

    agree(f, 4)

    def g(n):
        a, b = Walked(n)
        return a + b

    for n in (1, 2, 3):
        agree(g, n)


# ---- d.get(k, ()) ----


def test_get_or_nothing():
    def f(links, members, start):
        seen, todo = [], [start]
        while todo:
            n = todo.pop()
            seen.append(n)
            for m in links.get(n, ()):
                if m not in seen:
                    todo.append(m)
        return seen, len(links.get(9, ())), 2 in links.get(1, ()), sorted(links.get(1, ())), sum(members.get(1, ())), [
            m for m in members.get(7, ())]

    agree(f, {1: [2, 3], 2: [4], 3: [4]}, {1: {5, 6}}, 1)

    def g(links):
        return links.get(9, ())

    with pytest.raises(errors.KraitError):
        njit(g)({1: [2]})
