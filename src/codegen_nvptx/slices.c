/* slices.c: which registers of PTX text come to certain instructions, however many instructions later.
 *
 * In: text as LLVM writes it, an instruction a line; inline PTX may have several in one, and names of its own.  Out:
 * the registers from which operands of those instructions are computed.  What is stored comes to them if anything that
 * was loaded does, unless by ld.global.nc, from memory that nobody writes; what is given to a function, or by one,
 * always does.  Registers of one name are taken for one, whichever function has them, and so are all names that inline
 * PTX has made. */
#include <ctype.h>  /* isalpha, isdigit */
#include <stdlib.h> /* strtoul */
#include <string.h> /* memchr, memcmp, strchr, strcspn, strlen, strncmp, strspn, strstr */

#include "codegen_nvptx/nvptx.h"

typedef enum {
    PLAIN = 0,
    LOADS = 1 << 0,
    STORES = 1 << 1,
    ENDS = 1 << 2,  /* the slice comes to it */
    KNOTS = 1 << 3, /* several instructions, or one that is guarded: any register may come of any other */
} Kind;

static const struct {
    const char *op;
    Kind kind;
} kinds[] = {
    {"ld.param", PLAIN},       {"ld.const", PLAIN}, {"ld.global.nc", PLAIN}, {"ld.", LOADS},
    {"atom.", LOADS | STORES}, {"st.param", ENDS},  {"st.", STORES},         {"red.", STORES},
};

typedef struct {
    size_t *registers; /* results first */
    unsigned count, results;
    Kind kind;
} Step;

struct Slice {
    Arena *arena;
    Step *steps; /* those that have registers */
    size_t count, limit;
    bool *has, grew;
};

/* ---- text ---- */

enum { NONE, NAMED, NUMBERED }; /* from NUMBERED on, a number of each register */

static size_t numbered(const char *name) {
    static const char *const classes[] = {"p", "rs", "r", "rd", "rq", "f", "fd"};
    enum { CLASSES = sizeof classes / sizeof *classes };
    size_t length = strspn(name, "prsdqf"), kind = 0;
    if (!isdigit((unsigned char)name[length])) return NONE;
    size_t number = strtoul(name + length, NULL, 10);
    while (kind < CLASSES && (strlen(classes[kind]) != length || memcmp(classes[kind], name, length) != 0)) kind++;
    return kind < CLASSES ? NUMBERED + number * CLASSES + kind : NAMED;
}

/* The register, if any, that stands at a place; *after: where to go on. */
static size_t register_at(const char *at, const char **after) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$.";
    bool marked = *at == '%';
    const char *name = at + marked;
    size_t length = strspn(name, letters);
    *after = length ? name + length : at + 1;
    if (marked) return length ? numbered(name) : NONE;
    return isalpha((unsigned char)*name) ? NAMED : NONE;
}

/* The registers from a place to another, but for those of addresses; with `out` NULL, how many.  *results: how many
 * stand before the first comma outside of braces. */
static unsigned registers_of(const char *at, const char *end, bool names, size_t *out, unsigned *results) {
    unsigned count = 0, braces = 0;
    bool commas = false;
    *results = 0;
    for (const char *after; at < end; at = after) {
        size_t found = register_at(at, &after);
        if (found == NAMED && !names) found = NONE;
        if (found && out) out[count] = found;
        count += found != NONE;
        braces += (*at == '{') - (*at == '}' && braces > 0);
        if (*at == '[' && (after = memchr(at, ']', (size_t)(end - at))) == NULL) return count;
        if (*at != ',' || braces || commas) continue;
        commas = true;
        *results = count;
    }
    return count;
}

static bool asks(const char *line, const char *end, const char *op) {
    const char *found = strstr(line, op);
    return found && found < end;
}

static Kind kind_of(const char *line, const char *end, const char *const *asked) {
    const char *first = memchr(line, ';', (size_t)(end - line));
    bool several = *line == '{' || *line == '@' || (first && memchr(first + 1, ';', (size_t)(end - first - 1)));
    Kind kind = PLAIN;
    for (; *asked; asked++)
        if (several ? asks(line, end, *asked) : !strncmp(line, *asked, strlen(*asked))) kind = ENDS;
    if (several) return kind | KNOTS | (memchr(line, '[', (size_t)(end - line)) ? LOADS | STORES : PLAIN);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (!strncmp(line, kinds[i].op, strlen(kinds[i].op))) return kind | kinds[i].kind;
    return kind;
}

/* Whether the names that a line has for registers are its own. */
static bool is_closed(const char *line, const char *end) {
    while (end > line && strchr(" \t\r", end[-1])) end--;
    return *line == '{' && end[-1] == '}';
}

static void read_line(Slice *slice, const char *line, const char *end, const char *const *asked) {
    Step *step = &slice->steps[slice->count];
    line += strspn(line, " \t");
    if (line >= end || strchr(".$/", *line)) return;
    step->kind = kind_of(line, end, asked);
    const char *operands = step->kind & KNOTS ? line : line + strcspn(line, " \t\n;");
    bool names = !is_closed(line, end);
    step->count = registers_of(operands, end, names, NULL, &step->results);
    if (!step->count) return;
    step->registers = ARENA_ARRAY(slice->arena, size_t, step->count);
    registers_of(operands, end, names, step->registers, &step->results);
    for (unsigned i = 0; i < step->count; i++)
        if (step->registers[i] >= slice->limit) slice->limit = step->registers[i] + 1;
    slice->count++;
}

/* ---- the slice ---- */

static bool any(const Slice *slice, const size_t *registers, unsigned count) {
    for (unsigned i = 0; i < count; i++)
        if (slice->has[registers[i]]) return true;
    return false;
}

static void add(Slice *slice, const size_t *registers, unsigned count) {
    for (unsigned i = 0; i < count; i++) {
        slice->grew |= !slice->has[registers[i]];
        slice->has[registers[i]] = true;
    }
}

static void follow(Slice *slice, const Step *step, bool *loads) {
    bool knots = step->kind & KNOTS;
    bool reached = step->kind & ENDS || any(slice, step->registers, knots ? step->count : step->results);
    unsigned first = knots ? 0 : step->results;
    if (reached && step->kind & LOADS && !*loads) *loads = slice->grew = true;
    if (reached || (step->kind & STORES && *loads)) add(slice, step->registers + first, step->count - first);
}

Slice *nvptx_slice(Arena *arena, const char *text, const char *const *asked) {
    Slice *slice = ARENA_NEW(arena, Slice);
    size_t lines = 1;
    bool loads = false;
    for (const char *at = text; (at = strchr(at, '\n')) != NULL; at++) lines++;
    slice->arena = arena;
    slice->steps = ARENA_ARRAY(arena, Step, lines);
    for (const char *line = text, *end; *line; line = *end ? end + 1 : end) {
        end = line + strcspn(line, "\n");
        read_line(slice, line, end, asked);
    }
    slice->has = ARENA_ARRAY(arena, bool, slice->limit);
    do {
        slice->grew = false;
        for (size_t i = slice->count; i-- > 0;) follow(slice, &slice->steps[i], &loads);
    } while (slice->grew);
    return slice;
}

bool nvptx_slice_has(const Slice *slice, const char *name) {
    const char *after;
    size_t found = register_at(name, &after);
    return found < NUMBERED || (found < slice->limit && slice->has[found]);
}
