/* host_threads.c: the host device by itself: worker threads, launches from many threads, fibers, barriers, fork.
 *
 * Built with ThreadSanitizer by `make test-tsan`.  Kernels are C functions of the two kinds that generated code has
 * (runtime/host/host.h); each result is compared with what it must be, and the program ends with 1 at the first that
 * differs. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/host/fibers.h"
#include "runtime/host/host.h"
#include "runtime/host/pool.h"

#define CHECK(condition)                                                              \
    do {                                                                              \
        if (condition) break;                                                         \
        fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition); \
        exit(1);                                                                      \
    } while (0)

enum { SITE_A = 1, SITE_B, SITE_C, RAISED = 7, CALLERS = 6, ROUNDS = 40 };

static HostKernel kernel_of(void (*function)(void), bool joins) {
    HostKernel kernel = {.stack_bytes = 256, .joins_blocks = joins};
    memcpy(&kernel.address, &function, sizeof function);
    return kernel;
}

#define KERNEL(function, joins) kernel_of((void (*)(void))(function), joins)

static int32_t number_of(const HostThread *t) { return t->x + t->grid->block_x * (t->y + t->grid->block_y * t->z); }

/* ---- without barriers: entry(HostGrid *) ---- */

/* Every thread adds one to its block's count. */
static int32_t count_threads(HostGrid *grid, const void *args, void *exception) {
    atomic_int *counts = *(atomic_int *const *)args;
    (void)exception;
    for (int32_t block = 0; block < grid->joined; block++) {
        int64_t number = grid->index_x + block +
                         (int64_t)grid->grid_x * (grid->index_y + (int64_t)grid->grid_y * grid->index_z);
        for (int32_t i = 0; i < grid->block_x * grid->block_y * grid->block_z; i++) counts[number]++;
    }
    return 0;
}

/* Blocks from args->first on raise and say which they are. */
typedef struct Raising {
    int32_t first;
} Raising;

static int32_t raise_late(HostGrid *grid, const void *args, void *exception) {
    if (grid->index_x < ((const Raising *)args)->first) return 0;
    *(int32_t *)exception = grid->index_x;
    grid->raised_thread = 3;
    return RAISED;
}

/* ---- with barriers: entry(HostThread *) ---- */

/* Passes a value round the block through shared memory, with votes and barriers of warps in between. */
static int32_t pass_round(HostThread *t, const void *args, void *exception) {
    int32_t *shared = t->grid->shared, me = number_of(t);
    int32_t count = t->grid->block_x * t->grid->block_y * t->grid->block_z, value = me;
    atomic_int *out = *(atomic_int *const *)args;
    (void)exception;
    for (int32_t step = 0; step < 5; step++) {
        shared[me] = value;
        krait_host_barrier(t, SITE_A);
        value = shared[(me + 1) % count];
        if (krait_host_barrier_vote(t, SITE_B, VOTE_COUNT, me % 3 == 0) != (count + 2) / 3) return RAISED;
        if (krait_host_barrier_vote(t, SITE_B, VOTE_ALL, me < count) != 1) return RAISED;
        krait_host_warp(t, SITE_C, WARP_MEET, UINT32_MAX, 0, 0);
        krait_host_yield(t);
    }
    if (value != (me + 5) % count) return RAISED;
    atomic_fetch_add(&out[t->grid->index_x], value);
    return 0;
}

/* Half of the block leaves by a return statement before the barrier. */
static int32_t half_leave(HostThread *t, const void *args, void *exception) {
    (void)args, (void)exception;
    if (number_of(t) % 2) {
        t->left = 1;
        return 0;
    }
    krait_host_barrier(t, SITE_A);
    return 0;
}

/* Threads from 16 on go round the barrier; of the warp's only, if args say so. */
static int32_t go_round(HostThread *t, const void *args, void *exception) {
    (void)exception;
    if (number_of(t) >= 16) return 0;
    if (*(const bool *)args)
        krait_host_warp(t, SITE_B, WARP_MEET, UINT32_MAX, 0, 0);
    else
        krait_host_barrier(t, SITE_A);
    return 0;
}

static int32_t meet_elsewhere(HostThread *t, const void *args, void *exception) {
    (void)args, (void)exception;
    krait_host_barrier(t, number_of(t) == 9 ? SITE_A : SITE_B);
    return 0;
}

static int32_t raise_beside_a_barrier(HostThread *t, const void *args, void *exception) {
    (void)args;
    if (number_of(t) == 5 || number_of(t) == 40) {
        *(int32_t *)exception = number_of(t);
        return RAISED;
    }
    krait_host_barrier(t, SITE_A);
    return 0;
}

/* ---- launches ---- */

static HostLaunch launch_of(HostKernel *kernel, int32_t blocks, int32_t threads, bool fibers, const void *args) {
    return (HostLaunch){.kernel = kernel,
                        .grid = {blocks, 1, 1},
                        .block = {threads, 1, 1},
                        .shared_dynamic = 4096,
                        .fibers = fibers,
                        .args = args};
}

