/* complex.c: functions of complex numbers.
 *
 * cm_*: the cmath module, operation for operation (the formulas are W. Kahan's, Branch cuts for complex elementary
 * functions, 1987); values at infinities and NaN are in one table, those of C99's Annex G.  krait_rt_c*: NumPy's
 * functions: on the host the C library's, which NumPy calls, on a GPU the same formulas as cmath.  complex64 is
 * computed in complex128 there.  NumPy's other functions are in complex_numpy.c.
 *
 * Input: parts by value.  Output: through a pointer, real part first.  check_*: which error cmath raises: 1 domain, 2
 * range. */
#include "rt.h"

typedef struct Complex {
    double re, im;
} Complex;

static inline void give(double *out, Complex z) { out[0] = z.re, out[1] = z.im; }

#define LARGE      (DBL_MAX / 4)          /* beyond it hypot may overflow */
#define SQRT_LARGE 0x1.fffffffffffffp+510 /* sqrt(LARGE) */
#define LOG_LARGE  0x1.6232bdd7abcd2p+9   /* log(LARGE) */
#define SQRT_MIN   0x1p-511               /* sqrt(DBL_MIN) */

/* ---- values where a part is an infinity or NaN ----
 * Seven rows (real part: -inf, negative, -0, +0, positive, inf, NaN) of seven pairs (imaginary part likewise).  Z 0, O
 * 1, I inf, N NaN, Q T H P: pi/4, 3 pi/4, pi/2, pi; small letters: negated; dots: both parts are finite. */

enum { ACOS, ACOSH, ASINH, ATANH, COSH, EXP, LOG, SINH, SQRT, TANH, RECT, TABLES };

#define OF_LOGARITHMS \
    "ItIpIpIPIPITIN"  \
    "Ih........IHNN"  \
    "Ih........IHNN"  \
    "Ih........IHNN"  \
    "Ih........IHNN"  \
    "IqIzIzIZIZIQIN"  \
    "INNNNNNNNNINNN"
static const char special_values[TABLES][99] = {
    [ACOS] = "TIPIPIPiPiTiNI"
             "HI........HiNN"
             "HI........HiHN"
             "HI........HiHN"
             "HI........HiNN"
             "QIZIZIZiZiQiNI"
             "NINNNNNNNNNiNN",
    [ACOSH] = OF_LOGARITHMS,
    [ASINH] = "iqiziziZiZiQiN"
              "ih........iHNN"
              "ih........iHNN"
              "Ih........IHNN"
              "Ih........IHNN"
              "IqIzIzIZIZIQIN"
              "INNNNzNZNNINNN",
    [ATANH] = "zhzhzhzHzHzHzN"
              "zh........zHNN"
              "zh........zHzN"
              "Zh........ZHZN"
              "Zh........ZHNN"
              "ZhZhZhZHZHZHZN"
              "ZhNNNNNNNNZHNN",
    [COSH] = "INIIIZIzIiININ"
             "NN........NNNN"
             "NZ........NZNZ"
             "NZ........NZNZ"
             "NN........NNNN"
             "INIiIzIZIIININ"
             "NNNNNZNZNNNNNN",
    [EXP] = "ZZZzZzZZZZZZZZ"
            "NN........NNNN"
            "NN........NNNN"
            "NN........NNNN"
            "NN........NNNN"
            "INIiIzIZIIININ"
            "NNNNNzNZNNNNNN",
    [LOG] = OF_LOGARITHMS,
    [SINH] = "INiiiziZiIININ"
             "NN........NNNN"
             "zN........zNZN"
             "ZN........ZNZN"
             "NN........NNNN"
             "INIiIzIZIIININ"
             "NNNNNzNZNNNNNN",
    [SQRT] = "IiZiZiZIZIIINI"
             "Ii........IINN"
             "Ii........IINN"
             "Ii........IINN"
             "Ii........IINN"
             "IiIzIzIZIZIIIN"
             "IiNNNNNNNNIINN",
    [TANH] = "oZozozoZoZoZoZ"
             "NN........NNNN"
             "zN........zNNN"
             "ZN........ZNNN"
             "NN........NNNN"
             "OZOzOzOZOZOZOZ"
             "NNNNNzNZNNNNNN",
    [RECT] = "NNiIiZiziiNNIN"
             "NN........NNNN"
             "ZZ........ZZZZ"
             "ZZ........ZZZZ"
             "NN........NNNN"
             "NNIiIzIZIINNIN"
             "NNNNNZNZNNNNNN",
};

