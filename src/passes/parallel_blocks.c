/* parallel_blocks.c: a loop over prange whose iterations put numbers to arrays from outside runs in blocks of
 * iterations, each with arrays of its own.
 *
 * In: a loop with arrays in loop->privates, its functions.  Out: a call that runs the loop in blocks:
 *
 *   one(b, ...)            the iterations of block b, by the loop's piece: block 0 puts to the array itself, each other
 *                          one to an array of its own, which begins with what changes nothing
 *   blocks(from, to, ...)  these one after the other, their results put together: the piece of the region
 *   merge(...)             the arrays of blocks 1, 2, ... put to the array itself, in this order
 *
 * How many blocks there are follows from the length of the loop and the sizes of the arrays, so that the result is the
 * same on every machine.  Where the arrays are large beside the work there is one, which is the loop as it stands. */
#include "passes/parallel.h"

#include <string.h> /* memcpy */

enum { MOST_BLOCKS = 64, WORTH = 8, MOST_ELEMENTS = 1 << 25 };

/* ---- functions of blocks ---- */

typedef struct Blocks {
    ParallelLoop *loop;
    ParallelSite site;
    FuncInst *piece, *join;
    Value *const *outer;
    uint32_t nouter;
    Func *func; /* that is being made */
    Block *block;
} Blocks;

static Value *number(const Blocks *m, int64_t value) {
    return block_append_const(m->func, m->block, m->site.span,
                              const_int(m->func->arena, m->site.program->types, value));
}

static Value *compute(const Blocks *m, Op op, Value *a, Value *b) {
    Value *value = parallel_append(m->func, m->block, op, parallel_int(&m->site), m->site.span, (Value *[]){a, b}, 2);
    if (op == OP_FLOORDIV) value->flags |= VF_UNCHECKED; /* by numbers that are at least one */
    return value;
}

static Value *of_two(const Blocks *m, FuncId id, Value *a, Value *b) {
    return parallel_append_func(&m->site, m->func, m->block, id, parallel_int(&m->site), (Value *[]){a, b}, 2);
}

static Value *extent(const Blocks *m, Value *array, unsigned axis) {
    const Type **items = ARENA_ARRAY(m->func->arena, const Type *, array->type->ndim);
    for (unsigned i = 0; i < array->type->ndim; i++) items[i] = parallel_int(&m->site);
    const Type *type = type_tuple(m->site.program->types, items, array->type->ndim);
    Value *shape = parallel_append(m->func, m->block, OP_GETATTR, type, m->site.span, &array, 1);
    shape->imm.text = "shape";
    return parallel_append_extract(m->func, m->block, shape, axis, m->site.span);
}

static Value *elements(const Blocks *m, Value *array) {
    Value *size = number(m, 1);
    for (unsigned i = 0; i < array->type->ndim; i++) size = compute(m, OP_MUL, size, extent(m, array, i));
    return size;
}

/* Block b's array, b > 0, in the room that all of them have. */
static Value *array_of_block(const Blocks *m, Value *room, Value *b, Value *like) {
    const Type *type = like->type;
    Value *args[2 + 2 * TYPE_MAX_NDIM], *bytes = number(m, (int64_t)type_size(type_element(type)));
    unsigned n = 2;
    args[0] = room;
    args[1] = compute(m, OP_MUL, compute(m, OP_MUL, compute(m, OP_SUB, b, number(m, 1)), elements(m, like)), bytes);
    for (unsigned i = 0; i < type->ndim; i++) args[n++] = extent(m, like, i);
    for (unsigned i = type->ndim; type->layout == LAYOUT_A && i-- > 0; n++) {
        args[2 + type->ndim + i] = bytes;
        bytes = compute(m, OP_MUL, bytes, extent(m, like, i));
    }
    return parallel_append(m->func, m->block, OP_VIEW, type, m->site.span, args, n);
}

static void begin(Blocks *m) {
    m->func = parallel_new_func(&m->site);
    m->block = block_new(m->func);
}

