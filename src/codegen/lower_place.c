/* lower_place.c: the address of an element.
 *
 * Where an array is known to be small (Lower.narrow) 32 bits hold every place in it: a sum of products with strides, so
 * that accesses to neighbours share all but one of them.  Constant distances stand apart: a[y - 1, x + 1] is what
 * a[y, x] is, less a row, and one item on, which loads and stores add for nothing. */
#include "codegen/lower.h"

enum { FARTHEST = SMALL_MARGIN / 2, LARGE_ITEM = 4 };

/* Whether a sum with a small constant, if it wraps in its type, is as far outside of every small array as an index can
 * be, counted from either end. */
static bool is_outside_wrapped(const Type *type) {
    return type->kind == TY_SCALAR && (type->scalar == SCALAR_INT32 || type->scalar == SCALAR_INT64);
}

/* The constant that a sum adds which is an index from the start; 0: none. */
static int64_t constant_part(const Value *sum) {
    bool add = sum->op == OP_ADD, sub = sum->op == OP_SUB;
    if (!(add || sub) || !is_outside_wrapped(sum->type) || sum->args[0]->type != sum->type) return 0;
    const Const *konst = sum->args[1]->konst;
    if (!konst || !type_is_integer(konst->type) || konst->i < -FARTHEST || konst->i > FARTHEST) return 0;
    return add ? konst->i : -konst->i;
}

/* `source`: the index, which counts from the start. */
Place l_place(Lower *l, LLVMValueRef index, const Value *source) {
    while (source && source->op == OP_CAST && source->type->kind == TY_SCALAR && source->type->scalar == SCALAR_INT64 &&
           is_outside_wrapped(source->args[0]->type))
        source = source->args[0];
    int64_t part = source ? constant_part(source) : 0;
    if (!part) return (Place){index, 0};
    return (Place){l_narrowed(l, l_value(l, source->args[0])), part};
}

/* Whether places without their distances still are within 31 bits: a launch has seen that an array has less than 2**30
 * items, with room for some next to each other, and less than 2**31 bytes. */
bool l_places_are_near(const Type *type, const Place *places) {
    int64_t rows = 0;
    bool distant = false;
    unsigned neighbours = type->layout == LAYOUT_F ? 0 : type->ndim - 1;
    for (unsigned i = 0; i < type->ndim; i++) {
        if (i != neighbours) rows += places[i].offset < 0 ? -places[i].offset : places[i].offset;
        distant |= places[i].offset != 0;
    }
    if (type->layout == LAYOUT_A) return !distant;
    return rows <= (type_size(type_element(type)) < LARGE_ITEM ? 1 : 2);
}

/* In 64 bits.  What a loop counts in 64 stays as it is: cut to 32, it would be extended anew in each round, where LLVM
 * else has a pointer that moves on. */
static LLVMValueRef widened_place(Lower *l, LLVMValueRef at) {
    LLVMValueRef counted = LLVMIsATruncInst(at) ? LLVMGetOperand(at, 0) : NULL;
    bool is_counter = counted && LLVMIsALoadInst(counted) && LLVMIsAAllocaInst(LLVMGetOperand(counted, 0));
    return is_counter && LLVMTypeOf(counted) == l->i64 ? counted : l_widened(l, at);
}

LLVMValueRef l_element_at(Lower *l, const Type *type, LLVMValueRef array, const Place *places) {
    LLVMValueRef data = l_array_data(l, array), at = NULL, stride = NULL, apart = NULL, parts[TYPE_MAX_NDIM];
    unsigned ndim = type->ndim, neighbours = type->layout == LAYOUT_F ? 0 : ndim - 1;
    bool strided = type->layout == LAYOUT_A;
    if (ndim == 0) return data;
    for (unsigned k = 0; k < ndim; k++) { /* from the axis whose items are neighbours on */
        unsigned i = type->layout == LAYOUT_F ? k : ndim - 1 - k;
        if (strided) stride = l_narrowed(l, l_array_stride(l, type, array, i));
        parts[i] = stride ? l_nswmul(l, places[i].index, stride) : places[i].index;
        if (i != neighbours && places[i].offset) {
            LLVMValueRef distance = l_nswmul(l, stride, l_i32(l, (int)places[i].offset));
            apart = apart ? l_nswadd(l, apart, distance) : distance;
        }
        if (strided || k + 1 == ndim) continue;
        LLVMValueRef extent = l_narrowed(l, l_array_shape(l, type, array, i));
        stride = stride ? l_nswmul(l, stride, extent) : extent;
    }
    for (unsigned k = 0; k < ndim; k++) {
        unsigned i = type->layout == LAYOUT_F ? ndim - 1 - k : k;
        at = at ? l_nswadd(l, at, parts[i]) : parts[i];
    }
    at = widened_place(l, apart ? l_nswadd(l, at, apart) : at);
    if (strided) return l_offset(l, data, at);
    LLVMTypeRef item = l_item_type(l, type_element(type));
    if (!places[neighbours].offset) return l_index(l, item, data, at);
    LLVMValueRef next = l_i64(l, places[neighbours].offset), base = LLVMBuildGEP2(l->b, item, data, &at, 1, "");
    return LLVMBuildGEP2(l->b, item, base, &next, 1, "");
}

LLVMValueRef l_element(Lower *l, const Type *type, LLVMValueRef array, LLVMValueRef const *index) {
    if (!l->narrow) return l_element_wide(l, type, array, index);
    Place places[TYPE_MAX_NDIM];
    for (unsigned i = 0; i < type->ndim; i++) places[i] = (Place){l_narrowed(l, index[i]), 0};
    return l_element_at(l, type, array, places);
}

LLVMValueRef l_element_wide(Lower *l, const Type *type, LLVMValueRef array, LLVMValueRef const *index) {
    LLVMValueRef data = l_array_data(l, array), at = NULL;
    unsigned ndim = type->ndim;
    if (ndim == 0) return data;
    if (type->layout == LAYOUT_A) {
        for (unsigned i = 0; i < ndim; i++) {
            LLVMValueRef part = l_nswmul(l, index[i], l_array_stride(l, type, array, i));
            at = at ? l_nswadd(l, at, part) : part;
        }
        return l_offset(l, data, at);
    }
    for (unsigned k = 0; k < ndim; k++) {
        unsigned i = type->layout == LAYOUT_C ? k : ndim - 1 - k;
        at = at ? l_nswadd(l, l_nswmul(l, at, l_array_shape(l, type, array, i)), index[i]) : index[i];
    }
    return l_index(l, l_item_type(l, type_element(type)), data, at);
}
