"""Compile time and memory against the size of what is compiled, each compilation in a fresh process.

Per kind the CPU time and the memory at each size, and how fast they grow from each size to the next: the exponent k in
n**k, which tells linear (1) from quadratic (2) on any machine.
"""

import math

from common import Row, child

MOST = "grows no faster than n**1.15"

GENERATE = """
import itertools, json, linecache, os, resource, sys, time
os.environ["KRAIT_CUDA_DEVICE"] = "cpu"
import numpy as np
from krait import cuda, njit, prange

def lines(n):
    return "@njit\\ndef f(x, i):\\n" + "".join(f"    x[i] += {k}\\n" for k in range(n)), (np.zeros(4), 1)

def branches(n):
    body = "".join(f"    if x > {k}:\\n        s += {k}\\n" for k in range(n))
    return "@njit\\ndef f(x):\\n    s = 0\\n" + body + "    return s\\n", (7,)

def loops(n):
    loop = "    for i in range(n + {0}):\\n        s += x[i & 3] * {0}.5\\n"
    body = "".join(map(loop.format, range(n)))
    return "@njit\\ndef f(x, n):\\n    s = 0.0\\n" + body + "    return s\\n", (np.zeros(4), 3)

def called(n):
    callees = "".join(f"@njit\\ndef g{k}(x):\\n    return x * {k} + 1\\n" for k in range(n))
    calls = "".join(f"    s += g{k}(x)\\n" for k in range(n))
    return callees + "@njit\\ndef f(x):\\n    s = 0.0\\n" + calls + "    return s\\n", (1.5,)

def device(n):
    callees = "".join(f"@cuda.jit(device=True)\\ndef g{k}(x):\\n    return x * {k} + 1\\n" for k in range(n))
    calls = "".join(f"    s += g{k}(x)\\n" for k in range(n))
    return callees + "@cuda.jit\\ndef f(out, x):\\n    s = 0.0\\n" + calls + "    out[0] = s\\n", (np.zeros(1), 1.5)

def items(n):
    return "@njit\\ndef f(t):\\n    return t[0]\\n", (tuple(range(n)),)

def kernel(n):
    body = "".join(f"        s = s * {k}.5 + y[i]\\n" for k in range(n))
    head = "@cuda.jit\\ndef f(x, y):\\n    i = cuda.grid(1)\\n    if i < x.size:\\n        s = x[i]\\n"
    return head + body + "        x[i] = s\\n", (np.zeros(4), np.zeros(4))

def chain(n):
    first = "@njit\\ndef g0(x):\\n    return x\\n"
    rest = "".join(f"@njit\\ndef g{k}(x):\\n    return g{k - 1}(x) + {k}\\n" for k in range(1, n))
    return first + rest + f"@njit\\ndef f(x):\\n    return g{n - 1}(x)\\n", (1.5,)

def display(n):
    return "@njit\\ndef f(x):\\n    t = (" + ", ".join(f"x + {k}" for k in range(n)) + ",)\\n    return t[x]\\n", (0,)

def specialisations(n):
    "n tuples of different types, each a specialisation of its own."
    kinds = (1, 1.5, True, np.int8(1), np.float32(1), 1j)
    tuples = itertools.islice(itertools.product(kinds, repeat=6), n)
    return "@njit\\ndef f(t):\\n    return t[0]\\n", (lambda f: [f(t) for t in tuples])

def function(parameters, line, n, first="s = 0.0", result="s", decorator="@njit"):
    "n times a few lines, {0} in them is the number."
    body = "".join(line.format(k) for k in range(n))
    return f"{decorator}\\ndef f({parameters}):\\n    {first}\\n{body}    return {result}\\n"

def handlers(n):
    handler = "    try:\\n        s += x[i + {0}]\\n    except IndexError:\\n        s -= {0}\\n"
    return function("x, i", handler, n), (np.zeros(4), 1)

def raising(n):
    raises = "    try:\\n        if i == {0}:\\n            raise ValueError('a')\\n        s += 1\\n"
    caught = "    except ValueError:\\n        s -= {0}\\n    finally:\\n        s += 2\\n"
    return function("i", raises + caught, n), (1,)

def lists(n):
    return function("i", "    a = [[]]\\n    a[0].append(i)\\n    s += a[0][0]\\n", n), (1,)

def appends(n):
    return function("i", "    a.append([i + {0}])\\n", n, "a = [[i]]", "len(a)"), (1,)

def zeros(n):
    return function("i", "    a = np.zeros(4)\\n    a[i] = {0}\\n    s += a[i]\\n", n), (1,)

def arrays(n):
    return function("i", "    a = np.array([s, {0}.0])\\n    s += a[i]\\n", n), (1,)

def nested(n):
    loop = "    for i in range(8):\\n        for j in range(8):\\n            s += x[i, j] * {0}\\n"
    return function("x", loop, n), (np.zeros((8, 8)),)

def sums(n):
    return function("x", "    s += x.sum()\\n", n), (np.zeros(4),)

def slices(n):
    return function("x", "    x[{0} % 4:] = x[{0} % 4:] + 1\\n", n), (np.zeros(4),)

def pranges(n):
    loop = "    for i in prange(x.size):\\n        x[i] += {0}\\n"
    return function("x", loop, n, decorator="@njit(parallel=True)"), (np.zeros(4),)

def loops_called(n):
    "Functions with a loop, which are inlined."
    loop = "@njit\\ndef g{0}(x):\\n    s = 0.0\\n    for v in x:\\n        s += v * {0}\\n    return s\\n"
    return "".join(map(loop.format, range(n))) + function("x", "    s += g{0}(x)\\n", n), (np.zeros(4),)

def joins(n):
    "n variables, two of which join at each of n joins."
    first = "".join(f"    v{k} = x * {k}.5\\n" for k in range(n))
    joined = "".join(f"    if x > {k}:\\n        v{k} = x\\n        v{k * 7 % n} = v{k} + 1\\n" for k in range(n))
    total = " + ".join(f"v{k}" for k in range(n))
    return "@njit\\ndef f(x):\\n" + first + joined + f"    return {total}\\n", (1.0,)

def whole(n):
    return "@njit\\ndef f(t):\\n    s = 0\\n    for v in t:\\n        s += v\\n    return s\\n", (tuple(range(n)),)

def elifs(n):
    first, more = "    if x == 0:\\n        s = 1\\n", "    elif x == {0} * 7:\\n        s = {0} * 3\\n"
    body = first + "".join(map(more.format, range(1, n)))
    return "@njit\\ndef f(x):\\n    s = 0\\n" + body + "    return s\\n", (7,)

def barriers(n):
    line = "    s[t] = s[(t + {0}) % 32] + y[i]\\n    cuda.syncthreads()\\n"
    head = "@cuda.jit\\ndef f(x, y):\\n    s = cuda.shared.array(32, np.float64)\\n    t = cuda.threadIdx.x\\n"
    first = "    i = cuda.grid(1)\\n    s[t] = x[i]\\n    cuda.syncthreads()\\n"
    return head + first + "".join(map(line.format, range(n))) + "    x[i] = s[t]\\n", (np.zeros(4), np.zeros(4))

def conditionals(n):
    return function("x", "    s += {0}.5 if x > {0} else x\\n", n), (7.5,)

def matches(n):
    cases = "".join(f"        case {k}:\\n            s = {k * 3}\\n" for k in range(n))
    return "@njit\\ndef f(x):\\n    s = 0\\n    match x:\\n" + cases + "    return s\\n", (7,)

def taken(n):
    return function("t", "    s += t[{0}]\\n", n), (tuple(range(n)),)

def mutual(n):
    call = "@njit\\ndef g{0}(x):\\n    return x if x < 1 else g{1}(x - 1) + {0}\\n"
    return "".join(call.format(k, (k + 1) % n) for k in range(n)) + "f = g0\\n", (7,)

def prints(n):
    return function("x", "    if x == {0}:\\n        print('a', x)\\n", n), (-1,)

def kernel_loops(n):
    loop = "    for k in range(y.size + {0}):\\n        s += y[k & 3] * {0}.5\\n"
    body = "".join(map(loop.format, range(n)))
    head = "@cuda.jit\\ndef f(x, y):\\n    i = cuda.grid(1)\\n    s = x[i]\\n"
    return head + body + "    x[i] = s\\n", (np.zeros(4), np.zeros(4))

def carried(n):
    "n variables that a loop carries from round to round."
    first = "".join(f"    v{k} = x * {k}.5\\n" for k in range(n))
    body = "".join(f"        v{k} = v{(k + 1) % n} + x\\n" for k in range(n))
    total = " + ".join(f"v{k}" for k in range(n))
    return "@njit\\ndef f(x, m):\\n" + first + "    for i in range(m):\\n" + body + f"    return {total}\\n", (1.0, 3)

def read(n):
    "n variables that a loop reads."
    first = "".join(f"    v{k} = x * {k}.5\\n" for k in range(n))
    body = "".join(f"        s = s * 0.5 + v{k}\\n" for k in range(n))
    head = "@njit\\ndef f(x, m):\\n    s = x\\n"
    return head + first + "    for i in range(m):\\n" + body + "    return s\\n", (1.0, 3)

def chosen(n):
    "n branches of one `if`, each of which writes a variable of its own."
    first = "".join(f"    v{k} = x\\n" for k in range(n)) + "    if x < 0:\\n        v0 = 1\\n"
    body = "".join(f"    elif x == {k}:\\n        v{k} = {k} * 3\\n" for k in range(n))
    lines = "".join(f"    s += v{k}\\n" for k in range(n))
    return "@njit\\ndef f(x):\\n" + first + body + "    s = 0\\n" + lines + "    return s\\n", (7,)

def memory():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

njit(lambda x: x)(1)
source, arguments = globals()[KIND](N)
names = {"njit": njit, "cuda": cuda, "np": np, "prange": prange}
linecache.cache["<made>"] = (len(source), None, source.splitlines(True), "<made>")
exec(compile(source, "<made>", "exec"), names)
f = names["f"] if "cuda.jit\\ndef f" not in source else names["f"][1, 1]
sys.setrecursionlimit(10**6)
before, start = memory(), time.process_time()
if callable(arguments):
    arguments(f)
else:
    f(*arguments)
print(json.dumps([(time.process_time() - start) * 1e3, memory() - before]))
"""

