"""Result types of Python functions: views and their layouts, expressions and statements."""

import re
import textwrap

import numpy as np
import pytest
from result_types import F32, F32_2, make, result, typed


# ---- layout of views -------------------------------------------------------------------------------------------------

VIEWS = [
    # C: ints first, then one bounded slice, then full ones
    ("array(float32, 1, C)", "x[i]", "float32"), ("array(float32, 1, C)", "x[1:]", "array(float32, 1, C)"),
    ("array(float32, 1, C)", "x[:]", "array(float32, 1, C)"),
    ("array(float32, 1, C)", "x[::2]", "array(float32, 1, A)"),
    ("array(float32, 1, C)", "x[::-1]", "array(float32, 1, A)"),
    ("array(float32, 1, C)", "x[::1]", "array(float32, 1, C)"),
    ("array(float32, 1, C)", "x[::i]", "array(float32, 1, A)"),
    ("array(float32, 1, C)", "x[...]", "array(float32, 1, C)"),
    ("array(float32, 1, C)", "x[i, ...]", "array(float32, 0, C)"),
    ("array(float32, 1, C)", "x[None]", "array(float32, 2, C)"),
    ("array(float32, 2, C)", "x[i]", "array(float32, 1, C)"), ("array(float32, 2, C)", "x[i, i]", "float32"),
    ("array(float32, 2, C)", "x[:, i]", "array(float32, 1, A)"),
    ("array(float32, 2, C)", "x[1:]", "array(float32, 2, C)"),
    ("array(float32, 2, C)", "x[:, 1:]", "array(float32, 2, A)"),
    ("array(float32, 2, C)", "x[i, 1:]", "array(float32, 1, C)"),
    ("array(float32, 2, C)", "x[..., i]", "array(float32, 1, A)"),
    ("array(float32, 2, C)", "x[i, ...]", "array(float32, 1, C)"),
    ("array(float32, 2, C)", "x[:, None]", "array(float32, 3, C)"),
    ("array(float32, 2, C)", "x[i, :, None]", "array(float32, 2, C)"),
    ("array(float32, 3, C)", "x[i, 1:, :]", "array(float32, 2, C)"),
    ("array(float32, 3, C)", "x[i, :, 1:]", "array(float32, 2, A)"),
    ("array(float32, 3, C)", "x[i, :, i]", "array(float32, 1, A)"),
    ("array(float32, 3, C)", "x[i, i, ::2]", "array(float32, 1, A)"),
    # F: the mirror image
    ("array(float32, 2, F)", "x[:, i]", "array(float32, 1, C)"),
    ("array(float32, 2, F)", "x[i]", "array(float32, 1, A)"),
    ("array(float32, 2, F)", "x[:, 1:]", "array(float32, 2, F)"),
    ("array(float32, 2, F)", "x[1:]", "array(float32, 2, A)"),
    ("array(float32, 3, F)", "x[..., i]", "array(float32, 2, F)"),
    ("array(float32, 3, F)", "x[1:, i, i]", "array(float32, 1, C)"),
    # A stays A
    ("array(float32, 2, A)", "x[i]", "array(float32, 1, A)"), ("array(float32, 2, A)", "x[:]", "array(float32, 2, A)"),
    ("array(float32, 2, A)", "x[i, i, ...]", "array(float32, 0, C)"),
    # readonly stays
    ("array(float32, 2, C, readonly)", "x[i]", "array(float32, 1, C, readonly)"),
    ("array(float32, 2, C, readonly)", "x.T", "array(float32, 2, F, readonly)"),
    ("array(float32, 0, C)", "x[()]", "float32"), ("array(float32, 0, C)", "x[...]", "array(float32, 0, C)"),
]


@pytest.mark.parametrize("array, expression, wanted", VIEWS)
def test_view(array, expression, wanted):
    assert result(make(f"def f(x, i):\n    return {expression}\n"), array, "int") == wanted


@pytest.mark.parametrize("ndim", [1, 2, 3])
def test_layouts_promised_for_views_are_numpys(ndim):
    """Every index of up to ndim components: where a contiguous layout is promised, NumPy's view is contiguous."""
    import itertools

    components = ["1", "1:", ":", "::2", "None", "..."]
    for order in "CF":
        array = np.zeros((3, 4, 5)[:ndim], np.float32, order=order)
        for count in range(1, ndim + 1):
            for index in itertools.product(components, repeat=count):
                if index.count("...") > 1:
                    continue
                expression = f"x[{', '.join(index)}]"
                wanted = eval(expression, {"x": array})
                layout = "C" if ndim == 1 else order
                got = result(make(f"def f(x):\n    return {expression}\n"), f"array(float32, {ndim}, {layout})")
                if not isinstance(wanted, np.ndarray):
                    assert got == "float32", expression
                    continue
                dims, promise = re.fullmatch(r"array\(float32, (\d+), ([CFA])\)", got).groups()
                assert int(dims) == wanted.ndim, expression
                assert promise == "A" or wanted.flags[f"{promise}_CONTIGUOUS"], (order, expression)


