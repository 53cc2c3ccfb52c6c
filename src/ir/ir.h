/* ir.h: the SSA form of one function: its values, its builder, printer, parser and verifier.  Types are types.h, what a
 * value of a type consists of is repr.h, constants are const.h.
 *
 * A Func is a control-flow graph of Blocks; a Block is a list of Values: first its phis, last one terminator.  A Value
 * is an operation, its operands and, once inferred, its Type.  The frontend builds untyped Funcs (types of constants
 * apart); inference clones one per specialisation, gives every Value a Type, makes conversions explicit and resolves
 * calls.  The tables ir_kinds.def, ir_types.def, ir_ops.def and ir_attrs.def are the only lists of kinds of types,
 * scalars, operations and attributes; library functions are named by pointers to rows that stand elsewhere. */
#ifndef KRAIT_IR_H
#define KRAIT_IR_H

#include "base/base.h"  /* Arena, Span, Diag, VEC */
#include "ir/abi.h"     /* HostGrid, HostThread, HeapHead: shared with generated code */
#include "ir/const.h"   /* Const, Captured */
#include "ir/repr.h"    /* Repr, Leaf: what values consist of */
#include "ir/strided.h" /* ArrayLayout */
#include "ir/types.h"   /* Type, TypeTable */

/* What a barrier tells of the predicates of the threads that meet. */
typedef enum BarrierVote { VOTE_COUNT, VOTE_ALL, VOTE_ANY } BarrierVote;

/* What check='race' is told of. */
typedef enum RaceAccess { RACE_READ, RACE_WRITE, RACE_ATOMIC, RACE_FENCE } RaceAccess;

/* What the lanes of a warp do together: those of a mask meet, each brings a value and takes one away.  The rows of
 * cuda.def stand in this order. */
typedef enum WarpOp {
    WARP_MEET, /* and bring nothing */
    WARP_SHFL, /* the value of a lane: by number, so far down, so far up, exclusive or; its own where there is none */
    WARP_SHFL_UP,
    WARP_SHFL_DOWN,
    WARP_SHFL_XOR,
    WARP_ALL, /* 1 or 0: whether the value is not 0 in all, in any, in all or none */
    WARP_ANY,
    WARP_EQ,
    WARP_BALLOT,    /* the lanes whose value is not 0 */
    WARP_MATCH_ANY, /* the lanes that bring the same value */
    WARP_MATCH_ALL, /* all of them if they bring the same value, else 0 */
    WARP_ADD,       /* reductions of integers */
    WARP_AND,
    WARP_OR,
    WARP_XOR,
    WARP_MIN, /* signed */
    WARP_MAX,
    WARP_UMIN,
    WARP_UMAX,
    WARP_ACTIVE, /* the lanes that are here: needs no mask */
} WarpOp;

/* ---- attributes ---- */

typedef enum AttrId {
#define ATTR(kind, name, rule, lower, doc) ATTR_##kind##_##name,
#include "ir/ir_attrs.def"
#undef ATTR
    ATTR_COUNT
} AttrId;

typedef struct AttrInfo {
    TypeKind kind;
    const char *name, *doc;
} AttrInfo;
extern const AttrInfo attr_info[ATTR_COUNT];
AttrId attr_find(TypeKind kind, const char *name); /* ATTR_COUNT: there is none */

/* The scalar that a text means as a NumPy dtype ("float32", "f4", "single"); false: another dtype, or none. */
bool scalar_of_dtype_text(const char *text, Scalar *scalar);

/* ---- SSA ---- */

typedef enum Op {
#define OP(name, ...) OP_##name,
#include "ir/ir_ops.def"
#undef OP
    OP_COUNT
} Op;

