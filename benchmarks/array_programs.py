"""Programs on whole arrays as people write them, for bench_arrays.py: PROGRAMS lists (function, arguments, by_loops);
those by loops are not measured interpreted."""

import numpy as np

PROGRAMS = []


def program(make, by_loops=False):
    def add(function):
        PROGRAMS.append((function, make, by_loops))
        return function

    return add


def line(n, count=1, dtype=np.float64):
    rng = np.random.default_rng(1)
    return tuple((rng.random(n) + 0.25).astype(dtype) for _ in range(count))


def square(n, count=1, dtype=np.float64):
    rng = np.random.default_rng(2)
    return tuple(rng.random((n, n)).astype(dtype) for _ in range(count))


# ---- expressions ----


@program(lambda n: line(n, 2))
def norm_expression(x, y):
    return np.sqrt(x * x + y * y) + 2.0 * x - y / 3.0


@program(lambda n: line(n, 2))
def triad(x, y):
    return 2.5 * x + y


@program(lambda n: line(n))
def polynomial(x):
    return ((0.3 * x - 1.2) * x + 0.7) * x - 2.0


@program(lambda n: line(n))
def sigmoid(x):
    return 1.0 / (1.0 + np.exp(-x))


@program(lambda n: line(n, 3))
def black_scholes(price, strike, years):
    root = np.sqrt(years)
    d = (np.log(price / strike) + 0.06 * years) / (0.2 * root)
    return price / (1.0 + np.exp(-1.7 * d)) - strike * np.exp(-0.02 * years) / (1.0 + np.exp(-1.7 * (d - 0.2 * root)))


@program(lambda n: line(n, 4))
def leapfrog(x, v, force, mass):
    v += 0.01 * force / mass
    x += 0.01 * v
    return x


@program(lambda n: line(n, 2, np.float32))
def blend_float32(a, b):
    return np.float32(0.3) * a + np.float32(0.7) * b


@program(lambda n: (*line(n, 2), 0.3))
def rotate(x, y, angle):
    c, s = np.cos(angle), np.sin(angle)
    return c * x - s * y, s * x + c * y


