/* lower_slots.c: memory of a function that follows one after the other: where an iterator keeps its place, and what an
 * operation needs while it lasts (scratch).
 *
 * In: iterators, in the order of the code.  Out: a slot in the entry block for each.  SROA makes a variable of a slot
 * in time that grows with the function, whatever the slot's part in it: where a function has many loops, those that
 * follow one another share slots.  An iterator takes the slot of an earlier one if that was used last before the
 * outermost loop around the new one begins, for then no way leads back to it.  Blocks stand in reverse post-order:
 * loops are the blocks from the target of an edge that goes back to where it starts, or more than these. */
#include "codegen/lower.h"

typedef struct Slot {
    LLVMValueRef memory;
    uint32_t last; /* number of the last block that uses it */
} Slot;

struct IteratorSlots {
    const Func *func;
    uint32_t *outermost; /* by block: number of the first block of the outermost loop around it, or its own */
    uint32_t *last;      /* by value: number of the last block that uses it; UINT32_MAX: others than loops use it */
    VEC(Slot) slots;
};

static void find_outermost(const Func *func, uint32_t *outermost) {
    size_t count = func->blocks.len;
    for (size_t b = 0; b < count; b++) outermost[b] = (uint32_t)b;
    for (size_t b = count; b-- > 0;) { /* the loop that ends last, of those that begin at a block, covers the others */
        const Block *block = func->blocks.data[b];
        for (uint32_t s = 0; s < block->succs.len; s++)
            if (block->succs.data[s]->order <= b && outermost[b] > block->succs.data[s]->order)
                outermost[b] = block->succs.data[s]->order;
    }
    for (size_t b = count; b-- > 1;) /* what a block reaches back to, all blocks between reach */
        if (outermost[b] < b && outermost[b - 1] > outermost[b]) outermost[b - 1] = outermost[b];
    for (size_t b = 0; b < count; b++) outermost[b] = outermost[outermost[b]];
}

static void find_last_uses(const Func *func, uint32_t *last) {
    for (size_t b = 0; b < func->blocks.len; b++)
        for (const Value *value = func->blocks.data[b]->first; value; value = value->next)
            for (uint32_t i = 0; i < value->nargs; i++) {
                bool loop = value->op == OP_ITER_MORE || value->op == OP_ITER_TAKE;
                uint32_t *use = &last[value->args[i]->id];
                if (!loop) *use = UINT32_MAX;
                if (*use < b) *use = (uint32_t)b;
            }
}

static struct IteratorSlots *slots_of_function(Lower *l) {
    struct IteratorSlots *slots = l->s->slots;
    if (slots && slots->func == l->func) return slots;
    slots = l->s->slots = ARENA_NEW(l->arena, struct IteratorSlots);
    slots->func = l->func;
    slots->outermost = ARENA_ARRAY(l->arena, uint32_t, l->func->blocks.len);
    slots->last = ARENA_ARRAY(l->arena, uint32_t, l->func->next_value);
    find_outermost(l->func, slots->outermost);
    find_last_uses(l->func, slots->last);
    return slots;
}

LLVMValueRef l_iterator_slot(Lower *l, LLVMTypeRef type, const char *name) {
    if (!l->inst || !l->inst->many_loops) return l_alloca(l, type, name);
    struct IteratorSlots *slots = slots_of_function(l);
    uint32_t from = slots->outermost[l->at->block->order], last = slots->last[l->at->id];
    for (size_t i = 0; i < slots->slots.len; i++) {
        Slot *slot = &slots->slots.data[i];
        if (slot->last >= from || LLVMGetAllocatedType(slot->memory) != type) continue;
        slot->last = last;
        return slot->memory;
    }
    Slot made = {l_alloca(l, type, name), last};
    vec_push(l->arena, &slots->slots, made);
    return made.memory;
}

/* ---- memory of one operation ---- */

LLVMValueRef l_take_scratch(Lower *l, LLVMTypeRef type, uint64_t bytes, const char *name) {
    struct LowerState *s = l->s;
    if (s->scratch_of != l->function) s->scratch.len = 0;
    s->scratch_of = l->function;
    for (size_t i = 0; i < s->scratch.len; i++) {
        Scratch *scratch = &s->scratch.data[i];
        if (scratch->taken || scratch->type != type || scratch->bytes != bytes) continue;
        scratch->taken = true;
        return scratch->memory;
    }
    LLVMValueRef memory = type ? l_alloca(l, type, name) : l_alloca_bytes(l, bytes, 64, name);
    vec_push(l->arena, &s->scratch, ((Scratch){memory, type, bytes, true}));
    return memory;
}

void l_give_scratch(Lower *l, LLVMValueRef memory) {
    for (size_t i = 0; i < l->s->scratch.len; i++)
        if (l->s->scratch.data[i].memory == memory) l->s->scratch.data[i].taken = false;
}
