"""Integers between bounds, of every dtype: what is checked, and how they are drawn, in NumPy's order."""

import numpy as np

from krait.prelude import distributions as of


def is_nothing(size):
    """Whether no number is asked for: then nothing is said against the bounds."""
    if size is None:
        return False
    return size == 0 if np.ndim(size) == 0 else 0 in size


def drawn(low, high, size, dtype, closed, draw, word, masked):
    """draw(least, width) gives one of at least 32 bits, word() 32 bits at random, of which narrower ones are made: a
    mask takes its bits, and what is too large is drawn again, or they are multiplied (Lemire)."""
    if is_nothing(size):
        return np.empty(size, dtype)
    kind = np.dtype(dtype).type
    if np.ndim(low) == 0 and np.ndim(high) == 0:
        least = int(low)
        most = int(high) if closed else int(high) - 1
        _bounded(least, most, dtype, closed)
        if size is None:
            if np.dtype(dtype).itemsize >= 4:
                return kind(draw(least, most - least))
            return _narrow(1, least, most - least, dtype, word, masked)[0]
        if np.dtype(dtype).itemsize >= 4:
            return of.filled(lambda: kind(draw(least, most - least)), size, dtype)
        return _narrow(size, least, most - least, dtype, word, masked)
    beyond = 0 if closed else 1
    first = _signed(low, 0, "low", dtype)
    last = _signed(high, beyond, "high", dtype) - beyond
    shape = np.broadcast_shapes(first.shape, last.shape)
    _all_bounded(first, last, shape, dtype, closed)
    if size is None:
        return _each(shape, first, last, dtype, draw, word, masked)
    asked = np.empty(size, np.bool_).shape
    of.fitting(asked, np.broadcast_shapes(asked, first.shape, last.shape))
    return _each(size, first, last, dtype, draw, word, masked)


def _signed(bounds, beyond, name, dtype):
    # Unsigned ones that int64 does not hold would become negative.
    given = np.asarray(bounds)
    if given.dtype.kind == "u" and given.dtype.itemsize == 8:
        if np.any(given > np.uint64(np.iinfo(np.int64).max) + np.uint64(beyond)):
            if np.dtype(dtype).kind == "u" and np.dtype(dtype).itemsize == 8:
                raise ValueError("bounds that int64 does not hold are not compiled")
            raise ValueError(f"{name} is out of bounds for {np.dtype(dtype).name}")
    return given.astype(np.int64)


def _limits(dtype):
    if np.dtype(dtype).kind == "b":
        return 0, 1
    return np.iinfo(dtype).min, np.iinfo(dtype).max


def _crossed(from_zero, closed):
    if from_zero:
        raise ValueError("high < 0" if closed else "high <= 0")
    raise ValueError("low > high" if closed else "low >= high")


def _bounded(least, most, dtype, closed):
    limits = _limits(dtype)
    if least < limits[0]:
        raise ValueError(f"low is out of bounds for {np.dtype(dtype).name}")
    if most > limits[1]:
        raise ValueError(f"high is out of bounds for {np.dtype(dtype).name}")
    if least > most:
        _crossed(least == 0, closed)


def _all_bounded(first, last, shape, dtype, closed):
    limits = _limits(dtype)
    if np.any(first < limits[0]):
        raise ValueError(f"low is out of bounds for {np.dtype(dtype).name}")
    if np.any(last > limits[1]):
        raise ValueError(f"high is out of bounds for {np.dtype(dtype).name}")
    if np.any(np.broadcast_to(first, shape) > np.broadcast_to(last, shape)):
        _crossed(not np.any(first), closed)


def _each(size, first, last, dtype, draw, word, masked):
    kind = np.dtype(dtype).type
    if np.dtype(dtype).itemsize < 4:
        return _narrow(size, first, last - first, dtype, word, masked)
    out = np.empty(size, dtype)
    least = np.broadcast_to(first, out.shape)
    most = np.broadcast_to(last, out.shape)
    for i in range(out.size):
        out.flat[i] = kind(draw(least.flat[i], most.flat[i] - least.flat[i]))
    return out


def _narrow(size, first, width, dtype, word, masked):
    # A word of 32 bits is taken apart from its lowest bits on; one bit makes a bool.
    out = np.empty(size, dtype)
    bits = 1 if np.dtype(dtype).kind == "b" else 8 * np.dtype(dtype).itemsize
    least = np.broadcast_to(np.asarray(first), out.shape)
    widths = np.broadcast_to(np.asarray(width), out.shape)
    kept = np.zeros(2, np.int64)  # what is left of a word, and how many parts that is
    for i in range(out.size):
        below = int(widths.flat[i])
        number = 0
        if below == (1 << bits) - 1:
            number = _part(kept, bits, word)
        elif below > 0 and masked:
            mask = _mask(below)
            number = _part(kept, bits, word) & mask
            while number > below:
                number = _part(kept, bits, word) & mask
        elif below > 0:
            number = _scaled(kept, bits, word, below + 1)
        out.flat[i] = np.dtype(dtype).type(least.flat[i] + number)
    return out


def _part(kept, bits, word):
    if kept[1] == 0:
        kept[0] = int(word())
        kept[1] = 32 // bits
    part = kept[0] & ((1 << bits) - 1)
    kept[0] >>= bits
    kept[1] -= 1
    return int(part)


def _mask(number):
    mask = number
    for shift in (1, 2, 4):
        mask |= mask >> shift
    return mask | mask >> 8


def _scaled(kept, bits, word, count):
    whole = 1 << bits
    product = _part(kept, bits, word) * count
    if product % whole < count:
        while product % whole < (whole - count) % count:
            product = _part(kept, bits, word) * count
    return product >> bits
