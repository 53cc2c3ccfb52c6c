/* vector.c: functions of many floats: Euclidean norm, accurate sums.
 *
 * Input: items in memory, one after the other.  Output: the value the math module gives.
 * Algorithms: norm: squares summed without loss and a corrected root, after T. J. Dekker, A floating-point technique
 * for extending the available precision (1971); fsum: J. R. Shewchuk, Adaptive precision floating-point arithmetic
 * (1997): partial sums that do not overlap; sumprod: T. Ogita, S. M. Rump, S. Oishi, Accurate sum and dot product
 * (2005), with three parts. */
#include "rt.h"

/* ---- pairs of doubles: hi + lo is exact ---- */

typedef struct Pair {
    double hi, lo;
} Pair;

static inline Pair sum_ordered(double a, double b) { /* |a| >= |b| */
    double hi = a + b;
    return (Pair){hi, (a - hi) + b};
}

static inline Pair sum(double a, double b) {
    double hi = a + b, bb = hi - a;
    return (Pair){hi, (a - (hi - bb)) + (b - bb)};
}

static inline Pair product(double a, double b) {
    double hi = a * b;
    return (Pair){hi, __builtin_fma(a, b, -hi)};
}

/* ---- norm ---- */

static double norm(double *v, int64_t n) {
    double largest = 0, total = 1, lost_squares = 0, lost_sums = 0;
    bool nan = false;
    for (int64_t i = 0; i < n; i++) {
        v[i] = __builtin_fabs(v[i]);
        nan = nan || rt_isnan(v[i]);
        if (v[i] > largest) largest = v[i];
    }
    if (rt_isinf(largest)) return largest;
    if (nan) return RT_NAN;
    if (largest == 0 || n <= 1) return largest;
    double unit = 1;
    int64_t exponent;
    krait_rt_frexp(largest, &exponent);
    if (exponent < -1023) { /* subnormal: made normal first */
        unit = DBL_MIN;
        for (int64_t i = 0; i < n; i++) v[i] /= DBL_MIN;
        krait_rt_frexp(largest / DBL_MIN, &exponent);
    }
    double scale = krait_rt_ldexp_d(1.0, -exponent);
    for (int64_t i = 0; i < n; i++) {
        double x = v[i] * scale;
        Pair square = product(x, x), s = sum_ordered(total, square.hi);
        total = s.hi, lost_squares += square.lo, lost_sums += s.lo;
    }
    double root = __builtin_sqrt(total - 1 + (lost_squares + lost_sums));
    Pair square = product(-root, root), s = sum_ordered(total, square.hi);
    total = s.hi, lost_squares += square.lo, lost_sums += s.lo;
    root += (total - 1 + (lost_squares + lost_sums)) / (2 * root);
    return unit * (root / scale);
}

double krait_rt_norm(double *v, int64_t n) { return norm(v, n); }

#if defined(KRAIT_RT_HOST)

/* norm(v, 2) without branches, loops and memory, so that vectors of it are made where it is called.  Its scale is the
 * power of two next to the larger number, as norm's.  Numbers so large or small that this power or its inverse is
 * subnormal are brought nearer to 1 first, by a power of two: what rounds then is the last product alone, as norm's
 * last step; a smaller operand that loses bits by it has a square of 0 beside the other's.  Zeros, infinities and NaN
 * have an answer without computing, and 1 takes their place, which sets no flags. */
