"""The intermediate representation, through its text form: printer, parser, verifier, passes, types, layout."""

import ctypes
import re

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from krait import _testing
from portions import examples


def run(trial, text, **options):
    return _testing.run(trial, text, **options)


# ---- text form -------------------------------------------------------------------------------------------------------

# Written as the printer writes: what comes back must be the same.
CANONICAL = {
    "empty": """\
func nothing() {
}
""",
    "untyped": """\
func add(x, y) {
b0:
  %2 = add %0, %1
  return %2
}
""",
    "typed": """\
func add(x: int, y: float32) -> float32 {
b0:
  %2: float32 = cast %0
  %3 total: float32 = add %2, %1
  return %3
}
""",
    "parameters": """\
func f(posonly a, b = 1, *rest, kwonly c: int is 3 = None, kwonly d = ..., cell e, cell, kwonly) {
b0:
  %8 = const None
  return %8
}
""",
    "names": """\
func outer.<locals>.<lambda>(.0, größe) {
b0:
  %2 = cell_get[.0] %0
  %3 = getattr[größe] %2
  %4 = getattr["odd name"] %3
  check_bound["a]b"] %4
  setattr[x] %4, %3
  return %4
}
""",
    "loop": """\
func count(n) {
b0:
  %1 = const 0
  %2 = iter %0
  jump b1
b1:
  %3 total = phi b0 %1, b2 %6
  %4 = iter_more %2
  branch %4, b2, b3
b2:
  %5 i = iter_take %2
  %6 total = add.inplace %3, %5
  jump b1
b3:
  return %3
}
""",
    "calls": """\
func f(g, a: float) {
b0:
  %2 = call %0
  %3 = call %0, %1, %2, key=%1, other=%2
  %4 = tuple %1, %2
  %5 = call_ex %0, %4, key=%1
  %6: float = call_func[math.sin] %1
  %7: float = call_func.checked[math.sin] %1
  %8: int = call_inst[fib#12] %2
  %9: int = call_inst[#0]
  %10 = function[object#5] %4, %4, %2
  raise %10
}
""",
    "items": """\
func f(a, i) {
b0:
  %2 = getitem %0, %1
  %3: int8 = getitem.unchecked.forward %0, %1 in -3..
  %12: int = add.nowrap %3, %3 in ..99
  %13: uint8 = add %3, %3 in ..0
  setitem %0, %1, %2
  delitem %0, %1
  %4 = unpack[2] %2
  %5 = extract[0] %4
  %6 = unpack_ex[1, 2] %2
  %7 = extract[300] %6
  %8 = cell
  %9 = cell %7
  cell_set %8, %7
  %10: int = undef
  %11: bool = lt %5, %7 is True
  unreachable
}
""",
    "constants": """\
func f() {
b0:
  %0 = const 1
  %1 = const -9223372036854775808
  %2 = const 2.5
  %3 = const 1e+300
  %4 = const -inf
  %5 = const nan
  %6 = const True
  %7 = const complex(1.0, -0.0)
  %8 = const int8(-3)
  %9 = const uint64(18446744073709551615)
  %10 = const float32(0.5)
  %11 = const bool_(False)
  %12 = const complex64(0.0, 1.5)
  %13 = const None
  %14 = const "say \\"hi\\"\\n\\x01 größe"
  %15 = const ()
  %16 = const (1,)
  %17 = const (1, (2.0, None))
  %18 = const slice(None, 3, None)
  %19 = const range(0, 10, 2)
  %20 = const int(too_big)
  %21 = const array(float32, 2, C)[3, 4; 16, 4]@7
  %22 = const dtype(float32)
  %23 = const class#9(float)
  %24 = const func(math.sin)
  %25 = const pyfunc#3
  %26 = const exc_class#4
  %27 = const object#5
  %28 = const Ellipsis
  return %0
}
""",
    "both ways to one block": """\
func f(c) {
b0:
  branch %0, b1, b1
b1:
  %1 = phi b0 %0, b0 %0
  return %1
}
""",
    "gaps in numbers": """\
func f(c) {
b4:
  %7 = not %0
  jump b2
b2:
  return %7
}
""",
}


@pytest.mark.parametrize("name", CANONICAL)
def test_canonical_text_comes_back(name):
    assert run("parse_print", CANONICAL[name]) == CANONICAL[name]


def test_free_layout_and_comments_are_read():
    text = """

  ; a comment
func  f( a :int,b=...)->int{   ; another
  b0 :   ; and here
%2:int=add  %0 ,%1;x

    return %2
}

; the end
"""
    assert run("parse_print", text) == "func f(a: int, b = ...) -> int {\nb0:\n  %2: int = add %0, %1\n  return %2\n}\n"


