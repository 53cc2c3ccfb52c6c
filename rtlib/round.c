/* round.c: rounding to decimal digits.
 *
 * round_digits is Python's round(x, n) of a float: the decimal number with n digits that is closest to the exact value
 * of x, half to even, and then the double closest to that number.  Where 10**|n| is a double (|n| <= 22) a few exact
 * operations decide it; beyond, integers of up to 1200 bits do.  round_numpy is NumPy's: scale, rint, scale back, each
 * operation rounded. */
#include "rt.h"

/* ---- small powers of ten ---- */

static double ten_to(int64_t n) { /* exact for n <= 22 */
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    return powers[n];
}

/* ---- large integers: little-endian limbs ---- */

enum { LIMBS = 72 }; /* 2304 bits: the largest comparison below needs fewer than 2250 */

typedef struct Big {
    uint32_t limb[LIMBS];
    int used;
} Big;

static void big_set(Big *big, uint64_t x) {
    for (int i = 0; i < LIMBS; i++) big->limb[i] = 0;
    big->limb[0] = (uint32_t)x, big->limb[1] = (uint32_t)(x >> 32);
    big->used = 2;
}

static void big_multiply(Big *big, uint32_t factor) {
    uint64_t carry = 0;
    for (int i = 0; i < big->used; i++) {
        carry += (uint64_t)big->limb[i] * factor;
        big->limb[i] = (uint32_t)carry;
        carry >>= 32;
    }
    if (carry && big->used < LIMBS) big->limb[big->used++] = (uint32_t)carry;
}

static void big_multiply_power(Big *big, uint32_t base, int64_t n) {
    for (; n > 0; n--) big_multiply(big, base);
}

static void big_shift_left(Big *big, int64_t bits) {
    int limbs = (int)(bits / 32), rest = (int)(bits % 32);
    for (int i = LIMBS - 1; i >= 0; i--) {
        uint64_t high = i >= limbs ? big->limb[i - limbs] : 0, low = i > limbs ? big->limb[i - limbs - 1] : 0;
        big->limb[i] = (uint32_t)(((high << 32 | low) << rest) >> 32);
    }
    big->used += limbs + 1;
    if (big->used > LIMBS) big->used = LIMBS;
}

static int big_compare(const Big *a, const Big *b) {
    for (int i = LIMBS - 1; i >= 0; i--)
        if (a->limb[i] != b->limb[i]) return a->limb[i] < b->limb[i] ? -1 : 1;
    return 0;
}

/* Compares m * 2**e * 5**f * 2**f with n * 2**g * 5**h * 2**h, exactly (products of a number below 2**64, powers of two
 * and of ten). */
static int compare_scaled(uint64_t m, int64_t e, int64_t f, uint64_t n, int64_t g, int64_t h) {
    Big a, b;
    int64_t least_ten = f < h ? f : h, two_a = e + f, two_b = g + h, least_two = two_a < two_b ? two_a : two_b;
    big_set(&a, m), big_set(&b, n);
    big_multiply_power(&a, 5, f - least_ten), big_multiply_power(&b, 5, h - least_ten);
    big_shift_left(&a, two_a - least_two), big_shift_left(&b, two_b - least_two);
    return big_compare(&a, &b);
}

/* x as m * 2**e with m an integer. */
static uint64_t integer_parts(double x, int64_t *e) {
    uint64_t bits = rt_bits(x), fraction = bits & 0xfffffffffffffu;
    int64_t biased = (int64_t)(bits >> 52 & 0x7ff);
    *e = biased ? biased - 1075 : -1074;
    return biased ? fraction | 0x10000000000000u : fraction;
}

/* floor(log10) is never needed exactly: an integer q near x / 10**p, for |p| <= 330 and a quotient below 2**60. */
static double scale_roughly(double x, int64_t p) {
    while (p > 22) x /= 1e22, p -= 22;
    while (p < -22) x *= 1e22, p += 22;
    return p >= 0 ? x / ten_to(p) : x * ten_to(-p);
}

/* The integer q with q * 10**p nearest to x > 0, half to even; the quotient is below 2**53. */
static uint64_t nearest_multiple(double x, int64_t p) {
    int64_t e;
    uint64_t m = integer_parts(x, &e), q = (uint64_t)scale_roughly(x, p);
    /* x >= (q + 1/2) 10**p ?  2 x >= (2 q + 1) 10**p */
    for (;;) {
        int order = compare_scaled(m, e + 1, 0, 2 * q + 1, 0, p);
        if (order < 0 || (order == 0 && !(q & 1))) break;
        q++;
    }
    while (q) {
        int order = compare_scaled(m, e + 1, 0, 2 * q - 1, 0, p);
        if (order > 0 || (order == 0 && !(q & 1))) break;
        q--;
    }
    return q;
}

static double next_up(double x) { return rt_double(rt_bits(x) + 1); }
static double next_down(double x) { return rt_double(rt_bits(x) - 1); }

