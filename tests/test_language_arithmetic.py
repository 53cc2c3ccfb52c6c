"""Operators on numbers of every type, Python's and NumPy's, alone and mixed, against the interpreter."""

import itertools
import math
import operator

import numpy as np
import pytest
from oracle import INT64, STRONG, Raised, agree, agree_all, assert_same, compare_outcomes, expression, make, outcome

from krait import errors, njit

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
    return not (isinstance(result, Raised) and result.kind is TypeError)


def wrap(value):
    """As compiled code holds a Python int."""
    return (int(value) + 2**63) % 2**64 - 2**63 if type(value) is int else value


BINARY = ["+", "-", "*", "&", "|", "^", "==", "!=", "<", "<=", ">", ">="]
DIVIDING = ["/", "//", "%"]
IDS = [kind.__name__ for kind in KINDS]


ORDER = {"<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal}


def as_ufuncs(ops, x, y, expected):
    """NumPy's scalars and ufuncs disagree about the order of complex numbers with NaN in them: the ufuncs count."""
    if not isinstance(x, np.complexfloating) and not isinstance(y, np.complexfloating):
        return expected
    with np.errstate(all="ignore"):
        return tuple(ORDER[op](x, y) if op in ORDER else old for op, old in zip(ops, expected))


def same_up_to_wrapping(compiled, x, y, ops=()):
    ours, theirs = outcome(compiled, (x, y), {}), outcome(compiled.py_func, (x, y), {})
    if not isinstance(theirs, Raised):
        theirs = as_ufuncs(ops, x, y, tuple(map(wrap, theirs))) if isinstance(theirs, tuple) else wrap(theirs)
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
            same_up_to_wrapping(compiled, x, y, usable)
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
