"""Mistakes of every day: of students, and of those who come from Matlab, PyTorch, older Python; as in mistakes.py."""

EVERY_DAY = {
    "get of a dict without a key": """
        @njit
        def f(n):
            d = {1: 2.0}
            return d.get()
        f(1)""",
    "get of a dict with three arguments": """
        @njit
        def f(n):
            d = {1: 2.0}
            return d.get(1, 2, 3)
        f(1)""",
    "pop of a dict without a key": """
        @njit
        def f(n):
            d = {1: 2.0}
            return d.pop()
        f(1)""",
    "append of two values": """
        @njit
        def f(n):
            d = [1.0]
            d.append(1, 2)
            return d
        f(1)""",
    "reshape without a shape": """
        @njit
        def f(a):
            return a.reshape()
        f(X)""",
    "synchronize by another name": """
        cuda.sync()""",
    "misspelt type of the module types": """
        from krait import types
        @njit(types.flaot64(types.int64))
        def f(n):
            return n
        f(3)""",
    "class of Python in a tuple of types": """
        @njit((str,))
        def f(n):
            return n
        f(3)""",
    "result that the signature does not declare": """
        @njit("int64(float64[:])")
        def f(a):
            return a
        f(X)""",
    "text where the signature declares a number": """
        @njit("int64(float64)")
        def f(a):
            return "abc"
        f(1.0)""",
    "instance for a signature of numbers": """
        class Flt:
            def __init__(self, x): self.x = x
        @njit("float64(float64)")
        def f(a):
            return a
        f(Flt(1.0))""",
    "member of an enum for a signature of numbers": """
        import enum
        class Flt(enum.Enum):
            A = 1
        @njit("float64(float64)")
        def f(a):
            return a
        f(Flt.A)""",
    "instance for a signature in a compiled call": """
        class Flt:
            def __init__(self, x): self.x = x
        @njit("float64(float64)")
        def f(a):
            return a
        @njit
        def g():
            return f(Flt(1.0))
        g()""",
    "function for a signature of numbers": """
        @njit("float64(float64)")
        def f(a):
            return a
        f(f)""",
    "instance that a signature does not declare": """
        class Flt:
            def __init__(self, x): self.x = x
        @njit("float64(float64)")
        def f(a):
            return Flt(a)
        f(1.0)""",
    "index of a stencil outside its neighborhood": """
        from krait import stencil
        @stencil(neighborhood=((-1, 1),))
        def s(a):
            c = 0.0
            for i in range(-2, 3):
                c += a[i]
            return c
        s(X)""",
    "stencil of a number for a neighborhood": """
        from krait import stencil
        @stencil(neighborhood=1)
        def s(a):
            return a[0, 1]
        s(A)""",
    "cfunc with empty parentheses": """
        from krait import cfunc
        @cfunc()
        def f(x):
            return x""",
    "cfunc called without its argument": """
        from krait import cfunc
        @cfunc("float64(float64)")
        def f(x):
            return x
        f()""",
    "cfunc called without its argument in a function": """
        from krait import cfunc
        @cfunc("float64(float64)")
        def f(a):
            return a
        @njit
        def g():
            return f()
        g()""",
    "cfunc of another number of parameters": """
        from krait import cfunc
        @cfunc("float64(float64)")
        def f(x, y):
            return x""",
    "ufunc that only raises": """
        @vectorize
        def f(x):
            raise ValueError("no")
        f(X)""",
    "ufunc that returns on one path": """
        @vectorize
        def f(x):
            if x > 3:
                return x
        f(X)""",
    "ufunc of a text": """
        @vectorize
        def u(a, b):
            return a + b
        u(X, "a")""",
    "ufunc of one operand too few": """
        @vectorize(["float64(float64, float64)"])
        def u(a, b):
            return a + b
        u(X)""",
    "guvectorize with a length of no input": """
        from krait import guvectorize
        @guvectorize(["void(float64[:], float64[:])"], "(n)->(m)")
        def d(x, r):
            r[0] = x.sum()
        d(X)""",
    "counter set anew in prange": """
        from krait import prange
        @njit(parallel=True)
        def f(n):
            i = 0
            for k in prange(n):
                i += 1
                if i > 3:
                    i = 0
            return i
        f(3)""",
    "counter as an index in prange": """
        from krait import prange
        @njit(parallel=True)
        def f(a):
            n = 0
            for k in prange(a.size):
                if a[k] > 3:
                    a[n] = a[k]
                    n += 1
            return n
        f(X)""",
    "previous value in prange": """
        from krait import prange
        @njit(parallel=True)
        def f(a):
            last = 0.0
            for k in prange(a.size):
                a[k] = a[k] - last
                last = a[k]
            return last
        f(X)""",
    "prange with a fractional step": """
        from krait import prange
        @njit(parallel=True)
        def f(a):
            s = 0.0
            for k in prange(0, 1, 0.1):
                s += k
            return s
        f(X)""",
    "split at a number": """
        @njit
        def f(s):
            return s.split(1)
        f("abc")""",
    "join of a number": """
        @njit
        def f(s):
            return s.join(1)
        f("abc")""",
    "format without a name": """
        @njit
        def f(n):
            return "{a} {b}".format(a=n)
        f(3.5)""",
    "print with a misspelt keyword": """
        @njit
        def f(n):
            print(n, sepp=" ")
        f(3)""",
    "axis as text": """
        @njit
        def f(a):
            return a.sum(axis="0")
        f(A)""",
    "end of Matlab": """
        @njit
        def f(a):
            return a[end]
        f(X)""",
    "power of Matlab": """
        @njit
        def f(a):
            return a ^ 2
        f(X)""",
    "length of Matlab": """
        @njit
        def f(a):
            return length(a)
        f(X)""",
    "parentheses of Matlab": """
        @njit
        def f(a):
            return a(0)
        f(X)""",
    "average by another name": """
        @njit
        def f(a):
            return a.avg()
        f(X)""",
    "matrix product with a number": """
        @njit
        def f(a, b):
            return a @ b
        f(np.zeros((3, 2)), 2.0)""",
    "errstate inside": """
        @njit
        def f(a):
            with np.errstate(all="ignore"):
                return a / 0
        f(X)""",
    "misspelt method of an instance": """
        class P:
            def __init__(self): self.x = 1
            def norm(self): return self.x
        @njit
        def f(p):
            return p.nrom()
        f(P())""",
    "misspelt method behind super": """
        class B:
            def __init__(self): self.x = 1
            def get(self): return self.x
        class D(B):
            def get(self): return super().gett() + 1
        @njit
        def f(p):
            return p.get()
        f(D())""",
    "int of an array": """
        @njit
        def f(a):
            return int(a)
        f(X)""",
    "sum of texts": """
        @njit
        def f(s):
            return sum(["a", "b"])
        f(1)""",
    "max with a misspelt keyword": """
        @njit
        def f(s):
            return max(s, ky=len)
        f([1])""",
    "zip with a misspelt keyword": """
        @njit
        def f(s):
            return [a for a, b in zip(s, s, strick=True)]
        f([1])""",
    "enumerate with a keyword of another name": """
        @njit
        def f(s):
            return [a for a, b in enumerate(s, begin=1)]
        f([1])""",
    "product of atomics that there is not": """
        @cuda.jit
        def k(x):
            cuda.atomic.mul(x, 0, 1)
        k[1, 1](X)""",
    "place of a thread assigned": """
        @cuda.jit
        def k(x):
            cuda.threadIdx.x = 1
            x[0] = 1
        k[1, 1](X)""",
    "array of PyTorch": """
        @njit
        def f(a):
            return a.cuda()
        f(X)""",
    "transpose called": """
        @njit
        def f(a):
            return a.T()
        f(A)""",
    "contains of a text": """
        @njit
        def f(s):
            return s.contains("a")
        f("a")""",
    "unicode of Python 2": """
        @njit
        def f(n):
            return unicode(n)
        f(3)""",
    "null of another language": """
        @njit
        def f(n):
            if n == null:
                return 1
            return 2
        f(3)""",
    "power as a method": """
        @njit
        def f(n):
            return n.pow(2)
        f(3)""",
    "astype of a number": """
        @njit
        def f(n):
            return n.astype(np.float32)
        f(3)""",
    "load of a file": """
        @njit
        def f(a):
            return np.load("a.npy")
        f(A)""",
    "distribution by another name": """
        @njit
        def f(a):
            return np.random.gaussian(a)
        f(A)""",
    "shape as a tuple for randn": """
        @njit
        def f(n):
            return np.random.randn((n, n))
        f(3)""",
    "pack of struct": """
        import struct
        @njit
        def f(n):
            return struct.pack("<d", n)
        f(3.0)""",
    "index of a generator": """
        @njit
        def f(n):
            g = (i for i in range(n))
            return g[0]
        f(3)""",
    "misspelt member of an enum": """
        import enum
        class C(enum.Enum):
            RED = 1
        @njit
        def f(p):
            return C.REDD
        f(1)""",
    "member of an enum and a number": """
        import enum
        class Colour(enum.Enum):
            RED = 1
        @njit
        def f(a):
            return a + 1
        f(Colour.RED)""",
    "misspelt option of njit": """
        @njit(paralel=True)
        def d(x):
            return x""",
    "inline of another value": """
        @njit(inline="allways")
        def d(x):
            return x
        d(1)""",
    "misspelt keyword of linspace": """
        @njit
        def f(n):
            return np.linspace(0, 1, n, endpont=False)
        f(3)""",
    "set of lists": """
        @njit
        def f(n):
            return {[1], [2]}
        f(1)""",
    "misspelt keyword of shared memory": """
        @cuda.jit
        def k(x):
            s = cuda.shared.array(16, dtyp=np.float32)
            s[0] = 1
            x[0] = s[0]
        k[1, 1](X)""",
    "block for the size of shared memory": """
        @cuda.jit
        def k(x):
            s = cuda.shared.array(cuda.blockDim.x, np.float32)
            s[0] = 1
            x[0] = s[0]
        k[1, 1](X)""",
}
