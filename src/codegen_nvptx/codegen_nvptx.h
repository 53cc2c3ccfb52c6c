/* codegen_nvptx.h: the PTX target: optimised module in, PTX text out.
 *
 * ENTRY_KERNEL: one .entry named options->entry_name whose parameters are kernel_leaves() of the root's parameter types.
 * ENTRY_UFUNC: an elementwise kernel over any number of inputs and one output per result; its parameters are described in ufunc_kernel.c. */
#ifndef KRAIT_CODEGEN_NVPTX_H
#define KRAIT_CODEGEN_NVPTX_H

#include "codegen/codegen.h" /* Target, Module */

const Target *codegen_nvptx_target(void);
/* PTX for options->compute_capability; lies in the arena. */
char *codegen_nvptx_emit(Module *module, Arena *arena, size_t *length, Diag *diag);

#endif
