"""Loops on the host and kernels on the host device, against C (gcc -O3 -march=native) and Numba."""

import ctypes
import math
import os
import time

import host_loop
import matmul
import numpy as np
import ordinary_kernels
from common import Row, c_reference, have, median_of_turns, milliseconds


def sum_loop(x):
    total = 0.0
    for i in range(x.size):
        total += x[i]
    return total


def saxpy_loop(a, x, y):
    for i in range(x.size):
        y[i] = a * x[i] + y[i]


def sin_loop(x, y):
    for i in range(x.size):
        y[i] = np.sin(x[i])


def math_sin_loop(x, y):
    for i in range(x.size):
        y[i] = math.sin(x[i])


def matmul_loop(a, b, c):
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            total = 0.0
            for k in range(a.shape[1]):
                total += a[i, k] * b[k, j]
            c[i, j] = total


def _pointer(array):
    return ctypes.c_void_p(array.ctypes.data)


def _loops(quick, reference):
    from krait import njit

    makers = {"krait": njit}
    if have("numba"):
        import numba

        makers["Numba"] = numba.njit
    n, m, size = 4_000_000, 200_000, 300
    rng = np.random.default_rng(1)
    x, y = rng.random(n), np.zeros(n)
    x32, y32 = x.astype(np.float32), np.zeros(n, np.float32)
    a, b, c = rng.random((size, size)), rng.random((size, size)), np.zeros((size, size))
    one = np.float32(0.5)
    i64 = ctypes.c_int64
    table = [
        ("sum of float64", sum_loop, (x,), lambda r: (_typed(r.sum_loop, ctypes.c_double), (_pointer(x), i64(n)))),
        (
            "saxpy, float32",
            saxpy_loop,
            (one, x32, y32),
            lambda r: (r.saxpy_loop, (ctypes.c_float(0.5), _pointer(x32), _pointer(y32), i64(n))),
        ),
        ("np.sin of float64", sin_loop, (x, y), lambda r: (r.sin_loop, (_pointer(x), _pointer(y), i64(n)))),
        ("math.sin of float64", math_sin_loop, (x, y), lambda r: (r.sin_loop, (_pointer(x), _pointer(y), i64(n)))),
        (
            "Collatz, integers",
            host_loop.collatz_longest.py_func,
            (m,),
            lambda r: (_typed(r.collatz_longest, i64), (i64(m),)),
        ),
        (
            "matrix product, three loops",
            matmul_loop,
            (a, b, c),
            lambda r: (r.matmul_loop, (_pointer(a), _pointer(b), _pointer(c), i64(size))),
        ),
    ]
    out = []
    for name, function, args, in_c in table:
        contestants = {}
        for who, make in makers.items():
            compiled = make(function)
            compiled(*args)
            contestants[who] = lambda compiled=compiled, args=args: milliseconds(lambda: compiled(*args))
        if reference:
            call, c_args = in_c(reference)
            contestants["C"] = lambda call=call, c_args=c_args: milliseconds(lambda: call(*c_args))
        got = median_of_turns(contestants, 3 if quick else 9)
        out.append(Row("host loops", name, "ms", got["krait"], {n: got[n] for n in got if n != "krait"}))
    return out


def _typed(function, result):
    function.restype = result
    return function


def _milliseconds_of_several(call, number=20):
    """Of one call, in a row of them after a pause: threads that spin for a while after their work, as OpenMP's do, are
    then neither missing nor in the way of another contestant."""
    time.sleep(0.01)
    call()
    start = time.perf_counter()
    for _ in range(number):
        call()
    return (time.perf_counter() - start) * 1e3 / number