typedef struct OpInfo {
    const char *text;
    int operands; /* -1: any number */
    const char *rule, *effects, *doc;
    uint32_t index;  /* which operand is an index into operand 0; 0: none */
    bool has_number; /* its immediate operand is the number imm.i */
} OpInfo;
extern const OpInfo op_info[OP_COUNT];
bool op_is_terminator(Op op); /* JUMP BRANCH RETURN RAISE RERAISE RESUME UNREACHABLE */
/* -x +x ~x; x + y to x ^ y, which is all but x @ y; x < y and its like.  The rows of ir_ops.def stand together. */
static inline bool op_is_unary(Op op) { return op >= OP_NEG && op <= OP_INVERT; }
static inline bool op_is_binary(Op op) { return op >= OP_ADD && op <= OP_XOR && op != OP_MATMUL; }
static inline bool op_is_comparison(Op op) { return op >= OP_LT && op <= OP_GE; }
Op op_mirrored(Op op);     /* what `y op x` says where `x op y` is meant: GT for LT; any that is no order is itself */
bool op_has_result(Op op); /* false: it is executed for its effect alone (SETITEM, CHECK_BOUND, terminators ...) */
Op op_find(const char *text, size_t length); /* by its text; OP_COUNT: none */

/* What happens when a value is computed, besides computing it (effects.c): a set. */
typedef uint32_t Effects;
enum {
    EFFECT_READ = 1,     /* reads memory */
    EFFECT_WRITE = 2,    /* writes memory */
    EFFECT_RAISE = 4,    /* may raise */
    EFFECT_SYNC = 8,     /* waits for other threads */
    EFFECT_CONTROL = 16, /* ends its block */
    EFFECT_NEW = 32,     /* makes an object: its result holds a reference of its own */
    EFFECT_TAKE = 64,    /* takes the reference of its first operand over, unless it raises */
    EFFECT_ALL = 31      /* but NEW, which operations say of themselves */
};

enum ValueFlags {
    VF_INPLACE = 1,       /* augmented assignment */
    VF_UNCHECKED = 2,     /* it cannot raise: index in range, divisor not zero */
    VF_FORWARD = 4,       /* an index that is negative only if it has wrapped, and outside then (intervals); of an
                           access: such are its indices where it stands */
    VF_CHECKED = 8,       /* Python error model: raises where the interpreter raises; set by inference */
    VF_NOWRAP = 16,       /* integer add, sub, mul, neg: the result fits its type (intervals) */
    VF_SHARED = 32,       /* an iterator that more than the loop it was made for sees; pass iterators */
    VF_IMPLICIT = 64,     /* of a return: the function's end, not a return statement */
    VF_OWNED = 128,       /* a reference goes with it: its result has one of its own; RETURN, CELL and CELL_SET take one
                         (ownership) */
    VF_LOOKS = 256,       /* an operation on a whole array that looks for signals (looks) */
    VF_SKIPPED = 512,     /* of a GPU's loop: some of its rounds pass by this access (unroll) */
    VF_INLINE = 1024,     /* CALL_INST: becomes a copy of the callee's body */
    VF_BRIEF = 2048,      /* an iterator whose loop ends soon: a guard has counted its rounds (versions) */
    VF_REGROUPS = 4096,   /* puts a number to a running one, together with others in any grouping (parallel) */
    VF_KEPT = 8192,       /* of an attribute: more is done with it than it is called (frontend) */
    VF_WALKED = 16384,    /* of a call: the generator that it makes is walked in this function and goes nowhere else
                           (frontend) */
    VF_COPIES = 32768,    /* of a call: the generator that it makes holds what variables held, which are assigned later:
                           it may not be put where that is not seen (frontend) */
    VF_STAYS = 65536,     /* of such a call: they are variables of the function around, which it may not come to */
    VF_RAISED = 131072,   /* of a call, and of the tuple that it becomes: the exception that it makes is raised at once,
                           and goes nowhere else (frontend) */
    VF_OF_BLOCK = 262144, /* an atomic operation of an array that the block alone has (shared) */
    VF_PUT_OFF =
        524288, /* an element that is read, of an index that may be outside: some other then, and the next MISSED
                             says so (versions) */
    VF_MASKED = 1048576, /* of BROADCAST: the last shape is that of a where= */
    VF_OBJECT = 2097152, /* of CAUGHT: it is raised by name, or goes into a variable that others go into as well; of an
                           exception that is made: each EXCEPTION_NEW of it gives the same object (raises) */
    VF_OPERAND = 4194304 /* of SETITEM: the pair is an operand of the DICT, too; of such a DICT: it is only read, by
                            names that are known, and given back; of ITER: a comprehension walks over it, whose
                            function asks for an iterator of it again (frontend) */
};

