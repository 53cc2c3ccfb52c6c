"""How wide the bins of a histogram are by each of the rules that NumPy has names for."""

import math

import numpy as np


def bin_width(x, rule, range):
    if rule == "auto":
        narrow = max(_freedman_diaconis(x), _spread(x) / np.sqrt(x.size) / 2)
        return min(narrow, _spread(x) / (np.log2(x.size) + 1.0))
    if rule == "fd":
        return _freedman_diaconis(x)
    if rule == "doane":
        return _doane(x)
    if rule == "scott":
        return (24.0 * math.pi**0.5 / x.size) ** (1.0 / 3.0) * np.std(x)
    if rule == "stone":
        return _stone(x, range)
    if rule == "rice":
        return _spread(x) / (2.0 * x.size ** (1.0 / 3))
    if rule == "sqrt":
        return _spread(x) / np.sqrt(x.size)
    if rule == "sturges":
        return _spread(x) / (np.log2(x.size) + 1.0)
    raise ValueError(f"{rule!r} is not a valid estimator for `bins`")


def _spread(x):
    return float(x.max()) - float(x.min())


def _freedman_diaconis(x):
    return 2.0 * float(np.percentile(x, 75) - np.percentile(x, 25)) * x.size ** (-1.0 / 3.0)


def _doane(x):
    sigma = np.std(x)
    if x.size <= 2 or not sigma > 0.0:
        return 0.0
    likely = np.sqrt(6.0 * (x.size - 2) / ((x.size + 1.0) * (x.size + 3)))
    skew = np.mean(((x - np.mean(x)) / sigma) ** 3)
    return _spread(x) / (1.0 + np.log2(x.size) + np.log2(1.0 + abs(skew) / likely))


def _stone(x, range):
    # The number of bins whose histogram is expected to be least wrong (Stone 1984).
    n = x.size
    spread = _spread(x)
    if n <= 1 or spread == 0:
        return 0.0
    best, least = 1, math.inf
    bins = 1
    while bins <= max(100, int(np.sqrt(n))):
        counts = np.histogram(x, bins, range)[0]
        shares = 0.0
        for count in counts:
            shares += (count / n) ** 2
        risk = (2 - (n + 1) * shares) / (spread / bins)
        if risk < least:
            best, least = bins, risk
        bins += 1
    return spread / best
