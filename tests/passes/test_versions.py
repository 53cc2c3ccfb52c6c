"""Pass versions: loops that exist twice, one of them without checks; as typed IR, and against the interpreter where an
index leaves its array."""

import re

import numpy as np
import pytest
from oracle import agree

from krait import _testing, cuda, njit

A1 = "array(float64, 1, C)"
A2 = "array(float64, 2, C)"
I1 = "array(int64, 1, C)"


def versions(function, *types):
    return _testing.stage(function, list(types), "versions").split("\n\n")[0]


def accesses(text):
    """Accesses of the whole function: without a check, with one."""
    return (
        len(re.findall(r"(?:getitem|setitem)\.(?:\w+\.)*unchecked", text)),
        len(re.findall(r"(?:= getitem|^ +setitem)(?:\.inplace)? ", text, re.M)),
    )


def test_text():
    def f(x, y):
        s = 0.0
        for i in range(x.size):
            s += y[i]
        return s

    assert versions(f, A1, A1).splitlines() == [
        "func f(x: array(float64, 1, C), y: array(float64, 1, C)) -> float64 {",
        "b0:",
        "  %2: int = getattr[size] %0 in 0..1152921504606846975",
        "  %3 = const 0",
        "  %4 = const 1",
        "  %5: range = call_func.unchecked[builtins.range] %3, %2, %4",
        "  %6 = const float64(0.0)",
        "  jump b1",
        "b1:",
        "  %7: (int,) = getattr[shape] %0",
        "  %8: int = extract[0] %7 in 0..1152921504606846975",
        "  %9: (int,) = getattr[shape] %1",
        "  %10: int = extract[0] %9 in 0..1152921504606846975",
        "  %11 = const 1",
        "  %12: int = add.nowrap %10, %11 in 1..1152921504606846976",
        "  %13: bool = lt %8, %12",
        "  branch %13, b2, b5",
        "b2:",
        "  %14: range = call_func.unchecked[builtins.range] %3, %2, %4",
        "  %15: iter.range(int) = iter %14",
        "  jump b3",
        "b3:",
        "  %16 s: float64 = phi b2 %6, b4 %20",
        "  %17: bool = iter_more %15",
        "  branch %17, b4, b8",
        "b4:",
        "  %18 i: int = iter_take %15 in 0..1152921504606846974",
        "  %19: float64 = getitem.unchecked %1, %18",
        "  %20 s: float64 = add.inplace %16, %19",
        "  jump b3",
        "b5:",
        "  %21: range = call_func.unchecked[builtins.range] %3, %2, %4",
        "  %22: iter.range(int) = iter %21",
        "  jump b6",
        "b6:",
        "  %23 s: float64 = phi b5 %6, b7 %27",
        "  %24: bool = iter_more %22",
        "  branch %24, b7, b8",
        "b7 unroll 1:",
        "  %25 i: int = iter_take %22 in 0..1152921504606846974",
        "  %26: float64 = getitem %1, %25",
        "  %27 s: float64 = add.inplace %23, %26",
        "  jump b6",
        "b8:",
        "  %28 s: float64 = phi b3 %16, b6 %23",
        "  jump b9",
        "b9:",
        "  return %28",
        "}",
    ]


def nest(d):
    n = d.shape[0]
    for k in range(n):
        for i in range(n):
            for j in range(n):
                if d[i, k] + d[k, j] < d[i, j]:
                    d[i, j] = d[i, k] + d[k, j]


def test_a_nest_has_one_guard_before_it_all():
    text = versions(nest, A2)
    assert accesses(text) == (6, 6) and text.count("branch") == 1 + 2 * 4, text


def convolution(x, k, out):
    for i in range(out.size):
        for j in range(k.size):
            out[i] += x[i + j] * k[j]


def reversed_places(x, y):
    n = y.size
    for i in range(n):
        y[i] = x[n - 1 - i]


def up_to_seven(x, n):
    s = np.float64(0.0)
    for i in range(n):
        s += x[min(i, 7)] + x[max(i - 5, 0)]
    return s


