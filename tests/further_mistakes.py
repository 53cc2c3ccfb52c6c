"""Further mistakes, of people who try what Python, NumPy and other compilers taught them.

FURTHER: name -> source text, as in mistakes.py; test_mistakes.py keeps the texts.  FURTHER_MENDED: what these messages
advise, as programs that do it.
"""

FURTHER = {
    "tuples of two types put together": """
        @njit
        def f(l, t):
            return (*l, *t)
        print(f([1, 2], [0.5]))""",
    "empty list of an instance that a kept method fills": """
        class State2:
            def __init__(self): self.state = self.idle; self.log = []
            def idle(self, e): self.log.append(e)
        @njit
        def fsm2(ev):
            s = State2(); s.state(ev); return s.log
        fsm2("a")""",
    "class with its own getattr": """
        class GA:
            def __init__(self): self.x = 1
            def __getattr__(self, name): return 3
        @njit
        def f(g):
            return g.x
        f(GA())""",
    "functions put into a list one by one": """
        class Obs:
            def __init__(self): self.cbs = []
            def on(self, f): self.cbs.append(f)
        @njit
        def f(n):
            o = Obs()
            o.on(lambda v: v + 1)
            o.on(lambda v: -v)
            return [c(n) for c in o.cbs]
        f(1)""",
    "tuples of several lengths in lru_cache": """
        from functools import lru_cache
        @lru_cache
        def ways(coins, n):
            if n == 0: return 1
            if n < 0 or not coins: return 0
            return ways(coins, n - coins[0]) + ways(coins[1:], n)
        @njit
        def f(n):
            return ways((1, 2, 5), n)
        f(10)""",
    "dict of lists of two types": """
        @njit
        def f(d):
            return len(d)
        f({1: [1], 2: [2.5]})""",
    "stencil of one index over a matrix": """
        from krait import stencil
        s = stencil(lambda a: a[-1] + a[1])
        s(A)""",
    "stencil over a list": """
        from krait import stencil
        @stencil
        def s(a):
            return a[-1] + a[1]
        s([1.0, 2.0, 3.0])""",
    "stencil that returns a tuple": """
        from krait import stencil
        @stencil
        def s(a):
            return a[-1], a[1]
        s(X)""",
    "field that a dataclass lacks": """
        from dataclasses import dataclass, replace
        @dataclass
        class P:
            x: int
            y: int = 0
        @njit
        def f(p):
            return replace(p, z=1)
        f(P(1))""",
    "instance of a frozen class assigned": """
        from dataclasses import dataclass
        @dataclass(frozen=True)
        class P:
            x: int
        @njit
        def f(p):
            p.x = 3
        f(P(1))""",
    "namedtuple assigned": """
        from typing import NamedTuple
        class P(NamedTuple):
            x: int
        @njit
        def f(p):
            p.x = 3
        f(P(1))""",
    "keyword that a class does not take": """
        class P:
            def __init__(self, x, y): self.x = x; self.y = y
        @njit
        def f(n):
            return P(n, z=3).x
        f(1)""",
    "dict of a class by its type": """
        class B:
            names = {}
            def __init__(self, n): self.n = n
            def put(self, k): type(self).names[k] = 1
        @njit
        def f(n):
            b = B(n); b.put("a"); return n
        f(1)""",
    "namedtuple made by make": """
        from typing import NamedTuple
        class P(NamedTuple):
            x: int
            y: int
        @njit
        def f(x):
            return P._make(x)
        f((1, 2))""",
    "attributes as a dict": """
        class P:
            def __init__(self, x): self.x = x
        @njit
        def f(p):
            return vars(p)
        f(P(1))""",
    "counter of a class": """
        class CC:
            n = 0
            def __init__(self): CC.n += 1
        @njit
        def f():
            CC()
            return CC.n
        f()""",
    "attribute deleted": """
        class CC:
            def __init__(self): self.n = 1
            def gone(self): del self.n
        @njit
        def f():
            c = CC(); c.gone()
            return 1
        f()""",
    "instance as an index": """
        class I:
            def __init__(self): self.n = 1
        @njit
        def f(i):
            return [1, 2][i]
        f(I())""",
    "function that NumPy lacks": """
        @njit
        def f(x):
            return np.nope(x)
        f(X)""",
    "int in an attribute that is a bool": """
        class P:
            def __init__(self, n): self.n = n
        @njit
        def upd(p, n):
            p.n = n
        upd(P(True), 5)""",
    "a long line": """
        @njit
        def f(x):
            return {LONG}
        f(1)""".replace("{LONG}", "1 + " * 53 + "x.sqr()" + " + 1" * 30),
    "array of one element as a limit": """
        @cuda.jit
        def k(x, n):
            i = cuda.grid(1)
            if i < n:
                x[i] = 1
        k[1, 16](X, np.array([16]))""",
    "array for its element": """
        @cuda.jit
        def k(x, y):
            i = cuda.grid(1)
            if i < x.size:
                y[i] = x
        k[1, 16](X, X.copy())""",
    "grid as text": """
        @cuda.jit
        def k(x):
            x[0] = 1
        k["1", 16](X)""",
    "block by true division": """
        @cuda.jit
        def k(x):
            x[0] = 1
        k[1, (16 / 2, 2)](X)""",
    "grid in parentheses": """
        @cuda.jit
        def k(x):
            x[0] = 1
        k(1, 16)(X)""",
    "arguments in brackets": """
        @cuda.jit
        def k(x):
            x[0] = 1
        k[1, 16, X]()""",
    "grid too large along y": """
        @cuda.jit
        def k(x):
            x[0] = 1
        k[(1, 70000), 16](X)""",
    "value returned at the end of the data": """
        @cuda.jit
        def k(x):
            i = cuda.grid(1)
            if i >= x.size:
                return -1
            x[i] = 2
        k[1, 32](X)""",
    "instance made in a kernel": """
        class V:
            def __init__(self, x): self.x = x; self.l = []
        @cuda.jit
        def k(x):
            v = V(x[0])
            x[0] = v.x
        k[1, 1](X)""",
    "shared array of a parameter and a number": """
        @cuda.jit
        def k(x, n):
            s = cuda.shared.array((n, 2), np.float64)
            s[0, 0] = 1
        k[1, 1](X, 4)""",
    "shared array of half a tile": """
        TILE = 32 / 2
        @cuda.jit
        def k(x):
            s = cuda.shared.array(TILE, np.float64)
            s[0] = 1
            x[0] = s[0]
        k[1, 1](X)""",
    "cuda not imported": """
        del cuda
        njit(lambda x: cuda.grid(1))(X)""",
    "math not imported": """
        del math
        njit(lambda x: math.sqrt(x))(2.0)""",
    "prange not imported": """
        @njit(parallel=True)
        def f(x):
            s = 0.0
            for i in prange(x.size):
                s += x[i]
            return s
        f(X)""",
    "prange left early": """
        from krait import prange
        @njit(parallel=True)
        def f(x):
            for i in prange(x.size):
                if x[i] > 3:
                    return i
            return -1
        f(X)""",
    "prange left by break": """
        from krait import prange
        @njit(parallel=True)
        def f(x):
            s = 0.0
            for i in prange(x.size):
                s += x[i]
                if x[i] > 3:
                    break
            return s
        f(X)""",
    "prange over an array": """
        from krait import prange
        @njit(parallel=True)
        def f(x):
            s = 0.0
            for v in prange(x):
                s += v
            return s
        f(X)""",
    "append in prange": """
        from krait import prange
        @njit(parallel=True)
        def f(x):
            out = []
            for i in prange(x.size):
                out.append(x[i])
            return out
        f(X)""",
    "index of the largest in parallel": """
        from krait import prange
        @njit(parallel=True)
        def f(x):
            best = 0
            for i in prange(x.size):
                if x[i] > x[best]:
                    best = i
            return best
        f(X)""",
    "guvectorize with a parameter too many": """
        from krait import guvectorize
        @guvectorize(["void(float64[:], float64[:], float64[:])"], "(n)->(n)")
        def f(x, y, z):
            y[0] = x[0]""",
    "guvectorize whose result is assigned": """
        from krait import guvectorize
        @guvectorize(["void(float64[:], float64[:])"], "(n)->()")
        def f(x, y):
            y = x.sum()
        print(f(X))""",
    "guvectorize with an axis too many": """
        from krait import guvectorize
        @guvectorize(["void(float64[:,:], float64[:])"], "(n)->(n)")
        def f(x, y):
            y[0] = x[0, 0]""",
    "vectorize with arrays in its signature": """
        @vectorize(["float64[:](float64[:])"])
        def f(x):
            return x""",
    "stencil with a loop": """
        from krait import stencil
        @stencil
        def s(a):
            t = 0.0
            for i in range(-1, 2):
                t += a[i]
            return t
        s(X)""",
    "stencil without a result": """
        from krait import stencil
        @stencil
        def s(a):
            b = a[0] + a[1]
        s(X)""",
    "option that stencil lacks": """
        from krait import stencil
        @stencil(boundary="wrap")
        def s(a):
            return a[0] + a[1]
        s(X)""",
    "border of a stencil as text": """
        from krait import stencil
        @stencil(cval="zero")
        def s(a):
            return a[0] + a[1]
        s(X)""",
    "stencil of one and two indices": """
        from krait import stencil
        @stencil
        def s(a):
            return a[0, 1] + a[0]
        s(A)""",
    "neighborhood without axes": """
        from krait import stencil
        @stencil(neighborhood=(-1, 1))
        def s(a):
            return a[-1] + a[1]
        s(X)""",
    "stencil without an index": """
        from krait import stencil
        @stencil
        def s(a):
            return a * 2
        s(X)""",
    "matrix reduced": """
        @cuda.reduce
        def total(a, b):
            return a + b
        print(total(A))""",
    "reduction of three values": """
        @cuda.reduce
        def total(a, b, c):
            return a + b
        total(X)""",
    "reduction in a kernel": """
        @cuda.reduce
        def total(a, b):
            return a + b
        @cuda.jit
        def k(x):
            x[0] = total(x)
        k[1, 1](X)""",
    "reduction with a grid": """
        @cuda.reduce
        def total(a, b):
            return a + b
        total[1, 16](X)""",
    "reduction without a result": """
        @cuda.reduce
        def total(a, b):
            c = a + b
        total(X)""",
    "result of a reduction as a number": """
        @cuda.reduce
        def total(a, b):
            return a + b
        print(total(X, res=0.0))""",
    "stream without a call": """
        s = cuda.stream
        @cuda.jit
        def k(x):
            x[0] = 1
        k[1, 1, s](X)""",
    "events that were not recorded": """
        e = cuda.event()
        f = cuda.event()
        print(e.elapsed_time(f))""",
    "objects on the device": """
        d = cuda.to_device(np.array([1, None]))""",
    "forall of an array": """
        @cuda.jit
        def k(x):
            x[cuda.grid(1)] = 1
        k.forall(X)(X)""",
    "copy of another length to the device": """
        d = cuda.to_device(X)
        d.copy_to_device(X[:3])""",
    "arrays of two shapes in a list": """
        @njit
        def f(parts):
            return len(parts)
        f([X, A])""",
    "exception asked for its code": """
        @njit
        def f(x):
            try:
                raise ValueError("a")
            except ValueError as e:
                return e.errno
        f(X)""",
    "numbers joined by a text": """
        @njit
        def f(x):
            return ", ".join([x, x])
        f(1)""",
    "signature with an array without colons": """
        @njit("float64(float64[)")
        def f(x):
            return x[0]""",
    "signature with the name of a class of Python": """
        @njit("double(str)")
        def f(x):
            return 1.0
        f("a")""",
    "two signatures for jit": """
        @njit("f8(f8)", "i8(i8)")
        def f(x):
            return x""",
    "attribute of a function assigned": """
        @njit
        def f(x):
            f.calls = 1
            return x
        f(1)""",
    "number added to a generator": """
        @njit
        def numbers(n):
            for i in range(n):
                yield i
        @njit
        def f(n):
            return numbers(n) + 1
        f(3)""",
    "yield in a kernel": """
        @cuda.jit
        def k(x):
            yield x[0]
        k[1, 1](X)""",
    "function of the system in a kernel": """
        def read(path):
            import os
            return os.listdir(path)
        @cuda.jit
        def k(x):
            x[0] = len(read("."))
        k[1, 1](X)""",
    "class defined inside": """
        @njit
        def f(x):
            class P:
                pass
            return P()
        f(1)""",
    "lambda in a kernel that makes text": """
        @cuda.jit
        def k(x):
            f = lambda v: str(v)
            x[0] = f(x[0])
        k[1, 1](X)""",
    "one of two arrays of different types": """
        @njit
        def f(n):
            x = np.ones((2, 2), np.complex128)
            y = np.eye(2)
            return np.kron(x, x if n else y).sum() * 2.0 + n * 3.0 - x[0, 0]
        f(1)""",
    "item of an array of texts and a number": """
        @njit
        def f(names):
            return names[0] + 1
        f(np.array(["ab", "c"]))""",
    "array of other dimensions than the signature": """
        @njit("float64(float64[:, :])")
        def f(x):
            return x[0, 0]
        f(np.ones(3))""",
    "and between masks": """
        @njit
        def f(x):
            return x[(x > 1) and (x < 3)]
        f(X)""",
    "masks without parentheses": """
        @njit
        def f(x):
            return x[x > 1 & x < 3]
        f(X)""",
    "text added to bytes": """
        @njit
        def f(x):
            return x + "a"
        f(b"a")""",
    "function returned": """
        @njit
        def f(x):
            def g(y):
                return x + y
            return g
        f(1)(2)""",
    "two names in a loop over an array": """
        @njit
        def f(x):
            for i, v in x:
                pass
            return 0
        f(X)""",
    "two names in a loop over a dict": """
        @njit
        def f(d):
            s = 0
            for k, v in d:
                s += v
            return s
        f({1: 2})""",
    "list repeated by a float": """
        @njit
        def f(n):
            return [0] * (n / 2)
        f(4)""",
    "result of append": """
        @njit
        def f(n):
            a = [1]
            a = a.append(n)
            return len(a)
        f(1)""",
    "result of sort indexed": """
        @njit
        def f(a):
            return a.sort()[0]
        f([2, 1])""",
    "set indexed": """
        @njit
        def f(s):
            return s[0]
        f({1, 2})""",
    "max of two arrays": """
        @njit
        def f(x, y):
            return max(x, y)
        f(X, X)""",
    "abs of a list": """
        @njit
        def f(x):
            return abs(x)
        f([1, -1])""",
    "round to a float of digits": """
        @njit
        def f(x):
            return round(x, 2.0)
        f(1.234)""",
    "nonlocal of two types": """
        @njit
        def f(n):
            t = 0
            def g():
                nonlocal t
                t = "a"
            g()
            return t
        f(1)""",
    "masked array as an argument": """
        @njit
        def f(x):
            return x.sum()
        f(np.ma.array([1, 2], mask=[0, 1]))""",
    "decimal as an argument": """
        from decimal import Decimal
        @njit
        def f(x):
            return x * 2
        f(Decimal("1.5"))""",
    "slice of floats as an argument": """
        @njit
        def f(x, part):
            return x[part]
        f(X, slice(1, len(X) / 2))""",
    "bytearray as an argument of a kernel": """
        @cuda.jit
        def f(data):
            data[0] = 1
        f[1, 1](bytearray(3))""",
    "path as an argument": """
        from pathlib import Path
        @njit
        def f(p):
            return str(p)
        f(Path("a"))""",
    "open file as an argument": """
        @njit
        def f(x):
            return x.read()
        import io
        f(io.StringIO("a"))""",
    "target that vectorize lacks": """
        @vectorize(["float64(float64)"], target="gpu")
        def f(x):
            return x""",
    "overload that returns a number": """
        from krait.extending import overload
        def half(x): pass
        @overload(half)
        def ov(x):
            return 3
        njit(lambda x: half(x))(2.0)""",
    "objmode without types": """
        from krait import objmode
        @njit
        def f(x):
            with objmode():
                y = x + 1
            return y
        f(1)""",
    "grid in a function of njit": """
        @njit
        def f(x):
            return cuda.grid(1)
        f(X)""",
    "print to a file": """
        import sys
        @njit
        def f(x):
            print(x, file=sys.stderr)
        f(1)""",
    "environment inside": """
        import os
        @njit
        def f(x):
            return os.environ["HOME"]
        f(1)""",
    "texts chosen by where": """
        @njit
        def f(x):
            return np.where(x > 1, "a", 2)
        f(X)""",
    "function of C as an argument": """
        @njit
        def f(g, x):
            return g(x)
        f(open, 1)""",
    "shared memory as text": """
        @cuda.jit
        def k(x):
            x[0] = 1
        k[1, 16, 0, "1k"](X)""",
    "method called on its class": """
        class A1:
            def __init__(self): self.x = 1
            def get(self): return self.x
        @njit
        def f():
            return A1.get()
        f()""",
    "cfunc without a signature": """
        from krait import cfunc
        @cfunc
        def f(x):
            return x""",
}

