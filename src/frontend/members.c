/* members.c: what a class has under a name: for attributes of instances, calls of methods, operators.
 *
 * In: a class, a name, for super() the class whose bases alone are looked at.  Out: what it is, with a guard, as the
 * interpreter's lookup finds it in the order of resolution.  Descriptors written in C, and what cannot be a constant of
 * compiled code, are not found, and guarded all the same: that nothing is there is a fact as well.  A module has what
 * it has. */
#include <string.h> /* strcmp */

#include "frontend/frontend_private.h"

PyObject *frontend_class_dict(PyTypeObject *class) {
#if PY_VERSION_HEX >= 0x030C0000
    PyObject *dict = PyType_GetDict(class);
    Py_XDECREF(dict); /* the class holds it */
    return dict;
#else
    return class->tp_dict;
#endif
}

PyTypeObject *frontend_holder(PyTypeObject *class, PyObject *after, const char *name, PyObject **value) {
    bool behind = !after;
    *value = NULL;
    for (Py_ssize_t i = 0; class->tp_mro && i < PyTuple_GET_SIZE(class->tp_mro); i++) {
        PyTypeObject *base = (PyTypeObject *)PyTuple_GET_ITEM(class->tp_mro, i);
        PyObject *dict = behind ? frontend_class_dict(base) : NULL;
        if (dict && (*value = PyDict_GetItemString(dict, name))) return base;
        behind |= (PyObject *)base == after;
    }
    return NULL;
}

/* The function that a static method, a class method or a property is made of; NULL: it is none.  Borrowed. */
static PyObject *made_of(Frontend *frontend, PyObject *found, MemberKind *kind) {
    static const char *const names[] = {
        [MEMBER_STATIC] = "__func__", [MEMBER_CLASS] = "__func__", [MEMBER_PROPERTY] = "fget"};
    *kind = Py_IS_TYPE(found, &PyStaticMethod_Type)  ? MEMBER_STATIC
            : Py_IS_TYPE(found, &PyClassMethod_Type) ? MEMBER_CLASS
            : Py_IS_TYPE(found, &PyProperty_Type)    ? MEMBER_PROPERTY
                                                     : MEMBER_NONE;
    PyObject *function = *kind ? frontend_keep(frontend, PyObject_GetAttrString(found, names[*kind])) : NULL;
    PyErr_Clear();
    return function;
}

static bool is_value(PyObject *found) {
    return found == Py_None || PyLong_Check(found) || PyFloat_Check(found) || PyComplex_Check(found) ||
           PyUnicode_Check(found) || PyTuple_Check(found) || PyType_Check(found) || PyModule_Check(found) ||
           PyList_CheckExact(found) || PyDict_CheckExact(found) || PySet_CheckExact(found) ||
           PyFrozenSet_CheckExact(found);
}

bool frontend_is_of_class(PyObject *object, const char *name) {
    PyObject *found, *dict = NULL;
    if (!frontend_holder(Py_TYPE(object), NULL, name, &found) || !is_value(found)) return false;
    dict = PyObject_GenericGetDict(object, NULL);
    bool own = dict && PyDict_Check(dict) && PyDict_GetItemString(dict, name);
    Py_XDECREF(dict);
    PyErr_Clear();
    return !own;
}

/* A function that is compiled by itself. */
static bool is_decorated(Frontend *frontend, PyObject *found) {
    PyObject *function = frontend_keep(frontend, PyObject_GetAttrString(found, "py_func"));
    PyErr_Clear();
    return function && PyFunction_Check(function);
}

/* The function by which a property is assigned to; NULL: it has none that can be compiled. */
static const Const *setter_of(Frontend *frontend, PyObject *property) {
    PyObject *function = frontend_keep(frontend, PyObject_GetAttrString(property, "fset"));
    const Const *setter = function ? frontend_constant(frontend, function, NULL, (Span){0}) : NULL;
    PyErr_Clear();
    return setter && setter->type->kind == TY_PYFUNC ? setter : NULL;
}

/* The __repr__ of a dataclass, without what keeps it from showing itself inside itself: that ends in a
 * RecursionError. */
