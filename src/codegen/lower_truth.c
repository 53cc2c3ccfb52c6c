/* lower_truth.c: the truth of values: of numbers, whether they are not zero; of the rest what inference left open. */
#include "codegen/lower.h"

LLVMValueRef l_truth(Lower *l, const Type *type, LLVMValueRef value) {
    switch (type->kind) {
    case TY_SCALAR: {
        LLVMTypeRef llvm_type = LLVMTypeOf(value);
        switch (scalar_info[type->scalar].kind) {
        case 'b': return value;
        case 'f': return l_cast_scalar(l, value, (Scalar)type->scalar, SCALAR_BOOL);
        case 'c': {
            LLVMValueRef re = l_extract(l, value, 0), im = l_extract(l, value, 1), zero = l_null(LLVMTypeOf(re));
            return l_or(l, LLVMBuildFCmp(l->b, LLVMRealUNE, re, zero, ""),
                        LLVMBuildFCmp(l->b, LLVMRealUNE, im, zero, ""));
        }
        default: return l_icmp(l, LLVMIntNE, value, l_null(llvm_type));
        }
    }
    case TY_CHARS: return l_chars_truth(l, type, value);
    case TY_TIME: return l_icmp(l, LLVMIntNE, value, l_i64(l, 0));
    case TY_NONE: return l_i1(l, false);
    case TY_TUPLE: return l_i1(l, type->count > 0);
    case TY_OPTIONAL: return l_and(l, l_present(l, type, value), l_truth(l, type->items[0], l_content(l, type, value)));
    case TY_RANGE:
        return l_icmp(l, LLVMIntNE,
                      l_range_length(l, l_extract(l, value, 0), l_extract(l, value, 1), l_extract(l, value, 2)),
                      l_i64(l, 0));
    default: return l_i1(l, true);
    }
}

LLVMValueRef lower_truth(Lower *l, const Value *value) {
    const Value *operand = value->args[0];
    if (operand->type->kind == TY_STR && operand->konst) return l_i1(l, operand->konst->text[0] != 0);
    LLVMValueRef v = l_value(l, operand);
    if (operand->type->kind == TY_ARRAY) {
        const Type *type = operand->type;
        LLVMValueRef size = l_array_size(l, type, v);
        l_raise_if(l, l_icmp(l, LLVMIntNE, size, l_i64(l, 1)), "ValueError",
                   "The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()", NULL,
                   0);
        return l_truth(l, type_element(type), l_load_element(l, type, l_array_data(l, v)));
    }
    return l_truth(l, operand->type, v);
}
