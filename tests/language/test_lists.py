"""Lists: every method and operator, of numbers, tuples, arrays and lists, made here and passed in, against Python's."""

import gc
import math
import random

import numpy as np
import pytest
from oracle import agree, agree_all, make

from krait import _testing, cuda, errors, njit


def both(function, *args):
    """What the function gives and leaves of its arguments, compiled and interpreted, on lists of their own."""
    outcomes = []
    for call in (njit(function), function):
        own = [copy(arg) for arg in args]
        try:
            outcomes.append((repr(call(*own)), repr(own)))
        except Exception as error:
            outcomes.append((type(error), str(error), repr(own)))
    assert outcomes[0] == outcomes[1]


def copy(value):
    return [copy(item) for item in value] if isinstance(value, list) else value


def of(body, *args):
    """The same for a body with parameters a, b, c."""
    lines = "".join(f"    {line}\n" for line in body.strip().split("\n"))
    both(make(f"def f({', '.join('abc'[:len(args)])}):\n{lines}", "f"), *args)


NUMBERS = [3, 1, 2, 3, -7]


@pytest.mark.parametrize("body", [
    "return [1, 2, a]", "return []", "return [a]", "return [[1], [], [2, 3]]",
    "return [(1, 2.5), (a, 0.5)]", "return [True, a > 1]", "return [*range(a), 9]", "return [1, *(2, 3), a]",
    "return [i * i for i in range(a)]", "return [i for i in range(a) if i % 2]",
    "return [[j for j in range(i)] for i in range(a)]",
    "return [i + j for i in range(a) for j in range(2)]", "return list(range(a))", "return list()",
    "return list((1, 2))",
    "x = []\nfor i in range(a):\n    x.append(i)\nreturn x", "x = []\nx.append(a)\nx.append(1.5)\nreturn x[1]",
    "if a > 1:\n    x = []\nelse:\n    x = [1]\nx.append(a)\nreturn x",
    "x = [1, 2]\ny = x\ny.append(a)\nreturn x, y is not None",
])  # fmt: skip
def test_made(body):
    of(body, 3)
    of(body, 0)


@pytest.mark.parametrize("body", ["return [*(a if c else b)]", "return [1, *(a if c else b), 2]",
                                  "return {*(a if c else b)}",
                                  "return [*(a if isinstance(c, int) else a)]", "return [*a, *(b or a), *(a and b)]",
                                  "x = [0, *(a if c else b)]\nreturn x, [*(b if c else a)]"])  # fmt: skip
@pytest.mark.parametrize("c", [0, 1])
def test_made_by_two_ways_out(body, c):
    """The interpreter's compiler takes what follows a conditional expression into both of its branches."""
    of(body, [1, 2], [3], c)


@pytest.mark.parametrize("body", [
    "a.append(9)", "a.extend([7, 8])", "a.extend(range(3))", "a.extend(a)", "a.insert(1, 9)", "a.insert(-1, 9)",
    "a.insert(99, 9)", "a.insert(-99, 9)", "return a.pop()", "return a.pop(0)", "return a.pop(-2)", "a.pop(99)",
    "a.pop(-99)",
    "a.remove(3)", "a.remove(99)", "return a.index(3)", "return a.index(3, 1)", "return a.index(3, 1, 2)",
    "return a.index(3, -2)",
    "return a.count(3), a.count(9)", "a.reverse()", "a.clear()", "return a.copy()", "a.sort()", "a.sort(reverse=True)",
    "a.sort(key=lambda x: -x)", "a.sort(key=lambda x: x % 3, reverse=True)", "return sorted(a)",
    "return sorted(a, reverse=True)",
    "return len(a), sum(a), min(a), max(a)", "return 3 in a, 99 in a, 3 not in a", "return bool(a)",
    "return any(a), all(a)",
    "return a[0], a[-1]", "return a[9]", "return a[-9]", "a[1] = 8", "a[-1] = 8", "a[9] = 8", "del a[1]",
    "del a[-1]", "del a[9]",
    "return a[1:3]", "return a[:]", "return a[::-1]", "return a[3:1]", "return a[-3:]", "return a[::2]",
    "return a[4:0:-2]",
    "a[1:3] = [9]", "a[1:1] = [7, 8, 9]", "a[:] = []", "a[::2] = [0, 0, 0]", "a[::2] = [0]", "a[5:1] = (4, 5)",
    "a[1:] = a",
    "del a[1:3]", "del a[::2]", "del a[::-2]", "del a[3:1]", "return a + [5]", "a += [5]", "a += (5, 6)",
    "return a * 2",
    "return 2 * a", "return a * 0", "return a * -1", "a *= 2", "a *= 0",
    "return a == [3, 1], a == a, a != a, a < [4], a <= a, a > [3], a >= [3, 2]", "return [x + 1 for x in a]",
    "s = 0\nfor x in a:\n    s += x\nreturn s", "for i, x in enumerate(a):\n    a[i] = x + i",
    "return [x for x in reversed(a)]", "a.extend(reversed(a))", "a += reversed(a)",
    "s = 0\nfor x, y in zip(a, a[1:]):\n    s += x * y\nreturn s",
    "n = 0\nfor x in a:\n    n += 1\n    if n < 9:\n        a.append(x)",
    "while a:\n    a.pop()",
])  # fmt: skip
def test_methods_and_operators(body):
    of(body, NUMBERS)


