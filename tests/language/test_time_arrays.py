"""Whole arrays of datetime64 and timedelta64 against NumPy: operators, ufuncs, reductions, conversions, order."""

import numpy as np
import pytest

from krait import errors, njit
from numpy_cases import check
from oracle import make

DATES = np.array(["2020-01-01", "2020-03-05", "NaT", "1969-12-31"], "M8[D]")
SECONDS = np.array(["2020-01-01T05:06:07", "2019-03-05T01:02:03", "1901-02-28T23:59:59"], "M8[s]")
HOURS = np.array([1, 5, -3], "m8[h]")
MISSING = np.array([7, "NaT", -9, 4], "m8[s]")
TABLE = MISSING.reshape(2, 2)
STEPS = np.arange(12).astype("m8[25s]").reshape(3, 4)[::2, ::-1]
BOTH = (HOURS, MISSING, STEPS)


def test_made():
    check("np.datetime64('2020-01-01'), np.datetime64('2020-02-29T12'), np.datetime64('1969-07-20T20:17:40.123'), "
          "np.datetime64('2021'), np.datetime64('2021-05'), np.datetime64('2020-01-01', 'ns'), "
          "np.datetime64('2020-01-01T05:30', 'D'), np.datetime64('0001-03-01'), np.datetime64(a, 'D')", 5)
    check("np.timedelta64(a, 's'), np.timedelta64(3), np.timedelta64(), np.timedelta64(np.timedelta64(2, 'h'), 's')", 5)
    check("np.isnat(np.datetime64('NaT')), np.isnat(np.timedelta64('NaT', 's')), np.datetime_data(a.dtype)", DATES)
    check("np.empty(3, 'M8[s]').dtype, np.dtype('m8[ns]'), a.dtype.kind, np.zeros(2, a.dtype)", DATES, HOURS)
    check("np.full(3, a[0]), np.zeros_like(a), np.array([a[0], a[1]]), np.asarray((a[1], a[0]))", DATES, HOURS)


def test_differences_and_sums():
    check("a - a[0], a[0] - a, a - a, a + np.timedelta64(1, 'D'), a + 1, 1 + a, a - np.timedelta64(36, 'h')",
          DATES, SECONDS)
    check("a + b, b + a, a - b", (SECONDS, HOURS), (HOURS, HOURS[::-1]), (DATES, MISSING))
    check("np.diff(a), np.add(a, np.timedelta64(1, 'm')), np.subtract(a, a)", DATES, SECONDS, HOURS)
    check("np.diff(a, 2), np.ediff1d(a)", HOURS)


@pytest.mark.parametrize("values", BOTH)
def test_durations(values):
    check("a * 2, 3 * a, a * 1.5, a / 2, a // 2, a / 2.5, a / a, a // a, a % a, -a, +a, abs(a), np.sign(a)", values)
    check("np.multiply(a, 2), np.divide(a, a), np.negative(a), np.maximum(a, a[::-1]), np.fmin(a, a[::-1])", values)
    check("a.sum(), a.mean(), a.max(), a.min(), np.sum(a), np.cumsum(a), a.astype(np.int64), a.astype('m8[m]')", values)
    check("a / np.timedelta64(1, 's'), a // np.timedelta64(30, 's')", values)


def test_reductions():
    check("a.sum(axis=0), a.mean(axis=1), a.sum(axis=1, keepdims=True), a.max(axis=0), a.cumsum(axis=1)", TABLE, STEPS)
    check("a.max(), np.min(a), a.max() - a.min(), np.ptp(a), a.argmax(), a.argmin()", SECONDS, HOURS, DATES)


def test_comparisons():
    check("a < a[1], a == a, a != a, a >= a[::-1], np.equal(a, a), np.greater(a, a[0])", DATES, SECONDS, MISSING)
    check("a == b, a < b", (SECONDS, DATES[:1]), (HOURS, MISSING[:1]))
    check("np.isnat(a), np.isfinite(a), np.isnan(a), np.isinf(a)", DATES, MISSING)
    check("np.where(a > b, a, b), np.where(a > b, a, b[0])", (DATES, DATES[::-1]), (HOURS, HOURS[::-1]))


