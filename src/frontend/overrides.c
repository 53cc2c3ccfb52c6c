/* overrides.c: where a class written by the user answers for itself what compiled code would compute.
 *
 * In: a class, and the plain one (int, list, ...) that its values are taken for; or the type of an operand and the name
 * of a special method.  Out: the first name that the class has otherwise than the plain one; whether the method is the
 * user's.  What Python's own modules write into classes that they make (enum, collections) is what compiled code
 * computes too, and does not count. */
#include "frontend/frontend_private.h"

#include <string.h> /* strcmp, strlen */

/* Of these a value that exists does not change its meaning. */
static bool is_bookkeeping(const char *name) {
    static const char *const names[] = {
        "__new__",           "__init__",          "__init_subclass__", "__class_getitem__", "__subclasshook__",
        "__del__",           "__setattr__",       "__delattr__",       "__reduce__",        "__reduce_ex__",
        "__getnewargs__",    "__getnewargs_ex__", "__getstate__",      "__setstate__",      "__copy__",
        "__deepcopy__",      "__sizeof__",        "__dir__",           "__doc__",           "__module__",
        "__dict__",          "__weakref__",       "__slots__",         "__annotations__",   "__set_name__",
        "__annotate_func__", "__parameters__"};
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (strcmp(name, names[i]) == 0) return true;
    return false;
}

static bool is_special(const char *name) {
    size_t length = strlen(name);
    return length > 4 && strncmp(name, "__", 2) == 0 && strcmp(name + length - 2, "__") == 0;
}

/* Whether a function of krait.typed, which only keeps what does not fit out of a container. */
static bool keeps_to_types(PyObject *value) {
    PyObject *module = PyFunction_Check(value) ? ((PyFunctionObject *)value)->func_module : NULL;
    return module && PyUnicode_Check(module) && PyUnicode_CompareWithASCIIString(module, "krait.typed") == 0;
}

/* The first name in the dictionary of one class that is not as in the plain class; first: it is looked at before that
 * one. */
static const char *first_own(PyTypeObject *class, PyTypeObject *plain, bool first) {
    PyObject *name, *value;
    PyObject *dict = frontend_class_dict(class);
    for (Py_ssize_t at = 0; dict && PyDict_Next(dict, &at, &name, &value);) {
        const char *text = PyUnicode_Check(name) ? PyUnicode_AsUTF8(name) : NULL;
        if (!text) PyErr_Clear();
        if (!text || is_bookkeeping(text)) continue;
        bool written = (class->tp_flags & Py_TPFLAGS_HEAPTYPE) != 0;
        if (!written && strcmp(text, "__repr__") == 0) continue;
        bool known = _PyType_Lookup(plain, name) != NULL;
        if (keeps_to_types(value)) continue;
        if (known ? first : is_special(text) && PyCallable_Check(value)) return text;
    }
    return NULL;
}

const char *frontend_overrides(PyTypeObject *class, PyTypeObject *plain) {
    bool before = true;
    const char *name = NULL;
    for (Py_ssize_t i = 0; class != plain && !name && class->tp_mro && i < PyTuple_GET_SIZE(class->tp_mro); i++) {
        PyTypeObject *base = (PyTypeObject *)PyTuple_GET_ITEM(class->tp_mro, i);
        if (base == plain) before = false;
        if (base != plain && base != &PyBaseObject_Type) name = first_own(base, plain, before);
    }
    return name;
}

/* What the modules enum and collections write into the classes that they make. */
static bool is_of_a_library(PyObject *function) {
    static const char *const modules[] = {"enum", "collections"};
    PyObject *module = PyFunction_Check(function) ? ((PyFunctionObject *)function)->func_module : NULL;
    for (size_t i = 0; module && PyUnicode_Check(module) && i < COUNT_OF(modules); i++)
        if (PyUnicode_CompareWithASCIIString(module, modules[i]) == 0) return true;
    return false;
}

static bool is_builtin(PyObject *value) {
    PyTypeObject *class = Py_TYPE(value);
    return class == &PyWrapperDescr_Type || class == &PyMethodDescr_Type || class == &PyCFunction_Type ||
           class == &PyClassMethodDescr_Type;
}

bool frontend_answers_itself(Frontend *frontend, const Type *type, const char *name) {
    PyObject *object = type->object ? objects_get(frontend->objects, type->object) : NULL;
    if (!object || (type->kind != TY_OBJECT && !PyType_Check(object))) return false;
    PyTypeObject *class = type->kind == TY_OBJECT ? Py_TYPE(object) : (PyTypeObject *)object;
    PyObject *value = frontend_class_has(frontend, (PyObject *)class, NULL, name);
    return value && !is_builtin(value) && !is_of_a_library(value);
}
