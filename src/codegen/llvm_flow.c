/* llvm_flow.c: the emit helpers of llvm.h for control flow: blocks, branches, if / else / endif, counted loops. */
#include <string.h> /* strlen */

#include "codegen/llvm.h"

LLVMBasicBlockRef l_block(Lower *l, const char *name) {
    return LLVMAppendBasicBlockInContext(l->context, l->function, name);
}

/* How much likelier one way is than the other. */
enum { RARE = 1, USUAL = 1 << 20 };

static void set_weights(Lower *l, LLVMValueRef branch, int yes, int no) {
    LLVMMetadataRef node[] = {LLVMMDStringInContext2(l->context, "branch_weights", 14),
                              LLVMValueAsMetadata(l_i32(l, yes)), LLVMValueAsMetadata(l_i32(l, no))};
    l_set_metadata(l, branch, "prof", LLVMMDNodeInContext2(l->context, node, 3));
}

void l_branch_unlikely(Lower *l, LLVMValueRef c, LLVMBasicBlockRef yes, LLVMBasicBlockRef no) {
    set_weights(l, LLVMBuildCondBr(l->b, c, yes, no), RARE, USUAL);
}

void l_if(Lower *l, LIf *f, LLVMValueRef condition) {
    *f = (LIf){.yes = l_block(l, "yes"), .end = l_block(l, "end")};
    f->no = f->end;
    f->from_no = l_here(l);
    l_branch(l, condition, f->yes, f->end);
    l_enter(l, f->yes);
}

void l_if_likely(Lower *l, LIf *f, LLVMValueRef condition) {
    l_if(l, f, condition);
    set_weights(l, LLVMGetBasicBlockTerminator(f->from_no), USUAL, RARE);
}

void l_else(Lower *l, LIf *f) {
    f->from_yes = l_here(l);
    l_jump(l, f->end);
    f->no = l_block(l, "no");
    LLVMSetSuccessor(LLVMGetBasicBlockTerminator(f->from_no), 1, f->no);
    l_enter(l, f->no);
}

void l_endif(Lower *l, LIf *f) {
    if (f->no == f->end)
        f->from_yes = l_here(l);
    else
        f->from_no = l_here(l);
    l_jump(l, f->end);
    LLVMMoveBasicBlockAfter(f->end, l_here(l));
    l_enter(l, f->end);
}

LLVMValueRef l_if_phi(Lower *l, const LIf *f, LLVMValueRef yes, LLVMValueRef no) {
    LLVMValueRef phi = LLVMBuildPhi(l->b, LLVMTypeOf(yes), "");
    LLVMAddIncoming(phi, &yes, (LLVMBasicBlockRef *)&f->from_yes, 1);
    LLVMAddIncoming(phi, &no, (LLVMBasicBlockRef *)&f->from_no, 1);
    return phi;
}

LLVMValueRef l_for(Lower *l, LFor *f, LLVMValueRef count) {
    *f = (LFor){.head = l_block(l, "for"), .body = l_block(l, "body"), .end = l_block(l, "done"), .count = count};
    LLVMBasicBlockRef before = l_here(l);
    l_jump(l, f->head);
    l_enter(l, f->head);
    f->index = LLVMBuildPhi(l->b, l->i64, "");
    LLVMValueRef zero = l_i64(l, 0);
    LLVMAddIncoming(f->index, &zero, &before, 1);
    l_branch(l, l_icmp(l, LLVMIntSLT, f->index, count), f->body, f->end);
    l_enter(l, f->body);
    return f->index;
}

static LLVMMetadataRef property(Lower *l, const char *name, LLVMValueRef value) {
    LLVMMetadataRef items[] = {LLVMMDStringInContext2(l->context, name, strlen(name)),
                               value ? LLVMValueAsMetadata(value) : NULL};
    return LLVMMDNodeInContext2(l->context, items, value ? 2 : 1);
}

LLVMMetadataRef l_loop_remainder(Lower *l) {
    static const char followup[] = "llvm.loop.vectorize.followup_epilogue";
    LLVMMetadataRef items[] = {LLVMMDStringInContext2(l->context, followup, sizeof followup - 1),
                               property(l, "llvm.loop.isvectorized", l_i32(l, 1)),
                               property(l, "llvm.loop.unroll.runtime.disable", NULL)};
    return LLVMMDNodeInContext2(l->context, items, COUNT_OF(items));
}

/* The node of a loop is distinct by naming itself first: made with a stand-in that is then replaced. */
static void set_shape(Lower *l, LLVMValueRef latch, LoopShape shape) {
    LLVMMetadataRef items[3] = {LLVMTemporaryMDNode(l->context, NULL, 0)}, stand_in = items[0];
    size_t count = 1;
    if (shape != LOOP_FREE) items[count++] = property(l, "llvm.loop.unroll.disable", NULL);
    items[count++] = shape == LOOP_FREE     ? l_loop_remainder(l)
                     : shape == LOOP_SCALAR ? property(l, "llvm.loop.vectorize.enable", l_i1(l, false))
                                            : property(l, "llvm.loop.interleave.count", l_i32(l, 1));
    LLVMMetadataRef node = LLVMMDNodeInContext2(l->context, items, count);
    LLVMMetadataReplaceAllUsesWith(stand_in, node);
    l_set_metadata(l, latch, "llvm.loop", node);
}

void l_endfor(Lower *l, LFor *f) {
    LLVMValueRef next = LLVMBuildNSWAdd(l->b, f->index, l_i64(l, 1), "");
    LLVMBasicBlockRef from = l_here(l);
    l_jump(l, f->head);
    if (!l->target->convergent) /* lanes in lockstep are vectors of their own */
        set_shape(l, LLVMGetLastInstruction(from), f->shape);
    LLVMAddIncoming(f->index, &next, &from, 1);
    LLVMMoveBasicBlockAfter(f->end, from);
    l_enter(l, f->end);
}
