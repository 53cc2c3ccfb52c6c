"""Reductions of expressions, which are never in memory as a whole: NumPy's numbers, bit for bit for real sums."""

import re

import numpy as np
import pytest

from krait import _testing, njit
from oracle import agree, agree_all, expression

SIZES = [0, 1, 7, 8, 9, 100, 127, 128, 129, 136, 255, 1000, 4099]


def numbers(n, dtype, seed=1):
    rng = np.random.default_rng(seed)
    if np.dtype(dtype).kind in "iub":
        return rng.integers(0, 100, n).astype(dtype)
    return (rng.standard_normal(n) * 10.0 ** rng.integers(-6, 6, n)).astype(dtype)


@pytest.mark.parametrize("dtype", ["f", "d", "i", "B", "l", "L", "?"])
@pytest.mark.parametrize(
    "text",
    ["x.sum()", "(x * x).sum()", "(x - y).mean()", "((x - x.mean()) ** 2).sum()", "np.sqrt(abs(x)).sum()",
     "(x > y).sum()", "(x * y).var()", "(x * 2).prod()", "(x * y)[::3].sum()"],
)  # fmt: skip
def test_sums(text, dtype):
    if dtype == "?" and "x - " in text:
        pytest.skip("NumPy does not subtract bools")
    function = njit(expression(text, "x", "y"))
    for n in SIZES[1:]:
        x, y = numbers(n, dtype), numbers(n, dtype, 2)
        with np.errstate(all="ignore"):
            theirs = function.py_func(x, y)
        ours = function(x, y)
        assert type(ours) is type(theirs)
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("dtype", ["f", "d", "b", "H", "l", "L", "?"])
def test_extremes_and_truth(dtype):
    def extremes(x, y):
        return (x | y).min() if x.dtype.kind == "b" else (x + y).min(), np.maximum(x, y).max(), x.min(), y.max()

    def truth(x, y):
        return (x > y).any(), (x == x).all(), x.all(), y.any(), (x != y).sum(), np.count_nonzero(x > y)

    for function in (extremes, truth):
        agree_all(function, [(numbers(n, dtype), numbers(n, dtype, 2)) for n in SIZES[1:]])


def test_what_is_no_number_and_infinities():
    for place in (0, 3, 127, 128, 200, 299):
        x = np.arange(300.0)
        for value in (np.nan, np.inf, -np.inf):
            x[place] = value
            agree(lambda x: ((x * 2).max(), (x * 2).min(), (x - 1).sum(), x.max(), x.min(), (x < 0).any()), x)
    agree(lambda x: (x.max(), x.min()), np.full(20, np.nan))
    agree(lambda x: (x.max(), x.min()), np.full(20, -np.inf))


def test_nothing():
    x = np.zeros(0)
    agree(lambda x: ((x * 2).sum(), (x + 1).prod(), (x > 0).any(), (x > 0).all()), x)
    for text, name in (("(x + 1).max()", "maximum"), ("(x * x).min()", "minimum")):
        with pytest.raises(ValueError, match=f"zero-size array to reduction operation {name} which has no identity"):
            njit(expression(text, "x"))(x)


def test_an_error_is_caught():
    @njit
    def f(x):
        try:
            return (x * 2).max()
        except ValueError:
            return -1.0

    assert f(np.zeros(0)) == -1 and f(np.ones(3)) == 2


@pytest.mark.parametrize("shape", [(3, 5), (17, 31), (4, 33, 7), (128, 2), (1, 300), (300, 1), (2, 0, 3)])
def test_axes(shape):
    size = int(np.prod(shape))
    x, y = numbers(size, "d").reshape(shape), numbers(size, "d", 2).reshape(shape)
    row = y[:1]
    functions = [
        njit(lambda x, y, row: ((x * y + row).sum(), (x - row).mean(), (x + 0.5 * y).prod())),
        njit(lambda x, y, row: ((x[..., ::-1] * y).sum(), (x > row).sum(), (x > y).any())),
    ]
    layouts = [x, np.repeat(x, 2, 0)[::2], np.repeat(x, 2, -1)[..., ::2], x[::-1]]
    for function in functions:
        for layout in layouts:
            np.testing.assert_array_equal(function(layout, y, row), function.py_func(layout, y, row))
    if size:
        f = njit(lambda x, y: ((x - y).max(), (x * y).min(), x.max(), x.T.min(), np.asfortranarray(x).max()))
        for layout in layouts:
            assert f(layout, y) == f.py_func(layout, y)


def test_slices_of_a_plane():
    def residual(u):
        return np.abs(u[2:, 1:-1] + u[:-2, 1:-1] - 2 * u[1:-1, 1:-1]).max(), (u[1:] - u[:-1]).sum()

    agree_all(residual, [(numbers(n * m, "d").reshape(n, m),) for n, m in [(3, 3), (40, 7), (9, 140)]])


def test_dtypes_asked_for():
    x = numbers(1000, "f")
    i = numbers(20000, "i")
    agree(lambda x: np.sum(x * 3, dtype=np.float64), x)
    agree(lambda i: ((i * 3).mean(), np.sum(i, dtype=np.float32), np.sum(i + 1, dtype=np.float64)), i)
    agree(lambda i: (i.astype(np.int8) * np.int8(3)).sum(), i)


def text_of(function, *types):
    return _testing.stage(function, list(types), "fusion").split("\n\n")[0]


A1 = "array(float64, 1, C)"


@pytest.mark.parametrize(
    "count, function",
    [
        (1, lambda x, y: (x * y).sum()),
        (2, lambda x, y: ((x - x.mean()) ** 2).sum()),
        (1, lambda x, y: np.abs(x - y).max()),
        (1, lambda x, y: (x > y).any()),
        (2, lambda x, y: x.std()),
        (3, lambda x, y: (x * y).sum() / np.sqrt((x * x).sum() * (y * y).sum())),
    ],
)
def test_no_array_is_made(count, function):
    text = text_of(function, A1, A1)
    assert "new_array" not in text and " map" not in text and "call_inst" not in text
    assert len(re.findall(r"= reduce\[", text)) == count


def test_text():
    text = _testing.stage(lambda x, y: (x * y).sum(initial=None), [A1, A1], "fusion")
    assert re.sub(r"%\d+", "%", text).splitlines() == [
        "func <lambda>(x: array(float64, 1, C), y: array(float64, 1, C)) -> float64 {",
        "b0:",
        "  %: (int,) = getattr[shape] %",
        "  %: (int,) = getattr[shape] %",
        "  %: (int,) = broadcast[0] %, %",
        "  %: int = extract[0] %",
        "  %: (int,) = tuple %",
        "  %: float64 = reduce[sum, elements#1] %, %, %",
        "  return %",
        "}",
        "",
        "func elements(posonly x1: float64, posonly x2: float64) -> float64 {",
        "b0:",
        "  %: float64 = mul %, %",
        "  return %",
        "}",
    ]


def test_parsing():
    text = (
        "func f(x: array(float64, 1, C), n: (int,)) -> float64 {\nb0:\n"
        "  %2: float64 = reduce[max] %1, %0\n  return %2\n}\n"
    )
    assert _testing.run_pass("iterators", text).endswith(text)
    with pytest.raises(Exception, match="no such reduction"):
        _testing.run_pass("iterators", text.replace("max", "most"))
