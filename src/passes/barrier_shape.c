/* barrier_shape.c: where the threads of a block are together, if all branches that part ways to barriers take all of
 * them the same way.
 *
 * In: a kernel cut behind its barriers, without edges from a block of several to one of several.  Out: Split.places and
 * Split.segments.
 *
 * The threads are followed from the entry.  After a jump they are together still; so they are after a branch at the
 * place through which all its ways lead, its immediate postdominator, if there is no barrier before that: what lies
 * between is between two places of one segment.  Ways that end in an exception do not count, since they end the block;
 * nor do, with Split.leaving, ways to a return statement: a thread that leaves there is not missed at barriers.
 * Postdominators as in Cooper, Harvey, Kennedy (2001), on the edges backwards. */
#include "passes/barriers.h"

/* ---- postdominators ---- */

typedef struct Back { /* the graph backwards, from the kernel's ends */
    Block **order;    /* in post-order */
    uint32_t *number; /* by Block.id: its place there */
    size_t count;
} Back;

static bool ends_well(const Split *split, const Block *block) {
    return block->last->op == OP_RETURN && (!split->leaving || block->last->flags & VF_IMPLICIT);
}

static void back_order(Split *split, Back *back) {
    typedef struct Frame {
        Block *block;
        size_t next;
    } Frame;
    VEC(Frame) stack = {0};
    back->order = ARENA_ARRAY(split->arena, Block *, split->nblocks);
    back->number = ARENA_ARRAY(split->arena, uint32_t, split->nblocks);
    for (size_t b = 0; b < split->nblocks; b++) {
        Block *end = split->func->blocks.data[b];
        if (!ends_well(split, end)) continue;
        place_of(split, end)->live = true;
        vec_push(split->arena, &stack, ((Frame){end, 0}));
        while (stack.len) {
            Frame *top = &vec_last(&stack);
            if (top->next < top->block->preds.len) {
                Block *pred = top->block->preds.data[top->next++];
                if (place_of(split, pred)->live) continue;
                place_of(split, pred)->live = true;
                vec_push(split->arena, &stack, ((Frame){pred, 0}));
            } else {
                back->number[top->block->id] = (uint32_t)back->count;
                back->order[back->count++] = vec_pop(&stack).block;
            }
        }
    }
}

/* NO_BLOCK is the end of all ways. */
static uint32_t meet(const Split *split, const Back *back, uint32_t a, uint32_t b) {
    while (a != b) {
        if (a == NO_BLOCK || b == NO_BLOCK) return NO_BLOCK;
        if (back->number[a] < back->number[b])
            a = split->places[a].after;
        else
            b = split->places[b].after;
    }
    return a;
}

static bool find_after(Split *split, const Back *back, bool *known, const Block *block) {
    uint32_t after = NO_BLOCK;
    bool any = false;
    for (size_t s = 0; s < block->succs.len; s++) {
        const Block *succ = block->succs.data[s];
        if (!place_of(split, succ)->live || !known[succ->id]) continue;
        after = any ? meet(split, back, after, succ->id) : succ->id;
        any = true;
    }
    bool changed = !known[block->id] || place_of(split, block)->after != after;
    place_of(split, block)->after = after;
    known[block->id] = true;
    return changed;
}

static void find_postdominators(Split *split) {
    Back back = {0};
    back_order(split, &back);
    bool *known = ARENA_ARRAY(split->arena, bool, split->nblocks), changed = true;
    while (changed) {
        changed = false;
        for (size_t i = back.count; i-- > 0;) changed |= find_after(split, &back, known, back.order[i]);
    }
}

/* ---- what lies between ---- */

void barriers_between(const Split *split, const Block *branch, uint32_t *seen, BlockList *found) {
    BlockList work = {0};
    uint32_t end = place_of(split, branch)->after;
    for (size_t s = 0; s < branch->succs.len; s++) vec_push(split->arena, &work, branch->succs.data[s]);
    while (work.len) {
        Block *block = vec_pop(&work);
        if (block->id == end || seen[block->id] == branch->id + 1) continue;
        seen[block->id] = branch->id + 1;
        vec_push(split->arena, found, block);
        for (size_t s = 0; s < block->succs.len; s++) vec_push(split->arena, &work, block->succs.data[s]);
    }
}

/* ---- following the threads ---- */

