/* libdevice_rounding.c: the functions of krait.cuda.libdevice that round in a direction, where libdevice is not.
 *
 * As libdevice.c; each finds the sign of the error of the nearest result, and steps to the neighbour. */
#include "rt.h"

typedef enum Rounding { RN, RD, RU, RZ } Rounding;

static double next_up(double x) {
    if (x != x || x == RT_INF) return x;
    if (x == 0) return 0x1p-1074;
    return rt_double(rt_bits(x) + (x > 0 ? 1 : -1));
}
static double next_down(double x) { return -next_up(-x); }
static float next_up_float(float x) {
    if (x != x || x == (float)RT_INF) return x;
    if (x == 0) return 0x1p-149f;
    return rt_float(rt_float_bits(x) + (x > 0 ? 1 : -1));
}

double NV(nextafter)(double x, double y) {
    return x != x || y != y ? x + y : x == y ? y : x < y ? next_up(x) : next_down(x);
}
float NV(nextafterf)(float x, float y) {
    return x != x || y != y ? x + y : x == y ? y : x < y ? next_up_float(x) : -next_up_float(-x);
}

/* The result nearest to a number that is larger by `error`, whose sign alone counts, in the direction asked for. */
static double direct(double nearest, double error, Rounding way) {
    if (way == RZ) way = nearest > 0 || (nearest == 0 && error > 0) ? RD : RU;
    if (way == RD && error < 0) return next_down(nearest);
    if (way == RU && error > 0) return next_up(nearest);
    return nearest;
}

/* A number beside a double as a float: `number` and a rest whose sign alone counts. */
static float direct_float(double number, double rest, Rounding way) {
    float nearest = (float)number;
    if (way == RN || nearest != nearest || rt_isinf(number)) return nearest;
    double error = number - (double)nearest;
    if (rt_isinf(nearest)) error = -(double)nearest;
    if (error == 0) error = rest;
    if (way == RZ) way = nearest > 0 || (nearest == 0 && error > 0) ? RD : RU;
    if (way == RD && error < 0) return -next_up_float(-nearest);
    if (way == RU && error > 0) return next_up_float(nearest);
    return nearest;
}

/* The rest of a sum that was rounded to `sum` (Knuth). */
static double sum_rest(double x, double y, double sum) {
    double part = sum - x;
    return (x - (sum - part)) + (y - part);
}

static double add(double x, double y, Rounding way) {
    double sum = x + y;
    if (way == RN || !rt_isfinite(x) || !rt_isfinite(y)) return sum;
    if (rt_isinf(sum)) return direct(sum, -sum, way);
    if (sum == 0 && (x != 0 || y != 0)) return way == RD ? -0.0 : 0.0;
    if (sum == 0) return __builtin_signbit(x) && __builtin_signbit(y) ? -0.0 : way == RD && x != y ? -0.0 : sum;
    return direct(sum, sum_rest(x, y, sum), way);
}

/* Mantissas, whose products and quotients are neither too large nor too small, and what they leave out. */
static double product_rest(double x, double y, double product) {
    int64_t ex, ey;
    double mx = krait_rt_frexp(x, &ex), my = krait_rt_frexp(y, &ey);
    return __builtin_fma(mx, my, -krait_rt_ldexp_d(product, -ex - ey));
}

static double multiply(double x, double y, Rounding way) {
    double product = x * y;
    if (way == RN || !rt_isfinite(x) || !rt_isfinite(y) || x == 0 || y == 0) return product;
    if (rt_isinf(product)) return direct(product, -product, way);
    if (product == 0) return direct(product, __builtin_signbit(product) ? -1 : 1, way);
    return direct(product, product_rest(x, y, product), way);
}

static double divide(double x, double y, Rounding way) {
    double quotient = x / y;
    if (way == RN || !rt_isfinite(x) || !rt_isfinite(y) || x == 0 || y == 0) return quotient;
    if (rt_isinf(quotient)) return direct(quotient, -quotient, way);
    if (quotient == 0) return direct(quotient, __builtin_signbit(quotient) ? -1 : 1, way);
    int64_t ex, ey;
    double mx = krait_rt_frexp(x, &ex), my = krait_rt_frexp(y, &ey);
    double rest = __builtin_fma(-krait_rt_ldexp_d(quotient, ey - ex), my, mx);
    return direct(quotient, my < 0 ? -rest : rest, way);
}

