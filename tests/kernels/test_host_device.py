"""Kernels on the cores of this machine: barriers, shared memory, atomics, accesses outside arrays, many threads, fork.

Where there is a GPU, kernels run there unless told; this file then runs itself again in a process that is told.
"""

import os

import numpy as np
import pytest
from conftest import host_device, on_the_gpu, run_on_the_host
from host_kernels import block_sums, early_exit, saxpy

from krait import cuda, errors, float32, float64, int32


@on_the_gpu
def test_this_file_on_the_host_device():
    run_on_the_host(__file__)


# ---- loops over threads ----


@host_device
@pytest.mark.parametrize("n", [0, 1, 7, 256, 257, 100_003])
@pytest.mark.parametrize("block", [1, 32, 100, 256, 1024])
def test_saxpy(n, block):
    x = np.arange(n, dtype=np.float32)
    y = np.ones(n, dtype=np.float32)
    saxpy[max(1, -(-n // block)), block](np.float32(2), x, y)
    np.testing.assert_array_equal(y, 2 * np.arange(n, dtype=np.float32) + 1)


@cuda.jit
def write_place(out):
    x, y, z = cuda.grid(3)
    out[z, y, x] = cuda.threadIdx.x + 100 * cuda.threadIdx.y + 10_000 * cuda.threadIdx.z
    out[z, y, x] += 1_000_000 * (cuda.blockIdx.x + 10 * cuda.blockIdx.y + 100 * cuda.blockIdx.z)


@host_device
def test_three_dimensions():
    grid, block = (2, 3, 4), (5, 3, 2)
    shape = tuple(g * b for g, b in zip(reversed(grid), reversed(block)))
    out = np.full(shape, -1, dtype=np.int64)
    write_place[grid, block](out)
    z, y, x = np.indices(shape)
    thread = x % 5 + 100 * (y % 3) + 10_000 * (z % 2)
    np.testing.assert_array_equal(out, thread + 1_000_000 * (x // 5 + 10 * (y // 3) + 100 * (z // 2)))


@cuda.jit
def write_sizes(out):
    if cuda.grid(1) == 0:
        out[0] = cuda.gridDim.x
        out[1] = cuda.gridDim.y
        out[2] = cuda.gridDim.z
        out[3] = cuda.blockDim.x
        out[4] = cuda.gridsize(1)
        out[5] = cuda.warpsize


@host_device
def test_sizes():
    out = np.zeros(6, dtype=np.int64)
    write_sizes[7, 40](out)
    assert out.tolist() == [7, 1, 1, 40, 280, 32]


@cuda.jit
def write_lane(out):
    i = cuda.threadIdx.x + cuda.blockDim.x * (cuda.threadIdx.y + cuda.blockDim.y * cuda.threadIdx.z)
    out[i] = cuda.laneid


@host_device
def test_lanes_are_counted_through_the_block():
    out = np.full(5 * 7 * 3, -1, dtype=np.int32)
    write_lane[1, (5, 7, 3)](out)
    np.testing.assert_array_equal(out, np.arange(105) % 32)


@cuda.jit
def grid_stride(x, out):
    start = cuda.grid(1)
    for i in range(start, x.size, cuda.gridsize(1)):
        out[i] = x[i] * x[i]


@host_device
def test_grid_stride():
    x = np.random.default_rng(1).normal(size=10_007)
    out = np.zeros_like(x)
    grid_stride[3, 50](x, out)
    np.testing.assert_array_equal(out, x * x)


@host_device
def test_a_million_blocks():
    n = 1 << 20
    x = np.zeros(n, dtype=np.float32)
    y = np.ones(n, dtype=np.float32)
    saxpy[n, 1](np.float32(1), x, y)
    assert (y == 1).all()


# ---- barriers and shared memory ----

TILE = 16


@cuda.jit
def tiled_matmul(a, b, c):
    sa = cuda.shared.array((TILE, TILE), float32)
    sb = cuda.shared.array((TILE, TILE), float32)
    x, y = cuda.grid(2)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    total = float32(0)
    for tile in range((a.shape[1] + TILE - 1) // TILE):
        sa[ty, tx] = 0
        sb[ty, tx] = 0
        if y < a.shape[0] and tx + tile * TILE < a.shape[1]:
            sa[ty, tx] = a[y, tx + tile * TILE]
        if x < b.shape[1] and ty + tile * TILE < b.shape[0]:
            sb[ty, tx] = b[ty + tile * TILE, x]
        cuda.syncthreads()
        for k in range(TILE):
            total += sa[ty, k] * sb[k, tx]
        cuda.syncthreads()
    if y < c.shape[0] and x < c.shape[1]:
        c[y, x] = total


@host_device
@pytest.mark.parametrize("m,k,n", [(16, 16, 16), (64, 48, 80), (37, 51, 23)])
def test_tiled_matmul(m, k, n):
    generator = np.random.default_rng(7)
    a = generator.integers(-8, 8, (m, k)).astype(np.float32)
    b = generator.integers(-8, 8, (k, n)).astype(np.float32)
    c = np.zeros((m, n), dtype=np.float32)
    tiled_matmul[(-(-n // TILE), -(-m // TILE)), (TILE, TILE)](a, b, c)
    np.testing.assert_array_equal(c, a @ b)


@host_device
def test_reduction_with_a_barrier_a_step():
    x = np.random.default_rng(3).integers(-1000, 1000, 10_000)
    out = np.zeros(-(-x.size // 256), dtype=np.int64)
    block_sums[out.size, 256](x, out)
    padded = np.concatenate([x, np.zeros(out.size * 256 - x.size, dtype=x.dtype)])
    np.testing.assert_array_equal(out, padded.reshape(-1, 256).sum(axis=1))


@cuda.jit
def reverse_dynamic(x):
    values = cuda.shared.array(0, float64)
    t = cuda.threadIdx.x
    values[t] = x[t]
    cuda.syncthreads()
    x[t] = values[cuda.blockDim.x - 1 - t]


@host_device
@pytest.mark.parametrize("n", [1, 33, 1000])
def test_dynamic_shared_memory(n):
    x = np.arange(n, dtype=np.float64)
    reverse_dynamic[1, n, 0, 8 * n](x)
    np.testing.assert_array_equal(x, np.arange(n)[::-1])


@cuda.jit
def static_and_dynamic(out):
    fixed = cuda.shared.array(64, int32)
    moving = cuda.shared.array(0, int32)
    t = cuda.threadIdx.x
    fixed[t] = t
    moving[t] = 1000 + t
    cuda.syncthreads()
    out[t] = fixed[63 - t] + 10_000 * moving[63 - t]


@host_device
def test_static_and_dynamic_shared_memory_are_apart():
    out = np.zeros(64, dtype=np.int32)
    static_and_dynamic[1, 64, 0, 4 * 64](out)
    back = np.arange(64)[::-1]
    np.testing.assert_array_equal(out, back + 10_000 * (1000 + back))


@host_device
def test_threads_that_ended_do_not_count_at_a_barrier():
    out = np.zeros(64, dtype=np.int64)
    early_exit[1, 64](out)
    assert (out[:10] >= 102).all() and (out[10:] == 0).all()


@cuda.jit
def divergent(out):
    if cuda.threadIdx.x % 2 == 0:
        cuda.syncthreads()
        out[cuda.threadIdx.x] = 1
    else:
        cuda.syncthreads()
        out[cuda.threadIdx.x] = 2


@host_device
def test_a_missed_barrier_is_an_error_at_its_line():
    out = np.zeros(32, dtype=np.int32)
    with pytest.raises(errors.LaunchError) as caught:
        divergent[4, 32](out)
    first = divergent.py_func.__code__.co_firstlineno
    place = caught.traceback[-1]
    assert os.path.basename(str(place.path)) == os.path.basename(__file__)
    assert place.lineno + 1 in (first + 3, first + 6)
    early_exit[1, 64](np.zeros(64, dtype=np.int64))  # the device works on


@cuda.jit
def skips_in_a_branch(out):
    t = cuda.threadIdx.x
    if t < 16:
        cuda.syncthreads()
    out[cuda.grid(1)] = 1


@cuda.jit
def skips_and_ends(out):
    if cuda.threadIdx.x < 16:
        cuda.syncthreads()


@cuda.jit
def leaves_a_loop_earlier(out):
    for k in range(cuda.threadIdx.x // 16 + 1):
        cuda.syncthreads()


@cuda.jit
def skips_then_meets_another(out):
    if cuda.threadIdx.x == 5:
        cuda.syncthreads()
    out[cuda.grid(1)] = 1
    cuda.syncthreads()


@cuda.jit
def skips_a_vote(out):
    if cuda.threadIdx.x < 16:
        out[cuda.grid(1)] = cuda.syncthreads_count(True)


@cuda.jit
def skips_a_warp(out):
    if cuda.threadIdx.x < 16:
        cuda.syncwarp()
    out[cuda.grid(1)] = 1


@host_device
@pytest.mark.parametrize("kernel, line, waiting, missing", [
    (skips_in_a_branch, 4, "thread (0, 0, 0)", "thread (16, 0, 0) and 47 more ended without it"),
    (skips_and_ends, 3, "thread (0, 0, 0)", "thread (16, 0, 0) and 47 more ended without it"),
    (leaves_a_loop_earlier, 3, "thread (16, 0, 0)", "thread (0, 0, 0) and 15 more ended without it"),
    (skips_then_meets_another, 5, "thread (5, 0, 0)", "thread (0, 0, 0) waits at line {3}"),
    (skips_a_vote, 3, "thread (0, 0, 0)", "thread (16, 0, 0) and 47 more ended without it"),
    (skips_a_warp, 3, "thread (0, 0, 0)", "thread (16, 0, 0) and 15 more ended without it"),
], ids=lambda value: getattr(value, "__name__", None))
def test_a_thread_that_goes_round_a_barrier_is_missed(kernel, line, waiting, missing):
    first = kernel.py_func.__code__.co_firstlineno
    if kernel is skips_then_meets_another:
        line, missing = 3, f"thread (0, 0, 0) waits at line {first + 5}"
    for launch in (kernel[1, 64], kernel[3, 64]):
        with pytest.raises(errors.LaunchError) as caught:
            launch(np.zeros(192, dtype=np.int64))
        text = str(caught.value)
        place = f"waits at line {first + line} in {kernel.py_func.__qualname__}"
        assert f"block (0, 0, 0), {waiting} {place}" in text and missing in text
        assert caught.traceback[-1].lineno + 1 == first + line


def leaves_on_one_line(out):
    t = cuda.threadIdx.x
    if t >= 10: return  # noqa: E701
    cuda.syncthreads()
    out[t] = cuda.syncthreads_count(True)


def leaves_in_a_loop(out):
    t = cuda.threadIdx.x
    for k in range(40):
        if k == t:
            return None
        cuda.syncthreads()
        out[t] += 1


def leaves_a_warp(out):
    t = cuda.threadIdx.x
    if t >= 10:
        return
    cuda.syncwarp()
    out[t] = 10


@host_device
def test_threads_that_return_before_a_barrier_are_not_missed():
    """As on a GPU: a barrier waits for the threads that have not exited."""
    expected = {leaves_on_one_line: [10] * 10 + [0] * 54, leaves_a_warp: [10] * 10 + [0] * 54,
                leaves_in_a_loop: list(range(40)) + [40] * 24}
    for function, counts in expected.items():
        out = np.zeros(64, np.int64)
        cuda.jit(function)[1, 64](out)
        assert out.tolist() == counts, function


@cuda.jit
def votes(count, every, some):
    t = cuda.threadIdx.x
    count[t] = cuda.syncthreads_count(t % 3 == 0)
    every[t] = cuda.syncthreads_and(t < 50)
    some[t] = cuda.syncthreads_or(t == 49)


@host_device
@pytest.mark.parametrize("n", [50, 51])
def test_barriers_that_vote(n):
    count, every, some = (np.full(n, -1, dtype=np.int64) for _ in range(3))
    votes[1, n](count, every, some)
    assert (count == -(-n // 3)).all()
    assert ((every != 0) == (n <= 50)).all()
    assert (some != 0).all()


@cuda.jit
def neighbour_in_warp(out):
    values = cuda.shared.array(128, int32)
    t = cuda.threadIdx.x
    lane = cuda.laneid
    values[t] = 7 * t
    cuda.syncwarp()
    out[t] = values[t - lane + (lane + 1) % 32]


@host_device
def test_barrier_of_a_warp():
    out = np.zeros(128, dtype=np.int32)
    neighbour_in_warp[1, 128](out)
    t = np.arange(128)
    np.testing.assert_array_equal(out, 7 * (t - t % 32 + (t % 32 + 1) % 32))


@cuda.jit
def with_local(x, out):
    mine = cuda.local.array(20, float64)
    i = cuda.grid(1)
    for k in range(20):
        mine[k] = x[i] * k
    cuda.syncthreads()
    total = 0.0
    for k in range(20):
        total += mine[k]
    out[i] = total


@host_device
def test_local_arrays_survive_a_barrier():
    x = np.arange(96.0)
    out = np.zeros_like(x)
    with_local[3, 32](x, out)
    np.testing.assert_array_equal(out, x * sum(range(20)))


@cuda.jit
def with_large_local(out):
    mine = cuda.local.array(20_000, float64)
    i = cuda.grid(1)
    for k in range(20_000):
        mine[k] = i
    cuda.syncthreads()
    total = 0.0
    for k in range(20_000):
        total += mine[k]
    out[i] = total


@host_device
def test_large_local_arrays_fit_the_stacks():
    out = np.zeros(64)
    with_large_local[2, 32](out)
    np.testing.assert_array_equal(out, np.arange(64) * 20_000.0)


@cuda.jit
def with_too_large_local(out):
    mine = cuda.local.array(100_000, float64)
    for k in range(100_000):
        mine[k] = out[k % out.size]
    out[0] = mine[int(out[1])]


@host_device
def test_local_arrays_beyond_what_a_gpu_gives_are_refused():
    with pytest.raises(errors.UnsupportedError, match="800"):
        with_too_large_local[1, 1](np.zeros(10))
