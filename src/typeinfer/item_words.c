/* item_words.c: what is said where an item does not fit a list, a dict or a set.
 *
 * In: the value that is a container, its type, and that of the item, or of a container of it.  Out: a refusal, which
 * names both types and says what to write where the container is made. */
#include "typeinfer/rules.h"

/* A list that is made with items, and so of their type. */
static bool is_filled_list(const Value *value) { return value->op == OP_LIST && value->nargs && value->span.line; }

/* Where what is put into was made, as far as the function says it: " (`t`, made in line 3)", else "". */
static const char *made_where(Typing *t, const Value *list) {
    while (list->op == OP_GETITEM) list = value_resolve(list->args[0]);
    if (!list->name || list->op == OP_PARAM || !list->span.line) return "";
    return arena_printf(t->in->arena, " (`%s`, made in line %u)", list->name, list->span.line);
}

/* 0.5 into [0], which would change it. */
static bool are_numbers(const Type *a, const Type *b) {
    return a->kind == TY_SCALAR && b->kind == TY_SCALAR && infer_example(a) && infer_example(b);
}

bool typing_refuse_item(Typing *t, const Value *list, const Type *is, const Type *item) {
    const char *name = list->name, *items = typing_text(t, is->items[0]);
    if (is->items[0]->kind == TY_BOTTOM) {
        typing_fail(t, DIAG_NO_UNIFY, "%s is put into an empty list, and where that is made its items have no type",
                    typing_text(t, item));
        return typing_hint(t,
                           "make it with an item of that type and take it out again, where it is made: x = [%s], "
                           "x.clear()",
                           infer_example(item) ? infer_example(item) : "value");
    }
    if (infer_is_function(item) && infer_is_function(is->items[0])) {
        typing_fail(t, DIAG_NO_UNIFY, "a second function, %s, is put into a list that was made for the first one",
                    typing_text(t, item));
        return typing_hint(t, "make the list of all of its functions at once, l = [f, g], where they are known, and "
                              "pass it on from there");
    }
    typing_fail(t, DIAG_NO_UNIFY, "%s is put into a %s", typing_text(t, item), typing_text(t, is));
    if (are_numbers(item, is->items[0]) && !(is_filled_list(list) && name))
        return typing_hint(t,
                           "a list%s has one type of items, that of the first, here %s: let it begin with %s in place "
                           "of %s, or convert what is put in, %s(...)",
                           made_where(t, list), items, infer_example(item), infer_example(is->items[0]), items);
    if (is_filled_list(list) && name)
        return typing_hint(
            t,
            "a list has one type of items, and [...] in line %u makes it %s: begin with %s = [], if what "
            "stands there is no item, or convert what is put in; things of several types go into two "
            "lists, or as tuples of one form into one",
            list->span.line, items, name);
    const Type *of = is->items[0];
    bool number = item->kind == TY_SCALAR && of->kind == TY_SCALAR && of->weak && !of->object;
    return typing_hint(t,
                       "a list has one type of items, that of the first, here %s: convert what is put in%s; things of "
                       "several types go into two lists, or as tuples of one form into one",
                       items, number ? arena_printf(t->in->arena, ", %s(x)", items) : "");
}

/* What does not fit is the key, or else the value. */
bool typing_refuse_entry(Typing *t, const Type *is, const Type *more) {
    bool set = is->kind == TY_SET;
    bool keys = !typeinfer_join(t->in->config->promotion, t->in->types, type_key(is), type_key(more));
    const Type *wrong = keys || set ? type_key(more) : type_dict_value(more);
    typing_fail(t, DIAG_NO_UNIFY, "a%s of type %s is put into a %s",
                set    ? "n item"
                : keys ? " key"
                       : " value",
                typing_text(t, wrong), typing_text(t, is));
    if (set)
        return typing_hint(t, "the items of a set have one type in compiled code: convert all of them before they are "
                              "put in, as by str(v), or use two sets");
    if (keys)
        return typing_hint(t, "the keys of a dict have one type in compiled code: convert all of them before they are "
                              "used, as by str(key), or use two dicts");
    if (are_numbers(type_dict_value(is), type_dict_value(more)))
        return typing_hint(t,
                           "the values of a dict have one type in compiled code: let them begin with %s in place of "
                           "%s, in a defaultdict with %s, or convert what is put in, %s(...)",
                           infer_example(type_dict_value(more)), infer_example(type_dict_value(is)),
                           typing_text(t, type_dict_value(more)), typing_text(t, type_dict_value(is)));
    return typing_hint(t,
                       "the values of a dict have one type in compiled code: convert them, use a dict for each type, "
                       "or, for things of several types, a namedtuple or a class");
}
