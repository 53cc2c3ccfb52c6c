/* parallel.c: loops whose pieces run on several threads.
 *
 * In: a HostLoop: how many pieces, how many make a chunk, the function that runs a chunk.  Out: every chunk has run
 * once, or every one before the first that stopped.
 *
 * Chunks are set by the caller and never by the number of threads, so that what is put together from them, in their
 * order, is the same on every machine.  Each thread begins with a share of its own, the same one in every loop of as
 * many chunks, whose data it may still have in its cache; one that is done takes from the others.
 *
 * A loop inside a chunk of another runs on its thread alone, unless the outer one has fewer chunks than there are
 * threads: those that are left over are shared out among its threads, which have as many for the loops in their
 * chunks. */
#include <pthread.h>   /* pthread_mutex_t */
#include <stdatomic.h> /* atomic_fetch_add */
#include <stddef.h>    /* max_align_t */
#include <stdlib.h>    /* aligned_alloc */
#include <string.h>    /* memcpy */

#include "base/base.h"         /* clock_nanoseconds */
#include "runtime/host/host.h" /* HostLoop */
#include "runtime/host/pool.h" /* pool_run */

enum {
    CACHE_LINE = 64,
    WORTH_HELP_NANOSECONDS = 20000, /* a loop that takes less is done before helpers are there */
};

typedef struct Share {
    _Alignas(CACHE_LINE) _Atomic int64_t next;
    int64_t end;
    atomic_bool taken; /* some thread has this share's number */
} Share;

typedef struct Run {
    PoolTask task;
    HostLoop *loop;
    Share *shares;
    unsigned threads;
    unsigned first, spare; /* number of the first thread; how many each has for loops inside */
    unsigned allowed;      /* what the caller has set, for whoever helps */
    int64_t chunk;
    _Atomic int64_t limit;       /* chunks from here on need not run */
    _Atomic int64_t nanoseconds; /* that all threads together worked */
    HostStop stop;
} Run;

typedef struct Thread {
    unsigned number;  /* among the threads of the loop that runs on this one, of outermost loops */
    unsigned spare;   /* threads for a loop in the chunk that runs on this one; 0: none does */
    unsigned allowed; /* 0: as many as there are */
    int64_t chunk;    /* iterations of a chunk that the user wants; 0: as we see fit */
} Thread;

static _Thread_local Thread thread;

unsigned host_thread_number(void) { return thread.number; }

unsigned host_threads(void) {
    unsigned all = pool_threads();
    return thread.allowed && thread.allowed < all ? thread.allowed : all;
}

void host_set_threads(unsigned count) { thread.allowed = count; }
int64_t host_chunk(void) { return thread.chunk; }
void host_set_chunk(int64_t iterations) { thread.chunk = iterations; }

/* ---- one thread's part ---- */

static unsigned take_number(Run *run, unsigned who) {
    for (unsigned tried = 0;; tried++) {
        unsigned number = (who + tried) % run->threads;
        if (!atomic_exchange(&run->shares[number].taken, true)) return number;
    }
}

static bool take_chunk(Run *run, unsigned *at, int64_t *chunk) {
    for (unsigned tried = 0; tried < run->threads; tried++) {
        Share *share = &run->shares[*at];
        if (atomic_load_explicit(&share->next, memory_order_relaxed) < share->end) {
            *chunk = atomic_fetch_add_explicit(&share->next, 1, memory_order_relaxed);
            if (*chunk < share->end) return true;
        }
        *at = (*at + 1) % run->threads;
    }
    return false;
}

static void lower_limit(Run *run, int64_t chunk) {
    int64_t limit = atomic_load(&run->limit);
    while (chunk < limit && !atomic_compare_exchange_weak(&run->limit, &limit, chunk)) {}
}

