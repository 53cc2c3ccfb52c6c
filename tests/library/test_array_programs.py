"""Small programs as people write them around NumPy: filters, estimation, clusters, differences, tables, spectra, sparse
products, geometry; compiled and interpreted."""

import numpy as np
import pytest

from krait import njit
from numpy_cases import compare
from oracle import copy_argument, outcome

RNG = np.random.default_rng(2026)
PROGRAMS = []


def program(*args):
    def take(function):
        PROGRAMS.append((function, args))
        return function

    return take


@program(RNG.random((12, 10)), np.array([[1, 2, 1], [2, 4, 2], [1, 2, 1]]) / 16)
def blur(image, kernel):
    padded = np.pad(image, 1, mode="reflect")
    out = np.zeros_like(image)
    for di in range(3):
        for dj in range(3):
            out += kernel[di, dj] * padded[di : di + image.shape[0], dj : dj + image.shape[1]]
    return out


@program(RNG.integers(0, 256, (9, 11)).astype(np.uint8))
def sobel(image):
    f = image.astype(np.float32)
    gx = f[:-2, 2:] + 2 * f[1:-1, 2:] + f[2:, 2:] - f[:-2, :-2] - 2 * f[1:-1, :-2] - f[2:, :-2]
    gy = f[2:, :-2] + 2 * f[2:, 1:-1] + f[2:, 2:] - f[:-2, :-2] - 2 * f[:-2, 1:-1] - f[:-2, 2:]
    size = np.sqrt(gx**2 + gy**2)
    return (255 * size / size.max()).astype(np.uint8), np.arctan2(gy, gx)


@program(RNG.integers(0, 256, (8, 8)).astype(np.uint8))
def median_filter(image):
    windows = np.lib.stride_tricks.sliding_window_view(np.pad(image, 1, mode="edge"), (3, 3))
    return np.median(windows, axis=(2, 3)).astype(image.dtype)


@program(RNG.integers(0, 64, (16, 16)).astype(np.uint8))
def equalise(image):
    counts = np.bincount(image.ravel(), minlength=256)
    share = counts.cumsum()
    share = (share - share.min()) * 255 // (share.max() - share.min())
    return share.astype(np.uint8)[image]


@program(RNG.integers(0, 256, (10, 10)).astype(np.uint8))
def otsu(image):
    hist, edges = np.histogram(image, bins=16, range=(0, 256))
    p = hist / hist.sum()
    best, level = -1.0, 0
    for k in range(1, 16):
        w0, w1 = p[:k].sum(), p[k:].sum()
        if w0 == 0 or w1 == 0:
            continue
        m0 = (p[:k] * np.arange(k)).sum() / w0
        m1 = (p[k:] * np.arange(k, 16)).sum() / w1
        between = w0 * w1 * (m0 - m1) ** 2
        if between > best:
            best, level = between, k
    return level, image > edges[level]


@program(RNG.random((7, 9)), 2.5)
def bilinear_zoom(image, factor):
    h, w = image.shape
    ys = np.linspace(0, h - 1, int(h * factor))
    xs = np.linspace(0, w - 1, int(w * factor))
    y0 = np.clip(np.floor(ys).astype(np.int64), 0, h - 2)
    x0 = np.clip(np.floor(xs).astype(np.int64), 0, w - 2)
    fy, fx = (ys - y0)[:, None], (xs - x0)[None, :]
    a, b = image[np.ix_(y0, x0)], image[np.ix_(y0, x0 + 1)]
    c, d = image[np.ix_(y0 + 1, x0)], image[np.ix_(y0 + 1, x0 + 1)]
    return a * (1 - fy) * (1 - fx) + b * (1 - fy) * fx + c * fy * (1 - fx) + d * fy * fx


@program(RNG.normal(size=40).cumsum())
def kalman(z):
    F = np.array([[1.0, 1.0], [0.0, 1.0]])
    H = np.array([[1.0, 0.0]])
    Q, R = np.eye(2) * 0.01, np.array([[0.5]])
    x, P = np.zeros(2), np.eye(2)
    track = np.empty((z.size, 2))
    for k in range(z.size):
        x = F @ x
        P = F @ P @ F.T + Q
        S = H @ P @ H.T + R
        K = P @ H.T @ np.linalg.inv(S)
        x = x + K @ (z[k] - H @ x)
        P = (np.eye(2) - K @ H) @ P
        track[k] = x
    return track, P


