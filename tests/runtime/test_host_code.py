"""Machine code for the host: entries of functions and ufuncs, vector math, life of code, many threads and processes."""

import gc
import math
import os
import subprocess
import sys
import threading

import numpy as np
import pytest

from krait import float32, float64, int64, njit, vectorize

# ---- NumPy's inner loop ----


@vectorize([float64(float64, float64), float32(float32, float32), int64(int64, int64)])
def twice_plus(a, b):
    return a + a + b


def reference(a, b):
    return a + a + b


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
@pytest.mark.parametrize("n", [0, 1, 7, 8, 9, 255, 256, 257, 1000, 5000])
@pytest.mark.parametrize("steps", [(1, 1, 1), (2, 1, 1), (1, 3, 1), (1, 1, 2), (-1, 2, 1), (1, 1, -3), (0, 1, 1),
                                   (1, 0, 2)])
def test_every_stride(dtype, n, steps):
    def operand(step, start):
        if step == 0:
            return dtype(start)
        whole = np.arange(start, start + n * abs(step) + 3).astype(dtype)
        return whole[: n * abs(step)][::step] if step > 0 else whole[n * -step - 1 :: step] if n else whole[:0]

    a, b = operand(steps[0], 1), operand(steps[1], 50)
    backing = np.full(n * abs(steps[2]) + 64, 77).astype(dtype)
    out = backing[32 : 32 + n * abs(steps[2])]
    out = out[:: steps[2]] if n else out
    twice_plus(a, b, out)
    np.testing.assert_array_equal(out, np.broadcast_to(reference(a, b), out.shape))
    assert (backing[:32] == 77).all() and (backing[-32:] == 77).all()


@vectorize([float64(float64, float64), float32(float32, float32)])
def heavy(a, b):
    return np.sqrt(a) / (b + 1)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n", [7, 8, 255, 256, 257, 1000])
@pytest.mark.parametrize("steps", [(1, 1, 1), (2, 1, 1), (-1, 2, 1), (1, 1, -3), (0, 1, 1), (1, 0, 2), (0, 0, 2)])
def test_every_stride_through_buffers(dtype, n, steps):
    """Of a function that takes longer than copying its operands."""
    a, b, out = (np.arange(3 * n + 1, dtype=dtype) if step else dtype(5) for step in (*steps[:2], 1))
    backing = np.full(3 * n + 64, 77, dtype)
    a, b = (x[: n * abs(step) : abs(step)][:: -1 if step < 0 else 1] if step else x for x, step in zip((a, b), steps))
    out = backing[32 : 32 + n * abs(steps[2]) : abs(steps[2])][:: -1 if steps[2] < 0 else 1]
    heavy(a, b, out)
    np.testing.assert_allclose(out, np.broadcast_to(np.sqrt(a) / (b + 1), out.shape), rtol=1e-6)
    assert (backing[:32] == 77).all() and (backing[-32:] == 77).all()


@pytest.mark.parametrize("declared, dtype", [("float64(float64)", np.float64), ("float32(float64)", np.float32),
                                             ("int32(float64)", np.int32), ("complex128(float64)", np.complex128)])
def test_a_declared_result_of_another_type(declared, dtype):
    whole = vectorize([declared])(lambda x: math.floor(x * 100.0))
    x = np.linspace(-9, 9, 1001)
    for part in (x, x[::3], x[:5]):
        got = whole(part)
        assert got.dtype == dtype
        np.testing.assert_array_equal(got, np.floor(part * 100).astype(dtype))


def test_declared_results_of_a_tuple():
    both = vectorize(["Tuple((float64, float32))(int64)"])(lambda x: (x + 1, x * 2))
    half, double = both(np.arange(100))
    assert (half.dtype, double.dtype) == (np.float64, np.float32)
    assert (half == np.arange(100) + 1).all() and (double == np.arange(100) * 2).all()


@pytest.mark.parametrize("shift", [-3, -1, 0, 1, 2, 5])
def test_results_over_their_own_operands(shift):
    memory = np.arange(600.0)
    want = memory.copy()
    lo, hi = max(0, -shift), 600 - max(0, shift)
    want[lo + shift : hi + shift] = reference(want[lo:hi].copy(), 1.0)
    twice_plus(memory[lo:hi], 1.0, memory[lo + shift : hi + shift])
    np.testing.assert_array_equal(memory, want)


@vectorize
def subtract(a, b):
    return a - b


def test_reduce_and_accumulate_go_in_order():
    x = np.random.default_rng(1).normal(size=1000)
    want = x[0]
    for value in x[1:]:
        want = want - value
    assert subtract.reduce(x) == want
    np.testing.assert_array_equal(subtract.accumulate(x), np.subtract.accumulate(x))
    square = x.reshape(20, 50)
    np.testing.assert_array_equal(subtract.accumulate(square, axis=0), np.subtract.accumulate(square, axis=0))
    np.testing.assert_array_equal(subtract.reduce(square, axis=0), np.subtract.reduce(square, axis=0))
    np.testing.assert_array_equal(subtract.outer(x[:30], x[:40]), np.subtract.outer(x[:30], x[:40]))


@vectorize
def below_ten(a):
    if a >= 10:
        raise ValueError("too large")
    return a


