/* ssa.c: SSA construction on the fly.
 *
 * Input: writes and reads of numbered variables, in blocks whose predecessors may not all be known yet.
 * Output: phis in the Func.
 *
 * Algorithm: M. Braun et al., "Simple and Efficient Construction of Static Single Assignment Form" (CC 2013): a block
 * remembers the last value of each variable; a read that finds none asks the predecessors, through a phi where there
 * are several, or where they are not all known yet (sealed).  Phis that turn out to join one value only are left to
 * func_remove_trivial_phis.  Where the ways that join have nothing written to the variable since they parted, none is
 * made: else each of many variables would have one at each of many joins.
 *
 * Operands of phis are found from a list of work, not by recursion: functions may be long.
 *
 * Rule: every variable is written in the entry block before any read can reach it there. */
#include "frontend/ssa.h"

typedef struct Def {
    Value *value; /* NULL: free */
    size_t var;
} Def;

typedef struct SsaBlock { /* Block.mark */
    Def *defs;            /* hash table by variable; size is a power of two, at least half of it free */
    size_t size, used;
    size_t sealed;       /* 0: not yet; of those that are, which it was */
    Value *last_phi;     /* of those made here */
    VEC(SsaPhi) pending; /* of a block that is not sealed */
} SsaBlock;

static SsaBlock *state_of(const Block *block) { return block->mark; }

void ssa_init(Ssa *ssa, Func *func, const char *const *names) {
    *ssa = (Ssa){.arena = func->arena, .func = func, .names = names};
}

void ssa_add_block(Ssa *ssa, Block *block) { block->mark = ARENA_NEW(ssa->arena, SsaBlock); }

static Def *find_def(const SsaBlock *state, size_t var) {
    size_t at = var & (state->size - 1);
    while (state->defs[at].value && state->defs[at].var != var) at = (at + 1) & (state->size - 1);
    return &state->defs[at];
}

static Value *get_def(const SsaBlock *state, size_t var) { return state->size ? find_def(state, var)->value : NULL; }

void ssa_write(Ssa *ssa, Block *block, size_t var, Value *value) {
    SsaBlock *state = state_of(block);
    if (state->used * 2 >= state->size) {
        SsaBlock larger = {.size = state->size ? state->size * 2 : 8};
        larger.defs = ARENA_ARRAY(ssa->arena, Def, larger.size);
        for (size_t i = 0; i < state->size; i++)
            if (state->defs[i].value) *find_def(&larger, state->defs[i].var) = state->defs[i];
        state->defs = larger.defs;
        state->size = larger.size;
    }
    Def *def = find_def(state, var);
    state->used += def->value == NULL;
    *def = (Def){value, var};
}

static Value *new_phi(Ssa *ssa, Block *block, size_t var) {
    Value **last = &state_of(block)->last_phi;
    Value *phi = *last = block_add_phi_behind(ssa->func, block, *last, (Span){0});
    phi->name = ssa->names[var];
    ssa_write(ssa, block, var, phi); /* before its operands are read: they may come round to it */
    return phi;
}

/* A phi that joins one value only leaves a forward to it: whoever reads it may want to see a constant. */
static Value *resolve(Value *value) {
    while (value && value->mark) value = value->mark;
    return value;
}

/* The block whose last value of the variable is what `block`, which has none of its own, begins with, because nothing
 * on the way between the two writes to it: the one predecessor, or where those of a join meet.  NULL: not known.  Each
 * step goes to a block that was sealed earlier, so that loops end it. */
static Block *from_where(Block *block, size_t var, unsigned depth) {
    enum { MOST_DEPTH = 64 };
    if (!state_of(block)->sealed || !block->preds.len || depth == MOST_DEPTH) return NULL;
    Block *met = block->preds.data[0];
    for (size_t p = 1; p < block->preds.len; p++) {
        for (Block *other = block->preds.data[p]; met != other;) {
            Block **later = state_of(met)->sealed > state_of(other)->sealed ? &met : &other;
            size_t sealed = state_of(*later)->sealed;
            if (sealed >= state_of(block)->sealed || get_def(state_of(*later), var)) return NULL;
            Block *before = from_where(*later, var, depth + 1);
            if (!before || state_of(before)->sealed >= sealed) return NULL;
            *later = before;
        }
    }
    return met;
}

/* The value, or a phi that was added to the work. */
static Value *find(Ssa *ssa, Block *block, size_t var) {
    Block *at = block;
    while (!get_def(state_of(at), var)) {
        Block *before = from_where(at, var, 0);
        if (!before) break;
        at = before;
    }
    Value *value = get_def(state_of(at), var);
    if (!value && !state_of(at)->sealed) {
        value = new_phi(ssa, at, var);
        vec_push(ssa->arena, &state_of(at)->pending, ((SsaPhi){at, var, value}));
    } else if (!value && at->preds.len) {
        value = new_phi(ssa, at, var);
        vec_push(ssa->arena, &ssa->work, ((SsaPhi){at, var, value}));
    }
    value = resolve(value);
    if (at != block && value) ssa_write(ssa, block, var, value);
    return value;
}

static void fill_phi(Ssa *ssa, const SsaPhi *item) {
    size_t count = item->block->preds.len;
    Value **args = ARENA_ARRAY(ssa->arena, Value *, count);
    for (size_t i = 0; i < count; i++) {
        args[i] = find(ssa, item->block->preds.data[i], item->var);
        ssa->unassigned |= !args[i];
        if (!args[i]) args[i] = item->phi;
    }
    phi_set_args(ssa->func, item->phi, args, count);
}

static void settle_phi(Value *phi) {
    Value *only = NULL;
    bool several = false;
    for (uint32_t i = 0; i < phi->nargs; i++) {
        Value *arg = resolve(phi->args[i]);
        if (!phi->span.line) phi->span = arg->span;
        if (arg == phi || arg == only) continue;
        several |= only != NULL;
        only = arg;
    }
    if (only && !several) phi->mark = only;
}

/* Fills the phis that reads have made, which makes more; then the last ones, furthest from the read, are settled first.
 */
static void do_work(Ssa *ssa) {
    for (size_t i = 0; i < ssa->work.len; i++) {
        SsaPhi item = ssa->work.data[i];
        fill_phi(ssa, &item);
    }
    while (ssa->work.len) settle_phi(vec_pop(&ssa->work).phi);
}

Value *ssa_read(Ssa *ssa, Block *block, size_t var) {
    Value *value = find(ssa, block, var);
    do_work(ssa);
    return resolve(value);
}

void ssa_seal(Ssa *ssa, Block *block) {
    SsaBlock *state = state_of(block);
    state->sealed = ++ssa->nsealed;
    for (size_t i = 0; i < state->pending.len; i++) {
        fill_phi(ssa, &state->pending.data[i]);
        do_work(ssa);
        if (!state->pending.data[i].phi->span.line && state->pending.data[i].phi->nargs)
            state->pending.data[i].phi->span = resolve(state->pending.data[i].phi->args[0])->span;
    }
}
