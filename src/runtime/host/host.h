/* host.h: the device that runs CUDA kernels on the cores of this machine.
 *
 * The agreement between a kernel's code and this device (codegen_cpu/entry_kernel.c writes the one side, launch.c and
 * fibers.c are the other):
 *
 *   without barriers: int32_t entry(HostGrid *, const void *args, void *exception), which runs all threads of the
 *   `joined` blocks; with barriers: int32_t entry(HostThread *, const void *args, void *exception), which runs one
 *   thread, on a fiber.
 *
 * Both return 0 or 1 + the number of a RaiseSite.
 *
 * Loops of functions run on the same threads: parallel.c.
 *
 * Files: device.c and kernel.c are the host device as a Device, launch.c hands out the blocks, pool.c has the worker
 * threads, fibers.c the threads of a block, races.c what they do to each other's memory, prints.c what they print,
 * parallel.c the loops. */
#ifndef KRAIT_RUNTIME_HOST_H
#define KRAIT_RUNTIME_HOST_H

#include <pthread.h> /* pthread_mutex_t */

#include "ir/ir.h"          /* HostGrid, HostThread, BarrierVote */
#include "runtime/device.h" /* Device */
#include "runtime/host/random_state.h"

enum {
    SITE_BITS = 14,            /* of an access site in HostGrid.bad_access and HostThread.bad */
    THREAD_BITS = 10,          /* of a thread in HostGrid.bad_access */
    MAX_ROW = 1 << 16,         /* threads along the inner axis of joined blocks (pass thread_order) */
    NO_BAD_ACCESS = 1 << 30,   /* HostThread.bad from here on: every access was inside; above any place << SITE_BITS */
    MAX_BLOCK_SHARED = 232448, /* bytes, static and dynamic: as on an H200 */
    /* Stack that recursive functions may use: half of a thread's usual 8 MB; three quarters of what a fiber has beside
     * its code's local variables. */
    THREAD_RECURSION = 4 << 20,
    FIBER_RECURSION = 48 << 10,
    /* What is left of a thread's stack where recursion ends: a quarter of it, within these. */
    HOST_LEAST_RESERVE = 16 << 10,
    HOST_MOST_RESERVE = 256 << 10
};

/* A kernel's machine code, and what is known of it. */
typedef struct HostKernel {
    void *address;
    size_t stack_bytes;                /* of the code's local variables, for the size of fibers' stacks */
    size_t kept_bytes;                 /* of what the threads of a block keep: krait_host_kept */
    unsigned inner_axis;               /* 0 or 1: HostGrid.joined counts blocks along x or y */
    bool joins_blocks;                 /* it may be more than 1 */
    _Atomic int64_t block_nanoseconds; /* what one block took when last measured; 0: not yet */
} HostKernel;

/* What the threads of a launch printed, by PrintHeads (prints.c). */
typedef struct HostPrints {
    pthread_mutex_t lock;
    char *bytes;
    size_t used, room;
    bool lost; /* there was no memory for all */
} HostPrints;
void host_prints_init(HostPrints *prints);
void host_prints_take(HostPrints *prints, char **bytes, size_t *used, bool *lost); /* ends it; *bytes is to be freed */
/* What generated code calls: the values of a print, of so many bytes. */
void krait_host_print(HostPrints *prints, int32_t site, const void *values, int32_t bytes);

typedef struct HostLaunch {
    HostKernel *kernel;
    int32_t grid[3], block[3]; /* each at least 1; at most 1024 threads in a block */
    size_t shared_static, shared_dynamic;
    bool fibers;        /* codegen_has_barriers */
    bool together;      /* codegen_waits_for_grid */
    bool races;         /* its accesses are watched (races.c): on one core */
    HostPrints *prints; /* of a kernel that prints; else NULL */
    const void *args;   /* layout of tuple(params) */
    void *exception;    /* buffer of exception_bytes per launch: the first raising thread's arguments */
    size_t exception_bytes;
} HostLaunch;

/* Runs every thread of the grid and returns when all are done.  Call without the GIL.  False: no memory
 * (report->needed_bytes), or, that being 0, more than 1024 threads in a block. */
bool host_device_launch(const HostLaunch *launch, LaunchReport *report);
Device host_device_new(void); /* memory of this process */

