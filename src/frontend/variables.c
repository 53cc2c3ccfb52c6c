/* variables.c: instructions that read and write constants, variables, cells, globals and attributes. */
#include <string.h> /* strcmp */

#include "frontend/translate.h"

/* ---- names of the code ---- */

static PyObject *code_konst(Translator *t) { return PyTuple_GetItem(t->code->co_consts, t->insn->arg); }

PyObject *translate_code_name(Translator *t) { return PyTuple_GetItem(t->code->co_names, t->insn->arg); }

static const char *name_text(Translator *t, PyObject *name) {
    const char *text = name ? PyUnicode_AsUTF8(name) : NULL;
    if (!text) PyErr_Clear();
    return arena_strdup(t->arena, text ? text : "?");
}

/* ---- constants and variables ---- */

static bool holds_bytes(PyObject *object) {
    bool any = PyBytes_CheckExact(object);
    for (Py_ssize_t i = 0; !any && PyTuple_CheckExact(object) && i < PyTuple_GET_SIZE(object); i++)
        any = holds_bytes(PyTuple_GET_ITEM(object, i));
    return any;
}

/* The tuple of a constant; NULL: it is none. `{1, 2}` is a frozenset, read as a tuple (constants.c: read_frozenset). */
static PyObject *tuple_of(Translator *t, PyObject *object) {
    if (PyFrozenSet_CheckExact(object)) return frontend_keep(t->frontend, PySequence_Tuple(object));
    return PyTuple_CheckExact(object) ? object : NULL;
}

/* On the host a bytes is an object, and a tuple that holds one no constant. */
static bool push_tuple_of_objects(Translator *t, PyObject *tuple) {
    Py_ssize_t count = PyTuple_GET_SIZE(tuple);
    Value **items = ARENA_ARRAY(t->arena, Value *, (size_t)count + 1);
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *item = PyTuple_GET_ITEM(tuple, i);
        bool inner = PyTuple_CheckExact(item) && holds_bytes(item);
        TRY(inner ? push_tuple_of_objects(t, item) : translate_push_object(t, item));
        TRY(items[i] = translate_pop_value(t));
    }
    translate_push_value(t, translate_append(t, OP_TUPLE, items, (size_t)count));
    return true;
}

bool insn_load_const(Translator *t) {
    PyObject *object = code_konst(t);
    if (!object) return frontend_python_failed(t->frontend, t->source, t->span, "a constant is missing");
    PyObject *tuple = tuple_of(t, object);
    if (tuple && !t->frontend->readonly_globals && holds_bytes(tuple)) return push_tuple_of_objects(t, tuple);
    if (!PyCode_Check(object)) return translate_push_object(t, tuple ? tuple : object);
    translate_push(t, (Slot){.kind = SLOT_CODE, .span = t->span, .code = object});
    return true;
}

/* A variable of the function that defined this one, which has returned. */
static bool is_finished_cell(const Translator *t, size_t local) {
    return !t->nested && local >= t->nlocals - (size_t)t->code->co_nfreevars;
}

static PyObject *finished_cell(const Translator *t, size_t local) {
    PyObject *closure = t->function->func_closure;
    Py_ssize_t i = (Py_ssize_t)(local - (t->nlocals - (size_t)t->code->co_nfreevars));
    return closure && i < PyTuple_GET_SIZE(closure) ? PyTuple_GET_ITEM(closure, i) : NULL;
}

/* While a function is decorated, its name is not bound yet. */
static bool is_own_name(const Translator *t, PyObject *name) {
    return t->func->object == t->frontend->decorating && PyUnicode_Compare(name, t->code->co_name) == 0;
}

static bool push_itself(Translator *t) {
    const Type *type = type_object(t->types, TY_PYFUNC, t->func->object);
    translate_push_value(t, translate_append_const(t, const_of(t->arena, type)));
    return true;
}

