/* barriers.c: kernels with barriers as loops over their threads, on the host device.
 *
 * In: the typed functions of a kernel.  Out: if all threads of a block come to the same barriers whatever they compute,
 * the kernel has become a function that runs once for a block (FuncInst.by_regions).  What its threads do between two
 * barriers is a function of its own, a region, which THREADS runs for one thread after the other: a loop that needs no
 * stacks and that code generation makes vectors of.  Else nothing has changed, and the threads are fibers.
 *
 * Algorithm (loop fission around barriers: Stratton, Stone, Hwu: MCUDA, 2008; Karrenberg, Hack: Improving Performance
 * of OpenCL on CPUs, 2012; Jaaskelainen et al.: pocl, 2015).  The kernel is cut behind each barrier.  Its threads are
 * together at the entry, at barriers, and where the ways from a branch meet again; they go apart at a branch between
 * which and that place no barrier lies.  Any other branch parts ways to barriers, and must go by what is the same for
 * all threads: then the block's function has that branch, loop or iterator itself.  A value that differs and is used in
 * several regions is kept in a CONTEXT, unless it is as cheap to find again (a thread's place); a phi between regions
 * is a context that each way there writes to.
 *
 * barrier_shape.c finds the regions, barrier_values.c what is the same for all threads; barrier_regions.c and
 * barrier_driver.c make the functions, barrier_block.c guesses for which size of block. */
#include "passes/barriers.h"

/* ---- what cannot be taken apart ---- */

static bool is_barrier(const Value *value) { return value_calls(value, FUNC_CUDA_SYNCTHREADS); }

static bool is_fence(const Value *value) {
    return value_calls(value, FUNC_CUDA_THREADFENCE) || value_calls(value, FUNC_CUDA_THREADFENCE_BLOCK) ||
           value_calls(value, FUNC_CUDA_THREADFENCE_SYSTEM);
}

/* Threads wait for each other otherwise than at a barrier of the kernel itself. */
static bool waits(const Value *value, bool in_kernel) {
    if (value->op != OP_CALL_FUNC || !(func_effects(value->imm.func) & EFFECT_SYNC) || is_fence(value)) return false;
    return !in_kernel || !is_barrier(value);
}

static bool can_be_split(const Program *program, size_t *barriers) {
    *barriers = 0;
    for (size_t i = 0; i < program->count; i++) {
        const Func *func = program->insts[i]->func;
        for (size_t b = 0; b < func->blocks.len; b++) {
            if (i == 0 && func->blocks.data[b]->unwinds) return false;
            for (const Value *value = func->blocks.data[b]->first; value; value = value->next) {
                if (waits(value, i == 0) || value_callee(value) == program->insts[0]) return false;
                *barriers += is_barrier(value);
            }
        }
    }
    return *barriers > 0 && !program->watched;
}

/* ---- cutting ---- */

static void move_edges(Block *from, Block *to) {
    to->succs = from->succs;
    from->succs = (BlockList){0};
    to->unroll = from->unroll, to->unroll_whole = from->unroll_whole;
    from->unroll = 0, from->unroll_whole = false;
    for (size_t i = 0; i < to->succs.len; i++) {
        Block *succ = to->succs.data[i];
        for (size_t k = 0; k < succ->preds.len; k++)
            if (succ->preds.data[k] == from) succ->preds.data[k] = to;
    }
}

/* What stands behind a barrier becomes a block of its own. */
static void cut_behind(Func *func, Value *barrier) {
    Block *block = barrier->block, *rest = block_new(func);
    for (Value *value = barrier->next, *next; value; value = next) {
        next = value->next;
        value_remove(value);
        block_put_last(rest, value);
    }
    move_edges(block, rest);
    block_jump(func, block, barrier->span, rest);
}

/* A block on the edge number `which` of `from`, which has several, to one that others lead to as well. */
static void cut_edge(Func *func, Block *from, size_t which) {
    Block *to = from->succs.data[which], *between = block_new(func);
    size_t k = 0;
    while (to->preds.data[k] != from) k++;
    Value *jump = block_append(func, between, OP_JUMP, from->last->span, NULL, 0);
    jump->type = NULL;
    from->succs.data[which] = between;
    to->preds.data[k] = between;
    vec_push(func->arena, &between->preds, from);
    vec_push(func->arena, &between->succs, to);
    between->unroll = from->unroll, between->unroll_whole = from->unroll_whole;
    from->unroll = 0, from->unroll_whole = false;
}

static void cut(Func *func) {
    for (size_t b = 0; b < func->blocks.len; b++)
        for (Value *value = func->blocks.data[b]->first; value; value = value->next)
            if (is_barrier(value)) {
                cut_behind(func, value);
                break; /* what follows comes in its turn: blocks are added behind */
            }
    for (size_t b = 0, count = func->blocks.len; b < count; b++) {
        Block *block = func->blocks.data[b];
        for (size_t s = 0; block->succs.len > 1 && s < block->succs.len; s++)
            if (block->succs.data[s]->preds.len > 1) cut_edge(func, block, s);
    }
    func_compute_order(func);
    func_renumber(func);
}

/* ---- the pass ---- */

static bool find_all(Split *split) {
    TRY(barriers_find_shape(split));
    return barriers_find_varying(split);
}

/* Who guards a kernel by a return statement (`if i >= n: return`) parts the threads before all barriers, but none of
 * those that leave comes to one. */
static bool find_any(Split *split) {
    if (find_all(split)) return true;
    split->leaving = true;
    return find_all(split);
}

/* As far as loops can be gone through together; forced: there are such loops. */
static bool force(Split *split, bool *forced) {
    *forced = false;
    while (barriers_force_loops(split)) {
        *forced = true;
        TRY(find_all(split));
    }
    return true;
}

/* The shape without forced loops. */
static bool find_unforced(Split *split) {
    for (size_t b = 0; b < split->nblocks; b++) split->places[b].forced = false;
    for (uint32_t i = 0; i < split->func->next_value; i++) split->kept[i] = false;
    return find_all(split);
}

/* Loops forced apart may be too many segments, or need what cannot be kept: then they stay within their segments. */
static bool take_apart(Split *split) {
    bool forced;
    TRY(find_any(split));
    if (force(split, &forced) && barriers_make_regions(split)) return true;
    return forced && find_unforced(split) && barriers_make_regions(split);
}

bool pass_barriers(Program *program) {
    size_t barriers;
    if (!can_be_split(program, &barriers)) return true;
    FuncInst *inst = program->insts[0];
    insts_find_calls(program->arena, program->insts, program->count);
    effects_summarise(program->arena, program->insts, program->count, program->index_raises);
    Func *func = func_clone(program->arena, inst->func);
    cut(func);
    Split split = {.program = program,
                   .inst = inst,
                   .func = func,
                   .arena = program->arena,
                   .nblocks = func->blocks.len,
                   .places = ARENA_ARRAY(program->arena, Place, func->blocks.len),
                   .varies = ARENA_ARRAY(program->arena, bool, func->next_value),
                   .local = ARENA_ARRAY(program->arena, bool, func->next_value),
                   .kept = ARENA_ARRAY(program->arena, bool, func->next_value)};
    for (size_t b = 0; b < split.nblocks; b++) {
        const Value *last = func->blocks.data[b]->last;
        split.places[b].barrier = last->prev && is_barrier(last->prev);
    }
    if (take_apart(&split)) barriers_find_block(&split);
    return true;
}
