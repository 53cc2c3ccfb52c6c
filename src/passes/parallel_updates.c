/* parallel_updates.c: an array variable that each iteration of a loop over prange makes anew of what it was.
 *
 *   acc = acc + rows[i]      a phi of the header; in the loop a new array, and a map that writes it and reads the phi
 *
 * In: the header's phis.  Out: where the map puts something to the array as a reduction does, and nothing else reads
 * it, it becomes acc += rows[i] on a copy of what acc was before the loop: then parallel_privates.c knows what to do.
 * A loop without rounds makes no copy: behind it acc is the array that it was.  Operands must not be larger than the
 * array: a broadcast that would make it grow is refused as += refuses it. */
#include "passes/parallel.h"

#include <string.h> /* memcpy */

/* Put in front of the loop when the first copy is made: if there is a round, through `make`, and in any case `enter`,
 * where a phi is the copy or what was before. */
typedef struct Entry {
    Block *make, *enter;
} Entry;

typedef struct Update {
    ParallelLoop *loop;
    Value *phi, *init, *next, *map, *shape; /* shape: a broadcast in the loop that the new array's extents are from */
} Update;

static bool is_shape_of(const Value *value, const Value *array) {
    return value_attr(value) == ATTR_ARRAY_shape && value->args[0] == array;
}

/* The value before the loop, and the one that every iteration leaves. */
static bool find_values(Update *u) {
    const Block *head = u->loop->head;
    for (uint32_t i = 0; i < u->phi->nargs; i++) {
        Value *arg = u->phi->args[i];
        if (head->preds.data[i] == u->loop->before)
            u->init = arg;
        else if (u->next && u->next != arg)
            return false;
        else
            u->next = arg;
    }
    return u->init && u->next && u->next->op == OP_NEW_ARRAY && loop_has(u->loop, u->next) &&
           u->next->type == u->phi->type;
}

static bool is_map_of(Update *u, Value *value) {
    if (u->map || value->op != OP_MAP || value->imm.i != 1 || !value->imm.inst || map_is_masked(value)) return false;
    uint32_t which = UINT32_MAX;
    for (uint32_t i = 1; i < value->nargs; i++) {
        if (value->args[i] == u->next || (value->args[i] == u->phi && which != UINT32_MAX)) return false;
        if (value->args[i] == u->phi) which = i - 1;
    }
    const Value *running;
    if (value->args[0] != u->next || which == UINT32_MAX) return false;
    const Value *step = parallel_step_of(value->imm.inst->func, which, &running);
    if (!step || parallel_putting(step) == PUT_NONE) return false;
    if (parallel_is_ordered(step) && step->args[0] != running) return false;
    u->map = value;
    return true;
}

/* Whether the phi and the new array are used for that alone. */
static bool are_used_so(Update *u) {
    for (size_t b = 0; b < u->loop->func->blocks.len; b++)
        for (Value *value = u->loop->func->blocks.data[b]->first; value; value = value->next)
            for (uint32_t i = 0; i < value->nargs; i++) {
                const Value *arg = value->args[i];
                if (arg == u->next && value != u->phi && value != u->map && !is_map_of(u, value)) return false;
                if (arg != u->phi || !loop_has(u->loop, value)) continue;
                if (value != u->map && !is_shape_of(value, u->phi) && !is_map_of(u, value)) return false;
            }
    return u->map != NULL;
}

/* Where the extents of the new array come from: the phi itself, or a broadcast of it and others. */
static bool find_shape(Update *u) {
    for (uint32_t i = 0; i < u->next->nargs; i++) {
        Value *extent = u->next->args[i], *from = extent->op == OP_EXTRACT ? extent->args[0] : NULL;
        if (!from || extent->imm.i != i) return false;
        if (is_shape_of(from, u->phi)) continue;
        if (from->op != OP_BROADCAST || from->imm.i != 0 || !loop_has(u->loop, from)) return false;
        if ((u->shape && u->shape != from) || from->type->count != u->phi->type->ndim) return false;
        u->shape = from;
    }
    return true;
}

/* New blocks are none of an iteration's. */
static void grow_inside(ParallelLoop *loop, uint32_t before) {
    bool *inside = ARENA_ARRAY(loop->func->arena, bool, loop->func->next_block);
    memcpy(inside, loop->inside, before * sizeof *inside);
    loop->inside = inside;
}

static void replace_block(Block **blocks, size_t count, const Block *from, Block *to) {
    for (size_t i = 0; i < count; i++)
        if (blocks[i] == from) blocks[i] = to;
}

