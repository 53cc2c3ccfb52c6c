/* emit.c: the emit helpers of llvm.h: types, constants, memory, calls, attributes, control flow.
 *
 * Input: a Lower whose builder stands where code is to go.  Output: LLVM values.  Nothing here decides; each function
 * emits what its name says. Aggregates are built by insertvalue and taken apart by l_extract, which looks through the
 * building, so that the chains mostly never meet LLVM's passes. */
#include <stdarg.h> /* va_list */
#include <string.h> /* strlen */

#include "codegen/lower.h"

/* ---- context ---- */

void l_init(Lower *l, Module *module, Diag *diag) {
    LLVMContextRef c = module->context;
    *l = (Lower){
        .m = module,
        .target = module->target,
        .arena = module->arena,
        .diag = diag,
        .types = module->types,
        .context = c,
        .module = module->module,
        .b = module->builder,
        .v = LLVMVoidTypeInContext(c),
        .i1 = LLVMInt1TypeInContext(c),
        .i8 = LLVMInt8TypeInContext(c),
        .i16 = LLVMInt16TypeInContext(c),
        .i32 = LLVMInt32TypeInContext(c),
        .i64 = LLVMInt64TypeInContext(c),
        .f16 = LLVMHalfTypeInContext(c),
        .f32 = LLVMFloatTypeInContext(c),
        .f64 = LLVMDoubleTypeInContext(c),
        .ptr = LLVMPointerTypeInContext(c, 0),
        .empty = LLVMStructTypeInContext(c, NULL, 0, false),
        .access = module->target->access(&module->options),
        .fastmath = module->options.fastmath | module->target->fastmath,
    };
}

bool l_fail(Lower *l, const char *format, ...) {
    va_list args;
    va_start(args, format);
    const char *text = arena_vprintf(l->arena, format, args);
    va_end(args);
    Span none = {0};
    return diag_fail(l->diag, DIAG_LOWERING, l->func ? l->func->source : NULL, l->at ? l->at->span : none, "%s", text);
}

LLVMValueRef l_unsupported(Lower *l, const char *format, ...) {
    va_list args;
    va_start(args, format);
    const char *text = arena_vprintf(l->arena, format, args);
    va_end(args);
    Span none = {0};
    diag_fail(l->diag, DIAG_UNSUPPORTED, l->func ? l->func->source : NULL, l->at ? l->at->span : none, "%s", text);
    return NULL;
}

const char *l_type_text(Lower *l, const Type *type) { return type_text(l->arena, type); }

/* ---- types ---- */

LLVMTypeRef l_scalar_type(Lower *l, Scalar scalar) {
    switch (scalar_info[scalar].kind) {
    case 'b': return l->i1;
    case 'i':
    case 'u': return LLVMIntTypeInContext(l->context, 8u * scalar_info[scalar].bytes);
    case 'f': return scalar == SCALAR_FLOAT16 ? l->f16 : scalar == SCALAR_FLOAT32 ? l->f32 : l->f64;
    default: {
        LLVMTypeRef part = scalar == SCALAR_COMPLEX64 ? l->f32 : l->f64;
        return l_struct(l, 2, part, part);
    }
    }
}

LLVMTypeRef l_memory_type(Lower *l, Scalar scalar) { return scalar == SCALAR_BOOL ? l->i8 : l_scalar_type(l, scalar); }

LLVMTypeRef l_struct(Lower *l, unsigned count, ...) {
    LLVMTypeRef items[16];
    va_list args;
    va_start(args, count);
    if (count > COUNT_OF(items)) count = COUNT_OF(items);
    for (unsigned i = 0; i < count; i++) items[i] = va_arg(args, LLVMTypeRef);
    va_end(args);
    return LLVMStructTypeInContext(l->context, items, count, false);
}

bool l_has_bytes(const Type *type) {
    switch (type->kind) {
    case TY_SCALAR:
    case TY_OPTIONAL:
    case TY_ARRAY:
    case TY_FLAT:
    case TY_RANGE:
    case TY_ITER:
    case TY_CELL: return true;
    case TY_TUPLE:
    case TY_CLOSURE:
    case TY_SLICE:
    case TY_EXC:
        for (uint32_t i = 0; i < type->count; i++)
            if (l_has_bytes(type->items[i])) return true;
        return false;
    default: return false;
    }
}

