"""Atomic operations on every type they take, loads and stores with cache hints: on the GPU if there is one, else on the
host device."""

import numpy as np
import pytest

from krait import cuda, errors

SIGNED, UNSIGNED = [np.int8, np.int16, np.int32, np.int64], [np.uint8, np.uint16, np.uint32, np.uint64]
FLOATS = [np.float16, np.float32, np.float64]


@cuda.jit
def arithmetic(out, x):
    i = cuda.grid(1)
    cuda.atomic.add(out, 0, x[i])
    cuda.atomic.sub(out, 1, x[i])


@pytest.mark.parametrize("dtype", SIGNED + UNSIGNED + FLOATS + [np.complex64, np.complex128])
def test_sums(dtype):
    x = (np.arange(64) % 5 - (1 if np.dtype(dtype).kind in "ifc" else 0)).astype(dtype)
    if np.dtype(dtype).kind == "c":
        x = (x * (1 + 2j)).astype(dtype)
    out = np.zeros(3, dtype)
    arithmetic[2, 32](out, x)
    total = x.sum(dtype=dtype, keepdims=True)
    assert out.tolist() == [total[0], (np.zeros(1, dtype) - total)[0], 0]


@cuda.jit
def extremes(out, x):
    i = cuda.grid(1)
    cuda.atomic.max(out, 0, x[i])
    cuda.atomic.min(out, 1, x[i])
    cuda.atomic.nanmax(out, 2, x[i])
    cuda.atomic.nanmin(out, 3, x[i])


@pytest.mark.parametrize("dtype", SIGNED + UNSIGNED + FLOATS)
def test_extremes(dtype):
    x = np.random.default_rng(3).integers(0, 120, 64).astype(dtype)
    if np.dtype(dtype).kind == "f":
        x[::2] *= -1
    out = np.array([50] * 4, dtype)
    extremes[2, 32](out, x)
    assert out.tolist() == [max(x.max(), 50), min(x.min(), 50)] * 2


@cuda.jit
def bitwise(out, x, old):
    i = cuda.grid(1)
    cuda.atomic.and_(out, 0, x[i])
    cuda.atomic.or_(out, 1, x[i])
    cuda.atomic.xor(out, 2, x[i])
    old[i] = cuda.atomic.exch(out, 3, x[i])


@pytest.mark.parametrize("dtype", SIGNED + UNSIGNED)
def test_bits_and_exchange(dtype):
    x = (np.arange(1, 65) | 64).astype(dtype)
    out, old = np.array([127, 0, 0, 99], dtype), np.zeros(64, dtype)
    bitwise[2, 32](out, x, old)
    assert out[:3].tolist() == [np.bitwise_and.reduce(x), np.bitwise_or.reduce(x), np.bitwise_xor.reduce(x)]
    assert sorted(old.tolist() + [out[3]]) == sorted(x.tolist() + [99])


@cuda.jit
def wrap_round(out):
    cuda.atomic.inc(out, 0, 6)
    cuda.atomic.dec(out, 1, 6)


@pytest.mark.parametrize("dtype", UNSIGNED)
def test_counters_that_wrap(dtype):
    out = np.array([0, 0], dtype)
    wrap_round[2, 32](out)  # 64 steps of a counter from 0 to 6
    assert out.tolist() == [64 % 7, (7 - 64 % 7) % 7]


@cuda.jit
def swap(out, won):
    i = cuda.grid(1)
    if cuda.atomic.cas(out, (1, 0), 0, i + 1) == 0:
        cuda.atomic.add(won, 0, 1)


@pytest.mark.parametrize("dtype", SIGNED + UNSIGNED + FLOATS)
def test_one_of_all_swaps(dtype):
    out, won = np.zeros((2, 2), dtype), np.zeros(1, np.int32)
    swap[2, 32](out, won)
    assert won[0] == 1 and 1 <= out[1, 0] <= 64 and out[0].tolist() == [0, 0]


@cuda.jit
def swap_shared(out):
    lock = cuda.shared.array(1, np.int32)
    if cuda.threadIdx.x == 0:
        lock[0] = 0
    cuda.syncthreads()
    if cuda.atomic.compare_and_swap(lock, 0, 1) == 0:
        out[cuda.blockIdx.x] += 1


def test_swap_in_shared_memory():
    out = np.zeros(3, np.int64)
    swap_shared[3, 64](out)
    assert out.tolist() == [1, 1, 1]


# ---- caches ----


@cuda.jit
def copies(x, out):
    i = cuda.grid(1)
    cuda.stcg(out, (0, i), cuda.ldca(x, i))
    cuda.stcs(out, (1, i), cuda.ldcg(x, i))
    cuda.stwb(out, (2, i), cuda.ldcs(x, i))
    cuda.stwt(out, (3, i), cuda.ldlu(x, i))
    out[4, i] = cuda.ldcv(x, i)


@pytest.mark.parametrize("dtype", [np.bool_] + SIGNED + UNSIGNED + FLOATS)
def test_hinted_accesses(dtype):
    x = (np.arange(64) % 3 - (1 if np.dtype(dtype).kind == "i" else 0)).astype(dtype)
    out = np.zeros((5, 64), dtype)
    copies[2, 32](x, out)
    np.testing.assert_array_equal(out, np.broadcast_to(x, (5, 64)))


# ---- refusals ----


@pytest.mark.parametrize("text, dtype, error, message", [
    ("cuda.atomic.add(x, 0, 1j)", np.float64, errors.TypingError, "add"),
    ("cuda.atomic.inc(x, 0, 1)", np.int32, errors.TypingError, "elements of type int32"),
    ("cuda.atomic.and_(x, 0, 1)", np.float32, errors.TypingError, "elements of type float32"),
    ("cuda.atomic.max(x, 0, 1)", np.complex64, errors.TypingError, "elements of type complex64"),
    ("cuda.ldcg(x, 0)", np.complex64, errors.TypingError, "elements of type complex64"),
    ("cuda.ldcg(x, (0, 0))", np.float32, errors.TypingError, "one integer for each of the 1 dimensions"),
])
def test_what_is_refused(text, dtype, error, message):
    scope = {"cuda": cuda}
    exec(f"def kernel(x):\n    {text}", scope)
    with pytest.raises(error, match=message):
        cuda.jit(scope["kernel"])[1, 1](np.zeros(1, dtype))
