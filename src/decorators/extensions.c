/* extensions.c: the option `extensions` of cuda.jit: objects that replace arguments at a launch.
 *
 * In: the arguments of a launch.  Out: the launch of what the extensions make of them, and then the calls of what they
 * put on a list.  Each extension's prepare_args(type, value, stream=..., retr=...) gives (type, value); the last of
 * them sees an argument first, as in Numba.  The type is None for a value that compiled code does not take. */
#include "decorators/kernel.h"

/* What the extensions make of one argument: a new reference. */
static PyObject *prepare(const Launcher *self, PyObject *extensions, PyObject *keywords, PyObject *value) {
    ModuleState *state = self->kernel->core.state;
    const Type *known = marshal_typeof(&state->marshal, value);
    PyErr_Clear();
    PyObject *type = known ? type_to_object(state, known) : Py_NewRef(Py_None);
    value = Py_NewRef(value);
    for (Py_ssize_t i = PySequence_Size(extensions) - 1; type && value && i >= 0; i--) {
        PyObject *extension = PySequence_GetItem(extensions, i);
        PyObject *method = extension ? PyObject_GetAttrString(extension, "prepare_args") : NULL;
        PyObject *args = method ? PyTuple_Pack(2, type, value) : NULL, *pair = NULL;
        if (args) pair = PyObject_Call(method, args, keywords);
        Py_CLEAR(type);
        Py_CLEAR(value);
        if (pair && PyArg_ParseTuple(pair, "OO;prepare_args gives (type, value)", &type, &value)) {
            Py_INCREF(type);
            Py_INCREF(value);
        }
        Py_XDECREF(pair);
        Py_XDECREF(args);
        Py_XDECREF(method);
        Py_XDECREF(extension);
    }
    if (!type) Py_CLEAR(value);
    Py_XDECREF(type);
    return value;
}

static int call_all(PyObject *list) {
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); i++) {
        PyObject *function = Py_NewRef(PyList_GET_ITEM(list, i)); /* it may take itself off the list */
        PyObject *done = PyObject_CallNoArgs(function);
        Py_DECREF(function);
        if (!done) return -1;
        Py_DECREF(done);
    }
    return 0;
}

PyObject *launch_extended(PyObject *launcher, PyObject *const *args, size_t nargsf, PyObject *kwnames) {
    Launcher *self = (Launcher *)launcher;
    PyObject *result = NULL;
    Py_ssize_t nargs = PyVectorcall_NARGS(nargsf), total = nargs + (kwnames ? PyTuple_GET_SIZE(kwnames) : 0);
    if (launcher_call_back(self) < 0) return NULL;
    PyObject *extensions = PyDict_GetItemString(self->kernel->core.options.given, "extensions");
    if (!extensions) return launch_plain(launcher, args, nargsf, kwnames);
    Py_INCREF(extensions); /* what they run may change the options */
    PyObject *after = PyList_New(0), *values = PyTuple_New(total);
    PyObject *keywords = after ? Py_BuildValue("{sOsO}", "stream", self->stream ? self->stream : Py_None, "retr", after)
                               : NULL;
    for (Py_ssize_t i = 0; keywords && values && i < total; i++) {
        PyObject *value = prepare(self, extensions, keywords, args[i]);
        if (value)
            PyTuple_SET_ITEM(values, i, value);
        else
            Py_CLEAR(values);
    }
    if (keywords && values) result = launch_plain(launcher, &PyTuple_GET_ITEM(values, 0), (size_t)nargs, kwnames);
    if (result && call_all(after) < 0) Py_CLEAR(result);
    Py_XDECREF(keywords);
    Py_XDECREF(values);
    Py_XDECREF(after);
    Py_DECREF(extensions);
    return result;
}