static void take_part(PoolTask *task, unsigned who) {
    Run *run = (Run *)task;
    HostLoop *loop = run->loop;
    unsigned at = take_number(run, who);
    Thread before_thread = thread;
    HostStop *before = host_stop_watch(&run->stop);
    int64_t start = clock_nanoseconds(), chunk;
    thread = (Thread){run->first + at * run->spare, run->spare, run->allowed, run->chunk};
    while (take_chunk(run, &at, &chunk)) {
        if (chunk > atomic_load_explicit(&run->limit, memory_order_relaxed)) continue;
        int64_t from = chunk * loop->chunk, to = loop->count - from < loop->chunk ? loop->count : from + loop->chunk;
        if (!loop->run(loop, from, to, chunk)) lower_limit(run, chunk);
    }
    thread = before_thread;
    host_stop_watch(before);
    atomic_fetch_add_explicit(&run->nanoseconds, clock_nanoseconds() - start, memory_order_relaxed);
}

/* ---- the loop ---- */

static bool run_alone(HostLoop *loop, int64_t chunks, unsigned spare) {
    unsigned before = thread.spare;
    int64_t chunk = 0;
    thread.spare = spare;
    for (; chunk < chunks; chunk++) {
        int64_t from = chunk * loop->chunk, to = loop->count - from < loop->chunk ? loop->count : from + loop->chunk;
        if (!loop->run(loop, from, to, chunk)) break;
    }
    thread.spare = before;
    return chunk == chunks;
}

static bool worth_help(const HostLoop *loop) {
    int64_t each = loop->each ? atomic_load_explicit(loop->each, memory_order_relaxed) : 0;
    return !each || loop->count > WORTH_HELP_NANOSECONDS / each;
}

/* Threads for a loop that begins here. */
static unsigned threads_here(void) { return thread.spare ? thread.spare : host_threads(); }

static void note_time(const HostLoop *loop, int64_t nanoseconds) {
    atomic_store_explicit(loop->each, nanoseconds / loop->count + 1, memory_order_relaxed);
}

/* A loop that took little so far; where its iterations have become longer, it gets help the next time. */
static bool run_small(HostLoop *loop, int64_t chunks) {
    int64_t start = clock_nanoseconds();
    bool finished = run_alone(loop, chunks, 1);
    int64_t took = clock_nanoseconds() - start;
    if (finished && loop->count && took > WORTH_HELP_NANOSECONDS) note_time(loop, took);
    return finished;
}

int32_t krait_host_chunk_spreads(void) { return threads_here() > 1; }

bool host_loop_run(HostLoop *loop) {
    int64_t chunks = loop->count > 0 ? (loop->count - 1) / loop->chunk + 1 : 0;
    if (!worth_help(loop)) return run_small(loop, chunks);
    unsigned threads = chunks > 1 ? threads_here() : 1;
    if (threads > chunks) threads = (unsigned)chunks;
    Share *shares = threads > 1 ? aligned_alloc(CACHE_LINE, threads * sizeof *shares) : NULL;
    if (!shares) return run_alone(loop, chunks, thread.spare);
    for (unsigned i = 0; i < threads; i++) {
        atomic_init(&shares[i].next, chunks / threads * i + chunks % threads * i / threads);
        shares[i].end = chunks / threads * (i + 1) + chunks % threads * (i + 1) / threads;
        atomic_init(&shares[i].taken, false);
    }
    Run run = {.task = {.run = take_part},
               .loop = loop,
               .shares = shares,
               .threads = threads,
               .first = thread.number,
               .spare = threads_here() / threads,
               .allowed = thread.allowed,
               .chunk = thread.chunk,
               .limit = INT64_MAX};
    HostStop *before = host_stop_watch(&run.stop); /* the caller may have to wait for its helpers */
    run.stop.outer = before;
    pool_run(&run.task, threads - 1);
    host_stop_watch(before);
    free(shares);
    bool finished = atomic_load(&run.limit) == INT64_MAX;
    if (loop->each && finished) note_time(loop, atomic_load(&run.nanoseconds));
    return finished;
}

/* ---- what generated code calls ---- */

