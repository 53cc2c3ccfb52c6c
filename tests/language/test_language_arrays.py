"""Arrays: attributes, indexing of every kind, views, assignment, iteration, against the interpreter."""

import itertools
import math

import numpy as np
import pytest
from oracle import STRONG, agree, agree_all, make

from krait import errors, njit
from portions import some

DTYPES = [np.dtype(kind) for kind in STRONG]


def readonly(array):
    array.flags.writeable = False
    return array


def arrays():
    """Layouts and numbers of dimensions."""
    base = np.arange(120, dtype=np.float64) + 0.5
    return {
        "C1": base[:6].copy(),
        "C2": base[:12].reshape(3, 4).copy(),
        "C3": base[:24].reshape(2, 3, 4).copy(),
        "C4": base.reshape(2, 3, 4, 5).copy(),
        "F2": np.asfortranarray(base[:12].reshape(3, 4)),
        "F3": np.asfortranarray(base[:24].reshape(2, 3, 4)),
        "strided1": base.copy()[::7],
        "reversed1": base[:8].copy()[::-1],
        "strided2": base.reshape(12, 10).copy()[1:10:3, ::-2],
        "transposed3": base[:24].reshape(2, 3, 4).copy().transpose(1, 0, 2),
        "zero-dimensional": np.array(3.5),
        "empty1": np.zeros(0),
        "empty2": np.zeros((0, 3)),
        "one": np.array([[7.0]]),
        "readonly": readonly(base[:12].reshape(3, 4).copy()),
        "broadcast": np.broadcast_to(base[:4].copy(), (3, 4)),
        "int8": np.arange(-6, 6, dtype=np.int8).reshape(3, 4),
        "complex": (base[:6] + 1j * base[6:12]).astype(np.complex64),
        "bool": np.array([True, False, True]),
        "float16": np.arange(5, dtype=np.float16),
    }


ARRAYS = arrays()
each_array = pytest.mark.parametrize("name", ARRAYS)


# ---- attributes ----


@each_array
def test_attributes(name):
    agree(lambda a: (a.shape, a.ndim, a.size, a.itemsize, a.nbytes), ARRAYS[name])
    if ARRAYS[name].size:
        agree(lambda a: a.strides, ARRAYS[name])
    agree(lambda a: (a.T, a.T.shape), ARRAYS[name])
    agree(lambda a: a, ARRAYS[name])
    agree(lambda a: (a, a), ARRAYS[name])
    if ARRAYS[name].ndim:
        agree(lambda a: len(a), ARRAYS[name])


def test_len_of_an_array_without_dimensions():
    with pytest.raises(TypeError):
        len(ARRAYS["zero-dimensional"])
    with pytest.raises((errors.TypingError, TypeError)):
        njit(lambda a: len(a))(ARRAYS["zero-dimensional"])


def test_real_and_imag():
    agree(lambda a: a.real, ARRAYS["complex"])
    agree(lambda a: a.imag, ARRAYS["complex"])
    agree(lambda a: a.real, ARRAYS["C2"])

    def f(a):
        a.real[1] = 100
        a.imag[2] = -5
        return a[1]

    agree(f, ARRAYS["complex"])


def test_dtype():
    def f(a, b):
        return a.dtype == b.dtype, a.dtype == np.float64, a.dtype.type(3.7), a.dtype.itemsize

    for name in ("C1", "int8", "float16"):
        try:
            njit(f)(ARRAYS[name], ARRAYS["C1"])
        except errors.KraitError:
            agree(lambda a: a.dtype.type(3), ARRAYS[name])
            continue
        agree(f, ARRAYS[name], ARRAYS["C1"])


# ---- indexing ----

