/* prelude.c: what the driver asks the frontend on behalf of inference: functions of the package krait.prelude by name,
 * and names for messages.
 *
 * The prelude is Python in the supported subset; its modules are imported when a compilation first needs them. */
#include "frontend/frontend.h"

#include <string.h> /* strchr */

/* Turns the Python exception that is set into the Diag; Exception subclasses only, others (KeyboardInterrupt) stay set
 * for the caller. */
static bool python_failed(Frontend *frontend, const char *what) {
    if (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_Exception)) {
        diag_fail(frontend->diag, DIAG_PYTHON, NULL, (Span){0}, "%s", what);
        return false;
    }
    PyErr_Clear();
    return diag_fail(frontend->diag, DIAG_LOWERING, NULL, (Span){0}, "%s", what);
}

ObjRef frontend_prelude(Frontend *frontend, const char *name) {
    const char *colon = strchr(name, ':');
    FAIL_IF(!colon, frontend->diag, LOWERING, NULL, ((Span){0}), "'%s' does not name a prelude function", name);
    const char *module_name = arena_printf(frontend->arena, "krait.prelude.%.*s", (int)(colon - name), name);
    PyObject *module = PyImport_ImportModule(module_name);
    PyObject *function = module ? PyObject_GetAttrString(module, colon + 1) : NULL;
    ObjRef ref = function ? objects_ref(frontend->objects, function) : 0;
    if (!ref)
        python_failed(frontend, arena_printf(frontend->arena, "the prelude function %s could not be loaded", name));
    Py_XDECREF(function);
    Py_XDECREF(module);
    return ref;
}

const char *frontend_object_name(Frontend *frontend, ObjRef ref) {
    PyObject *object = objects_get(frontend->objects, ref);
    if (!object) return "?";
    PyObject *name = PyObject_GetAttrString(object, "__qualname__");
    if (!name) {
        PyErr_Clear();
        name = PyObject_GetAttrString(object, "__name__");
    }
    const char *utf8 = name && PyUnicode_Check(name) ? PyUnicode_AsUTF8(name) : NULL;
    const char *text = arena_strdup(frontend->arena, utf8 ? utf8 : Py_TYPE(object)->tp_name);
    Py_XDECREF(name);
    PyErr_Clear();
    return text;
}
