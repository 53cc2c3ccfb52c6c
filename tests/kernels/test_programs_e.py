"""Small programs of the habits that years with numba.cuda leave: whole algorithms, and the places of names;
each against NumPy or a closed form.  On the GPU if there is one, else on the host device.

PYTEST_DONT_REWRITE: kernels are taken as they are written.
"""

import math
from collections import namedtuple

import numpy as np
from kernel_programs import close, eq, inc, raises

import krait
from krait import boolean, cuda, float32, float64, guvectorize, int32, int64, types, vectorize, void


def test_laplace_example():
    tpb = 16

    @cuda.jit
    def lap(grid, new, out):
        s = cuda.shared.array(shape=tpb * tpb, dtype=float64)
        i, j = cuda.grid(2)
        ti = cuda.threadIdx.x
        tj = cuda.threadIdx.y
        err = 0.0
        if i >= 1 and i < grid.shape[0] - 1 and (j >= 1) and (j < grid.shape[1] - 1):
            new[j, i] = 0.25 * (grid[j, i + 1] + grid[j, i - 1] + grid[j - 1, i] + grid[j + 1, i])
            err = new[j, i] - grid[j, i]
        s[ti + tj * tpb] = abs(err)
        cuda.syncthreads()
        t = tpb * tpb // 2
        k = ti + tj * tpb
        while t > 0:
            if k < t:
                s[k] = max(s[k], s[k + t])
            t //= 2
            cuda.syncthreads()
        if k == 0:
            out[cuda.blockIdx.x, cuda.blockIdx.y] = s[0]

    g = np.zeros((32, 32))
    g[:, 0] = 1
    n = g.copy()
    o = np.zeros((2, 2))
    lap[(2, 2), (16, 16)](g, n, o)
    e = g.copy()
    e[1:-1, 1:-1] = 0.25 * (g[1:-1, 2:] + g[1:-1, :-2] + g[:-2, 1:-1] + g[2:, 1:-1])
    close(n, e)
    close(o.max(), abs(e - g).max())


def test_cpu_gpu_compat():
    @cuda.jit
    def f(a, x):
        x[0] = business(1, 2, 3) + a

    @cuda.jit
    def business(x, y, z):
        return 4 * z * (2 * x - 4 * y / 2 * math.pi)

    x = np.zeros(1)
    f[1, 1](1.0, x)
    close(x, 4 * 3 * (2 * 1 - 4 * 2 / 2 * math.pi) + 1)
    assert business.py_func(1, 2, 3) == 4 * 3 * (2 * 1 - 4 * 2 / 2 * math.pi)


def test_ufunc_kernel():
    @cuda.jit
    def f(r, x):
        np.cos(x, r)

    x = np.arange(10, dtype=np.float32) - 5
    r = np.zeros_like(x)
    f[1, 1](r, x)
    close(r, np.cos(x), rtol=1e-05)


def test_stencil1d():
    R = 3
    T = 32

    @cuda.jit
    def k(a, o):
        s = cuda.shared.array(T + 2 * R, dtype=int32)
        g = cuda.grid(1)
        l = cuda.threadIdx.x + R
        s[l] = a[g]
        if cuda.threadIdx.x < R:
            s[l - R] = a[g - R] if g >= R else 0
            s[l + T] = a[g + T] if g + T < a.size else 0
        cuda.syncthreads()
        r = 0
        for d in range(-R, R + 1):
            r += s[l + d]
        o[g] = r

    a = np.arange(128, dtype=np.int32)
    o = np.zeros_like(a)
    k[4, T](a, o)
    p_ = np.pad(a, R)
    eq(o, sum((p_[i:i + 128] for i in range(7))))


def test_prefix_shfl():
    @cuda.jit
    def k(a):
        i = cuda.grid(1)
        v = a[i]
        lane = cuda.laneid
        d = 1
        while d < 32:
            n = cuda.shfl_up_sync(4294967295, v, d)
            if lane >= d:
                v += n
            d *= 2
        a[i] = v

    a = np.ones(64, np.int32)
    k[2, 32](a)
    eq(a, np.tile(np.arange(1, 33), 2))


def test_nbody_soft():
    @cuda.jit
    def k(p, acc, eps):
        i = cuda.grid(1)
        if i >= p.shape[0]:
            return
        ax = ay = az = 0.0
        for j in range(p.shape[0]):
            dx = p[j, 0] - p[i, 0]
            dy = p[j, 1] - p[i, 1]
            dz = p[j, 2] - p[i, 2]
            inv = 1.0 / math.sqrt(dx * dx + dy * dy + dz * dz + eps) ** 3
            ax += dx * inv
            ay += dy * inv
            az += dz * inv
        acc[i, 0], acc[i, 1], acc[i, 2] = (ax, ay, az)

    p_ = np.random.RandomState(0).rand(20, 3)
    a = np.zeros((20, 3))
    k[1, 32](p_, a, 0.001)
    d = p_[None] - p_[:, None]
    close(a, (d / ((d ** 2).sum(-1) + 0.001)[..., None] ** 1.5).sum(1))


