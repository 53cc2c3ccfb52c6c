/* exact.c: operations that PTX's compiler, or instruction selection, computes wrongly become others that they do not.
 *
 * In: a module that is about to be emitted, optimised or not.  Out: the same values, some computed otherwise:
 *   -x, abs(x), 16 bits   ptxas computes in 32 bits and compares the result without wrapping it: -(-32768) is 32768.
 *                         They become operations of 32 bits, whose lower half is taken.
 *   c ? x : -0.0          where c compares x with zero and x was an int, selection makes max of the two, which is +0.0
 *                         for a zero x; the interpreter's max(-0.0, x) is -0.0.  The constant becomes one that
 *                         selection does not know.
 *   n < 64 ? x << n : 0   of 64 bits: selection leaves the comparison out, since PTX shifts by the width or more to 0,
 *                         but cuts n to 32 bits first: 1 << 2**32 is 1.  The count of the shift becomes n & 63, which
 *                         is not what is compared. */
#include <math.h>   /* signbit */
#include <string.h> /* strlen */

#include "codegen_nvptx/nvptx.h"

static LLVMValueRef assembly(LLVMBuilderRef b, LLVMTypeRef type, const char *text, const char *constraints,
                             LLVMValueRef operand) {
    LLVMTypeRef signature = LLVMFunctionType(type, &type, operand != NULL, false);
    LLVMValueRef code = LLVMGetInlineAsm(signature, text, strlen(text), constraints, strlen(constraints), false, false,
                                         LLVMInlineAsmDialectATT, false);
    return LLVMBuildCall2(b, signature, code, &operand, operand != NULL, "");
}

static bool is_short(LLVMValueRef value) {
    LLVMTypeRef type = LLVMTypeOf(value);
    return LLVMGetTypeKind(type) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(type) == 16;
}

/* -x and abs(x) of 16 bits, in 32; NULL: the value is neither. */
static LLVMValueRef in_32_bits(LLVMBuilderRef b, LLVMValueRef value) {
    const char *text = NULL;
    unsigned operand = 0;
    if (!is_short(value)) return NULL;
    if (LLVMGetInstructionOpcode(value) == LLVMSub && LLVMIsNull(LLVMGetOperand(value, 0))) {
        text = "{ .reg .b32 w; cvt.s32.s16 w, $1; neg.s32 w, w; cvt.u16.u32 $0, w; }";
        operand = 1;
    } else if (LLVMIsACallInst(value) &&
               LLVMGetIntrinsicID(LLVMGetCalledValue(value)) == LLVMLookupIntrinsicID("llvm.abs", strlen("llvm.abs"))) {
        text = "{ .reg .b32 w; cvt.s32.s16 w, $1; abs.s32 w, w; cvt.u16.u32 $0, w; }";
    }
    return text ? assembly(b, LLVMTypeOf(value), text, "=h,h", LLVMGetOperand(value, operand)) : NULL;
}

static bool is_negative_zero(LLVMValueRef value) {
    LLVMBool inexact;
    if (!LLVMIsAConstantFP(value)) return false;
    double known = LLVMConstRealGetDouble(value, &inexact);
    return known == 0 && signbit(known);
}

/* -0.0 in operand `i` of a select. */
static void hide_zero(LLVMBuilderRef b, LLVMValueRef select, unsigned i) {
    LLVMTypeRef type = LLVMTypeOf(select);
    LLVMTypeKind kind = LLVMGetTypeKind(type);
    if (!is_negative_zero(LLVMGetOperand(select, i))) return;
    if (kind == LLVMDoubleTypeKind)
        LLVMSetOperand(select, i, assembly(b, type, "mov.f64 $0, 0d8000000000000000;", "=d", NULL));
    else if (kind == LLVMFloatTypeKind)
        LLVMSetOperand(select, i, assembly(b, type, "mov.f32 $0, 0f80000000;", "=f", NULL));
}

static bool is_guarded_shift(LLVMValueRef value) {
    LLVMOpcode op = LLVMGetInstructionOpcode(value);
    if ((op != LLVMShl && op != LLVMLShr) || LLVMTypeOf(value) != LLVMInt64TypeInContext(LLVMGetValueContext(value)))
        return false;
    bool guarded = false;
    for (LLVMUseRef use = LLVMGetFirstUse(value); use; use = LLVMGetNextUse(use))
        guarded |= LLVMGetInstructionOpcode(LLVMGetUser(use)) == LLVMSelect;
    return guarded && !LLVMIsAConstant(LLVMGetOperand(value, 1));
}

static void cut_count(LLVMBuilderRef b, LLVMValueRef shift) {
    enum { MASK = 63 };
    LLVMValueRef mask = LLVMConstInt(LLVMTypeOf(shift), MASK, false);
    LLVMSetOperand(shift, 1, LLVMBuildAnd(b, LLVMGetOperand(shift, 1), mask, ""));
}

void nvptx_exact(Module *module) {
    LLVMBuilderRef b = module->builder;
    for (LLVMValueRef f = LLVMGetFirstFunction(module->module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(f); block; block = LLVMGetNextBasicBlock(block))
            for (LLVMValueRef value = LLVMGetFirstInstruction(block), next; value; value = next) {
                next = LLVMGetNextInstruction(value);
                LLVMPositionBuilderBefore(b, value);
                LLVMValueRef wide = in_32_bits(b, value);
                if (is_guarded_shift(value)) cut_count(b, value);
                if (wide) {
                    LLVMReplaceAllUsesWith(value, wide);
                    LLVMInstructionEraseFromParent(value);
                } else if (LLVMGetInstructionOpcode(value) == LLVMSelect && LLVMIsAFCmpInst(LLVMGetOperand(value, 0))) {
                    hide_zero(b, value, 1);
                    hide_zero(b, value, 2);
                }
            }
}
