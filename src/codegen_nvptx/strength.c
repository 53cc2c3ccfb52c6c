/* strength.c: what the reduction of strength takes for a multiple of a counter, and what not (Target.before_last).
 *
 * In: a module before its last passes, which begin with that reduction.  Out: the same values, written so that of
 *
 *   zext(i * k)  with a counter i, in 32 bits that hold it, where an element is read: it sees a multiple.  That 32 bits
 *                hold it is proved from the accesses behind, but only some thirty instructions far; of rows that a long
 *                round reads late the address would be computed anew in each, behind what loads could have overtaken.
 *                It becomes a product of 64 bits, of which nothing is to be proved.
 *   zext(i) * c  whose halves or bits are taken, as where a counter is hashed: it sees none.  A sum of 64 bits that
 *                goes through the loop is no less than the product, and its halves move in every round.  It becomes
 *                mul.wide.u32, which is left alone. */
#include "codegen_nvptx/nvptx.h"

static LLVMTypeRef wide_type(LLVMValueRef value) {
    return LLVMInt64TypeInContext(LLVMGetTypeContext(LLVMTypeOf(value)));
}

static bool is_operation(LLVMValueRef value, LLVMOpcode op) {
    return LLVMIsAInstruction(value) && LLVMGetInstructionOpcode(value) == op;
}

static bool is_counter(LLVMValueRef value) {
    return LLVMIsAPHINode(value) && LLVMTypeOf(value) == LLVMInt32TypeInContext(LLVMGetValueContext(value));
}

/* Whether a number of elements leads to one that is read: *(a + n), *(a + n + 3). */
static bool is_read_at(LLVMValueRef value, unsigned depth) {
    for (LLVMUseRef use = LLVMGetFirstUse(value); use && depth; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        if (LLVMIsALoadInst(user)) return true;
        if (LLVMIsAGetElementPtrInst(user) && is_read_at(user, depth - 1)) return true;
    }
    return false;
}

/* Whether a value stands too far behind the counters of its block for LLVM to look at what is between. */
static bool is_late(LLVMValueRef value) {
    enum { LOOKED_AT = 32 };
    unsigned before = 0;
    while (before <= LOOKED_AT && (value = LLVMGetPreviousInstruction(value)) != NULL) before++;
    return before > LOOKED_AT;
}

static LLVMValueRef wide_multiple(LLVMBuilderRef b, LLVMValueRef extension) {
    enum { STEPS = 3 };
    LLVMValueRef product = LLVMGetOperand(extension, 0);
    LLVMTypeRef type = wide_type(extension);
    if (LLVMTypeOf(extension) != type || !is_operation(product, LLVMMul) || !LLVMGetNUW(product)) return NULL;
    LLVMValueRef left = LLVMGetOperand(product, 0), right = LLVMGetOperand(product, 1);
    if ((!is_counter(left) && !is_counter(right)) || !is_late(product) || !is_read_at(extension, STEPS)) return NULL;
    return LLVMBuildNUWMul(b, LLVMBuildZExt(b, left, type, ""), LLVMBuildZExt(b, right, type, ""), "");
}

/* Whether bits of a value are taken, and nothing else. */
static bool is_taken_apart(LLVMValueRef value) {
    for (LLVMUseRef use = LLVMGetFirstUse(value); use; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        if (!is_operation(user, LLVMLShr) && !is_operation(user, LLVMTrunc) && !is_operation(user, LLVMAnd) &&
            !is_operation(user, LLVMXor))
            return false;
    }
    return true;
}

static LLVMValueRef hashed_counter(LLVMBuilderRef b, LLVMValueRef product) {
    LLVMValueRef extension = LLVMGetOperand(product, 0), factor = LLVMGetOperand(product, 1);
    if (LLVMTypeOf(product) != wide_type(product) || !is_operation(extension, LLVMZExt)) return NULL;
    LLVMValueRef args[] = {LLVMGetOperand(extension, 0), factor};
    if (!is_counter(args[0]) || !LLVMIsAConstantInt(factor) || LLVMConstIntGetZExtValue(factor) > UINT32_MAX ||
        !is_taken_apart(product))
        return NULL;
    args[1] = LLVMConstInt(LLVMTypeOf(args[0]), LLVMConstIntGetZExtValue(factor), false);
    return nvptx_assembly(b, product, "mul.wide.u32 $0, $1, $2;", "=l,r,n", args, 2);
}

void nvptx_ready_for_strength(Module *module) {
    nvptx_carry_loads(module);
    nvptx_align_rows(module);
    LLVMBuilderRef b = module->builder;
    for (LLVMValueRef f = LLVMGetFirstFunction(module->module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(f); block; block = LLVMGetNextBasicBlock(block))
            for (LLVMValueRef value = LLVMGetFirstInstruction(block), next; value; value = next) {
                next = LLVMGetNextInstruction(value);
                bool extends = is_operation(value, LLVMZExt);
                if (!extends && !is_operation(value, LLVMMul)) continue;
                LLVMPositionBuilderBefore(b, value);
                LLVMValueRef better = extends ? wide_multiple(b, value) : hashed_counter(b, value);
                if (!better) continue;
                LLVMReplaceAllUsesWith(value, better);
                LLVMInstructionEraseFromParent(value);
            }
}
