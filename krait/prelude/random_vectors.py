"""Draws of several numbers that belong together: shares of one, counts, points of several coordinates; of NumPy's
generator and of a Generator, in NumPy's order, so that the numbers are the same."""

import numpy as np

from krait.prelude import draws
from krait.prelude import distributions as of
from krait.prelude.numpy_random import standard_normal
from krait.prelude.random_choice import kahan_sum


def _shape_of(size):
    return (size,) if isinstance(size, int) else size


def _rows(size, length, dtype):
    """Zeros: as many rows of that length as size says, or one if it is None."""
    if size is None:
        return np.zeros(length, dtype)
    return np.zeros((*_shape_of(size), length), dtype)


# ---- shares: Dirichlet's distribution ----


def dirichlet(alpha, size=None):
    weights = np.asarray(alpha).astype(np.float64)
    for weight in weights:
        if not weight > 0:
            raise ValueError("alpha <= 0")
    shares = _rows(size, len(weights), np.float64)
    for row in shares.reshape(-1, len(weights)):
        _fill_shares(row, weights, draws.numpy_gamma)
    return shares


def generator_dirichlet(self, alpha, size=None):
    weights = np.asarray(alpha).astype(np.float64)
    if np.any(weights < 0):
        raise ValueError("alpha < 0")
    shares = _rows(size, len(weights), np.float64)
    rows = shares.reshape(-1, len(weights))
    if len(weights) > 0 and np.max(weights) < 0.1:
        behind = np.cumsum(weights[::-1])[::-1]
        if behind[0] > 0:
            for row in rows:
                _break_stick(self, row, weights, behind)
    else:
        for row in rows:
            _fill_shares(row, weights, lambda weight: draws.generator_standard_gamma(self, weight))
    return shares


def _fill_shares(row, weights, gamma):
    total = 0.0
    for j in range(len(weights)):
        row[j] = gamma(weights[j])
        total += row[j]
    inverse = 1 / total
    for j in range(len(weights)):
        row[j] *= inverse


def _break_stick(self, row, weights, behind):
    # Of weights so small that all of their gamma numbers may be 0.
    left = 1.0
    for j in range(len(weights) - 1):
        part = draws.generator_beta(self, weights[j], behind[j + 1])
        row[j] = left * part
        left *= 1.0 - part
        if behind[j + 1] == 0:
            break
    row[len(weights) - 1] = left


# ---- counts ----


def _draws_for_nothing(state, uniform):
    """Whether a multinomial draws a number where the answer is known to be 0, as NumPy's own does from 2.5 on."""
    state.multinomial(0, [0.5, 0.5])
    return bool(uniform(state) != uniform(type(state)(np.random.MT19937(1))))


_LEGACY_DRAWS_FOR_NOTHING = _draws_for_nothing(
    np.random.RandomState(np.random.MT19937(1)), lambda state: state.random_sample()
)
_DRAWS_FOR_NOTHING = _draws_for_nothing(np.random.Generator(np.random.MT19937(1)), lambda state: state.random())


def _check_chances(chances):
    if not np.all((chances >= 0) & (chances <= 1)):
        raise ValueError("pvals < 0, pvals > 1 or pvals contains NaNs")
    for row in chances.reshape(-1, chances.shape[-1]):
        if len(row) > 1 and kahan_sum(row[:-1]) > 1.0 + 1e-12:
            raise ValueError("sum(pvals[:-1]) > 1.0")


def multinomial(n, pvals, size=None):
    chances = np.asarray(pvals).astype(np.float64)
    if n < 0:
        raise ValueError("n < 0")
    _check_chances(chances)
    counts = _rows(size, len(chances), np.int64)
    for row in counts.reshape(-1, len(chances)):
        _fill_counts(row, int(n), chances, draws.numpy_binomial, draws.numpy_double, _LEGACY_DRAWS_FOR_NOTHING)
    return counts


def generator_multinomial(self, n, pvals, size=None):
    chances = np.asarray(pvals).astype(np.float64)
    of.not_negative(n, "n < 0")
    _check_chances(chances)
    length = chances.shape[-1]
    if np.ndim(n) == 0 and chances.ndim == 1:
        counts = _rows(size, length, np.int64)
        for row in counts.reshape(-1, length):
            _generator_counts(self, row, int(n), chances)
        return counts
    shape = np.broadcast_shapes(np.shape(n), chances.shape[:-1])
    if size is None:
        return _multinomials(self, np.zeros((*shape, length), np.int64), n, chances)
    counts = _rows(size, length, np.int64)
    of.fitting(counts.shape[:-1], np.broadcast_shapes(counts.shape[:-1], shape))
    return _multinomials(self, counts, n, chances)


def _multinomials(self, counts, n, chances):
    length = counts.shape[-1]
    numbers = np.broadcast_to(np.asarray(n), counts.shape[:-1])
    rows = np.ascontiguousarray(np.broadcast_to(chances, counts.shape)).reshape(-1, length)
    for i, row in enumerate(counts.reshape(-1, length)):
        _generator_counts(self, row, int(numbers.flat[i]), rows[i])
    return counts


