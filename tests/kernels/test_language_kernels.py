"""The same functions through cuda.jit: what a device function computes in a kernel is what the interpreter computes."""

import itertools
import math

import numpy as np
import pytest
from conftest import ON_HOST
from oracle import assert_same, make, outcome

from krait import cuda

KINDS = [np.int8, np.int32, np.int64, np.uint8, np.uint32, np.float32, np.float64]

# Where the interpreter does not raise, kernels compute what it does.
EXPRESSIONS = [
    "x + y",
    "x - y",
    "x * y",
    "-x * y",
    "x / (y * y + 1)",
    "x // (y * y + 1)",
    "x % (y * y + 1)",
    "abs(x) + 1",
    "min(x, y)",
    "max(x, y)",
    "x if x > y else y",
    "(x < y) + (x == y) * 2",
    "x * 2 + y * 3 - 1",
    "x ** 2 + y",
    "x and y",
    "x or y",
    "not x",
    "(x, y)[0] + (x, y)[1]",
    "sum((x, y, x))",
    "float(x) * 0.5",
    "int(x) + 1",
    "np.float32(x) + y",
    "math.sqrt(abs(x) + 1)",
    "math.floor(x * 0.5)",
    "round(x * 0.25)",
    "math.exp(-abs(float(x)) * 0.01)",
    "math.sin(x) + math.cos(y)",
    "divmod(x, 7)[0] + divmod(x, 7)[1]",
    "pow(x, 3)",
    "x << 1 if x < y else x",
]
INTEGER_ONLY = {"x << 1 if x < y else x"}


def values_of(kind):
    if np.dtype(kind).kind == "f":
        return [kind(v) for v in (0.0, 1.0, -2.5, 3.75, 100.0)]
    info = np.iinfo(kind)
    return [kind(v) for v in (0, 1, 5, 100, -3) if info.min <= v <= info.max]


