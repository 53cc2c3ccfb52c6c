"""Small programs of the habits that years with numba.cuda leave: the language of kernels;
each against NumPy or a closed form.  On the GPU if there is one, else on the host device.

PYTEST_DONT_REWRITE: kernels are taken as they are written.
"""

import dataclasses
import math
import operator
from enum import Enum, IntEnum

import numpy as np
from kernel_programs import close, eq, raises

from krait import boolean, complex64, cuda, float32, float64, int32


class Interval:

    def __init__(self, lo, hi):
        self.lo = lo
        self.hi = hi

    def width(self):
        return self.hi - self.lo


@dataclasses.dataclass
class Particle:
    x: float
    v: float

    def step(self, dt):
        return self.x + self.v * dt


class Color(Enum):
    RED = 1
    GREEN = 2


def test_class_arg():
    @cuda.jit
    def k(o, i):
        o[0] = i.width()

    o = np.zeros(1)
    k[1, 1](o, Interval(2.0, 5.0))
    eq(o, 3)


def test_dataclass_arg():
    @cuda.jit
    def k(o, q):
        o[0] = q.step(2.0)

    o = np.zeros(1)
    k[1, 1](o, Particle(1.0, 3.0))
    eq(o, 7)


def test_enum_compare():
    @cuda.jit
    def k(o, c):
        o[0] = 1 if c is Color.RED else 2
        o[1] = c == Color.GREEN

    o = np.zeros(2)
    k[1, 1](o, Color.GREEN)
    eq(o, [2, 1])


def test_string_arg():
    @cuda.jit
    def k(o, mode):
        if mode == 'sum':
            o[0] = 1
        else:
            o[0] = 2

    o = np.zeros(1)
    k[1, 1](o, 'sum')
    eq(o, 1)
    k[1, 1](o, 'x')
    eq(o, 2)


def test_unicode_array():
    s = np.array(['abc', 'de'])

    @cuda.jit
    def k(s, o):
        i = cuda.grid(1)
        o[i] = len(s[i])

    o = np.zeros(2)
    k[1, 2](s, o)
    eq(o, [3, 2])


def test_unicode_array_cmp():
    s = np.array(['abc', 'de'])

    @cuda.jit
    def k(s, o):
        i = cuda.grid(1)
        o[i] = 5 if s[i] == 'abc' else 6

    o = np.zeros(2)
    k[1, 2](s, o)
    eq(o, [5, 6])


def test_list_append():
    @cuda.jit
    def k(o):
        l = []
        for i in range(3):
            l.append(i)
        o[0] = l[1]

    raises(Exception, lambda: k[1, 1](np.zeros(1)))


def test_arr_methods():
    @cuda.jit
    def k(a, o):
        o[0] = a.sum()
        o[1] = a.max()
        o[2] = a.min()
        o[3] = a.mean()
        o[4] = a.shape[0]
        o[5] = a.ndim
        o[6] = a.size
        o[7] = len(a)
        o[8] = a.itemsize
        o[9] = a.nbytes
        o[10] = a.strides[0]

    a = np.arange(4.0)
    o = np.zeros(11)
    k[1, 1](a, o)
    eq(o, [6, 3, 0, 1.5, 4, 1, 4, 4, 8, 32, 8])


def test_arr_reshape():
    @cuda.jit
    def k(a):
        b = a.reshape((2, 3))
        b[1, 2] = 9
        c = a.reshape(3, 2)
        c[0, 1] = 8
        d = b.T
        d[0, 1] = 7
        e = a.view(np.int64)
        e[0] = 0
        f = b.ravel()
        f[4] = 5

    a = np.ones(6)
    k[1, 1](a)
    eq(a, [0, 8, 1, 7, 5, 9])


