"""Methods of numpy.random.Generator: parameters are checked as NumPy checks them, then one number is drawn from its bit
generator or an array filled in NumPy's order, so that the numbers are the same."""

import numpy as np

from krait.prelude import draws


def _filled(size, draw, dtype):
    if size is None:
        return draw()
    out = np.empty(size, dtype)
    for i in range(out.size):
        out.flat[i] = draw()
    return out


def _drawn(size, out, draw, dtype):
    if out is None:
        return _filled(size, draw, dtype)
    if size is not None:
        if out.size != np.empty(size, np.bool_).size:
            raise ValueError("size must match out.shape when used together")
    for i in range(out.size):
        out.flat[i] = draw()
    return out


def check_corners(left, mode, right):
    # Of a triangle.
    if left > mode:
        raise ValueError("left > mode")
    if mode > right:
        raise ValueError("mode > right")
    if left == right:
        raise ValueError("left == right")


def _not_negative(value, name):
    # -0.0 is negative for NumPy, NaN is not.
    if value == value and np.signbit(float(value)):
        raise ValueError(f"{name} < 0")


def _positive(value, name):
    if not value > 0:
        raise ValueError(f"{name} <= 0")


# ---- of a fixed shape ----


def random(self, size=None, dtype=np.float64, out=None):
    if np.dtype(dtype) == np.float32:
        return _drawn(size, out, lambda: draws.generator_standard_uniform_f(self), np.float32)
    if np.dtype(dtype) != np.float64:
        raise TypeError(f"Unsupported dtype dtype('{np.dtype(dtype).name}') for random")
    return _drawn(size, out, lambda: draws.generator_standard_uniform(self), np.float64)


def standard_normal(self, size=None, dtype=np.float64, out=None):
    if np.dtype(dtype) == np.float32:
        return _drawn(size, out, lambda: draws.generator_standard_normal_f(self), np.float32)
    if np.dtype(dtype) != np.float64:
        raise TypeError(f"Unsupported dtype dtype('{np.dtype(dtype).name}') for standard_normal")
    return _drawn(size, out, lambda: draws.generator_standard_normal(self), np.float64)


def standard_exponential(self, size=None, dtype=np.float64, method="zig", out=None):
    if method != "zig":
        raise ValueError("standard_exponential by another method than 'zig' is not compiled")
    if np.dtype(dtype) == np.float32:
        return _drawn(size, out, lambda: draws.generator_standard_exponential_f(self), np.float32)
    if np.dtype(dtype) != np.float64:
        raise TypeError(f"Unsupported dtype dtype('{np.dtype(dtype).name}') for standard_exponential")
    return _drawn(size, out, lambda: draws.generator_standard_exponential(self), np.float64)


def standard_cauchy(self, size=None):
    return _filled(size, lambda: draws.generator_standard_cauchy(self), np.float64)


# ---- of one parameter ----


def exponential(self, scale=1.0, size=None):
    _not_negative(scale, "scale")
    return _filled(size, lambda: draws.generator_exponential(self, scale), np.float64)


def standard_gamma(self, shape, size=None):
    _not_negative(shape, "shape")
    return _filled(size, lambda: draws.generator_standard_gamma(self, shape), np.float64)


def chisquare(self, df, size=None):
    _positive(df, "df")
    return _filled(size, lambda: draws.generator_chisquare(self, df), np.float64)


def standard_t(self, df, size=None):
    _positive(df, "df")
    return _filled(size, lambda: draws.generator_standard_t(self, df), np.float64)


def pareto(self, a, size=None):
    _positive(a, "a")
    return _filled(size, lambda: draws.generator_pareto(self, a), np.float64)


def weibull(self, a, size=None):
    _not_negative(a, "a")
    return _filled(size, lambda: draws.generator_weibull(self, a), np.float64)


def power(self, a, size=None):
    _positive(a, "a")
    return _filled(size, lambda: draws.generator_power(self, a), np.float64)


def rayleigh(self, scale=1.0, size=None):
    _not_negative(scale, "scale")
    return _filled(size, lambda: draws.generator_rayleigh(self, scale), np.float64)


# ---- of two or three ----


def uniform(self, low=0.0, high=1.0, size=None):
    width = float(high) - float(low)
    if not np.isfinite(width):
        raise OverflowError("high - low range exceeds valid bounds")
    _not_negative(width, "high - low")
    return _filled(size, lambda: draws.generator_uniform(self, low, width), np.float64)


def normal(self, loc=0.0, scale=1.0, size=None):
    _not_negative(scale, "scale")
    return _filled(size, lambda: draws.generator_normal(self, loc, scale), np.float64)


def lognormal(self, mean=0.0, sigma=1.0, size=None):
    _not_negative(sigma, "sigma")
    return _filled(size, lambda: draws.generator_lognormal(self, mean, sigma), np.float64)


def gamma(self, shape, scale=1.0, size=None):
    _not_negative(shape, "shape")
    _not_negative(scale, "scale")
    return _filled(size, lambda: draws.generator_gamma(self, shape, scale), np.float64)


def beta(self, a, b, size=None):
    _positive(a, "a")
    _positive(b, "b")
    return _filled(size, lambda: draws.generator_beta(self, a, b), np.float64)


def f(self, dfnum, dfden, size=None):
    _positive(dfnum, "dfnum")
    _positive(dfden, "dfden")
    return _filled(size, lambda: draws.generator_f(self, dfnum, dfden), np.float64)


def noncentral_f(self, dfnum, dfden, nonc, size=None):
    _positive(dfnum, "dfnum")
    _positive(dfden, "dfden")
    _not_negative(nonc, "nonc")
    return _filled(size, lambda: draws.generator_noncentral_f(self, dfnum, dfden, nonc), np.float64)


