/* array_fields.c: arrays of CuPy, field by field: the getters of its class are called, without a search for their names
 * and without the dict that __cuda_array_interface__ makes for each array.
 *
 * In: an object whose class derives from CuPy's base class and leaves its __cuda_array_interface__ as it is.  Out: its
 * fields; the taker's stream goes on behind the current one of CuPy, which a C function of CuPy's tells
 * (`__pyx_capi__`: what other modules of Cython import).  Whatever is not there as it is known here, in some version of
 * CuPy, leaves such classes to __cuda_array_interface__. */
#include "runtime/cuda/device_array.h"

#include <string.h> /* strcmp */

typedef struct FieldReader {
    PyTypeObject *base;                                              /* NULL: it cannot be read so */
    const PyGetSetDef *data, *dtype, *ndim, *size, *shape, *strides; /* of an array */
    const PyGetSetDef *contiguous;                                   /* in C order; NULL: the strides tell */
    const PyGetSetDef *ptr, *device_id;                              /* of its `data` */
    intptr_t (*current_stream)(void);
} FieldReader;

void device_array_drop_fields(FieldReader *fields) {
    if (fields) Py_XDECREF((PyObject *)fields->base);
    PyMem_Free(fields);
}

/* ---- the class ---- */

static PyTypeObject *base_of(PyTypeObject *type) {
    while (type && strcmp(type->tp_name, "cupy._core.core._ndarray_base") != 0) type = type->tp_base;
    return type;
}

/* NULL: the class has no such getter. */
static const PyGetSetDef *getter_of(PyTypeObject *type, const char *name) {
    PyObject *found = type->tp_dict ? PyDict_GetItemString(type->tp_dict, name) : NULL;
    bool is_getter = found && Py_IS_TYPE(found, &PyGetSetDescr_Type);
    const PyGetSetDef *row = is_getter ? ((PyGetSetDescrObject *)found)->d_getset : NULL;
    return row && row->get ? row : NULL;
}

static PyObject *read_field(const PyGetSetDef *field, PyObject *object) { return field->get(object, field->closure); }

/* The function of no arguments that a module of Cython lends; NULL: it has none of this signature. */
static intptr_t (*lent_function(const char *module_name, const char *name))(void) {
    PyObject *module = PyImport_ImportModule(module_name);
    PyObject *table = module ? PyObject_GetAttrString(module, "__pyx_capi__") : NULL;
    PyObject *capsule = table && PyDict_Check(table) ? PyDict_GetItemString(table, name) : NULL;
    void *address = capsule && PyCapsule_IsValid(capsule, "intptr_t (void)")
                        ? PyCapsule_GetPointer(capsule, "intptr_t (void)")
                        : NULL;
    intptr_t (*function)(void) = NULL;
    memcpy(&function, &address, sizeof function);
    Py_XDECREF(table);
    Py_XDECREF(module); /* it stays in sys.modules, and its code in the process */
    PyErr_Clear();
    return function;
}

/* Of the arrays' class and that of what `data` gives; false: something is not there. */
static bool find_fields(PyTypeObject *base, FieldReader *fields) {
    PyObject *module = PyImport_ImportModule("cupy.cuda.memory");
    PyObject *pointer = module ? PyObject_GetAttrString(module, "MemoryPointer") : NULL;
    PyTypeObject *memory = pointer && PyType_Check(pointer) ? (PyTypeObject *)pointer : NULL;
    PyErr_Clear();
    bool there = (fields->data = getter_of(base, "data")) && (fields->dtype = getter_of(base, "dtype")) &&
                 (fields->ndim = getter_of(base, "ndim")) && (fields->size = getter_of(base, "size")) &&
                 (fields->shape = getter_of(base, "shape")) && (fields->strides = getter_of(base, "strides")) &&
                 memory && (fields->ptr = getter_of(memory, "ptr")) &&
                 (fields->device_id = getter_of(memory, "device_id")) &&
                 (fields->current_stream = lent_function("cupy.cuda.stream", "get_current_stream_ptr"));
    fields->contiguous = getter_of(base, "_c_contiguous");
    Py_XDECREF(pointer);
    Py_XDECREF(module);
    return there;
}

/* A class that tells of its arrays in its own way is asked. */
static bool leaves_interface(PyTypeObject *type, PyTypeObject *base) {
    static const char name[] = "__cuda_array_interface__";
    PyObject *own = device_array_class_attribute(type, name), *theirs = device_array_class_attribute(base, name);
    bool same = own && own == theirs;
    Py_XDECREF(own);
    Py_XDECREF(theirs);
    return same;
}

bool device_array_has_fields(Runtime *runtime, PyTypeObject *type) {
    PyTypeObject *base = base_of(type);
    if (!base) return false;
    if (!runtime->fields) {
        if (!(runtime->fields = PyMem_Calloc(1, sizeof *runtime->fields))) return PyErr_NoMemory(), false;
        if (find_fields(base, runtime->fields)) runtime->fields->base = (PyTypeObject *)Py_NewRef((PyObject *)base);
    }
    return runtime->fields->base == base && leaves_interface(type, base);
}

/* ---- an array ---- */

