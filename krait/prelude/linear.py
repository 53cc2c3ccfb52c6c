"""numpy.linalg, by the inner loops of NumPy's own ufuncs.

NumPy's loops call the BLAS and LAPACK that NumPy carries, so that a result has the bits that NumPy's has.  What is
written here is what NumPy does around them: dtypes, shapes, errors."""

import math

import numpy as np
from numpy.linalg import LinAlgError, _linalg, _umath_linalg

from krait import _krait
from krait.prelude.intrinsics import numpy_loop
from krait.prelude.products import of_dtype, product

for _name in dir(_umath_linalg):
    if isinstance(getattr(_umath_linalg, _name), np.ufunc):
        _krait.bind_numpy_loops(_name, getattr(_umath_linalg, _name))

SlogdetResult, EighResult, EigResult = _linalg.SlogdetResult, _linalg.EighResult, _linalg.EigResult
SVDResult, QRResult = _linalg.SVDResult, _linalg.QRResult

_MISMATCH = "has a mismatch in its core dimension 0, with gufunc signature"


# ---- numpy.linalg: computed in float64 or complex128, given back in the operand's type ----


def _square(a):
    if a.shape[0] != a.shape[1]:
        raise LinAlgError("Last 2 dimensions of the array must be square")


def _double(a):
    if a.dtype.kind == "c":
        return of_dtype(a, np.complex128)
    return of_dtype(a, np.float64)


def _kind(a):
    # What results are given in: of integers and bools float64.
    if a.dtype.kind == "f" or a.dtype.kind == "c":
        return a.dtype
    return np.dtype(np.float64)


def _real_kind(a):
    return np.dtype(np.float32) if _kind(a) == np.float32 or _kind(a) == np.complex64 else np.dtype(np.float64)


def solve(a, b):
    a = np.asarray(a)
    b = np.asarray(b)
    _square(a)
    kind = np.result_type(_kind(a), _kind(b))
    wide = np.result_type(kind, np.float64)
    x = of_dtype(a, wide)
    y = of_dtype(b, wide)
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
    return of_dtype(out, kind)


def _of_its_shape(loop, a, fault):
    a = np.asarray(a)
    _square(a)
    x = _double(a)
    out = np.empty(x.shape, x.dtype)
    if numpy_loop(loop, (1, x.shape[0]), (0, 0) + x.strides + out.strides, x, out):
        raise LinAlgError(fault)
    return of_dtype(out, _kind(a))


def inv(a):
    return _of_its_shape("inv", a, "Singular matrix")


def det(a):
    a = np.asarray(a)
    _square(a)
    x = _double(a)
    out = np.empty(1, x.dtype)
    numpy_loop("det", (1, x.shape[0]), (0, 0) + x.strides, x, out)
    return of_dtype(out, _kind(a))[0]


def slogdet(a):
    a = np.asarray(a)
    _square(a)
    x = _double(a)
    sign = np.empty(1, x.dtype)
    logarithm = np.empty(1, np.float64)
    numpy_loop("slogdet", (1, x.shape[0]), (0, 0, 0) + x.strides, x, sign, logarithm)
    return SlogdetResult(of_dtype(sign, _kind(a))[0], of_dtype(logarithm, _real_kind(a))[0])


def cholesky(a):
    return _of_its_shape("cholesky_lo", a, "Matrix is not positive definite")


def eigh(a, UPLO="L"):
    a = np.asarray(a)
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
    return EighResult(of_dtype(values, _real_kind(a)), of_dtype(vectors, _kind(a)))


def eigvalsh(a, UPLO="L"):
    a = np.asarray(a)
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
    return of_dtype(values, _real_kind(a))


def _finite(a):
    for item in a.flat:
        if not np.isfinite(item):
            raise LinAlgError("Array must not contain infs or NaNs")


