/* rules_dict.c: typing rules of dicts and sets, Python of the prelude over two lists (krait/prelude/tables.py).
 *
 * In: a dict or a set and what is done with it.  Out: the types of its keys and values, which start with nothing and
 * grow with what is put in (solver_put), as a list's items do; the operation as a call of the prelude on operands of
 * these types.  Before anything is put in, a key is never found, whatever its type. */
#include "typeinfer/rules_library.h" /* lib_* */

static bool on_heap(Typing *t) {
    if (!t->in->device) return true;
    typing_fail(t, DIAG_UNSUPPORTED_TARGET, "kernels have no dicts and sets");
    return typing_hint(t, "use an array or a tuple, whose items are found by number");
}

/* The dict or set that operand `arg` is; NULL: it is none. */
static const Type *table_of(const Typing *t, size_t arg) {
    const Type *type = arg < t->nargs && t->args[arg].type ? t->args[arg].type : NULL;
    return type && type_is_table(type) ? type : NULL;
}

static bool is_empty(const Type *table) { return type_key(table)->kind == TY_BOTTOM; }

static bool is_key(const Type *type) {
    if (type->kind == TY_SCALAR) return type_scalar_kind(type) != 'c';
    if (type_is_instance(type)) return true; /* unless its class says no: key_hash */
    bool parts = (type->kind == TY_TUPLE && !type_is_keywords(type)) || type->kind == TY_VARTUPLE;
    bool text = type->kind == TY_STRING || type->kind == TY_BYTES;
    if (!parts) return text || type->kind == TY_MEMBER || type->kind == TY_BOTTOM;
    for (uint32_t i = 0; i < type->count; i++)
        if (!is_key(type->items[i])) return false;
    return true;
}

/* The part of a type for which it is no key. */
static const Type *no_key(const Type *type) {
    for (uint32_t i = 0; type->kind == TY_TUPLE && i < type->count; i++)
        if (!is_key(type->items[i])) return no_key(type->items[i]);
    return type;
}

static bool refuse_type(Typing *t, const Type *type, bool dict) {
    const Type *wrong = no_key(type);
    typing_fail(t, DIAG_TYPING, "%s cannot be %s", typing_text(t, type), dict ? "a key of a dict" : "an item of a set");
    if (wrong->kind == TY_ARRAY)
        return typing_hint(t, "an array is no key, since its elements may change: take the tuple of them, tuple(%s)%s",
                           wrong->ndim == 1 ? "x" : "x.ravel()",
                           dict ? "" : ", or for a set of the elements set(x); a list holds whole arrays, [x]");
    if (wrong->kind == TY_LIST && is_key(wrong->items[0]))
        return typing_hint(t, "a list is no key, since it may change: take the tuple of its items, tuple(x)");
    if (wrong->kind == TY_SET) return typing_hint(t, "a set is no key, since it may change: take frozenset(x)");
    if (type_scalar_kind(wrong) == 'c') return typing_hint(t, "take the pair of its parts, (z.real, z.imag)");
    if (wrong->kind == TY_CHARS)
        return typing_hint(t, "an element of an array of texts is a text of NumPy: take %s(x) of it",
                           wrong->flag ? "str" : "bytes");
    return typing_hint(
        t, "numbers, strings, bytes, members of enumerations, instances, frozensets, and tuples of them can");
}

/* ---- results that functools.lru_cache keeps ---- */

/* Keys that are equal as these types are joined, of which the function makes different results. */
static bool mixes(const Type *a, const Type *b) {
    a = infer_content(a), b = infer_content(b);
    if (a->kind == TY_SCALAR && b->kind == TY_SCALAR) return a != b;
    bool differ = a->kind != b->kind;
    for (uint32_t i = 0; !differ && a->kind == TY_TUPLE && i < a->count; i++)
        differ = i >= b->count || mixes(a->items[i], b->items[i]);
    return differ || (a->kind == TY_TUPLE && a->count != b->count);
}

/* krait/prelude/caching.py: Memo. */
static const char *of_memo(Typing *t, ObjRef memo, const char *what) {
    return t->in->host->name_of(t->in->host->self, type_object(t->in->types, TY_OBJECT, memo), what);
}

static bool is_mutable(const Type *type) {
    bool is = type_is_container(type) || type_is_shared(type) || type->kind == TY_ARRAY;
    for (uint32_t i = 0; type->kind == TY_TUPLE && i < type->count; i++) is |= is_mutable(type->items[i]);
    return is || (type->kind == TY_OPTIONAL && is_mutable(type->items[0]));
}