/* What an integer lies between, both included. */
typedef struct Bounds {
    int64_t lo, hi;
} Bounds;

typedef struct Value Value;
typedef struct Block Block;
typedef struct Func Func;
typedef struct FuncInst FuncInst;

struct Value {
    Op op;
    uint32_t flags;
    uint32_t id; /* %id in dumps; unique in the function */
    uint32_t nargs;
    Value **args;
    const Type *type;   /* NULL: not inferred yet */
    const Const *konst; /* CONST: the constant; elsewhere: what inference proved it to be, or NULL */
    Block *block;
    Value *prev, *next;
    Span span;
    const char *name;     /* the Python variable it was stored to, for messages; may be NULL */
    const Bounds *bounds; /* of an integer, where tighter than its type's (pass intervals), else NULL */
    struct {
        int64_t i; /* PARAM UNPACK UNPACK_EX EXTRACT NEW_ARRAY BROADCAST MAP THREADS; TRUEDIV: 1 if both were integers;
                             LIST: 1 if more than its operands is put in; REDUCE: a Reduction */
        const char *text;         /* GETATTR SETATTR CELL_GET CHECK_BOUND */
        const char *const *names; /* CALL: keyword names */
        uint32_t nnames;
        ObjRef object;        /* FUNCTION; GETATTR of super(): the class whose bases are looked at; TUPLE: what super()
                                 is until then */
        const FuncHead *func; /* CALL_FUNC */
        FuncInst *inst;       /* CALL_INST MAP REDUCE THREADS */
    } imm;
    void *mark; /* scratch for the pass that runs */
};

/* What REDUCE makes of all elements. */
typedef enum Reduction {
#define REDUCTION(name, text) REDUCTION_##name,
#include "ir/ir_reductions.def"
#undef REDUCTION
    REDUCTION_COUNT
} Reduction;
extern const char *const reduction_text[REDUCTION_COUNT];
Reduction reduction_find(const char *text, size_t length); /* REDUCTION_COUNT: there is none */

typedef VEC(Block *) BlockList;

enum { UNROLL_NEVER = 255 }; /* Block.unroll */

/* Where a block goes: to the successors that its terminator chooses from and, if it unwinds, last of all to the one
 * that what a value in it raises goes to (block_unwind), which is none of the others.  A block that does not unwind
 * leaves the function when something is raised.  Along the raise edge the handler sees of the block what stands before
 * the first value that may raise. */
struct Block {
    uint32_t id;
    Value *first, *last; /* phis first; last is the terminator once the block is complete */
    BlockList succs, preds;
    Span left; /* the code that drops something last: of a `break`, whose loop's iterator that is */
    bool unwinds;
    uint8_t unroll;    /* it ends a round of a loop: how many rounds become one; 0: as LLVM sees fit (pass unroll); 1 on
                          the host: nor are they made of vectors (pass versions); UNROLL_NEVER there: vectors alone are
                          made of them (pass safepoints) */
    bool unroll_whole; /* these are all of them (pass lay_out) */
    Block *idom;       /* after func_compute_dominators */
    uint32_t order;    /* position in reverse post-order, from 0; UINT32_MAX: unreachable */
    void *mark;
};

/* In the place of a keyword's name, in OP_CALL_EX: what stands behind ** */
#define SPREAD_NAME "**"

typedef enum ParamKind {
    PARAM_POSITIONAL_ONLY,
    PARAM_NORMAL,
    PARAM_VARARGS,
    PARAM_KEYWORD_ONLY,
    PARAM_VARKEYWORDS, /* **name: a tuple with names (rules_keywords.c) */
    PARAM_CELL
} ParamKind;
typedef struct Param {
    const char *name;
    ParamKind kind;
    bool has_default;
    bool assigned;         /* the function assigns to it: from there on it is a variable like others */
    bool lost;             /* changed in place, and nothing reads the result */
    const Const *fallback; /* the default when it is a constant known to the frontend; a closure's defaults come with
                              the closure */
    uint8_t asked,
        needs_constant; /* inference's: bit d, whether at call depth d it must be a constant (rules_python.c) */
} Param;

