"""Programs of many fields as they are written for NumPy, compiled with @njit alone: what the interpreter gives."""

import math

import numpy as np
import pytest

from krait import njit
from oracle import Raised, copy_argument, outcome

PROGRAMS = []


def prog(*args):
    def add(function):
        PROGRAMS.append((function, args))
        return function

    return add


rng = np.random.default_rng(5)
img = rng.random((24, 31))
img8 = (img * 255).astype(np.uint8)
rgb = rng.integers(0, 256, (17, 19, 3)).astype(np.uint8)
sig = rng.standard_normal(256)
sig32 = sig.astype(np.float32)
pts = rng.random((40, 3))
lab = rng.integers(0, 4, 40)
price = np.cumprod(1 + rng.standard_normal(250) * 0.01) * 100
small = rng.random((12, 15))
x = rng.standard_normal(60)
M = rng.standard_normal((6, 6))
dates = np.array(["2021-01-04", "2021-01-05", "2021-01-08", "2021-02-01"], "M8[D]")


# ---- imaging


@prog(rgb)
def to_gray_equalised(rgb):
    gray = np.round(rgb @ np.array([0.299, 0.587, 0.114])).astype(np.uint8)
    hist, edges = np.histogram(gray.ravel(), bins=256, range=(0, 256))
    cdf = hist.cumsum()
    masked = np.where(cdf > 0, cdf, cdf.max())
    lo = masked.min()
    lut = np.clip((cdf - lo) * 255 / (cdf[-1] - lo), 0, 255).astype(np.uint8)
    return lut[gray], hist, edges


@prog(img)
def sobel_edges(im):
    kx = np.array([[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]], dtype=np.float64)
    padded = np.pad(im, 1, mode='edge')
    win = np.lib.stride_tricks.sliding_window_view(padded, (3, 3))
    gx = np.einsum('ijkl,kl->ij', win, kx)
    gy = np.einsum('ijkl,kl->ij', win, kx.T)
    mag = np.hypot(gx, gy)
    return mag / mag.max(), np.rad2deg(np.arctan2(gy, gx)) % 180


@prog(img > 0.5)
def dilate(mask):
    out = mask.copy()
    out[1:] |= mask[:-1]
    out[:-1] |= mask[1:]
    out[:, 1:] |= mask[:, :-1]
    out[:, :-1] |= mask[:, 1:]
    return out, np.count_nonzero(out) - np.count_nonzero(mask)


@prog(img8)
def otsu(im):
    hist = np.bincount(im.ravel(), minlength=256).astype(float)
    p = hist / hist.sum()
    omega = np.cumsum(p)
    mu = np.cumsum(p * np.arange(256))
    mt = mu[-1]
    with_den = omega * (1 - omega)
    s = np.zeros(256)
    ok = with_den > 0
    s[ok] = (mt * omega[ok] - mu[ok]) ** 2 / with_den[ok]
    k = int(np.argmax(s))
    return k, im > k, s


@prog(img, 1.5)
def gaussian_blur(im, sigma):
    r = int(math.ceil(3 * sigma))
    x = np.arange(-r, r + 1)
    k = np.exp(-x ** 2 / (2 * sigma * sigma))
    k /= k.sum()
    rows = np.empty_like(im)
    for i in range(im.shape[0]):
        rows[i] = np.convolve(im[i], k, mode='same')
    out = np.apply_along_axis(lambda c: np.convolve(c, k, mode='same'), 0, rows)
    return out


@prog(img, 0.3)
def rotate_nearest(im, theta):
    h, w = im.shape
    yy, xx = np.mgrid[0:h, 0:w]
    cy, cx = (h - 1) / 2, (w - 1) / 2
    y = (yy - cy) * np.cos(theta) - (xx - cx) * np.sin(theta) + cy
    x = (yy - cy) * np.sin(theta) + (xx - cx) * np.cos(theta) + cx
    yi = np.rint(y).astype(int)
    xi = np.rint(x).astype(int)
    good = (yi >= 0) & (yi < h) & (xi >= 0) & (xi < w)
    out = np.full((h, w), np.nan)
    out[good] = im[yi[good], xi[good]]
    return out


@prog(img)
def summed_area(im):
    s = np.zeros((im.shape[0] + 1, im.shape[1] + 1))
    s[1:, 1:] = im.cumsum(axis=0).cumsum(axis=1)
    k = 5
    return (s[k:, k:] - s[:-k, k:] - s[k:, :-k] + s[:-k, :-k]) / k**2
# ---- finance


@prog(price, 20)
def bollinger(p, n):
    c = np.cumsum(np.insert(p, 0, 0.0))
    mean = (c[n:] - c[:-n]) / n
    win = np.lib.stride_tricks.sliding_window_view(p, n)
    sd = win.std(axis=1, ddof=1)
    return mean, mean + 2 * sd, mean - 2 * sd