def test_lists_of_floats():
    """An int that is put in becomes a float, as where a variable holds the one or the other."""
    floats = [1.5, -0.0, 2.5, 1.5]
    for body in ("a.sort()", "return sorted(a, reverse=True), sum(a), min(a), max(a)", "a.append(0.25)",
                 "return a[::-1]",
                 "return a.index(2.5), a.count(1.5), 2.5 in a, 2 in a", "a += [0.5]",
                 "return a * 2, a == a"):  # fmt: skip
        of(body, floats)
    assert njit(lambda: [1.5, 2])() == [1.5, 2.0]
    assert njit(make("def f(a):\n    a.append(1)\n    return a"))([1.5]) == [1.5, 1.0]
    assert njit(lambda: [[1, 2], [2.5]])() == [[1.0, 2.0], [2.5]]


def test_other_items():
    of("a.append((1, 2.5))\nreturn a[0], (1, 2.5) in a, a.index((1, 2.5))", [(3, 0.5)])
    of("a.sort()\nreturn sorted(a, key=lambda p: p[1])", [(3, 1), (1, 2), (1, 0)])
    of("a[0].append(4)\na.append([5])\nb = a[0]\nb.append(6)\nreturn a, b", [[1], [2, 3]])
    of("return [x for row in a for x in row], [len(row) for row in a], a[1] == [2]", [[1], [2]])
    of("a.append(b)\nb.append(7)\nreturn a", [[1]], [2])
    of("return a", [[[1]], [[2], [3]]])
    of("return [True] * a, [1j, 2j]", 2)


def test_what_came_in_is_what_goes_out():
    a, array = [1, 2], np.arange(3.0)
    assert njit(lambda a: a)(a) is a
    arrays = [array]
    same, first = njit(lambda x: (x, x[0]))(arrays)
    assert same is arrays and first is array

    @njit
    def put(arrays, array):
        arrays.append(array)
        arrays.append(array * 0 if False else np.zeros(2))

    put(arrays, array)
    assert arrays[0] is array and arrays[1] is array and arrays[2].shape == (2,)
    both_ways = njit(lambda: [[1]] * 2)()
    assert both_ways[0] is both_ways[1]


def test_what_happened_before_an_exception_is_seen():
    of("a.append(9)\nreturn a[100]", [1])


