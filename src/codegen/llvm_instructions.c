/* llvm_instructions.c: the emit helpers of llvm.h that make one instruction: aggregates, addresses, stack and memory.
 *
 * Input: a Lower whose builder stands where code is to go.  Output: LLVM values.  Nothing here decides; each function
 * emits what its name says.  Aggregates are built by insertvalue and taken apart by l_extract, which looks through the
 * building, so that the chains mostly never meet LLVM's passes. */
#include <stdarg.h> /* va_list */
#include <string.h> /* strlen */

#include "codegen/llvm.h"

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
        .bf16 = module->target->rounds_bfloat16 ? LLVMBFloatTypeInContext(c) : LLVMInt16TypeInContext(c),
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

const char *l_type_text(Lower *l, const Type *type) { return type_text(l->arena, type); }

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

void module_build_at_entry(Module *m, LLVMValueRef function) {
    LLVMPositionBuilderBefore(m->builder, LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(function)));
    LLVMSetCurrentDebugLocation2(m->builder, NULL);
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

LLVMValueRef l_alloca_with(Lower *l, LLVMValueRef first, const char *name) {
    LLVMBasicBlockRef here = l_here(l);
    LLVMMetadataRef where = LLVMGetCurrentDebugLocation2(l->b);
    LLVMValueRef slot = l_alloca(l, LLVMTypeOf(first), name);
    LLVMSetCurrentDebugLocation2(l->b, NULL);
    l_enter(l, l->allocas);
    LLVMBuildStore(l->b, first, slot);
    l_enter(l, here);
    LLVMSetCurrentDebugLocation2(l->b, where);
    return slot;
}

LLVMValueRef l_alloca_bytes(Lower *l, uint64_t bytes, unsigned align, const char *name) {
    return alloca_of(l, LLVMArrayType2(l->i8, bytes), align, name);
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
