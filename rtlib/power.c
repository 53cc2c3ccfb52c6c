/* power.c: x ** y of Python's complex numbers, operation for operation as CPython computes it.
 *
 * Input: parts by value.  Output: the power through a pointer; returned 0, or which error CPython raises: 1
 * ZeroDivisionError, 2 OverflowError. A whole real exponent up to 100 is a power by squaring, inverted if negative; the
 * rest goes through polar coordinates. */
#include "rt.h"

typedef struct Complex {
    double re, im;
} Complex;

static inline Complex product(Complex a, Complex b) {
    return (Complex){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

/* 1 / b by Smith's method */
static Complex inverse(Complex b, bool *zero) {
    double abs_re = __builtin_fabs(b.re), abs_im = __builtin_fabs(b.im);
    if (abs_re >= abs_im) {
        *zero = abs_re == 0;
        if (*zero) return (Complex){0, 0};
        double ratio = b.im / b.re, denominator = b.re + b.im * ratio;
        return (Complex){(1 + 0.0 * ratio) / denominator, (0.0 - ratio) / denominator};
    }
    if (!(abs_im >= abs_re)) return (Complex){RT_NAN, RT_NAN};
    double ratio = b.re / b.im, denominator = b.re * ratio + b.im;
    return (Complex){(ratio + 0.0) / denominator, (0.0 * ratio - 1) / denominator};
}

static Complex whole_power(Complex x, int n, bool *zero) {
    Complex result = {1, 0}, power = x;
    long count = n < 0 ? -(long)n : n;
    for (long mask = 1; mask > 0 && count >= mask; mask <<= 1) {
        if (count & mask) result = product(result, power);
        power = product(power, power);
    }
    return n > 0 ? result : inverse(result, zero);
}

static Complex polar_power(Complex a, Complex b, bool *zero) {
    if (b.re == 0 && b.im == 0) return (Complex){1, 0};
    if (a.re == 0 && a.im == 0) {
        *zero = b.im != 0 || b.re < 0;
        return (Complex){0, 0};
    }
    double magnitude = m_hypot(a.re, a.im), length = m_pow(magnitude, b.re), angle = m_atan2(a.im, a.re),
           phase = angle * b.re;
    if (b.im != 0) {
        length /= m_exp(angle * b.im);
        phase += b.im * m_log(magnitude);
    }
    *zero = rt_isinf(phase); /* the C library's cos reports a domain error then, which CPython takes for its own */
    return (Complex){length * m_cos(phase), length * m_sin(phase)};
}

int32_t krait_rt_pypow_D(double ar, double ai, double br, double bi, double *out);

int32_t krait_rt_pypow_D(double ar, double ai, double br, double bi, double *out) {
    bool zero = false;
    bool whole = bi == 0 && br == __builtin_floor(br) && __builtin_fabs(br) <= 100;
    Complex a = {ar, ai}, result = whole ? whole_power(a, (int)br, &zero) : polar_power(a, (Complex){br, bi}, &zero);
    out[0] = result.re, out[1] = result.im;
    if (zero) return 1;
    return rt_isinf(result.re) || rt_isinf(result.im) ? 2 : 0;
}