def test_arrays_in_lists():
    def rows(n):
        rows = []
        for i in range(n):
            rows.append(np.full(i, i))
        rows[0] = np.ones(1, np.int64)
        last = rows.pop()
        return last, rows[0], len(rows)

    def taken(n):
        rows = [np.zeros(2) for _ in range(n)]
        kept = rows[1]
        rows.clear()
        kept[0] = n
        return kept

    agree_all(rows, [(2,), (5,)])
    agree_all(taken, [(2,), (5,)])
    agree(lambda n: np.array([*range(n), 7]), 4)
    agree(lambda n: np.array([i * 2 for i in range(n)]), 4)
    agree(lambda n: np.array([[i, j] for i in range(n) for j in range(2)]), 3)
    agree(lambda n: np.array([np.full(2, i) for i in range(n)]), 3)
    agree(lambda x: (np.array([1, x]), np.array([[1, 2.5], [x, 4]]), np.asarray([x, x], np.float32)), 7)
    agree(lambda x: np.array([1, 2, x], dtype=np.uint8), 7)
    with pytest.raises(ValueError, match="inhomogeneous shape"):
        njit(lambda n: np.array([[0] * i for i in range(n)]))(3)


def test_nothing_is_lost():
    """Every list and array in it is given up, also where something is raised."""

    @njit
    def work(n, bad):
        rows = [[np.zeros(k) for k in range(3)] for _ in range(n)]
        rows.append(rows[0])
        first = rows[0][1]
        rows[0] = rows[1]
        rows[1].pop()
        if bad:
            rows[99][0][0] = 1
        rows.sort(key=lambda row: len(row))
        return first, [row for row in rows], sorted([3, 2, 1])

    def in_use():
        gc.collect()
        return _testing.heap_objects()

    for bad in (False, True):
        for _ in range(2):
            before = in_use()
            for _ in range(20):
                try:
                    work(4, bad)
                except IndexError:
                    pass
            after = in_use()
        assert after == before

    items = [[1, 2], [3]]
    njit(lambda x: x[0])(items)
    before = in_use()
    for _ in range(20):
        njit(lambda x: x[0])(items)
    assert in_use() == before


def test_variables_of_comprehensions_are_their_own():
    def outer(n):
        x = 5
        made = [x + y for x in range(n) for y in range(x)]
        return made, x

    def unassigned(n):
        if n > 2:
            x = 7
        made = [x for x in range(n)]
        return made, x

    def parameter(x):
        made = [x + 1 for x in range(x)]
        return made, x

    def repeated(n):
        total = 0
        for x in range(n):
            total += len([[x for x in range(x)] for x in range(x)]) + x
        return total

    def captured(n):
        x = 9
        return [(lambda v: v + x)(2) for x in range(n)], x  # noqa: B023

    for function in outer, unassigned, parameter, repeated, captured:
        for n in 0, 2, 3:
            both(function, n)


@pytest.mark.parametrize("body, message", [
    ("return [1, 'x']", "list of int and str"),
    ("return [1, (2,)]", r"a list of int and (?s:.*)have one type"),
    ("x = [1]\nx.append((2,))", "put into a list of int"),
    ("return [1][1.0]", "a list is indexed by an int or a slice, not by 1.0"),
    ("return [1].length", "length"),
])  # fmt: skip
def test_refused(body, message):
    with pytest.raises(errors.KraitError, match=message):
        njit(make(f"def f():\n    " + body.replace("\n", "\n    "), "f"))()


def test_arguments_that_are_refused():
    cases = (([1, 2.5], "int and float"), ([1, "x"], "int and str"), ([object()], "object"))
    for bad, message in cases:
        with pytest.raises(TypeError, match=message):
            njit(lambda x: len(x))(bad)


def test_no_lists_in_kernels():
    with pytest.raises(errors.UnsupportedError, match=r"kernels have no lists(?s:.*)cuda.local.array"):
        cuda.jit(lambda x: [1, 2])[1, 1](np.zeros(3))


def test_methods_see_what_a_variable_becomes():
    """The array is C-contiguous at first, and transposed from the second round on."""

    def f(a):
        b = a
        for _ in range(3):
            b = b.T
            a = b.copy()
        return a

    agree(f, np.arange(6.0).reshape(2, 3))


@pytest.mark.parametrize("count", [np.uint64(2**63), np.uint64(2**64 - 1), np.uint64(3), np.int8(-3), 2**62, 2**63 - 1,
                                   2, 0])
