/* interval_facts.c: what code generation is told of a function whose intervals are known (intervals.c).
 *
 * In: what is known of every node.  Out: bounds of values, flags of values, and conversions in the place of checked
 * ones that cannot fail.  What is said about an operation uses its operands as they are known where it stands; bounds
 * of a value hold wherever it is used. */
#include "library/library.h" /* value_calls */
#include "passes/intervals.h"

static bool is_integer(const Value *value) { return value->type && type_is_integer(value->type); }

/* ---- of the value itself ---- */

static void note_bounds(Intervals *s, Value *value) {
    const Known *known = &s->known[value->id];
    Interval all = interval_of_type(value->type), int64 = interval_of(INT64_MIN, INT64_MAX);
    if (type_scalar_kind(value->type) == 'b' || interval_is_empty(known->range) || value->konst) return;
    if (known->forward && known->range.lo < 0) value->flags |= VF_FORWARD; /* else the bounds say so */
    if (interval_equal(known->range, all) || !interval_within(known->range, int64)) return;
    Bounds *bounds = ARENA_NEW(s->arena, Bounds);
    *bounds = (Bounds){(int64_t)known->range.lo, (int64_t)known->range.hi};
    value->bounds = bounds;
}

/* ---- of an operation ---- */

static const Known *operand(const Intervals *s, const Value *value, uint32_t index) {
    return &s->known[s->graph.nodes.data[value->id].args[index]];
}

/* An operand as it was before it was made a float; NULL: it is no integer. */
static const Known *integer_operand(const Intervals *s, const Value *value, uint32_t index) {
    const Value *arg = value->args[index];
    if (is_integer(arg)) return operand(s, value, index);
    return arg->op == OP_CAST && is_integer(arg->args[0]) ? operand(s, arg, 0) : NULL;
}

static bool cannot_wrap(const Intervals *s, const Value *value) {
    char kind = type_scalar_kind(value->type);
    if (kind != 'i' && kind != 'u') return false;
    Interval a = operand(s, value, 0)->range, b = value->nargs > 1 ? operand(s, value, 1)->range : a;
    Interval exact = interval_of_op(value->op, a, b);
    return !interval_is_empty(exact) && interval_within(exact, interval_of_type(value->type));
}

static bool is_never_zero(const Known *known) {
    return known && !interval_is_empty(known->range) && !interval_has(known->range, 0);
}

static bool is_never_negative(const Known *known) {
    return known && !interval_is_empty(known->range) && known->range.lo >= 0;
}

static bool fits(const Known *known, const Type *type) {
    return !interval_is_empty(known->range) && interval_within(known->range, interval_of_type(type));
}

/* Whether a float64 holds each of these ints. */
static bool are_floats(const Known *known) {
    const Interval exact = {-(INT64_C(1) << 53), INT64_C(1) << 53};
    return !interval_is_empty(known->range) && interval_within(known->range, exact);
}

/* ---- of an access ---- */

/* Whether the value, or what branches say about it, is below a length. */
static bool is_below(const Intervals *s, uint32_t node, LengthId length) {
    for (;;) {
        Wide above;
        if (intervals_above_length(&s->known[node], length, &above) && above < 0) return true;
        if (node_at(s, node)->relation == OP_COUNT) return false;
        node = node_at(s, node)->source;
    }
}

bool intervals_prove_inside(Intervals *s, const Value *array, unsigned axis, uint32_t node) {
    return is_never_negative(&s->known[node]) && is_below(s, node, intervals_length(s, array, axis));
}

static bool element_is_inside(Intervals *s, const Value *access) {
    const Value *array = access->args[0], *index = access->args[1];
    uint32_t node = s->graph.nodes.data[access->id].args[1];
    if (index->type->kind != TY_TUPLE) return intervals_prove_inside(s, array, 0, node);
    while (index->op == OP_CAST) index = index->args[0];
    if (index->op != OP_TUPLE) return false;
    for (uint32_t i = 0; i < index->nargs; i++)
        if (!intervals_prove_inside(s, array, i, s->graph.nodes.data[index->id].args[i])) return false;
    return true;
}

bool intervals_prove_access(Intervals *s, const Value *access) {
    const Type *of = access->args[0]->type, *index = access->args[1]->type;
    if (of->kind == TY_ARRAY) return of->ndim > 0 && type_takes_element(of, index) && element_is_inside(s, access);
    if (of->kind != TY_TUPLE || !type_is_integer(index)) return false;
    const Known *known = operand(s, access, 1);
    return is_never_negative(known) && known->range.hi < of->count;
}

/* Whether an int32 is a sum or a difference that is not negative, unless it has wrapped, and then lies so far below
 * zero that it is no index from the end either: of an array of a launch that was found small. */