static LLVMTypeRef array_type(Lower *l, const Type *type) {
    LLVMTypeRef axes = LLVMArrayType2(l->i64, type->ndim);
    return l_struct(l, 4, l->ptr, l->ptr, axes, axes);
}

LLVMTypeRef l_type(Lower *l, const Type *type) {
    switch (type->kind) {
    case TY_SCALAR: return l_scalar_type(l, type->scalar);
    case TY_TUPLE:
    case TY_CLOSURE:
    case TY_SLICE:
    case TY_EXC: {
        LLVMTypeRef *items = ARENA_ARRAY(l->arena, LLVMTypeRef, type->count);
        for (uint32_t i = 0; i < type->count; i++) items[i] = l_type(l, type->items[i]);
        return LLVMStructTypeInContext(l->context, items, type->count, false);
    }
    case TY_OPTIONAL: return l_struct(l, 2, l_type(l, type->items[0]), l->i1);
    case TY_RANGE: return l_struct(l, 3, l->i64, l->i64, l->i64);
    case TY_ARRAY: return array_type(l, type);
    case TY_FLAT: return array_type(l, type->items[0]);
    case TY_ITER:
    case TY_CELL: return l->ptr;
    default: return l->empty;
    }
}

/* ---- leaves ---- */

void l_leaf_types(Lower *l, const Type *type, TypeList *out) {
    switch (type->kind) {
    case TY_SCALAR:
        if (scalar_info[type->scalar].kind == 'c') {
            LLVMTypeRef part = type->scalar == SCALAR_COMPLEX64 ? l->f32 : l->f64;
            vec_push(l->arena, out, part);
            vec_push(l->arena, out, part);
        } else {
            vec_push(l->arena, out, l_scalar_type(l, type->scalar));
        }
        return;
    case TY_TUPLE:
    case TY_CLOSURE:
    case TY_SLICE:
    case TY_EXC:
        for (uint32_t i = 0; i < type->count; i++) l_leaf_types(l, type->items[i], out);
        return;
    case TY_OPTIONAL:
        l_leaf_types(l, type->items[0], out);
        vec_push(l->arena, out, l->i1);
        return;
    case TY_RANGE:
        for (int i = 0; i < 3; i++) vec_push(l->arena, out, l->i64);
        return;
    case TY_FLAT:
    case TY_ARRAY: {
        const Type *array = type->kind == TY_FLAT ? type->items[0] : type;
        vec_push(l->arena, out, l->ptr);
        vec_push(l->arena, out, l->ptr);
        for (unsigned i = 0; i < 2u * array->ndim; i++) vec_push(l->arena, out, l->i64);
        return;
    }
    case TY_ITER:
    case TY_CELL: vec_push(l->arena, out, l->ptr); return;
    default: return;
    }
}

static void flatten_axes(Lower *l, LLVMValueRef axes, unsigned ndim, ValueList *out) {
    for (unsigned i = 0; i < ndim; i++) vec_push(l->arena, out, l_extract(l, axes, i));
}

void l_flatten(Lower *l, const Type *type, LLVMValueRef value, ValueList *out) {
    switch (type->kind) {
    case TY_SCALAR:
        if (scalar_info[type->scalar].kind == 'c') {
            vec_push(l->arena, out, l_extract(l, value, 0));
            vec_push(l->arena, out, l_extract(l, value, 1));
        } else {
            vec_push(l->arena, out, value);
        }
        return;
    case TY_TUPLE:
    case TY_CLOSURE:
    case TY_SLICE:
    case TY_EXC:
        for (uint32_t i = 0; i < type->count; i++)
            if (l_has_bytes(type->items[i])) l_flatten(l, type->items[i], l_extract(l, value, i), out);
        return;
    case TY_OPTIONAL:
        if (l_has_bytes(type->items[0])) l_flatten(l, type->items[0], l_extract(l, value, 0), out);
        vec_push(l->arena, out, l_extract(l, value, 1));
        return;
    case TY_RANGE:
        for (unsigned i = 0; i < 3; i++) vec_push(l->arena, out, l_extract(l, value, i));
        return;
    case TY_FLAT:
    case TY_ARRAY: {
        const Type *array = type->kind == TY_FLAT ? type->items[0] : type;
        vec_push(l->arena, out, l_extract(l, value, 0));
        vec_push(l->arena, out, l_extract(l, value, 1));
        flatten_axes(l, l_extract(l, value, 2), array->ndim, out);
        flatten_axes(l, l_extract(l, value, 3), array->ndim, out);
        return;
    }
    case TY_ITER:
    case TY_CELL: vec_push(l->arena, out, value); return;
    default: return;
    }
}

