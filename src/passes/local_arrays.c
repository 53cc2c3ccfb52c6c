/* local_arrays.c: no cuda.local.array outlives the memory that it has.
 *
 * In: the typed functions of a kernel.  Out: a function that may return an array of its own, or what shares memory with
 * one, gets that array from its caller, as a parameter more; callees before callers, so that an array goes up to where
 * it is used.  The array is then in the frame of a function that still runs, whoever inlines what.
 *
 * A function that calls itself, or that something else than a call in compiled code calls, cannot be given more: it is
 * refused.  So is an array that is made in a loop while the one of an earlier round may still be used, for both would
 * have one place. */
#include <stdlib.h> /* qsort */
#include <string.h> /* memcpy */

#include "passes/made_anew.h"
#include "passes/private.h"

bool type_may_refer(const Type *type) {
    bool refers = type->kind == TY_ARRAY || type->kind == TY_FLAT || type->kind == TY_ITER || type->kind == TY_CELL;
    for (uint32_t i = 0; i < type->count && !refers; i++) refers = type_may_refer(type->items[i]);
    return refers;
}

typedef VEC(Value *) Arrays;

static Arrays find_arrays(Arena *arena, const Func *func) {
    Arrays found = {0};
    for (size_t b = 0; b < func->blocks.len; b++)
        for (Value *value = func->blocks.data[b]->first; value; value = value->next)
            if (value_calls(value, FUNC_CUDA_LOCAL_ARRAY)) vec_push(arena, &found, value);
    return found;
}

/* The return statement that what `array` gave may leave by; NULL: there is none. */
static const Value *find_leaving(const Func *func, Value *array) {
    made_anew_mark(func, array, type_may_refer);
    for (size_t b = 0; b < func->blocks.len; b++) {
        const Value *last = func->blocks.data[b]->last;
        if (last->op == OP_RETURN && last->nargs && last->args[0]->mark) return last;
    }
    return NULL;
}

/* ---- a parameter more ---- */

static Func *with_param(Arena *arena, const Func *func, const char *name) {
    Func *more = ARENA_NEW(arena, Func);
    *more = *func;
    more->params = ARENA_ARRAY(arena, Param, func->nparams + 1);
    if (func->nparams) memcpy(more->params, func->params, func->nparams * sizeof *func->params);
    more->params[more->nparams++] = (Param){.name = name, .kind = PARAM_NORMAL};
    return more;
}

static void add_param(Arena *arena, FuncInst *inst, Value *array) {
    uint32_t count = inst->untyped->nparams;
    const Type **types = ARENA_ARRAY(arena, const Type *, count + 1);
    const Const **konsts = ARENA_ARRAY(arena, const Const *, count + 1);
    const char *name = array->name ? array->name : "array";
    for (uint32_t i = 0; i < count; i++) types[i] = inst->types[i], konsts[i] = inst->konsts ? inst->konsts[i] : NULL;
    types[count] = array->type;
    inst->types = types;
    inst->konsts = konsts;
    inst->untyped = with_param(arena, inst->untyped, name);
    inst->func->params = inst->untyped->params;
    inst->func->nparams = count + 1;
    Value *param = value_new(inst->func, OP_PARAM, array->span, NULL, 0);
    param->type = array->type;
    param->name = array->name;
    param->imm.i = count;
    Value *first = inst->func->blocks.data[0]->first;
    while (first->op == OP_PARAM) first = first->next;
    value_insert_before(first, param);
    value_replace(inst->func, array, param);
    value_remove(array);
    func_renumber(inst->func); /* a parameter's number is its place */
}

static Value *put_before(Func *func, Value *at, const Value *like, Value *const *args) {
    Value *value = value_new(func, like->op, at->span, args, like->nargs);
    value->konst = like->konst;
    value->type = like->type;
    value->name = like->name;
    value->imm = like->imm;
    value_insert_before(at, value);
    return value;
}