def test_image_grayscale_uint8():
    @cuda.jit
    def k(im, o):
        x, y = cuda.grid(2)
        if x < im.shape[0] and y < im.shape[1]:
            o[x, y] = 0.299 * im[x, y, 0] + 0.587 * im[x, y, 1] + 0.114 * im[x, y, 2]

    im = np.random.RandomState(0).randint(0, 256, (20, 30, 3), dtype=np.uint8)
    o = np.zeros((20, 30), np.uint8)
    k[(2, 2), (16, 16)](im, o)
    e = (0.299 * im[..., 0] + 0.587 * im[..., 1] + 0.114 * im[..., 2]).astype(np.uint8)
    assert (abs(o.astype(int) - e) <= 1).all() and (o == e).mean() > 0.99


def test_image_uint8_diff():
    @cuda.jit
    def k(a, b, o):
        i = cuda.grid(1)
        if i < a.size:
            o[i] = abs(int32(a[i]) - int32(b[i]))

    a = np.array([1, 200], np.uint8)
    b = np.array([5, 100], np.uint8)
    o = np.zeros(2, np.uint8)
    k[1, 2](a, b, o)
    eq(o, [4, 100])


def test_swap_arrays():
    @cuda.jit
    def k(a, b, n):
        i = cuda.grid(1)
        for _ in range(n):
            b[i] = a[i] + 1
            a, b = (b, a)

    a = np.zeros(4)
    b = np.zeros(4)
    k[1, 4](a, b, 3)
    eq(b, 3)
    eq(a, 2)


def test_pow_variants():
    @cuda.jit
    def k(o, x, n):
        o[0] = x ** 0.5
        o[1] = x ** 2
        o[2] = x ** n
        o[3] = x ** (-1)
        o[4] = 2 ** n
        o[5] = math.log(x, 2)
        o[6] = math.log2(x)
        o[7] = pow(x, 3)

    o = np.zeros(8)
    k[1, 1](o, 3.0, 4)
    close(o, [3 ** 0.5, 9, 81, 1 / 3, 16, math.log(3, 2), math.log2(3), 27])


def test_neg_step_range():
    @cuda.jit
    def k(o):
        c = 0
        for i in range(10, 0, -3):
            o[c] = i
            c += 1

    o = np.zeros(4)
    k[1, 1](o)
    eq(o, [10, 7, 4, 1])


def test_copy_to_host_slice():
    d = cuda.to_device(np.arange(10.0))
    h = np.zeros(20)
    d.copy_to_host(h[5:15])
    eq(h[5:15], range(10))
    d[2:5].copy_to_device(np.ones(3))
    eq(d.copy_to_host()[2:5], 1)
    h2 = np.empty(3)
    d[2:5].copy_to_host(h2)


def test_multi_stream_pinned():
    @cuda.jit
    def inc(a):
        i = cuda.grid(1)
        if i < a.size:
            a[i] += 1

    n = 4
    hs = [cuda.pinned_array(100) for _ in range(n)]
    ss = [cuda.stream() for _ in range(n)]
    for i, h in enumerate(hs):
        h[:] = i

    ds = [cuda.to_device(h, stream=s) for h, s in zip(hs, ss)]
    for d, s in zip(ds, ss):
        inc[1, 128, s](d)

    for d, h, s in zip(ds, hs, ss):
        d.copy_to_host(h, stream=s)

    cuda.synchronize()
    for i, h in enumerate(hs):
        eq(h, i + 1)


def test_timing_pattern():
    @cuda.jit
    def k(a):
        a[0] += 1

    a = cuda.to_device(np.zeros(1))
    s, e = (cuda.event(), cuda.event())
    s.record()
    k[1, 1](a)
    e.record()
    e.synchronize()
    cuda.event_elapsed_time(s, e)
    s.elapsed_time(e)


def test_device_in_class():
    class Sim:
        def __init__(self):
            self.x = cuda.to_device(np.zeros(5))
        @staticmethod
        @cuda.jit(device=True)
        def f(v):
            return v + 2
        def run(self):
            f = self.f
            @cuda.jit
            def k(x):
                i = cuda.grid(1)
                if i < x.size:
                    x[i] = f(x[i])
            k[1, 32](self.x)
            return self.x.copy_to_host()

    eq(Sim().run(), 2)


def test_kernel_as_method_self_refused():
    class S:
        @cuda.jit
        def k(self, x):
            x[0] = 1

    raises(Exception, lambda: S().k[1, 1](np.zeros(1)))


