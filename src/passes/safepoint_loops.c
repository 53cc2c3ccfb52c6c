/* safepoint_loops.c: lets one loop look for signals.
 *
 * The innermost loops are what LLVM makes fast, so they stay what they were, inside another loop that looks:
 *
 *   over a range       outer: from, stop = the next strip of the range, as long as a budget; spend
 *                      header: the loop over range(from, stop, step); at its end, unless the range is done, look, outer
 *   over others        the same, with parts of what the iterator has left, which a range counts
 *   whose header only  header: leaves too when the budget is spent; then, unless the condition ends it, look, outer
 *   asks (while i < n)
 *   others, and those  latch: spend, on the one way back; where that says so: look, and outer (in loops around one that
 *   around them        looks: the header)
 *   the same in a try  each way back by itself: spend; look, with its handler; the header
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
#include "passes/safepoints.h"

/* `outer`, where the entries and `look` meet; the header's edge from there. */
static Edge add_outer(Loops *loops, const Loop *loop, Edges *entries, Block *look, Value **values) {
    Block *outer = loop_lead_to_block(loops, loop, entries);
    block_add_edge(loops->func, look, outer);
    vec_push(loops->func->arena, entries, (Edge){look, values});
    Value **merged = loop_merge_values(loops, loop, outer, entries);
    loop_append(loops, outer, OP_JUMP, loop->header->last->span, type_simple(loops->func->types, TY_NONE));
    vec_push(loops->func->arena, &outer->succs, loop->header);
    return (Edge){outer, merged};
}

/* The header's edges: from `outer`, and the way back. */
static void set_edges(Loops *loops, const Loop *loop, Edge outer, const Edges *backs) {
    Edges into = {0};
    vec_push(loops->func->arena, &into, outer);
    for (size_t i = 0; i < backs->len; i++) vec_push(loops->func->arena, &into, backs->data[i]);
    loop_set_header(loops, loop, &into);
}

uint32_t loop_exit_side(const Loops *loops, const Loop *loop) {
    const Block *header = loop->header;
    uint32_t outside = 2, inside = 0;
    for (uint32_t s = 0; s < block_normal_succs(header); s++) {
        const Block *to = header->succs.data[s];
        const Loop *around = to->order > header->order ? loops->around[to->order] : NULL;
        while (around && around != loop) around = around->parent;
        if (around)
            inside++;
        else
            outside = s;
    }
    return block_normal_succs(header) == 2 && inside == 1 ? outside : 2;
}

Value *loop_own_iterator(const Loops *loops, const Loop *loop) {
    const Value *first = loop->header->first;
    while (first->op == OP_PHI) first = first->next;
    if (first->op != OP_ITER_MORE || first->next != loop->header->last || first->next->op != OP_BRANCH) return NULL;
    Value *iterator = first->args[0];
    if (iterator->op != OP_ITER && iterator->op != OP_CALL_FUNC) return NULL; /* made elsewhere, perhaps shared */
    if (type_walks_list(iterator->type)) return NULL; /* nobody knows how long the list will be */
    uint32_t asks = 0, takes = 0;
    for (const Ask *ask = loops->asks[iterator->id]; ask; ask = ask->next, asks++) {
        takes += ask->value->op == OP_ITER_TAKE;
        if (loops->around[ask->value->block->order] != loop) return NULL;
    }
    bool alone = asks == loops->uses[iterator->id] && takes == 1 && asks == 2; /* a round takes one item */
    return alone && !(iterator->flags & VF_SHARED) ? iterator : NULL;
}

/* ---- in strips ---- */

typedef struct Count { /* a loop over range(start, stop, step) */
    Value *iterator;
    Value *start, *stop, *step;
} Count;

