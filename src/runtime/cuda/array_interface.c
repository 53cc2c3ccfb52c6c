/* array_interface.c: arrays of other libraries by the CUDA Array Interface (version 3), as CuPy, PyTorch and Numba give
 * it: a dict that each access to an attribute makes anew.
 *
 * In: an object with __cuda_array_interface__.  Out: its fields, or a device array on its memory; what becomes of the
 * work on it that the interface's stream was given, the caller says.  The names are there as objects that are looked up
 * without being made, and of the last `typestr` of a number it is known what it means: the usual array costs little
 * more than the dict does. */
#include "runtime/cuda/device_array.h"

#include <stdlib.h> /* getenv */
#include <string.h> /* strcmp */

static const char *const key_names[INTERFACE_KEYS] = {
#define INTERFACE_KEY(key, name) [KEY_##key] = name,
    INTERFACE_KEY_LIST
#undef INTERFACE_KEY
};

int device_array_make_keys(Runtime *runtime) {
    for (int i = 0; i < INTERFACE_KEYS; i++)
        if (!(runtime->keys[i] = PyUnicode_InternFromString(key_names[i]))) return -1;
    return 0;
}

void device_array_drop_keys(Runtime *runtime) {
    for (int i = 0; i < INTERFACE_KEYS; i++) Py_XDECREF(runtime->keys[i]);
    Py_XDECREF(runtime->typestr);
}

/* A borrowed reference; NULL: it has none, or None where it need not have one, or an exception is set. */
static PyObject *item_of(const Runtime *runtime, PyObject *interface, InterfaceKey key, bool needed) {
    PyObject *item = PyDict_GetItemWithError(interface, runtime->keys[key]);
    if (!item && needed && !PyErr_Occurred())
        PyErr_Format(PyExc_ValueError, "__cuda_array_interface__ lacks '%s'", key_names[key]);
    return item == Py_None && !needed ? NULL : item;
}

/* -1: exception set. */
static int follow_stream(Device *device, PyObject *stream, InterfaceWait wait, void *taker) {
    if (!stream || stream == Py_None || wait == INTERFACE_IGNORES) return 0;
    long long number = PyLong_AsLongLong(stream);
    if (number == -1 && PyErr_Occurred()) return -1;
    if (number <= 0) {
        PyErr_Format(PyExc_ValueError,
                     "__cuda_array_interface__: %lld is no stream: None is none, 1 the default stream, 2 that of the "
                     "thread, a larger number an address",
                     number);
        return -1;
    }
    void *handle = (void *)(intptr_t)number;
    return wait == INTERFACE_WAITS ? device_synchronise(device, handle) : device_array_order(device, taker, handle);
}

/* `descr` tells the fields of what `typestr` knows as so many bytes, and the gaps between them as fields without a
 * name.  NULL: exception set. */
static PyArray_Descr *read_dtype(const Runtime *runtime, PyObject *interface, PyObject *typestr) {
    PyArray_Descr *dtype = NULL, *fields = NULL;
    PyObject *descr = item_of(runtime, interface, KEY_DESCR, false);
    if (PyErr_Occurred() || !PyArray_DescrConverter(typestr, &dtype)) return NULL;
    if (dtype->kind != 'V' || !descr) return dtype;
    PyObject *found = marshal_call_python("numpy.lib.format", "descr_to_dtype", "(O)", descr);
    bool fits = found && PyArray_DescrConverter(found, &fields) &&
                PyDataType_ELSIZE(fields) == PyDataType_ELSIZE(dtype);
    Py_XDECREF(found);
    if (!fits && !PyErr_Occurred())
        PyErr_SetString(PyExc_ValueError, "__cuda_array_interface__: 'descr' and 'typestr' differ in size");
    Py_DECREF(dtype);
    if (!fits) Py_CLEAR(fields);
    return fields;
}

/* NULL: exception set. */
static const Type *read_element(Runtime *runtime, PyObject *interface) {
    PyObject *typestr = item_of(runtime, interface, KEY_TYPESTR, true), *before = runtime->typestr;
    if (!typestr) return NULL;
    if (before && (typestr == before || (PyUnicode_CheckExact(typestr) && PyUnicode_Compare(typestr, before) == 0)))
        return runtime->typestr_element;
    PyArray_Descr *dtype = read_dtype(runtime, interface, typestr);
    const Type *element = dtype ? geometry_element(runtime, dtype, 0) : NULL;
    Py_XDECREF(dtype);
    if (element && element->kind == TY_SCALAR && PyUnicode_CheckExact(typestr)) {
        runtime->typestr_element = element;
        Py_XSETREF(runtime->typestr, Py_NewRef(typestr));
    }
    return element;
}

/* Each axis as a tuple of ints says it; of any other sequence as NumPy reads it.  -1: exception set. */
static int read_extents(PyObject *given, unsigned *ndim, int64_t *to) {
    PyArray_Dims dims = {NULL, 0};
    Py_ssize_t count = PyTuple_CheckExact(given) ? PyTuple_GET_SIZE(given) : TYPE_MAX_NDIM + 1;
    *ndim = (unsigned)count;
    for (Py_ssize_t i = 0; i < count && count <= TYPE_MAX_NDIM; i++)
        if (!geometry_read_int(PyTuple_GET_ITEM(given, i), &to[i])) count = TYPE_MAX_NDIM + 1;
    if (count <= TYPE_MAX_NDIM) return 0;
    if (!PyArray_IntpConverter(given, &dims)) return -1;
    *ndim = (unsigned)dims.len;
    for (int i = 0; i < dims.len && i < TYPE_MAX_NDIM; i++) to[i] = dims.ptr[i];
    PyDimMem_FREE(dims.ptr);
    return 0;
}

