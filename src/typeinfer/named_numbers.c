/* named_numbers.c: dicts of numbers of several types, {'n': 3, 'mean': 0.5}, that are only read and given back.
 *
 * In: a display whose pairs the frontend has found to be all that is put in (VF_OPERAND).  Out: a type with the names,
 * in which each value keeps its own type, as where the values have no type in common (rules_keywords.c); or a dict,
 * whose values are what holds them all, where something is done with it that only a dict can: it is put into, in a
 * function that calls this one, or meets a dict of other names.  Once it is a dict it stays one. */
#include <string.h> /* strcmp */

#include "typeinfer/rules.h" /* typeinfer_general, typing_keywords_of_pairs */
#include "typeinfer/solver.h"

static bool is_number(const Type *type) {
    type = infer_content(type);
    return type->kind == TY_NONE || (type->kind == TY_SCALAR && !type->object);
}

/* Whether it is such a type with names. */
static bool is_named(const Type *type) {
    if (!type_is_keywords(type) || !type->count) return false;
    for (uint32_t i = 0; i < type->count; i++)
        if (!is_number(type->items[i])) return false;
    return true;
}

/* The dict of the same values; NULL: none holds them all. */
static const Type *as_dict(Infer *in, const Type *named) {
    const Type *value = infer_bottom(in);
    for (uint32_t i = 0; i < named->count; i++)
        TRY(value = typeinfer_join(in->config->promotion, in->types, value, typeinfer_general(in, named->items[i])));
    return type_table_of(in->types, type_simple(in->types, TY_STRING), value);
}

/* An instance whose attributes hold dicts; themselves alone, since what they hold may lead back to it. */
static const Type *unnamed_attributes(Infer *in, const Type *object) {
    const Type **items = ARENA_ARRAY(in->arena, const Type *, object->count);
    bool any = false;
    for (uint32_t i = 0; i < object->count; i++) {
        items[i] = type_attribute(object, i);
        const Type *dict = is_named(items[i]) ? as_dict(in, items[i]) : NULL;
        if (dict) items[i] = dict, any = true;
    }
    const Type *made = any ? typeinfer_object(in, object, items) : object;
    return made ? made : object;
}

const Type *typeinfer_unnamed(Infer *in, const Type *type) {
    if (in->device || !type->count) return type;
    if (is_named(type)) {
        const Type *dict = as_dict(in, type);
        return dict ? dict : type;
    }
    if (type_is_shared(type)) return unnamed_attributes(in, type);
    if (type->kind == TY_DICT) {
        const Type *value = typeinfer_unnamed(in, type_dict_value(type));
        return value == type_dict_value(type) ? type : type_table_of(in->types, type_key(type), value);
    }
    bool holds = type->kind == TY_LIST || type->kind == TY_TUPLE || type->kind == TY_OPTIONAL || type->kind == TY_ITER;
    if (!holds) return type;
    const Type **items = ARENA_ARRAY(in->arena, const Type *, type->count);
    bool any = false;
    for (uint32_t i = 0; i < type->count; i++) {
        items[i] = typeinfer_unnamed(in, type->items[i]);
        any |= items[i] != type->items[i];
    }
    const Type *made = any ? typeinfer_with_items(in, type, items) : type;
    return made ? made : type;
}

/* ---- a display becomes one ---- */

static bool is_read_only(const Infer *in, const Value *value) {
    bool display = value->op == OP_DICT && value->flags & VF_OPERAND && value->nargs;
    return display && value->id < in->nexpected && !in->expected[value->id] && !in->inst->expected;
}

bool typeinfer_keeps_numbers(Infer *in, const Value *display) {
    if (!is_read_only(in, display)) return false;
    const Type *first = typeinfer_general(in, value_resolve(display->args[1])->type);
    bool differ = false;
    for (uint32_t i = 1; i < display->nargs; i += 2) {
        const Type *type = typeinfer_general(in, value_resolve(display->args[i])->type);
        if (!is_number(type)) return false;
        differ |= type != first;
    }
    return differ;
}

bool typeinfer_name_display(Infer *in, Value *display) {
    display = value_resolve(display);
    if (!is_read_only(in, display) || display->type->kind != TY_DICT) return false;
    solver_set_type(in, display, typing_keywords_of_pairs(in, display));
    return true;
}

static bool has_names(const Value *display, const Type *named) {
    if (display->nargs != 2 * named->count) return false;
    for (uint32_t i = 0; i < named->count; i++)
        if (strcmp(display->args[2 * i]->konst->text, type_keyword(named, i)) != 0) return false;
    return true;
}

/* A display, or those that a variable may hold. */
static bool name_display(Infer *in, Value *value, const Type *named, int depth) {
    bool any = false;
    value = value_resolve(value);
    for (uint32_t i = 0; value->op == OP_PHI && depth && i < value->nargs; i++)
        any |= name_display(in, value->args[i], named, depth - 1);
    bool fits = is_read_only(in, value) && has_names(value, named);
    return (fits && typeinfer_name_display(in, value)) || any;
}

static bool name_others(Infer *in, Value *const *values, uint32_t count) {
    enum { DEPTH = 4 };
    const Type *named = NULL;
    bool any = false;
    for (uint32_t i = 0; i < count && !named; i++)
        if (is_named(infer_content(values[i]->type))) named = infer_content(values[i]->type);
    for (uint32_t i = 0; named && i < count; i++) any |= name_display(in, values[i], named, DEPTH);
    return any;
}

/* ---- and a dict again ---- */

void solver_unname_operands(Infer *in, const Value *at) {
    if (at->op == OP_RETURN || at->op == OP_YIELD || (at->op == OP_LIST && name_others(in, at->args, at->nargs)))
        return;
    for (uint32_t i = 0; i < at->nargs; i++) {
        Value *value = value_resolve(at->args[i]);
        const Type *plain = typeinfer_unnamed(in, value->type);
        if (plain != value->type) typeinfer_grow(in, value, plain);
    }
}

/* Values that meet, of which some have names: all of them, if they have the same ones, or none. */
bool solver_agree_on_names(Infer *in, Value *const *values, uint32_t count) {
    if (!in->quiet) return false; /* all is settled */
    if (name_others(in, values, count)) return true;
    const Type *joined = infer_bottom(in);
    bool named = false;
    for (uint32_t i = 0; i < count && joined; i++) {
        const Type *plain = typeinfer_unnamed(in, values[i]->type);
        named |= plain != values[i]->type;
        const Type *both = typeinfer_join(in->config->promotion, in->types, joined, plain);
        joined = both ? both : typeinfer_wider(in, joined, plain);
    }
    for (uint32_t i = 0; joined && named && i < count; i++) {
        bool other = values[i]->type->kind != TY_BOTTOM && values[i]->type->kind != TY_NONE;
        if (other && values[i]->type != joined) typeinfer_grow(in, value_resolve(values[i]), joined);
    }
    return joined && named && in->solver->heap.len; /* what they are made of is looked at again */
}
