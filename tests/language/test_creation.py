"""Arrays made in compiled code: values, dtypes, shapes, layouts and exceptions against NumPy; whom they belong to."""

import gc
import itertools

import numpy as np
import pytest
from oracle import STRONG, agree, agree_all, expression

from krait import cuda, errors, njit

SHAPES = [0, 1, 5, (), (3,), (2, 3), (0, 4), (3, 0, 2), (2, 1, 2, 2), np.int32(4), np.uint8(3)]
LIKE = {
    "C": np.arange(6.0).reshape(2, 3),
    "F": np.arange(6, dtype=np.int16).reshape(3, 2, order="F"),
    "strided": np.arange(12, dtype=np.complex64)[::-2],
    "zero-dimensional": np.array(True),
    "empty": np.zeros((0, 3), np.uint8),
    "scalar": np.float32(2.5),
    "float": 2.5,
}


@pytest.mark.parametrize("shape", SHAPES, ids=repr)
def test_shapes(shape):
    for name in ("zeros", "ones"):
        agree(expression(f"np.{name}(n)", "n"), shape)
    agree(expression("np.full(n, 7)", "n"), shape)
    agree(expression("np.empty(n).shape", "n"), shape)
    if np.zeros(shape).size:
        agree(expression("np.empty(n).strides", "n"), shape)


@pytest.mark.parametrize("dtype", [np.dtype(kind) for kind in STRONG], ids=str)
def test_dtypes(dtype):
    """As a class, a dtype, a text, an array's own."""
    for name, said in itertools.product(["zeros", "ones"], [f"np.{dtype.type.__name__}", f"np.dtype('{dtype.str}')"]):
        agree(expression(f"np.{name}((2, 3), {said})", ""))
    agree(expression(f"np.zeros(dtype='{dtype.char}', shape=4)", ""))
    agree(expression("np.full(3, 1, dtype=a.dtype)", "a"), np.zeros(2, dtype))
    agree(expression("np.full(3, a[0])", "a"), np.ones(2, dtype))


def test_python_classes_as_dtypes():
    for name in ("int", "float", "complex", "bool", "None"):
        agree(expression(f"np.zeros(2, {name})", ""))
    agree_all(expression("np.full(2, v)", "v"), [(1,), (1.5,), (True,), (2j,), (np.float32(1.5),), (np.int8(-1),)])


def test_order():
    for order in "CF":
        agree(expression(f"np.zeros((2, 3, 4), order='{order}')", ""))
        agree(expression(f"np.full((2, 3), 1.5, np.float32, '{order}')", ""))
        agree(expression(f"np.ones_like(a, order='{order}')", "a"), LIKE["C"])
    with pytest.raises(errors.TypingError, match="only 'C' or 'F' order is permitted, not 'K'"):
        njit(lambda: np.zeros(3, order="K"))()
    with pytest.raises(errors.TypingError, match="order must be one of 'C', 'F', 'A', or 'K'"):
        njit(lambda a: np.zeros_like(a, order="Q"))(LIKE["C"])


@pytest.mark.parametrize("name", LIKE)
def test_like(name):
    like = LIKE[name]
    for text in ("zeros_like(a)", "ones_like(a)", "full_like(a, 1)", "zeros_like(a, np.int8)", "zeros_like(a, shape=3)",
                 "full_like(a, 2.5, np.float64)", "ones_like(a, shape=(2, 2))"):  # fmt: skip
        agree(expression(f"np.{text}", "a"), like)
    agree(expression("np.empty_like(a).shape, np.empty_like(a).dtype", "a"), like)


def test_what_numpy_refuses():
    """Of two mistakes the first axis that is wrong says which."""
    shapes = [-1, (2, -1), (-1, 0), (0, -1), (2**40, 2**40), (2**40, 2**40, -1), (2**40, -1, 2**40), (2**62, 0), 2**61]
    agree_all(expression("np.zeros(n).shape", "n"), [(shape,) for shape in shapes])
    agree(expression("np.full(3, 300, np.int8)", ""))
    with pytest.raises(MemoryError, match="Unable to allocate 144115188075855872 bytes for an array"):
        njit(lambda n: np.zeros(n))(2**54)
    for shape in (2.0, True, (2, 1.5), np.zeros(2)):
        with pytest.raises(errors.TypingError, match="a shape is an int or a tuple of ints, not `n`"):
            njit(lambda n: np.zeros(n))(shape)


def test_filled_in_loops():
    def table(n, m):
        a = np.empty((n, m), np.int64)
        for i in range(n):
            for j in range(m):
                a[i, j] = i * j
        return a

    def sieve(n):
        prime = np.ones(n, np.bool_)
        prime[:2] = False
        for i in range(2, n):
            if prime[i]:
                prime[i * i :: i] = False
        return prime

    agree_all(table, [(3, 4), (0, 4), (1, 0)])
    agree_all(sieve, [(2,), (100,), (1000,)])


