/* safepoints.c: loops look, now and then, whether a signal wants to be handled.
 *
 * In: typed functions of the host.  Out: in every loop that may run for long a SAFEPOINT, which raises what the handler
 * of a signal raised, and SPEND, which says when it is time for it.  What is spent is an estimate of the work of a
 * round, in simple operations; the whole budget is worth some tens of microseconds where these run in vectors, a
 * millisecond or two where they are slow.  Loops whose rounds are known and few do not look: the loop around them pays
 * for their own work, and for a function's outermost loop who calls it.
 *
 * The innermost loops are what LLVM makes fast, so they stay what they were, inside another loop that looks:
 *
 *   over a range       outer: from, stop = the next strip of the range, as long as a budget; spend
 *                      header: the loop over range(from, stop, step); at its end, unless the range is done, look, outer
 *   whose header only  header: leaves too when the budget is spent; then, unless the condition ends it, look, outer
 *   asks (while i < n)
 *   others, and those  latch: spend, on the one way back; where that says so: look, and outer (in loops around one that
 *   around them        looks: the header)
 *
 *       entries                       entries
 *          |                             |
 *     +-> header -> exit           +-> outer <------+
 *     |    |                       |     |          |
 *     |   body          becomes    |   header -> exit or look
 *     +----+                       |     |
 *                                  |   body -> header
 *                                  +---- look: safepoint
 */
#include "passes/private.h"

enum {
    FEW = SAFEPOINT_BUDGET / 64,            /* a loop in a loop that has constant length and less work does not look */
    CALL_COST = 32,                         /* of a library function, or of a function without loops */
    LOOP_CALL_COST = SAFEPOINT_BUDGET / 20, /* of a function with loops: it may have used nearly a budget of its own */
    REST_COST = SAFEPOINT_BUDGET / 50,      /* of waiting for other threads */
    MANY_LOOPS = 32,                        /* in a function with more no loop gets another around it: LLVM's time */
    VIEW_COST = 256,                        /* of an assignment to a part of an array */
};

typedef struct Loop {
    Block *header;
    struct Loop *parent;
    VEC(Block *) latches;
    uint64_t cost;   /* of a round, short loops inside included */
    bool inner;      /* a loop that looks is inside */
    bool is_natural; /* nothing enters but at the header */
} Loop;

typedef struct Ask { /* of an iterator: ITER_MORE or ITER_TAKE */
    Value *value;
    struct Ask *next;
} Ask;

typedef struct Loops {
    Program *program;
    Func *func;
    Loop **headed;  /* by Block.order: the loop with this header */
    Loop **around;  /* by Block.order: the innermost loop around the block */
    uint32_t *seen; /* by Block.order: 1 + the order of the last header that was asked for */
    uint32_t *uses; /* by Value.id: how many */
    Ask **asks;     /* by Value.id, of iterators */
    size_t count;   /* of loops */
} Loops;

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

static uint64_t value_cost(const Value *value) {
    switch (value->op) {
    case OP_CONST:
    case OP_PHI:
    case OP_UNDEF:
    case OP_PARAM: return 0;
    case OP_CALL_INST: return value->imm.inst->loops ? LOOP_CALL_COST : CALL_COST;
    case OP_CALL_FUNC: return func_effects(value->imm.func) & EFFECT_SYNC ? REST_COST : CALL_COST;
    case OP_SETITEM: {
        const Type *of = value->args[0]->type;
        return of->kind == TY_ARRAY && !type_takes_element(of, value->args[1]->type) ? VIEW_COST : 2;
    }
    default: return value->flags & VF_INPLACE && !type_is_scalar(value->type) ? VIEW_COST : 1;
    }
}

static bool known_int(const Value *value, int64_t *out) {
    if (!value->konst || !type_is_integer(value->konst->type) || value->konst->too_big) return false;
    *out = value->konst->i;
    return true;
}

/* How many rounds the iterator that the header asks has at most; UINT64_MAX: not known. */
static uint64_t most_rounds(const Loop *loop) {
    const Value *end = loop->header->last, *more = end->op == OP_BRANCH ? end->args[0] : NULL;
    if (!more || more->op != OP_ITER_MORE || more->args[0]->op != OP_ITER) return UINT64_MAX;
    const Value *over = more->args[0]->args[0];
    int64_t start, stop, step;
    if (over->type->kind == TY_TUPLE) return over->type->count;
    if (over->op != OP_CALL_FUNC || over->type->kind != TY_RANGE || over->nargs != 3) return UINT64_MAX;
    if (!known_int(over->args[0], &start) || !known_int(over->args[1], &stop) || !known_int(over->args[2], &step))
        return UINT64_MAX;
    if (step == 0 || (step > 0) != (stop > start)) return 0;
    uint64_t distance = step > 0 ? (uint64_t)stop - (uint64_t)start : (uint64_t)start - (uint64_t)stop;
    uint64_t each = step > 0 ? (uint64_t)step : 0 - (uint64_t)step;
    return (distance - 1) / each + 1;
}