struct Func {
    Arena *arena;
    TypeTable *types;
    const char *name;
    const Source *source;
    Span span;      /* of the def line */
    ObjRef object;  /* the Python function it came from; 0 for parsed text */
    bool prelude;   /* of krait.prelude */
    bool generator; /* a call makes a generator, which runs it up to the next YIELD whenever it is asked */
    bool by_fields; /* a comparison that a dataclass made of its fields */
    Param *params;  /* in the order of the code's local variables; cells of a closure last */
    uint32_t nparams;
    VEC(Block *) blocks; /* blocks.data[0] is the entry, which has no predecessors */
    uint32_t next_value, next_block;
    const Type *result;  /* after inference */
    struct Graph *graph; /* room for the order and the dominators that were asked for last, or NULL */
};

/* What a function that a ufunc was made of says of a call: how many dimensions it sees of each operand, results last.
 * count 0: of numbers alone, @vectorize. */
enum { UFUNC_MAX_OPERANDS = 32 };
typedef struct UfuncShape {
    unsigned count, nin; /* of a generalised one, operands and results; else 0 */
    uint8_t ndim[UFUNC_MAX_OPERANDS];
    bool any_order; /* of an elementwise one: it may be reduced over several axes at once */
} UfuncShape;

/* A call of a generalised ufunc in compiled code: the types of its operands, of which results may be left out. */
typedef struct LoopedRequest {
    ObjRef gufunc;
    const char *name;
    const Type *const *types;
    size_t count;
    bool device;
} LoopedRequest;

/* A call that was typed with what was known of its callee's result then. */
typedef struct CallSite {
    FuncInst *caller;
    Value *call;
} CallSite;

/* What becomes of a loop over prange in the piece of another one (pass parallel): of two such pieces the one whose
 * inner loops may be spread runs where the outer loop leaves threads idle. */
typedef enum Nesting { NESTING_NONE, NESTING_RANGE, NESTING_SPREAD } Nesting;

/* One specialisation: a function with the types of its parameters.  Kept by the driver in the order found; number 0 is
 * the root. */
struct FuncInst {
    uint32_t id;
    ObjRef object;
    const Func *untyped;
    Func *func;               /* typed clone; NULL before its first inference */
    const Type *const *types; /* one per parameter of untyped */
    const Const *const
        *konsts;        /* one per parameter: constant it is known to be (literal shapes, None, bool), or NULL */
    const Type *result; /* TY_BOTTOM: not known yet */
    const Const *result_konst;
    const Type *expected; /* the type that the result is to have: what was asked for; NULL: none */
    const Type **wanted;  /* by parameter: what it would have to be, for its body to put something into it, or NULL */
    bool wants;           /* something new is wanted: the callers are to look */
    Bounds *arguments; /* by parameter, if it is an integer: what all calls pass; NULL: nobody knows (pass intervals) */
    bool called_freely; /* by others than CALL_INST */
    uint64_t writes;    /* bit i: what parameter i refers to may be written (63: any from there on); pass written */
    bool summarised;    /* effects are known: effects_summarise ran */
    Effects effects;    /* of a call */
    bool reaches_loop;  /* it has a loop, or calls a function that has: pass safepoints */
    bool has_rounds;    /* a loop none of whose rounds works on whole arrays, or it is recursive: pass safepoints */
    bool many_loops;    /* so many that they are compiled each apart: pass safepoints */
    bool recursive;     /* calls lead from it back to it: raises, where the depth is checked */
    uint8_t
        depth; /* of recursive functions: 0 looks at the stack and for signals; a copy that does not (pass recursion) */
    uint32_t height;    /* calls of the longest chain below it; of recursive functions of some chain */
    bool has_loop;      /* in its own body (pass loops) */
    bool frameless;     /* a region whose calls keep nothing in memory of their own and update none that they share: it
                                may run for several threads at once (pass barriers) */
    bool by_regions;    /* a kernel that runs once for a block and says what its threads do (pass barriers) */
    bool never_returns; /* every call ends by raising: calls of it are followed by UNREACHABLE */
    uint32_t options;   /* FuncOptions of its own decorator */
    bool outlined;      /* a part of its caller, as the source has it: pass parallel */
    Nesting nesting;    /* of a piece */
    FuncInst *piece, *join;  /* what a region of parallel iterations is made of (pass parallel), else NULL */
    struct Infer *inference; /* its solver while types may still grow, else NULL */
    VEC(CallSite) waiting;   /* to be typed again when result changes */
    VEC(FuncInst *) callers; /* whose typed code calls it, nearly each once; insts_find_calls */
    FuncInst *caller;        /* who asked for it first; NULL: the root */
    const Type *named;       /* what its call names, which may stand for this one: for messages; or NULL */
    const struct Unit *unit; /* it came typed, from an earlier compilation (driver/units.c); NULL: it was inferred */
    uint32_t changes;        /* of its result so far */
    bool queued;             /* in the worklist at hand */
    bool pauses;             /* its inference waits until a function that it calls for the first time was looked at */
    bool called;             /* the root, or typed code that is called calls it (typeinfer/finish.c) */
};