/* The double nearest to q * 10**p, half to even; q > 0. */
static double nearest_double(uint64_t q, int64_t p) {
    double x = scale_roughly((double)q, -p);
    int64_t e;
    uint64_t m;
    if (x == 0) x = 0x1p-1074;
    if (!rt_isfinite(x)) x = DBL_MAX;
    for (;;) { /* up while the number is beyond the middle to the next double */
        m = integer_parts(x, &e);
        int order = compare_scaled(q, 1, p, 2 * m + 1, e, 0);
        if (order < 0 || (order == 0 && !(m & 1))) break;
        x = next_up(x);
        if (!rt_isfinite(x)) return x;
    }
    while (x > 0) {
        double below = next_down(x);
        m = integer_parts(below, &e);
        int order = compare_scaled(q, 1, p, 2 * m + 1, e, 0);
        if (order > 0 || (order == 0 && (m & 1))) break;
        x = below;
    }
    return x;
}

/* ---- Python floats ---- */

double krait_rt_round_digits_d(double x, int64_t digits) {
    double a = __builtin_fabs(x), result;
    if (!rt_isfinite(x) || x == 0 || digits > 323) return x;
    if (digits < -308) return __builtin_copysign(0.0, x);
    if (digits >= 0 && digits <= 22) {
        double scale = ten_to(digits), hi = a * scale;
        if (a >= 0x1p52 || hi >= 0x1p53) return x; /* the decimal grid is finer than the doubles */
        double lo = __builtin_fma(a, scale, -hi), whole = __builtin_rint(hi);
        /* hi + lo is exact; rint decided on hi alone.  The signs of what is left beyond the middles above and below: lo
         * is added last, for it is what tells 0.5 from a little more. */
        double above = (hi - whole - 0.5) + lo, below = (hi - whole + 0.5) + lo;
        bool odd = whole / 2 != __builtin_floor(whole / 2);
        if (above > 0 || (above == 0 && odd)) whole += 1;
        if (below < 0 || (below == 0 && odd)) whole -= 1;
        result = whole / scale;
    } else if (digits < 0 && digits >= -22) {
        result = a - m_remainder(a, ten_to(-digits)); /* the remainder is exact and halves go to even multiples */
    } else {
        if (scale_roughly(a, -digits) >= 0x1p53) return x; /* the decimal grid is finer */
        uint64_t q = nearest_multiple(a, -digits);
        result = q ? nearest_double(q, -digits) : 0;
    }
    return __builtin_copysign(result, x);
}

int32_t krait_rt_check_round_digits_d(double x, int64_t digits, double result) {
    return (void)digits, rt_isfinite(x) && !rt_isfinite(result);
}

/* ---- NumPy's floats ---- */

static double power_of_ten(int64_t n) { return n <= 22 ? ten_to(n) : m_pow(10.0, (double)n); }

double krait_rt_round_numpy_d(double x, int64_t digits) {
    if (digits == 0) return __builtin_rint(x);
    double scale = power_of_ten(digits < 0 ? -digits : digits);
    return digits > 0 ? __builtin_rint(x * scale) / scale : __builtin_rint(x / scale) * scale;
}

float krait_rt_round_numpy_f(float x, int64_t digits) {
    if (digits == 0) return __builtin_rintf(x);
    float scale = (float)power_of_ten(digits < 0 ? -digits : digits);
    return digits > 0 ? __builtin_rintf(x * scale) / scale : __builtin_rintf(x / scale) * scale;
}

_Float16 krait_rt_round_numpy_e(_Float16 x, int64_t digits) {
    if (digits == 0) return (_Float16)__builtin_rintf((float)x);
    _Float16 scale = (_Float16)(float)power_of_ten(digits < 0 ? -digits : digits), scaled;
    scaled = digits > 0 ? (_Float16)((float)x * (float)scale) : (_Float16)((float)x / (float)scale);
    scaled = (_Float16)__builtin_rintf((float)scaled);
    return digits > 0 ? (_Float16)((float)scaled / (float)scale) : (_Float16)((float)scaled * (float)scale);
}

/* ---- integers ---- */

/* Half to even; digits < 0 is the number of zeros wanted. */
int64_t krait_rt_round_tens_l(int64_t x, int64_t digits) {
    uint64_t scale = 1, a = x < 0 ? 0 - (uint64_t)x : (uint64_t)x;
    if (digits >= 0) return x;
    if (digits < -19) return 0;
    for (int64_t i = digits; i < 0; i++) scale *= 10;
    uint64_t quotient = a / scale, rest = a % scale, half = scale / 2;
    if (rest > half || (rest == half && (quotient & 1))) quotient++;
    quotient *= scale;
    return (int64_t)(x < 0 ? 0 - quotient : quotient);
}

/* NumPy divides and multiplies as float64. */
int64_t krait_rt_round_tens_numpy_l(int64_t x, int64_t digits) {
    if (digits >= 0) return x;
    double scale = power_of_ten(-digits), r = __builtin_rint((double)x / scale) * scale;
    return r >= -0x1p63 && r < 0x1p63 ? (int64_t)r : INT64_MIN;
}

uint64_t krait_rt_round_tens_numpy_L(uint64_t x, int64_t digits) {
    if (digits >= 0) return x;
    double scale = power_of_ten(-digits), r = __builtin_rint((double)x / scale) * scale;
    return r >= 0 && r < 0x1p64 ? (uint64_t)r : 0;
}
