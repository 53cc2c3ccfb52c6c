"""Random numbers: compiled code draws what the interpreter would have drawn, and leaves the state where it would be."""

import math
import random

import numpy as np
import pytest
from oracle import agree, make

from krait import njit

DISTRIBUTIONS = [
    "np.random.rand()",
    "np.random.randn()",
    "np.random.random()",
    "np.random.random_sample()",
    "np.random.uniform()",
    "np.random.uniform(-2, 3.5)",
    "np.random.normal()",
    "np.random.normal(1.5, 2)",
    "np.random.standard_normal()",
    "np.random.lognormal(0.5, 0.25)",
    "np.random.exponential(2.5)",
    "np.random.standard_exponential()",
    "np.random.gamma(0.3, 2.0)",
    "np.random.gamma(1.0)",
    "np.random.gamma(7.5, 0.5)",
    "np.random.standard_gamma(2.5)",
    "np.random.beta(0.3, 0.4)",
    "np.random.beta(2.0, 0.4)",
    "np.random.chisquare(3.0)",
    "np.random.noncentral_chisquare(3.0, 1.5)",
    "np.random.noncentral_chisquare(0.5, 1.5)",
    "np.random.noncentral_chisquare(0.5, 0)",
    "np.random.f(3.0, 4.0)",
    "np.random.noncentral_f(3.0, 4.0, 0.5)",
    "np.random.standard_cauchy()",
    "np.random.standard_t(2.5)",
    "np.random.vonmises(0.5, 2.0)",
    "np.random.vonmises(3.0, 1e-6)",
    "np.random.vonmises(3.0, 1e-9)",
    "np.random.pareto(2.5)",
    "np.random.weibull(1.5)",
    "np.random.power(1.5)",
    "np.random.laplace(1.0, 2.0)",
    "np.random.gumbel(1.0, 2.0)",
    "np.random.logistic(1.0, 2.0)",
    "np.random.rayleigh(2.0)",
    "np.random.wald(1.0, 2.0)",
    "np.random.triangular(-1.0, 0.5, 2.0)",
    "np.random.binomial(10, 0.25)",
    "np.random.binomial(1000, 0.75)",
    "np.random.negative_binomial(5, 0.5)",
    "np.random.poisson(0.5)",
    "np.random.poisson(100.0)",
    "np.random.zipf(2.5)",
    "np.random.geometric(0.25)",
    "np.random.geometric(0.75)",
    "np.random.hypergeometric(15, 25, 8)",
    "np.random.hypergeometric(15, 25, 20)",
    "np.random.hypergeometric(150, 25, 120)",
    "np.random.logseries(0.75)",
    "np.random.randint(7)",
    "np.random.randint(-5, 5)",
    "np.random.randint(0, 2**40)",
    "np.random.randint(-2**63, 2**63 - 1)",
    "np.random.randint(1000, dtype=np.int32)",
    "np.random.choice(9)",
    "random.random()",
    "random.uniform(2, 5)",
    "random.randint(1, 6)",
    "random.randrange(100)",
    "random.randrange(3, 100, 7)",
    "random.getrandbits(5)",
    "random.getrandbits(32)",
    "random.getrandbits(63)",
    "random.triangular()",
    "random.triangular(1.0, 4.0, 2.0)",
    "random.normalvariate(1.0, 2.0)",
    "random.lognormvariate(0.5, 0.5)",
    "random.expovariate(1.5)",
    "random.vonmisesvariate(1.0, 2.0)",
    "random.vonmisesvariate(1.0, 0.0)",
    "random.gammavariate(0.5, 2.0)",
    "random.gammavariate(1.0, 2.0)",
    "random.gammavariate(2.5, 2.0)",
    "random.betavariate(1.5, 2.5)",
    "random.paretovariate(3.0)",
    "random.weibullvariate(1.0, 1.5)",
    "random.choice((3, 5, 7))",
    "sum(random.choices([1, 2, 3], k=5))",
    "sum(random.choices([1, 2, 3], [1, 5, 2], k=4))",
    "sum(random.choices((4, 5, 6), cum_weights=[1, 2, 9], k=3))",
    "sum(random.sample([1, 2, 3, 4, 5], 3))",
    "sum(random.sample(range(1000), 7))",
    "sum(random.sample([1, 2], counts=[3, 2], k=4))",
]


