/* codegen_cpu.h: the host target: optimised module in, callable address out (ORC LLJIT).
 *
 * A kernel without barriers is compiled to a plain loop over the threads of a block, which LLVM vectorises; with
 * barriers or warp operations the threads of a block are fibers on one core; runtime/host runs both.
 *
 * Files: target.c answers the questions of codegen/target.h, entry.c wraps the root function, symbols.c lists
 * what code may call (the vector math of libmvec too), orc.c makes it callable. */
#ifndef KRAIT_CODEGEN_CPU_H
#define KRAIT_CODEGEN_CPU_H

#include "codegen/codegen.h"   /* Target, Module, AccessSite */
#include "runtime/host/host.h" /* HostKernel */

const Target *codegen_cpu_target(void);

/* Machine code that stays callable until released.  Thread-safe. */
typedef struct HostCode HostCode;
/* The module's machine code, in its arena. */
bool codegen_cpu_emit(Module *module, const char *entry_name, CodeImage *image, Diag *diag);
/* Code that can be called, from an image that an equal module gave.  What LLVM has of the module is gone afterwards;
 * what the module says of sites and sizes stays. */
HostCode *codegen_cpu_link(Module *module, const CodeImage *image, Diag *diag);
char *codegen_cpu_assembly(Module *module, Arena *arena, Diag *diag); /* before emit; for inspect_asm and dumps */
void *host_code_address(const HostCode *code);
/* What is left of this thread's stack; SIZE_MAX: nobody knows. */
size_t host_stack_left(void);
/* What must be left of it for the frames of the code's functions, and for what they call; 0: any thread has that. */
size_t host_code_stack(const HostCode *code);
/* Before compiled code is run otherwise than by an entry: what functions that call themselves look at. */
void host_exception_open(void *buffer);
HostKernel *host_code_kernel(HostCode *code); /* of an ENTRY_KERNEL */
void host_code_release(HostCode *code);       /* NULL is fine */
const char *codegen_cpu_name(void);           /* "znver4", for info */
const char *codegen_cpu_features(void);       /* what of it machine code uses */

/* ENTRY_UFUNC: what the loop's last argument points to.  A loop whose function raises calls `raise` once, with the
 * arguments in a buffer of its own, and returns; the callee takes the GIL.  NULL is fine for a function that cannot
 * raise. */
typedef struct HostUfunc HostUfunc;
struct HostUfunc {
    void (*raise)(HostUfunc *self, int32_t status, const void *exception);
};

/* ... and the type of its result number `i`: as declared (CodegenOptions.declared) where the loop converts to it. */
const Type *host_ufunc_result(const CodegenOptions *options, const Type *result, uint32_t i);

/* ENTRY_CFUNC: outlives the code. */
typedef struct HostCfunc {
    HostUfunc head;     /* called by a function that raised */
    const Type *result; /* as declared; NULL: what the function gives */
} HostCfunc;

#endif
