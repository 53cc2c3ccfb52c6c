"""numpy.random.Generator: compiled code draws what the interpreter would have drawn, and leaves the state there."""

import numpy as np
import pytest

from krait import njit
from numpy_cases import compare
from oracle import expression, outcome

DRAWS = [
    "random()", "random(dtype=np.float32)", "uniform()", "uniform(-2, 3.5)", "normal()", "normal(1.5, 2)",
    "standard_normal()", "standard_normal(dtype=np.float32)", "lognormal(0.5, 0.25)", "exponential(2.5)",
    "standard_exponential()", "standard_exponential(dtype=np.float32)", "gamma(0.3, 2.0)", "gamma(7.5)",
    "standard_gamma(2.5)", "beta(0.3, 0.4)", "beta(2.0, 0.4)", "chisquare(3)", "noncentral_chisquare(3.0, 1.5)",
    "f(3.0, 4)", "noncentral_f(3.0, 4.0, 0.5)", "standard_cauchy()", "standard_t(2.5)", "vonmises(0.5, 2.0)",
    "pareto(2.5)", "weibull(1.5)", "power(1.5)", "laplace(1.0, 2.0)", "gumbel(1.0, 2.0)", "logistic(1.0, 2.0)",
    "rayleigh(2.0)", "wald(1.0, 2.0)", "triangular(-1.0, 0.5, 2.0)", "binomial(10, 0.25)", "binomial(1000, 0.75)",
    "negative_binomial(5, 0.5)", "poisson(0.5)", "poisson(100.0)", "zipf(2.5)", "geometric(0.25)", "logseries(0.5)",
    "hypergeometric(15, 25, 8)", "standard_exponential(method='inv')",
    "standard_exponential(dtype=np.float32, method='inv')", "integers(7)", "integers(-5, 2**40)",
    "integers(3, 9, endpoint=True)",
    "integers(0, 100, dtype=np.int32)", "integers(1000, dtype=np.uint32)", "integers(200, dtype=np.uint8)",
    "integers(-128, 128, dtype=np.int8)", "integers(-5, 1000, dtype=np.int16)", "integers(2, dtype=np.bool_)",
    "multinomial(10, [0.2, 0.3, 0.5])", "multinomial(3, np.array([0.25, 0.0, 0.75]))", "dirichlet([1.0, 2.0, 3.0])",
    "dirichlet((0.01, 0.02, 0.03))", "dirichlet([0.0, 0.0])", "multivariate_hypergeometric([3, 4, 5], 4)",
    "multivariate_hypergeometric(np.array([30, 40, 5]), 60)", "multivariate_normal([1, 2], [[2.0, 0.5], [0.5, 1.0]])",
    "multivariate_normal([1, 2], np.eye(2), method='eigh')",
    "multivariate_normal((0.5, 1), np.eye(2), method='cholesky')",
]
A, B, C = np.array([0.5, 1.5, 2.5]), np.array([[0.25], [0.75]]), np.array([3, 1, 8])
ARRAYS = [
    "normal(a, 2.0)", "normal(a, b)", "normal(1.0, b, size=(4, 2, 3))", "normal([0, 1], 2)", "uniform(a, 5)",
    "uniform(b, a + 1)", "lognormal(a, 0.5)", "exponential(a)", "standard_gamma(a)", "gamma(a, b)", "beta(a, b)",
    "chisquare(c)", "f(a, b)", "noncentral_f(a, b, 1.5)", "noncentral_chisquare(a, b)", "standard_t(a)",
    "vonmises(a, b)", "pareto(a)", "weibull(a)", "power(a)", "laplace(a, b)", "gumbel(a)", "logistic(0, b)",
    "rayleigh(a)", "wald(a, b)", "triangular(0, b, a + 2)", "binomial(c, b)", "binomial(10, [0.5, 0.25])",
    "negative_binomial(c, b)", "poisson(a)", "poisson(c, (2, 3))", "zipf(a + 1)", "geometric(b)", "logseries(b)",
    "hypergeometric(c, 5, c)", "integers(c)", "integers([3, 5, 7])", "integers(-c, c)", "integers(0, c, (2, 3))",
    "integers(c, dtype=np.uint8)", "integers(c, dtype=np.int16, endpoint=True)", "integers(c, 9, dtype=np.int32)",
    "multinomial(c, [0.25, 0.75])", "multinomial(4, np.array([[0.25, 0.75], [0.5, 0.5]]))",
    "multinomial(c, [0.25, 0.75], size=(2, 3))", "permuted(a)",
    "permuted(b)", "permuted(a * b, axis=1)", "permuted(a * b, axis=0)", "permuted(a, out=a)", "bytes(5)", "bytes(0)",
    "normal(a, [1, -1, 1])", "normal(a, b, size=(1, 3))",
    "uniform(0, a - 1)", "uniform(0, [1.0, np.inf])", "poisson(-a)", "poisson(a * np.inf)", "binomial(-c, b)",
    "binomial(c, a)", "geometric(a)", "logseries(a)", "zipf(a)", "beta(b, a - 1)", "hypergeometric(c, 1, 9)",
    "triangular(a, b, 3.0)", "integers(c - 1)", "integers(c, c)", "integers(c * 90, dtype=np.uint8)",
    "integers(-c, c, dtype=np.uint8)", "integers(c, -c, endpoint=True)",
]
WRONG = [
    "uniform(2, 1)", "uniform(0, np.inf)", "normal(0, -1)", "gamma(-1)", "chisquare(0)", "poisson(-1)", "zipf(1)",
    "geometric(0)", "binomial(5, 2)", "binomial(-5, 0.5)", "negative_binomial(1, 2)", "hypergeometric(1, 2, 9)",
    "integers(5, 5)", "integers(5, 4, endpoint=True)", "triangular(3, 2, 1)", "wald(0, 1)", "logseries(1.0)",
    "noncentral_f(1, 1, -1)", "beta(1, 0)", "vonmises(0, -1)", "weibull(-1)", "integers(2**40, dtype=np.int32)",
    "integers(0)", "integers(300, dtype=np.uint8)", "multinomial(5, [0.9, 0.9, 0.1])", "multinomial(-5, [0.5, 0.5])",
    "multinomial(5, [-0.5, 0.5])", "dirichlet([1, -1])", "multivariate_normal([1], [1])",
    "multivariate_normal([1], np.eye(2))", "multivariate_normal([1], np.eye(1), method='x')",
    "multivariate_normal([0, 0], [[1, 2], [2, 1]], check_valid='raise')", "multivariate_hypergeometric([1, 2], 5)",
    "multivariate_hypergeometric([1, -2], 1)",
]


