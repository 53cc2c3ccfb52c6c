"""Builtins on numbers and sequences, and the operator module, compiled: the interpreter is the oracle."""

import math
import operator
import random

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st
from krait import errors, njit, vectorize
from math_cases import FLOATS, INF, INT_TYPES, INTS, NAN, NO_INT, agree_on, caller, pairs, wrap
from oracle import agree, compare_outcomes, outcome

SMALL = [0, 1, 2, -1, -2, 3, 5, 7, -7, 100, 2**31, 2**62, -(2**62), True, False]
# Each is the strongest of its kind: every builtin of the language of compiled code that takes numbers.
NUMBERS = [
    1,
    True,
    2.5,
    -0.0,
    3 - 4j,
    np.int8(-128),
    np.uint8(200),
    np.int32(-5),
    np.float16(1.5),
    np.float32(-2),
    np.float64(-3.5),
    np.complex64(3 + 4j),
    np.complex128(-1j),
    np.bool_(True),
]


def test_abs():
    agree_on(abs, 1, [(x,) for x in NUMBERS + FLOATS + SMALL + [complex(1e308, 1e308), complex(NAN, INF)]])
    agree_on(abs, 1, [(-(2**63),)])


# ---- round -----------------------------------------------------------------------------------------------------------


def test_round_to_int():
    agree_on(round, 1, [(x,) for x in FLOATS] + [(x,) for x in SMALL])
    agree_on(
        round, 1, [(kind(3.5),) for kind in (np.float16, np.float32, np.float64)] + [(np.float32(INF),), (np.int8(7),)]
    )
    agree_on(round, 1, [(n + 0.5,) for n in range(-5, 5)])


def decimal_cases(count):
    """Numbers close to ties, of every size, rounded to few and to many digits."""
    numbers = random.Random(3)
    for _ in range(count):
        yield numbers.randint(0, 10**6) / 1000 + 0.0005, 3
        yield numbers.uniform(0, 10) * 10.0 ** numbers.randint(-290, -10), numbers.randint(10, 323)
        yield -numbers.uniform(0, 10) * 10.0 ** numbers.randint(10, 307), -numbers.randint(1, 308)
        k = numbers.randint(1, 60)
        yield numbers.randint(0, 10**9) * 0.5**k, k - 1
        k = numbers.randint(0, 30)
        yield float(numbers.randint(0, 10**6) * 5 * 10**k), -k - 1


def test_round_to_digits():
    digits = [0, 1, 2, 5, 15, 16, 17, 22, 23, 30, 100, 300, 323, 324, 400, -1, -2, -10, -22, -23, -100, -308, -309]
    agree_on(round, 2, [(x, n) for x in FLOATS for n in digits] + list(decimal_cases(1000)))
    agree_on(
        round, 2, [(2.675, 2), (1.005, 2), (5e-324, 323), (1.7976931348623157e308, -308), (2.5, None), (2.5, True)]
    )
    agree(lambda x: round(number=x, ndigits=2), 1.256)


@hypothesis.given(x=st.floats(), digits=st.integers(-330, 330))
def test_round_of_a_drawn_float(x, digits):
    agree(caller(round, 2), x, digits, compiled=round_compiled)


round_compiled = njit(caller(round, 2))


def test_round_of_integers():
    digits = [-1, -2, -3, 0, 3, -18, -19, -25]
    agree_on(round, 2, [(i, n) for i in (15, 25, 35, -15, -25, 1234, -1250, 2**62, True) for n in digits])
    agree_on(round, 2, [(kind(n), d) for kind in INT_TYPES for n in (15, 25, 35, 115) for d in (-1, 0, 2)])


def test_round_as_numpy_does():
    agree_on(round, 2, [(np.float64(x), n) for x in FLOATS for n in (0, 1, 2, 5, -1, -3, 15)])
    agree_on(round, 2, [(np.float32(2.567), 1), (np.float32(1234.5), -2), (np.float16(1.26), 1), (np.float16(126), -1)])


# ---- pow, divmod -----------------------------------------------------------------------------------------------------


def test_pow_with_a_modulus():
    moduli = [1, -1, 2, 7, -7, 10, 0, 2**61 - 1, -(2**62), 12]
    agree_on(pow, 3, [(a, b, m) for a in SMALL for b in (0, 1, 5, -1, -3, 2**40, True) for m in moduli])


@hypothesis.given(st.integers(-(2**63), 2**63 - 1), st.integers(-50, 2**63 - 1), st.integers(-(2**63), 2**63 - 1))
def test_pow_of_drawn_integers(x, y, m):
    agree(caller(pow, 3), x, y, m, compiled=pow_compiled)


pow_compiled = njit(caller(pow, 3))


def test_pow_otherwise():
    agree(lambda x, y: (pow(x, y), pow(x, exp=y), pow(base=x, exp=y, mod=None)), 3.0, 2)
    with pytest.raises(errors.TypingError, match="int"):
        njit(caller(pow, 3))(np.int32(2), 3, 5)