__attribute__((always_inline)) double krait_rt_norm2_d(double x, double y) {
    const uint64_t infinity = UINT64_C(2047) << 52;
    uint64_t bits_x = rt_bits(__builtin_fabs(x)), bits_y = rt_bits(__builtin_fabs(y));
    uint64_t larger = bits_x > bits_y ? bits_x : bits_y, smaller = bits_x > bits_y ? bits_y : bits_x;
    bool known = larger - 1 >= infinity - 1;
    double answer = larger <= infinity || smaller == infinity ? rt_double(larger > infinity ? infinity : larger)
                                                              : RT_NAN;
    double a = known ? 1.0 : rt_double(bits_x), b = known ? 1.0 : rt_double(bits_y);
    bool tiny = larger < UINT64_C(2) << 52, huge = larger >= UINT64_C(2045) << 52;
    double nearer = tiny ? 0x1p600 : huge ? 0x1p-4 : 1.0, back = tiny ? 0x1p-600 : huge ? 0x1p4 : 1.0;
    a *= nearer, b *= nearer;
    uint64_t exponent = (rt_bits(a) > rt_bits(b) ? rt_bits(a) : rt_bits(b)) & infinity;
    double scale = rt_double((UINT64_C(2045) << 52) - exponent), unit = rt_double(exponent + (UINT64_C(1) << 52));
    a *= scale, b *= scale;
    Pair square_a = product(a, a), square_b = product(b, b);
    Pair one = sum_ordered(1, square_a.hi), both = sum_ordered(one.hi, square_b.hi);
    double lost_squares = 0 + square_a.lo + square_b.lo, lost_sums = 0 + one.lo + both.lo;
    double root = __builtin_sqrt(both.hi - 1 + (lost_squares + lost_sums));
    Pair square = product(-root, root), s = sum_ordered(both.hi, square.hi);
    lost_squares += square.lo, lost_sums += s.lo;
    root += (s.hi - 1 + (lost_squares + lost_sums)) / (2 * root);
    double norm = root * unit * back;
    return known ? answer : norm;
}
#else
double krait_rt_norm2_d(double x, double y) { return m_hypot(x, y); }
#endif

/* ---- fsum ---- */

/* Partial sums are at most one per 53 bits of a double's range. */
enum { PARTIALS = 56 };

typedef struct FsumState { /* 64 doubles: lower_funcs.c reserves them */
    double partials[PARTIALS];
    double special, infinities; /* sums of what is not finite */
    int64_t count, overflow;
} FsumState;

_Static_assert(sizeof(FsumState) <= 64 * 8, "lower_funcs.c reserves 512 bytes");

void krait_rt_fsum_start(FsumState *state) {
    state->count = state->overflow = 0, state->special = state->infinities = 0;
}

void krait_rt_fsum_add(FsumState *state, double x) {
    double given = x;
    int64_t used = 0;
    for (int64_t j = 0; j < state->count; j++) {
        double y = state->partials[j];
        if (__builtin_fabs(x) < __builtin_fabs(y)) {
            double t = x;
            x = y, y = t;
        }
        Pair s = sum_ordered(x, y);
        if (s.lo != 0) state->partials[used++] = s.lo;
        x = s.hi;
    }
    state->count = used;
    if (x == 0) return;
    if (!rt_isfinite(x)) {
        if (rt_isfinite(given)) state->overflow = 1;
        if (rt_isinf(given)) state->infinities += given;
        state->special += given;
        state->count = 0;
    } else if (used < PARTIALS) {
        state->partials[state->count++] = x;
    }
}

/* The partial sums are added from the largest; the last rounding is put right where it was a tie broken the wrong way.
 */
int32_t krait_rt_fsum_total(FsumState *state, double *out) {
    const double *p = state->partials;
    int64_t n = state->count;
    double hi = 0, lo = 0;
    *out = state->special;
    if (state->overflow) return *out = RT_INF, 1;
    if (state->special != 0) {
        if (rt_isnan(state->infinities)) return *out = RT_NAN, 2;
        return 0;
    }
    if (n > 0) hi = p[--n];
    while (n > 0) {
        Pair s = sum_ordered(hi, p[--n]);
        hi = s.hi, lo = s.lo;
        if (lo != 0) break;
    }
    if (n > 0 && ((lo < 0 && p[n - 1] < 0) || (lo > 0 && p[n - 1] > 0))) {
        double twice = lo * 2, x = hi + twice;
        if (twice == x - hi) hi = x;
    }
    *out = hi;
    return 0;
}

/* ---- sumprod ---- */

typedef struct Triple {
    double hi, lo, tiny;
} Triple;

static double triple_value(Triple t) {
    Pair last = sum(t.lo, t.tiny), all = sum(t.hi, last.hi);
    return all.hi + (all.lo + last.lo);
}

double krait_rt_sumprod(const double *p, const double *q, int64_t n) {
    Triple t = {0, 0, 0};
    for (int64_t i = 0; i < n; i++) {
        Pair term = product(p[i], q[i]), s = sum(t.hi, term.hi);
        if (!rt_isfinite(s.hi)) { /* from here on as plain floats */
            double total = triple_value(t);
            for (; i < n; i++) total += p[i] * q[i];
            return total;
        }
        Pair low = sum(t.lo, term.lo), middle = sum(low.hi, s.lo);
        t = (Triple){s.hi, middle.hi, t.tiny + low.lo + middle.lo};
    }
    return triple_value(t);
}
