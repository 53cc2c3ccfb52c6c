/* interval_rules.c: what is known of a value, from what is known of its operands.
 *
 * Everything holds for the machine's numbers, which wrap, save `forward`: that is about the Python int which the value
 * would be without wrapping.  A Python int that is not negative and has wrapped is outside every array, so an index
 * that is `forward` needs no wrap-around, whatever the machine's number is. */

#include "library/library.h" /* func_row */
#include "passes/intervals.h"

enum { MAX_OFFSET = 1 << 20, MAX_NESTING = 8 };

static const Known nothing_seen = {.range = {1, 0}, .length = NO_LENGTH, .forward = true};

static Known known_range(Interval range) {
    return (Known){.range = range, .length = NO_LENGTH, .forward = interval_is_empty(range) || range.lo >= 0};
}

Known intervals_of_type(const Type *type) { return known_range(interval_of_type(type)); }

static bool is_integer(const Value *value) { return value->type && type_is_integer(value->type); }
static bool is_python_int(const Type *type) { return type->weak && type->scalar == SCALAR_INT64; }

/* ---- lengths ---- */

LengthId intervals_length(Intervals *s, const Value *array, unsigned axis) {
    while (array->op == OP_CAST) array = array->args[0];
    uint32_t **numbers = &s->lengths.of_array[array->id];
    if (!*numbers) *numbers = ARENA_ARRAY(s->arena, uint32_t, array->type->ndim);
    if (!(*numbers)[axis]) {
        vec_push(s->arena, &s->lengths.arrays, array);
        (*numbers)[axis] = (uint32_t)s->lengths.arrays.len;
    }
    return (*numbers)[axis] - 1;
}

bool intervals_above_length(const Known *known, LengthId length, Wide *offset) {
    bool few = known->range.hi <= MAX_OFFSET; /* a length is not negative */
    if (few) *offset = known->range.hi;
    if (known->length != length) return few;
    if (!few || known->offset < *offset) *offset = known->offset;
    return true;
}

static Known at_most(Known known, LengthId length, Wide offset) {
    if (length == NO_LENGTH || offset > MAX_OFFSET || offset < -MAX_OFFSET) return known;
    known.length = length;
    known.offset = offset;
    return known;
}

/* At least 1: a struct without fields has no bytes. */
static int64_t item_bytes(const Type *array) {
    int64_t bytes = (int64_t)type_size(type_element(array));
    return bytes ? bytes : 1;
}

/* NumPy makes no array of more bytes than an int64 counts, whatever its strides. */
static Interval extents_of(const Intervals *s, const Type *array) {
    return interval_of(0, s->small ? SMALL_COUNT : INT64_MAX / item_bytes(array));
}

static Known extent(Intervals *s, const Value *array, unsigned axis) {
    return at_most(known_range(extents_of(s, array->type)), intervals_length(s, array, axis), 0);
}

/* ---- arithmetic ---- */

/* Not zero: the division raises then. */
static Interval divisor(const Value *value, Interval range) {
    if (!(value->flags & VF_CHECKED)) return range;
    if (range.lo == 0) range.lo = 1;
    if (range.hi == 0) range.hi = -1;
    return interval_is_empty(range) ? INTERVAL_EMPTY : range;
}

static bool forward_arithmetic(Op op, const Known *a, const Known *b) {
    switch (op) {
    case OP_ADD:
    case OP_MUL:
    case OP_FLOORDIV:
    case OP_OR:
    case OP_XOR: return a->forward && b->forward;
    case OP_AND: return a->forward || b->forward;
    case OP_MOD: return b->forward;
    case OP_POS:
    case OP_LSHIFT:
    case OP_RSHIFT: return a->forward;
    default: return false;
    }
}

/* The result is not above a length that an operand is not above; the operation did not wrap. */
static Known below_length(Op op, Known result, const Known *a, const Known *b) {
    bool shrinks = a->range.lo >= 0 && (op == OP_FLOORDIV ? b->range.lo >= 1 : op == OP_RSHIFT);
    if (op == OP_ADD && a->length != NO_LENGTH) return at_most(result, a->length, a->offset + b->range.hi);
    if (op == OP_ADD && b->length != NO_LENGTH) return at_most(result, b->length, b->offset + a->range.hi);
    if (op == OP_SUB) return at_most(result, a->length, a->offset - b->range.lo);
    if (op == OP_MOD && b->range.lo >= 1) return at_most(result, b->length, b->offset - 1);
    return shrinks ? at_most(result, a->length, a->offset) : result;
}

