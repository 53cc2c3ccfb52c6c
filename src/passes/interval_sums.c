/* interval_sums.c: how far the sums of a loop go.
 *
 * A phi of a loop's header to which each round adds something grows without end in the eyes of rounds over the graph,
 * which then take it for any number of its type.  But a loop goes back no more often than its range has items, or than
 * a counter in it can go up; so the phi stays within what it starts with, and as many times what a round adds.
 *
 *     d = 0
 *     for w in range(8):                  8 rounds, each adds 0..64
 *         d += popc(a[w] ^ b[w])          d in 0..512
 *
 * What is added may depend on conditions and be put together in loops in the loop.  Numbers that wrap do not matter:
 * where the exact sum fits the type, the wrapped one is the same. */
#include "passes/intervals.h"
#include "passes/private.h"

enum { MOST_STEPS = 48 }; /* values that are looked at for one phi */

#define FAR ((Wide)1 << 62) /* what is multiplied is below it */

typedef struct Walk {
    const Intervals *s;
    unsigned steps;
} Walk;

static bool gained(Walk *w, uint32_t from, uint32_t number, Interval *by);

static bool is_back_edge(const Intervals *s, const Value *phi, uint32_t arg) {
    return value_graph_dominates(&s->graph, phi->block, phi->block->preds.data[arg]);
}

static bool is_of_header(const Intervals *s, const Value *phi) {
    for (uint32_t i = 0; i < phi->nargs; i++)
        if (is_back_edge(s, phi, i)) return true;
    return false;
}

/* What a round of its loop adds to a phi of the header. */
static bool gained_in_a_round(Walk *w, uint32_t phi, Interval *by) {
    const ValueNode *node = node_at(w->s, phi);
    *by = INTERVAL_EMPTY;
    for (uint32_t i = 0; i < node->nargs; i++) {
        Interval one;
        if (!is_back_edge(w->s, node->value, i)) continue;
        if (!gained(w, phi, node->args[i], &one)) return false;
        *by = interval_is_empty(*by) ? one : interval_join(*by, one);
    }
    return !interval_is_empty(*by) && by->lo > -FAR && by->hi < FAR;
}

/* Whether each way back to the header goes through the block: where an iterator outlives the loop that walks it, its
 * header may be that of a loop around as well, which goes on when there are no items left. */
static bool is_in_each_round(const Intervals *s, const Block *header, const Block *block) {
    for (size_t i = 0; i < header->preds.len; i++) {
        const Block *pred = header->preds.data[i];
        if (value_graph_dominates(&s->graph, header, pred) && !value_graph_dominates(&s->graph, block, pred))
            return false;
    }
    return true;
}

/* How many items the range has that the loop of a header walks; -1: it walks none. */
static Wide items_of_loop(const Intervals *s, const Block *header) {
    const Value *branch = header->last, *more = branch->op == OP_BRANCH ? branch->args[0] : NULL;
    if (!more || more->op != OP_ITER_MORE || more->block != header || more->args[0]->op != OP_ITER) return -1;
    const Value *iterator = more->args[0], *range = iterator->args[0];
    if (iterator->block == header || !value_graph_dominates(&s->graph, iterator->block, header)) return -1;
    if (!value_calls(range, FUNC_RANGE) || range->nargs != 3) return -1;
    Interval step = arg_at(s, node_at(s, range->id), 2)->range;
    if (interval_is_empty(step) || interval_has(step, 0)) return -1;
    Wide apart = step.lo > 0 ? step.lo : -step.hi;
    const Block *round = header->succs.data[0];
    if (round->preds.len != 1 || !is_in_each_round(s, header, round)) return -1;
    for (const Value *value = round->first; value; value = value->next) {
        if (value->op != OP_ITER_TAKE || value->args[0] != iterator) continue;
        Interval items = s->known[value->id].range;
        return interval_is_empty(items) ? -1 : (items.hi - items.lo) / apart + 1;
    }
    return -1;
}

/* How often a loop goes back at most, each time it is entered; -1: nobody knows. */
static Wide rounds_of_loop(Walk *w, const Block *header) {
    Wide most = items_of_loop(w->s, header);
    for (const Value *phi = header->first; phi && phi->op == OP_PHI && most < 0; phi = phi->next) {
        if (!phi->type || !type_is_scalar(phi->type) || phi->type->scalar != SCALAR_INT64) continue;
        Interval range = w->s->known[phi->id].range, by;
        if (interval_is_empty(range) || range.hi - range.lo >= FAR) continue;
        if (gained_in_a_round(w, phi->id, &by) && by.lo > 0) most = (range.hi - range.lo) / by.lo;
    }
    return most < FAR ? most : -1;
}

