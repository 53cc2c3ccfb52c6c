"""Cooperative groups: blocks, tiles of warps, threads that came to a place together."""

import functools
import itertools
import operator

import numpy as np
import pytest

from krait import _testing, cuda, errors
from krait.cuda import cg

N = 128
X = (np.arange(N) * 7 % 31).astype(np.int32)


@cuda.jit
def tiles(x, out, size):
    tile = cg.tiled_partition(cg.this_thread_block(), size)
    i = cuda.grid(1)
    v = x[i]
    out[0, i], out[1, i] = tile.thread_rank(), tile.num_threads()
    out[2, i], out[3, i] = tile.meta_group_rank(), tile.meta_group_size()
    out[4, i], out[5, i], out[6, i] = tile.sum(v), tile.min(v), tile.max(v)
    out[7, i], out[8, i] = tile.inclusive_scan(v), tile.exclusive_scan(v)
    out[9, i], out[10, i] = tile.shfl(v, 1), tile.shfl_xor(v, tile.num_threads() // 2)
    out[11, i], out[12, i] = tile.shfl_up(v, 1), tile.shfl_down(v, 1)
    out[13, i], out[14, i] = tile.any(v > 25), tile.all(v > 5)
    out[15, i] = tile.ballot(v % 2 == 1)
    tile.sync()


def expected_of_tiles(x, size, block):
    rows = x.reshape(-1, size).astype(np.int64)
    whole = lambda per_tile: np.repeat(per_tile, size)  # noqa: E731
    rank = np.tile(np.arange(size), x.size // size)
    group = np.arange(x.size) % block // size
    below = np.where(np.arange(size) > 0, np.roll(rows, 1, axis=1), rows)
    above = np.where(np.arange(size) < size - 1, np.roll(rows, -1, axis=1), rows)
    across = rows[:, np.arange(size) ^ (size // 2)]
    bits = (rows % 2 << np.arange(size)).sum(axis=1)
    scan = rows.cumsum(axis=1)
    return np.array([
        rank, np.full(x.size, size), group, np.full(x.size, block // size), whole(rows.sum(axis=1)),
        whole(rows.min(axis=1)), whole(rows.max(axis=1)), scan.ravel(), (scan - rows).ravel(),
        whole(rows[:, 1 % size]), across.ravel(), below.ravel(), above.ravel(), whole((rows > 25).any(axis=1)),
        whole((rows > 5).all(axis=1)), whole(bits)])


@pytest.mark.parametrize("size", [1, 2, 8, 32])
def test_tiles(size):
    out = np.zeros((16, N), np.int64)
    tiles[N // 64, 64](X, out, size)
    np.testing.assert_array_equal(out, expected_of_tiles(X, size, 64))


def test_a_block_of_three_axes():
    @cuda.jit
    def kernel(out):
        block = cg.this_thread_block()
        parts = cuda.shared.array(24, np.int64)
        rank = block.thread_rank()
        parts[rank] = rank + 1
        block.sync()
        out[rank] = parts[block.num_threads() - 1 - rank]

    out = np.zeros(24, np.int64)
    kernel[1, (2, 3, 4)](out)
    np.testing.assert_array_equal(out, np.arange(24, 0, -1))


def test_threads_that_came_together():
    @cuda.jit
    def kernel(x, out):
        i = cuda.grid(1)
        if x[i] % 3 == 0:
            group = cg.coalesced_threads()
            out[0, i], out[1, i] = group.num_threads(), group.thread_rank()
            out[2, i], out[3, i] = group.sum(x[i]), group.shfl(x[i], 1)
            out[4, i] = group.any(x[i] > 20)
            group.sync()

    out = np.full((5, 64), -1, np.int64)
    kernel[1, 64](X[:64], out)
    expected = np.full((5, 64), -1, np.int64)
    for first in (0, 32):
        lanes = [first + k for k in range(32) if X[first + k] % 3 == 0]
        for rank, lane in enumerate(lanes):
            expected[:, lane] = [len(lanes), rank, X[lanes].sum(), X[lanes[1]], (X[lanes] > 20).any()]
    np.testing.assert_array_equal(out, expected)


# ---- reduce and scans, with an operator ----


@cuda.jit(device=True)
def joined(a, b):  # of two sides that may not be exchanged: affine maps modulo 251, each 256 * factor + offset
    return a // 256 * (b // 256) % 251 * 256 + (a % 256 * (b // 256) + b % 256) % 251


def plainly_joined(a, b):
    return a // 256 * (b // 256) % 251 * 256 + (a % 256 * (b // 256) + b % 256) % 251


def wide(a, b):
    return a % 1009 * (b % 1009) % 1009


OPERATORS = {  # what a kernel is given, what Python computes
    "add": (operator.add, operator.add), "mul": (operator.mul, operator.mul), "and": (operator.and_, operator.and_),
    "or": (operator.or_, operator.or_), "xor": (operator.xor, operator.xor), "min": (min, min), "max": (max, max),
    "function": (joined, plainly_joined), "lambda": (lambda a, b: wide(a, b), wide),
}
INTEGERS = [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64]
NUMBERS = [(name, dtype) for dtype in (np.int64, np.int32) for name in OPERATORS] + [
    (name, dtype) for dtype in INTEGERS for name in ("add", "xor", "max")] + [
    (name, dtype) for dtype in (np.float16, np.float32, np.float64) for name in ("add", "mul", "min", "max")] + [
    (name, dtype) for dtype in (np.complex64, np.complex128) for name in ("add", "mul")] + [
    (name, np.bool) for name in ("and", "or", "xor", "add")]


def values(dtype, count):
    """Of which sums and products of floats are exact, however they are grouped."""
    i = np.arange(count)
    if np.dtype(dtype).kind in "fc":
        some = np.where(i % 9 == 4, -2.0, np.where(i % 9 == 7, 0.5, 1.0))
        return (some * (1j if np.dtype(dtype).kind == "c" else 1) ** (i % 5 == 3)).astype(dtype)
    return (i * 7919 % 64007 + 1).astype(dtype) if dtype is not np.bool else i % 3 == 1


def expected_of(x, groups, op):
    """Of each element: what its group comes to, up to it, before it, and before it from x[0] on;
    0: in no group."""
    out = np.zeros((4, x.size), x.dtype)
    for members in groups:
        with np.errstate(over="ignore"):
            sums = list(itertools.accumulate((x[i] for i in members), op))
            out[0, members], out[1, members], out[2, members] = sums[-1], sums, [x.dtype.type(0), *sums[:-1]]
            out[3, members] = [x[0], *(op(x[0], total) for total in sums[:-1])]
    return out


def combine(op):
    @cuda.jit(device=True)
    def store(group, x, out):
        i = cuda.grid(1)
        out[0, i], out[1, i] = group.reduce(x[i], op), group.inclusive_scan(x[i], op)
        out[2, i], out[3, i] = group.exclusive_scan(x[i], op), cg.exclusive_scan(group, x[i], op, x[0])

    return store


@functools.cache
def tile_kernel(name):
    store = combine(OPERATORS[name][0])

    @cuda.jit
    def kernel(x, out, size):
        store(cg.tiled_partition(cg.this_thread_block(), size), x, out)

    return kernel


@pytest.mark.parametrize("name, dtype", NUMBERS)
def test_tiles_combine_by_an_operator(name, dtype):
    x = values(dtype, 64)
    for size in (1, 2, 4, 8, 16, 32):
        out = np.zeros((4, 64), dtype)
        tile_kernel(name)[1, 64](x, out, size)
        groups = np.arange(64).reshape(-1, size).tolist()
        np.testing.assert_array_equal(out, expected_of(x, groups, OPERATORS[name][1]), str(size))


@functools.cache
def coalesced_kernel(name):
    store = combine(OPERATORS[name][0])

    @cuda.jit
    def kernel(x, out, here):
        if here[cuda.grid(1)]:
            store(cg.coalesced_threads(), x, out)

    return kernel


@pytest.mark.parametrize("name, dtype", NUMBERS)
def test_threads_that_came_together_combine_by_an_operator(name, dtype):
    x = values(dtype, 64)
    for bits in (1, 1 << 31, 0x80000001, 0xFFFFFFFF, 0x00FF0010, 0xA5A5F00E, 0x7FFFFFFE):
        here = np.array([bits >> i % 32 & 1 for i in range(64)], np.bool)
        out = np.zeros((4, 64), dtype)
        coalesced_kernel(name)[1, 64](x, out, here)
        groups = [(first + np.flatnonzero(here[:32])).tolist() for first in (0, 32)]
        np.testing.assert_array_equal(out, expected_of(x, groups, OPERATORS[name][1]), hex(bits))


@functools.cache
def block_kernel(name):
    store = combine(OPERATORS[name][0])

    @cuda.jit
    def kernel(x, out):
        store(cg.this_thread_block(), x, out)

    return kernel


@pytest.mark.parametrize("name, dtype", [row for row in NUMBERS if row[1] in (np.int32, np.float64, np.complex64)])
def test_blocks_combine_by_an_operator(name, dtype):
    for block in (1, 20, 32, 33, 96, 107):
        x = values(dtype, 2 * block)
        out = np.zeros((4, x.size), dtype)
        block_kernel(name)[2, block](x, out)
        groups = np.arange(x.size).reshape(2, block).tolist()
        np.testing.assert_array_equal(out, expected_of(x, groups, OPERATORS[name][1]), str(block))


def test_a_block_of_three_axes_and_1024_threads_combines_in_the_order_of_ranks():
    @cuda.jit
    def kernel(out):
        block = cg.this_thread_block()
        rank = block.thread_rank()
        for step in range(3):  # the same memory each time
            out[step, rank] = cg.inclusive_scan(block, rank + step)
        out[3, rank], out[4, rank] = cg.reduce(block, rank % 1000, max), block.min(rank + 5)

    out = np.zeros((5, 1024), np.int64)
    kernel[1, (8, 32, 4)](out)
    rank = np.arange(1024)
    np.testing.assert_array_equal(out, [*((rank + step).cumsum() for step in range(3)), rank * 0 + 999, rank * 0 + 5])


def test_scans_of_what_has_no_difference():
    @cuda.jit
    def kernel(x, out):
        i = cuda.grid(1)
        tile = cg.tiled_partition(cg.this_thread_block(), 4)
        out[0, i], out[1, i] = tile.exclusive_scan(x[i]), tile.min(x[i])

    x = np.array([1.0, np.inf, 3.0, 1.0, 1e300, 1.0, np.nan, 2.0])
    out = np.zeros((2, 8))
    kernel[1, 8](x, out)
    np.testing.assert_array_equal(out[0], [0, 1, np.inf, np.inf, 0, 1e300, 1e300, np.nan])
    assert len(set(map(str, out[1, 4:]))) == 1  # the threads agree, where a nan is one of the values


def test_an_operator_that_the_values_do_not_have_is_refused():
    @cuda.jit
    def kernel(x):
        x[0] = cg.reduce(cg.coalesced_threads(), x[cuda.grid(1)], operator.xor)

    with pytest.raises(errors.TypingError, match="unsupported operand types for \\^"):
        kernel[1, 8](np.zeros(8))


def test_ptx_has_the_shuffles():
    text = _testing.compile(tiles.py_func, "array(int32, 1, C); array(int64, 2, C); int")
    assert "shfl.sync.bfly" in text and "shfl.sync.up" in text and "bar.warp.sync" in text