static void count_uses(Loops *loops, size_t nblocks) {
    for (size_t b = 0; b < nblocks; b++)
        for (Value *value = loops->func->blocks.data[b]->first; value; value = value->next)
            for (uint32_t i = 0; i < value->nargs; i++) {
                uint32_t used = value->args[i]->id;
                loops->uses[used]++;
                if (value->op != OP_ITER_MORE && value->op != OP_ITER_TAKE) continue;
                Ask *ask = ARENA_NEW(loops->program->arena, Ask);
                *ask = (Ask){value, loops->asks[used]};
                loops->asks[used] = ask;
            }
}

/* ---- the change ---- */

typedef struct Edge {
    Block *from;
    Value **args; /* one per phi of the header */
} Edge;
typedef VEC(Edge) Edges;

/* A new block, which for other loops stands where the header does. */
static Block *place_block(Loops *loops, const Loop *loop) {
    Block *block = block_new(loops->func);
    block->order = loop->header->order;
    return block;
}

/* The edges to the header, apart: into the loop, and back. */
static void split_edges(Loops *loops, const Loop *loop, Edges *entries, Edges *backs) {
    const Block *header = loop->header;
    Arena *arena = loops->func->arena;
    for (size_t p = 0; p < header->preds.len; p++) {
        Edge edge = {header->preds.data[p], NULL};
        VEC(Value *) args = {0};
        for (Value *phi = header->first; phi && phi->op == OP_PHI; phi = phi->next)
            vec_push(arena, &args, phi->args[p]);
        edge.args = args.data;
        vec_push(arena, edge.from->order >= header->order ? backs : entries, edge);
    }
}

static Block *new_block(Loops *loops, const Loop *loop, const Edges *preds) {
    Block *block = place_block(loops, loop);
    for (size_t i = 0; i < preds->len; i++) {
        Block *from = preds->data[i].from;
        vec_push(loops->func->arena, &block->preds, from);
        for (uint32_t s = 0; s < from->succs.len; s++)
            if (from->succs.data[s] == loop->header) from->succs.data[s] = block;
    }
    return block;
}

/* In `block`, whose predecessors are those of the edges, what each phi of the header is there. */
static Value **merge_values(Loops *loops, const Loop *loop, Block *block, const Edges *edges) {
    VEC(Value *) merged = {0};
    size_t number = 0;
    for (const Value *phi = loop->header->first; phi && phi->op == OP_PHI; phi = phi->next, number++) {
        Value *value = edges->data[0].args[number];
        if (edges->len > 1) {
            VEC(Value *) args = {0};
            for (size_t i = 0; i < edges->len; i++) vec_push(loops->func->arena, &args, edges->data[i].args[number]);
            value = block_add_phi(loops->func, block, phi->span);
            value->type = phi->type;
            value->name = phi->name;
            phi_set_args(loops->func, value, args.data, args.len);
        }
        vec_push(loops->func->arena, &merged, value);
    }
    return merged.data;
}


static Value *append(Loops *loops, Block *block, Op op, Span span, const Type *type) {
    Value *value = block_append(loops->func, block, op, span, NULL, 0);
    value->type = type;
    return value;
}

/* The header's predecessors and operands from now on. */
static void set_header(Loops *loops, const Loop *loop, const Edges *edges) {
    Block *header = loop->header;
    header->preds.len = 0;
    for (size_t i = 0; i < edges->len; i++) vec_push(loops->func->arena, &header->preds, edges->data[i].from);
    size_t number = 0;
    for (Value *phi = header->first; phi && phi->op == OP_PHI; phi = phi->next, number++) {
        VEC(Value *) args = {0};
        for (size_t i = 0; i < edges->len; i++) vec_push(loops->func->arena, &args, edges->data[i].args[number]);
        phi_set_args(loops->func, phi, args.data, args.len);
    }
}

static Value *append_spend(Loops *loops, const Loop *loop, Block *block) {
    Value *spent = append(loops, block, OP_SPEND, loop->header->last->span,
                          type_scalar(loops->func->types, SCALAR_BOOL, true));
    spent->imm.i = (int64_t)(loop->cost < SAFEPOINT_BUDGET ? loop->cost + 1 : SAFEPOINT_BUDGET);
    return spent;
}

