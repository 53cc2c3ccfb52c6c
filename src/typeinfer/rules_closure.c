/* rules_closure.c: typing rules of functions made in compiled code and of the cells that they share with the function
 * around them. */
#include "typeinfer/rules.h"

/* Which text a default or a variable closed over is, nobody knows where the function is called.  (Kernels have only
 * texts that are known.) */
bool rule_function(Typing *t) {
    const Type **items = ARENA_ARRAY(t->in->arena, const Type *, t->nargs);
    for (size_t i = 0; i < t->nargs; i++) {
        items[i] = t->in->device ? t->args[i].type : typeinfer_general(t->in, t->args[i].type);
        typing_cast(t, i, items[i]);
    }
    return typing_result(t, type_with_items(t->in->types, TY_CLOSURE, t->at->imm.object, items, t->nargs), NULL);
}

/* Whether what it refers to in a frame are variables that functions share, and no iterators. */
bool typing_only_shares(const Type *type) {
    if (!typing_points_into_frame(type)) return true;
    if (type->kind != TY_CELL && type->kind != TY_CLOSURE) return false;
    for (uint32_t i = 0; i < type->count; i++)
        if (!typing_only_shares(type->items[i])) return false;
    return true;
}

/* The content is the join of all that is ever put in; solver_cell_set widens it.  Which text it is nobody knows where
 * it is taken out. */
bool rule_cell(Typing *t) {
    Infer *in = t->in;
    const Type *known = t->at->type, *content = known && known->kind == TY_CELL ? known->items[0] : infer_bottom(in);
    if (t->nargs) {
        const Type *joined = typeinfer_join(in->config->promotion, in->types, content, t->args[0].type);
        if (!joined) return infer_fail_contents(t, t->at->name ? t->at->name : "?", t->args[0].type, content);
        content = in->device ? joined : typeinfer_general(in, joined);
        typing_cast(t, 0, content);
    }
    return typing_result(t, type_with_items(in->types, TY_CELL, 0, &content, 1), NULL);
}

bool rule_cell_get(Typing *t) {
    const Type *cell = t->args[0].type;
    if (cell->kind != TY_CELL)
        return typing_become_arg(t, 0); /* a variable that never changes is closed over as its value */
    return typing_result(t, cell->items[0], NULL);
}

/* Whether the value is a function made here that closes over this cell. */
static bool refers_to(const Value *function, const Value *cell) {
    if (!function || function->op != OP_FUNCTION) return false;
    for (uint32_t i = 2; i < function->nargs; i++)
        if (value_resolve(function->args[i]) == cell) return true;
    return false;
}

bool rule_cell_set(Typing *t) {
    const Type *cell = t->args[0].type, *content = t->args[1].type;
    if (cell->kind != TY_CELL) return typing_fail(t, DIAG_VERIFY, "cell_set of %s", typing_text(t, cell));
    bool itself = refers_to(t->values[1], t->values[0]);
    if (itself) content = type_with_items(t->in->types, TY_CLOSURE, content->object, NULL, 0);
    if (!t->emit)
        TRY(solver_cell_set(t, t->values[0], content));
    else if (itself)
        t->values[1] = typing_make_op(t, OP_UNDEF, content, NULL, 0);
    else
        typing_cast(t, 1, cell->items[0]);
    return typing_result(t, infer_none(t->in), NULL);
}
