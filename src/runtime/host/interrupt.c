/* interrupt.c: how code that runs for long learns that it is to stop.
 *
 * In: calls of krait_host_safepoint, every some tens of microseconds, of any thread that runs compiled code.  Out: 1
 * where it is to stop.
 *
 * No signal handler of ours and no thread that watches: the thread itself reads the clock, and every 10 ms asks the
 * check that the layer above has set, which handles signals as the interpreter does.  Threads that help with a launch
 * are no threads of the interpreter: they look at the launch's flag, which the first that is to stop sets.  What is
 * kept is the thread's own, so that a fork needs nothing.
 *
 * NumPy calls the loop of a ufunc for one row, or one buffer, after the other, and need not look between two of them
 * whether the first was told to stop: so the thread remembers that it was. */
#include <stdatomic.h> /* atomic_load_explicit */

#include "runtime/host/host.h"

static _Thread_local struct {
    uint64_t asked; /* when the check was last called */
    HostStop *stop;
    bool told; /* the check has told it to stop, which may be over */
} thread;

static _Atomic(HostInterruptCheck *) interrupt_check;

void host_set_interrupt_check(HostInterruptCheck *check) { atomic_store(&interrupt_check, check); }

HostStop *host_stop_watch(HostStop *stop) {
    HostStop *before = thread.stop;
    thread.stop = stop;
    return before;
}

/* The processor's own clock: some nanoseconds, where the system's may cost a call of the kernel. */
static uint64_t cycles(void) {
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    uint64_t count;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(count));
    return count;
#else
#error "interrupt.c knows the clocks of x86-64 and aarch64"
#endif
}

/* About 10 ms: processors count 2 to 5 cycles a nanosecond; an ARM says how fast its counter runs. */
static uint64_t tick(void) {
#if defined(__x86_64__)
    return UINT64_C(1) << 25;
#else
    uint64_t a_second;
    __asm__("mrs %0, cntfrq_el0" : "=r"(a_second));
    return a_second / 100;
#endif
}

int32_t krait_host_safepoint(void) {
    for (const HostStop *stop = thread.stop; stop; stop = stop->outer)
        if (atomic_load_explicit(&stop->set, memory_order_relaxed)) return 1;
    uint64_t now = cycles();
    if (now - thread.asked < tick()) return 0; /* a clock that went back, on another core, counts as long ago */
    thread.asked = now;
    HostInterruptCheck *check = atomic_load(&interrupt_check);
    if (!check || !check(false)) return 0;
    for (HostStop *stop = thread.stop; stop; stop = stop->outer) atomic_store(&stop->set, true);
    thread.told = true;
    return 1;
}

bool host_is_to_stop(void) {
    if (thread.told) thread.told = atomic_load(&interrupt_check)(true);
    return thread.told || krait_host_safepoint();
}

/* A tenth of a millisecond to a whole one: little beside a tick, much beside a look. */
int64_t host_pace(int64_t count, uint64_t *since, int64_t most) {
    uint64_t now = cycles(), took = now - *since;
    *since = now;
    if (took < tick() / 64) return 2 * count < most ? 2 * count : most;
    return took > tick() / 8 && count > 1 ? count / 2 : count;
}

uint64_t host_pace_begins(void) { return cycles(); }
