/* iterators.c: which iterators are shared: seen by more than the loop or the zip that they were made for.
 *
 * In: a typed function.  Out: VF_SHARED on the operations that make such iterators.
 *
 * An iterator is a reference to what changes when an item is taken, as in Python: two variables that hold it move
 * together.  Most are asked for items under the name of the operation that made them, in one loop; lowering keeps the
 * state of these where LLVM's loop passes know it.  An iterator is shared if anything else sees it: a phi, a tuple, a
 * cell, a called function, or more than one zip and enumerate.  What is made of a shared iterator is shared, and what a
 * shared one is made of.
 *
 * What runs a generator is the generator itself, and takes no part in this.
 *
 * A shared iterator has one place in memory for each operation that makes it.  So it must not be made anew while an
 * older one of the same operation may still be asked: that, and one that would outlive its function, is refused. */
#include "passes/made_anew.h"
#include "passes/private.h"

static bool makes_iterator(const Value *value) {
    if (!value->type || value->type->kind != TY_ITER || value->type->iter == ITER_GENERATOR) return false;
    if (value->op == OP_ITER) return true;
    return value_calls(value, FUNC_ENUMERATE) || value_calls(value, FUNC_ZIP) || value_calls(value, FUNC_REVERSED);
}

static bool holds_iterator(const Type *type) {
    if (type->kind == TY_ITER) return true;
    for (uint32_t i = 0; i < type->count; i++)
        if (holds_iterator(type->items[i])) return true;
    return false;
}

/* Whether `value` is made of other iterators: enumerate and zip. */
static bool has_parts(const Value *value) { return value->op == OP_CALL_FUNC && makes_iterator(value); }

/* ---- which are shared ---- */

typedef struct Uses { /* of one iterator, by Value.id */
    bool asked;
    uint32_t parts; /* how many others are made of it */
} Uses;

static void count_use(Value *user, uint32_t operand, Uses *uses) {
    Value *used = user->args[operand];
    if (!makes_iterator(used)) return;
    if (user->op == OP_ITER_MORE || user->op == OP_ITER_TAKE)
        uses[used->id].asked = true;
    else if (has_parts(user))
        uses[used->id].parts++;
    else
        used->flags |= VF_SHARED;
}

/* One round of: what is made of a shared iterator, or of one from elsewhere, is shared; so are the parts of a shared
 * one. */
static bool spread(Value *value) {
    if (!has_parts(value)) return false;
    bool shared = value->flags & VF_SHARED;
    for (uint32_t i = 0; i < value->nargs; i++) {
        Value *part = value->args[i];
        if (part->type->kind == TY_ITER) shared |= !makes_iterator(part) || part->flags & VF_SHARED;
    }
    if (!shared) return false;
    bool changed = !(value->flags & VF_SHARED);
    value->flags |= VF_SHARED;
    for (uint32_t i = 0; i < value->nargs; i++) {
        Value *part = value->args[i];
        if (part->type->kind != TY_ITER || !makes_iterator(part) || part->flags & VF_SHARED) continue;
        part->flags |= VF_SHARED;
        changed = true;
    }
    return changed;
}

/* ---- is an older one still in use where it is made anew? ---- */

static bool check_made_anew(Program *program, const Func *func, Value *made) {
    if (!made_anew_meets_older(program->arena, func, made, holds_iterator)) return true;
    diag_fail(program->diag, DIAG_UNSUPPORTED, func->source, made->span,
              "an iterator is made here while the one that was made here before may still be in use");
    diag_hint(program->diag, "use an iterator up in the round of the loop that makes it");
    return false;
}

/* ---- does one outlive its function? ---- */

static bool check_outlives(Program *program, const Func *func, const Value *value) {
    bool leaves = (value->op == OP_RETURN && holds_iterator(value->args[0]->type)) ||
                  (value->op == OP_CELL_SET && value->args[0]->op != OP_CELL && holds_iterator(value->args[1]->type));
    if (!leaves) return true;
    diag_fail(program->diag, DIAG_UNSUPPORTED, func->source, value->span,
              "an iterator cannot leave the function that it is used in");
    diag_hint(program->diag,
              "return or keep what it is made of, and make it where it is used; a generator, (v for v in "
              "x), may be returned and kept in a list");
    return false;
}

bool pass_iterators(Program *program, FuncInst *inst) {
    Func *func = inst->func;
    Uses *uses = ARENA_ARRAY(program->arena, Uses, func->next_value);
    VEC(Value *) makers = {0};
    for (size_t b = 0; b < func->blocks.len; b++)
        for (Value *value = func->blocks.data[b]->first; value; value = value->next) {
            for (uint32_t i = 0; i < value->nargs; i++) count_use(value, i, uses);
            if (op_has_result(value->op) && makes_iterator(value)) vec_push(program->arena, &makers, value);
            TRY(check_outlives(program, func, value));
        }
    for (size_t i = 0; i < makers.len; i++)
        if (uses[makers.data[i]->id].parts + uses[makers.data[i]->id].asked > 1) makers.data[i]->flags |= VF_SHARED;
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = 0; i < makers.len; i++) changed |= spread(makers.data[i]);
    }
    for (size_t i = 0; i < makers.len; i++)
        if (makers.data[i]->flags & VF_SHARED) TRY(check_made_anew(program, func, makers.data[i]));
    return true;
}
