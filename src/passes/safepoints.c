/* safepoints.c: loops look, now and then, whether a signal wants to be handled.
 *
 * In: typed functions of the host.  Out: in every loop that may run for long a SAFEPOINT, which raises what the handler
 * of a signal raised, and SPEND, which says when it is time for it.  What is spent is an estimate of the work of a
 * round, in simple operations; the whole budget is worth some tens of microseconds where these run in vectors, a
 * millisecond or two where they are slow.  Loops whose rounds are known and few do not look: the loop around them pays
 * for their own work, and for a function's outermost loop who calls it.
 *
 * How one loop looks: safepoint_loops.c.  Short loops in loops get a twin besides: safepoint_twins.c. */
#include "passes/safepoints.h"

enum {
    MANY_LOOPS = 32,                        /* FuncInst.many_loops: that are not brief */
    FEW = SAFEPOINT_BUDGET / 64,            /* a loop in a loop that has constant length and less work does not look */
    CALL_COST = 32,                         /* of a library function, or of a function without loops */
    LOOP_CALL_COST = SAFEPOINT_BUDGET / 20, /* of a function with loops: it may have used nearly a budget of its own */
    REST_COST = SAFEPOINT_BUDGET / 50,      /* of waiting for other threads */
    VIEW_COST = 256,                        /* of an assignment to a part of an array */
    SHORT = 64,                             /* a round of which LLVM would make eight */
};

/* ---- finding loops ---- */

static Loop *loop_of_header(Loops *loops, Block *header) {
    Loop **loop = &loops->headed[header->order];
    if (!*loop) {
        *loop = ARENA_NEW(loops->program->arena, Loop);
        (*loop)->header = header;
        loops->count++;
    }
    return *loop;
}

/* Its blocks, from the ways back against the edges; those of loops inside are claimed again later. */
static void claim_blocks(Loops *loops, Loop *loop) {
    VEC(Block *) work = {0};
    uint32_t mark = loop->header->order + 1;
    loop->parent = loops->around[loop->header->order];
    loop->is_natural = true;
    loops->seen[loop->header->order] = mark;
    loops->around[loop->header->order] = loop;
    for (size_t i = 0; i < loop->latches.len; i++) vec_push(loops->program->arena, &work, loop->latches.data[i]);
    while (work.len) {
        Block *block = vec_pop(&work);
        if (loops->seen[block->order] == mark) continue;
        loops->seen[block->order] = mark;
        if (block->order < loop->header->order) {
            loop->is_natural = false;
            continue;
        }
        loops->around[block->order] = loop;
        for (size_t i = 0; i < block->preds.len; i++) vec_push(loops->program->arena, &work, block->preds.data[i]);
    }
}

static bool find_loops(Loops *loops) {
    Func *func = loops->func;
    bool any = false;
    for (size_t b = 0; b < func->blocks.len; b++) {
        Block *block = func->blocks.data[b];
        for (uint32_t s = 0; s < block->succs.len; s++) {
            if (block->succs.data[s]->order > block->order) continue;
            vec_push(loops->program->arena, &loop_of_header(loops, block->succs.data[s])->latches, block);
            any = true;
        }
    }
    for (size_t b = 0; any && b < func->blocks.len; b++)
        if (loops->headed[b]) claim_blocks(loops, loops->headed[b]);
    return any;
}

/* ---- what a round costs ---- */

uint64_t safepoint_cost(const Value *value) {
    switch (value->op) {
    case OP_CONST:
    case OP_PHI:
    case OP_UNDEF:
    case OP_PARAM: return 0;
    case OP_REDUCE:
    case OP_MAP: return VIEW_COST;
    case OP_THREADS: return LOOP_CALL_COST;
    case OP_IN:
    case OP_NOT_IN: return type_is_table(value->args[1]->type) ? CALL_COST : LOOP_CALL_COST;
    case OP_CALL_INST: return value->imm.inst->reaches_loop ? LOOP_CALL_COST : CALL_COST;
    case OP_CALL_FUNC: return func_effects(value->imm.func) & EFFECT_SYNC ? REST_COST : CALL_COST;
    case OP_SETITEM: {
        const Type *of = value->args[0]->type;
        return of->kind == TY_ARRAY && !type_takes_element(of, value->args[1]->type) ? VIEW_COST : 2;
    }
    default: return 1;
    }
}

/* Of the threads of a block, which go through a region one after the other. */
static uint64_t threads_cost(const Program *program, const Value *threads) {
    const FuncInst *region = threads->imm.inst;
    uint64_t count = 1, each = 1;
    for (size_t axis = 0; axis < COUNT_OF(program->block); axis++) count *= program->block[axis];
    if (!count || region->reaches_loop) return LOOP_CALL_COST;
    for (size_t b = 0; b < region->func->blocks.len; b++)
        for (const Value *value = region->func->blocks.data[b]->first; value; value = value->next)
            each += safepoint_cost(value);
    return count * each;
}

