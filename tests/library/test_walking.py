"""Ways through arrays, heaps and sorted lists, elements put in and taken out, against the interpreter and NumPy."""

import bisect
import heapq

import numpy as np
import pytest
from oracle import agree, agree_all, expression, make

from krait import errors, njit

M = np.arange(12).reshape(3, 4).astype(np.int16)
ARRAYS = [M, np.asfortranarray(M), M[::2, ::-2] * 1.5, np.arange(3) > 1, np.zeros((0, 3)), np.array(2.5), M * 1j]
NAMES = {"heapq": heapq, "bisect": bisect}


def test_to_lists():
    for a in ARRAYS:
        agree(expression("a.tolist()", "a"), a)


def test_indices_and_elements():
    walk = """
        def f(a):
            total = 0.0
            seen = []
            for index in {}:
                seen.append(index)
            return seen
    """
    for text in ("np.ndindex(3, 4)", "np.ndindex(a.shape)", "np.ndindex((2, 0, 3))", "np.ndindex(4)", "np.ndindex(-1)",
                 "np.ndenumerate(a)", "np.ndindex(a.shape[:1])"):  # fmt: skip
        agree(make(walk.format(text)), M)
    for a in ARRAYS:
        if a.ndim and a.size:
            agree(make(walk.format("np.ndenumerate(a)")), a)


def test_loops_see_what_they_write():
    for text in (
        "for (i, j), x in np.ndenumerate(a):\n        t = 2 * t + x\n        a[-1 - i, j] += 1",
        "for x in np.nditer(a):\n        t = 2 * t + x.item()\n        a[-1, -1] += 1",
        "for (i, j), x in np.ndenumerate(a):\n        a = a * 2\n        t += x",
        "for i, j in np.ndindex(a.shape):\n        t = 3 * t + a[i, j]\n        a[-1 - i, j] -= i",
        "for _, x in np.ndenumerate([1, 2, 3]):\n        t += x",
        "for i, j in np.ndindex(np.uint64(len(a)), np.int8(2)):\n        t = 3 * t + i - j",
    ):
        f = make(f"def f(a):\n    t = 0\n    {text}\n    return t")
        for a in (M, M[::-1, ::2] + 0.5):
            agree(f, a)


def test_a_walk_needs_no_list():
    # A list of the places would have 64 GB.
    f = njit(make("def f(n):\n    t = 0\n    for i, j in np.ndindex(n, n):\n        t += i\n        "
                  "if j == 9:\n            break\n    return t"))  # fmt: skip
    assert f(1 << 16) == 0


def test_nditer():
    f = njit(make("def f(a):\n    n = 0.0\n    for x in np.nditer(a):\n        n = n * 3 + x.item()\n    return n"))
    for a in [*ARRAYS[:4], M.T, M[::-1], np.zeros((2, 3, 2)).transpose(1, 2, 0), np.zeros(0), np.array(3)]:
        b = a.copy(order="K") if a.flags.forc else a
        if b.size:
            b[...] = np.arange(b.size).reshape(b.shape) % 5
        agree(f, b)


# One array in several ways: their axes lie in all orders, some backwards, some one long or of steps of 0.
BLOCK = np.arange(24.0).reshape(2, 3, 4)
VIEWS = [BLOCK, BLOCK.transpose(2, 0, 1)[:3, :, :1], BLOCK[:, ::-1, ::-1], BLOCK.transpose(0, 2, 1)[:, :3, 1:2],
         np.asfortranarray(BLOCK), np.broadcast_to(np.arange(4.0), (3, 4)), np.broadcast_to(BLOCK[0, :, :1], (3, 4)),
         np.arange(4)[::-1], np.array(2.5), BLOCK[:1, :, ::-2], np.zeros((2, 0))]  # fmt: skip


def test_nditer_over_several():
    both = make("def f(a, b):\n    n, k = 0.0, 0\n    for x, y in np.nditer((a, b)):\n        k += 1\n        "
                "n = n * 3 + x.item() * 5 - y.item() * k\n    return n, k")  # fmt: skip
    kept = njit(make("def f(a):\n    return [x.item() for x in np.nditer((a,))], len([p for p in np.nditer((a, 2))])"))
    compiled = njit(both)
    for a in VIEWS:
        for b in VIEWS:
            agree(compiled, a, b)
        agree(kept, a)
    agree(make("def f(a):\n    return [x[2].item() for x in np.nditer((a, 1, a.T.copy()))]"), np.eye(3))
    with pytest.raises(errors.TypingError, match=r"items of a list beside each other(.|\n)*np.nditer\(\(x, y\)\)"):
        njit(make("def f(a):\n    return [x for x in np.nditer(a)]"))([1, 2, 3])


def test_membership():
    f, g = njit(expression("x in a", "x", "a")), njit(expression("x not in a", "x", "a"))
    for x in (2, 2.5, True, np.int8(7), float("nan")):
        for a in ARRAYS:
            agree(f, x, a)
            agree(g, x, a)


