/* lower_compare.c: comparison of numbers, which is by value: signed with unsigned integers, and in Python's code ints
 * with floats and complex numbers, without rounding the int first. */
#include "codegen/lower.h"

/* A signed and an unsigned integer by value: a negative one is less; else both compare as unsigned. */
static LLVMValueRef compare_signs(Lower *l, Op op, LLVMValueRef s, LLVMValueRef u) {
    unsigned sw = LLVMGetIntTypeWidth(LLVMTypeOf(s)), uw = LLVMGetIntTypeWidth(LLVMTypeOf(u));
    LLVMTypeRef wide = LLVMIntTypeInContext(l->context, sw > uw ? sw : uw);
    s = LLVMBuildSExt(l->b, s, wide, "");
    u = LLVMBuildZExt(l->b, u, wide, "");
    LLVMValueRef negative = l_icmp(l, LLVMIntSLT, s, l_null(wide));
    LLVMValueRef result = l_compare_ints(l, op, sw > uw, s, u);
    if (sw > uw) return result; /* the unsigned one fits into the signed type */
    bool when_negative = op == OP_LT || op == OP_LE || op == OP_NE;
    return when_negative ? l_or(l, negative, result) : l_and(l, l_not(l, negative), result);
}

/* A Python int and a Python float by value.  Rounding the int keeps the order, but may make it equal to a float that it
 * is not: then the float, a whole number, is compared as an int, unless it is 2**63, which is above all ints. */
static LLVMValueRef compare_int_float(Lower *l, Op op, LLVMValueRef i, LLVMValueRef f) {
    LLVMValueRef rounded = LLVMBuildSIToFP(l->b, i, l->f64, "");
    LLVMValueRef equal = l_fcmp(l, LLVMRealOEQ, rounded, f), above = l_fcmp(l, LLVMRealOGE, f, l_float(l->f64, 0x1p63));
    LLVMValueRef whole = LLVMBuildFreeze(l->b, LLVMBuildFPToSI(l->b, f, l->i64, ""), "");
    LLVMValueRef tie = l_compare_ints(l, op, true, i, whole);
    bool below = op == OP_LT || op == OP_LE || op == OP_NE;
    tie = below ? l_or(l, above, tie) : l_and(l, l_not(l, above), tie);
    if (op == OP_EQ) return l_and(l, equal, tie);
    if (op == OP_NE) return l_or(l, l_not(l, equal), tie);
    bool less = op == OP_LT || op == OP_LE;
    return l_or(l, l_fcmp(l, less ? LLVMRealOLT : LLVMRealOGT, rounded, f), l_and(l, equal, tie));
}

/* EQ or NE of a Python int and a Python complex. */
static LLVMValueRef compare_int_complex(Lower *l, Op op, LLVMValueRef i, LLVMValueRef c) {
    LLVMValueRef im = l_extract(l, c, 1), zero = l_null(LLVMTypeOf(im));
    LLVMValueRef same = compare_int_float(l, op, i, l_extract(l, c, 0));
    if (op == OP_EQ) return l_and(l, same, l_fcmp(l, LLVMRealOEQ, im, zero));
    return l_or(l, same, l_fcmp(l, LLVMRealUNE, im, zero));
}

LLVMValueRef l_compare_scalars(Lower *l, Op op, const Type *a_type, LLVMValueRef a, const Type *b_type,
                               LLVMValueRef b) {
    char a_kind = type_scalar_kind(a_type), b_kind = type_scalar_kind(b_type);
    if (a_kind == 'i' && b_kind == 'u') return compare_signs(l, op, a, b);
    if (a_kind == 'u' && b_kind == 'i') return compare_signs(l, op_mirrored(op), b, a);
    bool python = a_type->weak && b_type->weak && l->m->options.entry != ENTRY_KERNEL;
    if (python && a_type->scalar == SCALAR_INT64 && b_type->scalar == SCALAR_FLOAT64)
        return compare_int_float(l, op, a, b);
    if (python && a_type->scalar == SCALAR_FLOAT64 && b_type->scalar == SCALAR_INT64)
        return compare_int_float(l, op_mirrored(op), b, a);
    if (python && a_type->scalar == SCALAR_INT64 && b_type->scalar == SCALAR_COMPLEX128)
        return compare_int_complex(l, op, a, b);
    if (python && a_type->scalar == SCALAR_COMPLEX128 && b_type->scalar == SCALAR_INT64)
        return compare_int_complex(l, op, b, a);
    if (a_type->scalar != b_type->scalar) {
        /* Items of tuples keep their own types: the wider of the two holds both. */
        Scalar common = a_type->scalar > b_type->scalar ? a_type->scalar : b_type->scalar;
        a = l_cast_scalar(l, a, a_type->scalar, common);
        b = l_cast_scalar(l, b, b_type->scalar, common);
        return l_scalar_op(l, op, common, a, b);
    }
    return l_scalar_op(l, op, a_type->scalar, a, b);
}

LLVMValueRef lower_compare(Lower *l, const Value *value) {
    const Type *a_type = value->args[0]->type, *b_type = value->args[1]->type;
    if (l_is_narrow_comparison(l, value))
        return l_scalar_op(l, value->op, SCALAR_INT32, l_narrowed(l, l_arg(l, value, 0)),
                           l_narrowed(l, l_arg(l, value, 1)));
    if (type_is_scalar(a_type) && type_is_scalar(b_type))
        return l_compare_scalars(l, value->op, a_type, l_arg(l, value, 0), b_type, l_arg(l, value, 1));
    if (a_type->kind == TY_TIME && b_type->kind == TY_TIME) return lower_time_compare(l, value);
    if (a_type->kind == TY_CHARS && a_type == b_type) return lower_chars_compare(l, value);
    return l_fail(l, "%s and %s cannot be compared", l_type_text(l, a_type), l_type_text(l, b_type)), NULL;
}
