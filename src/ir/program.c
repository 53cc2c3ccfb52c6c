/* program.c: all functions of a compilation together: as text, verified, one more, without those that nobody calls. */
#include <string.h> /* memcpy */

#include "ir/ir.h"

/* "; writes 0 2": the parameters whose memory a call may write to. */
static void print_writes(Buf *buf, uint64_t writes) {
    if (!writes) return;
    buf_puts(buf, "; writes");
    for (int i = 0; i < 64; i++)
        if (writes >> i & 1) buf_printf(buf, " %d", i);
    buf_putc(buf, '\n');
}

/* "; effects read raise" */
static void print_effects(Buf *buf, Effects effects) {
    static const char *const names[] = {"read", "write", "raise", "sync"};
    buf_puts(buf, "; effects");
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (effects >> i & 1) buf_printf(buf, " %s", names[i]);
    buf_putc(buf, '\n');
}

void program_print(Buf *buf, const Program *program) {
    if (program->inner_axis || program->joins_blocks)
        buf_printf(buf, "; threads along %c%s\n", "xy"[program->inner_axis],
                   program->joins_blocks ? ", blocks joined" : "");
    const uint32_t *block = program->block;
    if (block[0] || block[1] || block[2])
        buf_printf(buf, "; written for blocks of %u, %u, %u\n", block[0], block[1], block[2]);
    for (size_t i = 0; i < program->count; i++) {
        if (i) buf_putc(buf, '\n');
        if (program->insts[i]->recursive) buf_printf(buf, "; recursive, depth %u\n", program->insts[i]->depth);
        if (program->insts[i]->has_loop) buf_puts(buf, "; loops\n");
        if (program->insts[i]->summarised) print_effects(buf, program->insts[i]->effects);
        print_writes(buf, program->insts[i]->writes);
        func_print(buf, program->insts[i]->func);
    }
}

FuncInst *func_instance(Arena *arena, TypeTable *types, Func *func) {
    FuncInst *inst = ARENA_NEW(arena, FuncInst);
    const Type **params = ARENA_ARRAY(arena, const Type *, func->nparams);
    const Type *none = type_simple(types, TY_NONE);
    for (uint32_t i = 0; i < func->nparams; i++) params[i] = none;
    for (const Value *value = func->blocks.data[0]->first; value; value = value->next)
        if (value->op == OP_PARAM) params[value->imm.i] = value->type;
    inst->untyped = inst->func = func;
    inst->types = params;
    inst->konsts = ARENA_ARRAY(arena, const Const *, func->nparams);
    inst->result = func->result ? func->result : none;
    return inst;
}

void program_add(Program *program, FuncInst *inst) {
    if (program->count >= program->room) {
        program->room = 2 * program->count + 8;
        FuncInst **grown = ARENA_ARRAY(program->arena, FuncInst *, program->room);
        if (program->count) memcpy(grown, program->insts, program->count * sizeof *grown);
        program->insts = grown;
    }
    program->insts[program->count++] = inst;
}

bool program_verify(const Program *program) {
    for (size_t i = 0; i < program->count; i++) TRY(func_verify(program->insts[i]->func, true, program->diag));
    return true;
}

/* Marks what a function calls. */
static void follow_calls(const Program *program, const FuncInst *inst, bool *called, FuncInst **work, size_t *count) {
    for (size_t b = 0; b < inst->func->blocks.len; b++)
        for (const Value *value = inst->func->blocks.data[b]->first; value; value = value->next) {
            FuncInst *callee = value_callee(value);
            if (!callee || callee->id >= program->count || called[callee->id]) continue;
            called[callee->id] = true;
            work[(*count)++] = callee;
        }
}

void program_keep_called(Program *program) {
    bool *called = ARENA_ARRAY(program->arena, bool, program->count);
    FuncInst **work = ARENA_ARRAY(program->arena, FuncInst *, program->count);
    size_t count = 1, kept = 0;
    for (size_t i = 0; i < program->count; i++) program->insts[i]->id = (uint32_t)i;
    called[0] = true;
    work[0] = program->insts[0];
    while (count) {
        FuncInst *inst = work[--count];
        follow_calls(program, inst, called, work, &count);
    }
    for (size_t i = 0; i < program->count; i++)
        if (called[i]) program->insts[kept++] = program->insts[i];
    program->count = kept;
    for (size_t i = 0; i < kept; i++) program->insts[i]->id = (uint32_t)i;
}