static bool wraps_outside(const Intervals *s, const Value *index) {
    const Wide most = (Wide)INT32_MAX + SMALL_COUNT; /* of which SMALL_COUNT is of an extent */
    while (index->op == OP_CAST && is_integer(index->args[0]) && interval_of_type(index->type).hi >= INT32_MAX)
        index = index->args[0]; /* a narrower type brings what has wrapped back */
    bool sums = (index->op == OP_ADD || index->op == OP_SUB) && index->type->scalar == SCALAR_INT32;
    if (!s->small || !sums || !is_integer(index->args[0]) || !is_integer(index->args[1])) return false;
    Interval exact = interval_of_op(index->op, operand(s, index, 0)->range, operand(s, index, 1)->range);
    return !interval_is_empty(exact) && exact.lo >= 0 && exact.hi <= most;
}

/* Whether where it stands no index of an access to an element counts from the end, though what holds of them wherever
 * they are used does not say so. */
static bool counts_forward_here(const Intervals *s, const Value *access) {
    const Value *holder = access, *index = access->args[1];
    const Type *of = access->args[0]->type;
    uint32_t first = 1, count = 1;
    if (of->kind != TY_ARRAY || of->ndim == 0 || !type_takes_element(of, index->type)) return false;
    if (index->type->kind == TY_TUPLE) {
        while (index->op == OP_CAST) index = index->args[0];
        if (index->op != OP_TUPLE) return false;
        holder = index, first = 0, count = index->nargs;
    }
    bool known = true;
    for (uint32_t i = first; i < first + count; i++) {
        const Value *number = holder->args[i];
        if (!is_integer(number) || !(operand(s, holder, i)->forward || wraps_outside(s, number))) return false;
        known &= value_counts_forward(holder->args[i]);
    }
    return !known;
}

/* Stores an integer that its element can hold: no check, a conversion. */
static void convert_stored(Intervals *s, Func *func, Value *store) {
    const Type *of = store->args[0]->type;
    Value *stored = store->args[2];
    if (!(store->flags & VF_CHECKED) || (of->kind != TY_ARRAY && of->kind != TY_FLAT) || !is_integer(stored)) return;
    const Type *element = type_element(of->kind == TY_FLAT ? of->items[0] : of);
    if (!type_is_integer(element) || !fits(operand(s, store, 2), element)) return;
    Value *cast = value_new(func, OP_CAST, store->span, &stored, 1);
    cast->type = element;
    value_insert_before(store, cast);
    store->args[2] = cast;
    store->flags &= ~(uint32_t)VF_CHECKED;
}

static void note_operation(Intervals *s, Func *func, Value *value) {
    switch (value->op) {
    case OP_ADD:
    case OP_SUB:
    case OP_MUL:
    case OP_NEG:
        if (is_integer(value) && cannot_wrap(s, value)) value->flags |= VF_NOWRAP;
        return;
    case OP_TRUEDIV:
    case OP_FLOORDIV:
    case OP_MOD:
        if (type_is_scalar(value->type) && is_never_zero(integer_operand(s, value, 1))) value->flags |= VF_UNCHECKED;
        return;
    case OP_POW:
    case OP_LSHIFT:
    case OP_RSHIFT:
        if (is_integer(value) && is_integer(value->args[1]) && is_never_negative(operand(s, value, 1)))
            value->flags |= VF_UNCHECKED;
        return;
    case OP_CAST:
        if (is_integer(value) && is_integer(value->args[0]) && fits(operand(s, value, 0), value->type))
            value->flags &= ~(uint32_t)VF_CHECKED;
        if (type_scalar_kind(value->type) == 'f' && is_integer(value->args[0]) && are_floats(operand(s, value, 0)))
            value->flags &= ~(uint32_t)VF_CHECKED;
        return;
    case OP_CALL_FUNC:
        if (value_calls(value, FUNC_RANGE) && is_never_zero(operand(s, value, 2))) value->flags |= VF_UNCHECKED;
        if (value_calls(value, FUNC_LEN) && is_never_negative(&s->known[value->id]))
            value->flags &= ~(uint32_t)VF_CHECKED;
        return;
    case OP_GETITEM:
        if (intervals_prove_access(s, value)) value->flags |= VF_UNCHECKED;
        if (counts_forward_here(s, value)) value->flags |= VF_FORWARD;
        return;
    case OP_SETITEM:
        if (intervals_prove_access(s, value)) value->flags |= VF_UNCHECKED;
        if (counts_forward_here(s, value)) value->flags |= VF_FORWARD;
        convert_stored(s, func, value);
        return;
    default: return;
    }
}

void intervals_note(Intervals *s, Func *func) {
    for (size_t b = 0; b < func->blocks.len; b++)
        for (Value *value = func->blocks.data[b]->first, *next; value; value = next) {
            next = value->next;
            if (is_integer(value) && op_has_result(value->op)) note_bounds(s, value);
            note_operation(s, func, value);
        }
}
