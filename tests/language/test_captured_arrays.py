"""Arrays that compiled code knows from globals and closures: returned as themselves, seen when they change in place."""

import numpy as np
import pytest
from oracle import agree

from krait import cuda, errors, njit, vectorize

STRIDED = np.arange(12.0).reshape(3, 4)[:, ::2]
FORTRAN = np.asfortranarray(np.arange(6).reshape(2, 3))
FROZEN = np.arange(5)
FROZEN.flags.writeable = False
PAIR = (np.arange(3), 2.5)


@pytest.mark.parametrize("array", [STRIDED, FORTRAN, FROZEN, STRIDED[::-1], np.zeros((0, 3)), np.array(2.5),
                                   np.zeros((4, 0))[::2]], ids=range(7))  # fmt: skip
def test_an_array_comes_back_as_itself(array):
    assert njit(lambda: array)() is array
    assert njit(lambda a: a)(array) is array
    result = njit(lambda a: (a, (1, a), array))(array)
    assert result[0] is array and result[1][1] is array and result[2] is array


def test_an_array_of_a_captured_tuple_comes_back_as_itself():
    assert njit(lambda: PAIR)()[0] is PAIR[0]
    assert njit(lambda i: (STRIDED if i else STRIDED))(1) is STRIDED


@pytest.mark.parametrize("text", ["a[:]", "a[...]", "a[:, :]", "a.T.T", "a[0:3]", "(a, a[:])[1]", "a[:][:]"])
def test_a_view_of_the_whole_is_another_array(text):
    function = eval(f"lambda a: {text}")
    for array in (np.arange(12.0).reshape(3, 4), STRIDED):
        view = njit(function)(array)
        assert view is not array and np.shares_memory(view, array)
        agree(function, array)


def test_views_share_the_memory():
    array = np.arange(12.0).reshape(3, 4)[:, ::2]
    view = njit(lambda: array[1:])()
    assert view.strides == array.strides and np.shares_memory(view, array)
    view[0, 0] = 100
    assert array[1, 0] == 100
    assert not njit(lambda: FROZEN[1:])().flags.writeable


def test_writes_reach_the_array():
    array = np.zeros(3)

    def f(i, x):
        array[i] = x
        return array

    g = njit(f)
    assert g(1, 2.5) is array and array[1] == 2.5
    array[2] = 7
    assert njit(lambda: array[2])() == 7


def changes():
    def resize(a):
        a.resize(10_000, refcheck=False)  # what was there is freed
        a[:] = 1

    def shrink(a):
        a.resize(2, refcheck=False)

    def reshape(a):
        a.shape = (2, a.size // 2)

    def retype(a):
        a.dtype = np.int64

    def restride(a):
        a.strides = (0,)

    return [resize, shrink, reshape, retype, restride]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("change", changes(), ids=lambda change: change.__name__)
@pytest.mark.parametrize("way", ["function", "callee", "vectorize", "kernel"])
def test_a_change_in_place_is_seen(change, way):
    array = np.arange(4.0)


    def plain(x):
        sum = x
        for item in array.flat:
            sum += float(item)
        return sum

    compiled = {"function": njit(plain), "vectorize": vectorize(plain)}.get(way)
    if way == "callee":
        inner = njit(plain)
        compiled = njit(lambda x: inner(x) + 1)
    if way == "kernel":
        device = cuda.jit(device=True)(plain)

        @cuda.jit
        def kernel(x, out):
            out[0] = device(x)

        def compiled(x):
            out = np.zeros(1)
            kernel[1, 1](x, out)
            return out[0]

    assert compiled(2.0) == plain(2.0) + (way == "callee")
    change(array)
    assert compiled(2.0) == plain(2.0) + (way == "callee")


def test_what_an_array_is_is_seen():
    array = np.arange(6)

    def f():
        return array.shape, array.ndim, array.dtype, array.strides

    g = njit(f)
    assert g() == f()
    array.shape = (2, 3)
    assert g() == f()
    array.dtype = np.uint64
    assert g() == f()
    array.shape = (6,)
    assert g() == f()


def test_a_flag_is_seen():
    array = np.zeros(4)

    @njit
    def write():
        array[0] += 1

    write()
    array.flags.writeable = False
    with pytest.raises(errors.TypingError, match="read-only"):
        write()
    array.flags.writeable = True
    write()
    assert array[0] == 2


def test_contents_are_read_anew():
    array = np.arange(4)

    def f(i):
        return array[i]

    agree(f, 2)
    array[2] = 50
    agree(f, 2)
