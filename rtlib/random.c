/* random.c: random numbers of the host: draws from the generators that NumPy and the standard library own.
 *
 * In: the state of numpy.random's functions, that of the module random, parameters that were checked.  Out: the number
 * that the interpreter would have drawn; the state moves on as it would have.
 * NumPy's Generator and the parts of its legacy functions that did not change between its versions are NumPy's own C
 * functions (random_...), which it exports; the rest of the legacy distributions is frozen by NumPy's compatibility
 * policy (NEP 19) and stands here, after the algorithms' own sources: Marsaglia's polar method (1964); Marsaglia and
 * Tsang, A simple method for generating gamma variables (2000); Best and Fisher, Efficient simulation of the von Mises
 * distribution (1979); Michael, Schucany and Haas (1976) for Wald's; Joehnk (1964) for beta's; Devroye, Non-Uniform
 * Random Variate Generation (1986); Stadlober (1989) for the hypergeometric. */
#include "bitgen.h"
#include "rt.h"

#if defined(KRAIT_RT_HOST)

extern LegacyState krait_host_numpy_random;
/* next_uint32 of bit generators whose words are read here, as they lie; NULL: of none. */
extern uint32_t (*krait_host_numpy_twister)(void *);
/* 1 in a module with parallel loops (codegen.c sets it): each chunk of one has a stream of its own (runtime/host); 2
 * where iterations give theirs a seed: what it draws from then is asked for each number. */
extern int32_t krait_streams;
/* Both the same for as long as a function runs, which may ask before its loops. */
__attribute__((const)) LegacyState *krait_host_numpy_stream(void);
__attribute__((const)) uint64_t *krait_host_stream_words(void);
int32_t krait_host_python_word(uint32_t *word);

void krait_host_random_seed(int32_t which, int64_t seed);

static LegacyState *numpy_state(void) { return krait_streams ? krait_host_numpy_stream() : &krait_host_numpy_random; }
static BitGenerator *numpy_bits(void) { return numpy_state()->bits; }

/* The generator's words; NULL: it is to be asked. */
static NumpyTwister *words_in_place(const BitGenerator *bits) {
    return bits->next_uint32 == krait_host_numpy_twister ? bits->state : 0;
}

/* Whatever other threads draw meanwhile, the index is never beyond the words: NumPy would read on from there. */
static uint32_t draw_word_of(NumpyTwister *mt) {
    int at = mt->index;
    if (at >= TWISTER_WORDS) {
        krait_host_twister_turn(mt->state);
        at = 0;
    }
    mt->index = at + 1;
    return twister_tempered(mt->state[at]);
}

static uint32_t draw_half(const BitGenerator *bits) {
    NumpyTwister *mt = words_in_place(bits);
    return mt ? draw_word_of(mt) : bits->next_uint32(bits->state);
}

static double draw(void) {
    uint64_t *words = krait_streams == 1 ? krait_host_stream_words() : 0;
    if (words) return stream_double(words);
    BitGenerator *bits = numpy_bits();
    NumpyTwister *mt = words_in_place(bits);
    if (!mt) return bits->next_double(bits->state);
    uint32_t a = draw_word_of(mt);
    return twister_double(a, draw_word_of(mt));
}

static double draw_exponential(void) { return -m_log(1.0 - draw()); }

static double draw_normal(void) {
    LegacyState *state = numpy_state();
    if (state->has_gauss) {
        double kept = state->gauss;
        state->gauss = 0.0;
        state->has_gauss = 0;
        return kept;
    }
    double x1, x2, r2;
    do {
        x1 = 2.0 * draw() - 1.0;
        x2 = 2.0 * draw() - 1.0;
        r2 = x1 * x1 + x2 * x2;
    } while (r2 >= 1.0 || r2 == 0.0);
    double f = __builtin_sqrt(-2.0 * m_log(r2) / r2);
    state->gauss = f * x1;
    state->has_gauss = 1;
    return f * x2;
}

