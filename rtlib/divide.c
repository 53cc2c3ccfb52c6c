/* divide.c: a / b of two Python ints, rounded once, as CPython divides: for ints that are not all floats.
 *
 * Input: two int64.  Output: the nearest float64; by zero, what floats give.  Algorithm: the quotient of |a| * 2**shift
 * and |b| by long division in base two, with at least 55 bits and a last bit that tells whether anything is left over;
 * rounding that to 53 bits is rounding the exact quotient. */
#include "rt.h"

static int bits_of(uint64_t x) { return x ? 64 - __builtin_clzll(x) : 0; }

double krait_rt_truediv_l(int64_t a, int64_t b);

double krait_rt_truediv_l(int64_t a, int64_t b) {
    uint64_t n = a < 0 ? -(uint64_t)a : (uint64_t)a, d = b < 0 ? -(uint64_t)b : (uint64_t)b, quotient = 0, rest = 0;
    if (!d) return (double)a / (double)b;
    int shift = 55 + bits_of(d) - bits_of(n);
    if (shift < 0) shift = 0;
    for (int i = bits_of(n) + shift - 1; i >= 0; i--) {
        bool carry = rest >> 63; /* only when d is 2**63 */
        rest = rest << 1 | (i >= shift ? n >> (i - shift) & 1 : 0);
        bool fits = carry || rest >= d;
        if (fits) rest -= d;
        quotient = quotient << 1 | fits;
    }
    double result = (double)(quotient | (rest != 0));
    result *= rt_double((uint64_t)(1023 - shift)
                        << 52); /* exact: a power of two, and the result is far from the least float */
    return (a < 0) != (b < 0) ? -result : result;
}
