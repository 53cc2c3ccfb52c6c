"""Elements of dtype S and U: loaded, stored, compared, their length; in records, results and kernels."""

import numpy as np
import pytest

import krait
from krait import cuda, njit, typeof, types
from krait.errors import TypingError

WORDS = ["", "a", "ab", "abc", "abd", "b", "é", "日本", "z\U0001f600"]
PLAIN = [b"", b"a", b"ab", b"abc", b"abd", b"b", b"\xff"]


def agree(function, *args):
    twins = [arg.copy() if isinstance(arg, np.ndarray) else arg for arg in args]
    ours, theirs = njit(function)(*args), function(*twins)
    assert repr(ours) == repr(theirs)
    for arg, twin in zip(args, twins):
        np.testing.assert_array_equal(arg, twin)
    return ours


def every_order(a, b, i, k):
    x, y = a[i], b[k]
    return bool(x < y), bool(x <= y), bool(x == y), bool(x != y), bool(x > y), bool(x >= y)


@pytest.mark.parametrize("words, widths", [(WORDS, ("U3", "U6")), (PLAIN, ("S3", "S5"))])
def test_comparison(words, widths):
    compiled = njit(every_order)
    a, b = np.array(words, widths[0]), np.array(words, widths[1])
    for i in range(len(words)):
        for k in range(len(words)):
            assert compiled(a, b, i, k) == every_order(a, b, i, k), (words[i], words[k])


@pytest.mark.parametrize("words", [np.array(WORDS), np.array(PLAIN)])
def test_length_and_truth(words):
    compiled = njit(lambda a, i: (len(a[i]), bool(a[i])))
    for i in range(words.size):
        assert compiled(words, i) == (len(words[i]), bool(words[i]))


def test_literals_and_stores():
    def edit(a):
        found = 0
        for i in range(a.size):
            if a[i] == "abc" or "日本" == a[i]:
                found += 1
            if a[i] == "":
                a[i] = "empty"
        a[1] = a[2]
        a[3:5] = "xy"
        a[5] = "much too long for it"
        return found, a[0], a[1], a[5], a[1:3]

    agree(edit, np.array(WORDS, "U6"))


def test_widths_are_converted():
    def move(a, b):
        a[0] = b[1]
        b[0] = a[2]
        return a[0], b[0]

    agree(move, np.array(["abc", "de", "fghij"]), np.array(["x", "yz"]))
    agree(move, np.array([b"abc", b"de", b"fghij"]), np.array([b"x", b"yz"]))


def test_records_and_branches():
    people = np.array([("Ann", 3), ("Bob", 5), ("Zoë", 4)], [("name", "U8"), ("age", "i4")])

    def oldest(people):
        best, age = people[0]["name"], people[0]["age"]
        for p in people:
            if p["age"] > age:
                best, age = p["name"], p["age"]
        people[0]["name"] = best
        people["name"][1] = "Eve"
        return best, age

    agree(oldest, people)


def test_kernels():
    @cuda.jit
    def count(words, found, copies):
        i = cuda.grid(1)
        if i < words.size:
            copies[i] = words[i]
            found[i] = len(words[i]) if words[i] == "abc" or words[i] < "ab" else -1

    words = np.array(WORDS)
    found, copies = np.zeros(words.size, int), np.zeros_like(words)
    count[1, 16](words, found, copies)
    np.testing.assert_array_equal(copies, words)
    assert list(found) == [len(w) if w == "abc" or w < "ab" else -1 for w in WORDS]
    np.testing.assert_array_equal(cuda.to_device(words).copy_to_host(), words)


def test_types():
    assert str(typeof(np.array(["abc"]))) == "array(U3, 1, C)" and str(typeof(np.array([b"ab"]))) == "array(S2, 1, C)"
    assert krait.from_dtype("U5") is types.UnicodeCharSeq(5) and types.CharSeq(2).dtype == np.dtype("S2")
    assert isinstance(typeof(np.array(["abc"])).dtype, types.UnicodeCharSeq)
    with pytest.raises(ValueError):
        types.CharSeq(0)
    with pytest.raises(TypeError):
        typeof(np.zeros(1, "U1000"))


def test_refusals():
    words = np.array(["abc"])
    with pytest.raises(TypingError):
        njit(lambda a: a[0] < 3)(words)
    for array, hint in (words, "str"), (np.array([b"x"]), "bytes"):
        with pytest.raises(TypingError, match=rf"take {hint}\(x\) of it"):
            njit(lambda a: {a[0]: 1})(array)

    def mixed(a, b):
        a[0] = b[0]

    with pytest.raises(TypingError):
        njit(mixed)(words, np.array([b"x"]))


