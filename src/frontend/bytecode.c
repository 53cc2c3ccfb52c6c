/* bytecode.c: a code object to canonical instructions.
 *
 * Input: co_code as PyCode_GetCode gives it (specialised and instrumented instructions undone), co_linetable,
 * co_exceptiontable. Output: Bytecode: instructions of bc_canonical.def with spans; jump targets are indices of
 * instructions. Algorithm: one walk over the code units; EXTENDED_ARG prefixes are folded into the argument, inline
 * caches skipped, each opcode expanded by its row in the table of the running version.  first[unit] remembers which
 * instruction came from which code unit; jump targets and the exception table are translated through it at the end.
 *
 * A new version of CPython is a new table and a line in the list below. */
#include "frontend/bytecode.h"

#include <opcode.h> /* opcode numbers of this version */

#if PY_VERSION_HEX >= 0x030E0000
#error "bc_py314.def is not written yet"
#elif PY_VERSION_HEX >= 0x030D0000
#define BYTECODE_TABLE "frontend/bc_py313.def"
#elif PY_VERSION_HEX >= 0x030C0000
#define BYTECODE_TABLE "frontend/bc_py312.def"
#elif PY_VERSION_HEX >= 0x030B0000
#define BYTECODE_TABLE "frontend/bc_py311.def"
#else
#error "CPython 3.11 or newer is needed"
#endif

const InsnInfo insn_info[INSN_COUNT] = {
#define INSN(name, text, argument, effect, jumped, doc) {text, ARG_##argument},
#include "frontend/bc_canonical.def"
#undef INSN
};

const RefusalInfo refusal_info[REFUSED_COUNT] = {
#define REFUSAL(name, text, hint) {text, hint},
#include "frontend/bc_refused.def"
#undef REFUSAL
};

int insn_effect(InsnKind kind, int arg, bool jump) {
    switch (kind) {
#define INSN(name, text, argument, effect, jumped, doc) \
    case INSN_##name: return jump ? (jumped) : (effect);
#include "frontend/bc_canonical.def"
#undef INSN
    default: return 0;
    }
}

const char *opcode_name(int opcode) {
    switch (opcode) {
#define BC(name, caches, expansion) \
    case name: return #name;
#define INTRINSIC(number, expansion)
#include BYTECODE_TABLE
#undef BC
#undef INTRINSIC
    default: return NULL;
    }
}

static void expand(Expansion *to, InsnKind kind, int arg) { to->insns[to->count++] = (Insn){.kind = kind, .arg = arg}; }

#define I(instruction, argument) expand(to, INSN_##instruction, (int)(argument));
#define IF(condition, instruction, argument) \
    if (condition) expand(to, INSN_##instruction, (int)(argument));
#define R(refusal) expand(to, INSN_REFUSE, REFUSED_##refusal);

/* CALL_INTRINSIC_1: the operators that have no opcode of their own.  What has no row defines types. */
static void expand_intrinsic(int number, Expansion *to) {
    switch (number) {
#define BC(name, caches, expansion)
#define INTRINSIC(operator, expansion) \
    case operator: expansion break;
#include BYTECODE_TABLE
#undef BC
#undef INTRINSIC
    default: R(TYPE_PARAMETERS) break;
    }
}

#define OPERATOR(number) expand_intrinsic(number, to);

bool opcode_expand(int opcode, int arg, uint32_t next, Expansion *to) {
    (void)expand_intrinsic;
    to->count = 0;
    switch (opcode) {
#define BC(name, cache_units, expansion) \
    case name:                           \
        to->caches = cache_units;        \
        next += cache_units;             \
        expansion return true;
#define INTRINSIC(number, expansion)
#include BYTECODE_TABLE
#undef BC
#undef INTRINSIC
    default: return false;
    }
}

#undef I
#undef IF
#undef R
#undef OPERATOR

/* ---- exception table: varints of 6 bits, most significant first; 0x80 marks the first byte of a row ---- */

typedef struct Reader {
    const unsigned char *at, *end;
} Reader;

static uint32_t read_varint(Reader *reader) {
    uint32_t value = 0;
    while (reader->at < reader->end) {
        unsigned char byte = *reader->at++;
        value = value << 6 | (byte & 0x3f);
        if (!(byte & 0x40)) break;
    }
    return value;
}

static void read_handlers(Arena *arena, PyCodeObject *code, const uint32_t *first, size_t nunits, Bytecode *out) {
    VEC(Handler) handlers = {0};
    const unsigned char *bytes = (const unsigned char *)PyBytes_AS_STRING(code->co_exceptiontable);
    Reader reader = {bytes, bytes + PyBytes_GET_SIZE(code->co_exceptiontable)};
    while (reader.at < reader.end) {
        uint32_t start = read_varint(&reader);
        uint32_t length = read_varint(&reader);
        uint32_t target = read_varint(&reader);
        uint32_t depth = read_varint(&reader); /* the lowest bit: whether the place is pushed */
        if (start + length > nunits || target >= nunits) break;
        vec_push(arena, &handlers,
                 ((Handler){first[start], first[start + length], first[target], depth >> 1, depth & 1}));
    }
    out->handlers = handlers.data;
    out->nhandlers = handlers.len;
}

static const Handler *find_row(const Bytecode *bytecode, size_t insn) {
    size_t low = 0, high = bytecode->nhandlers;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (insn >= bytecode->handlers[middle].end)
            low = middle + 1;
        else
            high = middle;
    }
    return low < bytecode->nhandlers && insn >= bytecode->handlers[low].start ? &bytecode->handlers[low] : NULL;
}

