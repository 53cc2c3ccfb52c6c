/* parallel_meetings.c: iterations of a loop over prange that read what another one writes, at a known distance.
 *
 *   for i in prange(1, n): x[i] = x[i - 1] + 1     iteration i reads what iteration i - 1 writes
 *
 * Two places of one array, one of them written, meet in different iterations if on every axis they agree for one and
 * the same distance between the iterations, which is not zero.  What surely happens (both in every iteration, one of
 * them a read) is refused; what may happen leaves the loop on one core, as does a place that all iterations write to
 * and none reads, where the last value has to stay: out[0] = i. */
#include "passes/parallel_places.h"

static bool is_same_base(const ParallelLoop *loop, const Axis *a, const Axis *b) {
    if (a->base == b->base) return true;
    if (!a->base || !b->base) return false;
    if (a->kind != AXIS_EACH)
        return places_outer(loop, a->base) && places_outer(loop, b->base) && places_same(a->base, b->base);
    const Value *first = places_range(loop, a->base), *second = places_range(loop, b->base);
    for (uint32_t i = 0; i < 3; i++)
        if (!places_same(first->args[i], second->args[i])) return false;
    return true;
}

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
    const Value *range = places_range(loop, axis->base);
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
static const Value *what_is_written(const ParallelLoop *loop, const Place *place) {
    const Value *access = place->access;
    if (place->called) return NULL;
    bool map = access->op == OP_MAP;
    const Value *what = map ? access->args[access->nargs - 1] : access->args[2];
    return (!map || (!access->imm.inst && access->nargs == 2)) && places_outer(loop, what) ? what : NULL;
}

/* Of two places that are the same in all iterations: whether it matters which one writes last.  What is read, too, is
 * parallel_shared.c's question. */
static Meeting meet_in_all(const Places *places, const Place *a, const Place *b) {
    bool read = false, called = false;
    for (size_t i = 0; i < places->found.len; i++) {
        const Place *place = &places->found.data[i];
        if (place->array != a->array) continue;
        read = read || !place->written;
        called = called || place->called;
    }
    if (read) return called ? MAYBE : NEVER; /* parallel_shared.c does not look into functions */
    const Value *one = what_is_written(places->loop, a), *other = what_is_written(places->loop, b);
    return one && other && (one == other || places_same_number(one, other)) ? NEVER : MAYBE;
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
        if (!is_same_base(loop, x, y) || !places_same_scale(x->scale, y->scale) || x->rest != y->rest) return NEVER;
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
    places_find(&places);
    bool dominators = false;
    *maybe = NULL;
    for (size_t i = 0; i < places.found.len; i++)
        for (size_t k = 0; places.found.data[i].written && k < places.found.len; k++) {
            Place *write = &places.found.data[i], *other = &places.found.data[k];
            write->certain = other->certain = true;
            if (other->array != write->array || meet(&places, write, other) == NEVER) continue;
            if (!dominators) func_compute_order(loop->func), func_compute_dominators(loop->func);
            dominators = true;
            write->certain = write->sure && places_certain(loop, write->access->block);
            other->certain = other->sure && places_certain(loop, other->access->block);
            if (meet(&places, write, other) == SURELY) return refuse(loop, other, write);
            if (!*maybe) *maybe = other->access;
        }
    return true;
}
