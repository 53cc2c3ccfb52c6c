"""Type inference: typed IR of given IR, result types of Python functions, and refusals with caret and hint."""

import math
import re
import textwrap

import numpy as np
import pytest

from krait import errors
from krait import _testing

F32 = "array(float32, 1, C)"
F32_2 = "array(float32, 2, C)"


def infer(text, trial="infer"):
    """The typed form, without the header's closing lines: what stands between the braces."""
    return _testing.run(trial, textwrap.dedent(text))


def check(source, wanted, trial="infer"):
    assert infer(source, trial) == textwrap.dedent(wanted)


def typed(function, *types, **options):
    return _testing.stage(function, types, "typed", **options)


def result(function, *types, **options):
    """The result type of a function."""
    return typed(function, *types, **options).split(" {\n")[0].rsplit("-> ", 1)[1]


def make(source, name="f", **scope):
    scope = {"np": np, "math": math, **scope}
    exec(textwrap.dedent(source), scope)
    return scope[name]


# ---- typed IR: conversions are explicit, what is known is a constant -------------------------------------------------


INT_MEETS_INT8 = """\
    func f(c: bool, x: int, y: int8, a: array(int8, 1, C)) {
    b0:
      %4 = const 2
      setitem %3, %4, %1
      branch %0, b1, b2
    b1:
      %5 = add %2, %1
      jump b2
    b2:
      %6 = phi b0 %1, b1 %5
      return %6
    }
    """


def test_an_int_that_a_narrower_integer_may_not_hold_is_checked():
    """Where it is used, and on the edge where it becomes that integer; the store checks once its index is right."""
    check(INT_MEETS_INT8, """\
        func f(c: bool, x: int, y: int8, a: array(int8, 1, C)) -> int8 {
        b0:
          %4 = const 2
          setitem.checked %3, %4, %1
          branch %0, b1, b2
        b1:
          %5: int8 = cast.checked %1
          %6: int8 = add %2, %5
          jump b3
        b2:
          %7: int8 = cast.checked %1
          jump b3
        b3:
          %8: int8 = phi b2 %7, b1 %6
          return %8
        }
        """)


def test_in_a_kernel_it_wraps():
    assert "checked" not in infer(INT_MEETS_INT8, "infer_kernel")


def test_python_ints_and_floats_keep_their_types_in_comparisons():
    assert "lt %0, %1" in infer("func f(x: int, y: float) {\nb0:\n  %2 = lt %0, %1\n  return %2\n}\n")


def test_weak_operand_becomes_strong():
    check("""\
        func f(x: int, y: float32) {
        b0:
          %2 = mul %0, %1
          return %2
        }
        """, """\
        func f(x: int, y: float32) -> float32 {
        b0:
          %2: float32 = cast %0
          %3: float32 = mul %2, %1
          return %3
        }
        """)


def test_literal_is_converted_when_compiled():
    check("""\
        func f(x: float32) {
        b0:
          %1 = const 0.1
          %2 = add %0, %1
          return %2
        }
        """, f"""\
        func f(x: float32) -> float32 {{
        b0:
          %1 = const float32({float(np.float32(0.1))!r})
          %2: float32 = add %0, %1
          return %2
        }}
        """)


def test_accumulator_takes_the_element_type():
    """s = 0.0; for v in x: s += v accumulates in x's type."""
    check("""\
        func f(x: array(float32, 1, C)) {
        b0:
          %1 = const 0.0
          %2 = iter %0
          jump b1
        b1:
          %3 s = phi b0 %1, b2 %6
          %4 = iter_more %2
          branch %4, b2, b3
        b2:
          %5 = iter_take %2
          %6 = add.inplace %3, %5
          jump b1
        b3:
          return %3
        }
        """, """\
        func f(x: array(float32, 1, C)) -> float32 {
        b0:
          %1: iter.array(array(float32, 1, C)) = iter %0
          %2 = const float32(0.0)
          jump b1
        b1:
          %3 s: float32 = phi b0 %2, b2 %6
          %4: bool = iter_more %1
          branch %4, b2, b3
        b2:
          %5: float32 = iter_take %1
          %6: float32 = add.inplace %3, %5
          jump b1
        b3:
          return %3
        }
        """)


def test_branch_on_a_known_condition_goes():
    check("""\
        func f(x: int, y: None) {
        b0:
          %2 = const None
          %3 = is %1, %2
          branch %3, b1, b2
        b1:
          return %0
        b2:
          %4 = add %0, %1
          return %4
        }
        """, """\
        func f(x: int, y: None is None) -> int {
        b0:
          jump b1
        b1:
          return %0
        }
        """)