static double draw_small_gamma(double shape) {
    for (;;) {
        double u = draw(), v = draw_exponential();
        if (u <= 1.0 - shape) {
            double x = m_pow(u, 1.0 / shape);
            if (x <= v) return x;
        } else {
            double y = -m_log((1 - u) / shape), x = m_pow(1.0 - shape + shape * y, 1.0 / shape);
            if (x <= v + y) return x;
        }
    }
}

static double draw_gamma(double shape) {
    if (shape == 1.0) return draw_exponential();
    if (shape == 0.0) return 0.0;
    if (shape < 1.0) return draw_small_gamma(shape);
    double b = shape - 1.0 / 3.0, c = 1.0 / __builtin_sqrt(9.0 * b);
    for (;;) {
        double x, v, u;
        do {
            x = draw_normal();
            v = 1.0 + c * x;
        } while (v <= 0.0);
        v = v * v * v;
        u = draw();
        if (u < 1.0 - 0.0331 * (x * x) * (x * x)) return b * v;
        if (m_log(u) < 0.5 * x * x + b * (1.0 - v + m_log(v))) return b * v;
    }
}

static double draw_chisquare(double df) { return 2.0 * draw_gamma(df / 2.0); }

#define DRAW0(name, value) \
    double krait_rt_numpy_##name##_v(void) { return value; }
#define DRAW1(name, a, value) \
    double krait_rt_numpy_##name##_d(double a) { return value; }
#define DRAW2(name, a, b, value) \
    double krait_rt_numpy_##name##_d(double a, double b) { return value; }

DRAW0(double, draw())
DRAW0(normal, draw_normal())
DRAW0(exponential, draw_exponential())
DRAW0(cauchy, draw_normal() / draw_normal())
DRAW2(lognormal, mean, sigma, m_exp(mean + sigma * draw_normal()))
DRAW1(gamma, shape, draw_gamma(shape))
DRAW1(chisquare, df, draw_chisquare(df))
DRAW1(pareto, a, m_exp(draw_exponential() / a) - 1)
DRAW1(weibull, a, a == 0.0 ? 0.0 : m_pow(draw_exponential(), 1. / a))
DRAW1(power, a, m_pow(1 - m_exp(-draw_exponential()), 1. / a))
DRAW1(rayleigh, mode, mode *__builtin_sqrt(-2.0 * m_log1p(-draw())))

double krait_rt_numpy_standard_t_d(double df) {
    double normal = draw_normal(), gamma = draw_gamma(df / 2);
    return __builtin_sqrt(df / 2) * normal / __builtin_sqrt(gamma);
}

double krait_rt_numpy_beta_d(double a, double b) {
    if (a > 1.0 || b > 1.0) {
        double x = draw_gamma(a), y = draw_gamma(b);
        return x / (x + y);
    }
    for (;;) {
        double u = draw(), v = draw(), x = m_pow(u, 1.0 / a), y = m_pow(v, 1.0 / b), sum = x + y;
        if (sum > 1.0 || u + v <= 0.0) continue;
        if (sum > 0) return x / sum;
        double log_x = m_log(u) / a, log_y = m_log(v) / b, most = log_x > log_y ? log_x : log_y;
        log_x -= most;
        log_y -= most;
        return m_exp(log_x - m_log(m_exp(log_x) + m_exp(log_y)));
    }
}

double krait_rt_numpy_f_d(double dfnum, double dfden) {
    double above = draw_chisquare(dfnum) * dfden;
    return above / (draw_chisquare(dfden) * dfnum);
}

double krait_rt_numpy_wald_d(double mean, double scale) {
    double half = mean / (2 * scale), y = draw_normal();
    y = mean * y * y;
    double x = mean + half * (y - __builtin_sqrt(4 * scale * y + y * y)), u = draw();
    return u <= mean / (mean + x) ? x : mean * mean / x;
}

