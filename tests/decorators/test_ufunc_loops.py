"""Plain loops of light ufuncs for operands that lie in one way, which are made once they are worth it: of gaps, of
reduce, of accumulate (runtime/host: HostLie)."""

from concurrent.futures import ThreadPoolExecutor

import krait
import numpy as np
import pytest

LIGHT = {
    "sum": (lambda a, b: a + b, np.add),
    "larger": (lambda a, b: a if a > b else b, np.maximum),
    "difference": (lambda a, b: a - b, np.subtract),
}
MILLION = 1 << 20


def made_for(name, dtype):
    """A ufunc and its oracle; it has done a million elements in every way."""
    ufunc = krait.vectorize([f"{dtype}({dtype}, {dtype})"])(LIGHT[name][0])
    many = np.zeros(2 * MILLION, dtype)
    ufunc(many[::2], many[1::2])
    ufunc.reduce(many)
    ufunc.accumulate(many)
    return ufunc, LIGHT[name][1]


@pytest.mark.parametrize("dtype", ["float64", "int64", "uint8"])
@pytest.mark.parametrize("name", LIGHT)
def test_loops_that_are_made_later_compute_the_same(name, dtype):
    ufunc, oracle = made_for(name, dtype)
    rng = np.random.default_rng(7)
    for size in (16, 17, 19, 64, 1001):
        x, y = (rng.integers(0, 100, 3 * size).astype(dtype) for _ in range(2))
        for step in (1, 2, -1, 3):
            a, b, out, wanted = x[::step][:size], y[::step][:size], np.zeros(2 * size, dtype), np.zeros(2 * size, dtype)
            ufunc(a, b, out=out[::2]), oracle(a, b, out=wanted[::2])
            assert out.tolist() == wanted.tolist()
            places = [0, 20, 5, len(a) - 1] if len(a) > 20 else [0, 3]
            # NumPy adds floats in pairs, and bytes as int64: of whole numbers, in one type, the same
            assert ufunc.reduce(a) == oracle.reduce(a, dtype=dtype)
            assert ufunc.accumulate(a).tolist() == oracle.accumulate(a, dtype=dtype).tolist()
            assert ufunc.reduceat(a, places).tolist() == oracle.reduceat(a, places, dtype=dtype).tolist()
        in_place, wanted = x.copy(), x.copy()
        ufunc.accumulate(in_place, out=in_place), oracle.accumulate(wanted, out=wanted)
        assert in_place.tolist() == wanted.tolist()


def test_loops_that_are_made_later_know_the_globals_of_the_first():
    space = {"step": 1.0}
    exec("def add(a, b): return a + b + step", space)
    ufunc = krait.vectorize(["float64(float64, float64)"])(space["add"])
    x = np.zeros(2 * MILLION)
    space["step"] = 5.0
    assert ufunc(x[:64:2], x[:64:2]).tolist() == [1.0] * 32
    assert set(ufunc(x[::2], x[::2]).tolist()) == {1.0}
    assert ufunc.reduce(x) == 2 * MILLION - 1


def test_loops_are_made_later_by_one_of_many_threads():
    ufunc = krait.vectorize(["int64(int64, int64)"])(lambda a, b: a + b)
    x = np.arange(2 * MILLION)
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda _: (ufunc.reduce(x), int(ufunc(x[::2], x[1::2]).sum())), range(16)))
    assert results == [(x.sum(), x.sum())] * 16


def test_making_a_loop_sets_no_flag_of_floats():
    ufunc = krait.vectorize(["float64(float64, float64)"])(lambda a, b: a + b)
    with np.errstate(all="raise"):
        assert ufunc.reduce(np.ones(2 * MILLION)) == 2 * MILLION