def test_nested_loops_break():
    @cuda.jit
    def k(a, o):
        i = cuda.grid(1)
        f = False
        for x in range(a.shape[0]):
            for y in range(a.shape[1]):
                if a[x, y] == i:
                    o[i, 0] = x
                    o[i, 1] = y
                    f = True
                    break
            if f:
                break

    a = np.random.RandomState(0).permutation(12).reshape(3, 4)
    o = np.zeros((12, 2), int)
    k[1, 12](a, o)
    eq(o, [np.argwhere(a == i)[0] for i in range(12)])


def test_closure_dtype():
    def mk(dt):
        @cuda.jit
        def k(o):
            s = cuda.shared.array(4, dt)
            s[0] = 2
            o[0] = s[0]
        return k

    for dt in (float32, np.float64, int32, 'int8', np.dtype('u2')):
        o = np.zeros(1)
        mk(dt)[1, 1](o)
        eq(o, 2)


def test_local_2d_accum():
    @cuda.jit
    def k(x, h):
        l = cuda.local.array(10, int32)
        for i in range(10):
            l[i] = 0
        for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
            l[x[i]] += 1
        for i in range(10):
            cuda.atomic.add(h, i, l[i])

    x = np.random.RandomState(0).randint(0, 10, 500)
    h = np.zeros(10, np.int32)
    k[2, 32](x, h)
    eq(h, np.bincount(x, minlength=10))


def test_local_zero_slice():
    @cuda.jit
    def k(o):
        l = cuda.local.array(5, float64)
        l[:] = 1.5
        o[0] = l.sum()

    o = np.zeros(1)
    k[1, 1](o)
    eq(o, 7.5)


def test_atomic_uint64_int64():
    @cuda.jit
    def k(a, b):
        cuda.atomic.add(a, 0, np.uint64(1))
        cuda.atomic.max(b, 0, 5)

    a = np.zeros(1, np.uint64)
    b = np.zeros(1, np.int64)
    k[4, 32](a, b)
    eq(a, 128)
    eq(b, 5)


def test_atomic_on_record():
    dt = np.dtype([('c', np.int32), ('s', np.float64)], align=True)

    @cuda.jit
    def k(r):
        cuda.atomic.add(r['c'], 0, 1)
        cuda.atomic.add(r.s, 0, 0.5)

    r = np.zeros(2, dt)
    k[2, 16](r)
    assert r['c'][0] == 32 and r['s'][0] == 16


def test_shared_record_atomic():
    @cuda.jit
    def k(o):
        s = cuda.shared.array(1, int64)
        if cuda.threadIdx.x == 0:
            s[0] = 0
        cuda.syncthreads()
        cuda.atomic.add(s, 0, cuda.threadIdx.x)
        cuda.syncthreads()
        if cuda.threadIdx.x == 0:
            o[cuda.blockIdx.x] = s[0]

    o = np.zeros(3)
    k[3, 64](o)
    eq(o, 2016)


def test_complex_math_many():
    import cmath

    @cuda.jit
    def k(z, o):
        i = cuda.grid(1)
        o[i] = (z[i] ** 2 + 1) / (z[i] - 2j) * cmath.exp(1j * z[i].real)
        o[i] += abs(z[i])

    z = np.array([1 + 2j, 3 - 1j])
    o = np.zeros(2, complex)
    k[1, 2](z, o)
    close(o, (z ** 2 + 1) / (z - 2j) * np.exp(1j * z.real) + abs(z))


def test_fft_dit():
    import cmath

    @cuda.jit
    def dft(x, o):
        k_ = cuda.grid(1)
        if k_ < o.size:
            s = 0j
            for n in range(x.size):
                s += x[n] * cmath.exp(-2j * cmath.pi * k_ * n / x.size)
            o[k_] = s

    x = np.random.RandomState(0).rand(32)
    o = np.zeros(32, complex)
    dft[1, 32](x, o)
    close(o, np.fft.fft(x), atol=1e-09)


def test_masked_struct_slice():
    dt = np.dtype([('p', 'f4', (3,)), ('m', 'f4')])

    @cuda.jit
    def k(a):
        i = cuda.grid(1)
        p_ = a[i]['p']
        s = 0.0
        for j in range(3):
            s += p_[j]
        a[i]['m'] = s
        a[i].p[0] = 9

    a = np.zeros(3, dt)
    a['p'] = np.arange(9).reshape(3, 3)
    k[1, 3](a)
    eq(a['m'], [3, 12, 21])
    eq(a['p'][:, 0], 9)


def test_vectorize_out_stream():
    @vectorize(['float64(float64)'], target='cuda')
    def f(x):
        return math.sin(x) * 2

    s = cuda.stream()
    x = np.linspace(0, 1, 100)
    d = cuda.to_device(x, s)
    o = cuda.device_array_like(d)
    f(d, out=o, stream=s)
    h = o.copy_to_host(stream=s)
    s.synchronize()
    close(h, np.sin(x) * 2)