static Value *param(const Blocks *m, const Type *type, uint32_t number) {
    return parallel_append_param(m->func, m->block, type, m->site.span, number);
}

static Value *call(const Blocks *m, FuncInst *inst, Value *const *args) {
    return parallel_append_call(m->func, m->block, inst, m->site.span, args);
}

static void give(const Blocks *m, Block *block, Value *result) {
    block_append(m->func, block, OP_RETURN, m->site.span, &result, 1);
}

/* Sets every element of an array to what changes nothing. */
static void fill(const Blocks *m, const Private *private, Value *array) {
    const Type *element = type_element(array->type);
    Blocks body = *m;
    begin(&body);
    give(&body, body.block, param(&body, element, 0));
    FuncInst *inst = parallel_add_inst(&m->site, body.func, &element, 1, element);
    const Const *konst = parallel_identity(m->func->arena, element, private->putting, private->func);
    Value *args[] = {array, block_append_const(m->func, m->block, m->site.span, konst)};
    Value *map = parallel_append(m->func, m->block, OP_MAP, NULL, m->site.span, args, 2);
    map->imm.i = 1;
    map->imm.inst = inst;
    map->flags |= VF_UNCHECKED;
}

/* Puts every element of one array to that of another. */
static void put(const Blocks *m, const Private *private, Value *array, Value *more) {
    static const Op ops[] = {[PUT_SUM] = OP_ADD, [PUT_PRODUCT] = OP_MUL, [PUT_CALL] = OP_CALL_FUNC,
                             [PUT_AND] = OP_AND, [PUT_OR] = OP_OR,       [PUT_XOR] = OP_XOR};
    const Type *element = type_element(array->type), *types[] = {element, element};
    Blocks body = *m;
    begin(&body);
    Value *both[] = {param(&body, element, 0), param(&body, element, 1)};
    Value *step = parallel_append(body.func, body.block, ops[private->putting], element, m->site.span, both, 2);
    step->imm.func = private->func;
    give(&body, body.block, step);
    FuncInst *inst = parallel_add_inst(&m->site, body.func, types, 2, element);
    Value *args[] = {array, array, more};
    Value *map = parallel_append(m->func, m->block, OP_MAP, NULL, m->site.span, args, 3);
    map->imm.i = 1;
    map->imm.inst = inst;
    map->flags |= VF_UNCHECKED; /* the arrays of blocks lie apart from all others */
}

/* Parameters: b, or from and to; the loop's length, the number of blocks, the rooms, the values from outside. */
static uint32_t list_types(const Blocks *m, uint32_t first, const Type **types, Value **params) {
    uint32_t n = 0, nprivates = (uint32_t)m->loop->privates.len;
    for (; n < first + 2; n++) types[n] = parallel_int(&m->site);
    for (uint32_t k = 0; k < nprivates; k++)
        types[n++] = type_array(m->site.program->types, type_element(m->loop->privates.data[k].array->type), 1,
                                LAYOUT_C, false);
    for (uint32_t k = 0; k < m->nouter; k++) types[n++] = m->outer[k]->type;
    for (uint32_t k = 0; k < n; k++) params[k] = param(m, types[k], k);
    return n;
}

