/* core_loops.c: the core function of a generalised ufunc on a device, called once and by many threads at a time.
 *
 *   for i in range(m): out[i] = ...    becomes    for i in range(lane, m, lanes): out[i] = ...
 *
 * In: a kernel that asks core_spreads(), and calls one function for each place of the outer dimensions; the threads
 * along the grid's axis x, the lanes, call it for the same place.  Arrays that it writes to overlap no others: the
 * launcher sees to that.  Out: each outermost loop whose iterations are independent goes in steps of the lanes, from
 * this thread's lane on, and core_spreads() is True; or it is False, and lane 0 does it all.
 *
 * Iterations are independent if they hand on no variable, and if every array of the caller's that is written is used in
 * one such loop alone, always with the loop's item as the index of the same axis: out[i], c[i, j], rows[i][j].  What
 * else the function does, each lane does for itself: it must not write to anything, or wait. */
#include "passes/parallel.h"

typedef struct Core {
    Program *program;
    FuncInst *inst;
    Func *func;
    Scratches scratch;
    VEC(ParallelLoop) loops;
    const Value **params; /* arrays that are written, by number; NULL: none */
} Core;

static bool is_array(const Value *value) { return value->type && value->type->kind == TY_ARRAY; }

/* ---- what a function does besides storing to arrays ---- */

static bool is_store(const Value *value) {
    return value->op == OP_MAP || (value->op == OP_SETITEM && is_array(value->args[0]));
}

/* seen: the functions that were looked at, by number. */
static bool is_harmless(const Program *program, const Func *func, bool *seen) {
    for (size_t b = 0; b < func->blocks.len; b++)
        for (const Value *value = func->blocks.data[b]->first; value; value = value->next) {
            const FuncInst *callee = value_callee(value);
            bool looked_at = is_store(value) || value->op == OP_CALL_INST || value->op == OP_ITER_MORE ||
                             value->op == OP_ITER_TAKE; /* iterators are the function's own */
            if (!looked_at && value_effects(value, program->index_raises) & (EFFECT_WRITE | EFFECT_SYNC)) return false;
            if (!callee || seen[callee->id]) continue;
            seen[callee->id] = true;
            if (!is_harmless(program, callee->func, seen)) return false;
        }
    return true;
}

/* ---- loops ---- */

static const Value *item_of(const ParallelLoop *loop) {
    for (const Value *value = loop->body->first; value; value = value->next)
        if (value->op == OP_ITER_TAKE && value->args[0] == loop->iter) return value;
    return NULL;
}

static bool lies_in_one(const Core *core, const Block *block) {
    for (size_t i = 0; i < core->loops.len; i++)
        if (core->loops.data[i].inside[block->id]) return true;
    return false;
}

/* Outermost loops over a range that hand on no variable. */
static void find_loops(Core *core) {
    func_compute_order(core->func);
    for (size_t b = 0; b < core->func->blocks.len; b++)
        for (Value *value = core->func->blocks.data[b]->first; value; value = value->next) {
            if (!value_calls(value, FUNC_RANGE) || lies_in_one(core, value->block)) continue;
            Scratches own = {0}; /* the loop's marks stay */
            ParallelLoop loop = {.program = core->program,
                                 .diag = core->program->diag,
                                 .inst = core->inst,
                                 .func = core->func,
                                 .scratch = &own,
                                 .range = value};
            const Value *left;
            if (!parallel_find_loop(&loop, &left) || left || loop.head->first->op == OP_PHI) continue;
            loop.scratch = NULL;
            vec_push(core->func->arena, &core->loops, loop);
        }
}

static const ParallelLoop *loop_of(const Core *core, const Value *value) {
    for (size_t i = 0; i < core->loops.len; i++)
        if (loop_has(&core->loops.data[i], value)) return &core->loops.data[i];
    return NULL;
}

/* ---- arrays that are written ---- */

