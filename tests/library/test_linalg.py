"""Products of matrices and numpy.linalg: NumPy's own bits, whatever the dtype, the order and the strides."""

import numpy as np
import pytest

from krait import cuda, njit
from krait.errors import KraitError
from oracle import make
from portions import some

DTYPES = ["f4", "f8", "c8", "c16", "i4", "u1", "?"]


def matrix(rows, columns, dtype, layout, seed=0):
    """Well away from singular, so that no last bit decides whether something is raised."""
    values = np.random.default_rng(seed).integers(-4, 5, (rows * 2, columns * 2)).astype(np.complex128)
    values = values * (1 + 0.5j) + 9 * np.eye(rows * 2, columns * 2)
    full = np.asarray(values if np.dtype(dtype).kind == "c" else values.real).astype(dtype)
    if layout == "C":
        return np.ascontiguousarray(full[:rows, :columns])
    if layout == "F":
        return np.asfortranarray(full[:rows, :columns])
    if layout == "strided":
        return full[: 2 * rows : 2, : 2 * columns : 2]
    return full[:rows, :columns][::-1, ::-1]


def results(f, args):
    try:
        value = f(*args)
    except Exception as error:  # what is raised is the result
        return type(error), str(error)
    return value if isinstance(value, tuple) else (value,)


def assert_equal_bits(f, *args):
    expected, found = results(f, args), results(njit(f), args)
    assert len(expected) == len(found)
    for a, b in zip(found, expected, strict=True):
        if isinstance(b, (type, str)):
            assert a == b
            continue
        assert np.asarray(a).dtype == np.asarray(b).dtype and np.shape(a) == np.shape(b)
        assert np.asarray(a).tobytes() == np.asarray(b).tobytes()


def of(source):
    names = {"np": np}
    exec(f"def f(a, b):\n    return {source}", names)
    return names["f"]


PRODUCTS = ["a @ b", "np.matmul(a, b)", "np.dot(a, b)", "a @ b[:, 0]", "a[0] @ b", "a[1] @ b[:, 1]",
            "np.dot(a[0], b[:, 1])",
            "np.kron(a, b)", "np.outer(a[0], b[:, 0])", "np.inner(a, b.T)", "np.vdot(a, b.T)"]


@pytest.mark.parametrize("layout", some(["C", "F", "strided", "reversed"]))
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("source", PRODUCTS)
def test_products(source, dtype, layout):
    assert_equal_bits(of(source), matrix(4, 5, dtype, layout), matrix(5, 4, dtype, "C", 1))


@pytest.mark.parametrize("dtypes", [("f8", "f8"), ("f4", "f8"), ("i4", "i4"), ("c16", "c16"), ("c8", "f4")])
def test_products_of_each_two_of_a_stack(dtypes):
    numbers = np.arange(60).reshape(3, 4, 5) - 25
    whole = ((numbers + 1j * numbers[::-1]) / 4 if dtypes[0][0] == "c" else numbers / 4).astype(dtypes[0])
    vectors = (numbers[:, 0] / 3).astype(dtypes[1])
    names = {"vecdot(a, b)": [(whole, whole[0]), (whole[:, 0], vectors), (whole[0, 0], vectors[1])],
             "matvec(a, b)": [(whole, vectors), (whole[1], vectors), (whole[:, :, ::2], vectors[0, ::2])],
             "vecmat(b, a)": [(whole.transpose(0, 2, 1), vectors), (whole[0].T.copy(), vectors[1])]}
    for name, pairs in names.items():
        if hasattr(np, name[:6]):
            for a, b in pairs:
                assert_equal_bits(of("np." + name), a, b)


@pytest.mark.skipif(not hasattr(np, "matvec"), reason="since NumPy 2.2")
@pytest.mark.parametrize("source", ["np.vecdot(a[0], b)", "np.matvec(a, b)", "np.vecmat(b, a)"])
def test_products_of_vectors_of_another_length(source):
    assert_equal_bits(of(source), np.ones((3, 4)), np.ones(5))


def test_products_of_a_matrix_with_itself():
    a = matrix(6, 5, "f8", "C") / 7
    assert_equal_bits(of("a @ a.T"), a, a)
    assert_equal_bits(of("a.T @ a"), a, a)


def test_product_in_place():
    function = make("def f(a, b):\n    c = a\n    c @= b\n    return c")
    for dtype in ("f8", "i4", "c8"):
        ours, theirs, other = matrix(4, 4, dtype, "C"), matrix(4, 4, dtype, "C"), matrix(4, 4, dtype, "F")
        np.testing.assert_array_equal(njit(function)(ours, other), function(theirs, other))
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("dtypes", [("f4", "f8"), ("i4", "f4"), ("c8", "f8"), ("i8", "u1")])
def test_products_of_different_dtypes(dtypes):
    assert_equal_bits(of("a @ b"), matrix(3, 4, dtypes[0], "C"), matrix(4, 2, dtypes[1], "F"))


