"""Strings: every operator and method, texts of values, calls with any text, against Python's."""

import contextlib
import io

import numpy as np
import pytest
from oracle import agree, agree_all, expression, make

from krait import _krait, errors, njit, prange

TEXTS = ["", "a", "banana", "Hello, World", "äöü ß", "日本語", "a\U0001f600b", " \t x y\n", "-12", "3.5", "ABC\nab\r\nq",
         "\0a\0b"]


@pytest.mark.parametrize("text", [
    "a", "'x' + a", "a + a", "a * 3", "2 * a", "a * -1", "len(a)", "a[::-1]", "a[1:]", "a[:-1]", "a[1:5:2]", "a[:]",
    "[c for c in a]", "list(a)", "[c for c in reversed(a)]", "list(enumerate(a))", "list(zip(a, a[1:]))", "a or 'none'",
    "'yes' if a else 'no'", "not a", "a.upper()", "a.lower()", "a.title()", "a.capitalize()", "a.casefold()",
    "a.swapcase()", "a.isalpha()", "a.isdigit()", "a.isalnum()", "a.isdecimal()", "a.isnumeric()", "a.isspace()",
    "a.isupper()", "a.islower()", "a.istitle()", "a.isidentifier()", "a.isprintable()", "a.isascii()", "a.zfill(8)",
    "a.center(12)", "a.center(13, '*')", "a.ljust(12, '.')", "a.rjust(12)", "a.expandtabs()", "a.expandtabs(4)",
    "a.replace('a', 'xyz')", "a.replace('a', '', 1)", "a.split()", "a.split('a')", "a.split(maxsplit=1)",
    "a.split(None, 1)", "a.rsplit('a', 1)", "a.splitlines()", "a.splitlines(True)", "a.partition(',')",
    "a.rpartition('a')", "a.strip()", "a.strip('ab-')", "a.lstrip()", "a.rstrip('a')", "a.removeprefix('ba')",
    "a.removesuffix('na')", "a.join(['x', 'y', 'z'])", "a.join('pqr')", "a.find('a')", "a.find('an', 2)",
    "a.find('', 7)",
    "a.find('a', -3, -1)", "a.rfind('a')", "a.rfind('a', 0, 3)", "a.index('a')", "a.rindex('n')", "a.count('a')",
    "a.count('')", "a.count('an', 2)", "a.startswith('ba')", "a.startswith(('x', 'ba', ''))", "a.endswith('na')",
    "a.endswith('a', 0, 2)", "a.startswith('', 9)", "a.startswith('n', 2**63 - 1)",
    "a.endswith('', 2**63 - 1)", "a.find('a', 2**63 - 1)", "a.count('', 2**63 - 1)",
    "'an' in a", "'' in a", "'q' not in a", "hash(a)", "repr(a)",
    "ascii(a)", "str(a)", "f'{a}'", "f'<{a:>15}>'", "f'{a!r:*^20}'", "'%s!' % a", "'{}-{x}'.format(a, x=1)", "(a, 1)",
    "sorted(a)", "max(a + 'b')", "a < 'b', a <= 'b', a == 'banana', a != 'a', a > 'a', a >= 'b'", "int(a)",
    "float(a)", "complex(a)", "a[2]", "a[-1]", "isinstance(a, str), isinstance(a, int)", "a == 3", "a is None",
    "min(a, 'b', 'c')", "max(a, 'b')", "format(a, '>9')", "[a, 'x', a + 'y']", "a in ('banana', 'a')", "ord(a)",
    "f'{{{a}}}' + f'}}{len(a)}{{'", "a + f'{a}'", "f'{a:{len(a) + 3}}'",
])  # fmt: skip
def test_of_a_text(text):
    agree_all(expression(text, "a"), [(a,) for a in TEXTS])


