"""The functions of the module random, from the same draws in the same order as the standard library's."""

import math

import numpy as np

from krait.prelude import draws

_NORMAL = 4 * math.exp(-0.5) / math.sqrt(2.0)
_LOG4 = math.log(4.0)
_GAMMA = 1.0 + math.log(4.5)
_TURN = 2.0 * math.pi


def random():
    return draws.python_double()


def seed(a=None):
    if a is None:
        draws.python_seed(-1)
    else:
        draws.python_seed(abs(int(a)))


def getrandbits(k):
    if k < 0:
        raise ValueError("number of bits must be non-negative")
    if k > 63:
        raise OverflowError("compiled code holds 63 random bits at most")
    return draws.python_bits(k) if k else 0


def uniform(a, b):
    return a + (b - a) * draws.python_double()


def randrange(start, stop=None, step=1):
    if stop is None:
        if start <= 0:
            raise ValueError("empty range for randrange()")
        return draws.python_below(start)
    if step == 0:
        raise ValueError("zero step for randrange()")
    if (stop <= start) if step > 0 else (stop >= start):
        raise ValueError("empty range for randrange()")
    try:
        count = len(range(start, stop, step))
    except OverflowError:
        raise OverflowError("a range of more than 2**63 - 1 numbers is too large for compiled code") from None
    return start + step * _below(count)


def _below(count):
    # What a range has more than an int holds has wrapped.
    if count <= 0:
        raise OverflowError("a range of more than 2**63 - 1 numbers is too large for compiled code")
    return draws.python_below(count)


def randint(a, b):
    if b < a:
        raise ValueError("empty range for randrange()")
    return a + _below(b - a + 1)


def choice(seq):
    if len(seq) == 0:
        raise IndexError("Cannot choose from an empty sequence")
    return seq[draws.python_below(len(seq))]


def choices(population, weights=None, *, cum_weights=None, k=1):
    n = len(population)
    if cum_weights is None:
        if weights is None:
            return [population[math.floor(draws.python_double() * (n + 0.0))] for _ in range(k)]
        return _weighted(population, _running(weights), k)
    if weights is not None:
        raise TypeError("Cannot specify both weights and cumulative weights")
    return _weighted(population, cum_weights, k)


def _running(weights):
    total = weights[0]
    sums = [total]
    for i in range(1, len(weights)):
        before = total
        total = total + weights[i]
        if isinstance(total, int) and (total < before) != (weights[i] < 0):
            raise OverflowError("the sum of the weights is too large for compiled code, whose int has 64 bits")
        sums.append(total)
    return sums


def _weighted(population, sums, k):
    if len(sums) != len(population):
        raise ValueError("The number of weights does not match the population")
    total = sums[len(sums) - 1] + 0.0
    if total <= 0.0:
        raise ValueError("Total of weights must be greater than zero")
    if not math.isfinite(total):
        raise ValueError("Total of weights must be finite")
    return [population[_place(sums, draws.python_double() * total)] for _ in range(k)]


def _place(sums, x):
    # bisect.bisect(sums, x, 0, len(sums) - 1)
    low, high = 0, len(sums) - 1
    while low < high:
        middle = (low + high) // 2
        if x < sums[middle]:
            high = middle
        else:
            low = middle + 1
    return low


def sample(population, k, *, counts=None):
    if isinstance(population, np.ndarray):
        raise TypeError("Population must be a sequence.  For dicts or sets, use sorted(d).")
    n = len(population)
    if counts is not None:
        sums = _running(counts)
        if len(sums) != n:
            raise ValueError("The number of counts does not match the population")
        if sums[n - 1] <= 0:
            raise ValueError("Total of counts must be greater than zero")
        return [population[_place(sums, place)] for place in _places(sums[n - 1], k)]
    return [population[place] for place in _places(n, k)]


