/* ranges.c: which integers cannot be negative, so that indices need no wrap-around.
 *
 * In: a typed function.  Out: VF_NONNEGATIVE on integer values.
 *
 * Optimistic: every phi is taken to be non-negative until one of its operands is not; what follows from the assumption
 * is checked again until nothing changes.  Lengths, shapes, thread and block numbers and non-negative constants are the
 * sources; sums, products, quotients and remainders of such values, and the numbers of ranges that start and step
 * upwards from zero, follow.  Python's ints do not wrap, so a sum of two non-negative ones counts as non-negative.
 * A difference i - 1 counts where it is only reached if i is at least 1: the branches on the way from the function's
 * entry, which the dominator tree lists, are asked for that.  This one is certain, whatever wraps. */
#include <string.h> /* strcmp */

#include "typeinfer/infer.h"

static bool is_integer(const Value *value) { return value->type && type_is_integer(value->type); }

static bool known(const Value *value) {
    int64_t i;
    if (value->konst && typing_konst_is_int(value->konst, &i)) return i >= 0 || type_scalar_kind(value->type) == 'u';
    return (value->flags & VF_NONNEGATIVE) || type_scalar_kind(value->type) == 'u' ||
           type_scalar_kind(value->type) == 'b';
}

static bool constant_at_least(const Value *value, int64_t least) {
    int64_t i;
    return typing_konst_is_int(value->konst, &i) && i >= least;
}

/* The numbers that a range gives: upwards from a non-negative start, or downwards to a stop that is not below -1. */
static bool range_is_nonnegative(const Value *range) {
    if (!value_calls(range, FUNC_RANGE)) return false;
    const Value *start = range->args[0], *stop = range->args[1], *step = range->args[2];
    if (constant_at_least(step, 1)) return known(start);
    return step->konst && (known(stop) || constant_at_least(stop, -1));
}

static bool iterator_is_nonnegative(const Value *iter) {
    if (iter->op == OP_ITER && iter->type->iter == ITER_RANGE) return range_is_nonnegative(iter->args[0]);
    if (value_calls(iter, FUNC_REVERSED) && iter->type->items[0]->kind == TY_RANGE)
        return range_is_nonnegative(iter->args[0]);
    return false;
}

/* Item `index` of what an iterator gives: the number of enumerate, or the item of one of zip's iterators. */
static bool taken_is_nonnegative(const Value *iter, int64_t index) {
    if (value_calls(iter, FUNC_ENUMERATE))
        return index == 0 ? known(iter->args[1]) : iterator_is_nonnegative(iter->args[0]);
    return value_calls(iter, FUNC_ZIP) && index < iter->nargs && iterator_is_nonnegative(iter->args[index]);
}

static bool is_shape(const Value *value) {
    return value->op == OP_GETATTR && value->args[0]->type->kind == TY_ARRAY && strcmp(value->imm.text, "shape") == 0;
}

static bool call_is_nonnegative(const Value *value) {
    const FuncRange *range = &func_row(value->imm.func)->range;
    if (range->high > 0 && range->low >= 0) return true;
    bool largest = value_calls(value, FUNC_PY_MAX), extreme = largest || value_calls(value, FUNC_PY_MIN);
    bool all = value->nargs > 0, any = false;
    for (uint32_t i = 0; i < value->nargs; i++) {
        if (!is_integer(value->args[i])) return false;
        all &= known(value->args[i]);
        any |= known(value->args[i]);
    }
    return extreme && (all || (any && largest));
}

static bool is_shape_item(const Value *value) {
    return (value->op == OP_EXTRACT || value->op == OP_GETITEM) && is_shape(value->args[0]);
}

/* Non-negative whatever wraps: what the grid or an array says, not what was computed from it. */
static bool certain(const Value *value) {
    if (is_shape_item(value)) return true;
    if (value->op == OP_EXTRACT) value = value->args[0];
    if (value->op != OP_CALL_FUNC) return false;
    if (value->imm.func->id == FUNC_LEN) return value->args[0]->type->kind == TY_ARRAY;
    return value->nargs < 2 && call_is_nonnegative(value);
}

