/* libdevice.c: the functions of krait.cuda.libdevice where libdevice is not: on the host, and on a GPU in the open
 * build.
 *
 * In and out: what libdevice.10.bc takes and gives, under krait_nv_<name> (library/libdevice.def).  Elementary
 * functions are the platform's; what rounds in a direction is in libdevice_rounding.c; float functions that are neither
 * are computed in double.  The Bessel functions of integer order are the C library's: the open build has none. */
#include "rt.h"

/* ---- the platform's functions ---- */

#define BOTH_1(name, wide, narrow)                \
    double NV(name)(double x) { return wide(x); } \
    float NV(name##f)(float x) { return narrow(x); }
#define BOTH_2(name, wide, narrow)                             \
    double NV(name)(double x, double y) { return wide(x, y); } \
    float NV(name##f)(float x, float y) { return narrow(x, y); }
#define PLATFORM_1(name) BOTH_1(name, m_##name, m_##name##f)
#define PLATFORM_2(name) BOTH_2(name, m_##name, m_##name##f)
PLATFORM_1(sin)
PLATFORM_1(cos)
PLATFORM_1(tan)
PLATFORM_1(asin)
PLATFORM_1(acos)
PLATFORM_1(atan)
PLATFORM_1(sinh)
PLATFORM_1(cosh)
PLATFORM_1(tanh)
PLATFORM_1(asinh)
PLATFORM_1(acosh)
PLATFORM_1(atanh)
PLATFORM_1(exp)
PLATFORM_1(exp2)
PLATFORM_1(exp10)
PLATFORM_1(expm1)
PLATFORM_1(log)
PLATFORM_1(log2)
PLATFORM_1(log10)
PLATFORM_1(log1p)
PLATFORM_1(cbrt)
PLATFORM_1(erf)
PLATFORM_1(erfc)
PLATFORM_1(tgamma)
PLATFORM_1(lgamma)
PLATFORM_2(pow)
PLATFORM_2(atan2)
PLATFORM_2(hypot)
PLATFORM_2(fmod)
PLATFORM_2(remainder)

#define FAST_1(name) \
    float NV(fast_##name##f)(float x) { return m_##name##f(x); }
FAST_1(sin)
FAST_1(cos)
FAST_1(tan)
FAST_1(tanh)
FAST_1(exp)
FAST_1(log)
FAST_1(log2)
FAST_1(log10)
float NV(fast_powf)(float x, float y) { return m_powf(x, y); }
float NV(fast_fdividef)(float x, float y) { return x / y; }

/* ---- instructions ---- */

#define BUILTIN_1(name) BOTH_1(name, __builtin_##name, __builtin_##name##f)
#define BUILTIN_2(name) BOTH_2(name, __builtin_##name, __builtin_##name##f)
BUILTIN_1(fabs)
BUILTIN_1(floor)
BUILTIN_1(ceil)
BUILTIN_1(trunc)
BUILTIN_1(rint)
BUILTIN_1(round)
BUILTIN_1(sqrt)
BUILTIN_2(fmax)
BUILTIN_2(fmin)
BUILTIN_2(copysign)
double NV(nearbyint)(double x) { return __builtin_rint(x); }
float NV(nearbyintf)(float x) { return __builtin_rintf(x); }
double NV(fma)(double x, double y, double z) { return __builtin_fma(x, y, z); }
float NV(fmaf)(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
double NV(fdim)(double x, double y) { return x <= y ? 0 : x - y; }
float NV(fdimf)(float x, float y) { return x <= y ? 0 : x - y; }
double NV(rsqrt)(double x) { return 1 / __builtin_sqrt(x); }
float NV(rsqrtf)(float x) { return (float)(1 / __builtin_sqrt((double)x)); }
double NV(rcbrt)(double x) { return 1 / m_cbrt(x); }
float NV(rcbrtf)(float x) { return (float)(1 / m_cbrt((double)x)); }
float NV(saturatef)(float x) { return x >= 1 ? 1 : x > 0 ? x : 0; }

/* ---- integers ---- */

int32_t NV(abs)(int32_t x) { return x < 0 ? (int32_t)(0 - (uint32_t)x) : x; }
int64_t NV(llabs)(int64_t x) { return x < 0 ? (int64_t)(0 - (uint64_t)x) : x; }
int32_t NV(min)(int32_t x, int32_t y) { return x < y ? x : y; }
int32_t NV(max)(int32_t x, int32_t y) { return x > y ? x : y; }
uint32_t NV(umin)(uint32_t x, uint32_t y) { return x < y ? x : y; }
uint32_t NV(umax)(uint32_t x, uint32_t y) { return x > y ? x : y; }
int64_t NV(llmin)(int64_t x, int64_t y) { return x < y ? x : y; }
int64_t NV(llmax)(int64_t x, int64_t y) { return x > y ? x : y; }
uint64_t NV(ullmin)(uint64_t x, uint64_t y) { return x < y ? x : y; }
uint64_t NV(ullmax)(uint64_t x, uint64_t y) { return x > y ? x : y; }
int32_t NV(mulhi)(int32_t x, int32_t y) { return (int32_t)((int64_t)x * y >> 32); }
uint32_t NV(umulhi)(uint32_t x, uint32_t y) { return (uint32_t)((uint64_t)x * y >> 32); }
int64_t NV(mul64hi)(int64_t x, int64_t y) { return (int64_t)((__int128)x * y >> 64); }
uint64_t NV(umul64hi)(uint64_t x, uint64_t y) { return (uint64_t)((unsigned __int128)x * y >> 64); }
static int32_t low24(int32_t x) { return (int32_t)((uint32_t)x << 8) >> 8; }
int32_t NV(mul24)(int32_t x, int32_t y) { return (int32_t)((int64_t)low24(x) * low24(y)); }
uint32_t NV(umul24)(uint32_t x, uint32_t y) { return (uint32_t)((uint64_t)(x & 0xffffff) * (y & 0xffffff)); }
int32_t NV(hadd)(int32_t x, int32_t y) { return (int32_t)(((int64_t)x + y) >> 1); }
int32_t NV(rhadd)(int32_t x, int32_t y) { return (int32_t)(((int64_t)x + y + 1) >> 1); }
uint32_t NV(uhadd)(uint32_t x, uint32_t y) { return (uint32_t)(((uint64_t)x + y) >> 1); }
uint32_t NV(urhadd)(uint32_t x, uint32_t y) { return (uint32_t)(((uint64_t)x + y + 1) >> 1); }
int32_t NV(sad)(int32_t x, int32_t y, int32_t z) {
    uint32_t distance = x > y ? (uint32_t)x - (uint32_t)y : (uint32_t)y - (uint32_t)x;
    return (int32_t)(distance + (uint32_t)z);
}
uint32_t NV(usad)(uint32_t x, uint32_t y, uint32_t z) { return (x > y ? x - y : y - x) + z; }
uint32_t NV(brev)(uint32_t x) { return __builtin_bitreverse32(x); }
uint64_t NV(brevll)(uint64_t x) { return __builtin_bitreverse64(x); }
int32_t NV(clz)(int32_t x) { return x ? __builtin_clz((uint32_t)x) : 32; }
int32_t NV(clzll)(int64_t x) { return x ? __builtin_clzll((uint64_t)x) : 64; }
int32_t NV(ffs)(int32_t x) { return x ? __builtin_ctz((uint32_t)x) + 1 : 0; }
int32_t NV(ffsll)(int64_t x) { return x ? __builtin_ctzll((uint64_t)x) + 1 : 0; }
int32_t NV(popc)(uint32_t x) { return __builtin_popcount(x); }
int32_t NV(popcll)(uint64_t x) { return __builtin_popcountll(x); }
uint32_t NV(byte_perm)(uint32_t x, uint32_t y, uint32_t selector) {
    uint64_t bytes = (uint64_t)y << 32 | x;
    uint32_t result = 0;
    for (int i = 0; i < 4; i++) {
        uint32_t choice = selector >> 4 * i & 7; /* the fourth bit says nothing, unlike that of the instruction prmt */
        result |= ((uint32_t)(bytes >> 8 * choice) & 255) << 8 * i;
    }
    return result;
}

/* ---- bits ---- */

int64_t NV(double_as_longlong)(double x) { return (int64_t)rt_bits(x); }
double NV(longlong_as_double)(int64_t x) { return rt_double((uint64_t)x); }
int32_t NV(float_as_int)(float x) { return (int32_t)rt_float_bits(x); }
uint32_t NV(float_as_uint)(float x) { return rt_float_bits(x); }
float NV(int_as_float)(int32_t x) { return rt_float((uint32_t)x); }
float NV(uint_as_float)(uint32_t x) { return rt_float(x); }
int32_t NV(double2hiint)(double x) { return (int32_t)(rt_bits(x) >> 32); }
int32_t NV(double2loint)(double x) { return (int32_t)(uint32_t)rt_bits(x); }
double NV(hiloint2double)(int32_t high, int32_t low) {
    return rt_double((uint64_t)(uint32_t)high << 32 | (uint32_t)low);
}
double NV(rcp64h)(double x) { return rt_double(rt_bits(1 / x) & 0xffffffff00000000u); }
uint16_t NV(float2half_rn)(float x) {
    return (union {
               _Float16 h;
               uint16_t u;
           }){(_Float16)x}
        .u;
}
float NV(half2float)(uint16_t x) {
    return (float)(union {
               uint16_t u;
               _Float16 h;
           }){x}
        .h;
}
int32_t NV(finitef)(float x) { return rt_isfinite(x); }
int32_t NV(isfinited)(double x) { return rt_isfinite(x); }
int32_t NV(isinff)(float x) { return rt_isinf(x); }
int32_t NV(isinfd)(double x) { return rt_isinf(x); }
int32_t NV(isnanf)(float x) { return x != x; }
int32_t NV(isnand)(double x) { return x != x; }
int32_t NV(signbitf)(float x) { return (int32_t)(rt_float_bits(x) >> 31); }
int32_t NV(signbitd)(double x) { return (int32_t)(rt_bits(x) >> 63); }

/* ---- parts ---- */

double NV(ldexp)(double x, int32_t n) { return krait_rt_ldexp_d(x, n); }
double NV(scalbn)(double x, int32_t n) { return krait_rt_ldexp_d(x, n); }
double NV(frexp)(double x, int32_t *exponent) {
    int64_t wide;
    double mantissa = krait_rt_frexp(x, &wide);
    *exponent = (int32_t)wide;
    return mantissa;
}
float NV(frexpf)(float x, int32_t *exponent) { return (float)NV(frexp)(x, exponent); }
double NV(modf)(double x, double *whole) {
    *whole = __builtin_trunc(x);
    return __builtin_copysign(rt_isinf(x) ? 0 : x - *whole, x);
}
float NV(modff)(float x, float *whole) {
    *whole = __builtin_truncf(x);
    return __builtin_copysignf(rt_isinf(x) ? 0 : x - *whole, x);
}
int32_t NV(ilogb)(double x) {
    int64_t exponent;
    if (x == 0 || x != x) return INT32_MIN;
    if (rt_isinf(x)) return INT32_MAX;
    krait_rt_frexp(x, &exponent);
    return (int32_t)exponent - 1;
}
int32_t NV(ilogbf)(float x) { return NV(ilogb)(x); }
double NV(logb)(double x) { return x == 0 ? -RT_INF : rt_isfinite(x) ? NV(ilogb)(x) : x * x; }
float NV(logbf)(float x) { return (float)NV(logb)(x); }
double NV(remquo)(double x, double y, int32_t *quotient) {
    double rest = m_remainder(x, y), turn = 8 * y; /* the last three bits count in eights of y */
    double low = rt_isfinite(turn) ? m_fmod(x, turn) : x;
    *quotient = rt_isfinite(x) && rt_isfinite(y) && y != 0 ? (int32_t)__builtin_rint((low - rest) / y) : 0;
    *quotient = *quotient < 0 ? -(-*quotient & 7) : *quotient & 7;
    return rest;
}
float NV(remquof)(float x, float y, int32_t *quotient) { return (float)NV(remquo)(x, y, quotient); }

/* ---- sines of multiples of pi, lengths, powers ---- */

/* x without whole turns, from -1 to 1. */
static double turn_of(double x) { return x - 2 * __builtin_rint(x / 2); }
double NV(sinpi)(double x) {
    double r = turn_of(x);
    if (!rt_isfinite(x)) return x - x;
    if (r == __builtin_trunc(r)) return __builtin_copysign(0, x);
    if (__builtin_fabs(r) > 0.5) r = __builtin_copysign(1, r) - r;
    return m_sin(RT_PI * r);
}
double NV(cospi)(double x) {
    double r = __builtin_fabs(turn_of(x));
    if (!rt_isfinite(x)) return x - x;
    if (r == 0.5) return 0;
    if (r <= 0.25) return m_cos(RT_PI * r);
    return r >= 0.75 ? -m_cos(RT_PI * (1 - r)) : m_sin(RT_PI * (0.5 - r));
}
float NV(sinpif)(float x) { return (float)NV(sinpi)(x); }
float NV(cospif)(float x) { return (float)NV(cospi)(x); }
#define PAIR(name, T, sine, cosine)             \
    void NV(name)(T x, T * first, T * second) { \
        *first = sine(x);                       \
        *second = cosine(x);                    \
    }
PAIR(sincos, double, m_sin, m_cos)
PAIR(sincosf, float, m_sinf, m_cosf)
PAIR(fast_sincosf, float, m_sinf, m_cosf)
PAIR(sincospi, double, NV(sinpi), NV(cospi))
PAIR(sincospif, float, NV(sinpif), NV(cospif))

double NV(norm3d)(double x, double y, double z) { return m_hypot(m_hypot(x, y), z); }
double NV(norm4d)(double x, double y, double z, double w) { return m_hypot(m_hypot(x, y), m_hypot(z, w)); }
double NV(rhypot)(double x, double y) { return 1 / m_hypot(x, y); }
double NV(rnorm3d)(double x, double y, double z) { return 1 / NV(norm3d)(x, y, z); }
double NV(rnorm4d)(double x, double y, double z, double w) { return 1 / NV(norm4d)(x, y, z, w); }
float NV(norm3df)(float x, float y, float z) { return (float)NV(norm3d)(x, y, z); }
float NV(norm4df)(float x, float y, float z, float w) { return (float)NV(norm4d)(x, y, z, w); }
float NV(rhypotf)(float x, float y) { return (float)NV(rhypot)(x, y); }
float NV(rnorm3df)(float x, float y, float z) { return (float)NV(rnorm3d)(x, y, z); }
float NV(rnorm4df)(float x, float y, float z, float w) { return (float)NV(rnorm4d)(x, y, z, w); }
float NV(fast_exp10f)(float x) { return NV(exp10f)(x); }
double NV(powi)(double x, int32_t n) { return m_pow(x, n); }
float NV(powif)(float x, int32_t n) { return (float)m_pow((double)x, n); }
float NV(ldexpf)(float x, int32_t n) { return (float)krait_rt_ldexp_d(x, n); }
float NV(scalbnf)(float x, int32_t n) { return NV(ldexpf)(x, n); }

/* ---- error functions ---- */

#define ROOT_HALF     0.70710678118654752440
#define ROOT_HALF_LOW -4.8336466567264567e-17 /* what the double above leaves out of sqrt(1/2) */
#define ROOT_PI       1.7724538509055160273

/* exp(-x * x), with the rest of the square; far out it is 0. */
static double gauss(double x) {
    double square = x * x, low = __builtin_fma(x, x, -square);
    if (square > 800) return 0;
    return m_exp(-square) * (1 - low);
}

/* Halley's steps on erfc from the first terms of its expansion (Winitzki). */
static double inverse_of_erfc(double y) {
    if (!(y >= 0 && y <= 2)) return RT_NAN;
    if (y == 0 || y == 2) return y == 0 ? RT_INF : -RT_INF;
    bool mirrored = y > 1;
    if (mirrored) y = 2 - y;
    double l = m_log(y * (2 - y)), half = 4.3307467508 + l / 2,
           x = __builtin_sqrt(__builtin_sqrt(half * half - l / 0.147) - half);
    for (int i = 0; i < 3; i++) {
        double error = m_erfc(x) - y, slope = 2 / ROOT_PI * gauss(x);
        if (slope > 0) x += error / (slope - x * error);
    }
    return mirrored ? -x : x;
}
double NV(erfcinv)(double y) { return inverse_of_erfc(y); }

double NV(erfinv)(double y) {
    double size = __builtin_fabs(y);
    if (size > 0.5) return __builtin_copysign(inverse_of_erfc(1 - size), y);
    if (size < 1e-8) return y * (ROOT_PI / 2);
    double l = m_log1p(-y * y), half = 4.3307467508 + l / 2,
           x = __builtin_sqrt(__builtin_sqrt(half * half - l / 0.147) - half);
    for (int i = 0; i < 3; i++) {
        double error = m_erf(x) - size;
        x -= error / (2 / ROOT_PI * gauss(x) + x * error);
    }
    return __builtin_copysign(x, y);
}

double NV(normcdf)(double x) {
    double t = -x * ROOT_HALF, low = __builtin_fma(-x, ROOT_HALF, -t) - x * ROOT_HALF_LOW;
    if (rt_isinf(x)) low = 0;
    return 0.5 * (m_erfc(t) - 2 / ROOT_PI * gauss(t) * low);
}
double NV(normcdfinv)(double p) { return -inverse_of_erfc(2 * p) / ROOT_HALF; }

double NV(erfcx)(double x) {
    if (x < 10) {
        double square = x * x, low = __builtin_fma(x, x, -square);
        double scale = m_exp(square);
        return rt_isinf(scale) ? scale : scale * (1 + low) * m_erfc(x);
    }
    double term = 1, sum = 1, inverse = 0.5 / x / x;
    for (int n = 1; n < 16; n++) sum += term *= -(2 * n - 1) * inverse;
    return sum / (x * ROOT_PI);
}

/* ---- Bessel functions ---- */

/* The power series, whose terms are positive, or the asymptotic one; mu = 4 * order^2. */
static double modified_bessel(double x, int order) {
    double size = __builtin_fabs(x), sum = 1, term = 1, mu = 4.0 * order * order;
    if (x != x) return x;
    if (size < 30) {
        for (int k = 1; k < 100; k++) sum += term *= size * size / 4 / (k * (double)(k + order));
        if (order) sum *= x / 2;
        return sum;
    }
    if (rt_isinf(x)) return order ? x : size;
    for (int k = 1; k < 25; k++) sum += term *= -(mu - (2.0 * k - 1) * (2 * k - 1)) / (k * 8 * size);
    double scale = m_exp(size / 2), result = scale * (sum / __builtin_sqrt(2 * RT_PI * size)) * scale;
    return order ? __builtin_copysign(result, x) : result;
}
double NV(cyl_bessel_i0)(double x) { return modified_bessel(x, 0); }
double NV(cyl_bessel_i1)(double x) { return modified_bessel(x, 1); }

#define IN_DOUBLE(name) \
    float NV(name##f)(float x) { return (float)NV(name)(x); }
IN_DOUBLE(erfcinv)
IN_DOUBLE(erfinv)
IN_DOUBLE(normcdf)
IN_DOUBLE(normcdfinv)
IN_DOUBLE(erfcx)
IN_DOUBLE(cyl_bessel_i0)
IN_DOUBLE(cyl_bessel_i1)

#if defined(KRAIT_RT_HOST)
#define BESSEL(name)                                     \
    double libm_##name(double) __asm__(#name);           \
    double NV(name)(double x) { return libm_##name(x); } \
    IN_DOUBLE(name)
BESSEL(j0)
BESSEL(j1)
BESSEL(y0)
BESSEL(y1)
double libm_jn(int, double) __asm__("jn");
double libm_yn(int, double) __asm__("yn");
double NV(jn)(int32_t n, double x) { return libm_jn(n, x); }
double NV(yn)(int32_t n, double x) { return libm_yn(n, x); }
float NV(jnf)(int32_t n, float x) { return (float)libm_jn(n, x); }
float NV(ynf)(int32_t n, float x) { return (float)libm_yn(n, x); }
#endif
