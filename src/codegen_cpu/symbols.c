/* symbols.c: the functions that machine code made here may call, and where its thread's stack ends.
 *
 * In: a symbol's name.  Out: its address in this process, or NULL.
 * First our own runtime (the table), then the C library's libm and libc, and libmvec where the system has it, then what
 * NumPy exports for random numbers.  Nothing else of the process is visible to generated code, so that a name cannot be
 * caught by a library that happens to be loaded. */
#include <dlfcn.h>     /* dlopen, dlsym */
#include <limits.h>    /* PATH_MAX */
#include <link.h>      /* dl_iterate_phdr */
#include <pthread.h>   /* pthread_once, pthread_getattr_np */
#include <stdatomic.h> /* atomic_load */
#include <stdio.h>     /* snprintf */
#include <string.h>    /* strcmp, strstr */

#include "codegen_cpu/cpu.h"
#include "runtime/heap/heap.h" /* krait_heap_buffer */

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

/* Of an axis of two arrays that are used together; -1: they do not go together. */
static int64_t joined_extent(int64_t a, int64_t b) { return a == b || b == 1 ? a : a == 1 ? b : -1; }

/* ---- the end of a thread's stack ---- */


typedef struct ThreadStack {
    bool known;
    uint64_t low, high; /* 0: the system does not tell */
} ThreadStack;

/* Asking costs the main thread a look into /proc; a thread's stack never moves. */
static ThreadStack *thread_stack(void) {
    static _Thread_local ThreadStack stack;
    pthread_attr_t attributes;
    void *low;
    size_t size;
    if (stack.known) return &stack;
    stack.known = true;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) return &stack;
    if (pthread_attr_getstack(&attributes, &low, &size) == 0) {
        stack.low = (uint64_t)(uintptr_t)low;
        stack.high = stack.low + size;
    }
    pthread_attr_destroy(&attributes);
    return &stack;
}

/* The lowest address of a recursive function's frame when the entry's frame is at `here`: `bytes` lower, but what a
 * frame and the functions it calls take must be left of the thread's stack. */
static int64_t stack_limit(int64_t here, int64_t bytes) {
    const ThreadStack *stack = thread_stack();
    uint64_t at = (uint64_t)here, limit = at > (uint64_t)bytes ? at - (uint64_t)bytes : 0;
    if (at < stack->low || at >= stack->high) return (int64_t)limit; /* a stack of somebody's own */
    uint64_t reserve = (stack->high - stack->low) / 4;
    if (reserve > HOST_MOST_RESERVE) reserve = HOST_MOST_RESERVE;
    if (reserve < HOST_LEAST_RESERVE) reserve = HOST_LEAST_RESERVE;
    return (int64_t)(limit > stack->low + reserve ? limit : stack->low + reserve);
}

size_t host_stack_left(void) {
    const ThreadStack *stack = thread_stack();
    uint64_t here = (uint64_t)(uintptr_t)__builtin_frame_address(0);
    return here < stack->low || here >= stack->high ? SIZE_MAX : (size_t)(here - stack->low);
}

void host_exception_open(void *buffer) {
    int64_t *state = buffer, here = (int64_t)(uintptr_t)__builtin_frame_address(0);
    state[0] = stack_limit(here, THREAD_RECURSION);
    state[1] = 1 << 14;
}

/* ---- the table ---- */

typedef struct RuntimeSymbol {
    const char *name;
    void (*address)(void);
} RuntimeSymbol;

