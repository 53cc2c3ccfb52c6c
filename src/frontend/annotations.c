/* annotations.c: what a class of exceptions says of the types of its attributes.
 *
 * In: a class and a name.  Out: the type that the class, or one that it derives from, annotates the attribute with, or
 * else the parameter of its __init__ that has the same name.  It is what the class says, and no more: who reads the
 * attribute looks. */
#include <string.h> /* strcmp */

#include "frontend/frontend_private.h"

static const Type *type_meant(Frontend *frontend, PyObject *said);

/* tuple[int, str]; not tuple[int, ...], and nothing that may change: what compiled code reads is a copy. */
static const Type *tuple_meant(Frontend *frontend, PyObject *said) {
    enum { MOST = 16 };
    PyObject *origin = frontend_keep(frontend, PyObject_GetAttrString(said, "__origin__"));
    PyObject *args = origin ? frontend_keep(frontend, PyObject_GetAttrString(said, "__args__")) : NULL;
    const Type *items[MOST];
    size_t count = args && PyTuple_Check(args) ? (size_t)PyTuple_GET_SIZE(args) : 0;
    if (origin != (PyObject *)&PyTuple_Type || !count || count > MOST) return NULL;
    for (size_t i = 0; i < count; i++) TRY(items[i] = type_meant(frontend, PyTuple_GET_ITEM(args, (Py_ssize_t)i)));
    return type_tuple(frontend->types, items, count);
}

static const Type *type_meant(Frontend *frontend, PyObject *said) {
    static const struct {
        PyTypeObject *class;
        Scalar scalar;
    } numbers[] = {{&PyLong_Type, SCALAR_INT64},
                   {&PyFloat_Type, SCALAR_FLOAT64},
                   {&PyBool_Type, SCALAR_BOOL},
                   {&PyComplex_Type, SCALAR_COMPLEX128}};
    const char *name = PyUnicode_Check(said) ? PyUnicode_AsUTF8(said) : ""; /* from __future__ import annotations */
    for (size_t i = 0; name && i < COUNT_OF(numbers); i++)
        if (said == (PyObject *)numbers[i].class || strcmp(name, numbers[i].class->tp_name) == 0)
            return type_scalar(frontend->types, numbers[i].scalar, true);
    if (said == (PyObject *)&PyUnicode_Type || (name && strcmp(name, "str") == 0))
        return type_simple(frontend->types, TY_STRING);
    return tuple_meant(frontend, said);
}

static const Type *annotated(Frontend *frontend, PyObject *object, const char *name) {
    PyObject *all = object ? frontend_keep(frontend, PyObject_GetAttrString(object, "__annotations__")) : NULL;
    PyObject *said = all && PyDict_Check(all) ? PyDict_GetItemString(all, name) : NULL;
    const Type *type = said ? type_meant(frontend, said) : NULL;
    PyErr_Clear(); /* of what it lacks: what is asked next may run code of the class */
    return type;
}

/* What Python's own classes say of theirs: those of OSError may be None. */
static const Type *known_of(Frontend *frontend, PyObject *class, const char *name) {
    if (!class || !PyType_IsSubtype((PyTypeObject *)class, (PyTypeObject *)PyExc_OSError)) return NULL;
    if (strcmp(name, "errno") == 0)
        return type_optional(frontend->types, type_scalar(frontend->types, SCALAR_INT64, true));
    bool text = strcmp(name, "strerror") == 0 || strcmp(name, "filename") == 0;
    return text ? type_optional(frontend->types, type_simple(frontend->types, TY_STRING)) : NULL;
}

const Type *frontend_declared(Frontend *frontend, const Type *class, const char *name) {
    PyObject *object = class->kind == TY_EXC_CLASS ? objects_get(frontend->objects, class->object) : NULL;
    PyObject *order = object ? ((PyTypeObject *)object)->tp_mro : NULL;
    const Type *type = NULL;
    for (Py_ssize_t i = 0; order && !type && i < PyTuple_GET_SIZE(order); i++) {
        PyObject *base = PyTuple_GET_ITEM(order, i);
        if (!(((PyTypeObject *)base)->tp_flags & Py_TPFLAGS_HEAPTYPE)) break;
        PyObject *made_by = frontend_keep(frontend, PyObject_GetAttrString(base, "__init__"));
        type = annotated(frontend, base, name);
        if (!type) type = annotated(frontend, made_by, name);
    }
    PyErr_Clear();
    return type ? type : known_of(frontend, object, name);
}
