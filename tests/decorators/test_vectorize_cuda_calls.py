"""Calls of vectorize(target='cuda') functions beyond operands and one result: NumPy's keywords, several results,
operands with an __array_ufunc__.  NumPy's ufunc on the host is what they agree with."""

import pickle

import numpy as np
import pytest

from krait import _device_gufunc, cuda, guvectorize, vectorize


def add(a, b):
    return a + b


def both(a, b):
    return a + b, a * b


def known(function, **options):
    return vectorize(["int64(int64, int64)", "float64(float64, float64)"], target="cuda", **options)(function)


def on_host(value):
    return value.copy_to_host() if cuda.is_cuda_array(value) else value


@pytest.mark.parametrize("device", [False, True])
@pytest.mark.parametrize("make", [known, vectorize(target="cuda")], ids=["signatures", "any types"])
@pytest.mark.parametrize(
    "keywords",
    [{"dtype": np.float64}, {"casting": "unsafe"}, {"dtype": np.float64, "casting": "same_kind"}, {"order": "F"}],
)
def test_keywords_of_numpy(make, keywords, device):
    function, x = make(add), np.arange(6).reshape(2, 3)
    ours = function(cuda.to_device(x) if device else x, 2, **keywords)
    theirs = np.add(x, 2, **keywords)
    assert cuda.is_cuda_array(ours) == device
    assert ours.dtype == theirs.dtype
    np.testing.assert_array_equal(on_host(ours), theirs)


@pytest.mark.parametrize("device", [False, True])
def test_results_that_stay_where_a_mask_says_so(device):
    function, x, mask = known(add), np.arange(5.0), np.array([1, 0, 1, 0, 0], bool)
    place = cuda.to_device if device else np.array
    out = place(np.full(5, -1.0))
    assert function(place(x), 1.0, out=out, where=place(mask)) is out
    np.testing.assert_array_equal(on_host(out), np.where(mask, x + 1, -1))


def test_several_results_are_where_the_operands_are():
    function, x = vectorize(target="cuda")(both), np.arange(4.0)
    for operand, kind in ((x, np.ndarray), (cuda.to_device(x), type(cuda.to_device(x)))):
        total, product = function(operand, 3.0)
        assert type(total) is type(product) is kind
        np.testing.assert_array_equal(on_host(total), x + 3)
        np.testing.assert_array_equal(on_host(product), x * 3)
    places = cuda.device_array(4), np.zeros(4)
    given = function(x, 2.0, out=places)
    assert given[0] is places[0] and given[1] is places[1]
    np.testing.assert_array_equal(on_host(places[0]), x + 2)
    np.testing.assert_array_equal(places[1], x * 2)
    total, product = function(cuda.to_device(x), 2.0, out=(None, places[1]))
    assert cuda.is_cuda_array(total) and product is places[1]


class Own:
    def __array_ufunc__(self, ufunc, method, *inputs, **keywords):
        return method, len(inputs), sorted(keywords)


class Refuses:
    __array_ufunc__ = None


class Marked(np.ndarray):
    def __array_ufunc__(self, ufunc, method, *inputs, **keywords):
        return "marked"


@pytest.mark.parametrize("target", ["cpu", "parallel", "cuda"])
@pytest.mark.parametrize("signatures", [["float64(float64, float64)"], None])
def test_operands_decide_for_themselves(target, signatures):
    function = vectorize(signatures, target=target)(add) if signatures else vectorize(target=target)(add)
    x = np.arange(3.0)
    assert function(Own(), x) == function(x, Own()) == ("__call__", 2, [])
    assert function(x, x, out=Own()) == ("__call__", 2, ["out"])
    assert function.reduce(Own()) == ("reduce", 1, [])
    assert function(x.view(Marked), x) == "marked"
    with pytest.raises(TypeError):
        function(Refuses(), x)


@pytest.mark.parametrize("target", ["cpu", "parallel", "cuda"])
def test_a_pickle_has_the_types_so_far(target):
    def local(a, b):
        return a - b

    function = vectorize(target=target)(local)
    function(5, 3), function(5.0, 3.0)
    function.disable_compile()
    copy = pickle.loads(pickle.dumps(function))
    assert copy.types == function.types and copy(5, 3) == 2 and copy(np.float32(5), np.float32(3)) == 2.0
    with pytest.raises(TypeError):
        copy(1j, 2)


# ---- arrays on a device that the function finds outside ----