/* Its results are of one function for arguments of the same types each time. */
static bool check_memo(Typing *t, size_t table, const Type *key, const Type *value) {
    const Value *dict = t->values[table] ? value_resolve(t->values[table]) : NULL;
    ObjRef memo = dict && dict->op == OP_CAPTURED ? t->in->config->captures->data[dict->imm.i].object : 0;
    const char *function = memo ? of_memo(t, memo, "__krait_function__") : NULL;
    if (!function) return true;
    const char *size = of_memo(t, memo, "__krait_maxsize__");
    const Type *before = type_key(t->args[table].type);
    if (!is_empty(t->args[table].type) && mixes(before, key)) {
        typing_fail(t, DIAG_TYPING, "`%s` keeps its results by functools.lru_cache, and is called with %s and with %s",
                    function, typing_text(t, before), typing_text(t, key));
        return typing_hint(t, "convert the arguments, float(x), so that all calls have the same types, or take the "
                              "decorator away");
    }
    if (!size || !is_mutable(value)) return true;
    typing_fail(t, DIAG_TYPING,
                "`%s` keeps %s results by functools.lru_cache, and gives %s: compiled code keeps all, and which are "
                "made anew would be seen",
                function, size, typing_text(t, value));
    return typing_hint(t, "use maxsize=None or functools.cache, or take the decorator away");
}

/* Operand `table` holds a key and, if it is a dict, a value of these types too. */
static bool put(Typing *t, size_t table, const Type *key, const Type *value) {
    const Type *is = t->args[table].type;
    t->keeps = !t->in->device;
    if (key->kind == TY_BOTTOM) return true;
    key = typeinfer_general(t->in, key);
    if (!is_key(key)) return refuse_type(t, key, is->kind == TY_DICT);
    if (t->emit) return true;
    if (is->kind == TY_DICT) TRY(check_memo(t, table, key, value));
    value = is->kind == TY_DICT ? typeinfer_general(t->in, value) : NULL;
    for (size_t i = 0; value && !is_empty(is) && i < t->nargs; i++) {
        if (i == table) continue;
        typeinfer_fill(t->in, t->values[i], value, type_dict_value(is));
        const Type *wider = t->args[i].type == value ? typing_widen(t, type_dict_value(is), i) : NULL;
        if (wider) value = wider;
    }
    const Type *more = type_table_of(t->in->types, key, value);
    return more == is || solver_put(t, t->values[table], more);
}

/* Operand `arg` as a key that is put in. */
static bool as_key(Typing *t, size_t arg, const Type *key) {
    const Type *type = typeinfer_general(t->in, t->args[arg].type);
    const Type *joined = typeinfer_join(t->in->config->promotion, t->in->types, type, key);
    return joined == key || typeinfer_takes(t->in, key, type) ? typing_as(t, arg, key) : false;
}

static bool is_real(const Type *type) { return type->kind == TY_SCALAR && type_scalar_kind(type) != 'c'; }

/* Whether a key of one type may be equal to one of another. */
static bool may_equal(const Type *type, const Type *key) {
    if (type == key || (is_real(type) && is_real(key))) return true;
    if (type->kind != TY_TUPLE || key->kind != TY_TUPLE || type->count != key->count) return false;
    for (uint32_t i = 0; i < type->count; i++)
        if (!may_equal(type->items[i], key->items[i])) return false;
    return true;
}

/* Operand `arg` as a key that is looked for, by its value: numbers keep their types, whose hashes agree.  False: no key
 * of that type is ever found. */
static bool as_sought(Typing *t, size_t arg, const Type *key) {
    if (key->kind == TY_STRING) TRY(typing_plain_member(t, arg));
    const Type *type = typeinfer_general(t->in, t->args[arg].type);
    return may_equal(type, key) ? typing_as(t, arg, type) : as_key(t, arg, key);
}

/* Tuples of several lengths are of several types, unless their lengths stand in no type. */
static bool hint_at_key(Typing *t, const Type *sought, const Type *key) {
    if (sought->kind == TY_TUPLE && key->kind == TY_TUPLE && sought->count != key->count)
        return typing_hint(t,
                           "a tuple of %u items is of another type than one of %u: make all keys tuples of any length, "
                           "tuple([...])",
                           sought->count, key->count);
    return typing_hint(t, "convert it to the type of the keys, %s", typing_text(t, key));
}

