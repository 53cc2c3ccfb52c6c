"""The passes of the middle end, one by one: typed IR before and after, what is noted about functions."""

import re
import textwrap

import numpy as np
import pytest
from conftest import ROOT
from pass_text import A1, noted, run

import krait
from krait import _testing, jit


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
