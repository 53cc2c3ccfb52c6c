/* narrow_sums.c: KRAIT_NOTES=1: sums and products that accumulate in an integer narrower than 64 bits, named on stderr.
 *
 * In: the typed functions of a job.  Out: a line for each place where a variable that goes around a loop is added to,
 * subtracted from or multiplied in a narrow integer type: there NumPy's types wrap, where Numba computes in 64 bits.
 * A variable goes around a loop if its phi is reached again from one of the phi's operands, through arithmetic, casts
 * and other phis.  Counters, which move by constants, are left out. */
#include <stdio.h>  /* fprintf */
#include <stdlib.h> /* getenv */

#include "driver/job.h"

enum { MAX_VISITED = 256 };

static bool is_narrow(const Type *type) {
    char kind = type_scalar_kind(type);
    return (kind == 'i' || kind == 'u') && !type->weak && scalar_info[type->scalar].bytes < 8;
}

static bool accumulates(const Value *value) {
    if (value->op != OP_ADD && value->op != OP_SUB && value->op != OP_MUL) return false;
    return is_narrow(value->type) && !value->args[0]->konst && !value->args[1]->konst;
}

static bool passes_on(const Value *value) {
    switch (value->op) {
    case OP_PHI:
    case OP_CAST:
    case OP_ADD:
    case OP_SUB:
    case OP_MUL: return is_narrow(value->type);
    default: return false;
    }
}

/* Whether the value is computed from the phi, whose next round it is: then *sum is the arithmetic nearest to it. */
static bool leads_to(const Value *from, const Value *phi, const Value **sum) {
    const Value *visited[MAX_VISITED], *reached[MAX_VISITED];
    size_t count = 1;
    visited[0] = from;
    reached[0] = NULL;
    for (size_t i = 0; i < count; i++) {
        const Value *value = visited[i], *near = reached[i] ? reached[i] : accumulates(value) ? value : NULL;
        for (uint32_t a = 0; passes_on(value) && a < value->nargs; a++) {
            const Value *arg = value->args[a];
            if (arg == phi && near) return *sum = near, true;
            size_t seen = 0;
            while (seen < count && visited[seen] != arg) seen++;
            if (seen < count || count == MAX_VISITED) continue;
            visited[count] = arg;
            reached[count++] = near;
        }
    }
    return false;
}

static const char *symbol_of(Op op) { return op == OP_ADD ? "+" : op == OP_SUB ? "-" : "*"; }

static void note(Job *job, const Func *func, const Value *phi, const Value *sum) {
    const char *type = type_text(job->arena, sum->type), *name = sum->name ? sum->name : phi->name;
    fprintf(
        stderr,
        "krait: note: %s:%u: in %s: %s (%s %s %s) wraps at %u bits: convert with int(), or take promotion='numba'\n",
        func->source ? func->source->file : "?", (unsigned)sum->span.line, func->name,
        name ? arena_printf(job->arena, "`%s`", name) : "a sum", type, symbol_of(sum->op), type,
        8 * (unsigned)scalar_info[sum->type->scalar].bytes);
}

static void note_function(Job *job, const Func *func) {
    VEC(const Value *) told = {0};
    for (size_t b = 0; b < func->blocks.len; b++)
        for (const Value *phi = func->blocks.data[b]->first; phi && phi->op == OP_PHI; phi = phi->next)
            for (uint32_t i = 0; is_narrow(phi->type) && i < phi->nargs; i++) {
                const Value *sum = NULL;
                bool again = false;
                if (!leads_to(phi->args[i], phi, &sum)) continue;
                for (size_t k = 0; k < told.len; k++) again |= told.data[k] == sum;
                if (again) continue;
                vec_push(job->arena, &told, sum);
                note(job, func, phi, sum);
            }
}

void notes_print(Job *job) {
    const char *wanted = getenv("KRAIT_NOTES");
    if (!wanted || !*wanted || *wanted == '0') return;
    for (size_t i = 0; i < job->insts.len; i++) note_function(job, job->insts.data[i]->func);
}