@pytest.mark.parametrize("text, values", [
    ("str(a)", [0, -5, 10, -100, 2**63 - 1, -(2**63), 1.5, 0.1 + 0.2, 1e16, 1e22, 5e-324, -0.0,
                float("inf"), float("nan"), True, None, 1 + 2j, np.float32(0.1),
                np.int8(-3), np.arange(3), (1, 2.5), [1, 2]]),
    ("f'{a}|{a!r}|{a:}'", [7, 2.5, False, np.float64(2.5), np.arange(2.0)]),
    ("f'{a:5d}|{a:<5}|{a:+}|{a:#x}|{a:,}|{a:05}'", [7, -12345]),
    ("f'{a:.3f}|{a:e}|{a:10.2g}|{a:%}|{a:+.1f}'", [3.14159, -0.5, 1e10, float("nan")]),
    ("f'{a:d}'", [1.5]), ("'%d %5.2f %s %x' % (a, a, a, a)", [12]), ("'%d' % a", [1.5, "x"]),
    ("hex(a), oct(a), bin(a)", [255, -7]), ("chr(a)", [65, 233, 0x1F600, -1, 0x110000]), ("int(a, 16)", ["ff", "zz"]),
    ("', '.join([str(i) for i in range(a)])", [0, 1, 5]), ("'ab'[a]", [0, 1, -1, 2, -3]), ("'x' * a", [0, 3]),
    ("hash(a)", [1, 2.5, "text", (1, 2)]),
])  # fmt: skip
def test_of_values(text, values):
    for value in values:
        agree(expression(text, "a"), value)


@pytest.mark.parametrize("body", [
    "s = ''\nfor i in range(a):\n    s += str(i) + ','\nreturn s",
    "if a > 1:\n    s = 'big'\nelse:\n    s = 'small'\nreturn s",
    "if a > 1:\n    return 'big'\nreturn f'small {a}'",
    "s = None\nif a > 1:\n    s = 'set'\nreturn s",
    "n = 0\nfor c in 'banana':\n    if c == 'a':\n        n += a\nreturn n",
    "words = []\nfor w in 'the quick brown fox'.split():\n    words.append(w[0].upper() + w[1:])\nreturn words",
    "s = f'bad {a}' if a > 1 else f'good {a + 1}'\nreturn s",
    "t = ('x', a)\nreturn t[0] + 'y', t",
    "raise ValueError(f'bad {a}', 'text' + str(a))",
    "raise KeyError('a' * a)",
    "m = 'one' if a == 1 else 'other'\nraise ValueError(m)",
    "try:\n    return int('x' * a)\nexcept ValueError:\n    return -1",
    "try:\n    raise ValueError('a' + str(a))\nexcept (KeyError, ValueError):\n    return 'caught'",
    "try:\n    raise IndexError('a' + str(a))\nexcept KeyError:\n    return 'no'",
    "try:\n    raise IndexError('a' + str(a))\nfinally:\n    x = 'q' + str(a)\n    len(x)",
])  # fmt: skip
def test_in_programs(body):
    lines = "".join(f"    {line}\n" for line in body.split("\n"))
    agree_all(make(f"def f(a):\n{lines}", "f"), [(1,), (3,)])


def test_lists_and_tuples_of_texts_come_and_go():
    agree(make("def f(a):\n    a.append('x' + a[0])\n    return a"), ["p", "q"])
    agree(make("def f(a):\n    return a[0] + a[2], len(a[0]) + a[1]"), ("p", 1, "q"))
    agree(make("def f(a):\n    a.sort()\n    a[0] = 'z' + a[0]"), ["b", "a", "ä"])


def test_one_specialisation_serves_every_text():
    @njit
    def length(s):
        return len(s)

    assert [length(text) for text in TEXTS] == [len(text) for text in TEXTS]
    assert len(length.signatures) == 1


def test_a_function_that_must_know_its_text_is_compiled_for_it():
    @njit
    def zeros(n, dtype):
        return np.zeros(n, dtype)

    assert zeros(2, "float32").dtype == np.float32
    assert zeros(2, "int8").dtype == np.int8


def printed(function, *args):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        function(*args)
    return out.getvalue()


@pytest.mark.parametrize("body", [
    "print()", "print(a, s, x, l, t)", "print(a, s, sep='-', end='!')", "print(s, sep=None, end=None, flush=True)",
    "print(1.5, True, None, 'text', 2j, np.float32(0.1), np.int8(3))", "print([1, 2], (a, 'z'), x[0], x * 2, x[::2])",
    "print(f'{a:04d}', s + '!', '%d' % a)", "for i in range(3):\n        print(i, end=' ')",
    "l.append(9)\n    print(l)\n    l.append(10)\n    print([l, l])", "print('a', end='')\n    print('b')",
])  # fmt: skip
def test_print(body):
    function = make(f"def f(a, s, x, l, t):\n    {body}", "f")
    args = 3, "héllo", np.arange(3.0), [1, 2, 3], (1, 2.5)
    compiled = njit(function)
    expected = printed(function, *args[:3], [1, 2, 3], args[4])
    assert printed(compiled, *args[:3], [1, 2, 3], args[4]) == expected
    assert printed(njit(nogil=True)(function), *args[:3], [1, 2, 3], args[4]) == expected