/* -1: exception set. */
static int read_shape(Runtime *runtime, PyObject *interface, ArrayFields *fields) {
    int64_t strides[TYPE_MAX_NDIM], *dims = fields->dims;
    unsigned ndim, given;
    PyObject *shape = item_of(runtime, interface, KEY_SHAPE, true);
    if (!shape || read_extents(shape, &ndim, dims) < 0) return -1;
    if (ndim > TYPE_MAX_NDIM) {
        PyErr_Format(PyExc_ValueError, "arrays of more than %d dimensions are not supported", TYPE_MAX_NDIM);
        return -1;
    }
    for (unsigned i = 0; i < ndim; i++)
        if (dims[i] < 0) return PyErr_SetString(PyExc_ValueError, "negative dimensions are not allowed"), -1;
    fields->ndim = ndim;
    PyObject *apart = item_of(runtime, interface, KEY_STRIDES, false);
    if (!apart) {
        if (PyErr_Occurred()) return -1;
        strided_pack(ndim, dims, type_size(fields->element), LAYOUT_C, dims + ndim);
        return 0;
    }
    if (read_extents(apart, &given, strides) < 0) return -1;
    if (given != ndim) {
        PyErr_Format(PyExc_ValueError, "__cuda_array_interface__: %u strides for %u dimensions", given, ndim);
        return -1;
    }
    for (unsigned i = 0; i < ndim; i++) dims[ndim + i] = strides[i];
    return 0;
}

/* The pair of an address and whether it is only read; -1: an exception is set, or it is no pair. */
static int read_data(Runtime *runtime, PyObject *interface, Device *current, ArrayFields *fields) {
    PyObject *data = item_of(runtime, interface, KEY_DATA, true);
    int64_t address;
    if (!data || !PyTuple_Check(data) || PyTuple_GET_SIZE(data) != 2) return -1;
    PyObject *number = PyTuple_GET_ITEM(data, 0), *readonly = PyTuple_GET_ITEM(data, 1);
    fields->data = geometry_read_int(number, &address) ? (void *)(intptr_t)address : PyLong_AsVoidPtr(number);
    if (!fields->data && PyErr_Occurred()) return -1;
    int truth = readonly == Py_False ? 0 : PyObject_IsTrue(readonly);
    if (truth < 0) return -1;
    fields->readonly = truth;
    fields->device = device_array_home(runtime, current, fields->data);
    return fields->device ? 0 : -1;
}

static int read_interface(Runtime *runtime, PyObject *interface, Device *current, InterfaceWait wait, void *taker,
                          ArrayFields *fields) {
    if (item_of(runtime, interface, KEY_MASK, false)) {
        PyErr_SetString(PyExc_NotImplementedError, "masked device arrays are not supported");
        return -1;
    }
    if (!(fields->element = read_element(runtime, interface)) || read_shape(runtime, interface, fields) < 0 ||
        read_data(runtime, interface, current, fields) < 0)
        return -1;
    return follow_stream(fields->device, item_of(runtime, interface, KEY_STREAM, false), wait, taker);
}

int device_array_interface_fields(Runtime *runtime, PyObject *object, Device *current, InterfaceWait wait, void *taker,
                                  ArrayFields *fields) {
    if (current->shares_memory) {
        cuda_refuse(NEEDS_GPU, cuda_choice_reason(runtime->cuda));
        return -1;
    }
    PyObject *interface = PyObject_GetAttr(object, runtime->keys[KEY_INTERFACE]);
    int status = -1;
    if (interface && PyDict_Check(interface)) {
        status = read_interface(runtime, interface, current, wait, taker, fields);
        if (status < 0 && !PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "__cuda_array_interface__ is malformed");
    } else if (interface || PyErr_ExceptionMatches(PyExc_AttributeError)) { /* else what its property raised */
        PyErr_Format(PyExc_TypeError, "%.100s has no __cuda_array_interface__", Py_TYPE(object)->tp_name);
    }
    Py_XDECREF(interface);
    return status;
}

PyObject *device_array_read_interface(Runtime *runtime, PyObject *object, InterfaceWait wait, void *taker) {
    ArrayFields fields;
    Device *device = runtime_device(runtime);
    if (!device || device_array_interface_fields(runtime, object, device, wait, taker, &fields) < 0) return NULL;
    return (PyObject *)device_array_of(runtime, &fields, object);
}

/* Unless the call says: KRAIT_CUDA_ARRAY_INTERFACE_SYNC=0 leaves waiting to the program. */
static bool waits_by_default(void) {
    const char *asked = getenv("KRAIT_CUDA_ARRAY_INTERFACE_SYNC");
    return !asked || strcmp(asked, "0") != 0;
}

PyObject *device_array_from_interface(PyObject *module, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"obj", "sync", NULL};
    Runtime *runtime = RUNTIME_OF(module);
    PyObject *object;
    int sync = waits_by_default();
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|p:as_cuda_array", names, &object, &sync)) return NULL;
    if (Py_TYPE(object) == runtime->device_array) return Py_NewRef(object);
    return device_array_read_interface(runtime, object, sync ? INTERFACE_WAITS : INTERFACE_IGNORES, NULL);
}
