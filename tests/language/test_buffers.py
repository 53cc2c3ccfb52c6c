"""bytearray, memoryview and array.array: arguments, global variables and results of functions, and made in compiled
code; against the interpreter."""

import array
import zlib

import numpy as np
import pytest

from krait import cuda, errors, njit
from oracle import Raised, outcome

KEPT = bytearray(b"kept")
MAKES = {
    "bytearray": lambda: bytearray([97, 2, 200, 4]),
    "view": lambda: memoryview(bytearray(b"abcdefgh"))[::2],
    "readonly view": lambda: memoryview(b"abcd"),
    "view of shorts": lambda: memoryview(array.array("h", [1, -2, 3, 4])),
    "array of doubles": lambda: array.array("d", [1.5, 2, 3]),
    "array of bytes": lambda: array.array("b", [1, -2, 3]),
    "array of longs": lambda: array.array("L", [1, 2, 2**40]),
}


def plain(x):
    if isinstance(x, memoryview):
        return "view", x.format, x.shape, x.strides, x.readonly, x.tolist()
    if isinstance(x, np.ndarray):
        return "array", x.dtype, x.tolist(), x.flags.writeable
    if isinstance(x, (tuple, list)):
        return [plain(item) for item in x]
    return type(x), x


def same(function, *args, words=True):
    """Results, exceptions, and what the arguments are afterwards."""
    ours, theirs = [make() for make in args], [make() for make in args]
    mine, expected = outcome(njit(function), ours, {}), outcome(function, theirs, {})
    if isinstance(expected, Raised) or isinstance(mine, Raised):
        assert isinstance(mine, Raised) and isinstance(expected, Raised), (mine, expected)
        assert mine.kind is expected.kind and (not words or str(mine.error) == str(expected.error)), (mine, expected)
    else:
        assert plain(mine) == plain(expected)
    assert plain(ours) == plain(theirs)


@pytest.fixture(params=MAKES)
def make(request):
    return MAKES[request.param]


def test_items(make):
    def f(b):
        total = 0
        for item in b:
            total += item
        return b[0], b[-1], len(b), total, b[0] + b[1] + 250, [i * x for i, x in enumerate(b)], 200 in b, list(b)

    same(f, make)
    same(lambda b: b[len(b)], make)
    same(lambda b: b[-9], make)
    same(lambda b: (sum(b), max(b), min(b), sorted(b)), make)


def test_slices_and_copies(make):
    same(lambda b: (b[1:], b[::-1], b[2:], b == b[:], b == b[1:]), make)
    same(lambda b: (bytes(b), np.asarray(b), np.array(b), np.sum(b)), make)
    same(lambda b: (np.frombuffer(b, np.uint8), np.frombuffer(b, np.uint8, 2, 1)), make)


def test_stores(make):
    if make is MAKES["readonly view"]:
        with pytest.raises(errors.TypingError, match="read-only"):
            njit(store)(make())
        return
    same(store, make)

    def beyond(b):
        b[len(b)] = 1

    def large(b):
        b[0] = 2**40

    def parts(b):
        b[0:2] = b[1:3]
        return b

    same(beyond, make)
    same(parts, make)
    if make not in (MAKES["array of doubles"], MAKES["array of longs"]):
        with pytest.raises((ValueError, OverflowError)):
            njit(large)(make())


def store(b):
    b[1] = 7
    b[-1] = b[0]
    return b


def test_what_the_caller_sees():
    b = bytearray(b"abc")
    assert njit(store)(b) is b and b == b"a\7a"
    numbers = array.array("d", [1, 2, 3])
    assert njit(store)(numbers) is numbers and numbers.tolist() == [1, 7, 1]

    @njit
    def zeroed(b):
        np.frombuffer(b, np.int16)[1] = 0

    zeroed(memoryview(b + b"d"))
    whole = bytearray(b"abcdef")
    zeroed(whole)
    assert whole == b"ab\0\0ef"


def test_the_memory_is_held_while_it_is_used():
    b = bytearray(b"abcd")
    part = njit(lambda b: memoryview(b)[1:3])(b)
    with pytest.raises(BufferError):
        b.append(1)
    b[1] = 9
    assert part.tolist() == [9, 99]
    part.release()
    del part
    b.append(1)  # nothing of the call is left
    with pytest.raises(IndexError):
        njit(lambda b: b[9])(b)
    b.append(2)

    @njit
    def longer(b):
        b[0:1] = b[0:2]

    with pytest.raises(BufferError):
        longer(b)
    assert len(b) == 6


