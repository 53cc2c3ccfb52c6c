/* fibers.c: the threads of one block as fibers on one core, with barriers.
 *
 * In: a kernel's entry for one thread, and a block.  Out: what became of it (FiberOutcome).
 *
 * Fibers are switched by saving the registers that a call preserves and exchanging stack pointers: a few nanoseconds.
 * A fiber that arrives at a barrier joins the queue of those waiting and switches straight to the next one ready; the
 * last to arrive makes the waiting queue the ready queue.  Threads that left by a return statement do not count, as on
 * a GPU; those that ran to the kernel's end went round the barrier: nobody passes it any more.  A block is stuck when
 * a thread arrives at another barrier than the one that others wait at, or when nobody is ready and somebody waits;
 * that is reported, its fibers are abandoned where they stand, and their stacks are set up anew before the next
 * block.
 *
 *   group: one mapping        | guard | stack 0 | guard | stack 1 | ...
 * The top of each stack is shifted by a different number of cache lines: equal addresses modulo 4096 in a thousand
 * stacks would share eight lines of the first-level cache.  Guard pages make an overflow a fault instead of a
 * neighbour's corruption; MADV_GUARD_INSTALL (Linux 6.13) costs no mapping each, mprotect does, and where the limit on
 * mappings is met the remaining stacks go without. */
#include <sched.h>    /* sched_yield */
#include <stdlib.h>   /* calloc */
#include <string.h>   /* memcpy */
#include <sys/mman.h> /* mmap */
#include <unistd.h>   /* sysconf */

#include "runtime/host/fiber_switch.h" /* krait_fiber_switch */
#include "runtime/host/fibers.h"
#include "runtime/host/races.h" /* fiber_is_private */
#include "runtime/host/warp.h"  /* warp_results */

#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102
#endif

enum { MIN_STACK = 64 << 10, CACHE_LINE = 64, COLOURS = 32 };

typedef struct Fiber Fiber;
struct Fiber {
    HostThread thread; /* first: generated code hands its address back */
    uint32_t site;     /* of the barrier it waits at; UINT32_MAX: none */
    uint32_t mask;     /* the lanes it waits for, at a warp's barrier */
    int32_t op;        /* WarpOp: what they do when they have met */
    WarpLane lane;     /* what it brings and takes away */
    int32_t number;    /* in its block */
    bool ended;        /* it ran to the kernel's end */
    void *sp;          /* where it stopped */
    void *stack;       /* the sanitizer's */
    Fiber *next;       /* in the queue it is in */
    FiberGroup *group;
};

typedef struct Queue {
    Fiber *first, *last;
} Queue;

typedef struct Warp {
    uint32_t live, ended; /* lanes: those that have not ended, those that ran to the kernel's end */
    Queue waiting;
} Warp;

struct FiberGroup {
    size_t capacity, stack_bytes, stride, mapped;
    char *memory;
    Fiber *fibers;
    bool fresh; /* stacks must be set up before the next block */
    /* of the block that runs */
    void *scheduler;               /* stack pointer of fiber_group_run */
    void *scheduler_stack;         /* the sanitizer's */
    Queue ready, waiting, looking; /* looking: which lanes are here with them */
    Queue resting;                 /* at a barrier of the grid */
    size_t count;                  /* threads of the block */
    size_t live, arrived, ended;   /* threads: not ended, at the barrier, run to the kernel's end */
    size_t votes, met_votes, met;  /* predicates true so far; of the last barrier passed: the same, and how many met */
    Warp warps[MAX_BLOCK_THREADS / WARP_SIZE];
    HostGrid *grid;
    ThreadEntry entry;
    const void *args;
    char *exception; /* 2 buffers: where threads write, and the first raising thread's */
    size_t exception_bytes;
    FiberOutcome *outcome;
};

/* ---- queues ---- */

static void queue_put(Queue *queue, Fiber *fiber) {
    fiber->next = NULL;
    if (queue->first)
        queue->last->next = fiber;
    else
        queue->first = fiber;
    queue->last = fiber;
}