def eigvals(a):
    a = np.asarray(a)
    # Complex always: whether real numbers would do is known only once they are there.
    _square(a)
    x = _double(a)
    _finite(x)
    values = np.empty(x.shape[0], np.complex128)
    if numpy_loop("eigvals", (1, x.shape[0]), (0, 0) + x.strides + values.strides, x, values):
        raise LinAlgError("Eigenvalues did not converge")
    return of_dtype(values, np.result_type(_kind(a), np.complex64))


def eig(a):
    a = np.asarray(a)
    _square(a)
    x = _double(a)
    _finite(x)
    values = np.empty(x.shape[0], np.complex128)
    vectors = np.empty(x.shape, np.complex128)
    steps = (0, 0, 0) + x.strides + values.strides + vectors.strides
    if numpy_loop("eig", (1, x.shape[0]), steps, x, values, vectors):
        raise LinAlgError("Eigenvalues did not converge")
    kind = np.result_type(_kind(a), np.complex64)
    return EigResult(of_dtype(values, kind), of_dtype(vectors, kind))


def svd(a, full_matrices=True, compute_uv=True):
    a = np.asarray(a)
    x = _double(a)
    m = x.shape[0]
    n = x.shape[1]
    p = min(m, n)
    values = np.empty(p, np.float64)
    if not compute_uv:
        if numpy_loop("svd", (1, m, n, p), (0, 0) + x.strides + values.strides, x, values):
            raise LinAlgError("SVD did not converge")
        return of_dtype(values, _real_kind(a))
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
    return SVDResult(of_dtype(u, _kind(a)), of_dtype(values, _real_kind(a)), of_dtype(vh, _kind(a)))


def qr(a):
    a = np.asarray(a)
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
    return QRResult(of_dtype(q, _kind(a)), of_dtype(r, _kind(a)))


def matrix_power(a, n):
    a = np.asarray(a)
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
        return product(base, base)
    if left == 3:
        return product(product(base, base), base)
    first = True
    square = base
    while True:
        if left % 2:
            if first:
                result = square
                first = False
            else:
                result = product(result, square)
        left //= 2
        if left == 0:
            return result
        square = product(square, square)


def pinv(a, rcond=1e-15, hermitian=False):
    a = np.asarray(a)
    u, s, vh = svd(np.conjugate(a), False)
    largest = 0.0
    for x in s:
        largest = max(largest, float(x))
    cutoff = rcond * largest
    for i in range(s.size):
        s[i] = 1 / s[i] if s[i] > cutoff else 0
    return product(vh.T, (s[:, None] * u.T))


def matrix_rank(a, tol=None):
    a = np.asarray(a)
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


def cond(x, p=None):
    x = np.asarray(x)
    if p is None:
        s = svd(x, True, False)
        return s[0] / s[len(s) - 1]
    if p == 2:
        s = svd(x, True, False)
        return s[0] / s[len(s) - 1]
    if p == -2:
        s = svd(x, True, False)
        return s[len(s) - 1] / s[0]
    return norm(x, p) * norm(inv(x), p)


def lstsq(a, b, rcond=None):
    a = np.asarray(a)
    b = np.asarray(b)
    if a.ndim != 2:
        raise LinAlgError(f"{a.ndim}-dimensional array given. Array must be two-dimensional")
    kind = np.result_type(_kind(a), _kind(b))
    wide = np.result_type(kind, np.float64)
    m, n = a.shape
    if b.shape[0] != m:
        raise LinAlgError("Incompatible dimensions")
    columns = b.shape[1] if b.ndim == 2 else 1
    x = of_dtype(a, wide)
    y = np.zeros((m, max(columns, 1)), wide)  # LAPACK needs a column
    y[:, :columns] = b.reshape((m, columns))
    cutoff = np.empty(1, np.float64)
    cutoff[0] = 2.0**-52 * max(m, n) if rcond is None else rcond
    solution = np.zeros((n, y.shape[1]), wide)
    residuals = np.empty(y.shape[1], np.float64)
    rank = np.empty(1, np.int32)
    s = np.empty(min(m, n), np.float64)
    steps = (0, 0, 0, 0, 0, 0, 0) + x.strides + y.strides + solution.strides + residuals.strides + s.strides
    sizes = (1, m, n, y.shape[1], min(m, n))
    if numpy_loop("lstsq", sizes, steps, x, y, cutoff, solution, residuals, rank, s):
        raise LinAlgError("SVD did not converge in Linear Least Squares")
    known = columns if rank[0] == n and m > n else 0
    real = _real_kind(np.empty(0, kind))
    left = of_dtype(residuals[:known], real)
    if b.ndim == 1:
        return solution[:, 0].astype(kind), left, rank[0], of_dtype(s, real)
    return solution[:, :columns].astype(kind), left, rank[0], of_dtype(s, real)


