"""numpy.random's functions: parameters are checked as NumPy checks them, then one number is drawn or an array filled.

The order in which arrays are filled is NumPy's, so that the numbers are the same."""

import numpy as np

from krait.prelude import distributions as of
from krait.prelude import draws, random_integers


def rand(*shape):
    if len(shape) == 0:
        return draws.numpy_double()
    return random_sample(shape)


def randn(*shape):
    if len(shape) == 0:
        return draws.numpy_normal()
    return standard_normal(shape)


def random_sample(size=None):
    return of.floats(draws.numpy_double, size)


random = sample = ranf = random_sample


def seed(seed=None):
    if seed is None:
        draws.numpy_seed(-1)
    else:
        if seed < 0 or seed > 0xFFFFFFFF:
            raise ValueError("Seed must be between 0 and 2**32 - 1")
        draws.numpy_seed(seed)


def uniform(low=0.0, high=1.0, size=None):
    width = of.width(low, high)
    if not np.all(np.isfinite(width)):
        raise OverflowError("Range exceeds valid bounds")
    return of.floats(lambda low, width: float(low) + width * draws.numpy_double(), size, low, width)


def standard_normal(size=None):
    return of.floats(draws.numpy_normal, size)


def normal(loc=0.0, scale=1.0, size=None):
    of.not_negative(scale, "scale < 0")
    return of.floats(lambda loc, scale: float(loc) + float(scale) * draws.numpy_normal(), size, loc, scale)


def lognormal(mean=0.0, sigma=1.0, size=None):
    of.not_negative(sigma, "sigma < 0")
    return of.floats(draws.numpy_lognormal, size, mean, sigma)


def exponential(scale=1.0, size=None):
    of.not_negative(scale, "scale < 0")
    return of.floats(lambda scale: float(scale) * draws.numpy_exponential(), size, scale)


def standard_exponential(size=None):
    return of.floats(draws.numpy_exponential, size)


def gamma(shape, scale=1.0, size=None):
    of.not_negative(shape, "shape < 0")
    of.not_negative(scale, "scale < 0")
    return of.floats(lambda shape, scale: float(scale) * draws.numpy_gamma(shape), size, shape, scale)


def standard_gamma(shape, size=None):
    of.not_negative(shape, "shape < 0")
    return of.floats(draws.numpy_gamma, size, shape)


def chisquare(df, size=None):
    of.positive(df, "df <= 0")
    return of.floats(draws.numpy_chisquare, size, df)


def standard_t(df, size=None):
    of.positive(df, "df <= 0")
    return of.floats(draws.numpy_standard_t, size, df)


def pareto(a, size=None):
    of.positive(a, "a <= 0")
    return of.floats(draws.numpy_pareto, size, a)


def weibull(a, size=None):
    of.not_negative(a, "a < 0")
    return of.floats(draws.numpy_weibull, size, a)


def power(a, size=None):
    of.positive(a, "a <= 0")
    return of.floats(draws.numpy_power, size, a)


def rayleigh(scale=1.0, size=None):
    of.not_negative(scale, "scale < 0")
    return of.floats(draws.numpy_rayleigh, size, scale)


def standard_cauchy(size=None):
    return of.floats(draws.numpy_cauchy, size)


def beta(a, b, size=None):
    of.positive(a, "a <= 0")
    of.positive(b, "b <= 0")
    return of.floats(draws.numpy_beta, size, a, b)


def f(dfnum, dfden, size=None):
    of.positive(dfnum, "dfnum <= 0")
    of.positive(dfden, "dfden <= 0")
    return of.floats(draws.numpy_f, size, dfnum, dfden)


def wald(mean, scale, size=None):
    of.positive(mean, "mean <= 0")
    of.positive(scale, "scale <= 0")
    return of.floats(draws.numpy_wald, size, mean, scale)


