"""Sorting: a step of a bitonic sort, a network in a local array, insertion in short rows, ranks of digits."""

import numpy as np

from krait import cuda

from . import Case, blocks

CUDA = r"""
extern "C" __global__ void bitonic_step(float *__restrict__ a, int span, int size, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, other = i ^ span;
    if (i >= n || other <= i) return;
    float x = a[i], y = a[other];
    if (((i & size) == 0) == (x > y)) {
        a[i] = y;
        a[other] = x;
    }
}

extern "C" __global__ void network(float *__restrict__ a, int rows) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float v[8];
    for (int i = 0; i < 8; i++) v[i] = a[i * rows + row];
    for (int round = 0; round < 8; round++)
        for (int i = round % 2; i < 7; i += 2) {
            float low = fminf(v[i], v[i + 1]), high = fmaxf(v[i], v[i + 1]);
            v[i] = low;
            v[i + 1] = high;
        }
    for (int i = 0; i < 8; i++) a[i * rows + row] = v[i];
}

extern "C" __global__ void insertion(const int *__restrict__ a, int *__restrict__ out, int rows, int width) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    for (int i = 0; i < width; i++) {
        int value = a[i * rows + row], k = i;
        while (k > 0 && out[(k - 1) * rows + row] > value) {
            out[k * rows + row] = out[(k - 1) * rows + row];
            k--;
        }
        out[k * rows + row] = value;
    }
}

extern "C" __global__ void digit_counts(const unsigned *__restrict__ keys, int *__restrict__ counts, int shift, int n) {
    __shared__ int count[16];
    int t = threadIdx.x;
    if (t < 16) count[t] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&count[(keys[i] >> shift) & 15], 1);
    __syncthreads();
    if (t < 16) counts[t * gridDim.x + blockIdx.x] = count[t];
}
"""


@cuda.jit
def bitonic_step(a, span, size):
    i = cuda.grid(1)
    other = i ^ span
    if i >= a.size or other <= i:
        return
    x, y = a[i], a[other]
    if ((i & size) == 0) == (x > y):
        a[i], a[other] = y, x


@cuda.jit
def network(a):
    row = cuda.grid(1)
    if row >= a.shape[1]:
        return
    v = cuda.local.array(8, np.float32)
    for i in range(8):
        v[i] = a[i, row]
    for round in range(8):
        for i in range(round % 2, 7, 2):
            low, high = min(v[i], v[i + 1]), max(v[i], v[i + 1])
            v[i], v[i + 1] = low, high
    for i in range(8):
        a[i, row] = v[i]


@cuda.jit
def insertion(a, out):
    row = cuda.grid(1)
    if row >= a.shape[1]:
        return
    for i in range(a.shape[0]):
        value = a[i, row]
        k = i
        while k > 0 and out[k - 1, row] > value:
            out[k, row] = out[k - 1, row]
            k -= 1
        out[k, row] = value


@cuda.jit
def digit_counts(keys, counts, shift):
    count = cuda.shared.array(16, np.int32)
    t = cuda.threadIdx.x
    if t < 16:
        count[t] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), keys.size, cuda.gridsize(1)):
        cuda.atomic.add(count, (keys[i] >> shift) & 15, 1)
    cuda.syncthreads()
    if t < 16:
        counts[t, cuda.blockIdx.x] = count[t]


def cases(rng):
    n, rows = 1 << 24, 1 << 20
    line = rng.random(n, np.float32)
    keys = rng.integers(0, 1 << 32, n, np.uint32)
    short = rng.integers(0, 1000, (24, 1 << 16)).astype(np.int32)
    return [
        Case(bitonic_step, blocks(n), 256, (line, 64, 1024), (n,)),
        Case(network, blocks(rows), 256, (line[: 8 * rows].reshape(8, rows),), (rows,)),
        Case(insertion, blocks(1 << 16), 256, (short, np.zeros_like(short)), (1 << 16, 24)),
        Case(digit_counts, 1024, 256, (keys, np.zeros((16, 1024), np.int32), 8), (n,)),
    ]
