/* complex_numpy.c: NumPy's functions of complex numbers that are made of others, or that no C library has.
 *
 * Input and output as in complex.c, which has the others.  On a GPU complex64 is computed in complex128 where a
 * logarithm or an exponential is. */
#include "rt.h"

#define USED(name)                                                \
    void krait_rt_c##name##_D(double re, double im, double *out); \
    void krait_rt_c##name##_F(float re, float im, float *out);
USED(sqrt)
USED(exp)
USED(log)

#define NUMPY_BOTH(definition) definition(double, D, ) definition(float, F, f)

#define NUMPY_MORE(T, S, F)                                                                                        \
    void krait_rt_sqrt_##S(T re, T im, T *out) { krait_rt_csqrt_##S(re, im, out); }                                \
    void krait_rt_cexp2_##S(T re, T im, T *out) { krait_rt_cexp_##S(re * (T)RT_LN2, im * (T)RT_LN2, out); }        \
    void krait_rt_clog2_##S(T re, T im, T *out) {                                                                  \
        krait_rt_clog_##S(re, im, out);                                                                            \
        out[0] *= (T)RT_LOG2E, out[1] *= (T)RT_LOG2E;                                                              \
    }                                                                                                              \
    void krait_rt_clog10_##S(T re, T im, T *out) {                                                                 \
        krait_rt_clog_##S(re, im, out);                                                                            \
        out[0] *= (T)RT_LOG10E, out[1] *= (T)RT_LOG10E;                                                            \
    }                                                                                                              \
    void krait_rt_clog1p_##S(T re, T im, T *out) {                                                                 \
        T modulus = m_hypot##F(re + 1, im);                                                                        \
        out[1] = m_atan2##F(im, re + 1), out[0] = m_log##F(modulus);                                               \
    }                                                                                                              \
    void krait_rt_cexpm1_##S(T re, T im, T *out) {                                                                 \
        T half = m_sin##F(im / 2);                                                                                 \
        out[0] = m_expm1##F(re) * m_cos##F(im) - 2 * half * half, out[1] = m_exp##F(re) * m_sin##F(im);            \
    }                                                                                                              \
    T krait_rt_abs_##S(T re, T im) { return m_hypot##F(re, im); }                                                  \
    void krait_rt_conj_##S(T re, T im, T *out) { out[0] = re, out[1] = -im; }                                      \
    void krait_rt_rint_##S(T re, T im, T *out) { out[0] = __builtin_rint##F(re), out[1] = __builtin_rint##F(im); } \
    int32_t krait_rt_isnan_##S(T re, T im) { return re != re || im != im; }                                        \
    int32_t krait_rt_isinf_##S(T re, T im) { return rt_isinf(re) || rt_isinf(im); }                                \
    int32_t krait_rt_isfinite_##S(T re, T im) { return rt_isfinite(re) && rt_isfinite(im); }                       \
    void krait_rt_sign_##S(T re, T im, T *out) {                                                                   \
        T modulus = m_hypot##F(re, im);                                                                            \
        if (modulus != modulus || (rt_isinf(re) && rt_isinf(im))) {                                                \
            out[0] = out[1] = (T)RT_NAN;                                                                           \
        } else if (rt_isinf(modulus) && (rt_isinf(re) || rt_isinf(im))) {                                          \
            out[0] = rt_isinf(re) ? (re > 0 ? 1 : -1) : 0, out[1] = rt_isinf(im) ? (im > 0 ? 1 : -1) : 0;          \
        } else {                                                                                                   \
            out[0] = modulus == 0 ? 0 : re / modulus, out[1] = modulus == 0 ? 0 : im / modulus;                    \
        }                                                                                                          \
    }                                                                                                              \
    void krait_rt_reciprocal_##S(T re, T im, T *out) {                                                             \
        if (__builtin_fabs##F(im) <= __builtin_fabs##F(re)) {                                                      \
            T ratio = im / re, denominator = re + im * ratio;                                                      \
            out[0] = 1 / denominator, out[1] = -ratio / denominator;                                               \
        } else {                                                                                                   \
            T ratio = re / im, denominator = re * ratio + im;                                                      \
            out[0] = ratio / denominator, out[1] = -1 / denominator;                                               \
        }                                                                                                          \
    }                                                                                                              \
    /* order: real parts, then imaginary parts; NumPy's comparison of complex numbers */                           \
    static inline bool not_below_##S(T ar, T ai, T br, T bi) {                                                     \
        return (ar > br && ai == ai && bi == bi) || (ar == br && ai >= bi);                                        \
    }                                                                                                              \
    static inline void pick_##S(bool a, T ar, T ai, T br, T bi, T *out) {                                          \
        out[0] = a ? ar : br, out[1] = a ? ai : bi;                                                                \
    }                                                                                                              \
    static inline bool nan_##S(T re, T im) { return re != re || im != im; }                                        \
    void krait_rt_maximum_##S(T ar, T ai, T br, T bi, T *out) {                                                    \
        pick_##S(nan_##S(ar, ai) || not_below_##S(ar, ai, br, bi), ar, ai, br, bi, out);                           \
    }                                                                                                              \
    void krait_rt_minimum_##S(T ar, T ai, T br, T bi, T *out) {                                                    \
        pick_##S(nan_##S(ar, ai) || not_below_##S(br, bi, ar, ai), ar, ai, br, bi, out);                           \
    }                                                                                                              \
    void krait_rt_fmax_##S(T ar, T ai, T br, T bi, T *out) {                                                       \
        pick_##S(nan_##S(br, bi) || not_below_##S(ar, ai, br, bi), ar, ai, br, bi, out);                           \
    }                                                                                                              \
    void krait_rt_fmin_##S(T ar, T ai, T br, T bi, T *out) {                                                       \
        pick_##S(nan_##S(br, bi) || not_below_##S(br, bi, ar, ai), ar, ai, br, bi, out);                           \
    }