static void queue_take_first(Queue *queue) { queue->first = queue->first->next; }

/* ---- scheduling; these run on fibers' stacks, which the address sanitizer does not know ---- */

#if defined(__SANITIZE_ADDRESS__)
#define ON_FIBER __attribute__((no_sanitize_address))
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ON_FIBER __attribute__((no_sanitize("address")))
#endif
#endif
#ifndef ON_FIBER
#define ON_FIBER
#endif

ON_FIBER static uint32_t lane_bit(const Fiber *fiber) { return 1u << fiber->number % WARP_SIZE; }

/* Of its warp, at its mask, and at its call, but for a plain barrier. */
ON_FIBER static bool meets(const Fiber *fiber, const Fiber *head) {
    return fiber->number / WARP_SIZE == head->number / WARP_SIZE && fiber->mask == head->mask &&
           fiber->op == head->op && (head->op == WARP_MEET || fiber->site == head->site);
}

/* Makes ready the fibers of `queue` that meet `head`, which is one of them, and hands out what they take away. */
ON_FIBER static void part(FiberGroup *group, Queue *queue, const Fiber *head) {
    WarpLane lanes[WARP_SIZE];
    const Fiber like = *head;
    uint32_t present = 0;
    for (Fiber *f = queue->first; f; f = f->next)
        if (meets(f, &like)) {
            present |= lane_bit(f);
            lanes[f->number % WARP_SIZE] = f->lane;
        }
    for (uint32_t i = 0; i < WARP_SIZE; i++)
        if (!(present >> i & 1)) lanes[i] = (WarpLane){0};
    warp_results((WarpOp)like.op, present, lanes);
    Queue others = {0};
    for (Fiber *f = queue->first, *next; f; f = next) {
        next = f->next;
        bool met = meets(f, &like);
        if (met) f->lane.result = lanes[f->number % WARP_SIZE].result;
        queue_put(met ? &group->ready : &others, f);
    }
    *queue = others;
}

/* Leaves `self` (which some queue holds, or which has ended) for the next fiber ready, or for the scheduler.  Who looks
 * for the lanes that are with it goes on when nobody else can: then they have come. */
ON_FIBER static void leave(FiberGroup *group, Fiber *self) {
    if (!group->ready.first && group->looking.first) part(group, &group->looking, group->looking.first);
    Fiber *next = group->ready.first;
    if (next == self) {
        queue_take_first(&group->ready);
        return;
    }
    if (next) queue_take_first(&group->ready);
    STACK_ENTERED(next ? next->stack : group->scheduler_stack);
    krait_fiber_switch(&self->sp, next ? next->sp : group->scheduler);
}

ON_FIBER static void release_if_all_arrived(FiberGroup *group) {
    if (group->arrived < group->live || !group->live || group->ended) return;
    group->ready = group->waiting; /* nobody is ready: all wait */
    group->waiting = (Queue){0};
    group->met = group->arrived;
    group->met_votes = group->votes;
    group->arrived = group->votes = 0;
    group->grid->barriers++;
}

/* `fiber` waits in vain for `missing`, with the lanes of `mask` if that is not 0.  A thread that raised is what the
 * block is reported for, whatever the others do. */
ON_FIBER static void note_stuck(FiberGroup *group, const Fiber *fiber, const Fiber *missing, uint32_t mask) {
    FiberOutcome *outcome = group->outcome;
    group->fresh = true;
    if (outcome->status) return;
    outcome->stuck = true;
    outcome->thread = fiber->number;
    outcome->site = fiber->site;
    outcome->mask = mask;
    outcome->missing = missing->number;
    outcome->missing_site = missing->site;
    outcome->missing_more = 0;
}

