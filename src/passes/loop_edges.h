/* loop_edges.h: the ways back of a function's loops, and the blocks of one loop. */
#ifndef KRAIT_PASSES_LOOP_EDGES_H
#define KRAIT_PASSES_LOOP_EDGES_H

#include "ir/ir.h" /* Func */

typedef struct BackEdge {
    Block *latch, *header;
} BackEdge;
typedef VEC(BackEdge) BackEdges;

/* After func_compute_order. */
BackEdges loop_back_edges(Arena *arena, const Func *func);
/* The blocks of the loop of one edge, and no others, are marked with its header.  False: it is entered elsewhere. */
bool loop_mark_blocks(Arena *arena, const Func *func, BackEdge edge);
static inline bool loop_has(const Block *header, const Block *block) { return block->mark == header; }

#endif
