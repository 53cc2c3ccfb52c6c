"""Ufuncs that @vectorize and @guvectorize made, called in compiled functions and kernels: what NumPy gives for the same
call, in dtype, value and exception; one loop with the expression around them."""

import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest

from krait import cuda, errors, guvectorize, njit, vectorize
from oracle import Raised, agree, agree_all, difference, outcome
from portions import some


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
        (lambda a: counted(a, a, ordre="C"), "`counted` has no parameter named 'ordre'"),
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


@guvectorize(["(i8[:,:],i8[:,:],i8[:,:])", "(f8[:,:],f8[:,:],f8[:,:])"], "(m?,n),(n,p?)->(m?,p?)")
def matrices(a, b, c):
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            c[i, j] = 0
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]


@guvectorize(["(f8[:], f8, f8[:], i8[:])"], "(n),()->(n),()")
def shifted(x, by, out, count):
    count[0] = len(x)
    for i in range(len(x)):
        out[i] = x[i] + by


A, B = np.arange(24.0).reshape(2, 3, 4), np.arange(20).reshape(4, 5)


@pytest.mark.parametrize(
    "function, operands",
    [
        (weighted, (Y, 2.0)),
        (weighted, (Y, 2)),
        (weighted, (X, Y[:1])),
        (weighted, (X, np.arange(len(X), dtype=np.int32))),
        (weighted, (X[::-1, ::2], np.arange(3 * len(X)).reshape(3, len(X)))),
        (weighted, (np.ones((4, 1, 3)), np.arange(5.0))),
        (weighted, (np.zeros((0, 3)), 1.0)),
        (shifted, (X, 1.5)),
        (shifted, (Y, np.arange(6.0).reshape(2, 3))),
        (matrices, (A, B)),
        (matrices, (B.T, A[0].astype(np.int32).T)),
        (matrices, (A, A[0, 0])),
        (matrices, (B[:, 0], B)),
        (matrices, (A[0, 0], B[:, 1])),
        (weighted, (X, np.array(3))),
    ],
)
def test_generalised_ufuncs_loop_over_outer_dimensions_as_numpy_does(function, operands):
    got, expected = njit(lambda a, b: function(a, b))(*operands), function(*operands)
    assert difference(got, expected) is None


def test_results_of_generalised_ufuncs_that_are_given():
    @njit
    def f(a, b, out):
        matrices(a, b, out)
        return matrices(a, b, out=out)

    for out in (np.empty((2, 3, 5)), np.empty((2, 3, 5), np.float32), np.empty((7, 2, 3, 5)), np.empty((5, 3, 2)).T):
        got = f(A, B, out)
        assert got.dtype == out.dtype
        np.testing.assert_array_equal(out, np.broadcast_to(A @ B, out.shape))
        np.testing.assert_array_equal(got, out)


def test_results_of_generalised_ufuncs_without_dimensions():
    for out in (np.zeros(()), np.zeros(1), np.zeros(3), np.zeros((), np.float32)):
        njit(lambda out: weighted(Y, 2.0, out))(out)
        assert (out == 12).all()


def test_keywords_of_generalised_ufuncs():
    with pytest.raises(errors.TypingError, match="does not take the keyword `w`"):
        njit(lambda x: weighted(x, w=2.0))(Y)
    with pytest.raises(errors.TypingError, match="takes 2 inputs and, if any, 1 result, not 1 operands"):
        njit(lambda x: weighted(x))(Y)


def test_a_generalised_ufunc_without_signatures_loops_too():
    @guvectorize("(n)->(n)")
    def negated(x, out):
        for i in range(len(x)):
            out[i] = -x[i]

    out = np.zeros((2, 3))
    njit(lambda x, out: negated(x, out))(np.arange(3.0), out)
    assert out.tolist() == [[0, -1, -2]] * 2
    with pytest.raises(errors.TypingError, match="its results say which types it computes"):
        njit(lambda x: negated(x))(Y)


