/* overloads.c: what users say about calls (krait.extending): the way from inference to their functions.
 *
 * In: an object or a name that is overloaded; then, for each call that inference meets, the row and the types of the
 * arguments.  Out: a row of the library for what had none; the Python function that stands for the call, as the
 * function `find` of krait/extending.py says, which is asked only about rows that are overloaded. */
#include "decorators/decorators.h"

/* The value of an argument that is known to be a text, an int or a bool of Python's; else NotImplemented. */
static PyObject *known_value(const Type *type, const Const *konst) {
    if (konst && type->kind == TY_STR) return PyUnicode_FromString(konst->text);
    bool number = konst && type_is_integer(type) && type->weak && !type->object && !konst->too_big;
    if (number && type->scalar == SCALAR_BOOL) return PyBool_FromLong(konst->i != 0);
    return number ? PyLong_FromLongLong(konst->i) : Py_NewRef(Py_NotImplemented);
}

/* None: the question is about the type alone. */
static PyObject *keyword_names(const OverloadRequest *request) {
    if (request->of_type) return Py_NewRef(Py_None);
    PyObject *names = PyTuple_New((Py_ssize_t)request->nnames);
    for (size_t i = 0; names && i < request->nnames; i++) {
        PyObject *name = PyUnicode_FromString(request->names[i]);
        if (!name) Py_CLEAR(names);
        if (names) PyTuple_SET_ITEM(names, (Py_ssize_t)i, name);
    }
    return names;
}

static PyObject *find(void *context, const OverloadRequest *request) {
    ModuleState *state = context;
    PyObject *entries = PyDict_GetItemString(state->overloads, request->func->key); /* borrowed */
    if (!entries) return NULL;
    PyObject *types = PyTuple_New((Py_ssize_t)request->count), *known = PyTuple_New((Py_ssize_t)request->count);
    PyObject *names = keyword_names(request), *found = NULL;
    for (size_t i = 0; types && known && i < request->count; i++) {
        PyObject *type = type_to_object(state, request->types[i]);
        PyObject *value = known_value(request->types[i], request->konsts[i]);
        if (type) PyTuple_SET_ITEM(types, (Py_ssize_t)i, type);
        if (value) PyTuple_SET_ITEM(known, (Py_ssize_t)i, value);
        if (!type || !value) Py_CLEAR(types);
    }
    if (types && known && names)
        found = PyObject_CallFunctionObjArgs(state->overload_finder, entries, types, known, names, NULL);
    Py_XDECREF(names);
    Py_XDECREF(known);
    Py_XDECREF(types);
    if (found == Py_None) Py_CLEAR(found);
    return found;
}

/* A row for what has none: calls of the object, or of what getattr finds under a name, ask the overloads. */
static const FuncInfo *new_row(ModuleState *state, PyObject *object, const char *name, const char *doc) {
    bool taken;
    const FuncInfo *row = library_add(state->session.library, name, 0, doc, &taken);
    if (!row) return PyErr_NoMemory(), NULL;
    return object && !objects_add_function(state->session.objects, object, row) ? NULL : row;
}

/* _overload_row(object or name, doc) -> the key of its row; made if there is none */
static PyObject *overload_row(PyObject *module, PyObject *args) {
    ModuleState *state = module_state(module);
    PyObject *object;
    const char *doc;
    if (!PyArg_ParseTuple(args, "Os:_overload_row", &object, &doc)) return NULL;
    objects_note_overload(state->session.objects);
    const FuncInfo *row;
    if (PyUnicode_Check(object)) {
        Py_ssize_t length;
        const char *name = PyUnicode_AsUTF8AndSize(object, &length);
        if (!name) return NULL;
        row = library_find(state->session.library, name, (size_t)length);
        if (!row) row = new_row(state, NULL, name, doc);
    } else {
        char name[64];
        snprintf(name, sizeof name, "krait.extending.function.%p", (void *)object);
        row = objects_func(state->session.objects, object);
        if (!row) row = new_row(state, object, name, doc);
    }
    return row ? PyUnicode_FromString(row->head.key) : NULL;
}

/* _set_overloads(overloads, find): key of a row -> what `find` is called with, beside types, values and keywords */
static PyObject *set_overloads(PyObject *module, PyObject *args) {
    ModuleState *state = module_state(module);
    PyObject *overloads, *finder;
    if (!PyArg_ParseTuple(args, "O!O:_set_overloads", &PyDict_Type, &overloads, &finder)) return NULL;
    Py_XSETREF(state->overloads, Py_NewRef(overloads));
    Py_XSETREF(state->overload_finder, Py_NewRef(finder));
    objects_set_overloads(state->session.objects, find, state);
    Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"_overload_row", overload_row, METH_VARARGS, NULL},
    {"_set_overloads", set_overloads, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

int overloads_add(PyObject *module, ModuleState *state) {
    (void)state;
    return PyModule_AddFunctions(module, functions);
}