static bool counts(const Loops *loops, const Loop *loop, Value *iterator, Count *count) {
    enum { LONGEST_STEP = 1 << 16 };
    /* what is made before a loop around goes on, in each round of that, where the one before has left it */
    if (loops->around[iterator->block->order] != loop->parent) return false;
    const Value *range = iterator->op == OP_ITER ? iterator->args[0] : NULL;
    if (!range || !value_calls(range, FUNC_RANGE) || range->nargs != 3) return false;
    *count = (Count){iterator, range->args[0], range->args[1], range->args[2]};
    const Const *step = count->step->konst;
    return step && !step->too_big && step->i && step->i < LONGEST_STEP && step->i > -LONGEST_STEP;
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
    Block *header = loop->header, *left = header->succs.data[exit], *leave = loop_place_block(loops, loop);
    Block *look = loop_new_look(loops, loop), *outer = loop_lead_to_block(loops, loop, entries);
    Value *iterator = count->iterator, *range = iterator->args[0];

    block_add_edge(func, look, outer);
    vec_push(func->arena, entries, (Edge){look, loop_own_values(loops, loop)});
    Value **merged = loop_merge_values(loops, loop, outer, entries);
    Value *at = block_add_phi(func, outer, range->span);
    at->type = count->start->type;
    Value *from = append_typed(loops, outer, OP_STRIP_START, at, (Value *[]){at, count->start, count->step}, 3);
    Value *stop = append_typed(loops, outer, OP_STRIP_STOP, at, (Value *[]){from, count->stop, count->step}, 3);
    stop->imm.i = SAFEPOINT_BUDGET / loop_round_cost(loop);
    VEC(Value *) starts = {0};
    for (size_t i = 0; i + 1 < entries->len; i++) vec_push(func->arena, &starts, count->start);
    vec_push(func->arena, &starts, stop);
    phi_set_args(func, at, starts.data, starts.len);
    Value *part = append_typed(loops, outer, range->op, range, (Value *[]){from, stop, count->step}, 3);
    part->imm = range->imm;
    part->flags = range->flags;
    Value *inner = append_typed(loops, outer, OP_ITER, iterator, &part, 1);
    loop_append_spend_all(loops, loop, outer, inner, NULL);
    loop_append(loops, outer, OP_JUMP, range->span, type_simple(func->types, TY_NONE));
    vec_push(func->arena, &outer->succs, header);
    ask_instead(loops, iterator, inner);

    Value *done = block_append(func, leave, OP_EQ, range->span, (Value *[]){stop, count->stop}, 2);
    done->type = type_scalar(func->types, SCALAR_BOOL, true);
    block_append(func, leave, OP_BRANCH, range->span, &done, 1)->type = type_simple(func->types, TY_NONE);
    loop_leave_through(loops, loop, left, leave);
    vec_push(func->arena, &leave->succs, left);
    block_add_edge(func, leave, look);
    set_edges(loops, loop, (Edge){outer, merged}, backs);
}

/* ---- in parts ---- */

/* Over any other iterator of its own: the next so many of what is left, which a range counts. */
static void add_parts(Loops *loops, Loop *loop, uint32_t exit, Value *iterator, Edges *entries, Edges *backs) {
    Func *func = loops->func;
    TypeTable *types = func->types;
    const Type *number = type_scalar(types, SCALAR_INT64, true);
    Block *header = loop->header, *left = header->succs.data[exit], *leave = loop_place_block(loops, loop);
    Block *look = loop_new_look(loops, loop), *outer = loop_lead_to_block(loops, loop, entries);
    Value *more = header->last->prev;
    Span span = more->span;

    block_add_edge(func, look, outer);
    vec_push(func->arena, entries, (Edge){look, loop_own_values(loops, loop)});
    Value **merged = loop_merge_values(loops, loop, outer, entries);
    Value *part = loop_append_left(loops, outer, span, iterator);
    part = block_append(func, outer, OP_STRIP_LENGTH, span, &part, 1);
    part->type = number;
    part->imm.i = SAFEPOINT_BUDGET / loop_round_cost(loop);
    Value *zero = block_append_const(func, outer, span, const_int(func->arena, types, 0));
    Value *one = block_append_const(func, outer, span, const_int(func->arena, types, 1));
    Value *range = block_append(func, outer, OP_CALL_FUNC, span, (Value *[]){zero, part, one}, 3);
    range->type = type_simple(types, TY_RANGE);
    range->imm.func = &func_info[FUNC_RANGE].head;
    range->flags = VF_UNCHECKED;
    Value *count = block_append(func, outer, OP_ITER, span, &range, 1);
    count->type = type_iter(types, ITER_RANGE, &number, 1);
    loop_append_spend_all(loops, loop, outer, count, NULL);
    loop_append(loops, outer, OP_JUMP, span, type_simple(types, TY_NONE));
    vec_push(func->arena, &outer->succs, header);
    more->args[0] = count;
    Value *taken = value_new(func, OP_ITER_TAKE, span, &count, 1);
    taken->type = number;
    value_insert_before(header->last, taken);

    Value *rest = loop_append_left(loops, leave, span, iterator);
    zero = block_append_const(func, leave, span, const_int(func->arena, types, 0));
    Value *done = block_append(func, leave, OP_EQ, span, (Value *[]){rest, zero}, 2);
    done->type = type_scalar(types, SCALAR_BOOL, true);
    block_append(func, leave, OP_BRANCH, span, &done, 1)->type = type_simple(types, TY_NONE);
    loop_leave_through(loops, loop, left, leave);
    vec_push(func->arena, &leave->succs, left);
    block_add_edge(func, leave, look);
    set_edges(loops, loop, (Edge){outer, merged}, backs);
}

