/* launch.c: launches a CUDA kernel on the cores of this machine.
 *
 * In: a kernel's code, grid, block, arguments.  Out: every thread has run; a report of the first that raised, missed a
 * barrier or left an access out.
 *
 * Blocks are counted along the code's inner axis first (x, or y where accesses follow that: thread_order) and divided
 * into as many ranges as threads may take part.  A thread works on its own range first, the same from launch to launch
 * so that it finds its data in its core's cache, in chunks that get smaller towards the end; then it takes chunks of
 * the others'.  The threads of a block run on one core, as a loop inside the code that may take neighbouring blocks in
 * one, or as fibers when the kernel has barriers.  A launch whose blocks are known to be over before a helper would
 * have woken stays on the caller: HostKernel remembers how long a block took.
 *
 * "First" means first in the order of blocks, then threads, whatever order they ran in: when a block raises, those
 * after it are skipped and those before it still run, and the report takes the lowest. */
#include <pthread.h>   /* pthread_mutex_t */
#include <stdatomic.h> /* atomic_load */
#include <stdlib.h>    /* malloc */
#include <string.h>    /* memcpy */

#include "runtime/host/fibers.h"
#include "runtime/host/pool.h"
#include "runtime/host/races.h"

enum {
    SHARED_ALIGN = 4096,      /* the largest alignment that shared.array takes */
    CHUNK_PART = 8,           /* a chunk is this part of what its range still has */
    CHUNK_NANOSECONDS = 2000, /* and at least this much work: taking one costs some hundred */
    UNITS_A_THREAD = 4,       /* with fewer, whole rows would be shared out too unevenly */
    CACHE_LINE = 64,
    FEW_RANGES = 8,                 /* so many lie on the caller's stack, */
    FEW_EXCEPTION = 512,            /* and two exception buffers of together so many bytes on a thread's */
    WORTH_HELP_NANOSECONDS = 30000, /* less work than this is done before a helper wakes */
    LOOK_NANOSECONDS = 50000,       /* of blocks between two looks for interrupts */
    KEPT_GROUPS = 64,               /* fiber groups kept for the next launch */
    KEPT_BYTES = 256 << 20          /* address space of one that is kept */
};

typedef struct Range { /* of units of blocks: next ... end - 1 are not handed out yet; in a cache line of its own */
    _Alignas(CACHE_LINE) _Atomic int64_t next;
    int64_t end;
} Range;

typedef struct Launch {
    PoolTask task; /* first */
    const HostLaunch *what;
    RaceWatch *races; /* NULL: they are not looked for */
    unsigned threads; /* how many may take part: one range each */
    Range *ranges;
    int32_t joined;        /* most blocks in one run of the code */
    int64_t least;         /* units in a chunk */
    int64_t unit;          /* blocks that are not parted: 1, or a row along the inner axis that is one run */
    _Atomic int64_t limit; /* blocks from here on are skipped: one before raised */
    _Atomic bool failed;   /* no memory */
    HostStop stop;         /* an interrupt: all threads leave their blocks */
    pthread_mutex_t lock;  /* of what follows */
    LaunchReport *report;
    int64_t error_block, access_block; /* of what the report has; INT64_MAX: nothing */
    int64_t bad_access;
} Launch;

/* What one thread needs while it takes part. */
typedef struct Participant {
    HostGrid grid;   /* first */
    char *shared;    /* as allocated */
    char *kept;      /* of a block's threads */
    char *exception; /* two buffers, see fibers.c */
    FiberGroup *fibers;
    _Alignas(16) char few_exception[FEW_EXCEPTION];
} Participant;

/* ---- groups of fibers, kept from launch to launch ---- */

static pthread_mutex_t groups_lock = PTHREAD_MUTEX_INITIALIZER;
static FiberGroup *groups[KEPT_GROUPS]; /* idle ones; stacks belong to the process, as its worker threads do */

static void lock_groups(void) { pthread_mutex_lock(&groups_lock); }
static void unlock_groups(void) { pthread_mutex_unlock(&groups_lock); }
__attribute__((constructor(1000))) static void install_fork_handlers(void) {
    pthread_atfork(lock_groups, unlock_groups, unlock_groups);
}

