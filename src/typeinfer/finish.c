/* finish.c: what can be said only when every function of a compilation is typed.
 *
 * In: all FuncInsts, number 0 the root.  Out: those that typed code calls, numbered; a function that
 * calls itself without end refused. */
#include "typeinfer/infer.h"

static const FuncInst *callee_of(const Value *value) { return value->op == OP_CALL_INST ? value->imm.inst : NULL; }

static void mark_reachable(Arena *arena, FuncInst *root) {
    VEC(FuncInst *) work = {0};
    root->queued = true; /* the worklist is empty: the flag is free to serve as a mark */
    vec_push(arena, &work, root);
    while (work.len) {
        const Func *func = vec_pop(&work)->func;
        for (size_t b = 0; func && b < func->blocks.len; b++)
            for (Value *value = func->blocks.data[b]->first; value; value = value->next) {
                FuncInst *callee = value->op == OP_CALL_INST ? value->imm.inst : NULL;
                if (!callee || callee->queued) continue;
                callee->queued = true;
                vec_push(arena, &work, callee);
            }
    }
}

/* ---- functions without a result ---- */

/* The last value before `unreachable` is a call that does not return; NULL: the block ends another way. */
static const FuncInst *ends_in_call(const Block *block) {
    const Value *before = block->last->op == OP_UNREACHABLE ? block->last->prev : NULL;
    return before ? callee_of(before) : NULL;
}

/* One step towards the least set of functions that may end: some block raises, or ends in a call of one that may end.
 */
static bool may_end(const FuncInst *inst) {
    bool calls_on = false;
    for (size_t b = 0; b < inst->func->blocks.len; b++) {
        const Block *block = inst->func->blocks.data[b];
        const FuncInst *callee = ends_in_call(block);
        if (callee && callee->never_returns) return true;
        calls_on |= callee != NULL;
        if (!callee && (block->last->op == OP_RAISE || block->last->op == OP_UNREACHABLE)) return true;
    }
    return !calls_on; /* a loop without end, as the program says */
}

static bool find_endless(FuncInst *const *insts, size_t count, Diag *diag) {
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = 0; i < count; i++)
            if (insts[i]->result->kind == TY_BOTTOM && !insts[i]->never_returns && may_end(insts[i]))
                changed = insts[i]->never_returns = true;
    }
    for (size_t i = 0; i < count; i++) {
        const Func *func = insts[i]->untyped;
        FAIL_IF(insts[i]->result->kind == TY_BOTTOM && !insts[i]->never_returns, diag, NO_RETURN, func->source,
                func->span, "%s never returns: every path calls on", func->name);
    }
    return true;
}

bool typeinfer_finish(TypeTable *types, FuncInst **insts, size_t *count, Diag *diag) {
    size_t kept = 0;
    if (!*count) return true;
    for (size_t i = 0; i < *count; i++) insts[i]->queued = false;
    mark_reachable(diag->arena, insts[0]);
    for (size_t i = 0; i < *count; i++)
        if (insts[i]->queued) insts[kept++] = insts[i];
    *count = kept;
    for (size_t i = 0; i < kept; i++) {
        insts[i]->queued = false;
        insts[i]->id = (uint32_t)i;
        insts[i]->never_returns = false;
    }
    TRY(find_endless(insts, kept, diag));
    for (size_t i = 0; i < kept; i++)
        if (insts[i]->never_returns) insts[i]->result = type_simple(types, TY_NONE);
    return true;
}

void typeinfer_note_caller(const FuncInst *caller, const FuncInst *callee, Diag *diag) {
    const Func *func = caller->func;
    for (size_t b = 0; func && b < func->blocks.len; b++)
        for (const Value *value = func->blocks.data[b]->first; value; value = value->next)
            if (value->imm.inst == callee) {
                Buf text;
                buf_init(&text, diag->arena);
                buf_printf(&text, "in the call of %s with (", callee->untyped->name);
                for (uint32_t i = 0; i < callee->untyped->nparams; i++)
                    buf_printf(&text, "%s%s", i ? ", " : "", type_text(diag->arena, callee->types[i]));
                buf_puts(&text, ")");
                diag_note(diag, func->source, value->span, "%s", text.text);
                return;
            }
}
