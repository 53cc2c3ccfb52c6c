/* lower_tuple.c: tuples and what inference leaves of them: making, taking an item, an index known only at run time,
 * unpacking an array.
 *
 * Concatenation, slices, comparison and membership have become operations on the items before. */
#include "codegen/lower.h"

LLVMValueRef lower_tuple(Lower *l, const Value *value) {
    LLVMValueRef *items = ARENA_ARRAY(l->arena, LLVMValueRef, value->nargs);
    for (uint32_t i = 0; i < value->nargs; i++) {
        const Type *item = value->type->items[i];
        if (l_has_bytes(item)) items[i] = l_convert(l, l_arg(l, value, i), l_arg_type(value, i), item);
    }
    return l_make_items(l, value->type, items);
}

LLVMValueRef lower_extract(Lower *l, const Value *value) {
    const Type *tuple = value->args[0]->type;
    if (value->imm.i < 0 || value->imm.i >= (int64_t)tuple->count)
        return l_fail(l, "no item %lld", (long long)value->imm.i), NULL;
    unsigned index = (unsigned)value->imm.i;
    if (!l_has_bytes(value->type)) return LLVMGetUndef(l_type(l, value->type));
    return l_convert(l, l_item(l, tuple, l_arg(l, value, 0), index), tuple->items[index], value->type);
}

/* The numbers of a tuple that is known, in memory that is not written to; NULL: it is none. */
static LLVMValueRef known_items(Lower *l, const Type *tuple, LLVMValueRef value) {
    const Type *item = tuple->items[0];
    if (!LLVMIsConstant(value) || type_repr(item)->nleaves != 1) return NULL;
    LLVMTypeRef type = l_leaf_memory_type(l, type_repr(item)->leaves);
    LLVMValueRef *items = ARENA_ARRAY(l->arena, LLVMValueRef, tuple->count);
    for (uint32_t i = 0; i < tuple->count; i++) {
        items[i] = l_item(l, tuple, value, i);
        bool number = LLVMIsAConstantInt(items[i]) || LLVMIsAConstantFP(items[i]);
        if (!number || LLVMTypeOf(items[i]) != type) return NULL; /* a bool is another in memory */
    }
    return l->target->const_data(l, LLVMConstArray2(type, items, tuple->count), type_size(item) * tuple->count);
}

/* Items of one type, in memory, so that an index can choose: SROA undoes it where the index turns out to be known. */
LLVMValueRef l_tuple_in_memory(Lower *l, const Type *tuple, LLVMValueRef value, LLVMValueRef *stride) {
    const Type *item = tuple->items[0];
    size_t bytes = type_size(item);
    LLVMValueRef known = known_items(l, tuple, value);
    *stride = l_i64(l, (int64_t)bytes);
    if (known) return known;
    LLVMValueRef memory = l_alloca_bytes(l, bytes * tuple->count, (unsigned)type_align(item), "items");
    for (uint32_t i = 0; i < tuple->count; i++)
        l_store(l, item, l_item(l, tuple, value, i), l_offset(l, memory, l_i64(l, (int64_t)(bytes * i))));
    return memory;
}

LLVMValueRef lower_tuple_getitem(Lower *l, const Value *value) {
    const Type *tuple = value->args[0]->type;
    for (uint32_t i = 1; i < tuple->count; i++)
        if (tuple->items[i] != tuple->items[0])
            return l_fail(l, "items of %s have no common type", l_type_text(l, tuple)), NULL;
    if (!type_is_integer(value->args[1]->type))
        return l_fail(l, "%s cannot be indexed here", l_type_text(l, tuple)), NULL;
    LLVMValueRef count = l_i64(l, tuple->count),
                 original = l_cast_scalar(l, l_arg(l, value, 1), value->args[1]->type->scalar, SCALAR_INT64);
    LLVMValueRef index = l_wrap_index(l, original, count, value_counts_forward(value->args[1]));
    if (!(value->flags & VF_UNCHECKED))
        l_raise_if(l, l_icmp(l, LLVMIntUGE, index, count), "IndexError", "tuple index out of range", NULL, 0);
    if (!tuple->count || !l_has_bytes(tuple->items[0])) return LLVMGetUndef(l_type(l, value->type));
    LLVMValueRef stride, memory = l_tuple_in_memory(l, tuple, l_arg(l, value, 0), &stride);
    LLVMValueRef item = l_load(l, tuple->items[0], l_offset(l, memory, l_nswmul(l, index, stride)));
    return l_convert(l, item, tuple->items[0], value->type);
}

/* a, b = array: as many items as targets, checked now. */
LLVMValueRef lower_unpack(Lower *l, const Value *value) {
    const Type *type = value->args[0]->type;
    LLVMValueRef source = l_arg(l, value, 0);
    if (type->kind == TY_TUPLE) return l_convert(l, source, type, value->type);
    if (type->kind != TY_ARRAY || !type->ndim) return l_fail(l, "%s cannot be unpacked", l_type_text(l, type)), NULL;
    uint32_t wanted = value->type->count;
    LLVMValueRef extent = l_array_shape(l, type, source, 0), n = l_i64(l, wanted), args[] = {n, extent};
    l_raise_if(l, l_icmp(l, LLVMIntSGT, extent, n), "ValueError", "too many values to unpack (expected %lld)", args, 1);
    l_raise_if(l, l_icmp(l, LLVMIntSLT, extent, n), "ValueError",
               "not enough values to unpack (expected %lld, got %lld)", args, 2);
    LLVMValueRef tuple = LLVMGetUndef(l_type(l, value->type));
    for (uint32_t i = 0; i < wanted; i++)
        tuple = l_set_item(l, value->type, tuple, i, l_array_item(l, type, source, l_i64(l, i), value->type->items[i]));
    return tuple;
}