static Known arithmetic(Intervals *s, const ValueNode *node) {
    const Value *value = node->value;
    if (!is_integer(value->args[0]) || type_scalar_kind(value->type) == 'b') return intervals_of_type(value->type);
    Known a = *arg_at(s, node, 0), b = value->nargs > 1 ? *arg_at(s, node, 1) : a;
    if (value->op == OP_FLOORDIV || value->op == OP_MOD) b.range = divisor(value, b.range);
    Interval exact = interval_of_op(value->op, a.range, b.range);
    if (interval_is_empty(exact)) return nothing_seen;
    bool fits = interval_within(exact, interval_of_type(value->type));
    Known result = known_range(interval_wrapped(exact, value->type));
    result.forward |= is_python_int(value->type) && forward_arithmetic(value->op, &a, &b);
    return fits ? below_length(value->op, result, &a, &b) : result;
}

static Known power(Intervals *s, const ValueNode *node) {
    const Value *value = node->value;
    const Known *base = arg_at(s, node, 0), *exponent = arg_at(s, node, 1);
    Known all = intervals_of_type(value->type);
    if (!is_integer(value->args[0]) || !is_integer(value->args[1])) return all;
    if (interval_is_empty(base->range) || interval_is_empty(exponent->range)) return nothing_seen;
    if (exponent->range.lo != exponent->range.hi || exponent->range.lo < 0) return all;
    return known_range(interval_wrapped(interval_power(base->range, (uint64_t)exponent->range.lo), value->type));
}

static Known cast(Intervals *s, const ValueNode *node) {
    const Value *value = node->value, *from = value->args[0];
    Known all = intervals_of_type(value->type);
    if (!is_integer(from)) return all;
    Known known = *arg_at(s, node, 0);
    if (interval_is_empty(known.range)) return nothing_seen;
    if (value->flags & VF_CHECKED) { /* what does not fit raises */
        known.range = interval_meet(known.range, all.range);
        return interval_is_empty(known.range) ? nothing_seen : known;
    }
    if (interval_within(known.range, all.range)) return known;
    all.forward |= is_python_int(value->type) && known.range.lo >= 0; /* above 2**63 - 1: it has wrapped */
    return all;
}

static Known phi(Intervals *s, const ValueNode *node) {
    const Value *value = node->value;
    Known result = nothing_seen;
    bool same = true;
    for (uint32_t i = 0; i < value->nargs; i++) {
        const Known *arg = arg_at(s, node, i);
        if (value->args[i]->op == OP_UNDEF || interval_is_empty(arg->range)) continue;
        result.range = interval_join(result.range, arg->range);
        result.forward &= arg->forward;
        if (result.length == NO_LENGTH) result.length = arg->length;
    }
    /* An array made on this way round a loop is not the one of the next: the array must stand above the phi. */
    if (result.length == NO_LENGTH) return result;
    const Block *made = s->lengths.arrays.data[result.length]->block;
    same = made != value->block && value_graph_dominates(&s->graph, made, value->block);
    result.offset = -MAX_OFFSET;
    for (uint32_t i = 0; same && i < value->nargs; i++) {
        const Known *arg = arg_at(s, node, i);
        Wide offset;
        if (value->args[i]->op == OP_UNDEF || interval_is_empty(arg->range)) continue;
        same = intervals_above_length(arg, result.length, &offset);
        if (same && offset > result.offset) result.offset = offset;
    }
    if (!same) result.length = NO_LENGTH;
    return result;
}

/* ---- ranges and iterators ---- */

static Known constant(const Const *konst, const Type *type) {
    if (!type_is_integer(konst->type)) return intervals_of_type(type);
    Wide number = konst->type->scalar == SCALAR_UINT64 ? (Wide)(uint64_t)konst->i : (Wide)konst->i;
    return known_range(interval_wrapped(interval_of(number, number), type));
}

typedef struct RangeParts {
    Known start, stop, step;
} RangeParts;

static bool range_parts(const Intervals *s, uint32_t node, RangeParts *parts) {
    const ValueNode *at = node_at(s, node);
    const Value *value = at->value;
    if (value_calls(value, FUNC_RANGE)) {
        *parts = (RangeParts){*arg_at(s, at, 0), *arg_at(s, at, 1), *arg_at(s, at, 2)};
        return true;
    }
    if (!value->konst || value->konst->type->kind != TY_RANGE) return false;
    const Const *const *items = value->konst->items;
    *parts = (RangeParts){constant(items[0], items[0]->type), constant(items[1], items[1]->type),
                          constant(items[2], items[2]->type)};
    return true;
}

