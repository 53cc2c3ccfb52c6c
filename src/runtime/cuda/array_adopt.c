/* array_adopt.c: arrays of other libraries as operands: which protocol their class speaks, and what stream their work
 * is put before.
 *
 * In: any object.  Out: a device array on its memory, or that it is no array.  A table of C functions is asked first
 * (array_dlpack.c), then __cuda_array_interface__ (array_make.c), then __dlpack__.  Classes that spoke one are known by
 * their address, so that the usual operand costs no search for attributes. */
#include "runtime/cuda/device_array.h"

#include <string.h> /* memmove */

PyObject *device_array_class_attribute(PyTypeObject *type, const char *name) {
    PyObject *found = PyObject_GetAttrString((PyObject *)type, name);
    if (!found && PyErr_ExceptionMatches(PyExc_AttributeError)) PyErr_Clear(); /* most classes have none */
    return found;
}

/* False: it is the class of no array, or an exception is set. */
static bool read_class(PyTypeObject *type, Foreign *found) {
    static const struct {
        const char *name;
        ForeignProtocol protocol;
    } others[] = {{"__cuda_array_interface__", FOREIGN_INTERFACE}, {"__dlpack__", FOREIGN_CAPSULE}};
    *found = (Foreign){type, FOREIGN_TABLE, device_array_read_table(type)};
    for (size_t i = 0; !found->table && !PyErr_Occurred() && i < COUNT_OF(others); i++) {
        PyObject *attribute = device_array_class_attribute(type, others[i].name);
        if (!attribute) continue;
        Py_DECREF(attribute);
        found->protocol = others[i].protocol;
        return true;
    }
    return found->table != NULL;
}

const Foreign *device_array_foreign(Runtime *runtime, PyTypeObject *type) {
    Foreign *known = runtime->foreign, found;
    for (size_t i = 0; i < FOREIGNS; i++)
        if (known[i].type == type) return &known[i];
    if (!read_class(type, &found)) return NULL;
    PyTypeObject *dropped = known[FOREIGNS - 1].type;
    memmove(known + 1, known, (FOREIGNS - 1) * sizeof *known);
    known[0] = found;
    Py_INCREF(type);
    Py_XDECREF(dropped); /* last: it may run anything */
    return known;
}

/* CUDA numbers the legacy default stream 1, too. */
static void *plain(void *stream) { return stream == (void *)1 ? NULL : stream; }

int device_array_order(Device *device, void *later, void *earlier) {
    if (plain(later) == plain(earlier)) return 0;
    return device_check(device, device->ops->stream_order(device, later, earlier), "making a stream wait for another");
}

PyObject *runtime_adopt(Runtime *runtime, PyObject *object, void *stream) {
    const Foreign *known = device_array_foreign(runtime, Py_TYPE(object));
    if (!known) return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
    switch (known->protocol) {
    case FOREIGN_TABLE: return device_array_from_table(runtime, known->table, object, stream);
    case FOREIGN_INTERFACE: return device_array_read_interface(runtime, object, INTERFACE_ORDERS, stream);
    case FOREIGN_CAPSULE: return device_array_ask(runtime, object, stream);
    }
    return NULL;
}