def test_phis_name_their_predecessors_in_any_order():
    text = """\
func f(c) {
b0:
  branch %0, b1, b2
b1:
  %1 = const 1
  jump b3
b2:
  %2 = const 2
  jump b3
b3:
  %3 = phi b2 %2, b1 %1
  %4 = phi b1 %2, b2 %1
  return %3
}
"""
    # The first phi of a block says how its predecessors stand.
    assert run("parse_print", text) == text.replace("phi b1 %2, b2 %1", "phi b2 %1, b1 %2")


# message, line, column where the caret stands, text
PARSE_ERRORS = [
    ("expected `func `", 1, 0, "fun f() {\n}\n"),
    ("expected `(`", 1, 5, "func f {\n}\n"),
    ("expected the name of a parameter", 1, 7, "func f(=) {\n}\n"),
    ("expected a type", 1, 10, "func f(a: integer) {\n}\n"),
    ("expected a constant", 1, 11, "func f(a = x) {\n}\n"),
    ("expected a block", 2, 2, "func f(a) {\n  return %0\n}\n"),
    ("no such operation", 3, 7, "func f(a) {\nb0:\n  %1 = plus %0, %0\n}\n"),
    ("no such flag", 3, 7, "func f(a) {\nb0:\n  %1 = add.fast %0, %0\n}\n"),
    ("no such library function", 3, 17, "func f(a) {\nb0:\n  %1 = call_func[math.sine] %0\n}\n"),
    ("the operation has no result", 3, 13, "func f(a) {\nb0:\n  %1 = return %0\n}\n"),
    ("the operation has a result: give it a number", 3, 5, "func f(a) {\nb0:\n  add %0, %0\n}\n"),
    ("the value is defined twice", 3, 3, "func f(a) {\nb0:\n  %0 = const 1\n}\n"),
    ("the block is defined twice", 4, 2, "func f(a) {\nb0:\n  return %0\nb0:\n  return %0\n}\n"),
    ("%7 is not defined", 3, 10, "func f(a) {\nb0:\n  return %7\n}\n"),
    ("b7 is not defined", 3, 8, "func f(a) {\nb0:\n  jump b7\n}\n"),
    ("the number is too large", 3, 10, "func f(a) {\nb0:\n  return %99999999999\n}\n"),
    ("expected the end of the line", 3, 12, "func f(a) {\nb0:\n  return %0 %0\n}\n"),
    ("expected a keyword", 3, 22, "func f(a) {\nb0:\n  %1 = call %0, k=%0, %0\n}\n"),
    ("the operands do not fit the predecessors of b1", 5, 11,
     "func f(a) {\nb0:\n  jump b1\nb1:\n  %1 = phi b0 %0, b1 %0\n  return %1\n}\n"),
    ("expected the end of the text", 3, 0, "func f() {\n}\nfunc g() {\n}\n"),
]


@pytest.mark.parametrize("message, line, column, text", PARSE_ERRORS, ids=[row[0] for row in PARSE_ERRORS])
def test_parse_errors(message, line, column, text):
    with pytest.raises(ValueError) as caught:
        run("parse_print", text)
    shown = str(caught.value).splitlines()
    assert shown[0] == message
    assert shown[1] == f'  File "<ir>", line {line}'
    source = text.splitlines()[line - 1].rstrip()
    assert shown[2] == "    " + source.lstrip()
    assert shown[3].index("^") - 4 == min(column, len(source)) - (len(source) - len(source.lstrip()))


@given(st.data())
@settings(max_examples=examples(300))
def test_damaged_text_is_refused_or_read(data):
    text = data.draw(st.sampled_from(sorted(CANONICAL.values())))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text)))
        cut = data.draw(st.integers(0, 3))
        patch = data.draw(st.sampled_from(["", "%", "(", "b0", "#", "]", "\n", "phi ", ",", "9", '"', "is "]))
        text = text[:at] + patch + text[at + cut :]
    try:
        printed = run("parse_print", text)
    except ValueError:
        return
    assert run("parse_print", printed) == printed
    run("verify", text)
    run("verify", text, typed=True)


def test_deep_nesting_is_refused():
    for opening in ("(", "cell(", "dtype("):
        with pytest.raises(ValueError):
            run("type_roundtrip", opening * 100000)
        with pytest.raises(ValueError):
            run("const_roundtrip", opening * 100000)


