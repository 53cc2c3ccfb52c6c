"""guvectorize: generalised ufuncs from signatures and from calls, held to NumPy and to the function itself."""

import pickle
import re
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import krait
from krait import cuda, guvectorize, jit
from krait.errors import TypingError
from portions import examples

TARGETS = ("cpu", "parallel")
SIGNATURES = [f"void({t}[:,:], {t}[:,:], {t}[:,:])" for t in ("int64", "float32", "float64", "complex128")]


def product(a, b, c):
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            c[i, j] = 0
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]


@pytest.fixture(scope="module", params=TARGETS)
def matmul(request):
    return guvectorize(SIGNATURES, "(m,n),(n,p)->(m,p)", target=request.param)(product)


def test_it_tells_what_it_is(matmul):
    assert (matmul.nin, matmul.nout, matmul.nargs, matmul.ntypes) == (2, 1, 3, 4)
    assert matmul.types == ["ll->l", "ff->f", "dd->d", "DD->D"]
    assert matmul.signature == "(m,n),(n,p)->(m,p)" == matmul.ufunc.signature
    assert matmul.__name__ == "product" and matmul.py_func is product and isinstance(matmul.ufunc, np.ufunc)


@st.composite
def operand(draw, rows, columns, outer):
    """An array of small whole numbers with those core dimensions: any dtype, strides, order of axes, length-1 axes."""
    dtype = draw(st.sampled_from([np.int8, np.int64, np.float32, np.float64, np.complex128, np.uint8]))
    shape = tuple(draw(st.sampled_from([n, 1])) for n in outer[draw(st.integers(0, len(outer))) :]) + (rows, columns)
    steps = tuple(draw(st.sampled_from([1, 1, 2, -1, -2])) for _ in shape)
    order = draw(st.permutations(range(len(shape))))
    space = [0] * len(shape)
    for place, axis in enumerate(order):
        space[place] = shape[axis] * abs(steps[axis])
    whole = np.arange(np.prod(space), dtype=np.int64).reshape(space) % 7
    return whole.astype(dtype).transpose(np.argsort(order))[tuple(slice(None, None, s) for s in steps)]


@given(st.data())
@settings(max_examples=examples(60))
def test_it_agrees_with_numpys_own_matmul(matmul, data):
    m, n, p = (data.draw(st.integers(0, 4)) for _ in range(3))
    outer = data.draw(st.lists(st.integers(0, 3), max_size=2))
    a, b = data.draw(operand(m, n, outer)), data.draw(operand(n, p, outer))
    expected = np.matmul(a.astype(np.complex128), b.astype(np.complex128))
    got = matmul(a, b)
    assert got.dtype == next(t for t in "lfdD" if all(np.can_cast(x.dtype, t) for x in (a, b)))
    np.testing.assert_array_equal(got, expected)


def test_what_numpy_gives_a_gufunc(matmul):
    a, b = np.arange(24.0).reshape(2, 3, 4), np.arange(20.0).reshape(4, 5)
    out = np.empty((2, 3, 5))
    assert matmul(a, b, out=out) is out and matmul(a, b, out) is out
    np.testing.assert_array_equal(out, a @ b)
    np.testing.assert_array_equal(matmul(a.T, b, axes=[(1, 0), (0, 1), (0, 1)]), np.matmul(a, b).transpose(1, 2, 0))
    square = np.arange(9.0).reshape(3, 3)
    expected = square @ square
    matmul(square, square, out=square)  # overlapping: as if it were not
    np.testing.assert_array_equal(square, expected)
    with pytest.raises(ValueError, match="mismatch in its core dimension"):
        matmul(a, a)
    with pytest.raises(TypeError):
        matmul(a)
    assert matmul(a, b, dtype=np.complex128).dtype == np.complex128
    assert matmul([[1, 2]], [[3], [4]]).tolist() == [[11]]