static LLVMValueRef unflatten_axes(Lower *l, unsigned ndim, LLVMValueRef const **leaves) {
    LLVMValueRef axes = LLVMGetPoison(LLVMArrayType2(l->i64, ndim));
    for (unsigned i = 0; i < ndim; i++) axes = l_insert(l, axes, *(*leaves)++, i);
    return axes;
}

LLVMValueRef l_unflatten(Lower *l, const Type *type, LLVMValueRef const **leaves) {
    if (!l_has_bytes(type)) return LLVMGetUndef(l_type(l, type));
    LLVMValueRef value = LLVMGetPoison(l_type(l, type));
    switch (type->kind) {
    case TY_SCALAR:
        if (scalar_info[type->scalar].kind != 'c') return *(*leaves)++;
        value = l_insert(l, value, *(*leaves)++, 0);
        return l_insert(l, value, *(*leaves)++, 1);
    case TY_TUPLE:
    case TY_CLOSURE:
    case TY_SLICE:
    case TY_EXC:
        for (uint32_t i = 0; i < type->count; i++)
            if (l_has_bytes(type->items[i])) value = l_insert(l, value, l_unflatten(l, type->items[i], leaves), i);
        return value;
    case TY_OPTIONAL:
        if (l_has_bytes(type->items[0])) value = l_insert(l, value, l_unflatten(l, type->items[0], leaves), 0);
        return l_insert(l, value, *(*leaves)++, 1);
    case TY_RANGE:
        for (unsigned i = 0; i < 3; i++) value = l_insert(l, value, *(*leaves)++, i);
        return value;
    case TY_FLAT:
    case TY_ARRAY: {
        const Type *array = type->kind == TY_FLAT ? type->items[0] : type;
        value = l_insert(l, value, *(*leaves)++, 0);
        value = l_insert(l, value, *(*leaves)++, 1);
        value = l_insert(l, value, unflatten_axes(l, array->ndim, leaves), 2);
        return l_insert(l, value, unflatten_axes(l, array->ndim, leaves), 3);
    }
    default: return *(*leaves)++;
    }
}

/* ---- constants ---- */

static LLVMValueRef const_array(Lower *l, const Const *konst) {
    const Type *type = konst->type;
    LLVMValueRef data = l->target->const_array(l, l->at, type, konst->array);
    if (!data) return NULL;
    LLVMValueRef shape[TYPE_MAX_NDIM], strides[TYPE_MAX_NDIM];
    for (unsigned i = 0; i < type->ndim; i++) {
        shape[i] = l_i64(l, konst->array->shape[i]);
        strides[i] = l_i64(l, konst->array->strides[i]);
    }
    return l_array_make(l, type, data, l_null(l->ptr), shape, strides);
}

LLVMValueRef l_const(Lower *l, const Const *konst) {
    const Type *type = konst->type;
    LLVMTypeRef llvm_type = l_type(l, type);
    switch (type->kind) {
    case TY_SCALAR:
        if (konst->too_big) return l_unsupported(l, "an int beyond 64 bits cannot be used in compiled code");
        switch (scalar_info[type->scalar].kind) {
        case 'f': return l_float(llvm_type, konst->f);
        case 'c': {
            LLVMTypeRef part = type->scalar == SCALAR_COMPLEX64 ? l->f32 : l->f64;
            return l_complex(l, l_float(part, konst->c.re), l_float(part, konst->c.im));
        }
        case 'b': return l_i1(l, konst->i != 0);
        default: return l_int(llvm_type, konst->i);
        }
    case TY_TUPLE:
    case TY_SLICE: {
        LLVMValueRef *items = ARENA_ARRAY(l->arena, LLVMValueRef, type->count);
        for (uint32_t i = 0; i < type->count; i++) TRY(items[i] = l_const(l, konst->items[i]));
        return l_make(l, llvm_type, items, type->count);
    }
    case TY_RANGE: {
        LLVMValueRef items[3];
        for (unsigned i = 0; i < 3; i++) TRY(items[i] = l_const(l, konst->items[i]));
        return l_make(l, llvm_type, items, 3);
    }
    case TY_ARRAY: return const_array(l, konst);
    default:
        if (l_has_bytes(type)) return l_unsupported(l, "a constant %s cannot be used here", l_type_text(l, type));
        return LLVMGetUndef(llvm_type);
    }
}