static bool refuse_key(Typing *t, size_t arg) {
    typing_fail_arg(t, arg, DIAG_TYPING, "%s is no key of a %s", typing_arg_text(t, arg),
                    typing_text(t, t->args[0].type));
    return hint_at_key(t, infer_content(t->args[arg].type), type_key(table_of(t, 0)));
}

static bool become(Typing *t, const char *name) {
    t->op = OP_CALL;
    return typing_become_prelude(t, name);
}

/* ---- new ones ---- */

static bool make(Typing *t, const Type *table) {
    Value *value = NULL;
    if (t->emit) {
        Value *lists[2];
        for (uint32_t i = 0; i < 2; i++) lists[i] = typing_make_op(t, OP_LIST, table->items[i], NULL, 0);
        value = typing_make_op(t, OP_TUPLE, table, lists, 2);
    }
    return typing_become(t, value, table);
}

static bool display(Typing *t, TypeKind kind) {
    const Type *known = t->at->type, *nothing = infer_bottom(t->in);
    TRY(on_heap(t));
    if (known && known->kind == kind) return make(t, known);
    return make(t, type_table_of(t->in->types, nothing, kind == TY_DICT ? nothing : NULL));
}

bool rule_dict(Typing *t) {
    const Type *known = t->at->type;
    if (t->nargs && known && type_is_keywords(known)) return typing_pairs_as_keywords(t);
    t->nargs = 0;
    return display(t, TY_DICT);
}
bool rule_set(Typing *t) { return display(t, TY_SET); }

/* dict(x), of another or of pairs; set(x) of what can be walked. */
bool rule_func_table_from(Typing *t) {
    bool dict = t->func == FUNC_DICT || t->func == FUNC_TYPED_DICT;
    TRY(on_heap(t));
    if (t->nnames && dict && t->nargs - t->nnames == 1)
        return typing_names_as_dict(t) && typing_become_prelude(t, "tables:dict_from_both");
    if (t->nnames) return typing_bad_operands(t);
    if (t->nargs == 0) return typing_become_op(t, dict ? OP_DICT : OP_SET);
    return typing_become_prelude(t, dict ? "tables:dict_from" : "tables:set_from");
}

const Type *typing_declared_item(Typing *t, size_t arg) {
    const Type *type = t->args[arg].type;
    if (type->kind == TY_FUNC && type->func->id == FUNC_STR) return type_simple(t->in->types, TY_STRING);
    if (type->kind == TY_CLASS && type->items[0]->kind == TY_ARRAY) return type->items[0];
    TRY(type = typing_const_element(t, arg));
    return type_as_item(t->in->types, type);
}

/* Dict.empty(key_type, value_type) */
bool rule_func_empty_dict(Typing *t) {
    static const char *const params[] = {"key_type", "value_type", "n_keys"};
    const Type *key, *value;
    TRY(on_heap(t) && typing_bind_keywords(t, params, 2, 3));
    TRY(key = typing_declared_item(t, 0));
    TRY(value = typing_declared_item(t, 1));
    if (key->kind == TY_BOTTOM || value->kind == TY_BOTTOM) return display(t, TY_DICT); /* of what is put in */
    return make(t, type_table_of(t->in->types, key, value));
}

/* ---- items of dicts ---- */

bool typing_table_getitem(Typing *t) {
    const Type *dict = table_of(t, 0);
    if (is_empty(dict)) return become(t, "tables:missing");
    if (!as_sought(t, 1, type_key(dict))) return refuse_key(t, 1);
    return become(t, "tables:get_item");
}

bool typing_table_setitem(Typing *t) {
    TRY(put(t, 0, t->args[1].type, t->args[2].type) && !t->failed);
    const Type *dict = table_of(t, 0);
    if (is_empty(dict)) return typing_result(t, infer_none(t->in), NULL); /* it has just grown: asked again */
    if (!as_key(t, 1, type_key(dict)) || !as_key(t, 2, type_dict_value(dict)))
        return typing_result(t, infer_none(t->in), NULL);
    return become(t, "tables:set_item");
}

bool typing_table_delitem(Typing *t) {
    const Type *dict = table_of(t, 0);
    if (is_empty(dict)) return become(t, "tables:missing");
    if (!as_sought(t, 1, type_key(dict))) return refuse_key(t, 1);
    return become(t, "tables:delete");
}

