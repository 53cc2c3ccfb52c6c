/* looks.c: operations on whole arrays look for signals, too.
 *
 * In: typed functions of the host.  Out: VF_LOOKS on maps, reductions and assignments to parts of arrays, and on calls
 * of NumPy's own loops, which look behind a line or a product.  They
 * then spend from the budget that the loops of the program spend from (safepoints.c), and raise what the handler of a
 * signal raised.  Not on what stands among others in a block of a try statement: the handler would see values that are
 * not there yet. */
#include "passes/private.h"

/* An array of the frame (small_arrays.c) is too small for a look to be worth its while. */
static bool walks(const Value *array) {
    return array->type->kind == TY_ARRAY && !value_calls(array, FUNC_CUDA_LOCAL_ARRAY);
}

bool looks_walks_an_array(const Value *value) {
    if (value->op == OP_MAP) return walks(value->args[0]);
    for (uint32_t i = 1; value->op == OP_REDUCE && i < value->nargs; i++)
        if (walks(value->args[i])) return true;
    if (value_calls(value, FUNC_NUMPY_LOOP) || value_calls(value, FUNC_SORT_LINE) ||
        value_calls(value, FUNC_ARGSORT_LINE))
        return true;
    return value->op == OP_SETITEM && walks(value->args[0]) &&
           !type_takes_element(value->args[0]->type, value->args[1]->type);
}

bool pass_looks(Program *program, FuncInst *inst) {
    for (size_t b = 0; b < inst->func->blocks.len && !program->uninterrupted; b++) {
        const Block *block = inst->func->blocks.data[b];
        for (Value *value = block->first; value; value = value->next) {
            if (!looks_walks_an_array(value) || (block_unwind(block) && value->next != block->last)) continue;
            value->flags |= VF_LOOKS;
        }
    }
    return true;
}
