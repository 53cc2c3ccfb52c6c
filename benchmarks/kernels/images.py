"""Image filters: convolutions, edges, a median in a local array, colours, a bilateral filter."""

import math

import numpy as np

from krait import cuda

from . import Case

CUDA = r"""
extern "C" __global__ void convolve(const float *__restrict__ image, const float *__restrict__ weights,
                                    float *__restrict__ out, int rows, int columns, int radius) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (y >= rows || x >= columns) return;
    float total = 0;
    for (int dy = -radius; dy <= radius; dy++)
        for (int dx = -radius; dx <= radius; dx++) {
            int sy = min(max(y + dy, 0), rows - 1), sx = min(max(x + dx, 0), columns - 1);
            total += image[sy * columns + sx] * weights[(dy + radius) * (2 * radius + 1) + dx + radius];
        }
    out[y * columns + x] = total;
}

extern "C" __global__ void sobel(const unsigned char *__restrict__ image, float *__restrict__ out, int rows,
                                 int columns) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (y < 1 || x < 1 || y >= rows - 1 || x >= columns - 1) return;
    const unsigned char *up = image + (y - 1) * columns + x, *at = up + columns, *down = at + columns;
    int gx = up[1] + 2 * at[1] + down[1] - up[-1] - 2 * at[-1] - down[-1];
    int gy = down[-1] + 2 * down[0] + down[1] - up[-1] - 2 * up[0] - up[1];
    out[y * columns + x] = sqrtf((float)(gx * gx + gy * gy));
}

extern "C" __global__ void median(const float *__restrict__ image, float *__restrict__ out, int rows, int columns) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (y < 1 || x < 1 || y >= rows - 1 || x >= columns - 1) return;
    float v[9];
    for (int dy = 0; dy < 3; dy++)
        for (int dx = 0; dx < 3; dx++) v[dy * 3 + dx] = image[(y + dy - 1) * columns + x + dx - 1];
    for (int i = 0; i < 5; i++)
        for (int k = i + 1; k < 9; k++)
            if (v[k] < v[i]) {
                float swap = v[i];
                v[i] = v[k];
                v[k] = swap;
            }
    out[y * columns + x] = v[4];
}

extern "C" __global__ void to_grey(const unsigned char *__restrict__ image, unsigned char *__restrict__ out, int rows,
                                   int columns) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (y >= rows || x >= columns) return;
    const unsigned char *p = image + (y * columns + x) * 3;
    out[y * columns + x] = (unsigned char)(0.299f * p[0] + 0.587f * p[1] + 0.114f * p[2]);
}

extern "C" __global__ void bilateral(const float *__restrict__ image, float *__restrict__ out, float space, float range,
                                     int rows, int columns) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (y < 3 || x < 3 || y >= rows - 3 || x >= columns - 3) return;
    float centre = image[y * columns + x], total = 0, weight = 0;
    for (int dy = -3; dy <= 3; dy++)
        for (int dx = -3; dx <= 3; dx++) {
            float value = image[(y + dy) * columns + x + dx], apart = value - centre;
            float w = expf(-(dx * dx + dy * dy) * space - apart * apart * range);
            total += w * value;
            weight += w;
        }
    out[y * columns + x] = total / weight;
}
"""


@cuda.jit
def convolve(image, weights, out):
    x, y = cuda.grid(2)
    rows, columns = image.shape
    if y >= rows or x >= columns:
        return
    radius = weights.shape[0] // 2
    total = np.float32(0)
    for dy in range(-radius, radius + 1):
        for dx in range(-radius, radius + 1):
            sy, sx = min(max(y + dy, 0), rows - 1), min(max(x + dx, 0), columns - 1)
            total += image[sy, sx] * weights[dy + radius, dx + radius]
    out[y, x] = total


@cuda.jit
def sobel(image, out):
    x, y = cuda.grid(2)
    if y < 1 or x < 1 or y >= image.shape[0] - 1 or x >= image.shape[1] - 1:
        return
    a, b, c = int(image[y - 1, x - 1]), int(image[y - 1, x]), int(image[y - 1, x + 1])
    d, f = int(image[y, x - 1]), int(image[y, x + 1])
    g, h, i = int(image[y + 1, x - 1]), int(image[y + 1, x]), int(image[y + 1, x + 1])
    gx = c + 2 * f + i - a - 2 * d - g
    gy = g + 2 * h + i - a - 2 * b - c
    out[y, x] = math.sqrt(np.float32(gx * gx + gy * gy))


@cuda.jit
def median(image, out):
    x, y = cuda.grid(2)
    if y < 1 or x < 1 or y >= image.shape[0] - 1 or x >= image.shape[1] - 1:
        return
    v = cuda.local.array(9, np.float32)
    for dy in range(3):
        for dx in range(3):
            v[dy * 3 + dx] = image[y + dy - 1, x + dx - 1]
    for i in range(5):
        for k in range(i + 1, 9):
            if v[k] < v[i]:
                v[i], v[k] = v[k], v[i]
    out[y, x] = v[4]


@cuda.jit
def to_grey(image, out):
    x, y = cuda.grid(2)
    if y < out.shape[0] and x < out.shape[1]:
        red, green, blue = np.float32(image[y, x, 0]), np.float32(image[y, x, 1]), np.float32(image[y, x, 2])
        out[y, x] = np.uint8(0.299 * red + 0.587 * green + 0.114 * blue)


@cuda.jit
def bilateral(image, out, space, range_):
    x, y = cuda.grid(2)
    if y < 3 or x < 3 or y >= image.shape[0] - 3 or x >= image.shape[1] - 3:
        return
    centre = image[y, x]
    total, weight = np.float32(0), np.float32(0)
    for dy in range(-3, 4):
        for dx in range(-3, 4):
            value = image[y + dy, x + dx]
            apart = value - centre
            w = math.exp(-(dx * dx + dy * dy) * space - apart * apart * range_)
            total += w * value
            weight += w
    out[y, x] = total / weight


def cases(rng):
    side = 2048
    image, out = rng.random((side, side), np.float32), np.zeros((side, side), np.float32)
    bytes_ = rng.integers(0, 256, (side, side), np.uint8)
    colours = rng.integers(0, 256, (side, side, 3), np.uint8)
    weights = rng.random((5, 5), np.float32)
    grid, block = (side // 32, side // 8), (32, 8)
    return [
        Case(convolve, grid, block, (image, weights / weights.sum(), out), (side, side, 2)),
        Case(sobel, grid, block, (bytes_, out), (side, side)),
        Case(median, grid, block, (image, out), (side, side)),
        Case(to_grey, grid, block, (colours, np.zeros_like(bytes_)), (side, side)),
        Case(bilateral, grid, block, (image, out, np.float32(0.1), np.float32(4)), (side, side)),
    ]
