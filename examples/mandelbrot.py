"""The Mandelbrot set: complex arithmetic and a loop whose length differs from thread to thread.  Writes
mandelbrot.png."""

import sys

import harness
import numpy as np

from krait import cuda


@cuda.jit
def mandelbrot(left, top, step, limit, counts):
    row, column = cuda.grid(2)
    if row < counts.shape[0] and column < counts.shape[1]:
        c = complex(left + column * step, top - row * step)
        z = 0j
        count = 0
        while count < limit and z.real * z.real + z.imag * z.imag <= 4.0:
            z = z * z + c
            count += 1
        counts[row, column] = count


def with_numpy(left, top, step, limit, shape):
    c = (left + np.arange(shape[1]) * step) + 1j * (top - np.arange(shape[0])[:, None] * step)
    z = np.zeros_like(c)
    counts = np.zeros(shape, np.int32)
    for _ in range(limit):
        inside = z.real * z.real + z.imag * z.imag <= 4.0
        counts[inside] += 1
        z[inside] = z[inside] * z[inside] + c[inside]
    return counts


def run(shape=(600, 900), limit=100, path="mandelbrot.png"):
    left, top, step = -2.2, 1.2, 2.4 / shape[0]
    counts = cuda.device_array(shape, np.int32)
    blocks = ((shape[0] + 15) // 16, (shape[1] + 15) // 16)

    def compiled():
        mandelbrot[blocks, (16, 16)](left, top, step, limit, counts)
        cuda.synchronize()
        return counts

    def check(got, want):
        # points on the border of the set may differ by the rounding of a fused multiplication
        return np.mean(got.copy_to_host() != want) < 1e-3

    result = harness.measure("Mandelbrot", compiled, lambda: with_numpy(left, top, step, limit, shape), check)
    harness.write_png(path, harness.colour_map(np.sqrt(counts.copy_to_host() / limit)))
    result.files.append(path)
    return result


if __name__ == "__main__":
    harness.main(lambda: run(path=sys.argv[1] if len(sys.argv) > 1 else "mandelbrot.png"))
