"""Compile time and memory against the size of what is compiled, each compilation in a fresh process.

    python benchmarks/bench_compile.py [--jobs N] [--most SECONDS] [--wall SECONDS] [KIND ...]

Per kind the CPU time and the peak of memory at each size, and how fast they grow from each size to the next: the
exponent k in n**k, which tells linear (1) from quadratic (2) on any machine.  Run by itself it prints a table, and
which kinds grow faster than n**1.15; a group of `run.py` besides.
"""

import argparse
import math
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from common import Row, child

BOUND = 1.15
MOST = f"grows no faster than n**{BOUND}"
REPEATS = {1: 3, 10: 3, 100: 3, 1000: 2, 10_000: 1}  # size -> runs, the least of which counts

GENERATE = """
import ctypes, itertools, json, linecache, os, sys, time
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

def total(n):
    "The sum of n variables, in lines: Python itself does not compile 10,000 operators in one expression."
    return "    s = 0\\n" + "".join(f"    s += v{k}\\n" for k in range(n)) + "    return s\\n"

def joins(n):
    "n variables, two of which join at each of n joins."
    first = "".join(f"    v{k} = x * {k}.5\\n" for k in range(n))
    joined = "".join(f"    if x > {k}:\\n        v{k} = x\\n        v{k * 7 % n} = v{k} + 1\\n" for k in range(n))
    return "@njit\\ndef f(x):\\n" + first + joined + total(n), (1.0,)

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
    return "@njit\\ndef f(x, m):\\n" + first + "    for i in range(m):\\n" + body + total(n), (1.0, 3)

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
    return "@njit\\ndef f(x):\\n" + first + body + total(n), (7,)

def local_lists(n):
    made = "".join(f"    v{k} = [i, {k}]\\n" for k in range(n))
    used = "".join(f"    s += v{k}[i]\\n" for k in range(n))
    return "@njit\\ndef f(i):\\n    s = 0\\n" + made + used + "    return s\\n", (1,)

def local_strings(n):
    made = "".join(f"    v{k} = str(i + {k})\\n" for k in range(n))
    used = "".join(f"    s += len(v{k})\\n" for k in range(n))
    return "@njit\\ndef f(i):\\n    s = 0\\n" + made + used + "    return s\\n", (1,)

def local_arrays(n):
    made = "".join(f"    v{k} = np.zeros(m)\\n" for k in range(n))
    used = "".join(f"    s += v{k}[1]\\n" for k in range(n))
    return "@njit\\ndef f(m):\\n    s = 0.0\\n" + made + used + "    return s\\n", (3,)

def local_dicts(n):
    made = "".join(f"    v{k} = {{i: {k}}}\\n" for k in range(n))
    used = "".join(f"    s += v{k}[i]\\n" for k in range(n))
    return "@njit\\ndef f(i):\\n    s = 0\\n" + made + used + "    return s\\n", (3,)

def tried_arrays(n):
    made = "".join(f"        v{k} = np.zeros(m)\\n" for k in range(n))
    used = "".join(f"        s += v{k}[1]\\n" for k in range(n))
    caught = "    except IndexError:\\n        s = -1.0\\n    return s\\n"
    return "@njit\\ndef f(m):\\n    s = 0.0\\n    try:\\n" + made + used + caught, (3,)

def tried_values(n):
    source, arguments = tried_arrays(n)
    return source.replace("s = -1.0", "s -= 1.0"), arguments

def branch_lists(n):
    made = "".join(f"    v{k} = [i, {k}]\\n" for k in range(n))
    used = "".join(f"    if s > v{k}[i]:\\n        s += v{k}[0] - v{(k * 7) % n}[i]\\n" for k in range(n))
    return "@njit\\ndef f(i):\\n    s = 0\\n" + made + used + "    return s\\n", (1,)

def loop_lists(n):
    made = "".join(f"    v{k} = [i, {k}]\\n" for k in range(n))
    used = "".join(f"    for j in range(i):\\n        s += v{k}[j]\\n" for k in range(n))
    return "@njit\\ndef f(i):\\n    s = 0\\n" + made + used + "    return s\\n", (1,)

def dicts(n):
    return function("i", "    d = {{i: {0}}}\\n    s += d[i]\\n", n), (1,)

def sets(n):
    return function("i", "    d = {{i, {0}}}\\n    s += len(d)\\n", n), (1,)

def texts(n):
    return function("i", "    d = str(i) + 'a{0}'\\n    s += len(d)\\n", n), (1,)

def tuples(n):
    t = tuple((k, (k * 0.5, k)) for k in range(n))
    return "@njit\\ndef f(t):\\n    return t[0][1][0]\\n", (t,)

def tuples_made(n):
    inner = ", ".join(f"(x, (x + {k}, {k}))" for k in range(n))
    return f"@njit\\ndef f(x):\\n    t = ({inner},)\\n    return t[x][1][0]\\n", (0,)

def boolean(n):
    chain = " and ".join(f"x > {k}" for k in range(n))
    return f"@njit\\ndef f(x):\\n    return {chain}\\n", (7,)

def boolean_mixed(n):
    chain = " or ".join(f"x == {k} and y > {k}" for k in range(n))
    return f"@njit\\ndef f(x, y):\\n    return {chain}\\n", (7, 3)

def membership(n):
    return "@njit\\ndef f(x):\\n    return x in (" + ", ".join(map(str, range(n))) + ",)\\n", (7,)

def fstring(n):
    return "@njit\\ndef f(x):\\n    return f'" + "".join(f"a{{x}}" for k in range(n)) + "'\\n", (7,)

def literal_list(n):
    return "@njit\\ndef f(x):\\n    return [" + ", ".join(f"{k}" for k in range(n)) + "][x]\\n", (0,)

def literal_tuple(n):
    return "@njit\\ndef f(x):\\n    return (" + ", ".join(f"{k}" for k in range(n)) + ")[x]\\n", (0,)

def literal_dict(n):
    return "@njit\\ndef f(x):\\n    return {" + ", ".join(f"{k}: {k * 2}" for k in range(n)) + "}[x]\\n", (0,)

def literal_set(n):
    return "@njit\\ndef f(x):\\n    return x in {" + ", ".join(f"{k} + x" for k in range(n)) + "}\\n", (0,)

def literal_array(n):
    return "@njit\\ndef f(x):\\n    return np.array([" + ", ".join(f"{k}.5" for k in range(n)) + "])[x]\\n", (0,)

def literal_texts(n):
    return "@njit\\ndef f(x):\\n    return ['" + "', '".join(f"k{k}" for k in range(n)) + "'][x]\\n", (0,)

def inner(n):
    return function("x", "    def g{0}(y):\\n        return y + x + {0}\\n    s += g{0}(x)\\n", n), (1.0,)

def methods(n):
    fields = "    a: float\\n"
    body = "".join(f"    def m{k}(self, y):\\n        return self.a + y * {k}\\n" for k in range(n))
    calls = "".join(f"    s += c.m{k}(x)\\n" for k in range(n))
    cls = "import dataclasses\\n@dataclasses.dataclass(frozen=True)\\nclass C:\\n" + fields + body
    return cls + "@njit\\ndef f(x):\\n    s = 0.0\\n    c = C(x)\\n" + calls + "    return s\\n", (1.0,)

def fields(n):
    body = "".join(f"    a{k}: float\\n" for k in range(n))
    made = ", ".join(f"x + {k}" for k in range(n))
    cls = "import dataclasses\\n@dataclasses.dataclass(frozen=True)\\nclass C:\\n" + body
    return cls + f"@njit\\ndef f(x):\\n    c = C({made})\\n    return c.a0 + c.a{n-1}\\n", (1.0,)

def parameters(n):
    params = ", ".join(f"a{k}" for k in range(n))
    total = "".join(f"    s += a{k}\\n" for k in range(n))
    return f"@njit\\ndef f({params}):\\n    s = 0.0\\n{total}    return s\\n", tuple(range(n))

def array_parameters(n):
    params = ", ".join(f"a{k}" for k in range(n))
    total = "".join(f"    s += a{k}[0]\\n" for k in range(n))
    return f"@njit\\ndef f({params}):\\n    s = 0.0\\n{total}    return s\\n", tuple(np.zeros(2) for _ in range(n))

def shared(n):
    made = "".join(f"    s{k} = cuda.shared.array(2, np.float32)\\n    s{k}[t] = x[i] + {k}\\n" for k in range(n))
    used = "".join(f"    a += s{k}[1 - t]\\n" for k in range(n))
    head = "@cuda.jit\\ndef f(x, y):\\n    t = cuda.threadIdx.x & 1\\n    i = cuda.grid(1)\\n    a = 0.0\\n"
    return head + made + "    cuda.syncthreads()\\n" + used + "    x[i] = a\\n", (np.zeros(4), np.zeros(4))

def local_of_kernel(n):
    made = "".join(f"    s{k} = cuda.local.array(2, np.float32)\\n    s{k}[t] = x[i] + {k}\\n" for k in range(n))
    used = "".join(f"    a += s{k}[t]\\n" for k in range(n))
    head = "@cuda.jit\\ndef f(x, y):\\n    t = cuda.threadIdx.x & 1\\n    i = cuda.grid(1)\\n    a = 0.0\\n"
    return head + made + used + "    x[i] = a\\n", (np.zeros(4), np.zeros(4))

def whiles(n):
    return function("x", "    while s < x + {0}:\\n        s += 1\\n", n, "s = 0"), (1,)

def global_arrays(n):
    made = "".join(f"G{k} = np.full(2, {k}.5)\\n" for k in range(n))
    return made + function("x", "    s += G{0}[x]\\n", n), (1,)

def assigns(n):
    names = ", ".join(f"a{k}" for k in range(n))
    total = "".join(f"    s += a{k}\\n" for k in range(n))
    return f"@njit\\ndef f(t):\\n    {names}, = t\\n    s = 0\\n{total}    return s\\n", (tuple(range(n)),)

def divisions(n):
    return function("x", "    s += x // (x + {0})\\n", n), (1,)

def returns(n):
    return function("x", "    if x == {0}:\\n        return s\\n    s += x\\n", n, "s = 0"), (3000000,)

def yields(n):
    line = "    yield x + {0}\\n"
    made = "@njit\\ndef g(x):\\n" + "".join(map(line.format, range(n)))
    return made + function("x", "    for v in g(x):\\n        s += v\\n", 1, "s = 0"), (1,)

def comprehensions(n):
    return function("x", "    s += len([k + {0} for k in range(x)])\\n", n), (3,)

def asserts(n):
    return function("x", "    assert x > -{0}\\n    s += x\\n", n), (1,)

def resident(what):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) / 1024 for line in file if line.startswith(what))

def calm():
    "Gives back what is free and forgets the peak so far, so that small compilations count in full."
    ctypes.CDLL(None).malloc_trim(0)
    try:
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")
    except OSError:
        print("the peak of memory so far is not forgotten here", file=sys.stderr)

njit(lambda x: x)(1)
source, arguments = globals()[KIND](N)
names = {"njit": njit, "cuda": cuda, "np": np, "prange": prange}
linecache.cache["<made>"] = (len(source), None, source.splitlines(True), "<made>")
exec(compile(source, "<made>", "exec"), names)
f = names["f"] if "cuda.jit\\ndef f" not in source else names["f"][1, 1]
sys.setrecursionlimit(10**6)
calm()
before, start = resident("VmHWM"), time.process_time()
if callable(arguments):
    arguments(f)
else:
    f(*arguments)
print(json.dumps([(time.process_time() - start) * 1e3, resident("VmHWM") - before]))
"""

