/* rules_list.c: typing rules of lists: displays, methods that put items in, and the operations that become Python of
 * the prelude (krait/prelude/lists.py).
 *
 * In: a list and what is done with it.  Out: the type list(item).  A display starts with what its items are and grows
 * with what is put in later (solver_list_put), so that `x = []` gets its type from the first append. */
#include <string.h> /* strcmp */

#include "typeinfer/rules_library.h" /* lib_* */

const Type *typing_iterator_type(Typing *t, size_t arg, const Type **cast); /* rules_tuple.c */

static bool on_heap(Typing *t) {
    if (!t->in->device) return true;
    typing_fail(t, DIAG_UNSUPPORTED_TARGET, "kernels have no lists");
    return typing_hint(t, "%s", typing_advice(t, "builtins.list"));
}

/* The list that operand 0 is; NULL: none. */
static const Type *list_of(const Typing *t) {
    const Type *type = t->nargs ? t->args[0].type : NULL;
    return type && type->kind == TY_LIST ? type : NULL;
}

static const Type *join(Typing *t, const Type *a, const Type *b) {
    return typeinfer_join(t->in->config->promotion, t->in->types, a, b);
}

/* [[1, 2], [2.5]]: the displays in a display have the items that all of them have. */
static const Type *join_displays(Typing *t, const Type *list, size_t arg) {
    const Type *other = t->args[arg].type;
    for (size_t i = 0; i <= arg; i++)
        if (t->values[i]->op != OP_LIST || t->values[i]->name) return NULL;
    const Type *item = list->kind == TY_LIST && other->kind == TY_LIST ? join(t, list->items[0], other->items[0])
                                                                       : NULL;
    TRY(item);
    for (size_t i = 0; i <= arg; i++) TRY(solver_list_put(t, t->values[i], item));
    return type_with_items(t->in->types, TY_LIST, 0, &item, 1);
}

/* Whether the value is only made for arguments that may be sequences of different types (np.hstack([x, 1])). */
static bool is_sequence_argument(const Infer *in, const Value *list) {
    Value *const *users;
    uint32_t count = solver_users(in, list, &users);
    for (uint32_t i = 0; i < count; i++) {
        const Value *user = users[i], *callee = user->nargs ? user->args[0] : NULL;
        if (user->op == OP_LIST && is_sequence_argument(in, user)) continue;
        if (user->op != OP_CALL || callee->op != OP_CONST || callee->konst->type->kind != TY_FUNC) return false;
        uint32_t sequences = func_row(callee->konst->type->func)->sequences;
        for (uint32_t k = 0; k + 1 < user->nargs; k++)
            if (user->args[k + 1] == list && (k >= 32 || !(sequences >> k & 1))) return false;
    }
    return count > 0;
}

/* Whether it is only made for constant arguments, in which lists stand for tuples (np.tensordot(a, b, ([0], [1]))). */
static bool is_constant_argument(const Infer *in, const Value *list) {
    Value *const *users;
    uint32_t count = solver_users(in, list, &users);
    for (uint32_t i = 0; i < count; i++) {
        const Value *user = users[i], *callee = user->nargs ? user->args[0] : NULL;
        if ((user->op == OP_LIST || user->op == OP_TUPLE) && is_constant_argument(in, user)) continue;
        if (user->op != OP_CALL || callee->op != OP_CONST || callee->konst->type->kind != TY_FUNC) return false;
        const FuncInfo *row = func_row(callee->konst->type->func);
        for (uint32_t k = 0; k + 1 < user->nargs; k++)
            if (user->args[k + 1] == list && (k >= 32 || !(row->sequences & row->constants & 1u << k))) return false;
    }
    return count > 0;
}

/* Which argument of a call a value is: its place, or UINT32_MAX and the name that it is given by. */
static uint32_t place_in_call(const Value *call, const Value *value, const char **name) {
    uint32_t k = 0, positional = call->nargs - call->imm.nnames;
    while (call->args[k] != value) k++;
    *name = k < positional ? NULL : call->imm.names[k - positional];
    return *name ? UINT32_MAX : k - 1;
}

static bool means_shape(const char *name) {
    static const char *const names[] = {"shape",     "size", "reps", "new_shape", "dimensions",
                                        "pad_width", "axes", "axis", "source",    "destination"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(name, names[i])) return true;
    return false;
}

/* Whether it is only made for an argument that is a shape or says axes: its length is part of a type
 * (np.zeros([2, n]), np.pad(x, [(1, 1), (0, 2)])). */
