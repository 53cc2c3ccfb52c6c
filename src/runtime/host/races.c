/* races.c: data races between the threads of a launch: check='race'.
 *
 * In: every access to an element of an array (krait_host_access), by which thread, from which site.  Out: the first two
 * that touch the same bytes, of which one writes and one is not atomic, and that nothing puts in order.
 *
 * A shadow cell for each four bytes (or each item that is smaller) remembers the last write, and the last two reads and
 * atomics of different threads, with the number of barriers that the thread's block had passed then.  Two accesses are
 * in order if
 *   - one thread makes both;
 *   - a barrier of their block, of their warp or of the grid stands between them;
 *   - the earlier one was released, by a fence and then an atomic, and the later one's side has made an atomic since:
 *     what the last block of a reduction does.  Which word the atomics meet at is not asked, so that what is reported
 *     is a race, and a race may go unreported.
 * Blocks run one after the other on one core, so that time is a counter; what is found depends on the barriers alone,
 * not on who runs first.  Memory of a block is looked at within the block. */
#include <stdlib.h> /* calloc */
#include <string.h> /* memset */

#include "runtime/host/races.h"

enum { UNIT = 4, FIRST_CELLS = 1 << 12, WRITES = 0, READS = 1, ATOMICS = 3, SLOTS = 5, MOST_SYNCS = 1 << 24 };

typedef struct Seen {
    uint64_t time; /* 0: nothing */
    int64_t block;
    int32_t thread, site, barriers, meets, rounds;
} Seen;

typedef struct Cell {
    uintptr_t address; /* 0: free */
    Seen seen[SLOTS];
} Cell;

/* What a thread, or a block, has released and acquired: times. */
typedef struct Sync {
    uint64_t fenced, released, released_at, first_released, first_released_at, acquired;
} Sync;

struct RaceWatch {
    Cell *cells; /* a hash table, at least half of it free */
    size_t size, used;
    uint64_t time;
    int64_t nblocks, nthreads;
    size_t shared_bytes; /* below and above HostGrid.shared */
    Sync *blocks, *threads;
    bool raced, full;
    RaceReport report;
};

RaceWatch *race_watch_new(int64_t blocks, int64_t threads, size_t shared_bytes) {
    RaceWatch *watch = calloc(1, sizeof *watch);
    if (!watch) return NULL;
    watch->size = FIRST_CELLS;
    watch->cells = calloc(watch->size, sizeof *watch->cells);
    watch->nblocks = blocks;
    watch->nthreads = threads;
    watch->shared_bytes = shared_bytes;
    bool fits = blocks <= MOST_SYNCS / threads;
    watch->blocks = fits ? calloc((size_t)blocks, sizeof(Sync)) : NULL;
    watch->threads = fits ? calloc((size_t)(blocks * threads), sizeof(Sync)) : NULL;
    watch->full = !watch->cells || !watch->blocks || !watch->threads;
    return watch;
}

void race_watch_end(RaceWatch *watch, LaunchReport *report) {
    report->raced = watch && watch->raced;
    report->unwatched = !report->raced && (!watch || watch->full);
    if (report->raced) report->race = watch->report;
    if (watch) {
        free(watch->cells);
        free(watch->blocks);
        free(watch->threads);
    }
    free(watch);
}

/* ---- cells ---- */

static Cell *find_cell(const RaceWatch *watch, uintptr_t address) {
    size_t at = (size_t)(address * 0x9E3779B97F4A7C15u >> 20) & (watch->size - 1);
    while (watch->cells[at].address && watch->cells[at].address != address) at = (at + 1) & (watch->size - 1);
    return &watch->cells[at];
}

/* NULL: no memory; nothing is watched any more. */
static Cell *take_cell(RaceWatch *watch, uintptr_t address) {
    if (watch->used * 2 >= watch->size) {
        RaceWatch larger = *watch;
        larger.size = watch->size * 2;
        larger.cells = calloc(larger.size, sizeof *larger.cells);
        watch->full = !larger.cells;
        if (watch->full) return NULL;
        for (size_t i = 0; i < watch->size; i++)
            if (watch->cells[i].address) *find_cell(&larger, watch->cells[i].address) = watch->cells[i];
        free(watch->cells);
        watch->cells = larger.cells;
        watch->size = larger.size;
    }
    Cell *cell = find_cell(watch, address);
    watch->used += cell->address == 0;
    cell->address = address;
    return cell;
}

/* ---- order ---- */

static Sync *thread_sync(const RaceWatch *watch, const Seen *seen) {
    return &watch->threads[seen->block * watch->nthreads + seen->thread];
}