@pytest.mark.parametrize(
    "operands, error, message",
    [
        ((A, A), ValueError, r"Input operand 1 has a mismatch in its core dimension 0, .*\(size 3 is different from 4"),
        ((A, B, np.empty((2, 5, 5))), ValueError, "Output operand 0 has a mismatch in its core dimension 0"),
        ((A, np.ones((3, 4, 5))), ValueError, r"operand 1 \(b\) has 3 along outer axis 0, others 2"),
        ((A, B, np.empty((1, 3, 5))), ValueError, "the result c has 1 along outer axis 0, not 2"),
        ((A, B, np.empty((3, 5))), errors.TypingError, "c has 2 dimensions, and the operands are broadcast to 3"),
        ((A, B, np.empty((2, 3, 5), np.int64)), errors.TypingError, "of float64 cannot be cast to int64"),
        ((A + 1j, B), errors.TypingError, "no loop for operands of the types array\\(complex128"),
        ((A, 2.0), errors.TypingError, r"operand 1 \(b\) is a number"),
    ],
)
def test_what_does_not_fit_a_generalised_ufunc(operands, error, message):
    call = (lambda a, b: matrices(a, b)) if len(operands) == 2 else (lambda a, b, c: matrices(a, b, c))
    with pytest.raises(error, match=message):
        njit(call)(*operands)


def test_a_kernel_loops_over_outer_dimensions():
    @cuda.jit
    def kernel(x, w, out):
        i = cuda.grid(1)
        if i < x.shape[0]:
            weighted(x[i], w, out[i])

    x, w, out = np.arange(24.0).reshape(2, 3, 4), np.array([1.0, 2.0, 3.0]), np.zeros((2, 3))
    kernel[1, 32](x, w, out)
    np.testing.assert_array_equal(out, weighted(x, w))
    with pytest.raises(errors.TypingError, match="a kernel makes no arrays"):
        cuda.jit(lambda x, w: weighted(x, w))[1, 1](x, w)


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


DTYPES = ["i4", "i8", "f4", "f8"]


@pytest.mark.parametrize("dtype", some(DTYPES))
@pytest.mark.parametrize("name", METHODS)
def test_methods_of_ufuncs(name, dtype):
    """Every method of every ufunc, each with two types of elements."""
    rng = np.random.default_rng(len(name))
    x = (rng.random((5, 7)) * 4 + 1).astype(dtype)
    method = METHODS[name]
    for ufunc in OF_NUMPY[DTYPES.index(dtype) % 2 :: 2]:
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


@vectorize(["i8(i8,i8)", "f8(f8,f8)"], identity=0)
def from_zero(a, b):
    if a > 1000:
        raise ValueError("large")
    return a + b


@vectorize(["i8(i8,i8)", "f8(f8,f8)"], identity=1)
def from_one(a, b):
    return 2 * a * b  # one is no identity of it: a reduction that begins with it shows


@vectorize(["i8(i8,i8)", "f8(f8,f8)"], identity="reorderable")
def any_order(a, b):
    return max(a, b)


REDUCTIONS = {
    "the first axis": lambda u, x, m: u.reduce(x),
    "all": lambda u, x, m: u.reduce(x, axis=None),
    "two axes": lambda u, x, m: u.reduce(x, axis=(0, 1)),
    "initial": lambda u, x, m: u.reduce(x, initial=3, axis=-1),
    "where": lambda u, x, m: u.reduce(x, where=m),
    "where, of the last": lambda u, x, m: u.reduce(x, where=m, axis=-1, keepdims=True),
    "where and initial, of all": lambda u, x, m: u.reduce(x, where=m, axis=None, initial=2),
    "a line": lambda u, x, m: u.reduce(x[0]),
    "where, of a line": lambda u, x, m: u.reduce(x[0], where=m[0]),
}
# NumPy 2.5's loop of arctan2 for AVX-512 forgets what it has accumulated: np.arctan2.reduce([3, -1, -2]) is
# np.arctan2(3, -2) on such a processor.
ITSELF = np.arctan2.reduce([3.0, -1.0, -2.0]) == np.arctan2(np.arctan2(3.0, -1.0), -2.0)
OF_REDUCTIONS = [from_zero, from_one, any_order, joined, np.subtract, np.hypot, np.logaddexp, np.logical_and,
                 np.logical_xor, pytest.param(np.arctan2, marks=pytest.mark.skipif(not ITSELF, reason="NumPy's loop"))]