/* Whether all that a handler does is to tell the interpreter that a generator, or another handler, is left; by the
 * latter an exception gets its context, unless it is the one that was handled. */
static bool only_reraises(const Bytecode *bytecode, const Handler *row, size_t insn) {
    InsnKind kind = bytecode->insns[insn].kind;
    bool handled = kind == INSN_RERAISE || (kind == INSN_RAISE && bytecode->insns[insn].arg == 0);
    const Insn *insns = &bytecode->insns[row->target];
    size_t at = row->target;
    while (at < bytecode->count && bytecode->insns[at].kind == INSN_NOP) at++;
    if (at < bytecode->count && bytecode->insns[at].kind == INSN_RERAISE) return true;
    return (handled || !bytecode->chains) && row->target + 2 < bytecode->count && insns[0].kind == INSN_COPY &&
           insns[1].kind == INSN_POP && insns[2].kind == INSN_RERAISE;
}

/* Whether all that a handler does is to restore variables that a comprehension has taken: the iterator is dropped,
 * saved values are stored.  A handler further out may read these variables; outside of the function nobody does. */
static bool only_restores(const Bytecode *bytecode, const Handler *row) {
    const Insn *insns = bytecode->insns;
    size_t at = row->target;
    if (at + 2 >= bytecode->count || insns[at].kind != INSN_SWAP || insns[at + 1].kind != INSN_POP) return false;
    at += 2;
    size_t first = at;
    while (at < bytecode->count && (insns[at].kind == INSN_SWAP || insns[at].kind == INSN_STORE_LOCAL)) at++;
    return at > first && at < bytecode->count && insns[at].kind == INSN_RERAISE;
}

const Handler *bytecode_handler(const Bytecode *bytecode, size_t insn) {
    const Handler *row = find_row(bytecode, insn), *restores = NULL;
    while (row && (only_reraises(bytecode, row, insn) || only_restores(bytecode, row))) {
        if (!restores && only_restores(bytecode, row)) restores = row;
        row = find_row(bytecode, row->target);
    }
    return row && restores ? restores : row;
}

/* Whether an instruction's number of a variable, name or constant exists. */
static bool operand_exists(const PyCodeObject *code, const Insn *insn) {
    Py_ssize_t count;
    switch (insn_info[insn->kind].argument) {
    case ARG_LOCAL: count = PyTuple_GET_SIZE(code->co_localsplusnames); break;
    case ARG_NAME: count = PyTuple_GET_SIZE(code->co_names); break;
    case ARG_KONST: count = PyTuple_GET_SIZE(code->co_consts); break;
    default: return true;
    }
    return insn->arg >= 0 && insn->arg < count;
}

