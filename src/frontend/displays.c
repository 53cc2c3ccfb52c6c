/* displays.c: lists, dicts on their way into calls, calls, and functions made in functions.
 *
 * The compiler also uses lists and dicts as scaffolding (f(*a, b), (*a, b), f(*a, k=1), keyword defaults): they stand
 * on the abstract stack as what they are built from.  A list becomes one where it is used as a value, and where a loop
 * fills it, and so does a dict. */
#include "frontend/translate.h"

/* ---- lists ---- */

static bool push_list(Translator *t, List *list) {
    translate_push(t, (Slot){.kind = SLOT_LIST, .span = t->span, .list = list});
    return true;
}

bool insn_list(Translator *t, int count) {
    Value **values = ARENA_ARRAY(t->arena, Value *, count);
    TRY(translate_pop_values(t, values, (size_t)count));
    List *list = ARENA_NEW(t->arena, List);
    list->block = t->block;
    for (int i = 0; i < count; i++) vec_push(t->arena, &list->parts, ((ListPart){values[i], false}));
    return push_list(t, list);
}

/* list.extend(items) */
static bool extend_value(Translator *t, Value *list, Value *items) {
    Value *method = translate_append1(t, OP_GETATTR, list);
    method->imm.text = "extend";
    return translate_append2(t, OP_CALL, method, items) != NULL;
}

/* The list on the stack of this block alone: `[*(a if c else b)]` may be two ways out, each with a list of its own. */
static List *own_list(Translator *t, List *list) {
    if (list->block == t->block) return list;
    List *own = ARENA_NEW(t->arena, List);
    own->block = t->block;
    for (size_t i = 0; i < list->parts.len; i++) vec_push(t->arena, &own->parts, list->parts.data[i]);
    return own;
}

bool insn_list_append(Translator *t, int depth, bool spread) {
    Value *value = spread ? translate_pop_sequence(t) : translate_pop_value(t);
    TRY(value);
    Slot *slot = translate_peek(t, depth);
    if (!slot) return translate_malformed(t, "a list is missing");
    if (slot->kind == SLOT_VALUE) /* a loop came between */
        return spread ? extend_value(t, slot->value, value)
                      : translate_append2(t, OP_LIST_APPEND, slot->value, value) != NULL;
    if (slot->kind != SLOT_LIST) return translate_malformed(t, "a list is missing");
    slot->list = own_list(t, slot->list);
    vec_push(t->arena, &slot->list->parts, ((ListPart){value, spread}));
    return true;
}

Value *translate_empty_tuple(Translator *t) {
    return translate_append_const(t, const_tuple(t->arena, t->types, NULL, 0));
}

/* Runs of single items become tuples; several parts are concatenated. */
Value *translate_list_value(Translator *t, const List *list) {
    Value **operands = ARENA_ARRAY(t->arena, Value *, list->parts.len),
          **run = ARENA_ARRAY(t->arena, Value *, list->parts.len);
    size_t noperands = 0, nrun = 0;
    bool spreads = false;
    for (size_t i = 0; i < list->parts.len; i++) {
        const ListPart *part = &list->parts.data[i];
        if (!part->spread) {
            run[nrun++] = part->value;
            continue;
        }
        spreads = true;
        if (nrun) operands[noperands++] = translate_append(t, OP_TUPLE, run, nrun);
        nrun = 0;
        operands[noperands++] = part->value;
    }
    if (!spreads) return nrun ? translate_append(t, OP_TUPLE, run, nrun) : translate_empty_tuple(t);
    if (nrun) operands[noperands++] = translate_append(t, OP_TUPLE, run, nrun);
    return translate_append(t, OP_TUPLE_CONCAT, operands, noperands);
}

/* A constant tuple after a star is its items. */
static size_t add_items(Translator *t, const ListPart *part, Value **items) {
    const Const *konst = part->spread && part->value->op == OP_CONST ? part->value->konst : NULL;
    if (!konst || konst->type->kind != TY_TUPLE) {
        items[0] = part->value;
        return 1;
    }
    for (uint32_t i = 0; i < konst->type->count; i++) items[i] = translate_append_const(t, konst->items[i]);
    return konst->type->count;
}

