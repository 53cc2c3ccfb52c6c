"""Programs as strangers have them, with the import alone changed: products, scans, histograms, stencils, bodies,
sorting, graphs, images;
with checks and without, against NumPy and plain Python.  On the GPU if there is one, else on the host device.

PYTEST_DONT_REWRITE: kernels are taken as they are written.
"""

import math

import numpy as np
import pytest

from krait import cuda, float32, float64, from_dtype, int32, int64, njit, types, uint8
from krait.cuda.random import create_xoroshiro128p_states, xoroshiro128p_uniform_float32

pytestmark = pytest.mark.usefixtures("checked")


def test_matmul_shared():
    TPB = 16

    @cuda.jit
    def fast_matmul(A, B, C):
        sA = cuda.shared.array(shape=(TPB, TPB), dtype=float32)
        sB = cuda.shared.array(shape=(TPB, TPB), dtype=float32)
        x, y = cuda.grid(2)
        tx = cuda.threadIdx.x
        ty = cuda.threadIdx.y
        bpg = cuda.gridDim.x
        tmp = float32(0.0)
        for i in range(bpg):
            sA[ty, tx] = 0
            sB[ty, tx] = 0
            if y < A.shape[0] and tx + i * TPB < A.shape[1]:
                sA[ty, tx] = A[y, tx + i * TPB]
            if x < B.shape[1] and ty + i * TPB < B.shape[0]:
                sB[ty, tx] = B[ty + i * TPB, x]
            cuda.syncthreads()
            for j in range(TPB):
                tmp += sA[ty, j] * sB[j, tx]
            cuda.syncthreads()
        if y < C.shape[0] and x < C.shape[1]:
            C[y, x] = tmp
    a = np.arange(23 * 7).reshape([23, 7])
    b = np.ones([7, 35])
    c = np.zeros([23, 35])
    A, B, C = (cuda.to_device(a), cuda.to_device(b), cuda.to_device(c))
    g = max(math.ceil(23 / TPB), math.ceil(35 / TPB))
    fast_matmul[(g, g), (TPB, TPB)](A, B, C)
    np.testing.assert_allclose(C.copy_to_host(), a @ b)


def test_blelloch_scan(rng):
    N = 256

    @cuda.jit('void(int64[:], int64[:], int64[:])')
    def scan(out, inp, sums):
        temp = cuda.shared.array(N * 2, int64)
        tid = cuda.threadIdx.x
        base = cuda.blockIdx.x * 2 * N
        temp[2 * tid] = inp[base + 2 * tid]
        temp[2 * tid + 1] = inp[base + 2 * tid + 1]
        offset = 1
        d = N
        while d > 0:
            cuda.syncthreads()
            if tid < d:
                ai = offset * (2 * tid + 1) - 1
                bi = offset * (2 * tid + 2) - 1
                temp[bi] += temp[ai]
            offset *= 2
            d >>= 1
        if tid == 0:
            sums[cuda.blockIdx.x] = temp[2 * N - 1]
            temp[2 * N - 1] = 0
        d = 1
        while d < 2 * N:
            offset >>= 1
            cuda.syncthreads()
            if tid < d:
                ai = offset * (2 * tid + 1) - 1
                bi = offset * (2 * tid + 2) - 1
                temp[ai], temp[bi] = (temp[bi], temp[ai] + temp[bi])
            d *= 2
        cuda.syncthreads()
        out[base + 2 * tid] = temp[2 * tid]
        out[base + 2 * tid + 1] = temp[2 * tid + 1]
    x = rng.integers(0, 100, 2048)
    out = np.zeros_like(x)
    s = np.zeros(4, np.int64)
    scan[4, N](out, x, s)
    w = x.reshape(4, 512).cumsum(1)
    assert (out.reshape(4, 512)[:, 1:] == w[:, :-1]).all() and (s == w[:, -1]).all()