def test_divmod():
    agree_on(divmod, 2, pairs(SMALL))
    agree_on(divmod, 2, pairs(FLOATS))
    agree_on(
        divmod,
        2,
        [
            (1, 2.5),
            (2.5, 0),
            (True, 2),
            (7, True),
            (np.int32(5), 3),
            (np.int32(5), 0),
            (-7, np.int8(2)),
            (np.float32(5), 3),
            (np.int8(-128), np.int8(-1)),
            (np.uint8(7), np.uint8(2)),
            (np.float64(1), 0),
        ],
    )


@hypothesis.given(st.integers(-(2**63), 2**63 - 1), st.integers(-(2**63), 2**63 - 1))
def test_divmod_of_drawn_integers(a, b):
    theirs = outcome(divmod, (a, b), {})
    compare_outcomes(outcome(divmod_compiled, (a, b), {}), wrap(theirs))


@hypothesis.given(st.floats(), st.floats())
def test_divmod_of_drawn_floats(a, b):
    agree(caller(divmod, 2), a, b, compiled=divmod_compiled)


divmod_compiled = njit(caller(divmod, 2))


# ---- over iterables --------------------------------------------------------------------------------------------------

SEQUENCES = [
    (1, 2, 3),
    (2.5, 1.5),
    (3,),
    (0, 0),
    (0.0,),
    range(5),
    range(0),
    range(10, 0, -3),
    np.array([3, 1, 2]),
    np.array([3, 1, 2.5], dtype=np.float32),
    np.array([0, 0, 1], dtype=np.uint8),
    np.array([True, False]),
]


@pytest.mark.parametrize("function", [min, max])
def test_min_and_max(function):
    agree_on(function, 2, pairs(FLOATS[:12] + [INF, NAN]) + pairs(INTS) + [(np.int32(1), np.int32(3))])
    agree_on(
        function, 2, [(np.float32(1), np.float32(NAN)), (np.float32(NAN), np.float32(1)), (np.uint8(3), np.uint8(9))]
    )
    agree_on(function, 3, [(1, 2, 3), (3.5, 2.5, NAN), (NAN, 1.0, 2.0), (-0.0, 0.0, 0.0)])
    agree_on(function, 1, [(sequence,) for sequence in SEQUENCES])
    agree_on(function, 1, [(range(0),), (np.array([], dtype=np.float32),)])


@pytest.mark.parametrize("function", [min, max])
def test_min_and_max_of_several_types(function):
    assert difference_of_types(function, np.float32(1), 2.0) is np.float32  # where control flow joins them
    assert difference_of_types(function, 1, 2.5) is float
    with pytest.raises(errors.TypingError):
        njit(caller(function, 2))(1j, 2)


def difference_of_types(function, a, b):
    result = njit(caller(function, 2))(a, b)
    assert result == function(a, b)
    return type(result)


@pytest.mark.parametrize("function", [any, all])
def test_any_and_all(function):
    agree_on(function, 1, [(sequence,) for sequence in SEQUENCES + [(), (True, 1.5, 0), (0, 0.0, False), (NAN,)]])


def test_sum():
    agree_on(
        sum, 1, [(sequence,) for sequence in SEQUENCES if not (hasattr(sequence, "dtype") and sequence.dtype == bool)]
    )
    agree_on(
        sum,
        1,
        [
            ((0.1,) * 10,),
            ((1, 2.5),),
            ((),),
            ((1e100, 1.0, -1e100),),
            ((INF, 1.0),),
            ((INF, -INF),),
            ((True, True),),
            (np.array([0.1] * 10),),
            (np.array([0.1] * 10, dtype=np.float32),),
            ((1 + 2j, 3),),
            ((np.float32(1.5), np.float32(2)),),
            ((1, 2, 0.1, 0.2, 0.3),),
        ],
    )
    starts = [((0.1, 0.2, 0.3), 3), ((1, 0.1, 2, 0.2), 10**17)]
    starts += [((1, 2, 3), 10), ((0.1,) * 10, 0.5), ((1, 2.5), 1j), ((0.5, 0.25), 1), ((0.5, 0.1), np.float64(0.2))]
    agree_on(sum, 2, starts)
    agree(lambda t: sum(t, start=2), (1, 2))
    mixed = [((0.1, 10**17, 0.2, True, 0.3),), ((10**17 + 1, 5, 0.1, 0.2, -1e17),), ((INF, 1, 0.1),)]
    agree_on(sum, 1, mixed)
    agree(lambda x: (sum([x, 0.1, 0.2]), sum([x, 0.1, 0.2], 3), sum([0.1] * 10)), 1e17)


@hypothesis.given(st.tuples(*[st.floats()] * 6))
def test_sum_of_drawn_floats(values):
    agree(caller(sum, 1), values, compiled=sum_compiled)