def test_matrices():
    def make():
        return memoryview(bytearray(24)).cast("i", (2, 3))

    def f(m):
        m[1, 2] = m[0, 0] - 5
        return m[1, 2], m.shape, m.strides, m.ndim, m.itemsize, m.nbytes, m.readonly, m.format, m.c_contiguous, len(m)

    def outside(m):
        return m[0, 3]

    def too_large(m):
        m[0, 0] = 2**31

    same(f, make)
    same(outside, make)
    same(too_large, make)
    same(lambda m: m.tolist(), make)
    same(lambda m: m[1], make, words=False)


def test_made_in_compiled_code():
    def f(n):
        b = bytearray(n)
        for i in range(n):
            b[i] = 3 * i
        v = memoryview(b)
        v[0] = 5
        return b, bytes(b), b + b"xy", b == bytes(b), isinstance(b, bytearray), v[1:], v.toreadonly(), bytearray([1, 2])

    same(f, lambda: 5)
    same(lambda n: (bytearray(), len(bytearray()), bytearray() + bytearray([n])), lambda: 7)
    same(lambda n: bytearray(n), lambda: -1)
    same(lambda n: bytearray([n]), lambda: 256)
    same(lambda n: memoryview(np.arange(n))[1:], lambda: 4)


READ = """
    b.decode(); b.decode('latin-1'); b.hex(); b.hex(':'); b.find(b'c'); b.find(bytearray(b'c'), 1); b.rfind(99, 0, 4);
    b.index(b'z'); b.rindex(99); b.count(b','); b.count(97); b.startswith(b'a'); b.endswith((b'c', b'd'))
    b.split(b','); b.split(); b.rsplit(b',', 1); b.splitlines(); b.partition(b','); b.rpartition(memoryview(b','))
    b.strip(); b.lstrip(b'a'); b.rstrip(b'c'); b.replace(b',', bytearray(b'--'));
    b.removeprefix(b'a'); b.removesuffix(b'c')
    b.join([b'1', b'2']); b.join([b, b]); b.upper(); b.lower(); b.title(); b.capitalize(); b.swapcase()
    b.center(9, b'*'); b.center(9)
    b.ljust(9); b.rjust(9); b.zfill(9); b.expandtabs(); b.isalnum(); b.isalpha(); b.isascii(); b.isdigit(); b.islower()
    b.isupper(); b.isspace(); b.istitle(); any(b); all(b); list(reversed(b)); sorted(b); b * 2; 2 * b; b * -1; b + b'x'
    b'x' + b; b < b'b'; b >= b'a,b'; b'c' in b; bytearray(b',') in b; 97 in b; b.copy(); memoryview(b).hex()
    list(reversed(memoryview(b))); bytearray('x', 'utf-8'); bytearray(b); bytes(b)
""".replace(";", "\n").split("\n")


@pytest.mark.parametrize("text", [line.strip() for line in READ if line.strip()])
def test_methods_of_a_bytearray(text):
    f = eval(f"lambda b: {text}", {"np": np})
    for contents in (b"a,b c", b" \tA9,Zc\n", b"\x00\xff", b""):
        same(f, lambda: bytearray(contents))


CHANGES = """
    b.append(n); b.append(256); b.append(-1); b.extend(b'xyz'); b.extend([1, n]); b.extend(range(n));
    b.extend(b); b.extend([300])
    b.insert(0, n); b.insert(-1, n); b.insert(100, n); b.insert(-100, n);
    b.insert(2, 256); b.pop(); b.pop(0); b.pop(n); b.pop(-100)
    b.remove(98); b.remove(0); b.remove(999); b.clear(); b.reverse(); del b[1]; del b[-9];
    del b[1:3]; del b[::2]; del b[::-2]
    b[1:2] = b'wxyz'; b[1:] = b''; b[9:] = b'end'; b[3:1] = b'in'; b[::2] = b'a'; b[::2] = b'aaa'; b[1:3] = [1, n]
    b += b'q'; b += bytearray(b'q'); b += memoryview(b'q'); b *= 3; b *= 0; b *= -2; b *= 1
""".replace(";", "\n").split("\n")
GROWN = """
def f(n):
    b = bytearray(b'abcde')
    kept = b
    try:
        %s
    finally:
        kept.append(1)
    return b, kept, b is kept, len(b), [x for x in kept]
"""


@pytest.mark.parametrize("text", [line.strip() for line in CHANGES if line.strip()])
def test_a_bytearray_that_is_made_here_changes_its_length(text):
    namespace = {}
    exec(GROWN % text, namespace)
    same(namespace["f"], lambda: 4)


