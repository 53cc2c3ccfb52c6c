"""vectorize: NumPy ufuncs from signatures, ufuncs that grow loops, and target 'cuda'."""

import itertools
import math
from collections import deque
from fractions import Fraction

import numpy as np
import pytest

from krait import cuda, float32, guvectorize, jit, vectorize
from krait.errors import TypingError, UnsupportedError
from oracle import agree, compare_outcomes, difference, make, outcome


def mul_add(a, b):
    return a * b + a


# ---- with signatures ------------------------------------------------------------------------------------------------


@pytest.fixture(params=["cpu", "parallel"])
def signed(request):
    return vectorize(["float32(float32, float32)", "float64(float64, float64)"], target=request.param)(mul_add)


def test_it_is_a_ufunc(signed):
    assert type(signed) is np.ufunc
    assert (signed.nin, signed.nout, signed.nargs, signed.ntypes) == (2, 1, 3, 2)
    assert signed.types == ["ff->f", "dd->d"]
    assert signed.__name__ == "mul_add"


def test_numpy_does_the_rest(signed):
    a, b = np.arange(6.0).reshape(2, 3), np.arange(3.0)
    expected = mul_add(a, b)
    np.testing.assert_array_equal(signed(a, b), expected)
    np.testing.assert_array_equal(signed(a.tolist(), 2), mul_add(a, 2))
    assert signed(a.astype(np.float32), b.astype(np.float32)).dtype == np.float32
    assert signed(a.astype(np.float32), 2.5).dtype == np.float32
    assert signed(np.arange(3), np.arange(3)).dtype == np.float64
    assert type(signed(2.0, 3.0)) is np.float64
    out = np.zeros((2, 3))
    assert signed(a, b, out=out) is out
    np.testing.assert_array_equal(out, expected)
    out = np.full((2, 3), -1.0)
    signed(a, b, out=out, where=a > 2)
    np.testing.assert_array_equal(out, np.where(a > 2, expected, -1))
    np.testing.assert_array_equal(signed.outer(b, b), mul_add(b[:, None], b))
    total = np.zeros(3)
    signed.at(total, [0, 0, 2], 5.0)
    np.testing.assert_array_equal(total, [0, 0, 0])
    with pytest.raises(TypeError):
        signed(1j, 2)
    with pytest.raises(ValueError):
        signed(np.zeros(3), np.zeros(4))


def test_strides_and_sizes():
    f = vectorize(["float64(float64)", "int32(int32)"])(lambda x: x * x + 1)
    for n in (0, 1, 2, 7, 255, 256, 257, 1000):
        whole = np.arange(3 * n + 1.0)
        for view in (whole[:n], whole[: 2 * n : 2], whole[::-1][:n], whole.astype(np.int32)[: 3 * n : 3]):
            np.testing.assert_array_equal(f(view), view * view + 1)
    x = np.arange(10.0)
    f(x[:-1], out=x[1:])
    np.testing.assert_array_equal(x[1:], np.arange(9.0) ** 2 + 1)


def few_operations(a, b):
    return a * a - b


def many_operations(a, b):
    return 1 + a * (2 + b * (3 + a * (4 + b * (5 + a * (6 + b * (7 + a))))))


def a_condition(a, b):
    return a if a > b else b - a


@pytest.mark.parametrize(
    "function, dtype",
    [
        *itertools.product([few_operations, many_operations, a_condition], ["int8", "float32", "float64"]),
        *itertools.product([few_operations, many_operations], ["complex128"]),
    ],
)
def test_rounds_and_what_is_left_of_them(function, dtype):
    """Whole rounds of vectors, elements one by one before and after them: each is computed, and nothing beside them."""
    f = vectorize([f"{dtype}({dtype}, {dtype})"])(function)
    rng = np.random.default_rng(4)
    a, b = (rng.integers(-3, 4, 2000).astype(dtype) for _ in range(2))
    expected = np.where(a > b, a, b - a) if function is a_condition else function(a, b)
    for n in (*range(70), 127, 128, 255, 256, 257, 511, 512, 513, 1100):
        for at in (0, 1, 5):
            out = np.full(n + 8, 99, dtype)
            f(a[:n], b[:n], out[at : at + n])
            np.testing.assert_array_equal(out[at : at + n], expected[:n])
            assert (out[:at] == 99).all() and (out[at + n :] == 99).all()
        over = a[:n].copy()
        f(over, b[:n], over)
        np.testing.assert_array_equal(over, expected[:n])


