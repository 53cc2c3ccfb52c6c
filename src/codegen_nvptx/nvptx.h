/* nvptx.h: what the files of this folder share. */
#ifndef KRAIT_CODEGEN_NVPTX_NVPTX_H
#define KRAIT_CODEGEN_NVPTX_NVPTX_H

#include "codegen/lowering.h"            /* Lower, Target */
#include "codegen_nvptx/codegen_nvptx.h" /* UfuncHead */

enum { PTX_KERNEL = 71 }; /* LLVM's calling convention of a kernel */

bool nvptx_entry(Lower *l, const FuncInst *root);                             /* entry.c */
bool nvptx_ufunc_entry(Lower *l, const FuncInst *root);                       /* ufunc_kernel.c */
LLVMValueRef nvptx_add_kernel(Lower *l, LLVMTypeRef *params, unsigned count); /* entry.c: with launch bounds */

/* device_notes.c: Target.note_raise, Target.print, and what they call, defined when everything else is lowered */
LLVMValueRef nvptx_note_raise(Lower *l, LLVMValueRef status);
void nvptx_print(Lower *l, LLVMValueRef site, const Type *type, LLVMValueRef values);
void nvptx_define_notes(Lower *l);
LLVMValueRef nvptx_notes(Lower *l);                                    /* DeviceNotes of the module */
LLVMValueRef nvptx_global(Lower *l, const char *name, uint64_t bytes); /* memory of the module, 0 at first */
LLVMValueRef nvptx_atomic(Lower *l, LLVMAtomicRMWBinOp op, LLVMValueRef pointer,
                          LLVMValueRef value); /* the old value */

/* grid.c: Target.grid_barrier, and what it calls, defined after the notes */
void nvptx_grid_barrier(Lower *l, const Value *at);
void nvptx_define_grid_barrier(Lower *l);

/* rewrites.c: what is changed just before a module is emitted */
void nvptx_rewrite(Module *module);
/* A call of that PTX, on up to three operands; the result has the type of `like`. */
LLVMValueRef nvptx_assembly(LLVMBuilderRef b, LLVMValueRef like, const char *text, const char *constraints,
                            LLVMValueRef *args, unsigned count);
/* Its rows: what takes the place of the instruction; NULL: it stays. */
LLVMValueRef nvptx_fuse_product(LLVMBuilderRef b, LLVMValueRef sum);
LLVMValueRef nvptx_fuse_double(LLVMBuilderRef b, LLVMValueRef sum);
LLVMValueRef nvptx_fuse_shift(LLVMBuilderRef b, LLVMValueRef shift);
LLVMValueRef nvptx_convert_rounded(LLVMBuilderRef b, LLVMValueRef value);
LLVMValueRef nvptx_compare_whole(LLVMBuilderRef b, LLVMValueRef both);
LLVMValueRef nvptx_exact_negation(LLVMBuilderRef b, LLVMValueRef sub);
LLVMValueRef nvptx_exact_magnitude(LLVMBuilderRef b, LLVMValueRef call);
LLVMValueRef nvptx_exact_choice(LLVMBuilderRef b, LLVMValueRef select);
LLVMValueRef nvptx_exact_shift(LLVMBuilderRef b, LLVMValueRef shift);

/* strength.c: Target.before_last */
void nvptx_ready_for_strength(Module *module);

enum { ROWS_WIDEST = 16 }; /* bytes of the widest access */

/* carried.c: what a round has loaded for the next one is not loaded again */
void nvptx_carry_loads(Module *module);

/* rows.c: neighbours in a row say that they are aligned; what that asks of the arrays, as a comment of the text */
void nvptx_align_rows(Module *module);
char *nvptx_note_rows(const Module *module, Arena *arena, char *text);

/* early_loads.c: what the function loads stands before slow operations and over ifs, where it can */
void nvptx_load_early(LLVMBuilderRef b, LLVMValueRef function);

/* starts.c: pointers that go through loops start where their arrays do */
void nvptx_start_at_bases(LLVMBuilderRef b, LLVMValueRef function);

/* arms.c: of two doubles one is computed only where it is chosen, if it is a single operation */
void nvptx_branch_around_arms(LLVMBuilderRef b, LLVMValueRef function);

/* order.c: of two ways that meet again, the short one stands first */
void nvptx_order_ways(LLVMBuilderRef b, LLVMValueRef function);

/* exact_text.c: the text of a module, in the arena, without instructions that ptxas takes wrongly */
char *nvptx_exact_text(Arena *arena, char *text);

/* wide_text.c: the text of a module, in the arena, with wide products where 64 bits were extended from 32 */
char *nvptx_wide_text(Arena *arena, char *text);

/* slices.c: the registers from which operands of instructions of those names (NULL ends them) are computed */
typedef struct Slice Slice;
Slice *nvptx_slice(Arena *arena, const char *text, const char *const *asked);
bool nvptx_slice_has(const Slice *slice, const char *name); /* what is no numbered register is taken for one of them */

/* warp.c: Target.warp */
LLVMValueRef nvptx_warp(Lower *l, const Value *at, WarpOp op, LLVMValueRef mask, LLVMValueRef value,
                        LLVMValueRef operand);

#endif
