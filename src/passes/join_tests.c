/* join_tests.c: two tests one after the other are one.
 *
 * In: a typed function for a GPU, with bounds.  Out: `if a and b`, `if a or b`, chains of returns at the edges of a
 * grid: where a branch leads to a block that does nothing but test again, for few operations, and both may lead to the
 * same block, the second test stands in the first block and one branch asks both.  A warp takes the arms of a branch
 * one after the other; memory that is read behind two branches is waited for before the next pair of branches.  Behind
 * one the driver's compiler makes the loads conditional and has many of them in flight.
 *
 * Operations that go before a branch lose what is known of them below it alone. */
#include "passes/private.h"

enum { MOST_OPERATIONS = 16 };

/* Costs next to nothing, does nothing but give its result, and gives one whatever its operands are. */
static bool is_cheap(const Program *program, const Value *value) {
    if (value_effects(value, program->index_raises) || !value->type) return false;
    switch (value->op) {
    case OP_CONST:
    case OP_NEG:
    case OP_NOT:
    case OP_TRUTH:
    case OP_INVERT:
    case OP_ADD:
    case OP_SUB:
    case OP_MUL:
    case OP_AND:
    case OP_OR:
    case OP_XOR:
    case OP_LT:
    case OP_LE:
    case OP_GT:
    case OP_GE:
    case OP_EQ:
    case OP_NE: return type_is_scalar(value->type) && (!value->nargs || type_is_scalar(value->args[0]->type));
    case OP_CAST: return type_is_scalar(value->type) && type_is_scalar(value->args[0]->type);
    case OP_GETATTR:
    case OP_EXTRACT: return value->type->kind != TY_ARRAY;
    default: return false;
    }
}

static bool only_tests(const Program *program, const Block *block) {
    unsigned count = 0;
    if (block->unwinds || block->last->op != OP_BRANCH || block->preds.len != 1) return false;
    for (const Value *value = block->first; value != block->last; value = value->next) {
        count += value->op != OP_CONST;
        if (!is_cheap(program, value) || count > MOST_OPERATIONS) return false;
    }
    return true;
}

/* Whether all that comes into `to` is the same along both edges. */
static bool brings_the_same(const Block *to, const Block *a, const Block *b) {
    size_t from_a = SIZE_MAX, from_b = SIZE_MAX;
    for (size_t p = 0; p < to->preds.len; p++) {
        if (to->preds.data[p] == a) from_a = p;
        if (to->preds.data[p] == b) from_b = p;
    }
    for (const Value *phi = to->first; phi && phi->op == OP_PHI; phi = phi->next)
        if (phi->args[from_a] != phi->args[from_b]) return false;
    return true;
}

static bool is_wide_int(const Value *value) {
    return value->type->kind == TY_SCALAR && value->type->scalar == SCALAR_INT64;
}

/* What is known of a sum, from what is known of its operands wherever they stand. */
static bool bound_sum(const Value *value, Bounds *sum) {
    if ((value->op != OP_ADD && value->op != OP_SUB) || !is_wide_int(value)) return false;
    Bounds a = value_bounds(value->args[0]), b = value_bounds(value->args[1]);
    bool less = value->op == OP_SUB;
    return !__builtin_add_overflow(a.lo, less ? 0 : b.lo, &sum->lo) &&
           !__builtin_sub_overflow(sum->lo, less ? b.hi : 0, &sum->lo) &&
           !__builtin_add_overflow(a.hi, less ? 0 : b.hi, &sum->hi) &&
           !__builtin_sub_overflow(sum->hi, less ? b.lo : 0, &sum->hi);
}

static void forget_branch(Arena *arena, Value *value) {
    Bounds sum;
    bool known = bound_sum(value, &sum);
    if (value->op == OP_GETATTR || value->op == OP_EXTRACT) return;
    value->flags &= ~(uint32_t)(VF_FORWARD | (known ? 0 : VF_NOWRAP));
    value->bounds = NULL;
    if (!known) return;
    Bounds *bounds = ARENA_NEW(arena, Bounds);
    *bounds = sum;
    value->bounds = bounds;
}

static Value *append(Func *func, Block *block, Op op, Value *const *args, size_t nargs) {
    Value *value = value_new(func, op, block->last->span, args, nargs);
    value->type = type_scalar(func->types, SCALAR_BOOL, true);
    value_insert_before(block->last, value);
    return value;
}

static void replace_pred(Block *block, const Block *old, Block *with) {
    for (size_t p = 0; p < block->preds.len; p++)
        if (block->preds.data[p] == old) block->preds.data[p] = with;
}

/* `first` ends in a branch to `second` and to `both`. */
static void join(Program *program, Func *func, Block *first, Block *second, Block *both) {
    bool yes = first->succs.data[0] == second; /* asked where the first holds */
    bool on_yes = second->succs.data[0] != both;
    Block *other = second->succs.data[on_yes ? 0 : 1];
    for (Value *value = second->first, *next; value != second->last; value = next) {
        next = value->next;
        value_remove(value);
        value_insert_before(first->last, value);
        forget_branch(program->arena, value);
    }
    Value *tests[] = {first->last->args[0], second->last->args[0]};
    if (on_yes != yes) tests[1] = append(func, first, OP_NOT, &tests[1], 1);
    Value *joined = append(func, first, yes ? OP_AND : OP_OR, tests, 2);
    block_remove_edge(func, second, both);
    first->last->args[0] = joined;
    first->succs.data[yes ? 0 : 1] = other;
    replace_pred(other, second, first);
    second->succs.len = 0;
    second->preds.len = 0;
}

/* The block that a branch of `first` leads to by way of `second` as well as itself; NULL: none. */
static Block *common_target(const Program *program, const Block *first, const Block *second, const Block *other) {
    if (second == other || !only_tests(program, second)) return NULL;
    const BlockList *to = &second->succs;
    if (to->data[0] == to->data[1] || to->data[0] == second || to->data[1] == second) return NULL;
    for (size_t i = 0; i < 2; i++)
        if (to->data[i] == other && brings_the_same(other, first, second)) return to->data[i];
    return NULL;
}

static bool join_at(Program *program, Func *func, Block *first) {
    if (first->unwinds || !first->last || first->last->op != OP_BRANCH) return false;
    for (size_t i = 0; i < 2; i++) {
        Block *second = first->succs.data[i], *both = common_target(program, first, second, first->succs.data[1 - i]);
        if (!both) continue;
        join(program, func, first, second, both);
        return true;
    }
    return false;
}

bool pass_join_tests(Program *program, FuncInst *inst) {
    Func *func = inst->func;
    func_compute_order(func);
    for (size_t b = func->blocks.len; b-- > 0;)
        while (join_at(program, func, func->blocks.data[b])) continue;
    func_compute_order(func);
    return true;
}
