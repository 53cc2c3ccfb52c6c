"""Operators on numbers of every type, Python's and NumPy's, alone and mixed, against the interpreter."""

import itertools
import math
import operator

import numpy as np
import pytest
from oracle import INT64, STRONG, Raised, agree, agree_all, assert_same, compare_outcomes, expression, make, outcome

from krait import errors, njit, vectorize

KINDS = [bool, int, float, complex, *STRONG]
WEAK = (bool, int, float, complex)

VALUES = {
    bool: [False, True],
    int: [0, 1, -1, 3, -7, 2**31, 2**53 + 1, -(2**63), 2**63 - 1],
    float: [0.0, -0.0, 1.0, -2.5, 3.7, 1e300, math.inf, -math.inf, math.nan],
    complex: [0j, 1 + 2j, -2.5 + 0j, complex(-0.0, 3), complex(math.inf, 1), complex(0, math.nan)],
}


def values_of(kind):
    if kind in VALUES:
        return VALUES[kind]
    dtype = np.dtype(kind)
    if dtype.kind == "b":
        return [kind(False), kind(True)]
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        wanted = [0, 1, 3, 7, -1, -6, info.max, info.max - 1, info.min]
        return [kind(v) for v in dict.fromkeys(wanted) if v in range(info.min, info.max + 1)]
    if dtype.kind == "f":
        info = np.finfo(dtype)
        return [kind(v) for v in (0.0, -0.0, 1.0, -2.5, 3.7, info.max, info.tiny, math.inf, -math.inf, math.nan)]
    return [kind(v) for v in VALUES[complex]]


def holds(kind, value):
    """Whether an operation with NumPy's type takes the Python int; where it does not, NumPy raises OverflowError."""
    if kind in WEAK or np.dtype(kind).kind not in "iu":
        return True
    info = np.iinfo(kind)
    return info.min <= value <= info.max


def pairs_of(a, b):
    for x, y in itertools.product(values_of(a), values_of(b)):
        if a is int and not holds(b, x) or b is int and not holds(a, y):
            continue
        yield x, y


def supported(function, *kinds):
    """Whether the interpreter has the operation for these types."""
    result = outcome(function, [kind(1) for kind in kinds], {})
    return not (isinstance(result, Raised) and issubclass(result.kind, TypeError))


def wrap(value):
    """As compiled code holds a Python int."""
    return (int(value) + 2**63) % 2**64 - 2**63 if type(value) is int else value


BINARY = ["+", "-", "*", "&", "|", "^", "==", "!=", "<", "<=", ">", ">="]
DIVIDING = ["/", "//", "%"]
IDS = [kind.__name__ for kind in KINDS]


def same_up_to_wrapping(compiled, x, y):
    ours, theirs = outcome(compiled, (x, y), {}), outcome(compiled.py_func, (x, y), {})
    if not isinstance(theirs, Raised):
        theirs = tuple(map(wrap, theirs)) if isinstance(theirs, tuple) else wrap(theirs)
    try:
        compare_outcomes(ours, theirs)
    except AssertionError as error:
        raise AssertionError(f"{x!r}, {y!r}: {error}") from None


@pytest.mark.parametrize("a", KINDS, ids=IDS)
def test_operators_that_never_raise(a):
    for b in KINDS:
        usable = [op for op in BINARY if supported(expression(f"x {op} y", "x", "y"), a, b)]
        compiled = njit(make("def f(x, y): return " + ", ".join(f"x {op} y" for op in usable)))
        for x, y in pairs_of(a, b):
            same_up_to_wrapping(compiled, x, y)
        for op in set(BINARY) - set(usable):
            with pytest.raises(errors.TypingError):
                njit(expression(f"x {op} y", "x", "y"))(a(1), b(1))


@pytest.mark.parametrize("op", DIVIDING)
@pytest.mark.parametrize("a", KINDS, ids=IDS)
def test_division(a, op):
    for b in KINDS:
        function = expression(f"x {op} y", "x", "y")
        if not supported(function, a, b):
            with pytest.raises(errors.TypingError):
                njit(function)(a(1), b(1))
            continue
        compiled = njit(function)
        for x, y in pairs_of(a, b):
            same_up_to_wrapping(compiled, x, y)