LLVMValueRef l_cstring(Lower *l, const char *text) {
    LLVMValueRef bytes = LLVMConstStringInContext2(l->context, text, strlen(text), false);
    LLVMValueRef global = LLVMAddGlobal(l->module, LLVMTypeOf(bytes), "text");
    LLVMSetInitializer(global, bytes);
    LLVMSetGlobalConstant(global, true);
    LLVMSetLinkage(global, LLVMPrivateLinkage);
    LLVMSetUnnamedAddress(global, LLVMGlobalUnnamedAddr);
    return global;
}

/* ---- instructions ---- */

LLVMValueRef l_fast(Lower *l, LLVMValueRef instruction) {
    static const struct {
        uint32_t ours, llvm;
    } flags[] = {
        {FASTMATH_NNAN, LLVMFastMathNoNaNs},
        {FASTMATH_NINF, LLVMFastMathNoInfs},
        {FASTMATH_NSZ, LLVMFastMathNoSignedZeros},
        {FASTMATH_ARCP, LLVMFastMathAllowReciprocal},
        {FASTMATH_CONTRACT, LLVMFastMathAllowContract},
        {FASTMATH_AFN, LLVMFastMathApproxFunc},
        {FASTMATH_REASSOC, LLVMFastMathAllowReassoc},
    };
    if (!l->fastmath || !LLVMIsAInstruction(instruction) || !LLVMCanValueUseFastMathFlags(instruction))
        return instruction;
    LLVMFastMathFlags set = 0;
    for (size_t i = 0; i < COUNT_OF(flags); i++)
        if (l->fastmath & flags[i].ours) set |= flags[i].llvm;
    LLVMSetFastMathFlags(instruction, set);
    return instruction;
}

LLVMValueRef l_extract(Lower *l, LLVMValueRef aggregate, unsigned index) {
    while (LLVMIsAInsertValueInst(aggregate)) {
        if (LLVMGetNumIndices(aggregate) != 1) break;
        if (LLVMGetIndices(aggregate)[0] == index) return LLVMGetOperand(aggregate, 1);
        aggregate = LLVMGetOperand(aggregate, 0);
    }
    return LLVMBuildExtractValue(l->b, aggregate, index, "");
}

LLVMValueRef l_make(Lower *l, LLVMTypeRef aggregate, LLVMValueRef const *items, unsigned count) {
    LLVMValueRef value = LLVMGetPoison(aggregate);
    for (unsigned i = 0; i < count; i++) value = l_insert(l, value, items[i], i);
    return count ? value : LLVMGetUndef(aggregate);
}

LLVMValueRef l_complex(Lower *l, LLVMValueRef re, LLVMValueRef im) {
    LLVMValueRef parts[] = {re, im};
    return l_make(l, l_struct(l, 2, LLVMTypeOf(re), LLVMTypeOf(im)), parts, 2);
}

LLVMValueRef l_offset(Lower *l, LLVMValueRef pointer, LLVMValueRef bytes) {
    return LLVMBuildInBoundsGEP2(l->b, l->i8, pointer, &bytes, 1, "");
}

LLVMValueRef l_index(Lower *l, LLVMTypeRef memory_type, LLVMValueRef pointer, LLVMValueRef index) {
    return LLVMBuildInBoundsGEP2(l->b, memory_type, pointer, &index, 1, "");
}

