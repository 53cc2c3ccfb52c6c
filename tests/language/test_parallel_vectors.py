"""Reductions over prange are made of vectors, sums of a loop inside an iteration are not: those are in order."""

import numpy as np
import pytest

from krait import get_num_threads, njit, prange, set_num_threads


def whole(x):
    s = 0.0
    for i in prange(x.size):
        s += x[i]
    return s


def conditional(x):
    s = 1.5
    for i in prange(x.size):
        if x[i] > 0.5:
            s -= x[i]
    return s


def of_positive_ones(x):
    s, n = 0.0, 0
    for i in prange(x.size):
        if x[i] > 0.5 and x[i] != 0.75:
            s += x[i]
            n += 1
    return s / max(n, 1)


def by_continue(x):
    s = 0.0
    for i in prange(x.size):
        if x[i] < 0.5:
            continue
        s += 1 / x[i]
    return s


def both_ways(x):
    s = 0.0
    for i in prange(x.size):
        if x[i] > 1.0:
            s += x[i]
        elif x[i] < 0.99951171875:
            s -= x[i] * x[i]
    return s


def several_steps(x):
    s, p = 0.25, 1.0
    for i in prange(x.size):
        if x[i] > 1.0:
            s += x[i]
            s -= 0.5
            p *= x[i]
        else:
            s = 1.0 + s
            p /= x[i]
    return s + p


def in_an_inner_loop(x):
    s = 0.0
    for i in prange(x.size // 100):
        for j in range(100):
            if x[i * 100 + j] > 1.0:
                s += x[i * 100 + j]
    return s


def product(x):
    p = 1.0
    for i in prange(x.size):
        p *= x[i]
    return p


def of_an_inner_loop(x):
    s = 0.0
    for i in prange(x.size // 100):
        for j in range(100):
            s += x[i * 100 + j]
    return s


def of_each_iteration(x):
    out = np.zeros(x.size // 100)
    for i in prange(x.size // 100):
        own = 0.0
        for j in range(100):
            own += x[i * 100 + j]
        out[i] = own
    return out


CONDITIONAL = [conditional, of_positive_ones, by_continue, both_ways, several_steps, in_an_inner_loop]


@pytest.mark.parametrize("function", [whole, product, of_an_inner_loop, *CONDITIONAL])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_reductions_are_made_of_vectors(optimised, function, dtype):
    x = (np.random.default_rng(1).random(5000) * 0.002 + 0.999).astype(dtype)
    compiled = njit(parallel=True)(function)
    assert np.isclose(compiled(x), function(x.astype("float64")), rtol=1e-4 if dtype == "float32" else 1e-12)
    assert "vector.reduce" in next(iter(compiled.inspect_llvm().values()))


@pytest.mark.parametrize("function", [whole, product, *CONDITIONAL])
def test_the_same_bits_on_any_number_of_threads(function):
    x = np.random.default_rng(2).random(100_003) + 0.5
    x /= np.exp(np.mean(np.log(x)))  # whose product is near 1
    compiled, results, most = njit(parallel=True)(function), set(), get_num_threads()
    for threads in (1, most):
        set_num_threads(threads)
        results.add(compiled(x).hex())
    assert len(results) == 1


@pytest.mark.parametrize("function", CONDITIONAL)
def test_what_no_condition_chooses_changes_nothing(function):
    rng, compiled = np.random.default_rng(4), njit(parallel=True)(function)
    for x in (np.zeros(0), np.full(3, -0.0), rng.random(5000) * 0.4, np.full(2000, np.nan), np.full(999, 1.0)):
        with np.errstate(all="ignore"):
            ours, theirs = compiled(x), function(x)
        np.testing.assert_allclose(ours, theirs, rtol=1e-12)
        assert np.signbit(ours) == np.signbit(theirs)


def test_what_stands_behind_a_condition_raises_as_in_the_interpreter():
    def quotients(x, y):
        s = 0.0
        for i in prange(x.size):
            if x[i] > 0:
                s += x[i] + 1 // int(y[i])
        return s

    compiled = njit(parallel=True)(quotients)
    x, y = np.arange(-500.0, 500.0), np.arange(1000) - 100
    assert np.isclose(compiled(x, y), quotients(x, y))
    y[900] = 0
    for function in (compiled, quotients):
        with pytest.raises(ZeroDivisionError):
            function(x, y)
    with pytest.raises(IndexError):
        compiled(x, y[:800])


def test_a_sum_of_nothing_and_of_negative_zeros():
    compiled = njit(parallel=True)(whole)
    assert compiled(np.zeros(0)) == 0.0
    zeros = np.full(5000, -0.0)
    assert np.signbit(compiled(zeros)) == np.signbit(whole(zeros))


def test_sums_of_one_iteration_are_in_order():
    x = np.random.default_rng(3).random(5000)
    assert (njit(parallel=True)(of_each_iteration)(x) == of_each_iteration(x)).all()
