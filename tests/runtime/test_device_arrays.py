"""Device arrays compute what NumPy computes: operators, casts, copies, reductions, indices, views; and other libraries
take their memory and give theirs.  The same programs run on the host device and on a GPU."""

import contextlib
import operator
import pickle

import numpy as np
import pytest
from conftest import ON_HOST, on_the_gpu

import krait
from krait import cuda
from krait.cuda import _operators as operators
from krait.cuda import _reduction as reduction
from krait.errors import TypingError

DTYPES = ["f8", "f4", "i8", "i4", "i2", "u1", "u8", "?", "c16"]


def sample(dtype, shape=(3, 4), seed=0):
    numbers = np.random.default_rng(seed).integers(0, 5, shape)
    array = numpy_array = numbers.astype(dtype)
    return array + 1j * numpy_array.T.reshape(shape) if np.dtype(dtype).kind == "c" else array


def agree(device, expected):
    """The same dtype, shape and elements; of floats up to the rounding that another order of additions makes."""
    assert isinstance(device, cuda.DeviceArray)
    host, expected = device.copy_to_host(), np.asarray(expected)
    assert host.dtype == expected.dtype and host.shape == expected.shape == device.shape
    if expected.dtype.kind in "fc":
        np.testing.assert_allclose(host, expected, rtol=2e-6 if expected.dtype.itemsize in (4, 8) else 1e-12)
    else:
        np.testing.assert_array_equal(host, expected)


# ---- operators ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "u1"])
@pytest.mark.parametrize(
    "operate",
    [
        lambda a, b: a + b, lambda a, b: a - b, lambda a, b: a * b, lambda a, b: a / (b + 1),
        lambda a, b: a // (b + 1), lambda a, b: a % (b + 1), lambda a, b: a ** b, lambda a, b: 2 * a - b * 3,
        lambda a, b: a < b, lambda a, b: a <= 2, lambda a, b: a == b, lambda a, b: a != b, lambda a, b: a > b,
        lambda a, b: 1 >= b, lambda a, b: +a, lambda a, b: abs(a),
    ],
)
def test_operators(operate, dtype):
    a, b = sample(dtype), sample(dtype, seed=1)
    agree(operate(cuda.to_device(a), cuda.to_device(b)), operate(a, b))


@pytest.mark.parametrize(
    "operate",
    [lambda a, b: a & b, lambda a, b: a | b, lambda a, b: a ^ b, lambda a, b: ~a, lambda a, b: a << b,
     lambda a, b: a >> b, lambda a, b: -a],
)
def test_operators_of_integers(operate):
    a, b = sample("i4"), sample("i4", seed=1)
    agree(operate(cuda.to_device(a), cuda.to_device(b)), operate(a, b))


def test_operands_are_broadcast_and_may_lie_on_the_host():
    a, row = sample("f8"), np.arange(4.0)
    d = cuda.to_device(a)
    agree(d + row, a + row)
    agree(row - d, row - a)
    agree(d[:, :1] * d[0], a[:, :1] * a[0])
    agree(np.float32(2) * d, np.float32(2) * a)
    agree(np.maximum(d, row), np.maximum(a, row))
    agree(d + [1, 2, 3, 4], a + [1, 2, 3, 4])
    agree([1, 2, 3, 4] + d, a + [1, 2, 3, 4])
    agree(np.sqrt(d), np.sqrt(a))


def test_ufuncs_that_compiled_code_does_not_have():
    """They get the elements on the host."""
    a = sample("f8")
    d = cuda.to_device(a)

    @krait.vectorize(["float64(float64)"])
    def half(x):
        return x / 2

    np.testing.assert_array_equal(half(d), a / 2)
    np.testing.assert_array_equal(np.add.accumulate(d, axis=1), np.add.accumulate(a, axis=1))
    np.testing.assert_array_equal(np.add.outer(d[0], [1, 2]), np.add.outer(a[0], [1, 2]))
    np.testing.assert_array_equal(np.add(d, 1, dtype=np.float32), np.add(a, 1, dtype=np.float32))
    assert all((x == y).all() for x, y in zip(np.modf(d), np.modf(a)))
    agree(np.add.reduce(d), np.add.reduce(a))
    assert np.maximum.reduce(d, axis=None) == a.max()