static FuncInst *make_one(Blocks *m) {
    uint32_t nprivates = (uint32_t)m->loop->privates.len, room = 3 + nprivates + m->nouter;
    const Type **types = ARENA_ARRAY(m->loop->func->arena, const Type *, room);
    Value **params = ARENA_ARRAY(m->loop->func->arena, Value *, room),
          **args = ARENA_ARRAY(m->loop->func->arena, Value *, room);
    begin(m);
    uint32_t count = list_types(m, 1, types, params);
    Value *b = params[0], *length = params[1], *blocks = params[2], **outer = params + 3 + nprivates;
    args[0] = compute(m, OP_FLOORDIV, compute(m, OP_MUL, b, length), blocks);
    args[1] = compute(m, OP_FLOORDIV, compute(m, OP_MUL, compute(m, OP_ADD, b, number(m, 1)), length), blocks);
    memcpy(args + 2, outer, m->nouter * sizeof *args);
    Value *later = parallel_append(m->func, m->block, OP_GT, m->loop->more->type, m->site.span,
                                   (Value *[]){b, number(m, 0)}, 2);
    Block *own = block_new(m->func), *itself = block_new(m->func);
    block_branch(m->func, m->block, m->site.span, later, own, itself);
    m->block = itself;
    give(m, itself, call(m, m->piece, args));
    m->block = own;
    for (uint32_t k = 0; k < nprivates; k++)
        for (uint32_t i = 0; i < m->nouter; i++) {
            if (m->outer[i] != m->loop->privates.data[k].array) continue;
            args[2 + i] = array_of_block(m, params[3 + k], b, outer[i]);
            fill(m, &m->loop->privates.data[k], args[2 + i]);
        }
    give(m, own, call(m, m->piece, args));
    return parallel_add_inst(&m->site, m->func, types, count, m->piece->result);
}

/* The header of a loop over b = first, first + 1, ... < beyond; m->block becomes its body. */
typedef struct Counting {
    Block *before, *head, *exit;
    Value *b, *running; /* phis; running: NULL, or what the rounds make of it */
} Counting;

static Counting begin_loop(Blocks *m, Value *first, Value *beyond, Value *running) {
    Counting c = {m->block, block_new(m->func), NULL, NULL, NULL};
    Block *body = block_new(m->func);
    c.exit = block_new(m->func);
    block_jump(m->func, c.before, m->site.span, c.head);
    c.b = block_add_phi(m->func, c.head, m->site.span);
    c.b->type = first->type;
    if (running) {
        c.running = block_add_phi(m->func, c.head, m->site.span);
        c.running->type = running->type;
    }
    Value *more = parallel_append(m->func, c.head, OP_LT, m->loop->more->type, m->site.span, (Value *[]){c.b, beyond},
                                  2);
    block_branch(m->func, c.head, m->site.span, more, body, c.exit);
    m->block = body;
    return c;
}

static void end_loop(Blocks *m, const Counting *c, Value *first, Value *running, Value *next) {
    Value *b = compute(m, OP_ADD, c->b, number(m, 1));
    block_jump(m->func, m->block, m->site.span, c->head);
    phi_set_args(m->func, c->b, (Value *[]){first, b}, 2);
    if (c->running) phi_set_args(m->func, c->running, (Value *[]){running, next}, 2);
    m->block = c->exit;
}

static FuncInst *make_blocks(Blocks *m, FuncInst *one) {
    uint32_t nprivates = (uint32_t)m->loop->privates.len, room = 4 + nprivates + m->nouter;
    const Type **types = ARENA_ARRAY(m->loop->func->arena, const Type *, room);
    Value **params = ARENA_ARRAY(m->loop->func->arena, Value *, room);
    begin(m);
    uint32_t count = list_types(m, 2, types, params);
    Value *to = params[1], **args = params + 1; /* one(b, length, ...) */
    args[0] = params[0];
    Value *first = call(m, one, args), *second = compute(m, OP_ADD, params[0], number(m, 1));
    Counting c = begin_loop(m, second, to, m->join ? first : NULL);
    args[0] = c.b;
    Value *next = call(m, one, args);
    if (m->join) next = call(m, m->join, (Value *[]){c.running, next});
    end_loop(m, &c, second, first, next);
    give(m, m->block, m->join ? c.running : first);
    return parallel_add_inst(&m->site, m->func, types, count, m->piece->result);
}

