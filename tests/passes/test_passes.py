"""The passes of the middle end, one by one: typed IR before and after, what is noted about functions."""

import re
import textwrap

import numpy as np
import pytest

from conftest import ROOT
import krait
from krait import cuda, jit
from krait import _testing

A1 = "array(float64, 1, C)"


def run(name, text):
    return _testing.run_pass(name, textwrap.dedent(text))


def noted(name, text):
    """What the pass says about the function: the comments above its text, which must not have changed."""
    after = run(name, text).splitlines()
    facts = [line for line in after if line.startswith("; ")]
    assert after[len(facts) :] == textwrap.dedent(text).splitlines()
    return facts


# ---- the table -------------------------------------------------------------------------------------------------------


def test_readme_lists_the_passes_in_their_order():
    readme = ROOT / "src" / "passes" / "README.md"
    if not readme.exists():
        pytest.skip("the sources are not here")
    rows = re.findall(r"^\| `(\w+)\.c` \|", readme.read_text(encoding="utf-8"), re.M)
    assert rows == [name for name, *_ in _testing.passes()]


def test_an_unknown_pass():
    with pytest.raises(LookupError, match="no pass is called fission"):
        run("fission", "func f() {\nb0:\n  %0 = const None\n  return %0\n}\n")


@pytest.mark.parametrize("name, targets", [(name, targets) for name, _, targets, _ in _testing.passes()])
def test_every_pass_is_timed_and_has_a_text(name, targets):
    @jit
    def f(a):
        a[0] = 1.0

    f(np.zeros(2))
    (metadata,) = f.get_metadata().values()
    assert 0 <= metadata["pass_times"][name] <= metadata["pipeline_times"]["passes"]
    kernel = not targets & 1
    target = "nvptx" if targets == 4 else "host"
    assert "setitem" in _testing.stage(f.py_func, [A1], name, kernel=kernel, target=target)
    if kernel:
        with pytest.raises(Exception, match="the stage has no text for this target"):
            _testing.stage(f.py_func, [A1], name)


# ---- shared ----------------------------------------------------------------------------------------------------------


def shared_arrays(count, alignment):
    return f"""\
func k(x: {A1}) -> None {{
b0:
  %1 = const {count}
  %2 = const dtype(float64)
  %3 = const {alignment}
  %4: {A1} = call_func[krait.cuda.shared.array] %1, %2
  %5: {A1} = call_func[krait.cuda.shared.array] %1, %2, %3
  %6 = const None
  return %6
}}
"""


def test_shared_arrays_that_fill_a_block_exactly():
    text = shared_arrays(3072, "None")
    assert run("shared", text) == text
    assert run("shared", shared_arrays(1, 4096)) == shared_arrays(1, 4096)


@pytest.mark.parametrize("count, alignment, bytes", [(3073, "None", 49184), (3073, 4096, 53248)])
def test_shared_arrays_that_no_block_has(count, alignment, bytes):
    with pytest.raises(ValueError, match=f"take {bytes} bytes, a block has at most 49152"):
        run("shared", shared_arrays(count, alignment))


# ---- join_tests ------------------------------------------------------------------------------------------------------


def chain(first, second, between=""):
    """A test of %0 that may lead to b1, which may test %1 and lead to the same."""
    return f"""\
func f(i: int, j: int, a: {A1}) -> int {{
b0:
  %3 = const 10
  %4: bool = lt %0, %3
  branch %4, {first}
b1:
{between}  %6: int = add %1, %3
  %7: bool = lt %6, %3
  branch %7, {second}
b2:
  return %0
b3:
  return %1
}}
"""


@pytest.mark.parametrize("first, second, joined, to", [
    ("b1, b2", "b3, b2", ["and %4, %7"], "b3, b2"),  # i < 10 and j + 10 < 10
    ("b1, b2", "b2, b3", ["not %7", "and %4, %12"], "b3, b2"),
    ("b2, b1", "b2, b3", ["or %4, %7"], "b2, b3"),
    ("b2, b1", "b3, b2", ["not %7", "or %4, %12"], "b2, b3"),
])
def test_two_tests_become_one(first, second, joined, to):
    after = run("join_tests", chain(first, second))
    assert "b1:" not in after
    assert re.findall(r": bool = ((?:and|or|not) .*)", after) == joined
    assert re.findall(r"branch %\d+, (.*)", after) == [to]


