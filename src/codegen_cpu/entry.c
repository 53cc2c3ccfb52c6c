/* entry.c: the function that C calls, around the root of a compilation, and what all kinds of it share.
 *
 * In: the lowered root.  Out: in the module, a function named options->entry_name with the signature of options->entry
 * (codegen.h, runtime/host/host.h).
 *
 * ENTRY_FUNCTION  loads the arguments from the layout of tuple(params), calls, stores the result.
 * ENTRY_UFUNC     no function: the loops that NumPy's inner loop runs, as data: entry_ufunc.c.
 * ENTRY_GUFUNC    that of a generalised ufunc: entry_gufunc.c.
 * ENTRY_CFUNC     a C function: entry_cfunc.c.
 * ENTRY_KERNEL    the threads of a block: entry_kernel.c. */
#include <string.h> /* strlen */

#include "codegen_cpu/cpu.h"

LLVMValueRef host_entry_add(Lower *l, const char *name, LLVMTypeRef result, LLVMTypeRef *params, unsigned count) {
    LLVMValueRef function = LLVMAddFunction(l->module, name, LLVMFunctionType(result, params, count, false));
    l_attribute(l, function, -1, "nounwind", 0);
    return function;
}

LLVMValueRef host_offset(Lower *l, LLVMValueRef pointer, size_t bytes) {
    return bytes ? l_offset(l, pointer, l_i64(l, (int64_t)bytes)) : pointer;
}

const Type *host_params_tuple(Lower *l, const FuncInst *root) {
    return type_tuple(l->types, root->types, root->untyped->nparams);
}

/* The arguments, loaded from the layout of tuple(params): of a wide tuple the items that are taken out of it, so that
 * thousands that nobody looks at cost nothing. */
LLVMValueRef *host_load_arguments(Lower *l, const FuncInst *root, LLVMValueRef from) {
    const Type *tuple = host_params_tuple(l, root);
    LLVMValueRef *values = ARENA_ARRAY(l->arena, LLVMValueRef, tuple->count);
    for (uint32_t i = 0; i < tuple->count; i++) {
        LLVMValueRef at = host_offset(l, from, type_item_offset(tuple, i));
        const bool *taken = l_items_taken(l, root, i);
        values[i] = taken ? l_some_items(l, tuple->items[i], taken, NULL, at) : l_load(l, tuple->items[i], at);
    }
    return values;
}

void host_loop_hints(Lower *l, LLVMValueRef back_edge, VectorWish wish, LLVMMetadataRef parallel) {
    LLVMMetadataRef self = LLVMTemporaryMDNode(l->context, NULL, 0);
    LLVMMetadataRef no_unroll = LLVMMDStringInContext2(l->context, "llvm.loop.unroll.disable", 24);
    LLVMMetadataRef vector[] = {LLVMMDStringInContext2(l->context, "llvm.loop.vectorize.enable", 26),
                                LLVMValueAsMetadata(l_i1(l, wish == VECTOR_WHEREVER))};
    LLVMMetadataRef any_order[] = {LLVMMDStringInContext2(l->context, "llvm.loop.parallel_accesses", 27), parallel};
    unsigned at_once = wish == VECTOR_TWO ? 2 : wish == VECTOR_FOUR ? 4 : 0;
    LLVMMetadataRef several[] = {LLVMMDStringInContext2(l->context, "llvm.loop.interleave.count", 26),
                                 LLVMValueAsMetadata(l_i32(l, at_once))};
    LLVMMetadataRef hints[4] = {self, LLVMMDNodeInContext2(l->context, &no_unroll, 1)};
    unsigned count = 2;
    if (at_once) hints[count++] = LLVMMDNodeInContext2(l->context, several, 2);
    if (wish == VECTOR_NOT || wish == VECTOR_WHEREVER) hints[count++] = LLVMMDNodeInContext2(l->context, vector, 2);
    if (parallel) hints[count++] = LLVMMDNodeInContext2(l->context, any_order, 2);
    LLVMMetadataRef node = LLVMMDNodeInContext2(l->context, hints, count);
    LLVMMetadataReplaceAllUsesWith(self, node); /* a loop's metadata begins with itself */
    l_set_metadata(l, back_edge, "llvm.loop", node);
}

