/* target.h: what differs between a GPU and the host, as the answers to one struct of questions.
 *
 * Each of codegen_nvptx and codegen_cpu fills one Target (target.c there); lowering asks it, and nowhere which target
 * it is. */
#ifndef KRAIT_CODEGEN_TARGET_H
#define KRAIT_CODEGEN_TARGET_H

#include "codegen/bitcode.h"
#include "codegen/codegen.h" /* Module, CodegenOptions */
#include "codegen/llvm_c.h"

typedef struct Lower Lower; /* llvm.h */

typedef enum FenceScope { FENCE_BLOCK, FENCE_DEVICE, FENCE_SYSTEM } FenceScope;

/* How an access treats the caches: ld.ca ... ld.cv, st.cg ... st.wt of PTX.  The rows of cuda.def stand in this
 * order. */
typedef enum CacheHint {
    CACHE_LOAD_CA,
    CACHE_LOAD_CG,
    CACHE_LOAD_CS,
    CACHE_LOAD_LU,
    CACHE_LOAD_CV,
    CACHE_STORE_CG,
    CACHE_STORE_CS,
    CACHE_STORE_WB,
    CACHE_STORE_WT,
} CacheHint;

typedef enum Special { /* what a CUDA thread knows about its place; all i32 */
                       SPECIAL_THREAD_X,
                       SPECIAL_THREAD_Y,
                       SPECIAL_THREAD_Z,
                       SPECIAL_BLOCK_X,
                       SPECIAL_BLOCK_Y,
                       SPECIAL_BLOCK_Z, /* blockIdx */
                       SPECIAL_BLOCK_DIM_X,
                       SPECIAL_BLOCK_DIM_Y,
                       SPECIAL_BLOCK_DIM_Z, /* blockDim */
                       SPECIAL_GRID_DIM_X,
                       SPECIAL_GRID_DIM_Y,
                       SPECIAL_GRID_DIM_Z, /* gridDim */
                       SPECIAL_LANE,
                       SPECIAL_WARP_SIZE,
                       SPECIAL_COUNT
} Special;

/* What happens at an index outside an array. */
typedef enum AccessPolicy {
    ACCESS_TRUST, /* undefined: no check is emitted */
    ACCESS_RAISE, /* IndexError */
    ACCESS_SKIP,  /* the access is left out (a load gives zero) and the bad_access hook records it */
    ACCESS_NOTE,  /* another element is read, and it is noted: VF_PUT_OFF */
} AccessPolicy;

typedef enum MathColumn { MATH_HOST, MATH_LIBDEVICE, MATH_LIBCLC } MathColumn; /* of platform_math.def */

typedef struct BitcodeLibrary {
    const BitcodePart *parts;
    const char *prefix; /* of all names that it defines, each of which stands in its part's bytes; NULL: any */
} BitcodeLibrary;

enum { MAX_HIDDEN = 8 };

/* machines.c: target machines of one kind that no module has; all zero to begin with. */
enum { IDLE_MACHINES = 8 };
typedef struct IdleMachines {
    _Atomic(LLVMTargetMachineRef) slots[IDLE_MACHINES];
    _Atomic unsigned kept; /* so often has one been given back */
} IdleMachines;
LLVMTargetMachineRef machines_take(IdleMachines *idle);               /* NULL: there is none */
void machines_keep(IdleMachines *idle, LLVMTargetMachineRef machine); /* or disposes of it */

/* What late_unroll.c leaves for the target's last passes: no loop, or a short one whose rounds nobody counts; one short
 * loop, of which the back end's own reduction of strength is enough; any. */
typedef enum LoopsLeft { LOOPS_NONE, LOOPS_SHORT, LOOPS_ANY } LoopsLeft;

