/* fusion_body.c: two maps become one: the function of its elements.
 *
 * In: a map that writes a new array, and one that reads it.  Out: the second with a function of its own that does per
 * element what both did:
 *
 *   body(sources of the first, other sources of the second):
 *       x = first(...), converted to the element of the array that was
 *       return second(x, ...)
 *
 * so that every intermediate value is rounded as it was in memory.  A function of one block that a row of the library
 * gave is copied in; others are called.  A source that both read is one parameter. */
#include <string.h> /* memcpy */

#include "passes/fusion.h"

typedef struct Body {
    Program *program;
    Func *func;
    Block *block;
    uint32_t count;
    Value *sources[2 * FUSION_MAX_SOURCES]; /* in the function that the maps are in */
    Value *params[2 * FUSION_MAX_SOURCES];
} Body;

Sources fusion_sources(const Value *map) {
    if (map->op == OP_REDUCE) return (Sources){map->args + 1, map->nargs - 1, 1};
    uint32_t dests = (uint32_t)map->imm.i;
    return (Sources){map->args + dests, map->nargs - dests - map_is_masked(map), dests};
}

/* ---- what may be fused ---- */

enum { MAX_DEPTH = 4 }; /* of calls in functions of elements */

static bool does_nothing_else(const Func *func, unsigned depth) {
    if (!func || depth > MAX_DEPTH) return false;
    for (size_t b = 0; b < func->blocks.len; b++)
        for (const Value *value = func->blocks.data[b]->first; value; value = value->next) {
            if (value->op == OP_CALL_INST)
                TRY(does_nothing_else(value->imm.inst->func, depth + 1));
            else
                TRY(!(value_effects(value, true) & ~(Effects)EFFECT_CONTROL));
        }
    return true;
}

bool fusion_is_pure(const Value *map) {
    Sources sources = fusion_sources(map);
    for (uint32_t i = 0; i < sources.count; i++) {
        const Type *type = sources.values[i]->type;
        if (!type_is_scalar(type->kind == TY_ARRAY ? type_element(type) : type)) return false;
    }
    const FuncInst *inst = map->imm.inst;
    if (!inst) return true;
    return type_is_scalar(inst->result) && does_nothing_else(inst->func, 0);
}

bool fusion_is_cheap(const Value *map) {
    enum { MAX_VALUES = 8 };
    const Func *func = map->imm.inst ? map->imm.inst->func : NULL;
    if (!func) return !map->imm.inst;
    uint32_t count = 0;
    if (func->blocks.len != 1) return false;
    for (const Value *value = func->blocks.data[0]->first; value; value = value->next) {
        bool slow = value->op == OP_TRUEDIV || value->op == OP_FLOORDIV || value->op == OP_MOD || value->op == OP_POW ||
                    value->op == OP_CALL_FUNC || value->op == OP_CALL_INST;
        if (slow || ++count > MAX_VALUES) return false;
    }
    return true;
}

/* ---- making the body ---- */

static Value *append(Body *body, Op op, const Type *type, Value *const *args, size_t nargs) {
    Value *value = block_append(body->func, body->block, op, (Span){0}, args, nargs);
    value->type = type;
    return value;
}

static Value *convert(Body *body, Value *value, const Type *type) {
    return value->type == type ? value : append(body, OP_CAST, type, &value, 1);
}

/* The parameter that an operand of the map comes as. */
static Value *param_of(Body *body, Value *source) {
    for (uint32_t i = 0; i < body->count; i++)
        if (body->sources[i] == source) return body->params[i];
    const Type *type = source->type->kind == TY_ARRAY ? type_element(source->type) : source->type;
    Value *param = append(body, OP_PARAM, type, NULL, 0);
    param->imm.i = body->count;
    body->sources[body->count] = source;
    return body->params[body->count++] = param;
}