INDICES = {
    1: [
        "0",
        "-1",
        "i",
        "-i",
        "1:",
        ":2",
        "::2",
        "::-1",
        "i:",
        "-i:",
        ":-1",
        "1:4",
        "4:1",
        "4:1:-1",
        "10:",
        "-10:",
        "i::i + 1",
        "...",
        "None",
        "None, :",
        ":, None",
        "..., None",
        "i, ...",
        "..., i",
        "()",
        "True + 0",
        "np.int8(1)",
        "i:None",
        "None, i",
        "::-2",
        "5::-3",
    ],
    2: [
        "0",
        "-1",
        "i",
        "0, 0",
        "i, j",
        "-1, -1",
        "-i, j",
        "1:",
        ":, 1",
        "1, :",
        ":, ::2",
        "::-1, ::-1",
        "i:, :j",
        "...",
        "..., 0",
        "0, ...",
        "..., 1:",
        "None",
        "None, :, None, :",
        ":, None, 1",
        "i, None",
        "()",
        "(i, j)",
        "1:, ..., 0",
        "i, j, None",
        "i, j, ...",
        "::2, 1",
        "2:0:-1",
    ],
    3: [
        "0",
        "i, j",
        "i, j, 0",
        "-1, :, 1",
        "..., 0",
        "0, ..., 1",
        ":, i",
        "::-1, 1:, ::2",
        "i, :, None, j",
        "..., None",
        "1, ..., ::-1",
        ":, :, 1",
    ],
    4: [
        "0",
        "i, j",
        "i, j, 1",
        "i, j, 1, 2",
        "..., 0",
        "0, ..., 1",
        ":, i, ::2",
        "1, :, -1, ::-2",
        "..., 1, :",
        "None, 1, ..., None, 2",
    ],
    0: ["()", "...", "None", "..., None"],
}
CASES = [(name, text) for name in ARRAYS for text in INDICES[ARRAYS[name].ndim]]


@each_array
def test_getitem(name):
    for text in INDICES[ARRAYS[name].ndim]:
        function = make(f"def f(a, i, j): return a[{text}]")
        for i, j in ((0, 1), (1, 0), (2, 3)):
            try:
                agree(function, ARRAYS[name], i, j)
            except AssertionError as error:
                raise AssertionError(f"a[{text}], i={i}, j={j}: {error}") from None


STORED = [7, 2.5, True, np.float32(1.5), np.int8(-3)]


def stored_scalars():
    """Into one array of each type every scalar: how it is converted.  Into the others one: where it goes."""
    types = set()
    for place, name in enumerate(ARRAYS):
        new = ARRAYS[name].dtype not in types
        types.add(ARRAYS[name].dtype)
        for value in STORED if new else [STORED[place % len(STORED)]]:
            yield pytest.param(name, value, id=f"{name}-{value!r}")


@pytest.mark.parametrize("name, value", some(stored_scalars()))
def test_setitem_of_a_scalar(name, value):
    """Into elements and slices; a read-only array raises, or is refused when it is compiled."""
    array = ARRAYS[name]
    if array.dtype.kind in "ib" and isinstance(value, (float, np.floating)):
        value = type(value)(2)
    for text in INDICES[array.ndim]:
        function = make(f"def f(a, i, j, v):\n    a[{text}] = v\n    return a")
        if not array.flags.writeable:
            with pytest.raises((errors.TypingError, ValueError), match="read-only"):
                njit(function)(array, 1, 1, value)
            continue
        for i, j in ((0, 1), (2, 2)):
            try:
                agree(function, array, i, j, value)
            except AssertionError as error:
                raise AssertionError(f"a[{text}] = {value!r}, i={i}, j={j}: {error}") from None


@each_array
@pytest.mark.parametrize("op", ["+", "-", "*", "/", "//", "%"])
def test_augmented_assignment_of_elements(name, op):
    array = ARRAYS[name]
    if not array.flags.writeable or array.ndim == 0 or array.dtype.kind == "b":
        return
    if array.dtype.kind == "c" and op in ("//", "%") or array.dtype.kind == "i" and op == "/":
        return
    index = ", ".join(["i", "j", "1", "0"][: array.ndim])
    function = make(f"def f(a, i, j):\n    a[{index}] {op}= 3\n    a[{index}] {op}= a[{index}]\n    return a[{index}]")
    for i, j in ((0, 0), (1, 2), (-1, -1), (100, 0)):
        agree(function, array, i, j)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_every_dtype(dtype):
    """What is stored is converted as NumPy does it; what is read has the array's type."""
    a = np.array([0, 1, 0, 1], dtype=dtype)

    def f(a, v):
        a[0] = v
        a[1:3] = v
        b = a[3]
        a[3] = a[0]
        return b, a[0], a[1:]

    for value in (1, True, 0):
        agree(f, a, value)
    if dtype.kind in "fc":
        agree_all(f, [(a, v) for v in (0.1, -2.5, np.float32(0.1), np.float64(1e10), np.int64(7), float("nan"))])
    if dtype.kind == "c":
        agree_all(f, [(a, v) for v in (1j, 0.1 + 2j, np.complex64(1 + 2j))])
    if dtype.kind in "iu":
        agree_all(f, [(a, v) for v in (100, np.int8(3), np.uint8(100), np.int64(99))])


