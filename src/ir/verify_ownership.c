/* verify_ownership.c: is every reference that a function takes given up exactly once, on every way through it?
 *
 * In: a typed function whose form is sound.  Out: a fault where a count is wrong.
 *
 * A value is borrowed: somebody else holds it.  RETAIN takes a reference of one's own, RELEASE gives one up; a value
 * with VF_OWNED comes with one.  `return` gives up a reference to its operand if one is held, with VF_OWNED it needs
 * one, as do the cells that take one, and what takes its first operand (EFFECT_TAKE) unless it raises; a phi takes over
 * the references that its operands hold, and they must hold one on every edge or, without VF_OWNED, on none.  Nothing
 * may be held where the function is left.  What may raise hands what is held before it to the handler.  Blocks are
 * taken in reverse post-order; the counts at the start of one are those of the first edge that leads there, and every
 * other edge must bring the same. */
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
            if (value->op == OP_RETAIN || value->op == OP_RELEASE)
                note(own, value->args[0]);
            else if (value->flags & VF_OWNED && op_has_result(value->op))
                note(own, value);
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

/* The value takes a reference to its operand over. */
static void take(Ownership *own, const Value *value, const Value *operand, int32_t *counts) {
    int32_t *count = count_of(own, counts, operand);
    if (count && *count > 0)
        --*count;
    else if (value->flags & VF_OWNED)
        verify_fault(own->verifier, value->block, value, "no reference to %%%u is held here", (unsigned)operand->id);
}

static void pass_value(Ownership *own, const Value *value, int32_t *counts) {
    switch (value->op) {
    case OP_RETAIN: ++*count_of(own, counts, value->args[0]); return;
    case OP_RELEASE: {
        int32_t *count = count_of(own, counts, value->args[0]);
        if (--*count >= 0) return;
        verify_fault(own->verifier, value->block, value, "no reference to %%%u is held here",
                     (unsigned)value->args[0]->id);
        *count = 0;
        return;
    }
    case OP_RETURN:
        take(own, value, value->args[0], counts);
        want_none_held(own, value, counts, "when the function returns");
        return;
    case OP_CELL_SET:
        if (value->flags & VF_OWNED) take(own, value, value->args[1], counts);
        return;
    case OP_CELL:
        if (value->flags & VF_OWNED && value->nargs) take(own, value, value->args[0], counts);
        break;
    case OP_CALL_FUNC:
        if (func_effects(value->imm.func) & EFFECT_TAKE) take(own, value, value->args[0], counts);
        break;
    default: break;
    }
    if (value->flags & VF_OWNED && op_has_result(value->op)) ++*count_of(own, counts, value);
}

/* Over edge number `edge` into a block. */
static void pass_edge(Ownership *own, const Block *to, size_t edge, const int32_t *from) {
    size_t bytes = own->values.len * sizeof *from;
    int32_t *counts = memcpy(arena_alloc(own->verifier->arena, bytes), from, bytes);
    int32_t *taken = ARENA_ARRAY(own->verifier->arena, int32_t, own->values.len);
    for (const Value *phi = to->first; phi && phi->op == OP_PHI; phi = phi->next) { /* all at once: x, y = y, x */
        int32_t *count = count_of(own, taken, phi), *operand = count_of(own, counts, phi->args[edge]);
        if (!count) continue;
        *count = *operand > 0;
        *operand -= *count;
        if (!*count && phi->flags & VF_OWNED)
            verify_fault(own->verifier, to, phi, "no reference to %%%u is held on its way",
                         (unsigned)phi->args[edge]->id);
    }
    for (const Value *phi = to->first; phi && phi->op == OP_PHI; phi = phi->next) {
        int32_t *count = count_of(own, counts, phi);
        if (!count) continue;
        if (*count > 0) verify_fault(own->verifier, to, phi, "the reference held before is lost");
        *count = *count_of(own, taken, phi);
    }
    int32_t **at = &own->at[own->graph->position[to->id]];
    if (!*at) *at = counts;
    for (size_t i = 0; i < own->values.len; i++)
        if (counts[i] != (*at)[i])
            verify_fault(own->verifier, to, NULL, "a reference to %%%u is held on some of the ways here only",
                         (unsigned)own->values.data[i]->id);
}

static void pass_edges(Ownership *own, const Block *from, const Block *to, const int32_t *counts) {
    for (size_t p = 0; p < to->preds.len; p++)
        if (to->preds.data[p] == from) pass_edge(own, to, p, counts);
}

static void pass_block(Ownership *own, const Block *block, int32_t *counts) {
    const Block *handler = block_unwind(block);
    for (const Value *value = block->first; value; value = value->next) {
        if (value->op == OP_PHI) continue;
        bool raises = value_effects(value, true) & EFFECT_RAISE;
        if (raises && handler) pass_edges(own, block, handler, counts);
        if (raises && !handler) want_none_held(own, value, counts, "and lost if this raises");
        pass_value(own, value, counts);
    }
    for (size_t s = 0; s < block_normal_succs(block); s++) pass_edges(own, block, block->succs.data[s], counts);
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
        if (!own.at[b]) continue; /* nothing raises on the way there */
        memcpy(counts, own.at[b], own.values.len * sizeof *counts);
        pass_block(&own, graph->blocks[b], counts);
    }
}
