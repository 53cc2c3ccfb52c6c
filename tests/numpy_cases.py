"""NumPy's functions, compiled and interpreted: value, dtype, shape, exception; what rounds within a bound.

check(text, *arguments) compiles the expression `text` of a, b, c and compares the two for each list of arguments."""

import numpy as np

from krait import njit
from oracle import Raised, copy_argument, expression, outcome

BOUND = {"e": 4e-3, "f": 2e-6, "d": 2e-13, "F": 2e-6, "D": 2e-13}
RNG = np.random.default_rng(11)
VECTOR = RNG.random(13) - 0.5
MATRIX = RNG.random((4, 5)) - 0.5
STRIDED = (RNG.random((8, 10)) - 0.5)[::2, 1::2]
BACKWARDS = VECTOR[::-1]
FORTRAN = np.asfortranarray(MATRIX)
INTEGERS = RNG.integers(-9, 9, (4, 5))
BYTES = RNG.integers(0, 9, 13).astype("B")
BOOLS = RNG.random(13) < 0.5
SINGLE = MATRIX.astype("f")
HALF = VECTOR.astype("e")
COMPLEX = VECTOR + 1j * VECTOR[::-1]
NOT_NUMBERS = np.array([1.0, np.nan, -np.inf, np.inf, -0.0, 2.5])
CUBE = RNG.random((2, 3, 4)) - 0.5


def compare(ours, theirs, what):
    if isinstance(theirs, Raised):
        assert isinstance(ours, Raised), f"{what}: {ours!r}, expected {theirs!r}"
        assert ours.kind.__name__ == theirs.kind.__name__, f"{what}: {ours!r}, expected {theirs!r}"
        assert str(ours.error) == str(theirs.error), f"{what}: {ours!r}, expected {theirs!r}"
        return
    assert type(ours) is type(theirs), f"{what}: {ours!r}, expected {theirs!r}"
    if isinstance(theirs, (tuple, list)):
        assert len(ours) == len(theirs), what
        for i, pair in enumerate(zip(ours, theirs)):
            compare(*pair, f"{what}[{i}]")
        return
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    assert ours.dtype == theirs.dtype, f"{what}: {ours.dtype}, expected {theirs.dtype}"
    assert ours.shape == theirs.shape, f"{what}: {ours.shape}, expected {theirs.shape}"
    assert ours.flags.writeable == theirs.flags.writeable, f"{what}: writeable is {ours.flags.writeable}"
    if theirs.dtype.kind in "fc":
        bound = BOUND[theirs.dtype.char]
        np.testing.assert_allclose(ours, theirs, rtol=bound, atol=bound, err_msg=what)
    else:
        np.testing.assert_array_equal(ours, theirs, err_msg=what)


def check(text, *lists):
    """Each list is the arguments of one call, or one array."""
    function = expression(text, *"abc"[: len(lists[0]) if isinstance(lists[0], tuple) else 1])
    compiled = njit(function)
    for args in lists:
        args = args if isinstance(args, tuple) else (args,)
        mine = copy_argument(args)
        compare(outcome(compiled, mine, {}), outcome(function, args, {}), f"{text} of {args!r}")
        for our, their in zip(mine, args):
            if isinstance(their, np.ndarray):
                np.testing.assert_array_equal(our, their)


def same_error(text, *lists):
    """As check, where NumPy raises."""
    function = expression(text, *"abc"[: len(lists[0]) if isinstance(lists[0], tuple) else 1])
    for args in lists:
        args = args if isinstance(args, tuple) else (args,)
        assert isinstance(outcome(function, copy_argument(args), {}), Raised), text
    check(text, *lists)
