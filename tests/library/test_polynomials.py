"""Polynomials as coefficients, the highest power first and the lowest first, against NumPy."""

import numpy as np

from numpy_cases import (
    INTEGERS,
    MATRIX,
    RNG,
    VECTOR,
    check,
    same_error,
)

SERIES = "np.polynomial.polynomial.poly"


def test_highest_power_first():
    check("np.polyval(a, b)", (VECTOR[:4], VECTOR), (INTEGERS[0], 3), (INTEGERS[0], INTEGERS), (VECTOR[:3], 2.5),
          (VECTOR[:3], MATRIX), (INTEGERS[0], VECTOR), (VECTOR[:3].astype("f"), 2), (INTEGERS[0].astype("b"), 2))
    check("np.polyadd(a, b), np.polysub(a, b), np.polymul(a, b)", (VECTOR[:4], VECTOR[:2]),
          (INTEGERS[0], INTEGERS[1, :2]), (INTEGERS[0, :2], VECTOR[:5]), (np.array([0.0, 0, 0.1, 0]), np.zeros(2)),
          (np.array([0, 1, 2]), np.array([3.0, 4])), (np.zeros(3), np.array([1j, 2])))
    check("np.polydiv(a, b)", (VECTOR[:6], VECTOR[:3]), (INTEGERS[0], np.array([2, 1])), (VECTOR[:2], VECTOR[:3]))
    check("np.polyder(a), np.polyder(a, 2), np.polyint(a), np.polyint(a, 2, 3.0), np.polyint(a, 2, (1, 2))", VECTOR[:5],
          INTEGERS[0])
    check("np.poly(a)", VECTOR[:4], np.array([1, 2, 3]))
    check("np.roots(a)", np.array([1.0, 0, 1]), np.array([1.0, 2, 5, 0, 0]))


def test_fits():
    x = np.arange(9.0)
    check("np.polyfit(a, b, 2)", (x, VECTOR[:9]), (x.astype("f"), VECTOR[:9].astype("f")), (x, RNG.random((9, 2))))
    check("np.polyfit(a, b, 1, w=c), np.polyfit(a, b, 3, full=True)[0]", (x, VECTOR[:9], np.abs(VECTOR[:9])))
    same_error("np.polyfit(a, b, -1)", (x, VECTOR[:9]))
    same_error("np.polyfit(a, b, 1)", (x, VECTOR[:8]))


def test_lowest_power_first():
    check(f"{SERIES}val(a, b)", (VECTOR, VECTOR[:4]), (2.5, VECTOR[:4]), (3, INTEGERS[0]), (MATRIX, VECTOR[:3]))
    check(f"{SERIES}add(a, b), {SERIES}sub(a, b), {SERIES}mul(a, b)", (VECTOR[:4], VECTOR[:2]),
          (INTEGERS[0], INTEGERS[1, :2]), (INTEGERS[0], INTEGERS[0]))
    check(f"{SERIES}div(a, b)", (VECTOR[:6], VECTOR[:3]), (VECTOR[:2], VECTOR[:3]), (VECTOR[:3], VECTOR[:1]))
    same_error(f"{SERIES}div(a, b)", (VECTOR[:3], np.zeros(2)))
    check(f"{SERIES}der(a), {SERIES}der(a, 2), {SERIES}der(a, 9)", VECTOR[:5], INTEGERS[0])
    check(f"{SERIES}int(a), {SERIES}int(a, 2), {SERIES}int(a, 1, (3,), 2.0, 0.5)", VECTOR[:5], INTEGERS[0])
    check("np.polynomial.polyutils.trimseq(a)", np.array([1.0, 0, 2, 0, 0]), np.zeros(3))


def test_series():
    check("np.polynomial.polyutils.as_series([a, a[:2]]), np.polynomial.polyutils.as_series([a], False)",
          np.array([1.0, 0, 2, 0, 0]), INTEGERS[0])
    check("np.polynomial.polyutils.as_series([[1, a, 0], [1.0, 0, 0]])", 2)


def test_characteristic_polynomials():
    square = np.random.default_rng(8).random((3, 3)) - 0.5
    check("np.poly(a), np.poly(a + a.T), np.poly(a[:1, :1])", square, square.T, square.astype("f"), square > 0,
          (square * 9).astype(int))
    check("np.poly(a)", square * 1j + square, (VECTOR[:4] + 1j).astype("F"))
    same_error("np.poly(a)", square[:2], square[:0, :0])