def test_repetitions_that_no_memory_holds(count):
    for body in ("return [1] * a", "return a * [1.5, 2.5]", "x = [1]\nx *= a\nreturn x", "return 'ab' * a",
                 "return a * str(12)"):
        of(body, count)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int64, np.float32])
@pytest.mark.parametrize("body", [
    "a[:] = [b, 1, 2]", "a[...] = [1, 2, b]", "a[1:] = [b, b]", "a[[0, 1]] = [b, 1]", "a[a > 0] = [1, b, 2]",
    "np.put(a, [0, 1], [b, 2])", "np.place(a, a > 0, [b])", "np.putmask(a, a > 0, [b, 1])",
    "np.put_along_axis(a, np.array([0, 1]), [b, 1], 0)", "return np.insert(a, 1, [b])", "return np.insert(a, 1, b)",
    "a[[0, 1]] = (b, 1)", "a[:] = [1.5, 2.5, b]",
])  # fmt: skip
def test_stored_into_arrays(body, dtype):
    function = make(f"def f(a, b):\n    {body}\n    return a", "f")
    agree_all(function, [(np.array([1, 2, 3], dtype), number) for number in (300, -1, 7)])


def test_fills_are_cast_as_arrays():
    agree(make("def f(a):\n    return np.full(3, [1, 2, a], np.int8)", "f"), 300)


def test_a_list_that_no_memory_holds_is_refused_at_once():
    filled = njit(lambda n: list(range(n)))
    assert filled(5) == list(range(5))
    for n in (2**50, 2**61):
        with pytest.raises(MemoryError):
            filled(n)
    assert filled(-3) == []


# ---- orders that are none ----


def some_nan(count, share, kind=float, seed=1):
    chance = random.Random(seed)
    return [kind(math.nan if chance.random() < share else chance.randrange(50)) for _ in range(count)]


@pytest.mark.parametrize("kind", [float, np.float64, np.float32])
@pytest.mark.parametrize("share", [0.0, 0.02, 0.3, 1.0])
def test_a_list_with_nan_is_sorted_as_the_interpreter_sorts_it(kind, share):
    """Its algorithm decides: which comparisons it makes, and in which order."""

    def f(x, reverse):
        new = sorted(x)
        largest_first = sorted(x, key=lambda item: -item, reverse=reverse)
        x.sort(reverse=reverse)
        return new, largest_first, [str(item) for item in x]

    compiled = njit(f)
    for count in (1, 2, 3, 20, 63, 64, 65, 200, 1000):
        x = some_nan(count, share, kind, count)
        assert list(map(repr, compiled(list(x), count % 2 == 0))) == list(map(repr, f(list(x), count % 2 == 0)))


def test_keys_with_nan_order_any_items():
    agree_all(make("""def f(n):
    names = [str(i * 37 % n) for i in range(n)]
    names.sort(key=lambda name: math.nan if int(name) % 3 == 0 else float(name))
    return names"""), [(1,), (10,), (100,)])


def test_sets_and_times_are_sorted_as_the_interpreter_sorts_them():
    agree_all(make("""def f(n):
    sets = [{i % 3, i % 5, i % 7} for i in range(n)]
    sets.sort(reverse=n > 20)
    return [sorted(one) for one in sets], [len(one) for one in sorted(sets, key=lambda one: one - {0})]"""),
              [(1,), (10,), (100,)])
    times = [np.datetime64("NaT" if i % 4 == 0 else 50 - i, "D") for i in range(50)]

    def f(x):
        return [str(one) for one in sorted(x)]

    assert njit(f)(times) == f(times)


@pytest.mark.parametrize("item", ["(x[i], i % 3)", "[x[i]]", "(i % 3, [x[i], 1.0])", "(x[i],) * (1 + i % 2)",
                                  "({i % 3, i % 5}, i)", "(times[i], i)", "(i % 3, i % 7)"])  # fmt: skip
