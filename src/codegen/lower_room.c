/* lower_room.c: how much of what a function calls becomes part of it.
 *
 * LLVM puts into a function whatever short ones it calls, a thousand of them as well, each small, and takes more than
 * linear time for what comes of that: its register allocator above all.  Of a function with many calls, those for which
 * there is no room any more stay calls.  Sizes are in values, with what the callees call in turn. */
#include <stdlib.h> /* qsort */

#include "codegen/lower.h"

/* In values, half as many in kernels, of which there are two copies; and in calls of one function that may always go
 * into it: what it calls is long then, and LLVM knows best. */
enum { ROOM = 5000, CALLS = 64 };

static int by_height(const void *a, const void *b) {
    const FuncInst *one = *(FuncInst *const *)a, *other = *(FuncInst *const *)b;
    if (one->height != other->height) return one->height < other->height ? -1 : 1;
    return (one->id > other->id) - (one->id < other->id);
}

static uint32_t size_of(const Lower *l, const FuncInst *inst) {
    uint64_t size = inst->func->next_value;
    for (size_t b = 0; b < inst->func->blocks.len && size < ROOM; b++)
        for (const Value *value = inst->func->blocks.data[b]->first; value; value = value->next) {
            const FuncInst *callee = value_callee(value);
            if (callee && callee->id < l->s->nfunctions) size += l->s->functions[callee->id].size;
        }
    return size < ROOM ? (uint32_t)size : ROOM;
}

/* Callees before callers; a function of a ring counts without those of its own height. */
void lower_measure(Lower *l) {
    FuncInst **order = ARENA_ARRAY(l->arena, FuncInst *, l->m->ninsts);
    for (size_t i = 0; i < l->m->ninsts; i++) order[i] = l->m->insts[i];
    qsort(order, l->m->ninsts, sizeof *order, by_height);
    for (size_t i = 0; i < l->m->ninsts; i++) l->s->functions[order[i]->id].size = size_of(l, order[i]);
}

void lower_make_room(Lower *l) {
    l->s->room = l->m->options.entry == ENTRY_KERNEL ? ROOM / 2 : ROOM;
    l->s->calls = 0;
}

void lower_call_if_no_room(Lower *l, const FuncInst *inst, LLVMValueRef call) {
    uint32_t size = l->s->functions[inst->id].size;
    bool has_room = l->s->room >= size;
    l->s->room -= has_room ? size : l->s->room;
    if (++l->s->calls > CALLS && !has_room && l->target->splits_long) l_call_attribute(l, call, -1, "noinline", 0);
}
