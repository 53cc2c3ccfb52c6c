"""Elementwise functions and reductions of device arrays: 2**26 float32 elements against kernels that access 128 bits
at a time and against CUB, compiled by nvcc; calls on 32 elements; in one run."""

import ctypes

import numpy as np
from common import Row, have, median_of_turns, nvcc_reference
from on_device import address, call_us, event_ms

from krait import cuda, vectorize

ELEMENTS = 1 << 26
SMALL = 32


@vectorize(["float32(float32, float32)", "float64(float64, float64)"], target="cuda")
def add(a, b):
    return a + b


@vectorize(["float32(float32)"], target="cuda")
def polynomial(a):
    return np.float32(1.0) + a * (np.float32(0.5) + a * (np.float32(0.25) + a * np.float32(0.125)))


@vectorize(["float32(float32, float32)"], target="cuda")
def length(a, b):
    return np.sqrt(a * a + b * b)


@vectorize(["float32(float32)"], target="cuda")
def wave(a):
    return np.exp(-a) * np.float32(0.5)


@vectorize(["float32(float32, float32)"], target="cuda")
def larger(a, b):
    return a if a > b else b


@cuda.reduce
def total(a, b):
    return a + b


def _timer(reference, name, arrays, repeat):
    """The reference's time_<name> on the first array, of whose size the work is, and the others."""
    function = getattr(reference, "time_" + name)
    function.restype = ctypes.c_float
    args = [*map(address, arrays), ctypes.c_int64(arrays[0].size), ctypes.c_int(repeat)]
    return lambda: function(*args)


def _rates(group, name, work, contestants, repeat, gigabytes, quick, limit):
    """A row of gigabytes a second, of what has to be read and written."""
    everyone = {"krait": lambda: event_ms(work, repeat), **contestants}
    got = {who: gigabytes * 1e3 / ms for who, ms in median_of_turns(everyone, 3 if quick else 9).items()}
    return Row(group, name, "GB/s", got.pop("krait"), got, rate=True, limit=limit)


def _cupy_of(array):
    import cupy

    return cupy.asarray(array)


def _elementwise(reference, quick):
    rng, repeat, rows = np.random.default_rng(1), 20 if quick else 50, []
    x, y, out = (cuda.to_device(rng.random(ELEMENTS, np.float32)) for _ in range(3))
    for name, function, inputs in [
        ("add", add, (x, y)),
        ("polynomial", polynomial, (x,)),
        ("length", length, (x, y)),
        ("wave", wave, (x,)),
    ]:
        others = {}
        if reference:
            others["nvcc, 128 bits"] = _timer(reference, name, (*inputs, out), repeat)
        if have("cupy") and name == "add":
            import cupy

            c_x, c_y, c_out = map(_cupy_of, (x, y, out))
            others["CuPy"] = lambda: event_ms(lambda: cupy.add(c_x, c_y, out=c_out), repeat)
        work = lambda function=function, inputs=inputs: function(*inputs, out=out)
        gigabytes = ELEMENTS * 4e-9 * (len(inputs) + 1)
        rows.append(_rates("elementwise functions, 2**26 float32", name, work, others, repeat, gigabytes, quick,
                           "at least 0.97 of nvcc"))
    return rows


