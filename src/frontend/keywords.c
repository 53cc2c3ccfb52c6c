/* keywords.c: **x of a call, and what is done to the variable that **name of a function fills.
 *
 * In: instructions on the dict that is built for a call, on what **name holds.  Out: keyword arguments by name, or a
 * value that is taken apart when its type is known (typeinfer/rules_keywords.c).  What **name holds never changes: who
 * takes something out of it, or puts something in, gives the variable another value. */
#include "frontend/translate.h"

#include <string.h> /* strcmp */

/* ---- **x ---- */

static Map *joined_maps(Translator *t, const Map *map, const Map *more) {
    Map *all = translate_new_pairs(t, map->count + more->count);
    for (size_t i = 0; i < all->count; i++) {
        const Map *from = i < map->count ? map : more;
        size_t at = i < map->count ? i : i - map->count;
        all->names[i] = from->names[at];
        all->keys[i] = from->keys[at];
        all->values[i] = from->values[at];
    }
    return all;
}

/* **x of a call: the pairs of a display, or a value that is taken apart when its type is known. */
bool insn_map_spread(Translator *t, int depth) {
    Map one = {.names = (const char *[]){NULL}, .keys = (Value *[]){NULL}, .values = (Value *[]){NULL}, .count = 1};
    Slot more = translate_pop(t), *slot = translate_peek(t, depth);
    if (!slot) return translate_malformed(t, "a dict is missing");
    TRY(translate_take_pairs(t, slot));
    if (more.kind != SLOT_MAP) TRY(one.values[0] = translate_slot_value(t, more, false));
    slot->map = joined_maps(t, slot->map, more.kind == SLOT_MAP ? more.map : &one);
    return true;
}

/* Its items are constants as variables from outside are: while it has these and no more. */
bool translate_push_pairs(Translator *t, PyObject *dict) {
    Map *map = translate_new_pairs(t, (size_t)PyDict_GET_SIZE(dict));
    PyObject *key, *value, *size = frontend_keep(t->frontend, PyLong_FromSsize_t(PyDict_GET_SIZE(dict)));
    if (!size) return frontend_python_failed(t->frontend, t->source, t->span, "no memory for a number");
    guard_add(t->frontend, (Guard){GUARD_SIZE, dict, NULL, NULL, size});
    size_t i = 0;
    for (Py_ssize_t at = 0; i < map->count && PyDict_Next(dict, &at, &key, &value); i++) {
        if (!PyUnicode_CheckExact(key)) return translate_refuse(t, t->span, REFUSED_STAR_STAR);
        guard_add(t->frontend, (Guard){GUARD_GLOBAL, dict, NULL, key, value});
        const Const *name = frontend_constant(t->frontend, key, t->source, t->span);
        const Const *konst = name ? frontend_value(t->frontend, value, t->source, t->span) : NULL;
        TRY(konst);
        map->names[i] = translate_key_name(name);
        map->keys[i] = translate_append_const(t, name);
        map->values[i] = translate_append_const(t, konst);
    }
    return translate_push_map(t, map);
}

/* dict(a=1, b=2) */
bool translate_push_named_pairs(Translator *t, const Const *names, Value *const *values) {
    Map *map = translate_new_pairs(t, names->type->count);
    for (size_t i = 0; i < map->count; i++) {
        map->names[i] = translate_key_name(names->items[i]);
        map->keys[i] = translate_append_const(t, names->items[i]);
        map->values[i] = values[i];
    }
    return translate_push_map(t, map);
}

/* ---- **name ---- */

static Value *call_row(Translator *t, FuncId id, Value *const *args, size_t count) {
    Value **operands = ARENA_ARRAY(t->arena, Value *, 1 + count);
    operands[0] = translate_append_const(t, const_of(t->arena, type_func(t->types, &func_info[id].head)));
    for (size_t i = 0; i < count; i++) operands[1 + i] = args[i];
    return translate_append(t, OP_CALL, operands, 1 + count);
}

