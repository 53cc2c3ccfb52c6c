"""Methods of numpy.random.Generator: parameters are checked as NumPy checks them, then one number is drawn from its bit
generator or an array filled in NumPy's order, so that the numbers are the same."""

import numpy as np

from krait.prelude import distributions as of
from krait.prelude import draws, random_integers


def _floats(self, draw, size, *parameters):
    return of.floats(lambda *given: draw(self, *given), size, *parameters)


def _counts(self, draw, size, *parameters):
    return of.counts(lambda *given: draw(self, *given), size, *parameters)


def _drawn(size, out, draw, dtype):
    if out is None:
        return draw() if size is None else of.filled(draw, size, dtype)
    if size is not None:
        if out.size != np.empty(size, np.bool_).size:
            raise ValueError("size must match out.shape when used together")
    for i in range(out.size):
        out.flat[i] = draw()
    return out


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


def _by_logarithm(uniform):
    return float(-np.log1p(-uniform))


def _by_logarithm_f(self):
    return _by_logarithm(np.float32(draws.generator_standard_uniform_f(self)))


def standard_exponential(self, size=None, dtype=np.float64, method="zig", out=None):
    if np.dtype(dtype) == np.float32:
        if method != "zig":
            return _drawn(size, out, lambda: _by_logarithm_f(self), np.float32)
        return _drawn(size, out, lambda: draws.generator_standard_exponential_f(self), np.float32)
    if np.dtype(dtype) != np.float64:
        raise TypeError(f"Unsupported dtype dtype('{np.dtype(dtype).name}') for standard_exponential")
    if method != "zig":
        return _drawn(size, out, lambda: _by_logarithm(draws.generator_standard_uniform(self)), np.float64)
    return _drawn(size, out, lambda: draws.generator_standard_exponential(self), np.float64)


def standard_cauchy(self, size=None):
    return _floats(self, draws.generator_standard_cauchy, size)


# ---- of one parameter ----


def exponential(self, scale=1.0, size=None):
    of.not_negative(scale, "scale < 0")
    return _floats(self, draws.generator_exponential, size, scale)


def standard_gamma(self, shape, size=None):
    of.not_negative(shape, "shape < 0")
    return _floats(self, draws.generator_standard_gamma, size, shape)


def chisquare(self, df, size=None):
    of.positive(df, "df <= 0")
    return _floats(self, draws.generator_chisquare, size, df)


def standard_t(self, df, size=None):
    of.positive(df, "df <= 0")
    return _floats(self, draws.generator_standard_t, size, df)


def pareto(self, a, size=None):
    of.positive(a, "a <= 0")
    return _floats(self, draws.generator_pareto, size, a)


def weibull(self, a, size=None):
    of.not_negative(a, "a < 0")
    return _floats(self, draws.generator_weibull, size, a)


def power(self, a, size=None):
    of.positive(a, "a <= 0")
    return _floats(self, draws.generator_power, size, a)


def rayleigh(self, scale=1.0, size=None):
    of.not_negative(scale, "scale < 0")
    return _floats(self, draws.generator_rayleigh, size, scale)


# ---- of two or three ----


def uniform(self, low=0.0, high=1.0, size=None):
    width = of.width(low, high)
    if not np.all(np.isfinite(width)):
        raise OverflowError(f"{'high - low range' if np.ndim(width) == 0 else 'Range'} exceeds valid bounds")
    of.not_negative(width, "high - low < 0")
    return _floats(self, draws.generator_uniform, size, low, width)


def normal(self, loc=0.0, scale=1.0, size=None):
    of.not_negative(scale, "scale < 0")
    return _floats(self, draws.generator_normal, size, loc, scale)


def lognormal(self, mean=0.0, sigma=1.0, size=None):
    of.not_negative(sigma, "sigma < 0")
    return _floats(self, draws.generator_lognormal, size, mean, sigma)


def gamma(self, shape, scale=1.0, size=None):
    of.not_negative(shape, "shape < 0")
    of.not_negative(scale, "scale < 0")
    return _floats(self, draws.generator_gamma, size, shape, scale)


def beta(self, a, b, size=None):
    of.positive(a, "a <= 0")
    of.positive(b, "b <= 0")
    return _floats(self, draws.generator_beta, size, a, b)


def f(self, dfnum, dfden, size=None):
    of.positive(dfnum, "dfnum <= 0")
    of.positive(dfden, "dfden <= 0")
    return _floats(self, draws.generator_f, size, dfnum, dfden)


def noncentral_f(self, dfnum, dfden, nonc, size=None):
    of.positive(dfnum, "dfnum <= 0")
    of.positive(dfden, "dfden <= 0")
    of.not_negative(nonc, "nonc < 0")
    return _floats(self, draws.generator_noncentral_f, size, dfnum, dfden, nonc)


