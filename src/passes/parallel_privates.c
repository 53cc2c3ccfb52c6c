/* parallel_privates.c: arrays from outside that iterations of a loop over prange only put numbers to, as reductions:
 * h[k[i]] += 1, total += rows[i], best = np.maximum(best, rows[i]).
 *
 * In: a loop, and a store by which its iterations change what others read.  Out: the array in loop->privates, if all
 * that the loop does with it puts something to items of it by one kind of operation, and then a call that runs the loop
 * in blocks of iterations:
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

static bool is_array(const Value *value) { return value->type && value->type->kind == TY_ARRAY; }

/* ---- what the loop does with an array ---- */

typedef struct Uses {
    const ParallelLoop *loop;
    const Value *root;
    Private *private;
    bool *part; /* by Value.id: a load, and what is made of it, of a step */
} Uses;

static bool is_view(const Value *value) {
    return value->nargs > 0 && is_array(value) && is_array(value->args[0]) &&
           (value->op == OP_GETITEM || value->op == OP_VIEW || value->op == OP_CAST || value->op == OP_GETATTR);
}

static const Value *root_of(const ParallelLoop *loop, const Value *array) {
    while (loop_has(loop, array) && is_view(array)) array = array->args[0];
    return array;
}

/* Two values that are the same number, or the same part of an array, because they are found in the same way.  An item
 * that both load is the same if the loop stores to no such array. */
static bool is_same(const ParallelLoop *loop, const Value *a, const Value *b);

static bool is_never_stored(const ParallelLoop *loop, const Value *array) {
    const Value *root = root_of(loop, array);
    for (size_t i = 0; i < loop->blocks.len; i++)
        for (const Value *value = loop->blocks.data[i]->first; value; value = value->next) {
            uint32_t count = value->op == OP_SETITEM ? 1 : value->op == OP_MAP ? (uint32_t)value->imm.i : 0;
            for (uint32_t k = 0; k < count; k++)
                if (root_of(loop, value->args[k]) == root) return false;
        }
    return true;
}

static bool is_same(const ParallelLoop *loop, const Value *a, const Value *b) {
    if (a == b) return true;
    if (a->op != b->op || a->nargs != b->nargs || a->type != b->type) return false;
    switch (a->op) {
    case OP_CONST: return a->konst && b->konst && type_is_integer(a->type) && a->konst->i == b->konst->i;
    case OP_GETITEM:
        if (!is_array(a) && !is_never_stored(loop, a->args[0])) return false;
        break;
    case OP_EXTRACT:
        if (a->imm.i != b->imm.i) return false;
        break;
    case OP_CAST:
    case OP_TUPLE:
    case OP_SLICE:
    case OP_ADD:
    case OP_SUB:
    case OP_MUL:
    case OP_FLOORDIV:
    case OP_MOD: break;
    default: return false;
    }
    for (uint32_t i = 0; i < a->nargs; i++) TRY(is_same(loop, a->args[i], b->args[i]));
    return true;
}

static unsigned count_uses(const ParallelLoop *loop, const Value *of) {
    unsigned count = 0;
    for (size_t b = 0; b < loop->func->blocks.len; b++)
        for (const Value *value = loop->func->blocks.data[b]->first; value; value = value->next)
            for (uint32_t i = 0; i < value->nargs; i++) count += value->args[i] == of;
    return count;
}

/* The step puts something to `running`: as the other steps of this array do. */
static bool agrees(Uses *uses, const Value *step, const Value *running) {
    Private *private = uses->private;
    Putting putting = parallel_putting(step);
    bool first = step->nargs > 0 && step->args[0] == running;
    unsigned times = 0;
    for (uint32_t i = 0; i < step->nargs; i++) times += step->args[i] == running;
    const FuncHead *func = putting == PUT_CALL ? step->imm.func : NULL;
    if (putting == PUT_NONE || times != 1 || (!first && parallel_is_ordered(step))) return false;
    if (private->putting != PUT_NONE && (private->putting != putting || private->func != func)) return false;
  private
    ->putting = putting;
  private
    ->func = func;
    return true;
}

/* A number in a wider type of its kind: what is lost when the sum is stored is lost wherever it is put. */
static bool is_of_kind(const Type *a, const Type *b) {
    return type_is_scalar(a) && type_is_scalar(b) && type_scalar_kind(a) == type_scalar_kind(b);
}

static const Value *without_cast(const Value *value, const Type *element) {
    return value->op == OP_CAST && is_of_kind(value->args[0]->type, element) ? value->args[0] : value;
}

static const Value *sole_user(const ParallelLoop *loop, const Value *of) {
    const Value *user = NULL;
    for (size_t b = 0; b < loop->blocks.len; b++)
        for (const Value *value = loop->blocks.data[b]->first; value; value = value->next)
            for (uint32_t i = 0; i < value->nargs; i++)
                if (value->args[i] == of) user = value;
    return user && count_uses(loop, of) == 1 ? user : NULL;
}

/* a[k] = a[k] + x: the store at the end; the load and what is made of it are noted as parts. */
static bool is_scalar_step(Uses *uses, const Value *store) {
    const ParallelLoop *loop = uses->loop;
    const Type *element = type_element(store->args[0]->type);
    const Value *sum = without_cast(store->args[2], element);
    if (!type_is_scalar(element) || !is_of_kind(sum->type, element) || count_uses(loop, sum) != 1) return false;
    for (uint32_t i = 0; i < sum->nargs; i++) {
        const Value *running = sum->args[i], *load = without_cast(running, element);
        if (load->op != OP_GETITEM || !is_array(load->args[0]) || root_of(loop, load->args[0]) != uses->root) continue;
        if (sole_user(loop, running) != sum || (load != running && sole_user(loop, load) != running)) return false;
        if (!is_same(loop, load->args[0], store->args[0]) || !is_same(loop, load->args[1], store->args[1]))
            return false;
        if (load->block != store->block || !agrees(uses, sum, running)) return false;
        uses->part[load->id] = true;
        return true;
    }
    return false;
}

