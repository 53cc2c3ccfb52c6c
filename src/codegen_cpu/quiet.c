/* quiet.c: comparisons of a ufunc that say nothing of NaN.
 *
 * In: a ufunc's module, after all passes.  Out: comparisons of floats by order as instructions that do not set the flag
 * `invalid` where an operand is NaN, as NumPy's do not.
 *
 * LLVM takes it that nobody looks at flags: for a comparison it chooses what signals as soon as what does not, and for
 * one with a choice between its operands the processor's maximum and minimum, which signal, too.  What it calls a
 * constrained comparison it leaves as it is; but of those it makes no vectors, so they come last.
 *
 * A scalar comparison sets flags of the integer unit.  Where floats of its operands' type are chosen by it, the choice
 * would wait for a mask to go from there to a register of masks; in a maximum of many numbers each waits for the one
 * before.  So there the comparison is AVX's own, whose mask lies where the floats do. */
#include <string.h> /* strlen */

#include "codegen_cpu/cpu.h"

/* Of comparisons by order; those by equality are quiet.  `avx`: as the instruction numbers them, the quiet ones. */
typedef struct Quiet {
    const char *name;
    int avx;
} Quiet;

static Quiet quiet_of(LLVMRealPredicate predicate) {
    static const Quiet rows[] = {
        [LLVMRealOGT] = {"ogt", 0x1e}, [LLVMRealOGE] = {"oge", 0x1d}, [LLVMRealOLT] = {"olt", 0x11},
        [LLVMRealOLE] = {"ole", 0x12}, [LLVMRealUGT] = {"ugt", 0x16}, [LLVMRealUGE] = {"uge", 0x15},
        [LLVMRealULT] = {"ult", 0x19}, [LLVMRealULE] = {"ule", 0x1a}, [LLVMRealPredicateTrue] = {NULL, 0}};
    return rows[predicate];
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

/* ---- choices between floats, by AVX's masks ---- */

/* Whether all that is done with a comparison is to choose between floats of its operands' type. */
static bool chooses_floats(LLVMValueRef comparison) {
    LLVMTypeRef type = LLVMTypeOf(LLVMGetOperand(comparison, 0));
    LLVMTypeKind kind = LLVMGetTypeKind(type);
    if (kind != LLVMDoubleTypeKind && kind != LLVMFloatTypeKind) return false;
    for (LLVMUseRef use = LLVMGetFirstUse(comparison); use; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        if (!LLVMIsASelectInst(user) || LLVMTypeOf(user) != type) return false;
    }
    return true;
}

/* A register with this float in it; nothing is done with what else it holds. */
static LLVMValueRef in_register(LLVMBuilderRef b, LLVMValueRef value, LLVMTypeRef vector) {
    LLVMValueRef zero = LLVMConstInt(LLVMInt32TypeInContext(LLVMGetTypeContext(vector)), 0, false);
    return LLVMBuildInsertElement(b, LLVMGetPoison(vector), value, zero, "");
}

static LLVMValueRef mask_of(LLVMModuleRef module, LLVMBuilderRef b, LLVMValueRef comparison, LLVMTypeRef vector,
                            int avx) {
    static const char singles[] = "llvm.x86.sse.cmp.ss", doubles[] = "llvm.x86.sse2.cmp.sd";
    bool single = LLVMGetTypeKind(LLVMGetElementType(vector)) == LLVMFloatTypeKind;
    unsigned id = single ? LLVMLookupIntrinsicID(singles, sizeof singles - 1)
                         : LLVMLookupIntrinsicID(doubles, sizeof doubles - 1);
    LLVMValueRef function = LLVMGetIntrinsicDeclaration(module, id, NULL, 0);
    LLVMValueRef args[] = {in_register(b, LLVMGetOperand(comparison, 0), vector),
                           in_register(b, LLVMGetOperand(comparison, 1), vector),
                           LLVMConstInt(LLVMInt8TypeInContext(LLVMGetModuleContext(module)), (uint64_t)avx, false)};
    return LLVMBuildCall2(b, LLVMGlobalGetValueType(function), function, args, COUNT_OF(args), "");
}

static void choose_by_mask(LLVMBuilderRef b, LLVMValueRef select, LLVMValueRef mask, LLVMTypeRef vector,
                           LLVMTypeRef bits) {
    LLVMPositionBuilderBefore(b, select);
    LLVMValueRef first = LLVMBuildBitCast(b, in_register(b, LLVMGetOperand(select, 1), vector), bits, "");
    LLVMValueRef second = LLVMBuildBitCast(b, in_register(b, LLVMGetOperand(select, 2), vector), bits, "");
    LLVMValueRef chosen = LLVMBuildOr(b, LLVMBuildAnd(b, mask, first, ""),
                                      LLVMBuildAnd(b, LLVMBuildNot(b, mask, ""), second, ""), "");
    LLVMValueRef zero = LLVMConstInt(LLVMInt32TypeInContext(LLVMGetTypeContext(bits)), 0, false);
    chosen = LLVMBuildExtractElement(b, LLVMBuildBitCast(b, chosen, vector, ""), zero, "");
    LLVMReplaceAllUsesWith(select, chosen);
    LLVMInstructionEraseFromParent(select);
}

/* The comparison goes, and the choices that it was for, which one may follow it at once.  What comes after. */
static LLVMValueRef make_choices(LLVMModuleRef module, LLVMBuilderRef b, LLVMValueRef comparison, int avx) {
    LLVMContextRef context = LLVMGetModuleContext(module);
    LLVMTypeRef type = LLVMTypeOf(LLVMGetOperand(comparison, 0));
    bool single = LLVMGetTypeKind(type) == LLVMFloatTypeKind;
    LLVMTypeRef vector = LLVMVectorType(type, single ? 4 : 2);
    LLVMTypeRef bits = LLVMVectorType(LLVMIntTypeInContext(context, single ? 32 : 64), single ? 4 : 2);
    LLVMPositionBuilderBefore(b, comparison);
    LLVMValueRef mask = LLVMBuildBitCast(b, mask_of(module, b, comparison, vector, avx), bits, "");
    for (LLVMUseRef use; (use = LLVMGetFirstUse(comparison));) choose_by_mask(b, LLVMGetUser(use), mask, vector, bits);
    LLVMValueRef next = LLVMGetNextInstruction(comparison);
    LLVMInstructionEraseFromParent(comparison);
    return next;
}

void host_make_quiet(Module *module) {
    if (module->options.entry != ENTRY_UFUNC) return;
    bool avx = host_has_avx();
    LLVMBuilderRef b = LLVMCreateBuilderInContext(LLVMGetModuleContext(module->module));
    for (LLVMValueRef f = LLVMGetFirstFunction(module->module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(f); block; block = LLVMGetNextBasicBlock(block))
            for (LLVMValueRef inst = LLVMGetFirstInstruction(block), next; inst; inst = next) {
                next = LLVMGetNextInstruction(inst);
                if (LLVMGetInstructionOpcode(inst) != LLVMFCmp) continue;
                Quiet quiet = quiet_of(LLVMGetFCmpPredicate(inst));
                if (!quiet.name) continue;
                if (avx && chooses_floats(inst))
                    next = make_choices(module->module, b, inst, quiet.avx);
                else
                    make_quiet(module->module, b, inst, quiet.name);
            }
    LLVMDisposeBuilder(b);
}
