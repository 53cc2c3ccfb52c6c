"""numpy.linalg, by the inner loops of NumPy's own ufuncs.

NumPy's loops call the BLAS and LAPACK that NumPy carries, so that a result has the bits that NumPy's has.  What is
written here is what NumPy does around them: dtypes, shapes, errors."""

import numpy as np
from numpy.linalg import LinAlgError, _linalg, _umath_linalg

from krait import _krait
from krait.prelude.grids import joint_shape
from krait.prelude.intrinsics import numpy_loop
from krait.prelude.products import of_dtype, product

for _name in dir(_umath_linalg):
    if isinstance(getattr(_umath_linalg, _name), np.ufunc):
        _krait.bind_numpy_loops(_name, getattr(_umath_linalg, _name))

SlogdetResult, EighResult, EigResult = _linalg.SlogdetResult, _linalg.EighResult, _linalg.EigResult
SVDResult, QRResult = _linalg.SVDResult, _linalg.QRResult

_MISMATCH = "has a mismatch in its core dimension 0, with gufunc signature"


# ---- numpy.linalg: computed in float64 or complex128, given back in the operand's type ----


def check_matrix(a):
    if a.ndim < 2:
        raise LinAlgError(f"{a.ndim}-dimensional array given. Array must be at least two-dimensional")


def check_square(a):
    check_matrix(a)
    if a.shape[a.ndim - 2] != a.shape[a.ndim - 1]:
        raise LinAlgError("Last 2 dimensions of the array must be square")


def _double(a):
    if a.dtype.kind == "c":
        return of_dtype(a, np.complex128)
    return of_dtype(a, np.float64)


def kind_of(a):
    # What results are given in: of integers and bools float64.
    if a.dtype.kind == "f" or a.dtype.kind == "c":
        return a.dtype
    return np.dtype(np.float64)


def real_kind(a):
    return np.dtype(np.float32) if kind_of(a) == np.float32 or kind_of(a) == np.complex64 else np.dtype(np.float64)


def solve(a, b):
    a = np.asarray(a)
    b = np.asarray(b)
    check_square(a)
    kind = np.result_type(kind_of(a), kind_of(b))
    if a.ndim > 2 or b.ndim > 2:
        return _solve_stacks(a, b, kind)
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
        invalid = numpy_loop("solve1", (1, x.shape[0]), (0, 0, 0) + x.strides + y.strides + out.strides, 2, x, y, out)
    else:
        invalid = numpy_loop(
            "solve", (1, x.shape[0], y.shape[1]), (0, 0, 0) + x.strides + y.strides + out.strides, 2, x, y, out
        )
    if invalid:
        raise LinAlgError("Singular matrix")
    return of_dtype(out, kind)


def _solve_stacks(a, b, kind):
    rows = b.shape[-1:] if b.ndim == 1 else b.shape[-2:]
    stack = joint_shape(a.shape[:-2], b.shape[: b.ndim - len(rows)])
    left, right = np.broadcast_to(a, stack + a.shape[-2:]), np.broadcast_to(b, stack + rows)
    out = np.empty(stack + rows, kind)
    _solve_each(left, right, out, len(rows))
    return out


def _solve_each(a, b, out, axes):
    # Stacks of one shape, of matrices and of right sides with so many axes.
    for i in range(len(out)):
        if a.ndim > 3:
            _solve_each(a[i], b[i], out[i], axes)
        else:
            out[i, ...] = solve(a[i], b[i])


def _of_its_shape(loop, a, fault):
    a = np.asarray(a)
    check_square(a)
    if a.ndim > 2:
        out = np.empty(a.shape, kind_of(a))
        for i in range(len(a)):
            out[i, ...] = _of_its_shape(loop, a[i], fault)
        return out
    x = _double(a)
    out = np.empty(x.shape, x.dtype)
    invalid = numpy_loop(loop, (1, x.shape[0]), (0, 0) + x.strides + out.strides, 1, x, out)
    if fault is not None:
        if invalid:
            raise LinAlgError(fault)
    return of_dtype(out, kind_of(a))