def _reductions(reference, quick):
    rng, repeat, rows = np.random.default_rng(2), 20 if quick else 50, []
    single, double = cuda.to_device(rng.random(ELEMENTS, np.float32)), cuda.to_device(rng.random(ELEMENTS // 2))
    running = cuda.device_array(ELEMENTS, np.float32)
    for name, work, array, timer in [
        ("cuda.reduce, sum", lambda x, out: total(x, res=out), single, "sum"),
        ("cuda.reduce, sum of float64", lambda x, out: total(x, res=out), double, "sum_double"),
        ("ufunc.reduce, sum", lambda x, out: add.reduce(x, keepdims=True, out=out), single, "sum"),
        ("ufunc.reduce, largest", lambda x, out: larger.reduce(x, keepdims=True, out=out), single, "largest"),
        ("sum of an array", lambda x, out: x.sum(keepdims=True, out=out), single, "sum"),
        ("ufunc.accumulate, sum", lambda x, out: add.accumulate(x, out=running), single, "running_sum"),
    ]:
        out, others = cuda.device_array(1, array.dtype), {}
        written = running if timer == "running_sum" else out
        if reference:
            others["CUB"] = _timer(reference, timer, (array, written), repeat)
        if have("cupy") and name == "sum of an array":
            c_x, c_out = _cupy_of(array), _cupy_of(out).reshape(())
            others["CuPy"] = lambda c_x=c_x, c_out=c_out: event_ms(lambda: c_x.sum(out=c_out), repeat)
        gigabytes = array.nbytes * 1e-9 + (written.nbytes * 1e-9 if timer == "running_sum" else 0)
        limit = "" if timer == "running_sum" else "at least 0.95 of CUB"
        once = lambda work=work, array=array, out=out: work(array, out)
        rows.append(_rates("reductions, 256 MiB", name, once, others, repeat, gigabytes, quick, limit))
    return rows


def _small(quick):
    number = 1_000 if quick else 10_000
    x, y, out = (cuda.to_device(np.ones(SMALL, np.float32)) for _ in range(3))
    many = cuda.to_device(np.ones(1024, np.float32))

    def timed(call):
        return call_us(call, number)

    table = {
        "add, with out=": ({"krait": timed(lambda: add(x, y, out=out))}, "at most 6 us"),
        "add, a new result": ({"krait": timed(lambda: add(x, y))}, "at most 6 us"),
        "add, a scalar": ({"krait": timed(lambda: add(x, 2.0, out=out))}, "at most 6 us"),
        "cuda.reduce of 1024, result on the device": ({"krait": timed(lambda: total(many, res=out))}, ""),
        "cuda.reduce of 1024, result on the host": ({"krait": timed(lambda: total(many))}, ""),
    }
    if have("cupy"):
        import cupy

        c_x, c_y, c_out, c_many = map(_cupy_of, (x, y, out, many))
        table["add, with out="][0]["CuPy"] = timed(lambda: cupy.add(c_x, c_y, out=c_out))
        table["add, a new result"][0]["CuPy"] = timed(lambda: c_x + c_y)
        table["cuda.reduce of 1024, result on the host"][0]["CuPy"] = timed(lambda: float(c_many.sum()))
    rows = []
    for name, (contestants, limit) in table.items():
        got = median_of_turns(contestants, 3 if quick else 9)
        rows.append(Row(f"calls on {SMALL} elements", name, "us", got.pop("krait"), got, limit=limit))
    return rows


def _check():
    """What is measured is right."""
    rng = np.random.default_rng(3)
    x, y = rng.random((2, 100_003), np.float32)
    d_x, d_y = cuda.to_device(x), cuda.to_device(y)
    np.testing.assert_array_equal(add(d_x, d_y).copy_to_host(), x + y)
    np.testing.assert_allclose(length(d_x, d_y).copy_to_host(), np.sqrt(x * x + y * y), rtol=1e-6)
    np.testing.assert_allclose(wave(d_x).copy_to_host(), np.exp(-x) / 2, rtol=1e-5)
    np.testing.assert_allclose(total(d_x), x.sum(), rtol=1e-5)
    assert larger.reduce(d_x) == x.max()
    np.testing.assert_allclose(add.accumulate(d_x).copy_to_host(), np.cumsum(x, dtype=np.float64), rtol=1e-4)


def rows(quick=False):
    if not cuda.is_available():
        print("(no GPU: elementwise functions and reductions of device arrays are left out)")
        return []
    _check()
    reference = nvcc_reference("reference_arrays.cu", "--extended-lambda")
    return _elementwise(reference, quick) + _reductions(reference, quick) + _small(quick)