@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize("ufunc", OF_REDUCTIONS, ids=lambda u: u.__name__)
def test_where_reductions_start(ufunc, name):
    """From the identity where there is one, with elements or without; without one, one axis at a time and no mask."""
    method = REDUCTIONS[name]
    compiled = njit(lambda x, m: method(ufunc, x, m))
    for shape in [(2, 3), (2, 0)]:
        x, m = -np.arange(6.0)[: shape[0] * shape[1]].reshape(shape), np.arange(6)[: shape[0] * shape[1]] % 2 == 0
        for dtype in "f8", "i8":
            args = x.astype(dtype), m.reshape(shape)
            ours, theirs = outcome(compiled, args, {}), outcome(compiled.py_func, args, {})
            if isinstance(theirs, Raised):
                assert (type(ours.error), ours.error.args) == (type(theirs.error), theirs.error.args), (shape, dtype)
            else:
                assert np.asarray(ours).dtype == np.asarray(theirs).dtype
                np.testing.assert_allclose(ours, theirs, rtol=1e-14)


def test_gcd_and_bits_start_from_their_identities():
    k = -np.arange(4, 8)
    agree(lambda k: (np.gcd.reduce(k), np.gcd.reduce(k[:1]), np.bitwise_and.reduce(k[:0])), k)
    agree(lambda k: (np.bitwise_xor.reduce(k, where=k > -6), np.bitwise_or.reduce(k, initial=8)), k)


def test_identity_is_an_attribute():
    agree(lambda: (from_zero.identity, from_one.identity, any_order.identity, hasattr(joined, "identity")))


@pytest.mark.parametrize("target", ["cpu", "parallel", "cuda"])
def test_numbers_of_operands_and_results_are_attributes(target):
    @vectorize(["float64(float64, float64, float64)"], target=target)
    def fused(a, b, c):
        return a * b + c

    @guvectorize(["void(float64[:], float64[:], float64[:])"], "(n)->(n),(n)", target=target)
    def twice(x, y, z):
        for i in range(x.shape[0]):
            y[i] = z[i] = x[i]

    agree(lambda: (fused.nin, fused.nout, fused.nargs, fused.identity))
    agree(lambda: (twice.nin, twice.nout, twice.nargs, twice.identity))
    agree(lambda: (fused.types, fused.ntypes, fused.signature))
    agree(lambda: (twice.types, twice.ntypes, twice.signature, len(twice.types), "d->dd" in twice.types))


def test_what_ufuncs_of_numpy_say_of_themselves():
    agree(lambda: (np.add.nin, np.divmod.nout, np.sin.nargs, np.add.ntypes, np.multiply.types))
    agree(lambda: (np.add.identity, np.logical_and.identity, np.bitwise_and.identity, np.maximum.identity))
    agree(lambda: (np.add.signature, np.matmul.signature, hasattr(np.sum, "nin"), getattr(np.exp, "types")[-2]))
    with pytest.raises(errors.TypingError, match="nin"):
        njit(lambda: np.sum.nin)()


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
    agree(at, np.arange(3), np.array([1]), 1.5)  # what is computed is cast to the array's type, whatever it is

    def alone(a, places):
        np.negative.at(a, places)
        twice.at(a, places)
        return a

    np.testing.assert_array_equal(njit(alone)(row.copy(), np.array([1, 1, 2])), alone(row.copy(), np.array([1, 1, 2])))
