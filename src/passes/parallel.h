/* parallel.h: what the files of the passes `parallel` and `spread` share: parallel.c (finds loops over prange and puts
 * calls in their place), parallel_carried.c (what a loop carries from one iteration to the next), parallel_picks.c (of
 * which, what is set where a comparison says so), parallel_truths.c (of which, bools that stay what they have once
 * become), parallel_shared.c (arrays that iterations update together), parallel_places.c and parallel_meetings.c
 * (items that one iteration reads and another writes), parallel_updates.c and parallel_privates.c (of which, those
 * that are reductions), parallel_outline.c (the functions made of a loop), parallel_blocks.c (blocks of iterations
 * with arrays of their own), parallel_make.c (making functions), spread.c (the same for expressions of whole arrays).
 * */
#ifndef KRAIT_PASSES_PARALLEL_H
#define KRAIT_PASSES_PARALLEL_H

#include "passes/private.h"

/* What becomes of a variable that is assigned in the loop. */
typedef enum CarryKind {
    CARRY_NOTHING, /* nobody sees it after the loop */
    CARRY_LAST,    /* the last iteration's value is seen after the loop */
    CARRY_REDUCE,  /* every iteration adds to it: each chunk of iterations starts from `identity` */
    CARRY_PICK,    /* set, together with `leader`, where a number compares with that: chunks start from `identity` */
    CARRY_FLAG,    /* set to `identity`, a constant, in some iterations */
} CarryKind;

typedef struct Carried {
    Value *phi; /* in the loop's header */
    CarryKind kind;
    Op op;                 /* REDUCE: what puts two parts together; PICK: how the leader of the better part compares */
    const FuncHead *func;  /* where op is CALL_FUNC: of this function */
    const Const *identity; /* REDUCE, PICK, FLAG */
    const Value *leader;   /* PICK: a phi, this one or another */
    uint32_t place;        /* among the results, if kind is not NOTHING */
} Carried;

/* What becomes of a variable of the header from one iteration to the next. */
typedef struct Web {
    struct ParallelLoop *loop;
    Value *phi;
    bool *depends, *feeds; /* by Value.id: on the phi; the phi's next value */
} Web;

/* What a reduction does: s += x and s -= x, s *= x and s /= x, s = max(s, x) and its like, ... */
typedef enum Putting { PUT_NONE, PUT_SUM, PUT_PRODUCT, PUT_CALL, PUT_AND, PUT_OR, PUT_XOR } Putting;

/* An array from outside to whose items iterations only put something. */
typedef struct Private {
    const Value *array;
    Putting putting;
    const FuncHead *func; /* PUT_CALL */
    bool heavy;           /* an iteration puts something to many of its items */
} Private;

/* Memory that is used again for one loop after another: each needs some for the whole function. */
typedef struct Scratch {
    void *memory;
    size_t bytes;
} Scratch;

typedef struct Scratches {
    Scratch inside, after, values, blocks, seen;
} Scratches;

/* One loop over prange. */
typedef struct ParallelLoop {
    Program *program;
    Diag *diag; /* where refusals go */
    FuncInst *inst;
    Func *func;
    Scratches *scratch;
    Value *range, *iter, *more;         /* prange(...), its iterator, the header's question */
    Block *before, *head, *body, *exit; /* one edge into the header from outside, from `before` */
    bool *inside;                       /* by Block.id: blocks of an iteration, those that raise included */
    VEC(Block *) blocks;                /* the same as a list */
    VEC(Carried) carried;
    VEC(Value *) steps; /* of reductions: each puts one number more to the running one */
    VEC(Private) privates;
    uint32_t nresults;
    const Value *ordered;   /* a reduction of a variable whose result depends on the order of iterations; or NULL */
    const Value *short_cut; /* may raise, or writes, and is computed unless a reduction so far says not to; or NULL */
} ParallelLoop;

/* What functions are made for: a place in a function of the program. */
typedef struct ParallelSite {
    Program *program;
    FuncInst *inst;
    Span span;
} ParallelSite;