def noncentral_chisquare(self, df, nonc, size=None):
    _positive(df, "df")
    _not_negative(nonc, "nonc")
    return _filled(size, lambda: draws.generator_noncentral_chisquare(self, df, nonc), np.float64)


def laplace(self, loc=0.0, scale=1.0, size=None):
    _not_negative(scale, "scale")
    return _filled(size, lambda: draws.generator_laplace(self, loc, scale), np.float64)


def gumbel(self, loc=0.0, scale=1.0, size=None):
    _not_negative(scale, "scale")
    return _filled(size, lambda: draws.generator_gumbel(self, loc, scale), np.float64)


def logistic(self, loc=0.0, scale=1.0, size=None):
    _not_negative(scale, "scale")
    return _filled(size, lambda: draws.generator_logistic(self, loc, scale), np.float64)


def wald(self, mean, scale, size=None):
    _positive(mean, "mean")
    _positive(scale, "scale")
    return _filled(size, lambda: draws.generator_wald(self, mean, scale), np.float64)


def vonmises(self, mu, kappa, size=None):
    _not_negative(kappa, "kappa")
    return _filled(size, lambda: draws.generator_vonmises(self, mu, kappa), np.float64)


def triangular(self, left, mode, right, size=None):
    check_corners(left, mode, right)
    return _filled(size, lambda: draws.generator_triangular(self, left, mode, right), np.float64)


# ---- counts ----


def poisson(self, lam=1.0, size=None):
    if not lam >= 0:
        raise ValueError("lam < 0 or lam is NaN")
    if lam > 9.223372006484771e18:
        raise ValueError("lam value too large")
    return _filled(size, lambda: draws.generator_poisson(self, lam), np.int64)


def zipf(self, a, size=None):
    if not a > 1:
        raise ValueError("a <= 1 or a is NaN")
    return _filled(size, lambda: draws.generator_zipf(self, a), np.int64)


def logseries(self, p, size=None):
    if not (p >= 0 and p < 1):
        raise ValueError("p < 0, p >= 1 or p is NaN")
    return _filled(size, lambda: draws.generator_logseries(self, p), np.int64)


def geometric(self, p, size=None):
    if not (p > 0 and p <= 1):
        raise ValueError("p <= 0, p > 1 or p contains NaNs")
    return _filled(size, lambda: draws.generator_geometric(self, p), np.int64)


def negative_binomial(self, n, p, size=None):
    _positive(n, "n")
    if not (p > 0 and p <= 1):
        raise ValueError("p <= 0, p > 1 or p contains NaNs")
    return _filled(size, lambda: draws.generator_negative_binomial(self, n, p), np.int64)


def binomial(self, n, p, size=None):
    if not (p >= 0 and p <= 1):
        raise ValueError("p < 0, p > 1 or p is NaN")
    if n < 0:
        raise ValueError("n < 0")
    return _filled(size, lambda: draws.generator_binomial(self, p, n), np.int64)


def hypergeometric(self, ngood, nbad, nsample, size=None):
    if ngood + nbad < nsample:
        raise ValueError("ngood + nbad < nsample")
    _not_negative(ngood, "ngood")
    _not_negative(nbad, "nbad")
    _not_negative(nsample, "nsample")
    return _filled(size, lambda: draws.generator_hypergeometric(self, ngood, nbad, nsample), np.int64)


def integers(self, low, high=None, size=None, dtype=np.int64, endpoint=False):
    if high is None:
        return _integers(self, 0, low, size, dtype, endpoint)
    return _integers(self, low, high, size, dtype, endpoint)


def _integers(self, low, high, size, dtype, endpoint):
    if np.dtype(dtype).itemsize < 4 or np.dtype(dtype).kind == "b":
        raise TypeError("integers of less than 32 bits are not drawn in compiled code: use dtype=np.int64 and astype")
    facts = np.iinfo(dtype)
    if low < facts.min:
        raise ValueError(f"low is out of bounds for {np.dtype(dtype).name}")
    most = high if endpoint else high - 1
    if most > facts.max:
        raise ValueError(f"high is out of bounds for {np.dtype(dtype).name}")
    if low > most:
        raise ValueError("low > high" if endpoint else "low >= high")
    kind = np.dtype(dtype).type
    if np.dtype(dtype).itemsize == 4:
        return _filled(size, lambda: kind(draws.generator_bounded32(self, low, most - low)), dtype)
    return _filled(size, lambda: kind(draws.generator_bounded(self, low, most - low)), dtype)


# ---- orders ----


def shuffle(self, x, axis=0):
    if axis == 0:
        _shuffle(self, x)
    else:
        _shuffle(self, np.swapaxes(x, 0, axis))


def _shuffle(self, x):
    if x.ndim == 1:
        for i in range(len(x) - 1, 0, -1):
            j = draws.generator_interval(self, i)
            x[i], x[j] = x[j], x[i]
    else:
        kept = np.empty(x.shape[1:], x.dtype)
        for i in range(len(x) - 1, 0, -1):
            j = draws.generator_interval(self, i)
            if i != j:
                kept[...] = x[j]
                x[j, ...] = x[i]
                x[i, ...] = kept


def permutation(self, x, axis=0):
    if np.ndim(x) == 0:
        order = np.arange(x)
        _shuffle(self, order)
        return order
    x = np.asarray(x)
    if x.ndim == 1:
        new = np.array(x)
        _shuffle(self, new)
        return new
    moved = x if axis == 0 else np.swapaxes(x, 0, axis)
    order = np.arange(moved.shape[0])
    _shuffle(self, order)
    new = np.empty_like(x)
    to = new if axis == 0 else np.swapaxes(new, 0, axis)
    for i in range(len(order)):
        to[i, ...] = moved[order[i]]
    return new
