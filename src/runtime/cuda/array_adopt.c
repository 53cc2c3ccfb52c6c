/* array_adopt.c: arrays of other libraries as operands: which protocol their class speaks, and what stream their work
 * is put before.
 *
 * In: any object.  Out: a device array on its memory, or that it is no array.  A table of C functions is asked first
 * (array_exchange.c), then the getters of fields (array_fields.c), __cuda_array_interface__ (array_interface.c), and
 * __dlpack__ (array_dlpack.c).  Classes that spoke one are known by their version, and so are some that spoke none: the
 * usual operand costs no search for attributes, and a class that is changed is looked at again.
 *
 * What a launch takes is a shell: a device array that nobody else sees, and that the next launch uses again, for the
 * same memory or other.  It keeps nothing alive: the launch's arguments do. */
#include "runtime/cuda/device_array.h"

#include <string.h> /* memcmp, memmove */

PyObject *device_array_class_attribute(PyTypeObject *type, const char *name) {
    PyObject *found = PyObject_GetAttrString((PyObject *)type, name);
    if (!found && PyErr_ExceptionMatches(PyExc_AttributeError)) PyErr_Clear(); /* most classes have none */
    return found;
}

static bool objects_have_attributes(const PyTypeObject *type) {
#if PY_VERSION_HEX >= 0x030C0000
    if (type->tp_flags & Py_TPFLAGS_MANAGED_DICT) return true;
#endif
    return type->tp_dictoffset != 0;
}

/* -1: exception set. */
static int read_class(Runtime *runtime, PyTypeObject *type, Foreign *found) {
    static const struct {
        const char *name;
        ForeignProtocol protocol;
    } others[] = {{"__cuda_array_interface__", FOREIGN_INTERFACE}, {"__dlpack__", FOREIGN_CAPSULE}};
    *found = (Foreign){.type = type,
                       .protocol = FOREIGN_TABLE,
                       .numpy = PyType_IsSubtype(type, &PyArray_Type),
                       .table = device_array_read_table(type)};
    if (found->table || PyErr_Occurred()) return found->table ? 0 : -1;
    found->protocol = FOREIGN_FIELDS;
    if (device_array_has_fields(runtime, type)) return 0;
    for (size_t i = 0; !PyErr_Occurred() && i < COUNT_OF(others); i++) {
        PyObject *attribute = device_array_class_attribute(type, others[i].name);
        if (!attribute) continue;
        Py_DECREF(attribute);
        found->protocol = others[i].protocol;
        return 0;
    }
    found->protocol = objects_have_attributes(type) ? FOREIGN_OBJECTS : FOREIGN_NONE;
    return PyErr_Occurred() ? -1 : 0;
}

static inline const Foreign *known_class(const Foreign *among, size_t count, const PyTypeObject *type) {
    unsigned version = type->tp_version_tag; /* 0: nobody has looked at it since it was changed */
    for (const Foreign *known = among; version && known < among + count; known++)
        if (known->type == type && known->version == version) return known;
    return NULL;
}

/* First among them, in the place of what was known of it before, or of the last. */
static const Foreign *note_class(Foreign *among, size_t count, const Foreign *found) {
    size_t place = 0;
    while (place < count - 1 && among[place].type != found->type) place++;
    memmove(among + 1, among, place * sizeof *among);
    among[0] = *found;
    return among;
}

/* NULL: exception set. */
static const Foreign *class_of(Runtime *runtime, PyTypeObject *type) {
    Foreign found;
    const Foreign *known = known_class(runtime->foreign, FOREIGNS, type);
    if (!known) known = known_class(runtime->ordinary, ORDINARY, type);
    if (known) return known;
    if (read_class(runtime, type, &found) < 0) return NULL;
    found.version = type->tp_version_tag;
    return found.protocol == FOREIGN_NONE || found.protocol == FOREIGN_OBJECTS
               ? note_class(runtime->ordinary, ORDINARY, &found)
               : note_class(runtime->foreign, FOREIGNS, &found);
}

/* Whether an object of an ordinary class is an array by itself.  -1: exception set. */
static int has_interface(PyObject *object) {
    PyObject *own = PyObject_GetAttrString(object, "__cuda_array_interface__");
    if (!own && !PyErr_ExceptionMatches(PyExc_AttributeError)) return -1;
    PyErr_Clear();
    Py_XDECREF(own);
    return own != NULL;
}

const Foreign *device_array_foreign(Runtime *runtime, PyObject *object) {
    static const Foreign by_itself = {.protocol = FOREIGN_INTERFACE};
    const Foreign *known = class_of(runtime, Py_TYPE(object));
    if (!known || known->protocol == FOREIGN_NONE) return NULL;
    if (known->protocol != FOREIGN_OBJECTS) return known;
    return has_interface(object) > 0 ? &by_itself : NULL;
}

