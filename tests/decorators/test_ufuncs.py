"""NumPy's universal functions on scalars, compiled: value, dtype and refusal as NumPy gives them, for all types.

Exact are the functions of which IEEE 754 or integers leave no choice.  The others are computed by the C library here
and by NumPy's own vector code, chosen by the processor, there: LIMIT_ULP is twice what was measured with AVX-512.
"""

import itertools
import random

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st
from krait import cuda, errors, njit, vectorize
from math_cases import INF, NAN, caller, names_of_rows, ulps
from oracle import Raised, compare_outcomes, difference, outcome

OF_NO_NUMBERS = {"matmul", "vecdot", "matvec", "vecmat", "isnat"}  # of arrays, of dates: tests/language has them
UFUNCS = {function.__name__: function for function in vars(np).values() if isinstance(function, np.ufunc)}
NAMES = sorted(set(UFUNCS) - OF_NO_NUMBERS)
ROUNDED = set(
    """arccos arccosh arcsin arcsinh arctan arctan2 arctanh cbrt cos cosh exp exp2 expm1 float_power hypot log log10
                 log1p log2 logaddexp logaddexp2 power sin sinh tan tanh""".split()
)
LIMIT_ULP = 4
# On complex numbers NumPy fuses or scales steps of these, as its processor's code has it: ulps of the larger part.
ROUNDED_COMPLEX = ROUNDED | {"absolute", "divide", "multiply", "reciprocal", "sign", "sqrt", "square"}

SCALARS = {
    "?": np.bool_,
    "b": np.int8,
    "B": np.uint8,
    "h": np.int16,
    "H": np.uint16,
    "i": np.int32,
    "I": np.uint32,
    "l": np.int64,
    "L": np.uint64,
    "e": np.float16,
    "f": np.float32,
    "d": np.float64,
    "F": np.complex64,
    "D": np.complex128,
}
PYTHON = {
    "bool": [True, False],
    "int": [0, 1, -1, 3, 100],
    "float": [0.0, -0.0, 1.5, -2.5, INF, NAN],
    "complex": [1 + 2j, 0j, -1.5 + 0.5j],
}
KINDS = [*SCALARS, *PYTHON]


