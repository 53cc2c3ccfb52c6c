"""Arrays on a device that kernels find among their globals and in closures: used where they lie.

PYTEST_DONT_REWRITE: kernels are taken as they are written.
"""

import threading
import time

import numpy as np
import pytest

from conftest import host_device
from krait import cuda

table = cuda.to_device(np.arange(10.0))
pairs = np.dtype([("x", np.float32), ("n", np.int64)])


@cuda.jit
def look_up(out):
    i = cuda.grid(1)
    if i < table.size:
        out[i] = table[i] * 2 + len(table)


def test_a_global_is_read_as_it_is_at_the_launch():
    global table
    out = np.zeros(10)
    look_up[1, 32](out)
    assert out.tolist() == [2 * k + 10 for k in range(10)]
    table.copy_to_device(np.ones(10))
    look_up[1, 32](out)
    assert out.tolist() == [12.0] * 10
    table = cuda.to_device(np.full(10, 3.0))  # another array: the kernel is compiled anew
    look_up[1, 32](out)
    assert out.tolist() == [16.0] * 10


def made(array):
    @cuda.jit(device=True)
    def at(i, j):
        return array[i, j]

    @cuda.jit
    def kernel(out):
        i, j = cuda.grid(2)
        if i < array.shape[0] and j < array.shape[1]:
            out[i, j] = at(i, j)
            array[i, j] = -1

    return kernel


@pytest.mark.parametrize("change", [lambda a: a, np.asfortranarray, lambda a: a.astype(np.int8)],
                         ids=["C", "Fortran", "int8"])
def test_a_closure_writes_to_its_array(change, rng):
    host = change(rng.integers(0, 100, (5, 7)).astype(float))
    array, out = cuda.to_device(host), np.zeros((5, 7))
    made(array)[(1, 1), (8, 8)](out)
    assert np.array_equal(out, host) and np.all(array.copy_to_host() == -1)


def test_a_part_of_an_array_and_records(rng):
    whole = cuda.to_device(np.arange(24.0).reshape(4, 6))
    part, out = whole[1:3, ::2], np.zeros((2, 3))
    made(part)[(1, 1), (8, 8)](out)
    assert out.tolist() == [[6, 8, 10], [12, 14, 16]]
    records = cuda.to_device(np.array([(1, 2), (3, 4)], pairs))

    @cuda.jit
    def kernel(out):
        out[0] = records[1].x + records["n"][0]

    kernel[1, 1](out[0])
    assert out[0, 0] == 5


def test_it_is_also_an_argument():
    both = cuda.to_device(np.arange(4.0))

    @cuda.jit
    def kernel(argument, out):
        before = both[2]
        argument[2] = 50
        out[0] = before + both[2]

    out = np.zeros(1)
    kernel[1, 1](both, out)
    assert out[0] == 52


def test_the_kernel_keeps_it_alive():
    kernel = made(cuda.to_device(np.full((3, 3), 7.0)))
    out = np.zeros((3, 3))
    kernel[(1, 1), (4, 4)](out)
    others = [cuda.to_device(np.zeros((3, 3))) for _ in range(8)]
    kernel[(1, 1), (4, 4)](out)
    assert np.all(out == -1) and not any(other.copy_to_host().any() for other in others)


@pytest.mark.parametrize("gone", [lambda array: array.free(), lambda array: cuda.get_current_device().reset()],
                         ids=["freed", "reset"])
def test_memory_that_is_gone_is_refused(gone):
    array, host = cuda.to_device(np.full((3, 3), 7.0)), np.zeros((3, 3))
    kernel = made(array)
    kernel[(1, 1), (4, 4)](host)
    gone(array)
    for target in host, cuda.to_device(host), host.astype(np.float32):
        before = host.copy()
        with pytest.raises(RuntimeError, match="^the array's memory is gone: it was freed, or its device was reset$"):
            kernel[(1, 1), (4, 4)](target)
        assert np.array_equal(host, before)
    with pytest.raises(RuntimeError, match="memory is gone"):
        made(array)[(1, 1), (4, 4)](host)


def test_memory_that_is_gone_is_refused_by_a_graph():
    array, out = cuda.to_device(np.full((3, 3), 7.0)), cuda.to_device(np.zeros((3, 3)))
    kernel = made(array)
    kernel[(1, 1), (4, 4)](out)
    with cuda.graph() as graph:
        kernel[(1, 1), (4, 4)](out)
    graph.launch()
    try:
        array.free()
    except BufferError as error:  # a GPU has the address in the graph
        assert "in use by a graph" in str(error)
    else:
        with pytest.raises(RuntimeError, match="memory is gone"):
            graph.launch()


def test_the_base_of_a_part_stays():
    whole = cuda.to_device(np.arange(24.0).reshape(4, 6))
    kernel, out = made(whole[1:3, ::2]), np.zeros((2, 3))
    kernel[(1, 1), (8, 8)](out)
    with pytest.raises(BufferError, match="in use by a view"):
        whole.free()
    kernel[(1, 1), (8, 8)](out)
    assert np.all(out == -1)


@host_device  # a GPU frees it behind the kernel: tests/runtime/test_fake_driver.py
def test_memory_stays_while_the_kernel_runs():
    array, out, flags = cuda.to_device(np.ones(1)), np.zeros(1), np.ones(2, np.int64)

    @cuda.jit
    def kernel(out, flags):
        flags[0] = 1
        n = 0
        while cuda.atomic.add(flags, 1, 0) == 0 and n < 2**31:
            n += 1
        out[0] = array[0]

    kernel[1, 1](out, flags)
    out[:] = flags[:] = 0
    other = threading.Thread(target=kernel[1, 1], args=(out, flags))
    other.start()
    while flags[0] == 0:
        time.sleep(0.001)
    try:
        with pytest.raises(BufferError, match="in use by a launch or a copy that is running"):
            array.free()
    finally:
        flags[1] = 1
        other.join()
    assert out[0] == 1
    array.free()
