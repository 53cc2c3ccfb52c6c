/* parallel_places.c: the items that iterations of a loop over prange read and write.
 *
 * In: the blocks of an iteration.  Out: Places of the accesses to arrays from outside: of each axis what its index is,
 * as factor * item + base + offset (i * m + j, too), as the item of an inner loop that is the same in every iteration,
 * or all of it.  What a function does with arrays that it is given is at the place of its call; the items of a view
 * x[a:b] are those of x behind a.  Indices of any other kind are not looked at: that iterations then write to different
 * items is the programmer's word. */
#include "passes/parallel_places.h"

/* Where an access is: in the function that `call` calls.  No frame: in the function of the loop. */
typedef struct Frame {
    const struct Frame *caller;
    const Value *call;
} Frame;

enum { MOST_LOOKED = 20000, MOST_FRAMES = 8 };

static bool is_array(const Value *value) { return value->type && value->type->kind == TY_ARRAY; }

/* ---- indices ---- */

bool places_same_number(const Value *a, const Value *b) {
    return a == b || (a->konst && b->konst && type_is_integer(a->konst->type) && type_is_integer(b->konst->type) &&
                      a->konst->i == b->konst->i);
}

/* Whether it is the same in every iteration: from outside, or lengths and sums of such. */
bool places_outer(const ParallelLoop *loop, const Value *value) {
    if (value->konst || !loop_has(loop, value)) return true;
    switch (value->op) {
    case OP_GETATTR:
        if (value_attr(value) != ATTR_ARRAY_shape && value_attr(value) != ATTR_ARRAY_size) return false;
        break;
    case OP_CALL_FUNC:
        if (!value_calls(value, FUNC_LEN) || !is_array(value->args[0])) return false;
        break;
    case OP_EXTRACT:
    case OP_CAST:
    case OP_ADD:
    case OP_SUB:
    case OP_MUL: break;
    default: return false;
    }
    for (uint32_t i = 0; i < value->nargs; i++)
        if (!places_outer(loop, value->args[i])) return false;
    return true;
}

/* Of two values that are the same in every iteration: whether they are one, or made in the same way. */
bool places_same(const Value *a, const Value *b) {
    if (places_same_number(a, b)) return true;
    if (a->op != b->op || a->nargs != b->nargs || a->type != b->type || a->nargs == 0) return false;
    if (a->op == OP_GETATTR ? value_attr(a) != value_attr(b) : a->imm.i != b->imm.i) return false;
    for (uint32_t i = 0; i < a->nargs; i++)
        if (!places_same(a->args[i], b->args[i])) return false;
    return true;
}

/* The range of the inner loop whose item is taken or asked for, if it is the same in every iteration; or NULL. */
const Value *places_range(const ParallelLoop *loop, const Value *item) {
    if ((item->op != OP_ITER_TAKE && item->op != OP_ITER_MORE) || item->args[0]->op != OP_ITER) return NULL;
    const Value *range = item->args[0]->args[0];
    if (!value_calls(range, FUNC_RANGE) && !value_calls(range, FUNC_PRANGE)) return NULL;
    for (uint32_t i = 0; i < range->nargs; i++)
        if (!places_outer(loop, range->args[i])) return NULL;
    return range;
}

bool places_same_scale(const Value *a, const Value *b) { return a == b || (a && b && places_same(a, b)); }

/* Behind the item's part, which is scaled, what comes without it is the rest. */
static bool take_rest(Axis *scaled, Axis *other) {
    if (!scaled->scale || other->scale) return true;
    if (other->factor) return false;
    other->rest = other->offset;
    other->offset = 0;
    other->scale = scaled->scale;
    return true;
}