static LLVMValueRef alloca_of(Lower *l, LLVMTypeRef type, unsigned align, const char *name) {
    LLVMBasicBlockRef here = l_here(l);
    LLVMMetadataRef where = LLVMGetCurrentDebugLocation2(l->b);
    LLVMSetCurrentDebugLocation2(l->b, NULL);
    l_enter(l, l->allocas);
    LLVMValueRef slot = LLVMBuildAlloca(l->b, type, name);
    if (align) LLVMSetAlignment(slot, align);
    l_enter(l, here);
    LLVMSetCurrentDebugLocation2(l->b, where);
    return slot;
}

LLVMValueRef l_alloca(Lower *l, LLVMTypeRef type, const char *name) { return alloca_of(l, type, 0, name); }

LLVMValueRef l_alloca_bytes(Lower *l, uint64_t bytes, unsigned align, const char *name) {
    return alloca_of(l, LLVMArrayType2(l->i8, bytes), align, name);
}

LLVMValueRef l_alloca_value(Lower *l, const Type *type, const char *name) {
    if (type->kind == TY_SCALAR) return alloca_of(l, l_memory_type(l, type->scalar), (unsigned)type_align(type), name);
    return l_alloca_bytes(l, type_size(type), (unsigned)type_align(type), name);
}

/* ---- memory ---- */

LLVMValueRef l_raw_load(Lower *l, LLVMTypeRef type, LLVMValueRef pointer, unsigned align) {
    LLVMValueRef load = LLVMBuildLoad2(l->b, type, pointer, "");
    LLVMSetAlignment(load, align);
    return load;
}

LLVMValueRef l_raw_store(Lower *l, LLVMValueRef value, LLVMValueRef pointer, unsigned align) {
    LLVMValueRef store = LLVMBuildStore(l->b, value, pointer);
    LLVMSetAlignment(store, align);
    return store;
}

static LLVMValueRef at_bytes(Lower *l, LLVMValueRef pointer, size_t bytes) {
    return bytes ? l_offset(l, pointer, l_i64(l, (int64_t)bytes)) : pointer;
}

static LLVMValueRef load_scalar(Lower *l, Scalar scalar, LLVMValueRef pointer) {
    unsigned bytes = scalar_info[scalar].bytes;
    if (scalar_info[scalar].kind == 'b') {
        /* Any nonzero byte is true: memory that others wrote may hold more than 0 and 1. */
        return l_icmp(l, LLVMIntNE, l_raw_load(l, l->i8, pointer, 1), l_i8(l, 0));
    }
    if (scalar_info[scalar].kind == 'c') {
        LLVMTypeRef part = bytes == 8 ? l->f32 : l->f64;
        LLVMValueRef re = l_raw_load(l, part, pointer, bytes / 2);
        return l_complex(l, re, l_raw_load(l, part, at_bytes(l, pointer, bytes / 2), bytes / 2));
    }
    return l_raw_load(l, l_scalar_type(l, scalar), pointer, bytes);
}

/* Extents or strides; LLVM may know that extents are not negative. */
static LLVMValueRef load_axes(Lower *l, LLVMValueRef pointer, unsigned ndim, bool extents) {
    LLVMValueRef axes = LLVMGetPoison(LLVMArrayType2(l->i64, ndim));
    size_t offset = sizeof(ArrayHead) + (extents ? 0 : 8u * ndim);
    for (unsigned i = 0; i < ndim; i++) {
        LLVMValueRef item = l_raw_load(l, l->i64, at_bytes(l, pointer, offset + 8u * i), 8);
        if (extents) l_metadata_range(l, item, 0, INT64_MIN);
        axes = l_insert(l, axes, item, i);
    }
    return axes;
}