/* Parts of a function that parallel=True concerns. */
enum ParallelParts { PARALLEL_LOOPS = 1, PARALLEL_ARRAYS = 2, PARALLEL_REDUCTIONS = 4, PARALLEL_ALL = 7 };

/* All that is compiled together, typed; number 0 of insts is the root.  Passes change it and note facts in it. */
typedef struct Program {
    Arena *arena;
    TypeTable *types;
    Diag *diag;
    FuncInst **insts;
    size_t count;
    size_t room;        /* for how many there is place, once a pass has added some */
    unsigned parallel;  /* what may use several cores: ParallelParts */
    Buf *diagnostics;   /* what passes say of parallel code (pass_note); NULL: nobody asks */
    bool index_raises;  /* an index outside an array raises (value_effects) */
    bool watched;       /* somebody is told of each access of each thread: check='race' */
    bool uninterrupted; /* code does not look for signals */
    bool keeps_raised;  /* some exception has VF_OBJECT (raises) */
    bool called_once;   /* the first function is called by the interpreter, not by a loop of the entry */
    bool declines;      /* the first function may leave a call, before it has done anything, to code that is made
                           without this (OP_DECLINE) */
    bool brief;         /* where that is how a loop runs for long, too; only if it declines */
    Captures *captures; /* NULL: there cannot be any */
    bool small;         /* of a kernel: arrays among its arguments have at most SMALL_COUNT elements and less than 2^31
                           bytes, and are aligned (type_whole_align), int arguments are below SMALL_COUNT in magnitude,
                           a grid has at most SMALL_BLOCKS blocks along an axis */
    unsigned
        inner_axis;    /* of a kernel on the host: 0 or 1, the axis of the innermost loop over threads (thread_order) */
    uint32_t block[3]; /* of a kernel that runs once for a block: threads along the axes that its code is for; 0: any
                          (barriers) */
    uint32_t launched[3]; /* threads along the axes in the launch that waits for the code; 0: not known */
    bool joins_blocks;    /* its neighbouring blocks along that axis may run as one (thread_order) */
} Program;

/* Twice as many elements still fit 32 bits, a place and one step of a loop over the grid; so do the threads of so many
 * blocks, and a place among them.  An array has SMALL_MARGIN elements fewer, so that places beside it fit, too. */
enum { SMALL_COUNT = 1 << 30, SMALL_BLOCKS = 1 << 20, SMALL_MARGIN = 128 };

/* As on a GPU. */
enum { MAX_BLOCK_THREADS = 1024, MAX_BLOCK_Z = 64, MAX_GRID_YZ = 65535, WARP_SIZE = 32 };

/* What code may spend between two safepoints, in simple operations: passes/safepoints.c. */
enum { SAFEPOINT_BUDGET = 1 << 20 };

/* Of a loop that does not look for signals (Program.brief). */
enum { BRIEF_ROUNDS = 1 << 20 };

/* OPT_INLINE: each call becomes a copy of the body; OPT_ASK_INLINE: those with VF_INLINE do. */
enum FuncOptions { OPT_PYTHON_ERRORS = 1, OPT_BOUNDSCHECK = 2, OPT_INLINE = 4, OPT_DEVICE = 8, OPT_ASK_INLINE = 16 };

Effects op_effects(Op op); /* of the row: the most that any such value may do */
/* Before inference, which may make calls of operators: whether what becomes of it may raise. */
bool op_may_raise(Op op);
/* The same; what its column CHECK says raises only where VF_CHECKED is set. */
Effects func_effects(const FuncHead *func);
/* From the row, the operand types and the flags; before inference from the row alone.  index_raises: an index outside
 * an array raises; else the access is left out, or nobody knows what happens. */