@pytest.mark.parametrize("target", TARGETS)
def test_numbers_and_several_results(target):
    @guvectorize(["void(float64[:], float64, float64[:], int64[:])"], "(n),()->(),()", target=target)
    def below(x, limit, total, count):
        total[0] = 0
        count[0] = 0
        for value in x:
            if value < limit:
                total[0] += value
                count[0] += 1

    x = np.random.default_rng(1).uniform(0, 1, (300, 50))
    limits = np.linspace(0, 1, 300)
    total, count = below(x, limits)
    np.testing.assert_array_equal(count, (x < limits[:, None]).sum(1))
    np.testing.assert_allclose(total, np.where(x < limits[:, None], x, 0).sum(1), rtol=1e-13)
    total, count = below(x[0], 2)
    assert count == 50 and total.dtype == np.float64 and count.dtype == np.int64
    total, count = below(x, 0.5, axis=0)
    np.testing.assert_array_equal(count, (x < 0.5).sum(0))


@pytest.mark.parametrize("n", [0, 1, 3, 32, 33, 70])
def test_short_rows_and_long_ones(n, optimised):
    """Calls on few items have a loop of their own, in which rows do not look for signals."""

    @guvectorize(["void(int64[:], int64[:], int64[:])"], "(n),(m)->()")
    def sums(x, y, out):
        out[0] = 0
        for i in range(x.shape[0]):
            out[0] += x[i]
        for i in range(y.shape[0] - 1, -1, -1):
            out[0] -= 3 * y[i]

    x, y = np.arange(5 * n).reshape(5, n) - 7, np.arange(35).reshape(5, 7)
    for rows in (x, x[:, ::-1], np.asfortranarray(x)):
        np.testing.assert_array_equal(sums(rows, y), rows.sum(1) - 3 * y.sum(1))


def test_a_number_may_be_declared_as_an_array_of_one():
    @guvectorize(["void(int32[:], int32[:], int32[:])"], "(n),()->(n)")
    def shift(x, by, out):
        for i in range(len(x)):
            out[i] = x[i] + by[0] * len(by)

    np.testing.assert_array_equal(shift(np.ones((2, 3), "i4"), np.array([1, 5], "i4")), [[2] * 3, [6] * 3])


def test_sizes_that_are_fixed():
    @guvectorize(["void(float64[:], float64[:], float64[:])"], "(3),(3)->(3)")
    def cross(a, b, out):
        for i in range(3):
            j, k = (i + 1) % 3, (i + 2) % 3
            out[i] = a[j] * b[k] - a[k] * b[j]

    a, b = np.random.default_rng(2).uniform(size=(2, 10, 3))
    np.testing.assert_allclose(cross(a, b), np.cross(a, b), rtol=1e-12)
    with pytest.raises(ValueError, match="size 4"):
        cross(np.zeros(4), np.zeros(4))


@pytest.mark.parametrize("target", TARGETS)
def test_without_signatures_calls_say_the_types(target):
    @guvectorize("(n),()->(n)", target=target)
    def scaled(x, factor, out):
        for i in range(x.shape[0]):
            out[i] = x[i] * factor

    out = np.zeros((4, 3))
    assert scaled(np.ones((4, 3)), np.arange(4), out) is out
    np.testing.assert_array_equal(out, np.arange(4)[:, None] * np.ones(3))
    ints = np.zeros(3, np.int32)
    scaled(np.arange(3, dtype=np.int32), np.int32(2), out=ints)
    np.testing.assert_array_equal(ints, [0, 2, 4])
    assert scaled.types == ["dl->d", "ii->i"]
    with pytest.raises(TypeError, match="2 inputs and 1 results, 2 were given\n  hint: pass arrays for the results"):
        scaled(np.ones(3), 2)
    with pytest.raises(TypeError, match="argument 'x', a str"):
        scaled("abc", 2, out)
    scaled.add("void(float32[:], float32, float32[:])")
    assert "ff->f" in scaled.types


def _scaled(x, y, res):
    for i in range(x.shape[0]):
        res[i] = x[i] * y


