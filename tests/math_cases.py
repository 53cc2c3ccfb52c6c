"""What the tests of library functions share: rows of the table, special values, calls of one function, ulps."""

import itertools
import math

import numpy as np
from krait import njit
from krait import _testing
from oracle import Raised, compare_outcomes, outcome

INF, NAN = math.inf, math.nan

# Zeros, subnormals, ends of the range, halves, poles and edges of elementary functions.
FLOATS = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    -0.5,
    1.5,
    2.5,
    -2.5,
    3.0,
    0.1,
    0.7,
    -0.9999999999,
    10.0,
    23.0,
    24.0,
    100.25,
    -100.25,
    170.5,
    171.7,
    -170.5,
    709.9,
    -745.2,
    1024.0,
    1e10,
    1e17,
    -1e17,
    1e-20,
    1e-310,
    -5e-324,
    2.2250738585072014e-308,
    1e300,
    -1e300,
    1.7976931348623157e308,
    INF,
    -INF,
    NAN,
]
INTS = [0, 1, -1, 2, 3, -7, 20, 21, 62, 64, 2**31, -(2**31), 2**53 + 1, 2**63 - 1, -(2**63)]
INT_TYPES = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]


def names_of_rows():
    """Every Python name a library function answers to."""
    return {name for row in _testing.functions() for name in row["names"].split()}


def caller(function, arguments):
    """A plain function of that many parameters which calls one library function: compiled or interpreted."""
    return {
        0: lambda: lambda: function(),
        1: lambda: lambda a: function(a),
        2: lambda: lambda a, b: function(a, b),
        3: lambda: lambda a, b, c: function(a, b, c),
    }[arguments]()


def wrap(value):
    """As compiled code has it: Python ints are 64 bits wide and wrap."""
    if isinstance(value, tuple):
        return tuple(wrap(item) for item in value)
    if type(value) is int and not -(2**63) <= value < 2**63:
        return (value + 2**63) % 2**64 - 2**63
    return value


NO_INT = OverflowError("cannot convert float to integer: an int of compiled code has 64 bits")


def as_compiled(theirs, args):
    """What compiled code does where the interpreter does this: ints wrap, but those made of floats, which raise."""
    floats = [arg for arg in args if isinstance(arg, (float, np.floating))]
    if floats and type(theirs) is int and wrap(theirs) != theirs:
        return Raised(NO_INT)
    return theirs if isinstance(theirs, Raised) else wrap(theirs)


def agree_on(function, arguments, cases):
    """The compiled and the interpreted call do the same in every case, but for wrapping ints."""
    plain = caller(function, arguments)
    compiled = njit(plain)
    for args in cases:
        theirs = outcome(plain, args, {})
        ours = outcome(compiled, args, {})
        try:
            compare_outcomes(ours, as_compiled(theirs, args))
        except AssertionError as error:
            raise AssertionError(f"{function.__name__}{args!r}: {error}") from None


def ulps(ours, theirs):
    """Distance in units of the last place of the wider magnitude; of complex numbers by their larger part."""
    if isinstance(theirs, tuple):
        return max(ulps(a, b) for a, b in zip(ours, theirs))
    if isinstance(theirs, (complex, np.complexfloating)):
        parts = (ours.real, theirs.real), (ours.imag, theirs.imag)
        sizes = [abs(float(part)) for pair in parts for part in pair]
        if not all(map(math.isfinite, sizes)):
            return max(ulps(*pair) for pair in parts)
        unit = float(np.spacing(type(theirs.real)(max(sizes))))
        return max(abs(float(a) - float(b)) / unit for a, b in parts)
    if not isinstance(theirs, (float, np.floating)):
        return 0 if ours == theirs else INF
    if math.isnan(ours) or math.isnan(theirs):
        return 0 if math.isnan(ours) and math.isnan(theirs) else INF
    if ours == theirs:
        return 0
    if math.isinf(ours) or math.isinf(theirs):
        return INF
    kind = np.float64 if type(theirs) is float else type(theirs)
    return abs(float(ours) - float(theirs)) / float(np.spacing(kind(max(abs(ours), abs(theirs)))))


def pairs(values):
    return list(itertools.product(values, repeat=2))