static double special_value(char code) {
    bool negative = code >= 'a';
    double x;
    switch (negative ? code - 32 : code) {
    case 'Z': x = 0; break;
    case 'O': x = 1; break;
    case 'I': x = RT_INF; break;
    case 'Q': x = RT_PI / 4; break;
    case 'T': x = 3 * (RT_PI / 4); break;
    case 'H': x = RT_PI / 2; break;
    case 'P': x = RT_PI; break;
    default: return RT_NAN;
    }
    return negative ? -x : x;
}

static int special_row(double x) {
    if (rt_isnan(x)) return 6;
    bool negative = __builtin_copysign(1.0, x) < 0;
    if (rt_isinf(x)) return negative ? 0 : 5;
    return x == 0 ? (negative ? 2 : 3) : negative ? 1 : 4;
}

static inline bool finite2(double a, double b) { return rt_isfinite(a) && rt_isfinite(b); }

static __attribute__((noinline)) Complex special(int table, double x, double y) {
    const char *pair = special_values[table] + 14 * special_row(x) + 2 * special_row(y);
    return (Complex){special_value(pair[0]), special_value(pair[1])};
}

/* An infinite modulus in the direction y, turned to the sides its cosine and sine point to. */
static Complex infinite_towards(double modulus, double y) {
    return (Complex){__builtin_copysign(modulus, m_cos(y)), __builtin_copysign(modulus, m_sin(y))};
}

/* ---- the functions ---- */

static inline bool is_large(double x, double y) { return __builtin_fabs(x) > LARGE || __builtin_fabs(y) > LARGE; }
/* log(|z|) of a large z. */
static double log_large(double x, double y) { return m_log(m_hypot(x / 2, y / 2)) + RT_LN2 * 2; }

static Complex c_sqrt(Complex z) {
    if (!finite2(z.re, z.im)) return special(SQRT, z.re, z.im);
    double ax = __builtin_fabs(z.re), ay = __builtin_fabs(z.im), s, d;
    if (z.re == 0 && z.im == 0) return (Complex){0, z.im};
    if (ax < DBL_MIN && ay < DBL_MIN) { /* hypot would be subnormal */
        ax *= 0x1p53;
        s = __builtin_sqrt(ax + m_hypot(ax, ay * 0x1p53)) * 0x1p-27;
    } else {
        ax /= 8;
        s = 2 * __builtin_sqrt(ax + m_hypot(ax, ay / 8));
    }
    d = ay / (2 * s);
    if (z.re >= 0) return (Complex){s, __builtin_copysign(d, z.im)};
    return (Complex){d, __builtin_copysign(s, z.im)};
}

static Complex c_acos(Complex z) {
    if (!finite2(z.re, z.im)) return special(ACOS, z.re, z.im);
    if (is_large(z.re, z.im)) {
        double log_modulus = log_large(z.re, z.im);
        double im = z.re < 0 ? -__builtin_copysign(log_modulus, z.im) : __builtin_copysign(log_modulus, -z.im);
        return (Complex){m_atan2(__builtin_fabs(z.im), z.re), im};
    }
    Complex s1 = c_sqrt((Complex){1 - z.re, -z.im}), s2 = c_sqrt((Complex){1 + z.re, z.im});
    return (Complex){2 * m_atan2(s1.re, s2.re), m_asinh(s2.re * s1.im - s2.im * s1.re)};
}

