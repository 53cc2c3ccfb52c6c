/* insns.c: what each canonical instruction does to the abstract stack and emits.
 *
 * Input: t->insn.  Output: values in t->block, slots on t->stack.  translate.c checks the depth of the stack
 * afterwards. */
#include "frontend/translate.h"

#include <opcode.h> /* NB_ADD ... */

/* ---- imports, done when the function is compiled ---- */

/* The names of `from x import a, b` as a Python tuple, or None. */
static PyObject *import_names(Translator *t, const Const *names) {
    if (names->type->kind != TY_TUPLE) return Py_None;
    PyObject *tuple = frontend_keep(t->frontend, PyTuple_New((Py_ssize_t)names->type->count));
    for (uint32_t i = 0; tuple && i < names->type->count; i++) {
        PyObject *name = names->items[i]->type->kind == TY_STR ? PyUnicode_FromString(names->items[i]->text) : NULL;
        if (!name) return NULL;
        PyTuple_SET_ITEM(tuple, (Py_ssize_t)i, name);
    }
    return tuple;
}

static bool insn_import(Translator *t) {
    Value *names = translate_pop_value(t), *level = names ? translate_pop_value(t) : NULL;
    TRY(level);
    if (names->op != OP_CONST || level->op != OP_CONST)
        return translate_malformed(t, "an import without constant names");
    PyObject *list = import_names(t, names->konst), *module = NULL;
    if (list)
        module = PyImport_ImportModuleLevelObject(translate_code_name(t), t->function->func_globals, Py_None, list,
                                                  (int)level->konst->i);
    module = frontend_keep(t->frontend, module);
    if (!module) return translate_raise_pending(t, "the import failed");
    return translate_push_object(t, module);
}

static PyObject *give_module(PyObject *module, PyObject *Py_UNUSED(args)) { return Py_NewRef(module); }

/* The interpreter tells in its own words that a module lacks a name, when it runs such an import; or finds it among
 * the modules, as the part that it imports at the time. */
static PyObject *import_name(Translator *t, PyObject *module, PyObject *name) {
    static PyMethodDef import = {"__import__", give_module, METH_VARARGS, NULL};
    PyObject *function = frontend_keep(t->frontend, PyCFunction_New(&import, module));
    PyObject *names = function ? Py_BuildValue("{s{sO}}", "__builtins__", "__import__", function) : NULL;
    PyObject *line = frontend_keep(t->frontend, PyUnicode_FromFormat("from module import %U as found", name));
    frontend_keep(t->frontend, names);
    const char *text = names && line ? PyUnicode_AsUTF8(line) : NULL;
    PyObject *done = text ? frontend_keep(t->frontend, PyRun_String(text, Py_single_input, names, names)) : NULL;
    return done ? PyDict_GetItemString(names, "found") : NULL;
}

static bool insn_import_from(Translator *t) {
    Slot *module = translate_peek(t, 1);
    bool failed = true, known = module && module->kind == SLOT_VALUE;
    if (known && module->value->op == OP_CALL) return translate_push_value(t, module->value), true;
    PyObject *holder = known ? translate_attribute_holder(t, module->value) : NULL, *name = translate_code_name(t);
    if (translate_lacks(t, holder, name)) {
        PyObject *found = import_name(t, holder, name);
        return found ? translate_push_object(t, found) : translate_raise_pending(t, "the import failed");
    }
    Value *value = known ? translate_constant_attribute(t, module->value, name, &failed) : NULL;
    if (!value) return failed ? false : translate_malformed(t, "an import from what is not a module");
    translate_push_value(t, value);
    return true;
}

/* ---- operators ---- */

static bool insn_unary(Translator *t, Op op) {
    Value *x = translate_pop_value(t);
    TRY(x);
    translate_push_value(t, translate_append1(t, op, x));
    return true;
}

/* 3.13 writes bool(x) before not and before jumps; the operations ask for the truth themselves. */
static bool insn_not(Translator *t) {
    Value *x = translate_pop_sequence(t);
    TRY(x);
    if (x->op == OP_TRUTH && x == t->block->last) {
        Value *truth = x;
        x = truth->args[0];
        value_remove(truth);
    }
    translate_push_value(t, translate_append1(t, OP_NOT, x));
    return true;
}

static bool insn_to_bool(Translator *t) {
    Value *x = translate_pop_sequence(t);
    TRY(x);
    bool known = x->op == OP_TRUTH || x->op == OP_CONST; /* branches and `not` ask constants themselves */
    translate_push_value(t, known ? x : translate_append1(t, OP_TRUTH, x));
    return true;
}