def values(kind):
    """Values of a type at which functions change their mind."""
    if kind in PYTHON:
        return PYTHON[kind]
    scalar = SCALARS[kind]
    if kind == "?":
        return [scalar(True), scalar(False)]
    if np.issubdtype(scalar, np.integer):
        ends = np.iinfo(scalar)
        small = [0, 1, 2, 3, 7, 10] + ([-1, -5] if ends.min else [])
        return [scalar(v) for v in small + [ends.max, ends.min, ends.max // 3]]
    if np.issubdtype(scalar, np.floating):
        ends = np.finfo(scalar)
        special = [0.0, -0.0, INF, -INF, NAN, ends.max, ends.min, ends.tiny, ends.smallest_subnormal]
        return [scalar(v) for v in special + [1, -1, 0.5, -0.5, 1.5, 2.5, -2.5, 3, 0.1, -0.7, 10.3, -20, 100.7]]
    parts = [0.0, -0.0, 1, -0.5, 2.5, INF, -INF, NAN, -10.3]
    return [scalar(complex(re, im)) for re in parts for im in parts]


def numpys_own_way(name, args):
    """Cases in which NumPy's vector code and its scalar code, or C's standard, give different values."""
    if name in ("maximum", "minimum", "fmax", "fmin"):
        return all(float(np.real(a)) == 0 for a in args)  # which of the two zeros
    if name == "nextafter":
        return type(args[0]) is np.float16 and args[0] == args[1] == 0  # before 2.5 the first zero, now the second
    if name in ("power", "float_power"):
        return np.isinf(args[0]) or not np.all(np.isfinite(args))  # pow(-inf, 0.5) and complex infinities
    return False


def allowance(name, result):
    complexes = any(np.iscomplexobj(item) for item in (result if isinstance(result, tuple) else (result,)))
    return LIMIT_ULP if name in (ROUNDED_COMPLEX if complexes or name == "absolute" else ROUNDED) else 0


def compare(name, ours, theirs, args):
    if isinstance(ours, Raised) or isinstance(theirs, Raised):
        compare_outcomes(ours, theirs)
        return
    if difference(ours, theirs) is None or (type(ours) is type(theirs) and numpys_own_way(name, args)):
        return
    limit = allowance(name, theirs)
    assert limit, difference(ours, theirs)
    assert type(ours) is type(theirs), difference(ours, theirs)
    assert ulps(ours, theirs) <= limit, difference(ours, theirs)


def check(name, compiled, plain, args):
    """One call; False if neither takes these types."""
    theirs = outcome(plain, args, {})
    ours = outcome(compiled, args, {})
    if isinstance(theirs, Raised) and isinstance(ours, Raised) and ours.kind is errors.TypingError:
        assert issubclass(theirs.kind, TypeError), f"{name}{args!r}: {ours!r}, expected {theirs!r}"
        return False
    try:
        compare(name, ours, theirs, args)
    except AssertionError as error:
        raise AssertionError(f"{name}{args!r}: {error}") from None
    return True


def test_every_ufunc_has_a_row():
    public = {name for name in dir(np) if isinstance(getattr(np, name), np.ufunc)}
    assert not {name for name in public if f"numpy.{name}" not in names_of_rows()}


@pytest.mark.parametrize("name", [name for name in NAMES if UFUNCS[name].nin == 1])
def test_one_operand_of_every_type(name):
    plain = caller(UFUNCS[name], 1)
    compiled = njit(plain)
    for kind in KINDS:
        for value in values(kind):
            if not check(name, compiled, plain, (value,)):
                break


@pytest.mark.parametrize("name", [name for name in NAMES if UFUNCS[name].nin == 2])
def test_two_operands(name):
    """Equal types, and pairs of types drawn for each function: together they are all pairs many times over."""
    plain = caller(UFUNCS[name], 2)
    compiled = njit(plain)
    numbers = random.Random(name)
    for kinds in list(zip(KINDS, KINDS)) + numbers.sample(list(itertools.permutations(KINDS, 2)), 50):
        cases = list(itertools.product(*map(values, kinds)))
        for args in numbers.sample(cases, min(len(cases), 25)):
            if not check(name, compiled, plain, args):
                break


def test_other_names_are_the_same_functions():
    short = njit(lambda x: (np.asin(x), np.acos(x), np.atan(x), np.atan2(x, x), np.conj(x), np.pow(x, 2.0), np.abs(x)))
    long = njit(
        lambda x: (
            np.arcsin(x),
            np.arccos(x),
            np.arctan(x),
            np.arctan2(x, x),
            np.conjugate(x),
            np.power(x, 2.0),
            np.absolute(x),
        )
    )
    assert short(0.5) == long(0.5)
    bits = njit(lambda x: (np.bitwise_not(x), np.bitwise_invert(x), np.bitwise_left_shift(x, 2), np.mod(x, 3)))
    assert bits(np.int8(5)) == (-6, -6, 20, 2)


# ---- drawn operands -------------------------------------------------------------------------------------------------

_compiled = {}


def check_drawn(name, args):
    if name not in _compiled:
        plain = caller(UFUNCS[name], len(args))
        _compiled[name] = njit(plain), plain
    check(name, *_compiled[name], args)


def takes(name, char):
    return any(loop.startswith(char * UFUNCS[name].nin + "->") for loop in UFUNCS[name].types)


def floats_of(width):
    kind = {16: np.float16, 32: np.float32, 64: np.float64}[width]
    return st.floats(width=width).map(kind)


@pytest.mark.parametrize("name", [name for name in NAMES if UFUNCS[name].nin == 1 and takes(name, "d")])
@hypothesis.given(x=st.one_of(*map(floats_of, (16, 32, 64))))
def test_one_drawn_float(name, x):
    check_drawn(name, (x,))


@pytest.mark.parametrize("name", [name for name in NAMES if UFUNCS[name].nin == 2 and takes(name, "d")])
@hypothesis.given(args=st.one_of(*[st.tuples(floats_of(width), floats_of(width)) for width in (16, 32, 64)]))
def test_two_drawn_floats(name, args):
    check_drawn(name, args)


@pytest.mark.parametrize("name", [name for name in NAMES if takes(name, "l")])
@hypothesis.given(data=st.data())
def test_drawn_integers(name, data):
    scalar = data.draw(st.sampled_from([SCALARS[char] for char in "bBhHiIlL"]))
    ends = np.iinfo(scalar)
    numbers = st.integers(int(ends.min), int(ends.max)).map(scalar)
    check_drawn(name, tuple(data.draw(numbers) for _ in range(UFUNCS[name].nin)))


@pytest.mark.parametrize("name", [name for name in NAMES if takes(name, "D")])
@hypothesis.given(data=st.data())
def test_drawn_complex_numbers(name, data):
    def number(largest):
        return data.draw(st.complex_numbers(max_magnitude=largest, min_magnitude=1e-3).map(np.complex128))

    args = [number(1e3) for _ in range(UFUNCS[name].nin)]
    if name in ("power", "float_power"):  # the error of a complex power grows with its exponent
        args[1] = number(9.99)
    check_drawn(name, tuple(args))


# ---- refusals -------------------------------------------------------------------------------------------------------


def test_an_int_must_fit_a_numpy_integer():
    add = njit(lambda x, n: np.add(x, n))
    with pytest.raises(OverflowError, match="Python integer -1 out of bounds for uint8"):
        add(np.uint8(1), -1)
    with pytest.raises(OverflowError, match="Python integer 300 out of bounds for int8"):
        add(np.int8(1), 300)
    with pytest.raises(errors.TypingError, match="300"):
        njit(lambda x: np.add(x, 300))(np.int8(1))


def test_new_arrays_in_kernels_are_refused_with_a_hint():
    def kernel(x):
        x[:] = np.sin(x)

    with pytest.raises(errors.KraitError, match=r"write x\[i\] in place of x, .* each thread computes an element"):
        cuda.jit(kernel)[1, 1](np.ones(3))


@pytest.mark.parametrize("dtype", ["e", "f", "d"])
def test_the_neighbour_of_a_zero_towards_the_other(dtype):
    zeros = np.array([0.0, -0.0], dtype)
    step = vectorize(lambda a, b: np.nextafter(a, b))
    np.testing.assert_array_equal(np.signbit(step(zeros, zeros[::-1])), np.signbit(zeros[::-1]))
    if dtype != "e":  # NumPy's of float16 gave the first of two zeros before 2.5
        np.testing.assert_array_equal(np.signbit(np.nextafter(zeros, zeros[::-1])), np.signbit(zeros[::-1]))


@pytest.mark.parametrize("dtype", ["float64", "int32", "uint8"])
@pytest.mark.parametrize("step", [1, 2, -1, -3])
def test_every_length_and_step_of_a_light_function(dtype, step):
    """With gaps, backwards, and where a result is the next operand: NumPy's numbers, order and place."""
    twice = vectorize([f"{dtype}({dtype}, {dtype})"])(lambda x, y: x * 2 - y)

    def one_by_one(items):
        results = list(items[:1])
        for item in items[1:]:
            results.append(dtype_of(results[-1] * dtype_of(2) - item))
        return np.array(results, dtype)

    dtype_of = np.dtype(dtype).type
    with np.errstate(over="ignore"):
        for length in (*range(1, 12), 40):
            x = np.arange(3 * length, dtype=dtype)[::step][:length]
            y = np.arange(7, 7 + 3 * length).astype(dtype)[::step][:length]
            place = np.full(3 * length, 99, dtype)
            out = place[::step][:length]
            twice(x, y, out)
            np.testing.assert_array_equal(out, x * dtype_of(2) - y)
            assert (place == 99).sum() >= 2 * length - 2
            np.testing.assert_array_equal(twice.accumulate(y), one_by_one(y))
            assert twice.reduce(y) == one_by_one(y)[-1]
            ends = twice.reduceat(y, [0, length // 2])
            assert ends[1] == one_by_one(y[length // 2 :])[-1]
            assert ends[0] == one_by_one(y[: length // 2] if length > 1 else y)[-1]
            pile = np.stack([y, x, y], axis=0)
            np.testing.assert_array_equal(twice.reduce(pile, axis=0), (y * dtype_of(2) - x) * dtype_of(2) - y)
            np.testing.assert_array_equal(twice.reduce(pile, axis=1), [one_by_one(row)[-1] for row in pile])
