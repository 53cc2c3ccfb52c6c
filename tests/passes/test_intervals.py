"""The pass `intervals`: what integers lie between, and what follows from it, under all that wraps."""

import re
import textwrap

import numpy as np
import pytest
from oracle import agree, make
from pass_text import run

from krait import _testing, jit

I64 = "array(int64, 1, C)"
EXTENT = 2**63 // 8 - 1  # of an array of 8-byte items


def pass_text(text):
    return run("intervals", text)


def after(function, *types, **options):
    return _testing.stage(function, types, "intervals", **options)


def line_of(text, pattern):
    (line,) = (line for line in text.splitlines() if re.search(pattern, line))
    return line.strip()


# ---- text before and after -------------------------------------------------------------------------------------------


def test_golden_loop_with_guard():
    assert pass_text("""\
        func f(a: array(float64, 1, C), n: int) -> float64 {
        b0:
          %2: (int,) = getattr[shape] %0
          %3: int = extract[0] %2
          %4 = const 0
          %5 = const 1
          %6: range = call_func.checked[builtins.range] %4, %3, %5
          %7: iter.range(int) = iter %6
          %8 = const float64(0.0)
          jump b1
        b1:
          %9: float64 = phi b0 %8, b3 %14
          %10: bool = iter_more %7
          branch %10, b2, b4
        b2:
          %11: int = iter_take %7
          %12: bool = lt %11, %5
          branch %12, b3, b5
        b3:
          %14: float64 = phi b2 %9, b5 %17
          jump b1
        b5:
          %15: int = sub %11, %5
          %16: float64 = getitem %0, %15
          %17: float64 = add %9, %16
          jump b3
        b4:
          return %9
        }
        """) == textwrap.dedent(f"""\
        func f(a: array(float64, 1, C), n: int) -> float64 {{
        b0:
          %2: (int,) = getattr[shape] %0
          %3: int = extract[0] %2 in 0..{EXTENT}
          %4 = const 0
          %5 = const 1
          %6: range = call_func.unchecked.checked[builtins.range] %4, %3, %5
          %7: iter.range(int) = iter %6
          %8 = const float64(0.0)
          jump b1
        b1:
          %9: float64 = phi b0 %8, b3 %14
          %10: bool = iter_more %7
          branch %10, b2, b4
        b2:
          %11: int = iter_take %7 in 0..{EXTENT - 1}
          %12: bool = lt %11, %5
          branch %12, b3, b5
        b5:
          %15: int = sub.nowrap %11, %5 in 0..{EXTENT - 2}
          %16: float64 = getitem.unchecked %0, %15
          %17: float64 = add %9, %16
          jump b3
        b3:
          %14: float64 = phi b2 %9, b5 %17
          jump b1
        b4:
          return %9
        }}
        """)


def test_golden_numbers_that_wrap():
    assert pass_text("""\
        func f(a: int8, b: uint8, n: int) -> int8 {
        b0:
          %3 = const int8(100)
          %4: int8 = lshift %3, %0
          %5 = const uint8(15)
          %6: uint8 = and %1, %5
          %7 = const uint8(3)
          %8: uint8 = mul %6, %7
          %9: uint8 = mul %8, %7
          %10: uint8 = mul %9, %7
          %11: int8 = neg %0
          %12: int = cast %8
          %13: int = sub %12, %2
          return %4
        }
        """) == textwrap.dedent("""\
        func f(a: int8, b: uint8, n: int) -> int8 {
        b0:
          %3 = const int8(100)
          %4: int8 = lshift %3, %0
          %5 = const uint8(15)
          %6: uint8 = and %1, %5 in ..15
          %7 = const uint8(3)
          %8: uint8 = mul.nowrap %6, %7 in ..45
          %9: uint8 = mul.nowrap %8, %7 in ..135
          %10: uint8 = mul %9, %7
          %11: int8 = neg %0
          %12: int = cast %8 in 0..45
          %13: int = sub %12, %2
          return %4
        }
        """)