def run_in_kernel(kernel, xs, ys, result):
    out = np.zeros(len(xs), dtype=result)
    kernel[(len(xs) + 31) // 32, 32](xs, ys, out)
    return out


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_device_functions_agree_with_the_interpreter(text):
    plain = make(f"def g(x, y): return {text}")
    device = cuda.jit(device=True)(plain)
    kernel = cuda.jit(
        make(
            """
        def kernel(xs, ys, out):
            i = cuda.grid(1)
            if i < out.size:
                out[i] = g(xs[i], ys[i])
    """,
            cuda=cuda,
            g=device,
        )
    )
    for kind in KINDS:
        if text in INTEGER_ONLY and np.dtype(kind).kind == "f":
            continue
        xs, ys = (np.array(v, dtype=kind) for v in zip(*itertools.product(values_of(kind), repeat=2)))
        expected = [outcome(plain, (x, y), {}) for x, y in zip(xs, ys)]
        dtype = np.result_type(*{np.asarray(v).dtype for v in expected})
        out = run_in_kernel(kernel, xs, ys, dtype)
        wanted = np.array(expected, dtype=dtype)
        if dtype.kind == "f":  # the device's own math library, where there is a GPU, and fused multiply-add
            single = dtype.itemsize == 4 or ("math." in text and kind is np.float32)  # which math keeps, as documented
            np.testing.assert_allclose(out, wanted, rtol=1e-5 if single else 1e-12, err_msg=kind.__name__)
        else:
            assert_same(out, wanted, kind.__name__)


def collatz(n):
    steps = 0
    while n > 1:
        n = 3 * n + 1 if n % 2 else n // 2
        steps += 1
    return steps


def newton(x):
    guess = x
    for _ in range(50):
        new = 0.5 * (guess + x / guess)
        if abs(new - guess) < 1e-12:
            break
        guess = new
    else:
        return -1.0
    return new


def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


def closure(x):
    scale = x * 0.5

    def inner(y):
        return y * scale + 1

    return inner(x) + inner(2.0)


def tuples(x):
    first, *_ = items = (x, x * 2, x * 3)
    rest = items[1:]
    total = first
    for a, b in zip(rest, (10, 20)):
        total += a * b
    return total


@pytest.mark.parametrize(
    "function, values",
    [
        (collatz, np.arange(1, 50)),
        (newton, np.linspace(0.5, 40, 20)),
        (fibonacci, np.arange(12)),
        (closure, np.linspace(-3, 3, 9)),
        (tuples, np.arange(6)),
    ],
    ids=lambda v: getattr(v, "__name__", ""),
)
def test_control_flow_in_kernels(function, values):
    """Plain Python functions called from a kernel are compiled as if decorated."""
    kernel = cuda.jit(
        make(
            """
        def kernel(values, out):
            i = cuda.grid(1)
            if i < out.size:
                out[i] = function(values[i])
    """,
            cuda=cuda,
            function=function,
        )
    )
    expected = np.array([function(v) for v in values])
    out = np.zeros_like(expected)
    kernel[2, 32](values, out)
    np.testing.assert_allclose(out, expected, rtol=1e-12)


def test_views_and_slices_in_kernels():
    def row_work(a, i):
        row = a[i, ::-1]
        row[0] += 100
        row[1:] *= 2
        total = 0.0
        for j, x in enumerate(row):
            total += x * j
        a[i, :2] = total
        return a[i].size

    kernel = cuda.jit(
        make(
            """
        def kernel(a, sizes):
            i = cuda.grid(1)
            if i < sizes.size:
                sizes[i] = row_work(a, i)
    """,
            cuda=cuda,
            row_work=row_work,
        )
    )
    expected, expected_sizes = np.arange(20.0).reshape(4, 5), np.zeros(4, int)
    for i in range(4):
        expected_sizes[i] = row_work(expected, i)
    for array in (np.arange(20.0).reshape(4, 5), np.asfortranarray(np.arange(20.0).reshape(4, 5))):
        sizes = np.zeros(4, int)
        kernel[1, 8](array, sizes)
        np.testing.assert_array_equal(array, expected)
        np.testing.assert_array_equal(sizes, expected_sizes)


def test_division_by_zero_does_not_raise_in_kernels():
    """Kernels follow IEEE for floats, as documented."""

    @cuda.jit
    def kernel(x, out):
        out[0] = 1.0 / x[0]
        out[1] = -1.0 / x[0]
        out[2] = x[0] / x[0]

    out = np.zeros(3)
    kernel[1, 1](np.zeros(1), out)
    assert out[0] == math.inf and out[1] == -math.inf and math.isnan(out[2])


def test_ints_wrap_into_narrower_integers_in_kernels():
    """Nothing raises there, as documented: the low bits are kept."""

    @cuda.jit
    def kernel(x, n, out):
        out[0] = n
        out[1] = x[0] + n
        out[2:] = n

    out = np.zeros(4, np.int8)
    kernel[1, 1](np.ones(1, np.int8), 300, out)
    assert out.tolist() == [44, 45, 44, 44]


COUNTS = [0, 1, 31, 32, 63, 64, 65, 2**32, 2**32 + 1, 2**40, 2**62, -1, -(2**32)]


@pytest.mark.parametrize("kind", [np.int64, np.uint64])
def test_shifts_by_any_count(kind):
    """Counts that only the upper half of a register shows are counts."""

    @cuda.jit
    def kernel(counts, left, right):
        i = cuda.grid(1)
        if i < counts.size:
            left[i] = value << counts[i]
            right[i] = value >> counts[i]

    value = kind(-7) if kind is np.int64 else kind(7)
    counts = np.array(COUNTS).astype(kind)
    left, right = np.zeros_like(counts), np.zeros_like(counts)
    kernel[1, 32](counts, left, right)
    np.testing.assert_array_equal(left, np.left_shift(value, counts))
    np.testing.assert_array_equal(right, np.right_shift(value, counts))


@pytest.mark.parametrize("quotient", ["(x[i] & 0x7fffffff) // 3", "i // 3", "(x[i] & 0x7fffffff) // 5 * 5"])
def test_quotients_less_numbers_whose_lower_half_is_zero(quotient):
    source = f"def f(x, y, out):\n    i = cuda.threadIdx.x\n    if i < x.size:\n        out[i] = {quotient} - y[i]"
    kernel = cuda.jit(make(source, cuda=cuda))
    x = np.arange(0, 2**31, 2**26, dtype=np.int64).astype(np.uint32)
    y = np.array([0, 2**32, 5, -(2**40)] * 8)
    out = np.zeros_like(y)
    kernel[1, 32](x, y, out)
    expected = eval(quotient, {"x": x.astype(np.int64), "i": np.arange(32)}, {"i": np.arange(32)}) - y
    np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("extreme", [min, max])
@pytest.mark.parametrize("order", list(itertools.permutations(("x[i]", "np.int32(-y[i])", "z[i]"))), ids=str)
def test_extremes_of_three_with_a_negation(extreme, order):
    source = f"def f(x, y, z, out):\n    i = cuda.threadIdx.x\n    out[i] = {extreme.__name__}({', '.join(order)})"
    x, y, z = (np.array(items, np.int32) for items in zip(*itertools.product((-5, 0, 7), (-4, 3, 9), (-6, 2, 8))))
    out = np.zeros_like(x)
    cuda.jit(make(source, cuda=cuda, np=np))[1, x.size](x, y, z, out)
    assert out.tolist() == [extreme(a, -b, c) for a, b, c in zip(x.tolist(), y.tolist(), z.tolist())]


# The host computes several at a time with libmvec, whose functions are within 4 units; a GPU's are within 2.
@pytest.mark.parametrize("dtype, ulps", [(np.float64, 4 if ON_HOST else 2), (np.float32, 4 if ON_HOST else 2),
                                         (np.float16, 1)])
def test_exp10(dtype, ulps):
    @cuda.jit
    def powers(x, y):
        i = cuda.grid(1)
        if i < x.size:
            y[i] = cuda.exp10(x[i])

    x = np.linspace(-5, 4.5, 1001).astype(dtype)
    y = np.zeros_like(x)
    powers.forall(x.size)(x, y)
    exact = np.longdouble(10) ** x.astype(np.longdouble)
    assert (np.abs(y - exact) <= ulps * np.spacing(exact.astype(dtype))).all()


@pytest.mark.parametrize("opt", [0, 3])
def test_what_the_back_end_must_not_simplify(opt):
    def k(out, shorts, ints):
        i = cuda.grid(1)
        x = shorts[i]
        out[i, 0] = -x >= np.sign(x)
        out[i, 1] = abs(x) > np.int16(0)
        out[i, 2] = np.abs(x) - 1 < x
        out[i, 3] = math.copysign(1.0, max(-0.0, float(ints[i])))
        zero = float(ints[i])
        if not zero > -0.0:
            zero = -0.0
        out[i, 4] = math.copysign(1.0, zero)
        out[i, 5] = math.copysign(1.0, min(0.0, float(ints[i])))

    shorts = np.array([-32768, -1, 0, 5, 32767], np.int16)
    ints = np.array([0, 1, -1, 0, 7])
    out = np.zeros((5, 6))
    cuda.jit(opt=opt)(k)[1, 5](out, shorts, ints)
    with np.errstate(over="ignore"):
        columns = [-shorts >= np.sign(shorts), np.abs(shorts) > 0, np.abs(shorts) - np.int16(1) < shorts]
    zeros = [[math.copysign(1.0, choice) for choice in (max(-0.0, i), max(-0.0, i), min(0.0, i))]
             for i in map(float, ints)]
    np.testing.assert_array_equal(out, np.column_stack([*columns, np.array(zeros)]))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_powers_that_are_numbers_of_the_type_are_exact(dtype):
    def raised(x, n, out):
        i = cuda.grid(1)
        if i < x.size:
            v = x[i]
            v **= n[i] > 0
            out[i, 0] = v
            out[i, 1] = x[i] ** n[i]
            out[i, 2] = math.pow(x[i], n[i])
            out[i, 3] = x[i] ** (n[i] & 3)
            out[i, 4] = x[i] ** np.int8(n[i])
            out[i, 5] = x[i] ** np.uint64(abs(n[i]))

    pairs = [(x, n) for x in (1.0, 2.0, 3.0, -3.0, 5.0, 7.0, 0.5, -0.25, 10.0, math.inf, 0.0) for n in range(-16, 17)
             if x in (2.0, 0.5, -0.25) or 0 <= n <= 6]
    x, n = np.array([x for x, _ in pairs], dtype), np.array([n for _, n in pairs])
    out = np.zeros((len(pairs), 6), dtype)
    cuda.jit(raised).forall(len(pairs))(x, n, out)
    columns = [[x ** (n > 0), x**n, x**n, x ** (n & 3), x**n, x ** abs(n)] for x, n in pairs]
    np.testing.assert_array_equal(out, np.array(columns, dtype))


def test_large_ints_are_divided_as_the_interpreter_divides_them():
    def quotients(x, y, out):
        i = cuda.grid(1)
        if i < x.size:
            out[i, 0] = int(x[i]) / int(y[i])
            out[i, 1] = 2**60 / int(y[i])
            out[i, 2] = x[i] / y[i]

    numbers = [1, -3, 7, 10, 2**53 - 1, 2**53 + 1, -(2**53) - 1, 10**17 + 1, 2**62 + 3, 2**63 - 1, -(2**63)]
    pairs = list(itertools.product(numbers, repeat=2))
    x, y = (np.array(column) for column in zip(*pairs))
    out = np.zeros((len(pairs), 3))
    cuda.jit(quotients).forall(len(pairs))(x, y, out)
    wanted = np.column_stack([[a / b for a, b in pairs], [2**60 / b for _, b in pairs], x / y])
    np.testing.assert_array_equal(out, wanted)


def test_negated_magnitudes_are_compared_and_converted():
    """PTX's compiler takes -abs(x) for less than every number."""

    def compared(x, y, n, out):
        i = cuda.grid(1)
        if i < x.size:
            out[i, 0] = max(-abs(x[i]), -5)
            out[i, 1] = np.int16(-abs(n))
            out[i, 2] = -abs(y[i]) - 3 <= -5
            out[i, 3] = -abs(int(y[i]) + n) % 7

    x = np.array([-7, -5, -3, 0, 1, 4, 9, 2**40, -(2**40)])
    y = np.array([-7, -5, -3, 0, 1, 4, 9, 2**30, -(2**30)], np.int32)
    out = np.zeros((len(x), 4), np.int64)
    cuda.jit(check=True)(compared).forall(len(x))(x, y, 9, out)
    rows = [[max(-abs(a), -5), -9, -abs(b) - 3 <= -5, -abs(b + 9) % 7] for a, b in zip(x.tolist(), y.tolist())]
    np.testing.assert_array_equal(out, rows)