# ---- verifier --------------------------------------------------------------------------------------------------------

# The comments are what the verifier has to say; they are no part of its input.
FAULTY_FORM = {
    "no entry": """\
func f() {
  ; fault: there is no entry block
}
""",
    "operand counts": """\
func f(a) {
b0:
  %1 = add %0
  ; fault: add takes 2 operands, not 1
  %2 = neg %0, %0
  ; fault: neg takes 1 operands, not 2
  %3 = cell %0, %0
  ; fault: cell takes 0 to 1 operands, not 2
  %4 = call
  ; fault: call takes at least 1 operands, not 0
  %5 = call_func[math.sin] %0, %0
  ; fault: call_func takes 1 operands, not 2
  %6 = call_ex %0, %0, %0
  ; fault: call_ex takes 2 operands, not 3
  return
  ; fault: return takes 1 operands, not 0
}
""",
    "ends of blocks": """\
func f(a) {
b0:
  return %0
  ; fault: return stands before the end of the block
  %1 = not %0
  jump b1
b1:
  ; fault: the block does not end in jump, branch, return, raise, resume or unreachable
  %2 = not %1
b2:
  ; fault: the block does not end in jump, branch, return, raise, resume or unreachable
}
""",
    "successors": """\
func f(a) {
b0:
  jump b1, b2
  ; fault: jump goes to 1 blocks, not 2
b1:
  branch %0, b2
  ; fault: branch goes to 2 blocks, not 1
b2:
  jump
  ; fault: jump goes to 1 blocks, not 0
}
""",
    "phis": """\
func f(a) {
b0:
  branch %0, b1, b2
b1:
  jump b2
b2:
  %1 = phi b0 %0
  ; fault: phi has 1 operands for 2 predecessors
  %2 = not %0
  %3 = phi b0 %0, b1 %0
  ; fault: a phi stands behind other values
  return %3
}
""",
    "entry with predecessors": """\
func f(a) {
b0:
  ; fault: the entry block has predecessors
  jump b0
}
""",
    "dominance": """\
func f(a) {
b0:
  %1 = not %2
  ; fault: operand 0 (%2) is not defined on every way here
  %2 = not %0
  branch %0, b1, b2
b1:
  %3 = not %0
  jump b3
b2:
  %4 = phi b0 %3
  ; fault: operand 0 (%3) is not defined on every way here
  jump b3
b3:
  %5 = phi b1 %3, b2 %3
  ; fault: operand 1 (%3) is not defined on every way here
  %6 = not %3
  ; fault: operand 0 (%3) is not defined on every way here
  %7 = not %7
  ; fault: operand 0 (%7) is not defined on every way here
  return %5
}
""",
    "params": """\
func f(a) {
b0:
  %1 = param[0]
  ; fault: a param stands behind the parameters
  jump b1
b1:
  %2 = param[0]
  ; fault: a param stands outside the entry block
  return %2
}
""",
}

FAULTY_TYPES = {
    "no types": """\
func f(a) {
b0:
  ; fault: the value has no type
  %1 = not %0
  ; fault: the value has no type
  return %0
}
""",
    "arithmetic": """\
func f(i: int, j: int64, x: float, y: float32, u: uint8) {
b0:
  %5: int64 = add %0, %1
  %6: float = add %2, %3
  ; fault: operand 1 is float32, not float
  %7: float32 = neg %2
  ; fault: operand 0 is float, not float32
  %8: float = pow %2, %1
  ; fault: operand 1 is int64, not float
  %9 = const 2
  %10: float = pow %2, %9
  %11: bool = lt %0, %4
  %12: bool_ = lt %0, %3
  ; fault: int and float32 are compared
  %13: int = eq %0, %1
  ; fault: the result is not bool
  %14: bottom = add %0, %0
  ; fault: no value reaches here
  return %11
}
""",
    "control": """\
func f(i: int, b: bool_) -> int {
b0:
  branch %0, b1, b2
  ; fault: operand 0 is int, not bool
b1:
  branch %1, b2, b3
b2:
  %2: float = phi b0 %0, b1 %1
  ; fault: operand 0 is int, not float
  ; fault: operand 1 is bool_, not float
  return %2
  ; fault: operand 0 is float, not int
b3:
  raise %1
  ; fault: the operand is not an exception
}
""",
    "containers": """\
func f(a: array(float32, 2, C), r: array(int8, 1, C, readonly), i: int64, x: float) {
b0:
  %4: (int64, int64) = tuple %2, %2
  %5: float32 = getitem %0, %4
  %6: float = getitem %0, %4
  ; fault: the result is float, not float32
  %7: array(float32, 1, C) = getitem %0, %2
  setitem %0, %4, %3
  ; fault: operand 2 is float, not float32
  %8: int8 = getitem %1, %2
  setitem %1, %2, %8
  ; fault: the array is read-only
  %9: float = extract[1] %4
  ; fault: the result is float, not int64
  %10: int = extract[2] %4
  ; fault: the tuple has no such item
  %11: (int,) = tuple %2, %3
  ; fault: the type is not a tuple of as many items
  %12: int = extract[0] %3
  ; fault: operand 0 is float, not a tuple
  %13: array(float32, 2, C) = add.inplace %0, %3
  return %5
}
""",
    "calls and cells": """\
func f(g: pyfunc#1, x: float) {
b0:
  %2: int = call %0, %1
  ; fault: the call is not resolved
  %3: cell(int) = cell %1
  ; fault: operand 0 is float, not int
  %4: float = cell_get[v] %3
  ; fault: the result is float, not int
  cell_set %1, %1
  ; fault: operand 0 is float, not a cell
  %5: int = iter_take %1
  ; fault: operand 0 is float, not an iterator
  return %5
}
""",
}


