/* order.c: of two ways that meet again, the one of a few operations stands first.
 *
 * In: an optimised module.  Out: the same blocks in another order.  What a condition leads to comes, where the text
 * goes on behind it, under a predicate with what surrounds it, if it is short; what it has to go around by a branch is
 * code that what comes after cannot be moved over: the reciprocal of the quotient log(x) / y would wait for the
 * logarithm, which has a short way for zero, negative numbers and infinity, and a long one. */
#include "codegen_nvptx/nvptx.h"

enum { SHORT = 8 };

/* The block that the one that `from` alone leads to goes on to, if it computes no more than a few values; NULL: no. */
static LLVMBasicBlockRef short_way(LLVMBasicBlockRef block, LLVMValueRef from) {
    LLVMUseRef use = LLVMGetFirstUse(LLVMBasicBlockAsValue(block));
    unsigned length = 0;
    for (; use; use = LLVMGetNextUse(use))
        if (LLVMGetUser(use) != from && !LLVMIsAPHINode(LLVMGetUser(use))) return NULL;
    LLVMValueRef value = LLVMGetFirstInstruction(block), end = LLVMGetBasicBlockTerminator(block);
    if (LLVMGetInstructionOpcode(end) != LLVMBr || LLVMIsConditional(end)) return NULL;
    for (; value != end; value = LLVMGetNextInstruction(value))
        if (++length > SHORT || LLVMGetInstructionOpcode(value) == LLVMStore || LLVMIsALoadInst(value)) return NULL;
    return length ? LLVMGetSuccessor(end, 0) : NULL;
}

/* Whether it comes, by ways that do not divide, to that block. */
static bool leads_to(LLVMBasicBlockRef block, LLVMBasicBlockRef to) {
    LLVMValueRef end = LLVMGetBasicBlockTerminator(block);
    return LLVMGetInstructionOpcode(end) == LLVMBr && !LLVMIsConditional(end) && LLVMGetSuccessor(end, 0) == to;
}

/* The back end goes on, of two ways as likely, with the one that is taken where the condition is true. */
static void call_as_likely(LLVMBuilderRef b, LLVMValueRef branch, LLVMBasicBlockRef way, LLVMBasicBlockRef other) {
    static const char kind[] = "prof", name[] = "branch_weights";
    LLVMContextRef context = LLVMGetValueContext(branch);
    LLVMMetadataRef one = LLVMValueAsMetadata(LLVMConstInt(LLVMInt32TypeInContext(context), 1, false));
    LLVMMetadataRef items[] = {LLVMMDStringInContext2(context, name, sizeof name - 1), one, one};
    LLVMSetMetadata(branch, LLVMGetMDKindIDInContext(context, kind, sizeof kind - 1),
                    LLVMMetadataAsValue(context, LLVMMDNodeInContext2(context, items, 3)));
    if (LLVMGetSuccessor(branch, 0) == way) return;
    LLVMPositionBuilderBefore(b, branch);
    LLVMSetCondition(branch, LLVMBuildNot(b, LLVMGetCondition(branch), ""));
    LLVMSetSuccessor(branch, 0, way);
    LLVMSetSuccessor(branch, 1, other);
}

void nvptx_order_ways(LLVMBuilderRef b, LLVMValueRef function) {
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block; block = LLVMGetNextBasicBlock(block)) {
        LLVMValueRef end = LLVMGetBasicBlockTerminator(block);
        if (LLVMGetInstructionOpcode(end) != LLVMBr || !LLVMIsConditional(end)) continue;
        for (unsigned i = 0; i < 2; i++) {
            LLVMBasicBlockRef way = LLVMGetSuccessor(end, i), other = LLVMGetSuccessor(end, 1 - i);
            LLVMBasicBlockRef meet = short_way(way, end);
            if (!meet || !leads_to(other, meet) || short_way(other, end)) continue;
            LLVMMoveBasicBlockAfter(way, block);
            call_as_likely(b, end, way, other);
            break;
        }
    }
}
