/* gamma.c: the gamma function and its logarithm of vectors, for ufuncs and kernels of the host, which take them in the
 * place of rtlib's of one number (codegen/lower_math.c).
 *
 * The formula is rtlib's, Lanczos' approximation (library/lanczos.def), in products of x alone: all terms are positive,
 * so no digits are lost, and beyond 2**64 the sum is what it is there.  Logarithms and powers are libmvec's.
 * What is not of ordinary size, negative, or whole, where exact values are expected, is computed one by one by the C
 * library. */
#include <math.h>    /* lgamma_r, tgamma, trunc */
#include <pthread.h> /* pthread_once */

#include "codegen_cpu/vectors.h"

#if defined(__x86_64__)
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

/* libmvec's, found when the first of these vectors is asked for; NULL: the system has it not. */
typedef D4 D4Of1(D4);
typedef D4 D4Of2(D4, D4);
typedef D8 D8Of1(D8);
typedef D8 D8Of2(D8, D8);
static struct Libmvec {
    D4Of1 *log_d4, *exp_d4;
    D4Of2 *pow_d4;
    D8Of1 *log_d8, *exp_d8;
    D8Of2 *pow_d8;
} libmvec;
static pthread_once_t found = PTHREAD_ONCE_INIT;

static void find(void) {
#define FIND(pointer, name)                           \
    do {                                              \
        void *address = host_symbol(name);            \
        memcpy(&(pointer), &address, sizeof address); \
    } while (0)
    FIND(libmvec.log_d4, "_ZGVdN4v_log");
    FIND(libmvec.exp_d4, "_ZGVdN4v_exp");
    FIND(libmvec.pow_d4, "_ZGVdN4vv_pow");
    FIND(libmvec.log_d8, "_ZGVeN8v_log");
    FIND(libmvec.exp_d8, "_ZGVeN8v_exp");
    FIND(libmvec.pow_d8, "_ZGVeN8vv_pow");
#undef FIND
}

static double lgamma_one(double x) {
    int sign;
    return lgamma_r(x, &sign);
}

/* A product of small numbers is exact. */
static double gamma_one(double x) {
    double product = 1;
    if (!(x >= 1 && x <= EXACT && x == trunc(x))) return tgamma(x);
    for (int i = 2; i < (int)x; i++) product *= i;
    return product;
}

#define D4_MADD(a, b, c) ((D4)_mm256_fmadd_pd(a, b, c))
#define D8_MADD(a, b, c) ((D8)_mm512_fmadd_pd(a, b, c))
/* Of numbers that are at least 0 and no NaN, as integers, in whose order they are: NaN and numbers below 0 are not. */
#define WITHIN(I, x, low, high) \
    (((x) >= ALL(I, int64_t, BITS(int64_t, double, low))) & ((x) <= ALL(I, int64_t, BITS(int64_t, double, high))))