# ---- powers and shifts ----

EXPONENTS = {int: [0, 1, 2, 5, 63], float: [0.0, 0.5, 2.0, -1.0, 3.7, math.inf, math.nan]}


def exponents_of(kind):
    if kind in EXPONENTS:
        return EXPONENTS[kind]
    if np.dtype(kind).kind in "iu":
        return [kind(v) for v in (0, 1, 2, 5, 7)]
    return values_of(kind)


def assert_close(ours, theirs):
    """NumPy has a pow of its own on some processors: four units in the last place."""
    assert type(ours) is type(theirs)
    np.testing.assert_allclose(ours, theirs, rtol=4 * float(np.finfo(type(theirs)).eps))


@pytest.mark.parametrize(
    "a", [k for k in KINDS if np.dtype(k).kind != "c"], ids=[k.__name__ for k in KINDS if np.dtype(k).kind != "c"]
)
def test_power(a):
    for b in KINDS:
        function = expression("x ** y", "x", "y")
        if np.dtype(b).kind == "c":
            continue
        if not supported(function, a, b):
            with pytest.raises(errors.TypingError):
                njit(function)(a(1), b(1))
            continue
        compiled = njit(function)
        for x, y in itertools.product(values_of(a), exponents_of(b)):
            if a is int and not holds(b, x) or b is int and not holds(a, y):
                continue
            theirs = outcome(function, (x, y), {})
            if isinstance(theirs, complex) and not isinstance(theirs, np.generic):
                with pytest.raises(ValueError, match="make one operand complex"):  # the result's type is a float's
                    compiled(x, y)
            elif isinstance(theirs, np.floating):
                assert_close(compiled(x, y), theirs)
            else:
                same_up_to_wrapping(compiled, x, y)


@pytest.mark.parametrize("exponent", [0, 1, 2, 3, 4, 7, 10, -1, -2, -3, 0.5, 2.0, -0.5, 1.5])
def test_power_of_a_literal(exponent):
    for kind in KINDS:
        compiled = njit(expression(f"x ** {exponent}", "x"))
        strong_integer = kind is not bool and kind is not int and np.dtype(kind).kind in "iu"
        for x in values_of(kind):
            theirs = outcome(compiled.py_func, (x,), {})
            if type(theirs) is complex and kind is not complex:
                with pytest.raises(ValueError):
                    compiled(x)
                continue
            if kind is complex and isinstance(theirs, complex) or np.dtype(kind).kind == "c":
                ours = outcome(compiled, (x,), {})
                assert type(ours) is type(theirs)
                if not isinstance(theirs, Raised):
                    np.testing.assert_allclose(ours, theirs, rtol=1e-5 if isinstance(ours, np.complex64) else 1e-12)
                continue
            if isinstance(theirs, np.floating):
                assert_close(compiled(x), theirs)
                continue
            if strong_integer and exponent in (-1, -2, -3):
                assert isinstance(theirs, Raised)
                if theirs.kind is OverflowError:  # a literal that the type cannot hold is refused when it is compiled
                    with pytest.raises(errors.TypingError):
                        compiled(x)
                    continue
            compare_outcomes(outcome(compiled, (x,), {}), wrap(theirs))


def test_negative_power_of_ints():
    """The interpreter's answer is a float; a type does not tell the exponent's sign: compiled code refuses."""
    power = njit(lambda x, y: x**y)
    assert_same(power(2, 10), 1024)
    with pytest.raises(ValueError, match="make one operand a float"):
        power(2, -1)
    assert_same(power(2.0, -1), 0.5)
    agree(power, 0, -1)
    agree(power, np.int32(2), np.int32(-1))
    agree(power, np.int32(1), np.int32(-1))


SHIFTS = [0, 1, 3, 7, 8, 31, 63, 64, 100, -1]


