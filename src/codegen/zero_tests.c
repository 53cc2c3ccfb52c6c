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

/* The zeros of a function that LLVM does not see through, by type. */
typedef struct Zeros {
    Module *module;
    LLVMValueRef function;
    struct {
        LLVMTypeRef type;
        LLVMValueRef value;
    } made[4]; /* float16, bfloat16, float32, float64 */
} Zeros;

static LLVMValueRef make_zero(const Zeros *zeros, LLVMTypeRef type) {
    static const char name[] = "llvm.arithmetic.fence";
    LLVMBuilderRef b = zeros->module->builder;
    unsigned id = LLVMLookupIntrinsicID(name, sizeof name - 1);
    LLVMValueRef fence = LLVMGetIntrinsicDeclaration(zeros->module->module, id, &type, 1);
    module_build_at_entry(zeros->module, zeros->function);
    LLVMValueRef zero = LLVMConstNull(type);
    return LLVMBuildCall2(b, LLVMGlobalGetValueType(fence), fence, &zero, 1, "zero");
}

static void hide(Zeros *zeros, LLVMValueRef user, unsigned operand) {
    LLVMTypeRef type = LLVMTypeOf(LLVMGetOperand(user, operand));
    size_t at = 0;
    while (zeros->made[at].type && zeros->made[at].type != type) at++;
    if (!zeros->made[at].type) {
        zeros->made[at].type = type;
        zeros->made[at].value = make_zero(zeros, type);
    }
    LLVMSetOperand(user, operand, zeros->made[at].value);
}

static bool is_compared(LLVMValueRef value) {
    LLVMUseRef use = LLVMGetFirstUse(value);
    while (use && !LLVMIsAFCmpInst(LLVMGetUser(use))) use = LLVMGetNextUse(use);
    return use;
}

/* A zero that a function compares its argument with once it is part of what calls it. */
static void hide_arguments(Zeros *zeros, LLVMValueRef call, unsigned sizes) {
    LLVMValueRef callee = LLVMGetCalledValue(call);
    if (!LLVMIsAFunction(callee) || LLVMIsDeclaration(callee)) return;
    for (unsigned i = 0; i < LLVMCountParams(callee); i++) {
        LLVMValueRef argument = LLVMGetOperand(call, i);
        if (is_zero(argument) && sizes & size_bit(argument) && is_compared(LLVMGetParam(callee, i)))
            hide(zeros, call, i);
    }
}

static void hide_in(Module *module, LLVMValueRef function, unsigned sizes) {
    Zeros zeros = {.module = module, .function = function};
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            if (LLVMGetInstructionOpcode(i) == LLVMCall) hide_arguments(&zeros, i, sizes);
            int operand = zero_operand(i);
            if (operand >= 0 && sizes & size_bit(before_extended(LLVMGetOperand(i, 1 - (unsigned)operand))))
                hide(&zeros, i, (unsigned)operand);
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
