/* array_exchange.c: arrays of other libraries and device arrays by DLPack's table of C functions
 * (__dlpack_c_exchange_api__), without a call of Python.
 *
 * In: an object whose class has such a table.  Out: its fields, or a device array on its memory; the taker's stream
 * goes on behind the producer's current one.  Device arrays have a table, too. */
#include "runtime/cuda/dlpack.h"

enum { DL_TABLE_MINOR = 3 };

/* ---- in ---- */

typedef struct DLExchange { /* DLPackExchangeAPI */
    uint32_t major, minor;
    const struct DLExchange *before; /* an older version's */
    int (*allocate)(DLTensor *like, DLVersioned **tensor, void *context,
                    void (*fail)(void *context, const char *kind, const char *text));
    int (*take)(void *object, DLVersioned **tensor);
    int (*give)(DLVersioned *tensor, void **object);
    int (*borrow)(void *object, DLTensor *tensor); /* may be NULL */
    int (*current_stream)(int32_t type, int32_t id, void **stream);
} DLExchange;

const DLExchange *device_array_read_table(PyTypeObject *type) {
    static const char capsule_name[] = "dlpack_exchange_api";
    PyObject *capsule = device_array_class_attribute(type, "__dlpack_c_exchange_api__");
    const DLExchange *table = NULL;
    if (capsule && PyCapsule_IsValid(capsule, capsule_name)) table = PyCapsule_GetPointer(capsule, capsule_name);
    Py_XDECREF(capsule); /* it is the class's */
    while (table && table->major > DL_MAJOR) table = table->before;
    return table && table->major == DL_MAJOR ? table : NULL;
}

/* The taker's stream goes on behind what the producer's was given. */
static inline int order_behind(const DLExchange *table, const DLTensor *tensor, Device *device, void *taker,
                               Producer *seen) {
    void *stream = NULL;
    if (tensor->device.type != DL_CUDA || !table->current_stream || device_array_asked(seen, table, device)) return 0;
    if (table->current_stream(tensor->device.type, tensor->device.id, &stream) != 0) return -1;
    return stream == taker ? 0 : device_array_order(device, taker, stream);
}

static int gives_none(PyObject *object) {
    if (!PyErr_Occurred()) PyErr_Format(PyExc_BufferError, "%.100s gives no tensor", Py_TYPE(object)->tp_name);
    return -1;
}

bool device_array_table_lends(const DLExchange *table) { return table->borrow != NULL; }

int device_array_borrow(Runtime *runtime, const DLExchange *table, PyObject *object, Device *current, void *stream,
                        Producer *seen, ArrayFields *fields) {
    DLTensor tensor;
    if (table->borrow(object, &tensor) != 0) return gives_none(object);
    if (dlpack_read(runtime, current, &tensor, false, fields) < 0) return -1;
    return order_behind(table, &tensor, fields->device, stream, seen) == 0 ? 0 : gives_none(object);
}

PyObject *device_array_from_table(Runtime *runtime, const DLExchange *table, PyObject *object, void *stream) {
    ArrayFields fields;
    DLVersioned *taken = NULL;
    if (table->borrow)
        return device_array_borrow(runtime, table, object, runtime_device(runtime), stream, NULL, &fields) < 0
                   ? NULL
                   : (PyObject *)device_array_of(runtime, &fields, object);
    if (table->take(object, &taken) != 0) return gives_none(object), NULL;
    Device *current = runtime_device(runtime),
           *device = current ? dlpack_device(runtime, current, &taken->tensor) : NULL;
    if (!device || order_behind(table, &taken->tensor, device, stream, NULL) < 0) {
        gives_none(object);
        if (taken->deleter) taken->deleter(taken);
        return NULL;
    }
    PyObject *holder = dlpack_holder(taken);
    bool readonly = (taken->flags & DL_READ_ONLY) != 0;
    PyObject *array = holder ? dlpack_wrap(runtime, &taken->tensor, readonly, holder) : NULL;
    if (!holder && taken->deleter) taken->deleter(taken);
    Py_XDECREF(holder);
    return array;
}

/* ---- out ---- */

/* The taker goes on behind the default stream (table_current_stream), that behind whatever streams use the array. */
static int table_take(void *object, DLVersioned **tensor) {
    DeviceArray *self = object;
    bool ready = device_array_check_there(self) == 0 && dlpack_order(self) == 0;
    Lent *lent = ready ? dlpack_lend(self, true, false) : NULL;
    if (!lent) return -1;
    *tensor = &lent->versioned;
    return 0;
}

/* The tensor is ours from here on. */
static int table_give(DLVersioned *tensor, void **object) {
    PyObject *module = PyImport_ImportModule("krait._krait"), *holder = dlpack_holder(tensor);
    *object = module && holder
                  ? dlpack_wrap(RUNTIME_OF(module), &tensor->tensor, (tensor->flags & DL_READ_ONLY) != 0, holder)
                  : NULL;
    if (!*object && holder) PyCapsule_SetDestructor(holder, NULL);
    Py_XDECREF(holder);
    Py_XDECREF(module);
    return *object ? 0 : -1;
}

/* New memory, where the described tensor lies. */
static DeviceArray *array_like(Runtime *runtime, const DLTensor *like) {
    int64_t strides[TYPE_MAX_NDIM + 1];
    int scalar = like->ndim < 0 || like->ndim > TYPE_MAX_NDIM ? -1 : dlpack_scalar(like);
    Device *current = scalar < 0 ? NULL : runtime_device(runtime);
    Device *device = current ? dlpack_device(runtime, current, like) : NULL;
    if (!device) return NULL;
    strided_pack((unsigned)like->ndim, like->shape, scalar_info[scalar].bytes, LAYOUT_C, strides);
    return device_array_allocate(runtime, device, (StreamUse){NULL, NULL},
                                 type_scalar(runtime->marshal->types, (Scalar)scalar, false), (unsigned)like->ndim,
                                 like->shape, strides);
}

static int table_allocate(DLTensor *like, DLVersioned **tensor, void *context,
                          void (*fail)(void *context, const char *kind, const char *text)) {
    PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *module = PyImport_ImportModule("krait._krait");
    DeviceArray *array = module ? array_like(RUNTIME_OF(module), like) : NULL;
    int status = array ? table_take(array, tensor) : -1;
    if (status < 0) {
        PyErr_Clear();
        if (fail) fail(context, "BufferError", "no device array of this kind can be made");
    }
    Py_XDECREF((PyObject *)array);
    Py_XDECREF(module);
    PyGILState_Release(gil);
    return status;
}

/* Takers go on behind the default stream, which table_take has put behind the others. */
static int table_current_stream(int32_t type, int32_t id, void **stream) {
    (void)type, (void)id;
    *stream = NULL;
    return 0;
}

PyObject *device_array_exchange_table(void) {
    static const DLExchange table = {.major = DL_MAJOR,
                                     .minor = DL_TABLE_MINOR,
                                     .allocate = table_allocate,
                                     .take = table_take,
                                     .give = table_give,
                                     .current_stream = table_current_stream};
    return PyCapsule_New((void *)&table, "dlpack_exchange_api", NULL);
}