static bool is_shape_argument(const Infer *in, const Value *list) {
    Value *const *users;
    const char *name;
    uint32_t count = solver_users(in, list, &users);
    if (count != 1 || users[0]->op != OP_CALL || users[0]->args[0] == list)
        return count == 1 && (users[0]->op == OP_LIST || users[0]->op == OP_TUPLE) && is_shape_argument(in, users[0]);
    const Value *callee = users[0]->args[0];
    uint32_t place = place_in_call(users[0], list, &name);
    if (callee->op == OP_CONST && callee->konst->type->kind == TY_FUNC) {
        uint32_t shapes = func_row(callee->konst->type->func)->shapes;
        return shapes && (name ? means_shape(name) : place < 32 && shapes >> place & 1);
    }
    if (callee->op != OP_GETATTR || !callee->args[0]->type) return false;
    TypeKind kind = infer_content(callee->args[0]->type)->kind;
    bool takes_shape = !strcmp(callee->imm.text, "reshape") || !strcmp(callee->imm.text, "transpose");
    if (kind == TY_ARRAY) return takes_shape && !name && place == 0;
    return kind == TY_RANDOM && name && means_shape(name);
}

/* Whether all that is done with it is what a tuple does as well: walked, taken apart, counted, indexed. */
static bool is_only_walked(const Infer *in, const Value *list) {
    static const FuncId walking[] = {FUNC_LEN, FUNC_ENUMERATE, FUNC_ZIP, FUNC_LITERAL_UNROLL};
    Value *const *users;
    uint32_t count = solver_users(in, list, &users);
    for (uint32_t i = 0; i < count; i++) {
        const Value *user = users[i], *callee = user->nargs ? user->args[0] : NULL;
        if (user->op == OP_ITER || user->op == OP_UNPACK || user->op == OP_UNPACK_EX) continue;
        if ((user->op == OP_IN || user->op == OP_NOT_IN) && callee != list) continue;
        if (user->op == OP_GETITEM && callee == list && user->args[1]->op == OP_CONST) continue;
        bool walks = false, calls = user->op == OP_CALL && callee->op == OP_CONST;
        FuncId called = calls && callee->konst->type->kind == TY_FUNC ? callee->konst->type->func->id : FUNC_NONE;
        for (size_t k = 0; k < COUNT_OF(walking); k++) walks |= called == walking[k];
        if (!walks) return false;
    }
    return true;
}

static bool become_tuple(Typing *t) { return typing_become_tuple(t, t->args, t->values, t->nargs); }

bool rule_list(Typing *t) {
    Infer *in = t->in;
    TRY(on_heap(t));
    if (t->emit ? t->at->type->kind == TY_TUPLE : is_constant_argument(in, t->at) || is_shape_argument(in, t->at))
        return become_tuple(t);
    const Type *known = t->at->type, *item = known && known->kind == TY_LIST ? known->items[0] : infer_bottom(in);
    for (size_t i = 0; i < t->nargs; i++) {
        const Type *type = typeinfer_general(t->in, t->args[i].type), *joined = join(t, item, type);
        if (!joined && !t->emit) joined = join_displays(t, item, i);
        if (!joined) joined = typing_widen(t, item, i);
        bool lengths = joined && joined->kind == TY_VARTUPLE && type->kind == TY_TUPLE;
        if ((!joined || lengths) && !t->emit && is_sequence_argument(in, t->at)) return become_tuple(t);
        if (!joined && !t->emit && is_only_walked(in, t->at)) return become_tuple(t);
        if (!joined) {
            bool array = item->kind == TY_ARRAY || type->kind == TY_ARRAY;
            bool number = item->kind == TY_SCALAR || type->kind == TY_SCALAR;
            typing_fail(t, DIAG_NO_UNIFY, "a list of %s and %s", typing_text(t, item), typing_text(t, type));
            if (array && number)
                return typing_hint(t, "the items of a list have one type in compiled code: np.append(a, v) puts a "
                                      "number behind the elements of an array, np.concatenate((a, b)) another array");
            return typing_hint(t, "the items of a list have one type in compiled code: convert them, or use a tuple");
        }
        item = joined;
    }
    for (size_t i = 0; !t->emit && i < t->nargs; i++) {
        typeinfer_fill(in, t->values[i], t->args[i].type, item);
        if (t->args[i].type != item) typing_widen(t, item, i);
    }
    for (size_t i = 0; i < t->nargs; i++) {
        const Type *general = typeinfer_general(in, t->args[i].type);
        if (general != t->args[i].type || (general->kind == TY_TUPLE && general != item)) typing_cast(t, i, item);
    }
    return typing_result(t, type_with_items(in->types, TY_LIST, 0, &item, 1), NULL);
}

