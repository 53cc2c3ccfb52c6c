"""NumPy's functions that count: bincount, histograms and the edges of their bins."""

import math

import numpy as np

from krait.prelude.binning import bin_width
from krait.prelude.intrinsics import packed
from krait.prelude.shaping import together
from krait.prelude.sorting import first_behind


def line(a):
    a = np.asarray(a)
    return packed(together(a, "C"), a.size, 0, "C")


def bincount(x, weights=None, minlength=0):
    x = np.asarray(x)
    if x.ndim == 0:
        raise ValueError("object of too small depth for desired array")
    if x.ndim > 1:
        raise ValueError("object too deep for desired array")
    if minlength < 0:
        raise ValueError("'minlength' must not be negative")
    n = int(minlength)
    if len(x) == 0:  # NumPy does not look at the weights of nothing
        return np.zeros(n, np.int64 if weights is None else np.float64)
    for item in x:
        if item < 0:
            raise ValueError("'list' argument must have no negative elements")
        n = max(n, int(item) + 1)
    if weights is None:
        counts = np.zeros(n, np.int64)
        for item in x:
            counts[int(item)] += 1
        return counts
    return weighted_counts(x, np.asarray(weights, np.float64), n)


def weighted_counts(x, weights, n):
    if len(weights) != len(x):
        raise ValueError("The weights and list don't have the same length.")
    sums = np.zeros(n, np.float64)
    for i in range(len(x)):
        sums[int(x[i])] += weights[i]
    return sums


# ---- histograms ----


def edge_dtype(x):
    if x.dtype.kind == "f":
        return x.dtype
    return np.dtype(np.float64)


def outer_edges(x, range):
    if range is not None:
        first, last = float(range[0]), float(range[1])
        if first > last:
            raise ValueError("max must be larger than min in range parameter.")
        if not (np.isfinite(first) and np.isfinite(last)):
            raise ValueError(f"supplied range of [{first}, {last}] is not finite")
    elif x.size == 0:
        first, last = 0.0, 1.0
    else:
        first, last = float(x.min()), float(x.max())
        if not (np.isfinite(first) and np.isfinite(last)):
            raise ValueError(f"autodetected range of [{first}, {last}] is not finite")
    if first == last:
        return first - 0.5, last + 0.5
    return first, last


def equal_edges(x, bins, range):
    if bins < 1:
        raise ValueError("`bins` must be positive, when an integer")
    first, last = outer_edges(x, range)
    dtype = edge_dtype(x)
    if range is not None or x.size == 0:
        edges = np.linspace(first, last, bins + 1, dtype=dtype)  # Python's floats: in double precision, then rounded
    else:
        edges = np.linspace(dtype.type(first), dtype.type(last), bins + 1, dtype=dtype)
    if (edges[:-1] >= edges[1:]).any():
        raise ValueError(f"Too many bins for data range. Cannot create {bins} finite-sized bins.")
    return edges


def ruled_edges(x, rule, range, weights):
    # As many bins as one of NumPy's rules tells.
    if weights is not None:
        raise TypeError("Automated estimation of the number of bins is not supported for weighted data")
    first, last = outer_edges(x, range)
    inside = x if range is None else x[(x >= first) & (x <= last)]
    bins = 1
    if inside.size > 0:
        width = float(bin_width(inside, rule, (first, last)))
        if (x.dtype.kind == "i" or x.dtype.kind == "u") and 0 < width < 1:
            width = 1.0
        if width != 0:
            bins = int(math.ceil((last - first) / width))
    return equal_edges(x, bins, range)


def given_edges(bins):
    if bins.ndim != 1:
        raise ValueError("`bins` must be 1d, when an array")
    for i in range(1, len(bins)):
        if bins[i - 1] > bins[i]:
            raise ValueError("`bins` must increase monotonically, when an array")
    return bins


def histogram_bin_edges(a, bins=10, range=None, weights=None):
    if isinstance(bins, str):
        return ruled_edges(line(a), bins, range, weights)
    if isinstance(bins, int):
        return equal_edges(line(a), bins, range)
    return given_edges(np.asarray(bins))


def bin_of_equal(x, edges):
    # The quotient may be off by one: the edges decide.
    n = len(edges) - 1
    first, last = edges[0], edges[n]
    k = int((x - first) / (last - first) * n)
    if k == n:
        k -= 1
    if x < edges[k]:
        k -= 1
    if x >= edges[k + 1] and k != n - 1:
        k += 1
    return k


def bin_of(x, edges, equal):
    # -1: in none.
    n = len(edges) - 1
    if equal:
        return bin_of_equal(x, edges) if x >= edges[0] and x <= edges[n] else -1
    if n < 1 or not (x >= edges[0] and x <= edges[n]):
        return -1
    return n - 1 if x == edges[n] else first_behind(edges, x) - 1


def histogram(a, bins=10, range=None, density=None, weights=None):
    x = line(a)
    if isinstance(bins, (int, str)):
        edges = histogram_bin_edges(x, bins, range, weights)
        return counted(np.asarray(x, edges.dtype), edges, True, weights, density), edges
    edges = given_edges(np.asarray(bins))
    dtype = np.result_type(x, edges)
    return counted(np.asarray(x, dtype), np.asarray(edges, dtype), False, weights, density), edges


