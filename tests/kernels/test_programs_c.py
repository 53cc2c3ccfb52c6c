"""Small programs of the habits that years with numba.cuda leave: declarations, devices, memory;
each against NumPy or a closed form.  On the GPU if there is one, else on the host device.

PYTEST_DONT_REWRITE: kernels are taken as they are written.
"""

import math
from collections import namedtuple

import numpy as np
from kernel_programs import close, eq, inc, raises

import krait
from krait import boolean, cuda, float32, float64, guvectorize, int32, int64, njit, types, vectorize, void


def test_declaration_sig_string():
    @cuda.jit('void(float32[:], float32)')
    def k(a, s):
        i = cuda.grid(1)
        if i < a.shape[0]:
            a[i] *= s

    a = np.arange(10, dtype=np.float32)
    k[1, 32](a, 2.0)
    eq(a, np.arange(10) * 2)


def test_declaration_sig_list():
    @cuda.jit(['void(float32[:])', 'void(float64[:])'])
    def k(a):
        i = cuda.grid(1)
        if i < a.size:
            a[i] += 1

    for t in (np.float32, np.float64):
        a = np.zeros(5, t)
        k[1, 32](a)
        eq(a, 1)

    assert len(k.overloads) == 2


def test_declaration_sig_types():
    @cuda.jit(void(float32[:], int32))
    def k(a, n):
        i = cuda.grid(1)
        if i < n:
            a[i] += 1

    a = np.zeros(5, np.float32)
    k[1, 32](a, 5)
    eq(a, 1)


def test_declaration_sig_tuple():
    @cuda.jit((float32[:], int32))
    def k(a, n):
        i = cuda.grid(1)
        if i < n:
            a[i] += 1

    a = np.zeros(5, np.float32)
    k[1, 32](a, 5)
    eq(a, 1)


def test_declaration_types_module():
    @cuda.jit(types.void(types.float32[::1], types.Array(types.int32, 1, 'C')))
    def k(a, n):
        i = cuda.grid(1)
        if i < n.size:
            a[i] += n[i]

    a = np.zeros(5, np.float32)
    k[1, 32](a, np.arange(5, dtype=np.int32))
    eq(a, np.arange(5))


def test_wrong_type_for_sig():
    @cuda.jit('void(float32[:])')
    def k(a):
        a[0] = 1

    raises(TypeError, lambda: k[1, 1](np.zeros(3, np.complex64)))


def test_kernel_returning_value_refused():
    @cuda.jit
    def k(a):
        return a[0]

    e = raises(Exception, lambda: k[1, 1](np.zeros(3)))
    assert isinstance(e, (TypeError, krait.errors.KraitError)), e
    from krait.core.errors import TypingError
    assert isinstance(e, TypingError), type(e).__mro__


def test_device_fn_inline():
    @cuda.jit(device=True, inline='always')
    def f(a, b):
        return a + b

    @cuda.jit(device=True, inline=True)
    def g(a, b):
        return a - b

    @cuda.jit
    def k(x):
        i = cuda.grid(1)
        x[i] = f(x[i], 2) + g(x[i], 1)

    x = np.arange(4.0)
    k[1, 4](x)
    eq(x, 2 * np.arange(4) + 1)


def test_device_fn_sig():
    @cuda.jit('float32(float32,float32)', device=True)
    def f(a, b):
        return a + b

    @cuda.jit
    def k(x):
        i = cuda.grid(1)
        x[i] = f(x[i], 2)

    x = np.arange(4, dtype=np.float32)
    k[1, 4](x)
    eq(x, np.arange(4) + 2)


def test_njit_fn_from_kernel():
    @njit
    def f(a, b):
        return a + b

    @cuda.jit
    def k(x):
        i = cuda.grid(1)
        x[i] = f(x[i], 2)

    x = np.arange(4.0)
    k[1, 4](x)
    eq(x, np.arange(4) + 2)


def test_device_multiple_returns():
    @cuda.jit(device=True)
    def mm(a, b):
        if a < b:
            return (a, b)
        return (b, a)

    @cuda.jit
    def k(x, y):
        i = cuda.grid(1)
        x[i], y[i] = mm(x[i], y[i])

    x = np.array([1.0, 5.0])
    y = np.array([2.0, 3.0])
    k[1, 2](x, y)
    eq(x, [1, 3])
    eq(y, [2, 5])


def test_boolean_return():
    @cuda.jit('boolean(int64)', device=True)
    def even(n):
        return n % 2 == 0

    @cuda.jit
    def k(o):
        i = cuda.grid(1)
        o[i] = even(i)

    o = np.zeros(6, np.bool_)
    k[1, 6](o)
    eq(o, [1, 0, 1, 0, 1, 0])


def test_recursion_fib():
    @cuda.jit(device=True)
    def fib(n):
        if n < 2:
            return n
        return fib(n - 1) + fib(n - 2)

    @cuda.jit
    def k(o):
        i = cuda.grid(1)
        o[i] = fib(i)

    o = np.zeros(10, np.int64)
    k[1, 10](o)
    eq(o, [0, 1, 1, 2, 3, 5, 8, 13, 21, 34])


def test_self_recursion_sig():
    @cuda.jit('int64(int64)', device=True)
    def fact(n):
        if n < 2:
            return 1
        return n * fact(n - 1)

    @cuda.jit
    def k(o):
        i = cuda.grid(1)
        o[i] = fact(i)

    o = np.zeros(10, np.int64)
    k[1, 10](o)
    eq(o, [math.factorial(i) for i in range(10)])


