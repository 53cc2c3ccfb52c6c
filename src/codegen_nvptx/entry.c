/* entry.c: the .entry function around the root of a kernel.
 *
 * In: the lowered root.  Out: in the module, a kernel named options->entry_name whose parameters are kernel_params() of
 * the root's types: array pointers stand as pointers of their own, so that `noalias` and what LLVM infers (read-only)
 * hold for each and loads go through the read-only cache. */
#include <stdio.h> /* snprintf */

#include "codegen_nvptx/nvptx.h"

/* ---- a kernel function ---- */

enum { CLUSTER_CAPABILITY = 90 };

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
    if (options->compute_capability >= CLUSTER_CAPABILITY)
        bound(l, kernel, "nvvm.maxclusterrank", options->max_cluster);
    return kernel;
}

/* ---- parameters ---- */

/* Whether a leaf of an argument is an integer that a launch has seen to fit 32 bits. */
static bool fits_half(const Lower *l, const Type *type, const Leaf *leaf) {
    bool number = type->kind == TY_SCALAR && type->scalar == SCALAR_INT64;
    return l->narrow && l->m->options.entry == ENTRY_KERNEL && (leaf->kind == LEAF_SHAPE || number);
}

/* Such a parameter is a pair of halves of which nobody reads the upper one: where it is extended again, LLVM would read
 * the whole of it instead. */
static LLVMTypeRef param_type(Lower *l, const Type *type, const Leaf *leaf) {
    return fits_half(l, type, leaf) ? LLVMVectorType(l->i32, 2) : l_leaf_memory_type(l, leaf);
}

static LLVMValueRef take_half(Lower *l, LLVMValueRef param, const Leaf *leaf) {
    LLVMValueRef half = LLVMBuildExtractElement(l->b, param, l_i32(l, 0), "");
    if (leaf->kind == LEAF_SHAPE) {
        LLVMValueRef fits = l_icmp(l, LLVMIntULE, half, l_i32(l, SMALL_COUNT));
        l_intrinsic(l, "llvm.assume", NULL, &fits, 1);
    }
    return LLVMBuildSExt(l->b, half, l->i64, "");
}

/* The next argument's value from the parameters that stand for its leaves. */
static LLVMValueRef take_value(Lower *l, LLVMValueRef kernel, const Type *type, unsigned *next) {
    const Repr *repr = type_repr(type);
    LLVMValueRef *leaves = ARENA_ARRAY(l->arena, LLVMValueRef, repr->nleaves);
    LLVMValueRef const *at = leaves;
    for (uint32_t i = 0; i < repr->nleaves; i++) {
        const Leaf *leaf = &repr->leaves[i];
        leaves[i] = leaf->kind == LEAF_OWNER ? l_null(l->ptr) : LLVMGetParam(kernel, (*next)++);
        if (fits_half(l, type, leaf)) leaves[i] = take_half(l, leaves[i], leaf);
        if (!leaf_is_pointer(leaf) && leaf->scalar == SCALAR_BOOL)
            leaves[i] = LLVMBuildTrunc(l->b, leaves[i], l->i1, "");
    }
    return l_unflatten(l, type, &at);
}

static void describe_parameters(Lower *l, LLVMValueRef kernel, const KernelParam *params, size_t count) {
    for (size_t i = 0; i < count; i++) {
        int index = (int)i + 1;
        if (params[i].leaf->kind != LEAF_DATA) continue;
        if (l->m->options.facts & FACT_NOALIAS && !l->m->captures_memory) l_attribute(l, kernel, index, "noalias", 0);
        const Type *array = params[i].leaf->array, *element = type_element(array);
        bool whole = l->m->options.facts & FACT_SMALL && !array->unaligned;
        l_attribute(l, kernel, index, "align", whole ? type_whole_align(element) : type_align(element));
    }
}

static void describe_rows(Lower *l, LLVMValueRef kernel, const KernelParam *params, size_t count) {
    for (size_t i = 0; l->m->options.facts & FACT_SMALL && i < count; i++) {
        if (params[i].leaf->kind != LEAF_DATA) continue;
        const Type *array = params[i].leaf->array;
        size_t item = type_size(type_element(array));
        bool has_rows = array->ndim > 1 && array->layout == LAYOUT_C && item <= ROWS_WIDEST && !(item & (item - 1));
        RowsArray rows = {.item = (unsigned)item};
        if (!array->unaligned) rows.data = LLVMGetParam(kernel, (unsigned)i);
        if (has_rows) rows.length = LLVMGetParam(kernel, (unsigned)i + array->ndim);
        vec_push(l->arena, &l->m->rows, rows);
    }
}

