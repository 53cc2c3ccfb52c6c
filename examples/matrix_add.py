"""Adding a constant to a matrix in place, on a two-dimensional grid; the host array is copied to the GPU and back by
the launch."""

import harness
import numpy as np

from krait import cuda


@cuda.jit
def add_in_place(a, value):
    row, column = cuda.grid(2)
    if row < a.shape[0] and column < a.shape[1]:
        a[row, column] += value


def run(shape=(1000, 1500)):
    start = np.arange(shape[0] * shape[1], dtype=np.float64).reshape(shape)
    threads = (16, 16)
    blocks = tuple((size + t - 1) // t for size, t in zip(shape, threads))

    def compiled():
        a = start.copy()
        add_in_place[blocks, threads](a, 2.5)
        return a

    def reference():
        a = start.copy()
        a += 2.5
        return a

    return harness.measure("matrix add in place", compiled, reference, np.array_equal)


if __name__ == "__main__":
    harness.main(run)
