"""Functions of rtlib/random.c by name, for the modules that draw numbers; on import the generators' states are found.

Compiled code draws from the very states that the interpreter draws from, so that a program gives the same numbers
whichever of the two draws."""

import random

import numpy.random

from krait import _krait


class _Draw:
    """Stands for a row of src/library/prelude.def."""

    def __init__(self, name):
        self.__name__ = self.__qualname__ = name


_krait.bind_random(numpy.random.mtrand._rand, random._inst)

numpy_seed = _Draw("numpy_seed")
python_seed = _Draw("python_seed")
numpy_double = _Draw("numpy_double")
numpy_normal = _Draw("numpy_normal")
numpy_exponential = _Draw("numpy_exponential")
numpy_cauchy = _Draw("numpy_cauchy")
numpy_lognormal = _Draw("numpy_lognormal")
numpy_gamma = _Draw("numpy_gamma")
numpy_chisquare = _Draw("numpy_chisquare")
numpy_pareto = _Draw("numpy_pareto")
numpy_weibull = _Draw("numpy_weibull")
numpy_power = _Draw("numpy_power")
numpy_rayleigh = _Draw("numpy_rayleigh")
numpy_standard_t = _Draw("numpy_standard_t")
numpy_beta = _Draw("numpy_beta")
numpy_f = _Draw("numpy_f")
numpy_wald = _Draw("numpy_wald")
numpy_vonmises = _Draw("numpy_vonmises")
numpy_laplace = _Draw("numpy_laplace")
numpy_gumbel = _Draw("numpy_gumbel")
numpy_logistic = _Draw("numpy_logistic")
numpy_triangular = _Draw("numpy_triangular")
numpy_noncentral_chisquare = _Draw("numpy_noncentral_chisquare")
numpy_noncentral_f = _Draw("numpy_noncentral_f")
numpy_poisson = _Draw("numpy_poisson")
numpy_logseries = _Draw("numpy_logseries")
numpy_geometric = _Draw("numpy_geometric")
numpy_zipf = _Draw("numpy_zipf")
numpy_negative_binomial = _Draw("numpy_negative_binomial")
numpy_binomial = _Draw("numpy_binomial")
numpy_hypergeometric = _Draw("numpy_hypergeometric")
numpy_interval = _Draw("numpy_interval")
numpy_bounded = _Draw("numpy_bounded")
python_double = _Draw("python_double")
python_below = _Draw("python_below")
python_bits = _Draw("python_bits")

generator_standard_uniform = _Draw("generator_standard_uniform")
generator_standard_normal = _Draw("generator_standard_normal")
generator_standard_exponential = _Draw("generator_standard_exponential")
generator_standard_cauchy = _Draw("generator_standard_cauchy")
generator_standard_uniform_f = _Draw("generator_standard_uniform_f")
generator_standard_normal_f = _Draw("generator_standard_normal_f")
generator_standard_exponential_f = _Draw("generator_standard_exponential_f")
generator_exponential = _Draw("generator_exponential")
generator_standard_gamma = _Draw("generator_standard_gamma")
generator_chisquare = _Draw("generator_chisquare")
generator_standard_t = _Draw("generator_standard_t")
generator_pareto = _Draw("generator_pareto")
generator_weibull = _Draw("generator_weibull")
generator_power = _Draw("generator_power")
generator_rayleigh = _Draw("generator_rayleigh")
generator_uniform = _Draw("generator_uniform")
generator_normal = _Draw("generator_normal")
generator_lognormal = _Draw("generator_lognormal")
generator_gamma = _Draw("generator_gamma")
generator_beta = _Draw("generator_beta")
generator_f = _Draw("generator_f")
generator_noncentral_chisquare = _Draw("generator_noncentral_chisquare")
generator_laplace = _Draw("generator_laplace")
generator_gumbel = _Draw("generator_gumbel")
generator_logistic = _Draw("generator_logistic")
generator_wald = _Draw("generator_wald")
generator_vonmises = _Draw("generator_vonmises")
generator_noncentral_f = _Draw("generator_noncentral_f")
generator_triangular = _Draw("generator_triangular")
generator_poisson = _Draw("generator_poisson")
generator_zipf = _Draw("generator_zipf")
generator_logseries = _Draw("generator_logseries")
generator_geometric = _Draw("generator_geometric")
generator_negative_binomial = _Draw("generator_negative_binomial")
generator_binomial = _Draw("generator_binomial")
generator_hypergeometric = _Draw("generator_hypergeometric")
generator_interval = _Draw("generator_interval")
generator_bounded = _Draw("generator_bounded")
generator_bounded32 = _Draw("generator_bounded32")