def test_print_in_a_parallel_loop_stays_on_one_core():
    @njit(parallel=True)
    def count(n):
        total = 0
        for i in prange(n):
            print(i)
            total += i
        return total

    assert printed(count, 5) == "0\n1\n2\n3\n4\n"


def test_what_printing_raises_can_be_caught():
    class Full:
        def write(self, text):
            raise OSError("disk full")

    @njit
    def try_it():
        try:
            print("x")
        except OSError:
            return 1
        return 0

    @njit
    def do_it():
        print("x")

    with contextlib.redirect_stdout(Full()):
        assert try_it() == 1
        with pytest.raises(OSError, match="disk full"):
            do_it()


@pytest.mark.parametrize("text, words", [
    ("print(a, file=a)", "takes sep=, end= and flush="), ("a + 1", "unsupported operand types for \\+"),
    ("a['x']", "a string is indexed by an int or a slice"), ("a.encode(1)", "`str.encode` does not take"),
    ("1 in a", "unsupported operand types for in"),
])  # fmt: skip
def test_refusals(text, words):
    with pytest.raises(errors.TypingError, match=words):
        njit(expression(text, "a"))("x")


def test_known_texts_among_positional_arguments():
    def last(*items):
        return items[-1]

    def f(x, pair):
        return last(x, "b"), last(x, ("c", 2)), max(pair, (3, "yz")), sorted([min(pair, (3, "yz"), pair)])

    agree_all(f, [(1, (3, "z")), ("a", (4, ""))])


@pytest.mark.parametrize("made", ["(1, 'a') + (len(s),)", "(*(1, 'a'), len(s))", "('a', len(s)) * 2", "('a', s, 1)[:2]",
                                  "(*('b', 2.5), *('a', s))"])  # fmt: skip
def test_texts_in_tuples_that_a_function_gives(made):
    """A text beside what is not known is made at run time, also where tuples are joined."""
    agree(make(f"def f(s):\n    give = lambda s: {made}\n    x = []\n    for c in s:\n        x.append(give(c))\n"
              "    return x, sorted(s, key=give)"), "bac")


def test_a_text_that_is_made_in_a_try_statement():
    """Where a variable that a handler sees gets an f-string: CPython 3.13 has more of its blocks under the handler."""
    def below_a_branch(n, items):
        text = "abc".zfill(2)
        try:
            try:
                if n == -1:
                    try:
                        items ^= {n}
                    finally:
                        k = 3
                        while k > 0:
                            k -= 1
                            text = f"{n:#x}"
            finally:
                text += "def"
        except AssertionError:
            text = text
        return text

    def twice(n, items):
        text = "abc".zfill(2)
        try:
            try:
                items ^= {n}
            finally:
                k = 3
                while k > 0:
                    k -= 1
                    text = f"{n:#x}"
        finally:
            text += "def"
        return text

    for f in (below_a_branch, twice):
        for n in (-1, 0, 17):
            assert njit(f)(n, {0, 1}) == f(n, {0, 1})


def test_a_text_of_what_changes_afterwards():
    """An f-string shows what a list, a dict, a set or an array holds where it is written, not where it is used."""
    def of_list(items):
        text = f"{items!r:>12}|{len(items)}"
        if len(items) > 100:
            raise ValueError(f"no {text}")
        items.append(7)
        return text, items

    def percent(items):
        text = "%s" % (items,)
        items += items
        return text

    def of_tables(items):
        table, numbers = {1: "a"}, set(items)
        text, other = f"{table}", f"{(numbers, 2)}"
        table[1] = text
        numbers.clear()
        return text, other, table

    def of_array(items):
        numbers = np.arange(3)
        text = f"{numbers}"
        numbers[0] = items[0]
        return text

    def raised(items):
        error = ""
        try:
            text = f"{items}"
            items.clear()
            raise ValueError(text)
        except ValueError as e:
            error = str(e)
        return error

    for f in (of_list, percent, of_tables, of_array, raised):
        assert njit(f)([5, 6, 8]) == f([5, 6, 8])