static bool is_iterable(const ListPart *part) {
    return part->spread && !(part->value->op == OP_CONST && part->value->konst->type->kind == TY_TUPLE);
}

/* The list as a value: the items up to the first iterable, then what follows is put in. */
Value *translate_new_list(Translator *t, const List *list) {
    size_t most = 0, count = 0, first = 0;
    for (size_t i = 0; i < list->parts.len; i++) {
        const Value *value = list->parts.data[i].value;
        most += value->op == OP_CONST && value->konst->type->kind == TY_TUPLE ? value->konst->type->count + 1u : 1;
    }
    Value **items = ARENA_ARRAY(t->arena, Value *, most);
    while (first < list->parts.len && !is_iterable(&list->parts.data[first]))
        count += add_items(t, &list->parts.data[first++], items + count);
    Value *value = translate_append(t, OP_LIST, items, count);
    value->imm.i = first < list->parts.len;
    for (size_t i = first; i < list->parts.len; i++) {
        if (is_iterable(&list->parts.data[i])) {
            extend_value(t, value, list->parts.data[i].value);
            continue;
        }
        count = add_items(t, &list->parts.data[i], items);
        for (size_t k = 0; k < count; k++) translate_append2(t, OP_LIST_APPEND, value, items[k]);
    }
    return value;
}

bool insn_list_to_tuple(Translator *t) {
    Slot slot = translate_pop(t);
    if (slot.kind == SLOT_VALUE) {
        const Const *tuple = const_of(t->arena, type_func(t->types, &func_info[FUNC_TUPLE].head));
        translate_push_value(t, translate_append2(t, OP_CALL, translate_append_const(t, tuple), slot.value));
        return true;
    }
    if (slot.kind != SLOT_LIST) return translate_malformed(t, "a list is missing");
    translate_push_value(t, translate_list_value(t, slot.list));
    return true;
}

/* ---- dicts ---- */

bool translate_push_map(Translator *t, Map *map) {
    translate_push(t, (Slot){.kind = SLOT_MAP, .span = t->span, .map = map});
    return true;
}

const char *translate_key_name(const Const *key) { return key && key->type->kind == TY_STR ? key->text : NULL; }

Map *translate_new_pairs(Translator *t, size_t count) {
    Map *map = ARENA_NEW(t->arena, Map);
    map->names = ARENA_ARRAY(t->arena, const char *, count);
    map->keys = ARENA_ARRAY(t->arena, Value *, count);
    map->values = ARENA_ARRAY(t->arena, Value *, count);
    map->count = count;
    return map;
}

bool insn_map(Translator *t, int count) {
    size_t length = 2 * (size_t)count;
    Value **pairs = ARENA_ARRAY(t->arena, Value *, length);
    TRY(translate_pop_values(t, pairs, length));
    Map *map = translate_new_pairs(t, (size_t)count);
    for (int i = 0; i < count; i++) {
        map->names[i] = translate_key_name(pairs[2 * i]->konst);
        map->keys[i] = pairs[2 * i];
        map->values[i] = pairs[2 * i + 1];
    }
    return translate_push_map(t, map);
}

bool insn_key_map(Translator *t, int count) {
    Value *keys = translate_pop_value(t);
    TRY(keys);
    Map *map = translate_new_pairs(t, (size_t)count);
    TRY(translate_pop_values(t, map->values, (size_t)count));
    const Const *names = keys->konst;
    bool known = names && names->type->kind == TY_TUPLE && names->type->count == (uint32_t)count;
    bool made = keys->op == OP_TUPLE && keys->nargs == (uint32_t)count; /* with a bytes in it (insn_load_const) */
    if (!known && !made) return translate_malformed(t, "the keys of a dict are missing");
    for (int i = 0; i < count; i++) {
        map->keys[i] = known ? translate_append_const(t, names->items[i]) : keys->args[i];
        map->names[i] = translate_key_name(map->keys[i]->konst);
    }
    return translate_push_map(t, map);
}

static void merge_value(Translator *t, Value *map, Value *more) {
    const Const *merge = const_of(t->arena, type_func(t->types, &func_info[FUNC_DICT_MERGE].head));
    translate_append3(t, OP_CALL, translate_append_const(t, merge), map, more);
}