def test_tests_that_read_memory_or_may_raise_stay_behind_the_first():
    for between in "  %5: float64 = getitem %2, %1\n", "  %5: int = floordiv %1, %0\n":
        after = run("join_tests", chain("b1, b2", "b3, b2", between))
        assert "b1:" in after and " and " not in after


def test_what_a_branch_said_is_forgotten_before_it():
    """Of j + 10 it is known below the branch alone that it does not wrap, and what it lies between."""
    text = chain("b1, b2", "b3, b2").replace("add %1, %3", "add.nowrap %1, %3 in 10..20")
    assert "add.nowrap %1, %3 in 10..20" in text
    assert "%6: int = add %1, %3\n" in run("join_tests", text)


# ---- unroll ----------------------------------------------------------------------------------------------------------


def summing(body, over, step="%3"):
    """A loop over range(0, over, step) with that body, which adds %9 to the sum in each round."""
    return f"""\
func f(a: {A1}, n: int) -> float64 {{
b0:
  %2 = const 0
  %3 = const 1
  %4: range = call_func[builtins.range] %2, {over}, {step}
  %5: iter.range(int) = iter %4
  %6 = const float64(0.0)
  jump b1
b1:
  %7: float64 = phi b0 %6, b2 %10
  %8: bool = iter_more %5
  branch %8, b2, b3
b2:
{body}  %10: float64 = add %7, %9
  jump b1
b3:
  return %7
}}
"""


TAKE = "  %11: int = iter_take %5\n"
LOAD = "  %{0}: float64 = getitem %0, %11\n"


@pytest.mark.parametrize("body, over, rounds", [
    (TAKE + LOAD.format(9), "%1", 4),
    (TAKE + LOAD.format(12) + LOAD.format(13) + "  %9: float64 = mul %12, %13\n", "%1", 4),
    (TAKE + LOAD.format(9), "%2", 0),  # a count that LLVM knows
    (TAKE + "  %9: float64 = mul %7, %7\n", "%1", 0),  # no load
    (TAKE + LOAD.format(12) + "  %9: float64 = truediv %12, %12\n", "%1", 4),  # a division
    (TAKE + LOAD.format(9) + "  setitem %0, %11, %9\n", "%1", 4),  # a store
    (TAKE + LOAD.format(9) + "  %12: float64 = call_func[math.sin] %9\n", "%1", 4),  # of the math library
])
def test_rounds_that_become_one(body, over, rounds):
    text = summing(body, over=over)
    assert run("unroll", text) == text.replace("b2:\n", f"b2 unroll {rounds}:\n" if rounds else "b2:\n")


def test_long_loops_of_known_length_are_unrolled_like_others():
    for length, rounds in (64, 0), (65, 4), (1000, 4):
        text = summing(TAKE + LOAD.format(9), over="%3").replace("%3 = const 1\n", f"%3 = const {length}\n")
        text = text.replace("%2, %3, %3", "%2, %3, %13").replace("  %4: range", "  %13 = const 1\n  %4: range")
        assert run("unroll", text) == text.replace("b2:\n", f"b2 unroll {rounds}:\n" if rounds else "b2:\n")


def test_rounds_by_a_step_that_is_not_known():
    """Nobody unrolls them again."""
    for body, rounds in (TAKE + LOAD.format(9), 8), (TAKE + LOAD.format(9) + "  setitem %0, %11, %9\n", 0):
        text = summing(body, over="%1", step="%1")
        assert run("unroll", text) == text.replace("b2:\n", f"b2 unroll {rounds}:\n" if rounds else "b2:\n")


