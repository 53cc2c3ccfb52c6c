"""Gravitation among n bodies: each thread adds up the pull of all bodies on its own, tile by tile through shared
memory."""

import math

import harness
import numpy as np

from krait import cuda

TILE = 128
SOFTENING = 1e-3


@cuda.jit
def accelerations(position, mass, out):
    tile = cuda.shared.array((TILE, 4), np.float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    n = mass.size
    inside = i < n
    x = position[i, 0] if inside else 0.0
    y = position[i, 1] if inside else 0.0
    z = position[i, 2] if inside else 0.0
    ax = ay = az = 0.0
    for first in range(0, n, TILE):
        j = first + t
        if j < n:
            tile[t, 0], tile[t, 1], tile[t, 2], tile[t, 3] = position[j, 0], position[j, 1], position[j, 2], mass[j]
        cuda.syncthreads()
        for k in range(min(TILE, n - first)):
            dx, dy, dz = tile[k, 0] - x, tile[k, 1] - y, tile[k, 2] - z
            inverse = 1.0 / math.sqrt(dx * dx + dy * dy + dz * dz + SOFTENING)
            pull = tile[k, 3] * inverse * inverse * inverse
            ax += dx * pull
            ay += dy * pull
            az += dz * pull
        cuda.syncthreads()
    if inside:
        out[i, 0], out[i, 1], out[i, 2] = ax, ay, az


def with_numpy(position, mass):
    d = position[None, :, :] - position[:, None, :]
    inverse = 1 / np.sqrt((d * d).sum(axis=2) + np.float32(SOFTENING))
    return (d * (mass[None, :] * inverse**3)[:, :, None]).sum(axis=1)


def run(n=2000):
    rng = np.random.default_rng(6)
    position, mass = rng.standard_normal((n, 3)).astype(np.float32), rng.random(n, np.float32)
    d_position, d_mass, out = cuda.to_device(position), cuda.to_device(mass), cuda.device_array((n, 3), np.float32)

    def compiled():
        accelerations[(n + TILE - 1) // TILE, TILE](d_position, d_mass, out)
        cuda.synchronize()
        return out

    def check(got, want):  # float32 sums of n terms of both signs: compare with the size of the largest
        return np.abs(got.copy_to_host() - want).max() <= 1e-4 * np.abs(want).max()

    return harness.measure("n-body", compiled, lambda: with_numpy(position, mass), check)


if __name__ == "__main__":
    harness.main(run)