/* CUDA numbers the legacy default stream 1, too. */
static void *plain(void *stream) { return stream == (void *)1 ? NULL : stream; }

int device_array_order(Device *device, void *later, void *earlier) {
    if (plain(later) == plain(earlier)) return 0;
    int status;
    GIVE(device, status, device->ops->stream_order(device, later, earlier));
    return device_check(device, status, "making a stream wait for another");
}

static PyObject *adopt(Runtime *runtime, const Foreign *known, PyObject *object, void *stream) {
    ArrayFields fields;
    switch (known->protocol) {
    case FOREIGN_TABLE: return device_array_from_table(runtime, known->table, object, stream);
    case FOREIGN_INTERFACE: return device_array_read_interface(runtime, object, INTERFACE_ORDERS, stream);
    case FOREIGN_CAPSULE: return device_array_ask(runtime, object, stream);
    case FOREIGN_NONE:
    case FOREIGN_OBJECTS: break;
    case FOREIGN_FIELDS:
        return device_array_read_fields(runtime, object, runtime_device(runtime), stream, NULL, &fields) < 0
                   ? NULL
                   : (PyObject *)device_array_of(runtime, &fields, object);
    }
    return Py_NewRef(Py_None);
}

PyObject *runtime_adopt(Runtime *runtime, PyObject *object, void *stream) {
    const Foreign *known = device_array_foreign(runtime, object);
    if (!known) return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
    return adopt(runtime, known, object, stream);
}

/* ---- for a launch ---- */

static bool is_for(const DeviceArray *shell, const ArrayFields *fields) {
    unsigned ndim = shell->type->ndim;
    if (shell->head.data != fields->data || shell->device != fields->device || ndim != fields->ndim ||
        shell->generation != fields->device->generation || type_element(shell->type) != fields->element ||
        shell->type->readonly != fields->readonly)
        return false;
    return memcmp(shell->dims, fields->dims, 2 * ndim * sizeof *fields->dims) == 0;
}

/* One that no launch has now, best one that was for the same memory: it stands in the argument's place if the last
 * launch had the same arguments.  NULL: exception set. */
static PyObject *shell_for(Runtime *runtime, const ArrayFields *fields, unsigned argument) {
    DeviceArray **empty = NULL, **other = NULL, *like = NULL;
    for (unsigned i = 0; i < SHELLS; i++) {
        DeviceArray **at = &runtime->shells[(argument + i) % SHELLS];
        if (!*at)
            empty = empty ? empty : at;
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

const Foreign *runtime_known(const Runtime *runtime, const PyTypeObject *type) {
    const Foreign *known = known_class(runtime->foreign, FOREIGNS, type);
    return known && !known->numpy ? known : NULL;
}

static bool lends(const Foreign *known) {
    return known->protocol == FOREIGN_FIELDS || known->protocol == FOREIGN_INTERFACE ||
           (known->protocol == FOREIGN_TABLE && device_array_table_lends(known->table));
}

/* Of one that lends. */
static inline int read_lent(Runtime *runtime, const Foreign *known, PyObject *object, Device *current, void *stream,
                            Producer *seen, ArrayFields *fields) {
    switch (known->protocol) {
    case FOREIGN_TABLE: return device_array_borrow(runtime, known->table, object, current, stream, seen, fields);
    case FOREIGN_FIELDS: return device_array_read_fields(runtime, object, current, stream, seen, fields);
    default: return device_array_interface_fields(runtime, object, current, INTERFACE_ORDERS, stream, fields);
    }
}

/* Of what no class is known by, nothing is asked: a number of NumPy's, or an argument that no launch takes so. */
int runtime_read_all(Runtime *runtime, PyObject *const *objects, Py_ssize_t count, Device *current, void *stream,
                     ArrayFields *fields, int most) {
    Producer seen = {NULL, NULL};
    int found = 0;
    for (Py_ssize_t i = 0; i < count; i++) {
        PyTypeObject *type = Py_TYPE(objects[i]);
        if (type == runtime->device_array || type == &PyFloat_Type || type == &PyLong_Type) continue;
        const Foreign *known = runtime_known(runtime, type);
        if (!known) continue;
        if (found == most || !lends(known) ||
            read_lent(runtime, known, objects[i], current, stream, &seen, &fields[found++]) < 0)
            return -1;
    }
    return found;
}

PyObject *runtime_lend(Runtime *runtime, const Foreign *known, PyObject *object, Device *current, void *stream,
                       unsigned argument) {
    ArrayFields fields;
    if (!known) known = device_array_foreign(runtime, object);
    if (!known) return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
    if (!lends(known) || runtime_capture) return adopt(runtime, known, object, stream); /* a graph keeps what it uses */
    int read = read_lent(runtime, known, object, current, stream, NULL, &fields);
    return read < 0 ? NULL : shell_for(runtime, &fields, argument);
}