def test_of_loops_in_loops_the_inner_one_is_unrolled():
    text = f"""\
func f(a: {A1}, n: int) -> float64 {{
b0:
  %2 = const float64(0.0)
  jump b1
b1:
  %3: float64 = phi b0 %2, b3 %6
  jump b2
b2:
  %4: float64 = phi b1 %3, b2 %6
  %5: float64 = getitem %0, %1
  %6: float64 = add %4, %5
  %7: bool = lt %6, %5
  branch %7, b2, b3
b3:
  %8: bool = lt %6, %4
  branch %8, b1, b4
b4:
  return %6
}}
"""
    assert run("unroll", text) == text.replace("b2:\n  %4", "b2 unroll 4:\n  %4")


def test_accesses_that_not_every_round_makes():
    """The driver's compiler joins loads of rounds whose addresses are pointers that move, which LLVM makes of these."""
    text = f"""\
func f(a: {A1}, n: int) -> float64 {{
b0:
  %2 = const float64(0.0)
  %3 = const 1
  jump b1
b1:
  %4: float64 = phi b0 %2, b3 %10
  %5: int = phi b0 %1, b3 %11
  %6: float64 = getitem %0, %5
  %7: bool = lt %6, %2
  branch %7, b2, b3
b2:
  %8: float64 = getitem %0, %5
  %9: float64 = getitem %0, %1
  jump b3
b3:
  %10: float64 = phi b1 %4, b2 %8
  %11: int = add %5, %3
  %12: bool = lt %10, %2
  branch %12, b1, b4
b4:
  return %10
}}
"""
    marked = text.replace("b3:\n", "b3 unroll 4:\n").replace("%8: float64 = getitem", "%8: float64 = getitem.skipped")
    assert run("unroll", text) == marked


# ---- written ---------------------------------------------------------------------------------------------------------


def test_written_by_setitem_inplace_and_views():
    assert noted("written", f"""\
        func f(a: {A1}, b: {A1}, c: {A1}, i: int, x: float64) -> None {{
        b0:
          %5 = const slice(None, 3, None)
          %6: {A1} = getitem %2, %5
          setitem.unchecked %0, %3, %4
          setitem.unchecked %6, %3, %4
          %7: float64 = getitem.unchecked %1, %3
          %8 = const None
          return %8
        }}
        """) == ["; writes 0 2"]


def test_written_through_a_phi():
    assert noted("written", f"""\
        func f(a: {A1}, b: {A1}, c: bool, x: float64) -> None {{
        b0:
          branch %2, b1, b2
        b1:
          jump b2
        b2:
          %4: {A1} = phi b0 %0, b1 %1
          %5 = const 0
          setitem.unchecked %4, %5, %3
          %6 = const None
          return %6
        }}
        """) == ["; writes 0 1"]


def test_nothing_is_written():
    assert noted("written", f"""\
        func f(a: {A1}, i: int) -> float64 {{
        b0:
          %2: float64 = getitem.unchecked %0, %1
          return %2
        }}
        """) == []


def test_written_by_callees():
    def store(a, i):
        a[i] = 1.0

    def f(a, b, n):
        if n > 0:
            f(b, a, n - 1)
        store(b, 0)

    store = jit(store)
    f = jit(f)
    text = _testing.stage(f.py_func, [A1, A1, "int"], "written")
    assert [line for line in text.splitlines() if line.startswith("; writes")] == ["; writes 0 1", "; writes 0"]


# ---- effects ---------------------------------------------------------------------------------------------------------


def test_effects_of_a_body():
    assert noted("effects", f"""\
        func f(a: {A1}, i: int) -> float64 {{
        b0:
          %2: float64 = getitem.unchecked %0, %1
          return %2
        }}
        """) == ["; effects read"]
    assert noted("effects", f"""\
        func f(a: {A1}, i: int, x: float64) -> None {{
        b0:
          setitem %0, %1, %2
          %3 = const None
          return %3
        }}
        """) == ["; effects read write raise"]


@jit
def store(a):
    a[0] = 1.0
    return 2


@jit
def down(a, n):
    return down(a, n - 1) if n > 0 else store(a)


def test_effects_of_callees_and_recursion():
    text = _testing.stage(down.py_func, [A1, "int"], "effects")
    facts = [line for line in text.splitlines() if line.startswith("; ")]
    assert facts == ["; recursive, depth 0", "; effects read write raise", "; effects read write raise"]