def vonmises(mu, kappa, size=None):
    of.not_negative(kappa, "kappa < 0")
    return of.floats(draws.numpy_vonmises, size, mu, kappa)


def laplace(loc=0.0, scale=1.0, size=None):
    of.not_negative(scale, "scale < 0")
    return of.floats(draws.numpy_laplace, size, loc, scale)


def gumbel(loc=0.0, scale=1.0, size=None):
    of.not_negative(scale, "scale < 0")
    return of.floats(draws.numpy_gumbel, size, loc, scale)


def logistic(loc=0.0, scale=1.0, size=None):
    of.not_negative(scale, "scale < 0")
    return of.floats(draws.numpy_logistic, size, loc, scale)


def noncentral_chisquare(df, nonc, size=None):
    of.positive(df, "df <= 0")
    of.not_negative(nonc, "nonc < 0")
    return of.floats(draws.numpy_noncentral_chisquare, size, df, nonc)


def noncentral_f(dfnum, dfden, nonc, size=None):
    of.positive(dfnum, "dfnum <= 0")
    of.positive(dfden, "dfden <= 0")
    of.not_negative(nonc, "nonc < 0")
    return of.floats(draws.numpy_noncentral_f, size, dfnum, dfden, nonc)


def triangular(left, mode, right, size=None):
    of.corners(left, mode, right)
    return of.floats(draws.numpy_triangular, size, left, mode, right)


def poisson(lam=1.0, size=None):
    of.mean_of_counts(lam)
    return of.counts(draws.numpy_poisson, size, lam)


def binomial(n, p, size=None):
    of.whole(n)
    of.probability(p)
    of.not_negative(n, "n < 0")
    return of.counts(lambda n, p: draws.numpy_binomial(p, int(n)), size, n, p)


def negative_binomial(n, p, size=None):
    of.positive(n, "n <= 0")
    of.chance(p)
    return of.counts(draws.numpy_negative_binomial, size, n, p)


def zipf(a, size=None):
    of.above_one(a)
    return of.counts(draws.numpy_zipf, size, a)


def geometric(p, size=None):
    of.chance(p)
    return of.counts(draws.numpy_geometric, size, p)


def logseries(p, size=None):
    of.share_below_one(p)
    return of.counts(draws.numpy_logseries, size, p)


def hypergeometric(ngood, nbad, nsample, size=None):
    of.urn(ngood, nbad, nsample)
    of.at_least_one(nsample)
    return of.counts(draws.numpy_hypergeometric, size, ngood, nbad, nsample)


def randint(low, high=None, size=None, dtype=int):
    if high is None:
        return _randint(0, low, size, dtype)
    return _randint(low, high, size, dtype)


def _randint(low, high, size, dtype):
    if dtype is int and size is None and np.ndim(low) == 0 and np.ndim(high) == 0:
        return int(_integers(low, high, None, np.int64))
    return _integers(low, high, size, dtype)


def _integers(low, high, size, dtype):
    return random_integers.drawn(low, high, size, dtype, False, draws.numpy_bounded, _word, True)


def _word():
    return draws.numpy_bounded(0, 0xFFFFFFFF)


def bytes(length):
    return _randint(0, 0x100000000, max((length + 3) // 4, 1), np.uint32).tobytes()[:length]


def shuffle(x):
    for i in range(len(x) - 1, 0, -1):
        j = draws.numpy_interval(i)
        if x.ndim == 1 and x.dtype.kind != "V":
            x[i], x[j] = x[j], x[i]
        elif i != j:  # what is taken of such an array is a view
            kept = np.empty(x.shape[1:], x.dtype)
            kept[...] = x[i]
            x[i, ...] = x[j]
            x[j, ...] = kept


def permutation(x):
    if np.ndim(x) == 0:
        items = np.empty(max(int(x), 0), np.int64)
        for i in range(len(items)):
            items[i] = i
    else:
        items = np.empty_like(x)
        items[...] = x
    shuffle(items)
    return items
