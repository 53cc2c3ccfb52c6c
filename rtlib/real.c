/* real.c: functions of real numbers that are not one call of the C library: parts of floats, neighbours, remainders,
 * rounding to int, NumPy's small functions.
 *
 * Input and output: rt.h.  Where NumPy and the math module share a meaning they share a function. */
#include "rt.h"

#define BOTH(definition) definition(double, d, ) definition(float, f, f)

/* ---- instructions ---- */

#define INSTRUCTIONS(T, S, F)                                                 \
    T krait_rt_sqrt_##S(T x) { return __builtin_sqrt##F(x); }                 \
    T krait_rt_fabs_##S(T x) { return __builtin_fabs##F(x); }                 \
    T krait_rt_abs_##S(T x) { return __builtin_fabs##F(x); }                  \
    T krait_rt_conj_##S(T x) { return x; }                                    \
    T krait_rt_rint_##S(T x) { return __builtin_rint##F(x); }                 \
    T krait_rt_floor_##S(T x) { return __builtin_floor##F(x); }               \
    T krait_rt_ceil_##S(T x) { return __builtin_ceil##F(x); }                 \
    T krait_rt_trunc_##S(T x) { return __builtin_trunc##F(x); }               \
    T krait_rt_copysign_##S(T x, T y) { return __builtin_copysign##F(x, y); } \
    T krait_rt_fma_##S(T x, T y, T z) { return __builtin_fma##F(x, y, z); }   \
    T krait_rt_reciprocal_##S(T x) { return (T)1 / x; }                       \
    T krait_rt_fmod_##S(T x, T y) { return m_fmod##F(x, y); }                 \
    T krait_rt_power_##S(T x, T y) { return m_pow##F(x, y); }                 \
    int32_t krait_rt_check_power_##S(T x, T y, T result) { return (void)x, (void)y, (void)result, 0; }
BOTH(INSTRUCTIONS)

/* ---- tests ---- */

#define TESTS(T, S, F)                                                              \
    int32_t krait_rt_isnan_##S(T x) { return x != x; }                              \
    int32_t krait_rt_isinf_##S(T x) { return __builtin_fabs##F(x) == (T)RT_INF; }   \
    int32_t krait_rt_isfinite_##S(T x) { return __builtin_fabs##F(x) < (T)RT_INF; } \
    int32_t krait_rt_signbit_##S(T x) { return __builtin_copysign##F((T)1, x) < 0; }
BOTH(TESTS)

int32_t krait_rt_isclose_d(double a, double b, double rel_tol, double abs_tol) {
    if (a == b) return 1;
    if (rt_isinf(a) || rt_isinf(b)) return 0;
    double difference = __builtin_fabs(b - a);
    return difference <= __builtin_fabs(rel_tol * b) || difference <= __builtin_fabs(rel_tol * a) ||
           difference <= abs_tol;
}

int32_t krait_rt_check_isclose_d(double a, double b, double rel_tol, double abs_tol, int64_t result) {
    (void)a, (void)b, (void)result;
    return rel_tol < 0 || abs_tol < 0;
}

int32_t krait_rt_check_fma_d(double x, double y, double z, double result) {
    if (rt_isfinite(result)) return 0;
    if (rt_isnan(result)) return !rt_isnan(x) && !rt_isnan(y) && !rt_isnan(z);
    return rt_isfinite(x) && rt_isfinite(y) && rt_isfinite(z) ? 2 : 0;
}

int32_t krait_rt_check_fma_f(float x, float y, float z, float result) { return krait_rt_check_fma_d(x, y, z, result); }

/* ---- parts ---- */

/* A NaN is found by comparison, not by its bits: LLVM takes the sign of inf * 0 for that of a product of positive
 * numbers and leaves its bit among those of the exponent; the processor sets it. */
double krait_rt_frexp(double x, int64_t *exponent) {
    *exponent = 0;
    if (x == 0 || !rt_isfinite(x)) return x;
    uint64_t bits = rt_bits(x);
    int64_t biased = (int64_t)(bits >> 52 & 0x7ff), shift = 0;
    if (biased == 0) { /* subnormal */
        bits = rt_bits(x * 0x1p54);
        biased = (int64_t)(bits >> 52 & 0x7ff);
        shift = 54;
    }
    *exponent = biased - 1022 - shift;
    return rt_double((bits & 0x800fffffffffffffu) | 0x3fe0000000000000u);
}

