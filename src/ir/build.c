/* build.c: making and changing functions: values, blocks, edges.
 *
 * Every change keeps three things in step: a block's list of values, the successors of a block with the predecessors of
 * the other, and the operands of a phi with the predecessors of its block. */
#include "ir/ir.h"

#include <string.h> /* memcpy */

Func *func_new(Arena *arena, TypeTable *types, const char *name, const Source *source) {
    Func *func = ARENA_NEW(arena, Func);
    func->arena = arena;
    func->types = types;
    func->name = name;
    func->source = source;
    return func;
}

Block *block_new(Func *func) {
    Block *block = ARENA_NEW(func->arena, Block);
    block->id = func->next_block++;
    block->order = UINT32_MAX;
    vec_push(func->arena, &func->blocks, block);
    return block;
}

static Value **copy_args(Func *func, Value *const *args, size_t nargs) {
    if (!nargs) return NULL;
    Value **copy = ARENA_ARRAY(func->arena, Value *, nargs);
    memcpy(copy, args, nargs * sizeof *copy);
    return copy;
}

Value *value_new(Func *func, Op op, Span span, Value *const *args, size_t nargs) {
    Value *value = ARENA_NEW(func->arena, Value);
    value->op = op;
    value->id = func->next_value++;
    value->span = span;
    value->args = copy_args(func, args, nargs);
    value->nargs = (uint32_t)nargs;
    return value;
}

/* Puts value between prev and next, either of which may be NULL. */
static void link_value(Block *block, Value *prev, Value *value, Value *next) {
    value->block = block;
    value->prev = prev;
    value->next = next;
    if (prev)
        prev->next = value;
    else
        block->first = value;
    if (next)
        next->prev = value;
    else
        block->last = value;
}

void block_put_last(Block *block, Value *value) { link_value(block, block->last, value, NULL); }

Value *block_append(Func *func, Block *block, Op op, Span span, Value *const *args, size_t nargs) {
    Value *value = value_new(func, op, span, args, nargs);
    block_put_last(block, value);
    return value;
}

Value *block_append_const(Func *func, Block *block, Span span, const Const *konst) {
    Value *value = block_append(func, block, konst->captured ? OP_CAPTURED : OP_CONST, span, NULL, 0);
    if (konst->captured) {
        value->imm.i = konst->i;
        return value;
    }
    value->konst = konst;
    value->type = konst->type;
    return value;
}

Value *block_add_phi(Func *func, Block *block, Span span) { return block_add_phi_behind(func, block, NULL, span); }

Value *block_add_phi_behind(Func *func, Block *block, Value *after, Span span) {
    Value *phi = value_new(func, OP_PHI, span, NULL, 0);
    for (Value *next = after ? after->next : block->first; next && next->op == OP_PHI; next = next->next) after = next;
    link_value(block, after, phi, after ? after->next : block->first);
    return phi;
}

void phi_set_args(Func *func, Value *phi, Value *const *args, size_t nargs) {
    phi->args = copy_args(func, args, nargs);
    phi->nargs = (uint32_t)nargs;
}

void value_insert_before(Value *at, Value *value) { link_value(at->block, at->prev, value, at); }

void value_remove(Value *value) {
    Block *block = value->block;
    if (value->prev)
        value->prev->next = value->next;
    else
        block->first = value->next;
    if (value->next)
        value->next->prev = value->prev;
    else
        block->last = value->prev;
    value->block = NULL;
    value->prev = value->next = NULL;
}

void value_replace(Func *func, Value *old, Value *with) {
    for (size_t b = 0; b < func->blocks.len; b++)
        for (Value *value = func->blocks.data[b]->first; value; value = value->next)
            for (uint32_t i = 0; i < value->nargs; i++)
                if (value->args[i] == old) value->args[i] = with;
}

size_t block_count_edges(const Block *from, const Block *to) {
    size_t count = 0;
    for (size_t s = 0; s < from->succs.len; s++) count += from->succs.data[s] == to;
    return count;
}

