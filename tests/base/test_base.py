"""Diagnostics as a user reads them: one message, the place, the line, carets under the exact columns, hint, notes."""

import pytest

from krait import _testing

SOURCE = """\
@jit
def step(a, pair):
    größe = a + pair
\tif a:\treturn\tgröße
    名前 = a + 名前
    x = ("🐍" + a)
    e\u0301 = a + b
    return foldl(
        a,
        b)   \t
"""


def place(line, col, end_col, end_line=None, text=SOURCE, file="heat.py", function="step", first_line=10):
    return file, function, text, first_line, (line, line if end_line is None else end_line, col, end_col)


def columns(line, part):
    """Byte columns of a part of a line of SOURCE, as co_positions counts them."""
    text = SOURCE.splitlines()[line - 10]
    start = text.encode().index(part.encode())
    return start, start + len(part.encode())


def render(line, part, **options):
    return _testing.render("TYPING", "the message", place(line, *columns(line, part)), **options)


def test_the_whole():
    assert render(12, "a + pair", hint="unpack the tuple first") == """\
the message
  File "heat.py", line 12, in step
    größe = a + pair
            ^^^^^^^^
  hint: unpack the tuple first"""


@pytest.mark.parametrize("line, part, shown, carets", [
    (12, "größe", "größe = a + pair", "^^^^^"),
    (12, "+", "größe = a + pair", "          ^"),
    (13, "größe", "if a:\treturn\tgröße", "     \t      \t^^^^^"),
    (13, "a", "if a:\treturn\tgröße", "   ^"),
    (14, "a + 名前", "名前 = a + 名前", "       ^^^^^^^^"),
    (14, "名前", "名前 = a + 名前", "^^^^"),
    (15, '"🐍" + a', 'x = ("🐍" + a)', "     ^^^^^^^^"),
    (16, "a + b", "e\u0301 = a + b", "    ^^^^^"),
])
def test_carets(line, part, shown, carets):
    assert render(line, part).splitlines()[2:] == ["    " + shown, "    " + carets]


def test_an_expression_of_several_lines_is_marked_to_the_end_of_its_first():
    start, _ = columns(17, "foldl(")
    text = _testing.render("TYPING", "the message", place(17, start, 10, end_line=19))
    assert text.splitlines()[2:] == ["    return foldl(", "           ^^^^^^"]


def test_long_lines_are_cut_around_the_carets():
    for before, after in [(300, 300), (10, 300), (300, 3), (300, 0)]:
        text = "ö" * before + " + hit" + "+名" * after
        where = place(17, 2 * before + 3, 2 * before + 6, text=text, first_line=17)
        shown, carets = _testing.render("TYPING", "the message", where).splitlines()[2:]
        assert len(shown.encode()) < 180 and shown.startswith("    ...") == (before == 300)
        assert shown.endswith("...") == (after == 300)
        assert carets == " " * shown.index("hit") + "^^^"


def test_something_missing_at_the_end_of_a_line():
    text = _testing.render("TYPING", "the message", place(19, 10, 11))
    assert text.splitlines()[2:] == ["    b)", "      ^"]


@pytest.mark.parametrize("where, shown", [
    # no line known, no text, a line outside the text, an empty line, no columns, no function, no file
    (place(0, 0, 0), ['  File "heat.py", in step']),
    (place(12, 4, 9, text=None), ['  File "heat.py", line 12, in step']),
    (place(99, 4, 9), ['  File "heat.py", line 99, in step']),
    (place(3, 4, 9), ['  File "heat.py", line 3, in step']),
    (place(10, 4, 9, text="\n\n"), ['  File "heat.py", line 10, in step']),
    (place(12, 0, 0), ['  File "heat.py", line 12, in step', "    größe = a + pair"]),
    (place(12, 4, 6, function=None), ['  File "heat.py", line 12', "    größe = a + pair", "    ^^"]),
    (place(12, 4, 6, file=None), []),
])
def test_what_is_not_known_is_left_out(where, shown):
    assert _testing.render("TYPING", "the message", where).splitlines() == ["the message", *shown]


@pytest.mark.parametrize("col, end_col", [(0, 4000), (4000, 4001), (12, 3), (0, 3), (5, 6), (6, 7)])
def test_columns_outside_the_line_do_no_harm(col, end_col):
    lines = _testing.render("TYPING", "the message", place(12, col, end_col)).splitlines()
    assert lines[2] == "    größe = a + pair"
    assert all(set(line) <= {" ", "^"} for line in lines[3:])


def test_only_the_first_failure_is_told():
    """render() records a second failure with a hint after the first."""
    assert render(12, "pair") == """\
the message
  File "heat.py", line 12, in step
    größe = a + pair
                ^^^^"""


def test_a_code_may_have_its_own_hint():
    text = _testing.render("LOWERING", "the message", place(0, 0, 0, file=None))
    assert text == "the message\n  hint: this is a defect of Krait: please report it with the function"
    text = _testing.render("LOWERING", "the message", place(0, 0, 0, file=None), hint="another")
    assert text == "the message\n  hint: another"


def test_notes_tell_the_way_innermost_first():
    notes = (
        ("called with (int, (int, int))", place(17, *columns(17, "foldl("))),
        ("called with (float)", place(2, 4, 8, None, "\n    main(1.5)\n", "other.py", "main", 1)),
    )
    assert render(12, "a", hint="do this", notes=notes) == """\
the message
  File "heat.py", line 12, in step
    größe = a + pair
            ^
  hint: do this
  note: called with (int, (int, int))
  File "heat.py", line 17, in step
    return foldl(
           ^^^^^^
  note: called with (float)
  File "other.py", line 2, in main
    main(1.5)
    ^^^^"""


def test_long_chains_are_cut_in_the_middle():
    notes = tuple((f"call {i}", place(0, 0, 0, file=None)) for i in range(40))
    shown = _testing.render("TYPING", "the message", place(0, 0, 0, file=None), notes=notes).splitlines()
    first = [f"  note: call {i}" for i in range(6)]
    assert shown == ["the message", *first, "  ... 32 more", "  note: call 38", "  note: call 39"]
    few = _testing.render("TYPING", "the message", place(0, 0, 0, file=None), notes=notes[:9]).splitlines()
    assert few == ["the message", *(f"  note: call {i}" for i in range(9))]


def test_repeated_notes_are_told_once():
    recursion = ("called with (int)", place(17, *columns(17, "foldl(")))
    start = ("called with (int)", place(12, 0, 0))
    shown = _testing.render("TYPING", "the message", place(0, 0, 0, file=None), notes=(recursion,) * 5 + (start,))
    assert shown == """\
the message
  note: called with (int)
  File "heat.py", line 17, in step
    return foldl(
           ^^^^^^
  ... 4 more of the same
  note: called with (int)
  File "heat.py", line 12, in step
    größe = a + pair"""


def test_codes_name_exceptions():
    for name, exception, text in _testing.table("diag"):
        assert name.isupper() and exception.endswith("Error") and text