def test_complex_to_real():
    a = sample("c16")
    out = cuda.device_array(a.shape, np.float32)
    operators.assign(out, cuda.to_device(a))  # the kernel that a GPU casts by
    agree(out, a.real.astype(np.float32))


def test_in_place():
    a = sample("i4")
    d = cuda.to_device(a)
    alias = d
    d += 5
    d *= cuda.to_device(a)
    assert alias is d
    agree(d, (a + 5) * a)
    with pytest.raises(TypeError, match="does not go into int32"):
        d += 1.5
    agree(d, (a + 5) * a)


def test_operators_refuse_what_is_no_number():
    d = cuda.to_device(sample("f8"))
    with pytest.raises(TypeError):
        d + "text"
    with pytest.raises(TypeError):
        d += None
    assert (d == "text") is False and (d != None) is True  # noqa: E711  objects that know nothing of each other


def test_truth_and_numbers():
    assert float(cuda.to_device(np.array(2.5))) == 2.5 and int(cuda.to_device(np.array(7))) == 7
    assert bool(cuda.to_device(np.array([True]))) and not cuda.to_device(np.zeros(1))
    with pytest.raises(ValueError, match="ambiguous"):
        bool(cuda.to_device(np.ones(2)))
    with pytest.raises(TypeError):
        [1, 2, 3][cuda.to_device(np.array(1.0))]
    assert [1, 2, 3][cuda.to_device(np.array(1))] == 2


# ---- casts, copies, filling -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("to", ["f8", "f4", "i8", "i2", "?"])
def test_astype(dtype, to):
    a = sample(dtype)
    if a.dtype.kind == "c":
        with pytest.raises(TypeError, match="cannot cast"):
            cuda.to_device(a).astype(to, casting="same_kind")
        return
    agree(cuda.to_device(a).astype(to), a.astype(to))
    agree(cuda.to_device(a).T[1:].astype(to), a.T[1:].astype(to))


def test_astype_without_a_copy():
    d = cuda.to_device(sample("f8"))
    assert d.astype("f8", copy=False) is d and d.astype("f8") is not d


@pytest.mark.parametrize("dtype", DTYPES)
def test_copies(dtype):
    a = sample(dtype, (4, 6))
    d = cuda.to_device(a)
    for view in (lambda x: x, lambda x: x.T, lambda x: x[::2, 1::3], lambda x: x[::-1], lambda x: x[:0]):
        copied = view(d).copy()
        agree(copied, view(a))
        assert copied.is_c_contiguous()
    agree(d.copy("F"), a)
    assert d.copy("F").is_f_contiguous()
    d.copy()[...] = 0
    agree(d, a)


def test_assignment_to_parts():
    a = sample("f8", (4, 6))
    d = cuda.to_device(a)
    for array in (a, d):
        array[1] = 7
        array[:, 2] = np.arange(4, dtype=np.int16)
        array[::2, ::-3] = array[1::2, ::3]
        array[3, 3] = -1
        array[0] = [1, 2, 3, 4, 5, 6]
        array.T[4:] = array.T[:2]
    agree(d, a)
    with pytest.raises(ValueError):
        d[0] = np.ones(5)


def test_fill():
    d = cuda.device_array((3, 5), np.int16)
    d.fill(3)
    agree(d, np.full((3, 5), 3, np.int16))
    d[:, 1::2].fill(9)
    expected = np.full((3, 5), 3, np.int16)
    expected[:, 1::2] = 9
    agree(d, expected)


def test_elements():
    a = sample("i4")
    d = cuda.to_device(a)
    assert d.tolist() == a.tolist() and d.item(5) == a.item(5) and d[1, 2] == a[1, 2]
    assert [row.tolist() for row in d] == a.tolist()
    assert list(d[0]) == list(a[0])
    agree(d.flatten(), a.flatten())
    agree(d.clip(1, 3), a.clip(1, 3))
    with pytest.raises(IndexError):
        d[3]


# ---- reductions -----------------------------------------------------------------------------------------------------

AXES = [None, 0, 1, -1, (0, 2), (0, 1, 2)]


