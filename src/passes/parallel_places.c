/* parallel_places.c: iterations of a loop over prange that read what another one writes, at a known distance.
 *
 *   for i in prange(1, n): x[i] = x[i - 1] + 1     iteration i reads what iteration i - 1 writes
 *
 * In: the blocks of an iteration.  Out: Places of the accesses to arrays from outside: of each axis what its index is,
 * as factor * item + base + offset (i * m + j, too), as the item of an inner loop that is the same in every iteration,
 * or all of it.
 * Two places of one array, one of them written, meet in different iterations if on every axis they agree for one and
 * the same distance between the iterations, which is not zero.  What surely happens (both in every iteration, one of
 * them a read) is refused; what may happen leaves the loop on one core, as does a place that all iterations write to
 * and none reads, where the last value has to stay: out[0] = i.  Indices of any other kind are not looked at here:
 * that iterations then write to different items is the programmer's word. */
#include "passes/parallel.h"

typedef enum AxisKind {
    AXIS_UNKNOWN,
    AXIS_LINEAR, /* (factor * item + offset) * scale + base + rest */
    AXIS_EACH,   /* the same, base the item of an inner loop of the same rounds in every iteration */
    AXIS_ALL,    /* the whole axis */
} AxisKind;

typedef struct Axis {
    AxisKind kind;
    int64_t factor, offset, rest;
    const Value *scale, *base; /* NULL: 1, and rest is 0; none */
} Axis;

typedef struct Place {
    const Value *array, *access;
    bool written, certain; /* certain: in every iteration */
    unsigned count;
    Axis axes[TYPE_MAX_NDIM]; /* what is missing is AXIS_ALL */
} Place;

typedef struct Places {
    ParallelLoop *loop;
    const Value *item; /* of the range: what this iteration takes */
    VEC(Place) found;
} Places;

static bool is_array(const Value *value) { return value->type && value->type->kind == TY_ARRAY; }

/* ---- indices ---- */

static bool is_same_number(const Value *a, const Value *b) {
    return a == b || (a->konst && b->konst && type_is_integer(a->konst->type) && type_is_integer(b->konst->type) &&
                      a->konst->i == b->konst->i);
}

/* Whether it is the same in every iteration: from outside, or lengths and sums of such. */
static bool is_outer(const ParallelLoop *loop, const Value *value) {
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
        if (!is_outer(loop, value->args[i])) return false;
    return true;
}

/* Of two values that are the same in every iteration: whether they are one, or made in the same way. */
static bool is_same(const Value *a, const Value *b) {
    if (is_same_number(a, b)) return true;
    if (a->op != b->op || a->nargs != b->nargs || a->type != b->type || a->nargs == 0) return false;
    if (a->op == OP_GETATTR ? value_attr(a) != value_attr(b) : a->imm.i != b->imm.i) return false;
    for (uint32_t i = 0; i < a->nargs; i++)
        if (!is_same(a->args[i], b->args[i])) return false;
    return true;
}

/* The range of the inner loop whose item is taken or asked for, if it is the same in every iteration; or NULL. */
static const Value *range_of(const ParallelLoop *loop, const Value *item) {
    if ((item->op != OP_ITER_TAKE && item->op != OP_ITER_MORE) || item->args[0]->op != OP_ITER) return NULL;
    const Value *range = item->args[0]->args[0];
    if (!value_calls(range, FUNC_RANGE) && !value_calls(range, FUNC_PRANGE)) return NULL;
    for (uint32_t i = 0; i < range->nargs; i++)
        if (!is_outer(loop, range->args[i])) return NULL;
    return range;
}

static bool is_same_base(const ParallelLoop *loop, const Axis *a, const Axis *b) {
    if (a->base == b->base) return true;
    if (!a->base || !b->base) return false;
    if (a->kind != AXIS_EACH) return is_outer(loop, a->base) && is_outer(loop, b->base) && is_same(a->base, b->base);
    const Value *first = range_of(loop, a->base), *second = range_of(loop, b->base);
    for (uint32_t i = 0; i < 3; i++)
        if (!is_same(first->args[i], second->args[i])) return false;
    return true;
}