static bool hands_over(const Sync *from, const Sync *to, uint64_t time) {
    return (time <= from->released && from->released_at && to->acquired >= from->released_at) ||
           (time <= from->first_released && from->first_released_at && to->acquired >= from->first_released_at);
}

static bool in_order(const RaceWatch *watch, const Seen *before, const Seen *now) {
    if (before->rounds != now->rounds) return true;
    if (hands_over(thread_sync(watch, before), thread_sync(watch, now), before->time)) return true;
    if (before->block != now->block)
        return hands_over(&watch->blocks[before->block], &watch->blocks[now->block], before->time);
    bool one_warp = before->thread / WARP_SIZE == now->thread / WARP_SIZE;
    return before->thread == now->thread || before->barriers != now->barriers ||
           (one_warp && before->meets != now->meets);
}

static void check(RaceWatch *watch, const Cell *cell, int slot, RaceAccess kind, const Seen *now, bool shared) {
    const Seen *before = &cell->seen[slot];
    if (watch->raced || !before->time || in_order(watch, before, now)) return;
    if (shared && before->block != now->block) return; /* another block's memory lay there */
    RaceAccess first = slot >= ATOMICS ? RACE_ATOMIC : slot >= READS ? RACE_READ : RACE_WRITE;
    watch->raced = true;
    watch->report = (RaceReport){.kinds = {first, kind},
                                 .sites = {(uint32_t)before->site, (uint32_t)now->site},
                                 .blocks = {before->block, now->block},
                                 .threads = {before->thread, now->thread},
                                 .shared = shared};
}

/* The newest stands first; a thread that is there already takes its place. */
static void remember(Cell *cell, int first, int count, const Seen *now) {
    Seen *seen = &cell->seen[first];
    if (count > 1 && !(seen[0].time && seen[0].thread == now->thread && seen[0].block == now->block)) seen[1] = seen[0];
    seen[0] = *now;
}

static void touch(RaceWatch *watch, uintptr_t address, RaceAccess kind, const Seen *now, bool shared) {
    Cell *cell = take_cell(watch, address);
    if (!cell) return;
    if (kind != RACE_READ) {
        check(watch, cell, READS, kind, now, shared);
        check(watch, cell, READS + 1, kind, now, shared);
    }
    check(watch, cell, WRITES, kind, now, shared);
    if (kind != RACE_ATOMIC) {
        check(watch, cell, ATOMICS, kind, now, shared);
        check(watch, cell, ATOMICS + 1, kind, now, shared);
    }
    if (kind == RACE_WRITE) remember(cell, WRITES, 1, now);
    if (kind == RACE_READ) remember(cell, READS, 2, now);
    if (kind == RACE_ATOMIC) remember(cell, ATOMICS, 2, now);
}

/* ---- fences and atomics ---- */

static void fence(RaceWatch *watch, const Seen *now) {
    thread_sync(watch, now)->fenced = watch->blocks[now->block].fenced = now->time;
}

static void meet(Sync *sync, uint64_t time) {
    if (sync->fenced > sync->released) {
        sync->released = sync->fenced;
        sync->released_at = time;
        if (!sync->first_released_at) {
            sync->first_released = sync->fenced;
            sync->first_released_at = time;
        }
    }
    sync->acquired = time;
}

/* ---- what generated code calls ---- */

static bool is_shared(const RaceWatch *watch, const HostGrid *grid, uintptr_t address) {
    uintptr_t shared = (uintptr_t)grid->shared;
    return shared && address >= shared - watch->shared_bytes && address < shared + watch->shared_bytes;
}

void krait_host_access(HostThread *thread, const void *memory, int32_t bytes, int32_t site, int32_t kind) {
    const HostGrid *grid = thread->grid;
    RaceWatch *watch = grid->races;
    if (!watch || watch->full || watch->raced || fiber_is_private(thread, memory)) return;
    Seen now = {.time = ++watch->time,
                .block = grid->index_x +
                         (int64_t)grid->grid_x * (grid->index_y + (int64_t)grid->grid_y * grid->index_z),
                .thread = thread->x + grid->block_x * (thread->y + grid->block_y * thread->z),
                .site = site,
                .barriers = grid->barriers,
                .meets = thread->meets,
                .rounds = thread->rounds};
    if (kind == RACE_FENCE) {
        fence(watch, &now);
        return;
    }
    if (kind == RACE_ATOMIC) {
        meet(thread_sync(watch, &now), now.time);
        meet(&watch->blocks[now.block], now.time);
    }
    uintptr_t address = (uintptr_t)memory;
    bool shared = is_shared(watch, grid, address);
    for (int32_t done = 0; done < bytes && !watch->full; done += UNIT)
        touch(watch, address + (uintptr_t)done, (RaceAccess)kind, &now, shared);
}
