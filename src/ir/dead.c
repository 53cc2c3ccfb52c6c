/* dead.c: removes values that nobody uses and nobody would miss.
 *
 * Mark and sweep: what is executed for its effect is needed, and so are its operands, theirs, and so on; the rest goes,
 * cycles of phis that only feed each other included. */
#include "ir/ir.h"

#include <string.h> /* strpbrk */

static bool is_typed_scalar(const Value *value) { return value->type && value->type->kind == TY_SCALAR; }

/* Operations that may raise do not if inference said so: VF_UNCHECKED, or arithmetic on scalars that is not VF_CHECKED.
 */
static bool cannot_raise(const Value *value) {
    if (value->flags & VF_UNCHECKED) return true;
    switch (value->op) {
    case OP_TRUEDIV:
    case OP_FLOORDIV:
    case OP_MOD:
    case OP_POW:
    case OP_LSHIFT:
    case OP_RSHIFT: return is_typed_scalar(value) && !(value->flags & VF_CHECKED);
    case OP_CAST:
        return is_typed_scalar(value) && value->args[0]->type && value->args[0]->type->kind == TY_SCALAR &&
               !(value->flags & VF_CHECKED);
    default: return false;
    }
}

bool value_is_removable(const Value *value) {
    if (value->op == OP_PARAM || !op_has_result(value->op)) return false;
    if (value->op == OP_CALL_FUNC) {
        const FuncInfo *info = &func_info[value->imm.func];
        if (info->check != CHECK_NONE && (value->flags & VF_CHECKED)) return false;
        return !strpbrk(info->effects, "WSXC");
    }
    /* x += y on an array writes to it; before inference nobody knows whether it is one. */
    if ((value->flags & VF_INPLACE) && !is_typed_scalar(value)) return false;
    const char *effects = op_info[value->op].effects;
    if (strpbrk(effects, "WSC")) return false;
    return !strchr(effects, 'X') || cannot_raise(value);
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