def test_golden_checks_that_cannot_fail():
    assert pass_text(f"""\
        func f(a: array(int8, 1, C), b: {I64}, x: int, y: int8) -> int {{
        b0:
          %4 = const 7
          %5: int = and %2, %4
          %6: int8 = cast.checked %5
          setitem.checked %0, %5, %5
          %7 = const 1
          %8: int = add %5, %7
          %9: int = floordiv.checked %2, %8
          %10: int = lshift.checked %7, %5
          %11: (int, int) = tuple %9, %10
          %12: int = getitem %11, %5
          return %12
        }}
        """) == textwrap.dedent(f"""\
        func f(a: array(int8, 1, C), b: {I64}, x: int, y: int8) -> int {{
        b0:
          %4 = const 7
          %5: int = and %2, %4 in 0..7
          %6: int8 = cast %5 in 0..7
          %15: int8 = cast %5
          setitem %0, %5, %15
          %7 = const 1
          %8: int = add.nowrap %5, %7 in 1..8
          %9: int = floordiv.unchecked.checked %2, %8
          %10: int = lshift.unchecked.checked %7, %5 in 1..128
          %11: (int, int) = tuple %9, %10
          %12: int = getitem %11, %5
          return %12
        }}
        """)


# ---- indices that need no wrap-around --------------------------------------------------------------------------------


def is_forward(text, pattern):
    line = line_of(text, pattern)
    return ".forward" in line or bool(re.search(r" in \d+\.\.", line))


@pytest.mark.parametrize("head, marked", [
    ("range(n)", True), ("range(2, n)", True), ("range(n, 0, -1)", True), ("range(n, -1, -1)", True),
    ("range(n, -2, -1)", False), ("range(-1, n)", False), ("range(m, n)", False), ("range(0, n, m)", False),
])
def test_numbers_of_a_range(head, marked):
    function = make(f"def f(n, m):\n    s = 0\n    for i in {head}:\n        s = s ^ i\n    return s\n")
    assert is_forward(after(function, "int", "int"), "iter_take") is marked


@pytest.mark.parametrize("condition, marked", [
    ("i > 0", True), ("0 < i", True), ("i >= 1", True), ("not i < 1", True), ("not i <= 0", True), ("i == 5", True),
    ("0 < i < n", True), ("n > 3 and i > 7", True), ("(i > 2) & (n > 0)", True), ("0 < m < i", True),
    ("i >= 0", False), ("i > -1", False), ("i < 1", False), ("i != 0", False), ("n > 0", False), ("not i > 0", False),
    ("i > 0 or n > 0", False), ("(i > 2) | (n > 0)", False),
])
def test_a_difference_behind_a_comparison(condition, marked):
    """Reached only where i >= 1 holds, i - 1 is not negative; i is any int."""
    function = make(f"def f(i, n, m):\n    if {condition}:\n        return i - 1\n    return 7\n")
    assert is_forward(after(function, "int", "int", "int"), r"= sub|sub\.") is marked


@pytest.mark.parametrize("i, marked", [
    ("len(a)", True), ("a.shape[0]", True), ("len(a) + 1", True), ("len(a) * n", False), ("n", False),
])
def test_a_difference_behind_a_test_for_zero(i, marked):
    """i != 0 says i >= 1 of a number that is not negative whatever wraps, of no other: kernels rely on it."""
    function = make(f"def f(a, n):\n    i = {i}\n    if i != 0:\n        return i - 1\n    return 7\n")
    assert is_forward(after(function, I64, "int"), r"= sub|sub\.") is marked


def test_the_other_side_of_a_comparison():
    function = make("def f(i):\n    if i < 4:\n        return 0\n    return i - 4\n")
    assert is_forward(after(function, "int"), "sub")
    function = make("def f(i):\n    if i < 4:\n        return 0\n    return i - 5\n")
    assert not is_forward(after(function, "int"), "sub")
    function = make("def f(i):\n    if i < 4:\n        i = 9\n    return i - 4\n")
    assert is_forward(after(function, "int"), "sub")
    function = make("def f(i):\n    if i < 4:\n        i = 3\n    return i - 4\n")
    assert not is_forward(after(function, "int"), "sub")


