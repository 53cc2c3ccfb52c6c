/* llvm_values.c: values of our types in LLVM: as leaves, as items, in memory.
 *
 * Input: types and values.  Output: LLVM types and values in the form llvm.h describes: a value of no leaf is {}, of
 * one leaf that leaf, of more a struct of them.  Algorithm: everything is a loop over the leaves that repr.h lists; the
 * items of a composite are ranges of its leaves. */
#include <stdarg.h> /* va_list */
#include <stddef.h> /* offsetof */

#include "codegen/llvm.h"

/* ---- types ---- */

LLVMTypeRef l_scalar_type(Lower *l, Scalar scalar) {
    switch (scalar_info[scalar].kind) {
    case 'b': return l->i1;
    case 'i':
    case 'u': return LLVMIntTypeInContext(l->context, 8u * scalar_info[scalar].bytes);
    case 'f':
        if (scalar_is_half(scalar)) return scalar == SCALAR_FLOAT16 ? l->f16 : l->bf16;
        return scalar == SCALAR_FLOAT32 ? l->f32 : l->f64;
    default: {
        LLVMTypeRef part = scalar == SCALAR_COMPLEX64 ? l->f32 : l->f64;
        return l_struct(l, 2, part, part);
    }
    }
}

LLVMTypeRef l_memory_type(Lower *l, Scalar scalar) { return scalar == SCALAR_BOOL ? l->i8 : l_scalar_type(l, scalar); }

LLVMTypeRef l_item_type(Lower *l, const Type *item) {
    return item->kind == TY_SCALAR ? l_memory_type(l, (Scalar)item->scalar) : LLVMArrayType2(l->i8, type_size(item));
}

LLVMTypeRef l_struct(Lower *l, unsigned count, ...) {
    LLVMTypeRef items[16];
    va_list args;
    va_start(args, count);
    if (count > COUNT_OF(items)) count = COUNT_OF(items);
    for (unsigned i = 0; i < count; i++) items[i] = va_arg(args, LLVMTypeRef);
    va_end(args);
    return LLVMStructTypeInContext(l->context, items, count, false);
}

LLVMTypeRef l_leaf_type(Lower *l, const Leaf *leaf) {
    return leaf_is_pointer(leaf) ? l->ptr : l_scalar_type(l, (Scalar)leaf->scalar);
}

LLVMTypeRef l_leaf_memory_type(Lower *l, const Leaf *leaf) {
    return leaf_is_pointer(leaf) ? l->ptr : l_memory_type(l, (Scalar)leaf->scalar);
}

bool l_has_bytes(const Type *type) { return type_repr(type)->nleaves > 0; }

static LLVMTypeRef type_of_leaves(Lower *l, const Leaf *leaves, uint32_t count) {
    if (count == 0) return l->empty;
    if (count == 1) return l_leaf_type(l, leaves);
    LLVMTypeRef *types = ARENA_ARRAY(l->arena, LLVMTypeRef, count);
    for (uint32_t i = 0; i < count; i++) types[i] = l_leaf_type(l, &leaves[i]);
    return LLVMStructTypeInContext(l->context, types, count, false);
}

LLVMTypeRef l_type(Lower *l, const Type *type) {
    const Repr *repr = type_repr(type);
    return type_of_leaves(l, repr->leaves, repr->nleaves);
}

/* ---- leaves ---- */

void l_leaf_types(Lower *l, const Type *type, TypeList *out) {
    const Repr *repr = type_repr(type);
    for (uint32_t i = 0; i < repr->nleaves; i++) vec_push(l->arena, out, l_leaf_type(l, &repr->leaves[i]));
}

/* Leaf `index` of a value of `count` of them, and the value with another leaf there. */
static LLVMValueRef take_leaf(Lower *l, LLVMValueRef value, uint32_t count, uint32_t index) {
    return count == 1 ? value : l_extract(l, value, index);
}

static LLVMValueRef put_leaf(Lower *l, LLVMValueRef value, uint32_t count, uint32_t index, LLVMValueRef leaf) {
    return count == 1 ? leaf : l_insert(l, value, leaf, index);
}