NUMPY_BOTH(NUMPY_MORE)

/* ---- NumPy's power: small integer exponents by multiplication, the rest by the C library ---- */

#if defined(KRAIT_RT_HOST)
double _Complex lib_pow(double _Complex, double _Complex) __asm__("cpow");
float _Complex lib_powf(float _Complex, float _Complex) __asm__("cpowf");
#define POWER_REST(T, F)                                                             \
    T _Complex r = lib_pow##F(__builtin_complex(ar, ai), __builtin_complex(br, bi)); \
    out[0] = __real__ r, out[1] = __imag__ r;
#else
#define POWER_REST(T, F)                                                                         \
    double l[2], r[2];                                                                           \
    krait_rt_clog_D(ar, ai, l), krait_rt_cexp_D(br *l[0] - bi * l[1], br * l[1] + bi * l[0], r); \
    out[0] = (T)r[0], out[1] = (T)r[1];
#endif

#define POWER(T, S, F)                                                                                        \
    void krait_rt_cpow_##S(T ar, T ai, T br, T bi, T *out) {                                                  \
        if (br == 0 && bi == 0) {                                                                             \
            out[0] = 1, out[1] = 0;                                                                           \
            return;                                                                                           \
        }                                                                                                     \
        if (ar == 0 && ai == 0) {                                                                             \
            bool zero = br > 0;                                                                               \
            out[0] = zero ? 0 : (T)RT_NAN, out[1] = zero ? 0 : (T)RT_NAN;                                     \
            return;                                                                                           \
        }                                                                                                     \
        if (bi == 0 && br > -100 && br < 100 && br == (T)(int)br) {                                           \
            int n = (int)br;                                                                                  \
            unsigned mask = 1, count = (unsigned)(n < 0 ? -n : n);                                            \
            T rr = 1, ri = 0, pr = ar, pi = ai, t;                                                            \
            if (n == 1) {                                                                                     \
                out[0] = ar, out[1] = ai;                                                                     \
                return;                                                                                       \
            }                                                                                                 \
            if (n == 2 || n == 3) {                                                                           \
                rr = ar * ar - ai * ai, ri = ar * ai + ai * ar;                                               \
                if (n == 3) t = ar * rr - ai * ri, ri = ar * ri + ai * rr, rr = t;                            \
                out[0] = rr, out[1] = ri;                                                                     \
                return;                                                                                       \
            }                                                                                                 \
            for (;;) {                                                                                        \
                if (count & mask) t = rr * pr - ri * pi, ri = rr * pi + ri * pr, rr = t;                      \
                mask <<= 1;                                                                                   \
                if (count < mask) break;                                                                      \
                t = pr * pr - pi * pi, pi = pr * pi + pi * pr, pr = t;                                        \
            }                                                                                                 \
            if (n < 0 && rr == 0 && ri == 0) {                                                                \
                rr = 1 / __builtin_fabs##F(rr), ri = RT_NAN;                                                  \
            } else if (n < 0) { /* 1 / r as NumPy divides: by the reciprocal of Smith's denominator */        \
                bool by_re = __builtin_fabs##F(rr) >= __builtin_fabs##F(ri);                                  \
                T ratio = by_re ? ri / rr : rr / ri, scale = 1 / (by_re ? rr + ri * ratio : ri + rr * ratio); \
                rr = (by_re ? 1 : ratio + 0) * scale, ri = (by_re ? 0 - ratio : -1) * scale;                  \
            }                                                                                                 \
            out[0] = rr, out[1] = ri;                                                                         \
            return;                                                                                           \
        }                                                                                                     \
        POWER_REST(T, F)                                                                                      \
    }                                                                                                         \
    void krait_rt_power_##S(T ar, T ai, T br, T bi, T *out) { krait_rt_cpow_##S(ar, ai, br, bi, out); }       \
    int32_t krait_rt_check_power_##S(T ar, T ai, T br, T bi, T rr, T ri) {                                    \
        return (void)ar, (void)ai, (void)br, (void)bi, (void)rr, (void)ri, 0;                                 \
    }
NUMPY_BOTH(POWER)