def test_counters_and_shapes():
    function = make("""
        def f(a, k):
            i = 0
            while i < len(a):
                a[i] = 1
                i += 2
            j = a.shape[0] // 2 % 7
            a[j] = 1
            for n, x in enumerate(a):
                a[n] = x
            q = i - 1
            return q
        """)
    text = after(function, I64, "int")
    assert is_forward(text, r" i: int = add")
    assert is_forward(text, "floordiv") and is_forward(text, " n: int = extract")
    assert not is_forward(text, " q: int = sub")


def test_a_product_that_may_wrap_is_an_index_without_wrap_around_and_no_more():
    """As a Python int i * i is not negative; the machine's number may be: a division must not take it for unsigned."""

    def f(n):
        s = 0
        for i in range(n):
            p = i * i
            s ^= p % 7
        return s

    line = line_of(after(f, "int"), " p: int")
    assert ".forward" in line and " in " not in line and "nowrap" not in line


# ---- what an interval is ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("expression, bounds", [
    ("x & 12", "0..12"), ("x % 10", "0..9"), ("x % -10", "-9..0"), ("(x & 7) << 2", "0..28"),
    ("(x & 255) >> 3", "0..31"),
    ("(x & 255) // 10", "0..25"), ("-(x & 3)", "-3..0"), ("~(x & 3)", "-4..-1"), ("(x & 3) * -5", "-15..0"),
    ("(x & 6) | 8", "8..15"), ("(x & 6) ^ 8", "0..15"), ("min(x, 5)", "..5"), ("max(x, 5)", "5.."),
    ("max(min(x, 9), -2)", "-2..9"), ("abs(x % 9 - 4)", "0..4"), ("(x % 5) ** 3", "0..64"),
    ("x // 2**40", "-8388608..8388607"),
    ("np.int8(x % 3) + np.int8(1)", "1..3"), ("len(a)", f"0..{EXTENT}"), ("a.size + 1", f"1..{EXTENT + 1}"),
    ("(1, 5, 3)[x]", "1..5"), ("(x if 2 < x < 10 else 4) + 1", "4..10"), ("int(np.uint8(x & 255))", "0..255"),
    ("range(10)[x]", "0..9"), ("range(20, 2, -3)[x]", "5..20"), ("len(range(3, 10))", "0..7"),
])
def test_bounds(expression, bounds):
    function = make(f"def f(x, a):\n    v = {expression}\n    return v\n", np=np)
    (line,) = (line for line in after(function, "int", I64).splitlines() if re.search(r"%\d+ v: ", line))
    assert line.endswith(f" in {bounds}"), line


@pytest.mark.parametrize("place, bounds", [
    ("cuda.grid(1)", f"0..{1024 * (2**31 - 1) - 1}"), ("cuda.threadIdx.x", "0..1023"), ("cuda.threadIdx.z", "0..63"),
    ("cuda.blockDim.y", "1..1024"), ("cuda.blockIdx.z", "0..65534"), ("cuda.gridDim.x", f"1..{2**31 - 1}"),
    ("cuda.laneid", "0..31"), ("cuda.gridsize(1)", f"1..{1024 * (2**31 - 1)}"),
    ("cuda.grid(2)[1]", f"0..{1024 * (2**31 - 1) - 1}"),
    ("cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x", f"0..{1024 * (2**31 - 1) - 1}"),
])
@pytest.mark.parametrize("target", ["host", "nvptx"])
def test_bounds_of_places(place, bounds, target):
    from krait import cuda

    kernel = make(f"def f(a):\n    v = {place}\n    a[v] = v\n", cuda=cuda)
    text = _testing.stage(kernel, [I64], "intervals", target=target, kernel=True)
    lines = [line for line in text.splitlines() if re.search(r"%\d+ v: ", line)]
    assert lines and all(line.endswith(f" in {bounds}") for line in lines), text


