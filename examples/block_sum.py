"""Sum of an array: a grid-stride loop in every thread, a tree in shared memory in every block, one atomic addition a
block."""

import harness
import numpy as np

from krait import cuda

THREADS = 256


@cuda.jit
def block_sum(x, out):
    partial = cuda.shared.array(THREADS, np.float32)
    t = cuda.threadIdx.x
    total = 0.0
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        total += x[i]
    partial[t] = total
    cuda.syncthreads()
    step = THREADS // 2
    while step > 0:
        if t < step:
            partial[t] += partial[t + step]
        cuda.syncthreads()
        step //= 2
    if t == 0:
        cuda.atomic.add(out, 0, partial[0])


def run(n=8_000_000):
    x = np.random.default_rng(4).random(n, np.float32)
    d_x, zero = cuda.to_device(x), np.zeros(1, np.float32)
    d_out = cuda.to_device(zero)

    def compiled():
        d_out.copy_to_device(zero)
        block_sum[1024, THREADS](d_x, d_out)
        cuda.synchronize()
        return d_out.copy_to_host()[0]

    return harness.measure("block sum, atomics", compiled, lambda: x.sum(), harness.close(1e-5))


if __name__ == "__main__":
    harness.main(run)
