/* open_math.c: the device math library of the open build: libdevice's names, made of libclc's functions.
 *
 * Input: library/platform_math.def, which has both names of every function.  Output: __nv_<name> and __nv_<name>f, so
 * that everything else is the same in both builds.  libclc's float functions that are wrong for subnormals (exp, exp2,
 * exp10, erfc, fmod, remainder, lgamma) are computed in double there; gamma, and pow of huge exponents, are
 * replaced. */
#include "rt.h"

#if defined(KRAIT_RT_NVPTX) && defined(KRAIT_DEVICE_MATH_LIBCLC)

#define OPEN_1(name, o64, o32)              \
    double clc_##name(double) __asm__(o64); \
    float clc_##name##f(float) __asm__(o32);
#define OPEN_2(name, o64, o32)                      \
    double clc_##name(double, double) __asm__(o64); \
    float clc_##name##f(float, float) __asm__(o32);
#define MATH(name, operands, host64, host32, vector, device64, device32, fast32, open64, open32) \
    OPEN_##operands(name, open64, open32)
#include "library/platform_math.def"
#undef MATH

#define DOUBLE_1(name) \
    double m_##name(double x) { return clc_##name(x); }
#define DOUBLE_2(name) \
    double m_##name(double x, double y) { return clc_##name(x, y); }
#define BOTH_1(name) \
    DOUBLE_1(name)   \
    float m_##name##f(float x) { return clc_##name##f(x); }
#define BOTH_2(name) \
    DOUBLE_2(name)   \
    float m_##name##f(float x, float y) { return clc_##name##f(x, y); }
BOTH_1(sin)
BOTH_1(cos)
BOTH_1(tan)
BOTH_1(asin)
BOTH_1(acos)
BOTH_1(atan)
BOTH_1(sinh)
BOTH_1(cosh)
BOTH_1(tanh)
BOTH_1(asinh)
BOTH_1(acosh)
BOTH_1(atanh)
BOTH_1(expm1)
BOTH_1(log)
BOTH_1(log2)
BOTH_1(log10)
BOTH_1(log1p)
BOTH_1(cbrt)
BOTH_1(erf)
BOTH_2(atan2)
BOTH_2(hypot)
DOUBLE_1(exp)
DOUBLE_1(exp2)
DOUBLE_1(exp10)
DOUBLE_1(erfc)
DOUBLE_1(lgamma)
DOUBLE_2(fmod)
DOUBLE_2(remainder)

/* ---- repaired ---- */

float m_expf(float x) { return x < -87 ? (float)clc_exp(x) : clc_expf(x); }
float m_exp2f(float x) { return x < -126 ? (float)clc_exp2(x) : clc_exp2f(x); }
float m_exp10f(float x) { return x < -37 ? (float)clc_exp10(x) : clc_exp10f(x); }
float m_erfcf(float x) { return x > 9 ? (float)clc_erfc(x) : clc_erfcf(x); }
float m_lgammaf(float x) { return (float)clc_lgamma(x); }

/* A remainder is a multiple of the smaller operand's last bit: exact in double, and no subnormal float where both are
 * above 2**-100. */
static inline bool is_small(float x, float y) {
    return __builtin_fabsf(x) < 0x1p-100f || __builtin_fabsf(y) < 0x1p-100f;
}
float m_fmodf(float x, float y) { return is_small(x, y) ? (float)clc_fmod(x, y) : clc_fmodf(x, y); }
float m_remainderf(float x, float y) { return is_small(x, y) ? (float)clc_remainder(x, y) : clc_remainderf(x, y); }

/* From 2**64 on an exponent is even, and the power of every base but 1 and -1 overflows or vanishes. */
double m_pow(double x, double y) {
    double base = __builtin_fabs(x);
    if (!(__builtin_fabs(y) >= 0x1p64) || !rt_isfinite(y) || !rt_isfinite(x)) return clc_pow(x, y);
    if (base == 1) return 1;
    return (base > 1) == (y > 0) ? RT_INF : 0;
}
float m_powf(float x, float y) { return clc_powf(x, y); }

double krait_rt_gamma_d(double x);
double m_tgamma(double x) { return krait_rt_gamma_d(x); }
float m_tgammaf(float x) { return (float)krait_rt_gamma_d(x); }

#endif
