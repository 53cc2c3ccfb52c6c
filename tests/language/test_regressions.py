"""One test for every defect that was once found: the smallest program that showed it."""

import dis
import itertools
import math
import threading
import types

import numpy as np
import pytest
from conftest import host_device
from krait import cuda, errors, njit, vectorize

from oracle import agree, agree_all, make, outcome
from portions import some


@njit
def depth(n):
    if n == 0:
        return 1
    below = depth(n - 1)
    return (below * below + n) % 1000003


def expected_depth(n):
    value = 1
    for i in range(1, n + 1):
        value = (value * value + i) % 1000003
    return value


# ---- recursion too deep for the stack raises, as in the interpreter ----


def test_deep_recursion_raises():
    assert depth(20000) == expected_depth(20000)
    agree(depth, 10**7)
    with pytest.raises(RecursionError):
        vectorize(lambda n: depth(n))(np.array([1, 10**7]))


def test_deep_mutual_recursion_raises():
    @njit
    def even(n):
        return True if n == 0 else not odd(n - 1)

    def odd(n):
        return False if n == 0 else not even(n - 1)

    agree(even, 11)
    agree(even, 10**7)


def test_deep_recursion_in_threads_raises():
    outcomes = []

    def work():
        try:
            depth(10**7)
        except RecursionError as error:
            outcomes.append(error.args)

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes == [("maximum recursion depth exceeded",)] * 3


@pytest.mark.skipif(cuda.is_available(), reason="a GPU ends the launch")
@pytest.mark.parametrize("barrier", [False, True])
def test_deep_recursion_in_kernels_raises(barrier):
    @cuda.jit
    def kernel(a, n):
        if barrier:
            cuda.syncthreads()
        a[cuda.grid(1)] = depth(n)

    a = np.zeros(64, np.int64)
    kernel[2, 32](a, 500)
    assert (a == expected_depth(500)).all()
    with pytest.raises(RecursionError):
        kernel[2, 32](a, 10**7)


# ---- a callee that is changed in place (as autoreload does) is compiled anew ----


def plus(x, y=1, *, z=0):
    return x + y + z


@njit
def calls_plus(x):
    return plus(x)


def test_a_changed_callee_is_compiled_again():
    code = plus.__code__
    try:
        assert calls_plus(1) == 2
        plus.__defaults__ = (50,)
        assert calls_plus(1) == 51
        plus.__kwdefaults__ = {"z": 100}
        assert calls_plus(1) == 151
        plus.__code__ = (lambda x, y=1, *, z=0: x * 1000).__code__
        assert calls_plus(1) == 1000
    finally:
        plus.__code__, plus.__defaults__, plus.__kwdefaults__ = code, (1,), {"z": 0}
    assert calls_plus(1) == 2


# ---- arrays without dimensions are updated in place ----


@pytest.mark.parametrize("dtype", ["u1", "i8", "f4", "c16"])
def test_arrays_without_dimensions_in_place(dtype):
    def update(a, b):
        a += b
        a *= 2
        return a

    for b in (3, np.int8(5), np.array(4, dtype)):
        if dtype != "u1" or not isinstance(b, np.int8):  # NumPy refuses int8 into uint8
            agree(update, np.array(7, dtype), b)


# ---- bytecode that no compiler makes is refused ----


def test_operands_that_are_not_there_are_refused():
    def add(x):
        return x + 1

    code = add.__code__
    numbers = [i for i in dis.get_instructions(code) if i.opname in ("LOAD_FAST", "LOAD_CONST")]
    assert {i.opname for i in numbers} == {"LOAD_FAST", "LOAD_CONST"}
    for instruction in numbers:
        changed = bytearray(code.co_code)
        changed[instruction.offset + 1] = 154
        broken = types.FunctionType(code.replace(co_code=bytes(changed)), {})
        with pytest.raises(errors.UnsupportedError, match="bytecode"):
            njit(broken)(1)


