"""Twelve faults that people make in kernels: each gives the message that says what, where and what to do.

PYTEST_DONT_REWRITE: what an assert statement of a kernel says is the kernel's.
"""

import inspect
import traceback

import numpy as np
import pytest
from conftest import ON_HOST, host_device

from krait import cuda

GLOBAL = "hint: blocks run in any order: update it with cuda.atomic, or use a launch for each step"


@cuda.jit(device=True)
def limited(value):
    if value > 5:
        raise ValueError(f"{value} is too large")  # here
    return value


@cuda.jit(device=True)
def deep(n):
    return n + deep(n + 1) if n >= 0 else 0


def index_outside(x):
    x[cuda.grid(1) + 1] = 1  # here


def index_far_below(x):
    x[cuda.grid(1) - 70] = 1  # here


def division(x):
    x[0] = 7 // (cuda.grid(1) - 3)  # here


def assertion(x):
    i = cuda.grid(1)
    assert i < 40, f"thread {i} has nothing to do"  # here
    x[i] = 1


def raise_in_a_device_function(x):
    x[cuda.grid(1)] = limited(cuda.grid(1))


def missed_barrier(x):
    if cuda.threadIdx.x < 48:
        cuda.syncthreads()  # here


def wrong_mask(x):
    if cuda.threadIdx.x < 16:
        x[0] = cuda.shfl_sync(0xFFFFFFFF, x[0], 0)  # here


def race_in_shared_memory(x):
    part = cuda.shared.array(64, np.float32)
    part[cuda.threadIdx.x] = 1  # here
    x[cuda.threadIdx.x] = part[cuda.threadIdx.x ^ 1]  # there


def race_in_global_memory(x):
    if cuda.threadIdx.x == 0:
        x[0] += 1  # here


def stack_overflow(x):
    x[0] = deep(1)


def unsupported_type(x, settings):
    x[0] = settings["scale"]


def shape_from_an_argument(x, n):
    part = cuda.shared.array(n, np.float32)  # here
    part[0] = x[0]


def line_of(function, mark):
    lines, first = inspect.getsourcelines(getattr(function, "py_func", function))
    return next((first + i for i, line in enumerate(lines) if line.rstrip().endswith(f"# {mark}")), 0)


def failure(kernel, *more, grid=1, **options):
    """What a user reads: class, message and notes; the last line of the traceback."""
    with pytest.raises(Exception) as caught:
        cuda.jit(**options)(kernel)[grid, 64](np.ones(64, np.float32), *more)
        cuda.synchronize()
    error = caught.value
    text = "\n".join([f"{type(error).__name__}: {error}", *getattr(error, "__notes__", [])])
    return text, traceback.extract_tb(error.__traceback__)[-1].lineno


RAISED = "raised in block (0, 0, 0), thread ({}, 0, 0) of kernel {}"


@pytest.mark.parametrize("kernel, thread, message, at", [
    (index_outside, 63, "IndexError: index 64 is out of bounds for axis 0 with size 64", index_outside),
    (index_far_below, 0, "IndexError: index -70 is out of bounds for axis 0 with size 64", index_far_below),
    (division, 3, "ZeroDivisionError: integer division or modulo by zero", division),
    (assertion, 40, "AssertionError: thread 40 has nothing to do", assertion),
    (raise_in_a_device_function, 6, "ValueError: 6 is too large", limited),
])
def test_what_a_thread_raises(kernel, thread, message, at):
    text, line = failure(kernel, check=True)
    if not ON_HOST:  # whichever thread comes first
        assert text.split(":")[0] == message.split(":")[0] and line == line_of(at, "here")
        return
    assert (text, line) == (f"{message}\n{RAISED.format(thread, kernel.__name__)}", line_of(at, "here"))


ON_THE_HOST = host_device  # a GPU hangs, or says nothing


@ON_THE_HOST
def test_missed_barrier():
    line = line_of(missed_barrier, "here")
    assert failure(missed_barrier) == (
        "LaunchError: a barrier of the block was not reached by all of its threads: block (0, 0, 0), thread (0, 0, 0) "
        f"waits at line {line} in missed_barrier; thread (48, 0, 0) and 15 more ended without it\n"
        "  hint: move the barrier out of the branch or loop that only some threads take, to a line that all of them "
        "reach; only threads that a `return` has ended before are not waited for", line)


@ON_THE_HOST
def test_wrong_mask():
    line = line_of(wrong_mask, "here")
    assert failure(wrong_mask) == (
        "LaunchError: an operation of a warp was not reached by all lanes of its mask: block (0, 0, 0), thread "
        f"(0, 0, 0) waits at line {line} in wrong_mask for the lanes 0xffffffff; thread (16, 0, 0) and 15 more ended "
        "without it\n  hint: every lane that the mask names must come to the same call with the same mask; a mask made "
        "with cuda.ballot_sync before a branch names the lanes that take it", line)


@ON_THE_HOST
def test_race_in_shared_memory():
    here, there = line_of(race_in_shared_memory, "here"), line_of(race_in_shared_memory, "there")
    assert failure(race_in_shared_memory, check="race") == (
        f"LaunchError: a data race in shared memory: line {there} in race_in_shared_memory reads an element (block "
        f"(0, 0, 0), thread (0, 0, 0)) that line {here} in race_in_shared_memory writes (block (0, 0, 0), thread "
        "(1, 0, 0)), and nothing puts them in order\n"
        "  hint: put cuda.syncthreads() between the two, or update it with cuda.atomic", here)


@ON_THE_HOST
def test_race_in_global_memory():
    line = line_of(race_in_global_memory, "here")
    assert failure(race_in_global_memory, grid=2, check="race") == (
        f"LaunchError: a data race in global memory: line {line} in race_in_global_memory writes an element (block "
        f"(0, 0, 0), thread (0, 0, 0)) that line {line} in race_in_global_memory reads (block (1, 0, 0), thread "
        f"(0, 0, 0)), and nothing puts them in order\n  {GLOBAL}", line)


@ON_THE_HOST
def test_stack_overflow():
    text, _ = failure(stack_overflow)
    assert text == f"RecursionError: maximum recursion depth exceeded\n{RAISED.format(0, 'stack_overflow')}"


def test_unsupported_type():
    assert failure(unsupported_type, {"scale": 2.0})[0] == (
        "TypeError: unsupported_type(), argument 'settings': a value of type dict cannot be an argument of a kernel: "
        "it takes numbers, NumPy arrays, device arrays, tuples and namedtuples of them, instances that hold such, None "
        "and functions; pass the values that are needed as separate arguments, or as a tuple")


def test_misuse_of_a_shared_shape():
    line = line_of(shape_from_an_argument, "here")
    source = "    part = cuda.shared.array(n, np.float32)  # here"
    assert failure(shape_from_an_argument, 5)[0] == (
        "TypingError: this int must be known when the function is compiled, and `n` is not\n"
        f'  File "{__file__}", line {line}, in shape_from_an_argument\n{source}\n'
        "           " + "^" * len("cuda.shared.array(n, np.float32)") + "\n"
        "  hint: use literals or global constants; for a size that the launch decides, cuda.shared.dynamic(shape, "
        "dtype) and kernel[grid, block, stream, bytes]")
