/* verify_ownership.c: is every reference that a function takes given up exactly once, on every way through it?
 *
 * In: a typed function whose form is sound.  Out: a fault where a count is wrong.
 *
 * A value is borrowed: somebody else holds it.  RETAIN takes a reference of one's own, RELEASE gives one up.  `return`
 * gives up a reference to its operand if one is held; a phi takes over the references that its operands hold, and they
 * must hold one on every edge or on none.  Nothing may be held where the function is left, nor where an operation may
 * raise: raises that hand references on are edges by then.  Blocks are taken in reverse post-order; the counts at the
 * start of one are those of the first edge that leads there, and every other edge must bring the same. */
#include "ir/verify.h"

#include <string.h> /* memcpy */

typedef struct Ownership {
    Verifier *verifier;
    const Graph *graph;
    uint32_t *index; /* by Value.id: 1 + its place in values; 0: its references are not touched */
    VEC(const Value *) values;
    int32_t **at; /* by place of the block in the graph: counts at its start; NULL: not known yet */
} Ownership;

static int32_t *count_of(const Ownership *own, int32_t *counts, const Value *value) {
    return own->index[value->id] ? &counts[own->index[value->id] - 1] : NULL;
}

/* ---- whose references are touched ---- */

static bool note(Ownership *own, const Value *value) {
    if (own->index[value->id]) return false;
    vec_push(own->verifier->arena, &own->values, value);
    own->index[value->id] = (uint32_t)own->values.len;
    return true;
}

static bool note_phi(Ownership *own, const Value *phi) {
    bool touched = own->index[phi->id] != 0, changed = false;
    for (uint32_t i = 0; i < phi->nargs; i++) touched |= own->index[phi->args[i]->id] != 0;
    if (!touched) return false;
    for (uint32_t i = 0; i < phi->nargs; i++) changed |= note(own, phi->args[i]);
    return note(own, phi) || changed;
}

static void find_touched(Ownership *own) {
    const Graph *graph = own->graph;
    for (uint32_t b = 0; b < graph->count; b++)
        for (const Value *value = graph->blocks[b]->first; value; value = value->next)
            if (value->op == OP_RETAIN || value->op == OP_RELEASE) note(own, value->args[0]);
    for (bool changed = own->values.len > 0; changed;) {
        changed = false;
        for (uint32_t b = 0; b < graph->count; b++)
            for (const Value *phi = graph->blocks[b]->first; phi && phi->op == OP_PHI; phi = phi->next)
                changed |= note_phi(own, phi);
    }
}

/* ---- along the ways ---- */

static void want_none_held(Ownership *own, const Value *at, const int32_t *counts, const char *when) {
    for (size_t i = 0; i < own->values.len; i++)
        if (counts[i] > 0)
            verify_fault(own->verifier, at->block, at, "a reference to %%%u is held %s",
                         (unsigned)own->values.data[i]->id, when);
}

static void pass_value(Ownership *own, const Value *value, int32_t *counts) {
    int32_t *count = value->nargs ? count_of(own, counts, value->args[0]) : NULL;
    switch (value->op) {
    case OP_RETAIN: ++*count; return;
    case OP_RELEASE:
        if (--*count >= 0) return;
        verify_fault(own->verifier, value->block, value, "no reference to %%%u is held here",
                     (unsigned)value->args[0]->id);
        *count = 0;
        return;
    case OP_RETURN:
        if (count && *count > 0) --*count;
        want_none_held(own, value, counts, "when the function returns");
        return;
    default:
        if (value_effects(value, true) & EFFECT_RAISE) want_none_held(own, value, counts, "and lost if this raises");
        return;
    }
}

/* Over edge number `edge` into a block. */
static void pass_edge(Ownership *own, const Block *to, size_t edge, const int32_t *from) {
    size_t bytes = own->values.len * sizeof *from;
    int32_t *counts = memcpy(arena_alloc(own->verifier->arena, bytes), from, bytes);
    for (const Value *phi = to->first; phi && phi->op == OP_PHI; phi = phi->next) {
        int32_t *count = count_of(own, counts, phi), *operand = count_of(own, counts, phi->args[edge]);
        if (!count) continue;
        bool moves = *operand > 0;
        *operand -= moves;
        *count = moves;
    }
    int32_t **at = &own->at[own->graph->position[to->id]];
    if (!*at) *at = counts;
    for (size_t i = 0; i < own->values.len; i++)
        if (counts[i] != (*at)[i])
            verify_fault(own->verifier, to, NULL, "a reference to %%%u is held on some of the ways here only",
                         (unsigned)own->values.data[i]->id);
}

void verify_ownership(Verifier *verifier, const Graph *graph) {
    Arena *arena = verifier->arena;
    Ownership own = {.verifier = verifier, .graph = graph};
    own.index = ARENA_ARRAY(arena, uint32_t, verifier->func->next_value);
    find_touched(&own);
    if (!own.values.len) return;
    own.at = ARENA_ARRAY(arena, int32_t *, graph->count);
    own.at[0] = ARENA_ARRAY(arena, int32_t, own.values.len);
    int32_t *counts = ARENA_ARRAY(arena, int32_t, own.values.len);
    for (uint32_t b = 0; b < graph->count; b++) {
        const Block *block = graph->blocks[b];
        memcpy(counts, own.at[b], own.values.len * sizeof *counts);
        for (const Value *value = block->first; value; value = value->next)
            if (value->op != OP_PHI) pass_value(&own, value, counts);
        for (uint32_t s = 0; s < block->succs.len; s++)
            for (size_t p = 0; p < block->succs.data[s]->preds.len; p++)
                if (block->succs.data[s]->preds.data[p] == block) pass_edge(&own, block->succs.data[s], p, counts);
    }
}
