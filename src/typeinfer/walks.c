/* walks.c: loops over numpy.ndindex, ndenumerate and nditer become loops over the numbers of what they give.  What goes
 * anywhere else is a list on the host, and refused in kernels.
 *
 * In: a call of such a function that the iterator of one loop alone is made of.  Out: the iterator walks over
 * range(<f>_length(operands)), and what the loop takes is <f>_item(number, operands), Python of the prelude
 * (krait/prelude/kernel_walking.py).  The solver does it once it has settled, and starts again. */
#include "typeinfer/solver.h"

#include <string.h> /* strchr */

static bool is_call(const Value *value) { return value->op == OP_CALL || value->op == OP_CALL_EX; }

static const FuncInfo *called_row(const Value *call) {
    const Value *callee = value_resolve(call->args[0]);
    if (!is_call(call) || callee->op != OP_CONST || callee->konst->type->kind != TY_FUNC) return NULL;
    return &func_info[callee->konst->type->func->id];
}

/* The iterator that alone is made of the value, and of which a loop alone takes; NULL: there is none. */
static Value *only_loop(const Func *func, const Value *made) {
    Value *iter = NULL;
    for (size_t b = 0; b < func->blocks.len; b++)
        for (Value *user = func->blocks.data[b]->first; user; user = user->next)
            for (uint32_t i = 0; i < user->nargs; i++) {
                if (value_resolve(user->args[i]) != made) continue;
                if (iter || user->op != OP_ITER) return NULL;
                iter = user;
            }
    for (size_t b = 0; iter && b < func->blocks.len; b++)
        for (const Value *user = func->blocks.data[b]->first; user; user = user->next)
            for (uint32_t i = 0; i < user->nargs; i++)
                if (value_resolve(user->args[i]) == iter && user->op != OP_ITER_MORE && user->op != OP_ITER_TAKE)
                    return NULL;
    return iter;
}

static bool are_arrays(const Type *tuple) {
    for (size_t i = 0; i < tuple->count; i++)
        if (tuple->items[i]->kind != TY_ARRAY) return false;
    return tuple->count > 0;
}

/* What is no array is made one, once for the whole walk. */
static bool is_walked_as_it_is(const Typing *t) {
    if (t->func == FUNC_NP_NDINDEX) return true;
    const Type *type = t->nargs == 1 ? t->args[0].type : NULL;
    if (type && t->func == FUNC_NP_NDITER && type->kind == TY_TUPLE) return are_arrays(type);
    return type && type->kind == TY_ARRAY;
}

/* To NumPy the items of a list are operands, as those of a tuple, and give tuples as long as it is. */
static bool is_no_list(Typing *t) {
    if (t->func != FUNC_NP_NDITER || t->nargs == 0 || t->args[0].type->kind != TY_LIST) return true;
    typing_fail(t, DIAG_BAD_ARGUMENTS,
                "np.nditer walks over the items of a list beside each other, and how many there "
                "are is not known when this is compiled");
    return typing_hint(t, "a tuple of arrays for several, np.nditer((x, y)); an array for one, "
                          "np.nditer(np.array(items))");
}

/* Rows that are walked over: `walking:<f>` on the host, unless a loop alone walks. */
bool rule_func_walk(Typing *t) {
    TRY(is_no_list(t));
    const char *name = typing_func_name(t);
    bool device = t->in->device, counts = t->in->quiet && !t->is_part && !t->nnames;
    Value *iter = counts && (device || is_walked_as_it_is(t)) ? only_loop(t->in->func, t->at) : NULL;
    if (iter) return solver_ask_rounds(t->in, iter, WALK), false;
    if (!device) return typing_become_prelude(t, func_info[t->func].symbol);
    typing_fail(t, DIAG_UNSUPPORTED_TARGET, "in a kernel %s is what a for loop walks over, nothing else", name);
    return typing_hint(t, "for i, j in np.ndindex(2, 3): ..., for place, x in np.ndenumerate(a): ..., for x in "
                          "np.nditer(a): ...; for zip and enumerate count in the loop");
}

/* ---- the loop ---- */

static Value *put_before(Func *func, Value *at, Op op, Value *const *args, size_t nargs) {
    Value *value = value_new(func, op, at->span, args, nargs);
    value_insert_before(at, value);
    return value;
}

static Value *put_const(Func *func, Value *at, const Type *type) {
    Value *value = put_before(func, at, OP_CONST, NULL, 0);
    value->konst = const_of(func->arena, type);
    value->type = type;
    return value;
}

/* Of numpy.ndindex "kernel_walking:ndindex<suffix>"; NULL: diag says why. */
static Value *put_function(Infer *in, Value *at, const FuncInfo *row, const char *suffix) {
    const char *name = arena_printf(in->arena, "kernel_walking%s%s", strchr(row->symbol, ':'), suffix);
    ObjRef function = in->host->prelude(in->host->self, name);
    return function ? put_const(in->func, at, type_object(in->types, TY_PYFUNC, function)) : NULL;
}

static void take_items(Func *func, const Value *iter, Value *item, Value *operands) {
    for (size_t b = 0; b < func->blocks.len; b++)
        for (Value *take = func->blocks.data[b]->first; take; take = take->next) {
            if (take->op != OP_ITER_TAKE || value_resolve(take->args[0]) != iter) continue;
            Value *number = put_before(func, take, OP_ITER_TAKE, take->args, 1);
            const Value *like = value_new(func, OP_CALL, take->span, (Value *[]){item, number, operands}, 3);
            take->op = OP_CALL;
            take->args = like->args;
            take->nargs = like->nargs;
        }
}

bool infer_make_walk(Infer *in, Value *iter) {
    Func *func = in->func;
    Value *over = value_resolve(iter->args[0]), *length, *item, *range;
    const FuncInfo *row = called_row(over);
    Value *operands = over->op == OP_CALL_EX ? over->args[1]
                                             : put_before(func, over, OP_TUPLE, over->args + 1, over->nargs - 1);
    TRY(length = put_function(in, over, row, "_length"));
    TRY(item = put_function(in, over, row, "_item"));
    range = put_const(func, over, type_func(in->types, &func_info[FUNC_RANGE].head));
    length = put_before(func, over, OP_CALL, (Value *[]){length, operands}, 2);
    take_items(func, iter, item, operands);
    iter->args[0] = put_before(func, over, OP_CALL, (Value *[]){range, length}, 2);
    value_remove(over);
    return true;
}
