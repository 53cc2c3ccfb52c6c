"""Particles: gravitation with fast math, a Lennard-Jones force over lists of neighbours, a leap-frog step, cells."""

import math

import numpy as np

from krait import cuda

from . import Case, blocks

CUDA = r"""
extern "C" __global__ void gravity(const float *__restrict__ position, float *__restrict__ pull, int n) {
    __shared__ float tile[128][4];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    float x = position[i * 4], y = position[i * 4 + 1], z = position[i * 4 + 2], ax = 0, ay = 0, az = 0;
    for (int first = 0; first < n; first += 128) {
        for (int c = 0; c < 4; c++) tile[t][c] = position[(first + t) * 4 + c];
        __syncthreads();
        for (int k = 0; k < 128; k++) {
            float dx = tile[k][0] - x, dy = tile[k][1] - y, dz = tile[k][2] - z;
            float inverse = 1.0f / sqrtf(dx * dx + dy * dy + dz * dz + 1e-3f);
            float strength = tile[k][3] * inverse * inverse * inverse;
            ax += dx * strength, ay += dy * strength, az += dz * strength;
        }
        __syncthreads();
    }
    pull[i * 3] = ax, pull[i * 3 + 1] = ay, pull[i * 3 + 2] = az;
}

extern "C" __global__ void lennard_jones(const float *__restrict__ position, const int *__restrict__ neighbours,
                                         float *__restrict__ force, float cutoff, int n, int most) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = position[i * 3], y = position[i * 3 + 1], z = position[i * 3 + 2], fx = 0, fy = 0, fz = 0;
    for (int k = 0; k < most; k++) {
        int j = neighbours[k * n + i];
        float dx = x - position[j * 3], dy = y - position[j * 3 + 1], dz = z - position[j * 3 + 2];
        float r2 = dx * dx + dy * dy + dz * dz;
        if (r2 < cutoff && r2 > 0) {
            float inverse = 1.0f / r2, six = inverse * inverse * inverse, f = 24 * inverse * six * (2 * six - 1);
            fx += f * dx, fy += f * dy, fz += f * dz;
        }
    }
    force[i * 3] = fx, force[i * 3 + 1] = fy, force[i * 3 + 2] = fz;
}

extern "C" __global__ void leap_frog(double *__restrict__ position, double *__restrict__ velocity,
                                     const double *__restrict__ force, double dt, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    for (int c = 0; c < 3; c++) {
        velocity[i * 3 + c] += dt * force[i * 3 + c];
        position[i * 3 + c] += dt * velocity[i * 3 + c];
    }
}

extern "C" __global__ void cells(const float *__restrict__ position, int *__restrict__ cell, int *__restrict__ counts,
                                 float width, int side, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int x = (int)floorf(position[i * 3] / width), y = (int)floorf(position[i * 3 + 1] / width);
    int z = (int)floorf(position[i * 3 + 2] / width);
    int at = (x * side + y) * side + z;
    cell[i] = at;
    atomicAdd(&counts[at], 1);
}
"""


@cuda.jit(fastmath=True)
def gravity(position, pull):
    tile = cuda.shared.array((128, 4), np.float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    x, y, z = position[i, 0], position[i, 1], position[i, 2]
    ax = ay = az = np.float32(0)
    for first in range(0, position.shape[0], 128):
        for c in range(4):
            tile[t, c] = position[first + t, c]
        cuda.syncthreads()
        for k in range(128):
            dx, dy, dz = tile[k, 0] - x, tile[k, 1] - y, tile[k, 2] - z
            inverse = 1 / math.sqrt(dx * dx + dy * dy + dz * dz + 1e-3)
            strength = tile[k, 3] * inverse * inverse * inverse
            ax += dx * strength
            ay += dy * strength
            az += dz * strength
        cuda.syncthreads()
    pull[i, 0], pull[i, 1], pull[i, 2] = ax, ay, az


@cuda.jit
def lennard_jones(position, neighbours, force, cutoff):
    i = cuda.grid(1)
    if i >= position.shape[0]:
        return
    x, y, z = position[i, 0], position[i, 1], position[i, 2]
    fx = fy = fz = np.float32(0)
    for k in range(neighbours.shape[0]):
        j = neighbours[k, i]
        dx, dy, dz = x - position[j, 0], y - position[j, 1], z - position[j, 2]
        r2 = dx * dx + dy * dy + dz * dz
        if r2 < cutoff and r2 > 0:
            inverse = 1 / r2
            six = inverse * inverse * inverse
            f = 24 * inverse * six * (2 * six - 1)
            fx += f * dx
            fy += f * dy
            fz += f * dz
    force[i, 0], force[i, 1], force[i, 2] = fx, fy, fz


@cuda.jit
def leap_frog(position, velocity, force, dt):
    i = cuda.grid(1)
    if i < position.shape[0]:
        for c in range(3):
            velocity[i, c] += dt * force[i, c]
            position[i, c] += dt * velocity[i, c]


@cuda.jit
def cells(position, cell, counts, width):
    i = cuda.grid(1)
    if i < position.shape[0]:
        x, y = math.floor(position[i, 0] / width), math.floor(position[i, 1] / width)
        z = math.floor(position[i, 2] / width)
        side = counts.shape[0]
        cell[i] = (x * side + y) * side + z
        cuda.atomic.add(counts, (x, y, z), 1)


def cases(rng):
    n, many, most = 1 << 14, 1 << 18, 32
    position = rng.random((many, 3), np.float32) * 60
    neighbours = ((np.arange(many) + rng.integers(1, 3000, (most, many))) % many).astype(np.int32)
    large = rng.random((1 << 20, 3))
    return [
        Case(gravity, n // 128, 128, (rng.random((n, 4), np.float32), np.zeros((n, 3), np.float32)), (n,),
             tolerance=1e-3),
        Case(lennard_jones, blocks(many, 128), 128,
             (position, neighbours, np.zeros((many, 3), np.float32), np.float32(400)), (many, most), tolerance=1e-4),
        Case(leap_frog, blocks(1 << 20), 256, (large, np.zeros((1 << 20, 3)), large - 0.5, 1e-3), (1 << 20,),
             repeatable=False),
        Case(cells, blocks(many), 256,
             (position, np.zeros(many, np.int32), np.zeros((64, 64, 64), np.int32), np.float32(1)), (64, many)),
    ]