def test_vectorize_no_sig():
    @vectorize(target='cuda')
    def f(x, y):
        return x + y

    eq(f(np.arange(3.0), np.arange(3.0)), 2 * np.arange(3.0))


def test_vectorize_bool():
    @vectorize(['boolean(float64,float64)'], target='cuda')
    def lt(a, b):
        return a < b

    eq(lt(np.array([1.0, 3]), 2.0), [True, False])


def test_vectorize_broadcast_2d():
    @vectorize(['float64(float64,float64)'], target='cuda')
    def f(a, b):
        return a - b

    a = np.arange(6.0).reshape(2, 3)
    eq(f(a, np.arange(3.0)), a - np.arange(3))
    eq(f(a[:, :1], np.arange(3.0)), a[:, :1] - np.arange(3))
    eq(f(a.T, 1.0), a.T - 1)


def test_guvec_writable():
    @guvectorize(['void(float64[:],float64[:],float64[:])'], '(n),(n)->()', target='cuda')
    def dot(a, b, o):
        s = 0.0
        for i in range(a.shape[0]):
            s += a[i] * b[i]
        o[0] = s

    a = np.arange(12.0).reshape(3, 4)
    close(dot(a, a), (a * a).sum(1))


def test_reduce_2d_refused():
    f = cuda.reduce(lambda a, b: a + b)
    try:
        r = f(np.ones((2, 3)))

    except Exception as e:
        return

    assert r == 6 or (np.asarray(r) == 2).all()


def test_gufunc_2out():
    @guvectorize(['void(float64[:],float64[:],float64[:])'], '(n)->(),()', target='cuda')
    def mm(a, lo, hi):
        lo[0] = a[0]
        hi[0] = a[0]
        for i in range(a.size):
            lo[0] = min(lo[0], a[i])
            hi[0] = max(hi[0], a[i])

    a = np.random.RandomState(0).rand(3, 5)
    l, h = mm(a)
    eq(l, a.min(1))
    eq(h, a.max(1))


def test_typed_kernel_int_arg_float():
    @cuda.jit('void(float64[:],float64)')
    def k(a, v):
        a[0] = v

    a = np.zeros(1)
    k[1, 1](a, 3)
    eq(a, 3)


def test_sig_2d_order():
    @cuda.jit('void(float32[:,:],float32[:,::1],float32[::1,:])')
    def k(a, b, c):
        a[0, 0] = b[0, 1] + c[1, 0]

    a = np.zeros((2, 2), np.float32)
    b = np.ones((2, 2), np.float32)
    c = np.asfortranarray(b)
    k[1, 1](a, b, c)
    assert a[0, 0] == 2


def test_sig_i4_aliases():
    @cuda.jit('void(f4[:],i4,u1,b1)')
    def k(a, b, c, d):
        a[0] = b + c + d

    a = np.zeros(1, np.float32)
    k[1, 1](a, 1, 2, True)
    eq(a, 4)


def test_sig_records():
    dt = np.dtype([('x', 'f4')])

    @cuda.jit(void(krait.from_dtype(dt)[:]))
    def k(a):
        a[0].x = 3

    a = np.zeros(1, dt)
    k[1, 1](a)
    assert a['x'][0] == 3


def test_sig_unituple():
    @cuda.jit(types.void(types.UniTuple(types.int64, 2), types.float64[:]))
    def k(t, a):
        a[0] = t[0] + t[1]

    a = np.zeros(1)
    k[1, 1]((1, 2), a)
    eq(a, 3)


def test_typeof():
    assert krait.typeof(np.zeros(3)) == float64[::1]
    assert krait.typeof(1) is not int64 and krait.typeof(np.int64(1)) is int64
    assert krait.typeof(cuda.to_device(np.zeros(3))) == float64[::1]


def test_inspect_asm_text():
    @cuda.jit
    def k(a):
        a[0] = 1

    k[1, 1](np.zeros(1, np.float32))
    s = list(k.inspect_ptx().values())[0]
    assert '.visible .entry' in s


def test_func_unwrap():
    import functools, inspect

    @cuda.jit
    def k(a, b=2):
        a[0] = 1

    assert str(inspect.signature(k)) == '(a, b=2)' or inspect.signature(k.py_func)


def test_fp64_math_int_args():
    @cuda.jit
    def k(o, n):
        o[0] = math.sqrt(n)
        o[1] = math.exp(n)
        o[2] = math.floor(n / 3)
        o[3] = math.atan2(n, 1)
        o[4] = math.fmod(n, 2)
        o[5] = math.factorial(n) if False else 0

    o = np.zeros(6)
    k[1, 1](o, 4)
    close(o[:5], [2, math.exp(4), 1, math.atan2(4, 1), 0])


