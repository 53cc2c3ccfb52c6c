/* subscripts.c: x[i] of what is known when a function is translated: members of enumerations by name (Color["RED"]),
 * array types (types.float64[:, ::1]), and items of dicts from outside that are no arguments: in kernels, or of values
 * of several types.
 *
 * In: the operands of a subscript.  Out: a constant, what the interpreter gives for them; NULL: it is an operation. */
#include "frontend/translate.h"

static PyObject *index_object(Translator *t, const Value *value);

static PyObject *tuple_of(Translator *t, const Value *value) {
    PyObject *tuple = frontend_keep(t->frontend, PyTuple_New((Py_ssize_t)value->nargs));
    for (uint32_t i = 0; tuple && i < value->nargs; i++) {
        PyObject *item = index_object(t, value->args[i]);
        TRY(item);
        PyTuple_SET_ITEM(tuple, (Py_ssize_t)i, Py_NewRef(item));
    }
    return tuple;
}

/* The index as the interpreter has it, kept by the frontend; NULL: it is not known, or is none of these. */
static PyObject *index_object(Translator *t, const Value *value) {
    if (value->op == OP_TUPLE) return tuple_of(t, value);
    if (value->op == OP_SLICE) {
        PyObject *parts = tuple_of(t, value);
        return parts ? frontend_keep(t->frontend, PySlice_New(PyTuple_GET_ITEM(parts, 0), PyTuple_GET_ITEM(parts, 1),
                                                              PyTuple_GET_ITEM(parts, 2)))
                     : NULL;
    }
    if (value->op != OP_CONST) return NULL;
    PyObject *none = Py_None; /* lives as long as the interpreter */
    switch (value->konst->type->kind) {
    case TY_NONE: return none;
    case TY_STR: return frontend_keep(t->frontend, PyUnicode_FromString(value->konst->text));
    case TY_SCALAR:
        return type_is_integer(value->konst->type)
                   ? frontend_keep(t->frontend, PyLong_FromLongLong((long long)value->konst->i))
                   : NULL;
    default: return NULL;
    }
}

bool translate_looked_up(Translator *t, PyObject *object) {
    const Insn *next = t->insn + 1, *end = t->bytecode.insns + t->bytecode.count;
    if (!PyDict_CheckExact(object) || end - next < 2 || next[0].kind != INSN_LOAD_CONST ||
        next[1].kind != INSN_SUBSCRIPT)
        return false;
    PyObject *key = PyTuple_GET_ITEM(t->code->co_consts, (Py_ssize_t)next[0].arg);
    if (!PyUnicode_CheckExact(key) || !PyDict_GetItemWithError(object, key)) return PyErr_Clear(), false;
    return !frontend_captures(t->frontend, object);
}

/* An item of such a dict is a constant as the variable is, while it is this one. */
static Value *item_of_dict(Translator *t, PyObject *dict, const Value *index) {
    PyObject *key = index->konst->type->kind == TY_STR ? index_object(t, index) : NULL;
    PyObject *item = key ? PyDict_GetItemWithError(dict, key) : NULL;
    if (!item) return NULL;
    guard_add(t->frontend, (Guard){GUARD_GLOBAL, dict, NULL, key, item});
    if (!translate_push_object(t, item)) return NULL;
    return translate_pop_value(t);
}

Value *translate_constant_subscript(Translator *t, const Value *x, const Value *index) {
    TypeKind kind = x->op == OP_CONST ? (TypeKind)x->konst->type->kind : TY_BOTTOM;
    if (kind != TY_OBJECT && kind != TY_CLASS) return NULL;
    PyObject *holder = objects_get(t->frontend->objects, x->konst->type->object);
    if (holder && PyDict_CheckExact(holder) && index->op == OP_CONST && !x->konst->captured)
        return item_of_dict(t, holder, index);
    bool names = holder && PyType_Check(holder) && frontend_is_enum((PyTypeObject *)holder);
    if (!names && kind != TY_CLASS) return NULL;
    PyObject *key = holder ? index_object(t, index) : NULL;
    PyObject *found = key ? frontend_keep(t->frontend, PyObject_GetItem(holder, key)) : NULL;
    PyErr_Clear(); /* inference says what is wrong with it */
    const Const *konst = found ? frontend_constant(t->frontend, found, t->source, t->span) : NULL;
    return konst ? translate_append_const(t, konst) : NULL;
}
