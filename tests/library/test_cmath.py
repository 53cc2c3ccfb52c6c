"""The cmath module, compiled: every function gives the interpreter's value and exception, bit for bit."""

import cmath
import itertools
import random

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st
from krait import njit
from math_cases import INF, NAN, agree_on, caller, names_of_rows
from oracle import agree

ONE = (
    "acos acosh asin asinh atan atanh cos cosh exp isfinite isinf isnan log log10 phase polar sin sinh sqrt tan " "tanh"
).split()
TWO = "isclose log rect".split()

# Parts at which a branch of some function begins: zeros, subnormals, overflow of hypot, of cosh, poles, infinities.
PARTS = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    -2.5,
    1e-310,
    -1e-320,
    1e-160,
    1e160,
    8e307,
    -1.7e308,
    710.0,
    -750.0,
    100.0,
    0.1,
    INF,
    -INF,
    NAN,
]
GRID = [complex(re, im) for re in PARTS for im in PARTS]


def drawn(count):
    numbers = random.Random(2)

    def size():
        return numbers.uniform(-1, 1) * 10.0 ** numbers.randint(-300, 300)

    near = [complex(numbers.gauss(0, 3), numbers.gauss(0, 3)) for _ in range(count)]
    return near + [complex(size(), size()) for _ in range(count)]


_compiled = {}


def compiled(name, arguments):
    key = name, arguments
    if key not in _compiled:
        _compiled[key] = njit(caller(getattr(cmath, name), arguments))
    return _compiled[key]


def test_every_name_has_a_row():
    functions = {name for name in dir(cmath) if callable(getattr(cmath, name)) and name[0] != "_"}
    assert {f"cmath.{name}" for name in functions} <= names_of_rows()
    assert functions <= {*ONE, *TWO}
    constants = {name for name in dir(cmath) if name[0] != "_"} - functions
    assert constants == {"e", "inf", "infj", "nan", "nanj", "pi", "tau"}


def test_constants():
    agree(lambda: (cmath.e, cmath.pi, cmath.tau, cmath.inf, cmath.infj, cmath.nan, cmath.nanj))


@pytest.mark.parametrize("name", ONE)
def test_one_complex(name):
    agree_on(getattr(cmath, name), 1, [(z,) for z in GRID + drawn(100)])


@pytest.mark.parametrize("name", ONE)
def test_one_real(name):
    reals = [1, -3, 0, True, 2.5, -0.0, INF, np.float64(0.5), np.complex128(1 - 2j), np.int16(4)]
    agree_on(getattr(cmath, name), 1, [(x,) for x in reals])


@pytest.mark.parametrize("name", ONE)
@hypothesis.given(z=st.complex_numbers(max_magnitude=1e3) | st.builds(complex, st.floats(), st.floats()))
def test_one_drawn_complex(name, z):
    agree(caller(getattr(cmath, name), 1), z, compiled=compiled(name, 1))


def test_rect():
    agree_on(cmath.rect, 2, list(itertools.product(PARTS, repeat=2)) + [(1, 2), (True, 0.5)])


@hypothesis.given(st.floats(), st.floats())
def test_rect_of_drawn_floats(r, phi):
    agree(caller(cmath.rect, 2), r, phi, compiled=compiled("rect", 2))


def test_log_to_a_base():
    some = GRID[::17] + drawn(10) + [0j, 1 + 0j, 1 - 0j]
    agree_on(cmath.log, 2, list(itertools.product(some, repeat=2)) + [(2, 1), (2, 0), (0, 2), (8.0, 2)])


def test_isclose():
    agree_on(
        cmath.isclose,
        2,
        [
            (1 + 1e-10j, 1),
            (1e-12j, 0),
            (1 + 1j, 1 + 1.1j),
            (complex(INF, 1), complex(INF, 1)),
            (complex(INF, 1), 1j),
            (complex(NAN, 1), complex(NAN, 1)),
            (2, 2.0),
        ],
    )
    agree(lambda a, b: cmath.isclose(a, b, rel_tol=0.1, abs_tol=0.01), 1 + 1j, 1.05 + 1j)
    agree(lambda a, b: cmath.isclose(a, b, rel_tol=-0.1), 1 + 1j, 1.05 + 1j)


@pytest.mark.parametrize("name", ["sqrt", "exp", "log", "atanh", "cos", "tanh"])
@pytest.mark.parametrize("z", [0j, 1 + 0j, complex(0, INF), complex(1000, 1), complex(NAN, 2), -4 + 0j])
def test_nothing_raises_under_the_numpy_model(name, z):
    ours = njit(caller(getattr(cmath, name), 1), error_model="numpy")(z)
    assert type(ours) is complex
    try:
        theirs = getattr(cmath, name)(z)
    except (ValueError, OverflowError):
        assert not cmath.isfinite(ours)
    else:
        assert ours == theirs or cmath.isnan(theirs)


def test_wrong_types_are_refused():
    from krait import errors

    with pytest.raises(errors.TypingError, match="cmath.sin"):
        njit(lambda t: cmath.sin(t))((1, 2))
    with pytest.raises(errors.TypingError):
        njit(lambda t: cmath.rect(t, 1.0))(1j)
