"""What inference refuses, and how it says so."""

import math
import re
import textwrap

import numpy as np
import pytest
from result_types import F32, typed

from krait import _testing, errors, njit

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
    f = math.sin if x else math.cos
    return f(x=x)  # f(x=x) | only known when the code runs | by position


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
    for _ in x:  # x | `x` (int) cannot be iterated over | range(...) counts up to it
        pass


def unpack_wrong(x):
    a, b, c = x, 1  # a, b, c | not enough values to unpack (expected 3, got 2) |
    return a


def too_many_arguments(x):
    return helper(x, 1, 2)  # helper(x, 1, 2) | helper() takes from 1 to 2 positional arguments but 3 were given |


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


def test_arguments_by_place_alone():
    def g(a, b=2, /, c=3):
        return a + b + c

    message = r"g\(\) got some positional-only arguments passed as keyword arguments: 'b'\n(.*\n)*.*without `b=`"
    with pytest.raises(errors.TypingError, match=message):
        njit(lambda: g(1, b=3))()
    with pytest.raises(errors.TypingError, match=r"g\(\) takes from 1 to 3 positional arguments but 4 were given"):
        njit(lambda: g(1, 2, 3, 4))()


def test_texts_where_numpy_computes_name_no_function_that_it_asks():
    for f in (lambda: np.arange("3"), lambda: np.linspace("0", 1, 3), lambda: np.diff("abc"), lambda: np.full(3, "a")):
        with pytest.raises(errors.TypingError, match="a number, or an array of numbers, is needed in place of str"):
            njit(f)()


def test_paths_that_do_not_meet_name_the_arguments():
    def f(x, y, n):
        r = None
        for i in range(n):
            if i == 1:
                r = x
            if i == 2:
                r = y
        return r

    with pytest.raises(errors.TypingError, match=r"the argument `x`\) on one path and .*the argument `y`\)"):
        njit(f)(np.ones(2), np.ones((2, 2)), 3)


@pytest.mark.parametrize(
    "use", ["2**63", "[2**63]", "(lambda y: y)(2**63)", "(2**63, x)", "{2**63: x}", "2**63 if x else 1"]
)
def test_an_int_that_is_left_with_more_than_64_bits(use):
    space = {}
    exec(f"def f(x):\n    return {use}", space)
    with pytest.raises(errors.TypingError, match="does not fit into 64 bits"):
        njit(space["f"])(1)
