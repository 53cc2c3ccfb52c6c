"""Lists, dicts and sets that global variables, attributes and defaults hold: shared with the interpreter."""

import threading
import types

import numpy as np
import pytest
from krait import cfunc, cuda, errors, njit, prange, vectorize

from oracle import make

WEIGHTS = [1.0, 2.0, 3.0]
MOVES = [(0, 1), (1, 0)]
TABLE = {"a": 1, "b": 2}
PRIMES = {2, 3, 5}
GRID = [[0] * 3 for _ in range(3)]
known = {}
log = []
names = types.ModuleType("names")
names.table = {"a": [1]}


def weight(i):
    return WEIGHTS[i]


def test_they_are_read():
    @njit
    def f(n, key):
        total = 0
        for dx, dy in MOVES:
            total += dx * n + dy
        return total, TABLE[key], key in TABLE, n in PRIMES, len(TABLE), sorted(WEIGHTS, key=lambda w: -w), weight(n)

    assert f(2, "b") == f.py_func(2, "b")
    assert f.signatures[0] == f.signatures[-1] and len(f.signatures[0]) == 2


def test_they_are_changed_in_place(monkeypatch):
    @njit
    def f(n):
        GRID[n][1] += 1
        row = GRID[0]
        row[0] = 5
        return GRID, GRID[0] is row

    before = GRID[1]
    result, same = f(1)
    assert result is GRID and same and GRID[1] is before and GRID == [[5, 0, 0], [0, 1, 0], [0, 0, 0]]


def fib(n):
    if n not in known:
        known[n] = n if n < 2 else fib(n - 1) + fib(n - 2)
    return known[n]


def test_empty_ones_get_the_type_of_what_is_put_in():
    @njit
    def f(n):
        for i in range(n):
            log.append(0.5 * i)
        return fib(30), len(log)

    assert f(3) == (832040, 3) and log == [0.0, 0.5, 1.0] and len(known) == 31
    assert f(1) == (832040, 4)
    log.clear()
    known.clear()
    assert f(2) == (832040, 2)


def test_what_the_interpreter_changes_is_seen():
    held = [1, 2, 3]

    @njit
    def f(x):
        return sum(held) + x

    assert f(1) == 7
    held.append(4)
    assert f(1) == 11
    held[:] = [1.5, 2.5]
    result = f(1)
    assert result == 5.0 and type(result) is float
    held[:] = ["a", 1]
    with pytest.raises(errors.UnsupportedError, match="a list that holds str and int"):
        f(1)
    held[:] = [7]
    assert f(1) == 8
    held = [1, 1]
    assert f(1) == 3


EMPTY = []
NESTED = [[]]
MEMO = {}
SEEN = set()
LISTS = ([], [1, 2], [], [1.5], ["a"], [None], [3], [])


def number_of_items():
    n = 0
    for _ in EMPTY:
        n += 1
    return n


def asked_in_a_function_inside():
    def number():
        return len([x for x in EMPTY])

    return number() + number_of_items()


def asked_in_many_ways():
    return len(EMPTY), bool(EMPTY), 1 in EMPTY, EMPTY == [1, 2], EMPTY == [], isinstance(EMPTY, list), any(EMPTY)


def asked_by_depth(n=3):
    for _ in EMPTY:
        return n
    return asked_by_depth(n - 1) + 10 if n else 0


def items_of_items():
    n = 0
    for row in NESTED:
        for _ in row:
            n += 1
    return n


@pytest.mark.parametrize("function", [number_of_items, asked_in_a_function_inside, asked_in_many_ways, asked_by_depth])
def test_one_that_was_empty_is_looked_at_again(function):
    compiled = njit(function)
    for items in LISTS:
        EMPTY[:] = items
        assert compiled() == function(), items
    EMPTY.clear()


def test_one_that_was_empty_inside_is_looked_at_again():
    compiled = njit(items_of_items)
    for rows in ([[]], [[1, 2], []], [[]], [[], [1.5]], []):
        NESTED[:] = rows
        assert compiled() == items_of_items(), rows


def test_dicts_and_sets_that_were_empty_are_looked_at_again():
    @njit
    def f(k):
        n = 0
        for _ in SEEN:
            n += 1
        return MEMO.get(k, -1), k in SEEN, n

    for known_now in ({}, {3: 9}, {}, {3: 2.5}, {4: 1}):
        MEMO.clear()
        MEMO.update(known_now)
        SEEN.clear()
        SEEN.update(known_now)
        assert f(3) == f.py_func(3), known_now


def test_the_greatest_of_one_that_was_empty():
    held = []

    def greatest(values=held):
        m = -1
        for v in values:
            if v > m:
                m = v
        return m

    @njit
    def f():
        return greatest()

    @njit
    def put(x):
        held.append(x)
        return f()

    assert f() == -1
    held.append(5)
    assert f() == 5 and put(7) == 7
    held.clear()
    assert f() == -1 and put(2) == 2


@pytest.mark.parametrize("signatures", [["int64(int64)", "float64(float64)"], ["float64(float64)"]], ids=len)
def test_signatures_stand_when_it_has_another_type(signatures):
    f = njit(signatures)(lambda x: len(EMPTY) + x)
    for items in ([1], [1.5], [], ["a"], [1], [None]):
        EMPTY[:] = items
        assert f(1) == len(items) + 1 and f(1.5) == len(items) + 1.5
    EMPTY.clear()


