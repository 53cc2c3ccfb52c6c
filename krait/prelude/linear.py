"""Products of matrices and numpy.linalg, by the inner loops of NumPy's own ufuncs.

NumPy's loops call the BLAS and LAPACK that NumPy carries, so that a result has the bits that NumPy's has.  What is
written here is what NumPy does around them: dtypes, shapes, errors."""

import numpy as np
from numpy.linalg import LinAlgError, _umath_linalg

from krait import _krait
from krait.prelude.intrinsics import numpy_loop, shape_text

_krait.bind_numpy_loops("matmul", np.matmul)
for _name in dir(_umath_linalg):
    if isinstance(getattr(_umath_linalg, _name), np.ufunc):
        _krait.bind_numpy_loops(_name, getattr(_umath_linalg, _name))

_MISMATCH = "has a mismatch in its core dimension 0, with gufunc signature"


def _of_dtype(a, dtype):
    if a.dtype == dtype:
        return a
    return a.astype(dtype)


# ---- products ----


def _product(a, b):
    # A vector is a matrix of one row on the left, of one column on the right.
    rows = a.shape[0] if a.ndim == 2 else 1
    inner = a.shape[a.ndim - 1]
    columns = b.shape[1] if b.ndim == 2 else 1
    if inner != b.shape[0]:
        raise ValueError(
            f"matmul: Input operand 1 {_MISMATCH} (n?,k),(k,m?)->(n?,m?) (size {b.shape[0]} is different from {inner})"
        )
    out = np.empty((rows, columns), a.dtype)
    steps = a.strides if a.ndim == 2 else (0, a.strides[0])
    steps += b.strides if b.ndim == 2 else (b.strides[0], 0)
    numpy_loop("matmul", (1, rows, inner, columns), (0, 0, 0) + steps + out.strides, a, b, out)
    if a.ndim == 2 and b.ndim == 2:
        return out
    if a.ndim == 2 or b.ndim == 2:
        return out.reshape(out.size)
    return out[0, 0]


def matmul(a, b):
    if a.ndim == 0 or b.ndim == 0:
        raise ValueError(
            f"matmul: Input operand {0 if a.ndim == 0 else 1} does not have enough dimensions "
            "(has 0, gufunc core with signature (n?,k),(k,m?)->(n?,m?) requires 1)"
        )
    dtype = np.result_type(a, b)
    return _product(_of_dtype(a, dtype), _of_dtype(b, dtype))


def dot(a, b):
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return np.multiply(a, b)
    dtype = np.result_type(a, b)
    if a.shape[a.ndim - 1] != b.shape[0]:
        _not_aligned(a.shape, b.shape)
    return _product(_of_dtype(a, dtype), _of_dtype(b, dtype))


def _not_aligned(a, b):
    n, m = a[len(a) - 1], b[0]
    raise ValueError(
        f"shapes {shape_text(a)} and {shape_text(b)} not aligned: {n} (dim {len(a) - 1}) != {m} (dim 0)"
    )


def vdot(a, b):
    dtype = np.result_type(a, b)
    x = _of_dtype(a.ravel(), dtype)
    y = _of_dtype(b.ravel(), dtype)
    if x.size != y.size:
        raise ValueError(f"cannot reshape array of size {y.size} into shape ({x.size},)")
    if x.dtype.kind == "c":
        return _product(np.conjugate(x), y)
    return _product(x, y)


def inner(a, b):
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return np.multiply(a, b)
    return dot(a, b.T)


def outer(a, b):
    x = a.ravel()
    y = b.ravel()
    return x[:, None] * y


# ---- numpy.linalg: computed in float64 or complex128, given back in the operand's type ----


def _square(a):
    if a.shape[0] != a.shape[1]:
        raise LinAlgError("Last 2 dimensions of the array must be square")


def _double(a):
    if a.dtype.kind == "c":
        return _of_dtype(a, np.complex128)
    return _of_dtype(a, np.float64)


def _kind(a):
    # What results are given in: of integers and bools float64.
    if a.dtype.kind == "f" or a.dtype.kind == "c":
        return a.dtype
    return np.dtype(np.float64)


def _real_kind(a):
    return np.dtype(np.float32) if _kind(a) == np.float32 or _kind(a) == np.complex64 else np.dtype(np.float64)