static FiberGroup *group_take(size_t threads, size_t stack_bytes) {
    FiberGroup *found = NULL;
    lock_groups();
    for (size_t i = 0; i < KEPT_GROUPS && !found; i++)
        if (groups[i] && fiber_group_fits(groups[i], threads, stack_bytes)) {
            found = groups[i];
            groups[i] = NULL;
        }
    unlock_groups();
    return found ? found : fiber_group_new(threads, stack_bytes);
}

static void group_put_back(FiberGroup *group) {
    if (!group) return;
    FiberGroup *dropped = group;
    if (fiber_group_bytes(group) <= KEPT_BYTES) {
        lock_groups();
        size_t place = 0;
        for (size_t i = 0; i < KEPT_GROUPS; i++) {
            if (!groups[i]) {
                place = i;
                break;
            }
            if (fiber_group_bytes(groups[i]) < fiber_group_bytes(groups[place])) place = i;
        }
        dropped = groups[place];
        groups[place] = group;
        unlock_groups();
    }
    fiber_group_free(dropped);
}

/* ---- blocks ---- */

static void note_error(Launch *launch, const Participant *p, int64_t block, const FiberOutcome *outcome) {
    const HostLaunch *what = launch->what;
    pthread_mutex_lock(&launch->lock);
    if (block < launch->error_block) {
        LaunchReport *report = launch->report;
        launch->error_block = block;
        report->status = outcome->status;
        report->stuck = outcome->stuck;
        report->bad_block = block;
        report->bad_thread = outcome->thread;
        report->bad_site = outcome->stuck ? outcome->site : UINT32_MAX;
        report->mask = outcome->mask;
        report->missing_thread = outcome->missing;
        report->missing_site = outcome->missing_site;
        report->missing_more = outcome->missing_more;
        if (outcome->status && what->exception) memcpy(what->exception, p->exception, what->exception_bytes);
        if (block < atomic_load(&launch->limit)) atomic_store(&launch->limit, block);
    }
    pthread_mutex_unlock(&launch->lock);
}

static void note_bad_access(Launch *launch, int64_t block, int64_t key) {
    pthread_mutex_lock(&launch->lock);
    if (block < launch->access_block) {
        launch->access_block = block;
        launch->bad_access = key;
    }
    pthread_mutex_unlock(&launch->lock);
}

/* The number of the block that the grid stands at, x fastest: the order that reports go by. */
static int64_t block_number(const HostGrid *grid) {
    return grid->index_x + (int64_t)grid->grid_x * (grid->index_y + (int64_t)grid->grid_y * grid->index_z);
}

/* Runs block `turn`, counted along the inner axis first, and those after it in the same row before block `beyond`, as
 * far as they may be joined; returns how many. */
static int64_t run_blocks(Launch *launch, Participant *p, int64_t turn, int64_t beyond) {
    const HostLaunch *what = launch->what;
    HostGrid *grid = &p->grid;
    FiberOutcome outcome = {0};
    unsigned inner = what->kernel->inner_axis;
    int64_t length = what->grid[inner], row = turn / length;
    int32_t place[2];
    place[inner] = (int32_t)(turn % length);
    place[1 - inner] = (int32_t)(row % what->grid[1 - inner]);
    grid->index_x = place[0];
    grid->index_y = place[1];
    grid->index_z = (int32_t)(row / what->grid[1 - inner]);
    int64_t joined = length - place[inner];
    if (joined > beyond - turn) joined = beyond - turn;
    if (joined > launch->joined) joined = launch->joined;
    grid->joined = (int32_t)joined;
    grid->bad_access = INT64_MAX;
    if (what->fibers) {
        ThreadEntry entry;
        memcpy(&entry, &what->kernel->address, sizeof entry);
        fiber_group_run(p->fibers, grid, entry, what->args, p->exception, what->exception_bytes, &outcome);
    } else {
        BlockEntry entry;
        memcpy(&entry, &what->kernel->address, sizeof entry);
        outcome.status = entry(grid, what->args, p->exception);
        outcome.thread = grid->raised_thread;
    }
    if (KRAIT_UNLIKELY(outcome.status || outcome.stuck)) note_error(launch, p, block_number(grid), &outcome);
    if (KRAIT_UNLIKELY(grid->bad_access != INT64_MAX))
        note_bad_access(launch,
                        block_number(grid) +
                            (grid->bad_access >> (THREAD_BITS + SITE_BITS)) * (inner == 0 ? 1 : grid->grid_x),
                        grid->bad_access & ((1 << (THREAD_BITS + SITE_BITS)) - 1));
    return joined;
}