def added_up(a, b):
    total = a
    for _ in range(3):
        total = total + b
    return total


@pytest.mark.parametrize("dtype", ["float64", "int8"])
def test_an_operand_that_is_the_same_for_all_elements_of_longer_and_longer_strips(dtype):
    """What has a loop begins with strips of few elements, and takes more of them while they take little time."""
    ufunc = vectorize([f"{dtype}({dtype}, {dtype})"])(added_up)
    x, y = np.arange(3000).astype(dtype), np.arange(6000).astype(dtype)[::2]
    one, other = x.dtype.type(2), x.dtype.type(3)
    for _ in range(3):  # the same memory of the stack holds other numbers
        np.testing.assert_array_equal(ufunc(x, one), x + one + one + one)
        np.testing.assert_array_equal(ufunc(other, y), other + y + y + y)
        np.testing.assert_array_equal(ufunc(y, other), y + other + other + other)


def test_reductions():
    add = vectorize(["int64(int64, int64)", "float64(float64, float64)"], identity=0)(lambda a, b: a + b)
    x = np.arange(12.0).reshape(3, 4)
    assert add.identity == 0
    np.testing.assert_array_equal(add.reduce(x), x.sum(0))
    np.testing.assert_array_equal(add.reduce(x, axis=1), x.sum(1))
    assert add.reduce(np.zeros(0)) == 0
    np.testing.assert_array_equal(add.accumulate(x[0]), np.cumsum(x[0]))
    np.testing.assert_array_equal(add.reduceat(x[0], [0, 2]), [1, 5])
    largest = vectorize(["float64(float64, float64)"], identity="reorderable")(lambda a, b: a if a > b else b)
    assert largest.reduce(x, axis=(0, 1)) == 11
    assert vectorize(["int64(int64, int64)"], identity=1)(lambda a, b: a * b).reduce(np.arange(1, 6)) == 120
    assert vectorize(["int64(int64)"])(lambda a: a).identity is None


def test_the_declared_result_type_counts():
    f = vectorize(["float64(int64)", "float32(float32)"])(lambda x: x + x)
    assert f.types == ["l->d", "f->f"]
    np.testing.assert_array_equal(f(np.arange(2000)), 2.0 * np.arange(2000))
    half = vectorize(["float32(float32)"])(lambda x: 0.5)
    assert half(np.zeros(3, np.float32)).dtype == np.float32


@pytest.mark.parametrize("to", ["int8", "uint8", "int16", "uint32", "int64", "uint64", "float32", "float64", "bool_"])
@pytest.mark.parametrize("given", ["int8", "uint8", "int32", "uint64", "float32", "float64"])
def test_declared_results_are_converted_as_NumPy_does(given, to):
    made = vectorize([f"{to}({given})"])(lambda x: x)
    x = np.array([0, 1, 2, 3, 100, 127] * 50).astype(given)
    if given.startswith("float"):
        x = np.concatenate([x + np.asarray(0.75, given), x + np.asarray(-0.0, given)])
    elif given != "uint8":
        x[5::7] = -1 if given.startswith("i") else 2**40
    for step in (1, 3, -1):
        got = made(x[::step])
        np.testing.assert_array_equal(got, x[::step].astype(to))
        assert got.dtype == np.dtype(to)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("exponent", [3, 4, 5, 6, -2, -3])
