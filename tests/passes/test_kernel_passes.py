"""The passes that kernels need, one by one: typed IR before and after, what is noted about functions."""

import re

import numpy as np
import pytest
from oracle import make
from pass_text import A1, noted, run

from krait import _testing, cuda


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


def squares(count):
    """So many multiplications of what is loaded."""
    return TAKE + LOAD.format(20) + "".join(f"  %{k + 1}: float64 = mul %{k}, %{k}\n" for k in range(20, 20 + count))


@pytest.mark.parametrize("body, over, rounds", [
    (TAKE + LOAD.format(9), "%1", 4),
    (TAKE + LOAD.format(12) + LOAD.format(13) + "  %9: float64 = mul %12, %13\n", "%1", 4),
    (TAKE + LOAD.format(9), "%2", 0),  # a count that LLVM knows
    (TAKE + "  %9: float64 = mul %7, %7\n", "%1", 4),  # no load: it only computes
    (TAKE + "  %9: float64 = cast %11\n", "%1", 0),  # hardly
    (TAKE + LOAD.format(12) + "  %9: float64 = truediv %12, %12\n", "%1", 4),  # a division
    (TAKE + LOAD.format(9) + "  setitem %0, %11, %9\n", "%1", 4),  # a store
    (TAKE + LOAD.format(9) + "  %12: float64 = call_func[math.sin] %9\n", "%1", 4),  # of the math library
    (squares(8) + "  %9: float64 = add %28, %28\n", "%1", 2),  # computes more than it loads
    (squares(12) + "  %9: float64 = add %32, %32\n", "%1", 0),  # much more
    (squares(8) + "  %9: float64 = add %28, %28\n  setitem %0, %11, %9\n", "%1", 0),
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


LOOP_IN_LOOP = f"""\
func f(a: {A1}, n: int) -> float64 {{
b0:
  %2 = const float64(0.0)
  %3 = const 1
  jump b1
b1:
  %4: float64 = phi b0 %2, b3 %8
  jump b2
b2:
  %5: float64 = phi b1 %4, b2 %8
  %6: int = phi b1 %3, b2 %9
  %7: float64 = getitem %0, %6
  %8: float64 = add %5, %7
  %9: int = add %6, %3
  %10: bool = lt ASKED
  branch %10, b2, b3
b3:
  %11: bool = lt %8, %4
  branch %11, b1, b4
b4:
  return %8
}}
"""


@pytest.mark.parametrize("asked, rounds", [
    ("%9, %1", 4),
    ("%7, %2", 0),  # what is loaded ends the loop,
    ("%8, %4", 0),  # and what is computed of it,
    ("%5, %2", 0),  # also in the round before
])
def test_of_loops_in_loops_the_inner_one_is_unrolled_unless_it_searches(asked, rounds):
    text = LOOP_IN_LOOP.replace("ASKED", asked)
    assert run("unroll", text) == text.replace("b2:\n", f"b2 unroll {rounds}:\n" if rounds else "b2:\n")
    writing = text.replace("  %10: bool", "  setitem %0, %9, %8\n  %10: bool")
    assert run("unroll", writing) == writing.replace("b2:\n", "b2 unroll 4:\n")


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
  %12: bool = lt %11, %1
  branch %12, b1, b4
b4:
  return %10
}}
"""
    marked = text.replace("b3:\n", "b3 unroll 4:\n").replace("%8: float64 = getitem", "%8: float64 = getitem.skipped")
    assert run("unroll", text) == marked


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


def test_the_rounds_of_a_digest_are_laid_out():
    mixing = "        a, b = a + (b >> 3 ^ b << 5) + word, b ^ (a >> 7 ^ a << 9)\n" * 4
    kernel = make(f"""def kernel(x, out):
    words, a, b = cuda.local.array(16, np.uint32), x[0], x[1]
    for t in range(16):
        words[t] = x[t]
    for t in range(64):
        word = words[t % 16]
{mixing}        words[t % 16] = a
    out[0], out[1] = a, b
""", cuda=cuda, np=np)
    types = "array(uint32, 1, C)", "array(uint32, 1, C)"
    assert rounds_laid_out(kernel, *types) == [16, 64]
    assert ".local" not in _testing.compile(kernel, "; ".join(types))


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