def test_dims3():
    @cuda.jit
    def k(o):
        x, y, z = cuda.grid(3)
        sx, sy, sz = cuda.gridsize(3)
        if x < o.shape[0] and y < o.shape[1] and (z < o.shape[2]):
            o[x, y, z] = x * 10000 + y * 100 + z + 0 * sx

    o = np.zeros((5, 6, 7))
    k[(2, 2, 2), (4, 4, 4)](o)
    e = np.fromfunction(lambda x, y, z: x * 10000 + y * 100 + z, (5, 6, 7))
    eq(o, e)


def test_block_idx_by_hand():
    @cuda.jit
    def k(o):
        tx = cuda.threadIdx.x
        ty = cuda.threadIdx.y
        bx = cuda.blockIdx.x
        by = cuda.blockIdx.y
        bw = cuda.blockDim.x
        bh = cuda.blockDim.y
        x = tx + bx * bw
        y = ty + by * bh
        if x < o.shape[0] and y < o.shape[1]:
            o[x, y] = x - y

    o = np.zeros((9, 5))
    tpb = (4, 4)
    bpg = (math.ceil(9 / 4), math.ceil(5 / 4))
    k[bpg, tpb](o)
    eq(o, np.arange(9)[:, None] - np.arange(5))


def test_grid_stride():
    @cuda.jit
    def k(a):
        for i in range(cuda.grid(1), a.size, cuda.gridsize(1)):
            a[i] = i

    a = np.zeros(1000)
    k[2, 32](a)
    eq(a, np.arange(1000))


def test_forall():
    @cuda.jit
    def k(a, b):
        i = cuda.grid(1)
        if i < len(a):
            a[i] = b[i] * 2

    a = np.zeros(777)
    k.forall(777)(a, np.arange(777.0))
    eq(a, 2 * np.arange(777))
    s = cuda.stream()
    k.forall(len(a), tpb=64, stream=s, sharedmem=0)(a, a)
    s.synchronize()


def test_launch_np_dims():
    @cuda.jit
    def k(a):
        a[cuda.grid(1)] = 1

    a = np.zeros(64)
    k[np.int64(2), np.int32(32)](a)
    eq(a, 1)
    k[(np.int64(2),), (np.int32(32),)](a)


def test_launch_float_dims_refused():
    @cuda.jit
    def k(a):
        a[cuda.grid(1)] = 1

    raises(TypeError, lambda: k[2.0, 32](np.zeros(64)))


def test_zero_grid_refused():
    @cuda.jit
    def k(a):
        a[0] = 1

    raises(Exception, lambda: k[0, 32](np.zeros(64)))


def test_missing_args():
    @cuda.jit
    def k(a, b):
        a[0] = b

    raises(TypeError, lambda: k[1, 1](np.zeros(2)))
    raises(TypeError, lambda: k[1, 1](np.zeros(2), 1, 2))


def test_defaults_and_keywords():
    @cuda.jit
    def k(a, b=3, *, c=1):
        a[0] = b * 10 + c

    a = np.zeros(1)
    k[1, 1](a)
    eq(a, 31)
    k[1, 1](a, b=4)
    eq(a, 41)
    k[1, 1](a, 5, c=2)
    eq(a, 52)


def test_varargs_kernel():
    @cuda.jit
    def k(o, *args):
        s = 0
        for a in args:
            s += a
        o[0] = s

    o = np.zeros(1)
    k[1, 1](o, 1, 2, 3.5)
    eq(o, 6.5)


def test_none_arg():
    @cuda.jit
    def k(o, b):
        if b is None:
            o[0] = 1
        else:
            o[0] = b[0]

    o = np.zeros(1)
    k[1, 1](o, None)
    eq(o, 1)
    k[1, 1](o, np.full(1, 7.0))
    eq(o, 7)


def test_bool_arg():
    @cuda.jit
    def k(o, flag):
        o[0] = 1 if flag else 2

    o = np.zeros(1)
    k[1, 1](o, True)
    eq(o, 1)
    k[1, 1](o, np.bool_(False))
    eq(o, 2)


def test_unituple_index():
    @cuda.jit
    def k(o, t):
        for i in range(len(t)):
            o[i] = t[i] * 2

    o = np.zeros(3)
    k[1, 1](o, (1.5, 2.5, 3.5))
    eq(o, [3, 5, 7])


def test_tuple_of_arrays():
    @cuda.jit
    def k(t):
        i = cuda.grid(1)
        t[0][i] = t[1][i] * 2

    a = np.zeros(3)
    b = np.arange(3.0)
    k[1, 3]((a, b))
    eq(a, 2 * b)


def test_namedtuple_arg():
    from collections import namedtuple
    P = namedtuple('P', 'x y')

    @cuda.jit
    def k(o, q):
        o[0] = q.x
        o[1] = q.y

    o = np.zeros(2)
    k[1, 1](o, P(3, 4.5))
    eq(o, [3, 4.5])


def test_namedtuple_arrays():
    from collections import namedtuple
    P = namedtuple('P', 'pos vel')

    @cuda.jit
    def k(q, dt):
        i = cuda.grid(1)
        q.pos[i] += q.vel[i] * dt

    q = P(cuda.to_device(np.zeros(4)), cuda.to_device(np.arange(4.0)))
    k[1, 4](q, 0.5)
    eq(q.pos.copy_to_host(), np.arange(4) * 0.5)


def test_complex_kernel():
    @cuda.jit
    def k(z, c):
        i = cuda.grid(1)
        z[i] = z[i] * c + z[i].conjugate()

    z = (np.arange(4) + 1j * np.arange(4)).astype(np.complex64)
    r = z * (2 + 1j) + z.conj()
    k[1, 4](z, np.complex64(2 + 1j))
    close(z, r)


