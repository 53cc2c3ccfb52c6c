/* effects.c: what a call of each function does besides giving its result.
 *
 * In: a typed program.  Out: FuncInst.effects and FuncInst.recursive of every function (ir/effects.c, ir/call_graph.c),
 * after all that makes checks superfluous. */
#include "passes/private.h"

bool pass_effects(Program *program) {
    insts_find_calls(program->arena, program->insts, program->count);
    effects_summarise(program->arena, program->insts, program->count, program->index_raises);
    return true;
}
