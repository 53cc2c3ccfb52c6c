/* recursion.c: short recursive functions look at the stack, and for signals, only at every fourth depth.
 *
 * In: a typed program whose recursive functions are marked.  Out: the program with copies of the short ones; those,
 * FuncInst.depth 1 to 3, do not look.
 *
 * A function at depth d calls recursive functions at depth d + 1, behind the last again at 0: every way round leads
 * through functions that look.  What looking costs is thus shared by the calls of DEPTHS depths.  Long functions, and
 * those whose frames may be large, stay as they are: to them it is nothing, and the stack has room for few frames
 * beyond its limit. */
#include "passes/private.h"

enum {
    DEPTHS = 4,       /* 0 looks */
    SHORT = 48,       /* values of a function that is copied, at most */
    FRAME_BYTES = 64, /* of one value in it, at most */
};

static bool is_short(const Func *func) {
    uint32_t count = 0;
    for (size_t b = 0; b < func->blocks.len; b++)
        for (const Value *value = func->blocks.data[b]->first; value; value = value->next) {
            bool in_memory = value->op == OP_CELL || (value->op == OP_CALL_FUNC && value->type->kind == TY_ARRAY);
            if (in_memory || type_size(value->type) > FRAME_BYTES || ++count > SHORT) return false;
        }
    return true;
}

typedef FuncInst *Copies[DEPTHS]; /* of one function, by depth; NULL: there is none */

static FuncInst *copy_at(Program *program, const FuncInst *inst, uint32_t id, uint8_t depth) {
    FuncInst *copy = ARENA_NEW(program->arena, FuncInst);
    *copy = *inst;
    copy->id = id;
    copy->depth = depth;
    copy->func = func_clone(program->arena, inst->func);
    return copy;
}

/* The calls of recursive functions, from now on at the next depth. */
static void descend(const FuncInst *inst, const Copies *copies) {
    for (size_t b = 0; b < inst->func->blocks.len; b++)
        for (Value *value = inst->func->blocks.data[b]->first; value; value = value->next) {
            if (value->op != OP_CALL_INST || !value->imm.inst->recursive) continue;
            FuncInst *deeper = copies[value->imm.inst->id][(inst->depth + 1) % DEPTHS];
            if (deeper) value->imm.inst = deeper;
        }
}

bool pass_recursion(Program *program) {
    uint32_t most = 0, added = 0;
    for (size_t i = 0; i < program->count; i++) {
        const FuncInst *inst = program->insts[i];
        most = inst->id >= most ? inst->id + 1 : most;
        added += inst->recursive ? DEPTHS - 1 : 0;
    }
    if (!added) return true;
    Copies *copies = ARENA_ARRAY(program->arena, Copies, most); /* by FuncInst.id of the originals */
    FuncInst **insts = ARENA_ARRAY(program->arena, FuncInst *, program->count + added);
    size_t count = program->count;
    for (size_t i = 0; i < program->count; i++) {
        FuncInst *inst = insts[i] = program->insts[i];
        if (!inst->recursive || !is_short(inst->func)) continue;
        copies[inst->id][0] = inst;
        for (uint8_t depth = 1; depth < DEPTHS; depth++)
            insts[count++] = copies[inst->id][depth] = copy_at(program, inst, most++, depth);
    }
    for (size_t i = 0; i < count; i++)
        if (insts[i]->recursive) descend(insts[i], copies);
    program->insts = insts;
    program->count = count;
    program->room = count;
    return true;
}
