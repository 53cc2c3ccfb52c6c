"""datetime64 and timedelta64: ufuncs of one element, conversions, sums, the order that they are sorted in.

A tick is an int64; the least of them is NaT."""

import math

import numpy as np

from krait.prelude.intrinsics import days_to_month, month_of_day, reinterpreted, select

NAT = -(2**63)
FIRST = np.uint64(2**63 + 1)  # the least that is no NaT, as an unsigned number

# ---- ufuncs of one element ----


def maximum(x, y):
    return select(np.isnat(x) | (x > y), x, y)


def minimum(x, y):
    return select(np.isnat(x) | (x < y), x, y)


def fmax(x, y):
    return select(np.isnat(y) | (x > y), x, y)


def fmin(x, y):
    return select(np.isnat(y) | (x < y), x, y)


def is_missing(x):
    return np.isnat(x)


def is_there(x):
    return np.logical_not(np.isnat(x))


def is_infinite(x):
    return np.bool_(False)


def absolute(x):
    return select(x < 0, -x, x)


if np.sign(np.ones(1, "m8[s]")).dtype.kind == "f":  # in newer versions of NumPy

    def sign(x):
        return select(np.isnat(x), np.nan, select(x < 0, -1.0, select(x > 0, 1.0, 0.0)))

else:

    def sign(x):
        # NaT counts as the least int.
        return select(np.isnat(x) | (x < 0), np.timedelta64(-1), select(x > 0, np.timedelta64(1), x))


# ---- ticks ----


def is_time(dtype):
    return dtype.kind == "m" or dtype.kind == "M"


def ticks(a):
    # A view on the ticks as ints.
    return reinterpreted(a, np.int64, a.shape[-1] if a.ndim else 1)


def of_ticks(numbers, dtype):
    if np.ndim(numbers) == 0:
        one = np.empty(1, np.int64)
        one[0] = numbers
        return reinterpreted(one, dtype, 1)[0]
    return reinterpreted(numbers, dtype, numbers.shape[-1])


def in_order(a):
    # Unsigned numbers in the order of the ticks, NaT last.
    return reinterpreted(a, np.uint64, a.shape[-1]) - FIRST


# ---- conversions ----


def _size(unit):
    # In nanoseconds.
    if unit == "W":
        return 604800_000_000_000
    if unit == "D":
        return 86400_000_000_000
    if unit == "h":
        return 3600_000_000_000
    if unit == "m":
        return 60_000_000_000
    if unit == "s":
        return 1000_000_000
    if unit == "ms":
        return 1000_000
    if unit == "us":
        return 1000
    if unit == "ns":
        return 1
    raise TypeError("compiled code converts units down to nanoseconds only")


def _is_calendar(unit):
    return unit == "Y" or unit == "M"


