"""One test for every defect that was once found: the smallest program that showed it."""

import dis
import math
import threading
import types

import numpy as np
import pytest
from krait import cuda, errors, njit, vectorize

from oracle import agree, agree_all, make


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


# ---- what LLVM believes of the C library's functions is not always so ----


REMAINDERS = ["math.nan % x", "(x * 0.0) % 1.0", "x % math.inf", "math.nan // x", "divmod(x * 0.0, 1.0)",
              "math.fmod(x * 0.0, 1.0)", "np.fmod(x * 0.0, 1.0)", "np.float32(x * 0.0) % np.float32(1)"]


@pytest.mark.parametrize("text", REMAINDERS)
def test_remainders_of_nan_are_nan(text):
    agree_all(make(f"def f(x): return {text}"), [(v,) for v in (math.inf, -math.inf, math.nan, 2.5, -1.0)])


def test_a_remainder_by_a_quotient_that_may_be_zero():
    def f(x, a):
        x = x - x
        v = (3.25 <= x == a[1]) / 3
        w = a[0] // (x // v)
        if w or np.uint64(v):
            pass
        return a

    agree(f, np.int16(-3), np.ones(4, bool))


@pytest.mark.parametrize("text", ["2.0 ** x", "math.pow(2.0, x)", "10.0 ** x", "np.float32(2) ** np.float32(x)"])
def test_powers_are_those_of_the_c_library(text):
    numbers = np.random.default_rng(7).uniform(-50, 50, 2000).tolist()
    agree_all(make(f"def f(x): return {text}"), [(v,) for v in numbers])


# ---- floats that do not fit NumPy's integers raise, as there ----

ODD_FLOATS = [1e19, 1e20, -1.0, -0.5, 9.3e18, -1e19, math.nan, math.inf, -math.inf, 300.7, 2.0**63, 4e9, -(2.0**63),
              2.0**64, 127.99, 128.0, -128.9, -129.0, 65535.5, 65536.0, 2.0**32, -(2.0**31), 2.0**31]


@pytest.mark.parametrize("kind", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"])
def test_numpy_integers_of_python_floats(kind):
    agree_all(make(f"def f(x): return np.{kind}(x)"), [(v,) for v in ODD_FLOATS])
    for value in ODD_FLOATS:
        agree(make(f"def f(): return np.{kind}(VALUE)", VALUE=value))