static bool insn_binary(Translator *t, int which) {
    static const Op ops[] = {
        [NB_ADD] = OP_ADD,       [NB_AND] = OP_AND,      [NB_FLOOR_DIVIDE] = OP_FLOORDIV,
        [NB_LSHIFT] = OP_LSHIFT, [NB_MULTIPLY] = OP_MUL, [NB_MATRIX_MULTIPLY] = OP_MATMUL,
        [NB_OR] = OP_OR,         [NB_POWER] = OP_POW,    [NB_REMAINDER] = OP_MOD,
        [NB_RSHIFT] = OP_RSHIFT, [NB_SUBTRACT] = OP_SUB, [NB_TRUE_DIVIDE] = OP_TRUEDIV,
        [NB_XOR] = OP_XOR,
    };
    _Static_assert(COUNT_OF(ops) == NB_INPLACE_ADD && NB_INPLACE_XOR == NB_INPLACE_ADD + NB_XOR,
                   "operators in CPython's order");
    Value *y = translate_pop_value(t), *x = y ? translate_pop_value(t) : NULL;
    TRY(x);
    bool inplace = which >= NB_INPLACE_ADD;
    size_t number = (size_t)(inplace ? which - NB_INPLACE_ADD : which);
    if (number >= COUNT_OF(ops)) return translate_malformed(t, "an unknown operator");
    bool of_sets = number == NB_AND || number == NB_OR || number == NB_XOR || number == NB_SUBTRACT;
    if (of_sets) translate_views_to_sets(t, &x, &y, true);
    Value *value = translate_append2(t, ops[number], x, y);
    if (inplace) value->flags |= VF_INPLACE;
    translate_push_value(t, value);
    return true;
}

static bool insn_compare(Translator *t, int which) {
    static const Op ops[] = {OP_LT, OP_LE, OP_EQ, OP_NE, OP_GT, OP_GE};
    Value *y = translate_pop_value(t), *x = y ? translate_pop_value(t) : NULL;
    TRY(x);
    if (which < 0 || (size_t)which >= COUNT_OF(ops)) return translate_malformed(t, "an unknown comparison");
    translate_leave_out_same(t, &x, &y);
    translate_views_to_sets(t, &x, &y, false);
    translate_push_value(t, translate_append2(t, ops[which], x, y));
    return true;
}

static bool insn_two(Translator *t, Op op) {
    Value *y = op == OP_IN || op == OP_NOT_IN ? translate_pop_sequence(t) : translate_pop_value(t);
    Value *x = y ? translate_pop_value(t) : NULL;
    TRY(x);
    translate_push_value(t, translate_append2(t, op, x, y));
    return true;
}

static bool insn_subscript(Translator *t) {
    Value *index = translate_pop_value(t), *x = index ? translate_pop_value(t) : NULL;
    TRY(x);
    Value *known = translate_constant_subscript(t, x, index);
    TRY(!t->diag->failed);
    translate_push_value(t, known ? known : translate_append2(t, OP_GETITEM, x, index));
    return true;
}

static bool insn_store_subscript(Translator *t) {
    Value *i = translate_pop_value(t), *x = i ? translate_pop_value(t) : NULL,
          *value = x ? translate_pop_value(t) : NULL;
    bool stored;
    TRY(value && translate_stores_keyword(t, x, i, value, &stored));
    if (!stored) translate_append3(t, OP_SETITEM, x, i, value);
    return true;
}

static bool insn_delete_subscript(Translator *t) {
    Value *i = translate_pop_value(t), *x = i ? translate_pop_value(t) : NULL;
    bool stored;
    TRY(x && translate_stores_keyword(t, x, i, NULL, &stored));
    if (!stored) translate_append2(t, OP_DELITEM, x, i);
    return true;
}

static bool insn_slice(Translator *t, int count) {
    Value *parts[3] = {NULL};
    if (count != 2 && count != 3) return translate_malformed(t, "a slice of unknown length");
    TRY(translate_pop_values(t, parts, (size_t)count));
    if (!parts[2]) parts[2] = translate_append_const(t, const_none(t->arena, t->types));
    translate_push_value(t, translate_append(t, OP_SLICE, parts, 3));
    return true;
}

/* ---- tuples ---- */

static bool insn_tuple(Translator *t, int count) {
    Value **values = ARENA_ARRAY(t->arena, Value *, count);
    TRY(translate_pop_values(t, values, (size_t)count));
    translate_push_value(t, translate_append(t, OP_TUPLE, values, (size_t)count));
    return true;
}