static double root(double x, Rounding way) {
    double result = __builtin_sqrt(x);
    if (way == RN || !rt_isfinite(x) || x <= 0) return result;
    int64_t exponent;
    double mantissa = krait_rt_frexp(x, &exponent);
    if (exponent & 1) mantissa *= 2, exponent--;
    double scaled = krait_rt_ldexp_d(result, -exponent / 2);
    return direct(result, __builtin_fma(-scaled, scaled, mantissa), way);
}

/* The rest of a fused multiplication (Boldo and Muller). */
static double fused(double x, double y, double z, Rounding way) {
    double result = __builtin_fma(x, y, z);
    if (way == RN || !rt_isfinite(x) || !rt_isfinite(y) || !rt_isfinite(z)) return result;
    if (rt_isinf(result)) return direct(result, -result, way);
    double product = x * y, low = product == 0 || rt_isinf(product) ? 0 : __builtin_fma(x, y, -product);
    if (product == 0 || z == 0) return product == 0 ? add(product, z, way) : multiply(x, y, way);
    double sum = z + low, rest1 = sum_rest(z, low, sum), top = product + sum, rest2 = sum_rest(product, sum, top);
    double middle = (top - result) + rest2, error = middle + rest1;
    if (result == 0 && error == 0) return way == RD ? -0.0 : 0.0;
    return direct(result, error, way);
}

static float add_float(float x, float y, Rounding way) {
    double sum = (double)x + y;
    if (way == RN) return x + y;
    if (sum == 0) return (float)add(x, y, way);
    return direct_float(sum, sum_rest(x, y, sum), way);
}
static float multiply_float(float x, float y, Rounding way) { return direct_float((double)x * y, 0, way); }
static float divide_float(float x, float y, Rounding way) {
    double quotient = (double)x / y;
    if (way == RN) return x / y;
    double rest = rt_isfinite(quotient) && rt_isfinite(y) ? __builtin_fma(-quotient, (double)y, (double)x) : 0;
    return direct_float(quotient, y < 0 ? -rest : rest, way);
}
static float root_float(float x, Rounding way) {
    double result = __builtin_sqrt((double)x);
    if (way == RN) return __builtin_sqrtf(x);
    return direct_float(result, rt_isfinite(result) ? __builtin_fma(-result, result, (double)x) : 0, way);
}
static float fused_float(float x, float y, float z, Rounding way) {
    double product = (double)x * y, sum = product + z;
    if (way == RN) return __builtin_fmaf(x, y, z);
    if (sum == 0) return (float)add(product, z, way);
    return direct_float(sum, rt_isfinite(sum) ? sum_rest(product, z, sum) : 0, way);
}

/* The sign of what an integer is more than the float nearest to it, neither of them negative. */
static int error_of(uint64_t x, double nearest) {
    uint64_t whole = nearest >= 0x1p64 ? 0 : (uint64_t)nearest;
    return nearest >= 0x1p64 || x < whole ? -1 : x > whole;
}
static Rounding mirrored(Rounding way, bool minus) { return !minus ? way : way == RD ? RU : way == RU ? RD : way; }

static double from_unsigned(uint64_t x, Rounding way) {
    double nearest = (double)x;
    return direct(nearest, error_of(x, nearest), way);
}
static float float_from_unsigned(uint64_t x, Rounding way) {
    float nearest = (float)x;
    int error = error_of(x, nearest);
    if (error < 0 && (way == RD || way == RZ)) return -next_up_float(-nearest);
    return error > 0 && way == RU ? next_up_float(nearest) : nearest;
}
static double from_signed(int64_t x, Rounding way) {
    return x < 0 ? -from_unsigned(0 - (uint64_t)x, mirrored(way, true)) : from_unsigned((uint64_t)x, way);
}
static float float_from_signed(int64_t x, Rounding way) {
    return x < 0 ? -float_from_unsigned(0 - (uint64_t)x, mirrored(way, true)) : float_from_unsigned((uint64_t)x, way);
}

static double whole_of(double x, Rounding way) {
    switch (way) {
    case RN: return __builtin_rint(x);
    case RD: return __builtin_floor(x);
    case RU: return __builtin_ceil(x);
    default: return __builtin_trunc(x);
    }
}

