/* zero_tests.c: comparisons of floats with zero that LLVM would take for minima of another sign.
 *
 * `0.0 if x > 0 else float64(x)`, with x a float32, is x where x is -0.0.  LLVM's instcombine makes one selection of
 * floats and one cast of it, as a minimum, which gives 0.0 there (22, and those before; only where a cast to a wider or
 * a narrower float lies between).  A minimum is seen by the zero of its comparison; so where a module casts floats of
 * a size, those of that size are compared with a zero that LLVM does not see through, made once where their function
 * begins.  Where signs of zeros are of no account (fastmath) all stays as it is.
 *
 * In: a module as lowered, before bitcode joins it.  Out: other operands of its comparisons. */
#include "codegen/lower.h"

static unsigned size_bit(LLVMValueRef value) { return 1u << LLVMGetTypeKind(LLVMTypeOf(value)); }

static unsigned sizes_cast_in(LLVMValueRef function) {
    unsigned sizes = 0;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            LLVMOpcode op = LLVMGetInstructionOpcode(i);
            if (op == LLVMFPExt || op == LLVMFPTrunc) sizes |= size_bit(LLVMGetOperand(i, 0));
        }
    return sizes;
}

static bool is_zero(LLVMValueRef value) { return LLVMIsAConstantFP(value) && LLVMIsNull(value); }

/* What LLVM compares in the end: with a zero that it sees, a float of 16 bits is not made wider. */
static LLVMValueRef before_extended(LLVMValueRef value) {
    while (LLVMIsAFPExtInst(value)) value = LLVMGetOperand(value, 0);
    return value;
}

/* Which operand of a comparison is a zero whose sign counts; -1: none. */
static int zero_operand(LLVMValueRef test) {
    if (LLVMGetInstructionOpcode(test) != LLVMFCmp) return -1;
    if (LLVMGetFastMathFlags(test) & LLVMFastMathNoSignedZeros) return -1;
    return is_zero(LLVMGetOperand(test, 0)) ? 0 : is_zero(LLVMGetOperand(test, 1)) ? 1 : -1;
}

static LLVMValueRef hidden_zero(Module *module, LLVMValueRef function, LLVMTypeRef type) {
    static const char name[] = "llvm.arithmetic.fence";
    unsigned id = LLVMLookupIntrinsicID(name, sizeof name - 1);
    LLVMValueRef fence = LLVMGetIntrinsicDeclaration(module->module, id, &type, 1);
    LLVMPositionBuilderBefore(module->builder, LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(function)));
    LLVMSetCurrentDebugLocation2(module->builder, NULL);
    LLVMValueRef zero = LLVMConstNull(type);
    return LLVMBuildCall2(module->builder, LLVMGlobalGetValueType(fence), fence, &zero, 1, "zero");
}

static void hide_in(Module *module, LLVMValueRef function, unsigned sizes) {
    struct {
        LLVMTypeRef type;
        LLVMValueRef value;
    } zeros[4] = {{0}}; /* float16, bfloat16, float32, float64 */
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            int operand = zero_operand(i);
            if (operand < 0 || !(sizes & size_bit(before_extended(LLVMGetOperand(i, 1 - (unsigned)operand))))) continue;
            LLVMTypeRef type = LLVMTypeOf(LLVMGetOperand(i, 0));
            size_t at = 0;
            while (zeros[at].type && zeros[at].type != type) at++;
            if (!zeros[at].type) zeros[at].value = hidden_zero(module, function, zeros[at].type = type);
            LLVMSetOperand(i, (unsigned)operand, zeros[at].value);
        }
}

void zero_tests_hide(Module *module) {
    unsigned sizes = 0;
    for (LLVMValueRef f = LLVMGetFirstFunction(module->module); f; f = LLVMGetNextFunction(f))
        sizes |= sizes_cast_in(f);
    if (!sizes) return;
    for (LLVMValueRef f = LLVMGetFirstFunction(module->module); f; f = LLVMGetNextFunction(f))
        hide_in(module, f, sizes);
}