def solve(a, b):
    _square(a)
    kind = np.result_type(_kind(a), _kind(b))
    wide = np.result_type(kind, np.float64)
    x = _of_dtype(a, wide)
    y = _of_dtype(b, wide)
    if x.shape[0] != y.shape[0]:
        if b.ndim == 1:
            raise ValueError(
                f"solve1: Input operand 1 {_MISMATCH} (m,m),(m)->(m) (size {y.shape[0]} is different from {x.shape[0]})"
            )
        raise ValueError(
            f"solve: Input operand 1 {_MISMATCH} (m,m),(m,n)->(m,n) (size {y.shape[0]} is different from {x.shape[0]})"
        )
    out = np.empty(y.shape, wide)
    if b.ndim == 1:
        invalid = numpy_loop("solve1", (1, x.shape[0]), (0, 0, 0) + x.strides + y.strides + out.strides, x, y, out)
    else:
        invalid = numpy_loop(
            "solve", (1, x.shape[0], y.shape[1]), (0, 0, 0) + x.strides + y.strides + out.strides, x, y, out
        )
    if invalid:
        raise LinAlgError("Singular matrix")
    return _of_dtype(out, kind)


def inv(a):
    _square(a)
    x = _double(a)
    out = np.empty(x.shape, x.dtype)
    if numpy_loop("inv", (1, x.shape[0]), (0, 0) + x.strides + out.strides, x, out):
        raise LinAlgError("Singular matrix")
    return _of_dtype(out, _kind(a))


def det(a):
    _square(a)
    x = _double(a)
    out = np.empty(1, x.dtype)
    numpy_loop("det", (1, x.shape[0]), (0, 0) + x.strides, x, out)
    return _of_dtype(out, _kind(a))[0]


def slogdet(a):
    _square(a)
    x = _double(a)
    sign = np.empty(1, x.dtype)
    logarithm = np.empty(1, np.float64)
    numpy_loop("slogdet", (1, x.shape[0]), (0, 0, 0) + x.strides, x, sign, logarithm)
    return _of_dtype(sign, _kind(a))[0], _of_dtype(logarithm, _real_kind(a))[0]


def cholesky(a):
    _square(a)
    x = _double(a)
    out = np.empty(x.shape, x.dtype)
    if numpy_loop("cholesky_lo", (1, x.shape[0]), (0, 0) + x.strides + out.strides, x, out):
        raise LinAlgError("Matrix is not positive definite")
    return _of_dtype(out, _kind(a))


def eigh(a, UPLO="L"):
    if UPLO != "L" and UPLO != "l" and UPLO != "U" and UPLO != "u":
        raise ValueError("UPLO argument must be 'L' or 'U'")
    _square(a)
    x = _double(a)
    values = np.empty(x.shape[0], np.float64)
    vectors = np.empty(x.shape, x.dtype)
    steps = (0, 0, 0) + x.strides + values.strides + vectors.strides
    if UPLO == "L" or UPLO == "l":
        invalid = numpy_loop("eigh_lo", (1, x.shape[0]), steps, x, values, vectors)
    else:
        invalid = numpy_loop("eigh_up", (1, x.shape[0]), steps, x, values, vectors)
    if invalid:
        raise LinAlgError("Eigenvalues did not converge")
    return _of_dtype(values, _real_kind(a)), _of_dtype(vectors, _kind(a))


def eigvalsh(a, UPLO="L"):
    if UPLO != "L" and UPLO != "l" and UPLO != "U" and UPLO != "u":
        raise ValueError("UPLO argument must be 'L' or 'U'")
    _square(a)
    x = _double(a)
    values = np.empty(x.shape[0], np.float64)
    steps = (0, 0) + x.strides + values.strides
    if UPLO == "L" or UPLO == "l":
        invalid = numpy_loop("eigvalsh_lo", (1, x.shape[0]), steps, x, values)
    else:
        invalid = numpy_loop("eigvalsh_up", (1, x.shape[0]), steps, x, values)
    if invalid:
        raise LinAlgError("Eigenvalues did not converge")
    return _of_dtype(values, _real_kind(a))


def _finite(a):
    for item in a.flat:
        if not np.isfinite(item):
            raise LinAlgError("Array must not contain infs or NaNs")


def eigvals(a):
    # Complex always: whether real numbers would do is known only once they are there.
    _square(a)
    x = _double(a)
    _finite(x)
    values = np.empty(x.shape[0], np.complex128)
    if numpy_loop("eigvals", (1, x.shape[0]), (0, 0) + x.strides + values.strides, x, values):
        raise LinAlgError("Eigenvalues did not converge")
    return _of_dtype(values, np.result_type(_kind(a), np.complex64))


def eig(a):
    _square(a)
    x = _double(a)
    _finite(x)
    values = np.empty(x.shape[0], np.complex128)
    vectors = np.empty(x.shape, np.complex128)
    steps = (0, 0, 0) + x.strides + values.strides + vectors.strides
    if numpy_loop("eig", (1, x.shape[0]), steps, x, values, vectors):
        raise LinAlgError("Eigenvalues did not converge")
    kind = np.result_type(_kind(a), np.complex64)
    return _of_dtype(values, kind), _of_dtype(vectors, kind)


