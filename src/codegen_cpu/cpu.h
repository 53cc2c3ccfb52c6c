/* cpu.h: what the files of this folder share; private to codegen_cpu.  The agreement between a kernel's code and the
 * device that runs it is in runtime/host/host.h. */
#ifndef KRAIT_CODEGEN_CPU_CPU_H
#define KRAIT_CODEGEN_CPU_CPU_H

#include "codegen/llvm.h"            /* Lower, Module */
#include "codegen_cpu/codegen_cpu.h" /* HostCode */

/* ---- symbols.c ---- */

/* Address of a function that generated code may call: of our runtime, of the C and math libraries or libmvec; NULL:
 * unknown. */
void *host_symbol(const char *name);

/* ---- entry.c, and a file for each entry of another kind ---- */

bool host_entry(Lower *l, const FuncInst *root);
bool host_entry_ufunc(Lower *l, const FuncInst *root);
bool host_entry_kernel(Lower *l, const FuncInst *root);
bool host_entry_gufunc(Lower *l, const FuncInst *root);
bool host_entry_cfunc(Lower *l, const FuncInst *root);
LLVMValueRef host_entry_add(Lower *l, const char *name, LLVMTypeRef result, LLVMTypeRef *params, unsigned count);
LLVMValueRef host_offset(Lower *l, LLVMValueRef pointer, size_t bytes);
const Type *host_params_tuple(Lower *l, const FuncInst *root);
/* The arguments, loaded from the layout of tuple(params). */
LLVMValueRef *host_load_arguments(Lower *l, const FuncInst *root, LLVMValueRef from);
/* VECTOR_WHEREVER: also where LLVM's estimate is against it.  It takes the recording of accesses outside an array, and
 * the branches around accesses, for dearer than they are in vectors, where they are masks. */
typedef enum VectorWish { VECTOR_NOT, VECTOR_MAY, VECTOR_WHEREVER } VectorWish;
/* Tells LLVM not to unroll a loop (the vectoriser interleaves on its own), and whether to vectorise it. */
void host_loop_hints(Lower *l, LLVMValueRef back_edge, VectorWish wish);
/* Recursive functions may use `bytes` of the stack that the entry runs on, or what is left of a thread's. */
void host_note_stack_limit(Lower *l, LLVMValueRef address, int64_t bytes);

/* ---- orc.c ---- */

struct HostCode {
    HostKernel kernel;
    void *tracker; /* LLVMOrcResourceTrackerRef: owns the machine code */
};

#endif