static bool is_same_scale(const Value *a, const Value *b) { return a == b || (a && b && is_same(a, b)); }

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
    if (!take_rest(&a, &b) || !take_rest(&b, &a) || !is_same_scale(a.scale, b.scale))
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

static Axis axis_of(const Places *places, const Value *index, unsigned depth) {
    enum { DEEPEST = 16 };
    const ParallelLoop *loop = places->loop;
    Axis axis = {.kind = AXIS_UNKNOWN};
    if (index == places->item) return (Axis){.kind = AXIS_LINEAR, .factor = 1};
    if (!index->type || !type_is_integer(index->type) || depth > DEEPEST) return axis;
    if (index->konst) return (Axis){.kind = AXIS_LINEAR, .offset = index->konst->i};
    if (index->op == OP_CAST) {
        axis = axis_of(places, index->args[0], depth + 1);
    } else if (index->op == OP_ADD || index->op == OP_SUB || index->op == OP_MUL) {
        Axis a = axis_of(places, index->args[0], depth + 1), b = axis_of(places, index->args[1], depth + 1);
        axis = index->op == OP_MUL ? multiplied(a, b) : added(a, b, index->op == OP_SUB);
    } else if (loop_has(loop, index) && index->op == OP_ITER_TAKE && range_of(loop, index)) {
        axis = (Axis){.kind = AXIS_EACH, .base = index};
    }
    if (axis.kind == AXIS_UNKNOWN && is_outer(loop, index)) return (Axis){.kind = AXIS_LINEAR, .base = index};
    return axis;
}

static bool is_whole_slice(const Value *part) {
    const Type *type = part->type;
    bool whole = type && type->kind == TY_SLICE;
    for (size_t i = 0; whole && i < type->count; i++) whole = type->items[i]->kind == TY_NONE;
    return whole;
}

/* The axes that one index takes, added to the place; false: it has other things than numbers and whole slices, or
 * counts axes behind a slice. */
static bool add_axes(const Places *places, Place *place, const Value *index) {
    uint32_t count = index->op == OP_TUPLE ? index->nargs : 1;
    for (unsigned i = 0; i < place->count; i++)
        if (place->axes[i].kind == AXIS_ALL) return false;
    for (uint32_t i = 0; i < count; i++) {
        const Value *part = index->op == OP_TUPLE ? index->args[i] : index;
        bool number = part->type && type_is_integer(part->type) && type_scalar_kind(part->type) != 'b';
        if (part->type && part->type->kind == TY_ELLIPSIS && i == count - 1) return true;
        if ((!number && !is_whole_slice(part)) || place->count == TYPE_MAX_NDIM) return false;
        place->axes[place->count++] = number ? axis_of(places, part, 0) : (Axis){.kind = AXIS_ALL};
    }
    return true;
}

/* The array from outside that a view is on, its indices added to the place from the outermost on; NULL: not known. */
static const Value *find_root(const Places *places, Place *place, const Value *view) {
    if (!loop_has(places->loop, view)) return view;
    if (view->op != OP_GETITEM || !is_array(view->args[0])) return NULL;
    const Value *root = find_root(places, place, view->args[0]);
    return root && add_axes(places, place, view->args[1]) ? root : NULL;
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
        if (every) return head->last->op == OP_BRANCH && range_of(loop, head->last->args[0]) ? head : NULL;
    }
    return NULL;
}

static bool is_certain(const ParallelLoop *loop, const Block *block) {
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
                    other->access->block == place->access->block;
        for (unsigned a = 0; a < place->count && same; a++) same = is_same_axis(&other->axes[a], &place->axes[a]);
        if (same) return true;
    }
    return false;
}

