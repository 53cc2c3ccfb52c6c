/* small_arrays.c: small arrays that nobody else sees lie in the function's frame.
 *
 * In: a typed function of the host.  Out: an array of numbers with few bytes and constant extents, which is used by
 * element, by whole-array operations and by iterators alone, is a krait.cuda.local.array, filled with zeros: LLVM keeps
 * it in registers where indices become known.  It has no owner, so that nobody counts, and cannot fail to be made.
 *
 * One walk in the order of the blocks: a view on a candidate, or an iterator over one, belongs to it, and any use that
 * is not known to be harmless lets it escape; then one over the phis, which see values of later blocks.  In a loop an
 * array takes the memory of the round before: that one could be seen through a phi alone, which is an escape.  The
 * zeros stand for what np.empty leaves open, of which LLVM might assume anything; where elements are set they cost
 * nothing. */
#include <string.h> /* memcpy */

#include "passes/private.h"

enum { MOST_BYTES = 512, MOST_BYTES_OF_ALL = 4096 };

typedef struct Search {
    Func *func;
    Value **roots;        /* by Value.id: the candidate that a value is, or shares memory with; NULL: none */
    const Const **shapes; /* by the candidate's Value.id */
    bool *escapes;        /* the same */
} Search;

/* An extent that is known; NULL: it is not.  `shape` is a tuple of ints. */
static const Const *known_item(const Search *s, const Value *shape, int64_t axis);
static const Const *known_extent(const Search *s, const Value *extent) {
    if (extent->op == OP_CONST) return extent->konst;
    return extent->op == OP_EXTRACT ? known_item(s, extent->args[0], extent->imm.i) : NULL;
}

/* Of shapes that are aligned at their last axes: the one extent that is not 1. */
static const Const *known_together(const Search *s, const Value *broadcast, int64_t axis) {
    const Const *together = NULL;
    for (uint32_t i = 0; i < broadcast->nargs; i++) {
        const Value *shape = broadcast->args[i];
        int64_t place = axis - (int64_t)(broadcast->type->count - shape->type->count);
        if (place < 0) continue;
        const Const *extent = known_item(s, shape, place);
        if (!extent || (together && together->i != 1 && extent->i != 1 && together->i != extent->i)) return NULL;
        if (!together || together->i == 1) together = extent;
    }
    return together;
}

static const Const *known_item(const Search *s, const Value *shape, int64_t axis) {
    if (shape->op == OP_CONST) return shape->konst->items[axis];
    if (shape->op == OP_TUPLE) return known_extent(s, shape->args[axis]);
    if (shape->op == OP_BROADCAST) return known_together(s, shape, axis);
    if (value_attr(shape) != ATTR_ARRAY_shape) return NULL;
    const Const *known = s->shapes[shape->args[0]->id];
    return known ? known->items[axis] : NULL;
}

/* The shape of an array that may lie in the frame; NULL: it may not. */
static const Const *candidate_shape(const Search *s, const Value *value) {
    const Type *type = value->type;
    if (value->op != OP_NEW_ARRAY || type->layout != LAYOUT_C || !type->ndim || type->record) return NULL;
    if (block_unwind(value->block) || type_element_scalar(type) < 0) return NULL;
    Func *func = s->func;
    int64_t bytes = (int64_t)type_size(type_element(type));
    const Const **extents = ARENA_ARRAY(func->arena, const Const *, value->nargs);
    for (uint32_t i = 0; i < value->nargs; i++) {
        const Const *extent = extents[i] = known_extent(s, value->args[i]);
        if (!extent || extent->i < 1 || extent->i > MOST_BYTES || (bytes *= extent->i) > MOST_BYTES) return NULL;
    }
    return const_tuple(func->arena, func->types, extents, value->nargs);
}

/* What shares the memory of its first operand. */
static bool is_view(const Value *value) {
    switch (value->op) {
    case OP_GETITEM:
    case OP_GETATTR:
    case OP_ITER_TAKE:
    case OP_CAST: return type_is_counted(value->type);
    case OP_VIEW:
    case OP_ITER: return true;
    default: return false;
    }
}