@prog(price)
def drawdown(p):
    peak = np.maximum.accumulate(p)
    dd = (p - peak) / peak
    i = dd.argmin()
    j = p[:i + 1].argmax() if i > 0 else 0
    return dd.min(), i, j, np.log(p[1:] / p[:-1]).std() * np.sqrt(252)


@prog(np.array([90., 100., 110.]), 100., .02, .2, np.array([0.25, 1.]))
def black_scholes(K, S, r, v, T):
    T = T[:, None]
    d1 = (np.log(S / K) + (r + v**2 / 2) * T) / (v * np.sqrt(T))
    d2 = d1 - v * np.sqrt(T)
    def cdf(x):
        return 0.5 * (1 + np.array([[math.erf(z / math.sqrt(2)) for z in row] for row in x]))
    return S * cdf(d1) - K * np.exp(-r * T) * cdf(d2)


@prog(rng.standard_normal((60,5))*.01)
def portfolio(R):
    mu = R.mean(axis=0) * 252
    C = np.cov(R, rowvar=False) * 252
    ones = np.ones(len(mu))
    w = np.linalg.solve(C, ones)
    w /= w.sum()
    return w, w @ mu, np.sqrt(w @ C @ w), np.corrcoef(R.T)


@prog(100., 3, np.array([-100., 30., 40., 50.]))
def irr(x, n, flows):
    lo, hi = -0.9, 1.0
    t = np.arange(flows.size)
    for _ in range(60):
        mid = (lo + hi) / 2
        if np.sum(flows / (1 + mid) ** t) > 0:
            lo = mid
        else:
            hi = mid
    return mid


@prog(price)
def ema_rsi(p):
    d = np.diff(p, prepend=p[0])
    up = np.where(d > 0, d, 0.)
    dn = np.where(d < 0, -d, 0.)
    a = 1 / 14
    au = np.zeros_like(p); ad = np.zeros_like(p)
    for i in range(1, p.size):
        au[i] = a * up[i] + (1 - a) * au[i - 1]
        ad[i] = a * dn[i] + (1 - a) * ad[i - 1]
    rs = np.divide(au, ad, out=np.full_like(p, np.inf), where=ad != 0)
    return 100 - 100 / (1 + rs)
# ---- physics


@prog(pts*2-1, np.ones(40))
def nbody_forces(x, m):
    d = x[None, :, :] - x[:, None, :]
    r2 = (d**2).sum(axis=-1) + 1e-3
    inv = r2 ** -1.5
    np.fill_diagonal(inv, 0)
    acc = (d * (m[None, :, None] * inv[..., None])).sum(axis=1)
    pot = -0.5 * np.sum(np.outer(m, m)[np.triu_indices(len(m), 1)] / np.sqrt(r2[np.triu_indices(len(m), 1)]))
    return acc, pot


@prog(np.where(rng.random((16,16))>.5,1,-1), 0.4)
def ising_energy(s, beta):
    nb = np.roll(s, 1, 0) + np.roll(s, -1, 0) + np.roll(s, 1, 1) + np.roll(s, -1, 1)
    e = -(s * nb).sum() / 2
    p = np.exp(-2 * beta * s * nb)
    return e, s.mean(), np.minimum(1, p)


@prog(50, 0.1)
def schroedinger(n, h):
    x = (np.arange(n) - n // 2) * h
    V = 0.5 * x**2
    H = np.diag(V + 1 / h**2) + np.diag(np.full(n - 1, -0.5 / h**2), 1) + np.diag(np.full(n - 1, -0.5 / h**2), -1)
    w, v = np.linalg.eigh(H)
    psi = v[:, 0]
    return w[:3], np.abs(psi), np.trapezoid(psi**2, x)


@prog(np.array([1.,0.,0.,0.]), 0.01, 50)
def rk4(y, h, n):
    def f(t, y):
        return np.array([y[1], -y[0], y[3] + t, -0.1 * y[3] - np.sin(y[2])])
    out = np.empty((n + 1, y.size))
    out[0] = y
    t = 0.0
    for i in range(n):
        k1 = f(t, y)
        k2 = f(t + h / 2, y + h / 2 * k1)
        k3 = f(t + h / 2, y + h / 2 * k2)
        k4 = f(t + h, y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        t += h
        out[i + 1] = y
    return out


@prog(rng.random((20,20)), 5)
def lattice_step(f, steps):
    u = f.copy()
    for _ in range(steps):
        u[1:-1, 1:-1] += 0.1 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1])
    gy, gx = np.gradient(u)
    return u, np.sqrt(gx**2 + gy**2).max(), u[5:10].mean(axis=(0, 1))