def test_optional_is_made_and_used_with_a_check():
    check("""\
        func f(c: bool, x: float32) {
        b0:
          %2 = const None
          branch %0, b1, b2
        b1:
          jump b2
        b2:
          %3 = phi b0 %2, b1 %1
          %4 = add %3, %1
          return %4
        }
        """, """\
        func f(c: bool, x: float32) -> float32 {
        b0:
          %2 = const None
          %3: float32? = cast %2
          branch %0, b1, b2
        b1:
          %4: float32? = cast %1
          jump b2
        b2:
          %5: float32? = phi b0 %3, b1 %4
          %6: float32 = cast %5
          %7: float32 = add %6, %1
          return %7
        }
        """)


def test_tuple_operations_become_items():
    check("""\
        func f(x: int, y: float32) {
        b0:
          %2 = tuple %0, %1
          %3 = unpack[2] %2
          %4 = extract[1] %3
          %5 = const -2
          %6 = getitem %2, %5
          %7 = tuple %4, %6
          return %7
        }
        """, """\
        func f(x: int, y: float32) -> (float32, int) {
        b0:
          %2: (float32, int) = tuple %1, %0
          return %2
        }
        """)


def test_index_that_is_not_known_needs_one_item_type():
    check("""\
        func f(t: (int, float), i: int8) {
        b0:
          %2 = getitem %0, %1
          return %2
        }
        """, """\
        func f(t: (int, float), i: int8) -> float {
        b0:
          %2: int = extract[0] %0
          %3: float = cast %2
          %4: float = extract[1] %0
          %5: (float, float) = tuple %3, %4
          %6: int = cast %1
          %7: float = getitem %5, %6
          return %7
        }
        """)


def test_store_converts_to_the_element_type():
    check("""\
        func f(a: array(int16, 2, C), i: uint8, v: float) {
        b0:
          %3 = tuple %1, %1
          setitem %0, %3, %2
          %4 = const None
          return %4
        }
        """, """\
        func f(a: array(int16, 2, C), i: uint8, v: float) -> None {
        b0:
          %3: int = cast %1
          %4: int = cast %1
          %5: (int, int) = tuple %3, %4
          %6: int16 = cast %2
          setitem %0, %5, %6
          %7 = const None
          return %7
        }
        """)


def test_kernel_guard():
    check("""\
        func saxpy(a: float, x: array(float32, 1, C), y: array(float32, 1, C)) {
        b0:
          %3 = const func(krait.cuda.grid)
          %4 = const 1
          %5 = call %3, %4
          %6 = getattr[size] %1
          %7 = lt %5, %6
          %8 = truth %7
          branch %8, b1, b2
        b1:
          %9 = getitem %1, %5
          %10 = mul %0, %9
          setitem %2, %5, %10
          jump b2
        b2:
          %11 = const None
          return %11
        }
        """, """\
        func saxpy(a: float, x: array(float32, 1, C), y: array(float32, 1, C)) -> None {
        b0:
          %3 = const 1
          %4: int = call_func[krait.cuda.grid] %3
          %5: int = getattr[size] %1
          %6: bool = lt %4, %5
          branch %6, b1, b2
        b1:
          %7: float32 = getitem %1, %4
          %8: float32 = cast %0
          %9: float32 = mul %8, %7
          setitem %2, %4, %9
          jump b2
        b2:
          %10 = const None
          return %10
        }
        """, trial="infer_kernel")


def test_unbound_variable_stays_guarded():
    check("""\
        func f(c: bool) {
        b0:
          %1 = const True
          %2 = const False
          %3 = undef
          %4 = const 7
          branch %0, b1, b2
        b1:
          jump b2
        b2:
          %5 = phi b0 %2, b1 %1
          %6 x = phi b0 %3, b1 %4
          check_bound[x] %5
          return %6
        }
        """, """\
        func f(c: bool) -> int {
        b0:
          %1 = const True
          %2 = const False
          branch %0, b1, b2
        b1:
          jump b2
        b2:
          %3: bool = phi b0 %2, b1 %1
          %4 x = const 7
          check_bound[x] %3
          return %4
        }
        """)


def test_variable_that_is_never_bound_ends_the_block():
    check("""\
        func f() {
        b0:
          %0 = const False
          %1 = undef
          check_bound[x] %0
          %2 = add %1, %1
          return %2
        }
        """, """\
        func f() -> None {
        b0:
          %0 = const False
          check_bound[x] %0
          unreachable
        }
        """)


