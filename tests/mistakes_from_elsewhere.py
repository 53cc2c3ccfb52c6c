"""Mistakes of people who come from Numba, CuPy and C for GPUs; as those of mistakes.py."""

FROM_ELSEWHERE = {
    "shared memory of C": """
        @cuda.jit
        def k(x):
            s = __shared__(16)
            x[0] = s[0]
        k[1, 1](X)""",
    "size of the grid without a call": """
        @cuda.jit
        def k(x):
            i = cuda.grid(1)
            while i < x.size:
                x[i] = 1
                i += cuda.gridsize
        k[1, 4](X)""",
    "sizes without coordinates": """
        @cuda.jit
        def k(x):
            stride = cuda.gridDim * cuda.blockDim
            for i in range(cuda.grid(1), x.size, stride):
                x[i] = 1
        k[1, 4](X)""",
    "small letter": """
        @cuda.jit
        def k(x):
            i = cuda.blockdim.x * cuda.blockIdx.x + cuda.threadIdx.x
            x[i] = 1
        k[1, 4](X)""",
    "thread with an underscore": """
        @cuda.jit
        def k(x):
            x[cuda.thread_idx.x] = 1
        k[1, 4](X)""",
    "shared memory called": """
        @cuda.jit
        def k(x):
            s = cuda.shared(16, np.float32)
            x[0] = s[0]
        k[1, 1](X)""",
    "atomic with an underscore": """
        @cuda.jit
        def k(x):
            cuda.atomic_add(x, 0, 1)
        k[1, 4](X)""",
    "atomic with an index too many": """
        @cuda.jit
        def k(x):
            cuda.atomic.add(x, (0, 1), 1.0)
        k[1, 4](X)""",
    "atomic with a float as index": """
        @cuda.jit
        def k(x):
            cuda.atomic.add(x, x[0], 1.0)
        k[1, 4](X)""",
    "atomic addition of a complex number": """
        @cuda.jit
        def k(x):
            cuda.atomic.add(x, 0, 1j)
        k[1, 4](X)""",
    "atomic of a type without it": """
        @cuda.jit
        def k(x):
            cuda.atomic.cas(x, 0, 1, 2)
        k[1, 4](np.zeros(4, np.complex64))""",
    "launch as CuPy does it": """
        @cuda.jit
        def k(x, n):
            x[cuda.grid(1)] = n
        k((1,), (16,), (X, 3))""",
    "grid and block in two brackets": """
        @cuda.jit
        def k(x):
            x[cuda.grid(1)] = 1
        k[1][16](X)""",
    "device array of the module": """
        d = cuda.to_device(X)
        @njit
        def f(n):
            return d[n]
        f(1)""",
    "array sorted in a kernel": """
        @cuda.jit
        def k(x):
            x.sort()
        k[1, 1](X)""",
    "sorted in a kernel": """
        @cuda.jit
        def k(x):
            y = sorted(x)
            x[0] = y[0]
        k[1, 1](X)""",
    "empty list in a kernel": """
        @cuda.jit
        def k(x):
            out = []
            out.append(x[0])
        k[1, 1](X)""",
    "list comprehension in a kernel": """
        @cuda.jit
        def k(x):
            y = [v * 2 for v in x]
            x[0] = y[0]
        k[1, 1](X)""",
    "array left out of a launch": """
        @cuda.jit
        def k(x, y=None):
            x[0] = y[0]
        k[1, 1](X)""",
    "kernel that calls itself": """
        @cuda.jit
        def k(x):
            k(x)
        k[1, 1](X)""",
    "list for a device function": """
        @cuda.jit(device=True)
        def f(v):
            return v[0]
        @cuda.jit
        def k(x):
            x[0] = f([1, 2])
        k[1, 1](X)""",
    "argument left out of a device function": """
        @cuda.jit(device=True)
        def f(a, b):
            return a + b
        @cuda.jit
        def k(x):
            x[0] = f(x[0])
        k[1, 1](X)""",
    "object mode": """
        @jit(nopython=False, forceobj=True)
        def f(x):
            return x
        f(object())""",
    "values of an array": """
        @njit
        def f(x):
            return x.values.mean()
        f(X)""",
    "float of NumPy": """
        @njit
        def f(x):
            return x.astype(np.float)
        f(X)""",
    "misspelt type in astype": """
        @njit
        def f(x):
            return x.astype("flaot64")
        f(X)""",
    "matrix of NumPy": """
        @njit
        def f(x):
            return np.matrix(x)
        f(A)""",
    "real_if_close": """
        @njit
        def f(x):
            return np.real_if_close(x)
        f(A)""",
    "range of an array": """
        @njit
        def f(x):
            s = 0
            for i in range(x):
                s += x[i]
            return s
        f(X)""",
    "range of a shape": """
        @njit
        def f(a):
            for i in range(a.shape):
                pass
        f(A)""",
    "array indexed by a text": """
        @njit
        def f(x, i):
            return x["a"]
        f(X, 1)""",
    "class as a text": """
        @njit
        def f(x):
            return isinstance(x, "float")
        f(1.0)""",
    "zip indexed": """
        @njit
        def f(x):
            return zip(x, x)[0]
        f(X)""",
    "dict display of two types": """
        @njit
        def f():
            return {1: 1, 2: "x"}
        f()""",
    "list display of two types": """
        @njit
        def f():
            return [1, "a"]
        f()""",
    "array of an array and a number": """
        @njit
        def f(a, b):
            return np.array([a, b])
        f(X, 1.0)""",
    "two lengths for zeros": """
        @njit
        def f():
            return np.zeros(2, 3)
        f()""",
    "half a length in a shape": """
        @njit
        def f(n):
            return np.empty((n / 2, 2))
        f(4)""",
    "value of the round before": """
        from krait import prange
        @njit(parallel=True)
        def f(x):
            last = 0.0
            for i in prange(x.size):
                x[i] = last
                last = x[i] + 1
        f(X)""",
    "vectorize that returns an array": """
        @vectorize
        def f(x):
            return np.array([x])
        f(X)""",
    "guvectorize that returns": """
        from krait import guvectorize
        @guvectorize(["void(float64[:], float64[:])"], "(n)->(n)")
        def f(x, y):
            return x
        f(X)""",
    "guvectorize without an arrow": """
        from krait import guvectorize
        @guvectorize(["void(float64[:], float64[:])"], "(n),(n)")
        def f(x, y):
            y[0] = 1
        f(X)""",
    "guvectorize with a number as a result": """
        from krait import guvectorize
        @guvectorize(["void(float64[:], float64)"], "(n)->()")
        def f(x, y):
            y = 1
        f(X)""",
    "stream in the place of the block": """
        @cuda.jit
        def k(x):
            x[0] = 1
        s = cuda.stream()
        k[1, s, 16](X)""",
    "shared memory below zero": """
        @cuda.jit
        def k(x):
            x[0] = 1
        k[1, 16, 0, -4](X)""",
    "attribute that a struct lacks": """
        @njit
        def f(r):
            return r[0].z
        f(np.zeros(2, np.dtype([("x", "f8"), ("y", "f8")])))""",
    "field that an array of structs lacks": """
        @njit
        def f(r):
            return r["X"][0]
        f(np.zeros(2, np.dtype([("x", "f8"), ("y", "f8")])))""",
    "date and a float": """
        @njit
        def f(t):
            return t + 1.5
        f(np.datetime64("2020-01-01"))""",
    "function of math of a complex number": """
        @njit
        def f(z):
            return math.sqrt(z)
        f(1j)""",
    "text compared with a number": """
        @njit
        def f(s):
            return s > 1
        f("a")""",
    "text indexed by a float": """
        @njit
        def f(s, i):
            return s[i]
        f("abc", 1.0)""",
    "text and a number added": """
        @njit
        def f(n):
            return "n = " + n
        f(3)""",
    "module called": """
        @njit
        def f(x):
            return np(x)
        f(X)""",
    "function of another module": """
        @njit
        def f(x):
            return math.mean(x)
        f(X)""",
    "math of NumPy": """
        @njit
        def f(x):
            return np.math.sin(x)
        f(1.0)""",
    "decorator inside a kernel": """
        @cuda.jit
        def k(x):
            @cuda.jit(device=True)
            def g(v):
                return v
            x[0] = g(1)
        k[1, 1](X)""",
    "dict of the module in a kernel": """
        table = {1: 2.0}
        @cuda.jit
        def k(x):
            x[0] = table[1]
        k[1, 1](X)""",
    "grid of four axes": """
        @cuda.jit
        def k(x):
            x[cuda.grid(4)] = 1
        k[1, 1](X)""",
    "constant memory as in C": """
        @cuda.jit
        def k(x):
            t = cuda.const.array([1, 2])
            x[0] = t[0]
        k[1, 1](X)""",
    "shuffle without a mask": """
        @cuda.jit
        def k(x):
            v = cuda.shfl_down(x[0], 1)
            x[0] = v
        k[1, 32](X)""",
    "shuffle with an argument too few": """
        @cuda.jit
        def k(x):
            v = cuda.shfl_down_sync(x[0], 1)
            x[0] = v
        k[1, 32](X)""",
    "lane called": """
        @cuda.jit
        def k(x):
            x[0] = cuda.laneid()
        k[1, 32](X)""",
    "random number without an index": """
        @cuda.jit
        def k(rng, x):
            i = cuda.grid(1)
            x[i] = cuda.random.xoroshiro128p_uniform_float32(rng)
        k[1, 4](cuda.random.create_xoroshiro128p_states(4, seed=1), X)""",
    "grid without its module": """
        @cuda.jit
        def k(x):
            x[grid(1)] = 1
        k[1, 4](X)""",
    "shuffle of C": """
        @cuda.jit
        def k(x):
            x[0] = __shfl_down_sync(-1, x[0], 1)
        k[1, 32](X)""",
    "warp size of C": """
        @cuda.jit
        def k(x):
            x[0] = warpSize
        k[1, 32](X)""",
    "vector of C": """
        @cuda.jit
        def k(x):
            v = make_float4(1.0, 2.0, 3.0, 4.0)
            x[0] = v.x
        k[1, 1](X)""",
    "null pointer of C": """
        @cuda.jit
        def k(x, y):
            if y != NULL:
                x[0] = 1
        k[1, 1](X, X)""",
    "root of C": """
        @cuda.jit
        def k(x):
            x[0] = sqrtf(x[0])
        k[1, 1](X)""",
    "printf of C": """
        @cuda.jit
        def k(x):
            printf("%f", x[0])
        k[1, 1](X)""",
    "sizeof of C": """
        @cuda.jit
        def k(x):
            x[0] = sizeof(x)
        k[1, 1](X)""",
    "true of C": """
        @njit
        def f(x):
            return true
        f(1)""",
    "barrier in a function": """
        @njit
        def f(x):
            cuda.syncthreads()
        f(X)""",
    "grid as an option": """
        @cuda.jit(grid=4, block=16)
        def k(x):
            x[0] = 1""",
    "list in a signature": """
        @njit("float64(list(float64))")
        def f(x):
            return x[0]""",
    "array of int in a signature": """
        @njit("int(int[:])")
        def f(x):
            return x[0]""",
    "ndarray in a signature": """
        @njit("float64(ndarray)")
        def f(x):
            return x[0]""",
    "three names for enumerate": """
        @njit
        def f(x):
            for i, v, w in enumerate(x):
                pass
        f(X)""",
    "sum along an axis": """
        @njit
        def f(x):
            return sum(x, axis=0)
        f(X)""",
    "instance assigned in a kernel": """
        class P:
            def __init__(self): self.n = 0
        @cuda.jit
        def k(p):
            p.n = 3
        k[1, 1](P())""",
    "kernel that returns a tuple": """
        @cuda.jit
        def k(x):
            return x, 1
        k[1, 1](X)""",
    "nonlocal of a function that has returned": """
        def outer():
            n = 0
            @njit
            def f(x):
                nonlocal n
                n += x
            f(1)
        outer()""",
    "steps of a half as indices": """
        @njit
        def f(x):
            s = 0.0
            for i in np.arange(0, 4, 0.5):
                s += x[i]
            return s
        f(X)""",
    "length of an element": """
        @cuda.jit
        def k(x):
            for i in range(cuda.threadIdx.x, len(x[0])):
                x[i] = 1
        k[1, 1](X)""",
}
