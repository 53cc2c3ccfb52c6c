"""Histograms, gathers and scatters."""

import numpy as np

from krait import cuda

from . import Case, blocks

CUDA = r"""
extern "C" __global__ void histogram(const unsigned char *__restrict__ values, int *__restrict__ counts, int n) {
    __shared__ int part[256];
    int t = threadIdx.x;
    part[t] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x) atomicAdd(&part[values[i]], 1);
    __syncthreads();
    atomicAdd(&counts[t], part[t]);
}

extern "C" __global__ void bins(const float *__restrict__ x, int *__restrict__ counts, double low, double high,
                                int nbins, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float scale = (float)nbins / ((float)high - (float)low);
    float place = (x[i] - (float)low) * scale;
    if (place >= 0 && place < nbins) atomicAdd(&counts[(int)place], 1);
}

extern "C" __global__ void gather_rows(const float *__restrict__ table, const int *__restrict__ rows,
                                       float *__restrict__ out, int count, int width) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= count * width) return;
    int i = k / width, j = k % width;
    out[i * width + j] = table[rows[i] * width + j];
}

extern "C" __global__ void permute(const double *__restrict__ a, const int *__restrict__ place, double *__restrict__ b,
                                   int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) b[place[i]] = a[i];
}
"""


@cuda.jit
def histogram(values, counts):
    part = cuda.shared.array(256, np.int32)
    t = cuda.threadIdx.x
    part[t] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), values.size, cuda.gridsize(1)):
        cuda.atomic.add(part, values[i], 1)
    cuda.syncthreads()
    cuda.atomic.add(counts, t, part[t])


@cuda.jit
def bins(x, counts, low, high):
    i = cuda.grid(1)
    if i >= x.size:
        return
    nbins = counts.size
    scale = np.float32(nbins) / (np.float32(high) - np.float32(low))
    place = (x[i] - np.float32(low)) * scale
    if place >= 0 and place < nbins:
        cuda.atomic.add(counts, int(place), 1)


@cuda.jit
def gather_rows(table, rows, out):
    k = cuda.grid(1)
    width = out.shape[1]
    if k < out.size:
        i, j = k // width, k % width
        out[i, j] = table[rows[i], j]


@cuda.jit
def permute(a, place, b):
    i = cuda.grid(1)
    if i < a.size:
        b[place[i]] = a[i]


def cases(rng):
    n, rows, width = 1 << 24, 1 << 16, 96
    order = rng.permutation(1 << 22).astype(np.int32)
    table = rng.random((10_000, width), np.float32)
    chosen = rng.integers(0, 10_000, rows).astype(np.int32)
    return [
        Case(histogram, 1024, 256, (rng.integers(0, 256, n, np.uint8), np.zeros(256, np.int32)), (n,)),
        Case(bins, blocks(n), 256, (rng.random(n, np.float32), np.zeros(4096, np.int32), 0.1, 0.9), (4096, n)),
        Case(gather_rows, blocks(rows * width), 256, (table, chosen, np.zeros((rows, width), np.float32)),
             (rows, width)),
        Case(permute, blocks(1 << 22), 256, (rng.random(1 << 22), order, np.zeros(1 << 22)), (1 << 22,)),
    ]
