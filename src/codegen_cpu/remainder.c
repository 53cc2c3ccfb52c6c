/* remainder.c: fmod of one number, and of vectors of them, to the bits of the C library's, which needs tens of
 * nanoseconds: for machine code of the host, which takes the vectors as variants of the scalar (codegen/lower_math.c).
 *
 * In: x and y.  Out: x - n y, n the integer below |x / y|, with the sign of x.  No flag is set that fmod does not set,
 * save `inexact`, which nobody tells of.
 *
 * Let a = |x|, b = |y| and q = trunc(a / b rounded), with b <= a and q < 2^P, P the bits of a significand.  Every
 * integer up to 2^P is a number and rounding keeps order, so q is n or n + 1, and a - q b lies in [-b, b).  It is a
 * multiple of the last place of b, which is no greater than that of a; so it is a number, and the fused a - q b is it.
 * Adding b where that is negative gives n's, for the same reason.  Where a < b, x is the result itself.
 *
 * The quotient shall set no flag: it is formed where a and b are so far from the ends of the range that it neither
 * overflows nor underflows, and of 0 and 1 elsewhere.  Sizes are compared as integers, in whose order numbers without
 * sign are, infinity next and NaN last: comparisons of floats would tell of NaN.  What is left is the C library's. */
#include <math.h>   /* fmod, fabs, copysign */
#include <string.h> /* strcmp */

#include "codegen_cpu/cpu.h"

#define BITS(I, F, x) \
    ((union {         \
         F f;         \
         I i;         \
     }){.f = (x)}     \
         .i)

/* least, most: between which operands are divided; beyond: 2^P */
#define REMAINDER(name, F, I, suffix, least, most, beyond)                                \
    FUSED static F name(F x, F y) {                                                       \
        F a = fabs##suffix(x), b = fabs##suffix(y);                                       \
        I ia = BITS(I, F, a), ib = BITS(I, F, b);                                         \
        if (ia < ib) {                                                                    \
            if (ib <= BITS(I, F, INFINITY)) return x;                                     \
        } else if (ib >= BITS(I, F, least) && ia <= BITS(I, F, most)) {                   \
            F quotient = a / b;                                                           \
            if (quotient < beyond) {                                                      \
                F rest = __builtin_fma##suffix(-__builtin_trunc##suffix(quotient), b, a); \
                return copysign##suffix(rest < 0 ? rest + b : rest, x);                   \
            }                                                                             \
        }                                                                                 \
        return fmod##suffix(x, y);                                                        \
    }
#define DOUBLES(REMAINDER, ...) REMAINDER(__VA_ARGS__, double, int64_t, , 0x1p-500, 0x1p500, 0x1p53)
#define SINGLES(REMAINDER, ...) REMAINDER(__VA_ARGS__, float, int32_t, f, 0x1p-60F, 0x1p60F, 0x1p24F)

#if defined(__x86_64__)
#include <immintrin.h>
#define FUSED  __attribute__((target("avx2,fma")))
#define AVX512 __attribute__((target("avx512f")))

typedef double D4 __attribute__((vector_size(32)));
typedef double D8 __attribute__((vector_size(64)));
typedef float S8 __attribute__((vector_size(32)));
typedef float S16 __attribute__((vector_size(64)));
typedef int64_t L4 __attribute__((vector_size(32)));
typedef int64_t L8 __attribute__((vector_size(64)));
typedef int32_t I8 __attribute__((vector_size(32)));
typedef int32_t I16 __attribute__((vector_size(64)));

#define TOWARDS_0          (_MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC)
#define D4_TRUNC(x)        _mm256_round_pd(x, TOWARDS_0)
#define D8_TRUNC(x)        _mm512_roundscale_pd(x, TOWARDS_0)
#define S8_TRUNC(x)        _mm256_round_ps(x, TOWARDS_0)
#define S16_TRUNC(x)       _mm512_roundscale_ps(x, TOWARDS_0)
#define D4_LESS(a, b, c)   _mm256_fnmadd_pd(a, b, c)
#define D8_LESS(a, b, c)   _mm512_fnmadd_pd(a, b, c)
#define S8_LESS(a, b, c)   _mm256_fnmadd_ps(a, b, c)
#define S16_LESS(a, b, c)  _mm512_fnmadd_ps(a, b, c)
#define D4_ANY(mask)       !_mm256_testz_si256((__m256i)(mask), (__m256i)(mask))
#define S8_ANY(mask)       D4_ANY(mask)
#define D8_ANY(mask)       _mm512_test_epi32_mask((__m512i)(mask), (__m512i)(mask))
#define S16_ANY(mask)      D8_ANY(mask)
#define ALL(V, F, x)       ((V){0} + (F)(x))
#define CHOSEN(I, m, a, b) (((I)(a) & (m)) | ((I)(b) & ~(m)))