/* merge(blocks, rooms..., arrays...) */
static FuncInst *make_merge(Blocks *m) {
    uint32_t nprivates = (uint32_t)m->loop->privates.len, count = 1 + 2 * nprivates;
    const Type **types = ARENA_ARRAY(m->loop->func->arena, const Type *, count),
               *nothing = type_tuple(m->site.program->types, NULL, 0);
    Value **params = ARENA_ARRAY(m->loop->func->arena, Value *, count);
    begin(m);
    types[0] = parallel_int(&m->site);
    for (uint32_t k = 0; k < nprivates; k++) {
        const Type *array = types[1 + nprivates + k] = m->loop->privates.data[k].array->type;
        types[1 + k] = type_array(m->site.program->types, type_element(array), 1, LAYOUT_C, false);
    }
    for (uint32_t k = 0; k < count; k++) params[k] = param(m, types[k], k);
    Value *first = number(m, 1);
    Counting c = begin_loop(m, first, params[0], NULL);
    for (uint32_t k = 0; k < nprivates; k++) {
        Value *array = params[1 + nprivates + k];
        put(m, &m->loop->privates.data[k], array, array_of_block(m, params[1 + k], c.b, array));
    }
    end_loop(m, &c, first, NULL, NULL);
    give(m, m->block, parallel_append(m->func, m->block, OP_TUPLE, nothing, m->site.span, NULL, 0));
    return parallel_add_inst(&m->site, m->func, types, count, nothing);
}

/* ---- in place of the loop ---- */

static Value *count_blocks(const Blocks *m, Value *length) {
    Value *most = of_two(m, FUNC_PY_MIN, number(m, MOST_BLOCKS), compute(m, OP_FLOORDIV, length, number(m, WORTH)));
    for (size_t k = 0; k < m->loop->privates.len; k++) {
        const Private *private = &m->loop->privates.data[k];
        Value *size = of_two(m, FUNC_PY_MAX, elements(m, (Value *)private->array), number(m, 1));
        most = of_two(m, FUNC_PY_MIN, most, compute(m, OP_FLOORDIV, number(m, MOST_ELEMENTS), size));
        if (private->heavy) continue;
        Value *worth = compute(m, OP_FLOORDIV, length, compute(m, OP_MUL, size, number(m, WORTH)));
        most = of_two(m, FUNC_PY_MIN, most, worth);
    }
    return of_two(m, FUNC_PY_MAX, most, number(m, 1));
}

Value *parallel_call_in_blocks(ParallelLoop *loop, FuncInst *piece, FuncInst *join, Value *length, Value *first,
                               Value *const *outer, uint32_t nouter) {
    ParallelSite site = {loop->program, loop->inst, loop->range->span};
    Blocks made = {loop, site, piece, join, outer, nouter, NULL, NULL},
           here = {loop, site, piece, join, outer, nouter, loop->func, loop->head};
    FuncInst *blocks = make_blocks(&made, make_one(&made)), *merge = make_merge(&made);
    FuncInst *region = parallel_make_region(&site, blocks, join);
    uint32_t nprivates = (uint32_t)loop->privates.len, n = 4;
    Value **args = ARENA_ARRAY(loop->func->arena, Value *, 4 + nprivates + nouter),
          **merged = ARENA_ARRAY(loop->func->arena, Value *, 1 + 2 * nprivates);
    args[0] = merged[0] = args[3] = count_blocks(&here, length);
    args[1] = first;
    args[2] = length;
    for (uint32_t k = 0; k < nprivates; k++) {
        Value *array = (Value *)loop->privates.data[k].array;
        Value *size = compute(&here, OP_MUL, compute(&here, OP_SUB, args[0], number(&here, 1)), elements(&here, array));
        const Type *type = type_array(site.program->types, type_element(array->type), 1, LAYOUT_C, false);
        merged[1 + k] = args[n++] = parallel_append(loop->func, loop->head, OP_NEW_ARRAY, type, site.span, &size, 1);
        merged[1 + nprivates + k] = array;
    }
    memcpy(args + n, outer, nouter * sizeof *args);
    Value *result = call(&here, region, args);
    call(&here, merge, merged);
    merge->outlined = false; /* its maps may be taken apart */
    return result;
}