FURTHER_MENDED = {
    "a list that begins with an item": """
        class State:
            def __init__(self):
                self.log = [""]
                self.log.clear()
                self.state = self.idle
            def idle(self, event):
                self.log.append(event)
        @njit
        def f(event):
            s = State()
            s.state(event)
            return s.log
        assert f("a") == ["a"]""",
    "all functions of a list at once": """
        class Observed:
            def __init__(self, called):
                self.called = called
        @njit
        def f(n):
            o = Observed([lambda v: v + 1, lambda v: -v])
            return [g(n) for g in o.called]
        assert f(1) == f.py_func(1)""",
    "tuples of any length in lru_cache": """
        from functools import lru_cache
        @lru_cache
        def ways(coins, n):
            if n == 0:
                return 1
            if n < 0 or not coins:
                return 0
            return ways(coins, n - coins[0]) + ways(coins[1:], n)
        @njit
        def f(n):
            return ways(tuple([1, 2, 5]), n)
        assert f(10) == 10""",
    "values of a dict of lists converted": """
        d = {"a": [1], "b": [2.5]}
        @njit
        def f(d):
            return d["a"][0] + d["b"][0]
        assert f({k: [float(x) for x in v] for k, v in d.items()}) == 3.5""",
    "other instances": """
        import dataclasses
        from typing import NamedTuple
        @dataclasses.dataclass(frozen=True)
        class P:
            x: int
        class Q(NamedTuple):
            x: int
        @njit
        def f(p, q):
            p = dataclasses.replace(p, x=3)
            q = q._replace(x=4)
            return p, q
        assert f(P(1), Q(1)) == (P(3), Q(4))""",
    "a stack of arrays": """
        @njit
        def f(a, b):
            return np.sum(np.stack((a, b)), axis=0)
        assert (f(X, X) == 2 * X).all()""",
    "a dict of the class by its name, and a list that counts": """
        class B:
            names, made = {}, [0]
            def __init__(self, n):
                B.made[0] += 1
                self.names["a"] = n
        @njit
        def f(n):
            B(n)
            return B.names["a"], B.made[0]
        assert f(3) == (3, 1)""",
    "fields, counts, keys and attributes": """
        from collections import Counter
        from typing import NamedTuple
        class P(NamedTuple):
            x: int
            y: int
        @njit
        def f(pair, values):
            counts = {}
            for v in values:
                counts[v] = counts.get(v, 0) + 1
            p = P(*pair)
            most = max(counts, key=counts.get), Counter(values).most_common(1)[0][0]
            return p, most, sorted(values, key=lambda v: -v), p.x, getattr(p, "y")
        assert f((1, 2), [1, 2, 2]) == f.py_func((1, 2), [1, 2, 2])""",
    "None in place of an attribute, and a number of an instance": """
        class C:
            def __init__(self, n):
                self.n = n
            def gone(self):
                self.n = None
            def __index__(self):
                return 1
        @njit
        def f(n):
            c = C(n)
            c.gone()
            return c.n is None, [4, 5][c.__index__()]
        assert f(1) == (True, 5)""",
    "a place found in a loop": """
        @njit
        def f(v):
            place = 0
            for item in (1, "a"):
                if item == v:
                    return place
                place += 1
            return -1
        assert f("a") == 1""",
    "floats from the first on": """
        from collections import defaultdict
        @njit
        def f(n):
            t = [[0.0] * n for _ in range(n)]
            t[0][0] = 0.5
            d = defaultdict(float)
            d["a"] += 1.5
            return t, d["a"]
        assert f(2) == f.py_func(2)""",
    "items of one type in a tuple": """
        @njit
        def f(l, t):
            return (*[float(v) for v in l], *t), ("a", *[str(v) for v in l])
        assert f([1, 2], [0.5]) == f.py_func([1, 2], [0.5])""",
    "a parallel search": """
        from krait import prange
        @njit(parallel=True)
        def f(x):
            found = np.zeros(x.size, np.bool_)
            out = np.empty(x.size)
            for i in prange(x.size):
                found[i] = x[i] > 3
                out[i] = 2 * x[i]
            return np.flatnonzero(found)[0], out[-1], np.argmax(x)
        assert f(X) == (4, 30.0, 15)""",
    "a result of guvectorize written": """
        from krait import guvectorize
        @guvectorize(["void(float64[:], float64[:])"], "(n)->()")
        def f(x, y):
            y[0] = x.sum()
        assert f(X) == X.sum()""",
    "an instance of a dataclass in a kernel": """
        from dataclasses import dataclass
        @dataclass
        class V:
            x: float
        @cuda.jit
        def k(x):
            x[1] = V(x[3]).x
        x = np.arange(4.0)
        k[1, 1](x)
        assert x[1] == 3""",
    "a matrix and a device array reduced": """
        @cuda.reduce
        def total(a, b):
            return a + b
        res = cuda.device_array(1, np.float64)
        total(A.reshape(-1), res=res)
        assert total(A.reshape(-1)) == A.sum() == res.copy_to_host()[0]""",
    "what is advised for other things": """
        from decimal import Decimal
        from fractions import Fraction
        from pathlib import Path
        @njit
        def f(x, y, p, data, mask):
            return x + y, p, data[~mask].sum(), data.sum()
        masked = np.ma.array([1, 2], mask=[0, 1])
        got = f(float(Decimal("1.5")), float(Fraction(1, 2)), str(Path("a")), masked.data, np.ma.getmaskarray(masked))
        assert got == (2.0, "a", 1, 3) and f(1, 2, "", masked.filled(0), masked.mask)[3] == 1""",
    "loops, masks and methods that give None": """
        @njit
        def f(x, d, s, a, n):
            t = 0.0
            for i, v in enumerate(x):
                t += i * v
            for k, v in d.items():
                t += k * v
            for u, v in zip(x, x):
                t += u * v
            a.append(3)
            a.sort()
            return (t, x[(x > 1) & (x < 3)].sum(), sorted(a)[0], sorted(s)[0], [v for v in s], [0] * (n // 2),
                    np.maximum(x, x).max(), [abs(v) for v in a], ", ".join([str(v) for v in a]))
        arguments = X, {1: 2}, {3}, [2, 1], 4
        assert f(*arguments) == f.py_func(*arguments[:3], [2, 1], 4)""",
    "bytes, generators, texts chosen, and signatures in a list": """
        @njit
        def numbers(n):
            for i in range(n):
                yield i
        @njit
        def f(x, data, text):
            return (sum(numbers(3)), data + text.encode(), data.decode() + text,
                    ["a" if v > 3 else "b" for v in x][-1], round(x[1], 2))
        @njit(["f8(f8)", "i8(i8)"])
        def g(x):
            return x
        @njit("int64(unicode_type, ListType(int64), DictType(int64, float64), UniTuple(int64, 2), float64[:, :])")
        def h(a, b, c, d, e):
            return len(a) + len(b) + len(c) + len(d) + len(e)
        assert f(X, b"a", "b") == f.py_func(X, b"a", "b") and g(3) == 3 and h("a", [1], {1: 2.0}, (1, 2), A) == 9""",
    "what stands for slices and bytearrays": """
        @njit
        def f(x, start, stop, data, more):
            data[0] = 1
            return x[start:stop].sum(), more[0]
        part, numbers = slice(1, 3), bytearray(3)
        assert f(X, part.start, part.stop, np.frombuffer(numbers, np.uint8), bytes(numbers)) == (3, 0)
        assert numbers[0] == 1""",
    "what a function keeps": """
        @njit
        def f(x, calls):
            calls[0] += 1
            return x
        calls = [0]
        assert f(1, calls) == 1 and calls == [1]""",
}
