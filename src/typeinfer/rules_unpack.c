/* rules_unpack.c: typing rules of `a, b = x` and `a, *b, c = x`.
 *
 * The length of a tuple or a record is in its type: too few or too many names are refused when the function is
 * compiled.  Of lists, texts, ranges and arrays the length is checked when the code runs; the items are then taken by
 * constant indices.  What a starred target gets is a list. */
#include <string.h> /* strcmp */

#include "typeinfer/rules.h"

/* n, m = x.shape; wanted 0: there is no number of dimensions that would do alone. */
static bool wrong_dimensions(Typing *t, const Value *shape, size_t wanted, size_t count) {
    const char *name = shape->args[0]->name, *x = name ? name : "x";
    const char *also = wanted ? arena_printf(t->in->arena, "; or pass an array of %zu dimension%s", wanted,
                                             wanted == 1 ? "" : "s")
                              : "";
    if (count == 1)
        return typing_hint(t, "%s has 1 dimension: write n = %s.shape[0], or n, = %s.shape%s", x, x, x, also);
    return typing_hint(t, "%s has %zu dimensions: write as many names%s", x, count, also);
}

static bool wrong_count(Typing *t, size_t wanted, bool at_least, size_t count) {
    if (count > wanted)
        typing_fail(t, DIAG_TYPING, "too many values to unpack (expected %zu, got %zu)", wanted, count);
    else
        typing_fail(t, DIAG_TYPING, "not enough values to unpack (expected %s%zu, got %zu)",
                    at_least ? "at least " : "", wanted, count);
    const Value *value = t->values[0] ? value_resolve(t->values[0]) : NULL;
    if (value && value_calls(value, FUNC_CUDA_GRID))
        return typing_hint(t, "write as many names as there are values: %zu; or cuda.grid(%zu), which gives %zu", count,
                           wanted, wanted);
    if (value && value->op == OP_GETATTR && strcmp(value->imm.text, "shape") == 0 && value->args[0]->type &&
        value->args[0]->type->kind == TY_ARRAY)
        return wrong_dimensions(t, value, at_least ? 0 : wanted, count);
    if (count == 1)
        return typing_hint(t, "there is one value: write one name and a comma behind it, n, = ..., or take item 0");
    return typing_hint(t, "write as many names as there are values: %zu", count);
}

/* Calls a function of the prelude on operand 0 and a number. */
static bool call_with_number(Typing *t, const char *function, size_t count, Fact *fact, Value **value) {
    Infer *in = t->in;
    ObjRef ref = in->host->prelude(in->host->self, function);
    TRY(ref);
    Fact facts[3] = {{type_object(in->types, TY_PYFUNC, ref), NULL}, t->args[0], {infer_int(in), NULL}};
    facts[0].konst = const_of(in->arena, facts[0].type);
    facts[2].konst = const_int(in->arena, in->types, (int64_t)count);
    Value *values[3] = {NULL, t->values[0], NULL};
    if (t->emit) {
        values[0] = typing_make_const(t, facts[0].konst);
        values[2] = typing_make_const(t, facts[2].konst);
    }
    return typing_sub(t, &(SubOp){.op = OP_CALL, .values = values, .facts = facts, .nargs = 3}, fact, value);
}

/* For what it raises. */
static bool check_length(Typing *t, const char *function, size_t count) {
    Fact none;
    Value *done;
    return call_with_number(t, function, count, &none, &done);
}

/* An instance is walked by the methods of its class, which may raise and never come back: *never. */
static bool walk_instance(Typing *t, bool *never) {
    *never = false;
    if (!type_is_instance(t->args[0].type) || !typing_has_way(t, t->args[0].type)) return true;
    SubOp walks = {.op = OP_ITER, .values = &t->values[0], .facts = &t->args[0], .nargs = 1};
    TRY(typing_sub(t, &walks, &t->args[0], &t->values[0]));
    *never = t->args[0].type->kind == TY_BOTTOM;
    return true;
}

