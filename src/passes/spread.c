/* spread.c: in functions with parallel=True, expressions of whole arrays run on several cores.
 *
 * In: maps and reductions, fused.  Out: each that may be taken apart is a call of a region (parallel_make.c), whose
 * piece does the same to the items from .. to-1 along one axis: the first, or the last where the result lies the other
 * way around.
 *
 *   map d, x, y     becomes     region(extent of d, (), d, x, y),   piece(from, to, d, x, y): map d[from:to], ...
 *
 * An operand that is stretched along that axis stays whole: it has no such axis, or one of length one, which the piece
 * finds out.  What may be taken apart: functions of elements that do nothing but compute or raise; destinations that
 * lie apart from what is read, or are read at the same place only.  Where that is found out at run time, a function
 * asks it and does the one or the other.  Reductions start from their identities; least and greatest, which have none,
 * from those of the first item, so that there must be one. */
#include <string.h> /* memcpy */

#include "passes/fusion.h"
#include "passes/parallel.h"

typedef struct Spread {
    ParallelSite site;
    Value *whole; /* MAP or REDUCE */
    unsigned ndim, axis;
    Value **operands; /* arrays and scalars, each once; destinations first */
    uint32_t count, ndests;
    Func *func; /* the piece */
    Block *block;
    Value *from, *to;
} Spread;

static bool is_array(const Value *value) { return value->type->kind == TY_ARRAY; }

/* ---- what may be taken apart ---- */

static bool only_computes(const Func *func, unsigned depth) {
    enum { MAX_DEPTH = 8 };
    if (!func || depth > MAX_DEPTH) return false;
    for (size_t b = 0; b < func->blocks.len; b++)
        for (const Value *value = func->blocks.data[b]->first; value; value = value->next) {
            Effects effects = value_effects(value, true);
            if (value->op == OP_CALL_INST)
                TRY(only_computes(value->imm.inst->func, depth + 1));
            else
                TRY(!(effects & ~(Effects)(EFFECT_CONTROL | EFFECT_RAISE)));
        }
    return true;
}

static bool is_of_scalars(const Value *whole) {
    for (uint32_t i = whole->op == OP_MAP ? 0 : 1; i < whole->nargs; i++)
        TRY(type_is_scalar(is_array(whole->args[i]) ? type_element(whole->args[i]->type) : whole->args[i]->type));
    return !whole->imm.inst || only_computes(whole->imm.inst->func, 0);
}

static bool is_known_apart(const Value *dest, const Value *source) {
    return !is_array(source) || source == dest || array_is_apart(dest, source) || array_is_apart(source, dest);
}

/* Whether the destination is read nowhere, or at the same place, as far as can be told before the call. */
static bool lies_apart(const Value *map) {
    if (map->flags & VF_UNCHECKED) return true;
    for (uint32_t i = (uint32_t)map->imm.i; i < map->nargs; i++)
        if (!is_known_apart(map->args[0], map->args[i])) return false;
    return true;
}

static const Value *root_of(const Value *array) {
    while (array->nargs && is_array(array->args[0]) &&
           (array->op == OP_GETITEM || array->op == OP_VIEW || array->op == OP_FIELD || array->op == OP_CAST ||
            array->op == OP_GETATTR))
        array = array->args[0];
    return array;
}

/* Whether it reads parts of the array that it writes to: x[1:] = x[:-1]. */
static bool reads_its_own(const Value *map) {
    for (uint32_t i = (uint32_t)map->imm.i; i < map->nargs; i++)
        if (!is_known_apart(map->args[0], map->args[i]) && root_of(map->args[i]) == root_of(map->args[0])) return true;
    return false;
}

/* NULL: it may be; else why not. */
static const char *obstacle(const Value *whole) {
    if (!is_of_scalars(whole)) return "what it does for each element is more than to compute";
    if (whole->op == OP_MAP && whole->imm.i != 1) return "it has several results";
    if (whole->op == OP_MAP && !lies_apart(whole) && reads_its_own(whole))
        return "it writes to an array that may lie over one that it reads";
    return NULL;
}

