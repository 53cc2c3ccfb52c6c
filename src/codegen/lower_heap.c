/* lower_heap.c: memory on the heap of compiled code: new arrays.
 *
 * In: NEW_ARRAY with its extents.  Out: the array; its owner is the head of its buffer (repr.h: OWNER_HEAP), which lies
 * before the data.  What NumPy refuses raises as NumPy does, axis by axis: a negative extent, a product that no int64
 * holds (an axis of no elements does not count), and memory that there is not. */
#include "codegen/lower.h"

static void refuse_negative(Lower *l, const Value *operand, LLVMValueRef extent) {
    if (value_is_nonnegative(operand)) return;
    l_raise_if(l, l_icmp(l, LLVMIntSLT, extent, l_i64(l, 0)), "ValueError", "negative dimensions are not allowed", NULL,
               0);
}

/* The bytes of its elements; *empty: whether it has none. */
static LLVMValueRef array_bytes(Lower *l, const Value *value, LLVMValueRef *shape, LLVMValueRef *empty) {
    LLVMValueRef bytes = l_i64(l, (int64_t)type_size(type_element(value->type))), one = l_i64(l, 1);
    *empty = l_i1(l, false);
    for (uint32_t i = 0; i < value->nargs; i++) {
        LLVMValueRef extent = shape[i] = l_arg(l, value, i), none = l_icmp(l, LLVMIntEQ, extent, l_i64(l, 0));
        refuse_negative(l, value->args[i], extent);
        *empty = l_or(l, *empty, none);
        LLVMValueRef operands[] = {bytes, l_select(l, none, one, extent)};
        LLVMValueRef product = l_intrinsic(l, "llvm.smul.with.overflow", l->i64, operands, 2);
        l_raise_if(l, l_extract(l, product, 1), "ValueError",
                   "array is too big; `arr.size * arr.dtype.itemsize` is larger than the maximum possible size.", NULL,
                   0);
        bytes = l_extract(l, product, 0);
    }
    return bytes;
}

LLVMValueRef lower_new_array(Lower *l, const Value *value) {
    LLVMValueRef shape[TYPE_MAX_NDIM], empty, bytes = array_bytes(l, value, shape, &empty);
    LLVMValueRef args[] = {l_select(l, empty, l_i64(l, 0), bytes), l_i32(l, value->imm.i)};
    LLVMValueRef data = l_call_named(l, "krait_heap_buffer", l->ptr, args, 2);
    TRY(data);
    l_call_attribute(l, data, 0, "noalias", 0);
    l_call_attribute(l, data, 0, "align", HEAP_CONTENT);
    l_raise_if(l, l_icmp(l, LLVMIntEQ, data, l_null(l->ptr)), "MemoryError",
               "Unable to allocate %lld bytes for an array", args, 1);
    LLVMValueRef to_head = l_i64(l, OWNER_HEAP - HEAP_CONTENT); /* not in bounds of what the call is said to give */
    LLVMValueRef owner = LLVMBuildGEP2(l->b, l->i8, data, &to_head, 1, "");
    return l_array_make(l, value->type, data, owner, shape, NULL);
}