/* What was put together leaf by leaf is taken apart in one walk back: no search for each of thousands of leaves. */
void l_flatten(Lower *l, const Type *type, LLVMValueRef value, ValueList *out) {
    uint32_t count = type_repr(type)->nleaves;
    size_t first = out->len;
    for (uint32_t i = 0; i < count; i++) vec_push(l->arena, out, count == 1 ? value : NULL);
    for (; count > 1 && LLVMIsAInsertValueInst(value) && LLVMGetNumIndices(value) == 1;
         value = LLVMGetOperand(value, 0)) {
        LLVMValueRef *leaf = &out->data[first + LLVMGetIndices(value)[0]];
        if (!*leaf) *leaf = LLVMGetOperand(value, 1);
    }
    for (uint32_t i = 0; i < count; i++)
        if (!out->data[first + i]) out->data[first + i] = LLVMBuildExtractValue(l->b, value, i, "");
}

LLVMValueRef l_unflatten(Lower *l, const Type *type, LLVMValueRef const **leaves) {
    uint32_t count = type_repr(type)->nleaves;
    LLVMValueRef value = count ? LLVMGetPoison(l_type(l, type)) : LLVMGetUndef(l->empty);
    for (uint32_t i = 0; i < count; i++) value = put_leaf(l, value, count, i, *(*leaves)++);
    return value;
}

/* ---- items ---- */

LLVMValueRef l_item(Lower *l, const Type *type, LLVMValueRef value, unsigned index) {
    const Repr *repr = type_repr(type);
    const Part *part = &repr->parts[index];
    if (part->count == repr->nleaves) return value;
    if (part->count == 1) return l_extract(l, value, part->first);
    LLVMValueRef item = LLVMGetUndef(type_of_leaves(l, &repr->leaves[part->first], part->count));
    for (uint32_t i = 0; i < part->count; i++) item = l_insert(l, item, l_extract(l, value, part->first + i), i);
    return item;
}

LLVMValueRef l_set_item(Lower *l, const Type *type, LLVMValueRef value, unsigned index, LLVMValueRef item) {
    const Repr *repr = type_repr(type);
    const Part *part = &repr->parts[index];
    for (uint32_t i = 0; i < part->count; i++)
        value = put_leaf(l, value, repr->nleaves, part->first + i, take_leaf(l, item, part->count, i));
    return value;
}

/* A value of which the first items are these, where they are constants, and *count of them.  Put in one by one, each
 * would be a constant of its own of all leaves, which LLVM keeps: of a long display their square. */
static LLVMValueRef first_constants(Lower *l, const Type *type, LLVMValueRef const *items, uint32_t *count) {
    const Repr *repr = type_repr(type);
    LLVMTypeRef whole = l_type(l, type);
    ValueList leaves = {0};
    uint32_t i = 0;
    for (; i < repr->nparts && (!repr->parts[i].count || LLVMIsConstant(items[i])); i++)
        for (uint32_t k = 0; k < repr->parts[i].count; k++)
            vec_push(l->arena, &leaves, take_leaf(l, items[i], repr->parts[i].count, k));
    *count = repr->nleaves > 1 && leaves.len ? i : 0;
    if (!*count) return LLVMGetUndef(whole);
    for (unsigned k = (unsigned)leaves.len; k < repr->nleaves; k++)
        vec_push(l->arena, &leaves, LLVMGetUndef(LLVMStructGetTypeAtIndex(whole, k)));
    return LLVMConstStructInContext(LLVMGetTypeContext(whole), leaves.data, (unsigned)leaves.len, false);
}

LLVMValueRef l_make_items(Lower *l, const Type *type, LLVMValueRef const *items) {
    const Repr *repr = type_repr(type);
    uint32_t i = 0;
    LLVMValueRef value = first_constants(l, type, items, &i);
    for (; i < repr->nparts; i++)
        if (repr->parts[i].count) value = l_set_item(l, type, value, i, items[i]);
    return value;
}

LLVMValueRef l_content(Lower *l, const Type *optional, LLVMValueRef value) { return l_item(l, optional, value, 0); }
LLVMValueRef l_present(Lower *l, const Type *optional, LLVMValueRef value) { return l_item(l, optional, value, 1); }

/* ---- addresses ---- */