/* kernel.c: DeviceOps.kernel_... and launch of the host device. */
int host_kernel_load(Device *device, const DeviceCode *code, char *log, size_t log_bytes, DeviceKernel **kernel);
void host_kernel_free(DeviceKernel *kernel);
int host_kernel_fact(DeviceKernel *kernel, KernelFact fact, int *value);
int host_kernel_allow_shared(DeviceKernel *kernel, unsigned bytes);
int host_best_block(DeviceKernel *kernel, size_t shared_bytes, int *threads);
int host_blocks_at_once(DeviceKernel *kernel, int threads, size_t shared_bytes, int *blocks);
int host_launch(DeviceKernel *kernel, const LaunchConfig *config, const void *params, LaunchReport *report);
/* share.c: DeviceOps.share_... of the host device. */
int host_share_allocate(Device *device, size_t bytes, void **memory);
int host_share_release(Device *device, void *memory);
int host_share_name(Device *device, const void *memory, unsigned char name[DEVICE_NAME_BYTES], size_t *offset);
int host_share_open(Device *device, const unsigned char name[DEVICE_NAME_BYTES], void **memory, size_t *bytes);
int host_share_close(Device *device, void *memory);
void host_share_forget(void); /* this process ends: the names of its memory go */
/* The host device's failures, by the numbers that CUDA has for such.  HOST_SYSTEM: above it, errno. */
enum {
    HOST_WRONG = 1,
    HOST_NO_MEMORY = 2,
    HOST_SYSTEM = 304,
    HOST_NOT_THERE = 400,
    HOST_LOCKED_ALREADY = 712,
    HOST_ERRNO_SHIFT = 16
};

unsigned host_device_workers(
    void); /* threads used, the caller's included: KRAIT_NUM_THREADS or the cores this process may use */

/* A thread of the process's own, which gets no signals and which nobody waits for (pool.c); false: there is none. */
bool host_begin_thread(void *(*run)(void *), void *given);

/* ---- loops (parallel.c) ---- */

/* `count` pieces of work, `chunk` of them at a time. */
typedef struct HostLoop HostLoop;
struct HostLoop {
    /* Runs the pieces from .. to-1, which are chunk number `chunk`, on any thread; false: no later chunk need run. */
    bool (*run)(HostLoop *self, int64_t from, int64_t to, int64_t chunk);
    int64_t count, chunk;
    _Atomic int64_t *each; /* nanoseconds that one piece took when last measured, 0: not yet; NULL: not measured */
};
/* Runs every chunk, on this thread and on those that help; false: one stopped, and each before it has run.  Without
 * the GIL. */
bool host_loop_run(HostLoop *loop);
unsigned host_threads(void); /* that a loop of this thread runs on at most, this one included */
void host_set_threads(unsigned count);
unsigned host_thread_number(void); /* of this thread in the loop it works on: below host_threads() of who runs it */

int32_t krait_host_chunk_spreads(void); /* whether a loop in the chunk that this thread runs has helpers of its own */

int64_t host_chunk(void); /* iterations of a chunk that this thread's parallel loops have; 0: as it seems fit */
void host_set_chunk(int64_t iterations);

/* A parallel loop in generated code (codegen/lower_parallel.c).  The piece runs iterations from .. to-1, with the
 * values from outside the loop, and gives their results; it returns 0 or the status of what it raised, with the
 * exception in a buffer of its own.  The join puts the results of one more chunk to those so far.  Both results and
 * exception are those of the loop: what came before it is put first, and the first chunk that raised is the one whose
 * exception counts. */
typedef int32_t HostPiece(const void *outer, int64_t from, int64_t to, void *results, void *exception);
typedef void HostJoin(void *results, const void *more);
int32_t krait_host_parallel(HostPiece *piece, HostJoin *join, int64_t result_bytes, int64_t exception_bytes,
                            int32_t light, _Atomic int64_t *each, int64_t count, const void *outer, void *results,
                            void *exception, const int64_t *seeds); /* seeds: NULL where nothing is drawn */

/* ---- elements of ufuncs (strips.c) ---- */

/* Generated code: whole rounds of elements that lie without gaps in every operand, which overlap exactly or not at all.
 * Nonzero: one raised. */
typedef int32_t HostStrip(char *const *at, int64_t rounds, void *data);
/* The same for elements `step` bytes apart, one after the other.  Nonzero: one raised, and the caller has been told. */
typedef int32_t HostPlain(char *const *at, int64_t count, const int64_t *step, void *data);
enum HostStripTraits {
    STRIP_LIGHT = 1, /* the function takes a few cycles */
    STRIP_FLAGS = 2, /* it may set floating-point flags that an element alone does not */
    STRIP_LONG = 4,  /* it has loops: no one knows how long it takes */
    STRIP_AGAIN = 8, /* it may be done anew: elements of a strip that has raised, or set a flag that may not be theirs,
                      * are done by `plain`; else the strip stops where it raises, and tells the caller */
    STRIP_STOPS = 16 /* an element may raise, or be ended by a signal */
};
/* How the operands of a plain loop lie.  There may be one that is quicker where they lie in one way, and right nowhere
 * else. */
