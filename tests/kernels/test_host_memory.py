"""Kernels on the cores of this machine: atomics, accesses outside arrays, blocks that run as one loop.

Where there is a GPU, kernels run there unless told; this file then runs itself again in a process that is told.
"""

import os
import warnings

import numpy as np
import pytest
from conftest import host_device, on_the_gpu, run_on_the_host
from host_kernels import run_in_child

from krait import cuda, errors, int32


@on_the_gpu
def test_this_file_on_the_host_device():
    run_on_the_host(__file__)


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


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32, np.int64])
def test_loaded_indices_count_from_either_end(dtype):
    @cuda.jit
    def gather(x, rows, columns, out):
        i = cuda.grid(1)
        out[i] = x[rows[i], columns[i]] + 100 * x[rows[i] - 1, columns[i] + 1]

    x = np.arange(30).reshape(5, 6)
    rows = np.array([0, 4, -4, 2, -1, 1, -2, 3], dtype)
    columns = np.array([0, 4, -6, -3, -2, 1, 3, -4], dtype)
    out = np.zeros(8, np.int64)
    gather[1, 8](x, rows, columns, out)
    assert out.tolist() == (x[rows, columns] + 100 * x[rows - 1, columns + 1]).tolist()