def norm(x, ord=None, axis=None, keepdims=False):
    x = of_dtype(np.asarray(x), _kind(np.asarray(x)))
    if axis is None:
        if ord is None:
            return _kept(_root_of_squares(x), x, keepdims)
        if x.ndim == 1:
            return _vector_norm(x, ord, -1, keepdims)
        if x.ndim == 2:
            return _kept(_matrix_norm(x, ord), x, keepdims)
        raise ValueError("Improper number of dimensions to norm.")
    if not isinstance(axis, tuple):
        return _vector_norm(x, ord, axis, keepdims)
    if len(axis) == 1:
        return _vector_norm(x, ord, axis[0], keepdims)
    if len(axis) != 2:
        raise ValueError("Improper number of dimensions to norm.")
    if x.ndim == 2:
        return _kept(_matrix_norm(x, ord), x, keepdims)
    raise ValueError("norms of stacks of matrices are not compiled: loop over the stack")


def _root_of_squares(x):
    flat = x.ravel("K")
    if flat.dtype.kind == "c":
        return np.sqrt(product(flat.real, flat.real) + product(flat.imag, flat.imag))
    return np.sqrt(product(flat, flat))


def _kept(value, x, keepdims):
    if not keepdims:
        return value
    whole = np.empty((1,) * x.ndim, np.result_type(value))
    whole[...] = value
    return whole


def _squares(x):
    if x.dtype.kind == "c":
        return x.real * x.real + x.imag * x.imag
    return x * x


def _vector_norm(x, ord, axis, keepdims):
    if ord is None:
        return np.sqrt(np.sum(_squares(x), axis, None, None, keepdims))
    if ord == "fro" or ord == "f" or ord == "nuc":
        raise ValueError(f"Invalid norm order '{ord}' for vectors")
    if ord == math.inf:
        return np.max(np.abs(x), axis, None, keepdims)
    if ord == -math.inf:
        return np.min(np.abs(x), axis, None, keepdims)
    if ord == 0:
        return np.sum((x != 0).astype(_real_kind(x)), axis, None, None, keepdims)
    if ord == 1:
        return np.sum(np.abs(x), axis, None, None, keepdims)
    if ord == 2:
        return np.sqrt(np.sum(_squares(x), axis, None, None, keepdims))
    total = np.sum(np.power(np.abs(x), _real_kind(x).type(ord)), axis, None, None, keepdims)
    return np.power(total, _real_kind(x).type(1 / ord))


def _matrix_norm(x, ord):
    if ord is None:
        return _root_of_squares(x)
    if ord == "fro" or ord == "f":
        return _root_of_squares(x)
    if ord == "nuc":
        return np.sum(svd(x, True, False))
    if ord == 2:
        return svd(x, True, False)[0]
    if ord == -2:
        return np.min(svd(x, True, False))
    if ord == 1:
        return np.max(np.sum(np.abs(x), 0))
    if ord == -1:
        return np.min(np.sum(np.abs(x), 0))
    if ord == math.inf:
        return np.max(np.sum(np.abs(x), 1))
    if ord == -math.inf:
        return np.min(np.sum(np.abs(x), 1))
    raise ValueError("Invalid norm order for matrices.")