def test_complex_parts():
    @cuda.jit
    def k(z, o):
        i = cuda.grid(1)
        o[i] = z[i].real + z[i].imag * abs(z[i])

    z = np.array([3 + 4j, 1j, 2])
    o = np.zeros(3)
    k[1, 3](z, o)
    close(o, z.real + z.imag * abs(z))


def test_enum_int():
    from enum import IntEnum, Enum

    class C(IntEnum):
        RED = 1
        BLUE = 2

    class D(Enum):
        A = 10
        B = 20

    @cuda.jit
    def k(x, o):
        i = cuda.grid(1)
        if x[i] == C.RED:
            o[i] = 10
        elif x[i] == C.BLUE:
            o[i] = 20
        o[i] += D.A.value

    o = np.zeros(3)
    k[1, 3](np.array([1, 2, 3]), o)
    eq(o, [20, 30, 10])


def test_enum_arg():
    from enum import IntEnum

    class C(IntEnum):
        RED = 1
        BLUE = 2

    @cuda.jit
    def k(o, c):
        o[0] = 5 if c == C.RED else 6

    o = np.zeros(1)
    k[1, 1](o, C.BLUE)
    eq(o, 6)


def test_records():
    dt = np.dtype([('x', np.float32), ('y', np.int64)])

    @cuda.jit
    def k(r):
        i = cuda.grid(1)
        r[i].x = i
        r[i]['y'] = 2 * i
        r.x[i] += 1

    r = np.zeros(4, dt)
    k[1, 4](r)
    eq(r['x'], np.arange(4) + 1)
    eq(r['y'], 2 * np.arange(4))


def test_record_scalar_arg():
    dt = np.dtype([('x', np.float32), ('y', np.int64)], align=True)

    @cuda.jit
    def k(o, r):
        o[0] = r.x
        o[1] = r['y']

    o = np.zeros(2)
    a = np.array([(1.5, 7)], dt)
    k[1, 1](o, a[0])
    eq(o, [1.5, 7])


def test_record_nested_array():
    dt = np.dtype([('v', np.float32, (3,)), ('n', [('a', np.int32), ('b', np.int32, (2, 2))])], align=True)

    @cuda.jit
    def k(r):
        i = cuda.grid(1)
        for j in range(3):
            r[i].v[j] = i * 10 + j
        r[i].n.a = i
        r[i]['n']['b'][1, 0] = i + 5

    r = np.zeros(3, dt)
    k[1, 3](r)
    eq(r['v'], np.arange(3)[:, None] * 10 + np.arange(3))
    eq(r['n']['a'], range(3))
    eq(r['n']['b'][:, 1, 0], [5, 6, 7])


def test_record_copy_elements():
    dt = np.dtype([('x', np.float32), ('y', np.int64)])

    @cuda.jit
    def k(a, b):
        i = cuda.grid(1)
        b[i] = a[i]

    a = np.zeros(3, dt)
    a['x'] = [1, 2, 3]
    b = np.zeros(3, dt)
    k[1, 3](a, b)
    eq(a, b)


def test_record_shared_local():
    dt = np.dtype([('x', np.float32), ('y', np.int32)])
    rt = krait.from_dtype(dt)

    @cuda.jit
    def k(a, b):
        s = cuda.shared.array(4, dtype=rt)
        l = cuda.local.array(2, dtype=rt)
        i = cuda.threadIdx.x
        s[i].x = a[i].x * 2
        s[i].y = a[i].y + 1
        cuda.syncthreads()
        l[0].x = s[3 - i].x
        l[0].y = s[3 - i].y
        b[i].x = l[0].x
        b[i].y = l[0].y

    a = np.zeros(4, dt)
    a['x'] = range(4)
    a['y'] = range(4)
    b = np.zeros(4, dt)
    k[1, 4](a, b)
    eq(b['x'], [6, 4, 2, 0])
    eq(b['y'], [4, 3, 2, 1])


def test_recarray():
    a = np.recarray(3, dtype=[('x', 'f8'), ('y', 'i4')])
    a.x = 0
    a.y = 0

    @cuda.jit
    def k(r):
        i = cuda.grid(1)
        r[i].x = i + 0.5
        r.y[i] = i

    k[1, 3](a)
    eq(a.x, [0.5, 1.5, 2.5])
    eq(a.y, range(3))


def test_char_view_uint8():
    s = np.frombuffer(b'hello world', np.uint8).copy()

    @cuda.jit
    def k(s, cnt):
        i = cuda.grid(1)
        if i < s.size:
            if s[i] == ord('o'):
                cuda.atomic.add(cnt, 0, 1)
            if 97 <= s[i] <= 122:
                s[i] -= 32

    c = np.zeros(1, np.int32)
    k[1, 32](s, c)
    assert s.tobytes() == b'HELLO WORLD' and c[0] == 2


def test_char_record():
    dt = np.dtype([('name', 'S8'), ('n', 'i4')])
    a = np.array([(b'bob', 1), (b'alice', 2)], dt)

    @cuda.jit
    def k(a, o):
        i = cuda.grid(1)
        o[i] = len(a[i].name)

    o = np.zeros(2)
    k[1, 2](a, o)
    eq(o, [3, 5])


def test_datetimes():
    a = np.array(['2020-01-01', '2021-06-05'], 'M8[D]')
    b = np.zeros(2, 'm8[D]')

    @cuda.jit
    def k(a, b):
        i = cuda.grid(1)
        b[i] = a[i] - a[0]

    k[1, 2](a, b)
    eq(b, a - a[0])


def test_datetime_const():
    ref = np.datetime64('2020-01-01', 'D')
    a = np.array(['2020-01-01', '2021-06-05'], 'M8[D]')
    b = np.zeros(2, np.bool_)

    @cuda.jit
    def k(a, b):
        i = cuda.grid(1)
        b[i] = a[i] > ref

    k[1, 2](a, b)
    eq(b, a > ref)


