/* python_call.c: functions of modules written in Python, by name.
 *
 * In: the names of a module and of what is called in it, and the arguments as Py_BuildValue takes a tuple of them.
 * Out: what the call gives; NULL: exception set. */
#include "runtime/marshal/marshal.h"

#include <stdarg.h>

PyObject *marshal_call_python(const char *module_name, const char *name, const char *format, ...) {
    va_list list;
    va_start(list, format);
    PyObject *args = Py_VaBuildValue(format, list), *result = NULL;
    va_end(list);
    PyObject *module = args ? PyImport_ImportModule(module_name) : NULL;
    PyObject *function = module ? PyObject_GetAttrString(module, name) : NULL;
    if (function) result = PyObject_Call(function, args, NULL);
    Py_XDECREF(function);
    Py_XDECREF(module);
    Py_XDECREF(args);
    return result;
}