def test_a_text_of_a_container_before_a_try_statement():
    def f(items):
        text = f"{items}"
        try:
            number = float(str(items[0]))
            text = text
        except ZeroDivisionError:
            text = text
        return text, number

    assert njit(f)([1, 2]) == f([1, 2])


def test_a_text_that_an_inner_function_assigns_as_well():
    def f(more):
        word = "ab"

        def twice():
            nonlocal word
            word = word
            return word * 2

        def longer():
            nonlocal word
            word = word + more
            return len(word)

        return twice(), word, longer(), word

    assert njit(f)("xyz") == f("xyz")


def test_a_text_shows_what_there_was_before_a_change_in_the_same_expression():
    def pair(items):
        return f"{items}", items.pop()

    def joined(items):
        return f"{items}" + str(items.pop()) + f" {items} {items.pop()} {items}"

    def listed(items):
        return [f"{items}", str(items.append(7)), f"{items}"]

    for f in (pair, joined, listed):
        assert njit(f)([1, 2, 3]) == f([1, 2, 3])


def test_texts_of_messages_beside_calls():
    @njit
    def half(n):
        return n // 2

    @njit
    def check(n):
        if n > 3:
            raise ValueError(f"{n} of {half(n)}", n)
        return f"{n}: {half(n)}"

    assert check(3) == "3: 1"
    with pytest.raises(ValueError) as caught:
        check(4)
    assert caught.value.args == ("4 of 2", 4)


def test_a_text_with_nul_is_an_argument_and_no_constant():
    agree(njit(lambda s, items: (len(s), s, s + "x", s[1], s.split(chr(0)), chr(0) in s, s in items)), "a\0b",
          ["a", "a\0b"])
    with pytest.raises(errors.UnsupportedError, match=r"chr\(0\)"):
        njit(lambda: "a\0b")()
    with pytest.raises(ValueError) as caught:
        njit(expression("int(s)", "s"))("1\0")
    assert caught.value.args == ("invalid literal for int() with base 10: '1\\x00'",)


@pytest.mark.parametrize("text", ["a + a", "a * 3", "a.encode() + a.encode()", "a.encode() * 3"])
def test_joining_texts_copies_them_whole(text):
    """A text that grows by one character in a loop is copied each time: what is joined has its memory at once."""
    long = "text of many characters " * 4000
    ours = njit(expression(text, "a"))
    assert ours(long) == expression(text, "a")(long)
    counts = [np.diff(objects_made(ours, long[:n]))[0] for n in (100, len(long))]
    assert counts[0] == counts[1] < 12


def objects_made(function, *args):
    before = _krait.allocation_stats()[0]
    function(*args)
    return before, _krait.allocation_stats()[0]


@pytest.mark.parametrize("body", [
    "r += 'ab'[i % 2]", "r = r + str(i % 7) + ','", "r += r", "r += r + 'x'", "r = r + ''",
    "t = r\nr += 'x'\nkept.append(t)",
    "kept.append(r)\nr += 'é'\nr += 'y'", "kept.append(r + 'x')\nkept.append(r + 'y')", "r = 'x' + r\nr += r[:2]",
    "try:\n    r += 'abc'[i % 4]\nexcept IndexError:\n    kept.append(r)", "for c in r[:3]:\n    r += c + r[:1]",
    "d[r] = i\nr += 'k'\nkept.append(str(d))", "s = (r, i)\nr += 'x'\nkept.append(s[0])",
    "def more():\n    return r + 'z'\nr += more()",
])  # fmt: skip
@pytest.mark.parametrize("start", ["''", "'x'", "a", "a + 'b'"])
def test_a_text_that_grows_where_it_lies_is_nobody_elses(body, start):
    lines = "".join(f"        {line}\n" for line in body.split("\n"))
    text = f"def f(a, n):\n    r = {start}\n    kept = ['']\n    d = {{'': 0}}\n    for i in range(n):\n{lines}"
    agree_all(make(text + "    return r, kept, a", "f"), [("", 3), ("text", 9)])


@pytest.mark.parametrize("text", ["", b""])
def test_a_text_put_together_in_a_loop_is_one_object(text):
    def grown(text, part, n):
        for _ in range(n):
            text += part
        return text

    ours, part = njit(grown), text.join([text]) + ("xy" if isinstance(text, str) else b"xy")
    assert ours(text, part, 5000) == grown(text, part, 5000)
    assert np.diff(objects_made(ours, text, part, 5000))[0] < 60  # one, and the rooms that it outgrew


