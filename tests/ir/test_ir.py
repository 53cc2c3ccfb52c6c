"""The intermediate representation, through its text form: printer, parser, verifier, passes, types, layout."""

import pytest
from hypothesis import given, settings, strategies as st

from ir_cases import CANONICAL, run
from portions import examples


# ---- text form -------------------------------------------------------------------------------------------------------


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
