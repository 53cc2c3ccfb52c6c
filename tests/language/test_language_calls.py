"""Calls: every form of arguments, recursion, closures, functions as values, globals and their guards."""

import itertools
import math
import threading
import types

import numpy as np
import pytest
from oracle import agree, agree_all, assert_same, make

from krait import errors, njit

INTS = [-2, 0, 1, 3]

# ---- arguments ----

DEFINITIONS = {
    "plain": "def g(x, y, z): return x * 100 + y * 10 + z",
    "defaults": "def g(x, y=7, z=8): return x * 100 + y * 10 + z",
    "keyword only": "def g(x, *, y, z=8): return x * 100 + y * 10 + z",
    "positional only": "def g(x, y=2, /, z=3): return x * 100 + y * 10 + z",
    "varargs": "def g(x, *rest): return x, rest, len(rest)",
    "all": "def g(x, y=2, *rest, z=5, w=6): return x, y, rest, z, w",
    "none": "def g(): return 42",
    "float default": "def g(x, y=2.5): return x * y",
    "tuple default": "def g(x, y=(1, 2.5)): return x + y[1]",
    "none default": "def g(x, y=None): return x if y is None else x + y",
}

CALLS = {
    "plain": [
        "g(a, b, 1)",
        "g(z=1, y=a, x=b)",
        "g(a, z=b, y=2)",
        "g(*(a, b, 1))",
        "g(a, *(b, 3))",
        "g(*(a,), *(b, 1))",
        "g(*(a, b), z=4)",
    ],
    "defaults": ["g(a)", "g(a, b)", "g(a, b, 1)", "g(a, z=b)", "g(y=a, x=b)", "g(*(a,))", "g(*(a, b))"],
    "keyword only": ["g(a, y=b)", "g(a, y=b, z=1)", "g(y=a, x=b)", "g(*(a,), y=b)"],
    "positional only": ["g(a)", "g(a, b)", "g(a, b, 1)", "g(a, z=b)", "g(a, b, z=a)"],
    "varargs": ["g(a)", "g(a, b)", "g(a, b, 1.5, (2,))", "g(*(a, b, 1))", "g(a, *())"],
    "all": ["g(a)", "g(a, b, 1, 2.5)", "g(a, w=b)", "g(a, b, 3, z=b, w=a)", "g(*(a, b, 1), z=2)"],
    "none": ["g()", "g() + a", "g(*())"],
    "float default": ["g(a)", "g(a, b)", "g(a, y=b * 0.5)"],
    "tuple default": ["g(a)", "g(a, (3, 4.5))"],
    "none default": ["g(a)", "g(a, b)", "g(a, None)", "g(a, y=b)"],
}

ALL_CALLS = [(kind, call) for kind, calls in CALLS.items() for call in calls]


@pytest.mark.parametrize("kind, call", ALL_CALLS, ids=[f"{kind}: {call}" for kind, call in ALL_CALLS])
def test_calls_of_plain_functions(kind, call):
    """A plain Python function is compiled as if it were decorated."""
    g = make(DEFINITIONS[kind])
    agree_all(make(f"def f(a, b): return {call}", name="f", g=g), itertools.product(INTS, INTS))


@pytest.mark.parametrize("kind, call", ALL_CALLS, ids=[f"{kind}: {call}" for kind, call in ALL_CALLS])
def test_calls_of_jitted_and_inner_functions(kind, call):
    g = njit(make(DEFINITIONS[kind]))
    agree_all(make(f"def f(a, b): return {call}", name="f", g=g), [(2, 3)])
    agree_all(make(f"def f(a, b):\n    {DEFINITIONS[kind]}\n    return {call}", name="f"), [(2, 3)])


@pytest.mark.parametrize("kind, call", ALL_CALLS, ids=[f"{kind}: {call}" for kind, call in ALL_CALLS])
def test_calls_from_the_interpreter(kind, call):
    plain = make(DEFINITIONS[kind])
    jitted = njit(plain)
    for a, b in [(2, 3), (-1, 0)]:
        names = {"a": a, "b": b}
        assert_same(eval(call, {"g": jitted, **names}), eval(call, {"g": plain, **names}))