/* A block that looks; where it goes on is the caller's. */
static Block *new_look(Loops *loops, const Loop *loop) {
    const Type *none = type_simple(loops->func->types, TY_NONE);
    Block *look = place_block(loops, loop);
    append(loops, look, OP_SAFEPOINT, loop->header->last->span, none);
    append(loops, look, OP_JUMP, loop->header->last->span, none);
    return look;
}

/* `outer`, where the entries and `look` meet; the header's edge from there. */
static Edge add_outer(Loops *loops, const Loop *loop, Edges *entries, Block *look, Value **values) {
    Block *outer = new_block(loops, loop, entries);
    block_add_edge(loops->func, look, outer);
    vec_push(loops->func->arena, entries, (Edge){look, values});
    Value **merged = merge_values(loops, loop, outer, entries);
    append(loops, outer, OP_JUMP, loop->header->last->span, type_simple(loops->func->types, TY_NONE));
    vec_push(loops->func->arena, &outer->succs, loop->header);
    return (Edge){outer, merged};
}

/* ---- in strips ---- */

typedef struct Count { /* a loop over range(start, stop, step) */
    Value *more;       /* in the header, which has nothing else but phis */
    Value *start, *stop, *step;
} Count;

/* Nobody but this loop asks the iterator. */
static bool is_its_own(const Loops *loops, const Loop *loop, const Value *iterator) {
    uint32_t asks = 0;
    for (const Ask *ask = loops->asks[iterator->id]; ask; ask = ask->next, asks++)
        if (loops->around[ask->value->block->order] != loop) return false;
    return asks == loops->uses[iterator->id] && !(iterator->flags & VF_SHARED);
}

static bool counts(const Loops *loops, const Loop *loop, Count *count) {
    enum { LONGEST_STEP = 1 << 16 };
    Value *first = loop->header->first;
    while (first->op == OP_PHI) first = first->next;
    if (first->op != OP_ITER_MORE || first->next != loop->header->last || first->next->op != OP_BRANCH) return false;
    const Value *iterator = first->args[0], *range = iterator->op == OP_ITER ? iterator->args[0] : NULL;
    if (!range || !value_calls(range, FUNC_RANGE) || range->nargs != 3) return false;
    int64_t step;
    *count = (Count){first, range->args[0], range->args[1], range->args[2]};
    return known_int(count->step, &step) && step && step < LONGEST_STEP && step > -LONGEST_STEP &&
           is_its_own(loops, loop, iterator);
}

static Value *append_typed(Loops *loops, Block *block, Op op, const Value *like, Value *const *args, size_t nargs) {
    Value *value = block_append(loops->func, block, op, like->span, args, nargs);
    value->type = like->type;
    return value;
}

/* What asks the loop's own iterator asks `iterator` now. */
static void ask_instead(Loops *loops, const Value *before, Value *iterator) {
    for (Ask *ask = loops->asks[before->id]; ask; ask = ask->next) ask->value->args[0] = iterator;
}

static void add_strips(Loops *loops, Loop *loop, uint32_t exit, const Count *count, Edges *entries, Edges *backs) {
    Func *func = loops->func;
    Block *header = loop->header, *left = header->succs.data[exit];
    Block *outer = new_block(loops, loop, entries), *leave = place_block(loops, loop), *look = new_look(loops, loop);
    Value *iterator = count->more->args[0], *range = iterator->args[0];
    uint64_t cost = loop->cost < SAFEPOINT_BUDGET ? loop->cost + 1 : SAFEPOINT_BUDGET;

    block_add_edge(loops->func, look, outer);
    VEC(Value *) own = {0};
    for (Value *phi = header->first; phi->op == OP_PHI; phi = phi->next) vec_push(func->arena, &own, phi);
    vec_push(func->arena, entries, (Edge){look, own.data});
    Value **merged = merge_values(loops, loop, outer, entries);
    Value *at = block_add_phi(func, outer, range->span);
    at->type = count->start->type;
    Value *from = append_typed(loops, outer, OP_STRIP_START, at, (Value *[]){at, count->start, count->step}, 3);
    Value *stop = append_typed(loops, outer, OP_STRIP_STOP, at, (Value *[]){from, count->stop, count->step}, 3);
    stop->imm.i = (int64_t)(SAFEPOINT_BUDGET / cost);
    VEC(Value *) starts = {0};
    for (size_t i = 0; i + 1 < entries->len; i++) vec_push(func->arena, &starts, count->start);
    vec_push(func->arena, &starts, stop);
    phi_set_args(func, at, starts.data, starts.len);
    bool up = count->step->konst->i > 0;
    Value *ends[] = {up ? from : stop, up ? stop : from}, *spent = append_typed(loops, outer, OP_SPEND, at, ends, 2);
    spent->imm.i = (int64_t)cost;
    spent->type = type_scalar(func->types, SCALAR_BOOL, true);
    Value *part = append_typed(loops, outer, range->op, range, (Value *[]){from, stop, count->step}, 3);
    part->imm = range->imm;
    part->flags = range->flags;
    Value *inner = append_typed(loops, outer, OP_ITER, iterator, &part, 1);
    append(loops, outer, OP_JUMP, range->span, type_simple(func->types, TY_NONE));
    vec_push(func->arena, &outer->succs, header);
    ask_instead(loops, iterator, inner);

    Value *done = block_append(func, leave, OP_EQ, range->span, (Value *[]){stop, count->stop}, 2);
    done->type = type_scalar(func->types, SCALAR_BOOL, true);
    block_append(func, leave, OP_BRANCH, range->span, &done, 1)->type = type_simple(func->types, TY_NONE);
    header->succs.data[exit] = leave;
    vec_push(func->arena, &leave->preds, header);
    vec_push(func->arena, &leave->succs, left);
    block_add_edge(loops->func, leave, look);
    for (size_t p = 0; p < left->preds.len; p++)
        if (left->preds.data[p] == header) left->preds.data[p] = leave;

    Edges into = {0};
    vec_push(func->arena, &into, (Edge){outer, merged});
    for (size_t i = 0; i < backs->len; i++) vec_push(func->arena, &into, backs->data[i]);
    set_header(loops, loop, &into);
}

