"""Loops of kernels over np.ndindex, np.ndenumerate and np.nditer, and products of vectors and matrices in kernels:
what the interpreter gives, on either device.

PYTEST_DONT_REWRITE: kernels are taken as they are written.
"""

import numpy as np
import pytest
from assembler import assemble
from oracle import make

from krait import cuda, errors


def agrees(text, *arrays, **names):
    """The kernel leaves in its arrays what the function does that is interpreted; its PTX assembles."""
    plain = make(text, cuda=cuda, **names)
    kernel = cuda.jit(check="race")(plain)
    given, expected = [a.copy(order="K") for a in arrays], [a.copy(order="K") for a in arrays]
    kernel[1, 1](*given)
    plain(*expected)
    for ours, theirs in zip(given, expected):
        np.testing.assert_allclose(ours, theirs, rtol=1e-6)
    for capability in ((7, 5), (9, 0)):
        ptx, _ = cuda.compile_ptx(plain, kernel.signatures[0], cc=capability)
        assemble(ptx, 10 * capability[0] + capability[1])


M = np.arange(1, 13, dtype=np.int16).reshape(3, 4)
ARRAYS = [M, np.asfortranarray(M), M[::2, ::-2] * 1.5, np.arange(3) > 1, M * 1j, np.arange(24.0).reshape(2, 3, 4)]
WALK = """
    def kernel(a, seen):
        n = 0
        for {}:
            seen[n] = {}
            n += 1
        seen[-1] = n
"""


@pytest.mark.parametrize("text", [
    "np.ndindex(3, 4)", "np.ndindex(a.shape)", "np.ndindex((2, 5))", "np.ndindex(*a.shape)", "np.ndindex(len(a), 2)",
    "np.ndindex(0, 3)",
])  # fmt: skip
def test_indices(text):
    agrees(WALK.format(f"i, j in {text}", "100 * i + j"), M, np.zeros(20))
    agrees(WALK.format(f"place in {text}", "place[1] - place[0]"), M, np.zeros(20))


def test_indices_of_other_ranks():
    agrees(WALK.format("i, in np.ndindex(7)", "i"), M, np.zeros(20))
    agrees(WALK.format("i, j, k in np.ndindex(2, 3, 2)", "100 * i + 10 * j + k"), M, np.zeros(20))
    agrees(WALK.format("place in np.ndindex(())", "len(place)"), M, np.zeros(20))


@pytest.mark.parametrize("a", ARRAYS, ids=str)
def test_elements(a):
    agrees(WALK.format("place, x in np.ndenumerate(a)", "x + a[place] + 100 * place[0]"), a, np.zeros(30, complex))
    agrees(WALK.format("x in np.nditer(a)", "x.item() + x[()]"), a, np.zeros(30, complex))
    agrees(WALK.format("x, y in np.nditer((a, a[-1:]))", "x.item() * y[()] + 1"), a, np.zeros(30, complex))


def test_loops_in_loops_with_breaks():
    agrees("""
        def kernel(a, out):
            for i, j in np.ndindex(a.shape):
                if j > 2:
                    continue
                for place, x in np.ndenumerate(a):
                    if x > a[i, j]:
                        break
                    out[i, j] += x * (1 + place[1])
    """, M, np.zeros((3, 4)))  # fmt: skip


def test_each_thread_walks_over_its_row():
    @cuda.jit
    def kernel(a, out):
        i = cuda.grid(1)
        if i < len(a):
            for j, x in np.ndenumerate(a[i]):
                out[i] += (j[0] + 1) * x

    a, out = np.random.default_rng(0).random((100, 7)), np.zeros(100)
    kernel[4, 32](a, out)
    np.testing.assert_allclose(out, a @ np.arange(1, 8))


def test_a_walk_is_for_a_loop():
    @cuda.jit
    def kernel(out):
        for i, place in enumerate(np.ndindex(2, 3)):
            out[i] = place[1]

    with pytest.raises(errors.UnsupportedError, match="numpy.ndindex is what a for loop walks over") as caught:
        kernel[1, 1](np.zeros(6))
    assert "count in the loop" in str(caught.value)


# ---- products ----

