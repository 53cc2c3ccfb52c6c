/* owners.c: who holds references to objects of the heap (owners.h), and where they are still needed.
 *
 * In: a typed function.  Out: its owners, which of them each value holds, which are live at the start of each block.
 *
 * 1. Whether a value holds any: what makes references does, and by rounds, for loops, what has an operand that does and
 *    a type that may refer to it.  A phi that does becomes an owner, since it may stand for one on one way and for
 *    another elsewhere; one with a pointer into the frame in it (iterators, cells) cannot, and holds what its operands
 *    hold, which then must be defined on every way to it.
 * 2. Sets of owners: those of the operands together; most values have one operand, whose set they share.
 * 3. Liveness of owners by the usual backward equations over sets of bits: a use of a value is one of all it holds. */
#include "passes/owners.h"

#include <string.h> /* memcpy */

/* ---- types ---- */

static bool has_state(const Type *type) {
    const Repr *repr = type_repr(type);
    for (uint32_t i = 0; i < repr->nleaves; i++)
        if (repr->leaves[i].kind == LEAF_STATE) return true;
    return false;
}

static bool may_refer(const Value *value) {
    return value->type && !type_is_caught(value->type) && (type_is_counted(value->type) || has_state(value->type));
}

bool owners_is_maker(const Value *value) {
    if (!value->type) return false;
    if (value->op == OP_CELL) return type_is_counted(value->type->items[0]);
    bool makes = value->op == OP_CALL_INST || value->op == OP_CELL_GET || value_effects(value, true) & EFFECT_NEW;
    return makes && type_is_counted(value->type);
}

static bool is_owner_phi(const Value *value) {
    return value->op == OP_PHI && type_is_counted(value->type) && !has_state(value->type);
}

/* ---- 1. who holds any ---- */

typedef struct Finder {
    Owners *owners;
    Diag *diag;
    bool *holds; /* by Value.id */
} Finder;

/* What a generator is given it keeps. */
static bool is_maker(const Finder *f, const Value *value) {
    bool kept = value->op == OP_PARAM && f->owners->func->generator && type_is_counted(value->type);
    return kept || owners_is_maker(value);
}

static bool find_round(Finder *f) {
    bool changed = false;
    for (size_t b = 0; b < f->owners->func->blocks.len; b++)
        for (const Value *value = f->owners->func->blocks.data[b]->first; value; value = value->next) {
            if (f->holds[value->id] || !op_has_result(value->op) || !may_refer(value)) continue;
            bool holds = is_maker(f, value);
            for (uint32_t i = 0; i < value->nargs && !holds; i++) holds = f->holds[value->args[i]->id];
            f->holds[value->id] = holds;
            changed |= holds;
        }
    return changed;
}

static void number_owners(Finder *f) {
    Owners *owners = f->owners;
    for (size_t b = 0; b < owners->func->blocks.len; b++)
        for (Value *value = owners->func->blocks.data[b]->first; value; value = value->next) {
            if (!f->holds[value->id] || !(is_maker(f, value) || is_owner_phi(value))) continue;
            vec_push(owners->arena, &owners->values, value);
            owners->number[value->id] = (uint32_t)owners->values.len;
        }
}

/* ---- 2. which ---- */

static OwnerSet unite(Arena *arena, OwnerSet a, OwnerSet b) {
    if (!b.count || a.items == b.items) return a;
    if (!a.count) return b;
    uint32_t *items = ARENA_ARRAY(arena, uint32_t, a.count + b.count), count = 0;
    for (uint32_t i = 0, k = 0; i < a.count || k < b.count;) {
        bool first = k == b.count || (i < a.count && a.items[i] <= b.items[k]);
        uint32_t item = first ? a.items[i++] : b.items[k++];
        if (!count || items[count - 1] != item) items[count++] = item;
    }
    return count == a.count ? a : (OwnerSet){count, items};
}

/* A generator may refer to cells of the function that makes it, and one that is made of it through that one. */
static OwnerSet add_cells(const Owners *owners, OwnerSet set, const Value *generator) {
    for (uint32_t i = 0; i < generator->nargs; i++) {
        OwnerSet held = owners->held[generator->args[i]->id];
        for (uint32_t k = 0; k < held.count; k++)
            if (owners->values.data[held.items[k]]->op == OP_CELL)
                set = unite(owners->arena, set, (OwnerSet){1, &held.items[k]});
    }
    return set;
}

static bool hold_round(Finder *f) {
    Owners *owners = f->owners;
    bool changed = false;
    for (size_t b = 0; b < owners->func->blocks.len; b++)
        for (const Value *value = owners->func->blocks.data[b]->first; value; value = value->next) {
            if (!f->holds[value->id]) continue;
            OwnerSet before = owners->held[value->id], set = before;
            if (owners->number[value->id] && !before.count) {
                uint32_t *item = ARENA_NEW(owners->arena, uint32_t);
                *item = owners->number[value->id] - 1;
                set = (OwnerSet){1, item};
            } else if (!owners->number[value->id]) {
                for (uint32_t i = 0; i < value->nargs; i++)
                    set = unite(owners->arena, set, owners->held[value->args[i]->id]);
            }
            if (value->op == OP_CALL_INST && value->type->kind == TY_GENERATOR) set = add_cells(owners, set, value);
            owners->held[value->id] = set;
            changed |= set.count != before.count;
        }
    return changed;
}

