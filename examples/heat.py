"""Heat equation in two dimensions, explicit five-point scheme; many launches on two arrays that change places.
Writes heat.png."""

import sys

import harness
import numpy as np

from krait import cuda


@cuda.jit
def heat_step(u, new, k):
    column, row = cuda.grid(2)
    if 0 < row < u.shape[0] - 1 and 0 < column < u.shape[1] - 1:
        new[row, column] = u[row, column] + k * (
            u[row - 1, column] + u[row + 1, column] + u[row, column - 1] + u[row, column + 1] - 4.0 * u[row, column]
        )


def start(n):
    y, x = np.mgrid[0:n, 0:n] / n
    u = np.where((x - 0.35) ** 2 + (y - 0.4) ** 2 < 0.03, 1.0, 0.0) + np.where(
        (abs(x - 0.7) < 0.1) & (abs(y - 0.65) < 0.18), 0.8, 0.0
    )
    u[0, :] = u[-1, :] = u[:, 0] = u[:, -1] = 0.0
    return u


def run(n=512, steps=200, k=0.2, path="heat.png"):
    first = start(n)
    d_first, a, b = cuda.to_device(first), cuda.to_device(first), cuda.to_device(first)
    threads = (32, 8)
    blocks = ((n + 31) // 32, (n + 7) // 8)
    step = heat_step[blocks, threads]

    def compiled():
        a.copy_to_device(d_first)
        for _ in range(steps // 2):
            step(a, b, k)
            step(b, a, k)
        cuda.synchronize()
        return a

    def with_numpy():
        u, new = first.copy(), first.copy()
        for _ in range(steps):
            inner = u[1:-1, 1:-1]
            new[1:-1, 1:-1] = inner + k * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4.0 * inner)
            u, new = new, u
        return u

    result = harness.measure(
        "heat equation",
        compiled,
        with_numpy,
        lambda got, want: harness.close(1e-9, 1e-12)(got.copy_to_host(), want),
        repeat=3,
    )
    harness.write_png(path, harness.colour_map(np.clip(a.copy_to_host(), 0, 1)))
    result.files.append(path)
    return result


if __name__ == "__main__":
    harness.main(lambda: run(path=sys.argv[1] if len(sys.argv) > 1 else "heat.png"))