def test_among_many_types_of_arguments():
    @njit
    def f(x):
        n = 0
        for _ in EMPTY:
            n += 1
        return n

    arguments = [1, 1.5, "a", None, True, 1j, (1,), (1, 2), np.zeros(2), [1], {1: 2}, np.float32(1), np.zeros((2, 2))]
    for items in ([], [1], [], [1.5]):
        EMPTY[:] = items
        assert [f(x) for x in arguments] == [len(items)] * len(arguments)
    EMPTY.clear()


def test_attributes_of_classes_and_modules():
    class Walk:
        MOVES = [(0, 1), (1, 0)]

        def __init__(self):
            self.at = 0

        def go(self):
            self.MOVES.append((2, 2))
            return Walk.count()

        @classmethod
        def count(cls):
            return len(cls.MOVES)

    @njit
    def f():
        names.table["b"] = [2]
        return Walk().go(), names.table

    count, table = f()
    assert count == 3 == len(Walk.MOVES) and table is names.table == {"a": [1], "b": [2]}


def test_defaults_are_one_object():
    def put(x, into=[], *, also={}):
        into.append(x)
        also[x] = x
        return into

    @njit
    def f(n):
        put(n)
        return len(put(n + 1)), len(put(1, [5]))

    assert f(1) == (2, 2) and f(5) == (4, 2)
    assert put.__defaults__ == ([1, 2, 5, 6],) and put.__kwdefaults__ == {"also": {1: 1, 2: 2, 5: 5, 6: 6}}


def test_what_an_enclosing_function_holds():
    def make():
        cache = {}

        def square(x):
            if x not in cache:
                cache[x] = x * x
            return len(cache)

        return njit(square), cache

    square, cache = make()
    other, others = make()
    assert (square(3), square(4), other(5)) == (1, 2, 1)
    assert (cache, others) == ({3: 9, 4: 16}, {5: 25})


def test_one_that_is_passed_as_well_is_one():
    @njit
    def f(x):
        x.append(9.0)
        return x is WEIGHTS, len(WEIGHTS)

    try:
        assert f(WEIGHTS) == (True, 4) and f([1.0]) == (False, 4)
    finally:
        del WEIGHTS[3:]


def test_what_raises_keeps_what_was_done():
    held = [0]

    @njit
    def f(n):
        held.append(n)
        if n > 2:
            raise ValueError("no")
        return held

    with pytest.raises(ValueError, match="no"):
        f(3)
    assert f(1) is held and held == [0, 3, 1]


@njit("int64(int64)")
def declared(x):
    known[x] = x
    return len(known)


def test_signatures_generators_and_loops_on_several_cores():
    @njit(parallel=True)
    def total(n):
        s = 0.0
        for i in prange(n):
            s += WEIGHTS[i % 3]
        return s

    @njit
    def items(n):
        for i in range(n):
            yield weight(i)

    @njit
    def changes(n):
        for i in range(n):
            log.append(0.5)
            yield i

    known.clear()
    assert declared(3) == 1 and list(known) == [3]
    assert total(10_000) == 19_999.0 and list(items(3)) == WEIGHTS
    with pytest.raises(errors.UnsupportedError, match="changes a list, dict or set"):
        changes(3)


def test_threads():
    @njit(nogil=True)
    def f(n):
        s = 0.0
        for _ in range(n):
            for w in WEIGHTS:
                s += w
        return s

    results = []
    threads = [threading.Thread(target=lambda: results.append(f(100_000))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [600_000.0] * 4


def test_functions_of_elements():
    @njit
    def f(x):
        return np.array([1.0, 2.0]) + weight(x)

    assert (f(1) == [3.0, 4.0]).all()

    @vectorize
    def v(x):
        return x + WEIGHTS[0]

    with pytest.raises(errors.UnsupportedError, match="list cannot be used"):
        v(np.arange(3.0))
    with pytest.raises(errors.UnsupportedError, match="list cannot be used"):
        cfunc("float64(float64)")(lambda x: x + WEIGHTS[0])


def test_kernels_refuse_them():
    @cuda.jit
    def kernel(x):
        x[0] = WEIGHTS[0]

    with pytest.raises(errors.UnsupportedError, match="list cannot be used"):
        kernel[1, 1](np.zeros(1))


class Doubled(dict):
    def __getitem__(self, key):
        return 2 * super().__getitem__(key)


def test_dicts_of_other_kinds_are_refused_with_what_helps():
    """They are no arguments either, so that the hint does not send there."""
    f = make("def f(k):\n    D[k] = D[k]\n    return len(D)", D=Doubled())
    with pytest.raises(errors.KraitError, match=r"keep a plain dict there, dict\(d\), or make it in the function"):
        njit(f)(1)


class Bag:
    items = []
    seen = {}

    def add(self, item):
        self.items.append(item)
        self.seen[item] = len(self.items)


def test_empty_containers_of_a_class_get_the_type_of_what_methods_put_in():
    def filled(n):
        bag = Bag()
        for i in range(n):
            bag.add(i * i)
        return len(bag.items)

    def filled_argument(bag, n):
        bag.add(n)
        return bag.seen[n]

    for function, arguments in (filled, (3,)), (filled_argument, (Bag(), 2)):
        found = []
        for run in function, njit(function):
            Bag.items, Bag.seen = [], {}
            held = Bag.items
            found.append((run(*arguments), Bag.items, Bag.seen, held is Bag.items, vars(Bag())))
        assert found[0] == found[1]