static void check_counts(int32_t blocks, int32_t threads) {
    HostKernel kernel = KERNEL(count_threads, true);
    atomic_int *counts = calloc((size_t)blocks, sizeof *counts);
    HostLaunch launch = launch_of(&kernel, blocks, threads, false, &counts);
    LaunchReport report;
    for (int round = 1; round <= 3; round++) {
        CHECK(host_device_launch(&launch, &report) && report.status == 0 && !report.stuck);
        for (int32_t i = 0; i < blocks; i++) CHECK(counts[i] == round * threads);
    }
    free(counts);
}

static void check_rounds(int32_t blocks, int32_t threads) {
    HostKernel kernel = KERNEL(pass_round, false);
    atomic_int *sums = calloc((size_t)blocks, sizeof *sums);
    HostLaunch launch = launch_of(&kernel, blocks, threads, true, &sums);
    LaunchReport report;
    CHECK(host_device_launch(&launch, &report) && report.status == 0 && !report.stuck);
    for (int32_t i = 0; i < blocks; i++) CHECK(sums[i] == threads * (threads - 1) / 2);
    free(sums);
}

static void check_errors(void) {
    LaunchReport report;
    Raising raising = {40};
    int32_t exception = -1;
    HostKernel kernel = KERNEL(raise_late, false);
    HostLaunch launch = launch_of(&kernel, 1000, 8, false, &raising);
    launch.exception = &exception;
    launch.exception_bytes = sizeof exception;
    CHECK(host_device_launch(&launch, &report) && report.status == RAISED && report.bad_block == 40);
    CHECK(exception == 40 && report.bad_thread == 3);

    kernel = KERNEL(raise_beside_a_barrier, false);
    launch = launch_of(&kernel, 5, 64, true, NULL);
    launch.exception = &exception;
    launch.exception_bytes = sizeof exception;
    CHECK(host_device_launch(&launch, &report) && report.status == RAISED && report.bad_block == 0);
    CHECK(report.bad_thread == 5 && exception == 5 && !report.stuck);

    kernel = KERNEL(half_leave, false);
    launch = launch_of(&kernel, 9, 64, true, NULL);
    CHECK(host_device_launch(&launch, &report) && report.status == 0 && !report.stuck);

    for (int warp = 0; warp < 2; warp++) {
        bool of_warp = warp == 1;
        kernel = KERNEL(go_round, false);
        launch = launch_of(&kernel, 3, 64, true, &of_warp);
        CHECK(host_device_launch(&launch, &report) && report.stuck && report.bad_block == 0);
        CHECK(report.bad_thread == 0 && report.bad_site == (of_warp ? SITE_B : SITE_A));
        CHECK(report.missing_thread == 16 && report.missing_site == UINT32_MAX);
        CHECK(report.missing_more == (of_warp ? 15 : 47));
    }

    kernel = KERNEL(meet_elsewhere, false);
    launch = launch_of(&kernel, 1, 64, true, NULL);
    CHECK(host_device_launch(&launch, &report) && report.stuck && report.bad_thread == 9);
    CHECK(report.bad_site == SITE_A && report.missing_thread == 0 && report.missing_site == SITE_B);
}

/* ---- loops ---- */

typedef struct Counted {
    HostLoop loop; /* first */
    atomic_long total;
    int plain[1000];
    int64_t stops; /* this chunk stops the loop; -1: none does */
} Counted;

static bool count_pieces(HostLoop *loop, int64_t from, int64_t to, int64_t chunk) {
    Counted *counted = (Counted *)loop;
    CHECK(from == chunk * loop->chunk && host_thread_number() < host_threads());
    for (int64_t i = from; i < to; i++) counted->plain[i]++;
    atomic_fetch_add(&counted->total, to - from);
    return chunk != counted->stops;
}

static void check_loops(void) {
    for (int i = 0; i < 300; i++) {
        Counted counted = {.loop = {.run = count_pieces, .count = 1000, .chunk = 1 + i % 70}, .stops = -1};
        CHECK(host_loop_run(&counted.loop) && counted.total == 1000);
        for (int k = 0; k < 1000; k++) CHECK(counted.plain[k] == 1);
        Counted stopped = {.loop = {.run = count_pieces, .count = 1000, .chunk = 7}, .stops = i % 100};
        CHECK(!host_loop_run(&stopped.loop));
        for (int k = 0; k < 7 * (i % 100); k++) CHECK(stopped.plain[k] == 1);
    }
}

static int32_t sum_piece(const void *outer, int64_t from, int64_t to, void *results, void *exception) {
    const int64_t *raises_at = outer;
    double total = 0;
    for (int64_t i = from; i < to; i++) {
        if (i == *raises_at) {
            *(int64_t *)exception = i;
            return RAISED;
        }
        total += 1.0 / (double)(i + 1);
    }
    *(double *)results = total;
    return 0;
}

static void sum_join(void *results, const void *more) { *(double *)results += *(const double *)more; }