static Axis added(Axis a, Axis b, bool negative) {
    if (!take_rest(&a, &b) || !take_rest(&b, &a) || !places_same_scale(a.scale, b.scale))
        return (Axis){.kind = AXIS_UNKNOWN};
    Axis sum = {.kind = a.kind == AXIS_EACH || b.kind == AXIS_EACH ? AXIS_EACH : AXIS_LINEAR};
    bool wraps = negative ? __builtin_sub_overflow(a.factor, b.factor, &sum.factor) ||
                                __builtin_sub_overflow(a.offset, b.offset, &sum.offset) ||
                                __builtin_sub_overflow(a.rest, b.rest, &sum.rest)
                          : __builtin_add_overflow(a.factor, b.factor, &sum.factor) ||
                                __builtin_add_overflow(a.offset, b.offset, &sum.offset) ||
                                __builtin_add_overflow(a.rest, b.rest, &sum.rest);
    bool fits = !(a.base && b.base) && !(negative && b.base);
    sum.scale = a.scale;
    sum.base = a.base ? a.base : b.base;
    return wraps || !fits || a.kind == AXIS_UNKNOWN || b.kind == AXIS_UNKNOWN ? (Axis){.kind = AXIS_UNKNOWN} : sum;
}

static Axis multiplied(Axis a, Axis b) {
    Axis product = {.kind = AXIS_LINEAR};
    if (a.kind != AXIS_LINEAR || b.kind != AXIS_LINEAR || a.scale || b.scale || (a.factor && b.factor))
        return (Axis){.kind = AXIS_UNKNOWN};
    if (a.base && !a.factor && !a.offset && !b.base) return b.scale = a.base, b;
    if (b.base && !b.factor && !b.offset && !a.base) return a.scale = b.base, a;
    if (a.base || b.base) return (Axis){.kind = AXIS_UNKNOWN};
    int64_t by = a.factor ? b.offset : a.offset;
    if (!a.factor) a = b;
    if (__builtin_mul_overflow(a.factor, by, &product.factor) || __builtin_mul_overflow(a.offset, by, &product.offset))
        return (Axis){.kind = AXIS_UNKNOWN};
    return product;
}

static Axis axis_of(const Places *places, const Frame *frame, const Value *index, unsigned depth) {
    enum { DEEPEST = 16 };
    const ParallelLoop *loop = places->loop;
    Axis axis = {.kind = AXIS_UNKNOWN};
    if (index == places->item) return (Axis){.kind = AXIS_LINEAR, .factor = 1};
    if (!index->type || !type_is_integer(index->type) || depth > DEEPEST) return axis;
    if (index->konst) return (Axis){.kind = AXIS_LINEAR, .offset = index->konst->i};
    if (index->op == OP_CAST) {
        axis = axis_of(places, frame, index->args[0], depth + 1);
    } else if (index->op == OP_ADD || index->op == OP_SUB || index->op == OP_MUL) {
        Axis a = axis_of(places, frame, index->args[0], depth + 1);
        Axis b = axis_of(places, frame, index->args[1], depth + 1);
        axis = index->op == OP_MUL ? multiplied(a, b) : added(a, b, index->op == OP_SUB);
    } else if (frame) {
        if (index->op == OP_PARAM) axis = axis_of(places, frame->caller, frame->call->args[index->imm.i], depth + 1);
    } else if (loop_has(loop, index) && index->op == OP_ITER_TAKE && places_range(loop, index)) {
        axis = (Axis){.kind = AXIS_EACH, .base = index};
    }
    if (axis.kind == AXIS_UNKNOWN && !frame && places_outer(loop, index))
        return (Axis){.kind = AXIS_LINEAR, .base = index};
    return axis;
}

/* One of the parts of an index, a value or a part of a constant. */
typedef struct IndexPart {
    const Type *type;
    const Value *value; /* NULL: it is the constant */
    const Const *konst; /* NULL: it is none */
} IndexPart;

static IndexPart part_of(const Value *index, uint32_t i) {
    if (index->op == OP_TUPLE)
        index = index->args[i];
    else if (index->konst && index->type->kind == TY_TUPLE)
        return (IndexPart){index->konst->items[i]->type, NULL, index->konst->items[i]};
    return (IndexPart){index->type, index, index->konst};
}