double krait_rt_numpy_vonmises_d(double mu, double kappa) {
    if (kappa < 1e-8) return RT_PI * (2 * draw() - 1);
    double s;
    if (kappa < 1e-5) {
        s = 1. / kappa + kappa;
    } else {
        double r = 1 + __builtin_sqrt(1 + 4 * kappa * kappa), rho = (r - __builtin_sqrt(2 * r)) / (2 * kappa);
        s = (1 + rho * rho) / (2 * rho);
    }
    double w;
    for (;;) {
        double z = m_cos(RT_PI * draw()), y, v;
        w = (1 + s * z) / (s + z);
        y = kappa * (s - w);
        v = draw();
        if (y * (2 - y) - v >= 0 || m_log(y / v) + 1 - y >= 0) break;
    }
    double result = m_acos(w);
    if (draw() < 0.5) result = -result;
    result += mu;
    int negative = result < 0;
    double turned = m_fmod(__builtin_fabs(result) + RT_PI, 2 * RT_PI) - RT_PI;
    return negative ? -turned : turned;
}

/* ---- NumPy's own ---- */

double random_laplace(BitGenerator *, double, double);
double random_gumbel(BitGenerator *, double, double);
double random_logistic(BitGenerator *, double, double);
double random_triangular(BitGenerator *, double, double, double);
int64_t random_poisson(BitGenerator *, double);
int64_t random_logseries(BitGenerator *, double);
int64_t random_geometric_search(BitGenerator *, double);
int64_t random_zipf(BitGenerator *, double);

DRAW2(laplace, loc, scale, random_laplace(numpy_bits(), loc, scale))
DRAW2(gumbel, loc, scale, random_gumbel(numpy_bits(), loc, scale))
DRAW2(logistic, loc, scale, random_logistic(numpy_bits(), loc, scale))
double krait_rt_numpy_triangular_d(double left, double mode, double right) {
    return random_triangular(numpy_bits(), left, mode, right);
}

double krait_rt_numpy_noncentral_chisquare_d(double df, double nonc) {
    if (nonc == 0) return draw_chisquare(df);
    if (1 < df) {
        double chi2 = draw_chisquare(df - 1), n = draw_normal() + __builtin_sqrt(nonc);
        return chi2 + n * n;
    }
    int64_t i = random_poisson(numpy_bits(), nonc / 2.0);
    double out = draw_chisquare(df + 2 * (double)i);
    return rt_isnan(nonc) ? RT_NAN : out;
}

double krait_rt_numpy_noncentral_f_d(double dfnum, double dfden, double nonc) {
    double t = krait_rt_numpy_noncentral_chisquare_d(dfnum, nonc) * dfden;
    return t / (draw_chisquare(dfden) * dfnum);
}

#define COUNT1(name, a) \
    int64_t krait_rt_numpy_##name##_d(double a) { return random_##name(numpy_bits(), a); }
COUNT1(poisson, lam)
COUNT1(logseries, p)
COUNT1(zipf, a)

int64_t krait_rt_numpy_geometric_d(double p) {
    if (p >= 0.333333333333333333333333) return random_geometric_search(numpy_bits(), p);
    return (int64_t)__builtin_ceil(m_log1p(-draw()) / m_log(1 - p));
}

int64_t krait_rt_numpy_negative_binomial_d(double n, double p) {
    return random_poisson(numpy_bits(), (1 - p) / p * draw_gamma(n));
}

int64_t krait_rt_numpy_binomial_d(double p, int64_t n) {
    BinomialState state = {0};
    return random_binomial(numpy_bits(), p, n, &state);
}

/* From 0 to most, both included: a mask takes as many bits as it has, and what is too large is drawn again. */
static uint64_t draw_masked(uint64_t most) {
    BitGenerator *bits = numpy_bits();
    if (!most) return 0;
    uint64_t mask = ~UINT64_C(0) >> __builtin_clzll(most), drawn;
    do drawn = (most >> 32 ? bits->next_uint64(bits->state) : draw_half(bits)) & mask;
    while (drawn > most);
    return drawn;
}

int64_t krait_rt_numpy_interval_l(int64_t most) { return (int64_t)draw_masked((uint64_t)most); }

/* From low to low + range, as randint draws them. */
int64_t krait_rt_numpy_bounded_l(int64_t low, int64_t range) {
    return (int64_t)((uint64_t)low + draw_masked((uint64_t)range));
}