struct Target {
    const char *name; /* "nvptx", "host": for messages */
    const char *what; /* "a GPU", "the host" */
    MathColumn math;
    uint32_t fastmath;           /* FastMath bits that hold without asking (contract in kernels on a GPU) */
    const char *atomic_scope;    /* LLVM sync scope: "" system, "device" */
    bool raises;                 /* functions return a status; if false, raising ends the thread (end_thread) */
    bool shares_memory;          /* with the process: its addresses, its objects' owners, memcpy and memmove */
    bool splits_long;            /* loops of long functions are compiled apart, the rest with few optimisations */
    unsigned long_block;         /* in instructions: from there on long_block_passes; 0: never */
    bool rounds_bfloat16;        /* the back end makes a float32 a bfloat16 as IEEE asks, subnormal numbers too */
    bool short_counts;           /* the back end cuts counts of shifts to 32 bits, whatever guards them */
    bool slow_division;          /* 64-bit division costs as much as a loop's body */
    bool slow_wide;              /* 64-bit integers cost twice as much as 32-bit ones, or more */
    bool block_is_one_thread;    /* of the machine: threads of a block run one after the other */
    bool convergent;             /* threads run in lockstep: a call must not come to depend on further conditions */
    BitcodeLibrary libraries[2]; /* in the order they are linked; unused ones NULL */