def test_shared_matmul():
    TPB = 8

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

    x_h = np.arange(115).reshape([5, 23])
    y_h = np.ones([23, 7])
    z_h = np.zeros([5, 7])
    x_d = cuda.to_device(x_h)
    y_d = cuda.to_device(y_h)
    z_d = cuda.to_device(z_h)
    threadsperblock = (TPB, TPB)
    m = max(5, 23, 7)
    b = (math.ceil(m / TPB),) * 2
    fast_matmul[b, threadsperblock](x_d, y_d, z_d)
    close(z_d.copy_to_host(), x_h @ y_h)


def test_dynamic_shared():
    @cuda.jit
    def k(a):
        s = cuda.shared.array(shape=0, dtype=np.float64)
        i = cuda.threadIdx.x
        s[i] = a[i]
        cuda.syncthreads()
        a[i] = s[a.size - 1 - i]

    a = np.arange(32.0)
    k[1, 32, 0, 32 * 8](a)
    eq(a, np.arange(32)[::-1])


def test_dynamic_shared_views():
    @cuda.jit
    def f(ref):
        f32_arr = cuda.shared.array(0, dtype=float32)
        i32_arr = cuda.shared.array(0, dtype=int32)[1:]
        f32_arr[0] = 3.14
        ref[0] = f32_arr[0]
        i32_arr[0] = 5
        ref[1] = i32_arr[0]

    r = np.zeros(2)
    f[1, 1, 0, 8](r)
    close(r, [3.14, 5], rtol=1e-06)


def test_local_arr():
    @cuda.jit
    def k(a):
        l = cuda.local.array(shape=(3, 2), dtype=float64)
        i = cuda.grid(1)
        for j in range(3):
            for m in range(2):
                l[j, m] = i + j * m
        s = 0.0
        for j in range(3):
            for m in range(2):
                s += l[j, m]
        a[i] = s

    a = np.zeros(4)
    k[1, 4](a)
    eq(a, 6 * np.arange(4) + 3)


def test_const_arr():
    C = np.arange(10, dtype=np.float32)

    @cuda.jit
    def k(a):
        c = cuda.const.array_like(C)
        i = cuda.grid(1)
        a[i] = c[i] + 1

    a = np.zeros(10)
    k[1, 10](a)
    eq(a, C + 1)


def test_const_record():
    C = np.array([(1.5, 2), (2.5, 3)], [('x', 'f4'), ('y', 'i4')])

    @cuda.jit
    def k(a):
        c = cuda.const.array_like(C)
        i = cuda.grid(1)
        a[i] = c[i].x * c[i].y

    a = np.zeros(2)
    k[1, 2](a)
    eq(a, [3, 7.5])


def test_global_array_capture():
    G = np.arange(5.0)

    @cuda.jit
    def k(a):
        i = cuda.grid(1)
        a[i] = G[i] * 2

    a = np.zeros(5)
    k[1, 5](a)
    eq(a, G * 2)


def test_shape_from_closure():
    def make(n):
        @cuda.jit
        def k(a):
            s = cuda.shared.array((n, n + 1), dtype=np.float32)
            s[cuda.threadIdx.x, 0] = cuda.threadIdx.x
            cuda.syncthreads()
            a[cuda.threadIdx.x] = s[n - 1 - cuda.threadIdx.x, 0] + s.shape[1]
        return k

    for n in (4, 8):
        a = np.zeros(n)
        make(n)[1, n](a)
        eq(a, np.arange(n)[::-1] + n + 1)


def test_atomics_all():
    @cuda.jit
    def k(a, f, x):
        i = cuda.grid(1)
        cuda.atomic.add(a, 0, 1)
        cuda.atomic.sub(a, 1, 1)
        cuda.atomic.max(a, 2, i)
        cuda.atomic.min(a, 3, -i)
        cuda.atomic.and_(a, 4, ~(1 << i))
        cuda.atomic.or_(a, 5, 1 << i)
        cuda.atomic.xor(a, 6, 1 << i)
        cuda.atomic.add(f, (0, 1), 0.5)
        cuda.atomic.nanmax(f, (1, 0), x[i])
        cuda.atomic.nanmin(f, (1, 1), x[i])

    a = np.zeros(8, np.int32)
    a[4] = -1
    f = np.zeros((2, 2))
    f[1] = np.nan
    x = np.array([3.0, np.nan, 7, -2])
    k[1, 4](a, f, x)
    eq(a[:7], [4, -4, 3, -3, -16, 15, 15])
    eq(f, [[0, 2], [7, -2]])


def test_atomic_returns_old():
    @cuda.jit
    def k(a, o):
        i = cuda.grid(1)
        o[cuda.atomic.add(a, 0, 1)] = 1

    a = np.zeros(1, np.int64)
    o = np.zeros(64)
    k[2, 32](a, o)
    eq(o, 1)


def test_atomic_inc_dec_exch():
    @cuda.jit
    def k(a):
        cuda.atomic.inc(a, 0, 5)
        cuda.atomic.dec(a, 1, 5)
        cuda.atomic.exch(a, 2, 9)

    a = np.array([4, 0, 1], np.uint32)
    k[1, 1](a)
    eq(a, [5, 5, 9])


def test_atomic_compare_and_swap():
    @cuda.jit
    def k(a, o):
        i = cuda.grid(1)
        o[i] = cuda.atomic.compare_and_swap(a[i:], -1, i)

    a = np.array([-1, 5, -1], np.int32)
    o = np.zeros(3, np.int32)
    k[1, 3](a, o)
    eq(a, [0, 5, 2])
    eq(o, [-1, 5, -1])


