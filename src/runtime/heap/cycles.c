/* cycles.c: objects that nothing refers to but each other: doubly linked lists, trees that know their parents.
 *
 * Counts of references never fall to zero there.  Each cycle leads through an instance of a class whose type leads back
 * to itself (ir/recursive.c); these stand in a ring, each thread's own, from when they are made until they are
 * released.  Once there are many, and twice as many as were left the last time, all that they lead to is looked at:
 * references that come from there are taken off each object's count.  What has some left is used by somebody, and so is
 * what it leads to; the rest is released.  A generator's frame, Python and registers refer from outside.  Objects that
 * several threads may see leave the ring and are used for ever. */
#include "runtime/heap/cycles.h"

enum { FEWEST = 1024 };

/* ---- the ring ---- */

static void link(HeapHead *before, HeapHead *after) {
    before->after = after;
    after->before = before;
}

static void enter(Cycles *cycles, HeapHead *object) {
    HeapHead *ring = &cycles->ring;
    if (!ring->after) link(ring, ring);
    link(object, ring->after);
    link(ring, object);
    cycles->count++;
}

/* The ring may be another thread's, whose generator it was: a number that is wrong is put right by the next search. */
void cycles_leave(HeapHead *object) {
    Cycles *cycles = heap_cycles();
    link(object->before, object->after);
    object->before = object->after = NULL;
    if (cycles) cycles->count--;
}

static bool is_empty(const Cycles *cycles) { return !cycles->ring.after || cycles->ring.after == &cycles->ring; }

void heap_forget_cycles(void) {
    Cycles *cycles = heap_cycles();
    heap_collect_cycles();
    while (cycles && !is_empty(cycles)) cycles_leave(cycles->ring.after);
}

/* ---- the search ---- */

/* A reference that is looked at: what has items of its own, is seen by this thread alone, and lives. */
static HeapHead *child_of(HeapHead *object, int64_t index) {
    HeapHead *child = heap_reference(object, index);
    bool holder = child && (child->kind == HEAP_LIST || child->kind == HEAP_REFERENCES);
    return holder && child->count >= 0 ? child : NULL;
}

typedef struct Search {
    HeapHead *first, *last; /* all that was looked at, by `next` */
} Search;

static void look_at(Search *search, HeapHead *object) {
    HeapHead *last = search->last;
    if (object->outside) return;
    object->outside = (int64_t)object->count + 2;
    object->next = NULL;
    if (last) last->next = object;
    if (!last) search->first = object;
    search->last = object;
}

static void take_off_references(Search *search) {
    for (HeapHead *object = search->first; object; object = object->next)
        for (int64_t i = 0, count = heap_references_of(object); i < count; i++) {
            HeapHead *child = child_of(object, i);
            if (!child) continue;
            look_at(search, child);
            child->outside--;
        }
}

/* Who is used uses what it refers to: those have 0 in `outside` again. */
static void mark_used(const Search *search) {
    HeapHead *used = NULL;
    for (HeapHead *object = search->first; object; object = object->next) {
        if (object->outside <= 1) continue;
        object->outside = 0;
        object->trail = used;
        used = object;
    }
    while (used) {
        HeapHead *object = used;
        used = object->trail;
        for (int64_t i = 0, count = heap_references_of(object); i < count; i++) {
            HeapHead *child = child_of(object, i);
            if (!child || !child->outside) continue;
            child->outside = 0;
            child->trail = used;
            used = child;
        }
    }
}

/* The rest, by `trail`, each with one more reference. */
static HeapHead *keep_unused(const Search *search) {
    HeapHead *unused = NULL;
    for (HeapHead *object = search->first; object; object = object->next) {
        if (!object->outside) continue;
        object->outside = 0;
        object->trail = unused;
        unused = object;
        heap_retain(object);
    }
    return unused;
}

static void give_up_references(HeapHead *object) {
    if (object->kind == HEAP_LIST) {
        krait_heap_list_truncate(object, 0);
        return;
    }
    HeapHead **references = heap_content(object);
    for (int64_t i = 0, count = heap_references_of(object); i < count; i++) {
        HeapHead *held = references[i];
        references[i] = NULL;
        if (held) heap_release(held);
    }
}

void heap_collect_cycles(void) {
    Cycles *cycles = heap_cycles();
    Search search = {0};
    if (!cycles || cycles->busy || is_empty(cycles)) return;
    cycles->busy = true;
    cycles->count = 0;
    for (HeapHead *object = cycles->ring.after; object != &cycles->ring; object = object->after, cycles->count++)
        look_at(&search, object);
    take_off_references(&search);
    mark_used(&search);
    HeapHead *unused = keep_unused(&search);
    for (HeapHead *object = unused; object; object = object->trail) give_up_references(object);
    for (HeapHead *object = unused; object;) {
        HeapHead *dead = object;
        object = dead->trail;
        heap_release(dead);
    }
    cycles->limit = 2 * cycles->count > FEWEST ? 2 * cycles->count : FEWEST;
    cycles->busy = false;
}

void krait_heap_may_cycle(HeapHead *object) {
    Cycles *cycles = heap_cycles();
    if (!cycles) return;
    if (cycles->count >= (cycles->limit ? cycles->limit : FEWEST)) heap_collect_cycles();
    enter(cycles, object);
}