static PyObject *without_guard(Frontend *frontend, PyObject *found) {
    static const char *const guards[] = {"_recursive_repr.<locals>.wrapper",
                                         "recursive_repr.<locals>.decorating_function.<locals>.wrapper"};
    PyObject *name = PyFunction_Check(found) ? ((PyCodeObject *)PyFunction_GET_CODE(found))->co_qualname : NULL;
    for (size_t i = 0; name && i < COUNT_OF(guards); i++) {
        if (PyUnicode_CompareWithASCIIString(name, guards[i]) != 0) continue;
        PyObject *guarded = frontend_keep(frontend, PyObject_GetAttrString(found, "__wrapped__"));
        PyErr_Clear();
        return guarded ? guarded : found;
    }
    return found;
}

static Member member_of(Frontend *frontend, PyObject *found) {
    Member member = {0};
    found = without_guard(frontend, found);
    PyObject *function = made_of(frontend, found, &member.kind);
    bool method = !member.kind &&
                  (PyFunction_Check(found) || frontend_is_cached(found) || is_decorated(frontend, found));
    if (method) member.kind = MEMBER_METHOD, function = found;
    if (!member.kind && is_value(found)) member.kind = MEMBER_VALUE, function = found;
    member.konst = function ? frontend_value(frontend, function, NULL, (Span){0}) : NULL;
    bool called = member.kind && member.kind != MEMBER_VALUE;
    if (!member.konst || (called && member.konst->type->kind != TY_PYFUNC)) return (Member){0};
    member.function = called ? member.konst->type->object : 0;
    if (member.kind == MEMBER_PROPERTY) member.setter = setter_of(frontend, found);
    return member;
}

PyObject *frontend_class_has(Frontend *frontend, PyObject *class, PyObject *after, const char *name) {
    PyObject *text = frontend_keep(frontend, PyUnicode_InternFromString(name));
    PyObject *found = text ? guard_find_member(class, after, text) : NULL;
    if (text) guard_add(frontend, (Guard){GUARD_MEMBER, class, after, text, found});
    PyErr_Clear();
    return found;
}

/* What a module has, of which a variable of the function around is the only name here. */
static Member member_of_module(Frontend *frontend, PyObject *module, const char *name) {
    Member member = {.kind = MEMBER_VALUE};
    PyObject *text = frontend_keep(frontend, PyUnicode_InternFromString(name));
    PyObject *found = text ? name_attribute(frontend, module, text, NULL, (Span){0}) : NULL;
    if (found) member.konst = frontend_value(frontend, found, NULL, (Span){0});
    PyErr_Clear();
    return member.konst ? member : (Member){0};
}

/* The fields of a dataclass for dataclasses.replace, asdict and astuple, which alone ask by these names; NULL: it is no
 * dataclass.  krait/prelude/dataclass_fields.py says which they are. */
static Member member_of_dataclass(Frontend *frontend, PyObject *class, const char *name) {
    PyObject *module = frontend_keep(frontend, PyImport_ImportModule("krait.prelude.dataclass_fields"));
    PyObject *names = module ? frontend_keep(frontend, PyObject_CallMethod(module, name, "O", class)) : NULL;
    Member member = {.kind = MEMBER_VALUE};
    if (names && names != Py_None) member.konst = frontend_value(frontend, names, NULL, (Span){0});
    PyErr_Clear();
    return member.konst ? member : (Member){0};
}

Member frontend_member(Frontend *frontend, ObjRef class, ObjRef after, const char *name) {
    PyObject *object = objects_get(frontend->objects, class), *behind = objects_get(frontend->objects, after);
    if (object && PyModule_Check(object)) return member_of_module(frontend, object, name);
    if (!object || !PyType_Check(object)) return (Member){0};
    if (strcmp(name, "__krait_fields__") == 0 || strcmp(name, "__krait_init_fields__") == 0)
        return member_of_dataclass(frontend, object, name);
    PyObject *found = frontend_class_has(frontend, object, behind, name), *unused;
    PyTypeObject *holder = found ? frontend_holder((PyTypeObject *)object, behind, name, &unused) : NULL;
    bool written = holder && (holder->tp_flags & Py_TPFLAGS_HEAPTYPE) && !frontend_is_of_enum(holder, found);
    Member member = written ? member_of(frontend, found) : (Member){0};
    PyErr_Clear();
    return member;
}
