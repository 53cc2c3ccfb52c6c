"""Ufuncs that @vectorize and @guvectorize made, called in compiled functions and kernels: what NumPy gives for the same
call, in dtype, value and exception; one loop with the expression around them."""

import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest

from krait import cuda, errors, guvectorize, njit, vectorize
from oracle import agree, agree_all, difference


@vectorize
def larger(a, b):
    if a > b:
        return a * 2
    return b + 1


@vectorize(["f8(f8,f8)", "f4(f4,f4)", "i8(i8,i8)"])
def counted(a, b):
    while a < b:
        a += 1
    return a


@vectorize(["f4(f8)"])
def single(a):
    return a * 1.1


@vectorize
def sum_and_half(a, b):
    return a + b, a * 0.5


@vectorize
def root(a):
    if a < 0:
        raise ValueError("negative", 7)
    return np.sqrt(a)


@vectorize(["i8(i8)"])
def factorial(n):
    return 1 if n < 2 else n * factorial(n - 1)


@vectorize
def larger_of_larger(a, b):
    return larger(a, b) + larger(b, a)


X, Y = np.arange(12.0).reshape(3, 4), np.arange(4.0)[::-1].copy()
BYTES = np.arange(4, dtype=np.int8)
OPERANDS = [
    (1, 2), (1, 2.5), (True, False), (np.float32(3), 2), (np.int8(3), 2), (np.uint8(3), np.int8(2)),
    (X, Y), (X, 2), (2, Y), (X.astype("f4"), 1.5), (BYTES, 1), (BYTES, BYTES), (BYTES, 2.5), (X[:0], Y),
    (np.array(3.0), 2), (np.array(3.0), np.array(4)), (np.array(3.0), Y), (X[::2, ::-1], Y[::-1]),
    (np.asfortranarray(X), Y), (X > 5, Y), (X[:, None], X[:, :, None]),
]  # fmt: skip


@pytest.mark.parametrize("ufunc", [larger, counted], ids=["own types", "signatures"])
def test_scalars_and_arrays(ufunc):
    agree_all(lambda a, b: ufunc(a, b), OPERANDS)


def test_results_of_declared_types_several_results_and_calls_of_each_other():
    agree_all(lambda a: single(a), [(3.0,), (3,), (X,), (np.float32(2),)])
    agree_all(lambda a, b: sum_and_half(a, b), [(3, 2), (X, Y), (BYTES, 1)])
    agree_all(lambda a, b: larger_of_larger(a, b), [(3, 2), (X, Y)])
    agree_all(lambda n: factorial(n), [(5,), (np.arange(6),)])


def test_out_where_and_overlap():
    agree(lambda a, b, o: larger(a, b, out=o), X, Y, np.zeros((3, 4)))
    agree(lambda a, b, o: larger(a, b, o), X, Y, np.zeros((2, 3, 4)))
    agree(lambda a, b, o: larger(a, b, out=o), X, Y, np.zeros((4, 4)))
    agree(lambda a, b, o: larger(a, b, out=o), X, Y, np.zeros((3, 4), np.float32))
    agree(lambda a, o: single(a, out=o), X, np.zeros((3, 4)))
    agree(lambda a, b, o, p: sum_and_half(a, b, out=(o, p)), X, Y, np.zeros((3, 4)), np.zeros((3, 4)))
    agree(lambda a, m, o: larger(a, 2, out=o, where=m), X, X > 5, np.zeros((3, 4)))
    agree(lambda a: larger(a[:-1], 1, out=a[1:]), np.arange(8.0))


def test_exceptions():
    agree_all(lambda a: root(a), [(X,), (-X,), (4.0,), (-4.0,)])
    agree_all(lambda a: larger(a, 300), [(BYTES,), (BYTES[:0],)])
    agree(lambda a, b: larger(a, b), BYTES, 300)
    agree(lambda a, b: larger(a, b), X, np.zeros(3))


