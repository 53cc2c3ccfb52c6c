/* safepoint_edges.c: leads the edges to a loop's header another way, through blocks that look for signals. */
#include "passes/safepoints.h"

void loop_split_edges(Loops *loops, const Loop *loop, Edges *entries, Edges *backs) {
    const Block *header = loop->header;
    Arena *arena = loops->func->arena;
    for (size_t p = 0; p < header->preds.len; p++) {
        Edge edge = {header->preds.data[p], NULL};
        VEC(Value *) args = {0};
        for (Value *phi = header->first; phi && phi->op == OP_PHI; phi = phi->next)
            vec_push(arena, &args, phi->args[p]);
        edge.args = args.data;
        vec_push(arena, edge.from->order >= header->order ? backs : entries, edge);
    }
}

Block *loop_place_block(Loops *loops, const Loop *loop) {
    Block *block = block_new(loops->func);
    block->order = loop->header->order;
    return block;
}

Block *loop_lead_to_block(Loops *loops, const Loop *loop, const Edges *preds) {
    Block *block = loop_place_block(loops, loop);
    for (size_t i = 0; i < preds->len; i++) {
        Block *from = preds->data[i].from;
        vec_push(loops->func->arena, &block->preds, from);
        for (uint32_t s = 0; s < from->succs.len; s++)
            if (from->succs.data[s] == loop->header) from->succs.data[s] = block;
    }
    return block;
}

Value **loop_merge_values(Loops *loops, const Loop *loop, Block *block, const Edges *edges) {
    VEC(Value *) merged = {0};
    size_t number = 0;
    for (const Value *phi = loop->header->first; phi && phi->op == OP_PHI; phi = phi->next, number++) {
        Value *value = edges->data[0].args[number];
        if (edges->len > 1) {
            VEC(Value *) args = {0};
            for (size_t i = 0; i < edges->len; i++) vec_push(loops->func->arena, &args, edges->data[i].args[number]);
            value = block_add_phi(loops->func, block, phi->span);
            value->type = phi->type;
            value->name = phi->name;
            phi_set_args(loops->func, value, args.data, args.len);
        }
        vec_push(loops->func->arena, &merged, value);
    }
    return merged.data;
}

Value **loop_own_values(Loops *loops, const Loop *loop) {
    VEC(Value *) own = {0};
    for (Value *phi = loop->header->first; phi && phi->op == OP_PHI; phi = phi->next)
        vec_push(loops->func->arena, &own, phi);
    return own.data;
}

void loop_set_header(Loops *loops, const Loop *loop, const Edges *edges) {
    Block *header = loop->header;
    header->preds.len = 0;
    for (size_t i = 0; i < edges->len; i++) vec_push(loops->func->arena, &header->preds, edges->data[i].from);
    size_t number = 0;
    for (Value *phi = header->first; phi && phi->op == OP_PHI; phi = phi->next, number++) {
        VEC(Value *) args = {0};
        for (size_t i = 0; i < edges->len; i++) vec_push(loops->func->arena, &args, edges->data[i].args[number]);
        phi_set_args(loops->func, phi, args.data, args.len);
    }
}

void loop_leave_through(Loops *loops, const Loop *loop, Block *left, Block *through) {
    Block *header = loop->header;
    for (size_t s = 0; s < header->succs.len; s++)
        if (header->succs.data[s] == left) header->succs.data[s] = through;
    vec_push(loops->func->arena, &through->preds, header);
    for (size_t p = 0; p < left->preds.len; p++)
        if (left->preds.data[p] == header) left->preds.data[p] = through;
}

Value *loop_append(Loops *loops, Block *block, Op op, Span span, const Type *type) {
    Value *value = block_append(loops->func, block, op, span, NULL, 0);
    value->type = type;
    return value;
}

Block *loop_new_look(Loops *loops, const Loop *loop) {
    const Type *none = type_simple(loops->func->types, TY_NONE);
    Block *look = loop_place_block(loops, loop);
    loop_append(loops, look, OP_SAFEPOINT, loop->header->last->span, none);
    loop_append(loops, look, OP_JUMP, loop->header->last->span, none);
    if (!loop->handled) return look;
    Value **handled = loop->handled;
    block_set_unwind(loops->func, look, loop->handler);
    for (Value *phi = loop->handler->first; phi && phi->op == OP_PHI; phi = phi->next) {
        VEC(Value *) args = {0};
        for (uint32_t i = 0; i < phi->nargs; i++) vec_push(loops->func->arena, &args, phi->args[i]);
        vec_push(loops->func->arena, &args, *handled++);
        phi_set_args(loops->func, phi, args.data, args.len);
    }
    return look;
}

int64_t loop_round_cost(const Loop *loop) {
    return (int64_t)(loop->cost < SAFEPOINT_BUDGET ? loop->cost + 1 : SAFEPOINT_BUDGET);
}

static Value *append_spend(Loops *loops, const Loop *loop, Block *block, Value *const *args, size_t nargs) {
    Value *spent = block_append(loops->func, block, OP_SPEND, loop->header->last->span, args, nargs);
    spent->type = type_scalar(loops->func->types, SCALAR_BOOL, true);
    spent->imm.i = loop_round_cost(loop);
    return spent;
}

Value *loop_append_spend(Loops *loops, const Loop *loop, Block *block) {
    return append_spend(loops, loop, block, NULL, 0);
}

Value *loop_append_left(Loops *loops, Block *block, Span span, Value *iterator) {
    Value *left = block_append(loops->func, block, OP_ITER_LEFT, span, &iterator, 1);
    left->type = type_scalar(loops->func->types, SCALAR_INT64, true);
    return left;
}

Value *loop_append_spend_all(Loops *loops, const Loop *loop, Block *block, Value *iterator, Value *more) {
    Value *left = loop_append_left(loops, block, loop->header->last->span, iterator);
    return append_spend(loops, loop, block, (Value *[]){left, more}, more ? 2 : 1);
}
