/* subscripts.c: x[i] of what is known when a function is translated: members of enumerations by name (Color["RED"]) and
 * array types (types.float64[:, ::1]).
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

Value *translate_constant_subscript(Translator *t, const Value *x, const Value *index) {
    TypeKind kind = x->op == OP_CONST ? (TypeKind)x->konst->type->kind : TY_BOTTOM;
    if (kind != TY_OBJECT && kind != TY_CLASS) return NULL;
    PyObject *holder = objects_get(t->frontend->objects, x->konst->type->object);
    bool names = holder && PyType_Check(holder) && frontend_is_enum((PyTypeObject *)holder);
    if (!names && kind != TY_CLASS) return NULL;
    PyObject *key = holder ? index_object(t, index) : NULL;
    PyObject *found = key ? frontend_keep(t->frontend, PyObject_GetItem(holder, key)) : NULL;
    PyErr_Clear(); /* inference says what is wrong with it */
    const Const *konst = found ? frontend_constant(t->frontend, found, t->source, t->span) : NULL;
    return konst ? translate_append_const(t, konst) : NULL;
}