def test_many_threads_say_new_types():
    """Each compiles a loop while the others do: all are kept, and none is made twice."""
    scaled = guvectorize("(n),()->(n)")(_scaled)
    kinds = [np.int8, np.int16, np.int32, np.int64, np.float32, np.float64, np.complex64, np.complex128]
    start, results = threading.Barrier(2 * len(kinds)), []

    def call(dtype):
        start.wait()
        results.append(scaled(np.arange(3, dtype=dtype), dtype(2), np.zeros(3, dtype)))

    threads = [threading.Thread(target=call, args=(dtype,)) for dtype in kinds * 2]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(result.dtype.char * 2 + "->" + result.dtype.char for result in results) == sorted(scaled.types * 2)
    assert all((result == [0, 2, 4]).all() for result in results)


@pytest.mark.parametrize("order", [(float, int, np.float32), (np.float32, float, int), (int, np.float32, float)])
def test_which_types_came_before_does_not_matter(order):
    scaled = guvectorize("(n),()->(n)")(_scaled)
    for dtype in order:
        x, out = np.arange(3, dtype=dtype), np.zeros(3, dtype)
        scaled(x, dtype(2), out)
        np.testing.assert_array_equal(out, 2 * x)
        result = np.zeros(3, np.float64)
        assert scaled(x, dtype(2), out=result) is result
        np.testing.assert_array_equal(result, 2 * x)
        np.testing.assert_array_equal(scaled(x, dtype(2), np.zeros(3, dtype), casting="no"), 2 * x)


@pytest.mark.parametrize(
    "layout, place, expected",
    [
        ("(n->(n)", 2, "',' or ')'"),
        ("(n)", 3, "',' or '->'"),
        ("(n)-(n)", 4, "'>'"),
        ("n->n", 0, "'('"),
        ("(n),->(n)", 4, "'('"),
        ("(n)->(n", 7, "',' or ')'"),
        ("(n,)->()", 3, "the name or the size"),
        ("(0)->()", 1, "a size that is not 0"),
        ("(n)->(n) x", 9, "',' or the end"),
        ("(n)->(n),", 9, "'('"),
        ("", 0, "'('"),
    ],
)
def test_a_bad_layout_is_shown_with_its_place(layout, place, expected):
    with pytest.raises(ValueError, match=re.escape(expected) + ".* is expected here\n") as caught:
        guvectorize(["void(float64[:], float64[:])"], layout)
    assert str(caught.value).split("\n")[1:3] == ["    " + layout, "    " + " " * place + "^"]


def first(x, out):
    out[0] = x[0]


@pytest.mark.parametrize(
    "signatures, layout, options, error, message",
    [
        (["void(float64[:,:], float64[:])"], "(n)->()", {}, TypeError, "'x' is .*2.* 1 core dimension"),
        (["void(float64, float64[:])"], "(n)->()", {}, TypeError, "'x' is float64 .* 1 core dimension"),
        (["void(float64[:], float64)"], "(n)->()", {}, TypeError, "a result without any is an array of one"),
        (["void(float64[:])"], "(n)->()", {}, TypeError, "1 inputs and 1 results: a signature is void"),
        (["float64(float64[:], float64[:])"], "(n)->()", {}, TypeError, "a signature is void"),
        (["void(float64[:], float64[:])"], "(n),(n)->()", {}, TypeError, "has 2 parameters, .* 2 inputs and 1 result"),
        (["void(float64[:], float64[:])"], "(n)->()", {"target": "tpu"}, ValueError, "'cpu', 'parallel' or 'cuda'"),
        (["void(float64[:], float64[:])"], "(n)->()", {"writable_args": (1,)}, ValueError, "1 is not the number"),
        (["void(float64[:], float64[:])"], "(n)->()", {"writable_args": ("y",)}, ValueError, "'y' is not"),
        (["void(float64[:], float64[:])"], "(n)->()", {"nothing": 1}, TypeError, "guvectorize has no option"),
        (["void(float64[:], float64[:])"], 5, {}, TypeError, "a layout"),
        (["void(float64[:], float64[:])"], "(n)->()", {"layout": "(n)->()"}, TypeError, "multiple values .* 'layout'"),
    ],
)
def test_what_does_not_fit_the_layout_is_told(signatures, layout, options, error, message):
    with pytest.raises(error, match=message):
        guvectorize(signatures, layout, **options)(first)