def test_a_ufunc_raises():
    assert (below_ten(np.arange(10)) == np.arange(10)).all()
    with pytest.raises(ValueError, match="too large"):
        below_ten(np.arange(1000))
    with pytest.raises(ValueError, match="too large"):
        below_ten(np.arange(1000)[::3])


# ---- math ----

SAMPLES = np.random.default_rng(9).uniform(0.01, 0.99, 10_001)
ONE_OPERAND = ["sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "atanh", "exp", "expm1",
               "log", "log2", "log10", "log1p", "cbrt", "erf", "erfc", "gamma", "lgamma"]


@pytest.mark.parametrize("name", ONE_OPERAND)
def test_math_in_a_loop_gives_the_interpreters_bits(name):
    if not hasattr(math, name):
        pytest.skip(f"this Python has no math.{name}")
    function = getattr(math, name)

    @njit
    def loop(x, out):
        for i in range(x.size):
            out[i] = function(x[i])

    out = np.zeros_like(SAMPLES)
    loop(SAMPLES, out)
    assert out.tolist() == [function(value) for value in SAMPLES.tolist()]


@pytest.mark.parametrize("name", ["sin", "cos", "tan", "arctan", "exp", "log", "tanh", "cbrt", "log1p", "expm1"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_numpy_functions_in_a_loop_are_within_4_units_in_the_last_place(name, dtype):
    function = getattr(np, name)

    @njit
    def loop(x, out):
        for i in range(x.size):
            out[i] = function(x[i])

    x = SAMPLES.astype(dtype)
    out = np.zeros_like(x)
    loop(x, out)
    exact = function(x.astype(np.longdouble)).astype(dtype)
    assert (np.abs(out - exact) <= 4 * np.spacing(np.abs(exact))).all()


# ---- life ----


def resident_bytes():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")


def compile_and_call(constant):
    def add(a):
        return a + constant

    assert njit(add)(1) == 1 + constant


@pytest.mark.skipif("libasan" in os.environ.get("LD_PRELOAD", ""), reason="the sanitizer keeps freed memory")
def test_code_nobody_needs_is_freed():
    for i in range(50):
        compile_and_call(i)
    gc.collect()
    before = resident_bytes()
    for i in range(400):
        compile_and_call(i)
    gc.collect()
    assert resident_bytes() - before < 8 << 20, "20 KB for each function is a leak"


def test_threads_compile_and_call_at_once():
    failures = []

    def work(start):
        try:
            for i in range(start, start + 15):
                compile_and_call(i)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(100 * k,)) for k in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


FORK = """
import os, threading
from krait import njit

def compile_and_call(constant):
    def add(a):
        return a + constant
    assert njit(add)(1) == 1 + constant

stop = False
def work(i=0):
    while not stop:
        compile_and_call(i)
        i += 1

threads = [threading.Thread(target=work) for _ in range(3)]
for thread in threads:
    thread.start()
for k in range(10):
    child = os.fork()
    if child == 0:
        compile_and_call(1000 + k)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
stop = True
for thread in threads:
    thread.join()
print("fine")
"""


def test_fork_while_others_compile():
    result = subprocess.run([sys.executable, "-W", "ignore", "-c", FORK], capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip() == "fine"


# ---- text ----


def test_assembly_is_of_this_processor():
    @njit
    def scale(x):
        for i in range(x.size):
            x[i] *= 2.0

    scale(np.ones(3))
    (text,) = scale.inspect_asm().values()
    assert "scale" in text and "ret" in text


def test_the_level_of_a_program(monkeypatch):
    """KRAIT_OPT is of all that does not say; nothing but the code depends on it."""
    codes = []
    for level in ("0", "1", "3", ""):
        monkeypatch.setenv("KRAIT_OPT", level)
        scale = njit(lambda x, by: (x * by + x[::-1]).sum())
        assert scale(np.arange(5.0), 3.0) == 40.0
        codes += scale.inspect_asm().values()
    assert len(codes[0]) > len(codes[1]) and len(codes[2]) == len(codes[3])
    for wrong in ("4", "-1", "30", "fast"):
        monkeypatch.setenv("KRAIT_OPT", wrong)
        with pytest.raises(ValueError, match=f"KRAIT_OPT is 0 to 3, not '{wrong}'"):
            njit(lambda x: x)


def test_numpy_random_is_found_while_other_threads_open_libraries():
    """As they do that import a module: the loader's locks are taken in one order."""
    child = """
import ctypes, threading
import numpy as np
from krait import njit

libc, done = ctypes.CDLL(None), False
libc.dlopen.restype, libc.dlclose.argtypes = ctypes.c_void_p, [ctypes.c_void_p]

def opens():
    while not done:
        handle = libc.dlopen(b"libutil.so.1", 2) or libc.dlopen(b"libz.so.1", 2)
        handle and libc.dlclose(handle)

threads = [threading.Thread(target=opens, daemon=True) for _ in range(2)]
[thread.start() for thread in threads]
for i in range(20):
    njit(lambda r: r.gamma(2.0) + r.binomial(3, 0.5) + r.weibull(2.0))(np.random.default_rng(i))
done = True
print("done")
"""
    result = subprocess.run([sys.executable, "-c", child], capture_output=True, text=True, timeout=100)
    assert result.stdout == "done\n", result.stderr