@pytest.mark.parametrize("text", [
    "np.delete(a, [0, 2], 0)", "np.delete(a, b)", "np.delete(a, b > 1, 1)",
    "np.delete(a, -1, 1)", "np.delete(a, 99)", "np.insert(a, 1, 7)", "np.insert(a, 1, 7, axis=1)",
    "np.insert(a, -1, b[:3], axis=1)", "np.insert(a, 2, a[0], 0)", "np.insert(a, 0, a, 0)", "np.insert(a, b, 5)",
    "np.insert(a, [1, 1, 3], 9, axis=1)", "np.insert(a, [2, 0], [7, 8])", "np.insert(a, 99, 1)", "np.insert(a, 4, b)",
])  # fmt: skip
def test_delete_and_insert(text):
    f = njit(expression(f"np.ascontiguousarray({text})", "a", "b"))
    for a in (M, np.asfortranarray(M) * 0.5):
        agree(f, a, np.array([3, 0, 2, 2]))


def test_heaps():
    f = make("""
        def f(items):
            heap = []
            for x in items:
                heapq.heappush(heap, x)
            a = heapq.heappop(heap)
            b = heapq.heapreplace(heap, items[0])
            c = heapq.heappushpop(heap, items[1])
            other = items.copy()
            heapq.heapify(other)
            return heap, a, b, c, other, heapq.nsmallest(3, items), heapq.nlargest(2, items)
    """, "f", heapq=heapq)  # fmt: skip
    agree_all(f, [([5, 3, 9, 1, 1, 7, 2],), ([2.5, -1.0, 3.0],), ([(2, 1.0), (1, 5.0), (1, 2.0), (3, 0.5)],)])
    agree(make("def f(x):\n    return heapq.heappop(x)", "f", heapq=heapq), [7])
    agree(make("def f(x):\n    x.pop()\n    return heapq.heappop(x)", "f", heapq=heapq), [7])


def test_bisect():
    for text in ("bisect.bisect_left(a, x)", "bisect.bisect(a, x)", "bisect.bisect_right(a, x, 1, 3)"):
        f = njit(expression(text, "a", "x", bisect=bisect))
        for x in (-1, 2, 3, 9):
            agree(f, [1, 2, 2, 4], x)
            agree(f, np.array([1.0, 2.0, 2.0, 4.0]), x)
    agree(make("def f(a, x):\n    bisect.insort(a, x)\n    return a", "f", bisect=bisect), [1, 2, 4], 3)
    agree(expression("bisect.bisect_left([1], 0, -1)", bisect=bisect))


def test_least_and_greatest_by_a_key():
    agree_all(expression("max(a, key=abs), min(a, key=lambda x: -x)", "a"), [([1, -5, 3],), ([2.5, -2.5],)])
    agree(expression("max((1, -7, 3), key=abs)"))
    agree(expression("max(a, b, key=abs), min(a, b, 3, key=abs)", "a", "b"), 2, -9)
    agree_all(expression("min(a, default=7)", "a"), [([3, 1],), (np.array([4, 2]),)])
    agree(make("def f(a):\n    a.pop()\n    return max(a, default=-1)"), [3])
    agree(make("def f(a):\n    a.pop()\n    return max(a, key=abs)"), [3])


def test_bytes_and_flags():
    for a in ARRAYS:
        agree(expression("a.tobytes(), a.T.tobytes(), a.tobytes('F'), a.tobytes('A')", "a"), a)
        names = ("c_contiguous", "f_contiguous", "contiguous", "forc", "fnc", "writeable")
        agree(expression(f"({', '.join(f'a.flags.{name}' for name in names)})", "a"), a)
        agree(expression("(a.T.flags.c_contiguous, a.T.flags.forc, a.copy().flags.writeable)", "a"), a)
    agree(expression("a[..., ::2].flags.forc, a[:, 1].flags.contiguous", "a"), M)
    for text in ("a.tobytes('X')", "a.ravel('X')", "np.ravel(a, order='X')", "a.ravel('F'), a.ravel('A')"):
        agree(expression(text, "a"), M)


SEVERAL = """def f(a, k):
    x = a.flat[key]
    a.flat[key] = [0, 1]
    y = a.copy()
    a.flat[key] *= a.flat[key]
    a.flat[key] = 1
    z = a.copy()
    a.flat[key] = x
    return x, y, z, a.flat[key]
"""


@pytest.mark.parametrize("key", ["2:5", "::3", "::-2", ":", "...", "[1, 2]", "k", "a.ravel() > 1", "[0, 99]", "k > 0",
                                 "k[:0] > 0", "np.array([[0, 1], [1, 0]])"])  # fmt: skip
def test_several_elements_of_flat(key):
    places = np.array([0, -1, 1])
    for a in ARRAYS:
        if a.size > 1:
            agree(make(SEVERAL.replace("key", key)), a, places)


def test_flat_as_a_whole():
    for a in ARRAYS:
        agree(expression("a.flat.copy(), a.flat.base", "a"), a)
        agree(make("def f(a):\n    a.flat = 1\n    return a"), a)
        agree(make("def f(a):\n    a.flat = np.array([0, 1])\n    return a"), a)
        agree(make("def f(a):\n    x = a.T.flat\n    x[1:3] = 0\n    return a, x[-1:]"), a)
    for text in ("a.flat[1:3] = 300", "a.flat[1:3] = [2.75]", "a.flat[1:3] = np.zeros(0)"):
        agree(make(f"def f(a):\n    {text}\n    return a"), np.arange(5, dtype=np.uint8))