def noncentral_chisquare(self, df, nonc, size=None):
    of.positive(df, "df <= 0")
    of.not_negative(nonc, "nonc < 0")
    return _floats(self, draws.generator_noncentral_chisquare, size, df, nonc)


def laplace(self, loc=0.0, scale=1.0, size=None):
    of.not_negative(scale, "scale < 0")
    return _floats(self, draws.generator_laplace, size, loc, scale)


def gumbel(self, loc=0.0, scale=1.0, size=None):
    of.not_negative(scale, "scale < 0")
    return _floats(self, draws.generator_gumbel, size, loc, scale)


def logistic(self, loc=0.0, scale=1.0, size=None):
    of.not_negative(scale, "scale < 0")
    return _floats(self, draws.generator_logistic, size, loc, scale)


def wald(self, mean, scale, size=None):
    of.positive(mean, "mean <= 0")
    of.positive(scale, "scale <= 0")
    return _floats(self, draws.generator_wald, size, mean, scale)


def vonmises(self, mu, kappa, size=None):
    of.not_negative(kappa, "kappa < 0")
    return _floats(self, draws.generator_vonmises, size, mu, kappa)


def triangular(self, left, mode, right, size=None):
    of.corners(left, mode, right)
    return _floats(self, draws.generator_triangular, size, left, mode, right)


# ---- counts ----


def poisson(self, lam=1.0, size=None):
    of.mean_of_counts(lam)
    return _counts(self, draws.generator_poisson, size, lam)


def zipf(self, a, size=None):
    of.above_one(a)
    return _counts(self, draws.generator_zipf, size, a)


def logseries(self, p, size=None):
    of.share_below_one(p)
    return _counts(self, draws.generator_logseries, size, p)


def geometric(self, p, size=None):
    of.chance(p)
    return _counts(self, draws.generator_geometric, size, p)


def negative_binomial(self, n, p, size=None):
    of.positive(n, "n <= 0")
    of.chance(p)
    return _counts(self, draws.generator_negative_binomial, size, n, p)


def binomial(self, n, p, size=None):
    of.whole(n)
    of.probability(p)
    of.not_negative(n, "n < 0")
    return of.counts(lambda n, p: draws.generator_binomial(self, p, int(n)), size, n, p)


def hypergeometric(self, ngood, nbad, nsample, size=None):
    of.urn(ngood, nbad, nsample)
    of.not_negative(nsample, "nsample < 0")
    return _counts(self, draws.generator_hypergeometric, size, ngood, nbad, nsample)


def integers(self, low, high=None, size=None, dtype=np.int64, endpoint=False):
    if high is None:
        return _integers(self, 0, low, size, dtype, endpoint)
    return _integers(self, low, high, size, dtype, endpoint)


def _word(self):
    return draws.generator_bounded32(self, 0, 0xFFFFFFFF)


def _integers(self, low, high, size, dtype, endpoint):
    if np.dtype(dtype).itemsize == 4:
        return random_integers.drawn(low, high, size, dtype, endpoint,
                                     lambda least, width: draws.generator_bounded32(self, least, width),
                                     lambda: _word(self), False)  # fmt: skip
    return random_integers.drawn(low, high, size, dtype, endpoint,
                                 lambda least, width: draws.generator_bounded(self, least, width),
                                 lambda: _word(self), False)  # fmt: skip


def bytes(self, length):
    return _integers(self, 0, 0x100000000, max((length + 3) // 4, 1), np.uint32, False).tobytes()[:length]


# ---- orders ----


def shuffle(self, x, axis=0):
    if axis == 0:
        _shuffle(self, x)
    else:
        _shuffle(self, np.swapaxes(x, 0, axis))


def _shuffle(self, x):
    if x.ndim == 1 and x.dtype.kind != "V":
        for i in range(len(x) - 1, 0, -1):
            j = draws.generator_interval(self, i)
            x[i], x[j] = x[j], x[i]
    else:  # what is taken of such an array is a view
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


def permuted(self, x, *, axis=None, out=None):
    new = np.array(x)
    if out is not None:
        out[...] = new
        return _permuted(self, out, axis)
    return _permuted(self, new, axis)


def _permuted(self, x, axis):
    if axis is None:
        line = np.copy(x).reshape(-1)
        _shuffle(self, line)
        x[...] = line.reshape(x.shape)
    else:
        lines = np.moveaxis(x, axis, -1)
        for place in np.ndindex(lines.shape[:-1]):
            _shuffle(self, lines[place])
    return x