@pytest.mark.parametrize("op", ["<<", ">>"])
def test_shifts(op):
    for a, b in itertools.product(KINDS, KINDS):
        function = expression(f"x {op} y", "x", "y")
        if not supported(function, a, b):
            with pytest.raises(errors.TypingError):
                njit(function)(a(1), b(1))
            continue
        compiled = njit(function)
        counts = [v for v in values_of(b) if -2 < v < 100] if b not in (bool, int) else values_of(b)[:3]
        counts += [
            b(v)
            for v in SHIFTS
            if b is int
            or b is not bool
            and np.dtype(b).kind in "iu"
            and v in range(np.iinfo(b).min, np.iinfo(b).max + 1)
        ]
        for x, y in itertools.product(values_of(a), counts):
            if a is int and not holds(b, x) or b is int and not holds(a, y):
                continue
            if op == "<<" and type(x) in WEAK and type(y) in WEAK and y > 200:
                continue  # the interpreter would need the memory
            same_up_to_wrapping(compiled, x, y)


# ---- one operand, augmented assignment, literals ----


@pytest.mark.parametrize("text", ["-x", "+x", "~x", "not x", "abs(x)", "bool(x)", "int(x)", "float(x)", "complex(x)"])
def test_one_operand(text):
    for kind in KINDS:
        function = expression(text, "x")
        if not supported(function, kind):
            with pytest.raises(errors.TypingError):
                njit(function)(kind(1))
            continue
        compiled = njit(function)
        for x in values_of(kind):
            theirs = outcome(function, (x,), {})
            if text in ("int(x)", "float(x)") and isinstance(x, np.complexfloating):
                with pytest.raises(errors.TypingError):  # NumPy drops the imaginary part, with a warning
                    compiled(x)
                continue
            if text == "int(x)" and type(theirs) is int and theirs not in INT64 and np.dtype(kind).kind == "f":
                continue  # no int64: a documented difference
            ours = outcome(compiled, (x,), {})
            if text == "int(x)" and type(theirs) is int and theirs not in INT64:
                assert ours.kind is OverflowError, x  # another
                continue
            try:
                compare_outcomes(ours, wrap(theirs))
            except AssertionError as error:
                raise AssertionError(f"{x!r}: {error}") from None


LITERALS = ["1", "-3", "100", "True", "2.5", "0.1", "1e300", "2j", "1.5+2j"]


@pytest.mark.parametrize("literal", LITERALS)
@pytest.mark.parametrize("op", ["+", "-", "*", "/", "//", "%", "<", "==", "&"])
def test_literal_operands(op, literal):
    """A literal adapts to the other operand's type."""
    for kind in KINDS:
        for text in (f"x {op} {literal}", f"{literal} {op} x"):
            function = expression(text, "x")
            if not supported(function, kind):
                with pytest.raises(errors.TypingError):
                    njit(function)(kind(1))
                continue
            value = eval(literal)
            if type(value) is int and not holds(kind, value):
                continue
            compiled = njit(function)
            for x in values_of(kind):
                theirs = outcome(function, (x,), {})
                if op == "<" and np.dtype(kind).kind == "c":
                    continue
                try:
                    compare_outcomes(outcome(compiled, (x,), {}), wrap(theirs))
                except AssertionError as error:
                    raise AssertionError(f"{text} with {x!r}: {error}") from None


@pytest.mark.parametrize("op", ["+", "-", "*", "/", "//", "%", "**", "&", "|", "^", "<<", ">>"])
def test_augmented_assignment(op):
    function = make(f"""
        def f(x, y):
            x {op}= y
            return x
    """)
    for a, b in [(int, int), (float, int), (np.int32, int), (np.float32, float), (bool, int), (complex, float)]:
        if supported(function, a, b):
            same_up_to_wrapping(njit(function), a(5), b(2))


def test_ints_wrap():
    """Python ints are 64 bits wide in compiled code: the documented difference."""
    add, multiply, negate = njit(lambda x, y: x + y), njit(lambda x, y: x * y), njit(lambda x: -x)
    assert_same(add(2**63 - 1, 1), -(2**63))
    assert_same(multiply(2**62, 6), wrap(2**62 * 6))
    assert_same(negate(-(2**63)), -(2**63))
    with pytest.raises(OverflowError):
        add(2**63, 1)
    with pytest.raises(errors.TypingError):
        njit(lambda x: x + 2**64)(1)


