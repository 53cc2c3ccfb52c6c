/* intervals.c: what every integer of a function lies between.
 *
 * In: typed functions.  Out: FuncInst.arguments; Value.bounds where they are tighter than the type's; VF_FORWARD on
 * what is an index
 * without wrap-around; VF_NOWRAP and VF_UNCHECKED on operations that cannot wrap or raise; checks of conversions that
 * cannot fail are gone.
 *
 * Abstract interpretation (Cousot and Cousot, 1977) over the value graph, in which a value has a node of its own below
 * each branch that compares it.  Rounds over all nodes, optimistic: what was not seen yet is empty.  From the fourth
 * round on, a bound of a phi that still moves goes to the end of its type, or as far as a branch on the way lets it, so
 * rounds end; two more rounds then take back what was too much, since below a loop's condition its counter is bounded
 * again.  A function on which this does not end soon has phis of which nothing is known.  Where sums of loops turn out
 * to be bounded by the number of rounds (interval_sums.c), all is done again with that.  Next to bounds, a value may be
 * known to be at most the length of an array plus a constant, which proves accesses in range. */
#include "passes/intervals.h"
#include "passes/private.h"

enum { WIDEN_FROM = 3, MAX_ROUNDS = 40, NARROWING_ROUNDS = 2, MOST_SOLUTIONS = 3 };

static bool is_counted(const ValueNode *node) {
    return !node->value || (node->value->type && type_is_integer(node->value->type) && op_has_result(node->value->op));
}

static bool is_phi(const ValueNode *node) {
    return node->relation == OP_COUNT && node->value && node->value->op == OP_PHI;
}

/* What holds for both; the length is the older one's, so that it settles. */
static Known joined(const Known *old, const Known *found) {
    Known both = *found;
    if (interval_is_empty(old->range)) return both;
    both.range = interval_join(old->range, found->range);
    both.forward = old->forward && found->forward;
    both.length = old->length;
    if (old->length != NO_LENGTH && !intervals_above_length(found, old->length, &both.offset)) both.length = NO_LENGTH;
    if (both.length != NO_LENGTH && both.offset < old->offset) both.offset = old->offset;
    return both;
}

/* What the branches on the way of a value leave of its type. */
static Interval limits(const Intervals *s, uint32_t number, const Type *type) {
    Interval range = interval_of_type(type);
    for (const ValueNode *node = node_at(s, number); node->relation != OP_COUNT; node = node_at(s, node->source))
        range = interval_where(range, node->relation, s->known[node->other].range);
    return range;
}

/* A bound of a phi that still moves goes as far as the branches let its operands go. */
static void widen(const Intervals *s, const ValueNode *phi, const Known *old, Known *known) {
    if (interval_is_empty(old->range)) return;
    Interval range = known->range;
    for (uint32_t i = 0; i < phi->value->nargs; i++) {
        Interval arg = s->known[phi->args[i]].range, limit = limits(s, phi->args[i], phi->value->type);
        if (interval_is_empty(arg)) continue;
        if (arg.lo < old->range.lo && limit.lo < range.lo) range.lo = limit.lo;
        if (arg.hi > old->range.hi && limit.hi > range.hi) range.hi = limit.hi;
    }
    known->range = range;
    if (known->length != NO_LENGTH && known->offset > old->offset) known->length = NO_LENGTH;
}

static bool same(const Known *a, const Known *b) {
    return interval_equal(a->range, b->range) && a->forward == b->forward && a->length == b->length &&
           (a->length == NO_LENGTH || a->offset == b->offset);
}

/* One round over all nodes; whether something changed. */
static bool climb(Intervals *s, unsigned round) {
    bool changed = false;
    for (size_t i = 0; i < s->graph.order.len; i++) {
        uint32_t number = s->graph.order.data[i];
        const ValueNode *node = node_at(s, number);
        if (!is_counted(node)) continue;
        Known found = intervals_of_node(s, number), *old = &s->known[number];
        if (interval_is_empty(found.range)) continue;
        found = joined(old, &found);
        if (round >= WIDEN_FROM && is_phi(node)) widen(s, node, old, &found);
        if (s->sums) found.range = interval_meet(found.range, s->sums[number]);
        if (same(&found, old)) continue;
        *old = found;
        changed = true;
    }
    return changed;
}

/* All nodes anew from what is known: what comes out holds too, and is no wider. */
static void narrow(Intervals *s) {
    for (size_t i = 0; i < s->graph.order.len; i++) {
        uint32_t number = s->graph.order.data[i];
        if (!is_counted(node_at(s, number))) continue;
        Known found = intervals_of_node(s, number), *old = &s->known[number];
        found.range = interval_meet(found.range, old->range);
        found.forward |= old->forward;
        *old = found;
    }
}

/* Nothing is known of phis. */
static void give_up(Intervals *s) {
    for (size_t i = 0; i < s->graph.order.len; i++) {
        uint32_t number = s->graph.order.data[i];
        const ValueNode *node = node_at(s, number);
        if (is_counted(node))
            s->known[number] = is_phi(node) ? intervals_of_type(node->value->type) : intervals_of_node(s, number);
    }
}

static void solve(Intervals *s) {
    for (size_t i = 0; i < s->graph.nodes.len; i++)
        s->known[i] = (Known){.range = INTERVAL_EMPTY, .length = NO_LENGTH, .forward = true};
    unsigned round = 0;
    while (round < MAX_ROUNDS && climb(s, round)) round++;
    if (round == MAX_ROUNDS) {
        give_up(s);
        return;
    }
    for (unsigned i = 0; i < NARROWING_ROUNDS; i++) narrow(s);
}

