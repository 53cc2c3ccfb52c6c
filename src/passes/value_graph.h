/* value_graph.h: a function as a graph of values in which a value has a name of its own wherever a branch has said
 * something about it (extended SSA; Bodik, Gupta, Sarkar: ABCD, 2000), beside the function, which stays as it is.
 *
 *   if i < n:            below the branch, operands i are the node (i where i < n), operands n are (n where n > i)
 *       a[i] = 0
 *
 * Node number v is the value with id v; the nodes of branches follow.  `order` has every node behind the nodes that it
 * needs, except operands of phis. */
#ifndef KRAIT_PASSES_VALUE_GRAPH_H
#define KRAIT_PASSES_VALUE_GRAPH_H

#include "ir/ir.h" /* Func */

enum { NO_NODE = UINT32_MAX };

typedef struct ValueNode {
    const Value *value;   /* a node of a branch: the value that it is about; NULL: no value has this number */
    const uint32_t *args; /* nodes of the operands, as they are known where the value stands */
    uint32_t nargs;
    Op relation; /* a node of a branch: `source` stands in this relation to `other`; OP_COUNT: no such node */
    uint32_t source, other;
} ValueNode;

typedef struct ValueGraph {
    Arena *arena;
    VEC(ValueNode) nodes;
    VEC(uint32_t) order;
    uint32_t zero;             /* a node without a value that stands for the number 0 */
    uint32_t *before, *behind; /* by Block.id: when a walk down the dominator tree entered and left it */
} ValueGraph;

/* Sorts the blocks of the function and notes their dominators. */
ValueGraph value_graph_of(Func *func, Arena *arena);
bool value_graph_dominates(const ValueGraph *graph, const Block *above, const Block *below);

#endif
