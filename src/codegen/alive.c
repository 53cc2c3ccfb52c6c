/* alive.c: how many values a function keeps at one time.
 *
 * In: a function.  Out: the most values that are alive at one of its instructions.  These count in the order in which
 * they stand: a value is alive from its own to the last that uses it.  Where blocks stand as the program runs, as
 * lowering leaves them, that is too few by what a loop only hands back; each use is asked once. */
#include "codegen/lower.h"

typedef struct Order {
    Arena *arena;
    VEC(LLVMValueRef) instructions;
    HashIndex index;
} Order;

static uint64_t hash_of(LLVMValueRef instruction) { return hash_mix(0, (uint64_t)(uintptr_t)instruction); }

static void number_instructions(Order *order, LLVMValueRef function) {
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            vec_push(order->arena, &order->instructions, i);
            hash_index_add(&order->index, order->arena, hash_of(i));
        }
}

static uint32_t number_of(const Order *order, LLVMValueRef instruction) {
    uint32_t at = hash_index_first(&order->index, hash_of(instruction));
    while (order->instructions.data[at] != instruction) at = hash_index_next(&order->index, at);
    return at;
}

static uint32_t last_user(const Order *order, uint32_t own) {
    LLVMValueRef value = order->instructions.data[own];
    if (LLVMIsAAllocaInst(value)) return own; /* a local variable is a place */
    uint32_t last = own;
    for (LLVMUseRef use = LLVMGetFirstUse(value); use; use = LLVMGetNextUse(use)) {
        uint32_t at = number_of(order, LLVMGetUser(use));
        if (at > last) last = at;
    }
    return last;
}

size_t values_alive(Module *module, LLVMValueRef function) {
    Order order = {.arena = module->arena};
    number_instructions(&order, function);
    uint32_t *ended = ARENA_ARRAY(module->arena, uint32_t, order.instructions.len); /* there, so many values */
    size_t most = 0, alive = 0;
    for (uint32_t own = 0; own < order.instructions.len; own++) {
        uint32_t last = last_user(&order, own);
        alive += last > own;
        ended[last] += last > own;
        alive -= ended[own];
        if (alive > most) most = alive;
    }
    return most;
}