def test_a_result_is_not_returned():
    with pytest.raises(TypingError, match="returns float64, and the function of a generalised ufunc returns nothing"):
        guvectorize(["void(float64[:], float64[:])"], "(n)->()")(lambda x, out: x[0])


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("writable", [(0,), ("x",)])
def test_inputs_that_are_written_to_are_named(target, writable):
    def doubled(x, out):
        for i in range(len(x)):
            out[i] = 2 * x[i]
            x[i] = -1

    decorate = guvectorize(["void(int64[:], int64[:])"], "(n)->(n)", target=target, writable_args=writable)
    x = np.arange(3000).reshape(1000, 3)
    np.testing.assert_array_equal(decorate(doubled)(x), 2 * np.arange(3000).reshape(1000, 3))
    assert (x == -1).all()
    narrow = np.arange(3, dtype=np.int32)  # converted on the way in, and back
    decorate(doubled)(narrow)
    assert (narrow == -1).all()
    with pytest.raises(TypingError, match="writes to its parameter 'x'.*\n  hint: name it in writable_args"):
        guvectorize(["void(int64[:], int64[:])"], "(n)->(n)")(doubled)


@pytest.mark.parametrize("target", TARGETS)
def test_the_first_exception_ends_the_call(target):
    @guvectorize(["void(int64[:], int64[:])"], "(n)->()", target=target)
    def checked(x, out):
        if x[0] % 1000 == 999:
            raise ValueError("bad row", x[0])
        out[0] = x[1]

    assert checked([[1, 2], [3, 4]]).tolist() == [2, 4]
    rows = np.arange(20000).repeat(2).reshape(-1, 2)
    with pytest.raises(ValueError) as caught:
        checked(rows)
    assert caught.value.args == ("bad row", 999)
    with pytest.raises(IndexError, match="index 1 is out of bounds for axis 0 with size 1"):
        checked([[1]])
    with pytest.raises(ValueError):
        checked([999, 0])


def test_compiled_functions_call_it_with_core_dimensions(matmul):
    @jit
    def twice(a, b, c, d):
        matmul(a, b, c)
        matmul(c, b, d)

    a, b = np.arange(9.0).reshape(3, 3), np.eye(3) * 2
    c, d = np.empty((3, 3)), np.empty((3, 3))
    twice(a, b, c, d)
    np.testing.assert_array_equal(d, 4 * a)


factor = 2


def test_a_changed_global_is_seen():
    global factor

    @guvectorize(["void(int64[:], int64[:])"], "(n)->(n)")
    def scaled(x, out):
        for i in range(len(x)):
            out[i] = factor * x[i]

    for factor in (3, 5):
        assert scaled(np.arange(4)).tolist() == [0, factor, 2 * factor, 3 * factor]
        assert scaled(np.arange(8)[::-2]).tolist() == [7 * factor, 5 * factor, 3 * factor, factor]


def test_pickles():
    local = guvectorize(["void(float64[:], float64[:])"], "(n)->()", target="parallel")(first)
    again = pickle.loads(pickle.dumps(local))
    assert again([4.0, 5.0]) == 4 and again.signature == "(n)->()" and again.targetoptions == local.targetoptions


def test_a_large_call_uses_the_numbers_of_threads_that_there_are():
    @guvectorize(["void(float64[:], float64[:])"], "(n)->(n)", target="parallel")
    def running(x, out):
        total = 0.0
        for i in range(len(x)):
            total += x[i]
            out[i] = total

    x = np.random.default_rng(3).uniform(size=(5000, 100))
    np.testing.assert_array_equal(running(x), np.cumsum(x, axis=1))
    assert krait.guvectorize is guvectorize


