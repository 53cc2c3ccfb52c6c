"""Mistakes that people make, each a whole program; test_mistakes.py keeps the text that each one gets.

MISTAKES: name -> source text.  A program ends in the statement that fails.  np, math, jit, njit, vectorize and cuda
are there; X is an array of 16 float64, A one of 4 by 4.

MENDED: what a message advises, as programs that do it; each ends in comparing what it gives.
"""

MISTAKES = {
    # ---- kernels: launching ----
    "launch without a grid": """
        @cuda.jit
        def k(x):
            x[cuda.grid(1)] = 1
        k(X)""",
    "grid by true division": """
        @cuda.jit
        def k(x):
            x[cuda.grid(1)] = 1
        k[X.size / 4, 4](X)""",
    "grid alone": """
        @cuda.jit
        def k(x):
            x[cuda.grid(1)] = 1
        k[4](X)""",
    "block of 2048 threads": """
        @cuda.jit
        def k(x):
            x[cuda.grid(1)] = 1
        k[1, 2048](X)""",
    "grid of no blocks": """
        @cuda.jit
        def k(x):
            x[cuda.grid(1)] = 1
        k[0, 32](X)""",
    "grid of four dimensions": """
        @cuda.jit
        def k(x):
            x[cuda.grid(1)] = 1
        k[(1, 1, 1, 1), 32](X)""",
    "list as an argument": """
        @cuda.jit
        def k(x):
            x[cuda.grid(1)] = 1
        k[1, 4]([1.0, 2.0, 3.0, 4.0])""",
    "dict as an argument": """
        @cuda.jit
        def k(x, p):
            x[cuda.grid(1)] = p["a"]
        k[1, 4](X, {"a": 1.0})""",
    "object array as an argument": """
        @cuda.jit
        def k(x):
            x[cuda.grid(1)] = 1
        k[1, 4](np.array([1, None]))""",
    "one argument too few": """
        @cuda.jit
        def k(x, y):
            y[cuda.grid(1)] = x[cuda.grid(1)]
        k[1, 16](X)""",
    "matrix for a vector kernel": """
        @cuda.jit
        def k(x):
            i = cuda.grid(1)
            if i < x.size:
                x[i] = 2.0 * x[i]
        k[1, 16](A)""",
    "vector for a matrix kernel": """
        @cuda.jit
        def k(x):
            i, j = cuda.grid(2)
            x[i, j] = 0
        k[(1, 1), (4, 4)](X)""",
    "kernel launched from a kernel": """
        @cuda.jit
        def scale(x):
            x[cuda.grid(1)] *= 2
        @cuda.jit
        def k(x):
            scale[1, 16](x)
        k[1, 1](X)""",
    "kernel launched from a function": """
        @cuda.jit
        def scale(x):
            x[cuda.grid(1)] *= 2
        @njit
        def run(x):
            scale[1, 16](x)
        run(X)""",
    "kernel that returns": """
        @cuda.jit
        def k(x):
            return x[cuda.grid(1)] + 1
        k[1, 16](X)""",
    "device function launched": """
        @cuda.jit(device=True)
        def f(x):
            return x + 1
        f[1, 16](X)""",
    "device function called from Python": """
        @cuda.jit(device=True)
        def f(x):
            return x + 1
        f(1.0)""",
    # ---- kernels: inside ----
    "barrier in a branch": """
        @cuda.jit
        def k(x):
            i = cuda.threadIdx.x
            if i < 16:
                x[i] = i
                cuda.syncthreads()
        k[1, 32](X)""",
    "barrier without parentheses": """
        @cuda.jit
        def k(x):
            x[cuda.threadIdx.x] = 1
            cuda.syncthreads
            x[cuda.threadIdx.x] += x[0]
        k[1, 16](X)""",
    "barrier of C": """
        @cuda.jit
        def k(x):
            x[cuda.grid(1)] = 1
            __syncthreads()
        k[1, 16](X)""",
    "index of C": """
        @cuda.jit
        def k(x):
            i = threadIdx.x + blockIdx.x * blockDim.x
            x[i] = 1
        k[1, 16](X)""",
    "atomic of C": """
        @cuda.jit
        def k(x):
            atomicAdd(x, 0, 1.0)
        k[1, 16](X)""",
    "capital letter": """
        @cuda.jit
        def k(x):
            x[cuda.threadIdx.X] = 1
        k[1, 16](X)""",
    "misspelt intrinsic": """
        @cuda.jit
        def k(x):
            i = cuda.grid(1)
            cuda.syncthread()
            x[i] = 1
        k[1, 16](X)""",
    "output as a scalar": """
        @cuda.jit
        def total(x, out):
            out += x[cuda.grid(1)]
        out = np.zeros(1)
        total[1, 16](X, out[0])""",
    "output taken out of its array": """
        @cuda.jit
        def total(x, result):
            out = result[0]
            out[0] = x[0]
        total[1, 1](X, np.zeros(1))""",
    "global array written": """
        table = np.zeros(16)
        @cuda.jit
        def k(x):
            i = cuda.grid(1)
            table[i] = x[i]
        k[1, 16](X)""",
    "shared array with a run-time shape": """
        @cuda.jit
        def k(x):
            s = cuda.shared.array(x.size, np.float64)
            s[0] = 1
        k[1, 16](X)""",
    "shared array too large": """
        @cuda.jit
        def k(x):
            s = cuda.shared.array((128, 128), np.float64)
            s[0, 0] = 1
            x[0] = s[0, 0]
        k[1, 16](X)""",
    "shared array without a type": """
        @cuda.jit
        def k(x):
            s = cuda.shared.array(16)
            x[0] = s[0]
        k[1, 16](X)""",
    "print of an array in a kernel": """
        @cuda.jit
        def k(x):
            print(x)
        k[1, 1](X)""",
    "a call that no overload takes": """
        from krait import types
        from krait.extending import overload
        def half(x):
            return x / 2
        @overload(half)
        def overload_half(x):
            return (lambda x: x / 2) if isinstance(x, types.Float) else None
        njit(lambda x: half(x))(X)""",
    "new array in a kernel": """
        @cuda.jit
        def k(x):
            t = np.zeros(3)
            x[0] = t[0]
        k[1, 1](X)""",
    "whole array in a kernel": """
        @cuda.jit
        def k(x, y):
            y = x * 2
        k[1, 1](X, X.copy())""",
    "random in a kernel": """
        @cuda.jit
        def k(x):
            x[cuda.grid(1)] = np.random.random()
        k[1, 16](X)""",
    "grid without a dimension": """
        @cuda.jit
        def k(x):
            x[cuda.grid()] = 1
        k[1, 16](X)""",
    "tuple of two for one": """
        @cuda.jit
        def k(x):
            i = cuda.grid(2)
            x[i] = 1
        k[1, 16](X)""",
    "three names for two coordinates": """
        @cuda.jit
        def k(x):
            i, j, l = cuda.grid(2)
            x[i] = 1
        k[1, 16](X)""",
    "float index": """
        @cuda.jit
        def k(x):
            i = cuda.grid(1) / 2
            x[i] = 1
        k[1, 16](X)""",
    "atomic as an operator": """
        @cuda.jit
        def k(x):
            cuda.atomic.add(x[0], 1.0)
        k[1, 16](X)""",
    "exception handler in a kernel": """
        @cuda.jit
        def k(x):
            try:
                x[0] = 1 / x[1]
            except ZeroDivisionError:
                x[0] = 0
        k[1, 1](X)""",
    "keyword that is no option": """
        @cuda.jit(fast_math=True)
        def k(x):
            x[0] = 1""",
    "new array of two axes in a kernel": """
        @cuda.jit
        def k(x):
            t = np.zeros((2, 3), dtype=np.int32)
            x[0] = t[0, 0]
        k[1, 1](X)""",
    "ones in a kernel": """
        @cuda.jit
        def k(x):
            t = np.ones(3)
            x[0] = t[0]
        k[1, 1](X)""",
    "array and element in a kernel": """
        @cuda.jit
        def k(x, y):
            i = cuda.grid(1)
            y[i] = y * x[i]
        k[1, 16](X, X.copy())""",
    "cube for a vector kernel": """
        @cuda.jit
        def k(x):
            i = cuda.grid(1)
            x[i] = np.sqrt(x[i])
        k[1, 2](np.zeros((2, 2, 2)))""",
    "set as an argument of a kernel": """
        @cuda.jit
        def k(x, chosen):
            x[0] = len(chosen)
        k[1, 1](X, {1, 2})""",
    "list in a tuple of a kernel": """
        @cuda.jit
        def k(x, parts):
            x[0] = parts[1][0]
        k[1, 1](X, (1, [2.0]))""",
    # ---- functions: names and calls ----
    "misspelt name": """
        @njit
        def f(values):
            return len(vaules)
        f(X)""",
    "misspelt function of NumPy": """
        @njit
        def f(x):
            return np.sqr(x)
        f(2.0)""",
    "list of several things": """
        @njit
        def f(n):
            out = [n]
            for i in range(n):
                out.append((i, i * i))
            return out
        f(4)""",
    "dict of several things": """
        @njit
        def f(x):
            found = {"count": 0, "values": x}
            for value in x:
                found["count"] += value > 1
            return found
        f(X)""",
    "list as an argument of a function": """
        @njit
        def f(x):
            return x[0]
        f([1.0, 2])""",
    "list that is lengthened by texts": """
        @njit
        def f(rows):
            rows[0].extend(["x"])
            return len(rows)
        f([[1]])""",
    "keys of two types": """
        @njit
        def f(n):
            found = {1: n}
            found["two"] = n
            return found
        f(1)""",
    "items of two types in a set": """
        @njit
        def f(n):
            seen = {n}
            seen.add("two")
            return seen
        f(1)""",
    "matrix as a key": """
        @njit
        def f(a):
            found = {}
            found[a] = 1
            return found
        f(A)""",
    "list in a key": """
        @njit
        def f(n):
            path = [n]
            found = {}
            found[n, path] = 1
            return found
        f(1)""",
    "complex number as a key": """
        @njit
        def f(z):
            found = {}
            found[z] = 1
            return found
        f(1j)""",
    "sum of an empty list": """
        @njit
        def f(n):
            found = []
            return np.mean(found)
        f(1)""",
    "function kept in a variable": """
        @njit
        def half(x):
            return x / 2
        @njit
        def f(x):
            g = half
            return g + x
        f(1.0)""",
    "one argument too many": """
        @njit
        def f(x):
            return x
        f(1, 2)""",
    "unknown keyword argument": """
        @njit
        def f(x, scale=1.0):
            return x * scale
        f(1.0, scaling=2.0)""",
    "file opened": """
        @njit
        def f(path):
            with open(path) as file:
                return 1
        f(1)""",
    # ---- functions: types ----
    "variable of two types": """
        @njit
        def f(x, flag):
            if flag:
                y = x
            else:
                y = 0.0
            return y
        f(X, True)""",
    "result of two types": """
        @njit
        def f(x):
            if x > 0:
                return x
            return (x, x)
        f(1.0)""",
    "result sometimes missing": """
        @njit
        def f(x):
            for v in x:
                if v > 2:
                    return x
            return 0
        f(X)""",
    "number indexed": """
        @njit
        def f(x):
            return x[0]
        f(1.5)""",
    "array indexed by a float": """
        @njit
        def f(x, i):
            return x[i]
        f(X, 1.0)""",
    "three indices for two axes": """
        @njit
        def f(a):
            return a[0, 0, 0]
        f(A)""",
    "attribute that arrays lack": """
        @njit
        def f(x):
            return x.length
        f(X)""",
    "array as a condition": """
        @njit
        def f(x):
            if x > 0:
                return 1
            return 0
        f(X)""",
    "divisor zero": """
        @njit
        def f(x):
            return x // 0
        f(3)""",
    "bits of a float": """
        @njit
        def f(x):
            return x & 1
        f(2.0)""",
    "tuple changed": """
        @njit
        def f():
            t = (1, 2)
            t[0] = 3
            return t
        f()""",
    "read-only array written": """
        @njit
        def f(x):
            x[0] = 1
        frozen = X.copy(); frozen.flags.writeable = False
        f(frozen)""",
    "memory in a kernel": """
        @cuda.jit
        def k(x, n):
            buffer = np.zeros(n)
            x[cuda.grid(1)] = buffer[0]
        k[1, 16](X, 4)""",
    "fractional shape": """
        @njit
        def f(n):
            half = n / 2
            return np.zeros(half)
        f(3)""",
    "global changed": """
        count = 0
        @njit
        def f():
            global count
            count += 1
        f()""",
    # ---- decorators ----
    "bad type in a signature": """
        @njit("float46(float64)")
        def f(x):
            return x""",
    "signature without parentheses": """
        @njit("float64")
        def f(x):
            return x""",
    "signature of another length": """
        @njit("float64(float64, float64)")
        def f(x):
            return x""",
    "class compiled": """
        @njit
        class Body:
            pass""",
    "vectorize over arrays": """
        @vectorize
        def f(x):
            return x[0]
        f(X)""",
    "vectorize without a result": """
        @vectorize(["float64(float64)"])
        def f(x):
            y = x * 2""",
    "guvectorize with a letter too few": """
        from krait import guvectorize
        @guvectorize(["void(float64[:], float64[:])"], "(n)->(n)->")
        def f(x, y):
            y[0] = x[0]""",
    "coroutine compiled": """
        @njit
        async def f(x):
            return x
        f(1)""",
    # ---- what is there under another name, or elsewhere ----
    "type not imported": """
        @njit
        def f(n):
            return int32(n)
        f(3)""",
    "float of 128 bits": """
        @njit
        def f(x):
            return x.astype(float128)
        f(X)""",
    "misspelt dtype": """
        @njit
        def f(n):
            return np.zeros(n, dtype="float32x")
        f(3)""",
    "dtype of another language": """
        @njit
        def f(n):
            return np.zeros(n, dtype="real")
        f(3)""",
    "synchronize in a kernel": """
        @cuda.jit
        def k(x):
            cuda.synchronize()
            x[0] = 1
        k[1, 1](X)""",
    "to_device in a kernel": """
        @cuda.jit
        def k(x):
            d = cuda.to_device(x)
            x[0] = d[0]
        k[1, 1](X)""",
    "matrix product in a kernel": """
        @cuda.jit
        def k(a, b, c):
            i, j = cuda.grid(2)
            c[i, j] = (a @ b)[i, j]
        k[1, (4, 4)](A, A, A.copy())""",
    "dot in a kernel": """
        @cuda.jit
        def k(a, b, c):
            c = np.dot(a, b)
        k[1, 1](A, A, A.copy())""",
    "random number without states": """
        @cuda.jit
        def k(x):
            x[0] = cuda.random.xoroshiro128p_uniform_float32(x, 0)
        k[1, 1](X)""",
    "jit for another target": """
        @njit(target="cuda")
        def f(x):
            return x
        f(1)""",
    # ---- operands that are not what they seem ----
    "append to an array": """
        @njit
        def f(x):
            x.append(1.0)
            return x
        f(X)""",
    "an empty list made longer by NumPy": """
        @njit
        def f(n):
            out = []
            for i in range(n):
                out = np.append(out, i)
            return out
        f(3)""",
    "device function without return": """
        @cuda.jit(device=True)
        def g(x):
            y = x + 1
        @cuda.jit
        def k(x):
            x[0] = g(x[0]) * 2
        k[1, 1](X)""",
    "number compared with a shape": """
        @cuda.jit
        def k(x):
            i = cuda.grid(1)
            if i < x.shape:
                x[i] = 1
        k[1, 32](X)""",
    "block size without a coordinate": """
        @cuda.jit
        def k(x):
            i = cuda.threadIdx.x + cuda.blockIdx.x * cuda.blockDim
            x[i] = 1
        k[1, 16](X)""",
    "grid without a call": """
        @cuda.jit
        def k(x):
            i = cuda.grid
            x[i] = 1
        k[1, 16](X)""",
    "two names of one coordinate": """
        @cuda.jit
        def k(x):
            i, j = cuda.grid(1)
            x[i, j] = 1
        k[(1, 1), (4, 4)](A)""",
    "function of math of an array": """
        @njit
        def f(x):
            return math.sqrt(x)
        f(X)""",
    "function of math of an array in a kernel": """
        @cuda.jit
        def k(x):
            x[0] = math.sqrt(x)
        k[1, 1](X)""",
    "order of complex numbers": """
        @njit
        def f(z):
            return z < 1
        f(1j)""",
    "list as a vector": """
        @njit
        def f(n):
            values = [1.0, 2.0]
            return values / n
        f(3)""",
    "shape assigned": """
        @njit
        def f(x):
            x.shape = (4, 4)
            return x
        f(X)""",
    "variable that becomes text": """
        @njit
        def f(n):
            r = 0
            if n > 3:
                r = "big"
            return r
        f(4)""",
    # ---- signatures and launches ----
    "types without a signature": """
        from krait import float64
        @njit(float64, float64)
        def f(x):
            return x""",
    "array of another type than the signature": """
        @njit("float64(float32[:])")
        def f(x):
            return x[0]
        f(X)""",
    "signature of a kernel with a result": """
        @cuda.jit("float32(float32[:])")
        def k(x):
            x[cuda.grid(1)] = 1""",
    "pointer in a signature": """
        @cuda.jit("void(float32*, int32)")
        def k(x, n):
            x[0] = n""",
    "grid and block exchanged": """
        @cuda.jit
        def k(x):
            x[cuda.grid(1)] = 1
        n = 1_000_000
        k[256, (n + 255) // 256](X)""",
    "ceil in the grid": """
        @cuda.jit
        def k(x):
            x[cuda.grid(1)] = 1
        k[np.ceil(X.size / 4), 4](X)""",
    "sum in a parameter": """
        @cuda.jit
        def k(x, total):
            i = cuda.grid(1)
            x[i] = 1
            total += x[i]
        k[1, 16](X, 0.0)""",
    "more threads than elements": """
        @cuda.jit
        def k(x):
            i = cuda.grid(1)
            x[i] = 1
        k[1, 17](X)""",
    "kernel as a method": """
        class Step:
            @cuda.jit
            def k(self, x):
                x[cuda.grid(1)] = 1
        Step().k[1, 16](X)""",
    "empty list that is filled": """
        @njit
        def f(values):
            values.append(1)
            values.append("x")
            return len(values)
        f([])""",
    "lists of several types in a list": """
        @njit
        def f(rows):
            return len(rows)
        f([[1, 2], [1.5]])""",
    "operator of a class": """
        from dataclasses import dataclass
        @dataclass
        class V:
            x: float
            def plus(self, other):
                return V(self.x + other.x)
        @njit
        def f(a, b):
            return (a + b).x
        f(V(1.0), V(2.0))""",
    "value of the member of an enum": """
        from enum import Enum
        class Colour(Enum):
            RED = 1
            GREEN = "green"
        @njit
        def f(c):
            return c.value
        f(Colour.RED)""",
    "flags of an array": """
        @njit
        def f(x):
            return x.flags.owndata
        f(X)""",
    "three inner functions in a circle": """
        @njit
        def f(n):
            def a(n):
                return b(n - 1) if n > 0 else 0
            def b(n):
                return c(n - 1)
            def c(n):
                return a(n - 1)
            return a(n)
        f(4)""",
    "all of them in parallel": """
        from krait import prange
        @njit(parallel=True)
        def f(x):
            ok, good = True, 0
            for i in prange(x.size):
                ok = ok and x[i] > 0
                if ok:
                    good += 1
            return ok, good
        f(X)""",
    # ---- what other libraries bring, and Python's own ----
    "date asked for inside": """
        import datetime
        @njit
        def f(x):
            return datetime.date.today().year
        f(X)""",
    "file opened for writing": """
        @njit
        def f(x):
            out = open("result.txt", "w")
            out.write(str(x[0]))
        f(X)""",
    "date as an argument": """
        import datetime
        @njit
        def f(t):
            return t.year
        f(datetime.datetime(2020, 1, 1))""",
    "dates in a list": """
        import datetime
        @njit
        def f(days):
            return days[0].year
        f([datetime.date(2020, 1, 1)])""",
    "date in an attribute": """
        import datetime
        class Run:
            def __init__(self):
                self.steps, self.day = 3, datetime.date(2020, 1, 1)
        @njit
        def f(run):
            return run.day.year
        f(Run())""",
    "time of a day as an argument": """
        import datetime
        @njit
        def f(t):
            return t.hour
        f(datetime.time(12))""",
    "dates of the module": """
        import datetime
        days = [datetime.date(2020, 1, 1)]
        @njit
        def f(n):
            return days[0].year + n
        f(1)""",
    "int of 70 bits": """
        @njit
        def f(n):
            return n + 1
        f(2 ** 70)""",
    "ufunc made inside": """
        @njit
        def f(x):
            return np.vectorize(math.sin)(x)
        f(X)""",
    "struct written out inside": """
        @njit
        def f(n):
            return np.zeros(n, dtype=[("a", "f8"), ("b", "i4")])
        f(3)""",
    "instance indexed": """
        class Table:
            def __init__(self):
                self.a = np.zeros(3)
        @njit
        def f(t):
            return t["a"].sum()
        f(Table())""",
    "attribute of several types": """
        class Run:
            def __init__(self):
                self.names = ["a", 1]
        @njit
        def f(p):
            return len(p.names)
        f(Run())""",
    "settings as an argument": """
        @njit
        def f(p):
            p["steps"] += 1
            return p["steps"]
        f({"steps": 1, "name": "run"})""",
    "settings of the module": """
        settings = {"steps": 1.0, "name": "walk"}
        @njit
        def f():
            settings["steps"] = 2.0
            return settings["steps"]
        f()""",
    # ---- numbers, None and generators where arrays are meant ----
    "argument left out": """
        @njit
        def f(x, weight=None):
            return x * weight
        f(X)""",
    "length of a number": """
        @njit
        def f(n):
            return len(n)
        f(3)""",
    "loop over a number": """
        @njit
        def f(n):
            s = 0
            for i in n:
                s += i
            return s
        f(3)""",
    "steps of a half": """
        @njit
        def f(n):
            return [i for i in range(0, n, 0.5)]
        f(4)""",
    "atomic addition into a number": """
        @cuda.jit
        def k(x, total):
            cuda.atomic.add(total, 0, x[0])
        k[1, 1](X, 0.0)""",
    "length of a generator": """
        @njit
        def numbers(n):
            for i in range(n):
                yield i
        @njit
        def f(n):
            return len(numbers(n))
        f(3)""",
    "mean of a list": """
        @njit
        def f(x):
            return [v for v in x if v > 2].mean()
        f(X)""",
    "element deleted": """
        @njit
        def f(x):
            del x[0]
            return x
        f(X)""",
    "recursion without an end": """
        @njit
        def f(n):
            return f(n - 1)
        f(3)""",
    "text into an array of numbers": """
        @njit
        def f(x):
            x[0] = "3.5"
        f(X)""",
    "number called": """
        @njit
        def f(x, n):
            return n(x + 1)
        f(1.0, 2.0)""",
    "shape called": """
        @njit
        def f(x):
            return x.shape()
        f(X)""",
    "list called": """
        @njit
        def f(n):
            a = [1, 2]
            return a(n)
        f(1)""",
    "method without parentheses": """
        @njit
        def f(x):
            return x.sum + 1
        f(X)""",
    "key as an attribute": """
        @njit
        def f(n):
            d = {"a": n}
            return d.a
        f(1)""",
    "misspelt method of a text": """
        @njit
        def f(s):
            return s.uper()
        f("a")""",
    "misspelt attribute of an instance": """
        class Body:
            def __init__(self):
                self.position = 1.0
        @njit
        def f(body):
            return body.postion
        f(Body())""",
    "character assigned": """
        @njit
        def f(s):
            s[0] = "b"
            return s
        f("a")""",
    "append to a set": """
        @njit
        def f(n):
            seen = {1}
            seen.append(n)
            return seen
        f(2)""",
    "push to a list": """
        @njit
        def f(n):
            a = [1]
            a.push(n)
            return a
        f(2)""",
    "slice by true division": """
        @njit
        def f(x, n):
            return x[:n / 2]
        f(X, 4)""",
    "misspelt keyword of NumPy": """
        @njit
        def f(x):
            return np.sum(x, axes=0)
        f(X)""",
    "axis that is not there": """
        @njit
        def f(a):
            return a.sum(axis=2)
        f(A)""",
    "int of NumPy": """
        @njit
        def f(n):
            return np.int(n)
        f(3)""",
    "None added to": """
        @njit
        def f(x):
            total = None
            for v in x:
                total += v
            return total
        f(X)""",
    "misspelt attribute of a module": """
        @njit
        def f(m, x):
            return m.foo(x)
        f(math, 1.0)""",
    "misspelt attribute of a class": """
        class Limits:
            lowest = 0
        @njit
        def f(limits):
            return limits.lowset
        f(Limits)""",
    "attribute of a class that is not compiled": """
        class Limits:
            lowest = 0
        @njit
        def f(limits):
            return len(limits.__dict__)
        f(Limits)""",
    "formatted text in a kernel": """
        @cuda.jit
        def k(x):
            x[0] = "%g" % x[0]
        k[1, 1](X)""",
    "local array with a run-time shape": """
        @cuda.jit
        def k(x, n):
            s = cuda.local.array(n, np.float64)
            s[0] = 1
            x[0] = s[0]
        k[1, 16](X, 4)""",
    "list in a kernel": """
        @cuda.jit
        def k(x):
            t = [x[0], x[1]]
            x[0] = t[0]
        k[1, 1](X)""",
    "dict in a kernel": """
        @cuda.jit
        def k(x):
            t = {1: 2.0}
            x[0] = t[1]
        k[1, 1](X)""",
    "argument of a kernel as constant memory": """
        @cuda.jit
        def k(x):
            c = cuda.const.array_like(x)
            x[0] = c[0]
        k[1, 1](X)""",
    "helper that is not there": """
        @cuda.jit
        def k(x):
            x[0] = scaled(x[0])
        k[1, 1](X)""",
    "stream by name": """
        @cuda.jit
        def k(x):
            x[0] = 1
        k[1, 1, "fast"](X)""",
    "index of a thread outside": """
        i = cuda.grid(1)""",
    "device array in a function": """
        @njit
        def f(x):
            return x[0]
        f(cuda.to_device(X))""",
    "copy into an array of another shape": """
        d = cuda.to_device(X)
        d.copy_to_host(np.zeros(3))""",
    "ragged array": """
        @njit
        def f(n):
            return np.array([[1, 2], [n]])
        f(1)""",
    "sizes for a dtype": """
        @njit
        def f(n):
            return np.zeros(n, n)
        f(3)""",
    "shape with an axis too many": """
        @njit
        def f(x):
            n, m = x.shape
            return n
        f(X)""",
    "shape with two axes too many": """
        @njit
        def f(a):
            n, m, k, l = a.shape
            return n
        f(A)""",
    "shape with an axis too few": """
        @njit
        def f(a):
            n, = a.shape
            return n
        f(A)""",
    "text raised": """
        @njit
        def f(x):
            if x < 0:
                raise "negative"
            return x
        f(1)""",
    "misspelt exception": """
        @njit
        def f(x):
            try:
                return x[99]
            except IndexErr:
                return 0
        f(X)""",
    "eval of a text": """
        @njit
        def f(n):
            return eval("n + 1")
        f(1)""",
    "input asked for": """
        @njit
        def f():
            return input()
        f()""",
    "signature without a comma": """
        @njit("float64(float64 float64)")
        def f(x, y):
            return x""",
    "number decorated": """
        njit(3)""",
    "list of several things of the module": """
        names = ["a", 1]
        @njit
        def f(i):
            return names[i]
        f(0)""",
    "set of arrays": """
        @njit
        def f(x):
            return {x}
        f(X)""",
    "class variable of another type": """
        class P:
            def __init__(self):
                self.x = 1
        @njit
        def f(p):
            p.x = "abc"
        f(P())""",
    "a default of another type": """
        @njit
        def f(d, key):
            return d.get(key, "none")
        f({1: 2}, 3)""",
    "what is taken out or else another thing": """
        @njit
        def f(d, key):
            return d.pop(key, "none")
        f({1: [2]}, 3)""",
    "tuples of several types in a list": """
        @njit
        def f(points):
            return sum([x * y for x, y in points])
        f([(1, 3.5), (2, 2)])""",
    "instances of several classes in a list": """
        class Square:
            def __init__(self, side):
                self.side = side
        class Circle:
            def __init__(self, radius):
                self.radius = radius
        @njit
        def f(shapes):
            return len(shapes)
        f([Square(2.0), Circle(1.0)])""",
    "numbers and None in a list": """
        @njit
        def f(marks):
            return sum(marks)
        f([1.0, None, 2.0])""",
    "next of what is no iterator": """
        class Bag:
            def __init__(self, items):
                self.items = items
        @njit
        def f(n):
            return next(Bag([n]))
        f(1)""",
}