@program(RNG.random((60, 2)), 4)
def kmeans(points, k):
    rng = np.random.default_rng(5)
    centres = points[rng.choice(len(points), k, replace=False)]
    labels = np.zeros(len(points), np.int64)
    for _ in range(10):
        d = ((points[:, None, :] - centres[None, :, :]) ** 2).sum(axis=2)
        labels = d.argmin(axis=1)
        for j in range(k):
            if np.any(labels == j):
                centres[j] = points[labels == j].mean(axis=0)
    return centres, labels, np.bincount(labels, minlength=k)


@program(RNG.random((20, 3)))
def pca(x):
    centred = x - x.mean(axis=0)
    cov = centred.T @ centred / (len(x) - 1)
    values, vectors = np.linalg.eigh(cov)
    order = np.argsort(values)[::-1]
    return values[order], np.abs(centred @ vectors[:, order[:2]])


@program(RNG.random((25, 2)), RNG.random(25))
def ridge(x, y):
    a = np.column_stack((np.ones(len(x)), x, x**2))
    w = np.linalg.solve(a.T @ a + 0.1 * np.eye(a.shape[1]), a.T @ y)
    r = y - a @ w
    return w, 1 - (r @ r) / ((y - y.mean()) ** 2).sum()


@program(RNG.integers(0, 2, 30), RNG.random((30, 3)))
def logistic(y, x):
    w = np.zeros(x.shape[1])
    for _ in range(25):
        p = 1 / (1 + np.exp(-(x @ w)))
        w -= 0.1 * x.T @ (p - y) / len(y)
    return w, np.where(x @ w > 0, 1, 0)


@program(np.exp(-((np.linspace(-3, 3, 40)) ** 2)), 0.2)
def heat_1d(u, r):
    u = u.copy()
    for _ in range(20):
        u[1:-1] = u[1:-1] + r * (u[2:] - 2 * u[1:-1] + u[:-2])
        u[0] = u[1]
        u[-1] = u[-2]
    return u