void block_add_edge(Func *func, Block *from, Block *to) {
    vec_push(func->arena, &from->succs, to);
    vec_push(func->arena, &to->preds, from);
    if (!from->unwinds) return;
    size_t last = from->succs.len - 1; /* the raise edge stays the last */
    from->succs.data[last] = from->succs.data[last - 1];
    from->succs.data[last - 1] = to;
}

void block_set_unwind(Func *func, Block *block, Block *handler) {
    if (block->unwinds) block_remove_edge(func, block, block_unwind(block));
    if (!handler) return;
    block_add_edge(func, block, handler);
    block->unwinds = true;
}

void block_repeat_operands(Func *func, Block *block, size_t like) {
    for (Value *phi = block->first; phi && phi->op == OP_PHI; phi = phi->next) {
        Value **args = ARENA_ARRAY(func->arena, Value *, phi->nargs + 1);
        memcpy(args, phi->args, phi->nargs * sizeof *args);
        args[phi->nargs] = phi->args[like];
        phi_set_args(func, phi, args, phi->nargs + 1);
    }
}

void block_unwind_like(Func *func, Block *to, const Block *from) {
    Block *handler = block_unwind(from);
    if (!handler) return;
    size_t like = 0;
    while (handler->preds.data[like] != from) like++;
    block_set_unwind(func, to, handler);
    block_repeat_operands(func, handler, like);
}

void block_jump(Func *func, Block *from, Span span, Block *to) {
    block_append(func, from, OP_JUMP, span, NULL, 0);
    block_add_edge(func, from, to);
}

void block_branch(Func *func, Block *from, Span span, Value *condition, Block *if_true, Block *if_false) {
    block_append(func, from, OP_BRANCH, span, &condition, 1);
    block_add_edge(func, from, if_true);
    block_add_edge(func, from, if_false);
}

/* Removes predecessor number `index` of a block and the operands that its phis have for it. */
static void remove_pred(Block *block, size_t index) {
    for (size_t i = index + 1; i < block->preds.len; i++) block->preds.data[i - 1] = block->preds.data[i];
    for (Value *phi = block->first; phi && phi->op == OP_PHI; phi = phi->next) {
        if (phi->nargs != block->preds.len) continue; /* its operands are not set yet */
        for (size_t i = index + 1; i < phi->nargs; i++) phi->args[i - 1] = phi->args[i];
        phi->nargs--;
    }
    block->preds.len--;
}

void block_remove_edge(Func *func, Block *from, Block *to) {
    (void)func;
    size_t which = 0;
    while (which < from->succs.len && from->succs.data[which] != to) which++;
    if (which == from->succs.len) return;
    /* A branch with both ways to `to` has two edges there; the first predecessor entry is that of the first. */
    for (size_t i = 0; i < to->preds.len; i++)
        if (to->preds.data[i] == from) {
            remove_pred(to, i);
            break;
        }
    bool raised = to == block_unwind(from);
    for (size_t s = which + 1; s < from->succs.len; s++) from->succs.data[s - 1] = from->succs.data[s];
    from->succs.len--;
    if (raised) from->unwinds = false;
    if (raised || !from->last) return;
    if (from->last->op == OP_BRANCH) {
        from->last->op = OP_JUMP;
        from->last->nargs = 0;
    } else if (from->last->op == OP_JUMP) {
        from->last->op = OP_UNREACHABLE;
    }
}

void func_clear_marks(Func *func) {
    for (size_t b = 0; b < func->blocks.len; b++)
        for (Value *value = func->blocks.data[b]->first; value; value = value->next) value->mark = NULL;
}

void func_renumber(Func *func) {
    uint32_t id = 0;
    for (size_t b = 0; b < func->blocks.len; b++) {
        func->blocks.data[b]->id = (uint32_t)b;
        for (Value *value = func->blocks.data[b]->first; value; value = value->next)
            if (op_has_result(value->op)) value->id = id++;
    }
    for (size_t b = 0; b < func->blocks.len; b++)
        for (Value *value = func->blocks.data[b]->first; value; value = value->next)
            if (!op_has_result(value->op)) value->id = id++;
    func->next_value = id;
    func->next_block = (uint32_t)func->blocks.len;
}
