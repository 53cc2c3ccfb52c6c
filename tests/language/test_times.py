"""datetime64 and timedelta64: arithmetic, comparison and NaT as NumPy has them; in arrays, records, tuples, kernels."""

import warnings

import numpy as np
import pytest

import krait
from krait import cuda, njit, typeof, types
from krait.errors import TypingError

D, T = np.datetime64, np.timedelta64
DATES = [D("2020-01-31"), D("1969-07-20T20:17", "m"), D("2021-03-04T05:06:07.000000089"), D("2001-01-01", "25s"),
         D("2020-02-06", "W"), D("NaT", "D")]
DELTAS = [T(7, "s"), T(-7, "s"), T(3, "D"), T(90, "m"), T(0, "ns"), T(123456789, "ns"), T(10, "25s"), T(2, "W"), T(5),
          T("NaT", "s")]
MONTHS = [T(3, "Y"), T(-5, "M"), T("NaT", "M")]
NUMBERS = [0, 3, -2, 2.5, -0.5, float("nan"), np.int32(4), np.uint8(7), np.float32(1.5), 0.0]


def outcome(function, *args):
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return function(*args)
        except TypeError as error:
            return type(error)


def same(ours, theirs):
    if isinstance(theirs, tuple):
        return type(ours) is tuple and all(map(same, ours, theirs))
    if isinstance(theirs, (D, T)):
        return type(ours) is type(theirs) and ours.dtype == theirs.dtype and ours.view("i8") == theirs.view("i8")
    if isinstance(theirs, np.integer):
        return isinstance(ours, np.int64) and ours == theirs
    return type(ours) is type(theirs) and (ours == theirs or (ours != ours and theirs != theirs))


def check(function, *args):
    theirs = outcome(function, *args)
    if theirs is TypeError or issubclass(type(theirs), type):
        with pytest.raises((TypingError, TypeError)):
            njit(function)(*args)
        return
    ours = outcome(njit(function), *args)
    assert same(ours, theirs), f"{args}: {ours!r}, expected {theirs!r}"


BINARY = {
    "+": lambda x, y: x + y, "-": lambda x, y: x - y, "*": lambda x, y: x * y, "/": lambda x, y: x / y,
    "//": lambda x, y: x // y, "%": lambda x, y: x % y, "<": lambda x, y: x < y, "<=": lambda x, y: x <= y,
    ">": lambda x, y: x > y, ">=": lambda x, y: x >= y, "==": lambda x, y: x == y, "!=": lambda x, y: x != y,
}


@pytest.mark.parametrize("op", BINARY)
def test_durations(op):
    for x in DELTAS:
        for y in DELTAS:
            check(BINARY[op], x, y)
    for x in MONTHS:
        for y in MONTHS:
            check(BINARY[op], x, y)


@pytest.mark.parametrize("op", ["+", "-", "*", "/", "//"])
def test_durations_and_numbers(op):
    for x in DELTAS + MONTHS:
        for y in NUMBERS:
            check(BINARY[op], x, y)
            check(BINARY[op], y, x)


@pytest.mark.parametrize("op", ["+", "-", "<", "==", "!=", ">="])
def test_dates(op):
    for x in DATES:
        for y in DATES + [T(7, "s"), T(3, "D"), T(123, "ns"), T(4), T("NaT", "s"), 3]:
            if op in "==!=" and not isinstance(y, D):
                continue  # never equal in the interpreter, refused when compiled
            check(BINARY[op], x, y)
            if op == "+":
                check(BINARY[op], y, x)


def test_unary_truth_and_nat():
    for x in DELTAS:
        check(lambda x: (-x, +x, not x, 1 if x else 2, np.isnat(x)), x)
    for x in DATES:
        check(lambda x: (np.isnat(x), x), x)


@pytest.mark.parametrize("x, y", [(D("2020", "Y"), T(1, "D")), (T(1, "M"), T(1, "D"))])
def test_units_of_no_fixed_length(x, y):
    with pytest.raises(TypingError, match="no common unit"):
        njit(lambda x, y: x + y)(x, y)