/* ---- returns ---- */

static bool same_place(Span a, Span b) {
    return a.line && a.line == b.line && a.end_line == b.end_line && a.col == b.col && a.end_col == b.end_col &&
           a.end_col; /* without columns nobody can tell */
}

static bool ends_flow(const Insn *insn) {
    return insn->kind == INSN_RETURN || insn->kind == INSN_RAISE || insn->kind == INSN_RERAISE ||
           insn->kind == INSN_JUMP;
}

/* What runs before instruction i, one of them; results that are dropped, and iterators of loops that a return leaves,
 * passed over.  NULL: nothing. */
static const Insn *ran_before(const Insn *insns, const Insn *const *jumps, size_t i) {
    const Insn *before;
    do {
        before = i > 0 && !ends_flow(&insns[i - 1]) ? &insns[i - 1] : jumps[i];
        i = before ? (size_t)(before - insns) : 0;
    } while (before && before->kind == INSN_POP);
    return before;
}

/* A return is the function's end rather than a statement if it has the place of what ran before it: that is the place
 * the compiler gives the end, which has none of its own. */
static void mark_ends(Arena *arena, Insn *insns, size_t count) {
    const Insn **jumps = ARENA_ARRAY(arena, const Insn *, count + 1); /* to each instruction: one of them */
    for (size_t i = 0; i < count; i++)
        if (insn_info[insns[i].kind].argument == ARG_TARGET) jumps[insns[i].arg] = &insns[i];
    for (size_t i = 1; i < count; i++) {
        if (insns[i].kind != INSN_RETURN || insns[i - 1].kind != INSN_LOAD_CONST) continue;
        const Insn *before = ran_before(insns, jumps, i - 1);
        insns[i].arg = before && same_place(before->span, insns[i - 1].span);
    }
}

bool bytecode_decode(Arena *arena, PyCodeObject *code, PyObject *co_code, Bytecode *out, const char **why) {
    const unsigned char *units = (const unsigned char *)PyBytes_AS_STRING(co_code);
    uint32_t nunits = (uint32_t)(PyBytes_GET_SIZE(co_code) / 2);
    Span *spans = code_positions(arena, code, nunits);
    uint32_t *first = ARENA_ARRAY(arena, uint32_t, nunits + 1);
    VEC(Insn) insns = {0};
    uint32_t extended = 0;
    for (uint32_t unit = 0; unit < nunits;) {
        int opcode = units[2 * unit];
        uint32_t arg = extended << 8 | units[2 * unit + 1];
        first[unit] = (uint32_t)insns.len;
        if (opcode == EXTENDED_ARG) {
            extended = arg;
            unit++;
            continue;
        }
        extended = 0;
        Expansion to;
        if (!opcode_expand(opcode, (int)arg, unit + 1, &to)) {
            *why = arena_printf(arena, "opcode %d of this Python version is not known", opcode);
            return false;
        }
        for (int i = 0; i < to.count; i++) {
            to.insns[i].unit = unit;
            to.insns[i].span = spans[unit];
            vec_push(arena, &insns, to.insns[i]);
        }
        for (int i = 1; i <= to.caches && unit + i < nunits; i++) first[unit + i] = (uint32_t)insns.len;
        unit += 1 + (uint32_t)to.caches;
    }
    first[nunits] = (uint32_t)insns.len;
    for (size_t i = 0; i < insns.len; i++) {
        Insn *insn = &insns.data[i];
        if (!operand_exists(code, insn)) {
            *why = arena_printf(arena, "instruction %u names what is not there", insn->unit);
            return false;
        }
        if (insn_info[insn->kind].argument != ARG_TARGET) continue;
        if (insn->arg < 0 || (uint32_t)insn->arg >= nunits) {
            *why = arena_printf(arena, "a jump at instruction %u leaves the code", insn->unit);
            return false;
        }
        insn->arg = (int)first[insn->arg];
    }
    mark_ends(arena, insns.data, insns.len);
    out->insns = insns.data;
    out->count = insns.len;
    read_handlers(arena, code, first, nunits, out);
    return true;
}