static Interval times(Wide rounds, Interval by) {
    return interval_of(by.lo < 0 ? rounds * by.lo : 0, by.hi > 0 ? rounds * by.hi : 0);
}

static Interval sum(Interval a, Interval b) { return interval_of(a.lo + b.lo, a.hi + b.hi); }

/* What a phi is above `from`: where ways meet, or where a loop begins that lies in the loop of `from`. */
static bool phi_gained(Walk *w, uint32_t from, uint32_t number, Interval *by) {
    const ValueNode *node = node_at(w->s, number);
    Interval all = INTERVAL_EMPTY, a_round;
    for (uint32_t i = 0; i < node->nargs; i++) {
        Interval one;
        if (is_back_edge(w->s, node->value, i)) continue;
        if (!gained(w, from, node->args[i], &one)) return false;
        all = interval_is_empty(all) ? one : interval_join(all, one);
    }
    if (interval_is_empty(all)) return false;
    *by = all;
    if (!is_of_header(w->s, node->value)) return true;
    Wide rounds = rounds_of_loop(w, node->value->block);
    if (rounds < 0 || !gained_in_a_round(w, number, &a_round)) return false;
    *by = sum(all, times(rounds, a_round));
    return by->lo > -FAR && by->hi < FAR;
}

/* How much more a value is than the phi `from` is in the same round; false: nobody knows. */
static bool gained(Walk *w, uint32_t from, uint32_t number, Interval *by) {
    const ValueNode *node = node_at(w->s, number), *phi = node_at(w->s, from);
    while (node->relation != OP_COUNT) number = node->source, node = node_at(w->s, number);
    *by = interval_of(0, 0);
    if (number == from) return true;
    const Value *value = node->value;
    if (++w->steps > MOST_STEPS || !value || value->type != phi->value->type) return false;
    /* what is not computed in a round of this loop, or is handed on from the one before, is of another round */
    if (!value_graph_dominates(&w->s->graph, phi->value->block, value->block)) return false;
    if (value->op == OP_PHI) return value->block != phi->value->block && phi_gained(w, from, number, by);
    if (value->op != OP_ADD && value->op != OP_SUB) return false;
    uint32_t other = 1;
    if (!gained(w, from, node->args[0], by)) {
        if (value->op == OP_SUB || !gained(w, from, node->args[1], by)) return false;
        other = 0;
    }
    Interval added = w->s->known[node->args[other]].range;
    if (interval_is_empty(added) || value->args[other]->type != value->type) return false;
    *by = sum(*by, value->op == OP_ADD ? added : interval_of(-added.hi, -added.lo));
    return by->lo > -FAR && by->hi < FAR;
}

static bool bound_of_sum(const Intervals *s, uint32_t number, Interval *range) {
    const ValueNode *node = node_at(s, number);
    Walk w = {.s = s};
    Interval start = INTERVAL_EMPTY, a_round;
    Wide rounds;
    if (!is_of_header(s, node->value) || !gained_in_a_round(&w, number, &a_round)) return false;
    if ((rounds = rounds_of_loop(&w, node->value->block)) < 0) return false;
    for (uint32_t i = 0; i < node->nargs; i++) {
        Interval one = s->known[node->args[i]].range;
        if (is_back_edge(s, node->value, i) || interval_is_empty(one)) continue;
        start = interval_is_empty(start) ? one : interval_join(start, one);
    }
    if (interval_is_empty(start)) return false;
    *range = sum(start, times(rounds, a_round));
    return interval_within(*range, interval_of_type(node->value->type));
}

bool intervals_bound_sums(Intervals *s) {
    bool found = false;
    for (size_t i = 0; i < s->graph.order.len; i++) {
        uint32_t number = s->graph.order.data[i];
        const ValueNode *node = node_at(s, number);
        Interval known = s->known[number].range, range;
        bool sum = node->relation == OP_COUNT && node->value && node->value->op == OP_PHI && node->value->type &&
                   type_is_integer(node->value->type);
        if (!sum || interval_is_empty(known) || !bound_of_sum(s, number, &range)) continue;
        if (interval_within(known, range)) continue;
        if (!s->sums) {
            s->sums = ARENA_ARRAY(s->arena, Interval, s->graph.nodes.len);
            for (size_t k = 0; k < s->graph.nodes.len; k++) s->sums[k] = interval_of(INT64_MIN, UINT64_MAX);
        }
        s->sums[number] = interval_meet(s->sums[number], range);
        found = true;
    }
    return found;
}
