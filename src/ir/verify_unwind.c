/* verify_unwind.c: is what a handler uses defined along every raise edge that leads to it?
 *
 * In: a function whose form and dominance are sound.  Out: a fault for each use that is not.
 *
 * Where a block unwinds, the raise edge leaves it at the first value that may raise: from there on nothing that the
 * block defines is defined along that edge.  So a block that the edge leads to, without another run through the block,
 * may use none of it, nor may a phi take it from such a block or over the edge itself. */
#include "ir/verify.h"

typedef struct Late {
    Verifier *verifier;
    uint32_t *late;    /* by Value.id: 1 + the number of the unwinding block that defines it too late */
    uint32_t *reached; /* by Block.id: 1 + the number of the block whose raise edge leads there */
} Late;

static bool is_late(const Late *late, const Block *from, const Value *value) {
    return late->late[value->id] == from->id + 1;
}

static void check_uses(Late *late, const Block *from, const Block *block) {
    for (const Value *value = block->first; value; value = value->next)
        for (uint32_t i = 0; i < value->nargs; i++) {
            if (!is_late(late, from, value->args[i])) continue;
            if (value->op == OP_PHI) {
                const Block *pred = block->preds.data[i];
                bool over_edge = pred == from && block_unwind(from) == block;
                if (!over_edge && late->reached[pred->id] != from->id + 1) continue;
            }
            verify_fault(late->verifier, block, value, "operand %u (%%%u) is not defined when b%u raises", (unsigned)i,
                         (unsigned)value->args[i]->id, (unsigned)from->id);
        }
}

static void check_block(Late *late, const Block *from) {
    const Value *value = from->first;
    while (value && !(value_effects(value, true) & EFFECT_RAISE)) value = value->next;
    for (; value; value = value->next) late->late[value->id] = from->id + 1;
    VEC(const Block *) found = {0};
    vec_push(late->verifier->arena, &found, block_unwind(from));
    late->reached[block_unwind(from)->id] = from->id + 1;
    for (size_t i = 0; i < found.len; i++) {
        const Block *block = found.data[i];
        for (size_t s = 0; s < block->succs.len; s++) {
            const Block *next = block->succs.data[s];
            if (next == from || late->reached[next->id] == from->id + 1) continue;
            late->reached[next->id] = from->id + 1;
            vec_push(late->verifier->arena, &found, next);
        }
    }
    for (size_t i = 0; i < found.len; i++) check_uses(late, from, found.data[i]);
}

void verify_unwind(Verifier *verifier, const Graph *graph) {
    Late late = {.verifier = verifier};
    for (uint32_t b = 0; b < graph->count; b++) {
        if (!graph->blocks[b]->unwinds) continue;
        if (!late.late) {
            late.late = ARENA_ARRAY(verifier->arena, uint32_t, verifier->func->next_value);
            late.reached = ARENA_ARRAY(verifier->arena, uint32_t, verifier->func->next_block);
        }
        check_block(&late, graph->blocks[b]);
    }
}
