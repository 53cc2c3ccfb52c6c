/* lower_struct.c: fields of records in memory: views on them, copies of whole records.
 *
 * A record is a reference, an array without axes; a field of it, or of each struct of an array, is the array that lies
 * `offset` bytes further.  Where an index outside is skipped, what a record that was not there contains is not there
 * either: its fields without axes point nowhere, nested arrays have no elements. */
#include "codegen/lower.h"

/* Whether the record is one that an index outside gave; NULL: that cannot be. */
static LLVMValueRef is_nowhere(Lower *l, const Type *type, LLVMValueRef data) {
    return l->access == ACCESS_SKIP && type->ndim == 0 ? l_icmp(l, LLVMIntEQ, data, l_nowhere(l)) : NULL;
}

LLVMValueRef lower_field(Lower *l, const Value *value) {
    const Type *type = value->args[0]->type, *result = value->type, *item = type_element(type)->items[value->imm.i];
    LLVMValueRef array = l_arg(l, value, 0), data = l_array_data(l, array), missing = is_nowhere(l, type, data);
    LLVMValueRef shape[TYPE_MAX_NDIM], strides[TYPE_MAX_NDIM];
    int64_t stride = (int64_t)type_size(type_element(result));
    for (unsigned i = result->ndim; i-- > type->ndim;) {
        uint32_t extent = item->places[i - type->ndim];
        shape[i] = l_i64(l, extent);
        if (missing) shape[i] = l_select(l, missing, l_i64(l, 0), shape[i]);
        strides[i] = l_i64(l, stride);
        stride *= extent;
    }
    for (unsigned i = 0; i < type->ndim; i++) {
        shape[i] = l_array_shape(l, type, array, i);
        strides[i] = l_array_stride(l, type, array, i);
    }
    uint32_t offset = type_element(type)->places[value->imm.i];
    LLVMValueRef at = offset ? l_offset(l, data, l_i64(l, offset)) : data;
    if (missing) at = l_select(l, missing, l_nowhere(l), at);
    return l_array_make(l, result, at, l_view_owner(l, array), shape, strides);
}

void l_copy_record(Lower *l, const Type *record, LLVMValueRef to, LLVMValueRef from) {
    LLVMValueRef bytes = l_i64(l, record->bytes);
    if (l->access != ACCESS_SKIP) {
        LLVMBuildMemMove(l->b, to, record->align, from, record->align, bytes);
        return;
    }
    LIf f;
    l_if(l, &f, l_icmp(l, LLVMIntEQ, from, l_nowhere(l)));
    LLVMBuildMemSet(l->b, to, l_i8(l, 0), bytes, record->align);
    l_else(l, &f);
    LLVMBuildMemMove(l->b, to, record->align, from, record->align, bytes);
    l_endif(l, &f);
}
