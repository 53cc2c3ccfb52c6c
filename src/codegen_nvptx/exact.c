/* exact.c: operations that PTX's compiler, or instruction selection, computes wrongly become others that they do not
 * (rows of rewrites.c).
 *
 * In: an instruction of a module that is about to be emitted, optimised or not.  Out: the same value, computed
 * otherwise:
 *   -x, abs(x), 16 bits   ptxas computes in 32 bits and compares the result without wrapping it: -(-32768) is 32768.
 *                         They become operations of 32 bits, whose lower half is taken.
 *   -abs(x)               of 32 and 64 bits: ptxas takes it for less than every number that it is compared with:
 *                         -abs(x) > -5 is never true.  It becomes min(x, -x), of which ptxas knows nothing.
 *   c ? x : -0.0          where c compares x with zero and x was an int, selection makes max of the two, which is +0.0
 *                         for a zero x; the interpreter's max(-0.0, x) is -0.0.  The constant becomes one that
 *                         selection does not know.
 *   n < 64 ? x << n : 0   of 64 bits: selection leaves the comparison out, since PTX shifts by the width or more to 0,
 *                         but cuts n to 32 bits first: 1 << 2**32 is 1.  The count of the shift becomes n & 63, which
 *                         is not what is compared. */
#include <math.h>   /* signbit */
#include <string.h> /* strlen */

#include "codegen_nvptx/nvptx.h"

static bool is_short(LLVMValueRef value) {
    LLVMTypeRef type = LLVMTypeOf(value);
    return LLVMGetTypeKind(type) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(type) == 16;
}

/* Of 16 bits, by an instruction of 32. */
static LLVMValueRef in_32_bits(LLVMBuilderRef b, LLVMValueRef value, LLVMValueRef operand, const char *text) {
    return nvptx_assembly(b, value, text, "=h,h", &operand, 1);
}

static bool is_magnitude(LLVMValueRef value) {
    return LLVMIsACallInst(value) &&
           LLVMGetIntrinsicID(LLVMGetCalledValue(value)) == LLVMLookupIntrinsicID("llvm.abs", strlen("llvm.abs"));
}

/* min(x, -x), made before `sub`. */
static LLVMValueRef negated_magnitude(LLVMBuilderRef b, LLVMValueRef sub, LLVMValueRef x) {
    LLVMModuleRef module = LLVMGetGlobalParent(LLVMGetBasicBlockParent(LLVMGetInstructionParent(sub)));
    LLVMTypeRef type = LLVMTypeOf(x);
    unsigned id = LLVMLookupIntrinsicID("llvm.smin", strlen("llvm.smin"));
    LLVMValueRef min = LLVMGetIntrinsicDeclaration(module, id, &type, 1), both[] = {x, LLVMBuildNeg(b, x, "")};
    return LLVMBuildCall2(b, LLVMGlobalGetValueType(min), min, both, 2, "");
}

LLVMValueRef nvptx_exact_negation(LLVMBuilderRef b, LLVMValueRef sub) {
    LLVMValueRef negated = LLVMGetOperand(sub, 1);
    if (!LLVMIsNull(LLVMGetOperand(sub, 0))) return NULL;
    if (is_short(sub))
        return in_32_bits(b, sub, negated, "{ .reg .b32 w; cvt.s32.s16 w, $1; neg.s32 w, w; cvt.u16.u32 $0, w; }");
    return is_magnitude(negated) ? negated_magnitude(b, sub, LLVMGetOperand(negated, 0)) : NULL;
}

LLVMValueRef nvptx_exact_magnitude(LLVMBuilderRef b, LLVMValueRef call) {
    if (!is_short(call) || !is_magnitude(call)) return NULL;
    return in_32_bits(b, call, LLVMGetOperand(call, 0),
                      "{ .reg .b32 w; cvt.s32.s16 w, $1; abs.s32 w, w; cvt.u16.u32 $0, w; }");
}

static bool is_negative_zero(LLVMValueRef value) {
    LLVMBool inexact;
    if (!LLVMIsAConstantFP(value)) return false;
    double known = LLVMConstRealGetDouble(value, &inexact);
    return known == 0 && signbit(known);
}

/* -0.0 in operand `i` of a select. */
static void hide_zero(LLVMBuilderRef b, LLVMValueRef select, unsigned i) {
    LLVMTypeKind kind = LLVMGetTypeKind(LLVMTypeOf(select));
    if (!is_negative_zero(LLVMGetOperand(select, i))) return;
    if (kind == LLVMDoubleTypeKind)
        LLVMSetOperand(select, i, nvptx_assembly(b, select, "mov.f64 $0, 0d8000000000000000;", "=d", NULL, 0));
    else if (kind == LLVMFloatTypeKind)
        LLVMSetOperand(select, i, nvptx_assembly(b, select, "mov.f32 $0, 0f80000000;", "=f", NULL, 0));
}

LLVMValueRef nvptx_exact_choice(LLVMBuilderRef b, LLVMValueRef select) {
    if (!LLVMIsAFCmpInst(LLVMGetOperand(select, 0))) return NULL;
    hide_zero(b, select, 1);
    hide_zero(b, select, 2);
    return NULL;
}

static bool is_guarded(LLVMValueRef shift) {
    for (LLVMUseRef use = LLVMGetFirstUse(shift); use; use = LLVMGetNextUse(use))
        if (LLVMGetInstructionOpcode(LLVMGetUser(use)) == LLVMSelect) return true;
    return false;
}

LLVMValueRef nvptx_exact_shift(LLVMBuilderRef b, LLVMValueRef shift) {
    enum { WIDTH = 64 };
    LLVMTypeRef type = LLVMTypeOf(shift);
    LLVMValueRef count = LLVMGetOperand(shift, 1);
    if (type != LLVMInt64TypeInContext(LLVMGetValueContext(shift)) || LLVMIsAConstant(count) || !is_guarded(shift))
        return NULL;
    LLVMSetOperand(shift, 1, LLVMBuildAnd(b, count, LLVMConstInt(type, WIDTH - 1, false), ""));
    return NULL;
}