ON_FIBER void krait_host_barrier(HostThread *thread, uint32_t site) {
    Fiber *self = (Fiber *)thread;
    FiberGroup *group = self->group;
    self->site = site;
    if (group->waiting.first && group->waiting.first->site != site) {
        note_stuck(group, self, group->waiting.first, 0);
        STACK_ENTERED(group->scheduler_stack);
        krait_fiber_switch(&self->sp, group->scheduler); /* never comes back */
    }
    queue_put(&group->waiting, self);
    group->arrived++;
    release_if_all_arrived(group);
    leave(group, self);
    self->site = UINT32_MAX;
}

/* Once all of the block have come they rest, until the launch lets them go on. */
ON_FIBER void krait_host_grid_barrier(HostThread *thread, uint32_t site) {
    Fiber *self = (Fiber *)thread;
    krait_host_barrier(thread, site);
    self->site = site;
    queue_put(&self->group->resting, self);
    leave(self->group, self);
    self->site = UINT32_MAX;
    thread->rounds++;
}

ON_FIBER int32_t krait_host_barrier_vote(HostThread *thread, uint32_t site, int32_t vote, int32_t predicate) {
    FiberGroup *group = ((Fiber *)thread)->group;
    group->votes += predicate != 0;
    krait_host_barrier(thread, site);
    /* nobody passes the next barrier before this thread arrives there: met_votes still stands */
    switch ((BarrierVote)vote) {
    case VOTE_ALL: return group->met_votes == group->met;
    case VOTE_ANY: return group->met_votes != 0;
    case VOTE_COUNT: break;
    }
    return (int32_t)group->met_votes;
}

/* Lets those go on that wait with `fiber`, if all of their mask's lanes that live have arrived. */
ON_FIBER static bool release_lanes(FiberGroup *group, Warp *warp, const Fiber *fiber) {
    uint32_t arrived = 0;
    for (Fiber *f = warp->waiting.first; f; f = f->next)
        if (meets(f, fiber)) arrived |= lane_bit(f);
    if (fiber->mask & (warp->live | warp->ended) & ~arrived) return false;
    part(group, &warp->waiting, fiber);
    return true;
}

ON_FIBER int64_t krait_host_warp(HostThread *thread, uint32_t site, int32_t op, uint32_t mask, int64_t value,
                                 int32_t operand) {
    Fiber *self = (Fiber *)thread;
    FiberGroup *group = self->group;
    Warp *warp = &group->warps[self->number / WARP_SIZE];
    self->site = site;
    self->op = op;
    self->lane = (WarpLane){value, operand, 0};
    if (op == WARP_ACTIVE) {
        self->mask = 0;
        queue_put(&group->looking, self);
    } else {
        self->mask = mask | lane_bit(self);
        queue_put(&warp->waiting, self);
        release_lanes(group, warp, self);
    }
    leave(group, self);
    self->site = UINT32_MAX;
    thread->meets += op == WARP_MEET;
    return self->lane.result;
}

ON_FIBER void krait_host_yield(HostThread *thread) {
    Fiber *self = (Fiber *)thread;
    FiberGroup *group = self->group;
    if (group->looking.first) part(group, &group->looking, group->looking.first); /* one of them may be waited for */
    if (!group->ready.first) sched_yield(); /* what it waits for is another block's, perhaps on this core */
    queue_put(&group->ready, self);
    leave(group, self);
}

/* The thread ended: who waits for it in its warp waits no longer. */
ON_FIBER static void lane_end(FiberGroup *group, const Fiber *self) {
    Warp *warp = &group->warps[self->number / WARP_SIZE];
    warp->live &= ~(1u << self->number % WARP_SIZE);
    if (self->ended) warp->ended |= 1u << self->number % WARP_SIZE;
    for (Fiber *f = warp->waiting.first; f;) {
        Fiber *next = f->next;
        f = release_lanes(group, warp, f) ? warp->waiting.first : next;
    }
}

