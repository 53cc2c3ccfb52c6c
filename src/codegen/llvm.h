/* llvm.h: what codegen, codegen_nvptx and codegen_cpu share: a module, the context of what emits, and the thin emit
 * helpers that make lowering code read as what it emits; with target.h, the Target hooks.
 *
 * How values look in generated code (l_type): a value of no leaf (repr.h) is {}, of one leaf that leaf, of more the
 * struct of its leaves.  A leaf is iN, half, bfloat, float, double, i1 for bool (a byte in memory) or ptr.  Items of
 * composites are taken and set by l_item and l_set_item, never by a number of a leaf.  Memory is always read and
 * written through l_load and l_store, leaf by leaf, in the layout of repr.h.
 *
 * Functions.  A FuncInst becomes one internal function: hidden parameters of the target, on targets that raise a
 * pointer to the exception buffer, then every leaf of every argument.  A function that may raise returns { i32 status,
 * result }, any other its result.
 *
 * lowering.h has what makes code of typed values; nothing here knows of it.
 *
 * Rule for whoever emits code: nothing here may reach LLVM with wrong types; what user input can cause is refused by
 * diag_fail first. */
#ifndef KRAIT_CODEGEN_LLVM_H
#define KRAIT_CODEGEN_LLVM_H

#include "codegen/codegen.h" /* Module, CodegenOptions */
#include "codegen/llvm_c.h"
#include "codegen/target.h"
#include "library/library.h" /* FuncInfo, PlatformMath */

/* ---- a module ---- */

typedef struct ClassTable { /* which statuses are exceptions of these classes (lower_caught.c) */
    const Type *type;       /* the class, or a tuple of them; NULL: StopIteration */
    VEC(ObjRef) classes;
    LLVMValueRef global;
} ClassTable;

typedef struct CaughtSize { /* an operand that is the size of the exception buffer, less so many bytes */
    LLVMValueRef instruction;
    unsigned operand;
    int64_t less;
} CaughtSize;

typedef struct InlineCall { /* a call of LLVM IR that a user wrote */
    const Source *source;
    Span span;
} InlineCall;

/* The attribute of a function that only such text declares: the number of its InlineCall. */
#define DECLARED_INLINE "krait-declared-inline"

typedef struct RowsArray { /* an array among a kernel's arguments, whose rows are perhaps aligned (FACT_ROWS) */
    LLVMValueRef data;     /* its parameter */
    LLVMValueRef length; /* that of its last extent; NULL: a row is not a power of two of bytes, or there is one row */
    unsigned item;       /* bytes of an element */
    unsigned asks;       /* codegen_nvptx_rows */
} RowsArray;

struct Module {
    const Target *target;
    CodegenOptions options;
    Arena *arena;
    TypeTable *types;
    LLVMContextRef context;
    LLVMModuleRef module;
    LLVMTargetMachineRef machine;
    LLVMTargetDataRef layout;
    LLVMBuilderRef builder; /* of the Lower that works on it */
    LLVMDIBuilderRef debug; /* NULL: no line tables */
    FuncInst *const *insts;
    size_t ninsts;
    VEC(RaiseSite) raise_sites;
    VEC(ClassTable) class_tables; /* lower_caught.c */
    HashIndex class_index;        /* of these, by type */
    VEC(CaughtSize) caught_sizes;
    VEC(AccessSite) access_sites;
    VEC(PrintSite) print_sites;
    VEC(InlineCall) inline_calls;
    VEC(const void *) addresses; /* of this process, that relocatable code loads: linking fills its table */
    size_t exception_bytes;
    size_t shared_bytes;  /* static shared memory given out so far */
    size_t kept_bytes;    /* of what the threads of a block keep from region to region (pass barriers) */
    bool has_long;        /* a function that may be too long for all of LLVM's passes */
    bool straight;        /* the entry calls the function again and again, which has no loop itself */
    bool keeps_raised;    /* Program.keeps_raised: objects of exceptions may be others' as well */
    bool only_nests;      /* all loops are those that lowering makes of operations on whole arrays */
    bool tells_caught;    /* it asks for the texts of exceptions that were caught: of its raise sites */
    bool has_generators;  /* coroutines, which are to be split */
    bool captures_memory; /* of arrays on a device, which may be arguments as well */
    bool knows_drawn;
    unsigned drawn_from; /* if knows_drawn: a bit for each DrawnFrom of the functions that are called */
    bool has_barriers, waits_for_grid;
    unsigned inner_axis;  /* of a kernel: 0 or 1, the axis of the innermost loop over threads (pass thread_order) */
    uint32_t block[3];    /* Program.block */
    bool joins_blocks;    /* a kernel whose neighbouring blocks along that axis may run as one */
    bool recursive;       /* some function calls itself, perhaps through others: the entry notes its stack's limit */
    VEC(RowsArray) rows;  /* the arrays among a kernel's arguments, in their order, if they are small */
    unsigned ufunc_lanes; /* elements a thread of an elementwise kernel on a GPU may take at once */
    /* What LLVM made and is being copied into the arena, which may jump: codegen_dispose gives it back. */
    char *text;
    LLVMMemoryBufferRef buffer;
    size_t frames, largest_frame; /* bytes: of all functions' frames, of the largest one, as LLVM reports them */
    char message[1024]; /* what LLVM's diagnostic handler was told last; "" nothing (its callback may not use the arena)
                         */
};

