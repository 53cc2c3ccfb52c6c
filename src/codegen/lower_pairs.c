/* lower_pairs.c: sums of floats in pairs, as NumPy adds what lies together.
 *
 * More than REDUCE_BLOCK terms are the sum of two halves, the first of which is a multiple of eight; each half is
 * summed the same way.  Pieces come in order, so that the tree is walked with a stack of what waits for its right half:
 * as deep as the logarithm of the number of terms. */
#include "codegen/lower_reduce.h"

enum { MAX_DEPTH = 64 };

static LLVMValueRef load(Lower *l, LLVMValueRef from) { return l_raw_load(l, l->i64, from, 8); }
static void store(Lower *l, LLVMValueRef value, LLVMValueRef to) { l_raw_store(l, value, to, 8); }

static LLVMValueRef top(Lower *l, LLVMTypeRef type, LLVMValueRef stack, LLVMValueRef depth) {
    return l_index(l, type, stack, l_nswsub(l, depth, l_i64(l, 1)));
}

/* To the first piece of so many terms. */
static void descend(Lower *l, const Pairs *pairs, LLVMValueRef count) {
    LLVMBasicBlockRef head = l_block(l, "halve"), half = l_block(l, "half"), end = l_block(l, "piece");
    store(l, count, pairs->need);
    l_jump(l, head);
    l_enter(l, head);
    LLVMValueRef size = load(l, pairs->need);
    l_branch(l, l_icmp(l, LLVMIntSGT, size, l_i64(l, REDUCE_BLOCK)), half, end);
    l_enter(l, half);
    LLVMValueRef left = LLVMBuildLShr(l->b, size, l_i64(l, 1), ""), depth = load(l, pairs->depth);
    left = l_and(l, left, l_i64(l, -8));
    store(l, l_nswsub(l, size, left), l_index(l, l->i64, pairs->rights, depth));
    store(l, l_nswadd(l, depth, l_i64(l, 1)), pairs->depth);
    store(l, left, pairs->need);
    l_jump(l, head);
    l_enter(l, end);
}

void pairs_open(Lower *l, Pairs *pairs, LLVMTypeRef type, LLVMValueRef count) {
    uint64_t bytes = LLVMABISizeOfType(l->m->layout, type);
    *pairs = (Pairs){.type = type,
                     .need = l_take_scratch(l, l->i64, 0, "need"),
                     .depth = l_take_scratch(l, l->i64, 0, "depth"),
                     .rights = l_take_scratch(l, NULL, 8 * MAX_DEPTH, "rights"),
                     .sums = l_take_scratch(l, NULL, bytes * MAX_DEPTH, "sums")};
    store(l, l_i64(l, 0), pairs->depth);
    descend(l, pairs, count);
}

void pairs_close(Lower *l, const Pairs *pairs) {
    LLVMValueRef memories[] = {pairs->need, pairs->depth, pairs->rights, pairs->sums};
    for (size_t i = 0; i < COUNT_OF(memories); i++) l_give_scratch(l, memories[i]);
}

void pairs_add(Lower *l, const Pairs *pairs, LLVMValueRef sum, LLVMValueRef total) {
    unsigned align = (unsigned)LLVMABIAlignmentOfType(l->m->layout, pairs->type);
    LLVMBasicBlockRef head = l_block(l, "ascend"), above = l_block(l, "above"), join = l_block(l, "join"),
                      right = l_block(l, "right"), root = l_block(l, "root"), end = l_block(l, "added");
    l_raw_store(l, sum, total, align);
    l_jump(l, head);
    l_enter(l, head);
    LLVMValueRef depth = load(l, pairs->depth), here = l_raw_load(l, pairs->type, total, align);
    l_branch(l, l_icmp(l, LLVMIntEQ, depth, l_i64(l, 0)), root, above);
    l_enter(l, above);
    LLVMValueRef waiting = top(l, l->i64, pairs->rights, depth), left = top(l, pairs->type, pairs->sums, depth);
    LLVMValueRef terms = load(l, waiting);
    l_branch(l, l_icmp(l, LLVMIntEQ, terms, l_i64(l, 0)), join, right);
    l_enter(l, join);
    l_raw_store(l, l_fadd(l, l_raw_load(l, pairs->type, left, align), here), total, align);
    store(l, l_nswsub(l, depth, l_i64(l, 1)), pairs->depth);
    l_jump(l, head);
    l_enter(l, right);
    l_raw_store(l, here, left, align);
    store(l, l_i64(l, 0), waiting);
    descend(l, pairs, terms);
    l_jump(l, end);
    l_enter(l, root);
    store(l, l_i64(l, 0), pairs->need);
    l_jump(l, end);
    l_enter(l, end);
}