static bool known_int(const Value *value, int64_t *out) {
    if (!value->konst || !type_is_integer(value->konst->type) || value->konst->too_big) return false;
    *out = value->konst->i;
    return true;
}

/* The iterator that the header asks; NULL: it asks something else, or more. */
static Value *asked_iterator(const Block *header) {
    const Value *end = header->last, *more = end->op == OP_BRANCH ? end->args[0] : NULL;
    return more && more->op == OP_ITER_MORE && more->args[0]->op == OP_ITER ? more->args[0] : NULL;
}

static bool is_made_of_numbers(const Value *range) {
    return range->op == OP_CALL_FUNC && range->type->kind == TY_RANGE && range->nargs == 3;
}

Value *safepoint_range(const Block *header) {
    Value *iterator = asked_iterator(header);
    return iterator && is_made_of_numbers(iterator->args[0]) ? iterator : NULL;
}

/* How many rounds the iterator that the header asks has at most; UINT64_MAX: not known. */
static uint64_t most_rounds(const Loop *loop) {
    const Value *iterator = asked_iterator(loop->header);
    if (!iterator) return UINT64_MAX;
    const Value *over = iterator->args[0];
    int64_t start, stop, step;
    if (over->type->kind == TY_TUPLE) return over->type->count;
    if (!is_made_of_numbers(over)) return UINT64_MAX;
    if (!known_int(over->args[0], &start) || !known_int(over->args[1], &stop) || !known_int(over->args[2], &step))
        return UINT64_MAX;
    if (step == 0 || (step > 0) != (stop > start)) return 0;
    uint64_t distance = step > 0 ? (uint64_t)stop - (uint64_t)start : (uint64_t)start - (uint64_t)stop;
    uint64_t each = step > 0 ? (uint64_t)step : 0 - (uint64_t)step;
    return (distance - 1) / each + 1;
}

static void count_uses(Loops *loops) {
    for (size_t b = 0; b < loops->nblocks; b++)
        for (Value *value = loops->func->blocks.data[b]->first; value; value = value->next)
            for (uint32_t i = 0; i < value->nargs; i++) {
                uint32_t used = value->args[i]->id;
                loops->uses[used]++;
                loops->escapes[used] |= loops->around[value->args[i]->block->order] != loops->around[b];
                if (value->op != OP_ITER_MORE && value->op != OP_ITER_TAKE) continue;
                Ask *ask = ARENA_NEW(loops->program->arena, Ask);
                *ask = (Ask){value, loops->asks[used]};
                loops->asks[used] = ask;
            }
}

/* Of a loop that nothing runs again and again, short rounds beside each other are no quicker: the processor has many of
 * them under way anyway.  The code of eight would take as long to make as that of vectors. */
static void keep_rounds(const Loops *loops, Loop *loop) {
    if (!loops->runs_once || loop->parent || loop->inner || loop->cost > SHORT) return;
    for (size_t i = 0; i < loop->latches.len; i++)
        if (!loop->latches.data[i]->unroll) loop->latches.data[i]->unroll = UNROLL_NEVER;
}

/* A round whose work is loops over the threads of a block is itself no part of a vector, and long. */
static void keep_regions(Loop *loop) {
    for (size_t i = 0; i < loop->latches.len; i++)
        if (!loop->latches.data[i]->unroll) loop->latches.data[i]->unroll = 1;
}

/* A guard has seen that it ends soon. */
static bool is_brief(const Loop *loop) {
    const Value *iterator = asked_iterator(loop->header);
    return iterator && iterator->flags & VF_BRIEF && !loop->parent && !loop->inner;
}

static void add_safepoint(Loops *loops, Loop *loop) {
    Edges entries = {0}, backs = {0};
    keep_rounds(loops, loop);
    if (loop->payer) {
        loop->payer->konst = const_int(loops->func->arena, loops->func->types, loop_round_cost(loop));
        return;
    }
    loop_split_edges(loops, loop, &entries, &backs);
    loop_add_twin(loops, loop, &entries, &backs);
    loop_look(loops, loop, &entries, &backs);
}