CHAINS = 1000  # Python's own compiler takes no longer chains of `elif`
KINDS = {  # name -> kind, or (kind, largest size)
    "lines `x[i] += ...`": "lines",
    "`if` statements": "branches",
    "loops, one behind another": "loops",
    "called functions": "called",
    "called device functions": "device",
    "lines of a kernel": "kernel",
    "calls in a chain": "chain",
    "items of a tuple": "items",
    "items of a tuple made here": "display",
    "handlers": "handlers",
    "handlers of what is raised": "raising",
    "lists of lists": "lists",
    "lists appended to a list": "appends",
    "small arrays of zeros": "zeros",
    "small arrays of numbers": "arrays",
    "short loops in loops": "nested",
    "sums of arrays": "sums",
    "expressions of slices": "slices",
    "parallel loops": "pranges",
    "called functions with loops": "loops_called",
    "variables that join": "joins",
    "items of a tuple added up": "whole",
    "branches of one `if`": ("elifs", CHAINS),
    "barriers of a kernel": "barriers",
    "conditional expressions": "conditionals",
    "cases of a `match`": "matches",
    "items of a tuple taken": "taken",
    "functions that call in a ring": "mutual",
    "prints in branches": "prints",
    "loops of a kernel": "kernel_loops",
    "variables that a loop carries": "carried",
    "variables that a loop reads": "read",
    "variables, each of one branch": ("chosen", CHAINS),
    "specialisations": "specialisations",
    "lists that live at a time": "local_lists",
    "strings that live at a time": "local_strings",
    "arrays that live at a time": "local_arrays",
    "dicts that live at a time": "local_dicts",
    "arrays that live in a `try`": ("tried_arrays", 1000),
    "values changed in a `try` and read by its handler": "tried_values",
    "lists used in branches": "branch_lists",
    "lists used in loops": "loop_lists",
    "dicts, one behind another": "dicts",
    "sets, one behind another": "sets",
    "texts joined": "texts",
    "tuples in a tuple": "tuples",
    "tuples in a tuple made here": "tuples_made",
    "conditions joined by `and`": "boolean",
    "conditions joined by `and` and `or`": "boolean_mixed",
    "items of a tuple asked for `in`": "membership",
    "parts of an f-string": "fstring",
    "numbers of a list": "literal_list",
    "numbers of a tuple": "literal_tuple",
    "numbers of a dict": "literal_dict",
    "items of a set": "literal_set",
    "numbers of an array": "literal_array",
    "texts of a list": "literal_texts",
    "inner functions": "inner",
    "methods of a class": "methods",
    "fields of a class": "fields",
    "parameters": "parameters",
    "parameters that are arrays": "array_parameters",
    "shared arrays of a kernel": ("shared", 1000),
    "local arrays of a kernel": "local_of_kernel",
    "`while` loops": "whiles",
    "global arrays": "global_arrays",
    "names unpacked from a tuple": "assigns",
    "divisions": "divisions",
    "returns in branches": "returns",
    "values of a generator": "yields",
    "comprehensions": "comprehensions",
    "assertions": "asserts",
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


def growth(figures, sizes):
    """The exponents between neighbouring sizes; what is below a millisecond or a megabyte counts as that."""
    logs = [math.log(max(figure, 1.0)) for figure in figures]
    return [(b - a) / math.log(n / m) for a, b, m, n in zip(logs, logs[1:], sizes, sizes[1:])]


def measured(kinds, jobs=1, most=60, wall=3600, repeats=REPEATS):
    """{name: {size: (milliseconds, megabytes), or what came instead}}, `jobs` processes at a time, the long ones first.

    A process that takes more than `most` seconds, or that runs when `wall` seconds have passed, is killed.
    """
    end = time.monotonic() + wall
    runs = []
    for name in reversed(list(kinds)):  # the last kinds take longest
        kind, largest = KINDS[name] if isinstance(KINDS[name], tuple) else (KINDS[name], max(REPEATS))
        runs += [(n, name, kind) for n, times in repeats.items() if n <= largest for _ in range(times)]
    runs.sort(key=lambda run: -run[0])

    def measure(run):
        size, _, kind = run
        left = end - time.monotonic()
        if left <= 0:
            return "not run"
        try:
            return child(f"KIND, N = {kind!r}, {size}\n" + GENERATE, timeout=min(most, left))
        except subprocess.TimeoutExpired:
            return f"over {most:.0f} s" if most <= left else "cut short"
        except RuntimeError as error:
            return str(error).strip().splitlines()[-1][:80]

    with ThreadPoolExecutor(jobs) as pool:
        results = list(pool.map(measure, runs))
    table = {name: {} for name in kinds}
    for (n, name, _), result in zip(runs, results):
        table[name].setdefault(n, []).append(result)
    for cells in table.values():
        for n, got in cells.items():
            figures = [result for result in got if not isinstance(result, str)]
            cells[n] = tuple(map(min, zip(*figures))) if figures else got[0]
    return {name: dict(sorted(cells.items())) for name, cells in table.items()}


def exponents(cells):
    """(smaller size, larger size, exponent of time, exponent of memory) of each step whose two ends were measured."""
    sizes = list(cells)
    for m, n in zip(sizes, sizes[1:]):
        if not isinstance(cells[m], str) and not isinstance(cells[n], str):
            yield m, n, *(growth(pair, (m, n))[0] for pair in zip(cells[m], cells[n]))


def rows(quick=False):
    out = []
    repeats = {n: 1 for n in REPEATS if n <= 1000} if quick else REPEATS
    for name, cells in measured(KINDS, repeats=repeats).items():
        for n, figures in cells.items():
            if isinstance(figures, str):
                print(f"{n} {name}: {figures}", file=sys.stderr)
                continue
            limit = "at most 1500 ms and 150 MB" if n == 1000 and "functions" in name else ""
            out.append(Row("compile", f"{n} {name}", "ms", figures[0], {}, limit=limit))
            out.append(Row("compile", f"{n} {name}, memory", "MB", figures[1], {}))
        for m, n, of_time, of_memory in exponents(cells):
            for what, exponent in (("time", of_time), ("memory", of_memory)):
                title = f"{name}, {m} to {n}: growth of {what}"
                out.append(Row("compile", title, "exponent", exponent, {}, limit=MOST))
    calls = child(CALLS)
    out.append(Row("compile", "a call of the last of 10,000 specialisations", "ns", calls["last"], calls))
    out.append(Row("compile", "calls of the first and the last in turns", "ns", calls["in turns"], calls))
    return out


def print_table(table):
    sizes = list(REPEATS)
    print("| kind | " + " | ".join(f"{n:,}" for n in sizes) + " | time | memory |")
    print("|" + " --- |" * (len(sizes) + 3))
    above, missing = [], []
    for name, cells in table.items():
        steps = list(exponents(cells))
        texts = [cells.get(n, "") for n in sizes]
        texts = [text if isinstance(text, str) else f"{text[0]:.0f} / {text[1]:.1f}" for text in texts]
        times, memories = (", ".join(f"{step[k]:.2f}" for step in steps) for k in (2, 3))
        print(f"| {name} | {' | '.join(texts)} | {times} | {memories} |")
        for m, n, *both in steps:
            above += [f"{name}, {m} to {n}, {what}: {exponent:.2f}"
                      for what, exponent in zip(("time", "memory"), both) if exponent > BOUND]
        missing += [f"{name}, {n}: {cell}" for n, cell in cells.items() if isinstance(cell, str)]
    print("\nCPU milliseconds / MB at the peak; below a millisecond or a megabyte counts as that in the exponents.")
    print(f"\n{len(above)} steps above n**{BOUND}:", *above, sep="\n- ")
    print(f"\n{len(missing)} not measured:", *missing, sep="\n- ")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kinds", nargs="*", metavar="KIND", help="part of a name in the table; all if none is given")
    parser.add_argument("--jobs", type=int, default=1, help="processes at a time")
    parser.add_argument("--most", type=float, default=60, help="seconds that a compilation may take")
    parser.add_argument("--wall", type=float, default=3600, help="seconds after which what still runs is killed")
    parser.add_argument("--calls", action="store_true", help="calls of 10,000 specialisations, too")
    options = parser.parse_args()
    kinds = [name for name in KINDS if not options.kinds or any(part in name for part in options.kinds)]
    print_table(measured(kinds, options.jobs, options.most, options.wall))
    if options.calls:
        print("\nCalls of 10,000 specialisations:", ", ".join(f"{k} {ns:.0f} ns" for k, ns in child(CALLS).items()))


if __name__ == "__main__":
    main()
