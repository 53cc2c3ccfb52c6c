/* lower_chars.c: elements of dtype S and U: so many characters, the rest zero; comparison by character, length.
 *
 * A value is one leaf for each character.  Two of one length and width are compared from the first character on, by the
 * last one backwards: what differs earlier decides. */
#include <stdlib.h> /* size_t */

#include "codegen/lower.h"

static LLVMValueRef character(Lower *l, const Type *type, LLVMValueRef value, unsigned index) {
    return type->bytes == 1 ? value : l_extract(l, value, index);
}

LLVMValueRef lower_chars_compare(Lower *l, const Value *value) {
    const Type *type = value->args[0]->type;
    LLVMValueRef a = l_arg(l, value, 0), b = l_arg(l, value, 1), equal = l_i1(l, true), less = l_i1(l, false);
    for (unsigned i = type->bytes; i-- > 0;) {
        LLVMValueRef x = character(l, type, a, i), y = character(l, type, b, i), same = l_icmp(l, LLVMIntEQ, x, y);
        equal = l_and(l, equal, same);
        less = l_select(l, same, less, l_icmp(l, LLVMIntULT, x, y));
    }
    switch (value->op) {
    case OP_EQ: return equal;
    case OP_NE: return l_not(l, equal);
    case OP_LT: return less;
    case OP_LE: return l_or(l, less, equal);
    case OP_GT: return l_not(l, l_or(l, less, equal));
    default: return l_not(l, less);
    }
}

/* Longer: zeros follow; shorter: the rest is cut off. */
LLVMValueRef l_chars_convert(Lower *l, LLVMValueRef value, const Type *from, const Type *to) {
    LLVMValueRef *leaves = ARENA_ARRAY(l->arena, LLVMValueRef, to->bytes);
    LLVMValueRef const *at = leaves;
    LLVMTypeRef type = l_scalar_type(l, (Scalar)to->scalar);
    for (unsigned i = 0; i < to->bytes; i++) leaves[i] = i < from->bytes ? character(l, from, value, i) : l_null(type);
    return l_unflatten(l, to, &at);
}

/* The code point that UTF-8 begins with; the text is valid. */
static uint32_t next_code_point(const unsigned char **text) {
    uint32_t first = *(*text)++;
    unsigned more = first < 0x80 ? 0 : first < 0xE0 ? 1 : first < 0xF0 ? 2 : 3;
    uint32_t point = more ? first & (0x3Fu >> more) : first;
    for (; more; more--) point = point << 6 | (*(*text)++ & 0x3Fu);
    return point;
}

LLVMValueRef l_chars_const(Lower *l, const Const *konst) {
    const Type *type = konst->type;
    LLVMValueRef *leaves = ARENA_ARRAY(l->arena, LLVMValueRef, type->bytes);
    LLVMValueRef const *at = leaves;
    const unsigned char *text = (const unsigned char *)konst->text;
    for (unsigned i = 0; i < type->bytes; i++)
        leaves[i] = l_int(l_scalar_type(l, (Scalar)type->scalar), *text ? (int64_t)next_code_point(&text) : 0);
    return l_unflatten(l, type, &at);
}

LLVMValueRef l_chars_truth(Lower *l, const Type *type, LLVMValueRef value) {
    LLVMValueRef any = l_i1(l, false);
    for (unsigned i = 0; i < type->bytes; i++) {
        LLVMValueRef item = character(l, type, value, i);
        any = l_or(l, any, l_icmp(l, LLVMIntNE, item, l_null(LLVMTypeOf(item))));
    }
    return any;
}

LLVMValueRef lower_func_chars_length(Lower *l, const Value *call) {
    const Type *type = l_arg_type(call, 0);
    LLVMValueRef value = l_arg(l, call, 0), length = l_i64(l, 0);
    for (unsigned i = 0; i < type->bytes; i++) {
        LLVMValueRef item = character(l, type, value, i);
        length = l_select(l, l_icmp(l, LLVMIntNE, item, l_null(LLVMTypeOf(item))), l_i64(l, i + 1), length);
    }
    return length;
}
