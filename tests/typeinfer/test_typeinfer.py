"""Type inference: typed IR of given IR, and refusals with caret and hint."""

import textwrap

import numpy as np
import pytest

from krait import _testing


def infer(text, trial="infer"):
    """The typed form, without the header's closing lines: what stands between the braces."""
    return _testing.run(trial, textwrap.dedent(text))


def check(source, wanted, trial="infer"):
    assert infer(source, trial) == textwrap.dedent(wanted)


# ---- typed IR: conversions are explicit, what is known is a constant -------------------------------------------------


INT_MEETS_INT8 = """\
    func f(c: bool, x: int, y: int8, a: array(int8, 1, C)) {
    b0:
      %4 = const 2
      setitem %3, %4, %1
      branch %0, b1, b2
    b1:
      %5 = add %2, %1
      jump b2
    b2:
      %6 = phi b0 %1, b1 %5
      return %6
    }
    """


def test_an_int_that_a_narrower_integer_may_not_hold_is_checked():
    """Where it is used, and on the edge where it becomes that integer; the store checks once its index is right."""
    check(INT_MEETS_INT8, """\
        func f(c: bool, x: int, y: int8, a: array(int8, 1, C)) -> int8 {
        b0:
          %4 = const 2
          setitem.checked %3, %4, %1
          branch %0, b1, b2
        b1:
          %5: int8 = cast.checked %1
          %6: int8 = add %2, %5
          jump b3
        b2:
          %7: int8 = cast.checked %1
          jump b3
        b3:
          %8: int8 = phi b2 %7, b1 %6
          return %8
        }
        """)


def test_in_a_kernel_it_wraps():
    assert "checked" not in infer(INT_MEETS_INT8, "infer_kernel")


def test_python_ints_and_floats_keep_their_types_in_comparisons():
    assert "lt %0, %1" in infer("func f(x: int, y: float) {\nb0:\n  %2 = lt %0, %1\n  return %2\n}\n")


def test_weak_operand_becomes_strong():
    check("""\
        func f(x: int, y: float32) {
        b0:
          %2 = mul %0, %1
          return %2
        }
        """, """\
        func f(x: int, y: float32) -> float32 {
        b0:
          %2: float32 = cast %0
          %3: float32 = mul %2, %1
          return %3
        }
        """)


def test_literal_is_converted_when_compiled():
    check("""\
        func f(x: float32) {
        b0:
          %1 = const 0.1
          %2 = add %0, %1
          return %2
        }
        """, f"""\
        func f(x: float32) -> float32 {{
        b0:
          %1 = const float32({float(np.float32(0.1))!r})
          %2: float32 = add %0, %1
          return %2
        }}
        """)


def test_accumulator_takes_the_element_type():
    """s = 0.0; for v in x: s += v accumulates in x's type."""
    check("""\
        func f(x: array(float32, 1, C)) {
        b0:
          %1 = const 0.0
          %2 = iter %0
          jump b1
        b1:
          %3 s = phi b0 %1, b2 %6
          %4 = iter_more %2
          branch %4, b2, b3
        b2:
          %5 = iter_take %2
          %6 = add.inplace %3, %5
          jump b1
        b3:
          return %3
        }
        """, """\
        func f(x: array(float32, 1, C)) -> float32 {
        b0:
          %1: iter.array(array(float32, 1, C)) = iter %0
          %2 = const float32(0.0)
          jump b1
        b1:
          %3 s: float32 = phi b0 %2, b2 %6
          %4: bool = iter_more %1
          branch %4, b2, b3
        b2:
          %5: float32 = iter_take %1
          %6: float32 = add.inplace %3, %5
          jump b1
        b3:
          return %3
        }
        """)


def test_branch_on_a_known_condition_goes():
    check("""\
        func f(x: int, y: None) {
        b0:
          %2 = const None
          %3 = is %1, %2
          branch %3, b1, b2
        b1:
          return %0
        b2:
          %4 = add %0, %1
          return %4
        }
        """, """\
        func f(x: int, y: None is None) -> int {
        b0:
          jump b1
        b1:
          return %0
        }
        """)


def test_optional_is_made_and_used_with_a_check():
    check("""\
        func f(c: bool, x: float32) {
        b0:
          %2 = const None
          branch %0, b1, b2
        b1:
          jump b2
        b2:
          %3 = phi b0 %2, b1 %1
          %4 = add %3, %1
          return %4
        }
        """, """\
        func f(c: bool, x: float32) -> float32 {
        b0:
          %2 = const None
          %3: float32? = cast %2
          branch %0, b1, b2
        b1:
          %4: float32? = cast %1
          jump b2
        b2:
          %5: float32? = phi b0 %3, b1 %4
          %6: float32 = cast %5
          %7: float32 = add %6, %1
          return %7
        }
        """)


def test_tuple_operations_become_items():
    check("""\
        func f(x: int, y: float32) {
        b0:
          %2 = tuple %0, %1
          %3 = unpack[2] %2
          %4 = extract[1] %3
          %5 = const -2
          %6 = getitem %2, %5
          %7 = tuple %4, %6
          return %7
        }
        """, """\
        func f(x: int, y: float32) -> (float32, int) {
        b0:
          %2: (float32, int) = tuple %1, %0
          return %2
        }
        """)


