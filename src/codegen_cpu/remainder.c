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
#include <math.h> /* fmod, fabs, copysign */

#include "codegen_cpu/vectors.h"

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
#define D4_LESS(a, b, c)  _mm256_fnmadd_pd(a, b, c)
#define D8_LESS(a, b, c)  _mm512_fnmadd_pd(a, b, c)
#define S8_LESS(a, b, c)  _mm256_fnmadd_ps(a, b, c)
#define S16_LESS(a, b, c) _mm512_fnmadd_ps(a, b, c)

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
#endif

DOUBLES(REMAINDER, remainder_double)
SINGLES(REMAINDER, remainder_single)

void *host_remainder(const char *name) {
    static const VectorRow rows[] = {
        VECTOR_ROW("krait_fmod", NEEDS_FUSED, remainder_double),
        VECTOR_ROW("krait_fmodf", NEEDS_FUSED, remainder_single),
        VECTOR_ROW("krait_fmod", NEEDS_NOTHING, (double (*)(double, double))fmod),
        VECTOR_ROW("krait_fmodf", NEEDS_NOTHING, (float (*)(float, float))fmodf),
#if defined(__x86_64__)
        VECTOR_ROW("_ZGVdN4vv_krait_fmod", NEEDS_FUSED, remainder_d4),
        VECTOR_ROW("_ZGVeN8vv_krait_fmod", NEEDS_AVX512, remainder_d8),
        VECTOR_ROW("_ZGVdN8vv_krait_fmodf", NEEDS_FUSED, remainder_s8),
        VECTOR_ROW("_ZGVeN16vv_krait_fmodf", NEEDS_AVX512, remainder_s16),
#endif
    };
    return vector_row(rows, COUNT_OF(rows), name);
}
