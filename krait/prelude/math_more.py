"""Functions of the math module over iterables."""

import math

import numpy as np


def prod(iterable, /, *, start=1):
    total = start
    for item in iterable:
        total = total * item
    return total


def dist(p, q):
    if len(p) != len(q):
        raise ValueError("both points must have the same number of dimensions")
    largest = 0.0
    nan = False
    for i in range(len(p)):
        x = abs(float(p[i]) - float(q[i]))
        if x > largest:
            largest = x
        if x != x:
            nan = True
    if largest == math.inf:
        return largest
    if nan:
        return math.nan
    if largest == 0.0 or len(p) == 1:
        return largest
    # Squares of scaled differences are summed with what rounding loses; the root is corrected once.
    exponent = math.frexp(largest)[1]
    if exponent < -1000:
        up = 2.0**100
    else:
        up = 1.0
    scale = math.ldexp(1.0, -math.frexp(largest * up)[1])
    total = 1.0
    lost_squares = 0.0
    lost_sums = 0.0
    for i in range(len(p)):
        x = abs(float(p[i]) - float(q[i])) * up * scale
        square = x * x
        lost_squares += _error_of_product(x, x, square)
        t = total + square
        lost_sums += (total - t) + square
        total = t
    root = math.sqrt(total - 1.0 + (lost_squares + lost_sums))
    square = root * root
    lost_squares -= _error_of_product(root, root, square)
    t = total - square
    lost_sums += (total - t) - square
    root += (t - 1.0 + (lost_squares + lost_sums)) / (2.0 * root)
    return root / scale / up


def _error_of_product(x, y, product):
    # Dekker's splitting: the exact difference of x * y and its rounded value.
    a = x * 134217729.0
    xh = a - (a - x)
    xl = x - xh
    b = y * 134217729.0
    yh = b - (b - y)
    yl = y - yh
    return ((xh * yh - product) + xh * yl + xl * yh) + xl * yl


def sumprod(p, q):
    if len(p) != len(q):
        raise ValueError("Inputs are not the same length")
    total = 0
    for a, b in zip(p, q):
        total = total + a * b
    return total


def _reals(numbers):
    reals = [0.0][:0]  # a list of floats, whatever is refused
    for number in numbers:
        if isinstance(number, (str, bytes)):
            raise TypeError(f"must be real number, not {type(number).__name__}")
        reals.append(float(number))
    return np.array(reals)


def fsum_of(numbers):
    return math.fsum(_reals(numbers))


def dist_of(p, q):
    return dist(_reals(p), _reals(q))


def gcd_of(numbers):
    total = 0
    for number in numbers:
        total = math.gcd(total, number)
    return total


def lcm_of(numbers):
    total = 1
    for number in numbers:
        total = math.lcm(total, number)
    return total