SECONDS = np.dtype("M8[s]")


def test_arrays():
    def steps(a, step):
        longest = a[1] - a[0]
        for i in range(1, a.size):
            gap = a[i] - a[i - 1]
            if gap > longest:
                longest = gap
            a[i] = a[i] + step
        a[0] = a[1]
        a[2:4] = a[0]
        return longest, a, a[::2], a.dtype == SECONDS, a.size

    for unit in ("s", "ns", "D"):
        dates = np.array([3, 10, 4, 8, 100], "i8").view(f"M8[{unit}]")
        ours, theirs = dates.copy(), dates.copy()
        result, expected = njit(steps)(ours, T(2, unit)), steps(theirs, T(2, unit))
        assert result[1] is ours and same(result[0], expected[0]) and result[3:] == expected[3:]
        np.testing.assert_array_equal(ours, theirs)
        assert result[2].dtype == dates.dtype
    coarse = np.zeros(2, "m8[ms]")

    @njit
    def stored(a, d):
        a[0] = d

    stored(coarse, T(3, "s"))
    assert coarse[0] == T(3000, "ms")
    with pytest.raises(TypingError):
        stored(coarse, T(3, "ns"))


def test_records_tuples_and_globals():
    start, day = D("2020-01-01"), T(1, "D")
    events = np.zeros(3, [("at", "M8[s]"), ("took", "m8[ms]")])
    events["at"] = start + np.arange(3) * day

    def shifted(events, pair):
        first, took = pair
        events[1]["took"] = took
        events["at"][2] = first
        return events[0]["at"] + day, events["took"][1], (first, took), start

    ours, theirs = events.copy(), events.copy()
    assert same(njit(shifted)(ours, (start, T(5, "s"))), shifted(theirs, (start, T(5, "s"))))
    assert (ours == theirs).all()


def test_branches_join_in_the_finer_unit():
    function = njit(lambda c, a, b: a if c else b)
    for c in (True, False):
        result = function(c, T(2, "s"), T(3, "ms"))
        assert result.dtype == "m8[ms]" and result == (T(2, "s") if c else T(3, "ms"))


def test_kernels():
    @cuda.jit
    def kernel(dates, step, out, gaps):
        i = cuda.grid(1)
        if i < dates.size:
            out[i] = dates[i] + step
            if i:
                gaps[i] = (dates[i] - dates[i - 1]) / T1
    T1 = T(1, "s")
    dates = np.array(["2020-01-01", "2020-01-03", "NaT"], "M8[s]")
    out, gaps = np.zeros_like(dates), np.zeros(3)
    kernel[1, 4](dates, T(1, "h"), out, gaps)
    np.testing.assert_array_equal(out, dates + T(1, "h"))
    np.testing.assert_array_equal(gaps, [0, 2 * 86400, np.nan])
    device = cuda.to_device(dates)
    assert device.dtype == dates.dtype
    np.testing.assert_array_equal(device.copy_to_host(), dates)


def test_types():
    assert str(typeof(T(1, "25s"))) == "timedelta64[25s]" and typeof(D("2020-01-01")) is types.NPDatetime("D")
    assert types.NPTimedelta("ns").dtype == np.dtype("m8[ns]") and isinstance(typeof(T(1)), types.NPTimedelta)
    assert krait.from_dtype("M8[us]") is types.NPDatetime("us") and str(types.NPDatetime()) == "datetime64"
    assert str(typeof(np.zeros(2, "M8[D]"))) == "array(datetime64[D], 1, C)"
    assert njit("timedelta64[ns](timedelta64[ns], int64)")(lambda d, n: d * n)(T(3, "ns"), 2) == T(6, "ns")
    assert njit((types.NPDatetime("D")[:],))(lambda a: a[0])(np.zeros(2, "M8[D]")) == D("1970-01-01")
