/* guards.c: what must still be so for compiled code to be valid: globals, cells, attributes and functions that it took
 * as constants.
 *
 * A Guard says where the object was found and which it was.  Who calls compiled code asks before whether its guards
 * hold (decorators/dispatch/watch.c: only what nobody tells of at each call).  Arrays: array_guard.c. */
#include "frontend/frontend_private.h"

#include <string.h> /* memcmp */

static bool same_float(double a, double b) { return memcmp(&a, &b, sizeof a) == 0; }

/* Whether compiled code cannot tell one object from the other. */
static bool same_object(PyObject *a, PyObject *b) {
    if (a == b) return true;
    if (!a || !b || Py_TYPE(a) != Py_TYPE(b)) return false;
    if (PyLong_CheckExact(a) || PyUnicode_CheckExact(a)) return PyObject_RichCompareBool(a, b, Py_EQ) == 1;
    if (PyFloat_CheckExact(a)) return same_float(PyFloat_AS_DOUBLE(a), PyFloat_AS_DOUBLE(b));
    if (PyComplex_CheckExact(a)) {
        Py_complex x = PyComplex_AsCComplex(a), y = PyComplex_AsCComplex(b);
        return same_float(x.real, y.real) && same_float(x.imag, y.imag);
    }
    if (!PyTuple_CheckExact(a) || PyTuple_GET_SIZE(a) != PyTuple_GET_SIZE(b)) return false;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(a); i++)
        if (!same_object(PyTuple_GET_ITEM(a, i), PyTuple_GET_ITEM(b, i))) return false;
    return true;
}

PyObject *guard_find_global(PyObject *globals, PyObject *builtins, PyObject *name) {
    PyObject *value = PyDict_GetItemWithError(globals, name);
    if (!value && builtins && !PyErr_Occurred()) value = PyDict_GetItemWithError(builtins, name);
    return value;
}

/* The first lookup gives the class a version, without which it would not tell of changes (watch.c). */
PyObject *guard_find_member(PyObject *class, PyObject *after, PyObject *name) {
    PyObject *value = _PyType_Lookup((PyTypeObject *)class, name);
    if (after) frontend_holder((PyTypeObject *)class, after, PyUnicode_AsUTF8(name), &value);
    return value;
}

/* Attributes of modules without the detour through PyObject_GetAttr. */
static bool attribute_holds(const Guard *guard) {
    if (PyModule_CheckExact(guard->holder)) {
        PyObject *value = PyDict_GetItemWithError(PyModule_GetDict(guard->holder), guard->name);
        if (value) return same_object(value, guard->value);
    }
    PyObject *value = PyObject_GetAttr(guard->holder, guard->name);
    bool holds = value && same_object(value, guard->value);
    Py_XDECREF(value);
    return holds;
}

PyObject *const *guard_field(const Guard *guard) {
    PyFunctionObject *function = (PyFunctionObject *)guard->holder;
    switch (guard->kind) {
    case GUARD_CELL: return &((PyCellObject *)guard->holder)->ob_ref;
    case GUARD_CODE: return &function->func_code;
    case GUARD_DEFAULTS: return &function->func_defaults;
    case GUARD_KWDEFAULTS: return &function->func_kwdefaults;
    default: return NULL;
    }
}

bool guards_hold(const Guard *guards, size_t count) {
    bool holds = true;
    for (size_t i = 0; i < count && holds; i++) {
        const Guard *guard = &guards[i];
        if (guard->kind == GUARD_GLOBAL)
            holds = same_object(guard_find_global(guard->holder, guard->builtins, guard->name), guard->value);
        else if (guard->kind == GUARD_MEMBER)
            holds = same_object(guard_find_member(guard->holder, guard->builtins, guard->name), guard->value);
        else if (guard->kind == GUARD_ATTRIBUTE)
            holds = attribute_holds(guard);
        else if (guard->kind == GUARD_SIZE)
            holds = PyDict_GET_SIZE(guard->holder) == PyLong_AsSsize_t(guard->value);
        else if (guard->kind == GUARD_ARRAY)
            holds = guard_array_holds(guard);
        else
            holds = same_object(*guard_field(guard), guard->value);
    }
    if (KRAIT_UNLIKELY(!holds)) PyErr_Clear();
    return holds;
}

void guards_release(Guard *guards, size_t count) {
    for (size_t i = 0; i < count; i++) {
        Py_CLEAR(guards[i].holder);
        Py_CLEAR(guards[i].builtins);
        Py_CLEAR(guards[i].name);
        Py_CLEAR(guards[i].value);
    }
}

void guard_add(Frontend *frontend, Guard guard) {
    if (frontend->unguarded) return;
    uint64_t hash = hash_mix(hash_mix(guard.kind, (uintptr_t)guard.holder), (uintptr_t)guard.name);
    uint32_t i = hash_index_first(&frontend->guard_index, hash);
    for (; i != HASH_INDEX_END; i = hash_index_next(&frontend->guard_index, i)) {
        const Guard *known = &frontend->guards.data[i];
        bool same = known->kind == guard.kind && known->holder == guard.holder && known->name == guard.name;
        if (same && known->builtins == guard.builtins) return;
    }
    hash_index_add(&frontend->guard_index, frontend->arena, hash);
    vec_push(frontend->arena, &frontend->guards, guard);
    Py_INCREF(guard.holder); /* after the translate_push, which may not return */
    Py_XINCREF(guard.builtins);
    Py_XINCREF(guard.name);
    Py_XINCREF(guard.value);
}
