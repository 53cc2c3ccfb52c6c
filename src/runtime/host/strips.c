/* strips.c: the elements of a ufunc, a strip of contiguous memory at a time.
 *
 * In: what NumPy gives an inner loop, and generated code that takes contiguous operands (codegen_cpu/entry_ufunc.c).
 * Out: every element computed; or nothing, where the order of reads and writes matters, or strips do not pay.
 *
 * Operands with gaps, and those that are the same for all elements, pass through buffers, BUFFERED elements at a time,
 * so that they get the code for contiguous memory, which is made of vectors; but copying what has gaps costs more than
 * vectors gain where a function is light.  That order is right only if no result overlaps another operand other than
 * exactly; reduce and accumulate overlap. */
#include <string.h> /* memcpy */

#include "runtime/host/host.h"

enum { BUFFERED = 256, STRIP = 1 << 16, MOST_OPERANDS = 32, MOST_BYTES = 16 };

typedef struct Operands {
    const char *bytes; /* of an element of each; 0 ends them */
    int inputs, count;
    char *const *start;
    const int64_t *step;
    int64_t elements;
} Operands;

/* ---- does the order matter? ---- */

typedef struct Reach {
    const char *low, *high;
} Reach;

static Reach reach_of(const Operands *o, int i) {
    char *first = o->start[i], *last = first + o->step[i] * (o->elements - 1);
    return o->step[i] < 0 ? (Reach){last, first + o->bytes[i]} : (Reach){first, last + o->bytes[i]};
}

static bool any_order(const Operands *o) {
    for (int out = o->inputs; out < o->count; out++) {
        Reach written = reach_of(o, out);
        if (o->step[out] == 0) return false;
        for (int i = 0; i < out; i++) {
            Reach other = reach_of(o, i);
            bool apart = other.high <= written.low || written.high <= other.low;
            if (!apart && (o->start[i] != o->start[out] || o->step[i] != o->step[out])) return false;
        }
    }
    return true;
}

/* ---- buffers ---- */

/* Elements `step` bytes apart to memory without gaps, and back. */
#define ITEM(bytes)                                                                                          \
    static void gather_##bytes(char *restrict to, const char *restrict from, int64_t step, int64_t count) {  \
        for (int64_t i = 0; i < count; i++) memcpy(to + i * bytes, from + i * step, bytes);                  \
    }                                                                                                        \
    static void scatter_##bytes(char *restrict to, const char *restrict from, int64_t step, int64_t count) { \
        for (int64_t i = 0; i < count; i++) memcpy(to + i * step, from + i * bytes, bytes);                  \
    }
ITEM(1)
ITEM(2)
ITEM(4)
ITEM(8)
ITEM(16)
#undef ITEM

typedef void Copy(char *restrict to, const char *restrict from, int64_t step, int64_t count);
static Copy *const gathers[MOST_BYTES + 1] = {
    [1] = gather_1, [2] = gather_2, [4] = gather_4, [8] = gather_8, [16] = gather_16};
static Copy *const scatters[MOST_BYTES + 1] = {
    [1] = scatter_1, [2] = scatter_2, [4] = scatter_4, [8] = scatter_8, [16] = scatter_16};

static bool contiguous(const Operands *o, int i) { return o->step[i] == o->bytes[i]; }

/* Of operands that are not contiguous: inputs to their buffers (to == true), or results from them. */
static void move(const Operands *o, char *const *buffer, int64_t done, int64_t count, bool to) {
    for (int i = to ? 0 : o->inputs; i < (to ? o->inputs : o->count); i++) {
        char *far = o->start[i] + done * o->step[i];
        if (contiguous(o, i)) continue;
        if (!to)
            scatters[(int)o->bytes[i]](far, buffer[i], o->step[i], count);
        else if (o->step[i] || !done) /* one for all elements fills its buffer once */
            gathers[(int)o->bytes[i]](buffer[i], far, o->step[i], count);
    }
}

/* ---- the strips ---- */

static void run(const Operands *o, HostStrip *strip, void *data, char *const *buffer, int64_t length) {
    char *at[MOST_OPERANDS];
    for (int64_t done = 0; done < o->elements; done += length) {
        int64_t count = o->elements - done < length ? o->elements - done : length;
        for (int i = 0; i < o->count; i++) at[i] = contiguous(o, i) ? o->start[i] + done * o->step[i] : buffer[i];
        move(o, buffer, done, count, true);
        if (strip(at, count, data)) return;
        move(o, buffer, done, count, false);
        /* The handler of a signal that raised has set the exception: NumPy will see it. */
        if ((done + count) % STRIP == 0 && krait_host_safepoint()) return;
    }
}

static void run_buffered(const Operands *o, HostStrip *strip, void *data) {
    _Alignas(64) char memory[o->count][BUFFERED * MOST_BYTES];
    char *buffer[MOST_OPERANDS];
    for (int i = 0; i < o->count; i++) buffer[i] = memory[i];
    run(o, strip, data, buffer, BUFFERED);
}

/* Whether an operand has gaps, of other elements. */
static bool has_gaps(const Operands *o) {
    for (int i = 0; i < o->count; i++)
        if (!contiguous(o, i) && o->step[i]) return true;
    return false;
}

int32_t krait_host_strips(HostStrip *strip, const char *bytes, int32_t inputs, int32_t light, char *const *start,
                          int64_t elements, const int64_t *step, void *data) {
    Operands o = {bytes, inputs, (int)strlen(bytes), start, step, elements};
    bool all = true;
    if ((light && has_gaps(&o)) || !any_order(&o)) return 0;
    for (int i = 0; i < o.count; i++) all &= contiguous(&o, i);
    if (all)
        run(&o, strip, data, NULL, STRIP);
    else
        run_buffered(&o, strip, data);
    return 1;
}