/* Whether a value that uses an array as this operand keeps nothing of it. */
static bool is_harmless(const Value *value, uint32_t operand) {
    switch (value->op) {
    case OP_GETITEM:
    case OP_GETATTR:
    case OP_ITER_TAKE: return operand == 0;
    case OP_SETITEM: return operand == 0 || operand == 2;
    case OP_MAP:
    case OP_REDUCE:
    case OP_ITER_MORE: return true;
    case OP_CALL_FUNC: return value_calls(value, FUNC_LEN) || value_calls(value, FUNC_NUMPY_LOOP);
    default: return false;
    }
}

static void look_at(Search *s, Value *value) {
    if (value->op == OP_PHI) return;
    s->shapes[value->id] = candidate_shape(s, value);
    if (s->shapes[value->id]) s->roots[value->id] = value;
    for (uint32_t i = 0; i < value->nargs; i++) {
        Value *root = s->roots[value->args[i]->id];
        if (!root) continue;
        if (i == 0 && is_view(value))
            s->roots[value->id] = root;
        else if (!is_harmless(value, i) || type_is_counted(value->type))
            s->escapes[root->id] = true;
    }
}

static void look_at_phi(Search *s, const Value *phi) {
    for (uint32_t i = 0; i < phi->nargs; i++)
        if (s->roots[phi->args[i]->id]) s->escapes[s->roots[phi->args[i]->id]->id] = true;
}

static Value *put_const(Search *s, Value *at, const Const *konst) {
    Value *value = value_new(s->func, OP_CONST, at->span, NULL, 0);
    value->konst = konst;
    value->type = konst->type;
    value_insert_before(at, value);
    return value;
}

static void take_frame(Search *s, Value *array) {
    Func *func = s->func;
    TypeTable *types = func->types;
    const Type *element = type_element(array->type);
    Const *zero = ARENA_NEW(func->arena, Const);
    zero->type = element;
    const Type *dtype = type_with_items(types, TY_DTYPE, 0, &element, 1);
    Value *args[] = {put_const(s, array, s->shapes[array->id]), put_const(s, array, const_of(func->arena, dtype))};
    Value *next = array->next;
    Value *fill[] = {array, put_const(s, next, const_of(func->arena, type_simple(types, TY_ELLIPSIS))),
                     put_const(s, next, zero)};
    Value *filled = value_new(func, OP_SETITEM, array->span, fill, COUNT_OF(fill));
    filled->type = type_simple(types, TY_NONE);
    value_insert_before(next, filled);
    array->op = OP_CALL_FUNC;
    array->imm.i = 0;
    array->imm.func = &func_info[FUNC_CUDA_LOCAL_ARRAY].head;
    array->args = ARENA_ARRAY(func->arena, Value *, COUNT_OF(args));
    memcpy(array->args, args, sizeof args);
    array->nargs = COUNT_OF(args);
}

/* Into memory that nothing else can reach: no operand overlaps it but views on itself. */
static void note_apart(const Search *s, Value *map) {
    const Value *root = s->roots[map->args[0]->id];
    if (map->imm.i != 1 || !root || s->escapes[root->id]) return;
    for (uint32_t i = 1; i < map->nargs; i++)
        if (s->roots[map->args[i]->id] == root) return;
    map->flags |= VF_UNCHECKED;
}

bool pass_small_arrays(Program *program, FuncInst *inst) {
    Func *func = inst->func;
    int64_t room = MOST_BYTES_OF_ALL;
    func_compute_order(func);
    size_t nblocks = func->blocks.len;
    Search s = {func, ARENA_ARRAY(program->arena, Value *, func->next_value),
                ARENA_ARRAY(program->arena, const Const *, func->next_value),
                ARENA_ARRAY(program->arena, bool, func->next_value)};
    for (size_t b = 0; b < nblocks; b++)
        for (Value *value = func->blocks.data[b]->first; value; value = value->next) look_at(&s, value);
    for (size_t b = 0; b < nblocks; b++)
        for (Value *phi = func->blocks.data[b]->first; phi && phi->op == OP_PHI; phi = phi->next) look_at_phi(&s, phi);
    uint32_t known = func->next_value;
    for (size_t b = 0; b < nblocks; b++)
        for (Value *value = func->blocks.data[b]->first; value; value = value->next) {
            if (value->id >= known) continue; /* put there below */
            if (s.roots[value->id] == value && !s.escapes[value->id] && room > 0) {
                room -= MOST_BYTES;
                take_frame(&s, value);
            } else if (s.roots[value->id] == value) {
                s.escapes[value->id] = true;
            }
            if (value->op == OP_MAP) note_apart(&s, value);
        }
    return true;
}