def inv(a):
    return _of_its_shape("inv", a, "Singular matrix")


def inv_or_nan(a):
    return _of_its_shape("inv", a, None)


def det(a):
    a = np.asarray(a)
    check_square(a)
    if a.ndim > 2:
        dets = np.empty(a.shape[:-2], kind_of(a))
        for i in range(len(a)):
            dets[i, ...] = det(a[i])
        return dets
    x = _double(a)
    out = np.empty(1, x.dtype)
    numpy_loop("det", (1, x.shape[0]), (0, 0) + x.strides, 1, x, out)
    return of_dtype(out, kind_of(a))[0]


def slogdet(a):
    a = np.asarray(a)
    check_square(a)
    if a.ndim > 2:
        signs, logarithms = np.empty(a.shape[:-2], kind_of(a)), np.empty(a.shape[:-2], real_kind(a))
        for i in range(len(a)):
            signs[i, ...], logarithms[i, ...] = slogdet(a[i])
        return SlogdetResult(signs, logarithms)
    x = _double(a)
    sign = np.empty(1, x.dtype)
    logarithm = np.empty(1, np.float64)
    numpy_loop("slogdet", (1, x.shape[0]), (0, 0, 0) + x.strides, 1, x, sign, logarithm)
    return SlogdetResult(of_dtype(sign, kind_of(a))[0], of_dtype(logarithm, real_kind(a))[0])


def cholesky(a, upper=False):
    if upper:
        return _of_its_shape("cholesky_up", a, "Matrix is not positive definite")
    return _of_its_shape("cholesky_lo", a, "Matrix is not positive definite")


def _stacked_eigh(a, UPLO):
    values, vectors = np.empty(a.shape[:-1], real_kind(a)), np.empty(a.shape, kind_of(a))
    for i in range(len(a)):
        values[i, ...], vectors[i, ...] = eigh(a[i], UPLO)
    return values, vectors


def eigh(a, UPLO="L"):
    a = np.asarray(a)
    if UPLO != "L" and UPLO != "l" and UPLO != "U" and UPLO != "u":
        raise ValueError("UPLO argument must be 'L' or 'U'")
    check_square(a)
    if a.ndim > 2:
        return EighResult(*_stacked_eigh(a, UPLO))
    x = _double(a)
    values = np.empty(x.shape[0], np.float64)
    vectors = np.empty(x.shape, x.dtype)
    steps = (0, 0, 0) + x.strides + values.strides + vectors.strides
    if UPLO == "L" or UPLO == "l":
        invalid = numpy_loop("eigh_lo", (1, x.shape[0]), steps, 1, x, values, vectors)
    else:
        invalid = numpy_loop("eigh_up", (1, x.shape[0]), steps, 1, x, values, vectors)
    if invalid:
        raise LinAlgError("Eigenvalues did not converge")
    return EighResult(of_dtype(values, real_kind(a)), of_dtype(vectors, kind_of(a)))


def eigvalsh(a, UPLO="L"):
    a = np.asarray(a)
    if UPLO != "L" and UPLO != "l" and UPLO != "U" and UPLO != "u":
        raise ValueError("UPLO argument must be 'L' or 'U'")
    check_square(a)
    if a.ndim > 2:
        stack = np.empty(a.shape[:-1], real_kind(a))
        for i in range(len(a)):
            stack[i, ...] = eigvalsh(a[i], UPLO)
        return stack
    x = _double(a)
    values = np.empty(x.shape[0], np.float64)
    steps = (0, 0) + x.strides + values.strides
    if UPLO == "L" or UPLO == "l":
        invalid = numpy_loop("eigvalsh_lo", (1, x.shape[0]), steps, 1, x, values)
    else:
        invalid = numpy_loop("eigvalsh_up", (1, x.shape[0]), steps, 1, x, values)
    if invalid:
        raise LinAlgError("Eigenvalues did not converge")
    return of_dtype(values, real_kind(a))