/* ---- functions that other functions call ---- */

static void forget_arguments(FuncInst *callee) {
    callee->arguments = NULL;
    callee->called_freely = true;
}

/* What a call passes is among what the callee's parameters lie between. */
static void note_call(const Intervals *s, const Value *call, FuncInst *callee) {
    uint32_t count = callee->untyped->nparams;
    bool first = callee->arguments == NULL;
    if (callee->called_freely || callee->recursive) return;
    if (call->op != OP_CALL_INST || call->nargs != count) {
        forget_arguments(callee);
        return;
    }
    if (first) callee->arguments = ARENA_ARRAY(s->arena, Bounds, count);
    for (uint32_t i = 0; i < count; i++) {
        if (!type_is_integer(callee->types[i])) continue;
        const Value *given = call->args[i];
        Interval all = interval_meet(interval_of_type(callee->types[i]), interval_of(INT64_MIN, INT64_MAX));
        Interval range = given->type == callee->types[i] ? s->known[node_at(s, call->id)->args[i]].range : all;
        Bounds *bounds = &callee->arguments[i];
        if (interval_is_empty(range) || !interval_within(range, all)) range = all;
        if (!first) range = interval_join(range, interval_of(bounds->lo, bounds->hi));
        *bounds = (Bounds){(int64_t)range.lo, (int64_t)range.hi};
    }
}

static void note_calls(const Intervals *s, const FuncInst *inst) {
    for (size_t b = 0; b < inst->func->blocks.len; b++)
        for (const Value *value = inst->func->blocks.data[b]->first; value; value = value->next)
            if (value_callee(value)) note_call(s, value, value_callee(value));
}

Intervals intervals_of(Program *program, const FuncInst *inst) {
    Intervals s = {.arena = program->arena, .inst = inst, .small = program->small};
    s.graph = value_graph_of(inst->func, program->arena);
    s.known = ARENA_ARRAY(program->arena, Known, s.graph.nodes.len);
    s.lengths.of_array = ARENA_ARRAY(program->arena, uint32_t *, inst->func->next_value);
    s.any_int = intervals_of_type(type_scalar(program->types, SCALAR_INT64, true));
    solve(&s);
    /* sums that are bounded now may bound sums of sums */
    for (unsigned i = 1; i < MOST_SOLUTIONS && intervals_bound_sums(&s); i++) solve(&s);
    return s;
}

static void find_intervals(Program *program, FuncInst *inst) {
    Intervals s = intervals_of(program, inst);
    note_calls(&s, inst);
    intervals_note(&s, inst->func);
}

/* ---- Program.small ---- */

/* An array that has more elements than what it was made from, or is an argument of nobody. */
static bool may_be_large(const Value *value) {
    if (!value->type || value->type->kind != TY_ARRAY || value->op == OP_PARAM || value->op == OP_PHI) return false;
    const Const *konst = value->konst;
    if (konst && konst->type->kind == TY_ARRAY) {
        int64_t bytes = (int64_t)type_size(type_element(konst->type));
        for (unsigned i = 0; i < konst->type->ndim; i++) {
            if (konst->array->shape[i] > SMALL_COUNT) return true;
            bytes *= konst->array->shape[i] > 1 ? konst->array->shape[i] : 1;
            if (bytes > INT32_MAX) return true;
        }
        return false;
    }
    if (value->op == OP_BROADCAST) return true;
    if (value->op == OP_GETATTR || value->nargs == 0 || value->args[0]->type->kind != TY_ARRAY) return false;
    return type_size(type_element(value->type)) < type_size(type_element(value->args[0]->type));
}

static bool stays_small(const Program *program) {
    for (size_t i = 0; i < program->count; i++)
        for (size_t b = 0; b < program->insts[i]->func->blocks.len; b++)
            for (const Value *value = program->insts[i]->func->blocks.data[b]->first; value; value = value->next)
                if (may_be_large(value)) return false;
    return true;
}

/* Callers come before what they call, but for recursion. */
static FuncInst **callers_first(const Program *program) {
    FuncInst **order = ARENA_ARRAY(program->arena, FuncInst *, program->count);
    uint32_t *starts, highest = 0;
    for (size_t i = 0; i < program->count; i++)
        if (program->insts[i]->height > highest) highest = program->insts[i]->height;
    starts = ARENA_ARRAY(program->arena, uint32_t, highest + 2);
    for (size_t i = 0; i < program->count; i++) starts[highest - program->insts[i]->height + 1]++;
    for (uint32_t h = 0; h <= highest; h++) starts[h + 1] += starts[h];
    for (size_t i = 0; i < program->count; i++)
        order[starts[highest - program->insts[i]->height]++] = program->insts[i];
    return order;
}

bool pass_intervals(Program *program) {
    insts_find_calls(program->arena, program->insts, program->count);
    program->small = program->small && stays_small(program);
    for (size_t i = 0; i < program->count; i++) {
        FuncInst *inst = program->insts[i];
        inst->arguments = NULL;
        inst->called_freely = i == 0;
        if (inst->piece) forget_arguments(inst->piece);
        if (inst->join) forget_arguments(inst->join);
    }
    FuncInst **order = callers_first(program);
    for (size_t i = 0; i < program->count; i++) find_intervals(program, order[i]);
    return true;
}