def test_index_that_is_not_known_needs_one_item_type():
    check("""\
        func f(t: (int, float), i: int8) {
        b0:
          %2 = getitem %0, %1
          return %2
        }
        """, """\
        func f(t: (int, float), i: int8) -> float {
        b0:
          %2: int = extract[0] %0
          %3: float = cast %2
          %4: float = extract[1] %0
          %5: (float, float) = tuple %3, %4
          %6: int = cast %1
          %7: float = getitem %5, %6
          return %7
        }
        """)


def test_store_converts_to_the_element_type():
    check("""\
        func f(a: array(int16, 2, C), i: uint8, v: float) {
        b0:
          %3 = tuple %1, %1
          setitem %0, %3, %2
          %4 = const None
          return %4
        }
        """, """\
        func f(a: array(int16, 2, C), i: uint8, v: float) -> None {
        b0:
          %3: int = cast %1
          %4: int = cast %1
          %5: (int, int) = tuple %3, %4
          %6: int16 = cast %2
          setitem %0, %5, %6
          %7 = const None
          return %7
        }
        """)


def test_kernel_guard():
    check("""\
        func saxpy(a: float, x: array(float32, 1, C), y: array(float32, 1, C)) {
        b0:
          %3 = const func(krait.cuda.grid)
          %4 = const 1
          %5 = call %3, %4
          %6 = getattr[size] %1
          %7 = lt %5, %6
          %8 = truth %7
          branch %8, b1, b2
        b1:
          %9 = getitem %1, %5
          %10 = mul %0, %9
          setitem %2, %5, %10
          jump b2
        b2:
          %11 = const None
          return %11
        }
        """, """\
        func saxpy(a: float, x: array(float32, 1, C), y: array(float32, 1, C)) -> None {
        b0:
          %3 = const 1
          %4: int = call_func[krait.cuda.grid] %3
          %5: int = getattr[size] %1
          %6: bool = lt %4, %5
          branch %6, b1, b2
        b1:
          %7: float32 = getitem %1, %4
          %8: float32 = cast %0
          %9: float32 = mul %8, %7
          setitem %2, %4, %9
          jump b2
        b2:
          %10 = const None
          return %10
        }
        """, trial="infer_kernel")


def test_unbound_variable_stays_guarded():
    check("""\
        func f(c: bool) {
        b0:
          %1 = const True
          %2 = const False
          %3 = undef
          %4 = const 7
          branch %0, b1, b2
        b1:
          jump b2
        b2:
          %5 = phi b0 %2, b1 %1
          %6 x = phi b0 %3, b1 %4
          check_bound[x] %5
          return %6
        }
        """, """\
        func f(c: bool) -> int {
        b0:
          %1 = const True
          %2 = const False
          branch %0, b1, b2
        b1:
          jump b2
        b2:
          %3: bool = phi b0 %2, b1 %1
          %4 x = const 7
          check_bound[x] %3
          return %4
        }
        """)


def test_variable_that_is_never_bound_ends_the_block():
    check("""\
        func f() {
        b0:
          %0 = const False
          %1 = undef
          check_bound[x] %0
          %2 = add %1, %1
          return %2
        }
        """, """\
        func f() -> None {
        b0:
          %0 = const False
          check_bound[x] %0
          unreachable
        }
        """)


def test_parameter_that_is_a_constant():
    check("""\
        func f(n: int is 3, flag: bool is True) {
        b0:
          branch %1, b1, b2
        b1:
          %2 = mul %0, %0
          return %2
        b2:
          %3 = const 1.5
          return %3
        }
        """, """\
        func f(n: int is 3, flag: bool is True) -> int {
        b0:
          jump b1
        b1:
          %2 = const 9
          return %2
        }
        """)


@pytest.mark.parametrize("operands, flags", [
    ("int, int", ".checked"), ("float, float", ".checked"), ("int32, int32", ""), ("float32, float", ""),
])
def test_division_of_python_numbers_is_checked(operands, flags):
    a, b = operands.split(", ")
    text = infer(f"func f(a: {a}, b: {b}) {{\nb0:\n  %2 = floordiv %0, %1\n  return %2\n}}\n")
    assert f"floordiv{flags} " in text


@pytest.mark.parametrize("op, operand, flag", [
    ("floordiv", "3", ".unchecked"), ("floordiv", "0", ".checked"), ("truediv", "2.0", ".unchecked"),
    ("mod", "-1", ".unchecked"),
    ("lshift", "2", ".unchecked"),
    ("rshift", "-1", ".checked"),
    ("pow", "2", ".unchecked"),
])
def test_known_right_operand_decides_the_check(op, operand, flag):
    text = infer(f"func f(a: int) {{\nb0:\n  %1 = const {operand}\n  %2 = {op} %0, %1\n  return %2\n}}\n")
    assert f"{op}{flag} " in text


def test_kernels_do_not_check():
    text = infer("func f(a: int, b: int) {\nb0:\n  %2 = floordiv %0, %1\n  return %2\n}\n", trial="infer_kernel")
    assert "checked" not in text
