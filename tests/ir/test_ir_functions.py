"""Functions of the intermediate representation: order, dominators, what is removed and renumbered."""

import re

import pytest
from hypothesis import given, settings, strategies as st

from ir_cases import CANONICAL, run
from portions import examples

# ---- passes ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CANONICAL)
def test_clone_is_equal_and_shares_nothing_that_changes(name):
    assert run("clone", CANONICAL[name]) == CANONICAL[name]


def test_order_sorts_and_drops_unreachable_blocks():
    assert run("order", """\
func f(c) {
b0:
  branch %0, b4, b2
b1:
  jump b2
b2:
  %1 = phi b0 %0, b1 %3, b3 %0, b4 %4
  return %1
b3:
  %2 = not %0
  %3 = not %2
  branch %3, b1, b2
b4:
  %4 = not %0
  jump b2
}
""") == """\
func f(c) {
b0:
  branch %0, b4, b2
b4:
  %4 = not %0
  jump b2
b2:
  %1 = phi b0 %0, b4 %4
  return %1
}
"""


def test_the_body_of_a_loop_stands_before_what_follows_it():
    text = run("order", """\
func f(c) {
b0:
  jump b1
b3:
  return %0
b1:
  branch %0, b2, b3
b2:
  jump b1
}
""")
    assert re.findall(r"^(b\d):", text, re.M) == ["b0", "b1", "b2", "b3"]


def test_trivial_phis():
    assert run("trivial_phis", """\
func f(c, x) {
b0:
  jump b1
b1:
  %2 = phi b0 %1, b3 %4
  %3 kept = phi b0 %0, b3 %5
  branch %0, b2, b3
b2:
  jump b3
b3:
  %4 name = phi b1 %2, b2 %2
  %5 = phi b1 %3, b2 %0
  branch %4, b1, b4
b4:
  %6 = phi b3 %4
  return %6
}
""") == """\
func f(c, x) {
b0:
  jump b1
b1:
  %3 kept = phi b0 %0, b3 %5
  branch %0, b2, b3
b2:
  jump b3
b3:
  %5 = phi b1 %3, b2 %0
  branch %1, b1, b4
b4:
  return %1
}
"""


def test_dead_values():
    assert run("dead", """\
func f(c: int, unused: int) {
b0:
  %2 = const 1
  %3 = add %0, %2
  %4 = call %0
  %5 = truediv %0, %2
  %6 = add.inplace %0, %2
  %7 = cell
  jump b1
b1:
  %8 = phi b0 %3, b1 %9
  %9 = neg %8
  %10: float = truediv %0, %2
  %11: float = truediv.checked %0, %2
  %12 = getitem.unchecked %0, %2
  %13: float32 = add.inplace %0, %2
  %14: float = call_func[math.sin] %0
  %15: float = call_func.checked[math.sin] %0
  branch %0, b1, b2
b2:
  return %0
}
""") == """\
func f(c: int, unused: int) {
b0:
  %2 = const 1
  %4 = call %0
  %5 = truediv %0, %2
  %6 = add.inplace %0, %2
  %7 = cell
  jump b1
b1:
  %11: float = truediv.checked %0, %2
  %15: float = call_func.checked[math.sin] %0
  branch %0, b1, b2
b2:
  return %0
}
"""


def test_renumber():
    assert run("renumber", """\
func f(c) {
b4:
  %7 = not %0
  setitem %0, %7, %7
  jump b2
b2:
  %3 = not %7
  return %3
}
""") == """\
func f(c) {
b0:
  %1 = not %0
  setitem %0, %1, %1
  jump b1
b1:
  %2 = not %1
  return %2
}
"""


def test_a_removed_edge_takes_phi_operands_along():
    assert run("remove_edge", """\
func f(c) {
b0:
  branch %0, b2, b1
b1:
  %1 = not %0
  jump b2
b2:
  %2 = phi b0 %0, b1 %1
  return %2
}
""") == """\
func f(c) {
b0:
  jump b1
b1:
  %1 = not %0
  jump b2
b2:
  %2 = phi b1 %1
  return %2
}
"""
    assert run("remove_edge", "func f(c) {\nb0:\n  jump b1\nb1:\n  return %0\n}\n") == (
        "func f(c) {\nb0:\n  unreachable\nb1:\n  return %0\n}\n"
    )


@st.composite
def graphs(draw):
    """Successors of each block, of three the last when it raises; block 0 is the entry, which nothing leads back to."""
    count = draw(st.integers(1, 12))
    target = st.integers(min(1, count - 1), count - 1)
    if count == 1:
        return [[]]
    succs = [draw(st.lists(target, max_size=3)) for _ in range(count)]
    return [to if len(to) < 3 or to[2] not in to[:2] else to[:2] for to in succs]


def graph_text(graph):
    lines = ["func f(c) {"]
    for block, succs in enumerate(graph):
        unwinds = len(succs) == 3 or (block % 2 == 1 and len(succs) == len(set(succs)) > 0)
        lines.append(f"b{block} unwind b{succs[-1]}:" if unwinds else f"b{block}:")
        succs = succs[: len(succs) - unwinds]
        lines.append(["  return %0", "  jump b{}", "  branch %0, b{}, b{}"][len(succs)].format(*succs))
    return "\n".join([*lines, "}", ""])


def reachable(graph, without=None):
    seen, work = set(), [0]
    while work:
        block = work.pop()
        if block not in seen and block != without:
            seen.add(block)
            work += graph[block]
    return seen


@given(graphs())
@settings(max_examples=examples(300))
def test_dominators_against_their_definition(graph):
    """a dominates b if no way from the entry reaches b without a; the immediate one is dominated by all the others."""
    all_blocks = reachable(graph)
    dominators = {b: {a for a in all_blocks if a == b or b not in reachable(graph, without=a)} for b in all_blocks}
    expected = {}
    for block in all_blocks:
        strict = dominators[block] - {block}
        expected[block] = next((a for a in strict if dominators[a] == strict), None)
    lines = [line.split() for line in run("dominators", graph_text(graph)).splitlines()]
    assert {int(block): None if idom == "-" else int(idom) for block, idom in lines} == expected
    order = [int(block) for block, _ in lines]
    for block, idom in expected.items():
        assert idom is None or order.index(idom) < order.index(block)


@given(graphs())
def test_order_keeps_functions_sound(graph):
    ordered = run("order", graph_text(graph))
    assert run("verify", ordered) == ""
    assert ordered.count("b") and len(re.findall(r"^b\d+( unwind b\d+)?:", ordered, re.M)) == len(reachable(graph))
