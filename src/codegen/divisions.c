/* divisions.c: which loops may pass by a division of integers.
 *
 * Of a division that is the same in all lanes LLVM takes the first lane's, also where a condition keeps that lane from
 * dividing; what the others read from is then any address.  Loops in which a round may divide and another not are
 * therefore not made vectors of.  In: the blocks of a loop, or a function that every round calls; the functions that
 * these call are looked into as deep as they go, for LLVM puts them into their callers. */
#include "codegen/lower.h"

typedef struct Search {
    Arena *arena;
    VEC(const FuncInst *) seen; /* functions whose bodies are searched, or are to be */
    bool divides, branches;
} Search;

static void search_function(Search *s, const FuncInst *inst) {
    if (!inst || !inst->func) return;
    for (size_t i = 0; i < s->seen.len; i++)
        if (s->seen.data[i] == inst) return;
    vec_push(s->arena, &s->seen, inst);
}

static void search_block(Search *s, const Block *block) {
    for (const Value *value = block->first; value; value = value->next) {
        s->divides |= value_divides(value) && value->type && type_is_integer(value->type);
        search_function(s, value_callee(value));
    }
}

static bool answer(Search *s) {
    for (size_t i = 0; i < s->seen.len && !(s->divides && s->branches); i++) {
        const Func *func = s->seen.data[i]->func;
        s->branches |= func->blocks.len > 1;
        for (size_t b = 0; b < func->blocks.len; b++) search_block(s, func->blocks.data[b]);
    }
    return s->divides && s->branches;
}

bool l_may_divide(Lower *l, const FuncInst *inst) {
    Search s = {.arena = l->arena, .branches = true};
    search_function(&s, inst);
    return answer(&s);
}

bool l_may_pass_by_division(Lower *l, const FuncInst *inst) {
    Search s = {.arena = l->arena};
    search_function(&s, inst);
    return answer(&s);
}

BlockList l_loop_body(Lower *l, const Block *latch, const Block *header) {
    BlockList work = {0}, body = {0};
    bool *seen = ARENA_ARRAY(l->arena, bool, l->func->next_block);
    vec_push(l->arena, &work, (Block *)latch);
    seen[header->id] = true;
    while (work.len) {
        Block *block = vec_pop(&work);
        if (seen[block->id]) continue;
        seen[block->id] = true;
        vec_push(l->arena, &body, block);
        for (size_t i = 0; i < block->preds.len; i++) vec_push(l->arena, &work, block->preds.data[i]);
    }
    return body;
}

bool l_loop_may_pass_by_division(Lower *l, const Block *latch, const Block *header) {
    Search s = {.arena = l->arena};
    BlockList body = l_loop_body(l, latch, header);
    for (size_t b = 0; b < body.len; b++) search_block(&s, body.data[b]);
    s.branches = body.len > 1;
    return answer(&s);
}
