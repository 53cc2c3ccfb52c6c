"""Programs as strangers have them, with the import alone changed: finance, views, ufuncs, texts, locks, sparse
matrices, records, paths;
with checks and without, against NumPy and plain Python.  On the GPU if there is one, else on the host device.

PYTEST_DONT_REWRITE: kernels are taken as they are written.
"""

import math

import numpy as np
import pytest

from krait import cuda, float32, float64, types, vectorize
from krait.cuda.random import create_xoroshiro128p_states, xoroshiro128p_normal_float64

pytestmark = pytest.mark.usefixtures("checked")


def test_blackscholes(rng):

    @cuda.jit(device=True)
    def cnd(d):
        A1, A2, A3, A4, A5 = (0.31938153, -0.356563782, 1.781477937, -1.821255978, 1.330274429)
        K = 1.0 / (1.0 + 0.2316419 * math.fabs(d))
        r = 0.3989422804014327 * math.exp(-0.5 * d * d) * (K * (A1 + K * (A2 + K * (A3 + K * (A4 + K * A5)))))
        return 1.0 - r if d > 0 else r

    @cuda.jit((float64[:], float64[:], float64[:], float64[:], float64[:], float64, float64))
    def bs(call, put, S, X, T, R, V):
        i = cuda.threadIdx.x + cuda.blockIdx.x * cuda.blockDim.x
        if i >= S.shape[0]:
            return
        sq = math.sqrt(T[i])
        d1 = (math.log(S[i] / X[i]) + (R + 0.5 * V * V) * T[i]) / (V * sq)
        d2 = d1 - V * sq
        e = math.exp(-1.0 * R * T[i])
        call[i] = S[i] * cnd(d1) - X[i] * e * cnd(d2)
        put[i] = X[i] * e * (1.0 - cnd(d2)) - S[i] * (1.0 - cnd(d1))
    S, X, T = (rng.uniform(5, 30, 300), rng.uniform(1, 100, 300), rng.uniform(0.25, 10, 300))
    c, p = (np.zeros(300), np.zeros(300))
    st = cuda.stream()
    with st.auto_synchronize():
        dc = cuda.to_device(c, st)
        dp = cuda.to_device(p, st)
        bs[3, 128, st](dc, dp, cuda.to_device(S, st), cuda.to_device(X, st), cuda.to_device(T, st), 0.02, 0.3)
        dc.copy_to_host(c, st)
        dp.copy_to_host(p, st)
    np.testing.assert_allclose(c - p, S - X * np.exp(-0.02 * T), rtol=1e-05, atol=1e-06)


def test_transpose_views(rng):

    @cuda.jit
    def transpose(a, b):
        tile = cuda.shared.array((32, 33), a.dtype)
        x = cuda.blockIdx.x * 32 + cuda.threadIdx.x
        y = cuda.blockIdx.y * 32 + cuda.threadIdx.y
        for j in range(0, 32, 8):
            if x < a.shape[1] and y + j < a.shape[0]:
                tile[cuda.threadIdx.y + j, cuda.threadIdx.x] = a[y + j, x]
        cuda.syncthreads()
        x = cuda.blockIdx.y * 32 + cuda.threadIdx.x
        y = cuda.blockIdx.x * 32 + cuda.threadIdx.y
        for j in range(0, 32, 8):
            if x < b.shape[1] and y + j < b.shape[0]:
                b[y + j, x] = tile[cuda.threadIdx.x, cuda.threadIdx.y + j]
    a = rng.random((50, 70))
    b = np.zeros((70, 50))
    transpose[(3, 2), (32, 8)](a, b)
    assert (a.T == b).all()


def test_vectorize(rng):

    @vectorize(['float32(float32, float32, float32)', 'float64(float64, float64, float64)'], target='cuda')
    def disc(a, b, c):
        return math.sqrt(b ** 2 - 4 * a * c)
    a = rng.random(100)
    b = rng.uniform(10, 30, 100)
    np.testing.assert_allclose(disc(a, b, a), np.sqrt(b ** 2 - 4 * a * a))

    @cuda.jit
    def axpy(r, a, x, y):
        s = cuda.grid(1)
        for i in range(s, len(r), cuda.gridsize(1)):
            r[i] = a * x[i] + y[i]
    r = np.zeros(100)
    axpy.forall(100)(r, 2.0, a, b)
    np.testing.assert_allclose(r, 2 * a + b)


def test_shared_dynamic():

    @cuda.jit
    def rev(x, out):
        f = cuda.shared.array(0, float32)
        g = cuda.shared.array(shape=0, dtype=np.int32)[cuda.blockDim.x:]
        t = cuda.threadIdx.x
        f[t] = x[t]
        g[t] = t * 2
        cuda.syncthreads()
        out[t] = f[cuda.blockDim.x - 1 - t] + g[t]
    x = np.arange(32, dtype=np.float32)
    o = np.zeros(32)
    rev[1, 32, 0, 32 * 8](x, o)
    assert (o == x[::-1] + 2 * np.arange(32)).all()