KINDS = {  # name -> (kind, sizes)
    "lines `x[i] += ...`": ("lines", (1, 10, 100, 1000, 10_000)),
    "`if` statements": ("branches", (1, 10, 100, 1000, 10_000)),
    "loops, one behind another": ("loops", (1, 10, 100, 1000, 10_000)),
    "called functions": ("called", (1, 10, 100, 1000, 10_000)),
    "called device functions": ("device", (1, 10, 100, 1000, 10_000)),
    "lines of a kernel": ("kernel", (1, 10, 100, 1000)),
    "calls in a chain": ("chain", (1, 10, 100, 1000, 10_000)),
    "items of a tuple": ("items", (1, 10, 100, 1000, 10_000)),
    "items of a tuple made here": ("display", (1, 10, 100, 1000, 10_000)),
    "handlers": ("handlers", (1, 10, 100, 1000, 10_000)),
    "handlers of what is raised": ("raising", (1, 10, 100, 1000, 10_000)),
    "lists of lists": ("lists", (1, 10, 100, 1000, 10_000)),
    "lists appended to a list": ("appends", (1, 10, 100, 1000, 10_000)),
    "small arrays of zeros": ("zeros", (1, 10, 100, 1000, 10_000)),
    "small arrays of numbers": ("arrays", (1, 10, 100, 1000, 10_000)),
    "short loops in loops": ("nested", (1, 10, 100, 1000, 10_000)),
    "sums of arrays": ("sums", (1, 10, 100, 1000)),
    "expressions of slices": ("slices", (1, 10, 100, 1000, 10_000)),
    "parallel loops": ("pranges", (1, 10, 100, 1000)),
    "called functions with loops": ("loops_called", (1, 10, 100, 1000, 10_000)),
    "variables that join": ("joins", (1, 10, 100, 1000)),
    "items of a tuple added up": ("whole", (1, 10, 100, 1000, 10_000)),
    "branches of one `if`": ("elifs", (1, 10, 100, 1000)),
    "barriers of a kernel": ("barriers", (1, 10, 100, 1000)),
    "conditional expressions": ("conditionals", (1, 10, 100, 1000, 10_000)),
    "cases of a `match`": ("matches", (1, 10, 100, 1000)),
    "items of a tuple taken": ("taken", (1, 10, 100, 1000)),
    "functions that call in a ring": ("mutual", (1, 10, 100, 1000)),
    "prints in branches": ("prints", (1, 10, 100, 1000)),
    "loops of a kernel": ("kernel_loops", (1, 10, 100, 1000)),
    "variables that a loop carries": ("carried", (1, 10, 100, 1000)),
    "variables that a loop reads": ("read", (1, 10, 100, 1000)),
    "variables, each of one branch": ("chosen", (1, 10, 100, 1000)),
    "specialisations": ("specialisations", (1, 10, 100, 1000, 10_000)),
}