def neighbours(x, y):
    for i in range(1, x.size - 1):
        y[i] = x[i - 1] + x[i + 1]


def between(x, a, b):
    s = np.float64(0.0)
    for i in range(a, b):
        s += x[i]
    return s


def downwards(x, a, b):
    s = np.float64(0.0)
    for i in range(a, b, -1):
        s += x[i]
    return s


def in_while(x, a, b):
    s, i = np.float64(0.0), a
    while i < b:
        s += x[i]
        i += 1
    return s


def largest(x, y):
    best = 0
    for i in range(x.size):
        if x[i] > x[best]:
            best = i
        y[best] += 1
    return best


def swapped(x, y):
    n = y.size
    before = np.zeros(n + 1)
    for i in range(n):
        now = np.zeros(n + 1)
        for j in range(n):
            now[j + 1] = before[j] + x[j]
        before = now
    return before


def rows(values, columns, starts, x, out):
    for row in range(out.size):
        for k in range(starts[row], starts[row + 1]):
            out[row] += values[k] * x[columns[k]]


def numbered(x, y):
    s = np.float64(0.0)
    for i, v in enumerate(x):
        s += v * y[i]
    for v, i in zip(x, range(y.size)):
        s += x[i]
    return s


def left_early(x, y, n):
    found, last = -1, 0
    for i in range(n):
        last = i
        if x[i] > 0.9:
            found = i
            break
        if y[i] > 0.99:
            return found, -last
    else:
        found = -2
    return found, last


def row_views(a, n):
    s = np.float64(0.0)
    for i in range(n):
        row = a[i]
        for j in range(n):
            s += row[j]
    return s


CASES = [  # function, types, accesses without a check
    (convolution, (A1, A1, A1), 4),
    (reversed_places, (A1, A1), 2),
    (up_to_seven, (A1, "int"), 2),
    (neighbours, (A1, A1), 3),
    (between, (A1, "int", "int"), 1),
    (downwards, (A1, "int", "int"), 1),
    (in_while, (A1, "int", "int"), 1),
    (largest, (A1, A1), 4),
    (swapped, (A1, A1), 3),
    (rows, (A1, I1, I1, A1, A1), 6),  # x[columns[k]] is what nobody knows before
    (numbered, (A1, A1), 2),
    (left_early, (A1, A1, "int"), 2),
    (row_views, (A2, "int"), 1),
]


@pytest.mark.parametrize("function, types, count", CASES, ids=[case[0].__name__ for case in CASES])
def test_accesses_without_a_check(function, types, count):
    text = versions(function, *types)
    assert accesses(text)[0] >= count, text
    assert "unroll 1" in text


def test_what_is_known_is_not_asked():
    def f(y):
        x = np.zeros(y.size + 2)
        for i in range(y.size):
            x[i + 1] = i
        return x

    text = versions(f, A1)
    assert accesses(text) == (1, 0) and text.count("branch") == 1, text


@pytest.mark.parametrize(
    "body",
    [
        "while i < n:\n        s += x[i]\n        i += int(x[i])",  # nobody knows how far it goes
        "for i in range(n):\n        s += x[int(x[i])]",
    ],
)
def test_indices_that_depend_on_what_is_read_keep_their_checks(body):
    namespace = {}
    exec(f"def f(x, n):\n    s, i = 0.0, 0\n    {body}\n    return s\n", namespace)
    text = versions(namespace["f"], A1, "int")
    assert accesses(text)[1] >= 2, text


def test_loops_in_try_stay_as_they_are():
    def f(x, n):
        s = np.float64(0.0)
        try:
            for i in range(n):
                s += x[i]
        except IndexError:
            s = -s
        return s

    assert "unroll" not in versions(f, A1, "int")
    for n in (0, 3, 5):
        agree(f, np.ones(4), n)