ON_FIBER static void note_end(FiberGroup *group, Fiber *self, int32_t status) {
    HostThread *thread = &self->thread;
    if (thread->bad < NO_BAD_ACCESS) {
        int64_t key = (int64_t)self->number << SITE_BITS | thread->bad;
        if (key < group->grid->bad_access) group->grid->bad_access = key;
    }
    FiberOutcome *outcome = group->outcome;
    if (status && (!outcome->status || self->number < outcome->thread)) {
        outcome->status = status;
        outcome->thread = self->number;
        if (group->exception_bytes)
            memcpy(group->exception + group->exception_bytes, group->exception, group->exception_bytes);
    }
    self->ended = !status && !thread->left;
    group->ended += self->ended;
    group->live--;
    lane_end(group, self);
    release_if_all_arrived(group);
}

/* The life of a fiber: one thread of one block after the other. */
ON_FIBER static void fiber_main(Fiber *self) {
    FiberGroup *group = self->group;
    for (;;) {
        note_end(group, self, group->entry(&self->thread, group->args, group->exception));
        leave(group, self);
    }
}

/* ---- groups ---- */

static size_t round_up(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

static void stack_set_up(FiberGroup *group, size_t number) {
    Fiber *fiber = &group->fibers[number];
    char *top = group->memory + (number + 1) * group->stride - number % COLOURS * CACHE_LINE;
    void **frame = (void **)(void *)top - FRAME_WORDS;
    void (*main)(Fiber *) = fiber_main;
    void (*start)(void) = krait_fiber_start;
    memset(frame, 0, FRAME_WORDS * sizeof *frame);
    frame[FRAME_ARGUMENT] = fiber;
    memcpy(&frame[FRAME_FUNCTION], &main, sizeof main);
    memcpy(&frame[FRAME_RETURN], &start, sizeof start);
    fiber->group = group;
    fiber->number = (int32_t)number;
    fiber->sp = frame;
    STACK_GONE(fiber->stack);
    fiber->stack = STACK_NEW();
}

static void guard_stacks(FiberGroup *group, size_t page) {
    for (size_t i = 0; i < group->capacity; i++) {
        char *low = group->memory + i * group->stride;
        if (madvise(low, page, MADV_GUARD_INSTALL) && mprotect(low, page, PROT_NONE)) return;
    }
}

/* From one stack to the next: its pages, and one that guards it. */
static size_t stride_of(size_t stack_bytes, size_t page) {
    return round_up(MIN_STACK + stack_bytes + COLOURS * CACHE_LINE, page) + page;
}

size_t fiber_group_needs(size_t threads, size_t stack_bytes) {
    return round_up(threads, 64) * (stride_of(stack_bytes, (size_t)sysconf(_SC_PAGESIZE)) + sizeof(Fiber));
}

FiberGroup *fiber_group_new(size_t threads, size_t stack_bytes) {
    FiberGroup *group = calloc(1, sizeof *group);
    if (!group) return NULL;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    group->capacity = round_up(threads, 64);
    group->stack_bytes = stack_bytes;
    group->stride = stride_of(stack_bytes, page);
    group->mapped = group->capacity * group->stride;
    group->fresh = true;
    group->fibers = aligned_alloc(CACHE_LINE, round_up(group->capacity * sizeof *group->fibers, CACHE_LINE));
    if (group->fibers) memset(group->fibers, 0, group->capacity * sizeof *group->fibers);
    void *memory = mmap(NULL, group->mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
                        0);
    group->memory = memory == MAP_FAILED ? NULL : memory;
    if (!group->fibers || !group->memory) {
        fiber_group_free(group);
        return NULL;
    }
    guard_stacks(group, page);
    return group;
}

bool fiber_group_fits(const FiberGroup *group, size_t threads, size_t stack_bytes) {
    return group->capacity >= threads && group->stack_bytes >= stack_bytes;
}

size_t fiber_group_bytes(const FiberGroup *group) { return group->mapped; }

void fiber_group_free(FiberGroup *group) {
    if (!group) return;
    for (size_t i = 0; group->fibers && i < group->capacity; i++) STACK_GONE(group->fibers[i].stack);
    if (group->memory) munmap(group->memory, group->mapped);
    free(group->fibers);
    free(group);
}

/* Nobody is ready and somebody waits: for whom.  A thread at a barrier of its warp waits for lanes, one at a barrier of
 * the block for all. */
static void find_missing(FiberGroup *group) {
    size_t count = group->count;
    const Fiber *waiting = group->waiting.first, *missing = NULL;
    const Warp *warp = group->warps;
    bool of_block = waiting != NULL;
    if (!of_block) {
        while (!warp->waiting.first) warp++;
        waiting = warp->waiting.first;
    }
    size_t first = (size_t)(warp - group->warps) * WARP_SIZE, more = 0;
    if (!of_block && count > first + WARP_SIZE) count = first + WARP_SIZE;
    for (size_t i = first; i < count; i++) {
        const Fiber *fiber = &group->fibers[i];
        bool awaited = of_block || waiting->mask >> (i - first) & 1;
        if (!awaited || (!fiber->ended && (fiber->site == UINT32_MAX || fiber->site == waiting->site))) continue;
        if (!missing) missing = fiber;
        more += fiber->ended && fiber != missing;
    }
    note_stuck(group, waiting, missing ? missing : waiting, of_block ? 0 : waiting->mask);
    group->outcome->missing_more = (int32_t)more;
}

/* Until the block is over, stuck, or rests. */
static void run_ready(FiberGroup *group) {
    Fiber *first = group->ready.first;
    queue_take_first(&group->ready);
    group->scheduler_stack = STACK_HERE();
    STACK_ENTERED(first->stack);
    krait_fiber_switch(&group->scheduler, first->sp);
    if (group->live && !group->fresh && !group->resting.first) find_missing(group);
    if (group->outcome->status && group->exception_bytes)
        memcpy(group->exception, group->exception + group->exception_bytes, group->exception_bytes);
}

bool fiber_group_rests(const FiberGroup *group, uint32_t *site) {
    if (!group->resting.first) return false;
    *site = group->resting.first->site;
    return true;
}

void fiber_group_resume(FiberGroup *group) {
    group->ready = group->resting;
    group->resting = (Queue){0};
    run_ready(group);
}

bool fiber_is_private(const HostThread *thread, const void *address) {
    const FiberGroup *group = ((const Fiber *)thread)->group;
    return (const char *)address >= group->memory && (const char *)address < group->memory + group->mapped;
}

void fiber_group_abandon(FiberGroup *group) {
    if (group->resting.first) group->fresh = true;
    group->resting = (Queue){0};
}

void fiber_group_run(FiberGroup *group, HostGrid *grid, ThreadEntry entry, const void *args, void *exception,
                     size_t exception_bytes, FiberOutcome *outcome) {
    int32_t nx = grid->block_x, ny = grid->block_y, nz = grid->block_z;
    size_t count = (size_t)nx * (size_t)ny * (size_t)nz, number = 0;
    if (group->fresh)
        for (size_t i = 0; i < group->capacity; i++) stack_set_up(group, i);
    group->fresh = false;
    *outcome = (FiberOutcome){0};
    group->ready = group->waiting = group->looking = group->resting = (Queue){0};
    group->live = group->count = count;
    group->arrived = group->ended = group->votes = 0;
    for (size_t i = 0; i * WARP_SIZE < count; i++) {
        size_t lanes = count - i * WARP_SIZE;
        group->warps[i] = (Warp){.live = lanes >= WARP_SIZE ? UINT32_MAX : (1u << lanes) - 1};
    }
    group->grid = grid;
    group->entry = entry;
    group->args = args;
    group->exception = exception;
    group->exception_bytes = exception_bytes;
    group->outcome = outcome;
    for (int32_t z = 0; z < nz; z++)
        for (int32_t y = 0; y < ny; y++)
            for (int32_t x = 0; x < nx; x++) {
                Fiber *fiber = &group->fibers[number++];
                fiber->thread = (HostThread){.grid = grid, .x = x, .y = y, .z = z, .place = 0, .bad = INT32_MAX};
                fiber->site = UINT32_MAX;
                fiber->ended = false;
                queue_put(&group->ready, fiber);
            }
    run_ready(group);
}
