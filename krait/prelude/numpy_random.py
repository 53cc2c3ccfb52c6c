"""numpy.random's functions: parameters are checked as NumPy checks them, then one number is drawn or an array filled.

The order in which arrays are filled is NumPy's, so that the numbers are the same."""

import numpy as np

from krait.prelude import draws
from krait.prelude.generator import check_corners


def _fill(size, draw, dtype):
    out = np.empty(size, dtype)
    for i in range(out.size):
        out.flat[i] = draw()
    return out


def rand(*shape):
    if len(shape) == 0:
        return draws.numpy_double()
    return random_sample(shape)


def randn(*shape):
    if len(shape) == 0:
        return draws.numpy_normal()
    return standard_normal(shape)


def random_sample(size=None):
    if size is None:
        return draws.numpy_double()
    return _fill(size, draws.numpy_double, np.float64)


random = sample = ranf = random_sample


def seed(seed=None):
    if seed is None:
        draws.numpy_seed(-1)
    else:
        if seed < 0 or seed > 0xFFFFFFFF:
            raise ValueError("Seed must be between 0 and 2**32 - 1")
        draws.numpy_seed(seed)


def _wrong(value):
    # -0.0 is negative for NumPy, NaN is not.
    return value == value and np.signbit(value)


def uniform(low=0.0, high=1.0, size=None):
    width = float(high) - float(low)
    if not np.isfinite(width):
        raise OverflowError("Range exceeds valid bounds")
    start = float(low)
    if size is None:
        return start + width * draws.numpy_double()
    return _fill(size, lambda: start + width * draws.numpy_double(), np.float64)


def standard_normal(size=None):
    if size is None:
        return draws.numpy_normal()
    return _fill(size, draws.numpy_normal, np.float64)


def normal(loc=0.0, scale=1.0, size=None):
    if _wrong(float(scale)):
        raise ValueError("scale < 0")
    if size is None:
        return loc + scale * draws.numpy_normal()
    return _fill(size, lambda: loc + scale * draws.numpy_normal(), np.float64)


def lognormal(mean=0.0, sigma=1.0, size=None):
    if _wrong(float(sigma)):
        raise ValueError("sigma < 0")
    if size is None:
        return draws.numpy_lognormal(mean, sigma)
    return _fill(size, lambda: draws.numpy_lognormal(mean, sigma), np.float64)


def exponential(scale=1.0, size=None):
    if _wrong(float(scale)):
        raise ValueError("scale < 0")
    if size is None:
        return scale * draws.numpy_exponential()
    return _fill(size, lambda: scale * draws.numpy_exponential(), np.float64)


def standard_exponential(size=None):
    if size is None:
        return draws.numpy_exponential()
    return _fill(size, draws.numpy_exponential, np.float64)


def gamma(shape, scale=1.0, size=None):
    if _wrong(float(shape)):
        raise ValueError("shape < 0")
    if _wrong(float(scale)):
        raise ValueError("scale < 0")
    if size is None:
        return scale * draws.numpy_gamma(shape)
    return _fill(size, lambda: scale * draws.numpy_gamma(shape), np.float64)


def standard_gamma(shape, size=None):
    if _wrong(float(shape)):
        raise ValueError("shape < 0")
    if size is None:
        return draws.numpy_gamma(shape)
    return _fill(size, lambda: draws.numpy_gamma(shape), np.float64)


def chisquare(df, size=None):
    if not df > 0:
        raise ValueError("df <= 0")
    if size is None:
        return draws.numpy_chisquare(df)
    return _fill(size, lambda: draws.numpy_chisquare(df), np.float64)


def standard_t(df, size=None):
    if not df > 0:
        raise ValueError("df <= 0")
    if size is None:
        return draws.numpy_standard_t(df)
    return _fill(size, lambda: draws.numpy_standard_t(df), np.float64)


