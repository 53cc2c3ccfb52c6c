/* strips.c: the elements of a ufunc, a strip of contiguous memory at a time.
 *
 * In: what NumPy gives an inner loop, and generated code: the strip, which takes whole rounds of contiguous operands,
 * and the plain loop, which takes any (codegen_cpu/entry_ufunc.c).  Out: every element computed, by the plain loop what
 * is less than a round, and all where the order of reads and writes matters or strips do not pay.
 *
 * Operands with gaps, and those that are the same for all elements, pass through buffers, BUFFERED elements at a time,
 * so that they get the code for contiguous memory, which is made of vectors; but copying what has gaps costs more than
 * vectors gain where a function is light.  That order is right only if no result overlaps another operand other than
 * exactly; reduce and accumulate overlap.
 *
 * A strip that goes on after an element that raises is done anew, in order; so its results may not lie over its inputs,
 * and pass through a buffer where they do.  The same is done where vectors may set floating-point flags that elements
 * do not, both sides of a condition or more: if they set one of which NumPy may tell (np.errstate), only the elements
 * one by one say whether it is theirs; which they need not say twice, for flags stay set until NumPy looks.
 *
 * Between two looks for signals so many elements are computed as take well below a millisecond: of light functions a
 * number that is known, of others one that grows and shrinks with the time they take.
 *
 * Most ufuncs never meet gaps, nor are they reduced.  So of the plain loop there is one for any operands at first; for
 * those that lie in one way (HostLie) there is another once so many elements have been done that making it pays. */
#include <fenv.h>      /* fetestexcept */
#include <stdatomic.h> /* atomic_load */
#include <string.h>    /* memcpy */

#include "runtime/host/host.h"

enum {
    BUFFERED = 256,
    BUFFERED_RESULTS = 64, /* so few that a core stores them while it computes the next: few rounds are longer */
    STRIP = 1 << 16,
    FLAGGED_STRIP = 1 << 13, /* at most, where a strip may be done anew for its flags */
    SHORT_STRIP = 1 << 10,
    LONG_STRIP = 1 << 4, /* the first of what may take a millisecond an element: vectors of 4 bytes are not cut */
    FEW_ELEMENTS = 8,    /* are done one by one */
    FEW_LIGHT_ELEMENTS = 16,
    WORTH_A_LINE = 1 << 9,  /* elements for which a first, short strip is not too dear */
    WORTH_A_LOOP = 1 << 20, /* elements for which another plain loop gains what making it takes */
    CACHE_LINE = 64,
    MOST_OPERANDS = 32,
    MOST_BYTES = 16
};

typedef struct Operands {
    const char *bytes; /* of an element of each */
    int inputs, count;
    char *const *start;
    const int64_t *step;
    int64_t elements;
    uint32_t buffered; /* bit i: operand i passes through a buffer */
} Operands;

/* ---- does the order matter? ---- */

typedef struct Reach {
    const char *low, *high;
} Reach;

static Reach reach_of(const Operands *o, int i) {
    char *first = o->start[i], *last = first + o->step[i] * (o->elements - 1);
    return o->step[i] < 0 ? (Reach){last, first + o->bytes[i]} : (Reach){first, last + o->bytes[i]};
}

static bool apart(Reach a, Reach b) { return a.high <= b.low || b.high <= a.low; }