/* Any item of a range. */
static Known range_item(const Intervals *s, uint32_t node) {
    RangeParts r;
    if (!range_parts(s, node, &r)) return s->any_int;
    if (interval_is_empty(r.start.range) || interval_is_empty(r.stop.range) || interval_is_empty(r.step.range))
        return nothing_seen;
    Interval up = interval_of(r.start.range.lo, r.stop.range.hi - 1);
    Interval down = interval_of(r.stop.range.lo + 1, r.start.range.hi), items = INTERVAL_EMPTY;
    bool known = up.lo == down.hi && r.step.range.lo == r.step.range.hi; /* where it starts, and the step */
    if (known && r.step.range.lo > 0 && up.hi > up.lo) up.hi -= (up.hi - up.lo) % r.step.range.lo;
    if (known && r.step.range.lo < 0 && down.hi > down.lo) down.lo += (down.hi - down.lo) % -r.step.range.lo;
    if (r.step.range.hi > 0 && !interval_is_empty(up)) items = up;
    if (r.step.range.lo < 0 && !interval_is_empty(down)) items = interval_join(items, down);
    if (interval_is_empty(items)) return nothing_seen;
    Known item = known_range(items);
    if (r.step.range.lo > 0) {
        item.forward |= r.start.forward;
        return at_most(item, r.stop.length, r.stop.offset - 1);
    }
    if (r.step.range.hi >= 0) return item;
    item.forward |= r.stop.forward;
    return at_most(item, r.start.length, r.start.offset);
}

/* Of range(0, n) it is n, if that is not negative. */
static Known range_length(const Intervals *s, uint32_t node) {
    RangeParts r;
    if (!range_parts(s, node, &r)) return s->any_int;
    if (interval_is_empty(r.start.range) || interval_is_empty(r.stop.range)) return nothing_seen;
    Interval up = interval_of_op(OP_SUB, r.stop.range, r.start.range), down = interval_of_op(OP_NEG, up, up);
    Wide most = up.hi > down.hi ? up.hi : down.hi;
    Known length = known_range(interval_of(0, most < 0 ? 0 : most));
    return interval_within(length.range, interval_of(0, INT64_MAX)) ? length : s->any_int;
}

static Known join(Known a, Known b) {
    return (Known){interval_join(a.range, b.range), NO_LENGTH, 0, a.forward && b.forward};
}

/* Any item of a tuple of integers. */
static Known tuple_item(const Intervals *s, uint32_t node, const Type *item) {
    const Value *value = node_at(s, node)->value;
    Known result = nothing_seen;
    if (value->konst && value->konst->type->kind == TY_TUPLE)
        for (uint32_t i = 0; i < value->konst->type->count; i++)
            result = join(result, constant(value->konst->items[i], item));
    else if (value->op == OP_TUPLE && type_is_integer(item))
        for (uint32_t i = 0; i < value->nargs; i++) {
            if (value->args[i]->type != item) return intervals_of_type(item);
            result = join(result, *arg_at(s, node_at(s, node), i));
        }
    else
        return intervals_of_type(item);
    return result;
}

/* What an iterator gives; item: its type. */
static Known taken(const Intervals *s, uint32_t node, const Type *item, unsigned depth) {
    const Value *value = node_at(s, node)->value;
    bool made = value->op == OP_ITER || value_calls(value, FUNC_REVERSED);
    if (!made || depth == 0 || !type_is_integer(item)) return intervals_of_type(item);
    uint32_t source = node_at(s, node)->args[0];
    switch (value->args[0]->type->kind) {
    case TY_RANGE: return range_item(s, source);
    case TY_TUPLE: return tuple_item(s, source, item);
    case TY_ITER: return taken(s, source, item, depth - 1);
    default: return intervals_of_type(item);
    }
}

/* How many items an iterator gives at most, as a length and what it is above it. */
static Known item_count(Intervals *s, uint32_t node, unsigned depth) {
    const Value *value = node_at(s, node)->value;
    bool made = value->op == OP_ITER || value_calls(value, FUNC_REVERSED);
    if (!made || depth == 0) return s->any_int;
    uint32_t source = node_at(s, node)->args[0];
    const Type *type = value->args[0]->type;
    switch (type->kind) {
    case TY_RANGE: return range_length(s, source);
    case TY_TUPLE: return known_range(interval_of(0, type->count));
    case TY_ARRAY: return extent(s, value->args[0], 0);
    case TY_ITER: return item_count(s, source, depth - 1);
    default: return s->any_int;
    }
}