def test_conversions():
    check("a.astype('M8[s]'), a.astype('M8[M]'), a.astype('M8[Y]'), a.astype('M8[W]'), a.astype('datetime64[ns]')",
          DATES, SECONDS)
    check("a.astype('M8[D]'), a.astype('M8[h]'), a.astype('M8[m]').astype('M8[s]'), a.astype('M8[M]').astype('M8[D]')",
          SECONDS, DATES)
    check("a.astype(np.int64), a.view(np.int64), a.astype('M8[M]') - np.datetime64('2020-01')", SECONDS)
    check("a.astype('m8[s]'), a.astype('M8[D]')", np.arange(4))
    check("a.astype('m8[s]')", np.array([1.5, -2.5, 7]))
    check("a.astype('m8[h]'), a.astype('m8[s]')", DATES, SECONDS)
    check("a.astype('M8[D]'), a.astype('M8[h]')", STEPS, DATES - DATES[0])


def test_order():
    check("np.sort(a), np.argsort(a), np.sort(a)[::-1], np.unique(a)", DATES, SECONDS, MISSING)
    check("np.unique(a, return_counts=True), np.isin(a, a[:2])", np.concatenate([DATES, DATES]), HOURS)
    check("np.searchsorted(a, a), np.searchsorted(a, a[0])", np.sort(SECONDS), np.sort(HOURS))


def test_ranges():
    check("np.arange(a[0], a[1]), np.arange(a[0], a[1], np.timedelta64(7, 'D')), np.arange(a[0], a[1], 5)", DATES)


def test_shapes():
    check("a.reshape(2, 2).T, a[::-1], a[a > a[3]], a[[0, 1]], np.concatenate([a, a[:1]]), np.repeat(a, 2)",
          DATES, MISSING)
    check("np.roll(a, 1), np.tile(a, 2), np.where(np.isnat(a))", DATES)


def test_stores():
    for text in ["a[1] = np.timedelta64(5, 's')", "a += np.timedelta64(1, 'm')", "a[1:] = a[:-1]", "a[0] = a[2]",
                 "a[...] = np.timedelta64(1, 'h')", "a *= 2", "a[a > a[0]] = a[0]", "a -= a[0]"]:
        function = make(f"def f(a):\n    {text}\n    return a")
        ours, theirs = MISSING.copy(), MISSING.copy()
        result = njit(function)(ours)
        np.testing.assert_array_equal(result, function(theirs))
        np.testing.assert_array_equal(ours, theirs)


def test_refused():
    for text in ["a + a", "a * 2", "a / a"]:
        with pytest.raises(Exception):
            njit(make(f"def f(a):\n    return {text}"))(DATES)


def test_sums_from_the_start_that_is_given():
    check("np.sum(a, initial=np.timedelta64(5, 's')), a.sum(axis=0, initial=np.timedelta64(7, 's'))",
          MISSING, TABLE, MISSING[:0])
    check("np.sum(a, axis=1, initial=np.timedelta64(7, 's'), keepdims=True), np.sum(a, initial=3)", TABLE)
    check("np.sum(a, dtype=np.float64), np.mean(a, dtype=np.float32), np.sum(a, dtype=np.bool_)", HOURS, MISSING)
    minutes = HOURS.astype("m8[m]").dtype
    for f in (lambda a: np.sum(a, dtype=minutes), lambda a: np.mean(a, dtype=minutes)):
        for form in (f, njit(f)):
            with pytest.raises(TypeError, match="only select the general DType and not details"):
                form(HOURS)


def test_ranges_by_nothing():
    for text in ["np.arange(a[0], a[1], np.timedelta64(0, 'D'))", "np.arange(a[0], a[2])", "np.arange(a[0], a[1], 0)"]:
        function = make(f"def f(a):\n    return {text}")
        for call in (function, njit(function)):
            with pytest.raises(ValueError, match="arange: "):
                call(DATES)
    with pytest.raises(NotImplementedError, match="another dtype"):
        njit(lambda: np.arange(np.datetime64("2020-01-01"), np.datetime64("2020-01-02"), dtype="M8[h]"))()