#define SYMBOL(name, function) {name, (void (*)(void))(function)}
static const RuntimeSymbol runtime_symbols[] = {
    SYMBOL("krait_host_barrier", krait_host_barrier),
    SYMBOL("krait_host_barrier_vote", krait_host_barrier_vote),
    SYMBOL("krait_host_grid_barrier", krait_host_grid_barrier),
    SYMBOL("krait_host_warp", krait_host_warp),
    SYMBOL("krait_host_yield", krait_host_yield),
    SYMBOL("krait_host_kept", krait_host_kept),
    SYMBOL("krait_host_access", krait_host_access),
    SYMBOL("krait_host_print", krait_host_print),
#if defined(__x86_64__)
    SYMBOL("krait_look_sse", krait_look_sse),
    SYMBOL("krait_look_avx", krait_look_avx),
    SYMBOL("krait_look_kernel_sse", krait_look_kernel_sse),
    SYMBOL("krait_look_kernel_avx", krait_look_kernel_avx),
#else
    SYMBOL("krait_look", krait_look),
    SYMBOL("krait_look_kernel", krait_look_kernel),
#endif
    SYMBOL("krait_host_python", krait_host_python),
    SYMBOL("krait_host_caught_attribute", krait_host_caught_attribute),
    SYMBOL("krait_host_caught_text", krait_host_caught_text),
    SYMBOL("krait_host_chain_raised", krait_host_chain_raised),
    SYMBOL("krait_host_cause_raised", krait_host_cause_raised),
    SYMBOL("krait_host_keep_raised", krait_host_keep_raised),
    SYMBOL("krait_host_take_raised", krait_host_take_raised),
    SYMBOL("krait_host_hold_raised", krait_host_hold_raised),
    SYMBOL("krait_host_raised_is", krait_host_raised_is),
    SYMBOL("krait_heap_character", krait_heap_character),
    SYMBOL("krait_heap_characters", krait_heap_characters),
    SYMBOL("krait_heap_joined", krait_heap_joined),
    SYMBOL("krait_heap_grown", krait_heap_grown),
    SYMBOL("krait_heap_lies_at", krait_heap_lies_at),
    SYMBOL("krait_heap_order", krait_heap_order),
    SYMBOL("krait_host_character_traits", krait_host_character_traits),
    SYMBOL("krait_joined_extent", joined_extent),
    SYMBOL("krait_overlap_1", host_overlap_1),
    SYMBOL("krait_overlap_2", host_overlap_2),
    SYMBOL("krait_overlap_3", host_overlap_3),
    SYMBOL("krait_pairs_open", host_pairs_open),
    SYMBOL("krait_pairs_add_f32", host_pairs_add_f32),
    SYMBOL("krait_pairs_add_f64", host_pairs_add_f64),
    SYMBOL("krait_heap_buffer", krait_heap_buffer),
    SYMBOL("krait_heap_list", krait_heap_list),
    SYMBOL("krait_heap_list_grow", krait_heap_list_grow),
    SYMBOL("krait_heap_list_reserve", krait_heap_list_reserve),
    SYMBOL("krait_heap_list_append_all", krait_heap_list_append_all),
    SYMBOL("krait_heap_list_truncate", krait_heap_list_truncate),
    SYMBOL("krait_heap_may_cycle", krait_heap_may_cycle),
    SYMBOL("krait_heap_generator", krait_heap_generator),
    SYMBOL("krait_heap_generator_next", krait_heap_generator_next),
    SYMBOL("krait_heap_generator_close", krait_heap_generator_close),
    SYMBOL("krait_heap_retain", heap_retain),
    SYMBOL("krait_heap_release", heap_release),
    SYMBOL("krait_heap_give_up", krait_heap_give_up),
    SYMBOL("krait_heap_share", heap_share),
    SYMBOL("krait_host_parallel", krait_host_parallel),
    SYMBOL("krait_host_chunk_spreads", krait_host_chunk_spreads),
    SYMBOL("krait_host_threads", host_threads),
    SYMBOL("krait_host_set_threads", host_set_threads),
    SYMBOL("krait_host_thread_number", host_thread_number),
    SYMBOL("krait_host_most_threads", host_device_workers),
    SYMBOL("krait_host_chunk", host_chunk),
    SYMBOL("krait_host_set_chunk", host_set_chunk),
    SYMBOL("krait_host_stack_limit", stack_limit),
    SYMBOL("krait_host_twister_turn", krait_host_twister_turn),
    SYMBOL("krait_host_numpy_stream", krait_host_numpy_stream),
    SYMBOL("krait_host_stream_words", krait_host_stream_words),
    SYMBOL("krait_host_python_word", krait_host_python_word),
    SYMBOL("krait_host_numpy_loop", krait_host_numpy_loop),
    SYMBOL("krait_host_numpy_sort", krait_host_numpy_sort),
    SYMBOL("krait_host_numpy_argsort", krait_host_numpy_argsort),
    SYMBOL("krait_host_random_seed", krait_host_random_seed),
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

/* ---- NumPy's functions for random numbers ---- */

static _Atomic(void *) numpy_random; /* the handle of the module that has them, once it was asked for */

/* Opens nothing: the loader holds a lock here that a thread which imports a module takes after another one that opening
 * needs. */
static int note_if_numpy_random(struct dl_phdr_info *object, size_t size, void *path) {
    (void)size;
    if (!object->dlpi_name || !strstr(object->dlpi_name, "/numpy/random/_generator.")) return 0;
    snprintf(path, PATH_MAX, "%s", object->dlpi_name);
    return 1;
}

/* The names begin alike in all of them; the module is loaded whenever compiled code has such a call, and stays. */
static void *numpy_random_symbol(const char *name) {
    if (strncmp(name, "random_", strlen("random_")) != 0) return NULL;
    void *handle = atomic_load(&numpy_random);
    char path[PATH_MAX];
    if (!handle && dl_iterate_phdr(note_if_numpy_random, path) == 1) {
        handle = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
        atomic_store(&numpy_random, handle);
    }
    return handle ? dlsym(handle, name) : NULL;
}

void *host_symbol(const char *name) {
    if (!strncmp(name, HOST_NUMPY_LOOP, strlen(HOST_NUMPY_LOOP))) return (void *)host_numpy_loop_find(name);
    if (!strcmp(name, "krait_host_numpy_random")) return host_random_get(HOST_RANDOM_NUMPY);
    if (!strcmp(name, "krait_host_numpy_twister")) return host_random_twister();
    if (!strcmp(name, "krait_host_python_random")) return host_random_get(HOST_RANDOM_PYTHON);
    for (size_t i = 0; i < COUNT_OF(runtime_symbols); i++)
        if (!strcmp(name, runtime_symbols[i].name)) {
            void *address;
            memcpy(&address, &runtime_symbols[i].address,
                   sizeof address); /* ISO C has no cast from function to object */
            return address;
        }
    void *remainder = host_remainder(name);
    if (remainder) return remainder;
    void *gamma = host_gamma(name);
    if (gamma) return gamma;
    pthread_once(&libraries_once, open_libraries);
    for (size_t i = 0; i < COUNT_OF(libraries); i++) {
        void *address = libraries[i] ? dlsym(libraries[i], name) : NULL;
        if (address) return address;
    }
    return numpy_random_symbol(name);
}