static uint32_t count_parts(const Value *index) {
    if (index->op == OP_TUPLE) return index->nargs;
    return index->konst && index->type->kind == TY_TUPLE ? index->type->count : 1;
}

/* Where a slice begins, if it goes forward one by one; false: that is not known. */
static bool slice_start(const IndexPart *part, IndexPart *start) {
    const Type *type = part->type;
    if (type->kind != TY_SLICE || type->items[2]->kind != TY_NONE || !type_is_integer(type->items[0])) return false;
    *start = (IndexPart){.type = type->items[0]};
    if (part->konst) {
        start->konst = part->konst->items[0];
        return start->konst->i >= 0;
    }
    if (part->value->op != OP_SLICE) return false;
    start->value = part->value->args[0];
    return true;
}

static bool is_whole_slice(const Type *type) {
    bool whole = type->kind == TY_SLICE;
    for (size_t i = 0; whole && i < type->count; i++) whole = type->items[i]->kind == TY_NONE;
    return whole;
}

static Axis axis_of_part(const Places *places, const Frame *frame, const IndexPart *part) {
    if (part->konst) return (Axis){.kind = AXIS_LINEAR, .offset = part->konst->i};
    return axis_of(places, frame, part->value, 0);
}

/* The axis that the next index is for, *at or behind it, added to the place if there is none. */
static Axis *next_axis(Place *place, unsigned *at) {
    while (*at < place->count && place->axes[*at].kind != AXIS_ALL && !place->axes[*at].open) ++*at;
    if (*at == TYPE_MAX_NDIM) return NULL;
    if (*at == place->count) place->axes[place->count++] = (Axis){.kind = AXIS_ALL};
    return &place->axes[(*at)++];
}

/* The axes that one index takes, added to the place; false: it has other things than numbers and slices. */
static bool add_axes(const Places *places, const Frame *frame, Place *place, const Value *index) {
    uint32_t count = count_parts(index);
    unsigned at = 0;
    for (uint32_t i = 0; i < count; i++) {
        IndexPart part = part_of(index, i), start;
        if (!part.type) return false;
        if (part.type->kind == TY_ELLIPSIS && i == count - 1) return true;
        bool number = type_is_integer(part.type) && type_scalar_kind(part.type) != 'b';
        bool whole = is_whole_slice(part.type);
        if (!number && !whole && !slice_start(&part, &start)) return false;
        Axis *axis = next_axis(place, &at);
        if (!axis) return false;
        if (whole) continue;
        Axis from = axis_of_part(places, frame, number ? &part : &start);
        *axis = axis->kind == AXIS_ALL ? from : added(*axis, from, false);
        axis->open = !number;
    }
    return true;
}

/* The array from outside that a view is on, its indices added to the place from the outermost on; NULL: not known. What
 * is made outside is itself that array, unless it is a view whose indices are known. */
static const Value *find_root(const Places *places, const Frame *frame, Place *place, const Value *view) {
    if (frame && view->op == OP_PARAM) return find_root(places, frame->caller, place, frame->call->args[view->imm.i]);
    bool outside = !frame && !loop_has(places->loop, view);
    if (view->op != OP_GETITEM || !is_array(view->args[0])) return outside ? view : NULL;
    const Place before = *place;
    const Value *root = find_root(places, frame, place, view->args[0]);
    if (root && add_axes(places, frame, place, view->args[1])) return root;
    *place = before;
    return outside ? view : NULL;
}

/* ---- accesses ---- */

/* The header of the innermost loop around the block, if that is over such a range and the block is in every round; or
 * NULL. */
static const Block *round_of(const ParallelLoop *loop, const Block *block) {
    for (const Block *head = block->idom; head && loop->inside[head->id]; head = head->idom) {
        bool every = false;
        for (size_t i = 0; i < head->preds.len; i++) {
            const Block *pred = head->preds.data[i];
            if (!block_dominates(head, pred)) continue;
            if (!block_dominates(block, pred)) return NULL;
            every = true;
        }
        if (every) return head->last->op == OP_BRANCH && places_range(loop, head->last->args[0]) ? head : NULL;
    }
    return NULL;
}