/* Its operands are constants. */
static Value *make_array(Func *func, Value *at, const Value *array) {
    Value **args = ARENA_ARRAY(func->arena, Value *, array->nargs);
    for (uint32_t i = 0; i < array->nargs; i++) {
        Value konst = {.op = OP_CONST, .konst = array->args[i]->konst, .type = array->args[i]->type};
        args[i] = put_before(func, at, &konst, NULL);
    }
    return put_before(func, at, array, args);
}

static void add_arguments(const FuncInst *callee, FuncInst *caller, const Value *array) {
    Func *func = caller->func;
    for (size_t b = 0; b < func->blocks.len; b++)
        for (Value *call = func->blocks.data[b]->first; call; call = call->next) {
            if (call->op != OP_CALL_INST || call->imm.inst != callee) continue;
            Value **args = ARENA_ARRAY(func->arena, Value *, call->nargs + 1);
            if (call->nargs) memcpy(args, call->args, call->nargs * sizeof *args);
            args[call->nargs] = make_array(func, call, array);
            call->args = args;
            call->nargs++;
        }
}

/* ---- functions that return what is their own ---- */

static bool is_called_otherwise(const Program *program, const FuncInst *inst) {
    for (size_t i = 0; i < program->count; i++) {
        const Func *func = program->insts[i]->func;
        for (size_t b = 0; b < func->blocks.len; b++)
            for (const Value *value = func->blocks.data[b]->first; value; value = value->next)
                if (value_callee(value) == inst && value->op != OP_CALL_INST) return true;
    }
    return inst == program->insts[0];
}

static bool hand_up(Program *program, FuncInst *inst, Value *array) {
    const Value *leaving = find_leaving(inst->func, array);
    if (!leaving) return true;
    bool otherwise = is_called_otherwise(program, inst);
    if (inst->recursive || otherwise) {
        diag_fail(program->diag, DIAG_UNSUPPORTED, inst->func->source, leaving->span,
                  "a cuda.local.array ends with the function that makes it, and %s cannot take it from its caller",
                  otherwise ? "this one" : "one that calls itself");
        diag_hint(program->diag, "make the array in the caller, and pass it");
        return false;
    }
    for (size_t i = 0; i < program->count; i++) add_arguments(inst, program->insts[i], array);
    add_param(program->arena, inst, array);
    return true;
}

static bool check_made_anew(Program *program, const Func *func, const Arrays *arrays) {
    for (size_t i = 0; i < arrays->len; i++) {
        if (!made_anew_meets_older(program->arena, func, arrays->data[i], type_may_refer)) continue;
        diag_fail(program->diag, DIAG_UNSUPPORTED, func->source, arrays->data[i]->span,
                  "a cuda.local.array is made here while the one that was made here before may still be in use: they "
                  "would be one");
        diag_hint(program->diag, "make as many arrays as are used together before the loop");
        return false;
    }
    return true;
}

static int by_height(const void *a, const void *b) {
    const FuncInst *one = *(FuncInst *const *)a, *other = *(FuncInst *const *)b;
    if (one->height != other->height) return one->height < other->height ? -1 : 1;
    return one->id < other->id ? -1 : one->id > other->id;
}

static bool has_arrays(const Program *program) {
    for (size_t i = 0; i < program->count; i++)
        if (find_arrays(program->arena, program->insts[i]->func).len) return true;
    return false;
}

bool pass_local_arrays(Program *program) {
    if (!has_arrays(program)) return true;
    insts_find_calls(program->arena, program->insts, program->count);
    FuncInst **upwards = ARENA_ARRAY(program->arena, FuncInst *, program->count);
    memcpy(upwards, program->insts, program->count * sizeof *upwards);
    qsort(upwards, program->count, sizeof *upwards, by_height);
    for (size_t i = 0; i < program->count; i++) {
        Arrays arrays = find_arrays(program->arena, upwards[i]->func);
        TRY(check_made_anew(program, upwards[i]->func, &arrays));
        for (size_t k = 0; k < arrays.len; k++) TRY(hand_up(program, upwards[i], arrays.data[k]));
    }
    return true;
}
