"""Functions of the standard library that the interpreter calls for compiled code, copies, and bytes."""

import copy
import random
import statistics
import time

import numpy as np
import pytest

from krait import cuda, errors, njit

RNG = np.random.default_rng(3)
HEADER = b"\x89PNG"


def agree(function, *args):
    compiled, interpreted = (f(*copy.deepcopy(args)) for f in (njit(function), function))
    assert compiled == interpreted and repr(compiled) == repr(interpreted)


def test_clocks():
    @njit
    def f(x):
        start, now, cpu, whole = time.perf_counter(), time.time(), time.process_time(), time.perf_counter_ns()
        time.sleep(0)
        total = x.sum()
        return total, time.perf_counter() - start, now, cpu, whole, time.monotonic_ns(), time.time_ns()

    total, took, now, cpu, *whole = f(np.ones(3))
    assert total == 3 and 0 < took < 100 and abs(now - time.time()) < 100 and cpu > 0
    assert all(type(n) is int and n > 0 for n in whole)


def test_kernels_have_no_clocks():
    @cuda.jit
    def kernel(x):
        x[0] = time.perf_counter()

    with pytest.raises(errors.UnsupportedError, match="clock64"):
        kernel[1, 1](np.zeros(1))


def drawn(n):
    random.seed(3)
    values = [random.gauss(1, 2) for _ in range(n)]
    values.append(random.gauss(mu=1, sigma=0.5))
    return values, random.random(), random.gauss()


def test_gauss_keeps_its_number():
    agree(drawn, 4)


def described(x, y):
    return (
        statistics.fmean(x),
        statistics.stdev(x),
        statistics.pstdev(y),
        statistics.mean(y),
        statistics.mean((1.0, 2.5)),
        statistics.median(v * 0.5 for v in x),
        statistics.variance(y, 1.5),
        statistics.pvariance(y, mu=1.5),
        statistics.geometric_mean(x),
    )


def test_statistics():
    agree(described, [1, 2, 4], [0.1, 0.2, 0.7])
    agree(lambda x, words: (statistics.mode(x), statistics.multimode(x), statistics.mode(words)), [1, 2, 2, 3, 3],
          ["a", "b", "b"])  # fmt: skip

    @njit
    def spread(x):
        return statistics.stdev(x)

    with pytest.raises(statistics.StatisticsError, match="at least two"):
        spread([1.0])
    with pytest.raises(errors.TypingError, match="iterable of Python floats"):
        njit(lambda x: statistics.mean(x))([1, 2])


def copied(x, d):
    deep = copy.deepcopy(x)
    deep[0].append(9)
    flat = copy.copy(x)
    flat[0].append(7)
    row = [0]
    twice = copy.deepcopy([row, row])
    twice[0].append(1)
    table = copy.deepcopy(d)
    table[1].append(3)
    same = twice[0] is twice[1], copy.copy((1, 2)), copy.deepcopy("s")
    return deep, flat, x, twice, same, row, table, d, copy.copy(d)


def test_copies():
    agree(copied, [[1, 2], [3]], {1: [2]})

    @njit
    def of_changed(x):
        x.append(4)
        y = copy.deepcopy([x])
        y[0].append(5)
        return y, [x]

    given = [1]
    result, kept = of_changed(given)
    assert result == [[1, 4, 5]] and kept[0] is given == [1, 4]

    @njit
    def of_array(x):
        y = copy.deepcopy(x)
        y[0] = 5
        return x[0], y

    assert of_array(np.zeros(2))[0] == 0

    class Plain:
        def __init__(self):
            self.x = [1]

    with pytest.raises(errors.TypingError, match="deepcopy"):
        njit(lambda: copy.deepcopy(Plain()).x)()


def test_deepcopy_of_what_holds_nothing_yet():
    def f(a, b):
        c, d, e = [], {}, set()
        x, y, z = copy.deepcopy(c), copy.deepcopy(d), copy.deepcopy(e)
        x.append(1)
        y["k"] = 2.5
        z.add("s")
        a.append(3)
        return c, d, e, x, y, z, copy.deepcopy(a), copy.deepcopy(b), copy.deepcopy([])

    ours, theirs = (g([], {}) for g in (njit(f), f))
    assert ours == theirs


def parts(b, s):
    found = [b[1:3], b[::-1], b"<" + b + b">", s.encode(), s.encode("latin-1", "replace"), b.upper(), b.strip()]
    told = b < b"b", b == b"abc def", b != HEADER, b"c" in b, b"" in b, b"q" not in b, 97 in b
    where = b.find(b"d"), b.count(b"d"), b.startswith(b"ab"), b.endswith(b"x")
    return found, told, where, b.split(), b.split(b"c", 1), b.hex(), b.replace(b"a", b"zz"), b.decode(), [c for c in b]


@pytest.mark.parametrize("value", [b"", b"abc def", bytes(range(97, 110))])
def test_bytes(value):
    agree(parts, value, "h\xe9llo")


def literal(n):
    magic = b"\x89PNG"
    return magic[n], len(magic), magic == HEADER, magic, HEADER[:n]


def test_literals_of_bytes():
    agree(literal, 1)
    with pytest.raises(UnicodeDecodeError):
        njit(lambda b: b.decode())(b"\xff")
    with pytest.raises(ValueError, match=r"range\(0, 256\)"):
        njit(lambda b: 300 in b)(b"a")
    with pytest.raises(IndexError, match="out of range"):
        njit(literal)(9)


def translated(s):
    table = str.maketrans({",": " ", ";": "<>"})
    return (
        s.translate(table),
        s.translate(str.maketrans("ab", "ba")),
        s.translate(str.maketrans("abc", "xyz", ",")),
        s.translate({97: "AA"}),
        str.maketrans("a", "b"),
    )


def test_translate():
    agree(translated, "a,b;c")
    with pytest.raises(ValueError, match="equal length"):
        njit(lambda s: s.translate(str.maketrans("a", "bc")))("s")


def called_on_values(s, n):
    numbers, table, made = {n: 2.5}, s.maketrans, {n: 1}.fromkeys
    return (
        s.translate(s.maketrans("ab", "xy")),
        s.maketrans({"a": "b"}),
        s.maketrans("ab", "xy", s),
        "".maketrans("a", "b"),
        table("a", s[0]),
        numbers.fromkeys([n, 4], s),
        numbers.fromkeys("ab"),
        made((n, 2), True),
        n.from_bytes(b"ab", "big"),
    )


def test_static_functions_of_classes_are_called_on_their_values():
    agree(called_on_values, "abc", 3)
    with pytest.raises(ValueError, match="equal length"):
        njit(lambda s: s.maketrans("a", "bc"))("s")
    with pytest.raises(errors.TypingError, match=r"`dict.fromkeys` takes 1 to 2 arguments, 0 given"):
        njit(lambda n: {n: 1}.fromkeys())(1)


def test_generators_of_numbers_that_globals_hold(monkeypatch):
    @njit
    def f(n):
        return RNG.normal(size=n), RNG.integers(0, 10), RNG.random()

    results = []
    for function in (f, f.py_func):
        monkeypatch.setitem(globals(), "RNG", np.random.default_rng(3))
        results.append(function(3))
    assert (results[0][0] == results[1][0]).all() and results[0][1:] == results[1][1:]


def test_fsum_of_lists():
    import math

    def total(x):
        return math.fsum(x), math.fsum(v * 2 for v in x), math.fsum([1, 2]), math.fsum({0.5})

    agree(total, [1e16, 1.0, -1e16])