/* A float as an integer of so many bits, the nearest one there is. */
static int64_t to_signed(double x, Rounding way, int bits, int64_t nan) {
    double limit = bits == 32 ? 0x1p31 : 0x1p63, whole = whole_of(x, way);
    int64_t low = bits == 32 ? INT32_MIN : INT64_MIN;
    if (x != x) return nan;
    return whole >= limit ? -(low + 1) : whole < -limit ? low : (int64_t)whole;
}
static uint64_t to_unsigned(double x, Rounding way, int bits, uint64_t nan) {
    double whole = whole_of(x, way);
    if (x != x) return nan;
    if (whole >= (bits == 32 ? 0x1p32 : 0x1p64)) return bits == 32 ? UINT32_MAX : UINT64_MAX;
    return whole <= 0 ? 0 : (uint64_t)whole;
}

/* NaN is 0, or the highest bit alone where either side has 64 bits. */
#define TOP_32 (1u << 31)
#define TOP_64 (1ull << 63)
/* of: what the names of the functions above end in */
#define ARITHMETIC(real, letter, of, fused_name, suffix, way)                         \
    real NV(letter##add_##suffix)(real x, real y) { return add##of(x, y, way); }      \
    real NV(letter##sub_##suffix)(real x, real y) { return add##of(x, -y, way); }     \
    real NV(letter##mul_##suffix)(real x, real y) { return multiply##of(x, y, way); } \
    real NV(letter##div_##suffix)(real x, real y) { return divide##of(x, y, way); }   \
    real NV(letter##rcp_##suffix)(real x) { return divide##of(1, x, way); }           \
    real NV(letter##sqrt_##suffix)(real x) { return root##of(x, way); }               \
    real NV(fused_name##_##suffix)(real x, real y, real z) { return fused##of(x, y, z, way); }
#define DIRECTED(suffix, way)                                                                         \
    ARITHMETIC(double, d, , fma, suffix, way)                                                         \
    ARITHMETIC(float, f, _float, fmaf, suffix, way)                                                   \
    float NV(fmaf_ieee_##suffix)(float x, float y, float z) { return fused_float(x, y, z, way); }     \
    float NV(double2float_##suffix)(double x) { return direct_float(x, 0, way); }                     \
    float NV(int2float_##suffix)(int32_t x) { return float_from_signed(x, way); }                     \
    float NV(uint2float_##suffix)(uint32_t x) { return float_from_unsigned(x, way); }                 \
    float NV(ll2float_##suffix)(int64_t x) { return float_from_signed(x, way); }                      \
    float NV(ull2float_##suffix)(uint64_t x) { return float_from_unsigned(x, way); }                  \
    double NV(ll2double_##suffix)(int64_t x) { return from_signed(x, way); }                          \
    double NV(ull2double_##suffix)(uint64_t x) { return from_unsigned(x, way); }                      \
    int32_t NV(float2int_##suffix)(float x) { return (int32_t)to_signed(x, way, 32, 0); }             \
    uint32_t NV(float2uint_##suffix)(float x) { return (uint32_t)to_unsigned(x, way, 32, 0); }        \
    int64_t NV(float2ll_##suffix)(float x) { return to_signed(x, way, 64, INT64_MIN); }               \
    uint64_t NV(float2ull_##suffix)(float x) { return to_unsigned(x, way, 64, TOP_64); }              \
    int32_t NV(double2int_##suffix)(double x) { return (int32_t)to_signed(x, way, 32, INT32_MIN); }   \
    uint32_t NV(double2uint_##suffix)(double x) { return (uint32_t)to_unsigned(x, way, 32, TOP_32); } \
    int64_t NV(double2ll_##suffix)(double x) { return to_signed(x, way, 64, INT64_MIN); }             \
    uint64_t NV(double2ull_##suffix)(double x) { return to_unsigned(x, way, 64, TOP_64); }
DIRECTED(rn, RN)
DIRECTED(rd, RD)
DIRECTED(ru, RU)
DIRECTED(rz, RZ)
double NV(int2double_rn)(int32_t x) { return x; }
double NV(uint2double_rn)(uint32_t x) { return x; }
float NV(frsqrt_rn)(float x) { return (float)(1 / __builtin_sqrt((double)x)); }
int64_t NV(llrint)(double x) { return NV(double2ll_rn)(x); }
int64_t NV(llrintf)(float x) { return NV(float2ll_rn)(x); }
int64_t NV(llround)(double x) { return NV(double2ll_rz)(__builtin_round(x)); }
int64_t NV(llroundf)(float x) { return NV(float2ll_rz)(__builtin_roundf(x)); }
