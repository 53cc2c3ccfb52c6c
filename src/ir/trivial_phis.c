/* trivial_phis.c: removes phis that say nothing: all operands are one value, or the phi itself.
 *
 * A removed phi leaves a forward to what it stood for (in Value.mark); operands are looked up through forwards, which
 * may make further phis trivial, so rounds go on until one finds none.  At the end all operands are rewritten in one
 * pass. */
#include "ir/ir.h"

/* The one value the phi stands for; NULL: it is needed. */
static Value *only_operand(Value *phi) {
    Value *only = NULL;
    for (uint32_t i = 0; i < phi->nargs; i++) {
        Value *arg = value_resolve(phi->args[i]);
        if (arg == phi || arg == only) continue;
        if (only) return NULL;
        only = arg;
    }
    return only;
}

static bool remove_round(Func *func) {
    bool progress = false;
    for (size_t b = 0; b < func->blocks.len; b++)
        for (Value *phi = func->blocks.data[b]->first, *next; phi && phi->op == OP_PHI; phi = next) {
            next = phi->next;
            Value *only = only_operand(phi);
            if (!only) continue;
            if (!only->name) only->name = phi->name;
            value_remove(phi);
            phi->mark = only;
            progress = true;
        }
    return progress;
}

bool func_remove_trivial_phis(Func *func) {
    func_clear_marks(func);
    bool progress = false;
    while (remove_round(func)) progress = true;
    if (!progress) return false;
    for (size_t b = 0; b < func->blocks.len; b++)
        for (Value *value = func->blocks.data[b]->first; value; value = value->next)
            for (uint32_t i = 0; i < value->nargs; i++) value->args[i] = value_resolve(value->args[i]);
    return true;
}