Effects value_effects(const Value *value, bool index_raises);
/* FuncInst.callers and recursive of all functions of a compilation, which are typed. */
void insts_find_calls(Arena *arena, FuncInst *const *insts, size_t count);
/* FuncInst.effects of all functions of a compilation, which are typed and numbered as they stand. */
void effects_summarise(Arena *arena, FuncInst *const *insts, size_t count, bool index_raises);

/* x // y or x % y, with y no constant. */
static inline bool value_divides(const Value *value) {
    return (value->op == OP_MOD || value->op == OP_FLOORDIV) && value->args[1]->op != OP_CONST;
}

/* The compiled function that the value calls, or NULL. */
static inline FuncInst *value_callee(const Value *value) {
    bool calls = value->op == OP_CALL_INST || value->op == OP_MAP || value->op == OP_REDUCE || value->op == OP_THREADS;
    return calls ? value->imm.inst : NULL;
}
/* Of a map: whether its last operand is a mask. */
static inline bool map_is_masked(const Value *map) {
    uint32_t sources = map->imm.inst ? map->imm.inst->untyped->nparams : 1;
    return map->nargs > (uint32_t)map->imm.i + sources;
}

/* Whether an array lies apart from another one that is used together with it, since it was made later, or the other was
 * elsewhere; false: nobody knows. */
bool array_is_apart(const Value *array, const Value *other);

Bounds type_bounds(const Type *type); /* of an integer type, as of a value of it */
/* Of an integer: what is known, at least what its type says; hi of a uint64 is INT64_MAX where it may be more. */
Bounds value_bounds(const Value *value);
static inline bool value_is_nonnegative(const Value *value) { return value_bounds(value).lo >= 0; }
AttrId value_attr(const Value *value); /* of a GETATTR whose operand has its type: its row; of all else ATTR_COUNT */
bool value_counts_forward(const Value *value);      /* as an index: VF_FORWARD, or not negative */
bool value_fits(const Value *value, unsigned bits); /* into a signed integer of that many bits */

/* Builder: appends to a block, keeps preds and succs in step. */
Func *func_new(Arena *arena, TypeTable *types, const char *name, const Source *source);
Block *block_new(Func *func);
Value *value_new(Func *func, Op op, Span span, Value *const *args, size_t nargs); /* not yet in a block */
Value *block_append(Func *func, Block *block, Op op, Span span, Value *const *args, size_t nargs);
void block_put_last(Block *block, Value *value); /* one that is in no block */
Value *block_append_const(Func *func, Block *block, Span span, const Const *konst);
/* A copy of a value, with these operands, at the end of the block; of a phi without. */
Value *block_append_copy(Func *func, Block *block, const Value *value, Value *const *args);
Value *block_add_phi(Func *func, Block *block, Span span); /* operands are set by phi_set_args once preds are known */
/* The same, `after` being one of the block's phis, so that those before it need not be walked over; NULL: none. */
Value *block_add_phi_behind(Func *func, Block *block, Value *after, Span span);
void phi_set_args(Func *func, Value *phi, Value *const *args, size_t nargs);
void value_insert_before(Value *at, Value *value);
void value_remove(Value *value);
void value_replace(Func *func, Value *old, Value *with); /* every use */
static inline Value *value_resolve(Value *value)         /* marks are forwards: what they lead to */
{
    while (value->mark) value = value->mark;
    return value;
}
static inline Block *block_unwind(const Block *block) /* NULL: out of the function */
{
    return block->unwinds ? block->succs.data[block->succs.len - 1] : NULL;
}
/* Successors without the one for what is raised. */
static inline size_t block_normal_succs(const Block *block) { return block->succs.len - block->unwinds; }
size_t block_count_edges(const Block *from, const Block *to);
void block_add_edge(Func *func, Block *from, Block *to);
/* For a new predecessor, its last: each phi has the operand that it has for the one at `like`. */
void block_repeat_operands(Func *func, Block *block, size_t like);
void block_set_unwind(Func *func, Block *block, Block *handler); /* NULL: it does not unwind */
/* What `to` raises goes where what `from` raises goes, with the same operands for phis. */
void block_unwind_like(Func *func, Block *to, const Block *from);
void block_jump(Func *func, Block *from, Span span, Block *to);
void block_branch(Func *func, Block *from, Span span, Value *condition, Block *if_true, Block *if_false);
/* Also drops the phis' operands; a branch becomes a jump, a jump `unreachable`; a raise edge leaves it as it is. */
void block_remove_edge(Func *func, Block *from, Block *to);

