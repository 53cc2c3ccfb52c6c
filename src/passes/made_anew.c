/* made_anew.c: whether what an operation made before may still be used where the operation makes it anew.
 *
 * In: a typed function, an operation in it that has one place in memory for whatever it makes, and which types may hold
 * what it makes.  Out: whether, in a loop, a value that holds what an earlier round made is used after it is made
 * again: the two would be one. */
#include "passes/made_anew.h"

typedef struct Search {
    Arena *arena;
    const Func *func;
    bool *seen; /* by Block.id */
    VEC(const Block *) blocks;
} Search;

static void search_from(Search *search, const Block *block) {
    for (uint32_t i = 0; i < search->func->next_block; i++) search->seen[i] = false;
    search->blocks.len = 0;
    for (uint32_t i = 0; i < block->succs.len; i++) vec_push(search->arena, &search->blocks, block->succs.data[i]);
}

/* The next block that can be reached; NULL: there is none. */
static const Block *search_next(Search *search) {
    while (search->blocks.len) {
        const Block *block = vec_pop(&search->blocks);
        if (search->seen[block->id]) continue;
        search->seen[block->id] = true;
        return block;
    }
    return NULL;
}

static void search_beyond(Search *search, const Block *block) {
    for (uint32_t i = 0; i < block->succs.len; i++) vec_push(search->arena, &search->blocks, block->succs.data[i]);
}

static bool is_in_loop(Search *search, const Block *block) {
    search_from(search, block);
    for (const Block *at; (at = search_next(search)); search_beyond(search, at))
        if (at == block) return true;
    return false;
}

typedef enum Walk { WALK_ON, WALK_ENDS, WALK_FINDS } Walk;

/* From `value` to the end of its block: is `holder` used before it gets a new value? */
static Walk walk(const Value *value, const Value *holder) {
    for (; value; value = value->next) {
        if (value == holder || (value->op == OP_CELL_SET && value->args[0] == holder)) return WALK_ENDS;
        if (value->op == OP_PHI) continue; /* looked at on the edge */
        for (uint32_t i = 0; i < value->nargs; i++)
            if (value->args[i] == holder) return WALK_FINDS;
    }
    return WALK_ON;
}

static bool edge_uses(const Block *from, const Value *holder) {
    for (uint32_t s = 0; s < from->succs.len; s++)
        for (const Value *phi = from->succs.data[s]->first; phi && phi->op == OP_PHI; phi = phi->next)
            for (uint32_t i = 0; i < phi->nargs; i++)
                if (phi->args[i] == holder && phi->block->preds.data[i] == from) return true;
    return false;
}

/* Whether what `holder` holds is used after `made`. */
static bool is_live_after(Search *search, const Value *made, const Value *holder) {
    Walk found = walk(made->next, holder);
    if (found != WALK_ON) return found == WALK_FINDS;
    if (edge_uses(made->block, holder)) return true;
    search_from(search, made->block);
    for (const Block *block; (block = search_next(search));) {
        found = walk(block->first, holder);
        if (found == WALK_FINDS || (found == WALK_ON && edge_uses(block, holder))) return true;
        if (found == WALK_ON) search_beyond(search, block);
    }
    return false;
}

void made_anew_mark(const Func *func, Value *made, HoldsIt *holds) {
    for (size_t b = 0; b < func->blocks.len; b++)
        for (Value *value = func->blocks.data[b]->first; value; value = value->next) value->mark = NULL;
    made->mark = made;
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t b = 0; b < func->blocks.len; b++)
            for (Value *value = func->blocks.data[b]->first; value; value = value->next) {
                Value *holder = value->op == OP_CELL_SET ? value->args[0] : value;
                if (holder->mark || !holder->type || !holds(holder->type)) continue;
                for (uint32_t i = 0; i < value->nargs; i++)
                    if (value->args[i]->mark) holder->mark = made;
                changed |= holder->mark != NULL;
            }
    }
}

bool made_anew_meets_older(Arena *arena, const Func *func, Value *made, HoldsIt *holds) {
    Search search = {arena, func, ARENA_ARRAY(arena, bool, func->next_block), {0}};
    if (!is_in_loop(&search, made->block)) return false;
    made_anew_mark(func, made, holds);
    for (size_t b = 0; b < func->blocks.len; b++)
        for (Value *holder = func->blocks.data[b]->first; holder; holder = holder->next)
            if (holder->mark && holder != made && is_live_after(&search, made, holder)) return true;
    return false;
}
