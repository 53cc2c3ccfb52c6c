"""Cooperative groups: blocks, tiles of warps, threads that came to a place together."""

import numpy as np
import pytest

from krait import _testing, cuda
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


def test_ptx_has_the_shuffles():
    text = _testing.compile(tiles.py_func, "array(int32, 1, C); array(int64, 2, C); int")
    assert "shfl.sync.bfly" in text and "shfl.sync.up" in text and "bar.warp.sync" in text