bool typing_table_contains(Typing *t) {
    const Type *table = infer_content(t->args[1].type);
    bool in = t->op == OP_IN;
    if (table != t->args[1].type) typing_as(t, 1, table);
    if (is_empty(table))
        return typing_result(t, infer_bool(t->in), t->emit ? const_bool(t->in->arena, t->in->types, !in) : NULL);
    if (!as_sought(t, 0, type_key(table))) {
        typing_fail_arg(t, 0, DIAG_TYPING, "%s is never in a %s", typing_arg_text(t, 0), typing_text(t, table));
        return hint_at_key(t, infer_content(t->args[0].type), type_key(table));
    }
    return become(t, in ? "tables:contains" : "tables:contains_not");
}

/* d.get(k, ()) where the values are lists or sets, and what it gives is walked, counted, or looked through. */
static bool takes_nothing(Typing *t, const Type *value) {
    const Type *other = t->args[2].type;
    bool empty = other->kind == TY_TUPLE && !other->count && !other->object;
    return empty && (value->kind == TY_LIST || value->kind == TY_SET) && !(t->flags & VF_KEPT);
}

/* get(k[, x]), pop(k[, x]) */
bool rule_func_dict_get(Typing *t) {
    const Type *dict = table_of(t, 0);
    bool pops = t->func == FUNC_DICT_POP;
    if (!dict || t->nnames) return typing_bad_operands(t);
    for (size_t i = 2; i < t->nargs; i++) typing_as(t, i, typeinfer_general(t->in, t->args[i].type));
    if (is_empty(dict)) {
        if (t->nargs > 2) return typing_become_arg(t, 2);
        return pops ? typing_become_prelude(t, "tables:missing")
                    : typing_become_const(t, const_none(t->in->arena, t->in->types));
    }
    if (!as_sought(t, 1, type_key(dict))) return refuse_key(t, 1);
    if (!pops && t->nargs > 2 && takes_nothing(t, type_dict_value(dict))) {
        t->nargs = 2;
        bool list = type_dict_value(dict)->kind == TY_LIST;
        return typing_become_prelude(t, list ? "tables:get_or_no_items" : "tables:get_or_no_members");
    }
    if (!pops) return typing_become_prelude(t, t->nargs > 2 ? "tables:get_or" : "tables:get");
    return typing_become_prelude(t, t->nargs > 2 ? "tables:pop_or" : "tables:pop");
}

bool rule_func_dict_setdefault(Typing *t) {
    if (!table_of(t, 0) || t->nnames) return typing_bad_operands(t);
    if (t->nargs < 3) {
        typing_fail(t, DIAG_UNSUPPORTED, "setdefault() needs the value, for None is none of the dict's");
        return false;
    }
    TRY(put(t, 0, t->args[1].type, t->args[2].type) && !t->failed);
    const Type *dict = table_of(t, 0);
    if (is_empty(dict) || !as_key(t, 1, type_key(dict)) || !as_key(t, 2, type_dict_value(dict)))
        return typing_result(t, infer_bottom(t->in), NULL); /* it has just grown: asked again */
    return typing_become_prelude(t, "tables:setdefault");
}

/* ---- items of sets ---- */

bool rule_func_set_add(Typing *t) {
    if (!table_of(t, 0)) return typing_bad_operands(t);
    TRY(put(t, 0, t->args[1].type, NULL) && !t->failed);
    const Type *set = table_of(t, 0);
    if (is_empty(set) || !as_key(t, 1, type_key(set))) return typing_result(t, infer_none(t->in), NULL);
    return typing_become_prelude(t, "tables:add");
}

/* remove(x), discard(x) */
bool rule_func_set_remove(Typing *t) {
    const Type *set = table_of(t, 0);
    bool raises = t->func == FUNC_SET_REMOVE;
    if (!set) return typing_bad_operands(t);
    if (is_empty(set))
        return raises ? typing_become_prelude(t, "tables:missing")
                      : typing_become_const(t, const_none(t->in->arena, t->in->types));
    if (!as_sought(t, 1, type_key(set))) return refuse_key(t, 1);
    return typing_become_prelude(t, raises ? "tables:delete" : "tables:discard");
}

/* ---- whole ones ---- */

/* What walking over operand `arg` gives; NULL: refused, or not known yet. */
static const Type *walked_item(Typing *t, size_t arg) {
    const Type *type = infer_content(t->args[arg].type);
    if (type_is_table(type)) return type_key(type);
    const Type *typing_iterator_type(Typing * t, size_t arg, const Type **cast); /* rules_tuple.c */
    const Type *cast, *iter = typing_iterator_type(t, arg, &cast),
                      *item = iter ? type_iter_item(t->in->types, iter) : NULL;
    return item ? item : iter ? infer_bottom(t->in) : NULL;
}