def same(text, kind, *args):
    function = expression(text, "rng", *"abc"[: len(args)])
    ours, theirs = np.random.Generator(kind(7)), np.random.Generator(kind(7))
    compiled = njit(function)
    for _ in range(3):
        compare(outcome(compiled, (ours, *args), {}), outcome(function, (theirs, *args), {}), text)
    assert ours.random() == theirs.random()


@pytest.mark.parametrize("draw", DRAWS)
def test_draws(draw):
    same(f"rng.{draw}", np.random.PCG64)
    with_size = f"rng.{draw[:-1]}{'' if draw.endswith('()') else ', '}size=(2, 3))"
    same(with_size, np.random.PCG64)


@pytest.mark.parametrize("draw", ARRAYS)
def test_parameters_that_are_arrays(draw):
    same(f"rng.{draw}", np.random.PCG64, A.copy(), B, C)


@pytest.mark.parametrize("draw", ["normal(a, [1, 2])", "normal(a, size=2)", "multinomial(a, [0.5, 0.5], size=2)"])
def test_shapes_that_do_not_fit(draw):
    f = expression(f"rng.{draw}", "rng", "a")
    for function in (f, njit(f)):
        with pytest.raises(ValueError, match="shape mismatch: objects cannot be broadcast to a single shape"):
            function(np.random.default_rng(1), np.arange(3))


@pytest.mark.parametrize("kind", [np.random.MT19937, np.random.Philox, np.random.SFC64, np.random.PCG64DXSM])
def test_every_bit_generator(kind):
    same("rng.random(), rng.normal(), rng.integers(9), rng.standard_exponential(5), rng.poisson(4.0, 3)", kind)


@pytest.mark.parametrize("draw", WRONG)
def test_what_numpy_refuses(draw):
    same(f"rng.{draw}", np.random.PCG64)


def test_orders():
    same("rng.permutation(10), rng.permutation(a), rng.permutation(a, 1)", np.random.PCG64, np.arange(12).reshape(3, 4))
    same("rng.permutation(a)", np.random.PCG64, np.arange(9.0))

    def shuffled(rng, a, b):
        rng.shuffle(a)
        rng.shuffle(b)
        rng.shuffle(b, 1)
        return a, b

    ours, theirs = (
        f(np.random.default_rng(3), np.arange(9), np.arange(12.0).reshape(3, 4)) for f in (njit(shuffled), shuffled)
    )
    compare(ours, theirs, "shuffled")


def test_orders_of_records():
    def mixed(rng, r, table):
        rng.shuffle(r)
        rng.shuffle(table, 1)
        np.random.shuffle(r)
        return rng.permutation(r), rng.permuted(r), rng.permuted(table, axis=0), np.random.permutation(table), r, table

    given = np.array([(i, i / 2) for i in range(6)], [("a", np.int32), ("b", np.float64)])
    results = []
    for f in (njit(mixed), mixed):
        np.random.seed(3)
        results.append(f(np.random.default_rng(3), given.copy(), given.reshape(2, 3).copy()))
    for ours, theirs in zip(*results, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_out_and_loops():
    def walk(rng, out):
        rng.random(out=out)
        x = 0.0
        for _ in range(100):
            x += rng.normal() if rng.random() < 0.5 else rng.uniform(-1, 1)
        return x, rng.standard_normal(out=out)

    ours, theirs = (f(np.random.default_rng(3), np.zeros(4)) for f in (njit(walk), walk))
    compare(ours, theirs, "a walk")


def test_one_specialisation_for_all_generators():
    draw = njit(expression("rng.random()", "rng"))
    for seed in range(5):
        assert draw(np.random.default_rng(seed)) == np.random.default_rng(seed).random()
    assert len(draw.signatures) == 1