/* ---- at the header ---- */

/* The header may be run through twice: it asks, and changes nothing. */
static bool only_asks(const Block *header) {
    for (const Value *value = header->first; value != header->last; value = value->next)
        if (value_effects(value, true) & ~(Effects)EFFECT_READ) return false;
    return true;
}

static void add_at_header(Loops *loops, Loop *loop, uint32_t exit, Edges *entries, Edges *backs) {
    Func *func = loops->func;
    Block *header = loop->header, *left = header->succs.data[exit], *leave = loop_place_block(loops, loop);
    Value *branch = header->last, *condition = branch->args[0];
    const Type *boolean = type_scalar(func->types, SCALAR_BOOL, true);
    Span span = branch->span;
    value_remove(branch);
    Value *spent = loop_append_spend(loops, loop, header), *go[] = {condition, spent};
    if (exit == 1) {
        go[1] = block_append(func, header, OP_NOT, span, &spent, 1);
        go[1]->type = boolean;
    }
    Value *ends = block_append(func, header, exit == 1 ? OP_AND : OP_OR, span, go, 2);
    ends->type = boolean;
    block_append(func, header, OP_BRANCH, span, &ends, 1)->type = type_simple(func->types, TY_NONE);
    Block *look = loop_new_look(loops, loop);
    block_append(func, leave, OP_BRANCH, span, &condition, 1)->type = type_simple(func->types, TY_NONE);
    loop_leave_through(loops, loop, left, leave);
    vec_push(func->arena, &leave->succs, exit == 0 ? left : look);
    vec_push(func->arena, &leave->succs, exit == 0 ? look : left);
    vec_push(func->arena, &look->preds, leave);
    set_edges(loops, loop, add_outer(loops, loop, entries, look, loop_own_values(loops, loop)), backs);
}

/* ---- on the way back ---- */

static void add_at_latch(Loops *loops, Loop *loop, Edges *entries, Edges *backs) {
    Func *func = loops->func;
    Block *header = loop->header, *latch = loop_lead_to_block(loops, loop, backs), *look = loop_new_look(loops, loop);
    Value **values = loop_merge_values(loops, loop, latch, backs);
    Value *spent = loop_append_spend(loops, loop, latch);
    block_append(func, latch, OP_BRANCH, header->last->span, &spent, 1)->type = type_simple(func->types, TY_NONE);
    block_add_edge(func, latch, look);
    vec_push(func->arena, &latch->succs, header);
    Edges into = {0};
    if (loop->inner || !loop->is_natural || loops->count > MOST_LOOPS) {
        vec_push(func->arena, &look->succs, header);
        into = *entries;
        vec_push(func->arena, &into, (Edge){look, values});
    } else {
        vec_push(func->arena, &into, add_outer(loops, loop, entries, look, values));
    }
    vec_push(func->arena, &into, (Edge){latch, values});
    loop_set_header(loops, loop, &into);
}