def test_a_new_array_goes_through_calls_branches_and_loops():
    @njit
    def make(n):
        return np.zeros(n)

    def f(n):
        a = make(n)
        for i in range(3):
            b = make(n)
            b[:] = a
            b[i] += i
            a = b
        if n > 3:
            a = make(2)
        return a

    agree_all(f, [(3,), (4,)])


def test_a_result_owns_its_memory():
    a = njit(lambda: np.zeros((2, 3)))()
    assert a.flags.owndata and a.flags.writeable and a.base is None
    assert a.ctypes.data % 64 == 0
    a.resize((3, 3))  # by NumPy's own means
    assert a.shape == (3, 3) and not a.any()


def test_views_keep_the_buffer():
    @njit
    def f(n):
        a = np.zeros((n, n), np.int32)
        a[1, 2] = 5
        return a[1], a.T, a[::-1, 1:], a

    row, turned, back, whole = f(4)
    assert not row.flags.owndata and row.base.flags.owndata
    whole[1, 3] = 7
    assert row[3] == 7 and turned[3, 1] == 7 and back[2, 2] == 7
    del whole, turned, back
    gc.collect()
    assert list(row) == [0, 0, 5, 7]


def test_arguments_are_returned_as_themselves():
    a = np.arange(3.0)
    same, new = njit(lambda a: (a, np.zeros_like(a)))(a)
    assert same is a and new is not a


def test_result_type():
    agree(expression("np.zeros(2, np.result_type(a, b))", "a", "b"), np.float32(1), np.int64(2))
    agree(expression("np.zeros(2, np.result_type(a, b))", "a", "b"), np.zeros(2, np.int8), 3)
    agree(expression("np.zeros(2, np.result_type(a, np.float16))", "a"), 2)
    agree(expression("np.zeros(2, np.result_type(3, 2.5))", ""))
    agree(expression("np.zeros(2, np.result_type(a, 2, b))", "a", "b"), True, np.uint8(1))  # Python's adapt, last
    agree(expression("np.zeros(2, np.result_type(a, 2, b))", "a", "b"), np.bool_(1), np.uint8(1))
    agree(expression("np.zeros(2, np.result_type(2.5, a, b))", "a", "b"), np.float32(1), np.int8(1))


def test_refused_in_kernels():
    with pytest.raises(errors.UnsupportedError, match=r"zeros makes an array, which kernels cannot(?s:.*)local.array"):
        cuda.jit(lambda x: np.zeros(3)[0])[1, 1](np.zeros(3))


# ---- numbers in a row ----

NUMBERS = [(5,), (0,), (-3,), (2, 7), (7, 2), (0, 10, 3), (10, 0, -3), (2.5,), (0.0, 1.0, 0.1), (1, 2, 0.25),
           (5, 1, -1.5),
           (np.int8(3),), (np.float32(0.5), np.float32(3), np.float32(0.3)), (np.uint16(2), 9), (0, 5, np.float16(0.7)),
           (1j,), (0, 3, 1 + 0j)]  # fmt: skip


@pytest.mark.parametrize("numbers", NUMBERS, ids=repr)
def test_arange(numbers):
    names = "abc"[: len(numbers)]
    agree(expression(f"np.arange({', '.join(names)})", *names), *numbers)


def test_arange_with_a_dtype():
    for kind in "bBhHiIlLefdFD":
        agree(expression(f"np.arange(7, dtype='{kind}')", ""))
        agree(expression(f"np.arange(1, 300, 7, dtype='{kind}').size", ""))
    agree(expression("np.arange(2, dtype=np.bool_)", ""))
    agree(expression("np.arange(0.0, 10.0, 1.5, dtype=np.int32)", ""))
    for bad in ("np.arange(0, 1, 0)", "np.arange(3, dtype=np.bool_)", "np.arange(0, 1e30, 1.0)"):
        with pytest.raises(Exception) as theirs:
            expression(bad, "")()
        with pytest.raises(type(theirs.value)):
            njit(expression(bad, ""))()


