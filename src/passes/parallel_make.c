/* parallel_make.c: functions made of parts of another one, and the region that runs them on several cores.
 *
 * In: the place that they are made for, values and operations.  Out: functions that are part of the program.  A region
 * is made of a piece, piece(from, to, outer values...) -> results, and of a join, which puts the results of two pieces
 * together: region(count, results, outer values...) -> results says what they do on one core. */
#include <string.h> /* memcpy, memset */

#include "passes/parallel.h"

void *parallel_scratch(Arena *arena, Scratch *scratch, size_t bytes) {
    if (bytes > scratch->bytes) {
        scratch->bytes = 2 * bytes;
        return scratch->memory = arena_alloc(arena, scratch->bytes);
    }
    return bytes ? memset(scratch->memory, 0, bytes) : NULL;
}

const Type *parallel_int(const ParallelSite *site) { return type_scalar(site->program->types, SCALAR_INT64, true); }

Func *parallel_new_func(const ParallelSite *site) {
    const Func *of = site->inst->func;
    Func *func = func_new(of->arena, site->program->types, of->name, of->source);
    func->span = site->span;
    func->object = of->object;
    return func;
}

Value *parallel_append(Func *func, Block *block, Op op, const Type *type, Span span, Value *const *args, size_t nargs) {
    Value *value = block_append(func, block, op, span, args, nargs);
    value->type = type;
    return value;
}

Value *parallel_append_param(Func *func, Block *block, const Type *type, Span span, uint32_t number) {
    Value *param = parallel_append(func, block, OP_PARAM, type, span, NULL, 0);
    param->imm.i = number;
    return param;
}

Value *parallel_append_extract(Func *func, Block *block, Value *tuple, uint32_t item, Span span) {
    Value *value = parallel_append(func, block, OP_EXTRACT, tuple->type->items[item], span, &tuple, 1);
    value->imm.i = item;
    return value;
}

Value *parallel_append_call(Func *func, Block *block, FuncInst *inst, Span span, Value *const *args) {
    Value *call = parallel_append(func, block, OP_CALL_INST, inst->result, span, args, inst->untyped->nparams);
    call->imm.inst = inst;
    return call;
}

Value *parallel_append_func(const ParallelSite *site, Func *func, Block *block, FuncId id, const Type *type,
                            Value *const *args, size_t nargs) {
    Value *call = parallel_append(func, block, OP_CALL_FUNC, type, site->span, args, nargs);
    call->imm.func = &func_info[id].head;
    return call;
}

FuncInst *parallel_add_inst(const ParallelSite *site, Func *func, const Type *const *types, size_t count,
                            const Type *result) {
    Program *program = site->program;
    FuncInst *inst = ARENA_NEW(program->arena, FuncInst);
    const Type **own = ARENA_ARRAY(program->arena, const Type *, count);
    for (size_t i = 0; i < count; i++) own[i] = types[i];
    func->nparams = (uint32_t)count;
    func->params = ARENA_ARRAY(program->arena, Param, count);
    for (size_t i = 0; i < count; i++)
        func->params[i] = (Param){.name = arena_printf(program->arena, "p%zu", i), .kind = PARAM_NORMAL};
    func->result = result;
    func_compute_order(func);
    func_compute_dominators(func);
    *inst = (FuncInst){.id = (uint32_t)program->count,
                       .object = site->inst->object,
                       .untyped = func,
                       .func = func,
                       .types = own,
                       .konsts = ARENA_ARRAY(program->arena, const Const *, count),
                       .result = result,
                       .options = site->inst->options,
                       .outlined = true};
    program_add(program, inst);
    return inst;
}

FuncInst *parallel_make_region(const ParallelSite *site, FuncInst *piece, FuncInst *join) {
    Func *func = parallel_new_func(site);
    Block *block = block_new(func);
    size_t count = piece->untyped->nparams;
    const Type **types = ARENA_ARRAY(func->arena, const Type *, count), *results = piece->result;
    Value **params = ARENA_ARRAY(func->arena, Value *, count), **args = ARENA_ARRAY(func->arena, Value *, count);
    memcpy(types, piece->types, count * sizeof *types);
    types[1] = results;
    for (uint32_t i = 0; i < count; i++) params[i] = parallel_append_param(func, block, types[i], site->span, i);
    memcpy(args, params, count * sizeof *args);
    args[0] = block_append_const(func, block, site->span, const_int(func->arena, site->program->types, 0));
    args[1] = params[0];
    Value *all = parallel_append_call(func, block, piece, site->span, args);
    if (join) all = parallel_append_call(func, block, join, site->span, (Value *[]){params[1], all});
    block_append(func, block, OP_RETURN, site->span, &all, 1);
    FuncInst *region = parallel_add_inst(site, func, types, count, results);
    region->piece = piece;
    region->join = join;
    return region;
}
