/* open_math.c: the device math library of the open build: libdevice's names, made of libclc's functions.
 *
 * Input: codegen/math_symbols.def, which has both names of every function.  Output: __nv_<name> and __nv_<name>f, so
 * that everything else is the same in both builds.  libclc's float functions that flush results below FLT_MIN to zero
 * (exp, exp2, erfc, fmod) are computed in double there; gamma and lgamma are gamma.c's. */
#include "rt.h"

#if defined(KRAIT_RT_NVPTX) && defined(KRAIT_DEVICE_MATH_LIBCLC)

#define OPEN_1(name, d64, d32, o64, o32)     \
    double clc_##name(double) __asm__(o64);  \
    float clc_##name##f(float) __asm__(o32); \
    double m_##name(double x) { return clc_##name(x); }
#define OPEN_2(name, d64, d32, o64, o32)            \
    double clc_##name(double, double) __asm__(o64); \
    float clc_##name##f(float, float) __asm__(o32); \
    double m_##name(double x, double y) { return clc_##name(x, y); }
#define MATH(name, operands, host64, host32, vector, device64, device32, fast32, open64, open32) \
    OPEN_##operands(name, device64, device32, open64, open32)
#include "codegen/math_symbols.def"
#undef MATH

#define AS_IT_IS_1(name) \
    float m_##name##f(float x) { return clc_##name##f(x); }
#define AS_IT_IS_2(name) \
    float m_##name##f(float x, float y) { return clc_##name##f(x, y); }
AS_IT_IS_1(sin)
AS_IT_IS_1(cos)
AS_IT_IS_1(tan)
AS_IT_IS_1(asin)
AS_IT_IS_1(acos)
AS_IT_IS_1(atan)
AS_IT_IS_1(sinh)
AS_IT_IS_1(cosh)
AS_IT_IS_1(tanh)
AS_IT_IS_1(asinh)
AS_IT_IS_1(acosh)
AS_IT_IS_1(atanh)
AS_IT_IS_1(expm1)
AS_IT_IS_1(log)
AS_IT_IS_1(log2)
AS_IT_IS_1(log10)
AS_IT_IS_1(log1p)
AS_IT_IS_1(cbrt)
AS_IT_IS_1(erf)
AS_IT_IS_2(pow)
AS_IT_IS_2(atan2)
AS_IT_IS_2(hypot)
AS_IT_IS_2(remainder)

/* ---- repaired ---- */

float m_expf(float x) { return x < -87 ? (float)clc_exp(x) : clc_expf(x); }
float m_exp2f(float x) { return x < -126 ? (float)clc_exp2(x) : clc_exp2f(x); }
float m_erfcf(float x) { return x > 9 ? (float)clc_erfc(x) : clc_erfcf(x); }

/* The remainder is a multiple of the smaller operand's last bit: exact in double, and no subnormal float where both are
 * above 2**-100. */
float m_fmodf(float x, float y) {
    bool small = __builtin_fabsf(x) < 0x1p-100f || __builtin_fabsf(y) < 0x1p-100f;
    return small ? (float)clc_fmod(x, y) : clc_fmodf(x, y);
}

double krait_rt_gamma_d(double x);
double krait_rt_lgamma_d(double x);
float m_tgammaf(float x) { return (float)krait_rt_gamma_d(x); }
float m_lgammaf(float x) { return (float)krait_rt_lgamma_d(x); }

#endif
