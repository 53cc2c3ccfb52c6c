/* safepoints.h: what the files of the pass `safepoints` share: the loops of a function, and how edges to the header of
 * a loop are led another way. */
#ifndef KRAIT_PASSES_SAFEPOINTS_H
#define KRAIT_PASSES_SAFEPOINTS_H

#include "passes/private.h"

typedef struct Loop {
    Block *header;
    struct Loop *parent;
    VEC(Block *) latches;
    uint64_t cost;   /* of a round, short loops inside included */
    bool inner;      /* a loop that looks is inside */
    bool is_natural; /* nothing enters but at the header */
    Block *handler;  /* of what raises on a way back; NULL: none there has one */
    Value **handled; /* for its phis, as known in the header; NULL: not all are */
    Value *payer;    /* what a loop inside, which every round comes to, spends for the round; NULL: there is none */
} Loop;

typedef struct Ask { /* of an iterator: ITER_MORE or ITER_TAKE */
    Value *value;
    struct Ask *next;
} Ask;

typedef struct Loops {
    Program *program;
    Func *func;
    size_t nblocks;  /* of the function as it was: block i has the order i */
    Loop **headed;   /* by Block.order: the loop with this header */
    Loop **around;   /* by Block.order: the innermost loop around the block */
    uint32_t *seen;  /* by Block.order: 1 + the order of the last header that was asked for */
    uint32_t *uses;  /* by Value.id: how many */
    bool *escapes;   /* by Value.id: used outside the innermost loop around it */
    Ask **asks;      /* by Value.id, of iterators */
    size_t count;    /* of loops */
    size_t brief;    /* of those that do not look, since their rounds were counted in front of them */
    bool by_regions; /* the function runs once for a block of threads */
    bool runs_once;  /* the function: a call of the interpreter runs it once */
} Loops;

/* ---- safepoint_edges.c ---- */

typedef struct Edge {
    Block *from;
    Value **args; /* one per phi of the header */
} Edge;
typedef VEC(Edge) Edges;

/* The edges to the header, apart: into the loop, and back. */
void loop_split_edges(Loops *loops, const Loop *loop, Edges *entries, Edges *backs);
/* A new block, which for other loops stands where the header does. */
Block *loop_place_block(Loops *loops, const Loop *loop);
/* The same, to which the edges lead from now on. */
Block *loop_lead_to_block(Loops *loops, const Loop *loop, const Edges *preds);
/* In `block`, whose predecessors are those of the edges, what each phi of the header is there. */
Value **loop_merge_values(Loops *loops, const Loop *loop, Block *block, const Edges *edges);
/* The header's phis, as what an edge hands on unchanged. */
Value **loop_own_values(Loops *loops, const Loop *loop);
/* The header's predecessors and operands from now on. */
void loop_set_header(Loops *loops, const Loop *loop, const Edges *edges);
/* From header to `left`, now through `through`, whose edges on are the caller's. */
void loop_leave_through(Loops *loops, const Loop *loop, Block *left, Block *through);
Value *loop_append(Loops *loops, Block *block, Op op, Span span, const Type *type);
/* A block that looks; where it goes on is the caller's. */
Block *loop_new_look(Loops *loops, const Loop *loop);
/* What a round spends. */
int64_t loop_round_cost(const Loop *loop);
/* Appends to `block` what spends a round; then it ends in a branch on that. */
Value *loop_append_spend(Loops *loops, const Loop *loop, Block *block);
/* How many rounds the iterator has left. */
Value *loop_append_left(Loops *loops, Block *block, Span span, Value *iterator);
/* The same for every round that the iterator has left, and what the operand `more` says. */
Value *loop_append_spend_all(Loops *loops, const Loop *loop, Block *block, Value *iterator, Value *more);

/* ---- safepoint_loops.c ---- */

/* Number of the header's successor that leaves the loop; 2: not one does. */
uint32_t loop_exit_side(const Loops *loops, const Loop *loop);
/* What the header asks, if it does nothing else, and nobody but this loop asks that; NULL: otherwise. */
Value *loop_own_iterator(const Loops *loops, const Loop *loop);
/* Lets the loop look, which is entered by the edges `entries`. */
void loop_look(Loops *loops, Loop *loop, Edges *entries, Edges *backs);

/* ---- safepoint_twins.c ---- */

/* Gives the loop a twin that does not look, where that pays; `entries` are those of the loop itself then. */
void loop_add_twin(Loops *loops, Loop *loop, Edges *entries, const Edges *backs);

enum { MOST_LOOPS = 512 }; /* in a function with more no loop gets another around it: LLVM's time */

#endif