/* In at most three exact steps, but for the last one. */
double krait_rt_ldexp_d(double x, int64_t n) {
    if (n > 1023) {
        x *= 0x1p1023;
        n -= 1023;
        if (n > 1023) {
            x *= 0x1p1023;
            n -= 1023;
            if (n > 1023) n = 1023;
        }
    } else if (n < -1022) { /* 53 bits in hand, so that nothing is rounded twice */
        x *= 0x1p-1022 * 0x1p53;
        n += 1022 - 53;
        if (n < -1022) {
            x *= 0x1p-1022 * 0x1p53;
            n += 1022 - 53;
            if (n < -1022) n = -1022;
        }
    }
    return x * rt_double((uint64_t)(0x3ff + n) << 52);
}

/* A double holds every float result down to float's subnormals exactly, unless n is so small that the result is zero
 * anyway. */
float krait_rt_ldexp_f(float x, int64_t n) {
    if (n > 500) n = 500;
    if (n < -500) n = -500;
    return (float)((double)x * rt_double((uint64_t)(0x3ff + n) << 52));
}

void krait_rt_frexp_d(double x, double *mantissa, int64_t *exponent) { *mantissa = krait_rt_frexp(x, exponent); }
void krait_rt_frexp_f(float x, float *mantissa, int64_t *exponent) { *mantissa = (float)krait_rt_frexp(x, exponent); }

#define MODF(T, S, F)                                                                            \
    void krait_rt_modf_##S(T x, T *fraction, T *integer) {                                       \
        T whole = __builtin_trunc##F(x);                                                         \
        *integer = whole;                                                                        \
        *fraction = __builtin_copysign##F(__builtin_fabs##F(x) == (T)RT_INF ? 0 : x - whole, x); \
        if (x != x) *fraction = x;                                                               \
    }
BOTH(MODF)

/* ---- neighbours ---- */

/* The float n steps from bits a towards bits b on the line of all floats; NaN is excluded. */
#define NEIGHBOURS(T, S, U, I, SIGN, INFINITE)                                                 \
    static inline U bits_##S(T x) {                                                            \
        return (union {                                                                        \
                   T x;                                                                        \
                   U u;                                                                        \
               }){x}                                                                           \
            .u;                                                                                \
    }                                                                                          \
    static inline T float_##S(U u) {                                                           \
        return (union {                                                                        \
                   U u;                                                                        \
                   T x;                                                                        \
               }){u}                                                                           \
            .x;                                                                                \
    }                                                                                          \
    T krait_rt_nextafter_steps_##S(T x, T y, int64_t steps) {                                  \
        if (x != x) return x;                                                                  \
        if (y != y) return y;                                                                  \
        U a = bits_##S(x), b = bits_##S(y), mask = (U)~SIGN;                                   \
        if (steps <= 0 || a == b) return steps == 0 || x != y ? x : y;                         \
        uint64_t n = (uint64_t)steps;                                                          \
        U ma = a & mask, mb = b & mask;                                                        \
        if ((a ^ b) & SIGN) { /* the way leads through zero */                                 \
            if (n >= (uint64_t)ma + mb && (uint64_t)ma + mb >= ma) return y;                   \
            return n <= ma ? float_##S((U)(a - n)) : float_##S((U)((b & SIGN) | (U)(n - ma))); \
        }                                                                                      \
        if (ma > mb) return n >= (uint64_t)(U)(ma - mb) ? y : float_##S((U)(a - n));           \
        return n >= (uint64_t)(U)(mb - ma) ? y : float_##S((U)(a + n));                        \
    }                                                                                          \
    int32_t krait_rt_check_steps_##S(T x, T y, int64_t steps, T result) {                      \
        return (void)x, (void)y, (void)result, steps < 0;                                      \
    }                                                                                          \
    T krait_rt_ulp_##S(T x) {                                                                  \
        if (x != x) return x;                                                                  \
        U m = bits_##S(x) & (U)~SIGN;                                                          \
        if (m == INFINITE) return float_##S(INFINITE);                                         \
        T a = float_##S(m), next = float_##S((U)(m + 1));                                      \
        return m + 1 == INFINITE ? a - float_##S((U)(m - 1)) : next - a;                       \
    }
NEIGHBOURS(double, d, uint64_t, int64_t, 0x8000000000000000u, 0x7ff0000000000000u)
NEIGHBOURS(float, f, uint32_t, int32_t, 0x80000000u, 0x7f800000u)
NEIGHBOURS(_Float16, e, uint16_t, int16_t, 0x8000u, 0x7c00u)

#define SPACING(T, S, U, SIGN, INFINITE)                                        \
    T krait_rt_spacing_##S(T x) {                                               \
        if (x != x) return x;                                                   \
        U m = bits_##S(x) & (U)~SIGN;                                           \
        if (m == 0) return float_##S(1);                                        \
        return m == INFINITE ? (T)RT_NAN : float_##S((U)(bits_##S(x) + 1)) - x; \
    }