@pytest.mark.parametrize("operator", ["==", "!=", "<", "<=", ">", ">="])
def test_whole_arrays(operator):
    words, plain = np.array(WORDS), np.array(PLAIN)
    for text, *arrays in [(f"a {operator} 'ab', 'b' {operator} a, a {operator} ''", words),
                          (f"a {operator} a[::-1], a {operator} a[3], a[1] {operator} a", words),
                          (f"a {operator} a[::-1], a {operator} a[3], a[1] {operator} a", plain),
                          (f"a {operator} b, a[:, None] {operator} b", words, np.array(WORDS, "U9"))]:
        scope = {}
        exec(f"def f({', '.join('ab'[: len(arrays)])}):\n    return {text}", scope)
        ours, theirs = njit(scope["f"])(*arrays), scope["f"](*arrays)
        for our, their in zip(ours, theirs):
            assert our.dtype == their.dtype
            np.testing.assert_array_equal(our, their)


TEXTS = np.array(["ab", "cde", "ab", "", "é日"]), "ab", "abcd"
BYTES = np.array([b"ab", b"cde", b"ab", b"", b"\xff"]), b"ab", b"abcd"
PLAIN_USES = {
    "operators": "x[0] + s, s + x[1], x[0] + x[1], x[0] * 2, 2 * x[1], f'{x[0]}', '%s|' % x[1]",
    "comparisons": "x[0] == s, x[0] < s, s >= x[1], x[0] != s, x[1] == long, long > x[2], x[3] == s",
    "membership": "s in x[0], x[0] in s, x[0] in (s, long), x[1] in [s, s], s in (x[0], x[1])",
    "items": "x[0][0], x[1][1:], x[1][-1], len(x[1]), [q for q in x[1]], list(x[1]), list(enumerate(x[1]))",
    "methods": "x[0].upper(), x[1].replace(s, long), x[0].startswith(s), s.startswith(x[0]), s.split(x[0])",
    "arrays": "x == s, s != x, x < long, x[x == s], (x == long).sum()",
    "classes": "(str(x[0]), repr(x[1])) if isinstance(s, str) else (bytes(x[0]), x[0].decode())",
}  # fmt: skip


@pytest.mark.parametrize("use", PLAIN_USES)
@pytest.mark.parametrize("given", [TEXTS, BYTES], ids=["U", "S"])
def test_elements_are_texts_and_bytes(use, given):
    scope = {}
    exec(f"def f(x, s, long):\n    return {PLAIN_USES[use]}", scope)
    ours, theirs = njit(scope["f"])(*given), scope["f"](*given)
    assert repr(ours) == repr(theirs)


@pytest.mark.parametrize("given", [TEXTS, BYTES], ids=["U", "S"])
def test_texts_and_bytes_are_stored(given):
    def edit(x, s, long):
        x[0] = long + s
        x[1] = s[:1]
        x[2] = x[0]
        x[4:] = s + s
        for i in range(len(x)):
            if x[i] == s[:1]:
                x[i] = x[i].upper() + s[:0]
        return x[0], x[1]

    agree(edit, *given)


def test_known_bytes():
    def edit(x):
        x[0] = b"zz"
        x[1] = b""
        return x[0] == b"zz", x[0] + b"c", b"z" in x[0], x[2] in (b"ab", b"q"), b"b" < x[2], x == b"ab"

    agree(edit, BYTES[0])


def test_numbers_are_read():
    agree(lambda x: (int(x[0]), float(x[1]) + 1), np.array(["12", "2.5"]))


@pytest.mark.parametrize("operator", ["==", "!=", "<", "<=", ">", ">="])
def test_a_text_that_goes_on_behind_a_nul(operator):
    """Beyond the elements' width, where what is cut off decides."""
    scope = {}
    exec(f"def f(x, s):\n    return x {operator} s, s {operator} x", scope)
    compiled = njit(scope["f"])
    for words, texts in ((["xyz", "abc", "xy"], ["xyz\0c", "xyz\0", "xy\0", "xyz\0\0\1", "xyzc", "xyz", "xy\0\0\0z"]),
                         ([b"xyz", b"abc"], [b"xyz\0c", b"xyz\0", b"xyz\0\0\1", b"xyzc"])):  # fmt: skip
        for text in texts:
            for ours, theirs in zip(compiled(np.array(words), text), scope["f"](np.array(words), text)):
                np.testing.assert_array_equal(ours, theirs)