/* The dict as a value: a new one, into which the pairs are put in turn. */
Value *translate_new_map(Translator *t, const Map *map) {
    Value *value = translate_append(t, OP_DICT, NULL, 0);
    for (size_t i = 0; i < map->count; i++) {
        if (map->keys[i])
            translate_append3(t, OP_SETITEM, value, map->keys[i], map->values[i]);
        else
            merge_value(t, value, map->values[i]);
    }
    return value;
}

/* The container at a slot, which is one value from here on. */
static Value *container_at(Translator *t, int depth) {
    Slot *slot = translate_peek(t, depth);
    if (slot && slot->kind == SLOT_MAP)
        *slot = (Slot){.kind = SLOT_VALUE, .span = slot->span, .value = translate_new_map(t, slot->map)};
    if (slot && slot->kind == SLOT_VALUE) return slot->value;
    translate_malformed(t, "a container is missing");
    return NULL;
}

static bool call_method(Translator *t, Value *container, const char *name, Value *argument) {
    Value *method = translate_append1(t, OP_GETATTR, container);
    method->imm.text = name;
    return translate_append2(t, OP_CALL, method, argument) != NULL;
}

bool insn_map_add(Translator *t, int depth) {
    Value *value = translate_pop_value(t), *key = translate_pop_value(t), *map = container_at(t, depth);
    return value && key && map && translate_append3(t, OP_SETITEM, map, key, value) != NULL;
}

bool insn_put_all(Translator *t, int depth) {
    Value *more = translate_pop_value(t), *container = container_at(t, depth);
    return more && container && call_method(t, container, "update", more);
}

/* **x of a display */
bool insn_map_merge(Translator *t, int depth) {
    Value *more = translate_pop_value(t), *map = container_at(t, depth);
    TRY(more && map);
    return merge_value(t, map, more), true;
}

/* ---- sets ---- */

bool insn_set(Translator *t, int count) {
    Value **items = ARENA_ARRAY(t->arena, Value *, count);
    TRY(translate_pop_values(t, items, (size_t)count));
    Value *set = translate_append(t, OP_SET, NULL, 0);
    for (int i = 0; i < count; i++) call_method(t, set, "add", items[i]);
    translate_push_value(t, set);
    return true;
}

bool insn_set_add(Translator *t, int depth) {
    Value *item = translate_pop_value(t), *set = container_at(t, depth);
    return item && set && call_method(t, set, "add", item);
}

/* ---- calls ---- */

static bool set_keywords(Translator *t, Value *call, const Const *names) {
    if (!names || names->type->kind != TY_TUPLE || names->type->count >= call->nargs)
        return translate_malformed(t, "keyword names are missing");
    const char **texts = ARENA_ARRAY(t->arena, const char *, names->type->count);
    for (uint32_t i = 0; i < names->type->count; i++)
        if (!(texts[i] = translate_key_name(names->items[i]))) return translate_malformed(t, "a keyword is not a name");
    call->imm.names = texts;
    call->imm.nnames = names->type->count;
    return true;
}

/* The two slots under the arguments: callee and NULL in either order, or callee and first argument (else first is
 * SLOT_NULL). */
static Value *pop_callee(Translator *t, Slot *first) {
    Slot upper = translate_pop(t), lower = translate_pop(t);
    bool both = lower.kind != SLOT_NULL && upper.kind != SLOT_NULL;
    *first = both ? upper : (Slot){.kind = SLOT_NULL};
    return translate_slot_value(t, lower.kind == SLOT_NULL ? upper : lower, false);
}

typedef VEC(Value *) Operands;

static bool add_operand(Translator *t, Operands *operands, Slot slot) {
    if (slot.kind == SLOT_NULL) return true;
    Value *value = translate_slot_value(t, slot, false);
    TRY(value);
    vec_push(t->arena, operands, value);
    return true;
}

/* What a call of a class of containers without arguments is, else a call. */
static Op display_of(const Value *callee) {
    const Type *type = callee->op == OP_CONST ? callee->konst->type : NULL;
    switch (type && type->kind == TY_FUNC ? type->func->id : FUNC_NONE) {
    case FUNC_LIST:
    case FUNC_TYPED_LIST: return OP_LIST;
    case FUNC_DICT:
    case FUNC_TYPED_DICT: return OP_DICT;
    case FUNC_SET: return OP_SET;
    default: return OP_CALL;
    }
}

