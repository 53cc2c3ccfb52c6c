/* clone.c: copies of values, constants and functions.
 *
 * func_clone: one that shares nothing that passes change: values, blocks, edges and operand lists are new; constants,
 * names, types and sources, which nobody changes, are shared.  Numbers stay as they are.  Old values find new ones
 * through tables by number.  func_copy: a clone that shares types alone, so that it may outlive the arena of the old
 * one. */
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
        block->left = from->left;
        vec_push(arena, &func->blocks, block);
        clone.blocks[from->id] = block;
        for (const Value *value = from->first; value; value = value->next) clone_value(&clone, value, block);
    }
    for (size_t b = 0; b < old->blocks.len; b++) clone_links(&clone, old->blocks.data[b]);
    return func;
}

/* ---- what outlives its arena ---- */

static const char *text_copy(Arena *arena, const char *text) { return text ? arena_strdup(arena, text) : NULL; }

static const ArrayConst *array_copy(Arena *arena, const ArrayConst *old, uint32_t ndim) {
    size_t bytes = sizeof(int64_t) * ndim;
    ArrayConst *array = ARENA_NEW(arena, ArrayConst);
    *array = *old;
    array->shape = memcpy(arena_alloc(arena, bytes + 1), old->shape, bytes);
    array->strides = memcpy(arena_alloc(arena, bytes + 1), old->strides, bytes);
    return array;
}

const Const *const_copy(Arena *arena, const Const *konst) {
    if (!konst) return NULL;
    Const *copy = ARENA_NEW(arena, Const);
    *copy = *konst;
    size_t count = const_item_count(konst);
    if (konst->type->kind == TY_STR || konst->type->kind == TY_CHARS) {
        copy->text = text_copy(arena, konst->text);
    } else if (konst->type->kind == TY_ARRAY && konst->array) {
        copy->array = array_copy(arena, konst->array, konst->type->ndim);
    } else if (count) {
        const Const **items = ARENA_ARRAY(arena, const Const *, count);
        for (size_t i = 0; i < count; i++) items[i] = const_copy(arena, konst->items[i]);
        copy->items = items;
    }
    return copy;
}

static const Source *source_copy(Arena *arena, const Source *old) {
    if (!old) return NULL;
    Source *source = ARENA_NEW(arena, Source);
    *source = *old;
    source->file = text_copy(arena, old->file);
    source->function = text_copy(arena, old->function);
    source->text = text_copy(arena, old->text);
    return source;
}

static void own_value(Arena *arena, Value *value) {
    const char **names = value->imm.nnames ? ARENA_ARRAY(arena, const char *, value->imm.nnames) : NULL;
    for (uint32_t i = 0; i < value->imm.nnames; i++) names[i] = text_copy(arena, value->imm.names[i]);
    value->imm.names = names;
    value->imm.text = text_copy(arena, value->imm.text);
    value->name = text_copy(arena, value->name);
    value->konst = const_copy(arena, value->konst);
}

Func *func_copy(Arena *arena, const Func *old) {
    Func *func = func_clone(arena, old);
    func->name = text_copy(arena, old->name);
    func->source = source_copy(arena, old->source);
    for (uint32_t i = 0; i < func->nparams; i++) {
        func->params[i].name = text_copy(arena, func->params[i].name);
        func->params[i].fallback = const_copy(arena, func->params[i].fallback);
    }
    for (size_t b = 0; b < func->blocks.len; b++)
        for (Value *value = func->blocks.data[b]->first; value; value = value->next) own_value(arena, value);
    return func;
}