/* The items of the list are of this type too, that of argument `arg` if there is one. */
static bool put(Typing *t, const Type *item, size_t arg) {
    const Type *list = t->args[0].type;
    item = typeinfer_general(t->in, item);
    if (t->emit || item->kind == TY_BOTTOM) return true;
    const Type *joined = join(t, list->items[0], item), *wider = joined ? NULL : typing_widen(t, list->items[0], arg);
    if (wider) return wider == list->items[0] || solver_list_put(t, t->values[0], wider);
    for (size_t i = 1; joined && i < t->nargs - t->nnames; i++) typeinfer_fill(t->in, t->values[i], item, joined);
    return joined == list->items[0] || solver_list_put(t, t->values[0], item);
}

bool rule_func_list_append(Typing *t) {
    if (!list_of(t) || t->nnames) return typing_bad_operands(t);
    TRY(put(t, t->args[1].type, 1));
    t->keeps = !t->in->device;
    if (t->emit) typing_cast(t, 1, list_of(t)->items[0]);
    return typing_result(t, infer_none(t->in), NULL);
}

bool rule_list_append(Typing *t) {
    t->op = OP_CALL;
    t->is_call = true;
    return typing_become_func(t, FUNC_LIST_APPEND);
}

/* append_codes(numbers, codes): lists of unsigned numbers of one kind. */
bool rule_func_append_codes(Typing *t) {
    const Type *more = t->args[1].type;
    if (!list_of(t) || more->kind != TY_LIST || type_scalar_kind(more->items[0]) != 'u') return typing_bad_operands(t);
    TRY(put(t, more->items[0], 1));
    if (t->emit && list_of(t)->items[0] != more->items[0]) return typing_bad_operands(t);
    return typing_result(t, infer_none(t->in), NULL);
}

/* What lies in codes(s): of two of one kind. */
static bool are_codes(const Typing *t) {
    const Type *x = t->args[0].type, *y = t->args[1].type;
    return x == y && x->kind == TY_LIST && type_scalar_kind(x->items[0]) == 'u' && !t->nnames;
}

bool rule_func_lies_at(Typing *t) {
    if (!are_codes(t) || !lib_kinds(t, 2, 1, "biu")) return typing_bad_operands(t);
    typing_cast(t, 2, infer_int(t->in));
    return typing_result(t, infer_bool(t->in), NULL);
}

bool rule_func_order_of(Typing *t) {
    return are_codes(t) ? typing_result(t, infer_int(t->in), NULL) : typing_bad_operands(t);
}

/* l[i], an int */
bool rule_func_list_get(Typing *t) {
    const Type *list = list_of(t);
    if (!list || !lib_kinds(t, 1, 1, "biu")) return typing_bad_operands(t);
    typing_cast(t, 1, infer_int(t->in));
    return typing_result(t, list->items[0], NULL);
}

bool rule_func_list_set(Typing *t) {
    const Type *list = list_of(t);
    if (!list || !lib_kinds(t, 1, 1, "biu")) return typing_bad_operands(t);
    TRY(put(t, t->args[2].type, 2));
    t->keeps = !t->in->device;
    typing_cast(t, 1, infer_int(t->in));
    if (t->emit) typing_cast(t, 2, list->items[0]);
    return typing_result(t, infer_none(t->in), NULL);
}

/* truncate(items, length), reserve(items, length) */
bool rule_func_list_length(Typing *t) {
    if (!list_of(t)) return typing_bad_operands(t);
    typing_cast(t, 1, infer_int(t->in));
    return typing_result(t, infer_none(t->in), NULL);
}

/* Whether `<` puts all values of a type into one order: sets it does not, nor numbers and times that may be none; nor
 * what holds such. */
static const char *order_of(const Type *type) {
    static const char always[] = "always", but_for_nan[] = "but for nan", never[] = "never";
    if (type->kind == TY_SET) return never;
    if (type_scalar_kind(type) == 'f' || type->kind == TY_TIME) return but_for_nan;
    const char *order = always;
    bool holds = type->kind == TY_TUPLE || type->kind == TY_LIST || type->kind == TY_VARTUPLE;
    for (size_t i = 0; holds && i < type->count && order != never; i++) {
        const char *of_item = order_of(type->items[i]);
        if (of_item != always) order = of_item;
    }
    return order;
}

bool rule_func_how_ordered(Typing *t) {
    const Type *list = list_of(t);
    if (!list) return typing_bad_operands(t);
    return typing_become_const(t, const_str(t->in->arena, t->in->types, order_of(list->items[0])));
}

/* slice_range(slice, length): start, step and how many */
bool rule_func_slice_range(Typing *t) {
    if (t->args[0].type->kind != TY_SLICE) return typing_bad_operands(t);
    typing_cast(t, 1, infer_int(t->in));
    return typing_result(t, lib_uniform_tuple(t->in, infer_int(t->in), 3), NULL);
}

/* ---- methods and operators of the prelude ---- */

/* What iterating over argument `arg` gives. */
static const Type *item_of_iterable(Typing *t, size_t arg) {
    const Type *cast, *iter = typing_iterator_type(t, arg, &cast);
    return iter ? type_iter_item(t->in->types, iter) : NULL;
}

