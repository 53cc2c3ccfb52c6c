"""Draws of items, with or without putting them back; of NumPy's generator and of a Generator, in NumPy's order, so that
the numbers are the same."""

import numpy as np

from krait.prelude import draws, random_integers
from krait.prelude.numpy_random import permutation, randint


def _taken(a, places):
    out = np.empty(places.shape, a.dtype)
    for i in range(places.size):
        out.flat[i] = a[places.flat[i]]
    return out


def _refuse(legacy, old, new):
    # numpy.random and Generator say the same in other words.
    if legacy:
        raise ValueError(old)
    raise ValueError(new)


def _population(n, size, number, legacy):
    # How many there are to draw from: `number`, the number itself was given; none do where nothing is drawn.
    if n > 0 or random_integers.is_nothing(size):
        return n
    if number:
        _refuse(legacy, "a must be greater than 0 unless no samples are taken",
                "a must be a positive integer unless no samples are taken")  # fmt: skip
    _refuse(legacy, "'a' cannot be empty unless no samples are taken",
            "a cannot be empty unless no samples are taken")  # fmt: skip
    return n


def _whole(a, legacy):
    if not isinstance(a, (bool, int)) and np.asarray(a).dtype.kind not in "iu":
        _refuse(legacy, "a must be 1-dimensional or an integer", "a must be a sequence or an integer")
    return int(a)


# ---- by probabilities ----


def kahan_sum(p):
    if len(p) == 0:
        return 0.0
    total = p[0]
    lost = 0.0
    for i in range(1, len(p)):
        y = p[i] - lost
        t = total + y
        lost = (t - total) - y
        total = t
    return total


def _chances(p, n, legacy):
    chances = np.asarray(p).astype(np.float64)
    if chances.ndim != 1:
        _refuse(legacy, "'p' must be 1-dimensional", "p must be 1-dimensional")
    if chances.size != n:
        _refuse(legacy, "'a' and 'p' must have same size", "a and p must have same size")
    total = kahan_sum(chances)
    if np.isnan(total):
        _refuse(legacy, "probabilities contain NaN", "Probabilities contain NaN")
    for chance in chances:
        if chance < 0:
            _refuse(legacy, "probabilities are not non-negative", "Probabilities are not non-negative")
    if abs(total - 1.0) > 1.4901161193847656e-08:
        _refuse(legacy, "probabilities do not sum to 1",
                "Probabilities do not sum to 1. See Notes section of docstring for more information.")  # fmt: skip
    return chances


def _limits(chances):
    limits = np.cumsum(chances)
    limits /= limits[-1]
    return limits


def _drawn(size, draw):
    numbers = np.empty(size)
    for i in range(numbers.size):
        numbers.flat[i] = draw()
    return numbers


def _put_back(chances, size, draw):
    if size is None:
        return int(np.searchsorted(_limits(chances), draw(), side="right"))
    return np.searchsorted(_limits(chances), _drawn(size, draw), side="right")


def _too_many(legacy):
    _refuse(legacy, "Cannot take a larger sample than population when 'replace=False'",
            "Cannot take a larger sample than population when replace is False")  # fmt: skip


def _kept(chances, size, draw, legacy):
    found = np.zeros(size, np.int64)
    possible = 0
    for chance in chances:
        possible += int(chance > 0)
    if found.size > len(chances):
        _too_many(legacy)
    if possible < found.size:
        raise ValueError("Fewer non-zero entries in p than size")
    count = 0
    while count < found.size:
        numbers = _drawn(found.size - count, draw)
        for i in range(count):
            chances[found.flat[i]] = 0
        new = np.searchsorted(_limits(chances), numbers, side="right")
        seen = np.zeros(len(chances), np.bool_)
        for place in new:
            if not seen[place]:
                seen[place] = True
                found.flat[count] = place
                count += 1
    return found


def _kept_one(chances, draw, legacy):
    return int(_kept(chances, 1, draw, legacy)[0])


# ---- numpy.random ----


def choice(a, size=None, replace=True, p=None):
    if np.ndim(a) > 1:
        raise ValueError("a must be 1-dimensional")
    if np.ndim(a) == 0:
        return _places(_population(_whole(a, True), size, True, True), size, replace, p)
    items = np.asarray(a)
    n = _population(len(items), size, False, True)
    if size is None:
        return items[_places(n, None, replace, p)]
    return _taken(items, _places(n, size, replace, p))


def _places(n, size, replace, p):
    if p is None:
        if size is None:
            return draws.numpy_bounded(0, n - 1)
        return randint(0, n, size) if replace else _without_replacement(n, size)
    if replace:
        return _put_back(_chances(p, n, True), size, lambda: draws.numpy_double())
    if size is None:
        return _kept_one(_chances(p, n, True), lambda: draws.numpy_double(), True)
    return _kept(_chances(p, n, True), size, lambda: draws.numpy_double(), True)


def _without_replacement(items, size):
    out = np.empty(size, np.int64)
    if out.size > items:
        _too_many(True)
    mixed = permutation(items)
    for i in range(out.size):
        out.flat[i] = mixed[i]
    return out


# ---- numpy.random.Generator ----


def generator_choice(self, a, size=None, replace=True, p=None, axis=0, shuffle=True):
    if np.ndim(a) == 0:
        return _generator_places(self, _population(_whole(a, False), size, True, False), size, replace, p, shuffle)
    items = np.asarray(a)
    n = _population(items.shape[axis], size, False, False)
    places = _generator_places(self, n, size, replace, p, shuffle)
    if items.ndim == 1 and size is None:
        return items[places]
    return np.take(items, places, axis)


def _generator_places(self, n, size, replace, p, shuffle):
    if p is None:
        if size is None:
            return int(self.integers(0, n)) if replace else int(_distinct(self, n, 1, shuffle)[0])
        return self.integers(0, n, size) if replace else _distinct(self, n, size, shuffle)
    if replace:
        return _put_back(_chances(p, n, False), size, lambda: self.random())
    if size is None:
        return _kept_one(_chances(p, n, False), lambda: self.random(), False)
    return _kept(_chances(p, n, False), size, lambda: self.random(), False)


def _mix(self, places, first):
    for i in range(len(places) - 1, first - 1, -1):
        j = draws.generator_bounded(self, 0, i)
        places[i], places[j] = places[j], places[i]


def _distinct(self, n, size, shuffle):
    out = np.empty(size, np.int64)
    count = out.size
    if count > n:
        _too_many(False)
    if n > 10000 and count > n // (50 if shuffle else 20):
        order = np.arange(n)
        _mix(self, order, max(n - count, 1))
        for i in range(count):
            out.flat[i] = order[n - count + i]
        return out
    places = _floyd(self, n, count)
    if shuffle:
        _mix(self, places, 1)
    for i in range(count):
        out.flat[i] = places[i]
    return out


def _floyd(self, n, count):
    # Floyd: a number below j that was not drawn yet, or j itself; those drawn are in a table.
    mask = int(1.2 * count)
    for shift in (1, 2, 4, 8, 16, 32):
        mask |= mask >> shift
    table = np.full(mask + 1, -1, np.int64)
    places = np.empty(count, np.int64)
    for j in range(n - count, n):
        drawn = draws.generator_bounded(self, 0, j)
        at = drawn & mask
        while table[at] != -1 and table[at] != drawn:
            at = (at + 1) & mask
        if table[at] != -1:
            drawn = j
            at = j & mask
            while table[at] != -1:
                at = (at + 1) & mask
        table[at] = drawn
        places[j - n + count] = drawn
    return places
