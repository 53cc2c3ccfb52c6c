"""Vector addition: one thread an element, the first kernel of every course."""

import harness
import numpy as np

from krait import cuda


@cuda.jit
def vector_add(x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] + y[i]


def run(n=4_000_000):
    rng = np.random.default_rng(1)
    x, y = rng.random(n, np.float32), rng.random(n, np.float32)
    d_x, d_y, d_out = cuda.to_device(x), cuda.to_device(y), cuda.device_array(n, np.float32)
    threads = 256
    blocks = (n + threads - 1) // threads

    def compiled():
        vector_add[blocks, threads](d_x, d_y, d_out)
        cuda.synchronize()
        return d_out

    return harness.measure(
        "vector add", compiled, lambda: x + y, lambda got, want: np.array_equal(got.copy_to_host(), want)
    )


if __name__ == "__main__":
    harness.main(run)
