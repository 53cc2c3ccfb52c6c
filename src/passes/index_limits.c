/* index_limits.c: how far an index inside a loop may go (index_limits.h).
 *
 * In: the value graph of a function with its intervals, a loop, an index.  Out: what the index never exceeds, as sums
 * of values from outside of the loop.  Algorithm: backwards from the index, through conversions, sums that do not wrap,
 * items of ranges, branches that compare it, smaller and larger ones, and phis, where every operand counts, to values
 * from outside, extents and constants.  A phi that is met again says nothing more, if from round to round the index
 * moves away from the limit. */
#include "passes/index_limits.h"


#include "library/library.h" /* value_calls */
#include "passes/loop_edges.h"

enum { MOST_LIMITS = 6, MOST_STEPS = 64, MOST_WALKS = 3, FAR = 1 << 20 };

typedef struct Step {
    uint32_t node;
    Wide offset;
} Step;

typedef struct Walk {
    const LimitSearch *q;
    bool upper;
    unsigned depth; /* walks inside walks */
    Limits *out;
    Step met[MOST_STEPS];
    uint32_t count;
} Walk;

static bool walk(Walk *w, uint32_t number, Wide offset);

/* ---- terms ---- */

static bool small_number(const Const *konst) {
    return konst && type_is_integer(konst->type) && !konst->too_big && konst->i < FAR && konst->i > -FAR;
}

/* Known before the loop begins: it stands above the header. */
static bool is_outside(const LimitSearch *q, const Value *value) {
    const Block *block = q->header->idom;
    while (block && block->order > value->block->order) block = block->idom;
    return block == value->block;
}

/* Where an earlier loop exists twice, its values go on behind it as phis. */
static const Value *behind_loops(const LimitSearch *q, const Value *value) {
    while (value->id < q->known && q->stand_ins[value->id] && !is_outside(q, value) &&
           !loop_has(q->header, value->block))
        value = q->stand_ins[value->id];
    return value;
}

/* The same number, said by what it was made of: an extent asked for is that extent, that of a new array is what it was
 * made with. */
static Term plain(const LimitSearch *q, Term term, Wide *offset) {
    for (;;) {
        term.value = behind_loops(q, term.value);
        const Value *value = term.value, *of = value->nargs ? value->args[0] : NULL;
        if (term.axis >= 0) {
            if (value->op == OP_CAST && of->type->kind == TY_ARRAY) {
                term.value = of;
            } else if (value->op == OP_NEW_ARRAY) {
                term = (Term){value->args[term.axis], -1};
            } else if (value->op == OP_GETITEM && of->type->kind == TY_ARRAY && type_is_integer(value->args[1]->type)) {
                term = (Term){of, term.axis + 1};
            } else {
                return term;
            }
        } else if (value->op == OP_EXTRACT && value_attr(of) == ATTR_ARRAY_shape) {
            term = (Term){of->args[0], (int)value->imm.i};
        } else if (value_attr(value) == ATTR_ARRAY_size && of->type->ndim == 1) {
            term = (Term){of, 0};
        } else if ((value->op == OP_ADD || value->op == OP_SUB) && value->flags & VF_NOWRAP &&
                   small_number(value->args[1]->konst)) {
            *offset += value->op == OP_ADD ? value->args[1]->konst->i : -value->args[1]->konst->i;
            term = (Term){of, -1};
        } else {
            return term;
        }
    }
}

static bool is_usable(const LimitSearch *q, Term term) {
    if (!is_outside(q, term.value)) return false;
    if (term.axis >= 0) return true;
    const Type *type = term.value->type;
    return type_is_integer(type) && type_scalar_kind(type) == 'i';
}

/* A value as a limit; a constant is only an offset. */
static bool as_limit(const LimitSearch *q, Term term, Wide offset, Limit *limit) {
    *limit = (Limit){.offset = offset};
    term = plain(q, term, &limit->offset);
    const Const *konst = term.axis < 0 ? term.value->konst : NULL;
    if (konst && type_is_integer(konst->type) && !konst->too_big) {
        limit->offset += konst->i;
    } else if (is_usable(q, term)) {
        limit->plus[0] = term;
    } else {
        return false;
    }
    return limit->offset < FAR && limit->offset > -FAR;
}