def test_what_is_no_tick():
    for x in (np.inf, -np.inf, np.nan, 1e300):
        result = njit(lambda a: a.astype("m8[s]"))(np.array([x, 1.5]))
        np.testing.assert_array_equal(result, np.array(["NaT", 1], "m8[s]"))


@pytest.mark.parametrize("casting", ["no", "equiv", "safe", "same_kind", "unsafe"])
@pytest.mark.parametrize(("have", "want"), [
    ("m8[s]", "m8[ms]"), ("m8[s]", "m8[h]"), ("M8[D]", "M8[s]"), ("M8[s]", "M8[D]"), ("m8[s]", "i8"), ("m8[s]", "f8"),
    ("u8", "m8[s]"), ("u4", "m8[s]"), ("i8", "m8[s]"), ("f8", "m8[s]"), ("m8[2s]", "m8[s]"),
    ("m8[3s]", "m8[2s]"), ("m8[s]", "m8[s]"),
])  # fmt: skip
def test_casting(have, want, casting):
    check(f"a.astype('{want}', casting='{casting}')", np.arange(3).astype(have))


@pytest.mark.parametrize("side", ["left", "right"])
def test_places_in_order(side):
    line = np.array(["2020-01-01", "2020-01-05", "NaT", "NaT"], "M8[D]")
    check(f"np.searchsorted(a, b, '{side}'), np.searchsorted(a, b[1], '{side}')", (line, line), (line, line[::-1]),
          (line - line[0], line - line[0]))


@pytest.mark.parametrize("extreme", ["maximum", "minimum", "fmax", "fmin"])
def test_an_integer_beside_durations_counts_their_ticks(extreme):
    hours = np.array([-29, 9, "NaT", 3], "m8[h]")
    others = 3, -30, True, np.int8(7), np.array([1, 10, 4, -5]), np.timedelta64("NaT", "h"), HOURS[:1]
    check(f"np.{extreme}(a, b), np.{extreme}(b, a), np.{extreme}(a[0], 5)", *((hours, other) for other in others))


@pytest.mark.parametrize("expression", [
    "np.maximum(a, 2.5)", "np.fmin(a, np.uint64(3))", "np.abs(a.astype('M8[s]'))", "np.fmax(a.astype('M8[s]'), 3)",
    "np.minimum(a, a.astype('M8[h]'))", "a < np.uint64(3)", "np.sqrt(a)",
])  # fmt: skip
def test_what_ufuncs_of_times_do_not_take(expression):
    """Refused where it is compiled, though nothing is done with what it gives."""
    f = make(f"def f(a):\n    {expression}\n    return 1", "f", np=np)
    times = np.array([1, 2], "m8[h]")
    with pytest.raises(TypeError):
        f(times)
    with pytest.raises(errors.TypingError):
        njit(f)(times)


def test_months_and_years_of_every_day():
    """Of five centuries, before and after 1970, and of days far away."""
    months, years = njit(lambda a: a.astype("M8[M]")), njit(lambda a: a.astype("M8[Y]"))
    days = njit(lambda a: a.astype("M8[D]"))
    far = np.array([s * 2**e + d for e in range(20, 56) for s in (1, -1) for d in (-1, 0, 1)]).astype("M8[D]")
    for each in np.arange("1600-01-01", "2101-01-01", dtype="M8[D]"), far:
        of_month = each.astype("M8[M]")
        np.testing.assert_array_equal(months(each), of_month)
        np.testing.assert_array_equal(years(each), each.astype("M8[Y]"))
        np.testing.assert_array_equal(days(of_month), of_month.astype("M8[D]"))


def test_dates_in_source_before_1970():
    assert njit(lambda: np.datetime64("1968-12-31"))() == np.datetime64("1968-12-31")
    with pytest.raises(errors.KraitError):
        njit(lambda: np.datetime64("1899-02-30"))()