def test_small_powers(exponent, dtype):
    made = vectorize([f"{dtype}({dtype})"])(lambda x: x**exponent)
    rng, tiny = np.random.default_rng(abs(exponent)), float(np.finfo(dtype).tiny)
    x = np.ldexp(rng.standard_normal(3000), rng.integers(-12, 13, 3000)).astype(dtype)
    exact = np.array([float(Fraction(float(value)) ** exponent) for value in x])
    inside = (abs(exact) > 8 * tiny) & (abs(exact) < float(np.finfo(dtype).max) / 8)
    error = abs(made(x).astype(float) - exact)[inside]
    assert (error <= 4 * np.spacing(abs(exact[inside]).astype(dtype)).astype(float)).all()

    def told(call, value):
        kinds = []
        with np.errstate(all="call", call=lambda kind, flag: kinds.append(kind)):
            got = call(np.full(20, value, dtype)).tolist()
        return got, set(kinds) & {"divide by zero", "overflow", "invalid value"}

    largest = 1e300 if dtype == "float64" else 1e30
    for value in (0.0, -0.0, np.inf, -np.inf, np.nan, largest, -largest, 1 / largest, -1 / largest):
        got, want = told(made, value), told(lambda x: np.power(x, np.asarray(exponent, dtype)), value)
        assert repr(got) == repr(want), value


