/* rt.h: what the files of rtlib share: names for the platform's elementary functions, bits of floats, and the calling
 * convention.
 *
 * rtlib is C that clang compiles to bitcode twice, for the host and for NVPTX; compiled code calls it and LLVM inlines
 * it.  It uses nothing but compiler builtins and the functions of library/platform_math.def: m_sin and m_sinf are the
 * host's sin and sinf, or the device's.
 *
 * Calling convention (codegen/lower_math.c): krait_rt_<name>_<letter of the first operand>: e f d for float16, float32,
 * float64; F D complex; l int64; L uint64.  Scalars and pointers only: a complex is two operands and is returned
 * through a last pointer, a pair of results through two; integers are 64 bits wide, a truth value that is returned is
 * int32.  krait_rt_check_<name>_<letter> has operands and results by value and says which error the interpreter raises
 * (library/functions.def, CHECK_BY), 0 for none.
 *
 * On the host a function gives what the interpreter or NumPy gives, to the bit where they compute in C themselves;
 * -ffp-contract=off holds. */
#ifndef KRAIT_RT_H
#define KRAIT_RT_H

#include <float.h>   /* DBL_MIN */
#include <stdbool.h> /* bool */
#include <stdint.h>  /* int64_t */

#if defined(KRAIT_RT_HOST)
#define RT_PICK(host, device) host
#else
#define RT_PICK(host, device) device
#endif

#define RT_DECLARE_1(name, s64, s32)      \
    double m_##name(double) __asm__(s64); \
    float m_##name##f(float) __asm__(s32);
#define RT_DECLARE_2(name, s64, s32)              \
    double m_##name(double, double) __asm__(s64); \
    float m_##name##f(float, float) __asm__(s32);
#define MATH(name, operands, host64, host32, vector, device64, device32, fast32, open64, open32) \
    RT_DECLARE_##operands(name, RT_PICK(host64, device64), RT_PICK(host32, device32))
#include "library/platform_math.def"
#undef MATH

#define RT_INF    __builtin_inf()
#define RT_NAN    __builtin_nan("")
#define RT_PI     3.141592653589793238462643383279502884
#define RT_LN2    0.693147180559945309417232121458176568
#define RT_LN10   2.302585092994045684017991454684364208
#define RT_LOG2E  1.442695040888963407359924681001892137
#define RT_LOG10E 0.434294481903251827651128918916605082
#define RT_E      2.718281828459045235360287471352662498

static inline bool rt_isnan(double x) { return x != x; }
static inline bool rt_isinf(double x) { return __builtin_fabs(x) == RT_INF; }
static inline bool rt_isfinite(double x) { return __builtin_fabs(x) < RT_INF; }

/* The bits of a `from` as a `to` of the same size. */
#define RT_SAME_BITS(name, from, to)                     \
    static inline to name(from x) {                      \
        to same;                                         \
        _Static_assert(sizeof x == sizeof same, "bits"); \
        __builtin_memcpy(&same, &x, sizeof same);        \
        return same;                                     \
    }
RT_SAME_BITS(rt_bits, double, uint64_t)
RT_SAME_BITS(rt_double, uint64_t, double)
RT_SAME_BITS(rt_float, uint32_t, float)
RT_SAME_BITS(rt_float_bits, float, uint32_t)

/* x * 2**n, rounded once; n any int64. */
double krait_rt_ldexp_d(double x, int64_t n);
/* Mantissa in [0.5, 1) and exponent; inf, NaN and zero give themselves and 0. */
double krait_rt_frexp(double x, int64_t *exponent);
void krait_rt_divmod_d(double a, double b, double *quotient, double *remainder);

#define NV(name) krait_nv_##name /* a function of libdevice.def */

#endif