MENDED = {
    "a list of tuples": """
        @njit
        def f(n):
            out = []
            for i in range(n):
                out.append((i, i * i))
            return out
        assert f(4) == f.py_func(4)""",
    "two lists, and tuples of one form": """
        @njit
        def f(values):
            numbers, texts = [], []
            numbers.append(1)
            texts.append("x")
            values.append((1, "x"))
            return numbers, texts
        values = []
        assert f(values) == ([1], ["x"]) and values == [(1, "x")]""",
    "an array made of a list": """
        @njit
        def f(n):
            out = []
            for i in range(n):
                out.append(i)
            return np.array(out)
        assert f(3).tolist() == [0, 1, 2]""",
    "an array that is made longer": """
        @njit
        def f(n):
            out = np.zeros(0)
            for i in range(n):
                out = np.append(out, i)
            return out
        assert f(3).tolist() == [0.0, 1.0, 2.0]""",
    "what is there of a date": """
        import datetime
        @njit
        def f(year, day, then, length):
            return year + day, then, length
        t, span = datetime.datetime(2020, 1, 1), datetime.timedelta(1)
        assert f(t.year, t.toordinal(), np.datetime64(t, 's'), np.timedelta64(span, 's'))[1:] == (t, span)
        assert f(1, 2, np.datetime64(t.date(), 'D'), span.total_seconds()) == (3, t.date(), 86400.0)""",
    "year": """
        import datetime
        @njit
        def f(x, year):
            return year
        year = datetime.date.today().year
        assert f(X, year) == year""",
    "keys": """
        @njit
        def f(x, a, z, path):
            return len({tuple(x)}), set(x), len([x]), {tuple(a.ravel()): 1}, {(z.real, z.imag): 1}, {tuple(path): 1}
        got, wanted = f(X, A, 1j, [1]), f.py_func(X, A, 1j, [1])
        assert got == wanted""",
    "dicts": """
        from collections import namedtuple
        Found = namedtuple("Found", "count values")
        @njit
        def f(x):
            counts, values = {}, {}
            counts["count"] = len(x)
            values["values"] = x
            return Found(counts["count"], values["values"])
        assert f(X).count == 16 and f(X).values is X""",
    "a tuple of several types": """
        names = tuple(["a", 1])
        @njit
        def f(n):
            text = ""
            for name in names:
                text += str(name)
            return text, names[0], names[1] + n
        assert f(1) == ("a1", "a", 2)""",
    "a ufunc": """
        @vectorize
        def g(x):
            return x + 1
        @njit
        def f(x):
            return np.sin(x), g(x)
        np.testing.assert_allclose(f(X), (np.sin(X), X + 1))""",
    "a function of one element": """
        @njit
        def scale(v):
            return v * 2
        @njit
        def run(x):
            for i in range(x.size):
                x[i] = scale(x[i])
            return x
        assert run(X.copy()).tolist() == (2 * X).tolist()""",
    "a device function": """
        @cuda.jit(device=True)
        def scale(x):
            x[cuda.grid(1)] *= 2
        @cuda.jit
        def k(x):
            scale(x)
        y = X.copy()
        k[1, 16](y)
        assert y.tolist() == (2 * X).tolist()""",
    "an array of a list": """
        @cuda.jit
        def k(x, p):
            x[cuda.grid(1)] = p
        values, settings = [1.0, 2.0], {"a": 3.0}
        x = np.array(values)
        k[1, 2](x, settings["a"])
        assert x.tolist() == [3.0, 3.0]""",
    "a table that is an argument": """
        @cuda.jit
        def k(x, table):
            i = cuda.grid(1)
            table[i] = x[i]
        table = np.zeros(16)
        k[1, 16](X, table)
        assert table.tolist() == X.tolist()""",
    "a barrier for all": """
        @cuda.jit
        def k(x):
            i = cuda.threadIdx.x
            if i < 16:
                x[i] = i
            cuda.syncthreads()
        k[1, 32](X)""",
    "a barrier behind a return": """
        @cuda.jit
        def k(x):
            i = cuda.threadIdx.x
            if i >= 16:
                return
            x[i] = i
            cuda.syncthreads()
        k[1, 32](X)""",
    "both indices, or one dimension": """
        @cuda.jit
        def both(x):
            i, j = cuda.grid(2)
            x[i, j] = 2.0 * x[i, j]
        @cuda.jit
        def one(x):
            i = cuda.grid(1)
            x[i] = 2.0 * x[i]
        a = A.copy()
        both[1, (4, 4)](a)
        one[1, 16](a.ravel())
        assert a.tolist() == (4 * A).tolist()""",
    "states": """
        @cuda.jit
        def k(states, x):
            x[0] = cuda.random.xoroshiro128p_uniform_float32(states, cuda.grid(1))
        x = np.array([7.0])
        k[1, 1](cuda.random.create_xoroshiro128p_states(1, seed=3), x)
        assert 0 < x[0] <= 1""",
    "a product of matrices": """
        @cuda.jit
        def k(a, b, c):
            i, j = cuda.grid(2)
            s = 0.0
            for k in range(a.shape[1]):
                s += a[i, k] * b[k, j]
            c[i, j] = s
        c = np.zeros((4, 4))
        k[1, (4, 4)](A, A, c)
        assert c.tolist() == (A @ A).tolist()""",
    "memory of a thread": """
        @cuda.jit
        def k(x, scratch):
            t = cuda.local.array(3, np.float64)
            for i in range(3):
                t[i] = 0
            s = scratch[cuda.grid(1)]
            s[0] = cuda.grid(1)
            u = cuda.shared.array((2, 3), np.int32)
            u[0, 0] = 1
            cuda.syncthreads()
            x[cuda.grid(1)] = t[2] + s[0] + u[0, 0]
        threads, n = 16, 4
        x, scratch = np.zeros(16), np.zeros((threads, n))
        k[1, 16](x, scratch)
        assert x.tolist() == (X + 1).tolist()""",
    "an array, or None": """
        @njit
        def f(x):
            for v in x:
                if v > 2:
                    return x
            return None
        @njit
        def g(n):
            r = None
            if n > 3:
                r = "big"
            t = (1, 2)
            t = (3,) + t[1:]
            return r, t
        assert f(X) is X and f(X[:2]) is None and (g(4), g(3)) == (("big", (3, 2)), (None, (3, 2)))""",
    "an index for two axes": """
        @cuda.jit
        def k(x):
            n = 4
            l = cuda.grid(1)
            i, j = l // n, l % n
            x[i, j] = l
        a = A.copy()
        k[4, 4](a)
        assert a.tolist() == A.tolist()""",
    "the one axis": """
        @njit
        def f(x):
            n = x.shape[0]
            m, = x.shape
            return n, m
        assert f(X) == (16, 16)""",
    "a grid that is called": """
        @cuda.jit
        def k(x):
            i = cuda.grid(1)
            x[i] = 1
        k[1, 16](X)""",
    "options": """
        @njit
        def f(x):
            return x
        @njit(nogil=True)
        def g(x):
            return x
        assert f(3) == g(3) == 3""",
    "a default of the type of the values": """
        @njit
        def f(d, key):
            found = d.get(key)
            return d.get(key, 0), -1 if found is None else found
        assert f({1: 2}, 3) == (0, -1) and f({1: 2}, 1) == (2, 2)""",
    "functions that are made in another one": """
        def adder(i):
            return lambda x: x + i
        @njit
        def f(n):
            made = [adder(i) for i in range(3)]
            bound = [lambda x, i=i: x + i for i in range(3)]
            return made[1](n), bound[2](n)
        assert f(3) == (4, 5)""",
    "an instance made anew": """
        import dataclasses
        @dataclasses.dataclass
        class Settings:
            steps: int
            rate: float
        @njit
        def f(s):
            return Settings(steps=s.steps, rate=s.rate / 2)
        assert f(Settings(3, 0.5)) == Settings(3, 0.25)""",
}
