"""A scalar function made elementwise by @vectorize: three arrays of different shapes broadcast, on the device and as
a NumPy ufunc."""

import harness
import numpy as np

from krait import cuda, vectorize


def smooth_step(low, high, x):
    if x <= low:
        return 0.0 * x
    if x >= high:
        return 0.0 * x + 1.0
    t = (x - low) / (high - low)
    return t * t * (3.0 - 2.0 * t)


on_device = vectorize(["float64(float64, float64, float64)"], target="cuda")(smooth_step)
on_host = vectorize(["float64(float64, float64, float64)"])(smooth_step)


def with_numpy(low, high, x):
    t = np.clip((x - low) / (high - low), 0.0, 1.0)
    return t * t * (3.0 - 2.0 * t)


def arrays(rows=1000, columns=2000):
    rng = np.random.default_rng(7)
    low = rng.uniform(-1, 0, (rows, 1))
    return low, 1.5, rng.uniform(-2, 2, (rows, columns))


def run():
    low, high, x = arrays()
    d_low, d_x = cuda.to_device(low), cuda.to_device(x)

    def compiled():
        out = on_device(d_low, high, d_x)
        cuda.synchronize()
        return out

    return harness.measure(
        "vectorize, cuda",
        compiled,
        lambda: with_numpy(low, high, x),
        lambda got, want: harness.close(1e-14, 1e-15)(got.copy_to_host(), want),
    )


def run_host():
    low, high, x = arrays()
    return harness.measure(
        "vectorize, NumPy ufunc",
        lambda: on_host(low, high, x),
        lambda: with_numpy(low, high, x),
        harness.close(1e-14, 1e-15),
        device="host",
    )


if __name__ == "__main__":
    harness.main(run)
