/* parallel.h: what the files of the pass `parallel` share: parallel.c (finds loops over prange and puts calls in their
 * place), parallel_carried.c (what a loop carries from one iteration to the next), parallel_shared.c (arrays that
 * iterations update together), parallel_outline.c (the functions made of a loop). */
#ifndef KRAIT_PASSES_PARALLEL_H
#define KRAIT_PASSES_PARALLEL_H

#include "passes/private.h"

/* What becomes of a variable that is assigned in the loop. */
typedef enum CarryKind {
    CARRY_NOTHING, /* nobody sees it after the loop */
    CARRY_LAST,    /* the last iteration's value is seen after the loop */
    CARRY_REDUCE,  /* every iteration adds to it: each chunk of iterations starts from `identity` */
} CarryKind;

typedef struct Carried {
    Value *phi; /* in the loop's header */
    CarryKind kind;
    Op op;                 /* REDUCE: what puts two parts together, */
    const FuncHead *func;  /* where that is CALL_FUNC: of this function */
    const Const *identity; /* REDUCE */
    uint32_t place;        /* among the results, if kind is not NOTHING */
} Carried;

/* One loop over prange. */
typedef struct ParallelLoop {
    Program *program;
    Diag *diag; /* where refusals go */
    FuncInst *inst;
    Func *func;
    Value *range, *iter, *more;         /* prange(...), its iterator, the header's question */
    Block *before, *head, *body, *exit; /* one edge into the header from outside, from `before` */
    bool *inside;                       /* by Block.id: blocks of an iteration, those that raise included */
    VEC(Block *) blocks;                /* the same as a list */
    VEC(Carried) carried;
    uint32_t nresults;
} ParallelLoop;

static inline bool loop_has(const ParallelLoop *loop, const Value *value) {
    return value->block && loop->inside[value->block->id];
}

/* parallel_carried.c: fills carried.  False: a variable's value goes from one iteration to the next; diag says which.
 * */
bool parallel_find_carried(ParallelLoop *loop);
/* parallel_shared.c: a store by which iterations change what others read, or NULL. */
const Value *parallel_find_shared(const ParallelLoop *loop);
/* parallel_outline.c: the header becomes a call of the loop as a function of its own, and goes on to the exit. */
bool parallel_outline(ParallelLoop *loop);

#endif