def pareto(a, size=None):
    if not a > 0:
        raise ValueError("a <= 0")
    if size is None:
        return draws.numpy_pareto(a)
    return _fill(size, lambda: draws.numpy_pareto(a), np.float64)


def weibull(a, size=None):
    if _wrong(float(a)):
        raise ValueError("a < 0")
    if size is None:
        return draws.numpy_weibull(a)
    return _fill(size, lambda: draws.numpy_weibull(a), np.float64)


def power(a, size=None):
    if not a > 0:
        raise ValueError("a <= 0")
    if size is None:
        return draws.numpy_power(a)
    return _fill(size, lambda: draws.numpy_power(a), np.float64)


def rayleigh(scale=1.0, size=None):
    if _wrong(float(scale)):
        raise ValueError("scale < 0")
    if size is None:
        return draws.numpy_rayleigh(scale)
    return _fill(size, lambda: draws.numpy_rayleigh(scale), np.float64)


def standard_cauchy(size=None):
    if size is None:
        return draws.numpy_cauchy()
    return _fill(size, draws.numpy_cauchy, np.float64)


def beta(a, b, size=None):
    if not a > 0:
        raise ValueError("a <= 0")
    if not b > 0:
        raise ValueError("b <= 0")
    if size is None:
        return draws.numpy_beta(a, b)
    return _fill(size, lambda: draws.numpy_beta(a, b), np.float64)


def f(dfnum, dfden, size=None):
    if not dfnum > 0:
        raise ValueError("dfnum <= 0")
    if not dfden > 0:
        raise ValueError("dfden <= 0")
    if size is None:
        return draws.numpy_f(dfnum, dfden)
    return _fill(size, lambda: draws.numpy_f(dfnum, dfden), np.float64)


def wald(mean, scale, size=None):
    if not mean > 0:
        raise ValueError("mean <= 0")
    if not scale > 0:
        raise ValueError("scale <= 0")
    if size is None:
        return draws.numpy_wald(mean, scale)
    return _fill(size, lambda: draws.numpy_wald(mean, scale), np.float64)


def vonmises(mu, kappa, size=None):
    if _wrong(float(kappa)):
        raise ValueError("kappa < 0")
    if size is None:
        return draws.numpy_vonmises(mu, kappa)
    return _fill(size, lambda: draws.numpy_vonmises(mu, kappa), np.float64)


def laplace(loc=0.0, scale=1.0, size=None):
    if _wrong(float(scale)):
        raise ValueError("scale < 0")
    if size is None:
        return draws.numpy_laplace(loc, scale)
    return _fill(size, lambda: draws.numpy_laplace(loc, scale), np.float64)


def gumbel(loc=0.0, scale=1.0, size=None):
    if _wrong(float(scale)):
        raise ValueError("scale < 0")
    if size is None:
        return draws.numpy_gumbel(loc, scale)
    return _fill(size, lambda: draws.numpy_gumbel(loc, scale), np.float64)


def logistic(loc=0.0, scale=1.0, size=None):
    if _wrong(float(scale)):
        raise ValueError("scale < 0")
    if size is None:
        return draws.numpy_logistic(loc, scale)
    return _fill(size, lambda: draws.numpy_logistic(loc, scale), np.float64)


def noncentral_chisquare(df, nonc, size=None):
    if not df > 0:
        raise ValueError("df <= 0")
    if _wrong(float(nonc)):
        raise ValueError("nonc < 0")
    if size is None:
        return draws.numpy_noncentral_chisquare(df, nonc)
    return _fill(size, lambda: draws.numpy_noncentral_chisquare(df, nonc), np.float64)


def noncentral_f(dfnum, dfden, nonc, size=None):
    if not dfnum > 0:
        raise ValueError("dfnum <= 0")
    if not dfden > 0:
        raise ValueError("dfden <= 0")
    if _wrong(float(nonc)):
        raise ValueError("nonc < 0")
    if size is None:
        return draws.numpy_noncentral_f(dfnum, dfden, nonc)
    return _fill(size, lambda: draws.numpy_noncentral_f(dfnum, dfden, nonc), np.float64)


