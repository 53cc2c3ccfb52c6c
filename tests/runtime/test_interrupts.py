"""Ctrl-C in compiled code: in every kind of loop, from every kind of caller, and what the program does afterwards.

Each case is a program of its own that is sent SIGINT while it runs.  How soon it must stop is not timed here
(benchmarks/ does): a program that does not stop at all runs into its limit.  Where it matters that the call has begun,
the signal waits for something that the call writes.
"""

import subprocess
import sys
import textwrap

import pytest

LIMIT = 200  # seconds: of what hangs; the machine may be busy
pytestmark = pytest.mark.timeout(LIMIT + 30)

PROGRAM = """
import os
os.environ["KRAIT_CUDA_DEVICE"] = "cpu"
os.environ["KRAIT_NUM_THREADS"] = "3"
import signal, sys, threading, time
import numpy as np
from krait import cuda, guvectorize, njit, vectorize

def soon(when=lambda: True, seconds=0.4):
    def send():
        time.sleep(seconds)
        while not when():
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=send, daemon=True).start()

def interrupted(call, *args):
    soon()
    try:
        call(*args)
    except KeyboardInterrupt as error:
        return error
    raise SystemExit("it ended without KeyboardInterrupt")

x = np.zeros(256)
big = 10**13
"""


def run(body):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM + textwrap.dedent(body)], capture_output=True, text=True, timeout=LIMIT
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


FUNCTIONS = {
    "while True": """
        while True:
            x[0] += 1
    """,
    "while, nothing but a condition": """
        while n > 0:
            pass
    """,
    "while, a condition of two parts": """
        i = 0
        while i < n and x[0] < 1e30:
            i += 1
    """,
    "while, a call in the condition": """
        while leaf(x[0]) < 2 and x[1] == 0:
            x[2] += 1
    """,
    "for": """
        s = 0
        for i in range(n):
            s += i ^ (s >> 1)
        x[0] = s
    """,
    "for, downwards by three": """
        s = 0
        for i in range(n, 0, -3):
            s += i ^ (s >> 1)
        x[0] = s
    """,
    "for, a step known at run time": """
        s = 0
        for i in range(0, n, int(x[9]) + 1):
            s += i ^ (s >> 1)
        x[0] = s
    """,
    "for with continue and break": """
        for i in range(n):
            if x[i & 7] > 1e30:
                break
            if i & 1:
                continue
            x[i & 7] += 1
    """,
    "nested": """
        for i in range(n):
            for j in range(9):
                for k in range(int(x[5]) + 3):
                    x[j] += k
    """,
    "nested, inner loops of no round": """
        for i in range(n):
            for j in range(int(x[5])):
                x[6] += 1
            x[7] = i
    """,
    "a loop in a callee": """
        for i in range(n):
            x[0] += looping(i)
    """,
    "a long loop in a callee, few rounds": """
        for i in range(1 << 17):
            x[0] += long(i)
    """,
    "a long list that is searched, few rounds": """
        some = list(range(100_000))
        for i in range(1 << 17):
            x[0] += -i - 1 in some
    """,
    "a loop in a callee's callee": """
        for i in range(n):
            x[0] += twice(i)
    """,
    "enumerate, zip and reversed": """
        while True:
            for i, (a, b) in enumerate(zip(x, x[::-1])):
                x[i] = a + b * 0.5
            for a in reversed(x):
                x[0] += a
    """,
    "whole arrays": """
        while True:
            x[:] = 1.0
            x += x
    """,
    "math": """
        for i in range(n):
            x[i & 7] = np.sin(x[i & 7]) ** 2
    """,
}

HELPERS = """
@njit
def leaf(v):
    return v * 0.0 + 1.0

@njit
def looping(n):
    s = 0
    for i in range(n & 127):
        s ^= i * n
    return s

@njit
def long(n):
    s = n
    for i in range(100_000):
        s = (s * 1103515245 + i) % 1000003
    return s

@njit
def twice(n):
    return looping(n) + looping(n + 1)
"""


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("options", ["", "nogil=True", "boundscheck=False"])
def test_loops_of_functions(name, options):
    if options and name not in ("for", "while True", "nested", "a loop in a callee"):
        pytest.skip("the options matter to none of these loops")
    body = textwrap.dedent(FUNCTIONS[name])
    source = HELPERS + f"\n@njit({options})\ndef f(x, n):\n" + textwrap.indent(body, "    ") + "    return x[0]\n"
    run(f"exec(compile({source!r}, 'loops.py', 'exec'))\nerror = interrupted(f, x, big)\n" + AFTER)


