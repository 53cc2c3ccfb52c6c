/* lower_attr.c: attributes of run-time values, by the rows of ir_attrs.def: what inference did not replace. */
#include "codegen/lower.h"

/* One attribute of v, a value of type `type`; the result has the type of `value`. */
typedef LLVMValueRef AttrLowering(Lower *l, const Value *value, const Type *type, LLVMValueRef v);

/* ---- arrays ---- */

typedef LLVMValueRef AxisPart(Lower *l, const Type *type, LLVMValueRef array, unsigned axis);

static LLVMValueRef per_axis(Lower *l, const Type *tuple, const Type *array, LLVMValueRef v, AxisPart *part) {
    LLVMValueRef items[TYPE_MAX_NDIM];
    for (unsigned i = 0; i < array->ndim; i++) items[i] = part(l, array, v, i);
    return l_make_items(l, tuple, items);
}

static LLVMValueRef lower_attr_shape(Lower *l, const Value *value, const Type *type, LLVMValueRef v) {
    return per_axis(l, value->type, type, v, l_array_shape);
}

static LLVMValueRef lower_attr_strides(Lower *l, const Value *value, const Type *type, LLVMValueRef v) {
    return per_axis(l, value->type, type, v, l_array_stride);
}

static LLVMValueRef lower_attr_size(Lower *l, const Value *value, const Type *type, LLVMValueRef v) {
    (void)value;
    return l_array_size(l, type, v);
}

static LLVMValueRef lower_attr_nbytes(Lower *l, const Value *value, const Type *type, LLVMValueRef v) {
    (void)value;
    return l_nswmul(l, l_array_size(l, type, v), l_i64(l, (int64_t)type_size(type_element(type))));
}

static LLVMValueRef lower_attr_whole(Lower *l, const Value *value, const Type *type, LLVMValueRef v) {
    (void)l, (void)value, (void)type;
    return v;
}

static LLVMValueRef lower_attr_transposed(Lower *l, const Value *value, const Type *type, LLVMValueRef v) {
    LLVMValueRef shape[TYPE_MAX_NDIM], strides[TYPE_MAX_NDIM];
    for (unsigned i = 0; i < type->ndim; i++) {
        shape[i] = l_array_shape(l, type, v, type->ndim - 1 - i);
        strides[i] = l_array_stride(l, type, v, type->ndim - 1 - i);
    }
    return l_array_make(l, value->type, l_array_data(l, v), l_view_owner(l, v), shape, strides);
}

/* A view on the part that lies `bytes` into each element of a complex array. */
static LLVMValueRef part_of(Lower *l, const Value *value, const Type *type, LLVMValueRef v, size_t bytes) {
    LLVMValueRef shape[TYPE_MAX_NDIM], strides[TYPE_MAX_NDIM], data = l_array_data(l, v);
    for (unsigned i = 0; i < type->ndim; i++) {
        shape[i] = l_array_shape(l, type, v, i);
        strides[i] = l_array_stride(l, type, v, i);
    }
    if (bytes) data = l_offset(l, data, l_i64(l, (int64_t)bytes));
    return l_array_make(l, value->type, data, l_view_owner(l, v), shape, strides);
}

static LLVMValueRef lower_attr_real_part(Lower *l, const Value *value, const Type *type, LLVMValueRef v) {
    return part_of(l, value, type, v, 0);
}

static LLVMValueRef lower_attr_imag_part(Lower *l, const Value *value, const Type *type, LLVMValueRef v) {
    return part_of(l, value, type, v, type_size(type_element(value->type)));
}

/* ---- numbers and ranges ---- */

static LLVMValueRef lower_attr_real_number(Lower *l, const Value *value, const Type *type, LLVMValueRef v) {
    (void)value, (void)type;
    return l_extract(l, v, 0);
}

static LLVMValueRef lower_attr_imag_number(Lower *l, const Value *value, const Type *type, LLVMValueRef v) {
    (void)value, (void)type;
    return l_extract(l, v, 1);
}

/* Of a range or a slice. */
static LLVMValueRef lower_attr_bounds_start(Lower *l, const Value *value, const Type *type, LLVMValueRef v) {
    (void)value;
    return l_item(l, type, v, 0);
}

static LLVMValueRef lower_attr_bounds_stop(Lower *l, const Value *value, const Type *type, LLVMValueRef v) {
    (void)value;
    return l_item(l, type, v, 1);
}

static LLVMValueRef lower_attr_bounds_step(Lower *l, const Value *value, const Type *type, LLVMValueRef v) {
    (void)value;
    return l_item(l, type, v, 2);
}

/* ---- x.name ---- */

#define lower_attr_NONE NULL
static AttrLowering *const lowerings[ATTR_COUNT] = {
#define ATTR(kind, name, rule, lower, doc) lower_attr_##lower,
#include "ir/ir_attrs.def"
#undef ATTR
};

LLVMValueRef lower_getattr(Lower *l, const Value *value) {
    const Type *type = value->args[0]->type;
    if (!l_has_bytes(value->type)) return LLVMGetUndef(l_type(l, value->type));
    AttrId attr = value_attr(value);
    if (attr == ATTR_COUNT || !lowerings[attr])
        return l_fail(l, "%s has no attribute `%s` in compiled code", l_type_text(l, type), value->imm.text), NULL;
    return lowerings[attr](l, value, type, l_arg(l, value, 0));
}