def test_slices():
    @cuda.jit
    def k(a, o):
        i = cuda.grid(1)
        r = a[i]
        s = a[:, i]
        t = a[i, 1:3]
        u = a[i, ::-1]
        o[i] = r[0] + s[1] * 10 + t[0] * 100 + u[0] * 1000

    a = np.arange(16.0).reshape(4, 4)
    o = np.zeros(4)
    k[1, 4](a, o)
    eq(o, [a[i, 0] + a[1, i] * 10 + a[i, 1] * 100 + a[i, 3] * 1000 for i in range(4)])


def test_slice_assign():
    @cuda.jit
    def k(a, b):
        i = cuda.grid(1)
        a[i, :] = b[i]
        a[i, 2:] = -1

    a = np.zeros((3, 4))
    k[1, 3](a, np.arange(3.0))
    e = np.repeat(np.arange(3.0)[:, None], 4, 1)
    e[:, 2:] = -1
    eq(a, e)


def test_slice_copy():
    @cuda.jit
    def k(a, b):
        i = cuda.grid(1)
        a[i] = b[i]
        a[i, :2] = b[i, 2:]

    b = np.arange(12.0).reshape(3, 4)
    a = np.zeros((3, 4))
    k[1, 3](a, b)
    e = b.copy()
    e[:, :2] = b[:, 2:]
    eq(a, e)


def test_ellipsis():
    @cuda.jit
    def k(a, o):
        i = cuda.grid(1)
        b = a[..., i]
        o[i] = b[1, 1]

    a = np.arange(27.0).reshape(3, 3, 3)
    o = np.zeros(3)
    k[1, 3](a, o)
    eq(o, a[1, 1])


def test_neg_index():
    @cuda.jit
    def k(a):
        a[-1] = 5
        a[cuda.grid(1) - 2] = 3

    a = np.zeros(4)
    k[1, 1](a)
    eq(a, [0, 0, 3, 5])


def test_tuple_index():
    @cuda.jit
    def k(a):
        p = cuda.grid(2)
        if p[0] < a.shape[0] and p[1] < a.shape[1]:
            a[p] = p[0] * 10 + p[1]

    a = np.zeros((3, 4))
    k[1, (4, 4)](a)
    eq(a, np.arange(3)[:, None] * 10 + np.arange(4))


def test_while_break_else():
    @cuda.jit
    def k(o):
        i = cuda.grid(1)
        for j in range(10):
            if j == i:
                break
        else:
            j = -1
        o[i] = j
        while True:
            if o[i] > 3:
                break
            o[i] += 5
            continue

    o = np.zeros(12)
    k[1, 12](o)
    e = []
    for i in range(12):
        for j in range(10):
            if j == i:
                break
        else:
            j = -1
        v = j
        while not v > 3:
            v += 5
        e.append(v)

    eq(o, e)


def test_ternaries_chained():
    @cuda.jit
    def k(o):
        i = cuda.grid(1)
        o[i] = 1 if 1 < i <= 3 else 2 if i == 0 or i == 4 else 3

    o = np.zeros(6)
    k[1, 6](o)
    eq(o, [2, 3, 1, 1, 2, 3])


def test_bit_ops():
    @cuda.jit
    def k(x, o):
        i = cuda.grid(1)
        v = x[i]
        o[i] = (v << 3 ^ v >> 1 | 5) & ~v

    x = np.arange(8)
    o = np.zeros(8, np.int64)
    k[1, 8](x, o)
    eq(o, (x << 3 ^ x >> 1 | 5) & ~x)