sum_compiled = njit(caller(sum, 1))


# ---- constructors ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "kind",
    [
        int,
        float,
        bool,
        complex,
        np.bool_,
        np.int8,
        np.uint16,
        np.int32,
        np.int64,
        np.uint64,
        np.float16,
        np.float32,
        np.float64,
        np.complex64,
        np.complex128,
    ],
    ids=lambda kind: kind.__name__,
)
def test_constructors(kind):
    values = [1, 2.7, True, -3, -2.7, 0, 100, 300, 70000, NAN, INF, np.float32(1.5), np.int8(3)]
    if kind in (complex, np.complex64, np.complex128):
        values += [1 + 2j, np.complex64(1j)]
    agree_on(kind, 1, [(value,) for value in values])


@pytest.mark.parametrize("function", [int, round, math.floor, math.ceil, math.trunc], ids=lambda one: one.__name__)
def test_a_float_that_64_bits_cannot_hold_has_no_int(function):
    """As an infinity has none; what just fits is an int."""
    compiled = njit(caller(function, 1))
    for x in (2.0**63, -(2.0**63) - 2048, 1e19, -1e19, 1.5e300, np.float64(1e20)):
        with pytest.raises(OverflowError, match=str(NO_INT)):
            compiled(x)
    for x in (-(2.0**63), 2.0**63 - 1024, -(2.0**63) + 1024, 1.5, np.float64(-(2.0**63))):
        assert compiled(x) == function(x)
    whole = math.floor if function is math.trunc else function  # NumPy's floats have no __trunc__
    for x in (np.float32(2.0**63), np.float32(-1e20)):
        with pytest.raises(OverflowError, match=str(NO_INT)):
            compiled(x)
    for x in (np.float32(-(2.0**63)), np.float32(2.0**62)):
        assert compiled(x) == whole(x)
    for x, error in ((INF, OverflowError), (-INF, OverflowError), (NAN, ValueError)):
        with pytest.raises(error, match="infinity|NaN"):
            compiled(x)


def test_an_int_of_a_large_constant_or_in_a_ufunc_raises_too():
    for function in (lambda: int(1e19), lambda: round(-1e19), lambda: math.floor(2.0**63)):
        with pytest.raises(OverflowError, match=str(NO_INT)):
            njit(function)()
    with pytest.raises(OverflowError, match=str(NO_INT)):
        vectorize(lambda x: int(x))(np.array([1.0, 1e19]))


# ---- operator --------------------------------------------------------------------------------------------------------

BINARY = "add sub mul truediv floordiv mod pow lshift rshift and_ or_ xor lt le eq ne gt ge".split()


@pytest.mark.parametrize("name", BINARY)
def test_operator_of_two(name):
    shift = name in ("lshift", "rshift", "pow")
    function = getattr(operator, name)
    agree_on(function, 2, [(a, b) for a in (7, -7, 0, True) for b in ((2, 3) if shift else (2, -3, 5))])
    agree_on(function, 2, [(np.int16(7), np.int16(2)), (np.uint8(200), np.uint8(3))])


@pytest.mark.parametrize("name", "iadd isub imul itruediv ifloordiv imod ipow ilshift irshift iand ior ixor".split())
def test_operator_in_place(name):
    agree_on(getattr(operator, name), 2, [(7, 2)])


@pytest.mark.parametrize("name", "neg pos invert inv not_ truth abs index".split())
def test_operator_of_one(name):
    agree_on(getattr(operator, name), 1, [(5,), (-3,), (True,), (np.int8(-7),)])


def test_operators_on_containers():
    agree(
        lambda t, i: (
            operator.getitem(t, i),
            operator.contains(t, i),
            operator.is_(None, None),
            operator.is_not(t, None),
        ),
        (1, 2, 3),
        2,
    )

    def store(a, i, v):
        operator.setitem(a, i, v)
        operator.iadd(a, 1)
        return a[i]

    agree(store, np.zeros(4), 2, 1.5)


@pytest.mark.parametrize("text, said", [
    ("sum(x, '')", r"sum\(\) can't sum strings \[use ''\.join\(seq\) instead\]"),
    ("sum(x, b'')", r"sum\(\) can't sum bytes \[use b''\.join\(seq\) instead\]"),
    ("sum(x)", r"sum\(\) can't sum strings \[use ''\.join\(seq\) instead\]"),
    ("max([1j, 2j])", r"max\(iterable: list of complex\) is not compiled"),
])  # fmt: skip
def test_refusals_name_the_function_that_is_called(text, said):
    namespace = {}
    exec(f"def f(x):\n    return {text}", namespace)
    with pytest.raises(TypeError):
        namespace["f"](["a", "b"])
    with pytest.raises(errors.TypingError, match=said) as raised:
        njit(namespace["f"])(["a", "b"])
    assert "_of" not in str(raised.value)