# ---- target 'cuda': the GPU, or the host device ----------------------------------------------------------------------


@pytest.fixture(scope="module")
def on_device():
    return guvectorize(SIGNATURES, "(m,n),(n,p)->(m,p)", target="cuda")(product)


@given(st.data())
@settings(max_examples=examples(15))
def test_a_kernel_agrees_with_numpys_own_matmul(on_device, data):
    m, n, p = (data.draw(st.integers(0, 4)) for _ in range(3))
    outer = data.draw(st.lists(st.integers(0, 3), max_size=2))
    a, b = data.draw(operand(m, n, outer)), data.draw(operand(n, p, outer))
    expected = np.matmul(a.astype(np.complex128), b.astype(np.complex128))
    got = on_device(a, b)
    assert isinstance(got, np.ndarray) and got.dtype == next(
        t for t in "lfdD" if all(np.can_cast(x.dtype, t) for x in (a, b))
    )
    np.testing.assert_array_equal(got, expected)
    mixed = on_device(cuda.to_device(np.ascontiguousarray(a)), b)
    assert cuda.is_cuda_array(mixed)
    np.testing.assert_array_equal(mixed.copy_to_host(), expected)


def test_results_of_a_kernel_go_where_they_are_wanted(on_device):
    a, b = np.arange(24.0).reshape(2, 3, 4), np.arange(20.0).reshape(4, 5)
    host, device, narrow = np.empty((2, 3, 5)), cuda.device_array((2, 3, 5)), np.empty((2, 3, 5), np.float32)
    assert on_device(a, b, out=host) is host and on_device(a, b, device) is device and on_device(a, b, narrow) is narrow
    for out in (host, device.copy_to_host(), narrow):
        np.testing.assert_array_equal(out, a @ b)
    stream = cuda.stream()
    d_a, d_b = cuda.to_device(a, stream=stream), cuda.to_device(b, stream=stream)
    np.testing.assert_array_equal(on_device(d_a, d_b, stream=stream).copy_to_host(stream=stream), a @ b)
    with pytest.raises(ValueError, match="core dimension n of operand 1 has size 3, not 4"):
        on_device(a, a)
    with pytest.raises(ValueError, match=r"a result has the shape \(2, 3, 5\)"):
        on_device(a, b, out=np.empty((3, 5)))
    with pytest.raises(TypeError, match="2 inputs and, if any, 1 results"):
        on_device(a)


def test_numbers_and_several_results_of_a_kernel():
    @guvectorize(["void(float64[:], float64, float64[:], int64[:])"], "(n),()->(),()", target="cuda")
    def below(x, limit, total, count):
        total[0] = 0
        count[0] = 0
        for value in x:
            if value < limit:
                total[0] += value
                count[0] += 1

    x, limits = np.random.default_rng(1).uniform(0, 1, (300, 50)), np.linspace(0, 1, 300)
    total, count = below(x, limits)
    np.testing.assert_array_equal(count, (x < limits[:, None]).sum(1))
    np.testing.assert_allclose(total, np.where(x < limits[:, None], x, 0).sum(1), rtol=1e-13)
    total, count = below(x[0], 2)
    assert count == 50 and np.shape(total) == ()
    total, count = below(cuda.to_device(x), 0.5)
    np.testing.assert_array_equal(count.copy_to_host(), (x < 0.5).sum(1))


def test_a_kernel_without_signatures_and_inputs_that_it_writes_to():
    @guvectorize("(n),()->(n)", target="cuda", writable_args=("x",))
    def scaled(x, factor, out):
        for i in range(x.shape[0]):
            out[i] = x[i] * factor
            x[i] = -1

    x, out = np.ones((4, 3)), np.zeros((4, 3))
    assert scaled(x, np.arange(4), out) is out
    np.testing.assert_array_equal(out, np.arange(4)[:, None] * np.ones(3))
    assert (x == -1).all()