/* The entry of relocatable code and its table of addresses; orc.c gives each link a number of its own instead of the
 * zeros, for symbols share one name space. */
#define IMAGE_SYMBOL     "krait.0000000000000000"
#define ADDRESSES_SYMBOL IMAGE_SYMBOL ".addresses"

/* Gives back module->text and module->buffer. */
void codegen_drop_copied(Module *module);

/* ---- lowering one module: context of everything that emits ---- */

struct Lower {
    Module *m;
    const Target *target;
    Arena *arena;
    Diag *diag;
    TypeTable *types;
    LLVMContextRef context;
    LLVMModuleRef module;
    LLVMBuilderRef b;
    LLVMTypeRef v, i1, i8, i16, i32, i64, f16, bf16, f32, f64, ptr, empty; /* v: void, empty: {} */
    /* bf16: its bits, an i16, where the back end would round what it moves (Target.rounds_bfloat16) */
    AccessPolicy access;
    bool narrow; /* integers known to fit 32 bits are computed in 32, and so are places in arrays (Program.small) */
    uint32_t fastmath; /* FastMath bits of every floating-point operation */
    /* of the function being generated */
    const FuncInst *inst; /* NULL in an entry wrapper */
    const Func *func;
    LLVMValueRef function;
    LLVMBasicBlockRef allocas;       /* entry block, which holds the allocas and jumps to the code */
    LLVMValueRef hidden[MAX_HIDDEN]; /* the target's hidden parameters */
    unsigned nhidden;
    LLVMValueRef exception; /* the exception buffer; NULL when the target does not raise */
    bool may_raise;
    const Value *at;      /* the value being lowered: where messages and raise sites point */
    struct LowerState *s; /* private to codegen */
};

/* ---- types and constants (llvm_values.c) ---- */

typedef VEC(LLVMTypeRef) TypeList;
typedef VEC(LLVMValueRef) ValueList;


void l_init(Lower *l, Module *module, Diag *diag);
void l_leaf_types(Lower *l, const Type *type, TypeList *out);
void l_flatten(Lower *l, const Type *type, LLVMValueRef value, ValueList *out);
LLVMValueRef l_intrinsic2(Lower *l, const char *name, LLVMTypeRef a, LLVMTypeRef b, LLVMValueRef const *args,
                          unsigned count);
const char *l_type_text(Lower *l, const Type *type);

LLVMTypeRef l_type(Lower *l, const Type *type);
LLVMTypeRef l_leaf_type(Lower *l, const Leaf *leaf);
LLVMTypeRef l_leaf_memory_type(Lower *l, const Leaf *leaf); /* i8 for bool */
LLVMTypeRef l_scalar_type(Lower *l, Scalar scalar);
LLVMTypeRef l_memory_type(Lower *l, Scalar scalar);  /* as l_scalar_type, but i8 for bool */
LLVMTypeRef l_item_type(Lower *l, const Type *item); /* as large as an item of an array, to step by */
LLVMTypeRef l_struct(Lower *l, unsigned count, ...); /* of LLVMTypeRef */
bool l_has_bytes(const Type *type);                  /* false: None, functions and other constants */

