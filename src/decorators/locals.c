/* locals.c: the option `locals` of a decorated function.
 *
 * In: the options as given, whose `locals` is a dict of names and what stands for types.  Out: a copy in which every
 * type is one of krait.types; the frontend converts to it what the function assigns.  A type that nothing is converted
 * to is a TypeError; a name that is no variable of the function does nothing, and a warning says so. */
#include "decorators/decorators.h"

static PyObject *variables_of(PyObject *function) {
    PyObject *code = PyFunction_GET_CODE(function);
    PyObject *plain = PyObject_GetAttrString(code, "co_varnames"), *captured = NULL, *all = NULL;
    if (plain) captured = PyObject_GetAttrString(code, "co_cellvars");
    if (captured) all = PySequence_Concat(plain, captured);
    Py_XDECREF(plain);
    Py_XDECREF(captured);
    return all;
}

/* Programs share one dict among functions that do not have all of its variables: a slip is worth a warning, no more. */
static int unknown_variable(ModuleState *state, PyObject *function, PyObject *name, PyObject *names) {
    PyObject *meant = errors_did_you_mean(name, names);
    int result = -1;
    if (meant)
        result = PyErr_WarnFormat(state->errors[ERROR_WARNING], 1, "option locals: %S has no variable %R%U",
                                  ((PyFunctionObject *)function)->func_name, name, meant);
    Py_XDECREF(meant);
    return result;
}

/* A new reference: the type as an object.  Python's int and float are int64 and float64 here. */
static PyObject *type_of(ModuleState *state, PyObject *name, PyObject *given) {
    const Type *type = NULL;
    if (PyUnicode_Check(given)) {
        Py_ssize_t length;
        const char *text = PyUnicode_AsUTF8AndSize(given, &length);
        if (!text) return NULL;
        type = type_from_name(state, text, (size_t)length);
    } else {
        type = type_from_object(state, given);
        if (!type && !PyErr_ExceptionMatches(PyExc_TypeError)) return NULL;
        PyErr_Clear();
    }
    if (type && type_is_scalar(type))
        return type_to_object(state, type_scalar(state->session.types, type->scalar, false));
    return PyErr_Format(PyExc_TypeError,
                        "option locals: %R is not a type that %R can be declared as: it names types of numbers, as "
                        "float32; types of arrays and of other objects are inferred",
                        given, name);
}

static int resolve_each(ModuleState *state, PyObject *function, PyObject *locals, PyObject *resolved) {
    PyObject *names = variables_of(function), *name, *given;
    Py_ssize_t at = 0;
    int result = names ? 0 : -1;
    while (!result && PyDict_Next(locals, &at, &name, &given)) {
        int known = PySequence_Contains(names, name);
        if (known < 0 || (!known && unknown_variable(state, function, name, names) < 0)) {
            result = -1;
            break;
        }
        PyObject *type = type_of(state, name, given);
        result = !type ? -1 : known ? PyDict_SetItem(resolved, name, type) : 0;
        Py_XDECREF(type);
    }
    Py_XDECREF(names);
    return result;
}

PyObject *locals_resolved(ModuleState *state, PyObject *function, PyObject *options) {
    PyObject *locals = PyDict_GetItemString(options, "locals");
    if (!locals) return Py_NewRef(options);
    PyObject *resolved = PyDict_New(), *copy = PyDict_Copy(options);
    PyObject *own = PyDict_Copy(locals); /* a __repr__ may change the user's */
    if (!resolved || !copy || !own || resolve_each(state, function, own, resolved) < 0 ||
        PyDict_SetItemString(copy, "locals", resolved) < 0)
        Py_CLEAR(copy);
    Py_XDECREF(own);
    Py_XDECREF(resolved);
    return copy;
}