def test_histogram_2d():
    @cuda.jit
    def k(x, h):
        s = cuda.shared.array(16, int32)
        t = cuda.threadIdx.x
        if t < 16:
            s[t] = 0
        cuda.syncthreads()
        i = cuda.grid(1)
        if i < x.size:
            cuda.atomic.add(s, x[i] % 16, 1)
        cuda.syncthreads()
        if t < 16:
            cuda.atomic.add(h, t, s[t])

    x = np.random.RandomState(0).randint(0, 16, 1000).astype(np.uint8)
    h = np.zeros(16, np.int32)
    k[8, 128](x, h)
    eq(h, np.bincount(x, minlength=16))


def test_warp_shfl():
    @cuda.jit
    def k(a):
        i = cuda.grid(1)
        v = a[i]
        v2 = cuda.shfl_sync(-1, v, 0)
        v3 = cuda.shfl_up_sync(-1, v, 1)
        v4 = cuda.shfl_down_sync(-1, v, 1)
        v5 = cuda.shfl_xor_sync(-1, v, 16)
        a[i] = v2 * 1000000 + v3 * 10000 + v4 * 100 + v5

    a = np.arange(32)
    k[1, 32](a)
    i = np.arange(32)
    eq(a, np.maximum(i - 1, 0) * 10000 + np.minimum(i + 1, 31) * 100 + (i ^ 16))


def test_warp_votes():
    @cuda.jit
    def k(o):
        i = cuda.laneid
        o[0] = cuda.all_sync(4294967295, i < 32)
        o[1] = cuda.any_sync(4294967295, i == 3)
        o[2] = cuda.eq_sync(4294967295, i == 3)
        o[3] = cuda.ballot_sync(4294967295, i % 2)
        o[4] = cuda.match_any_sync(4294967295, 5)
        m, pr = cuda.match_all_sync(4294967295, 5)
        o[5] = m
        o[6] = pr
        o[7] = cuda.activemask()

    o = np.zeros(8, np.int64)
    k[1, 32](o)
    eq(o, [1, 1, 0, 2863311530, 4294967295, 4294967295, 1, 4294967295])


def test_sync_counts():
    @cuda.jit
    def k(o):
        i = cuda.threadIdx.x
        c = cuda.syncthreads_count(i < 10)
        a = cuda.syncthreads_and(i < 10)
        b = cuda.syncthreads_or(i < 10)
        if i == 0:
            o[0] = c
            o[1] = a
            o[2] = b

    o = np.zeros(3)
    k[1, 64](o)
    eq(o[:1], 10)
    assert o[1] == 0 and o[2] != 0


def test_rand_3d():
    from krait.cuda.random import create_xoroshiro128p_states, xoroshiro128p_normal_float32

    @cuda.jit
    def k(st, o):
        x, y, z = cuda.grid(3)
        X, Y, Z = cuda.gridsize(3)
        tid = z * X * Y + y * X + x
        o[z, y, x] = xoroshiro128p_normal_float32(st, tid)

    st = create_xoroshiro128p_states(512, seed=3, subsequence_start=2, stream=0)
    o = np.zeros((8, 8, 8))
    k[(2, 2, 2), (4, 4, 4)](st, o)
    assert abs(o.mean()) < 0.2 and 0.8 < o.std() < 1.2


def test_init_states():
    from krait.cuda.random import init_xoroshiro128p_states, xoroshiro128p_dtype, create_xoroshiro128p_states
    s = cuda.device_array(10, dtype=xoroshiro128p_dtype)
    init_xoroshiro128p_states(s, 7)
    eq(s.copy_to_host(), create_xoroshiro128p_states(10, 7).copy_to_host())
    h = np.empty(10, xoroshiro128p_dtype)


def test_math_two():
    fs = [math.atan2, math.pow, math.copysign, math.fmod, math.hypot, math.remainder, math.nextafter]
    for f in fs:
        @cuda.jit
        def k(x, y, o):
            i = cuda.grid(1)
            if i < x.size:
                o[i] = f(x[i], y[i])
        x = np.linspace(0.1, 0.9, 9)
        y = np.linspace(2, -2.5, 9)
        o = np.zeros(9)
        k[1, 16](x, y, o)
        close(o, [f(a, b) for a, b in zip(x, y)], rtol=1e-12)


def test_math_tuple():
    @cuda.jit
    def k(x, o):
        m, e = math.frexp(x[0])
        o[0] = m
        o[1] = e
        a, b = math.modf(x[0])
        o[2] = a
        o[3] = b
        o[4] = math.ldexp(1.5, 3)
        o[5] = math.isnan(x[0])
        o[6] = math.isinf(x[0])
        o[7] = math.isfinite(x[0])

    o = np.zeros(8)
    k[1, 1](np.array([6.75]), o)
    eq(o, [*math.frexp(6.75), *math.modf(6.75), 12, 0, 0, 1])


def test_np_ufunc_arrays_in_kernel():
    @cuda.jit
    def k(r, x):
        np.sin(x, r)

    x = np.linspace(0, 1, 8)
    r = np.zeros(8)
    k[1, 1](r, x)
    close(r, np.sin(x))


def test_libdevice_use():
    from krait.cuda import libdevice

    @cuda.jit
    def k(x, o):
        i = cuda.grid(1)
        o[i] = libdevice.fast_sinf(x[i]) + libdevice.rsqrtf(x[i])

    x = np.linspace(0.5, 1, 4).astype(np.float32)
    o = np.zeros(4, np.float32)
    k[1, 4](x, o)
    close(o, np.sin(x) + 1 / np.sqrt(x), rtol=1e-05)


