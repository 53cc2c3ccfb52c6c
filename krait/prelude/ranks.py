"""numpy.linalg: what is made of decompositions and products of matrices and of stacks of them: powers, Hermitian
singular values, pseudo-inverses, ranks."""

import numpy as np

from krait.prelude.linear import SVDResult, check_matrix, check_square, eigh, eigvalsh, inv, real_kind, svd
from krait.prelude.searching import take_along_axis


def matrix_power(a, n):
    a = np.asarray(a)
    check_square(a)
    if not isinstance(n, (int, np.integer)):
        raise TypeError("exponent must be an integer")
    if n == 1:
        return a
    if a.dtype.kind == "f" or a.dtype.kind == "c":
        return _power(a.copy() if n >= 0 else inv(a), abs(n))
    if n < 0:
        raise ValueError("integers are raised to a negative power as floats: use a.astype(np.float64)")
    return _power(a.copy(), n)


def _power(base, left):
    # By squares; the products are those that NumPy makes.
    if left == 0:
        base[...] = np.eye(base.shape[-1], dtype=base.dtype)
        return base
    if left == 3:
        return np.matmul(np.matmul(base, base), base)
    result, first = base, True
    while left > 0:
        if left % 2:
            result = base if first else np.matmul(result, base)
            first = False
        left //= 2
        if left > 0:
            base = np.matmul(base, base)
    return result


# ---- singular values of Hermitian matrices: the eigenvalues' sizes, the greatest first ----


def svd_of(a, full_matrices=True, compute_uv=True, hermitian=False):
    a = np.asarray(a)
    if not hermitian:
        return svd(a, full_matrices, compute_uv)
    if not compute_uv:
        return np.sort(np.abs(eigvalsh(a)))[..., ::-1]
    values, vectors = eigh(a)
    order = np.argsort(np.abs(values))[..., ::-1]
    signs = take_along_axis(np.sign(values), order, -1)
    u = take_along_axis(vectors, order[..., None, :], -1)
    return SVDResult(
        u, take_along_axis(np.abs(values), order, -1), np.conjugate(np.swapaxes(u * signs[..., None, :], -1, -2))
    )


def _for_each(limit):
    # A limit for every matrix, with an axis for its singular values.
    return np.asarray(limit)[..., None]


def _epsilon(a):
    return max(a.shape[-2:]) * float(np.finfo(real_kind(a)).eps)


def pinv(a, rcond=None, hermitian=False, rtol=()):
    a = np.asarray(a)
    if rcond is not None and not isinstance(rtol, tuple):
        raise ValueError("`rtol` and `rcond` can't be both set.")
    if rcond is not None:
        return _inverse(a, _for_each(rcond), hermitian)
    if isinstance(rtol, tuple):
        return _inverse(a, _for_each(1e-15), hermitian)
    if rtol is None:
        return _inverse(a, _for_each(_epsilon(a)), hermitian)
    return _inverse(a, _for_each(rtol), hermitian)


def _inverse(a, cutoff, hermitian):
    check_matrix(a)
    u, s, vh = svd_of(np.conjugate(a), False, True, hermitian)
    if s.shape[-1] > 0:
        large = s > cutoff * np.max(s, -1, None, True)
        s = np.where(large, np.divide(1, np.where(large, s, s.dtype.type(1))), s.dtype.type(0))
    return np.matmul(np.swapaxes(vh, -1, -2), s[..., None] * np.swapaxes(u, -1, -2))


def matrix_rank(A, tol=None, hermitian=False, rtol=None):
    a = np.asarray(A)
    if tol is not None and rtol is not None:
        raise ValueError("`tol` and `rtol` can't be both set.")
    if a.ndim < 2:
        return int(np.any(a != 0))
    s = svd_of(a, True, False, hermitian)
    if tol is not None:
        return np.count_nonzero(s > _for_each(tol), -1)
    greatest = np.max(s, -1, None, True, 0)
    if rtol is not None:
        return np.count_nonzero(s > greatest * _for_each(rtol), -1)
    return np.count_nonzero(s > greatest * s.dtype.type(_epsilon(a)), -1)