static inline int64_t value_of(PyObject *number) {
    int64_t value;
    return geometry_read_int(number, &value) ? value : PyLong_AsLongLong(number);
}

/* The ints of a tuple; -1: exception set. */
static int read_ints(PyObject *tuple, unsigned count, int64_t *to) {
    int result = tuple && PyTuple_Check(tuple) && PyTuple_GET_SIZE(tuple) == (Py_ssize_t)count ? 0 : -1;
    for (unsigned i = 0; result == 0 && i < count; i++) {
        to[i] = value_of(PyTuple_GET_ITEM(tuple, i));
        if (to[i] == -1 && PyErr_Occurred()) result = -1;
    }
    Py_XDECREF(tuple);
    return result;
}

/* The int that a getter gives; -1 with an exception, or without. */
static inline int64_t read_int(const PyGetSetDef *field, PyObject *object) {
    PyObject *number = read_field(field, object);
    if (KRAIT_UNLIKELY(!number)) return -1;
    int64_t value = value_of(number);
    Py_DECREF(number);
    return value;
}

/* The bool that a getter gives; -1: exception set. */
static inline int read_bool(const PyGetSetDef *field, PyObject *object) {
    PyObject *truth = read_field(field, object);
    int value = truth == Py_True ? 1 : truth == Py_False ? 0 : truth ? PyObject_IsTrue(truth) : -1;
    Py_XDECREF(truth);
    return value;
}

static int read_memory(Runtime *runtime, const FieldReader *from, PyObject *object, Device *current,
                       ArrayFields *fields) {
    if (!current) return -1;
    if (current->shares_memory) {
        cuda_refuse(NEEDS_GPU, cuda_choice_reason(runtime->cuda));
        return -1;
    }
    PyObject *data = read_field(from->data, object);
    if (!data) return -1;
    int devices = runtime->cuda->device_count;
    int64_t address = read_int(from->ptr, data), ordinal = devices > 1 ? read_int(from->device_id, data) : 0;
    Py_DECREF(data);
    if ((address == -1 || ordinal == -1) && PyErr_Occurred()) return -1;
    fields->data = (void *)(intptr_t)address;
    fields->device = ordinal >= 0 && ordinal < devices ? cuda_device(runtime->cuda, (int)ordinal) : current;
    return 0;
}

static size_t size_of(const Type *element) {
    return element->kind == TY_SCALAR ? scalar_info[element->scalar].bytes : type_size(element);
}

/* The tuples are made for this: those that follow from the rest are not asked for. */
static int read_shape(const FieldReader *from, PyObject *object, ArrayFields *fields) {
    int contiguous = from->contiguous ? read_bool(from->contiguous, object) : 0;
    unsigned ndim = fields->ndim;
    if (contiguous == 1 && ndim == 1) {
        fields->dims[0] = read_int(from->size, object);
        fields->dims[1] = (int64_t)size_of(fields->element);
        return fields->dims[0] == -1 && PyErr_Occurred() ? -1 : 0;
    }
    if (contiguous < 0 || read_ints(read_field(from->shape, object), ndim, fields->dims) < 0) return -1;
    if (contiguous == 0) return read_ints(read_field(from->strides, object), ndim, fields->dims + ndim);
    strided_pack(ndim, fields->dims, size_of(fields->element), LAYOUT_C, fields->dims + ndim);
    return PyErr_Occurred() ? -1 : 0;
}

/* Of an object that is a dtype; NULL: of none, or an exception is set. */
static const Type *read_element(Runtime *runtime, PyObject *dtype) {
    if (dtype == runtime->field_dtype) return runtime->field_element;
    if (!PyArray_DescrCheck(dtype)) return NULL;
    const Type *element = geometry_element(runtime, (PyArray_Descr *)dtype, 0);
    if (!element || element->kind != TY_SCALAR) return element; /* the names of a struct's fields may change */
    runtime->field_element = element;
    Py_XSETREF(runtime->field_dtype, Py_NewRef(dtype));
    return element;
}

int device_array_read_fields(Runtime *runtime, PyObject *object, Device *current, void *stream, Producer *seen,
                             ArrayFields *fields) {
    const FieldReader *from = runtime->fields;
    int64_t ndim = read_int(from->ndim, object);
    if (ndim < 0) return -1;
    if (ndim > TYPE_MAX_NDIM) {
        PyErr_Format(PyExc_ValueError, "arrays of more than %d dimensions are not supported", TYPE_MAX_NDIM);
        return -1;
    }
    PyObject *dtype = read_field(from->dtype, object);
    fields->element = dtype ? read_element(runtime, dtype) : NULL;
    Py_XDECREF(dtype); /* the array has it */
    fields->ndim = (unsigned)ndim;
    fields->readonly = false;
    if (!fields->element || read_memory(runtime, from, object, current, fields) < 0 ||
        read_shape(from, object, fields) < 0) {
        if (!PyErr_Occurred()) PyErr_SetString(PyExc_TypeError, "CuPy gives an array's fields in a way unknown here");
        return -1;
    }
    if (device_array_asked(seen, from, fields->device)) return 0;
    intptr_t earlier = from->current_stream();
    if (earlier == -1 && PyErr_Occurred()) return -1;
    return device_array_order(fields->device, stream, (void *)earlier);
}