const Value *parallel_step_of(const Func *func, uint32_t which, const Value **running) {
    const Value *step = func->blocks.len == 1 ? func->blocks.data[0]->last->args[0] : NULL;
    unsigned times = 0;
    *running = NULL;
    if (!step || func->blocks.data[0]->last->op != OP_RETURN) return NULL;
    for (const Value *value = func->blocks.data[0]->first; value; value = value->next) {
        if (value->op == OP_PARAM && value->imm.i == which) *running = value;
        for (uint32_t i = 0; i < value->nargs; i++) times += *running && value->args[i] == *running;
    }
    return times == 1 ? step : NULL;
}

/* map a, a, x: a = a + x for every element of a part of the array.  a[k] += x also stores the part where it lies. */
static bool is_map_step(Uses *uses, const Value *map) {
    const Value *dest = map->args[0], *running;
    uint32_t which = UINT32_MAX;
    if (map->imm.i != 1 || map_is_masked(map)) return false;
    if (!map->imm.inst) return is_same(uses->loop, map->args[1], dest);
    for (uint32_t i = 1; i < map->nargs; i++) {
        if (!is_array(map->args[i]) || root_of(uses->loop, map->args[i]) != uses->root) continue;
        if (which != UINT32_MAX || !is_same(uses->loop, map->args[i], dest)) return false;
        which = i - 1;
    }
    const Value *step = which == UINT32_MAX ? NULL : parallel_step_of(map->imm.inst->func, which, &running);
    const Type *element = type_element(dest->type);
    if (!step || !type_is_scalar(element) || step->type->scalar != element->scalar ||
        running->type->scalar != element->scalar)
        return false;
    uses->private->heavy = true;
    return agrees(uses, step, running);
}

/* Whether a value that uses the array, or a part of it, does nothing with its items but that. */
static bool is_step_or_view(Uses *uses, const Value *value, const Value *array) {
    switch (value->op) {
    case OP_GETATTR: return !is_array(value) || is_view(value);
    case OP_GETITEM: return is_view(value) ? value->args[0] == array : uses->part[value->id];
    case OP_VIEW:
    case OP_CAST: return is_view(value);
    case OP_SETITEM: return value->args[0] == array && value->args[2] != array && is_scalar_step(uses, value);
    case OP_MAP: return value->args[0] == array && is_map_step(uses, value);
    case OP_CALL_FUNC: return value_calls(value, FUNC_LEN);
    default: return false;
    }
}

/* A map reads its destination at another of its operands, which may be another value for the same part. */
static bool is_source_of_step(Uses *uses, const Value *value, uint32_t operand) {
    return value->op == OP_MAP && operand > 0 && is_array(value->args[0]) &&
           root_of(uses->loop, value->args[0]) == uses->root;
}

static bool is_reduction(Uses *uses, bool stores_first) {
    const ParallelLoop *loop = uses->loop;
    for (size_t b = 0; b < loop->blocks.len; b++)
        for (const Value *value = loop->blocks.data[b]->first; value; value = value->next)
            for (uint32_t i = 0; i < value->nargs; i++) {
                const Value *array = value->args[i];
                if (!is_array(array) || root_of(loop, array) != uses->root) continue;
                if (stores_first != (value->op == OP_SETITEM)) continue;
                if (!is_source_of_step(uses, value, i) && !is_step_or_view(uses, value, array)) return false;
            }
    return true;
}

/* Whether the loop sees the array's memory under another name, too. */
static bool has_another_name(const ParallelLoop *loop, const Value *root) {
    const Value *base = root;
    while (is_view(base)) base = base->args[0];
    for (size_t b = 0; b < loop->blocks.len; b++)
        for (const Value *value = loop->blocks.data[b]->first; value; value = value->next)
            for (uint32_t i = 0; i < value->nargs; i++) {
                const Value *other = value->args[i];
                if (loop_has(loop, other) || other == root || !is_array(other)) continue;
                while (is_view(other)) other = other->args[0];
                if (other == base) return true;
            }
    return false;
}

static bool has_inner_loop(const ParallelLoop *loop) {
    for (size_t b = 0; b < loop->blocks.len; b++)
        for (const Value *value = loop->blocks.data[b]->first; value; value = value->next)
            if (value->op == OP_ITER_MORE) return true;
    return false;
}

bool parallel_make_private(ParallelLoop *loop, const Value *array) {
    Private private = {.array = array, .heavy = has_inner_loop(loop)};
    Uses uses = {loop, array, &private, ARENA_ARRAY(loop->func->arena, bool, loop->func->next_value)};
    const Type *element = type_element(array->type);
    if (array->op == OP_CONST || !type_is_scalar(element) || !strchr("buifc", type_scalar_kind(element))) return false;
    if (!is_reduction(&uses, true) || !is_reduction(&uses, false) || private.putting == PUT_NONE) return false;
    if (has_another_name(loop, array)) return false;
    vec_push(loop->func->arena, &loop->privates, private);
    return true;
}

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