bool typing_list_instance(Typing *t, size_t arg) {
    if (!typing_has_way(t, infer_content(t->args[arg].type))) return true;
    Fact facts[2] = {{0}, t->args[arg]}, made;
    Value *values[2] = {NULL, t->values[arg]}, *value = NULL;
    TRY(typing_call_prelude(t, "tables:list_of", facts, values, 2, &made, &value));
    t->args[arg] = made;
    t->values[arg] = value;
    return true;
}

/* update(x), and the methods of sets that take others: what is in them is put in. */
bool rule_func_table_update(Typing *t) {
    const Type *table = table_of(t, 0);
    if (!table || (t->nnames && (table->kind != TY_DICT || t->nargs - t->nnames > 1))) return typing_bad_operands(t);
    if (t->nargs == 1) return typing_become_const(t, const_none(t->in->arena, t->in->types));
    TRY(typing_names_as_dict(t) && typing_as_dict(t, 1));
    for (size_t i = 1; i < t->nargs; i++) {
        const Type *item, *more = infer_content(t->args[i].type);
        if (table->kind == TY_DICT && more->kind == TY_DICT) {
            TRY(put(t, 0, type_key(more), type_dict_value(more)));
            continue;
        }
        TRY(typing_list_instance(t, i));
        if (t->args[i].type->kind == TY_BOTTOM) continue;
        TRY(item = walked_item(t, i));
        if (item->kind == TY_BOTTOM) continue;
        if (table->kind == TY_SET) {
            TRY(put(t, 0, item, NULL));
        } else {
            if (item->kind != TY_TUPLE || item->count != 2) return typing_bad_operands(t);
            TRY(put(t, 0, item->items[0], item->items[1]));
        }
    }
    if (t->failed) return false;
    return typing_become_prelude(t, func_info[t->func].symbol);
}

/* **x in a display of a dict. */
bool rule_func_table_merge(Typing *t) {
    TRY(typing_as_dict(t, 1));
    const Type *more = infer_content(t->args[1].type);
    if (more->kind == TY_DICT || more->kind == TY_BOTTOM) return rule_func_table_update(t);
    typing_fail_arg(t, 1, DIAG_TYPING, "%s is not a mapping", typing_arg_text(t, 1));
    return typing_hint(t, "** takes a dict; make one of pairs by dict(x)");
}

/* Methods that put nothing in. */
bool rule_func_table_method(Typing *t) {
    if (!table_of(t, 0) || t->nnames) return typing_bad_operands(t);
    return typing_become_prelude(t, func_info[t->func].symbol);
}

bool typing_table_binary(Typing *t) {
    bool dict = t->args[0].type->kind == TY_DICT, here = (t->flags & VF_INPLACE) != 0;
    const Type *more = t->args[1].type;
    if (here && t->op == OP_OR) {
        TRY(put(t, 0, type_key(more), dict ? type_dict_value(more) : NULL) && !t->failed);
        return become(t, dict ? "tables:dict_joined" : "tables:set_joined");
    }
    switch (t->op) {
    case OP_OR: return become(t, dict ? "tables:dict_union" : "tables:union_of_two");
    case OP_AND: return dict ? typing_bad_operands(t) : become(t, here ? "tables:kept" : "tables:intersection_of_two");
    case OP_SUB: return dict ? typing_bad_operands(t) : become(t, here ? "tables:dropped" : "tables:difference_of_two");
    case OP_XOR:
        if (dict) return typing_bad_operands(t);
        if (here) TRY(put(t, 0, type_key(more), NULL) && !t->failed);
        return become(t, here ? "tables:exchanged" : "tables:symmetric_difference");
    default: return typing_bad_operands(t);
    }
}

bool typing_table_compare(Typing *t) {
    static const char *const names[] = {"tables:is_proper_subset", "tables:is_subset",          "tables:set_equal",
                                        "tables:set_not_equal",    "tables:is_proper_superset", "tables:is_superset"};
    if (t->args[0].type->kind == TY_SET) return become(t, names[t->op - OP_LT]);
    if (t->op != OP_EQ && t->op != OP_NE) return typing_bad_operands(t);
    return become(t, t->op == OP_EQ ? "tables:dict_equal" : "tables:dict_not_equal");
}

