/* quiet.c: comparisons of a ufunc that say nothing of NaN.
 *
 * In: a ufunc's module, after all passes.  Out: comparisons of floats by order as instructions that do not set the flag
 * `invalid` where an operand is NaN, as NumPy's do not.
 *
 * LLVM takes it that nobody looks at flags: for a comparison it chooses what signals as soon as what does not, and for
 * one with a choice between its operands the processor's maximum and minimum, which signal, too.  What it calls a
 * constrained comparison it leaves as it is; but of those it makes no vectors, so they come last. */
#include <string.h> /* strlen */

#include "codegen_cpu/cpu.h"

/* Of comparisons by order; those by equality are quiet. */
static const char *quiet_name(LLVMRealPredicate predicate) {
    static const char *const names[] = {[LLVMRealOGT] = "ogt", [LLVMRealOGE] = "oge", [LLVMRealOLT] = "olt",
                                        [LLVMRealOLE] = "ole", [LLVMRealUGT] = "ugt", [LLVMRealUGE] = "uge",
                                        [LLVMRealULT] = "ult", [LLVMRealULE] = "ule", [LLVMRealPredicateTrue] = NULL};
    return names[predicate];
}

static LLVMValueRef text(LLVMContextRef context, const char *name) {
    return LLVMMetadataAsValue(context, LLVMMDStringInContext2(context, name, strlen(name)));
}

static void make_quiet(LLVMModuleRef module, LLVMBuilderRef b, LLVMValueRef comparison, const char *name) {
    static const char intrinsic[] = "llvm.experimental.constrained.fcmp", strict[] = "strictfp";
    LLVMContextRef context = LLVMGetModuleContext(module);
    LLVMTypeRef type = LLVMTypeOf(LLVMGetOperand(comparison, 0));
    LLVMValueRef function = LLVMGetIntrinsicDeclaration(module, LLVMLookupIntrinsicID(intrinsic, sizeof intrinsic - 1),
                                                        &type, 1);
    LLVMValueRef args[] = {LLVMGetOperand(comparison, 0), LLVMGetOperand(comparison, 1), text(context, name),
                           text(context, "fpexcept.strict")};
    LLVMPositionBuilderBefore(b, comparison);
    LLVMValueRef quiet = LLVMBuildCall2(b, LLVMGlobalGetValueType(function), function, args, COUNT_OF(args), "");
    unsigned kind = LLVMGetEnumAttributeKindForName(strict, sizeof strict - 1);
    LLVMAddCallSiteAttribute(quiet, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                             LLVMCreateEnumAttribute(context, kind, 0));
    LLVMReplaceAllUsesWith(comparison, quiet);
    LLVMInstructionEraseFromParent(comparison);
}

void host_make_quiet(Module *module) {
    if (module->options.entry != ENTRY_UFUNC) return;
    LLVMBuilderRef b = LLVMCreateBuilderInContext(LLVMGetModuleContext(module->module));
    for (LLVMValueRef f = LLVMGetFirstFunction(module->module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(f); block; block = LLVMGetNextBasicBlock(block))
            for (LLVMValueRef inst = LLVMGetFirstInstruction(block), next; inst; inst = next) {
                next = LLVMGetNextInstruction(inst);
                if (LLVMGetInstructionOpcode(inst) != LLVMFCmp) continue;
                const char *name = quiet_name(LLVMGetFCmpPredicate(inst));
                if (name) make_quiet(module->module, b, inst, name);
            }
    LLVMDisposeBuilder(b);
}
