/* rules_keywords.c: keyword arguments whose names are not in the text of a call: **x of a call, **name of a function,
 * dicts that are only made to be taken apart so, and displays of dicts whose values have several types.
 *
 * In: values and their names.  Out: a tuple of the values whose type has the names, as that of a namedtuple has; its
 * class, which has the methods of a dict, is Python of the prelude (krait/prelude/keywords.py).  So which names there
 * are is known when a function is compiled, and each value has its own type. */
#include <string.h> /* strcmp */

#include "library/library.h"
#include "typeinfer/rules.h"

static int place_of(const Type *keywords, const char *name) {
    for (uint32_t i = 0; i < keywords->count; i++)
        if (strcmp(type_keyword(keywords, i), name) == 0) return (int)i;
    return -1;
}

/* ---- made ---- */

typedef struct Named {
    const char **names;
    Fact *facts;
    Value **values; /* when emitting */
    size_t count;
} Named;

static Named new_named(Infer *in, size_t most) {
    return (Named){ARENA_ARRAY(in->arena, const char *, most), ARENA_ARRAY(in->arena, Fact, most),
                   ARENA_ARRAY(in->arena, Value *, most), 0};
}

/* What had the name before keeps its place, as in a dict. */
static void add_named(Named *to, const char *name, Fact fact, Value *value) {
    size_t i = 0;
    while (i < to->count && strcmp(to->names[i], name) != 0) i++;
    to->names[i] = name;
    to->facts[i] = fact;
    to->values[i] = value;
    to->count += i == to->count;
}

static void add_item(Typing *t, Named *to, size_t arg, uint32_t i) {
    Value *value = t->emit ? typing_make_extract(t, t->values[arg], i) : NULL;
    add_named(to, type_keyword(t->args[arg].type, i), typing_item_fact(t->args[arg], i), value);
}

/* Texts that are not all known are made at run time, as in any tuple. */
static Fact make_keywords(Typing *t, const Named *named, Value **value) {
    Infer *in = t->in;
    ObjRef class = in->host->prelude(in->host->self, "keywords:Keywords");
    const char **names = ARENA_ARRAY(in->arena, const char *, named->count);
    const Type **types = ARENA_ARRAY(in->arena, const Type *, named->count);
    Value **values = ARENA_ARRAY(in->arena, Value *, named->count);
    const Const *known = typing_tuple_fact(in, named->facts, named->count).konst;
    for (size_t i = 0; i < named->count; i++) {
        const Type *type = named->facts[i].type;
        names[i] = arena_printf(in->arena, KEYWORD_MARK "%s", named->names[i]);
        types[i] = known || in->device ? type : typeinfer_general(in, type);
        if (t->emit) values[i] = typing_make_cast(t, named->values[i], types[i]);
    }
    const Type *type = type_named_tuple(in->types, class, KEYWORDS_TITLE, names, types, named->count);
    if (t->emit) *value = typing_make_op(t, OP_TUPLE, type, values, named->count);
    return (Fact){type, known ? const_typed_tuple(in->arena, type, known->items) : NULL};
}

static bool become_keywords(Typing *t, const Named *named) {
    Value *value = NULL;
    Fact fact = make_keywords(t, named, &value);
    t->konst = fact.konst;
    if (t->emit && fact.konst) value = typing_make_const(t, fact.konst); /* what is known stays so */
    return typing_become(t, value, fact.type);
}

static bool is_plain(const Type *type) {
    const Type *content = infer_content(type);
    return content->kind == TY_NONE || content->kind == TY_SCALAR || content->kind == TY_STR ||
           content->kind == TY_STRING || content->kind == TY_MEMBER;
}

/* fields_of(instance, function): the fields of a dataclass that dataclasses.replace, asdict or astuple looks at. */
bool rule_func_fields_of(Typing *t) {
    const Type *type = infer_content(t->args[0].type);
    const char *function = t->args[1].konst->text;
    bool all = strcmp(function, "replace") != 0;
    Member names = {0};
    if (type_is_instance(type)) names = typing_member(t, type, all ? "__krait_fields__" : "__krait_init_fields__", 0);
    if (!names.konst) {
        typing_fail(t, DIAG_BAD_ARGUMENTS, "%s() should be called on dataclass instances, not on %s", function,
                    typing_arg_text(t, 0));
        return typing_hint(t, "replace, asdict and astuple of the module dataclasses take such instances");
    }
    Named fields = new_named(t->in, names.konst->type->count);
    for (size_t i = 0; i < names.konst->type->count; i++) {
        Fact fact;
        Value *value;
        const char *name = names.konst->items[i]->text;
        SubOp get = {.op = OP_GETATTR, .values = t->values, .facts = t->args, .nargs = 1, .text = name};
        TRY(typing_sub(t, &get, &fact, &value));
        if (all && !is_plain(fact.type)) {
            typing_fail(t, DIAG_TYPING, "the field `%s` is %s, of which a copy would be made", name,
                        typing_text(t, fact.type));
            return typing_hint(t, "asdict and astuple take fields that are numbers and texts: write the dict");
        }
        add_named(&fields, name, fact, value);
    }
    return become_keywords(t, &fields);
}