enum {
    MOST_CHUNKS = 512,  /* of a loop, where the length of chunks is ours to choose */
    LIGHT_CHUNK = 1024, /* iterations that make a chunk at least, where one takes next to nothing */
    CHUNK_NANOSECONDS = 20000
};

typedef struct Region {
    HostLoop loop;
    HostPiece *piece;
    const void *outer;
    const int64_t *seeds; /* of random numbers; NULL: none are drawn */
    char *results;        /* of every chunk; NULL: there are none */
    size_t result_bytes, exception_bytes;
    pthread_mutex_t lock; /* of what follows */
    int64_t raised;       /* the first chunk that raised; INT64_MAX: none */
    int32_t status;
    void *exception; /* of that chunk */
} Region;

static void note_raise(Region *region, int64_t chunk, int32_t status, const void *exception) {
    pthread_mutex_lock(&region->lock);
    if (chunk < region->raised) {
        region->raised = chunk;
        region->status = status;
        memcpy(region->exception, exception, region->exception_bytes);
    }
    pthread_mutex_unlock(&region->lock);
}

static bool run_piece(HostLoop *loop, int64_t from, int64_t to, int64_t chunk) {
    Region *region = (Region *)loop;
    max_align_t exception[region->exception_bytes / sizeof(max_align_t) + 1];
    char *results = region->results ? region->results + (size_t)chunk * region->result_bytes : NULL;
    max_align_t stream[HOST_STREAM_BYTES / sizeof(max_align_t) + 1];
    HostStream *before = region->seeds ? host_stream_enter(stream, region->seeds, chunk) : NULL;
    int32_t status = region->piece(region->outer, from, to, results, exception);
    if (region->seeds) host_stream_leave(before);
    if (status) note_raise(region, chunk, status, exception);
    return !status;
}

/* Iterations of a chunk.  Where chunks' results are put together, or numbers drawn, it must not depend on the machine
 * or on what was measured: then every run gives the same bits. */
static int64_t chunk_length(const Region *region, bool light) {
    int64_t count = region->loop.count, least = light ? LIGHT_CHUNK : 1, even = (count + MOST_CHUNKS - 1) / MOST_CHUNKS;
    int64_t each = atomic_load_explicit(region->loop.each, memory_order_relaxed);
    if (thread.chunk) return thread.chunk;
    if (!region->result_bytes && !region->seeds && threads_here() == 1) return count;
    if (region->result_bytes || region->seeds || !each) return even < least ? least : even;
    int64_t worth = CHUNK_NANOSECONDS / each + 1, share = count / (4 * (int64_t)threads_here()) + 1;
    return worth < share ? worth : share;
}

int32_t krait_host_parallel(HostPiece *piece, HostJoin *join, int64_t result_bytes, int64_t exception_bytes,
                            int32_t light, _Atomic int64_t *each, int64_t count, const void *outer, void *results,
                            void *exception, const int64_t *seeds) {
    Region region = {.loop = {.run = run_piece, .count = count, .each = each},
                     .piece = piece,
                     .outer = outer,
                     .seeds = seeds,
                     .result_bytes = (size_t)result_bytes,
                     .exception_bytes = (size_t)exception_bytes,
                     .lock = PTHREAD_MUTEX_INITIALIZER,
                     .raised = INT64_MAX,
                     .exception = exception};
    if (count < 1) return 0;
    region.loop.chunk = chunk_length(&region, light);
    int64_t chunks = (count - 1) / region.loop.chunk + 1;
    max_align_t few[64];
    bool small = !result_bytes || chunks <= (int64_t)sizeof few / result_bytes;
    if (result_bytes) region.results = small ? (char *)few : malloc((size_t)(chunks * result_bytes));
    if (result_bytes && !region.results) { /* no memory: one chunk after the other, its results put in at once */
        region.results = (char *)few;
        region.loop.chunk = count;
        chunks = small = 1;
    }
    host_loop_run(&region.loop);
    for (int64_t chunk = 0; join && !region.status && chunk < chunks; chunk++)
        join(results, region.results + chunk * result_bytes);
    if (!small) free(region.results);
    return region.status;
}
