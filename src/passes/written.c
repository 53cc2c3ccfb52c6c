/* written.c: which parameters' memory a call of a function may write to.
 *
 * In: a typed program.  Out: FuncInst.writes: bit i set when the array in parameter i may be written (bit 63 speaks for
 * all from 63 on).
 *
 * The launcher needs the root's to copy back only what changed and to know which overlaps matter.  Every value that can
 * hold an array carries the set of parameters whose memory it may refer to: a parameter refers to itself, any other
 * value to what its operands refer to.  Writes are SETITEM, the destinations of MAP, library functions with
 * effect W, and calls of functions that write.  Sets only grow: a function is looked at until its own do not, and again
 * when those of one that it calls have. */
#include "passes/private.h"

static bool may_hold_array(const Type *type) {
    if (type->kind == TY_ARRAY || type->kind == TY_FLAT || type->kind == TY_LIST || type->kind == TY_CELL) return true;
    if (type_is_shared(type)) return true;
    for (uint32_t i = 0; i < type->count; i++)
        if (may_hold_array(type->items[i])) return true;
    return false;
}

static uint64_t param_bit(int64_t index) { return 1ull << (index < 63 ? index : 63); }

/* The set of a value lies in its scratch pointer. */
static uint64_t refers(const Value *value) { return (uint64_t)(uintptr_t)value->mark; }

/* The first operand that a library function may write to: a loop of NumPy says how many of its arrays it reads. */
static uint32_t first_written(const Value *call) {
    enum { INPUTS = 3 };
    const Value *inputs = value_calls(call, FUNC_NUMPY_LOOP) ? call->args[INPUTS] : NULL;
    return inputs && inputs->konst ? INPUTS + 1 + (uint32_t)inputs->konst->i : 0;
}

static uint64_t written_by(const Value *value) {
    uint64_t set = 0;
    switch (value->op) {
    case OP_SETITEM: return refers(value->args[0]);
    case OP_MAP:
        for (uint32_t i = 0; i < (uint32_t)value->imm.i; i++) set |= refers(value->args[i]);
        return set;
    case OP_THREADS:
        for (uint32_t i = (uint32_t)value->imm.i; i < value->nargs; i++)
            if (value->imm.inst->writes & param_bit(i - value->imm.i)) set |= refers(value->args[i]);
        return set;
    case OP_CALL_INST:
        for (uint32_t i = 0; i < value->nargs; i++)
            if (value->imm.inst->writes & param_bit(i)) set |= refers(value->args[i]);
        return set;
    case OP_CALL_FUNC:
        if (func_effects(value->imm.func) & EFFECT_WRITE)
            for (uint32_t i = first_written(value); i < value->nargs; i++) set |= refers(value->args[i]);
        return set;
    default: return 0;
    }
}

/* What the threads keep may refer to all that they were given. */
static bool put_into_contexts(const Value *threads) {
    bool grown = false;
    uint64_t set = 0;
    for (uint32_t i = (uint32_t)threads->imm.i; i < threads->nargs; i++) set |= refers(threads->args[i]);
    for (uint32_t i = 0; i < (uint32_t)threads->imm.i; i++) {
        Value *context = threads->args[i];
        if (!may_hold_array(context->type) || (refers(context) | set) == refers(context)) continue;
        context->mark = (void *)(uintptr_t)(refers(context) | set);
        grown = true;
    }
    return grown;
}

static bool grow(FuncInst *inst) {
    bool grown = false;
    Func *func = inst->func;
    for (size_t b = 0; b < func->blocks.len; b++) {
        for (Value *value = func->blocks.data[b]->first; value; value = value->next) {
            uint64_t set = refers(value);
            if (value->type && may_hold_array(value->type)) {
                if (value->op == OP_PARAM) set |= param_bit(value->imm.i);
                for (uint32_t i = 0; i < value->nargs; i++) set |= refers(value->args[i]);
            }
            bool into_list = value->op == OP_CALL_FUNC && value->nargs > 1 &&
                             (value->args[0]->type->kind == TY_LIST || type_is_shared(value->args[0]->type));
            for (uint32_t i = 1; into_list && i < value->nargs; i++) /* and what is put into a list out of it */
                value->args[0]->mark = (void *)(uintptr_t)(refers(value->args[0]) | refers(value->args[i]));
            if (value->op == OP_THREADS) grown |= put_into_contexts(value);
            if (value->op == OP_CELL_SET) /* what is stored in a cell may come out of it */
                value->args[0]->mark = (void *)(uintptr_t)(refers(value->args[0]) | refers(value->args[1]));
            uint64_t writes = inst->writes | written_by(value);
            grown |= set != refers(value) || writes != inst->writes;
            value->mark = (void *)(uintptr_t)set;
            inst->writes = writes;
        }
    }
    return grown;
}

bool pass_written(Program *program) {
    _Static_assert(sizeof(void *) == 8, "a set of parameters is kept in a pointer");
    VEC(FuncInst *) work = {0};
    for (size_t i = 0; i < program->count; i++) {
        func_clear_marks(program->insts[i]->func);
        program->insts[i]->queued = true;
        vec_push(program->arena, &work, program->insts[i]);
    }
    insts_find_calls(program->arena, program->insts, program->count);
    while (work.len) {
        FuncInst *inst = vec_pop(&work);
        uint64_t before = inst->writes;
        inst->queued = false;
        while (grow(inst)) continue;
        for (size_t i = 0; inst->writes != before && i < inst->callers.len; i++) {
            FuncInst *caller = inst->callers.data[i];
            if (caller->queued) continue;
            caller->queued = true;
            vec_push(program->arena, &work, caller);
        }
    }
    return true;
}