/* A copy of a function of one block, with these operands; what it returns. */
static Value *copy_in(Body *body, const Func *func, Value *const *args) {
    Value **copies = ARENA_ARRAY(body->program->arena, Value *, func->next_value), *result = NULL;
    for (const Value *value = func->blocks.data[0]->first; value; value = value->next) {
        if (value->op == OP_PARAM) {
            copies[value->id] = args[value->imm.i];
        } else if (value->op == OP_RETURN) {
            result = copies[value->args[0]->id];
        } else {
            Value **operands = ARENA_ARRAY(body->program->arena, Value *, value->nargs);
            for (uint32_t i = 0; i < value->nargs; i++) operands[i] = copies[value->args[i]->id];
            Value *copy = append(body, value->op, value->type, operands, value->nargs);
            copy->flags = value->flags;
            copy->konst = value->konst;
            copy->imm = value->imm;
            copies[value->id] = copy;
        }
    }
    return result;
}

/* What the function of a map gives for these operands, one for each of its sources. */
static Value *apply(Body *body, const Value *map, Value **args) {
    FuncInst *inst = map->imm.inst;
    if (!inst) return args[0];
    for (uint32_t i = 0; i < inst->untyped->nparams; i++) args[i] = convert(body, args[i], inst->types[i]);
    if (!inst->object && inst->func->blocks.len == 1) return copy_in(body, inst->func, args);
    Value *call = append(body, OP_CALL_INST, inst->result, args, inst->untyped->nparams);
    call->imm.inst = inst;
    return call;
}

/* Parameters stand first, in order. */
static void make_params(Body *body, const Value *writer, const Value *reader, const Value *array) {
    Sources first = fusion_sources(writer), second = fusion_sources(reader);
    for (uint32_t i = 0; i < first.count; i++) param_of(body, first.values[i]);
    for (uint32_t i = 0; i < second.count; i++)
        if (second.values[i] != array) param_of(body, second.values[i]);
}

static FuncInst *finish(Body *body, const Type *result) {
    Program *program = body->program;
    Func *func = body->func;
    FuncInst *inst = ARENA_NEW(program->arena, FuncInst);
    const Type **types = ARENA_ARRAY(program->arena, const Type *, body->count);
    func->nparams = body->count;
    func->params = ARENA_ARRAY(program->arena, Param, body->count);
    for (uint32_t i = 0; i < body->count; i++) {
        types[i] = body->params[i]->type;
        func->params[i] = (Param){.name = arena_printf(program->arena, "x%u", i + 1), .kind = PARAM_POSITIONAL_ONLY};
    }
    func->result = result;
    func_compute_order(func);
    func_compute_dominators(func);
    *inst = (FuncInst){.id = (uint32_t)program->count,
                       .untyped = func,
                       .func = func,
                       .types = types,
                       .konsts = ARENA_ARRAY(program->arena, const Const *, body->count),
                       .result = result,
                       .options = OPT_INLINE};
    program_add(program, inst);
    return inst;
}

bool fusion_absorb(Program *program, Value *reader, const Value *writer, const Value *array) {
    Sources first = fusion_sources(writer), second = fusion_sources(reader);
    if (first.count + second.count > FUSION_MAX_SOURCES) return false;
    Body body = {.program = program, .func = func_new(program->arena, program->types, "elements", NULL)};
    Value *args[FUSION_MAX_SOURCES], *made, *result;
    body.block = block_new(body.func);
    make_params(&body, writer, reader, array);
    for (uint32_t i = 0; i < first.count; i++) args[i] = param_of(&body, first.values[i]);
    made = convert(&body, apply(&body, writer, args), type_element(array->type));
    for (uint32_t i = 0; i < second.count; i++)
        args[i] = second.values[i] == array ? made : param_of(&body, second.values[i]);
    result = apply(&body, reader, args);
    append(&body, OP_RETURN, NULL, &result, 1);

    uint32_t before = second.before, behind = reader->nargs - before - second.count;
    Value **operands = ARENA_ARRAY(program->arena, Value *, before + body.count + behind);
    memcpy(operands, reader->args, before * sizeof *operands);
    memcpy(operands + before, body.sources, body.count * sizeof *operands);
    memcpy(operands + before + body.count, second.values + second.count, behind * sizeof *operands);
    reader->args = operands;
    reader->nargs = before + body.count + behind;
    reader->imm.inst = finish(&body, result->type);
    return true;
}