CALLS = """
import itertools, json, os, time
os.environ["KRAIT_CUDA_DEVICE"] = "cpu"
import numpy as np
from krait import njit

f = njit(lambda t: t[0])
kinds = (1, 1.5, True, np.int8(1), np.float32(1), 1j)
tuples = list(itertools.islice(itertools.product(kinds, repeat=6), 10_000))
for t in tuples:
    f(t)

def nanoseconds(turns, number=20_000):
    start = time.process_time_ns()
    for _ in range(number // len(turns)):
        for t in turns:
            f(t)
    return (time.process_time_ns() - start) / number

kinds = {"first": tuples[:1], "last": tuples[-1:], "in turns": [tuples[0], tuples[-1]]}
got = {kind: [] for kind in kinds}
for _ in range(15):
    for kind, turns in kinds.items():
        got[kind].append(nanoseconds(turns))
print(json.dumps({kind: min(values) for kind, values in got.items()}))
"""


def _growth(figures, sizes):
    """The exponents between neighbouring sizes; what is below a millisecond or a megabyte counts as that."""
    logs = [math.log(max(figure, 1.0)) for figure in figures]
    return [(b - a) / math.log(n / m) for a, b, m, n in zip(logs, logs[1:], sizes, sizes[1:])]


def rows(quick=False):
    out = []
    for name, (kind, sizes) in KINDS.items():
        sizes = tuple(n for n in sizes if n <= (1000 if quick else 10_000))
        got = [min(child(f"KIND, N = {kind!r}, {n}\n" + GENERATE) for _ in range(1 if quick else 3)) for n in sizes]
        times, memories = zip(*got)
        for n, milliseconds, megabytes in zip(sizes, times, memories):
            limit = "at most 1500 ms and 150 MB" if n == 1000 and "functions" in name else ""
            out.append(Row("compile", f"{n} {name}", "ms", milliseconds, {}, limit=limit))
            out.append(Row("compile", f"{n} {name}, memory", "MB", megabytes, {}))
        for what, figures in (("time", times), ("memory", memories)):
            for m, n, exponent in zip(sizes, sizes[1:], _growth(figures, sizes)):
                title = f"{name}, {m} to {n}: growth of {what}"
                out.append(Row("compile", title, "exponent", exponent, {}, limit=MOST))
    calls = child(CALLS)
    out.append(Row("compile", "a call of the last of 10,000 specialisations", "ns", calls["last"], calls))
    out.append(Row("compile", "calls of the first and the last in turns", "ns", calls["in turns"], calls))
    return out
