/* latches.c: every loop goes back to its header by one edge.
 *
 * In: a typed function.  Out: headers that several edges lead back to have a block before them that takes these edges
 * and goes on to the header, with a phi for each phi of the header.  Of several such edges LLVM makes a nest of loops,
 * which it neither unrolls nor counts: the body of such a loop ends in an `if`, or has a `continue`. */
#include "passes/private.h"

static bool is_back_edge(const Block *from, const Block *header) { return from->order >= header->order; }

static size_t count_back_edges(const Block *header) {
    size_t count = 0;
    for (size_t p = 0; p < header->preds.len; p++) {
        const Block *from = header->preds.data[p];
        if (block_unwind(from) == header) return 0; /* a handler: raise edges stay where they are */
        count += is_back_edge(from, header);
    }
    return count;
}

/* What comes in along the edges that go back, or along the others, in their order. */
static Value *merged(Func *func, Block *latch, const Value *phi, const Block *header) {
    VEC(Value *) back = {0};
    for (size_t p = 0; p < header->preds.len; p++)
        if (is_back_edge(header->preds.data[p], header)) vec_push(func->arena, &back, phi->args[p]);
    Value *value = block_add_phi(func, latch, phi->span);
    value->type = phi->type;
    value->name = phi->name;
    phi_set_args(func, value, back.data, back.len);
    return value;
}

static void join_back_edges(Func *func, Block *header) {
    Block *latch = block_new(func);
    BlockList entries = {0};
    for (Value *phi = header->first; phi && phi->op == OP_PHI; phi = phi->next) {
        VEC(Value *) args = {0};
        Value *back = merged(func, latch, phi, header);
        for (size_t p = 0; p < header->preds.len; p++)
            if (!is_back_edge(header->preds.data[p], header)) vec_push(func->arena, &args, phi->args[p]);
        vec_push(func->arena, &args, back);
        phi_set_args(func, phi, args.data, args.len);
    }
    for (size_t p = 0; p < header->preds.len; p++) {
        Block *from = header->preds.data[p];
        if (!is_back_edge(from, header)) {
            vec_push(func->arena, &entries, from);
            continue;
        }
        vec_push(func->arena, &latch->preds, from);
        for (uint32_t s = 0; s < from->succs.len; s++)
            if (from->succs.data[s] == header) from->succs.data[s] = latch;
    }
    header->preds = entries;
    block_jump(func, latch, header->last->span, header);
    latch->last->type = type_simple(func->types, TY_NONE);
}

bool pass_latches(Program *program, FuncInst *inst) {
    (void)program;
    func_compute_order(inst->func);
    size_t count = inst->func->blocks.len;
    for (size_t b = 0; b < count; b++) {
        Block *block = inst->func->blocks.data[b];
        if (count_back_edges(block) > 1) join_back_edges(inst->func, block);
    }
    func_compute_order(inst->func);
    return true;
}