@pytest.mark.parametrize("device", [False, True])
@pytest.mark.parametrize("signatures", [["float64(float64, int64)"], []], ids=["signatures", "any types"])
def test_a_device_array_outside_is_used_where_it_lies(signatures, device):
    table = cuda.to_device(np.arange(10.0) * 10)

    def looked_up(x, i):
        return x + table[i] + len(table)

    function = vectorize(signatures, target="cuda")(looked_up) if signatures else vectorize(target="cuda")(looked_up)
    place = cuda.to_device if device else np.array
    x, i = np.ones(10), np.arange(10)
    for factor in (10, 3):
        np.testing.assert_array_equal(on_host(function(place(x), place(i))), x + factor * i + 10)
        table.copy_to_device(np.arange(10.0) * 3)
    out = place(np.zeros(10))
    function(place(x), place(i), out=out)
    np.testing.assert_array_equal(on_host(out), x + 3 * i + 10)


def test_one_that_was_freed_is_told():
    gone = cuda.to_device(np.arange(3.0))
    function = vectorize(["float64(float64)"], target="cuda")(lambda x: x + gone[0])
    assert function(1.0) == 1.0
    gone.free()
    with pytest.raises(RuntimeError, match="freed"):
        function(1.0)
    with pytest.raises((RuntimeError, TypeError), match="freed|GPU"):
        function(np.ones(3), dtype=np.float64)  # which NumPy does


@pytest.mark.parametrize("device", [False, True])
@pytest.mark.parametrize("signatures", [["void(float64[:], float64[:])"], None], ids=["signatures", "any types"])
def test_generalised_functions_use_them_too(signatures, device):
    table = cuda.to_device(np.arange(3.0) + 1)

    def scaled(x, out):
        for i in range(x.size):
            out[i] = x[i] * table[i]

    given = (signatures, "(n)->(n)") if signatures else ("(n)->(n)",)
    function, place = guvectorize(*given, target="cuda")(scaled), cuda.to_device if device else np.array
    x = np.arange(12.0).reshape(4, 3)
    for factor in (1, 5):
        out = place(np.zeros((4, 3)))
        function(place(x), out)
        np.testing.assert_array_equal(on_host(out), x * (np.arange(3.0) + 1) * factor)
        table.copy_to_device((np.arange(3.0) + 1) * 5)
    table.free()
    with pytest.raises(RuntimeError, match="freed"):
        function(place(x), place(np.zeros((4, 3))))
    if signatures:
        with pytest.raises((RuntimeError, TypeError), match="freed|GPU"):
            function.ufunc(x)


# ---- blocks and streams ----

@pytest.mark.parametrize("threads", [1024, 100, 64, 3, 1])
def test_blocks_are_as_small_as_is_told(threads):
    function = vectorize(["float64(float64, float64)"], target="cuda")(add)

    @guvectorize(["void(float64[:], float64[:])"], "(n)->(n)", target="cuda")
    def doubled(x, out):
        for i in range(x.size):
            out[i] = x[i] + x[i]

    assert function.max_blocksize == doubled.max_blocksize == 1024
    function.max_blocksize = doubled.max_blocksize = threads
    x = np.arange(7000.0).reshape(70, 100)
    for view in (x, x.T, x[::2, 1:], x[:0], x.reshape(1, 7000)):
        np.testing.assert_array_equal(function(view, view), view + view)
        np.testing.assert_array_equal(doubled(view), view + view)
    for lanes in (1, 32, 64, 1024):
        blocks, block = _device_gufunc._grid(1000, lanes, threads)
        assert 1 <= np.prod(block) <= threads and np.prod(blocks) * np.prod(block) >= 1000 * min(lanes, 1)
        assert lanes == 1 or blocks[0] * block[0] == lanes
    assert function.max_blocksize == threads
    del function.max_blocksize, doubled.max_blocksize
    assert function.max_blocksize == doubled.max_blocksize == 1024


def test_other_sizes_of_blocks_are_refused():
    function = vectorize(["float64(float64, float64)"], target="cuda")(add)
    for wrong, error in ((0, ValueError), (1025, ValueError), (-5, ValueError), ("64", TypeError), (2.5, TypeError)):
        with pytest.raises(error):
            function.max_blocksize = wrong
    assert function.max_blocksize == 1024


def test_a_reduction_has_a_stream():
    function, stream = vectorize(["float64(float64, float64)"], target="cuda")(add), cuda.stream()
    x = np.arange(1000.0)
    assert function.reduce(x, stream=stream) == function.reduce(x, stream=0) == x.sum()
    on_device = cuda.to_device(x, stream=stream)
    assert float(on_host(function.reduce(on_device, stream=stream))) == x.sum()
    with pytest.raises(TypeError):
        vectorize(["float64(float64, float64)"])(add).reduce(x, stream=stream)
