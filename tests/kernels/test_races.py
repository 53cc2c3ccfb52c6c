"""check='race': data races between the threads of a launch on the host device are errors that name both lines."""

import warnings

import numpy as np
import pytest
from conftest import host_device

from krait import cuda, errors

pytestmark = host_device

N = 64


def line_of(kernel, text):
    """The line of the source that ends in this comment."""
    import inspect

    lines, first = inspect.getsourcelines(kernel)
    return first + next(i for i, line in enumerate(lines) if line.rstrip().endswith(text))


def raced(kernel, *args, grid=1, block=N):
    with pytest.raises(errors.LaunchError) as caught:
        cuda.jit(check="race")(kernel)[grid, block](*args)
    return str(caught.value)


def fine(kernel, *args, grid=1, block=N):
    cuda.jit(check="race")(kernel)[grid, block](*args)


# ---- races ----


def neighbours(out):
    part = cuda.shared.array(N, np.float32)
    t = cuda.threadIdx.x
    part[t] = t  # writes
    out[t] = part[N - 1 - t]  # reads


def test_shared_memory_without_a_barrier():
    message = raced(neighbours, np.zeros(N, np.float32))
    assert message == (
        f"a data race in shared memory: line {line_of(neighbours, '# reads')} in neighbours reads an element (block "
        f"(0, 0, 0), thread (31, 0, 0)) that line {line_of(neighbours, '# writes')} in neighbours writes (block "
        "(0, 0, 0), thread (32, 0, 0)), and nothing puts them in order\n"
        "  hint: put cuda.syncthreads() between the two, or update it with cuda.atomic"
    )


def counts(total, x):
    total[0] += x[cuda.grid(1)]


def test_global_memory_of_one_block():
    message = raced(counts, np.zeros(1, np.int64), np.ones(N, np.int64))
    assert "a data race in global memory: line" in message and "counts writes an element" in message
    assert "thread (0, 0, 0)) that line" in message and "thread (1, 0, 0)), and nothing" in message


def shifts(x):
    i = cuda.grid(1)
    if i + 1 < x.size:
        x[i] = x[i + 1]


def test_global_memory_of_two_blocks():
    message = raced(shifts, np.arange(4 * N), grid=4 * N, block=1)
    assert "(block (0, 0, 0), thread (0, 0, 0))" in message and "(block (1, 0, 0), thread (0, 0, 0))" in message
    assert message.endswith("blocks run in any order: update it with cuda.atomic, or use a launch for each step")


def test_a_race_in_a_device_function_names_its_line():
    @cuda.jit(device=True)
    def put(x, value):
        x[0] = value

    def kernel(x):
        put(x, cuda.grid(1))

    message = raced(kernel, np.zeros(1, np.int64))
    assert message.count(f"line {line_of(put.py_func, 'x[0] = value')} in ") == message.count(".put writes") == 2


def test_atomics_race_with_plain_accesses():
    def kernel(x):
        cuda.atomic.add(x, 0, 1)
        if cuda.grid(1) == 3:
            x[0] = 7

    assert "atomically updates" in raced(kernel, np.zeros(1, np.int64))


def test_the_second_round_of_a_loop_races_with_the_first():
    def kernel(out):
        part = cuda.shared.array(N, np.int32)
        t = cuda.threadIdx.x
        for step in range(2):
            part[t] = t + step
            cuda.syncthreads()
            out[step, t] = part[(t + 1) % N]  # the barrier behind it is missing

    assert "shared memory" in raced(kernel, np.zeros((2, N), np.int32))