def test_gameoflife_torus(rng):

    @cuda.jit
    def life(a, b):
        i, j = cuda.grid(2)
        h, w = a.shape
        if i < h and j < w:
            n = 0
            for di in range(-1, 2):
                for dj in (-1, 0, 1):
                    if di != 0 or dj != 0:
                        n += a[(i + di) % h, (j + dj) % w]
            b[i, j] = 1 if n == 3 or (n == 2 and a[i, j]) else 0
    a = rng.integers(0, 2, (30, 33)).astype(np.uint8)
    b = np.zeros_like(a)
    life[(4, 5), (8, 8)](a, b)
    n = sum((np.roll(np.roll(a, i, 0), j, 1) for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j))
    assert (b == (n == 3) | (n == 2) & (a == 1)).all()


def test_local_dp(rng):

    @cuda.jit
    def lev(a, la, b, lb, out):
        i = cuda.grid(1)
        if i >= out.size:
            return
        row = cuda.local.array(33, dtype=np.int32)
        for j in range(lb[i] + 1):
            row[j] = j
        for x in range(1, la[i] + 1):
            prev = row[0]
            row[0] = x
            for y in range(1, lb[i] + 1):
                cur = row[y]
                row[y] = min(row[y] + 1, row[y - 1] + 1, prev + (a[i, x - 1] != b[i, y - 1]))
                prev = cur
        out[i] = row[lb[i]]
    A = rng.integers(0, 3, (40, 20)).astype(np.int8)
    B = rng.integers(0, 3, (40, 20)).astype(np.int8)
    la, lb = (rng.integers(1, 20, 40), rng.integers(1, 20, 40))
    o = np.zeros(40, np.int32)
    lev[2, 32](A, la, B, lb, o)

    def ref(p, q):
        r = list(range(len(q) + 1))
        for x in range(1, len(p) + 1):
            pr, r[0] = (r[0], x)
            for y in range(1, len(q) + 1):
                c = r[y]
                r[y] = min(r[y] + 1, r[y - 1] + 1, pr + (p[x - 1] != q[y - 1]))
                pr = c
        return r[-1]
    assert o.tolist() == [ref(A[i, :la[i]], B[i, :lb[i]]) for i in range(40)]


def test_lock_mutex():

    @cuda.jit
    def add_one(x, mutex):
        if cuda.threadIdx.x == 0:
            while cuda.atomic.cas(mutex, 0, 0, 1) != 0:
                pass
            cuda.threadfence()
            x[0] += 1
            cuda.threadfence()
            cuda.atomic.exch(mutex, 0, 0)
    x = np.zeros(1, np.int64)
    m = np.zeros(1, np.int32)
    add_one[50, 4](x, m)
    assert x[0] == 50


def test_last_block_sum(rng):

    @cuda.jit
    def s(x, part, count, out):
        sh = cuda.shared.array(64, float64)
        last = cuda.shared.array(1, types.boolean)
        t = cuda.threadIdx.x
        i = cuda.grid(1)
        acc = 0.0
        while i < x.size:
            acc += x[i]
            i += cuda.gridsize(1)
        sh[t] = acc
        cuda.syncthreads()
        k = 32
        while k:
            if t < k:
                sh[t] += sh[t + k]
            cuda.syncthreads()
            k >>= 1
        if t == 0:
            part[cuda.blockIdx.x] = sh[0]
            cuda.threadfence()
            last[0] = cuda.atomic.inc(count, 0, cuda.gridDim.x - 1) == cuda.gridDim.x - 1
        cuda.syncthreads()
        if last[0] and t == 0:
            tot = 0.0
            for b in range(cuda.gridDim.x):
                tot += part[b]
            out[0] = tot
    x = rng.random(3000)
    p = np.zeros(6)
    c = np.zeros(1, np.uint32)
    o = np.zeros(1)
    s[6, 64](x, p, c, o)
    assert abs(o[0] - x.sum()) < 1e-09


def test_convolve_const(rng):
    KER = np.array([[1, 2, 1], [2, 4, 2], [1, 2, 1]], dtype=np.float32) / 16

    @cuda.jit
    def conv(im, out):
        k = cuda.const.array_like(KER)
        y, x = cuda.grid(2)
        if y >= im.shape[0] or x >= im.shape[1]:
            return
        s = 0.0
        for i in range(-1, 2):
            for j in range(-1, 2):
                yy = min(max(y + i, 0), im.shape[0] - 1)
                xx = min(max(x + j, 0), im.shape[1] - 1)
                s += k[i + 1, j + 1] * im[yy, xx]
        out[y, x] = s
    im = rng.random((21, 19)).astype(np.float32)
    o = np.zeros_like(im)
    conv[(3, 3), (8, 8)](im, o)
    P = np.pad(im, 1, mode='edge')
    w = sum((KER[i, j] * P[i:i + 21, j:j + 19] for i in range(3) for j in range(3)))
    np.testing.assert_allclose(o, w, rtol=1e-05)