@pytest.mark.parametrize("text", [
    "np.linspace(0, 1)", "np.linspace(2.0, 3.0, num=5)", "np.linspace(2.0, 3.0, 5, endpoint=False)",
    "np.linspace(1, 1, 4)",
    "np.linspace(0, 1, 1)", "np.linspace(0, 1, 0)", "np.linspace(0, 10, 4, dtype=np.int32)",
    "np.linspace(-3, 3, 7, dtype=int)",
    "np.linspace(0, 1j, 3)", "np.linspace(0, 2, 5, retstep=True)", "np.linspace(0, 1, -1)", "np.linspace(5, -5, 11)",
    "np.linspace(np.float32(0), np.float32(1), 3)", "np.linspace(0.0, 5e-324, 3)",
    "np.eye(3)", "np.eye(2, 3)", "np.eye(3, 2, k=1)", "np.eye(3, k=-1, dtype=np.int8)", "np.eye(3, order='F')",
    "np.eye(0)",
    "np.eye(2, 2, 5)", "np.eye(2, 2, -5)", "np.identity(3)", "np.identity(2, np.complex64)",
    "np.tri(3)", "np.tri(3, 4, 1)", "np.tri(3, 2, k=-1, dtype=np.int16)", "np.tri(2, 3, -5)",
    "np.tri(2, 3, 2**63 - 1)", "np.tri(2, 3, 2**62)", "np.eye(2, 3, 2**63 - 1)", "np.eye(2, 3, -(2**63))",
    "np.eye(2, 3, np.uint8(1))", "np.tril_indices(2, 2**63 - 1, 3)", "np.triu_indices(2, 2**63 - 1, 3)",
    "np.diag(np.ones(2), 2**63 - 1)", "np.diag(np.ones(2), -(2**63))", "np.diag(np.ones(2), np.uint8(1))",
    "np.arange(np.nan)", "np.arange(0.0, 1.0, np.nan)", "np.arange(np.inf)", "np.arange(-np.inf)",
    "np.arange(1e300, 0.0)", "np.arange(0.0, 1.0, np.inf)", "np.arange(0.0, 1.0, -np.inf)",
    "np.zeros(3) is None",
])  # fmt: skip
def test_made_of_numbers(text):
    agree(expression(text, ""))


@pytest.mark.parametrize("text", [
    "np.logspace(0, 2, 5)", "np.logspace(0, 1, 4, endpoint=False, base=2.0)", "np.geomspace(1, 1000, 4)",
    "np.geomspace(-1, -1000, num=3)", "np.geomspace(1, 256, 9, endpoint=False)",
])  # fmt: skip
def test_powers_are_close(text):
    """NumPy takes its powers from functions that differ from processor to processor."""
    ours, theirs = njit(expression(text, ""))(), expression(text, "")()
    assert ours.dtype == theirs.dtype
    np.testing.assert_allclose(ours, theirs, rtol=1e-14)


MATRICES = [np.arange(12.0).reshape(3, 4), np.asfortranarray(np.arange(6).reshape(2, 3)),
            np.arange(24, dtype=np.uint8).reshape(4, 6)[::2, ::-1], np.zeros((0, 3))]  # fmt: skip


@pytest.mark.parametrize("text", [
    "np.diag(a)", "np.diag(a, 1)", "np.diag(a, -1)", "np.diag(a, 9)", "a.diagonal()", "np.diagonal(a, offset=1)",
    "np.tril(a, 2**63 - 1)", "np.triu(a, 2**63 - 1)", "np.tril(a, -(2**62))", "np.triu(a, -(2**62))",
    "np.diagonal(a, np.uint8(1))", "np.tril(a)", "np.triu(a)", "np.tril(a, 1)", "np.triu(a, -1)",
    "np.tril(a, -9)", "np.triu(a, 9)",
])  # fmt: skip
def test_parts_of_matrices(text):
    agree_all(expression(text, "a"), [(matrix,) for matrix in MATRICES])


@pytest.mark.parametrize("text", ["np.diag(v)", "np.diag(v, 2)", "np.diag(v, -1)", "np.diagflat(v)", "np.vander(v)",
                                  "np.vander(v, 2)", "np.vander(v, N=4, increasing=True)"])  # fmt: skip
def test_matrices_of_vectors(text):
    agree_all(expression(text, "v"), [(np.arange(3.0),), (np.arange(4, dtype=np.int16)[::-2],), (np.zeros(0, "F"),)])


@pytest.mark.parametrize("k", [2**63 - 1, -(2**63), 2**62])
def test_a_diagonal_far_outside_is_empty(k):
    """NumPy takes the number of a diagonal as a C int, and refuses one that is beyond."""
    a = np.ones((2, 3))
    for text in ("np.diagonal(a, k)", "a.diagonal(k)", "np.diag(a, k)"):
        np.testing.assert_array_equal(njit(expression(text, "a, k"))(a, k), a.diagonal(9))
    assert njit(expression("np.trace(a, k)", "a, k"))(a, k) == 0


def test_tri_of_three_dimensions():
    agree_all(expression("np.tril(a), np.triu(a)", "a"), [(np.arange(24).reshape(2, 3, 4),)])


@pytest.mark.parametrize("value", ["range(3)", "[1, 2, 3]", "(1, 2)", "np.arange(3)", "[[1, 2], [3, 4]]"])
def test_least_number_of_axes(value):
    agree_all(expression(", ".join(f"np.array({value}, ndmin={n})" for n in range(5)), "v"), [(1,)])