static const Value *root_of(const Value *array) {
    while (array->nargs && is_array(array->args[0]) &&
           (array->op == OP_GETITEM || array->op == OP_VIEW || array->op == OP_CAST || array->op == OP_GETATTR))
        array = array->args[0];
    return array;
}

/* A store to what this is a view on: of a parameter, noted; else it must be an iteration's own. */
static bool note_written(Core *core, const Value *store, const Value *array) {
    const Value *root = root_of(array);
    if (root->op == OP_PARAM) return core->params[root->imm.i] = root, true;
    const ParallelLoop *loop = loop_of(core, store);
    return loop && loop_has(loop, root) && root->op != OP_PHI;
}

static bool find_written(Core *core) {
    for (size_t b = 0; b < core->func->blocks.len; b++)
        for (const Value *value = core->func->blocks.data[b]->first; value; value = value->next) {
            uint32_t count = value->op == OP_MAP ? (uint32_t)value->imm.i : value->op == OP_SETITEM ? 1 : 0;
            for (uint32_t i = 0; i < count; i++)
                if (!is_array(value->args[i]) || !note_written(core, value, value->args[i])) return false;
            if (value->op != OP_CALL_INST) continue;
            for (uint32_t i = 0; i < value->nargs; i++)
                if (value->imm.inst->writes >> (i < 63 ? i : 63) & 1 &&
                    (!is_array(value->args[i]) || !note_written(core, value, value->args[i])))
                    return false;
        }
    return true;
}

/* The axis that the loop's item is the index of; -1: none, or what comes before it is not one axis each. */
static int axis_of(const Value *index, const Value *item) {
    uint32_t count = index->op == OP_TUPLE ? index->nargs : 1;
    for (uint32_t i = 0; i < count; i++) {
        const Value *part = index->op == OP_TUPLE ? index->args[i] : index;
        if (part == item) return (int)i;
        bool number = type_is_integer(part->type) && type_scalar_kind(part->type) != 'b';
        if (!number && part->type->kind != TY_SLICE) return -1;
    }
    return -1;
}

static bool asks_extents(const Value *value) {
    return value_calls(value, FUNC_LEN) || value_attr(value) == ATTR_ARRAY_shape ||
           value_attr(value) == ATTR_ARRAY_size;
}

/* Whether all uses of the array are in one loop, at the place of its item. */
static bool is_used_by_item(const Core *core, const Value *param) {
    const ParallelLoop *only = NULL;
    int axis = -1;
    for (size_t b = 0; b < core->func->blocks.len; b++)
        for (const Value *value = core->func->blocks.data[b]->first; value; value = value->next)
            for (uint32_t i = 0; i < value->nargs; i++) {
                if (value->args[i] != param || asks_extents(value)) continue;
                const ParallelLoop *loop = loop_of(core, value);
                if (!loop || (only && loop != only) || i != 0) return false;
                if (value->op != OP_GETITEM && value->op != OP_SETITEM) return false;
                int here = axis_of(value->args[1], item_of(loop));
                if (here < 0 || (only && here != axis)) return false;
                only = loop;
                axis = here;
            }
    return true;
}

static bool is_independent(Core *core) {
    bool *seen = ARENA_ARRAY(core->program->arena, bool, core->program->count), any = false;
    if (!is_harmless(core->program, core->func, seen)) return false;
    find_loops(core);
    core->params = ARENA_ARRAY(core->func->arena, const Value *, core->func->nparams);
    if (!core->loops.len || !find_written(core)) return false;
    for (uint32_t i = 0; i < core->func->nparams; i++) {
        if (!core->params[i]) continue;
        if (!is_used_by_item(core, core->params[i])) return false;
        any = true;
    }
    return any;
}

/* ---- loops in steps of the lanes ---- */

static Value *put(Core *core, Value *before, Op op, const Type *type, Value *const *args, size_t nargs) {
    Value *value = value_new(core->func, op, before->span, args, nargs);
    value->type = type;
    value_insert_before(before, value);
    return value;
}

