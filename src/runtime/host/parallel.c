/* parallel.c: loops whose pieces run on several threads.
 *
 * In: a HostLoop: how many pieces, how many make a chunk, the function that runs a chunk.  Out: every chunk has run
 * once, or every one before the first that stopped.
 *
 * Chunks are set by the caller and never by the number of threads, so that what is put together from them, in their
 * order, is the same on every machine.  Each thread begins with a share of its own, the same one in every loop of as
 * many chunks, whose data it may still have in its cache; one that is done takes from the others.  A loop inside a
 * chunk of another runs on its thread alone. */
#include <stdatomic.h> /* atomic_fetch_add */
#include <stdlib.h>    /* aligned_alloc */

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
    _Atomic int64_t limit;       /* chunks from here on need not run */
    _Atomic int64_t nanoseconds; /* that all threads together worked */
    HostStop stop;
} Run;

static _Thread_local struct {
    unsigned number;  /* among the threads of the loop that runs on this one */
    bool inside;      /* a chunk runs on this thread */
    unsigned allowed; /* 0: as many as there are */
} thread;

unsigned host_thread_number(void) { return thread.number; }

unsigned host_threads(void) {
    unsigned all = pool_threads();
    return thread.allowed && thread.allowed < all ? thread.allowed : all;
}

void host_set_threads(unsigned count) { thread.allowed = count; }

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
    unsigned number = take_number(run, who), at = number;
    unsigned before_number = thread.number;
    bool before_inside = thread.inside;
    HostStop *before = host_stop_watch(&run->stop);
    int64_t start = clock_nanoseconds(), chunk;
    thread.number = number;
    thread.inside = true;
    while (take_chunk(run, &at, &chunk)) {
        if (chunk > atomic_load_explicit(&run->limit, memory_order_relaxed)) continue;
        int64_t from = chunk * loop->chunk, to = loop->count - from < loop->chunk ? loop->count : from + loop->chunk;
        if (!loop->run(loop, from, to, chunk)) lower_limit(run, chunk);
    }
    thread.number = before_number;
    thread.inside = before_inside;
    host_stop_watch(before);
    atomic_fetch_add_explicit(&run->nanoseconds, clock_nanoseconds() - start, memory_order_relaxed);
}

/* ---- the loop ---- */

static bool run_alone(HostLoop *loop, int64_t chunks) {
    for (int64_t chunk = 0; chunk < chunks; chunk++) {
        int64_t from = chunk * loop->chunk, to = loop->count - from < loop->chunk ? loop->count : from + loop->chunk;
        if (!loop->run(loop, from, to, chunk)) return false;
    }
    return true;
}

static bool worth_help(const HostLoop *loop) {
    int64_t each = loop->each ? atomic_load_explicit(loop->each, memory_order_relaxed) : 0;
    return !each || loop->count > WORTH_HELP_NANOSECONDS / each;
}

bool host_loop_run(HostLoop *loop) {
    int64_t chunks = loop->count > 0 ? (loop->count - 1) / loop->chunk + 1 : 0;
    unsigned threads = chunks > 1 && !thread.inside && worth_help(loop) ? host_threads() : 1;
    if (threads > chunks) threads = (unsigned)chunks;
    Share *shares = threads > 1 ? aligned_alloc(CACHE_LINE, threads * sizeof *shares) : NULL;
    if (!shares) return run_alone(loop, chunks);
    for (unsigned i = 0; i < threads; i++) {
        atomic_init(&shares[i].next, chunks / threads * i + chunks % threads * i / threads);
        shares[i].end = chunks / threads * (i + 1) + chunks % threads * (i + 1) / threads;
        atomic_init(&shares[i].taken, false);
    }
    Run run = {.task = {.run = take_part}, .loop = loop, .shares = shares, .threads = threads, .limit = INT64_MAX};
    HostStop *before = host_stop_watch(&run.stop); /* the caller may have to wait for its helpers */
    pool_run(&run.task, threads - 1);
    host_stop_watch(before);
    free(shares);
    bool finished = atomic_load(&run.limit) == INT64_MAX;
    if (loop->each && finished)
        atomic_store_explicit(loop->each, atomic_load(&run.nanoseconds) / loop->count + 1, memory_order_relaxed);
    return finished;
}