LLVMValueRef l_load(Lower *l, const Type *type, LLVMValueRef pointer) {
    if (!l_has_bytes(type)) return LLVMGetUndef(l_type(l, type));
    LLVMValueRef value = LLVMGetPoison(l_type(l, type));
    switch (type->kind) {
    case TY_SCALAR: return load_scalar(l, type->scalar, pointer);
    case TY_OPTIONAL: {
        const Type *content = type->items[0];
        value = l_insert(l, value, l_load(l, content, pointer), 0);
        LLVMValueRef present = l_raw_load(l, l->i8, at_bytes(l, pointer, type_size(content)), 1);
        return l_insert(l, value, l_icmp(l, LLVMIntNE, present, l_i8(l, 0)), 1);
    }
    case TY_RANGE:
        for (unsigned i = 0; i < 3; i++)
            value = l_insert(l, value, l_raw_load(l, l->i64, at_bytes(l, pointer, 8u * i), 8), i);
        return value;
    case TY_FLAT:
    case TY_ARRAY: {
        unsigned ndim = type->kind == TY_FLAT ? type->items[0]->ndim : type->ndim;
        value = l_insert(l, value, l_raw_load(l, l->ptr, pointer, 8), 0);
        value = l_insert(l, value, l_raw_load(l, l->ptr, at_bytes(l, pointer, offsetof(ArrayHead, owner)), 8), 1);
        value = l_insert(l, value, load_axes(l, pointer, ndim, true), 2);
        return l_insert(l, value, load_axes(l, pointer, ndim, false), 3);
    }
    case TY_TUPLE:
    case TY_CLOSURE:
    case TY_SLICE:
    case TY_EXC:
        for (uint32_t i = 0; i < type->count; i++)
            if (l_has_bytes(type->items[i]))
                value = l_insert(l, value, l_load(l, type->items[i], at_bytes(l, pointer, type_item_offset(type, i))),
                                 i);
        return value;
    default: return l_raw_load(l, l->ptr, pointer, 8);
    }
}

static void store_scalar(Lower *l, Scalar scalar, LLVMValueRef value, LLVMValueRef pointer) {
    unsigned bytes = scalar_info[scalar].bytes;
    if (scalar_info[scalar].kind == 'c') {
        l_raw_store(l, l_extract(l, value, 0), pointer, bytes / 2);
        l_raw_store(l, l_extract(l, value, 1), at_bytes(l, pointer, bytes / 2), bytes / 2);
        return;
    }
    if (scalar_info[scalar].kind == 'b') value = LLVMBuildZExt(l->b, value, l->i8, "");
    l_raw_store(l, value, pointer, bytes);
}

static void store_axes(Lower *l, LLVMValueRef axes, LLVMValueRef pointer, size_t offset, unsigned ndim) {
    for (unsigned i = 0; i < ndim; i++) l_raw_store(l, l_extract(l, axes, i), at_bytes(l, pointer, offset + 8u * i), 8);
}

/* An array in memory has all its strides, those that the layout implies too: whoever reads it (C code) relies on them.
 */
static void store_array(Lower *l, const Type *type, LLVMValueRef value, LLVMValueRef pointer) {
    l_raw_store(l, l_array_data(l, value), pointer, 8);
    l_raw_store(l, l_array_owner(l, value), at_bytes(l, pointer, offsetof(ArrayHead, owner)), 8);
    store_axes(l, l_extract(l, value, 2), pointer, sizeof(ArrayHead), type->ndim);
    for (unsigned i = 0; i < type->ndim; i++)
        l_raw_store(l, l_array_stride(l, type, value, i),
                    at_bytes(l, pointer, sizeof(ArrayHead) + 8u * (type->ndim + i)), 8);
}

void l_store(Lower *l, const Type *type, LLVMValueRef value, LLVMValueRef pointer) {
    if (!l_has_bytes(type)) return;
    switch (type->kind) {
    case TY_SCALAR: store_scalar(l, type->scalar, value, pointer); return;
    case TY_OPTIONAL: {
        const Type *content = type->items[0];
        l_store(l, content, l_extract(l, value, 0), pointer);
        LLVMValueRef present = LLVMBuildZExt(l->b, l_extract(l, value, 1), l->i8, "");
        l_raw_store(l, present, at_bytes(l, pointer, type_size(content)), 1);
        return;
    }
    case TY_RANGE:
        for (unsigned i = 0; i < 3; i++) l_raw_store(l, l_extract(l, value, i), at_bytes(l, pointer, 8u * i), 8);
        return;
    case TY_FLAT: store_array(l, type->items[0], value, pointer); return;
    case TY_ARRAY: store_array(l, type, value, pointer); return;
    case TY_TUPLE:
    case TY_CLOSURE:
    case TY_SLICE:
    case TY_EXC:
        for (uint32_t i = 0; i < type->count; i++)
            if (l_has_bytes(type->items[i]))
                l_store(l, type->items[i], l_extract(l, value, i), at_bytes(l, pointer, type_item_offset(type, i)));
        return;
    default: l_raw_store(l, value, pointer, 8); return;
    }
}

