"""Loops over complex numbers: as pairs of floats, as complex numbers, Newton's method."""

import numpy as np

from krait import cuda

from . import Case

CUDA = r"""
extern "C" __global__ void mandelbrot(int *__restrict__ counts, double left, double top, double step, int limit,
                                      int rows, int columns) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (y >= rows || x >= columns) return;
    float cr = (float)left + (float)step * x, ci = (float)top + (float)step * y, zr = 0, zi = 0;
    int n = 0;
    while (n < limit && zr * zr + zi * zi <= 4.0f) {
        float t = zr * zr - zi * zi + cr;
        zi = 2 * zr * zi + ci;
        zr = t;
        n++;
    }
    counts[y * columns + x] = n;
}

extern "C" __global__ void julia(int *__restrict__ counts, double cr, double ci, int limit, int rows, int columns) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (y >= rows || x >= columns) return;
    double zr = 3.0 * x / columns - 1.5, zi = 3.0 * y / rows - 1.5;
    int n = 0;
    for (; n < limit; n++) {
        double r = zr * zr - zi * zi + cr, i = 2 * zr * zi + ci;
        zr = r, zi = i;
        if (zr * zr + zi * zi > 4.0) break;
    }
    counts[y * columns + x] = n;
}

extern "C" __global__ void newton(int *__restrict__ roots, double scale, int limit, int rows, int columns) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (y >= rows || x >= columns) return;
    float zr = (x - columns / 2) * (float)scale, zi = (y - rows / 2) * (float)scale;
    int n = 0;
    while (n < limit) {
        float sr = zr * zr - zi * zi, si = 2 * zr * zi;
        float fr = sr * zr - si * zi - 1, fi = sr * zi + si * zr;
        if (fr * fr + fi * fi < 1e-6f) break;
        float below = 3 * (sr * sr + si * si) + 1e-12f;
        zr -= (fr * sr + fi * si) / below;
        zi -= (fi * sr - fr * si) / below;
        n++;
    }
    roots[y * columns + x] = n;
}
"""


@cuda.jit
def mandelbrot(counts, left, top, step, limit):
    x, y = cuda.grid(2)
    if y >= counts.shape[0] or x >= counts.shape[1]:
        return
    cr = np.float32(left) + np.float32(step) * np.float32(x)
    ci = np.float32(top) + np.float32(step) * np.float32(y)
    zr = zi = np.float32(0)
    n = 0
    while n < limit and zr * zr + zi * zi <= 4.0:
        zr, zi = zr * zr - zi * zi + cr, 2 * zr * zi + ci
        n += 1
    counts[y, x] = n


@cuda.jit
def julia(counts, cr, ci, limit):
    x, y = cuda.grid(2)
    rows, columns = counts.shape
    if y >= rows or x >= columns:
        return
    z = complex(3.0 * x / columns - 1.5, 3.0 * y / rows - 1.5)
    c = complex(cr, ci)
    n = 0
    while n < limit:
        z = z * z + c
        if z.real * z.real + z.imag * z.imag > 4.0:
            break
        n += 1
    counts[y, x] = n


@cuda.jit
def newton(roots, scale, limit):
    x, y = cuda.grid(2)
    rows, columns = roots.shape
    if y >= rows or x >= columns:
        return
    zr, zi = np.float32(x - columns // 2) * np.float32(scale), np.float32(y - rows // 2) * np.float32(scale)
    n = 0
    while n < limit:
        sr, si = zr * zr - zi * zi, 2 * zr * zi
        fr, fi = sr * zr - si * zi - 1, sr * zi + si * zr
        if fr * fr + fi * fi < 1e-6:
            break
        below = 3 * (sr * sr + si * si) + 1e-12
        zr, zi = zr - (fr * sr + fi * si) / below, zi - (fi * sr - fr * si) / below
        n += 1
    roots[y, x] = n


def cases(rng):
    side = 2048
    counts, size = np.zeros((side, side), np.int32), (side, side)
    grid, block = (side // 16, side // 16), (16, 16)
    return [
        Case(mandelbrot, grid, block, (counts, -2.2, -1.2, 2.4 / side, 200), size, tolerance=1.0),
        Case(julia, grid, block, (counts, -0.8, 0.156, 100), size, tolerance=1.0),
        Case(newton, grid, block, (counts, 2.0 / side, 40), size, tolerance=1.0),
    ]