def _finite(a):
    for item in a.flat:
        if not np.isfinite(item):
            raise LinAlgError("Array must not contain infs or NaNs")


def complex_kind(a):
    # Always complex: whether real numbers would do is known only once they are there.
    return np.result_type(kind_of(a), np.complex64)


def eigvals(a):
    a = np.asarray(a)
    check_square(a)
    _finite(a)
    if a.ndim > 2:
        stack = np.empty(a.shape[:-1], complex_kind(a))
        for i in range(len(a)):
            stack[i, ...] = eigvals(a[i])
        return stack
    x = _double(a)
    values = np.empty(x.shape[0], np.complex128)
    if numpy_loop("eigvals", (1, x.shape[0]), (0, 0) + x.strides + values.strides, 1, x, values):
        raise LinAlgError("Eigenvalues did not converge")
    return of_dtype(values, complex_kind(a))


def _stacked_eig(a):
    values, vectors = np.empty(a.shape[:-1], complex_kind(a)), np.empty(a.shape, complex_kind(a))
    for i in range(len(a)):
        values[i, ...], vectors[i, ...] = eig(a[i])
    return values, vectors


def eig(a):
    a = np.asarray(a)
    check_square(a)
    _finite(a)
    if a.ndim > 2:
        return EigResult(*_stacked_eig(a))
    x = _double(a)
    values = np.empty(x.shape[0], np.complex128)
    vectors = np.empty(x.shape, np.complex128)
    steps = (0, 0, 0) + x.strides + values.strides + vectors.strides
    if numpy_loop("eig", (1, x.shape[0]), steps, 1, x, values, vectors):
        raise LinAlgError("Eigenvalues did not converge")
    return EigResult(of_dtype(values, complex_kind(a)), of_dtype(vectors, complex_kind(a)))


def _stacked_svd(a, full_matrices):
    m, n = a.shape[-2:]
    p = min(m, n)
    u = np.empty(a.shape[:-1] + (m if full_matrices else p,), kind_of(a))
    values = np.empty(a.shape[:-2] + (p,), real_kind(a))
    vh = np.empty(a.shape[:-2] + (n if full_matrices else p, n), kind_of(a))
    for i in range(len(a)):
        u[i, ...], values[i, ...], vh[i, ...] = svd(a[i], full_matrices)
    return u, values, vh


def _stacked_svdvals(a):
    values = np.empty(a.shape[:-2] + (min(a.shape[-2:]),), real_kind(a))
    for i in range(len(a)):
        values[i, ...] = svd(a[i], True, False)
    return values


def svd(a, full_matrices=True, compute_uv=True):
    a = np.asarray(a)
    check_matrix(a)
    if a.ndim > 2:
        if compute_uv:
            return SVDResult(*_stacked_svd(a, full_matrices))
        return _stacked_svdvals(a)
    x = _double(a)
    m = x.shape[0]
    n = x.shape[1]
    p = min(m, n)
    values = np.empty(p, np.float64)
    if not compute_uv:
        if numpy_loop("svd", (1, m, n, p), (0, 0) + x.strides + values.strides, 1, x, values):
            raise LinAlgError("SVD did not converge")
        return of_dtype(values, real_kind(a))
    if full_matrices:
        u = np.empty((m, m), x.dtype)
        vh = np.empty((n, n), x.dtype)
    else:
        u = np.empty((m, p), x.dtype)
        vh = np.empty((p, n), x.dtype)
    steps = (0, 0, 0, 0) + x.strides + u.strides + values.strides + vh.strides
    if full_matrices:
        invalid = numpy_loop("svd_f", (1, m, n, p), steps, 1, x, u, values, vh)
    else:
        invalid = numpy_loop("svd_s", (1, m, n, p), steps, 1, x, u, values, vh)
    if invalid:
        raise LinAlgError("SVD did not converge")
    return SVDResult(of_dtype(u, kind_of(a)), of_dtype(values, real_kind(a)), of_dtype(vh, kind_of(a)))


