/* gamma.c: the gamma function and its logarithm, as the math module computes them: Lanczos' approximation
 * (library/lanczos.def), and reflection for negative arguments.
 *
 * Every operation is in the interpreter's order, so that the host gives the interpreter's bits.  On a GPU libdevice is
 * used; libclc's versions are too inaccurate. */
#include "rt.h"

#if defined(KRAIT_RT_HOST) || defined(KRAIT_DEVICE_MATH_LIBCLC)

enum { TERMS = 13, EXACT = 23 };
#define G(value) static const double g = value, g_minus_half = value - 0.5;
#include "library/lanczos.def"
#undef G
static const double numerator[TERMS] = {
#define TERM(numerator, denominator) numerator,
#include "library/lanczos.def"
#undef TERM
};
static const double denominator[TERMS] = {
#define TERM(numerator, denominator) denominator,
#include "library/lanczos.def"
#undef TERM
};

/* The rational function of Lanczos' formula; in powers of 1 / x where powers of x would grow too large. */
static double lanczos_sum(double x) {
    double num = 0, den = 0;
    if (x < 5) {
        for (int i = TERMS - 1; i >= 0; i--) num = num * x + numerator[i], den = den * x + denominator[i];
    } else {
        for (int i = 0; i < TERMS; i++) num = num / x + numerator[i], den = den / x + denominator[i];
    }
    return num / den;
}

/* sin(pi x) of a finite x, by quarters of the period. */
static double sin_pi(double x) {
    double y = m_fmod(__builtin_fabs(x), 2.0), r;
    switch ((int)__builtin_round(2 * y)) {
    case 0: r = m_sin(RT_PI * y); break;
    case 1: r = m_cos(RT_PI * (y - 0.5)); break;
    case 2: r = m_sin(RT_PI * (1 - y)); break;
    case 3: r = -m_cos(RT_PI * (y - 1.5)); break;
    default: r = m_sin(RT_PI * (y - 2)); break;
    }
    return __builtin_copysign(1.0, x) * r;
}

/* Of an integer 1 ... EXACT: a product of small numbers, exact in a double. */
static double gamma_of_integer(int n) {
    double product = 1;
    for (int i = 2; i < n; i++) product *= i;
    return product;
}

static double gamma_lanczos(double x) {
    double a = __builtin_fabs(x), y = a + g_minus_half, r, half_power;
    double error = a > g_minus_half ? (y - a) - g_minus_half : (y - g_minus_half) - a; /* of the sum y */
    error = error * g / y;
    if (x < 0) {
        r = -RT_PI / sin_pi(a) / a * m_exp(y) / lanczos_sum(a);
        r -= error * r;
        if (a < 140) return r / m_pow(y, a - 0.5);
        half_power = m_pow(y, a / 2 - 0.25);
        return r / half_power / half_power;
    }
    r = lanczos_sum(a) / m_exp(y);
    r += error * r;
    if (a < 140) return r * m_pow(y, a - 0.5);
    half_power = m_pow(y, a / 2 - 0.25);
    return r * half_power * half_power;
}

/* What is no number, and each infinity, comes of what sets the flag that tells of it: NumPy reports those of ufuncs. */
double krait_rt_gamma_d(double x) {
    if (!rt_isfinite(x)) return __builtin_sqrt(x);
    if (__builtin_fabs(x) < 1e-20) return 1 / x;
    if (x == __builtin_floor(x)) {
        if (x < 0) return __builtin_sqrt(x);
        if (x <= EXACT) return gamma_of_integer((int)x);
    }
    if (x > 200) return x * 0x1p1023;
    if (x < -200) return 0.0 / sin_pi(x);
    return gamma_lanczos(x);
}

#if defined(KRAIT_RT_HOST)
double krait_rt_lgamma_d(double x) {
    if (!rt_isfinite(x)) return rt_isnan(x) ? x : RT_INF;
    if (x == __builtin_floor(x) && x <= 2) return x <= 0 ? -m_log(x - x) : 0;
    double a = __builtin_fabs(x);
    if (a < 1e-20) return -m_log(a);
    double r = m_log(lanczos_sum(a)) - g;
    r += (a - 0.5) * (m_log(a + g - 0.5) - 1);
    if (x < 0)
        r = 1.144729885849400174143427351353058711647 /* log(pi) */ - m_log(__builtin_fabs(sin_pi(a))) - m_log(a) - r;
    return r;
}
#else
double krait_rt_lgamma_d(double x) { return m_lgamma(x); }
#endif

/* float32 is computed in float64: the C library's lgammaf writes to a global. */
float krait_rt_gamma_f(float x) { return (float)krait_rt_gamma_d(x); }
float krait_rt_lgamma_f(float x) { return (float)krait_rt_lgamma_d(x); }

#else

double krait_rt_gamma_d(double x) { return m_tgamma(x); }
double krait_rt_lgamma_d(double x) { return m_lgamma(x); }
float krait_rt_gamma_f(float x) { return m_tgammaf(x); }
float krait_rt_lgamma_f(float x) { return m_lgammaf(x); }

#endif

/* Poles are domain errors, other infinities of finite arguments range errors. */
int32_t krait_rt_check_gamma_d(double x, double result) {
    if (rt_isfinite(result)) return 0;
    if (rt_isnan(result)) return !rt_isnan(x);
    if (!rt_isfinite(x)) return 0;
    return x <= 0 && x == __builtin_floor(x) ? 1 : 2;
}

int32_t krait_rt_check_gamma_f(float x, float result) { return krait_rt_check_gamma_d(x, result); }