def counted(x, edges, equal, weights, density):
    if density is not None:
        if density:
            return dense(counts_in(x, edges, equal, weights), edges)
    return counts_in(x, edges, equal, weights)


def dense(counts, edges):
    total = float(counts.sum())
    new = np.empty(len(counts), np.float64)
    for i in range(len(counts)):
        new[i] = counts[i] / float(edges[i + 1] - edges[i]) / total
    return new


def counts_in(x, edges, equal, weights):
    n = max(len(edges) - 1, 0)
    if weights is None:
        counts = np.zeros(n, np.int64)
        if equal and are_far_apart(edges):
            count_in_equal(x, edges, counts)
            return counts
        for item in x:
            k = bin_of(item, edges, equal)
            if k >= 0:
                counts[k] += 1
        return counts
    return weights_in(x, edges, equal, line(weights), n)


def are_far_apart(edges):
    # Whether no rounding, of an edge or of a quotient, reaches a thousandth of a bin; infinite widths are not.
    n = len(edges) - 1
    first, last = float(edges[0]), float(edges[n])
    least = max(abs(first), abs(last)) * 4096.0 * float(np.finfo(edges.dtype).eps)
    return least * n < (last - first) / n < math.inf


# So many numbers have their bins told at once, in vectors, before they are counted one by one.
BLOCK = 256


def count_in_equal(x, edges, counts):
    # A number that is not near an edge is in the bin that a product tells, which costs less than a quotient; near
    # an edge the edges decide.
    n = len(counts)
    first, last = np.float64(edges[0]), np.float64(edges[n])
    scale = np.float64(n) / (last - first)
    places = np.empty(BLOCK, np.int32)
    for begin in range(0, len(x), BLOCK):
        part = x[begin : begin + BLOCK]
        for i in range(len(part)):
            place = (np.float64(part[i]) - first) * scale
            k = np.int32(place)
            inside = (part[i] >= edges[0]) & (part[i] <= edges[n])
            places[i] = k if inside & (abs(place - k - 0.5) <= 0.499) else np.int32(-1)
        for i in range(len(part)):
            k = np.int64(places[i])
            if k < 0:
                k = np.int64(bin_of(part[i], edges, True))
            if k >= 0:
                counts[k] += 1


def weights_in(x, edges, equal, weights, n):
    if len(weights) != len(x):
        raise ValueError("weights should have the same shape as a.")
    sums = np.zeros(n, np.float64)
    for i in range(len(x)):
        k = bin_of(x[i], edges, equal)
        if k >= 0:
            sums[k] += weights[i]
    return sums.astype(weights.dtype)


def two_edges(u, v, bins, range):
    """The edges for two axes: bins are for both, or a pair, one for each; of a list or an array two are a pair, too."""
    if isinstance(bins, tuple):
        across = np.asarray(histogram_bin_edges(u, bins[0], range_of(range, 0)), np.float64)
        return across, np.asarray(histogram_bin_edges(v, bins[1], range_of(range, 1)), np.float64)
    if np.ndim(bins) == 2:
        across = np.asarray(given_edges(np.asarray(bins[0])), np.float64)
        return across, np.asarray(given_edges(np.asarray(bins[1])), np.float64)
    if np.ndim(bins) == 1 and len(bins) == 2:
        across = np.asarray(equal_edges(u, number_of(bins[0], 0), range_of(range, 0)), np.float64)
        return across, np.asarray(equal_edges(v, number_of(bins[1], 1), range_of(range, 1)), np.float64)
    across = np.asarray(histogram_bin_edges(u, bins, range_of(range, 0)), np.float64)
    return across, np.asarray(histogram_bin_edges(v, bins, range_of(range, 1)), np.float64)


def number_of(bins, axis):
    if bins < 1:
        raise ValueError(f"`bins[{axis}]` must be positive, when an integer")
    if not isinstance(bins, (int, np.integer)):
        raise TypeError(f"`bins[{axis}]` must be an integer, when a scalar")
    return int(bins)


def range_of(range, i):
    if range is None:
        return None
    return range[i]


def histogram2d(x, y, bins=10, range=None, density=None, weights=None):
    dtype = np.result_type(np.asarray(x), np.asarray(y))
    u, v = np.asarray(line(x), dtype), np.asarray(line(y), dtype)
    if len(u) != len(v):
        raise ValueError("x and y must have the same length.")
    across, down = two_edges(u, v, bins, range)
    table = np.zeros((len(across) - 1, len(down) - 1), np.float64)
    total = 0.0
    k = -1
    for item in u:
        k += 1
        i = bin_of(np.float64(item), across, False)
        j = bin_of(np.float64(v[k]), down, False)
        if i >= 0 and j >= 0:
            weight = weight_of(weights, k)
            table[i, j] += weight
            total += weight
    if density is not None:
        if density:
            make_dense(table, across, down, total)
    return table, across, down


def weight_of(weights, k):
    if weights is None:
        return 1.0
    return float(np.asarray(weights)[k])


def make_dense(table, across, down, total):
    for i in range(len(across) - 1):
        for j in range(len(down) - 1):
            table[i, j] = table[i, j] / (across[i + 1] - across[i]) / (down[j + 1] - down[j]) / total