bool limits_of_extent(const LimitSearch *q, const Value *array, int axis, Limit *extent) {
    return as_limit(q, (Term){array, axis}, 0, extent);
}

static bool add_limit(Walk *w, Limit limit) {
    if (w->out->len == MOST_LIMITS) return false;
    vec_push(w->q->s->arena, w->out, limit);
    return true;
}

static bool add_value(Walk *w, const Value *value, Wide offset) {
    Limit limit;
    return as_limit(w->q, (Term){value, -1}, offset, &limit) && add_limit(w, limit);
}

static bool add_number(Walk *w, Wide number) {
    if (number >= FAR || number <= -FAR) return false;
    return add_limit(w, (Limit){.offset = number});
}

/* ---- operations ---- */

static const Known *arg_known(const Walk *w, const ValueNode *node, uint32_t index) {
    return arg_at(w->q->s, node, index);
}

static bool single(const Known *known) { return known->range.lo == known->range.hi; }

/* The one limit of an operand, by itself, of one value at most. */
static bool one_limit(const Walk *w, uint32_t node, bool upper, Limit *limit) {
    Limits own = {0};
    Walk inner = {.q = w->q, .upper = upper, .out = &own, .depth = w->depth + 1};
    if (inner.depth > MOST_WALKS || !walk(&inner, node, 0) || own.len > 1 || (upper && !own.len)) return false;
    *limit = own.len ? own.data[0] : (Limit){0};
    return !limit->plus[1].value && !limit->minus.value;
}

static bool walk_sum(Walk *w, const ValueNode *node, Wide offset) {
    Limit a, b;
    const Known *x = arg_known(w, node, 0), *y = arg_known(w, node, 1);
    if (!(node->value->flags & VF_NOWRAP)) return false;
    if (node->value->op == OP_ADD) {
        if (single(y)) return walk(w, node->args[0], offset + y->range.lo);
        if (single(x)) return walk(w, node->args[1], offset + x->range.lo);
        if (!one_limit(w, node->args[0], w->upper, &a) || !one_limit(w, node->args[1], w->upper, &b)) return false;
        if (!a.plus[0].value) a.plus[0] = b.plus[0], b.plus[0] = (Term){0};
        a.plus[1] = b.plus[0];
        a.offset += b.offset + offset;
        return add_limit(w, a);
    }
    if (single(y)) return walk(w, node->args[0], offset - y->range.lo);
    if (!one_limit(w, node->args[0], w->upper, &a) || !one_limit(w, node->args[1], !w->upper, &b)) return false;
    a.minus = b.plus[0];
    a.offset += offset - b.offset;
    return add_limit(w, a);
}

static bool walk_range(Walk *w, const ValueNode *taken, Wide offset) {
    const Intervals *s = w->q->s;
    const ValueNode *iterator = node_at(s, taken->args[0]);
    if (!iterator->value || iterator->value->op != OP_ITER) return false;
    const ValueNode *range = node_at(s, iterator->args[0]);
    if (!range->value || !value_calls(range->value, FUNC_RANGE) || range->value->nargs != 3) return false;
    Interval step = arg_known(w, range, 2)->range, items = s->known[taken->value->id].range;
    if (single(arg_known(w, range, 0)) && single(arg_known(w, range, 1)) && step.lo == step.hi && items.lo <= items.hi)
        return add_number(w, offset + (w->upper ? items.hi : items.lo)); /* the last item may be before the stop */
    if (step.lo > 0) return w->upper ? walk(w, range->args[1], offset - 1) : walk(w, range->args[0], offset);
    if (step.hi < 0) return w->upper ? walk(w, range->args[0], offset) : walk(w, range->args[1], offset + 1);
    return false;
}

static bool walk_each(Walk *w, const ValueNode *node, Wide offset) {
    if (node->nargs != node->value->nargs) return false; /* a phi behind a loop that exists twice since */
    for (uint32_t i = 0; i < node->value->nargs; i++)
        if (node->value->args[i]->op != OP_UNDEF && !walk(w, node->args[i], offset)) return false;
    return true;
}