def test_int_intrinsics():
    @cuda.jit
    def k(o, v):
        o[0] = cuda.popc(v)
        o[1] = cuda.clz(v)
        o[2] = cuda.ffs(v)
        o[3] = cuda.brev(v)
        o[4] = cuda.selp(v > 3, 1, 2)
        o[5] = cuda.fma(2.0, 3.0, 4.0)
        o[6] = cuda.cbrt(27.0)

    o = np.zeros(7)
    k[1, 1](o, np.uint32(88))
    eq(o[:5], [3, 25, 4, int(f'{88:032b}'[::-1], 2), 1])
    close(o[5:], [10, 3])


def test_fp16_basic():
    @cuda.jit
    def k(a, b, o):
        i = cuda.grid(1)
        o[i] = cuda.fp16.hfma(a[i], b[i], a[i]) + cuda.fp16.hadd(a[i], b[i]) * a[i] - cuda.fp16.hsqrt(b[i])

    a = np.array([1, 2, 3], np.float16)
    b = np.array([4, 9, 16], np.float16)
    o = np.zeros(3, np.float16)
    k[1, 3](a, b, o)
    close(o, a * b + a + (a + b) * a - np.sqrt(b), rtol=0.001)


def test_bf16_basic():
    from krait.cuda import bf16
    from krait.cuda.bf16 import bfloat16

    @cuda.jit
    def k(o):
        a = bfloat16(1.5)
        b = bfloat16(2.0)
        o[0] = float32(a * b + a)

    o = np.zeros(1, np.float32)
    k[1, 1](o)
    eq(o, 4.5)


def test_vector_types():
    @cuda.jit
    def k(o):
        v = cuda.float32x4(1, 2, 3, 4)
        w = cuda.float3(cuda.float2(5, 6), 7)
        u = cuda.int32x3(1, 2, 3)
        o[0] = v.x + v.y + v.z + v.w
        o[1] = w.x * w.z
        o[2] = u.y

    o = np.zeros(3)
    k[1, 1](o)
    eq(o, [10, 35, 2])


def test_to_device_and_back():
    a = np.arange(10)
    d = cuda.to_device(a)
    eq(d.copy_to_host(), a)
    h = np.empty_like(a)
    d.copy_to_host(h)
    eq(h, a)
    assert d.shape == (10,) and d.dtype == a.dtype


def test_to_device_to():
    a = np.arange(10.0)
    d = cuda.device_array_like(a)
    r = cuda.to_device(a, to=d)
    eq(d.copy_to_host(), a)
    assert r is d


def test_to_device_nocopy():
    a = np.arange(10.0)
    d = cuda.to_device(a, copy=False)
    assert d.shape == (10,)


def test_to_device_stream():
    s = cuda.stream()
    d = cuda.to_device(np.arange(10.0), stream=s)
    inc[1, 32, s](d)
    h = d.copy_to_host(stream=s)
    s.synchronize()
    eq(h, np.arange(10) + 1)


def test_to_device_readonly():
    a = np.arange(10.0)
    a.flags.writeable = False
    d = cuda.to_device(a)
    eq(d.copy_to_host(), a)


def test_to_device_scalar0d():
    d = cuda.to_device(np.array(5.0))
    assert d.shape == () and d.copy_to_host() == 5


def test_to_device_list():
    d = cuda.to_device([1, 2, 3])
    eq(d.copy_to_host(), [1, 2, 3])


def test_to_device_noncontig():
    a = np.arange(24.0).reshape(4, 6)
    raises(ValueError, lambda: cuda.to_device(a[:, ::2])) if False else None
    d = cuda.to_device(a.T)
    eq(d.copy_to_host(), a.T)
    assert d.strides == a.T.strides
    d = cuda.to_device(np.ascontiguousarray(a[:, ::2]))
    eq(d.copy_to_host(), a[:, ::2])


def test_device_array_forms():
    d = cuda.device_array((2, 3))
    assert d.dtype == np.float64
    d = cuda.device_array(5, np.int8, order='C', stream=0)
    d = cuda.device_array(shape=(3, 4), dtype='float32', strides=None, order='F')
    assert d.strides == (4, 12)
    d = cuda.device_array_like(np.zeros((2, 2), np.complex64))
    assert d.dtype == np.complex64


def test_pinned_forms():
    a = cuda.pinned_array(10, np.float32)
    a[:] = 1
    assert isinstance(a, np.ndarray)
    d = cuda.to_device(a)
    eq(d.copy_to_host(), 1)
    b = cuda.pinned_array_like(a)
    assert b.shape == a.shape
    with cuda.pinned(np.zeros(5), np.zeros(3)):
        pass


def test_mapped_forms():
    a = cuda.mapped_array(10, np.float32, strides=None, order='C', stream=0, portable=False, wc=True)
    a[:] = 1
    inc[1, 32](a)
    cuda.synchronize()
    eq(a, 2)
    b = cuda.mapped_array_like(a)
    b[:] = 0
    h = np.zeros(10)
    with cuda.mapped(h) as d:
        inc[1, 32](d)
        cuda.synchronize()

    eq(h, 1)


def test_managed_forms():
    a = cuda.managed_array(10, np.float32, strides=None, order='C', stream=0, attach_global=True)
    a[:] = 1
    inc[1, 32](a)
    cuda.synchronize()
    eq(a, 2)


def test_dev_slice_set():
    d = cuda.to_device(np.zeros((3, 4)))
    d[1] = 5
    d[0, 2:] = np.array([1.0, 2])
    d[2, 0] = 7
    e = np.zeros((3, 4))
    e[1] = 5
    e[0, 2:] = [1, 2]
    e[2, 0] = 7
    eq(d.copy_to_host(), e)
    assert d[2, 0] == 7
    eq(d[1:, 1].copy_to_host(), e[1:, 1])
    eq(d[::2].copy_to_host(), e[::2])