def test_storing_floats_into_ints():
    """NumPy truncates them."""

    def f(a, v):
        a[0] = v
        a[1:] = v

    agree_all(f, [(np.zeros(3, int), v) for v in (2.7, -2.7, np.float32(1.5))])


STORES = ["a[0] = v", "a[5] = v", "a[:] = v", "a[2:] = v", "a[...] = v", "a.flat[1] = v", "a.flat[5] = v", "a[0] += v"]
STORES += ["a += v", "a[1:] += v", "a[1:] *= v"]


@pytest.mark.parametrize("text", STORES)
@pytest.mark.parametrize("name", ["int8", "uint8", "int32", "uint32", "int64", "uint64", "bool", "float32"])
def test_storing_ints_that_the_array_cannot_hold(text, name):
    """OverflowError, but NumPy's own integers wrap in unsigned arrays."""
    if name == "bool" and "+=" in text or "*=" in text and name == "bool":
        return
    values = [300, -1, -129, 127, 2**40, True]
    if "=" in text.split()[1:2]:
        values += [np.int64(300), np.int16(-1), np.uint64(5000), np.uint64(2**63 + 5), np.uint8(200), np.array(300)]
    agree_all(make(f"def f(a, v):\n    {text}"), [(np.zeros(2, name), v) for v in values])


def test_storing_the_items_of_a_range():
    """Up to the first that does not fit."""

    def f(a, start, stop, step):
        for i in range(start, stop, step):
            a[i % len(a)] = i

    def numbered(a):
        for i, x in enumerate(a):
            a[i] = i

    for dtype in (np.int8, np.uint8, np.uint64):
        spans = [(0, 128, 1), (0, 129, 1), (-128, 5, 1), (-129, 5, 1), (127, -129, -1), (127, -130, -1), (0, 255, 1)]
        spans += [(0, 257, 1), (250, 260, 3), (5, -2, -1), (300, 300, 1), (300, 0, 1), (0, 1000, 250)]
        agree_all(f, [(np.zeros(300, dtype), *span) for span in spans])
    agree_all(numbered, [(np.zeros(n, np.int8),) for n in (0, 128, 129)])


@pytest.mark.parametrize("index", [3, -4, 100, -(2**62), 2**63 - 1])
def test_index_errors(index):
    agree(lambda a, i: a[i], np.arange(3), index)

    def f(a, i):
        a[i] = 1

    agree(f, np.arange(3), index)
    agree(lambda a, i: a[0, i], np.ones((2, 3)), index)
    agree(lambda a, i: a[i, 0], np.ones((2, 3)), index)
    agree(lambda a, i: a[i], np.ones((2, 3)), index)
    agree(lambda a, i: a[:, i], np.ones((2, 3)), index)
    agree(lambda a, i: a.flat[i], np.ones((2, 3)), index + 3 if index == 3 else index)


def test_slices_with_run_time_bounds():
    bounds = [-10, -3, -1, 0, 1, 2, 5, 9]
    agree_all(lambda a, i, j: a[i:j], [(np.arange(5), i, j) for i, j in itertools.product(bounds, bounds)])
    agree_all(
        lambda a, i, j, k: a[i:j:k],
        [(np.arange(7), i, j, k) for i, j, k in itertools.product(bounds, bounds, [-3, -1, 1, 2])],
    )
    agree_all(lambda a, k: a[::k], [(np.arange(7), k) for k in (-9, -2, -1, 1, 3, 9)])
    with pytest.raises(ValueError, match="slice step cannot be zero"):
        njit(lambda a, k: a[::k])(np.arange(3), 0)


def test_slices_as_values():
    agree(make("def f(a, i):\n    s = slice(i, None)\n    return a[s]"), np.arange(5), 2) if supports_slice() else None


def supports_slice():
    try:
        njit(lambda a: a[slice(1, 2)])(np.arange(3))
    except errors.KraitError:
        return False
    return True


TOO_MANY = [
    ("a[0, 0]", 1),
    ("a[0, 0, 0]", 2),
    ("a[..., ...]", 2),
    ("a[0]", 0),
    ("a[:]", 0),
    ("a[1.5]", 1),
    ("a['x']", 1),
    ("a[1j]", 1),
]


@pytest.mark.parametrize("text, ndim", TOO_MANY)
def test_refused_indices(text, ndim):
    with pytest.raises(errors.TypingError):
        njit(make(f"def f(a): return {text}"))(np.zeros((2,) * ndim))


