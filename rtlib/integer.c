/* integer.c: functions of integers: divisors, counting, roots, powers.
 *
 * Python ints of compiled code have 64 bits and wrap: where the interpreter's result is larger, these give it modulo
 * 2**64. */
#include "rt.h"

static inline uint64_t magnitude(int64_t x) { return x < 0 ? 0 - (uint64_t)x : (uint64_t)x; }

/* ---- divisors (J. Stein's binary algorithm) ---- */

static uint64_t gcd(uint64_t a, uint64_t b) {
    if (!a || !b) return a | b;
    int shift = __builtin_ctzll(a | b);
    a >>= __builtin_ctzll(a);
    while (b) {
        b >>= __builtin_ctzll(b);
        if (a > b) {
            uint64_t t = a;
            a = b, b = t;
        }
        b -= a;
    }
    return a << shift;
}

static uint64_t lcm(uint64_t a, uint64_t b) { return a && b ? a / gcd(a, b) * b : 0; }

int64_t krait_rt_gcd_l(int64_t a, int64_t b) { return (int64_t)gcd(magnitude(a), magnitude(b)); }
int64_t krait_rt_lcm_l(int64_t a, int64_t b) { return (int64_t)lcm(magnitude(a), magnitude(b)); }
int64_t krait_rt_np_gcd_l(int64_t a, int64_t b) { return krait_rt_gcd_l(a, b); }
int64_t krait_rt_np_lcm_l(int64_t a, int64_t b) { return krait_rt_lcm_l(a, b); }
uint64_t krait_rt_np_gcd_L(uint64_t a, uint64_t b) { return gcd(a, b); }
uint64_t krait_rt_np_lcm_L(uint64_t a, uint64_t b) { return lcm(a, b); }

/* ---- counting ---- */

int64_t krait_rt_factorial_l(int64_t n) {
    uint64_t product = 1;
    for (int64_t i = 2; i <= n && product; i++) product *= (uint64_t)i; /* 0 modulo 2**64 from 66! on */
    return n < 0 ? 0 : (int64_t)product;
}

int32_t krait_rt_check_factorial_l(int64_t n, int64_t result) { return (void)result, n < 0; }

/* The product of n (n - 1) ... (n - k + 1). */
int64_t krait_rt_perm_l(int64_t n, int64_t k) {
    if (n < 0 || k < 0 || k > n) return 0;
    uint64_t product = 1;
    for (int64_t i = 0; i < k && product; i++) product *= (uint64_t)(n - i);
    return (int64_t)product;
}

/* Inverse of an odd number modulo 2**64, by Newton's iteration. */
static uint64_t inverse_odd(uint64_t x) {
    uint64_t y = x * 3 ^ 2;
    for (int i = 0; i < 4; i++) y *= 2 - x * y;
    return y;
}

/* Modulo 2**64 exactly: odd parts are divided by multiplying with the inverse, powers of two are counted. */
int64_t krait_rt_comb_l(int64_t n, int64_t k) {
    if (n < 0 || k < 0 || k > n) return 0;
    if (k > n - k) k = n - k;
    uint64_t product = 1, divisor = 1;
    int64_t twos = 0;
    for (int64_t i = 1; i <= k; i++) {
        uint64_t factor = (uint64_t)(n - k + i), by = (uint64_t)i;
        int up = __builtin_ctzll(factor), down = __builtin_ctzll(by);
        twos += up - down;
        product *= factor >> up;
        divisor *= by >> down;
    }
    product *= inverse_odd(divisor);
    return twos >= 64 ? 0 : (int64_t)(product << twos);
}

int32_t krait_rt_check_comb_l(int64_t n, int64_t k, int64_t result) { return (void)result, n < 0 ? 1 : k < 0 ? 2 : 0; }

/* The double's root is at most one off; that of a number near 2**64 is 2**32, whose square does not fit. */
int64_t krait_rt_isqrt_L(uint64_t n) {
    uint64_t root = (uint64_t)__builtin_sqrt((double)n);
    if (root > 0xffffffff) root = 0xffffffff;
    while (root * root > n) root--;
    while (root < 0xffffffff && (root + 1) * (root + 1) <= n) root++;
    return (int64_t)root;
}

int64_t krait_rt_isqrt_l(int64_t n) { return n > 0 ? krait_rt_isqrt_L((uint64_t)n) : 0; }

int32_t krait_rt_check_isqrt_L(uint64_t n, int64_t result) { return (void)n, (void)result, 0; }

int32_t krait_rt_check_isqrt_l(int64_t n, int64_t result) { return (void)result, n < 0; }

/* ---- division ---- */

#define FLOORED(name)                                                                       \
    void krait_rt_##name##_l(int64_t a, int64_t b, int64_t *quotient, int64_t *remainder) { \
        if (b == 0) {                                                                       \
            *quotient = *remainder = 0;                                                     \
        } else if (b == -1) {                                                               \
            *quotient = (int64_t)(0 - (uint64_t)a), *remainder = 0;                         \
        } else {                                                                            \
            int64_t q = a / b, r = a % b;                                                   \
            bool down = r != 0 && (r < 0) != (b < 0);                                       \
            *quotient = q - down, *remainder = down ? r + b : r;                            \
        }                                                                                   \
    }
