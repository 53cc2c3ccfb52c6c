/* bytecode.h: the canonical instructions of a code object; private to this folder.
 *
 * bytecode_decode reads a code object of the running CPython version through its table (bc_py3XX.def).  From here on no
 * code knows which version it was. */
#ifndef KRAIT_FRONTEND_BYTECODE_H
#define KRAIT_FRONTEND_BYTECODE_H

#include <Python.h> /* PyCodeObject */

#include "base/base.h" /* Arena, Span */

typedef enum InsnKind {
#define INSN(name, text, argument, effect, jumped, doc) INSN_##name,
#include "frontend/bc_canonical.def"
#undef INSN
    INSN_COUNT
} InsnKind;

typedef enum ArgKind {
    ARG_NONE,
    ARG_COUNT,
    ARG_LOCAL,
    ARG_NAME,
    ARG_KONST,
    ARG_TARGET,
    ARG_BINARY,
    ARG_COMPARE,
    ARG_REFUSAL
} ArgKind;

typedef struct InsnInfo {
    const char *text;
    ArgKind argument;
} InsnInfo;
extern const InsnInfo insn_info[INSN_COUNT];
int insn_effect(InsnKind kind, int arg, bool jumped); /* on the depth of the stack */

typedef enum Refusal {
#define REFUSAL(name, text, hint) REFUSED_##name,
#include "frontend/bc_refused.def"
#undef REFUSAL
    REFUSED_COUNT
} Refusal;
typedef struct RefusalInfo {
    const char *text, *hint;
} RefusalInfo;
extern const RefusalInfo refusal_info[REFUSED_COUNT];

typedef struct Insn {
    InsnKind kind;
    int arg;       /* ARG_TARGET: index of an instruction; RETURN: 1 at the function's end, 0 for a statement */
    uint32_t unit; /* the opcode's place in co_code, in code units of two bytes */
    Span span;
} Insn;

/* A row of the exception table: instructions [start, end) go to target when they raise, with the lowest `depth` slots
 * of the stack, one more if pushes_place, and the exception. */
typedef struct Handler {
    uint32_t start, end, target, depth;
    bool pushes_place;
} Handler;

typedef struct Bytecode {
    Insn *insns;
    size_t count;
    Handler *handlers; /* in order; none overlap */
    size_t nhandlers;
    bool chains; /* what handlers raise gets the exception that they handle as its context */
} Bytecode;
/* The row for an instruction; NULL: what it raises leaves the function. */
const Handler *bytecode_handler(const Bytecode *bytecode, size_t insn);

/* What one opcode of this version becomes: at most INSN_MAX_EXPANSION instructions, jump targets in code units.  False:
 * no row. */
enum { INSN_MAX_EXPANSION = 3 };
typedef struct Expansion {
    Insn insns[INSN_MAX_EXPANSION];
    int count, caches;
} Expansion;
bool opcode_expand(int opcode, int arg, uint32_t next, Expansion *expansion);
/* The name of an opcode of this version; NULL: no row. */
const char *opcode_name(int opcode);

/* False: an instruction without a row, or a table that ends early: *why says which; the code object is not one of this
 * version's compiler. */
bool bytecode_decode(Arena *arena, PyCodeObject *code, PyObject *co_code, Bytecode *out, const char **why);

/* One span for each code unit of the code (positions.c), read from co_linetable. */
Span *code_positions(Arena *arena, PyCodeObject *code, size_t nunits);

#endif