typedef struct Walk {
    Split *split;
    BlockList work, between; /* between: of the branch at hand */
    uint32_t *seen;          /* for barriers_between */
} Walk;

/* Walk.between; false: with a barrier among them. */
static bool walk_between(Walk *walk, const Block *branch) {
    bool without = !place_of(walk->split, branch)->forced;
    walk->between.len = 0;
    barriers_between(walk->split, branch, walk->seen, &walk->between);
    for (size_t i = 0; i < walk->between.len; i++) {
        const Place *place = place_of(walk->split, walk->between.data[i]);
        without &= !place->barrier && !place->forced;
    }
    return without;
}

/* All threads come to the block together, by one more way. */
static bool arrive(Walk *walk, Block *block, bool leads) {
    Place *place = place_of(walk->split, block);
    place->steps++;
    place->leads |= leads || place->steps > 1;
    if (place->together) return !place->between || !place->leads;
    if (place->between || !place->live) return false;
    place->together = true;
    vec_push(walk->split->arena, &walk->work, block);
    return true;
}

static bool leave_branch(Walk *walk, Block *block) {
    Split *split = walk->split;
    Place *place = place_of(split, block);
    if (!walk_between(walk, block)) {
        place->parts = true;
        for (size_t s = 0; s < block->succs.len; s++) TRY(arrive(walk, block->succs.data[s], true));
        return true;
    }
    for (size_t i = 0; i < walk->between.len; i++) {
        Place *inner = place_of(split, walk->between.data[i]);
        if (inner->together && walk->between.data[i] != block) return false;
        inner->between = true;
    }
    if (place->between && place->leads) return false; /* it would be entered in the middle of its own loop */
    return place->after == NO_BLOCK || arrive(walk, split->func->blocks.data[place->after], false);
}

static bool follow_threads(Split *split) {
    Walk walk = {.split = split, .seen = ARENA_ARRAY(split->arena, uint32_t, split->nblocks)};
    TRY(arrive(&walk, split->func->blocks.data[0], true));
    while (walk.work.len) {
        Block *block = vec_pop(&walk.work);
        if (block->last->op == OP_JUMP)
            TRY(arrive(&walk, block->succs.data[0], place_of(split, block)->barrier));
        else if (block->last->op == OP_BRANCH)
            TRY(leave_branch(&walk, block));
        else if (!ends_well(split, block))
            return false;
    }
    return true;
}

/* ---- segments ---- */

/* False: another segment leads there, too. */
static bool claim(Split *split, Segment *segment, Block *block) {
    Place *place = place_of(split, block);
    if (place->segment) return place->segment == segment;
    place->segment = segment;
    vec_push(split->arena, &segment->blocks, block);
    return true;
}

static bool claim_between(Split *split, Segment *segment, const Block *branch, uint32_t *seen) {
    BlockList between = {0};
    barriers_between(split, branch, seen, &between);
    for (size_t i = 0; i < between.len; i++) TRY(claim(split, segment, between.data[i]));
    return true;
}

static bool follow_segment(Split *split, Segment *segment, uint32_t *seen) {
    Block *block = segment->leader;
    for (;;) {
        const Place *place = place_of(split, block);
        Block *next = NULL;
        segment->last = block;
        TRY(claim(split, segment, block));
        if (block->last->op == OP_JUMP) next = block->succs.data[0];
        if (block->last->op == OP_BRANCH && !place->parts) {
            TRY(claim_between(split, segment, block, seen));
            if (place->after != NO_BLOCK) next = split->func->blocks.data[place->after];
        }
        if (!next) return true;
        if (place_of(split, next)->leads) {
            segment->next = next;
            return true;
        }
        block = next;
    }
}

bool barriers_find_shape(Split *split) {
    for (size_t b = 0; b < split->nblocks; b++)
        split->places[b] = (Place){.forced = split->places[b].forced, .barrier = split->places[b].barrier};
    split->segments.len = 0;
    find_postdominators(split);
    TRY(follow_threads(split));
    uint32_t *seen = ARENA_ARRAY(split->arena, uint32_t, split->nblocks);
    for (size_t b = 0; b < split->nblocks; b++) {
        if (!split->places[b].leads) continue;
        Segment *segment = ARENA_NEW(split->arena, Segment);
        segment->leader = split->func->blocks.data[b];
        TRY(follow_segment(split, segment, seen));
        vec_push(split->arena, &split->segments, segment);
    }
    return true;
}