/* lgamma: near its zeros at 1 and 2, as everywhere, what is lost is a part of the terms, which are about 1. */
#define GAMMAS(attributes, V, I, v)                                                                  \
    attributes static V sum_##v(V x) {                                                               \
        V num = ALL(V, double, numerator[TERMS - 1]), den = ALL(V, double, denominator[TERMS - 1]);  \
        for (int i = TERMS - 2; i >= 0; i--) {                                                       \
            num = V##_MADD(num, x, ALL(V, double, numerator[i]));                                    \
            den = V##_MADD(den, x, ALL(V, double, denominator[i]));                                  \
        }                                                                                            \
        return num / den;                                                                            \
    }                                                                                                \
    attributes static V lgamma_##v(V x) {                                                            \
        const I bits = (I)x, usual = WITHIN(I, bits, 0x1p-60, 0x1p1000);                             \
        const V a = (V)CHOSEN(I, usual, bits, ALL(V, double, 1));                                    \
        const I huge = (I)a > ALL(I, int64_t, BITS(int64_t, double, 0x1p64));                        \
        const V sum = sum_##v((V)CHOSEN(I, huge, ALL(V, double, 0x1p64), a));                        \
        V result = (a - 0.5) * (libmvec.log_##v(a + g_minus_half) - 1) + (libmvec.log_##v(sum) - g); \
        const I zero = (bits == (I)ALL(V, double, 1)) | (bits == (I)ALL(V, double, 2));              \
        result = (V)((I)result & ~zero);                                                             \
        if (__builtin_expect(V##_ANY(~usual), 0))                                                    \
            for (size_t k = 0; k < sizeof(V) / sizeof(double); k++)                                  \
                if (!usual[k]) result[k] = lgamma_one(x[k]);                                         \
        return result;                                                                               \
    }                                                                                                \
    attributes static V tgamma_##v(V x) {                                                            \
        const I bits = (I)x, size = WITHIN(I, bits, 0x1p-60, 140);                                   \
        const I usual = size & (bits != (I)(V)V##_TRUNC((V)(bits & size)));                          \
        const V a = (V)CHOSEN(I, usual, bits, ALL(V, double, 1.5)), y = a + g_minus_half;            \
        const I above = (I)a > ALL(I, int64_t, BITS(int64_t, double, g_minus_half));                 \
        const V error = (V)CHOSEN(I, above, (y - a) - g_minus_half, (y - g_minus_half) - a) * g / y; \
        V result = sum_##v(a) / libmvec.exp_##v(y);                                                  \
        result = V##_MADD(error, result, result) * libmvec.pow_##v(y, a - 0.5);                      \
        if (__builtin_expect(V##_ANY(~usual), 0))                                                    \
            for (size_t k = 0; k < sizeof(V) / sizeof(double); k++)                                  \
                if (!usual[k]) result[k] = gamma_one(x[k]);                                          \
        return result;                                                                               \
    }

GAMMAS(FUSED, D4, L4, d4)
GAMMAS(AVX512, D8, L8, d8)

/* float32 is computed in float64. */
#define OF_SINGLES(name)                                                                                \
    FUSED static S8 name##_s8(S8 x) {                                                                   \
        const __m128 low = _mm256_castps256_ps128(x), high = _mm256_extractf128_ps(x, 1);               \
        return (S8)_mm256_set_m128(_mm256_cvtpd_ps(name##_d4((D4)_mm256_cvtps_pd(high))),               \
                                   _mm256_cvtpd_ps(name##_d4((D4)_mm256_cvtps_pd(low))));               \
    }                                                                                                   \
    AVX512 static S16 name##_s16(S16 x) {                                                               \
        const __m256 low = _mm512_castps512_ps256(x);                                                   \
        const __m256 high = _mm256_castpd_ps(_mm512_extractf64x4_pd(_mm512_castps_pd(x), 1));           \
        const __m256d first = _mm256_castps_pd(_mm512_cvtpd_ps(name##_d8((D8)_mm512_cvtps_pd(low))));   \
        const __m256d second = _mm256_castps_pd(_mm512_cvtpd_ps(name##_d8((D8)_mm512_cvtps_pd(high)))); \
        return (S16)_mm512_castpd_ps(_mm512_insertf64x4(_mm512_castpd256_pd512(first), second, 1));     \
    }
OF_SINGLES(lgamma)
OF_SINGLES(tgamma)

void *host_gamma(const char *name) {
    static const VectorRow rows[] = {
        VECTOR_ROW("_ZGVdN4v_lgamma", NEEDS_FUSED, lgamma_d4),
        VECTOR_ROW("_ZGVeN8v_lgamma", NEEDS_AVX512, lgamma_d8),
        VECTOR_ROW("_ZGVdN8v_lgammaf", NEEDS_FUSED, lgamma_s8),
        VECTOR_ROW("_ZGVeN16v_lgammaf", NEEDS_AVX512, lgamma_s16),
        VECTOR_ROW("_ZGVdN4v_tgamma", NEEDS_FUSED, tgamma_d4),
        VECTOR_ROW("_ZGVeN8v_tgamma", NEEDS_AVX512, tgamma_d8),
        VECTOR_ROW("_ZGVdN8v_tgammaf", NEEDS_FUSED, tgamma_s8),
        VECTOR_ROW("_ZGVeN16v_tgammaf", NEEDS_AVX512, tgamma_s16),
    };
    void *address = vector_row(rows, COUNT_OF(rows), name);
    if (address) pthread_once(&found, find);
    const struct Libmvec *all = &libmvec;
    bool there = all->log_d4 && all->exp_d4 && all->pow_d4 && all->log_d8 && all->exp_d8 && all->pow_d8;
    return there ? address : NULL;
}
#else
void *host_gamma(const char *name) { return (void)name, NULL; }
#endif
