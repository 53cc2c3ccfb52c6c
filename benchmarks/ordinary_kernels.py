"""Twenty kernels as people write them, for the time to a first result: each a name, the function and its arguments.

`made(cuda)` gives them for a module with Numba's names, so that the same functions are compiled by each.
"""

import math

import numpy as np

N = 4096


def block_sum(cuda, threads):
    """Sums of blocks of so many threads each, by a tree in shared memory."""

    def block_sum(x, out):
        part = cuda.shared.array(threads, np.float32)
        t = cuda.threadIdx.x
        i = cuda.grid(1)
        part[t] = x[i] if i < x.size else 0.0
        cuda.syncthreads()
        step = threads // 2
        while step > 0:
            if t < step:
                part[t] += part[t + step]
            cuda.syncthreads()
            step //= 2
        if t == 0:
            out[cuda.blockIdx.x] = part[0]

    return block_sum


def made(cuda):
    """[(name, function, block, arguments on the host)], the functions with the module as their global `cuda`."""
    rng = np.random.default_rng(0)
    f32 = [rng.random(N, np.float32) for _ in range(4)]
    f64 = [rng.random(N) for _ in range(4)]
    i32 = rng.integers(0, 64, N).astype(np.int32)
    square = rng.random((64, 64))

    def add(x, y, out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = x[i] + y[i]

    def scale(x, factor):
        i = cuda.grid(1)
        if i < x.size:
            x[i] *= factor

    def saxpy(a, x, y):
        for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
            y[i] = a * x[i] + y[i]

    def clip(x, low, high):
        i = cuda.grid(1)
        if i < x.size:
            x[i] = min(max(x[i], low), high)

    def polynomial(x, out):
        i = cuda.grid(1)
        if i < x.size:
            t = x[i]
            out[i] = ((2.0 * t - 1.5) * t + 0.25) * t - 3.0

    def distances(x, y, u, v, out):
        i = cuda.grid(1)
        if i < x.size:
            out[i] = math.sqrt((x[i] - u[i]) ** 2 + (y[i] - v[i]) ** 2)

    def sigmoid(x, out):
        i = cuda.grid(1)
        if i < x.size:
            out[i] = 1.0 / (1.0 + math.exp(-x[i]))

    def histogram(x, bins):
        i = cuda.grid(1)
        if i < x.size:
            cuda.atomic.add(bins, x[i], 1)

    def total(x, out):
        i = cuda.grid(1)
        if i < x.size:
            cuda.atomic.add(out, 0, x[i])

    def gather(x, where, out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = x[where[i]]

    def neighbours(x, out):
        i = cuda.grid(1)
        if 0 < i < x.size - 1:
            out[i] = (x[i - 1] + x[i] + x[i + 1]) / 3.0

    def transpose(a, out):
        i, j = cuda.grid(2)
        if i < a.shape[0] and j < a.shape[1]:
            out[j, i] = a[i, j]

    def matmul(a, b, out):
        i, j = cuda.grid(2)
        if i < out.shape[0] and j < out.shape[1]:
            s = 0.0
            for k in range(a.shape[1]):
                s += a[i, k] * b[k, j]
            out[i, j] = s

    def rows(a, out):
        i = cuda.grid(1)
        if i < a.shape[0]:
            s = 0.0
            for j in range(a.shape[1]):
                s += a[i, j]
            out[i] = s

    def largest(a, out):
        i = cuda.grid(1)
        if i < a.shape[0]:
            best = 0
            for j in range(1, a.shape[1]):
                if a[i, j] > a[i, best]:
                    best = j
            out[i] = best

    def collatz(x, out):
        i = cuda.grid(1)
        if i < x.size:
            n, steps = x[i] + 1, 0
            while n != 1:
                n = n // 2 if n % 2 == 0 else 3 * n + 1
                steps += 1
            out[i] = steps

    def mandelbrot(out):
        i = cuda.grid(1)
        if i < out.size:
            c = complex(-2.0 + 3.0 * i / out.size, 0.3)
            z = 0j
            n = 0
            while n < 50 and z.real * z.real + z.imag * z.imag < 4.0:
                z = z * z + c
                n += 1
            out[i] = n

    def wave(u, v, out, step):
        i, j = cuda.grid(2)
        if 0 < i < u.shape[0] - 1 and 0 < j < u.shape[1] - 1:
            near = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - 4.0 * u[i, j]
            out[i, j] = 2.0 * u[i, j] - v[i, j] + step * near

    def waves(x, out):
        i = cuda.grid(1)
        if i < x.size:
            out[i] = math.sin(x[i]) * math.cos(2.0 * x[i]) + math.log(1.0 + x[i])

    line, plane = 128, (16, 16)
    return [
        ("add", add, line, (f32[0], f32[1], f32[2])),
        ("scale", scale, line, (f64[0], 2.5)),
        ("saxpy", saxpy, line, (0.5, f32[0], f32[1])),
        ("clip", clip, line, (f64[0], 0.25, 0.75)),
        ("polynomial", polynomial, line, (f64[0], f64[1])),
        ("distances", distances, line, (*f64, f64[0].copy())),
        ("sigmoid", sigmoid, line, (f32[0], f32[1])),
        ("histogram", histogram, line, (i32, np.zeros(64, np.int32))),
        ("total", total, line, (f64[0], np.zeros(1))),
        ("gather", gather, line, (f32[0], i32, f32[1])),
        ("neighbours", neighbours, line, (f64[0], f64[1])),
        ("transpose", transpose, plane, (square, square.copy())),
        ("matmul", matmul, plane, (square, square.copy(), np.zeros((64, 64)))),
        ("rows", rows, line, (square, np.zeros(64))),
        ("largest", largest, line, (square, np.zeros(64, np.int64))),
        ("block_sum", block_sum(cuda, line), line, (f32[0], np.zeros(N // 128, np.float32))),
        ("collatz", collatz, line, (i32, np.zeros(N, np.int64))),
        ("mandelbrot", mandelbrot, line, (np.zeros(N, np.int32),)),
        ("wave", wave, plane, (square, square.copy(), np.zeros((64, 64)), 0.1)),
        ("waves", waves, line, (f32[0], f32[1])),
    ]


def grid(block, arguments):
    """Blocks for the largest array."""
    if isinstance(block, tuple):
        return (4, 4)
    return N // block
