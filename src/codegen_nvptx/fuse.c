/* fuse.c: sums and shifts that instruction selection would take apart become one operation (rows of rewrites.c).
 *
 * In: a sum or a shift in an optimised module.  Out: the same value, computed by an instruction that selection leaves
 * alone:
 *   x * k + c  with constants k and c, of which one use is multiplied by a constant again (the step of a congruential
 *              generator whose state is read each time): selection multiplies it out to x * (k * k2) + (c * k2 + c2),
 *              which saves nothing where the sum is computed all the same, and gives every round that has become one
 *              with others two constants of its own, each a move.  It becomes mad.lo.
 *   2 * t + c  of floats that may be contracted (a complex square): selection writes the product t + t, and an
 *              addition follows.  It becomes fma(t, 2, c), which is exact up to the one rounding of the sum.
 *   (x & m) >> n of which x & m is used otherwise, too (a code that is masked in every round): selection takes the
 *              bits from x, which is two operations on the machine.  It becomes a shift.  */
#include <string.h> /* strlen */

#include "codegen_nvptx/nvptx.h"

static bool is_sum_of_product(LLVMValueRef value) {
    LLVMValueRef product = LLVMGetOperand(value, 0);
    return LLVMIsAConstantInt(LLVMGetOperand(value, 1)) && LLVMIsABinaryOperator(product) &&
           LLVMGetInstructionOpcode(product) == LLVMMul && LLVMIsAConstantInt(LLVMGetOperand(product, 1)) &&
           !LLVMGetNextUse(LLVMGetFirstUse(product));
}

/* Whether it is multiplied by a constant, and used otherwise. */
static bool is_multiplied_out(LLVMValueRef sum) {
    bool multiplied = false, other = false;
    for (LLVMUseRef use = LLVMGetFirstUse(sum); use; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        bool product = LLVMGetInstructionOpcode(user) == LLVMMul && LLVMIsAConstantInt(LLVMGetOperand(user, 1));
        multiplied |= product;
        other |= !product;
    }
    return multiplied && other;
}

LLVMValueRef nvptx_fuse_product(LLVMBuilderRef b, LLVMValueRef sum) {
    if (LLVMGetTypeKind(LLVMTypeOf(sum)) != LLVMIntegerTypeKind || !is_sum_of_product(sum) || !is_multiplied_out(sum))
        return NULL;
    unsigned bits = LLVMGetIntTypeWidth(LLVMTypeOf(sum));
    LLVMValueRef product = LLVMGetOperand(sum, 0);
    LLVMValueRef args[] = {LLVMGetOperand(product, 0), LLVMGetOperand(product, 1), LLVMGetOperand(sum, 1)};
    if (bits == 32) return nvptx_assembly(b, sum, "mad.lo.s32 $0, $1, $2, $3;", "=r,r,n,n", args, 3);
    return bits == 64 ? nvptx_assembly(b, sum, "mad.lo.s64 $0, $1, $2, $3;", "=l,l,n,n", args, 3) : NULL;
}

/* The half of a product by 2; NULL: it is none. */
static LLVMValueRef half_of(LLVMValueRef value) {
    if (!LLVMIsABinaryOperator(value) || LLVMGetNextUse(LLVMGetFirstUse(value))) return NULL;
    LLVMValueRef left = LLVMGetOperand(value, 0), right = LLVMGetOperand(value, 1);
    LLVMBool inexact;
    switch (LLVMGetInstructionOpcode(value)) {
    case LLVMFAdd: return left == right ? left : NULL;
    case LLVMFMul: return LLVMIsAConstantFP(right) && LLVMConstRealGetDouble(right, &inexact) == 2.0 ? left : NULL;
    default: return NULL;
    }
}

LLVMValueRef nvptx_fuse_double(LLVMBuilderRef b, LLVMValueRef sum) {
    LLVMTypeRef type = LLVMTypeOf(sum);
    if (!(LLVMGetFastMathFlags(sum) & LLVMFastMathAllowContract) || LLVMGetTypeKind(type) == LLVMVectorTypeKind)
        return NULL;
    for (unsigned i = 0; i < 2; i++) {
        LLVMValueRef half = half_of(LLVMGetOperand(sum, i));
        if (!half) continue;
        LLVMValueRef args[] = {half, LLVMConstReal(type, 2.0), LLVMGetOperand(sum, 1 - i)};
        unsigned id = LLVMLookupIntrinsicID("llvm.fma", strlen("llvm.fma"));
        LLVMModuleRef module = LLVMGetGlobalParent(LLVMGetBasicBlockParent(LLVMGetInstructionParent(sum)));
        LLVMValueRef fma = LLVMGetIntrinsicDeclaration(module, id, &type, 1);
        LLVMValueRef call = LLVMBuildCall2(b, LLVMGlobalGetValueType(fma), fma, args, 3, "");
        LLVMSetFastMathFlags(call, LLVMGetFastMathFlags(sum));
        return call;
    }
    return NULL;
}

LLVMValueRef nvptx_fuse_shift(LLVMBuilderRef b, LLVMValueRef shift) {
    LLVMValueRef masked = LLVMGetOperand(shift, 0), args[] = {masked, LLVMGetOperand(shift, 1)};
    if (LLVMGetTypeKind(LLVMTypeOf(shift)) != LLVMIntegerTypeKind || !LLVMIsAConstantInt(args[1])) return NULL;
    if (!LLVMIsABinaryOperator(masked) || LLVMGetInstructionOpcode(masked) != LLVMAnd ||
        !LLVMIsAConstantInt(LLVMGetOperand(masked, 1)) || !LLVMGetNextUse(LLVMGetFirstUse(masked)))
        return NULL;
    return LLVMGetIntTypeWidth(LLVMTypeOf(shift)) == 32
               ? nvptx_assembly(b, shift, "shr.u32 $0, $1, $2;", "=r,r,n", args, 2)
               : NULL;
}