@pytest.mark.parametrize("call", ["g()", "g(1)", "g(1, 2, 3, 4)", "g(1, 2, w=3)", "g(1, 2, 3, x=1)", "g(y=1, z=2)"])
def test_wrong_arguments_from_the_interpreter(call):
    """The interpreter's own TypeError."""
    plain = make(DEFINITIONS["plain"])
    messages = []
    for g in (plain, njit(plain)):
        with pytest.raises(TypeError) as caught:
            eval(call, {"g": g})
        messages.append(str(caught.value))
    assert messages[0] == messages[1]


@pytest.mark.parametrize(
    "call", ["g()", "g(a)", "g(a, b, 3, 4)", "g(a, b, w=3)", "g(a, b, 3, x=1)", "g(y=a, z=b)", "g(*(a, b))"]
)
def test_wrong_arguments_in_compiled_code(call):
    g = make(DEFINITIONS["plain"])
    with pytest.raises(errors.TypingError):
        njit(make(f"def f(a, b): return {call}", name="f", g=g))(1, 2)


# ---- recursion ----


@njit
def factorial(n):
    return 1 if n < 2 else n * factorial(n - 1)


@njit
def fibonacci(n):
    if n < 2:
        return n
    return fibonacci(n - 1) + fibonacci(n - 2)


def plain_recursion(n):
    if n == 0:
        return 0.5
    return plain_recursion(n - 1) * 2


def is_even(n):
    return True if n == 0 else is_odd(n - 1)


def is_odd(n):
    return False if n == 0 else is_even(n - 1)


def ackermann(m, n):
    if m == 0:
        return n + 1
    if n == 0:
        return ackermann(m - 1, 1)
    return ackermann(m - 1, ackermann(m, n - 1))


def first(n):
    return 1 if n <= 0 else second(n - 1) + 1


def second(n):
    return 2.5 if n <= 0 else third(n - 1) * 2


def third(n):
    return 3 if n <= 0 else first(n - 1) - 1


def hanoi(n, a, b, c, moves):
    if n > 0:
        hanoi(n - 1, a, c, b, moves)
        moves[0] += 1
        moves[1] = moves[1] * 3 % 1009 + a * 10 + b
        hanoi(n - 1, c, b, a, moves)


def never_ends(n):
    return never_ends(n + 1)


def gcd(a, b):
    return a if b == 0 else gcd(b, a % b)


def test_recursion():
    agree_all(factorial, [(n,) for n in range(15)])
    agree_all(fibonacci, [(n,) for n in range(12)])
    agree_all(plain_recursion, [(n,) for n in range(5)])
    agree_all(ackermann, [(2, 3)])
    agree_all(gcd, itertools.product([0, 12, 35, -7], [0, 8, 21]))
    agree_all(hanoi, [(n, 1, 2, 3, np.zeros(2, int)) for n in range(6)])


def test_mutual_recursion():
    agree_all(is_even, [(n,) for n in range(6)])
    agree_all(is_odd, [(n,) for n in range(6)])


def test_mutual_recursion_of_three_that_join_types():
    """The interpreter's results are ints or floats; compiled ones are floats."""
    compiled = njit(first)
    for n in range(7):
        assert compiled(n) == first(n)
        assert type(compiled(n)) is float


def test_recursion_inside_a_function():
    def f(n):
        def inner(k):
            return 1 if k == 0 else k * inner(k - 1)

        return inner(n)

    agree_all(f, [(n,) for n in range(6)])


def test_recursion_inside_a_function_with_constant_defaults():
    def f(n):
        def total(k, so_far=1, *, step=2, label="k", shape=(), last=None):
            return so_far if k <= 0 or last is not None else total(k - step, so_far + k)

        def depth(k, d=0, again=True):
            return (k, d) if k <= 0 else depth(k - 1, again=not again, d=d + again)

        return total(n), total(n, 5), total(n, step=1), [depth(i) for i in range(n)], total(n, last=1)

    agree_all(f, [(n,) for n in range(6)])