def test_several_results():
    @vectorize
    def split(x):
        return x // 10, x % 10

    tens, ones = split(np.arange(35))
    np.testing.assert_array_equal(tens, np.arange(35) // 10)
    np.testing.assert_array_equal(ones, np.arange(35) % 10)
    assert split.nout == 2


@pytest.mark.parametrize(
    "bad, error",
    [
        (dict(identity=2), ValueError),
        (dict(target="tpu"), ValueError),
        (dict(nothing=1), TypeError),
        (dict(forceobj=True), TypeError),
        (dict(error_model="c"), TypeError),
        (dict(error_model="python", target="cuda"), ValueError),
    ],
)
def test_bad_options(bad, error):
    with pytest.raises(error):
        vectorize(**bad)(mul_add)


@pytest.mark.filterwarnings("ignore:invalid value")
@pytest.mark.parametrize("target", ["cpu", "parallel"])
def test_error_model(target):
    def root(x):
        return math.sqrt(x)

    x = np.array([4.0, -1.0])
    for options in ({}, {"error_model": "numpy"}):
        np.testing.assert_array_equal(vectorize(["f8(f8)"], target=target, **options)(root)(x), [2, np.nan])
        np.testing.assert_array_equal(vectorize(["f8(f8)"], target="cuda", **options)(root)(x), [2, np.nan])
    raising = vectorize(["f8(f8)"], target=target, error_model="python")(root)
    with pytest.raises(ValueError, match="math domain error"):
        raising(x)
    assert raising(x[0]) == 2

    @guvectorize(["(f8[:], f8[:])"], "(n)->(n)", target=target, error_model="python")
    def roots(x, y):
        for i in range(x.shape[0]):
            y[i] = math.sqrt(x[i])

    with pytest.raises(ValueError, match="math domain error"):
        roots(x)


def test_bad_functions():
    with pytest.raises(TypeError):
        vectorize(3)
    with pytest.raises(TypeError):
        vectorize(["f8(f8)"])(mul_add)
    with pytest.raises(TypeError):
        vectorize(["f8(f8, f8)", "f8(f8)"])(mul_add)
    with pytest.raises(TypeError):
        vectorize(lambda *a: 1)
    with pytest.raises((TypingError, UnsupportedError)):
        vectorize(["void(f8)"])(lambda x: None)(1.0)
    with pytest.raises((TypingError, UnsupportedError)):
        vectorize(lambda x: (x, (x, x)))(1.0)


# ---- without signatures ---------------------------------------------------------------------------------------------


def test_loops_grow_with_the_operands():
    f = vectorize(mul_add)
    assert f.types == [] and f.nin == 2
    for dtype in (np.float64, np.int32, np.float32, np.uint8, np.complex64, np.int64):
        a = np.arange(5).astype(dtype)
        ours, theirs = f(a, a), mul_add(a, a)
        assert ours.dtype == theirs.dtype
        np.testing.assert_array_equal(ours, theirs)
    assert f.ntypes == 6
    assert f.types == ["BB->B", "ii->i", "ll->l", "ff->f", "dd->d", "FF->F"]  # NumPy takes the first that fits
    assert f.py_func is mul_add and f.__name__ == "mul_add"


@pytest.mark.parametrize(
    "a, b",
    [
        (np.arange(3, dtype="f4"), 2.5),
        (np.arange(3, dtype="f4"), 2),
        (np.arange(3, dtype="i1"), 2),
        (2, 3),
        (2.5, 3),
        (np.float32(2), 3.5),
        (np.arange(3, dtype="i4"), 2.5),
        (True, np.arange(3)),
        ([1, 2], [3.5, 4]),
    ],
    ids=repr,
)
def test_python_scalars_are_weak(a, b):
    ours, theirs = vectorize(mul_add)(a, b), np.add(np.multiply(a, b), a)
    assert np.asarray(ours).dtype == theirs.dtype
    np.testing.assert_array_equal(ours, theirs)


def test_methods_of_growing_ufuncs():
    f = vectorize(lambda a, b: a + b, identity=0)
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    np.testing.assert_array_equal(f.reduce(x), x.sum(0))
    np.testing.assert_array_equal(f.accumulate(x, axis=1), np.cumsum(x, axis=1))
    np.testing.assert_array_equal(f.outer(x[0], x[1]), np.add.outer(x[0], x[1]))
    np.testing.assert_array_equal(f.reduceat(x[0], [0, 2]), [1, 5])
    counts = np.zeros(3, np.int64)
    f.at(counts, [0, 2, 2], 1)
    np.testing.assert_array_equal(counts, [1, 0, 2])
    out = np.zeros(4)
    assert f(x[0], x[1], out=out) is out


def test_add_a_loop():
    f = vectorize(mul_add)
    f.add("f4(f4, f4)")
    assert f.types == ["ff->f"]


def test_foreign_operands_are_numpys_to_judge():
    class Own:
        def __array_ufunc__(self, ufunc, method, *args, **kwargs):
            return "own"

    f = vectorize(mul_add)
    assert f(Own(), 1) == "own"
    with pytest.raises(TypeError):
        f("x", 1)
    with pytest.raises(TypeError):
        f(1)


def test_exceptions_come_through():
    def positive(x):
        if x < 0:
            raise ValueError("negative", x)
        return x

    for f in (vectorize(positive), vectorize(["int64(int64)"])(positive)):
        np.testing.assert_array_equal(f(np.arange(5)), np.arange(5))
        with pytest.raises(ValueError) as caught:
            f(np.arange(-3, 5))
        assert caught.value.args == ("negative", -3)
        assert caught.traceback[-1].name == "positive"


def test_division_follows_numpy():
    f = vectorize(lambda a, b: a / b)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(f(np.array([1.0, 0.0]), 0.0), np.array([1.0, 0.0]) / 0.0)


@pytest.mark.parametrize("made", ["int(x)", "round(x)", "math.floor(x)", "math.ceil(x)", "math.trunc(x)",
                                  "np.int8(float(x))", "len(range(int(x)))"])
@pytest.mark.parametrize("number", [np.inf, -np.inf, np.nan, 2.5])
def test_an_int_of_what_is_no_number_raises(made, number):
    """Whatever the error model: no int stands for it."""
    function, x = make(f"def f(x):\n    return {made}", math=math, np=np), np.array([1.5, number])
    for compiled in (vectorize(function), vectorize(["int64(float64)"])(function)):
        compare_outcomes(items(outcome(compiled, [x], {})), items(outcome(np.vectorize(function), [x], {})))
    agree(function, number, compiled=jit(error_model="numpy")(function))


def items(result):
    return result.tolist() if isinstance(result, np.ndarray) else result


def test_a_changed_global_is_seen():
    scope = {"K": 2}
    exec("def f(x):\n    return x * K", scope)
    f = vectorize(scope["f"])
    x = np.arange(4)
    np.testing.assert_array_equal(f(x), 2 * x)
    scope["K"] = 3
    np.testing.assert_array_equal(f(x), 3 * x)


def test_a_ufunc_outlives_its_names():
    import gc

    f = vectorize(["float64(float64)"])(lambda x: x * 2)
    gc.collect()
    assert f(2.0) == 4.0


def test_jitted_functions_call_it():
    square = vectorize(lambda x: x * x)
    assert jit(lambda x: square(x) + 1)(3) == 10


# ---- target 'cuda' --------------------------------------------------------------------------------------------------


@pytest.fixture(params=[None, ["float32(float32, float32)", "float64(float64, float64)"]], ids=["grows", "signatures"])
def on_device(request):
    return vectorize(request.param, target="cuda")(mul_add) if request.param else vectorize(target="cuda")(mul_add)


def test_cuda_with_host_arrays(on_device):
    a, b = np.arange(6.0).reshape(2, 3), np.arange(3.0)
    result = on_device(a, b)
    assert isinstance(result, np.ndarray)
    np.testing.assert_array_equal(result, mul_add(a, b))
    np.testing.assert_array_equal(on_device(a, 2.5), mul_add(a, 2.5))
    assert on_device(2.0, 3.0) == 8.0
    out = np.zeros((2, 3))
    assert on_device(a, b, out=out) is out
    np.testing.assert_array_equal(out, mul_add(a, b))


def test_cuda_with_device_arrays(on_device):
    a, b = np.arange(6.0).reshape(2, 3), np.arange(3.0)
    da, db = cuda.to_device(a), cuda.to_device(b)
    result = on_device(da, db)
    assert isinstance(result, type(da))
    np.testing.assert_array_equal(result.copy_to_host(), mul_add(a, b))
    np.testing.assert_array_equal(on_device(da, b).copy_to_host(), mul_add(a, b))
    np.testing.assert_array_equal(on_device(da.T, 2.0).copy_to_host(), mul_add(a.T, 2.0))
    out = cuda.device_array((2, 3))
    assert on_device(da, db, out=out) is out
    np.testing.assert_array_equal(out.copy_to_host(), mul_add(a, b))
    with pytest.raises(ValueError):
        on_device(da, cuda.to_device(np.zeros(4)))
    with pytest.raises(TypeError):
        on_device(da)
    with pytest.raises(TypeError):
        on_device(da, da, da, da)


@pytest.mark.parametrize("to, from_", [
    (np.s_[1:], np.s_[:-1]), (np.s_[:-1], np.s_[1:]), (np.s_[::-1], np.s_[:]), (np.s_[:4096], np.s_[::2]),
    (np.s_[:], np.s_[:]),
], ids=str)
def test_cuda_results_over_their_operands(on_device, to, from_):
    """As in NumPy, every operand is read before any result is written."""
    x = np.arange(8192.0)
    d = cuda.to_device(x)
    x[to] = mul_add(x[from_], 3.0)
    on_device(d[from_], np.float64(3.0), out=d[to])
    np.testing.assert_array_equal(d.copy_to_host(), x)


def test_cuda_results_shape_the_broadcast(on_device):
    a, out = np.arange(3.0), cuda.to_device(np.zeros((2, 3)))
    assert on_device(cuda.to_device(a), 2.0, out=out) is out
    np.testing.assert_array_equal(out.copy_to_host(), np.broadcast_to(mul_add(a, 2.0), (2, 3)))
    for shape in [(1,), (2,), (4, 1)]:
        with pytest.raises(ValueError):
            on_device(cuda.to_device(a), cuda.to_device(a), out=cuda.device_array(shape))


@pytest.mark.parametrize("shape", [(), (1,), (7,), (1024,), (1025,), (3, 5), (4, 8), (2, 3, 4, 5)])
@pytest.mark.parametrize("dtype", ["f4", "f8", "i4", "u1", "c8"])
def test_cuda_shapes_and_types(shape, dtype):
    f = vectorize(target="cuda")(mul_add)
    a = np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(dtype)
    result = f(cuda.to_device(a), cuda.to_device(a)).copy_to_host()
    np.testing.assert_array_equal(result, mul_add(a, a))
    assert result.dtype == mul_add(a, a).dtype


def ratio(a, b):
    """Too heavy for several elements a thread (codegen_nvptx: is_light)."""
    return (a + 1.0) / (b + 2.0)


divided = vectorize(target="cuda")(ratio)

# Lengths of the innermost axis around a block's 64 to 256 threads, with and without a remainder; rows that fill more
# than one axis of the grid.
ROWS = [(64,), (256,), (250,), (1000,), (3, 250), (5, 64), (7, 100), (2, 3, 128), (3, 2, 4, 96), (2, 2, 2, 2, 64)]


@pytest.mark.parametrize("shape", [*ROWS, (70000, 64), (65535 + 2, 3, 64)], ids=str)
def test_cuda_rows_of_blocks(shape):
    rng = np.random.default_rng(len(shape))
    a = rng.random(shape)
    da = cuda.to_device(a)
    np.testing.assert_array_equal(divided(da, 0.5).copy_to_host(), ratio(a, 0.5))
    np.testing.assert_array_equal(divided(0.5, da).copy_to_host(), ratio(0.5, a))
    for axis in range(len(shape)):
        b = rng.random(tuple(1 if i == axis else n for i, n in enumerate(shape)))
        np.testing.assert_array_equal(divided(da, cuda.to_device(b)).copy_to_host(), ratio(a, b))
        np.testing.assert_array_equal(divided(cuda.to_device(b), da).copy_to_host(), ratio(b, a))


@pytest.mark.parametrize("shape", ROWS, ids=str)
def test_cuda_strided_operands_in_rows_of_blocks(shape):
    rng = np.random.default_rng(7)
    a = rng.random(tuple(2 * n for n in shape))
    da, every = cuda.to_device(a), (slice(None, None, 2),) * len(shape)
    np.testing.assert_array_equal(divided(da[every], 3.0).copy_to_host(), ratio(a[every], 3.0))
    np.testing.assert_array_equal(divided(da.T, 3.0).copy_to_host(), ratio(a.T, 3.0))
    out = cuda.to_device(np.zeros_like(a))
    divided(da[every], da[every].copy_to_host(), out=out[every])
    want = np.zeros_like(a)
    want[every] = ratio(a[every], a[every])
    np.testing.assert_array_equal(out.copy_to_host(), want)


# ---- target 'parallel' ----------------------------------------------------------------------------------------------


def test_long_arrays_on_several_cores():
    f = vectorize(["float64(float64, float64)"], target="parallel", identity=0)(lambda a, b: a + b)
    x = np.arange(300_000.0)
    np.testing.assert_array_equal(f(x, x[::-1]), np.full(300_000, 299_999.0))
    np.testing.assert_array_equal(f(x[::3], 2), x[::3] + 2)
    assert f.reduce(x) == x.sum()
    np.testing.assert_array_equal(f.accumulate(x), np.cumsum(x))
    f(x[:-1], x[1:], out=x[1:])  # overlapping: as if it were not
    np.testing.assert_array_equal(x[1:], 2 * np.arange(1, 300_000.0) - 1)
    with pytest.warns(RuntimeWarning, match="divide by zero"):
        vectorize(["float64(float64, float64)"], target="parallel")(lambda a, b: a / b)(np.ones(100_000), 0.0)


@pytest.mark.parametrize("target", ["cpu", "parallel"])
def test_the_first_exception_ends_the_call(target):
    def positive(x):
        if x <= 0:
            raise ValueError("not positive", x)
        return 2 * x

    f = vectorize(["float64(float64)"], target=target)(positive)
    x = np.full(200_000, 3.0)
    np.testing.assert_array_equal(f(x), 2 * x)
    x[190_000], x[120_000] = -1, -2
    with pytest.raises(ValueError) as caught:
        f(x)
    assert caught.value.args == ("not positive", -2)
    assert f(np.arange(1, 4)).tolist() == [2, 4, 6]  # operands are converted to the loop's types


def test_compiled_functions_call_a_ufunc_as_its_signatures_say():
    add = vectorize(["int64(int64, int64)", "float64(float64, float64)"])(lambda a, b: a + b)
    total = jit(lambda x: add(x, 2))
    assert total(1) == 3 and total(1.5) == 3.5 and type(total(np.float32(1))) is np.float64


@pytest.mark.parametrize("target", ["cpu", "parallel", "cuda"])
def test_a_function_that_is_compiled_for_no_more_types(target):
    @vectorize(target=target)
    def twice(a):
        return a * 2

    floats = np.arange(5.0)
    np.testing.assert_array_equal(twice(floats), floats * 2)
    assert twice.build_ufunc() is twice and twice.targetoptions["target"] == target
    np.testing.assert_array_equal(twice(floats), floats * 2)
    with pytest.raises(TypeError):
        twice(np.ones(3, np.complex128))
    twice.disable_compile(False)
    assert twice(np.ones(3, np.complex128)).dtype == np.complex128


@pytest.mark.parametrize("target", ["cpu", "parallel", "cuda"])
@pytest.mark.parametrize("signatures", [(), (["float64(float64)"],)])
def test_types_of_variables_hold_on_every_target(target, signatures):
    @vectorize(*signatures, locals={"t": float32}, target=target)
    def scaled(x):
        t = x * 1.1
        return t

    x = np.arange(1.0, 4.0)
    expected = (x * 1.1).astype(np.float32)
    got = scaled(x)
    np.testing.assert_array_equal(got, expected)
    assert got.dtype == (np.float64 if signatures else np.float32)


class SaysArray:
    """An object that NumPy makes an array of by its __array__."""

    def __init__(self, values):
        self.values = values

    def __array__(self, dtype=None, copy=None):
        return self.values if dtype is None else self.values.astype(dtype)


class SaysInterface:
    def __init__(self, values):
        self.values, self.__array_interface__ = values, values.__array_interface__


def array_likes(values):
    plain = values.tolist()
    return [SaysArray(values), SaysInterface(values), memoryview(values), plain, tuple(plain), deque(plain)]


@pytest.mark.parametrize("target", ["cpu", "parallel", "cuda"])
@pytest.mark.parametrize("signatures", [[], [["float64(float64, float64)"]]], ids=["dynamic", "signature"])
def test_operands_that_numpy_makes_arrays_of(target, signatures):
    function = vectorize(*signatures, target=target)(lambda a, b: a + 2 * b)
    x, whole = np.arange(4.0), np.arange(3, 7, dtype=np.int32)
    for given in (*array_likes(x), *array_likes(whole), SaysArray(np.array(2.5)), 2.5, np.float32(2.5)):
        expected = np.asarray(given) + 2 * x
        assert difference(function(given, x), expected) is None
        assert difference(function(x, given), x + 2 * np.asarray(given)) is None


@pytest.mark.parametrize("target", ["cpu", "parallel", "cuda"])
def test_operands_that_say_they_are_arrays_and_are_not(target):
    function = vectorize(target=target)(lambda a: a + 1)
    with pytest.raises(TypeError):
        function(SaysArray(np.array(["a", "b"])))

    class Failing:
        def __array__(self, dtype=None, copy=None):
            raise KeyError("not today")

    with pytest.raises(KeyError, match="not today"):
        function(Failing())
