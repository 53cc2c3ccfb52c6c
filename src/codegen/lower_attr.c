/* lower_attr.c: attributes of run-time values: arrays, scalars, ranges. */
#include <string.h> /* strcmp */

#include "codegen/lower.h"

static LLVMValueRef int_tuple(Lower *l, const Type *tuple, const Type *array, LLVMValueRef value,
                              LLVMValueRef (*part)(Lower *, const Type *, LLVMValueRef, unsigned)) {
    LLVMValueRef result = LLVMGetUndef(l_type(l, tuple));
    for (unsigned i = 0; i < array->ndim; i++) result = l_set_item(l, tuple, result, i, part(l, array, value, i));
    return result;
}

static LLVMValueRef transposed(Lower *l, const Type *type, LLVMValueRef array, const Type *result) {
    LLVMValueRef shape[TYPE_MAX_NDIM], strides[TYPE_MAX_NDIM];
    for (unsigned i = 0; i < type->ndim; i++) {
        shape[i] = l_array_shape(l, type, array, type->ndim - 1 - i);
        strides[i] = l_array_stride(l, type, array, type->ndim - 1 - i);
    }
    return l_array_make(l, result, l_array_data(l, array), l_array_owner(l, array), shape, strides);
}

/* The real or the imaginary parts of a complex array as a view. */
static LLVMValueRef complex_part(Lower *l, const Type *type, LLVMValueRef array, const Type *result, bool imaginary) {
    LLVMValueRef shape[TYPE_MAX_NDIM], strides[TYPE_MAX_NDIM], data = l_array_data(l, array);
    for (unsigned i = 0; i < type->ndim; i++) {
        shape[i] = l_array_shape(l, type, array, i);
        strides[i] = l_array_stride(l, type, array, i);
    }
    if (imaginary) data = l_offset(l, data, l_i64(l, scalar_info[type_element(result)->scalar].bytes));
    return l_array_make(l, result, data, l_array_owner(l, array), shape, strides);
}

static LLVMValueRef array_attribute(Lower *l, const Value *value, const Type *type, LLVMValueRef array) {
    const char *name = value->imm.text;
    if (strcmp(name, "shape") == 0) return int_tuple(l, value->type, type, array, l_array_shape);
    if (strcmp(name, "strides") == 0) return int_tuple(l, value->type, type, array, l_array_stride);
    if (strcmp(name, "size") == 0) return l_array_size(l, type, array);
    if (strcmp(name, "nbytes") == 0)
        return l_nswmul(l, l_array_size(l, type, array), l_i64(l, scalar_info[type_element(type)->scalar].bytes));
    if (strcmp(name, "ndim") == 0) return l_i64(l, type->ndim);
    if (strcmp(name, "itemsize") == 0) return l_i64(l, scalar_info[type_element(type)->scalar].bytes);
    if (strcmp(name, "T") == 0) return transposed(l, type, array, value->type);
    if (strcmp(name, "flat") == 0) return array;
    bool complex = type_scalar_kind(type_element(type)) == 'c';
    if (strcmp(name, "real") == 0) return complex ? complex_part(l, type, array, value->type, false) : array;
    if (strcmp(name, "imag") == 0 && complex) return complex_part(l, type, array, value->type, true);
    return NULL;
}

static LLVMValueRef scalar_attribute(Lower *l, const Value *value, const Type *type, LLVMValueRef v) {
    const char *name = value->imm.text;
    bool complex = type_scalar_kind(type) == 'c';
    if (strcmp(name, "real") == 0) return complex ? l_extract(l, v, 0) : l_cast(l, v, type, value->type);
    if (strcmp(name, "imag") == 0) return complex ? l_extract(l, v, 1) : l_null(l_type(l, value->type));
    return NULL;
}

LLVMValueRef lower_getattr(Lower *l, const Value *value) {
    const Type *type = value->args[0]->type;
    if (!l_has_bytes(value->type)) return LLVMGetUndef(l_type(l, value->type));
    LLVMValueRef v = l_arg(l, value, 0), result = NULL;
    if (type->kind == TY_ARRAY) result = array_attribute(l, value, type, v);
    if (type->kind == TY_SCALAR) result = scalar_attribute(l, value, type, v);
    if (type->kind == TY_RANGE && strcmp(value->imm.text, "start") == 0) result = l_extract(l, v, 0);
    if (type->kind == TY_RANGE && strcmp(value->imm.text, "stop") == 0) result = l_extract(l, v, 1);
    if (type->kind == TY_RANGE && strcmp(value->imm.text, "step") == 0) result = l_extract(l, v, 2);
    if (!result)
        return l_unsupported(l, "%s has no attribute `%s` in compiled code", l_type_text(l, type), value->imm.text);
    return result;
}