def check_faults(annotated, typed):
    count = annotated.count("; fault:")
    name = annotated[len("func ") : annotated.index("(")]
    shown = run("verify", annotated, typed=typed)
    head, _, rest = shown.partition("\n")
    assert head == f"the intermediate representation of {name} has {count} fault{'' if count == 1 else 's'}:"
    assert rest.partition("\n\n")[0] + "\n" == annotated
    assert "hint: this is a defect of Krait" in rest


@pytest.mark.parametrize("name", FAULTY_FORM)
def test_faults_of_form(name):
    check_faults(FAULTY_FORM[name], False)


@pytest.mark.parametrize("name", FAULTY_TYPES)
def test_faults_of_types(name):
    assert run("verify", FAULTY_TYPES[name]) == ""
    check_faults(FAULTY_TYPES[name], True)


@pytest.mark.parametrize("name", ["untyped", "typed", "loop", "both ways to one block", "gaps in numbers"])
def test_sound_functions_pass(name):
    assert run("verify", CANONICAL[name]) == ""


def test_a_typed_function_passes():
    assert run("verify", CANONICAL["typed"], typed=True) == ""
    assert run("verify", """\
func total(a: array(float32, 1, A), n: int) -> float32 {
b0:
  %2 = const float32(0.0)
  %3: iter.range(range) = iter %1
  jump b1
b1:
  %4: float32 = phi b0 %2, b2 %9
  %5: bool = iter_more %3
  branch %5, b2, b3
b2:
  %6: int = iter_take %3
  %7: int64 = cast %6
  %8: float32 = getitem.unchecked %0, %7
  %9: float32 = add.inplace %4, %8
  jump b1
b3:
  return %4
}
""", typed=True) == ""


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


# ---- types and constants ---------------------------------------------------------------------------------------------

STRONG = ["bool_", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32",
          "float64", "complex64", "complex128"]
WEAK = ["int", "float", "complex", "bool"]

scalars = st.sampled_from(STRONG + WEAK)


@st.composite
def arrays(draw):
    ndim = draw(st.integers(0, 32))
    layouts = "C" if ndim == 0 else "CA" if ndim == 1 else "CFA"
    readonly = draw(st.sampled_from(["", ", readonly"]))
    return f"array({draw(st.sampled_from(STRONG))}, {ndim}, {draw(st.sampled_from(layouts))}{readonly})"


def tuple_text(items):
    return f"({', '.join(items)}{',' if len(items) == 1 else ''})"


objects = st.integers(0, 2**32 - 1)
leaves = st.one_of(
    scalars,
    arrays(),
    arrays().map("flat({})".format),
    scalars.map("dtype({})".format),
    st.tuples(st.sampled_from(["class", "class#7"]), scalars).map("{0[0]}({0[1]})".format),
    st.sampled_from(["S1", "U256", "enum app.E#4", "frozen a.<locals>.P#3(x: int)",
                     "datetime64", "timedelta64[25s]", "array(datetime64[ns], 1, C)",
                     "float32x4", "int8x3", "uint16x1", "float64x2", "array(float32x4, 2, C)", "class(float32x2)",
                     'record(x: float32 @ 0, y: int64 @ 8; 16, 8)', 'recordclass(x: int8 @ 0, y: float32 @ 1; 5, 1)',
                     'record("a b": int8 @ 0, "\\"\\\\": nested(int16, 2, 3) @ 2, '
                     'n: record(u: bool_ @ 0; 1, 1) @ 15; 16, 2)',
                     'ref(record(x: int8 @ 0; 1, 1))', 'ref(record(x: int8 @ 0; 1, 1), readonly)',
                     'array(record(x: int8 @ 0; 1, 1), 1, A, readonly)']),
    st.sampled_from(["enum#3", "flag#3", "None", "bottom", "range", "Ellipsis", "str", "func(math.sin)"]),
    st.builds("{}#{}".format, st.sampled_from(["pyfunc", "exc_class", "object"]), objects),
)