BEYOND = [(np.uint8, 300), (np.uint8, 256), (np.int8, 128), (np.int8, -129), (np.uint8, -1), (np.uint64, -1)]
BEYOND += [(np.int16, 2**40), (np.uint16, -(2**63)), (np.int32, 2**31), (np.uint32, 2**32), (np.int8, 2**63 - 1)]
WITHIN = [(np.uint8, 255), (np.int8, 127), (np.int8, -128), (np.uint64, 2**63 - 1), (np.int32, -(2**31))]


@pytest.mark.parametrize("op", ["+", "-", "*", "/", "//", "%", "**", "&", "|", "^", "<<", ">>", "<", "==", ">="])
def test_ints_that_a_numpy_integer_cannot_hold(op):
    """NumPy raises OverflowError, save in comparisons; literals are refused when they are compiled."""
    compiled = njit(expression(f"x {op} y", "x", "y"))
    for kind, value in BEYOND + WITHIN:
        if op == "**" and (kind, value) in WITHIN:
            continue
        agree(compiled, kind(3), value)
        if op not in ("**", "<<", ">>"):
            agree(compiled, value, kind(3))


@pytest.mark.parametrize("name", ["int8", "uint8", "int16", "uint32", "int64", "uint64"])
def test_constructors_check_the_range_of_ints(name):
    """np.int8(300) raises; np.int8(np.int64(300)) wraps."""
    kind = getattr(np, name)
    values = [300, -1, -129, 127, 2**40, 2**63 - 1, -(2**63), True, np.int64(300), np.int64(-1), np.uint64(2**63), 2.7]
    agree_all(lambda v: kind(v), [(v,) for v in values])


def test_ufuncs_check_the_range_of_ints():
    for kind, value in BEYOND + WITHIN:
        agree(lambda x, y: np.maximum(x, y), kind(3), value)
        agree(lambda x, y: np.add(x, y), kind(3), value)


def test_the_range_of_ints_in_a_ufunc():
    @vectorize(["int8(int8)"])
    def larger(x):
        return x + int(x) * 100

    assert larger(np.array([0, 1], np.int8)).tolist() == [0, 101]
    with pytest.raises(OverflowError, match="Python integer 200 out of bounds for int8"):
        larger(np.array([0, 1, 2], np.int8))


def test_the_range_of_ints_without_a_python_error_model():
    compiled = njit(lambda x, y: x + y, error_model="numpy")
    agree_all(compiled, [(kind(3), value) for kind, value in BEYOND + WITHIN])


def test_ints_that_meet_numpy_integers_where_branches_meet():
    """The variable has NumPy's type, which must hold the int; one that nobody reads any more may be anything."""

    def f(x, n, use):
        v = n
        if use:
            v = x
        return v

    def dead(x, n, use):
        v = n
        if use:
            v = x
        v = 1
        return v

    compiled = njit(f)
    assert_same(compiled(np.int8(3), 300, True), np.int8(3))
    assert_same(compiled(np.int8(3), 100, False), np.int8(100))
    with pytest.raises(OverflowError, match="Python integer 300 out of bounds for int8"):
        compiled(np.int8(3), 300, False)
    agree_all(dead, [(np.int8(3), 300, True), (np.int8(3), 300, False)])

    def in_tuples(x, n, use):
        pair = (n, 1)
        while use > 0:
            pair = (x, x)
            use -= 1
        return pair[0] + x

    compiled = njit(in_tuples)
    agree_all(compiled, [(np.int8(3), 100, 0), (np.int8(3), 100, 2), (np.int8(3), 300, 0)])

    def last(a, n):
        v = n
        for x in a:
            v = x
        return v + np.uint8(0)

    agree_all(last, [(np.arange(5, dtype=np.uint8), 7), (np.zeros(0, np.uint8), 7), (np.zeros(0, np.uint8), 256)])


LARGE_INTS = [0, 3, 2**53, 2**53 + 1, -(2**53) - 1, 2**62 + 1, 2**63 - 1, 2**63 - 513, -(2**63), -(2**63) + 1]
LARGE_FLOATS = [0.5, 2.0**53, -(2.0**53), 2.0**62, 2.0**63, -(2.0**63), math.nextafter(2.0**63, 0), math.inf, math.nan]