def test_histogram(rng):

    @cuda.jit
    def histogram(x, xmin, xmax, hist):
        nbins = hist.shape[0]
        bin_width = (xmax - xmin) / nbins
        sh = cuda.shared.array(64, int32)
        t = cuda.threadIdx.x
        if t < nbins:
            sh[t] = 0
        cuda.syncthreads()
        start = cuda.grid(1)
        stride = cuda.gridsize(1)
        for i in range(start, x.shape[0], stride):
            b = np.int32((x[i] - xmin) / bin_width)
            if b >= 0 and b < nbins:
                cuda.atomic.add(sh, b, 1)
        cuda.syncthreads()
        if t < nbins:
            cuda.atomic.add(hist, t, sh[t])
    x = rng.normal(size=5000).astype(np.float32)
    h = np.zeros(10, np.int32)
    histogram[8, 64](x, np.float32(-4), np.float32(4), h)
    assert abs(h - np.histogram(x, 10, (-4, 4))[0]).sum() <= 2


def test_laplace():

    @cuda.jit
    def step(A, B, err):
        i, j = cuda.grid(2)
        n, m = A.shape
        if 1 <= i < n - 1 and 1 <= j < m - 1:
            B[i, j] = 0.25 * (A[i, j + 1] + A[i, j - 1] + A[i - 1, j] + A[i + 1, j])
            cuda.atomic.max(err, 0, math.fabs(B[i, j] - A[i, j]))
    a = np.zeros((40, 50))
    a[:, 0] = 1
    b = a.copy()
    da, db = (cuda.to_device(a), cuda.to_device(b))
    ra = a.copy()
    for _ in range(20):
        e = cuda.to_device(np.zeros(1))
        step[(3, 4), (16, 16)](da, db, e)
        da, db = (db, da)
        rb = ra.copy()
        rb[1:-1, 1:-1] = 0.25 * (ra[1:-1, 2:] + ra[1:-1, :-2] + ra[:-2, 1:-1] + ra[2:, 1:-1])
        er = abs(rb - ra).max()
        ra = rb
    np.testing.assert_allclose(da.copy_to_host(), ra)
    assert abs(e.copy_to_host()[0] - er) < 1e-12


