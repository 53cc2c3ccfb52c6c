"""Stencils in one to three dimensions: bounds tested, clamped, periodic, a wave with two time levels."""

import numpy as np

from krait import cuda

from . import Case, blocks

CUDA = r"""
extern "C" __global__ void five_points(const double *__restrict__ a, double *__restrict__ b, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= 2 && i < n - 2) b[i] = (a[i - 2] - 8 * a[i - 1] + 8 * a[i + 1] - a[i + 2]) / 12;
}

extern "C" __global__ void clamped(const float *__restrict__ a, float *__restrict__ b, int rows, int columns) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (y >= rows || x >= columns) return;
    int up = max(y - 1, 0), down = min(y + 1, rows - 1), left = max(x - 1, 0), right = min(x + 1, columns - 1);
    b[y * columns + x] = 0.2f * (a[y * columns + x] + a[up * columns + x] + a[down * columns + x] +
                                 a[y * columns + left] + a[y * columns + right]);
}

extern "C" __global__ void periodic(const float *__restrict__ a, float *__restrict__ b, int rows, int columns) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (y >= rows || x >= columns) return;
    int up = (y + rows - 1) % rows, down = (y + 1) % rows, left = (x + columns - 1) % columns;
    int right = (x + 1) % columns;
    b[y * columns + x] = a[up * columns + x] + a[down * columns + x] + a[y * columns + left] +
                         a[y * columns + right] - 4 * a[y * columns + x];
}

extern "C" __global__ void seven_points(const float *__restrict__ a, float *__restrict__ b, int nz, int ny, int nx) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x < 1 || y < 1 || z < 1 || x >= nx - 1 || y >= ny - 1 || z >= nz - 1) return;
    int at = (z * ny + y) * nx + x;
    b[at] = 0.4f * a[at] + 0.1f * (a[at - 1] + a[at + 1] + a[at - nx] + a[at + nx] + a[at - ny * nx] +
                                   a[at + ny * nx]);
}

extern "C" __global__ void wave(const float *__restrict__ now, float *__restrict__ before,
                                const float *__restrict__ speed, int rows, int columns) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (y >= 1 && y < rows - 1 && x >= 1 && x < columns - 1) {
        int at = y * columns + x;
        float around = now[at - 1] + now[at + 1] + now[at - columns] + now[at + columns] - 4 * now[at];
        before[at] = 2 * now[at] - before[at] + speed[at] * around;
    }
}

extern "C" __global__ void life(const unsigned char *__restrict__ a, unsigned char *__restrict__ b, int n) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (y >= n || x >= n) return;
    int count = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            if (dy != 0 || dx != 0) count += a[((y + dy + n) % n) * n + (x + dx + n) % n];
    b[y * n + x] = count == 3 || (count == 2 && a[y * n + x]) ? 1 : 0;
}
"""


@cuda.jit
def five_points(a, b):
    i = cuda.grid(1)
    if i >= 2 and i < a.size - 2:
        b[i] = (a[i - 2] - 8 * a[i - 1] + 8 * a[i + 1] - a[i + 2]) / 12


@cuda.jit
def clamped(a, b):
    x, y = cuda.grid(2)
    rows, columns = a.shape
    if y >= rows or x >= columns:
        return
    up, down, left, right = max(y - 1, 0), min(y + 1, rows - 1), max(x - 1, 0), min(x + 1, columns - 1)
    b[y, x] = 0.2 * (a[y, x] + a[up, x] + a[down, x] + a[y, left] + a[y, right])


@cuda.jit
def periodic(a, b):
    x, y = cuda.grid(2)
    rows, columns = a.shape
    if y < rows and x < columns:
        around = a[(y - 1) % rows, x] + a[(y + 1) % rows, x] + a[y, (x - 1) % columns] + a[y, (x + 1) % columns]
        b[y, x] = around - 4 * a[y, x]


@cuda.jit
def seven_points(a, b):
    x, y, z = cuda.grid(3)
    nz, ny, nx = a.shape
    if x < 1 or y < 1 or z < 1 or x >= nx - 1 or y >= ny - 1 or z >= nz - 1:
        return
    around = a[z, y, x - 1] + a[z, y, x + 1] + a[z, y - 1, x] + a[z, y + 1, x] + a[z - 1, y, x] + a[z + 1, y, x]
    b[z, y, x] = 0.4 * a[z, y, x] + 0.1 * around


@cuda.jit
def wave(now, before, speed):
    x, y = cuda.grid(2)
    if 1 <= y < now.shape[0] - 1 and 1 <= x < now.shape[1] - 1:
        around = now[y, x - 1] + now[y, x + 1] + now[y - 1, x] + now[y + 1, x] - 4 * now[y, x]
        before[y, x] = 2 * now[y, x] - before[y, x] + speed[y, x] * around


@cuda.jit
def life(a, b):
    x, y = cuda.grid(2)
    n = a.shape[0]
    if y >= n or x >= a.shape[1]:
        return
    count = 0
    for dy in range(-1, 2):
        for dx in range(-1, 2):
            if dy != 0 or dx != 0:
                count += a[(y + dy) % n, (x + dx) % n]
    b[y, x] = 1 if count == 3 or (count == 2 and a[y, x]) else 0


def cases(rng):
    n, side, cube = 1 << 24, 4096, 256
    line = rng.random(n)
    a, b = rng.random((side, side), np.float32), np.zeros((side, side), np.float32)
    volume = rng.random((cube, cube, cube), np.float32)
    cells = rng.integers(0, 2, (side, side), np.uint8)
    flat, block = (side // 32, side // 8), (32, 8)
    return [
        Case(five_points, blocks(n), 256, (line, np.zeros(n)), (n,)),
        Case(clamped, flat, block, (a, b), (side, side)),
        Case(periodic, flat, block, (a, b), (side, side)),
        Case(seven_points, (cube // 32, cube // 4, cube // 2), (32, 4, 2), (volume, np.zeros_like(volume)),
             (cube, cube, cube)),
        Case(wave, flat, block, (a, b, b + np.float32(0.1)), (side, side), repeatable=False),
        Case(life, flat, block, (cells, np.zeros_like(cells)), (side,)),
    ]
