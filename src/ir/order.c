/* order.c: reverse post-order of the blocks, their dominators, and the removal of blocks that cannot be reached.
 *
 * Depth-first search from the entry with an explicit stack (functions may be long), second successors first, so that in
 * the reversed order the first successor of a branch (the body of a loop, the true side) stands right behind it. */
#include "ir/block_graph.h"

typedef struct GraphVisit {
    Block *block;
    uint32_t left; /* successors not looked at yet */
} Visit;

/* A function is asked for its order again and again while a pass changes it: what grows, grows by half. */
static void make_room(Graph *graph, Arena *arena, const Func *func) {
    if (graph->blocks_room < func->blocks.len) {
        size_t room = graph->blocks_room = func->blocks.len + graph->blocks_room / 2;
        graph->blocks = ARENA_ARRAY(arena, Block *, room);
        graph->post = ARENA_ARRAY(arena, Block *, room);
        graph->stack = ARENA_ARRAY(arena, Visit, room);
        graph->idom = ARENA_ARRAY(arena, uint32_t, room);
    }
    if (graph->numbers_room < func->next_block) {
        graph->numbers_room = func->next_block + graph->numbers_room / 2;
        graph->position = ARENA_ARRAY(arena, uint32_t, graph->numbers_room);
    }
}

void graph_order(Graph *graph, Arena *arena, const Func *func) {
    make_room(graph, arena, func);
    graph->count = 0;
    for (uint32_t i = 0; i < func->next_block; i++) graph->position[i] = UINT32_MAX;
    if (!func->blocks.len) return;
    Block *entry = func->blocks.data[0];
    size_t depth = 0; /* a block is pushed once */
    graph->position[entry->id] = 0;
    graph->stack[depth++] = (Visit){entry, (uint32_t)entry->succs.len};
    while (depth) {
        Visit *visit = &graph->stack[depth - 1];
        if (visit->left == 0) {
            graph->post[graph->count++] = visit->block;
            depth--;
            continue;
        }
        Block *next = visit->block->succs.data[--visit->left];
        if (graph->position[next->id] != UINT32_MAX) continue;
        graph->position[next->id] = 0;
        graph->stack[depth++] = (Visit){next, (uint32_t)next->succs.len};
    }
    for (uint32_t i = 0; i < graph->count; i++) {
        graph->blocks[i] = graph->post[graph->count - 1 - i];
        graph->position[graph->blocks[i]->id] = i;
    }
}

static Graph *own_graph(Func *func) {
    if (!func->graph) func->graph = ARENA_NEW(func->arena, Graph);
    return func->graph;
}

void func_compute_order(Func *func) {
    Graph *graph = own_graph(func);
    graph_order(graph, func->arena, func);
    for (size_t b = 0; b < func->blocks.len; b++) {
        Block *block = func->blocks.data[b];
        block->order = graph->position[block->id];
        if (block->order != UINT32_MAX) continue;
        while (block->succs.len) block_remove_edge(func, block, block->succs.data[block->succs.len - 1]);
    }
    for (uint32_t i = 0; i < graph->count; i++) func->blocks.data[i] = graph->blocks[i];
    func->blocks.len = graph->count;
}

void func_compute_dominators(Func *func) {
    Graph *graph = own_graph(func);
    graph_order(graph, func->arena, func);
    graph_dominators(graph);
    for (size_t b = 0; b < func->blocks.len; b++) func->blocks.data[b]->idom = NULL;
    for (uint32_t i = 1; i < graph->count; i++) graph->blocks[i]->idom = graph->blocks[graph->idom[i]];
}