static bool push_finished_content(Translator *t, size_t local) {
    PyObject *cell = finished_cell(t, local);
    PyObject *object = cell ? name_cell(t->frontend, cell) : NULL;
    if (!object && is_own_name(t, PyTuple_GET_ITEM(t->code->co_localsplusnames, (Py_ssize_t)local)))
        return push_itself(t);
    FAIL_IF(!object, t->diag, NAME, t->source, t->span, "variable '%s' of the enclosing function is not assigned yet",
            t->names[local]);
    return translate_push_named(t, object, t->names[local]);
}

/* Whether code, or code nested in it, assigns to the variable of that name which it got from outside. */
bool translate_assigns_free(Translator *t, PyCodeObject *code, const char *name) {
    int from = code->co_nlocalsplus - code->co_nfreevars;
    bool has = false;
    for (int i = from; i < code->co_nlocalsplus && !has; i++)
        has = PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(code->co_localsplusnames, i), name) == 0;
    if (!has) return false;
    PyObject *units = frontend_keep(t->frontend, PyCode_GetCode(code));
    Bytecode bytecode;
    const char *why;
    if (!units || !bytecode_decode(t->arena, code, units, &bytecode, &why)) return true;
    for (size_t i = 0; i < bytecode.count; i++) {
        const Insn *insn = &bytecode.insns[i];
        bool stores = insn->kind == INSN_STORE_CELL && insn->arg >= from;
        if (stores &&
            PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(code->co_localsplusnames, insn->arg), name) == 0)
            return true;
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(code->co_consts); i++) {
        PyObject *inner = PyTuple_GET_ITEM(code->co_consts, i);
        if (PyCode_Check(inner) && translate_assigns_free(t, (PyCodeObject *)inner, name)) return true;
    }
    return false;
}

static bool refuse_nonlocal(Translator *t, const char *name) {
    diag_fail(t->diag, DIAG_UNSUPPORTED, t->source, t->span,
              "assigning to '%s' is not compiled: it belongs to a function that has returned, and is a constant in "
              "compiled code",
              name);
    diag_hint(t->diag, "return the value, or write it into an array that is passed as an argument");
    return false;
}

/* A cell for an inner function; one of a finished function is copied, which nobody notices as long as nobody assigns to
 * it. */
static bool push_finished_cell(Translator *t, size_t local) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(t->code->co_consts); i++) {
        PyObject *inner = PyTuple_GET_ITEM(t->code->co_consts, i);
        if (PyCode_Check(inner) && translate_assigns_free(t, (PyCodeObject *)inner, t->names[local]))
            return refuse_nonlocal(t, t->names[local]);
    }
    TRY(push_finished_content(t, local));
    Value *content = translate_pop_value(t);
    TRY(content);
    Value *cell = translate_append1(t, OP_CELL, content);
    cell->name = t->names[local];
    translate_push_value(t, cell);
    return true;
}

/* The variable, after a check that it is assigned where that is not certain. */
static Value *read_local(Translator *t, size_t local) {
    if (!bit_has(t->bound, local)) {
        Value *assigned = ssa_read(&t->ssa, t->block, t->nlocals + local);
        if (assigned && assigned != t->true_value)
            translate_append1(t, OP_CHECK_BOUND, assigned)->imm.text = t->names[local];
        ssa_write(&t->ssa, t->block, t->nlocals + local, t->true_value);
    }
    Value *value = ssa_read(&t->ssa, t->block, local);
    if (!value) translate_malformed(t, "a variable without a value");
    return value;
}

bool insn_load_local(Translator *t, size_t local) {
    if (is_finished_cell(t, local)) return push_finished_cell(t, local);
    Value *value = read_local(t, local);
    TRY(value);
    if (value->op == OP_PARAM && translate_walks_parameter(t)) value = translate_append1(t, OP_ITER, value);
    translate_push_value(t, value);
    return true;
}

bool insn_save_local(Translator *t, size_t local) {
    Value *value = ssa_read(&t->ssa, t->block, local), *assigned = ssa_read(&t->ssa, t->block, t->nlocals + local);
    if (!value || !assigned) return translate_malformed(t, "a comprehension takes a variable without a state");
    translate_push(t, (Slot){.kind = SLOT_SAVED, .span = t->span, .value = value, .assigned = assigned});
    ssa_write(&t->ssa, t->block, local, t->undef_value);
    ssa_write(&t->ssa, t->block, t->nlocals + local, t->false_value);
    return true;
}

