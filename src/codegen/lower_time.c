/* lower_time.c: datetime64 and timedelta64: counts of ticks, of which INT64_MIN is NaT, as NumPy computes with them.
 *
 * Input: operands of equal ticks, or a duration and an int64 or float64 (rules_time.c).  NaT goes through every
 * operation; divisions by zero give NaT, a quotient of durations 0 or what floats give. */
#include "codegen/lower.h"

static LLVMValueRef nat(Lower *l) { return l_i64(l, INT64_MIN); }
static LLVMValueRef is_nat(Lower *l, LLVMValueRef value) { return l_icmp(l, LLVMIntEQ, value, nat(l)); }

/* The result, or NaT where `missing`. */
static LLVMValueRef or_nat(Lower *l, LLVMValueRef missing, LLVMValueRef value) {
    return l_select(l, missing, nat(l), value);
}

LLVMValueRef l_time_convert(Lower *l, LLVMValueRef value, const Type *from, const Type *to) {
    int64_t factor = time_factor(from, to);
    if (!factor) return l_fail(l, "%s is not converted to %s", l_type_text(l, from), l_type_text(l, to)), NULL;
    return factor == 1 ? value : or_nat(l, is_nat(l, value), l_mul(l, value, l_i64(l, factor)));
}

/* Towards zero; NaT where it is no number. */
static LLVMValueRef whole(Lower *l, LLVMValueRef value) {
    LLVMValueRef magnitude = l_intrinsic(l, "llvm.fabs", l->f64, &value, 1);
    LLVMValueRef finite = LLVMBuildFCmp(l->b, LLVMRealOLT, magnitude, l_float(l->f64, __builtin_inf()), "");
    return or_nat(l, l_not(l, finite), l_cast_scalar(l, value, SCALAR_FLOAT64, SCALAR_INT64));
}

static LLVMValueRef scale(Lower *l, Op op, LLVMValueRef duration, LLVMValueRef number, Scalar scalar) {
    LLVMValueRef missing = is_nat(l, duration), zero = l_i64(l, 0);
    if (scalar == SCALAR_FLOAT64) {
        LLVMValueRef ticks = l_cast_scalar(l, duration, SCALAR_INT64, SCALAR_FLOAT64);
        Op divide = op == OP_MUL ? OP_MUL : OP_TRUEDIV;
        return or_nat(l, missing, whole(l, l_scalar_op(l, divide, SCALAR_FLOAT64, ticks, number)));
    }
    if (op == OP_MUL) return or_nat(l, l_or(l, missing, is_nat(l, number)), l_mul(l, duration, number));
    missing = l_or(l, missing, l_icmp(l, LLVMIntEQ, number, zero));
    LLVMValueRef divisor = l_select(l, missing, l_i64(l, 1), number);
    return or_nat(l, missing, LLVMBuildSDiv(l->b, duration, divisor, ""));
}

/* Of two durations. */
static LLVMValueRef divide(Lower *l, Op op, LLVMValueRef a, LLVMValueRef b) {
    LLVMValueRef missing = l_or(l, is_nat(l, a), is_nat(l, b));
    if (op == OP_TRUEDIV) {
        LLVMValueRef x = l_cast_scalar(l, a, SCALAR_INT64, SCALAR_FLOAT64),
                     y = l_cast_scalar(l, b, SCALAR_INT64, SCALAR_FLOAT64);
        return l_select(l, missing, l_float(l->f64, __builtin_nan("")), l_scalar_op(l, op, SCALAR_FLOAT64, x, y));
    }
    missing = l_or(l, missing, l_icmp(l, LLVMIntEQ, b, l_i64(l, 0)));
    LLVMValueRef value = l_scalar_op(l, op, SCALAR_INT64, a, l_select(l, missing, l_i64(l, 1), b));
    return op == OP_MOD ? or_nat(l, missing, value) : l_select(l, missing, l_i64(l, 0), value);
}

LLVMValueRef lower_time_binary(Lower *l, const Value *value) {
    const Type *a_type = value->args[0]->type, *b_type = value->args[1]->type;
    LLVMValueRef a = l_arg(l, value, 0), b = l_arg(l, value, 1);
    if (a_type->kind == TY_SCALAR) return scale(l, value->op, b, a, (Scalar)a_type->scalar);
    if (b_type->kind == TY_SCALAR) return scale(l, value->op, a, b, (Scalar)b_type->scalar);
    if (value->op != OP_ADD && value->op != OP_SUB) return divide(l, value->op, a, b);
    LLVMValueRef missing = l_or(l, is_nat(l, a), is_nat(l, b));
    return or_nat(l, missing, value->op == OP_ADD ? l_add(l, a, b) : l_sub(l, a, b));
}

/* -NaT is NaT as it is. */
LLVMValueRef lower_time_negative(Lower *l, const Value *value) { return l_sub(l, l_i64(l, 0), l_arg(l, value, 0)); }

LLVMValueRef lower_time_compare(Lower *l, const Value *value) {
    LLVMValueRef a = l_arg(l, value, 0), b = l_arg(l, value, 1);
    LLVMValueRef missing = l_or(l, is_nat(l, a), is_nat(l, b)), answer = l_scalar_op(l, value->op, SCALAR_INT64, a, b);
    return value->op == OP_NE ? l_or(l, missing, answer) : l_and(l, l_not(l, missing), answer);
}

LLVMValueRef lower_func_isnat(Lower *l, const Value *call) { return is_nat(l, l_arg(l, call, 0)); }
