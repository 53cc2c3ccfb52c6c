/* names.c: globals, cells of finished functions and attributes of constant objects, each read with a guard.
 *
 * Input: where the name is looked up.  Output: the object it means now, borrowed from the guard or the Frontend; a
 * Guard in frontend->guards. Algorithm: the interpreter's own lookups.  An attribute of anything but a module or class
 * is read twice: one that is a new object every time could never be guarded. */
#include "frontend/frontend_private.h"

#include <string.h> /* memcmp */

/* ---- guards ---- */

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

/* Borrowed; NULL without an exception: not there. */
static PyObject *find_global(PyObject *globals, PyObject *builtins, PyObject *name) {
    PyObject *value = PyDict_GetItemWithError(globals, name);
    if (!value && builtins && !PyErr_Occurred()) value = PyDict_GetItemWithError(builtins, name);
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
            holds = same_object(find_global(guard->holder, guard->builtins, guard->name), guard->value);
        else if (guard->kind == GUARD_ATTRIBUTE)
            holds = attribute_holds(guard);
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

void name_guard(Frontend *frontend, Guard guard) {
    if (frontend->unguarded) return;
    uint64_t hash = hash_mix(hash_mix(guard.kind, (uintptr_t)guard.holder), (uintptr_t)guard.name);
    uint32_t i = hash_index_first(&frontend->guard_index, hash);
    for (; i != HASH_INDEX_END; i = hash_index_next(&frontend->guard_index, i)) {
        const Guard *known = &frontend->guards.data[i];
        if (known->kind == guard.kind && known->holder == guard.holder && known->name == guard.name) return;
    }
    hash_index_add(&frontend->guard_index, frontend->arena, hash);
    vec_push(frontend->arena, &frontend->guards, guard);
    Py_INCREF(guard.holder); /* after the translate_push, which may not return */
    Py_XINCREF(guard.builtins);
    Py_XINCREF(guard.name);
    Py_XINCREF(guard.value);
}

/* ---- lookups ---- */

PyObject *name_global(Frontend *frontend, PyObject *globals, PyObject *builtins, PyObject *name) {
    PyObject *value = find_global(globals, builtins, name);
    if (value) name_guard(frontend, (Guard){GUARD_GLOBAL, globals, builtins, name, value});
    return value;
}

PyObject *name_cell(Frontend *frontend, PyObject *cell) {
    PyObject *value = PyCell_GET(cell);
    if (value) name_guard(frontend, (Guard){GUARD_CELL, cell, NULL, NULL, value});
    return value;
}

void name_function(Frontend *frontend, PyObject *function) {
    for (GuardKind kind = GUARD_CODE; kind <= GUARD_KWDEFAULTS; kind++) {
        Guard guard = {kind, function, NULL, NULL, NULL};
        guard.value = *guard_field(&guard);
        name_guard(frontend, guard);
    }
}

PyObject *name_attribute(Frontend *frontend, PyObject *holder, PyObject *name, const Source *source, Span span) {
    PyObject *value = frontend_keep(frontend, PyObject_GetAttr(holder, name));
    if (!value) {
        if (PyErr_ExceptionMatches(PyExc_AttributeError)) PyErr_Clear();
        if (PyErr_Occurred())
            frontend_python_failed(frontend, source, span, "reading the attribute raised an exception");
        return NULL;
    }
    if (objects_is_intrinsic(frontend->objects, value)) return value; /* part of Krait: stays */
    Guard guard = {GUARD_ATTRIBUTE, holder, NULL, name, value};
    if (!PyModule_Check(holder) && !PyType_Check(holder) && !guards_hold(&guard, 1)) {
        bool method = PyMethod_Check(value) || PyCFunction_Check(value);
        diag_fail(frontend->diag, DIAG_UNSUPPORTED_OBJECT, source, span,
                  method ? "method '%s' of an object of type %s is not compiled"
                         : "attribute '%s' of an object of type %s is another object every time it is read",
                  PyUnicode_AsUTF8(name), Py_TYPE(holder)->tp_name);
        diag_hint(frontend->diag,
                  method ? "call it outside, and pass the result as an argument" : "pass it as an argument");
        return NULL;
    }
    name_guard(frontend, guard);
    return value;
}

/* ---- advice ---- */

static const char *same_but_for_capitals(Frontend *frontend, PyObject *name, PyObject *candidates) {
    PyObject *folded = frontend_keep(frontend, PyObject_CallMethod(name, "casefold", NULL));
    PyObject *list = folded ? frontend_keep(frontend, PySequence_List(candidates)) : NULL;
    for (Py_ssize_t i = 0; list && i < PyList_GET_SIZE(list); i++) {
        PyObject *candidate = PyList_GET_ITEM(list, i);
        PyObject *other = frontend_keep(frontend, PyObject_CallMethod(candidate, "casefold", NULL));
        if (other && PyUnicode_Check(candidate) && PyUnicode_Compare(folded, other) == 0)
            return PyUnicode_AsUTF8(candidate);
        PyErr_Clear(); /* what is no text has no capitals */
    }
    return NULL;
}

static const char *closest(Frontend *frontend, PyObject *name, PyObject *candidates) {
    PyObject *difflib = frontend_keep(frontend, PyImport_ImportModule("difflib"));
    PyObject *close = difflib ? frontend_keep(frontend, PyObject_CallMethod(difflib, "get_close_matches", "OOi", name,
                                                                            candidates, 1))
                              : NULL;
    PyObject *best = close && PyList_Check(close) && PyList_GET_SIZE(close) ? PyList_GET_ITEM(close, 0) : NULL;
    return best && PyUnicode_Check(best) ? PyUnicode_AsUTF8(best) : NULL;
}

/* The name among the candidates (an iterable of str; a new reference) that is most like this one, as a hint. */
void name_suggest(Frontend *frontend, PyObject *name, PyObject *candidates) {
    candidates = frontend_keep(frontend, candidates);
    const char *text = candidates ? same_but_for_capitals(frontend, name, candidates) : NULL;
    if (!text && candidates) text = closest(frontend, name, candidates);
    PyErr_Clear();
    if (text) diag_hint(frontend->diag, "did you mean '%s'?", text);
}
