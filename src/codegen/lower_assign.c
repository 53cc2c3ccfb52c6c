/* lower_assign.c: tuples of numbers, or of such tuples, assigned to parts of arrays.
 *
 * As NumPy does: straight into the destination if it has the tuple's shape; else an array is made, on the stack, and
 * assigned. */
#include "codegen/lower.h"

/* Stores the numbers, or dates and durations, of a tuple, in order, to the elements of an array from axis `axis` on. */
static void store_items(Lower *l, const Type *array_type, LLVMValueRef array, LLVMValueRef at, unsigned axis,
                        const Type *type, LLVMValueRef value, bool checked) {
    const Type *element = type_element(array_type);
    if (type->kind != TY_TUPLE) {
        if (checked && type != element) l_check_int_range(l, value, type, element, NULL);
        l_store_element(l, array_type, l_cast(l, value, type, element), at);
        return;
    }
    LLVMValueRef stride = l_array_stride(l, array_type, array, axis);
    for (uint32_t i = 0; i < type->count; i++)
        store_items(l, array_type, array, l_offset(l, at, l_nswmul(l, l_i64(l, i), stride)), axis + 1, type->items[i],
                    l_item(l, type, value, i), checked);
}

void l_assign_tuple(Lower *l, const Type *to_type, LLVMValueRef to, const Type *tuple, LLVMValueRef value,
                    bool checked) {
    const Type *element = type_element(to_type);
    LLVMValueRef shape[TYPE_MAX_NDIM], same = l_i1(l, true);
    uint64_t bytes = type_size(element);
    unsigned ndim = 0;
    for (const Type *at = tuple; at && at->kind == TY_TUPLE; at = at->count ? at->items[0] : NULL) {
        shape[ndim] = l_i64(l, at->count);
        if (ndim < to_type->ndim)
            same = l_and(l, same, l_icmp(l, LLVMIntEQ, l_array_shape(l, to_type, to, ndim), shape[ndim]));
        ndim++;
        bytes *= at->count;
    }
    LIf f;
    if (ndim == to_type->ndim) {
        l_if(l, &f, same);
        store_items(l, to_type, to, l_array_data(l, to), 0, tuple, value, checked);
        l_else(l, &f);
    }
    const Type *type = type_array(l->types, element, ndim, LAYOUT_C, false);
    LLVMValueRef memory = l_alloca_bytes(l, bytes ? bytes : 1, (unsigned)type_align(element), "items");
    LLVMValueRef array = l_array_of_shape(l, type, memory, shape);
    store_items(l, type, array, memory, 0, tuple, value, checked);
    l_assign(l, to_type, to, type, array);
    if (ndim == to_type->ndim) l_endif(l, &f);
}
