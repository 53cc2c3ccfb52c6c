/* grid.c: the barrier of a grid whose blocks all run at once.
 *
 * In: calls of syncgrid.  Out: calls of a function that the entry defines, and a word of the module's, krait_grid.
 * Each block adds to the word when its threads have come: the first block what makes, with the ones of the others, half
 * of the word's range, so that its highest bit changes with the last block to come, and the rest of it is 0 again for
 * the next time.  A thread of each block waits for that bit, or for an exception, which some thread may not have
 * survived.  The runtime lets no two launches of a kernel use the word at once (runtime/cuda/kernel.c). */
#include <stddef.h> /* offsetof */
#include <string.h> /* strlen */

#include "codegen_nvptx/nvptx.h"

static const char sync_name[] = "krait_grid_sync";

void nvptx_grid_barrier(Lower *l, const Value *at) {
    (void)at;
    l_call_named(l, sync_name, l->v, NULL, 0);
    l_attribute(l, LLVMGetNamedFunction(l->module, sync_name), -1, "convergent", 0);
    l->m->has_barriers = true;
}

static LLVMValueRef is_first(Lower *l, Special x) {
    LLVMValueRef any = l_or(l, l->target->special(l, x), l->target->special(l, x + 1));
    return l_icmp(l, LLVMIntEQ, l_or(l, any, l->target->special(l, x + 2)), l_i32(l, 0));
}

static LLVMValueRef volatile_load(Lower *l, LLVMValueRef pointer) {
    LLVMValueRef value = l_raw_load(l, l->i32, pointer, 4);
    LLVMSetVolatile(value, true);
    return value;
}

/* Comes, and waits for the others. */
static void meet(Lower *l, LLVMValueRef word) {
    LLVMValueRef blocks = l_mul(
        l, l->target->special(l, SPECIAL_GRID_DIM_X),
        l_mul(l, l->target->special(l, SPECIAL_GRID_DIM_Y), l->target->special(l, SPECIAL_GRID_DIM_Z)));
    LLVMValueRef rest = l_sub(l, l_i32(l, INT32_MIN), l_sub(l, blocks, l_i32(l, 1)));
    LLVMValueRef more = l_select(l, is_first(l, SPECIAL_BLOCK_X), rest, l_i32(l, 1));
    l->target->fence(l, FENCE_DEVICE);
    LLVMValueRef before = nvptx_atomic(l, LLVMAtomicRMWBinOpAdd, word, more);
    LLVMBasicBlockRef wait = l_block(l, "wait"), met = l_block(l, "met");
    l_jump(l, wait);
    l_enter(l, wait);
    LLVMValueRef changed = l_xor(l, before, volatile_load(l, word));
    LLVMValueRef over = l_icmp(l, LLVMIntSLT, changed, l_i32(l, 0));
    if (LLVMGetNamedGlobal(l->module, NOTES_SYMBOL)) {
        LLVMValueRef raised = l_offset(l, nvptx_notes(l), l_i64(l, offsetof(DeviceNotes, raised)));
        over = l_or(l, over, l_icmp(l, LLVMIntNE, volatile_load(l, raised), l_i32(l, 0)));
    }
    l_branch(l, over, met, wait);
    l_enter(l, met);
    l->target->fence(l, FENCE_DEVICE);
}

void nvptx_define_grid_barrier(Lower *l) {
    LLVMValueRef function = LLVMGetNamedFunction(l->module, sync_name);
    if (!function) return;
    LLVMSetLinkage(function, LLVMInternalLinkage);
    l_attribute(l, function, -1, "nounwind", 0);
    l_begin(l, function);
    LLVMValueRef word = nvptx_global(l, GRID_SYMBOL, sizeof(uint32_t));
    LIf first;
    l->target->barrier(l, NULL);
    l_if(l, &first, is_first(l, SPECIAL_THREAD_X));
    meet(l, word);
    l_endif(l, &first);
    l->target->barrier(l, NULL);
    LLVMBuildRetVoid(l->b);
    l_end(l);
}
