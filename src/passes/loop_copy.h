/* loop_copy.h: a loop that exists twice. */
#ifndef KRAIT_PASSES_LOOP_COPY_H
#define KRAIT_PASSES_LOOP_COPY_H

#include "passes/loop_edges.h"

typedef struct TwoLoops {
    Block *guard; /* in front of both; it ends in nothing yet, its successors are the loop and the copy */
    Block *enter; /* from the guard to the loop; made for its iterators */
    Block *copy;  /* from the guard to the copy */
} TwoLoops;

/* Copies the loop of the edge, whose blocks are marked with its header (loop_edges.h); orders and dominators of the
 * function hold before, and have to be found again behind.  What leaves the loop or the copy meets in phis, which are
 * noted in `stand_ins`, by Value.id of `known` values (index_limits.h).  Blocks that end a round of the copy have the
 * number 1 in Block.unroll.  False: it cannot be copied, and nothing has changed. */
bool loop_copy(Func *func, BackEdge edge, Value **stand_ins, uint32_t known, TwoLoops *loops);

/* Puts the guard before the loop, as above; instead of a copy there is an empty block.  False: it cannot be done, and
 * nothing has changed. */
bool loop_guard(Func *func, BackEdge edge, TwoLoops *loops);

#endif