@pytest.mark.parametrize("expression, bounds", [
    ("n", f"{1 - 2**30}..{2**30 - 1}"), ("a.size", f"0..{2**30}"), ("a.shape[0] - 1", f"-1..{2**30 - 1}"),
    ("cuda.grid(1)", f"0..{2**30 - 1}"), ("cuda.gridsize(1)", f"1..{2**30}"), ("cuda.blockIdx.x", f"0..{2**20}"),
    ("cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x", f"0..{2**30 + 1023}"),
])
def test_bounds_in_a_small_call(expression, bounds):
    from krait import cuda

    kernel = make(f"def f(a, n):\n    v = {expression}\n    a[v] = v\n", cuda=cuda)
    text = _testing.stage(kernel, [I64, "int"], "intervals", target="nvptx", small=True)
    lines = [line for line in text.splitlines() if re.search(r"%\d+ (v|n): ", line)]
    assert lines and lines[-1].endswith(f" in {bounds}"), text


@pytest.mark.parametrize("index, known", [
    ("i + 1", True), ("i + np.int32(1)", True), ("i + k", True), ("i - k", False), ("i - 1", False), ("i + j", False),
    ("i * 2", False), ("i + i", False), ("np.int32(i + 1) + 1", False), ("int(i + 1) - 1", False),
    ("np.int8(i + 1)", False), ("int(np.int16(i + k))", False), ("int(i + 1)", True),
])
def test_a_sum_of_an_int32_that_wraps_lies_outside_small_arrays(index, known):
    kernel = make(f"""def f(a, b, j):
    i, k = np.int32(b[0]), np.int32(a.size)
    if i >= 0:
        a[{index}] = 1
""", np=np)
    int32 = I64.replace("int64", "int32")
    for small in (True, False):
        text = _testing.stage(kernel, [I64, int32, "int32"], "intervals", target="nvptx", small=small)
        assert line_of(text, r" *setitem").startswith("setitem.forward") == (known and small), text


@pytest.mark.parametrize("condition, inside", [
    ("0 <= i < a.size", True), ("i >= 0 and i < np.int32(a.size)", True), ("not (i < 0 or i >= a.size)", True),
    ("0 <= i <= a.size", False), ("i < a.size", False), ("i >= 0 or i < a.size", False),
])
def test_comparisons_of_numpy_scalars_are_believed(condition, inside):
    text = after(make(f"def f(a, i):\n    if {condition}:\n        a[i] = 1\n", np=np), I64, "int32")
    assert ("setitem.unchecked" in text) == inside, text


def test_an_array_with_more_items_than_its_memory_had_makes_no_call_small():
    from krait import cuda

    kernel = make("def f(a, out):\n    n = a.view(np.int8).size\n    out[0] = n\n", cuda=cuda, np=np)
    text = _testing.stage(kernel, [I64, I64], "intervals", target="nvptx", small=True)
    assert line_of(text, r"%\d+ n: int = getattr").endswith(" in 0..")


def test_parameters_lie_within_what_calls_pass():
    namespace = {}
    exec("def g(x, y):\n    return x + y\n\ndef f(n):\n    s = 0\n    for i in range(10):\n"
         "        s += g(i, 5) * g(i + 1, 7)\n    return s\n", namespace)
    text = after(namespace["f"], "int")
    assert re.search(r"= add.nowrap %0, %1 in 5\.\.17", text), text


def test_parameters_of_recursive_functions_may_be_anything():
    namespace = {}
    exec("def g(x):\n    if x > 100:\n        return x\n    return g(x + 1) + x\n\n"
         "def f():\n    return g(5)\n", namespace)
    assert "in 5.." not in after(namespace["f"])


@pytest.mark.parametrize("loop, bounds", [
    ("for i in range(10): pass", "0..9"), ("for i in range(3, 30, 5): pass", "3..28"),
    ("for i in range(x): pass", f"0..{2**63 - 2}"),
    ("for i in range(9, -1, -1): pass", "0..9"), ("for i in reversed(range(4, 9)): pass", "4..8"),
    ("for i in range(1, 32, 8): pass", "1..25"), ("for i in range(20, 1, -3): pass", "2..20"),
    ("for i in range(3, 3 + 8, 8): pass", "3..3"),
    ("for i in (3, 9, -2): pass", "-2..9"), ("for i, y in enumerate(a): pass", f"0..{EXTENT - 1}"),
    ("for i, y in enumerate(a, 5): pass", f"5..{EXTENT + 4}"), ("for y, i in zip(a, range(5)): pass", "0..4"),
])
def test_bounds_in_loops(loop, bounds):
    function = make(f"def f(x, a):\n    i = 0\n    {loop}\n    return i\n")
    text = after(function, "int", I64)
    (line,) = (line for line in text.splitlines() if re.search(r"%\d+ i: int = (iter_take|extract)", line))
    assert line.endswith(f" in {bounds}"), line


