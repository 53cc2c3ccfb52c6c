/* arms.c: of two doubles, one of which a single operation makes for nothing else, the other is there already: a branch
 * around the operation chooses, not a select.
 *
 * In: an optimised module.  Out: the same values.  LLVM makes a select of
 *
 *     z = c * z + z if even else c * r + 1        (the polynomials of sine and cosine)
 *
 * which computes both and then moves the two halves of one.  Of a branch around one operation ptxas makes a predicate,
 * and its result lies where the other one was: nothing is moved.
 *
 * A block is split in front of the select: what stands before becomes a block of its own, to which all that led to the
 * block leads now, so that the blocks after it are not concerned. */
#include <string.h> /* strncmp */

#include "codegen_nvptx/nvptx.h"

static bool is_used_once(LLVMValueRef value) {
    LLVMUseRef use = LLVMGetFirstUse(value);
    return use && !LLVMGetNextUse(use);
}

static bool is_sum_or_product(LLVMValueRef value) {
    size_t length;
    switch (LLVMGetInstructionOpcode(value)) {
    case LLVMFAdd:
    case LLVMFSub:
    case LLVMFMul: return true;
    case LLVMCall: {
        LLVMValueRef function = LLVMGetCalledValue(value);
        const char *name = LLVMIsAFunction(function) ? LLVMGetValueName2(function, &length) : "";
        return !strncmp(name, "llvm.nvvm.fma.", 14) || !strncmp(name, "llvm.fma.", 9) ||
               !strncmp(name, "llvm.fmuladd.", 13);
    }
    default: return false;
    }
}

static bool is_arm(LLVMValueRef value, LLVMValueRef select) {
    return LLVMIsAInstruction(value) && LLVMGetInstructionParent(value) == LLVMGetInstructionParent(select) &&
           is_used_once(value) && is_sum_or_product(value);
}

/* Which operand of the select is made for it alone; 0: none, or it is no choice of doubles that are computed: a
 * constant is moved to where the result lies in any case, and a branch would keep ptxas from predicates for what stands
 * around it. */
static unsigned arm_of(LLVMValueRef select) {
    if (LLVMGetInstructionOpcode(select) != LLVMSelect) return 0;
    if (LLVMGetTypeKind(LLVMTypeOf(select)) != LLVMDoubleTypeKind) return 0;
    for (unsigned i = 2; i > 0; i--)
        if (is_arm(LLVMGetOperand(select, i), select) && !LLVMIsConstant(LLVMGetOperand(select, 3 - i))) return i;
    return 0;
}

static void move_to_end(LLVMBuilderRef b, LLVMBasicBlockRef block, LLVMValueRef value) {
    LLVMPositionBuilderAtEnd(b, block);
    LLVMInstructionRemoveFromParent(value);
    LLVMInsertIntoBuilder(b, value);
}

/* The operation, after a product that it may be contracted with. */
static void move_arm(LLVMBuilderRef b, LLVMBasicBlockRef block, LLVMValueRef arm, LLVMValueRef select) {
    bool sum = LLVMGetInstructionOpcode(arm) == LLVMFAdd || LLVMGetInstructionOpcode(arm) == LLVMFSub;
    for (unsigned i = 0; sum && i < 2; i++) {
        LLVMValueRef product = LLVMGetOperand(arm, i);
        if (is_arm(product, select) && LLVMGetInstructionOpcode(product) == LLVMFMul) move_to_end(b, block, product);
    }
    move_to_end(b, block, arm);
}

/* What led to a block leads to another.  A switch may lead there more than once: uses are taken from the front, since
 * those that a step has moved stand among the uses of the other. */
static void lead_to(LLVMBasicBlockRef from, LLVMBasicBlockRef to) {
    for (LLVMUseRef use; (use = LLVMGetFirstUse(LLVMBasicBlockAsValue(from)));) {
        LLVMValueRef user = LLVMGetUser(use);
        for (unsigned i = 0; i < LLVMGetNumSuccessors(user); i++)
            if (LLVMGetSuccessor(user, i) == from) LLVMSetSuccessor(user, i, to);
    }
}

static LLVMValueRef branch_around(LLVMBuilderRef b, LLVMValueRef select, unsigned which) {
    LLVMContextRef context = LLVMGetValueContext(select);
    LLVMBasicBlockRef block = LLVMGetInstructionParent(select);
    LLVMBasicBlockRef head = LLVMInsertBasicBlockInContext(context, block, "");
    LLVMBasicBlockRef then = LLVMInsertBasicBlockInContext(context, block, "");
    LLVMValueRef arm = LLVMGetOperand(select, which), other = LLVMGetOperand(select, 3 - which);
    lead_to(block, head);
    move_arm(b, then, arm, select);
    LLVMBuildBr(b, block);
    while (LLVMGetFirstInstruction(block) != select) move_to_end(b, head, LLVMGetFirstInstruction(block));
    LLVMPositionBuilderAtEnd(b, head);
    LLVMBuildCondBr(b, LLVMGetOperand(select, 0), which == 1 ? then : block, which == 1 ? block : then);
    LLVMPositionBuilderBefore(b, select);
    LLVMValueRef phi = LLVMBuildPhi(b, LLVMTypeOf(select), ""), values[] = {other, arm};
    LLVMBasicBlockRef blocks[] = {head, then};
    LLVMAddIncoming(phi, values, blocks, 2);
    LLVMReplaceAllUsesWith(select, phi);
    LLVMInstructionEraseFromParent(select);
    return phi;
}

void nvptx_branch_around_arms(LLVMBuilderRef b, LLVMValueRef function) {
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block; block = LLVMGetNextBasicBlock(block))
        for (LLVMValueRef value = LLVMGetFirstInstruction(block); value; value = LLVMGetNextInstruction(value)) {
            unsigned which = arm_of(value);
            if (which) value = branch_around(b, value, which);
        }
}