static Complex c_acosh(Complex z) {
    if (!finite2(z.re, z.im)) return special(ACOSH, z.re, z.im);
    if (is_large(z.re, z.im)) return (Complex){log_large(z.re, z.im), m_atan2(z.im, z.re)};
    Complex s1 = c_sqrt((Complex){z.re - 1, z.im}), s2 = c_sqrt((Complex){z.re + 1, z.im});
    return (Complex){m_asinh(s1.re * s2.re + s1.im * s2.im), 2 * m_atan2(s1.im, s2.re)};
}

static Complex c_asinh(Complex z) {
    if (!finite2(z.re, z.im)) return special(ASINH, z.re, z.im);
    if (is_large(z.re, z.im)) {
        double log_modulus = log_large(z.re, z.im);
        double re = z.im >= 0 ? __builtin_copysign(log_modulus, z.re) : -__builtin_copysign(log_modulus, -z.re);
        return (Complex){re, m_atan2(z.im, __builtin_fabs(z.re))};
    }
    Complex s1 = c_sqrt((Complex){1 + z.im, -z.re}), s2 = c_sqrt((Complex){1 - z.im, z.re});
    return (Complex){m_asinh(s1.re * s2.im - s2.re * s1.im), m_atan2(z.im, s1.re * s2.re - s1.im * s2.im)};
}

/* For re >= 0; -1 / 1 is where it has poles. */
static Complex atanh_right(Complex z) {
    double ay = __builtin_fabs(z.im);
    if (z.re > SQRT_LARGE || ay > SQRT_LARGE) {
        double h = m_hypot(z.re / 2, z.im / 2);
        return (Complex){z.re / 4 / h / h, -__builtin_copysign(RT_PI / 2, -z.im)};
    }
    if (z.re == 1 && ay < SQRT_MIN) {
        if (ay == 0) return (Complex){RT_INF, z.im};
        double re = -m_log(__builtin_sqrt(ay) / __builtin_sqrt(m_hypot(ay, 2.0)));
        return (Complex){re, __builtin_copysign(m_atan2(2.0, -ay) / 2, z.im)};
    }
    double re = m_log1p(4 * z.re / ((1 - z.re) * (1 - z.re) + ay * ay)) / 4;
    return (Complex){re, -m_atan2(-2 * z.im, (1 - z.re) * (1 + z.re) - ay * ay) / 2};
}

static Complex c_atanh(Complex z) {
    if (!finite2(z.re, z.im)) return special(ATANH, z.re, z.im);
    if (__builtin_copysign(1.0, z.re) > 0) return atanh_right(z);
    Complex r = atanh_right((Complex){-z.re, -z.im});
    return (Complex){-r.re, -r.im};
}

/* cosh or sinh, beyond the range of cosh(re), whose product with a small cosine may still be finite. */
static Complex hyperbolic(Complex z, bool sine) {
    double c = m_cos(z.im), s = m_sin(z.im), x = z.re, scale = 1;
    bool large = __builtin_fabs(x) > LOG_LARGE;
    if (large) x -= __builtin_copysign(1.0, x), scale = RT_E;
    double first = c * (sine ? m_sinh(x) : m_cosh(x)), second = s * (sine ? m_cosh(x) : m_sinh(x));
    return large ? (Complex){first * scale, second * scale} : (Complex){first, second};
}

static inline bool infinite_real(Complex z) { return rt_isinf(z.re) && rt_isfinite(z.im) && z.im != 0; }

static Complex c_cosh(Complex z) {
    if (finite2(z.re, z.im)) return hyperbolic(z, false);
    if (!infinite_real(z)) return special(COSH, z.re, z.im);
    Complex r = infinite_towards(RT_INF, z.im);
    return z.re > 0 ? r : (Complex){r.re, -r.im};
}

static Complex c_sinh(Complex z) {
    if (finite2(z.re, z.im)) return hyperbolic(z, true);
    if (!infinite_real(z)) return special(SINH, z.re, z.im);
    Complex r = infinite_towards(RT_INF, z.im);
    return z.re > 0 ? r : (Complex){-r.re, r.im};
}