/* p._asdict(): what p is a namedtuple of, each with the type that it has there. */
bool typing_become_fields(Typing *t) {
    const Type *type = t->args[0].type;
    Named fields = new_named(t->in, type->count);
    for (uint32_t i = 0; i < type->count; i++) {
        Value *value = t->emit ? typing_make_extract(t, t->values[0], i) : NULL;
        add_named(&fields, type->names[i], (Fact){type->items[i], NULL}, value);
    }
    return become_keywords(t, &fields);
}

/* The rest of the keyword arguments: those that `taken` does not say of. */
Fact typing_rest_keywords(Typing *t, size_t positional, const bool *taken, Value **value) {
    Named rest = new_named(t->in, t->nnames);
    for (size_t k = 0; k < t->nnames; k++)
        if (!taken[k]) add_named(&rest, t->names[k], t->args[positional + k], t->values[positional + k]);
    return make_keywords(t, &rest, value);
}

bool typing_as_dict(Typing *t, size_t arg) {
    if (!type_is_keywords(t->args[arg].type)) return true;
    Fact facts[2] = {{0}, t->args[arg]}, made;
    Value *values[2] = {NULL, t->values[arg]}, *value = NULL;
    TRY(typing_call_prelude(t, "keywords:as_dict", facts, values, 2, &made, &value));
    t->args[arg] = made;
    t->values[arg] = value;
    return true;
}

bool typing_names_as_dict(Typing *t) {
    size_t positional = t->nargs - t->nnames;
    if (!t->nnames) return true;
    bool *taken = ARENA_ARRAY(t->in->arena, bool, t->nnames);
    Value *value = NULL;
    t->args[positional] = typing_rest_keywords(t, positional, taken, &value);
    t->args[positional].konst = NULL;
    t->values[positional] = value;
    t->nargs = positional + 1;
    t->nnames = 0;
    return typing_as_dict(t, positional);
}

/* ---- **x ---- */

static bool not_a_mapping(Typing *t, size_t arg) {
    const Type *type = infer_content(t->args[arg].type);
    if (type->kind != TY_DICT) {
        return typing_fail_arg(t, arg, DIAG_BAD_ARGUMENTS, "** needs a mapping here, not %s", typing_arg_text(t, arg));
    }
    typing_fail_arg(t, arg, DIAG_UNSUPPORTED,
                    "which names the keyword arguments have that %s gives is only known when the code runs",
                    typing_arg_text(t, arg));
    return typing_hint(t, "write them out, f(a=x['a']), or make the dict in one display of the same function, which "
                          "nothing changes: {'a': 1, 'b': 2}");
}

static bool is_given(const Named *named, const char *name) {
    for (size_t i = 0; i < named->count; i++)
        if (strcmp(named->names[i], name) == 0) return true;
    return false;
}

static bool add_argument(Typing *t, Named *all, const char *name, Fact fact, Value *value) {
    if (is_given(all, name))
        return typing_fail(t, DIAG_BAD_ARGUMENTS, "the call has several values for the keyword argument '%s'", name);
    add_named(all, name, fact, value);
    return true;
}

bool typing_take_apart(Typing *t) {
    Infer *in = t->in;
    size_t first = t->nargs - t->nnames, most = t->nnames;
    bool any = false;
    for (size_t k = 0; k < t->nnames; k++) {
        if (strcmp(t->names[k], SPREAD_NAME) != 0) continue;
        any = true;
        if (!type_is_keywords(t->args[first + k].type)) return not_a_mapping(t, first + k);
        most += t->args[first + k].type->count;
    }
    if (!any) return true;
    Named all = new_named(in, most);
    for (size_t k = 0; k < t->nnames; k++) {
        const Type *type = t->args[first + k].type;
        bool spread = strcmp(t->names[k], SPREAD_NAME) == 0;
        if (!spread) TRY(add_argument(t, &all, t->names[k], t->args[first + k], t->values[first + k]));
        for (uint32_t i = 0; spread && i < type->count; i++)
            TRY(add_argument(t, &all, type_keyword(type, i), typing_item_fact(t->args[first + k], i),
                             t->emit ? typing_make_extract(t, t->values[first + k], i) : NULL));
    }
    Fact *args = ARENA_ARRAY(in->arena, Fact, first + all.count);
    Value **values = ARENA_ARRAY(in->arena, Value *, first + all.count);
    for (size_t i = 0; i < first + all.count; i++) {
        args[i] = i < first ? t->args[i] : all.facts[i - first];
        values[i] = i < first ? t->values[i] : all.values[i - first];
    }
    t->args = args;
    t->values = values;
    t->to = ARENA_ARRAY(in->arena, const Type *, first + all.count);
    t->nargs = first + all.count;
    t->names = all.names;
    t->nnames = all.count;
    return true;
}