/* Analyses and clean-ups, one file each. */
void func_clear_marks(Func *func); /* of its values */
/* Constants, names and types are shared with the original; marks are NULL. */
Func *func_clone(Arena *arena, const Func *func);
/* Types alone are shared: copies may outlive the originals.  Calls are still of the same FuncInsts. */
Func *func_copy(Arena *arena, const Func *func);
void func_renumber(Func *func);      /* values and blocks count from 0 in the order in which they stand */
void func_compute_order(Func *func); /* sorts blocks in reverse post-order; drops unreachable ones and their edges */
/* After func_compute_order.  Cooper, Harvey, Kennedy: A Simple, Fast Dominance Algorithm (2001). */
void func_compute_dominators(Func *func);
/* After that; a block dominates itself. */
static inline bool block_dominates(const Block *above, const Block *below) {
    while (below && below->order > above->order) below = below->idom;
    return below == above;
}
bool func_remove_trivial_phis(Func *func); /* progress */
bool func_remove_dead(Func *func);         /* values nobody uses that value_is_removable; progress */
/* Makes of item number `round`, which `take` takes of what is iterated over, another operation in its place. */
typedef void RoundItem(Func *func, Value *take, Value *over, uint32_t round);
/* Before inference: the loop over `iter` becomes its `count` rounds; orders have to be found again.  False: nobody else
 * than one loop may ask the iterator, and the rounds may not be too long together; nothing has changed. */
bool func_make_rounds(Func *func, Value *iter, uint32_t count, RoundItem *item);
/* Whether nobody would notice if an unused value were not computed.  Conservative before inference: what may raise
 * stays. */
bool value_is_removable(const Value *value);

/* Text.  func_print and func_parse are inverse on everything but spans and objects.
 *   func add(x: int, y: float32 = 1.0, kwonly z, *rest, cell c) -> float32 {
 *   b0:
 *     %5: float32 = cast %0
 *     %6 total: float32 = add.inplace %5, %1
 *     branch %7, b1, b2
 *   b1:
 *     ...
 *     %9: float32 = phi b0 %6, b1 %8
 *     return %9
 *   }
 * Parameters are %0 ... of the OP_PARAM values that open the entry block, one per parameter in order.  "%6 total": name
 * is what the value was stored to.  Flags follow the operation (.inplace .unchecked .forward .checked .nowrap), imm
 * stands in brackets (getattr[shape] extract[1] unpack_ex[1, 2] call_func[math.sin] call_inst[f#3] map[1, f#3]
 * reduce[sum, f#3] function[object#3]),
 * keywords before their operands (call %1, %2, key=%3), a constant that inference proved after "is" (%4: int = add %1,
 * %2 is 5), bounds after "in" (%4: int = add %1, %2 in 0..99; 0.. and ..99 where the other is the type's).  A default
 * that is not known is "= ...".  Operations without a result have no number. From ";" to the end of the line is a
 * comment. */
void func_print(Buf *buf, const Func *func);
Func *func_parse(Arena *arena, TypeTable *types, const char *text, Diag *diag);
/* Checks form (one terminator, phis, dominance, operand counts) and, if typed, types.  False: diag holds the function's
 * text with every fault written at the line it belongs to. */
bool func_verify(const Func *func, bool typed, Diag *diag);
/* Every function of a program, each below the facts that passes noted about it, as comments. */
void program_print(Buf *buf, const Program *program);
FuncInst *func_instance(Arena *arena, TypeTable *types, Func *func); /* of a typed function that was read */
void program_add(Program *program, FuncInst *inst);                  /* as the last one */
bool program_verify(const Program *program); /* every function's typed form; false: program->diag */
/* Drops the functions that no way of calls leads to from the root, and numbers the others. */
void program_keep_called(Program *program);

#endif
