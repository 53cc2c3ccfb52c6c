/* invalid.c: of the elements of a ufunc, whether one has made what is no number of numbers.
 *
 * In: a generated loop of a ufunc whose elements compare floating-point numbers, and what NumPy gave it.  Out: every
 * element computed; the flag "invalid" is left set only where an element set it that came of numbers alone.
 *
 * x86 sets the flag where a NaN is compared, in vectors and in some comparisons of single numbers, and NumPy does not
 * tell of that.  Of arithmetic it tells where a NaN comes of other numbers.  So when the flag has been set, the elements
 * without a NaN are gathered, and the loop is asked what it does with them, its results thrown away.  Data without NaN
 * cost nothing but a look at the flags.  Where elements cannot be computed again, or inputs have been written over, one
 * NaN among the inputs is taken for the cause. */
#include <fenv.h>   /* fetestexcept */
#include <string.h> /* memcpy */

#include "runtime/host/host.h"

enum { GATHERED = 256, MOST_OPERANDS = 32, MOST_BYTES = 16 };

#if defined(__x86_64__)
enum { INVALID = 1 }; /* the C library's functions are for two units of x86, and slow */
static bool invalid(void) { return __builtin_ia32_stmxcsr() & INVALID; }
static void clear_invalid(void) { __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() & ~(unsigned)INVALID); }
#else
static bool invalid(void) { return fetestexcept(FE_INVALID); }
static void clear_invalid(void) { feclearexcept(FE_INVALID); }
#endif

typedef struct Elements {
    HostInner *loop;
    const char *bytes, *kinds; /* of each operand, inputs first */
    int inputs, count;
    bool repeats;
    char *const *start;
    int64_t elements;
    const int64_t *step;
    void *data;
} Elements;

/* ---- NaN ---- */

static bool is_nan16(const char *at) {
    uint16_t bits;
    memcpy(&bits, at, sizeof bits);
    return (bits & 0x7fff) > 0x7c00;
}

static bool is_nan32(const char *at) {
    uint32_t bits;
    memcpy(&bits, at, sizeof bits);
    return (bits & 0x7fffffff) > 0x7f800000;
}

static bool is_nan64(const char *at) {
    uint64_t bits;
    memcpy(&bits, at, sizeof bits);
    return (bits & INT64_MAX) > 0x7ff0000000000000;
}

static bool is_nan(char kind, int bytes, const char *at) {
    if (kind == 'c') return bytes == 8 ? is_nan32(at) || is_nan32(at + 4) : is_nan64(at) || is_nan64(at + 8);
    if (kind != 'f') return false;
    return bytes == 2 ? is_nan16(at) : bytes == 4 ? is_nan32(at) : is_nan64(at);
}

static bool has_nan(const Elements *e, int64_t i) {
    for (int k = 0; k < e->inputs; k++)
        if (is_nan(e->kinds[k], e->bytes[k], e->start[k] + i * e->step[k])) return true;
    return false;
}

/* ---- the question ---- */

/* Whether a result has been written over inputs. */
static bool inputs_are_gone(const Elements *e) {
    for (int out = e->inputs; out < e->count; out++)
        for (int in = 0; in < e->inputs; in++) {
            const char *a = e->start[out], *b = e->start[in];
            int64_t last = e->elements - 1, a_end = e->step[out] * last, b_end = e->step[in] * last;
            const char *a_low = a_end < 0 ? a + a_end : a, *a_high = (a_end < 0 ? a : a + a_end) + e->bytes[out];
            const char *b_low = b_end < 0 ? b + b_end : b, *b_high = (b_end < 0 ? b : b + b_end) + e->bytes[in];
            if (a_low < b_high && b_low < a_high) return true;
        }
    return false;
}

static bool some_nan(const Elements *e) {
    for (int64_t i = 0; i < e->elements; i++)
        if (has_nan(e, i)) return true;
    return false;
}

/* Whether elements from `*next` on that have no NaN, as many as the buffers hold, set the flag. */
static bool numbers_set_it(const Elements *e, int64_t *next) {
    _Alignas(64) char memory[e->count][GATHERED * MOST_BYTES];
    char *at[MOST_OPERANDS];
    int64_t step[MOST_OPERANDS], count = 0;
    for (int k = 0; k < e->count; k++) at[k] = memory[k], step[k] = e->bytes[k];
    for (; *next < e->elements && count < GATHERED; ++*next) {
        if (has_nan(e, *next)) continue;
        for (int k = 0; k < e->inputs; k++)
            memcpy(at[k] + count * step[k], e->start[k] + *next * e->step[k], (size_t)e->bytes[k]);
        count++;
    }
    clear_invalid();
    if (count) e->loop(at, &count, step, e->data);
    return invalid();
}

static bool numbers_set_invalid(const Elements *e) {
    for (int64_t next = 0; next < e->elements;)
        if (numbers_set_it(e, &next)) return true;
    return false;
}

void krait_host_quiet(HostInner *loop, const char *bytes, const char *kinds, int32_t inputs, int32_t repeats,
                      char *const *start, const int64_t *elements, const int64_t *step, void *data) {
    Elements e = {loop, bytes, kinds, inputs, (int)strlen(bytes), repeats != 0, start, *elements, step, data};
    bool before = invalid(), begins = !before && e.elements > 0 && has_nan(&e, 0); /* what reduce begins with */
    loop(start, elements, step, data);
    if (before || !invalid()) return;
    bool own = e.repeats && !inputs_are_gone(&e) ? numbers_set_invalid(&e) : !begins && !some_nan(&e);
    if (!own) clear_invalid();
}