static bool is_wanted(const Program *program, const Value *whole) {
    if (whole->op == OP_REDUCE) return program->parallel & PARALLEL_REDUCTIONS && fusion_axes(whole);
    return whole->op == OP_MAP && program->parallel & PARALLEL_ARRAYS && fusion_axes(whole);
}

static bool may_be_spread(const ParallelSite *site, const Value *whole) {
    if (!is_wanted(site->program, whole)) return false;
    const char *what = whole->op == OP_REDUCE ? "the reduction" : "the expression of whole arrays",
               *why = obstacle(whole);
    if (whole->flags & VF_UNCHECKED) return !why; /* it was made by another pass: the user knows nothing of it */
    if (why)
        pass_note(site->program, site->inst->func, whole->span, 1, "%s stays on one core: %s", what, why);
    else
        pass_note(site->program, site->inst->func, whole->span, 1, "%s runs on several cores", what);
    return !why;
}

static void add_operand(Spread *s, Value *value) {
    for (uint32_t i = 0; i < s->count; i++)
        if (s->operands[i] == value) return;
    s->operands[s->count++] = value;
}

static void find_operands(Spread *s) {
    Value *whole = s->whole;
    bool map = whole->op == OP_MAP;
    s->ndim = fusion_axes(whole);
    s->ndests = map ? (uint32_t)whole->imm.i : 0;
    s->axis = map && whole->args[0]->type->layout == LAYOUT_F ? s->ndim - 1 : 0;
    s->operands = ARENA_ARRAY(s->site.program->arena, Value *, whole->nargs);
    for (uint32_t i = map ? 0 : 1; i < whole->nargs; i++) add_operand(s, whole->args[i]);
}

/* ---- the piece ---- */

static Value *attribute(const Spread *s, Value *array, const char *name) {
    const Type **items = ARENA_ARRAY(s->func->arena, const Type *, array->type->ndim);
    for (unsigned i = 0; i < array->type->ndim; i++) items[i] = parallel_int(&s->site);
    const Type *type = type_tuple(s->site.program->types, items, array->type->ndim);
    Value *value = parallel_append(s->func, s->block, OP_GETATTR, type, s->site.span, &array, 1);
    value->imm.text = name;
    return value;
}

static Value *item(const Spread *s, Value *tuple, unsigned i) {
    return parallel_append_extract(s->func, s->block, tuple, i, s->site.span);
}

static Value *compute(const Spread *s, Op op, Value *a, Value *b) {
    return parallel_append(s->func, s->block, op, parallel_int(&s->site), s->site.span, (Value *[]){a, b}, 2);
}

static Value *number(const Spread *s, int64_t value) {
    return block_append_const(s->func, s->block, s->site.span,
                              const_int(s->func->arena, s->site.program->types, value));
}

/* The part of an operand that the piece sees. */
static Value *part_of(const Spread *s, Value *array, bool dest) {
    const Type *type = array->type;
    if (type->kind != TY_ARRAY || s->axis < s->ndim - type->ndim || type->ndim == 0) return array;
    unsigned axis = s->axis - (s->ndim - type->ndim), n = 0;
    Value *shape = attribute(s, array, "shape"), *strides = attribute(s, array, "strides");
    Value *from = s->from, *length = compute(s, OP_SUB, s->to, s->from);
    if (!dest) { /* 0 of an axis of length one, which stays whole, else 1 */
        Value *args[] = {compute(s, OP_SUB, item(s, shape, axis), number(s, 1)), number(s, 1)};
        Value *moves = parallel_append_func(&s->site, s->func, s->block, FUNC_PY_MIN, parallel_int(&s->site), args, 2);
        from = compute(s, OP_MUL, from, moves);
        length = compute(s, OP_ADD, compute(s, OP_MUL, compute(s, OP_SUB, length, number(s, 1)), moves), number(s, 1));
    }
    bool last = axis + 1 == type->ndim, whole_rows = axis == 0;
    bool keeps = (type->layout == LAYOUT_C && whole_rows) || (type->layout == LAYOUT_F && last);
    ArrayLayout layout = keeps ? (ArrayLayout)type->layout : LAYOUT_A;
    Value *args[2 + 2 * TYPE_MAX_NDIM];
    args[n++] = array;
    args[n++] = compute(s, OP_MUL, from, item(s, strides, axis));
    for (unsigned i = 0; i < type->ndim; i++) args[n++] = i == axis ? length : item(s, shape, i);
    for (unsigned i = 0; layout == LAYOUT_A && i < type->ndim; i++) args[n++] = item(s, strides, i);
    const Type *view = type_view(s->site.program->types, type, type->ndim, layout);
    return parallel_append(s->func, s->block, OP_VIEW, view, s->site.span, args, n);
}

