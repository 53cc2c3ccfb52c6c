/* host.h: what the files of this folder share; private to codegen_cpu.  The agreement between a kernel's code and the
 * device that runs it is in runtime/host/host.h. */
#ifndef KRAIT_CODEGEN_CPU_HOST_H
#define KRAIT_CODEGEN_CPU_HOST_H

#include "codegen/llvm.h"            /* Lower, Module */
#include "codegen_cpu/codegen_cpu.h" /* HostCode */

/* ---- symbols.c ---- */

/* Address of a function that generated code may call: of our runtime, of the C and math libraries or libmvec; NULL:
 * unknown. */
void *host_symbol(const char *name);

/* ---- entry.c ---- */

bool host_entry(Lower *l, const FuncInst *root);

/* ---- orc.c ---- */

struct HostCode {
    HostKernel kernel;
    void *tracker; /* LLVMOrcResourceTrackerRef: owns the machine code */
};

#endif
