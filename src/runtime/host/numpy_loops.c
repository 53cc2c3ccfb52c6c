/* numpy_loops.c: the inner loops of NumPy's generalised ufuncs, and NumPy's functions that sort, as functions that
 * compiled code calls.
 *
 * In: loops by symbol, told when a module of the prelude that needs them is imported (decorators/numpy_loops.c).  Out:
 * addresses of their entries, for the linker of compiled code; calls of them.
 * NumPy carries the BLAS and LAPACK that these loops call, whatever their names and the width of their integers. */
#if defined(__SSE2__)
#include <xmmintrin.h> /* _mm_getcsr */
#else
#include <fenv.h> /* feclearexcept */
#endif
#include <stdatomic.h>
#include <stdio.h>  /* snprintf */
#include <string.h> /* strcmp */

#include "runtime/host/host.h" /* HostNumpyLoop */

enum { MOST_LOOPS = 512, SYMBOL_BYTES = 64 };

struct HostNumpyLoop {
    char symbol[SYMBOL_BYTES];
    HostNumpyFunction *function;
    void *data;
};

static HostNumpyLoop loops[MOST_LOOPS]; /* an entry does not change once it is counted */
static _Atomic int nloops;

bool host_numpy_loop_add(const char *symbol, HostNumpyFunction *function, void *data) {
    int count = atomic_load(&nloops);
    if (host_numpy_loop_find(symbol)) return true;
    if (count == MOST_LOOPS) return false;
    snprintf(loops[count].symbol, SYMBOL_BYTES, "%s", symbol);
    loops[count].function = function;
    loops[count].data = data;
    atomic_store(&nloops, count + 1);
    return true;
}

const HostNumpyLoop *host_numpy_loop_find(const char *symbol) {
    for (int i = 0, count = atomic_load(&nloops); i < count; i++)
        if (!strcmp(loops[i].symbol, symbol)) return &loops[i];
    return NULL;
}

/* The flag `invalid` as it was, and none from now on.  Functions of C also look at the x87 unit, which no loop uses:
 * that takes longer than a product of short vectors. */
static bool take_invalid(void) {
#if defined(__SSE2__)
    unsigned flags = _mm_getcsr();
    if (flags & _MM_EXCEPT_INVALID) _mm_setcsr(flags & ~(unsigned)_MM_EXCEPT_INVALID);
    return flags & _MM_EXCEPT_INVALID;
#else
    bool invalid = fetestexcept(FE_INVALID) != 0;
    if (invalid) feclearexcept(FE_INVALID);
    return invalid;
#endif
}

int32_t krait_host_numpy_loop(const HostNumpyLoop *loop, char **arrays, const int64_t *sizes, const int64_t *steps) {
    take_invalid();
    loop->function(arrays, sizes, steps, loop->data);
    return take_invalid();
}

int32_t krait_host_numpy_sort(const HostNumpyLoop *sort, void *items, int64_t count) {
    typedef int Sort(void *items, intptr_t count, void *array);
    return ((Sort *)(void (*)(void))sort->function)(items, count, NULL) < 0;
}

int32_t krait_host_numpy_argsort(const HostNumpyLoop *sort, void *items, int64_t *places, int64_t count) {
    typedef int ArgSort(void *items, intptr_t *places, intptr_t count, void *array);
    return ((ArgSort *)(void (*)(void))sort->function)(items, (intptr_t *)places, count, NULL) < 0;
}