/* Inner loops first, whose work is the outer ones'. */
static bool look_in_loops(Loops *loops) {
    bool any = false;
    for (size_t b = 0; b < loops->nblocks; b++) {
        const Block *block = loops->func->blocks.data[b];
        if (!loops->around[b]) continue;
        for (const Value *value = block->first; value; value = value->next)
            loops->around[b]->cost += value->op == OP_THREADS ? threads_cost(loops->program, value)
                                                              : safepoint_cost(value);
    }
    for (size_t b = loops->nblocks; b-- > 0;) {
        Loop *loop = loops->headed[b];
        if (!loop) continue;
        uint64_t rounds = most_rounds(loop);
        /* around regions of all threads a loop may look in each round, and none need be there twice for it */
        uint64_t limit = loop->parent && !loops->by_regions ? FEW : SAFEPOINT_BUDGET;
        bool few = loop->is_natural && rounds < limit && loop->cost < limit && rounds * loop->cost < limit;
        if (few && loop->parent) loop->parent->cost += rounds * loop->cost;
        if (loop->parent) loop->parent->inner |= !few || loop->inner;
        if (loops->by_regions) keep_regions(loop);
        if (few) continue;
        if (is_brief(loop)) {
            keep_rounds(loops, loop);
            loops->brief++;
            continue;
        }
        add_safepoint(loops, loop);
        any = true;
    }
    return any;
}

static bool in_function(Program *program, FuncInst *inst) {
    Func *func = inst->func;
    func_compute_order(func);
    size_t nblocks = func->blocks.len;
    Loops loops = {.program = program,
                   .func = func,
                   .nblocks = nblocks,
                   .by_regions = inst->by_regions,
                   .runs_once = program->called_once && inst == program->insts[0],
                   .headed = ARENA_ARRAY(program->arena, Loop *, nblocks),
                   .around = ARENA_ARRAY(program->arena, Loop *, nblocks),
                   .seen = ARENA_ARRAY(program->arena, uint32_t, nblocks)};
    if (!find_loops(&loops)) return false;
    loops.uses = ARENA_ARRAY(program->arena, uint32_t, func->next_value);
    loops.escapes = ARENA_ARRAY(program->arena, bool, func->next_value);
    loops.asks = ARENA_ARRAY(program->arena, Ask *, func->next_value);
    func_compute_dominators(func);
    count_uses(&loops);
    bool any = look_in_loops(&loops);
    inst->many_loops = loops.count - loops.brief > MANY_LOOPS;
    if (!any) return false;
    func_compute_order(func);
    func_renumber(func);
    return true;
}

static bool walks_arrays(const Func *func) {
    for (size_t b = 0; b < func->blocks.len; b++)
        for (const Value *value = func->blocks.data[b]->first; value; value = value->next)
            if (looks_walks_an_array(value)) return true;
    return false;
}

/* Of a loop between two blocks: whether its rounds walk through arrays, or leave what takes time to calls. */
static bool rounds_walk(const Func *func, uint32_t first, uint32_t last) {
    for (size_t b = 0; b < func->blocks.len; b++) {
        const Block *block = func->blocks.data[b];
        if (block->order < first || block->order > last) continue;
        for (const Value *value = block->first; value; value = value->next)
            if (looks_walks_an_array(value)) return true;
    }
    return false;
}

static bool has_rounds(const Func *func) {
    for (size_t b = 0; b < func->blocks.len; b++) {
        const Block *block = func->blocks.data[b];
        for (uint32_t s = 0; s < block->succs.len; s++) {
            uint32_t first = (uint32_t)block->succs.data[s]->order, last = (uint32_t)block->order;
            if (first <= last && !rounds_walk(func, first, last)) return true;
        }
    }
    return false;
}

static bool has_loop(const Func *func) {
    for (size_t b = 0; b < func->blocks.len; b++)
        for (uint32_t s = 0; s < func->blocks.data[b]->succs.len; s++)
            if (func->blocks.data[b]->succs.data[s]->order <= func->blocks.data[b]->order) return true;
    return walks_arrays(func);
}

/* FuncInst.reaches_loop: of functions with a loop or an operation on a whole array, of recursive ones, and of what
 * calls such. */
void safepoint_find_looping(Program *program) {
    VEC(FuncInst *) work = {0};
    for (size_t i = 0; i < program->count; i++) {
        FuncInst *inst = program->insts[i];
        func_compute_order(inst->func);
        inst->has_rounds = inst->recursive || has_rounds(inst->func);
        inst->reaches_loop = inst->recursive || has_loop(inst->func);
        if (inst->reaches_loop) vec_push(program->arena, &work, inst);
    }
    while (work.len) {
        const FuncInst *inst = vec_pop(&work);
        for (size_t i = 0; i < inst->callers.len; i++) {
            if (inst->callers.data[i]->reaches_loop) continue;
            inst->callers.data[i]->reaches_loop = true;
            vec_push(program->arena, &work, inst->callers.data[i]);
        }
    }
}

bool pass_safepoints(Program *program) {
    safepoint_find_looping(program);
    for (size_t i = 0; i < program->count && !program->uninterrupted; i++) in_function(program, program->insts[i]);
    effects_summarise(program->arena, program->insts, program->count, program->index_raises); /* a safepoint raises */
    return true;
}
