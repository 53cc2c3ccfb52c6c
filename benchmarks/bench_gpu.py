"""On a GPU: launch overhead against the driver API from C, kernels against nvcc -O3 of the same algorithm, transfers;
in one run."""

import ctypes

import black_scholes
import block_sum
import heat
import mandelbrot
import matmul
import matrix_add
import n_body
import numpy as np
import saxpy
import vector_add
import vectorized
from common import Row, have, median_of_turns, nvcc_reference, per_call
from on_device import address, call_us, event_ms

from krait import cuda


def _kernel_table():
    """name, krait launch, name and arguments of the reference's timer, repetitions, check"""
    rng = np.random.default_rng(1)
    big, side, image = 1 << 26, 2048, 4096
    i64 = ctypes.c_int64
    x, y, out = (cuda.to_device(rng.random(big, np.float32)) for _ in range(3))
    a, b, c = (cuda.to_device(rng.random((side, side), np.float32)) for _ in range(3))
    u, new = (cuda.to_device(rng.random((image, image))) for _ in range(2))
    counts = cuda.device_array((2048, 2048), np.int32)
    options = 1 << 23
    price, strike, years = (cuda.to_device(rng.uniform(1, 30, options)) for _ in range(3))
    call, put = cuda.device_array(options), cuda.device_array(options)
    bodies = 1 << 16
    position, mass, pull = (
        cuda.to_device(rng.random((bodies, 3), np.float32)),
        cuda.to_device(rng.random(bodies, np.float32)),
        cuda.device_array((bodies, 3), np.float32),
    )
    low, values = cuda.to_device(rng.uniform(-1, 0, (image, 1))), cuda.to_device(rng.uniform(-2, 2, (image, image)))
    smooth = cuda.device_array((image, image))
    lines, tiles = (big + 255) // 256, (side // 16, side // 16)
    total = cuda.to_device(np.zeros(1, np.float32))
    return [
        (
            "vector add, float32",
            vector_add.vector_add[lines, 256],
            (x, y, out),
            "vector_add",
            (x, y, out, i64(big)),
            50,
        ),
        (
            "matrix add in place, float64",
            matrix_add.add_in_place[(image // 16, image // 16), (16, 16)],
            (u, 2.5),
            "add_in_place",
            (u, i64(image), i64(image)),
            50,
        ),
        ("saxpy, float32", saxpy.saxpy[lines, 256], (0.5, x, y), "saxpy", (x, y, i64(big)), 50),
        (
            "matmul, naive, float32",
            matmul.matmul_naive[tiles, (16, 16)],
            (a, b, c),
            "matmul_naive",
            (a, b, c, i64(side)),
            5,
        ),
        (
            "matmul, shared memory, float32",
            matmul.matmul_shared[tiles, (16, 16)],
            (a, b, c),
            "matmul_shared",
            (a, b, c, i64(side)),
            20,
        ),
        ("block sum, float32", block_sum.block_sum[1024, 256], (x, total), "block_sum", (x, total, i64(big)), 50),
        (
            "Mandelbrot, float64",
            mandelbrot.mandelbrot[(128, 128), (16, 16)],
            (-2.2, 1.2, 2.4 / 2048, 100, counts),
            "mandelbrot",
            (counts, i64(2048), i64(2048), i64(100)),
            20,
        ),
        (
            "heat step, float64",
            heat.heat_step[(image // 32, image // 8), (32, 8)],
            (u, new, 0.2),
            "heat_step",
            (u, new, i64(image)),
            50,
        ),
        (
            "Black-Scholes, float64",
            black_scholes.black_scholes[options // 256, 256],
            (price, strike, years, 0.02, 0.3, call, put),
            "black_scholes",
            (price, strike, years, call, put, i64(options)),
            20,
        ),
        (
            "n-body, float32",
            n_body.accelerations[bodies // n_body.TILE, n_body.TILE],
            (position, mass, pull),
            "n_body",
            (position, mass, pull, i64(bodies)),
            5,
        ),
        (
            "vectorize, broadcasting, float64",
            lambda l, h, v: vectorized.on_device(l, h, v, out=smooth),
            (low, 1.5, values),
            "smooth_step",
            (low, values, smooth, i64(image), i64(image)),
            50,
        ),
    ]


def _kernels(quick):
    reference = nvcc_reference()
    out = []
    for name, launch, args, timer, c_args, repeat in _kernel_table():
        contestants = {
            "krait": lambda launch=launch, args=args, repeat=repeat: event_ms(lambda: launch(*args), repeat)
        }
        if reference:
            function = getattr(reference, "time_" + timer)
            function.restype = ctypes.c_float
            converted = [address(v) if hasattr(v, "device_ctypes_pointer") else v for v in c_args]
            contestants["nvcc -O3"] = lambda f=function, c=converted, repeat=repeat: f(*c, ctypes.c_int(repeat))
        got = median_of_turns(contestants, 3 if quick else 7)
        # as a rate, so that 0.97 of nvcc reads as such
        rates = {who: 1e3 / ms for who, ms in got.items()}
        out.append(
            Row(
                "kernels",
                name,
                "launches/s",
                rates["krait"],
                {n: rates[n] for n in rates if n != "krait"},
                rate=True,
                limit="at least 0.97 of nvcc",
            )
        )
    return out


def _launches(quick):
    reference = nvcc_reference()
    number = 2_000 if quick else 10_000
    x, y = cuda.to_device(np.ones(32, np.float32)), cuda.to_device(np.ones(32, np.float32))
    launcher = saxpy.saxpy[1, 32]

    @cuda.jit
    def empty():
        pass

    nothing = empty[1, 32]
    host_x, host_y = np.ones(1024, np.float32), np.ones(1024, np.float32)

    def timed(call):
        return call_us(call, number)

    scalar_two = {
        "krait": timed(lambda: launcher(0.5, x, y)),
        "krait, kernel[grid, block](...)": timed(lambda: saxpy.saxpy[1, 32](0.5, x, y)),
    }
    none = {"krait": timed(lambda: nothing())}
    host = {"krait": timed(lambda: launcher(0.5, host_x, host_y))}
    if reference:
        reference.launch_floor.restype = ctypes.c_double
        scalar_two["cuLaunchKernel from C"] = lambda: (
            reference.launch_floor(address(x), address(y), ctypes.c_int64(32), ctypes.c_int64(number)) / 1e3
        )
    if have("numba") and have("numba_cuda"):
        _add_numba(scalar_two, none, host, timed)
    out = []
    for name, contestants, limit in [
        ("a scalar and two device arrays", scalar_two, "at most 1.5 of cuLaunchKernel"),
        ("no argument", none, ""),
        ("a scalar and two host arrays of 4 KB", host, ""),
    ]:
        got = median_of_turns(contestants, 3 if quick else 9)
        out.append(Row("launch", name, "us", got["krait"], {n: got[n] for n in got if n != "krait"}, limit=limit))
    return out


def _add_numba(scalar_two, none, host, timed):
    import warnings

    warnings.simplefilter("ignore")
    if not hasattr(np, "row_stack"):
        np.row_stack = np.vstack  # numba-cuda 0.30 still asks for what NumPy 2.5 has dropped
    from numba import cuda as numba_cuda

    theirs = numba_cuda.jit(saxpy.saxpy.py_func)
    # the function reads the global `cuda` of its module: give Numba a copy whose global is its own
    import types

    function = types.FunctionType(saxpy.saxpy.py_func.__code__, {**saxpy.saxpy.py_func.__globals__, "cuda": numba_cuda})
    theirs = numba_cuda.jit(function)[1, 32]
    n_x, n_y = numba_cuda.to_device(np.ones(32, np.float32)), numba_cuda.to_device(np.ones(32, np.float32))
    scalar_two["numba-cuda"] = timed(lambda: theirs(0.5, n_x, n_y))

    @numba_cuda.jit
    def empty():
        pass

    nothing = empty[1, 32]
    none["numba-cuda"] = timed(lambda: nothing())
    host_x, host_y = np.ones(1024, np.float32), np.ones(1024, np.float32)
    host["numba-cuda"] = timed(lambda: theirs(0.5, host_x, host_y))


def _transfers(quick):
    number = 200 if quick else 1000
    small = np.ones(1024, np.float32)
    d_small = cuda.to_device(small)
    contestants = {
        "to_device, 4 KB": {"krait": lambda: per_call(lambda: cuda.to_device(small), number) / 1e3},
        "copy_to_host, 4 KB": {"krait": lambda: per_call(lambda: d_small.copy_to_host(), number) / 1e3},
        "allocate and free, 4 KB": {
            "krait": lambda: per_call(lambda: cuda.device_array(1024, np.float32), number) / 1e3
        },
        "ufunc on 32 elements": {"krait": None},
    }
    x = cuda.to_device(np.ones(32))
    low = cuda.to_device(np.zeros(32))
    out = cuda.device_array(32)
    contestants["ufunc on 32 elements"]["krait"] = lambda: (
        per_call(lambda: vectorized.on_device(low, 1.5, x, out=out), number) / 1e3
    )
    reference = nvcc_reference()
    if reference:
        _add_floors(reference, contestants, x, out, number)
    rows = []
    for name, who in contestants.items():
        got = median_of_turns(who, 5)
        others = {n: got[n] for n in got if n != "krait"}
        rows.append(Row("transfers and small work", name, "us", got["krait"], others))
    return rows


def _add_floors(reference, contestants, x, out, number):
    """The driver API from C beside what it is called for."""
    count, block = ctypes.c_int64(number), (ctypes.c_float * 1024)()
    reference.memory_floor.restype = reference.launch_floor.restype = ctypes.c_double
    for what, name in enumerate(("to_device, 4 KB", "copy_to_host, 4 KB", "allocate and free, 4 KB")):
        contestants[name]["driver API from C"] = lambda what=what: (
            reference.memory_floor(what, block, ctypes.c_int64(ctypes.sizeof(block)), count) / 1e3
        )
    contestants["ufunc on 32 elements"]["cuLaunchKernel from C"] = lambda: (
        reference.launch_floor(address(x), address(out), ctypes.c_int64(32), count) / 1e3
    )


def rows(quick=False):
    if not cuda.is_available():
        print("(no GPU: the launch and kernel benchmarks are left out)")
        return []
    return _launches(quick) + _kernels(quick) + _transfers(quick)