static bool any_order(const Operands *o) {
    for (int out = o->inputs; out < o->count; out++) {
        Reach written = reach_of(o, out);
        if (o->step[out] == 0) return false;
        for (int i = 0; i < out; i++) {
            bool same = o->start[i] == o->start[out] && o->step[i] == o->step[out];
            if (!same && !apart(reach_of(o, i), written)) return false;
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

static bool buffered(const Operands *o, int i) { return o->buffered >> i & 1; }

/* Inputs to their buffers.  One for all elements is there already as often as *same says, whatever was done before. */
static void fill(const Operands *o, char *const *buffer, int64_t done, int64_t count, int64_t *same) {
    for (int i = 0; i < o->inputs; i++)
        if (buffered(o, i) && (o->step[i] || count > *same))
            gathers[(int)o->bytes[i]](buffer[i], o->start[i] + done * o->step[i], o->step[i], count);
    if (count > *same) *same = count;
}

/* What lies where results go to their buffers: a strip that is not done anew stops where an element raises, and leaves
 * the others what they were. */
static void keep(const Operands *o, char *const *buffer, int64_t done, int64_t count) {
    for (int i = o->inputs; i < o->count; i++)
        if (buffered(o, i)) gathers[(int)o->bytes[i]](buffer[i], o->start[i] + done * o->step[i], o->step[i], count);
}

/* Results from their buffers. */
static void empty(const Operands *o, char *const *buffer, int64_t done, int64_t count) {
    for (int i = o->inputs; i < o->count; i++)
        if (buffered(o, i)) scatters[(int)o->bytes[i]](o->start[i] + done * o->step[i], buffer[i], o->step[i], count);
}

/* ---- the strips ---- */

typedef struct Code {
    const HostLoops *loops;
    HostPlain *plain;
    void *data;
    int32_t traits;
    bool again; /* STRIP_AGAIN */
    bool flags; /* look at those that a strip sets */
} Code;

/* ---- looks for signals ---- */

typedef struct Pace {
    int64_t length; /* elements between two looks */
    int64_t looked; /* elements that were done at the last one */
    uint64_t since; /* when that was */
} Pace;

static Pace pace_of(const Code *code) {
    if (code->traits & STRIP_LIGHT) return (Pace){.length = STRIP};
    return (Pace){.length = code->traits & STRIP_LONG ? LONG_STRIP : SHORT_STRIP, .since = host_pace_begins()};
}

/* Whether to stop. */
static bool pace_look(Pace *pace, const Code *code, int64_t done) {
    int64_t count = done - pace->looked;
    if (count < pace->length) return false;
    pace->looked = done;
    if (krait_host_safepoint()) return true; /* the exception is set: NumPy will see it */
    if (!(code->traits & STRIP_LIGHT)) pace->length = host_pace(pace->length, &pace->since, STRIP);
    return false;
}

/* One element after the other: whether one has raised, which the caller knows. */
static bool plain_raises(const Operands *o, const Code *code, int64_t done, int64_t count) {
    char *at[MOST_OPERANDS];
    for (int i = 0; i < o->count; i++) at[i] = o->start[i] + done * o->step[i];
    return code->plain(at, count, o->step, code->data) != 0;
}

static void run_plain(const Operands *o, const Code *code) {
    Pace pace = pace_of(code);
    for (int64_t done = 0, count; done < o->elements; done += count) {
        count = o->elements - done < pace.length ? o->elements - done : pace.length;
        if (plain_raises(o, code, done, count) || pace_look(&pace, code, done + count)) return;
    }
}

/* ---- strips that may be done anew ---- */

/* Flags of floating point, taken: none is set then; and given back.  The C library's functions are for two units of
 * x86, and take as long as a strip. */
#if defined(__x86_64__)
enum { TOLD_OF = 1 | 4 | 8 | 16 }; /* invalid, by zero, overflow, underflow */
static unsigned take_flags(void) {
    unsigned word = __builtin_ia32_stmxcsr();
    __builtin_ia32_ldmxcsr(word & ~0x3fu);
    return word & 0x3f;
}
static void give_flags(unsigned flags) { __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | flags); }
#else
enum { TOLD_OF = FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW | FE_UNDERFLOW };
static unsigned take_flags(void) {
    unsigned flags = (unsigned)fetestexcept(FE_ALL_EXCEPT);
    feclearexcept(FE_ALL_EXCEPT);
    return flags;
}
static void give_flags(unsigned flags) { feraiseexcept((int)flags); }
#endif

static bool strip_raises(const Code *code, char *const *at, int64_t count) {
    return code->loops->strip(at, count >> code->loops->round, code->data) != 0;
}

/* Whether the strip has to be done anew. */
static bool strip_fails(const Code *code, char *const *at, int64_t count) {
    if (!code->flags) return strip_raises(code, at, count);
    unsigned before = take_flags();
    bool raised = strip_raises(code, at, count);
    unsigned set = take_flags();
    bool fails = raised || set & ~before & TOLD_OF; /* what is set already NumPy tells of anyway */
    give_flags(before | (fails ? 0 : set));
    return fails;
}

/* Elements until the first result begins a cache line: vectors that lie across two take longer. */
static int64_t to_a_line(const Operands *o) {
    int64_t bytes = o->bytes[o->inputs], before = -(intptr_t)o->start[o->inputs] & (CACHE_LINE - 1);
    return o->elements < WORTH_A_LINE || before % bytes ? 0 : before / bytes;
}

/* Strips become longer while none is done anew, and are short after one that is: what is done twice stays less than
 * what is done once, but for the first, which is long, since few are; and what a strip costs beside its elements is
 * little. */
static void run(const Operands *o, const Code *code, char *const *buffer, int64_t longest) {
    char *at[MOST_OPERANDS];
    int64_t length = code->flags && longest > SHORT_STRIP ? longest / 2 : longest;
    int64_t count = buffer ? 0 : to_a_line(o), same = 0, rounds = -(INT64_C(1) << code->loops->round);
    Pace pace = pace_of(code);
    for (int64_t done = 0; done < o->elements; done += count, count = 0) {
        int64_t left = o->elements - done, most = left < pace.length ? left : pace.length;
        int64_t whole = (most < length ? most : length) & rounds;
        if (count || !whole) {
            if (!count) count = most;
            if (plain_raises(o, code, done, count) || pace_look(&pace, code, done + count)) return;
            continue;
        }
        count = whole;
        for (int i = 0; i < o->count; i++) at[i] = buffered(o, i) ? buffer[i] : o->start[i] + done * o->step[i];
        if (buffer) fill(o, buffer, done, count, &same);
        if (buffer && !code->again && code->traits & STRIP_STOPS) keep(o, buffer, done, count);
        bool fails = strip_fails(code, at, count);
        if (buffer && !(fails && code->again)) empty(o, buffer, done, count);
        if (fails && (!code->again || plain_raises(o, code, done, count))) return;
        if (length < longest && !fails) length *= 2;
        if (fails && code->flags && longest > SHORT_STRIP) length = SHORT_STRIP;
        if (pace_look(&pace, code, done + count)) return;
    }
}

static void run_buffered(const Operands *o, const Code *code) {
    _Alignas(64) char memory[o->count][BUFFERED * MOST_BYTES];
    char *buffer[MOST_OPERANDS];
    for (int i = 0; i < o->count; i++) buffer[i] = memory[i];
    int64_t round = INT64_C(1) << code->loops->round;
    int64_t few = round > BUFFERED_RESULTS ? round : BUFFERED_RESULTS;
    run(o, code, buffer, o->buffered >> o->inputs << o->inputs == o->buffered ? few : BUFFERED);
}

static bool contiguous(const Operands *o, int i) { return o->step[i] == o->bytes[i]; }

static bool over_an_input(const Operands *o, int result) {
    for (int i = 0; i < o->inputs; i++)
        if (o->start[i] == o->start[result]) return true;
    return false;
}

/* Whether an operand has gaps, of other elements. */
static bool has_gaps(const Operands *o) {
    for (int i = 0; i < o->count; i++)
        if (!contiguous(o, i) && o->step[i]) return true;
    return false;
}

/* Whether strips pay, and may be; operands that are to be buffered are noted. */
static bool in_strips(Operands *o, const Code *code) {
    if ((code->traits & STRIP_LIGHT && has_gaps(o)) || !any_order(o)) return false;
    for (int i = 0; i < o->count; i++)
        if (!contiguous(o, i) || (code->again && i >= o->inputs && over_an_input(o, i))) o->buffered |= 1u << i;
    return true;
}

/* Whether strips may be, looked at in a few instructions: operands without gaps that do not overlap, or, unless
 * elements may be computed `again`, are the same. */
static bool lie_apart(const Operands *o, bool again) {
    for (int i = 0; i < o->count; i++) {
        if (!contiguous(o, i)) return false;
        const char *end = o->start[i] + o->elements * o->bytes[i];
        for (int out = i < o->inputs ? o->inputs : i + 1; out < o->count; out++) {
            bool same = !again && o->start[i] == o->start[out] && o->bytes[i] == o->bytes[out];
            const char *out_end = o->start[out] + o->elements * o->bytes[out];
            if (!same && end > o->start[out] && o->start[i] < out_end) return false;
        }
    }
    return true;
}

/* A strip and what is less than a round, of a light function: most calls, which are to cost little. */
static void run_short(const Operands *o, const Code *code) {
    int64_t whole = o->elements & -(INT64_C(1) << code->loops->round);
    if (strip_raises(code, o->start, whole) && (!code->again || plain_raises(o, code, 0, whole))) return;
    if (whole < o->elements) plain_raises(o, code, whole, o->elements - whole);
}

/* ---- plain loops ---- */

static HostLie lie_of(const Operands *o, int32_t lies) {
    bool follows = lies >> LIE_ACCUMULATED & 1 && o->step[0] == o->step[2] && o->start[0] + o->step[0] == o->start[2];
    if (follows && o->step[2] == 0 && apart(reach_of(o, 1), reach_of(o, 2))) return LIE_REDUCED;
    if (follows) return LIE_ACCUMULATED;
    return lies >> LIE_GAPPED & 1 ? LIE_GAPPED : LIE_ANYHOW;
}

static HostPlain *plain_for(HostTable *table, const Operands *o, const void *data) {
    HostLie lie = lie_of(o, table->loops->lies);
    HostPlain *made = atomic_load_explicit(&table->plain[lie], memory_order_acquire);
    if (made) return made;
    int64_t before = atomic_fetch_add_explicit(&table->elements[lie], o->elements, memory_order_relaxed);
    if (before + o->elements >= WORTH_A_LOOP) table->make(table, lie, data);
    made = atomic_load_explicit(&table->plain[lie], memory_order_acquire);
    return made ? made : table->loops->plain;
}

void host_ufunc_run(HostTable *table, char *const *start, const int64_t *elements, const int64_t *step, void *data) {
    const HostLoops *loops = table->loops;
    Operands o = {loops->bytes, loops->inputs, loops->count, start, step, *elements, 0};
    bool again = loops->traits & STRIP_AGAIN, light = loops->traits & STRIP_LIGHT;
    Code code = {loops, loops->plain, data, loops->traits, again, again && loops->traits & STRIP_FLAGS};
    bool few = o.elements < (light ? FEW_LIGHT_ELEMENTS : FEW_ELEMENTS) || !(o.elements >> loops->round);
    bool lies_apart = !few && lie_apart(&o, again);
    if (few && !(loops->traits & STRIP_LONG))
        loops->plain(start, o.elements, step, data);
    else if (lies_apart && light && !code.flags && o.elements < WORTH_A_LINE)
        run_short(&o, &code);
    else if (host_is_to_stop())
        return;
    else if (few)
        run_plain(&o, &code);
    else if (!lies_apart && !in_strips(&o, &code)) {
        code.plain = plain_for(table, &o, data);
        run_plain(&o, &code);
    } else if (o.buffered)
        run_buffered(&o, &code);
    else
        run(&o, &code, NULL, code.flags ? FLAGGED_STRIP : STRIP);
}
