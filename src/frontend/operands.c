/* operands.c: what is known of the two operands of an operator before their types are.
 *
 * In: the operands, as values of untyped SSA, which still are the objects of the interpreter.  Out: what stands in
 * their place: tuples without the items that decide nothing; sets in place of views of dicts. */
#include "frontend/translate.h"

#include <string.h> /* strcmp */

/* ---- tuples ---- */

/* Whether both are one object, or tuples of the same objects. */
static bool holds_the_same(const Value *x, const Value *y) {
    if (x == y) return true;
    if (x->op != OP_TUPLE || y->op != OP_TUPLE || x->nargs != y->nargs) return false;
    for (uint32_t i = 0; i < x->nargs; i++) TRY(holds_the_same(x->args[i], y->args[i]));
    return true;
}

/* What is one object in two tuples is equal, whatever it says itself (a NaN, arrays), and decides nothing: it is left
 * out of both.  Here values are still the objects of the interpreter: inference makes others of them. */
void translate_leave_out_same(Translator *t, Value **x, Value **y) {
    if (*x == *y || (*x)->op != OP_TUPLE || (*y)->op != OP_TUPLE) return;
    uint32_t common = (*x)->nargs < (*y)->nargs ? (*x)->nargs : (*y)->nargs, same = 0;
    Value **items[2] = {ARENA_ARRAY(t->arena, Value *, (*x)->nargs), ARENA_ARRAY(t->arena, Value *, (*y)->nargs)};
    size_t counts[2] = {0, 0};
    for (uint32_t i = 0; i < common; i++) {
        Value *a = (*x)->args[i], *b = (*y)->args[i];
        if (holds_the_same(a, b)) {
            same++;
            continue;
        }
        translate_leave_out_same(t, &a, &b);
        same += a != (*x)->args[i];
        items[0][counts[0]++] = a;
        items[1][counts[1]++] = b;
    }
    if (!same) return;
    for (uint32_t i = common; i < (*x)->nargs; i++) items[0][counts[0]++] = (*x)->args[i];
    for (uint32_t i = common; i < (*y)->nargs; i++) items[1][counts[1]++] = (*y)->args[i];
    *x = counts[0] ? translate_append(t, OP_TUPLE, items[0], counts[0]) : translate_empty_tuple(t);
    *y = counts[1] ? translate_append(t, OP_TUPLE, items[1], counts[1]) : translate_empty_tuple(t);
}

/* ---- views ---- */

/* What x.keys() or x.items() is asked of; NULL: it is no such call. */
static Value *viewed(const Value *value, bool *keys) {
    const Value *method = value->op == OP_CALL && value->nargs == 1 ? value->args[0] : NULL;
    if (!method || method->op != OP_GETATTR) return NULL;
    *keys = strcmp(method->imm.text, "keys") == 0;
    return *keys || strcmp(method->imm.text, "items") == 0 ? method->args[0] : NULL;
}

static Value *as_set(Translator *t, Value *operand, Value *dict, bool keys) {
    const Const *func = const_of(t->arena, type_func(t->types, &func_info[FUNC_VIEW_AS_SET].head));
    Value *args[] = {translate_append_const(t, func), operand, dict,
                     translate_append_const(t, const_bool(t->arena, t->types, keys))};
    return translate_append(t, OP_CALL, args, COUNT_OF(args));
}

void translate_views_to_sets(Translator *t, Value **x, Value **y, bool both) {
    bool x_keys = false, y_keys = false;
    Value *x_of = viewed(*x, &x_keys), *y_of = y ? viewed(*y, &y_keys) : NULL;
    if (x_of || (y_of && both)) *x = as_set(t, *x, x_of ? x_of : y_of, x_keys);
    if (y_of || (x_of && both)) *y = as_set(t, *y, y_of ? y_of : x_of, y_keys);
}