static Complex c_tanh(Complex z) {
    if (!finite2(z.re, z.im)) {
        if (!infinite_real(z)) return special(TANH, z.re, z.im);
        return (Complex){__builtin_copysign(1.0, z.re), __builtin_copysign(0.0, 2 * m_sin(z.im) * m_cos(z.im))};
    }
    if (__builtin_fabs(z.re) > LOG_LARGE) {
        double im = 4 * m_sin(z.im) * m_cos(z.im) * m_exp(-2 * __builtin_fabs(z.re));
        return (Complex){__builtin_copysign(1.0, z.re), im};
    }
    double tx = m_tanh(z.re), ty = m_tan(z.im), cx = 1 / m_cosh(z.re), txty = tx * ty, denominator = 1 + txty * txty;
    return (Complex){tx * (1 + ty * ty) / denominator, ((ty / denominator) * cx) * cx};
}

static Complex c_exp(Complex z) {
    if (!finite2(z.re, z.im)) {
        if (!infinite_real(z)) return special(EXP, z.re, z.im);
        return infinite_towards(z.re > 0 ? RT_INF : 0, z.im);
    }
    if (z.re > LOG_LARGE) {
        double l = m_exp(z.re - 1);
        return (Complex){l * m_cos(z.im) * RT_E, l * m_sin(z.im) * RT_E};
    }
    double l = m_exp(z.re);
    return (Complex){l * m_cos(z.im), l * m_sin(z.im)};
}

static Complex c_log(Complex z) {
    if (!finite2(z.re, z.im)) return special(LOG, z.re, z.im);
    double ax = __builtin_fabs(z.re), ay = __builtin_fabs(z.im), re;
    if (ax > LARGE || ay > LARGE) {
        re = m_log(m_hypot(ax / 2, ay / 2)) + RT_LN2;
    } else if (ax < DBL_MIN && ay < DBL_MIN) {
        re = ax > 0 || ay > 0 ? m_log(m_hypot(ax * 0x1p53, ay * 0x1p53)) - 53 * RT_LN2 : -RT_INF;
    } else {
        double h = m_hypot(ax, ay), greater = ax > ay ? ax : ay, less = ax > ay ? ay : ax;
        re = 0.71 <= h && h <= 1.73 ? m_log1p((greater - 1) * (greater + 1) + less * less) / 2 : m_log(h);
    }
    return (Complex){re, m_atan2(z.im, z.re)};
}

/* Quotient as the interpreter divides complex numbers (R. L. Smith, 1962); by zero: NaN. */
static Complex c_quotient(Complex a, Complex b) {
    double br = __builtin_fabs(b.re), bi = __builtin_fabs(b.im);
    if (br >= bi) {
        if (br == 0) return (Complex){RT_NAN, RT_NAN};
        double ratio = b.im / b.re, denominator = b.re + b.im * ratio;
        return (Complex){(a.re + a.im * ratio) / denominator, (a.im - a.re * ratio) / denominator};
    }
    if (!(bi >= br)) return (Complex){RT_NAN, RT_NAN};
    double ratio = b.re / b.im, denominator = b.re * ratio + b.im;
    return (Complex){(a.re * ratio + a.im) / denominator, (a.im * ratio - a.re) / denominator};
}

/* i z and z / i lead the circular functions back to the hyperbolic ones. */
static inline Complex turn(Complex z) { return (Complex){-z.im, z.re}; }
static inline Complex turn_back(Complex z) { return (Complex){z.im, -z.re}; }

static Complex c_asin(Complex z) { return turn_back(c_asinh(turn(z))); }
static Complex c_atan(Complex z) { return turn_back(c_atanh(turn(z))); }
static Complex c_cos(Complex z) { return c_cosh(turn(z)); }
static Complex c_sin(Complex z) { return turn_back(c_sinh(turn(z))); }
static Complex c_tan(Complex z) { return turn_back(c_tanh(turn(z))); }