bool typing_walked(Typing *t, size_t arg) {
    const Type *type = infer_content(t->args[arg].type);
    bool numbers = type->kind == TY_BYTES;
    if (type->kind == TY_VARTUPLE) return typing_as_list(t, arg);
    if (!type_is_table(type) && !numbers) return true;
    bool changes = !numbers && typing_table_changes(t);
    const char *name = numbers ? "strings:byte_numbers" : changes ? "tables:each_key" : "tables:keys";
    ObjRef keys = t->in->host->prelude(t->in->host->self, name);
    TRY(keys);
    Fact facts[2] = {{type_object(t->in->types, TY_PYFUNC, keys), NULL}, t->args[arg]};
    Value *values[2] = {NULL, t->values[arg]};
    facts[0].konst = const_of(t->in->arena, facts[0].type);
    if (t->emit) values[0] = typing_make_const(t, facts[0].konst);
    TRY(typing_sub(t, &(SubOp){.op = OP_CALL, .values = values, .facts = facts, .nargs = 2}, &t->args[arg],
                   &t->values[arg]));
    return t->args[arg].type->kind == (changes ? TY_GENERATOR : TY_LIST);
}

/* view_as_set(operand, table, whether it is table.keys()) */
bool rule_func_view_as_set(Typing *t) {
    if (t->args[1].type->kind != TY_DICT || t->args[0].type->kind == TY_SET) return typing_become_arg(t, 0);
    size_t of = t->args[2].konst->i ? 1 : 0;
    const Const *callee = const_of(t->in->arena, type_func(t->in->types, &func_info[FUNC_SET].head));
    Fact facts[2] = {{callee->type, callee}, t->args[of]}, fact;
    Value *values[2] = {t->emit ? typing_make_const(t, callee) : NULL, t->values[of]}, *value;
    TRY(typing_sub(t, &(SubOp){.op = OP_CALL, .values = values, .facts = facts, .nargs = 2}, &fact, &value));
    return typing_become(t, value, fact.type);
}

/* ---- what the prelude is made of ---- */

/* The lists of a dict or a set. */
bool rule_func_table_lists(Typing *t) {
    const Type *table = table_of(t, 0);
    if (!table) return typing_bad_operands(t);
    const Type *lists = type_tuple(t->in->types, table->items, 2);
    return typing_become(t, t->emit ? typing_make_op(t, OP_CAST, lists, t->values, 1) : NULL, lists);
}

/* A dict or a set of the same types without items. */
bool rule_func_empty_like(Typing *t) {
    const Type *table = table_of(t, 0);
    return table ? make(t, table) : typing_bad_operands(t);
}

/* Of an instance what its class says, or where it lies. */
static bool hash_of_instance(Typing *t, const Type *type) {
    Member own = typing_member(t, type, "__hash__", 0);
    if (own.kind == MEMBER_METHOD) return typing_become_prelude(t, "hashing:of_own");
    if (own.kind != MEMBER_NONE || !type_is_shared(type)) {
        typing_fail(t, DIAG_TYPING, "%s cannot be a key of a dict or an item of a set: its class has no __hash__()",
                    typing_text(t, type));
        return typing_hint(t, "a class with __eq__() needs __hash__(), too; a dataclass is frozen=True for that");
    }
    Fact fact = {infer_int(t->in), NULL};
    Value *address = t->emit ? typing_make_func(t, FUNC_OBJECT_ADDRESS, fact.type, t->values, 1) : NULL;
    t->args[0] = fact;
    t->values[0] = address;
    return typing_become_prelude(t, "hashing:of_int");
}

/* The hash of a key: not the interpreter's, which is not the same from one process to the next. */
bool rule_func_key_hash(Typing *t) {
    const Type *type = t->args[0].type;
    if (type->kind == TY_BOTTOM) return typing_result(t, infer_int(t->in), NULL);
    if (type->kind == TY_STRING || type->kind == TY_BYTES) return typing_become_prelude(t, "hashing:of_codes");
    if (type->kind == TY_VARTUPLE) return typing_become_prelude(t, "hashing:of_items");
    if (type_is_instance(type)) return hash_of_instance(t, type);
    if (type->kind == TY_TUPLE)
        return typing_become_prelude(t, type->count ? "hashing:of_tuple" : "hashing:of_nothing");
    if (type->kind != TY_SCALAR && type->kind != TY_MEMBER) return typing_bad_operands(t);
    bool real = type_scalar_kind(type) == 'f';
    if (type->scalar == SCALAR_UINT64) typing_as(t, 0, infer_scalar(t->in, SCALAR_INT64, false)); /* the bits */
    typing_as(t, 0, real ? infer_float(t->in) : infer_int(t->in));
    return typing_become_prelude(t, real ? "hashing:of_float" : "hashing:of_int");
}
