/* numpy_loops.c: the inner loops of NumPy's generalised ufuncs, as functions that compiled code calls.
 *
 * In: loops by symbol, told when a module of the prelude that needs them is imported (decorators/numpy_loops.c).  Out:
 * their addresses, for the linker of compiled code; calls of them.
 * NumPy carries the BLAS and LAPACK that these loops call, whatever their names and the width of their integers. */
#include <fenv.h> /* feclearexcept */
#include <stdatomic.h>
#include <stdio.h>  /* snprintf */
#include <string.h> /* strcmp */

#include "runtime/host/host.h" /* HostNumpyLoop */

enum { MOST_LOOPS = 256, SYMBOL_BYTES = 64 };

static struct {
    char symbol[SYMBOL_BYTES];
    HostNumpyLoop *_Atomic function;
} loops[MOST_LOOPS];
static _Atomic int nloops;

bool host_numpy_loop_add(const char *symbol, HostNumpyLoop *function) {
    int count = atomic_load(&nloops);
    if (host_numpy_loop_find(symbol)) return true;
    if (count == MOST_LOOPS) return false;
    snprintf(loops[count].symbol, SYMBOL_BYTES, "%s", symbol);
    atomic_store(&loops[count].function, function);
    atomic_store(&nloops, count + 1);
    return true;
}

HostNumpyLoop *host_numpy_loop_find(const char *symbol) {
    for (int i = 0, count = atomic_load(&nloops); i < count; i++)
        if (!strcmp(loops[i].symbol, symbol)) return atomic_load(&loops[i].function);
    return NULL;
}

int32_t krait_host_numpy_loop(HostNumpyLoop *loop, char **arrays, const int64_t *sizes, const int64_t *steps) {
    feclearexcept(FE_INVALID);
    loop(arrays, sizes, steps, NULL);
    return fetestexcept(FE_INVALID) != 0;
}
