"""The passes of the middle end, one by one: typed IR before and after, what is noted about functions."""

import re
import textwrap

import numpy as np
import pytest

from conftest import ROOT
from krait import jit
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
    with pytest.raises(LookupError, match="no pass is called fusion"):
        run("fusion", "func f() {\nb0:\n  %0 = const None\n  return %0\n}\n")


@pytest.mark.parametrize("name", [name for name, *_ in _testing.passes()])
def test_every_pass_is_timed_and_has_a_text(name):
    @jit
    def f(a):
        a[0] = 1.0

    f(np.zeros(2))
    (metadata,) = f.get_metadata().values()
    assert 0 <= metadata["pass_times"][name] <= metadata["pipeline_times"]["passes"]
    assert "setitem" in _testing.stage(f.py_func, [A1], name)


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
    assert [line for line in text.splitlines() if line.startswith("; ")] == ["; writes 0 1", "; writes 0"]