def test_a_proven_check_is_no_effect():
    def f(a):
        s = 0.0
        for i in range(len(a)):
            s += a[i]
        return s

    assert "raise" not in _testing.stage(f, [A1], "effects").splitlines()[0]


# ---- loops -----------------------------------------------------------------------------------------------------------


def test_a_branch_back_is_a_loop_and_a_join_is_none():
    text = """\
        func f(c: bool) -> None {{
        b0:
          jump b1
        b1:
          branch %0, {first}, b2
        b2:
          %1 = const None
          return %1
        }}
        """
    assert noted("loops", text.format(first="b1")) == ["; loops"]
    assert noted("loops", text.format(first="b2")) == []


# ---- thread_order ----------------------------------------------------------------------------------------------------

KERNEL = """\
    func k(a: array(float64, 2, {layout}), x: float64) -> None {{
    b0:
      %2 = const 2
      %3: (int, int) = call_func[krait.cuda.grid] %2
      %4: int = extract[0] %3
      %5: int = extract[1] %3
      %6: (int, int) = tuple %{first}, %{second}
      setitem.unchecked %0, %6, %1
      %7 = const None
      return %7
    }}
    """


@pytest.mark.parametrize("layout, first, second, along", [
    ("C", 4, 5, "y"), ("C", 5, 4, "x"), ("F", 4, 5, "x"), ("F", 5, 4, "y"),
])
def test_threads_go_along_the_axis_that_memory_follows(layout, first, second, along):
    text = KERNEL.format(layout=layout, first=first, second=second)
    assert noted("thread_order", text) == [f"; threads along {along}, blocks joined"]


def test_a_kernel_that_asks_for_its_block_keeps_its_blocks():
    assert noted("thread_order", f"""\
        func k(a: {A1}, x: float64) -> None {{
        b0:
          %2: int = call_func[krait.cuda.threadIdx.x]
          setitem.unchecked %0, %2, %1
          %3 = const None
          return %3
        }}
        """) == []


# ---- iterators -------------------------------------------------------------------------------------------------------


def shared(text):
    """The operations that the pass marks."""
    after = run("iterators", text)
    assert after.replace(".shared", "") == textwrap.dedent(text)
    return [line.split(" = ")[0].split(":")[0].strip() for line in after.splitlines() if ".shared" in line]


def test_an_iterator_of_one_loop_is_not_shared():
    assert shared("""\
        func f(r: range, a: array(float64, 1, C)) -> int {
        b0:
          %2: iter.range(int) = iter %0
          %3: iter.array(array(float64, 1, C)) = iter %1
          %4: iter.zip(iter.range(int), iter.array(array(float64, 1, C))) = call_func[builtins.zip] %2, %3
          jump b1
        b1:
          %5: bool = iter_more %4
          branch %5, b2, b3
        b2:
          %6: (int, float64) = iter_take %4
          jump b1
        b3:
          %7 = const 1
          return %7
        }
        """) == []


def test_iterators_that_others_see_are_shared():
    """%4: a phi sees it; %5 and its part %2: one of two zips sees the part; %6: made of a phi."""
    assert shared("""\
        func f(r: range, c: bool) -> int {
        b0:
          %2: iter.range(int) = iter %0
          %3: iter.range(int) = iter %0
          branch %1, b1, b2
        b1:
          %4: iter.range(int) = iter %0
          jump b2
        b2:
          %7: iter.range(int) = phi b0 %3, b1 %4
          %5: iter.zip(iter.range(int), iter.range(int)) = call_func[builtins.zip] %2, %2
          %8 = const 0
          %6: iter.enumerate(iter.range(int)) = call_func[builtins.enumerate] %7, %8
          %9: bool = iter_more %5
          %10: bool = iter_more %6
          return %8
        }
        """) == ["%2", "%3", "%4", "%5", "%6"]


MADE_IN_A_LOOP = """\
    func f(r: range, c: bool) -> int {{
    b0:
      %2: iter.range(int) = iter %0
      jump b1
    b1:
      %3: iter.range(int) = phi b0 %2, b1 %4
      {before}
      %4: iter.range(int) = iter %0
      {after}
      branch %1, b1, b2
    b2:
      %7: bool = iter_more %4
      %8 = const 0
      return %8
    }}
    """


