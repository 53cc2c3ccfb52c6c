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
    "hypergeometric(15, 25, 8)", "integers(7)", "integers(-5, 2**40)", "integers(3, 9, endpoint=True)",
    "integers(0, 100, dtype=np.int32)", "integers(1000, dtype=np.uint32)",
]
WRONG = [
    "uniform(2, 1)", "uniform(0, np.inf)", "normal(0, -1)", "gamma(-1)", "chisquare(0)", "poisson(-1)", "zipf(1)",
    "geometric(0)", "binomial(5, 2)", "binomial(-5, 0.5)", "negative_binomial(1, 2)", "hypergeometric(1, 2, 9)",
    "integers(5, 5)", "integers(5, 4, endpoint=True)", "triangular(3, 2, 1)", "wald(0, 1)", "logseries(1.0)",
    "noncentral_f(1, 1, -1)", "beta(1, 0)", "vonmises(0, -1)", "weibull(-1)", "integers(2**40, dtype=np.int32)",
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