/* ---- taking part ---- */

static size_t round_up(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

/* Of a block, and no less than lies on either side of where its dynamic part begins. */
static size_t shared_bytes(const HostLaunch *what) {
    return round_up(round_up(what->shared_static, SHARED_ALIGN) + what->shared_dynamic, SHARED_ALIGN);
}

/* Of what runs one block. */
static size_t needed_bytes(const HostLaunch *what) {
    size_t threads = (size_t)what->block[0] * (size_t)what->block[1] * (size_t)what->block[2];
    return shared_bytes(what) + what->kernel->kept_bytes + 2 * what->exception_bytes +
           (what->fibers ? fiber_group_needs(threads, what->kernel->stack_bytes) : 0);
}

static bool participant_open(Participant *p, const HostLaunch *what, RaceWatch *races) {
    p->grid = (HostGrid){.grid_x = what->grid[0],
                         .grid_y = what->grid[1],
                         .grid_z = what->grid[2],
                         .block_x = what->block[0],
                         .block_y = what->block[1],
                         .block_z = what->block[2],
                         .dynamic_bytes = (int32_t)what->shared_dynamic,
                         .races = races,
                         .prints = what->prints};
    p->shared = p->kept = NULL;
    p->exception = p->few_exception;
    p->fibers = NULL;
    size_t below = round_up(what->shared_static, SHARED_ALIGN), shared = shared_bytes(what);
    if (shared) {
        p->shared = aligned_alloc(SHARED_ALIGN, shared);
        if (!p->shared) return false;
        memset(p->shared, 0, shared); /* what another program left there is nobody's business */
        p->grid.shared = p->shared + below;
    }
    size_t kept = round_up(what->kernel->kept_bytes, SHARED_ALIGN);
    if (kept && !(p->kept = aligned_alloc(SHARED_ALIGN, kept))) return false;
    if (2 * what->exception_bytes > FEW_EXCEPTION) p->exception = malloc(2 * what->exception_bytes);
    if (!p->exception) return false;
    if (!what->fibers) return true;
    size_t threads = (size_t)what->block[0] * (size_t)what->block[1] * (size_t)what->block[2];
    p->fibers = group_take(threads, what->kernel->stack_bytes);
    return p->fibers != NULL;
}

static void participant_close(Participant *p) {
    group_put_back(p->fibers);
    if (p->exception != p->few_exception) free(p->exception);
    free(p->shared);
    free(p->kept);
}

void *krait_host_kept(HostGrid *grid, int64_t offset) { return ((Participant *)grid)->kept + offset; }

/* Takes the next chunk of a range; false: nothing left. */
static bool take_of(Range *range, int64_t least, int64_t *from, int64_t *to) {
    int64_t next = atomic_load_explicit(&range->next, memory_order_relaxed), take;
    do {
        int64_t left = range->end - next;
        if (left <= 0) return false;
        take = (left + CHUNK_PART - 1) / CHUNK_PART;
        if (take < least) take = least < left ? least : left;
    } while (!atomic_compare_exchange_weak(&range->next, &next, next + take));
    *from = next;
    *to = next + take;
    return true;
}

/* Takes the next chunk of blocks, of range *at as long as it has any. */
static bool take_chunk(Launch *launch, unsigned *at, int64_t *from, int64_t *to) {
    for (unsigned tried = 0; tried < launch->threads; tried++) {
        if (take_of(&launch->ranges[*at], launch->least, from, to)) {
            *from *= launch->unit;
            *to *= launch->unit;
            return true;
        }
        *at = (*at + 1) % launch->threads;
    }
    return false;
}

static int64_t block_nanoseconds(const HostLaunch *what) {
    return atomic_load_explicit(&what->kernel->block_nanoseconds, memory_order_relaxed);
}

static void launch_run(PoolTask *task, unsigned who) {
    Launch *launch = (Launch *)task;
    unsigned at = who % launch->threads;
    int64_t from, to, done = 0, unlooked = 0, each = block_nanoseconds(launch->what);
    if (!take_chunk(launch, &at, &from, &to)) return;
    HostStop *before = host_stop_watch(&launch->stop);
    Participant p;
    if (!participant_open(&p, launch->what, launch->races)) {
        atomic_store(&launch->failed, true);
        atomic_store(&launch->limit, -1);
    }
    int64_t start = clock_nanoseconds();
    do {
        while (from < to && from <= atomic_load_explicit(&launch->limit, memory_order_relaxed)) {
            int64_t ran = run_blocks(launch, &p, from, to);
            from += ran;
            done += ran;
            unlooked += each ? each * ran : LOOK_NANOSECONDS;
            if (unlooked < LOOK_NANOSECONDS) continue;
            unlooked = 0;
            if (krait_host_safepoint()) atomic_store(&launch->limit, -1);
        }
    } while (take_chunk(launch, &at, &from, &to));
    if (done)
        atomic_store_explicit(&launch->what->kernel->block_nanoseconds, (clock_nanoseconds() - start) / done + 1,
                              memory_order_relaxed);
    participant_close(&p);
    host_stop_watch(before);
}

/* ---- blocks that wait for each other ---- */

typedef struct GridBlock {
    Participant who;
    FiberOutcome outcome;
} GridBlock;

/* Begins a block, or lets it go on; false: it raised or is stuck. */
static bool advance(Launch *launch, GridBlock *block, int64_t number, bool begin) {
    const HostLaunch *what = launch->what;
    HostGrid *grid = &block->who.grid;
    if (begin) {
        ThreadEntry entry;
        memcpy(&entry, &what->kernel->address, sizeof entry);
        grid->index_x = (int32_t)(number % what->grid[0]);
        grid->index_y = (int32_t)(number / what->grid[0] % what->grid[1]);
        grid->index_z = (int32_t)(number / what->grid[0] / what->grid[1]);
        grid->joined = 1;
        grid->bad_access = INT64_MAX;
        fiber_group_run(block->who.fibers, grid, entry, what->args, block->who.exception, what->exception_bytes,
                        &block->outcome);
    } else {
        fiber_group_resume(block->who.fibers);
    }
    if (grid->bad_access != INT64_MAX)
        note_bad_access(launch, number, grid->bad_access & ((1 << (THREAD_BITS + SITE_BITS)) - 1));
    if (!block->outcome.status && !block->outcome.stuck) return true;
    note_error(launch, &block->who, number, &block->outcome);
    return false;
}

/* Block number `resting` waits for one that has ended. */
static void note_missing_block(Launch *launch, int64_t resting, int64_t ended, uint32_t site) {
    LaunchReport *report = launch->report;
    launch->error_block = resting;
    report->stuck = true;
    report->bad_block = resting;
    report->bad_thread = 0;
    report->bad_site = site;
    report->missing_block = ended;
}

/* Every block up to the next barrier of the grid; false: the launch is over. */
static bool run_round(Launch *launch, GridBlock *blocks, int64_t count, bool begin) {
    int64_t resting = -1, ended = -1;
    uint32_t site = 0, at = 0;
    for (int64_t i = 0; i < count; i++) {
        if (!advance(launch, &blocks[i], i, begin)) return false;
        bool rests = fiber_group_rests(blocks[i].who.fibers, &at);
        if (rests && resting < 0) resting = i, site = at;
        if (!rests && ended < 0) ended = i;
    }
    if (resting < 0) return false;
    if (ended < 0) return krait_host_safepoint() == 0;
    note_missing_block(launch, resting, ended, site);
    return false;
}

/* All are begun before one goes on, on the caller's core. */
static void run_together(Launch *launch, int64_t count) {
    GridBlock *blocks = calloc((size_t)count, sizeof *blocks);
    bool going = blocks != NULL;
    for (int64_t i = 0; i < count && going; i++) going = participant_open(&blocks[i].who, launch->what, launch->races);
    if (!going) atomic_store(&launch->failed, true);
    for (bool begin = true; going; begin = false) going = run_round(launch, blocks, count, begin);
    for (int64_t i = 0; i < count && blocks; i++) {
        if (blocks[i].who.fibers) fiber_group_abandon(blocks[i].who.fibers);
        participant_close(&blocks[i].who);
    }
    free(blocks);
}

/* ---- the launch ---- */

static unsigned helpers_for(const HostLaunch *what, int64_t blocks) {
    int64_t each = block_nanoseconds(what);
    if (blocks < 2 || (each && each < WORTH_HELP_NANOSECONDS / blocks)) return 0;
    unsigned threads = pool_threads();
    return blocks < threads ? (unsigned)blocks - 1 : threads - 1;
}

/* Where part i of `parts` begins, so that none has two more than another. */
static int64_t share(int64_t units, unsigned i, unsigned parts) {
    return units / parts * i + units % parts * i / parts;
}

/* A range of blocks for each thread. */
static void divide(Launch *launch, int64_t blocks) {
    const HostLaunch *what = launch->what;
    int64_t length = what->grid[what->kernel->inner_axis];
    launch->unit = length <= launch->joined && blocks / length >= launch->threads * UNITS_A_THREAD ? length : 1;
    int64_t units = blocks / launch->unit, each = block_nanoseconds(what) * launch->unit;
    launch->least = launch->threads == 1 ? units : each ? CHUNK_NANOSECONDS / each : 1;
    for (unsigned i = 0; i < launch->threads; i++) {
        atomic_init(&launch->ranges[i].next, share(units, i, launch->threads));
        launch->ranges[i].end = share(units, i + 1, launch->threads);
    }
}

bool host_device_launch(const HostLaunch *what, LaunchReport *report) {
    Range few[FEW_RANGES];
    *report = (LaunchReport){
        .exception = what->exception, .bad_block = -1, .bad_thread = -1, .bad_site = UINT32_MAX, .missing_block = -1};
    int64_t block_threads = (int64_t)what->block[0] * what->block[1] * what->block[2];
    int64_t blocks = (int64_t)what->grid[0] * what->grid[1] * what->grid[2];
    if (blocks < 1 || block_threads < 1) return true;
    if (block_threads > MAX_BLOCK_THREADS || what->block[0] > MAX_BLOCK_THREADS || what->shared_dynamic > INT32_MAX)
        return false;
    report->needed_bytes = needed_bytes(what) * (what->together ? (size_t)blocks : 1);
    RaceWatch *races = what->races ? race_watch_new(blocks, block_threads, shared_bytes(what)) : NULL;
    unsigned helpers = what->races ? 0 : helpers_for(what, blocks), inner = what->kernel->inner_axis;
    if (!what->together) report->needed_bytes *= helpers + 1;
    Launch launch = {.task = {.run = launch_run},
                     .what = what,
                     .races = races,
                     .threads = helpers + 1,
                     .ranges = helpers < FEW_RANGES ? few : aligned_alloc(CACHE_LINE, (helpers + 1) * sizeof(Range)),
                     .joined = what->kernel->joins_blocks && !what->fibers ? MAX_ROW / what->block[inner] : 1,
                     .limit = INT64_MAX,
                     .lock = PTHREAD_MUTEX_INITIALIZER,
                     .report = report,
                     .error_block = INT64_MAX,
                     .access_block = INT64_MAX};
    if (!launch.ranges) {
        race_watch_end(races, report);
        return false;
    }
    divide(&launch, blocks);
    HostStop *before = host_stop_watch(&launch.stop); /* the caller may have to wait for its helpers */
    if (what->together)
        run_together(&launch, blocks);
    else
        pool_run(&launch.task, helpers);
    host_stop_watch(before);
    report->interrupted = atomic_load(&launch.stop.set);
    if (what->races) race_watch_end(races, report);
    if (launch.ranges != few) free(launch.ranges);
    pthread_mutex_destroy(&launch.lock);
    if (!report->status && !report->stuck && launch.access_block != INT64_MAX) {
        report->bad_block = launch.access_block;
        report->bad_thread = launch.bad_access >> SITE_BITS;
        report->bad_site = (uint32_t)(launch.bad_access & ((1 << SITE_BITS) - 1));
    }
    return !atomic_load(&launch.failed);
}

unsigned host_device_workers(void) { return pool_threads(); }
