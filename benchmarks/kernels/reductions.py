"""Reductions and scans: rows, warps, blocks, the place of the largest, running sums."""

import numpy as np

from krait import cuda

from . import Case, block_sum, blocks

CUDA = r"""
extern "C" __global__ void row_sums(const float *__restrict__ a, float *__restrict__ out, int rows, int columns) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float total = 0;
    for (int k = 0; k < columns; k++) total += a[row * columns + k];
    out[row] = total;
}

extern "C" __global__ void dot(const double *__restrict__ x, const double *__restrict__ y, double *__restrict__ out,
                               int n) {
    __shared__ double parts[256];
    int t = threadIdx.x;
    double total = 0;
    for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x) total += x[i] * y[i];
    parts[t] = total;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (t < half) parts[t] += parts[t + half];
        __syncthreads();
    }
    if (t == 0) atomicAdd(out, parts[0]);
}

extern "C" __global__ void largest(const float *__restrict__ a, float *__restrict__ value, int *__restrict__ place,
                                   int columns) {
    __shared__ float values[128];
    __shared__ int places[128];
    int t = threadIdx.x, row = blockIdx.x, at = -1;
    float best = -INFINITY;
    for (int k = t; k < columns; k += 128) {
        float x = a[row * columns + k];
        if (x > best) best = x, at = k;
    }
    values[t] = best;
    places[t] = at;
    __syncthreads();
    for (int half = 64; half > 0; half /= 2) {
        if (t < half && values[t + half] > values[t]) {
            values[t] = values[t + half];
            places[t] = places[t + half];
        }
        __syncthreads();
    }
    if (t == 0) value[row] = values[0], place[row] = places[0];
}

extern "C" __global__ void block_scan(const int *__restrict__ a, int *__restrict__ out, int n) {
    __shared__ int sums[512];
    int t = threadIdx.x, i = blockIdx.x * 512 + t;
    sums[t] = i < n ? a[i] : 0;
    __syncthreads();
    for (int offset = 1; offset < 512; offset *= 2) {
        int add = t >= offset ? sums[t - offset] : 0;
        __syncthreads();
        sums[t] += add;
        __syncthreads();
    }
    if (i < n) out[i] = sums[t];
}

extern "C" __global__ void running_rows(const float *__restrict__ a, float *__restrict__ out, int rows, int columns) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float total = 0;
    for (int k = 0; k < columns; k++) {
        total = 0.9f * total + a[k * rows + row];
        out[k * rows + row] = total;
    }
}

extern "C" __global__ void warp_extent(const float *__restrict__ a, float *__restrict__ out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float low = INFINITY, high = -INFINITY;
    for (int k = i; k < n; k += gridDim.x * blockDim.x) {
        low = fminf(low, a[k]);
        high = fmaxf(high, a[k]);
    }
    for (int step = 16; step > 0; step /= 2) {
        low = fminf(low, __shfl_xor_sync(0xffffffff, low, step));
        high = fmaxf(high, __shfl_xor_sync(0xffffffff, high, step));
    }
    if (threadIdx.x % 32 == 0) out[i / 32] = high - low;
}
"""


@cuda.jit
def row_sums(a, out):
    row = cuda.grid(1)
    if row < a.shape[0]:
        total = np.float32(0)
        for k in range(a.shape[1]):
            total += a[row, k]
        out[row] = total


@cuda.jit
def dot(x, y, out):
    parts = cuda.shared.array(256, np.float64)
    t = cuda.threadIdx.x
    total = 0.0
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        total += x[i] * y[i]
    parts[t] = total
    total = block_sum(parts, 128)
    if t == 0:
        cuda.atomic.add(out, 0, total)


@cuda.jit
def largest(a, value, place):
    values = cuda.shared.array(128, np.float32)
    places = cuda.shared.array(128, np.int32)
    t, row = cuda.threadIdx.x, cuda.blockIdx.x
    best, at = np.float32(-np.inf), -1
    for k in range(t, a.shape[1], 128):
        x = a[row, k]
        if x > best:
            best, at = x, k
    values[t] = best
    places[t] = at
    cuda.syncthreads()
    half = 64
    while half > 0:
        if t < half and values[t + half] > values[t]:
            values[t] = values[t + half]
            places[t] = places[t + half]
        cuda.syncthreads()
        half //= 2
    if t == 0:
        value[row], place[row] = values[0], places[0]


@cuda.jit
def block_scan(a, out):
    sums = cuda.shared.array(512, np.int32)
    t = cuda.threadIdx.x
    i = cuda.blockIdx.x * 512 + t
    sums[t] = a[i] if i < a.size else 0
    cuda.syncthreads()
    offset = 1
    while offset < 512:
        add = sums[t - offset] if t >= offset else 0
        cuda.syncthreads()
        sums[t] += add
        cuda.syncthreads()
        offset *= 2
    if i < a.size:
        out[i] = sums[t]


@cuda.jit
def running_rows(a, out):
    row = cuda.grid(1)
    if row < a.shape[1]:
        total = np.float32(0)
        for k in range(a.shape[0]):
            total = np.float32(0.9) * total + a[k, row]
            out[k, row] = total


@cuda.jit
def warp_extent(a, out):
    i = cuda.grid(1)
    low, high = np.float32(np.inf), np.float32(-np.inf)
    for k in range(i, a.size, cuda.gridsize(1)):
        low = min(low, a[k])
        high = max(high, a[k])
    step = 16
    while step > 0:
        low = min(low, cuda.shfl_xor_sync(0xFFFFFFFF, low, step))
        high = max(high, cuda.shfl_xor_sync(0xFFFFFFFF, high, step))
        step //= 2
    if cuda.threadIdx.x % 32 == 0:
        out[i // 32] = high - low


def cases(rng):
    n, rows, columns = 1 << 24, 1 << 14, 512
    a = rng.random((rows, columns), np.float32)
    x = rng.random(n)
    counts = rng.integers(0, 9, n).astype(np.int32)
    line = rng.random(n, np.float32)
    return [
        Case(row_sums, blocks(rows, 64), 64, (a, np.zeros(rows, np.float32)), (rows, columns)),
        Case(dot, 1024, 256, (x, rng.random(n), np.zeros(1)), (n,)),
        Case(largest, rows, 128, (a, np.zeros(rows, np.float32), np.zeros(rows, np.int32)), (columns,)),
        Case(block_scan, n // 512, 512, (counts, np.zeros_like(counts)), (n,)),
        Case(running_rows, blocks(1 << 16, 128), 128,
             (line[: 1 << 23].reshape(128, 1 << 16), np.zeros((128, 1 << 16), np.float32)), (1 << 16, 128)),
        Case(warp_extent, 1024, 256, (line, np.zeros(1024 * 8, np.float32)), (n,)),
    ]
