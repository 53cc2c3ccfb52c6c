/* device_names.c: what Python finds at a Device by name: the driver's attributes (device_attributes.def), its context;
 * and the device of a number.  Contexts and the list of devices are Python's (krait.cuda._contexts). */
#include "runtime/cuda/device_memory.h"

#include <string.h> /* strcmp, strncmp */

/* Attributes by the name that the driver API gives them (CU_DEVICE_ATTRIBUTE_ without the prefix). */
static const struct {
    const char *name;
    int number;
} device_attributes[] = {
#define DEVICE_ATTRIBUTE(name, number) {#name, number},
#include "runtime/cuda/device_attributes.def"
#undef DEVICE_ATTRIBUTE
};

/* -1: it has no such name.  With the driver's prefix or without it. */
int device_attribute_number(PyObject *name) {
    static const char prefix[] = "CU_DEVICE_ATTRIBUTE_";
    const char *text = PyUnicode_Check(name) ? PyUnicode_AsUTF8(name) : NULL;
    if (!text) PyErr_Clear();
    if (!text || *text < 'A' || *text > 'Z') return -1;
    if (strncmp(text, prefix, sizeof prefix - 1) == 0) text += sizeof prefix - 1;
    for (size_t i = 0; i < COUNT_OF(device_attributes); i++)
        if (strcmp(text, device_attributes[i].name) == 0) return device_attributes[i].number;
    return -1;
}

/* device_attributes(): (name, number) of each, the names without the prefix. */
PyObject *device_attribute_table(PyObject *module, PyObject *unused) {
    PyObject *list = PyList_New(COUNT_OF(device_attributes));
    (void)module, (void)unused;
    for (size_t i = 0; list && i < COUNT_OF(device_attributes); i++) {
        PyObject *pair = Py_BuildValue("(si)", device_attributes[i].name, device_attributes[i].number);
        if (pair)
            PyList_SET_ITEM(list, (Py_ssize_t)i, pair);
        else
            Py_CLEAR(list);
    }
    return list;
}

/* Names of attributes among those of the class. */
PyObject *device_dir(PyObject *object, PyObject *unused) {
    (void)unused;
    PyObject *names = PyObject_Dir((PyObject *)Py_TYPE(object));
    for (size_t i = 0; names && i < COUNT_OF(device_attributes); i++) {
        PyObject *name = PyUnicode_FromString(device_attributes[i].name);
        if (!name || PyList_Append(names, name) < 0) Py_CLEAR(names);
        Py_XDECREF(name);
    }
    return names;
}

/* Its context, as cuda.current_context() gives it: krait.cuda._contexts has the class. */
PyObject *device_primary_context(PyObject *self, PyObject *unused) {
    (void)unused;
    return marshal_call_python("krait.cuda._contexts", "Context", "(O)", self);
}

PyObject *device_context_of(Runtime *runtime, Device *device) {
    PyObject *object = device_object(runtime, device), *context = object ? device_primary_context(object, NULL) : NULL;
    Py_XDECREF(object);
    return context;
}

PyObject *device_handle_object(void *handle) {
    return marshal_call_python("ctypes", "c_void_p", "(N)", PyLong_FromVoidPtr(handle));
}

PyObject *device_from_identity(PyObject *class, PyObject *identity) {
    (void)class;
    PyObject *module = PyImport_ImportModule("krait.cuda._contexts");
    PyObject *gpus = module ? PyObject_GetAttrString(module, "gpus") : NULL;
    PyObject *device = gpus ? PyObject_GetItem(gpus, identity) : NULL;
    Py_XDECREF(gpus);
    Py_XDECREF(module);
    return device;
}
