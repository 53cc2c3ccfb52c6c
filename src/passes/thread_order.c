/* thread_order.c: in which order the threads of a kernel run where they are a loop: along which axis the innermost loop
 * goes, and whether it may go on through the neighbouring blocks.
 *
 * In: the typed functions of a kernel, with their effects.  Out: Program.inner_axis and Program.joins_blocks, for
 * targets that run blocks as loops.
 *
 * Neighbouring blocks along an axis may run as one where no function can tell which of them it is in, but only its
 * place in the grid: cuda.grid(), or blockIdx.x * blockDim.x + threadIdx.x written out, and no other use of the two.  A
 * loop over a thousand threads costs its beginning and its end once, where blocks of 32 cost them 32 times.  Nothing
 * may be shared by the threads of a block either, and nothing raised: what is reported is the first thread in the order
 * of blocks, and a joined loop runs a row of several blocks before the second row of the first.
 *
 * The innermost axis is x, which neighbours in memory follow in a kernel written for a GPU, unless more accesses follow
 * y: `row, column = cuda.grid(2)` and a[row, column], as many write it, would step from row to row. */
#include "library/library.h" /* value_calls */
#include "passes/private.h"

enum {
    AXES = 2,      /* that may be innermost: x and y */
    MAX_DEPTH = 8, /* of an index: 2^8 sums at most */
};

static const FuncId thread_index[AXES] = {FUNC_CUDA_THREADIDX_X, FUNC_CUDA_THREADIDX_Y};
static const FuncId block_index[AXES] = {FUNC_CUDA_BLOCKIDX_X, FUNC_CUDA_BLOCKIDX_Y};
static const FuncId block_size[AXES] = {FUNC_CUDA_BLOCKDIM_X, FUNC_CUDA_BLOCKDIM_Y};

static bool is_block_start(const Value *value, unsigned axis) {
    if (value->op != OP_MUL) return false;
    const Value *a = value->args[0], *b = value->args[1];
    return (value_calls(a, block_index[axis]) && value_calls(b, block_size[axis])) ||
           (value_calls(b, block_index[axis]) && value_calls(a, block_size[axis]));
}

/* blockIdx * blockDim + threadIdx, in any order. */
static bool is_written_place(const Value *value, unsigned axis) {
    if (value->op != OP_ADD) return false;
    const Value *a = value->args[0], *b = value->args[1];
    return (is_block_start(a, axis) && value_calls(b, thread_index[axis])) ||
           (is_block_start(b, axis) && value_calls(a, thread_index[axis]));
}

/* ---- may blocks be joined ---- */

static bool tells_blocks_apart(const Value *value, unsigned axis) {
    if (value_calls(value, FUNC_CUDA_SHARED_ARRAY) || value_calls(value, FUNC_CUDA_LANEID) ||
        value_calls(value, FUNC_CUDA_LANEMASK_LT))
        return true;
    for (uint32_t i = 0; i < value->nargs; i++) {
        const Value *arg = value->args[i];
        if (value_calls(arg, thread_index[axis]) && !is_written_place(value, axis)) return true;
        if (value_calls(arg, block_index[axis]) && !is_block_start(value, axis)) return true;
        if (is_block_start(arg, axis) && !is_written_place(value, axis)) return true;
    }
    return false;
}

static bool can_join(const Program *program, unsigned axis) {
    if (program->insts[0]->by_regions) return false;
    for (size_t i = 0; i < program->count; i++) {
        const FuncInst *inst = program->insts[i];
        if (inst->effects & EFFECT_RAISE) return false;
        for (size_t b = 0; b < inst->func->blocks.len; b++)
            for (const Value *value = inst->func->blocks.data[b]->first; value; value = value->next)
                if (tells_blocks_apart(value, axis)) return false;
    }
    return true;
}

/* ---- which axis do accesses follow ---- */

/* Whether the value grows by one from a thread to its neighbour along the axis: as the place or beside what is taken to
 * be the same for both.  Sums share operands, so that a sum of sums has as many ways to its leaves as it likes: `depth`
 * of them are followed. */
static bool follows(const Value *value, unsigned axis, unsigned depth) {
    if (is_written_place(value, axis)) return true;
    if (depth == 0) return false;
    switch (value->op) {
    case OP_CALL_FUNC: return value_calls(value, FUNC_CUDA_GRID) && axis == 0 && value->type->kind == TY_SCALAR;
    case OP_EXTRACT: return value_calls(value->args[0], FUNC_CUDA_GRID) && value->imm.i == (int64_t)axis;
    case OP_ADD: return follows(value->args[0], axis, depth - 1) || follows(value->args[1], axis, depth - 1);
    case OP_SUB:
    case OP_CAST: return follows(value->args[0], axis, depth - 1);
    default: return false;
    }
}

/* The index along the axis whose neighbours are neighbours in memory; NULL: no access of an element by a tuple. */
static const Value *memory_index(const Value *value) {
    if (value->op != OP_GETITEM && value->op != OP_SETITEM) return NULL;
    const Value *array = value->args[0], *index = value->args[1];
    if (array->type->kind != TY_ARRAY || !type_takes_element(array->type, index->type)) return NULL;
    if (index->type->kind != TY_TUPLE) return index;
    if (index->op != OP_TUPLE || index->nargs == 0) return NULL;
    return index->args[array->type->layout == LAYOUT_F ? 0 : index->nargs - 1];
}

static bool more_follow_y(const Program *program) {
    size_t count[AXES] = {0};
    for (size_t i = 0; i < program->count; i++)
        for (size_t b = 0; b < program->insts[i]->func->blocks.len; b++)
            for (const Value *value = program->insts[i]->func->blocks.data[b]->first; value; value = value->next) {
                const Value *index = memory_index(value);
                for (unsigned axis = 0; index && axis < AXES; axis++) count[axis] += follows(index, axis, MAX_DEPTH);
            }
    return count[1] > count[0];
}

bool pass_thread_order(Program *program) {
    if (more_follow_y(program) && can_join(program, 1)) program->inner_axis = 1;
    program->joins_blocks = can_join(program, program->inner_axis);
    return true;
}