def test_parameter_that_is_a_constant():
    check("""\
        func f(n: int is 3, flag: bool is True) {
        b0:
          branch %1, b1, b2
        b1:
          %2 = mul %0, %0
          return %2
        b2:
          %3 = const 1.5
          return %3
        }
        """, """\
        func f(n: int is 3, flag: bool is True) -> int {
        b0:
          jump b1
        b1:
          %2 = const 9
          return %2
        }
        """)


@pytest.mark.parametrize("operands, flags", [
    ("int, int", ".checked"), ("float, float", ".checked"), ("int32, int32", ""), ("float32, float", ""),
])
def test_division_of_python_numbers_is_checked(operands, flags):
    a, b = operands.split(", ")
    text = infer(f"func f(a: {a}, b: {b}) {{\nb0:\n  %2 = floordiv %0, %1\n  return %2\n}}\n")
    assert f"floordiv{flags} " in text


@pytest.mark.parametrize("op, operand, flag", [
    ("floordiv", "3", ".unchecked"), ("floordiv", "0", ".checked"), ("truediv", "2.0", ".unchecked"),
    ("mod", "-1", ".unchecked"),
    ("lshift", "2", ".unchecked"),
    ("rshift", "-1", ".checked"),
    ("pow", "2", ".unchecked"),
])
def test_known_right_operand_decides_the_check(op, operand, flag):
    text = infer(f"func f(a: int) {{\nb0:\n  %1 = const {operand}\n  %2 = {op} %0, %1\n  return %2\n}}\n")
    assert f"{op}{flag} " in text


def test_kernels_do_not_check():
    text = infer("func f(a: int, b: int) {\nb0:\n  %2 = floordiv %0, %1\n  return %2\n}\n", trial="infer_kernel")
    assert "checked" not in text


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


# ---- refusals --------------------------------------------------------------------------------------------------------
# Each function's comment: what is underlined | a part of the message | a part of the hint.


def add_tuple(x):
    return 1 + x  # 1 + x | unsupported operand types for +: 1 (int) and `x` ((int, int)) |


def two_types(x):
    if x:
        y = 1
    else:
        y = (1, 2)
    for _ in range(x):
        pass
    return y  # | variable `y` is | one type on every path


def two_functions(x):
    f = math.sin if x else math.cos  # | func(math.sin) | call each in its own branch
    return f(x)


def two_results(x):
    if x:
        return 1
    return (x,)  # | the function returns | a tuple on every path


def no_attribute(x):
    return x.colour  # x.colour | `x` (int) has no attribute `colour` |


def float_index(a):
    return a[1.5]  # a[1.5] | indexed by ints, not by float | //


def too_many_indices(a):
    return a[0, 1]  # a[0, 1] | has 1 dimension, but 2 were indexed |


def complex_store(a):
    a[0] = 1j  # 1j | cannot be stored into an array of float32 | .real


def readonly_store(r):
    r[0] = 1  # r[0] | the array `r` (array(float32, 1, C, readonly)) is read-only |


def call_number(x):
    return x(1)  # x(1) | `x` (int) cannot be called |


def unknown_index(t, i):
    return t[i]  # t[i] | its items have no common type | literal index


def iterate_mixed(t):
    return next(iter(t))  # iter(t) | no common type to iterate over | literal indices


def iterate_number(x):
    for _ in x:  # x | `x` (int) cannot be iterated over | range, tuples, arrays
        pass


def unpack_wrong(x):
    a, b, c = x, 1  # a, b, c | not enough values to unpack (expected 3, got 2) |
    return a


def too_many_arguments(x):
    return helper(x, 1, 2)  # helper(x, 1, 2) | helper() takes 2 positional arguments but 3 were given |


def missing_argument():
    return helper()  # helper() | helper() missing a required argument: 'p' |


def unexpected_keyword(x):
    return helper(x, r=1)  # helper(x, r=1) | unexpected keyword argument 'r' |


def inside_a_helper(a):
    return helper(a, None)  # helper(a, None) | in the call of helper with (array(float32, 1, C), None) |


def array_truth(a):
    if a:  # | the truth value of an array, `a` (array(float32, 1, C)), is ambiguous | size
        return 1


def array_and_text(a):
    return a + "b"  # a + "b" | operand types for +: `a` (array(float32, 1, C)) and str |


def big_literal(u):
    return u + 300  # 300 | the Python int 300 is out of bounds for uint8 | OverflowError