/* ---- calls and attributes ---- */

LLVMValueRef l_call(Lower *l, LLVMValueRef function, LLVMValueRef const *args, unsigned count) {
    LLVMTypeRef type = LLVMGlobalGetValueType(function);
    LLVMValueRef call = LLVMBuildCall2(l->b, type, function, (LLVMValueRef *)args, count, "");
    LLVMSetInstructionCallConv(call, LLVMGetFunctionCallConv(function));
    return l_fast(l, call);
}

static LLVMValueRef call_intrinsic(Lower *l, const char *name, LLVMTypeRef *overloads, unsigned noverloads,
                                   LLVMValueRef const *args, unsigned count) {
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    if (!id) {
        l_fail(l, "LLVM has no intrinsic %s", name);
        return NULL;
    }
    return l_call(l, LLVMGetIntrinsicDeclaration(l->module, id, overloads, noverloads), args, count);
}

LLVMValueRef l_intrinsic(Lower *l, const char *name, LLVMTypeRef overload, LLVMValueRef const *args, unsigned count) {
    return call_intrinsic(l, name, &overload, overload ? 1 : 0, args, count);
}

LLVMValueRef l_intrinsic2(Lower *l, const char *name, LLVMTypeRef a, LLVMTypeRef b, LLVMValueRef const *args,
                          unsigned count) {
    LLVMTypeRef overloads[] = {a, b};
    return call_intrinsic(l, name, overloads, 2, args, count);
}

LLVMValueRef l_declare(Lower *l, const char *symbol, LLVMTypeRef function_type) {
    LLVMValueRef function = LLVMGetNamedFunction(l->module, symbol);
    if (!function) {
        function = LLVMAddFunction(l->module, symbol, function_type);
        l_attribute(l, function, -1, "nounwind", 0);
    }
    return function;
}

LLVMValueRef l_call_named(Lower *l, const char *symbol, LLVMTypeRef result, LLVMValueRef const *args, unsigned count) {
    LLVMTypeRef *types = ARENA_ARRAY(l->arena, LLVMTypeRef, count);
    for (unsigned i = 0; i < count; i++) types[i] = LLVMTypeOf(args[i]);
    LLVMTypeRef type = LLVMFunctionType(result, types, count, false);
    LLVMValueRef function = l_declare(l, symbol, type);
    if (LLVMGlobalGetValueType(function) != type) {
        l_fail(l, "%s is used with two different types", symbol);
        return NULL;
    }
    return l_call(l, function, args, count);
}

LLVMValueRef l_rtlib(Lower *l, const char *symbol, LLVMTypeRef result, LLVMValueRef const *args, unsigned count) {
    return l_call_named(l, symbol, result, args, count);
}

static LLVMAttributeRef attribute_of(Lower *l, const char *name, uint64_t value) {
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    return kind ? LLVMCreateEnumAttribute(l->context, kind, value)
                : LLVMCreateStringAttribute(l->context, name, (unsigned)strlen(name), "", 0);
}

void l_attribute(Lower *l, LLVMValueRef function, int index, const char *name, uint64_t value) {
    LLVMAddAttributeAtIndex(function, (LLVMAttributeIndex)index, attribute_of(l, name, value));
}

void l_attribute_text(Lower *l, LLVMValueRef function, int index, const char *name, const char *value) {
    LLVMAddAttributeAtIndex(
        function, (LLVMAttributeIndex)index,
        LLVMCreateStringAttribute(l->context, name, (unsigned)strlen(name), value, (unsigned)strlen(value)));
}

void l_call_attribute(Lower *l, LLVMValueRef call, int index, const char *name, uint64_t value) {
    LLVMAddCallSiteAttribute(call, (LLVMAttributeIndex)index, attribute_of(l, name, value));
}

void l_set_metadata(Lower *l, LLVMValueRef instruction, const char *kind, LLVMMetadataRef node) {
    unsigned id = LLVMGetMDKindIDInContext(l->context, kind, (unsigned)strlen(kind));
    LLVMSetMetadata(instruction, id, LLVMMetadataAsValue(l->context, node));
}