/* Sums in the same order on one thread and on several. */
static void check_regions(void) {
    enum { COUNT = 100000 };
    int64_t never = -1, late = 77777, raised = -1;
    _Atomic int64_t each = 0;
    double alone = 0, spread = 0;
    host_set_threads(1);
    CHECK(!krait_host_parallel(sum_piece, sum_join, 8, 8, 1, &each, COUNT, &never, &alone, &raised, NULL));
    host_set_threads(4);
    for (int i = 0; i < 20; i++) {
        spread = 0, each = 0;
        CHECK(!krait_host_parallel(sum_piece, sum_join, 8, 8, 1, &each, COUNT, &never, &spread, &raised, NULL));
        CHECK(spread == alone && raised == -1);
        CHECK(krait_host_parallel(sum_piece, sum_join, 8, 8, 1, &each, COUNT, &late, &spread, &raised, NULL) == RAISED);
        CHECK(raised == late);
        raised = -1;
    }
}

/* ---- loops in chunks of loops ---- */

typedef struct Nested {
    HostLoop loop;      /* first */
    int64_t inner;      /* pieces of the loop in each chunk */
    atomic_int busy[8]; /* by the number of a thread: how many say that they have it */
    atomic_long total;
} Nested;

typedef struct Within {
    HostLoop loop; /* first */
    Nested *outer;
} Within;

static bool inner_pieces(HostLoop *loop, int64_t from, int64_t to, int64_t chunk) {
    Nested *outer = ((Within *)loop)->outer;
    unsigned number = host_thread_number();
    (void)chunk;
    CHECK(number < 8 && atomic_fetch_add(&outer->busy[number], 1) == 0);
    atomic_fetch_add(&outer->total, to - from);
    atomic_fetch_sub(&outer->busy[number], 1);
    return !krait_host_safepoint();
}

static bool outer_pieces(HostLoop *loop, int64_t from, int64_t to, int64_t chunk) {
    Within within = {.loop = {.run = inner_pieces, .count = ((Nested *)loop)->inner, .chunk = 3},
                     .outer = (Nested *)loop};
    CHECK(krait_host_chunk_spreads() == (((Nested *)loop)->loop.count <= 4) && host_threads() == 8);
    for (int64_t i = from; i < to; i++) CHECK(host_loop_run(&within.loop));
    return chunk >= 0;
}

/* Of 8 threads, outer loops of 2, 4 and 40 chunks. */
static void check_nested(void) {
    static const int64_t counts[] = {2, 4, 40};
    host_set_threads(0);
    for (int i = 0; i < 60; i++) {
        Nested nested = {.loop = {.run = outer_pieces, .count = counts[i % 3], .chunk = 1}, .inner = 10 + i};
        CHECK(host_loop_run(&nested.loop) && nested.total == counts[i % 3] * nested.inner);
    }
}

static void *caller(void *unused) {
    for (int i = 0; i < ROUNDS; i++) {
        check_counts(1 + i * 37 % 500, 1 + i % 64);
        check_rounds(1 + i % 5, 33 + i % 64);
        if (i % 8 == 0) check_errors();
    }
    check_loops();
    check_regions();
    check_nested();
    return unused;
}

/* ---- the pool by itself ---- */

typedef struct Sum {
    PoolTask task; /* first */
    atomic_int next;
    atomic_long total;
    int plain[64]; /* by who: each thread writes its own */
} Sum;

static void add_up(PoolTask *task, unsigned who) {
    Sum *sum = (Sum *)task;
    for (int i; (i = atomic_fetch_add(&sum->next, 1)) < 1000;) {
        atomic_fetch_add(&sum->total, i);
        sum->plain[who % 64]++;
    }
}

static void check_pool(void) {
    for (int i = 0; i < 200; i++) {
        Sum sum = {.task = {.run = add_up}};
        pool_run(&sum.task, (unsigned)i % 5);
        int done = 0;
        for (int k = 0; k < 64; k++) done += sum.plain[k]; /* the workers have left: no lock is needed */
        CHECK(sum.total == 499500 && done == 1000);
    }
}

static void run_callers(void) {
    pthread_t threads[CALLERS];
    for (int i = 0; i < CALLERS; i++) CHECK(pthread_create(&threads[i], NULL, caller, NULL) == 0);
    for (int i = 0; i < CALLERS; i++) CHECK(pthread_join(threads[i], NULL) == 0);
}

/* A child has no workers and no lock of theirs.  One block needs none: ThreadSanitizer follows no threads that a child
 * starts. */
static void check_fork(void) {
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        check_counts(1, 16);
        _exit(0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* Else each launch after a reset of the device would load its kernel anew, and free it under those of other threads. */
static void check_generation(void) {
    Device device = {.generation = 7};
    DeviceKernel *kernel = NULL;
    CHECK(host_kernel_load(&device, &(DeviceCode){0}, NULL, 0, &kernel) == 0);
    CHECK(kernel->device == &device && kernel->generation == 7);
    host_kernel_free(kernel);
}

int main(void) {
    setenv("KRAIT_NUM_THREADS", "8", 1);
    CHECK(host_device_workers() == 8);
    check_generation();
    check_pool();
    check_loops();
    check_regions();
    check_errors();
    run_callers();
    check_fork();
    check_counts(1000, 7);
    puts("host device: fine");
    return 0;
}