def bounds_of(text, pattern):
    return {line.rsplit(" in ")[-1] for line in text.splitlines() if re.search(pattern, line)}


def test_while_loops_are_narrowed_again():
    function = make("""
        def f(n):
            i = 0
            while i < 100:
                j = 50
                while j > i:
                    j -= 3
                i += 7
            return i, j
        """)
    text = after(function, "int")
    assert bounds_of(text, r" i: int = phi") <= {"0..98", "0..99", "0..106", "7..106"}
    assert bounds_of(text, r" j: int = phi") <= {"1..50", "-2..50", "-1..50"}


@pytest.mark.parametrize("loops, bounds", [
    ("for i in range(8): s += int(a[i])", "0..2040"),
    ("for i in range(8): s -= int(a[i])", "-2040..0"),
    ("for i in range(8):\n        if a[i] > n: s += int(a[i])\n        else: s -= 1", "-8..2040"),
    ("for i in range(20, 1, -3): s += 5", "0..35"),
    ("for i in range(4):\n        for k in range(3): s += int(a[k])", "0..3060"),
    ("for i in range(4):\n        t = 0\n        for k in range(3): t += int(a[k])\n        s += t", "0..3060"),
    ("i = 0\n    while i < 12:\n        s += int(a[i])\n        i += 3", "0..765"),
    ("for i in range(2**40): s += 2**40", None),  # goes around
    ("for i in range(8): s = s * 2 + 1", None),
    ("for i in range(n): s = i - s", None),
    ("for x in a: s += int(x)", None),
])
def test_sums_are_bounded_by_the_rounds_of_their_loop(loops, bounds):
    function = make(f"def f(a, n):\n    s = 0\n    {loops}\n    return s\n")
    text = after(function, "array(uint8, 1, C)", "int")
    lines = [line for line in text.splitlines() if re.search(r" s: int = phi", line)]
    assert lines and any(line.endswith(f" in {bounds}") if bounds else " in " not in line for line in lines), text


def test_a_sum_of_an_earlier_round_is_no_sum_of_this_one():
    function = make("""
        def f(n):
            a, b, s = 0, 0, 0
            for i in range(n):
                a, b = b + 1, a + 1000
                for k in range(3):
                    s, a = a, s + 1
            return a, b, s
        """)
    assert not re.search(r" [abs]: int = phi.* in ", after(function, "int"))


def test_rounds_that_take_nothing_of_an_iterator_are_counted_by_no_range():
    function = make("""
        def f():
            three = iter(range(3))
            s = 0
            while True:
                for i in three:
                    s += 1
                    break
                else:
                    s += 10
                    if s > 200:
                        return s
        """)
    text = after(function)
    assert " s: int = phi" in text
    assert not re.search(r" s: int = phi.* in ", text)


# ---- accesses in range -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("body, proven", [
    ("for i in range(len(a)): a[i] = 1", True),
    ("for i in range(a.shape[0] - 1): a[i + 1] = 1", True),
    ("for i in range(a.shape[0] - 1): a[i + 2] = 1", False),
    ("for i in range(len(a) - 1, -1, -1): a[i] = 1", True),
    ("for i in range(len(a), 0, -1): a[i] = 1", False),
    ("for i in reversed(range(len(a))): a[i] = 1", True),
    ("for i, x in enumerate(a): a[i] = x", True),
    ("for i, x in enumerate(a, 1): a[i] = x", False),
    ("for i in range(len(a) + 1): a[i] = 1", False),
    ("for i in range(n):\n        if i < len(a): a[i] = 1", True),
    ("for i in range(n):\n        if i >= len(a): break\n        a[i] = 1", True),
    ("for i in range(-1, len(a)): a[i] = 1", False),
    ("if 0 <= n < len(a): a[n] = 1", True),
    ("if n < len(a): a[n] = 1", False),
    ("i = 0\n    while i < len(a):\n        a[i] = 1\n        i += 1", True),
    ("i = 0\n    while i <= len(a):\n        a[i] = 1\n        i += 1", False),
    ("for i in range(len(b)): a[i] = 1", False),
    ("for i in range(min(len(a), len(b))): a[i] = b[i]", True),
    ("m = min(len(a), n)\n    for i in range(m): a[i] = 1", True),
    ("a[n % len(a)] = 1", True),
    ("v = a[1:]\n    for i in range(len(v)): v[i] = 1", True),
    ("v = a\n    for i in range(len(v)):\n        v[i] = 1\n        v = v[1:]", False),
    ("m = 0\n    v = a\n    for i in range(n):\n"
     "        if i < m: v[i] = 1\n        m = len(v)\n        v = v[1:]", False),
])
def test_an_access_is_in_range(body, proven):
    function = make(f"def f(a, b, n):\n    {body}\n")
    lines = [line for line in after(function, I64, I64, "int").splitlines() if "  setitem" in line]
    assert [".unchecked" in line for line in lines] == [proven]


