/* ssa.c: SSA construction on the fly.
 *
 * Input: writes and reads of numbered variables, in blocks whose predecessors may not all be known yet.  Output: phis
 * in the Func. Algorithm: M. Braun et al., "Simple and Efficient Construction of Static Single Assignment Form" (CC
 * 2013): a block remembers the last value of each variable; a read that finds none asks the predecessors, through a phi
 * where there are several, or where they are not all known yet (sealed).  Phis that turn out to join one value only are
 * left to func_remove_trivial_phis.
 *
 * Rule: every variable is written in the entry block before any read can reach it there. */
#include "frontend/ssa.h"

typedef struct Pending {
    size_t var;
    Value *phi;
} Pending;

typedef struct SsaBlock { /* Block.mark */
    Value **defs;         /* [nvars] */
    bool sealed;
    VEC(Pending) pending;
} SsaBlock;

static SsaBlock *state_of(const Block *block) { return block->mark; }

void ssa_init(Ssa *ssa, Func *func, size_t nvars, const char *const *names) {
    *ssa = (Ssa){.arena = func->arena, .func = func, .nvars = nvars, .names = names};
}

void ssa_add_block(Ssa *ssa, Block *block) {
    SsaBlock *state = ARENA_NEW(ssa->arena, SsaBlock);
    state->defs = ARENA_ARRAY(ssa->arena, Value *, ssa->nvars);
    block->mark = state;
}

void ssa_write(Ssa *ssa, Block *block, size_t var, Value *value) {
    (void)ssa;
    state_of(block)->defs[var] = value;
}

static Value *new_phi(Ssa *ssa, Block *block, size_t var) {
    Value *phi = block_add_phi(ssa->func, block, (Span){0});
    phi->name = ssa->names[var];
    ssa_write(ssa, block, var, phi); /* before its operands are read: they may come round to it */
    return phi;
}

static void fill_phi(Ssa *ssa, Block *block, size_t var, Value *phi) {
    Value **args = ARENA_ARRAY(ssa->arena, Value *, block->preds.len);
    for (size_t i = 0; i < block->preds.len; i++) {
        args[i] = ssa_read(ssa, block->preds.data[i], var);
        if (args[i] && !phi->span.line) phi->span = args[i]->span;
    }
    phi_set_args(ssa->func, phi, args, block->preds.len);
}

/* What a phi that joins one value only stands for, else the phi: whoever reads it may want to see a constant. */
static Value *only_operand(Value *phi) {
    Value *only = NULL;
    for (uint32_t i = 0; i < phi->nargs; i++) {
        if (phi->args[i] == phi || phi->args[i] == only) continue;
        if (only) return phi;
        only = phi->args[i];
    }
    return only ? only : phi;
}

Value *ssa_read(Ssa *ssa, Block *block, size_t var) {
    Block *at = block;
    while (!state_of(at)->defs[var] && state_of(at)->sealed && at->preds.len == 1) at = at->preds.data[0];
    Value *value = state_of(at)->defs[var];
    if (!value && !state_of(at)->sealed) {
        value = new_phi(ssa, at, var);
        vec_push(ssa->arena, &state_of(at)->pending, ((Pending){var, value}));
    } else if (!value && at->preds.len) {
        value = new_phi(ssa, at, var);
        fill_phi(ssa, at, var, value);
        value = only_operand(value);
        ssa_write(ssa, at, var, value);
    }
    if (at != block) ssa_write(ssa, block, var, value);
    return value;
}

void ssa_seal(Ssa *ssa, Block *block) {
    SsaBlock *state = state_of(block);
    state->sealed = true;
    for (size_t i = 0; i < state->pending.len; i++)
        fill_phi(ssa, block, state->pending.data[i].var, state->pending.data[i].phi);
}
