"""NaN and infinities in ufuncs: np.errstate(all="raise") raises FloatingPointError where NumPy's own functions do."""

import numpy as np
import pytest

from krait import vectorize

FUNCTIONS = {
    "maximum": (lambda x, y: np.maximum(x, y), np.maximum),
    "fmax": (lambda x, y: np.fmax(x, y), np.fmax),
    "larger": (lambda x, y: max(x, y), np.maximum),
    "clip": (lambda x, y: np.clip(x, 0.0, 2.0), lambda x, y: np.clip(x, 0.0, 2.0)),
    "sign": (lambda x, y: np.sign(x), lambda x, y: np.sign(x)),
    "less": (lambda x, y: x < y, np.less),
    "not less": (lambda x, y: x >= y, np.greater_equal),
    "remainder": (lambda x, y: x % y, np.remainder),
    "sum": (lambda x, y: x + y if x == x else y + 1.0, np.add),
}
PAIRS = [(a, b) for a in (np.nan, np.inf, -np.inf, 1.0, -2.5) for b in (np.nan, np.inf, -np.inf, 1.0, 0.5)]


def tells(call):
    with np.errstate(all="raise"):
        try:
            call()
        except FloatingPointError:
            return True
    return False


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_NaN_that_is_compared_is_not_told(name, dtype):
    function, numpys = FUNCTIONS[name]
    ufunc = vectorize([f"{'boolean' if 'less' in name else dtype}({dtype}, {dtype})"])(function)
    for pair in PAIRS:
        for n in (1, 3, 8, 40, 700):
            x, y = np.ones(n, dtype), np.full(n, 2, dtype)
            x[n // 2], y[n // 2] = pair
            if n > 1:
                x[0] = np.nan  # beside what may be told
            for gap in (1, 2, -1):
                assert tells(lambda: ufunc(x[::gap], y[::gap])) == tells(lambda: numpys(x[::gap], y[::gap])), (pair, n)
            assert tells(lambda: ufunc(x, y[0])) == tells(lambda: numpys(x, y[0])), (pair, n)


def test_a_NaN_in_what_is_reduced_and_in_results_over_arguments():
    largest = vectorize(["float64(float64, float64)"])(lambda x, y: x if x > y else y)
    x = np.ones(40)
    x[7] = np.nan
    assert not tells(lambda: largest.reduce(x)) and not tells(lambda: largest.accumulate(x[::-1]))
    assert not tells(lambda: largest(x, 2.0, out=x))