SPACING(double, d, uint64_t, 0x8000000000000000u, 0x7ff0000000000000u)
SPACING(float, f, uint32_t, 0x80000000u, 0x7f800000u)

/* NumPy's half looks towards +inf and counts from zero up. */
_Float16 krait_rt_spacing_e(_Float16 x) {
    uint16_t m = bits_e(x) & 0x7fff;
    if (m >= 0x7c00) return (_Float16)RT_NAN;
    if (m == 0x7bff && x > 0) return (_Float16)RT_INF;
    return x < 0 ? float_e(m) - float_e((uint16_t)(m - 1)) : float_e((uint16_t)(m + 1)) - float_e(m);
}

/* Of two zeros C's functions give the second; so does NumPy's of float16 from 2.5 on, which gave the first. */
#define NEXTAFTER(T, S) \
    T krait_rt_nextafter_##S(T x, T y) { return x == y ? y : krait_rt_nextafter_steps_##S(x, y, 1); }
NEXTAFTER(double, d)
NEXTAFTER(float, f)
NEXTAFTER(_Float16, e)

/* ---- quotients and remainders as Python has them ---- */

#define DIVMOD(T, S, F)                                                \
    void krait_rt_np_divmod_##S(T a, T b, T *quotient, T *remainder) { \
        T mod = m_fmod##F(a, b), div, floored;                         \
        if (b == 0) {                                                  \
            *quotient = a / b, *remainder = mod;                       \
            return;                                                    \
        }                                                              \
        div = (a - mod) / b;                                           \
        if (mod != 0) {                                                \
            if ((b < 0) != (mod < 0)) mod += b, div -= 1;              \
        } else {                                                       \
            mod = __builtin_copysign##F(0, b);                         \
        }                                                              \
        if (div != 0) {                                                \
            floored = __builtin_floor##F(div);                         \
            if (div - floored > (T)0.5) floored += 1;                  \
        } else {                                                       \
            floored = __builtin_copysign##F(0, a / b);                 \
        }                                                              \
        *quotient = floored, *remainder = mod;                         \
    }
BOTH(DIVMOD)

void krait_rt_divmod_d(double a, double b, double *quotient, double *remainder) {
    krait_rt_np_divmod_d(a, b, quotient, remainder);
}

int32_t krait_rt_check_divmod_d(double a, double b, double quotient, double remainder) {
    return (void)a, (void)quotient, (void)remainder, b == 0 ? 2 : 0;
}

/* ---- to int: 64 bits; what does not fit is an error where it is asked for, else wraps ---- */

#ifdef KRAIT_RT_NVPTX
/* Without a branch, behind which what follows would wait: less a multiple of 2**64, so that -2**63 to below 2**63 is
 * left, which is exact.  Which multiple, a sum rounded down says: no sum below a whole number comes to it.  It is made
 * whole by 2**(digits - 1) of its own sign, with which it has no fraction: conversions take a GPU far longer than sums.
 * A number of 2**64 * 2**(digits - 1) or more is such a multiple.  Only then what is left is rounded, which is part of
 * its conversion (codegen_nvptx/conversions.c): what is that large is whole. */
#define NO_FRACTION_f 0x1p23f
#define NO_FRACTION_d 0x1p52
#define WRAP_TO_INT(T, S, F)                                                                     \
    static inline T within_int_##S(T x) {                                                        \
        T within = __builtin_fabs##F(x) < NO_FRACTION_##S * (T)0x1p64 ? x : 0;                   \
        T multiple = __nvvm_fma_rm_##S(within, (T)0x1p-64, (T)0.5);                              \
        T whole = __builtin_copysign##F(NO_FRACTION_##S, multiple);                              \
        return __builtin_fma##F(__nvvm_add_rm_##S(multiple, whole) - whole, -(T)0x1p64, within); \
    }
#define TO_INT_BY(T, S, x, round) ((int64_t)round(within_int_##S(x)))
#else
/* Of what is too large for 64 bits, the lower ones. */
static inline int64_t lower_bits(double x) {
    uint64_t bits = rt_bits(x), mantissa = (bits & 0xfffffffffffffu) | 0x10000000000000u;
    int64_t shift = (int64_t)(bits >> 52 & 0x7ff) - 1075; /* at least 11 here */
    if (shift >= 64) return 0;                            /* also infinities and NaN */
    mantissa <<= shift;
    return (int64_t)(x < 0 ? 0 - mantissa : mantissa);
}
#define WRAP_TO_INT(T, S, F) \
    static inline int64_t wrap_to_int_##S(T x, T whole) { return fits_int_##S(x) ? (int64_t)whole : lower_bits(whole); }
