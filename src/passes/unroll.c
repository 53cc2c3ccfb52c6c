/* unroll.c: which loops of a kernel run several rounds at a time.
 *
 * In: a typed function for a GPU. Out: Block.unroll of blocks that end a round of an innermost loop whose loads
 * dominate (a sum over global memory): how many rounds become one. A GPU hides latency by loads in flight, and LLVM
 * does not unroll such loops for it: a block sum then reaches 2440 GB/s instead of 4266 on an H200. Loops that what is
 * loaded may end, and that write nothing, are left out: the loads of a search wait for those of the round before,
 * however many become one, while what moves items on as it goes finds some of what it has loaded in registers.  Loops
 * over ranges that load nothing and only compute, as the steps of an integration, run several rounds at a time, too,
 * and those that compute more than they load two.
 * Accesses of these loops that not every round makes, and whose place moves on with the rounds, are VF_SKIPPED.
 *
 * A loop is an edge against reverse post-order and what reaches it without passing the header.  Short loops over
 * ranges of constants are left out: LLVM unrolls those as a whole if that pays. */
#include "passes/loop_edges.h"
#include "passes/private.h"

enum {
    MAX_SIZE = 48,
    MAX_COMPUTING = 96,
    FEW_FLOPS = 2,
    MAX_LOADS = 8,
    FLOPS_PER_LOAD = 6,
    FEW_LOADS = 3,
    FEW_ROUNDS = 2,
    ROUNDS = 4,
    MORE_ROUNDS = 8,
    SHORT_ROUNDS = 64
};
enum { DIVISION = 4, MATH_CALL = 8 }; /* operations that they stand for */

typedef struct Body {
    unsigned size, loads, stores, flops;
    bool other; /* calls of what may do anything: not the loop this is about */
} Body;

/* The range whose iterator the loop's condition asks; NULL: none. */
static const Value *range_of(const Block *header) {
    const Value *condition = header->last->op == OP_BRANCH ? header->last->args[0] : NULL;
    if (!condition || condition->op != OP_ITER_MORE || condition->args[0]->op != OP_ITER) return NULL;
    const Value *range = condition->args[0]->args[0];
    return value_calls(range, FUNC_RANGE) && range->nargs == 3 ? range : NULL;
}

/* Of a length that LLVM knows: it lays out such loops as a whole if that pays. */
static bool is_short(const Block *header) {
    const Value *range = range_of(header);
    if (!range) return false;
    for (uint32_t i = 0; i < range->nargs; i++)
        if (!range->args[i]->konst || !type_is_integer(range->args[i]->konst->type)) return false;
    int64_t start = range->args[0]->konst->i, stop = range->args[1]->konst->i, step = range->args[2]->konst->i, end;
    return step <= 0 || __builtin_mul_overflow(step, (int64_t)SHORT_ROUNDS, &end) ||
           __builtin_add_overflow(start, end, &end) || stop <= end;
}

/* The driver's compiler unrolls again what counts by a constant.  Rounds by another step (of a grid) are few, and those
 * that are left over take longer than is won where they also write. */
static uint8_t rounds_of(const Block *header, const Body *body) {
    const Value *range = range_of(header);
    if (!range || range->args[2]->konst) return ROUNDS;
    return body->stores ? 0 : body->loads <= FEW_LOADS ? MORE_ROUNDS : ROUNDS;
}

static bool exceeds(const Body *body, unsigned times) {
    return body->size > times * MAX_SIZE || body->flops > times * FLOPS_PER_LOAD * body->loads;
}

/* A loop over a range that loads, but does more by far with it: of two rounds that become one the count and the branch
 * of the second are saved. */
static bool loads_and_computes(const Block *header, const Body *body) {
    return exceeds(body, 1) && !exceeds(body, 2) && !body->stores && range_of(header);
}

/* A loop over a range that computes numbers from those of the round before: what the rounds have in common, the count
 * and the branch, is saved, and a round may begin before all of the last one's numbers are there. */
static bool only_computes(const Block *header, const Body *body) {
    return range_of(header) && !body->other && !body->loads && !body->stores && body->flops >= FEW_FLOPS &&
           body->size <= MAX_COMPUTING;
}

/* Of a thread's own, which registers hold. */
static bool is_local(const Value *array) { return value_calls(array, FUNC_CUDA_LOCAL_ARRAY); }

static void weigh_arithmetic(const Value *value, Body *body) {
    char kind = type_scalar_kind(value->type);
    unsigned parts = kind == 'c' ? 2 : 1;
    if (kind != 'f' && kind != 'c') return;
    body->flops += value->op == OP_MUL ? parts * parts + parts - 1 : parts;
    body->size += value->op == OP_TRUEDIV ? DIVISION : 0;
    body->other |= value->op != OP_ADD && value->op != OP_SUB && value->op != OP_MUL && value->op != OP_TRUEDIV;
}

/* A function of rtlib that gives a float: it ends, and is inlined if short. */
static bool is_rtlib_scalar(const Value *call) {
    return func_row(call->imm.func)->how == HOW_RTLIB && type_is_scalar(call->type) &&
           type_scalar_kind(call->type) == 'f' && !(func_effects(call->imm.func) & (EFFECT_WRITE | EFFECT_SYNC));
}

