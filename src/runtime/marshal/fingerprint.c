/* fingerprint.c: bits that tell the types of arguments apart, without making a type.
 *
 * Values of one type nearly always have one fingerprint, values of two types nearly never: who looks something up by it
 * checks the types of what it finds.  Classes and constants count by their address, texts by their hash. */
#include "runtime/marshal/marshal_private.h"

enum { MAX_DEPTH = 16 }; /* of tuples; what is deeper does not count */

enum {
    MARK_INT = 1,
    MARK_FLOAT,
    MARK_BOOL,
    MARK_COMPLEX,
    MARK_NONE,
    MARK_TEXT,
    MARK_ARRAY,
    MARK_CLASS,
    MARK_TUPLE,
    MARK_RECORD,
    MARK_LIST,
    MARK_DICT,
    MARK_SET,
    MARK_SLICE
};

static uint64_t mix(uint64_t fingerprint, uint64_t bits) {
    uint64_t mixed = (fingerprint ^ bits) * 0x9E3779B97F4A7C15u;
    return mixed ^ mixed >> 29;
}

/* Of a dtype that is no scalar's, which keeps its hash. */
static uint64_t of_dtype(PyObject *dtype, uint64_t fingerprint) {
    return mix(fingerprint, (uint64_t)PyObject_Hash(dtype));
}

static uint64_t of_array(PyArrayObject *array, uint64_t fingerprint) {
    uint64_t bits = (uint64_t)marshal_scalar_of_typenum(PyArray_TYPE(array)) << 8;
    bits |= (uint64_t)PyArray_NDIM(array) << 16 | (uint64_t)marshal_layout(array) << 24;
    bits |= (uint64_t)((PyArray_FLAGS(array) & NPY_ARRAY_WRITEABLE) != 0) << 28;
    bits |= (uint64_t)((PyArray_FLAGS(array) & NPY_ARRAY_ALIGNED) != 0) << 29;
    if (marshal_scalar_of_typenum(PyArray_TYPE(array)) < 0)
        fingerprint = of_dtype((PyObject *)PyArray_DESCR(array), fingerprint);
    return mix(fingerprint, bits | MARK_ARRAY);
}

static uint64_t of_object(const Marshal *marshal, PyObject *object, uint64_t fingerprint, int depth);

/* The items are kept: to look for a class of the prelude may import it, which runs code that changes the container. */
static uint64_t of_kept(const Marshal *marshal, PyObject *object, uint64_t fingerprint, int depth) {
    Py_INCREF(object);
    fingerprint = of_object(marshal, object, fingerprint, depth);
    Py_DECREF(object);
    return fingerprint;
}

static uint64_t of_first_entry(const Marshal *marshal, PyObject *dict, uint64_t fingerprint, int depth) {
    PyObject *key, *value;
    Py_ssize_t at = 0;
    if (!PyDict_Next(dict, &at, &key, &value)) return fingerprint;
    Py_INCREF(value);
    fingerprint = of_kept(marshal, key, fingerprint, depth);
    fingerprint = of_object(marshal, value, fingerprint, depth);
    Py_DECREF(value);
    return fingerprint;
}

/* A buffer: by the class and the array on its memory. */
static uint64_t of_buffer(PyObject *object, uint64_t fingerprint) {
    PyObject *array = marshal_array_of_buffer(object);
    if (array && PyArray_Check(array)) fingerprint = of_array((PyArrayObject *)array, fingerprint);
    Py_XDECREF(array);
    PyErr_Clear(); /* who takes it says so */
    return fingerprint;
}

/* Of the module collections: by the class and what stands first in it. */
static uint64_t of_collection(const Marshal *marshal, PyObject *object, uint64_t fingerprint, int depth) {
    PyObject *item = NULL;
    fingerprint = mix(fingerprint, (uint64_t)(uintptr_t)Py_TYPE(object) << 8 | MARK_CLASS);
    if (marshal_is_buffer(object)) return of_buffer(object, fingerprint);
    if (PyDict_Check(object)) return of_first_entry(marshal, object, fingerprint, depth + 1);
    if (PySequence_Size(object) > 0) item = PySequence_GetItem(object, 0);
    if (item) fingerprint = of_object(marshal, item, fingerprint, depth + 1);
    Py_XDECREF(item);
    PyErr_Clear();
    return fingerprint;
}

