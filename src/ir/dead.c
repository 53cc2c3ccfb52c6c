/* dead.c: removes values that nobody uses and nobody would miss.
 *
 * Mark and sweep: what is executed for its effect is needed, and so are its operands, theirs, and so on; the rest goes,
 * cycles of phis that only feed each other included. */
#include "ir/ir.h"

bool value_is_removable(const Value *value) {
    if (value->op == OP_PARAM || !op_has_result(value->op)) return false;
    if (value->op == OP_LIST || value->op == OP_DICT || value->op == OP_SET)
        return true; /* nobody sees whether there was memory for it */
    return !(value_effects(value, true) & ~(Effects)EFFECT_READ);
}

bool func_remove_dead(Func *func) {
    VEC(Value *) work = {0};
    for (size_t b = 0; b < func->blocks.len; b++)
        for (Value *value = func->blocks.data[b]->first; value; value = value->next) {
            value->mark = NULL;
            if (value_is_removable(value)) continue;
            value->mark = value;
            vec_push(func->arena, &work, value);
        }
    while (work.len) {
        Value *value = vec_pop(&work);
        for (uint32_t i = 0; i < value->nargs; i++) {
            Value *arg = value->args[i];
            if (arg->mark) continue;
            arg->mark = arg;
            vec_push(func->arena, &work, arg);
        }
    }
    bool progress = false;
    for (size_t b = 0; b < func->blocks.len; b++)
        for (Value *value = func->blocks.data[b]->first, *next; value; value = next) {
            next = value->next;
            if (value->mark) continue;
            value_remove(value);
            progress = true;
        }
    return progress;
}
