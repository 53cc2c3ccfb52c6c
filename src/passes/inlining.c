/* inlining.c: calls of short functions of krait.prelude are their values.
 *
 * In: typed functions.  Out: blocks that only follow each other are one; where a function of the prelude is one block,
 * calls of it are copies of its values, callees before callers.  What a call of a library function does then stands
 * where the passes that follow see it: `x.sum()` is one reduction, not a chain of calls.
 *
 * The copies stand where the call stood, so that whatever raises names the user's line.  Functions that users wrote
 * stay calls: a traceback shows them. */
#include <stdlib.h> /* qsort */
#include <string.h> /* memcpy */

#include "passes/private.h"

enum { MAX_VALUES = 64 }; /* of a function that is copied */

/* ---- blocks that follow each other ---- */

static bool follows_alone(const Block *block) {
    if (!block->last || block->last->op != OP_JUMP || block->unwinds) return false;
    const Block *next = block->succs.data[0];
    return next->preds.len == 1 && !next->unwinds && next != block;
}

static void take_next(Func *func, Block *block) {
    Block *next = block->succs.data[0];
    value_remove(block->last);
    for (Value *value = next->first, *after; value; value = after) {
        after = value->next;
        if (value->op == OP_PHI) {
            value_replace(func, value, value->args[0]);
            continue;
        }
        value->block = block;
        value->prev = block->last;
        value->next = NULL;
        if (block->last)
            block->last->next = value;
        else
            block->first = value;
        block->last = value;
    }
    block->succs = next->succs;
    for (size_t s = 0; s < block->succs.len; s++)
        for (size_t p = 0; p < block->succs.data[s]->preds.len; p++)
            if (block->succs.data[s]->preds.data[p] == next) block->succs.data[s]->preds.data[p] = block;
    next->first = next->last = NULL;
    next->succs.len = next->preds.len = 0;
}

static void join_blocks(Func *func) {
    size_t kept = 0;
    for (size_t b = 0; b < func->blocks.len; b++)
        while (func->blocks.data[b]->first && follows_alone(func->blocks.data[b]))
            take_next(func, func->blocks.data[b]);
    for (size_t b = 0; b < func->blocks.len; b++)
        if (func->blocks.data[b]->first) func->blocks.data[kept++] = func->blocks.data[b];
    if (kept == func->blocks.len) return;
    func->blocks.len = kept;
    func_compute_order(func);
    func_compute_dominators(func);
}

/* ---- calls ---- */

static bool is_short(const FuncInst *inst) {
    const Func *func = inst->func;
    if (!inst->untyped->prelude || inst->recursive || inst->piece || func->generator || func->blocks.len != 1)
        return false;
    if (func->blocks.data[0]->last->op != OP_RETURN) return false;
    uint32_t count = 0;
    for (const Value *value = func->blocks.data[0]->first; value; value = value->next) count++;
    return count <= MAX_VALUES;
}

/* Copies the callee's values before the call; what it returns. */
static Value *copy_before(Arena *arena, Func *func, Value *call) {
    const Func *callee = call->imm.inst->func;
    Value **copies = ARENA_ARRAY(arena, Value *, callee->next_value);
    for (const Value *value = callee->blocks.data[0]->first; value; value = value->next) {
        if (value->op == OP_PARAM) {
            copies[value->id] = call->args[value->imm.i];
            continue;
        }
        if (value->op == OP_RETURN) return copies[value->args[0]->id];
        Value **args = ARENA_ARRAY(arena, Value *, value->nargs);
        for (uint32_t i = 0; i < value->nargs; i++) args[i] = copies[value->args[i]->id];
        Value *copy = value_new(func, value->op, call->span, args, value->nargs);
        copy->flags = value->flags;
        copy->type = value->type;
        copy->konst = value->konst;
        copy->imm = value->imm;
        value_insert_before(call, copy);
        copies[value->id] = copy;
    }
    return NULL;
}

/* Stand-ins of calls, followed to the value that stands for them in the end. */
static Value *stands_for(Value *value) {
    while (value->mark) value = value->mark;
    return value;
}

static bool inline_calls(Program *program, Func *func) {
    VEC(Value *) calls = {0};
    func_clear_marks(func);
    for (size_t b = 0; b < func->blocks.len; b++)
        for (Value *value = func->blocks.data[b]->first; value; value = value->next)
            if (value->op == OP_CALL_INST && is_short(value->imm.inst)) vec_push(program->arena, &calls, value);
    for (size_t i = 0; i < calls.len; i++) {
        calls.data[i]->mark = copy_before(program->arena, func, calls.data[i]);
        value_remove(calls.data[i]);
    }
    for (size_t b = 0; calls.len && b < func->blocks.len; b++)
        for (Value *value = func->blocks.data[b]->first; value; value = value->next)
            for (uint32_t i = 0; i < value->nargs; i++) value->args[i] = stands_for(value->args[i]);
    return calls.len > 0;
}

/* ---- all functions, callees first ---- */

static int by_height(const void *a, const void *b) {
    const FuncInst *x = *(FuncInst *const *)a, *y = *(FuncInst *const *)b;
    return x->height != y->height ? (x->height < y->height ? -1 : 1) : (x->id > y->id) - (x->id < y->id);
}

bool pass_inlining(Program *program) {
    bool progress = false;
    FuncInst **order = ARENA_ARRAY(program->arena, FuncInst *, program->count);
    insts_find_calls(program->arena, program->insts, program->count);
    memcpy(order, program->insts, program->count * sizeof *order);
    qsort(order, program->count, sizeof *order, by_height);
    for (size_t i = 0; i < program->count; i++) {
        if (order[i]->piece) continue;
        join_blocks(order[i]->func);
        if (!inline_calls(program, order[i]->func)) continue;
        func_remove_dead(order[i]->func);
        progress = true;
    }
    if (progress) program_keep_called(program);
    return true;
}