/* Of a reduction: the shape of the piece. */
static Value *part_of_shape(const Spread *s, Value *shape) {
    Value *items[TYPE_MAX_NDIM];
    for (unsigned i = 0; i < s->ndim; i++)
        items[i] = i == s->axis ? compute(s, OP_SUB, s->to, s->from) : item(s, shape, i);
    return parallel_append(s->func, s->block, OP_TUPLE, shape->type, s->site.span, items, s->ndim);
}

static FuncInst *make_piece(Spread *s, const Type *results) {
    Value *whole = s->whole;
    bool reduces = whole->op == OP_REDUCE;
    uint32_t given = 2 + reduces, count = given + s->count;
    const Type **types = ARENA_ARRAY(s->site.program->arena, const Type *, count);
    Value **parts = ARENA_ARRAY(s->site.program->arena, Value *, s->count),
          **args = ARENA_ARRAY(s->site.program->arena, Value *, whole->nargs), *params[3];
    s->func = parallel_new_func(&s->site);
    s->block = block_new(s->func);
    types[0] = types[1] = parallel_int(&s->site);
    if (reduces) types[2] = whole->args[0]->type;
    for (uint32_t i = 0; i < s->count; i++) types[given + i] = s->operands[i]->type;
    for (uint32_t i = 0; i < given; i++)
        params[i] = parallel_append_param(s->func, s->block, types[i], s->site.span, i);
    for (uint32_t i = 0; i < s->count; i++)
        parts[i] = parallel_append_param(s->func, s->block, types[given + i], s->site.span, given + i);
    s->from = params[0];
    s->to = params[1];
    for (uint32_t i = 0; i < s->count; i++) parts[i] = part_of(s, parts[i], i < s->ndests);
    for (uint32_t i = 0; i < whole->nargs; i++)
        for (uint32_t k = 0; k < s->count; k++)
            if (whole->args[i] == s->operands[k]) args[i] = parts[k];
    if (reduces) args[0] = part_of_shape(s, params[2]);
    Value *part = parallel_append(s->func, s->block, whole->op, whole->type, whole->span, args, whole->nargs);
    part->imm = whole->imm;
    part->flags = whole->flags | (reduces ? 0 : VF_UNCHECKED); /* they lie apart: that is why it is taken apart */
    Value *tuple = parallel_append(s->func, s->block, OP_TUPLE, results, s->site.span, &part, reduces);
    block_append(s->func, s->block, OP_RETURN, s->site.span, &tuple, 1);
    return parallel_add_inst(&s->site, s->func, types, count, results);
}

/* ---- reductions ---- */

