/* symbols.c: the functions that machine code made here may call.
 *
 * In: a symbol's name.  Out: its address in this process, or NULL.
 * First our own runtime (the table), then the C library's libm and libc, and libmvec where the system has it.  Nothing
 * else of the process is visible to generated code, so that a name cannot be caught by a library that happens to be
 * loaded. */
#include <dlfcn.h>   /* dlopen, dlsym */
#include <pthread.h> /* pthread_once */
#include <string.h>  /* strcmp */

#include "codegen_cpu/host.h"

/* Conversions that LLVM calls by these names on processors without half floats; rounding once, unlike a detour through
 * float. */
static _Float16 half_from_double(double x) { return (_Float16)x; }
static _Float16 half_from_float(float x) { return (_Float16)x; }
static float float_from_half(_Float16 x) { return (float)x; }

typedef __int128 Int128;
static Int128 divide_signed(Int128 a, Int128 b) { return a / b; }
static Int128 remainder_signed(Int128 a, Int128 b) { return a % b; }
static unsigned __int128 divide_unsigned(unsigned __int128 a, unsigned __int128 b) { return a / b; }
static unsigned __int128 remainder_unsigned(unsigned __int128 a, unsigned __int128 b) { return a % b; }

typedef struct RuntimeSymbol {
    const char *name;
    void (*address)(void);
} RuntimeSymbol;

#define SYMBOL(name, function) {name, (void (*)(void))(function)}
static const RuntimeSymbol runtime_symbols[] = {
    SYMBOL("krait_host_barrier", krait_host_barrier),
    SYMBOL("krait_host_barrier_vote", krait_host_barrier_vote),
    SYMBOL("krait_host_warp_barrier", krait_host_warp_barrier),
    SYMBOL("krait_host_yield", krait_host_yield),
    SYMBOL("__truncdfhf2", half_from_double),
    SYMBOL("__truncsfhf2", half_from_float),
    SYMBOL("__extendhfsf2", float_from_half),
    SYMBOL("__divti3", divide_signed),
    SYMBOL("__modti3", remainder_signed),
    SYMBOL("__udivti3", divide_unsigned),
    SYMBOL("__umodti3", remainder_unsigned),
};

/* Handles of libraries that the process has anyway (libmvec apart); never closed. */
static pthread_once_t libraries_once = PTHREAD_ONCE_INIT;
static void *libraries[3];

static void open_libraries(void) {
    libraries[0] = dlopen("libm.so.6", RTLD_NOW | RTLD_LOCAL);
    libraries[1] = dlopen("libc.so.6", RTLD_NOW | RTLD_LOCAL);
    libraries[2] = dlopen("libmvec.so.1", RTLD_NOW | RTLD_LOCAL);
}

void *host_symbol(const char *name) {
    for (size_t i = 0; i < COUNT_OF(runtime_symbols); i++)
        if (!strcmp(name, runtime_symbols[i].name)) {
            void *address;
            memcpy(&address, &runtime_symbols[i].address,
                   sizeof address); /* ISO C has no cast from function to object */
            return address;
        }
    pthread_once(&libraries_once, open_libraries);
    for (size_t i = 0; i < COUNT_OF(libraries); i++) {
        void *address = libraries[i] ? dlsym(libraries[i], name) : NULL;
        if (address) return address;
    }
    return NULL;
}
