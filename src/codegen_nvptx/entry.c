/* entry.c: the .entry function around the root of a kernel.
 *
 * In: the lowered root.  Out: in the module, a kernel named options->entry_name whose parameters are kernel_leaves() of
 * the root's types: array pointers stand as pointers of their own, so that `noalias` and what LLVM infers (read-only)
 * hold for each and loads go through the read-only cache. */
#include <stdio.h> /* snprintf */

#include "codegen_nvptx/nvptx.h"

/* ---- a kernel function ---- */

static void bound(Lower *l, LLVMValueRef kernel, const char *name, int value) {
    char text[16];
    if (value <= 0) return;
    snprintf(text, sizeof text, "%d", value);
    l_attribute_text(l, kernel, -1, name, text);
}

LLVMValueRef nvptx_add_kernel(Lower *l, LLVMTypeRef *params, unsigned count) {
    const CodegenOptions *options = &l->m->options;
    LLVMValueRef kernel = LLVMAddFunction(l->module, options->entry_name, LLVMFunctionType(l->v, params, count, false));
    LLVMSetFunctionCallConv(kernel, PTX_KERNEL);
    l_attribute(l, kernel, -1, "nounwind", 0);
    l_attribute(l, kernel, -1, "convergent", 0);
    bound(l, kernel, "nvvm.maxntid", options->max_threads);
    bound(l, kernel, "nvvm.minctasm", options->min_blocks);
    bound(l, kernel, "nvvm.maxnreg", options->max_registers);
    return kernel;
}

/* ---- parameters ---- */

static LLVMTypeRef leaf_type(Lower *l, const KernelLeaf *leaf) {
    if (leaf->kind == LEAF_POINTER) return l->ptr;
    if (leaf->kind != LEAF_SCALAR) return l->i64;
    return scalar_info[leaf->scalar].kind == 'c' ? l_scalar_type(l, leaf->scalar) : l_memory_type(l, leaf->scalar);
}

/* Where in the list of leaves the next argument, or part of one, begins. */
typedef struct LeafReader {
    size_t next;
    LLVMValueRef kernel;
} LeafReader;

static LLVMValueRef take(LeafReader *reader) { return LLVMGetParam(reader->kernel, (unsigned)reader->next++); }

static LLVMValueRef take_array(Lower *l, LeafReader *reader, const Type *type) {
    LLVMValueRef shape[TYPE_MAX_NDIM], strides[TYPE_MAX_NDIM];
    LLVMValueRef data = take(reader);
    for (unsigned i = 0; i < type->ndim; i++) shape[i] = take(reader);
    if (type->layout != LAYOUT_A) { /* lowering computes the strides of C and F arrays from the shape */
        int64_t item = (int64_t)type_size(type_element(type));
        LLVMValueRef stride = l_i64(l, item);
        for (unsigned i = 0; i < type->ndim; i++) {
            unsigned axis = type->layout == LAYOUT_F ? i : type->ndim - 1 - i;
            strides[axis] = stride;
            stride = l_nswmul(l, stride, shape[axis]);
        }
    } else {
        for (unsigned i = 0; i < type->ndim; i++) strides[i] = take(reader);
    }
    return l_array_make(l, type, data, l_null(l->ptr), shape, strides);
}

/* Mirrors kernel_leaves(): the same walk over the type, taking parameters instead of listing them.  A shape is never
 * negative. */
static LLVMValueRef take_value(Lower *l, LeafReader *reader, const Type *type) {
    switch (type->kind) {
    case TY_SCALAR: {
        LLVMValueRef value = take(reader);
        return type->scalar == SCALAR_BOOL ? LLVMBuildTrunc(l->b, value, l->i1, "") : value;
    }
    case TY_ARRAY: return take_array(l, reader, type);
    case TY_FLAT: return take_array(l, reader, type->items[0]);
    case TY_TUPLE:
    case TY_SLICE:
    case TY_EXC:
    case TY_CLOSURE: {
        LLVMValueRef value = LLVMGetUndef(l_type(l, type));
        for (uint32_t i = 0; i < type->count; i++) value = l_insert(l, value, take_value(l, reader, type->items[i]), i);
        return value;
    }
    case TY_RANGE: {
        LLVMValueRef items[3];
        for (unsigned i = 0; i < 3; i++) items[i] = take(reader);
        return l_make(l, l_type(l, type), items, 3);
    }
    case TY_OPTIONAL: {
        LLVMValueRef value = LLVMGetUndef(l_type(l, type));
        value = l_insert(l, value, take_value(l, reader, type->items[0]), 0);
        return l_insert(l, value, LLVMBuildTrunc(l->b, take(reader), l->i1, ""), 1);
    }
    default: return l_null(l_type(l, type)); /* constants have no bytes */
    }
}

static void describe_parameters(Lower *l, LLVMValueRef kernel, const KernelLeaf *leaves, size_t count) {
    for (size_t i = 0; i < count; i++) {
        int index = (int)i + 1;
        if (leaves[i].kind != LEAF_POINTER) continue;
        if (l->m->options.noalias) l_attribute(l, kernel, index, "noalias", 0);
        if (leaves[i].array) l_attribute(l, kernel, index, "align", type_align(type_element(leaves[i].array)));
    }
}

/* The body of a shape's parameter says to LLVM what every array promises: a length is between 0 and 2^63. */
static void assume_lengths(Lower *l, LLVMValueRef kernel, const KernelLeaf *leaves, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (leaves[i].kind != LEAF_SHAPE) continue;
        LLVMValueRef fits = l_icmp(l, LLVMIntSGE, LLVMGetParam(kernel, (unsigned)i), l_i64(l, 0));
        l_intrinsic(l, "llvm.assume", NULL, &fits, 1);
    }
}

static bool kernel_entry(Lower *l, const FuncInst *root) {
    KernelLeaf *leaves;
    size_t bytes, count = kernel_leaves(l->arena, root->types, root->untyped->nparams, &leaves, &bytes);
    LLVMTypeRef *params = ARENA_ARRAY(l->arena, LLVMTypeRef, count);
    LLVMValueRef *args = ARENA_ARRAY(l->arena, LLVMValueRef, root->untyped->nparams);
    for (size_t i = 0; i < count; i++) params[i] = leaf_type(l, &leaves[i]);
    LLVMValueRef kernel = nvptx_add_kernel(l, params, (unsigned)count);
    describe_parameters(l, kernel, leaves, count);
    l_begin(l, kernel);
    l->nhidden = 0;
    l->exception = NULL;
    assume_lengths(l, kernel, leaves, count);
    LeafReader reader = {0, kernel};
    for (uint32_t i = 0; i < root->untyped->nparams; i++) args[i] = take_value(l, &reader, root->types[i]);
    LLVMValueRef status = NULL;
    TRY(l_call_inst(l, root, args, &status));
    LLVMBuildRetVoid(l->b);
    l_end(l);
    return true;
}

bool nvptx_entry(Lower *l, const FuncInst *root) {
    switch (l->m->options.entry) {
    case ENTRY_KERNEL: return kernel_entry(l, root);
    case ENTRY_UFUNC: return nvptx_ufunc_entry(l, root);
    case ENTRY_FUNCTION: break;
    }
    diag_fail(l->diag, DIAG_UNSUPPORTED_TARGET, root->untyped->source, root->untyped->span,
              "a plain function cannot be an entry on a GPU");
    return false;
}