def test_one_that_grows_for_long():
    def f(n):
        b = bytearray()
        for i in range(n):
            b.append(i % 256)
            if i % 3 == 2:
                b.pop(0)
        return b, bytearray().pop() if n == 0 else 0

    same(f, lambda: 1000)
    same(f, lambda: 0)


SEEN = """
def f(b):
    %(text)s
    return b
def g(n):
    b = bytearray(n)
    v = memoryview(b)
    %(text)s
    return v[0]
def h(n):
    b = bytearray(n)
    v = np.frombuffer(b, np.uint8)
    %(text)s
    return v[0]
"""


@pytest.mark.parametrize("text", ["b.append(1)", "b += b'q'", "b.clear()", "b.pop()", "del b[0]", "b[:1] = b''"])
def test_the_length_of_one_that_others_see_stays(text):
    """Of an argument, and of one that is looked at, which the interpreter holds still as well."""
    namespace = {"np": np}
    exec(SEEN % {"text": text}, namespace)
    mine = bytearray(b"abc")
    with pytest.raises(BufferError, match="cannot be re-sized"):
        njit(namespace["f"])(mine)
    assert mine == b"abc"
    same(namespace["g"], lambda: 3)
    same(namespace["h"], lambda: 3)


def test_arrays_made_in_compiled_code():
    def f(n):
        a = array.array("h", [1, 2, n])
        a[1] = n
        numbers = array.array("d"), array.array("f", (0.1, n)), array.array("L", range(n)), array.array("d", a)
        return a, a[1:], numbers, array.array("h", b"abcd"), array.array("B", memoryview(b"ab"))

    same(f, lambda: 5)
    same(lambda n: array.array("h", bytes(n)), lambda: 3)
    with pytest.raises(OverflowError):
        njit(f)(70000)
    with pytest.raises(errors.TypingError):
        njit(lambda n: array.array("x", [n]))(1)


def test_what_items_equal():
    def f(a, x):
        return x in a, a.count(x), [item == x for item in a]

    longs, halves = array.array("q", [2**53 + 1, 1]), array.array("f", [0.1, 0.5])
    for a, x in ((longs, 2.0**53), (longs, True), (halves, 0.1), (halves, 0.5), (array.array("Q", [2**63 - 1]), -1)):
        same(lambda pair: f(*pair), lambda a=a, x=x: (a, x))
    same(lambda a: a.index(0.1), lambda: halves)
    for x in (300, -1, 97):
        same(lambda pair: pair[1] in pair[0], lambda x=x: (bytearray(b"abc"), x))


def test_what_buffers_equal():
    shorts, doubles = array.array("h", [1]), array.array("d", [1])
    pairs = (
        (shorts, doubles),
        (shorts, bytearray(b"\1")),
        (shorts, bytearray(b"\1\0")),
        (memoryview(shorts), bytearray(b"\1")),
        (memoryview(shorts), bytearray(b"\1\0")),
        (memoryview(b"abc")[::2], bytearray(b"ac")),
        (array.array("q", [2**53 + 1]), array.array("d", [2.0**53])),
        (array.array("Q", [2**64 - 1]), array.array("q", [-1])),
        (array.array("f", [0.1]), array.array("d", [0.1])),
    )
    for pair in pairs:
        same(lambda pair: (pair[0] == pair[1], pair[1] == pair[0], pair[0] != pair[1]), lambda pair=pair: pair)
    same(lambda m: (bytearray(m), bytearray(m[::-1])), lambda: memoryview(b"abcd")[::2])


def test_kept_by_a_global_variable():
    @njit
    def f(i):
        KEPT[0] = 107
        return KEPT[i] + len(KEPT)

    assert f(1) == 105
    KEPT.append(3)
    assert f(4) == 8
    del KEPT[4:]


def test_a_checksum():
    @njit
    def checksum(data):
        a, b = 1, 0
        for byte in data:
            a = (a + byte) % 65521
            b = (b + a) % 65521
        return b << 16 | a

    data = np.random.default_rng(5).bytes(10000)
    assert checksum(bytearray(data)) == checksum(memoryview(data)) == zlib.adler32(data)


def test_what_is_refused():
    class Own(bytearray):
        pass

    f = njit(lambda b: b[0])
    for argument in (Own(b"ab"), memoryview(b"ab").cast("c"), memoryview(np.zeros(2, "D"))):
        with pytest.raises(TypeError, match="argument 'b': .* cannot be an argument"):
            f(argument)
    released = memoryview(b"ab")
    released.release()
    with pytest.raises(ValueError, match="released"):
        f(released)

    @cuda.jit
    def kernel(b):
        b[0] = 1

    with pytest.raises(TypeError, match="frombuffer"):
        kernel[1, 1](bytearray(3))