/* f(key=x.name): the function that the keyword is for is called with one argument, and x must come along. */
static bool bind_key(Translator *t, Operands *operands, const Const *names) {
    for (uint32_t i = 0; i < names->type->count; i++) {
        Value **given = &operands->data[operands->len - names->type->count + i];
        if (strcmp(names->items[i]->text, "key") != 0 || (*given)->op != OP_GETATTR) continue;
        PyObject *globals = frontend_keep(t->frontend, Py_BuildValue("{s:s}", "__name__", "krait.prelude.bound"));
        const char *text = arena_printf(t->arena, "lambda x: lambda item: x.%s(item)", (*given)->imm.text);
        PyObject *binds = globals ? PyRun_String(text, Py_eval_input, globals, globals) : NULL;
        const Const *konst = frontend_keep(t->frontend, binds)
                                 ? frontend_constant(t->frontend, binds, t->source, t->span)
                                 : NULL;
        if (!konst) return frontend_python_failed(t->frontend, t->source, t->span, "no memory for a function");
        *given = translate_append2(t, OP_CALL, translate_append_const(t, konst), (*given)->args[0]);
    }
    return true;
}

static bool is_super(const Translator *t, const Value *callee) {
    const Type *type = callee->op == OP_CONST ? callee->konst->type : NULL;
    return type && type->kind == TY_OBJECT &&
           objects_get(t->frontend->objects, type->object) == (PyObject *)&PySuper_Type;
}

/* Whether a call may change what an f-string before it in the expression shows. */
static bool may_write(const Value *callee) {
    const Type *type = callee->op == OP_CONST ? callee->konst->type : NULL;
    return !type || type->kind != TY_FUNC || (func_effects(type->func) & EFFECT_WRITE);
}

bool insn_call(Translator *t, int count, bool keywords_on_top) {
    const Const *names = t->keywords;
    t->keywords = NULL;
    if (keywords_on_top) {
        Value *tuple = translate_pop_value(t);
        TRY(tuple);
        if (!tuple->konst) return translate_malformed(t, "keyword names are missing");
        names = tuple->konst;
    }
    Slot *args = ARENA_ARRAY(t->arena, Slot, count), first;
    bool answers = false;
    if (count == 0) TRY(translate_taken_by(t, &answers));
    for (int i = count; i-- > 0;) args[i] = translate_pop(t);
    Value *callee = pop_callee(t, &first);
    TRY(callee);
    Operands operands = {0};
    if (may_write(callee)) translate_settle_texts(t);
    vec_push(t->arena, &operands, callee);
    TRY(add_operand(t, &operands, first));
    for (int i = 0; i < count; i++) {
        if (args[i].kind == SLOT_NULL) return translate_malformed(t, "an argument is missing");
        TRY(add_operand(t, &operands, args[i]));
    }
    if (operands.len == 2 && operands.data[1] == t->answer) {
        translate_push_value(t, t->answer);
        t->answer = NULL; /* what else is called with it is called */
        return true;
    }
    if (names && names->type->count < operands.len) TRY(bind_key(t, &operands, names));
    bool changes;
    TRY(translate_changes_keywords(t, operands.data, operands.len, names, &changes));
    if (changes) return true;
    if (translate_is_made_ahead(t, callee)) return translate_make_ahead(t, operands.data, operands.len, names);
    if (is_super(t, callee)) return translate_super(t, operands.data + 1, operands.len - 1);
    if (operands.len > 1) operands.data[1] = translate_argument_of(t, callee, operands.data[1]);
    if (names && names->type->count == operands.len - 1 && display_of(callee) == OP_DICT)
        return translate_push_named_pairs(t, names, operands.data + 1);
    Op display = operands.len == 1 ? display_of(callee) : OP_CALL; /* list() is a display, to be filled */
    Value *call = display != OP_CALL ? translate_append(t, display, NULL, 0)
                                     : translate_append(t, OP_CALL, operands.data, operands.len);
    if (names) TRY(set_keywords(t, call, names));
    if (answers) t->answer = call;
    translate_note_generator(t, call);
    translate_note_walked(t, call);
    translate_push_value(t, call);
    return true;
}

