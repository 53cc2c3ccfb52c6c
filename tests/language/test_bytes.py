"""bytes: arguments that are held, chosen and returned."""

import numpy as np
import pytest

from krait import _testing, cuda, errors, jit
from oracle import agree, agree_all, expression

VALUES = [b"", b"a", b"\x00\xff\x00", bytes(range(256)) * 40]


def same(b):
    return b


def one_of(a, b, first):
    if first:
        return a
    return b


def swapped(pair):
    first, second = pair
    return second, first, 1


def last_of(a, n):
    kept = a
    for i in range(n):
        kept = (kept, a)[0]
    return [kept, a]


def raising(a, b, n):
    pair = (a, b)
    if n > 0:
        return pair
    raise ValueError("no pair")


@pytest.mark.parametrize("value", VALUES, ids=len)
def test_held_chosen_and_returned(value):
    agree_all(same, [(value,)])
    agree_all(one_of, [(value, b"other", True), (b"other", value, False)])
    agree_all(swapped, [((value, b"second"),)])
    agree_all(last_of, [(value, 3), (value, 0)])
    agree_all(raising, [(value, b"other", 1), (value, b"other", 0)])


def test_their_type():
    compiled = jit(same)
    for value in VALUES:
        assert compiled(value) == value
    assert [str(types) for (types,) in compiled.signatures] == ["bytes"]


def test_objects_are_given_up():
    compiled = jit(one_of)
    before = _testing.heap_objects()
    for n in range(100):
        compiled(b"x" * n, b"y", n % 2 == 0)
    assert _testing.heap_objects() == before


def test_a_subclass_and_kernels_are_refused():
    class Tagged(bytes):
        pass

    with pytest.raises(TypeError, match="Tagged"):
        jit(same)(Tagged(b"a"))
    with pytest.raises(TypeError, match="bytes"):
        cuda.jit(lambda b: None)[1, 1](b"a")


def numbers_of(b):
    total = 0
    for x in b:
        total = (total * 31 + x) % 1000003
    return len(b), total, [x + 1 for x in b], list(b), sum(b), [(i, x) for i, x in enumerate(b)], 255 in list(b)


def at(b, i):
    return b[i], b[-1] + 256


def test_numbers():
    agree_all(numbers_of, [(value[:50],) for value in VALUES])
    agree_all(at, [(b"abc", 0), (b"\xff\x01", 1), (b"abc", -3), (b"abc", 3), (b"abc", -4), (b"", 0)])


TAKEN = [b"", b"hello", b"\x00\xff", b" A b\tC ", b"l1l2\nl3"]
METHODS = """
    b.capitalize() b.title() b.swapcase() b.lstrip() b.rstrip() b.lstrip(b'lh') b.rstrip(b'o3') b.expandtabs()
    b.expandtabs(3) b.zfill(9) b.center(9) b.center(9,b'*') b.ljust(8) b.ljust(8,b'.') b.rjust(8) b.rjust(8,b'.')
    b.isalnum() b.isalpha() b.isascii() b.isdigit() b.islower() b.isupper() b.isspace() b.istitle() b.rsplit()
    b.rsplit(b'l') b.rsplit(b'l',1) b.splitlines() b.splitlines(True) b.partition(b'l') b.rpartition(b'l')
    b.removeprefix(b'he') b.removesuffix(b'lo') b.rfind(b'l') b.rfind(b'l',1,3) b.index(b'l') b.rindex(b'l')
    b.join([b,b'x']) b.join((b,b)) b.translate(None,b'l') b.translate(bytes(range(256))) b.startswith((b'he',b'x'))
    b.find(108) b.rfind(108,1,3) b.index(108) b.rindex(np.uint8(108)) b.count(108) b.count(True) b.find(256) b.index(-1)
    b.endswith((b'o',b''),0,3) b.startswith('h') b*2 3*b b*0 b*-1 (b'a',1,b)[0] ((b'a',2),b)[0][0] bytes(b)
""".split()


@pytest.mark.parametrize("text", METHODS)
def test_methods(text):
    agree_all(expression(text, "b"), [(value,) for value in TAKEN])


SOURCES = [[1, 2, 255], (0, 7), [256], [-1], range(4), np.arange(3, dtype=np.uint8), np.arange(6)[::2], 3, 0, -2, True,
           np.int16(2), "text", {1, 2}, b"abc"]


@pytest.mark.parametrize("source", SOURCES, ids=repr)
def test_bytes_made(source):
    agree(expression("bytes(x)", "x"), source)


@pytest.mark.parametrize("source", ["[x]", "(1, x)", "[x + 0.5]"])
def test_floats_are_no_bytes(source):
    with pytest.raises(errors.TypingError, match="`operator.index` does not take `item`"):
        jit(expression(f"bytes({source})", "x"))(2.0)


def test_bytes_of_texts():
    for text in ("bytes(x, 'utf-8')", "bytes(x, 'ascii', 'replace')", "bytes(x, encoding='latin-1')",
                 "bytes(x, 'ascii')", "bytes(x, errors='replace')"):
        agree(expression(text, "x"), "añ")
    agree(expression("bytes()", "x"), "")


def counted(b):
    counts = {}
    for i in range(len(b) - 1):
        counts[b[i:i + 2]] = counts.get(b[i:i + 2], 0) + 1
    return counts


def test_keys_made_here():
    agree_all(counted, [(b"abcabcab\x00\x00\xff\xff\xff",), (b"",)])
    for text in ("{b'a': 1, b'b': 2}[x]", "{b'a': 1}[x]", "{(b'a', 1): 2, (x, 2): 3}",
                 "{w: len(w) for w in x.split(b'b')}",
                 "{b'a', x} & {b'a'}, {b'a'} | {x}, {b'a'} <= {b'a', x}, len({b'a', x, x * 2})", "x in {b'a', b'b'}",
                 "{b'a', b'b', b'c'} == {b'c', b'b', b'a'}, x in {(b'a', 1), (b'b', 2)}", "str({x: b'a'})",
                 "{tuple(x.split(b'b')): 1}", "dict.fromkeys([b'a', x], 1)"):  # fmt: skip
        agree_all(expression(text, "x"), [(b"a",), (b"b",), (b"\x00\xff",), (b"",)])


@pytest.mark.parametrize("text", [
    "d[x], x in d, d", "d.setdefault(x, 7), d.get(x), d.get(b'none'), d.pop(b'none', 3), d", "d.pop(x), d.popitem(), d",
    "sorted(d.items()), list(d), d.keys() & {x}", "d == {b'b': 2, b'a': 1}",
])  # fmt: skip
def test_keys_of_dicts_passed_in(text):
    agree_all(expression(text, "d", "x"), [({b"a": 1, b"b": 2}, b"b"), ({b"a": 1}, b"\x00"), ({b"a": 1, b"": 2}, b"")])


def added(s, b):
    s.add(b)
    return s, b in s, len(s), sorted(s)


def filled(d, b):
    d[b] = len(b)
    return d


def test_items_of_sets_passed_in():
    agree_all(added, [({b"a"}, b"a"), ({b"a"}, b"b"), ({b"a\x00"}, b"a"), (set(), b"a")])
    agree_all(filled, [({}, b"abc"), ({b"": 7}, b"")])
