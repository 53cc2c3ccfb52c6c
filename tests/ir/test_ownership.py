"""RETAIN and RELEASE: text form, types, and that every reference is given up once on every way."""

import pytest

from krait import _testing

A = "array(float64, 1, C)"


def verify(body, params=f"a: {A}, c: bool, x: float", result="None"):
    text = f"func f({params}) -> {result} {{\n{body}}}\n"
    assert _testing.run("parse_print", text) == text
    return _testing.run("verify", text, typed=True)


FORK = "b0:\n  retain %0\n  branch %1, b1, b2\n"
END = "  %9 = const None\n  return %9\n"


@pytest.mark.parametrize(
    "body",
    [
        "b0:\n  retain %0\n  release %0\n" + END,
        "b0:\n  retain %0\n  retain %0\n  release %0\n  release %0\n" + END,
        FORK + "b1:\n  release %0\n  jump b3\nb2:\n  release %0\n  jump b3\nb3:\n" + END,
        "b0:\n  retain %0\n  jump b1\nb1:\n  branch %1, b1, b2\nb2:\n  release %0\n" + END,
        "b0:\n  jump b1\nb1:\n  retain %0\n  release %0\n  branch %1, b1, b2\nb2:\n" + END,
    ],
)
def test_balanced(body):
    assert verify(body) == ""


def test_return_and_phis_take_over():
    assert verify(f"b0:\n  retain %0\n  return %0\n", result=A) == ""
    assert verify(f"b0:\n  return %0\n", result=A) == ""
    body = f"b0:\n  branch %2, b1, b2\nb1:\n  retain %0\n  jump b3\nb2:\n  {{}}jump b3\nb3:\n"
    body += f"  %4: {A} = phi b1 %0, b2 %1\n  release %4\n" + END
    params = f"a: {A}, b: {A}, c: bool"
    assert verify(body.format("retain %1\n  "), params) == ""
    assert "a reference to %4 is held on some of the ways here only" in verify(body.format(""), params)


@pytest.mark.parametrize(
    "body, fault",
    [
        ("b0:\n  release %0\n" + END, "no reference to %0 is held here"),
        ("b0:\n  retain %0\n" + END, "a reference to %0 is held when the function returns"),
        (FORK + "b1:\n  release %0\n  jump b2\nb2:\n" + END, "on some of the ways here only"),
        ("b0:\n  jump b1\nb1:\n  retain %0\n  branch %1, b1, b2\nb2:\n" + END, "on some of the ways here only"),
        ("b0:\n  retain %0\n  %3: int = cast.checked %2\n  release %0\n" + END, "held and lost if this raises"),
        ("b0:\n  retain %0\n  %3 = const exc_class#1\n  raise %3\n", "held and lost if this raises"),
        ("b0:\n  retain %2\n  release %2\n" + END, "the operand refers to nothing on the heap"),
    ],
)
def test_unbalanced(body, fault):
    assert fault in verify(body)


def test_phis_take_over_all_at_once():
    """x, y = y, x in a loop; a phi that still holds one when it gets another loses it."""
    body = (
        "b0:\n  retain %0\n  retain %1\n  jump b1\n"
        f"b1:\n  %3: {A} = phi.owned b0 %0, b1 %4\n  %4: {A} = phi.owned b0 %1, b1 {{}}\n  {{}}branch %2, b1, b2\n"
        "b2:\n  release %3\n  release %4\n  %9 = const None\n  return %9\n"
    )
    params = f"a: {A}, b: {A}, c: bool"
    assert verify(body.format("%3", ""), params) == ""
    assert "the reference held before is lost" in verify(body.format("%0", "retain %0\n  "), params)
