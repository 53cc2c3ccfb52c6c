"""Bools that a loop over prange puts together by `and` and `or`, which leave out what decides nothing any more: what
the interpreter gives, the same on any number of threads, or a refusal."""

import numpy as np
import pytest

from krait import errors, get_num_threads, njit, prange, set_num_threads


def every(x):
    s = True
    for i in prange(len(x)):
        s = s and x[i] > 0
    return s


def some(x):
    s = False
    for i in prange(len(x)):
        s = s or x[i] < 0
    return s


def condition_first(x):
    s = True
    for i in prange(len(x)):
        s = x[i] > 0 and s
    return s


def some_condition_first(x):
    s = False
    for i in prange(len(x)):
        s = x[i] < 0 or s
    return s


def of_several_conditions(x):
    s = True
    for i in prange(len(x)):
        s = s and x[i] > 0 and (x[i] < 5 or x[i] == 7)
    return s


def left_by_continue(x):
    s = False
    for i in prange(len(x)):
        if s:
            continue
        t = x[i] * 2
        if t < 0:
            s = True
    return s


def two_at_once(x):
    s, r, n = True, False, 0
    for i in prange(len(x)):
        s = s and x[i] > 0
        r = r or x[i] < 0
        n += 1
    return s, r, n


def asked_in_some_iterations(x):
    s = True
    for i in prange(len(x)):
        if x[i] != 3:
            s = s and x[i] > 0
    return s


def in_an_inner_loop(x):
    s = True
    for i in prange(len(x)):
        for j in range(3):
            s = s and x[i] > j - 3
    return s


def items_that_are_bools(x):
    s = True
    b = x > 0
    for i in prange(len(b)):
        s = s and b[i]
    return s


def begun_with_a_condition(x):
    s = x[0] > 0
    for i in prange(1, len(x)):
        s = s and bool(x[i] > 0)
    return s


def under_itself(x):
    s = True
    for i in prange(len(x)):
        if s:
            s = x[i] > 0
    return s


def chosen_by_itself(x):
    s = True
    for i in prange(len(x)):
        s = False if not s else x[i] > 0
    return s


@njit
def positive(v):
    return v > 0


def of_a_function(x):
    s = True
    for i in prange(len(x)):
        s = s and positive(x[i])
    return s


def with_an_update(x):
    s = True
    for i in prange(len(x)):
        s &= x[i] > 0
        s = s and x[i] < 100
    return s


def of_a_chain(x):
    s = True
    for i in prange(len(x)):
        s = s and 0 < x[i] < 50
    return s


def of_a_contrary(x):
    s = True
    for i in prange(len(x)):
        s = s and not x[i] < 0
    return s


SPREAD = [every, some, condition_first, some_condition_first, of_several_conditions, left_by_continue, two_at_once,
          asked_in_some_iterations, in_an_inner_loop, items_that_are_bools, begun_with_a_condition, under_itself,
          chosen_by_itself, of_a_function, with_an_update, of_a_chain, of_a_contrary]  # fmt: skip


def divided(x):
    s = False
    for i in prange(len(x)):
        s = s or 10 // int(x[i]) < 0
    return s


@njit
def first(x, i):
    return x[i + 1] if i + 1 < len(x) else x[i]


def of_another_function(x):
    s = True
    for i in prange(len(x)):
        s = s and first(x, i) > 0
    return s


def of_places(x):
    places = np.arange(len(x)) * 1
    s = True
    for i in prange(len(x)):
        s = s and x[places[i]] > 0
    return s


IN_ORDER = [divided, of_another_function, of_places]  # may raise, where the interpreter does not come to it


def arrays():
    ones = np.ones(5000)
    yield ones
    for places in ([0], [4999], [2500], [1, 4000]):
        x = ones.copy()
        x[places] = -1.0
        yield x.copy()
        x[places] = np.nan
        yield x
    yield from (np.full(3000, -3.0), np.ones(1), np.full(1, -1.0), np.tile([7.0, 5.0, 3.0], 999))


@pytest.fixture
def threads():
    most = get_num_threads()
    yield sorted({1, 2, most} & set(range(1, most + 1)))
    set_num_threads(most)


def plain(result):
    """Python's bools: of a variable that no iteration set, the interpreter has the type of before."""
    return tuple(map(plain, result)) if isinstance(result, tuple) else np.asarray(result).item()


def check(function, threads):
    compiled, alone = njit(parallel=True)(function), njit(function)
    for x in arrays():
        if function is divided:
            x = np.nan_to_num(x, nan=2.0)
        expected = plain(function(x))
        assert plain(alone(x)) == expected
        for count in threads:
            set_num_threads(count)
            assert plain(compiled(x)) == expected
    return compiled