x4, y4, y3 = np.arange(4.0) / 4, np.arange(4.0) / 5, np.zeros(3)
columns, starts = np.array([0, 3, 1, 2]), np.array([0, 2, 2, 4])
RUNS = [
    (nest, (np.random.default_rng(1).random((5, 5)),)),
    (nest, (np.random.default_rng(1).random((5, 4)),)),
    (nest, (np.random.default_rng(1).random((0, 4)),)),
    (convolution, (np.ones(6), np.arange(3.0), np.zeros(4))),
    (convolution, (np.ones(6), np.arange(3.0), np.zeros(5))),
    (convolution, (np.ones(6), np.zeros(0), np.zeros(9))),
    (reversed_places, (x4, np.zeros(4))),
    (reversed_places, (x4, np.zeros(5))),
    (reversed_places, (x4, np.zeros(3))),
    (reversed_places, (np.zeros(0), np.zeros(1))),
    (up_to_seven, (np.arange(9.0), 20)),
    (up_to_seven, (np.arange(7.0), 9)),
    (up_to_seven, (np.arange(4.0), 3)),
    (neighbours, (x4, np.zeros(4))),
    (neighbours, (x4, np.zeros(2))),
    (neighbours, (np.ones(1), np.zeros(0))),
    (between, (x4, 1, 4)),
    (between, (x4, -3, 2)),
    (between, (x4, -5, 2)),
    (between, (x4, 2, 9)),
    (between, (x4, 9, 2)),
    (between, (x4, -(2**63), 2**63 - 1)),
    (downwards, (x4, 3, -1)),
    (downwards, (x4, 3, -4)),
    (downwards, (x4, 2**63 - 1, 2**63 - 9)),
    (in_while, (x4, -2, 3)),
    (in_while, (x4, 0, 5)),
    (in_while, (x4, 0, 4)),
    (largest, (x4, np.zeros(4))),
    (largest, (x4, np.zeros(3))),
    (largest, (np.zeros(0), np.zeros(0))),
    (swapped, (x4, np.ones(4))),
    (swapped, (x4, np.ones(5))),
    (rows, (np.ones(4), columns, starts, x4, np.zeros(3))),
    (rows, (np.ones(4), columns, starts, x4, np.zeros(4))),
    (rows, (np.ones(3), columns, starts, x4, np.zeros(3))),
    (rows, (np.ones(4), columns - 1, starts, x4, np.zeros(3))),
    (rows, (np.ones(4), columns, starts - 1, x4, np.zeros(3))),
    (rows, (np.ones(4), columns + 1, starts, x4, np.zeros(3))),
    (numbered, (x4, y4)),
    (numbered, (x4, y3)),
    (numbered, (y3, x4)),
    (left_early, (x4, y4, 4)),
    (left_early, (np.array([0.0, 1.0]), y4, 4)),
    (left_early, (np.zeros(9), np.ones(1), 4)),
    (left_early, (x4, y3, 4)),
    (row_views, (np.ones((3, 4)), 3)),
    (row_views, (np.ones((4, 3)), 4)),
]
COMPILED = {}


@pytest.mark.parametrize("number", range(len(RUNS)))
def test_results_and_errors(number):
    """Also what was stored before an index was outside."""
    function, args = RUNS[number]
    agree(function, *args, compiled=COMPILED.setdefault(function, njit(function)))


def test_results_and_errors_of_first_calls():
    """Code that is made for a call may decline it, but nothing must have been stored by then: not in an earlier round
    of a loop around the one whose guard fails, either.
    """
    for function, args in RUNS:
        agree(function, *args, compiled=njit(function))


def test_a_limit_that_wraps_is_no_limit():
    def f(x, n, m):
        s = np.float64(0.0)
        for i in range(n, n + 2):
            for j in range(m, m + 2):
                s += x[i + j]
        return s

    compiled = njit(f)
    assert compiled(np.ones(4), 0, 1) == 4.0
    with pytest.raises(IndexError):
        compiled(np.ones(4), 2**62, 2**62)  # the sum wraps in compiled code: a number far below -4


def test_values_of_an_earlier_loop_in_a_later_one():
    def f(x, y):
        count = 0
        for i in range(x.size):
            if y[i] > 0.5:
                count += 1
        s = np.float64(0.0)
        for i in range(count):
            s += x[i] * y[i]
        return s, count

    compiled = njit(f)
    for y in (np.linspace(0, 1, 9), np.ones(9), np.zeros(9), np.ones(8)):
        agree(f, np.arange(9.0), y, compiled=compiled)