def test_an_older_iterator_may_be_used_up_before_the_next_is_made():
    text = MADE_IN_A_LOOP.format(before="%5: bool = iter_more %3", after="%6: bool = iter_more %4")
    assert shared(text) == ["%2", "%4"]


def test_an_older_iterator_is_not_used_beside_the_next():
    text = MADE_IN_A_LOOP.format(before="%6: bool = iter_more %3", after="%5: bool = iter_more %3")
    with pytest.raises(ValueError, match="the one that was made here before may still be in use"):
        run("iterators", text)


# ---- raises ----------------------------------------------------------------------------------------------------------


def test_a_chosen_text_is_told_apart_by_a_number():
    assert run("raises", """\
        func f(c: bool, x: int) -> None {
        b0:
          %2 = const "a"
          %3 = const "b"
          branch %0, b1, b2
        b1:
          jump b2
        b2:
          %4: str = phi b0 %2, b1 %3
          %5: exc#1(str, int) = tuple %4, %1
          raise %5
        }
        """) == textwrap.dedent("""\
        func f(c: bool, x: int) -> None {
        b0:
          %10 = const 0
          branch %0, b1, b2
        b1:
          %11 = const 1
          jump b2
        b2:
          %9: int = phi b0 %10, b1 %11
          %12 = const 0
          %13: bool = eq %9, %12
          branch %13, b3, b4
        b3:
          %15 = const "a"
          %16: exc#1(str, int) = tuple %15, %1
          raise %16
        b4:
          %18 = const "b"
          %19: exc#1(str, int) = tuple %18, %1
          raise %19
        }
        """)


def test_known_texts_stay():
    text = """\
        func f(x: int) -> None {
        b0:
          %1 = const "a"
          %2: exc#1(str, int) = tuple %1, %0
          raise %2
        }
        """
    assert run("raises", text) == textwrap.dedent(text)


# ---- parallel --------------------------------------------------------------------------------------------------------


def summed(x):
    total = 0.0
    for i in krait.prange(1, len(x)):
        total += x[i]
    return total


def test_prange_is_a_range_where_nothing_is_parallel():
    text = _testing.stage(summed, ["array(float64, 1, C)"], "parallel")
    assert "builtins.range" in text and "prange" not in text and "call_inst" not in text


def test_a_parallel_loop_is_a_call_of_a_region_of_a_piece_and_a_join():
    text = _testing.stage(summed, ["array(float64, 1, C)"], "parallel", parallel=True)
    caller, piece, join, region = text.split("\n\n")[:4]
    assert "phi" not in caller and re.search(
        r"(%\d+): int = call_func\[builtins.len\] (%\d+)\n"
        r"  (%\d+): \(float64,\) = tuple (%\d+)\n"
        r"  (%\d+): \(float64,\) = call_inst\[summed#3\] \1, \3, %0\n"
        r"  (%\d+) total: float64 = extract\[0\] \5\n",
        caller,
    )
    # the piece: its numbers as indices, held between the ends of the loop; the sum begins with what changes nothing
    assert re.search(r"= add (%\d+), %0\n  (%\d+): int = add \1, %1\n", piece)
    assert "builtins.max" in piece and "builtins.min" in piece and "const float64(-0.0)" in piece
    assert re.search(r"extract\[0\] %1\n  (%\d+): float64 = extract\[0\] %0\n  (%\d+): float64 = add \1, ", join)
    calls = r"call_inst\[summed#1\] (%\d+), %0, %2\n  (%\d+): \(float64,\) = call_inst\[summed#2\] %1, "
    assert re.search(calls, region)


def test_indices_of_a_parallel_loop_are_known_as_in_a_range():
    text = _testing.stage(summed, ["array(float64, 1, C)"], "intervals", parallel=True)
    assert "getitem.unchecked" in text


# ---- safepoints ------------------------------------------------------------------------------------------------------