typedef enum HostLie {
    LIE_ANYHOW,
    LIE_GAPPED,      /* anyhow, and the loop is quick where there are gaps */
    LIE_REDUCED,     /* f(a, b): each result is where the one before is, which is the next a; no b lies there */
    LIE_ACCUMULATED, /* each result is the next a */
    LIE_COUNT
} HostLie;
/* A ufunc's loops: what an ENTRY_UFUNC is. */
typedef struct HostLoops {
    HostStrip *strip;
    HostPlain *plain;
    const char *bytes; /* of an element of each operand, inputs first */
    int32_t inputs, count;
    int32_t round; /* elements: the power of two, 8 at most */
    int32_t traits;
    int32_t lies; /* bit i: a plain loop for HostLie i may be made: an ENTRY_UFUNC with CodegenOptions.lie is one */
} HostLoops;
/* The same with the plain loops that have been made, by the time that they are worth making. */
typedef struct HostTable HostTable;
struct HostTable {
    const HostLoops *loops;
    HostPlain *_Atomic plain[LIE_COUNT]; /* NULL: not yet.  LIE_ANYHOW: that of loops */
    _Atomic int64_t elements[LIE_COUNT]; /* that have been done without it */
    /* Makes one, or does not: on any thread, without the GIL; data: that of the call.  May set an exception. */
    void (*make)(HostTable *self, HostLie lie, const void *data);
};
/* All elements, as NumPy gave them; data: a HostUfunc (codegen_cpu/codegen_cpu.h).  Ends early where an element raises,
 * and where a signal's handler has: the exception is set then. */
void host_ufunc_run(HostTable *table, char *const *start, const int64_t *elements, const int64_t *step, void *data);

/* ---- the interpreter (python.c) ---- */

/* What the interpreter does for compiled code, on any thread, with the GIL or without.  An exception is an object of
 * which who has it holds a reference. */
typedef struct HostPython {
    /* Calls a function; types: a tuple, laid out as `arguments` are.  Returns what it raised; NULL: it did not. */
    void *(*call)(const char *what, const Type *types, const char *arguments, const Type *result, char *to);
    int32_t (*row_of)(const void *raised);   /* of its class, or the nearest above it, in ir_exceptions.def, from 1 */
    void *(*raised)(void);                   /* the exception that is set in this thread; NULL: none */
    void (*hold)(void *held, void *dropped); /* one more reference, one fewer; each may be NULL */
    bool (*is)(const void *raised, const Type *classes); /* of an exception class, or of one of a tuple of them */
    /* As call: a text of what was caught, a string's bytes; `which`: as the row CAUGHT_TEXT says. */
    void *(*caught_text)(void *caught, int64_t which, char *to);
    void *(*caught_attribute)(void *caught, const char *name, const Type *type, char *to); /* of that type */
    void (*keep)(void *caught); /* it may be raised again: its object has the lines of its way so far */
    /* The exception of `status` in a trail was raised while the other was handled, or from it (NULL: from None). */
    void (*chain)(void *trail, int32_t status, void *handled);
    void (*give_cause)(void *trail, int32_t status, void *cause);
    uint32_t (*traits)(uint32_t code, uint32_t asked); /* which of these a code point has: decorators/characters.def */
} HostPython;
uint32_t krait_host_character_traits(uint32_t code, uint32_t asked);
void host_set_python(const HostPython *python);
/* What generated code calls: 0, or the row of what it raised in ir_exceptions.def, counted from 1, and the exception is
 * what krait_host_take_raised() gives next. */
int32_t krait_host_python(const char *what, const Type *types, const char *arguments, const Type *result, char *to);
/* The same, of an exception's memory (lower_caught.c). */
int32_t krait_host_caught_text(void *caught, int64_t which, char *to);
int32_t krait_host_caught_attribute(void *caught, const char *name, const Type *type, char *to);
void *krait_host_take_raised(void); /* or what the handler of a signal has raised; NULL: nothing */
void krait_host_hold_raised(void *held, void *dropped);
int32_t krait_host_raised_is(const void *held, const Type *classes);
void krait_host_keep_raised(void *caught); /* memory and trails of lower_caught.c */
void krait_host_chain_raised(void *trail, int32_t status, void *handled);
void krait_host_cause_raised(void *trail, int32_t status, void *cause);

/* ---- interrupts (interrupt.c) ---- */

/* Whether what runs is to stop, because the handler of a signal raised; of any thread, with the GIL or without.  again:
 * whether it is so still, since the last time that it was. */
typedef bool HostInterruptCheck(bool again);
void host_set_interrupt_check(HostInterruptCheck *check);
/* The flag by which the threads of a launch, or of a loop, tell each other to stop; outer: that of the loop around it,
 * or NULL. */
