"""The verifier of the intermediate representation: what it says of functions with faults."""

import pytest
from ir_cases import CANONICAL, FAULTY_FORM, run

# ---- verifier --------------------------------------------------------------------------------------------------------


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
