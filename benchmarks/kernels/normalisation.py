"""Rows of matrices normalised: softmax, layer norms, activations."""

import math

import numpy as np

from krait import cuda

from . import Case, block_sum, blocks

CUDA = r"""
extern "C" __global__ void softmax_rows(const float *__restrict__ a, float *__restrict__ out, int columns) {
    __shared__ float parts[128];
    int t = threadIdx.x, row = blockIdx.x;
    float high = -INFINITY;
    for (int k = t; k < columns; k += 128) high = fmaxf(high, a[row * columns + k]);
    parts[t] = high;
    __syncthreads();
    for (int half = 64; half > 0; half /= 2) {
        if (t < half) parts[t] = fmaxf(parts[t], parts[t + half]);
        __syncthreads();
    }
    high = parts[0];
    __syncthreads();
    float total = 0;
    for (int k = t; k < columns; k += 128) {
        float e = expf(a[row * columns + k] - high);
        out[row * columns + k] = e;
        total += e;
    }
    parts[t] = total;
    __syncthreads();
    for (int half = 64; half > 0; half /= 2) {
        if (t < half) parts[t] += parts[t + half];
        __syncthreads();
    }
    total = parts[0];
    for (int k = t; k < columns; k += 128) out[row * columns + k] /= total;
}

extern "C" __global__ void layer_norm(const float *__restrict__ a, const float *__restrict__ scale,
                                      const float *__restrict__ shift, float *__restrict__ out, int rows,
                                      int columns) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    float total = 0, squares = 0;
    for (int k = lane; k < columns; k += 32) {
        float x = a[row * columns + k];
        total += x;
        squares += x * x;
    }
    for (int step = 16; step > 0; step /= 2) {
        total += __shfl_xor_sync(0xffffffff, total, step);
        squares += __shfl_xor_sync(0xffffffff, squares, step);
    }
    float mean = total / columns, inverse = 1.0f / sqrtf(squares / columns - mean * mean + 1e-5f);
    for (int k = lane; k < columns; k += 32)
        out[row * columns + k] = (a[row * columns + k] - mean) * inverse * scale[k] + shift[k];
}

extern "C" __global__ void gelu(const float *__restrict__ a, const float *__restrict__ bias, float *__restrict__ out,
                                int rows, int columns) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (y >= rows || x >= columns) return;
    float v = a[y * columns + x] + bias[x];
    out[y * columns + x] = 0.5f * v * (1 + tanhf(0.7978845608f * (v + 0.044715f * v * v * v)));
}

extern "C" __global__ void log_sum_exp(const float *__restrict__ a, float *__restrict__ out, int rows, int columns) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float high = -INFINITY, total = 0;
    for (int k = 0; k < columns; k++) high = fmaxf(high, a[k * rows + row]);
    for (int k = 0; k < columns; k++) total += expf(a[k * rows + row] - high);
    out[row] = high + logf(total);
}
"""


@cuda.jit
def softmax_rows(a, out):
    parts = cuda.shared.array(128, np.float32)
    t, row, columns = cuda.threadIdx.x, cuda.blockIdx.x, a.shape[1]
    high = np.float32(-np.inf)
    for k in range(t, columns, 128):
        high = max(high, a[row, k])
    parts[t] = high
    cuda.syncthreads()
    half = 64
    while half > 0:
        if t < half:
            parts[t] = max(parts[t], parts[t + half])
        cuda.syncthreads()
        half //= 2
    high = parts[0]
    cuda.syncthreads()
    total = np.float32(0)
    for k in range(t, columns, 128):
        e = math.exp(a[row, k] - high)
        out[row, k] = e
        total += e
    parts[t] = total
    total = block_sum(parts, 64)
    for k in range(t, columns, 128):
        out[row, k] /= total


@cuda.jit
def layer_norm(a, scale, shift, out):
    row, lane = cuda.grid(1) // 32, cuda.threadIdx.x % 32
    rows, columns = a.shape
    if row >= rows:
        return
    total = squares = np.float32(0)
    for k in range(lane, columns, 32):
        x = a[row, k]
        total += x
        squares += x * x
    step = 16
    while step > 0:
        total += cuda.shfl_xor_sync(0xFFFFFFFF, total, step)
        squares += cuda.shfl_xor_sync(0xFFFFFFFF, squares, step)
        step //= 2
    size = np.float32(columns)
    mean = total / size
    inverse = 1 / math.sqrt(squares / size - mean * mean + 1e-5)
    for k in range(lane, columns, 32):
        out[row, k] = (a[row, k] - mean) * inverse * scale[k] + shift[k]


@cuda.jit
def gelu(a, bias, out):
    x, y = cuda.grid(2)
    if y < a.shape[0] and x < a.shape[1]:
        v = a[y, x] + bias[x]
        out[y, x] = 0.5 * v * (1 + math.tanh(0.7978845608 * (v + 0.044715 * v * v * v)))


@cuda.jit
def log_sum_exp(a, out):
    row = cuda.grid(1)
    if row < a.shape[1]:
        high, total = np.float32(-np.inf), np.float32(0)
        for k in range(a.shape[0]):
            high = max(high, a[k, row])
        for k in range(a.shape[0]):
            total += math.exp(a[k, row] - high)
        out[row] = high + math.log(total)


def cases(rng):
    rows, columns = 1 << 13, 2048
    a, out = rng.standard_normal((rows, columns)).astype(np.float32), np.zeros((rows, columns), np.float32)
    line = rng.random(columns, np.float32)
    return [
        Case(softmax_rows, rows, 128, (a, out), (columns,)),
        Case(layer_norm, blocks(rows * 32), 256, (a, line, line + 1, out), (rows, columns), tolerance=1e-4),
        Case(gelu, (columns // 32, rows // 8), (32, 8), (a, line, out), (rows, columns)),
        Case(log_sum_exp, blocks(1 << 16, 128), 128, (a.reshape(256, 1 << 16), np.zeros(1 << 16, np.float32)),
             (1 << 16, 256)),
    ]