def huge_literal(x):
    return x + 100000000000000000000  # 100000000000000000000 | does not fit into 64 bits | float


def bool_minus(b):
    return b - b  # b - b | unsupported operand types for -: `b` (bool_) and `b` (bool_) | ^


def float_bits(x):
    return x & 1.5  # x & 1.5 | unsupported operand types for &: `x` (int) and 1.5 (float) | integers


def divide_in_place(i8):
    i8 /= 2  # i8 /= 2 | is float64 and cannot be stored back as int8 | //=


def is_number(x, i):
    return x is i  # x is i | whether `x` (int) and `i` (int) are one object is not known | ==


def for_ever(x):
    return for_ever(x)  # | for_ever never returns |


def tuple_store(t):
    t[0] = 1  # t[0] | items of `t` ((int, (int,))) cannot be assigned | tuples do not change


def tuple_out_of_range(t):
    return t[2]  # t[2] | index 2 is out of range for a tuple of 2 items |


def raise_number(x):
    raise x  # | an exception is needed here, not `x` (int) |


def mutual_inner(x):
    def even(n):
        return True if n == 0 else odd(n - 1)

    def odd(n):
        return False if n == 0 else even(n - 1)

    return even(x)  # | reaches itself through other inner functions | module level


def helper(p, q=2):
    return p + q


TYPES = {"x": "int", "a": F32, "r": "array(float32, 1, C, readonly)", "t": "(int, (int,))", "i": "int", "u": "uint8",
         "b": "bool_", "i8": "array(int8, 1, C)"}
REFUSALS = [add_tuple, two_types, two_functions, two_results, no_attribute, float_index, too_many_indices,
            complex_store, readonly_store, call_number, unknown_index, iterate_mixed, iterate_number, unpack_wrong,
            too_many_arguments,
            missing_argument, unexpected_keyword, inside_a_helper, array_truth, array_and_text, big_literal,
            huge_literal,
            bool_minus, float_bits, divide_in_place, is_number, for_ever, tuple_store, tuple_out_of_range, raise_number,
            mutual_inner]


def underlined(text, line):
    """What stands over the carets of a rendered refusal, at the place whose source line is given."""
    lines = text.splitlines()
    for above, below in zip(lines, lines[1:]):
        if above.strip() == line.strip() and set(below.strip()) == {"^"}:
            return above[below.index("^"):below.rindex("^") + 1]
    return None


@pytest.mark.parametrize("function", REFUSALS, ids=lambda function: function.__name__)
def test_refusal(function):
    import inspect

    line, = [line for line in inspect.getsource(function).splitlines() if "  # " in line and "|" in line]
    span, message, hint = [part.strip() for part in line.split("  # ", 1)[1].split("|")]
    names = inspect.signature(function).parameters
    types = ["(int, int)" if function is add_tuple else TYPES[name] for name in names]
    with pytest.raises(errors.KraitError) as info:
        typed(function, *types)
    text = str(info.value)
    assert message in text, text
    if hint:
        assert re.search(r"^ *hint: .*" + re.escape(hint), text, re.MULTILINE), text
    if span:
        assert underlined(text, line) == span, text


def test_refusal_of_variables_names_both_lines():
    first = two_types.__code__.co_firstlineno
    with pytest.raises(errors.TypingError) as info:
        typed(two_types, "int")
    assert f"int (line {first + 2})" in str(info.value) and f"(int, int) (line {first + 4})" in str(info.value)


def test_inference_survives_the_failure_of_any_allocation():
    """The n-th allocation fails, for every n until none does: MemoryError, never a crash."""
    text = textwrap.dedent("""\
        func f(x: array(float32, 2, C), n: int) {
        b0:
          %2 = const func(builtins.range)
          %3 = call %2, %1
          %4 = iter %3
          %5 = const 0.0
          jump b1
        b1:
          %6 s = phi b0 %5, b2 %11
          %7 = iter_more %4
          branch %7, b2, b3
        b2:
          %8 = iter_take %4
          %9 = tuple %8, %8
          %10 = getitem %0, %9
          %11 = add.inplace %6, %10
          jump b1
        b3:
          %12 = tuple %6, %1
          return %12
        }
        """)
    failed = 0
    for n in range(1, 2000):
        try:
            _testing.run("infer", text, fail_after=n)
        except MemoryError:
            failed += 1
        else:
            break
    else:
        pytest.fail("it still fails after 2000 allocations")
    assert failed > 5