static Known enumerate_number(Intervals *s, uint32_t node) {
    const Known *start = arg_at(s, node_at(s, node), 1);
    if (interval_is_empty(start->range)) return nothing_seen;
    Known count = item_count(s, node_at(s, node)->args[0], MAX_NESTING), all = s->any_int;
    Known number = known_range(interval_of(start->range.lo, start->range.hi + count.range.hi - 1));
    if (!interval_within(number.range, all.range)) number = all;
    if (interval_is_empty(count.range) || interval_is_empty(number.range)) return nothing_seen;
    number.forward |= start->forward;
    return at_most(number, count.length, count.offset + start->range.hi - 1);
}

/* Part `index` of what the iterator gives. */
static Known taken_part(Intervals *s, uint32_t node, int64_t index, const Type *type) {
    const Value *value = node_at(s, node)->value;
    if (value_calls(value, FUNC_ENUMERATE) && index == 0 && value->nargs > 1) return enumerate_number(s, node);
    if (value_calls(value, FUNC_ENUMERATE)) return taken(s, node_at(s, node)->args[0], type, MAX_NESTING);
    if (value_calls(value, FUNC_ZIP) && index < value->nargs)
        return taken(s, node_at(s, node)->args[index], type, MAX_NESTING);
    return intervals_of_type(type);
}

/* ---- library functions ---- */

/* Places and sizes of a grid of few blocks. */
static Interval small_place(FuncId id) {
    switch (id) {
    case FUNC_CUDA_GRID: return interval_of(0, SMALL_COUNT - 1);
    case FUNC_CUDA_GRIDSIZE: return interval_of(0, SMALL_COUNT);
    case FUNC_CUDA_BLOCKIDX_X:
    case FUNC_CUDA_BLOCKIDX_Y:
    case FUNC_CUDA_BLOCKIDX_Z:
    case FUNC_CUDA_GRIDDIM_X:
    case FUNC_CUDA_GRIDDIM_Y:
    case FUNC_CUDA_GRIDDIM_Z: return interval_of(0, SMALL_BLOCKS);
    default: return interval_of(INT64_MIN, INT64_MAX);
    }
}

/* What the row says of an integer result, or of each item of a tuple. */
static Known row_result(const Intervals *s, const Value *value, const Type *type) {
    const FuncRange *range = &func_row(value->imm.func)->range;
    Known all = intervals_of_type(type);
    if (!range->low && !range->high) return all;
    Interval result = interval_meet(all.range, interval_of(range->low, range->high));
    return known_range(s->small ? interval_meet(result, small_place(value->imm.func->id)) : result);
}

static Known smallest(Known a, const Known *b) {
    Known result = known_range(interval_of(a.range.lo < b->range.lo ? a.range.lo : b->range.lo,
                                           a.range.hi < b->range.hi ? a.range.hi : b->range.hi));
    result.forward |= a.forward && b->forward;
    return a.length != NO_LENGTH ? at_most(result, a.length, a.offset) : at_most(result, b->length, b->offset);
}

static Known largest(Known a, const Known *b) {
    Known result = known_range(interval_of(a.range.lo > b->range.lo ? a.range.lo : b->range.lo,
                                           a.range.hi > b->range.hi ? a.range.hi : b->range.hi));
    result.forward |= a.forward || b->forward;
    return result;
}

static Known extreme(const Intervals *s, const ValueNode *node, bool least) {
    const Value *value = node->value;
    Known result = nothing_seen;
    for (uint32_t i = 0; i < value->nargs; i++) {
        const Known *arg = arg_at(s, node, i);
        if (!is_integer(value->args[i])) return intervals_of_type(value->type);
        if (interval_is_empty(arg->range)) return nothing_seen;
        result = i == 0 ? *arg : least ? smallest(result, arg) : largest(result, arg);
    }
    return value->nargs ? result : intervals_of_type(value->type);
}

static Known call(Intervals *s, const ValueNode *node) {
    const Value *value = node->value;
    Known all = intervals_of_type(value->type);
    switch (value->imm.func->id) {
    case FUNC_PY_MIN:
    case FUNC_NP_MINIMUM:
    case FUNC_NP_FMIN: return extreme(s, node, true);
    case FUNC_PY_MAX:
    case FUNC_NP_MAXIMUM:
    case FUNC_NP_FMAX: return extreme(s, node, false);
    case FUNC_PY_ABS:
    case FUNC_OPERATOR_ABS:
    case FUNC_NP_ABSOLUTE: {
        if (!is_integer(value->args[0])) return all;
        Known known = known_range(interval_wrapped(interval_absolute(arg_at(s, node, 0)->range), value->type));
        known.forward |= is_python_int(value->type);
        return known;
    }
    case FUNC_LEN:
        return value->args[0]->type->kind == TY_RANGE ? range_length(s, node->args[0])
                                                      : row_result(s, value, value->type);
    default: return row_result(s, value, value->type);
    }
}