def _stacked_qr(a, mode):
    m, n = a.shape[-2:]
    k = m if mode == "complete" else min(m, n)
    q, r = np.empty(a.shape[:-1] + (k,), kind_of(a)), np.empty(a.shape[:-2] + (k, n), kind_of(a))
    for i in range(len(a)):
        q[i, ...], r[i, ...] = qr(a[i], mode)
    return q, r


def _qr_of_stack(a, mode):
    if mode == "reduced" or mode == "complete":
        return QRResult(*_stacked_qr(a, mode))
    m, n = a.shape[-2:]
    if mode == "r":
        r = np.empty(a.shape[:-2] + (min(m, n), n), kind_of(a))
        for i in range(len(a)):
            r[i, ...] = qr(a[i], "r")
        return r
    h, tau = np.empty(a.shape[:-2] + (n, m), kind_of(a)), np.empty(a.shape[:-2] + (min(m, n),), kind_of(a))
    for i in range(len(a)):
        h[i, ...], tau[i, ...] = qr(a[i], "raw")
    return h, tau


def qr(a, mode="reduced"):
    a = np.asarray(a)
    if mode != "reduced" and mode != "complete" and mode != "r" and mode != "raw":
        raise ValueError(f"Unrecognized mode '{mode}'")
    check_matrix(a)
    if a.ndim > 2:
        return _qr_of_stack(a, mode)
    m = a.shape[0]
    n = a.shape[1]
    k = min(m, n)
    x = np.empty((m, n), np.result_type(kind_of(a), np.float64))
    x[...] = a
    tau = np.empty(k, x.dtype)
    if numpy_loop("qr_r_raw", (1, m, n, k), (0, 0) + x.strides + tau.strides, 0, x, tau):
        raise LinAlgError("Incorrect argument found while performing QR factorization")
    if mode == "r":
        return of_dtype(_upper(x, k), kind_of(a))
    if mode == "raw":
        return of_dtype(x.T, kind_of(a)), of_dtype(tau, kind_of(a))
    whole = mode == "complete" and m > n
    q = np.empty((m, m if whole else k), x.dtype)
    steps = (0, 0, 0) + x.strides + tau.strides + q.strides
    if whole:
        invalid = numpy_loop("qr_complete", (1, m, n, k), steps, 2, x, tau, q)
    else:
        invalid = numpy_loop("qr_reduced", (1, m, n, k), steps, 2, x, tau, q)
    if invalid:
        raise LinAlgError("Incorrect argument found while performing QR factorization")
    return QRResult(of_dtype(q, kind_of(a)), of_dtype(_upper(x, m if whole else k), kind_of(a)))


def _upper(x, rows):
    r = np.zeros((rows, x.shape[1]), x.dtype)
    for i in range(rows):
        for j in range(i, x.shape[1]):
            r[i, j] = x[i, j]
    return r


def lstsq(a, b, rcond=None):
    a = np.asarray(a)
    b = np.asarray(b)
    if a.ndim != 2:
        raise LinAlgError(f"{a.ndim}-dimensional array given. Array must be two-dimensional")
    kind = np.result_type(kind_of(a), kind_of(b))
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
    if numpy_loop("lstsq", sizes, steps, 3, x, y, cutoff, solution, residuals, rank, s):
        raise LinAlgError("SVD did not converge in Linear Least Squares")
    known = columns if rank[0] == n and m > n else 0
    real = real_kind(np.empty(0, kind))
    left = of_dtype(residuals[:known], real)
    if b.ndim == 1:
        return solution[:, 0].astype(kind), left, rank[0], of_dtype(s, real)
    return solution[:, :columns].astype(kind), left, rank[0], of_dtype(s, real)