def test_nbody(rng):

    @cuda.jit(device=True, inline='always')
    def body_body(bi, bj, ai):
        rx = bj[0] - bi[0]
        ry = bj[1] - bi[1]
        rz = bj[2] - bi[2]
        d2 = rx * rx + ry * ry + rz * rz + 1e-06
        inv = bj[3] / math.sqrt(d2 * d2 * d2)
        return (ai[0] + rx * inv, ai[1] + ry * inv, ai[2] + rz * inv)

    @cuda.jit
    def forces(pos, acc):
        sh = cuda.shared.array((64, 4), dtype=float32)
        i = cuda.grid(1)
        me = (pos[i, 0], pos[i, 1], pos[i, 2], pos[i, 3])
        a = (float32(0), float32(0), float32(0))
        for tile in range(pos.shape[0] // 64):
            for k in range(4):
                sh[cuda.threadIdx.x, k] = pos[tile * 64 + cuda.threadIdx.x, k]
            cuda.syncthreads()
            for j in range(64):
                a = body_body(me, sh[j], a)
            cuda.syncthreads()
        acc[i, 0], acc[i, 1], acc[i, 2] = a
    p = rng.random((128, 4)).astype(np.float32)
    acc = np.zeros((128, 3), np.float32)
    forces[2, 64](p, acc)
    d = p[None, :, :3] - p[:, None, :3]
    w = (d * (p[None, :, 3] / ((d ** 2).sum(-1) + 1e-06) ** 1.5)[..., None]).sum(1)
    np.testing.assert_allclose(acc, w, rtol=0.001, atol=0.01)


def test_monte_carlo_pi():

    @cuda.jit
    def compute_pi(rng_states, iterations, out):
        thread_id = cuda.grid(1)
        inside = 0
        for i in range(iterations):
            x = xoroshiro128p_uniform_float32(rng_states, thread_id)
            y = xoroshiro128p_uniform_float32(rng_states, thread_id)
            if x ** 2 + y ** 2 <= 1.0:
                inside += 1
        out[thread_id] = 4.0 * inside / iterations
    st = create_xoroshiro128p_states(64 * 24, seed=1)
    out = np.zeros(64 * 24, np.float32)
    compute_pi[24, 64](st, 1000, out)
    assert abs(out.mean() - math.pi) < 0.01


def test_bitonic_sort(rng):

    @cuda.jit
    def bitonic(dev, j, k):
        i = cuda.grid(1)
        ixj = i ^ j
        if ixj > i:
            if i & k == 0:
                if dev[i] > dev[ixj]:
                    dev[i], dev[ixj] = (dev[ixj], dev[i])
            elif dev[i] < dev[ixj]:
                t = dev[i]
                dev[i] = dev[ixj]
                dev[ixj] = t
    x = rng.random(512).astype(np.float32)
    d = cuda.to_device(x)
    k = 2
    while k <= 512:
        j = k >> 1
        while j > 0:
            bitonic[4, 128](d, j, k)
            j >>= 1
        k <<= 1
    assert (d.copy_to_host() == np.sort(x)).all()


def test_bfs():

    @cuda.jit
    def bfs(edges, dest, label, level, changed):
        v = cuda.grid(1)
        if v < label.size and label[v] == level:
            for e in range(edges[v], edges[v + 1]):
                n = dest[e]
                if cuda.atomic.cas(label, n, -1, level + 1) == -1:
                    changed[0] = True
    n = 200
    adj = [[(i + 1) % n, i * 7 % n] for i in range(n)]
    edges = np.arange(0, 2 * n + 1, 2).astype(np.int32)
    dest = np.array(adj, np.int32).ravel()
    label = np.full(n, -1, np.int32)
    label[0] = 0
    level = 0
    dl = cuda.to_device(label)
    while True:
        ch = np.array([False])
        bfs[2, 128](edges, dest, dl, level, ch)
        if not ch[0]:
            break
        level += 1
    w = np.full(n, -1)
    w[0] = 0
    q = [0]
    for v in q:
        for u in adj[v]:
            if w[u] < 0:
                w[u] = w[v] + 1
                q.append(u)
    assert (dl.copy_to_host() == w).all()


def test_image_struct(rng):
    pixel = np.dtype([('r', np.uint8), ('g', np.uint8), ('b', np.uint8), ('a', np.uint8)])
    px = from_dtype(pixel)

    @cuda.jit("void(Array({0}, 2, 'C'), uint8[:,:])".format('x') if False else None)
    def gray(img, out):
        y, x = cuda.grid(2)
        if y < img.shape[0] and x < img.shape[1]:
            p = img[y, x]
            out[y, x] = uint8(0.299 * p.r + 0.587 * p['g'] + 0.114 * p.b)
            img[y, x].a = 255 - p.a
    img = np.zeros((20, 30), pixel)
    for c in 'rgba':
        img[c] = rng.integers(0, 256, (20, 30))
    before = img.copy()
    out = np.zeros((20, 30), np.uint8)
    gray[(3, 4), (8, 8)](img, out)
    w = (0.299 * before['r'].astype(float) + 0.587 * before['g'] + 0.114 * before['b']).astype(np.uint8)
    assert (out == w).all() and (img['a'] == 255 - before['a']).all()


def test_string_match():

    @cuda.jit
    def match(text, pat, found):
        i = cuda.grid(1)
        if i <= text.size - pat.size:
            ok = True
            for j in range(pat.size):
                if text[i + j] != pat[j]:
                    ok = False
                    break
            if ok:
                found[cuda.atomic.add(found, 0, 1) + 1] = i
    s = b'abracadabra' * 10
    t = np.frombuffer(s, dtype=np.uint8)
    p = np.frombuffer(b'abra', dtype=np.uint8)
    f = np.zeros(50, np.int32)
    match[4, 32](t, p, f)
    w = [i for i in range(len(s)) if s.startswith(b'abra', i)]
    assert f[0] == len(w) and sorted(f[1:f[0] + 1]) == w


def test_grid_sync():
    from krait.cuda import cg

    @cuda.jit(types.void(types.int32[:, ::1]))
    def seq(M):
        col = cuda.grid(1)
        g = cuda.cg.this_grid()
        rows, cols = M.shape
        for row in range(1, rows):
            opposite = cols - col - 1
            M[row, col] = M[row - 1, opposite] + 1
            g.sync()
    A = np.zeros((64, 64), dtype=np.int32)
    seq[2, 32](A)
    assert (A == np.arange(64)[:, None]).all()
    assert seq.overloads[types.int32[:, ::1],].max_cooperative_grid_blocks(32) > 0


def test_reduce():

    @cuda.reduce
    def sum_reduce(a, b):
        return a + b
    A = np.arange(1234, dtype=np.float64) + 1
    assert sum_reduce(A) == A.sum()
    mx = cuda.Reduce(lambda a, b: max(a, b))
    assert mx(A, init=0) == 1234
    d = cuda.to_device(A)
    res = cuda.device_array(1)
    sum_reduce(d, res=res)
    assert res.copy_to_host()[0] == A.sum()


def test_warp_sum(rng):

    @cuda.jit
    def total(x, out):
        i = cuda.grid(1)
        v = x[i] if i < x.size else 0.0
        mask = 16
        while mask > 0:
            v += cuda.shfl_down_sync(4294967295, v, mask)
            mask //= 2
        sh = cuda.shared.array(32, float64)
        lane = cuda.threadIdx.x % 32
        wid = cuda.threadIdx.x // 32
        if lane == 0:
            sh[wid] = v
        cuda.syncthreads()
        if wid == 0:
            v = sh[lane] if lane < cuda.blockDim.x // 32 else 0.0
            for k in (16, 8, 4, 2, 1):
                v += cuda.shfl_xor_sync(-1, v, k)
            if lane == 0:
                cuda.atomic.add(out, 0, v)
    x = rng.random(1000)
    o = np.zeros(1)
    total[8, 128](x, o)
    assert abs(o[0] - x.sum()) < 1e-09


def test_mandelbrot():

    @cuda.jit(device=True)
    def mandel(x, y, max_iters):
        c = complex(x, y)
        z = 0j
        for i in range(max_iters):
            z = z * z + c
            if z.real * z.real + z.imag * z.imag >= 4:
                return i
        return max_iters

    @cuda.jit
    def create(min_x, max_x, min_y, max_y, image, iters):
        height = image.shape[0]
        width = image.shape[1]
        pixel_size_x = (max_x - min_x) / width
        pixel_size_y = (max_y - min_y) / height
        startX, startY = cuda.grid(2)
        gridX = cuda.gridDim.x * cuda.blockDim.x
        gridY = cuda.gridDim.y * cuda.blockDim.y
        for x in range(startX, width, gridX):
            real = min_x + x * pixel_size_x
            for y in range(startY, height, gridY):
                image[y, x] = mandel(real, min_y + y * pixel_size_y, iters)
    im = np.zeros((30, 40), np.uint8)
    d = cuda.to_device(im)
    create[(2, 2), (8, 8)](-2.0, 1.0, -1.0, 1.0, d, 20)
    d.copy_to_host(im)
    f = njit(mandel.py_func)
    w = np.array([[mandel.py_func(-2 + x * 3 / 40, -1 + y * 2 / 30, 20) for x in range(40)] for y in range(30)])
    assert (im != w).mean() < 0.01