@pytest.mark.parametrize("dtype", [np.int8, np.float16, np.float64, np.complex128])
def test_items_of_every_size(dtype):
    def kernel(x):
        x[cuda.grid(1) // 2] = 1

    def apart(x):
        x[cuda.grid(1)] = 1

    assert "writes" in raced(kernel, np.zeros(N, dtype))
    fine(apart, np.zeros(N, dtype))


def test_a_launch_that_is_too_large_to_watch_says_so():
    def kernel(x):
        x[0] = cuda.grid(1)

    with pytest.warns(RuntimeWarning, match=r"did not look at all of a launch of kernel: more than 2\*\*24 threads"):
        fine(kernel, np.zeros(1), grid=(1 << 14) + 1, block=1024)
    with pytest.raises(RuntimeWarning), warnings.catch_warnings():
        warnings.simplefilter("error")
        fine(kernel, np.zeros(1), grid=(1 << 14) + 1, block=1024)


# ---- no races ----


def block_sum(x, total):
    part = cuda.shared.array(N, np.float32)
    t = cuda.threadIdx.x
    part[t] = x[cuda.grid(1)]
    cuda.syncthreads()
    step = N // 2
    while step:
        if t < step:
            part[t] += part[t + step]
        cuda.syncthreads()
        step //= 2
    if t == 0:
        cuda.atomic.add(total, 0, part[0])


def test_barriers_and_atomics_put_accesses_in_order():
    x, total = np.ones(8 * N, np.float32), np.zeros(1, np.float32)
    fine(block_sum, x, total, grid=8)
    assert total[0] == 8 * N


def test_local_arrays_are_of_one_thread():
    def kernel(out):
        mine = cuda.local.array(4, np.int32)
        for i in range(4):
            mine[i] = i * cuda.grid(1)
        out[cuda.grid(1)] = mine[3]

    out = np.zeros(4 * N, np.int32)
    fine(kernel, out, grid=4)
    np.testing.assert_array_equal(out, 3 * np.arange(4 * N))


def test_the_barrier_of_a_warp():
    def with_it(x):
        part = cuda.shared.array(32, np.int32)
        t = cuda.threadIdx.x
        part[t] = t
        cuda.syncwarp()
        x[t] = part[31 - t]

    fine(with_it, np.zeros(32, np.int32), block=32)


def test_the_last_block_reads_what_the_others_released():
    def kernel(x, parts, count, total):
        i = cuda.grid(1)
        last = cuda.shared.array(1, np.int32)
        if cuda.threadIdx.x == 0:
            parts[cuda.blockIdx.x] = x[i]
            cuda.threadfence()
            last[0] = cuda.atomic.add(count, 0, 1) == cuda.gridDim.x - 1
        cuda.syncthreads()
        if last[0] and cuda.threadIdx.x == 0:
            for k in range(parts.size):
                total[0] += parts[k]

    x, total = np.arange(8.0), np.zeros(1)
    fine(kernel, np.repeat(x, 4), np.zeros(8), np.zeros(1, np.int32), total, grid=8, block=4)
    assert total[0] == x.sum()


def test_the_barrier_of_a_grid():
    def kernel(x, y):
        i = cuda.grid(1)
        x[i] = i
        cuda.cg.this_grid().sync()
        y[i] = x[x.size - 1 - i]

    y = np.zeros(4 * N)
    fine(kernel, np.zeros(4 * N), y, grid=4)
    np.testing.assert_array_equal(y, np.arange(4 * N)[::-1])


def test_blocks_have_shared_memory_of_their_own():
    def kernel(out):
        one = cuda.shared.array(1, np.int32)
        if cuda.threadIdx.x == 0:
            one[0] = cuda.blockIdx.x
        cuda.syncthreads()
        out[cuda.grid(1)] = one[0]

    out = np.zeros(4 * N, np.int32)
    fine(kernel, out, grid=4)
    np.testing.assert_array_equal(out, np.arange(4 * N) // N)


# ---- the option ----


def test_it_checks_as_check_true_does_and_says_what_it_takes():
    def outside(x):
        x[cuda.grid(1) + 1] = 1

    with pytest.raises(IndexError, match="index 1 is out of bounds for axis 0 with size 1"):
        fine(outside, np.zeros(1), block=1)
    with pytest.raises(TypeError, match="option check is True, False or 'race', not 'races'"):
        cuda.jit(check="races")(outside)
    cuda.jit(neighbours)[1, N](np.zeros(N, np.float32))  # nobody asked


def test_the_next_launch_starts_anew():
    kernel = cuda.jit(check="race")(counts)
    with pytest.raises(errors.LaunchError):
        kernel[1, N](np.zeros(1, np.int64), np.ones(N, np.int64))
    kernel[1, 1](np.zeros(1, np.int64), np.ones(N, np.int64))