def test_a_loop_of_many_rounds_of_which_the_last_is_outside():
    def f(x, y):
        for i in range(x.size + 1):
            y[0] = i
            x[i] += 1.0

    agree(f, np.zeros(300_000), np.zeros(1))


# ---- loops with several ways out ----


def met_behind(a, x, n, m, c1, c2, big):
    i = 0
    k = np.uint32(0)
    while True:
        v = a[i]
        k = np.uint32(1)
        if v == c1:
            break
        k = np.uint32(2)
        if v == c2:
            break
        i += 1
        if i >= n:
            a[0] += 1.0
            k = big
            break
    s = 0.0
    for j in range(m):
        s += x[k]
    return s


def led_behind(a, b, c, d, n):
    s = 0.0
    r = 0.0
    i = 0
    while True:
        s += a[i]
        r = 3.0
        if s > c:
            break
        r = 4.0
        if s == d:
            break
        i += 1
        if i >= n:
            b[0] += 1.0
            r = s
            break
    for j in range(3):
        b[j] = r
    return r * 2 + b[1]


def led_first(a, b, c, n):
    s = 0.0
    i = 0
    while True:
        s += a[i]
        if i >= n:
            b[0] += 1.0
            r = s
            break
        r = 3.0
        if s > c:
            break
        r = 4.0
        if s == 21.0:
            break
        i += 1
    for j in range(3):
        b[j] = r
    return r * 2 + b[1]


def test_what_goes_on_behind_several_exits():
    a = np.arange(10.0)
    for big in (np.uint32(3), np.uint32(50), np.uint32(4_000_000_000)):
        for c1, c2 in ((100.0, 200.0), (4.0, 200.0), (100.0, 5.0)):
            agree(met_behind, a, a, 10, 5, c1, c2, big)
    for c, d in ((10.0, 1e7), (1e7, 15.0), (1e7, 1e7)):
        agree(led_behind, a, np.zeros(3), c, d, 10)
        agree(led_first, a, np.zeros(3), c, 9)


def test_arrays_that_may_be_none():
    def f(x, n):
        y = x if n > 2 else None
        s = x[0] * 0.0
        if y is not None:
            for i in range(n):
                s += y[i]
        return s

    def unasked(x, n):
        y = x if n > 2 else None
        s = x[0] * 0.0
        for i in range(n):
            s += y[i]
        return s

    a = np.arange(10.0)
    for n in (0, 2, 3, 10, 11):
        agree(f, a, n)
        if n != 2:  # where the interpreter says so in other words
            agree(unasked, a, n)


I4, F4 = "array(int32, 1, C)", "array(float32, 1, C)"


def sparse_row(starts, values, out):
    total = np.float32(0)
    for k in range(starts[0], starts[1]):
        total += values[k]
    out[0] = total


def test_a_kernel_asks_whether_indices_count_from_the_front():
    text = _testing.stage(sparse_row, [I4, F4, F4], "versions", target="nvptx").split("\n\n")[0]
    assert len(re.findall(r"getitem\S* %1, ", text)) == 2
    assert re.search(r": bool = ge %\d+, %\d+\n  branch ", text)
    ptx = _testing.compile(sparse_row, f"{I4}; {F4}; {F4}")
    assert "ld.global.nc.b32" in ptx and ptx.count("nounroll") >= 1


def test_a_guard_asks_for_the_last_item_of_a_range_with_a_step():
    """Not for what stands before its stop: that index would be outside of the array."""
    def columns(x, row):
        tile = cuda.shared.array((32, 33), np.float32)
        for j in range(0, 32, 8):
            tile[row + j, 0] = x[row + j]
        cuda.syncthreads()
        x[row] = tile[row, 1]

    text = _testing.stage(columns, [F4, "int"], "versions", target="nvptx", small=True, check=True).split("\n\n")[0]
    assert text.count("= const -24") == 2 and "= const -31" not in text, text