/* ---- the hypergeometric distribution as numpy.random draws it ---- */

double random_loggam(double);

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

static int64_t draw_hypergeometric_inverse(int64_t good, int64_t bad, int64_t sample) {
    int64_t d1 = bad + good - sample;
    double d2 = (double)least(bad, good), y = d2;
    int64_t k = sample;
    while (y > 0.0) {
        double u = draw();
        y -= (double)(int64_t)__builtin_floor(u + y / (double)(d1 + k));
        k--;
        if (k == 0) break;
    }
    int64_t z = (int64_t)(d2 - y);
    return good > bad ? sample - z : z;
}

static int64_t draw_hypergeometric_ratio(int64_t good, int64_t bad, int64_t sample) {
    static const double D1 = 1.7155277699214135, D2 = 0.8989161620588988; /* 2 sqrt(2 / e), 3 - 2 sqrt(3 / e) */
    int64_t fewer = least(good, bad), all = good + bad, more = all - fewer, m = least(sample, all - sample), z;
    double d4 = (double)fewer / (double)all, d5 = 1.0 - d4, d6 = (double)m * d4 + 0.5;
    double d7 = __builtin_sqrt((double)(all - m) * (double)sample * d4 * d5 / (double)(all - 1) + 0.5);
    double d8 = D1 * d7 + D2;
    int64_t d9 = (int64_t)__builtin_floor((double)(m + 1) * (double)(fewer + 1) / (double)(all + 2));
    double d10 = random_loggam((double)(d9 + 1)) + random_loggam((double)(fewer - d9 + 1)) +
                 random_loggam((double)(m - d9 + 1)) + random_loggam((double)(more - m + d9 + 1));
    double d11 = (double)least(m, fewer) + 1.0, far = __builtin_floor(d6 + 16 * d7);
    if (far < d11) d11 = far;
    for (;;) {
        double x = draw(), y = draw(), w = d6 + d8 * (y - 0.5) / x;
        if (w < 0.0 || w >= d11) continue;
        z = (int64_t)__builtin_floor(w);
        double t = d10 - (random_loggam((double)(z + 1)) + random_loggam((double)(fewer - z + 1)) +
                          random_loggam((double)(m - z + 1)) + random_loggam((double)(more - m + z + 1)));
        if (x * (4.0 - x) - 3.0 <= t) break;
        if (x * (x - t) >= 1) continue;
        if (2.0 * m_log(x) <= t) break;
    }
    if (good > bad) z = m - z;
    return m < sample ? good - z : z;
}

int64_t krait_rt_numpy_hypergeometric_l(int64_t good, int64_t bad, int64_t sample) {
    if (sample > 10) return draw_hypergeometric_ratio(good, bad, sample);
    return sample > 0 ? draw_hypergeometric_inverse(good, bad, sample) : 0;
}

int64_t krait_rt_numpy_seed_l(int64_t seed) {
    krait_host_random_seed(0, seed);
    return 0;
}

int64_t krait_rt_python_seed_l(int64_t seed) {
    krait_host_random_seed(1, seed);
    return 0;
}

/* ---- the module random ---- */

extern Twister krait_host_python_random;

static uint32_t draw_word(void) {
    uint32_t own;
    return krait_streams && krait_host_python_word(&own) ? own : twister_word(&krait_host_python_random);
}

double krait_rt_python_double_v(void) {
    uint32_t a = draw_word();
    return twister_double(a, draw_word());
}

/* 1 to 63 bits. */
int64_t krait_rt_python_bits_l(int64_t count) {
    if (count <= 32) return draw_word() >> (32 - count);
    uint64_t low = draw_word();
    return (int64_t)(low | (uint64_t)(draw_word() >> (64 - count)) << 32);
}

/* From 0 up to, but not, beyond: as many bits as it has, with rejection. */
int64_t krait_rt_python_below_l(int64_t beyond) {
    int64_t drawn, bits = 64 - __builtin_clzll((uint64_t)beyond);
    do drawn = krait_rt_python_bits_l(bits);
    while (drawn >= beyond);
    return drawn;
}

#endif