def test_every_axis_must_be_in_range():
    function = make("""
        def f(a, n):
            for i in range(a.shape[0]):
                for j in range(a.shape[1]):
                    a[i, j] = 1.0
                    a[j, i] = 2.0
        """)
    text = after(function, "array(float64, 2, C)", "int")
    assert ["unchecked" in line for line in text.splitlines() if "  setitem" in line] == [True, False]


def test_nothing_raises_any_more():
    """A function of which all checks are proven returns no status."""

    @jit
    def f(a):
        s = 0.0
        for i in range(1, len(a) - 1):
            s += a[i - 1] + a[i + 1]
        return s

    x = np.arange(10.0)
    assert f(x) == f.py_func(x)
    (text,) = f.inspect_llvm().values()
    assert "IndexError" not in text and "out of bounds" not in text


def test_llvm_is_told_what_does_not_wrap():
    def f(a, k):
        for i in range(1, len(a) - 1):
            a[i] = a[i - 1] + a[i + 1]
        return k + 1, (k & 7) * 3

    text = _testing.stage(f, ["array(float64, 1, C)", "int"], "llvm")
    assert re.findall(r"= (\w+ .*)i64 [%\w]+, (-?\d+)$", text, re.M).count(("add nuw nsw ", "1")) == 1
    assert "add i64 %" in text and "mul nuw nsw i64" in text and "sub nuw nsw i64" in text


# ---- wrong answers that came of wrapped numbers ----------------------------------------------------------------------


def test_shifted_and_added_small_integers_wrap():
    a = np.arange(300)

    def shifted(n):
        return a[np.int8(100) << n]

    def added(k):
        return a[np.int8(k) + np.int8(127)]

    def power(n):
        return 2 ** (np.int8(64) << n)

    def less(n):
        return (np.int8(100) << n) < 0, np.int16(300) * np.int16(n) < 0

    def divided(n):
        v = np.int32(2**31 - 1) + np.int32(n)
        return v // np.int32(7), v % np.int32(7)

    def converted(n):
        return np.uint64(np.int8(127) + np.int8(n))

    for n in (np.int8(0), np.int8(1), np.int8(3)):
        agree(shifted, n)
        agree(power, n)
        agree(less, n)
    for k in (0, 1, -1, 100):
        agree(added, k)
        agree(divided, k)
        agree(converted, k)


def test_a_counter_that_wraps():
    def f(n):
        k = np.uint8(250)
        seen = 0
        while seen < n:
            k += np.uint8(1)
            seen += 1
            if k < np.uint8(10):
                return k, np.int8(k) - np.int8(100)
        return k, np.int8(0)

    for n in (0, 3, 20):
        agree(f, n)


# ---- long functions --------------------------------------------------------------------------------------------------


def test_many_loops_and_branches():
    lines = ["def f(n):", "    s = 0"]
    for k in range(300):
        lines += [f"    for i{k} in range(n):", f"        if i{k} > {k}:", f"            s += i{k} - {k}"]
    function = make("\n".join([*lines, "    return s"]))
    text = after(function, "int")
    assert sum("sub.nowrap" in line for line in text.splitlines()) == 300