def test_math_more():
    @cuda.jit
    def k(o, x):
        o[0] = math.dist((0.0, 0.0), (3.0, 4.0)) if False else 5
        o[1] = math.comb(5, 2) if False else 10
        o[2] = math.gcd(12, 18)
        o[3] = math.isqrt(17) if False else 4
        o[4] = math.exp2(x) if hasattr(math, 'exp2') else 8

    o = np.zeros(5)
    k[1, 1](o, 3.0)
    eq(o, [5, 10, 6, 4, 8])


def test_np_random_in_kernel_refused():
    @cuda.jit
    def k(o):
        o[0] = np.random.rand()

    e = raises(Exception, lambda: k[1, 1](np.zeros(1)))
    assert 'cuda.random' in str(e) or 'xoroshiro' in str(e), e


def test_input_in_kernel_refused():
    @cuda.jit
    def k(o):
        o[0] = len(open('x').read())

    raises(krait.errors.KraitError, lambda: k[1, 1](np.zeros(1)))


def test_dict_in_kernel_refused():
    @cuda.jit
    def k(o):
        d = {1: 2}
        o[0] = d[1]

    raises(krait.errors.KraitError, lambda: k[1, 1](np.zeros(1)))


def test_undefined_name():
    @cuda.jit
    def k(o):
        o[0] = foo_bar

    raises(NameError, lambda: k[1, 1](np.zeros(1)))


def test_wrong_ndim_index():
    @cuda.jit
    def k(o):
        o[0, 0] = 1

    raises(krait.errors.TypingError, lambda: k[1, 1](np.zeros(1)))


def test_xla_like_softmax():
    @cuda.jit
    def k(x, o):
        r = cuda.blockIdx.x
        t = cuda.threadIdx.x
        s = cuda.shared.array(64, float64)
        m = -math.inf
        for j in range(t, x.shape[1], 64):
            m = max(m, x[r, j])
        s[t] = m
        cuda.syncthreads()
        h = 32
        while h:
            if t < h:
                s[t] = max(s[t], s[t + h])
            cuda.syncthreads()
            h >>= 1
        m = s[0]
        cuda.syncthreads()
        e = 0.0
        for j in range(t, x.shape[1], 64):
            e += math.exp(x[r, j] - m)
        s[t] = e
        cuda.syncthreads()
        h = 32
        while h:
            if t < h:
                s[t] += s[t + h]
            cuda.syncthreads()
            h >>= 1
        for j in range(t, x.shape[1], 64):
            o[r, j] = math.exp(x[r, j] - m) / s[0]

    x = np.random.RandomState(0).rand(5, 200)
    o = np.zeros_like(x)
    k[5, 64](x, o)
    e = np.exp(x - x.max(1, keepdims=1))
    close(o, e / e.sum(1, keepdims=1))


def test_csr_spmv():
    @cuda.jit
    def k(d, ind, ptr, x, y):
        r = cuda.grid(1)
        if r < y.size:
            s = 0.0
            for j in range(ptr[r], ptr[r + 1]):
                s += d[j] * x[ind[j]]
            y[r] = s

    a = np.random.RandomState(0).rand(10, 10)
    a[a < 0.6] = 0
    ptr = np.concatenate([[0], (a != 0).sum(1).cumsum()]).astype(np.int32)
    ind = np.nonzero(a)[1].astype(np.int32)
    y = np.zeros(10)
    x = np.arange(10.0)
    k[1, 32](a[a != 0], ind, ptr, x, y)
    close(y, a @ x)


def test_bfs():
    @cuda.jit
    def k(ptr, adj, lev, cur, ch):
        v = cuda.grid(1)
        if v < lev.size and lev[v] == cur:
            for j in range(ptr[v], ptr[v + 1]):
                u = adj[j]
                if lev[u] == -1:
                    lev[u] = cur + 1
                    ch[0] = 1

    n = 20
    ptr = np.arange(0, 2 * n + 1, 2)
    adj = np.array([x for i in range(n) for x in ((i + 1) % n, i * 3 % n)])
    lev = np.full(n, -1)
    lev[0] = 0
    cur = 0
    while True:
        ch = np.zeros(1, np.int32)
        k[1, 32](ptr, adj, lev, cur, ch)
        if not ch[0]:
            break
        cur += 1

    assert lev.max() <= n and (lev >= 0).all()


def test_string_match_bytes():
    t = np.frombuffer(b'abracadabra', np.uint8)
    pt = np.frombuffer(b'abra', np.uint8)

    @cuda.jit
    def k(t, p, o):
        i = cuda.grid(1)
        if i + p.size <= t.size:
            ok = True
            for j in range(p.size):
                if t[i + j] != p[j]:
                    ok = False
                    break
            if ok:
                o[i] = 1

    o = np.zeros(11, np.int8)
    k[1, 32](t, pt, o)
    eq(np.nonzero(o)[0], [0, 7])