bool insn_call_ex(Translator *t, int flags) {
    Slot keywords = flags & 1 ? translate_pop(t) : (Slot){.kind = SLOT_NULL};
    if (flags & 1) TRY(translate_take_pairs(t, &keywords));
    Value *tuple = translate_pop_sequence(t);
    TRY(tuple);
    Slot first;
    Value *callee = pop_callee(t, &first);
    TRY(callee);
    if (first.kind != SLOT_NULL) return translate_malformed(t, "a method in a call with stars");
    bool is_tuple = tuple->op == OP_TUPLE || tuple->op == OP_TUPLE_CONCAT ||
                    (tuple->op == OP_CONST && tuple->konst->type->kind == TY_TUPLE);
    if (!is_tuple) tuple = translate_append1(t, OP_TUPLE_CONCAT, tuple);
    size_t count = keywords.kind == SLOT_MAP ? keywords.map->count : 0;
    bool spreads = false;
    for (size_t i = 0; i < count; i++) {
        if (keywords.map->names[i]) continue;
        if (keywords.map->keys[i]) return translate_refuse(t, t->span, REFUSED_STAR_STAR);
        keywords.map->names[i] = SPREAD_NAME;
        spreads = true;
    }
    /* Items that are known are arguments like any: CPython puts those of a call with many into a tuple. */
    bool known = tuple->op == OP_TUPLE && !spreads;
    size_t items = known ? tuple->nargs : 1;
    Value **args = ARENA_ARRAY(t->arena, Value *, 1 + items + count);
    args[0] = callee;
    for (size_t i = 0; i < items; i++) args[1 + i] = known ? tuple->args[i] : tuple;
    for (size_t i = 0; i < count; i++) args[1 + items + i] = keywords.map->values[i];
    Value *call = translate_append(t, known ? OP_CALL : OP_CALL_EX, args, 1 + items + count);
    if (count) {
        call->imm.names = keywords.map->names;
        call->imm.nnames = (uint32_t)count;
    }
    translate_push_value(t, call);
    return true;
}

/* ---- functions ---- */

enum { ATTRIBUTE_DEFAULTS = 1, ATTRIBUTE_KWDEFAULTS = 2, ATTRIBUTE_ANNOTATIONS = 4, ATTRIBUTE_CLOSURE = 8 };

static uint32_t tuple_length(const Value *tuple) {
    return tuple->op == OP_TUPLE ? tuple->nargs : tuple->konst ? tuple->konst->type->count : 0;
}

/* Annotations are not evaluated: what was emitted for them goes again, as far as nothing else uses it. */
static bool is_used(const Translator *t, const Value *value) {
    if (value->name) return true; /* a variable holds it */
    for (size_t b = 0; b < t->func->blocks.len; b++)
        for (const Value *user = t->func->blocks.data[b]->first; user; user = user->next)
            for (uint32_t i = 0; i < user->nargs; i++)
                if (user->args[i] == value) return true;
    for (size_t i = 0; i < t->stack.len; i++)
        if (t->stack.data[i].kind == SLOT_VALUE && t->stack.data[i].value == value) return true;
    return false;
}

static void drop_annotation(Translator *t, Value *value) {
    if (!value->block || value->op == OP_PHI || value->op == OP_PARAM || value->op == OP_CELL || is_used(t, value))
        return;
    value_remove(value);
    for (uint32_t i = 0; i < value->nargs; i++) drop_annotation(t, value->args[i]);
}

static bool set_attribute(Translator *t, NewFunction *function, int which) {
    if (which == ATTRIBUTE_KWDEFAULTS) {
        Slot slot = translate_pop(t);
        if (slot.kind != SLOT_MAP) return translate_malformed(t, "keyword defaults are missing");
        function->kwdefaults = slot.map;
        return true;
    }
    Value *value = translate_pop_value(t);
    TRY(value);
    switch (which) {
    case ATTRIBUTE_DEFAULTS: function->defaults = value; return true;
    case ATTRIBUTE_ANNOTATIONS: drop_annotation(t, value); return true;
    case ATTRIBUTE_CLOSURE:
        if (value->op != OP_TUPLE) return translate_malformed(t, "cells are missing");
        function->cells = value->args;
        function->ncells = value->nargs;
        if (value == t->block->last) value_remove(value);
        return true;
    default: return translate_malformed(t, "an unknown attribute of a function");
    }
}

