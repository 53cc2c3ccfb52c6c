"""Raise edges: text form, what the verifier asks of them, effects, clean-ups, and the LLVM IR they become."""

import re

import pytest

from krait import _testing

run = _testing.run

# %2 may raise: what the handler b2 sees is as it was before.
DIVIDE = """\
func f(x: int, y: int) -> int {
b0 unwind b2:
  %2: int = add %0, %1
  %3: int = floordiv.checked %2, %1
  jump b1
b1:
  %4: int = phi b0 %3, b2 %5
  return %4
b2:
  %5: int = phi b0 %2
  jump b1
}
"""

CLEANUP = """\
func f(x: int, y: int) -> int {
b0 unwind b1:
  %2: int = floordiv.checked %0, %1
  return %2
b1:
  resume
}
"""


# What a handler raises comes by b3, which gives it its context.
CHAINED = """\
func f(x: int, y: int) -> int {
b0 unwind b1:
  %2: int = floordiv.checked %0, %1
  return %2
b1 unwind b2:
  %3: caught = caught
  %4: int = floordiv.checked %1, %0
  return %4
b2:
  %5: None = chain %3
  resume
}
"""


@pytest.mark.parametrize("text", [DIVIDE, CLEANUP, CHAINED])
def test_text_and_form(text):
    assert run("parse_print", text) == text
    assert run("verify", text, typed=True) == ""


@pytest.mark.parametrize(
    "body, fault",
    [
        ("b0 unwind b1:\n  jump b1\nb1:\n  return %0\n", "what is raised goes where the terminator goes"),
        ("b0:\n  jump b1, b1\nb1:\n  return %0\n", "jump goes to 1 blocks, not 2"),
        ("b0 unwind b0:\n  return %0\n", "the entry block has predecessors"),
        (
            "b0 unwind b1:\n  %2: int = floordiv.checked %0, %1\n  return %2\nb1:\n  return %2\n",
            "operand 0 (%2) is not defined when b0 raises",
        ),
        (
            "b0 unwind b1:\n  %2: int = floordiv.checked %0, %1\n  %3: int = add %0, %1\n  return %2\n"
            "b1:\n  %4: int = phi b0 %3\n  return %4\n",
            "operand 0 (%3) is not defined when b0 raises",
        ),
        (
            "b0 unwind b1:\n  %2: int = floordiv.checked %0, %1\n  jump b2\nb1:\n  jump b2\nb2:\n  return %2\n",
            "operand 0 (%2) is not defined when b0 raises",
        ),
        ("b0:\n  resume\nb1:\n  return %0\n", ""),
    ],
)
def test_what_a_handler_may_use(body, fault):
    faults = run("verify", f"func f(x: int, y: int) -> int {{\n{body}}}\n", typed=True)
    assert fault in faults and bool(fault) == bool(faults)


def test_a_value_from_another_run_through_the_block_is_fine():
    body = "b0:\n  jump b1\nb1 unwind b2:\n  %2: int = floordiv.checked %0, %1\n  jump b3\n"
    body += "b2:\n  jump b1\nb3:\n  return %2\n"
    assert run("verify", f"func f(x: int, y: int) -> int {{\n{body}}}\n", typed=True) == ""


EFFECTS = """\
func f(x: int, y: int) -> int {
b0 unwind b1:
  %2: int = floordiv.checked %0, %1
  return %2
b1:
  CATCH
}
"""


def test_what_is_caught_does_not_leave():
    assert "define internal { i32, i64 }" in lowered(EFFECTS.replace("CATCH", "resume"))
    assert "define internal i64" in lowered(EFFECTS.replace("CATCH", "return %0"))


def test_a_raise_edge_is_removed_alone():
    text = "func f(x, y) {\nb0 unwind b1:\n  %2 = floordiv %0, %1\n  return %2\nb1:\n  resume\n}\n"
    assert run("remove_edge", text) == text.replace(" unwind b1", "")


def lowered(text):
    return _testing.lower_text(text, target="host", stage="llvm", boundscheck=True)


def block(code, name):
    return code[code.index(f"\n{name}:"):].split("\n\n")[0]


def test_raises_of_a_block_meet_before_its_handler():
    """Two checks in b0; the handler's phi names the one block that both jump to."""
    text = """\
func f(x: int, y: int) -> int {
b0 unwind b2:
  %2: int = add %0, %1
  %3: int = floordiv.checked %2, %1
  %4: int = floordiv.checked %3, %0
  jump b1
b1:
  %5: int = phi b0 %4, b2 %6
  return %5
b2:
  %6: int = phi b0 %2
  jump b1
}
"""
    code = lowered(text)
    assert re.findall(r"store i32 (\d), ptr %pending", code) == ["1", "2"]
    assert "preds = %raise3, %raise" in block(code, "unwind")
    assert "phi i64 [ %3, %unwind ]" in block(code, "b1")


def test_resume_returns_the_pending_status():
    code = lowered(CLEANUP)
    assert "%pending = alloca i32" in code
    resumed = code[code.index("load i32, ptr %pending"):]
    assert "insertvalue { i32, i64 } zeroinitializer, i32" in resumed and "ret { i32, i64 }" in resumed