def test_ints_and_floats_compare_by_value():
    """The interpreter does not round a Python int that it compares with a Python float; NumPy does."""
    compare = njit(lambda x, y: (x < y, x <= y, x == y, x != y, x > y, x >= y))
    in_tuples = njit(lambda x, y: ((x, 1) < (y, 2), (x, 1) == (y, 1), x in (y, 0.25)))
    for i, x in itertools.product(LARGE_INTS, LARGE_FLOATS):
        agree_all(compare, [(i, x), (x, i), (np.int64(i), x), (i, np.float64(x)), (np.float64(x), i)])
        agree_all(in_tuples, [(i, x)])
        if math.isfinite(x):
            agree(make(f"def f(y): return y < {i}, y == {i}, {i} >= y, {x!r} < {i}, {x!r} == {i}"), x)
            agree(make(f"def f(y): return y < {x!r}, y == {x!r}, {x!r} >= y"), i)


@pytest.mark.parametrize("name", ["divmod", "pow", "min", "max"])
def test_builtins_of_two_numbers(name):
    function = expression(f"{name}(x, y)", "x", "y")
    for a, b in itertools.product([bool, int, float], repeat=2):
        if name in ("min", "max") and a is not b:
            continue  # the result's type would depend on the values
        compiled = njit(function)
        for x, y in itertools.product(values_of(a), values_of(b)):
            if name == "pow" and (type(y) is int and (y < 0 or y > 70) or type(x) is int and type(y) is float):
                continue
            theirs = outcome(function, (x, y), {})
            if type(theirs) is complex:
                continue
            same_up_to_wrapping(compiled, x, y)


@pytest.mark.parametrize("kind", ["int8", "int32", "uint8", "float32", "float64"])
def test_divmod_of_numpy(kind):
    kind = getattr(np, kind)
    agree_all(lambda x, y: divmod(x, y), itertools.product(values_of(kind), values_of(kind)))


def test_pow_with_a_modulus():
    agree_all(
        lambda x, y, m: pow(x, y, m),
        itertools.product([0, 1, 2, 7, -3, 10**9, 2**62], [0, 1, 5, 10**6], [1, 2, 7, -5, 10**9 + 7, 2**62, 0]),
    )


def test_round():
    agree_all(lambda x: round(x), [(x,) for x in (0.5, 1.5, 2.5, -0.5, -1.5, 2.4, 1e15, math.nan, math.inf, 3, True)])
    agree_all(
        lambda x: round(x, 2), [(x,) for x in (0.5, 2.675, 1.005, -1.115, 1e300, math.inf, math.nan, 12345.6789)]
    )
    agree_all(
        lambda x, n: round(x, n), itertools.product([1234.5678, -0.05, 1e22, 5e-324], [-5, -3, 0, 1, 3, 20, 400, -400])
    )
    agree_all(lambda x: round(x, -1), [(x,) for x in (0, 4, 5, 6, 14, 15, 25, -5, -15, 123456)])
    agree_all(lambda x: round(x), [(np.float32(2.5),), (np.float64(3.5),), (np.int16(7),)])


@pytest.mark.parametrize("n, z", [(2**53 + 1, complex(2.0**53)), (2**63 - 1, complex(2.0**63)), (3, 3 + 0j),
                                  (3, 3 + 1j), (0, complex(-0.0, -0.0)), (5, complex(math.nan)),
                                  (-(2**63), complex(-(2.0**63)))])
def test_an_int_and_a_complex_number_compare_by_value(n, z):
    def f(n, z):
        return n == z, z == n, n != z, z != n, n in [z], (n,) == (z,)

    agree(f, n, z)


def test_a_float_in_a_range():
    def f(x, stop):
        return x in range(stop), x in range(3, stop, 2), x not in range(stop, -stop, -3)

    agree_all(f, [(x, stop) for x in (0.0, -0.0, 2.0, 2.5, 5.0, math.nan, math.inf, -3.0, 2.0**63, np.float32(3))
                  for stop in (0, 6, 9)])