/* The items of a checked sequence onto the stack, the first on top. */
static void push_items(Translator *t, Value *checked, int count) {
    Value **items = ARENA_ARRAY(t->arena, Value *, count);
    for (int i = 0; i < count; i++) {
        items[i] = translate_append1(t, OP_EXTRACT, checked);
        items[i]->imm.i = i;
    }
    for (int i = count; i-- > 0;) translate_push_value(t, items[i]);
}

static bool insn_unpack(Translator *t, int count) {
    Value *x = translate_pop_sequence(t);
    TRY(x);
    if (x->op == OP_TUPLE && x->nargs == (uint32_t)count) { /* a, b, c, d = d, c, b, a */
        for (int i = count; i-- > 0;) translate_push_value(t, x->args[i]);
        return true;
    }
    Value *checked = translate_append1(t, OP_UNPACK, x);
    checked->imm.i = count;
    push_items(t, checked, count);
    return true;
}

static bool insn_unpack_ex(Translator *t, int arg) {
    Value *x = translate_pop_sequence(t);
    TRY(x);
    int count = (arg & 0xff) + 1 + (arg >> 8);
    Value *checked = translate_append1(t, OP_UNPACK_EX, x);
    checked->imm.i = arg;
    push_items(t, checked, count);
    return true;
}

/* ---- the stack itself ---- */

static bool insn_copy(Translator *t, int depth) {
    Slot *slot = translate_peek(t, depth);
    TRY(slot);
    if (slot->kind == SLOT_FUNCTION || slot->kind == SLOT_LIST || slot->kind == SLOT_MAP) {
        Value *value = translate_slot_value(t, *slot, false); /* one object, however many names it gets */
        TRY(value);
        *slot = (Slot){.kind = SLOT_VALUE, .span = slot->span, .value = value};
    }
    Slot copy = *slot;
    translate_push(t, copy);
    return true;
}

static bool insn_swap(Translator *t, int depth) {
    Slot *other = translate_peek(t, depth), *top = translate_peek(t, 1);
    TRY(other && top);
    Slot slot = *other;
    *other = *top;
    *top = slot;
    return true;
}

/* 3.11 gives the iteration the position of the whole for statement; what is iterated over says more. */
static bool insn_iter(Translator *t) {
    const Slot *slot = translate_peek(t, 1);
    Span span = slot && slot->span.line ? slot->span : t->span;
    Value *x = translate_pop_sequence(t);
    TRY(x);
    t->span = span;
    translate_push_value(t, translate_append1(t, OP_ITER, x));
    return true;
}

/* A barrier that is named and not called is a mistake that would go unseen. */
static bool insn_pop(Translator *t) {
    Slot slot = translate_pop(t);
    const Value *value = slot.kind == SLOT_VALUE ? slot.value : NULL;
    if (!value || value->op != OP_CONST || value->konst->type->kind != TY_FUNC) return true;
    const FuncHead *func = value->konst->type->func;
    if (!(func_effects(func) & EFFECT_SYNC)) return true;
    const char *name = func_shown_name(t->arena, func_row(func));
    diag_fail(t->diag, DIAG_UNSUPPORTED, t->source, t->span, "%s is named here, and not called", name);
    diag_hint(t->diag, "it does nothing without parentheses: call it, %s()",
              strncmp(name, "krait.", 6) ? name : name + 6);
    return false;
}

/* Tuples, lists, dicts, sets and texts, put together and taken apart. */
static bool insn_of_displays(Translator *t, int arg) {
    switch (t->insn->kind) {
    case INSN_TUPLE: return insn_tuple(t, arg);
    case INSN_LIST: return insn_list(t, arg);
    case INSN_LIST_APPEND: return insn_list_append(t, arg, false);
    case INSN_LIST_EXTEND: return insn_list_append(t, arg, true);
    case INSN_LIST_TO_TUPLE: return insn_list_to_tuple(t);
    case INSN_MAP: return insn_map(t, arg);
    case INSN_KEY_MAP: return insn_key_map(t, arg);
    case INSN_COLLECT: return insn_collect(t);
    case INSN_COLLECTED: return insn_copy(t, (int)t->stack.len);
    case INSN_LOAD_BOOL: return insn_load_bool(t, arg);
    case INSN_MAP_ADD: return insn_map_add(t, arg);
    case INSN_MAP_UPDATE: return insn_map_merge(t, arg);
    case INSN_MAP_SPREAD: return insn_map_spread(t, arg);
    case INSN_SET: return insn_set(t, arg);
    case INSN_SET_ADD: return insn_set_add(t, arg);
    case INSN_SET_UPDATE: return insn_put_all(t, arg);
    case INSN_UNPACK: return insn_unpack(t, arg);
    case INSN_UNPACK_EX: return insn_unpack_ex(t, arg);
    case INSN_FORMAT: return insn_format(t, arg);
    case INSN_CONVERT: return insn_convert(t, arg);
    case INSN_STRING: return insn_string(t, arg);
    default: return translate_malformed(t, "an unknown instruction");
    }
}