static void weigh(const Value *value, Body *body) {
    body->size += value->op != OP_CONST && value->op != OP_PHI && value->op != OP_TUPLE;
    if (op_is_binary(value->op)) {
        weigh_arithmetic(value, body);
        body->other |= value->op == OP_POW;
        return;
    }
    switch (value->op) {
    case OP_GETITEM:
        if (value->type->kind == TY_SCALAR && value->args[0]->type->kind == TY_ARRAY && !is_local(value->args[0]))
            body->loads += type_scalar_kind(value->type) == 'c' ? 2 : 1;
        return;
    case OP_ITER_TAKE:
        body->loads += value->args[0]->type->iter == ITER_ARRAY || value->args[0]->type->iter == ITER_FLAT;
        return;
    case OP_SETITEM:
        body->stores += !is_local(value->args[0]);
        body->other |= !type_is_scalar(value->args[2]->type);
        return;
    case OP_MAP:
    case OP_CALL_INST:
    case OP_NEW_ARRAY: body->other = true; return;
    case OP_CALL_FUNC:
        body->stores += (func_effects(value->imm.func) & EFFECT_WRITE) != 0; /* an atomic operation */
        if (func_row(value->imm.func)->how == HOW_EXTERN || is_rtlib_scalar(value))
            body->size += MATH_CALL;
        else
            body->other |= func_row(value->imm.func)->how != HOW_EMIT;
        return;
    default: return;
    }
}

/* Whether a value is computed from what the loop that `header` marks loads, in this round or one before.  seen: by
 * Value.id. */
static bool is_loaded(const Value *value, const Block *header, bool *seen) {
    if (value->block->mark != header || seen[value->id]) return false;
    seen[value->id] = true;
    if (value->op == OP_GETITEM && value->args[0]->type->kind == TY_ARRAY && !is_local(value->args[0])) return true;
    bool any = false;
    for (uint32_t i = 0; i < value->nargs && !any; i++) any = is_loaded(value->args[i], header, seen);
    return any;
}

/* Whether the loop that `header` marks ends where a loaded value says so. */
static bool loads_end_it(Arena *arena, const Func *func, const Block *header) {
    bool *seen = ARENA_ARRAY(arena, bool, func->next_value), any = false;
    for (size_t b = 0; b < func->blocks.len && !any; b++) {
        const Block *block = func->blocks.data[b];
        if (block->mark != header || block->last->op != OP_BRANCH) continue;
        for (size_t s = 0; s < block->succs.len && !any; s++)
            any = block->succs.data[s]->mark != header && is_loaded(block->last->args[0], header, seen);
    }
    return any;
}

/* Whether an index goes on from round to round by a step: an item of the loop's range, or a sum or product with one.
 * `header` marks the blocks of the loop. */
static bool moves(const Value *index, const Block *header, unsigned depth) {
    enum { MAX_DEPTH = 6 };
    if (index->block->mark != header || depth > MAX_DEPTH) return false;
    if (index->op == OP_ITER_TAKE || (index->op == OP_PHI && index->block == header)) return true;
    if (index->op != OP_ADD && index->op != OP_SUB && index->op != OP_MUL && index->op != OP_CAST &&
        index->op != OP_TUPLE)
        return false;
    bool any = false;
    for (uint32_t i = 0; i < index->nargs && !any; i++) any = moves(index->args[i], header, depth + 1);
    return any;
}

/* always: by Block.id, all false. */
static void note_skipped(Func *func, const Block *header, const Block *latch, bool *always) {
    always[header->id] = true;
    for (const Block *above = latch; above != header; above = above->idom) always[above->id] = true;
    for (size_t b = 0; b < func->blocks.len; b++) {
        Block *block = func->blocks.data[b];
        if (block->mark != header || always[block->id]) continue;
        for (Value *value = block->first; value; value = value->next)
            if ((value->op == OP_GETITEM || value->op == OP_SETITEM) && moves(value->args[1], header, 0))
                value->flags |= VF_SKIPPED;
    }
    always[header->id] = false;
    for (const Block *above = latch; above != header; above = above->idom) always[above->id] = false;
}

bool pass_unroll(Program *program, FuncInst *inst) {
    Func *func = inst->func;
    func_compute_order(func);
    func_compute_dominators(func);
    BackEdges edges = loop_back_edges(program->arena, func);
    bool *always = ARENA_ARRAY(program->arena, bool, func->next_block);
    for (size_t e = 0; e < edges.len; e++) {
        Block *header = edges.data[e].header;
        Body body = {0};
        bool innermost = !edges.data[e].latch->unroll && !is_short(header) &&
                         loop_mark_blocks(program->arena, func, edges.data[e]);
        for (size_t k = 0; innermost && k < edges.len; k++) innermost = k == e || edges.data[k].latch->mark != header;
        for (size_t b = 0; innermost && b < func->blocks.len; b++)
            for (const Value *value = func->blocks.data[b]->first; func->blocks.data[b]->mark == header && value;
                 value = value->next)
                weigh(value, &body);
        if (innermost && only_computes(header, &body)) {
            edges.data[e].latch->unroll = ROUNDS;
            continue;
        }
        if (!innermost || body.other || !body.loads || body.loads > MAX_LOADS ||
            (!body.stores && loads_end_it(program->arena, func, header)))
            continue;
        bool computes = loads_and_computes(header, &body);
        if (exceeds(&body, 1) && !computes) continue;
        edges.data[e].latch->unroll = computes ? FEW_ROUNDS : rounds_of(header, &body);
        note_skipped(func, header, edges.data[e].latch, always);
    }
    return true;
}
