/* order.c: reverse post-order of the blocks, and the removal of blocks that cannot be reached.
 *
 * Depth-first search from the entry with an explicit stack (functions may be long), second successors first, so that in
 * the reversed order the first successor of a branch (the body of a loop, the true side) stands right behind it. */
#include "ir/block_graph.h"

typedef struct Visit {
    Block *block;
    uint32_t left; /* successors not looked at yet */
} Visit;

Graph graph_order(Arena *arena, const Func *func) {
    Graph graph = {
        .blocks = ARENA_ARRAY(arena, Block *, func->blocks.len),
        .position = ARENA_ARRAY(arena, uint32_t, func->next_block),
    };
    for (uint32_t i = 0; i < func->next_block; i++) graph.position[i] = UINT32_MAX;
    if (!func->blocks.len) return graph;
    VEC(Visit) stack = {0};
    Block *entry = func->blocks.data[0];
    graph.position[entry->id] = 0;
    vec_push(arena, &stack, (Visit){entry, (uint32_t)entry->succs.len});
    Block **post = ARENA_ARRAY(arena, Block *, func->blocks.len);
    while (stack.len) {
        Visit *visit = &vec_last(&stack);
        if (visit->left == 0) {
            post[graph.count++] = visit->block;
            stack.len--;
            continue;
        }
        Block *next = visit->block->succs.data[--visit->left];
        if (graph.position[next->id] != UINT32_MAX) continue;
        graph.position[next->id] = 0;
        vec_push(arena, &stack, (Visit){next, (uint32_t)next->succs.len});
    }
    for (uint32_t i = 0; i < graph.count; i++) {
        graph.blocks[i] = post[graph.count - 1 - i];
        graph.position[graph.blocks[i]->id] = i;
    }
    return graph;
}

void func_compute_order(Func *func) {
    Graph graph = graph_order(func->arena, func);
    for (size_t b = 0; b < func->blocks.len; b++) {
        Block *block = func->blocks.data[b];
        block->order = graph.position[block->id];
        if (block->order != UINT32_MAX) continue;
        while (block->succs.len) block_remove_edge(func, block, block->succs.data[block->succs.len - 1]);
    }
    for (uint32_t i = 0; i < graph.count; i++) func->blocks.data[i] = graph.blocks[i];
    func->blocks.len = graph.count;
}