CHARACTERS = "".join(chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000)


@pytest.mark.parametrize("method", ["isalpha", "isdigit", "isalnum", "isdecimal", "isnumeric", "isspace",
                                    "isprintable", "isupper", "islower", "istitle"])  # fmt: skip
def test_kinds_of_characters_are_those_of_the_interpreter(method):
    """Of every character there is, and of words of several kinds."""
    agree(expression(f"[c.{method}() for c in a]", "a"), CHARACTERS)
    some = ["a", "A", "1", " ", "ǅ", "é", "²", "½", "_", "中"]
    agree_all(expression(f"a.{method}()", "a"), [(x + y + z,) for x in some for y in some for z in ["", "b", "B"]])


@pytest.mark.parametrize("call", ["split()", "split(None, n)", "split('ab', n)", "split(maxsplit=n)", "split(b, n)",
                                  "split(sep=b)", "split(' ')", "split(None if n else b)"])  # fmt: skip
def test_parts_of_texts(call):
    texts = ["", " ", "a", " a", "a  b ", "abab", "xabyabz", "\u2003a\u2003 é\x1c", "aab", "ababab b"]
    cases = [(text, b, n) for text in texts for b in ["b", "ab", "aba", "é"] for n in [-1, 0, 1, 2, 9]]
    agree_all(make(f"def f(a, b, n): return a.{call}"), cases)


def test_parts_of_texts_that_are_refused():
    agree(make("def f(a, b): return a.split(b)"), "text", "")
    for call in ["split(' ', 1.5)", "split(3)", "split(' ', 'x')"]:
        with pytest.raises((errors.TypingError, TypeError)):
            njit(make(f"def f(a): return a.{call}"))("a b")


def test_numbers_of_texts():
    texts = ["0", "7", "-7", "-", "", "+5", " 12 ", "1_000", "007", "-0", "9" * 18, "0" * 19, "-" + "9" * 17, "٣", "1-",
             "--1", "12a", "1\0", str(2**63 - 1), str(-(2**63))]  # fmt: skip
    agree_all(expression("int(a), [int(c) for c in a if c.isdecimal()]", "a"), [(text,) for text in texts])


@pytest.mark.parametrize("method", ["upper", "lower"])
def test_cases_are_those_of_the_interpreter(method):
    agree(expression(f"[c.{method}() for c in a]", "a"), CHARACTERS[:1500] + CHARACTERS[7600:8600])
    texts = ["", "aZ[@`{z", "x" * 300 + "Q", "aß", "ΑΣ", "İı"]
    agree_all(expression(f"a.{method}()", "a"), [(text,) for text in texts])


# ---- comparisons ----

LONG = "abcdefgh" * 5
COMPARED = ["", "a", "b", "aa", "ab", "é", "aé", "\u0101", "\u0100", "\U0001f600", "a\U0001f600b", "\0\1", "\1\0", LONG,
            LONG + "x", LONG[:-1] + "i", LONG[:32] + "abcdefgi" + "a", "x" + LONG]  # fmt: skip


@pytest.mark.parametrize("text", [
    "a == b, a != b, a < b, a <= b, a > b, a >= b",
    "a.find(b), a.rfind(b), a.count(b), b in a, a.startswith(b), a.endswith(b), a.find(b, 1), a.rfind(b, -3, 60)",
])  # fmt: skip
def test_each_text_by_each(text):
    agree_all(expression(text, "a, b"), [(a, b) for a in COMPARED for b in COMPARED])
    agree_all(expression(text, "a, b"), [(a.encode(), b.encode()) for a in COMPARED for b in COMPARED[:8]])


@pytest.mark.parametrize("operator", ["==", "!=", "<", "<=", ">", ">="])
def test_a_comparison_is_a_call_and_no_loop(operator):
    """A loop at each of hundreds of comparisons took the compiler 5 ms each."""
    lines = "".join(f"    if x {operator} 'name{k}':\n        s += {k}\n" for k in range(20))
    compiled = njit(make("def f(x):\n    s = 0\n" + lines + "    return s\n"))
    assert compiled("name7") == compiled.py_func("name7")
    (text,) = compiled.inspect_llvm().values()
    assert 0 < text.count("@krait_heap_") <= 21  # its declaration, too
    assert text.count("br i1") <= 21 and "raise" not in text