typedef struct HostStop HostStop;
struct HostStop {
    _Atomic bool set;
    HostStop *outer;
};
HostStop *host_stop_watch(HostStop *stop); /* of this thread from now on; returns what it had before: NULL, none */
/* What generated code calls now and then: 1, it is to return the status of its site. */
int32_t krait_host_safepoint(void);
/* The same, where what was told to stop may be called once more before its caller sees that. */
bool host_is_to_stop(void);
/* How many calls of what may take long come before the next look: `count` have taken the time since *since, which
 * begins anew; at first since host_pace_begins(). */
int64_t host_pace(int64_t count, uint64_t *since, int64_t most);
uint64_t host_pace_begins(void);

/* ---- loops of NumPy's ufuncs (numpy_loops.c) ---- */

#define HOST_NUMPY_LOOP "krait_numpy_loop_" /* their symbols begin so */
typedef void HostNumpyFunction(char **arrays, const int64_t *sizes, const int64_t *steps, void *data);
typedef struct HostNumpyLoop HostNumpyLoop;
/* The loop of a ufunc with what it is given as `data`; with the GIL; false: too many. */
bool host_numpy_loop_add(const char *symbol, HostNumpyFunction *function, void *data);
const HostNumpyLoop *host_numpy_loop_find(const char *symbol); /* its symbol's address; NULL: there is none */
/* What generated code calls: 1, the loop left the floating-point flag `invalid` set, as NumPy's do for an error. */
int32_t krait_host_numpy_loop(const HostNumpyLoop *loop, char **arrays, const int64_t *sizes, const int64_t *steps);
/* NumPy's PyArray_SortFunc and PyArray_ArgSortFunc of a dtype, kept as loops are; 1: there was no memory. */
int32_t krait_host_numpy_sort(const HostNumpyLoop *sort, void *items, int64_t count);
int32_t krait_host_numpy_argsort(const HostNumpyLoop *sort, void *items, int64_t *places, int64_t count);

/* ---- random numbers (random.c) ---- */

/* States that generated code draws from: of numpy.random's functions (rtlib/random.c: LegacyState), of the module
 * random (Twister). */
typedef enum HostRandom { HOST_RANDOM_NUMPY, HOST_RANDOM_PYTHON, HOST_RANDOM_COUNT } HostRandom;
/* Starts the owner's state anew; a seed is a number without sign.  Of any thread, with the GIL or without. */
enum { HOST_SEED_OF_SYSTEM = -1 };
typedef void HostRandomSeed(void *owner, int64_t seed);
void host_random_set(HostRandom which, void *state, void *owner, HostRandomSeed *seed);
void *host_random_get(HostRandom which);                  /* the state; NULL: not found yet */
void krait_host_random_seed(int32_t which, int64_t seed); /* what generated code calls */
/* next_uint32 of bit generators whose state is known to lie as NumpyTwister; and where that address is kept, NULL until
 * then, which generated code reads. */
typedef uint32_t HostRandomWord(void *state);
void host_random_set_twister(HostRandomWord *next);
void *host_random_twister(void);

/* What a chunk of a parallel loop draws from, in room of the caller's; seeds: one for each HostRandom.  Returns the
 * stream that the thread had before. */
typedef struct HostStream HostStream;
enum { HOST_STREAM_BYTES = 176 };
HostStream *host_stream_enter(void *room, const int64_t *seeds, int64_t chunk);
void host_stream_leave(HostStream *before);
void *krait_host_numpy_stream(void);            /* for generated code: LegacyState of rtlib/random.c; this thread's */
uint64_t *krait_host_stream_words(void);        /* of the same stream: stream_word; NULL: the thread has none */
int32_t krait_host_python_word(uint32_t *word); /* 0: the thread has no stream */

/* What generated code calls at barriers.  Each returns when every thread of the block (the lanes of the mask of the
 * thread's warp) that has not left by a return statement has arrived; vote: a BarrierVote over the predicates; op: a
 * WarpOp (warp.h says what it takes and gives). */
void krait_host_barrier(HostThread *thread, uint32_t site);
void krait_host_grid_barrier(HostThread *thread, uint32_t site);
int32_t krait_host_barrier_vote(HostThread *thread, uint32_t site, int32_t vote, int32_t predicate);
int64_t krait_host_warp(HostThread *thread, uint32_t site, int32_t op, uint32_t mask, int64_t value, int32_t operand);
/* What it calls where a thread rests: the other threads of the block that are ready run first. */
void krait_host_yield(HostThread *thread);
/* Memory of a block whose threads are a loop, from `offset` on: what they keep from one barrier to others. */
void *krait_host_kept(HostGrid *grid, int64_t offset);
/* A thread is about to access so many bytes, or stands at a fence; kind: RaceAccess. */
void krait_host_access(HostThread *thread, const void *memory, int32_t bytes, int32_t site, int32_t kind);

#endif
