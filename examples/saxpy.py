"""saxpy, y := a x + y in single precision: the kernel of the README.  The literal 2.0 does not turn it into double
precision."""

import harness
import numpy as np

from krait import cuda


@cuda.jit
def saxpy(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * x[i] + y[i]


def run(n=4_000_000):
    rng = np.random.default_rng(2)
    x, y = rng.random(n, np.float32), rng.random(n, np.float32)
    d_x, d_start = cuda.to_device(x), cuda.to_device(y)
    d_y = cuda.device_array_like(d_start)
    threads = 256
    blocks = (n + threads - 1) // threads

    def compiled():
        d_y.copy_to_device(d_start)
        saxpy[blocks, threads](2.0, d_x, d_y)
        cuda.synchronize()
        return d_y

    # A GPU fuses the multiplication and the addition (one rounding): within 1 ulp of NumPy's two.
    return harness.measure(
        "saxpy", compiled, lambda: 2.0 * x + y, lambda got, want: harness.close(2e-7)(got.copy_to_host(), want)
    )


if __name__ == "__main__":
    harness.main(run)