@pytest.mark.parametrize("name", ["sum", "prod", "min", "max", "any", "all", "mean", "var", "std"])
@pytest.mark.parametrize("dtype", ["f8", "f4", "i4", "u1", "?"])
def test_reductions(name, dtype):
    if dtype == "?" and name in ("var", "std"):
        pytest.skip("NumPy subtracts no bools")
    a = sample(dtype, (3, 4, 5))
    d = cuda.to_device(a)
    for axis in AXES:
        expected = getattr(a, name)(axis=axis)
        got = getattr(d, name)(axis=axis)
        if axis is None:
            assert type(got) is type(expected)
            np.testing.assert_allclose(got, expected, rtol=1e-6)
        else:
            agree(got, expected)
        agree(getattr(d, name)(axis=axis, keepdims=True), getattr(a, name)(axis=axis, keepdims=True))
    agree(getattr(d.T, name)(axis=0), getattr(a.T, name)(axis=0))
    np.testing.assert_allclose(getattr(np, name)(d), getattr(np, name)(a), rtol=1e-6)


@pytest.mark.parametrize("name", ["argmin", "argmax"])
def test_where_the_least_and_the_greatest_are(name):
    a = sample("f8", (4, 7))
    for axis in (None, 0, 1):
        expected, got = getattr(a, name)(axis=axis), getattr(cuda.to_device(a), name)(axis=axis)
        np.testing.assert_array_equal(got if axis is None else got.copy_to_host(), expected)


def test_reductions_of_nothing():
    d = cuda.device_array((0, 3))
    agree(d.sum(axis=0), np.zeros(3))
    assert d.sum() == 0 and d.prod() == 1
    agree(d.sum(axis=1), np.zeros(0))
    with pytest.raises(ValueError):
        d.min()


def test_reductions_into_an_array():
    a = sample("i4")
    out = cuda.device_array(4, np.int64)
    assert cuda.to_device(a).sum(axis=0, out=out) is out
    agree(out, a.sum(axis=0))
    assert cuda.to_device(a).sum(dtype=np.float32).dtype == np.float32