ATTRIBUTES = [
    ("shape", "(int, int)"), ("ndim", "int"), ("size", "int"), ("strides", "(int, int)"), ("itemsize", "int"),
    ("nbytes", "int"),
    ("dtype", "dtype(complex64)"),
    ("T", "array(complex64, 2, F)"),
    ("flat", "flat(array(complex64, 2, C))"),
    ("real", "array(float32, 2, A)"),
    ("imag", "array(float32, 2, A)"),
    ("flat[0]", "complex64"),
    ("dtype.itemsize", "int"),
    ("dtype.type(1)", "complex64"), ("shape[0]", "int"),
]


@pytest.mark.parametrize("name, wanted", ATTRIBUTES)
def test_attribute_of_an_array(name, wanted):
    assert result(make(f"def f(x):\n    return x.{name}\n"), "array(complex64, 2, C)") == wanted


# ---- expressions and statements: result types ------------------------------------------------------------------------

RESULTS = [
    ("return x and y", ("int", "float"), "float"), ("return x or None", ("int", "int"), "int?"),
    ("return x if y else 2.5", ("float32", "int"), "float32"), ("return x < y", ("int", "float32"), "bool_"),
    ("return x < 1", ("int", "int"), "bool"), ("return not x", ("float32", "int"), "bool"),
    ("return x ** 2", ("int", "int"), "int"),
    ("return x ** -1", ("int", "int"), "float"),
    ("return x ** y", ("int", "int"), "int"),
    ("return x ** 2", ("float32", "int"), "float32"), ("return x ** -2", ("int32", "int"), "int32"),
    ("return x in (1, 2)", ("int", "int"), "bool"), ("return (x, 1) < (y, 2)", ("int", "float"), "bool"),
    ("return (x,) + (y,)", ("int", "float32"), "(int, float32)"),
    ("return (x, y) * 2", ("int", "float"), "(int, float, int, float)"),
    ("return (x, y, 1)[::-1]", ("int8", "float"), "(int, float, int8)"),
    ("return len((x, y))", ("int8", "float"), "int"),
    ("return x is None", ("int?", "int"), "bool"),
    ("return float(x), int(y)", ("int", "float32"), "(float, int)"), ("return np.int8(x)", ("float", "int"), "int8"),
    ("return complex(x, y)", ("int", "float"), "complex"), ("return isinstance(x, int)", ("bool", "int"), "bool"),
    ("s = 0\n    for v in (1, 2.5, x): s += v\n    return s", ("float32", "int"), "float32"),
    ("for i, v in enumerate(x): pass\n    return i, v", (F32, "int"), "(int, float32)"),
    ("for a, b in zip(x, range(3)): pass\n    return a, b", (F32_2, "int"), "(array(float32, 1, C), int)"),
    ("for v in reversed(x): pass\n    return v", (F32, "int"), "float32"),
    ("for v in x.flat: pass\n    return v", (F32_2, "int"), "float32"),
    ("if y: return x", ("int8", "int"), "int8?"), ("pass", ("int", "int"), "None"),
    ("f = lambda a, b=2.5: a * b\n    return f(x), f(x, y)", ("float32", "int"), "(float32, float32)"),
    ("def g(a):\n        return a if a < 1 else g(a - 1) * y\n    return g(x)", ("int", "float"), "float"),
    ("return (math.sin, math.cos)[1](x)", ("float", "int"), "float"),
    ("return x.real, x.imag", ("complex64", "int"), "(float32, float32)"),
    ("return x.dtype.type(1) + y", ("float32", "int"), "float32"),
    ("x[0] += 1\n    return x[0]", (F32, "int"), "float32"),
    ("x[1:] += y\n    return x[1:]", (F32, "int"), "array(float32, 1, C)"),
]