bool translate_insn(Translator *t) {
    int arg = t->insn->arg;
    size_t local = (size_t)arg;
    switch (t->insn->kind) {
    case INSN_NOP: return true;
    case INSN_POP: return insn_pop(t);
    case INSN_PUSH_NULL: translate_push(t, (Slot){.kind = SLOT_NULL}); return true;
    case INSN_COPY: return insn_copy(t, arg);
    case INSN_SWAP: return insn_swap(t, arg);
    case INSN_LOAD_CONST: return insn_load_const(t);
    case INSN_LOAD_NONE: return translate_push_object(t, Py_None);
    case INSN_LOAD_LOCAL: return insn_load_local(t, local);
    case INSN_STORE_LOCAL: return insn_store_local(t, local);
    case INSN_SAVE_LOCAL: return insn_save_local(t, local);
    case INSN_DELETE_LOCAL: return insn_delete_local(t, local);
    case INSN_MAKE_CELL: return insn_make_cell(t, local);
    case INSN_LOAD_CELL: return insn_load_cell(t, local);
    case INSN_STORE_CELL: return insn_store_cell(t, local);
    case INSN_LOAD_GLOBAL: return insn_load_global(t);
    case INSN_LOAD_ATTR: return insn_load_attr(t);
    case INSN_SUPER_ATTR: return insn_super_attr(t);
    case INSN_STORE_ATTR: return insn_store_attr(t);
    case INSN_IMPORT: return insn_import(t);
    case INSN_IMPORT_FROM: return insn_import_from(t);
    case INSN_NEG: return insn_unary(t, OP_NEG);
    case INSN_POS: return insn_unary(t, OP_POS);
    case INSN_INVERT: return insn_unary(t, OP_INVERT);
    case INSN_NOT: return insn_not(t);
    case INSN_TO_BOOL: return insn_to_bool(t);
    case INSN_BINARY: return insn_binary(t, arg);
    case INSN_COMPARE: return insn_compare(t, arg);
    case INSN_IS: return insn_two(t, arg ? OP_IS_NOT : OP_IS);
    case INSN_CONTAINS: return insn_two(t, arg ? OP_NOT_IN : OP_IN);
    case INSN_SUBSCRIPT: return insn_subscript(t);
    case INSN_STORE_SUBSCRIPT: return insn_store_subscript(t);
    case INSN_DELETE_SUBSCRIPT: return insn_delete_subscript(t);
    case INSN_SLICE: return insn_slice(t, arg);
    case INSN_ITER: return insn_iter(t);
    case INSN_START_GENERATOR:
    case INSN_YIELD: return insn_yield(t, t->insn->kind == INSN_YIELD);
    case INSN_PASS_ON: return insn_pass_on(t);
    case INSN_PUSH_HANDLED: return insn_push_handled(t);
    case INSN_MATCHES: return insn_matches(t);
    case INSN_ENTER_WITH: return insn_enter_with(t);
    case INSN_EXIT_WITH: return insn_exit_with(t);
    case INSN_LOAD_ASSERTION_ERROR: return translate_push_object(t, PyExc_AssertionError);
    case INSN_KEYWORDS: {
        TRY(insn_load_const(t));
        Value *names = translate_pop_value(t);
        TRY(names);
        t->keywords = names->konst;
        return true;
    }
    case INSN_CALL: return insn_call(t, arg, false);
    case INSN_CALL_KEYWORDS: return insn_call(t, arg, true);
    case INSN_CALL_EX: return insn_call_ex(t, arg);
    case INSN_FUNCTION: return insn_function(t, arg);
    case INSN_FUNCTION_ATTRIBUTE: return insn_function_attribute(t, arg);
    case INSN_LENGTH: return insn_length(t);
    case INSN_MATCH_SEQUENCE: return insn_match_sequence(t);
    case INSN_MATCH_MAPPING: return insn_match_mapping(t);
    case INSN_MATCH_KEYS: return insn_match_keys(t);
    case INSN_MATCH_CLASS: return insn_match_class(t, arg);
    case INSN_REFUSE: return translate_refuse(t, t->span, (Refusal)arg);
    default: return insn_of_displays(t, arg);
    }
}