/* ---- parts of things ---- */

static Known attribute(Intervals *s, const Value *value) {
    const Value *array = value->args[0];
    switch (value_attr(value)) {
    case ATTR_ARRAY_size: return array->type->ndim == 1 ? extent(s, array, 0) : known_range(extents_of(s, array->type));
    case ATTR_ARRAY_nbytes: return known_range(interval_of(0, INT64_MAX));
    default: return intervals_of_type(value->type);
    }
}

static Known extract(Intervals *s, const ValueNode *node) {
    const Value *value = node->value, *from = value->args[0];
    const ValueNode *source = node_at(s, node->args[0]);
    int64_t index = value->imm.i;
    Known all = intervals_of_type(value->type);
    if (value_attr(from) == ATTR_ARRAY_shape && index < from->args[0]->type->ndim)
        return extent(s, from->args[0], (unsigned)index);
    if (from->op == OP_TUPLE && index < from->nargs && from->args[index]->type == value->type)
        return *arg_at(s, source, (uint32_t)index);
    if (from->op == OP_ITER_TAKE) return taken_part(s, source->args[0], index, value->type);
    if (from->op == OP_CALL_FUNC) return row_result(s, from, value->type);
    return all;
}

static Known item(Intervals *s, const ValueNode *node) {
    const Value *value = node->value, *from = value->args[0];
    if (value_attr(from) == ATTR_ARRAY_shape) return known_range(extents_of(s, from->args[0]->type));
    if (from->type->kind == TY_TUPLE) return tuple_item(s, node->args[0], value->type);
    if (from->type->kind == TY_RANGE) return range_item(s, node->args[0]);
    return intervals_of_type(value->type);
}

/* ---- a node ---- */

static Known branch_node(const Intervals *s, const ValueNode *node) {
    Known known = s->known[node->source];
    const Known *other = &s->known[node->other];
    known.range = interval_where(known.range, node->relation, other->range);
    if (interval_is_empty(known.range)) return nothing_seen;
    known.forward |= known.range.lo >= 0;
    bool below = node->relation == OP_LT || node->relation == OP_LE || node->relation == OP_EQ;
    if (!below || other->length == NO_LENGTH) return known;
    Wide offset = other->offset - (node->relation == OP_LT);
    if (known.length == other->length && known.offset <= offset) return known;
    return at_most(known, other->length, offset);
}

/* A parameter: what calls pass, or what a launch has checked of the kernel's arguments. */
static Known param(const Intervals *s, const Value *value) {
    Known known = intervals_of_type(value->type);
    const Bounds *passed = s->inst->arguments ? &s->inst->arguments[value->imm.i] : NULL;
    bool open = value->type->scalar == SCALAR_UINT64 && passed && passed->hi == INT64_MAX; /* Bounds say no more */
    if (passed)
        return known_range(interval_meet(known.range, interval_of(passed->lo, open ? known.range.hi : passed->hi)));
    bool checked = s->small && s->inst->id == 0 && value->type->scalar == SCALAR_INT64;
    return checked ? known_range(interval_of(1 - SMALL_COUNT, SMALL_COUNT - 1)) : known;
}

Known intervals_of_node(Intervals *s, uint32_t number) {
    const ValueNode *node = node_at(s, number);
    if (node->relation != OP_COUNT) return branch_node(s, node);
    const Value *value = node->value;
    if (!value) return known_range(interval_of(0, 0));
    if (value->konst && type_is_integer(value->konst->type)) return constant(value->konst, value->type);
    if (value->op == OP_POW) return power(s, node);
    if (op_is_unary(value->op) || (op_is_binary(value->op) && value->op != OP_TRUEDIV)) return arithmetic(s, node);
    switch (value->op) {
    case OP_CAST: return cast(s, node);
    case OP_PHI: return phi(s, node);
    case OP_PARAM: return param(s, value);
    case OP_CALL_FUNC: return call(s, node);
    case OP_GETATTR: return attribute(s, value);
    case OP_EXTRACT: return extract(s, node);
    case OP_GETITEM: return item(s, node);
    case OP_ITER_TAKE: return taken(s, node->args[0], value->type, MAX_NESTING);
    default: return intervals_of_type(value->type);
    }
}