/* ---- at the header ---- */

/* The header may be run through twice: it asks, and changes nothing. */
static bool only_asks(const Block *header) {
    for (const Value *value = header->first; value != header->last; value = value->next) {
        bool asks = value->op == OP_ITER_MORE && value->args[0]->type->iter != ITER_ZIP;
        if (!asks && value_effects(value, true) & ~(Effects)EFFECT_READ) return false;
    }
    return true;
}

/* Number of the successor that leaves the loop; 2: not one does. */
static uint32_t exit_side(const Loops *loops, const Loop *loop) {
    const Block *header = loop->header;
    uint32_t outside = 2, inside = 0;
    for (uint32_t s = 0; s < header->succs.len; s++) {
        const Block *to = header->succs.data[s];
        const Loop *around = to->order > header->order ? loops->around[to->order] : NULL;
        while (around && around != loop) around = around->parent;
        if (around)
            inside++;
        else
            outside = s;
    }
    return header->succs.len == 2 && inside == 1 ? outside : 2;
}

static void add_at_header(Loops *loops, Loop *loop, uint32_t exit, Edges *entries, Edges *backs) {
    Func *func = loops->func;
    Block *header = loop->header, *left = header->succs.data[exit], *leave = place_block(loops, loop);
    Value *branch = header->last, *condition = branch->args[0];
    const Type *boolean = type_scalar(func->types, SCALAR_BOOL, true);
    Span span = branch->span;
    value_remove(branch);
    Value *spent = append_spend(loops, loop, header), *go[] = {condition, spent};
    if (exit == 1) {
        go[1] = block_append(func, header, OP_NOT, span, &spent, 1);
        go[1]->type = boolean;
    }
    Value *ends = block_append(func, header, exit == 1 ? OP_AND : OP_OR, span, go, 2);
    ends->type = boolean;
    block_append(func, header, OP_BRANCH, span, &ends, 1)->type = type_simple(func->types, TY_NONE);
    Block *look = new_look(loops, loop);
    block_append(func, leave, OP_BRANCH, span, &condition, 1)->type = type_simple(func->types, TY_NONE);
    header->succs.data[exit] = leave;
    vec_push(func->arena, &leave->preds, header);
    vec_push(func->arena, &leave->succs, exit == 0 ? left : look);
    vec_push(func->arena, &leave->succs, exit == 0 ? look : left);
    vec_push(func->arena, &look->preds, leave);
    for (size_t p = 0; p < left->preds.len; p++)
        if (left->preds.data[p] == header) left->preds.data[p] = leave;
    VEC(Value *) own = {0};
    for (Value *phi = header->first; phi && phi->op == OP_PHI; phi = phi->next) vec_push(func->arena, &own, phi);
    Edges into = {0};
    vec_push(func->arena, &into, add_outer(loops, loop, entries, look, own.data));
    for (size_t i = 0; i < backs->len; i++) vec_push(func->arena, &into, backs->data[i]);
    set_header(loops, loop, &into);
}

/* ---- on the way back ---- */