static FuncInst *make_join(const Spread *s, const Type *results) {
    static const Op ops[REDUCTION_COUNT] = {[REDUCTION_SUM] = OP_ADD,       [REDUCTION_PROD] = OP_MUL,
                                            [REDUCTION_MIN] = OP_CALL_FUNC, [REDUCTION_MAX] = OP_CALL_FUNC,
                                            [REDUCTION_ANY] = OP_OR,        [REDUCTION_ALL] = OP_AND};
    Func *func = parallel_new_func(&s->site);
    Block *block = block_new(func);
    const Type *types[] = {results, results};
    Value *args[2];
    for (uint32_t i = 0; i < 2; i++) args[i] = parallel_append_param(func, block, results, s->site.span, i);
    for (uint32_t i = 0; i < 2; i++) args[i] = parallel_append_extract(func, block, args[i], 0, s->site.span);
    Value *both = parallel_append(func, block, ops[s->whole->imm.i], s->whole->type, s->site.span, args, 2);
    if (both->op == OP_CALL_FUNC)
        both->imm.func = &func_info[s->whole->imm.i == REDUCTION_MIN ? FUNC_NP_MINIMUM : FUNC_NP_MAXIMUM].head;
    Value *tuple = parallel_append(func, block, OP_TUPLE, results, s->site.span, &both, 1);
    block_append(func, block, OP_RETURN, s->site.span, &tuple, 1);
    return parallel_add_inst(&s->site, func, types, 2, results);
}

/* What changes nothing; NULL: there is none. */
static const Const *identity_of(const Spread *s) {
    Const *konst = ARENA_NEW(s->site.program->arena, Const);
    Reduction kind = (Reduction)s->whole->imm.i;
    char letter = type_scalar_kind(s->whole->type);
    bool one = kind == REDUCTION_PROD || kind == REDUCTION_ALL;
    if (kind == REDUCTION_MIN || kind == REDUCTION_MAX) return NULL;
    konst->type = s->whole->type;
    if (letter == 'f')
        konst->f = one ? 1 : -0.0;
    else if (letter == 'c')
        konst->c.re = one ? 1 : -0.0, konst->c.im = one ? 0.0 : -0.0;
    else
        konst->i = one;
    return konst;
}

/* ---- in place of the whole ---- */

/* New values stand before the map or reduction. */
static Value *put(const Spread *s, Op op, const Type *type, Value *const *args, size_t nargs) {
    Value *value = value_new(s->site.inst->func, op, s->site.span, args, nargs);
    value->type = type;
    value_insert_before(s->whole, value);
    return value;
}

static Value *put_extent(const Spread *s) {
    Value *whole = s->whole, *shape = whole->args[0];
    if (whole->op == OP_MAP) {
        const Type **items = ARENA_ARRAY(s->func->arena, const Type *, s->ndim);
        for (unsigned i = 0; i < s->ndim; i++) items[i] = parallel_int(&s->site);
        shape = put(s, OP_GETATTR, type_tuple(s->site.program->types, items, s->ndim), whole->args, 1);
        shape->imm.text = "shape";
    }
    Value *extent = put(s, OP_EXTRACT, parallel_int(&s->site), &shape, 1);
    extent->imm.i = s->axis;
    return extent;
}

static Value *put_call(const Spread *s, FuncInst *inst, Value *const *args) {
    Value *call = put(s, OP_CALL_INST, inst->result, args, inst->untyped->nparams);
    call->imm.inst = inst;
    return call;
}

static Value *put_const(const Spread *s, const Const *konst) {
    Value *value = put(s, OP_CONST, konst->type, NULL, 0);
    value->konst = konst;
    return value;
}

/* The results before the first piece. */
static Value *put_first(const Spread *s, FuncInst *piece, Value **args) {
    const Const *identity = s->whole->op == OP_REDUCE ? identity_of(s) : NULL;
    if (s->whole->op == OP_MAP) return put(s, OP_TUPLE, piece->result, NULL, 0);
    if (identity) {
        Value *value = put_const(s, identity);
        return put(s, OP_TUPLE, piece->result, &value, 1);
    }
    Value *extent = args[0], *ends[] = {extent, put_const(s, const_int(s->func->arena, s->site.program->types, 1))};
    args[0] = put_const(s, const_int(s->func->arena, s->site.program->types, 0));
    args[1] = put(s, OP_CALL_FUNC, parallel_int(&s->site), ends, 2);
    args[1]->imm.func = &func_info[FUNC_PY_MIN].head;
    Value *first = put_call(s, piece, args);
    args[0] = extent;
    return first;
}