/* An address of this process: in the code, or loaded from the table that linking fills. */
LLVMValueRef l_address(Lower *l, const void *address) {
    if (!l->m->options.relocatable) return LLVMConstIntToPtr(l_i64(l, (int64_t)(intptr_t)address), l->ptr);
    size_t place = 0;
    while (place < l->m->addresses.len && l->m->addresses.data[place] != address) place++;
    if (place == l->m->addresses.len) vec_push(l->arena, &l->m->addresses, address);
    LLVMValueRef table = LLVMGetNamedGlobal(l->module, ADDRESSES_SYMBOL);
    if (!table) { /* codegen_lower gives it its length */
        table = LLVMAddGlobal(l->module, LLVMArrayType2(l->ptr, 0), ADDRESSES_SYMBOL);
        LLVMSetVisibility(table, LLVMHiddenVisibility);
    }
    LLVMValueRef at = l_offset(l, table, l_i64(l, (int64_t)(place * sizeof address)));
    LLVMValueRef value = l_raw_load(l, l->ptr, at, 8);
    l_set_metadata(l, value, "invariant.load", LLVMMDNodeInContext2(l->context, NULL, 0));
    return value;
}

/* ---- memory ---- */

static LLVMValueRef at_bytes(Lower *l, LLVMValueRef pointer, size_t bytes) {
    return bytes ? l_offset(l, pointer, l_i64(l, (int64_t)bytes)) : pointer;
}

static LLVMValueRef load_leaf(Lower *l, const Leaf *leaf, LLVMValueRef pointer, bool unaligned) {
    LLVMValueRef value = l_raw_load(l, l_leaf_memory_type(l, leaf), at_bytes(l, pointer, leaf->offset),
                                    unaligned ? 1 : leaf->align);
    /* Any nonzero byte is true: memory that others wrote may hold more than 0 and 1. */
    if (!leaf_is_pointer(leaf) && leaf->scalar == SCALAR_BOOL) return l_icmp(l, LLVMIntNE, value, l_i8(l, 0));
    if (leaf->kind == LEAF_SHAPE) l_metadata_range(l, value, 0, INT64_MIN); /* an extent is not negative */
    return value;
}

static LLVMValueRef load(Lower *l, const Type *type, LLVMValueRef pointer, bool unaligned) {
    const Repr *repr = type_repr(type);
    LLVMValueRef value = LLVMGetUndef(l_type(l, type));
    for (uint32_t i = 0; i < repr->nleaves; i++)
        value = put_leaf(l, value, repr->nleaves, i, load_leaf(l, &repr->leaves[i], pointer, unaligned));
    return value;
}

LLVMValueRef l_load(Lower *l, const Type *type, LLVMValueRef pointer) { return load(l, type, pointer, false); }

LLVMValueRef l_some_items(Lower *l, const Type *tuple, const bool *wanted, LLVMValueRef const *leaves,
                          LLVMValueRef pointer) {
    const Repr *repr = type_repr(tuple);
    LLVMValueRef value = LLVMGetUndef(l_type(l, tuple));
    for (uint32_t i = 0; i < repr->nparts; i++) {
        const Part *part = &repr->parts[i];
        for (uint32_t k = part->first; wanted[i] && k < part->first + part->count; k++)
            value = put_leaf(l, value, repr->nleaves, k,
                             leaves ? leaves[k] : load_leaf(l, &repr->leaves[k], pointer, false));
    }
    return value;
}

LLVMValueRef l_load_element(Lower *l, const Type *array, LLVMValueRef pointer) {
    return load(l, type_element(array), pointer, array->unaligned);
}

static void store(Lower *l, const Type *type, LLVMValueRef value, LLVMValueRef pointer, bool unaligned) {
    const Repr *repr = type_repr(type);
    for (uint32_t i = 0; i < repr->nleaves; i++) {
        const Leaf *leaf = &repr->leaves[i];
        LLVMValueRef stored = take_leaf(l, value, repr->nleaves, i);
        if (LLVMTypeOf(stored) == l->i1) stored = LLVMBuildZExt(l->b, stored, l->i8, "");
        l_raw_store(l, stored, at_bytes(l, pointer, leaf->offset), unaligned ? 1 : leaf->align);
    }
}

void l_store(Lower *l, const Type *type, LLVMValueRef value, LLVMValueRef pointer) {
    store(l, type, value, pointer, false);
}

void l_store_element(Lower *l, const Type *array, LLVMValueRef value, LLVMValueRef pointer) {
    store(l, type_element(array), value, pointer, array->unaligned);
}

LLVMValueRef l_alloca_value(Lower *l, const Type *type, const char *name) {
    const Repr *repr = type_repr(type);
    return repr->nleaves == 1 ? l_alloca(l, l_leaf_memory_type(l, repr->leaves), name)
                              : l_alloca_bytes(l, repr->size, (unsigned)repr->align, name);
}