def test_spmv_radix(rng):

    @cuda.jit
    def spmv(indptr, ind, data, x, y):
        r = cuda.grid(1)
        if r < y.shape[0]:
            dot = 0.0
            for k in range(indptr[r], indptr[r + 1]):
                dot += data[k] * x[ind[k]]
            y[r] = dot
    M = rng.random((50, 40)) * (rng.random((50, 40)) < 0.2)
    ip = np.concatenate([[0], (M != 0).sum(1).cumsum()]).astype(np.int32)
    ind = np.nonzero(M)[1].astype(np.int32)
    da = M[M != 0]
    x = rng.random(40)
    y = np.zeros(50)
    spmv[2, 32](ip, ind, da, x, y)
    np.testing.assert_allclose(y, M @ x)

    @cuda.jit
    def kmeans(p, c, lab):
        i = cuda.grid(1)
        if i < p.shape[0]:
            best, bd = (-1, np.inf)
            for k in range(c.shape[0]):
                d = 0.0
                for j in range(p.shape[1]):
                    d += (p[i, j] - c[k, j]) ** 2
                if d < bd:
                    bd = d
                    best = k
            lab[i] = best
    p, c = (rng.random((100, 3)), rng.random((5, 3)))
    l = np.zeros(100, np.int32)
    kmeans[4, 32](p, c, l)
    assert (l == ((p[:, None] - c) ** 2).sum(-1).argmin(1)).all()


def test_nested_record_tuple(rng):
    part = np.dtype([('pos', np.float32, (3,)), ('id', np.int32),
                     ('m', [('x', np.float64), ('y', np.int16)])], align=True)
    from collections import namedtuple
    Box = namedtuple('Box', 'lo hi')

    @cuda.jit
    def wrap(ps, box, flags):
        i = cuda.grid(1)
        if i < ps.size:
            for k in range(3):
                if ps[i].pos[k] >= box.hi:
                    ps[i]['pos'][k] -= box.hi - box.lo
            ps[i].id = i
            ps[i].m.x = math.hypot(ps[i].pos[0], ps[i].pos[1])
            flags[i] = ps[i].m.y > 0 and (not i & 1)
    ps = np.zeros(40, part)
    ps['pos'] = rng.random((40, 3)) * 2
    ps['m']['y'] = rng.integers(-1, 2, 40)
    b = ps.copy()
    f = np.zeros(40, np.bool_)
    wrap[2, 32](ps, Box(np.float32(0), np.float32(1)), f)
    w = np.where(b['pos'] >= 1, b['pos'] - np.float32(1), b['pos'])
    np.testing.assert_allclose(ps['pos'], w)
    assert (ps['id'] == np.arange(40)).all() and (f == (b['m']['y'] > 0) & (np.arange(40) % 2 == 0)).all()


def test_option_pricing_normal():

    @cuda.jit(fastmath=True)
    def paths(st, s0, mu, sig, dt, out):
        t = cuda.grid(1)
        if t < out.shape[0]:
            s = s0
            for i in range(out.shape[1]):
                s *= math.exp((mu - 0.5 * sig ** 2) * dt + sig * math.sqrt(dt) * xoroshiro128p_normal_float64(st, t))
                out[t, i] = s
    o = np.zeros((512, 10))
    paths[4, 128](create_xoroshiro128p_states(512, 3), 100.0, 0.05, 0.2, 0.1, o)
    assert abs(o[:, -1].mean() - 100 * math.exp(0.05)) < 3


def test_ray_sphere_tuples():

    @cuda.jit(device=True)
    def sub(a, b):
        return (a[0] - b[0], a[1] - b[1], a[2] - b[2])

    @cuda.jit(device=True)
    def dot(a, b):
        return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]

    @cuda.jit(device=True)
    def hit(o, d, c, r):
        oc = sub(o, c)
        b = dot(oc, d)
        k = dot(oc, oc) - r * r
        disc = b * b - k
        if disc < 0:
            return (False, -1.0)
        return (True, -b - math.sqrt(disc))

    @cuda.jit
    def trace(out):
        y, x = cuda.grid(2)
        if y < out.shape[0] and x < out.shape[1]:
            d = (x / 16 - 1, y / 16 - 1, 1.0)
            n = math.sqrt(dot(d, d))
            d = (d[0] / n, d[1] / n, d[2] / n)
            ok, t = hit((0.0, 0.0, 0.0), d, (0.0, 0.0, 5.0), 2.0)
            out[y, x] = t if ok else np.nan
    o = np.zeros((32, 32))
    trace[(4, 4), (8, 8)](o)
    assert abs(o[16, 16] - 3) < 1e-09 and np.isnan(o[0, 0])