static void note(Places *places, const Value *access, const Value *array, const Value *index, bool written) {
    Place place = {.access = access, .written = written};
    place.array = find_root(places, &place, array);
    if (!place.array || !is_array(place.array) || (index && !add_axes(places, &place, index))) return;
    if (!is_noted(places, &place)) vec_push(places->loop->func->arena, &places->found, place);
}

static void find_places(Places *places) {
    const ParallelLoop *loop = places->loop;
    for (size_t b = 0; b < loop->blocks.len; b++)
        for (const Value *value = loop->blocks.data[b]->first; value; value = value->next) {
            if (value->op == OP_SETITEM && is_array(value->args[0]))
                note(places, value, value->args[0], value->args[1], true);
            else if (value->op == OP_GETITEM && is_array(value->args[0]) && !is_array(value))
                note(places, value, value->args[0], value->args[1], false);
            for (uint32_t i = 0; value->op == OP_MAP && i < value->nargs; i++)
                if (is_array(value->args[i])) note(places, value, value->args[i], NULL, i < (uint32_t)value->imm.i);
        }
}

/* ---- two places ---- */

typedef enum Meeting { NEVER, MAYBE, SURELY } Meeting;

/* How many iterations lie between the two where a linear index is the same; false: it never is, or is not known. */
static bool find_distance(const ParallelLoop *loop, const Axis *a, const Axis *b, int64_t *distance, bool *known) {
    const Const *step = loop->range->args[2]->konst;
    int64_t apart, each;
    *known = !__builtin_sub_overflow(a->offset, b->offset, &apart);
    *distance = 0;
    if (*known && apart == 0) return true;
    *known = *known && step && !__builtin_mul_overflow(a->factor, step->i, &each) && each;
    if (!*known || apart % each) return false;
    *distance = apart / each;
    return true;
}

static bool is_too_far(const ParallelLoop *loop, int64_t distance) {
    const Const *start = loop->range->args[0]->konst, *stop = loop->range->args[1]->konst,
                *step = loop->range->args[2]->konst;
    int64_t span, reach;
    if (!start || !stop || !step || __builtin_sub_overflow(stop->i, start->i, &span)) return false;
    if (__builtin_mul_overflow(distance, step->i, &reach)) return true;
    return (reach < 0 ? -(uint64_t)reach : (uint64_t)reach) >= (span < 0 ? -(uint64_t)span : (uint64_t)span);
}

/* Of i + j, j the item of an inner loop: whether that one goes so far that iterations meet at different j.  Where the
 * steps or the rounds are not known, that they do not is the programmer's word, but for steps of one. */
static bool slides(const ParallelLoop *loop, const Axis *axis) {
    const Const *step = loop->range->args[2]->konst;
    int64_t each, span;
    if (axis->kind != AXIS_EACH || axis->scale || !step || __builtin_mul_overflow(axis->factor, step->i, &each))
        return false;
    const Value *range = range_of(loop, axis->base);
    const Const *start = range->args[0]->konst, *stop = range->args[1]->konst;
    if (!start || !stop || __builtin_sub_overflow(stop->i, start->i, &span)) return each == 1 || each == -1;
    return (span < 0 ? -(uint64_t)span : (uint64_t)span) > (each < 0 ? -(uint64_t)each : (uint64_t)each);
}

static bool is_items(const Axis *axis) { return axis->kind == AXIS_LINEAR && axis->factor && !axis->base; }

static const Axis *axis_at(const Place *place, unsigned axis) {
    static const Axis all = {.kind = AXIS_ALL};
    return axis < place->count ? &place->axes[axis] : &all;
}

/* What every iteration writes there; NULL: not the same. */
static const Value *what_is_written(const ParallelLoop *loop, const Value *access) {
    bool map = access->op == OP_MAP;
    const Value *what = map ? access->args[access->nargs - 1] : access->args[2];
    return (!map || (!access->imm.inst && access->nargs == 2)) && is_outer(loop, what) ? what : NULL;
}

