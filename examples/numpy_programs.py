"""Programs as NumPy's users write them, compiled by changing one import: allocation, slices, whole-array expressions.

Each function below is ordinary Python that the interpreter runs, too: `function.py_func` is what it is compared with,
bit for bit.
"""

from functools import partial

import harness
import numpy as np

from krait import njit


@njit
def monte_carlo_pi(samples):
    """pi from the share of random points of the unit square that lie within the quarter circle."""
    inside = 0
    for _ in range(samples):
        x = np.random.rand()
        y = np.random.rand()
        if x * x + y * y <= 1.0:
            inside += 1
    return 4.0 * inside / samples


@njit
def sieve(limit):
    """The primes below `limit` (Eratosthenes): how many, and the flags."""
    prime = np.ones(limit, np.bool_)
    prime[:2] = False
    for number in range(2, int(limit**0.5) + 1):
        if prime[number]:
            prime[number * number :: number] = False
    return prime.sum(), prime


@njit
def mandelbrot(height, width, most):
    """Steps until z = z * z + c leaves the circle of radius 2, for each pixel of (-2, 0.5) x (-1.25, 1.25)."""
    steps = np.zeros((height, width), np.int32)
    for row in range(height):
        for column in range(width):
            c = complex(-2.0 + 2.5 * column / width, -1.25 + 2.5 * row / height)
            z = 0j
            for step in range(most):
                z = z * z + c
                if z.real * z.real + z.imag * z.imag > 4.0:
                    break
                steps[row, column] = step + 1
    return steps


@njit
def heat(u, steps):
    """`steps` explicit steps of the heat equation on a plate whose edges keep their temperature."""
    u = u.copy()
    for _ in range(steps):
        new = u.copy()
        new[1:-1, 1:-1] = 0.25 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2])
        u = new
    return u


@njit
def expression(x, y):
    return np.sqrt(x * x + y * y) + 2.0 * x - y / 3.0


@njit
def rolling_mean(x, width):
    """The means of every `width` neighbours."""
    means = np.empty(x.size - width + 1)
    total = x[:width].sum()
    means[0] = total / width
    for i in range(1, means.size):
        total += x[i + width - 1] - x[i - 1]
        means[i] = total / width
    return means


@njit
def pairwise_distances(points):
    """The Euclidean distance of every two points: (n, d) to (n, n)."""
    count = points.shape[0]
    distances = np.zeros((count, count))
    for i in range(count):
        for j in range(i + 1, count):
            difference = points[i] - points[j]
            distances[i, j] = distances[j, i] = np.sqrt((difference * difference).sum())
    return distances


@njit
def convolve(signal, weights):
    """The discrete convolution where the weights lie within the signal."""
    result = np.zeros(signal.size - weights.size + 1)
    for i in range(result.size):
        for j in range(weights.size):
            result[i] += signal[i + j] * weights[weights.size - 1 - j]
    return result


@njit
def floyd_warshall(distances):
    """The shortest ways between all nodes of a graph, from the lengths of its edges (inf: none)."""
    shortest = distances.copy()
    for middle in range(shortest.shape[0]):
        for start in range(shortest.shape[0]):
            shortest[start] = np.minimum(shortest[start], shortest[start, middle] + shortest[middle])
    return shortest


def same(got, want):
    """Whether two results, or tuples of them, are equal in type and in every bit."""
    if isinstance(want, tuple):
        return isinstance(got, tuple) and len(got) == len(want) and all(map(same, got, want))
    return type(got) is type(want) and np.asarray(got).dtype == np.asarray(want).dtype and np.array_equal(got, want)


def _seeded(function, *arguments):
    """The function with NumPy's global generator in a known state."""
    np.random.seed(2026)
    return function(*arguments)


def programs():
    """The programs: name, function, arguments."""
    draws = np.random.default_rng(7)
    x, y = draws.normal(size=(2, 1_000_000))
    edges = draws.uniform(1.0, 10.0, (150, 150))
    edges[draws.random((150, 150)) < 0.8] = np.inf
    np.fill_diagonal(edges, 0.0)
    return [
        ("Monte Carlo pi", monte_carlo_pi, (200_000,)),
        ("sieve of Eratosthenes", sieve, (1_000_000,)),
        ("Mandelbrot, complex", mandelbrot, (60, 80, 50)),
        ("heat, slices", heat, (draws.random((300, 300)), 50)),
        ("array expression", expression, (x, y)),
        ("rolling mean", rolling_mean, (x[:200_000], 50)),
        ("pairwise distances", pairwise_distances, (draws.normal(size=(150, 3)),)),
        ("convolution, 1-D", convolve, (x[:5_000], draws.normal(size=31))),
        ("Floyd-Warshall", floyd_warshall, (edges,)),
    ]


def _measured(name, function, arguments):
    return harness.measure(
        name,
        lambda: _seeded(function, *arguments),
        lambda: _seeded(function.py_func, *arguments),
        same,
        reference_name="interpreter",
        device="host",
    )


RUNS = [(program[0], partial(_measured, *program)) for program in programs()]

if __name__ == "__main__":
    harness.main(*(run for _, run in RUNS))
