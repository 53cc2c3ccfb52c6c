/* sine_pairs.c: the sine and the cosine of one angle are one call.
 *
 * Most of either is the reduction of the angle, with a loop for large ones that LLVM cannot make one of two.  libdevice
 * has a function that gives both, of the same bits.  A rotation, a Fourier transform or a pair of normal numbers takes
 * both of one angle in one block.
 *
 * In: a module as lowered, for a GPU, before libdevice joins it.  Out: a call of sincos instead of two calls in a
 * block. */
#include "codegen/lower.h"

enum { SINE, COSINE, FUNCTIONS };
enum { NEAR = 8 }; /* calls of a block that a partner is looked for among */

typedef struct Pairs {
    Module *module;
    const char *both; /* the function that gives both */
    LLVMTypeRef type;
    LLVMValueRef callees[FUNCTIONS];
} Pairs;

/* SINE or COSINE; FUNCTIONS: neither. */
static unsigned function_called(const Pairs *p, LLVMValueRef i) {
    if (LLVMGetInstructionOpcode(i) != LLVMCall) return FUNCTIONS;
    unsigned which = SINE;
    while (which < FUNCTIONS && LLVMGetCalledValue(i) != p->callees[which]) which++;
    return which;
}

static LLVMValueRef memory_at_entry(const Pairs *p, LLVMValueRef function) {
    module_build_at_entry(p->module, function);
    return LLVMBuildAlloca(p->module->builder, p->type, "");
}

static LLVMValueRef declare_both(const Pairs *p) {
    LLVMValueRef function = LLVMGetNamedFunction(p->module->module, p->both);
    if (function) return function;
    LLVMTypeRef ptr = LLVMPointerTypeInContext(p->module->context, 0), types[] = {p->type, ptr, ptr};
    LLVMTypeRef nothing = LLVMVoidTypeInContext(p->module->context);
    return LLVMAddFunction(p->module->module, p->both, LLVMFunctionType(nothing, types, 3, false));
}

/* calls: by function; first is the one that comes first. */
static void join(const Pairs *p, LLVMValueRef first, LLVMValueRef const *calls) {
    LLVMBuilderRef b = p->module->builder;
    LLVMValueRef function = LLVMGetBasicBlockParent(LLVMGetInstructionParent(first)), both = declare_both(p);
    LLVMValueRef args[] = {LLVMGetOperand(first, 0), memory_at_entry(p, function), memory_at_entry(p, function)};
    LLVMPositionBuilderBefore(b, first);
    LLVMSetCurrentDebugLocation2(b, LLVMInstructionGetDebugLoc(first));
    LLVMBuildCall2(b, LLVMGlobalGetValueType(both), both, args, 3, "");
    for (unsigned which = SINE; which < FUNCTIONS; which++)
        LLVMReplaceAllUsesWith(calls[which], LLVMBuildLoad2(b, p->type, args[1 + which], ""));
    for (unsigned which = SINE; which < FUNCTIONS; which++) LLVMInstructionEraseFromParent(calls[which]);
}

static void join_in_block(const Pairs *p, LLVMBasicBlockRef block) {
    struct {
        LLVMValueRef call;
        unsigned which;
    } single[NEAR];
    unsigned count = 0;
    for (LLVMValueRef i = LLVMGetFirstInstruction(block), next; i; i = next) {
        next = LLVMGetNextInstruction(i);
        unsigned which = function_called(p, i), k = 0;
        if (which == FUNCTIONS) continue;
        while (k < count && (single[k].which == which || LLVMGetOperand(single[k].call, 0) != LLVMGetOperand(i, 0)))
            k++;
        if (k < count) {
            LLVMValueRef first = single[k].call, calls[FUNCTIONS];
            calls[which] = i;
            calls[single[k].which] = first;
            join(p, first, calls);
            single[k] = single[--count];
        } else {
            single[count < NEAR ? count++ : count - 1].call = i;
            single[count - 1].which = which;
        }
    }
}

static void join_calls(Module *module, const char *sine, const char *cosine, const char *both) {
    Pairs p = {.module = module, .both = both};
    p.callees[SINE] = LLVMGetNamedFunction(module->module, sine);
    p.callees[COSINE] = LLVMGetNamedFunction(module->module, cosine);
    if (!p.callees[SINE] || !p.callees[COSINE]) return;
    p.type = LLVMGetReturnType(LLVMGlobalGetValueType(p.callees[SINE]));
    for (LLVMValueRef f = LLVMGetFirstFunction(module->module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b)) join_in_block(&p, b);
}

void sine_pairs_join(Module *module) {
    if (module->target->math != MATH_LIBDEVICE) return;
    const PlatformMath *sine = &platform_math[MATH_sin], *cosine = &platform_math[MATH_cos];
    join_calls(module, sine->device64, cosine->device64, platform_sincos.device64);
    join_calls(module, sine->device32, cosine->device32, platform_sincos.device32);
}