def stage(function, *types):
    """Without checks of indices, for which a loop may exist twice."""
    return _testing.stage(function, list(types), "safepoints", boundscheck=False)


def test_loops_of_unknown_length_look():
    def strips(n):
        s = 0
        for i in range(n):
            s += i
        return s

    def at_header(x):
        i = 0
        while i < x:
            i += 2
        return i

    def at_latch(x):
        while True:
            if x[0] > 5:
                return
            x[0] += 1

    for function, argument in ((strips, "int"), (at_header, "int"), (at_latch, A1)):
        text = stage(function, argument)
        assert text.count("safepoint\n") == 1, text
        assert text.count("= spend[") == 1, text
        assert ("strip_stop" in text) == (function is strips), text


def test_loops_that_are_short_do_not_look():
    def short(x):
        for i in range(9):
            for j in range(9):
                x[i, j] = 0
        for t in (1.0, 2.0):
            x[0, 0] += t

    assert "safepoint" not in stage(short, "array(float64, 2, C)")


def test_the_outer_loop_looks_for_short_ones_inside():
    def nested(x, n):
        for i in range(n):
            for j in range(3):
                x[i, j] = 0

    text = stage(nested, "array(float64, 2, C)", "int")
    assert text.count("safepoint\n") == 1, text


def test_a_condition_that_changes_something_is_asked_once():
    """A zip takes its items when it is asked; a call may do anything: these loops look on the way back."""

    def zipped(x, y):
        s = 0.0
        for a, b in zip(x, y):
            s += a * b
        return s

    text = stage(zipped, A1, A1)
    assert text.count("iter_more") == 1, text
    assert "and" not in re.findall(r"= (\w+)", text), text
    for n in (0, 1, 7, 300_000):
        x = np.arange(n) % 7.0
        assert jit(zipped)(x, x[::-1].copy()) == zipped(x, x[::-1].copy())


@pytest.mark.parametrize("step", [1, -1, 2, -3, 65535, -65535])
def test_strips_run_through_the_same_numbers(step):
    """Beyond a strip, at its edges, up to the ends of the numbers there are."""
    namespace = {}
    loop = f"for i in range(a, b, {step}):\n        s ^= i * n\n        n += 1\n"
    exec(f"def f(a, b):\n    s = n = 0\n    {loop}    return s, n\n", namespace)
    f = namespace["f"]
    compiled = jit(f)
    most = 2**63 - 1

    def expected(a, b):
        i, s, n = np.array(range(a, b, step), dtype=np.int64), 0, 0
        n = np.arange(len(i), dtype=np.int64)
        with np.errstate(over="ignore"):
            return int(np.bitwise_xor.reduce(i * n)) if len(i) else 0, len(i)

    spans = [0, 1, 2, 1000, 2**17 - 1, 2**17, 2**17 + 1, 131071 * 3, 400_000]
    for span in spans:
        length = span * step
        assert compiled(5, 5 + length) == expected(5, 5 + length)
        assert compiled(5, 5 + length + (1 if step > 0 else -1)) == expected(5, 5 + length + (1 if step > 0 else -1))
        assert compiled(5, 5 - length) == expected(5, 5 - length)
        edge = most if step > 0 else -most - 1
        assert compiled(edge - length, edge) == expected(edge - length, edge)


@pytest.mark.parametrize("iterable", [lambda n: range(n), lambda n: np.arange(n), lambda n: np.arange(n)[::-1]])
def test_rounds_that_take_two_items(iterable):
    """A loop that is left in its first round, inside a loop over the same iterator, beyond a strip."""

    def f(x):
        it = iter(x)
        s = 0
        for a in it:
            for b in it:
                s ^= a * b
                break
        return s

    compiled = jit(f)
    for n in (0, 1, 2, 3, 500_000, 500_001):
        assert compiled(iterable(n)) == int(f(np.asarray(iterable(n)).tolist()))