@prog(pts, 2.5)
def rdf(x, rmax):
    d = np.linalg.norm(x[:, None] - x[None], axis=2)
    iu = np.triu_indices(len(x), k=1)
    h, e = np.histogram(d[iu], bins=np.linspace(0, rmax, 26))
    shell = 4 / 3 * np.pi * (e[1:]**3 - e[:-1]**3)
    return h / shell, 0.5 * (e[1:] + e[:-1])
# ---- ML


@prog(pts, 4, 10)
def kmeans(X, k, it):
    c = X[:k].copy()
    for _ in range(it):
        d = ((X[:, None, :] - c[None, :, :])**2).sum(axis=2)
        l = d.argmin(axis=1)
        for j in range(k):
            if np.any(l == j):
                c[j] = X[l == j].mean(axis=0)
    return c, l, d[np.arange(len(X)), l].sum()


@prog(rng.standard_normal((30,4)), rng.integers(0,2,30).astype(float))
def logistic(X, y):
    X = np.hstack((np.ones((X.shape[0], 1)), X))
    w = np.zeros(X.shape[1])
    for _ in range(20):
        p = 1 / (1 + np.exp(-X @ w))
        g = X.T @ (p - y) + 0.1 * w
        H = (X.T * (p * (1 - p))) @ X + 0.1 * np.eye(X.shape[1])
        w -= np.linalg.solve(H, g)
    return w, np.mean((X @ w > 0) == (y == 1))


@prog(rng.standard_normal((6,5)), np.array([0,4,2,1,3,3]))
def softmax_ce(z, y):
    z = z - z.max(axis=1, keepdims=True)
    e = np.exp(z)
    p = e / e.sum(axis=1, keepdims=True)
    n = z.shape[0]
    loss = -np.log(p[np.arange(n), y]).mean()
    onehot = np.eye(z.shape[1])[y]
    return loss, (p - onehot) / n, p.argmax(-1) == y


@prog(rng.standard_normal((30,5)), 2)
def pca(X, k):
    Xc = X - X.mean(0)
    U, S, Vt = np.linalg.svd(Xc, full_matrices=False)
    return S**2 / (len(X) - 1), np.abs(Xc @ Vt[:k].T), (S**2).cumsum() / (S**2).sum()


@prog(pts, lab, 5)
def knn(X, y, k):
    out = np.empty(len(X), dtype=y.dtype)
    for i in range(len(X)):
        d = np.sqrt(((X - X[i])**2).sum(axis=1))
        d[i] = np.inf
        idx = np.argpartition(d, k)[:k]
        out[i] = np.bincount(y[idx], minlength=4).argmax()
    cm = np.zeros((4, 4), dtype=int)
    np.add.at(cm, (y, out), 1)
    return cm, out


@prog(rng.random(50), rng.integers(0,2,50))
def roc_auc(score, label):
    order = np.argsort(-score, kind='stable')
    l = label[order]
    tps = np.cumsum(l)
    fps = np.cumsum(1 - l)
    tpr = np.concatenate(([0], tps)) / tps[-1]
    fpr = np.concatenate(([0], fps)) / fps[-1]
    return np.trapezoid(tpr, fpr), tpr[::10]


@prog(rng.standard_normal((2,3,8,8)), rng.standard_normal((4,3,3,3)))
def conv2d(x, w):
    n, c, h, wd = x.shape
    o, _, kh, kw = w.shape
    cols = np.empty((n, h - kh + 1, wd - kw + 1, c * kh * kw))
    for i in range(h - kh + 1):
        for j in range(wd - kw + 1):
            cols[:, i, j] = x[:, :, i:i + kh, j:j + kw].reshape(n, -1)
    out = cols @ w.reshape(o, -1).T
    return np.maximum(out.transpose(0, 3, 1, 2), 0)
# ---- bioinformatics


@prog(rng.integers(0,4,30).astype(np.int8), rng.integers(0,4,25).astype(np.int8))
def smith_waterman(a, b):
    H = np.zeros((a.size + 1, b.size + 1), dtype=np.int32)
    for i in range(1, a.size + 1):
        for j in range(1, b.size + 1):
            s = 2 if a[i - 1] == b[j - 1] else -1
            H[i, j] = max(0, H[i - 1, j - 1] + s, H[i - 1, j] - 1, H[i, j - 1] - 1)
    i, j = np.unravel_index(H.argmax(), H.shape)
    return H, (i, j)


@prog("ACGTACGGTTACGT", 3)
def kmer_counts(s, k):
    codes = np.array([{'A': 0, 'C': 1, 'G': 2, 'T': 3}[c] for c in s])
    w = 4 ** np.arange(k)[::-1]
    idx = np.convolve(codes, 4 ** np.arange(k), 'valid')
    u, c = np.unique(idx, return_counts=True)
    return u, c, (codes == 1).mean(), w


