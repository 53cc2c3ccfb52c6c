/* block_graph.h: orders and dominators of a control-flow graph as plain arrays, for the passes that store them in the
 * blocks and for the verifier, which may not touch the function.  Private to src/ir. */
#ifndef KRAIT_IR_BLOCK_GRAPH_H
#define KRAIT_IR_BLOCK_GRAPH_H

#include "ir/ir.h" /* Func, Block */

typedef struct Graph {
    Block **blocks; /* the reachable blocks in reverse post-order */
    uint32_t count;
    uint32_t *position; /* by block number: place in blocks, UINT32_MAX for an unreachable block */
    uint32_t *idom;     /* by place: place of the immediate dominator; 0 for the entry */
    struct GraphVisit *stack;
    Block **post;
    size_t blocks_room, numbers_room; /* how many blocks, how many numbers of blocks the arrays have room for */
} Graph;

/* Numbers of blocks must be below func->next_block.  Takes the arrays that the graph has, if they have room. */
void graph_order(Graph *graph, Arena *arena, const Func *func);
void graph_dominators(Graph *graph);
bool graph_dominates(const Graph *graph, uint32_t above, uint32_t below); /* places; a block dominates itself */

/* A function as text, with lines added below the line of a value (or, value NULL, of a block's head; both NULL, of the
 * first line). */
typedef struct Annotator {
    void *self;
    void (*annotate)(void *self, Buf *buf, const Block *block, const Value *value);
} Annotator;
void func_print_annotated(Buf *buf, const Func *func, const Annotator *annotator);

#endif