def test_dev_setitem_from_device():
    d = cuda.to_device(np.zeros(10))
    s = cuda.to_device(np.arange(5.0))
    d[2:7] = s
    eq(d.copy_to_host()[2:7], np.arange(5))
    d.setitem(0, 9.0, stream=0)
    assert d.getitem(0, stream=0) == 9


def test_copy_to_device_meth():
    d = cuda.device_array(5)
    d.copy_to_device(np.arange(5.0))
    eq(d.copy_to_host(), range(5))
    e = cuda.device_array(5)
    e.copy_to_device(d, stream=0)
    eq(e.copy_to_host(), range(5))
    raises(ValueError, d.copy_to_device, np.arange(6.0))


def test_streams_events():
    s = cuda.stream()
    e1 = cuda.event()
    e2 = cuda.event(timing=True)
    d = cuda.to_device(np.zeros(10), stream=s)
    e1.record(s)
    inc[1, 32, s](d)
    e2.record(stream=s)
    e2.synchronize()
    t = cuda.event_elapsed_time(e1, e2)
    assert t >= 0
    assert e1.elapsed_time(e2) >= 0
    e1.wait(s)
    e2.query()
    with s.auto_synchronize():
        inc[1, 32, s](d)

    eq(d.copy_to_host(), 2)
    s.handle
    cuda.default_stream()
    cuda.legacy_default_stream()
    cuda.per_thread_default_stream()
    assert isinstance(bool(cuda.default_stream()), bool)
    inc[1, 32, 0](d)


def test_reduce():
    @cuda.reduce
    def sum_reduce(a, b):
        return a + b

    A = np.arange(1234, dtype=np.float64) + 1
    assert sum_reduce(A) == A.sum()
    sr = cuda.reduce(lambda a, b: a + b)
    assert sr(A, init=5.0) == A.sum() + 5
    assert sr(A, size=10) == 55
    res = cuda.device_array(1, np.float64)
    assert sr(cuda.to_device(A), res=res) is None
    assert res[0] == A.sum()
    mx = cuda.Reduce(lambda a, b: max(a, b))
    assert mx(A, stream=cuda.stream()) == 1234
    assert sr(np.array([], np.float64), init=3.0) == 3


def test_reduce_max_int():
    @cuda.reduce
    def m(a, b):
        return a if a > b else b

    x = np.random.RandomState(1).randint(-100, 100, 5000)
    assert m(x, init=-1000) == x.max()


def test_vec_cuda():
    @vectorize(['float32(float32,float32)', 'float64(float64,float64)'], target='cuda')
    def f(a, b):
        return a * b + 1

    a = np.arange(10, dtype=np.float32)
    eq(f(a, a), a * a + 1)
    d = cuda.to_device(a)
    r = f(d, d)
    assert cuda.is_cuda_array(r)
    eq(r.copy_to_host(), a * a + 1)
    o = cuda.device_array(10, np.float32)
    f(d, d, out=o)
    eq(o.copy_to_host(), a * a + 1)
    assert f(2.0, 3.0) == 7
    eq(f(a.reshape(2, 5), np.arange(5, dtype=np.float32)), a.reshape(2, 5) * np.arange(5) + 1)
    f(d, d, out=o, stream=cuda.stream())


def test_vec_cuda_reduce():
    @vectorize(['int64(int64,int64)'], target='cuda')
    def f(a, b):
        return a + b

    assert f.reduce(np.arange(100)) == 4950


def test_vec_cuda_device_fn():
    @cuda.jit('float32(float32)', device=True)
    def g(x):
        return x * 2

    @vectorize(['float32(float32)'], target='cuda')
    def f(a):
        return g(a) + 1

    f.max_blocksize = 32
    eq(f(np.arange(4, dtype=np.float32)), 2 * np.arange(4) + 1)


def test_vec_polar():
    import cmath

    @vectorize(['float32(float32, float32, float32)'], target='cuda')
    def cu_discriminant(a, b, c):
        return math.sqrt(b ** 2 - 4 * a * c)

    r = np.random.RandomState(0)
    A = r.rand(100).astype('f4')
    B = (r.rand(100) + 10).astype('f4')
    C = r.rand(100).astype('f4')
    close(cu_discriminant(A, B, C), np.sqrt(B ** 2 - 4 * A * C), rtol=1e-05)


def test_guvec_cuda():
    @guvectorize(['void(float32[:,:], float32[:,:], float32[:,:])'], '(m,n),(n,p)->(m,p)', target='cuda')
    def mm(A, B, C):
        m, n = A.shape
        n, p = B.shape
        for i in range(m):
            for j in range(p):
                C[i, j] = 0
                for k in range(n):
                    C[i, j] += A[i, k] * B[k, j]

    r = np.random.RandomState(0)
    A = r.rand(5, 2, 4).astype('f4')
    B = r.rand(5, 4, 3).astype('f4')
    close(mm(A, B), A @ B, rtol=1e-05)
    dA = cuda.to_device(A)
    dB = cuda.to_device(B)
    o = cuda.device_array((5, 2, 3), np.float32)
    mm(dA, dB, out=o)
    close(o.copy_to_host(), A @ B, rtol=1e-05)
    mm.max_blocksize = 32


def test_guvec_scalar():
    @guvectorize([(int64[:], int64, int64[:])], '(n),()->(n)', target='cuda')
    def g(x, y, res):
        for i in range(x.shape[0]):
            res[i] = x[i] + y

    eq(g(np.arange(5), 2), np.arange(5) + 2)
    eq(g(np.arange(6).reshape(2, 3), np.array([10, 20])), np.arange(6).reshape(2, 3) + [[10], [20]])


