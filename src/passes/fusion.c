/* fusion.c: an expression of whole arrays is one loop nest.
 *
 * In: typed functions, in which every operator on arrays is a map into an array of its own.  Out: a map whose array one
 * other map, or one reduction, alone reads is part of that one (fusion_body.c), and its array is not made; what asked
 * for the array's shape asks for its extents.  Functions of elements that nobody calls any more are gone.
 *
 *   t = new_array(n); map t, x, y; u = new_array(n); map u, t, z     becomes     u = new_array(n); map u, x, y, z
 *
 * Nobody can tell: the first map's function does nothing but compute, so that when it runs does not matter as long as
 * what it reads is the same; between the two nothing writes but to arrays that are younger.  Intermediate values are
 * converted as they were.  Where shapes are checked, and in which order, stays as it is.  Destinations that lie over
 * what is read are lowering's to mend, for the fused map as for any other.
 *
 * An array that the second map stretches (an axis of length one, fewer axes) would be computed again for each element:
 * only if that is as cheap as reading it. */
#include "passes/fusion.h"

typedef VEC(Value *) ValueList;

typedef struct Fusion {
    Program *program;
    const Func *func;
    Arena *arena;
    ValueList *users; /* by Value.id: each once for each operand */
} Fusion;

static bool is_map_to_new(const Value *value) {
    return value->op == OP_MAP && value->imm.i == 1 && value->args[0]->op == OP_NEW_ARRAY && !map_is_masked(value);
}

static bool asks_for_shape(const Value *value) { return value_attr(value) == ATTR_ARRAY_shape; }

/* Whether a map reads the array and does nothing else to it. */
static bool only_reads(const Value *map, const Value *array) {
    Sources sources = fusion_sources(map);
    uint32_t count = 0;
    for (uint32_t i = 0; i < map->nargs; i++) count += map->args[i] == array;
    for (uint32_t i = 0; i < sources.count; i++) count -= sources.values[i] == array;
    return count == 0;
}

/* The map that writes a new array, if it and `reader` alone see its elements; else NULL. */
static Value *only_writer(const Fusion *f, const Value *reader, const Value *array) {
    const ValueList *users = &f->users[array->id];
    Value *writer = NULL;
    if (array->op != OP_NEW_ARRAY || !only_reads(reader, array)) return NULL;
    for (size_t i = 0; i < users->len; i++) {
        Value *user = users->data[i];
        if (user->op == OP_MAP && user != reader && !writer)
            writer = user;
        else if (user != reader && !asks_for_shape(user))
            return NULL;
    }
    bool fits = writer && is_map_to_new(writer) && writer->args[0] == array && writer->block == reader->block;
    return fits ? writer : NULL;
}

/* ---- what happens in between ---- */

/* Whether a value stands before another one of its block. */
static bool is_before(const Value *a, const Value *b) {
    while (b && b != a) b = b->prev;
    return b != NULL;
}

/* Writes to nothing that was there when `since` ran. */
static bool leaves_alone(const Value *value, const Value *since) {
    if (!(value_effects(value, true) & EFFECT_WRITE)) return true;
    if (value->op != OP_MAP || (value->imm.inst && !fusion_is_pure(value))) return false;
    for (uint32_t d = 0; d < (uint32_t)value->imm.i; d++) {
        const Value *dest = value->args[d];
        if (dest->op != OP_NEW_ARRAY || dest->block != since->block || !is_before(since, dest)) return false;
    }
    return true;
}

static bool may_run_later(const Value *writer, const Value *reader) {
    const Value *value = writer->next;
    while (value && value != reader && leaves_alone(value, writer)) value = value->next;
    return value == reader;
}

/* ---- what is stretched ---- */

/* The last axes, bit 0 the last one, that are known to have length one. */
static uint32_t ones_of_index(const Value *view) {
    const Type *index = view->args[1]->type;
    uint32_t count = index->kind == TY_TUPLE ? index->count : 1, axes = view->type->ndim, ones = 0, axis = 0;
    for (uint32_t i = 0; i < count; i++) {
        const Type *item = index->kind == TY_TUPLE ? index->items[i] : index;
        if (item->kind == TY_ELLIPSIS) return 0;
        if (item->kind == TY_NONE && axis < axes) ones |= 1u << (axes - 1 - axis);
        axis += !type_is_scalar(item);
    }
    return ones;
}

static uint32_t ones_of(const Value *array) {
    uint32_t ndim = array->type->ndim, ones = 0;
    if (array->op == OP_GETITEM) return ones_of_index(array);
    uint32_t first = array->op == OP_VIEW ? 2 : array->op == OP_NEW_ARRAY ? 0 : UINT32_MAX;
    for (uint32_t i = 0; first != UINT32_MAX && i < ndim; i++) {
        const Const *extent = array->args[first + i]->konst;
        if (extent && extent->i == 1) ones |= 1u << (ndim - 1 - i);
    }
    return ones;
}

/* Of all that a map reads; axes that an operand does not have are stretched, too. */
static uint32_t ones_of_sources(const Value *map, const Value *but) {
    Sources sources = fusion_sources(map);
    uint32_t ones = UINT32_MAX;
    for (uint32_t i = 0; i < sources.count; i++) {
        const Value *source = sources.values[i];
        if (source == but || source->type->kind != TY_ARRAY) continue;
        uint32_t ndim = source->type->ndim;
        ones &= ones_of(source) | (ndim < 32 ? ~(uint32_t)0 << ndim : 0);
    }
    return ones;
}