/* insert(i, x) puts its last argument in. */
bool rule_func_list_insert(Typing *t) {
    if (!list_of(t) || t->nnames) return typing_bad_operands(t);
    TRY(put(t, t->args[2].type, 2));
    return typing_become_prelude(t, func_info[t->func].symbol);
}

/* heapq.heappush(l, x), bisect.insort(l, x): x is put in. */
bool rule_func_list_put(Typing *t) {
    if (!list_of(t) || t->nargs - t->nnames < 2) return typing_bad_operands(t);
    TRY(put(t, t->args[1].type, 1));
    return typing_become_prelude(t, func_info[t->func].symbol);
}

/* extend(x): the items of x */
bool rule_func_list_extend(Typing *t) {
    TRY(typing_list_instance(t, 1));
    if (t->args[1].type->kind == TY_BOTTOM) return typing_result(t, infer_bottom(t->in), NULL);
    if (!list_of(t) || t->nnames) return typing_bad_operands(t);
    const Type *item = item_of_iterable(t, 1);
    if (item) TRY(put(t, item, t->nargs));
    if (t->failed) return false;
    return typing_become_prelude(t, "lists:extend");
}

static bool become(Typing *t, const char *name) {
    t->op = OP_CALL;
    return typing_become_prelude(t, name);
}

bool typing_list_getitem(Typing *t) {
    const Type *index = infer_content(t->args[1].type);
    if (index->kind == TY_SLICE) return become(t, "lists:get_slice");
    if (type_is_integer(index)) {
        t->op = OP_CALL;
        return typing_become_func(t, FUNC_LIST_GET);
    }
    return typing_refuse_number(t, "a list");
}

bool typing_list_setitem(Typing *t) {
    const Type *index = infer_content(t->args[1].type);
    if (type_is_integer(index)) {
        t->op = OP_CALL;
        return typing_become_func(t, FUNC_LIST_SET);
    }
    if (index->kind != TY_SLICE) return typing_refuse_number(t, "a list");
    const Type *item = item_of_iterable(t, 2);
    if (item) TRY(put(t, item, t->nargs));
    if (t->failed) return false;
    return become(t, "lists:set_slice");
}

bool typing_list_delitem(Typing *t) {
    return become(t, infer_content(t->args[1].type)->kind == TY_SLICE ? "lists:delete_slice" : "lists:delete");
}

/* + and *, also in place, where the list itself changes. */
bool typing_list_binary(Typing *t) {
    bool first = list_of(t) != NULL;
    if (t->op == OP_ADD && first && t->flags & VF_INPLACE) {
        const Type *item = item_of_iterable(t, 1);
        if (item) TRY(put(t, item, t->nargs));
        return !t->failed && become(t, "lists:extended");
    }
    if (t->op == OP_ADD && first && t->args[1].type->kind == TY_LIST) return become(t, "lists:concatenated");
    if (t->op == OP_MUL && first && lib_kinds(t, 1, 1, "biu"))
        return become(t, t->flags & VF_INPLACE ? "lists:repeat_in_place" : "lists:repeated");
    if (t->op == OP_MUL && !first && lib_kinds(t, 0, 1, "biu")) return become(t, "lists:repeated_so_often");
    return typing_bad_operands(t);
}

bool typing_list_compare(Typing *t) {
    static const char *const names[] = {"lists:less",      "lists:less_equal", "lists:equal",
                                        "lists:not_equal", "lists:greater",    "lists:greater_equal"};
    return become(t, names[t->op - OP_LT]);
}

bool typing_list_contains(Typing *t) { return become(t, t->op == OP_IN ? "lists:contains" : "lists:contains_not"); }

/* List.empty_list(item_type) */
bool rule_func_empty_list(Typing *t) {
    static const char *const params[] = {"item_type", "allocated"};
    Infer *in = t->in;
    const Type *item;
    TRY(on_heap(t));
    TRY(typing_bind_keywords(t, params, 1, 2));
    TRY(item = typing_declared_item(t, 0));
    t->nargs = 0;
    if (item->kind == TY_BOTTOM) return typing_become_op(t, OP_LIST); /* deferred: of what is put in */
    const Type *list = type_with_items(in->types, TY_LIST, 0, &item, 1);
    return typing_become(t, t->emit ? typing_make_op(t, OP_LIST, list, NULL, 0) : NULL, list);
}

/* list(): a new one without items */
bool rule_func_list_from(Typing *t) {
    TRY(on_heap(t));
    if (!t->nargs) return typing_become_op(t, OP_LIST);
    bool range = t->args[0].type->kind == TY_RANGE;
    return typing_become_prelude(t, range ? "lists:from_range" : "lists:from_iterable");
}