FLOORED(divmod)
FLOORED(np_divmod)

int32_t krait_rt_check_divmod_l(int64_t a, int64_t b, int64_t quotient, int64_t remainder) {
    return (void)a, (void)quotient, (void)remainder, b == 0;
}

void krait_rt_np_divmod_L(uint64_t a, uint64_t b, uint64_t *quotient, uint64_t *remainder) {
    *quotient = b ? a / b : 0, *remainder = b ? a % b : 0;
}

int64_t krait_rt_fmod_l(int64_t a, int64_t b) { return b == 0 || b == -1 ? 0 : a % b; }
uint64_t krait_rt_fmod_L(uint64_t a, uint64_t b) { return b ? a % b : 0; }

/* ---- powers ---- */

static uint64_t power(uint64_t base, uint64_t exponent) {
    uint64_t result = 1;
    for (; exponent; exponent >>= 1, base *= base)
        if (exponent & 1) result *= base;
    return result;
}

int64_t krait_rt_power_l(int64_t base, int64_t exponent) {
    return exponent < 0 ? 0 : (int64_t)power((uint64_t)base, (uint64_t)exponent);
}
uint64_t krait_rt_power_L(uint64_t base, uint64_t exponent) { return power(base, exponent); }
int32_t krait_rt_check_power_l(int64_t x, int64_t y, int64_t result) { return (void)x, (void)result, y < 0; }
int32_t krait_rt_check_power_L(uint64_t x, uint64_t y, uint64_t result) { return (void)x, (void)y, (void)result, 0; }

/* a * b % m for a, b < m, without a type wider than 64 bits. */
static uint64_t multiply_modulo(uint64_t a, uint64_t b, uint64_t m) {
    if (!((a | b) >> 32)) return a * b % m;
    uint64_t result = 0;
    for (; b; b >>= 1) {
        if (b & 1) result = result >= m - a ? result - (m - a) : result + a;
        a = a >= m - a ? a - (m - a) : a + a;
    }
    return result;
}

/* Inverse of a modulo m by the extended Euclidean algorithm; 0 if there is none (and m > 1). */
static uint64_t inverse_modulo(uint64_t a, uint64_t m) {
    uint64_t r0 = m, r1 = a % m, t0 = 0, t1 = 1 % m;
    while (r1) {
        uint64_t q = r0 / r1, r = r0 - q * r1, step = multiply_modulo(q % m, t1, m);
        uint64_t t = t0 >= step ? t0 - step : t0 + (m - step);
        r0 = r1, r1 = r, t0 = t1, t1 = t;
    }
    return r0 == 1 ? t0 : 0;
}

/* x ** y % m with the sign of m. */
int64_t krait_rt_powmod_l(int64_t x, int64_t y, int64_t m) {
    uint64_t modulus = magnitude(m);
    if (modulus <= 1) return 0;
    uint64_t base = magnitude(x) % modulus, exponent = magnitude(y), result = 1;
    if (x < 0 && base) base = modulus - base;
    if (y < 0) base = inverse_modulo(base, modulus);
    for (; exponent; exponent >>= 1) {
        if (exponent & 1) result = multiply_modulo(result, base, modulus);
        base = multiply_modulo(base, base, modulus);
    }
    return m < 0 && result ? (int64_t)(result - modulus) : (int64_t)result;
}

int32_t krait_rt_check_powmod_l(int64_t x, int64_t y, int64_t m, int64_t result) {
    (void)result;
    if (m == 0) return 1;
    return y < 0 && magnitude(m) != 1 && gcd(magnitude(x), magnitude(m)) != 1 ? 2 : 0;
}

/* ---- NumPy's loops ---- */

int64_t krait_rt_abs_l(int64_t x) { return (int64_t)magnitude(x); }
uint64_t krait_rt_abs_L(uint64_t x) { return x; }
int64_t krait_rt_sign_l(int64_t x) { return (x > 0) - (x < 0); }
uint64_t krait_rt_sign_L(uint64_t x) { return x != 0; }
int64_t krait_rt_bitwise_count_l(int64_t x) { return __builtin_popcountll(magnitude(x)); }
int64_t krait_rt_bitwise_count_L(uint64_t x) { return __builtin_popcountll(x); }
/* 1 / 0 is what the conversion of an infinity gives on x86-64. */
int64_t krait_rt_reciprocal_l(int64_t x) { return x == 0 ? INT64_MIN : x == 1 ? 1 : x == -1 ? -1 : 0; }
int64_t krait_rt_reciprocal_int32_l(int64_t x) { return x == 0 ? INT32_MIN : krait_rt_reciprocal_l(x); }
uint64_t krait_rt_reciprocal_L(uint64_t x) { return x == 1; }

#define EXTREMES(T, S)                                         \
    T krait_rt_maximum_##S(T a, T b) { return a > b ? a : b; } \
    T krait_rt_minimum_##S(T a, T b) { return a < b ? a : b; } \
    T krait_rt_fmax_##S(T a, T b) { return a > b ? a : b; }    \
    T krait_rt_fmin_##S(T a, T b) { return a < b ? a : b; }
EXTREMES(int64_t, l)
EXTREMES(uint64_t, L)