def test_recursion_inside_a_function_with_a_default_that_is_computed():
    def f(n):
        def total(k, step=n // 2 + 1):
            return 0 if k <= 0 else 1 + total(k - step, step)

        return total(n)

    with pytest.raises(errors.UnsupportedError, match="the default of `step` is not known in a call of .* total"):
        njit(f)(3)


def test_recursion_without_end():
    with pytest.raises((errors.TypingError, RecursionError)):
        njit(never_ends)(1)


# ---- closures, lambdas, functions as values ----


def make_adder(n):
    def add(x):
        return x + n

    return add


def apply(function, *args):
    return function(*args)


def compose(f, g):
    return lambda x: f(g(x))


CLOSURES = [
    "g = lambda x: x + b\nreturn g(a)",
    "def g(x, k=b):\n    return x * k\nreturn g(a), g(a, 3), g(k=a, x=b)",
    "def g():\n    return a + b\na = a + 1\nreturn g()",
    "def g():\n    nonlocal a\n    a += b\n    return a\nreturn g() + g(), a",
    "count = 0\ndef g():\n    nonlocal count\n    count += 1\nfor i in range(5):\n    g()\nreturn count",
    "def g(x):\n    def h(y):\n        return x * y + b\n    return h(a)\nreturn g(3)",
    "def g(x):\n    return lambda y: x + y * b\nreturn g(a)(2)",
    "return apply(lambda x, y: x - y, a, b)",
    "return apply(make_adder(10), a)",
    "h = make_adder(b)\nreturn h(a) + h(1)",
    "return compose(lambda x: x + 1, lambda x: x * b)(a)",
    "fs = (lambda x: x + 1, lambda x: x * 2)\nreturn fs[0](a), fs[1](b)",
    "fs = (make_adder(1), make_adder(2))\ns = 0\nfor g in fs:\n    s += g(a)\nreturn s",
    "g = (lambda x: x) if True else (lambda x: -x)\nreturn g(a)",
    "return (lambda *t: t)(a, b)",
    "return (lambda x, *, k=2: x * k)(a, k=b)",
    "def g(x):\n    if x > 0:\n        return x\n    return -x\nreturn g(a) + g(b)",
    "def g(x):\n    return x\nh = g\nreturn h(a)",
    "x = 1\ng = lambda: x\nx = a\ny = g()\nx = b\nreturn y, g()",
    "def g():\n    x = a\n    def h():\n        nonlocal x\n        x += 1\n        return x\n"
    "    return h() + h() + x\nreturn g()",
    "return math.sqrt(abs(apply(math.fabs, a)))",
    "return apply(max, a, b), apply(abs, a), apply(float, b), apply(np.float32, b)",
    "g = math.sin\nreturn g(a)",
    "g = int\nreturn g(2.5), g is int",
    "def g(x): return x\nreturn apply is apply, g is not apply",
    "def g():\n    return q\nif a > 0:\n    q = b\nx = g()\nq = 2\nreturn x + g()",
    "s = 0\nfor i in range(3):\n    g = lambda: i * a\n    i += b\n    s = s * 7 + g()\nreturn s",
    "h = make_adder(b)\nk = make_adder(h(a))\ns = 0\n"
    "for i in range(4):\n    h, k = k, make_adder(i)\n    s = s * 3 + h(1) + k(2)\nreturn s",
    "def g(h, x):\n    return h(h(x))\nreturn g(lambda y: y * a + 1, b), g(make_adder(a), b)",
    "def g():\n    if a > 0:\n        q = b\n    def h():\n        return q\n    return h()\nreturn g()",
]


@pytest.mark.parametrize("text", CLOSURES)
def test_closures(text):
    body = "\n".join("    " + line for line in text.split("\n"))
    function = make(f"def f(a, b):\n{body}", name="f", make_adder=make_adder, apply=apply, compose=compose)
    agree_all(function, itertools.product(INTS, INTS))


def test_a_counter_that_outlives_its_function_is_refused():
    """Its variable would be memory of a function that has returned."""

    def counter(n):
        def count():
            nonlocal n
            n += 1
            return n

        return count

    def f(a):
        g, h = counter(a), counter(10)
        return g() * 100 + h() * 10 + g()

    with pytest.raises(errors.UnsupportedError, match="returned"):
        njit(f)(1)


def test_closures_are_jitted():
    for n in (1, 2.5, np.float32(3), True):
        agree(make_adder(n), 4)


def test_functions_as_arguments():
    """A function given to a compiled function is compiled too."""

    @njit
    def twice(f, x):
        return f(f(x))

    one, two = make_adder(1), njit(make_adder(2))
    assert_same(twice(one, 5), 7)
    assert_same(twice(two, 5), 9)
    assert_same(twice(one, 2.5), 4.5)


def test_two_functions_at_one_place():
    """Which function is called would be known only at run time."""

    def f(a):
        g = make_adder(1) if a > 0 else make_adder(2)
        return g(a)

    try:
        njit(f)(1)
    except errors.KraitError:
        return
    agree_all(f, [(1,), (-1,)])


# ---- globals and guards ----


def module_of(**names):
    module = types.ModuleType("settings")
    module.__dict__.update(names)
    return module


def test_a_changed_global_gives_a_new_answer():
    space = {"k": 10}
    exec("def f(x): return x + k", space)
    f = njit(space["f"])
    assert_same(f(1), 11)
    for value in (20, 2.5, np.float32(1.5), True, -1, 10):
        space["k"] = value
        assert_same(f(1), 1 + value)


def test_a_deleted_global():
    space = {"k": 10}
    exec("def f(x): return x + k", space)
    f = njit(space["f"])
    assert_same(f(1), 11)
    del space["k"]
    with pytest.raises(NameError):
        f(1)
    space["k"] = 5
    assert_same(f(1), 6)


def test_a_global_that_hides_a_builtin():
    space = {}
    exec("def f(x): return abs(x)", space)
    f = njit(space["f"])
    assert_same(f(-3), 3)
    space["abs"] = lambda x: x * 100
    assert_same(f(-3), -300)
    del space["abs"]
    assert_same(f(-3), 3)


def test_a_changed_function():
    space = {}
    exec("def g(x): return x + 1\ndef f(x): return g(x)", space)
    f = njit(space["f"])
    assert_same(f(1), 2)
    exec("def g(x): return x + 2.5", space)
    assert_same(f(1), 3.5)
    space["g"] = njit(lambda x: x * 7)
    assert_same(f(3), 21)


def test_a_changed_global_of_a_callee():
    space = {"k": 1}
    exec("def g(x): return x * k\ndef f(x): return g(x) + 1", space)
    f = njit(space["f"])
    assert_same(f(5), 6)
    space["k"] = 3
    assert_same(f(5), 16)


def test_a_changed_global_of_a_jitted_callee():
    space = {"k": 1}
    exec("def g(x): return x * k\ndef f(x): return g(x) + 1", space)
    space["g"] = njit(space["g"])
    f = njit(space["f"])
    assert_same(f(5), 6)
    space["k"] = 3
    assert_same(f(5), 16)


def test_a_changed_module_attribute():
    settings = module_of(scale=2, offset=1.5)
    f = njit(make("def f(x): return x * settings.scale + settings.offset", settings=settings))
    assert_same(f(4), 9.5)
    settings.scale = 10
    assert_same(f(4), 41.5)
    settings.offset = 0
    assert_same(f(4), 40)
    del settings.scale
    with pytest.raises((AttributeError, errors.KraitError)):
        f(4)


def test_a_changed_class_attribute():
    class Settings:
        scale = 2

    f = njit(make("def f(x): return x * Settings.scale", Settings=Settings))
    assert_same(f(4), 8)
    Settings.scale = 2.5
    assert_same(f(4), 10.0)


def test_a_changed_closure_cell():
    def outer():
        k = 1

        def f(x):
            return x + k

        def change(value):
            nonlocal k
            k = value

        return f, change

    f, change = outer()
    compiled = njit(f)
    assert_same(compiled(1), 2)
    for value in (5, 2.5, 1):
        change(value)
        assert_same(compiled(1), f(1))


def test_a_global_tuple():
    space = {"t": (1, 2.5, (3, 4))}
    exec("def f(i): return t[0] + i, t[1], t[2][i]", space)
    f = njit(space["f"])
    agree_all(f, [(0,), (1,)])
    space["t"] = (7, 1, (5, 6))
    agree_all(njit(space["f"]), [(0,), (1,)])
    assert_same(f(1), space["f"](1))


def test_a_global_array_is_read_where_it_lies():
    """Its contents are not frozen: what is written to it is seen; another array is another answer."""
    table = np.arange(5.0)
    space = {"table": table}
    exec("def f(i): return table[i]", space)
    f = njit(space["f"])
    assert_same(f(2), np.float64(2))
    table[2] = 50
    assert_same(f(2), space["f"](2))
    space["table"] = np.arange(3, dtype=np.int32)
    assert_same(f(2), np.int32(2))


def test_numpy_constants():
    agree(make("def f(x): return x * np.pi + np.e, np.inf, -np.inf, np.nan, math.tau, np.newaxis"), 2)


def test_changed_defaults():
    def f(x, y=1):
        return x + y

    compiled = njit(f)
    assert_same(compiled(1), 2)
    assert_same(compiled(1, 2), 3)
    assert_same(compiled(1, y=2.5), 3.5)


def test_imports_inside():
    def f(x):
        import math

        from math import cos

        return math.sin(x) + cos(x)

    try:
        njit(f)(1.0)
    except errors.KraitError:
        return  # imports belong outside
    agree(f, 1.0)


def test_names_that_are_not_there():
    with pytest.raises(NameError) as caught:
        njit(make("def f(x): return x + nothing_here"))(1)
    assert "nothing_here" in str(caught.value)
    with pytest.raises(errors.KraitError) as caught:
        njit(make("def f(x): return math.nothing_here(x)", math=math))(1)
    assert "nothing_here" in str(caught.value)


# ---- functions that change after they were compiled ----


def make_shifted(v):
    def shifted(x, y=2, *, z=3):
        return x + y + z + v

    def change(to):
        nonlocal v
        v = to

    return shifted, change


@pytest.mark.parametrize("decorate", [lambda f: f, njit], ids=["plain", "jitted"])
def test_a_function_passed_as_an_argument_may_change(decorate):
    function, change_cell = make_shifted(10)
    argument = decorate(function)
    call = njit(lambda f, x: f(x))
    call_in_tuple = njit(lambda fs, x: fs[0](x))

    def check():
        assert call(argument, 1) == call_in_tuple((argument,), 1) == function(1)

    check()
    change_cell(20)
    check()
    function.__defaults__ = (50,)
    check()
    function.__kwdefaults__ = {"z": 70}
    check()
    function.__code__ = make_thousands(1).__code__
    check()


def make_thousands(v):
    def thousands(x, y=0, *, z=0):
        return x * 1000 + v

    return thousands


FACTOR = 3


def times_factor(x):
    return x * FACTOR


def test_a_global_of_a_function_passed_as_an_argument_may_change():
    global FACTOR
    call = njit(lambda f, x: f(x))
    jitted = njit(times_factor)
    try:
        for FACTOR in (3, 5, 3, 7):
            assert call(times_factor, 2) == call(jitted, 2) == 2 * FACTOR
    finally:
        FACTOR = 3


def test_the_code_of_a_jitted_function_may_change():
    def f(x):
        return x + 1

    def outer(x):
        return compiled(x) * 10

    compiled = njit(f)
    outer = njit(outer)
    assert (compiled(1), outer(1)) == (2, 20)
    f.__code__ = (lambda x: x * 100).__code__
    assert (compiled(1), outer(1)) == (100, 1000)


# ---- recursion without end, in threads with little stack ----


@pytest.mark.parametrize("kibibytes", [64, 256, 512, 1024, 0])
def test_recursion_ends_before_the_stack_of_its_thread(kibibytes, optimised):
    @njit
    def depth(n):
        return 0 if n == 0 else depth(n - 1) + 1

    found = []

    def work():
        with pytest.raises(RecursionError):
            depth(10**7)
        found.append(depth(1000))

    before = threading.stack_size(kibibytes * 1024)
    try:
        thread = threading.Thread(target=work)
        thread.start()
    finally:
        threading.stack_size(before)
    thread.join()
    assert found == [1000]


def test_depth_of_recursion_on_the_main_thread():
    @njit
    def depth(n):
        return 0 if n == 0 else depth(n - 1) + 1

    assert depth(20_000) == 20_000
    with pytest.raises(RecursionError):
        depth(10**7)


def test_a_function_does_not_know_how_large_an_unsigned_number_is():
    def wraps(a, b):
        return a + b < a, a * b < a, a - b, a + a <= 7 ^ a >= a

    def f(x, n):
        return wraps(x[0], np.uint64(n)), wraps(np.uint64(3), x[1])

    for values in ([2**64 - 3, 2**63], [2**63 - 1, 2**64 - 1], [0, 5]):
        agree(f, np.array(values, np.uint64), 7)


def test_a_call_of_more_arguments_than_the_interpreter_puts_on_its_stack():
    """Constants among them are constants."""
    names = {"np": np}
    numbers = ", ".join(map(str, range(40)))
    exec(f"def f(x): return max({numbers}, x), np.array([{numbers}], dtype='int16').sum(), g({numbers}, x)", names)
    exec("def g(*rest): return rest[-1] + len(rest)", names)
    agree(names["f"], 7)
    agree(names["f"], 70)