void l_metadata_range(Lower *l, LLVMValueRef load_or_call, int64_t least, int64_t beyond) {
    if (!LLVMIsAInstruction(load_or_call)) return;
    LLVMTypeRef type = LLVMTypeOf(load_or_call);
    LLVMMetadataRef ends[] = {LLVMValueAsMetadata(l_int(type, least)), LLVMValueAsMetadata(l_int(type, beyond))};
    l_set_metadata(l, load_or_call, "range", LLVMMDNodeInContext2(l->context, ends, 2));
}

/* ---- control flow ---- */

LLVMBasicBlockRef l_block(Lower *l, const char *name) {
    return LLVMAppendBasicBlockInContext(l->context, l->function, name);
}

/* How much likelier one way is than the other. */
enum { RARE = 1, USUAL = 1 << 20 };

static void set_weights(Lower *l, LLVMValueRef branch, int yes, int no) {
    LLVMMetadataRef node[] = {LLVMMDStringInContext2(l->context, "branch_weights", 14),
                              LLVMValueAsMetadata(l_i32(l, yes)), LLVMValueAsMetadata(l_i32(l, no))};
    l_set_metadata(l, branch, "prof", LLVMMDNodeInContext2(l->context, node, 3));
}

void l_branch_unlikely(Lower *l, LLVMValueRef c, LLVMBasicBlockRef yes, LLVMBasicBlockRef no) {
    set_weights(l, LLVMBuildCondBr(l->b, c, yes, no), RARE, USUAL);
}

void l_if(Lower *l, LIf *f, LLVMValueRef condition) {
    *f = (LIf){.yes = l_block(l, "yes"), .end = l_block(l, "end")};
    f->no = f->end;
    f->from_no = l_here(l);
    l_branch(l, condition, f->yes, f->end);
    l_enter(l, f->yes);
}

void l_if_likely(Lower *l, LIf *f, LLVMValueRef condition) {
    l_if(l, f, condition);
    set_weights(l, LLVMGetBasicBlockTerminator(f->from_no), USUAL, RARE);
}

void l_else(Lower *l, LIf *f) {
    f->from_yes = l_here(l);
    l_jump(l, f->end);
    f->no = l_block(l, "no");
    LLVMSetSuccessor(LLVMGetBasicBlockTerminator(f->from_no), 1, f->no);
    l_enter(l, f->no);
}

void l_endif(Lower *l, LIf *f) {
    if (f->no == f->end)
        f->from_yes = l_here(l);
    else
        f->from_no = l_here(l);
    l_jump(l, f->end);
    LLVMMoveBasicBlockAfter(f->end, l_here(l));
    l_enter(l, f->end);
}

LLVMValueRef l_if_phi(Lower *l, const LIf *f, LLVMValueRef yes, LLVMValueRef no) {
    LLVMValueRef phi = LLVMBuildPhi(l->b, LLVMTypeOf(yes), "");
    LLVMAddIncoming(phi, &yes, (LLVMBasicBlockRef *)&f->from_yes, 1);
    LLVMAddIncoming(phi, &no, (LLVMBasicBlockRef *)&f->from_no, 1);
    return phi;
}

LLVMValueRef l_for(Lower *l, LFor *f, LLVMValueRef count) {
    *f = (LFor){.head = l_block(l, "for"), .body = l_block(l, "body"), .end = l_block(l, "done"), .count = count};
    LLVMBasicBlockRef before = l_here(l);
    l_jump(l, f->head);
    l_enter(l, f->head);
    f->index = LLVMBuildPhi(l->b, l->i64, "");
    LLVMValueRef zero = l_i64(l, 0);
    LLVMAddIncoming(f->index, &zero, &before, 1);
    l_branch(l, l_icmp(l, LLVMIntSLT, f->index, count), f->body, f->end);
    l_enter(l, f->body);
    return f->index;
}

void l_endfor(Lower *l, LFor *f) {
    LLVMValueRef next = LLVMBuildNSWAdd(l->b, f->index, l_i64(l, 1), "");
    LLVMBasicBlockRef from = l_here(l);
    l_jump(l, f->head);
    LLVMAddIncoming(f->index, &next, &from, 1);
    LLVMMoveBasicBlockAfter(f->end, from);
    l_enter(l, f->end);
}
