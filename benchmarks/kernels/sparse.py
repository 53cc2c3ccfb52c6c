"""Sparse matrices by rows (CSR), by padded rows (ELL) and by coordinates, times vectors."""

import numpy as np

from krait import cuda

from . import Case, blocks

CUDA = r"""
extern "C" __global__ void csr_scalar(const int *__restrict__ starts, const int *__restrict__ columns,
                                      const float *__restrict__ values, const float *__restrict__ x,
                                      float *__restrict__ y, int rows) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float total = 0;
    for (int k = starts[row]; k < starts[row + 1]; k++) total += values[k] * x[columns[k]];
    y[row] = total;
}

extern "C" __global__ void csr_warp(const int *__restrict__ starts, const int *__restrict__ columns,
                                    const double *__restrict__ values, const double *__restrict__ x,
                                    double *__restrict__ y, int rows) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x, row = thread / 32, lane = thread % 32;
    if (row >= rows) return;
    double total = 0;
    for (int k = starts[row] + lane; k < starts[row + 1]; k += 32) total += values[k] * x[columns[k]];
    for (int step = 16; step > 0; step /= 2) total += __shfl_down_sync(0xffffffff, total, step);
    if (lane == 0) y[row] = total;
}

extern "C" __global__ void ell(const int *__restrict__ columns, const float *__restrict__ values,
                               const float *__restrict__ x, float *__restrict__ y, int rows, int width) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float total = 0;
    for (int k = 0; k < width; k++) {
        int column = columns[k * rows + row];
        if (column >= 0) total += values[k * rows + row] * x[column];
    }
    y[row] = total;
}

extern "C" __global__ void coordinates(const int *__restrict__ row, const int *__restrict__ column,
                                       const float *__restrict__ values, const float *__restrict__ x,
                                       float *__restrict__ y, int count) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < count) atomicAdd(&y[row[k]], values[k] * x[column[k]]);
}
"""


@cuda.jit
def csr_scalar(starts, columns, values, x, y):
    row = cuda.grid(1)
    if row < y.size:
        total = np.float32(0)
        for k in range(starts[row], starts[row + 1]):
            total += values[k] * x[columns[k]]
        y[row] = total


@cuda.jit
def csr_warp(starts, columns, values, x, y):
    thread = cuda.grid(1)
    row, lane = thread // 32, thread % 32
    if row >= y.size:
        return
    total = 0.0
    for k in range(starts[row] + lane, starts[row + 1], 32):
        total += values[k] * x[columns[k]]
    step = 16
    while step > 0:
        total += cuda.shfl_down_sync(0xFFFFFFFF, total, step)
        step //= 2
    if lane == 0:
        y[row] = total


@cuda.jit
def ell(columns, values, x, y):
    row = cuda.grid(1)
    if row < y.size:
        total = np.float32(0)
        for k in range(columns.shape[0]):
            column = columns[k, row]
            if column >= 0:
                total += values[k, row] * x[column]
        y[row] = total


@cuda.jit
def coordinates(row, column, values, x, y):
    k = cuda.grid(1)
    if k < values.size:
        cuda.atomic.add(y, row[k], values[k] * x[column[k]])


def cases(rng):
    rows, width = 1 << 18, 24
    count = rng.integers(8, 40, rows)
    starts = np.concatenate([[0], np.cumsum(count)]).astype(np.int32)
    total = int(starts[-1])
    near = (np.repeat(np.arange(rows), count) + rng.integers(-2000, 2000, total)) % rows
    columns, values = near.astype(np.int32), rng.random(total, np.float32)
    x, y = rng.random(rows, np.float32), np.zeros(rows, np.float32)
    padded = ((np.arange(rows) + rng.integers(-2000, 2000, (width, rows))) % rows).astype(np.int32)
    padded[rng.random((width, rows)) < 0.1] = -1
    row = np.repeat(np.arange(rows), count).astype(np.int32)
    return [
        Case(csr_scalar, blocks(rows, 128), 128, (starts, columns, values, x, y), (rows,)),
        Case(csr_warp, blocks(rows * 32), 256, (starts, columns, values.astype(float), x.astype(float), np.zeros(rows)),
             (rows,)),
        Case(ell, blocks(rows), 256, (padded, rng.random((width, rows), np.float32), x, y), (rows, width)),
        Case(coordinates, blocks(total), 256, (row, columns, values, x, y), (total,), tolerance=1e-4),
    ]
