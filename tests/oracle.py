"""The interpreter as the oracle: one function, compiled and interpreted, on equal arguments.

agree(function, *args) calls both on deep copies of the arguments and compares what a program can see: the value down to
its type, dtype and bits (every NaN is one NaN, -0.0 is not 0.0), what was done to the arguments, which argument's
memory a returned array shares, and the exception's class and arguments.  What the call put on the heap must be gone
with its result.

Documented differences of compiled code, which tests keep away from or assert by name: Python ints are 64 bits wide and
wrap; globals are frozen when a specialisation is made, with guards; math functions keep a strong float32.
"""

import copy
import functools
import linecache
import math
import struct
import textwrap
import warnings

import numpy as np

from krait import njit
from krait import _testing

INT64 = range(-(2**63), 2**63)

# Every scalar type, with values at its edges.
FLOATS = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.7, 1e300, -1e-300, math.inf, -math.inf, math.nan]
INTS = [0, 1, -1, 2, -3, 7, 100, -128, 2**31, -(2**31), 2**40, 2**63 - 1, -(2**63)]
WEAK = {"bool": bool, "int": int, "float": float, "complex": complex}
STRONG = [np.dtype(c).type for c in "?bhilBHILefdFD"]


# ---- equality ----


def float_key(value):
    return "nan" if math.isnan(value) else struct.pack("d", value)


def scalar_key(value):
    """Equal keys: no program can tell the scalars apart."""
    if isinstance(value, (complex, np.complexfloating)):
        return float_key(float(value.real)), float_key(float(value.imag))
    if isinstance(value, (float, np.floating)):
        return float_key(float(value))
    if isinstance(value, np.void):
        return tuple(scalar_key(item) for name in value.dtype.names for item in np.asarray(value[name]).ravel())
    if isinstance(value, (np.datetime64, np.timedelta64)):
        return int(value.view(np.int64))  # of NaT, int() is not of every NumPy
    return int(value)


def difference(ours, theirs, where="the result"):
    """None, or a sentence that says how the compiled code's value differs from the interpreter's."""
    if type(ours) is not type(theirs):
        return f"{where}: {ours!r} of type {type(ours).__name__}, expected {theirs!r} of type {type(theirs).__name__}"
    if isinstance(theirs, tuple):
        if len(ours) != len(theirs):
            return f"{where}: {len(ours)} items, expected {len(theirs)}"
        pairs = enumerate(zip(ours, theirs))
        return next((text for i, pair in pairs if (text := difference(*pair, f"{where}[{i}]"))), None)
    if isinstance(theirs, np.ndarray):
        return array_difference(ours, theirs, where)
    if isinstance(theirs, (bool, int, float, complex, np.generic)):
        same = getattr(ours, "dtype", None) == getattr(theirs, "dtype", None) and scalar_key(ours) == scalar_key(theirs)
    else:
        same = ours is theirs or ours == theirs
    return None if same else f"{where}: {ours!r}, expected {theirs!r}"


def array_difference(ours, theirs, where):
    for name in ("dtype", "shape"):
        if getattr(ours, name) != getattr(theirs, name):
            return f"{where}.{name}: {getattr(ours, name)}, expected {getattr(theirs, name)}"
    walked = [axis for axis in range(theirs.ndim) if theirs.size and theirs.shape[axis] > 1]
    if any(ours.strides[axis] != theirs.strides[axis] for axis in walked):  # no step is ever taken along the others
        return f"{where}.strides: {ours.strides}, expected {theirs.strides}"
    if ours.flags.writeable != theirs.flags.writeable:
        return f"{where}: writeable is {ours.flags.writeable}, expected {theirs.flags.writeable}"
    for index in np.ndindex(theirs.shape):
        if scalar_key(ours[index]) != scalar_key(theirs[index]):
            return f"{where}[{index}]: {ours[index]!r}, expected {theirs[index]!r}"
    return None


def assert_same(ours, theirs, where="the result"):
    text = difference(ours, theirs, where)
    assert text is None, text


# ---- both ways of running a function ----


class Raised:
    """An exception as a value."""

    def __init__(self, error):
        self.error = error
        self.kind = type(error)

    def __repr__(self):
        return f"{self.kind.__name__}{self.error.args}"