static bool cannot_follow(Finder *f, const Value *at) {
    diag_fail(f->diag, DIAG_UNSUPPORTED, f->owners->func->source, at->span,
              "an iterator over an array that was made here may be in use longer than the array");
    diag_hint(f->diag, "iterate over the array where it is made, or pass it as an argument");
    return false;
}

/* A phi with a pointer in it, and a cell that is given one, keep nothing alive themselves. */
static bool check_pointers(Finder *f) {
    const Owners *owners = f->owners;
    bool ordered = false;
    for (size_t b = 0; b < owners->func->blocks.len; b++)
        for (const Value *value = owners->func->blocks.data[b]->first; value; value = value->next) {
            if (value->op == OP_CELL_SET && owners->held[value->args[1]->id].count && has_state(value->args[1]->type))
                return cannot_follow(f, value);
            if (value->op != OP_PHI || owners->number[value->id]) continue;
            OwnerSet held = owners->held[value->id];
            if (held.count && !ordered) func_compute_dominators(owners->func);
            ordered |= held.count > 0;
            for (uint32_t i = 0; i < held.count; i++)
                if (!block_dominates(owners->values.data[held.items[i]]->block, value->block))
                    return cannot_follow(f, value);
        }
    return true;
}

/* ---- 3. liveness ---- */

static void add_all(uint64_t *set, OwnerSet held) {
    for (uint32_t i = 0; i < held.count; i++) owners_add(set, held.items[i]);
}

void owners_live_along(const Owners *owners, const Block *to, size_t pred, uint64_t *live) {
    for (size_t w = 0; w < owners->words; w++) live[w] |= owners->live_in[to->order][w];
    for (const Value *phi = to->first; phi && phi->op == OP_PHI; phi = phi->next)
        add_all(live, owners_held(owners, phi->args[pred]));
}

size_t owners_edge(const Block *from, size_t succ) {
    const Block *to = from->succs.data[succ];
    size_t nth = 0, pred = 0; /* of several edges to one block the first stands first on both sides */
    for (size_t s = 0; s < succ; s++) nth += from->succs.data[s] == to;
    for (;; pred++)
        if (to->preds.data[pred] == from && nth-- == 0) return pred;
}

typedef struct Liveness { /* of a block */
    uint64_t *uses, *defs;
} Liveness;

static Liveness look_at(const Owners *owners, const Block *block) {
    Liveness sets = {ARENA_ARRAY(owners->arena, uint64_t, owners->words),
                     ARENA_ARRAY(owners->arena, uint64_t, owners->words)};
    for (const Value *value = block->last; value; value = value->prev) {
        uint32_t number = owners->number[value->id];
        if (number) owners_drop(sets.uses, number - 1);
        if (number) owners_add(sets.defs, number - 1);
        for (uint32_t i = 0; value->op != OP_PHI && i < value->nargs; i++)
            add_all(sets.uses, owners->held[value->args[i]->id]);
    }
    return sets;
}

static void find_live(Owners *owners) {
    Func *func = owners->func;
    size_t words = owners->words, bytes = words * sizeof(uint64_t);
    Liveness *sets = ARENA_ARRAY(owners->arena, Liveness, func->blocks.len);
    uint64_t *live = ARENA_ARRAY(owners->arena, uint64_t, words);
    owners->live_in = ARENA_ARRAY(owners->arena, uint64_t *, func->blocks.len);
    for (size_t b = 0; b < func->blocks.len; b++) {
        sets[b] = look_at(owners, func->blocks.data[b]);
        owners->live_in[b] = ARENA_ARRAY(owners->arena, uint64_t, words);
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t b = func->blocks.len; b-- > 0;) {
            const Block *block = func->blocks.data[b];
            memset(live, 0, bytes);
            for (size_t s = 0; s < block->succs.len; s++)
                owners_live_along(owners, block->succs.data[s], owners_edge(block, s), live);
            for (size_t w = 0; w < words; w++) live[w] = sets[b].uses[w] | (live[w] & ~sets[b].defs[w]);
            changed |= memcmp(live, owners->live_in[b], bytes) != 0;
            memcpy(owners->live_in[b], live, bytes);
        }
    }
}

/* ---- all of it ---- */

bool owners_find(Owners *owners, Arena *arena, Func *func, Diag *diag) {
    func_compute_order(func);
    *owners = (Owners){.arena = arena, .func = func, .nvalues = func->next_value};
    owners->number = ARENA_ARRAY(arena, uint32_t, func->next_value);
    owners->held = ARENA_ARRAY(arena, OwnerSet, func->next_value);
    Finder finder = {.owners = owners, .diag = diag, .holds = ARENA_ARRAY(arena, bool, func->next_value)};
    while (find_round(&finder)) continue;
    number_owners(&finder);
    while (hold_round(&finder)) continue;
    TRY(check_pointers(&finder));
    owners->words = owners->values.len / 64 + 1;
    find_live(owners);
    return true;
}
