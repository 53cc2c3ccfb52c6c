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
 * A launch on many cores is over in some tens of microseconds, in which a lock that every worker takes twice would be
 * most of the time.  So tasks are put into slots that workers read without it: a worker counts itself into the slot
 * before it looks whether a task is there, the caller takes the task out before it looks whether the count is zero, and
 * one of the two sees the other.
 *
 * Workers sleep on the number of tasks brought so far, a futex, and hold no lock when they wake: with a condition
 * variable each would have to take its lock after the one before.  Waking a thread takes microseconds, so nobody wakes
 * all: the caller wakes a few, and each that has taken its place wakes a few more while the task wants them.  The lock
 * is for starting workers, and for callers that wait for the last to leave.
 *
 * Worker threads belong to the process, so the pool is a global. */
#include <linux/futex.h> /* FUTEX_WAIT_PRIVATE */
#include <pthread.h>     /* pthread_create */
#include <sched.h>       /* sched_getaffinity */
#include <signal.h>      /* sigfillset */
#include <stdatomic.h>   /* atomic_load_explicit */
#include <stdlib.h>      /* getenv */
#include <string.h>      /* memset */
#include <sys/syscall.h> /* SYS_futex */
#include <time.h>        /* clock_gettime */
#include <unistd.h>      /* sysconf */

#include "base/base.h"         /* clock_nanoseconds */
#include "runtime/host/host.h" /* krait_host_safepoint */
#include "runtime/host/pool.h"

enum {
    MAX_THREADS = 1024,
    LINGER_NANOSECONDS = 100000, /* a worker that has just worked looks out for more so long before it sleeps */
    WAIT_NANOSECONDS = 20000000, /* between two looks for interrupts, while helpers work */
    LOOKS_A_CLOCK = 64,          /* looks between two readings of the clock */
    WOKEN_AT_ONCE = 4,           /* workers that one thread wakes */
    SLOTS = 16,                  /* tasks at once that get helpers; the others' callers work alone */
};

typedef struct Slot {                      /* in a cache line of its own: callers with different tasks do not meet */
    _Alignas(64) _Atomic(PoolTask *) task; /* that wants helpers; NULL: none */
    atomic_int wanted;                     /* helpers still wanted; below 1: none */
    atomic_uint inside;                    /* workers that look at the task or work on it */
    atomic_bool taken;                     /* some caller has the slot */
    atomic_bool awaited;                   /* the caller sleeps until nobody is inside */
} Slot;

static struct Pool {
    pthread_mutex_t lock;
    pthread_cond_t left;  /* the last worker left an awaited slot */
    atomic_uint threads;  /* that may run at once, callers included; 0: not asked yet */
    atomic_uint workers;  /* started; changed under the lock */
    atomic_uint sleeping; /* workers that wait for `brought` to change */
    atomic_uint brought;  /* counts tasks */
    Slot slots[SLOTS];
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER, .left = PTHREAD_COND_INITIALIZER};

/* ---- fork ---- */

static void lock_pool(void) { pthread_mutex_lock(&pool.lock); }
static void unlock_pool(void) { pthread_mutex_unlock(&pool.lock); }

static void after_fork_in_child(void) {
    pool.lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    pool.left = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
    memset(pool.slots, 0, sizeof pool.slots); /* tasks of threads that do not exist here */
    pool.workers = 0;
    pool.sleeping = 0;
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
    unsigned threads = atomic_load_explicit(&pool.threads, memory_order_relaxed);
    if (threads) return threads;
    threads = count_threads();
    atomic_store_explicit(&pool.threads, threads, memory_order_relaxed);
    return threads;
}

/* ---- workers ---- */