static inline LLVMValueRef l_int(LLVMTypeRef type, int64_t value) {
    return LLVMConstInt(type, (unsigned long long)value, true);
}
static inline LLVMValueRef l_i1(Lower *l, bool value) { return LLVMConstInt(l->i1, value, false); }
static inline LLVMValueRef l_i8(Lower *l, int64_t value) { return l_int(l->i8, value); }
static inline LLVMValueRef l_i32(Lower *l, int64_t value) { return l_int(l->i32, value); }
static inline LLVMValueRef l_i64(Lower *l, int64_t value) { return l_int(l->i64, value); }
static inline LLVMValueRef l_float(LLVMTypeRef type, double value) { return LLVMConstReal(type, value); }
static inline LLVMValueRef l_null(LLVMTypeRef type) { return LLVMConstNull(type); }
LLVMValueRef l_address(Lower *l, const void *address); /* of this process */
LLVMValueRef l_cstring(Lower *l, const char *text);    /* pointer to a private constant */

/* At the value being lowered: an inner inconsistency, LOWERING.  Inference has refused what cannot be compiled. */
bool l_fail(Lower *l, const char *format, ...) KRAIT_PRINTF(2, 3);

/* ---- thin emit helpers; floating-point ones carry the fast-math flags ---- */

LLVMValueRef l_fast(Lower *l, LLVMValueRef instruction);
static inline bool l_is_truth(LLVMValueRef value, bool truth) { /* a constant i1 */
    return LLVMIsAConstantInt(value) && LLVMGetIntTypeWidth(LLVMTypeOf(value)) == 1 &&
           LLVMConstIntGetZExtValue(value) == truth;
}
static inline LLVMValueRef l_add(Lower *l, LLVMValueRef a, LLVMValueRef b) { return LLVMBuildAdd(l->b, a, b, ""); }
static inline LLVMValueRef l_sub(Lower *l, LLVMValueRef a, LLVMValueRef b) { return LLVMBuildSub(l->b, a, b, ""); }
static inline LLVMValueRef l_mul(Lower *l, LLVMValueRef a, LLVMValueRef b) { return LLVMBuildMul(l->b, a, b, ""); }
/* index arithmetic, which cannot overflow */
static inline LLVMValueRef l_nswadd(Lower *l, LLVMValueRef a, LLVMValueRef b) {
    return LLVMBuildNSWAdd(l->b, a, b, "");
}
static inline LLVMValueRef l_nswsub(Lower *l, LLVMValueRef a, LLVMValueRef b) {
    return LLVMBuildNSWSub(l->b, a, b, "");
}
static inline LLVMValueRef l_nswmul(Lower *l, LLVMValueRef a, LLVMValueRef b) {
    return LLVMBuildNSWMul(l->b, a, b, "");
}
/* What is known here already is not emitted: LLVM folds constants alone, and what it has to simplify takes it time. */
static inline LLVMValueRef l_and(Lower *l, LLVMValueRef a, LLVMValueRef b) {
    if (l_is_truth(a, true) || l_is_truth(b, false)) return b;
    return l_is_truth(b, true) || l_is_truth(a, false) ? a : LLVMBuildAnd(l->b, a, b, "");
}
static inline LLVMValueRef l_or(Lower *l, LLVMValueRef a, LLVMValueRef b) {
    if (l_is_truth(a, false) || l_is_truth(b, true)) return b;
    return l_is_truth(b, false) || l_is_truth(a, true) ? a : LLVMBuildOr(l->b, a, b, "");
}
static inline LLVMValueRef l_xor(Lower *l, LLVMValueRef a, LLVMValueRef b) { return LLVMBuildXor(l->b, a, b, ""); }
static inline LLVMValueRef l_not(Lower *l, LLVMValueRef a) { return LLVMBuildNot(l->b, a, ""); }
static inline LLVMValueRef l_icmp(Lower *l, LLVMIntPredicate p, LLVMValueRef a, LLVMValueRef b) {
    return LLVMBuildICmp(l->b, p, a, b, "");
}
static inline LLVMValueRef l_fcmp(Lower *l, LLVMRealPredicate p, LLVMValueRef a, LLVMValueRef b) {
    return l_fast(l, LLVMBuildFCmp(l->b, p, a, b, ""));
}
static inline LLVMValueRef l_fadd(Lower *l, LLVMValueRef a, LLVMValueRef b) {
    return l_fast(l, LLVMBuildFAdd(l->b, a, b, ""));
}
static inline LLVMValueRef l_fsub(Lower *l, LLVMValueRef a, LLVMValueRef b) {
    return l_fast(l, LLVMBuildFSub(l->b, a, b, ""));
}
static inline LLVMValueRef l_fmul(Lower *l, LLVMValueRef a, LLVMValueRef b) {
    return l_fast(l, LLVMBuildFMul(l->b, a, b, ""));
}
static inline LLVMValueRef l_fdiv(Lower *l, LLVMValueRef a, LLVMValueRef b) {
    return l_fast(l, LLVMBuildFDiv(l->b, a, b, ""));
}
static inline LLVMValueRef l_fneg(Lower *l, LLVMValueRef a) { return l_fast(l, LLVMBuildFNeg(l->b, a, "")); }
static inline LLVMValueRef l_select(Lower *l, LLVMValueRef c, LLVMValueRef a, LLVMValueRef b) {
    if (LLVMIsAConstantInt(c)) return LLVMConstIntGetZExtValue(c) ? a : b;
    return LLVMBuildSelect(l->b, c, a, b, "");
}
static inline LLVMValueRef l_isnan(Lower *l, LLVMValueRef a) {
    return LLVMBuildFCmp(l->b, LLVMRealUNO, a, a, "");
} /* no nnan */
static inline LLVMValueRef l_insert(Lower *l, LLVMValueRef aggregate, LLVMValueRef item, unsigned index) {
    return LLVMBuildInsertValue(l->b, aggregate, item, index, "");
}
LLVMValueRef l_extract(Lower *l, LLVMValueRef aggregate, unsigned index); /* sees through insertvalue */
LLVMValueRef l_make(Lower *l, LLVMTypeRef aggregate, LLVMValueRef const *items, unsigned count);
LLVMValueRef l_complex(Lower *l, LLVMValueRef re, LLVMValueRef im);
/* Address `bytes` (i64) further; of element `index` (i64) of memory_type. */
LLVMValueRef l_offset(Lower *l, LLVMValueRef pointer, LLVMValueRef bytes);
LLVMValueRef l_index(Lower *l, LLVMTypeRef memory_type, LLVMValueRef pointer, LLVMValueRef index);
LLVMValueRef l_alloca(Lower *l, LLVMTypeRef type, const char *name);                     /* in the entry block */
LLVMValueRef l_alloca_with(Lower *l, LLVMValueRef first, const char *name);              /* which holds that at first */
LLVMValueRef l_alloca_bytes(Lower *l, uint64_t bytes, unsigned align, const char *name); /* in the entry block */
LLVMValueRef l_alloca_value(Lower *l, const Type *type, const char *name);               /* memory of a type's layout */

