/* pool.c: the worker threads of the host device.
 *
 * In: tasks of any thread of the process, several at a time.  Out: each run by its caller and by whichever workers are
 * free.
 *
 * Why not OpenMP: GNU's runtime hangs in a child forked after its first parallel region, LLVM's refuses to start beside
 * a second copy in the process (NumPy's or PyTorch's libraries bring theirs), either would have to be in the wheel; and
 * what is needed is this one page: tasks that any number of threads may bring at once, callers that never wait for a
 * free worker, and a fork that works.
 *
 * The caller always works on its own task, so a task is finished even if no worker ever comes, and nesting cannot
 * deadlock.  Workers are started when first wanted and sleep in between.  In the child of a fork there are no workers:
 * the child's first launch starts new ones.
 *
 * Worker threads belong to the process, so the pool is a global, under its lock. */
#include <pthread.h>   /* pthread_create */
#include <sched.h>     /* sched_getaffinity */
#include <signal.h>    /* sigfillset */
#include <stdatomic.h> /* atomic_load_explicit */
#include <stdlib.h>    /* getenv */
#include <unistd.h>    /* sysconf */

#include "base/base.h" /* clock_nanoseconds */
#include "codegen_cpu/pool.h"

enum {
    MAX_THREADS = 1024,
    LINGER_NANOSECONDS = 100000, /* a worker that has just worked looks out for more so long before it sleeps */
    LOOKS_A_CLOCK = 64,          /* looks between two readings of the clock */
};

static struct Pool {
    pthread_mutex_t lock;
    pthread_cond_t work; /* a task wants helpers */
    pthread_cond_t left; /* a helper left a task */
    PoolTask *tasks;     /* that want helpers, oldest first */
    unsigned threads;    /* that may run at once, callers included; 0: not asked yet */
    unsigned workers;    /* started */
    atomic_uint brought; /* counts tasks: what a worker that lingers looks at, without the lock */
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER, .work = PTHREAD_COND_INITIALIZER, .left = PTHREAD_COND_INITIALIZER};

/* ---- fork ---- */

static void lock_pool(void) { pthread_mutex_lock(&pool.lock); }
static void unlock_pool(void) { pthread_mutex_unlock(&pool.lock); }

static void after_fork_in_child(void) {
    pool.lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    pool.work = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
    pool.left = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
    pool.tasks = NULL; /* of threads that do not exist here */
    pool.workers = 0;
    pool.threads = 0; /* the child may have other cores */
}

/* When the library is loaded: a fork that began before the handlers were there would not run them. */
__attribute__((constructor(1000))) static void install_fork_handlers(void) {
    pthread_atfork(lock_pool, unlock_pool, after_fork_in_child);
}

/* ---- how many ---- */

static unsigned count_threads(void) {
    const char *text = getenv("KRAIT_NUM_THREADS");
    if (text && *text) {
        char *end = NULL;
        long number = strtol(text, &end, 10);
        if (!*end && number >= 1) return number < MAX_THREADS ? (unsigned)number : MAX_THREADS;
    }
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    unsigned count = online > 0 ? (unsigned)online : 1;
    cpu_set_t *set = CPU_ALLOC(MAX_THREADS);
    size_t bytes = CPU_ALLOC_SIZE(MAX_THREADS);
    if (set && sched_getaffinity(0, bytes, set) == 0) count = (unsigned)CPU_COUNT_S(bytes, set);
    if (set) CPU_FREE(set);
    return count < 1 ? 1 : count < MAX_THREADS ? count : MAX_THREADS;
}

unsigned pool_threads(void) {
    lock_pool();
    if (!pool.threads) pool.threads = count_threads();
    unsigned threads = pool.threads;
    unlock_pool();
    return threads;
}

/* ---- workers ---- */

static void task_remove(PoolTask *task) {
    for (PoolTask **at = &pool.tasks; *at; at = &(*at)->next)
        if (*at == task) {
            *at = task->next;
            return;
        }
}

/* The first task that a helper can still do something for; one without is taken off the list. */
static PoolTask *task_find(void) {
    while (pool.tasks) {
        PoolTask *task = pool.tasks;
        if (task->wanted && task->has_more(task)) return task;
        pool.tasks = task->next;
    }
    return NULL;
}

static inline void relax(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

/* Waking a sleeping thread takes tens of microseconds, as long as a small launch; programs launch again and again.
 * True: there may be a new task. */
static bool linger(unsigned seen) {
    int64_t until = clock_nanoseconds() + LINGER_NANOSECONDS;
    do
        for (unsigned i = 0; i < LOOKS_A_CLOCK; i++) {
            if (atomic_load_explicit(&pool.brought, memory_order_acquire) != seen) return true;
            relax();
        }
    while (clock_nanoseconds() < until);
    return false;
}

static void *worker_main(void *number) {
    unsigned who = (unsigned)(uintptr_t)number;
    lock_pool();
    for (bool worked = false;;) {
        PoolTask *task = task_find();
        if (!task && worked) {
            unsigned seen = atomic_load(&pool.brought);
            unlock_pool();
            worked = linger(seen);
            lock_pool();
            continue;
        }
        if (!task) {
            pthread_cond_wait(&pool.work, &pool.lock);
            continue;
        }
        worked = true;
        task->wanted--;
        task->inside++;
        unlock_pool();
        task->run(task, who);
        lock_pool();
        if (--task->inside == 0) pthread_cond_broadcast(&pool.left);
    }
    return NULL;
}

static void start_workers(unsigned wanted) {
    sigset_t all, before;
    sigfillset(&all); /* signals are for the threads of the interpreter */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, 8u << 20);
    while (pool.workers < wanted) {
        pthread_t thread;
        if (pthread_create(&thread, &attributes, worker_main, (void *)(uintptr_t)(pool.workers + 1)))
            break; /* fewer then */
        pool.workers++;
    }
    pthread_attr_destroy(&attributes);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* ---- tasks ---- */

void pool_run(PoolTask *task, unsigned helpers) {
    if (!helpers) {
        task->run(task, 0);
        return;
    }
    lock_pool();
    start_workers(helpers);
    task->inside = 0;
    task->wanted = helpers;
    task->next = NULL;
    PoolTask **end = &pool.tasks;
    while (*end) end = &(*end)->next;
    *end = task;
    atomic_fetch_add(&pool.brought, 1);
    for (unsigned i = 0; i < helpers && i < pool.workers; i++) pthread_cond_signal(&pool.work);
    unlock_pool();
    task->run(task, 0);
    lock_pool();
    task_remove(task);
    while (task->inside) pthread_cond_wait(&pool.left, &pool.lock);
    unlock_pool();
}
