"""cuda.scan, cumsum and cumprod of device arrays, reduce and accumulate of elementwise functions on the device."""

import numpy as np
import pytest

from krait import cuda, vectorize
from krait.cuda import _reduction

LENGTHS = (1, 5, 255, 256, 3839, 3840, 3841, 5000, 122_880, 122_881, 600_000)  # tiles, a group of them
NARROW = (7935, 7936, 7937, 253_953)  # those of elements of at most four bytes


@vectorize(["int64(int64, int64)", "float64(float64, float64)"], target="cuda")
def plus(a, b):
    return a + b


@vectorize(target="cuda")
def larger(a, b):
    return a if a > b else b


@pytest.mark.parametrize("length", LENGTHS)
def test_running_sums_inclusive_exclusive_and_with_a_first_value(length):
    x = np.random.default_rng(length).integers(-5, 9, length)
    running = cuda.scan(lambda a, b: a + b)
    np.testing.assert_array_equal(running(x).copy_to_host(), np.cumsum(x))
    d = cuda.to_device(x)
    np.testing.assert_array_equal(running(d, init=3).copy_to_host(), 3 + np.cumsum(x))
    np.testing.assert_array_equal(running(d, init=7, exclusive=True).copy_to_host(), 7 + np.cumsum(x) - x)
    assert running(d, out=d) is d  # in place
    np.testing.assert_array_equal(d.copy_to_host(), np.cumsum(x))


def test_more_groups_of_tiles_than_a_warp_has_lanes():
    x = np.random.default_rng(1).integers(-5, 9, 1025 * 3840 + 1)
    np.testing.assert_array_equal(cuda.scan(lambda a, b: a + b)(x).copy_to_host(), np.cumsum(x))


@pytest.mark.parametrize("length", NARROW)
def test_running_sums_of_narrow_elements(length):
    x = np.random.default_rng(length).integers(-5, 9, length).astype(np.int32)
    np.testing.assert_array_equal(cuda.scan(lambda a, b: a + b)(x).copy_to_host(), np.cumsum(x, dtype=np.int32))


@pytest.mark.parametrize("dtype", [np.int8, np.float32, np.complex64, np.complex128])
def test_running_sums_of_all_sizes_of_elements(dtype):
    x = np.random.default_rng(5).integers(-3, 4, 20_000).astype(dtype)
    running = cuda.scan(lambda a, b: a + b)
    np.testing.assert_array_equal(running(x).copy_to_host(), np.cumsum(x, dtype=dtype))
    np.testing.assert_array_equal(running(cuda.to_device(x)[::-3]).copy_to_host(), np.cumsum(x[::-3], dtype=dtype))


def test_the_result_is_the_same_each_time():
    d, running = cuda.to_device(np.random.default_rng(6).random(400_000, np.float32)), cuda.scan(lambda a, b: a + b)
    first = running(d).copy_to_host()
    np.testing.assert_allclose(first, np.cumsum(d.copy_to_host(), dtype=np.float64), rtol=1e-5)
    for _ in range(5):
        np.testing.assert_array_equal(running(d).copy_to_host(), first)


def test_a_scan_in_a_graph():
    d, out = cuda.to_device(np.arange(10_000)), cuda.device_array(10_000, np.int64)
    running = cuda.scan(lambda a, b: a + b)
    with cuda.graph() as g:
        running(d, out=out)
    for factor in (1, 2):
        d.copy_to_device(factor * np.arange(10_000))
        g.launch()
        np.testing.assert_array_equal(out.copy_to_host(), factor * np.cumsum(np.arange(10_000)))


def test_functions_that_do_not_commute():
    x = np.random.default_rng(1).integers(0, 100, 5000)
    last = cuda.scan(lambda a, b: b)(x).copy_to_host()
    np.testing.assert_array_equal(last, x)
    largest = cuda.scan(lambda a, b: max(a, b))(x * 0.5).copy_to_host()
    np.testing.assert_array_equal(largest, np.maximum.accumulate(x * 0.5))