@prog(rng.poisson(5,(20,6)))
def normalise_counts(M):
    lib = M.sum(axis=0)
    cpm = M / lib * 1e6
    logc = np.log2(cpm + 1)
    spread = logc.std(axis=1, keepdims=True)
    z = (logc - logc.mean(axis=1, keepdims=True)) / np.where(spread == 0, 1, spread)
    ranks = M.argsort(axis=0).argsort(axis=0)
    return z, ranks, np.median(M, axis=1)


@prog(rng.random((10,10)))
def upgma_min(D):
    D = (D + D.T) / 2
    np.fill_diagonal(D, np.inf)
    merges = []
    active = np.ones(len(D), dtype=bool)
    for _ in range(len(D) - 1):
        sub = np.where(active[:, None] & active[None, :], D, np.inf)
        k = np.argmin(sub)
        i, j = divmod(k, len(D))
        merges.append((i, j, D[i, j]))
        row = (D[i] + D[j]) / 2
        D[i, :] = row
        D[:, i] = row
        D[i, i] = np.inf
        active[j] = False
    return merges


@prog(np.array([[.5,.5],[.4,.6]]), np.array([[.2,.3,.3,.2],[.3,.2,.2,.3]]), rng.integers(0,4,20))
def viterbi(A, B, obs):
    lA, lB = np.log(A), np.log(B)
    T = np.zeros((len(obs), 2)); bp = np.zeros((len(obs), 2), dtype=np.intp)
    T[0] = np.log(0.5) + lB[:, obs[0]]
    for t in range(1, len(obs)):
        s = T[t - 1][:, np.newaxis] + lA
        bp[t] = s.argmax(axis=0)
        T[t] = s.max(axis=0) + lB[:, obs[t]]
    path = [int(T[-1].argmax())]
    for t in range(len(obs) - 1, 0, -1):
        path.append(int(bp[t, path[-1]]))
    return np.array(path[::-1]), T[-1].max()
# ---- geodesy


@prog(rng.uniform(-80,80,12), rng.uniform(-170,170,12))
def haversine(lat, lon):
    la, lo = np.radians(lat), np.radians(lon)
    dla = la[:, None] - la
    dlo = lo[:, None] - lo
    a = np.sin(dla / 2)**2 + np.cos(la[:, None]) * np.cos(la) * np.sin(dlo / 2)**2
    d = 2 * 6371.0088 * np.arcsin(np.sqrt(np.clip(a, 0, 1)))
    np.fill_diagonal(d, np.nan)
    return d, np.nanargmin(d, axis=1), np.nanmean(d)


@prog(rng.uniform(-80,80,9), rng.uniform(-170,170,9), rng.uniform(0,1000,9))
def geodetic_roundtrip(lat, lon, h):
    a, f = 6378137.0, 1 / 298.257223563
    e2 = f * (2 - f)
    p, l = np.deg2rad(lat), np.deg2rad(lon)
    N = a / np.sqrt(1 - e2 * np.sin(p)**2)
    xyz = np.stack(
        [(N + h) * np.cos(p) * np.cos(l), (N + h) * np.cos(p) * np.sin(l), (N * (1 - e2) + h) * np.sin(p)], axis=-1
    )
    r = np.hypot(xyz[:, 0], xyz[:, 1])
    phi = np.arctan2(xyz[:, 2], r * (1 - e2))
    for _ in range(5):
        N = a / np.sqrt(1 - e2 * np.sin(phi)**2)
        hh = r / np.cos(phi) - N
        phi = np.arctan2(xyz[:, 2], r * (1 - e2 * N / (N + hh)))
    return xyz, np.rad2deg(phi), hh


@prog(pts[:10], pts[10:20])
def helmert(A, B):
    ca, cb = A.mean(axis=0), B.mean(axis=0)
    H = (A - ca).T @ (B - cb)
    U, S, Vt = np.linalg.svd(H)
    d = np.sign(np.linalg.det(Vt.T @ U.T))
    R = Vt.T @ np.diag(np.array([1.0, 1.0, d])) @ U.T
    t = cb - R @ ca
    res = B - (A @ R.T + t)
    return R, t, np.sqrt(np.mean(res**2))


@prog(np.array([0.,1,2,3,4]), np.array([1.,4,2,8,5]), np.linspace(-1,5,13))
def gridded(x, y, q):
    i = np.clip(np.searchsorted(x, q, side='right') - 1, 0, len(x) - 2)
    t = (q - x[i]) / (x[i + 1] - x[i])
    lin = y[i] * (1 - t) + y[i + 1] * t
    return lin, np.interp(q, x, y), np.polyval(np.polyfit(x, y, 2), q)
# ---- signal


