"""Variables that a loop over prange sets where a comparison says so (largest, its place), flags, and sums that are set
anew on the way: what the interpreter gives, the same on any number of threads, or a refusal."""

import numpy as np
import pytest

from krait import errors, get_num_threads, njit, prange, set_num_threads
from oracle import difference


def largest(x, k):
    best = -1e300
    for i in prange(x.size):
        if x[i] > best:
            best = x[i]
    return best


def place_of_largest(x, k):
    best, at = x[0], 0
    for i in prange(1, x.size):
        if x[i] > best:
            best = x[i]
            at = i
    return best, at


def smallest_by_continue(x, k):
    best, at, key = 10**9, -1, 0
    for i in prange(k.size):
        if k[i] >= best:
            continue
        best, at, key = k[i], i, i % 7
    return best, at, key


def number_first(x, k):
    best = 0.0
    for i in prange(x.size):
        best = x[i] if x[i] > best else best
    return best


def last_of_equal_integers(x, k):
    best = 10**9
    for i in prange(k.size):
        if best >= k[i]:
            best = k[i]
    return best


def largest_of_chosen(x, k):
    best, at = -1.0, -1
    for i in prange(x.size):
        if k[i] % 3 == 0 and x[i] > best:
            best, at = x[i], i
    return best, at


def condition_behind(x, k):
    best, at = -1.0, -1
    for i in prange(x.size):
        v, key = abs(x[i]), k[i]
        if v > best:
            if key % 3 == 0:
                best, at = v, i
    return best, at


def computed_anew(x, k):
    best, at = -1.0, -1
    for i in prange(x.size):
        if abs(x[i] - 0.25) > best:
            best = abs(x[i] - 0.25)
            at = i
    return best, at


def in_an_inner_loop(x, k):
    best, row, column, sum_of_all = -np.inf, -1, -1, 0
    for i in prange(x.size // 50):
        for j in range(50):
            sum_of_all += j
            if x[i * 50 + j] > best:
                best, row, column = x[i * 50 + j], i, j
    return best, row, column, sum_of_all


def two_at_once(x, k):
    low, high, low_at, high_at = np.inf, -np.inf, -1, -1
    for i in prange(x.size):
        if x[i] < low:
            low, low_at = x[i], i
        if x[i] > high:
            high, high_at = x[i], i
    return low, low_at, high, high_at


def found(x, k):
    any_large, all_small, code = False, True, 3
    for i in prange(x.size):
        if x[i] > 3.9:
            any_large = True
        if x[i] > 2.0:
            all_small = False
        if k[i] == 5:
            code = 7
    return any_large, all_small, code


FUNCTIONS = [largest, place_of_largest, smallest_by_continue, number_first, last_of_equal_integers, largest_of_chosen,
             condition_behind, computed_anew, in_an_inner_loop, two_at_once, found]  # fmt: skip


def arrays():
    rng = np.random.default_rng(11)
    for size in (1, 50, 1000, 70_000):
        x, k = rng.standard_normal(size), rng.integers(0, 100, size)
        yield x, k
        yield np.round(x, 1), k  # of which many are equal
        holed = x.copy()
        holed[:: 3 + size % 2] = np.nan
        yield holed, k
        yield np.full(size, np.nan), np.full(size, 200)
        yield np.where(k % 2 == 0, 0.0, -0.0), k
        yield np.full(size, -np.inf), k - 200


def plain(result):
    """Python's numbers: of a variable that no iteration set, the interpreter has the type of before."""
    return tuple(map(plain, result)) if isinstance(result, tuple) else np.asarray(result).item()


@pytest.fixture
def threads():
    most = get_num_threads()
    yield sorted({1, 2, most} & set(range(1, most + 1)))
    set_num_threads(most)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_what_a_comparison_sets(function, threads, capsys):
    compiled = njit(parallel=True)(function)
    for x, k in arrays():
        expected = function(x, k)
        for count in threads:
            set_num_threads(count)
            assert difference(plain(compiled(x, k)), plain(expected)) is None
    compiled.parallel_diagnostics(level=1)
    assert "runs on several cores" in capsys.readouterr().out


@pytest.mark.parametrize("dtype", ["float32", "int8", "uint64", "uint8"])
def test_numbers_of_other_types(dtype):
    def extremes(x):
        high, low, at = x[0], x[0], 0
        for i in prange(x.size):
            if x[i] > high:
                high, at = x[i], i
            if x[i] < low:
                low = x[i]
        return high, low, at

    for x in (np.random.default_rng(3).integers(0, 100, 5000), np.full(3000, 127), np.arange(90)[::-1]):
        x = x.astype(dtype)
        assert difference(njit(parallel=True)(extremes)(x), extremes(x)) is None


# ---- what does not follow from a comparison alone, or loses what was put together so far ---------------------------


def counted_with_it(x):
    best, records = -1.0, 0
    for i in prange(x.size):
        if x[i] > best:
            best = x[i]
            records += 1
    return best, records


def counted_past_it(x):
    best, others = -1.0, 0
    for i in prange(x.size):
        if x[i] > best:
            best = x[i]
        else:
            others += 1
    return best, others


def other_number(x):
    best = -1.0
    for i in prange(x.size):
        if x[i] > best:
            best = x[i] * 0.5
    return best


def second_best(x):
    best, second = -1.0, -1.0
    for i in prange(x.size):
        if x[i] > best:
            second = best
            best = x[i]
    return best, second


def stored_with_it(x):
    best, out = -1.0, np.zeros(x.size)
    for i in prange(x.size):
        if x[i] > best:
            best = x[i]
            out[i] = 1
    return best, out


def read_with_it(x):
    best, value = -1.0, 0.0
    for i in prange(x.size):
        if x[i] > best:
            best = x[i]
            value = x[i + 1]  # which may raise, and the interpreter comes to it for some items only
    return best, value


def both_ways(x):
    best = 0.0
    for i in prange(x.size):
        if x[i] > best:
            best = x[i]
        if x[i] < best - 1:
            best = x[i]
    return best


def last_of_equal_places(x):
    best, at = -1.0, -1
    for i in prange(x.size):
        if x[i] >= best:
            best, at = x[i], i
    return best, at


def sum_set_anew(x):
    total = 0.0
    for i in prange(x.size):
        if x[i] > 0:
            total += x[i]
        else:
            total = 5.0
    return total


def sum_begun_anew(x):
    total = 0.0
    for i in prange(x.size):
        if x[i] > 3:
            total = 0.0
        total += x[i]
    return total


def product_or_one(x):
    product = 1.0
    for i in prange(x.size):
        product = product * x[i] if x[i] > 0 else 1.0
    return product


def sum_in_an_inner_loop(x):
    total = 0.0
    for i in prange(x.size):
        for _ in range(2):
            if x[i] > 3:
                total = 1.0
            else:
                total += x[i]
    return total


def two_flags(x):
    code = 0
    for i in prange(x.size):
        if x[i] > 3:
            code = 1
        elif x[i] < -3:
            code = 2
    return code


REFUSED = [counted_with_it, counted_past_it, other_number, second_best, stored_with_it, read_with_it, both_ways,
           last_of_equal_places, sum_set_anew, sum_begun_anew, product_or_one, sum_in_an_inner_loop,
           two_flags]  # fmt: skip


@pytest.mark.parametrize("function", REFUSED)
def test_what_depends_on_the_order_is_refused(function):
    with pytest.raises(errors.UnsupportedError, match="carries a value from one iteration of prange"):
        njit(parallel=True)(function)(np.random.default_rng(1).standard_normal(5000))