/* ---- what the class asks (krait/prelude/intrinsics.py) ---- */

static bool keywords_arg(Typing *t, size_t arg) { return type_is_keywords(t->args[arg].type) || not_a_mapping(t, arg); }

/* The pairs of a display, key, value, ... */
bool typing_pairs_as_keywords(Typing *t) {
    Named named = new_named(t->in, t->nargs / 2);
    for (size_t i = 0; i < t->nargs; i += 2)
        add_named(&named, t->args[i].konst->text, t->args[i + 1], t->values[i + 1]);
    return become_keywords(t, &named);
}

const Type *typing_keywords_of_pairs(Infer *in, const Value *display) {
    Named named = new_named(in, display->nargs / 2);
    Typing t = {.in = in};
    for (uint32_t i = 0; i < display->nargs; i += 2) {
        const Value *value = value_resolve(display->args[i + 1]);
        add_named(&named, display->args[i]->konst->text, (Fact){value->type, value->konst}, NULL);
    }
    return make_keywords(&t, &named, NULL).type;
}

/* ---- as a dict ---- */

static const Const *names_of(Typing *t, const Type *type) {
    const Const **names = ARENA_ARRAY(t->in->arena, const Const *, type->count);
    for (uint32_t i = 0; i < type->count; i++) names[i] = const_str(t->in->arena, t->in->types, type_keyword(type, i));
    return const_tuple(t->in->arena, t->in->types, names, type->count);
}

/* x | y, one of which is such: a display beside it is made one, too. */
static bool check_union(Typing *t) {
    bool named[2] = {type_is_keywords(t->args[0].type), type_is_keywords(t->args[1].type)};
    if (named[0] == named[1]) return true;
    size_t other = named[0];
    if (t->args[other].type->kind != TY_DICT) return true;
    if (!t->emit && t->values[other] && typeinfer_name_display(t->in, t->values[other])) return false; /* asked again */
    typing_fail(t, DIAG_UNSUPPORTED,
                "%s has values of several types, for which all names must be known, and those of %s are only known "
                "when the code runs",
                typing_arg_text(t, !other), typing_arg_text(t, other));
    return typing_hint(t, "write one display of the items, {'a': x['a'], 'b': 2}, or give all values one type");
}

bool typing_walk_keywords(Typing *t) {
    if (t->op == OP_OR) TRY(check_union(t));
    bool walked = typing_walks(t);
    for (size_t i = 0; walked && i < t->nargs; i++) {
        if (!t->args[i].type || !type_is_keywords(t->args[i].type)) continue;
        const Type *type = t->args[i].type;
        const Const *names = names_of(t, type);
        if (!typing_common_item(t->in, type) && typing_ask_rounds(t, type->count)) return false;
        t->args[i] = (Fact){names->type, names};
        t->values[i] = t->emit ? typing_make_const(t, names) : NULL;
    }
    return true;
}

/* Equal are those of the same names, in any order, and equal values. */
bool typing_compare_keywords(Typing *t) {
    const Type *a = t->args[0].type, *b = t->args[1].type;
    if (t->op != OP_EQ && t->op != OP_NE) return typing_bad_operands(t);
    if (a->kind == TY_DICT || b->kind == TY_DICT) return typing_bad_operands(t);
    bool same = type_is_keywords(a) && type_is_keywords(b) && a->count == b->count;
    Named sides[2] = {new_named(t->in, a->count), new_named(t->in, a->count)};
    for (uint32_t i = 0; same && i < a->count; i++) {
        int place = place_of(b, type_keyword(a, i));
        same = place >= 0;
        if (!same) break;
        add_item(t, &sides[0], 0, i);
        add_item(t, &sides[1], 1, (uint32_t)place);
    }
    if (!same) return typing_become_const(t, const_bool(t->in->arena, t->in->types, t->op == OP_NE));
    Fact facts[2], fact;
    Value *values[2] = {NULL, NULL}, *value = NULL;
    for (size_t k = 0; k < 2; k++) {
        facts[k] = typing_tuple_fact(t->in, sides[k].facts, a->count);
        if (t->emit) values[k] = typing_make_op(t, OP_TUPLE, facts[k].type, sides[k].values, a->count);
    }
    TRY(typing_sub(t, &(SubOp){.op = t->op, .values = values, .facts = facts, .nargs = 2}, &fact, &value));
    t->konst = fact.konst;
    return typing_become(t, value, fact.type);
}