static bool is_stretched(const Value *writer, const Value *reader, const Value *array) {
    if (array->type->ndim < fusion_axes(reader)) return true;
    return ones_of_sources(writer, NULL) & ~ones_of_sources(reader, array);
}

/* ---- fusing ---- */

static void become_extents(Value *shape, const Value *array) {
    shape->op = OP_TUPLE;
    shape->args = array->args;
    shape->nargs = array->nargs;
    shape->imm.text = NULL;
}

/* NULL: they may be one; else why not. */
static const char *obstacle(const Value *writer, const Value *reader, const Value *array) {
    if (array->type->ndim > fusion_axes(reader)) return "it has more axes than that";
    if (!fusion_is_pure(writer) || !fusion_is_pure(reader)) return "elements are more than computed";
    if (!may_run_later(writer, reader)) return "something is written in between";
    bool again = is_stretched(writer, reader, array) && !fusion_is_cheap(writer);
    return again ? "it is stretched there, and would be computed again for each element" : NULL;
}

/* An array that is made for more than the one map that reads it. */
static void note_others(const Fusion *f, const Value *reader, const Value *array) {
    const ValueList *users = &f->users[array->id];
    const Value *writer = NULL, *other = NULL;
    if (array->op != OP_NEW_ARRAY || !f->program->diagnostics) return;
    for (size_t i = 0; i < users->len; i++) {
        const Value *user = users->data[i];
        if (user->op == OP_MAP && user->args[0] == array)
            writer = user;
        else if (user != reader && !asks_for_shape(user) && user->span.line)
            other = user;
    }
    if (!writer || writer == reader || !(other || writer->block != reader->block)) return;
    const char *why = other ? arena_printf(f->arena, "its array is used in line %u, too", (unsigned)other->span.line)
                            : "a loop or a branch begins or ends in between";
    pass_note(f->program, f->func, writer->span, 3, "the expression is a loop apart from its use in line %u: %s",
              (unsigned)reader->span.line, why);
}

static bool fuse_one(Fusion *f, Value *reader, Value *array) {
    Value *writer = only_writer(f, reader, array);
    if (!writer) return note_others(f, reader, array), false;
    const char *why = obstacle(writer, reader, array);
    Span span = writer->span;
    unsigned line = (unsigned)reader->span.line;
    Sources sources = fusion_sources(writer);
    if (!why && !fusion_absorb(f->program, reader, writer, array)) why = "one loop would read too many arrays";
    if (why) {
        pass_note(f->program, f->func, span, 3, "the expression is a loop apart from its use in line %u: %s", line,
                  why);
        return false;
    }
    pass_note(f->program, f->func, span, 2, "the expression is part of the loop of line %u, and its array is not made",
              line);
    for (uint32_t i = 0; i < sources.count; i++) { /* the reader uses them in the writer's place */
        ValueList *users = &f->users[sources.values[i]->id];
        for (size_t k = 0; k < users->len; k++)
            if (users->data[k] == writer) users->data[k] = reader;
    }
    for (size_t i = 0; i < f->users[array->id].len; i++)
        if (asks_for_shape(f->users[array->id].data[i])) become_extents(f->users[array->id].data[i], array);
    value_remove(writer);
    value_remove(array);
    return true;
}

/* All that one map can take in, and what that took in can. */
static bool fuse_into(Fusion *f, Value *reader) {
    bool progress = false;
    for (bool again = true; again;) {
        again = false;
        Sources sources = fusion_sources(reader);
        for (uint32_t i = 0; i < sources.count && !again; i++) again = fuse_one(f, reader, sources.values[i]);
        progress |= again;
    }
    return progress;
}

static bool fuse_function(Program *program, Func *func) {
    bool progress = false;
    Fusion f = {.program = program,
                .func = func,
                .arena = program->arena,
                .users = ARENA_ARRAY(program->arena, ValueList, func->next_value)};
    for (size_t b = 0; b < func->blocks.len; b++)
        for (Value *value = func->blocks.data[b]->first; value; value = value->next)
            for (uint32_t i = 0; i < value->nargs; i++) vec_push(f.arena, &f.users[value->args[i]->id], value);
    for (size_t b = 0; b < func->blocks.len; b++)
        for (Value *value = func->blocks.data[b]->last; value; value = value->prev)
            if (value->op == OP_MAP || value->op == OP_REDUCE) progress |= fuse_into(&f, value);
    return progress;
}

static bool has_maps(const Func *func) {
    for (size_t b = 0; b < func->blocks.len; b++)
        for (const Value *value = func->blocks.data[b]->first; value; value = value->next)
            if (value->op == OP_MAP) return true;
    return false;
}

bool pass_fusion(Program *program) {
    bool progress = false;
    size_t count = program->count;
    for (size_t i = 0; i < count; i++)
        if (has_maps(program->insts[i]->func)) progress |= fuse_function(program, program->insts[i]->func);
    if (progress) program_keep_called(program);
    return true;
}
