/* codegen_cpu.h: the host target: optimised module in, callable address out (ORC LLJIT), and the device that runs CUDA
 * kernels on the cores.
 *
 * A kernel without barriers is compiled to a plain loop over the threads of a block, which LLVM vectorises; with
 * barriers or warp operations the threads of a block are fibers on one core.  Blocks are spread over the cores by a
 * pool of worker threads.
 *
 * Files: target.c answers the questions of codegen/llvm.h, entry.c wraps the root function, symbols.c lists
 * what code may call (the vector math of libmvec too), orc.c makes it callable; host_device.c launches, pool.c has the
 * worker threads, fibers.c the threads of a block. */
#ifndef KRAIT_CODEGEN_CPU_H
#define KRAIT_CODEGEN_CPU_H

#include "codegen/codegen.h" /* Target, Module, AccessSite */

const Target *codegen_cpu_target(void);

/* Machine code that stays callable until released.  Thread-safe. */
typedef struct HostCode HostCode;
HostCode *codegen_cpu_emit(Module **module, const char *entry_name,
                           Diag *diag);                               /* takes the module: *module is NULL afterwards */
char *codegen_cpu_assembly(Module *module, Arena *arena, Diag *diag); /* before emit; for inspect_asm and dumps */
void *host_code_address(const HostCode *code);
void host_code_release(HostCode *code); /* NULL is fine */
const char *codegen_cpu_name(void);     /* "znver4", for info */

/* ENTRY_UFUNC: what the loop's last argument points to.  A loop whose function raises calls `raise` once, with the
 * arguments in a buffer of its own, and returns; the callee takes the GIL.  NULL is fine for a function that cannot
 * raise. */
typedef struct HostUfunc HostUfunc;
struct HostUfunc {
    void (*raise)(HostUfunc *self, int32_t status, const void *exception);
};

/* ---- the host device ---- */

typedef struct HostLaunch {
    HostCode *code;            /* of an ENTRY_KERNEL */
    int32_t grid[3], block[3]; /* each at least 1; at most 1024 threads in a block */
    size_t shared_static, shared_dynamic;
    bool fibers;      /* codegen_has_barriers */
    const void *args; /* layout of tuple(params) */
    void *exception;  /* buffer of exception_bytes per launch: the first raising thread's arguments */
    size_t exception_bytes;
} HostLaunch;

typedef struct HostLaunchReport {
    int32_t status; /* 0, or 1 + RaiseSite of the first thread (in block and thread order) that raised */
    int64_t bad_block,
        bad_thread;    /* of the first access outside an array, or of the raising or stuck thread; -1: none */
    uint32_t bad_site; /* access site of codegen_access_sites; UINT32_MAX: none */
    bool stuck;        /* a thread missed a barrier: bad_site is the barrier's */
} HostLaunchReport;

/* Runs every thread of the grid and returns when all are done.  Call without the GIL.  False: no memory, or more than
 * 1024 threads in a block. */
bool host_device_launch(const HostLaunch *launch, HostLaunchReport *report);
unsigned host_device_workers(
    void); /* threads used, the caller's included: KRAIT_NUM_THREADS or the cores this process may use */

#endif