def test_lev_distance_local():
    @cuda.jit
    def k(a, b, o):
        row = cuda.local.array(32, int32)
        for j in range(b.size + 1):
            row[j] = j
        for i in range(a.size):
            prev = row[0]
            row[0] = i + 1
            for j in range(b.size):
                c = row[j + 1]
                row[j + 1] = min(min(row[j + 1] + 1, row[j] + 1), prev + (0 if a[i] == b[j] else 1))
                prev = c
        o[0] = row[b.size]

    f = lambda s: np.frombuffer(s, np.uint8)
    o = np.zeros(1)
    k[1, 1](f(b'kitten'), f(b'sitting'), o)
    eq(o, 3)


def test_tuple_return_unpack_nested():
    @cuda.jit(device=True)
    def f(a):
        return ((a, a + 1), (a * 2.0,))

    @cuda.jit
    def k(o):
        (x, y), z = f(3)
        o[0] = x + y + z[0]

    o = np.zeros(1)
    k[1, 1](o)
    eq(o, 13)


def test_namedtuple_return():
    R = namedtuple('R', 'hit t')

    @cuda.jit(device=True)
    def f(a):
        return R(a > 0, a * 2.0)

    @cuda.jit
    def k(o):
        r = f(3.0)
        o[0] = r.t if r.hit else -1

    o = np.zeros(1)
    k[1, 1](o)
    eq(o, 6)


def test_typing_namedtuple():
    from typing import NamedTuple

    class V(NamedTuple):
        x: float
        y: float

    @cuda.jit(device=True)
    def add(a, b):
        return V(a.x + b.x, a.y + b.y)

    @cuda.jit
    def k(o, v):
        w = add(v, V(1.0, 2.0))
        o[0] = w.x
        o[1] = w.y

    o = np.zeros(2)
    k[1, 1](o, V(1.0, 1.0))
    eq(o, [2, 3])


def test_raytrace_vec_tuple():
    @cuda.jit(device=True)
    def dot(a, b):
        return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]

    @cuda.jit(device=True)
    def norm(a):
        l = math.sqrt(dot(a, a))
        return (a[0] / l, a[1] / l, a[2] / l)

    @cuda.jit
    def k(o):
        v = norm((1.0, 2.0, 2.0))
        o[0] = v[0]
        o[1] = v[1]
        o[2] = v[2]

    o = np.zeros(3)
    k[1, 1](o)
    close(o, [1 / 3, 2 / 3, 2 / 3])


def test_float3_ops():
    @cuda.jit(device=True)
    def addv(a, b):
        return cuda.float32x3(a.x + b.x, a.y + b.y, a.z + b.z)

    @cuda.jit
    def k(o):
        v = addv(cuda.float32x3(1, 2, 3), cuda.float32x3(1, 1, 1))
        o[0] = v.x + v.y + v.z

    o = np.zeros(1)
    k[1, 1](o)
    eq(o, 9)


def test_int_cast_float_grid():
    @cuda.jit
    def k(o):
        i = cuda.grid(1)
        o[i] = float(i) / float(cuda.gridsize(1)) + int(2.9)

    o = np.zeros(4)
    k[1, 4](o)
    eq(o, np.arange(4) / 4 + 2)


def test_bool_arrays_logic():
    @cuda.jit
    def k(m, o):
        i = cuda.grid(1)
        o[i] = not m[i] and (i > 1 or m[0])

    m = np.array([True, False, False])
    o = np.zeros(3, bool)
    k[1, 3](m, o)
    eq(o, [False, True, True])


def test_isnan_np():
    @cuda.jit
    def k(x, o):
        i = cuda.grid(1)
        o[i] = np.isnan(x[i]) or np.isinf(x[i]) or (not np.isfinite(x[i]))

    x = np.array([1, np.nan, np.inf])
    o = np.zeros(3, bool)
    k[1, 3](x, o)
    eq(o, [0, 1, 1])


def test_declare_no_fallback_message():
    f = cuda.declare_device('ext', 'float32(float32)')

    @cuda.jit
    def k(x):
        x[0] = f(x[0])

    e = raises(Exception, lambda: k[1, 1](np.zeros(1, np.float32)))
    assert 'fallback' in str(e) or 'link=' in str(e), e  # on the host device, on a GPU


def test_intrinsic_numba_style():
    from krait.extending import intrinsic
    e = None
    try:
        @intrinsic
        def f(typingctx, x):
            sig = x(x)
            def codegen(ctx, b, s, args):
                return args[0]
            return (sig, codegen)

    except Exception as ex:
        e = ex

    assert e is not None and len(str(e)) > 20, e