def compose(inner):
    items = st.lists(inner, max_size=4)
    optional = inner.filter(lambda text: text != "None" and not text.endswith("?"))
    return st.one_of(
        items.map(tuple_text),
        optional.map("{}?".format),
        inner.map("cell({})".format),
        st.builds(lambda what, parts: f"{what}#7({', '.join(f'f{i}: {part}' for i, part in enumerate(parts))})",
                  st.sampled_from(["named", "instance", "frozen"]), items),
        st.builds("slice({}, {}, {})".format, inner, inner, inner),
        st.builds(lambda kind, ref, parts: f"{kind}#{ref}({', '.join(parts)})", st.sampled_from(["closure", "exc"]),
                  objects, items),
        st.builds(lambda kind, parts: f"iter.{kind}({', '.join(parts)})",
                  st.sampled_from("range tuple array flat enumerate zip reversed".split()), items),
    )


types = st.recursive(leaves, compose, max_leaves=12)


@given(types)
@settings(max_examples=examples(500))
def test_type_text_comes_back(text):
    assert run("type_roundtrip", text) == text  # run() also checks that both texts are one interned type


@pytest.mark.parametrize("text, canonical", [
    ("bool", "bool"),
    ("int??", "int?"),
    ("None?", "None"),
    ("array(float32, 1, F)", "array(float32, 1, C)"),
    ("array(float32, 0, A)", "array(float32, 0, C)"),
    ("array( bool , 2 , A , readonly )", "array(bool_, 2, A, readonly)"),
    ("( int,float , )", "(int, float)"),
    ("func(MATH_SIN)", "func(math.sin)"),
])
def test_types_have_one_form(text, canonical):
    assert run("type_roundtrip", text) == canonical


@pytest.mark.parametrize("text", [
    "", "integer", "int32x", "(int)", "(,)", "(int float)", "(int", "array(float32, 33, C)", "array(float32, 1, X)",
    "array((int,), 1, C)", "array(None, 1, C)",
    "S0", "U257", "datetime64[]", "datetime64[x]", "timedelta64[0s]", "datetime64[s",
    "float32x5", "float32x0", "boolx2", "intx2", "complex64x2", "x2",
    "record(; 1, 1)", "record(x: int8 @ 1; 1, 1)", "record(x: int64 @ 0; 8, 3)", "record(x: int64 @ 0; 10, 4)",
    "record(x: (int,) @ 0; 8, 8)", "record(x int8 @ 0; 1, 1)", 'record("x: int8 @ 0; 1, 1)', "ref(int8)",
    "ref(float32x4)", "nested(int8)", "nested(int8, 2147483647, 2147483647)",
    "array(float32, 1)", "slice(int, int)", "flat(int)", "dtype(None)", "cell()", "pyfunc",
    "enum", "enum#0", "flag", "named#0(x: int)", "named#1(int)", "named#1(x: int, )", "named#1",
    "pyfunc#", "pyfunc#4294967296", "pyfunc#-1", "func(none.such)", "func()", "iter.nothing(int)", "int)", "range(int)",
])
def test_what_is_not_a_type(text):
    with pytest.raises(ValueError):
        run("type_roundtrip", text)


@given(st.floats())
@settings(max_examples=examples(300))
def test_float_constants_are_exact(value):
    text = run("const_roundtrip", repr(value))
    assert repr(float(text)) == repr(value) or (value != value and text == "nan")
    assert re.search(r"[.en]", text)


@given(st.integers(-(2**63), 2**63 - 1))
def test_int_constants(value):
    assert run("const_roundtrip", str(value)) == str(value)


@pytest.mark.parametrize("text", [
    "enum#3(-5)", "flag#3(0)", "named#7(x: int, y: float)(1, 2.5)", "named#7(x: enum#3)(enum#3(1),)", "named#7()()",
    "(named#7(x: (int,))((1,),), 2)",
])
def test_constants_of_classes(text):
    assert run("const_roundtrip", text) == text