# ---- what LLVM believes of the C library's functions is not always so ----


REMAINDERS = ["math.nan % x", "(x * 0.0) % 1.0", "x % math.inf", "math.nan // x", "divmod(x * 0.0, 1.0)",
              "math.fmod(x * 0.0, 1.0)", "np.fmod(x * 0.0, 1.0)", "np.float32(x * 0.0) % np.float32(1)"]


@pytest.mark.parametrize("text", REMAINDERS)
def test_remainders_of_nan_are_nan(text):
    agree_all(make(f"def f(x): return {text}"), [(v,) for v in (math.inf, -math.inf, math.nan, 2.5, -1.0)])


def test_a_remainder_by_a_quotient_that_may_be_zero():
    def f(x, a):
        x = x - x
        v = (3.25 <= x == a[1]) / 3
        w = a[0] // (x // v)
        if w or np.uint64(v):
            pass
        return a

    agree(f, np.int16(-3), np.ones(4, bool))


@pytest.mark.parametrize("text", ["2.0 ** x", "math.pow(2.0, x)", "10.0 ** x", "np.float32(2) ** np.float32(x)"])
def test_powers_are_those_of_the_c_library(text):
    numbers = np.random.default_rng(7).uniform(-50, 50, 2000).tolist()
    agree_all(make(f"def f(x): return {text}"), [(v,) for v in numbers])


# ---- floats that do not fit NumPy's integers raise, as there ----

ODD_FLOATS = [1e19, 1e20, -1.0, -0.5, 9.3e18, -1e19, math.nan, math.inf, -math.inf, 300.7, 2.0**63, 4e9, -(2.0**63),
              2.0**64, 127.99, 128.0, -128.9, -129.0, 65535.5, 65536.0, 2.0**32, -(2.0**31), 2.0**31]


