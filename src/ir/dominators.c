/* dominators.c: immediate dominators, after Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm" (2001).
 *
 * Blocks are taken in reverse post-order; the dominator of a block is the meeting point, up the tree built so far, of
 * its predecessors that have one; repeated until nothing changes (twice for reducible graphs). */
#include "ir/block_graph.h"

static uint32_t meet(const uint32_t *idom, uint32_t a, uint32_t b) {
    while (a != b) {
        while (a > b) a = idom[a];
        while (b > a) b = idom[b];
    }
    return a;
}

void graph_dominators(Graph *graph) {
    uint32_t *idom = graph->idom;
    if (graph->count) idom[0] = 0;
    for (uint32_t i = 1; i < graph->count; i++) idom[i] = UINT32_MAX;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 1; i < graph->count; i++) {
            const Block *block = graph->blocks[i];
            uint32_t found = UINT32_MAX;
            for (size_t p = 0; p < block->preds.len; p++) {
                uint32_t pred = graph->position[block->preds.data[p]->id];
                if (pred == UINT32_MAX || idom[pred] == UINT32_MAX) continue;
                found = found == UINT32_MAX ? pred : meet(idom, found, pred);
            }
            if (found == idom[i]) continue;
            idom[i] = found;
            changed = true;
        }
    }
}

bool graph_dominates(const Graph *graph, uint32_t above, uint32_t below) {
    while (below > above) below = graph->idom[below];
    return below == above;
}