static inline void relax(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

static void leave_slot(Slot *slot) {
    if (atomic_fetch_sub(&slot->inside, 1) != 1 || !atomic_load(&slot->awaited)) return;
    lock_pool();
    pthread_cond_broadcast(&pool.left);
    unlock_pool();
}

static void wake_some(int wanted) {
    if (wanted < 1 || atomic_load(&pool.sleeping) == 0) return;
    int count = wanted < WOKEN_AT_ONCE ? wanted : WOKEN_AT_ONCE;
    syscall(SYS_futex, &pool.brought, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
}

/* Helps with every task that wants a helper; returns whether there was one. */
static bool help(unsigned who) {
    bool helped = false;
    for (unsigned i = 0; i < SLOTS; i++) {
        Slot *slot = &pool.slots[i];
        if (atomic_load_explicit(&slot->wanted, memory_order_relaxed) < 1) continue;
        atomic_fetch_add(&slot->inside, 1); /* before looking: the caller waits for who is inside */
        PoolTask *task = atomic_load(&slot->task);
        int wanted = task ? atomic_fetch_sub(&slot->wanted, 1) : 0;
        if (wanted > 0) {
            wake_some(wanted - 1);
            task->run(task, who);
            helped = true;
        }
        leave_slot(slot);
    }
    return helped;
}

/* Waking a sleeping thread takes tens of microseconds, as long as a small launch; programs launch again and again. */
static void linger(unsigned seen) {
    int64_t until = clock_nanoseconds() + LINGER_NANOSECONDS;
    do
        for (unsigned i = 0; i < LOOKS_A_CLOCK; i++) {
            if (atomic_load_explicit(&pool.brought, memory_order_acquire) != seen) return;
            relax();
        }
    while (clock_nanoseconds() < until);
}

/* Sleeps until there is another task than `seen`. */
static void sleep_until_brought(unsigned seen) {
    atomic_fetch_add(&pool.sleeping, 1); /* before looking: who brings a task wakes who sleeps */
    while (atomic_load(&pool.brought) == seen)
        syscall(SYS_futex, &pool.brought, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
    atomic_fetch_sub(&pool.sleeping, 1);
}

static void *worker_main(void *number) {
    unsigned who = (unsigned)(uintptr_t)number, seen = atomic_load(&pool.brought) - 1;
    for (;;) {
        unsigned brought = atomic_load(&pool.brought);
        if (brought == seen) {
            sleep_until_brought(seen);
            continue;
        }
        seen = brought;
        if (help(who)) linger(seen);
    }
    return NULL;
}

/* Signals are for the threads of the interpreter, but for those of what a thread does itself: blocked, these would end
 * the process before a handler such as that of `faulthandler` could say where. */
static void block_signals(sigset_t *before) {
    static const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS};
    sigset_t others;
    sigfillset(&others);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) sigdelset(&others, own[i]);
    pthread_sigmask(SIG_SETMASK, &others, before);
}

bool host_begin_thread(void *(*run)(void *), void *given) {
    sigset_t before;
    pthread_t thread;
    pthread_attr_t attributes;
    block_signals(&before);
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, 8u << 20);
    int error = pthread_create(&thread, &attributes, run, given);
    pthread_attr_destroy(&attributes);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error == 0;
}

static void start_workers(unsigned wanted) {
    lock_pool();
    while (pool.workers < wanted && host_begin_thread(worker_main, (void *)(uintptr_t)(pool.workers + 1)))
        pool.workers++; /* if one fails: fewer then */
    unlock_pool();
}

/* ---- tasks ---- */

static Slot *take_slot(void) {
    for (unsigned i = 0; i < SLOTS; i++) {
        bool taken = false;
        if (atomic_compare_exchange_strong(&pool.slots[i].taken, &taken, true)) return &pool.slots[i];
    }
    return NULL;
}

static void bring(Slot *slot, PoolTask *task, unsigned helpers) {
    atomic_store(&slot->task, task);
    atomic_store(&slot->wanted, (int)helpers);
    atomic_fetch_add(&pool.brought, 1);
    wake_some((int)helpers);
}

static void wait_a_tick(pthread_cond_t *condition) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += WAIT_NANOSECONDS;
    if (until.tv_nsec >= 1000000000) until.tv_sec++, until.tv_nsec -= 1000000000;
    pthread_cond_timedwait(condition, &pool.lock, &until);
}

/* Takes the task back and waits until nobody is inside.  An interrupt meanwhile sets the flag that those inside look
 * at. */
static void withdraw(Slot *slot) {
    atomic_store(&slot->wanted, 0);
    atomic_store(&slot->task, NULL);
    int64_t until = clock_nanoseconds() + LINGER_NANOSECONDS;
    while (atomic_load(&slot->inside) && clock_nanoseconds() < until) relax();
    if (!atomic_load(&slot->inside)) return;
    lock_pool();
    atomic_store(&slot->awaited, true); /* before looking: who leaves wakes who waits */
    while (atomic_load(&slot->inside)) {
        wait_a_tick(&pool.left);
        if (!atomic_load(&slot->inside)) break;
        unlock_pool(); /* handlers of signals run here; they may launch, too */
        krait_host_safepoint();
        lock_pool();
    }
    atomic_store(&slot->awaited, false);
    unlock_pool();
}

void pool_run(PoolTask *task, unsigned helpers) {
    Slot *slot = helpers ? take_slot() : NULL;
    if (!slot) {
        task->run(task, 0);
        return;
    }
    if (atomic_load_explicit(&pool.workers, memory_order_relaxed) < helpers) start_workers(helpers);
    bring(slot, task, helpers);
    task->run(task, 0);
    withdraw(slot);
    atomic_store(&slot->taken, false);
}