/* Of what is walked, a generator or an iterator, the items become a list, one more at most than there are names. */
static bool take_walked(Typing *t, const Type **type, size_t count, const char *what) {
    if ((*type)->kind != TY_GENERATOR && (*type)->kind != TY_ITER) return true;
    TRY(call_with_number(t, "lists:up_to", count, &t->args[0], &t->values[0]));
    *type = t->args[0].type;
    if ((*type)->kind == TY_LIST || t->in->quiet) return (*type)->kind == TY_LIST;
    typing_fail(t, DIAG_TYPING, "%s cannot be unpacked: it gives no item, or items that no one type holds", what);
    return typing_hint(t, "give items of one type, or a tuple, which has a type for each");
}

/* An iterable becomes a list of its items. */
static bool make_list(Typing *t, Fact *fact, Value **value) {
    const Const *callee = const_of(t->in->arena, type_func(t->in->types, &func_info[FUNC_LIST].head));
    Fact facts[2] = {{callee->type, callee}, *fact};
    Value *values[2] = {t->emit ? typing_make_const(t, callee) : NULL, *value};
    return typing_sub(t, &(SubOp){.op = OP_CALL, .values = values, .facts = facts, .nargs = 2}, fact, value);
}

/* A text is the list of its characters. */
static bool take_characters(Typing *t, const Type **type) {
    if (!typing_is_text(*type) || t->in->device) return true;
    TRY(make_list(t, &t->args[0], &t->values[0]));
    *type = t->args[0].type;
    return (*type)->kind == TY_LIST;
}

/* Adds x[index] to the items. */
static bool add_indexed(Typing *t, Items *items, const Const *index) {
    Fact facts[2] = {t->args[0], {index->type, index}};
    Value *values[2] = {t->values[0], t->emit ? typing_make_const(t, index) : NULL};
    size_t i = items->count++;
    return typing_sub(t, &(SubOp){.op = OP_GETITEM, .values = values, .facts = facts, .nargs = 2}, &items->facts[i],
                      &items->values[i]);
}

static bool add_at(Typing *t, Items *items, int64_t index) {
    return add_indexed(t, items, const_int(t->in->arena, t->in->types, index));
}

/* Adds list(x[before:-after]) to the items. */
static bool add_rest(Typing *t, Items *items, int64_t before, int64_t after) {
    Infer *in = t->in;
    const Const **parts = ARENA_ARRAY(in->arena, const Const *, 3);
    parts[0] = const_int(in->arena, in->types, before);
    parts[1] = after ? const_int(in->arena, in->types, -after) : const_none(in->arena, in->types);
    parts[2] = const_none(in->arena, in->types);
    Const *slice = ARENA_NEW(in->arena, Const);
    *slice = (Const){.type = type_slice(in->types, parts[0]->type, parts[1]->type, parts[2]->type), .items = parts};
    TRY(add_indexed(t, items, slice));
    size_t i = items->count - 1;
    if (items->facts[i].type->kind == TY_LIST) return true;
    return make_list(t, &items->facts[i], &items->values[i]);
}

/* Whether the items of these are taken by an index. */
static bool is_indexed(const Type *type) {
    return type->kind == TY_LIST || type->kind == TY_RANGE || (type->kind == TY_ARRAY && !type->record && type->ndim);
}

static bool unpack_list(Typing *t, size_t wanted) {
    Items items = typing_items_new(t->in, wanted);
    TRY(check_length(t, "lists:check_unpacked", wanted));
    for (size_t i = 0; i < wanted; i++) TRY(add_at(t, &items, (int64_t)i));
    return typing_become_tuple(t, items.facts, items.values, items.count);
}