/* Of two places that are the same in all iterations: whether it matters which one writes last.  What is read, too, is
 * parallel_shared.c's question. */
static Meeting meet_in_all(const Places *places, const Place *a, const Place *b) {
    for (size_t i = 0; i < places->found.len; i++)
        if (places->found.data[i].array == a->array && !places->found.data[i].written) return NEVER;
    const Value *one = what_is_written(places->loop, a->access), *other = what_is_written(places->loop, b->access);
    return one && other && (one == other || is_same_number(one, other)) ? NEVER : MAYBE;
}

/* Whether the two meet in different iterations. */
static Meeting meet(const Places *places, const Place *a, const Place *b) {
    const ParallelLoop *loop = places->loop;
    int64_t distance = 0;
    bool moves = false, sliding = false, exact = a->certain && b->certain && a->written != b->written;
    for (unsigned axis = 0; axis < a->count || axis < b->count; axis++) {
        const Axis *x = axis_at(a, axis), *y = axis_at(b, axis);
        if (x->kind == AXIS_ALL || y->kind == AXIS_ALL) {
            exact = exact && x->kind == y->kind;
            continue;
        }
        if ((x->kind == AXIS_EACH && is_items(y)) || (y->kind == AXIS_EACH && is_items(x))) {
            sliding = true, exact = false; /* what another iteration's inner loop comes to, too */
            continue;
        }
        if (x->kind == AXIS_UNKNOWN || x->kind != y->kind || x->factor != y->factor) return NEVER;
        if (!is_same_base(loop, x, y) || !is_same_scale(x->scale, y->scale) || x->rest != y->rest) return NEVER;
        if (x->factor) {
            int64_t between;
            bool known;
            bool meets = find_distance(loop, x, y, &between, &known) && between && !is_too_far(loop, between);
            if (!meets && slides(loop, x)) {
                sliding = true, exact = false;
                continue;
            }
            if (!meets || (moves && between != distance)) return NEVER;
            distance = between, moves = true;
        } else if (x->offset != y->offset) {
            if (x->kind == AXIS_LINEAR) return NEVER;
            exact = false; /* another round of the inner loop, if there is one */
        }
    }
    return !moves && !sliding ? meet_in_all(places, a, b) : exact ? SURELY : MAYBE;
}

static bool refuse(const ParallelLoop *loop, const Place *read, const Place *write) {
    const char *name = read->array->name;
    diag_fail(loop->diag, DIAG_UNSUPPORTED, loop->func->source, read->access->span,
              "%s%s%s carries a value from one iteration of prange to the next: what is read here, another iteration "
              "writes",
              name ? "`" : "", name ? name : "an array", name ? "`" : "");
    diag_hint(loop->diag, "iterations run in any order: use range, or write to another array than is read");
    diag_note(loop->diag, loop->func->source, write->access->span, "written here");
    diag_note(loop->diag, loop->func->source, loop->range->span, "this loop");
    return false;
}

bool parallel_find_meeting(ParallelLoop *loop, const Value **maybe) {
    Places places = {.loop = loop};
    for (const Value *value = loop->body->first; value && !places.item; value = value->next)
        if (value->op == OP_ITER_TAKE && value->args[0] == loop->iter) places.item = value;
    find_places(&places);
    bool dominators = false;
    *maybe = NULL;
    for (size_t i = 0; i < places.found.len; i++)
        for (size_t k = 0; places.found.data[i].written && k < places.found.len; k++) {
            Place *write = &places.found.data[i], *other = &places.found.data[k];
            write->certain = other->certain = true;
            if (other->array != write->array || meet(&places, write, other) == NEVER) continue;
            if (!dominators) func_compute_order(loop->func), func_compute_dominators(loop->func);
            dominators = true;
            write->certain = is_certain(loop, write->access->block);
            other->certain = is_certain(loop, other->access->block);
            if (meet(&places, write, other) == SURELY) return refuse(loop, other, write);
            if (!*maybe) *maybe = other->access;
        }
    return true;
}