def test_with_expressions_around_them_they_are_one_loop():
    agree(lambda a, b: larger(a, b) * 2 + counted(a, b), X, Y)
    agree(lambda a, b: larger(larger(a, b), b), X, Y)
    agree(lambda a, b: (larger(a, b) * 2).sum(), X, Y)
    code = """
        import numpy as np
        from krait import njit, vectorize
        clamp = vectorize(lambda a: a if a < 5.0 else 5.0)
        f = njit(lambda x: np.sqrt(clamp(x * 2.0) + 1.0))
        f(np.arange(3.0))
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=120,
                          env={**os.environ, "KRAIT_DUMP": "fusion"})
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("map[") == 1, done.stderr


def test_in_kernels():
    @cuda.jit
    def kernel(a, b, items, whole):
        i = cuda.grid(1)
        if i < a.size:
            items[i] = larger(a[i], b[i])
        if i == 0:
            larger(a, 1.5, out=whole)

    items, whole = np.zeros((2, 4))
    kernel[1, 32](Y, X[0], items, whole)
    np.testing.assert_array_equal(items, larger(Y, X[0]))
    np.testing.assert_array_equal(whole, larger(Y, 1.5))

    @cuda.jit
    def makes(a):
        larger(a, 1.5)

    with pytest.raises(errors.TypingError, match="kernels make no arrays"):
        makes[1, 1](Y)


def test_a_ufunc_for_devices_is_one_on_the_host_too():
    doubled = vectorize(["f4(f4)"], target="cuda")(lambda a: a * 2 if a > 1 else a)
    x = Y.astype(np.float32)
    assert difference(njit(lambda a: doubled(a))(x), np.array([6, 4, 1, 0], np.float32)) is None


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda a: counted(a, 1j), r"`counted` does not take .*\n(.*\n)*.*its signatures take \(float64, float64\)"),
        (lambda a: counted(a), "`counted` takes 2 arguments, 1 given"),
        (lambda a: counted(a, a, a, a, a), "`counted` takes from 2 to 3 positional arguments but 5"),
        (lambda a: counted(a, a, order="C"), "`counted` has no parameter named 'order'"),
        (lambda a: counted(a, "x"), "`counted` does not take"),
        (lambda a: larger(a, a, out=np.zeros(4, np.int64)), "the result of `larger` is float64 and cannot be stored"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(errors.TypingError, match=message):
        njit(call)(Y)


@guvectorize(["(f8[:], f8, f8[:])"], "(n),()->()")
def weighted(a, w, out):
    out[0] = a.sum() * w


def test_generalised_ufuncs_take_their_core_dimensions():
    @njit
    def f(x, w):
        out = np.zeros(1)
        weighted(x, w, out)
        return out

    assert f(Y, 2.0)[0] == 12
    for x, w in ((X, 2.0), (2.0, 2.0), (Y, X)):
        with pytest.raises(errors.TypingError, match="takes (an array of 1 dimension|a number) here, not"):
            f(x, w)
    with pytest.raises(errors.TypingError, match="without broadcasting"):
        njit(lambda x, out: weighted(x, 1.0, out))(Y, X)


# ---- methods ---------------------------------------------------------------------------------------------------------


@vectorize(["f4(f4, f4)", "f8(f8, f8)"])
def further(a, b):
    return 0.5 * a + b


@vectorize(["i8(i8, i8)", "f8(f8, f8)"])
def joined(a, b):
    return a * 3 - b


@vectorize(["f8(f8)"])
def twice(a):
    return 2 * a


METHODS = {
    "reduce": lambda u, x: u.reduce(x),
    "reduce of an axis": lambda u, x: u.reduce(x, 1),
    "reduce with keywords": lambda u, x: u.reduce(x, axis=-1, keepdims=True),
    "reduce from": lambda u, x: u.reduce(x, axis=0, initial=3),
    "reduce of a line": lambda u, x: u.reduce(x[0]),
    "reduce to": lambda u, x: u.reduce(x, 0, out=np.zeros(x.shape[1])),
    "accumulate": lambda u, x: u.accumulate(x),
    "accumulate along": lambda u, x: u.accumulate(x, 1),
    "accumulate of a line": lambda u, x: u.accumulate(x[1]),
    "outer": lambda u, x: u.outer(x[0], x[:, 1]),
    "outer of a matrix": lambda u, x: u.outer(x, x[0]),
    "outer with a number": lambda u, x: u.outer(x, 2),
    "reduceat": lambda u, x: u.reduceat(x[0], np.array([0, 3, 1, 5])),
    "reduceat along": lambda u, x: u.reduceat(x, np.array([0, 2, 1]), axis=0),
}
OF_NUMPY = [np.add, np.multiply, np.subtract, np.maximum, np.minimum, np.hypot, np.logaddexp, further, joined]


@pytest.mark.parametrize("dtype", ["i4", "i8", "f4", "f8"])
@pytest.mark.parametrize("name", METHODS)
def test_methods_of_ufuncs(name, dtype):
    rng = np.random.default_rng(len(name))
    x = (rng.random((5, 7)) * 4 + 1).astype(dtype)
    method = METHODS[name]
    for ufunc in OF_NUMPY:
        expected = method(ufunc, x)

        @njit
        def called(x):
            return method(ufunc, x)

        got = called(x)
        assert np.asarray(got).dtype == np.asarray(expected).dtype, ufunc
        np.testing.assert_allclose(got, expected, rtol=1e-5 if dtype == "f4" else 1e-12, err_msg=str(ufunc))


def test_reductions_of_bits_and_truths():
    k = np.random.default_rng(1).integers(0, 99, (4, 6))

    @njit
    def f(k):
        return (np.bitwise_and.reduce(k), np.bitwise_or.reduce(k, 1), np.bitwise_xor.reduce(k[0]),
                np.logical_and.reduce(k > 3, axis=1), np.logical_or.reduce(k > 90), np.gcd.reduce(k[1]))  # fmt: skip

    for ours, theirs in zip(f(k), f.py_func(k)):
        np.testing.assert_array_equal(ours, theirs)
    assert njit(lambda k: np.bitwise_or.reduce(k))(k[0][:0]) == 0
    with pytest.raises(ValueError, match="zero-size array to reduction operation"):
        njit(lambda k: np.subtract.reduce(k))(k[0][:0])
    with pytest.raises(IndexError, match=r"index 6 out-of-bounds in reduceat \[0, 6\)"):
        njit(lambda k: np.add.reduceat(k, np.array([6])))(k[0])


@pytest.mark.parametrize("ufunc", [np.add, np.maximum, joined], ids=lambda u: u.__name__)
def test_at(ufunc):
    def at(a, places, b):
        ufunc.at(a, places, b)
        return a

    row, table = np.arange(9.0), np.arange(24.0).reshape(6, 4)
    cases = [
        (row, np.array([1, 1, 2, -1]), 5.0),
        (row, np.array([1, 1, 2]), np.array([1.0, 9.0, 3.0])),
        (row, np.array([[1, 1], [2, 0]]), 3.0),
        (row, 3, 8.0),
        (row, row > 4, 7),
        (table, np.array([1, 1, 5]), 30.0),
        (table, np.array([1, 1, 5]), np.arange(4.0)),
        (table, (np.array([1, 1, 5]), np.array([0, 0, 3])), np.array([3.0, 50.0, 70.0])),
    ]
    for a, places, b in cases:
        np.testing.assert_array_equal(njit(at)(a.copy(), places, b), at(a.copy(), places, b))
    with pytest.raises(IndexError):
        njit(at)(row.copy(), np.array([9]), 1.0)
    with pytest.raises(TypeError, match="same_kind"):
        njit(at)(np.arange(3), np.array([1]), 0.5)

    def alone(a, places):
        np.negative.at(a, places)
        twice.at(a, places)
        return a

    np.testing.assert_array_equal(njit(alone)(row.copy(), np.array([1, 1, 2])), alone(row.copy(), np.array([1, 1, 2])))