def test_views_of_views():
    def f(a):
        b = a[1:, ::-1]
        c = b[:, 1]
        c[0] = 50
        d = c[::-1]
        d[0] = -7
        return b, c, d, a[1][2:], a.T[1]

    for name in ("C2", "F2", "strided2"):
        agree(f, ARRAYS[name])


# ---- assignment of arrays ----

ASSIGNMENTS = [
    "a[:] = b",
    "a[...] = b",
    "a[:] = b[0]",
    "a[1:] = b[:2]",
    "a[:, 1] = b[:, 0]",
    "a[0] = b[1]",
    "a[::-1] = b",
    "a[:, ::2] = b[:, :2]",
    "a[:] = a[::-1]",
    "a[1:] = a[:-1]",
    "a[:-1] = a[1:]",
    "a[:, 1:] = a[:, :-1]",
    "a[:] = a[:, ::-1]",
    "a[:3, :3] = a[:3, :3].T",
    "a[1:, 1:] = a[:-1, :-1]",
    "a[0] = a[:, 0][0]",
    "a[:] = b[1:2]",
    "a[:] = b[:, 1:2]",
    "a[:, None] = b[:, None]",
    "a[...] = 5",
    "a[1:2] = b[0]",
    "a[:0] = b[:0]",
    "a += b",
    "a -= b[0]",
    "a *= 2",
    "a += a",
    "a[1:] += a[:-1]",
    "a[:, 0] *= 3",
    "a += a[::-1]",
    "a[...] += b[:, :1]",
    "a[0] -= a[1]",
    "a /= 4",
    "a **= 2",
    "a[1] //= 2",
    "a[:, 1] %= 3",
    "a[:] = b[0, 0]",
    "a[::2] = b[::2]",
    "a.T[:] = b.T",
    "a.T[1:] = a.T[:-1]",
    "a[2], a[0] = a[0], a[2]",
]


@pytest.mark.parametrize("text", ASSIGNMENTS)
def test_assignment_with_broadcasting_and_overlap(text):
    function = make(f"def f(a, b):\n    {text}\n    return a")
    base = np.arange(200.0)
    b = np.arange(12.0).reshape(3, 4) * 1.5 - 4
    for a in (ARRAYS["C2"], ARRAYS["F2"], base.reshape(10, 20)[1:7:2, 3:15:3], base.reshape(10, 20)[8:2:-2, 15:3:-3]):
        agree(function, a, b)
        agree(function, a, np.asfortranarray(b).astype(np.float32))


def test_arguments_that_overlap():
    def f(a, b):
        b[:] = a
        return a[1], b[0]

    base = np.arange(10.0)
    for a, b in [(base[:8], base[2:]), (base[2:], base[:8]), (base[::2], base[:5]), (base, base[::-1]), (base, base)]:
        agree(f, a, b)


@pytest.mark.parametrize("text", ["a[:] = b", "a[:2] = b", "a += b", "a[0] = b", "a[:, :2] = b"])
@pytest.mark.parametrize("shape", [(4,), (3,), (2, 4), (3, 1), (1,), (5,), (3, 4, 1), (2,)])
def test_shapes_that_do_and_do_not_fit(text, shape):
    """ValueError in NumPy's words; numbers of dimensions that can never fit may be refused when compiled."""
    function = make(f"def f(a, b):\n    {text}\n    return a")
    a, b = np.zeros((3, 4)), np.ones(shape)
    try:
        njit(function)(a.copy(), b)
    except errors.TypingError:
        with pytest.raises(ValueError):
            function(a.copy(), b)
        return
    except ValueError:
        pass
    agree(function, a, b)


@pytest.mark.parametrize("text", ["a[0] = b", "a[:] = b", "a[1:, ::2] = b", "a[..., None] = b"])
@pytest.mark.parametrize(
    "shape", [(1, 4), (2, 4), (1, 1, 4), (1, 2, 4), (1, 3), (1, 1), (1, 0, 4), (1, 1, 3, 4), (1, 2, 2)]
)
def test_leading_axes_of_length_one_are_dropped(text, shape):
    b = np.arange(1.0, math.prod(shape) + 1).reshape(shape)
    agree(make(f"def f(a, b):\n    {text}\n    return a"), np.zeros((3, 4)), b)


def test_an_array_of_one_element_into_one_without_dimensions():
    agree_all(make("def f(a, b):\n    a[...] = b"), [(np.zeros(()), np.ones(s)) for s in [(1,), (1, 1), (2,), (1, 2)]])