def _generator_counts(self, row, n, chances):
    _fill_counts(row, n, chances, lambda p, n: draws.generator_binomial(self, p, n),
                 lambda: draws.generator_standard_uniform(self), _DRAWS_FOR_NOTHING)  # fmt: skip


def _fill_counts(row, n, chances, binomial, uniform, draws_for_nothing):
    left = n
    share = 1.0
    for j in range(len(chances) - 1):
        if draws_for_nothing and (left == 0 or chances[j] == 0.0):
            uniform()
        else:
            row[j] = binomial(chances[j] / share, left)
        left -= int(row[j])
        if left <= 0:
            break
        share -= chances[j]
    if left > 0:
        row[len(chances) - 1] = left


def generator_multivariate_hypergeometric(self, colors, nsample, size=None, method="marginals"):
    kinds = np.asarray(colors)
    if method != "marginals":
        raise ValueError("multivariate_hypergeometric by another method than 'marginals' is not compiled")
    if nsample < 0:
        raise ValueError("nsample must be nonnegative.")
    if kinds.ndim != 1 or np.any(kinds < 0):
        raise ValueError(
            "colors must be a one-dimensional sequence of nonnegative integers not exceeding 9223372036854775807."
        )
    total = int(np.sum(kinds))
    if total >= 1000000000:
        raise ValueError("When method is \"marginals\", sum(colors) must be less than 1000000000.")
    if nsample > total:
        raise ValueError("nsample > sum(colors)")
    counts = _rows(size, len(kinds), np.int64)
    for row in counts.reshape(-1, len(kinds)):
        _fill_kinds(self, row, kinds, total, int(nsample))
    return counts


def _fill_kinds(self, row, kinds, total, count):
    # Of more than half of all, those are drawn that are left.
    others = count > total // 2
    left = total - count if others else count
    behind = total
    for j in range(len(kinds) - 1):
        if left <= 0:
            break
        behind -= kinds[j]
        row[j] = draws.generator_hypergeometric(self, kinds[j], behind, left)
        left -= int(row[j])
    if left > 0:
        row[len(kinds) - 1] = left
    if others:
        row[:] = kinds - row


# ---- points ----


def _check_covariance(mean, cov):
    if mean.ndim != 1:
        raise ValueError("mean must be 1 dimensional")
    if cov.ndim != 2:
        raise ValueError("cov must be 2 dimensional and square")
    if cov.shape[0] != cov.shape[1]:
        raise ValueError("cov must be 2 dimensional and square")
    if mean.shape[0] != cov.shape[0]:
        raise ValueError("mean and cov must have same length")


def _check_definite(cov, made, check_valid, tol):
    if check_valid == "raise" and not np.allclose(made, cov, rtol=tol, atol=tol):
        raise ValueError("covariance is not symmetric positive-semidefinite.")
    if check_valid != "raise" and check_valid != "warn" and check_valid != "ignore":
        raise ValueError("check_valid must equal 'warn', 'raise', or 'ignore'")


def multivariate_normal(mean, cov, size=None, check_valid="warn", tol=1e-8):
    centre = np.asarray(mean)
    spread = np.asarray(cov).astype(np.float64)
    _check_covariance(centre, spread)
    length = centre.shape[0]
    points = np.empty(_rows(size, length, np.bool_).shape)
    points[...] = standard_normal(points.shape)
    u, s, v = np.linalg.svd(spread)
    _check_definite(spread, np.dot(v.T * s, v), check_valid, tol)
    rows = np.dot(points.reshape(-1, length), np.sqrt(s)[:, None] * v)
    rows += centre
    return rows.reshape(points.shape)


def generator_multivariate_normal(self, mean, cov, size=None, check_valid="warn", tol=1e-8, *, method="svd"):
    if method != "eigh" and method != "svd" and method != "cholesky":
        raise ValueError("method must be one of {'eigh', 'svd', 'cholesky'}")
    centre = np.asarray(mean)
    spread = np.asarray(cov).astype(np.float64)
    _check_covariance(centre, spread)
    length = centre.shape[0]
    points = _rows(size, length, np.float64)
    for i in range(points.size):
        points.flat[i] = draws.generator_standard_normal(self)
    factor = _factor(spread, check_valid, tol, method)
    return (centre + points.reshape(-1, length) @ factor.T).reshape(points.shape)


def _factor(spread, check_valid, tol, method):
    if method == "svd":
        u, s, vh = np.linalg.svd(spread)
        _check_definite(spread, np.dot(vh.T * s, vh), check_valid, tol)
        return u * np.sqrt(s)
    if method == "eigh":
        values, vectors = np.linalg.eigh(spread)
        if check_valid == "raise" and np.any(values < -tol):
            raise ValueError("covariance is not symmetric positive-semidefinite.")
        return vectors * np.sqrt(np.abs(values))
    return np.linalg.cholesky(spread)