AFTER = """
@njit
def total(x):
    s = 0.0
    for v in x:
        s += v
    return s

assert total(np.arange(1000.0)) == 499500.0
grid = np.zeros(999)

@cuda.jit
def fill(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] = i

for _ in range(3):
    fill[8, 128](grid)
    assert (grid == np.arange(999)).all()
"""

KERNELS = {
    "a loop": ("while True:\n    x[i] += 1", "[4, 64]"),
    "a loop that counts": ("for k in range(10**13):\n    x[i] += k & i", "[4, 64]"),
    "barriers": ("while True:\n    cuda.syncthreads()\n    x[i] += 1", "[4, 64]"),
    "a loop between barriers": (
        "cuda.syncthreads()\nk = 0\nwhile x[0] < 1e30:\n    k += i\nx[i] = k\ncuda.syncthreads()",
        "[2, 32]",
    ),
    "one thread that the others wait for": ("if i == 7:\n    while x[0] < 1e30:\n        x[1] += 1", "[4, 64]"),
    "threads that wait for each other": (
        "if i & 1:\n    while cuda.atomic.add(x, 0, 0.0) < 1.0:\n        pass\nelif x.size == 7:\n    x[0] = 1",
        "[2, 64]",
    ),
    "a huge grid": ("if i < x.size:\n    x[i] += 1", "[2**31 - 1, 1024]"),
    "a huge grid with barriers": ("cuda.syncthreads()\nif i < x.size:\n    x[i] += 1", "[2**31 - 1, 32]"),
    "recursion": ("x[i] = tree(80)", "[2, 32]"),
}


@pytest.mark.parametrize("name", KERNELS)
def test_kernels(name):
    body, launch = KERNELS[name]
    source = (
        "@cuda.jit(device=True)\ndef tree(n):\n    return 1 if n < 2 else tree(n - 1) + tree(n - 2)\n"
        "@cuda.jit\ndef k(x):\n    i = cuda.grid(1)\n" + textwrap.indent(body, "    ") + "\n"
    )
    run(f"exec(compile({source!r}, 'kernels.py', 'exec'))\ninterrupted(k{launch}, x)\n" + AFTER)


OPERATIONS = {  # each on arrays that look as if they had 10**11 elements
    "assignments": ["x[:] = 1.0", "y[:, :] = 1", "y[:, :] = x[0] * 2", "x[:] = x[::-1]"],
    "in place": ["x += 1", "y *= 2.0", "x[1:] -= 1.0"],
    "expressions": ["x[:] = np.sin(x) + 1", "y[:, :] = y * 2 + y", "x[:] = np.where(x > 1, x, x * 2)"],
    "sums": ["r = np.sum(x)", "r = np.sum(i)", "r = y.mean()", "r = x.std()", "r = np.sum(y, axis=1)[0]"],
    "reductions": ["r = np.max(x * x)", "r = np.all(y == 0)", "r = np.any(x)", "r = np.count_nonzero(x)"],
    "walks": ["r = 5.0 in x", "r = sum(x)", "r = max(i)"],
}


@pytest.mark.parametrize("kind", OPERATIONS)
def test_operations_on_whole_arrays(kind):
    run(
        f"""
        from krait import _testing
        from numpy.lib.stride_tricks import as_strided
        x = as_strided(np.zeros(1), (10**11,), (0,))
        i = as_strided(np.zeros(1, np.int64), (10**11,), (0,))
        y = as_strided(np.zeros(1), (1000, 10**8), (0, 0))
        few = (np.zeros(1), np.zeros((1000, 1)), np.zeros(1, np.int64))

        for line in {OPERATIONS[kind]!r}:
            names = dict(np=np, njit=njit)
            exec(f"@njit\\ndef f(x, y, i):\\n    r, made = 0.0, np.zeros(9)\\n    {{line}}\\n    return made, r", names)
            names["f"](*few)
            live = _testing.heap_objects()
            print(line, flush=True)
            interrupted(names["f"], x, y, i)
            assert _testing.heap_objects() == live, line  # what the function had made is gone
        """
    )


