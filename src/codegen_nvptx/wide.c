/* wide.c: a product of 64 bits whose factors have 32 is a wide product (a row of rewrites.c).
 *
 * In: a product in an optimised module, of what has no bit above the lower 32: an upper half, what a mask leaves, bits
 * of such among each other, as in the rounds of a generator that multiplies the two halves of its last product,
 *
 *     product = ((last >> 32) ^ key) * 0xcd9e8d57
 *
 * Out: mul.wide.u32 of the lower halves.  Instruction selection knows wide products of extensions alone, and takes an
 * extension off what needs none; ptxas then adds the product of the upper half, which is 0, to each.  Products of
 * extensions are left to selection, and to wide_text.c. */
#include "codegen_nvptx/nvptx.h"

enum { DEEPEST = 6 };

static bool is_low_number(LLVMValueRef value) {
    return LLVMIsAConstantInt(value) && LLVMConstIntGetZExtValue(value) <= UINT32_MAX;
}

/* Whether the upper 32 of a value's 64 bits are 0, as far as this many instructions before it say. */
static bool is_low(LLVMValueRef value, unsigned depth) {
    if (!LLVMIsAInstruction(value)) return is_low_number(value);
    if (!depth) return false;
    LLVMValueRef left = LLVMGetOperand(value, 0),
                 right = LLVMGetNumOperands(value) > 1 ? LLVMGetOperand(value, 1) : NULL;
    switch (LLVMGetInstructionOpcode(value)) {
    case LLVMZExt: return LLVMGetIntTypeWidth(LLVMTypeOf(left)) <= 32;
    case LLVMLShr: return LLVMIsAConstantInt(right) && LLVMConstIntGetZExtValue(right) >= 32;
    case LLVMAnd: return is_low(left, depth - 1) || is_low(right, depth - 1);
    case LLVMOr:
    case LLVMXor: return is_low(left, depth - 1) && is_low(right, depth - 1);
    default: return false;
    }
}

static bool is_selected_wide(LLVMValueRef factor) { return LLVMIsAZExtInst(factor) || LLVMIsAConstantInt(factor); }

LLVMValueRef nvptx_wide_product(LLVMBuilderRef b, LLVMValueRef product) {
    LLVMTypeRef type = LLVMTypeOf(product);
    LLVMValueRef args[] = {LLVMGetOperand(product, 0), LLVMGetOperand(product, 1)};
    if (LLVMGetTypeKind(type) != LLVMIntegerTypeKind || LLVMGetIntTypeWidth(type) != 64) return NULL;
    if (is_selected_wide(args[0]) && is_selected_wide(args[1])) return NULL;
    if (!is_low(args[0], DEEPEST) || !is_low(args[1], DEEPEST)) return NULL;
    const char *operands = LLVMIsAConstantInt(args[1]) ? "=l,r,n" : "=l,r,r";
    LLVMTypeRef half = LLVMInt32TypeInContext(LLVMGetTypeContext(type));
    for (unsigned i = 0; i < 2; i++) args[i] = LLVMBuildTrunc(b, args[i], half, "");
    return nvptx_assembly(b, product, "mul.wide.u32 $0, $1, $2;", operands, args, 2);
}
