"""What is computed of a variable that control flow joins has the type of the join, not of a value it had on the way.

A variable that starts as a Python number and becomes a NumPy scalar in a loop is a NumPy scalar; so a ufunc of it gives
what the interpreter gives, at every place that uses it.
"""

import itertools

import numpy as np
import pytest
from oracle import agree_all

from krait import njit

UNARY = [
    "sqrt", "exp", "sin", "log1p", "abs", "square", "negative", "positive", "sign", "floor", "rint", "reciprocal",
    "conj", "isfinite", "cbrt", "spacing",
]  # fmt: skip
BINARY = ["add", "subtract", "multiply", "maximum", "fmin", "power", "floor_divide", "true_divide", "arctan2", "less"]
DTYPES = ["float16", "float32", "float64", "complex64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint64"]

JOINS = {
    "after a loop": """
def f(a):
    r = {start}
    for i in range(a.size):
        r += a[i]
    return {use}
""",
    "in a loop, one step behind": """
def f(a):
    r = {start}
    for i in range(a.size):
        t = {use}
        r = r + a[i]
    return t
""",
    "through a second variable": """
def f(a):
    r = {start}
    s = {start}
    for x in a:
        s = r
        r = a[0] + x
    return {use}
""",
    "after a branch": """
def f(a):
    r = {start}
    if a.size > 1:
        r = a[1]
    return {use}
""",
    "in a tuple": """
def f(a):
    p = ({start}, {start})
    for x in a:
        p = (p[1], x)
    r = p[1]
    return ({use}, r)
""",
    "seen by an inner function": """
def f(a):
    r = {start}
    def now():
        return {use}
    for x in a:
        r = r + x
    return now()
""",
    "in a while loop with two joins": """
def f(a):
    r = {start}
    s = {start}
    i = 0
    while i < a.size:
        if i % 2:
            r = r + a[i]
        else:
            s = s + a[i]
        i += 1
    r = r + s
    return {use}
""",
}


def make(join, start, use):
    namespace = {"np": np}
    exec(JOINS[join].format(start=start, use=use), namespace)
    return namespace["f"]


def exists(name, dtype, operands):
    try:
        with np.errstate(all="ignore"):
            getattr(np, name)(*[np.dtype(dtype).type(1)] * operands)
    except TypeError:
        return False
    return True


def uses_of(dtype):
    unary = [f"np.{name}(r)" for name in UNARY if exists(name, dtype, 1)]
    return unary + [f"np.{name}(r, {x})" for name in BINARY if exists(name, dtype, 2) for x in ("r", "2", "np.int8(1)")]


@pytest.mark.parametrize("join", JOINS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_ufuncs_of_a_joined_variable(join, dtype):
    start = "0.0" if np.dtype(dtype).kind in "fc" else "0"
    uses = uses_of(dtype)
    function = make(join, start, "(" + ", ".join(uses) + ")")
    array = np.array([1, 2, 3, 1], dtype)
    with np.errstate(all="ignore"):
        theirs = function(array)
    ours = njit(function)(array)
    if join == "in a tuple":
        (ours, last), (theirs, their_last) = ours, theirs
        assert type(last) is type(their_last)
    for use, mine, expected in zip(uses, ours, theirs):
        assert type(mine) is type(expected), use
        assert np.allclose(mine, expected, rtol=1e-3, equal_nan=True), use


CHAIN = """
def f(a):
    {starts}
    for x in a:
        {steps}
    return {results}
"""


def test_a_chain_of_joins_settles():
    """Each variable is joined with what was computed of the one before it."""
    names = [f"r{i}" for i in range(12)]
    steps = ["r0 += x"] + [f"{b} = np.sqrt({a})" for a, b in itertools.pairwise(names)]
    starts = "; ".join(f"{name} = 0.0" for name in names)
    source = CHAIN.format(starts=starts, steps="; ".join(steps), results=", ".join(names))
    namespace = {"np": np}
    exec(source, namespace)
    array = np.ones(20, np.float32)
    ours, theirs = njit(namespace["f"])(array), namespace["f"](array)
    assert [type(x) for x in ours[:6]] == [type(x) for x in theirs[:6]] == [np.float32] * 6


def test_what_feeds_itself_stays_wide():
    """numpy.sqrt(0.0) is float64, and from then on the variable is, in the interpreter as in compiled code."""

    def f(a):
        s = 0.0
        for x in a:
            s = np.sqrt(s) + x
        return s

    array = np.ones(3, np.float32)
    assert type(njit(f)(array)) is type(f(array)) is np.float64


def after_two_loops(a, p):
    v = 127
    for i in range(a.size):
        v -= a[i]
    for i in range(a.size & 1):
        v %= np.bool_(p > i - 1)
    return v


def before_an_inner_function(a, p):
    u = a[0] * a[0] if p > 0 else np.less(True, p)
    v = u
    v = np.negative(v * p)

    def now():
        return v

    return now(), v


def a_test_of_a_join(a, p):
    v = a[0] if p > 0 else 7
    if v > np.bool_(p):
        w = v % np.bool_(True)
    else:
        w = v
    return w


@pytest.mark.parametrize("function", [after_two_loops, before_an_inner_function, a_test_of_a_join])
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32"])
def test_what_follows_a_join_waits_for_it(function, dtype):
    """A Python number with a bool of NumPy is an int64: what follows must not see the number before it has become
    another type's."""
    a = np.array([3, 5], dtype)
    got, expected = njit(function)(a, 2), function(a, 2)
    assert got == expected
    assert [type(value) for value in np.atleast_1d(got)] == [type(value) for value in np.atleast_1d(expected)]


def test_a_loop_is_typed_when_what_a_function_gives_before_it_is_known():
    """Also where another way leads to the loop, with another type: a number of NumPy's is not made of it on the way."""
    def whole(a):
        return complex(a)

    def f(p, x, n):
        v = 1 if p else whole(2)
        for _ in range(n):
            v /= np.float64(x)
        return v

    agree_all(f, [(False, x, n) for x in (4.0, 0.0) for n in (0, 1, 3)])