bool rule_func_new_keywords(Typing *t) {
    Named named = new_named(t->in, t->nnames);
    for (size_t k = 0; k < t->nnames; k++) add_named(&named, t->names[k], t->args[k], t->values[k]);
    return become_keywords(t, &named);
}

bool rule_func_keyword_names(Typing *t) {
    TRY(keywords_arg(t, 0));
    return typing_become_const(t, names_of(t, t->args[0].type));
}

bool rule_func_keyword_values(Typing *t) {
    TRY(keywords_arg(t, 0));
    Items items = typing_items_new(t->in, t->args[0].type->count);
    typing_items_add(t, &items, 0, 0, t->args[0].type->count);
    return typing_become_tuple(t, items.facts, items.values, items.count);
}

bool rule_func_keyword_items(Typing *t) {
    TRY(keywords_arg(t, 0));
    const Type *type = t->args[0].type;
    Items pairs = typing_items_new(t->in, type->count);
    for (uint32_t i = 0; i < type->count; i++) {
        const Const *name = const_str(t->in->arena, t->in->types, type_keyword(type, i));
        Fact pair[2] = {{name->type, name}, typing_item_fact(t->args[0], i)};
        Value *values[2] = {NULL, NULL};
        Fact fact = typing_tuple_fact(t->in, pair, 2);
        if (t->emit) {
            values[0] = typing_make_const(t, name);
            values[1] = typing_make_extract(t, t->values[0], i);
            pairs.values[i] = typing_make_op(t, OP_TUPLE, fact.type, values, 2);
        }
        pairs.facts[pairs.count++] = fact;
    }
    return typing_become_tuple(t, pairs.facts, pairs.values, pairs.count);
}

/* A name that is known only when the code runs is looked for then. */
static const char *known_name(Typing *t, size_t arg) {
    const Const *konst = t->args[arg].konst;
    return konst && konst->type->kind == TY_STR ? konst->text : NULL;
}

bool rule_func_keyword_item(Typing *t) {
    TRY(keywords_arg(t, 0));
    const Type *type = t->args[0].type;
    const char *name = known_name(t, 1);
    int place = name ? place_of(type, name) : -1;
    if (place >= 0) return typing_become_item(t, 0, (size_t)place);
    if (name || !type->count) return typing_become_prelude(t, "keywords:missing");
    if (typing_common_item(t->in, type)) return typing_become_prelude(t, "keywords:found");
    typing_fail(t, DIAG_UNSUPPORTED,
                "which value of this dict is meant is only known when the code runs, and they have several types");
    return typing_hint(t, "name it, x['name'], or give all of them values of one type");
}

bool rule_func_has_keyword(Typing *t) {
    TRY(keywords_arg(t, 0));
    const char *name = known_name(t, 1);
    if (!name) return typing_become_prelude(t, "keywords:is_name");
    return typing_become_const(t, const_bool(t->in->arena, t->in->types, place_of(t->args[0].type, name) >= 0));
}

bool rule_func_without_keyword(Typing *t) {
    TRY(keywords_arg(t, 0));
    const Type *type = t->args[0].type;
    const char *name;
    TRY(typing_const_str(t, 1, &name));
    Named named = new_named(t->in, type->count);
    for (uint32_t i = 0; i < type->count; i++)
        if (strcmp(type_keyword(type, i), name) != 0) add_item(t, &named, 0, i);
    return become_keywords(t, &named);
}

/* The items of both, in the place of the first, as the last has them. */
bool rule_func_joined_keywords(Typing *t) {
    TRY(keywords_arg(t, 0) && keywords_arg(t, 1));
    Named named = new_named(t->in, t->args[0].type->count + t->args[1].type->count);
    for (size_t arg = 0; arg < 2; arg++)
        for (uint32_t i = 0; i < t->args[arg].type->count; i++) add_item(t, &named, arg, i);
    return become_keywords(t, &named);
}

/* With another value of one name. */
bool rule_func_with_keyword(Typing *t) {
    TRY(keywords_arg(t, 0));
    const char *name;
    TRY(typing_const_str(t, 1, &name));
    Named named = new_named(t->in, t->args[0].type->count + 1);
    for (uint32_t i = 0; i < t->args[0].type->count; i++) add_item(t, &named, 0, i);
    add_named(&named, name, t->args[2], t->values[2]);
    return become_keywords(t, &named);
}