/* Says to LLVM what every array promises: a length is not negative. */
static void assume_lengths(Lower *l, LLVMValueRef kernel, const KernelParam *params, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (params[i].leaf->kind != LEAF_SHAPE || l->narrow) continue;
        LLVMValueRef length = LLVMGetParam(kernel, (unsigned)i);
        LLVMValueRef fits = l_icmp(l, LLVMIntSGE, length, l_i64(l, 0));
        l_intrinsic(l, "llvm.assume", NULL, &fits, 1);
    }
}

static bool kernel_entry(Lower *l, const FuncInst *root) {
    KernelParam *params;
    size_t bytes, count = kernel_params(l->arena, root->types, root->untyped->nparams, &params, &bytes);
    LLVMTypeRef *types = ARENA_ARRAY(l->arena, LLVMTypeRef, count);
    LLVMValueRef *args = ARENA_ARRAY(l->arena, LLVMValueRef, root->untyped->nparams);
    for (size_t i = 0; i < count; i++) types[i] = param_type(l, root->types[params[i].argument], params[i].leaf);
    LLVMValueRef kernel = nvptx_add_kernel(l, types, (unsigned)count);
    describe_parameters(l, kernel, params, count);
    describe_rows(l, kernel, params, count);
    l_begin(l, kernel);
    l->nhidden = 0;
    l->exception = NULL;
    assume_lengths(l, kernel, params, count);
    unsigned next = 0;
    for (uint32_t i = 0; i < root->untyped->nparams; i++) args[i] = take_value(l, kernel, root->types[i], &next);
    LLVMValueRef status = NULL;
    TRY(l_call_inst(l, root, args, &status));
    LLVMBuildRetVoid(l->b);
    l_end(l);
    return true;
}

/* ---- a function that other device code calls ---- */

/* The C type of a result: bool is a byte, a composite a struct of its leaves. */
static LLVMTypeRef c_result(Lower *l, const Type *type) {
    if (!l_has_bytes(type)) return l->v;
    return type_is_scalar(type) && type->scalar == SCALAR_BOOL ? l->i8 : l_type(l, type);
}

static void return_result(Lower *l, const FuncInst *root, LLVMTypeRef result, LLVMValueRef value, LLVMValueRef memory) {
    if (memory) {
        if (result != l->v) l_store(l, root->result, value, memory);
        LLVMBuildRet(l->b, l_i32(l, 0));
    } else if (result == l->v) {
        LLVMBuildRetVoid(l->b);
    } else {
        LLVMBuildRet(l->b, LLVMTypeOf(value) == result ? value : LLVMBuildZExt(l->b, value, result, ""));
    }
}

static bool function_entry(Lower *l, const FuncInst *root) {
    KernelParam *params;
    const CodegenOptions *options = &l->m->options;
    size_t bytes, count = kernel_params(l->arena, root->types, root->untyped->nparams, &params, &bytes);
    unsigned first = options->status_result ? 1 : 0; /* where the parameters begin */
    LLVMTypeRef *types = ARENA_ARRAY(l->arena, LLVMTypeRef, count + 1), result = c_result(l, root->result);
    LLVMValueRef *args = ARENA_ARRAY(l->arena, LLVMValueRef, root->untyped->nparams), status = NULL;
    types[0] = l->ptr;
    for (size_t i = 0; i < count; i++) types[i + first] = l_leaf_memory_type(l, params[i].leaf);
    LLVMTypeRef type = LLVMFunctionType(first ? l->i32 : result, types, (unsigned)count + first, false);
    LLVMValueRef function = LLVMAddFunction(l->module, options->entry_name, type);
    l_attribute(l, function, -1, "nounwind", 0);
    l_attribute(l, function, -1, "convergent", 0);
    l_begin(l, function);
    l->nhidden = 0;
    l->exception = NULL;
    unsigned next = first;
    for (uint32_t i = 0; i < root->untyped->nparams; i++) args[i] = take_value(l, function, root->types[i], &next);
    LLVMValueRef value = l_call_inst(l, root, args, &status);
    TRY(value);
    return_result(l, root, result, value, first ? LLVMGetParam(function, 0) : NULL);
    l_end(l);
    return true;
}

bool nvptx_entry(Lower *l, const FuncInst *root) {
    switch (l->m->options.entry) {
    case ENTRY_KERNEL:
        TRY(kernel_entry(l, root));
        nvptx_define_notes(l);
        nvptx_define_grid_barrier(l);
        return true;
    case ENTRY_UFUNC: return nvptx_ufunc_entry(l, root);
    case ENTRY_FUNCTION: return function_entry(l, root);
    case ENTRY_GUFUNC:
    case ENTRY_CFUNC: break;
    }
    diag_fail(l->diag, DIAG_UNSUPPORTED_TARGET, root->untyped->source, root->untyped->span,
              "a generalised ufunc's loop cannot be an entry on a GPU");
    return false;
}