/* either(count, first, operands...): the region where the destination lies apart from what is read, else the map. */
static FuncInst *make_either(const Spread *s, FuncInst *region) {
    const Value *whole = s->whole;
    uint32_t count = region->untyped->nparams;
    Func *func = parallel_new_func(&s->site);
    Block *block = block_new(func), *apart = block_new(func), *together = block_new(func);
    Value **params = ARENA_ARRAY(func->arena, Value *, count), **args = ARENA_ARRAY(func->arena, Value *, whole->nargs),
          *test = NULL;
    const Type *boolean = type_scalar(s->site.program->types, SCALAR_BOOL, true);
    for (uint32_t i = 0; i < count; i++)
        params[i] = parallel_append_param(func, block, region->types[i], s->site.span, i);
    for (uint32_t i = 0; i < whole->nargs; i++)
        for (uint32_t k = 0; k < s->count; k++)
            if (whole->args[i] == s->operands[k]) args[i] = params[2 + k];
    for (uint32_t k = s->ndests; k < s->count; k++) {
        if (is_known_apart(whole->args[0], s->operands[k])) continue;
        Value *pair[] = {args[0], params[2 + k]};
        Value *one = parallel_append_func(&s->site, func, block, FUNC_ARRAYS_APART, boolean, pair, 2);
        test = test ? parallel_append(func, block, OP_AND, boolean, s->site.span, (Value *[]){test, one}, 2) : one;
    }
    block_branch(func, block, s->site.span, test, apart, together);
    Value *result = parallel_append_call(func, apart, region, s->site.span, params);
    block_append(func, apart, OP_RETURN, s->site.span, &result, 1);
    Value *map = parallel_append(func, together, OP_MAP, whole->type, whole->span, args, whole->nargs);
    map->imm = whole->imm;
    map->flags = whole->flags;
    result = parallel_append(func, together, OP_TUPLE, region->result, s->site.span, NULL, 0);
    block_append(func, together, OP_RETURN, s->site.span, &result, 1);
    return parallel_add_inst(&s->site, func, region->types, count, region->result);
}

static void spread(Spread *s) {
    Program *program = s->site.program;
    Value *whole = s->whole;
    bool reduces = whole->op == OP_REDUCE;
    find_operands(s);
    const Type *results = type_tuple(program->types, &whole->type, reduces);
    FuncInst *piece = make_piece(s, results), *join = reduces ? make_join(s, results) : NULL;
    FuncInst *region = parallel_make_region(&s->site, piece, join);
    Value **args = ARENA_ARRAY(program->arena, Value *, region->untyped->nparams);
    uint32_t n = 2;
    if (reduces) args[n++] = whole->args[0];
    memcpy(args + n, s->operands, s->count * sizeof *args);
    args[0] = put_extent(s);
    args[1] = put_first(s, piece, args);
    Value *call = put_call(s, reduces || lies_apart(whole) ? region : make_either(s, region), args);
    if (reduces) {
        Value *result = put(s, OP_EXTRACT, whole->type, &call, 1);
        result->name = whole->name;
        value_replace(s->site.inst->func, whole, result);
    }
    value_remove(whole);
}

bool pass_spread(Program *program) {
    size_t count = program->count;
    if (!program->parallel) return true;
    for (size_t i = 0; i < count; i++) {
        FuncInst *inst = program->insts[i];
        for (size_t b = 0; b < inst->func->blocks.len && !inst->outlined; b++)
            for (Value *value = inst->func->blocks.data[b]->first, *next; value; value = next) {
                next = value->next;
                Spread s = {.site = {program, inst, value->span}, .whole = value};
                if (may_be_spread(&s.site, value)) spread(&s);
            }
    }
    return true;
}