static void add_at_latch(Loops *loops, Loop *loop, Edges *entries, Edges *backs) {
    Func *func = loops->func;
    Block *header = loop->header, *latch = new_block(loops, loop, backs), *look = new_look(loops, loop);
    Value **values = merge_values(loops, loop, latch, backs);
    Value *spent = append_spend(loops, loop, latch);
    block_append(func, latch, OP_BRANCH, header->last->span, &spent, 1)->type = type_simple(func->types, TY_NONE);
    block_add_edge(loops->func, latch, look);
    vec_push(func->arena, &latch->succs, header);
    Edges into = {0};
    if (loop->inner || !loop->is_natural || loops->count > MANY_LOOPS) {
        vec_push(func->arena, &look->succs, header);
        into = *entries;
        vec_push(func->arena, &into, (Edge){look, values});
    } else {
        vec_push(func->arena, &into, add_outer(loops, loop, entries, look, values));
    }
    vec_push(func->arena, &into, (Edge){latch, values});
    set_header(loops, loop, &into);
}

static void add_safepoint(Loops *loops, Loop *loop) {
    Edges entries = {0}, backs = {0};
    split_edges(loops, loop, &entries, &backs);
    bool may_nest = loop->is_natural && !loop->inner && loops->count <= MANY_LOOPS;
    uint32_t exit = may_nest && only_asks(loop->header) ? exit_side(loops, loop) : 2;
    Count count;
    if (exit < 2 && counts(loops, loop, &count))
        add_strips(loops, loop, exit, &count, &entries, &backs);
    else if (exit < 2)
        add_at_header(loops, loop, exit, &entries, &backs);
    else
        add_at_latch(loops, loop, &entries, &backs);
}

/* Inner loops first, whose work is the outer ones'. */
static bool look_in_loops(Loops *loops, size_t nblocks) {
    bool any = false;
    for (size_t b = 0; b < nblocks; b++) {
        const Block *block = loops->func->blocks.data[b];
        if (!loops->around[b]) continue;
        for (const Value *value = block->first; value; value = value->next) loops->around[b]->cost += value_cost(value);
    }
    for (size_t b = nblocks; b-- > 0;) {
        Loop *loop = loops->headed[b];
        if (!loop) continue;
        uint64_t rounds = most_rounds(loop);
        uint64_t limit = loop->parent ? FEW : SAFEPOINT_BUDGET;
        bool few = loop->is_natural && rounds < limit && loop->cost < limit && rounds * loop->cost < limit;
        if (few && loop->parent) loop->parent->cost += rounds * loop->cost;
        if (loop->parent) loop->parent->inner |= !few || loop->inner;
        if (few) continue;
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
                   .headed = ARENA_ARRAY(program->arena, Loop *, nblocks),
                   .around = ARENA_ARRAY(program->arena, Loop *, nblocks),
                   .seen = ARENA_ARRAY(program->arena, uint32_t, nblocks)};
    if (!find_loops(&loops)) return false;
    loops.uses = ARENA_ARRAY(program->arena, uint32_t, func->next_value);
    loops.asks = ARENA_ARRAY(program->arena, Ask *, func->next_value);
    count_uses(&loops, nblocks);
    if (!look_in_loops(&loops, nblocks)) return false;
    func_compute_order(func);
    func_renumber(func);
    return true;
}

static bool has_loop(const Func *func) {
    for (size_t b = 0; b < func->blocks.len; b++)
        for (uint32_t s = 0; s < func->blocks.data[b]->succs.len; s++)
            if (func->blocks.data[b]->succs.data[s]->order <= func->blocks.data[b]->order) return true;
    return false;
}

/* FuncInst.loops: of functions with a loop, of recursive ones, and of what calls such. */
static void find_looping(Program *program) {
    VEC(FuncInst *) work = {0};
    for (size_t i = 0; i < program->count; i++) {
        FuncInst *inst = program->insts[i];
        func_compute_order(inst->func);
        inst->loops = inst->recursive || has_loop(inst->func);
        if (inst->loops) vec_push(program->arena, &work, inst);
    }
    while (work.len) {
        const FuncInst *inst = vec_pop(&work);
        for (size_t i = 0; i < inst->callers.len; i++) {
            if (inst->callers.data[i]->loops) continue;
            inst->callers.data[i]->loops = true;
            vec_push(program->arena, &work, inst->callers.data[i]);
        }
    }
}

bool pass_safepoints(Program *program) {
    find_looping(program);
    for (size_t i = 0; i < program->count && !program->uninterrupted; i++) in_function(program, program->insts[i]);
    effects_summarise(program->arena, program->insts, program->count, program->index_raises); /* a safepoint raises */
    return true;
}