KINDS = [np.float32, np.float64, np.int32, np.int64, np.uint8, np.complex64, np.complex128]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("text", [
    "np.dot(a, b)", "a @ b", "a.dot(b)", "np.vdot(a, b)", "np.inner(a, b)", "a[::2] @ b[::-2]", "np.dot(a, a.real)",
    "np.linalg.norm(a)", "np.vdot(a, a.real)",
])  # fmt: skip
def test_products_of_vectors(kind, text):
    a = np.arange(1, 7).astype(kind)
    b = (a * 3 - 5).astype(kind)
    if np.dtype(kind).kind == "c":
        a, b = a + a.dtype.type(2j), b - b.dtype.type(1j)
    out = np.zeros(1, np.complex128 if a.dtype.kind == "c" else np.float64)
    agrees(f"def kernel(a, b, out):\n    out[0] = {text}", a, b, out)


def test_products_of_local_arrays():
    @cuda.jit
    def kernel(points, matrix, out):
        i = cuda.grid(1)
        if i < len(points):
            v = cuda.local.array(3, np.float64)
            np.dot(matrix, points[i], v)
            out[i] = np.dot(v, points[i]) + v @ v

    rng = np.random.default_rng(0)
    points, matrix, out = rng.random((100, 3)), rng.random((3, 3)), np.zeros(100)
    kernel[4, 32](points, matrix, out)
    moved = points @ matrix.T
    np.testing.assert_allclose(out, (moved * points).sum(1) + (moved * moved).sum(1))


@pytest.mark.parametrize("dtype", [np.uint8, np.int32, np.float64])
def test_loops_that_look_at_the_next_item(dtype):
    """The last item is the end of the array: what is looked at is there."""

    def words(x, hashes, ends):
        for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
            h, j = 7, i
            while j < x.size and x[j] > 32:
                h = (h ^ int(x[j])) * 31 & 0xFFFF
                j += 1
            hashes[i] = h
            j = i
            while j + 1 < x.size and x[j] <= x[j + 1]:
                j += 1
            ends[i] = j

    def expected(x):
        hashes, ends = [], []
        for i in range(x.size):
            h, j = 7, i
            while j < x.size and x[j] > 32:
                h, j = (h ^ int(x[j])) * 31 & 0xFFFF, j + 1
            hashes.append(h)
            j = i
            while j + 1 < x.size and x[j] <= x[j + 1]:
                j += 1
            ends.append(j)
        return hashes, ends

    kernel = cuda.jit(words)
    for size in 1, 2, 33, 200:
        x = np.random.default_rng(size).integers(20, 120, size).astype(dtype)
        hashes, ends = np.zeros(size, np.int32), np.zeros(size, np.int32)
        kernel[2, 32](x, hashes, ends)
        assert (hashes.tolist(), ends.tolist()) == expected(x)


@pytest.mark.parametrize("text, shapes", [
    ("np.dot(a, b, out)", [(4, 3), (3, 5), (4, 5)]), ("np.matmul(a, b, out=out)", [(4, 3), (3, 5), (4, 5)]),
    ("np.dot(a, b, out)", [(4, 3), (3,), (4,)]), ("np.dot(a, b, out)", [(3,), (3, 5), (5,)]),
    ("np.matmul(a.T, b[::-1], out)", [(3, 4), (3, 5), (4, 5)]), ("np.outer(a, b, out)", [(3,), (4,), (3, 4)]),
])  # fmt: skip
@pytest.mark.parametrize("kind", [np.float32, np.int64, np.complex128], ids=lambda kind: kind.__name__)
def test_products_into_an_array(text, shapes, kind, rng):
    a, b = (rng.integers(-5, 5, shape).astype(kind) for shape in shapes[:2])
    agrees(f"def kernel(a, b, out):\n    {text}", a, b, np.zeros(shapes[2], kind))


@pytest.mark.parametrize("text, message", [
    ("np.dot(x, x[:2])", "different lengths"), ("np.dot(m, x, x)", "overlaps"), ("np.dot(m, m, m)", "overlaps"),
    ("np.dot(m, x[:2], x)", "shapes"), ("np.dot(m, x, n)", "type of out"),
])  # fmt: skip
def test_products_that_are_refused_when_they_run(text, message):
    kernel = cuda.jit(make(f"def kernel(m, x, n):\n    {text}", cuda=cuda))
    with pytest.raises((ValueError, TypeError), match=message):
        kernel[1, 1](np.ones((3, 3)), np.ones(3), np.ones(3, np.int64))
        cuda.synchronize()


def test_what_would_make_an_array_is_told_what_to_write():
    @cuda.jit
    def kernel(a, out):
        out[:] = a @ a

    with pytest.raises(errors.UnsupportedError, match="makes an array, which kernels cannot") as caught:
        kernel[1, 1](np.ones((3, 3)), np.ones((3, 3)))
    assert "np.dot(a, b, out)" in str(caught.value)
