/* lower_heap.c: memory on the heap of compiled code: new arrays.
 *
 * In: NEW_ARRAY with its extents.  Out: the array; its owner is the head of its buffer (repr.h: OWNER_HEAP), which lies
 * before the data.  What NumPy refuses raises as NumPy does, axis by axis: a negative extent, a product that no int64
 * holds (an axis of no elements does not count), and memory that there is not. */
#include "codegen/lower.h"

enum { MOST_REFUSED = 2 * TYPE_MAX_NDIM + 1 };

typedef struct Wanted { /* an array that is to be made */
    LLVMValueRef shape[TYPE_MAX_NDIM], bytes;
    LLVMValueRef refused; /* whether one of the conditions below holds */
    RaiseWhen raises[MOST_REFUSED];
    unsigned count;
} Wanted;

static void refuse(Lower *l, Wanted *w, LLVMValueRef condition, const char *text) {
    w->refused = l_or(l, w->refused, condition);
    w->raises[w->count++] = (RaiseWhen){condition, "ValueError", text, NULL, 0};
}

static void add_axis(Lower *l, Wanted *w, const Value *operand, LLVMValueRef extent, LLVMValueRef *empty) {
    LLVMValueRef none = l_icmp(l, LLVMIntEQ, extent, l_i64(l, 0)), one = l_i64(l, 1);
    if (!value_is_nonnegative(operand))
        refuse(l, w, l_icmp(l, LLVMIntSLT, extent, l_i64(l, 0)), "negative dimensions are not allowed");
    *empty = l_or(l, *empty, none);
    LLVMValueRef operands[] = {w->bytes, l_select(l, none, one, extent)};
    LLVMValueRef product = l_intrinsic(l, "llvm.smul.with.overflow", l->i64, operands, 2);
    refuse(l, w, l_extract(l, product, 1),
           "array is too big; `arr.size * arr.dtype.itemsize` is larger than the maximum possible size.");
    w->bytes = l_extract(l, product, 0);
}

/* The heap has no memory for less than nothing, either: one test is enough. */
LLVMValueRef lower_new_array(Lower *l, const Value *value) {
    Wanted w = {.bytes = l_i64(l, (int64_t)type_size(type_element(value->type))), .refused = l_i1(l, false)};
    LLVMValueRef empty = l_i1(l, false);
    for (uint32_t i = 0; i < value->nargs; i++)
        add_axis(l, &w, value->args[i], w.shape[i] = l_arg(l, value, i), &empty);
    LLVMValueRef bytes = l_select(l, empty, l_i64(l, 0), w.bytes);
    LLVMValueRef args[] = {l_select(l, w.refused, l_i64(l, -1), bytes), l_i32(l, value->imm.i)};
    LLVMValueRef data = l_call_named(l, "krait_heap_buffer", l->ptr, args, 2);
    TRY(data);
    l_call_attribute(l, data, 0, "noalias", 0);
    l_call_attribute(l, data, 0, "align", HEAP_CONTENT);
    LLVMValueRef none = l_icmp(l, LLVMIntEQ, data, l_null(l->ptr));
    w.raises[w.count++] = (RaiseWhen){none, "MemoryError", "Unable to allocate %lld bytes for an array", args, 1};
    l_raise_first(l, none, w.raises, w.count);
    LLVMValueRef to_head = l_i64(l, OWNER_HEAP - HEAP_CONTENT); /* not in bounds of what the call is said to give */
    LLVMValueRef owner = LLVMBuildGEP2(l->b, l->i8, data, &to_head, 1, "");
    return l_array_make(l, value->type, data, owner, w.shape, NULL);
}