/* The edge from `before` to the header becomes: test, make if there is a round, enter. */
static Entry put_entry(ParallelLoop *loop) {
    Func *func = loop->func;
    Span span = loop->range->span;
    ParallelSite site = {loop->program, loop->inst, span};
    uint32_t nblocks = func->next_block;
    Block *before = loop->before, *head = loop->head, *test = block_new(func);
    Entry entry = {block_new(func), block_new(func)};
    grow_inside(loop, nblocks);
    replace_block(before->succs.data, before->succs.len, head, test);
    vec_push(func->arena, &test->preds, before);
    Value *length = parallel_append_func(&site, func, test, FUNC_LEN, parallel_int(&site), &loop->range, 1);
    Value *none = block_append_const(func, test, span, const_int(func->arena, site.program->types, 0));
    Value *any = parallel_append(func, test, OP_GT, loop->more->type, span, (Value *[]){length, none}, 2);
    block_branch(func, test, span, any, entry.make, entry.enter);
    block_jump(func, entry.make, span, entry.enter);
    block_append(func, entry.enter, OP_JUMP, span, NULL, 0);
    vec_push(func->arena, &entry.enter->succs, head);
    replace_block(head->preds.data, head->preds.len, before, entry.enter);
    loop->before = entry.enter;
    return entry;
}

static Value *put_before(const Update *u, Block *block, Op op, const Type *type, Value *const *args, size_t nargs) {
    Value *value = value_new(u->loop->func, op, u->phi->span, args, nargs);
    value->type = type;
    value_insert_before(block->last, value);
    return value;
}

/* A copy of what the array is before the loop, or that itself. */
static Value *put_copy(const Update *u, const Entry *entry) {
    Value *extents[TYPE_MAX_NDIM];
    const Type *items[TYPE_MAX_NDIM] = {NULL};
    ParallelSite site = {u->loop->program, u->loop->inst, u->phi->span};
    unsigned ndim = u->phi->type->ndim;
    for (unsigned i = 0; i < ndim; i++) items[i] = parallel_int(&site);
    Value *shape = put_before(u, entry->make, OP_GETATTR, type_tuple(u->loop->program->types, items, ndim), &u->init,
                              1);
    shape->imm.text = "shape";
    for (unsigned i = 0; i < ndim; i++) {
        extents[i] = put_before(u, entry->make, OP_EXTRACT, items[i], &shape, 1);
        extents[i]->imm.i = i;
    }
    Value *copy = put_before(u, entry->make, OP_NEW_ARRAY, u->phi->type, extents, ndim);
    Value *map = put_before(u, entry->make, OP_MAP, NULL, (Value *[]){copy, u->init}, 2);
    map->imm.i = 1;
    map->flags |= VF_UNCHECKED;
    Value *array = block_add_phi(u->loop->func, entry->enter, u->phi->span);
    array->type = u->phi->type;
    array->name = copy->name = u->phi->name;
    phi_set_args(u->loop->func, array, (Value *[]){u->init, copy}, 2); /* from test, from make */
    return array;
}

/* The broadcast has the array as its destination now, which must have the shape of all. */
static void make_destination(const Update *u, Value *array) {
    Value *shape = u->shape, **args = ARENA_ARRAY(u->loop->func->arena, Value *, shape->nargs + 1u);
    Value *own = value_new(u->loop->func, OP_GETATTR, shape->span, &array, 1);
    own->type = shape->type;
    own->imm.text = "shape";
    value_insert_before(shape, own);
    memcpy(args + 1, shape->args, shape->nargs * sizeof *args);
    args[0] = own;
    shape->args = args;
    shape->nargs++;
    shape->imm.i = 1;
}

void parallel_update_in_place(ParallelLoop *loop) {
    Entry entry = {NULL, NULL};
    for (Value *phi = loop->head->first, *after; phi && phi->op == OP_PHI; phi = after) {
        Update u = {.loop = loop, .phi = phi};
        after = phi->next;
        if (phi->type->kind != TY_ARRAY || !find_values(&u) || !are_used_so(&u) || !find_shape(&u)) continue;
        if (!entry.make) entry = put_entry(loop);
        Value *array = put_copy(&u, &entry);
        if (u.shape) make_destination(&u, array);
        u.map->args[0] = array;
        value_replace(loop->func, phi, array);
        value_remove(phi);
        value_remove(u.next);
    }
    if (!entry.make) return;
    func_compute_order(loop->func);
    func_compute_dominators(loop->func);
}