    /* A target machine nobody else uses; it also says triple and data layout.  NULL: diag. */
    LLVMTargetMachineRef (*machine)(const CodegenOptions *options, Diag *diag);
    /* Takes a machine back when its module is done with. */
    void (*release_machine)(LLVMTargetMachineRef machine, const CodegenOptions *options);
    /* Types of the parameters that every generated function has first (l->hidden holds their values); returns how many.
     */
    unsigned (*hidden_params)(Lower *l, LLVMTypeRef types[MAX_HIDDEN]);
    AccessPolicy (*access)(const CodegenOptions *options);
    /* Unless `inside` (i1) records that the thread left out access `site` (i32, from l_access_site). */
    void (*bad_access)(Lower *l, LLVMValueRef inside, LLVMValueRef site);
    /* Tells of an access to so many bytes, or of a fence (NULL), for check='race'; NULL: nobody asks there. */
    void (*watch)(Lower *l, const Value *at, LLVMValueRef pointer, uint64_t bytes, RaceAccess kind);
    void (*end_thread)(Lower *l); /* emits a terminator */
    /* Where nothing returns a status: notes the status (i32) of a thread of a kernel that raises, for the host to find.
     * Gives where the arguments of the exception go, or NULL at run time: another thread came first. */
    LLVMValueRef (*note_raise)(Lower *l, LLVMValueRef status);
    /* The values of a print site (i32), of this type, for the host to print. */
    void (*print)(Lower *l, LLVMValueRef site, const Type *type, LLVMValueRef values);
    /* The thread leaves a kernel with barriers by a return statement: it is not missed at them.  NULL: nobody asks. */
    void (*leave)(Lower *l);
    /* Where a call keeps what its recursive functions look at: i64, the lowest address that the frame of one may have;
     * i64, how many of their calls are left before the next safepoint.  NULL: recursion is not bounded. */
    LLVMValueRef (*recursion)(Lower *l);
    /* First in a function that C calls on a thread that has not run generated code before, l->exception being the
     * buffer of the call. */
    void (*begin_call)(Lower *l);
    /* i32, 0 or not: whether the code is to stop, since a signal's handler raised; then the trail of that begins in
     * l->exception.  NULL: nothing can interrupt it. */
    LLVMValueRef (*safepoint)(Lower *l);
    /* The regions of a kernel that runs once for a block: room for a value of each thread, or for an array of all
     * threads, and a region run by all threads, of which a status other than 0 (i32) is returned by way of l_leave.
     * NULL: pass barriers does not run for the target. */
    LLVMValueRef (*context)(Lower *l, const Value *value);
    LLVMValueRef (*threads)(Lower *l, const Value *value);
    LLVMValueRef (*special)(Lower *l, Special which);
    void (*barrier)(Lower *l, const Value *at);      /* sets module->has_barriers */
    void (*grid_barrier)(Lower *l, const Value *at); /* the same, of all blocks */
    /* A barrier that also combines an i1 of every thread: i32, the number of threads where it is true, or 1 / 0 for all
     * / any. */
    LLVMValueRef (*barrier_vote)(Lower *l, const Value *at, BarrierVote vote, LLVMValueRef predicate);
    /* What the lanes of a mask (i32; NULL for ACTIVE) do together.  Value: i32 or i64; i1 for votes; NULL for MEET and
     * ACTIVE.  operand: i32 from 0 to 31, for SHFL.  Gives what the value is, i1 for ALL ANY EQ, i32 for masks. */
    LLVMValueRef (*warp)(Lower *l, const Value *at, WarpOp op, LLVMValueRef mask, LLVMValueRef value,
                         LLVMValueRef operand);
    /* Loads bits (an integer type of 8 to 64 bits), or stores them if `value` is not NULL. */
    LLVMValueRef (*cached)(Lower *l, CacheHint hint, LLVMTypeRef bits, LLVMValueRef pointer, LLVMValueRef value);
    /* The thread rests for that long (i32) while others get on. */
    void (*rest)(Lower *l, LLVMValueRef nanoseconds);
    /* Its writes are seen before what it writes later, by the threads in scope. */
    void (*fence)(Lower *l, FenceScope scope);
    /* Generic pointer to a block's shared memory: a static array of that many bytes, or the dynamic part when bytes is
     * 0. */
    LLVMValueRef (*shared_array)(Lower *l, const Value *at, uint64_t bytes, unsigned align);
    LLVMValueRef (*dynamic_shared_bytes)(Lower *l); /* i64 */
    /* Pointer to so many bytes, which nobody writes to. */
    LLVMValueRef (*const_data)(Lower *l, LLVMValueRef data, uint64_t bytes);
    /* Pointer to the data of a global array (Const of TY_ARRAY). */
    LLVMValueRef (*const_array)(Lower *l, const Value *at, const Type *type, const ArrayConst *array);
    /* Emits the wrapper options->entry asks for around the root (l_call_inst). */
    bool (*entry)(Lower *l, const FuncInst *root);
    /* Last changes to the linked module before the passes; NULL: none. */
    void (*prepare)(Module *module);
    /* Text of LLVM's pass pipeline. */
    const char *(*passes)(const CodegenOptions *options);
    /* The same of a module in which only the entry loops (Module.straight); NULL: no others. */
    const char *(*straight_passes)(const CodegenOptions *options);
    /* The same of a module whose loops are made by lowering (Module.only_nests); NULL: no others. */
    const char *(*nest_passes)(const CodegenOptions *options);
    /* The same of a module with a block longer than long_block, whose instructions no pass may compare in pairs. */
    const char *(*long_block_passes)(const CodegenOptions *options);
    /* Bits of the widest integers that loops of ufuncs divide as floats, since vectors do that alone; NULL: none. */
    unsigned (*vector_divisions)(void);
    /* Of the passes that run after those, when loops no longer wait to be unrolled; NULL: there are none. */
    const char *(*last_passes)(const CodegenOptions *options, LoopsLeft loops);
    /* What is changed before those; NULL: nothing. */
    void (*before_last)(Module *module);
    /* Last changes after all passes; NULL: none. */
    void (*finish)(Module *module);
    /* Whether a function that is still only declared may be called. */
    bool (*knows)(const Module *module, const char *symbol);
};

/* Whether the back end selects a generic intrinsic, by its full name (llvm_intrinsics.def); has_approximate: the GPU
 * has the instructions of the column APPROXIMATE. (check.c) */
bool codegen_selects(const Module *module, const char *symbol, bool gpu, bool has_approximate);
/* What a target that raises answers of two arrays over so many axes (codegen_cpu/overlap.c): whether they have bytes in
 * common, and whether each element of one is then that of the other; answers may be joined by `or`. */
enum { MOST_OVERLAP_AXES = 3, OVERLAP_EXACT = 1, OVERLAP_HARMFUL = 2 };

enum { REDUCE_BLOCK = 128 }; /* elements that are looked at together: a piece of a sum in pairs */

/* What a target that raises keeps of such a sum (codegen_cpu/pairs.c; in words, lower_pairs.c). */
typedef struct PairsState {
    int64_t need; /* the length of the next piece; 0: there is none */
    double total; /* once there is no next piece */
    int64_t depth, rights[64];
    double sums[64];
} PairsState;


#endif