/* Items of a composite (tuple, slice, range, closure, exception); an item without bytes is {}. */
LLVMValueRef l_item(Lower *l, const Type *type, LLVMValueRef value, unsigned index);
LLVMValueRef l_set_item(Lower *l, const Type *type, LLVMValueRef value, unsigned index, LLVMValueRef item);
LLVMValueRef l_make_items(Lower *l, const Type *type, LLVMValueRef const *items);
/* The value of these leaves; advances *leaves. */
LLVMValueRef l_unflatten(Lower *l, const Type *type, LLVMValueRef const **leaves);
LLVMValueRef l_content(Lower *l, const Type *optional, LLVMValueRef value);
LLVMValueRef l_present(Lower *l, const Type *optional, LLVMValueRef value); /* i1 */

/* A tuple of which only the items that are wanted are there: of its leaves, or, without them, loaded. */
LLVMValueRef l_some_items(Lower *l, const Type *tuple, const bool *wanted, LLVMValueRef const *leaves,
                          LLVMValueRef pointer);

/* Typed memory access in the layout of repr.h. */
LLVMValueRef l_load(Lower *l, const Type *type, LLVMValueRef pointer);
void l_store(Lower *l, const Type *type, LLVMValueRef value, LLVMValueRef pointer);
/* At the address of an element of such an array. */
LLVMValueRef l_load_element(Lower *l, const Type *array, LLVMValueRef pointer);
void l_store_element(Lower *l, const Type *array, LLVMValueRef value, LLVMValueRef pointer);
LLVMValueRef l_raw_load(Lower *l, LLVMTypeRef type, LLVMValueRef pointer, unsigned align);
LLVMValueRef l_raw_store(Lower *l, LLVMValueRef value, LLVMValueRef pointer, unsigned align);

