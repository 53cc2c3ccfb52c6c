"""Loops over tuples whose items have types of their own, and over literal_unroll(t)."""

import math

import numpy as np
import pytest
from assembler import assemble
from oracle import agree, make

import krait
from krait import cuda, errors, literal_unroll, literally, njit

RECORDS = np.array([(1, 0.5), (2, 1.5), (3, 2.5)], [("a", "i4"), ("b", "f8")])


def square(x):
    return x * x


FUNCTIONS = (square, math.sqrt, abs)


def mixed_sum(t):
    s = 0.0
    for x in literal_unroll(t):
        s += x[0] if isinstance(x, tuple) else x
    return s


def last_item_and_count(t):
    count = 0
    x = None
    for x in literal_unroll(t):
        count += 1
    return x, count


def leaves_by_break_and_else(t):
    n = 0
    for i, x in enumerate(t, 10):
        if isinstance(x, str):
            continue
        if isinstance(x, tuple):
            n += 100 * i
            break
        n += x * i
    else:
        return -1, n
    return i, n


def fields(row):
    s = 0.0
    for name in literal_unroll(("a", "b")):
        s += RECORDS[row][name]
    return s


def calls_functions(x):
    s = 0.0
    for f in literal_unroll(FUNCTIONS):
        s += f(x)
    return s


def loops_in_loops(t, u):
    s = 0
    for x, y in zip(t, u):
        for z in (x, (y,)):
            s += z[0] if isinstance(z, tuple) else 3 * z
    return s


def raises_inside(t):
    done = 0
    try:
        for x in literal_unroll(t):
            done += 1
            if isinstance(x, tuple):
                raise ValueError("a tuple")
    except ValueError:
        return -done
    return done


def value_of_the_round_that_was_left(t):
    while True:
        for x in literal_unroll(t):
            z = 3 * x
            if z > 5:
                return z, x
            kept = z
        if kept > 2:
            break
    return kept, x


def inside_a_counted_loop(n):
    out = 0
    for i in range(n):
        for x in literal_unroll((1, 2.5, (3, 4))):
            if isinstance(x, tuple):
                out += x[1]
                if i > 2:
                    break
            else:
                out += 1
    return out


@pytest.mark.parametrize(
    "function, args",
    [
        (mixed_sum, ((1, 2.5, (3,)),)),
        (mixed_sum, ((True, np.float32(2.5), np.int8(3)),)),
        (mixed_sum, ((),)),
        (last_item_and_count, ((1, 2),)),
        (leaves_by_break_and_else, ((1, "a", (3,), 4),)),
        (leaves_by_break_and_else, ((1, "a"),)),
        (leaves_by_break_and_else, ((),)),
        (fields, (1,)),
        (calls_functions, (3.0,)),
        (loops_in_loops, ((1, 2.5, 3), (1, 4))),
        (raises_inside, ((1, (2,), 3),)),
        (raises_inside, ((1, 2.0),)),
        (value_of_the_round_that_was_left, ((1.0, 1.5),)),
        (value_of_the_round_that_was_left, ((1.5, 2.5),)),
        (inside_a_counted_loop, (5,)),
    ],
)
def test_rounds_do_what_the_interpreter_does(function, args):
    agree(function, *args)


def test_an_item_is_a_constant_of_its_round():
    @cuda.jit
    def kernel(out):
        i = cuda.threadIdx.x
        for k, size in enumerate(cuda.literal_unroll((2, 5))):
            part = cuda.local.array(8, np.float32)
            for j in range(size):
                part[j] = i + j
            s = np.float32(0)
            for j in range(size):
                s += part[j]
            out[k, i] = s

    out = np.zeros((2, 32), np.float32)
    kernel[1, 32](out)
    i = np.arange(32)
    np.testing.assert_array_equal(out, [2 * i + 1, 5 * i + 10])


def test_ptx_of_mixed_items():
    def kernel(out, scale):
        for x in cuda.literal_unroll((1, 2.5, (scale, 3))):
            out[0] += x[0] * x[1] if isinstance(x, tuple) else x

    ptx, _ = cuda.compile_ptx(kernel, "void(float64[:], float32)", cc=(9, 0))
    assert "bra" not in ptx  # rounds, not a loop
    assemble(ptx)


def test_what_is_no_tuple_is_refused():
    with pytest.raises(errors.TypingError, match=r"literal_unroll takes a tuple, not `x` \(array\(float64, 1, C\)\)"):
        njit(refused)(np.ones(3))


def refused(x):
    for item in literal_unroll(x):
        pass


def test_a_mixed_tuple_that_is_no_loop_is_refused():
    def first(t):
        it = iter(t)
        return next(it)

    with pytest.raises(errors.TypingError, match="have no common type to iterate over"):
        njit(first)((1, "a"))


def test_literally_is_its_argument():
    @njit
    def power(x, n):
        return x ** literally(n)

    def cube(x):
        return power(x, 3)

    assert krait.njit(cube)(2.0) == 8.0
    assert [power(2.0, n) for n in (3, 0, -1)] == [8.0, 1.0, 0.5] and power(True, True) == 1
    with pytest.raises(errors.KraitError, match="must be known when the function is compiled"):
        njit(lambda t, n: t[0 : literally(n)])((1, "a", 2.5), 2)


@pytest.mark.parametrize("items", [(1j, True), (1, True, None), (True, 2), (1, 2.5, True), (2.5, None, 1)], ids=str)
def test_a_comprehension_over_items_that_have_a_type_in_common(items):
    """It may be a function of its own, which is given the iterator: then there are no rounds, and the items are of that
    type."""
    f = make("""
        def f(t):
            return [v for v in t]
    """)
    assert njit(f)(items) == f(items)


def test_a_comprehension_over_items_that_have_none():
    f = make("""
        def f(t):
            return [v for v in t]
    """)
    with pytest.raises(krait.errors.TypingError):
        njit(f)((1, "a"))


@pytest.mark.parametrize("body", [
    "[str(a) for a in t], {type(a).__name__ for a in t}, {str(a): len(str(a)) for a in t}",
    "','.join(str(a) for a in t), sum(len(str(a)) for a in t), max(len(str(a)) for a in t)",
    "any(isinstance(a, str) for a in t), all(isinstance(a, str) for a in t)",
    "[a + 1 for a in t if isinstance(a, int)], [str(a) + str(b) for a in t for b in t]",
    "[[str(a) for a in t] for i in range(2)]",
    "[(i, str(a)) for i, a in enumerate(t)], ','.join(f'{i}{a}' for i, a in enumerate(t, 3))",
    "[str(a) + str(b) for a, b in zip(t, t)], [str(a) + str(b) for a, b in zip(t, (1, 2))]",
    "[str(a) for a in reversed(t)]",
    "[f'{k}={v}' for k, v in {'n': t[0], 's': t[1]}.items()]",
])  # fmt: skip
def test_comprehensions(body):
    agree(make(f"def f(*t):\n    return {body}\n", "f"), 1, "ab", 2.5)


def test_reversed_in_a_loop():
    def f(t):
        text = ""
        for a in reversed(t):
            text += str(a)
        return text

    agree(f, (1, "ab", 2.5))