def test_devices():
    assert len(cuda.gpus) >= 1
    d = cuda.get_current_device()
    d.name
    d.id
    d.compute_capability
    d.MAX_THREADS_PER_BLOCK
    d.MULTIPROCESSOR_COUNT
    d.WARP_SIZE
    d.MAX_SHARED_MEMORY_PER_BLOCK
    d.MAX_BLOCK_DIM_X
    d.MAX_GRID_DIM_X
    d.uuid
    d.PCI_BUS_ID
    d.CLOCK_RATE
    assert d.WARP_SIZE == 32
    with cuda.gpus[0]:
        pass

    for g in cuda.gpus:
        (g.id, g.name)

    cuda.gpus.lst
    cuda.gpus.current
    cuda.list_devices()
    cuda.select_device(0)
    cuda.is_available()
    str(d)
    repr(cuda.gpus)


def test_contexts():
    c = cuda.current_context()
    f, t = c.get_memory_info()
    c.get_memory_info().free
    c.device.id
    c.synchronize()
    with cuda.defer_cleanup():
        pass

    c.deallocations.clear() if hasattr(c, 'deallocations') else None
    cuda.synchronize()


def test_ctx_dealloc():
    c = cuda.current_context()
    c.deallocations.clear()
    len(c.deallocations)


def test_specialize():
    @cuda.jit
    def k(x):
        x[cuda.grid(1)] = 1

    s = k.specialize(np.zeros(3))
    assert s.specialized and (not k.specialized)
    x = np.zeros(3)
    s[1, 3](x)
    eq(x, 1)
    assert isinstance(s.get_regs_per_thread(), int)
    assert isinstance(s.inspect_asm(), (dict, str))
    assert k.specialize(np.zeros(3)) is s


def test_dispatcher_attrs():
    @cuda.jit(fastmath=True, max_registers=32)
    def k(x):
        """doc"""
        x[0] = 1

    assert k.__name__ == 'k' and k.__doc__ == 'doc' and (k.py_func.__name__ == 'k')
    k.overloads
    k.signatures
    k.nopython_signatures
    k.targetoptions
    k.stats
    k.extensions
    assert k.targetoptions['fastmath'] is True or k.targetoptions['fastmath']
    assert k.__module__
    k.compile('void(float64[:])')
    assert len(k.overloads) == 1
    k.disable_compile()
    raises(Exception, lambda: k[1, 1](np.zeros(1, np.int8)))


def test_numba_core_types():
    from krait.core import types
    types.float32


def test_inoutargs():
    @cuda.jit
    def k(a, b):
        i = cuda.grid(1)
        b[i] = a[i] * 2

    a = np.arange(3.0)
    b = np.zeros(3)
    k[1, 3](cuda.In(a), cuda.Out(b))
    eq(b, a * 2)
    k[1, 3](cuda.InOut(b), cuda.InOut(b))
    eq(b, a * 4)


def test_host_array_copyback():
    a = np.zeros(5)
    inc[1, 32](a)
    eq(a, 1)


def test_ipc():
    d = cuda.to_device(np.arange(5.0))
    h = d.get_ipc_handle()
    import pickle
    pickle.dumps(h)


def test_declare_pointer():
    ffi_sum = cuda.declare_device('sum_reduce', 'float32(CPointer(float32), int32)', fallback=lambda a, n: 0.0)


def test_profile():
    with cuda.profiling():
        pass

    cuda.profile_start()
    cuda.profile_stop()


def test_kernel_pickle():
    import pickle
    k2 = pickle.loads(pickle.dumps(inc))
    x = np.zeros(3)
    k2[1, 32](x)
    eq(x, 1)


def test_kernel_method():
    class A:
        @staticmethod
        @cuda.jit
        def k(x):
            x[cuda.grid(1)] += 1

    x = np.zeros(3)
    A.k[1, 3](x)
    eq(x, 1)


def test_device_fn_from_host_refused():
    @cuda.jit(device=True)
    def f(x):
        return x + 1

    raises(Exception, lambda: f(1))


def test_kernel_calls_kernel():
    @cuda.jit
    def f(x):
        return x + 1

    @cuda.jit
    def k(x):
        x[cuda.grid(1)] = f(1)

    x = np.zeros(3)
    k[1, 3](x)
    eq(x, 2)


def test_overload_dev():
    from krait.extending import overload

    def myf(x):
        pass

    @overload(myf, target='cuda')
    def ov(x):
        def impl(x):
            return x * 3
        return impl

    @cuda.jit
    def k(x):
        i = cuda.grid(1)
        x[i] = myf(x[i])

    x = np.ones(3)
    k[1, 3](x)
    eq(x, 3)


def test_extensions_opt():
    class Ext:
        def prepare_args(self, ty, val, stream, retr):
            return (ty, val)

    @cuda.jit(extensions=[Ext()])
    def k(x):
        x[cuda.grid(1)] += 1

    x = np.zeros(3)
    k[1, 3](x)
    eq(x, 1)


def test_inline_ptx_clock():
    @cuda.jit
    def k(o):
        o[0] = cuda.clock64() if hasattr(cuda, 'clock64') else 1

    o = np.zeros(1, np.int64)
    k[1, 1](o)


def test_nanosleep():
    @cuda.jit
    def k(o):
        cuda.nanosleep(100)
        o[0] = 1

    o = np.zeros(1)
    k[1, 1](o)
    eq(o, 1)


def test_multiple_threads():
    import threading
    xs = [np.zeros(100) for _ in range(8)]
    ts = [threading.Thread(target=lambda x=x: [inc[1, 128](x) for _ in range(20)]) for x in xs]
    [t.start() for t in ts]
    [t.join() for t in ts]
    for x in xs:
        eq(x, 20)


def test_event_bad():
    raises(Exception, lambda: cuda.event_elapsed_time(1, 2))
