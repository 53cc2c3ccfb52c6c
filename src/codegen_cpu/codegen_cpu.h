/* codegen_cpu.h: the host target: optimised module in, callable address out (ORC LLJIT), and the device that runs CUDA kernels on the cores.
 *
 * A kernel without barriers is compiled to a plain loop over the threads of a block, which LLVM vectorises; with barriers or warp operations the
 * threads of a block are fibers on one core.  Blocks are spread over the cores by a pool of worker threads. */
#ifndef KRAIT_CODEGEN_CPU_H
#define KRAIT_CODEGEN_CPU_H

#include "codegen/codegen.h" /* Target, Module */

const Target *codegen_cpu_target(void);

/* Machine code that stays callable until released.  Thread-safe. */
typedef struct HostCode HostCode;
HostCode *codegen_cpu_emit(Module **module, const char *entry_name, Diag *diag); /* takes the module: *module is NULL afterwards */
char *codegen_cpu_assembly(Module *module, Arena *arena, Diag *diag);            /* before emit; for inspect_asm and dumps */
void *host_code_address(const HostCode *code);
void host_code_release(HostCode *code);
const char *codegen_cpu_name(void); /* "znver4", for info */

/* ---- the host device ---- */

typedef struct HostLaunch {
    const HostCode *code;   /* of an ENTRY_KERNEL */
    int32_t grid[3], block[3];
    size_t shared_static, shared_dynamic;
    bool fibers;            /* codegen_has_barriers */
    const void *args;       /* layout of tuple(params) */
    void *exception;        /* buffer of exception_bytes per launch: the first raising thread's arguments */
    size_t exception_bytes;
} HostLaunch;

typedef struct HostLaunchReport {
    int32_t status;         /* 0, or 1 + RaiseSite of the first thread (in block and thread order) that raised */
    int64_t bad_block, bad_thread; /* of the first access outside an array, or of the raising or stuck thread; -1: none */
    uint32_t bad_site;      /* access site of codegen_access_site; UINT32_MAX: none */
    bool stuck;             /* a thread missed a barrier: bad_site is the barrier's */
} HostLaunchReport;

/* Runs every thread of the grid and returns when all are done.  Call without the GIL. */
bool host_device_launch(const HostLaunch *launch, HostLaunchReport *report);
unsigned host_device_workers(void); /* threads used, the caller's included: KRAIT_NUM_THREADS or the cores this process may use */

#endif