bool insn_function(Translator *t, int flags) {
    Slot code = translate_pop(t);
    if (code.kind != SLOT_CODE) return translate_malformed(t, "the code of a function is missing");
    NewFunction *function = ARENA_NEW(t->arena, NewFunction);
    function->code = code.code;
    for (int which = ATTRIBUTE_CLOSURE; which; which >>= 1)
        if (flags & which) TRY(set_attribute(t, function, which));
    translate_push(t, (Slot){.kind = SLOT_FUNCTION, .span = t->span, .function = function});
    return true;
}

bool insn_function_attribute(Translator *t, int flag) {
    Slot slot = translate_pop(t);
    if (slot.kind != SLOT_FUNCTION) return translate_malformed(t, "a function is missing");
    TRY(set_attribute(t, slot.function, flag));
    translate_push(t, slot);
    return true;
}

/* The default that a constant is (NULL: none) for the stand-in; a new reference. */
static PyObject *default_of_standin(const Translator *t, const Const *konst) {
    PyObject *known = konst ? translate_known_object(t, konst) : NULL;
    if (known || PyErr_Occurred()) return known;
    return Py_NewRef(TRANSLATE_UNKNOWN_DEFAULT);
}

static const Const *const_of_value(const Value *value) { return value->op == OP_CONST ? value->konst : NULL; }

/* Tells the stand-in which parameters have defaults.  Their values come with the closure, unless it is one that refers
 * to itself: that has no items, and of its defaults those are known that are constants. */
static bool note_defaults(const Translator *t, PyObject *standin, const NewFunction *function) {
    Py_ssize_t count = function->defaults ? (Py_ssize_t)tuple_length(function->defaults) : 0;
    PyObject *defaults = PyTuple_New(count), *names = PyDict_New();
    bool fine = defaults && names;
    for (Py_ssize_t i = 0; fine && i < count; i++) {
        const Value *tuple = function->defaults;
        const Const *konst = tuple->op == OP_TUPLE ? const_of_value(tuple->args[i]) : tuple->konst->items[i];
        PyObject *item = default_of_standin(t, konst);
        fine = item != NULL;
        if (fine) PyTuple_SET_ITEM(defaults, i, item);
    }
    for (size_t i = 0; fine && function->kwdefaults && i < function->kwdefaults->count; i++) {
        PyObject *item = default_of_standin(t, const_of_value(function->kwdefaults->values[i]));
        fine = item && PyDict_SetItemString(names, function->kwdefaults->names[i], item) == 0;
        Py_XDECREF(item);
    }
    fine = fine && PyFunction_SetDefaults(standin, count ? defaults : Py_None) == 0 &&
           PyFunction_SetKwDefaults(standin, names) == 0;
    Py_XDECREF(defaults);
    Py_XDECREF(names);
    return fine;
}

Value *translate_function_value(Translator *t, const NewFunction *function) {
    ObjRef ref = objects_nested(t->frontend->objects, &t->frontend->hold, function->code, t->function->func_globals);
    if (!ref || !note_defaults(t, objects_get(t->frontend->objects, ref), function)) {
        frontend_python_failed(t->frontend, t->source, t->span, "no memory for a function");
        return NULL;
    }
    Value **args = ARENA_ARRAY(t->arena, Value *, 2 + function->ncells);
    const Map *map = function->kwdefaults;
    args[0] = function->defaults ? function->defaults : translate_empty_tuple(t);
    args[1] = map && map->count ? translate_append(t, OP_TUPLE, map->values, map->count) : translate_empty_tuple(t);
    for (size_t i = 0; i < function->ncells; i++) args[2 + i] = function->cells[i];
    Value *value = translate_append(t, OP_FUNCTION, args, 2 + function->ncells);
    value->imm.object = ref;
    return value;
}