def triangular(left, mode, right, size=None):
    check_corners(left, mode, right)
    if size is None:
        return draws.numpy_triangular(left, mode, right)
    return _fill(size, lambda: draws.numpy_triangular(left, mode, right), np.float64)


# The most that NumPy takes for a mean of a count: ten standard deviations below what int64 holds.
_MOST_MEAN = np.iinfo(np.int64).max - np.sqrt(np.iinfo(np.int64).max) * 10


def poisson(lam=1.0, size=None):
    if not lam >= 0:
        raise ValueError("lam < 0 or lam is NaN")
    if not lam <= _MOST_MEAN:
        raise ValueError("lam value too large")
    if size is None:
        return draws.numpy_poisson(lam)
    return _fill(size, lambda: draws.numpy_poisson(lam), np.int64)


def _no_probability(p):
    return not p >= 0 or not p <= 1


def binomial(n, p, size=None):
    if n < 0:
        raise ValueError("n < 0")
    if _no_probability(p):
        raise ValueError("p < 0, p > 1 or p is NaN")
    count = int(n)
    if size is None:
        return draws.numpy_binomial(p, count)
    return _fill(size, lambda: draws.numpy_binomial(p, count), np.int64)


def negative_binomial(n, p, size=None):
    if not n > 0:
        raise ValueError("n <= 0")
    if not p > 0 or not p <= 1:
        raise ValueError("p <= 0, p > 1 or p contains NaNs")
    if size is None:
        return draws.numpy_negative_binomial(n, p)
    return _fill(size, lambda: draws.numpy_negative_binomial(n, p), np.int64)


def zipf(a, size=None):
    if not a > 1:
        raise ValueError("a <= 1 or a is NaN")
    if size is None:
        return draws.numpy_zipf(a)
    return _fill(size, lambda: draws.numpy_zipf(a), np.int64)


def geometric(p, size=None):
    if not p > 0 or not p <= 1:
        raise ValueError("p <= 0, p > 1 or p contains NaNs")
    if size is None:
        return draws.numpy_geometric(p)
    return _fill(size, lambda: draws.numpy_geometric(p), np.int64)


def logseries(p, size=None):
    if not p >= 0 or not p < 1:
        raise ValueError("p < 0, p >= 1 or p is NaN")
    if size is None:
        return draws.numpy_logseries(p)
    return _fill(size, lambda: draws.numpy_logseries(p), np.int64)


def hypergeometric(ngood, nbad, nsample, size=None):
    if ngood + nbad < nsample:
        raise ValueError("ngood + nbad < nsample")
    if ngood < 0:
        raise ValueError("ngood < 0")
    if nbad < 0:
        raise ValueError("nbad < 0")
    if nsample < 1:
        raise ValueError("nsample < 1")
    if size is None:
        return draws.numpy_hypergeometric(ngood, nbad, nsample)
    return _fill(size, lambda: draws.numpy_hypergeometric(ngood, nbad, nsample), np.int64)


def randint(low, high=None, size=None):
    if high is None:
        first = 0
        beyond = int(low)
    else:
        first = int(low)
        beyond = int(high)
    if first >= beyond:
        raise ValueError("low >= high" if high is not None else "high <= 0")
    if size is None:
        return draws.numpy_bounded(first, beyond - 1 - first)
    return _fill(size, lambda: draws.numpy_bounded(first, beyond - 1 - first), np.int64)


def shuffle(x):
    for i in range(len(x) - 1, 0, -1):
        j = draws.numpy_interval(i)
        if x.ndim == 1:
            x[i], x[j] = x[j], x[i]
        elif i != j:
            kept = np.empty_like(x[i])
            kept[...] = x[i]
            x[i] = x[j]
            x[j] = kept


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