def test_what_holds_such_is_sorted_as_the_interpreter_sorts_it(item):
    f = make(f"""def f(x, times):
    items = [{item} for i in range(len(x))]
    order = sorted(range(len(x)), key=lambda i: {item})
    items.sort(reverse=len(x) % 2 == 0)
    return [str(one) for one in items], order""", np=np)
    compiled = njit(f)
    for count in (1, 5, 20, 63, 64, 200):
        x = [one * 1.0 for one in some_nan(count, 0.2, float, count)]  # each NaN another object
        times = [np.datetime64("NaT" if i % 4 == 0 else 50 - i, "D") for i in range(count)]
        assert compiled(list(x), times) == f(list(x), times)


def test_nothing_is_left_of_what_was_sorted_by_the_interpreter():
    compiled = njit(lambda x: len(sorted(x)))
    compiled([math.nan, 1.0])
    before = _testing.heap_objects()
    for _ in range(5):
        compiled([math.nan, 1.0])
    assert _testing.heap_objects() == before


@pytest.mark.parametrize("body", ["[x, y]", "[y, x][::-1]", "min([x, y])", "sum([x, y])", "tuple([x, y])",
                                  "[[x, y]][0]"])
def test_an_int_that_the_items_cannot_hold_is_no_other_number(body):
    f = njit(make(f"def f(x, y):\n    return {body}"))
    assert f(7, np.uint32(5)) == make(f"def f(x, y):\n    return {body}")(7, np.uint32(5))
    for x, y in ((2**40, np.uint32(5)), (-1, np.uint8(5)), (-1, np.uint64(7))):
        with pytest.raises(OverflowError, match=f"Python integer {x} out of bounds for {y.dtype}"):
            f(x, y)


def test_an_array_of_both_holds_them():
    agree_all(make("def f(x, y):\n    return np.array([x, y])"), [(2**40, np.uint32(5)), (-1, np.uint8(5))])


@pytest.mark.parametrize("nothing", ["", b"", [], ()], ids=repr)
def test_nothing_is_repeated_at_once(nothing):
    def function(x, n):
        y = x
        y *= n
        return x * n, n * x, y

    for n in (2**40, 2**63 - 1, -(2**63), 0):
        agree(function, nothing, n)


def test_too_many_bytes():
    for times in (2**62, 2**63 - 1):  # they were put together until there was no memory left
        with pytest.raises(OverflowError, match="repeated bytes are too long"):
            njit(lambda b, n: b * n)(b"ab", times)


def test_tiles_of_nothing():
    assert njit(lambda a, n: np.tile(a, n))(np.empty((2, 0)), 2**40).shape == (2, 0)


@pytest.mark.parametrize("body", [
    "x = [1, 'a', 2.5]\nreturn x[0], x[1], x[-1], len(x)",
    "p, q, r, s = [1, 'a', [2.5, n], (1, 'z')]\nreturn p, q, r, s",
    "p, *q = [n, 'a', 'b']\nreturn p, q",
    "r = ''\nfor x in [1, 'a', None, (2, 'z')]:\n    r += str(x)\n"
    "for i, x in enumerate([n, 'a']):\n    r += str(x) + str(i)\n"
    "for x, y in zip([1, 'a'], ['q', 2]):\n    r += str(x) + str(y)\nreturn r",
    "s = 0.0\nfor a in [np.ones(3), np.ones((2, n))]:\n    s += a.sum()\nreturn s",
    "return n in [1, 'a', 3], 'z' not in [1, 'z'], 'q' in [1, 'z']",
])  # fmt: skip
def test_displays_of_several_types_that_are_only_walked_and_taken_apart(body):
    text = "def f(n):\n" + "".join(f"    {line}\n" for line in body.split("\n"))
    agree(make(text, "f"), 3)


@pytest.mark.parametrize("body", [
    "return [1, 'a']", "x = [1, 'a']\nx.append(2)\nreturn x[0]", "x = [1, 'a']\nreturn x[0:1]",
    "x = [1, 'a']\nreturn isinstance(x, list)", "return str([1, 'a'])",
])  # fmt: skip
def test_other_displays_have_one_type_of_items(body):
    text = "def f(n):\n" + "".join(f"    {line}\n" for line in body.split("\n"))
    with pytest.raises(errors.KraitError, match="a list of int and str"):
        njit(make(text, "f"))(3)