def _rescaled(value, size, into):
    factor = math.gcd(size, into)
    return value * (size // factor) // (into // factor)


def converted(tick, have, want, is_date):
    # A tick as one of another unit, rounded down; have and want: of numpy.datetime_data.
    if _is_calendar(have[0]):
        months = tick * have[1] * (12 if have[0] == "Y" else 1)
        if _is_calendar(want[0]):
            return months // (want[1] * (12 if want[0] == "Y" else 1))
        if not is_date:
            raise TypeError("years and months are of no fixed length")
        return _rescaled(days_to_month(12 * 1970 + months), _size("D"), _size(want[0]) * want[1])
    if _is_calendar(want[0]):
        if not is_date:
            raise TypeError("years and months are of no fixed length")
        months = month_of_day(_rescaled(tick, _size(have[0]) * have[1], _size("D"))) - 12 * 1970
        return months // (want[1] * (12 if want[0] == "Y" else 1))
    return _rescaled(tick, _size(have[0]) * have[1], _size(want[0]) * want[1])


def _is_finer(have, want):
    # Whether each tick of the one is a whole number of the other's.
    if _is_calendar(have[0]) or _is_calendar(want[0]):
        raise NotImplementedError("compiled code casts years and months by the rule 'unsafe' alone")
    return _size(have[0]) * have[1] % (_size(want[0]) * want[1]) == 0


def _may_cast(have, want, casting):
    if casting == "unsafe" or have == want:
        return True
    if casting != "safe" and casting != "same_kind":
        return False
    if have.kind == want.kind:
        return _is_finer(np.datetime_data(have), np.datetime_data(want)) or casting == "same_kind"
    if have.kind == "u":
        return want.kind == "m" and (have.itemsize < 8 or casting == "same_kind")
    return want.kind == "m" and (have.kind == "i" or have.kind == "b")


def check_cast(have, want, casting):
    if not _may_cast(have, want, casting):
        raise TypeError(f"Cannot cast array data from {have!r} to {want!r} according to the rule '{casting}'")


def convert(new, a):
    # new[...] = a, where one of them has dates or durations
    if not is_time(a.dtype):
        convert_numbers(ticks(new), a)
    elif not is_time(new.dtype):
        new[...] = ticks(a)
    elif new.dtype.kind != a.dtype.kind:
        ticks(new)[...] = ticks(a)  # whatever their units are
    else:
        have, want = np.datetime_data(a.dtype), np.datetime_data(new.dtype)
        if have[0] == "generic" or want == have:
            ticks(new)[...] = ticks(a)
        else:
            to, of, is_date = ticks(new), ticks(a), a.dtype.kind == "M"
            for i in range(a.size):
                tick = int(of.flat[i])
                to.flat[i] = NAT if tick == NAT else converted(tick, have, want, is_date)


def convert_numbers(to, a):
    if a.dtype.kind == "f":
        for i in range(a.size):
            x = float(a.flat[i])
            to.flat[i] = int(x) if abs(x) < 2.0**63 else NAT
    else:
        to[...] = a


# ---- sums of durations ----


def with_missing(numbers, a, axis, keepdims):
    # NaT where an element is.
    missing = np.any(np.isnat(a), axis, None, keepdims)
    if np.ndim(numbers) == 0:
        return of_ticks(NAT if missing else numbers, a.dtype)
    return of_ticks(np.where(missing, NAT, numbers), a.dtype)


def sum_of(a, axis, dtype, keepdims, initial):
    # Of a dtype without details (units, lengths) NumPy takes no notice: durations add up to a duration.
    if dtype is not None and np.dtype(dtype).kind in "mMUSV":
        raise TypeError(
            "The `dtype` and `signature` arguments to ufuncs only select the general DType and not details such as the "
            "byte order or time unit. You can avoid this error by using the scalar types `np.float64` or the dtype "
            "string notation."
        )
    total = with_missing(np.sum(ticks(a), axis, None, None, keepdims), a, axis, keepdims)
    if initial is None:
        if a.size == 0:
            raise ValueError("zero-size array to reduction operation add which has no identity")
        return total
    if isinstance(initial, np.timedelta64):
        one = np.empty(1, a.dtype)
        convert(one, np.asarray([initial]))
        return total + one[0]
    return total + initial


def mean_of(a, axis, dtype, keepdims):
    total = sum_of(a, axis, dtype, keepdims, 0)
    n = np.size(a) // max(np.size(total), 1)
    return total / n


# ---- ranges ----


def arange(start, stop, step, dtype):
    none = (stop - start) * 0 + step * 0
    first, by = start + none, none + step
    if dtype is not None and np.dtype(dtype) != np.result_type(first):
        raise NotImplementedError("a range in another dtype than that of its bounds: give them in that unit")
    if np.isnat(start) or np.isnat(stop) or np.isnat(by):
        raise ValueError("arange: cannot use NaT (not-a-time) datetime values")
    if by == none:
        raise ValueError("arange: step cannot be zero")
    n = max(-(-(stop - start) // by), 0)
    new = np.empty(n, np.result_type(first))
    for i in range(n):
        new[i] = first + by * i
    return new
