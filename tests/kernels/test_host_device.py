"""Kernels on the cores of this machine: barriers, shared memory, atomics, accesses outside arrays, many threads, fork.

Where there is a GPU, kernels run there unless told; this file then runs itself again in a process that is told.
"""

import itertools
import math
import os
import subprocess
import sys
import threading
import warnings

import numpy as np
import pytest
from conftest import host_device, on_the_gpu, run_on_the_host

from krait import cuda, errors, float32, float64, int32, int64


@on_the_gpu
def test_this_file_on_the_host_device():
    run_on_the_host(__file__)


def run_in_child(code, **environment):
    """Runs Python text in a process of its own, with a time limit that a hang meets; returns what it printed."""
    result = subprocess.run([sys.executable, "-c", code], env=dict(os.environ, KRAIT_CUDA_DEVICE="cpu", **environment),
                            capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, result.stderr
    return result.stdout


# ---- loops over threads ----


@cuda.jit
def saxpy(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * x[i] + y[i]


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


@cuda.jit
def block_sums(x, out):
    partial = cuda.shared.array(256, int64)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    partial[t] = 0
    if i < x.size:
        partial[t] = x[i]
    cuda.syncthreads()
    width = 128
    while width > 0:
        if t < width:
            partial[t] += partial[t + width]
        cuda.syncthreads()
        width //= 2
    if t == 0:
        out[cuda.blockIdx.x] = partial[0]


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


@cuda.jit
def early_exit(out):
    t = cuda.threadIdx.x
    if t >= 10:
        return
    out[t] = 1
    cuda.syncthreads()
    out[t] += out[(t + 1) % 10]
    cuda.syncthreads()
    out[t] += 100


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


# ---- atomics ----


@cuda.jit
def histogram(x, out, extremes):
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.add(out, x[i], 1)
        cuda.atomic.min(extremes, 0, x[i])
        cuda.atomic.max(extremes, 1, x[i])


@host_device
def test_atomics_under_contention():
    x = np.random.default_rng(5).integers(3, 20, 200_000)
    out = np.zeros(24, dtype=np.int64)
    extremes = np.array([1000, -1000])
    histogram[-(-x.size // 128), 128](x, out, extremes)
    np.testing.assert_array_equal(out, np.bincount(x, minlength=24))
    assert extremes.tolist() == [x.min(), x.max()]


@cuda.jit
def float_sum(x, out):
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.add(out, 0, x[i])


@host_device
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.uint64])
def test_atomic_add_of_every_kind(dtype):
    x = np.ones(100_000, dtype=dtype)
    out = np.zeros(1, dtype=dtype)
    float_sum[-(-x.size // 64), 64](x, out)
    assert out[0] == x.size


@cuda.jit
def take_tickets(counter, seen):
    ticket = cuda.atomic.add(counter, 0, 1)
    seen[ticket] = 1


@host_device
def test_atomic_add_gives_each_thread_another_old_value():
    counter = np.zeros(1, dtype=np.int64)
    seen = np.zeros(64 * 100, dtype=np.int8)
    take_tickets[100, 64](counter, seen)
    assert counter[0] == seen.size and seen.all()


@cuda.jit
def spin_add(lock, total):
    while cuda.atomic.cas(lock, 0, 0, 1) != 0:
        pass
    total[0] += 1
    cuda.threadfence()
    cuda.atomic.exch(lock, 0, 0)


@host_device
def test_a_lock_between_threads():
    lock = np.zeros(1, dtype=np.int32)
    total = np.zeros(1, dtype=np.int64)
    spin_add[200, 32](lock, total)
    assert total[0] == 200 * 32


@cuda.jit
def hand_over(flags, order):
    t = cuda.threadIdx.x
    if t < cuda.blockDim.x - 1:
        while cuda.atomic.add(flags, t + 1, 0) == 0:
            cuda.nanosleep(100)
    order[t] = cuda.atomic.add(order, cuda.blockDim.x, 1)
    cuda.threadfence()
    cuda.atomic.exch(flags, t, 1)


@host_device
def test_a_thread_that_rests_lets_later_threads_run():
    n = 50
    order = np.zeros(n + 1, dtype=np.int64)
    hand_over[1, n](np.zeros(n, dtype=np.int32), order)
    assert order.tolist() == [*range(n - 1, -1, -1), n]


# ---- accesses outside arrays ----


@cuda.jit
def unguarded(x, y):
    i = cuda.grid(1)
    y[i] = x[i] + 1


@host_device
def test_without_a_guard_memory_stays_intact_and_a_warning_names_the_place():
    n = 1000
    around = np.full(n + 2 * 512, 7.0)
    y = around[512:512 + n]
    with pytest.warns(errors.OutOfBoundsWarning) as caught:
        unguarded[4, 256](np.arange(n, dtype=np.float64), y)
    np.testing.assert_array_equal(y, np.arange(n) + 1.0)
    assert (around[:512] == 7).all() and (around[512 + n:] == 7).all()
    text = str(caught[0].message)
    line = unguarded.py_func.__code__.co_firstlineno + 3
    assert len(caught) == 1, "one warning a launch"
    assert f"{os.path.basename(__file__)}" in text and str(line) in text
    assert "3" in text and "232" in text, "the first thread outside is number 232 of block 3"


@host_device
def test_the_first_thread_outside_is_named_whatever_ran_first():
    for _ in range(20):
        with pytest.warns(errors.OutOfBoundsWarning) as caught:
            unguarded[300, 64](np.zeros(100), np.zeros(100))
        text = str(caught[0].message)
        assert "1" in text and "36" in text


@cuda.jit
def load_outside(x, y):
    i = cuda.grid(1)
    y[i] = x[i + 1000] + 5


@host_device
def test_a_load_outside_gives_zero():
    y = np.zeros(64)
    with pytest.warns(errors.OutOfBoundsWarning):
        load_outside[2, 32](np.ones(64), y)
    assert (y == 5).all()


@cuda.jit
def shared_outside(y):
    values = cuda.shared.array(16, int32)
    t = cuda.threadIdx.x
    values[t] = t
    cuda.syncthreads()
    if t < 16:
        y[t] = values[t]


@host_device
def test_shared_memory_has_bounds():
    y = np.zeros(16, dtype=np.int32)
    with pytest.warns(errors.OutOfBoundsWarning):
        shared_outside[1, 32](y)
    np.testing.assert_array_equal(y, np.arange(16))


@cuda.jit
def atomic_outside(y):
    cuda.atomic.add(y, cuda.grid(1), 1)


@host_device
def test_atomics_have_bounds():
    around = np.zeros(64, dtype=np.int32)
    with pytest.warns(errors.OutOfBoundsWarning):
        atomic_outside[1, 32](around[16:32])
    assert around.tolist() == [0] * 16 + [1] * 16 + [0] * 32


@host_device
def test_nothing_is_warned_about_when_all_is_inside():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        unguarded[4, 250](np.zeros(1000), np.zeros(1000))


# ---- blocks that run as one loop (src/passes/thread_order.c) -----


@cuda.jit
def place_of(out):
    x, y = cuda.grid(2)
    out[y, x] = 1000 * y + x


@cuda.jit
def place_written_out(out):
    x = cuda.threadIdx.x + cuda.blockDim.x * cuda.blockIdx.x
    y = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
    out[y, x] = 1000 * y + x


@cuda.jit
def place_by_a_helper(out):
    x, y = helper_place()
    out[y, x] = 1000 * y + x


@cuda.jit(device=True)
def helper_place():
    return cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x, cuda.grid(2)[1]


@cuda.jit
def place_and_block(out):
    """Tells blocks apart, so each runs alone."""
    x, y = cuda.grid(2)
    out[y, x] = 1000 * y + x + 100000 * (cuda.blockIdx.x + cuda.threadIdx.x)


PLACES = [place_of, place_written_out, place_by_a_helper, place_and_block]


@host_device
@pytest.mark.parametrize("kernel", PLACES, ids=lambda kernel: kernel.py_func.__name__)
@pytest.mark.parametrize("block", [(1, 1), (3, 2), (32, 8), (256, 4)])
@pytest.mark.parametrize("grid", [(1, 1), (5, 3), (300, 2)])
def test_every_thread_has_its_place(kernel, block, grid):
    width, height = block[0] * grid[0], block[1] * grid[1]
    out = np.full((height, width), -1)
    kernel[grid, block](out)
    y, x = np.mgrid[:height, :width]
    extra = 100000 * (x // block[0] + x % block[0]) if kernel is place_and_block else 0
    np.testing.assert_array_equal(out, 1000 * y + x + extra)


@host_device
@pytest.mark.parametrize("kernel", PLACES, ids=lambda kernel: kernel.py_func.__name__)
@pytest.mark.parametrize(
    "shape,block,thread",
    [
        # of blocks of 4 by 2: the first, in the order of blocks and then of threads, with a place outside
        ((4, 13), (3, 0, 0), (1, 0, 0)),  # the columns end in block 3
        ((3, 16), (0, 1, 0), (0, 1, 0)),  # the rows end in the second row of blocks
        ((1, 16), (0, 0, 0), (0, 1, 0)),  # and in its first: thread 4 of block 0, though row 0 runs first
        ((1, 6), (0, 0, 0), (0, 1, 0)),  # row 0 of block 1 is outside too
        ((4, 2), (0, 0, 0), (2, 0, 0)),
    ],
)
def test_the_first_block_outside_is_named_when_several_run_as_one(kernel, shape, block, thread):
    around = np.full((8, 32), -1)
    out = np.zeros(shape, np.int64)
    with pytest.warns(errors.OutOfBoundsWarning) as caught:
        kernel[(4, 2), (4, 2)](out)
    assert len(caught) == 1
    text = str(caught[0].message)
    assert f"block {block}" in text and f"thread {thread}" in text, text
    assert (around == -1).all()


@host_device
def test_sums_of_sums_are_compiled_at_once():
    """Each line doubles the number of ways from the index to its leaves."""
    source = "def doubled(x):\n    j = x[0]\n" + "    j = j + j\n" * 200 + "    x[j] = 2\n"
    names = {}
    exec(source, names)
    x = np.zeros(3, np.int64)
    cuda.jit(names["doubled"])[1, 1](x)
    assert x.tolist() == [2, 0, 0]


@cuda.jit
def stencil(u, new):
    i, j = cuda.grid(2)
    if 0 < i < u.shape[1] - 1 and not j < 1 and j < u.shape[0] - 1:
        new[j, i] = u[j - 1, i] + u[j + 1, i] + u[j, i - 1] + u[j, i + 1]


@host_device
@pytest.mark.parametrize("shape", [(1, 1), (2, 9), (3, 3), (17, 70), (64, 64)])
@pytest.mark.parametrize("other", [(0, 0), (-1, 0), (0, -2), (3, 5)])
def test_a_stencil_on_arrays_of_one_shape_and_of_two(shape, other):
    """Of one shape, LLVM proves every access inside; of two, what is outside is left out."""
    u = np.random.default_rng(1).random(shape)
    new = np.full([max(a + b, 0) for a, b in zip(shape, other, strict=True)], -1.0)
    want = new.copy()
    inner = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
    outside = False
    for (j, i), value in np.ndenumerate(inner):
        if j + 1 < want.shape[0] and i + 1 < want.shape[1]:
            want[j + 1, i + 1] = value
        else:
            outside = True
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        stencil[(3, 9), (32, 8)](u, new)
    np.testing.assert_allclose(new, want, rtol=1e-15)
    assert bool(caught) == outside


@cuda.jit
def shift_by_one(x, y):
    i = cuda.grid(1)
    if i >= 1:
        y[i] = x[i - 1]
    else:
        y[i] = x[i - 1]


@host_device
def test_an_index_below_zero_only_counts_from_the_end_where_it_can_be():
    y = np.zeros(64)
    shift_by_one[2, 32](np.arange(64.0), y)
    np.testing.assert_array_equal(y, np.roll(np.arange(64.0), 1))


@cuda.jit
def wrapped(n, y):
    j = n.size * 0x5555555555555555
    if j != 0:
        if j - 1 < y.size:
            y[j - 1] = 7


@host_device
def test_a_product_that_wraps_is_negative():
    """Three times that is -1; that it is not zero does not make it positive: y[-2] counts from the end."""
    around = np.full(64, -1)
    wrapped[1, 1](np.zeros(3), around[30:34])
    np.testing.assert_array_equal(np.flatnonzero(around != -1), [32])


@cuda.jit
def through_views_without_axes(x, out, from_):
    i = cuda.grid(1)
    view = x[from_ + i, ...]
    view[()] = 3
    out[i] = view[()]
    view += 1
    x[from_ + i, ...] = out[i]


@host_device
@pytest.mark.parametrize("from_", [-7, -6, -2, 0, 2, 4, 1000, 2**61, 2**63 - 9])
def test_a_view_without_axes_of_what_is_outside_is_nowhere(from_):
    around = np.full(64, -1)
    want, out = around.copy(), np.full(4, -1)
    inside = [-4 <= from_ + i < 4 for i in range(4)]
    for i in range(4):
        if inside[i]:
            want[30:34][from_ + i] = 3
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        through_views_without_axes[1, 4](around[30:34], out, from_)
    np.testing.assert_array_equal(around, want)
    np.testing.assert_array_equal(out, [3 if i else 0 for i in inside])
    assert bool(caught) != all(inside)


@host_device
def test_work_is_shared_by_any_number_of_threads():
    """Each range of blocks is somebody's first; what a thread leaves, others take."""
    for threads in ["1", "2", "3", "16"]:
        assert run_in_child("""
import numpy as np
from krait import cuda

@cuda.jit
def uneven(out):
    i = cuda.grid(1)
    total = 0
    for k in range(20000 if i < 64 else 1):
        total += k % 7
    cuda.atomic.add(out, i, 1)
    if total < 0:
        out[i] = 0

for blocks in [1, 2, 3, 5, 17, 64, 1000]:
    out = np.zeros(32 * blocks, np.int64)
    for launch in range(1, 4):
        uneven[blocks, 32](out)
        assert (out == launch).all(), blocks
print("fine")
""", KRAIT_NUM_THREADS=threads) == "fine\n"


@cuda.jit
def from_the_end(x):
    x[-1 - cuda.grid(1)] = cuda.grid(1)


@host_device
def test_negative_indices_count_from_the_end():
    x = np.zeros(32, dtype=np.int64)
    from_the_end[1, 32](x)
    np.testing.assert_array_equal(x, np.arange(32)[::-1])


# ---- raising ----


@cuda.jit(check=True)
def count_checked(counts, i):
    cuda.atomic.add(counts, i, 1)


@host_device
def test_an_atomic_operation_alone_is_checked():
    counts = np.zeros(4, np.int64)
    count_checked[1, 8](counts, -1)
    with pytest.raises(IndexError, match="index 4 is out of bounds for axis 0 with size 4"):
        count_checked[1, 8](counts, 4)
    np.testing.assert_array_equal(counts, [0, 0, 0, 8])


@cuda.jit
def refuse_negative(x, out):
    i = cuda.grid(1)
    if x[i] < 0:
        raise ValueError("negative", i)
    out[i] = 1


@host_device
def test_the_first_thread_that_raises_is_the_one_reported():
    x = np.ones(10_000)
    x[[333, 4444, 9000]] = -1
    for _ in range(10):
        with pytest.raises(ValueError) as caught:
            refuse_negative[100, 100](x, np.zeros(x.size))
        assert caught.value.args == ("negative", 333)


@cuda.jit
def raise_between_barriers(x):
    t = cuda.threadIdx.x
    cuda.syncthreads()
    if t == 5 or t == 3:
        raise RuntimeError(t)
    cuda.syncthreads()
    x[t] = 1


@host_device
def test_raising_beside_barriers():
    x = np.zeros(32, dtype=np.int64)
    with pytest.raises(RuntimeError) as caught:
        raise_between_barriers[1, 32](x)
    assert caught.value.args == (3,)


# ---- processes and threads ----


@host_device
def test_threads_launch_at_once():
    failures = []

    def work(seed):
        generator = np.random.default_rng(seed)
        for _ in range(20):
            x = generator.integers(0, 100, 3000)
            out = np.zeros(-(-x.size // 256), dtype=np.int64)
            block_sums[out.size, 256](x, out)
            y = np.zeros(3000, dtype=np.float32)
            saxpy[12, 256](np.float32(3), np.ones(3000, dtype=np.float32), y)
            if out.sum() != x.sum() or not (y == 3).all():
                failures.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


FORK = """
import os, warnings
warnings.simplefilter("ignore")
import numpy as np
from krait import cuda

@cuda.jit
def add(x, out):
    values = cuda.shared.array(32, np.int64)
    t = cuda.threadIdx.x
    values[t] = x[cuda.grid(1)]
    cuda.syncthreads()
    out[cuda.grid(1)] = values[31 - t]

def check():
    x = np.arange(32 * 500)
    out = np.zeros_like(x)
    add[500, 32](x, out)
    assert (out.reshape(-1, 32)[:, ::-1] == x.reshape(-1, 32)).all()

@cuda.jit
def twice(x):
    x[cuda.grid(1)] *= 2

check()
for _ in range(3):
    child = os.fork()
    if child == 0:
        check()
        x = np.ones(64)
        twice[2, 32](x)
        os._exit(0 if (x == 2).all() else 1)
    assert os.waitpid(child, 0)[1] == 0
check()
print("fine")
"""


@host_device
@pytest.mark.parametrize("threads", ["1", "2", "7"])
def test_fork_then_launch(threads):
    assert run_in_child(FORK, KRAIT_NUM_THREADS=threads).strip() == "fine"


# ---- limits of a real GPU ----


@host_device
@pytest.mark.parametrize("grid, block, message", [
    (1, 1025, r"a block of \(1025, 1, 1\) threads: a block has at most 1024 threads"),
    (1, (1, 1025), r"a block of \(1, 1025, 1\) threads"),
    (1, (1, 1, 65), r"a block of \(1, 1, 65\) threads: .*64 of them along z"),
    (1, (32, 33), r"a block of \(32, 33, 1\) threads: a block has at most 1024 threads"),
    ((1, 65536), 1, r"a grid of \(1, 65536, 1\) blocks: there are at most 65535 along y and z"),
    ((1, 1, 65536), 1, r"a grid of \(1, 1, 65536\) blocks"),
    (2**31, 1, "whole numbers from 1, not 2147483648"),
    (0, 1, "the grid is made of whole numbers from 1, not 0"),
    ((1, 0), 1, "the grid is made of whole numbers from 1, not 0"),
    (1, 0, "the block is made of whole numbers from 1, not 0"),
])
def test_launches_beyond_a_gpu(grid, block, message):
    with pytest.raises(ValueError, match=message):
        early_exit[grid, block](np.zeros(64, np.int64))


def test_more_tasks_than_a_grid_has_threads():
    with pytest.raises(ValueError, match="549755813888 tasks in blocks of 32 threads: .* 2147483647 blocks along x"):
        early_exit.forall(2**39, tpb=32)(np.zeros(64, np.int64))


def test_static_shared_memory_is_limited_as_on_a_gpu():
    def fits(x):
        s = cuda.shared.array(6142, np.float64)
        t = cuda.shared.array(1, np.float64)
        s[6141] = t[0] = 3
        x[0] = s[6141] + t[0]

    def too_much(x):
        s = cuda.shared.array(6142, np.float64)
        t = cuda.shared.array(3, np.float64)
        u = cuda.shared.array(1, np.int8)
        x[0] = s[0] + t[1] + u[0]

    x = np.zeros(1)
    cuda.jit(fits)[1, 1](x)
    assert x[0] == 6
    with pytest.raises(errors.UnsupportedError, match="49168 bytes, a block has at most 49152") as caught:
        cuda.jit(too_much)[1, 1](x)
    assert "t = cuda.shared.array(3, np.float64)" in str(caught.value)


@cuda.jit
def shared_of_both_kinds(sizes):
    s = cuda.shared.array(1024, np.float64)
    t = cuda.shared.array(0, np.uint8)
    s[1023] = t.size
    t[t.size - 1] = 1
    sizes[0] = s[1023] + t[t.size - 1]


@host_device
def test_dynamic_shared_memory_is_limited_as_on_a_gpu():
    most = 232448 - 8192
    sizes = np.zeros(1)
    shared_of_both_kinds[1, 1, 0, most](sizes)
    assert sizes[0] == most + 1
    for bytes_ in most + 1, 10**9:
        with pytest.raises(ValueError, match=f"{bytes_} bytes of dynamic and 8192 of static shared memory: .* 232448"):
            shared_of_both_kinds[1, 1, 0, bytes_](sizes)
    device = cuda.get_current_device()
    assert device.MAX_SHARED_MEMORY_PER_BLOCK == 49152
    assert device.MAX_SHARED_MEMORY_PER_BLOCK_OPTIN == 232448


# ---- NaN in atomics, order of arrays, dumps ----


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_atomic_max_and_min_beside_a_nan(dtype):
    """max and min are Python's, as numba.cuda documents them; nanmax and nanmin take a NaN for a missing value."""

    @cuda.jit
    def kernel(largest, smallest, nanlargest, nansmallest, y, old):
        i = cuda.grid(1)
        if i < y.size:
            old[i] = cuda.atomic.max(largest, i, y[i])
            cuda.atomic.min(smallest, i, y[i])
            cuda.atomic.nanmax(nanlargest, i, y[i])
            cuda.atomic.nanmin(nansmallest, i, y[i])

    values = np.array([math.nan, 1, 2, -0.0, 0.0, math.inf, -math.inf], dtype)
    x, y = (part.ravel() for part in np.meshgrid(values, values))
    results = [x.copy() for _ in range(4)]
    old = np.zeros_like(x)
    kernel[2, 32](*results, y, old)
    pairs = list(zip(x, y))
    expected = [[max(p) for p in pairs], [min(p) for p in pairs],
                np.fmax(x, y), np.fmin(x, y)]
    for result, want in zip(results, expected):
        np.testing.assert_array_equal(result, np.array(want, dtype))
    np.testing.assert_array_equal(old, x)


@pytest.mark.parametrize("axes", list(itertools.permutations(range(3))))
def test_device_array_like_keeps_the_order_of_axes(axes):
    base = np.arange(24.0).reshape(2, 3, 4).transpose(axes)
    for view in base, base[::2], base[:, ::-1], base[..., 1:2]:
        strides, expected = cuda.device_array_like(view).strides, np.empty_like(view).strides
        assert all(a == b for a, b, length in zip(strides, expected, view.shape) if length > 1)
        on_device = cuda.to_device(np.arange(24.0).reshape(2, 3, 4)).transpose(*axes)
        like = cuda.device_array_like(on_device)
        assert like.strides == base.strides and like.shape == base.shape
        like.copy_to_device(on_device)
        np.testing.assert_array_equal(like.copy_to_host(), base)


@host_device
def test_ptx_can_be_dumped_on_the_host_device():
    code = """
import numpy as np
from krait import cuda
@cuda.jit
def kernel(x):
    x[cuda.grid(1)] = 1
kernel[1, 1](np.zeros(2))
"""
    text = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True,
                          env={**os.environ, "KRAIT_DUMP": "ptx"}).stderr
    assert "for compute capability 7.5: it runs on the host device here" in text
    assert ".target sm_75" in text and ".visible .entry krait_kernel" in text