@pytest.mark.parametrize("shapes", [((0, 3), (3, 2)), ((2, 0), (0, 3)), ((1, 1), (1, 1)), ((2, 3), (2, 3))])
def test_shapes_of_products(shapes):
    assert_equal_bits(of("a @ b"), np.ones(shapes[0]), np.ones(shapes[1]))
    assert_equal_bits(of("a[0] @ b"), np.ones((1, shapes[0][1])), np.ones(shapes[1]))


def test_an_operand_without_axes():
    for a, b in ((np.array(2.0), np.ones(3)), (np.ones(3), np.array(2.0))):
        assert_equal_bits(of("a @ b"), a, b)


SQUARE = ["np.linalg.inv(a)", "np.linalg.det(a)", "np.linalg.slogdet(a)", "np.linalg.solve(a, b)",
          "np.linalg.solve(a, b[:, 0])", "np.linalg.cholesky(a @ np.conjugate(a).T)", "np.linalg.eigh(a)",
          "np.linalg.eigh(a, 'U')", "np.linalg.eigvalsh(a)",
          "np.linalg.matrix_power(a, 3)", "np.linalg.matrix_power(a, 7)",
          "np.linalg.matrix_power(a * 1.0, -2)", "np.linalg.matrix_power(a, 0)"]


SQUARE_CASES = [(source, dtype, ("C", "F", "strided", "reversed")[(i + j + turn) % 4])
                for i, source in enumerate(SQUARE) for j, dtype in enumerate(["f4", "f8", "c8", "c16", "i4"])
                for turn in (0, 2)]  # fmt: skip


@pytest.mark.parametrize("source, dtype, layout", some(SQUARE_CASES))
def test_square_matrices(source, dtype, layout):
    """Each with every type, and each with every layout."""
    assert_equal_bits(of(source), matrix(4, 4, dtype, layout), matrix(4, 2, dtype, layout, 1))


ANY_SHAPE = ["np.linalg.svd(a)", "np.linalg.svd(a, False)", "np.linalg.svd(a, True, False)", "np.linalg.qr(a)",
             "np.linalg.pinv(a)", "np.linalg.matrix_rank(a)", "np.linalg.norm(a)", "np.linalg.norm(a[0])"]


@pytest.mark.parametrize("shape", [(4, 4), (5, 3), (3, 5)])
@pytest.mark.parametrize("dtype", some(["f4", "f8", "c8", "c16", "i4"]))
@pytest.mark.parametrize("source", ANY_SHAPE)
def test_matrices_of_any_shape(source, dtype, shape):
    a = matrix(*shape, dtype, "C")
    assert_equal_bits(of(source), a, a)


@pytest.mark.parametrize("dtype", ["f4", "f8", "c16"])
def test_eigenvalues_are_complex(dtype):
    """NumPy's are real where all of them are: that is not known before they are there."""
    a = matrix(4, 4, dtype, "C")
    expected, vectors = np.linalg.eig(a)
    for found, other in (njit(lambda a: np.linalg.eig(a))(a), (njit(lambda a: np.linalg.eigvals(a))(a), None)):
        assert found.dtype.kind == "c" and np.array_equal(found, expected)
        assert other is None or np.array_equal(other, vectors)


ERRORS = ["np.linalg.inv(a)", "np.linalg.solve(a, b)", "np.linalg.cholesky(a - 1)", "np.linalg.inv(b)",
          "np.linalg.det(b)",
          "np.linalg.eigvals(a + np.inf)", "np.linalg.solve(a, b[:2])", "np.linalg.eigh(a, 'X')"]


@pytest.mark.parametrize("source", ERRORS)
def test_errors(source):
    assert_equal_bits(of(source), np.zeros((3, 3)), np.ones((3, 2)))


def test_kernels_refuse():
    @cuda.jit
    def k(a):
        a[0, 0] = np.linalg.det(a)

    with pytest.raises(KraitError, match="numpy.linalg.det cannot be used in kernels"):
        k[1, 1](np.eye(3))


@pytest.mark.parametrize("name, field", [
    ("slogdet", "logabsdet"), ("eigh", "eigenvectors"), ("svd", "S"), ("qr", "R"),
])
def test_results_are_the_named_tuples_of_numpy(name, field):
    f = getattr(np.linalg, name)
    for a in (np.array([[2.0, 1.0], [1.0, 3.0]]), np.eye(3, dtype=np.float32)):
        result, expected = njit(make(f"def f(a):\n    return np.linalg.{name}(a)", "f"))(a), f(a)
        assert type(result) is type(expected) and result._fields == expected._fields
        taken = njit(make(f"def f(a):\n    return np.linalg.{name}(a).{field}", "f"))(a)
        np.testing.assert_array_equal(taken, getattr(expected, field))
    eig = njit(lambda a: np.linalg.eig(a))(np.eye(2))
    assert type(eig) is type(np.linalg.eig(np.eye(2)))
