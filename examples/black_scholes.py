"""European option prices by the formula of Black and Scholes (Journal of Political Economy 81, 1973), a device
function in a kernel."""

import math

import harness
import numpy as np

from krait import cuda


@cuda.jit(device=True)
def normal_distribution(x):
    return 0.5 * math.erfc(-x * 0.7071067811865476)


@cuda.jit
def black_scholes(price, strike, years, rate, volatility, call, put):
    i = cuda.grid(1)
    if i < price.size:
        s, x, t = price[i], strike[i], years[i]
        root = volatility * math.sqrt(t)
        d1 = (math.log(s / x) + (rate + 0.5 * volatility * volatility) * t) / root
        d2 = d1 - root
        discounted = x * math.exp(-rate * t)
        call[i] = s * normal_distribution(d1) - discounted * normal_distribution(d2)
        put[i] = discounted * normal_distribution(-d2) - s * normal_distribution(-d1)


def with_numpy(price, strike, years, rate, volatility):
    def erfc(
        x,
    ):  # Numerical approximation 7.1.26 of Abramowitz and Stegun is not exact enough: use Python's, element by element
        return np.fromiter(map(math.erfc, x), float, x.size)

    root = volatility * np.sqrt(years)
    d1 = (np.log(price / strike) + (rate + 0.5 * volatility * volatility) * years) / root
    d2 = d1 - root
    discounted = strike * np.exp(-rate * years)
    half = math.sqrt(0.5)
    return np.stack(
        [
            price * 0.5 * erfc(-d1 * half) - discounted * 0.5 * erfc(-d2 * half),
            discounted * 0.5 * erfc(d2 * half) - price * 0.5 * erfc(d1 * half),
        ]
    )


def run(n=500_000):
    rng = np.random.default_rng(5)
    data = [rng.uniform(5, 30, n), rng.uniform(1, 100, n), rng.uniform(0.25, 10, n)]
    on_device = [cuda.to_device(a) for a in data]
    call, put = cuda.device_array(n), cuda.device_array(n)

    def compiled():
        black_scholes[(n + 255) // 256, 256](*on_device, 0.02, 0.3, call, put)
        cuda.synchronize()
        return call, put

    def check(got, want):
        return harness.close(1e-9, 1e-10)(np.stack([a.copy_to_host() for a in got]), want)

    return harness.measure("Black-Scholes", compiled, lambda: with_numpy(*data, 0.02, 0.3), check)


if __name__ == "__main__":
    harness.main(run)