/* Fills the state that recursive functions look at (Target.recursion), RECURSION_BYTES; limit: i64. */
enum { RECURSION_BYTES = 16 };
void l_recursion_open(Lower *l, LLVMValueRef state, LLVMValueRef limit);
/* Calls. l_intrinsic: "llvm.sqrt" overloaded on `overload` (NULL: none). l_call_named declares the function at its
 * first use. */
LLVMValueRef l_call(Lower *l, LLVMValueRef function, LLVMValueRef const *args, unsigned count);
LLVMValueRef l_intrinsic(Lower *l, const char *name, LLVMTypeRef overload, LLVMValueRef const *args, unsigned count);
LLVMValueRef l_call_named(Lower *l, const char *symbol, LLVMTypeRef result, LLVMValueRef const *args, unsigned count);
LLVMValueRef l_declare(Lower *l, const char *symbol, LLVMTypeRef function_type);
/* Attributes by name on a function (index -1), its result (0) or parameter n (n + 1); value 0 for plain ones. */
void l_attribute(Lower *l, LLVMValueRef function, int index, const char *name, uint64_t value);
void l_attribute_text(Lower *l, LLVMValueRef function, int index, const char *name, const char *value);
void l_call_attribute(Lower *l, LLVMValueRef call, int index, const char *name, uint64_t value);
void l_metadata_range(Lower *l, LLVMValueRef load_or_call, int64_t least, int64_t beyond);
/* Of a function that every round of a loop calls, or NULL (divisions.c): whether it may divide integers; whether some
 * rounds may and others not, of which LLVM is to make no vectors. */
bool l_may_divide(Lower *l, const FuncInst *inst);
bool l_may_pass_by_division(Lower *l, const FuncInst *inst);
/* lower_math.c: whether vectors may stand for it that round in their own way, and set flags of theirs. */
bool l_calls_inexact_vectors(const Lower *l, const Value *value);
void l_set_metadata(Lower *l, LLVMValueRef instruction, const char *kind, LLVMMetadataRef node);

/* ---- control flow: begin/end pairs on a struct of the caller ---- */

LLVMBasicBlockRef l_block(Lower *l, const char *name); /* after the current one; not entered */
static inline void l_enter(Lower *l, LLVMBasicBlockRef block) { LLVMPositionBuilderAtEnd(l->b, block); }
static inline LLVMBasicBlockRef l_here(Lower *l) { return LLVMGetInsertBlock(l->b); }
static inline void l_jump(Lower *l, LLVMBasicBlockRef block) { LLVMBuildBr(l->b, block); }
static inline void l_branch(Lower *l, LLVMValueRef c, LLVMBasicBlockRef yes, LLVMBasicBlockRef no) {
    LLVMBuildCondBr(l->b, c, yes, no);
}
void l_branch_unlikely(Lower *l, LLVMValueRef c, LLVMBasicBlockRef yes,
                       LLVMBasicBlockRef no); /* `yes` is the rare one */

typedef struct LIf {
    LLVMBasicBlockRef yes, no, end;
    LLVMBasicBlockRef from_yes, from_no; /* the blocks that jump to `end`, for phis */
} LIf;
void l_if(Lower *l, LIf *f, LLVMValueRef condition);
void l_if_likely(Lower *l, LIf *f, LLVMValueRef condition); /* the other way is rare */
void l_else(Lower *l, LIf *f);
void l_endif(Lower *l, LIf *f); /* with or without l_else */
LLVMValueRef l_if_phi(Lower *l, const LIf *f, LLVMValueRef yes,
                      LLVMValueRef no); /* right after l_endif; `no` may be a constant */

/* A property of loops on the host: of what vectors leave of it rounds do not become one. */
LLVMMetadataRef l_loop_remainder(Lower *l);

/* What LLVM's passes are to make of a loop on the host, where more would be code that hardly ever runs: compiling it
 * takes longer than running it. */
typedef enum LoopShape {
    LOOP_FREE,   /* whatever they find best */
    LOOP_VECTOR, /* vectors, one a round */
    LOOP_SCALAR, /* as it is */
} LoopShape;

typedef struct LFor { /* for index in 0 .. count-1, i64 */
    LLVMBasicBlockRef head, body, end;
    LLVMValueRef index, count;
    LoopShape shape; /* may be set before l_endfor */
} LFor;
LLVMValueRef l_for(Lower *l, LFor *f, LLVMValueRef count); /* returns the index */
void l_endfor(Lower *l, LFor *f);

#endif