@pytest.mark.parametrize("kind", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"])
def test_numpy_integers_of_python_floats(kind):
    agree_all(make(f"def f(x): return np.{kind}(x)"), [(v,) for v in ODD_FLOATS])
    for value in ODD_FLOATS:
        agree(make(f"def f(): return np.{kind}(VALUE)", VALUE=value))


# ---- what an in-place operation reads is what was there before it ----

OVERLAPS = [
    "x -= x[:1]", "x += x[0:1, :]", "x += x[:, :1]", "x *= x[::-1]", "x -= x[-1:]", "x[1:] -= x[:1]", "x += x[1]",
    "x[::-1] += x[:1]", "x += x[:1, ::-1]", "x[:] = x[:1]", "x[:] = x[-1:, ::-1]", "x[1:] = x[:-1]",
    "x[:-1] = x[1:]", "x -= x[0, 0:1]", "x += x[:, -1:]", "x[:, 1:] = x[:, :-1]", "x[::2] += x[1::2]",
]


@pytest.mark.parametrize("place, statement", list(enumerate(OVERLAPS)), ids=OVERLAPS)
@pytest.mark.parametrize("step", some(range(2)))
def test_operands_that_overlap(place, statement, step):
    """Each with two types of elements; which parts overlap does not depend on these."""
    dtype = ("f8", "i4", "c8", "u1")[(place + 2 * step) % 4]
    grid = np.arange(1, 13).reshape(4, 3).astype(dtype)
    wide = np.arange(1, 49).reshape(8, 6).astype(dtype)
    f = make(f"def f(x):\n    {statement}\n    return x")
    arrays = [grid, np.asfortranarray(grid), wide[::-2, ::2], wide[:1, :3], wide[:3, :1], wide[:, :0]]
    agree_all(f, [(array,) for array in arrays])


# ---- integers to negative integer powers ----


@pytest.mark.parametrize("y", [np.array([1, 2, 0]), np.array([1, -2, 0]), np.array([-1]), -1, 2, np.int8(-1), True])
def test_powers_in_place(y):
    agree_all(make("def f(x, y):\n    x **= y\n    return x"), [(np.array([2, 3, 4]), y), (np.array([], int), y)])


def test_an_array_whose_power_raises_is_as_numpy_leaves_it():
    agree(make("def f(x, y):\n    x **= y"), np.array([2, 3, 4, 5]), np.array([2, 2, -1, 2]))


def test_negative_powers_in_ufuncs_raise_as_numpy():
    power = vectorize(["int64(int64, int64)", "int8(int8, int8)"])(lambda x, y: x**y)
    assert power(np.arange(3), np.arange(3)).tolist() == [1, 1, 4]
    for kind in (np.int8, np.int64):
        for y in (kind(-1), np.array([1, -1], kind)):
            errors_of = [str(outcome(f, (kind(2), y), {}).error) for f in (power, np.power)]
            assert errors_of[0] == errors_of[1]


# ---- complex numbers are ordered as NumPy's scalars and ufuncs order them, which differ ----

PARTS = [0, 2, -1.5, math.nan, math.inf, -math.inf]
OTHERS = [2, 2.0, True, np.float32(2), np.int64(2), np.uint8(0), np.complex64(complex(2, math.inf)),
          np.complex128(complex(math.nan, 1)), np.complex64(complex(math.inf, math.nan)), np.complex128(2)]


COMPARISONS = ["x < y", "x <= y", "x > y", "x >= y", "x == y", "x != y", "np.less(x, y)", "np.less_equal(x, y)",
               "np.greater(x, y)", "np.greater_equal(x, y)", "np.equal(x, y)"]


@pytest.mark.parametrize("text", COMPARISONS)
def test_comparisons_of_complex_numbers(text):
    numbers = [kind(complex(re, im)) for kind in (np.complex64, np.complex128) for re in PARTS for im in PARTS]
    agree_all(make(f"def f(x, y): return {text}"), [(x, y) for x in numbers for y in OTHERS])
    agree_all(make(f"def f(y, x): return {text}"), [(x, y) for x in numbers for y in OTHERS])
    python = [complex(re, im) for re in PARTS for im in PARTS]
    strong = [np.float64(1), np.float32(2), np.int8(-1), np.complex64(2), np.complex128(1), np.True_]
    agree_all(make(f"def f(x, y): return {text}"), [(x, y) for x in python for y in strong])


# ---- NumPy's integers beyond 2**63, and beyond what a float holds ----


def test_roots_of_the_largest_integers():
    top = 2**64 - 1
    squares = [(2**32 - 1) ** 2, 3037000500**2, 2**62]
    values = [top, 2**63, 2**63 - 1, 0, 1, *squares, *(square - 1 for square in squares)]
    agree_all(make("def f(x): return math.isqrt(x)"), [(np.uint64(v),) for v in values])


@pytest.mark.parametrize("name", ["floor", "ceil"])
def test_numpy_integers_are_floats_to_floor_and_ceil(name):
    values = [2**53 + 1, -(2**53) - 1, 2**62 + 1, 7, -7, 0]
    agree_all(make(f"def f(x): return math.{name}(x)"), [(np.int64(v),) for v in values])
    agree_all(make(f"def f(x): return math.{name}(x)"), [(np.uint64(abs(v)),) for v in values])
    agree_all(make(f"def f(x): return math.{name}(x)"), [(v,) for v in values])


# ---- texts ----


@pytest.mark.parametrize("text", ["", "abc", "\u00e4\u00f6\u20ac", "x\U0001f600y"])
def test_the_length_of_a_text_is_in_characters(text):
    agree(make("def f(): return len(TEXT)", TEXT=text))


@pytest.mark.parametrize("statement", ["raise ValueError(t)", "raise ValueError(3, t)", "assert x > 0, t"])
def test_a_text_that_is_chosen_while_running_can_be_raised(statement):
    function = make(f"def f(x):\n    t = 'low' if x < 0 else 'high'\n    {statement}\n    return x")
    agree_all(function, [(-1,), (0,), (2,)])


# ---- a sum adds each item as it is ----

MIXED = [(3, np.uint8(251), 2.5), (1000, np.uint8(1), 2.5), (np.uint8(200), np.uint8(100), 0.5),
         (True, np.float32(0.1), 1), (np.int8(100), np.int16(100), 3), (1, 2.5, 1j), (2**53, 1, np.float64(1))]


@pytest.mark.parametrize("items", MIXED, ids=repr)
def test_sums_of_items_of_several_types(items):
    agree(make("def f(t): return sum(t)"), items)
    agree(make("def f(t): return sum(t, np.int16(7))"), items)


# ---- where more than two types meet, their order does not matter ----

MEETING = [(np.int8(2), 1.5, np.complex64(3)), (np.int64(2), np.float32(0.5), 7), (np.bool_(True), 3, np.float32(2)),
           (np.int16(1), np.uint16(2), np.float32(3)), (np.uint8(1), 2, 0.5)]
MEETS = ["return (x if k == 0 else y) if k < 2 else z", "return x if k == 0 else (y if k == 1 else z)",
         "if k == 0:\n        return x\n    if k == 1:\n        return y\n    return z",
         "if k == 0:\n        v = x\n    elif k == 1:\n        v = y\n    else:\n        v = z\n    return v"]


@pytest.mark.parametrize("body", MEETS)
@pytest.mark.parametrize("values", MEETING)
def test_types_meet_in_any_order(body, values):
    wanted = np.result_type(*values).type
    for order in itertools.permutations(values):
        compiled = njit(make(f"def f(k, x, y, z):\n    {body}"))
        for k, value in enumerate(order):
            result = compiled(k, *order)
            assert type(result) is wanted and result == value


# ---- a try statement in a loop over rows, whose handler uses the row ----


def test_a_handler_uses_what_a_round_of_its_loop_has_made():
    agree(make("""
        def f(rows):
            for row in rows:
                try:
                    pass
                except TypeError:
                    row[:1] = row
            for row in rows:
                try:
                    if row[0] > 1:
                        raise ValueError
                except ValueError:
                    row[1:] = row[:1]
            return rows
    """), np.arange(6.0).reshape(3, 2))


# ---- an int that does not fit raises, even if there are no elements ----


@pytest.mark.parametrize("text", ["p += n", "p[1:1] *= n", "p[:] |= n", "p **= n", "p = p - n", "p = np.maximum(n, p)",
                                  "p = p << n", "p = p == n", "p = np.add(p, n, dtype=np.int64)"])
def test_ints_meet_arrays_without_elements(text):
    function = make(f"def f(p, n):\n    {text}\n    return p")
    for size in (0, 2):
        agree_all(function, [(np.ones(size, np.int16), n) for n in (3, 70000, -70000)])


def test_an_item_that_is_in_no_list_is_named_as_the_interpreter_names_it():
    function = make("def f(x):\n    return [1, 2, 3].index(x)")
    for value in (np.False_, np.int8(7), np.float32(2.5), False, 2.5, 9):
        agree(function, value)


# ---- uint64 beyond int64 ---------------------------------------------------------------------------------------------

LARGE = [np.uint64(2**63), np.uint64(2**64 - 1), np.uint64(2**63 + 5)]


@pytest.mark.parametrize("text", ["x[a:]", "x[:a]", "x[::a]", "x[1:a:2]", "[1, 2, 3][:a]", "x.reshape(2, 2)[:, a:]"])
def test_slices_by_large_numbers_are_clipped(text):
    agree_all(make(f"def f(x, a): return {text}"), [(np.arange(4.0), a) for a in [*LARGE, np.uint64(1)]])


@pytest.mark.parametrize("text", ["x[a]", "x[a] + x[0]", "(1, 2, 3)[a]", "[1, 2, 3][a]", "x.reshape(2, 2)[a, 0]"])
def test_large_numbers_are_no_indices_from_the_end(text):
    f = njit(make(f"def f(x, a): return {text}"))
    for a in LARGE:
        with pytest.raises(IndexError):
            f(np.arange(4.0), a)


@host_device
def test_kernels_leave_out_what_lies_beyond_every_array():
    @cuda.jit
    def store(x, a):
        x[a] = 7.0

    x = np.zeros(4)
    for a in LARGE:
        with pytest.warns(errors.OutOfBoundsWarning):
            store[1, 1](x, a)
    assert (x == 0).all()


OF_INTS = ["gcd(a, 6)", "gcd(a)", "lcm(a, 2)", "comb(a, 1)", "perm(a, 1)", "perm(a)", "factorial(a)"]


@pytest.mark.parametrize("text", OF_INTS)
def test_functions_of_ints_refuse_what_no_int_of_64_bits_holds(text):
    f = make(f"def f(a): return math.{text}")
    agree_all(f, [(np.uint64(v),) for v in (0, 1, 12)])
    for a in LARGE:
        with pytest.raises(OverflowError):
            njit(f)(a)


def test_places_outside_are_named_as_numpy_names_them():
    for text in ("x.item(5)", "x.item(-9)", "x.flat[5]"):
        function = make(f"def f(x):\n    return {text}")
        for array in (np.zeros(0), np.ones(3), np.ones((2, 2)), np.zeros((0, 3)), np.array(1.0)):
            agree(function, array)


def test_the_exponent_of_a_nan_that_is_a_product():
    """LLVM takes the sign of inf * 0 for that of a product of positive numbers; the processor sets it."""
    infinite = math.inf

    def f(a):
        return math.frexp(a * infinite)

    def numpy(a):
        return np.frexp(a * infinite), np.frexp(np.float32(a) * np.float32(infinite))

    for function in (f, numpy):
        agree_all(function, [(a,) for a in (np.uint16(0), np.uint16(3), 0.0, -0.0, -2.0, np.nan)])


def kept_zeros():
    """Choices between zero and a number of another size, as LLVM would make minima and maxima of."""
    arms = [f"{a} if x {op} 0 else {b}" for op in ("<", "<=", ">", ">=")
            for a, b in (("0", "x"), ("x", "0"), ("0.0", "np.float64(x)"), ("np.float64(x)", "0.0"),
                         ("np.float32(0)", "np.float32(x)"), ("np.float32(x)", "np.float32(0)"))]
    return [make(f"def f(x):\n    return {text}") for text in arms]


def test_a_zero_keeps_its_sign_where_its_size_changes():
    """LLVM makes one minimum and one cast of a choice between zero and a cast, and takes -0.0 and 0.0 for the same."""
    for function in kept_zeros():
        compiled = njit(function)
        for x in (t(x) for t in (np.float16, np.float32, np.float64) for x in (-0.0, 0.0, 2.0, -2.0)):
            assert np.float64(compiled(x)).tobytes() == np.float64(function(x)).tobytes(), (function.__name__, x)


@njit
def at_most(x, most):
    return np.float64(most) if x > most else np.float64(x)


def test_a_zero_keeps_its_sign_where_it_is_an_argument():
    def f(x):
        return at_most(x, np.float32(0))

    agree_all(f, [(np.float32(x),) for x in (-0.0, 0.0, 2.0, -2.0)])


@host_device
def test_a_kernel_keeps_the_sign_of_a_zero():
    sources = np.array([-0.0, 0.0, 2.0, -2.0], np.float32)
    for function in kept_zeros():
        compiled = cuda.jit(device=True)(function)

        @cuda.jit
        def kernel(x, out):
            i = cuda.grid(1)
            if i < x.size:
                out[i] = compiled(x[i])

        out = np.zeros(4)
        kernel[1, 4](sources, out)
        expected = np.array([function(x) for x in sources], np.float64)
        assert out.tobytes() == expected.tobytes()