@pytest.mark.parametrize("text", [
    "named#7(x: int)(1.5,)", "named#7(x: int)(1, 2)", "named#7(x: int)", "enum#3", "enum#3(1.5)",
    "9223372036854775808", "uint64(18446744073709551616)", "int8(1.5)", "bool_(1)", "float32(x)", "complex(1.0)",
    '"open', '"\\q"', "(1", "slice(1, 2)", "int", "str", "1.2.3", "1e", "",
])
def test_what_is_not_a_constant(text):
    with pytest.raises(ValueError):
        run("const_roundtrip", text)


def test_scalar_table_against_numpy():
    for name, char, kind, size, _ in _testing.table("scalars"):
        if name == "bfloat16":  # that of another package
            assert (char, kind, size) == ("E", "f", 2)
            continue
        dtype = np.dtype(name)
        assert (dtype.char, dtype.kind, dtype.itemsize) == (char, kind, size)


def test_tables_are_consistent():
    ops = _testing.table("ops")
    assert len({row[0] for row in ops}) == len(ops)
    for text, operands, _, effects, doc in ops:
        assert operands >= -1 and doc and effects and set(effects) <= set("PRWXCSNT"), text
        assert not {"X", "T"} <= set(effects), text


# ---- layout ----------------------------------------------------------------------------------------------------------

CTYPES = {
    "bool": ctypes.c_bool, "int8": ctypes.c_int8, "int16": ctypes.c_int16, "int32": ctypes.c_int32,
    "int64": ctypes.c_int64, "uint8": ctypes.c_uint8, "uint16": ctypes.c_uint16, "uint32": ctypes.c_uint32,
    "uint64": ctypes.c_uint64, "float16": ctypes.c_uint16, "float32": ctypes.c_float, "float64": ctypes.c_double,
}


def struct_of(fields):
    return type("Struct", (ctypes.Structure,), {"_fields_": [(f"f{i}", field) for i, field in enumerate(fields)]})


CTYPES["complex64"] = struct_of([ctypes.c_float] * 2)
CTYPES["complex128"] = struct_of([ctypes.c_double] * 2)
for same, name in {"bool_": "bool", "int": "int64", "float": "float64", "complex": "complex128"}.items():
    CTYPES[same] = CTYPES[name]


def layout(text):
    size, align, *offsets = map(int, run("layout", text).split())
    return size, align, offsets


def array_struct(ndim):
    return struct_of([ctypes.c_void_p] * 2 + [ctypes.c_int64] * 2 * ndim)


# (type text, the same as a C type)
c_leaves = st.one_of(
    scalars.map(lambda name: (name, CTYPES[name])),
    st.integers(0, 5).map(lambda ndim: (f"array(int8, {ndim}, C)", array_struct(ndim))),
    st.just(("range", struct_of([ctypes.c_int64] * 3))),
    st.sampled_from(["None", "str", "pyfunc#1", "dtype(int)"]).map(lambda text: (text, struct_of([]))),
    st.just(("cell(int)", ctypes.c_void_p)),
    st.just(("flat(array(int8, 2, A))", array_struct(2))),
)


def c_compose(inner):
    optional = inner.filter(lambda pair: pair[0] != "None" and not pair[0].endswith("?"))
    return st.one_of(
        st.lists(inner, max_size=5).map(
            lambda items: (tuple_text([text for text, _ in items]), struct_of([c for _, c in items]))),
        optional.map(lambda pair: (pair[0] + "?", struct_of([pair[1], ctypes.c_bool]))),
    )


@given(st.recursive(c_leaves, c_compose, max_leaves=12))
@settings(max_examples=examples(500))
def test_layout_is_that_of_c(pair):
    text, c_type = pair
    size, align, offsets = layout(text)
    assert size == ctypes.sizeof(c_type)
    assert align == ctypes.alignment(c_type)
    for index, offset in enumerate(offsets):
        assert offset == getattr(c_type, f"f{index}").offset


@given(st.lists(st.sampled_from([name for name in STRONG if name != "bool_"]), min_size=1, max_size=8))
def test_layout_is_that_of_numpy(names):
    dtype = np.dtype([(f"f{i}", name) for i, name in enumerate(names)], align=True)
    size, align, offsets = layout(tuple_text(names))
    assert (size, align) == (dtype.itemsize, dtype.alignment)
    assert offsets == [dtype.fields[f"f{i}"][1] for i in range(len(names))]


