/* generator.c: random numbers of the host: draws from a numpy.random.Generator.
 *
 * In: the address of its bit generator, parameters that were checked.  Out: the number that its method would have
 * drawn: by NumPy's own C functions (random_...), which it exports. */
#include "bitgen.h"
#include "rt.h"

#if defined(KRAIT_RT_HOST)

uint64_t random_interval(BitGenerator *, uint64_t);
uint64_t random_bounded_uint64(BitGenerator *, uint64_t, uint64_t, uint64_t, bool);

static BitGenerator *bits(int64_t address) { return (BitGenerator *)(intptr_t)address; }

#define REAL0(name)                       \
    double random_##name(BitGenerator *); \
    double krait_rt_generator_##name##_g(int64_t generator) { return random_##name(bits(generator)); }
#define REAL1(name)                               \
    double random_##name(BitGenerator *, double); \
    double krait_rt_generator_##name##_g(int64_t generator, double a) { return random_##name(bits(generator), a); }
#define REAL2(name)                                                               \
    double random_##name(BitGenerator *, double, double);                         \
    double krait_rt_generator_##name##_g(int64_t generator, double a, double b) { \
        return random_##name(bits(generator), a, b);                              \
    }
#define REAL3(name)                                                                         \
    double random_##name(BitGenerator *, double, double, double);                           \
    double krait_rt_generator_##name##_g(int64_t generator, double a, double b, double c) { \
        return random_##name(bits(generator), a, b, c);                                     \
    }
#define COUNT1(name)                               \
    int64_t random_##name(BitGenerator *, double); \
    int64_t krait_rt_generator_##name##_g(int64_t generator, double a) { return random_##name(bits(generator), a); }
#define SINGLE0(name)                    \
    float random_##name(BitGenerator *); \
    double krait_rt_generator_##name##_g(int64_t generator) { return (double)random_##name(bits(generator)); }

REAL0(standard_uniform)
REAL0(standard_normal)
REAL0(standard_exponential)
REAL0(standard_cauchy)
SINGLE0(standard_uniform_f)
SINGLE0(standard_normal_f)
SINGLE0(standard_exponential_f)
REAL1(exponential)
REAL1(standard_gamma)
REAL1(chisquare)
REAL1(standard_t)
REAL1(pareto)
REAL1(weibull)
REAL1(power)
REAL1(rayleigh)
REAL2(uniform)
REAL2(normal)
REAL2(lognormal)
REAL2(gamma)
REAL2(beta)
REAL2(f)
REAL2(noncentral_chisquare)
REAL2(laplace)
REAL2(gumbel)
REAL2(logistic)
REAL2(wald)
REAL2(vonmises)
REAL3(noncentral_f)
REAL3(triangular)
COUNT1(poisson)
COUNT1(zipf)
COUNT1(logseries)
COUNT1(geometric)

int64_t random_negative_binomial(BitGenerator *, double, double);
int64_t krait_rt_generator_negative_binomial_g(int64_t generator, double n, double p) {
    return random_negative_binomial(bits(generator), n, p);
}

int64_t krait_rt_generator_binomial_g(int64_t generator, double p, int64_t n) {
    BinomialState state = {0};
    return random_binomial(bits(generator), p, n, &state);
}

int64_t random_hypergeometric(BitGenerator *, int64_t, int64_t, int64_t);
int64_t krait_rt_generator_hypergeometric_g(int64_t generator, int64_t good, int64_t bad, int64_t sample) {
    return random_hypergeometric(bits(generator), good, bad, sample);
}

/* From 0 to most, both included: masked, with rejection. */
int64_t krait_rt_generator_interval_g(int64_t generator, int64_t most) {
    return (int64_t)random_interval(bits(generator), (uint64_t)most);
}

/* From low to low + range, both included, by multiplication (Lemire, 2019). */
int64_t krait_rt_generator_bounded_g(int64_t generator, int64_t low, int64_t range) {
    return (int64_t)random_bounded_uint64(bits(generator), (uint64_t)low, (uint64_t)range, 0, false);
}

uint32_t random_buffered_bounded_uint32(BitGenerator *, uint32_t, uint32_t, uint32_t, bool, int *, uint32_t *);
int64_t krait_rt_generator_bounded32_g(int64_t generator, int64_t low, int64_t range) {
    uint32_t kept = 0;
    int count = 0;
    return random_buffered_bounded_uint32(bits(generator), (uint32_t)low, (uint32_t)range, 0, false, &count, &kept);
}

#endif