def test_loops_of_calls_that_work_on_whole_arrays():
    """A round takes milliseconds, though it is one call."""
    run(
        """
        x = np.zeros(4_000_000)
        y = np.zeros((500, 500))
        calls = ("x.copy()", "np.sort(x)", "np.argsort(x)", "np.concatenate((x, x))", "x[:2_000_000] + 1", "y @ y")
        for call in calls:
            names = dict(np=np, njit=njit)
            exec(f"@njit\\ndef f(x, y, n):\\n    while n > 0:\\n        r = {call}\\n        n -= 1\\n", names)
            names["f"](x, y, 1)
            print(call, flush=True)
            interrupted(names["f"], x, y, big)
        """
    )


KINDS = {  # kind -> name -> what makes `call`, which would take hours
    "ufuncs": {
        "elements that take long and do not look themselves": """
            f = vectorize(["float64(float64)"])(long)
            call = lambda: f(np.ones(10**8))""",
        "light elements": """
            f = vectorize(["float64(float64)"])(lambda v: v + 1)
            call = lambda: f(endless(np.zeros(1)), out=endless(np.zeros(1)))""",
        "operands that NumPy converts": """
            f = vectorize(["float64(float64)"])(long)
            call = lambda: f(np.ones(10**7, np.int8))""",
        "results that are converted": """
            f = vectorize(["float32(float64)"])(long)
            call = lambda: f(np.ones(10**7))""",
        "elements that may raise": """
            f = vectorize(["int64(int64)"])(lambda v: 7 // (v + 1))
            call = lambda: f(endless(np.zeros(1, np.int64)), out=endless(np.zeros(1, np.int64)))""",
        "reduce": """
            f = vectorize(["float64(float64, float64)"])(lambda a, b: a + b)
            call = lambda: f.reduce(endless(np.zeros(1)))""",
        "accumulate": """
            f = vectorize(["float64(float64, float64)"])(lambda a, b: a + b)
            call = lambda: f.accumulate(endless(np.zeros(1)), out=endless(np.zeros(1)))""",
        "many cores": """
            f = vectorize(["float64(float64)"], target="parallel")(long)
            call = lambda: f(np.ones(10**8))""",
        "the host device": """
            f = vectorize(["float64(float64)"], target="cuda")(long)
            call = lambda: f(np.ones(10**8))""",
        "rows": """
            @guvectorize(["void(float64[:], float64[:])"], "(n)->()")
            def f(row, result):
                result[0] = long(row[0])
            call = lambda: f(np.ones((10**7, 2)))""",
        "a long row": """
            @guvectorize(["void(float64[:], float64[:])"], "(n)->()")
            def f(row, result):
                for v in row:
                    result[0] += v
            call = lambda: f(endless(np.zeros(1)))""",
        "rows on many cores": """
            @guvectorize(["void(float64[:], float64[:])"], "(n)->()", target="parallel")
            def f(row, result):
                result[0] = long(row[0])
            call = lambda: f(np.ones((10**7, 2)))""",
        "a stencil": """
            f = stencil(lambda a: a[-1] + a[1])
            f(x)
            call = lambda: f(endless(np.zeros(1)), out=endless(np.zeros(1)))""",
    },
    "parallel loops": {
        "a sum": """
            @njit(parallel=True)
            def f(x, n):
                s = 0.0
                for i in prange(n):
                    s += x[i & 7] * i
                return s
            f(x, 9)
            call = lambda: f(x, big)""",
        "long rounds": """
            @njit(parallel=True)
            def f(x, n):
                for i in prange(2):
                    while x[200] < n:
                        x[i] += 1
            f(x, -1)
            call = lambda: f(x, big)""",
        "loops in loops": """
            @njit(parallel=True)
            def f(x, n):
                for i in prange(n):
                    for j in prange(100):
                        x[j] += 1
            f(x, 2)
            call = lambda: f(x, big)""",
        "whole arrays": """
            @njit(parallel=True)
            def f(a, b):
                b[:] = np.sqrt(a) + 1
            f(x, x.copy())
            call = lambda: f(endless(np.zeros(1)), endless(np.zeros(1)))""",
    },
    "containers": {
        "a list": """
            @njit
            def f(n):
                items = [0, 1, 2]
                for i in range(n):
                    items.insert(0, items.pop())
                    items.append(i)
                    items.remove(i)
                    items.reverse()
                return len(items)
            f(2)
            call = lambda: f(big)""",
        "lists that are sorted": """
            @njit
            def f(items, n):
                for i in range(n):
                    items.sort(reverse=i % 2 == 0)
                    more = sorted(items, key=lambda v: v % 1000)
                return more[0]
            f([2, 1], 1)
            call = lambda: f(list(range(100_000)), big)""",
        "a dict": """
            @njit
            def f(n):
                found = {0: 0}
                for i in range(n):
                    found[i % 1000] = found.get(i % 777, 0) + 1
                return len(found)
            f(2)
            call = lambda: f(big)""",
        "texts": """
            @njit
            def f(n):
                text, found = "", {"": 0}
                for i in range(n):
                    text = text + str(i) if len(text) < 100 else ""
                    found[text.upper()[:2]] = i
                return len(found)
            f(2)
            call = lambda: f(big)""",
        "a set": """
            @njit
            def f(n):
                seen = {0}
                for i in range(n):
                    seen.add(i % 1000)
                    seen.discard(i % 7)
                return len(seen)
            f(2)
            call = lambda: f(big)""",
        "structs": """
            @njit
            def f(rows, n):
                for i in range(n):
                    for row in rows:
                        row.a += row.b
            rows = np.zeros(100, [("a", "f8"), ("b", "i4")])
            f(rows, 2)
            call = lambda: f(rows, big)""",
        "methods": """
            class Counter:
                def __init__(self):
                    self.n = 0

                def step(self):
                    self.n += 1

            @njit
            def f(counter, n):
                while counter.n < n:
                    counter.step()
            f(Counter(), 2)
            call = lambda: f(Counter(), big)""",
    },
    "generators and the interpreter": {
        "one that Python asks": """
            @njit
            def f(n):
                for i in range(n):
                    if i == n - 1:
                        yield i
            assert list(f(3)) == [2]
            call = lambda: next(f(big))""",
        "one inside": """
            @njit
            def numbers(n):
                for i in range(n):
                    yield i
            @njit
            def f(n):
                s = 0
                for v in numbers(n):
                    s ^= v
                return s
            f(3)
            call = lambda: f(big)""",
        "an expression": """
            f = njit(lambda n: any(i < 0 for i in range(n)))
            f(3)
            call = lambda: f(big)""",
        "itertools": """
            import itertools
            @njit
            def f(n):
                s = 0
                for i in itertools.count():
                    s ^= i
                    if i == n:
                        break
                return s
            f(3)
            call = lambda: f(big)""",
        "blocks of the interpreter in a loop": """
            @njit
            def f(x, n):
                for i in range(n):
                    with objmode(y="float64"):
                        y = float(i)
                    x[0] += y
            f(x, 2)
            call = lambda: f(x, big)""",
        "a loop in a block of the interpreter": """
            @njit
            def f(x, n):
                with objmode(y="float64"):
                    y = 0.0
                    while y < n:
                        y += 1
                x[0] = y
            f(x, 2)
            call = lambda: f(x, big)""",
        "handlers in a loop": """
            @njit
            def f(x, n):
                for i in range(n):
                    try:
                        if i % 3 == 0:
                            raise ValueError
                        x[0] += 1
                    except ValueError:
                        x[1] += 1
            f(x, 4)
            call = lambda: f(x, big)""",
    },
    "kernels": {
        "checked": """
            @cuda.jit(check=True)
            def k(x):
                while x[0] < 1e30:
                    x[cuda.grid(1)] += 1
            call = lambda: k[2, 64](x)""",
        "whose races are looked for": """
            @cuda.jit(check="race")
            def k(x):
                i = cuda.grid(1)
                while x[i] >= 0:
                    x[i] += 1
            call = lambda: k[2, 64](x)""",
        "of warps": """
            @cuda.jit
            def k(x):
                v = cuda.laneid
                while v < 100:
                    v = cuda.shfl_down_sync(0xffffffff, v, 1)
                x[0] = v
            call = lambda: k[2, 64](x)""",
        "whose blocks wait for each other": """
            @cuda.jit
            def k(x):
                grid = cuda.cg.this_grid()
                while x[0] < 1e30:
                    grid.sync()
                    x[cuda.grid(1)] += 1
            call = lambda: k[4, 64](x)""",
        "that rest": """
            @cuda.jit
            def k(x):
                while x[255] >= 0:
                    cuda.nanosleep(100)
            call = lambda: k[2, 64](x)""",
    },
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_loop(kind):
    cases = {name: textwrap.dedent(text) for name, text in KINDS[kind].items()}
    run(f"""
        import linecache
        from krait import objmode, prange, stencil
        from numpy.lib.stride_tricks import as_strided

        def endless(one):
            return as_strided(one, (10**12,), (0,))

        def long(v):
            s = v
            for i in range(100_000):
                s = s * 0.5 + v
            return s

        for name, text in {cases!r}.items():
            print(name, flush=True)
            names = dict(globals())
            linecache.cache[name] = (len(text), None, text.splitlines(True), name)
            exec(compile(text, name, "exec"), names)
            x[:] = 0
            soon(seconds=0.2)
            try:
                names["call"]()
            except KeyboardInterrupt:
                continue
            raise SystemExit(name + " ended without KeyboardInterrupt")
    """ + textwrap.indent(AFTER, "        "))


def test_compilation():
    """A signal ends it before code is generated, and nothing is made; the next call compiles all of it."""
    run(
        """
        from krait.extending import overload

        def ask(v):
            pass

        asked = []

        @overload(ask)
        def asking(v):
            if not asked:
                asked.append(v)
                signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
            return lambda v: v + 1

        def handler(number, frame):
            if frame.f_code.co_name == "<module>":  # no code of Python's runs within the call
                signal.setitimer(signal.ITIMER_REAL, 0)
                raise KeyboardInterrupt

        signal.signal(signal.SIGALRM, handler)
        exec("@njit\\ndef f(v):\\n    s = ask(v)\\n" + "    s = s ^ (v * 3)\\n" * 50000 + "    return s\\n")
        try:
            f(1)
        except KeyboardInterrupt:
            assert asked and not f.signatures, f.signatures
        else:
            raise SystemExit("it ended without KeyboardInterrupt")
        assert f(1) == 2 and f.signatures
        """
    )


def test_a_handler_around_an_operation_on_a_whole_array():
    run(
        """
        from numpy.lib.stride_tricks import as_strided
        @njit
        def f(x, y):
            try:
                x += 1
            except KeyboardInterrupt:
                return 7
            return np.sum(y)

        written = np.zeros(1)
        x = as_strided(written, (10**11,), (0,))
        soon(lambda: written[0] > 0)
        assert f(x, np.zeros(1)) == 7
        """
    )


def test_recursion():
    run(
        """
        @njit
        def tree(n):
            return 1 if n < 2 else tree(n - 1) + tree(n - 2)

        interrupted(tree, 90)
        assert tree(20) == 10946
        """
        + textwrap.indent(AFTER, " " * 8)
    )


def test_a_ufunc_over_a_large_array():
    run(
        """
        @vectorize
        def slow(x):
            s = 0.0
            for i in range(30):
                s = s * x + 1.0
            return s

        many = np.full(50_000_000, 0.5)
        small = slow(many[:9])
        def work():
            while True:
                slow(many, out=many)
        interrupted(work)
        assert (slow(np.full(9, 0.5)) == small).all()
        """
    )


def test_the_error_names_the_line():
    run(
        """
        import traceback
        @njit
        def f(n):
            s = 0
            for i in range(n):
                s ^= i * s + 1
            return s
        error = interrupted(f, big)
        names = [frame.name for frame in traceback.extract_tb(error.__traceback__)]
        assert names[-1] == "f", names
        """
    )


def test_a_handler_of_the_users_own():
    """What it raises comes out of the call; if it raises nothing, the call goes on."""
    run(
        """
        class Enough(Exception):
            pass

        seen = []
        def handler(number, frame):
            seen.append(number)
            if len(seen) == 3:
                raise Enough("three")
            soon(seconds=0.1)

        signal.signal(signal.SIGINT, handler)
        @njit
        def f(x):
            while True:
                x[0] += 1
        @cuda.jit
        def k(x):
            i = cuda.grid(1)
            while True:
                x[i] += 1

        for call in (lambda: f(x), lambda: k[3, 32](x)):
            seen.clear()
            soon()
            try:
                call()
            except Enough as error:
                assert str(error) == "three" and len(seen) == 3
            else:
                raise SystemExit("the exception was lost")
        """
    )


def test_what_a_handler_raises_is_caught_by_its_class():
    """Of classes below one another, of two bases, and of none that `except Exception` catches."""
    run(
        """
        class Both(KeyError, ValueError):
            pass
        class Other(BaseException):
            pass

        def spin(n, a):
            s = 0.0
            while n > 0 and s >= 0:
                s += a
                n -= 1
            return s

        def make(spin):
            def all_named(n, a):
                try:
                    spin(n, a)
                except KeyError as e:
                    return 1, str(e)
                except (ArithmeticError, ValueError) as e:
                    return 2, str(e)
                except KeyboardInterrupt as e:
                    return 3, str(e)
                except Exception as e:
                    return 4, str(e)
                except Other as e:
                    return 5, str(e)
                except BaseException as e:
                    return 6, str(e)
                return 7, ""

            def few_named(n, a):
                try:
                    try:
                        spin(n, a)
                    except ValueError:
                        return 1
                except Exception:
                    return 2
                return 3

            return all_named, few_named

        def outcome(f, raised):
            def handler(number, frame):
                raise raised
            signal.signal(signal.SIGALRM, handler)
            signal.setitimer(signal.ITIMER_REAL, 0.05)
            try:
                return f(big, 1.0)
            except BaseException as error:
                return error

        compiled = [njit(f) for f in make(njit(spin))]
        for f in compiled:
            f(3, 1.0)
        for raised in (Both("both"), ValueError("v"), OverflowError("o"), RuntimeError("r"), KeyError(3),
                       KeyboardInterrupt("k"), SystemExit(3), Other("other")):
            for f, g in zip(make(spin), compiled):
                wanted, got = outcome(f, raised), outcome(g, raised)
                assert got is wanted or got == wanted, (raised, wanted, got)
        """
    )


def test_a_handler_that_calls_compiled_code():
    run(
        """
        @njit
        def total(n):
            s = 0
            for i in range(n):
                s += i
            return s

        @njit
        def f(x):
            i = 0
            while x[0] == 0.0:
                i += 1
            return i

        @cuda.jit
        def k(x):
            i = cuda.grid(1)
            if i < x.size:
                x[i] = 1.0

        def handler(number, frame):
            assert total(1000) == 499500
            k[1, 256](x)

        signal.signal(signal.SIGINT, handler)
        soon()

        @njit
        def spins(x, n):
            s = 0
            for i in range(n):
                s ^= i * s + 1
            return s

        spins(x, 10**9 // 4)
        while x[0] == 0.0:
            spins(x, 10**8)
        assert x.sum() == 256
        """
    )


def test_other_threads_go_on():
    """A call that holds the interpreter's lock lets other threads have it: they run, and the main thread is
    interrupted."""
    run(
        """
        @njit
        def f(x, stop):
            while stop[0] == 0.0:
                x[0] += 1
            return x[0]

        stop = np.zeros(1)
        worker = threading.Thread(target=f, args=(x, stop))
        counted = []
        def count():
            while stop[0] == 0.0:
                counted.append(1)
                time.sleep(0.001)
        counter = threading.Thread(target=count)
        f(x, np.ones(1))
        worker.start()
        counter.start()
        while len(counted) < 20 or x[0] == 0.0:
            time.sleep(0.001)
        soon()
        try:
            while True:
                time.sleep(0.01)
        except KeyboardInterrupt:
            pass
        assert worker.is_alive()  # the signal was for the main thread
        stop[0] = 1.0
        worker.join()
        counter.join()
        """
    )


def test_threads_that_wait_for_each_other():
    run(
        """
        @njit
        def forever(x):
            while x[0] >= 0.0:
                x[1] += 1

        forever(np.full(2, -1.0))
        threading.Thread(target=forever, args=(x,), daemon=True).start()
        interrupted(forever, x)
        os._exit(0)
        """
    )


def test_after_a_fork():
    run(
        """
        @cuda.jit
        def k(x):
            i = cuda.grid(1)
            while True:
                x[i] += 1
        interrupted(k[4, 64], x)
        child = os.fork()
        if child == 0:
            interrupted(k[4, 64], x)
            os._exit(17)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 17
        """
    )


def test_handlers_see_interrupts():
    """Of loops in a try statement and around one, over a range, on a condition, with several ways back; what was caught
    is gone afterwards."""
    run("""
        @njit
        def over_a_range(n, x):
            s = 0
            try:
                for i in range(n):
                    s += i ^ (s >> 1)
            except KeyboardInterrupt:
                return -1
            return s

        @njit
        def on_a_condition(n, x):
            s = 0
            try:
                while s >= 0:
                    s += x[s & 7]
                    if s == n:
                        break
            finally:
                x[0] = 77
            return s

        @njit
        def around(n, x):
            c = 0
            for i in range(n):
                try:
                    if i % 3 == 1:
                        continue
                    c += x[i & 15]
                    if c == -2:
                        continue
                except IndexError:
                    c += 1
                except KeyboardInterrupt:
                    return -1
            return c

        ones = np.ones(8, np.int64)
        for f in (over_a_range, around):
            f(3, ones)
            soon()
            try:
                assert f(big, ones) == -1
            except KeyboardInterrupt:
                assert f is around  # a jump back to the head of a loop is in no try statement, interpreted or not
            assert f(3, ones) == f.py_func(3, ones)
            try:
                f(3, ones[:0])
            except IndexError:
                pass
        on_a_condition(1, ones.copy())
        assert isinstance(interrupted(on_a_condition, -5, ones), KeyboardInterrupt) and ones[0] == 77
    """)


def test_workers_take_the_signals_of_their_own_faults():
    """Blocked, they would end the process before `faulthandler` could say where; Ctrl-C is for the interpreter."""
    run(
        """
        @njit(parallel=True)
        def fill(x):
            for i in prange(x.size):
                x[i] = i

        def threads():
            return {int(number) for number in os.listdir("/proc/self/task")}

        import time
        from krait import prange
        before = threads()
        fill(np.zeros(10**6))
        faults = sum(1 << number - 1 for number in
                     (signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGABRT))
        for _ in range(600):  # a worker that had nothing to do may only be starting
            masks = []
            for number in threads() - before:
                with open(f"/proc/self/task/{number}/status") as status:
                    masks += [int(line.split()[1], 16) for line in status if line.startswith("SigBlk")]
            if len(masks) == 2 and not any(mask & faults for mask in masks):
                break
            time.sleep(0.1)
        assert len(masks) == 2 and not any(mask & faults for mask in masks), masks
        assert all(mask >> signal.SIGINT - 1 & 1 for mask in masks)
        """
    )


def test_calls_of_lapack_are_looked_behind_one_by_one():
    """A signal that waits when the loop begins ends it in the first round, however few rounds there are in 0.1 s."""
    run("""
        import _thread, functools, operator

        calls = [lambda a: np.linalg.det(a), lambda a: np.linalg.inv(a), lambda a: np.linalg.solve(a, a),
                 lambda a: np.linalg.svd(a), lambda a: np.linalg.eigh(a), lambda a: np.linalg.qr(a),
                 lambda a: np.linalg.cholesky(a), lambda a: np.linalg.norm(a, 2), lambda a: np.linalg.pinv(a),
                 lambda a: np.linalg.lstsq(a, a), lambda a: np.linalg.matrix_rank(a), lambda a: a @ a]
        for call in map(njit, calls):
            @njit
            def f(a, rounds, n):
                for i in range(n):
                    rounds[0] = i
                    call(a)

            rounds, a = np.zeros(1), np.eye(120)
            f(a, rounds, 1)
            time.sleep(0.05)  # it asks no more than once in 10 ms
            try:  # from C to C: the interpreter does not look between the two calls
                max([_thread.interrupt_main, functools.partial(f, a, rounds, 1000)], key=operator.call)
            except KeyboardInterrupt:
                assert rounds[0] < 2, rounds
            else:
                raise SystemExit("it ended without KeyboardInterrupt")
    """)