/* ---- inside try statements ---- */

static bool is_inside(const Loops *loops, const Loop *loop, const Block *block) {
    const Loop *around = loops->around[block->order];
    while (around && around != loop) around = around->parent;
    return around != NULL;
}

/* What stands for a value at the end of the way back number `back` when the loop is in its header; NULL: nothing. */
static Value *in_header(const Loops *loops, const Loop *loop, const Edges *backs, size_t back, Value *value) {
    size_t number = 0;
    for (Value *phi = loop->header->first; phi && phi->op == OP_PHI; phi = phi->next, number++)
        if (backs->data[back].args[number] == value) return phi;
    return is_inside(loops, loop, value->block) ? NULL : value;
}

/* The handler of the ways back, and what its phis take when the header looks; NULL if it may use values of the round,
 * which the header does not know. */
static void find_handler(const Loops *loops, Loop *loop, const Edges *backs) {
    size_t back = 0;
    while (back < backs->len && !backs->data[back].from->unwinds) back++;
    if (back == backs->len) return;
    const Block *from = backs->data[back].from;
    loop->handler = block_unwind(from);
    const Block *above = loop->handler->idom;
    if (above && above != loop->header && is_inside(loops, loop, above)) return;
    size_t pred = 0;
    while (loop->handler->preds.data[pred] != from) pred++;
    VEC(Value *) handled = {0};
    for (const Value *phi = loop->handler->first; phi && phi->op == OP_PHI; phi = phi->next) {
        Value *known = in_header(loops, loop, backs, back, phi->args[pred]);
        if (!known) return;
        vec_push(loops->func->arena, &handled, known);
    }
    vec_push(loops->func->arena, &handled, NULL); /* a list without phis is a list, too */
    loop->handled = handled.data;
}

/* Each way back looks by itself, with the handler that it has. */
static void add_at_ways_back(Loops *loops, Loop *loop, const Edges *entries, const Edges *backs) {
    Func *func = loops->func;
    Block *header = loop->header;
    Edges into = *entries;
    loop->handled = NULL;
    for (size_t i = 0; i < backs->len; i++) {
        Block *from = backs->data[i].from, *way = loop_place_block(loops, loop), *look = loop_new_look(loops, loop);
        size_t succ = 0;
        while (from->succs.data[succ] != header) succ++;
        from->succs.data[succ] = way;
        vec_push(func->arena, &way->preds, from);
        Value *spent = loop_append_spend(loops, loop, way);
        block_append(func, way, OP_BRANCH, header->last->span, &spent, 1)->type = type_simple(func->types, TY_NONE);
        block_add_edge(func, way, look);
        vec_push(func->arena, &way->succs, header);
        vec_push(func->arena, &look->succs, header);
        block_unwind_like(func, look, from);
        vec_push(func->arena, &into, (Edge){look, backs->data[i].args});
        vec_push(func->arena, &into, (Edge){way, backs->data[i].args});
    }
    loop_set_header(loops, loop, &into);
}

void loop_look(Loops *loops, Loop *loop, Edges *entries, Edges *backs) {
    find_handler(loops, loop, backs);
    bool handled = !loop->handler || loop->handled;
    bool may_nest = loop->is_natural && !loop->inner && loops->count <= MOST_LOOPS && handled && !loops->by_regions;
    uint32_t exit = may_nest ? loop_exit_side(loops, loop) : 2;
    Value *iterator = exit < 2 ? loop_own_iterator(loops, loop) : NULL;
    Count count;
    if (iterator && counts(loops, loop, iterator, &count))
        add_strips(loops, loop, exit, &count, entries, backs);
    else if (iterator)
        add_parts(loops, loop, exit, iterator, entries, backs);
    else if (exit < 2 && only_asks(loop->header))
        add_at_header(loops, loop, exit, entries, backs);
    else if (loop->handler)
        add_at_ways_back(loops, loop, entries, backs);
    else
        add_at_latch(loops, loop, entries, backs);
}
