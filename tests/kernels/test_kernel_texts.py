"""Bytes and strings that kernels know, and constant tuples: what the interpreter gives, on either device.

PYTEST_DONT_REWRITE: kernels are taken as they are written.
"""

import numpy as np
import pytest
from assembler import assemble
from oracle import make

from krait import cuda, errors

WORD, TEXT, LARGE = b"hello\xff\x00 world", "h\u00e9llo\u20ac", bytes(range(256))
PRIMES = (2, 3, 5, 7, 11, 13, 17, 19)
HALVES = (0.5, 1.5, 2.5)


def agrees(text, *arrays):
    plain = make(text, cuda=cuda, WORD=WORD, TEXT=TEXT, LARGE=LARGE, PRIMES=PRIMES, HALVES=HALVES)
    kernel = cuda.jit(check="race")(plain)
    given, expected = [a.copy() for a in arrays], [a.copy() for a in arrays]
    kernel[1, 1](*given)
    plain(*expected)
    for ours, theirs in zip(given, expected):
        assert ours.tolist() == theirs.tolist()
    ptx, _ = cuda.compile_ptx(plain, kernel.signatures[0], cc=(9, 0))
    assemble(ptx, 90)
    return ptx


@pytest.mark.parametrize("text", [
    "WORD[0] * 1000 + WORD[-1]", "WORD[k[0]] + WORD[k[1]]", "len(WORD) + len(WORD[2:5])", "WORD[1:][k[0]]",
    "WORD[::-1][0]",
    "WORD == b'hello'", "WORD != b'hello'", "WORD[:5] == b'hello'", "b'a' < b'b'", "b'ab' == (97, 98)", "104 in WORD",
    "k[0] in b'abc'", "200 not in WORD", "(WORD + b'ab')[-1]", "(b'ab' * 3)[5]", "len(b'')", "isinstance(WORD, bytes)",
    "isinstance(WORD, tuple)", "isinstance(WORD[1:], bytes)", "sum(WORD)", "max(WORD)", "LARGE[k[1] * 80]",
])  # fmt: skip
def test_bytes(text):
    agrees(f"def kernel(k, out):\n    out[0] = {text}", np.array([1, 3]), np.zeros(1, np.int64))


def test_loops_over_bytes():
    agrees("""
        def kernel(k, out):
            for c in WORD:
                out[0] = out[0] * 31 % 9973 + c
            for i, c in enumerate(WORD[2:8]):
                out[1] += i * c
            for c, d in zip(WORD, b"xyz"):
                out[2] += c * d
            for c in reversed(b"ab"):
                out[3] = out[3] * 256 + c
    """, np.array([1]), np.zeros(4, np.int64))  # fmt: skip


def test_bytes_of_device_functions_and_searches():
    agrees("""
        def code(letters, c):
            for j in range(len(letters)):
                if letters[j] == c:
                    return j
            return -1

        def kernel(text, out):
            for i in range(text.size):
                out[i] = code(b"ACGT", text[i]) * 10 + code(b"TG", text[i])
    """, np.frombuffer(b"GATTACAX", np.uint8).copy(), np.zeros(8, np.int64))  # fmt: skip


def test_elements_of_bytes_arrays():
    text = "def kernel(a, out):\n    for i in range(3):\n        out[i] = a[i] == b'ab'"
    agrees(text, np.array([b"ab", b"abc", b""]), np.zeros(3, np.int64))


def test_a_bytes_is_printed_as_one(capsys):
    kernel = cuda.jit(make("def kernel():\n    print(WORD[:5], b'\\x00a')", WORD=WORD))
    kernel[1, 1]()
    cuda.synchronize()
    assert capsys.readouterr().out == "b'hello' b'\\x00a'\n"


@pytest.mark.parametrize("text, error, message", [
    ("b'ab' in WORD", errors.TypingError, "97 in b"),
    ("WORD.find(b'l')", errors.TypingError, "kernels have its numbers"),
    ("WORD[20]", errors.TypingError, "out of range"), ("TEXT[k[0]]", errors.UnsupportedError, r"b\"ACGT\"\[i\]"),
    ("TEXT[6]", errors.TypingError, "out of range"), ("BIG[k[0]]", errors.UnsupportedError, "np.frombuffer"),
])  # fmt: skip
def test_what_is_refused(text, error, message):
    kernel = make(f"def kernel(k, out):\n    out[0] = {text}", WORD=WORD, TEXT=TEXT, BIG=bytes(300))
    with pytest.raises(error, match=message):
        cuda.jit(kernel)[1, 1](np.array([1, 3]), np.zeros(1, np.int64))


def test_strings():
    agrees("""
        def kernel(k, out):
            out[0] = ord(TEXT[1]) + 10000 * (TEXT[-1] == "\u20ac")
            out[1] = ("l" in TEXT) + 10 * ("z" in TEXT) + 100 * ("z" not in TEXT)
            i = 2
            for c in TEXT:
                out[i] = ord(c)
                i += 1
            for j, c in enumerate("ACGT"):
                if c == "G":
                    out[i] = j
    """, np.array([1]), np.zeros(10, np.int64))  # fmt: skip


def test_constant_tuples_are_tables(optimised):
    """No thread fills memory of its own to choose an item of a tuple that is known."""
    for table, kind in (("PRIMES", np.int64), ("HALVES", np.float64), ("WORD", np.int64)):
        ptx = agrees(f"def kernel(k, out):\n    for i in range(2):\n        out[i] = {table}[k[i]]", np.array([2, 1]),
                     np.zeros(2, kind))  # fmt: skip
        assert ".local" not in ptx and ".const" in ptx


@pytest.mark.parametrize("text", ["t = 'no' if a[0] > 2 else f'{a[1]}'",
                                  "t = ''\n    for x in a:\n        t += f'{x}'"])
def test_texts_that_are_made_are_refused(text):
    """Compiling such a kernel for a GPU crashed."""
    kernel = make(f"def k(a):\n    {text}\n    if a[0] > 1:\n        raise ValueError(t)")
    with pytest.raises(errors.KraitError, match="kernels have no strings but constants"):
        cuda.compile_ptx(kernel, "(float64[::1],)")