@st.composite
def strided_arrays(draw):
    """Arrays as slices and transposes make them."""
    ndim = draw(st.integers(0, 4))
    shape = draw(st.lists(st.integers(0, 4), min_size=ndim, max_size=ndim))
    array = np.empty(shape, draw(st.sampled_from(["i1", "c8"])), draw(st.sampled_from("CF")))
    steps = draw(st.lists(st.sampled_from([1, 1, -1, 2, -3]), min_size=ndim, max_size=ndim))
    return array[(*(slice(None, None, step) for step in steps),)].transpose(draw(st.permutations(range(ndim))))


@given(strided_arrays())
@settings(max_examples=examples(300))
def test_geometry_is_that_of_numpy(array):
    numbers = [", ".join(map(str, axes)) for axes in (array.shape, array.strides)]
    text = f"array({array.dtype.name}, {array.ndim}, A)[{'; '.join(numbers)}]@7"
    layout, low, high, *packed = run("strided", text).split()
    flags = array.flags
    assert layout == ("C" if flags.c_contiguous else "F" if flags.f_contiguous else "A")
    first, end = np.lib.array_utils.byte_bounds(array)
    address = array.__array_interface__["data"][0]
    assert (int(low), int(high)) == ((first - address, end - address) if array.size else (0, 0))
    if array.size:
        wanted = [np.empty(array.shape, array.dtype, order).strides for order in "CF"]
        assert [*map(int, packed)] == [*wanted[0], *wanted[1]]


def test_leaves():
    assert run("leaves", "(bool_, complex64, array(int8, 2, A), int?)") == """\
scalar bool axis=0 bytes=1 align=1 offset=0
scalar float32 axis=0 bytes=4 align=4 offset=4
scalar float32 axis=0 bytes=4 align=4 offset=8
data - axis=0 bytes=8 align=8 offset=16
owner - axis=0 bytes=8 align=8 offset=24
shape int64 axis=0 bytes=8 align=8 offset=32
shape int64 axis=1 bytes=8 align=8 offset=40
stride int64 axis=0 bytes=8 align=8 offset=48
stride int64 axis=1 bytes=8 align=8 offset=56
scalar int64 axis=0 bytes=8 align=8 offset=64
present bool axis=0 bytes=1 align=1 offset=72
"""
    # strides that the layout implies are not leaves
    assert run("leaves", "flat(array(int8, 1, C))") == """\
data - axis=0 bytes=8 align=8 offset=0
owner - axis=0 bytes=8 align=8 offset=8
shape int64 axis=0 bytes=8 align=8 offset=16
"""
    assert run("leaves", "(cell(int), iter.range(int))") == """\
state - axis=0 bytes=8 align=8 offset=0
state - axis=0 bytes=8 align=8 offset=8
"""
    assert run("leaves", "(None, (), pyfunc#1, dtype(int))") == ""


def test_kernel_params():
    arrays = "array(float32, 2, C), array(float64, 1, A, readonly)"
    assert run("kernel_params", f"(int8, {arrays}, complex64, (int, bool_?), None, range, pyfunc#1)") == """\
scalar int8 axis=0 bytes=1 align=1 offset=0 argument=0 to=0
data - axis=0 bytes=8 align=8 offset=0 argument=1 to=8
shape int64 axis=0 bytes=8 align=8 offset=16 argument=1 to=16
shape int64 axis=1 bytes=8 align=8 offset=24 argument=1 to=24
data - axis=0 bytes=8 align=8 offset=0 argument=2 to=32
shape int64 axis=0 bytes=8 align=8 offset=16 argument=2 to=40
stride int64 axis=0 bytes=8 align=8 offset=24 argument=2 to=48
scalar float32 axis=0 bytes=4 align=4 offset=0 argument=3 to=56
scalar float32 axis=0 bytes=4 align=4 offset=4 argument=3 to=60
scalar int64 axis=0 bytes=8 align=8 offset=0 argument=4 to=64
scalar bool axis=0 bytes=1 align=1 offset=8 argument=4 to=72
present bool axis=0 bytes=1 align=1 offset=9 argument=4 to=73
scalar int64 axis=0 bytes=8 align=8 offset=0 argument=6 to=80
scalar int64 axis=0 bytes=8 align=8 offset=8 argument=6 to=88
scalar int64 axis=0 bytes=8 align=8 offset=16 argument=6 to=96
104
"""
    assert run("kernel_params", "(float32, array(int8, 0, C))") == """\
scalar float32 axis=0 bytes=4 align=4 offset=0 argument=0 to=0
data - axis=0 bytes=8 align=8 offset=0 argument=1 to=8
16
"""
    assert run("kernel_params", "()") == "0\n"