@pytest.mark.parametrize("x", [np.int8(9), np.int8(-100), np.uint8(200), np.int16(-32768), np.int64(6), np.bool_(True),
                               np.uint64(2**63 + 5), True])
def test_a_number_of_numpy_in_a_range(x):
    """Whose type holds neither the ends of the range nor the way to them; the answer is a bool."""
    def f(x):
        return (x in range(10), x not in range(10), x in range(-1000, 1000, 3), x in range(100, -1000, -7),
                x in range(9, -130, -1))  # fmt: skip

    agree(f, x)


@pytest.mark.parametrize("large", [2**53 + 1, 2**60, 2**62 + 3, -(2**53) - 1, 2**63 - 1, -(2**63)])
def test_an_int_known_and_large_is_divided_as_ints_are(large):
    def f(x):
        return large / 7, large / x, x / large, -(large / x), large * 1.0, large + 0.5, large < 2.0**53, float(large)

    agree_all(f, [(7,), (-3,), (10**17 + 1,), (2**53 + 1,), (1,)])


@pytest.mark.parametrize("large", [2**63, 2**64 - 2**11])
def test_an_int_known_and_beyond_64_bits_is_divided_as_ints_are(large):
    agree_all(lambda x: (large / x, x / large, large / large), [(7,), (10**17 + 1,), (2**53 + 1,), (-(2**63),)])


def test_large_ints_divided_by_zero():
    quotient = njit(lambda x, y: x / y, error_model="numpy")
    assert quotient(2**60, 0) == math.inf and quotient(-(2**60), 0) == -math.inf


def test_negative_powers_of_what_becomes_zero():
    def f(z, n):
        return z**n

    for z in (np.complex128(1e-200 + 1e-200j), np.complex64(1e-25 - 1e-25j), np.complex128(-0.0 - 3.5j)):
        agree_all(f, [(z, n) for n in (-1, -2, -3, -6, -99, 2, 99)])


def test_powers_with_bools():
    def f(x, n):
        v = x
        v **= n > 1
        return v, x ** (n == 3), x ** bool(n), math.pow(x, n < 3), x ** np.bool_(n > 1)

    agree_all(f, [(x, n) for x in (3.0, 0.1, -2.5, 0.0, -0.0, math.inf, -math.inf, math.nan, 1e308) for n in range(4)])
    for kind in (np.float16, np.float32, np.float64):
        agree_all(lambda x, n: (x ** (n > 1), np.power(x, n > 1)), [(kind(x), n) for x in (3, -0.1) for n in (1, 2)])


def test_a_remainder_behind_a_condition():
    """LLVM's vectoriser takes what is the same in all lanes from the first, also where that lane does not divide."""

    def inside(out, mask, x, k):
        for i in range(out.shape[0]):
            if mask[i] != 0:
                out[i] = x[k % x.shape[0]] ^ 5

    def nested(out, mask, x, n):
        for k in range(n):
            for i in range(out.shape[0]):
                if mask[i] != 0:
                    out[i] = x[k % x.shape[0]] ^ (k // x.shape[0])

    for function in (inside, nested):
        for dtype in (np.int16, np.int32, np.int64):
            x, mask = np.array([12, 10, 6], dtype), np.ones(999, dtype)
            mask[::4] = 0
            ours, theirs = np.zeros(999, dtype), np.zeros(999, dtype)
            njit(function)(ours, mask, x, 5)
            function(theirs, mask, x, 5)
            np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("text", [
    "np.float64(np.float16((x & 7) << 40))", "np.float32(np.float16(np.int32((x & 7) << 20)))",
    "np.float16((x & 7) << 40) - np.uint64(127)", "np.float64(np.float16(np.uint32((x & 7) << 28)))",
    "np.float64(np.float16(-(x & 1) * 65519)), np.float64(np.float16(-(x & 1) * 65520))",
    "np.float64(np.float16(x * 9360)), np.float64(np.float16(x * 9359))",
])  # fmt: skip
def test_integers_of_few_digits_that_no_float16_holds(text):
    """LLVM takes such a conversion, and that back to a wider float, for exact: it gave the integer, not an infinity."""
    with np.errstate(over="ignore"):
        agree_all(expression(text, "x"), [(x,) for x in range(-8, 9)])
