"""Dense linear algebra: products with registers and shared memory, a transposition, small systems in local arrays."""

import numpy as np

from krait import cuda

from . import Case, blocks

CUDA = r"""
extern "C" __global__ void matrix_vector(const float *__restrict__ a, const float *__restrict__ x,
                                         float *__restrict__ y, int rows, int columns) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float total = 0;
    for (int k = 0; k < columns; k++) total += a[k * rows + row] * x[k];
    y[row] = total;
}

extern "C" __global__ void register_tiles(const float *__restrict__ a, const float *__restrict__ b,
                                          float *__restrict__ c, int n) {
    __shared__ float left[16][65], right[16][64];
    int tx = threadIdx.x, ty = threadIdx.y, t = ty * 16 + tx;
    int row0 = blockIdx.y * 64, column0 = blockIdx.x * 64;
    float sums[4][4];
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) sums[i][j] = 0;
    for (int k0 = 0; k0 < n; k0 += 16) {
        for (int i = 0; i < 4; i++) {
            int at = t + i * 256;
            left[at % 16][at / 16] = a[(row0 + at / 16) * n + k0 + at % 16];
            right[at / 64][at % 64] = b[(k0 + at / 64) * n + column0 + at % 64];
        }
        __syncthreads();
        for (int k = 0; k < 16; k++)
            for (int i = 0; i < 4; i++)
                for (int j = 0; j < 4; j++) sums[i][j] += left[k][ty + i * 16] * right[k][tx + j * 16];
        __syncthreads();
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) c[(row0 + ty + i * 16) * n + column0 + tx + j * 16] = sums[i][j];
}

extern "C" __global__ void transpose(const float *__restrict__ a, float *__restrict__ b, int n) {
    __shared__ float tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        if (x < n && y + j < n) tile[threadIdx.y + j][threadIdx.x] = a[(y + j) * n + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        if (x < n && y + j < n) b[(y + j) * n + x] = tile[threadIdx.x][threadIdx.y + j];
}

extern "C" __global__ void solve_small(const float *__restrict__ systems, const float *__restrict__ right,
                                       float *__restrict__ out, int count) {
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= count) return;
    float m[4][5];
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 4; j++) m[i][j] = systems[(i * 4 + j) * count + s];
        m[i][4] = right[i * count + s];
    }
    for (int k = 0; k < 4; k++) {
        float inverse = 1.0f / m[k][k];
        for (int i = k + 1; i < 4; i++) {
            float factor = m[i][k] * inverse;
            for (int j = k; j < 5; j++) m[i][j] -= factor * m[k][j];
        }
    }
    for (int i = 3; i >= 0; i--) {
        float x = m[i][4];
        for (int j = i + 1; j < 4; j++) x -= m[i][j] * m[j][4];
        m[i][4] = x / m[i][i];
        out[i * count + s] = m[i][4];
    }
}

extern "C" __global__ void rank_one(double *__restrict__ a, const double *__restrict__ x,
                                    const double *__restrict__ y, double scale, int rows, int columns) {
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows && column < columns) a[row * columns + column] += scale * x[row] * y[column];
}
"""


@cuda.jit
def matrix_vector(a, x, y):
    row = cuda.grid(1)
    if row < y.size:
        total = np.float32(0)
        for k in range(x.size):
            total += a[k, row] * x[k]
        y[row] = total


@cuda.jit
def register_tiles(a, b, c):
    left = cuda.shared.array((16, 65), np.float32)
    right = cuda.shared.array((16, 64), np.float32)
    sums = cuda.local.array((4, 4), np.float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    t = ty * 16 + tx
    row0, column0 = cuda.blockIdx.y * 64, cuda.blockIdx.x * 64
    for i in range(4):
        for j in range(4):
            sums[i, j] = 0
    for k0 in range(0, a.shape[1], 16):
        for i in range(4):
            at = t + i * 256
            left[at % 16, at // 16] = a[row0 + at // 16, k0 + at % 16]
            right[at // 64, at % 64] = b[k0 + at // 64, column0 + at % 64]
        cuda.syncthreads()
        for k in range(16):
            for i in range(4):
                for j in range(4):
                    sums[i, j] += left[k, ty + i * 16] * right[k, tx + j * 16]
        cuda.syncthreads()
    for i in range(4):
        for j in range(4):
            c[row0 + ty + i * 16, column0 + tx + j * 16] = sums[i, j]


@cuda.jit
def transpose(a, b):
    tile = cuda.shared.array((32, 33), np.float32)
    n = a.shape[0]
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    x, y = cuda.blockIdx.x * 32 + tx, cuda.blockIdx.y * 32 + ty
    for j in range(0, 32, 8):
        if x < n and y + j < n:
            tile[ty + j, tx] = a[y + j, x]
    cuda.syncthreads()
    x, y = cuda.blockIdx.y * 32 + tx, cuda.blockIdx.x * 32 + ty
    for j in range(0, 32, 8):
        if x < n and y + j < n:
            b[y + j, x] = tile[tx, ty + j]


@cuda.jit
def solve_small(systems, right, out):
    s = cuda.grid(1)
    if s >= out.shape[1]:
        return
    m = cuda.local.array((4, 5), np.float32)
    for i in range(4):
        for j in range(4):
            m[i, j] = systems[i, j, s]
        m[i, 4] = right[i, s]
    for k in range(4):
        inverse = 1 / m[k, k]
        for i in range(k + 1, 4):
            factor = m[i, k] * inverse
            for j in range(k, 5):
                m[i, j] -= factor * m[k, j]
    for i in range(3, -1, -1):
        x = m[i, 4]
        for j in range(i + 1, 4):
            x -= m[i, j] * m[j, 4]
        m[i, 4] = x / m[i, i]
        out[i, s] = m[i, 4]


@cuda.jit
def rank_one(a, x, y, scale):
    column, row = cuda.grid(2)
    if row < a.shape[0] and column < a.shape[1]:
        a[row, column] += scale * x[row] * y[column]


def cases(rng):
    n = 1024
    a, b = rng.random((n, n), np.float32), rng.random((n, n), np.float32)
    tall = rng.random((512, 1 << 16), np.float32)
    large = rng.random((4096, 4096), np.float32)
    count = 1 << 19
    systems = rng.random((4, 4, count), np.float32) + 4 * np.eye(4, dtype=np.float32)[:, :, None]
    update = rng.random((4096, 4096))
    return [
        Case(matrix_vector, blocks(1 << 16, 128), 128, (tall, tall[0, :512].copy(), np.zeros(1 << 16, np.float32)),
             (1 << 16, 512)),
        Case(register_tiles, (n // 64, n // 64), (16, 16), (a, b, np.zeros_like(a)), (n,)),
        Case(transpose, (128, 128), (32, 8), (large, np.zeros_like(large)), (4096,)),
        Case(solve_small, blocks(count), 256,
             (systems, rng.random((4, count), np.float32), np.zeros((4, count), np.float32)), (count,)),
        Case(rank_one, (4096 // 32, 4096 // 8), (32, 8), (update, rng.random(4096), rng.random(4096), 1e-3),
             (4096, 4096)),
    ]