@pytest.mark.parametrize("function", SPREAD)
def test_truths_are_put_together(function, threads, capsys):
    check(function, threads).parallel_diagnostics(level=1)
    assert "runs on several cores" in capsys.readouterr().out


@pytest.mark.parametrize("function", IN_ORDER)
def test_what_may_raise_where_it_is_left_out_stays_in_order(function, threads, capsys):
    check(function, threads).parallel_diagnostics(level=3)
    assert "stays on one core: what is left out as the iterations before say may raise" in capsys.readouterr().out


def test_what_is_left_out_raises_no_error(threads):
    x = np.ones(3000)
    x[10], x[1000:] = -1.0, 0.0
    compiled = njit(parallel=True)(divided)
    for count in threads:
        set_num_threads(count)
        assert compiled(x) == divided(x)  # which divides by no zero behind x[10]


def beyond_the_end(x, n):
    s = True
    for i in prange(n):
        s = s and x[i] > 0
    return s


def before_the_start(x, n):
    s = False
    for i in prange(n):
        if s:
            continue
        if x[-1 - i] < 0:
            s = True
    return s


def beyond_a_row(x, n):
    rows = x.reshape(-1, 10)
    s = True
    for i in prange(n):
        for j in range(10):
            s = s and rows[i, j] > 0
    return s


@pytest.mark.parametrize("function", [beyond_the_end, before_the_start, beyond_a_row])
@pytest.mark.parametrize("boundscheck", [None, False])
def test_indices_that_are_left_out_raise_no_error(function, boundscheck, threads):
    x = np.ones(3000)
    x[[30, 2990]] = -1.0
    options = {} if boundscheck is None else {"boundscheck": boundscheck}
    compiled = njit(parallel=True, **options)(function)
    for count in threads:
        set_num_threads(count)
        assert compiled(x, 4000) == function(x, 4000)  # which asks for no item behind what decides


def test_indices_that_are_not_left_out_do(threads):
    for count in threads:
        set_num_threads(count)
        with pytest.raises(IndexError):
            njit(parallel=True)(beyond_the_end)(np.ones(3000), 3001)


# ---- more depends on it than itself ---------------------------------------------------------------------------------


def counted_under_it(x):
    s, n = True, 0
    for i in prange(len(x)):
        s = s and x[i] > 0
        if s:
            n += 1
    return s, n


def stored_under_it(x):
    s, y = True, np.zeros(len(x))
    for i in prange(len(x)):
        s = s and x[i] > 0
        if s:
            y[i] = 1
    return s, y


def its_value_stored(x):
    s, y = True, np.zeros(len(x), np.bool_)
    for i in prange(len(x)):
        s = s and x[i] > 0
        y[i] = s
    return s, y


def both_and_and_or(x):
    s = True
    for i in prange(len(x)):
        s = s and x[i] > 0
        s = s or x[i] > 5
    return s


def turned(x):
    s = True
    for i in prange(len(x)):
        s = (not s) and x[i] > 0
    return s


def two_conditions(x):
    s = True
    for i in prange(len(x)):
        s = x[i] > 0 if s else x[i] < 0
    return s


def stored_under_a_copy(x):
    s, y = True, np.zeros(len(x))
    for i in prange(len(x)):
        t = s and x[i] > 0
        s = t
        if t:
            y[i] = 2
    return s, y


def seen_by_another(x):
    s, r = True, True
    for i in prange(len(x)):
        r = r and s
        s = s and x[i] > 0
    return s, r


def chosen_by_it(x):
    s, v = True, 0.0
    for i in prange(len(x)):
        v = x[i] if s else 0.0
        s = s and v > 0
    return s, v


def of_integers(x):
    s = 3
    for i in prange(len(x)):
        s = s and int(x[i])
    return s


def set_either_way(x):
    s = True
    for i in prange(len(x)):
        if not s:
            s = x[i] > 0
        else:
            s = x[i] > 2
    return s


REFUSED = [counted_under_it, stored_under_it, its_value_stored, both_and_and_or, turned, two_conditions,
           stored_under_a_copy, seen_by_another, chosen_by_it, of_integers, set_either_way]  # fmt: skip


@pytest.mark.parametrize("function", REFUSED)
def test_what_depends_on_the_order_is_refused(function):
    with pytest.raises(errors.UnsupportedError, match="carries a value from one iteration of prange"):
        njit(parallel=True)(function)(np.ones(100))