@pytest.mark.parametrize("axis", [0, 1, 2, -1, None])
@pytest.mark.parametrize("dtype", [np.int8, np.int64, np.float32])
def test_cumsum_and_cumprod(axis, dtype):
    x = np.random.default_rng(2).integers(1, 3, (4, 3, 5)).astype(dtype)
    for array, given in ((x, cuda.to_device(x)), (x.T, cuda.to_device(x).T)):
        for name in ("cumsum", "cumprod"):
            expected, got = getattr(array, name)(axis), getattr(given, name)(axis)
            assert got.dtype == expected.dtype
            np.testing.assert_array_equal(got.copy_to_host(), expected)
    wide = cuda.device_array(x.shape, np.float64)
    assert cuda.to_device(x).cumsum(1, dtype=np.float64, out=wide) is wide
    np.testing.assert_array_equal(wide.copy_to_host(), x.cumsum(1, dtype=np.float64))


def test_reduce_and_accumulate_of_elementwise_functions():
    x = np.random.default_rng(3).integers(-50, 50, (7, 300))
    d = cuda.to_device(x)
    for axis in (0, 1):
        np.testing.assert_array_equal(plus.reduce(d, axis=axis).copy_to_host(), x.sum(axis))
        np.testing.assert_array_equal(plus.accumulate(d, axis=axis).copy_to_host(), x.cumsum(axis))
        np.testing.assert_array_equal(larger.reduce(d, axis=axis).copy_to_host(), x.max(axis))
        kept = plus.reduce(d, axis=axis, keepdims=True).copy_to_host()
        np.testing.assert_array_equal(kept, x.sum(axis, keepdims=True))
    assert plus.reduce(d, axis=None) == x.sum()
    assert isinstance(plus.reduce(d), cuda.DeviceArray) and isinstance(plus.reduce(x), np.ndarray)
    np.testing.assert_array_equal(plus.reduce(x), x.sum(0))
    with pytest.raises(ValueError, match="no identity"):
        plus.reduce(cuda.device_array((0, 3), np.int64))


def test_what_a_scan_refuses():
    running = cuda.scan(lambda a, b: a + b)
    with pytest.raises(TypeError, match="one dimension"):
        running(np.ones((2, 2)))
    with pytest.raises(ValueError, match="begins with `init`"):
        running(np.ones(3), exclusive=True)
    with pytest.raises(ValueError, match="out is a device array"):
        running(np.ones(3), out=cuda.device_array(4))
    assert running(np.ones(0)).size == 0


@pytest.mark.parametrize("dtype", [np.int32, np.uint32, np.int64, np.uint64, np.float32, np.float64])
def test_long_rows_are_read_sixteen_bytes_at_a_time(dtype, monkeypatch):
    monkeypatch.setattr(_reduction, "_LONG", 2000)
    monkeypatch.setattr(_reduction, "_multiprocessors", lambda: 2)
    made, wide = [], _reduction._reduce_wide
    monkeypatch.setattr(_reduction, "_reduce_wide", lambda *given: made.append(wide(*given)) or made[-1])
    x = np.random.default_rng(4).integers(1, 100, 12_000).astype(dtype)
    total, most = cuda.reduce(lambda a, b: a + b), cuda.reduce(lambda a, b: max(a, b))
    d, out = cuda.to_device(x), cuda.device_array(3, dtype)
    for length in (2000, 2047, 2048, 2049, 2051, 11_999, 12_000):
        assert total(d[:length]) == x[:length].sum(dtype=dtype) and most(d[:length]) == x[:length].max()
        assert d[:length].sum() == x[:length].sum()
    assert made and None not in made
    out.fill(0)
    total(d, res=out)
    assert list(out.copy_to_host()) == [x.sum(dtype=dtype), 0, 0]
    assert total(d, init=5) == 5 + x.sum(dtype=dtype)
    # into `out`, wherever it lies
    mean_of = cuda.device_array((), d.sum().dtype)
    assert d.sum(out=mean_of) is mean_of and mean_of.copy_to_host() == x.sum()
    assert d.max(keepdims=True, out=d[:1]).copy_to_host() == x.max()
    made.clear()
    assert total(d[1:]) == x[1:].sum(dtype=dtype) and made == [None]  # 16 bytes would not be aligned
    assert most(d[::2]) == d.copy_to_host()[::2].max()
