/* random.c: where the states lie that compiled code draws random numbers from.
 *
 * In: the addresses that decorators/random.c found in NumPy's and the standard library's objects, which live as long as
 * the process.  Out: the same, to the linker of compiled code (codegen_cpu/symbols.c), and new seeds. */
#include <stdatomic.h>

#include "runtime/host/host.h" /* HostRandom */

static struct {
    void *_Atomic state;
    void *_Atomic owner;
    HostRandomSeed *_Atomic seed;
} generators[HOST_RANDOM_COUNT];

void host_random_set(HostRandom which, void *state, void *owner, HostRandomSeed *seed) {
    atomic_store(&generators[which].owner, owner);
    atomic_store(&generators[which].seed, seed);
    atomic_store(&generators[which].state, state);
}

void *host_random_get(HostRandom which) { return atomic_load(&generators[which].state); }

void krait_host_random_seed(int32_t which, int64_t seed) {
    HostRandomSeed *function = atomic_load(&generators[which].seed);
    if (function) function(atomic_load(&generators[which].owner), seed);
}