/* Whether `compared`, found to be `truth`, says value >= least. */
static bool implies_at_least(const Value *compared, bool truth, const Value *value, int64_t least) {
    static const struct {
        Op op, otherwise;
    } negations[] = {{OP_LT, OP_GE}, {OP_GE, OP_LT}, {OP_GT, OP_LE}, {OP_LE, OP_GT}, {OP_EQ, OP_NE}, {OP_NE, OP_EQ}};
    Op op = compared->op;
    int64_t bound;
    for (size_t i = 0; !truth && i < sizeof negations / sizeof *negations; i++)
        if (negations[i].op == compared->op) op = negations[i].otherwise;
    if (compared->nargs != 2) return false;
    const Value *a = compared->args[0], *b = compared->args[1];
    if (a == value && typing_konst_is_int(b->konst, &bound)) {
        if (op == OP_GT) return bound >= least - 1;
        if (op == OP_NE) return bound == 0 && least == 1 && certain(value);
        return (op == OP_GE || op == OP_EQ) && bound >= least;
    }
    if (b == value && typing_konst_is_int(a->konst, &bound)) {
        if (op == OP_LT) return bound >= least - 1;
        if (op == OP_NE) return bound == 0 && least == 1 && certain(value);
        return (op == OP_LE || op == OP_EQ) && bound >= least;
    }
    return false;
}

/* Whether some branch that leads to the block, and only one of its sides, says value >= least. */
static bool at_least_in(const Block *block, const Value *value, int64_t least) {
    for (const Block *above = block->idom; above; block = above, above = above->idom) {
        const Value *end = above->last;
        if (end->op != OP_BRANCH || block->preds.len != 1 || above->succs[0] == above->succs[1]) continue;
        const Value *condition = end->args[0];
        bool truth = block == above->succs[0];
        for (; condition->op == OP_NOT || condition->op == OP_TRUTH; condition = condition->args[0])
            truth ^= condition->op == OP_NOT;
        if (implies_at_least(condition, truth, value, least)) return true;
    }
    return false;
}

static bool difference_is_nonnegative(const Value *value) {
    int64_t least;
    const Value *a = value->args[0], *b = value->args[1];
    return type_scalar_kind(value->type) == 'i' && type_scalar_kind(a->type) == 'i' &&
           typing_konst_is_int(b->konst, &least) && least >= 0 && at_least_in(value->block, a, least);
}

static bool follows(const Value *value) {
    const Value *a = value->nargs > 0 ? value->args[0] : NULL, *b = value->nargs > 1 ? value->args[1] : NULL;
    switch (value->op) {
    case OP_CONST: return known(value);
    case OP_PHI:
        for (uint32_t i = 0; i < value->nargs; i++)
            if (value->args[i]->op != OP_UNDEF && !known(value->args[i])) return false;
        return true;
    case OP_ADD:
    case OP_MUL:
    case OP_FLOORDIV:
    case OP_OR:
    case OP_XOR: return known(a) && known(b);
    case OP_SUB: return difference_is_nonnegative(value);
    case OP_MOD: return known(b);
    case OP_AND: return known(a) || known(b);
    case OP_LSHIFT:
    case OP_RSHIFT: return known(a);
    case OP_CAST:
        return is_integer(a) && known(a) &&
               (type_scalar_kind(a->type) != 'u' ||
                scalar_info[a->type->scalar].bytes < scalar_info[value->type->scalar].bytes);
    case OP_GETATTR:
        return a->type->kind == TY_ARRAY &&
               (strcmp(value->imm.text, "size") == 0 || strcmp(value->imm.text, "nbytes") == 0);
    case OP_EXTRACT:
        if (is_shape(a) || (a->op == OP_CALL_FUNC && call_is_nonnegative(a))) return true;
        return a->op == OP_ITER_TAKE && taken_is_nonnegative(a->args[0], value->imm.i);
    case OP_GETITEM: return is_shape(a);
    case OP_ITER_TAKE: return iterator_is_nonnegative(a);
    case OP_CALL_FUNC: return call_is_nonnegative(value);
    default: return false;
    }
}

void typeinfer_mark_ranges(Infer *in) {
    VEC(Value *) integers = {0};
    func_compute_dominators(in->func);
    for (size_t b = 0; b < in->func->blocks.len; b++)
        for (Value *value = in->func->blocks.data[b]->first; value; value = value->next) {
            if (!is_integer(value) || type_scalar_kind(value->type) == 'b' || !op_has_result(value->op)) continue;
            value->flags |= VF_NONNEGATIVE;
            vec_push(in->arena, &integers, value);
        }
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = 0; i < integers.len; i++) {
            Value *value = integers.data[i];
            if (!(value->flags & VF_NONNEGATIVE) || follows(value)) continue;
            value->flags &= ~(uint32_t)VF_NONNEGATIVE;
            changed = true;
        }
    }
}
