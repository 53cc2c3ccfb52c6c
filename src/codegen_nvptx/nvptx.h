/* nvptx.h: what the files of this folder share. */
#ifndef KRAIT_CODEGEN_NVPTX_NVPTX_H
#define KRAIT_CODEGEN_NVPTX_NVPTX_H

#include "codegen/llvm.h"                /* Lower, Target */
#include "codegen_nvptx/codegen_nvptx.h" /* UfuncHead */

enum { PTX_KERNEL = 71 }; /* LLVM's calling convention of a kernel */

bool nvptx_entry(Lower *l, const FuncInst *root);                             /* entry.c */
bool nvptx_ufunc_entry(Lower *l, const FuncInst *root);                       /* ufunc_kernel.c */
LLVMValueRef nvptx_add_kernel(Lower *l, LLVMTypeRef *params, unsigned count); /* entry.c: with launch bounds */

/* warp.c: Target.warp */
LLVMValueRef nvptx_warp(Lower *l, const Value *at, WarpOp op, LLVMValueRef mask, LLVMValueRef value,
                        LLVMValueRef operand);

#endif
