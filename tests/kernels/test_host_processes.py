"""Kernels on the cores of this machine: what they raise, processes and threads, limits of a real GPU.

Where there is a GPU, kernels run there unless told; this file then runs itself again in a process that is told.
"""

import itertools
import math
import os
import subprocess
import sys
import threading

import numpy as np
import pytest
from conftest import host_device, on_the_gpu, run_on_the_host
from host_kernels import block_sums, early_exit, run_in_child, saxpy

from krait import cuda, errors


@on_the_gpu
def test_this_file_on_the_host_device():
    run_on_the_host(__file__)


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