/* What an f-string makes, as a text: in a try statement it is made before the variable is written, since the handler,
 * where the variable may join one that was made, must not see what making it has not given. */
static Value *made_text(Translator *t, Value *template) {
    const Const *str = const_of(t->arena, type_func(t->types, &func_info[FUNC_STR].head));
    return translate_append2(t, OP_CALL, translate_append_const(t, str), template);
}

bool insn_store_local(Translator *t, size_t local) {
    const Slot *top = translate_peek(t, 1);
    if (top && top->kind == SLOT_SAVED) {
        Slot saved = translate_pop(t);
        ssa_write(&t->ssa, t->block, local, saved.value);
        if (bit_has(t->tracked, local)) ssa_write(&t->ssa, t->block, t->nlocals + local, saved.assigned);
        return true;
    }
    bool text = top && top->kind == SLOT_TEXT && bytecode_handler(&t->bytecode, (size_t)(t->insn - t->bytecode.insns));
    Value *value = translate_pop_value(t);
    if (value && text) value = made_text(t, value);
    TRY(value && translate_declared(t, local, &value) && translate_end_part(t));
    if (!value->name) value->name = t->names[local];
    if (local < t->func->nparams) t->func->params[local].assigned = true;
    ssa_write(&t->ssa, t->block, local, value);
    if (bit_has(t->tracked, local)) ssa_write(&t->ssa, t->block, t->nlocals + local, t->true_value);
    return true;
}

bool insn_delete_local(Translator *t, size_t local) {
    TRY(read_local(t, local));
    if (!bit_has(t->tracked, local)) return true; /* nothing loads it from here on */
    ssa_write(&t->ssa, t->block, local, t->undef_value);
    ssa_write(&t->ssa, t->block, t->nlocals + local, t->false_value);
    return true;
}

bool insn_make_cell(Translator *t, size_t local) {
    Value *content = ssa_read(&t->ssa, t->block, local); /* a parameter, or NULL */
    bool assigned = content && content->op != OP_UNDEF;
    Value *cell = translate_append(t, OP_CELL, &content, assigned);
    cell->name = t->names[local];
    ssa_write(&t->ssa, t->block, local, cell);
    if (bit_has(t->tracked, local)) ssa_write(&t->ssa, t->block, t->nlocals + local, t->true_value);
    return true;
}

bool insn_load_cell(Translator *t, size_t local) {
    if (is_finished_cell(t, local)) return push_finished_content(t, local);
    Value *cell = ssa_read(&t->ssa, t->block, local);
    if (!cell) return translate_malformed(t, "a variable without its cell");
    Value *content = translate_append1(t, OP_CELL_GET, cell);
    content->imm.text = content->name = t->names[local];
    translate_push_value(t, content);
    return true;
}

bool insn_store_cell(Translator *t, size_t local) {
    if (is_finished_cell(t, local)) return refuse_nonlocal(t, t->names[local]);
    Value *value = translate_pop_value(t), *cell = ssa_read(&t->ssa, t->block, local);
    TRY(value && translate_declared(t, local, &value));
    if (!cell) return translate_malformed(t, "a variable without its cell");
    if (!value->name) value->name = t->names[local];
    translate_append2(t, OP_CELL_SET, cell, value)->imm.text = t->names[local];
    return true;
}

