/* join_blocks.c: whether the threads of neighbouring blocks along x may run as one loop.
 *
 * In: the typed functions of a kernel.  Out: Module.joins_blocks, for targets that run blocks as loops.
 *
 * They may where no function can tell which block it is in, but only its place in the grid: cuda.grid(), or
 * blockIdx.x * blockDim.x + threadIdx.x written out, and no other use of the two.  A loop over a thousand threads costs
 * its beginning and its end once, where blocks of 32 cost them 32 times.
 *
 * Nothing may be shared by the threads of a block either, and nothing raised: what is reported is the first thread in
 * the order of blocks, and a joined loop runs a row of several blocks before the second row of the first. */
#include "codegen/lower.h"

static bool is_call(const Value *value, FuncId func) { return value->op == OP_CALL_FUNC && value->imm.func == func; }

static bool is_block_start(const Value *value) {
    if (value->op != OP_MUL) return false;
    const Value *a = value->args[0], *b = value->args[1];
    return (is_call(a, FUNC_CUDA_BLOCKIDX_X) && is_call(b, FUNC_CUDA_BLOCKDIM_X)) ||
           (is_call(b, FUNC_CUDA_BLOCKIDX_X) && is_call(a, FUNC_CUDA_BLOCKDIM_X));
}

static bool is_place(const Value *value) {
    if (value->op != OP_ADD) return false;
    const Value *a = value->args[0], *b = value->args[1];
    return (is_block_start(a) && is_call(b, FUNC_CUDA_THREADIDX_X)) ||
           (is_block_start(b) && is_call(a, FUNC_CUDA_THREADIDX_X));
}

static bool tells_blocks_apart(const Value *value) {
    if (is_call(value, FUNC_CUDA_SHARED_ARRAY) || is_call(value, FUNC_CUDA_LANEID)) return true;
    for (uint32_t i = 0; i < value->nargs; i++) {
        const Value *arg = value->args[i];
        if (is_call(arg, FUNC_CUDA_THREADIDX_X) && !is_place(value)) return true;
        if (is_call(arg, FUNC_CUDA_BLOCKIDX_X) && !is_block_start(value)) return true;
        if (is_block_start(arg) && !is_place(value)) return true;
    }
    return false;
}

bool find_joined_blocks(const Lower *l) {
    if (l->m->options.entry != ENTRY_KERNEL) return false;
    for (size_t i = 0; i < l->m->ninsts; i++) {
        const FuncInst *inst = l->m->insts[i];
        if (l->s->functions[inst->id].may_raise) return false;
        for (size_t b = 0; b < inst->func->blocks.len; b++)
            for (const Value *value = inst->func->blocks.data[b]->first; value; value = value->next)
                if (tells_blocks_apart(value)) return false;
    }
    return true;
}
