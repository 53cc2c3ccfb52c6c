/* loops.c: which functions loop.
 *
 * In: a typed function.  Out: FuncInst.has_loop.  In reverse post-order, an edge that does not go forward closes a
 * loop, and every loop has one. */
#include "passes/private.h"

bool pass_loops(Program *program, FuncInst *inst) {
    (void)program;
    func_compute_order(inst->func);
    inst->has_loop = false;
    for (size_t b = 0; b < inst->func->blocks.len; b++) {
        const Block *block = inst->func->blocks.data[b];
        for (uint32_t s = 0; s < block->succs.len; s++) inst->has_loop |= block->succs.data[s]->order <= block->order;
    }
    return true;
}