/* `distinct !{}`, which the C interface cannot make, but LLVM's parser can. */
LLVMMetadataRef host_access_group(Lower *l) {
    static const char name[] = "krait.any_order", text[] = "!krait.any_order = !{!0}\n!0 = distinct !{}\n";
    LLVMValueRef group;
    if (!LLVMGetNamedMetadataNumOperands(l->module, name)) {
        LLVMModuleRef module;
        char *message = NULL;
        LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(text, strlen(text), name);
        if (LLVMParseIRInContext(l->context, buffer, &module, &message)) {
            LLVMDisposeMessage(message);
            return NULL;
        }
        LLVMGetNamedMetadataOperands(module, name, &group);
        LLVMAddNamedMetadataOperand(l->module, name, group);
        LLVMDisposeModule(module);
    }
    LLVMGetNamedMetadataOperands(l->module, name, &group);
    return LLVMValueAsMetadata(group);
}

void host_mark_accesses(Lower *l, LLVMMetadataRef group, bool calls) {
    for (LLVMValueRef i = LLVMGetFirstInstruction(l_here(l)); i; i = LLVMGetNextInstruction(i))
        if (LLVMIsALoadInst(i) || LLVMIsAStoreInst(i) || (calls && LLVMIsACallInst(i)))
            l_set_metadata(l, i, "llvm.access.group", group);
}

void host_note_stack_limit(Lower *l, LLVMValueRef address, int64_t bytes) {
    if (!l->m->recursive) return;
    LLVMValueRef here = l_i32(l, 0);
    here = LLVMBuildPtrToInt(l->b, l_intrinsic(l, "llvm.frameaddress", l->ptr, &here, 1), l->i64, "");
    LLVMValueRef args[] = {here, l_i64(l, bytes)};
    LLVMValueRef limit = bytes == FIBER_RECURSION ? l_sub(l, here, args[1])
                                                  : l_call_named(l, "krait_host_stack_limit", l->i64, args, 2);
    if (limit) l_recursion_open(l, address, limit);
}

/* ---- ENTRY_FUNCTION ---- */

static bool entry_function(Lower *l, const FuncInst *root) {
    LLVMTypeRef params[] = {l->ptr, l->ptr, l->ptr};
    LLVMValueRef function = host_entry_add(l, l->m->options.entry_name, l->i32, params, 3);
    l_begin(l, function);
    l->nhidden = 0;
    l->exception = LLVMGetParam(function, 2);
    host_note_stack_limit(l, l->exception, THREAD_RECURSION);
    LLVMValueRef *args = host_load_arguments(l, root, LLVMGetParam(function, 0));
    LLVMValueRef status = NULL;
    LLVMValueRef result = l_call_inst(l, root, args, &status);
    TRY(result);
    if (l_has_bytes(root->result)) {
        LIf fine;
        if (status) l_if(l, &fine, LLVMBuildICmp(l->b, LLVMIntEQ, status, l_i32(l, 0), ""));
        l_store(l, root->result, result, LLVMGetParam(function, 1));
        if (status) l_endif(l, &fine);
    }
    LLVMBuildRet(l->b, status ? status : l_i32(l, 0));
    l_end(l);
    return true;
}

/* A loop is vectorised only if nothing is called in it: the root goes into the loop, what it calls mostly too. */
static void ask_for_inlining(Lower *l, const FuncInst *root) {
    for (size_t i = 0; i < l->m->ninsts; i++) {
        LLVMValueRef function = l_function_of(l, l->m->insts[i]);
        if (l->m->insts[i] == root)
            l_attribute(l, function, -1, "alwaysinline", 0);
        else
            l_attribute_text(l, function, -1, "function-inline-threshold", "2000");
    }
}

bool host_entry(Lower *l, const FuncInst *root) {
    if (l->m->options.entry != ENTRY_FUNCTION) ask_for_inlining(l, root);
    switch (l->m->options.entry) {
    case ENTRY_FUNCTION: return entry_function(l, root);
    case ENTRY_UFUNC: return host_entry_ufunc(l, root);
    case ENTRY_GUFUNC: return host_entry_gufunc(l, root);
    case ENTRY_CFUNC: return host_entry_cfunc(l, root);
    case ENTRY_KERNEL: return host_entry_kernel(l, root);
    }
    return false;
}
