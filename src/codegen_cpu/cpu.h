/* cpu.h: what the files of this folder share; private to codegen_cpu.  The agreement between a kernel's code and the
 * device that runs it is in runtime/host/host.h. */
#ifndef KRAIT_CODEGEN_CPU_CPU_H
#define KRAIT_CODEGEN_CPU_CPU_H

#include "codegen/lowering.h"        /* Lower, Module */
#include "codegen_cpu/codegen_cpu.h" /* HostCode */

/* ---- symbols.c ---- */

/* Address of a function that generated code may call: of our runtime, of the C and math libraries or libmvec; NULL:
 * unknown. */
void *host_symbol(const char *name);

/* ---- look.c ---- */

LLVMValueRef host_safepoint(Lower *l);
/* What it calls, by the entry; on x86-64 (_sse, _avx) what calls these and keeps all registers. */
int32_t krait_look(RaiseTrail *trail);
int32_t krait_look_kernel(RaiseTrail *trail);
void krait_look_sse(void);
void krait_look_avx(void);
void krait_look_kernel_sse(void);
void krait_look_kernel_avx(void);

/* ---- overlap.c ---- */

int64_t host_overlap_1(int64_t to, int64_t to_item, int64_t from, int64_t from_item, int64_t n, int64_t s, int64_t t);
int64_t host_overlap_2(int64_t to, int64_t to_item, int64_t from, int64_t from_item, int64_t n0, int64_t s0, int64_t t0,
                       int64_t n1, int64_t s1, int64_t t1);
int64_t host_overlap_3(int64_t to, int64_t to_item, int64_t from, int64_t from_item, int64_t n0, int64_t s0, int64_t t0,
                       int64_t n1, int64_t s1, int64_t t1, int64_t n2, int64_t s2, int64_t t2);

/* ---- pairs.c ---- */

void host_pairs_open(PairsState *state, int64_t count);
void host_pairs_add_f32(PairsState *state, float sum); /* of a piece */
void host_pairs_add_f64(PairsState *state, double sum);

/* ---- remainder.c, gamma.c ---- */

void *host_remainder(const char *name); /* one of its functions; NULL: it has none of that name for this processor */
void *host_gamma(const char *name);     /* the same, of gamma.c's */

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
/* VECTOR_TWO, VECTOR_FOUR: so many vectors a round.  VECTOR_WHEREVER: also where LLVM's estimate is against it.  It
 * takes the recording of accesses outside an array, and the branches around accesses, for dearer than they are in
 * vectors, where they are masks. */
typedef enum VectorWish { VECTOR_NOT, VECTOR_MAY, VECTOR_TWO, VECTOR_FOUR, VECTOR_WHEREVER } VectorWish;
/* Tells LLVM not to unroll a loop (nor, then, to take several vectors a round, unless that is asked for), whether to
 * vectorise it, and the access group (NULL: none) whose accesses its rounds may do in any order. */
void host_loop_hints(Lower *l, LLVMValueRef back_edge, VectorWish wish, LLVMMetadataRef parallel);
LLVMMetadataRef host_access_group(Lower *l); /* that a module's loops have whose rounds go in any order */
/* Gives it to the accesses of the block that is written, with `calls` to what its calls do, too (by inlining).  A
 * loop's body without exits is one block. */
void host_mark_accesses(Lower *l, LLVMMetadataRef group, bool calls);
/* Recursive functions may use `bytes` of the stack that the entry runs on, or what is left of a thread's. */
void host_note_stack_limit(Lower *l, LLVMValueRef address, int64_t bytes);

bool host_has_avx(void);              /* target.c */
void host_make_quiet(Module *module); /* quiet.c */

/* ---- threads.c ---- */

/* The loops over threads: z, then y or x, then the other, which is the inner axis (pass thread_order).  The innermost
 * goes on through the joined blocks. */
typedef struct Threads {
    LLVMValueRef grid, here;              /* HostGrid *, HostThread *: given */
    LLVMMetadataRef group;                /* of the accesses that threads do in any order; NULL: none */
    bool plain;                           /* not to be made vectors of */
    bool touches_nothing;                 /* no thread has an access */
    unsigned inner;                       /* 0: x, 1: y */
    LLVMValueRef n[3];                    /* threads of a block */
    LLVMValueRef z, outer, place, number; /* where the loops are: place in the innermost, number of the round */
} Threads;

typedef bool ThreadBody(Lower *l, Threads *t, void *self);
bool threads_each(Lower *l, Threads *t, ThreadBody *body, void *self);
LLVMValueRef threads_number(Lower *l, const Threads *t, LLVMValueRef place, LLVMValueRef *block);
void threads_merge_bad(Lower *l, const Threads *t);
void host_store_field(Lower *l, LLVMValueRef thread, size_t offset, LLVMValueRef value, unsigned align);
LLVMValueRef threads_context(Lower *l, const Value *value);
LLVMValueRef threads_region(Lower *l, const Value *value);

/* ---- code_memory.c: all under the linker's lock ---- */

typedef struct CodeSlab CodeSlab;     /* the process has a list of them; NULL: none yet */
typedef struct CodeMemory CodeMemory; /* of one object */
/* All that linking the object may take; NULL: the system has none, or it is no object file. */
CodeMemory *code_memory_take(CodeSlab **slabs, const void *object, size_t size);
void code_memory_free(void *memory);
/* What the linker asks for a section, and tells when it is done (nonzero: it failed, *message is the linker's). */
uint8_t *code_memory_section(void *memory, uintptr_t size, unsigned alignment, unsigned number, const char *name);
uint8_t *code_memory_data(void *memory, uintptr_t size, unsigned alignment, unsigned number, const char *name,
                          int readonly);
int code_memory_finish(void *memory, char **message);

/* ---- orc.c ---- */

struct HostCode {
    HostKernel kernel;
    bool recursive; /* some function calls itself */
    void *tracker;  /* LLVMOrcResourceTrackerRef: owns the machine code */
};

#endif
