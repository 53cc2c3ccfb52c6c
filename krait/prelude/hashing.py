"""Hashes of keys.  They need not be the interpreter's: nobody sees them."""

import math

from krait.prelude.intrinsics import codes, key_hash

MOST = 0x7FFFFFFFFFFFFFFF


def of_int(x):
    h = x * -7046029254386353131
    return (h ^ (h >> 29)) & MOST


def of_float(x):
    # Of whole numbers the hash of the int: keys of every type of number meet.
    if -9223372036854775808.0 <= x < 9223372036854775808.0:
        n = int(x)
        if n == x:
            return of_int(n)
    elif 0.0 < x < 18446744073709551616.0:  # a uint64, which counts as the int of its bits
        return of_int(int(x - 18446744073709551616.0))
    if x - x != 0.0:
        return 1 if x > 0.0 else 2
    m, e = math.frexp(x)
    return of_int(int(m * 9007199254740992.0) + e)


def of_codes(s):  # of a str or a bytes
    h = 1469598103934665603
    for code in codes(s):
        h = (h ^ int(code)) * 1099511628211
    return of_int(h)


def of_own(x):
    return of_int(hash(x))


def of_tuple(items):
    return of_int(key_hash(items[0]) * 31 + key_hash(items[1:]))


def of_items(items):
    h = 7
    for item in items:
        h = of_int(h * 31 + key_hash(item))
    return h


def of_nothing(items):
    return 7