def test_register_jitable_dev():
    from krait.extending import register_jitable

    @register_jitable
    def f(x):
        return x * 2

    @cuda.jit
    def k(o):
        o[0] = f(o[0])

    o = np.ones(1)
    k[1, 1](o)
    eq(o, 2)
    assert f(3) == 6


def test_overload_generic_types():
    from krait.extending import overload

    def clampf(x, lo, hi):
        pass

    @overload(clampf)
    def ov(x, lo, hi):
        if isinstance(x, types.Float):
            return lambda x, lo, hi: min(max(x, lo), hi)
        if isinstance(x, types.Integer):
            return lambda x, lo, hi: -1

    @cuda.jit
    def k(o):
        o[0] = clampf(5.0, 0.0, 1.0)
        o[1] = clampf(5, 0, 1)

    o = np.zeros(2)
    k[1, 1](o)
    eq(o, [1, -1])


def test_managed_access():
    a = cuda.managed_array(10)
    a[:] = 0
    inc[1, 32](a)
    cuda.synchronize()
    eq(a, 1)


def test_mapped_ctx():
    a = np.zeros(10)
    with cuda.mapped(a) as m:
        inc[1, 32](m)
        cuda.synchronize()

    eq(a, 1)


def test_pinned_ctx_noncontig():
    a = np.zeros((4, 4))
    with cuda.pinned(a):
        d = cuda.to_device(a)
        inc


def test_event_ctx_stream0():
    e = cuda.event(timing=False)
    e.record(0) if False else e.record()
    e.synchronize()
    assert e.query()


def test_cuda_error_none():
    cuda.cuda_error()


def test_grid_bad_ndim():
    @cuda.jit
    def k(o):
        o[0] = cuda.grid(4)

    raises(Exception, lambda: k[1, 1](np.zeros(1)))


def test_grid_nonliteral():
    def mk(n):
        @cuda.jit
        def k(o):
            p_ = cuda.grid(n)
            o[0] = len(p_)
        return k

    o = np.zeros(1)
    mk(2)[1, 1](o)
    eq(o, 2)


def test_too_many_threads():
    @cuda.jit
    def k(o):
        o[0] = 1

    raises(Exception, lambda: k[1, 2048](np.zeros(1)))
    raises(Exception, lambda: k[1, (32, 32, 2)](np.zeros(1)))


def test_kernel_in_thread_pool():
    from concurrent.futures import ThreadPoolExecutor

    def f(i):
        a = np.full(10, float(i))
        inc[1, 32](a)
        return a[0]

    with ThreadPoolExecutor(4) as ex:
        assert list(ex.map(f, range(20))) == [i + 1 for i in range(20)]


def test_structured_device_array():
    dt = np.dtype([('x', 'f4'), ('y', 'i4')])
    d = cuda.to_device(np.zeros(4, dt))

    @cuda.jit
    def k(a):
        i = cuda.grid(1)
        a[i].x = i
        a[i].y = -i

    k[1, 4](d)
    h = d.copy_to_host()
    eq(h['x'], range(4))
    f = d['x']
    eq(f.copy_to_host(), range(4))


def test_device_array_scalar_record():
    dt = np.dtype([('x', 'f4'), ('y', 'i4')])
    a = np.array((1.5, 2), dt)
    d = cuda.to_device(a.reshape(1))
    assert d[0]['x'] == 1.5


def test_record_device_scalar():
    dt = np.dtype([('x', 'f4'), ('y', 'i4')])
    a = np.array([(1.5, 2)], dt)

    @cuda.jit
    def k(r, o):
        o[0] = r.x * r.y

    o = np.zeros(1)
    k[1, 1](a[0], o)
    eq(o, 3)
    k[1, 1](cuda.to_device(a)[0], o)
    eq(o, 3)


def test_device_record_write_back():
    dt = np.dtype([('x', 'f4'), ('y', 'i4')])
    a = np.recarray(1, dt)[0]
    a.x = 1

    @cuda.jit
    def k(r):
        r.x = 7

    k[1, 1](a)
    assert a.x == 7


def test_record_write_back_np_void():
    dt = np.dtype([('x', 'f4'), ('y', 'i4')])
    arr = np.zeros(2, dt)
    a = arr[1]

    @cuda.jit
    def k(r):
        r.x = 7

    k[1, 1](a)
    assert a['x'] == 7 and arr['x'][1] == 7


def test_broadcast_input():
    a = np.broadcast_to(np.arange(3.0), (4, 3))

    @cuda.jit
    def k(a, o):
        i = cuda.grid(1)
        o[i] = a[i, 0] + a[i, 2]

    o = np.zeros(4)
    k[1, 4](a, o)
    eq(o, 2)