TUPLES_1D = ["a[1:3] = (1, 2)", "a[1:3] = (v, 2, 3)", "a[1:3] = (v,)", "a[1:3] = ()", "a[1:1] = ()"]
TUPLES_1D += ["a[1:3] = (a[3], a[0])", "a[:2] = (1.7, True)", "a[:3] = (1, v)", "a[:2] = (1, x)"]
TUPLES_1D += ["a[::2] = (v, v + 1)", "a[...] = (v, x, 1, 2)"]
TUPLES_2D = ["a[:, 0:2] = ((1, 2), (3, v))", "a[:, 0:2] = ((1, v),)", "a[:, 0:2] = ((1,), (v,))"]
TUPLES_2D += ["a[0] = (1, 2, 3, v)", "a[:] = ()", "a[:] = ((), ())", "a[:, :2] = (8, v)", "a[1] = (v,)"]
TUPLES_2D += ["a[:, ::-2] = ((v, v + 1), (2, v * 2))"]


@pytest.mark.parametrize("text", TUPLES_1D + TUPLES_2D)
@pytest.mark.parametrize("name", ["int8", "uint8", "float32", "bool"])
def test_tuples_stored_into_slices(text, name):
    shape = (4,) if text in TUPLES_1D else (2, 4)
    a = np.arange(math.prod(shape)).astype(name).reshape(shape)
    cases = [(a, v, np.int64(v)) for v in (5, 60, 300, -1)] + [(a[..., ::-1], 7, np.int64(8))]
    agree_all(make(f"def f(a, v, x):\n    {text}\n    return a"), cases)


@pytest.mark.parametrize(
    "text",
    [
        "a[1:3] = ((1, 2),)",
        "a[:] = ((1, 2), 3)",
        "a[0] = (1,)",
        "a[:2] = (1, 300)",
        "a[:2] = (1, 2j)",
        "a[:2] = (a, a)",
    ],
)
def test_tuples_that_no_slice_takes(text):
    function = make(f"def f(a):\n    {text}")
    with pytest.raises(errors.TypingError):
        njit(function)(np.zeros(4, np.int8))
    with pytest.raises((ValueError, TypeError, OverflowError)):
        function(np.zeros(4, np.int8))


# ---- iteration ----

LOOPS = [
    "for x in a:\n    s = s * 0.5 + x",
    "for i, x in enumerate(a):\n    s = s * 0.5 + x * i",
    "for x, y in zip(a, a[::-1]):\n    s = s * 0.5 + x * y",
    "for i, (x, y) in enumerate(zip(a, range(10)), 3):\n    s = s * 0.5 + x * y - i",
    "for x in a[1:]:\n    s += x",
    "for x in a[::-2]:\n    s = s * 2 + x",
    "for i in range(len(a)):\n    s += a[i] * i",
    "for x in reversed(a):\n    s = s * 0.5 + x",
    "for x in a.flat:\n    s = s * 0.5 + x",
    "s += sum(a) + max(a) * min(a)",
    "for i in range(a.size):\n    s += a.flat[i]",
]


@pytest.mark.parametrize("text", LOOPS)
def test_loops_over_one_dimension(text):
    body = "\n".join("    " + line for line in text.split("\n"))
    function = make(f"def f(a):\n    s = 0.0\n{body}\n    return s")
    for name in ("C1", "strided1", "reversed1", "empty1"):
        if name == "empty1" and "max" in text:
            continue
        theirs = njit(function)(ARRAYS[name])
        assert theirs == function(ARRAYS[name])


def test_items_of_a_loop_are_views():
    def f(a):
        for row in a:
            row[0] += 100
            for x in row:
                row[-1] += x
        return a

    for name in ("C2", "F2", "C3", "strided2"):
        if ARRAYS[name].ndim == 2:
            agree(f, ARRAYS[name])

    def g(a):
        for i, plane in enumerate(a):
            for j, row in enumerate(plane):
                row[:] = i * 10 + j
        return a

    for name in ("C3", "F3", "transposed3"):
        agree(g, ARRAYS[name])


def test_flat():
    def f(a):
        s = 0.0
        for x in a.flat:
            s = s * 0.5 + x
        for i in range(a.size):
            a.flat[i] = i
        a.flat[-1] = 77
        return s + a.flat[0]

    for name in ("C2", "F2", "C3", "strided2", "transposed3"):
        agree(f, ARRAYS[name])


def test_writing_while_iterating():
    def f(a):
        for i, x in enumerate(a):
            a[(i + 1) % len(a)] += x
        return a

    agree(f, np.arange(5.0))
    agree(f, np.arange(5))