@prog(sig, 32, 16)
def stft(x, n, hop):
    w = np.hanning(n + 1)[:-1]
    frames = 1 + (len(x) - n) // hop
    S = np.empty((n // 2 + 1, frames), dtype=np.complex128)
    for k in range(frames):
        S[:, k] = np.fft.rfft(w * x[k * hop:k * hop + n])
    P = np.abs(S)**2
    return 10 * np.log10(np.maximum(P, 1e-12)), np.angle(S[:, 0]), np.fft.rfftfreq(n, 1 / 100.)


@prog(sig, np.array([0.2,0.3,0.2]), np.array([1.,-.4,.1]))
def iir(x, b, a):
    y = np.zeros_like(x)
    z = np.zeros(len(b) - 1)
    for n in range(len(x)):
        y[n] = b[0] * x[n] + z[0]
        z[:-1] = b[1:-1] * x[n] + z[1:] - a[1:-1] * y[n]
        z[-1] = b[-1] * x[n] - a[-1] * y[n]
    return y


@prog(sig32)
def autocorr(x):
    x = x - x.mean()
    c = np.correlate(x, x, mode='full')
    c = c[c.size // 2:]
    pk = np.flatnonzero((c[1:-1] > c[:-2]) & (c[1:-1] > c[2:])) + 1
    return c / c[0], pk, x.dtype == np.float32


@prog(sig)
def median_filter(x):
    out = np.empty_like(x)
    for i in range(len(x)):
        out[i] = np.median(x[max(0, i - 2):i + 3])
    mad = np.median(np.abs(x - np.median(x)))
    return out, x[np.abs(x - np.median(x)) > 3 * 1.4826 * mad], np.percentile(x, [5, 50, 95])


@prog(np.cumsum(sig), 5)
def savgol(y, half):
    k = np.arange(-half, half + 1)
    A = np.vander(k, 3, increasing=True).astype(float)
    c = np.linalg.pinv(A)
    return np.convolve(y, c[0][::-1], mode='valid'), c[1]


@prog(sig[:64])
def hilbert_env(x):
    X = np.fft.fft(x)
    h = np.zeros(len(x))
    h[0] = h[len(x) // 2] = 1
    h[1:len(x) // 2] = 2
    z = np.fft.ifft(X * h)
    return np.abs(z), np.unwrap(np.angle(z)), z.real


@prog(sig)
def zero_cross(x):
    s = np.sign(x)
    s[s == 0] = 1
    zc = np.where(np.diff(s) != 0)[0]
    runs = np.split(x, zc + 1)
    return zc, [r.sum() for r in runs], max([len(r) for r in runs])
# ---- other


@prog(200)
def sieve(n):
    s = np.ones(n + 1, dtype=bool)
    s[:2] = False
    for i in range(2, int(n ** 0.5) + 1):
        if s[i]:
            s[i * i::i] = False
    return np.nonzero(s)[0], s.sum()


@prog(rng.random((9,9)))
def floyd(D):
    d = np.where(D < 0.4, D, np.inf)
    np.fill_diagonal(d, 0)
    for k in range(len(d)):
        d = np.minimum(d, d[:, k, None] + d[None, k, :])
    return d, np.isfinite(d).all(axis=1)


@prog(np.array([4.,1,0]), 3)
def life(x, n):
    g = np.zeros((10, 10), dtype=np.uint8)
    g[1, 2] = g[2, 3] = g[3, 1] = g[3, 2] = g[3, 3] = 1
    for _ in range(n):
        nb = sum([np.roll(np.roll(g, i, 0), j, 1) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0)])
        g = ((nb == 3) | ((g == 1) & (nb == 2))).astype(np.uint8)
    return g


@prog(rng.random((8,4)), np.array([.1,.2,.3,.4]))
def topsis(M, w):
    norm = M / np.sqrt((M**2).sum(axis=0))
    v = norm * w
    best, worst = v.max(axis=0), v.min(axis=0)
    dp = np.sqrt(((v - best)**2).sum(axis=1))
    dm = np.sqrt(((v - worst)**2).sum(axis=1))
    s = dm / (dp + dm)
    return s, s.argsort()[::-1], np.argsort(s)[-3:]


@prog(np.array([[2.,1,-1,8],[-3,-1,2,-11],[-2,1,2,-3]]))
def gauss_jordan(M):
    A = M.copy()
    n = A.shape[0]
    for i in range(n):
        p = i + np.argmax(np.abs(A[i:, i]))
        if A[p, i] == 0:
            raise ValueError("singular")
        A[[i, p]] = A[[p, i]]
        A[i] /= A[i, i]
        for j in range(n):
            if j != i:
                A[j] -= A[j, i] * A[i]
    return A[:, -1]


@prog(rng.integers(0,5,(30,2)), rng.random(30))
def groupby(keys, v):
    code = keys[:, 0] * 5 + keys[:, 1]
    u, inv, cnt = np.unique(code, return_inverse=True, return_counts=True)
    s = np.bincount(inv, weights=v)
    mx = np.full(len(u), -np.inf)
    np.maximum.at(mx, inv, v)
    order = np.lexsort((keys[:, 1], keys[:, 0]))
    return u, s / cnt, mx, keys[order]


@prog(np.array([3,1,2]), np.zeros((2,2)))
def raises(a, b):
    return a.reshape(2, 2) + b


@prog(np.array([3,1,2]), np.zeros((2,2)))
def raises2(a, b):
    return a + b


@prog(np.array([3,1,2]))
def raises3(a):
    return a[np.array([0, 5])]


@prog(np.array([3.,1,2]))
def strings_of(a):
    return [f"{x:.2f}" for x in a], str(a.shape), f"{a.mean():>8.3f}"
# ---- and others


@prog(dates, np.array([1.,2.,4.,3.]))
def monthly_mean(d, v):
    m = d.astype('M8[M]')
    u, inv = np.unique(m, return_inverse=True)
    return u, np.bincount(inv, weights=v) / np.bincount(inv)


@prog(dates, np.datetime64('2021-01-06'))
def days_since(d, ref):
    dt = (d - ref) / np.timedelta64(1, 'D')
    return dt, d[dt > 0], d.max() - d.min()


@prog(dates)
def year_fraction(d):
    y = d.astype('datetime64[Y]')
    start = y.astype('datetime64[D]')
    end = (y + np.timedelta64(1, 'Y')).astype('datetime64[D]')
    return (d - start) / (end - start)


@prog(small)
def bilinear_upsample(im):
    h, w = im.shape
    ys = np.linspace(0, h - 1, 2 * h)
    xs = np.linspace(0, w - 1, 2 * w)
    y0 = np.floor(ys).astype(np.intp); x0 = np.floor(xs).astype(np.intp)
    y1 = np.minimum(y0 + 1, h - 1); x1 = np.minimum(x0 + 1, w - 1)
    fy = (ys - y0)[:, None]; fx = (xs - x0)[None, :]
    return (im[np.ix_(y0, x0)] * (1 - fy) * (1 - fx) + im[np.ix_(y1, x0)] * fy * (1 - fx)
            + im[np.ix_(y0, x1)] * (1 - fy) * fx + im[np.ix_(y1, x1)] * fy * fx)


@prog(small)
def label_components(im):
    mask = im > 0.5
    lab = np.zeros(mask.shape, dtype=np.int32)
    cur = 0
    for i, j in np.argwhere(mask):
        if lab[i, j]:
            continue
        cur += 1
        stack = [(i, j)]
        while stack:
            a, b = stack.pop()
            if a < 0 or b < 0 or a >= mask.shape[0] or b >= mask.shape[1]:
                continue
            if not mask[a, b] or lab[a, b]:
                continue
            lab[a, b] = cur
            stack.extend([(a + 1, b), (a - 1, b), (a, b + 1), (a, b - 1)])
    return lab, np.bincount(lab.ravel())[1:]


@prog(small)
def histogram_match(im):
    src, idx, cnt = np.unique(im.ravel(), return_inverse=True, return_counts=True)
    q = np.cumsum(cnt).astype(np.float64) / im.size
    t = np.sort(np.linspace(0, 1, 50) ** 2)
    tq = np.arange(1, 51) / 50
    return np.interp(q, tq, t)[idx].reshape(im.shape)


@prog(x, np.array([.25,.5,.25]))
def fir(sig, taps):
    out = np.zeros_like(sig)
    for k, c in enumerate(taps):
        out[k:] += c * sig[:len(sig) - k]
    return out


@prog(x)
def goertzel(s):
    freqs = [0.1, 0.2, 0.3]
    p = []
    for f in freqs:
        w = 2 * np.pi * f
        c = 2 * np.cos(w)
        s1 = s2 = 0.0
        for v in s:
            s1, s2 = v + c * s1 - s2, s1
        p.append(s1 * s1 + s2 * s2 - c * s1 * s2)
    return np.array(p) / max(p)


@prog(x)
def welch(s):
    segs = np.stack([s[i:i + 16] for i in range(0, len(s) - 16 + 1, 8)])
    segs = segs - segs.mean(axis=1, keepdims=True)
    P = np.abs(np.fft.rfft(segs * np.hamming(16), axis=1))**2
    return P.mean(axis=0), 10 * np.log10(P.max(axis=0) + 1e-12)


@prog(M)
def expm_taylor(A):
    n = int(max(0, np.ceil(np.log2(np.linalg.norm(A, 1))) + 1))
    A = A / 2**n
    E = np.eye(len(A)); T = np.eye(len(A))
    for k in range(1, 20):
        T = T @ A / k
        E += T
    for _ in range(n):
        E = E @ E
    return E, np.trace(E)


@prog(M @ M.T + 6*np.eye(6), np.ones(6))
def conjugate_gradient(A, b):
    x = np.zeros_like(b); r = b - A @ x; p = r.copy(); rs = r @ r
    for it in range(len(b)):
        Ap = A @ p
        a = rs / (p @ Ap)
        x += a * p
        r -= a * Ap
        new = r @ r
        if np.sqrt(new) < 1e-10:
            break
        p = r + new / rs * p
        rs = new
    return np.round(x, 8), it


@prog(M)
def power_iteration(A):
    A = A + A.T
    v = np.ones(A.shape[0]) / np.sqrt(A.shape[0])
    for _ in range(300):
        w = A @ v
        v = w / np.linalg.norm(w)
    return np.abs(v @ A @ v), np.linalg.matrix_rank(A), np.linalg.cond(A) > 1


@prog(np.array([0.,0.]), np.eye(2), x[:20])
def kalman(m, P, z):
    F = np.array([[1, 1], [0, 1]]); H = np.array([[1.0, 0.0]]); Q = 0.01 * np.eye(2); R = np.array([[0.5]])
    out = []
    for v in z:
        m = F @ m
        P = F @ P @ F.T + Q
        S = H @ P @ H.T + R
        K = P @ H.T @ np.linalg.inv(S)
        m = m + K @ (np.array([v]) - H @ m)
        P = (np.eye(2) - K @ H) @ P
        out.append(m[0])
    return np.array(out), P


@prog(rng.integers(0,2,(8,20)))
def ld_matrix(G):
    p = G.mean(axis=1)
    D = G @ G.T / G.shape[1] - np.outer(p, p)
    v = p * (1 - p)
    with_r = np.divide(D**2, np.outer(v, v), out=np.zeros_like(D), where=np.outer(v, v) > 0)
    return with_r, p


@prog(rng.integers(0,4,(5,12)))
def consensus(aln):
    counts = np.array([(aln == b).sum(axis=0) for b in range(4)])
    freq = counts / counts.sum(axis=0)
    ent = -np.where(freq > 0, freq * np.log2(np.where(freq > 0, freq, 1)), 0).sum(axis=0)
    return counts.argmax(axis=0), 2 - ent


@prog(rng.random((6,6)))
def neighbor_joining_q(D):
    D = np.triu(D, 1); D = D + D.T
    n = len(D)
    Q = (n - 2) * D - D.sum(0)[:, None] - D.sum(1)[None, :]
    np.fill_diagonal(Q, np.inf)
    return np.unravel_index(np.argmin(Q), Q.shape), Q.min()


@prog(rng.random(40)*10, rng.random(40)*5)
def lomb(t, y):
    y = y - y.mean()
    w = np.linspace(0.1, 3, 25)
    tau = np.arctan2(np.sin(2 * np.outer(w, t)).sum(1), np.cos(2 * np.outer(w, t)).sum(1)) / (2 * w)
    arg = w[:, None] * (t[None, :] - tau[:, None])
    c, s = np.cos(arg), np.sin(arg)
    return 0.5 * ((c @ y)**2 / (c**2).sum(1) + (s @ y)**2 / (s**2).sum(1))


@prog(rng.random((20,2)))
def convex_hull(pts):
    pts = pts[np.lexsort((pts[:, 1], pts[:, 0]))]
    def half(points):
        out = []
        for p in points:
            while len(out) >= 2:
                a, b = out[-2], out[-1]
                if (b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0]) > 0:
                    break
                out.pop()
            out.append(p)
        return out
    lo = half(pts)
    up = half(pts[::-1])
    hull = np.array(lo[:-1] + up[:-1])
    xs, ys = hull.T
    return hull, 0.5 * abs(np.dot(xs, np.roll(ys, 1)) - np.dot(ys, np.roll(xs, 1)))


@prog(np.array([[0,0],[4,0],[4,3],[0,3]],float), np.array([[1,1],[5,1],[2,2.5]],float))
def in_polygon(poly, q):
    inside = np.zeros(len(q), bool)
    n = len(poly)
    for k in range(len(q)):
        x, y = q[k]
        c = False
        for i in range(n):
            (x1, y1), (x2, y2) = poly[i], poly[(i + 1) % n]
            if (y1 > y) != (y2 > y) and x < (x2 - x1) * (y - y1) / (y2 - y1) + x1:
                c = not c
        inside[k] = c
    return inside


@prog(rng.random((30,3)), rng.random(30))
def ridge_cv(X, y):
    best = (np.inf, 0.0)
    for lam in [0.01, 0.1, 1.0]:
        err = 0.0
        for f in range(3):
            te = np.arange(len(y)) % 3 == f
            A, b = X[~te], y[~te]
            w = np.linalg.solve(A.T @ A + lam * np.eye(X.shape[1]), A.T @ b)
            err += ((X[te] @ w - y[te])**2).sum()
        if err < best[0]:
            best = (err, lam)
    return best


@prog(rng.standard_normal((10,4)), rng.standard_normal((4,5)), rng.standard_normal((5,3)), rng.integers(0,3,10))
def mlp_step(X, W1, W2, y):
    h = np.tanh(X @ W1)
    z = h @ W2
    z -= z.max(axis=1)[:, np.newaxis]
    p = np.exp(z); p /= p.sum(axis=1)[:, np.newaxis]
    d = p.copy(); d[range(len(y)), y] -= 1
    d /= len(y)
    gW2 = h.T @ d
    gW1 = X.T @ (d @ W2.T * (1 - h**2))
    for W, g in ((W1, gW1), (W2, gW2)):
        W -= 0.1 * g
    return W1, W2


@prog(rng.random((12,4)), 3)
def fuzzy_cmeans(X, c):
    U = np.linspace(0.1, 0.9, len(X) * c).reshape(len(X), c)
    U /= U.sum(1, keepdims=True)
    for _ in range(5):
        um = U**2
        C = um.T @ X / um.sum(0)[:, None]
        d = np.linalg.norm(X[:, None] - C[None], axis=-1)
        inv = 1 / np.fmax(d, 1e-9)**2
        U = inv / inv.sum(1, keepdims=True)
    return C, U.argmax(1)


@prog(np.array([5,3,8,1]), 10)
def knapsack(w, cap):
    dp = np.zeros(cap + 1, dtype=int)
    for i, wi in enumerate(w):
        for c in range(cap, wi - 1, -1):
            dp[c] = max(dp[c], dp[c - wi] + (i + 1) * 10)
    return dp.max(), list(dp), dp.tolist()


@prog(20, 4)
def random_walk(n, k):
    np.random.seed(3)
    steps = np.random.choice(np.array([-1, 1]), size=(k, n))
    pos = np.cumsum(steps, axis=1)
    return pos, np.abs(pos).max(axis=1), (pos == 0).any(axis=1), np.random.normal(size=3), np.random.permutation(5)


@prog(np.array([1,2,2,3,3,3]), np.array(['a','b']))
def mode_and_rle(v, names):
    change = np.concatenate(([True], v[1:] != v[:-1]))
    starts = np.flatnonzero(change)
    lengths = np.diff(np.append(starts, len(v)))
    return v[starts], lengths, v[starts][np.argmax(lengths)], names == 'a'


@prog(x[:10], x[:10].astype(np.float32), np.arange(10, dtype=np.uint8))
def dtypes_mix(a, b, c):
    mixed = a * c, b * c, c + c, c - 1, b / c, c // 2, -c, c ** 2
    return mixed, a.astype(np.float32) + b, np.float32(2) * a, (c > 3) * 2, ~c, c << 1


@prog(np.array([1.,4.,9.]))
def assorted(v):
    a, *rest = v
    t = list(v)
    s = {round(z) for z in v}
    m = v.reshape(-1, 1) * v
    m[np.diag_indices(3)] = 0
    m[m > 5], m[0] = 5, [7, 8, 9]
    more = v[::-1].cumprod(), np.prod(v), v @ v, divmod(v, 2), np.sqrt(v).astype(int).tolist()
    return a, len(rest), sum(t), s, m, np.all(m >= 0), m.any(axis=0), more


def same(ours, theirs, what):
    if isinstance(theirs, Raised):
        assert isinstance(ours, Raised) and str(ours.error) == str(theirs.error), (what, ours)
        return
    assert type(ours) is type(theirs), (what, ours)
    if isinstance(theirs, (tuple, list)):
        assert len(ours) == len(theirs), what
        for i, pair in enumerate(zip(ours, theirs)):
            same(*pair, f"{what}[{i}]")
    elif isinstance(theirs, (np.ndarray, np.generic, float)):
        ours, theirs = np.asarray(ours), np.asarray(theirs)
        assert ours.dtype == theirs.dtype and ours.shape == theirs.shape, what
        if theirs.dtype.kind in "fc":
            bound = 1e-11 if theirs.dtype.itemsize >= 8 else 1e-5
            np.testing.assert_allclose(ours, theirs, rtol=bound, atol=1e-12, err_msg=what)
        else:
            np.testing.assert_array_equal(ours, theirs, err_msg=what)
    else:
        assert ours == theirs, what


@pytest.mark.parametrize("program, args", PROGRAMS, ids=[program.__name__ for program, _ in PROGRAMS])
def test_program(program, args):
    mine, its = copy_argument(args), copy_argument(args)
    with np.errstate(all="ignore"):
        same(outcome(njit(program), mine, {}), outcome(program, its, {}), program.__name__)
    for i, pair in enumerate(zip(mine, its)):
        same(*pair, f"argument {i}")
