"""Kernels with barriers that run as loops over their threads on the host device: whether they do, and that they compute
what fibers, a GPU and NumPy compute."""

import numpy as np
import pytest
from conftest import host_device, on_the_gpu, run_on_the_host

from krait import cuda, errors, float32, int32


@on_the_gpu
def test_this_file_on_the_host_device():
    run_on_the_host(__file__)


def runs_as_loops(kernel):
    """Of the only specialisation."""
    return [found["has_barriers"] for found in kernel.get_metadata().values()] == [False]


@cuda.jit
def block_sums(x, sums):
    shared = cuda.shared.array(256, float32)
    place, i = cuda.threadIdx.x, cuda.grid(1)
    shared[place] = x[i] if i < x.size else 0.0
    cuda.syncthreads()
    step = cuda.blockDim.x // 2
    while step > 0:
        if place < step:
            shared[place] += shared[place + step]
        cuda.syncthreads()
        step //= 2
    if place == 0:
        sums[cuda.blockIdx.x] = shared[0]


@pytest.mark.parametrize("threads", [1, 2, 32, 256])
def test_sums_of_blocks(threads):
    x = np.arange(1000, dtype=np.float32) % 7
    blocks = -(-x.size // threads)
    sums = np.zeros(blocks, np.float32)
    block_sums[blocks, threads](x, sums)
    padded = np.zeros(blocks * threads, np.float32)
    padded[: x.size] = x
    np.testing.assert_array_equal(sums, padded.reshape(blocks, threads).sum(1))


@host_device
def test_they_run_as_loops():
    assert runs_as_loops(block_sums)


@cuda.jit
def tiled(a, b, c):
    tile_a, tile_b = cuda.shared.array((8, 8), float32), cuda.shared.array((8, 8), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    column, row = cuda.grid(2)
    total = float32(0)
    for tile in range(a.shape[1] // 8):
        tile_a[y, x] = a[row, tile * 8 + x]
        tile_b[y, x] = b[tile * 8 + y, column]
        cuda.syncthreads()
        for k in range(8):
            total += tile_a[y, k] * tile_b[k, x]
        cuda.syncthreads()
    c[row, column] = total


def test_a_product_by_tiles():
    rng = np.random.default_rng(1)
    a, b = rng.integers(0, 9, (32, 24)).astype(np.float32), rng.integers(0, 9, (24, 16)).astype(np.float32)
    c = np.zeros((32, 16), np.float32)
    tiled[(2, 4), (8, 8)](a, b, c)
    np.testing.assert_array_equal(c, a @ b)


@cuda.jit
def swaps(out, rounds):
    """Phis that are each other's operands, a value that lives across several barriers, and a divergent loop."""
    shared = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    a, b, kept = t, t * t, 0
    for k in range(t % 5):
        kept += k * t
    for r in range(rounds):
        shared[t] = a
        cuda.syncthreads()
        a, b = b, shared[(t + 1) % 64]
        cuda.syncthreads()
    out[t] = a * 1000 + b + kept


def test_swapped_variables():
    out = np.zeros(64, np.int64)
    swaps[1, 64](out, 5)
    t = np.arange(64)
    a, b = t, t * t
    for _ in range(5):
        a, b = b, np.roll(a, -1)
    kept = np.array([sum(k * i for k in range(i % 5)) for i in range(64)])
    np.testing.assert_array_equal(out, a * 1000 + b + kept)


@cuda.jit
def branches(out, which):
    """Barriers in branches that all threads take alike, and in a loop that all leave at once."""
    shared = cuda.shared.array((4, 4, 4), int32)
    x, y, z = cuda.threadIdx.x, cuda.threadIdx.y, cuda.threadIdx.z
    value = x + 10 * y + 100 * z
    if which > 1:
        shared[z, y, x] = value
        cuda.syncthreads()
        value = shared[x, y, z]
    elif which == 1:
        shared[z, y, x] = value * 2
        cuda.syncthreads()
        value = shared[3 - z, y, x]
    k = 0
    while True:
        cuda.syncthreads()
        shared[z, y, x] = value
        cuda.syncthreads()
        value = shared[z, x, y] + k
        k += 1
        if k == which + 2:
            break
    out[z, y, x] = value


@pytest.mark.parametrize("which", [0, 1, 2])
def test_branches_that_all_take(which):
    out = np.zeros((4, 4, 4), np.int32)
    branches[1, (4, 4, 4)](out, which)
    z, y, x = np.indices((4, 4, 4))
    value = x + 10 * y + 100 * z
    value = [value, 2 * (x + 10 * y + 100 * (3 - z)), z + 10 * y + 100 * x][which]
    for k in range(which + 2):
        value = value.transpose(0, 2, 1) + k
    np.testing.assert_array_equal(out, value)


@host_device
def test_all_these_run_as_loops():
    assert runs_as_loops(tiled) and runs_as_loops(swaps) and runs_as_loops(branches)


@cuda.jit
def own_ways(x, out):
    """The loop around the barrier goes by what memory holds."""
    t = cuda.threadIdx.x
    for k in range(x[t]):
        cuda.syncthreads()
        out[t] += k


@host_device
def test_own_ways_are_fibers():
    x, out = np.full(8, 3), np.zeros(8)
    own_ways[1, 8](x, out)
    np.testing.assert_array_equal(out, 3)
    assert not runs_as_loops(own_ways)
    x[5] = 2
    with pytest.raises(errors.LaunchError, match=r"thread \(5, 0, 0\) ended without it"):
        own_ways[1, 8](x, out)


@cuda.jit
def raising(x):
    t = cuda.threadIdx.x
    x[t] += 1
    cuda.syncthreads()
    if x[t] > 5:
        raise ValueError("too much", t)
    cuda.syncthreads()
    x[t] = -1


@host_device
def test_what_a_thread_raises():
    x = np.zeros(100, np.int64)
    raising[1, 100](x)
    assert (x == -1).all() and runs_as_loops(raising)
    x[40:] = 7
    with pytest.raises(ValueError, match="too much") as caught:
        raising[1, 100](x)
    assert caught.value.args == ("too much", 40)
    assert "thread (40, 0, 0)" in "".join(caught.value.__notes__)


@cuda.jit
def outside(x):
    t = cuda.threadIdx.x
    cuda.syncthreads()
    x[t + 90] = t
    cuda.syncthreads()


@host_device
def test_accesses_outside_are_reported():
    x = np.full(100, -1)
    with pytest.warns(errors.KraitWarning, match=r"thread \(10, 0, 0\)"):
        outside[1, 64](x)
    np.testing.assert_array_equal(x, np.concatenate([np.full(90, -1), np.arange(10)]))
    assert runs_as_loops(outside)