def test_a_kernel_asks_so_below_a_comparison_of_what_the_loop_goes_through():
    def row_if_any(starts, values, out):
        first, last = starts[0], starts[1]
        total = np.float32(0)
        if first < last:
            for k in range(first, last):
                total += values[k]
        out[0] = total

    text = _testing.stage(row_if_any, [I4, F4, F4], "versions", target="nvptx").split("\n\n")[0]
    assert len(re.findall(r"getitem\S* %1, ", text)) == 2


def test_a_kernel_whose_loop_synchronises_has_it_once():
    def block_row(starts, values, out):
        total = np.float32(0)
        for k in range(starts[0], starts[1]):
            total += values[k]
            cuda.syncthreads()
        out[0] = total

    text = _testing.stage(block_row, [I4, F4, F4], "versions", target="nvptx").split("\n\n")[0]
    assert len(re.findall(r"getitem\S* %1, ", text)) == 1


def test_a_kernel_does_not_ask_where_an_index_is_negative_for_a_purpose():
    def around(weights, out):
        radius = weights.size // 2
        total = np.float32(0)
        for d in range(-radius, radius + 1):
            total += weights[d + radius]
        out[0] = total

    text = _testing.stage(around, [F4, F4], "versions", target="nvptx").split("\n\n")[0]
    assert len(re.findall(r"getitem\S* %0, ", text)) == 1


def gathered(starts, columns, x, out):
    total = np.float32(0)
    for k in range(starts[0], starts[1]):
        total += x[columns[k]]
    out[0] = total


def moved(starts, columns, x, out):
    for k in range(starts[0], starts[1]):
        out[k] = x[columns[k]]


def checked_kernel(function):
    types = [I4, I4, F4, F4]
    return _testing.stage(function, types, "versions", target="nvptx", small=True, check=True).split("\n\n")[0]


def test_a_checked_kernel_asks_behind_a_loop_that_only_reads_about_what_it_loads_and_takes_for_an_index():
    text = checked_kernel(gathered)
    assert len(re.findall(r"getitem\S*put_off\S* %2, ", text)) == 1
    assert len(re.findall(r"getitem %2, ", text)) == 1  # of the copy, to which a miss leads
    copy = re.search(r"(%\d+): bool = missed\n  branch \1, (\w+), ", text)[2]
    assert re.search(rf"  branch %\d+, \w+, {copy}\n", text)  # the guard


def test_a_checked_kernel_that_writes_in_a_loop_asks_there():
    text = checked_kernel(moved)
    assert "put_off" not in text and "missed" not in text


def test_rounds_of_a_checked_kernel_that_reads_become_one(optimised):
    types = f"{I4}; {I4}; {F4}; {F4}"
    text = _testing.compile(gathered, types, boundscheck=True, python_errors=True)
    assert text.count("ld.global.nc.b32") + text.count("ld.global.nc.s32") >= 2 * (4 + 1 + 1)
    assert "setp.ge.u64" not in text and "setp.lt.u64" not in text  # places are computed and asked in 32 bits


@pytest.mark.parametrize("at, column", [(0, 8), (6, 9), (5, -9), (6, 1 << 30), (6, -(1 << 31))])
def test_a_checked_kernel_says_which_index_that_it_loaded_is_outside(at, column):
    columns = np.arange(8, dtype=np.int32)[::-1].copy()
    x, out = np.arange(8, dtype=np.float32) ** 2, np.zeros(1, np.float32)
    kernel = cuda.jit(check=True)(gathered)
    kernel[1, 1](np.array([0, 7], np.int32), columns, x, out)
    assert out[0] == sum(x[columns[k]] for k in range(7))
    columns[7] = column
    kernel[1, 1](np.array([0, 7], np.int32), columns, x, out)
    columns[at] = column
    with pytest.raises(IndexError, match=f"index {column} is out of bounds for axis 0 with size 8"):
        kernel[1, 1](np.array([0, 7], np.int32), columns, x, out)
        cuda.synchronize()
    columns[at] = -3
    kernel[1, 1](np.array([0, 7], np.int32), columns, x, out)
    assert out[0] == sum(x[columns[k]] for k in range(7))