def states():
    return np.random.get_state(legacy=False), random.getstate()


def same_states(a, b):
    (x, xr), (y, yr) = a, b
    return (
        np.array_equal(x["state"]["key"], y["state"]["key"])
        and x["state"]["pos"] == y["state"]["pos"]
        and (x["has_gauss"], x["gauss"]) == (y["has_gauss"], y["gauss"])
        and xr[1] == yr[1]
    )


def seed(number):
    np.random.seed(number)
    random.seed(number)


def function_of(source):
    names = {"np": np, "random": random, "math": math}
    exec(source, names)
    return names["f"]


def both_ways(f, *args):
    """(results, states) of the interpreter and of compiled code, each from the same seed, with the other between."""
    compiled = njit(f)
    results = []
    for run in (f, compiled):
        seed(20)
        values = [f(*args), run(*args), run(*args), f(*args)]
        results.append((values, states()))
    return results


@pytest.mark.parametrize("call", DISTRIBUTIONS)
def test_a_number_is_the_interpreters(call):
    f = function_of(f"def f():\n    s = 0\n    for i in range(50):\n        s = {call}\n    return s, {call}")
    (expected, expected_states), (found, found_states) = both_ways(f)
    assert repr(found) == repr(expected)
    assert same_states(found_states, expected_states)


SIZED = [c[:-1] + ("size=" if c.endswith("()") else ", size=") for c in DISTRIBUTIONS if c.startswith("np.random")]
SIZED = [c for c in SIZED if not c.startswith(("np.random.rand(", "np.random.randn("))]


@pytest.mark.parametrize("size", ["5", "(2, 3)", "()", "0"])
@pytest.mark.parametrize("call", SIZED)
def test_an_array_is_the_interpreters(call, size):
    f = function_of(f"def f():\n    return {call}{size})")
    (expected, expected_states), (found, found_states) = both_ways(f)
    for a, b in zip(found, expected, strict=True):
        assert type(a) is type(b) and a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    assert same_states(found_states, expected_states)


ARRAYS = [
    "normal(a, 2.0)", "normal(a.astype('f'), b)", "normal(1.0, b, size=(4, 2, 3))", "uniform(a, 5)",
    "uniform(b, a + 1)", "lognormal(a, 0.5)", "exponential([1.0, 2.5])", "standard_gamma(a)", "gamma(a, b)",
    "beta(a, b)", "chisquare(c)",
    "f(a, b)", "noncentral_f(a, b, 1.5)", "noncentral_chisquare(a, b)", "standard_t(a)", "vonmises(a, b)", "pareto(a)",
    "weibull(a)", "power(a)", "laplace(a, b)", "gumbel(a)", "logistic(0, b)", "rayleigh(a)", "wald(a, b)",
    "triangular(0, b, a + 2)", "binomial(c, b)", "binomial(10, [0.5, 0.25])", "negative_binomial(c, b)", "poisson(a)",
    "zipf(a + 1)", "geometric(b)", "logseries(b)", "hypergeometric(c, 5, c)", "randint(c)", "randint(-c, [9, 9, 9])",
    "randint(c, dtype=np.uint8)", "randint(0, 200, 50, np.uint8)", "randint(0, 256, 5, dtype=np.uint8)",
    "randint(-9, 900, (3, 5), dtype='i2')", "randint(0, 2, 40, dtype=bool)", "randint(5, dtype=np.int8)",
    "bytes(7)", "choice([1, 2, 3], 4)", "choice((0.5, 2.5))",
    "multivariate_normal([1, 2], [[2.0, 0.5], [0.5, 1.0]], 3)",
]


@pytest.mark.parametrize("call", ARRAYS)
def test_parameters_that_are_arrays(call):
    f = function_of(f"def f(a, b, c):\n    return np.random.{call}")
    given = np.array([0.5, 1.5, 2.5]), np.array([[0.25], [0.75]]), np.array([3, 1, 8])
    (expected, expected_states), (found, found_states) = both_ways(f, *given)
    for a, b in zip(found, expected, strict=True):
        assert type(a) is type(b) and repr(a) == repr(b)
        assert np.asarray(a).tobytes() == np.asarray(b).tobytes()
    assert same_states(found_states, expected_states)


