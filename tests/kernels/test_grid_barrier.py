"""Barriers of a whole grid: cg.this_grid().sync(), on both devices."""

import numpy as np
import pytest

import krait
from krait import cuda, errors
from krait.cuda import cg


@cuda.jit
def diffuse(x, y, rounds):
    """Each round reads what other blocks wrote in the one before."""
    grid = cg.this_grid()
    i = grid.thread_rank()
    n = x.size
    for step in range(rounds):
        if step % 2 == 0:
            if i < n:
                y[i] = x[i - 1] + x[(i + 1) % n]
        else:
            if i < n:
                x[i] = y[i - 1] + y[(i + 1) % n]
        grid.sync()
    if rounds % 2 and i < n:
        x[i] = y[i]


@pytest.mark.parametrize("grid, block", [(1, 64), (7, 32), (3, (8, 4)), ((2, 3), 17)])
@pytest.mark.parametrize("rounds", [1, 2, 9])
def test_blocks_see_what_others_wrote(grid, block, rounds):
    n = int(np.prod(grid) * np.prod(block)) - 3
    x = np.arange(n) % 7
    expected = x.copy()
    for _ in range(rounds):
        expected = np.roll(expected, 1) + np.roll(expected, -1)
    d = cuda.to_device(x)
    diffuse[grid, block](d, cuda.to_device(np.zeros_like(x)), rounds)
    assert (d.copy_to_host() == expected).all()


def test_launches_of_one_kernel_on_several_streams_do_not_mix():
    xs = [cuda.to_device(np.ones(256, np.int64)) for _ in range(6)]
    ys = [cuda.to_device(np.zeros(256, np.int64)) for _ in range(6)]
    streams = [cuda.stream() for _ in xs]
    for x, y, stream in zip(xs, ys, streams):
        diffuse[8, 32, stream](x, y, 20)
    cuda.synchronize()
    assert all((x.copy_to_host() == 2**20).all() for x in xs)


def test_what_groups_tell():
    @cuda.jit
    def k(out):
        grid = cg.this_grid()
        out[grid.thread_rank()] = grid.block_rank() * 1000 + grid.num_blocks() * 100 + grid.num_threads()

    out = np.zeros(48, np.int64)
    k[(2, 3), 8](out)
    assert out.tolist() == [block * 1000 + 600 + 48 for block in range(6) for _ in range(8)]


def test_shared_memory_and_block_barriers_between():
    @cuda.jit
    def total(x, partial, out):
        s = cuda.shared.array(32, np.int64)
        t = cuda.threadIdx.x
        s[t] = x[cuda.grid(1)]
        cuda.syncthreads()
        if t == 0:
            sum = 0
            for value in s:
                sum += value
            partial[cuda.blockIdx.x] = sum
        cuda.syncgrid()
        if cuda.grid(1) == 0:
            for value in partial:
                out[0] += value

    out = np.zeros(1, np.int64)
    total[10, 32](np.arange(320), np.zeros(10, np.int64), out)
    assert out[0] == 319 * 160


def test_more_blocks_than_run_at_once_are_refused():
    x = cuda.to_device(np.ones(64, np.int64))
    diffuse[2, 32](x, x, 0)
    signature = diffuse.signatures[0]
    most = diffuse.overloads[signature].max_cooperative_grid_blocks(128)
    assert most == diffuse.max_cooperative_grid_blocks((16, 8), signature=signature) >= 16
    diffuse[most, 128](x, x, 1)
    with pytest.raises(ValueError, match="wait for each other.*max_cooperative_grid_blocks"):
        diffuse[most + 1, 128](x, x, 1)
    with pytest.raises(ValueError, match="1 to 1024"):
        diffuse.max_cooperative_grid_blocks(2048)
    cuda.synchronize()


def test_an_exception_ends_a_grid_that_waits():
    @cuda.jit
    def k(x, bad):
        grid = cg.this_grid()
        if grid.thread_rank() == bad:
            raise ValueError(bad)
        grid.sync()
        x[grid.thread_rank()] = 1
        grid.sync()

    d = cuda.to_device(np.zeros(128))
    for bad in (0, 70, 127):
        with pytest.raises(ValueError) as caught:
            k[4, 32](d, bad)
            cuda.synchronize()
        assert caught.value.args == (bad,)
    d.copy_to_device(np.zeros(128))
    k[4, 32](d, -1)  # the barrier works again
    assert (d.copy_to_host() == 1).all()


@pytest.mark.skipif(cuda.is_available(), reason="a GPU would wait for ever")
def test_a_block_that_goes_round_the_barrier_is_told():
    @cuda.jit
    def k(x):
        if cuda.blockIdx.x != 2:
            cuda.syncgrid()
        x[0] = 1

    told = r"block \(0, 0, 0\).*waits at line.*; block \(2, 0, 0\) ended without it"
    with pytest.raises(errors.LaunchError, match=told):
        k[4, 8](np.zeros(1))

    @cuda.jit
    def half(x):
        if cuda.threadIdx.x < 4:
            cuda.syncgrid()
        x[0] = 1

    with pytest.raises(errors.LaunchError, match="of the block was not reached"):
        half[4, 8](np.zeros(1))


def test_ptx_has_one_word_for_the_blocks():
    ptx, _ = cuda.compile_ptx(diffuse.py_func, (krait.int64[::1], krait.int64[::1], krait.int64), cc=(7, 0))
    assert ptx.count(".b8 krait_grid[4]") == 1 and "atom.add" in ptx.replace(".global", "").replace(".gpu", "")
    with pytest.raises(errors.KraitError, match="needs a GPU of compute capability 6.0"):
        cuda.compile_ptx(diffuse.py_func, (krait.int64[::1], krait.int64[::1], krait.int64), cc=(5, 2))