@pytest.mark.parametrize("name", ["sum", "prod", "min", "max", "any", "all", "argmin", "argmax"])
@pytest.mark.parametrize("length", [1, 2, 255, 256, 257, 5000])
def test_kernels_of_reductions(name, length):
    """The host device leaves reductions to NumPy: here their kernels run on either device."""
    a = sample("f4" if name != "sum" else "i4", (2, length), seed=length)
    a[1, length // 2] = 9
    dtype = reduction._accumulator(name, cuda.to_device(a), None)
    agree(reduction.reduce_on_device(name, cuda.to_device(a), (1,), dtype), getattr(a, name)(axis=1))


@pytest.mark.parametrize("name", ["min", "max", "argmin", "argmax"])
def test_kernels_of_reductions_keep_nan(name):
    a = np.arange(600.0).reshape(2, 300)
    a[1, [40, 290]] = np.nan
    dtype = np.dtype(np.int64 if name.startswith("arg") else np.float64)
    got = reduction.reduce_on_device(name, cuda.to_device(a), (1,), dtype)
    np.testing.assert_array_equal(got.copy_to_host(), getattr(a, name)(axis=1))


def test_kernels_of_many_short_rows():
    a = sample("i4", (reduction._MANY + 3, 5))
    agree(reduction.reduce_on_device("sum", cuda.to_device(a), (1,), np.dtype(np.int64)), a.sum(axis=1))


def test_reduce():
    total, most = cuda.reduce(lambda a, b: a + b), cuda.Reduce(lambda a, b: a if a > b else b)
    for size in (1, 31, 32, 1000, 70000):
        a = np.random.default_rng(size).integers(-50, 50, size)
        assert total(a) == a.sum() and most(cuda.to_device(a)) == a.max()
    a = np.arange(10, dtype=np.float32)
    assert total(a, init=5) == 50 and total(a, size=4) == 6 and total(a, size=0, init=3) == 3
    assert total(a).dtype == np.float32
    res = cuda.device_array(3, np.float32)
    assert total(cuda.to_device(a), res=res) is None and res[0] == 45
    with pytest.raises(TypeError, match="one dimension"):
        total(np.ones((2, 2)))


def test_reduce_as_a_decorator():
    @cuda.reduce
    def product(a, b):
        return a * b

    assert product(np.array([2, 3, 7])) == 42


# ---- indices with arrays --------------------------------------------------------------------------------------------

KEYS = [
    lambda a: [0, 2], lambda a: np.array([2, -1, 0]), lambda a: a > 2, lambda a: (slice(None), [1, 2]),
    lambda a: ([0, 1], [2, 1]), lambda a: np.array([[0, 1], [2, 0]]), lambda a: a[:, 0] > 1,
    lambda a: np.zeros(a.shape, bool), lambda a: [],
]


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("functions", [("take", "put"), ("take_on_device", "put_on_device")])
def test_indices_with_arrays(key, functions):
    take, put = (getattr(operators, name) for name in functions)
    a = sample("i4")
    d = cuda.to_device(a)
    index = key(a)
    agree(d[index], a[index])
    agree(take(d, index), a[index])
    agree(take(d.T, key(a.T)), a.T[key(a.T)])
    put(d, index, 50)
    a[index] = 50
    agree(d, a)
    put(d.T, key(a.T), 60)
    a.T[key(a.T)] = 60
    agree(d, a)


def test_indices_that_lie_on_the_device():
    a = sample("i4")
    d = cuda.to_device(a)
    agree(d[d > 2], a[a > 2])
    d[d > 2] = 0
    agree(d, np.where(a > 2, 0, a))
    vector = np.arange(10) * 10
    agree(cuda.to_device(vector)[cuda.to_device(np.array([3, 1, -1]))], vector[[3, 1, -1]])
    values = cuda.to_device(vector)
    values[[1, 2]] = cuda.to_device(np.array([5, 6]))
    agree(values, np.array([0, 5, 6, *vector[3:]]))


@pytest.mark.parametrize("index", [[10], [-11], np.array([0, 99])])
def test_indices_are_checked(index):
    for take in (operators.take, operators.take_on_device):
        with pytest.raises(IndexError):
            take(cuda.to_device(np.arange(10)), index)


# ---- shapes ---------------------------------------------------------------------------------------------------------


def test_reshape_copies_only_where_numpy_does():
    a = np.arange(24).reshape(4, 6)
    d = cuda.to_device(a)
    agree(d.T.reshape(3, 8), a.T.reshape(3, 8))
    agree(d.T.reshape(3, 8, order="F"), a.T.reshape(3, 8, order="F"))
    agree(d[:, ::2].ravel(), a[:, ::2].ravel())
    agree(d.T.ravel("A"), a.T.ravel("A"))
    d.T.reshape(6, 2, 2)[0] = 100  # a view: an axis is divided
    a.T.reshape(6, 2, 2)[0] = 100
    agree(d, a)
    with pytest.raises(ValueError, match="reshape"):
        d.reshape(5, 5)


def test_flags_and_base():
    d = cuda.to_device(np.ones((3, 4)))
    assert d.flags.c_contiguous and d.flags["C_CONTIGUOUS"] and d.T.flags.f_contiguous
    assert not d[:, 1:].flags.c_contiguous
    assert d.base is None and d[1].base is d and d[1][2:].base is d
    assert d.device_ctypes_pointer.value > 0


def test_arrays_without_elements():
    for shape in (0, (0, 4), (3, 0, 2)):
        d = cuda.device_array(shape, np.float32)
        expected = np.empty(shape, np.float32)
        agree(d, expected)
        agree(d + 1, expected + np.float32(1))
        agree(d.T.copy(), expected.T)
        agree(d.reshape(-1), expected.reshape(-1))
        d[...] = 5
        d.fill(1)
        assert d.nbytes == 0


# ---- other homes ----------------------------------------------------------------------------------------------------


def test_pickle():
    a = np.arange(6.0).reshape(2, 3)
    for d in (cuda.to_device(a), cuda.to_device(a).T, cuda.to_device(a)[:, 1:]):
        agree(pickle.loads(pickle.dumps(d)), d.copy_to_host())


def test_dlpack_there_and_back():
    """A device array that goes out and comes back is the same memory."""
    d = cuda.to_device(np.arange(6.0).reshape(2, 3))

    class Other:
        def __init__(self, array):
            self.array = array

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

        def __dlpack__(self, **options):
            return self.array.__dlpack__(**options)

    class Old(Other):
        def __dlpack__(self, stream=None):
            return self.array.__dlpack__(stream=stream)

    for kind in (Other, Old):
        back = cuda.from_dlpack(kind(d[:, 1:]))
        assert back.strides == d[:, 1:].strides and back.dtype == d.dtype
        back[0, 0] = 50
        assert d[0, 1] == 50
        d[0, 1] = 1
    capsule = d.__dlpack__()
    agree(cuda.from_dlpack(capsule), d.copy_to_host())
    with pytest.raises(BufferError, match="taken already"):
        cuda.from_dlpack(capsule)
    copied = cuda.from_dlpack(d.__dlpack__(copy=True))
    copied[...] = 0
    assert d[1, 2] == 5


def test_dlpack_keeps_memory_alive():
    d = cuda.to_device(np.arange(1000.0))
    back = cuda.from_dlpack(d.__dlpack__(max_version=(1, 0)))
    capsule = d.__dlpack__()
    del d
    for _ in range(10):
        cuda.device_array(1000)[...] = -1
    np.testing.assert_array_equal(back.copy_to_host(), np.arange(1000.0))
    np.testing.assert_array_equal(cuda.from_dlpack(capsule).copy_to_host(), np.arange(1000.0))


@pytest.mark.parametrize(
    ("wrong", "words"),
    [({"dl_device": 5}, "dl_device is None or a tuple"), ({"dl_device": (1,)}, "dl_device is None or a tuple"),
     ({"dl_device": ("a", 0)}, "dl_device is None or a tuple"), ({"max_version": "a"}, "max_version is None"),
     ({"max_version": ()}, "max_version is None"), ({"max_version": ("a", 0)}, "max_version is None"),
     ({"stream": "a"}, "integer"), ({"copy": "a"}, "copy is None or a bool")],
)
def test_dlpack_refuses_arguments_of_other_types(wrong, words):
    d = cuda.to_device(np.arange(3.0))
    with pytest.raises(TypeError, match=words):
        d.__dlpack__(**wrong)
    agree(cuda.from_dlpack(d.__dlpack__(max_version=(np.int64(1), 0))), np.arange(3.0))


@pytest.mark.parametrize("dtype", DTYPES)
def test_numpy_takes_the_elements(dtype):
    a = sample(dtype)
    np.testing.assert_array_equal(np.from_dlpack(cuda.to_device(a), device="cpu"), a)
    np.testing.assert_array_equal(np.asarray(cuda.to_device(a)), a)


def test_kernels_take_what_speaks_dlpack():
    class Tensor:
        def __init__(self, array):
            self.array = array

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

        def __dlpack__(self, **options):
            return self.array.__dlpack__(**options)

    @cuda.jit
    def double(x):
        i = cuda.grid(1)
        if i < x.size:
            x[i] *= 2

    d = cuda.to_device(np.arange(5.0))
    double[1, 32](Tensor(d))
    agree(d, 2 * np.arange(5.0))


@on_the_gpu
def test_cuda_array_interface():
    d = cuda.to_device(np.arange(6.0).reshape(2, 3))
    again = cuda.from_cuda_array_interface(d.T.__cuda_array_interface__, owner=d)
    again[0, 1] = 70
    assert d[1, 0] == 70 and cuda.is_cuda_array(d) and not cuda.is_cuda_array(np.ones(2))


def test_a_declared_array_of_vectors_takes_structs_that_lie_as_they_must():
    @cuda.jit("void(float32x4[::1], float32[::1])")
    def lengths(x, out):
        i = cuda.grid(1)
        if i < x.size:
            out[i] = x[i].x + 10 * x[i].w

    four = np.dtype([(name, np.float32) for name in "xyzw"])
    numbers = cuda.to_device(np.arange(24, dtype=np.float32))
    out = cuda.device_array(6, np.float32)
    lengths[1, 32](numbers.view(four), out)
    assert list(out.copy_to_host()) == [4 * i + 10 * (4 * i + 3) for i in range(6)]
    for wrong in (numbers[1:21].view(four), numbers.view(np.complex128)):  # the former at no multiple of 16 bytes
        with pytest.raises(TypeError, match="no signature"):
            lengths[1, 32](wrong, out)


@pytest.mark.parametrize("name", ["sum", "max", "mean", "any"])
@pytest.mark.parametrize("axis, keepdims, shape", [(None, False, (1,)), (None, True, ()), (0, False, (1, 4))])
def test_reductions_into_an_array_of_another_shape(name, axis, keepdims, shape):
    a = np.arange(12.0).reshape(3, 4)
    for array, out in ((a, np.zeros(shape)), (cuda.to_device(a), cuda.device_array(shape))):
        with pytest.raises(ValueError):
            getattr(array, name)(axis=axis, keepdims=keepdims, out=out)


def test_a_reduction_into_no_element():
    total, numbers = cuda.reduce(lambda a, b: a + b), cuda.to_device(np.arange(5))
    with pytest.raises(ValueError, match="res has no element"):
        total(numbers, res=cuda.device_array(0, np.int64))
    res = cuda.device_array(1, np.int64)
    total(numbers[:0], res=res, init=7)
    assert res.copy_to_host() == 7


@cuda.jit
def count_up(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] += 1


def test_an_array_of_numpy_lies_on_the_host_though_it_speaks_dlpack():
    x = np.zeros(3)
    with contextlib.suppress(BufferError, TypeError, ValueError):  # which does not lie on a GPU
        cuda.from_dlpack(x)
    count_up[1, 32](x)
    assert x.tolist() == [1, 1, 1]


def test_streams_and_orders_are_looked_at():
    x = cuda.to_device(np.arange(6.0))
    stream = cuda.stream()
    assert x.getitem(2, stream=stream) == 2 and x.bind(stream=stream) is x
    agree(x.getitem(np.array([3, 1]), stream=stream), np.array([3.0, 1.0]))
    for use in (lambda: x.getitem(0, stream="s"), lambda: x.bind("s"), lambda: x.ravel(stream="s"),
                lambda: x.split(2, "s"), lambda: cuda.mapped_array(3, stream="s"),
                lambda: cuda.pinned_array(3, stream="s"), lambda: cuda.managed_array(3, stream="s")):
        with pytest.raises(TypeError, match="stream"):
            use()
    for use in (lambda: x.ravel("Z"), lambda: cuda.device_array(3, order="Z"), lambda: cuda.device_array(3, order=""),
                lambda: cuda.pinned_array(3, order="Z"), lambda: cuda.mapped_array(3, order="CF")):
        with pytest.raises(ValueError, match="order"):
            use()
    assert cuda.device_array((2, 3), order="f").is_f_contiguous()


def test_options_of_ufuncs_may_lie_on_the_device():
    x, out = cuda.to_device(np.arange(4.0)), np.zeros(4)
    np.add(x, 1, where=x > 1, out=out)
    np.testing.assert_array_equal(out, [0, 0, 3, 4])


@pytest.mark.skipif(not ON_HOST, reason="memory of the host is given as it is on the host device alone")
def test_read_only_memory_of_others_is_not_written(tmp_path):
    """Writing to a page that a file is mapped to for reading would end the process."""
    np.arange(64.0).tofile(tmp_path / "numbers")
    numbers = np.memmap(tmp_path / "numbers", dtype="f8", mode="r")
    d, plain = cuda.from_dlpack(np.asarray(numbers)), cuda.to_device(np.zeros(64))
    assert not d.flags.writeable
    plus = krait.vectorize(["float64(float64, float64)"], target="cuda")(lambda a, b: a + b)
    halves = krait.vectorize(target="cuda")(lambda a: (a // 2, a % 2))
    ways = (lambda: operator.iadd(d, 1), lambda: operator.imul(d, plain), lambda: np.add(plain, 1, out=d),
            lambda: plus(plain, plain, out=d), lambda: halves(plain, out=(plain, d)),
            lambda: plain.clip(0, 1, out=d), lambda: cuda.to_device(np.ones(64), to=d), lambda: d.fill(1),
            lambda: d.copy_to_device(plain), lambda: np.cumsum(plain, out=d))
    for way in ways:
        with pytest.raises((ValueError, TypingError), match="read-only"):
            way()
    with cuda.graph(), pytest.raises(ValueError, match="read-only"):
        operator.iadd(d, 1)
    assert (d.copy_to_host() == np.arange(64.0)).all()
