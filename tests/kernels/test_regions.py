"""Kernels with barriers that run as loops over their threads on the host device: whether they do, and that they compute
what fibers, a GPU and NumPy compute."""

import os
import signal
import threading

import numpy as np
import pytest
from conftest import host_device, on_the_gpu, run_on_the_host

from krait import cuda, errors, float32, float64, int32, njit


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


@pytest.mark.parametrize("threads", [1, 2, 32, 256])  # 256: the size that the kernel is written for
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
def guarded(x, out):
    """Threads that leave by a return statement, some at once and some later, are missed nowhere."""
    shared = cuda.shared.array(64, int32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    shared[t] = -1
    if i >= x.size:
        return
    kept = x[i] * 3
    shared[t] = kept
    cuda.syncthreads()
    for k in range(3):
        if x[i] == k:
            out[i] = -k
            return
        kept += shared[(t + 1) % 64]
        cuda.syncthreads()
        shared[t] = kept
        cuda.syncthreads()
    out[i] = kept


def test_threads_that_leave():
    rng = np.random.default_rng(2)
    x = rng.integers(0, 9, 100).astype(np.int64)
    out = np.full(128, 77)
    guarded[2, 64](x, out)
    want = np.full(128, 77)
    for block in range(2):
        here = [i for i in range(block * 64, block * 64 + 64) if i < 100]
        shared, left = {t: -1 for t in range(64)}, set()
        kept = {i: x[i] * 3 for i in here}
        shared.update({i % 64: kept[i] for i in here})
        for k in range(3):
            for i in here:
                if i not in left and x[i] == k:
                    want[i] = -k
                    left.add(i)
            here = [i for i in here if i not in left]
            for i in here:
                kept[i] += shared[(i + 1) % 64]
            shared.update({i % 64: kept[i] for i in here})
        for i in here:
            want[i] = kept[i]
    np.testing.assert_array_equal(out, want)


@host_device
def test_threads_that_leave_are_no_fibers():
    assert runs_as_loops(guarded)


@cuda.jit
def own_arrays(x, out):
    """Arrays of the thread's own on both sides of barriers."""
    shared = cuda.shared.array((4, 8), float32)
    window, sums = cuda.local.array(3, float32), cuda.local.array((2, 2), int32)
    a, b = cuda.threadIdx.x, cuda.threadIdx.y
    shared[b, a] = x[b, a]
    for i in range(2):
        for j in range(2):
            sums[i, j] = i * j + a
    cuda.syncthreads()
    for k in range(3):
        window[k] = shared[b, (a + k) % 8]
    cuda.syncthreads()
    shared[b, a] = -1
    cuda.syncthreads()
    for i in range(3):
        for j in range(i):
            if window[j] > window[i]:
                window[i], window[j] = window[j], window[i]
    out[b, a] = window[1] + 100 * sums[a % 2, b % 2]


def test_arrays_of_a_threads_own():
    x = np.random.default_rng(3).permutation(32).reshape(4, 8).astype(np.float32)
    out = np.zeros((4, 8))
    own_arrays[1, (8, 4)](x, out)
    b, a = np.indices((4, 8))
    middle = np.sort([np.roll(x, -k, 1) for k in range(3)], 0)[1]
    np.testing.assert_array_equal(out, middle + 100 * ((a % 2) * (b % 2) + a))


@host_device
def test_arrays_of_a_threads_own_need_no_fibers():
    assert runs_as_loops(own_arrays)


@cuda.jit
def endless(x):
    while x.size > 0:
        cuda.syncthreads()
        x[cuda.threadIdx.x] += 1


@host_device
def test_an_endless_loop_can_be_interrupted():
    x = np.zeros(64, np.int64)
    timer = threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        endless[1, 64](x)
    timer.join()
    assert (x > 0).all() and runs_as_loops(endless)


def with_rounds(count):
    """A kernel with twice as many barriers, written out."""
    lines = ["def rounds(x):", "    shared = cuda.shared.array(64, float32)", "    t = cuda.threadIdx.x"]
    lines.append("    a = x[t]")
    for k in range(count):
        lines += [f"    shared[t] = a + {k}", "    cuda.syncthreads()", f"    a += shared[(t + {k}) % 64]",
                  f"    if t % {k + 2} == 0:", "        a -= 1", "    cuda.syncthreads()"]
    names = {"cuda": cuda, "float32": float32}
    exec("\n".join([*lines, "    x[t] = a"]), names)
    return cuda.jit(names["rounds"])


@pytest.mark.parametrize("count", [3, 14, 33])  # vectors, plain loops, fibers
def test_many_barriers(count):
    x = np.arange(64, dtype=np.float32) % 3
    kernel, a, t = with_rounds(count), x.copy(), np.arange(64)
    kernel[1, 64](x)
    for k in range(count):
        a = a + np.roll(a + np.float32(k), -k) - (t % (k + 2) == 0).astype(np.float32)
    np.testing.assert_array_equal(x, a)
    assert cuda.is_available() or runs_as_loops(kernel) == (count < 32)


def sums_of_loops(rounds, items):
    """A kernel with so many loops between two barriers, each gone through the same number of times by all threads."""
    lines = ["def sums(x, out):", "    shared = cuda.shared.array(32, float32)", "    t = cuda.threadIdx.x"]
    lines += ["    a = x[t]", "    shared[t] = a", "    cuda.syncthreads()"]
    for k in range(rounds):
        lines += [f"    for i{k} in range(out.size // {items}):", f"        a += i{k} * shared[t]"]
    names = {"cuda": cuda, "float32": float32}
    exec("\n".join([*lines, "    cuda.syncthreads()", "    out[t] = a + shared[31 - t]"]), names)
    return cuda.jit(names["sums"])


@pytest.mark.parametrize("rounds", [10, 40])  # loops that all threads go through together, too many such
def test_many_loops_without_barriers(rounds):
    x, out = np.arange(32, dtype=np.float32), np.zeros(32, np.float32)
    kernel = sums_of_loops(rounds, 8)
    kernel[1, 32](x, out)
    np.testing.assert_array_equal(out, x + rounds * (0 + 1 + 2 + 3) * x + x[::-1])
    assert cuda.is_available() or runs_as_loops(kernel)


@cuda.jit
def part_of_an_own_array(x, out):
    shared, own = cuda.shared.array(32, float32), cuda.local.array((2, 4), float32)
    t = cuda.threadIdx.x
    shared[t] = x[t]
    cuda.syncthreads()
    row, a = own[1], float32(0)
    for i in range(out.size // 8):
        row[i % 4] = i + x[t]
        a += row[0]
    cuda.syncthreads()
    out[t] = a + shared[31 - t]


def test_a_loop_over_part_of_an_own_array():
    x, out = np.arange(32, dtype=np.float32), np.zeros(32, np.float32)
    part_of_an_own_array[1, 32](x, out)
    np.testing.assert_array_equal(out, 4 * x + x[::-1])
    assert cuda.is_available() or runs_as_loops(part_of_an_own_array)


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


@cuda.jit
def much_kept(x, out):
    """Near the most that the threads of a block may keep from one barrier to others."""
    local = cuda.local.array(24, float64)
    shared = cuda.shared.array(64, float64)
    t = cuda.threadIdx.x
    for k in range(24):
        local[k] = x[t] * k
    shared[t] = x[t]
    cuda.syncthreads()
    a = shared[63 - t]
    cuda.syncthreads()
    shared[t] = a + 1
    cuda.syncthreads()
    for k in range(24):
        out[t] += local[k] + shared[t]


@host_device
def test_what_threads_keep_lies_on_no_stack():
    x, out = np.arange(64.0), np.zeros(64)

    def launch():
        much_kept[1, 64](x, out)

    launch()  # compiled on a large stack
    out[:] = 0
    before = threading.stack_size(64 << 10)
    try:
        thread = threading.Thread(target=launch)
        thread.start()
    finally:
        threading.stack_size(before)
    thread.join()
    np.testing.assert_array_equal(out, x * 276 + 24 * (64 - x))
    assert runs_as_loops(much_kept)
    assert max(much_kept.get_local_mem_per_thread().values()) < 4096


@cuda.jit
def remainder_behind_conditions(out, x, y):
    shared, i, t = cuda.shared.array(33, np.uint16), cuda.grid(1), cuda.threadIdx.x
    shared[t] = t
    cuda.syncthreads()
    for k in range(2):
        v = shared[(t + k + 1) % 33]
        cuda.syncthreads()
        if 1 != x[i % x.shape[0]]:
            shared[t] = x.shape[0] | y if True > i else x[k % x.shape[0]] ^ y
        cuda.syncthreads()
    out[i] = shared[t] + v


@host_device
def test_a_remainder_that_the_first_thread_does_not_compute():
    """The address that all threads read from is not taken from the thread that goes another way."""
    x, out = np.array([12, 10, 6], np.uint16), np.zeros(99, np.int64)
    last = (x[1] ^ 5) * np.ones(99, np.int64)
    last[0] = 3 | 5
    before = np.concatenate([np.roll(np.where(np.arange(99) == 0, 3 | 5, x[0] ^ 5)[block : block + 33], -2)
                             for block in (0, 33, 66)])
    remainder_behind_conditions[3, 33](out, x, np.uint16(5))
    np.testing.assert_array_equal(out, last + before)
    assert "vector.body" not in next(iter(remainder_behind_conditions.inspect_llvm().values()))


@njit
def looked_up(w, x, y):
    return w[y % w.shape[0]] ^ y if x > 0 else y


@njit
def looked_up_below(w, x, y):
    return looked_up(w, x, y)


@cuda.jit
def loop_behind_calls(out, w, x, y):
    for i in range(len(x)):
        out[i] = looked_up(w, x[i], y)


@cuda.jit
def loop_behind_more_calls(out, w, x, y):
    for i in range(len(x)):
        out[i] = looked_up_below(w, x[i], y)


@host_device
@pytest.mark.parametrize("kernel", [loop_behind_calls, loop_behind_more_calls])
@pytest.mark.parametrize("dtype", [np.uint16, np.int32, np.int64, np.uint64])
def test_a_remainder_that_a_called_function_does_not_compute(kernel, dtype):
    """The condition is in the function, or in one that it calls, and the loop has none."""
    w, y = np.arange(50, 53).astype(dtype), dtype(17)
    x = (np.arange(257) % 8 != 0).astype(dtype)
    out = np.zeros(257, np.int64)
    kernel[1, 1](out, w, x, y)
    np.testing.assert_array_equal(out, np.where(x > 0, 52 ^ 17, 17))


@cuda.jit
def counts(x, out, sums):
    """Of what every thread of a block adds to, none is lost, whatever becomes of the loop over them."""
    bins, t = cuda.shared.array(8, int32), cuda.threadIdx.x
    extent, total = cuda.shared.array(2, np.int64), cuda.shared.array(1, float64)
    if t < 8:
        bins[t] = 0
    if t == 0:
        extent[0], extent[1], total[0] = 2**62, -(2**62), 0
    cuda.syncthreads()
    value = x[cuda.grid(1)]
    cuda.atomic.add(bins, value & 7, 1)
    cuda.atomic.min(extent, 0, value)
    cuda.atomic.max(extent, 1, value)
    cuda.atomic.add(total, 0, value)
    cuda.syncthreads()
    if t < 8:
        out[cuda.blockIdx.x, t] = bins[t]
    if t == 0:
        sums[cuda.blockIdx.x, 0], sums[cuda.blockIdx.x, 1] = extent[0], extent[1]
        sums[cuda.blockIdx.x, 2] = total[0]


@cuda.jit
def takes_turns(x, out):
    cell, t = cuda.shared.array(6, np.uint32), cuda.threadIdx.x
    if t < 6:
        cell[t] = 0
    cuda.syncthreads()
    cuda.atomic.inc(cell, 0, 9)
    cuda.atomic.dec(cell, 1, 9)
    cuda.atomic.or_(cell, 2, x[t])
    cuda.atomic.xor(cell, 3, x[t])
    cuda.atomic.cas(cell, 4, t, t + 1)
    cuda.atomic.sub(cell, 5, 1)
    cuda.syncthreads()
    if t < 6:
        out[t] = cell[t]


@host_device
def test_threads_of_a_block_update_its_memory(rng):
    x = rng.integers(-1000, 1000, 1024)
    out, sums = np.zeros((4, 8), np.int64), np.zeros((4, 3))
    counts[4, 256](x, out, sums)
    blocks = x.reshape(4, 256)
    assert runs_as_loops(counts)
    assert out.tolist() == [np.bincount(block & 7, minlength=8).tolist() for block in blocks]
    assert sums.tolist() == np.stack([blocks.min(1), blocks.max(1), blocks.sum(1)], 1).tolist()
    assert "\tlock" not in next(iter(counts.inspect_asm().values()))
    flags, cells = rng.integers(0, 1 << 32, 64, np.uint32), np.zeros(6, np.uint32)
    takes_turns[1, 64](flags, cells)
    either, both = np.bitwise_or.reduce(flags), np.bitwise_xor.reduce(flags)
    assert cells.tolist() == [4, 6, either, both, 64, 2**32 - 64]
