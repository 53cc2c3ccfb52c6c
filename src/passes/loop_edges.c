/* loop_edges.c: finds loops by the edges that go back (loop_edges.h). */
#include "passes/loop_edges.h"

bool loop_mark_blocks(Arena *arena, const Func *func, BackEdge edge) {
    BlockList work = {0};
    Block *header = edge.header;
    for (size_t b = 0; b < func->blocks.len; b++) func->blocks.data[b]->mark = NULL;
    header->mark = header;
    vec_push(arena, &work, edge.latch);
    while (work.len) {
        Block *block = vec_pop(&work);
        if (block->mark == header) continue;
        if (block->order < header->order) return false;
        block->mark = header;
        for (size_t i = 0; i < block->preds.len; i++) vec_push(arena, &work, block->preds.data[i]);
    }
    return true;
}

BackEdges loop_back_edges(Arena *arena, const Func *func) {
    BackEdges edges = {0};
    for (size_t b = 0; b < func->blocks.len; b++) {
        Block *block = func->blocks.data[b];
        for (size_t s = 0; s < block->succs.len; s++)
            if (block->succs.data[s]->order <= block->order)
                vec_push(arena, &edges, (BackEdge){block, block->succs.data[s]});
    }
    return edges;
}