@program(RNG.random((10, 12)))
def laplace(u):
    u = np.array(u)
    error = 1.0
    rounds = 0
    while error > 1e-2 and rounds < 100:
        new = u.copy()
        new[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
        error = np.abs(new - u).max()
        u = new
        rounds += 1
    return u, rounds


@program(30)
def poisson_tridiagonal(n):
    h = 1.0 / (n + 1)
    a = np.diag(np.full(n, 2.0)) - np.diag(np.ones(n - 1), 1) - np.diag(np.ones(n - 1), -1)
    x = np.arange(1, n + 1) * h
    return np.linalg.solve(a / h**2, np.sin(np.pi * x)) * np.pi**2


@program(np.array([1.0, 0.0, 0.0, 1.0]))
def runge_kutta(state):
    def slope(s):
        r3 = (s[0] ** 2 + s[1] ** 2) ** 1.5
        return np.array([s[2], s[3], -s[0] / r3, -s[1] / r3])

    path = np.empty((50, 4))
    for k in range(50):
        a = slope(state)
        b = slope(state + 0.05 * a)
        c = slope(state + 0.05 * b)
        d = slope(state + 0.1 * c)
        state = state + 0.1 / 6 * (a + 2 * b + 2 * c + d)
        path[k] = state
    return path


@program(np.array([12, 7, 20, 15, 3]), np.array([4, 2, 6, 5, 1]), 10)
def knapsack(value, weight, room):
    best = np.zeros((len(value) + 1, room + 1), dtype=np.int64)
    for i in range(1, len(value) + 1):
        for w in range(room + 1):
            best[i, w] = best[i - 1, w]
            if weight[i - 1] <= w:
                best[i, w] = max(best[i, w], best[i - 1, w - weight[i - 1]] + value[i - 1])
    return best[-1, -1], best


@program("kitten sitting", "sitting kitten")
def edit_distance(a, b):
    row = np.arange(len(b) + 1)
    for i in range(len(a)):
        new = np.empty_like(row)
        new[0] = i + 1
        for j in range(len(b)):
            new[j + 1] = min(row[j + 1] + 1, new[j] + 1, row[j] + (a[i] != b[j]))
        row = new
    return row[-1], row


@program(np.where(RNG.random((7, 7)) < 0.4, RNG.random((7, 7)), np.inf))
def floyd_warshall(d):
    d = d.copy()
    np.fill_diagonal(d, 0)
    for k in range(len(d)):
        d = np.minimum(d, d[:, k, None] + d[None, k, :])
    return d


@program(np.array([0.6, 0.4]), np.array([[0.7, 0.3], [0.4, 0.6]]), np.array([[0.1, 0.4, 0.5], [0.6, 0.3, 0.1]]),
         np.array([0, 1, 2, 2, 0]))  # fmt: skip
def viterbi(start, move, emit, seen):
    score = np.log(start) + np.log(emit[:, seen[0]])
    back = np.zeros((len(seen), len(start)), dtype=int)
    for t in range(1, len(seen)):
        table = score[:, None] + np.log(move)
        back[t] = table.argmax(axis=0)
        score = table.max(axis=0) + np.log(emit[:, seen[t]])
    path = [int(np.argmax(score))]
    for t in range(len(seen) - 1, 0, -1):
        path.append(int(back[t, path[-1]]))
    return np.array(path[::-1]), score


@program(np.sin(np.arange(128) * 0.3) + 0.5 * np.sin(np.arange(128) * 1.1))
def spectrum(x):
    w = np.hanning(len(x))
    power = np.abs(np.fft.rfft(x * w)) ** 2
    f = np.fft.rfftfreq(len(x), 0.01)
    peaks = np.flatnonzero((power[1:-1] > power[:-2]) & (power[1:-1] > power[2:])) + 1
    return f[peaks], power[peaks], f[np.argmax(power)]


@program(RNG.normal(size=100))
def low_pass(x):
    f = np.fft.fft(x)
    k = np.fft.fftfreq(x.size)
    f[np.abs(k) > 0.1] = 0
    return np.fft.ifft(f).real


@program(RNG.normal(size=64), 16)
def welch(x, n):
    segments = np.array([x[i : i + n] for i in range(0, len(x) - n + 1, n // 2)])
    segments = segments - segments.mean(axis=1, keepdims=True)
    return (np.abs(np.fft.rfft(segments * np.hanning(n), axis=1)) ** 2).mean(axis=0)


@program(np.array([0, 2, 3, 3, 6]), np.array([0, 2, 1, 0, 1, 3]), RNG.random(6), RNG.random(4))
def csr_product(indptr, indices, data, x):
    y = np.zeros(len(indptr) - 1)
    for i in range(len(y)):
        at = slice(indptr[i], indptr[i + 1])
        y[i] = np.dot(data[at], x[indices[at]])
    return y


@program(RNG.integers(0, 5, 12), RNG.integers(0, 5, 12), RNG.random(12))
def coo_to_csr(rows, cols, values):
    order = np.lexsort((cols, rows))
    r, c, v = rows[order], cols[order], values[order]
    keep = np.ones(len(r), dtype=bool)
    keep[1:] = (r[1:] != r[:-1]) | (c[1:] != c[:-1])
    sums = np.add.reduceat(v, np.flatnonzero(keep))
    indptr = np.zeros(6, dtype=np.int64)
    np.add.at(indptr, r[keep] + 1, 1)
    return indptr.cumsum(), c[keep], sums


@program(5, 30)
def pagerank(n, rounds):
    links = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            if i != j and (i * j + i) % 3 != 1:
                links[i, j] = 1
    out = links.sum(axis=0)
    m = np.divide(links, out, out=np.full_like(links, 1 / n), where=out > 0)
    x = np.full(n, 1 / n)
    for _ in range(rounds):
        x = 0.85 * m @ x + 0.15 / n
    return x / x.sum()


@program(RNG.random((25, 2)))
def convex_hull(points):
    order = np.lexsort((points[:, 1], points[:, 0]))
    p = points[order]

    def turn(o, a, b):
        return (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0])

    hull = []
    for i in range(len(p)):
        while len(hull) >= 2 and turn(p[hull[-2]], p[hull[-1]], p[i]) <= 0:
            hull.pop()
        hull.append(i)
    low = len(hull) + 1
    for i in range(len(p) - 2, -1, -1):
        while len(hull) >= low and turn(p[hull[-2]], p[hull[-1]], p[i]) <= 0:
            hull.pop()
        hull.append(i)
    return p[np.array(hull[:-1])]


@program(RNG.random((8, 2)), RNG.random((20, 2)))
def in_polygon(poly, points):
    inside = np.zeros(len(points), dtype=np.bool_)
    x, y = points.T
    j = len(poly) - 1
    for i in range(len(poly)):
        xi, yi = poly[i]
        xj, yj = poly[j]
        crosses = ((yi > y) != (yj > y)) & (x < (xj - xi) * (y - yi) / (yj - yi) + xi)
        inside ^= crosses
        j = i
    return inside, 0.5 * abs(np.dot(poly[:, 0], np.roll(poly[:, 1], 1)) - np.dot(poly[:, 1], np.roll(poly[:, 0], 1)))


@program(RNG.random((10, 3)), RNG.random((10, 3)))
def rigid_fit(a, b):
    ca, cb = a.mean(axis=0), b.mean(axis=0)
    u, s, vt = np.linalg.svd((a - ca).T @ (b - cb))
    d = np.sign(np.linalg.det(vt.T @ u.T))
    r = vt.T @ np.diag(np.array([1.0, 1.0, d])) @ u.T
    return r, cb - r @ ca, np.sqrt(((b - (a @ r.T + cb - r @ ca)) ** 2).mean())


@program(np.array([1.0, 2.0, 3.0]) / np.sqrt(14.0), 0.7, RNG.random((5, 3)))
def rodrigues(axis, angle, v):
    k = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
    r = np.eye(3) + np.sin(angle) * k + (1 - np.cos(angle)) * (k @ k)
    return np.einsum("ij,nj->ni", r, v), np.allclose(r @ r.T, np.eye(3)), np.cross(axis, v)


@program(RNG.random(200).cumsum(), 5)
def rolling(x, n):
    c = np.cumsum(np.insert(x, 0, 0.0))
    mean = (c[n:] - c[:-n]) / n
    windows = np.lib.stride_tricks.sliding_window_view(x, n)
    return mean, windows.std(axis=1), windows.max(axis=-1), np.convolve(x, np.ones(n) / n, mode="valid")


@program(RNG.random((6, 30)))
def bootstrap(x):
    rng = np.random.default_rng(11)
    means = np.empty((50, len(x)))
    for k in range(50):
        means[k] = x[:, rng.integers(0, x.shape[1], x.shape[1])].mean(axis=1)
    return np.percentile(means, [2.5, 50, 97.5], axis=0), means.std(axis=0, ddof=1)


@program(np.array([("a", 3, 1.5), ("b", 1, 2.5), ("a", 2, 0.5)], [("name", "U4"), ("n", "i4"), ("x", "f8")]))
def group_by(table):
    names = np.unique(table["name"])
    sums = np.zeros(len(names))
    for i in range(len(names)):
        sums[i] = (table["x"] * table["n"])[table["name"] == names[i]].sum()
    return names, sums, np.sort(table, order="n")["x"]


@program(np.array(["2026-01-03", "2026-01-01", "2026-03-01", "2026-01-20"], "M8[D]"), np.array([1.0, 2.0, 4.0, 8.0]))
def by_month(days, amounts):
    months = days.astype("M8[M]")
    found, where = np.unique(months, return_inverse=True)
    totals = np.zeros(len(found))
    np.add.at(totals, where, amounts)
    return found, totals, np.diff(np.sort(days)), days[np.argmax(amounts)]


@pytest.mark.parametrize("function, args", PROGRAMS, ids=[function.__name__ for function, _ in PROGRAMS])
def test_program(function, args):
    mine, theirs = copy_argument(args), copy_argument(args)
    compare(outcome(njit(function), mine, {}), outcome(function, theirs, {}), function.__name__)
    for our, their in zip(mine, theirs):
        if isinstance(their, np.ndarray) and their.dtype.names is None:
            np.testing.assert_array_equal(our, their)


@pytest.mark.parametrize("name", ["argmin", "argmax", "nanargmin", "nanargmax"])
def test_places_are_those_along_one_axis(name):
    scope = {"np": np}
    exec(f"def f(x):\n    return np.{name}(x, axis=(0, 1))", scope)
    told = []
    for function in scope["f"], njit(scope["f"]):
        with pytest.raises(TypeError) as caught:
            function(np.arange(6.0).reshape(2, 3))
        told.append(str(caught.value))
    assert told[0] == told[1]