RESULTS += [  # a Python int adapts to the type it meets, unless that type cannot hold it
    ("return 3 if y else x", ("uint8", "int"), "uint8"),
    ("return -1 if y else x", ("uint8", "int"), "int64"),
    ("return 200 if y else x", ("int8", "int"), "int64"),
    ("return max(x, -1), max(x, 1)", ("uint8", "int"), "(int64, uint8)"),
    ("b = -1\n    for v in x: b = v\n    return b", ("array(uint16, 1, C)", "int"), "int64"),
    ("b = 0\n    for v in x: b += v\n    return b", ("array(uint16, 1, C)", "int"), "uint16"),
]
RESULTS += [  # what a test for None says about a variable
    ("if x is None: return 0\n    return x", ("int?", "int"), "int"),
    ("return x if x is not None else 2.5", ("int?", "int"), "float"),
    ("if not x: return 1\n    return x", ("int?", "int"), "int"),
    ("if x is None: x = y\n    return x", ("int?", "float32"), "float32"),
    ("if x is None or y: return 1\n    return x", ("int?", "int"), "int"),
    ("if x is not None: y = 1\n    return x", ("int?", "int"), "int?"),
    ("while x is not None and x > 3: x = None\n    return x", ("int?", "int"), "int?"),
]


@pytest.mark.parametrize("body, types, wanted", RESULTS)
def test_result(body, types, wanted):
    assert result(make(f"def f(x, y):\n    {body}\n"), *types) == wanted


def test_literal_argument_of_a_helper_can_be_a_shape():
    """A literal int reaches a shape through device functions; other ints make no specialisations of their own."""
    from krait import cuda, float32

    scope = {"cuda": cuda, "float32": float32}
    exec(textwrap.dedent("""
        def buffer(n, m):
            return cuda.local.array((n, n + 1), float32)

        def scale(x, factor):
            return x * factor

        def f(x):
            b = buffer(3, 7)
            c = buffer(3, 8)
            x[0] = scale(x[0], 2) + scale(x[1], 3) + b[0, 0] + c[0, 0]
        """), scope)
    text = typed(scope["f"], F32, kernel=True)
    assert text.count("func buffer(") == 1 and text.count("func scale(") == 1
    assert "-> array(float32, 2, C)" in text


def test_specialisations_nobody_calls_are_dropped():
    """While s is taken for an int, add(int, float32) is asked for; in the end only add(float32, float32) is called."""
    scope = {}
    exec(textwrap.dedent("""
        def add(a, b):
            return a + b

        def f(x):
            s = 0
            for v in x:
                s = add(s, v)
            return s
        """), scope)
    text = typed(scope["f"], F32)
    assert text.count("func add(") == 1 and "func add(a: float32, b: float32) -> float32" in text


@pytest.mark.parametrize("x", [None, 0, 3])
@pytest.mark.parametrize("y", [None, 0, 3])
def test_equality_with_what_may_be_none_raises_for_no_value(x, y):
    from krait import njit

    def may_be_none(value, there):
        if there:
            return value

    def f(x, has_x, y, has_y, number):
        p, q = may_be_none(x, has_x), may_be_none(y, has_y)
        return p == q, p != q, p == number, number != q

    arguments = (x or 0, x is not None, y or 0, y is not None, 3)
    assert njit(f)(*arguments) == (x == y, x != y, x == 3, 3 != y)


def test_both_phases_decide_from_the_same_facts():
    """The item of a tuple is a literal, which only the rewritten form shows: min still gives what was solved."""
    function = make("def f(x, y):\n    return min(x << True, (-1, y)[0])\n")
    assert result(function, "uint64", "int") == "uint64"


def test_step_that_changes_in_a_loop_gives_a_strided_view():
    """step is 1 when the slice is first looked at."""
    function = make("""
        def f(x, n):
            step = 1
            s = x[0]
            while step < n:
                v = x[n::step]
                s = v[0]
                step += 1
            return s
        """)
    assert re.search(r"v: array\(float32, 1, A\) = getitem", typed(function, F32, "int"))


def test_recursion_of_two():
    scope = {}
    exec(textwrap.dedent("""
        def even(n):
            return True if n == 0 else odd(n - 1)

        def odd(n):
            return False if n == 0 else even(n - 1)
        """), scope)
    assert result(scope["even"], "int") == "bool"


def test_call_that_never_returns_ends_its_block():
    scope = {}
    exec(textwrap.dedent("""
        def fail(n):
            raise ValueError(n)

        def f(n):
            if n < 0:
                fail(n)
            return n
        """), scope)
    text = typed(scope["f"], "int")
    assert re.search(r"call_inst\[fail#\d+\] %\d+\n  unreachable\n", text)
    assert "-> int {" in text


def test_a_special_method_that_never_returns_gives_none():
    """Nothing in typed code has the type of what cannot be."""

    class Fussy:
        def __init__(self, k):
            self.k = k

        def __bool__(self):
            raise ValueError(self.k)

    def f(k):
        try:
            return 1 if Fussy(k) else 2
        except ValueError:
            return 3

    text = typed(f, "int")
    assert re.search(r"call_inst\[.*__bool__#\d+\] %\d+\n  unreachable\n", text), text
    assert "bottom" not in text