static bool walk_any(Walk *w, const ValueNode *node, Wide offset) {
    for (uint32_t i = 0; i < node->value->nargs; i++) {
        size_t before = w->out->len;
        uint32_t met = w->count;
        if (walk(w, node->args[i], offset)) return true;
        w->out->len = before;
        w->count = met;
    }
    return false;
}

static bool walk_operation(Walk *w, const ValueNode *node, Wide offset) {
    const Value *value = node->value;
    switch (value->op) {
    case OP_CAST:
        if (!type_is_integer(value->args[0]->type)) return false;
        return interval_within(arg_known(w, node, 0)->range, interval_of_type(value->type)) &&
               walk(w, node->args[0], offset);
    case OP_ADD:
    case OP_SUB: return walk_sum(w, node, offset);
    case OP_FLOORDIV:
    case OP_RSHIFT:
        return w->upper && arg_known(w, node, 0)->range.lo >= 0 &&
               arg_known(w, node, 1)->range.lo >= (value->op == OP_FLOORDIV) && walk(w, node->args[0], offset);
    case OP_ITER_TAKE: return walk_range(w, node, offset);
    case OP_PHI: return walk_each(w, node, offset);
    case OP_CALL_FUNC:
        if (value_calls(value, FUNC_PY_MIN)) return w->upper ? walk_any(w, node, offset) : walk_each(w, node, offset);
        if (value_calls(value, FUNC_PY_MAX)) return w->upper ? walk_each(w, node, offset) : walk_any(w, node, offset);
        return false;
    default: return false;
    }
}

/* ---- all ---- */

/* What a branch says of the number: that it stands in a relation to one from outside. */
static bool walk_branch(Walk *w, const ValueNode *node, Wide offset) {
    bool bounds = node->relation == OP_EQ || (w->upper ? node->relation == OP_LT || node->relation == OP_LE
                                                       : node->relation == OP_GT || node->relation == OP_GE);
    const Value *other = node_at(w->q->s, node->other)->value;
    Wide strict = node->relation == OP_LT ? -1 : node->relation == OP_GT;
    if (bounds && !other) return add_number(w, offset + strict);
    if (bounds && add_value(w, other, offset + strict)) return true;
    return walk(w, node->source, offset);
}

/* At most the length that the intervals know of. */
static bool walk_known(Walk *w, const Known *known, Wide offset) {
    const Intervals *s = w->q->s;
    if (w->upper && known->length != NO_LENGTH) {
        const Value *array = s->lengths.arrays.data[known->length];
        int axis = 0;
        while (s->lengths.of_array[array->id][axis] != known->length + 1) axis++;
        Limit limit;
        if (as_limit(w->q, (Term){array, axis}, offset + known->offset, &limit)) return add_limit(w, limit);
    }
    return add_number(w, (w->upper ? known->range.hi : known->range.lo) + offset);
}

static bool walk(Walk *w, uint32_t number, Wide offset) {
    const ValueNode *node = node_at(w->q->s, number);
    const Known *known = &w->q->s->known[number];
    if (interval_is_empty(known->range)) return true; /* never computed */
    if (!w->upper && known->range.lo + offset >= 0) return true;
    for (uint32_t i = 0; i < w->count; i++)
        if (w->met[i].node == number) return w->upper ? offset <= w->met[i].offset : offset >= w->met[i].offset;
    if (w->count == MOST_STEPS) return false;
    w->met[w->count++] = (Step){number, offset};
    if (node->relation != OP_COUNT) return walk_branch(w, node, offset);
    if (!node->value) return add_number(w, offset);
    size_t before = w->out->len;
    uint32_t met = w->count;
    if (is_outside(w->q, node->value) && add_value(w, node->value, offset)) return true;
    if (walk_operation(w, node, offset)) return true;
    w->out->len = before; /* what was met on the way is not bounded by it */
    w->count = met;
    return walk_known(w, known, offset);
}

bool limits_find(const LimitSearch *search, uint32_t node, bool upper, Limits *limits) {
    Walk w = {.q = search, .upper = upper, .out = limits};
    return walk(&w, node, 0);
}