@given(st.lists(st.recursive(c_leaves, c_compose, max_leaves=6), max_size=5))
def test_kernel_params_fit(pairs):
    *rows, total = run("kernel_params", tuple_text([text for text, _ in pairs])).splitlines()
    end = argument = 0
    for row in rows:
        field = dict(re.findall(r"(\w+)=(\d+)", row))
        number = {key: int(value) for key, value in field.items()}
        assert number["argument"] >= argument
        argument = number["argument"]
        # as near to the parameter before as its natural alignment, its size, lets it
        assert number["to"] == -(-end // number["bytes"]) * number["bytes"]
        end = number["to"] + number["bytes"]
        assert number["offset"] + number["bytes"] <= ctypes.sizeof(pairs[argument][1])
    assert int(total) == end


# ---- running out of memory -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("trial, text", [
    *((trial, CANONICAL["loop"])
      for trial in ("parse_print", "verify", "clone", "order", "dominators", "trivial_phis", "dead", "renumber")),
    ("parse_print", CANONICAL["constants"]),
    ("verify", FAULTY_FORM["dominance"]),
    ("type_roundtrip", "((int, float?), array(int8, 2, C), closure#3((int,), cell(float)))"),
    ("const_roundtrip", '(1, (2.0, "text"), slice(0, None, None))'),
    ("kernel_params", "(int, (float, array(int8, 3, A)))"),
    ("leaves", "(int, (float, array(int8, 3, A)))"),
])
def test_every_allocation_may_fail(trial, text):
    expected = run(trial, text)
    for n in range(1, 10000):
        try:
            result = run(trial, text, fail_after=n)
        except MemoryError:
            continue
        assert result == expected
        assert n > 3
        return
    pytest.fail("it never had enough memory")


def test_a_text_that_is_made_at_run_time():
    text = """\
func f(x: int) {
b0:
  %1 = const "{} of {}"
  %2: text(str, int, int) = format %1, %0, %0
  %3: exc#1(text(str, int, int)) = tuple %2
  raise %3
}
"""
    assert run("parse_print", text) == text
    assert run("verify", text, typed=True) == ""
    assert "the type is not a text of as many items" in run("verify", text.replace("%0, %0", "%0"), typed=True)
    other = text.replace("format %1", "format %0").replace("text(str, int, int)", "text(int, int, int)")
    assert "the template is not a constant" in run("verify", other, typed=True)


RECORDS = """\
func store(a: array(record(x: int8 @ 0, y: float64 @ 8; 16, 1), 1, C, unaligned), b: {other}) -> None {{
b0:
  %2 = const 0
  %3: ref({record}{readonly}) = getitem %1, %2
  setitem %0, %2, %3
  %4 = const None
  return %4
}}
"""


@pytest.mark.parametrize("record, readonly, faults", [
    ("record(x: int8 @ 0, y: float64 @ 8; 16, 8)", "", 0),
    ("record(x: int8 @ 0, y: float64 @ 8; 16, 8)", ", readonly", 0),
    ("record(x: int8 @ 0, y: int64 @ 8; 16, 8)", "", 1),
    ("record(x: int8 @ 8, y: float64 @ 0; 16, 8)", "", 1),
])
def test_records_of_the_same_bytes_are_stored(record, readonly, faults):
    shown = run("verify", RECORDS.format(record=record, readonly=readonly, other=f"array({record}, 1, C{readonly})"),
                typed=True)
    assert shown.count("; fault:") == faults, shown


@pytest.mark.parametrize("element, value_type, value", [
    ("timedelta64[s]", "timedelta64[s]", "timedelta64[s](1)"), ("int64", "int", "3"), ("U1", "U1", 'U1("b")')])
def test_one_value_stands_for_an_element_at_every_place(element, value_type, value):
    """Of a loop over arrays: what the arrays hold may be numbers, dates, durations or texts."""
    text = f"""\
func f(a: array({element}, 1, C)) -> None {{
b0:
  %1: {value_type} = const {value}
  map[1, numpy.add#1] %0, %0, %1
  %2: None = const None
  return %2
}}
"""
    assert "neither an array" not in run("verify", text, typed=True)
    other = text.replace(f"{value_type} = const {value}", "None = const None")
    assert "neither an array nor an element" in run("verify", other, typed=True)