def copy_argument(value, memory=None):
    """As copy.deepcopy, but an array keeps its strides and flags, arrays that overlap still do, functions stay."""
    memory = {} if memory is None else memory
    if isinstance(value, np.ndarray):
        base = value
        while isinstance(base.base, np.ndarray):
            base = base.base
        own = memory.setdefault(id(base), bytearray(base.tobytes("A")) or bytearray(1))
        offset = value.__array_interface__["data"][0] - base.__array_interface__["data"][0] if value.size else 0
        twin = np.ndarray(value.shape, value.dtype, own, offset, value.strides)
        twin.flags.writeable = value.flags.writeable
        return twin
    if isinstance(value, tuple):
        return tuple(copy_argument(item, memory) for item in value)
    return value if callable(value) else copy.deepcopy(value)


def outcome(function, args, kwargs):
    """What a call gives: a value, or Raised."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return function(*args, **kwargs)
        except Exception as error:
            return Raised(error)


def compare_outcomes(ours, theirs):
    if isinstance(ours, Raised) or isinstance(theirs, Raised):
        assert isinstance(theirs, Raised), f"compiled code raised {ours!r}, expected {theirs!r}"
        assert isinstance(ours, Raised), f"compiled code gave {ours!r}, expected {theirs!r}"
        assert ours.kind is theirs.kind, f"compiled code raised {ours!r}, expected {theirs!r}"
        assert_same(ours.error.args, theirs.error.args, f"arguments of {ours.kind.__name__}")
    else:
        assert_same(ours, theirs)


def shared_with(result, args):
    """Which arguments' memory the arrays of a result lie in."""
    if isinstance(result, tuple):
        return tuple(shared_with(item, args) for item in result)
    if not isinstance(result, np.ndarray):
        return None
    return [np.may_share_memory(result, arg) for arg in args if isinstance(arg, np.ndarray)]


@functools.lru_cache(maxsize=1)
def compiled_once(function):
    """The dispatcher of the last function asked for: a loop over values compiles once per type."""
    return function if hasattr(function, "py_func") else njit(function)


def agree(function, *args, compiled=None, **kwargs):
    """Compiled and interpreted code do the same on these arguments; returns the interpreter's outcome.

    function may be a dispatcher; compiled is another one of it.
    """
    plain = getattr(function, "py_func", function)
    if compiled is None:
        compiled = compiled_once(function)
    our_args, their_args = copy_argument(args), copy_argument(args)
    our_kwargs, their_kwargs = copy.deepcopy(kwargs), copy.deepcopy(kwargs)
    theirs = outcome(plain, their_args, their_kwargs)
    objects = _testing.heap_objects()
    ours = outcome(compiled, our_args, our_kwargs)
    compare_outcomes(ours, theirs)
    for i, (our, their) in enumerate(zip(our_args, their_args)):
        if not callable(our):
            assert_same(our, their, f"argument {i} after the call")
    assert shared_with(ours, our_args) == shared_with(theirs, their_args), "another argument's memory was returned"
    del ours
    assert _testing.heap_objects() <= objects, "an object of the heap was never released"
    return theirs


def agree_all(function, cases):
    """agree for every tuple of arguments, compiled once per types."""
    compiled = compiled_once(function)
    for args in cases:
        try:
            agree(compiled, *args)
        except AssertionError as error:
            raise AssertionError(f"{compiled.py_func.__name__}{args!r}: {error}") from None


# ---- functions from text ----

_counter = iter(range(10**9))


def make(source, name=None, **names):
    """The function that Python text defines (the last one, unless named); its lines are known to tracebacks."""
    source = textwrap.dedent(source).strip() + "\n"
    filename = f"<text {next(_counter)}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    space = {"np": np, "math": math, "__name__": "text", **names}
    exec(compile(source, filename, "exec"), space)
    functions = [value for key, value in space.items() if callable(value) and key not in names]
    return space[name] if name else functions[-1]


def expression(text, *parameters, **names):
    """A function that returns an expression."""
    return make(f"def f({', '.join(parameters)}):\n    return {text}", **names)