static inline bool loop_has(const ParallelLoop *loop, const Value *value) {
    return value->block && loop->inside[value->block->id];
}

/* parallel.c: the parts of the loop over loop->range and its blocks; *left: what leaves it other than at its end, or
 * NULL.  False: the range is used in another way, or the loop entered in several. */
bool parallel_find_loop(ParallelLoop *loop, const Value **left);
/* parallel_carried.c: fills carried.  False: a variable's value goes from one iteration to the next; diag says which.
 * */
bool parallel_find_carried(ParallelLoop *loop);
Web parallel_web(ParallelLoop *loop, Value *phi);
bool parallel_in_web(const Web *web, const Value *value);
/* parallel_picks.c: adds the variables that are set where a comparison with one of them says so to carried. */
void parallel_find_picks(ParallelLoop *loop);
/* parallel_truths.c: adds bools that stay what they have once become, of which the loop asks on the way. */
void parallel_find_truths(ParallelLoop *loop);
Putting parallel_putting(const Value *value);
/* Whether the running number must be the first operand of what puts something to it. */
bool parallel_is_ordered(const Value *value);
/* What such a reduction begins with: it changes nothing. */
const Const *parallel_identity(Arena *arena, const Type *type, Putting putting, const FuncHead *func);
/* parallel_updates.c: acc = acc + row becomes acc += row. */
void parallel_update_in_place(ParallelLoop *loop);
/* parallel_outline.c: whether an operation changes the list, dict, set or object that is its operand; calls are known
 * from the pass `written`. */
bool parallel_changes_list(const Value *value, uint32_t operand);
/* parallel_shared.c: a store by which iterations change what others read, and which is no reduction; or NULL. */
const Value *parallel_find_shared(ParallelLoop *loop);
/* parallel_meetings.c: whether iterations read what others write, at places whose distance is known.  False: they
 * surely do; diag says where.  *maybe: an access that may, or NULL. */
bool parallel_find_meeting(ParallelLoop *loop, const Value **maybe);
/* parallel_privates.c: whether all that the loop does with an array from outside is a reduction: then it is among
 * loop->privates. */
bool parallel_make_private(ParallelLoop *loop, const Value *array);
/* The only operation of a function of elements, if it puts something to parameter `which`, which is *running. */
const Value *parallel_step_of(const Func *func, uint32_t which, const Value **running);
/* parallel_blocks.c: instead of a call of the region, blocks of iterations, each with arrays of its own.
 * The results, in loop->head. */
Value *parallel_call_in_blocks(ParallelLoop *loop, FuncInst *piece, FuncInst *join, Value *length, Value *first,
                               Value *const *outer, uint32_t nouter);
/* parallel_make.c */
void *parallel_scratch(Arena *arena, Scratch *scratch, size_t bytes); /* zeroed */
const Type *parallel_int(const ParallelSite *site);
Func *parallel_new_func(const ParallelSite *site);
Value *parallel_append(Func *func, Block *block, Op op, const Type *type, Span span, Value *const *args, size_t nargs);
Value *parallel_append_param(Func *func, Block *block, const Type *type, Span span, uint32_t number);
Value *parallel_append_extract(Func *func, Block *block, Value *tuple, uint32_t item, Span span);
Value *parallel_append_call(Func *func, Block *block, FuncInst *inst, Span span, Value *const *args);
Value *parallel_append_func(const ParallelSite *site, Func *func, Block *block, FuncId id, const Type *type,
                            Value *const *args, size_t nargs);
/* The function, whose blocks are finished, as part of the program. */
FuncInst *parallel_add_inst(const ParallelSite *site, Func *func, const Type *const *types, size_t count,
                            const Type *result);
/* join: NULL if the piece gives nothing. */
FuncInst *parallel_make_region(const ParallelSite *site, FuncInst *piece, FuncInst *join);
/* parallel_outline.c: the header becomes a call of the loop as a function of its own, and goes on to the exit. */
bool parallel_outline(ParallelLoop *loop);

#endif
