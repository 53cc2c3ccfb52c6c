"""Everything around a launch, on a GPU: beside the driver called from C, CuPy, PyTorch and numba-cuda, in one run.

    python benchmarks/run.py runtime                      # all parts, about two minutes
    python benchmarks/run.py runtime --parts launch,cold

Parts: launch, memory, transfers, cold, steady, threads, cache.  Each row says what is promised.
"""

import ctypes
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
from common import HERE, Row, compiled_reference, have, median_of_turns

from krait import cuda, vectorize

PARTS = ("launch", "memory", "transfers", "cold", "steady", "threads", "cache")
MEGABYTE = 1 << 20


@cuda.jit
def saxpy(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * x[i] + y[i]


SIXTEEN = ", ".join(f"a{i}" for i in range(16))
_scope = {"cuda": cuda}
exec(f"def sixteen({SIXTEEN}):\n    i = cuda.grid(1)\n    if i < a0.size:\n        a0[i] = a1[i] + a15[i]\n", _scope)
sixteen = cuda.jit(_scope["sixteen"])


@vectorize(["float64(float64, float64)"], target="cuda")
def plus(a, b):
    return a + b


# ---- loops without a call in them ------------------------------------------------------------------------------------


def loop(statement, number, **names):
    """A function that gives microseconds of one execution of the statement."""
    lines = ["def measure():", "    wait()", "    iterations = range(number)", "    start = clock()",
             "    for _ in iterations:", f"        {statement}", "    end = clock()", "    wait()",
             "    return (end - start) / number / 1e3"]
    scope = {**names, "wait": cuda.synchronize, "clock": time.perf_counter_ns, "number": number}
    exec("\n".join(lines), scope)
    exec(statement, scope)
    return scope["measure"]


def driver_floor():
    library = None
    for compiler in ("gcc", "cc", "clang"):
        library = library or compiled_reference("driver_floor.c", compiler, ["-O2", "-shared", "-fPIC", "-ldl"])
    if library:
        for name in ("launch_floor", "launch_buffer_floor", "memory_floor", "copy_floor"):
            getattr(library, name).restype = ctypes.c_double
    return library


class RawKernel:
    """A kernel as the driver has it: loaded from PTX by ctypes, for launches from C."""

    def __init__(self, kernel, signature, entry_of=None):
        ptx = kernel.inspect_ptx(signature, cuda.get_current_device().compute_capability)
        entry = ptx.split(".entry", 1)[1].split("(", 1)[0].strip()
        driver = ctypes.CDLL("libcuda.so.1")
        module, self.function = ctypes.c_void_p(), ctypes.c_void_p()
        self.ptx, self.text = ptx, ctypes.create_string_buffer(ptx.encode())
        assert driver.cuModuleLoadData(ctypes.byref(module), self.text) == 0
        assert driver.cuModuleGetFunction(ctypes.byref(self.function), module, entry.encode()) == 0

    def launcher(self, library, values, number):
        """Microseconds of one launch with these parameters (ctypes values), from C."""
        pointers = (ctypes.c_void_p * len(values))(*(ctypes.addressof(value) for value in values))
        keep = values
        return lambda: keep and library.launch_floor(
            self.function, pointers, ctypes.c_uint(32), ctypes.c_int64(number)) / 1e3

    def buffer_launcher(self, library, values, number):
        """The same, all parameters in one buffer; each of them takes 8 bytes."""
        buffer = ctypes.create_string_buffer(b"".join(bytes(value) for value in values), 8 * len(values))
        return lambda: library.launch_buffer_floor(
            self.function, buffer, ctypes.c_size_t(len(buffer)), ctypes.c_uint(32), ctypes.c_int64(number)) / 1e3


def parameters(*values):
    """As Krait's kernels take them: numbers, and of an array in C order its address and its extents."""
    made = []
    for value in values:
        if isinstance(value, float):
            made.append(ctypes.c_double(value))
        else:
            made += [ctypes.c_uint64(value.device_ctypes_pointer.value), *map(ctypes.c_int64, value.shape)]
    return made


def row(group, name, got, limit, unit="us"):
    return Row(group, name, unit, got["krait"], {n: got[n] for n in got if n != "krait"}, limit=limit)


# ---- parts -----------------------------------------------------------------------------------------------------------


def launch(quick):
    number, turns = (5_000, 5) if quick else (20_000, 11)
    library = driver_floor()
    x, y = (cuda.to_device(np.ones(32, np.float32)) for _ in range(2))
    many = [cuda.to_device(np.ones(32, np.float32)) for _ in range(16)]
    rows = []
    configured = {"krait": loop("f(0.5, x, y)", number, f=saxpy[1, 32], x=x, y=y)}
    direct = {"krait": loop("f[1, 32](0.5, x, y)", number, f=saxpy, x=x, y=y)}
    sixteens = {"krait": loop(f"f({SIXTEEN})", number, f=sixteen[1, 32], **{f"a{i}": a for i, a in enumerate(many)})}
    if library:
        raw = RawKernel(saxpy, "void(float64, float32[::1], float32[::1])")
        configured["cuLaunchKernel from C"] = raw.launcher(library, parameters(0.5, x, y), number)
        configured["from C, one buffer"] = raw.buffer_launcher(library, parameters(0.5, x, y), number)
        big = RawKernel(sixteen, "void(" + ", ".join(["float32[::1]"] * 16) + ")")
        sixteens["cuLaunchKernel from C"] = big.launcher(library, parameters(*many), number)
        sixteens["from C, one buffer"] = big.buffer_launcher(library, parameters(*many), number)
    direct["configured"] = configured["krait"]
    others = {}
    if have("torch"):
        import torch

        t, u = (torch.ones(32, dtype=torch.float32, device="cuda") for _ in range(2))
        others["two PyTorch tensors"] = {"krait": loop("f(0.5, t, u)", number // 4, f=saxpy[1, 32], t=t, u=u)}
    if have("cupy"):
        import cupy

        c, d = cupy.ones(32, "f4"), cupy.ones(32, "f4")
        theirs = cupy.RawKernel(
            'extern "C" __global__ void saxpy(double a, const float *x, float *y, long long n) {'
            " long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; if (i < n) y[i] = a * x[i] + y[i]; }",
            "saxpy")
        others["two CuPy arrays"] = {
            "krait": loop("f(0.5, c, d)", number // 4, f=saxpy[1, 32], c=c, d=d),
            "CuPy RawKernel": loop("f(grid, block, (a, c, d, n))", number // 4, f=theirs, grid=(1,), block=(32,),
                                   a=np.float64(0.5), c=c, d=d, n=np.int64(32)),
        }
    if have("numba_cuda"):
        numba_saxpy, numba_cuda = in_numba(saxpy.py_func)
        p, q = (numba_cuda.to_device(np.ones(32, np.float32)) for _ in range(2))
        configured["numba-cuda"] = loop("f(0.5, x, y)", number // 8, f=numba_saxpy[1, 32], x=p, y=q)
    for name, contestants, limit in [
        ("a scalar and two device arrays, configured", configured, "at most cuLaunchKernel + 0.2"),
        ("the same by kernel[grid, block](...)", direct, "at most configured + 0.15"),
        ("16 device arrays", sixteens, "at most cuLaunchKernel + 1"),
    ]:
        rows.append(row("launch", name, median_of_turns(contestants, turns), limit))
    for name, contestants in others.items():
        if library:
            contestants["cuLaunchKernel from C"] = configured["cuLaunchKernel from C"]
        rows.append(row("launch", name, median_of_turns(contestants, turns), "at most cuLaunchKernel + 0.6"))
    with cuda.graph() as graph:
        for _ in range(20):
            saxpy[1, 32](0.5, x, y)
    launcher = saxpy[1, 32]
    got = median_of_turns({"krait": loop("g.launch()", number // 20, g=graph),
                           "20 launches": loop("for _ in twenty: f(0.5, x, y)", number // 20, twenty=range(20),
                                               f=launcher, x=x, y=y)}, turns)
    rows.append(row("launch", "a graph of 20 small kernels, one call", got, "one call"))
    return rows


def in_numba(*functions):
    """The functions compiled by numba-cuda, and its module."""
    import types
    import warnings

    warnings.simplefilter("ignore")
    if not hasattr(np, "row_stack"):
        np.row_stack = np.vstack  # numba-cuda 0.30 still asks for what NumPy 2.5 has dropped
    from numba import cuda as numba_cuda

    made = [numba_cuda.jit(types.FunctionType(f.__code__, {**f.__globals__, "cuda": numba_cuda})) for f in functions]
    return (*made, numba_cuda)


def memory(quick):
    number, turns = (500, 5) if quick else (3000, 9)
    library = driver_floor()
    small, x = np.ones(1024, np.float32), cuda.to_device(np.ones(32))
    d, out = cuda.to_device(small), cuda.device_array(32)
    a, b = np.ones(1024, np.float32), np.ones(1024, np.float32)
    table = [
        ("device_array of 4 KB and its release", "at most 1.2", 2,
         loop("new(1024, dtype)", number, new=cuda.device_array, dtype=np.float32)),
        ("to_device of 4 KB", "at most 7.5", 0, loop("to(small)", number, to=cuda.to_device, small=small)),
        ("copy_to_host of 4 KB", "at most 8.5", 1, loop("d.copy_to_host()", number, d=d)),
        ("a launch with two host arrays of 4 KB", "at most 18", None,
         loop("f(0.5, a, b)", number // 4, f=saxpy[1, 1024], a=a, b=b)),
        ("a ufunc on 32 device elements", "at most 4", None, loop("f(x, 1.5, out=out)", number, f=plus, x=x, out=out)),
    ]
    block, rows = (ctypes.c_float * 1024)(), []
    for name, limit, what, measure in table:
        contestants = {"krait": measure}
        if library and what is not None:
            contestants["driver from C"] = lambda what=what: library.memory_floor(
                what, block, ctypes.c_int64(ctypes.sizeof(block)), ctypes.c_int64(number)) / 1e3
        rows.append(row("small memory", name, median_of_turns(contestants, turns), limit))
    return rows


def transfers(quick):
    """GB/s of 256 MB, the array on the device there already."""
    size, turns = 256 * MEGABYTE, 3 if quick else 7
    library = driver_floor()
    pageable, pinned = np.ones(size, np.uint8), cuda.pinned_array(size, np.uint8)
    pinned[:] = 1
    d = cuda.device_array(size, np.uint8)

    def rate(call):
        def measure():
            cuda.synchronize()
            start = time.perf_counter()
            call()
            cuda.synchronize()
            return size / (time.perf_counter() - start) / 1e9

        measure()
        return measure

    def floor(inwards):
        return lambda: size / library.copy_floor(
            int(inwards), ctypes.c_void_p(pageable.ctypes.data), ctypes.c_int64(size), ctypes.c_int64(1))

    rows = []
    for name, call, inwards, limit in [
        ("pageable, host to device", lambda: d.copy_to_device(pageable), True, "at least 25"),
        ("pageable, device to host", lambda: d.copy_to_host(pageable), False, "at least 25"),
        ("pinned, host to device", lambda: d.copy_to_device(pinned), None, "at least 52"),
        ("pinned, device to host", lambda: d.copy_to_host(pinned), None, "at least 52"),
    ]:
        contestants = {"krait": rate(call)}
        if library and inwards is not None:
            contestants["the driver's copy"] = floor(inwards)
        got = median_of_turns(contestants, turns)
        rows.append(Row("256 MB", name, "GB/s", got["krait"], {n: got[n] for n in got if n != "krait"}, rate=True,
                        limit=limit))
    return rows


COLD = f"""
import json, sys, time
sys.path.insert(0, {str(HERE)!r})
import numpy as np
"""

COLD_KRAIT = COLD + """
from krait import cuda
import ordinary_kernels
cache = "cache" in sys.argv
@cuda.jit
def warm(x):
    x[0] = 1
place = cuda.to_device(np.zeros(1))
start = time.perf_counter()
if not cache:
    warm[1, 1](place)
    cuda.synchronize()
figures = {}
for name, function, block, arguments in ordinary_kernels.made(cuda):
    arrays = [cuda.to_device(a) if isinstance(a, np.ndarray) else a for a in arguments]
    cuda.synchronize()
    begin = time.perf_counter()
    kernel = cuda.jit(cache=cache)(function)
    kernel[ordinary_kernels.grid(block, arguments), block](*arrays)
    cuda.synchronize()
    end = time.perf_counter()
    figures.setdefault("first", [end - start])
    figures[name] = (end - begin) * 1e3
figures["first"] = figures["first"][0] * 1e3
print(json.dumps(figures))
"""

COLD_NUMBA = COLD + """
import warnings
warnings.simplefilter("ignore")
if not hasattr(np, "row_stack"):
    np.row_stack = np.vstack
from numba import cuda
import ordinary_kernels
@cuda.jit
def warm(x):
    x[0] = 1
warm[1, 1](cuda.to_device(np.zeros(1)))
cuda.synchronize()
figures = {}
for name, function, block, arguments in ordinary_kernels.made(cuda):
    try:
        arrays = [cuda.to_device(a) if isinstance(a, np.ndarray) else a for a in arguments]
        cuda.synchronize()
        begin = time.perf_counter()
        cuda.jit(function)[ordinary_kernels.grid(block, arguments), block](*arrays)
        cuda.synchronize()
        figures[name] = (time.perf_counter() - begin) * 1e3
    except Exception as error:
        print(name, error, file=sys.stderr)
print(json.dumps(figures))
"""

# The driver's own work: the PTX of the same kernels, each with a comment of its own, loaded.
LOADS = COLD + """
import ctypes
from krait import cuda
import ordinary_kernels
cuda.to_device(np.zeros(1))
driver = ctypes.CDLL("libcuda.so.1")
capability, figures = cuda.get_current_device().compute_capability, {}
def text(array):
    return f"{array.dtype}[{', '.join([':'] * (array.ndim - 1) + ['::1'])}]"
for name, function, block, arguments in ordinary_kernels.made(cuda):
    signature = ", ".join(text(a) if isinstance(a, np.ndarray) else type(a).__name__ + "64" for a in arguments)
    ptx = cuda.jit(function).inspect_ptx(f"void({signature})", capability)
    image, module = ctypes.create_string_buffer(ptx.encode()), ctypes.c_void_p()
    begin = time.perf_counter()
    status = driver.cuModuleLoadData(ctypes.byref(module), image)
    figures[name] = (time.perf_counter() - begin) * 1e3
    assert status == 0, (name, status)
print(json.dumps(figures))
"""


def fresh(code, *arguments, **environment):
    """The figures that a fresh process prints; the driver's cache is off."""
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, timeout=120,
                          env={**os.environ, "CUDA_CACHE_DISABLE": "1", **environment})
    if done.returncode:
        raise RuntimeError(f"a benchmark process failed:\n{done.stderr}")
    return json.loads(done.stdout.strip().splitlines()[-1])


def geometric(figures):
    return statistics.geometric_mean(figures)


def cold(quick):
    turns, rows = 1 if quick else 3, []
    with tempfile.TemporaryDirectory() as folder:
        own = {"KRAIT_CACHE_DIR": folder + "/cache"}
        runs = {"krait": [], "loads": [], "cached": [], "numba": []}
        fresh(COLD_KRAIT, "cache", **own)  # fills the cache
        for _ in range(turns):
            runs["krait"].append(fresh(COLD_KRAIT, KRAIT_CACHE="0"))
            runs["loads"].append(fresh(LOADS, KRAIT_CACHE="0"))
            runs["cached"].append(fresh(COLD_KRAIT, "cache", **own))
        if have("numba_cuda"):
            runs["numba"].append(fresh(COLD_NUMBA))
    middle = {who: {name: statistics.median(run[name] for run in got if name in run) for name in got[0]}
              for who, got in runs.items() if got}
    firsts = {who: got.pop("first") for who, got in middle.items() if "first" in got}
    others = {"the driver's PTX load": middle["loads"]["saxpy"]}
    means = {"the driver's PTX load": geometric(middle["loads"].values())}
    if "numba" in middle:
        others["numba-cuda"] = middle["numba"]["saxpy"]
        means["numba-cuda"] = geometric(middle["numba"].values())
    rows.append(Row("cold", "saxpy, first call", "ms", middle["krait"]["saxpy"], others,
                    limit="at most the driver's PTX load + 4"))
    rows.append(Row("cold", "20 ordinary kernels, geometric mean", "ms", geometric(middle["krait"].values()), means,
                    limit="at most 20"))
    rows.append(Row("cold", "saxpy from the disk cache", "ms", middle["cached"]["saxpy"], {}, limit="at most 3"))
    rows.append(Row("cold", "20 ordinary kernels from the disk cache, geometric mean", "ms",
                    geometric(middle["cached"].values()), {}, limit="at most 3"))
    rows.append(Row("cold", "a second process, from its context to the first result", "ms", firsts["cached"], {},
                    limit="at most 30"))
    for name in middle["krait"]:
        extra = {"the driver's PTX load": middle["loads"][name], "from the disk cache": middle["cached"][name]}
        if name in middle.get("numba", {}):
            extra["numba-cuda"] = middle["numba"][name]
        rows.append(Row("cold, each", name, "ms", middle["krait"][name], extra))
    return rows


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize() / 1024


def taken():
    cuda.synchronize()
    free, total = cuda.current_context().get_memory_info()
    return (total - free) / 1024


def steady(quick):
    launches, allocations = (500_000, 100_000) if quick else (10_000_000, 1_000_000)
    x, y, f, rows = (*(cuda.to_device(np.ones(32, np.float32)) for _ in range(2)), saxpy[1, 32], [])

    def launching(count):
        for _ in range(count // 1000):
            for _ in range(1000):
                f(0.5, x, y)
            cuda.synchronize()

    def allocating(count):
        kept = [None] * 16
        sizes = [32, 1000, 1024, 70_000, 200_000, 32]
        for i in range(count):
            kept[i % 16] = cuda.device_array(sizes[i % 6], np.float32)

    for name, work, count in [("launches", launching, launches), ("allocations", allocating, allocations)]:
        work(count // 20)
        before, there, start = resident(), taken(), time.perf_counter()
        work(count)
        seconds, grown, more = time.perf_counter() - start, resident() - before, taken() - there
        rows.append(Row("steady", f"{count:,} {name}: growth of host memory", "KB", grown, {}, limit="flat"))
        rows.append(Row("steady", f"{count:,} {name}: growth of device memory", "KB", more, {}, limit="flat"))
        rows.append(Row("steady", f"{count:,} {name}: each", "us", seconds / count * 1e6, {}))
    return rows


def threads(quick):
    """Four threads on two streams each, and one on each GPU of the host: how many elements are wrong."""
    rounds, wrong, size = 100 if quick else 500, [], 1 << 14

    def work(seed, device):
        cuda.select_device(device)
        rng = np.random.default_rng(seed)
        streams = [cuda.stream(), cuda.stream()]
        for _ in range(rounds):
            values = rng.random((2, size))
            pairs = [(cuda.to_device(v, stream=s), cuda.to_device(np.zeros(size), stream=s))
                     for v, s in zip(values, streams)]
            for _ in range(3):
                for (v, total), s in zip(pairs, streams):
                    saxpy[size // 128, 128, s](2.0, v, total)
            for v, (_, total), s in zip(values, pairs, streams):
                got = total.copy_to_host(stream=s)
                s.synchronize()
                if not np.allclose(got, 6 * v, rtol=1e-12):
                    wrong.append(seed)

    def together(devices):
        wrong.clear()
        crew = [threading.Thread(target=work, args=(seed, device)) for seed, device in enumerate(devices)]
        start = time.perf_counter()
        for thread in crew:
            thread.start()
        for thread in crew:
            thread.join()
        return time.perf_counter() - start

    rows = []
    seconds = together([0] * 4)
    rows.append(Row("threads", "four threads on two streams each: wrong results", "of all", len(wrong), {}, limit="0"))
    each = seconds / (4 * rounds * 6) * 1e6
    rows.append(Row("threads", "four threads on two streams each: a launch", "us", each, {}))
    if len(cuda.gpus) > 1:
        together([0, 1, 0, 1])
        rows.append(Row("threads", "four threads on two GPUs: wrong results", "of all", len(wrong), {}, limit="0"))
    return rows


FILLER = COLD + """
import os
from krait import cuda
import ordinary_kernels
made = ordinary_kernels.made(cuda)
order = np.random.default_rng(int(sys.argv[1])).permutation(len(made))
for count, i in enumerate(order):
    name, function, block, arguments = made[i]
    if sys.argv[2:] == ["dies"] and count == 3:
        os.kill(os.getpid(), 9)
    arrays = [cuda.to_device(a) if isinstance(a, np.ndarray) else a for a in arguments]
    cuda.jit(cache=True)(function)[ordinary_kernels.grid(block, arguments), block](*arrays)
cuda.synchronize()
print(json.dumps(1))
"""


def cache(quick):
    """16 processes fill one cache while one of them is killed; then every entry is damaged in turn."""
    from krait import _cache

    rows, count = [], 4 if quick else 16
    with tempfile.TemporaryDirectory() as folder:
        own = {"KRAIT_CACHE_DIR": folder + "/cache", "CUDA_CACHE_DISABLE": "1"}
        start = time.perf_counter()
        fillers = [subprocess.Popen([sys.executable, "-c", FILLER, str(i), *(["dies"] if i == 1 else [])],
                                    env={**os.environ, **own}, stdout=subprocess.DEVNULL) for i in range(count)]
        codes = [filler.wait(timeout=120) for filler in fillers]
        seconds = time.perf_counter() - start
        failed = sum(code != (-9 if i == 1 else 0) for i, code in enumerate(codes))
        entries = sorted(Path(folder, "cache").glob("*.krait"))
        bad = sum(_cache.read(entry) is None for entry in entries)
        rows.append(Row("cache", f"{count} processes fill it, one is killed: processes that failed", "", failed, {},
                        limit="0"))
        rows.append(Row("cache", "entries afterwards", "", len(entries), {}))
        rows.append(Row("cache", "entries that cannot be used", "", bad, {}, limit="0"))
        rows.append(Row("cache", "time of all", "s", seconds, {}))
        for entry in entries:
            data = bytearray(entry.read_bytes())
            data[len(data) // 2] ^= 0x55
            entry.write_bytes(data)
        figures = fresh(COLD_KRAIT, "cache", **own)
        again = sum(_cache.read(entry) is not None for entry in entries)
        rows.append(Row("cache", "damaged entries: kernels that ran", "of 20", len(figures) - 1, {}, limit="20"))
        rows.append(Row("cache", "damaged entries: compiled anew", "", again, {}, limit=f"{len(entries)}"))
    return rows


def rows(quick=False, parts=None):
    if not cuda.is_available():
        print("(no GPU: the runtime benchmarks are left out)")
        return []
    found = []
    for part in parts or PARTS:
        if part not in PARTS:
            raise ValueError(f"no part is named {part}: there are {', '.join(PARTS)}")
        start = time.perf_counter()
        found += globals()[part](quick)
        print(f"({part}: {time.perf_counter() - start:.1f} s)", flush=True)
    return found
