/* host.h: what the files of this folder share; private to codegen_cpu.
 *
 * The agreement between a kernel's code and the host device (entry.c writes the one side, host_device.c and fibers.c
 * are the other):
 *
 *   without barriers: int32_t entry(HostGrid *, const void *args, void *exception), which runs all threads of the
 *   `joined` blocks; with barriers: int32_t entry(HostThread *, const void *args, void *exception), which runs one
 *   thread, on a fiber.
 *
 * Both return 0 or 1 + the number of a RaiseSite. */
#ifndef KRAIT_CODEGEN_CPU_HOST_H
#define KRAIT_CODEGEN_CPU_HOST_H

#include "codegen/llvm.h"            /* Lower, Module */
#include "codegen_cpu/codegen_cpu.h" /* HostCode, HostLaunch */

#define STRUCT(name)                          typedef struct name {
#define FIELD(structure, field, type, letter) type field;
#define END(name) \
    }             \
    name;
#include "ir/ir_abi.def"
#undef STRUCT
#undef FIELD
#undef END

enum {
    SITE_BITS = 14,           /* of an access site in HostGrid.bad_access and HostThread.bad */
    THREAD_BITS = 10,         /* of a thread in HostGrid.bad_access */
    MAX_BLOCK_THREADS = 1024, /* as on a GPU */
    MAX_ROW = 1 << 16,        /* threads along the inner axis of joined blocks (thread_order.c) */
    NO_BAD_ACCESS = 1 << 30,  /* HostThread.bad from here on: every access was inside; above any place << SITE_BITS */
    WARP_SIZE = 32,
    /* Stack that recursive functions may use: half of a thread's usual 8 MB; three quarters of what a fiber has beside
     * its code's local variables. */
    THREAD_RECURSION = 4 << 20,
    FIBER_RECURSION = 48 << 10
};

/* ---- symbols.c ---- */

/* Address of a function that generated code may call: of our runtime, of the C and math libraries or libmvec; NULL:
 * unknown. */
void *host_symbol(const char *name);

/* ---- entry.c ---- */

bool host_entry(Lower *l, const FuncInst *root);

/* ---- orc.c ---- */

typedef int32_t (*BlockEntry)(HostGrid *grid, const void *args, void *exception);
typedef int32_t (*ThreadEntry)(HostThread *thread, const void *args, void *exception);

struct HostCode {
    void *address;
    void *tracker;                     /* LLVMOrcResourceTrackerRef: owns the machine code */
    size_t stack_bytes;                /* of the code's local variables, for the size of fibers' stacks */
    unsigned inner_axis;               /* 0 or 1: HostGrid.joined counts blocks along x or y */
    bool joins_blocks;                 /* it may be more than 1 */
    _Atomic int64_t block_nanoseconds; /* what one block took when last measured; 0: not yet */
};

/* ---- fibers.c ---- */

/* The threads of one block as fibers; used by one thread of the process at a time, reused from block to block and
 * launch to launch. */
typedef struct FiberGroup FiberGroup;

typedef struct FiberOutcome {
    int32_t status; /* of the first thread that raised, else 0; its arguments are in the exception buffer given */
    int32_t thread; /* number in the block of the raising or the stuck thread */
    bool stuck;
    uint32_t site; /* of the barrier the stuck thread waits at */
} FiberOutcome;

FiberGroup *fiber_group_new(size_t threads, size_t stack_bytes); /* NULL: no memory */
bool fiber_group_fits(const FiberGroup *group, size_t threads, size_t stack_bytes);
size_t fiber_group_bytes(const FiberGroup *group); /* of address space */
void fiber_group_free(FiberGroup *group);          /* NULL is fine */
/* Runs a block; bad accesses go to grid->bad_access. */
void fiber_group_run(FiberGroup *group, HostGrid *grid, ThreadEntry entry, const void *args, void *exception,
                     size_t exception_bytes, FiberOutcome *outcome);

/* What generated code calls at barriers.  Each returns when every thread of the block (the lanes of the mask of the
 * thread's warp) that has not ended has arrived; vote: a BarrierVote over the predicates. */
void krait_host_barrier(HostThread *thread, uint32_t site);
int32_t krait_host_barrier_vote(HostThread *thread, uint32_t site, int32_t vote, int32_t predicate);
void krait_host_warp_barrier(HostThread *thread, uint32_t site, uint32_t mask);
/* What it calls where a thread rests: the other threads of the block that are ready run first. */
void krait_host_yield(HostThread *thread);

#endif