def svd(a, full_matrices=True, compute_uv=True):
    x = _double(a)
    m = x.shape[0]
    n = x.shape[1]
    p = min(m, n)
    values = np.empty(p, np.float64)
    if not compute_uv:
        if numpy_loop("svd", (1, m, n, p), (0, 0) + x.strides + values.strides, x, values):
            raise LinAlgError("SVD did not converge")
        return _of_dtype(values, _real_kind(a))
    if full_matrices:
        u = np.empty((m, m), x.dtype)
        vh = np.empty((n, n), x.dtype)
    else:
        u = np.empty((m, p), x.dtype)
        vh = np.empty((p, n), x.dtype)
    steps = (0, 0, 0, 0) + x.strides + u.strides + values.strides + vh.strides
    if full_matrices:
        invalid = numpy_loop("svd_f", (1, m, n, p), steps, x, u, values, vh)
    else:
        invalid = numpy_loop("svd_s", (1, m, n, p), steps, x, u, values, vh)
    if invalid:
        raise LinAlgError("SVD did not converge")
    return _of_dtype(u, _kind(a)), _of_dtype(values, _real_kind(a)), _of_dtype(vh, _kind(a))


def qr(a):
    m = a.shape[0]
    n = a.shape[1]
    k = min(m, n)
    x = np.empty((m, n), np.result_type(_kind(a), np.float64))
    x[...] = a
    tau = np.empty(k, x.dtype)
    if numpy_loop("qr_r_raw", (1, m, n, k), (0, 0) + x.strides + tau.strides, x, tau):
        raise LinAlgError("Incorrect argument found while performing QR factorization")
    q = np.empty((m, k), x.dtype)
    steps = (0, 0, 0) + x.strides + tau.strides + q.strides
    if numpy_loop("qr_reduced", (1, m, n, k), steps, x, tau, q):
        raise LinAlgError("Incorrect argument found while performing QR factorization")
    r = np.zeros((k, n), x.dtype)
    for i in range(k):
        for j in range(i, n):
            r[i, j] = x[i, j]
    return _of_dtype(q, _kind(a)), _of_dtype(r, _kind(a))


def matrix_power(a, n):
    _square(a)
    if a.dtype.kind == "f" or a.dtype.kind == "c":
        base = a.copy() if n >= 0 else inv(a)
    else:
        if n < 0:
            raise ValueError("integers are raised to a negative power as floats: use a.astype(np.float64)")
        base = a.copy()
    left = abs(n)
    result = np.eye(a.shape[0], dtype=base.dtype)
    if left == 0:
        return result
    if left == 1:
        return base
    if left == 2:
        return _product(base, base)
    if left == 3:
        return _product(_product(base, base), base)
    first = True
    square = base
    while True:
        if left % 2:
            if first:
                result = square
                first = False
            else:
                result = _product(result, square)
        left //= 2
        if left == 0:
            return result
        square = _product(square, square)


def pinv(a, rcond=1e-15, hermitian=False):
    u, s, vh = svd(np.conjugate(a), False)
    largest = 0.0
    for x in s:
        largest = max(largest, float(x))
    cutoff = rcond * largest
    for i in range(s.size):
        s[i] = 1 / s[i] if s[i] > cutoff else 0
    return _product(vh.T, (s[:, None] * u.T))


def matrix_rank(a, tol=None):
    s = svd(a, True, False)
    largest = 0.0
    for x in s:
        largest = max(largest, float(x))
    if tol is None:
        cutoff = largest * max(a.shape[0], a.shape[1]) * (2.0**-23 if s.itemsize == 4 else 2.0**-52)
    else:
        cutoff = float(tol)
    count = 0
    for x in s:
        count += x > cutoff
    return np.int64(count)


def kron(a, b):
    m, n = a.shape
    p, q = b.shape
    return (a[:, None, :, None] * b[None, :, None, :]).reshape((m * p, n * q))


def cross(a, b):
    if len(a) != 3 or len(b) != 3:
        raise ValueError("incompatible dimensions for cross product\n(dimension must be 2 or 3)")
    x = a[1] * b[2] - a[2] * b[1]
    out = np.empty(3, np.result_type(a, b))
    out[0] = x
    out[1] = a[2] * b[0] - a[0] * b[2]
    out[2] = a[0] * b[1] - a[1] * b[0]
    return out


def norm(x):
    # Of order 2 (Frobenius for a matrix) alone.
    flat = _of_dtype(x, _kind(x)).ravel("K")
    if flat.dtype.kind == "c":
        return np.sqrt(_product(flat.real, flat.real) + _product(flat.imag, flat.imag))
    return np.sqrt(_product(flat, flat))