@pytest.mark.parametrize("call", ["rand", "randn"])
def test_a_shape_in_arguments(call):
    f = function_of(f"def f(n):\n    return np.random.{call}(n), np.random.{call}(2, n)")
    (expected, _), (found, _) = both_ways(f, 3)
    assert all(np.array_equal(a, b) for x, y in zip(found, expected, strict=True) for a, b in zip(x, y, strict=True))


REFUSED = [
    "np.random.normal(0, -1)",
    "np.random.normal(0, -0.0)",
    "np.random.gamma(-1.0)",
    "np.random.beta(0, 1)",
    "np.random.uniform(0, math.inf)",
    "np.random.binomial(-1, 0.5)",
    "np.random.binomial(1, 1.5)",
    "np.random.binomial(1, math.nan)",
    "np.random.poisson(-1)",
    "np.random.poisson(1e300)",
    "np.random.geometric(0)",
    "np.random.zipf(1)",
    "np.random.logseries(1.0)",
    "np.random.hypergeometric(1, 1, 3)",
    "np.random.hypergeometric(-1, 5, 3)",
    "np.random.triangular(1, 0, 2)",
    "np.random.triangular(1, 2, 1.5)",
    "np.random.triangular(1, 1, 1)",
    "np.random.randint(0)",
    "np.random.randint(5, 5)",
    "np.random.vonmises(0, -1)",
    "np.random.chisquare(0)",
    "np.random.noncentral_f(1, 1, -1)",
    "np.random.noncentral_chisquare(0, 1)",
    "np.random.wald(0, 1)",
    "np.random.power(0)",
    "np.random.weibull(-1)",
    "np.random.seed(-1)",
    "np.random.seed(2**32)",
    "random.randint(2, 1)",
    "random.randrange(0)",
    "random.choice(())",
]


@pytest.mark.parametrize("call", REFUSED)
def test_what_numpy_refuses(call):
    f = function_of(f"def f():\n    return {call}")
    with pytest.raises(Exception) as expected:
        f()
    with pytest.raises(expected.type) as found:
        njit(f)()
    if call.startswith("np"):
        assert str(found.value) == str(expected.value)


@pytest.mark.parametrize("size", ["0", "(0, 3)"])
def test_what_draws_nothing_has_no_bounds(size):
    calls = ["choice(x[:0], SIZE)", "choice(0, SIZE, replace=False)", "choice(-2, SIZE)"]
    ours = ["integers(3, 2, SIZE, np.uint8)", "integers(x[:0], 0, SIZE)", "choice(np.zeros((3, 0)), SIZE, axis=1)"]
    texts = [f"rng.{call}" for call in calls + ours] + [f"np.random.{call}" for call in calls]
    for text in texts + ["np.random.randint(-9, 900, SIZE, np.uint8)"]:
        drawn = text.replace("SIZE", size)
        agree(make(f"def f(x):\n    rng = np.random.default_rng(1)\n    return {drawn}"), np.ones(3))


@pytest.mark.parametrize("size", [None, 0, 2])
def test_populations_that_are_refused(size):
    f = make("def f(a, size):\n    return np.random.choice(a, size, True, a[:0])")
    agree(f, np.ones(0), size)
    for a in (2.5, np.array(5.0)):
        agree(make("def f(a, size):\n    return np.random.choice(a, size)"), a, size)


def test_seeding_inside():
    def f(n):
        np.random.seed(n)
        random.seed(n)
        return np.random.rand(), random.random(), np.random.randn()

    assert njit(f)(7) == f(7)
    assert njit(f)(2**32 - 1) == f(2**32 - 1)


@pytest.mark.parametrize("number", [-(2**63), -1, 2**63 - 1])
def test_the_size_of_a_number_is_its_seed(number):
    def f(n):
        random.seed(n)
        return random.random()

    assert njit(f)(number) == f(number)


def test_seeding_from_the_system():
    @njit
    def f():
        np.random.seed()
        return np.random.rand()

    assert f() != f()


def test_another_bit_generator_is_drawn_from():
    # Words of a Mersenne Twister are read where they lie; what takes its place has none.
    @njit
    def f():
        return np.random.rand(), np.random.randint(0, 1000), np.random.randn(), np.random.permutation(5)[0]

    f()
    before = np.random.get_bit_generator()
    try:
        for bits in (np.random.PCG64, np.random.MT19937):
            np.random.set_bit_generator(bits(3))
            expected = f.py_func()
            np.random.set_bit_generator(bits(3))
            assert f() == expected
    finally:
        np.random.set_bit_generator(before)