# Loops in loops of every kind, the inner ones short and long, with and without values that go on.
NESTED = [
    """
def f(x, n, m):
    s = 0.0
    last = -1
    for i in range(n):
        for j in range(m):
            s = s * 0.5 + x[(i + j) % x.size]
            last = j
    return s, last
""",
    """
def f(x, n, m):
    s = 0.0
    for i in range(n):
        for j in range(i % 5, m, 2):
            s += x[j % x.size]
        for j in range(m, i % 3, -1):
            s -= x[j % x.size] * j
    return s
""",
    """
def f(x, n, m):
    s = 0.0
    for i in range(n):
        for j in range(0, m, n % 3 + 1):
            s = s * 0.25 + j
        s += i
    return s
""",
    """
def f(x, n, m):
    s = 0.0
    for i in range(n):
        for j, (a, b) in enumerate(zip(x[:m], x[1:]), i):
            s = s * 0.5 + a * j - b
        for a in reversed(x[:m]):
            s += a
    return s
""",
    """
def f(x, n, m):
    s = t = 0.0
    for i in range(n):
        s, t = t, s
        for j in range(m):
            s, t = t + x[j % x.size], s * 0.5
            if s > 40.0:
                s = -s
    return s, t
""",
]


@pytest.mark.parametrize("number", range(len(NESTED)))
@pytest.mark.parametrize("sizes", [(0, 3), (3, 0), (2, 1), (5, 4), (40, 9), (3, 300_000), (1, 300_001), (4, 131_072)])
def test_short_loops_in_loops(number, sizes):
    namespace = {}
    exec(NESTED[number], namespace)
    f = namespace["f"]
    x = np.random.default_rng(number).random(max(sizes[1] % 1000, 7))
    n, m = sizes
    assert jit(f)(x, n, m) == f(x, n, m)


def test_a_short_loop_in_a_loop_has_a_twin():
    def nested(x, n, m):
        s = 0.0
        for i in range(n):
            for j in range(m):
                s += x[i, j]
        return s

    text = stage(nested, "array(float64, 2, C)", "int", "int")
    assert text.count("iter_left") >= 1 and text.count(" getitem ") == 2, text
    spends = re.findall(r"= spend\[(\d+)\] %\d+, (%\d+)", text)
    assert len(spends) == 1, text
    assert re.search(rf"{spends[0][1]} = const ([1-9]\d*)\n", text), text  # the outer loop's round is paid with it
    assert len(re.findall(r"= spend\[\d+\]\n", text)) == 0, text


def test_what_a_loop_leaves_behind():
    """Variables after the loop, with break, continue and else, with and without a round."""

    def f(x, n, stop):
        last, count, found = -1, 0, False
        for i in range(n):
            last = i
            if i == stop:
                found = True
                break
            if i & 1:
                continue
            count += 1
        else:
            count = -count
        return last, count, found, x[0]

    compiled = jit(f)
    for n in (0, 1, 2, 300_001):
        for stop in (-1, 0, 1, 262_144, 300_000):
            assert compiled(np.ones(1), n, stop) == f(np.ones(1), n, stop)


@pytest.mark.parametrize("loops, strips", [(40, 40), (520, 0)])
def test_many_loops_are_not_nested(loops, strips):
    namespace = {}
    exec("def f(n):\n    s = 0\n" + "    for i in range(n):\n        s += i\n" * loops + "    return s\n", namespace)
    text = stage(namespace["f"], "int")
    assert (text.count("safepoint\n"), text.count("strip_stop")) == (loops, strips)
    assert jit(namespace["f"])(1000) == namespace["f"](1000)


# ---- recursion -------------------------------------------------------------------------------------------------------


@jit
def tree(n):
    return n if n < 2 else tree(n - 1) + tree(n - 2)


@jit
def long_tree(n):
    s = 0
    s += n * 1 + n // 2 + n * 3 + n // 4 + n * 5 + n // 6 + n * 7 + n // 8
    s += n * 1 + n // 2 + n * 3 + n // 4 + n * 5 + n // 6 + n * 7 + n // 8
    return s if n < 2 else long_tree(n - 1) + long_tree(n - 2)


def calls_by_depth(text):
    """Per function of the program: its depth, and the numbers of the functions that it calls."""
    parts = text.split("; recursive, depth ")[1:]
    return [(int(part.split()[0]), sorted(set(re.findall(r"call_inst\[\w+#(\d+)\]", part)))) for part in parts]