#define TO_INT_BY(T, S, x, round) wrap_to_int_##S(x, round(x))
#endif

/* The number itself is asked, in its own type, and the same way in the check, so that where it fits nothing else is
 * left of both: rounding changes no float that is that large. */
#define TO_INT(T, S, F)                                                                                       \
    static inline bool fits_int_##S(T x) { return __builtin_expect((x >= -(T)0x1p63) & (x < (T)0x1p63), 1); } \
    WRAP_TO_INT(T, S, F)                                                                                      \
    int64_t krait_rt_floor_int_##S(T x) { return TO_INT_BY(T, S, x, __builtin_floor##F); }                    \
    int64_t krait_rt_ceil_int_##S(T x) { return TO_INT_BY(T, S, x, __builtin_ceil##F); }                      \
    int64_t krait_rt_trunc_int_##S(T x) { return TO_INT_BY(T, S, x, ); }                                      \
    int64_t krait_rt_round_int_##S(T x) { return TO_INT_BY(T, S, x, __builtin_rint##F); }                     \
    int32_t krait_rt_fits_to_int_##S(T x) { return fits_int_##S(x); }                                         \
    int32_t krait_rt_check_to_int_##S(T x) { return __builtin_fabs##F(x) < (T)RT_INF ? 3 : x != x ? 2 : 1; }
BOTH(TO_INT)

/* The lower 32 bits alone, for GPUs: a float32 of 2**63 or more has none of them. */
#define LOW_BITS(name, round)                                                                     \
    int32_t krait_rt_##name##_low_f(float x) {                                                    \
        return __builtin_fabsf(x) < 0x1p63f ? (int32_t)(uint32_t)(uint64_t)(int64_t)round(x) : 0; \
    }
LOW_BITS(floor, __builtin_floorf)
LOW_BITS(ceil, __builtin_ceilf)
LOW_BITS(trunc, )
LOW_BITS(round, __builtin_rintf)

/* ---- NumPy's small functions ---- */

/* Which of two that are equal, 0.0 and -0.0, is not said: on a GPU one instruction says it. */
#ifdef KRAIT_RT_NVPTX
#define LARGER(a, b, F)  __builtin_fmax##F(a, b)
#define SMALLER(a, b, F) __builtin_fmin##F(a, b)
#else
#define LARGER(a, b, F)  ((a) >= (b) || (b) != (b) ? (a) : (b))
#define SMALLER(a, b, F) ((a) <= (b) || (b) != (b) ? (a) : (b))
#endif

#define SMALL(T, S, F)                                                                             \
    T krait_rt_sign_##S(T x) { return x > 0 ? 1 : x < 0 ? -1 : x == 0 ? 0 : x; }                   \
    T krait_rt_heaviside_##S(T x, T zero) { return x != x ? x : x == 0 ? zero : x < 0 ? 0 : 1; }   \
    T krait_rt_maximum_##S(T a, T b) { return a > b || a != a ? a : b; }                           \
    T krait_rt_minimum_##S(T a, T b) { return a < b || a != a ? a : b; }                           \
    T krait_rt_fmax_##S(T a, T b) { return LARGER(a, b, F); }                                      \
    T krait_rt_fmin_##S(T a, T b) { return SMALLER(a, b, F); }                                     \
    T krait_rt_logaddexp_##S(T x, T y) {                                                           \
        T difference = x - y;                                                                      \
        if (x == y) return x + (T)RT_LN2; /* also equal infinities */                              \
        if (difference > 0) return x + m_log1p##F(m_exp##F(-difference));                          \
        return difference <= 0 ? y + m_log1p##F(m_exp##F(difference)) : difference;                \
    }                                                                                              \
    T krait_rt_logaddexp2_##S(T x, T y) {                                                          \
        T difference = x - y;                                                                      \
        if (x == y) return x + 1;                                                                  \
        if (difference > 0) return x + (T)RT_LOG2E * m_log1p##F(m_exp2##F(-difference));           \
        return difference <= 0 ? y + (T)RT_LOG2E * m_log1p##F(m_exp2##F(difference)) : difference; \
    }                                                                                              \
    T krait_rt_deg2rad_##S(T x) { return x * ((T)RT_PI / 180); }                                   \
    T krait_rt_rad2deg_##S(T x) { return x * (180 / (T)RT_PI); }                                   \
    T krait_rt_radians_##S(T x) { return x * ((T)RT_PI / 180); }                                   \
    T krait_rt_degrees_##S(T x) { return x * (180 / (T)RT_PI); }
BOTH(SMALL)