bool places_certain(const ParallelLoop *loop, const Block *block) {
    for (; block; block = round_of(loop, block)) {
        bool every = true;
        for (size_t i = 0; i < loop->head->preds.len && every; i++) {
            const Block *pred = loop->head->preds.data[i];
            every = !loop->inside[pred->id] || block_dominates(block, pred);
        }
        if (every) return true;
    }
    return false;
}

static bool is_same_axis(const Axis *a, const Axis *b) {
    return a->kind == b->kind && a->factor == b->factor && a->offset == b->offset && a->rest == b->rest &&
           a->scale == b->scale && a->base == b->base;
}

static bool is_noted(const Places *places, const Place *place) {
    for (size_t i = 0; i < places->found.len; i++) {
        const Place *other = &places->found.data[i];
        bool same = other->array == place->array && other->written == place->written && other->count == place->count &&
                    other->access->block == place->access->block && other->called == place->called &&
                    other->sure == place->sure;
        for (unsigned a = 0; a < place->count && same; a++) same = is_same_axis(&other->axes[a], &place->axes[a]);
        if (same) return true;
    }
    return false;
}

/* The call in the loop that leads to a frame. */
static const Value *call_in_loop(const Frame *frame) {
    while (frame->caller) frame = frame->caller;
    return frame->call;
}

/* Whether what a called function does there, it does in each call. */
static bool is_sure(const Frame *frame, const Value *access) {
    for (const Value *at = access; frame; at = frame->call, frame = frame->caller)
        if (at->block != frame->call->imm.inst->func->blocks.data[0]) return false;
    return true;
}

static void note(Places *places, const Frame *frame, const Value *access, const Value *array, const Value *index,
                 bool written) {
    Place place = {.access = frame ? call_in_loop(frame) : access, .written = written, .called = frame != NULL};
    place.sure = is_sure(frame, access);
    place.array = find_root(places, frame, &place, array);
    if (!place.array || !is_array(place.array) || (index && !add_axes(places, frame, &place, index))) return;
    for (unsigned i = 0; i < place.count; i++)
        if (place.axes[i].open) return; /* how far the view goes is not known */
    if (!is_noted(places, &place)) vec_push(places->loop->func->arena, &places->found, place);
}

static void note_value(Places *places, const Frame *frame, const Value *value);

/* What a function does that is called, if it is given an array. */
static void note_called(Places *places, const Frame *caller, const Value *call) {
    const Func *func = call->imm.inst->func;
    const Frame frame = {caller, call};
    bool given = false;
    unsigned depth = 0;
    for (uint32_t i = 0; i < call->nargs; i++) given = given || is_array(call->args[i]);
    for (const Frame *at = caller; at; at = at->caller) depth++;
    for (size_t b = 0; func && given && depth < MOST_FRAMES && b < func->blocks.len; b++)
        for (const Value *value = func->blocks.data[b]->first; value; value = value->next)
            if (places->looked++ < MOST_LOOKED) note_value(places, &frame, value);
}

static void note_value(Places *places, const Frame *frame, const Value *value) {
    if (value->op == OP_SETITEM && is_array(value->args[0]))
        note(places, frame, value, value->args[0], value->args[1], true);
    else if (value->op == OP_GETITEM && is_array(value->args[0]) && !is_array(value))
        note(places, frame, value, value->args[0], value->args[1], false);
    else if (value->op == OP_CALL_INST)
        note_called(places, frame, value);
    for (uint32_t i = 0; value->op == OP_MAP && i < value->nargs; i++)
        if (is_array(value->args[i])) note(places, frame, value, value->args[i], NULL, i < (uint32_t)value->imm.i);
}

void places_find(Places *places) {
    const ParallelLoop *loop = places->loop;
    for (size_t b = 0; b < loop->blocks.len; b++)
        for (const Value *value = loop->blocks.data[b]->first; value; value = value->next)
            note_value(places, NULL, value);
}