def test_short_recursive_functions_look_at_every_fourth_depth():
    text = _testing.stage(tree.py_func, ["int"], "recursion")
    assert calls_by_depth(text) == [(0, ["1"]), (1, ["2"]), (2, ["3"]), (3, ["0"])]
    assert [tree(n) for n in range(20)] == [tree.py_func(n) for n in range(20)]


def test_long_recursive_functions_look_at_every_depth():
    assert calls_by_depth(_testing.stage(long_tree.py_func, ["int"], "recursion")) == [(0, ["0"])]
    assert long_tree(12) == long_tree.py_func(12)


@jit
def short_even(n):
    return True if n == 0 else long_odd(n - 1)


@jit
def long_odd(n):
    s = n * 1 + n // 2 + n * 3 + n // 4 + n * 5 + n // 6 + n * 7 + n // 8
    s += n * 1 + n // 2 + n * 3 + n // 4 + n * 5 + n // 6 + n * 7 + n // 8
    s += n * 1 + n // 2 + n * 3 + n // 4 + n * 5 + n // 6 + n * 7 + n // 8
    return s == 0 and n < 0 if n == 0 else short_even(n - 1)


def test_every_way_round_leads_through_functions_that_look():
    """A short function and a long one that call each other: the copies of the short one come back to the long one."""
    text = _testing.stage(short_even.py_func, ["int"], "recursion")
    depths = calls_by_depth(text)
    looks = {str(number) for number, (depth, _) in enumerate(depths) if depth == 0}
    assert len(looks) == 2
    for depth, called in depths:
        assert depth == 0 or set(called) <= looks, text
    assert [short_even(n) for n in range(9)] == [n % 2 == 0 for n in range(9)]


# ---- latches, lay_out ------------------------------------------------------------------------------------------------


def test_two_ways_back_to_a_loop_become_one():
    before = """\
        func f(a: array(float64, 1, C), n: int) -> int {
        b0:
          %2 = const 0
          jump b1
        b1:
          %3 i: int = phi b0 %2, b3 %6, b4 %8
          %4: bool = lt %3, %1
          branch %4, b2, b5
        b2:
          %5: bool = gt %3, %2
          branch %5, b3, b4
        b3:
          %6: int = add %3, %3
          jump b1
        b4:
          %7 = const 1
          %8: int = add %3, %7
          jump b1
        b5:
          return %3
        }
        """
    after = run("latches", before)
    assert "%3 i: int = phi b0 %2, b6 %15\n" in after
    assert "b6:\n  %15 i: int = phi b3 %6, b4 %8\n  jump b1\n" in after
    assert after.count("jump b6") == 2 and after.count("jump b1") == 2
    assert run("latches", after) == after


def rounds_laid_out(kernel, *types):
    """Rounds of the loops that are laid out whole."""
    text = _testing.stage(kernel, types, "lay_out", target="nvptx")
    return sorted(int(rounds) for rounds in re.findall(r"^b\d+ unroll (\d+) whole:", text, re.M))


def test_loops_that_index_local_arrays_are_laid_out():
    def kernel(a, out):
        row = cuda.local.array(33, np.int32)
        for j in range(33):
            row[j] = j
        for i in range(1000):  # its rounds follow one after the other
            for j in range(1, 33):
                row[j] = row[j - 1] + a[i, j]
        out[0] = row[32]

    assert rounds_laid_out(kernel, "array(int32, 2, C)", "array(int32, 1, C)") == [32, 33]
    text = _testing.compile(kernel, "array(int32, 2, C); array(int32, 1, C)")
    assert ".local" not in text


def test_long_loops_and_loops_of_unknown_length_are_not_laid_out():
    def kernel(a, out, n):
        total = 0
        for i in range(40):
            for j in range(40):
                for k in range(3):
                    total += a[i, j] * (i + j + k)
        for i in range(n):
            total += a[i, 0]
        for i in range(129):
            total += a[0, i]
        out[0] = total

    assert rounds_laid_out(kernel, "array(int32, 2, C)", "array(int32, 1, C)", "int") == [3]