static Complex c_log10(Complex z) {
    Complex r = c_log(z);
    return (Complex){r.re / RT_LN10, r.im / RT_LN10};
}

#define CMATH(name) \
    void krait_rt_cm_##name##_D(double re, double im, double *out) { give(out, c_##name((Complex){re, im})); }
CMATH(acos)
CMATH(acosh)
CMATH(asin)
CMATH(asinh)
CMATH(atan)
CMATH(atanh)
CMATH(cos)
CMATH(cosh)
CMATH(exp)
CMATH(log)
CMATH(log10)
CMATH(sin)
CMATH(sinh)
CMATH(sqrt)
CMATH(tan)
CMATH(tanh)

void krait_rt_cm_log_base_D(double re, double im, double base_re, double base_im, double *out) {
    give(out, c_quotient(c_log((Complex){re, im}), c_log((Complex){base_re, base_im})));
}

double krait_rt_cm_phase_D(double re, double im) { return m_atan2(im, re); }
/* The interpreter takes the C library's report of an underflow for an overflow. */
int32_t krait_rt_check_cm_phase_D(double re, double im, double result) {
    return result == 0 && im != 0 && rt_isfinite(re) ? 2 : 0;
}

void krait_rt_cm_polar_D(double re, double im, double *modulus, double *angle) {
    *modulus = m_hypot(re, im), *angle = m_atan2(im, re);
}

void krait_rt_cm_rect_d(double modulus, double angle, double *out) {
    if (!finite2(modulus, angle)) {
        if (rt_isinf(modulus) && rt_isfinite(angle) && angle != 0) {
            Complex z = infinite_towards(RT_INF, angle);
            give(out, modulus > 0 ? z : (Complex){-z.re, -z.im});
        } else {
            give(out, special(RECT, modulus, angle));
        }
    } else if (angle == 0) {
        give(out, (Complex){modulus, modulus * angle});
    } else {
        give(out, (Complex){modulus * m_cos(angle), modulus * m_sin(angle)});
    }
}

int32_t krait_rt_cm_isnan_D(double re, double im) { return rt_isnan(re) || rt_isnan(im); }
int32_t krait_rt_cm_isinf_D(double re, double im) { return rt_isinf(re) || rt_isinf(im); }
int32_t krait_rt_cm_isfinite_D(double re, double im) { return finite2(re, im); }

int32_t krait_rt_cm_isclose_D(double are, double aim, double bre, double bim, double rel_tol, double abs_tol) {
    if (are == bre && aim == bim) return 1;
    if (rt_isinf(are) || rt_isinf(aim) || rt_isinf(bre) || rt_isinf(bim)) return 0;
    double difference = m_hypot(are - bre, aim - bim);
    return difference <= rel_tol * m_hypot(bre, bim) || difference <= rel_tol * m_hypot(are, aim) ||
           difference <= abs_tol;
}

/* ---- which error ---- */

enum { FINE, DOMAIN, RANGE };
#define CHECK(name, ...)                                                                 \
    int32_t krait_rt_check_cm_##name##_D(double re, double im, double rre, double rim) { \
        return (void)re, (void)im, (void)rre, (void)rim, (__VA_ARGS__);                  \
    }

static inline int32_t overflowed(double re, double im, double rre, double rim) {
    return finite2(re, im) && (rt_isinf(rre) || rt_isinf(rim)) ? RANGE : FINE;
}

