/* effects.c: what a call of each function does besides giving its result.
 *
 * In: a typed program.  Out: VF_UNCHECKED on maps whose destinations lie apart from all that they read, which need no
 * temporary arrays; FuncInst.effects and FuncInst.recursive of every function (ir/effects.c, ir/call_graph.c), after
 * all that makes checks superfluous. */
#include "passes/private.h"

static bool writes_apart(const Value *map) {
    for (uint32_t d = 0; d < (uint32_t)map->imm.i; d++)
        for (uint32_t i = (uint32_t)map->imm.i; i < map->nargs; i++) {
            const Value *dest = map->args[d], *source = map->args[i];
            if (source->type->kind != TY_ARRAY || source == dest) continue;
            if (!array_is_apart(dest, source) && !array_is_apart(source, dest)) return false;
        }
    return true;
}

bool pass_effects(Program *program) {
    for (size_t i = 0; i < program->count; i++)
        for (size_t b = 0; b < program->insts[i]->func->blocks.len; b++)
            for (Value *value = program->insts[i]->func->blocks.data[b]->first; value; value = value->next)
                if (value->op == OP_MAP && writes_apart(value)) value->flags |= VF_UNCHECKED;
    insts_find_calls(program->arena, program->insts, program->count);
    effects_summarise(program->arena, program->insts, program->count, program->index_raises);
    return true;
}
