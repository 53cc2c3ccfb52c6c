"""reduce of @vectorize functions on device arrays: identity, initial= and where=, as NumPy's ufuncs have them."""

import numpy as np
import pytest

from krait import cuda, jit, vectorize

X = np.arange(12.0).reshape(3, 4)
MASK = X % 3 == 0


@pytest.fixture(scope="module")
def add():
    return vectorize(["float64(float64, float64)"], target="cuda", identity=0)(lambda a, b: a + b)


@pytest.fixture(scope="module")
def larger():
    return vectorize(["float64(float64, float64)"], target="cuda")(lambda a, b: max(a, b))


def on_host(result):
    return result.copy_to_host() if hasattr(result, "copy_to_host") else result


OPTIONS = [
    {},
    {"initial": 5.0},
    {"initial": None},
    {"where": MASK},
    {"where": MASK, "initial": 7.0},
    {"where": MASK[0]},
    {"where": MASK, "axis": 1},
    {"where": MASK, "axis": None, "initial": 1.0},
    {"where": MASK, "keepdims": True},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("mask_on_device", [False, True])
def test_options(add, larger, options, mask_on_device):
    given = dict(options)
    if mask_on_device and "where" in options:
        given["where"] = cuda.to_device(np.ascontiguousarray(options["where"]))
    array = cuda.to_device(X)
    assert np.array_equal(on_host(add.reduce(array, **given)), np.add.reduce(X, **options))
    if "initial" in options or "where" not in options:
        assert np.array_equal(on_host(larger.reduce(array, **given)), np.maximum.reduce(X, **options))


def test_out_and_other_layouts(add):
    out = cuda.to_device(np.zeros(4))
    add.reduce(cuda.to_device(X), initial=2.0, out=out)
    assert np.array_equal(out.copy_to_host(), X.sum(0) + 2)
    turned = cuda.to_device(X).transpose()
    assert np.array_equal(on_host(add.reduce(turned, where=MASK.T)), np.add.reduce(X.T, where=MASK.T))


def test_without_elements(add, larger):
    empty = cuda.to_device(np.zeros((0, 3)))
    assert np.array_equal(on_host(add.reduce(empty)), np.zeros(3))
    assert add.reduce(cuda.to_device(np.zeros(0)), axis=None) == 0.0
    assert np.array_equal(on_host(larger.reduce(empty, initial=3.0)), np.full(3, 3.0))
    with pytest.raises(ValueError, match="no identity"):
        larger.reduce(empty)


def test_a_choice_needs_an_identity(larger):
    with pytest.raises(ValueError, match="does not have an identity"):
        larger.reduce(cuda.to_device(X), where=MASK)


def test_a_mask_is_of_bool(add):
    with pytest.raises(TypeError, match="where must be"):
        add.reduce(cuda.to_device(X), where=np.ones((3, 4)))


def of_numpy(function, *given, **options):
    try:
        return function(*given, **options)
    except Exception as error:
        return error


def check(ours, theirs):
    """ours, of a function of device arrays, beside theirs, of the same function of NumPy's arrays."""
    if isinstance(theirs, Exception):
        with pytest.raises(type(theirs)):
            ours()
        return
    result = np.asarray(on_host(ours()))
    assert result.dtype == theirs.dtype and result.shape == theirs.shape
    np.testing.assert_array_equal(result, theirs)


# ---- chosen elements, and a function that has no identity ----------------------------------------------------------


@pytest.mark.parametrize("rows, length", [(1, 1), (1, 300), (3, 2047), (2, 70_000), (5000, 3), (0, 4), (4, 0)])
@pytest.mark.parametrize("chosen", ["none", "few", "all", "first", "last"])
def test_chosen_elements_without_an_identity(larger, rows, length, chosen):
    rng = np.random.default_rng(rows + length)
    x = rng.standard_normal((rows, length))
    few = rng.random(x.shape) < 0.01
    mask = {"none": np.zeros(x.shape, bool), "few": few, "all": np.ones(x.shape, bool)}.get(chosen)
    if mask is None:
        mask = np.zeros(x.shape, bool)
        mask[:, : 1 if chosen == "first" else None][:, -1:] = True
    d = cuda.to_device(x)
    for axis in (1, 0):
        theirs = np.maximum.reduce(x, axis=axis, where=mask, initial=-0.5)
        check(lambda axis=axis: larger.reduce(d, axis=axis, where=cuda.to_device(mask), initial=-0.5), theirs)


def test_each_chosen_element_is_taken_once():
    plus = vectorize(["int64(int64, int64)"], target="cuda")(lambda a, b: a + b)  # no identity
    x = np.arange(12_000).reshape(3, 4000)
    mask = x % 7 == 3
    result = plus.reduce(cuda.to_device(x), axis=1, where=mask, initial=1000)
    assert isinstance(result, cuda.DeviceArray)
    np.testing.assert_array_equal(result.copy_to_host(), x.sum(axis=1, where=mask, initial=1000))


def test_masks_that_broadcast(larger):
    d = cuda.to_device(X)
    for mask in (X[0] > 1, (X[:, :1] > 3), np.array(True)):
        theirs = np.maximum.reduce(X, where=mask, initial=0.5)
        check(lambda mask=mask: larger.reduce(d, where=cuda.to_device(mask), initial=0.5), theirs)


# ---- the loops that there are, axes, numbers ------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["int8", "uint8", "bool", "int32", "float16", "float32", "int64"])
def test_a_reduction_runs_in_the_loop_that_numpy_takes(dtype):
    signatures = ["int64(int64, int64)", "float32(float32, float32)", "float64(float64, float64)"]
    ours, theirs = (vectorize(signatures, target=t, identity=0)(lambda a, b: a + b) for t in ("cuda", "cpu"))
    x = (np.arange(240).reshape(2, 120) % 2 + (100 if dtype in ("int8", "uint8") else 0)).astype(dtype)
    d = cuda.to_device(x)
    for options in ({}, {"axis": 1}, {"dtype": "float64"}, {"initial": 3, "axis": 1}, {"axis": 1, "where": x > 0}):
        check(lambda options=options: ours.reduce(d, **options), theirs.reduce(x, **options))
    for options in ({}, {"axis": 1}, {"dtype": "float64"}):
        check(lambda options=options: ours.accumulate(d, **options), theirs.accumulate(x, **options))
    with pytest.raises(TypeError):
        ours.reduce(d, dtype="complex128")


@pytest.mark.parametrize("axis", [None, 0, -1, 1, (), (0,), (0, 0), (1, 0)])
@pytest.mark.parametrize("shape", [(), (3,), (0,), (3, 2)])
def test_axes_as_numpy_takes_them(add, axis, shape):
    x = np.ones(shape) * 2
    d = cuda.to_device(x)
    check(lambda: add.reduce(d, axis=axis), of_numpy(np.add.reduce, x, axis=axis))
    check(lambda: add.reduce(d, axis=axis, keepdims=True), of_numpy(np.add.reduce, x, axis=axis, keepdims=True))
    if shape:
        check(lambda: add.accumulate(d, axis=axis), of_numpy(np.add.accumulate, x, axis=axis))
    else:
        with pytest.raises(TypeError, match="cannot accumulate on a scalar"):
            add.accumulate(d)


def test_initial_none_means_no_identity(add):
    with pytest.raises(ValueError, match="no identity"):
        add.reduce(cuda.to_device(np.zeros(0)), initial=None)
    with pytest.raises(ValueError, match="does not have an identity"):
        add.reduce(cuda.to_device(X), where=MASK, initial=None)


# ---- at, outer, reduceat --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int64"])
@pytest.mark.parametrize("target", ["cpu", "parallel", "cuda"])
def test_an_identity_of_all_bits(dtype, target):
    both = vectorize([f"{dtype}({dtype}, {dtype})"], identity=-1, target=target)(lambda a, b: a & b)
    assert both.identity == np.bitwise_and.identity == -1

    @jit
    def inside(a, rows):
        return both.reduce(a), both.reduce(rows, axis=(0, 1)), both.identity

    place = cuda.to_device if target == "cuda" else np.asarray
    nothing, rows = np.zeros(0, dtype), np.array([[7, 3], [6, 3]]).astype(dtype)
    for a, options in ((nothing, {}), (rows, {"axis": None}), (rows, {"axis": None, "where": np.array([True, False])})):
        want = np.bitwise_and.reduce(a, **options)
        assert on_host(both.reduce(place(a), **options)) == want == both.reduce(a, **options)
    got = inside(nothing, rows)
    assert got == (np.bitwise_and.reduce(nothing), np.bitwise_and.reduce(rows, None), -1) and got[0].dtype == dtype


@pytest.mark.parametrize("identity", [-2, 2, 2**70, 1.0, "any"])
def test_identities_that_numpy_does_not_have(identity):
    with pytest.raises(ValueError, match="identity is 0, 1, -1, None or 'reorderable', not"):
        vectorize(["int64(int64, int64)"], identity=identity)(lambda a, b: a & b)


def test_at_changes_the_device_array(add):
    d = cuda.to_device(np.arange(5.0))
    assert add.at(d, [0, 0, 4], 2.5) is None
    np.testing.assert_array_equal(d.copy_to_host(), [5, 1, 2, 3, 6.5])
    add.at(d, cuda.to_device(np.array([1, 1])), cuda.to_device(np.array([10.0, 20.0])))
    np.testing.assert_array_equal(d.copy_to_host(), [5, 31, 2, 3, 6.5])
    add.at(d[::2], (slice(None),), 1.0)
    np.testing.assert_array_equal(d.copy_to_host(), [6, 31, 3, 3, 7.5])


def test_outer_and_reduceat_of_device_arrays(add):
    x, y = np.arange(6.0).reshape(2, 3), np.arange(4.0)
    d = cuda.to_device(x)
    for first, second in ((d, cuda.to_device(y)), (d, y), (x, cuda.to_device(y)), (d.T, y), (d, 2.0), (1, d)):
        result = add.outer(first, second)
        assert isinstance(result, cuda.DeviceArray)
        theirs = np.add.outer(on_host(first), on_host(second))
        np.testing.assert_array_equal(result.copy_to_host(), theirs)
    result = add.reduceat(d, [0, 2], axis=1)
    assert isinstance(result, cuda.DeviceArray)
    np.testing.assert_array_equal(result.copy_to_host(), np.add.reduceat(x, [0, 2], axis=1))