@pytest.mark.parametrize("most", [1, 2, 3, 1000, 2**31, 2**32 - 1, 2**32, 2**62])
def test_words_are_the_interpreters_over_several_states(most):
    def f(n, most):
        total = 0.0
        for _ in range(n):
            total += np.random.randint(0, most) % 1000 + np.random.rand()
        return total, np.random.randint(0, most, 700).max()

    seed(5)
    expected = f(1500, most)
    seed(5)
    assert njit(f)(1500, most) == expected
    assert np.random.rand() == [seed(5), f(1500, most), np.random.rand()][2]


def test_shuffle_permutation_choice():
    def f(a, b):
        np.random.shuffle(a)
        np.random.shuffle(b)
        random.shuffle(a)
        return a, b, np.random.permutation(6), np.random.permutation(a), np.random.choice(a), np.random.choice(a, 4)

    def g(a):
        return np.random.choice(a, 3, False), np.random.choice(5, 3, False)

    for function, args in ((f, (np.arange(9), np.arange(12.0).reshape(4, 3))), (g, (np.arange(9),))):
        results = []
        for run in (function, njit(function)):
            seed(3)
            results.append(run(*(a.copy() for a in args)))
        for a, b in zip(*results, strict=True):
            assert np.array_equal(a, b)


def test_monte_carlo_pi():
    def pi(n):
        inside = 0
        for _ in range(n):
            x = np.random.rand()
            y = np.random.rand()
            inside += x * x + y * y < 1.0
        return 4.0 * inside / n

    results = []
    for run in (pi, njit(pi)):
        seed(1)
        results.append(run(10000))
    assert results[0] == results[1] and abs(results[0] - math.pi) < 0.1


def test_kernels_refuse():
    from krait import cuda
    from krait.errors import KraitError

    @cuda.jit
    def k(a):
        a[0] = np.random.rand()

    with pytest.raises(KraitError, match="cannot be used in kernels"):
        k[1, 1](np.zeros(1))


@pytest.mark.parametrize("call", [
    "randint(-2**63, 2**63 - 1)", "randint(-2**62, 2**62)", "randrange(-2**62, 2**62)", "randrange(2**62, -2**62, -1)",
    "choices([1, 2, 3], [2**62, 2**62, 2**62])", "choices([1, 2, 3, 4, 5], [2**62] * 5)",
])
def test_ranges_and_weights_beyond_an_int_raise(call):
    """What would wrap is not drawn from."""
    with pytest.raises(OverflowError, match="too large for compiled code"):
        njit(make(f"def f():\n    return random.{call}", "f", random=random))()


def test_what_is_no_sequence_is_not_sampled():
    f = make("def f(a):\n    return random.sample(a, 2)", "f", random=random)
    for call in (f, njit(f)):
        with pytest.raises(TypeError, match="Population must be a sequence"):
            call(np.arange(5))


@pytest.mark.parametrize("low, high", [(np.array([2**63 + 5], np.uint64), 100), (0, np.array([2**63 + 1], np.uint64)),
                                       (0, np.array([2**63, 7], np.uint64))])  # fmt: skip
def test_unsigned_bounds_that_int64_does_not_hold(low, high):
    def draw(low, high):
        np.random.seed(5)
        return np.random.randint(low, high)

    found = []
    for function in draw, njit(draw):
        try:
            found.append(function(low, high).tolist())
        except ValueError as error:
            found.append(str(error).splitlines()[0])
    assert found[0] == found[1]


@pytest.mark.parametrize("draw", [lambda n: np.random.binomial(n, 0.5), lambda n: np.random.hypergeometric(n, 3, 2),
                                  lambda n: np.random.hypergeometric(5, n, 2)])  # fmt: skip
@pytest.mark.parametrize("dtype", [np.float64, np.uint64])
def test_counts_that_come_in_arrays_are_integers(draw, dtype):
    with pytest.raises(TypeError) as expected:
        draw(np.array([2], dtype))
    with pytest.raises(TypeError) as found:
        njit(draw)(np.array([2], dtype))
    assert str(found.value).splitlines()[0] == str(expected.value)