def test_int_div_mod():
    @cuda.jit
    def k(x, o):
        i = cuda.grid(1)
        o[i, 0] = x[i] // 3
        o[i, 1] = x[i] % 3
        o[i, 2] = x[i] / 3
        o[i, 3] = x[i] ** 2
        a, b = divmod(x[i], 3)
        o[i, 4] = a
        o[i, 5] = b

    x = np.arange(-4, 4)
    o = np.zeros((8, 6))
    k[1, 8](x, o)
    close(o, np.stack([x // 3, x % 3, x / 3, x ** 2, x // 3, x % 3], 1))


def test_min_max_builtin():
    @cuda.jit
    def k(o):
        i = cuda.grid(1)
        o[i] = max(i, 3) + min(i, 2, 1) + abs(-i) + round(2.6) + pow(2, i) + sum((1, 2, 3))

    o = np.zeros(4)
    k[1, 4](o)
    eq(o, [max(i, 3) + min(i, 2, 1) + i + 3 + 2 ** i + 6 for i in range(4)])


def test_round_ndigits():
    @cuda.jit
    def k(o, x):
        o[0] = round(x, 2)
        o[1] = round(x, -1)
        o[2] = round(x)

    o = np.zeros(3)
    k[1, 1](o, 127.4567)
    close(o, [round(127.4567, 2), 130, 127])


def test_enumerate_zip():
    @cuda.jit
    def k(a, b, o):
        s = 0.0
        for i, v in enumerate(a):
            s += i * v
        for x, y in zip(a, b):
            s += x * y
        for v in a:
            s += v
        for i in reversed(range(3)):
            s += i
        o[0] = s

    a = np.arange(4.0)
    b = a + 1
    o = np.zeros(1)
    k[1, 1](a, b, o)
    eq(o, (np.arange(4) * a).sum() + a @ b + a.sum() + 3)


def test_nested_tuple():
    @cuda.jit
    def k(o, t):
        (a, b), c = t
        o[0] = a + b * c

    o = np.zeros(1)
    k[1, 1](o, ((1, 2), 3.5))
    eq(o, 8)


def test_tuple_global():
    T = (3, 4, 5)

    @cuda.jit
    def k(o):
        i = cuda.grid(1)
        o[i] = T[i]

    o = np.zeros(3)
    k[1, 3](o)
    eq(o, T)


def test_nested_function():
    @cuda.jit
    def k(o):
        def f(x):
            return x * 2 + c
        c = 3
        i = cuda.grid(1)
        o[i] = f(i)

    o = np.zeros(3)
    k[1, 3](o)
    eq(o, [3, 5, 7])


def test_lambda_in_kernel():
    f = lambda x: x * x

    @cuda.jit
    def k(o):
        g = lambda y: y + 1
        i = cuda.grid(1)
        o[i] = f(i) + g(i)

    o = np.zeros(3)
    k[1, 3](o)
    eq(o, [1, 3, 7])


def test_device_fn_as_arg():
    @cuda.jit(device=True)
    def sq(x):
        return x * x

    @cuda.jit(device=True)
    def app(f, x):
        return f(x)

    @cuda.jit
    def k(o):
        i = cuda.grid(1)
        o[i] = app(sq, i)

    o = np.zeros(3)
    k[1, 3](o)
    eq(o, [0, 1, 4])


def test_kernel_fn_arg():
    @cuda.jit(device=True)
    def sq(x):
        return x * x

    @cuda.jit
    def k(o, f):
        i = cuda.grid(1)
        o[i] = f(i)

    o = np.zeros(3)
    k[1, 3](o, sq)
    eq(o, [0, 1, 4])


def test_factory():
    def make(op):
        f = cuda.jit(device=True)(op)
        @cuda.jit
        def k(o):
            i = cuda.grid(1)
            o[i] = f(o[i])
        return k

    for op in (lambda x: x + 1, lambda x: x * 2):
        o = np.ones(3)
        make(op)[1, 3](o)
        eq(o, op(1))


def test_device_kwargs_defaults():
    @cuda.jit(device=True)
    def f(a, b=2, *, c=3):
        return a + b * c

    @cuda.jit
    def k(o):
        o[0] = f(1)
        o[1] = f(1, c=5)
        o[2] = f(a=1, b=1)

    o = np.zeros(3)
    k[1, 1](o)
    eq(o, [7, 11, 4])


def test_device_star_args():
    @cuda.jit(device=True)
    def f(*a):
        return a[0] + len(a)

    @cuda.jit
    def k(o):
        o[0] = f(1, 2, 3)
        t = (4, 5)
        o[1] = f(*t)

    o = np.zeros(2)
    k[1, 1](o)
    eq(o, [4, 6])


def test_device_array_param_and_modify():
    @cuda.jit(device=True)
    def fill(a, v):
        for i in range(a.shape[0]):
            a[i] = v

    @cuda.jit
    def k(a):
        l = cuda.local.array(4, float64)
        fill(l, 2.0)
        fill(a[cuda.grid(1)], l[0] + cuda.grid(1))

    a = np.zeros((3, 5))
    k[1, 3](a)
    eq(a, 2 + np.arange(3)[:, None] + np.zeros((1, 5)))


def test_device_returns_local_array():
    @cuda.jit(device=True)
    def mk(v):
        l = cuda.local.array(3, float64)
        for i in range(3):
            l[i] = v + i
        return l

    @cuda.jit
    def k(o):
        l = mk(2.0)
        o[0] = l[0] + l[2]

    o = np.zeros(1)
    k[1, 1](o)
    eq(o, 6)


def test_device_none_return():
    @cuda.jit(device=True)
    def f(a):
        a[0] = 1

    @cuda.jit
    def k(a):
        f(a)
        return

    a = np.zeros(1)
    k[1, 1](a)
    eq(a, 1)


def test_early_return():
    @cuda.jit
    def k(a):
        i = cuda.grid(1)
        if i >= a.size:
            return
        a[i] = 1
        if i == 0:
            return None
        a[i] = 2

    a = np.zeros(3)
    k[1, 32](a)
    eq(a, [1, 2, 2])


def test_try_except_kernel():
    @cuda.jit
    def k(o):
        try:
            o[0] = 1
        except:
            o[0] = 2

    raises(Exception, lambda: k[1, 1](np.zeros(1)))


def test_type_unify_int_float():
    @cuda.jit
    def k(o):
        s = 0
        for i in range(4):
            s = s + 0.5
        o[0] = s

    o = np.zeros(1)
    k[1, 1](o)
    eq(o, 2)


def test_np_consts():
    @cuda.jit
    def k(o):
        o[0] = np.pi
        o[1] = math.e
        o[2] = np.inf
        o[3] = -math.inf
        o[4] = np.nan
        o[5] = math.tau
        o[6] = np.finfo(np.float32).eps
        o[7] = np.iinfo(np.int32).max

    o = np.zeros(8)
    k[1, 1](o)
    eq(o, [np.pi, math.e, np.inf, -np.inf, np.nan, math.tau, np.finfo(np.float32).eps, 2 ** 31 - 1])


def test_np_types_calls():
    @cuda.jit
    def k(o):
        o[0] = np.float32(1) / np.float32(3)
        o[1] = np.int32(7) // np.int32(2)
        o[2] = np.uint8(255)

    o = np.zeros(3)
    k[1, 1](o)
    eq(o, [np.float32(1) / np.float32(3), 3, 255])


def test_dtype_from_array():
    @cuda.jit
    def k(a, o):
        s = cuda.shared.array(4, a.dtype)
        s[0] = a[0]
        o[0] = s[0]

    o = np.zeros(1)
    k[1, 1](np.ones(3, np.float32), o)
    eq(o, 1)


def test_dtype_string():
    @cuda.jit
    def k(o):
        s = cuda.shared.array(4, 'float32')
        l = cuda.local.array((2, 2), dtype='f8')
        s[0] = 1
        l[0, 0] = s[0]
        o[0] = l[0, 0]

    o = np.zeros(1)
    k[1, 1](o)
    eq(o, 1)


def test_shared_struct_np_dtype():
    dt = np.dtype([('x', 'f4'), ('y', 'i4')])

    @cuda.jit
    def k(o):
        s = cuda.shared.array(4, dt)
        s[0].x = 1.5
        s[0]['y'] = 3
        o[0] = s[0].x + s[0].y

    o = np.zeros(1)
    k[1, 1](o)
    eq(o, 4.5)


def test_shared_bool_complex():
    @cuda.jit
    def k(o):
        s = cuda.shared.array(4, boolean)
        c = cuda.local.array(2, complex64)
        s[0] = True
        c[0] = 1 + 2j
        o[0] = s[0] + c[0].imag

    o = np.zeros(1)
    k[1, 1](o)
    eq(o, 3)


def test_vec_type_arr():
    @cuda.jit
    def k(o):
        s = cuda.shared.array(4, cuda.float32x4)
        s[0] = cuda.float32x4(1, 2, 3, 4)
        o[0] = s[0].w

    o = np.zeros(1)
    k[1, 1](o)
    eq(o, 4)


def test_local_size_global_expr():
    N = 4
    M = 3

    @cuda.jit
    def k(o):
        l = cuda.local.array(N * M + 1, float32)
        o[0] = l.size

    o = np.zeros(1)
    k[1, 1](o)
    eq(o, 13)


def test_local_array_shape_np_int():
    N = np.int64(4)

    @cuda.jit
    def k(o):
        l = cuda.local.array(N, float32)
        o[0] = l.size

    o = np.zeros(1)
    k[1, 1](o)
    eq(o, 4)


def test_local_nonconst_refused():
    @cuda.jit
    def k(o, n):
        l = cuda.local.array(n, float32)
        o[0] = l.size

    e = raises(Exception, lambda: k[1, 1](np.zeros(1), 3))
    assert 'constant' in str(e).lower() or 'known' in str(e), e


def test_f_order():
    @cuda.jit
    def k(a):
        i, j = cuda.grid(2)
        if i < a.shape[0] and j < a.shape[1]:
            a[i, j] = i * 10 + j

    a = np.zeros((3, 4), order='F')
    k[1, (4, 4)](a)
    eq(a, np.arange(3)[:, None] * 10 + np.arange(4))


def test_noncontig_host():
    @cuda.jit
    def k(a):
        i = cuda.grid(1)
        if i < a.size:
            a[i] = i

    b = np.zeros(10)
    k[1, 32](b[::2])
    eq(b[::2], range(5))
    eq(b[1::2], 0)


def test_zero_size():
    @cuda.jit
    def k(a):
        i = cuda.grid(1)
        if i < a.size:
            a[i] = i

    k[1, 32](np.zeros(0))


def test_d0_array():
    @cuda.jit
    def k(a):
        a[()] += 1

    a = np.zeros(())
    k[1, 1](a)
    assert a == 1


def test_xorshift():
    @cuda.jit
    def k(a):
        s = np.uint32(2463534242)
        for i in range(a.size):
            s ^= s << np.uint32(13)
            s ^= s >> np.uint32(17)
            s ^= s << np.uint32(5)
            a[i] = s

    a = np.zeros(4, np.uint32)
    k[1, 1](a)
    s = 2463534242
    e = []
    for i in range(4):
        s ^= s << 13 & 4294967295
        s ^= s >> 17
        s ^= s << 5 & 4294967295
        e.append(s)

    eq(a, e)


def test_hash_mask():
    @cuda.jit
    def k(a):
        i = cuda.grid(1)
        h = i
        h = (h >> 16 ^ h) * 73244475 & 4294967295
        a[i] = h

    a = np.zeros(4, np.int64)
    k[1, 4](a)
    eq(a, [(h >> 16 ^ h) * 73244475 & 4294967295 for h in range(4)])


def test_uint64_hash():
    @cuda.jit
    def k(a):
        i = cuda.grid(1)
        h = np.uint64(14695981039346656037)
        for j in range(4):
            h ^= np.uint64(i >> 8 * j & 255)
            h *= np.uint64(1099511628211)
        a[i] = h

    a = np.zeros(4, np.uint64)
    k[1, 4](a)

    def f(i):
        h = 14695981039346656037
        for j in range(4):
            h ^= i >> 8 * j & 255
            h = h * 1099511628211 & 2 ** 64 - 1
        return h

    eq(a, np.array([f(i) for i in range(4)], np.uint64))


def test_scan_block():
    @cuda.jit
    def k(x):
        s = cuda.shared.array(64, int32)
        t = cuda.threadIdx.x
        s[t] = x[t]
        cuda.syncthreads()
        d = 1
        while d < 64:
            v = 0
            if t >= d:
                v = s[t - d]
            cuda.syncthreads()
            s[t] += v
            cuda.syncthreads()
            d *= 2
        x[t] = s[t]

    x = np.arange(64, dtype=np.int32)
    k[1, 64](x)
    eq(x, np.arange(64).cumsum())


def test_warp_reduce():
    @cuda.jit(device=True)
    def wr(v):
        o = 16
        while o > 0:
            v += cuda.shfl_down_sync(4294967295, v, o)
            o //= 2
        return v

    @cuda.jit
    def k(x, o):
        sh = cuda.shared.array(32, float32)
        i = cuda.grid(1)
        lane = cuda.threadIdx.x % cuda.warpsize
        w = cuda.threadIdx.x // cuda.warpsize
        v = wr(x[i] if i < x.size else float32(0))
        if lane == 0:
            sh[w] = v
        cuda.syncthreads()
        v = sh[lane] if cuda.threadIdx.x < cuda.blockDim.x // cuda.warpsize else float32(0)
        if w == 0:
            v = wr(v)
        if cuda.threadIdx.x == 0:
            cuda.atomic.add(o, 0, v)

    x = np.arange(1000, dtype=np.float32)
    o = np.zeros(1, np.float32)
    k[4, 256](x, o)
    close(o, x.sum())


def test_syncwarp():
    @cuda.jit
    def k(x):
        i = cuda.grid(1)
        s = cuda.shared.array(32, int32)
        s[i] = x[i]
        cuda.syncwarp()
        x[i] = s[31 - i]
        cuda.syncwarp(4294967295)

    x = np.arange(32)
    k[1, 32](x)
    eq(x, np.arange(32)[::-1])


def test_game_of_life():
    @cuda.jit
    def k(a, b):
        i, j = cuda.grid(2)
        n, m = a.shape
        if i < n and j < m:
            c = 0
            for di in (-1, 0, 1):
                for dj in (-1, 0, 1):
                    if di != 0 or dj != 0:
                        c += a[(i + di) % n, (j + dj) % m]
            b[i, j] = 1 if c == 3 or (c == 2 and a[i, j] == 1) else 0

    a = np.random.RandomState(0).randint(0, 2, (16, 16))
    b = np.zeros_like(a)
    k[(1, 1), (16, 16)](a, b)
    c = sum((np.roll(np.roll(a, x, 0), y, 1) for x in (-1, 0, 1) for y in (-1, 0, 1) if (x, y) != (0, 0)))
    eq(b, ((c == 3) | (c == 2) & (a == 1)).astype(int))


def test_walrus_match():
    @cuda.jit
    def k(o):
        if (i := cuda.grid(1)) < 3:
            o[i] = i
        match i:
            case 0:
                o[i] += 10
            case 1 | 2:
                o[i] += 20
            case _:
                pass

    o = np.zeros(3)
    k[1, 4](o)
    eq(o, [10, 21, 22])


def test_del_pass_docstring():
    @cuda.jit
    def k(o):
        """doc"""
        x = 1
        del x
        pass
        o[0] = 1

    o = np.zeros(1)
    k[1, 1](o)
    eq(o, 1)


def test_annotations():
    @cuda.jit
    def k(o: np.ndarray, n: int=3) -> None:
        x: float = 2.0
        o[0] = x * n

    o = np.zeros(1)
    k[1, 1](o)
    eq(o, 6)


def test_isinstance_k():
    @cuda.jit
    def k(o, x):
        if isinstance(x, int):
            o[0] = 1
        elif isinstance(x, float):
            o[0] = 2

    o = np.zeros(1)
    k[1, 1](o, 3)
    eq(o, 1)
    k[1, 1](o, 3.0)
    eq(o, 2)


def test_operator_mod():
    @cuda.jit
    def k(o):
        o[0] = operator.add(1, 2) * operator.mul(2, 3)

    o = np.zeros(1)
    k[1, 1](o)
    eq(o, 18)


def test_binary_search_dev():
    @cuda.jit(device=True)
    def bs(a, v):
        lo = 0
        hi = a.shape[0]
        while lo < hi:
            m = (lo + hi) // 2
            if a[m] < v:
                lo = m + 1
            else:
                hi = m
        return lo

    @cuda.jit
    def k(a, v, o):
        i = cuda.grid(1)
        if i < v.size:
            o[i] = bs(a, v[i])

    a = np.arange(0, 100, 3)
    v = np.arange(100)
    o = np.zeros(100, int)
    k[1, 128](a, v, o)
    eq(o, np.searchsorted(a, v))


def test_bitonic():
    @cuda.jit
    def k(a):
        s = cuda.shared.array(128, float32)
        t = cuda.threadIdx.x
        s[t] = a[t]
        cuda.syncthreads()
        kk = 2
        while kk <= 128:
            j = kk >> 1
            while j > 0:
                ixj = t ^ j
                if ixj > t:
                    if t & kk == 0 and s[t] > s[ixj] or (t & kk != 0 and s[t] < s[ixj]):
                        s[t], s[ixj] = (s[ixj], s[t])
                cuda.syncthreads()
                j >>= 1
            kk <<= 1
        a[t] = s[t]

    a = np.random.RandomState(0).rand(128).astype('f4')
    e = np.sort(a)
    k[1, 128](a)
    eq(a, e)


def test_cmath_k():
    import cmath

    @cuda.jit
    def k(z, o):
        i = cuda.grid(1)
        o[i] = cmath.exp(z[i]) + cmath.sqrt(z[i]) + cmath.phase(z[i])

    z = np.array([1 + 2j, 0.5j])
    o = np.zeros(2, complex)
    k[1, 2](z, o)
    close(o, [cmath.exp(v) + cmath.sqrt(v) + cmath.phase(v) for v in z])


def test_int_bitcount():
    @cuda.jit
    def k(o):
        i = cuda.grid(1)
        o[i] = i.bit_count()

    o = np.zeros(8)
    k[1, 8](o)
    eq(o, [bin(i).count('1') for i in range(8)])


def test_pass_scalar_types():
    @cuda.jit
    def k(o, a, b, c, d):
        o[0] = a + b + c + d.real

    o = np.zeros(1)
    k[1, 1](o, np.float32(1), np.int8(2), np.uint64(3), np.complex64(4))
    eq(o, 10)


def test_float16_scalar_arg():
    @cuda.jit
    def k(o, a):
        o[0] = a * 2

    o = np.zeros(1, np.float16)
    k[1, 1](o, np.float16(1.5))
    eq(o, 3)


def test_aug_assign_everywhere():
    @cuda.jit
    def k(a):
        i = cuda.grid(1)
        a[i] += 1
        a[i] -= 2
        a[i] *= 3
        a[i] /= 2
        a[i] //= 1
        a[i] %= 7
        a[i] **= 2

    a = np.arange(4.0)
    e = a.copy()
    e += 1
    e -= 2
    e *= 3
    e /= 2
    e //= 1
    e %= 7
    e **= 2
    k[1, 4](a)
    close(a, e)


def test_np_minmax_clip_where():
    @cuda.jit
    def k(a, o):
        i = cuda.grid(1)
        o[i] = np.minimum(a[i], 2) + np.maximum(a[i], 1) + np.where(a[i] > 1, 10, 20) + np.clip(a[i], 1, 2)

    a = np.arange(4.0)
    o = np.zeros(4)
    k[1, 4](a, o)
    eq(o, np.minimum(a, 2) + np.maximum(a, 1) + np.where(a > 1, 10, 20) + np.clip(a, 1, 2))