@pytest.mark.parametrize("first", [0, 3, -2, -8])
def test_indices_of_a_kernel_that_count_from_the_end(first):
    starts = np.array([first, first + 5], np.int32)
    values, out = np.arange(8, dtype=np.float32) ** 2, np.zeros(1, np.float32)
    cuda.jit(sparse_row)[1, 1](starts, values, out)
    assert out[0] == sum(values[k] for k in range(first, first + 5))


# ---- calls that are declined ----------------------------------------------------------------------


def declining(function, *types):
    return _testing.stage(function, list(types), "versions", in_range=True).split("\n\n")[0]


def scaled(x, y):
    for i in range(x.size):
        y[i] = x[i] * 2.0


def test_a_loop_that_nothing_was_done_before_has_no_copy():
    text = declining(scaled, A1, A1)
    assert accesses(text) == (2, 0) and text.count("  decline\n") == 1, text
    assert accesses(versions(scaled, A1, A1)) == (3, 1)


def test_a_loop_after_a_store_has_its_copy():
    def f(x, y):
        y[0] = 1.0
        for i in range(x.size):
            y[i] = x[i] * 2.0

    assert "decline" not in declining(f, A1, A1)


def test_of_two_loops_the_first_declines():
    def f(x, y, z):
        for i in range(x.size):
            y[i] = x[i]
        for i in range(x.size):
            z[i] = x[i]

    def g(x, y, z):
        s = 0.0
        for i in range(x.size):
            s += y[i]
        for i in range(x.size):
            s += z[i]
        return s

    assert declining(f, A1, A1, A1).count("  decline\n") == 1
    assert declining(g, A1, A1, A1).count("  decline\n") == 2


def test_what_others_call_does_not_decline():
    def f(x, n):
        if n > 0:
            f(x, n - 1)
        s = 0.0
        for i in range(n):
            s += x[i]
        return s

    assert "decline" not in declining(f, A1, "int")


def first_and_second(x, y):
    if x[0] > 5.0:
        raise ValueError("large")
    s = 0.0
    for i in range(x.size):
        s += y[i]
    return s


def test_a_declined_call_is_made_again():
    f, x = njit(first_and_second), np.arange(4.0)
    assert f(x, x) == 6.0 and f.stats.cache_misses == 1
    with pytest.raises(IndexError, match="index 2 is out of bounds"):
        f(x, x[:2])
    assert len(f.signatures) == 1 and f.stats.cache_misses == 2
    for _ in range(2):
        assert f(x, x) == 6.0
        with pytest.raises(IndexError):
            f(x, x[:2])
    with pytest.raises(ValueError, match="large"):
        f(x + 6.0, x[:2])


def test_nothing_is_done_twice():
    @njit
    def f(x, y, items):
        for i in range(x.size):
            items.append(y[i])
            x[i] += 1.0

    x, items = np.zeros(3), [9.0]
    with pytest.raises(IndexError):
        f(x, np.ones(2), items)
    assert items == [9.0, 1.0, 1.0] and x.tolist() == [1.0, 1.0, 0.0]


def test_of_several_signatures_each_declines():
    @njit(["float64(float64[::1], int64)", "float64(float32[::1], int64)"])
    def f(x, n):
        s = 0.0
        for i in range(n):
            if i < x.size:
                s += x[i]
        return s

    x = np.arange(4.0)
    for n in (3, 9, 3, 9):
        for kind in (np.float64, np.float32):
            assert f(x.astype(kind), n) == f.py_func(x, n)
    assert len(f.signatures) == 2


def test_many_specialisations_decline():
    @njit
    def f(x, n):
        s = x[0]
        for i in range(n):
            if i < x.size:
                s += x[i]
        return s

    kinds = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.float32, np.float64]
    for n in (3, 9, 3, 9):
        for kind in kinds:
            assert f(np.arange(4).astype(kind), n) == f.py_func(np.arange(4), n)
    assert len(f.signatures) == len(kinds)


# ---- loops that end soon --------------------------------------------------------------------------

BRIEF_ROUNDS = 1 << 20


