"""Programs so large that they are compiled another way: the loops of long functions apart, the rest at level 0, long
chains of calls in pieces."""

import re
import textwrap
import time

import numpy as np
import pytest
from host_kernels import added_up, run_in_child
from oracle import make as made
from portions import AGAIN

from krait import _testing, cuda, jit


def branches(n):
    body = "".join(f"    if x > {k}:\n        s += x // (k - {n // 2 + k})\n        k += 1\n" for k in range(n))
    return "def f(x, k):\n    s = 0\n" + body + "    return s, k\n"


@pytest.mark.parametrize("n", [10, 1500])
def test_a_long_function(n):
    f = made(branches(n))
    assert jit(f)(n, 0) == f(n, 0)
    assert jit(f)(n // 2, 3) == f(n // 2, 3)
    with pytest.raises(ZeroDivisionError):
        f(n, n // 2)
    with pytest.raises(ZeroDivisionError, match="integer division or modulo by zero") as error:
        jit(f)(n, n // 2)
    assert error.traceback[-1].lineno + 1 == 4  # of the first quotient


def loops(n):
    loop = "    for i in range(x.size):\n        y[i] = x[i] * {k}.5 + s\n    s += x[z[{k}]]\n"
    return "def f(x, y, z):\n    s = 0.0\n" + "".join(loop.format(k=k) for k in range(n)) + "    return s\n"


@pytest.mark.parametrize("n", [2, 60, 900])
def test_loops_of_a_long_function(n):
    f = made(loops(n))
    x, y, wanted, z = np.arange(9.0), np.zeros(9), np.zeros(9), np.arange(n) % 9
    assert jit(f)(x, y, z) == f(x, wanted, z)
    assert (y == wanted).all()
    z[n - 1] = 9
    with pytest.raises(IndexError, match="index 9 is out of bounds") as error:
        jit(f)(x, y, z)
    assert error.traceback[-1].lineno + 1 == 2 + 3 * n  # of the last sum
    with pytest.raises(IndexError, match="out of bounds") as error:
        jit(f)(x, y[:3], z)
    assert error.traceback[-1].lineno + 1 == 4  # in the first loop


SHAPES = """
for i in range(n):
    s += x[i] * {k}
---
for i in range(n, 0, -{k} - 1):
    for j in range(i):
        s += x[j]
    for j in range(2):
        s -= j
---
for i, v in enumerate(x):
    s += i * v
---
for a, b in zip(x, x[::-1]):
    s += a * b - {k}
---
for v in reversed(x):
    s = s / 2 + v
---
it = iter(range({k}, {k} + n))
s += next(it)
for i in range(n - 1):
    s += next(it) * i
---
for i in range(n):
    if i % 3 == 1:
        continue
    for j in range(n):
        if j > i:
            break
        s += j
    else:
        continue
    s += 1
---
i = 0
while i < n:
    i += 1
    for j in range(i):
        if j == {k}:
            continue
        s += j
---
for i in (1, 2, {k}):
    try:
        s += x[i * n // 2]
    except IndexError:
        s -= 1
""".split("---")


@pytest.mark.parametrize("around", ["", "for again in range(3):\n"])
def test_loops_that_follow_one_another_do_not_disturb_one_another(around):
    """Of so many loops the iterators share memory."""
    loops = "".join(SHAPES[k % len(SHAPES)].format(k=k) for k in range(5 * len(SHAPES)))
    body = around + textwrap.indent(loops, "    " if around else "")
    f = made("def f(x, n):\n    s = 0.0\n" + textwrap.indent(body, "    ") + "\n    return s\n")
    for n in (1, 2, 7):
        x = np.arange(1.0, n + 1.0)
        assert jit(f)(x, n) == f(x, n)


def test_what_a_loop_sums_up_stays_in_registers():
    """Of a function with so many each loop is one of its own, which writes its sum once, when it is over."""
    n = 40
    loop = "    for i in range(x.size):\n        s += x[i] * {k}\n"
    f = made("def f(x):\n    s = 0\n" + "".join(loop.format(k=k + 3) for k in range(n)) + "    return s\n")
    text = _testing.stage(f, ["array(int64, 1, C)"], "opt")
    assert text.count("define internal") >= n
    assert text.count(".out") == 2 * n  # the parameter and the store
    assert jit(f)(np.arange(9)) == f(np.arange(9))


def test_variables_that_join_often_take_time_by_their_number():
    """A thousand variables and as many joins, each of two of them: all joined at each, which took minutes."""
    n = 1000
    made_first = "".join(f"    v{k} = x * {k}.5\n" for k in range(n))
    joins = "".join(f"    if x > {k}:\n        v{k} = x\n        v{k * 7 % n} = v{k} + 1\n" for k in range(n))
    f = made("def f(x):\n" + made_first + joins + "    return " + " + ".join(f"v{k}" for k in range(n)) + "\n")
    start = time.process_time()
    assert jit(f)(300.25) == f(300.25)
    assert time.process_time() - start < 10  # 1 s, but for a loaded machine


CHAINS = {
    "elif": ("    if x == -1:\n        s = 1\n", "    elif x == {0} * 7:\n        s += {0} * 3\n"),
    "if": ("", "    if x > {0}:\n        s += {0} - s // 7\n"),
    "match": ("    match x:\n", "        case {0}:\n            s = {0} * 3\n"),
}


@pytest.mark.parametrize("n", [30, 400])
@pytest.mark.parametrize("kind", CHAINS)
def test_a_value_that_is_compared_hundreds_of_times(kind, n):
    """No pass compares each of these conditions with all that hold there, and the code stays a search."""
    first, more = CHAINS[kind]
    f = made("def f(x, s):\n" + first + "".join(map(more.format, range(n))) + "    return s\n")
    for x in (-2, -1, 0, 1, 7, n - 1, n, 7 * n - 7, 7 * n):
        assert jit(f)(x, 5) == f(x, 5)
    text = _testing.stage(f, ["int64", "int64"], "opt")
    assert ("optnone" in text) == (kind == "if" and n > 300)  # a search has no such conditions
    assert ("switch i64" in text) == (kind != "if")


@pytest.mark.parametrize("n", [20, 200])
def test_sums_of_a_value_that_divide_it(n):
    """That `x + 3` is not zero is a condition of x: no pass looks at hundreds of them for each use of x."""
    f = made("def f(x, s):\n" + "".join(f"    s += x // (x + {k})\n" for k in range(n)) + "    return s\n")
    for x in (1, 7, 2**62, -n, -(2**63)):
        assert jit(f)(x, 5) == f(x, 5)
    for x in (0, -1, 1 - n):
        with pytest.raises(ZeroDivisionError) as error:
            jit(f)(x, 5)
        assert error.traceback[-1].lineno + 1 == 2 - x
    assert ("optnone" in _testing.stage(f, ["int", "int"], "opt")) == (n > 20)


def test_a_value_that_is_looked_for_among_a_thousand():
    """The answers are put together in runs: in one chain LLVM looks at each beside all before it."""
    f = made("def f(x):\n    return x in (" + ", ".join(map(str, range(0, 2000, 2))) + ")\n")
    depth = {}
    for to, a, b in re.findall(r"(%\d+): bool = or (%\d+), (%\d+)", _testing.stage(f, ["int"], "typed")):
        depth[to] = 1 + max(depth.get(a, 0), depth.get(b, 0))
    assert len(depth) >= 999 and max(depth.values()) < 100
    compiled = jit(f)
    for x in (-2, -1, 0, 1, 998, 1998, 1999, 2000):
        assert compiled(x) == f(x)


def test_inner_functions_that_share_a_variable_take_time_by_their_number():
    """All of the function was looked through for each place that reads the variable: 4,000 took 80 times as long as
    500."""
    def read(n):
        line = "    s += (lambda y: y * x + {k})(x)\n"
        f = made("def f(x):\n    s = 0\n" + "".join(line.format(k=k) for k in range(n)) + "    return s\n")
        start = time.process_time()
        _testing.stage(f, ["int"], "ir")
        return time.process_time() - start

    read(10)
    assert min(read(4000) for _ in range(3)) < 30 * min(read(500) for _ in range(3))


@pytest.mark.parametrize("n", [40, 800])
def test_a_long_tuple_added_up(n):
    values = tuple(k * 0.5 for k in range(n))
    assert jit(added_up)(values) == added_up(values)


@pytest.mark.parametrize("times", [4, 75])
def test_a_long_block_is_not_made_vectors_of(times):
    """What stands in one block without a branch is compared in pairs for that."""
    first = "".join(f"    v{k} = x * {k}\n" for k in range(8))
    body = "".join(f"        v{k} = v{k} * 0.5 + x\n" for k in range(8)) * times
    total = " + ".join(f"v{k}" for k in range(8))
    f = made("def f(x, m):\n" + first + "    for i in range(m):\n" + body + f"    return {total}\n")
    text = _testing.stage(f, ["float", "int"], "opt")
    assert ("x double>" in text) == (times == 4)
    assert jit(f)(0.25, 3) == f(0.25, 3)


def carried(n):
    first = "".join(f"    v{k} = x * {k}.5\n" for k in range(n))
    body = "".join(f"        v{k} = v{(k + 1) % n} + x\n" for k in range(n))
    total = " + ".join(f"v{k}" for k in range(n))
    return "def f(x, m):\n" + first + "    for i in range(m):\n" + body + f"    return {total}\n"


def read(n):
    first = "".join(f"    v{k} = x * {k}.5\n" for k in range(n))
    body = "".join(f"        s = s * 0.5 + v{k}\n" for k in range(n))
    return "def f(x, m):\n    s = x\n" + first + "    for i in range(m):\n" + body + "    return s\n"


@pytest.mark.parametrize("source", [carried(10), carried(400), read(10), read(700)])
def test_variables_that_a_loop_carries_or_reads(source):
    """A loop of hundreds stays where it is: each would be a parameter of a function made of it, and what it carries a
    result that is a parameter, too."""
    f = made(source)
    text = _testing.stage(f, ["float", "int"], "opt")
    assert max(line.count(", ") for line in text.splitlines() if line.startswith("define ")) < 20
    assert ".out" not in text
    assert jit(f)(0.25, 7) == f(0.25, 7)


def test_what_keeps_hundreds_of_values_does_not_hold_up_others():
    """Only the function that keeps them goes without the passes, where it is not most of what is compiled."""
    called = jit(made(read(600)))
    loops = "".join(f"    for i in range(y.size):\n        y[i] = y[i] * {k}.5 + {k}\n" for k in range(150))
    source = "def f(x, m, y):\n    r = called(x, m)\n" + loops + "    return r\n"
    text = _testing.stage(made(source, called=called), ["float", "int", "array(float64, 1, C)"], "opt")
    assert "optnone" in text and "x double>" in text


def test_loops_that_end_soon_stay_in_one_function():
    """Their rounds are counted in front of them, and none looks for signals: each by itself took twice the time."""
    loop = "    for i in range(n + {0}):\n        s += x[i & 3] * {0}.5\n"
    f = jit(made("def f(x, n):\n    s = 0.0\n" + "".join(map(loop.format, range(40))) + "    return s\n"))
    x = np.arange(4.0)
    assert f(x, 3) == f.py_func(x, 3)
    (text,) = f.inspect_llvm().values()
    assert len(re.findall(r"^define ", text, re.M)) <= 2  # of newer bytecode what raises stands apart; forty were loops


ARMS = {
    "elif": ("    if x < 0:\n        v0 = 1\n", "    elif x == {0}:\n        v{0} = x * 3\n"),
    "match": ("    match x:\n", "        case {0}:\n            v{0} = x * 3\n"),
    "loop": (
        "    while x < 0:\n        x += 1000\n        if x == 999:\n            v0 = 1\n            break\n",
        "        elif x == 1000 - {0}:\n            v{0} = x * 3\n            break\n",
    ),
}


@pytest.mark.parametrize("kind", ARMS)
def test_variables_times_branches(kind):
    """Each of 200 branches writes a variable of its own; where they meet, each variable had an operand for each."""
    n = 200
    first, more = ARMS[kind]
    variables = "".join(f"    v{k} = {k}\n" for k in range(n))
    lines = "".join(f"    s = s * 3 + v{k}\n" for k in range(n))
    body = variables + first + "".join(more.format(k) for k in range(2, n)) + "    s = 0\n" + lines
    f = made("def f(x):\n" + body + "    return s & 0xFFFFFFFFFFFF\n")
    text = _testing.stage(f, ["int64"], "llvm")
    assert sum(line.count("[ ") for line in text.splitlines() if " phi " in line) < n * n / 4
    compiled = jit(f)
    for x in (-1000, -990, -199, -17, -16, -2, -1, 0, 2, 17, 18, 33, 34, 199, 200):
        assert compiled(x) == f(x)


@pytest.mark.parametrize(("n", "kept"), [(60, False), (400, True)])
def test_of_many_calls_some_stay(n, kept):
    """A kernel that took in hundreds of functions was a block of thousands of branches; from some length on none is."""
    functions = "".join(f"def g{k}(x, i):\n    return x[i + {k % 3}] * {k} + x[i]\n" for k in range(n))
    calls = "".join(f"    s += g{k}(x, i)\n" for k in range(n))
    f = made(functions + "def f(out, x, i):\n    s = 0.0\n" + calls + "    out[i] = s\n")
    for k in range(n):
        f.__globals__[f"g{k}"] = cuda.jit(device=True)(f.__globals__[f"g{k}"])
    text = _testing.stage(f, ["array(float64, 1, C)", "array(float64, 1, C)", "int"], "opt", kernel=True)
    assert (len(re.findall(r"call fastcc .*@krait_g\d+", text)) > n // 4) == kept
    kernel, x, out = cuda.jit(f), np.arange(4.0) + 1, np.zeros(2)
    kernel[1, 1](out, x, 1)
    assert out[1] == sum(x[1 + k % 3] * k + x[1] for k in range(n))


def test_calls_of_the_interpreter_share_their_memory():
    """As many local variables as there are calls would live from each to each return of what they are inlined in."""

    def variables(n):
        body = "".join(f"    if x == {k}:\n        print('a', x)\n" for k in range(n))
        return _testing.stage(made("def f(x):\n" + body + "    return x\n"), ["int64"], "llvm").count("alloca")

    assert variables(3) == variables(12)


def test_functions_that_call_one_another_in_a_ring():
    n = 300
    call = "@jit\ndef g{0}(x):\n    return x if x < 1 else g{1}(x - 1) + {0}\n"
    f = made("".join(call.format(k, (k + 1) % n) for k in range(n)), "g0", jit=jit)
    assert f(-1) == -1
    assert f(2 * n + 5) == 2 * sum(range(n)) + sum(range(5))
    with pytest.raises(RecursionError):
        f(10**7)


@pytest.mark.parametrize("n", [2, 60])
def test_every_loop_is_made_of_vectors(n):
    arrays = ["array(float64, 1, C)", "array(float64, 1, C)", "array(int64, 1, C)"]
    text = _testing.stage(made(loops(n)), arrays, "opt")
    assert text.count("x double>") > n
    assert (text.count("define internal") >= n) == (n > 2)  # each a function


def test_a_long_kernel():
    n = 700
    body = "".join(f"        s = s * 0.5 + y[(i + {k}) % y.size]\n" for k in range(n))
    source = "def f(x, y):\n    i = cuda.grid(1)\n    if i < x.size:\n        s = x[i]\n" + body + "        x[i] = s\n"
    x, y = np.arange(100.0), np.random.default_rng(0).random(13)
    expected = x.copy()
    for k in range(n):
        expected = expected * 0.5 + y[(np.arange(100) + k) % 13]
    cuda.jit(made(source, cuda=cuda))[4, 32](x, y)
    if cuda.is_available():
        np.testing.assert_allclose(x, expected, rtol=1e-12)
    else:
        assert (x == expected).all()


def chain(n):
    source = "".join(f"@jit\ndef g{k}(x):\n    return " + (f"g{k - 1}(x) + {k}\n" if k else "x\n") for k in range(n))
    return made(source, f"g{n - 1}", jit=jit)


@pytest.mark.parametrize("n", [31, 33, 64, 65, 97])
def test_a_long_chain_of_calls(n):
    assert chain(n)(0.5) == 0.5 + n * (n - 1) // 2


def test_a_long_chain_is_inlined_in_pieces():
    text = _testing.stage(chain(100).py_func, ["float"], "llvm")
    assert text.count("noinline") >= 1
    assert "noinline" not in _testing.stage(chain(30).py_func, ["float"], "llvm")


def test_a_long_chain_below_a_kernel():
    inner = chain(96)

    @cuda.jit
    def kernel(x):
        i = cuda.grid(1)
        if i < x.size:
            x[i] = inner(x[i])

    x = np.zeros(10)
    kernel[1, 32](x)
    assert (x == 95 * 96 // 2).all()


def test_a_tuple_of_ten_thousand_items():
    """LLVM must not keep all items at each step of its making: that is minutes, and more memory than there is."""
    assert jit(lambda t: t[0] + t[9_999])(tuple(range(10_000))) == 9_999


def test_items_of_a_tuple_that_nobody_takes_are_not_loaded():
    def inner(t):
        return whole(t) + t[5]

    whole = jit(added_up)
    long, nested = tuple(range(1000)), ((1, 2.5), np.arange(3.0), *range(100))
    for function, loads in ((lambda t: t[0] + t[9], 2), (added_up, 1000), (inner, 1000)):
        text = _testing.stage(function, ["(" + ", ".join(["int"] * 1000) + ")"], "llvm")
        assert loads <= text.count(" load i64") < loads + 9
        assert jit(function)(long) == function(long)
    for function in (lambda t: t[0][1] + t[1][2] + t[50], lambda t: t[3:][2] + t[0][0], lambda t: t[0]):
        assert jit(function)(nested) == function(nested)


def test_items_of_a_tuple_take_time_by_their_number():
    """8,000 took 8 s in a pass over the parameters, and 10,000, which go without it, 0.2 s."""
    function = jit(lambda t: t[0])
    function((1, 2))
    start = time.process_time()
    assert function(tuple(range(1, 8001))) == 1
    assert time.process_time() - start < 2  # 0.1 s, but for a loaded machine


def test_items_of_a_tuple_that_is_made_take_time_by_their_number():
    """Each is a store, which LLVM's scheduler compared with all before it, up to a thousand of them: 950 took 20 times
    as long as 250, and 2,000 less than 950."""
    def taken(n):
        function = jit(made("def f(x):\n    t = (" + ", ".join(f"x + {k}" for k in range(n)) + ",)\n    return t[x]\n"))
        start = time.process_time()
        assert function(n // 3) == n // 3 * 2
        return time.process_time() - start

    taken(10)
    assert min(taken(950) for _ in range(3)) < 10 * min(taken(250) for _ in range(3))


def tries(n):
    body = "    try:\n        s += x[i + {k}]\n    except IndexError:\n        s -= {k}\n"
    return "def f(x, i):\n    s = 0.0\n" + "".join(body.format(k=k) for k in range(n)) + "    return s\n"


def length_of_code(source, *args):
    function = jit(made(source))
    function(*args)
    return sum(map(len, function.inspect_llvm().values()))


def test_code_of_many_handlers_grows_with_their_number():
    x = np.arange(4.0)
    few, many = (length_of_code(tries(n), x, 1) for n in (200, 800))
    assert many < 4.5 * few
    f = made(tries(200))
    assert jit(f)(x, 1) == f(x, 1)


MANY = {
    "sums": "    s += x.sum()\n",
    "expressions": "    x[{k} % 5:] = x[{k} % 5:] + 1\n    s += x[-1]\n",
    "arrays": "    a = np.array([s, {k}.0])\n    s += a[k]\n",
    "lists": "    a = [[k]]\n    a[0].append({k})\n    s += a[0][1]\n",
    "handlers": "    try:\n        if k == {k}:\n            raise ValueError(k)\n        s += x[k]\n"
    "    except (ValueError, IndexError):\n        s -= {k}\n    finally:\n        s += 2\n",
}


@pytest.mark.parametrize("kind", MANY)
def test_many_statements_that_are_long_as_code(kind):
    body = "".join(MANY[kind].format(k=k) for k in range(160))
    f = made("def f(x, k):\n    s = 0.0\n" + body + "    return s\n", np=np)
    for k in (0, 1):
        x, y = np.arange(7.0), np.arange(7.0)
        assert jit(f)(x, k) == f(y, k)
        assert (x == y).all()


VAST = """
    try:
        s += x[i + {k}]
    except IndexError:
        s -= {k}
    a.append([i + {k}])
    z = np.zeros(4)
    z[i] = s
    for v in z:
        s += v * 0.5
    if a[-1][0] == stop:
        raise ValueError("stopped", len(a))
"""


def vast(n):
    body = "".join(VAST.format(k=k) for k in range(n))
    return "def f(x, i, stop):\n    s = 0.0\n    a = [[i]]" + body + "    return s\n"


def test_what_is_vast_does_the_same():
    """What is longer by far gets passes of linear time alone."""
    n = 500
    f = made(vast(n), np=np)
    compiled, x = jit(f), np.arange(9.0)
    with np.errstate(over="ignore"):
        assert compiled(x, 1, -1) == f(x, 1, -1)
    with pytest.raises(ValueError) as wanted:
        f(x, 2, n)
    with pytest.raises(ValueError) as error:
        compiled(x, 2, n)
    assert error.value.args == wanted.value.args
    assert error.traceback[-1].lineno == wanted.traceback[-1].lineno


def test_fibers_have_room_for_what_is_spilled():
    """2,500 values live across a barrier that some threads never reach, so threads are fibers: 100 kB of spills."""
    n = 2500
    body = "".join(f"    v{j} = x[i + {j}]\n" for j in range(n))
    sums = "".join(f"    s += v{j} * v{n - 1 - j}\n" for j in range(n))
    barrier = "    if i < m:\n        cuda.syncthreads()\n"
    source = f"def k(x, y, m):\n    i = cuda.grid(1)\n{body}{barrier}    s = 0.0\n{sums}    y[i] = s\n"
    child = f"""
import numpy as np
from krait import cuda
from krait.errors import LaunchError
names = {{"cuda": cuda}}
exec({source!r}, names)
x, y = np.arange({n} + 4.0) / 64, np.zeros(4)
kernel = cuda.jit(names["k"])
kernel[1, 4](x, y, 4)
print(all(x[i:i + {n}] @ x[i:i + {n}][::-1] == y[i] for i in range(4)))
try:
    kernel[1, 4](x, y, 2)
except LaunchError as error:
    print(str(error).splitlines()[0])
"""
    right, refused = run_in_child(child).splitlines()
    assert right == "True" and refused.startswith("a barrier of the block was not reached by all")


@pytest.mark.skipif(AGAIN, reason="of no Python's own, and long")
def test_a_frame_that_the_stack_cannot_hold_is_refused():
    """6,800 sums of arrays in one function took 4.4 MB of the stack when this was written."""
    lines = "    s += x.sum()\n" * 6800
    child = f"""
import numpy as np
from krait import errors, njit
names = {{}}
exec("def f(x):\\n    s = 0.0\\n" + {lines!r} + "    return s\\n", names)
try:
    print(njit(names["f"])(np.ones(4)) == 4 * 6800)
except errors.UnsupportedError as error:
    print("of the stack, at most 4194304 are allowed" in str(error))
"""
    assert run_in_child(child) == "True\n"


def test_reductions_share_their_memory():
    """A block of 1024 bytes and the stacks of a pairwise sum, once for any number of sums that follow one another."""
    f = jit(made("def f(x):\n    s = 0.0\n" + "    s += x.sum()\n" * 10 + "    return s\n"))
    assert f(np.ones(4)) == 40
    (text,) = f.inspect_llvm().values()
    assert text.count("alloca [1024 x i8]") == 1
