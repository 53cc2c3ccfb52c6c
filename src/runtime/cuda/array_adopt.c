/* array_adopt.c: arrays of other libraries as operands: which protocol their class speaks, and what stream their work
 * is put before.
 *
 * In: any object.  Out: a device array on its memory, or that it is no array.  A table of C functions is asked first
 * (array_dlpack.c), then the getters of fields (array_fields.c), __cuda_array_interface__ (array_make.c), and
 * __dlpack__.  Classes that spoke one are known by their address, and so are some that spoke none: the usual operand
 * costs no search for attributes.
 *
 * What a launch takes is a shell: a device array that nobody else sees, and that the next launch uses again, for the
 * same memory or other.  It keeps nothing alive: the launch's arguments do. */
#include "runtime/cuda/device_array.h"

#include <string.h> /* memmove */

PyObject *device_array_class_attribute(PyTypeObject *type, const char *name) {
    PyObject *found = PyObject_GetAttrString((PyObject *)type, name);
    if (!found && PyErr_ExceptionMatches(PyExc_AttributeError)) PyErr_Clear(); /* most classes have none */
    return found;
}

/* False: it is the class of no array, or an exception is set. */
static bool read_class(Runtime *runtime, PyTypeObject *type, Foreign *found) {
    static const struct {
        const char *name;
        ForeignProtocol protocol;
    } others[] = {{"__cuda_array_interface__", FOREIGN_INTERFACE}, {"__dlpack__", FOREIGN_CAPSULE}};
    *found = (Foreign){type, FOREIGN_TABLE, device_array_read_table(type)};
    if (found->table || PyErr_Occurred()) return found->table != NULL;
    found->protocol = FOREIGN_FIELDS;
    if (device_array_has_fields(runtime, type)) return true;
    for (size_t i = 0; !PyErr_Occurred() && i < COUNT_OF(others); i++) {
        PyObject *attribute = device_array_class_attribute(type, others[i].name);
        if (!attribute) continue;
        Py_DECREF(attribute);
        found->protocol = others[i].protocol;
        return true;
    }
    return false;
}

static void note_ordinary(Runtime *runtime, PyTypeObject *type) {
    PyTypeObject **known = runtime->ordinary, *dropped = known[ORDINARY - 1];
    memmove(known + 1, known, (ORDINARY - 1) * sizeof *known);
    known[0] = (PyTypeObject *)Py_NewRef((PyObject *)type);
    Py_XDECREF(dropped); /* last: it may run anything */
}

const Foreign *device_array_foreign(Runtime *runtime, PyTypeObject *type) {
    Foreign *known = runtime->foreign, found;
    for (size_t i = 0; i < FOREIGNS; i++)
        if (known[i].type == type) return &known[i];
    for (size_t i = 0; i < ORDINARY; i++)
        if (runtime->ordinary[i] == type) return NULL;
    if (!read_class(runtime, type, &found)) {
        if (!PyErr_Occurred()) note_ordinary(runtime, type);
        return NULL;
    }
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

static PyObject *adopt(Runtime *runtime, const Foreign *known, PyObject *object, void *stream) {
    ArrayFields fields;
    switch (known->protocol) {
    case FOREIGN_TABLE: return device_array_from_table(runtime, known->table, object, stream);
    case FOREIGN_INTERFACE: return device_array_read_interface(runtime, object, INTERFACE_ORDERS, stream);
    case FOREIGN_CAPSULE: return device_array_ask(runtime, object, stream);
    case FOREIGN_FIELDS:
        return device_array_read_fields(runtime, object, stream, &fields) < 0
                   ? NULL
                   : (PyObject *)device_array_of(runtime, &fields, object);
    }
    return NULL;
}

PyObject *runtime_adopt(Runtime *runtime, PyObject *object, void *stream) {
    const Foreign *known = device_array_foreign(runtime, Py_TYPE(object));
    if (!known) return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
    return adopt(runtime, known, object, stream);
}

/* ---- for a launch ---- */

static bool is_for(const DeviceArray *shell, const ArrayFields *fields) {
    size_t bytes = fields->ndim * sizeof(int64_t);
    return shell->head.data == fields->data && shell->device == fields->device &&
           shell->generation == fields->device->generation && type_element(shell->type) == fields->element &&
           shell->type->readonly == fields->readonly && !memcmp(shell->dims, fields->shape, bytes) &&
           !memcmp(shell->dims + fields->ndim, fields->strides, bytes);
}

/* One that no launch has now, best one that was for the same memory.  NULL: exception set. */
static PyObject *shell_for(Runtime *runtime, const ArrayFields *fields) {
    DeviceArray **empty = NULL, **other = NULL, *like = NULL;
    for (DeviceArray **at = runtime->shells; at < runtime->shells + SHELLS; at++) {
        if (!*at)
            empty = at;
        else if (Py_REFCNT(*at) != 1)
            continue;
        else if ((*at)->type->ndim != fields->ndim)
            other = at;
        else if (is_for(*at, fields))
            return Py_NewRef((PyObject *)*at);
        else
            like = *at;
    }
    if (!empty && like) {
        device_array_become(like, fields);
        return Py_NewRef((PyObject *)like);
    }
    DeviceArray *made = device_array_of(runtime, fields, Py_None), **place = empty ? empty : other;
    if (made && place) Py_XSETREF(*place, (DeviceArray *)Py_NewRef((PyObject *)made));
    return (PyObject *)made;
}

PyObject *runtime_lend(Runtime *runtime, PyObject *object, void *stream) {
    ArrayFields fields;
    const Foreign *known = device_array_foreign(runtime, Py_TYPE(object));
    if (!known) return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
    bool lends = known->protocol == FOREIGN_FIELDS ||
                 (known->protocol == FOREIGN_TABLE && device_array_table_lends(known->table));
    if (!lends || runtime_capture) return adopt(runtime, known, object, stream); /* a graph keeps what it uses */
    int read = known->protocol == FOREIGN_FIELDS ? device_array_read_fields(runtime, object, stream, &fields)
                                                 : device_array_borrow(runtime, known->table, object, stream, &fields);
    return read < 0 ? NULL : shell_for(runtime, &fields);
}