static uint64_t of_object(const Marshal *marshal, PyObject *object, uint64_t fingerprint, int depth) {
    PyTypeObject *class = Py_TYPE(object);
    if (class == &PyLong_Type) return mix(fingerprint, MARK_INT);
    if (class == &PyFloat_Type) return mix(fingerprint, MARK_FLOAT);
    if (class == &PyBool_Type) return mix(fingerprint, MARK_BOOL);
    if (class == &PyComplex_Type) return mix(fingerprint, MARK_COMPLEX);
    if (object == Py_None) return mix(fingerprint, MARK_NONE);
    if (marshal_is_array(object)) return of_array((PyArrayObject *)object, fingerprint);
    if (PyUnicode_CheckExact(object)) /* an item is any text */
        return mix(fingerprint, depth && marshal->host ? MARK_TEXT : (uint64_t)PyObject_Hash(object) << 8 | MARK_TEXT);
    if (class == marshal->device_array) return mix(fingerprint, (uint64_t)(uintptr_t)((DeviceArray *)object)->type);
    if (PyTuple_Check(object) && depth < MAX_DEPTH) {
        fingerprint = mix(fingerprint, (uint64_t)(uintptr_t)class << 8 | MARK_TUPLE);
        PyObject *names = class == &PyTuple_Type ? NULL : frontend_keyword_names(object);
        if (names) fingerprint = mix(fingerprint, (uint64_t)PyObject_Hash(names));
        Py_XDECREF(names);
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(object); i++)
            fingerprint = of_object(marshal, PyTuple_GET_ITEM(object, i), fingerprint, depth + 1);
        return mix(fingerprint, MARK_TUPLE);
    }
    if (PySlice_Check(object)) { /* which parts are there */
        const PySliceObject *slice = (const PySliceObject *)object;
        unsigned there = (slice->start != Py_None) + 2u * (slice->stop != Py_None) + 4u * (slice->step != Py_None);
        return mix(fingerprint, (uint64_t)there << 8 | MARK_SLICE);
    }
    if (marshal_is_record(object)) {
        const PyVoidScalarObject *record = (PyVoidScalarObject *)object;
        bool writable = (record->flags & NPY_ARRAY_WRITEABLE) != 0;
        return of_dtype((PyObject *)record->descr, mix(fingerprint, (uint64_t)writable << 8 | MARK_RECORD));
    }
    if (marshal_is_time(object)) {
        const PyArray_DatetimeMetaData *meta = &((PyDatetimeScalarObject *)object)->obmeta;
        fingerprint = mix(fingerprint, (uint64_t)meta->base << 32 | (uint32_t)meta->num);
    }
    if (marshal->host && depth < MAX_DEPTH && frontend_stand_in(class))
        return of_collection(marshal, object, fingerprint, depth);
    if (PyList_Check(object) && depth < MAX_DEPTH) {
        fingerprint = mix(fingerprint, MARK_LIST);
        return PyList_GET_SIZE(object) ? of_kept(marshal, PyList_GET_ITEM(object, 0), fingerprint, depth + 1)
                                       : fingerprint;
    }
    if (marshal_is_dict(object) && depth < MAX_DEPTH)
        return of_first_entry(marshal, object, mix(fingerprint, MARK_DICT), depth + 1);
    if (marshal_is_set(object)) return mix(fingerprint, MARK_SET);
    bool value = PyArray_IsScalar(object, Generic) || PyLong_Check(object) || PyFloat_Check(object) ||
                 PyComplex_Check(object) || PyBytes_Check(object) || PyRange_Check(object) ||
                 marshal_is_generator(object);
    bool instance = class->tp_base == &PyBaseObject_Type && (class->tp_flags & Py_TPFLAGS_HEAPTYPE) && !class->tp_call;
    bool by_class = value || instance || frontend_is_enum(class);
    return mix(fingerprint, (uint64_t)(uintptr_t)(by_class ? (PyObject *)class : object) << 8 | MARK_CLASS);
}

uint64_t marshal_fingerprint(const Marshal *marshal, PyObject *object, uint64_t fingerprint) {
    return of_object(marshal, object, fingerprint, 0);
}
