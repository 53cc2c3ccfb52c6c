/* shared.c: whether the shared arrays of a kernel fit a block, and what operates on them.
 *
 * In: a typed kernel and the functions it calls.  Out: VF_OF_BLOCK on atomic operations of shared arrays, which no
 * other block comes to; the kernel is refused if the arrays do not fit.  Each array of constant shape has a place of
 * its own, wherever it stands: their sizes are added up.  What a launch asks for beyond them it checks itself. */
#include "library/library.h" /* call_array_request */
#include "passes/private.h"

enum { MAX_SHARED = 49152 }; /* of a block, whatever the GPU: what is dynamic may be more */

static bool is_shared_array(const Value *array) {
    while (array->op == OP_CAST) array = array->args[0];
    return value_calls(array, FUNC_CUDA_SHARED_ARRAY);
}

static bool is_atomic(const Value *value) {
    return value->op == OP_CALL_FUNC && value->nargs && func_effects(value->imm.func) & EFFECT_WRITE;
}

bool pass_shared(Program *program) {
    size_t sum = 0;
    for (size_t i = 0; i < program->count; i++) {
        const Func *func = program->insts[i]->func;
        for (size_t b = 0; b < func->blocks.len; b++)
            for (Value *value = func->blocks.data[b]->first; value; value = value->next) {
                if (is_atomic(value) && is_shared_array(value->args[0])) value->flags |= VF_OF_BLOCK;
                if (!value_calls(value, FUNC_CUDA_SHARED_ARRAY)) continue;
                ArrayRequest request = call_array_request(value);
                sum = (sum + request.bytes + request.alignment - 1) / request.alignment * request.alignment;
                if (!request.bytes || sum <= MAX_SHARED) continue;
                diag_fail(program->diag, DIAG_UNSUPPORTED, func->source, value->span,
                          "the shared arrays of constant shape take %zu bytes, a block has at most %d", sum,
                          MAX_SHARED);
                diag_hint(program->diag,
                          "smaller tiles; or cuda.shared.dynamic(shape, dtype), whose bytes the launch says: "
                          "kernel[grid, block, 0, %zu]",
                          sum);
                return false;
            }
    }
    return true;
}