CHECK(none, FINE)
CHECK(cosh, rt_isinf(im) && !rt_isnan(re) ? DOMAIN : overflowed(re, im, rre, rim))
CHECK(sinh, rt_isinf(im) && !rt_isnan(re) ? DOMAIN : overflowed(re, im, rre, rim))
CHECK(cos, rt_isinf(re) && !rt_isnan(im) ? DOMAIN : overflowed(re, im, rre, rim))
CHECK(sin, rt_isinf(re) && !rt_isnan(im) ? DOMAIN : overflowed(re, im, rre, rim))
CHECK(tanh, rt_isinf(im) && rt_isfinite(re) ? DOMAIN : FINE)
CHECK(tan, rt_isinf(re) && rt_isfinite(im) ? DOMAIN : FINE)
CHECK(exp, rt_isinf(im) && (rt_isfinite(re) || re > 0) ? DOMAIN : overflowed(re, im, rre, rim))
CHECK(log, re == 0 && im == 0 ? DOMAIN : FINE)
CHECK(atanh, __builtin_fabs(re) == 1 && im == 0 ? DOMAIN : FINE)
CHECK(atan, re == 0 && __builtin_fabs(im) == 1 ? DOMAIN : FINE)
CHECK(polar, overflowed(re, im, rre, 0))

int32_t krait_rt_check_cm_log_base_D(double re, double im, double base_re, double base_im, double rre, double rim) {
    (void)rre, (void)rim;
    (void)re, (void)im;
    return (base_re == 0 || base_re == 1) && base_im == 0 ? DOMAIN
                                                          : FINE; /* the interpreter forgets the error of log(0) */
}

int32_t krait_rt_check_cm_rect_d(double modulus, double angle, double rre, double rim) {
    (void)rre, (void)rim;
    return modulus != 0 && !rt_isnan(modulus) && rt_isinf(angle) ? DOMAIN : FINE;
}

int32_t krait_rt_check_isclose_D(double are, double aim, double bre, double bim, double rel_tol, double abs_tol,
                                 int64_t result) {
    (void)are, (void)aim, (void)bre, (void)bim, (void)result;
    return rel_tol < 0 || abs_tol < 0;
}

double krait_rt_abs_checked_D(double re, double im) { return m_hypot(re, im); }
int32_t krait_rt_check_abs_D(double re, double im, double result) { return finite2(re, im) && rt_isinf(result); }

/* ---- NumPy's universal functions ---- */

/* The C library's complex functions on the host, those of above on a GPU. */
#if defined(KRAIT_RT_HOST)
#define NUMPY_1(name, symbol64, symbol32)                            \
    double _Complex lib_##name(double _Complex) __asm__(symbol64);   \
    float _Complex lib_##name##f(float _Complex) __asm__(symbol32);  \
    void krait_rt_c##name##_D(double re, double im, double *out) {   \
        double _Complex r = lib_##name(__builtin_complex(re, im));   \
        out[0] = __real__ r, out[1] = __imag__ r;                    \
    }                                                                \
    void krait_rt_c##name##_F(float re, float im, float *out) {      \
        float _Complex r = lib_##name##f(__builtin_complex(re, im)); \
        out[0] = __real__ r, out[1] = __imag__ r;                    \
    }
#else
#define NUMPY_1(name, symbol64, symbol32)                                                                    \
    void krait_rt_c##name##_D(double re, double im, double *out) { give(out, c_##name((Complex){re, im})); } \
    void krait_rt_c##name##_F(float re, float im, float *out) {                                              \
        Complex r = c_##name((Complex){re, im});                                                             \
        out[0] = (float)r.re, out[1] = (float)r.im;                                                          \
    }
#endif
NUMPY_1(sin, "csin", "csinf")
NUMPY_1(cos, "ccos", "ccosf")
NUMPY_1(tan, "ctan", "ctanf")
NUMPY_1(asin, "casin", "casinf")
NUMPY_1(acos, "cacos", "cacosf")
NUMPY_1(atan, "catan", "catanf")
NUMPY_1(sinh, "csinh", "csinhf")
NUMPY_1(cosh, "ccosh", "ccoshf")
NUMPY_1(tanh, "ctanh", "ctanhf")
NUMPY_1(asinh, "casinh", "casinhf")
NUMPY_1(acosh, "cacosh", "cacoshf")
NUMPY_1(atanh, "catanh", "catanhf")
NUMPY_1(exp, "cexp", "cexpf")
NUMPY_1(log, "clog", "clogf")
NUMPY_1(sqrt, "csqrt", "csqrtf")