/* cuda.grid(2)[0] or cuda.gridsize(2)[0] */
static Value *put_along_x(Core *core, Value *before, FuncId id) {
    TypeTable *types = core->program->types;
    const Type *number = type_scalar(types, SCALAR_INT64, true), *pair[] = {number, number};
    Value *two = put(core, before, OP_CONST, number, NULL, 0);
    two->konst = const_int(core->func->arena, types, 2);
    Value *both = put(core, before, OP_CALL_FUNC, type_tuple(types, pair, 2), &two, 1);
    both->imm.func = &func_info[id].head;
    Value *x = put(core, before, OP_EXTRACT, number, &both, 1);
    x->imm.i = 0;
    return x;
}

static void go_in_lanes(Core *core, Value *range) {
    const Type *number = type_scalar(core->program->types, SCALAR_INT64, true);
    Value *start = range->args[0], *step = range->args[2];
    Value *lane = put_along_x(core, range, FUNC_CUDA_GRID), *lanes = put_along_x(core, range, FUNC_CUDA_GRIDSIZE);
    if (!step->konst || step->konst->i != 1) {
        lane = put(core, range, OP_MUL, number, (Value *[]){lane, step}, 2);
        lanes = put(core, range, OP_MUL, number, (Value *[]){lanes, step}, 2);
    }
    if (!start->konst || start->konst->i != 0) lane = put(core, range, OP_ADD, number, (Value *[]){start, lane}, 2);
    Value **args = ARENA_ARRAY(core->func->arena, Value *, 3);
    args[0] = lane, args[1] = range->args[1], args[2] = lanes;
    range->args = args;
}

static bool is_written_in(const Core *core, const ParallelLoop *loop) {
    for (size_t b = 0; b < loop->blocks.len; b++)
        for (const Value *value = loop->blocks.data[b]->first; value; value = value->next)
            for (uint32_t i = 0; i < value->nargs; i++)
                if (value->args[i]->op == OP_PARAM && core->params[value->args[i]->imm.i] && !asks_extents(value))
                    return true;
    return false;
}

static bool spread(Program *program, FuncInst *inst) {
    Core core = {.program = program, .inst = inst, .func = inst->func};
    if (!is_independent(&core)) return false;
    for (size_t i = 0; i < core.loops.len; i++)
        if (is_written_in(&core, &core.loops.data[i])) go_in_lanes(&core, core.loops.data[i].range);
    return true;
}

/* ---- the kernel ---- */

/* The only call of a function in the program; NULL: there are several. */
static FuncInst *find_core(const Program *program) {
    FuncInst *only = NULL;
    for (size_t n = 0; n < program->count; n++) {
        const Func *func = program->insts[n]->func;
        for (size_t b = 0; b < func->blocks.len; b++)
            for (const Value *value = func->blocks.data[b]->first; value; value = value->next) {
                FuncInst *callee = value_callee(value);
                if (callee && n == 0 && only) return NULL;
                if (callee && n == 0) only = callee;
            }
    }
    for (size_t n = 1; n < program->count && only; n++) { /* called by others, too? */
        const Func *func = program->insts[n]->func;
        for (size_t b = 0; b < func->blocks.len; b++)
            for (const Value *value = func->blocks.data[b]->first; value; value = value->next)
                if (value_callee(value) == only) return NULL;
    }
    return only;
}

bool pass_core_loops(Program *program) {
    Func *root = program->insts[0]->func;
    for (size_t b = 0; b < root->blocks.len; b++)
        for (Value *value = root->blocks.data[b]->first, *next; value; value = next) {
            next = value->next;
            if (!value_calls(value, FUNC_CORE_SPREADS)) continue;
            TRY(pass_written(program));
            FuncInst *core = find_core(program);
            Value *known = value_new(root, OP_CONST, value->span, NULL, 0);
            known->konst = const_bool(root->arena, program->types, core && spread(program, core));
            known->type = value->type;
            value_insert_before(value, known);
            value_replace(root, value, known);
            value_remove(value);
        }
    return true;
}
