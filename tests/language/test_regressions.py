"""One test for every defect that was once found: the smallest program that showed it."""

import dis
import threading
import types

import numpy as np
import pytest
from krait import cuda, errors, njit, vectorize

from oracle import agree


@njit
def depth(n):
    if n == 0:
        return 1
    below = depth(n - 1)
    return (below * below + n) % 1000003


def expected_depth(n):
    value = 1
    for i in range(1, n + 1):
        value = (value * value + i) % 1000003
    return value


# ---- recursion too deep for the stack raises, as in the interpreter ----


def test_deep_recursion_raises():
    assert depth(20000) == expected_depth(20000)
    agree(depth, 10**7)
    with pytest.raises(RecursionError):
        vectorize(lambda n: depth(n))(np.array([1, 10**7]))


def test_deep_mutual_recursion_raises():
    @njit
    def even(n):
        return True if n == 0 else not odd(n - 1)

    def odd(n):
        return False if n == 0 else not even(n - 1)

    agree(even, 11)
    agree(even, 10**7)


def test_deep_recursion_in_threads_raises():
    outcomes = []

    def work():
        try:
            depth(10**7)
        except RecursionError as error:
            outcomes.append(error.args)

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes == [("maximum recursion depth exceeded",)] * 3


@pytest.mark.skipif(cuda.is_available(), reason="a GPU ends the launch")
@pytest.mark.parametrize("barrier", [False, True])
def test_deep_recursion_in_kernels_raises(barrier):
    @cuda.jit
    def kernel(a, n):
        if barrier:
            cuda.syncthreads()
        a[cuda.grid(1)] = depth(n)

    a = np.zeros(64, np.int64)
    kernel[2, 32](a, 500)
    assert (a == expected_depth(500)).all()
    with pytest.raises(RecursionError):
        kernel[2, 32](a, 10**7)


# ---- a callee that is changed in place (as autoreload does) is compiled anew ----


def plus(x, y=1, *, z=0):
    return x + y + z


@njit
def calls_plus(x):
    return plus(x)


def test_a_changed_callee_is_compiled_again():
    code = plus.__code__
    try:
        assert calls_plus(1) == 2
        plus.__defaults__ = (50,)
        assert calls_plus(1) == 51
        plus.__kwdefaults__ = {"z": 100}
        assert calls_plus(1) == 151
        plus.__code__ = (lambda x, y=1, *, z=0: x * 1000).__code__
        assert calls_plus(1) == 1000
    finally:
        plus.__code__, plus.__defaults__, plus.__kwdefaults__ = code, (1,), {"z": 0}
    assert calls_plus(1) == 2


# ---- arrays without dimensions are updated in place ----


@pytest.mark.parametrize("dtype", ["u1", "i8", "f4", "c16"])
def test_arrays_without_dimensions_in_place(dtype):
    def update(a, b):
        a += b
        a *= 2
        return a

    for b in (3, np.int8(5), np.array(4, dtype)):
        if dtype != "u1" or not isinstance(b, np.int8):  # NumPy refuses int8 into uint8
            agree(update, np.array(7, dtype), b)


# ---- bytecode that no compiler makes is refused ----


def test_operands_that_are_not_there_are_refused():
    def add(x):
        return x + 1

    code = add.__code__
    numbers = [i for i in dis.get_instructions(code) if i.opname in ("LOAD_FAST", "LOAD_CONST")]
    assert {i.opname for i in numbers} == {"LOAD_FAST", "LOAD_CONST"}
    for instruction in numbers:
        changed = bytearray(code.co_code)
        changed[instruction.offset + 1] = 154
        broken = types.FunctionType(code.replace(co_code=bytes(changed)), {})
        with pytest.raises(errors.UnsupportedError, match="bytecode"):
            njit(broken)(1)
