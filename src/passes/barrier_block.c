/* barrier_block.c: the size of block that the code of a kernel with barriers is for.
 *
 * In: a kernel.  Out: Program.block, for the code of blocks: if blocks have this size, places of threads are inside
 * shared arrays that they index, which then need no checks, and loops over threads have a known length.  Code
 * generation puts it behind a comparison.  It is that of the launch that waits for the code (Program.launched).  Where
 * none does it is a guess of what the kernel is written for: an axis whose blocks are told apart by `blockIdx *
 * constant` has that many threads, else as many as keep `place + constant` inside all the shared arrays that are
 * indexed by it; an axis of which no thread asks its place has one. */
#include <string.h> /* memcpy */

#include "passes/barriers.h"

enum { AXES = 3, MAX_SEGMENTS_TWICE = 16 }; /* of more, the code is not made twice: that takes LLVM too long */

static const FuncId thread_index[AXES] = {FUNC_CUDA_THREADIDX_X, FUNC_CUDA_THREADIDX_Y, FUNC_CUDA_THREADIDX_Z};
static const FuncId block_index[AXES] = {FUNC_CUDA_BLOCKIDX_X, FUNC_CUDA_BLOCKIDX_Y, FUNC_CUDA_BLOCKIDX_Z};

typedef struct Guess {
    int64_t room[AXES], stride[AXES]; /* INT64_MAX, 0: none seen */
    bool asked[AXES];
} Guess;

/* place + constant, either of which may be missing. */
static bool is_near_place(const Value *value, unsigned axis, int64_t *beyond) {
    *beyond = 0;
    if (value->op == OP_ADD && value->args[1]->konst) {
        *beyond = value->args[1]->konst->i;
        value = value->args[0];
    }
    return value_calls(value, thread_index[axis]) && *beyond >= 0;
}

static void look_at_index(Guess *guess, const Value *index, int64_t extent) {
    int64_t beyond;
    for (unsigned axis = 0; axis < AXES; axis++)
        if (is_near_place(index, axis, &beyond) && extent - beyond < guess->room[axis])
            guess->room[axis] = extent - beyond;
}

static void look_at_access(Guess *guess, const Value *access) {
    const Value *array = access->args[0], *index = access->args[1];
    if (!value_calls(array, FUNC_CUDA_SHARED_ARRAY) || !type_takes_element(array->type, index->type)) return;
    const Const *shape = array->args[0]->konst;
    if (shape->type->kind != TY_TUPLE)
        look_at_index(guess, index, shape->i);
    else if (index->op == OP_TUPLE)
        for (uint32_t i = 0; i < index->nargs && i < shape->type->count; i++)
            look_at_index(guess, index->args[i], shape->items[i]->i);
}

static void look_at(Guess *guess, const Value *value) {
    if (value->op == OP_GETITEM || value->op == OP_SETITEM) look_at_access(guess, value);
    for (unsigned axis = 0; axis < AXES; axis++) {
        guess->asked[axis] |= value_calls(value, thread_index[axis]) || value_calls(value, FUNC_CUDA_LANEID) ||
                              value->op == OP_CALL_INST;
        if (value_calls(value, FUNC_CUDA_GRID))
            guess->asked[axis] |= axis < (value->type->kind == TY_TUPLE ? value->type->count : 1);
        if (value->op == OP_MUL && value_calls(value->args[0], block_index[axis]) && value->args[1]->konst)
            guess->stride[axis] = value->args[1]->konst->i;
    }
}

void barriers_find_block(const Split *split) {
    static const int64_t most[AXES] = {MAX_BLOCK_THREADS, MAX_BLOCK_THREADS, MAX_BLOCK_Z};
    Guess guess = {.room = {INT64_MAX, INT64_MAX, INT64_MAX}};
    bool any = false;
    if (split->segments.len > MAX_SEGMENTS_TWICE) return;
    if (split->program->launched[0]) {
        memcpy(split->program->block, split->program->launched, sizeof split->program->block);
        return;
    }
    for (size_t b = 0; b < split->nblocks; b++)
        for (const Value *value = split->func->blocks.data[b]->first; value; value = value->next)
            look_at(&guess, value);
    for (unsigned axis = 0; axis < AXES; axis++) {
        int64_t size = guess.stride[axis] > 0 ? guess.stride[axis] : guess.room[axis];
        bool known = guess.asked[axis] && size > 0 && size <= most[axis];
        split->program->block[axis] = known ? (uint32_t)size : !guess.asked[axis];
        any |= known;
    }
    for (unsigned axis = 0; axis < AXES && !any; axis++) split->program->block[axis] = 0;
}