def _places(n, k):
    if not 0 <= k <= n:
        raise ValueError("Sample larger than population or is negative")
    places = [i for i in range(0)]
    size = 21
    if k > 5:
        size += 4 ** math.ceil(math.log(k * 3) / math.log(4))
    if n <= size:
        pool = [i for i in range(n)]
        for i in range(k):
            j = draws.python_below(n - i)
            places.append(pool[j])
            pool[j] = pool[n - i - 1]
        return places
    taken = {-1}
    while len(places) < k:
        j = draws.python_below(n)
        if j not in taken:
            taken.add(j)
            places.append(j)
    return places


def shuffle(x):
    for i in range(len(x) - 1, 0, -1):
        j = draws.python_below(i + 1)
        x[i], x[j] = x[j], x[i]


def triangular(low=0.0, high=1.0, mode=None):
    u = draws.python_double()
    if high == low:
        return float(low)
    if mode is None:
        c = 0.5
    else:
        c = (mode - low) / (high - low)
    first = float(low)
    last = float(high)
    if u > c:
        u = 1.0 - u
        c = 1.0 - c
        first, last = last, first
    return first + (last - first) * math.sqrt(u * c)


def _normal():
    while True:
        u1 = draws.python_double()
        u2 = 1.0 - draws.python_double()
        z = _NORMAL * (u1 - 0.5) / u2
        if z * z / 4.0 <= -math.log(u2):
            return z


def normalvariate(mu=0.0, sigma=1.0):
    return mu + _normal() * sigma


def lognormvariate(mu, sigma):
    return math.exp(mu + _normal() * sigma)


def expovariate(lambd):
    return -math.log(1.0 - draws.python_double()) / lambd


def vonmisesvariate(mu, kappa):
    if kappa <= 1e-6:
        return _TURN * draws.python_double()
    s = 0.5 / kappa
    r = s + math.sqrt(1.0 + s * s)
    while True:
        z = math.cos(math.pi * draws.python_double())
        d = z / (r + z)
        u2 = draws.python_double()
        if u2 < 1.0 - d * d or u2 <= (1.0 - d) * math.exp(d):
            break
    q = 1.0 / r
    f = (q + z) / (1.0 + q * z)
    if draws.python_double() > 0.5:
        return (mu + math.acos(f)) % _TURN
    return (mu - math.acos(f)) % _TURN


def gammavariate(alpha, beta):
    if alpha <= 0.0 or beta <= 0.0:
        raise ValueError("gammavariate: alpha and beta must be > 0.0")
    if alpha > 1.0:
        a = math.sqrt(2.0 * alpha - 1.0)
        b = alpha - _LOG4
        c = alpha + a
        while True:
            u1 = draws.python_double()
            if not 1e-7 < u1 < 0.9999999:
                continue
            u2 = 1.0 - draws.python_double()
            v = math.log(u1 / (1.0 - u1)) / a
            x = alpha * math.exp(v)
            z = u1 * u1 * u2
            r = b + c * v - x
            if r + _GAMMA - 4.5 * z >= 0.0 or r >= math.log(z):
                return x * beta
    if alpha == 1.0:
        return -math.log(1.0 - draws.python_double()) * beta
    while True:
        b = (math.e + alpha) / math.e
        p = b * draws.python_double()
        if p <= 1.0:
            x = p ** (1.0 / alpha)
        else:
            x = -math.log((b - p) / alpha)
        u1 = draws.python_double()
        if p > 1.0:
            if u1 <= x ** (alpha - 1.0):
                return x * beta
        elif u1 <= math.exp(-x):
            return x * beta


def betavariate(alpha, beta):
    y = gammavariate(alpha, 1.0)
    if y:
        return y / (y + gammavariate(beta, 1.0))
    return 0.0


def paretovariate(alpha):
    return (1.0 - draws.python_double()) ** (-1.0 / alpha)


def weibullvariate(alpha, beta):
    return alpha * (-math.log(1.0 - draws.python_double())) ** (1.0 / beta)
