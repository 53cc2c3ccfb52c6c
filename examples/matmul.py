"""Matrix product, twice: every thread reads its row and column from global memory, then tiles go through shared
memory."""

import sys

import harness
import numpy as np

from krait import cuda

TILE = 16


@cuda.jit
def matmul_naive(a, b, c):
    row, column = cuda.grid(2)
    if row < c.shape[0] and column < c.shape[1]:
        total = 0.0
        for k in range(a.shape[1]):
            total += a[row, k] * b[k, column]
        c[row, column] = total


@cuda.jit
def matmul_shared(a, b, c):
    tile_a = cuda.shared.array((TILE, TILE), np.float32)
    tile_b = cuda.shared.array((TILE, TILE), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    column = cuda.blockIdx.x * TILE + x
    row = cuda.blockIdx.y * TILE + y
    total = 0.0
    for tile in range((a.shape[1] + TILE - 1) // TILE):
        k = tile * TILE
        tile_a[y, x] = a[row, k + x] if row < a.shape[0] and k + x < a.shape[1] else 0.0
        tile_b[y, x] = b[k + y, column] if k + y < b.shape[0] and column < b.shape[1] else 0.0
        cuda.syncthreads()
        for i in range(TILE):
            total += tile_a[y, i] * tile_b[i, x]
        cuda.syncthreads()
    if row < c.shape[0] and column < c.shape[1]:
        c[row, column] = total


def _run(name, kernel, n):
    rng = np.random.default_rng(3)
    a, b = rng.random((n, n), np.float32), rng.random((n, n), np.float32)
    d_a, d_b, d_c = cuda.to_device(a), cuda.to_device(b), cuda.device_array((n, n), np.float32)
    blocks = (n + TILE - 1) // TILE

    def compiled():
        kernel[(blocks, blocks), (TILE, TILE)](d_a, d_b, d_c)
        cuda.synchronize()
        return d_c

    # n additions of float32 in another order than NumPy's: a few ulp times the square root of n
    return harness.measure(
        name, compiled, lambda: a @ b, lambda got, want: harness.close(1e-4)(got.copy_to_host(), want)
    )


def run_naive(n=500):
    return _run("matmul, naive", matmul_naive, n)


def run_shared(n=500):
    return _run("matmul, shared memory", matmul_shared, n)


if __name__ == "__main__":
    harness.main(run_naive if "--naive" in sys.argv else run_shared)