static bool makes_keywords(const Value *call) {
    static const FuncId ids[] = {FUNC_WITH_KEYWORD, FUNC_WITHOUT_KEYWORD, FUNC_JOINED_KEYWORDS};
    const Type *type = call->op == OP_CALL && call->args[0]->op == OP_CONST ? call->args[0]->konst->type : NULL;
    for (size_t i = 0; type && type->kind == TY_FUNC && i < COUNT_OF(ids); i++)
        if (type->func->id == ids[i]) return true;
    return false;
}

/* Whether x is what the variable holds here: *local. */
static bool is_keywords_variable(Translator *t, Value *x, size_t *local) {
    const PyCodeObject *code = t->code;
    if (!(code->co_flags & CO_VARKEYWORDS)) return false;
    *local = (size_t)(code->co_argcount + code->co_kwonlyargcount + ((code->co_flags & CO_VARARGS) != 0));
    bool given = x->op == OP_PARAM && x->imm.i == (int64_t)*local;
    return (given || makes_keywords(x)) && ssa_read(&t->ssa, t->block, *local) == x;
}

static bool set_variable(Translator *t, size_t local, Value *value) {
    translate_push_value(t, value);
    return insn_store_local(t, local);
}

/* kw.pop(name), kw.setdefault(name, x), kw.update(a=1) */
bool translate_changes_keywords(Translator *t, Value *const *operands, size_t count, const Const *names,
                                bool *changes) {
    Value *getattr = operands[0], *x = getattr->op == OP_GETATTR ? getattr->args[0] : NULL, *result = NULL, *changed;
    const char *name = x ? getattr->imm.text : "";
    size_t local, given = count - 1, named = names ? names->type->count : 0;
    bool pops = strcmp(name, "pop") == 0 && given >= 1 && given <= 2 && !named;
    bool sets = strcmp(name, "setdefault") == 0 && given >= 1 && given <= 2 && !named;
    bool updates = strcmp(name, "update") == 0 && (given == named || (given == 1 && !named));
    *changes = (pops || sets || updates) && !getattr->name && is_keywords_variable(t, x, &local);
    if (!*changes) return true;
    Value *args[3] = {x, given ? operands[1] : NULL, given > 1 ? operands[2] : NULL};
    value_remove(getattr);
    if (pops || sets) {
        result = call_row(t, pops ? FUNC_KEYWORD_POP : FUNC_KEYWORD_DEFAULT, args, 1 + given);
        args[2] = result;
        changed = call_row(t, pops ? FUNC_WITHOUT_KEYWORD : FUNC_WITH_KEYWORD, args, pops ? 2 : 3);
    } else {
        if (named) {
            const char **texts = ARENA_ARRAY(t->arena, const char *, named);
            for (size_t i = 0; i < named; i++) texts[i] = translate_key_name(names->items[i]);
            args[1] = call_row(t, FUNC_NEW_KEYWORDS, operands + 1, named);
            args[1]->imm.names = texts;
            args[1]->imm.nnames = (uint32_t)named;
        }
        changed = args[1] ? call_row(t, FUNC_JOINED_KEYWORDS, args, 2) : x;
        result = translate_append_const(t, const_none(t->arena, t->types));
    }
    TRY(set_variable(t, local, changed));
    translate_push_value(t, result);
    return true;
}

/* kw[name] = value, and del kw[name] where there is none */
bool translate_stores_keyword(Translator *t, Value *x, Value *name, Value *value, bool *stores) {
    size_t local;
    *stores = is_keywords_variable(t, x, &local);
    if (!*stores) return true;
    if (!value) call_row(t, FUNC_KEYWORD_POP, (Value *[]){x, name}, 2);
    return set_variable(t, local,
                        value ? call_row(t, FUNC_WITH_KEYWORD, (Value *[]){x, name, value}, 3)
                              : call_row(t, FUNC_WITHOUT_KEYWORD, (Value *[]){x, name}, 2));
}
