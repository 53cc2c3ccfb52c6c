/* lower_narrow.c: 64-bit integers in 32 bits.
 *
 * A Python int is 64 bits wide, and a GPU computes with 64 bits at half the speed or less.  Where the pass `intervals`
 * knows that a value fits 32 bits, the operation that makes it is generated in 32 bits and its result extended, which
 * is free where it makes an address; what takes it in 32 bits takes the original (LLVM joins truncation and extension).
 * Sums, products and bits need no more of their operands than their low halves; the rest must fit, too. */
#include "codegen/lower.h"

bool l_is_narrow(const Lower *l, const Value *value) {
    return l->narrow && value->type->kind == TY_SCALAR && value->type->scalar == SCALAR_INT64 && value_fits(value, 32);
}

LLVMValueRef l_narrowed(Lower *l, LLVMValueRef wide) {
    return LLVMTypeOf(wide) == l->i32 ? wide : LLVMBuildTrunc(l->b, wide, l->i32, "");
}

LLVMValueRef l_widened(Lower *l, LLVMValueRef value) {
    return LLVMTypeOf(value) == l->i64 ? value : LLVMBuildSExt(l->b, value, l->i64, "");
}

static bool are_narrow(const Lower *l, const Value *value) {
    for (uint32_t i = 0; i < value->nargs; i++)
        if (!l_is_narrow(l, value->args[i])) return false;
    return true;
}

/* Rounded down; the divisor is positive. */
static LLVMValueRef divide(Lower *l, const Value *value, LLVMValueRef a, LLVMValueRef b) {
    LLVMValueRef zero = l_i32(l, 0);
    if (value_is_nonnegative(value->args[0]))
        return value->op == OP_MOD ? LLVMBuildURem(l->b, a, b, "") : LLVMBuildUDiv(l->b, a, b, "");
    LLVMValueRef rest = LLVMBuildSRem(l->b, a, b, ""), below = l_icmp(l, LLVMIntSLT, rest, zero);
    if (value->op == OP_MOD) return l_add(l, rest, l_select(l, below, b, zero));
    return l_add(l, LLVMBuildSDiv(l->b, a, b, ""), LLVMBuildSExt(l->b, below, l->i32, ""));
}

/* An operation that does not wrap in 64 bits and whose result fits 32 does not wrap in 32 if its operands fit. */
static LLVMValueRef without_wrap(const Value *value, LLVMValueRef result, bool fit) {
    if (fit && value->flags & VF_NOWRAP && LLVMIsAInstruction(result)) LLVMSetNSW(result, true);
    return result;
}

/* NULL: the operation is generated as it stands. */
LLVMValueRef lower_narrow(Lower *l, const Value *value) {
    if (!l_is_narrow(l, value)) return NULL;
    bool fit = are_narrow(l, value);
    for (uint32_t i = 0; i < value->nargs; i++)
        if (value->args[i]->type->kind != TY_SCALAR || value->args[i]->type->scalar != SCALAR_INT64) return NULL;
    LLVMValueRef a = l_narrowed(l, l_arg(l, value, 0)), b = value->nargs > 1 ? l_narrowed(l, l_arg(l, value, 1)) : NULL;
    switch (value->op) {
    case OP_ADD: return l_widened(l, without_wrap(value, l_add(l, a, b), fit));
    case OP_SUB: return l_widened(l, without_wrap(value, l_sub(l, a, b), fit));
    case OP_MUL: return l_widened(l, without_wrap(value, l_mul(l, a, b), fit));
    case OP_AND: return l_widened(l, l_and(l, a, b));
    case OP_OR: return l_widened(l, l_or(l, a, b));
    case OP_XOR: return l_widened(l, l_xor(l, a, b));
    case OP_NEG: return l_widened(l, without_wrap(value, LLVMBuildNeg(l->b, a, ""), fit));
    case OP_INVERT: return l_widened(l, l_not(l, a));
    case OP_LSHIFT:
    case OP_RSHIFT:
        if (!fit || !value_is_nonnegative(value->args[1])) return NULL;
        return l_widened(l, l_scalar_op(l, value->op, SCALAR_INT32, a, b));
    case OP_FLOORDIV:
    case OP_MOD: {
        bool not_zero = (value->flags & (VF_UNCHECKED | VF_CHECKED)) != 0; /* known, or asked before */
        bool positive = value_is_nonnegative(value->args[1]) && not_zero;
        if (!fit || (!positive && !LLVMIsAConstantInt(b))) return NULL;
        bool simple = LLVMIsAConstantInt(b) && LLVMConstIntGetSExtValue(b) > 0;
        if (!positive && !simple) return NULL;
        bool power = simple && !(LLVMConstIntGetZExtValue(b) & (LLVMConstIntGetZExtValue(b) - 1));
        return l_widened(l, power ? l_scalar_op(l, value->op, SCALAR_INT32, a, b) : divide(l, value, a, b));
    }
    default: return NULL;
    }
}

bool l_is_narrow_comparison(const Lower *l, const Value *value) { return are_narrow(l, value); }

/* Whether range(start, stop, step) counts in 32 bits, by comparing with stop: the step that goes past it stays within
 * them. */
bool l_counts_narrowly(const Lower *l, const Value *range) {
    if (!value_calls(range, FUNC_RANGE) || range->nargs != 3 || !are_narrow(l, range)) return false;
    Bounds stop = value_bounds(range->args[1]), step = value_bounds(range->args[2]);
    return (step.lo > 0 && stop.hi - 1 + step.hi <= INT32_MAX) || (step.hi < 0 && stop.lo + 1 + step.lo >= INT32_MIN);
}