def _kernels(quick, reference):
    import heat
    import mandelbrot
    import matrix_add
    import saxpy
    import vector_add

    from krait import cuda

    n, rows, columns, limit, side = 4_000_000, 1000, 1000, 100, 400
    rng = np.random.default_rng(2)
    x, y, out = rng.random(n, np.float32), rng.random(n, np.float32), np.zeros(n, np.float32)
    u, new = rng.random((rows, columns)), np.zeros((rows, columns))
    counts = np.zeros((rows, columns), np.int32)
    a, b, c = (rng.random((side, side), np.float32) for _ in range(3))
    arrays = dict(x=x, y=y, out=out, u=u, new=new, counts=counts, a=a, b=b, c=c)
    d = {name: cuda.to_device(array) for name, array in arrays.items()}
    i64, f64 = ctypes.c_int64, ctypes.c_double
    blocks, tiles, strips = (
        (n + 255) // 256,
        ((rows + 15) // 16, (columns + 15) // 16),
        ((columns + 31) // 32, (rows + 7) // 8),
    )
    few = (side + 15) // 16
    table = [
        (
            "vector add",
            lambda: vector_add.vector_add[blocks, 256](d["x"], d["y"], d["out"]),
            lambda r: r.vector_add_parallel(_pointer(x), _pointer(y), _pointer(out), i64(n)),
        ),
        (
            "saxpy",
            lambda: saxpy.saxpy[blocks, 256](0.5, d["x"], d["y"]),
            lambda r: r.saxpy_parallel(ctypes.c_float(0.5), _pointer(x), _pointer(y), i64(n)),
        ),
        (
            "matrix add in place",
            lambda: matrix_add.add_in_place[tiles, (16, 16)](d["u"], 2.5),
            lambda r: r.matrix_add_parallel(_pointer(u), f64(2.5), i64(rows), i64(columns)),
        ),
        (
            "matrix product, naive",
            lambda: matmul.matmul_naive[(few, few), (16, 16)](d["a"], d["b"], d["c"]),
            lambda r: r.matmul_parallel(_pointer(a), _pointer(b), _pointer(c), i64(side)),
        ),
        (
            "heat step",
            lambda: heat.heat_step[strips, (32, 8)](d["u"], d["new"], 0.2),
            lambda r: r.heat_parallel(_pointer(u), _pointer(new), f64(0.2), i64(rows), i64(columns)),
        ),
        (
            "Mandelbrot",
            lambda: mandelbrot.mandelbrot[tiles, (16, 16)](-2.2, 1.2, 2.4 / rows, limit, d["counts"]),
            lambda r: r.mandelbrot_parallel(
                f64(-2.2), f64(1.2), f64(2.4 / rows), i64(limit), _pointer(counts), i64(rows), i64(columns)
            ),
        ),
    ]
    result = []
    for name, kernel, in_c in table:
        kernel()
        contestants = {"krait": lambda kernel=kernel: _milliseconds_of_several(kernel)}
        if reference:
            contestants["C, OpenMP"] = lambda in_c=in_c: _milliseconds_of_several(lambda: in_c(reference))
        got = median_of_turns(contestants, 3 if quick else 9)
        result.append(
            Row(
                "host device, no barriers",
                name,
                "ms",
                got["krait"],
                {n: got[n] for n in got if n != "krait"},
                limit="at most 1.5 of C",
            )
        )
    return result


def _kernels_with_barriers():
    """Of a grid of blocks of 256 threads, and of nine barriers."""
    from krait import cuda, float32

    @cuda.jit
    def rounds(x, out):
        shared = cuda.shared.array(256, float32)
        t, i = cuda.threadIdx.x, cuda.grid(1)
        kept = x[i]
        shared[t] = kept
        cuda.syncthreads()
        for k in range(4):
            beside = shared[(t + k + 1) % 256]
            cuda.syncthreads()
            kept = kept * float32(0.5) + beside
            shared[t] = kept
            cuda.syncthreads()
        out[i] = shared[255 - t]

    return cuda.jit(ordinary_kernels.block_sum(cuda, 256)), rounds


def _split(quick, reference):
    """Loops between barriers; C has them split by hand."""
    from krait import cuda

    n, side, few = 1 << 20, 512, 1 << 16
    rng = np.random.default_rng(4)
    x, sums, out = rng.random(n, np.float32), np.zeros(n // 256, np.float32), np.zeros(few, np.float32)
    a, b, c = (rng.random((side, side), np.float32) for _ in range(3))
    d = {name: cuda.to_device(array) for name, array in dict(x=x, sums=sums, out=out, a=a, b=b, c=c).items()}
    block_sums, rounds = _kernels_with_barriers()
    tiles = side // matmul.TILE
    table = [
        (
            "block sums, 9 barriers",
            lambda: block_sums[n // 256, 256](d["x"], d["sums"]),
            lambda r: r.block_sums_split(_pointer(x), _pointer(sums), ctypes.c_int64(n)),
            ("sums", sums),
        ),
        (
            f"tiled matrix product, {2 * tiles} barriers",
            lambda: matmul.matmul_shared[(tiles, tiles), (16, 16)](d["a"], d["b"], d["c"]),
            lambda r: r.matmul_tiles_split(_pointer(a), _pointer(b), _pointer(c), ctypes.c_int64(side)),
            ("c", c),
        ),
        (
            "65,536 threads, 9 barriers",
            lambda: rounds[few // 256, 256](d["x"], d["out"]),
            lambda r: r.rounds_split(_pointer(x), _pointer(out), ctypes.c_int64(few)),
            ("out", out),
        ),
    ]
    result = []
    for name, kernel, in_c, (which, theirs) in table:
        kernel()
        contestants = {"krait": lambda kernel=kernel: _milliseconds_of_several(kernel)}
        if reference:
            in_c(reference)
            np.testing.assert_array_equal(d[which].copy_to_host(), theirs)
            contestants["C, split by hand"] = lambda in_c=in_c: _milliseconds_of_several(lambda: in_c(reference))
        got = median_of_turns(contestants, 3 if quick else 9)
        others = {n: got[n] for n in got if n != "krait"}
        result.append(Row("host device, barriers", name, "ms", got["krait"], others, limit="at most 2 of C"))
    return result


def _barriers(quick):
    from krait import cuda

    n = 512
    rng = np.random.default_rng(3)
    a, b, c = (cuda.to_device(rng.random((n, n), np.float32)) for _ in range(3))
    blocks = n // matmul.TILE

    def krait_run():
        start = time.perf_counter()
        matmul.matmul_shared[(blocks, blocks), (16, 16)](a, b, c)
        return n * n / (time.perf_counter() - start)

    krait_run()
    contestants, others = {"krait": krait_run}, {}
    if have("numba"):
        others["Numba's simulator"] = _simulator()
    got = median_of_turns(contestants, 3 if quick else 5)
    return [
        Row(
            "host device, barriers",
            f"tiled matrix product, {2 * (n // 16)} barriers",
            "threads/s",
            got["krait"],
            others,
            rate=True,
            limit="at least 1000 times the simulator's",
        )
    ]


def _simulator():
    """Threads a second of the same kernel on Numba's CUDA simulator, on a problem small enough for it (the same 16x16
    blocks)."""
    import inspect

    from common import child

    os.environ["NUMBA_ENABLE_CUDASIM"] = "1"
    try:
        source = inspect.getsource(matmul.matmul_shared.py_func)
        return child(f"""
import json, time
import numpy as np
from numba import cuda
TILE = 16
{source}
n = 32
a = np.ones((n, n), np.float32); b = a.copy(); c = a.copy()
start = time.perf_counter()
matmul_shared[(2, 2), (16, 16)](a, b, c)
assert (c == n).all()
print(json.dumps(n * n / (time.perf_counter() - start)))
""")
    finally:
        del os.environ["NUMBA_ENABLE_CUDASIM"]


def rows(quick=False):
    reference = c_reference()
    out = _loops(quick, reference)
    from krait import cuda

    if cuda.is_available():
        print("(the host device is measured with KRAIT_CUDA_DEVICE=cpu)")
        return out
    return out + _kernels(quick, reference) + _split(quick, reference) + _barriers(quick)