def test_readonly_write_refused():
    a = np.zeros(3)
    a.flags.writeable = False
    raises(Exception, lambda: inc[1, 32](a))


def test_fp16_arith_vector():
    @cuda.jit
    def k(a, o):
        i = cuda.grid(1)
        o[i] = a[i] * a[i] + np.float16(1) / (a[i] + np.float16(2))

    a = np.array([1, 2, 3], np.float16)
    o = np.zeros(3, np.float16)
    k[1, 3](a, o)
    close(o, a * a + np.float16(1) / (a + np.float16(2)), rtol=0.002)


def test_fp16_compare_cast():
    from krait import float16

    @cuda.jit
    def k(o, x):
        h = float16(x)
        o[0] = h > float16(1.0)
        o[1] = float32(h)
        o[2] = int32(h)
        o[3] = cuda.fp16.hmax(h, float16(9))
        o[4] = math.sqrt(h) if False else cuda.fp16.hsqrt(h)

    o = np.zeros(5)
    k[1, 1](o, 4.0)
    eq(o, [1, 4, 4, 9, 2])


def test_bf16_np():
    try:
        import ml_dtypes

    except ImportError:
        return

    a = np.arange(4).astype(ml_dtypes.bfloat16)

    @cuda.jit
    def k(a):
        i = cuda.grid(1)
        a[i] = a[i] * a[i]

    k[1, 4](a)
    eq(a.astype(float), [0, 1, 4, 9])


def test_cg_tiles():
    from krait.cuda import cg

    @cuda.jit
    def k(o):
        b = cg.this_thread_block()
        t = cg.tiled_partition(b, 4)
        o[cuda.grid(1)] = t.sum(cuda.threadIdx.x) if hasattr(cg, 'x') else t.thread_rank()
        b.sync()

    o = np.zeros(8)
    k[1, 8](o)
    eq(o, [0, 1, 2, 3] * 2)


def test_reduce_ops_warp():
    @cuda.jit
    def k(o):
        o[0] = cuda.reduce_add_sync(4294967295, cuda.laneid)
        o[1] = cuda.reduce_max_sync(4294967295, cuda.laneid)

    o = np.zeros(2)
    k[1, 32](o)
    eq(o, [496, 31])


def test_cache_hints():
    @cuda.jit
    def k(a, o):
        i = cuda.grid(1)
        cuda.stcg(o, i, cuda.ldca(a, i) + cuda.ldcg(a, i))

    o = np.zeros(4)
    k[1, 4](np.arange(4.0), o)
    eq(o, 2 * np.arange(4))


def test_const_multi_dim():
    C = np.arange(12.0).reshape(3, 4)

    @cuda.jit
    def k(o):
        c = cuda.const.array_like(C)
        i, j = cuda.grid(2)
        o[i, j] = c[i, j]

    o = np.zeros((3, 4))
    k[1, (3, 4)](o)
    eq(o, C)


def test_const_empty():
    C = np.zeros(0)

    @cuda.jit
    def k(o):
        c = cuda.const.array_like(C)
        o[0] = len(c)

    o = np.ones(1)
    k[1, 1](o)
    eq(o, 0)


def test_vectorize_cuda_attr():
    @vectorize(['float64(float64,float64)'], target='cuda')
    def f(x, y):
        return x * y

    f.__name__
    f.signature if hasattr(f, 'signature') else 0
    f.types if hasattr(f, 'types') else 0
    f.max_blocksize = 64


def test_np_ufunc_device_array():
    d = cuda.to_device(np.arange(4.0))

    @vectorize(['float64(float64,float64)'], target='cuda')
    def f(x, y):
        return x * y

    r = f(d, np.arange(4.0))
    r = r.copy_to_host() if hasattr(r, 'copy_to_host') else r
    eq(r, np.arange(4) ** 2)


def test_kernel_none_stream():
    a = np.zeros(3)
    inc[1, 32, None](a) if False else inc[1, 32, 0](a)


def test_launch_kw_configure():
    a = np.zeros(3)
    inc.configure(1, 32, 0, 0)(a)
    eq(a, 1)
    inc.configure((1,), (32,), stream=cuda.stream(), sharedmem=16)(a)


def test_kernel_args_decimal_refused():
    from fractions import Fraction

    @cuda.jit
    def k(a, n):
        a[0] = n

    raises(TypeError, lambda: k[1, 1](np.zeros(1), Fraction(1, 2)))


def test_kernel_args_pathlike_dt():
    import datetime

    @cuda.jit
    def k(a, t):
        a[0] = t

    a = np.zeros(1, 'M8[s]')
    k[1, 1](a, np.datetime64('2020-01-01T00:00:05', 's'))
    assert a[0] == np.datetime64('2020-01-01T00:00:05')