/* The same of vectors V, seen as integers I: masks in place of branches. */
#define REMAINDERS(name, attributes, V, I, F, i, suffix, least, most, beyond)                                    \
    attributes static V name(V x, V y) {                                                                         \
        const I sign = (I)(-(V){0});                                                                             \
        const I ia = (I)x & ~sign, ib = (I)y & ~sign, smaller = ia < ib;                                         \
        const I same = smaller & (ib <= ALL(I, i, BITS(i, F, INFINITY)));                                        \
        const I divides = ~smaller & (ib >= ALL(I, i, BITS(i, F, least))) & (ia <= ALL(I, i, BITS(i, F, most))); \
        const V a = (V)(ia & divides), b = (V)CHOSEN(I, divides, ib, ALL(V, F, 1));                              \
        const V quotient = V##_TRUNC(a / b);                                                                     \
        const I there = divides & (quotient < ALL(V, F, beyond));                                                \
        V rest = V##_LESS(quotient, b, a);                                                                       \
        rest += (V)((I)b & (rest < ALL(V, F, 0)));                                                               \
        V result = (V)(CHOSEN(I, same, ia, rest) | ((I)x & sign));                                               \
        const I left = ~(same | there);                                                                          \
        if (__builtin_expect(V##_ANY(left), 0))                                                                  \
            for (size_t k = 0; k < sizeof(V) / sizeof(F); k++)                                                   \
                if (left[k]) result[k] = fmod##suffix(x[k], y[k]);                                               \
        return result;                                                                                           \
    }

DOUBLES(REMAINDERS, remainder_d4, FUSED, D4, L4)
DOUBLES(REMAINDERS, remainder_d8, AVX512, D8, L8)
SINGLES(REMAINDERS, remainder_s8, FUSED, S8, I8)
SINGLES(REMAINDERS, remainder_s16, AVX512, S16, I16)
#else
#define FUSED
#endif

DOUBLES(REMAINDER, remainder_double)
SINGLES(REMAINDER, remainder_single)

typedef enum Needs { NEEDS_NOTHING, NEEDS_FUSED, NEEDS_AVX512 } Needs;

static bool processor_has(Needs needs) {
#if defined(__x86_64__)
    __builtin_cpu_init();
    bool fused = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    return needs == NEEDS_NOTHING || (needs == NEEDS_FUSED ? fused : fused && __builtin_cpu_supports("avx512f"));
#else
    return needs != NEEDS_AVX512;
#endif
}

/* In the names of vectors (the x86-64 psABI's vector functions), d is AVX2, e AVX-512. */
void *host_remainder(const char *name) {
#define ROW(name, needs, function) \
    { name, needs, (void (*)(void))(function) }
    static const struct {
        const char *name;
        Needs needs;
        void (*address)(void);
    } rows[] = {
        ROW("krait_fmod", NEEDS_FUSED, remainder_double),
        ROW("krait_fmodf", NEEDS_FUSED, remainder_single),
        ROW("krait_fmod", NEEDS_NOTHING, (double (*)(double, double))fmod),
        ROW("krait_fmodf", NEEDS_NOTHING, (float (*)(float, float))fmodf),
#if defined(__x86_64__)
        ROW("_ZGVdN4vv_krait_fmod", NEEDS_FUSED, remainder_d4),
        ROW("_ZGVeN8vv_krait_fmod", NEEDS_AVX512, remainder_d8),
        ROW("_ZGVdN8vv_krait_fmodf", NEEDS_FUSED, remainder_s8),
        ROW("_ZGVeN16vv_krait_fmodf", NEEDS_AVX512, remainder_s16),
#endif
    };
#undef ROW
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        if (!strcmp(name, rows[i].name) && processor_has(rows[i].needs)) {
            void *address;
            memcpy(&address, &rows[i].address, sizeof address); /* ISO C has no cast from function to object */
            return address;
        }
    return NULL;
}