@pytest.mark.parametrize("target", ["cpu", "parallel", "cuda"])
def test_dimensions_that_may_be_missing(target):
    multiply = guvectorize(["void(float64[:,:], float64[:,:], float64[:,:])"], "(m?,n),(n,p?)->(m?,p?)",
                           target=target)(product)  # fmt: skip
    rng = np.random.default_rng(5)
    a, b = rng.random((2, 3, 4)), rng.random((4, 5))
    for x, y in [(a, b), (a[0, 0], b), (a, b[:, 0]), (a[0, 0], b[:, 0]), (a[:, 0], b[:, 0].copy())]:
        expected = np.matmul(x, y)
        got = multiply(x, y)
        assert got.shape == expected.shape
        np.testing.assert_allclose(got, expected, rtol=1e-12)
        if expected.shape:
            out = np.zeros_like(expected)
            multiply(x, y, out=out)
            np.testing.assert_allclose(out, expected, rtol=1e-12)
    if target == "cuda":
        got = multiply(cuda.to_device(a), cuda.to_device(b[:, 0].copy()))
        assert cuda.is_cuda_array(got)
        np.testing.assert_allclose(got.copy_to_host(), a @ b[:, 0], rtol=1e-12)
    with pytest.raises(ValueError):
        multiply(a, b[0])
    with pytest.raises(ValueError):
        multiply(a, 2.0)


@pytest.mark.parametrize("target", ["cpu", "parallel", "cuda"])
def test_numbers_declared_as_arrays_of_one(target):
    @guvectorize(["void(float64[:], float64[:], float64[:])"], "(n),()->(n)", target=target)
    def shifted(x, by, out):
        for i in range(len(x)):
            out[i] = x[i] + by[0]

    x = np.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(shifted(x, 2.5), x + 2.5)
    np.testing.assert_array_equal(shifted(x, np.array([1.0, 2.0])), x + [[1], [2]])
    np.testing.assert_array_equal(shifted(x[0], 1.0), x[0] + 1)
    np.testing.assert_array_equal(shifted(np.arange(3), 2), [2, 3, 4])  # converted


@pytest.mark.parametrize("target", ["cpu", "parallel", "cuda"])
def test_types_of_variables_hold_wherever_it_is_called(target):
    @guvectorize(["void(float64[:], float64[:])"], "(n)->(n)", locals={"t": krait.float32}, target=target)
    def scaled(x, out):
        for i in range(len(x)):
            t = x[i] * 1.1
            out[i] = t

    x = np.arange(1.0, 7.0).reshape(2, 3)
    expected = (x * 1.1).astype(np.float32)
    np.testing.assert_array_equal(scaled(x), expected)
    np.testing.assert_array_equal(jit(lambda x: scaled(x))(x), expected)


@pytest.mark.parametrize("text", ["int64[:], int64, int64[:]", "(int64[:], int64, int64[:])"])
def test_signatures_need_no_result(text):
    @guvectorize([text], "(n),()->(n)")
    def moved(x, by, out):
        for i in range(len(x)):
            out[i] = x[i] + by

    assert moved(np.arange(3), 5).tolist() == [5, 6, 7] and moved.types == ["ll->l"]


class SaysArray:
    def __init__(self, values):
        self.values = values

    def __array__(self, dtype=None, copy=None):
        return self.values if dtype is None else self.values.astype(dtype)


@pytest.mark.parametrize("target", ["cpu", "parallel", "cuda"])
@pytest.mark.parametrize("signatures", [[], [["void(float64[:], float64[:])"]]], ids=["dynamic", "signature"])
def test_operands_that_numpy_makes_arrays_of(target, signatures):
    @guvectorize(*signatures, "(n)->(n)", target=target)
    def doubled(x, out):
        for i in range(x.shape[0]):
            out[i] = 2 * x[i]

    x = np.arange(6.0).reshape(2, 3)
    for given in (SaysArray(x), memoryview(x), x.tolist()):
        out = np.zeros((2, 3))
        doubled(given, out)
        np.testing.assert_array_equal(out, 2 * x)