@program(lambda n: (np.random.default_rng(1).integers(0, 256, (n // 3, 3)).astype(np.uint8),))
def grey(image):
    return 0.299 * image[:, 0] + 0.587 * image[:, 1] + 0.114 * image[:, 2]


@program(lambda n: line(n))
def gaussian(x):
    return np.exp(-((x - 0.5) ** 2) / 0.08) / np.sqrt(0.16 * np.pi)


@program(lambda n: (line(n)[0] + 1j * line(n)[0],))
def power_spectrum(z):
    return z.real**2 + z.imag**2


# ---- reductions ----


@program(lambda n: line(n))
def variance_by_hand(x):
    return ((x - x.mean()) ** 2).sum()


@program(lambda n: line(n))
def root_mean_square(x):
    return np.sqrt((x * x).mean())


@program(lambda n: line(n, 2))
def cosine_similarity(x, y):
    return (x * y).sum() / np.sqrt((x * x).sum() * (y * y).sum())


@program(lambda n: line(n, 2))
def largest_difference(x, y):
    return np.abs(x - y).max()


@program(lambda n: line(n, 2))
def weighted_mean(x, w):
    return (w * x).sum() / w.sum()


@program(lambda n: line(n))
def to_unit_range(x):
    low, high = x.min(), x.max()
    return (x - low) / (high - low)


@program(lambda n: line(n))
def standard_scores(x):
    return (x - x.mean()) / x.std()


@program(lambda n: line(n))
def softmax(x):
    e = np.exp(x - x.max())
    return e / e.sum()


@program(lambda n: line(n, 2))
def pi_by_points(x, y):
    return 4.0 * (x * x + y * y < 1.0).sum() / x.size


@program(lambda n: line(n, 2))
def trapezoids(x, y):
    return (0.5 * (y[1:] + y[:-1]) * (x[1:] - x[:-1])).sum()


@program(lambda n: line(n, 2))
def all_close(x, y):
    return (np.abs(x - y) <= 1e-8 + 2.0 * np.abs(y)).all()


@program(lambda n: line(n, 2))
def mean_square_error(x, y):
    return ((x - y) ** 2).mean()


# ---- slices ----


@program(lambda n: line(n))
def second_difference(x):
    return x[2:] - 2.0 * x[1:-1] + x[:-2]


@program(lambda n: square(int(n**0.5)))
def heat_step(u):
    new = u.copy()
    new[1:-1, 1:-1] = u[1:-1, 1:-1] + 0.1 * (
        u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4.0 * u[1:-1, 1:-1]
    )
    return new


@program(lambda n: square(int(n**0.5), 2))
def jacobi(u, f):
    u[1:-1, 1:-1] = 0.25 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - f[1:-1, 1:-1])
    return u


@program(lambda n: square(int(n**0.5)))
def residual(u):
    r = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4.0 * u[1:-1, 1:-1]
    return np.abs(r).max()


@program(lambda n: square(int(n**0.5), 1, np.float32))
def sobel(p):
    gx = p[:-2, 2:] + 2 * p[1:-1, 2:] + p[2:, 2:] - p[:-2, :-2] - 2 * p[1:-1, :-2] - p[2:, :-2]
    gy = p[2:, :-2] + 2 * p[2:, 1:-1] + p[2:, 2:] - p[:-2, :-2] - 2 * p[:-2, 1:-1] - p[:-2, 2:]
    return np.sqrt(gx * gx + gy * gy)


@program(lambda n: square(int(n**0.5)))
def box_blur(p):
    rows = p[:-2] + p[1:-1] + p[2:]
    return (rows[:, :-2] + rows[:, 1:-1] + rows[:, 2:]) / 9.0


@program(lambda n: line(n))
def moving_average(x):
    c = np.cumsum(x)
    return (c[16:] - c[:-16]) / 16.0


@program(lambda n: line(n))
def random_walk(x):
    return np.cumsum(np.sign(x - 0.75)).max()


# ---- stretched ----


@program(lambda n: line(int(n**0.5), 2))
def distances(x, y):
    return np.sqrt((x[:, None] - x[None, :]) ** 2 + (y[:, None] - y[None, :]) ** 2)


@program(lambda n: square(int(n**0.5)))
def centred_columns(x):
    return x - x.mean(axis=0)


@program(lambda n: line(int(n**0.5), 2))
def kernel_matrix(x, y):
    return np.exp(-0.5 * (x[:, None] - y[None, :]) ** 2)


@program(lambda n: (*square(int(n**0.5)), *line(int(n**0.5))))
def scaled_rows(a, s):
    return a * s[:, None]


# ---- loops ----


@program(lambda n: (n // 4,), by_loops=True)
def sieve(n):
    prime = np.ones(n, np.bool_)
    prime[:2] = False
    for i in range(2, int(n**0.5) + 1):
        if prime[i]:
            prime[i * i :: i] = False
    return prime.sum()


@program(lambda n: (int((n / 16) ** 0.5),), by_loops=True)
def mandelbrot(n):
    counts = np.zeros((n, n), np.int32)
    for i in range(n):
        for j in range(n):
            c = complex(-2.0 + 2.5 * j / n, -1.25 + 2.5 * i / n)
            z = 0j
            while counts[i, j] < 40 and z.real * z.real + z.imag * z.imag < 4.0:
                z = z * z + c
                counts[i, j] += 1
    return counts


@program(lambda n: square(int(n ** (1 / 3)) + 2), by_loops=True)
def floyd_warshall(d):
    n = d.shape[0]
    for k in range(n):
        for i in range(n):
            for j in range(n):
                if d[i, k] + d[k, j] < d[i, j]:
                    d[i, j] = d[i, k] + d[k, j]
    return d


@program(lambda n: (*line(n // 16), *line(33)), by_loops=True)
def convolution(x, kernel):
    out = np.zeros(x.size - kernel.size + 1)
    for i in range(out.size):
        total = 0.0
        for k in range(kernel.size):
            total += x[i + k] * kernel[k]
        out[i] = total
    return out


@program(lambda n: (*line(n // 8, 2), np.array([0.3, 0.6, 0.9]), np.array([0.9, 0.3, 0.6])), by_loops=True)
def k_means_step(x, y, cx, cy):
    sums = np.zeros((cx.size, 3))
    for i in range(x.size):
        best, nearest = 0, np.inf
        for k in range(cx.size):
            d = (x[i] - cx[k]) ** 2 + (y[i] - cy[k]) ** 2
            if d < nearest:
                best, nearest = k, d
        sums[best, 0] += x[i]
        sums[best, 1] += y[i]
        sums[best, 2] += 1
    return sums


@program(lambda n: line(n // 4), by_loops=True)
def kalman(z):
    x, p = 0.0, 1.0
    out = np.empty_like(z)
    for i in range(z.size):
        p += 1e-3
        k = p / (p + 0.1)
        x += k * (z[i] - x)
        p *= 1.0 - k
        out[i] = x
    return out


@program(lambda n: line(n // 4), by_loops=True)
def histogram(x):
    counts = np.zeros(64, np.int64)
    for value in x:
        counts[min(63, int(value * 48))] += 1
    return counts


@program(lambda n: tuple(np.random.default_rng(3).integers(0, 4, int(n**0.5)) for _ in range(2)), by_loops=True)
def longest_common(a, b):
    before = np.zeros(b.size + 1, np.int64)
    for i in range(a.size):
        now = np.zeros(b.size + 1, np.int64)
        for j in range(b.size):
            now[j + 1] = before[j] + 1 if a[i] == b[j] else max(before[j + 1], now[j])
        before = now
    return before[-1]


def sparse(n):
    rng = np.random.default_rng(4)
    starts = np.arange(0, 8 * n + 1, 8)
    return rng.random(8 * n), rng.integers(0, n, 8 * n), starts, rng.random(n)


@program(lambda n: sparse(n // 16), by_loops=True)
def sparse_product(values, columns, starts, x):
    out = np.zeros(starts.size - 1)
    for row in range(out.size):
        for k in range(starts[row], starts[row + 1]):
            out[row] += values[k] * x[columns[k]]
    return out


@program(lambda n: (n // 64,), by_loops=True)
def small_arrays(n):
    total = 0.0
    for i in range(n):
        v = np.zeros(3)
        v[0], v[1], v[2] = i, i + 1, i + 2
        total += v[0] * v[1] - v[2]
    return total