bool rule_unpack(Typing *t) {
    bool never;
    const char *what = t->in->quiet ? NULL : typing_arg_text(t, 0);
    TRY(walk_instance(t, &never));
    if (never) return typing_become_arg(t, 0);
    typing_as_list(t, 0);
    const Type *type = t->args[0].type;
    size_t wanted = (size_t)t->imm;
    TRY(take_walked(t, &type, wanted, what));
    TRY(take_characters(t, &type));
    if (type->kind == TY_TUPLE) {
        if (type->count != wanted) return wrong_count(t, wanted, false, type->count);
        return typing_become_arg(t, 0);
    }
    if (type->kind == TY_ARRAY && type->record) {
        if (type_element(type)->count != wanted) return wrong_count(t, wanted, false, type_element(type)->count);
        return typing_unpack_record(t, type);
    }
    if (type->kind == TY_ARRAY && type->ndim > 0) { /* the length is checked when it runs */
        const Type *item = type_array_item(t->in->types, type);
        const Type **items = ARENA_ARRAY(t->in->arena, const Type *, wanted);
        for (size_t i = 0; i < wanted; i++) items[i] = item;
        return typing_result(t, type_tuple(t->in->types, items, wanted), NULL);
    }
    if (is_indexed(type)) return unpack_list(t, wanted);
    typing_fail(t, DIAG_TYPING, "%s cannot be unpacked", typing_arg_text(t, 0));
    typing_hint(t, "tuples, lists, texts, ranges and arrays can be unpacked");
    return typing_hint_operands(t, UNPACKED, "");
}

/* before items, the rest, after items */
bool rule_unpack_ex(Typing *t) {
    size_t before = (size_t)(t->imm & 0xff), after = (size_t)(t->imm >> 8);
    bool never;
    TRY(walk_instance(t, &never));
    if (never) return typing_become_arg(t, 0);
    typing_as_list(t, 0);
    const Type *type = t->args[0].type;
    Items items = typing_items_new(t->in, before + 1 + after);
    if (type->kind == TY_RANGE || type->kind == TY_GENERATOR || type->kind == TY_ITER) { /* which have no slices */
        TRY(make_list(t, &t->args[0], &t->values[0]));
        type = t->args[0].type;
        if (type->kind == TY_BOTTOM) return false;
    }
    TRY(take_characters(t, &type));
    if (is_indexed(type)) {
        TRY(check_length(t, "lists:check_unpacked_some", before + after));
        for (size_t i = 0; i < before; i++) TRY(add_at(t, &items, (int64_t)i));
        TRY(add_rest(t, &items, (int64_t)before, (int64_t)after));
        for (size_t i = after; i > 0; i--) TRY(add_at(t, &items, -(int64_t)i));
        return typing_become_tuple(t, items.facts, items.values, items.count);
    }
    if (type->kind != TY_TUPLE) {
        typing_fail(t, DIAG_TYPING, "%s cannot be unpacked with a starred target", typing_arg_text(t, 0));
        return typing_hint(t, "tuples, lists, texts, ranges and arrays can be unpacked");
    }
    if (type->count < before + after) return wrong_count(t, before + after, true, type->count);
    Items rest = typing_items_new(t->in, type->count);
    typing_items_add(t, &rest, 0, before, type->count - after);
    typing_items_add(t, &items, 0, 0, before);
    items.facts[before] = typing_tuple_fact(t->in, rest.facts, rest.count);
    if (t->emit) items.values[before] = typing_make_op(t, OP_TUPLE, items.facts[before].type, rest.values, rest.count);
    items.count++;
    typing_items_add(t, &items, 0, type->count - after, type->count);
    return typing_become_tuple(t, items.facts, items.values, items.count);
}

bool typing_is_starred(const Typing *t) {
    const Value *unpacked = t->at->op == OP_EXTRACT ? t->at->args[0] : NULL; /* as it was before it was typed */
    return unpacked && unpacked->op == OP_UNPACK_EX && t->imm == (unpacked->imm.i & 0xff);
}

bool typing_become_rest(Typing *t, size_t i) {
    Fact rest = typing_item_fact(t->args[0], i);
    if (rest.type->kind == TY_LIST) return typing_become_item(t, 0, i);
    t->args[0] = rest;
    if (t->emit) t->values[0] = typing_make_extract(t, t->values[0], i);
    t->op = OP_CALL;
    return typing_become_func(t, FUNC_LIST);
}
