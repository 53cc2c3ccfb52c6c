/* clone.c: copies of values, and of a function: one that shares nothing that passes change: values, blocks, edges and
 * operand lists are new; constants, names, types and sources, which nobody changes, are shared.  Numbers stay as they
 * are.  Old values find new ones through tables by number. */
#include "ir/ir.h"

#include <string.h> /* memcpy */

typedef struct Clone {
    Func *func;
    Value **values; /* by the old value's number */
    Block **blocks; /* by the old block's number */
} Clone;

static Value *clone_value(Clone *clone, const Value *old, Block *block) {
    Value *value = ARENA_NEW(clone->func->arena, Value);
    *value = *old;
    value->mark = NULL;
    block_put_last(block, value);
    clone->values[old->id] = value;
    return value;
}

/* Second round, when every value has its copy: operands, edges, dominators. */
static void clone_links(Clone *clone, const Block *old) {
    Arena *arena = clone->func->arena;
    Block *block = clone->blocks[old->id];
    for (Value *value = block->first; value; value = value->next) {
        Value **args = value->nargs ? ARENA_ARRAY(arena, Value *, value->nargs) : NULL;
        for (uint32_t i = 0; i < value->nargs; i++) args[i] = clone->values[value->args[i]->id];
        value->args = args;
    }
    for (size_t i = 0; i < old->succs.len; i++) vec_push(arena, &block->succs, clone->blocks[old->succs.data[i]->id]);
    for (size_t i = 0; i < old->preds.len; i++) vec_push(arena, &block->preds, clone->blocks[old->preds.data[i]->id]);
    if (old->idom) block->idom = clone->blocks[old->idom->id];
}

Value *block_append_copy(Func *func, Block *block, const Value *value, Value *const *args) {
    Value *copy = value->op == OP_PHI ? block_add_phi(func, block, value->span)
                                      : block_append(func, block, value->op, value->span, args, value->nargs);
    copy->type = value->type;
    copy->konst = value->konst;
    copy->flags = value->flags;
    copy->name = value->name;
    copy->bounds = value->bounds;
    copy->imm = value->imm;
    return copy;
}

Func *func_clone(Arena *arena, const Func *old) {
    Func *func = ARENA_NEW(arena, Func);
    *func = *old;
    func->graph = NULL;
    func->arena = arena;
    func->blocks.data = NULL;
    func->blocks.len = func->blocks.cap = 0;
    func->params = ARENA_ARRAY(arena, Param, old->nparams);
    if (old->nparams) memcpy(func->params, old->params, old->nparams * sizeof *func->params);
    Clone clone = {
        .func = func,
        .values = ARENA_ARRAY(arena, Value *, old->next_value),
        .blocks = ARENA_ARRAY(arena, Block *, old->next_block),
    };
    for (size_t b = 0; b < old->blocks.len; b++) {
        const Block *from = old->blocks.data[b];
        Block *block = ARENA_NEW(arena, Block);
        block->id = from->id;
        block->order = from->order;
        block->unwinds = from->unwinds;
        block->unroll = from->unroll;
        block->unroll_whole = from->unroll_whole;
        vec_push(arena, &func->blocks, block);
        clone.blocks[from->id] = block;
        for (const Value *value = from->first; value; value = value->next) clone_value(&clone, value, block);
    }
    for (size_t b = 0; b < old->blocks.len; b++) clone_links(&clone, old->blocks.data[b]);
    return func;
}