def brief(function, *types, stage="safepoints"):
    return _testing.stage(function, list(types), stage, brief=True).split("\n\n")[0]


def ramp(n):
    s = 0
    for i in range(3, n, 2):
        s += i
    return s


def down(n):
    s = 0
    for i in range(n, -n, -1):
        s += i
    return s


def test_the_rounds_of_many_loops_are_counted():
    namespace = {}
    loops = "".join(f"    for i in range(n + {k}):\n        s += x[i & 3]\n" for k in range(100))
    exec("def f(x, n):\n    s = 0.0\n" + loops + "    return s\n", namespace)
    text = brief(namespace["f"], A1, "int")
    assert text.count("  decline\n") == 100 and "strip_stop" not in text and "safepoint\n" not in text
    compiled = njit(namespace["f"])
    for n in (3, BRIEF_ROUNDS):  # the second declines
        wanted = sum((n + k) // 4 * 6 + (0, 0, 1, 3)[(n + k) % 4] for k in range(100))
        assert compiled(np.arange(4.0), n) == wanted


def test_a_loop_by_itself_does_not_look_if_its_rounds_are_counted():
    for function, types in ((scaled, (A1, A1)), (ramp, ("int",)), (down, ("int",))):
        text = brief(function, *types)
        assert text.count(".brief") == 1 and text.count("  decline\n") == 1, text
        assert "safepoint" not in text and "strip_stop" not in text, text
        text = _testing.stage(function, list(types), "safepoints", in_range=True)
        assert ".brief" not in text and "strip_stop" in text


def test_loops_in_loops_look():
    def f(x, n):
        s = 0.0
        for k in range(n):
            for i in range(x.size):
                s += x[i]
        return s

    def g(n):
        s = 0
        for i in range(n):
            s += i
            while s > 100:
                s -= n
        return s

    for text in (brief(f, A1, "int"), brief(g, "int")):
        assert ".brief" not in text and "safepoint\n" in text, text


@pytest.mark.parametrize("step", ["work(i)", "calling(i)", "i in some", "recursive(i)"])
def test_loops_whose_rounds_may_be_long_look(step):
    """Of a round alone nobody knows how long it takes."""
    space = {}
    exec(f"""
def work(i):
    s = i
    for j in range(i):
        s ^= j
    return s
def calling(i):
    return work(i + 1)
def recursive(i):
    return 0 if i < 1 else recursive(i - 1) + 1
def f(some, n):
    s = 0
    for i in range(n):
        s += {step}
    return s
""", space)
    text = brief(space["f"], "list(int)", "int")
    assert ".brief" not in text and "safepoint\n" in text, text


def test_a_loop_after_a_store_looks():
    def f(x, n):
        x[0] = 1.0
        s = 0
        for i in range(n):
            s += i
        return s

    text = brief(f, A1, "int")
    assert ".brief" not in text and "safepoint\n" in text


@pytest.mark.parametrize("function", [ramp, down])
def test_what_has_many_rounds_is_compiled_again(function):
    f = njit(function)
    # ramp has a round for every second number, down one for two
    most = 2 * BRIEF_ROUNDS + 3 if function is ramp else BRIEF_ROUNDS // 2
    for n in (-5, 0, 1, 7, most, most - 1):
        assert f(n) == function(n) and f.stats.cache_misses == 1, n
    for n in (most + 1, 7, most + 2):
        assert f(n) == function(n) and f.stats.cache_misses == 2, n
    assert len(f.signatures) == 1


def test_rounds_beyond_all_numbers_are_not_few():
    @njit
    def f(a, b):
        s = 0
        for i in range(a, b):
            s += 1
            if i > a + 9:
                break
        return s

    assert f(-(2**63), 2**63 - 1) == 11 and f.stats.cache_misses == 2


def test_for_a_long_array_nothing_is_compiled_twice():
    f, long = njit(scaled), np.ones(BRIEF_ROUNDS + 1, np.int8)
    for x, misses in ((long, 1), (long[:9], 1)):
        y = np.zeros(x.size, np.int8)
        f(x, y)
        assert y.sum() == 2 * x.size and f.stats.cache_misses == misses
