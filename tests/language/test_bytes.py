"""bytes: arguments that are held, chosen and returned."""

import pytest

from krait import _testing, cuda, jit
from oracle import agree_all

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