def test_zip_of_several_lengths():
    def f(a, b, c):
        s = 0
        for x, y, z in zip(a, b, c):
            s = s * 10 + x * y * z
        return s

    agree_all(
        f, [(np.arange(1, n), np.arange(2, m), np.arange(3, k)) for n, m, k in itertools.product([4, 5, 7], repeat=3)]
    )


@pytest.mark.parametrize("name", ["zero-dimensional"])
def test_arrays_without_dimensions(name):
    def f(a):
        x = a[()]
        a[()] = x * 2
        a[...] = a[()] + 1
        return x, a[()], a

    agree(f, ARRAYS[name])
    agree(lambda a: 1 if a else 2, ARRAYS[name])
    with pytest.raises((errors.TypingError, TypeError)):
        njit(make("def f(a):\n    for x in a:\n        return x\n    return 0.5"))(ARRAYS[name])


def test_truth_of_an_array():
    with pytest.raises((errors.TypingError, ValueError)):
        njit(lambda a: 1 if a else 2)(np.ones(3))


# ---- larger things ----


def matrix_product(a, b, c):
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            total = 0.0
            for k in range(a.shape[1]):
                total += a[i, k] * b[k, j]
            c[i, j] = total


def bubble_sort(a):
    for i in range(len(a)):
        for j in range(len(a) - 1 - i):
            if a[j] > a[j + 1]:
                a[j], a[j + 1] = a[j + 1], a[j]


def binary_search(a, x):
    low, high = 0, len(a)
    while low < high:
        middle = (low + high) // 2
        if a[middle] < x:
            low = middle + 1
        else:
            high = middle
    return low


def sieve(flags):
    flags[:] = True
    flags[:2] = False
    i = 2
    while i * i < len(flags):
        if flags[i]:
            flags[i * i :: i] = False
        i += 1
    count = 0
    for flag in flags:
        if flag:
            count += 1
    return count


def game_of_life(board, new):
    n, m = board.shape
    for i in range(n):
        for j in range(m):
            around = 0
            for di in (-1, 0, 1):
                for dj in (-1, 0, 1):
                    if di or dj:
                        around += board[(i + di) % n, (j + dj) % m]
            new[i, j] = 1 if around == 3 or (board[i, j] and around == 2) else 0


def histogram(values, bins):
    for v in values:
        bins[int(v)] += 1
    return bins.T


def test_programs():
    rng = np.random.default_rng(3)
    a, b = rng.normal(size=(5, 7)).round(3), rng.normal(size=(7, 4)).round(3)
    agree(matrix_product, a, b, np.zeros((5, 4)))
    agree(matrix_product, a.astype(np.float32), np.asfortranarray(b), np.zeros((8, 8))[::2, ::2][:4])
    agree(bubble_sort, rng.integers(0, 100, 30))
    agree(bubble_sort, rng.normal(size=20).astype(np.float32)[::-1])
    agree_all(binary_search, [(np.arange(0, 40, 3), x) for x in (-1, 0, 1, 20, 39, 100)])
    agree(sieve, np.zeros(200, bool))
    agree(game_of_life, rng.integers(0, 2, (8, 9), dtype=np.uint8), np.zeros((8, 9), np.uint8))
    agree(histogram, rng.random(100) * 5, np.zeros(5, np.int32))


def test_indices_that_are_not_known_from_end_to_end():
    ends = [-(2**63), -(2**62), -7, -6, -5, -1, 0, 1, 5, 6, 7, 2**62, 2**63 - 1]
    get = make("def f(a, i):\n    return a[i]")
    put = make("def f(a, i):\n    a[i] = 9.0\n    return a")
    of_table = make("def f(a, i, k):\n    return a[i, k]")
    gather = make("def f(a, k):\n    s = 0.0\n    for i in range(len(k)):\n        s += a[k[i]]\n    return s")
    for i in ends:
        for a in (np.arange(6.0), np.arange(12.0)[::-2], np.zeros(0)):
            agree_all(get, [(a, i)])
            agree_all(put, [(a, i)])
            agree_all(gather, [(a, np.array([0, i, 1]))])
        agree_all(of_table, [(np.arange(12.0).reshape(3, 4), i, k) for k in ends])
    for x in (1.5, -2.7, float("nan"), float("inf"), -float("inf"), 0.0, 1e18):
        agree_all(make("def f(x):\n    return int(x)"), [(x,)])