bool insn_load_global(Translator *t) {
    PyObject *name = translate_code_name(t);
    if (!name) return frontend_python_failed(t->frontend, t->source, t->span, "a name is missing");
    PyObject *object = name_global(t->frontend, t->function->func_globals, t->function->func_builtins, name);
    if (!object && PyErr_Occurred())
        return frontend_python_failed(t->frontend, t->source, t->span, "looking up a global raised an exception");
    if (object) {
        TRY(translate_push_named(t, object, name_text(t, name)));
        const Slot *top = &vec_last(&t->stack);
        Value *value = top->kind == SLOT_VALUE ? top->value : NULL;
        if (value && value->op == OP_CONST && value->konst->type->kind == TY_ARRAY) value->name = name_text(t, name);
        return true;
    }
    if (is_own_name(t, name)) return push_itself(t);
    diag_fail(t->diag, DIAG_NAME, t->source, t->span, "name '%s' is not defined", name_text(t, name));
    PyObject *known = PyDict_Keys(t->function->func_globals);
    for (size_t i = 0; known && i < t->nlocals; i++)
        PyList_Append(known, PyTuple_GET_ITEM(t->code->co_localsplusnames, (Py_ssize_t)i));
    PyObject *builtins = frontend_keep(t->frontend, PyDict_Keys(t->function->func_builtins));
    if (known && builtins) PyList_SetSlice(known, PY_SSIZE_T_MAX, PY_SSIZE_T_MAX, builtins);
    name_suggest_global(t->frontend, name, known);
    return false;
}

/* super().name: `self` is an instance of the class, or a class itself, `after` the class that the code stands in. */
static bool push_super_attribute(Translator *t, ObjRef after, Value *self, PyObject *name) {
    Value *value = translate_append1(t, OP_GETATTR, self);
    value->imm.text = name_text(t, name);
    value->imm.object = after;
    translate_push_value(t, value);
    return true;
}

/* The class that super() looks behind; 0: what is given is none. */
static ObjRef class_behind(const Value *class) {
    return class && class->op == OP_CONST && class->konst->type->kind == TY_OBJECT ? class->konst->type->object : 0;
}

bool insn_super_attr(Translator *t) {
    Value *self = translate_pop_value(t), *class = self ? translate_pop_value(t) : NULL;
    TRY(class && translate_pop_value(t));
    ObjRef after = class_behind(class);
    return after ? push_super_attribute(t, after, self, translate_code_name(t))
                 : translate_refuse(t, t->span, REFUSED_SUPER);
}

/* super(), super(class, self): as a tuple of self that names the class, of which attributes alone are taken. */
bool translate_super(Translator *t, Value *const *given, size_t count) {
    Value *class = count == 2 ? given[0] : NULL, *self = count == 2 ? given[1] : NULL;
    for (size_t i = 0; count == 0 && i < t->nlocals; i++)
        if (strcmp(t->names[i], "__class__") == 0 && push_finished_content(t, i)) class = translate_pop_value(t);
    if (count == 0 && t->func->nparams) self = ssa_read(&t->ssa, t->block, 0);
    ObjRef after = class_behind(class);
    if (!after || !self) return translate_refuse(t, t->span, REFUSED_SUPER);
    Value *super = translate_append1(t, OP_TUPLE, self);
    super->imm.object = after;
    translate_push_value(t, super);
    return true;
}

bool insn_load_attr(Translator *t) {
    PyObject *name = translate_code_name(t);
    Value *x = translate_pop_value(t);
    TRY(x && name);
    if (x->op == OP_TUPLE && x->imm.object) return push_super_attribute(t, x->imm.object, x->args[0], name);
    bool failed = false, lacks = translate_lacks(t, translate_attribute_holder(t, x), name);
    Value *value = lacks ? NULL : translate_constant_attribute(t, x, name, &failed);
    if (failed) return false;
    if (!value) {
        if (PyUnicode_CompareWithASCIIString(name, "isdisjoint") == 0) translate_views_to_sets(t, &x, NULL, false);
        value = translate_append1(t, OP_GETATTR, x);
        value->imm.text = name_text(t, name);
    }
    translate_push_value(t, value);
    return true;
}

bool insn_store_attr(Translator *t) {
    Value *x = translate_pop_value(t), *value = x ? translate_pop_value(t) : NULL;
    TRY(value);
    translate_append2(t, OP_SETATTR, x, value)->imm.text = name_text(t, translate_code_name(t));
    return true;
}
